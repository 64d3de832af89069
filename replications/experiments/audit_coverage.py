"""Coverage of audits with few labels and rare expensive misses, and of methods in use.

This is not from a paper. Each pool has 20,000 rows with decisions and a judge's verdicts; 500 rows
are labelled, at random or by a plan. ppi-python and glide-py are measured where they are installed;
the latter needs Python 3.12.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from replications.experiment import Experiment, Results, Row, Trial, average, share
from stakes import CostEstimate, CostMatrix, Design, GroupedConfusion, evaluate
from stakes._core.typing import Floats
from stakes.audit._allocation import Stratum, allocate
from stakes.infer._inference import quiet_interval

ROWS, LABELS, ALARMS, FALSE = 20_000, 500, 0.05, 0.6
"""Numbers of rows and labels of a pool, share of alarms, and share of false ones among these."""

JUDGES: Mapping[str, tuple[float, float]] = {
    "good": (0.9, 0.02),
    "weak": (0.6, 0.1),
    "misleading": (0.02, 0.05),
}
"""True and false positive rates of each judge."""

RATES, RATIOS = (0.0005, 0.002, 0.01, 0.05), (10, 50, 1000)
BASE, RIGHT, ENDLESS, WORTHS = 0.001, 0.5, (-math.inf, math.inf), 4
Z = float(-ndtri(0.025))
Codes = NDArray[np.intp]
Limits = tuple[float, float]


@dataclass(frozen=True)
class Rows:
    """A pool: the actual class, the decision and the verdict of each row."""

    actual: Codes
    decided: Codes
    verdict: Codes

    def costs(self, ratio: float) -> Floats:
        """Return the cost of each row."""
        missed = (self.actual == 1) & (self.decided == 0)
        return np.where(missed, ratio, np.where((self.actual == 0) & (self.decided == 1), 1.0, 0.0))

    def predicted(self, ratio: float) -> Floats:
        """Return the cost that each row would have if the judge were right."""
        return Rows(self.verdict, self.decided, self.verdict).costs(ratio)


def draw_pool(rate: float, judge: str, rng: np.random.Generator) -> Rows:
    """Draw a pool in which `rate` is the expected share of misses."""
    decided = (rng.random(ROWS) < ALARMS).astype(np.intp)
    positive = np.where(decided == 1, 1 - FALSE, rate / (1 - ALARMS))
    actual = (rng.random(ROWS) < positive).astype(np.intp)
    right, wrong = JUDGES[judge]
    verdict = (rng.random(ROWS) < np.where(actual == 1, right, wrong)).astype(np.intp)
    return Rows(actual, decided, verdict)


def measure(trial: Trial, *, rate: float, ratio: int, judge: str) -> Iterator[Row]:
    """Measure coverage, answers and upper limits of each method, and the worth of the strata."""
    found: dict[str, list[tuple[bool, bool, float]]] = {}
    refused: dict[str, int] = {}
    worths: dict[str, list[float]] = {}
    for repeat in range(trial.repeats):
        pool = draw_pool(rate, judge, trial.rng)
        truth = float(pool.costs(ratio).mean())
        limits, estimates = answers(pool, ratio, trial.rng)
        for method, (low, high) in limits.items():
            if math.isnan(high):  # it refuses openly, so no claim is made that could be wrong
                refused[method] = refused.get(method, 0) + 1
                continue
            answered = high > low
            covered = low - 1e-9 <= truth <= high + 1e-9
            found.setdefault(method, []).append((covered, answered, high))
        if repeat < WORTHS:
            for method, estimate in estimates.items():
                worths.setdefault(method, []).append(estimate.worth.equal)
    for method, each in found.items():
        held, given, highs = map(np.array, zip(*each, strict=True))
        yield share("coverage", int(held.sum()), len(each), method=method)
        yield share("answers", int(given.sum()), len(each) + refused.get(method, 0), method=method)
        yield average("upper limit", highs, method=method)
    for method, values in worths.items():
        yield average("worth in random labels", values, method=method)


def answers(
    pool: Rows, ratio: float, rng: np.random.Generator
) -> tuple[dict[str, Limits], dict[str, CostEstimate]]:
    """Return the limits of each method, and the estimates that state a worth of their strata."""
    costs = CostMatrix.from_errors(false_positive=1, false_negative=float(ratio))
    rows = rng.permutation(ROWS)[:LABELS]
    truth = np.full(ROWS, np.nan)
    truth[rows] = pool.actual[rows]
    judged = evaluate(truth, pool.decided, costs, judge=pool.verdict)
    plain = evaluate(pool.actual[rows], pool.decided[rows], costs, population=ROWS)
    planned, drawn, strata = audit(pool, costs, rng)
    limits = {
        "audit": _ends(planned),
        "judge": _ends(judged),
        "random labels": _ends(plain),
        "stratified z": stratified_z(pool.costs(ratio), drawn, strata),
        "IPW + z": weighted_z(pool.costs(ratio), drawn, strata),
    }
    if find_spec("ppi_py") is not None:
        limits["PPI++"] = ppi(pool, ratio, rows)
    if find_spec("glide") is not None:
        limits["GLIDE"] = glide(pool, ratio, rows)
    return limits, {"audit": planned, "judge": judged}


def _ends(estimate: CostEstimate) -> Limits:
    interval = quiet_interval(estimate, 0.95)
    return interval.low, interval.high


def audit(
    pool: Rows, costs: CostMatrix, rng: np.random.Generator
) -> tuple[CostEstimate, Codes, Codes]:
    """Label rows by a plan; return the estimate, the labelled rows, and the stratum of each row."""
    strata = pool.decided * 2 + pool.verdict
    names = ["ok: ok", "ok: fraud", "fraud: ok", "fraud: fraud"]
    sizes = np.bincount(strata, minlength=4)
    planned = []
    for place, name in enumerate(names):
        decision, verdict = divmod(place, 2)
        span = costs.values[decision]
        share_of_most = (span[verdict] - span.min()) / np.ptp(span)
        rate = max(BASE, RIGHT * float(share_of_most))
        most = float(np.ptp(span))
        planned.append(
            Stratum(name, (decision,), (), ENDLESS, ENDLESS, int(sizes[place]), 0.0, most, rate)
        )
    made = allocate(planned, LABELS, 0.95)
    counts = np.zeros((4, 2, 2), dtype=int)
    drawn = []
    for place, each in enumerate(made):
        inside = rng.permutation(np.flatnonzero(strata == place))[: each.labels]
        np.add.at(counts, (place, pool.decided[inside], pool.actual[inside]), 1)
        drawn.append(inside)
    present = sizes > 0
    kept = [name for name, here in zip(names, present, strict=True) if here]
    table = GroupedConfusion(counts[present], [0, 1], strata=kept)
    design = Design(
        population=dict(zip(kept, sizes[present].tolist(), strict=True)),
        decided={name: place // 2 for place, name in enumerate(names) if present[place]},
    )
    return CostEstimate(table, costs, design), np.concatenate(drawn), strata


def stratified_z(values: Floats, drawn: Codes, strata: Codes) -> Limits:
    """Return z limits of the stratified mean, with the textbook's standard error."""
    mean = variance = 0.0
    for stratum in np.unique(strata):
        inside = values[drawn[strata[drawn] == stratum]]
        rows = int((strata == stratum).sum())
        if not len(inside):
            continue
        weight, left = rows / ROWS, 1 - len(inside) / rows
        mean += weight * float(inside.mean())
        if len(inside) > 1:
            variance += weight**2 * float(inside.var(ddof=1)) / len(inside) * left
    return mean - Z * math.sqrt(variance), mean + Z * math.sqrt(variance)


def weighted_z(values: Floats, drawn: Codes, strata: Codes) -> Limits:
    """Return z limits of the mean of rows weighted by inverse sampling probabilities."""
    sizes = np.bincount(strata, minlength=4)
    labels = np.bincount(strata[drawn], minlength=4)
    weights = (sizes / np.maximum(labels, 1))[strata[drawn]]
    each = weights * values[drawn] * len(drawn) / ROWS
    arm = Z * float(each.std(ddof=1)) / math.sqrt(len(each))
    return float(each.mean()) - arm, float(each.mean()) + arm


def ppi(pool: Rows, ratio: float, rows: Codes) -> Limits:
    """Return the interval of ppi-python, with its tuned weight of the verdicts (PPI++)."""
    from ppi_py import ppi_mean_ci

    others = np.setdiff1d(np.arange(ROWS), rows)
    values, guesses = pool.costs(ratio), pool.predicted(ratio)
    low, high = ppi_mean_ci(values[rows], guesses[rows], guesses[others], alpha=0.05)
    return float(np.ravel(low)[0]), float(np.ravel(high)[0])


def glide(pool: Rows, ratio: float, rows: Codes) -> Limits:
    """Return the interval of glide-py, PPI++ in strata by decision; NaN where it refuses."""
    from glide.estimators import StratifiedPPIMeanEstimator

    values = np.full(ROWS, np.nan)
    values[rows] = pool.costs(ratio)[rows]
    try:
        found = StratifiedPPIMeanEstimator().estimate(values, pool.predicted(ratio), pool.decided)
    except ValueError:  # such as labels that are all the same
        return math.nan, math.nan
    return found.confidence_interval.lower_bound, found.confidence_interval.upper_bound


# The table of the explanation.

METHODS = ("audit", "judge", "random labels", "PPI++", "GLIDE", "stratified z", "IPW + z")


def table(results: Results) -> str:
    """Return the lowest coverage by method over all ratios, in Markdown."""
    found = [
        (rate, judge, [_shown(results.select(rate=rate, judge=judge), each) for each in METHODS])
        for rate in RATES
        for judge in JUDGES
    ]
    return _markdown(METHODS, found)


def limits_table(results: Results, ratio: int = 50) -> str:
    """Return mean upper limits by method, the true cost, and worths in labels, in Markdown."""
    found = []
    for rate in RATES:
        for judge in JUDGES:
            rows = results.select(rate=rate, judge=judge, ratio=ratio)
            limits = [_mean(rows, each, "upper limit", "{:.2f}") for each in METHODS]
            worths = [_mean(rows, each, "worth in random labels", "{:,.0f}") for each in METHODS]
            truth = f"{rate * ratio + ALARMS * FALSE:.2f}"
            found.append((rate, judge, [truth, *limits, *worths[:2]]))
    return _markdown(("true cost", *METHODS, "audit, labels", "judge, labels"), found)


def _markdown(columns: Sequence[str], found: Sequence[tuple[float, str, list[str]]]) -> str:
    lines: list[Sequence[str]] = [
        ("misses", "judge", *columns),
        ("---:", "---", *("---:" for _ in columns)),
    ]
    lines += [(f"{100 * rate:g}%", judge, *cells) for rate, judge, cells in found]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _mean(rows: Sequence[Row], method: str, measure: str, form: str) -> str:
    found = [row for row in rows if row["method"] == method and row["measure"] == measure]
    return form.format(float(found[0]["value"])) if found else ""


def _shown(rows: Sequence[Row], method: str) -> str:
    """Return the lowest coverage over the cost ratios, and the lowest share of answers."""
    chosen = [row for row in rows if row["method"] == method]
    covered = [float(row["value"]) for row in chosen if row["measure"] == "coverage"]
    answered = [float(row["value"]) for row in chosen if row["measure"] == "answers"]
    if not covered:
        return ""
    text = f"{100 * min(covered):.0f}"
    return text if min(answered) == 1 else f"{text} ({100 * min(answered):.0f})"


EXPERIMENT = Experiment(
    name="audit-coverage",
    title="What few labels tell of rare expensive misses, by method",
    source="No paper: audits of 20,000 rows with 500 labels and a judge's verdicts",
    varies={"rate": RATES, "ratio": RATIOS, "judge": tuple(JUDGES)},
    measure=measure,
    repeats=100,
    least=3,
)


if __name__ == "__main__":
    from replications.store import kept_results

    kept = kept_results(EXPERIMENT.name)
    if kept is not None:
        print(f"{table(kept)}\n\n{limits_table(kept)}")  # noqa: T201 - what this is for
