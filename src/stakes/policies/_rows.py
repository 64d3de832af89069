"""Single rows of a score table, the steps of scores between them, and their folds.

Rows are ordered by the scores of a model and then by their other content, and folds are assigned
along this order in a fixed random sequence (STATISTICS §12). Rows of the same content may be in
different folds, and which of them is in which makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from stakes._core.labels import Label
from stakes._core.typing import Booleans, Floats
from stakes._core.validate import LARGEST
from stakes._core.values import readonly
from stakes.counts import GroupedConfusion
from stakes.errors import InputError
from stakes.infer._outcomes import Design
from stakes.infer._shares import shares_per_row
from stakes.predictions.scores import JointScores

Folds = NDArray[np.int8]

FOLDS = 20
"""Number of folds (STATISTICS §12). Fewer let thresholds of small test sets vary more."""


@lru_cache(maxsize=8)
def turns(n: int, folds: int = FOLDS) -> Folds:
    """Return the fold of each of n places, in the fixed random order of §12.

    Dealing along the score without the permutation makes costs 2.5 to 4.4% too low. RandomState is
    a stream that numpy keeps unchanged.
    """
    return readonly(np.random.RandomState(0).permutation((np.arange(n) % folds).astype(np.int8)))


Keys = Callable[[NDArray[np.intp]], list[NDArray[Any]]]


def in_order(rows: NDArray[np.intp], keys: Keys) -> NDArray[np.intp]:
    """Return rows in the order of their keys: ties in the first by the others in turn.

    The other keys may be very many, and are computed for tied rows only.
    """
    first = keys(rows)[0]
    order = rows[np.argsort(first, kind="stable")]
    first = np.sort(first)
    same = np.append(False, first[1:] == first[:-1])
    if same.any():
        tied = same | np.append(same[1:], False)
        order[tied] = order[tied][np.lexsort(keys(order[tied])[::-1])]  # the last sorts first
    return order


def deal_groups(
    order: NDArray[np.intp],
    ranks: NDArray[Any],
    rare: Booleans,
    groups: NDArray[np.intp],
    places: NDArray[np.intp],
) -> Folds:
    """Return the fold of each row, the same for all rows of a group.

    Parameters
    ----------
    order : ndarray of int
        The rows that are dealt, those of the rarer class first, each class in its order.
    ranks : ndarray of int
        The rank of each row's score, counted from the end that its class starts from.
    rare : ndarray of bool
        The rows of the rarer class.
    groups : ndarray of int
        The group of each row.
    places : ndarray of int
        The place of each row in `order`, the same for rows that are alike.

    Returns
    -------
    ndarray of int
        Groups with a row of the rarer class are one set, the others another. Each set is in the
        order of the number of rows of either class, the sums of their ranks, and their rows.
    """
    _, codes = np.unique(groups[order], return_inverse=True)
    size = int(codes.max()) + 1
    side, rank = rare[order], ranks[order].astype(np.int64)
    keys = [np.bincount(codes[chosen], minlength=size) for chosen in (side, ~side)]
    for chosen in (side, ~side):
        sums = np.zeros(size, dtype=np.int64)
        np.add.at(sums, codes[chosen], rank[chosen])
        keys.append(sums)
    by_group = np.argsort(codes, kind="stable")  # the rows of each group, in their order
    starts = np.searchsorted(codes[by_group], np.arange(size + 1))
    _, kind = np.unique(np.stack(keys), axis=1, return_inverse=True)
    kind = kind.ravel()
    content = np.zeros(size, dtype=np.int64)
    shared = np.bincount(kind)[kind] > 1
    lengths = np.diff(starts)
    for length in np.unique(lengths[shared]):  # groups of one size, compared row by row
        alike = np.flatnonzero(shared & (lengths == length))
        rows = by_group[starts[alike][:, np.newaxis] + np.arange(length)]
        _, content[alike] = np.unique(places[order][rows], axis=0, return_inverse=True)
    order_of_groups = np.lexsort([content, *keys[::-1]])
    of_group = np.zeros(size, dtype=np.int8)
    folds = min(FOLDS, size)
    for has_rare in (True, False):
        members = order_of_groups[(keys[0][order_of_groups] > 0) == has_rare]
        of_group[members] = turns(len(members), folds)
    dealt = np.zeros(len(groups), dtype=np.int8)
    dealt[order] = of_group[codes]
    return dealt


def _alike(
    order: NDArray[np.intp], keys: Sequence[NDArray[Any]], sides: Booleans
) -> NDArray[np.intp]:
    """Return the place of each row in an order, the same for rows that are alike in all keys."""
    new = np.zeros(len(order), dtype=bool)
    for key in (sides[order], *keys):
        new[1:] |= key[1:] != key[:-1]
    places = np.zeros(len(sides), dtype=np.intp)
    places[order] = np.cumsum(new)
    return places


ENOUGH = 10
"""Minimum number of rows of each class, or of groups with such rows, to choose a threshold on."""

MOST_STEPS = 10_000
"""Maximum number of distinct scores that are all possible cuts; of more, only those that matter."""

SAME = 0.5
"""Share of test rows among the validation rows above which both count as the same rows."""

OTHER_SCALE = 20
"""Ratio of the widths of two score ranges above which they are not the same score."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The single rows of a score table."""

    scores: JointScores
    positive: Booleans
    ranks: NDArray[np.int32]
    decided: NDArray[Any]
    weights: Floats | None
    part: NDArray[np.intp] | None

    @classmethod
    def of(cls, scores: JointScores) -> Rows:
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

    def dealt(
        self, at: int, places: NDArray[np.signedinteger], each: Floats | None, costs: Floats | None
    ) -> tuple[Folds, NDArray[np.intp]]:
        """Return the fold of each row for a model, and the order in which rows are dealt.

        Positives stand from the highest score of the model to the lowest, negatives from the
        lowest. Rows with equal scores stand by their own weight, costs and stratum, and then by the
        columns of the other models; rows alike in all are interchangeable. So the folds depend on
        no order of rows, no names and no seed, and the cost of a model on no other model.

        Parameters
        ----------
        at : int
            The place of the model.
        places : ndarray of int
            The place of each decision in the order of scores.
        each : ndarray or None
            The weights of rows; rows of weight 0 are not dealt.
        costs : ndarray or None
            The costs of rows by decision, in the order of scores.
        """
        there = np.ones(len(self.positive), dtype=bool) if each is None else each > 0
        sides = self.positive if self._positives_rarer(there) else ~self.positive
        chosen = [np.flatnonzero(there & side) for side in (sides, ~sides)]
        last = len(self.scores.thresholds[at]) - 1
        ranks = np.where(self.positive, self.ranks[at], last - self.ranks[at])

        def first(rows: NDArray[np.intp]) -> list[NDArray[Any]]:
            return [ranks[rows]]

        def every(rows: NDArray[np.intp]) -> list[NDArray[Any]]:
            return [ranks[rows], *self._others(at, rows, places, costs)]

        keys = first if last + 1 == len(ranks) else every
        order = np.concatenate([in_order(rows, keys) for rows in chosen])
        groups = self.groups
        if groups is not None:
            return deal_groups(
                order, ranks, sides, groups, _alike(order, every(order), sides)
            ), order
        dealt = np.zeros(len(ranks), dtype=np.int8)
        dealt[order] = np.concatenate([turns(len(rows)) for rows in chosen])
        return dealt, order

    def _others(
        self,
        at: int,
        rows: NDArray[np.intp],
        places: NDArray[np.signedinteger],
        costs: Floats | None,
    ) -> list[NDArray[Any]]:
        """Return what orders rows of equal score: what belongs to them, then other columns."""
        forward = self.positive[rows]
        found: list[NDArray[Any]] = [] if self.weights is None else [self.weights[rows]]
        found += [] if costs is None else [*costs[rows].T]
        found += [] if self.strata is None else [self.strata[rows]]
        for k, ranks in enumerate(self.ranks):
            if k != at:
                found.append(np.where(forward, ranks[rows], -ranks[rows]))
        for decided in self.decided:
            value = places[decided[rows]]
            found.append(np.where(forward, value, -value))
        return found

    def _positives_rarer(self, there: Booleans) -> bool:
        """Tell whether the positive class is the rarer one, or as frequent as the other."""
        return 2 * int((self.positive & there).sum()) <= int(there.sum())

    @cached_property
    def strata(self) -> NDArray[np.intp] | None:
        """The stratum of each row, as its place among the names in their order."""
        parts = self.scores.parts
        if self.part is None or parts is None or parts.strata is None:
            return None
        names = sorted(set(parts.strata), key=lambda name: (str(type(name)), name))
        place = {name: index for index, name in enumerate(names)}
        return np.array([place[name] for name in parts.strata])[self.part]

    def too_few(self, each: Floats | None) -> str:
        """State which class has too few rows, or groups with such rows; empty if none has.

        Rows whose weight in `each` is zero do not count.
        """
        groups = self.groups
        for wanted, label in ((True, self.scores.pos_label), (False, self.scores.neg_label)):
            rows = self.positive == wanted
            if each is not None:
                rows &= each > 0
            found = int(rows.sum()) if groups is None else len(np.unique(groups[rows]))
            if found < ENOUGH:
                what = "row{}" if groups is None else "group{} with rows"
                number = {0: "are no", 1: "is only 1"}.get(found, f"are only {found}")
                rows_of = what.format("" if found == 1 else "s")
                weighing = "" if each is None or each.all() else " whose weight is not zero"
                return f"there {number} {rows_of} of the class {label!r}{weighing}"
        return ""

    def class_weights(self, design: Design) -> tuple[Floats | None, Floats]:
        """Return the weight of each row, and of each class, in the target population.

        The weights of rows are None if all are equal.
        """
        each, parts, population = self.weights, self.scores.parts, design.population
        priors, labels = design.class_priors, (self.scores.neg_label, self.scores.pos_label)
        if self.part is not None and parts is not None and parts.strata is not None:
            if population is None and priors is None:
                return each, np.ones(2)
            table = self.scores.single(self.scores.names[0]).confusion_at(np.inf)
            assert isinstance(table, GroupedConfusion)  # noqa: S101 - there are strata
            shares = shares_per_row(table, design)[self.part, self.positive.astype(np.intp)]
            return shares * float(table.n) * (1.0 if each is None else each), np.ones(2)
        if priors is None and design.strata == "class" and isinstance(population, Mapping):
            priors = population
        sizes = np.bincount(self.positive, each, minlength=2)
        if priors is None or not sizes.all():  # one class alone has no relative weight
            return each, np.ones(2)
        shares = np.array([float(_prior(priors, label, at)) for at, label in enumerate(labels)])
        return each, shares / shares.sum() / (sizes / sizes.sum())


def _prior(priors: Any, label: Label, at: int) -> float:
    return float(priors[label] if isinstance(priors, Mapping) else priors[at])


@dataclass(frozen=True, eq=False)
class Steps:
    """The scores of a model, divided by the possible cuts into steps, highest first.

    Attributes
    ----------
    values : ndarray
        The distinct scores, highest first.
    bounds : ndarray of int
        The position of the first score of each step, and the number of scores.
    """

    values: Floats
    bounds: NDArray[np.intp]

    @property
    def every(self) -> bool:
        """Whether each distinct score is a step of its own."""
        return len(self.bounds) == len(self.values) + 1

    @classmethod
    def of(cls, values: Floats, ranks: NDArray[Any], positive: Booleans) -> Steps:
        """Divide the scores; of very many, only where a cut can matter.

        The cheapest cut is next to a row of the rarer class. Further cuts, closer together in the
        tails, serve the smooth estimate.
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
        """Return the rows, or sums of weights, by class, fold and step.

        Sums of weights depend on the order of the rows in the last digit.
        """
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

        It leads to the same decisions as the middle, and can be printed and typed exactly.
        """
        return short(float(midway(self.values, self.bounds[cut])), self.values)


def _step_of(bounds: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))


def midway(values: Floats, rank: Any) -> Floats:
    """Return the scores that have the first `rank` of the distinct scores at or above them."""
    last = len(values) - 1
    beside = [values[np.clip(each, 0, last)] for each in (np.subtract(rank, 1), rank)]
    higher, lower = (np.clip(each, -LARGEST, LARGEST) for each in beside)
    middle = higher / 2 + lower / 2
    found = np.where((lower < middle) & (middle <= higher), middle, higher)
    found = np.where(np.greater(rank, 0), found, np.inf)
    return np.where(np.less_equal(rank, last), found, -np.inf)


def same_rows(one: Rows, other: Rows) -> bool:
    """Tell whether most rows of a table are in another, by their classes and common scores.

    Where many rows are alike, as with few distinct scores, all must be: most may be by chance.
    """
    names = [name for name in one.scores.names if name in other.scores.names]
    if not names:
        return False
    first, second = (_as_text(rows, names) for rows in (one, other))
    if len(np.unique(first)) < SAME * len(first):
        return len(first) == len(second) and np.array_equal(np.sort(first), np.sort(second))
    return bool(np.isin(first, second).mean() > SAME)


def _as_text(rows: Rows, names: Sequence[str]) -> NDArray[np.void]:
    """Return the scores of some models and the class of each row as one value."""
    scores = rows.scores
    places = [scores.names.index(name) for name in names]
    columns = [scores.thresholds[at][rows.ranks[at]].astype(np.float64) + 0.0 for at in places]
    table = np.stack([*columns, rows.positive.astype(np.float64)], axis=1)
    return np.ascontiguousarray(table).view(np.dtype((np.void, 8 * table.shape[1])))[:, 0]


def places_of(ranks: NDArray[Any], ends: Sequence[Any] | NDArray[Any]) -> NDArray[np.int8]:
    """Return the place of each row's decision in the order of scores: how many ends it is past."""
    places = np.zeros(len(ranks), dtype=np.int8)
    for end in ends:
        places += ranks >= end
    return places


def short(threshold: float, values: Floats) -> float:
    """Return a threshold with few digits that decides the same on these scores."""
    if not np.isfinite(threshold):
        return threshold
    written = (float(f"{threshold:.{digits}g}") for digits in range(4, 17))
    same = above(values, threshold)
    return next((each for each in written if above(values, each) == same), threshold)


def above(values: Floats, threshold: float) -> int:
    """Return how many of the distinct scores are at or above a threshold."""
    return len(values) - int(np.searchsorted(values[::-1], threshold))


def ends_of(steps: Steps, cuts: NDArray[Any], there: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where decisions end among all distinct scores, when some rows chose the cuts.

    The threshold is midway between scores of those rows, whose steps are `there`; other rows may be
    on either side of it.
    """
    if not steps.every:  # so many scores that it makes no difference
        return np.asarray(steps.bounds[cuts])
    edges = midway(steps.values[there], np.searchsorted(there, cuts))
    return len(steps.values) - np.searchsorted(steps.values[::-1], edges)


def check_scales(scores: JointScores, others: JointScores) -> None:
    """Raise an error if the validation scores of a model are on another scale than the test rows'.

    Heavy tails make a range wider the more rows there are, so the middle of the scores must be
    wider as well. Few rows show no scale.
    """
    for name in scores.names:
        if name not in others.names:
            continue
        (rows, low, high, middle), (more, least, most, inner) = (
            _spread(each, each.names.index(name)) for each in (scores, others)
        )
        narrow, wide = sorted((high - low, most - least))
        small, large = sorted((middle, inner))
        scaled = 0 < narrow * OTHER_SCALE < wide and small * OTHER_SCALE <= large
        apart = low > most or high < least
        if min(rows, more) >= ENOUGH and (scaled or apart):
            raise InputError(
                "validation",
                f"its scores of {name!r} are from {least:g} to {most:g}, and those of the test "
                f"rows from {low:g} to {high:g}, so that they cannot be the same score.",
                "Give both on the same scale.",
            )


def _spread(scores: JointScores, place: int) -> tuple[int, float, float, float]:
    """Return the number of rows, the lowest and highest finite score, and the middle 80%'s width.

    All are zero if there are no finite scores.
    """
    cuts, ranks, amounts = scores.thresholds[place], scores.ranks[place], scores.amounts
    each = np.bincount(ranks, amounts, minlength=len(cuts))
    finite = np.abs(cuts) < LARGEST
    cuts, each = cuts[finite], each[finite]
    if not len(cuts):
        return 0, 0.0, 0.0, 0.0
    single = amounts is None or scores.squares is not None
    rows = len(ranks) if single else int(each.sum())
    upper, lower = cuts[np.searchsorted(np.cumsum(each), np.array([0.1, 0.9]) * each.sum())]
    return rows, float(cuts[-1]), float(cuts[0]), float(upper - lower)
