"""Find the file or the partition that an engine failed on, where its own message names none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

MOST_PARTS = 256
"""So many are tried one after the other, to find the one that cannot be read."""


def failed(error: BaseException) -> bool:
    """Tell an engine's failure, of whatever kind, from a user's wish to stop."""
    panic = type(error).__name__ == "PanicException"  # of polars, and by design no Exception
    return panic or isinstance(error, Exception)


def damaged_part(wrapped: Any, columns: Sequence[Any]) -> str | None:
    """Name the first file (polars) or partition (Dask) that cannot be read, if there is one."""
    implementation = wrapped.implementation
    try:
        if implementation.is_polars():
            return _damaged_file(wrapped.to_native(), columns)
        if implementation.is_dask():
            return _damaged_partition(wrapped.to_native(), columns)
    except Exception:  # noqa: BLE001 - the failure itself is what must be told
        return None
    return None


def _damaged_file(lazy: Any, columns: Sequence[Any]) -> str | None:
    import polars as pl

    files = [path for scan in _scans(lazy) for path in scan][:MOST_PARTS]
    for path in files:
        try:
            file = pl.scan_parquet(path)
            present = [name for name in columns if name in file.collect_schema()]
            read = pl.col(present).hash().max()  # which no statistics of a file can answer
            file.select(read).collect(engine="streaming")
        except BaseException as error:
            if not failed(error):
                raise
            return f"The file {str(path)!r}"
    return None


def _scans(lazy: Any) -> Iterator[list[Any]]:
    """Iterate over the Parquet files of each scan in a plan of polars."""
    plan = lazy._ldf.visit()  # noqa: SLF001 - polars shows its plan to other engines in this way
    nodes = [plan.get_node()]
    while nodes:
        plan.set_node(nodes.pop())
        node = plan.view_current_node()
        if type(node).__name__ == "Scan" and "parquet" in str(node.scan_type):
            yield list(node.paths)
        nodes.extend(plan.get_inputs())


def _damaged_partition(frame: Any, columns: Sequence[Any]) -> str | None:
    wanted = list(dict.fromkeys(columns))
    readable: list[bool] = []
    for number in range(min(frame.npartitions, MOST_PARTS)):
        readable.append(_can_be_read(frame.partitions[number], wanted))
        if True in readable and False in readable:
            return f"The partition {readable.index(False)} of {frame.npartitions}"
        if readable == [False, False]:  # then it is not a matter of a partition
            return None
    return None


def _can_be_read(partition: Any, columns: list[Any]) -> bool:
    try:
        partition[columns].compute()
    except Exception:  # noqa: BLE001 - whatever reading it raises
        return False
    return True


def kinds_of_partitions(frame: Any, name: Any) -> dict[str, list[int]]:
    """Tell which partitions of a Dask frame hold text in a column, and which other labels."""
    found: dict[str, list[int]] = {"text": [], "numbers": []}
    for number in range(min(frame.npartitions, MOST_PARTS)):
        values = frame.partitions[number][name].compute().dropna()
        text = values.map(lambda value: isinstance(value, str))
        for kind, there in (("text", text.any()), ("numbers", not text.all())):
            if there:
                found[kind].append(number)
    return found
