"""Test sets with scores of which the true cost of every threshold is known in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, stdtr

from stakes import CostMatrix
from stakes._core.typing import Floats
from stakes.counts._parts import Parts
from stakes.infer._outcomes import Design
from stakes.predictions.scores import JointScores

Flags = NDArray[np.bool_]
Rng = np.random.Generator

SIZES, PREVALENCES, RATIOS = (200, 1000, 10_000), (0.01, 0.05, 0.3), (1.0, 20.0, 500.0)
APART = 1.5
"""How many standard deviations the positives are higher than the negatives, where not said."""

GRID = np.linspace(-40.0, 40.0, 160_001)
LEVELS = np.array([-1.0, -0.3, 0.3, 0.8, 1.3, 2.0, 2.8])
STEPS = 50
USUAL_FOLDS = None
"""As many as there are by default for so many rows."""


# What scores are like.


@dataclass(frozen=True)
class Bell:
    """A share of a class, with normal or, given degrees of freedom, Student's values."""

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
    """How scores come about: from values that differ by class, by a rule that never falls.

    Attributes
    ----------
    negatives, positives : sequence of Bell
        The values behind the scores of each class.
    score : callable
        ``score(values, prevalence)`` returns the scores.
    least : callable
        ``least(threshold, prevalence)`` returns the least value with such a score.
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
}
SHAPES = PROMISED | HARDER


# How rows come about.


@dataclass(frozen=True)
class Scored:
    """A test set, and what is said of how its rows came."""

    scores: JointScores
    design: Design = field(default_factory=Design)

    @property
    def positive_share(self) -> float:
        """The share of positives, by weight."""
        return float(np.average(self.scores.positive, weights=self.scores.amounts))


@dataclass(frozen=True)
class Setting:
    """A way in which test sets come, and what a threshold truly costs there.

    Attributes
    ----------
    n : int
        The number of rows.
    prevalence, ratio : float
        The share of positives, and what a miss costs; a false alarm costs 1.
    kind : str
        What scores are like.
    way : str
        How rows were drawn, where not one by one.
    folds : int
        In how many parts the rows are dealt.
    """

    n: int
    prevalence: float
    ratio: float
    kind: str
    way: str = ""
    folds: int | None = USUAL_FOLDS

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.family}: {self.n:,} rows, {self.prevalence:.0%}, {self.ratio:g} to 1"

    @property
    def family(self) -> str:
        """What those are called that differ in rows, prevalence and costs only."""
        way = f", {self.way}" if self.way else ""
        return f"{self.kind}{way}" + (f", {self.folds} folds" if self.folds != USUAL_FOLDS else "")

    @property
    def promised(self) -> bool:
        """Whether limits are promised to hold here."""
        return self.kind in PROMISED and not self.way and self.folds == USUAL_FOLDS

    @property
    def shape(self) -> Shape:
        """What scores are like."""
        return SHAPES[self.kind]

    @cached_property
    def costs(self) -> CostMatrix:
        """What mistakes cost."""
        return CostMatrix.from_errors(false_positive=1, false_negative=self.ratio)

    def cost(self, threshold: Any, share: float | None = None) -> Floats:
        """Return the true cost per decision of thresholds, or at another share of positives."""
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

    def scored(self, positive: Flags, values: Floats, **parts: Any) -> JointScores:
        """Return the scores of rows."""
        columns = {"model": np.asarray(self.shape.score(values, self.prevalence), dtype=float)}
        return JointScores.from_columns(positive, columns, pos_label=1, neg_label=0, **parts)


def _by_row(setting: Setting, rng: Rng) -> Scored:
    positive = rng.random(setting.n) < setting.prevalence
    return Scored(setting.scored(positive, setting.shape.draw(rng, positive)))


def _with_priors(setting: Setting, rng: Rng) -> Scored:
    """Draw as many rows of each class; their shares in use are known."""
    positive = np.arange(setting.n) % 2 == 0
    scores = setting.scored(positive, setting.shape.draw(rng, positive))
    priors = {0: 1 - setting.prevalence, 1: setting.prevalence}
    return Scored(scores, Design(class_priors=priors))


def _with_weights(setting: Setting, rng: Rng) -> Scored:
    """Draw rows of higher values ten times as often, as where alarms are audited more."""
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
    return Scored(setting.scored(positive, values, sample_weight=weights))


def _grouped(setting: Setting, rng: Rng, *, alike: bool) -> Scored:
    """Draw groups of ten rows whose values have half of their variance in common."""
    size = 10
    count = setting.n // size
    group = np.repeat(np.arange(count), size)
    drawn = rng.random(count if alike else setting.n) < setting.prevalence
    positive = drawn[group] if alike else drawn
    common = rng.standard_normal(count)[group]
    noise = (common + rng.standard_normal(setting.n)) / np.sqrt(2)
    shape = setting.shape
    means = np.where(positive, shape.positives[0].mean, shape.negatives[0].mean)
    parts = Parts(groups=tuple(range(count)))
    return Scored(setting.scored(positive, means + noise, parts=parts, part=group))


FEWEST = 5
"""With fewer positives expected there are hardly ever enough to choose on."""

ONE_CLASS = "groups of one class"
WAYS: Mapping[str, Callable[[Setting, Rng], Scored]] = {
    "": _by_row,
    "priors known": _with_priors,
    "weights 1 and 10": _with_weights,
    "groups of both classes": lambda setting, rng: _grouped(setting, rng, alike=False),
    ONE_CLASS: lambda setting, rng: _grouped(setting, rng, alike=True),
}


def settings() -> list[Setting]:
    """Return all settings, those that promises are about first, large ones last."""
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
    more_folds = [
        replace(each, folds=folds)
        for folds in (5, 10)
        for each in few
        if each.kind in ("calibrated", "coarse")
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
    return [*few, *medium, *harder, *more_folds, *designs, *large]
