"""Comparisons with other packages: scipy and, where installed, mlxtend, empulse and R.

Where both sides should find the same number, the benchmark asserts that they do.
"""

from __future__ import annotations

import shutil
import subprocess
import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from harness import Row, faster_than
from numpy.typing import NDArray
from scipy.stats import permutation_test

from stakes import Confusion, CostMatrix, compare, evaluate
from stakes.measures import savings

COSTS = CostMatrix.from_errors(false_positive=3, false_negative=40)
ZERO_ONE = CostMatrix.zero_one([0, 1])
N = 10**6

Labels = NDArray[np.int64]


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    rng = np.random.default_rng(0)
    actual = (rng.random(N) < 0.1).astype(np.int64)
    first, second = (np.where(rng.random(N) < right, actual, 1 - actual) for right in (0.9, 0.8995))
    yield from _scipy(actual, first, second, rng)
    if _installed("mlxtend"):
        yield from _mlxtend(actual, first, second)
    if _installed("empulse"):
        yield from _empulse(actual, first)
    yield from _r(actual, first, second)


def _installed(name: str) -> bool:
    if find_spec(name) is None:
        print(f"{name} is not installed: its comparison is left out")
        return False
    return True


def _scipy(
    actual: Labels, first: Labels, second: Labels, rng: np.random.Generator
) -> Iterator[Row]:
    few = slice(10**4)
    cost = COSTS.values
    each = cost[first[few], actual[few]] - cost[second[few], actual[few]]
    yield faster_than(
        "compare + sign-flip test, 10⁴ labels",
        lambda: compare(actual[few], first[few], second[few], COSTS).test("signflip"),
        lambda: permutation_test(
            (each,),
            np.mean,
            permutation_type="samples",
            vectorized=True,
            n_resamples=9999,
            batch=100,
            rng=rng,
        ),
        "scipy permutation_test, 9999 flips",
        at_least=10,
        repeats=1,
    )


def _mlxtend(actual: Labels, first: Labels, second: Labels) -> Iterator[Row]:
    from mlxtend.evaluate import bootstrap, mcnemar, mcnemar_table

    def theirs() -> float:
        return float(mcnemar(mcnemar_table(actual, first, second), exact=True)[1])

    def ours() -> float:
        return compare(actual, first, second, ZERO_ONE).test("mcnemar").p_value

    assert np.isclose(theirs(), ours(), rtol=1e-6), (theirs(), ours())
    yield faster_than(
        "compare + McNemar's test, 10⁶ labels",
        ours,
        theirs,
        "mlxtend mcnemar_table + mcnemar",
        at_least=1,
        repeats=5,
    )
    few = slice(10**5)
    each = COSTS.values[first[few], actual[few]]
    yield faster_than(
        "evaluate + interval, 10⁵ labels",
        lambda: evaluate(actual[few], first[few], COSTS).interval(),
        lambda: bootstrap(each, np.mean, num_rounds=1000, seed=0),
        "mlxtend bootstrap, 1000 rounds",
        at_least=100,
        repeats=1,
    )


def _empulse(actual: Labels, first: Labels) -> Iterator[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of packages that it imports
        from empulse.metrics import cost_loss, savings_score
    prices: dict[str, Any] = {"fp_cost": 3.0, "fn_cost": 40.0}

    def their_cost() -> float:
        return float(cost_loss(actual, first, normalize=True, **prices))

    def our_cost() -> float:
        return evaluate(actual, first, COSTS).cost

    def their_savings() -> float:
        return float(savings_score(actual, first, **prices))

    def our_savings() -> float:
        return savings(Confusion.from_labels(actual, first), COSTS)

    for what, ours, theirs in (
        ("cost_loss", our_cost, their_cost),
        ("savings_score", our_savings, their_savings),
    ):
        assert np.isclose(ours(), theirs()), (what, ours(), theirs())
        yield faster_than(
            f"{ours.__name__.replace('our_', '')} of 10⁶ labels",
            ours,
            theirs,
            f"empulse {what}",
            at_least=1,
            repeats=7,
        )


def _r(actual: Labels, first: Labels, second: Labels) -> Iterator[Row]:
    """Compare with R's test on the same labels; R's time excludes its start-up."""
    program = shutil.which("Rscript")
    if program is None:
        print("R is not installed: its comparison is left out")
        return
    right = np.stack([first == actual, second == actual], axis=1).astype(np.uint8)
    code = (
        "x <- matrix(as.integer(readBin(file('stdin', 'rb'), 'raw', 1e8)), ncol = 2, byrow = TRUE);"
        "t <- system.time({m <- table(x[, 1], x[, 2]);"
        "p <- binom.test(m[1, 2], m[1, 2] + m[2, 1])$p.value});"
        "cat(t[['elapsed']], p)"
    )
    run = subprocess.run(
        [program, "-e", code], input=right.tobytes(), capture_output=True, check=True
    )
    seconds, p_value = map(float, run.stdout.split())
    start = time.perf_counter()
    ours = compare(actual, first, second, ZERO_ONE).test("mcnemar").p_value
    mine = time.perf_counter() - start
    assert np.isclose(ours, p_value), (ours, p_value)
    yield Row(
        "compare + McNemar's test, 10⁶ labels",
        "R table + binom.test",
        f"{seconds * 1e3:.3g} ms",
        f"{mine * 1e3:.3g} ms",
        seconds / mine,
        "reported",
        met=True,
    )
