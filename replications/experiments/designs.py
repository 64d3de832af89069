"""Coverage of the default intervals, and type I error of the default tests, in every design.

This is not from a paper. The guide to designs has the numbers: this module prints its table.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replications.experiment import Experiment, Results, Row, Trial, average, share
from replications.experiments.shared.amounts import amount_problems
from replications.experiments.shared.sampled import (
    ALARMS,
    MEANS,
    MISS,
    PRODUCTS,
    SHARES,
    Drawn,
    Problem,
    problems,
)
from stakes import (
    CostDifference,
    CostEstimate,
    CostMatrix,
    CostSample,
    ExampleCosts,
    compare,
    evaluate,
)
from stakes._core.typing import Floats
from stakes.errors import StakesWarning
from stakes.infer import batch_intervals
from stakes.infer._outcomes import Outcomes, Stratum
from stakes.infer._probability import gamma_ratio
from stakes.infer._probability.strata import limit_pair
from stakes.infer.methods import extremal

Decided = NDArray[np.intp]
PROBLEMS = {problem.name: problem for problem in (*problems(), *amount_problems())}
MOST_ALARMS, ALPHA, BATCH, MOST_WIDTHS = 0.9, 0.05, 250, 50
# "auto" is the default, by the name that it has in the results of the kept run.
CHOICES: Mapping[str, dict[str, Any]] = {"auto": {}, "conservative": {"conservative": True}}


def measure(trial: Trial, *, setting: str) -> Iterator[Row]:
    """Measure the coverage of both intervals, their widths, and the test's false rejections."""
    problem = PROBLEMS[setting]
    repeats = math.ceil(trial.repeats * problem.effort)
    found = [
        each
        for start in range(0, repeats, BATCH)
        for each in judged(problem, trial.rng, min(BATCH, repeats - start))
    ]
    for method in CHOICES:
        missed = np.array([each.missed(method) for each in found])
        covered = int((~missed.any(axis=1)).sum())
        yield share("coverage", covered, repeats, method=method)
        yield share("upper limit too low", int(missed[:, 1].sum()), repeats, method=method)
    tested = [each.rejected for each in found if each.rejected is not None]
    if tested:
        yield share("false rejections", sum(tested), repeats, method="auto")
    doubted = sum(each.doubted for each in found)
    yield share("not claimed", doubted, repeats, method="auto")
    yield from _widths(problem, min(max(repeats // 20, 5), MOST_WIDTHS), trial.rng)


@dataclass(frozen=True)
class Judged:
    """Results of one test set: tail probabilities at the truth, the test's verdict, and caution."""

    tails: Mapping[str, tuple[float, float]]
    rejected: bool | None
    doubted: bool

    def missed(self, method: str) -> tuple[bool, bool]:
        """Tell whether the truth is below the lower limit, and whether it is above the upper."""
        below, above = self.tails[method]
        return below < ALPHA / 2, above < ALPHA / 2


def judged(problem: Problem, rng: np.random.Generator, times: int) -> list[Judged]:
    """Evaluate `times` test sets.

    An interval excludes the truth exactly where one of its tails there is below α/2, and the test
    rejects where one of the difference's is. Tails take a tenth of the time of limits, and a third
    of that if many test sets are computed together.
    """
    estimates, truths, differences = [], [], []
    for _ in range(times):
        drawn = problem.draw(rng)
        decided = first_decisions(drawn, rng)
        truths.append(problem.cost if drawn.truth is None else drawn.truth)
        estimates.append(estimate_of(problem, drawn, decided)._outcomes)  # noqa: SLF001
        if drawn.truth is None:
            differences.append(difference_of(problem, drawn, decided, rng))
    tails = tails_of(estimates, truths, tuple(CHOICES))
    rejected = rejections(differences) if differences else [None] * times
    return [
        Judged(
            {method: pairs[index] for method, pairs in tails.items()},
            rejected[index],
            bool(each.caution),
        )
        for index, each in enumerate(estimates)
    ]


def tails_of(
    outcomes: Sequence[Outcomes], margins: Sequence[float], methods: Sequence[str] = ("auto",)
) -> dict[str, list[tuple[float, float]]]:
    """Return both tails of the default interval at each margin, in one call where possible."""
    found = {method: [(0.0, 0.0)] * len(outcomes) for method in methods}
    together = []
    for index, (each, margin) in enumerate(zip(outcomes, margins, strict=True)):
        lean = extremal._condensed(each)  # noqa: SLF001
        if not extremal._several(lean):  # noqa: SLF001
            together.append((index, lean.only, margin))
            continue
        for method, pair in _of_strata(lean, margin, methods).items():
            found[method][index] = pair
    for method in methods if together else ():
        both = []
        for end in (0, -1):
            rows = [_draws(each, margin, end, **CHOICES[method]) for _, each, margin in together]
            both.append(gamma_ratio.upper_tail(*_padded(rows)).tolist())
        for (index, *_), below, above in zip(together, *both, strict=True):
            found[method][index] = below, above
    return found


def _of_strata(
    outcomes: Outcomes, margin: float, methods: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Return the tails of one table with several strata, computing their sum once if possible."""
    at = [float(np.nextafter(sign * margin, -np.inf)) for sign in (-1, 1)]
    pair, found = limit_pair(outcomes, 0, extremal.WEIGHT, full=False), {}
    alike = all(each.units is None and math.isinf(each.left) for each in outcomes.strata)
    for method in methods:
        if CHOICES[method] and alike:  # conservative limits differ only in the extra draw's weight
            for limit in pair:
                limit.extra = None if limit.extra is None else (1.0, limit.extra[1])
        elif CHOICES[method]:
            pair = limit_pair(outcomes, 0, 1.0, full=True)
        below, above = (limit.upper_tail(value) for limit, value in zip(pair, at, strict=True))
        found[method] = below, above
    return found


def _draws(
    stratum: Stratum, margin: float, end: int, *, conservative: bool = False
) -> tuple[Floats, Floats]:
    """Return the excess of each draw over the margin, times its size, and the draw's weight."""
    sizes, room = np.ones(len(stratum.costs)), 1.0
    if stratum.units is not None:
        sizes, room = stratum.units.sizes, stratum.units.room(end, full=conservative)
    sign = 1.0 if end else -1.0
    beyond = sign * np.append(stratum.costs, stratum.end(end))
    beyond -= np.nextafter(sign * margin, -np.inf)  # the margin itself counts on both sides
    share = 1.0 if conservative else extremal.WEIGHT
    return np.append(sizes, room) * beyond, np.append(stratum.counts[0], share)


def _padded(rows: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    values, weights = np.zeros((2, len(rows), max(len(each) for each, _ in rows)))
    for index, (value, weight) in enumerate(rows):
        values[index, : len(value)], weights[index, : len(weight)] = value, weight
    return values, weights


def rejections(differences: Sequence[CostDifference]) -> list[bool]:
    """Tell for which differences the default test rejects 0."""
    outcomes = [each._outcomes for each in differences]  # noqa: SLF001
    tails = tails_of(outcomes, [0.0] * len(outcomes))["auto"]
    return [min(pair) <= ALPHA / 2 for pair in tails]


def _widths(problem: Problem, repeats: int, rng: np.random.Generator) -> Iterator[Row]:
    """Measure the widths of the intervals, and of the rival, whose coverage is known to hold."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for _ in range(repeats):
        drawn = problem.draw(rng)
        decided = first_decisions(drawn, rng)
        truth = problem.cost if drawn.truth is None else drawn.truth
        estimate = estimate_of(problem, drawn, decided)
        for method, options in CHOICES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StakesWarning)
                interval = estimate.interval(**options)
            found.setdefault(method, []).append((interval.low, interval.high, truth))
        if problem.rival:
            found.setdefault("rival", []).append((*rival(problem, drawn, decided), truth))
    for method, each in found.items():
        low, high, truths = np.array(each).T
        yield average("width", high - low, method=method)
        if method == "rival":
            covered = (low <= truths) & (truths <= high)
            yield share("coverage", int(covered.sum()), repeats, method=method)


def estimate_of(problem: Problem, drawn: Drawn, decided: Decided) -> CostEstimate:
    """Return the estimated cost of the first model."""
    costs = _costs(problem, drawn, problem.miss_cost)
    if problem.bound is not None and isinstance(costs, ExampleCosts):
        return CostEstimate(CostSample(costs.of(decided), 0.0, problem.bound))
    return evaluate(drawn.positive.astype(int), decided, costs, **drawn.options)


def difference_of(
    problem: Problem, drawn: Drawn, decided: Decided, rng: np.random.Generator
) -> CostDifference:
    """Return a difference whose true value is 0: few misses against many false alarms.

    The second model misses none; its additional false alarms cost as much as the first's misses.
    """
    most = MOST_ALARMS - problem.alarms
    cost = min(problem.miss_cost, most * problem.negative / problem.missed)
    alarms = problem.alarms + cost * problem.missed / problem.negative
    second = (drawn.positive | (rng.random(len(decided)) < alarms)).astype(int)
    costs = _costs(problem, drawn, cost)
    if problem.bound is not None and isinstance(costs, ExampleCosts):
        values = costs.of(decided) - costs.of(second)
        return CostDifference(CostSample(values, -1.0, problem.bound * cost / problem.miss_cost))
    return compare(drawn.positive.astype(int), decided, second, costs, **drawn.options)


def first_decisions(drawn: Drawn, rng: np.random.Generator) -> Decided:
    """Return the decisions of the first model."""
    alarm = drawn.alarm
    if alarm is None:
        alarm = ~drawn.positive & (rng.random(len(drawn.positive)) < ALARMS)
    return ((drawn.positive & ~drawn.miss) | alarm).astype(np.intp)


def _costs(problem: Problem, drawn: Drawn, miss_cost: float) -> CostMatrix | ExampleCosts:
    if drawn.stakes is None:
        return CostMatrix.from_errors(false_positive=1, false_negative=miss_cost)
    stakes = drawn.stakes * miss_cost / problem.miss_cost
    negative = ~drawn.positive
    values = np.column_stack([np.where(negative, 0.0, stakes), negative.astype(float)])
    return ExampleCosts(values, decisions=[0, 1])


# Rivals whose coverage is known to hold: Gaffke's bound, and its combination over strata.


def rival(problem: Problem, drawn: Drawn, decided: Decided) -> tuple[float, float]:
    """Return the limits of an interval whose coverage is known to hold in this design."""
    costs = np.where(drawn.miss, MISS, np.where(~drawn.positive & (decided == 1), 1.0, 0.0))
    options = drawn.options
    if problem.rival == PRODUCTS:
        scaled = options["sample_weight"] / options["sample_weight"].mean()
        return _gaffke(scaled * costs, MISS * float(scaled.max()))
    if "groups" in options:
        groups = options["groups"]
        means = np.bincount(groups, costs) / np.bincount(groups)
        if problem.rival == MEANS:
            return _gaffke(means, MISS)
        first = np.unique(groups, return_index=True)[1]
        blocks, shares = options["strata"][first], np.array(SHARES)
        inside = [means[blocks == block] for block in range(len(shares))]
        ends = np.array([_gaffke(values, MISS) for values in inside])
        return _mover(shares, np.array([values.mean() for values in inside]), *ends.T)
    blocks, shares = _blocks(drawn)
    if problem.design.startswith("class"):  # a negative costs at most a false alarm
        inside = [costs[blocks == block] for block in (0, 1)]
        ends = np.array([_gaffke(inside[0], 1.0), _gaffke(inside[1], MISS)])
        return _mover(shares, np.array([values.mean() for values in inside]), *ends.T)
    kinds = np.searchsorted([0.0, 1.0, MISS], costs)
    counts = np.zeros((len(shares), 3))
    np.add.at(counts, (blocks, kinds), 1.0)
    table = np.stack([counts[:, [0, 2]], counts[:, [1]] * [1, 0]], axis=1)
    matrix = CostMatrix.from_errors(false_positive=1, false_negative=MISS)
    ends = np.array(batch_intervals(table, matrix, conservative=True))
    return _mover(shares, counts @ [0.0, 1.0, MISS] / counts.sum(axis=1), *ends)


def _gaffke(values: Floats, top: float) -> tuple[float, float]:
    interval = CostEstimate(CostSample(values, 0.0, top)).interval(conservative=True)
    return interval.low, interval.high


def _blocks(drawn: Drawn) -> tuple[NDArray[np.intp], Floats]:
    """Return the stratum of each row, and the shares of the strata."""
    options = drawn.options
    if "sample_weight" in options:
        weights, blocks = np.unique(options["sample_weight"], return_inverse=True)
        shares = weights * np.bincount(blocks)
    elif isinstance(options.get("strata", "class"), str):
        blocks = drawn.positive.astype(np.intp)
        shares = np.asarray(options.get("class_priors", np.bincount(blocks)), dtype=float)
    else:
        blocks = options["strata"]
        shares = np.bincount(blocks).astype(float)
        if "population" in options:
            shares = np.array([options["population"][name] for name in range(len(shares))])
    return blocks, shares / shares.sum()


def _mover(shares: Floats, means: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """Combine means and their limits (Zou & Donner 2008)."""
    middle = float(shares @ means)
    down = float(np.sqrt(((shares * (means - low)) ** 2).sum()))
    up = float(np.sqrt(((shares * (high - means)) ** 2).sum()))
    return middle - down, middle + up


# The table of the guide.

HEADER = ("design", "test set", "drawn", "default", "conservative", "false rejections", "width")


def table(results: Results) -> str:
    """Return the table of the guide to designs, in Markdown, with percentages."""
    lines: list[tuple[str, ...]] = [HEADER, ("---", "---", "---:", "---:", "---:", "---:", "---:")]
    for name, problem in PROBLEMS.items():
        rows = results.select(setting=name)
        if rows:
            lines.append((problem.design, problem.setting, *_numbers(rows)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _numbers(rows: Sequence[Row]) -> tuple[str, ...]:
    found = {(row["measure"], row["method"]): float(row["value"]) for row in rows}

    def percent(measure: str, method: str) -> str:
        value = found.get((measure, method))
        return "" if value is None else f"{100 * value:.1f}"

    mark = " †" if found["not claimed", "auto"] >= 0.5 else ""  # noqa: PLR2004 - mostly
    other = found.get(("width", "rival"))
    width = "" if other is None else f"{found['width', 'auto'] / other:.2f}"
    return (
        f"{next(row['repeats'] for row in rows if row['measure'] == 'coverage')}",
        percent("coverage", "auto") + mark,
        percent("coverage", "conservative"),
        percent("false rejections", "auto"),
        width,
    )


EXPERIMENT = Experiment(
    name="designs",
    title="How often the default intervals and tests are right, in every design",
    source="No paper: groups, weights, strata, class priors and single costs, and combinations",
    varies={"setting": tuple(PROBLEMS)},
    measure=measure,
    repeats=1000,
    least=5,
)


if __name__ == "__main__":
    from replications.store import kept_results

    kept = kept_results(EXPERIMENT.name)
    if kept is not None:
        print(table(kept))  # noqa: T201 - what this is for
