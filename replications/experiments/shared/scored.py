"""Test sets with scores for which the true cost of every threshold has a closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, stdtr

from stakes import CostMatrix, study_of
from stakes._core.typing import Floats
from stakes.study import Study

Flags = NDArray[np.bool_]
Rng = np.random.Generator

SIZES, PREVALENCES, RATIOS = (200, 1000, 10_000), (0.01, 0.05, 0.3), (1.0, 20.0, 500.0)
APART = 1.5
"""Default distance between the mean values of positives and negatives, in standard deviations."""

GRID = np.linspace(-40.0, 40.0, 160_001)
LEVELS = np.array([-1.0, -0.3, 0.3, 0.8, 1.3, 2.0, 2.8])
STEPS = 50
MODEL = "model"
FEWEST_ROWS = 10
"""Fewest rows of a class, or groups with such rows, for which a threshold is chosen."""


# Distributions of scores.


@dataclass(frozen=True)
class Bell:
    """A component of a class: normal values or, given degrees of freedom, Student's t values."""

    share: float = 1.0
    mean: float = 0.0
    sd: float = 1.0
    freedom: float | None = None

    def below(self, values: Any) -> Any:
        """Return the probability of lower values."""
        scaled = (np.asarray(values) - self.mean) / self.sd
        return ndtr(scaled) if self.freedom is None else stdtr(self.freedom, scaled)

    def draw(self, rng: Rng, n: int) -> Floats:
        """Draw values."""
        drawn = rng.standard_normal(n)
        if self.freedom is not None:
            drawn /= np.sqrt(rng.chisquare(self.freedom, n) / self.freedom)
        return np.asarray(self.mean + self.sd * drawn)


@dataclass(frozen=True)
class Shape:
    """A distribution of scores: a non-decreasing function of values that differ by class.

    Attributes
    ----------
    negatives, positives : sequence of Bell
        The mixtures of values from which the scores of each class are computed.
    score : callable
        ``score(values, prevalence)`` returns the scores.
    least : callable
        ``least(threshold, prevalence)`` returns the least value that scores the threshold or more.
    """

    negatives: Sequence[Bell]
    positives: Sequence[Bell]
    score: Callable[[Any, float], Any] = lambda values, _: values
    least: Callable[[Any, float], Any] = lambda threshold, _: threshold

    def below(self, values: Any) -> tuple[Any, Any]:
        """Return the share of negatives with lower values, and that of positives."""
        sides = (self.negatives, self.positives)
        no, yes = (sum(each.share * each.below(values) for each in side) for side in sides)
        return no, yes

    def draw(self, rng: Rng, positive: Flags) -> Floats:
        """Draw a value for each row."""
        found = np.empty(len(positive))
        for rows, side in ((~positive, self.negatives), (positive, self.positives)):
            places = np.flatnonzero(rows)
            part = rng.choice(len(side), len(places), p=[each.share for each in side])
            for at, each in enumerate(side):
                taken = places[part == at]
                found[taken] = each.draw(rng, len(taken))
        return found


def _plain(values: Any, prevalence: float) -> Any:
    return expit(APART * np.asarray(values) - APART**2 / 2 + logit(prevalence))


def _plain_least(threshold: Any, prevalence: float) -> Any:
    inside = np.clip(threshold, 0.0, 1.0)  # thresholds beyond all scores are infinite
    return (logit(inside) - logit(prevalence) + APART**2 / 2) / APART


def _bent(values: Any, prevalence: float) -> Any:
    return expit(2.5 * logit(_plain(values, prevalence)) - 1)


def _bent_least(threshold: Any, prevalence: float) -> Any:
    inside = np.clip(threshold, 0.0, 1.0)
    return _plain_least(expit((logit(inside) + 1) / 2.5), prevalence)


def _tied(values: Any, _: float) -> Any:
    return np.round(_plain(values, 0.5) * STEPS) / STEPS


def _tied_least(threshold: Any, _: float) -> Any:
    step = np.ceil(np.clip(threshold, -1.0, 2.0) * STEPS - 1e-9)
    return _plain_least((step - 0.5) / STEPS, 0.5)


def _coarse(values: Any, _: float) -> Any:
    return np.digitize(values, LEVELS) / len(LEVELS)


def _coarse_least(threshold: Any, _: float) -> Any:
    step = np.ceil(np.clip(threshold, -1.0, 2.0) * len(LEVELS) - 1e-9).astype(int)
    ends = np.concatenate([[-np.inf], LEVELS, [np.inf]])
    return ends[np.clip(step, 0, len(LEVELS) + 1)]


def _floored(values: Any, _: float) -> Any:
    return np.maximum(values, 0.5)


def _floored_least(threshold: Any, _: float) -> Any:
    return np.where(np.asarray(threshold) <= 0.5, -np.inf, threshold)  # noqa: PLR2004 - the floor


USUAL = ((Bell(),), (Bell(mean=APART),))
PROMISED = {
    "calibrated": Shape(*USUAL, _plain, _plain_least),
    "miscalibrated": Shape(*USUAL, _bent, _bent_least),
    "tied": Shape(*USUAL, _tied, _tied_least),
    "coarse": Shape(*USUAL, _coarse, _coarse_least),
}
HARDER = {
    "half of them the lowest": Shape(*USUAL, _floored, _floored_least),
    "Student's, 2 degrees": Shape((Bell(freedom=2),), (Bell(mean=2, freedom=2),)),
    "a fifth of the positives unseen": Shape((Bell(),), (Bell(0.8, 3.0), Bell(0.2))),
    "a tenth of the negatives as positives": Shape(
        (Bell(0.9), Bell(0.1, 2.5, 0.3)), (Bell(mean=2.5),)
    ),
    "positives on both sides": Shape((Bell(),), (Bell(mean=0.5, sd=3.0),)),
    "worth nothing": Shape((Bell(),), (Bell(),)),
    "upside down": Shape((Bell(),), (Bell(mean=-1.0),)),
    "nearly perfect": Shape((Bell(),), (Bell(mean=5.0),)),
    "separable": Shape((Bell(),), (Bell(mean=8.0),)),
}
SHAPES = PROMISED | HARDER


# Sampling of rows.


@dataclass(frozen=True)
class Scored:
    """A test set: classes and scores of its rows, with their weights or groups.

    Attributes
    ----------
    positive : ndarray of bool
        Whether each row is of the positive class.
    score : ndarray
        The score of each row.
    weights, groups : ndarray, or None
        The weight and the group of each row.
    priors : mapping, or None
        The class priors, where they are known.
    """

    positive: Flags
    score: Floats
    weights: Floats | None = None
    groups: NDArray[np.intp] | None = None
    priors: Mapping[int, float] | None = None

    @property
    def positive_share(self) -> float:
        """The weighted share of positives."""
        return float(np.average(self.positive, weights=self.weights))

    @property
    def enough(self) -> bool:
        """Whether each class has enough rows, or groups with such rows, to choose a threshold."""
        units = np.arange(len(self.positive)) if self.groups is None else self.groups
        sides = (self.positive, ~self.positive)
        return min(len(np.unique(units[side])) for side in sides) >= FEWEST_ROWS

    def study(self, costs: CostMatrix) -> Study:
        """Return the study of the rows."""
        return study_of(
            self.positive.astype(np.intp),
            {},
            costs,
            y_score={MODEL: self.score},
            pos_label=1,
            sample_weight=self.weights,
            groups=self.groups,
            class_priors=self.priors,
        )


@dataclass(frozen=True)
class Setting:
    """A problem to sample test sets from, with the true cost of every threshold.

    Attributes
    ----------
    n : int
        The number of rows.
    prevalence, ratio : float
        The share of positives, and the cost of a miss; a false alarm costs 1.
    kind : str
        The distribution of scores, a key of `SHAPES`.
    way : str
        The sampling of the rows, a key of `WAYS`; empty where they are sampled one by one.
    """

    n: int
    prevalence: float
    ratio: float
    kind: str
    way: str = ""

    @property
    def name(self) -> str:
        """The display name."""
        return f"{self.family}: {self.n:,} rows, {self.prevalence:.0%}, {self.ratio:g} to 1"

    @property
    def family(self) -> str:
        """The name shared by settings that differ only in rows, prevalence and costs."""
        return f"{self.kind}, {self.way}" if self.way else self.kind

    @property
    def promised(self) -> bool:
        """Whether the limits are promised to hold in this setting."""
        return self.kind in PROMISED and not self.way

    @property
    def shape(self) -> Shape:
        """The distribution of scores."""
        return SHAPES[self.kind]

    @cached_property
    def costs(self) -> CostMatrix:
        """The costs of mistakes."""
        return CostMatrix.from_errors(false_positive=1, false_negative=self.ratio)

    def cost(self, threshold: Any, share: float | None = None) -> Floats:
        """Return the true cost per decision of thresholds, optionally at another prevalence."""
        least = self.shape.least(np.asarray(threshold, dtype=float), self.prevalence)
        no, yes = self.shape.below(least)
        used = self.prevalence if share is None else share
        return np.asarray(used * self.ratio * yes + (1 - used) * (1 - no))

    @cached_property
    def optimum(self) -> float:
        """The least true cost of any threshold."""
        scores = np.unique(self.shape.score(GRID, self.prevalence))
        return float(self.cost(np.concatenate([scores, [-np.inf, np.inf]])).min())

    def draw(self, rng: Rng) -> Scored:
        """Draw a test set."""
        return WAYS[self.way](self, rng)

    def scored(self, positive: Flags, values: Floats, **how: Any) -> Scored:
        """Return the test set of rows with these values."""
        score = np.asarray(self.shape.score(values, self.prevalence), dtype=float)
        return Scored(positive, score, **how)


def _by_row(setting: Setting, rng: Rng) -> Scored:
    positive = rng.random(setting.n) < setting.prevalence
    return setting.scored(positive, setting.shape.draw(rng, positive))


def _with_priors(setting: Setting, rng: Rng) -> Scored:
    """Draw equal numbers of rows of each class, with known class priors."""
    positive = np.arange(setting.n) % 2 == 0
    priors = {0: 1 - setting.prevalence, 1: setting.prevalence}
    return setting.scored(positive, setting.shape.draw(rng, positive), priors=priors)


def _with_weights(setting: Setting, rng: Rng) -> Scored:
    """Draw rows with high values ten times as often, as where alarms are audited more."""
    kept: list[tuple[Flags, Floats, Floats]] = []
    size = 0
    while size < setting.n:
        positive = rng.random(setting.n) < setting.prevalence
        values = setting.shape.draw(rng, positive)
        high = values > 1
        taken = high | (rng.random(setting.n) < 0.1)  # noqa: PLR2004
        kept.append((positive[taken], values[taken], np.where(high, 1.0, 10.0)[taken]))
        size += int(taken.sum())
    positive, values, weights = (
        np.concatenate(each)[: setting.n] for each in zip(*kept, strict=True)
    )
    return setting.scored(positive, values, weights=weights)


def _grouped(setting: Setting, rng: Rng, *, alike: bool) -> Scored:
    """Draw groups of ten rows whose values share half of their variance."""
    size = 10
    count = setting.n // size
    group = np.repeat(np.arange(count), size)
    drawn = rng.random(count if alike else setting.n) < setting.prevalence
    positive = drawn[group] if alike else drawn
    common = rng.standard_normal(count)[group]
    noise = (common + rng.standard_normal(setting.n)) / np.sqrt(2)
    shape = setting.shape
    means = np.where(positive, shape.positives[0].mean, shape.negatives[0].mean)
    return setting.scored(positive, means + noise, groups=group)


FEWEST = 5
"""Expected number of positives below which there are hardly ever enough to choose a threshold."""

ONE_CLASS = "groups of one class"
WAYS: Mapping[str, Callable[[Setting, Rng], Scored]] = {
    "": _by_row,
    "priors known": _with_priors,
    "weights 1 and 10": _with_weights,
    "groups of both classes": lambda setting, rng: _grouped(setting, rng, alike=False),
    ONE_CLASS: lambda setting, rng: _grouped(setting, rng, alike=True),
}


def settings() -> list[Setting]:
    """Return all settings: small and medium promised ones first, large ones last."""
    promised = [
        Setting(n, share, ratio, kind)
        for n in SIZES
        for kind in PROMISED
        for share in PREVALENCES
        for ratio in RATIOS
        if n * share > FEWEST
    ]
    few = [each for each in promised if each.n == SIZES[0]]
    medium = [each for each in promised if each.n == SIZES[1]]
    harder = [
        Setting(n, share, ratio, kind)
        for kind in HARDER
        for n, share, ratio in ((200, 0.3, 20), (1000, 0.05, 20), (1000, 0.05, 500), (1000, 0.3, 1))
    ]
    designs = [
        Setting(1000, 0.3 if way == ONE_CLASS else share, ratio, kind, way)
        for way in [*WAYS][1:]
        for share, ratio, kind in (
            (0.05, 20, "calibrated"),
            (0.3, 1, "calibrated"),
            (0.05, 20, "coarse"),
        )
    ]
    large = [each for each in promised if each.n == SIZES[2]]
    return [*few, *medium, *harder, *designs, *large]
