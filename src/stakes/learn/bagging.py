"""Cost-sensitive bagging, with costs in the bootstrap draws or in the decisions, and MetaCost.

MetaCost relabels the training data with the cheapest decisions, and learns these (Table B.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from stakes._core import validate
from stakes._core.labels import plain
from stakes.costs import CostMatrix
from stakes.costs._axes import least_risk
from stakes.errors import ConstantDecisionWarning, InputError, warn
from stakes.learn._base import (
    SEEDS,
    MetaLearner,
    class_columns,
    decision_array,
    needs_probabilities,
    rows_of,
    seeded,
    several_classes,
    weight_name,
)
from stakes.learn.weights import FORMULAS, by_label, formula_weights, learnable

Probabilities = Callable[[Any, Any, NDArray[Any]], NDArray[np.float64]]


@dataclass(frozen=True)
class Bag:
    """Recipe of bootstrap samples: one seed each, so that any process can draw them again."""

    seeds: NDArray[np.int64]
    rows: int
    size: int
    chances: NDArray[np.float64] | None = None

    def sample(self, seed: int) -> NDArray[np.int64]:
        """Return the rows of one sample, in order, each as often as it was drawn."""
        rng = np.random.default_rng(seed)
        if self.chances is None:
            return np.sort(rng.integers(self.rows, size=self.size))
        return np.sort(rng.choice(self.rows, size=self.size, p=self.chances))

    def left_out(self, sample: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the rows that are not in a sample."""
        out = np.ones(self.rows, dtype=bool)
        out[sample] = False
        return out

    def never_out(self) -> NDArray[np.bool_]:
        """Mark the rows that are in every sample."""
        always = np.ones(self.rows, dtype=bool)
        for seed in self.seeds:
            always &= ~self.left_out(self.sample(seed))
            if not always.any():
                break
        return always

    def weighted(self, weights: NDArray[np.float64] | None) -> Bag:
        """Return the bag that draws rows in proportion to their weights."""
        return self if weights is None else replace(self, chances=weights / weights.sum())


def make_bag(random_state: Any, n_estimators: int, rows: int, max_samples: float = 1.0) -> Bag:
    """Return a bag with a random seed for each member and the size of its samples."""
    members = validate.as_size(n_estimators, "n_estimators", least=1)
    seeds = check_random_state(random_state).randint(SEEDS, size=members)
    return Bag(seeds.astype(np.int64), rows, _size(max_samples, rows))


def fit_members(estimator: Any, X: Any, y: NDArray[Any], bag: Bag, n_jobs: int | None) -> list[Any]:
    """Train a learner on each sample."""
    fitted = Parallel(n_jobs=n_jobs)(
        delayed(_fit)(estimator, X, y, bag.sample(seed), seed) for seed in bag.seeds
    )
    return list(fitted)


def training_probabilities(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    bag: Bag,
    *,
    probabilities: Probabilities,
    out_of_bag: bool,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return the class probabilities of the training rows, out of bag or from all members.

    Out of bag, the probabilities of a row come from the members that were not trained on it, or
    from all if each was. Members are not kept, so that n rows and 50 trees fit into memory.
    """
    classes = np.unique(y)
    always = bag.never_out() if out_of_bag else np.ones(bag.rows, dtype=bool)
    parts: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fit_and_ask)(
            estimator, X, y, bag, seed, always=always, probabilities=probabilities, classes=classes
        )
        for seed in bag.seeds
    )
    total = np.zeros((bag.rows, len(classes)))
    members = np.zeros((bag.rows, 1))
    for asked, told in parts:
        total[asked] += told
        members[asked] += 1
    return total / members


def mean_probabilities(
    members: list[Any],
    X: Any,
    classes: NDArray[Any],
    probabilities: Probabilities,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return the class probabilities of new rows, from all members."""
    parts = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(probabilities)(member, X, classes) for member in members
    )
    total = 0.0
    for told in parts:
        total = total + told
    return np.asarray(total / len(members))


def average(member: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the class probabilities of a member (appendix B, second way)."""
    return class_columns(member.predict_proba(X), member.classes_, classes)


def vote(member: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the vote of a member: one for a class, zero for the others (appendix B, first way)."""
    chosen = np.searchsorted(classes, member.predict(X))
    return np.asarray(np.eye(len(classes))[chosen])


def probabilities_of(estimator: Any, how: Any = "auto") -> Probabilities:
    """Return the function for votes or for averaged probabilities."""
    validate.choice(how, "probabilities", ["auto", "average", "votes"])
    if how == "auto":
        return average if hasattr(estimator, "predict_proba") else vote
    return average if how == "average" else vote


def _fit(estimator: Any, X: Any, y: NDArray[Any], sample: NDArray[np.int64], seed: int) -> Any:
    """Train a learner on one sample, or a constant one if the sample has one class only."""
    drawn = y[sample]
    # Many learners refuse a sample of one class, which needs no learning.
    one_class = (drawn == drawn[0]).all()
    learner = DummyClassifier(strategy="prior") if one_class else seeded(estimator, seed)
    return learner.fit(rows_of(X, sample), drawn)


def _fit_and_ask(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    bag: Bag,
    seed: int,
    *,
    always: NDArray[np.bool_],
    probabilities: Probabilities,
    classes: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    sample = bag.sample(seed)
    asked = np.flatnonzero(bag.left_out(sample) | always)
    if not len(asked):
        return asked, np.zeros((0, len(classes)))
    member = _fit(estimator, X, y, sample, seed)
    return asked, probabilities(member, rows_of(X, asked), classes)


def _size(max_samples: Any, rows: int) -> int:
    if isinstance(max_samples, int | np.integer) and not isinstance(max_samples, bool):
        if 1 <= max_samples <= rows:
            return int(max_samples)
    elif isinstance(max_samples, float) and 0 < max_samples <= 1:
        return max(1, round(max_samples * rows))
    raise InputError(
        "max_samples",
        "expected a share of the rows above 0 and up to 1.0, or a number of rows from 1 to "
        f"{rows}, got {max_samples!r}.",
    )


class CostSensitiveBaggingClassifier(MetaLearner):
    r"""Cost-sensitive bagging, by the choice of decisions, by the bootstrap draws, or by both.

    On the output side, which is the default, the learners' probabilities are averaged, and the
    decision of least expected cost is taken. On the input side (``weighting="avg_cost",
    deciding="vote"``) the bootstrap draws examples of expensive classes more often, and the
    learners vote.

    Parameters
    ----------
    estimator : classifier, optional
        The learner to train on each bootstrap sample; by default a decision tree.
    costs : CostMatrix, optional
        The cost of each decision for each class; by default 1 for each mistake. Only minimum risk
        can take decisions that are not classes, such as "abstain".
    n_estimators : int, default 50
        Number of learners.
    max_samples : float or int, default 1.0
        Size of the bootstrap samples: a share of the examples, or their number.
    weighting : str, optional
        Draw the examples in proportion to the weights that `class_weights` gives their classes by
        this method, such as "avg_cost"; by default with equal probabilities.
    deciding : {"minimum_risk", "vote"}, default "minimum_risk"
        Take the decision of least expected cost, or the class with the most votes (a tie goes to
        the first).
    random_state : int, RandomState or None
        The source of randomness. The same number gives the same result for any `n_jobs`.
    n_jobs : int, optional
        Number of learners to train or apply in parallel.

    Attributes
    ----------
    estimators_ : list of classifiers
        The learners.
    class_weight_ : dict or None
        The weight of each class in the draws; None without weighting.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    decisions_ : ndarray
        The decisions, in the order of ``costs.decisions``.
    costs_ : CostMatrix
        The costs, with the classes in the order of `classes_`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.

    Notes
    -----
    With weighting, the learners' probabilities are those of a population in which class :math:`j`
    is :math:`w_j` times as frequent. `predict_proba` and minimum risk divide them by :math:`w_j`
    again, so that costs do not count twice:

    .. math:: P(j | x) \propto \frac{1}{w_j B} \sum_{b=1}^{B} P_b(j | x), \qquad
              \operatorname{argmin}_i \sum_j P(j | x)\, C(i, j)

    (equation 2.3 of the thesis). Votes without weighting are plain bagging, which
    ignores the costs.

    References
    ----------
    Margineantu (2001), sections 2.2 and 2.3.2 & Table B.1.

    Breiman (1996).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from stakes import CostMatrix, evaluate
    >>> from stakes.learn import CostSensitiveBaggingClassifier
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    >>> X, y = make_classification(400, flip_y=0.2, random_state=0)
    >>> blind = CostSensitiveBaggingClassifier(costs=costs, deciding="vote", random_state=0)
    >>> aware = CostSensitiveBaggingClassifier(costs=costs, random_state=0)
    >>> for model in (blind, aware):
    ...     model = model.fit(X[:200], y[:200])
    ...     print(round(evaluate(y[200:], model.predict(X[200:]), costs).cost))
    2
    0
    """

    def __init__(
        self,
        estimator: Any = None,
        costs: CostMatrix | None = None,
        *,
        n_estimators: int = 50,
        max_samples: float = 1.0,
        weighting: str | None = None,
        deciding: str = "minimum_risk",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.weighting = weighting
        self.deciding = deciding
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CostSensitiveBaggingClassifier:
        """Train the learners.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features, as the estimator takes them.
        y : array_like, shape (n,)
            The classes.
        sample_weight : array_like, shape (n,), optional
            The weights of the examples: the proportions in which they are drawn.

        Returns
        -------
        CostSensitiveBaggingClassifier
            Itself.
        """
        validate.choice(self.deciding, "deciding", ["minimum_risk", "vote"])
        actual = self._start(X, y)
        several_classes(self.classes_)
        self.decisions_ = decision_array(self.costs_, self.classes_)
        bag = make_bag(self.random_state, self.n_estimators, len(actual), self.max_samples)
        bag = bag.weighted(self._chances(actual, sample_weight))
        self.estimators_ = fit_members(self._learner(), X, actual, bag, self.n_jobs)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decisions of least expected cost, or the classes with the most votes.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n,)
            The decisions.
        """
        if self.deciding == "minimum_risk":
            codes = least_risk(self.predict_proba(X), self.costs_.values)
            return np.asarray(self.decisions_[codes])
        self._ready_for(X)
        votes = mean_probabilities(self.estimators_, X, self.classes_, vote, self.n_jobs)
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities: the learners' mean, or their votes if they have none.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n, classes)
            In the order of `classes_`, and corrected for the weighting.
        """
        self._ready_for(X)
        how = probabilities_of(self._learner())
        proba = mean_probabilities(self.estimators_, X, self.classes_, how, self.n_jobs)
        if self.class_weight_ is None:
            return proba
        proba = proba / np.array(list(self.class_weight_.values()))
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    def _learner(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _chances(self, actual: NDArray[Any], sample_weight: Any) -> NDArray[np.float64] | None:
        """Return the proportions in which rows are drawn; None if all are equal."""
        rows = None
        if sample_weight is not None:
            rows = validate.weights(sample_weight, len(actual), of="X")
        self.class_weight_ = None
        if self.weighting is None:
            return rows
        validate.choice(self.weighting, "weighting", FORMULAS)
        codes = np.searchsorted(self.classes_, actual)
        totals = np.bincount(codes, rows).astype(np.float64)
        weights = formula_weights(self.weighting, learnable(self.costs_, self.costs), totals)
        self.class_weight_ = by_label(self.costs_.labels, weights)
        return np.asarray(weights[codes] if rows is None else weights[codes] * rows)


class MetaCostClassifier(MetaLearner):
    r"""Make any learner cost-sensitive by relabelling its training data (MetaCost).

    A bag of learners estimates the class probabilities of each training example, which then gets
    the label of least expected cost in place of its own,
    :math:`\operatorname{argmin}_i \sum_j P(j | x)\, C(i, j)` (equation 2.3 of the thesis).
    One learner is trained on the relabelled examples: it is as fast and as readable as any other,
    and takes the costs into account.

    Parameters
    ----------
    estimator : classifier
        Any classifier.
    costs : CostMatrix, optional
        The cost of each decision for each class; by default 1 for each mistake. Decisions that are
        not classes, such as "abstain", can be labels too, and are learnt and predicted.
    n_estimators : int, default 50
        Number of learners that estimate the probabilities.
    max_samples : float or int, default 1.0
        Size of the bootstrap samples: a share of the examples, or their number.
    probabilities : {"auto", "average", "votes"}, default "auto"
        Average the probabilities of the learners, or count their votes. "auto" averages if they
        have ``predict_proba``.
    out_of_bag : bool, default True
        Estimate the probabilities of an example only by the learners that were not trained on it,
        because the others are overconfident. If all were trained on it, all are used.
    random_state : int, RandomState or None
        The source of randomness. The same number gives the same result for any `n_jobs`.
    n_jobs : int, optional
        Number of learners to train in parallel.

    Attributes
    ----------
    estimator_ : classifier
        The learner that was trained on the relabelled examples. If all got the same label, one
        that always predicts it.
    relabelled_ : ndarray of bool, shape (n,)
        Whether each training example got another label than its own.
    relabelled_share_ : float
        The share of relabelled training examples.
    classes_ : ndarray
        The classes of y.
    decisions_ : ndarray
        The decisions, in the order of ``costs.decisions``.
    costs_ : CostMatrix
        The costs, with the classes in the order of `classes_`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.

    See Also
    --------
    MinimumRiskClassifier : uses the probabilities when it predicts.

    Notes
    -----
    There is no ``predict_proba``: the final learner's probabilities are those of the relabelled
    data, and not of the classes. They are available as ``estimator_.predict_proba``.

    Sample weights are the proportions in which the bag draws the examples; the final learner must
    accept them too.

    References
    ----------
    Domingos (1999).

    Margineantu (2001), Table B.2.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from stakes import CostMatrix, evaluate
    >>> from stakes.learn import MetaCostClassifier
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    >>> X, y = make_classification(400, flip_y=0.2, random_state=0)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> meta = MetaCostClassifier(tree, costs, n_estimators=20, random_state=0)
    >>> for model in (tree, meta):
    ...     model = model.fit(X[:200], y[:200])
    ...     print(round(evaluate(y[200:], model.predict(X[200:]), costs).cost))
    3
    1
    """

    def __init__(
        self,
        estimator: Any,
        costs: CostMatrix | None = None,
        *,
        n_estimators: int = 50,
        max_samples: float = 1.0,
        probabilities: str = "auto",
        out_of_bag: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.probabilities = probabilities
        self.out_of_bag = out_of_bag
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MetaCostClassifier:
        """Relabel the examples, and train the learner on them.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features, as the estimator takes them.
        y : array_like, shape (n,)
            The classes.
        sample_weight : array_like, shape (n,), optional
            The weights of the examples.

        Returns
        -------
        MetaCostClassifier
            Itself.
        """
        how = probabilities_of(self.estimator, self.probabilities)
        if self.probabilities == "average":
            needs_probabilities(self.estimator, "MetaCostClassifier with probabilities='average'")
        actual = self._start(X, y)
        several_classes(self.classes_)
        weights = {}
        if sample_weight is not None:
            of_rows = validate.weights(sample_weight, len(actual), of="X")
            weights = {weight_name(self.estimator): of_rows}
        rng = check_random_state(self.random_state)
        bag = make_bag(rng, self.n_estimators, len(actual), self.max_samples)
        proba = training_probabilities(
            self.estimator,
            X,
            actual,
            bag.weighted(next(iter(weights.values()), None)),
            probabilities=how,
            out_of_bag=self.out_of_bag,
            n_jobs=self.n_jobs,
        )
        codes = least_risk(proba, self.costs_.values)
        self.decisions_ = decision_array(self.costs_, self.classes_)
        self.relabelled_ = self.decisions_.astype(object)[codes] != actual.astype(object)
        self.relabelled_share_ = float(self.relabelled_.mean())
        learner = seeded(self.estimator, rng.randint(SEEDS))
        self._learn(learner, X, codes, weights)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the decisions of least expected cost, with the learner trained on them.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n,)
            The decisions.
        """
        self._ready_for(X)
        predicted = np.asarray(self.estimator_.predict(X))
        return np.asarray(self.decisions_[predicted]) if self._codes() else predicted

    def _learn(
        self, learner: Any, X: Any, codes: NDArray[np.int64], weights: dict[str, Any]
    ) -> None:
        """Train the learner on the relabelled examples."""
        if (codes == codes[0]).all():
            warn(
                f"costs: {plain(self.decisions_[codes[0]])!r} is the cheapest decision for every "
                "training example, so it will always be predicted. Check the costs, or train on "
                "more examples.",
                ConstantDecisionWarning,
            )
            learner, weights = DummyClassifier(strategy="prior"), {}
        self.estimator_ = learner.fit(
            X, codes if self._codes() else self.decisions_[codes], **weights
        )

    def _codes(self) -> bool:
        """Return whether decisions are learnt as numbers: 1 and "abstain" cannot be sorted."""
        return len({type(decision) for decision in self.costs_.decisions}) > 1
