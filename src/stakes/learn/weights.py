"""Class weights from the costs and the class frequencies (thesis, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from stakes._core import validate
from stakes._core.labels import Label, Labels, as_column, hint, listing, plain
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.errors import InputError, LabelError
from stakes.learn._base import classes_of, training_costs

FORMULAS = ("max_cost", "avg_cost", "class_freq", "cost_ratio")
"""Methods that compute weights from the costs and the class frequencies alone."""

TRIED = ("eval_count", "powell")
"""Methods that compute weights from trial fits of the learner."""


def class_weights(y: Any, costs: CostMatrix | None, method: str = "avg_cost") -> dict[Label, float]:
    r"""Return the weight that each class should have in training, given the costs of mistakes.

    The result fits scikit-learn's ``class_weight=`` parameter. Most learners use only the ratios of
    the weights, so they are not normalised. The costs are first converted to the equivalent matrix
    in which correct decisions cost nothing (thesis, section 2.2).

    Parameters
    ----------
    y : array_like
        The classes of the training data.
    costs : CostMatrix or None
        The costs of mistakes; None counts errors.
    method : {"avg_cost", "max_cost", "class_freq", "cost_ratio"}
        "avg_cost": the mean cost of a mistake about the class (equation 3.2).
        "max_cost": the cost of the worst mistake about it (equation 3.1).
        "class_freq": the weight that gives all classes the same total, ``n / (K n_i)``. It ignores
        the costs.
        "cost_ratio": for two classes, the cost of missing the second over the cost of a false
        alarm; the first has weight 1.

    Returns
    -------
    dict
        The weight of each class of `y`.

    See Also
    --------
    WeightedClassifier : trains any classifier with these weights, or with those of trial fits.

    Notes
    -----
    With the cost :math:`C(i, j)` of deciding :math:`i` where :math:`j` is true, :math:`K` classes,
    and :math:`n_j` of :math:`n` rows in class :math:`j`, the weights are

    * "max_cost": :math:`w_j = \max_i C(i, j)` (3.1),
    * "avg_cost": :math:`w_j = \frac{1}{K - 1} \sum_{i \ne j} C(i, j)` (3.2),
    * "class_freq": :math:`w_j = n / (K n_j)`, so that :math:`n_j w_j` is constant,
    * "cost_ratio": :math:`w_1 = 1` and :math:`w_2 = C(1, 2) / C(2, 1)`.

    A decision that is not a class, such as "abstain", counts as a mistake like any other in
    "avg_cost" and "max_cost". The prediction of a class that is not in `y` does not count, because
    no learner makes it.

    For two classes "avg_cost", "max_cost" and "cost_ratio" agree, and are the weights that theory
    prescribes. More classes have more costs than weights, so weights only approximate the costs.

    References
    ----------
    Margineantu (2001), sections 3.2.2 and 3.2.3, equations 3.1 and 3.2.

    Breiman et al. (1984): the mean cost.

    Examples
    --------
    Table 2.2 of the thesis: fraud should weigh 10.15 times as much as the rest.

    >>> from stakes import CostMatrix
    >>> from stakes.learn import class_weights
    >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=101.5)
    >>> class_weights([0, 0, 0, 1], costs)
    {0: 10.0, 1: 101.5}
    >>> class_weights([0, 0, 0, 1], costs, method="cost_ratio")
    {0: 1.0, 1: 10.15}
    """
    if method in TRIED:
        raise InputError(
            "method",
            f"{method!r} tries the learner out, so it needs one.",
            f"Use WeightedClassifier(estimator, costs, weighting={method!r}).",
        )
    validate.choice(method, "method", FORMULAS)
    actual = column_or_1d(y)
    as_column(actual, "y", None)  # its errors name missing labels
    classes = classes_of(actual)
    check_classification_targets(actual)
    counts = np.bincount(np.searchsorted(classes, actual)).astype(np.float64)
    usable = learnable(training_costs(costs, classes), costs)
    return by_label(usable.labels, formula_weights(method, usable, counts))


def by_label(labels: Labels, weights: Floats) -> dict[Label, float]:
    """Return the weights by class."""
    return dict(zip(labels, weights.tolist(), strict=True))


def learnable(trained: CostMatrix, given: CostMatrix | None) -> CostMatrix:
    """Return the costs without predictions of classes that are not in y: no learner makes them."""
    known = () if given is None else given.labels
    decisions = [each for each in trained.decisions if each in trained.labels or each not in known]
    if len(decisions) == len(trained.decisions) or not decisions:
        return trained
    values = trained.values_for(trained.labels, tuple(decisions))
    return CostMatrix(values, rows="predicted", labels=trained.labels, decisions=decisions)


def formula_weights(method: str, costs: CostMatrix, counts: Floats) -> Floats:
    """Return the weight of each class; `counts` has the number or weight of each one's rows."""
    if method == "class_freq":
        return _class_freq(counts)
    if method == "cost_ratio":
        weights = _cost_ratio(costs)
        why = "it is the cost of missing the second class over that of a false alarm"
    else:
        weights = _of_mistakes(method, costs)
        why = "its mistakes cost no more than its correct decision"
    return usable_weights(method, costs.labels, weights, why)


def usable_weights(method: str, labels: Labels, weights: Floats, why: str) -> Floats:
    """Return the weights; raise unless all are finite and above 0."""
    for label, weight in zip(labels, weights, strict=True):
        if not (np.isfinite(weight) and weight > 0):
            raise InputError(
                "costs",
                f"{method!r} gives the class {label!r} the weight {weight:g} ({why}), but weights "
                "must be finite and above 0.",
                "Give every mistake a cost above that of the correct decision, use 'class_freq', "
                "or give WeightedClassifier weights of your own: weighting={class: weight}.",
            )
    return weights


def _of_mistakes(method: str, costs: CostMatrix) -> Floats:
    weights = np.ones(len(costs.labels))
    for j, label in enumerate(costs.labels):
        column = costs.values[:, j]
        mistakes = np.array([decision != label for decision in costs.decisions])
        correct = column.min() if mistakes.all() else column[~mistakes][0]
        if mistakes.any():  # a single class may have none; its weight stays 1
            with np.errstate(over="ignore"):
                extra = column[mistakes] - correct
                weights[j] = extra.max() if method == "max_cost" else extra.mean()
    return weights


def _class_freq(counts: Floats) -> Floats:
    # A class whose rows all have weight 0 keeps 1: no class weight could make it count.
    present = counts > 0
    weights = np.ones(len(counts))
    weights[present] = counts.sum() / (present.sum() * counts[present])
    return weights


def _cost_ratio(costs: CostMatrix) -> Floats:
    if len(costs.labels) != 2:  # noqa: PLR2004 - a ratio has two sides
        raise LabelError(
            "y",
            f"'cost_ratio' is for two classes, got {len(costs.labels)}: {listing(costs.labels)}.",
            "Use 'avg_cost'.",
        )
    missing = [label for label in costs.labels if label not in costs.decisions]
    if missing:
        raise LabelError(
            "costs",
            f"'cost_ratio' needs the cost of predicting each class, but {missing[0]!r} is no "
            f"decision; there are {listing(costs.decisions)}.",
            "Use 'avg_cost'.",
        )
    values = costs.values_for(costs.labels, costs.labels)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = (values[0, 1] - values[1, 1]) / (values[1, 0] - values[0, 0])
    return np.array([1.0, ratio])


def given_weights(weighting: Mapping[Any, Any], labels: Labels) -> Floats:
    """Check the user's own weights and return those of the classes of y."""
    own = {plain(label): weight for label, weight in weighting.items()}
    weights = np.empty(len(labels))
    for j, label in enumerate(labels):
        if label not in own:
            raise LabelError(
                "weighting",
                f"y has the class {label!r}, but there are weights for "
                f"{listing(tuple(own)) or 'no class'}.",
                f"{hint(label, tuple(own))} Give each class a weight.".lstrip(),
            )
        weights[j] = validate.numeric(own[label], f"weighting[{label!r}]", ndim=0)
        if not (np.isfinite(weights[j]) and weights[j] > 0):
            raise InputError(
                "weighting",
                f"expected finite weights above 0, got {weights[j]:g} for the class {label!r}.",
                "Leave the rows of a class out of X and y if they should not count.",
            )
    return weights


# Class weights from trial fits, judged on held-out rows: EvalCount and Powell's method.

ROOMS = tuple(np.log([100.0, 10.0, 3.0]).tolist())
"""Half-widths of successive searches around the best weights so far, in logarithms."""

STEP = float(np.log(1.05))
"""Smallest step of a weight's logarithm; smaller changes rarely change predictions."""


@dataclass(frozen=True)
class Trial:
    """Trial of class weights on held-out rows."""

    predict: Callable[[Floats], NDArray[Any]]
    """Function from class weights to the predicted classes of the held-out rows, as positions."""
    actual: NDArray[Any]
    rows: Floats
    """Weights of the held-out rows."""
    costs: Floats
    """Costs, ``[predicted class, actual class]``."""

    def mean_cost(self, weights: Floats) -> float:
        """Return the mean cost of the held-out rows."""
        each = self.costs[self.predict(weights), self.actual]
        return float(np.average(each, weights=self.rows))


@dataclass(frozen=True)
class WeightSearch:
    """Record of a search for weights: the `search_` of a WeightedClassifier.

    Attributes
    ----------
    fits : int
        Number of fits of the search.
    start_cost, cost : float
        The mean cost of the held-out rows with the weights that the search started from, and with
        those that it found.
    n_validation : int
        Number of held-out rows.
    """

    fits: int
    start_cost: float
    cost: float
    n_validation: int


def held_out(
    codes: NDArray[Any], rows: Floats, share: float, random: np.random.RandomState
) -> NDArray[np.bool_]:
    """Mark the rows to hold out: a share of each class, among rows of positive weight.

    A class keeps at least one row for training, and holds out at least one if it has two.
    """
    order = random.permutation(np.flatnonzero(rows > 0))
    order = order[np.argsort(codes[order], kind="stable")]
    sizes = np.bincount(codes[order], minlength=codes.max() + 1)
    given = np.minimum(np.maximum(np.rint(share * sizes), 1), np.maximum(sizes - 1, 0))
    if not given.any():
        raise InputError(
            "validation",
            "rows cannot be held out, as no class has two.",
            "Give more rows, or choose a weighting that needs no validation, such as 'avg_cost'.",
        )
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[order[place < given[codes[order]]]] = True
    return chosen


def eval_count(trial: Trial) -> Floats:
    """Return 1 plus the cost of mistakes about each class, by a learner trained without weights."""
    classes = len(trial.costs)
    extra = trial.costs - np.diag(trial.costs)
    each = extra[trial.predict(np.ones(classes)), trial.actual] * trial.rows
    return np.asarray(1 + np.bincount(trial.actual, each, minlength=classes))


class _BudgetSpentError(Exception):
    """Signal that a search has used all its fits."""


@dataclass
class _Objective:
    """Cost as a function of the logarithms of the weights' ratios to that of the first class."""

    trial: Trial
    max_fits: int
    verbose: int
    seen: dict[bytes, float] = field(default_factory=dict)
    best: tuple[float, Floats] = (np.inf, np.empty(0))

    def __call__(self, logs: Floats) -> float:
        key = np.round(logs, 9).tobytes()
        if key not in self.seen:
            if len(self.seen) == self.max_fits:
                raise _BudgetSpentError
            cost = self.trial.mean_cost(np.exp(np.append(0.0, logs)))
            self.seen[key] = cost
            if cost < self.best[0]:
                self.best = (cost, np.array(logs))
            self._report(cost)
        return self.seen[key]

    def _report(self, cost: float) -> None:
        fits = len(self.seen)
        if self.verbose and (self.verbose > 1 or fits % 10 == 0):
            print(  # noqa: T201 - for verbose
                f"[powell] fit {fits} of at most {self.max_fits}: cost {cost:.6g}, "
                f"least {self.best[0]:.6g}"
            )


def _minimize(objective: _Objective, start: Floats, bounds: Bounds) -> None:
    try:
        minimize(objective, start, method="Powell", bounds=bounds, options={"xtol": STEP})
    except ValueError as error:
        # SciPy fails if a round ends where it began; earlier trials still count.
        if "zero-size array" not in str(error):
            raise


def powell(
    trial: Trial, starts: Sequence[Floats], *, max_fits: int, verbose: int = 0
) -> tuple[Floats, WeightSearch]:
    """Search for the weights of least cost (Table 3.4), from the best of some starting points.

    The cost is a step function: it jumps wherever a prediction changes. So each line is searched
    by golden sections over its whole length, because small steps would see no change. Such a
    search may miss the best of several valleys, so the next ones start at the best weights so far
    and stay closer to them. The best of all weights tried is returned; the starting points are
    tried first.
    """
    objective = _Objective(trial, max_fits, verbose)
    points = [np.log(start[1:]) - np.log(start[0]) for start in starts]
    for point in points[:max_fits]:
        objective(point)
    start_cost = objective.best[0]
    low, high = np.minimum.reduce(points), np.maximum.reduce(points)
    try:
        for room in ROOMS:
            start = objective.best[1]
            bounds = Bounds(low - room, high + room)
            _minimize(objective, start, bounds)
            low = high = objective.best[1]
    except _BudgetSpentError:
        pass
    cost, logs = objective.best
    weights = np.exp(np.append(0.0, logs))
    return weights, WeightSearch(len(objective.seen), start_cost, cost, len(trial.actual))
