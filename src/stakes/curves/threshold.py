"""The threshold to use: the cheapest, or the best that keeps within a limit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.text import html_table, matrix_table, number, percent
from stakes._core.typing import Booleans, Floats
from stakes.costs import CostMatrix
from stakes.counts import Confusion, GroupedConfusion, ScoreCounts
from stakes.curves._rates import designed, mistakes_at, represented
from stakes.curves._sampling import Multinomial, drawn
from stakes.curves.bands.mover import combined, room_limits
from stakes.curves.curve import check_both_classes
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.infer._design import Design, cell_shares, checked_priors
from stakes.infer._inference import Interval
from stakes.infer.estimate import CostEstimate

LIMIT_ROUNDING = 1e-12
"""By how much a rate may miss a limit and still keep it."""

MOST_TRIED = 1024
"""So many thresholds are tried at once."""

ROUNDING = 1e-13
"""Costs that differ by so little of the largest are the same."""


@dataclass(frozen=True, repr=False)
class ThresholdChoice:
    """A threshold, and what it does on the examples it was chosen on, or on others.

    Made by `choose_threshold`.

    Attributes
    ----------
    threshold : float
        Examples that score at least this are called positive: infinite if none, minus infinite if
        all should be.
    confusion : Confusion or GroupedConfusion
        What it decides on the examples; of each group and stratum, where there are such.
    costs : CostMatrix or None
        What decisions cost, where that was given.
    rule : str
        What was asked for.
    design : Design
        The class priors and the population, where they differ from those of the examples.
    confidence : float
        Of `interval`.
    chosen_on : str
        "the same examples", which flatters what it does, or "other examples".

    Examples
    --------
    >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
    >>> counts = ScoreCounts.from_scores(
    ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
    ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> choice = choose_threshold(counts, costs)
    >>> choice.threshold, choice.cost, choice.recall, choice.fpr
    (0.07, 0.4, 1.0, 0.8)
    """

    threshold: float
    confusion: Confusion | GroupedConfusion
    costs: CostMatrix | None
    rule: str
    design: Design
    confidence: float
    chosen_on: str = "the same examples"

    @property
    def cost(self) -> float | None:
        """The expected cost of a decision; None where no costs were given."""
        estimate = self.estimate()
        return None if estimate is None else estimate.cost

    @property
    def interval(self) -> Interval | None:
        """The confidence interval of the cost; None where no costs were given."""
        estimate = self.estimate()
        return None if estimate is None else estimate.interval(self.confidence)

    def estimate(self) -> CostEstimate | None:
        """Return what the decisions cost, where costs were given.

        Returns
        -------
        CostEstimate or None
            None where no costs were given.

        Examples
        --------
        >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
        >>> counts = ScoreCounts.from_scores(
        ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
        ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> choice = choose_threshold(counts, costs)
        >>> choice.estimate()
        CostEstimate(cost=0.4, total=4, n=10)
        """
        if self.costs is None:
            return None
        return CostEstimate(self.confusion, self.costs, self.design)

    @property
    def recall(self) -> float:
        """The share of positives that are called positive."""
        return self._share(1)

    @property
    def fpr(self) -> float:
        """The share of negatives that are called positive."""
        return self._share(0)

    def _share(self, actual: int) -> float:
        column = self.pooled.counts[:, actual]
        return float(column[1] / column.sum()) if column.sum() else 0.0

    @property
    def pooled(self) -> Confusion:
        """What is decided in all groups and strata together, as in the population."""
        table = self.confusion
        if isinstance(table, Confusion):
            return table
        reweighted = self.design.population is not None or self.design.class_priors is not None
        if table.strata is None or not reweighted:
            return Confusion(table.counts.sum(axis=0), table.labels)
        return Confusion(cell_shares(table, self.design) * table.n, table.labels)

    @property
    def alarms(self) -> float:
        """The share of all examples that are called positive, at the class priors if given."""
        return float(cell_shares(self.confusion, self.design)[1].sum())

    def on(self, counts: ScoreCounts) -> ThresholdChoice:
        """Return what the same threshold does on other examples, where it has no hindsight.

        Parameters
        ----------
        counts : ScoreCounts
            The same scorer's scores of other examples.

        Returns
        -------
        ThresholdChoice
            The same threshold, judged by those.

        Examples
        --------
        >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
        >>> counts = ScoreCounts.from_scores(
        ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
        ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> choice = choose_threshold(counts, costs)
        >>> other = ScoreCounts.from_scores([0, 0, 1, 0, 1, 1], [0.05, 0.4, 0.06, 0.5, 0.6, 0.8])
        >>> round(choice.on(other).cost, 4)
        2.0
        """
        validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(y_true, y_score)")
        confusion = counts.confusion_at(self.threshold)
        if confusion.labels != self.confusion.labels:
            raise LabelError(
                "counts",
                f"its classes are {confusion.labels}, the threshold was chosen for "
                f"{self.confusion.labels}.",
            )
        return replace(self, confusion=confusion, chosen_on="other examples")

    def summary(self) -> str:
        """Say what to do, and what it leads to.

        Returns
        -------
        str
            One sentence or two.
        """
        positive = self.confusion.labels[1]
        text = f"Call {positive!r} what scores {self.threshold:.6g} or more"
        pooled = self.pooled
        if self.threshold == np.inf and not pooled.counts[1].any():
            text = f"Call nothing {positive!r}"
        elif self.threshold == -np.inf:
            text = f"Call everything {positive!r}"
        text += (
            f" ({self.rule}): that finds {percent(round(self.recall, 6))} of them, raises an alarm "
            f"for {percent(round(self.alarms, 6))} of all and for {percent(round(self.fpr, 6))} of "
            "the others"
        )
        chosen = f"The threshold was chosen on {self.chosen_on}."
        if self.interval is None:
            return f"{text}. {chosen}"
        low, high = map(number, self.interval)
        return (
            f"{text}, and costs {number(self.cost or 0.0)} a decision "
            f"({low} to {high} with {percent(self.confidence)} confidence). {chosen}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values.

        Returns
        -------
        dict
            The threshold, and what it does.
        """
        return {
            "threshold": self.threshold,
            "rule": self.rule,
            "cost": self.cost,
            "interval": None if self.interval is None else self.interval.to_dict(),
            "recall": self.recall,
            "fpr": self.fpr,
            "alarms": self.alarms,
            "confusion": self.pooled.to_dict(),
            "chosen_on": self.chosen_on,
        }

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        pooled = self.pooled
        cells = [[number(count) for count in row] for row in pooled.counts.tolist()]
        table = matrix_table(pooled.decisions, pooled.labels, cells)
        return html_table(*table, caption=self.summary())


def choose_threshold(
    counts: ScoreCounts,
    costs: CostMatrix | None = None,
    *,
    max_fpr: float | None = None,
    min_recall: float | None = None,
    capacity: float | None = None,
    volume: float | None = None,
    assurance: float | None = None,
    class_priors: Any = None,
    population: Any = None,
    confidence: float = 0.95,
) -> ThresholdChoice:
    """Return the threshold that is cheapest, or best within a limit.

    With costs, the cheapest threshold among those allowed. Without, the Neyman-Pearson choice
    (thesis, section 2.3.4.2): the most positives found under `max_fpr` or `capacity`, the fewest
    false alarms under `min_recall`.

    Parameters
    ----------
    counts : ScoreCounts
        The score table.
    costs : CostMatrix, optional
        What decisions cost.
    max_fpr : float, optional
        The largest false positive rate allowed.
    min_recall : float, optional
        The least share of positives that must be found; 1 means all (thesis, Table 6.9).
    capacity : float, optional
        How many examples may be called positive, out of `volume`.
    volume : float, optional
        The number of decisions that `capacity` is for; by default as many as were counted.
    assurance : float, optional
        How sure to be that a limit is kept on new examples, such as 0.95. By default it is kept on
        these, and on new ones about every other time. For rates it is the expected rate that is
        kept; for a capacity the number of alarms among `volume` new decisions.
    class_priors : mapping or sequence, optional
        The share of each class where the threshold is used, if it differs from that of the counts.
    population : mapping, optional
        From each stratum to its share of the population, or to its number of rows, where the scores
        were counted with strata.
    confidence : float, default 0.95
        Of the interval of the cost.

    Returns
    -------
    ThresholdChoice
        The threshold, what it does, and what that costs.

    Notes
    -----
    The cheapest threshold t is that of least cost(t) = π⁻ [C(-, -) (1 - fpr_t) + C(+, -) fpr_t] +
    π⁺ [C(-, +) (1 - tpr_t) + C(+, +) tpr_t], π being the share of each class and C(i, j) the cost
    of deciding i for class j. Of thresholds that cost the same, the highest.

    References
    ----------
    Margineantu (2001), section 2.3.4.2 and Table 2.5.

    Holte & Drummond (2005), section 2.

    Examples
    --------
    Table 2.4 of the thesis with the costs of Table 2.5: the cheapest threshold calls all but the
    first example positive.

    >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
    >>> counts = ScoreCounts.from_scores(
    ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
    ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> choice = choose_threshold(counts, costs)
    >>> choice.threshold, choice.cost
    (0.07, 0.4)
    >>> choose_threshold(counts, max_fpr=0.2).threshold
    0.7
    """
    validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(y_true, y_score)")
    check_both_classes(counts, "counts")
    if costs is not None:
        validate.expect(costs, CostMatrix, "costs", "CostMatrix.from_errors(…)")
    validate.alpha(confidence)
    design = Design(None if class_priors is None else dict(_priors(counts, class_priors)))
    design = replace(design, population=population)
    whole = represented(counts, design)
    priors = _priors(whole, class_priors)
    cuts = Cuts.of(whole)
    limits = Limits(
        cuts,
        priors,
        max_fpr=max_fpr,
        min_recall=min_recall,
        capacity=capacity,
        volume=volume,
        assurance=assurance,
    )
    allowed, rules = limits.allowed(), limits.rules()
    if costs is None and not rules:
        raise InputTypeError(
            "costs", "give the costs, or a limit: max_fpr=, min_recall= or capacity= (or both)."
        )
    if not allowed.any():
        raise InputError(
            limits.names(),
            f"no threshold has a {' and a '.join(rules)}.",
            f"Loosen {'the limit' if len(rules) == 1 else 'a limit'}"
            + ("." if assurance is None else ", or lower assurance=."),
        )
    if costs is not None:
        rules = ["cheapest", *rules]
    threshold = float(cuts.thresholds[_best(cuts, costs, priors, allowed, fewest=min_recall)])
    choice = ThresholdChoice(
        threshold=threshold,
        confusion=counts.confusion_at(threshold),
        costs=costs,
        rule=", ".join(rules),
        design=design,
        confidence=float(confidence),
    )
    choice.estimate()  # raises when the costs or the design do not fit
    return choice


def _priors(counts: ScoreCounts, class_priors: Any) -> dict[Label, float]:
    """Return the share of each class where the threshold is used."""
    labels = (counts.neg_label, counts.pos_label)
    if class_priors is None:
        sizes = float(counts.n_negatives), float(counts.n_positives)
        return {label: size / sum(sizes) for label, size in zip(labels, sizes, strict=True)}
    shares = checked_priors(class_priors, labels)
    return dict(zip(labels, shares.tolist(), strict=True))


def _best(
    cuts: Cuts,
    costs: CostMatrix | None,
    priors: Mapping[Label, float],
    allowed: NDArray[np.bool_],
    *,
    fewest: float | None,
) -> int:
    """Return the best threshold: of equals, the highest, which raises the fewest alarms."""
    labels = tuple(priors)
    if costs is not None:
        cell = costs.values_for(labels, labels)
        negative, positive = (
            cell[0, j] * (1 - rate) + cell[1, j] * rate
            for j, rate in enumerate((cuts.fpr, cuts.recall))
        )
        order = (priors[labels[0]] * negative + priors[labels[1]] * positive,)
    elif fewest is not None:
        order = (cuts.fpr, -cuts.recall)  # type: ignore[assignment]
    else:
        order = (-cuts.recall, cuts.fpr)  # type: ignore[assignment]
    candidates = np.flatnonzero(allowed)
    for key in order:
        least = key[candidates].min()
        candidates = candidates[key[candidates] <= least + ROUNDING * np.abs(key).max()]
    return int(candidates[0])


# -- limits: which thresholds keep those on false alarms, on misses or on all alarms


@dataclass(frozen=True)
class Cuts:
    """The rates at each threshold, from calling nothing positive to calling everything.

    Attributes
    ----------
    thresholds, fpr, recall : ndarray
        The thresholds, highest first, and the rates of negatives and positives called positive.
    sizes : pair of ndarray
        How many negatives and positives there are at each threshold: all of them, or what weighted
        ones, or those in groups, are worth there.
    rooms : pair of pair of ndarray, or None
        How many times as large as one of them a negative (then a positive) may be that was not
        seen: not called positive, and called positive. None where all examples are alike.
    nothing, everything : ndarray of bool
        Where nothing, and everything, is called positive, whatever it scores.
    n : float
        The number of examples.
    """

    thresholds: Floats
    fpr: Floats
    recall: Floats
    sizes: tuple[Floats, Floats]
    rooms: tuple[tuple[Floats, Floats], tuple[Floats, Floats]] | None
    nothing: Booleans
    everything: Booleans
    n: float

    @classmethod
    def of(cls, counts: ScoreCounts) -> Self:
        """Return the rates at every threshold of a score table, and at those beyond it."""
        first = bool(counts.thresholds[0] < np.inf)
        last = bool(counts.thresholds[-1] > -np.inf)
        ends = [np.inf] * first, [-np.inf] * last
        thresholds = np.concatenate([ends[0], counts.thresholds, ends[1]])
        rates, sizes, rooms = [], [], None
        for side in (counts.negatives, counts.positives):
            sums = _running(side, first=first, last=last)
            rates.append(sums / sums[-1])
            sizes.append(np.full(len(sums), sums[-1]))
        if designed(counts):
            n = len(counts.thresholds)
            at = np.concatenate([[0] * first, np.arange(1, n + 1), [n] * last]).astype(np.intp)
            parts = drawn(np.full(len(at), 0.5), *mistakes_at(counts, at), full=False)[::-1]
            sizes = [np.asarray(part.n) for part in parts]
            of_parts = [part.rooms for part in parts if part.rooms is not None]
            (kept, called), (found, missed) = of_parts
            rooms = ((kept[0], called[0]), (missed[0], found[0]))
        nothing, everything = (np.zeros(len(thresholds), dtype=bool) for _ in range(2))
        nothing[0], everything[-1] = first, last or thresholds[-1] == -np.inf
        return cls(
            thresholds,
            rates[0],
            rates[1],
            (sizes[0], sizes[1]),
            rooms,
            nothing,
            everything,
            counts.n,
        )


def _running(values: Any, *, first: bool, last: bool) -> Floats:
    """Return running sums, with those of thresholds beyond the scores, where there are such."""
    sums = np.concatenate([[0.0] * first, np.cumsum(values, dtype=np.float64)])
    return np.append(sums, sums[-1:] if last else [])


@dataclass(frozen=True)
class _Rate:
    """A rate at each threshold, of how many, what it counts for, and the room for one unseen."""

    n: Floats
    rate: Floats
    weight: float
    room: Floats | None

    def sample(self, i: NDArray[np.intp]) -> Multinomial:
        """Return the draws behind it at some thresholds."""
        n, rooms = self.n[i], None
        if self.room is not None:
            room = self.room[i][np.newaxis]
            rooms = (np.ones_like(room), room)
        return Multinomial(n, (self.rate[i] * n)[np.newaxis], (self.weight / n)[np.newaxis], rooms)


def _first_failure(order: NDArray[np.intp], keeps: Callable[[NDArray[np.intp]], Booleans]) -> int:
    """Return how many of the thresholds keep a limit before the first that does not.

    Stopping there is what makes trying many of them harmless. Of very many, some are tried first,
    and then those after the last that does.
    """
    start, end = 0, len(order)
    while end > start:
        step = -(-(end - start) // MOST_TRIED)
        tried = np.arange(start, end, step)
        failed = np.flatnonzero(~keeps(order[tried]))
        if step == 1:
            return int(tried[failed[0]]) if len(failed) else end
        if len(failed):
            if failed[0] == 0:
                return start
            start, end = int(tried[failed[0] - 1]) + 1, int(tried[failed[0]])
        else:
            start = int(tried[-1]) + 1
    return end


class Limits:
    """The limits that a threshold must keep."""

    def __init__(
        self,
        cuts: Cuts,
        priors: Mapping[Label, float],
        *,
        max_fpr: Any,
        min_recall: Any,
        capacity: Any,
        volume: Any,
        assurance: Any,
    ) -> None:
        self.cuts, self.priors = cuts, tuple(priors.values())
        self.max_fpr = None if max_fpr is None else _rate(max_fpr, "max_fpr")
        self.min_recall = None if min_recall is None else _rate(min_recall, "min_recall")
        if volume is not None and capacity is None:
            raise InputTypeError("volume", "it is what a capacity is for; give capacity= too.")
        self.volume = float(cuts.n) if volume is None else validate.positive(volume, "volume")
        self.capacity = None if capacity is None else validate.one_number(capacity, "capacity")
        if self.capacity is not None and self.capacity < 0:
            raise InputError(
                "capacity", f"expected a number of alarms, 0 or more; got {self.capacity:g}."
            )
        self.assurance = None if assurance is None else _assurance(assurance)
        if self.assurance is not None and not self.rules():
            raise InputTypeError(
                "assurance",
                "it is that a limit is kept; give max_fpr=, min_recall= or capacity= too.",
            )

    def allowed(self) -> Booleans:
        """Return which thresholds keep all limits."""
        cuts = self.cuts
        allowed = np.ones(len(cuts.thresholds), dtype=bool)
        if self.max_fpr is not None:
            rates = [self._rate(0, alarms=True)]
            allowed &= self._at_most(self.max_fpr, rates) | self._sure(cuts.nothing)
        if self.min_recall is not None:
            rates = [self._rate(1, alarms=False)]
            allowed &= self._at_most(1 - self.min_recall, rates) | self._sure(cuts.everything)
        if self.capacity is not None:
            rates = [self._rate(side, alarms=True, weight=self.priors[side]) for side in (0, 1)]
            most = self.capacity / self.volume
            allowed &= self._at_most(most, rates, new=self.volume) | self._sure(cuts.nothing)
        return allowed

    def _rate(self, side: int, *, alarms: bool, weight: float = 1.0) -> _Rate:
        """Return the rate of alarms among negatives (0) or positives (1), or of the others."""
        cuts = self.cuts
        rate = (cuts.fpr, cuts.recall)[side]
        room = None if cuts.rooms is None else cuts.rooms[side][int(alarms)]
        return _Rate(cuts.sizes[side], rate if alarms else 1 - rate, weight, room)

    def _sure(self, cut: Booleans) -> Booleans:
        """Return the threshold that keeps a limit whatever comes, which matters with assurance."""
        return cut if self.assurance is not None else np.zeros_like(cut)

    def _at_most(self, limit: float, rates: list[_Rate], new: float | None = None) -> Booleans:
        """Tell where a weighted sum of rates keeps a limit; or does with assurance.

        The upper limit of one rate is Clopper & Pearson's, that of a sum of two the combination of
        theirs. The share of alarms among `new` decisions varies about its rate besides.
        """
        total = np.asarray(sum(each.weight * each.rate for each in rates))
        if self.assurance is None or limit >= 1:
            return np.asarray(total <= limit + LIMIT_ROUNDING)

        def keeps(i: NDArray[np.intp]) -> Booleans:
            sample = [each.sample(i) for each in rates]
            limits = partial(room_limits, alpha=2 * (1 - float(self.assurance or 0)), weight=1.0)
            arm = combined(sample, limits)[1] - total[i]
            spread = 0.0 if new is None else total[i] * (1 - total[i]) / new
            upper = total[i] + np.sqrt(arm**2 + ndtri(self.assurance) ** 2 * spread)
            return np.asarray(upper <= limit + LIMIT_ROUNDING)

        kept = np.zeros(len(total), dtype=bool)
        order = np.argsort(total, kind="stable")
        order = order[: np.searchsorted(total[order], limit + LIMIT_ROUNDING, side="right")]
        if self.cuts.rooms is None:
            passed = bisect_left(order, 1, key=lambda i: not keeps(np.array([i]))[0])
        else:  # the limit does not rise with the rate alone
            passed = _first_failure(order, keeps)
        kept[order[:passed]] = True
        return kept

    def names(self) -> str:
        """Name the arguments that set limits."""
        names = ("max_fpr", "min_recall", "capacity")
        return ", ".join(name for name in names if getattr(self, name) is not None)

    def rules(self) -> list[str]:
        """Say what limits there are."""
        rules = []
        if self.max_fpr is not None:
            rules.append(f"false positive rate of at most {percent(self.max_fpr)}")
        if self.min_recall is not None:
            rules.append(f"recall of at least {percent(self.min_recall)}")
        if self.capacity is not None:
            rules.append(f"load of at most {number(self.capacity)} alarms in {number(self.volume)}")
        if rules and self.assurance is not None:
            rules[-1] += f" with {percent(self.assurance)} assurance"
        return rules


def _rate(value: Any, name: str) -> float:
    rate = validate.one_number(value, name)
    if not 0 <= rate <= 1:
        raise InputError(name, f"expected a rate from 0 to 1, got {rate:g}.")
    return rate


def _assurance(value: Any) -> float:
    assurance = validate.one_number(value, "assurance")
    if not 0.5 <= assurance < 1:  # noqa: PLR2004 - less would loosen the limit
        raise InputError(
            "assurance", f"expected a number from 0.5 to below 1, such as 0.95; got {assurance:g}."
        )
    return assurance
