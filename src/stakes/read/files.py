"""Reading files with clear errors, and writing them atomically."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Callable, Mapping
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, TextIO

from stakes.errors import FileError, InputTypeError

NEW_FILE, OWN_FILE = 0o666, 0o600
"""Modes of new files, before the umask: readable by all, or by the owner only."""

ATTEMPTS = 10
"""Number of times that a file to append to is opened if other processes remove it."""


def as_path(path: Any) -> Path:
    """Return `path` as a Path, after checking that it can be the name of a file."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise InputTypeError(
            "path",
            f"expected the name of a file, as text or a pathlib.Path, got {path!r} "
            f"({type(path).__name__}).",
        )
    if "\0" in os.fspath(path):
        problem = f"the name of a file cannot hold a NUL character, got {os.fspath(path)!r}."
        raise FileError("path", problem)
    return Path(path)


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 file, with or without a byte-order mark, without converting line ends."""
    source = as_path(path)
    try:
        with source.open(encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise _not_utf_8(path, error) from error
    except OSError as error:
        raise FileError(f"{path}", f"cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise FileError(f"{path}", f"cannot be the name of a file: {error}.") from error


def _not_utf_8(path: str | os.PathLike[str], error: UnicodeDecodeError) -> FileError:
    """Return the error that a text is not UTF-8, with the place."""
    return FileError(
        f"{path}",
        f"expected UTF-8 text, got the byte {error.object[error.start]:#04x} at position "
        f"{error.start}.",
        "Save the file as UTF-8.",
    )


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file atomically: write a temporary file in the same folder, then rename it."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise FileError(f"{path}", f"cannot be written: {error}.") from error
    write_binary(path, content)


def write_binary(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: write a temporary file in the same folder, then rename it.

    A link stays a link, a file keeps its mode, and a device, a pipe or a standard stream is written
    to directly.
    """
    target = as_path(path)
    if not target.name:
        raise FileError(f"{path}", "cannot be written: it is not the name of a file.")
    try:
        if (stream := _standard_stream(target)) is not None:
            _check_stream_named(path, target, stream)
            _write_to_stream(stream, content)
        elif target.exists() and not (target.is_file() or target.is_dir()):
            target.write_bytes(content)
        else:
            _replace(real_path(target), content)
    except UnicodeEncodeError as error:
        raise FileError(f"{os.fspath(path)!r}", f"cannot be written: {error}.") from error
    except OSError as error:
        raise FileError(f"{path}", f"cannot be written: {error.strerror}.") from error


def append_binary(path: str | os.PathLike[str], content: bytes) -> None:
    """Append UTF-8 text to a file, all of it or nothing; the file is created if necessary.

    Several processes may append at once where files can be locked. A device, a pipe or a standard
    stream is written to directly.
    """
    target = as_path(path)
    try:
        if (stream := _standard_stream(target)) is not None:
            _write_to_stream(stream, content)
        elif not target.exists() or target.is_file():
            _append(real_path(target), content)
        else:
            with target.open("wb") as device:  # a folder cannot be opened
                device.write(content)
    except UnicodeDecodeError as error:
        raise _not_utf_8(path, error) from error
    except UnicodeEncodeError as error:
        raise FileError(f"{os.fspath(path)!r}", f"cannot be written: {error}.") from error
    except OSError as error:
        raise FileError(f"{path}", f"cannot be written: {error.strerror}.") from error


def _append(target: Path, content: bytes) -> None:
    """Append to a file while it is locked; a new file is removed if that fails."""
    new = not target.exists()
    with _locked(target) as file:
        file.seek(0)
        before = file.read()
        before.decode()  # raises if the file is not UTF-8
        line = b"\n" if before and not before.endswith(b"\n") else b""
        rest = memoryview(line + content)
        try:
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(len(before))
            if new and not before:
                _remove(target)  # while it is locked, because others may wait to append
            raise


def _locked(target: Path) -> FileIO:
    """Open a file to append to, and lock it until it is closed."""
    for attempt in range(ATTEMPTS):
        file = open(target, "ab+", buffering=0)  # noqa: PTH123, SIM115 - as other files are opened
        _lock(file.fileno())
        # While this process waited, another one may have removed the file that it had created.
        if os.fstat(file.fileno()).st_nlink or attempt == ATTEMPTS - 1:
            break
        file.close()
    return file


def _standard_stream(path: Path) -> TextIO | None:
    """Return standard output or standard error if it is the file at a path, else None."""
    try:
        there = path.stat()
    except (OSError, ValueError):
        return None
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or not a file
            if os.path.samestat(os.fstat(stream.fileno()), there):
                return stream
    return None


def _check_stream_named(path: Any, target: Path, stream: TextIO) -> None:
    """Raise an error for a standard stream's file unless the name is the stream's, in /dev.

    The other text on the stream would damage the file, or would be lost with the replaced file.
    """
    named = os.path.abspath(target).startswith(("/dev/", "/proc/"))  # noqa: PTH100 - keeps links
    if target.is_file() and not named:
        raise _same_as_stream(path, stream)


def _same_as_stream(path: Any, stream: TextIO) -> FileError:
    """Return the error for an output that is the file of a standard stream."""
    name = "standard error" if stream is sys.stderr else "standard output"
    return FileError(
        f"{path}", f"cannot be written: {name} is redirected to it.", "Give it a name of its own."
    )


def _write_to_stream(stream: TextIO, content: bytes) -> None:
    """Write to the descriptor of a standard stream, after the text that was printed before.

    A second descriptor would write from the beginning of the file, over or under that text.
    """
    stream.flush()
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(stream.fileno(), rest) :]


def _lock(descriptor: int) -> None:
    """Lock a file, after waiting for other processes, on systems with locks."""
    with contextlib.suppress(ImportError, OSError):  # not on Windows, and not on all file systems
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def write_together(contents: Mapping[Path, str]) -> None:
    """Write several files together: all of them, or none.

    The old contents are kept in temporary files meanwhile, which stay if restoring fails.
    """
    path = next(iter(contents))
    new: dict[Path, Path] = {}
    old: dict[Path, Path] = {}
    unsaved = ""
    try:
        for path, text in contents.items():
            target = _file_at(path)
            new[target] = _temporary(target)
            _write_new(new[target], text.encode(), target)
            if target.exists():
                old[target] = _temporary(target)
                _write_new(old[target], target.read_bytes(), target)
        begun = []
        try:
            for path, target in zip(contents, new, strict=True):  # noqa: B007 - errors name it
                begun.append(target)  # first, because a signal may arrive in between
                new[target].replace(target)
                _sync_folder(target.parent)
        except BaseException:
            for target in reversed(begun):
                if not _put_back(target, old.get(target)) and target in old:
                    unsaved += f" What {target} held is now in {old.pop(target)}."
            raise
    except UnicodeEncodeError as error:
        raise FileError(f"{os.fspath(path)!r}", f"cannot be written: {error}.") from error
    except OSError as error:
        problem = f"cannot be written: {error.strerror}.{unsaved}"
        raise FileError(f"{path}", problem) from error
    finally:
        for each in (*new.values(), *old.values()):
            _remove(each)


def _file_at(path: Path) -> Path:
    """Return the path behind a name, which must be a file if it exists."""
    target = real_path(as_path(path))
    if target.exists() and not target.is_file():
        raise FileError(f"{path}", "cannot be written: it exists, and is no file.")
    if (stream := _standard_stream(target)) is not None:
        raise _same_as_stream(path, stream)
    return target


def _put_back(target: Path, before: Path | None) -> bool:
    """Restore a file, or remove it if it did not exist; return whether that succeeded."""
    try:
        if before is None:
            target.unlink(missing_ok=True)
        else:
            before.replace(target)
    except OSError:
        return False
    return True


def _replace(target: Path, content: bytes) -> None:
    """Replace a file by a new one; content and name are on the disk afterwards."""
    temporary = _temporary(target)
    try:
        _write_new(temporary, content, target)
        temporary.replace(target)
        _sync_folder(target.parent)
    finally:
        _remove(temporary)


def _temporary(target: Path) -> Path:
    return target.with_name(f".stakes-{secrets.token_hex(8)}.tmp")


def _remove(temporary: Path) -> None:
    with contextlib.suppress(OSError, ValueError):  # it was renamed, or never created
        temporary.unlink()


def _write_new(path: Path, content: bytes, target: Path) -> None:
    """Write a new file to the disk, with the mode of another file if that exists."""
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = None
    # The new file must never be more readable than the old one.
    opener = partial(os.open, mode=NEW_FILE if mode is None else OWN_FILE)
    with open(path, "xb", opener=opener) as file:  # a Path takes no opener
        file.write(content)
        file.flush()
        if mode is not None:
            path.chmod(mode)
        os.fsync(file.fileno())  # a power cut must not leave the new name without its content


def _sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to the disk, on systems that can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # a folder may be writable without being readable
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that does not support it
            raise
    finally:
        os.close(descriptor)


def real_path(path: Path) -> Path:
    """Return a path with all links resolved; links in a circle stay unresolved."""
    return Path(os.path.realpath(path))


def identities(path: Path) -> set[Path | tuple[int, int]]:
    """Return the identities of a file: its resolved path, and its device and inode numbers.

    Two names of a file, such as hard links, share the numbers. Devices and pipes, which are never
    replaced, are identified by their path only.
    """
    place = real_path(path)
    try:
        found = place.stat()
    except OSError:  # it does not exist yet
        return {place}
    return {place, (found.st_dev, found.st_ino)} if stat.S_ISREG(found.st_mode) else {place}


def cached_text(name: str, make: Callable[[], str]) -> str:
    """Return a text from the user's cache folder; make and store it if it is not there.

    A file that does not match its checksum is made again. If the folder is not writable, nothing is
    stored.
    """
    try:
        path = _cache_folder() / name
        checksum, _, text = path.read_bytes().partition(b"\n")
        if checksum == hashlib.sha256(text).hexdigest().encode():
            return text.decode()
    except (OSError, RuntimeError, UnicodeDecodeError):  # no such file or home, or not stakes' file
        pass
    text = make().encode()
    with contextlib.suppress(OSError, RuntimeError):
        path = _cache_folder() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
    return text.decode()


def _cache_folder() -> Path:
    """Return the cache folder of stakes for this user."""
    named = Path(os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "")
    return (named if named.is_absolute() else Path.home() / ".cache") / "stakes"


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error early, if a path cannot be written because of its folder or links."""
    target = as_path(path)
    if target.is_dir():
        raise FileError(f"{path}", "cannot be written: it is a folder.")
    if real_path(target).is_symlink():
        raise FileError(f"{path}", "cannot be written: its links lead in a circle.")
    if not target.parent.is_dir():
        raise FileError(f"{path}", f"cannot be written: there is no folder {str(target.parent)!r}.")


LAST_STREAM = 2
"""File descriptor of standard error, the last of the three standard streams."""


def keep_numbers() -> None:
    """Reserve the descriptors of closed standard streams, so that no other file gets them."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= LAST_STREAM:
        pass
    os.close(number)


def discard(stream: TextIO) -> None:
    """Redirect a stream, with its buffered and later text, to the null device."""
    with contextlib.suppress(OSError, ValueError):  # it is not a file, as in tests
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
