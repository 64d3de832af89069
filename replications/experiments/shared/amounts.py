"""Test sets with a cost for each example, under several sampling designs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr

from replications.experiments.shared.sampled import ILL, SHARES, Drawn, Problem, Rng
from stakes._core.typing import Floats


def single_costs(
    sigma: float, groups: int = 0, *, bound: float | None = None, found: float = 0.9
) -> Problem:
    """Return ten expected misses in a thousand rows, each with a lognormal cost."""
    n, miss_share = 1000, 0.01
    share = miss_share / (1 - found)
    mean = float(np.exp(sigma**2 / 2))
    if bound is not None:  # the mean of a truncated lognormal: larger amounts are redrawn
        reach = np.log(bound) / sigma
        mean *= float(ndtr(reach - sigma) / ndtr(reach))

    def amounts(rng: Rng) -> Floats:
        each = rng.lognormal(0, sigma, n)
        while bound is not None and (each > bound).any():
            again = each > bound
            each[again] = rng.lognormal(0, sigma, int(again.sum()))
        return np.asarray(50 * each)

    def draw(rng: Rng) -> Drawn:
        if not groups:
            positive = rng.random(n) < share
            miss = positive & (rng.random(n) >= found)
            return Drawn(positive, miss, stakes=amounts(rng))
        group = np.repeat(np.arange(groups), n // groups)
        ill, lost = rng.random(groups) < ILL, rng.random(groups) < miss_share / ILL
        options = {"groups": group}
        return Drawn(ill[group], (ill & lost)[group], options=options, stakes=amounts(rng))

    known = "" if bound is None else f", at most {50 * bound:,.0f}"
    design, each = ("examples × groups", f", {groups} groups") if groups else ("examples", "")
    of = "" if groups else f" in {n * share:.0f}"
    setting = f"10 misses{of} of lognormal σ {sigma:g}{known}{each}"
    return Problem(
        design,
        setting,
        draw,
        miss_share,
        1 - ILL if groups else 1 - share,
        miss_cost=50 * mean,
        bound=None if bound is None else 50 * bound,
    )


def combined(*designs: str) -> Problem:
    """Return one expected miss of a lognormal cost among 200 positives, in a combined design."""
    n, expected, prior = 1000, 1.0, 0.1
    grouped, priors = "groups" in designs, "priors" in designs
    draws = n // 10 if grouped else n
    unit = np.repeat(np.arange(draws), n // draws)

    def draw(rng: Rng) -> Drawn:
        positive, lost = rng.random(draws) < ILL, rng.random(draws) < expected / (draws * ILL)
        options: dict[str, Any] = {}
        if grouped:
            options["groups"] = unit
        if "weights" in designs:
            options["sample_weight"] = rng.choice([1.0, 10.0], draws)[unit]
        if "strata" in designs:
            options |= {"strata": unit % 4, "population": dict(enumerate(SHARES))}
        if priors:
            options["class_priors"] = [1 - prior, prior]
        stakes = 50 * rng.lognormal(0, 1, n)
        return Drawn(positive[unit], (positive & lost)[unit], options=options, stakes=stakes)

    share = prior if priors else ILL
    setting = f"lognormal σ 1, 1 missed{' whole, 100 × 10' if grouped else ' in 200'}"
    return Problem(
        " × ".join(("examples", *designs)),
        setting,
        draw,
        share * expected / (draws * ILL),
        1 - share,
        miss_cost=50 * float(np.exp(0.5)),
    )


COMBINED = (
    ("weights",),
    ("priors",),
    ("groups", "weights"),
    ("strata", "priors"),
)


def amount_problems() -> Iterator[Problem]:
    """Return all problems with a cost for each example."""
    yield from (single_costs(sigma) for sigma in (1, 2))
    yield from (single_costs(sigma, found=0.5) for sigma in (1, 2))
    yield from (single_costs(sigma, bound=float(np.exp(3 * sigma))) for sigma in (1, 2))
    yield single_costs(1, 100)
    yield from (combined(*designs) for designs in COMBINED)
