"""Joins of files with predictions of the same examples, on a column of example ids."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from stakes.errors import FileError
from stakes.read.sources import pyarrow
from stakes.read.tables import FileRows

Named = tuple[str, Any]
"""The name of a file and its table."""

Origin = tuple[str, str]
"""The name of a file and the name of a column in it."""


def joined(
    files: Sequence[FileRows],
    key: str,
    actual: str,
    *,
    apart: Collection[str] = (),
    stems: Sequence[str] | None = None,
) -> Any:
    """Join tables of the same examples on a column of example ids.

    Columns that are the same in all files are kept once. Columns with the same name that differ,
    such as the decisions of several models, get the name of their file as a prefix.

    Parameters
    ----------
    files : sequence of FileRows
        The rows of each file.
    key : str
        The column of example ids, which all tables have.
    actual : str
        The column with the actual classes, on which files must agree.
    apart : collection of str
        The columns to keep for each file, even if they are the same in all.
    stems : sequence of str, optional
        The prefixes of columns that differ; by default the names of the files.
    """
    for rows in files:
        _check_key(rows, key)
    named = [(rows.source, rows.table) for rows in files]
    aligned = _aligned(_with_keys_alike(named, key), key)
    keys = aligned[0][1].column(key)
    stems = _stems([name for name, _ in aligned]) if stems is None else stems
    columns = {key: keys}
    taken: dict[str, Origin] = {}
    for name, table in aligned:
        taken |= {column: (name, column) for column in table.column_names if column not in taken}
    for column in dict.fromkeys(c for _, table in aligned for c in table.column_names if c != key):
        versions = {
            place: table.column(column)
            for place, (_, table) in enumerate(aligned)
            if column in table.column_names
        }
        first = next(iter(versions))
        others = [i for i, each in versions.items() if not _same(each, versions[first])]
        if not others and column not in apart:
            columns[column] = versions[first]
        elif column == actual:
            names = aligned[first][0], aligned[others[0]][0]
            pair = versions[first], versions[others[0]]
            raise _disagreement(names, pair, column, keys, key)
        else:
            for place, each in versions.items():
                name, origin = f"{stems[place]}_{column}", (aligned[place][0], column)
                if name in taken:
                    raise _taken(name, origin, taken[name])
                columns[name], taken[name] = each, origin
    return pyarrow().table(columns)


def _taken(name: str, one: Origin, other: Origin) -> FileError:
    """Return the error that two columns would have the same name."""
    (file, column), (other_file, other_column) = one, other
    return FileError(
        " and ".join(dict.fromkeys([file, other_file])),
        f"joined, two columns would have the name {name!r}: {column!r} of {file} and "
        f"{other_column!r} of {other_file}.",
        "Rename one of them.",
    )


def _check_key(rows: FileRows, key: str) -> None:
    """Raise an error unless a file has a unique id for each row."""
    from pyarrow import compute as pc

    name, table = rows.source, rows.table
    if key not in table.column_names:
        raise FileError(
            name,
            f"there is no column {key!r} to join on; there are "
            f"{', '.join(map(repr, table.column_names[:10]))}.",
        )
    column = table.column(key)
    if pyarrow().types.is_nested(column.type):
        raise FileError(
            f"{name}, column {key!r}",
            f"expected names of examples, as text or numbers; it has {column.type}.",
        )
    if pyarrow().types.is_dictionary(column.type):
        column = _as_text(column)
    blank = pc.index(_blank(column), True).as_py()
    if blank >= 0:
        where = rows.place(blank)
        raise FileError(f"{name}, {where}, column {key!r}", "the id is missing.")
    counts = column.value_counts()
    most = pc.max(counts.field("counts"))
    if most.as_py() > 1:
        value = counts.field("values")[pc.index(counts.field("counts"), most).as_py()].as_py()
        raise FileError(
            f"{name}, column {key!r}",
            f"{value!r} occurs {most.as_py():,} times; to join files, each example must have a "
            "name of its own.",
        )


def _blank(column: Any) -> Any:
    """Return a mask of blank ids: missing, NaN, or text of spaces only."""
    from pyarrow import compute as pc

    types = pyarrow().types
    missing = pc.is_null(column, nan_is_null=True)
    if types.is_string(column.type) or types.is_large_string(column.type):
        empty = pc.equal(pc.utf8_trim_whitespace(column), "")
        return pc.or_kleene(missing, empty)
    return missing


def _with_keys_alike(tables: Sequence[Named], key: str) -> list[Named]:
    """Convert the ids to text if their types differ between files, or are dictionaries."""
    pa = pyarrow()
    kinds = {table.schema.field(key).type for _, table in tables}
    if len(kinds) == 1 and not pa.types.is_dictionary(next(iter(kinds))):
        return list(tables)
    result = []
    for name, table in tables:
        at = table.column_names.index(key)
        result.append((name, table.set_column(at, key, _as_text(table.column(key)))))
    return result


def _as_text(column: Any) -> Any:
    pa = pyarrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string())


def _aligned(tables: Sequence[Named], key: str) -> list[Named]:
    """Return the tables with all rows in the order of the first."""
    from pyarrow import compute as pc

    (first_name, first), *others = tables
    result = [(first_name, first)]
    for name, table in others:
        places = pc.index_in(first.column(key), value_set=table.column(key))
        _check_found(places, first, key, (name, first_name))
        back = pc.index_in(table.column(key), value_set=first.column(key))
        _check_found(back, table, key, (first_name, name))
        result.append((name, table.take(places)))
    return result


def _check_found(places: Any, table: Any, key: str, files: tuple[str, str]) -> None:
    """Raise an error if the first of two files lacks examples of the second."""
    from pyarrow import compute as pc

    if not places.null_count:
        return
    value = table.column(key)[pc.index(pc.is_null(places), True).as_py()].as_py()
    more = f" and {places.null_count - 1:,} more" if places.null_count > 1 else ""
    raise FileError(
        f"{files[0]}, column {key!r}",
        f"there is no {value!r}{more}, which {files[1]} has; files must have the same examples to "
        "be joined.",
    )


def _same(one: Any, other: Any) -> bool:
    pa = pyarrow()
    if one.type != other.type:
        try:
            one, other = map(_as_text, (one, other))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # lists, say
            return False
    return bool(one.equals(other))


def _disagreement(
    files: tuple[str, str], versions: tuple[Any, Any], column: str, keys: Any, key: str
) -> FileError:
    """Return the error that two files disagree, for the first such example."""
    pairs = zip(keys.to_pylist(), *(each.to_pylist() for each in versions), strict=True)
    example, one, other = next(each for each in pairs if each[1] != each[2])
    called = key.lstrip("\0")  # the prefix of internal columns
    return FileError(
        f"{files[0]} and {files[1]}, column {column!r}",
        f"for the {called} {example!r} one has {one!r}, the other {other!r}; files must agree on "
        "the actual classes.",
    )


def _stems(names: Sequence[str]) -> list[str]:
    """Return short, distinct names of files."""
    stems = [Path(name).name.split(".")[0] for name in names]
    return stems if len(set(stems)) == len(stems) else [str(i + 1) for i in range(len(names))]
