"""Power of the default test of differences, the extremal one, against that of version 0.1.0.

Version 0.1.0 used the exact bootstrap where the largest and the smallest possible difference were
each observed five times, and the extremal test elsewhere. This is not from a paper. The page on
differences has the numbers: this module prints its tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from replications.experiment import Experiment, Results, Row, Trial, share
from stakes._core.typing import Floats
from stakes.infer.batch import Outcomes, batch_p_values, make_stratum

ALPHA, ENOUGH, EXAMPLES = 0.05, 5, 1_000_000
"""The number of examples hardly matters: only disagreements do, which are rare among them."""

RATIOS = (1, 5, 20, 100)
EXPECTED = (2, 5, 10, 20, 50, 200, 1000)
"""Expected numbers of expensive mistakes that only the worse model makes."""

APART = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
"""Differences in cost, in standard errors."""

EXPENSIVE, ALL = "expensive mistakes", "all mistakes"
THRESHOLDS = "two thresholds"
SAME = 2
"""The place of no difference among the outcomes."""

BEFORE, NOW, EXACT = "0.1.0", "extremal", "exact bootstrap"


def differences(kind: str, ratio: int, expected: int) -> Iterator[tuple[float, Floats, Floats]]:
    """Return differences in standard errors, the possible outcomes, and how often each is expected.

    Of two models, the worse one makes more of the expensive mistakes or more of all; with no
    difference, each makes as many expensive ones alone, and `ratio` times as many cheap ones: as
    many as where both thresholds are best. Of two thresholds of one model, the lower one finds
    `expected` positives more, and makes fewer false alarms than would cost as much.
    """
    cheap = ratio * expected if ratio > 1 else 0  # at 1:1 all mistakes are alike
    possible = np.array([-ratio, -1.0, 1.0, ratio])

    def often(part: float) -> Floats:
        if kind == THRESHOLDS:
            return np.array([expected, 0.0, part * cheap, 0.0])
        fewer = part * cheap if kind == ALL else cheap
        return np.array([part * expected, fewer, cheap, expected], dtype=float)

    def beyond(part: float, apart: float) -> float:
        mean, square = possible @ often(part), possible**2 @ often(part)
        return float(abs(mean) - apart * math.sqrt(square))

    for apart in APART:
        if beyond(0.0, apart) >= 0:
            part = 1.0 if apart == 0 else float(brentq(beyond, 0.0, 1.0, args=(apart,)))
            yield apart, possible, often(part)


def of_models(possible: Floats, counts: NDArray[np.int64]) -> dict[str, Floats]:
    """Return the p-values of each test; the outcomes are given from the smallest."""
    exact, extremal = (p_values(possible, counts, each) for each in ("exact", "extremal"))
    often = (counts[:, 0] >= ENOUGH) & (counts[:, -1] >= ENOUGH)
    return {BEFORE: np.where(often, exact, extremal), NOW: extremal, EXACT: exact}


def of_thresholds(possible: Floats, counts: NDArray[np.int64]) -> dict[str, Floats]:
    """Return the p-values of both tests of two thresholds, where the lower one flags more.

    Version 0.1.0 did not know that the lower one cannot miss more. As it never does, its test was
    the extremal one.
    """
    real = [0, 2, 3]
    before, now = (possible, counts), (possible[real], counts[:, real])
    return {BEFORE: p_values(*before, "extremal"), NOW: p_values(*now, "extremal")}


def p_values(possible: Floats, counts: NDArray[np.int64], method: str) -> Floats:
    """Return the p-value of each table; the same tables are tested once."""
    different, which = np.unique(counts, axis=0, return_inverse=True)
    outcomes = Outcomes((make_stratum(possible, different, scale=float(np.abs(possible).max())),))
    return batch_p_values(outcomes, method)[which.ravel()]


def measure(trial: Trial, *, kind: str, ratio: int, expected: int) -> Iterator[Row]:
    """Measure how often each test shows that one policy costs less."""
    tests = of_thresholds if kind == THRESHOLDS else of_models
    for apart, possible, often in differences(kind, ratio, expected):
        chances = np.insert(often, SAME, EXAMPLES - often.sum()) / EXAMPLES
        drawn = trial.rng.multinomial(EXAMPLES, chances, trial.repeats)
        for method, p in tests(np.insert(possible, SAME, 0.0), drawn).items():
            hits = int((p <= ALPHA).sum())
            yield share("power", hits, trial.repeats, method=method, apart=apart)


# The tables of the page on differences.


def powers(results: Results, kinds: Sequence[str], ratio: int, expected: int) -> list[Floats]:
    """Return the power of both tests at each difference of some kinds."""
    rows = [
        {(row["kind"], row["apart"]): float(row["value"]) for row in results.select(
            method=method, ratio=ratio, expected=expected, measure="power")}
        for method in (BEFORE, NOW)
    ]  # fmt: skip
    return [np.array([each[at] for each in rows]) for at in rows[0] if at[0] in kinds]


def loss(results: Results, ratio: int, expected: int) -> Floats:
    """Return the power of both tests where the test of version 0.1.0 has the largest advantage."""
    found = powers(results, (EXPENSIVE, ALL), ratio, expected)
    return max(found, key=lambda each: (round(each[0] - each[1], 2), each[0]))


def gain(results: Results, ratio: int, expected: int) -> Floats:
    """Return the power of both tests where that of version 0.1.0 has the largest disadvantage."""
    found = powers(results, (THRESHOLDS,), ratio, expected)
    return max(found, key=lambda each: (round(each[1] - each[0], 2), each[0]))


def table(results: Results) -> str:
    """Return the table of the largest losses of power of two models, in Markdown."""
    return _table(results, loss, RATIOS)


def table_of_thresholds(results: Results) -> str:
    """Return the table of the largest gains of power of two thresholds, in Markdown."""
    return _table(results, gain, RATIOS[1:])


def _table(
    results: Results, of: Callable[[Results, int, int], Floats], ratios: Sequence[int]
) -> str:
    header = ["expected", *(f"{r}:1, {name}" for r in ratios for name in (BEFORE, NOW))]
    lines = [header, ["---:"] * len(header)]
    for expected in EXPECTED:
        both = [power for ratio in ratios for power in of(results, ratio, expected)]
        lines.append([f"{expected:,}", *(f"{each:.2f}" for each in both)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


EXPERIMENT = Experiment(
    name="default-power",
    title="How often the default test of differences finds one, against that of version 0.1.0",
    source="No paper: differences whose expensive outcomes are expected a stated number of times",
    varies={"kind": (EXPENSIVE, ALL, THRESHOLDS), "ratio": RATIOS, "expected": EXPECTED},
    measure=measure,
    repeats=20_000,
    least=50,
    skip=lambda kind, ratio, **_: ratio == 1 and kind != EXPENSIVE,
)


if __name__ == "__main__":
    from replications.store import kept_results

    kept = kept_results(EXPERIMENT.name)
    if kept is not None:
        print(f"{table(kept)}\n\n{table_of_thresholds(kept)}")  # noqa: T201 - what this is for
