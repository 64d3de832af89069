"""Single rows of a score table, the steps of scores between them, and their folds.

Rows are ordered by their content, and folds are assigned along this order at random. Rows of the
same content may be in different folds, and which of them is in which makes no difference. Swapping
the positive and the negative class changes no fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from stakes._core.labels import Label
from stakes._core.typing import Booleans, Floats
from stakes._core.validate import LARGEST
from stakes.errors import InputError
from stakes.infer._outcomes import Design
from stakes.predictions.scores import JointScores

Keys = NDArray[np.uint64]
Folds = NDArray[np.int8]

FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


def row_keys(
    n: int, two_sided: Sequence[tuple[Any, int, NDArray[Any]]], others: Sequence[Any] = ()
) -> Keys:
    """Return a number for each row that depends on its content, apart from its class.

    Parameters
    ----------
    n : int
        The number of rows.
    two_sided : sequence of (ndarray of int, int, ndarray of bool)
        Positions, their number, and the rows whose positions count from the first one: those of one
        class. Positions of the other class count from the last one, so that swapping the classes,
        which reverses the positions, changes nothing.
    others : sequence of ndarray
        Other numbers, such as weights.
    """
    key = np.zeros(n, dtype=np.uint64)
    for values, size, forward in two_sided:
        positions = np.asarray(values).astype(np.uint64)
        key = _mixed(key, np.where(forward, positions, np.uint64(size - 1) - positions))
    for values in others:
        numbers = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
        key = _mixed(key, numbers)
    return key


def _mixed(key: Keys, values: Keys) -> Keys:
    key = (key ^ values) * FACTOR
    return key ^ (key >> SHIFT)


def name_numbers(names: Sequence[Any]) -> NDArray[np.float64]:
    """Return a number for each name, the same in every run."""
    return np.array([crc32(repr(name).encode()) for name in names], dtype=np.float64)


def deal(keys: Keys, classes: NDArray[Any], folds: int, seed: int) -> Folds:
    """Return the fold of each row; every class is spread evenly.

    Parameters
    ----------
    keys : ndarray
        The content of each row.
    classes : ndarray of bool
        The class of each row.
    folds : int
        The number of folds.
    seed : int
        The random seed.
    """
    dealt = np.empty(len(keys), dtype=np.int8)
    for each in (False, True):
        rows = np.flatnonzero(classes == each)
        order = rows[np.argsort(keys[rows])]  # rows of one key are alike: their order is irrelevant
        turns = _turns(len(rows), folds)
        dealt[order] = np.random.default_rng(seed).permutation(turns)
    return dealt


def _turns(n: int, folds: int) -> Folds:
    """Return n fold numbers that cycle through the folds."""
    return np.tile(np.arange(folds, dtype=np.int8), n // folds + 1)[:n]


def deal_ranked(ranks: NDArray[np.integer], classes: NDArray[Any], folds: int, seed: int) -> Folds:
    """Return the fold of each row where no two have the same score, so that ranks give the order.

    No sorting is needed. Each class counts from its own end of the scores, so that swapping the
    positive and the negative class changes no fold.
    """
    by_rank = np.empty(len(ranks), dtype=bool)
    by_rank[ranks] = classes
    dealt = np.empty(len(ranks), dtype=np.int8)
    for each in (False, True):
        places = by_rank == each
        turns = _turns(int(places.sum()), folds)
        shuffled = np.random.default_rng(seed).permutation(turns)
        dealt[places] = shuffled if each else shuffled[::-1]
    return np.asarray(dealt[ranks])


def deal_groups(
    keys: Keys, classes: NDArray[Any], groups: NDArray[np.intp], folds: int, seed: int
) -> Folds:
    """Return the fold of each row, the same for all rows of a group.

    Groups that have rows of the rarer class are spread evenly, and so are the others.
    """
    rare = _rarer(keys, classes)
    size = int(groups.max()) + 1
    content = np.zeros(size, dtype=np.uint64)
    np.add.at(content, groups, _mixed(keys, rare.astype(np.uint64)))
    with_rare = np.zeros(size, dtype=bool)
    with_rare[groups[rare]] = True
    return deal(content, with_rare, folds, seed)[groups]


def _rarer(keys: Keys, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows are of the rarer class; the content decides if both are as frequent."""
    flags = np.asarray(classes, dtype=bool)
    found = [(int(side.sum()), int(keys[side].sum())) for side in (flags, ~flags)]
    return flags if found[0] <= found[1] else ~flags


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

    def folds(self, count: int, seed: int, labels: Sequence[Label], decisions: int) -> Folds:
        """Return the fold of each row; decisions are positions in the order of the labels."""
        scores, groups = self.scores, self.groups
        for ranks, cuts in zip(self.ranks, scores.thresholds, strict=True):
            if groups is None and len(cuts) == len(ranks):
                return deal_ranked(ranks, self.positive, count, seed)
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
            return deal(keys, self.positive, count, seed)
        return deal_groups(keys, self.positive, groups, count, seed)

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
        each = self.weights
        parts, population = self.scores.parts, design.population
        by_name = parts is not None and parts.strata is not None and isinstance(population, Mapping)
        if by_name and self.part is not None and parts is not None:
            names = list(dict.fromkeys(parts.strata or ()))
            place = {name: index for index, name in enumerate(names)}
            codes = np.array([place[name] for name in parts.strata or ()])[self.part]
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
        if not sizes.all():  # only one class occurs, so it has no relative weight
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

        It leads to the same decisions as the middle, and can be printed and typed exactly.
        """
        return short(midway(self.values, int(self.bounds[cut])), self.values)


def _step_of(bounds: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))


def midway(values: Floats, rank: int) -> float:
    """Return the score that has the first `rank` of the distinct scores at or above it."""
    if rank == 0:
        return np.inf
    if rank == len(values):
        return -np.inf
    beside: list[float] = np.clip(values[rank - 1 : rank + 1], -LARGEST, LARGEST).tolist()
    higher, lower = beside
    middle = higher / 2 + lower / 2
    return middle if lower < middle <= higher else higher


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


def ends_of(steps: Steps, cuts: NDArray[Any], table: Floats) -> NDArray[np.intp]:
    """Return where decisions end among all distinct scores, when some rows chose the cuts.

    The threshold is midway between scores of those rows; other rows may be on either side of it.
    """
    if not steps.every:  # so many scores that it makes no difference
        return np.asarray(steps.bounds[cuts])
    there = np.flatnonzero(table > 0)
    seen = steps.values[there]
    ranks = np.searchsorted(there, cuts)
    return np.array([above(steps.values, midway(seen, int(rank))) for rank in ranks])


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
