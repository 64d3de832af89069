"""Fail each step of writing a file: no file is half-written or lost, and the exit code is 2."""

import errno
import os
import pathlib
from importlib import import_module
from itertools import count

import pytest
from _helpers.commands import OUTPUTS, all_commands

from stakes import Accumulator, CostMatrix
from stakes.errors import FileError

P, C = "predictions.csv", "costs.csv"
MODEL = f"{P} -c {C} -m tree"
BOTH = f"{P} -c {C} -m tree -m old"
SIMULATE = f"{BOTH} --repeats 20 --method normal --json out.json"
AUDIT = "-c costs.csv -m a -s score --id id --labels 60"
COMMANDS = {
    "evaluate": (f"evaluate {MODEL} --json out.json", ["out.json"]),
    "compare": (
        f"compare {BOTH} --baseline old --gate --json out.json --junit out.xml --markdown out.md",
        ["out.json", "out.xml", "out.md"],
    ),
    "curve": (
        f"curve {MODEL} -s tree_score --out out.svg --csv out.csv --json out.json",
        ["out.svg", "out.csv", "out.json"],
    ),
    "decision curve": (
        f"curve {MODEL} -s tree_score --decision --csv out.csv --json out.json",
        ["out.csv", "out.json"],
    ),
    "threshold": (f"threshold {MODEL} -s tree_score --json out.json", ["out.json"]),
    "plan": (f"plan {MODEL} --half-width 5 --json out.json", ["out.json"]),
    "audit plan": (
        f"audit plan rows.csv {AUDIT} -o out.csv --force --json out.json",
        ["out.json", "out.csv", "out.csv.manifest.json"],
    ),
    "audit more": (
        "audit more labels.csv rows.csv --labels 20 -o out.csv --force --json out.json",
        ["out.json", "out.csv", "out.csv.manifest.json"],
    ),
    "audit read": (
        "audit read labels.csv --report out.html --json out.json",
        ["out.html", "out.json"],
    ),
    "count": (f"count {MODEL} --out out.json", ["out.json"]),
    "parquet": (f"count {MODEL} --out out.parquet", ["out.parquet"]),
    "merge": ("merge first.json second.json --out out.json", ["out.json"]),
    "template": (f"costs template {P} --out out.csv --force", ["out.csv"]),
    "coverage": (f"simulate coverage {SIMULATE}", ["out.json"]),
    "type-one": (f"simulate type-one {SIMULATE}", ["out.json"]),
    "power": (f"simulate power {SIMULATE}", ["out.json"]),
    "report": (f"report {MODEL} --out out.html --json out.json", ["out.html", "out.json"]),
    "demo": (
        "demo --files --out out.html",
        ["out.html", "breast_cancer.csv", "breast_cancer_costs.csv"],
    ),
}
REPLACING_LABELS = {"audit plan", "audit more"}
LABELS = ("out.csv", "out.csv.manifest.json")
"""Files that these commands keep if a step fails, because they have labels that people entered."""

OLD = b"what was there before"
ERRORS = (errno.ENOSPC, errno.EIO, errno.EINTR)
STEPS = {"open", "write", "flush", "chmod", "fsync", "close", "replace"}


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
        close = os.close

        def close_(descriptor):
            close(descriptor)  # before the fault: a descriptor is closed only once
            self.step("close")

        monkeypatch.setattr(os, "close", close_)

        def open_(path, mode, **options):
            return _Written(open(path, mode, **options), self)  # noqa: PTH123 - with an opener

        monkeypatch.setattr("stakes.read.files.open", open_, raising=False)

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
    """A file whose writes, flushes and end are steps."""

    def __init__(self, file, faults):
        self._file, self._faults = file, faults

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()
        self._faults.step("close")

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

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.fixture
def inputs(folder, stakes, label_file):
    """Return the folder, with all that the commands read."""
    label_file(200, "labels.csv")
    for name, rows in (("first", slice(1, 31)), ("second", slice(31, 61))):
        header, *_ = lines = (folder / P).read_text().splitlines()
        (folder / f"{name}.csv").write_text("\n".join([header, *lines[rows]]) + "\n")
        counted = f"-q count {name}.csv -c {C} -m tree --out {name}.json"
        assert stakes(*counted.split()).code == 0
    return folder


@pytest.fixture
def computed_once(inputs, monkeypatch):  # noqa: ARG001 - which are made before
    """Read, compute and draw only once what is written many times."""

    def once(place, name):
        made, function = [], getattr(place, name)

        def found(*arguments, **options):
            if not made:
                made.append(function(*arguments, **options))
            return made[0]

        monkeypatch.setattr(place, name, found)

    for command in ("evaluate", "compare", "curve", "threshold", "plan", "count", "report"):
        once(import_module(f"stakes.cli.{command}"), "read_study")
    once(import_module("stakes.cli.simulate"), "read_study")
    once(import_module("stakes.cli.curve"), "drawn")
    once(import_module("stakes.cli.curve"), "_show_decision")
    once(import_module("stakes.findings.curves"), "decision_of")
    once(import_module("stakes.study").Study, "from_table")
    once(import_module("stakes.audit.pool").Pool, "plan")
    for name in ("with_pool", "next", "reading"):
        once(import_module("stakes.audit.plan").LabelPlan, name)
    once(import_module("stakes.findings.report"), "findings")
    once(import_module("stakes.show.report._page"), "report_html")
    once(import_module("stakes.show.report"), "audit_html")


def put_back(folder, outputs, old):
    """Restore the old outputs, or remove the new ones."""
    for name in outputs:
        (folder / name).unlink(missing_ok=True)
        if old is not None:
            (folder / name).write_bytes(old)


def content_of(path):
    return path.read_bytes() if path.exists() else None


@pytest.mark.parametrize("old", [OLD, None], ids=["old files", "no files"])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("computed_once")
def test_every_step_of_writing_may_fail(command, old, stakes, inputs, monkeypatch):
    words, outputs = COMMANDS[command]
    arguments = ("-q", *words.split())
    put_back(inputs, outputs, old)
    others = {*inputs.iterdir()} - {inputs / name for name in outputs}
    said = stakes(*arguments)
    code = said.code
    assert code < 2, said.err
    new = {name: (inputs / name).read_bytes() for name in outputs}
    assert OLD not in new.values()
    steps = STEPS - ({"chmod"} if old is None else set())  # a new file has no mode to keep
    for error in ERRORS if old is not None else ERRORS[:1]:
        failed = []
        with monkeypatch.context() as patch:
            faults = Faults(patch, error)
            for number in count():
                put_back(inputs, outputs, old)
                faults.fail_at(number)
                said = stakes(*arguments)
                if faults.failed is None:  # each step has failed once
                    assert said.code == code
                    break
                failed.append(faults.failed)
                assert (said.code, said.out) == (2, ""), faults.failed
                assert f"cannot be written: {os.strerror(error)}" in said.err
                kept = LABELS if command in REPLACING_LABELS else ()
                for name in outputs:
                    content = content_of(inputs / name)
                    assert content == old or (name not in kept and content == new[name])
                assert {*inputs.iterdir()} - {inputs / name for name in outputs} == others
        assert set(failed) == steps
        added_to = [name for name in outputs if name.endswith(".md")]
        each = 10 if old is not None else 9
        assert len(failed) >= each * (len(outputs) - len(added_to)) + 3 * len(added_to)


def test_all_commands_that_write_are_tried():
    writing = {
        name
        for name, made in all_commands().items()
        if OUTPUTS & {each.name for each in made.params}
    }
    tried = {name for name in writing for words, _ in COMMANDS.values() if words.startswith(name)}
    assert tried == writing


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
