"""The engines that hold a data frame: what they are asked, and what is said when they fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from stakes.counts.damage import damaged_part, failed
from stakes.errors import EngineError, InputError, InputTypeError, MissingExtraError

Answer = TypeVar("Answer")

INSTALL = 'pip install --upgrade "stakes[engines]"'

NOISE = ("at ", "...", "An error occurred while calling", ": org.apache.spark.SparkException: Exc")
"""How lines of a Java stack trace begin that say nothing of what went wrong."""

LONGEST = 1000
"""So many characters of an engine's message are shown; the whole is in the chained error."""


def as_frame(frame: Any, columns: Sequence[Any], numbers: Sequence[Any] = ()) -> Any:
    """Wrap a native frame, eager or lazy, and check that it has the columns asked for.

    Types are checked before anything is counted: those of `columns` hold labels, those of
    `numbers` numbers.
    """
    import narwhals as nw

    wrapped = _wrapped(frame)
    try:
        schema = asked(wrapped, columns, wrapped.collect_schema)
    except nw.exceptions.DuplicateError as error:
        what = " ".join(str(error).split())
        raise InputError(f"frame: its columns cannot be told apart: {what}.") from error
    known = list(schema)
    for column in (*columns, *numbers):
        if column not in known:
            raise InputError(
                f"frame: there is no column {column!r}. It has: {', '.join(map(repr, known))}."
            )
    for column in columns:
        _check_labels(schema[column], f"column {column!r}")
    for column in numbers:
        kind = schema[column]
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise InputError(
                f"column {column!r}: expected numbers, got a column of type {kind}. "
                "Convert it to numbers first."
            )
    return wrapped


def _wrapped(frame: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(frame)
    except TypeError as error:
        raise InputTypeError(
            f"frame: expected a data frame (pandas, polars, pyarrow, DuckDB, Dask, Spark, Ibis), "
            f"got {type(frame).__name__}. For arrays use from_labels or from_scores; open files "
            "first, e.g. with polars.scan_parquet."
        ) from error
    except nw.exceptions.NarwhalsError as error:
        what = " ".join(str(error).split())
        raise InputError(f"frame: its columns cannot be told apart: {what}.") from error
    except ImportError as error:
        engine = type(frame).__module__.split(".")[0].strip("_")
        raise _not_installed(engine, error) from error
    except ValueError as error:
        if "inimum version" not in str(error):
            raise
        raise MissingExtraError(f"frame: {error}. Install a newer one: {INSTALL}") from error


def _check_labels(kind: Any, name: str) -> None:
    """Refuse what cannot be labels before an engine counts a billion of them."""
    if kind.is_temporal():
        raise InputTypeError(
            f"{name}: expected text or numbers as labels, got dates or times (a column of type "
            f"{kind}). Convert them to text, e.g. with astype(str)."
        )
    if kind.is_nested():
        raise InputTypeError(
            f"{name}: expected one label an example, text or a number, got a column of type "
            f"{kind}. For probabilities, decide first: costs.decide(proba)."
        )


def column(wrapped: Any, name: str) -> Any:
    """Return the expression for a column, whatever its name."""
    import narwhals as nw

    spark = wrapped.implementation.is_pyspark() or wrapped.implementation.is_pyspark_connect()
    if spark:  # which takes a dot for the field of a structure
        name = f"`{name.replace('`', '``')}`"
    return nw.col(name)


def collected(wrapped: Any, columns: Sequence[Any], make: Callable[[], Any]) -> Any:
    """Make a table of groups where the frame lives, and collect it if the frame is lazy."""
    import narwhals as nw

    def table() -> Any:
        made = make()
        if not isinstance(made, nw.LazyFrame):
            return made
        if wrapped.implementation.is_polars() and _streams_safely():
            return made.collect(engine="streaming")  # in batches, so that memory is bounded
        return made.collect()

    return asked(wrapped, columns, table)


def _streams_safely() -> bool:
    """Tell whether polars streams without leaving out files that are damaged, as 1.25 did."""
    import polars as pl

    major, minor = map(int, pl.__version__.split(".")[:2])
    return (major, minor) >= (1, 27)


def asked(wrapped: Any, columns: Sequence[Any], question: Callable[[], Answer]) -> Answer:
    """Ask an engine; whatever it fails with becomes an error that says so."""
    import narwhals as nw

    engine = wrapped.implementation.value
    try:
        return question()
    except (MemoryError, nw.exceptions.DuplicateError):
        raise
    except ImportError as error:
        raise _not_installed(engine, error) from error
    except BaseException as error:
        if not failed(error):
            raise
        if isinstance(error, TypeError) and "unhashable" in str(error):
            names = ", ".join(map(repr, columns))
            raise InputTypeError(
                f"columns {names}: expected text or numbers as labels: {error}."
            ) from error
        part = damaged_part(wrapped, columns)
        where = "" if part is None else f" {part} cannot be read: repair it, or leave it out."
        raise EngineError(
            f"frame: {engine} failed, so nothing was counted: {said(error)}{where}"
        ) from error


def said(error: BaseException) -> str:
    """Return what an engine's error says, without its stack trace and in one line."""
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
