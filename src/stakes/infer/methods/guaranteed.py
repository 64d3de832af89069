"""An interval that is valid for every distribution and every n: betting against each mean.

A bet against a mean m stakes a fraction f of the fortune on each example, which multiplies it by
1 - f + f (C - low)/(m - low). If m is the true mean, no choice of f makes the expected
fortune larger than 1, so a fortune of 2/α has a probability of at most α/2 (Waudby-Smith & Ramdas
2024). The fortune is split over fractions on a geometric grid, and so does not depend on the order
of the examples: the counts suffice.

With strata, a label of stratum h moves the estimate by at most its unit, u_h = W_h·range/n_h. Let y
be the cost as a share of the stratum's range, g_h = u_h/max u, 0 ≤ θ < 1, and μ the mean minus its
least possible value. The expected value of Π(1 - θ g y) is Π(1 - θ g_h E y)^n_h ≤ exp(-θ μ/max u),
and no larger where rows are sampled without replacement (Hoeffding 1963). So
Π(1 - θ g y)·exp(θ μ/max u), mixed over θ, refutes a μ that is too high; with costs reversed, one
that is too low. As long as the shares of the strata in the labels stay the same, so do the g_h, and
the limits hold at the ends of all batches at once.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer._probability.betting import (
    CLOSE,
    FRACTIONS,
    LOG_SHARES,
    MOST_STEPS,
    lower_limit,
    mixture_wealth,
)
from stakes.infer.methods import ONE_SAMPLE, IntervalMethod


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return the means against which betting has multiplied the fortune by 2/α."""
    goal = np.log(2 / alpha)
    if len(outcomes.strata) > 1 or outcomes.only.labelled > 0:
        tables = range(outcomes.tables)
        low = [0.0 - _upper_of_strata(outcomes, table, -1, goal) for table in tables]
        return np.array(low), np.array(
            [_upper_of_strata(outcomes, table, 1, goal) for table in tables]
        )
    stratum = outcomes.only.condensed()
    return (
        lower_limit(stratum.costs, stratum.counts, mixture_wealth, goal),
        -lower_limit(-stratum.costs[::-1], stratum.counts[:, ::-1], mixture_wealth, goal),
    )


SHARES = np.exp(LOG_SHARES[:-1]) / np.exp(LOG_SHARES[:-1]).sum()
FOR_ALMOST_ALL = 0.3
"""The share of the fortune for θ near 1, on which the limit depends while no cost is observed."""


def _upper_of_strata(outcomes: Outcomes, table: int, sign: int, goal: float) -> float:
    """Return the upper limit of strata (`sign` 1), or of their costs negated (-1)."""
    drawn, highest, bottom = [], 0.0, 0.0
    for each in outcomes.strata:
        top, least = sorted((sign * each.end(0), sign * each.end(-1)), reverse=True)
        n = float(each.n[table])
        known = each.labelled if n else 0.0
        mean = sign * float(each.mean[table])
        highest += each.weight * (known * mean + (1 - known) * top)
        if n and top > least and not each.certain:
            drawn.append((each, least, top - least, n))
            bottom += each.weight * least
        else:
            bottom += each.weight * (mean if n or top == least else top)
    if not drawn:
        return highest
    largest = max(each.weight * span / n for each, _, span, n in drawn)
    logs = np.log(np.append((1 - FOR_ALMOST_ALL) * SHARES, FOR_ALMOST_ALL))
    for each, least, span, n in drawn:
        unit = each.weight * span / n / largest
        shares = unit * (sign * each.costs - least) / span
        logs = logs + np.log1p(-np.outer(FRACTIONS, shares)) @ each.counts[table]
    rates = FRACTIONS / largest
    # The logarithm of the fortune is convex and rises with μ: Newton's method from beyond the root.
    excess = float(((goal - logs) / rates).min())
    for _ in range(MOST_STEPS):
        terms = logs + rates * excess
        total = float(logsumexp(terms))
        step = (total - goal) / float(rates @ np.exp(terms - total))
        excess -= step
        if abs(step) < CLOSE * max(abs(excess), largest):
            break
    return min(bottom + excess, highest)


METHOD = IntervalMethod(
    name="guaranteed",
    designs=ONE_SAMPLE | {"stratified", "finite"},
    limits=limits,
    needs_bounds=True,
)
