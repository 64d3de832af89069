import errno
import os
import pathlib
import subprocess
import sys
import threading

import pytest

from stakes.errors import FileError, InputTypeError
from stakes.read import (
    append_binary,
    check_writable,
    files,
    read_text,
    write_binary,
    write_text,
    write_together,
)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    write_text(target, "old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(FileError, match=r"a\.txt: cannot be written: No space left on device"):
        write_text(target, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert read_text(target) == "old"


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a.txt", "text")
    assert not list(tmp_path.iterdir())


def test_text_is_written_as_it_is(tmp_path):
    write_text(tmp_path / "a.txt", "ü\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xbc\n"
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        read_text(tmp_path)


def append_text(path, text):
    append_binary(path, text.encode())


def test_what_cannot_be_the_name_of_a_file(tmp_path):
    for name in ("a\0b", "\ud800"):
        with pytest.raises(FileError):
            read_text(name)
        with pytest.raises(FileError):
            write_text(name, "text")
    for given in ("\ud800", pathlib.Path("\ud800")):
        for write in (write_text, append_text, lambda path, text: write_together({path: text})):
            with pytest.raises(FileError, match=r"^'\\ud800': cannot be written: 'utf-8' codec"):
                write(given, "text")
    with pytest.raises(FileError, match=r"cannot hold a NUL character, got 'a\\x00b'\.$"):
        read_text(pathlib.Path("a\0b"))
    with pytest.raises(InputTypeError, match=r"path: expected the name of a file.*got None"):
        read_text(None)
    with pytest.raises(FileError, match="not the name of a file"):
        write_text("/", "text")
    write_text(tmp_path / "a.txt", "text")
    with pytest.raises(FileError, match="cannot be written: Not a directory"):
        write_text(tmp_path / "a.txt" / "b.txt", "text")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert read_text(tmp_path / "real.txt") == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_binary(pipe, b"bytes")
    assert os.read(reader, 9) == b"bytes"
    os.close(reader)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("old")
    for mode in (0o600, 0o640, 0o444):
        path.chmod(mode)
        write_text(path, "new")
        assert path.stat().st_mode & 0o777 == mode
        assert [each.name for each in tmp_path.iterdir()] == ["secret.txt"]


def test_what_others_may_not_read_they_cannot_read_while_it_is_written(tmp_path, monkeypatch):
    path = tmp_path / "secret.txt"
    path.write_text("old")
    path.chmod(0o600)
    chmod, seen = pathlib.Path.chmod, []

    def watched(place, mode):
        seen.append(place.stat().st_mode & 0o777)
        chmod(place, mode)

    monkeypatch.setattr(pathlib.Path, "chmod", watched)
    for mode in (0o600, 0o644):
        chmod(path, mode)
        write_text(path, "new")
        write_together({path: "newer"})
        assert path.stat().st_mode & 0o777 == mode
    assert set(seen) == {0o600}


class TestFilesThatBelongTogether:
    """All of them are written, or none."""

    def test_new_files_are_written(self, tmp_path):
        write_together({tmp_path / "a": "1", tmp_path / "b": "2"})
        assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"a": "1", "b": "2"}
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~_umask()

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt])
    @pytest.mark.parametrize("existed", [{}, {"a": "old"}, {"b": "old"}, {"a": "old", "b": "old"}])
    def test_if_one_cannot_be_renamed_all_are_as_before(
        self, error, existed, tmp_path, monkeypatch
    ):
        for name, text in existed.items():
            (tmp_path / name).write_text(text)
        replace, calls = pathlib.Path.replace, []

        def fails(path, target):
            calls.append(target)
            if len(calls) == 2:
                raise error
            return replace(path, target)

        monkeypatch.setattr(pathlib.Path, "replace", fails)
        with pytest.raises((FileError, KeyboardInterrupt)):
            write_together({tmp_path / "a": "1", tmp_path / "b": "2"})
        assert {each.name: each.read_text() for each in tmp_path.iterdir()} == existed

    def test_what_cannot_be_put_back_is_kept_and_named(self, tmp_path, monkeypatch):
        (tmp_path / "a").write_text("old")
        replace, calls = pathlib.Path.replace, []

        def fails(path, target):
            calls.append(target)
            if len(calls) > 1:
                raise OSError(5, "Input/output error")
            return replace(path, target)

        monkeypatch.setattr(pathlib.Path, "replace", fails)
        with pytest.raises(
            FileError, match=r"b: cannot .* error\. What .*a held is now in"
        ) as said:
            write_together({tmp_path / "a": "1", tmp_path / "b": "2"})
        (kept,) = tmp_path.glob(".stakes-*.tmp")
        assert kept.read_text() == "old"
        assert str(kept) in str(said.value)

    def test_what_is_no_file_is_refused(self, tmp_path):
        os.mkfifo(tmp_path / "b")
        with pytest.raises(FileError, match="b: cannot be written: it exists, and is no file"):
            write_together({tmp_path / "a": "1", tmp_path / "b": "2"})
        assert [each.name for each in tmp_path.iterdir()] == ["b"]

    def test_text_that_is_no_utf_8_is_refused(self, tmp_path):
        with pytest.raises(FileError, match="surrogates not allowed"):
            write_together({tmp_path / "a": "1", tmp_path / "b": "\ud800"})
        assert not list(tmp_path.iterdir())


def test_threads_that_write_one_file_do_not_meet(tmp_path):
    """Temporary files named by process made a fifth of these fail or break."""
    path = tmp_path / "a.txt"
    texts = [str(i) * 10_000 for i in range(8)]
    failed = []

    def write(text):
        for _ in range(20):
            try:
                write_text(path, text)
                assert read_text(path) in texts
            except (FileError, AssertionError) as error:
                failed.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_a_long_name_can_be_written(tmp_path):
    write_text(tmp_path / ("x" * 255), "text")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_cannot_be_written_is_told_early(tmp_path):
    check_writable(tmp_path / "a.txt")
    with pytest.raises(FileError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(FileError, match=r"there is no folder '.*nope'"):
        check_writable(tmp_path / "nope" / "a.txt")
    assert not list(tmp_path.iterdir())


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_what_is_added_to_a_file_begins_a_line_of_its_own(tmp_path):
    target = tmp_path / "a.md"
    append_binary(target, b"one")
    append_binary(target, b"two\n")
    append_binary(target, b"three\n")
    assert target.read_bytes() == b"one\ntwo\nthree\n"
    target.write_bytes("café\n".encode("latin-1"))
    with pytest.raises(FileError, match=r"a\.md: expected UTF-8 text, got the byte 0xe9"):
        append_binary(target, b"more\n")
    assert target.read_bytes() == b"caf\xe9\n"
    with pytest.raises(FileError, match="cannot be written: Is a directory"):
        append_binary(tmp_path, b"more\n")


@pytest.mark.skipif(os.name != "posix", reason="locks and limits are POSIX's")
def test_processes_that_add_to_one_file_lose_nothing(tmp_path):
    script = (
        "import sys; from stakes.read import append_binary\n"
        "for i in range(60): append_binary(sys.argv[1], f'{sys.argv[2]} {i}\\n'.encode() * 200)"
    )
    target = tmp_path / "a.md"
    processes = [
        subprocess.Popen([sys.executable, "-c", script, target, name]) for name in ("a", "b", "c")
    ]
    assert [each.wait(300) for each in processes] == [0, 0, 0]
    lines = target.read_text().splitlines()
    assert sorted(lines) == sorted(f"{n} {i}" for n in "abc" for i in range(60) for _ in range(200))
    assert all(len({*lines[at : at + 200]}) == 1 for at in range(0, len(lines), 200))


@pytest.mark.skipif(os.name != "posix", reason="locks and limits are POSIX's")
def test_what_does_not_fit_is_not_added_in_part(tmp_path):
    script = (
        "import resource, signal, sys; from stakes.read import append_binary\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "append_binary(sys.argv[1], b'x' * 5000)"
    )
    target = tmp_path / "a.md"
    target.write_text("before\n")
    done = subprocess.run(
        [sys.executable, "-c", script, target], capture_output=True, text=True, check=False
    )
    assert "a.md: cannot be written: File too large." in done.stderr
    assert target.read_text() == "before\n"


@pytest.mark.parametrize("before", [None, "", "before"])
def test_a_file_to_add_to_is_as_it_was_after_a_failure(tmp_path, monkeypatch, before):
    target, link = tmp_path / "a.md", tmp_path / "link.md"
    link.symlink_to("a.md")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for path in (target, link):
        if before is not None:
            target.write_text(before)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(FileError, match="No space left"):
                append_binary(path, b"more\n")
        assert (target.read_text() if target.exists() else None) == before
        assert link.is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="locks are POSIX's")
def test_what_waits_for_a_file_that_is_removed_makes_it_anew(tmp_path, monkeypatch):
    target, lock, removed = tmp_path / "a.md", files._lock, []  # noqa: SLF001 - as is patched

    def lock_after_removal(descriptor):
        if not removed:
            target.unlink()
            removed.append(target)
        lock(descriptor)

    monkeypatch.setattr(files, "_lock", lock_after_removal)
    append_binary(target, b"more\n")
    assert target.read_text() == "more\n"
