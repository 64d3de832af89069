"""Thresholds chosen on test rows, a second time: row by row from the formulas, slow and plain.

Nothing here is taken from `stakes`. Positives are 1, negatives 0, rows without a label -1. Higher
scores are more positive. Costs are those of a false positive and of a false negative: numbers, or
an entry for each row.
"""

from dataclasses import dataclass
from math import fsum, inf

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri

from _helpers import oracle_extremal

FOLDS = 20
FEWEST = 10
RIDGE = 0.01
SAME_COST = 1e-12
SAME_ODDS = 1e-9
LEFT_OUT = -1


# Folds.


def turns(n, folds=FOLDS):
    """Return the fold of each of n rows of one class, by their place in its order."""
    return np.random.RandomState(0).permutation(np.arange(n) % folds)


def dealt(score, y, weight=None, *, costs=None, stratum=None, others=(), groups=None):
    """Return the fold of each row; -1 for rows without a label or with weight 0.

    Positives stand from the highest score, negatives from the lowest. Ties are in the order of the
    row's own weight, costs and stratum, then of the other models' columns, in the direction of the
    score. `costs` has a row for each row, `others` a column for each other model.
    """
    y = np.asarray(y)
    rows = [i for i in range(len(y)) if y[i] in (0, 1) and (weight is None or weight[i] > 0)]

    def key(i):
        sign = -1 if y[i] == 1 else 1
        own = 0 if weight is None else weight[i]
        prices = () if costs is None else tuple(np.atleast_1d(costs[i]))
        part = "" if stratum is None else str(stratum[i])
        return (sign * score[i], own, prices, part, *(sign * other[i] for other in others))

    folds = np.full(len(y), LEFT_OUT)
    if groups is None:
        for label in (1, 0):
            order = sorted((i for i in rows if y[i] == label), key=key)
            folds[order] = turns(len(order))
        return folds
    for fold, group in zip(*_groups_in_turn(rows, score, y, groups, key), strict=True):
        folds[[i for i in rows if groups[i] == group]] = fold
    return folds


def _groups_in_turn(rows, score, y, groups, key):
    """Return the folds, and the groups that are dealt to them, whole."""
    counts = [sum(y[i] == label for i in rows) for label in (0, 1)]
    rarer = 1 if counts[1] <= counts[0] else 0
    distinct = sorted({score[i] for i in rows})
    place = {value: at for at, value in enumerate(distinct)}  # from the lowest

    def rank(i):
        return len(distinct) - 1 - place[score[i]] if y[i] == 1 else place[score[i]]

    members = {}
    for i in rows:
        members.setdefault(groups[i], []).append(i)

    def group_key(group):
        sides = [[i for i in members[group] if y[i] == label] for label in (rarer, 1 - rarer)]
        return (
            *(len(side) for side in sides),
            *(sum(map(rank, side)) for side in sides),
            *(sorted(map(key, side)) for side in sides),
        )

    folds, order = [], []
    for wanted in (True, False):
        some = [g for g in members if any(y[i] == rarer for i in members[g]) == wanted]
        order += sorted(some, key=group_key)
        folds += list(turns(len(some), min(FOLDS, len(members))))
    return folds, order


# The rule that chooses a cut.


@dataclass(frozen=True)
class Choice:
    """The cut that some rows choose: the lowest score that is called positive, and the slope."""

    threshold: float
    slope: float
    cost: float


def choose(score, y, fp, fn, weight=None, *, unit=None, allowed=None):
    """Return the cut chosen on rows: the smooth one, unless they contradict it.

    `unit` is the weight of one row, Σw²/Σw; `allowed(recall, fpr, share)` tells which cuts keep
    within limits, and the result is None where none does.
    """
    score, y = np.asarray(score, dtype=float), np.asarray(y)
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    unit = (w**2).sum() / w.sum() if unit is None else unit
    loss = np.where(y == 1, -np.broadcast_to(fn, y.shape), np.broadcast_to(fp, y.shape))
    steps = sorted(set(score), reverse=True)
    sums = [[_sum(w, score, y, step, label) for step in steps] for label in (0, 1)]
    constant, slope, z = _curve(*map(np.array, sums), unit)
    mean = [_mean(loss, w, y == label) for label in (0, 1)]  # of calling a row positive
    smooth = sum(constant + slope * each >= _place(mean[0], -mean[1]) - SAME_ODDS for each in z)
    # The cost of calling all from the highest score to each step positive, against none of them.
    each = [fsum((w * loss)[score == step]) for step in steps]
    costs = [fsum(each[:cut]) for cut in range(len(steps) + 1)]
    keep = range(len(costs))
    if allowed is not None:
        keep = [cut for cut in keep if allowed(*_rates(sums, cut))]
        if not keep:
            return None
    least = min(costs[cut] for cut in keep)
    room = SAME_COST * fsum(w * np.abs(loss))
    best = min((cut for cut in keep if costs[cut] <= least + room), key=lambda k: abs(k - smooth))
    cut = smooth if smooth in keep else best
    low, high = sorted((cut, best))
    between = (score <= (steps[low] if low < len(steps) else -inf)) & (
        score >= (steps[high - 1] if high else inf)
    )
    variance = fsum((w * loss**2)[between]) + unit * sum(
        _mean(loss**2, w, y == label) for label in (0, 1)
    )
    if costs[cut] - costs[best] > np.sqrt(unit * variance):
        cut = best
    all_missed = fsum(-(w * loss)[y == 1])
    return Choice(_between(steps, cut), slope, all_missed + costs[cut])


def _sum(w, score, y, step, label):
    return fsum(w[(score == step) & (y == label)])


def _mean(values, w, where):
    return fsum((w * values)[where]) / fsum(w[where]) if w[where].sum() > 0 else 0.0


def _rates(sums, cut):
    """Return recall, false positive rate and the flagged share above a cut."""
    negatives, positives = (np.array(each) for each in sums)
    return (
        positives[:cut].sum() / positives.sum(),
        negatives[:cut].sum() / negatives.sum(),
        (negatives + positives)[:cut].sum() / (negatives + positives).sum(),
    )


def _place(fp, fn):
    """Return the log odds from which on a positive is expected to cost less."""
    if fn <= 0:
        return inf
    return -inf if fp <= 0 else logit(fp / (fp + fn))


def _curve(negatives, positives, unit):
    """Return the logistic curve on normal scores of mid-ranks: constant, slope and those scores."""
    rows = negatives + positives
    share = 1 - (np.cumsum(rows) - rows / 2) / rows.sum()
    least = unit / (2 * rows.sum())
    z = ndtri(np.clip(share, least, 1 - least))

    def misfit(at):
        odds = at[0] + at[1] * z
        return (rows * np.logaddexp(0, odds) - positives * odds).sum() + RIDGE / 2 * at[1] ** 2

    def slopes(at):
        rest = rows * expit(at[0] + at[1] * z) - positives
        return np.array([rest.sum(), (rest * z).sum() + RIDGE * at[1]])

    def curvature(at):
        chance = expit(at[0] + at[1] * z)
        spread = rows * chance * (1 - chance)
        side = (spread * z).sum()
        return np.array([[spread.sum(), side], [side, (spread * z**2).sum() + RIDGE]])

    base = logit(np.clip(positives.sum() / rows.sum(), 1e-12, 1 - 1e-12))
    at = minimize(
        misfit, [base, 1.0], jac=slopes, hess=curvature, method="trust-exact",
        options={"gtol": 1e-9 * rows.sum(), "maxiter": 10_000},
    ).x  # fmt: skip
    for _ in range(3):  # refined by Newton's method
        at = at - np.linalg.solve(curvature(at) + 1e-12 * np.eye(2), slopes(at))
    return (*at, z) if at[1] > 0 else (base, 0.0, z)


def _between(steps, cut):
    """Return the middle of the scores beside a cut."""
    if cut == 0:
        return inf
    if cut == len(steps):
        return -inf
    middle = steps[cut - 1] / 2 + steps[cut] / 2
    return middle if steps[cut] < middle <= steps[cut - 1] else steps[cut - 1]


# Policies: decisions of a chosen threshold on all rows, and on folds that did not choose it.


@dataclass(frozen=True)
class Chosen:
    """A threshold, with the decisions of all rows by it and by those of the other folds."""

    threshold: float
    in_sample: np.ndarray
    held_out: np.ndarray


def cross_fitted(score, y, fp, fn, weight=None, *, folds=None, allowed=None):
    """Return the policy of a model; None where a class has too few rows, or groups of them.

    `folds` are as `dealt` returns them. Where a limit cannot be kept without a fold, the deployed
    threshold is used there.
    """
    score, y = np.asarray(score, dtype=float), np.asarray(y)
    folds = dealt(score, y, weight) if folds is None else folds
    kept = folds != LEFT_OUT
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    unit = (w[kept] ** 2).sum() / w[kept].sum()
    prices = [np.broadcast_to(each, y.shape) for each in (fp, fn)]

    def on(rows):
        given = [each[rows] for each in (score, y, *prices, w)]
        return choose(*given, unit=unit, allowed=allowed)

    deployed = on(kept)
    if deployed is None:
        return None
    held_out = np.zeros(len(y), dtype=bool)
    for fold in set(folds[kept]):
        inside = folds == fold
        choice = on(kept & ~inside) or deployed
        held_out[inside] = score[inside] >= choice.threshold
    return Chosen(deployed.threshold, kept & (score >= deployed.threshold), held_out)


def enough(y, weight=None, groups=None):
    """Tell whether each class has ten rows that count, or groups of such rows."""
    y = np.asarray(y)
    w = np.ones(len(y)) if weight is None else np.asarray(weight)
    units = np.arange(len(y)) if groups is None else np.asarray(groups)
    return all(len(set(units[(y == label) & (w > 0)])) >= FEWEST for label in (0, 1))


# Costs, differences and regret of policies on independent rows of equal weight.


def spent(decided, y, fp, fn):
    """Return the cost of each row."""
    return np.where(decided, np.where(y == 1, 0.0, fp), np.where(y == 1, fn, 0.0))


def counted(values, each):
    """Return how often each possible value occurs."""
    counts = [int((each == value).sum()) for value in values]
    assert sum(counts) == len(each), "a value occurs that is not possible"
    return counts


def cost_limits(policy, y, fp, fn, *, alpha=0.05, weight=0.7):
    """Return the limits of a policy's cost: of the folds, the lower one of all rows if smaller."""
    values = sorted({0.0, fp, fn})
    tables = [counted(values, spent(d, y, fp, fn)) for d in (policy.held_out, policy.in_sample)]
    (low, high), (other, _) = (oracle_extremal.limits(values, t, alpha, weight) for t in tables)
    return min(low, other), high


def differences(first, second, y, fp, fn):
    """Return the differences in cost of each row, by the folds and on all rows."""
    return [
        spent(getattr(first, of), y, fp, fn) - spent(getattr(second, of), y, fp, fn)
        for of in ("held_out", "in_sample")
    ]


def outcomes(fp, fn, *, nested=""):
    """Return the possible differences in cost of two policies.

    `nested` is "first" where only the first flags rows that the other does not, or "second".
    """
    first, second = {0.0, fp, -fn}, {0.0, -fp, fn}
    return sorted({"first": first, "second": second, "": first | second}[nested])


def p_value(apart, values, weight=0.7):
    """Return the p-value of a difference: the larger of both tables', 1 where they disagree."""
    if len({float(np.sign(fsum(each))) for each in apart}) > 1:
        return 1.0
    return max(oracle_extremal.p_value(values, counted(values, each), weight) for each in apart)


def regret(apart, alpha=0.05):
    """Return the most that a policy may cost more than the best of m.

    `apart` has an entry for each of the m - 1 others: the possible differences, and those of each
    row by the folds and on all rows.
    """
    level = alpha / len(apart)
    ends = [
        oracle_extremal.upper(values, counted(values, each), level, weight=1.0)
        for values, tables in apart
        for each in tables
    ]
    return max(0.0, *ends)


def constant(n, *, flag):
    """Return the policy that decides all rows alike."""
    decided = np.full(n, flag)
    return Chosen(-inf if flag else inf, decided, decided)
