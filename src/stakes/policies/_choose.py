"""Thresholds for the scores of several models, and what they decide on the rows they come from.

The threshold to deploy is chosen on all rows. What it will cost is judged by folds: on each, the
threshold that the other folds choose. Both tables of decisions are returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from stakes._core.labels import Label
from stakes._core.typing import Booleans, Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.infer._outcomes import Design
from stakes.policies._folds import Folds, deal, deal_groups, deal_ranked, name_numbers, row_keys
from stakes.policies._rule import ScoreTables, cheapest_cuts, expected_thresholds
from stakes.predictions.scores import JointScores

ENOUGH = 10
"""With fewer rows of a class, or groups that have any, no threshold is chosen on them."""

MOST_STEPS = 10_000
"""Up to so many different scores each may be a threshold; of more, those that matter."""

FOLDS = ((2_000, 20), (200_000, 10), (np.inf, 5))
"""Below so many rows there are so many folds."""

MOST_FOLDS = 100

SAME = 0.5
"""With a larger share of the test rows among them, other rows are no others."""

TWO_ERRORS = 1.96
"""Standard errors that a threshold must cost more by, to be shown to."""

CLEARLY = 4.0
"""Standard errors below one half, from which on scores are said to be reversed."""

Codes = NDArray[np.signedinteger]


@dataclass(frozen=True, eq=False)
class Choosing(Result):
    """How thresholds are chosen, and which of several questions is asked.

    Attributes
    ----------
    folds : int or None
        The number of folds; None for more of them the fewer rows there are.
    seed : int
        How rows are dealt into them.
    min_recall, max_fpr : float or None
        The least share of positives to be found, and the largest share of false alarms.
    capacity : float or None
        The largest share of rows that may be called positive.
    fixed : tuple of (str, float)
        Models and thresholds of theirs that were stated; they compete beside the chosen ones.
    validation : JointScores or None
        Other rows to choose thresholds on.
    """

    folds: int | None = None
    seed: int = 0
    min_recall: float | None = None
    max_fpr: float | None = None
    capacity: float | None = None
    fixed: tuple[tuple[str, float], ...] = ()
    validation: JointScores | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds is not None and not 2 <= self.folds <= MOST_FOLDS:  # noqa: PLR2004
            raise InputError("folds", f"expected a number from 2 to {MOST_FOLDS}.")

    def folds_of(self, n: int) -> int:
        """Return the number of folds for so many rows.

        With few rows the thresholds of five folds differ much, and so does the cost with the seed.

        Parameters
        ----------
        n : int
            The number of rows.

        Returns
        -------
        int
            The number of folds.

        Examples
        --------
        >>> from stakes.policies import Choosing
        >>> Choosing().folds_of(5000), Choosing(folds=3).folds_of(5000)
        (10, 3)
        """
        if self.folds is not None:
            return self.folds
        return next(folds for rows, folds in FOLDS if n < rows)

    @property
    def limits(self) -> dict[str, float]:
        """The limits that there are."""
        names = ("min_recall", "max_fpr", "capacity")
        return {name: float(v) for name in names if (v := getattr(self, name)) is not None}


@dataclass(frozen=True)
class Threshold:
    """The scores from which on decisions are taken by one model.

    Attributes
    ----------
    model : str
        The model.
    cuts : tuple of (decision, float)
        Each decision and the score from which on it is taken, highest first; below the last one
        `below` is decided.
    below : label
        The decision for all lower scores.
    cross_fitted : bool
        Whether the cost is judged on folds that did not choose it.
    range_ : pair of float, or None
        The lowest and the highest threshold not shown to cost more on these rows.
    reason : str
        Why it was not chosen on the rows, where it was not.
    reversed_ : float or None
        The area under the ROC curve, where it is clearly below one half.
    """

    model: str
    cuts: tuple[tuple[Label, float], ...]
    below: Label
    cross_fitted: bool
    range_: tuple[float, float] | None = None
    reason: str = ""
    reversed_: float | None = None


@dataclass(frozen=True)
class Chosen:
    """Thresholds, and the decisions that they lead to.

    Attributes
    ----------
    thresholds : mapping of str to Threshold
        By the name of their column in the tables.
    held_out, in_sample : JointConfusion
        The decisions of models as given, in columns of their names, and those by thresholds: on
        folds that did not choose them, and on all rows.
    undecided : mapping of str to str
        Models for which no threshold could be chosen, and why.
    """

    thresholds: Mapping[str, Threshold]
    held_out: JointConfusion
    in_sample: JointConfusion
    undecided: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a score table one by one."""

    scores: JointScores
    positive: Booleans
    ranks: NDArray[np.int32]
    decided: NDArray[Any]
    weights: Floats | None
    part: NDArray[np.intp] | None

    @classmethod
    def of(cls, scores: JointScores) -> _Rows:
        amounts = scores.amounts
        if scores.squares is not None or amounts is None:
            weights = None if scores.squares is None else np.asarray(amounts, dtype=float)
            return cls(scores, scores.positive, scores.ranks, scores.decided, weights, scores.part)
        each = np.repeat(np.arange(len(amounts)), amounts)
        part = None if scores.part is None else scores.part[each]
        taken = scores.ranks[:, each], scores.decided[:, each]
        return cls(scores, scores.positive[each], *taken, None, part)

    @property
    def groups(self) -> NDArray[np.intp] | None:
        """The group of each row."""
        parts = self.scores.parts
        if self.part is None or parts is None or parts.groups is None:
            return None
        codes = parts.group_codes()
        return None if codes is None else np.asarray(codes[self.part])

    def folds(self, choosing: Choosing, labels: Sequence[Label], decisions: int) -> Folds:
        """Return the fold of each row; decisions are positions in the order of the labels."""
        scores, groups = self.scores, self.groups
        count = choosing.folds_of(len(self.positive))
        for ranks, cuts in zip(self.ranks, scores.thresholds, strict=True):
            if groups is None and len(cuts) == len(ranks):
                return deal_ranked(ranks, self.positive, count, choosing.seed)
        sided: list[tuple[Any, int, Booleans]] = [
            (ranks, len(cuts), self.positive)
            for ranks, cuts in zip(self.ranks, scores.thresholds, strict=True)
        ]
        ends = [labels.index(label) for label in (scores.neg_label, scores.pos_label)]
        forward = self.positive if ends[0] < ends[1] else ~self.positive
        sided += [(codes, decisions, forward) for codes in self.decided]
        others = [] if self.weights is None else [self.weights]
        parts = scores.parts
        if self.part is not None and parts is not None and parts.strata is not None:
            others.append(name_numbers(parts.strata)[self.part])
        keys = row_keys(len(self.positive), sided, others)
        if groups is None:
            return deal(keys, self.positive, count, choosing.seed)
        return deal_groups(keys, self.positive, groups, count, choosing.seed)

    def too_few(self) -> str:
        """Say which class has too few rows, or groups with such rows; nothing if none has."""
        groups = self.groups
        for wanted, label in ((True, self.scores.pos_label), (False, self.scores.neg_label)):
            rows = self.positive == wanted
            found = int(rows.sum()) if groups is None else len(np.unique(groups[rows]))
            if found < ENOUGH:
                what = "row{}" if groups is None else "group{} with rows"
                number = {0: "are no", 1: "is only 1"}.get(found, f"are only {found}")
                rows_of = what.format("" if found == 1 else "s")
                return f"there {number} {rows_of} of the class {label!r}"
        return ""

    def class_weights(self, design: Design) -> tuple[Floats | None, Floats]:
        """Return what rows count for where policies are used: each row, and then each class.

        Each row's is None where all count the same.
        """
        each = self.weights
        parts, population = self.scores.parts, design.population
        by_name = parts is not None and parts.strata is not None and isinstance(population, Mapping)
        if by_name and self.part is not None and parts is not None:
            names = list(dict.fromkeys(parts.strata or ()))
            codes = np.array([names.index(name) for name in parts.strata or ()])[self.part]
            sizes = np.bincount(codes, each, minlength=len(names))
            if strange := [name for name in names if name not in population]:
                raise InputError("population", f"it does not tell how large {strange[0]!r} is.")
            shares = np.array([float(population[name]) for name in names])
            factor = np.where(sizes > 0, shares / np.maximum(sizes, 1e-300), 0.0)
            factor *= sizes.sum() / shares.sum()
            each = factor[codes] * (1.0 if each is None else each)
        priors = design.class_priors
        if priors is None and design.strata == "class" and isinstance(population, Mapping):
            priors = population
        if priors is None:
            return each, np.ones(2)
        labels = (self.scores.neg_label, self.scores.pos_label)
        sizes = np.bincount(self.positive, each, minlength=2)
        if not sizes.all():  # there is nothing to weigh the one class against
            return each, np.ones(2)
        shares = np.array([float(_prior(priors, label, at)) for at, label in enumerate(labels)])
        return each, shares / shares.sum() / (sizes / sizes.sum())


def _prior(priors: Any, label: Label, at: int) -> float:
    return float(priors[label] if isinstance(priors, Mapping) else priors[at])


@dataclass(frozen=True)
class _Steps:
    """The scores of a model in steps between which it may be cut, from the highest.

    Attributes
    ----------
    values : ndarray
        The distinct scores, highest first.
    bounds : ndarray of int
        Where among them each step begins, and the number of all.
    """

    values: Floats
    bounds: NDArray[np.intp]

    @property
    def every(self) -> bool:
        """Whether each distinct score is a step of its own."""
        return len(self.bounds) == len(self.values) + 1

    @classmethod
    def of(cls, values: Floats, ranks: NDArray[Any], positive: Booleans) -> _Steps:
        """Divide the scores; of very many only where it can matter.

        The cheapest cut is beside a row of the rarer class. Places in between are there for the
        smooth estimate, closer together in the tails.
        """
        size = len(values)
        if size <= MOST_STEPS:
            return cls(values, np.arange(size + 1))
        rare = positive if 2 * int(positive.sum()) <= len(positive) else ~positive
        there = np.zeros(size, dtype=bool)
        there[ranks[rare]] = True
        beside = np.flatnonzero(there)
        thinned = beside[:: max(1, 4 * len(beside) // MOST_STEPS)]
        rows = np.arange(1, size + 1)
        if size < len(ranks):
            rows = np.cumsum(np.bincount(ranks, minlength=size))
        places = ndtr(np.linspace(-6, 6, MOST_STEPS // 4)) * rows[-1]
        between = np.searchsorted(rows, places)
        bounds = np.concatenate([[0, size], thinned, thinned + 1, between])
        return cls(values, np.unique(np.clip(bounds, 0, size)))

    def tables(
        self, ranks: NDArray[Any], positive: Booleans, folds: Folds, count: int, each: Floats | None
    ) -> Floats:
        """Return the rows, or sums of weights, by class, fold and step."""
        steps = len(self.bounds) - 1
        step = ranks if self.every else _step_of(self.bounds)[ranks]
        key = positive.astype(np.int32)
        key *= count
        key += folds
        key *= steps
        key += step
        sums = np.bincount(key, each, minlength=2 * count * steps)
        return sums.reshape(2, count, steps).astype(np.float64)

    def threshold(self, cut: int) -> float:
        """Return a short number between the scores above a cut and those below, near the middle.

        It decides as the middle does, and can be printed and typed as it is.
        """
        return _short(_midway(self.values, int(self.bounds[cut])), self.values)


def _step_of(bounds: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))


def _midway(values: Floats, rank: int) -> float:
    """Return the score that has the first `rank` of the distinct scores at or above it."""
    if rank == 0:
        return np.inf
    if rank == len(values):
        return -np.inf
    above, below = float(values[rank - 1]), float(values[rank])
    middle = above / 2 + below / 2
    return middle if below < middle <= above else above


def choose(scores: JointScores, costs: CostMatrix, design: Design, choosing: Choosing) -> Chosen:
    """Choose a threshold for each model that has scores.

    Parameters
    ----------
    scores : JointScores
        The scores and decisions of the models, row by row.
    costs : CostMatrix
        What decisions cost.
    design : Design
        The class priors, and the population of the strata.
    choosing : Choosing
        How.
    """
    task = task_of(scores, costs, design, choosing)
    rows = task.rows
    found, in_sample, held_out, undecided = {}, {}, {}, {}

    def add(column: str, result: tuple[Threshold, Any, Any]) -> None:
        found[column], deployed, fitted = result
        in_sample[column], held_out[column] = task.codes(deployed), task.codes(fitted)

    for at, name in enumerate(scores.names):
        chosen = task.model(at, name)
        if isinstance(chosen, str):
            undecided[name] = chosen
        else:
            add(f"{name}@", chosen)
    for name, value in choosing.fixed:
        add(f"{name}@{value!r}", task.stated(name, value))
    given = dict(zip(scores.deciding, rows.decided, strict=True))
    return Chosen(
        found,
        _joint(rows, {**given, **held_out}, costs),
        _joint(rows, {**given, **in_sample}, costs),
        undecided,
    )


def task_of(scores: JointScores, costs: CostMatrix, design: Design, choosing: Choosing) -> _Task:
    """Return the choice that is to be made for each model; parameters are those of `choose`."""
    rows = _Rows.of(scores)
    values = costs.values_for((scores.neg_label, scores.pos_label), costs.decisions)
    order = np.argsort(values[:, 1] - values[:, 0], kind="stable")  # from the highest scores
    other = None if choosing.validation is None else _Rows.of(choosing.validation)
    if other is not None and _same_rows(rows, other):
        raise InputError(
            "validation",
            "most of the rows that thresholds are to be judged by are among them.",
            "Give other rows, or none: then thresholds are judged on folds.",
        )
    each, by_class = (other or rows).class_weights(design)
    weighted = values[order] * by_class
    named = costs.labels, costs.decisions
    return _Task(rows, other, *named, order, weighted, each, choosing, by_class)


def _same_rows(one: _Rows, other: _Rows) -> bool:
    """Tell whether most rows of a table are in another, by what both tell of them.

    Where many rows are alike, as with few distinct scores, only if all are: chance explains less.
    """
    names = [name for name in one.scores.names if name in other.scores.names]
    if not names:
        return False
    first, second = (_as_text(rows, names) for rows in (one, other))
    if len(np.unique(first)) < SAME * len(first):
        return len(first) == len(second) and np.array_equal(np.sort(first), np.sort(second))
    return bool(np.isin(first, second).mean() > SAME)


def _as_text(rows: _Rows, names: Sequence[str]) -> NDArray[np.void]:
    """Return the scores of some models and the class of each row as one value."""
    scores = rows.scores
    places = [scores.names.index(name) for name in names]
    columns = [scores.thresholds[at][rows.ranks[at]].astype(np.float64) + 0.0 for at in places]
    table = np.stack([*columns, rows.positive.astype(np.float64)], axis=1)
    return np.ascontiguousarray(table).view(np.dtype((np.void, 8 * table.shape[1])))[:, 0]


def _joint(rows: _Rows, columns: Mapping[str, Codes], costs: CostMatrix) -> JointConfusion:
    scores = rows.scores
    places = [costs.labels.index(label) for label in (scores.neg_label, scores.pos_label)]
    return JointConfusion.from_codes(
        np.array(places)[rows.positive.astype(np.intp)],
        columns,
        labels=costs.labels,
        decisions=costs.decisions,
        amounts=rows.weights,
        part=rows.part,
        parts=scores.parts,
    )


@dataclass(eq=False)
class _Task:
    """The choice for one model after the other on the same rows."""

    rows: _Rows
    other: _Rows | None
    labels: Sequence[Label]
    decisions: Sequence[Label]
    order: NDArray[np.intp]
    costs: Floats
    each: Floats | None
    choosing: Choosing
    by_class: Floats

    def __post_init__(self) -> None:
        chosen_on = self.rows if self.other is None else self.other
        self.lacking = chosen_on.too_few()
        self.dealt: Folds | None = None
        self.weight = 1.0
        if self.each is not None:
            self.weight = float((self.each**2).sum() / self.each.sum())

    def codes(self, places: NDArray[Any]) -> Codes:
        """Return decisions by their positions, from those in the order of scores."""
        if len(self.order) == 2:  # noqa: PLR2004 - looking them up takes thirty times as long
            return np.asarray(1 - places if self.order[0] else places)
        return np.asarray(self.order.astype(np.int16)[places])

    def model(self, at: int, name: str) -> Any:
        """Return the threshold of a model and what it decides, in sample and held out; or why not.

        Decisions are positions in the order of scores.
        """
        values, ranks = self.rows.scores.thresholds[at], self.rows.ranks[at]
        if self.lacking:
            return self._by_costs(name, values, ranks)
        if self.other is not None:
            return self._on_others(name, values, ranks)
        return self._cross_fitted(name, values, ranks)

    def stated(self, name: str, threshold: float) -> tuple[Threshold, Any, Any]:
        """Return a threshold that was stated, and what it decides."""
        scores = self.rows.scores
        if name not in scores.names:
            raise InputError(
                f"{name}@{threshold:g}", f"the model {name!r} has no scores to apply it to."
            )
        if len(self.costs) != 2:  # noqa: PLR2004
            raise InputError(f"{name}@{threshold:g}", "one threshold is for two decisions.")
        at = scores.names.index(name)
        ends = np.array([_above(scores.thresholds[at], threshold)])
        return self._same(name, ends, [threshold], self.rows.ranks[at], "")

    def _cross_fitted(self, name: str, values: Floats, ranks: NDArray[Any]) -> Any:
        rows, count = self.rows, self.choosing.folds_of(len(self.rows.positive))
        if self.dealt is None:
            self.dealt = rows.folds(self.choosing, self.labels, len(self.decisions))
        steps = _Steps.of(values, ranks, rows.positive)
        tables = steps.tables(ranks, rows.positive, self.dealt, count, self.each)
        total = tables.sum(axis=1, keepdims=True)
        training = np.concatenate([np.maximum(total - tables, 0), total], axis=1)
        chosen = self._cuts(ScoreTables(training[1], training[0], self.weight))
        *by_fold, deployed = chosen
        ends = np.stack(
            [
                _ends(steps, cuts, table)
                for cuts, table in zip(by_fold, training.sum(axis=0), strict=False)
            ]
        )
        held_out = _places(ranks, [each[self.dealt] for each in ends.T.astype(ranks.dtype)])
        threshold = self._threshold(name, [steps.threshold(cut) for cut in deployed])
        within = _equally_good(steps, deployed, total[:, 0], self.costs, self.weight)
        wrong = _reversed(total[:, 0], self.weight)
        threshold = replace(threshold, cross_fitted=True, range_=within, reversed_=wrong)
        places = _places(ranks, steps.bounds[deployed])
        return threshold, places, held_out

    def _cuts(self, tables: ScoreTables) -> NDArray[np.intp]:
        return cheapest_cuts(tables, self.costs, self.allowed(tables))

    def allowed(self, tables: ScoreTables) -> Booleans | None:
        """Return the cuts that keep within the limits where the models are used."""
        return _allowed(tables, self.choosing, self.costs, self.by_class)

    def _on_others(self, name: str, values: Floats, ranks: NDArray[Any]) -> Any:
        """Choose the threshold on the rows of another file."""
        other = self.other
        if other is None or name not in other.scores.names:
            return "the validation rows have no scores of it"
        place = other.scores.names.index(name)
        own, theirs = other.scores.thresholds[place], other.ranks[place]
        steps = _Steps.of(own, theirs, other.positive)
        nothing = np.zeros(len(theirs), dtype=np.int8)
        tables = steps.tables(theirs, other.positive, nothing, 1, self.each)
        cuts = self._cuts(ScoreTables(tables[1], tables[0], self.weight))[0]
        thresholds = [steps.threshold(cut) for cut in cuts]
        ends = np.array([_above(values, each) for each in thresholds])
        return self._same(name, ends, thresholds, ranks, "")

    def _by_costs(self, name: str, values: Floats, ranks: NDArray[Any]) -> Any:
        """Take scores as probabilities, where there are too few rows to choose on."""
        if values[0] > 1 or values[-1] < 0:
            return f"{self.lacking} to choose a threshold on, and its scores are not probabilities"
        thresholds = [_short(each, values) for each in expected_thresholds(self.costs)]
        ends = np.array([_above(values, each) for each in thresholds])
        reason = f"{self.lacking}: its scores are taken as probabilities"
        return self._same(name, ends, thresholds, ranks, reason)

    def _same(
        self,
        name: str,
        ends: NDArray[Any],
        thresholds: Sequence[float],
        ranks: NDArray[Any],
        reason: str,
    ) -> tuple[Threshold, Any, Any]:
        """Return a threshold that the rows did not choose."""
        places = _places(ranks, ends)
        return replace(self._threshold(name, thresholds), reason=reason), places, places

    def _threshold(self, name: str, thresholds: Sequence[float]) -> Threshold:
        by_score = [self.decisions[place] for place in self.order]
        cuts, last = [], np.inf
        for decision, value in zip(by_score, thresholds, strict=False):
            if value < last or (value == np.inf and len(thresholds) == 1):
                cuts.append((decision, float(value)))
            last = value
        return Threshold(name, tuple(cuts), by_score[-1], cross_fitted=False)


def _places(ranks: NDArray[Any], ends: Sequence[Any] | NDArray[Any]) -> NDArray[np.int8]:
    """Return the place of each row's decision in the order of scores: how many ends it is past."""
    places = np.zeros(len(ranks), dtype=np.int8)
    for end in ends:
        places += ranks >= end
    return places


def _short(threshold: float, values: Floats) -> float:
    """Return a threshold with few digits that decides the same on these scores."""
    if not np.isfinite(threshold):
        return threshold
    short = (float(f"{threshold:.{digits}g}") for digits in range(4, 17))
    same = _above(values, threshold)
    return next((each for each in short if _above(values, each) == same), threshold)


def _above(values: Floats, threshold: float) -> int:
    """Return how many of the distinct scores are at or above a threshold."""
    return len(values) - int(np.searchsorted(values[::-1], threshold))


def _ends(steps: _Steps, cuts: NDArray[Any], table: Floats) -> NDArray[np.intp]:
    """Return where decisions end among all distinct scores, when some rows chose the cuts.

    The threshold is midway between scores of those rows; other rows may be on either side of it.
    """
    if not steps.every:  # so many scores that it makes no difference
        return np.asarray(steps.bounds[cuts])
    there = np.flatnonzero(table > 0)
    seen = steps.values[there]
    ranks = np.searchsorted(there, cuts)
    return np.array([_above(steps.values, _midway(seen, int(rank))) for rank in ranks])


def _allowed(
    tables: ScoreTables, choosing: Choosing, costs: Floats, by_class: Floats | None = None
) -> Booleans | None:
    """Return the cuts that keep within the limits; rows of the classes may count unequally."""
    limits = choosing.limits
    if not limits:
        return None
    if len(costs) != 2:  # noqa: PLR2004
        raise InputError(", ".join(limits), "limits are for two decisions, the costs have more.")
    zero = np.zeros((len(tables.positives), 1))
    sums = [
        np.concatenate([zero, np.cumsum(side, axis=1)], axis=1)
        for side in (tables.negatives, tables.positives)
    ]
    fpr, recall = (each / np.maximum(each[:, -1:], 1e-300) for each in sums)
    room = 1e-12
    keep = np.ones_like(fpr, dtype=bool)
    if "min_recall" in limits:
        keep &= recall >= limits["min_recall"] - room
    if "max_fpr" in limits:
        keep &= fpr <= limits["max_fpr"] + room
    if "capacity" in limits:
        times = np.ones(2) if by_class is None else by_class
        both = times[0] * sums[0] + times[1] * sums[1]
        alarms = both / both[:, -1:]
        keep &= alarms <= limits["capacity"] + room
    if not keep.any(axis=1).all():
        raise InputError(", ".join(limits), "no threshold keeps within all of these limits.")
    return keep


def _reversed(table: Floats, weight: float) -> float | None:
    """Return the area under the ROC curve where it is below one half beyond chance."""
    negatives, positives = table
    sizes = table.sum(axis=1)
    above = np.cumsum(positives) - positives / 2  # positives that score higher, half of equals
    area = float(above @ negatives) / float(sizes.prod())
    error = np.sqrt(weight * sizes.sum() / (12 * sizes.prod()))
    return area if area < 0.5 - CLEARLY * error else None


def _equally_good(
    steps: _Steps, cuts: NDArray[Any], table: Floats, costs: Floats, weight: float
) -> tuple[float, float] | None:
    """Return the range of thresholds not shown to cost more on these rows than the chosen one.

    The test of a cut is the score test on the rows between: of r rows, were both cuts to cost the
    same, the difference has the variance r c₀ c₁; one row more of each class is added.
    """
    if len(cuts) != 1:
        return None
    sums = [np.concatenate([[0.0], np.cumsum(side)]) for side in table]
    loss = costs[0] - costs[1]  # of the first decision instead of the second, for each class
    moved = [each - each[cuts[0]] for each in sums]
    more = loss[0] * moved[0] + loss[1] * moved[1]
    rows = np.abs(moved[0]) + np.abs(moved[1])
    variance = weight * (rows * abs(loss[0] * loss[1]) + weight * (loss**2).sum())
    good = np.flatnonzero(more <= TWO_ERRORS * np.sqrt(variance))
    return steps.threshold(int(good[-1])), steps.threshold(int(good[0]))
