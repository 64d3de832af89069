"""Running totals of decisions whose costs differ by example, with anytime-valid intervals."""

from __future__ import annotations

import os
from functools import reduce
from operator import add
from typing import Any, Self

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import html_values, number, with_unit
from stakes._core.typing import Floats
from stakes.costs import ExampleCosts
from stakes.counts import CostSample
from stakes.errors import DesignError, FileError, InputError, InputTypeError, StakesError
from stakes.infer._inference import Interval
from stakes.infer._totals import (
    MOST_KEPT,
    any_outcomes,
    checked_content,
    history_of,
    limits_of,
    totals_text,
)
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods import anytime
from stakes.read import read_text, write_text

METHOD = anytime.METHOD.name


class ExampleAccumulator:
    """Running totals of decisions whose costs differ by example: the cost so far, at any time.

    The cost of each example is kept, since amounts differ. Otherwise it is like `Accumulator`.

    Parameters
    ----------
    low, high : float
        The lowest and the highest possible cost of a decision, which must be known beforehand.
    unit : str, optional
        The unit of the costs, such as "USD".

    Notes
    -----
    The interval is that of `Accumulator`, whose bets depend only on the costs of the outcomes.

    References
    ----------
    Waudby-Smith & Ramdas (2024).

    Examples
    --------
    >>> from stakes import CostMatrix, ExampleCosts
    >>> from stakes.infer import ExampleAccumulator
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=1)
    >>> running = ExampleAccumulator(high=100)
    >>> for day in range(30):
    ...     y_true, y_pred = [0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0]
    ...     amounts = ExampleCosts.from_matrix(costs, y_true, [5.0] * 99 + [60.0])
    ...     running.update(y_true, y_pred, amounts)
    >>> running.n, running.cost
    (3000, 0.85)
    >>> low, high = running.interval()
    >>> low < running.cost < high
    True
    """

    def __init__(self, *, high: float, low: float = 0.0, unit: str = "") -> None:
        self.low, self.high = (
            validate.one_number(each, name) for name, each in (("low", low), ("high", high))
        )
        if not self.low < self.high:
            raise InputError(
                "low, high", f"expected low below high, got {self.low:g} and {self.high:g}."
            )
        self.unit = validate.text(unit, "unit")
        self._samples: list[CostSample] = []
        self._ends: list[int] = []

    @property
    def sample(self) -> CostSample:
        """The cost of each example so far."""
        if not self._samples:
            raise InputError("", "there are no outcomes yet.", "Call update first.")
        if len(self._samples) > 1:
            self._samples = [reduce(add, self._samples)]
        return self._samples[0]

    @property
    def n(self) -> int:
        """The number of outcomes so far."""
        return sum(each.n for each in self._samples)

    @property
    def cost(self) -> float:
        """The average cost per decision so far."""
        return self.estimate().cost

    @property
    def total(self) -> float:
        """The total cost of all decisions so far."""
        return self.estimate().total

    def update(
        self,
        y_true: Any,
        y_pred: Any,
        costs: ExampleCosts,
        *,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> None:
        """Add a batch of outcomes; a batch with an error changes nothing.

        Parameters
        ----------
        y_true, y_pred : array_like, shape (n,)
            The actual class of each example, and the decision. A batch may be empty.
        costs : ExampleCosts
            The cost of each decision for each of these examples.
        sample_weight, groups : array_like, shape (n,), optional
            The weight and the group of each example: for all batches, or for none. Groups of the
            same name are the same group in all batches.

        Examples
        --------
        >>> from stakes import ExampleCosts
        >>> from stakes.infer import ExampleAccumulator
        >>> running = ExampleAccumulator(high=100)
        >>> costs = ExampleCosts([[0, 5], [80, 0]], decisions=[0, 1])
        >>> running.update([0, 1], [1, 1], costs)
        >>> running
        ExampleAccumulator(n=2, cost=2.5)
        """
        if not any_outcomes(y_true, y_pred):
            return
        if not isinstance(costs, ExampleCosts):
            raise InputTypeError(
                "costs", f"expected ExampleCosts, got {type(costs).__name__}.", "Use Accumulator."
            )
        self.add(
            CostSample.from_labels(
                costs, y_pred, y_true=y_true, sample_weight=sample_weight, groups=groups
            )
        )

    def add(self, sample: CostSample) -> None:
        """Add outcomes whose costs are known.

        Parameters
        ----------
        sample : CostSample
            The cost of each example, from `low` to `high`.

        Examples
        --------
        >>> from stakes import CostSample
        >>> from stakes.infer import ExampleAccumulator
        >>> running = ExampleAccumulator(high=100)
        >>> running.add(CostSample([0, 0, 35, 10]))
        >>> running.cost
        11.25
        """
        validate.expect(sample, CostSample, "sample", "CostSample(values)")
        seen = float(sample.values.min()), float(sample.values.max())
        if seen[0] < self.low or seen[1] > self.high:
            raise InputError(
                "sample",
                f"expected costs from {self.low:g} to {self.high:g}, got {seen[0]:g} to "
                f"{seen[1]:g}.",
            )
        if sample.strata is not None or sample.bounds is not None:
            raise DesignError("sample", "running totals of single examples have no strata.")
        if self._samples and _design(self._samples[0]) != _design(sample):
            raise DesignError(
                "sample_weight, groups", "all outcomes must have the same of them, or none."
            )
        self._samples.append(
            CostSample(
                sample.values,
                self.low,
                self.high,
                sample_weight=sample.weights,
                groups=sample.groups,
            )
        )
        self._ends.append(self.n)
        if len(self._ends) > MOST_KEPT:
            del self._ends[-2::-2]  # every second one; the last stays

    @property
    def _any_time(self) -> bool:
        """Whether the outcomes have an anytime-valid interval: without weights and groups."""
        return not self._samples or _design(self._samples[0]) == (False, False)

    def estimate(self) -> CostEstimate:
        """Return the estimate from all outcomes so far.

        Its intervals are valid for one look only, except with ``method="anytime"``.

        Returns
        -------
        CostEstimate
            The estimate.

        Examples
        --------
        >>> from stakes import CostSample
        >>> from stakes.infer import ExampleAccumulator
        >>> running = ExampleAccumulator(high=100)
        >>> running.add(CostSample([0, 0, 35, 10]))
        >>> running.estimate().total
        45.0
        """
        return CostEstimate(self.sample, unit=self.unit)

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the anytime-valid interval for the mean per decision.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the whole sequence of intervals; choose it before looking.

        Returns
        -------
        Interval
            The limits, by the method "anytime". Outcomes with groups or weights are refused.

        Examples
        --------
        >>> from stakes import CostSample
        >>> from stakes.infer import ExampleAccumulator
        >>> running = ExampleAccumulator(high=100)
        >>> running.add(CostSample([0] * 98 + [35, 10]))
        >>> [round(limit, 2) for limit in running.interval()]
        [0.01, 5.36]
        """
        if not self._samples:
            validate.alpha(confidence)
            return Interval(self.low, self.high, float(confidence), METHOD)
        if not self._any_time:
            raise DesignError(
                "groups, sample_weight",
                "no interval that holds at any time is known for outcomes with any of them.",
                "Use estimate().interval() at one time that was chosen beforehand.",
            )
        return self.estimate().interval(confidence, METHOD)

    def history(self, confidence: float = 0.95) -> dict[str, Floats]:
        """Return the mean and its anytime-valid interval after each update.

        With very many updates some are left out; with groups or weights the history is empty.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the whole sequence of intervals.

        Returns
        -------
        dict
            The arrays "n", "mean", "low" and "high", with an entry for each update that was kept.

        Examples
        --------
        >>> from stakes import CostSample
        >>> from stakes.infer import ExampleAccumulator
        >>> running = ExampleAccumulator(high=100)
        >>> for day in range(3):
        ...     running.add(CostSample([0] * 98 + [35, 10]))
        >>> running.history()["n"].tolist()
        [100.0, 200.0, 300.0]
        """
        ends = self._ends if self._any_time else []
        samples = (CostSample(self.sample.values[:end], self.low, self.high) for end in ends)
        past = ((each.n, CostEstimate(each, unit=self.unit)) for each in samples)
        return history_of(past, confidence)

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return `history` as a pandas data frame.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the whole sequence of intervals.

        Returns
        -------
        DataFrame
            With the columns n, mean, low and high.
        """
        return data_frame(self.history(confidence))

    def summary(self, confidence: float = 0.95) -> str:
        """Summarise the cost so far, with an interval that holds at any time if there is one.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level of the interval.

        Returns
        -------
        str
            A sentence.
        """
        if not self._samples:
            return "No outcomes yet."
        limits = limits_of(self.estimate(), confidence, any_time=self._any_time)
        return f"{number(self.n)} decisions cost {with_unit(self.cost, self.unit)} each {limits}."

    def __add__(self, other: object) -> Self:
        """Add the totals of two streams; both stay unchanged, and the sum has no history."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if self._settings() != other._settings():
            raise InputError("low, high, unit", "the totals cannot be added up: they differ.")
        result = type(self)(**self._settings())
        for each in (*self._samples, *other._samples):
            result.add(each)
        result._ends = []
        return result

    def __radd__(self, other: object) -> Self:
        """Support `sum`, which starts from 0."""
        return self if other == 0 else NotImplemented

    def _settings(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "unit": self.unit}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExampleAccumulator):
            return NotImplemented
        if self._settings() != other._settings() or bool(self._samples) != bool(other._samples):
            return False
        return not self._samples or bool(self.sample == other.sample)

    __hash__ = None  # type: ignore[assignment]  # totals change

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values.

        Returns
        -------
        dict
            The bounds, the unit and the cost of each example.
        """
        found = {"kind": type(self).__name__, **self._settings(), "n": self.n, "ends": self._ends}
        if not self._samples:
            return found | {"values": []}
        sample = self.sample
        if sample.weights is not None:
            found["weights"] = sample.weights.tolist()
        if sample.groups is not None:
            found["groups"] = list(sample.groups)
        return found | {"values": sample.values.tolist()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the totals to a JSON file atomically.

        Parameters
        ----------
        path : path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from stakes import ExampleCosts
        >>> from stakes.infer import ExampleAccumulator
        >>> running = ExampleAccumulator(high=100)
        >>> running.update([0, 1], [1, 1], ExampleCosts([[0, 5], [80, 0]], decisions=[0, 1]))
        >>> path = Path(tempfile.mkdtemp()) / "totals.json"
        >>> running.save(path)
        >>> path.exists()
        True
        """
        write_text(path, totals_text(self.to_dict()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read saved totals; a truncated or edited file is refused.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        ExampleAccumulator
            The totals.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from stakes import ExampleCosts
        >>> from stakes.infer import ExampleAccumulator
        >>> running = ExampleAccumulator(high=100)
        >>> running.update([0, 1], [1, 1], ExampleCosts([[0, 5], [80, 0]], decisions=[0, 1]))
        >>> path = Path(tempfile.mkdtemp()) / "totals.json"
        >>> running.save(path)
        >>> ExampleAccumulator.load(path).n
        2
        """
        source = str(path)
        content = checked_content(read_text(path), source, cls.__name__)
        try:
            found = cls(high=content["high"], low=content["low"], unit=content["unit"])
            if content["values"]:
                found.add(
                    CostSample(
                        content["values"],
                        sample_weight=content.get("weights"),
                        groups=content.get("groups"),
                    )
                )
            found._ends = [int(end) for end in content["ends"]]
        except KeyError as error:
            raise FileError(source, f"the file of totals has no {error.args[0]!r}.") from error
        except (StakesError, TypeError, ValueError, OverflowError) as error:
            raise FileError(source, f"the file of totals is damaged: {error}") from error
        return found

    def _repr_html_(self) -> str:
        unit = f" ({self.unit})" if self.unit else ""
        mean = self.cost if self._samples else None
        return html_values({"decisions": self.n, f"cost per decision{unit}": mean}, self.summary())

    def __repr__(self) -> str:
        so_far = f", cost={self.cost:.6g}" if self._samples else ""
        return f"ExampleAccumulator(n={self.n}{so_far})"


def _design(sample: CostSample) -> tuple[bool, bool]:
    """Tell whether outcomes have weights, and groups."""
    return sample.weights is not None, sample.groups is not None
