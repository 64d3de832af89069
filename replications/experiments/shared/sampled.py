"""Test sets not sampled row by row: in groups, from strata, with weights.

In each a rare miss is expensive and a false alarm cheap. The true costs are derived from the
sampling of the rows, never from the code under evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats

Flags = NDArray[np.bool_]
Rng = np.random.Generator

ILL, ALARMS, MISS = 0.2, 0.05, 100.0
SHARES = (0.5, 0.3, 0.15, 0.05)
FEW, FEWEST, MOST, USUAL, MORE = (1, 3), 4, 40, 100, 4.0
EXPECTED = (0.3, 0.5, 1, 1.5, 2, 3, 5, 10)
"""Expected numbers of extreme groups, or rows, in a test set."""

NEAREST = 3
"""Expected number from which on the coverage is nearest to what is promised."""

MEANS, PRODUCTS = "Gaffke on group means", "Gaffke on weight × cost"
MOVER = "MOVER of Gaffke's limits"
"""Intervals whose coverage is known to hold."""


@dataclass(frozen=True)
class Drawn:
    """One test set: which rows are positive, which are missed, and how the rows were sampled.

    Attributes
    ----------
    positive, miss : ndarray of bool
        The actual class, and the first model's misses.
    alarm : ndarray of bool or None
        Its false alarms; None where each negative row has one with the same small probability.
    options : dict
        The arguments of `evaluate` that describe the sampling.
    stakes : ndarray or None
        The cost of a miss for each row, where each has its own cost.
    truth : float or None
        The cost of the finite population that the rows are sampled from.
    """

    positive: Flags
    miss: Flags
    alarm: Flags | None = None
    options: dict[str, Any] = field(default_factory=dict)
    stakes: Floats | None = None
    truth: float | None = None


@dataclass(frozen=True)
class Problem:
    """A problem to sample test sets from, with its true costs.

    Attributes
    ----------
    design, setting : str
        Its labels in the table.
    draw : callable
        Returns a test set.
    missed : float
        The cost of misses per decision over that of one miss: the share of rows missed.
    negative : float
        The share of negatives.
    alarms : float
        The share of the negatives with a false alarm.
    miss_cost : float
        The cost of a miss; a false alarm costs 1.
    rival : str
        The interval whose coverage is known to hold there; empty if there is none.
    bound : float or None
        The highest possible cost of a row, where each has its own cost and this bound is known.
    effort : float
        The factor of the number of test sets: more where the coverage is nearest to its promise.
    """

    design: str
    setting: str
    draw: Callable[[Rng], Drawn]
    missed: float
    negative: float = 1 - ILL
    alarms: float = ALARMS
    miss_cost: float = MISS
    rival: str = ""
    bound: float | None = None
    effort: float = 1.0

    @property
    def name(self) -> str:
        """The name of the cell."""
        return f"{self.design}: {self.setting}"

    @property
    def cost(self) -> float:
        """The expected cost per decision of the first model."""
        return self.miss_cost * self.missed + self.alarms * self.negative


# Groups.


def _equal(n: int, size: int) -> NDArray[np.intp]:
    return np.repeat(np.arange(n), size)


def equal_groups(expected: float, kind: str, groups: int = 100, size: int = 20) -> Problem:
    """Return patients with equal numbers of images, missed wholly, by single images, or both."""
    whole = {"whole": 1.0, "single": 0.0, "mixed": 0.5}[kind] * expected / (ILL * groups)
    single = {"whole": 0.0, "single": 1.0, "mixed": 0.5}[kind] * expected / (ILL * groups * size)

    def draw(rng: Rng) -> Drawn:
        ill, lost = rng.random(groups) < ILL, rng.random(groups) < whole
        group = _equal(groups, size)
        missed = lost[group] | (rng.random(groups * size) < single)
        return Drawn(ill[group], ill[group] & missed, options={"groups": group})

    return Problem(
        "groups",
        f"{groups} × {size}, {expected:g} missed {_of(kind)}",
        draw,
        ILL * (1 - (1 - whole) * (1 - single)),
        rival=MEANS,
        effort=MORE if kind == "whole" and groups == USUAL and expected >= NEAREST else 1.0,
    )


def _of(kind: str) -> str:
    return {"whole": "whole", "single": "row by row", "mixed": "whole or row by row"}[kind]


def rows_and_groups(patients: int, rows: float, groups: float) -> Problem:
    """Return patients with single images missed often, and all images missed rarely."""
    ill_patients = ILL * patients
    whole, single = groups / ill_patients, rows / (20 * ill_patients)

    def draw(rng: Rng) -> Drawn:
        group = _equal(patients, 20)
        ill, lost = rng.random(patients) < ILL, rng.random(patients) < whole
        missed = lost[group] | (rng.random(len(group)) < single)
        return Drawn(ill[group], ill[group] & missed, options={"groups": group})

    missed = ILL * (1 - (1 - whole) * (1 - single))
    setting = f"{patients} × 20, {rows:g} rows and {groups:g} whole missed"
    return Problem("groups", setting, draw, missed, rival=MEANS)


def large_missed(expected: float) -> Problem:
    """Return groups of Pareto(3) sizes, missed as a whole, larger ones more often."""
    sizes = np.minimum(np.floor(np.random.default_rng(0).pareto(3, 4_000_000) + 1), 50)
    scale = expected / (20 * sizes.mean())

    def draw(rng: Rng) -> Drawn:
        size = np.minimum(np.floor(rng.pareto(3, 100) + 1), 50).astype(int)
        group = np.repeat(np.arange(100), size)
        ill, lost = rng.random(100) < ILL, rng.random(100) < scale * size
        return Drawn(ill[group], (ill & lost)[group], options={"groups": group})

    missed = ILL * float(np.minimum(scale * sizes, 1) @ sizes / sizes.sum())
    setting = f"100 of Pareto(3) sizes, {expected:g} missed whole, larger ones likelier"
    return Problem("groups", setting, draw, missed)


def largest_missed(expected: float) -> Problem:
    """Return groups of 5 rows and, one in ten, of 50 rows; only large groups are missed."""

    def draw(rng: Rng) -> Drawn:
        large = rng.random(100) < 0.1  # noqa: PLR2004
        group = np.repeat(np.arange(100), np.where(large, 50, 5))
        ill = rng.random(100) < 0.5  # noqa: PLR2004
        lost = ill & large & (rng.random(100) < expected / 5)
        return Drawn(ill[group], lost[group], options={"groups": group})

    setting = f"100 of 5 and 50 rows, {expected:g} of the large missed whole"
    missed = 0.1 * 50 * expected / 10 / (0.9 * 5 + 0.1 * 50)
    return Problem("groups", setting, draw, missed, 0.5)


def pareto_sizes(rho: float) -> Problem:
    """Return groups of heavy-tailed sizes, with errors correlated within a group."""
    rate, total = 0.1, 1 / rho - 1

    def draw(rng: Rng) -> Drawn:
        sizes = np.floor(rng.pareto(1.2, 100) + 1).astype(int)
        group = np.repeat(np.arange(100), sizes)
        error = rng.beta(rate * total, (1 - rate) * total, 100)[group]
        wrong = rng.random(len(group)) < error
        positive = rng.random(len(group)) < ILL
        return Drawn(positive, wrong & positive, wrong & ~positive, {"groups": group})

    setting = f"100 of Pareto(1.2) sizes, correlation {rho:g}"
    return Problem("groups", setting, draw, ILL * rate, alarms=rate)


def pareto_missed(expected: float, shape: float = 1.2) -> Problem:
    """Return groups of heavy-tailed sizes, missed as a whole or not at all."""

    def draw(rng: Rng) -> Drawn:
        group = np.repeat(np.arange(100), np.floor(rng.pareto(shape, 100) + 1).astype(int))
        ill, lost = rng.random(100) < ILL, rng.random(100) < expected / 20
        return Drawn(ill[group], (ill & lost)[group], options={"groups": group})

    setting = f"100 of Pareto({shape:g}) sizes, {expected:g} missed whole"
    return Problem("groups", setting, draw, ILL * expected / 20)


def size_matters() -> Problem:
    """Return groups of lognormal sizes, with higher error rates in larger ones."""

    def sized(rng: Rng, n: int) -> tuple[NDArray[np.intp], Floats]:
        sizes = np.ceil(rng.lognormal(2, 1, n)).astype(int)
        return sizes, 0.3 * sizes / (sizes + 50)

    def draw(rng: Rng) -> Drawn:
        sizes, rates = sized(rng, 100)
        group = np.repeat(np.arange(100), sizes)
        hard = rng.beta(rates * 2, (1 - rates) * 2)[group]
        wrong = rng.random(len(group)) < hard
        positive = rng.random(len(group)) < ILL
        return Drawn(positive, wrong & positive, wrong & ~positive, {"groups": group})

    sizes, rates = sized(np.random.default_rng(0), 4_000_000)
    rate = float(sizes @ rates / sizes.sum())
    return Problem("groups", "100, larger ones harder", draw, ILL * rate, alarms=rate)


# Weights.


def audited(expected: float) -> Problem:
    """Return an audit of all alarms, and of 1% of the rest with a weight of 100."""
    alarms, rest = 1450, 985
    share = alarms / (alarms + 100 * rest)

    def draw(rng: Rng) -> Drawn:
        alarm = rng.random(alarms + rest) < alarms / (alarms + rest)
        right = alarm & (rng.random(len(alarm)) < 0.3)  # noqa: PLR2004
        miss = ~alarm & (rng.random(len(alarm)) < expected / rest)
        options = {"sample_weight": np.where(alarm, 1.0, 100.0)}
        return Drawn(right | miss, miss, alarm & ~right, options)

    missed = (1 - share) * expected / rest
    negative = 1 - 0.3 * share - missed
    return Problem(
        "weights",
        f"all alarms, 1% of the rest, {expected:g} missed",
        draw,
        missed,
        negative,
        0.7 * share / negative,
        rival=MOVER,
        effort=MORE if expected >= NEAREST else 1.0,
    )


def heavy_errors(sigma: float) -> Problem:
    """Return rows with lognormal weights, and more errors on rows of high weight."""

    def rate(z: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(3.5 - 0.5 * z)))

    def draw(rng: Rng) -> Drawn:
        z = rng.normal(size=1000)
        positive = rng.random(1000) < ILL
        miss = positive & (rng.random(1000) < rate(z))
        return Drawn(positive, miss, options={"sample_weight": np.exp(sigma * z)})

    points, weights = np.polynomial.hermite_e.hermegauss(60)
    # A row of weight w stands for w rows, so the population's log weights are shifted by σ².
    missed = ILL * float(weights @ rate(points + sigma) / weights.sum())
    setting = f"lognormal σ {sigma:g}, heavy rows harder"
    return Problem("weights", setting, draw, missed, rival=PRODUCTS)


def heavy_misses(expected: float, power: int = 1) -> Problem:
    """Return rows with lognormal weights, and misses in proportion to a power of the weight."""

    def chances(weight: Floats) -> Floats:
        scaled = weight**power / np.exp(power**2 / 2)
        return np.asarray(np.minimum(expected / (1000 * ILL) * scaled, 1))

    def draw(rng: Rng) -> Drawn:
        weight = rng.lognormal(0, 1, 1000)
        positive = rng.random(1000) < ILL
        chance = chances(weight)
        miss = positive & (rng.random(1000) < chance)
        return Drawn(positive, miss, options={"sample_weight": weight})

    # The mean weight of a missed row, E w²/E w = e^1.5, over that of all rows, e^0.5, is e.
    missed, likelier = expected / 1000 * float(np.e), "heavy ones likelier"
    if power > 1:  # where the cap of probabilities at 1 matters
        weights = np.random.default_rng(0).lognormal(0, 1, 4_000_000)
        missed = ILL * float(weights @ chances(weights) / weights.sum())
        likelier = "as likely as the squared weight"
    setting = f"lognormal σ 1, {expected:g} missed, {likelier}"
    effort = MORE if expected >= NEAREST and power == 1 else 1.0
    return Problem("weights", setting, draw, missed, rival=PRODUCTS, effort=effort)


# Strata and class priors.


def many_strata(count: int, expected: float, kind: str) -> Problem:
    """Return rows sampled from strata, in proportion to their shares or equally."""
    n = {4: 400, 20: 1000, 40: 2000}[count]
    shares = 1 / np.arange(1, count + 1)
    shares /= shares.sum()
    sizes = np.full(count, n // count)
    if kind == "proportional":
        sizes = np.maximum(np.rint(n * shares).astype(int), 2)
        shares = sizes / sizes.sum()
    rates = np.full(count, expected / sizes.sum())
    if kind == "largest":
        rates = np.where(np.arange(count) == 0, expected / sizes[0], 0.0)
    where = np.repeat(np.arange(count), sizes)

    def draw(rng: Rng) -> Drawn:
        miss = rng.random(len(where)) < rates[where]
        positive = miss | (rng.random(len(where)) < 0.1)  # noqa: PLR2004
        options: dict[str, Any] = {"strata": where}
        if kind != "proportional":
            options["population"] = dict(enumerate(shares.tolist()))
        return Drawn(positive, miss, options=options)

    missed = float(shares @ rates)
    said = {
        "proportional": "drawn as they are",
        "equal": "drawn equally, shares known",
        "largest": "drawn equally, missed in the largest",
    }[kind]
    setting = f"{count}, {said}, {expected:g} missed"
    effort = MORE if count == MOST and kind == "proportional" else 1.0
    negative = 0.9 * (1 - missed)
    return Problem("strata", setting, draw, missed, negative, rival=MOVER, effort=effort)


def finite_strata(expected: float) -> Problem:
    """Return a sample of a tenth of a finite population, from strata of known sizes."""
    sizes = np.full(4, 100)
    rows = np.array([2000, 1200, 600, 200])
    share = expected / sizes.sum()
    where = np.repeat(np.arange(4), sizes)

    def draw(rng: Rng) -> Drawn:
        misses = rng.binomial(rows, share)
        alarms = rng.binomial(rows - misses, ALARMS)
        seen = [
            rng.multivariate_hypergeometric([m, a, r - m - a], s)
            for m, a, r, s in zip(misses, alarms, rows, sizes, strict=True)
        ]
        kinds = np.concatenate([np.repeat(np.arange(3), each) for each in seen])
        miss, alarm = kinds == 0, kinds == 1
        positive = miss | ((kinds == 2) & (rng.random(len(kinds)) < 0.1))  # noqa: PLR2004
        truth = float(MISS * misses.sum() + alarms.sum()) / rows.sum()
        population = dict(enumerate(rows.tolist()))
        options = {"strata": where, "population": population}
        return Drawn(positive, miss, alarm, options, truth=truth)

    setting = f"4, rows counted, {expected:g} missed"
    return Problem("strata", setting, draw, share, (1 - share))


def known_priors(expected: float) -> Problem:
    """Return 500 rows of each class, of which one is rare in the target population."""
    positive = _equal(2, 500).astype(bool)

    def draw(rng: Rng) -> Drawn:
        miss = positive & (rng.random(1000) < expected / 500)
        return Drawn(positive, miss, options={"class_priors": [0.99, 0.01]})

    setting = f"500 of each class, 1% in use, {expected:g} missed"
    return Problem("class priors", setting, draw, 0.01 * expected / 500, 0.99, rival=MOVER)


def fixed_classes(expected: float) -> Problem:
    """Return fixed numbers of rows of each class."""
    positive = np.arange(2000) < 200  # noqa: PLR2004

    def draw(rng: Rng) -> Drawn:
        miss = positive & (rng.random(2000) < expected / 200)
        return Drawn(positive, miss, options={"strata": "class"})

    setting = f"200 and 1,800 of the classes, {expected:g} missed"
    return Problem("class strata", setting, draw, 0.1 * expected / 200, 0.9, rival=MOVER)


# Combinations.


def strata_and_priors(expected: float, *, weights: bool = False) -> Problem:
    """Return rows of each class from each stratum, with known shares of both."""
    where, positive = np.tile(_equal(4, 125), 2), _equal(2, 500).astype(bool)
    hard = np.array([1.0, 1.0, 2.0, 4.0])
    rate = expected / (125 * hard.sum()) * hard

    def draw(rng: Rng) -> Drawn:
        miss = positive & (rng.random(1000) < rate[where])
        options: dict[str, Any] = {
            "strata": where,
            "population": dict(enumerate(SHARES)),
            "class_priors": [0.98, 0.02],
        }
        if weights:
            options["sample_weight"] = np.where(rng.random(1000) < 0.5, 1.0, 5.0)  # noqa: PLR2004
        return Drawn(positive, miss, options=options)

    design = "strata × weights × priors" if weights else "strata × priors"
    setting = f"4 strata, 2% in use, {expected:g} missed"
    return Problem(design, setting, draw, 0.02 * float(np.dot(SHARES, rate)), 0.98)


def groups_in_strata(expected: float, kind: str, *, weights: bool = False) -> Problem:
    """Return groups sampled from strata, or with rows in several of them."""
    group = _equal(120, 10)
    nested = group // 30

    def draw(rng: Rng) -> Drawn:
        ill, lost = rng.random(120) < ILL, rng.random(120) < expected / 24
        strata = nested if kind == "nested" else rng.integers(0, 4, len(group))
        options = {"groups": group, "strata": strata, "population": dict(enumerate(SHARES))}
        if weights:
            options["sample_weight"] = np.where(rng.random(120) < 0.5, 1.0, 5.0)[group]  # noqa: PLR2004
        return Drawn(ill[group], (ill & lost)[group], options=options)

    design = "groups × strata × weights" if weights else "groups × strata"
    setting = f"120 × 10, {'in' if kind == 'nested' else 'across'} 4 strata, {expected:g} missed"
    rival = MOVER if kind == "nested" and not weights else ""
    return Problem(design, setting, draw, ILL * expected / 24, rival=rival)


def groups_and_priors(expected: float, kind: str, *, weights: bool = False) -> Problem:
    """Return groups of one class or of both classes, with class priors."""
    group = _equal(100, 10)

    def draw(rng: Rng) -> Drawn:
        options: dict[str, Any] = {"groups": group, "class_priors": [0.95, 0.05]}
        if weights:
            options["sample_weight"] = np.where(rng.random(100) < 0.5, 1.0, 10.0)[group]  # noqa: PLR2004
        if kind == "nested":
            positive = group < 50  # noqa: PLR2004
            lost = rng.random(100) < expected / 50
        else:
            positive = rng.random(len(group)) < 0.5  # noqa: PLR2004
            lost = rng.random(100) < expected / 100
        return Drawn(positive, positive & lost[group], options=options)

    design = "groups × weights × priors" if weights else "groups × priors"
    each = "of one class" if kind == "nested" else "of both classes"
    setting = f"100 × 10 {each}, 5% in use, {expected:g} missed"
    missed = 0.05 * expected / (50 if kind == "nested" else 100)
    return Problem(design, setting, draw, missed, 0.95)


def groups_strata_priors(expected: float) -> Problem:
    """Return groups of one class each, sampled from strata, with known shares of both."""
    group = _equal(120, 10)
    positive, strata = group % 2 == 0, group // 30

    def draw(rng: Rng) -> Drawn:
        lost = rng.random(120) < expected / 60
        options = {
            "groups": group, "strata": strata, "population": dict(enumerate(SHARES)),
            "class_priors": [0.95, 0.05],
        }  # fmt: skip
        return Drawn(positive, positive & lost[group], options=options)

    setting = f"120 × 10 in 4 strata, 5% in use, {expected:g} missed"
    return Problem("groups × strata × priors", setting, draw, 0.05 * expected / 60, 0.95)


def weighted_groups(expected: float, kind: str) -> Problem:
    """Return groups with a weight each, or rows with a higher weight where there is no alarm."""

    def by_group(rng: Rng) -> Drawn:
        group = _equal(100, 20)
        ill, lost = rng.random(100) < ILL, rng.random(100) < expected / 20
        weights = np.where(rng.random(100) < 0.5, 1.0, 10.0)[group]  # noqa: PLR2004
        options = {"groups": group, "sample_weight": weights}
        return Drawn(ill[group], (ill & lost)[group], options=options)

    def by_alarm(rng: Rng) -> Drawn:
        group = _equal(100, 100)
        ill, lost = rng.random(100) < ILL, rng.random(100) < expected / 20
        alarm = np.where(ill[group], ~lost[group], rng.random(len(group)) < ALARMS)
        kept = alarm | (rng.random(len(group)) < 0.1)  # noqa: PLR2004
        group, alarm = group[kept], alarm[kept]
        options = {"groups": group, "sample_weight": np.where(alarm, 1.0, 10.0)}
        positive = ill[group]
        return Drawn(positive, positive & ~alarm, alarm & ~positive, options)

    draw = by_group if kind == "group" else by_alarm
    said = "weights 1 and 10" if kind == "group" else "all alarms, 10% of the rest"
    setting = f"100, {said}, {expected:g} missed whole"
    return Problem("groups × weights", setting, draw, ILL * expected / 20)


def weighted_strata(expected: float) -> Problem:
    """Return weighted rows, from strata of known shares."""
    where = _equal(4, 250)

    def draw(rng: Rng) -> Drawn:
        weights = np.where(rng.random(1000) < 0.5, 1.0, 10.0)  # noqa: PLR2004
        miss = rng.random(1000) < expected / 1000
        positive = miss | (rng.random(1000) < 0.1)  # noqa: PLR2004
        population = dict(enumerate(SHARES))
        options = {"strata": where, "population": population, "sample_weight": weights}
        return Drawn(positive, miss, options=options)

    setting = f"4 strata, weights 1 and 10, {expected:g} missed"
    share = expected / 1000
    return Problem("strata × weights", setting, draw, share, 0.9 * (1 - share))


def weighted_priors(expected: float) -> Problem:
    """Return weighted rows, 500 of each class, with class priors."""
    positive = _equal(2, 500).astype(bool)

    def draw(rng: Rng) -> Drawn:
        weights = np.where(rng.random(1000) < 0.5, 1.0, 10.0)  # noqa: PLR2004
        miss = positive & (rng.random(1000) < expected / 500)
        options = {"class_priors": [0.98, 0.02], "sample_weight": weights}
        return Drawn(positive, miss, options=options)

    setting = f"500 of each class, weights 1 and 10, {expected:g} missed"
    missed = 0.02 * expected / 500
    effort = MORE if expected >= NEAREST else 1.0
    return Problem("weights × priors", setting, draw, missed, 0.98, effort=effort)


def problems() -> Iterator[Problem]:
    """Return all problems with costs that depend on the classes only."""
    for kind, numbers in (("whole", EXPECTED), ("mixed", FEW), ("single", FEW)):
        yield from (equal_groups(m, kind) for m in numbers)
    yield from (equal_groups(m, "whole", groups=300) for m in (0.3, 1, 3))
    yield from (rows_and_groups(*each) for each in ((100, 30, 1), (300, 30, 1), (300, 60, 2)))
    yield from (pareto_sizes(rho) for rho in (0.1, 0.5, 0.9))
    yield from (pareto_missed(m) for m in (1, 3, 10))
    yield from (pareto_missed(m, 3.0) for m in (1, 3, 10))
    yield size_matters()
    yield from (large_missed(m) for m in (1, 3))
    yield largest_missed(2)
    yield from (audited(m) for m in EXPECTED)
    yield from (heavy_errors(sigma) for sigma in (1, 1.5, 2))
    yield from (heavy_misses(m) for m in (1, 3))
    yield heavy_misses(3, power=2)
    for count in (4, 20, 40):
        for kind in ("proportional", "equal", "largest"):
            yield from (many_strata(count, m, kind) for m in ((1, 3) if count == FEWEST else (3,)))
    yield from (finite_strata(m) for m in (1, 3))
    yield from (known_priors(m) for m in FEW)
    yield from (fixed_classes(m) for m in FEW)
    yield from (strata_and_priors(m) for m in FEW)
    for kind in ("nested", "crossing"):
        yield from (groups_in_strata(m, kind) for m in FEW)
        yield from (groups_and_priors(m, kind) for m in FEW)
    for kind in ("group", "alarm"):
        yield from (weighted_groups(m, kind) for m in FEW)
    yield from (weighted_strata(m) for m in FEW)
    yield from (weighted_priors(m) for m in FEW)
    yield groups_in_strata(1, "nested", weights=True)
    yield groups_in_strata(1, "crossing", weights=True)
    yield groups_and_priors(1, "nested", weights=True)
    yield strata_and_priors(1, weights=True)
    yield groups_strata_priors(1)
