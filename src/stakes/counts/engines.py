"""Count the rows of data frames in their own engines, and handle the quirks of each engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import MOST_LABELS, Column, as_column, is_missing, listing, plain
from stakes.counts._labelled import MOST_CELLS
from stakes.errors import EngineError, InputError, InputTypeError, LabelError, MissingExtraError

Result = TypeVar("Result")

INSTALL = 'pip install --upgrade "stakes[engines]"'

NOISE = ("at ", "...", "An error occurred while calling", ": org.apache.spark.SparkException: Exc")
"""Beginnings of the lines of a Java stack trace that do not describe the error."""

LONGEST = 1000
"""Largest number of characters to show of an engine's message; the chained error has them all."""

MOST_SHARDS = 256
"""Largest number of files or partitions to try one by one, to find one that cannot be read."""

Amounts = list[NDArray[Any] | None]
"""Totals of each group: the number of rows; or the sums of weights and of squared weights."""


def as_frame(frame: Any, columns: Sequence[Any], numbers: Sequence[Any] = ()) -> Any:
    """Wrap a native frame, eager or lazy, and check that it has the required columns.

    Types are checked before anything is counted: `columns` must hold labels, and `numbers`
    numbers.
    """
    import narwhals as nw

    wrapped = _wrapped(frame)
    try:
        schema = run_query(wrapped, columns, wrapped.collect_schema)
    except nw.exceptions.DuplicateError as error:
        raise _same_names(error) from error
    known = list(schema)
    for column in (*columns, *numbers):
        if column not in known:
            raise InputError(
                "frame", f"there is no column {column!r}. It has: {', '.join(map(repr, known))}."
            )
    for column in columns:
        _check_labels(schema[column], f"column {column!r}")
    for column in numbers:
        kind = schema[column]
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise InputError(
                f"column {column!r}",
                f"expected numbers, got a column of type {kind}.",
                "Convert it to numbers first.",
            )
    return wrapped


def _wrapped(frame: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(frame)
    except TypeError as error:
        raise InputTypeError(
            "frame",
            "expected a data frame (pandas, polars, pyarrow, DuckDB, Dask, Spark, Ibis), got "
            f"{type(frame).__name__}.",
            "For arrays use from_labels or from_scores; open files first, e.g. with "
            "polars.scan_parquet.",
        ) from error
    except nw.exceptions.NarwhalsError as error:
        raise _same_names(error) from error
    except ImportError as error:
        engine = type(frame).__module__.split(".")[0].strip("_")
        raise _not_installed(engine, error) from error
    except ValueError as error:
        if "inimum version" not in str(error):
            raise
        raise MissingExtraError(f"frame: {error}. Install a newer one: {INSTALL}") from error


def _same_names(error: Exception) -> InputError:
    """Return the error that columns of a frame have the same name."""
    what = " ".join(str(error).split())
    return InputError("frame", f"its columns cannot be told apart: {what}.")


def _check_labels(kind: Any, name: str) -> None:
    """Refuse a column type that cannot hold labels, before an engine counts a billion of them."""
    if kind.is_temporal():
        raise InputTypeError(
            name,
            f"expected text or numbers as labels, got dates or times (a column of type {kind}).",
            "Convert them to text, e.g. with astype(str).",
        )
    if kind.is_nested():
        raise InputTypeError(
            name,
            f"expected one label an example, text or a number, got a column of type {kind}.",
            "For probabilities, decide first: costs.decide(proba).",
        )


def column(wrapped: Any, name: str) -> Any:
    """Return the expression for a column, whatever its name."""
    import narwhals as nw

    spark = wrapped.implementation.is_pyspark() or wrapped.implementation.is_pyspark_connect()
    if spark:  # a dot in a name would mean a field of a structure
        name = f"`{name.replace('`', '``')}`"
    return nw.col(name)


def collected(wrapped: Any, columns: Sequence[Any], make: Callable[[], Any]) -> Any:
    """Make a table of groups in the frame's engine, and collect it if the frame is lazy."""
    import narwhals as nw

    def table() -> Any:
        made = make()
        if not isinstance(made, nw.LazyFrame):
            return made
        if wrapped.implementation.is_polars() and _streams_safely():
            return made.collect(engine="streaming")  # in batches, so that memory is bounded
        return made.collect()

    return run_query(wrapped, columns, table)


def _streams_safely() -> bool:
    """Tell whether streaming in polars reports damaged files; version 1.25 left them out."""
    import polars as pl

    major, minor = map(int, pl.__version__.split(".")[:2])
    return (major, minor) >= (1, 27)


def group(
    frame: Any,
    columns: Sequence[str],
    weight: str | None = None,
    *,
    any_number: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
) -> tuple[list[Column], Amounts]:
    """Group a frame by label columns.

    Returns the labels of each group, and its amounts: the number of rows or, with a weight, the
    sum of the weights and the sum of their squares. Columns named in `any_number` may have any
    number of different labels. Values of columns in `texts` become text, and missing values the
    text given there.
    """
    wrapped = as_frame(frame, columns, [] if weight is None else [weight])
    keys = _keys(columns)
    keyed = {key: column(wrapped, name) for key, name in zip(keys, columns, strict=True)}
    table = _grouped(wrapped, keyed, columns, weight, most=MOST_CELLS)
    rows = table["rows"].to_numpy()
    labels = []
    for name, key in zip(columns, keys, strict=True):
        most = None if name in any_number else MOST_LABELS
        values = table[key].to_list()
        if texts is not None and name in texts:
            values = [texts[name] if is_missing(each) else str(plain(each)) for each in values]
        labels.append(label_column(wrapped, name, values, rows, most))
    return labels, amounts_in(table, weight)


def scored(
    frame: Any, actual: str, score: Sequence[str], weight: str | None
) -> tuple[Column, list[NDArray[np.float64]], Amounts]:
    """Return the labels, the scores of each scorer, and the amounts of a frame.

    These describe the rows of a frame in memory, and the distinct combinations of label and
    scores of a lazy frame.
    """
    import narwhals as nw

    wrapped = as_frame(frame, [actual], [*score, *([] if weight is None else [weight])])
    label_name, weight_name = (f"column {name!r}" for name in (actual, weight))
    if not isinstance(wrapped, nw.LazyFrame):
        labels = as_column(wrapped[actual].to_native(), label_name)
        found = [validate.scores(wrapped[name].to_native(), f"column {name!r}") for name in score]
        weights = None if weight is None else wrapped[weight].to_native()
        return labels, found, validate.weight_amounts(weights, len(labels), weight_name, label_name)

    label_key, *score_keys = _keys([actual, *score])
    keyed = {label_key: column(wrapped, actual)}
    schema = wrapped.collect_schema()
    for key, name in zip(score_keys, score, strict=True):
        # Integers and decimals are grouped as they are: as floats, different ones may be equal.
        floats = schema[name].is_float() or schema[name] == nw.Boolean
        keyed[key] = column(wrapped, name).cast(nw.Float64) if floats else column(wrapped, name)
    table = _grouped(wrapped, keyed, [actual, *score], weight)
    rows = table["rows"].to_numpy()
    found = []
    for key, name in zip(score_keys, score, strict=True):
        exact = table[key]
        series = exact.cast(nw.Float64)
        scores = series.to_numpy().astype(np.float64, copy=False)
        check_scored(scores, rows, name)
        if not schema[name].is_float() and exact.n_unique() != series.n_unique():
            raise validate.too_precise(f"column {name!r}")
        found.append(validate.bounded(scores))
    return (
        label_column(wrapped, actual, table[label_key].to_list(), rows),
        found,
        amounts_in(table, weight),
    )


def in_memory(
    frame: Any, columns: Sequence[str], numbers: Sequence[str], weight: str | None
) -> Any:
    """Return the required columns as a frame in memory."""
    import narwhals as nw

    needed = [*numbers, *([] if weight is None else [weight])]
    wrapped = as_frame(frame, columns, needed)
    if not isinstance(wrapped, nw.LazyFrame):
        return wrapped
    chosen = list(dict.fromkeys([*columns, *needed]))
    return run_query(wrapped, chosen, wrapped.select(chosen).collect)


def _keys(columns: Sequence[str]) -> list[str]:
    return [f"key_{i}" for i in range(len(columns))]  # the same column may occur twice


def _grouped(
    wrapped: Any,
    keyed: dict[str, Any],
    columns: Sequence[str],
    weight: str | None,
    most: int | None = None,
) -> Any:
    """Group in the frame's engine, and collect a row for each group; refuse more than `most`."""
    selected = [part.alias(key) for key, part in keyed.items()]
    selected += weight_columns(wrapped, weight)

    def groups() -> Any:
        table = wrapped.select(selected).group_by(list(keyed)).agg(sums_of(weight))
        return table if most is None else table.head(most + 1)

    table = collected_groups(wrapped, columns, groups)
    if most is not None and len(table) > most:
        raise InputError(
            f"columns {', '.join(map(repr, columns))}",
            f"more than {most} different combinations are too many to tabulate. Are there scores "
            "or identifiers among the labels?",
            "Pass the decided classes, and no more groups than are needed.",
        )
    return table


def weight_columns(wrapped: Any, weight: str | None) -> list[Any]:
    """Return the columns of the weight and its square, which groups sum; none without a weight."""
    import narwhals as nw

    if weight is None:
        return []
    each = column(wrapped, weight).cast(nw.Float64)
    return [each.alias("weight"), (each * each).alias("square")]


def sums_of(weight: str | None) -> list[Any]:
    """Return the aggregates of each group, from which `amounts_in` makes amounts."""
    import narwhals as nw

    rows, each = nw.len().alias("rows"), nw.col("weight")
    if weight is None:
        return [rows]
    return [
        rows,
        each.sum().alias("sum"),
        nw.col("square").sum().alias("squares"),
        each.min().alias("least"),
        each.max().alias("most"),
        each.count().alias("known"),
    ]


def collected_groups(wrapped: Any, columns: Sequence[str], groups: Callable[[], Any]) -> Any:
    """Collect a row for each group; raise an error if the frame has no rows."""
    table = collected(wrapped, columns, groups)
    if not len(table):
        raise InputError("frame", "expected at least one example, got none.")
    return table


def check_scored(scores: NDArray[np.float64], rows: NDArray[Any], name: str) -> None:
    """Refuse a column in which rows have no score."""
    missing = np.isnan(scores)
    if missing.any():
        raise InputError(
            f"column {name!r}",
            f"expected numbers, {int(rows[missing].sum())} rows have no score.",
            "Leave out the examples that have no score.",
        )


def _check_one_kind(frame: Any, name: str, values: list[Any], rows: NDArray[Any]) -> None:
    """Refuse a column whose partitions disagree on whether labels are text or numbers."""
    known = [(value, n) for value, n in zip(values, rows, strict=True) if not is_missing(value)]
    text = sum(int(n) for value, n in known if isinstance(value, str))
    others = sum(int(n) for value, n in known if not isinstance(value, str))
    if not (text and others):
        return
    kinds = _kinds_of_partitions(frame, name)
    raise LabelError(
        f"column {name!r}",
        f"{text} rows have text as labels (in the partitions {listing(kinds['text'])}) and "
        f"{others} rows have numbers (in the partitions {listing(kinds['numbers'])}).",
        "Convert all to one type, e.g. with astype(str).",
    )


def label_column(
    wrapped: Any, name: str, values: list[Any], rows: NDArray[Any], most: int | None = MOST_LABELS
) -> Column:
    """Return the labels of groups of rows as a column, and check that none is missing.

    `rows` has the number of rows of each group.
    """
    if wrapped.implementation.is_dask():  # the only engine whose partitions may differ in type
        _check_one_kind(wrapped.to_native(), name, values, rows)
    missing = np.array([is_missing(value) for value in values])
    if missing.any():
        raise LabelError(
            f"column {name!r}",
            f"{rows[missing].sum()} rows have no label.",
            "Leave out the examples that have no label, or give them one.",
        )
    labels = as_column([plain(value) for value in values], f"column {name!r}", most)
    return replace(labels, repeats=rows)


def amounts_in(table: Any, weight: str | None) -> Amounts:
    """Check and return the numbers of rows or, with a weight, the sums of weights and squares."""
    if weight is None:
        return [table["rows"].to_numpy()]
    name = f"column {weight!r}"
    least, most, total, squares = (
        table[key].to_numpy() for key in ("least", "most", "sum", "squares")
    )
    # Some engines ignore NaN in the maximum, but in all of them it makes the sum NaN.
    absent = table["known"].sum() < table["rows"].sum() or np.isnan(total).any()
    if absent or np.isinf(most).any() or np.isinf(least).any():
        raise InputError(name, "expected finite weights, got missing or infinite ones.")
    if (least < 0).any():
        raise InputError(name, f"weights cannot be negative, got {least.min()}.")
    if not total.any():
        raise InputError(name, "all weights are zero; at least one must be positive.")
    if not np.isfinite(squares).all() or most.max() > np.sqrt(np.finfo(float).max / len(table)):
        raise validate.too_heavy(name, most.max())
    return [total, squares]


# -- Failures: engines raise errors of any type, and few of them name the file that is unreadable.


def run_query(wrapped: Any, columns: Sequence[Any], query: Callable[[], Result]) -> Result:
    """Run a query of an engine, and turn its failures into errors of this package."""
    import narwhals as nw

    engine = wrapped.implementation.value
    try:
        return query()
    except nw.exceptions.DuplicateError:
        raise
    except MemoryError as error:
        if not wrapped.implementation.is_dask():  # its workers have their own memory
            raise
        raise EngineError(
            f"frame: {engine} failed, so nothing was counted: a partition takes more memory than "
            "there is. Make more and smaller partitions, e.g. with repartition."
        ) from error
    except ImportError as error:
        raise _not_installed(engine, error) from error
    except BaseException as error:
        if not failed(error):
            raise
        if isinstance(error, TypeError) and "unhashable" in str(error):
            names = ", ".join(map(repr, columns))
            raise InputTypeError(
                f"columns {names}", f"expected text or numbers as labels: {error}."
            ) from error
        part = unreadable_shard(wrapped, columns)
        where = "" if part is None else f" {part} cannot be read: repair it, or leave it out."
        raise EngineError(
            f"frame: {engine} failed, so nothing was counted: {error_text(error)}{where}"
        ) from error


def error_text(error: BaseException) -> str:
    """Return the message of an engine's error in one line, without its stack trace."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line and not line.startswith(NOISE)]
    text = " ".join(" ".join(telling or lines).split())
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    kind = type(error).__name__
    return f"{kind}: {shown}." if not shown.endswith(".") else f"{kind}: {shown}"


def _not_installed(engine: str, error: ImportError) -> MissingExtraError:
    return MissingExtraError(
        f"frame: counting with {engine} needs a library that is not installed, or a newer one "
        f"({error}): {INSTALL}"
    )


def failed(error: BaseException) -> bool:
    """Tell whether an error is an engine's failure, and not a user's request to stop."""
    panic = type(error).__name__ == "PanicException"  # of polars; by design not an Exception
    return panic or isinstance(error, Exception)


def unreadable_shard(wrapped: Any, columns: Sequence[Any]) -> str | None:
    """Name the first file (polars) or partition (Dask) that cannot be read, if there is one."""
    implementation = wrapped.implementation
    try:
        if implementation.is_polars():
            return _unreadable_file(wrapped.to_native(), columns)
        if implementation.is_dask():
            return _unreadable_partition(wrapped.to_native(), columns)
    except Exception:  # noqa: BLE001 - the original failure must be reported
        return None
    return None


def _unreadable_file(lazy: Any, columns: Sequence[Any]) -> str | None:
    import polars as pl

    files = [path for scan in _scans(lazy) for path in scan][:MOST_SHARDS]
    for path in files:
        try:
            file = pl.scan_parquet(path)
            present = [name for name in columns if name in file.collect_schema()]
            read = pl.col(present).hash().max()  # file statistics cannot answer this, so it reads
            file.select(read).collect(engine="streaming")
        except BaseException as error:
            if not failed(error):
                raise
            return f"The file {str(path)!r}"
    return None


def _scans(lazy: Any) -> Iterator[list[Any]]:
    """Iterate over the Parquet files of each scan in a plan of polars."""
    plan = lazy._ldf.visit()  # noqa: SLF001 - the interface by which other engines read the plan
    nodes = [plan.get_node()]
    while nodes:
        plan.set_node(nodes.pop())
        node = plan.view_current_node()
        if type(node).__name__ == "Scan" and "parquet" in str(node.scan_type):
            yield list(node.paths)
        nodes.extend(plan.get_inputs())


def _unreadable_partition(frame: Any, columns: Sequence[Any]) -> str | None:
    wanted = list(dict.fromkeys(columns))
    readable: list[bool] = []
    for number in range(min(frame.npartitions, MOST_SHARDS)):
        readable.append(_can_be_read(frame.partitions[number], wanted))
        if True in readable and False in readable:
            return f"The partition {readable.index(False)} of {frame.npartitions}"
        if readable == [False, False]:  # the cause is then not a single partition
            return None
    return None


def _can_be_read(partition: Any, columns: list[Any]) -> bool:
    try:
        partition[columns].compute()
    except Exception:  # noqa: BLE001 - reading may raise any error
        return False
    return True


def _kinds_of_partitions(frame: Any, name: Any) -> dict[str, list[int]]:
    """Return the partitions of a Dask frame whose column holds text, and those with numbers."""
    found: dict[str, list[int]] = {"text": [], "numbers": []}
    for number in range(min(frame.npartitions, MOST_SHARDS)):
        values = frame.partitions[number][name].compute().dropna()
        text = values.map(lambda value: isinstance(value, str))
        for kind, there in (("text", text.any()), ("numbers", not text.all())):
            if there:
                found[kind].append(number)
    return found
