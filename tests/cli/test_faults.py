"""Every step of writing a file fails once: nothing is half-written, nothing lost, the exit is 2."""

import errno
import os
import pathlib
from itertools import count

import pytest

from stakes import Accumulator, CostMatrix
from stakes.errors import FileError

P, C = "predictions.csv", "costs.csv"
COMMANDS = {
    "evaluate": (["evaluate", P, "-c", C, "-m", "tree", "--json", "out.json"], ["out.json"]),
    "count": (["count", P, "-c", C, "-m", "tree", "--out", "out.json"], ["out.json"]),
    "parquet": (["count", P, "-c", C, "-m", "tree", "--out", "out.parquet"], ["out.parquet"]),
    "curve": (
        ["curve", P, "-c", C, "-m", "tree", "--csv", "out.csv", "--json", "out.json"],
        ["out.csv", "out.json"],
    ),
    "template": (["costs", "template", P, "--out", "out.csv", "--force"], ["out.csv"]),
}
OLD = b"what was there before"


class Faults:
    """Counts the steps of writing, and makes one of them fail."""

    def __init__(self, monkeypatch, code):
        self._code, self._left, self.failed = code, None, None
        for owner, name in (
            (os, "fsync"),
            (os, "open"),
            (pathlib.Path, "replace"),
            (pathlib.Path, "chmod"),
        ):
            monkeypatch.setattr(owner, name, self._step(getattr(owner, name), name))
        opened = pathlib.Path.open

        def open_(path, mode="r", *arguments, **options):
            if "x" not in mode and "w" not in mode:
                return opened(path, mode, *arguments, **options)
            self.step("create")
            file = opened(path, mode, *arguments, **options)
            return _Written(file, self)

        monkeypatch.setattr(pathlib.Path, "open", open_)

    def fail_at(self, number):
        """Let so many steps pass and fail the next; none if there is no number."""
        self._left, self.failed = number, None

    def step(self, name):
        """Take a step."""
        if self._left == 0:
            self._left, self.failed = None, name
            raise OSError(self._code, os.strerror(self._code))
        if self._left is not None:
            self._left -= 1

    def _step(self, function, name):
        def run(*arguments, **options):
            self.step(name)
            return function(*arguments, **options)

        return run


class _Written:
    """A file whose writes and flushes are steps."""

    def __init__(self, file, faults):
        self._file, self._faults = file, faults

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def write(self, content):
        try:
            self._faults.step("write")
        except OSError:
            self._file.write(content[: len(content) // 2])  # a disk fills up in the middle
            raise
        return self._file.write(content)

    def flush(self):
        self._faults.step("flush")
        self._file.flush()

    def fileno(self):
        return self._file.fileno()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        *((command, errno.ENOSPC) for command in COMMANDS),
        *(("evaluate", code) for code in (errno.EIO, errno.EINTR)),
    ],
)
def test_every_step_of_writing_may_fail(command, code, stakes, folder, monkeypatch):
    arguments, outputs = COMMANDS[command]
    assert stakes("-q", *arguments).code == 0
    new = {name: (folder / name).read_bytes() for name in outputs}
    files = sorted(folder.iterdir())
    faults = Faults(monkeypatch, code)
    failed = []
    for number in count():
        for name in outputs:
            (folder / name).write_bytes(OLD)
        faults.fail_at(number)
        said = stakes("-q", *arguments)
        if faults.failed is None:  # all steps have had their turn
            assert said.code == 0
            break
        failed.append(faults.failed)
        assert (said.code, said.out) == (2, ""), faults.failed
        assert f"cannot be written: {os.strerror(code)}" in said.err
        for name in outputs:
            assert (folder / name).read_bytes() in (OLD, new[name])
        assert sorted(folder.iterdir()) == files
    assert len(failed) >= 6 * len(outputs)


def test_python_files_are_as_safe(tmp_path, monkeypatch):
    costs = CostMatrix([[0, 5], [1, 0]], rows="predicted", labels=["a", "b"])
    running = Accumulator(costs)
    running.update(["a", "b"], ["a", "a"])
    faults = Faults(monkeypatch, errno.ENOSPC)
    for save, name in ((running.save, "totals.json"), (costs.write, "costs.csv")):
        path = tmp_path / name
        save(path)
        new = path.read_bytes()
        for number in count():
            path.write_bytes(OLD)
            faults.fail_at(number)
            try:
                save(path)
            except FileError:
                assert path.read_bytes() in (OLD, new)
                assert len(list(tmp_path.iterdir())) == 1
            else:
                break
        faults.fail_at(None)
        path.unlink()
