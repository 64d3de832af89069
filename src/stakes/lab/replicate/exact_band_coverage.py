"""Dugas & Gadoury (2008), Figures 1 to 6: how often bands around cost curves hold the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.lab.domains.binormal import Binormal, BinormalPair
from stakes.lab.experiment import Experiment, Printed, Results, Row, Trial, Value, average, share
from stakes.lab.replicate.shared.band_coverage import (
    Tables,
    enumerated,
    enumerated_percentiles,
    percentiles_cover,
)

Floats = NDArray[np.float64]

NOMINAL, ALPHA = 0.9, 0.1
ON_TARGET, CLOSE = 0.05, 0.02
"""How far from the nominal coverage is still called good: what can be seen in the figures; and what
the 1000 simulations of the paper can tell, two standard errors."""

ENDS = np.array([0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07])
CONDITIONS = np.concatenate([ENDS, np.linspace(0.1, 0.9, 17), 1 - ENDS[::-1]]).round(4)
WIDE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
"""Where widths are measured."""

FINE = np.unique(np.concatenate([np.geomspace(0.0005, 0.005, 40), np.geomspace(0.005, 0.5, 90)]))
"""Where the lowest coverage is looked for; the other half is the same."""

NO_WIDTH = 1e-9
"""Bands narrower than this have no width but rounding."""

ENUMERATED = ("gaussian", "wilson", "mover")
SLOW = 50
"""How many test sets the width of the percentile band is measured on."""

NARROW, LITTLE = 0.25, 0.05
"""Shares of the axis: what is called narrow, and what is called a small difference."""

THRESHOLDS = (-2.0, 1.0, 4.0)
FIGURE_1_PC = 0.33


@dataclass(frozen=True)
class Panel:
    """One curve of one panel of a figure."""

    figure: int
    theta: float
    n: int = 1000
    shift: float | None = None
    correlation: float | None = None
    drawn: str = ""

    @property
    def full(self) -> bool:
        """Whether the bands allow for varying numbers of positives and negatives."""
        return self.figure in (5, 6)

    def keys(self) -> dict[str, Value]:
        """Return what identifies the panel's rows."""
        every = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in every.items() if value not in (None, "")}

    def name(self) -> str:
        """Return the panel's name."""
        return ", ".join(f"{name} {value}" for name, value in self.keys().items())


SPREADS = (0.75, 1.5, 3.0, 5.0)
SIZES = (25, 250, 2500, 10_000)
WHOLE, BY_CLASS = "as a whole", "class by class"
PAIRS = [
    (theta, shift, rho) for theta in (1.0, 3.0) for shift in (0.0, 2.0, 4.0)
    for rho in (0.3, 0.6, 0.9)
]  # fmt: skip
PANELS = [
    *(Panel(1, theta) for theta in (0.75, 3.0)),
    *(Panel(2, theta) for theta in SPREADS),
    *(Panel(3, 3.0, n) for n in SIZES),
    *(Panel(4, theta, 1000, shift, rho) for theta, shift, rho in PAIRS),
    *(Panel(5, theta, drawn=drawn) for theta in SPREADS for drawn in (WHOLE, BY_CLASS)),
    *(Panel(6, theta, 1000, shift, rho) for theta, shift, rho in PAIRS),
]
BY_NAME = {panel.name(): panel for panel in PANELS}


def measure(trial: Trial, *, panel: str) -> Iterator[Row]:
    """Measure the coverage and the width of each band along one curve."""
    found = BY_NAME[panel]
    if found.figure == 1:
        yield from ({**found.keys(), **row} for row in _best_of_three(found))
        return
    rows = list(_one(trial, found) if found.shift is None else _two(trial, found))
    for row in (*rows, *_ranges(rows)):
        yield {**found.keys(), **row}


def computed(measure: str, value: float, **keys: Value) -> Row:
    """Return the row of a number that is computed, without chance."""
    return {**keys, "measure": measure, "value": float(value), "error": 0.0, "repeats": 1}


def _best_of_three(panel: Panel) -> Iterator[Row]:
    """Tell which of three thresholds is the cheapest at the condition that Figure 1 shows."""
    truth = Binormal(panel.theta)
    costs = [float(truth.cost(FIGURE_1_PC, each)) for each in THRESHOLDS]
    yield computed("place of the best threshold", int(np.argmin(costs)) + 1)


def _one(trial: Trial, panel: Panel) -> Iterator[Row]:
    """Measure the bands of one classifier at its best thresholds, by enumeration."""
    truth = Binormal(panel.theta)
    whole = panel.drawn == WHOLE

    def rates(pc: float) -> tuple[float, float]:
        cut = truth.threshold(pc)
        return float(truth.fnr(cut)), float(truth.fpr(cut))

    for pc in CONDITIONS.tolist():
        tables, chances = enumerated(pc, rates(pc), panel.n, full=panel.full, whole=whole)
        for method in ENUMERATED:
            covered = _coverage(tables, chances, method)
            yield computed("coverage", round(covered, 6), pc=pc, method=method)
        some = _drawn(tables, chances, max(trial.repeats // 4, 1), trial.rng)
        if panel.full:
            hits = percentiles_cover(some, ALPHA)
            yield share("coverage", int(hits.sum()), len(hits), pc=pc, method="exact")
        else:
            covered = enumerated_percentiles(pc, rates(pc), panel.n, ALPHA)
            yield computed("coverage", round(covered, 6), pc=pc, method="exact")
        if pc in WIDE:
            for method in ENUMERATED:
                low, high = tables.limits(method, ALPHA)
                yield computed("width", float(chances @ (high - low)), pc=pc, method=method)
            yield _width_of_percentiles(some)
    if not panel.full:
        yield from _lowest(panel, rates)


def _lowest(panel: Panel, rates: Callable[[float], tuple[float, float]]) -> Iterator[Row]:
    """Look for the lowest coverage of the repaired bands at many conditions."""
    lowest = dict.fromkeys(("wilson", "mover"), (1.0, 0.0))
    for pc in FINE.tolist():
        tables, chances = enumerated(pc, rates(pc), panel.n)
        for method, so_far in lowest.items():
            lowest[method] = min(so_far, (_coverage(tables, chances, method), pc))
    for method, (covered, pc) in lowest.items():
        yield computed("lowest coverage", covered, method=method)
        yield computed("lowest at", pc, method=method)


def _coverage(tables: Tables, chances: Floats, method: str) -> float:
    """Return the share of test sets whose band contains the truth.

    A band without a width does not: the true rates are never quite 0 or 1, however near they are.
    """
    low, high = tables.limits(method, ALPHA)
    return float(chances @ (tables.covered(method, ALPHA) & (high - low > NO_WIDTH)))


def _drawn(tables: Tables, chances: Floats, size: int, rng: np.random.Generator) -> Tables:
    """Draw some of the enumerated test sets."""
    chosen = rng.choice(len(chances), size, p=chances / chances.sum())
    sides = tables.positives[:, chosen], tables.negatives[:, chosen]
    return Tables(tables.pc, tables.n, *sides, tables.truth, tables.full)


def _width_of_percentiles(tables: Tables) -> Row:
    low, high = tables.limits("exact", ALPHA, slice(SLOW))
    return average("width", high - low, pc=tables.pc, method="exact")


def _two(trial: Trial, panel: Panel) -> Iterator[Row]:
    """Measure the bands of a difference on test sets that are drawn."""
    pair = BinormalPair(
        Binormal(panel.theta), Binormal(panel.theta, float(panel.shift or 0)),
        float(panel.correlation or 0),
    )  # fmt: skip
    wrong = pair.alone_wrong(CONDITIONS)
    truths = pair.difference(CONDITIONS)
    for i, pc in enumerate(CONDITIONS.tolist()):
        chances = [side[:, i] for side in wrong]
        sides = _draw_two(trial, chances, panel)
        tables = Tables(pc, panel.n, sides[0], sides[1], float(truths[i]), panel.full)
        for method in ENUMERATED:
            hits = tables.covered(method, ALPHA)
            yield share("coverage", int(hits.sum()), len(hits), pc=pc, method=method)
        few = [each[:, : max(trial.repeats // 4, 1)] for each in sides]
        some = Tables(pc, panel.n, few[0], few[1], tables.truth, panel.full)
        if not panel.full:
            hits = percentiles_cover(some, ALPHA)
            yield share("coverage", int(hits.sum()), len(hits), pc=pc, method="exact")
        if pc in WIDE:
            for method in ENUMERATED:
                low, high = tables.limits(method, ALPHA)
                yield average("width", high - low, pc=pc, method=method)
            if not panel.full:
                yield _width_of_percentiles(some)


def _draw_two(trial: Trial, chances: Sequence[Floats], panel: Panel) -> list[Floats]:
    """Draw how often each of two classifiers alone is wrong, class by class or as a whole."""
    if panel.full:
        cells = np.concatenate(chances) / 2
        both = trial.rng.multinomial(2 * panel.n, [*cells, 1 - cells.sum()], trial.repeats)
        return [both[:, :2].T.astype(float), both[:, 2:4].T.astype(float)]
    return [
        trial.rng.multinomial(panel.n, [*each, 1 - each.sum()], trial.repeats)[:, :2].T.astype(
            float
        )
        for each in chances
    ]


def _ranges(rows: Iterable[Row]) -> Iterator[Row]:
    """Tell over how much of the axis each method's coverage is on target, and how it errs."""
    even = np.linspace(CONDITIONS[0], CONDITIONS[-1], 1981)
    found: dict[Any, list[tuple[float, float]]] = {}
    for row in rows:
        if row["measure"] == "coverage":
            found.setdefault(row["method"], []).append((float(row["pc"]), float(row["value"])))
    for method, points in found.items():
        coverage = np.interp(even, *np.array(points).T)
        off = np.abs(coverage - NOMINAL)
        yield computed("on target", (off <= ON_TARGET).mean(), method=method)
        yield computed("close to target", (off <= CLOSE).mean(), method=method)
        yield computed("short", (coverage < NOMINAL - ON_TARGET).mean(), method=method)


def claims(rows: Sequence[Row]) -> Iterator[Row]:
    """Check what the text says of the figures, by how much of the axis the paper's band is good."""
    every = Results("", rows, 1.0, 0)
    for within, measure in ((ON_TARGET, "on target"), (CLOSE, "close to target")):
        for claim, holds in zip(CLAIMS, _held(every, measure), strict=True):
            yield computed("holds", float(holds), claim=claim, within=within)


def _held(every: Results, measure: str) -> Iterator[bool]:
    """Tell of each claim whether it holds."""

    def good(**where: Value) -> float:
        found = every.select(measure=measure, method="gaussian", **where)
        return float(np.mean([row["value"] for row in found]))

    def rises(values: Sequence[float]) -> bool:
        return all(b >= a for a, b in pairwise(values)) and values[-1] > values[0]

    spreads = [good(figure=2, theta=theta) for theta in SPREADS]
    full = [good(figure=5, theta=theta, drawn=WHOLE) for theta in SPREADS]
    shifts = {t: [good(figure=4, theta=t, shift=s) for s in (0.0, 2.0, 4.0)] for t in (1.0, 3.0)}
    by_rho = [
        [good(figure=4, theta=t, shift=s, correlation=r) for r in (0.3, 0.6, 0.9)]
        for t in (1.0, 3.0) for s in (0.0, 2.0, 4.0)
    ]  # fmt: skip
    best = "place of the best threshold"
    yield [every.value(figure=1, theta=t, measure=best) for t in (0.75, 3.0)] == [3, 2]
    yield rises(spreads)
    yield rises([good(figure=3, n=n) for n in SIZES])
    yield good(figure=3, n=25) < NARROW
    yield bool(np.mean(shifts[3.0]) > np.mean(shifts[1.0]))
    yield rises(shifts[1.0])
    yield rises(shifts[3.0][::-1])
    yield max(float(np.ptp(each)) for each in by_rho) < LITTLE
    yield full[0] > spreads[0]
    yield rises(full[:3][::-1])
    yield full[3] > full[2]
    yield abs(good(figure=6) - good(figure=4)) < LITTLE


def draw(results: Results) -> Mapping[str, Any]:
    """Draw the figures in the paper's layout, with the other bands beside its own."""
    from stakes.lab.replicate.exact_band_figures import figures

    return figures(results)


AT_25 = "It depends on what is called on target: 47 % of the axis within 0.05, 12 % within 0.02."
AT_3 = "It is worse with a shift of 2 than of 0 (97 against 100 % of the axis), and then no worse."
CLAIMS = {
    "Figure 1: the highest of three is best for the weak scorer, the middle for the strong": "",
    "Figure 2: better with less overlap": "",
    "Figure 3: a wider range with more examples": "",
    "Figure 3: a very narrow range with 25 examples": AT_25,
    "Figure 4: a wider range with more spread": "",
    "Figure 4: with a spread of 1, better with more shift": "",
    "Figure 4: with a spread of 3, worse with more shift": AT_3,
    "Figure 4: correlation matters little": "",
    "Figure 5: with a spread of 0.75 better than Figure 2": "",
    "Figure 5: worse with more spread up to 3": "",
    "Figure 5: better at 5 than at 3": "",
    "Figure 6: as good as Figure 4": "",
}
"""What the paper says, in the order of `_held`, and why it is not so here."""

EXPERIMENT = Experiment(
    name="exact-band-coverage",
    title="How often the bands around cost curves contain the truth",
    source="Dugas & Gadoury (2008), Figures 1 to 6",
    varies={"panel": tuple(BY_NAME)},
    measure=measure,
    repeats=4000,
    least=40,
    printed=tuple(
        Printed(
            {"claim": claim, "within": ON_TARGET, "measure": "holds"},
            1.0,
            "Section 5 and the caption of Figure 1",
            0.0,
            why,
        )
        for claim, why in CLAIMS.items()
    ),
    derive=claims,
    draw=draw,
    stand_ins=(
        (
            "The three thresholds of Figure 1 are not printed; ours, -2, 1 and 4 at θ of 0.75 and "
            "3, were chosen so that its caption is true."
        ),
    ),
    findings=(
        (
            "What the paper says of its figures was judged by eye. Here a coverage within 0.05 of "
            "the nominal 0.9 is called good, and it is counted on how much of the axis its band is "
            "good; ten of twelve statements hold then. That level was chosen with the results in "
            "view. Within 0.02 its band is good on less of the axis at θ = 5 than at θ = 3, "
            "against what it says of Figure 2 (87 against 90 %) and of Figure 5 (87 against 92 %), "
            "while the range with 25 examples is then as narrow as it says."
        ),
        (
            "The breaks at the ends are deep. With θ = 3 and 1000 examples of each class the "
            "paper's band, of a nominal 90 %, covers 12.8, 38.4 and 79.3 % at PC(+) of 0.005, 0.01 "
            "and 0.02; with θ = 0.75 it covers 1.9 % at 0.1 and 78.9 % at 0.2."
        ),
        (
            "The percentiles of the bootstrap distribution itself, which the paper left as too "
            "slow, are no better: 12.8, 37.3 and 78.2 % in the same places. What fails is the "
            "bootstrap, which has no room for mistakes that were not seen, and not the Gaussian "
            "through its two moments."
        ),
        (
            "The default band never collapses. By enumeration its lowest coverage over PC(+) from "
            "0.0005 to 0.9995 is 90.4, 90.4, 90.5 and 90.7 % for θ of 0.75, 1.5, 3 and 5, and for "
            "θ = 3 it is 92.2, 91.0, 90.4 and 90.2 % with 25, 250, 2500 and 10 000 examples of "
            "each class. With Wilson's limits it dips, to 86.1 % at θ = 3 (at 0.0058), 84.5 % at θ "
            "= 5 (at 0.0017) and 84.3 % with 10 000 examples (at 0.0019)."
        ),
        (
            "It costs little width where the paper's band holds: with θ = 3 it is 1.02 times as "
            "wide at PC(+) = 0.5, 1.05 times at 0.1 and 1.09 times at 0.05. At 0.01, where the "
            "paper's covers 38 %, it is 2.1 times as wide."
        ),
        (
            "Of differences the default band covers 89.4 % or more in all 36 settings of Figures 4 "
            "and 6, with standard errors of 0.5. The paper's falls to between 12 and 50 % at the "
            "ends, unless the two classifiers truly cost the same (a shift of 0): where they never "
            "disagreed it is zero without a width, which then is the truth."
        ),
        (
            "Figure 5 is for test sets that are drawn as a whole. The paper does not say so; drawn "
            "class by class, as in its first experiment, they would make the same band cover all "
            "but 100 % at the ends for θ = 0.75, and on target on 25 % of the axis, which would "
            "not be called better."
        ),
        (
            "The caption of Figure 3 gives its last panel 1000 examples, the text 10 000. Ours has "
            "10 000."
        ),
        (
            "Figure 6 has no percentile band: each test set would need a distribution in two "
            "dimensions."
        ),
    ),
)
