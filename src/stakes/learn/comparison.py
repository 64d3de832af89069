"""Comparison of several learning algorithms by the costs of their classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from stakes._core import validate
from stakes._core.labels import as_column, listing
from stakes._core.optional import data_frame
from stakes._core.text import html_table, listed, number, percent, text_table, with_unit
from stakes._core.text import p_value as written_p
from stakes._core.values import Result, readonly_copy
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.infer.family import IN_FAMILY, Pair
from stakes.learn._base import classes_of, training_costs
from stakes.learn._comparison import (
    Data,
    LearnerDifference,
    joint_decisions,
    named_learners,
    splits_of,
)

__all__ = ["LearnerComparison", "LearnerDifference", "compare_learners"]

TESTS = ("corrected", "5x2cv")
MOST_JOBS = 1 << 20


@dataclass(frozen=True, repr=False, eq=False)
class LearnerComparison(Result):
    """Comparison of several learners, trained and tested on the same splits.

    Made by `compare_learners`.

    Attributes
    ----------
    tables : tuple of JointConfusion
        Joint counts of the classifiers' decisions on the test part of each split.
    train_sizes : ndarray of int, shape (splits,)
        Number of training examples of each split.
    costs, kind, confidence, unit
        As in `LearnerDifference`.

    Notes
    -----
    Each pair is tested as described in `compare_learners`. Of the p-values p₁ ≤ … ≤ pₘ of m pairs,
    `pairwise` adjusts pₖ to the largest of (m + 1 - l)·pₗ with l up to k, and to 1 at most (Holm).

    References
    ----------
    Holm (1979).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from stakes import CostMatrix
    >>> from stakes.learn import compare_learners
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=5)
    >>> X, y = make_classification(400, flip_y=0.1, random_state=1)
    >>> learners = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)}
    >>> compared = compare_learners(learners, X, y, costs, cv=10, random_state=0)
    >>> compared.fold_costs.shape, compared.fold_costs.mean(axis=0).round(1).tolist()
    ((10, 2), [0.3, 0.5])
    >>> compared.best_set()
    ['bayes', 'tree']
    """

    tables: tuple[JointConfusion, ...]
    train_sizes: NDArray[np.intp]
    costs: CostMatrix
    kind: str = "corrected"
    confidence: float = 0.95
    unit: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The learners, in the order in which they were given."""
        return self.tables[0].names  # type: ignore[return-value]

    @cached_property
    def fold_costs(self) -> NDArray[np.float64]:
        """The cost per decision of each learner's classifier in each split, [split, learner]."""
        values = self.costs.values
        found = [
            table.counts @ values[table.decided, table.actual[:, np.newaxis]] / table.n
            for table in self.tables
        ]
        return readonly_copy(found)

    def mean_costs(self) -> dict[str, float]:
        """Return the mean cost per decision of each learner's classifiers, the cheapest first.

        Returns
        -------
        dict
        """
        means = dict(zip(self.names, self.fold_costs.mean(axis=0).tolist(), strict=True))
        return dict(sorted(means.items(), key=lambda item: item[1]))

    def difference(self, first: str, second: str) -> LearnerDifference:
        """Return the comparison of two of the learners.

        Parameters
        ----------
        first, second : str
            Their names.

        Returns
        -------
        LearnerDifference
        """
        for argument, name in (("first", first), ("second", second)):
            if name not in self.names:
                raise LabelError(
                    argument, f"there is no learner {name!r}; there are {listing(self.names)}."
                )
        sizes = np.array([table.n for table in self.tables])
        return LearnerDifference(
            (first, second),
            tuple(table.pair(first, second) for table in self.tables),  # type: ignore[misc]
            float((sizes / self.train_sizes).mean()),
            self.costs,
            self.kind,
            self.confidence,
            self.unit,
        )

    def pairwise(self, adjust: str = "holm", *, confidence: float | None = None) -> list[Pair]:
        """Compare every pair by the t test; the learner that is cheaper on average is the first.

        Parameters
        ----------
        adjust : {"holm", "none"}
            How p-values are adjusted for the number of comparisons.
        confidence : float, optional
            Familywise confidence level: one minus the probability of any wrong rejection, and the
            simultaneous coverage of all intervals (Bonferroni); by default that of the comparison.

        Returns
        -------
        list of Pair
        """
        validate.choice(adjust, "adjust", ("holm", "none"))
        alpha = validate.alpha(self.confidence if confidence is None else confidence)
        compared = [self.difference(*pair) for pair in combinations(self.mean_costs(), 2)]
        p_values = np.array([each.p_value for each in compared])
        adjusted = _holm(p_values) if adjust == "holm" else p_values
        return [
            Pair(
                *each.names,
                each.difference,
                limits.low,
                limits.high,
                float(one),
                float(all_),
                bool(all_ <= alpha),
                IN_FAMILY,
            )
            for each, one, all_ in zip(compared, p_values, adjusted, strict=True)
            for limits in [each.interval(1 - alpha / len(compared))]
        ]

    def best_set(self, confidence: float | None = None) -> list[str]:
        """Return the learners that no other was shown to beat, the cheapest first.

        Parameters
        ----------
        confidence : float, optional
            By default that of the comparison.

        Returns
        -------
        list of str
        """
        pairs = self.pairwise(confidence=confidence)
        beaten = {pair.second if _first_wins(pair) else pair.first for pair in pairs if pair.shown}
        return [name for name in self.mean_costs() if name not in beaten]

    def to_frame(self, **options: Any) -> Any:
        """Return the pairs, with their wins, ties and losses, as a pandas data frame.

        Parameters
        ----------
        **options
            As in `pairwise`.

        Returns
        -------
        pandas.DataFrame
        """
        return data_frame([self._row(pair) for pair in self.pairwise(**options)])

    def summary(self, confidence: float | None = None) -> str:
        """Summarise which learner is the cheapest, or which cannot be told apart.

        Parameters
        ----------
        confidence : float, optional
            By default that of the comparison.

        Returns
        -------
        str
        """
        costs, best = self.mean_costs(), self.best_set(confidence)
        sure = f"{percent(self.confidence if confidence is None else confidence)} confidence"
        over = f"over {len(self.tables)} splits"
        if len(best) == 1:
            return (
                f"{best[0]} is the cheapest of {len(costs)} learners: "
                f"{with_unit(costs[best[0]], self.unit)} a decision {over}, with {sure}."
            )
        tied = listed([f"{name} ({with_unit(costs[name], self.unit)})" for name in best])
        return f"{tied} cannot be told apart at {sure} {over} ({len(best)} of {len(costs)})."

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain numbers and lists.

        Returns
        -------
        dict
        """
        return {
            "names": list(self.names),
            "test": self.kind,
            "unit": self.unit,
            "mean_costs": self.mean_costs(),
            "fold_costs": self.fold_costs.tolist(),
            "pairs": [self._row(pair) for pair in self.pairwise()],
            "best_set": self.best_set(),
        }

    def _row(self, pair: Pair) -> dict[str, Any]:
        each = self.difference(pair.first, pair.second)
        return asdict(pair) | {"wins": each.wins, "ties": each.ties, "losses": each.losses}

    def __repr__(self) -> str:
        return f"{self.summary()}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption=self.summary())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for pair in self.pairwise():
            row = self._row(pair)
            cheaper = pair.first if _first_wins(pair) else pair.second
            rows.append(
                [
                    f"{pair.first} - {pair.second}",
                    number(pair.difference),
                    f"{number(pair.low)} to {number(pair.high)}",
                    written_p(pair.p_adjusted),
                    "{wins}/{ties}/{losses}".format(**row),
                    f"{cheaper} is cheaper" if pair.shown else "a tie",
                ]
            )
        header = ["pair", "difference", "simultaneous interval", "adjusted p"]
        return [*header, "win/tie/loss", "verdict"], rows


def _first_wins(pair: Pair) -> bool:
    """Return whether the interval's centre is below 0; for 5×2cv, the mean need not be."""
    return pair.low + pair.high < 0


def compare_learners(
    estimators: Mapping[str, Any] | list[tuple[str, Any]],
    X: Any,
    y: Any,
    costs: CostMatrix | None,
    *,
    cv: Any = None,
    test: str = "corrected",
    groups: Any = None,
    params: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
    unit: str = "",
) -> LearnerComparison:
    r"""Compare the costs of the classifiers of several learning algorithms.

    `compare` is for two trained classifiers, and its results hold for these two. This function is
    for algorithms: which of them to train on such data. It trains them repeatedly, and takes into
    account the variance from their training data.

    Parameters
    ----------
    estimators : mapping or list of pairs
        The name of each learner, and a scikit-learn classifier, which is cloned.
    X : array_like, sparse matrix or data frame, shape (n, features)
        The examples.
    y : array_like, shape (n,)
        Their classes.
    costs : CostMatrix or None
        The cost of each decision for each class; None for 0/1 costs.
    cv : optional
        Method of splitting. By default five repetitions of 5-fold cross-validation, 25 fits for
        each learner. Or "5x2", five repetitions of 2-fold; a number of folds; a splitter of
        scikit-learn; or a list of (train, test) row numbers. Splits made here are shuffled and
        stratified. All learners have the same splits.
    test : {"corrected", "5x2cv"}
        The corrected resampled t test (Nadeau & Bengio 2003), or the 5×2cv t test (Dietterich
        1998), which needs ``cv="5x2"`` and uses it by default.
    groups : array_like, shape (n,), optional
        The group of each example, such as the patient; a group is never split.
    params : mapping, optional
        Further arguments of ``fit``, such as ``{"sample_weight": weights}``; those with a row for
        each example are split with the examples. With metadata routing, the arguments that each
        learner's ``fit`` and ``predict`` request.
    confidence : float, default 0.95
        Confidence level of intervals and verdicts.
    n_jobs : int, optional
        Number of fits to run in parallel, as in joblib; the result does not depend on it.
    random_state : int, RandomState instance or None, default None
        Random state of the splits, and of learners whose own is None. With None, both differ from
        call to call.
    unit : str, optional
        The unit of the costs, such as "USD".

    Returns
    -------
    LearnerComparison

    Notes
    -----
    With the differences :math:`d_1, …, d_J` in cost per decision of two learners in the splits,
    their mean :math:`\bar d` and variance :math:`S^2`, the corrected resampled test uses

    .. math:: t = \frac{\bar d}{\sqrt{\left(1/J + n_\text{test}/n_\text{train}\right) S^2}}

    with :math:`J - 1` degrees of freedom, and the 5×2cv test
    :math:`t = d_1 \big/ \sqrt{\frac{1}{5} \sum_{r=1}^{5} s_r^2}` with 5, with the sum of squares
    :math:`s_r^2` of the two differences of repetition :math:`r` about their mean.

    Every split has the same weight, whatever its size; n_test/n_train is the mean over the splits.
    Tests use the decisions only, so probabilities and scores have no effect.

    References
    ----------
    Nadeau & Bengio (2003).

    Dietterich (1998).

    Alpaydin (1999).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from stakes import CostMatrix
    >>> from stakes.learn import compare_learners
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=5)
    >>> X, y = make_classification(600, class_sep=0.5, random_state=1)
    >>> compared = compare_learners(
    ...     {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)},
    ...     X, y, costs, random_state=0,
    ... )
    >>> print(compared.summary())
    bayes (0.707) and stump (0.9717) cannot be told apart at 95% confidence over 25 splits (2 of 2).
    """
    learners = named_learners(estimators)
    validate.choice(test, "test", TESTS)
    validate.alpha(confidence)
    if isinstance(costs, ExampleCosts):
        raise InputTypeError(
            "costs",
            "expected a CostMatrix, got ExampleCosts.",
            "For costs of single examples use cross_validate with scoring=cost_scorer(costs) and "
            "example_costs.",
        )
    if test == "5x2cv" and cv is None:
        cv = "5x2"
    if test == "5x2cv" and not (isinstance(cv, str) and cv == "5x2"):
        raise InputError("cv", f"test='5x2cv' needs cv='5x2' (or None), got {cv!r}.")
    actual: NDArray[Any] = column_or_1d(y, warn=True)
    check_consistent_length(X, actual)
    if groups is not None:
        validate.same_length({"y": len(actual), "groups": len(as_column(groups, "groups"))})
    if n_jobs is not None and not -MOST_JOBS <= n_jobs <= MOST_JOBS:
        raise InputError("n_jobs", f"expected a number of processes, got {n_jobs!r}.")
    matrix = training_costs(costs, classes_of(actual))
    if len(matrix.labels) < 2:  # noqa: PLR2004 - nothing to tell apart
        raise InputError("y", f"expected at least two classes, got {matrix.labels[0]!r} only.")
    data = Data(X, actual, {} if params is None else params)
    splits = splits_of(cv, data, groups, random_state)
    tables = joint_decisions(
        learners, data, splits, matrix, n_jobs=n_jobs, random_state=random_state
    )
    sizes = readonly_copy([len(train) for train, _ in splits])
    return LearnerComparison(tuple(tables), sizes, matrix, test, confidence, unit)


def _holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values."""
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    found = np.empty_like(p_values)
    found[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return found
