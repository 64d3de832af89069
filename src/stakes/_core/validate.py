"""Check the numbers and options that users pass in.

Labels are checked in ``stakes._core.labels``; that the labels of data and costs agree is checked
where they are counted.
"""

from __future__ import annotations

import inspect
import math
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Labels, as_labels, has_entries, is_missing, listing, plain
from stakes.errors import InputError, InputTypeError, LabelError

Orientation = Literal["predicted", "actual"]

PROBABILITY_TOLERANCE = 1e-3
"""Largest deviation of the sum of probabilities from 1, which allows for rounding in files."""

LEAST_ALPHA = 1e-9
"""Least distance of a confidence level from 0 and from 1."""

LARGEST_COST = 1e100
"""Largest cost; the squares of larger ones could not be summed."""

EXACT = 2.0**53
"""Size from which floats may be rounded whole numbers."""

MOST_COUNTED = 2.0**63
"""Upper limit of 64-bit integers, exclusive."""


def orientation(rows: Any) -> Orientation:
    """Check the argument that states what the rows of a matrix stand for."""
    if not isinstance(rows, str) or rows not in get_args(Orientation):
        given = "nothing" if rows is None else repr(rows)
        raise InputTypeError(
            "rows",
            "state what the rows of the matrix stand for, rows='predicted' or rows='actual' "
            f"(scikit-learn and Weka have rows='actual'); got {given}.",
        )
    return rows  # type: ignore[return-value]


def refuse_frame(values: Any, name: str, remedy: str) -> None:
    """Refuse a data frame where an array is expected, because its axis names would be lost."""
    if column_names(values) is not None:
        raise InputTypeError(
            name,
            f"expected an array or lists, got a data frame ({type(values).__name__}), whose axes "
            "have names of their own.",
            remedy,
        )


def column_names(table: Any) -> Labels | None:
    """Return the column names of a data frame; None for an array."""
    names = getattr(table, "column_names", None)  # pyarrow, where `columns` holds the data
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None else tuple(plain(name) for name in names)


def choice(value: Any, name: str, allowed: Sequence[str]) -> str:
    """Check that an option is one of those allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(name, f"expected one of {', '.join(map(repr, allowed))}; got {value!r}.")
    return str(value)


def numeric(
    values: Any, name: str, *, ndim: int | None, single: bool = False, distinct: bool = False
) -> NDArray[np.float64]:
    """Convert `values` to an array of floats; without `ndim`, of any shape.

    With `single`, numbers of single precision stay in single precision. With `distinct`, different
    numbers that become the same float are an error.
    """
    if values is None:
        raise InputTypeError(name, "expected numbers, got None.")
    _refuse_masked(values, name)
    try:
        array = np.asarray(values)
        kind: Any = np.float32 if single and array.dtype == np.float32 else np.float64
        numbers = array.astype(kind, copy=False) if _holds_numbers(array) else None
    except OverflowError as error:
        raise InputError(name, "expected numbers, got numbers too large.") from error
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        raise InputError(name, f"expected numbers, got {_first_bad(values)}.")
    if ndim is None:
        return numbers
    if numbers.ndim != ndim:
        if ndim == 0:
            raise InputError(name, f"expected one number, got an array of shape {numbers.shape}.")
        shape = {1: "one-dimensional", 2: "two-dimensional"}.get(ndim, f"{ndim}-dimensional")
        raise InputError(name, f"expected a {shape} array, got one of shape {numbers.shape}.")
    if distinct and not _stay_distinct(array, numbers):
        raise too_precise(name)
    return numbers


def _stay_distinct(given: NDArray[Any], numbers: NDArray[Any]) -> bool:
    """Tell whether different integers and decimals are different as floats, too."""
    if given.dtype.kind == "O":
        exact = not all(issubclass(kind, float | bool) for kind in _types_in(given))
    else:
        exact = given.dtype.kind in "iu" and given.dtype.itemsize == np.dtype(np.int64).itemsize
        exact = exact and bool(len(numbers)) and float(np.abs(numbers).max()) >= EXACT
    if not exact or np.isnan(numbers).any():
        return True
    return len(set(given.ravel().tolist())) == len(np.unique(numbers))


def too_precise(name: str) -> InputError:
    """Return the error that different scores are the same float, and so would count as equal."""
    return InputError(
        name,
        "it has numbers that cannot be told apart as floating-point numbers, such as decimals of "
        "more than 15 digits and whole numbers above 2**53.",
        "Subtract the least, or round them.",
    )


def plain_array(values: Any, name: str) -> NDArray[Any]:
    """Convert `values` to an array of their own type."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(name, f"expected an array, got {_first_bad(values)}.") from error


def _refuse_masked(values: Any, name: str) -> None:
    if np.ma.isMaskedArray(values) and (masked := np.ma.getmaskarray(values)).any():
        raise InputError(
            name,
            f"expected numbers, got a masked entry{_at(np.argwhere(masked)[0])} ({masked.sum()} "
            "in all).",
            "Leave masked entries out, or fill them.",
        )


def _at(place: NDArray[Any]) -> str:
    """Return a position in an array as text for messages; empty for a single number."""
    if not len(place):
        return ""
    where = str(place[0]) if len(place) == 1 else f"[{', '.join(map(str, place))}]"
    return f" at position {where}"


def _holds_numbers(array: NDArray[Any]) -> bool:
    if array.dtype.kind == "O":
        return not any(issubclass(kind, str | bytes) for kind in _types_in(array))
    return array.dtype.kind in "biuf"


def _types_in(array: NDArray[Any]) -> set[type]:
    """Return the types of the entries of an array of objects."""
    return set(map(type, array.ravel().tolist()))


def _first_bad(values: Any) -> str:
    """Describe the first entry of `values` that is not a number."""
    try:
        array = np.asarray(values, dtype=object)
    except ValueError:
        return "rows of different lengths"
    for index, value in np.ndenumerate(array):
        if isinstance(value, list | tuple | np.ndarray):
            return f"rows of different lengths (position {index[0]} is {value!r})"
        if not isinstance(value, int | float | np.number):
            return f"{value!r} ({type(value).__name__}){_at(np.array(index))}"
    return f"an array of type {np.asarray(values).dtype}"


def finite(array: NDArray[np.float64], name: str, remedy: str) -> None:
    """Check that every entry is a finite number."""
    if np.isfinite(array).all():
        return
    place = np.argwhere(~np.isfinite(array))[0]
    raise InputError(
        name, f"expected finite numbers, got {array[tuple(place)]}{_at(place)}.", remedy
    )


def matrix(
    values: Any, name: str, *, rows: Any, labels: Labels, decisions: Labels
) -> NDArray[np.float64]:
    """Check a matrix of decisions and classes, and return it as ``[predicted, actual]``."""
    given = numeric(values, name, ndim=2)
    by_predicted = given if orientation(rows) == "predicted" else given.T
    expected = (len(decisions), len(labels))
    if by_predicted.shape != expected:
        wanted = expected if rows == "predicted" else expected[::-1]
        raise InputError(
            name,
            f"with {len(decisions)} decisions, {len(labels)} classes and rows={rows!r}, expected "
            f"a matrix of shape {wanted}, got {given.shape}.",
            "Correct the matrix, or its labels= and decisions=.",
        )
    return by_predicted


def costs(
    values: Any, name: str, *, rows: Any, labels: Labels, decisions: Labels
) -> NDArray[np.float64]:
    """Check a matrix of finite costs, and return it as ``[predicted, actual]``."""
    oriented = matrix(values, name, rows=rows, labels=labels, decisions=decisions)
    if not np.isfinite(oriented).all():
        i, j = np.argwhere(~np.isfinite(oriented))[0]
        raise InputError(
            name,
            f"expected finite costs, got {oriented[i, j]} for predicting {decisions[i]!r} when it "
            f"was {labels[j]!r}.",
            "Give a number; for an outcome that must not happen, a large one.",
        )
    return oriented


def not_too_large(size: float, name: str) -> None:
    """Check that the largest cost does not exceed `LARGEST_COST`."""
    if size > LARGEST_COST:
        raise InputError(
            name,
            f"expected costs of at most {LARGEST_COST:.0e}, got {size:g}.",
            "Use a larger unit.",
        )


def amounts(values: Any, name: str, *, ndim: int) -> NDArray[np.float64]:
    """Check an array of counts or sums of weights: finite and not negative."""
    array = numeric(values, name, ndim=ndim)
    finite(array, name, "Counts are numbers of examples or sums of weights.")
    if (array < 0).any():
        place = np.argwhere(array < 0)[0]
        raise InputError(name, f"counts cannot be negative, got {array[tuple(place)]}{_at(place)}.")
    return array


def counts(values: Any, name: str, *, ndim: int) -> NDArray[Any]:
    """Check an array of counts, not all of them zero; integers stay integers."""
    array = amounts(values, name, ndim=ndim)
    if not array.any():
        raise InputError(name, "all counts are zero; at least one example is needed.")
    given = np.asarray(values)
    if given.dtype.kind not in "biu":
        return array
    if array.sum() >= MOST_COUNTED:
        raise InputError(
            name,
            f"whole numbers up to 2**63 can be counted, got a sum of {array.sum():.6g} (the "
            f"largest: {given.max()}).",
            "Pass such counts as floats.",
        )
    return given.astype(np.int64)


def probabilities(proba: Any, labels: Labels, name: str = "proba") -> NDArray[np.float64]:
    """Check class probabilities: a row for each example, a column for each class, rows sum to 1."""
    array = numeric(proba, name, ndim=2)
    if array.shape[1] != len(labels):
        raise InputError(
            name,
            f"expected {len(labels)} columns, one for each class in the order of the labels "
            f"{labels}, got {array.shape[1]}.",
        )
    if not len(array):
        raise InputError(name, "expected at least one example, got none.")
    finite(array, name, "A probability is a number between 0 and 1.")
    rounding = 1e-9  # rounding error of the arithmetic that produced the probabilities
    outside = (array < -rounding) | (array > 1 + rounding)
    if outside.any():
        place = np.argwhere(outside)[0]
        raise InputError(
            name,
            f"expected probabilities between 0 and 1, got {array[tuple(place)]}{_at(place)}.",
            "Scores can be made probabilities by calibration.",
        )
    array = np.clip(array, 0, 1)
    totals = array.sum(axis=1)
    off = np.abs(totals - 1) > PROBABILITY_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        raise InputError(
            name,
            f"the probabilities of each example must sum to 1, those at position {row} sum to "
            f"{totals[row]:.6g}.",
            "Check that every class has its column, or divide by the sum.",
        )
    return array


def column_order(table: Any, labels: Labels, name: str) -> list[int] | None:
    """Return the position of each label's column in a data frame; None if columns have no names.

    An array has no column names. Neither has a frame whose columns are numbered 0, 1, …, which is
    the default of pandas.
    """
    names = column_names(table)
    if names is None:
        return None
    for wanted in (labels, tuple(map(str, labels))):  # most libraries allow only text as names
        if len(names) == len(wanted) and set(names) == set(wanted):
            return [names.index(label) for label in wanted]
    if names == tuple(range(len(names))):
        return None
    raise LabelError(
        name,
        f"expected columns named {listing(labels)}, in any order, got {listing(names)}.",
        "Rename the columns, or pass an array.",
    )


def column_labels(table: Any) -> Labels | None:
    """Return the column names of a data frame as labels; None for an array."""
    names = column_names(table)
    return None if names is None else as_labels(names, "columns")


def ordered_probabilities(proba: Any, labels: Labels, order: Any = None) -> NDArray[np.float64]:
    """Check class probabilities, and return their columns in the order of `labels`.

    `order` gives the class of each column of `proba`.
    """
    array = probabilities(proba, labels)
    named = column_order(proba, labels, "proba")
    if order is None:
        return array if named is None else array[:, named]
    stated = as_labels(order, "labels")
    if set(stated) != set(labels):
        raise LabelError(
            "labels",
            f"expected the classes {listing(labels)}, in the order of the columns of proba, got "
            f"{listing(stated)}.",
        )
    positions = [stated.index(label) for label in labels]
    if named is not None and named != positions:
        raise LabelError(
            "labels",
            f"got the order {listing(stated)}, but the columns of proba are named otherwise.",
            "Leave out labels=, or correct it.",
        )
    return array[:, positions]


def weights(
    sample_weight: Any, n: int, name: str = "sample_weight", of: str = "y_true"
) -> NDArray[np.float64]:
    """Check example weights: finite, not negative, not all zero, one for each example."""
    array = numeric(sample_weight, name, ndim=1)
    same_length({of: n, name: len(array)})
    finite(array, name, "Leave out the examples that have no weight.")
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise InputError(name, f"weights cannot be negative, got {array[row]} at position {row}.")
    if not array.any():
        raise InputError(name, "all weights are zero; at least one must be positive.")
    if array.max() > np.sqrt(np.finfo(np.float64).max / n):
        raise too_heavy(name, array.max())
    return array


def weight_amounts(
    sample_weight: Any, n: int, name: str = "sample_weight", of: str = "y_true"
) -> list[NDArray[Any] | None]:
    """Return the amounts to sum over rows: [None] to count them, or weights and their squares."""
    if sample_weight is None:
        return [None]
    each = weights(sample_weight, n, name, of)
    return [each, each * each]


def too_heavy(name: str, heaviest: float) -> InputError:
    """Return the error that the squares of weights, needed for the variance, overflow."""
    return InputError(
        name,
        f"weights as large as {heaviest:g} cannot be squared and added up.",
        "Divide all weights by the largest.",
    )


LARGEST = float(np.finfo(np.float64).max)
"""Value that replaces an infinite score; see `bounded`."""


def bounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores with infinite ones replaced by the largest finite numbers.

    A threshold of infinity then calls no score positive, and one of minus infinity all: both
    constant predictions stay available, whatever the scores.
    """
    if len(scores) and max(float(scores.max()), -float(scores.min())) > LARGEST:
        return np.clip(scores.astype(np.float64, copy=False), -LARGEST, LARGEST)
    return scores


def applicable(threshold: float) -> float:
    """Return the threshold to apply to scores before they are `bounded`.

    A threshold at the lowest bounded score calls all rows positive, including scores of minus
    infinity.
    """
    return -math.inf if threshold <= -LARGEST else float(threshold)


def scores(y_score: Any, name: str = "y_score", *, single: bool = False) -> NDArray[np.float64]:
    """Check scores: numbers, none of them NaN; infinite ones become the largest finite numbers.

    With `single`, finite scores of single precision stay in single precision.
    """
    try:
        shape = np.shape(y_score)
    except ValueError:  # rows of different lengths, which `numeric` explains
        shape = ()
    if len(shape) == 2:  # noqa: PLR2004 - the shape of predict_proba
        raise InputError(
            name,
            f"expected one score an example, got an array of shape {shape}.",
            "Take the column of the positive class, e.g. predict_proba(X)[:, 1].",
        )
    array = numeric(y_score, name, ndim=1, single=single, distinct=True)
    missing = np.isnan(array)
    if missing.any():
        raise InputError(
            name,
            f"expected numbers, got NaN at position {int(np.argmax(missing))} "
            f"({int(missing.sum())} in all).",
            "Leave out the examples that have no score.",
        )
    return bounded(array)


def thresholds(values: Any, name: str) -> NDArray[np.float64]:
    """Check distinct scores, highest first; infinite ones become the largest finite numbers."""
    cuts = bounded(numeric(values, name, ndim=1))
    if not len(cuts) or np.isnan(cuts).any() or (cuts[1:] >= cuts[:-1]).any():
        raise InputError(name, "expected distinct scores, highest first, without NaN.")
    return cuts


def size_of(values: Any, name: str) -> int:
    """Return the number of rows of an argument."""
    if not has_entries(values) or isinstance(values, str | bytes):
        raise InputTypeError(name, f"expected a value for each example, got {values!r}.")
    return len(values)


def same_length(lengths: dict[str, int]) -> None:
    """Check that arrays have the same length; the keys are names of arguments."""
    if len(set(lengths.values())) > 1:
        usual = Counter(lengths.values()).most_common(1)[0][0]
        odd = next(name for name, length in lengths.items() if length != usual)
        sizes = ", ".join(f"{name} has {length} rows" for name, length in lengths.items())
        raise InputError(odd, f"{sizes}; they must describe the same examples, in the same order.")


def aligned(**rows: Any) -> list[Any]:
    """Return the arguments, those with a pandas index reordered to match the first such index.

    Indexes must have the same entries, each once. An argument without an index is paired by
    position. If there is one and the indexes differ in order, it is not clear to which of them it
    belongs, so the arguments are refused.
    """
    found = _indexes(rows)
    if not _differ(found):
        return [*rows.values()]
    first, kept = next(iter(found.items()))
    alone = [name for name, each in rows.items() if each is not None and name not in found]
    for name, index in found.items():
        same = index.is_unique and not index.symmetric_difference(kept).size
        if not same or alone:
            _refuse_index(name, index, first, kept, alone[0] if same and alone else "")
    # Arguments of another length stay as they are: `same_length` explains those.
    moved = {name for name, index in found.items() if len(index) == len(kept)}
    return [each.reindex(kept) if name in moved else each for name, each in rows.items()]


def same_index(**rows: Any) -> None:
    """Refuse arguments whose pandas indexes differ: pairing by position would mix up examples.

    Arrays and lists have no index and are paired by position. `same_length` checks the lengths.
    """
    found = _indexes(rows)
    if found:
        first, kept = next(iter(found.items()))
        for name, index in found.items():
            _refuse_index(name, index, first, kept, "")


def _indexes(rows: Mapping[str, Any]) -> dict[str, Any]:
    return {name: index for name, each in rows.items() if (index := index_of(each)) is not None}


def _differ(indexes: Mapping[str, Any]) -> bool:
    """Tell whether indexes of the same length are not all the same."""
    kept = next(iter(indexes.values()), None)
    return any(
        len(each) == len(kept) and not each.equals(kept)
        for each in indexes.values()
        if each is not kept and kept is not None
    )


def _refuse_index(name: str, index: Any, first: str, kept: Any, beside: str) -> None:
    """Raise when an index differs from the first one; `beside` names an argument without one."""
    if index is kept or len(index) != len(kept) or index.equals(kept):
        return
    pairs = enumerate(zip(map(plain, index), map(plain, kept), strict=True))
    row, mine, theirs = next(
        ((i, a, b) for i, (a, b) in pairs if a != b and not (is_missing(a) and is_missing(b))),
        (0, index[0], kept[0]),
    )
    which = (
        f" It is not clear to which of them {beside}, which has none, belongs." if beside else ""
    )
    raise InputError(
        name,
        f"its index differs from that of {first}: at position {row} it is "
        f"{mine!r}, there {theirs!r}.{which}",
        f"Pair them by index with {name}.reindex({first}.index), or by position with "
        ".reset_index(drop=True) on both.",
    )


def index_of(values: Any) -> Any:
    """Return the index of a pandas Series or frame, or of costs made of them; None for others."""
    index = getattr(values, "index", None)  # a method, for a list
    return index if hasattr(index, "equals") and hasattr(values, "reindex") else None


def two_classes(labels: Labels, name: str) -> None:
    """Check that there are exactly two classes."""
    if len(labels) != 2:  # noqa: PLR2004 - two is what the name says
        raise LabelError(
            name,
            f"exactly two classes are needed, got {len(labels)}: "
            f"{', '.join(map(repr, labels[:10]))}.",
            "For one class against the rest, pass a boolean such as y_true == 'fraud'.",
        )


def expect(value: Any, kind: type, name: str, example: str) -> None:
    """Check that an argument is of a class of stakes; `example` shows how to make one."""
    if isinstance(value, kind):
        return
    raise InputTypeError(
        name,
        f"expected a {kind.__name__}, got a {type(value).__name__}.",
        f"Make one with {example}, and mind the order of the arguments.",
    )


def text(value: Any, name: str) -> str:
    """Check that an argument is a text."""
    if not isinstance(value, str):
        raise InputTypeError(name, f"expected a text, got {value!r} ({type(value).__name__}).")
    return value


def two_names(names: Any) -> tuple[Any, Any]:
    """Check the names of two classifiers."""
    if not isinstance(names, tuple | list) or len(names) != 2 or names[0] == names[1]:  # noqa: PLR2004
        raise InputError("names", f"expected two different names, got {names!r}.")
    return names[0], names[1]


def one_number(value: Any, name: str) -> float:
    """Check that an argument is a finite number."""
    array = numeric(value, name, ndim=0)
    finite(array, name, "Give a number.")
    return float(array)


def positive(value: Any, name: str) -> float:
    """Check that an argument is a positive number."""
    size = one_number(value, name)
    if size <= 0:
        raise InputError(name, f"expected a positive number, got {size:g}.")
    return size


LARGEST_POPULATION = 1e100
"""Largest population size; products of larger ones could not be summed."""


def population_sizes(sizes: Any) -> NDArray[np.float64]:
    """Check the population sizes, or shares, of strata: not negative, and not all zero."""
    values = numeric(sizes, "population", ndim=1)
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise InputError(
            "population",
            f"expected numbers that are not negative, got {reprlib.repr(values.tolist())}.",
        )
    if values.max() > LARGEST_POPULATION:
        raise InputError(
            "population",
            f"expected numbers of at most {LARGEST_POPULATION:.0e}, got {values.max():g}.",
            "Without population=, it counts as infinitely large.",
        )
    return values


def alpha(confidence: Any) -> float:
    """Return one minus the confidence, which must lie between 0 and 1."""
    number: Any = confidence if isinstance(confidence, Real) else -1
    if isinstance(confidence, bool) or not 0 < number < 1:
        raise InputError(
            "confidence", f"expected a number between 0 and 1, such as 0.95; got {confidence!r}."
        )
    rest = round(1 - float(confidence), 15)  # 1 - 0.9 is 0.1, not 0.09999999999999998
    if rest < LEAST_ALPHA:
        raise InputError(
            "confidence",
            f"{confidence!r} is too close to 1 to tell from it; expected 1 - {LEAST_ALPHA:g} at "
            "most.",
        )
    if rest > 1 - LEAST_ALPHA:
        raise InputError(
            "confidence",
            f"{confidence!r} is too close to 0 to tell from it; expected {LEAST_ALPHA:g} at least.",
        )
    return rest


MOST_ROWS = 10**15
"""Largest hypothetical test set, in rows."""

MOST_DRAWN = 10**8
"""Largest number of repetitions, draws or steps, each of which takes memory."""


def as_size(value: Any, name: str, least: int = 0, most: float = MOST_DRAWN) -> int:
    """Check a whole number from `least` to `most`, such as a number of rows."""
    try:
        size = least - 1 if isinstance(value, bool | np.bool_) else int(value.__index__())
    except (AttributeError, TypeError):
        size = least - 1
    if size < least:
        raise InputError(name, f"expected a whole number, {least} or more, got {value!r}.")
    if size > most:
        raise InputError(name, f"expected a whole number, {most} at most, got {value!r}.")
    return size


def generator(rng: Any) -> np.random.Generator:
    """Return a random number generator: the one given, or a new one with that seed."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            "rng", f"expected a numpy Generator, a whole number as its seed, or None, got {rng!r}."
        ) from error


def keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the keyword-only parameters of a function."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)


def options(given: Iterable[str], what: str, known: Sequence[str]) -> None:
    """Check that options are known; the error lists the known ones."""
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputTypeError(name, f"{what} has no such option; {takes}.")


def cells(impossible: Any) -> list[tuple[Any, Any]]:
    """Check and return pairs of a decision and a class."""
    given = None if isinstance(impossible, str | bytes | Mapping) else impossible
    try:
        pairs = [tuple(cell) for cell in given]  # type: ignore[union-attr]
    except TypeError:
        pairs = [()]
    if any(len(pair) != 2 for pair in pairs):  # noqa: PLR2004 - a decision and a class
        raise InputTypeError("impossible", f"expected pairs (decision, class), got {impossible!r}.")
    return pairs
