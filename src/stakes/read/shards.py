"""Tables in many files (folders and patterns of names), read in batches of rows."""

from __future__ import annotations

import gc
import glob
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from stakes.errors import FileError
from stakes.read._diagnose import BYTE_ORDER_MARK
from stakes.read.csv_file import CsvFile
from stakes.read.files import as_path
from stakes.read.formats import BUFFER, check_number, jsonl_table, repetitive
from stakes.read.sources import (
    COLUMNAR,
    PACKED,
    STANDARD_INPUT,
    arrow_read,
    check_readable,
    file_kind,
    pyarrow,
    source_name,
    text_stream,
    workbook_of,
)
from stakes.read.tables import FileRows, check_not_counts, countable

BATCH = 1 << 18
"""Rows of a binary file read at a time."""

BLOCK = 1 << 24
"""Bytes of a text file read at a time."""

LARGE = 1 << 30
"""Minimum size in memory, in bytes, of a file that is read in batches."""

LARGE_LABELS = 1 << 26
"""The same for files without scores; scores are kept in memory where they fit."""

PACKED_TIMES = 16
"""Assumed ratio of the unpacked to the packed size of text."""

WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
"""Bytes of a value in memory, by its type in a Parquet file; text takes 8 or more."""

FRACTIONS = ("FLOAT", "DOUBLE", "FIXED_LEN_BYTE_ARRAY")
"""Parquet types that scores may have, including decimals and half-precision floats."""

BEGINNING = 1 << 12
"""First or last bytes of a file, in which files that are not copies most likely differ."""

HIDDEN = (".", "_")
"""First characters of names that are left out."""

UNFINISHED = "_temporary"
"""Folder of unfinished output of Spark and Hadoop jobs."""


def shards_of(path: str) -> list[Path] | None:
    """Return the files of a folder, or those that match a pattern; None for a single file.

    Files and folders whose names begin with a dot or an underscore are left out, because engines
    store metadata there. A pattern can spell such names out.
    """
    place = as_path(path)
    if _is_folder(place):
        found = sorted(_inside(place))
        what = "the folder has no files of predictions"
    elif glob.has_magic(str(path)) and not os.path.lexists(place):
        found = sorted(_matches(str(path)))
        what = "no file has such a name"
    else:
        return None
    if not found:
        raise FileError(f"{path}", f"{what}.")
    for each in found:
        _check_followed(each)
        _check_finished(each.parent)
        if file_kind(each) is None:
            if each.suffix.lower() == ".json":
                raise FileError(
                    f"{each}",
                    f"the files of {path} are read as one table of predictions, which a .json "
                    "file is not.",
                    "Merge count files first; write JSON lines into a file named .jsonl.",
                    code="count_file_not_alone",
                )
            raise FileError(
                f"{each}",
                f"the files of {path} are read as one table; expected only .csv, .tsv, .jsonl, "
                ".parquet, .arrow or .feather.",
                "Remove the file, or name the others by a pattern such as "
                f"'{each.parent / '*.parquet'}'.",
            )
    return found


def files_of(name: str) -> list[Path]:
    """Return the local files that are read for a name: of a folder, a pattern, a sheet, or `-`.

    For a name that cannot be read, this is the name itself; reading it raises the error.
    """
    if name == STANDARD_INPUT:
        return [Path("/dev/stdin")]  # resolves to the file that the shell opened
    try:
        return shards_of(name) or [Path(workbook_of(name)[0])]
    except (FileError, OSError):  # text that is too long for a name is an OSError
        return [Path(name)]


def _inside(place: Path) -> Iterator[Path]:
    """Iterate over the files in a folder and its subfolders."""
    seen: dict[Path, Path] = {}
    for where, folders, names in os.walk(place, followlinks=True, onerror=_raise_unread):
        folder = Path(where)
        same = seen.setdefault(folder.resolve(), folder)
        if same != folder:
            raise FileError(
                f"{folder}",
                f"it is the same folder as {same}, through a link; its rows would count twice.",
                "Remove the link.",
            )
        _check_open(folder)
        _check_finished(folder)
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        yield from (folder / name for name in names if not name.startswith(HIDDEN))


def _matches(pattern: str) -> list[Path]:
    """Return the files that match a pattern."""
    parts = Path(pattern).parts
    fixed = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    spelled = [part for part in parts if part.startswith(HIDDEN)]

    def shown(path: Path) -> bool:
        hidden = [part for part in path.parts[fixed:] if part.startswith(HIDDEN)]
        return all(any(fnmatchcase(part, each) for each in spelled) for part in hidden)

    depth = parts.index("**") if "**" in parts else len(parts) - 1
    for number in range(fixed + 1, depth + 1):
        for place in filter(shown, _globbed(str(Path(*parts[:number])))):
            _check_followed(place)
            _check_finished(place.parent)
            if _is_folder(place):
                _check_open(place)
    if "**" in parts:
        for place in filter(shown, _globbed(str(Path(*parts[:depth])))):
            list(_inside(place))  # raises if a folder cannot be read
    named = [each for each in _globbed(pattern) if not _is_folder(each)]
    found = [each for each in named if shown(each)]
    if named and not found:
        raise FileError(
            f"{pattern}",
            f"it names only files that are left out, such as {min(named)}: those with a dot or an "
            "underscore before their name or that of their folder.",
            "Spell that name out in the pattern to read them.",
        )
    return found


def _globbed(pattern: str) -> list[Path]:
    return list(map(Path, glob.glob(pattern, recursive=True)))  # noqa: PTH207 - absolute ones too


def _raise_unread(error: OSError) -> None:
    raise FileError(error.filename, f"the folder cannot be read: {error.strerror}.") from error


def _check_open(folder: Path) -> None:
    if not os.access(folder, os.R_OK | os.X_OK):
        raise FileError(f"{folder}", "the folder cannot be read: Permission denied.")


def _is_folder(place: Path) -> bool:
    return os.path.isdir(place)  # noqa: PTH112 - Path raises without permission


def _is_file(place: Path) -> bool:
    return os.path.isfile(place)  # noqa: PTH113 - Path raises without permission


def _check_followed(place: Path) -> None:
    if not _is_file(place) and not _is_folder(place):
        what = "a link that leads to neither" if place.is_symlink() else "something else"
        raise FileError(
            f"{place}",
            f"expected a file or a folder, got {what}.",
            "Remove it, or put back what belongs there.",
        )


def _check_finished(folder: Path) -> None:
    if _is_folder(folder / UNFINISHED):
        raise FileError(
            f"{folder / UNFINISHED}",
            "expected a folder that is written to its end, but the job that writes it leaves "
            "this one until it is done.",
            "Wait for it; if it failed, write the folder anew, or remove this one to read what "
            "there is.",
        )


def is_large(path: str, *, scores_kept: bool, is_score: Callable[[str], bool]) -> bool:
    """Tell whether a path is a file to be read in batches, because of its unpacked size.

    Parameters
    ----------
    path : str
        The file.
    scores_kept : bool
        Whether all scores are kept in memory, so that batches save nothing if there are scores.
    is_score : callable
        Returns whether a column with fractions has scores, given its name.
    """
    place = as_path(path)
    if not place.is_file() or file_kind(place) is None:
        return False
    size, rows, fractions = unpacked(place)
    if scores_kept and fractions != []:
        return False  # any of them may be scores, by its values
    scored = fractions is None or any(map(is_score, fractions))
    # A file with fewer rows than a batch is large because of its columns: batches would not help.
    return size >= (LARGE if scored or rows < BATCH else min(LARGE, LARGE_LABELS))


def unpacked(place: Path) -> tuple[int, int, list[str] | None]:
    """Return the approximate size of a file in memory, its rows, and its columns of fractions.

    If these are unknown before reading, there are 0 rows, and the columns are None.
    """
    size = place.stat().st_size
    if file_kind(place) == "parquet":
        return _unpacked_parquet(place)
    return size * (PACKED_TIMES if place.suffix.lower() in PACKED else 1), 0, None


def _unpacked_parquet(place: Path) -> tuple[int, int, list[str] | None]:
    pa = pyarrow()
    from pyarrow import parquet

    try:
        with pa.OSFile(os.fsencode(place)) as file:
            metadata = parquet.read_metadata(file)
    except MemoryError:  # pyarrow's is an ArrowException too
        raise
    except (OSError, ValueError, pa.ArrowException):  # reported when it is read
        return 0, 0, None
    columns = [metadata.schema.column(at) for at in range(metadata.num_columns)]
    text, rows = 8, metadata.num_rows
    size = rows * sum(WIDTHS.get(each.physical_type, text) for each in columns)
    return size, rows, [each.path for each in columns if each.physical_type in FRACTIONS]


class Shard:
    """One file of a table in many files.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    beginning : int
        A hash of the first bytes, with line feeds as line ends.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.source = path, source_name(path)
        beginning = check_readable(path, self.source, 2 * BEGINNING)
        text = _normal(beginning.removeprefix(BYTE_ORDER_MARK))[: BEGINNING - 2]
        self.beginning = hash(text.rstrip(b"\n"))
        self.kind = str(file_kind(path))
        self._state = _state_of(path)

    @property
    def columnar(self) -> bool:
        """Whether columns can be read separately."""
        return self.kind in COLUMNAR

    @property
    def is_text(self) -> bool:
        """Whether the file is text, and not packed."""
        return not self.columnar and self.path.suffix.lower() not in PACKED

    def schema(self) -> Any:
        """Return the names and types of the columns, without reading all rows."""
        found = self._schema()
        metadata = found.metadata
        table = arrow_read(lambda: countable(found.empty_table()), self.source, self._called())
        return table.schema.with_metadata(metadata)

    def _schema(self) -> Any:
        if self.kind == "parquet":
            from pyarrow import parquet

            return arrow_read(
                lambda: parquet.read_schema(self._bytes()), self.source, "a Parquet file"
            )
        if self.kind == "arrow":
            return arrow_read(lambda: self._arrow().schema, self.source, "an Arrow file")
        if self.kind == "csv":
            pa = pyarrow()
            return pa.schema([(name, pa.string()) for name in self._csv_file.names])
        first = arrow_read(lambda: next(self._jsonl(), None), self.source, self._called())
        return pyarrow().schema([]) if first is None else first.schema

    def batches(self, columns: Sequence[str]) -> Iterator[FileRows]:
        """Iterate over batches of rows, with their places in the file.

        Parameters
        ----------
        columns : sequence of str
            The columns to read, which the file must have.
        """
        read = {"parquet": self._parquet, "arrow": self._arrow_batches, "csv": self._csv}
        made = self._jsonl() if self.kind == "jsonl" else read[self.kind](list(columns))
        before = 0
        while True:
            batch = arrow_read(lambda: next(made, None), self.source, self._called())
            if batch is None:
                self._check_unchanged()
                return
            if batch.num_rows:
                table = pyarrow().table(batch) if self.kind == "jsonl" else batch
                table = table.select([name for name in columns if name in table.column_names])
                table = arrow_read(partial(countable, table), self.source, self._called())
                table = table.replace_schema_metadata(None)
                yield FileRows(table, self.source, self.kind, before)
                before += batch.num_rows

    def _check_unchanged(self) -> None:
        """Raise an error if the file has changed, because all passes must read the same rows."""
        if _state_of(self.path) != self._state:
            raise FileError(
                self.source,
                "it changed while it was read.",
                "Read it again when nothing writes to it.",
            )

    def _called(self) -> str:
        return {"parquet": "a Parquet file", "arrow": "an Arrow file"}.get(self.kind, "a table")

    def _parquet(self, columns: list[str]) -> Iterator[Any]:
        pa = pyarrow()
        from pyarrow import parquet

        gc.collect(0)  # pyarrow keeps metadata in a reference cycle, which nothing else frees
        options: dict[str, Any] = {"pre_buffer": False, "buffer_size": BUFFER}
        with parquet.ParquetFile(self._bytes(), **options) as file:
            names, end = repetitive(file), file.metadata
        options |= {"read_dictionary": names, "metadata": end}
        rows = 0
        with parquet.ParquetFile(self._bytes(), **options) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=columns):
                yield pa.Table.from_batches([batch])
                rows += batch.num_rows
            check_number(rows, file.metadata, self.source)

    def _arrow(self) -> Any:
        pa = pyarrow()
        return pa.ipc.open_file(pa.memory_map(os.fsencode(self.path)))

    def _bytes(self) -> Any:
        return pyarrow().OSFile(os.fsencode(self.path))

    def _arrow_batches(self, columns: list[str]) -> Iterator[Any]:
        pa = pyarrow()
        file = self._arrow()
        for number in range(file.num_record_batches):
            batch = file.get_batch(number).select(columns)
            batch.validate(full=True)  # pyarrow trusts the file's description of its bytes
            yield pa.Table.from_batches([batch])

    def _stream(self) -> Any:
        return text_stream(self.path)

    @cached_property
    def _csv_file(self) -> CsvFile:
        return CsvFile(self._stream, self.source)

    def _csv(self, columns: list[str]) -> Iterator[Any]:
        return self._csv_file.tables(columns, BLOCK)

    def _jsonl(self) -> Iterator[Any]:
        """Iterate over blocks of whole lines."""
        before, rest = 0, b""
        with self._stream() as stream:
            while True:
                block = stream.read(BLOCK)
                whole, newline, tail = (rest + block).rpartition(b"\n")
                lines, rest = (whole + newline, tail) if block else (rest, b"")
                if lines.strip():
                    yield jsonl_table(lines, self.source, before)
                before += lines.count(b"\n")
                if not block:
                    return


def _state_of(path: Path) -> tuple[int, ...] | None:
    """Return values that change if a file is written to or replaced; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def check_no_copies(shards: Sequence[Shard]) -> None:
    """Raise an error if two files of a table are identical, because rows would count double.

    The same holds for a file beside its compressed version, as left by ``gzip --keep``, and for
    text with other line ends. Files without rows may be identical. Only text with the same first
    and last bytes, and other files of the same size with the same first bytes, are read.
    """
    for first, *others in _grouped(shards, _unpacked_name):
        if others:
            raise FileError(
                others[0].source,
                f"its name is that of {first.source} but for the packing, so it seems to have the "
                "same rows, which would count double.",
                "Remove one, or rename it if it has other rows.",
            )
    text = [each for each in shards if each.is_text]
    binary = [each for each in shards if not each.is_text]
    alike = _alike(text, (_beginning_of_text, _text_ending, _text_digest))
    for first, *others in alike + _alike(binary, (_size, _beginning, _digest)):
        if any(rows.table.num_rows for rows in first.batches(first.schema().names)):
            raise FileError(
                others[0].source,
                f"it is a copy of {first.source}{_difference(first, others[0])}, so the same rows "
                "would count double.",
                "Remove a copy. If they are different examples that are alike by chance, count "
                "each file alone, merge the counts, and allow copies there.",
            )


def _alike(shards: list[Shard], keys: Sequence[Callable[[Shard], Any]]) -> list[list[Shard]]:
    """Return the groups of files with the same keys; a key is used only if those before agree."""
    groups = [shards]
    for key in keys:
        groups = [each for group in groups for each in _grouped(group, key) if len(each) > 1]
    return groups


def _difference(one: Shard, other: Shard) -> str:
    """Return the difference of two copies in words."""
    same = _size(one) == _size(other) and _digest(one) == _digest(other)
    return "" if same else " but for line ends or a byte-order mark"


def _grouped(shards: Sequence[Shard], key: Callable[[Shard], Any]) -> Iterable[list[Shard]]:
    groups: dict[Any, list[Shard]] = {}
    for shard in shards:
        groups.setdefault(key(shard), []).append(shard)
    return groups.values()


def _unpacked_name(shard: Shard) -> Path:
    path = shard.path
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def _size(shard: Shard) -> int:
    return shard.path.stat().st_size


def _beginning(shard: Shard) -> bytes:
    with shard.path.open("rb") as file:
        return file.read(BEGINNING)


def _digest(shard: Shard) -> bytes:
    with shard.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _beginning_of_text(shard: Shard) -> int:
    return shard.beginning


def _text_ending(shard: Shard) -> bytes:
    with shard.path.open("rb") as file:
        file.seek(max(_size(shard) - 2 * BEGINNING, 0))
        ending = file.read().removeprefix(BYTE_ORDER_MARK)
    return _normal(ending).rstrip(b"\n")[-BEGINNING:]


def _normal(text: bytes) -> bytes:
    """Return text with line feeds as line ends."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _text_digest(shard: Shard) -> bytes:
    found, ends = hashlib.sha256(), ""
    with shard.path.open(encoding="utf-8-sig", errors="surrogateescape", newline=None) as file:
        while piece := file.read(BLOCK >> 4):
            kept = (piece := ends + piece).rstrip("\n")
            ends = piece[len(kept) :]  # those of the last line do not count
            found.update(kept.encode(errors="surrogateescape"))
    return found.digest()


def check_same_columns(shards: Sequence[Shard]) -> Any:
    """Return the schema that all files of a table share; other columns are an error."""
    first, *others = shards
    schema = first.schema()
    _check_names(first, schema)
    for shard in others:
        theirs = shard.schema()
        _check_names(shard, theirs)
        for name in schema.names:
            if name not in theirs.names:
                raise FileError(
                    shard.source,
                    f"there is no column {name!r}, which {first.source} has; the files of one "
                    "table must have the same columns.",
                )
        for name in theirs.names:
            if name not in schema.names:
                raise FileError(
                    shard.source,
                    f"there is a column {name!r}, which {first.source} has not; the files of one "
                    "table must have the same columns.",
                )
            kinds = [kind_of(each.field(name).type) for each in (theirs, schema)]
            if kinds[0] != kinds[1] and "nothing" not in kinds:
                raise FileError(
                    f"{shard.source}, column {name!r}",
                    f"it has {kinds[0]}, but {first.source} has {kinds[1]}; a column must be of "
                    "one kind in all files of a table.",
                )
    return schema


def _check_names(shard: Shard, schema: Any) -> None:
    check_not_counts(schema, shard.source)
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise FileError(shard.source, f"the column {twice[0]!r} occurs more than once.")


def kind_of(arrow_type: Any) -> str:
    """Return the kind of values in a column, in words."""
    types = pyarrow().types
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_null(arrow_type):
        return "nothing"
    if types.is_boolean(arrow_type):
        return "true and false"
    if types.is_integer(arrow_type) or types.is_floating(arrow_type):
        return "numbers"
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "text"
    return str(arrow_type)
