"""Predictions in arrays: NumPy, lists, and the columns of pandas, polars and Arrow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import Cells, Column, Label, LabelMatcher, Labels, as_column
from stakes._core.typing import Floats
from stakes.costs import ExampleCosts
from stakes.counts._parts import part_column
from stakes.errors import InputError, InputTypeError
from stakes.predictions.roles import Model, Roles
from stakes.predictions.table import AS_WRITTEN, Codes, DesignColumns, Frequent, Reading

ACTUAL = "y_true"
TWO = 2


class ArrayTable:
    """A table of predictions in arrays.

    Labels are compared as Python compares them, and text never stands for a number. Errors are
    those of `stakes.evaluate`: they name the argument and the position in the array.

    Parameters
    ----------
    y_true : array_like
        The actual class of each example.
    y_pred, y_score : mapping of str to array_like
        The decisions and the scores of models, by their names.
    source : str
        The name of the predictions, for errors.
    design : mapping of str to array_like, optional
        Any of "groups", "strata", "sample_weight", "false_positive" and "false_negative".
    costs : ExampleCosts, optional
        The costs of each example, to be kept in the order of the rows.

    Attributes
    ----------
    costs : ExampleCosts or None
        The costs in the order of the rows.
    """

    cells: Cells = "values"
    reading: Reading = AS_WRITTEN
    notes: tuple[str, ...] = ()
    renamed: Mapping[str, tuple[str, ...]] = {}
    grouping: str | None = None
    commas: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()
    dropped = 0
    lacking: Mapping[str, int] = {}

    def __init__(
        self,
        y_true: Any,
        y_pred: Mapping[str, Any],
        y_score: Mapping[str, Any],
        source: str,
        design: Mapping[str, Any] | None = None,
        *,
        costs: ExampleCosts | None = None,
    ) -> None:
        _check_mappings(y_pred, y_score)
        y_true, y_pred, y_score, design, self.costs = _in_one_order(
            y_true, y_pred, y_score, design or {}, costs
        )
        self.source = source
        self._labels = {ACTUAL: as_column(y_true, ACTUAL)}
        for name, values in y_pred.items():
            self._labels[str(name)] = as_column(values, f"y_pred[{name!r}]")
        lengths = {column.name: len(column) for column in self._labels.values()}
        self._scores: dict[str, Floats] = {}
        columns: dict[str, list[str]] = {}
        for name, values in y_score.items():
            scores = _score_columns(str(name), values)
            self._scores |= scores
            columns[str(name)] = list(scores)
            lengths[f"y_score[{name!r}]"] = len(next(iter(scores.values())))
        given = {name: each for name, each in design.items() if each is not None}
        strata = given.get("strata")
        by_class = isinstance(strata, str)
        if by_class:
            validate.choice(strata, "strata", ("class",))
            del given["strata"]
        self._names: dict[str, Column] = {
            name: part_column(given[name], name) for name in ("groups", "strata") if name in given
        }
        self._numbers = {
            name: validate.numeric(values, name, ndim=1)
            for name, values in given.items()
            if name not in self._names
        }
        lengths |= {name: len(each) for name, each in (self._names | self._numbers).items()}
        validate.same_length(lengths)
        named = {name: name for name in given} | ({"strata": ACTUAL} if by_class else {})
        models = _models(y_pred, columns)
        self.roles = Roles(ACTUAL, models, (), guessed=False, design=DesignColumns(**named))
        """The roles of the columns, which follow from the arguments."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [*self._labels, *self._scores]

    def labels(self, name: str) -> list[Label]:
        """Return the distinct labels of a column."""
        column = self._labels[name]
        return column.present(column.used())

    def values(self, name: str) -> list[Any] | None:
        """Return the distinct labels of a column; None for scores."""
        return self.labels(name) if name in self._labels else None

    def amounts(self, name: str, among: Collection[Any]) -> tuple[int, int]:
        """Return the number of rows, and of those with one of the given values."""
        column = self._labels[name]
        ours = np.array([value in among for value in column.values], dtype=bool)
        return len(column), int(column.looked_up(ours).sum())

    def frequent(self, name: str, *, whole: bool = True) -> Frequent:  # noqa: ARG002
        """Return no frequent values: the roles of arrays are given, never guessed."""
        return Frequent()

    def numeric(self, name: str) -> bool:
        """Tell whether a column has scores."""
        return name in self._scores

    def numbers(self, name: str) -> tuple[int, int]:
        """Return the number of rows of a column, and of those with a score."""
        n = len(self._labels[ACTUAL])
        return n, n if name in self._scores else 0

    def codes(self, name: str, matcher: LabelMatcher, what: str, advice: str = "") -> Codes:
        """Return the position of each row's label; see `stakes.predictions.table.Batch`."""
        del advice  # advice is about columns of files
        column = self._labels[name]
        return column.looked_up(column.positions(column.used(), matcher.labels, what))

    def scores(self, name: str, what: str = "score") -> Floats:
        """Return a column of numbers; `what` names them in errors."""
        if name in self._scores:
            return self._scores[name]
        numbers = self._numbers[name]
        validate.finite(numbers, name, f"Leave out the examples that have no {what}.")
        return numbers

    def names(self, name: str) -> Column:
        """Return a column of names, any number of them distinct."""
        return self._names[name]

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column."""
        scores = self._scores[name]
        return float(scores.min()), float(scores.max())

    def repeats(self, name: str) -> bool:  # noqa: ARG002 - groups are given, never guessed
        """Return False: repeated values matter only where groups are guessed."""
        return False

    def complete(self, columns: Sequence[str], labels: Labels = ()) -> Self:  # noqa: ARG002
        """Return all rows, because arrays have no missing values."""
        return self

    def batches(self, columns: Sequence[str]) -> Iterator[Self]:  # noqa: ARG002 - it has all
        """Yield all rows as one batch."""
        yield self


def _check_mappings(y_pred: Mapping[str, Any], y_score: Mapping[str, Any]) -> None:
    for name, given in (("y_pred", y_pred), ("y_score", y_score)):
        if not isinstance(given, Mapping):
            raise InputTypeError(
                name,
                'expected a mapping of each model\'s name to its values, such as {"tree": …}; '
                f"got a {type(given).__name__}.",
            )
    columns = {ACTUAL, *map(str, y_pred), *(f"{name}_score" for name in y_score)}
    if len(columns) != 1 + len(y_pred) + len(y_score) or len(columns) == 1:
        raise InputError(
            "y_pred, y_score",
            f"expected at least one model, and names that are different and not {ACTUAL!r}; got "
            f"{[*y_pred, *y_score]}.",
        )


def _in_one_order(
    y_true: Any,
    y_pred: Mapping[str, Any],
    y_score: Mapping[str, Any],
    design: Mapping[str, Any],
    costs: ExampleCosts | None,
) -> tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any], ExampleCosts | None]:
    """Return the arguments in the order of the first pandas index, as `stakes.evaluate` does."""
    rows = {f"y_pred[{name!r}]": values for name, values in y_pred.items()}
    rows |= {f"y_score[{name!r}]": values for name, values in y_score.items()}
    rows |= {
        name: values
        for name, values in design.items()
        if hasattr(values, "__len__") and not isinstance(values, str)
    }
    y_true, *values, costs = validate.aligned(y_true=y_true, **rows, costs=costs)
    found = dict(zip(rows, values, strict=True))
    predictions = {name: found.pop(f"y_pred[{name!r}]") for name in y_pred}
    scores = {name: found.pop(f"y_score[{name!r}]") for name in y_score}
    return y_true, predictions, scores, {**design, **found}, costs


def _score_columns(name: str, values: Any) -> dict[str, Floats]:
    """Return a model's scores by column: one, or the probabilities of each class."""
    argument = f"y_score[{name!r}]"
    try:
        shape = np.shape(values)
    except ValueError:  # rows of different lengths, which `validate.scores` explains
        shape = ()
    if len(shape) != TWO or shape[1] < TWO:
        return {f"{name}_score": validate.scores(values, argument)}
    table = validate.numeric(values, argument, ndim=2)
    return {
        f"{name}_score[{place}]": validate.scores(column, argument)
        for place, column in enumerate(table.T)
    }


def _models(y_pred: Mapping[str, Any], columns: Mapping[str, list[str]]) -> tuple[Model, ...]:
    decided = [str(name) for name in y_pred]
    found = []
    for name in dict.fromkeys([*decided, *columns]):
        own = columns.get(name, [])
        several = tuple(own) if len(own) > 1 else ()
        scores = own[0] if len(own) == 1 else None
        found.append(Model(name, name if name in decided else None, scores, several))
    return tuple(found)
