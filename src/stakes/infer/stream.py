"""Running totals of a stream of outcomes, with intervals that may be looked at at any time."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.text import compared_costs, number, percent, with_unit
from stakes.costs import CostMatrix
from stakes.costs._axes import positions
from stakes.counts import Confusion, PairedConfusion
from stakes.errors import FileError, InputError, InputTypeError, LabelError, StakesError
from stakes.infer._design import Design
from stakes.infer._inference import Inference, Interval, outcomes_behind
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods import anytime
from stakes.read import read_text, write_text
from stakes.read.checksums import check_unchanged, checksum, json_content

METHOD = anytime.METHOD.name
Counts = TypeVar("Counts", bound=Confusion | PairedConfusion)


class Totals(ABC, Generic[Counts]):
    """Running totals: counts and what these cost. Nothing else depends on the past."""

    _kind: type[Counts]
    _deciders: int

    def __init__(self, costs: CostMatrix, *, impossible: Any = None, unit: str = "") -> None:
        if not isinstance(costs, CostMatrix):
            raise InputTypeError(
                "costs",
                f"expected a CostMatrix, got {type(costs).__name__}. The interval needs to know "
                "beforehand the least and the most that a decision can cost.",
            )
        self.costs = costs
        self.unit = unit
        self.impossible = None if impossible is None else [tuple(cell) for cell in impossible]
        shape = (len(costs.decisions),) * self._deciders + (len(costs.labels),)
        self._table = np.zeros(shape, dtype=np.int64)
        outcomes = outcomes_behind(self._inference(self.counted(self._one_outcome())))
        self._range = outcomes.lowest, outcomes.highest

    @abstractmethod
    def _inference(self, counts: Counts) -> Inference:
        """Return the estimate that counts make."""

    def counted(self, table: Any) -> Counts:
        """Return a table in the order of the costs as counts.

        Parameters
        ----------
        table : array_like
            Counts of each decision, of each classifier, and class.

        Returns
        -------
        Confusion or PairedConfusion
            The counts.
        """
        return self._kind(table, self.costs.labels, self.costs.decisions)

    def _one_outcome(self) -> NDArray[np.int64]:
        """Return the table of some outcome that is possible, to learn what outcomes can cost."""
        for i, decision in enumerate(self.costs.decisions):
            for j, label in enumerate(self.costs.labels):
                if (decision, label) not in (self.impossible or ()):
                    table = np.zeros_like(self._table)
                    table[(i,) * self._deciders + (j,)] = 1
                    return table
        raise InputError("impossible", "expected some cells only, got all of them.")

    @property
    def n(self) -> int:
        """The number of outcomes so far."""
        return int(self._table.sum())

    @property
    def counts(self) -> Counts:
        """How often each combination of decision and class came so far."""
        if not self.n:
            raise InputError("", "there are no outcomes yet.", "Call update first.")
        return self.counted(self._table)

    def add(self, counts: Counts) -> None:
        """Add outcomes that were counted elsewhere, such as by a data engine.

        Parameters
        ----------
        counts : Confusion, or PairedConfusion for two classifiers
            Counts without weights, of classes and decisions that the costs know.

        Examples
        --------
        >>> from stakes import Accumulator, Confusion, CostMatrix
        >>> running = Accumulator(CostMatrix.from_errors(false_positive=1, false_negative=10))
        >>> running.add(Confusion([[850, 10], [50, 90]], labels=[0, 1]))
        >>> running.n, running.cost
        (1000, 0.15)
        """
        if not isinstance(counts, self._kind):
            raise InputTypeError(
                "counts", f"expected a {self._kind.__name__}, got {type(counts).__name__}."
            )
        if counts.weighted or (counts.counts != np.rint(counts.counts)).any():
            raise InputError(
                "counts",
                "running totals are of whole outcomes, got weights.",
                "Count without sample_weight=; there is no anytime interval for weighted outcomes.",
            )
        down = positions(counts.decisions, self.costs.decisions, "decision")
        across = positions(counts.labels, self.costs.labels, "class")
        total = self._table.copy()
        total[np.ix_(*[down] * self._deciders, across)] += counts.counts.astype(np.int64)
        if self.impossible:
            self._inference(self.counted(total))  # raises when one of these cells came
        self._table = total

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the anytime-valid interval for the mean per decision.

        With the given confidence the true mean lies in *all* of the intervals that are ever asked
        for, so look as often as you like, and stop when you like. Before the first outcome, it is
        the range of the possible costs.

        Parameters
        ----------
        confidence : float, default 0.95
            How sure the whole sequence of intervals is to be; choose it before looking.

        Returns
        -------
        Interval
            The limits; the method is "anytime".

        Notes
        -----
        Whoever bets against a mean m, with the fraction f of the fortune W at stake, has W_t =
        W_{t-1} [1 - f + f (C_t - low)/(m - low)] after the outcome C_t; the fortune is split over a
        fixed grid of fractions. If m is the true mean, the probability that W *ever* reaches 2/α is
        at most α/2 (Ville's inequality); the interval holds all means against which it has not,
        from below or from above.

        References
        ----------
        Waudby-Smith & Ramdas (2024).

        Ville (1939).

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> low, high = running.interval()
        >>> round(low, 3), round(high, 3)
        (0.013, 0.791)
        """
        if self.n:
            return self._inference(self.counts).interval(confidence, METHOD)
        validate.alpha(confidence)
        return Interval(*self._range, float(confidence), METHOD)

    def _settings(self) -> dict[str, Any]:
        """Return what must be the same for totals to be added up."""
        return {"costs": self.costs, "impossible": self.impossible, "unit": self.unit}

    def __add__(self, other: object) -> Self:
        """Add up the totals of two streams, such as of two sites; both stay as they are.

        The interval of the sum holds if both have one expected cost, or keep their shares.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        for name, mine in self._settings().items():
            theirs = getattr(other, name)
            if mine != theirs:
                raise InputError(
                    name,
                    f"the totals cannot be added up, because they differ in it: {mine!r} and "
                    f"{theirs!r}.",
                )
        result = type(self)(**self._settings())
        result._table = self._table + other._table
        return result

    def __radd__(self, other: object) -> Self:
        """Start from nothing, as `sum` does."""
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Totals) or type(other) is not type(self):
            return NotImplemented
        same = self._settings() == other._settings()
        return same and np.array_equal(self._table, other._table)

    __hash__ = None  # type: ignore[assignment]  # totals change

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the totals to a JSON file, whole or not at all.

        Whoever stops in the middle leaves the file that was there before.

        Parameters
        ----------
        path : path
            The file.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     running.save(pathlib.Path(folder) / "totals.json")
        ...     Accumulator.load(pathlib.Path(folder) / "totals.json") == running
        True
        """
        write_text(path, totals_text(self.to_dict()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read totals that were saved; a file that was cut short or edited is refused.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Accumulator or PairedAccumulator
            The totals.
        """
        return totals_from_text(read_text(path), str(path), cls)

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values.

        Returns
        -------
        dict
            The costs and the counts.
        """
        cells = self.impossible
        return {
            "kind": type(self).__name__,
            "costs": self.costs.to_dict(),
            "impossible": None if cells is None else [list(cell) for cell in cells],
            "unit": self.unit,
            "n": self.n,
            "counts": self._table.tolist(),
        }


def any_outcomes(*columns: Any) -> bool:
    """Tell whether a batch has any outcomes; none at all is a quiet day and no error."""
    return not all(_is_empty(values) for values in columns)


def _is_empty(values: Any) -> bool:
    try:
        return len(values) == 0
    except TypeError:  # the error for what is no column comes from counting it
        return False


class Accumulator(Totals[Confusion]):
    """Running totals of a classifier's outcomes: its cost so far, and an interval at any time.

    Only counts are kept, so a stream may be as long as it likes. Outcomes must be independent (or
    have the same expected cost whatever came before), and must not come sooner or later depending
    on what they cost.

    Parameters
    ----------
    costs : CostMatrix
        What decisions cost; its labels and decisions are all that may come.
    impossible : sequence of (decision, class), optional
        Cells that cannot occur; a costly one among them would widen the interval.
    unit : str, optional
        The unit of the costs, such as "USD".

    Notes
    -----
    Whoever bets against a mean m, with the fraction f of the fortune W at stake, has W_t = W_{t-1}
    [1 - f + f (C_t - low)/(m - low)] after the outcome C_t; the fortune is split over a fixed grid
    of fractions. If m is the true mean, the probability that W *ever* reaches 2/α is at most α/2
    (Ville's inequality); the interval holds all means against which it has not, from below or from
    above.

    References
    ----------
    Waudby-Smith & Ramdas (2024).

    Ville (1939).

    Examples
    --------
    >>> from stakes import Accumulator, CostMatrix
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> running = Accumulator(costs)
    >>> for day in range(30):
    ...     running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
    >>> running.n, running.cost
    (3000, 0.15)
    >>> running.interval()
    Interval(low=0.0923..., high=0.2248..., confidence=0.95, method='anytime')

    Totals of several streams add up:

    >>> (running + running).n
    6000
    """

    _kind = Confusion
    _deciders = 1

    def update(self, y_true: Any, y_pred: Any) -> None:
        """Count a batch of outcomes; one with an error in it changes nothing.

        Parameters
        ----------
        y_true, y_pred : array_like, shape (n,)
            The actual class of each example, and what was decided. There may be none.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> running
        Accumulator(n=100, cost=0.15)
        """
        if any_outcomes(y_true, y_pred):
            axes = {"labels": self.costs.labels, "decisions": self.costs.decisions}
            self.add(Confusion.from_labels(y_true, y_pred, **axes))

    @property
    def cost(self) -> float:
        """What a decision cost on average so far."""
        return self.estimate().cost

    @property
    def total(self) -> float:
        """What all decisions cost so far."""
        return self.estimate().total

    def estimate(self) -> CostEstimate:
        """Return the estimate from all outcomes so far.

        Its intervals are for one look only, but for ``method="anytime"``.

        Returns
        -------
        CostEstimate
            The estimate.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> running.estimate().total
        15.0
        """
        return self._inference(self.counts)

    def _inference(self, counts: Confusion) -> CostEstimate:
        return CostEstimate(counts, self.costs, Design(impossible=self.impossible), self.unit)

    def summary(self, confidence: float = 0.95) -> str:
        """Say what decisions cost so far, and how sure that is at any time.

        Parameters
        ----------
        confidence : float, default 0.95
            Of the interval.

        Returns
        -------
        str
            A sentence.
        """
        if not self.n:
            return "No outcomes yet."
        low, high = self.interval(confidence)
        return (
            f"{number(self.n)} decisions cost {with_unit(self.cost, self.unit)} each "
            f"({number(low)} to {number(high)} with {percent(confidence)} confidence, at whatever "
            "time one looks)."
        )

    def __repr__(self) -> str:
        return f"Accumulator(n={self.n}{f', cost={self.cost:.6g}' if self.n else ''})"


class PairedAccumulator(Totals[PairedConfusion]):
    """Running totals of two classifiers on the same examples: which is cheaper, at any time.

    Parameters
    ----------
    costs, impossible, unit
        As in `Accumulator`.
    names : pair of str
        What the classifiers are called.

    Notes
    -----
    The interval is that of `Accumulator`, for the differences C(i1, j) - C(i2, j) of the two
    classifiers' costs, Σ M(i1, i2, j) [C(i1, j) - C(i2, j)]/n on average.

    References
    ----------
    Waudby-Smith & Ramdas (2024).

    Ville (1939).

    Examples
    --------
    >>> from stakes import CostMatrix, PairedAccumulator
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> running = PairedAccumulator(costs, names=("old", "new"))
    >>> for day in range(30):
    ...     running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
    ...     if running.cheaper():
    ...         print(f"day {day}: {running.cheaper()} is cheaper")
    ...         break
    day 1: new is cheaper
    >>> running.difference
    0.4
    """

    _kind = PairedConfusion
    _deciders = 2

    def __init__(
        self,
        costs: CostMatrix,
        *,
        names: tuple[str, str] = ("first", "second"),
        impossible: Any = None,
        unit: str = "",
    ) -> None:
        first, second = map(str, validate.two_names(names))
        self.names = (first, second)
        super().__init__(costs, impossible=impossible, unit=unit)

    def update(self, y_true: Any, y_pred_1: Any, y_pred_2: Any) -> None:
        """Count a batch of outcomes; one with an error in it changes nothing.

        Parameters
        ----------
        y_true, y_pred_1, y_pred_2 : array_like, shape (n,)
            The actual class of each example, and what each classifier decided.

        Examples
        --------
        >>> from stakes import CostMatrix, PairedAccumulator
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = PairedAccumulator(costs, names=("old", "new"))
        >>> running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
        >>> running
        PairedAccumulator(n=100, difference=0.4)
        """
        if any_outcomes(y_true, y_pred_1, y_pred_2):
            axes = {"labels": self.costs.labels, "decisions": self.costs.decisions}
            self.add(PairedConfusion.from_labels(y_true, y_pred_1, y_pred_2, **axes))

    @property
    def difference(self) -> float:
        """What a decision of the first cost more than one of the second, on average so far."""
        return self.estimate().difference

    def cheaper(self, confidence: float = 0.95) -> str | None:
        """Return which classifier is shown to be cheaper, or None; ask as often as you like.

        Parameters
        ----------
        confidence : float, default 0.95
            How sure all answers together are to be.

        Returns
        -------
        str or None
            Its name, once the interval leaves out zero.

        Examples
        --------
        >>> from stakes import CostMatrix, PairedAccumulator
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = PairedAccumulator(costs, names=("old", "new"))
        >>> running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
        >>> running.cheaper() is None
        True
        >>> running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
        >>> running.cheaper()
        'new'
        """
        low, high = self.interval(confidence)
        if low > 0:
            return self.names[1]
        return self.names[0] if high < 0 else None

    def estimate(self) -> CostDifference:
        """Return the difference from all outcomes so far.

        Its intervals and tests are for one look only, but for ``interval(method="anytime")``.

        Returns
        -------
        CostDifference
            The difference.

        Examples
        --------
        >>> from stakes import CostMatrix, PairedAccumulator
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = PairedAccumulator(costs, names=("old", "new"))
        >>> running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
        >>> running.estimate()
        CostDifference(old - new = 0.4, n=100)
        """
        return self._inference(self.counts)

    def _inference(self, counts: PairedConfusion) -> CostDifference:
        design = Design(impossible=self.impossible)
        return CostDifference(counts, self.costs, self.names, design, self.unit)

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"names": self.names}

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values.

        Returns
        -------
        dict
            The costs, the counts and the names.
        """
        return super().to_dict() | {"names": list(self.names)}

    def summary(self, confidence: float = 0.95) -> str:
        """Say which classifier is cheaper so far, and how sure that is at any time.

        Parameters
        ----------
        confidence : float, default 0.95
            Of the interval.

        Returns
        -------
        str
            A sentence.
        """
        if not self.n:
            return "No outcomes yet."
        low, high = self.interval(confidence)
        cheaper = self.cheaper(confidence)
        costs = compared_costs(self.names, self.difference, self.unit)
        return (
            f"{costs} over {number(self.n)} decisions "
            f"({number(low)} to {number(high)} with {percent(confidence)} confidence, at whatever "
            f"time one looks): {f'{cheaper} is cheaper' if cheaper else 'not decided yet'}."
        )

    def __repr__(self) -> str:
        so_far = f", difference={self.difference:.6g}" if self.n else ""
        return f"PairedAccumulator(n={self.n}{so_far})"


# Running totals as text: JSON with a version and a checksum.

SCHEMA = "stakes-totals/1"
Kind = TypeVar("Kind", bound=Totals[Any])


def totals_text(content: dict[str, Any]) -> str:
    """Write what `to_dict` of running totals returned as the text of a file."""
    for label in (*content["costs"]["labels"], *content["costs"]["decisions"]):
        if not isinstance(label, str | int | float):
            raise LabelError(
                "labels",
                f"a file of totals holds text and numbers only, got {label!r} "
                f"({type(label).__name__}).",
                "Use costs.relabel(str).",
            )
    document = {"schema": SCHEMA} | content
    document["checksum"] = checksum(document)
    lines = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
        for key, value in document.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def totals_from_text(text: str, source: str, kind: type[Kind]) -> Kind:
    """Read running totals of one kind.

    Parameters
    ----------
    text : str
        The text of the file.
    source : str
        The name of the file, for errors.
    kind : type
        Accumulator or PairedAccumulator.
    """
    content = json_content(text, source, "a file of totals")
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise FileError(
            source,
            f"expected a file of totals, written by {kind.__name__}.save, with the schema "
            f"{SCHEMA!r}; its schema is {schema!r}.",
        )
    if "checksum" not in content:
        raise FileError(source, "the file of totals has no 'checksum'.")
    check_unchanged(content.pop("checksum"), checksum(content), source, "the file of totals")
    if content.get("kind") != kind.__name__:
        raise FileError(
            source,
            f"expected the totals of {kind.__name__}, it has those of {content.get('kind')}.",
            f"Use {content.get('kind')}.load.",
        )
    try:
        return _totals(content, kind)
    except KeyError as error:
        raise FileError(source, f"the file of totals has no {error.args[0]!r}.") from error
    except (StakesError, TypeError, ValueError, OverflowError) as error:
        raise FileError(source, f"the file of totals is damaged: {error}") from error


def _totals(content: dict[str, Any], kind: type[Kind]) -> Kind:
    costs = CostMatrix(**content["costs"])
    settings = {"impossible": content["impossible"], "unit": content["unit"]}
    if "names" in content:
        settings["names"] = tuple(content["names"])
    totals = kind(costs, **settings)
    if content["n"] != 0:
        totals.add(totals.counted(content["counts"]))
    if totals.n != content["n"]:
        raise ValueError(f"expected {content['n']} outcomes, counted {totals.n}.")
    return totals
