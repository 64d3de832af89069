"""The cost of the recommended policy in slices of the rows, and over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stakes._core.labels import LabelMatcher
from stakes._core.text import rounded, with_unit
from stakes.costs import CostMatrix, ExampleCosts
from stakes.errors import InputError
from stakes.findings.data import Finding
from stakes.infer.periods import evaluate_over
from stakes.infer.slices import evaluate_by
from stakes.policies.policies import Policy
from stakes.predictions.arrow import ArrowTable
from stakes.predictions.table import check_columns
from stakes.study import Study


@dataclass(frozen=True, eq=False)
class SliceFound(Finding):
    """Cost of the decisions on a slice of the rows.

    Attributes
    ----------
    column : str
        The column that the rows are divided by.
    slice_ : str
        The value that these rows have.
    n : float
        The number of rows, or the sum of their weights.
    cost : float or None
        The cost per decision; null where it is not known, because a class that has a prior does
        not occur.
    low, high : float
        Limits of the cost, which hold for all slices at once.
    share : float or None
        The share of the total cost that these rows cause.
    verdict : str
        "more expensive than the rest", "cheaper than the rest" or "not shown".
    """

    column: str
    slice_: str
    n: float
    cost: float | None
    low: float
    high: float
    share: float | None
    verdict: str


@dataclass(frozen=True, eq=False)
class PeriodFound(Finding):
    """Cost of the decisions of a period.

    Attributes
    ----------
    period : str
        The ISO name of the period, such as 2026-03.
    n, labelled : float
        The number of decisions in the period, and of those that have their label.
    complete : bool
        Whether all labels have arrived. If not, the limits allow for any value of the missing ones.
    cost : float or None
        The cost per decision of those with a label; null where there are none.
    low, high : float
        Limits of the cost, which hold for all periods at once.
    change, change_low, change_high : float or None
        The cost minus that of the first period, with limits that hold for all periods at once.
    verdict : str
        "higher than at first", "lower than at first" or "not shown".
    running, running_low, running_high : float or None
        The cost of all decisions so far, with limits that hold at all times at once.
    """

    period: str
    n: float
    labelled: float
    complete: bool
    cost: float | None
    low: float
    high: float
    change: float | None
    change_low: float | None
    change_high: float | None
    verdict: str
    running: float | None
    running_low: float | None
    running_high: float | None


@dataclass(frozen=True)
class Divided:
    """The rows of a study, and the columns to divide them by.

    Attributes
    ----------
    table : ArrowTable
        The rows, those without a label included.
    by : tuple of str
        Columns to slice by; ``"region:channel"`` crosses two.
    most : int or None
        How many slices of a column to keep.
    time : str or None
        The column of the times of the decisions.
    every : str
        The length of a period.
    labelled_at : str or None
        The column of the times at which labels arrived.
    """

    table: ArrowTable
    by: tuple[str, ...] = ()
    most: int | None = None
    time: str | None = None
    every: str = "month"
    labelled_at: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that are needed."""
        crossed = [name for each in self.by for name in self._split(each)]
        return tuple(dict.fromkeys(filter(None, [*crossed, self.time, self.labelled_at])))

    def check(self) -> None:
        """Raise an error if a column is missing."""
        check_columns(self.table, self.names)

    def _split(self, column: str) -> list[str]:
        return [column] if column in self.table.columns else column.split(":")

    def column(self, name: str) -> list[str | None]:
        """Return a column as text; None where there is no value."""
        codes, values = self.table.texts(name)
        found: list[str | None] = np.asarray(values, dtype=object)[codes].tolist()
        return found

    @cached_property
    def columns(self) -> dict[str, list[str | None]]:
        """The columns to slice by."""
        names = dict.fromkeys(name for each in self.by for name in self._split(each))
        return {name: self.column(name) for name in names}


@dataclass(frozen=True)
class DividedFindings:
    """The cost of the recommended policy in slices and periods, with notes."""

    slices: tuple[SliceFound, ...] = ()
    periods: tuple[PeriodFound, ...] = ()
    notes: tuple[str, ...] = ()


def divided_of(study: Study, divided: Divided | None, unit: str = "") -> DividedFindings:
    """Return the cost of the recommended policy in each slice and each period."""
    if divided is None:
        return DividedFindings()
    rows = _decided(study, divided)
    periods, notes = _periods(study, divided, rows)
    policy = study.policies[study.verdict().use]
    if policy.cross_fitted and study.examples is None:
        inside = with_unit(study.policies.in_sample_cost(policy.name), unit, rounded)
        outside = with_unit(study.policies.estimate(policy.name).cost, unit, rounded)
        chosen = (
            f"The threshold was chosen on these rows. With it they cost {inside} per decision; on "
            f"held-out folds, which did not choose it, {outside}."
        )
        notes = (chosen, *notes)
    return DividedFindings(_slices(study, divided, rows), periods, notes)


@dataclass(frozen=True)
class _Rows:
    """The actual class and the decision of each row, the costs, and the design."""

    y_true: Any
    y_pred: Any
    costs: CostMatrix | ExampleCosts
    design: dict[str, Any]

    def labelled(self) -> tuple[Any, _Rows]:
        """Return which rows have a label, and those rows."""
        here = np.array([each is not None for each in self.y_true])
        design = {
            name: each[here] if isinstance(each, np.ndarray) else each
            for name, each in self.design.items()
        }
        return here, _Rows(self.y_true[here], self.y_pred[here], self.costs, design)


def _slices(study: Study, divided: Divided, rows: _Rows) -> tuple[SliceFound, ...]:
    if not divided.by:
        return ()
    here, known = rows.labelled()
    kept = {name: np.asarray(each, dtype=object)[here] for name, each in divided.columns.items()}
    found = evaluate_by(
        known.y_true,
        known.y_pred,
        known.costs,
        by=kept,
        columns=divided.by,
        most=divided.most,
        **known.design,
    )
    names = ("column", "slice_", "n", "cost", "low", "high", "share", "verdict")
    return tuple(
        SliceFound(**{name: getattr(each, name) for name in names})
        for each in found.slices(study.confidence)
    )


def _periods(
    study: Study, divided: Divided, rows: _Rows
) -> tuple[tuple[PeriodFound, ...], tuple[str, ...]]:
    if divided.time is None:
        return (), ()
    late = divided.labelled_at
    found = evaluate_over(
        rows.y_true,
        rows.y_pred,
        rows.costs,
        time=divided.column(divided.time),
        every=divided.every,
        labelled_at=None if late is None else divided.column(late),
        **rows.design,
    )
    periods = tuple(PeriodFound(**each.to_dict()) for each in found.periods(study.confidence))
    return periods, (found.note,) if found.note else ()


def _decided(study: Study, divided: Divided) -> _Rows:
    """Return the rows with the decisions of the recommended policy.

    A threshold decides all rows as it would when deployed. Where rows have costs of their own, the
    decisions are those by which it is judged, on folds that did not choose it.
    """
    table, policy = divided.table, study.policies[study.verdict().use]
    actual = _labels(table, study.roles.actual, study.costs.labels)
    columns = study.roles.design
    arrays: dict[str, Any] = {}
    if columns.groups is not None:
        arrays["groups"] = np.asarray(divided.column(columns.groups), dtype=object)
    if columns.sample_weight is not None:
        arrays["sample_weight"] = table.scores(columns.sample_weight, "weight")
    if columns.strata is not None and study.design.population is not None:
        arrays["strata"] = np.asarray(divided.column(columns.strata), dtype=object)
        arrays["population"] = {str(name): share for name, share in study.design.population.items()}
    if study.design.class_priors is not None:
        arrays["class_priors"] = study.class_priors()
    examples = study.policies.examples
    if examples is None:
        return _Rows(actual, _decisions(table, study, policy), study.costs, arrays)
    if examples.n != len(actual):
        raise InputError(
            divided.labelled_at or table.source,
            "some rows have no label, which costs of single rows cannot allow for.",
            "Leave out those rows.",
        )
    if policy.always is not None:
        decided = np.full(examples.n, policy.always, dtype=object)
    else:
        codes = examples.decided[:, examples.names.index(policy.column)]
        decided = np.array([*examples.decisions, None], dtype=object)[:-1][codes]
    return _Rows(actual, decided, examples.example_costs, arrays)


def _labels(table: ArrowTable, name: str, labels: Any) -> Any:
    """Return the label of each row, None where there is none."""
    codes, values = table.texts(name)
    matcher = LabelMatcher(labels, "text")
    places = [-1 if each is None else matcher.find(each) for each in values]
    for each, place in zip(values, places, strict=True):
        if each is not None and place < 0:
            raise InputError(
                f"{table.source}, column {name!r}", f"{each!r} is not one of the classes."
            )
    found = [None if place < 0 else labels[place] for place in places]
    return np.array([*found, None], dtype=object)[:-1][codes]


def _decisions(table: ArrowTable, study: Study, policy: Policy) -> Any:
    """Return the decision of a policy for each row."""
    n = len(table.texts(study.roles.actual)[0])
    choices = study.costs.decisions
    if policy.model is None:
        return np.full(n, policy.decision, dtype=object)
    model = next(each for each in study.roles.models if each.name == policy.model)
    if policy.cuts and model.scores is not None:
        scores = table.scores(model.scores)
        decided = np.full(n, policy.below, dtype=object)
        for decision, start in reversed(policy.cuts):
            decided[scores >= start] = decision
        return decided
    if model.decisions is None:
        raise InputError(
            model.name,
            "its decisions come from a probability per class; slices and periods need decisions "
            "or one score.",
            "Add a column with its decisions.",
        )
    codes = table.codes(model.decisions, LabelMatcher(choices, table.cells), "decisions")
    return np.array([*choices, None], dtype=object)[:-1][codes]
