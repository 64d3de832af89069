"""Samples of example-dependent costs: the cost of each example, with its weight and stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label, Labels, as_column, label_codes, listing, occurring
from stakes._core.text import html_table, number
from stakes._core.values import ByValue, readonly_copy
from stakes.costs.example import ExampleCosts
from stakes.counts._parts import ordered_codes, part_column
from stakes.errors import DesignError, InputError, LabelError


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CostSample(ByValue):
    """Costs of single examples, with the lower and upper bounds of such a cost.

    Parameters
    ----------
    values : array_like, shape (n,)
        The cost of each example, or the difference of two classifiers' costs.
    low, high : float, optional
        The least and the most that an example can cost; by default the observed extremes. The
        interval for the mean depends on them: a cost that was not observed can still occur.
    sample_weight : array_like, shape (n,), optional
        The weight of each example: one over its probability of being sampled.
    groups, strata : array_like, shape (n,), optional
        The group of each example, whose members are not independent, and the stratum it was sampled
        from.
    classes : array_like, shape (n,), optional
        The actual class of each example, needed for class priors.
    bounds : mapping, optional
        From each stratum to the least and the most that its examples can cost, where these differ
        between strata, as in strata by amount. A stratum in the mapping may have no examples.

    Examples
    --------
    >>> from stakes import CostSample
    >>> CostSample([0, 0, 35, 10], high=500)
    CostSample: 4 examples, mean cost 11.25, possible 0 to 500
    """

    values: NDArray[np.float64]
    low: float
    high: float
    weights: NDArray[np.float64] | None
    groups: tuple[Label, ...] | None
    strata: tuple[Label, ...] | None
    classes: tuple[Label, ...] | None
    bounds: Mapping[Label, tuple[float, float]] | None
    assumed: bool
    unequal: bool

    def __init__(
        self,
        values: Any,
        low: float | None = None,
        high: float | None = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
        classes: Any = None,
        bounds: Any = None,
    ) -> None:
        values, sample_weight, groups, strata, classes = validate.aligned(
            values=values,
            sample_weight=sample_weight,
            groups=groups,
            strata=strata,
            classes=classes,
        )
        array = validate.numeric(values, "values", ndim=1)
        if not len(array):
            raise InputError("values", "expected at least one example, got none.")
        validate.finite(array, "values", "Give the cost of each example.")
        seen = (float(array.min()), float(array.max()))
        names = _each(strata, "strata", len(array))
        ends = None if bounds is None else _checked_bounds(bounds, array, names)
        if ends is not None:
            low = min(each[0] for each in ends.values()) if low is None else low
            high = max(each[1] for each in ends.values()) if high is None else high
        least = seen[0] if low is None else float(validate.numeric(low, "low", ndim=0))
        most = seen[1] if high is None else float(validate.numeric(high, "high", ndim=0))
        if not (np.isfinite([least, most]).all() and least <= seen[0] and most >= seen[1]):
            raise InputError(
                "low, high",
                f"expected finite bounds that contain all costs, {seen[0]:g} to {seen[1]:g}; got "
                f"{least:g} and {most:g}.",
            )
        weights = None
        if sample_weight is not None:
            weights = readonly_copy(validate.weights(sample_weight, len(array), of="values"))
        self._set(
            values=readonly_copy(array + 0.0),
            low=least,
            high=most,
            weights=weights,
            groups=_each(groups, "groups", len(array)),
            strata=names,
            classes=_each(classes, "classes", len(array)),
            bounds=ends,
            assumed=high is None,
            unequal=high is None and _unequal(np.abs(array)),
        )

    @classmethod
    def from_labels(
        cls,
        costs: ExampleCosts,
        y_pred: Any,
        y_pred_2: Any = None,
        *,
        y_true: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
        low: float | None = None,
        high: float | None = None,
        impossible: Any = None,
    ) -> Self:
        """Look up the costs of a classifier's decisions, or the cost differences between two.

        The bounds are the lowest and the highest cost of any decision for any of the examples, or
        ``costs.high`` if that was given. For differences, they are minus and plus the largest
        possible difference.

        Parameters
        ----------
        costs : ExampleCosts
            The cost of each decision for each example.
        y_pred : array_like, shape (n,)
            The decision for each example.
        y_pred_2 : array_like, shape (n,), optional
            The decisions of a second model.
        y_true : array_like, shape (n,), optional
            The actual class of each example, needed for class priors.
        sample_weight, groups, strata : array_like, shape (n,), optional
            The weight, the group and the stratum of each example.
        low, high : float, optional
            Other bounds for the cost of one example.
        impossible : sequence of (decision, class), optional
            Decisions that cannot be taken for a class; the bounds ignore their costs.

        Returns
        -------
        CostSample
            The costs, or the costs of the first classifier minus those of the second.

        Examples
        --------
        >>> from stakes import CostSample, ExampleCosts
        >>> costs = ExampleCosts([[0, 5], [120, 5], [35, 5]], decisions=["ok", "fraud"])
        >>> CostSample.from_labels(costs, ["ok", "fraud", "ok"])
        CostSample: 3 examples, mean cost 13.33, possible 0 to 120
        """
        y_true, y_pred, y_pred_2, costs, sample_weight, groups, strata = validate.aligned(
            y_true=y_true,
            y_pred=y_pred,
            y_pred_2=y_pred_2,
            costs=costs,
            sample_weight=sample_weight,
            groups=groups,
            strata=strata,
        )
        values = costs.of(y_pred)
        possible = _possible(costs, y_true, impossible, [y_pred, y_pred_2])
        most = costs.high if not costs.assumed else float(np.nanmax(possible))
        ends = float(np.nanmin(possible)), most
        spreads = np.nanmax(possible, axis=1) - np.nanmin(possible, axis=1)
        if y_pred_2 is not None:
            spread = float(spreads.max()) if costs.assumed else most - ends[0]
            values, ends = values - costs.of(y_pred_2), (-spread, spread)
        result = cls(
            values,
            ends[0] if low is None else low,
            ends[1] if high is None else high,
            sample_weight=sample_weight,
            groups=groups,
            strata=strata,
            classes=y_true,
        )
        assumed = costs.assumed and high is None
        return result._changed(assumed=assumed, unequal=assumed and _unequal(np.abs(values)))

    @classmethod
    def of_models(
        cls,
        costs: ExampleCosts,
        predictions: Mapping[str, Any],
        *,
        y_true: Any = None,
        impossible: Any = None,
        **sampling: Any,
    ) -> tuple[dict[str, Self], float]:
        """Look up the costs of several models' decisions on the same examples.

        Parameters
        ----------
        costs : ExampleCosts
            The cost of each decision for each example.
        predictions : mapping
            From the name of each model to its decisions.
        y_true, impossible, **sampling
            As in `from_labels`.

        Returns
        -------
        samples : dict
            From the name of each model to its CostSample.
        spread : float
            The largest possible difference in cost between two decisions on one example.

        Examples
        --------
        >>> from stakes import CostSample, ExampleCosts
        >>> costs = ExampleCosts([[0, 5], [120, 5], [35, 5]], decisions=["ok", "fraud"])
        >>> samples, spread = CostSample.of_models(costs, {"a": ["ok"] * 3, "b": ["fraud"] * 3})
        >>> samples["b"].values.tolist(), spread
        ([5.0, 5.0, 5.0], 115.0)
        """
        if not predictions:
            raise InputError("predictions", "expected at least one model, got none.")
        given = {f"predictions[{name!r}]": each for name, each in predictions.items()}
        y_true, costs, *rows = validate.aligned(y_true=y_true, costs=costs, **given, **sampling)
        predictions = dict(zip(predictions, rows, strict=False))
        sampling = dict(zip(sampling, rows[len(predictions) :], strict=True))
        if y_true is not None:
            column = as_column(y_true, "y_true")
            validate.same_length({"y_true": len(column), "costs": len(costs)})
        possible = _possible(costs, y_true, impossible, list(predictions.values()))
        low, high = float(np.nanmin(possible)), float(np.nanmax(possible))
        spreads = np.nanmax(possible, axis=1) - np.nanmin(possible, axis=1)
        spread = float(spreads.max())
        if not costs.assumed:
            high = costs.high
            spread = high - low
        values = {name: readonly_copy(costs.of(each) + 0.0) for name, each in predictions.items()}
        first = next(iter(values.values()))
        made = cls(first, low, high, classes=y_true, **sampling)  # check the shared arguments once
        samples = {
            name: made._changed(
                values=each,
                assumed=costs.assumed,
                unequal=costs.assumed and _unequal(np.abs(each)),
            )
            for name, each in values.items()
        }
        return samples, spread

    @property
    def n(self) -> int:
        """The number of examples."""
        return len(self.values)

    def swapped(self) -> Self:
        """Return the differences of two classifiers' costs with the second one first.

        Returns
        -------
        CostSample
            The differences.

        Examples
        --------
        >>> from stakes import CostSample
        >>> CostSample([0, 0, 35, -10], low=-20, high=500).swapped()
        CostSample: 4 examples, mean cost -6.25, possible -500 to 20
        """
        bounds = self.bounds and {
            name: (0.0 - high, 0.0 - low) for name, (low, high) in self.bounds.items()
        }
        return self._changed(
            values=readonly_copy(0.0 - self.values),
            low=0.0 - self.high,
            high=0.0 - self.low,
            bounds=bounds,
        )

    def minus(self, other: Self, spread: float | None = None) -> Self:
        """Return the costs minus those of another classifier on the same examples.

        Parameters
        ----------
        other : CostSample
            The costs of the other classifier on the same examples, in the same order.
        spread : float, optional
            The largest possible difference in cost between two decisions on one example; by
            default the range of both samples.

        Returns
        -------
        CostSample
            The differences.

        Examples
        --------
        >>> from stakes import CostSample
        >>> CostSample([0, 0, 35, 10], high=500).minus(CostSample([5, 5, 5, 5], high=500))
        CostSample: 4 examples, mean cost 6.25, possible -500 to 500
        """
        validate.expect(other, CostSample, "other", "CostSample(values)")
        for name in ("n", "weights", "groups", "strata", "classes", "bounds"):
            if not _same(getattr(self, name), getattr(other, name)):
                what = "numbers of examples" if name == "n" else name
                raise DesignError(name, f"the two samples have different {what}.")
        if spread is None:
            spread = max(self.high, other.high) - min(self.low, other.low)
        spread = validate.one_number(spread, "spread")
        values = self.values - other.values
        if np.abs(values).max() > spread:
            raise InputError(
                "spread", f"one example's costs differ by {np.abs(values).max():g}, got {spread:g}."
            )
        bounds = self.bounds and {
            name: (low - high, high - low) for name, (low, high) in self.bounds.items()
        }
        return self._changed(
            values=readonly_copy(values), low=-spread, high=float(spread), bounds=bounds
        )

    def __add__(self, other: object) -> Self:
        """Merge the costs of two sets of examples."""
        if not isinstance(other, type(self)):
            return NotImplemented
        joined: dict[str, Any] = {}
        for name in ("weights", "groups", "strata", "classes"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if (mine is None) != (theirs is None):
                raise DesignError(
                    name,
                    "samples with them cannot be merged with samples without.",
                )
            joined[name] = None if mine is None else [*mine, *theirs]
        joined["bounds"] = _joined_bounds(self.bounds, other.bounds)
        assumed = self.assumed or other.assumed
        values = np.concatenate([self.values, other.values])
        return type(self)(
            values,
            min(self.low, other.low),
            max(self.high, other.high),
            sample_weight=joined.pop("weights"),
            **joined,
        )._changed(assumed=assumed, unequal=assumed and _unequal(np.abs(values)))

    def __radd__(self, other: object) -> Self:
        """Return the sample itself when added to zero, so that `sum` works."""
        return self if other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """Return the sample as plain lists.

        Returns
        -------
        dict
            The arguments of the constructor, as plain values.
        """
        result: dict[str, Any] = {
            "values": self.values.tolist(),
            "low": self.low,
            "high": self.high,
        }
        for name in ("weights", "groups", "strata", "classes"):
            given = getattr(self, name)
            if given is not None:
                result["sample_weight" if name == "weights" else name] = list(given)
        if self.bounds is not None:
            result["bounds"] = {name: list(ends) for name, ends in self.bounds.items()}
        return result

    def __repr__(self) -> str:
        return (
            f"CostSample: {number(self.n)} examples, mean cost {number(self.values.mean())}, "
            f"possible {number(self.low)} to {number(self.high)}"
        )

    def _repr_html_(self) -> str:
        rows = {
            "examples": self.n,
            "mean cost": self.values.mean(),
            "least possible": self.low,
            "most possible": self.high,
        }
        return html_table(
            ["", "value"],
            [[name, number(value)] for name, value in rows.items()],
            "Sample of costs",
        )


def _checked_bounds(
    bounds: Any, values: NDArray[np.float64], strata: tuple[Label, ...] | None
) -> dict[Label, tuple[float, float]]:
    """Check the cost bounds of each stratum, and return them as pairs of floats."""
    if strata is None or not isinstance(bounds, Mapping):
        raise InputError(
            "bounds", f"expected a mapping from each of the strata to two numbers, got {bounds!r}."
        )
    found = {}
    for name, given in bounds.items():
        low, high = validate.numeric(given, "bounds", ndim=1).tolist()
        found[name] = (float(low), float(high))
    each = np.array([found.get(name, (np.nan, np.nan)) for name in strata])
    wrong = ~((values >= each[:, 0]) & (values <= each[:, 1]))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            "bounds",
            f"the example at position {row} costs {values[row]:g}, which the bounds of its "
            f"stratum {strata[row]!r} do not contain.",
        )
    return found


def _joined_bounds(one: Any, other: Any) -> Any:
    """Return the bounds of each stratum that contain those of both samples."""
    if one is None or other is None:
        if one is not other:
            raise DesignError("bounds", "samples with them cannot be merged with samples without.")
        return None
    return {
        name: (
            min(each[name][0] for each in (one, other) if name in each),
            max(each[name][1] for each in (one, other) if name in each),
        )
        for name in {**one, **other}
    }


def _same(one: Any, other: Any) -> bool:
    arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    return bool(np.array_equal(one, other) if arrays else one == other)


FEWEST_AMOUNTS, HALF = 20.0, 0.5
"""Amounts are too unequal if their effective number is below both this and half their number."""


def _unequal(amounts: NDArray[np.float64]) -> bool:
    """Tell whether one amount, or few of them, make up a large part of the total."""
    # A cost that several examples share, such as that of an alarm, is not an individual amount.
    found, times = np.unique(amounts[amounts > 0], return_counts=True)
    positive = found[times == 1]
    if len(positive) < 2:  # noqa: PLR2004 - nothing to compare
        return False
    positive = positive / positive.max()  # squares of tiny amounts would underflow to 0
    worth = float(positive.sum()) ** 2 / float(positive @ positive)
    return worth < FEWEST_AMOUNTS and worth < HALF * len(positive)


def _possible(
    costs: ExampleCosts, y_true: Any, impossible: Any, predictions: Sequence[Any]
) -> NDArray[np.float64]:
    """Return the cost of each decision for each example, NaN where it is impossible."""
    if impossible is None:
        return costs.values
    if y_true is None:
        raise DesignError("impossible", "it needs the class of each example.", "Give y_true.")
    actual = as_column(y_true, "y_true")
    classes = occurring({"y_true": actual.present(actual.used())})
    codes = label_codes(y_true, "y_true", classes, "classes")
    validate.same_length({"y_true": len(codes), "costs": len(costs)})
    values = costs.values.copy()
    for cell in validate.cells(impossible):
        match cell:
            case (decision, label) if decision in costs.decisions and label in classes:
                rows = codes == classes.index(label)
                _check_never(cell, rows, costs.decisions, predictions)
                values[rows, costs.decisions.index(decision)] = np.nan
            case _:
                raise LabelError(
                    "impossible",
                    "expected pairs (decision, class) of the decisions "
                    f"{listing(costs.decisions)} and the classes {listing(classes)}; got "
                    f"{cell!r}.",
                )
    return values


def _check_never(
    cell: tuple[Label, Label],
    rows: NDArray[np.bool_],
    decisions: Labels,
    predictions: Sequence[Any],
) -> None:
    """Check that no classifier took an impossible decision for the rows of a class."""
    for decided in predictions:
        if decided is None:
            continue
        codes = label_codes(decided, "y_pred", decisions, "decisions of the costs")
        validate.same_length({"costs": len(rows), "y_pred": len(codes)})
        times = int((rows & (codes == decisions.index(cell[0]))).sum())
        if times:
            raise InputError(
                "impossible",
                f"predicting {cell[0]!r} when it was {cell[1]!r} was called impossible, but was "
                f"observed {times} times.",
            )


def _each(names: Any, what: str, n: int) -> tuple[Label, ...] | None:
    """Check a column of names, such as groups, and return the name of each example."""
    if names is None:
        return None
    codes, labels = ordered_codes(part_column(names, what))
    validate.same_length({"values": n, what: len(codes)})
    each = np.empty(len(labels), dtype=object)
    each[:] = labels
    return tuple(each[codes].tolist())


def with_assumed(sample: CostSample, *, assumed: bool) -> CostSample:
    """Return the sample with bounds marked as known or, if `assumed`, as the observed extremes."""
    unequal = assumed and _unequal(np.abs(sample.values))
    return sample._changed(assumed=assumed, unequal=unequal)  # noqa: SLF001 - of this file
