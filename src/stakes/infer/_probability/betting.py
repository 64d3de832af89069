"""Wealth of bets against a mean, for the guaranteed, the likelihood and the anytime intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from stakes._core.typing import Floats

Wealth = Callable[[Floats, Floats, Floats], Floats]

FRACTIONS_PER_E = 3
"""The number of fractions on the grid of the mixture for each factor of e."""


def lower_limit(costs: Floats, counts: Floats, wealth: Wealth, goal: float) -> Floats:
    """Return the largest mean against which the log-wealth reaches `goal`, for each table.

    Betting that the mean is higher than m wins less as m grows, so the limit is found by bisection
    between the lowest possible cost and the observed mean.
    """
    span = costs[-1] - costs[0]
    if span == 0:
        return np.full(len(counts), costs[0])
    scaled = (costs - costs[0]) / span
    mean = counts @ scaled / counts.sum(axis=1)
    # Bisection of log(m), since limits may lie many orders of magnitude below the mean.
    low, high = np.full(len(counts), -700.0), np.log(np.maximum(mean, 1e-300))
    for _ in range(60):
        middle = (low + high) / 2
        won = wealth(scaled, counts, np.exp(middle)) >= goal
        low, high = np.where(won, middle, low), np.where(won, high, middle)
    limit = np.where((low > -700) & (mean > 0), np.exp(low), 0.0)  # noqa: PLR2004 - never won
    return np.asarray(costs[0] + span * limit)


def mixture_wealth(costs: Floats, counts: Floats, mean: Floats) -> Floats:
    """Return the log-wealth of a fortune split equally over a geometric grid of fractions.

    `costs` range from 0 to 1. Fractions range from 1 down to 1/n and do not depend on the data.
    """
    steps = np.ceil(FRACTIONS_PER_E * np.log(counts.sum(axis=1) + 1)) + 1
    gains = costs / mean[:, np.newaxis] - 1
    logs = np.full((int(steps.max()), len(counts)), -np.inf)
    for k in range(len(logs)):
        fraction = np.full(len(counts), np.exp(-k / FRACTIONS_PER_E))
        logs[k] = np.where(k < steps, _log_wealth(gains, counts, fraction), -np.inf)
    return np.asarray(logsumexp(logs, axis=0) - np.log(steps))


def best_wealth(costs: Floats, counts: Floats, mean: Floats) -> Floats:
    """Return the log-wealth of the best constant fraction, in which the log-wealth is concave."""
    gains = costs / mean[:, np.newaxis] - 1
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    for _ in range(50):
        fraction = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(counts > 0, counts * gains / (1 + fraction[:, None] * gains), 0.0)
        rising = slope.sum(axis=1) > 0
        low, high = np.where(rising, fraction, low), np.where(rising, high, fraction)
    return _log_wealth(gains, counts, (low + high) / 2)


def _log_wealth(gains: Floats, counts: Floats, fraction: Floats) -> Floats:
    # Losing a fortune that is staked whole gives -inf; costs that were not observed do not count.
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = counts * np.log1p(fraction[:, np.newaxis] * gains)
    return np.asarray(np.where(counts > 0, logs, 0.0).sum(axis=1))


# Anytime-valid limits, which hold at all times at once.

SPACING = 0.5
"""The step of the grid in log-odds of the fraction f; finer steps gain 1% of width."""

LARGEST_ODDS, SMALLEST_ODDS = np.exp(2), 1e-12
ALMOST_ALL = 1 - 2.0**-40
"""The largest fraction: a fortune that is never staked whole is never lost whole."""

FOR_ALMOST_ALL = 0.1
"""The share of `ALMOST_ALL`, which determines the upper limit until an expensive outcome occurs."""

MOST_STEPS = 200
SPARE = 7.0
"""An upper bound of the log-wealth lost by mixing: with it, a normal mean is refuted."""

TINY = 1e-15
LEAST = -690.0
"""The logarithm of the smallest distance of a limit from the end of the range, as a share of it."""
CLOSE = 1e-13
BATCHES = 1 << 21
"""The number of values held at a time, which bounds memory for any number of tables."""


def _bets() -> tuple[Floats, Floats]:
    """Return the fractions, and the logarithms of their shares of the fortune.

    Shares fall as (1 + log 1/f)^-1.5: slowly enough for small fractions, which large samples need,
    and fast enough to leave something for the large ones, which rare expensive errors need.
    """
    odds = np.exp(np.arange(np.log(LARGEST_ODDS), np.log(SMALLEST_ODDS), -SPACING))
    fractions = odds / (1 + odds)
    shares = (1 - np.log(fractions)) ** -1.5
    shares *= (1 - FOR_ALMOST_ALL) / shares.sum()
    return np.append(fractions, ALMOST_ALL), np.log(np.append(shares, FOR_ALMOST_ALL))


FRACTIONS, LOG_SHARES = _bets()


def limits(costs: Floats, counts: Floats, goal: float) -> tuple[Floats, Floats]:
    """Return the means below which, and above which, all means are refuted.

    Parameters
    ----------
    costs : ndarray, shape (atoms,)
        The possible costs, lowest first; not all the same.
    counts : ndarray, shape (tables, atoms)
        The count of each cost.
    goal : float
        The logarithm of the fortune that refutes a mean.
    """
    tables = len(counts)
    span = costs[-1] - costs[0]
    seen = counts.any(axis=0)
    distances = (costs[seen] - costs[0]) / span
    both = np.concatenate([counts[:, seen]] * 2)
    upper = np.arange(2 * tables) >= tables
    ends = np.full(2 * tables, -np.inf)
    # Where all outcomes were at one end of the range, no mean next to that end is refuted.
    rows = np.flatnonzero((both * _own(distances, upper)).any(axis=1))
    step = max(1, BATCHES // (len(FRACTIONS) * max(1, len(distances))))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        ends[part] = _refuted(distances, both[part], upper[part], goal)
    shares = np.where(upper, -np.expm1(ends), np.exp(ends))
    return costs[0] + span * shares[:tables], costs[0] + span * shares[tables:]


def log_wealth(
    distances: Floats, counts: Floats, upper: NDArray[np.bool_], u: Floats
) -> tuple[Floats, Floats]:
    """Return the logarithm of the fortune, which was 1 at the start, and its derivative in u.

    Parameters
    ----------
    distances : ndarray, shape (atoms,)
        The distance of each cost from the lowest, as a share of the range.
    counts : ndarray, shape (rows, atoms)
        The count of each cost.
    upper : ndarray of bool, shape (rows,)
        Whether the bets are that the mean is lower, to find an upper limit.
    u : ndarray, shape (rows,)
        The logarithm of the distance of the mean from the lowest cost; of an upper limit, from the
        highest.
    """
    scale = np.exp(u)[:, np.newaxis]
    gains = _own(distances, upper) / scale - 1
    # Where the mean is a tiny share of the range, reflecting it and the costs would lose digits.
    tiny = upper & (u > -1)
    gains[tiny] = (-np.expm1(u[tiny])[:, np.newaxis] - distances) / scale[tiny]
    returns = FRACTIONS[:, np.newaxis] * gains[:, np.newaxis, :]
    logs = LOG_SHARES + np.einsum("rka,ra->rk", np.log1p(returns), counts)
    slopes = np.einsum("rka,ra->rk", (returns + FRACTIONS[:, np.newaxis]) / (1 + returns), counts)
    top = logs.max(axis=1)
    shares = np.exp(logs - top[:, np.newaxis])
    total = shares.sum(axis=1)
    return top + np.log(total), -(shares * slopes).sum(axis=1) / total


def _refuted(distances: Floats, counts: Floats, upper: NDArray[np.bool_], goal: float) -> Floats:
    """Return the largest u against which betting has won, by Newton's method."""
    u = _start(distances, counts, upper, goal)
    closer = np.maximum(_guess(distances, counts, upper, goal), u)
    u = np.where(log_wealth(distances, counts, upper, closer)[0] >= goal, closer, u)
    active = np.arange(len(u))
    for _ in range(MOST_STEPS):
        wealth, slope = log_wealth(distances, counts[active], upper[active], u[active])
        move = (goal - wealth) / slope
        # Rounding can make the last step go back; by then u is the root.
        going = move > CLOSE * np.abs(u[active])
        active, move = active[going], move[going]
        if not len(active):
            break
        u[active] += move
    return u


def _own(distances: Floats, upper: NDArray[np.bool_]) -> Floats:
    """Return the distance of each cost from the end of the range on the side of the limit."""
    return np.asarray(np.where(upper[:, np.newaxis], 1 - distances, distances))


def _start(distances: Floats, counts: Floats, upper: NDArray[np.bool_], goal: float) -> Floats:
    """Return a u that is certainly refuted, close to the root if few outcomes make up the cost.

    Each bet wins at least (1 - f)ᴬ Π f a/eᵘ over the outcomes at a distance a > 0, A being the
    number of outcomes at distance 0.
    """
    own = _own(distances, upper)
    far = (counts * (own > 0)).sum(axis=1)
    near = counts.sum(axis=1) - far
    logs = (counts * np.log(np.where(own > 0, own, 1.0))).sum(axis=1)
    won = LOG_SHARES + np.outer(near, np.log1p(-FRACTIONS)) + np.outer(far, np.log(FRACTIONS))
    return np.asarray(np.maximum((won.max(axis=1) + logs - goal) / far, LEAST))


def _guess(distances: Floats, counts: Floats, upper: NDArray[np.bool_], goal: float) -> Floats:
    """Return a u slightly beyond the root for a normal mean."""
    n = counts.sum(axis=1)
    mean = counts @ distances / n
    error = np.sqrt(np.maximum(counts @ distances**2 / n - mean**2, 0) / n)
    arm = np.sqrt(2 * (goal + SPARE)) * error
    return np.asarray(np.log(np.maximum(np.where(upper, 1 - mean, mean) - arm, TINY)))
