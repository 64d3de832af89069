"""MetaCost: relabel the training data with the cheapest decisions, and learn these (Table B.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state

from stakes._core import validate
from stakes._core.labels import plain
from stakes._core.warn import warn
from stakes.costs import CostMatrix
from stakes.costs._risk import least_risk
from stakes.errors import ConstantDecisionWarning
from stakes.learn._base import (
    SEEDS,
    MetaLearner,
    decision_array,
    needs_probabilities,
    seeded,
    several_classes,
    weight_name,
)
from stakes.learn.bagging import make_bag, probabilities_of, training_probabilities


class MetaCostClassifier(MetaLearner):
    r"""Make any learner cost-sensitive by relabelling its training data (MetaCost).

    A bag of learners estimates the class probabilities of each training example, which then gets
    the label of least expected cost in place of its own,
    :math:`\operatorname{argmin}_i \sum_j P(j | x)\, C(i, j)` (equation 2.3 of the thesis).
    One learner is trained on the relabelled examples: it is as fast and as readable as any other,
    and has the costs in it.

    Parameters
    ----------
    estimator : classifier
        Any classifier.
    costs : CostMatrix, optional
        What each decision costs for each class; by default 1 for each mistake. Decisions that are
        no classes, such as "abstain", can be relabelled to, learnt and predicted.
    n_estimators : int, default 50
        How many learners estimate the probabilities.
    max_samples : float or int, default 1.0
        How many examples each of them gets: a share, or a number.
    probabilities : {"auto", "average", "votes"}, default "auto"
        Average the probabilities of the learners, or count their votes. "auto" averages if they
        tell probabilities.
    out_of_bag : bool, default True
        Ask only the learners that were not trained on an example for its probabilities, which are
        too sure otherwise. If each was trained on it, all are asked.
    random_state : int, RandomState or None
        The source of randomness. The same number gives the same result for any `n_jobs`.
    n_jobs : int, optional
        How many learners to train at a time.

    Attributes
    ----------
    estimator_ : classifier
        The learner that was trained on the relabelled examples. If all got the same label, one
        that always predicts it.
    relabelled_ : ndarray of bool, shape (n,)
        Which training examples got another label than their own.
    relabelled_share_ : float
        Their share.
    classes_ : ndarray
        The classes of y.
    decisions_ : ndarray
        What can be predicted.
    costs_ : CostMatrix
        The costs, with the classes in the order of `classes_`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.

    See Also
    --------
    MinimumRiskClassifier : decides by the probabilities themselves.

    Notes
    -----
    There is no ``predict_proba``: the final learner's probabilities are those of the relabelled
    data, and not of the classes. They are at ``estimator_.predict_proba``.

    Weights of examples are the proportions in which the bag draws them; the final learner must
    take them too.

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
        """Predict the decisions of least expected cost, as they were learnt.

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
        """Tell whether decisions are learnt as numbers: 1 and "abstain" cannot be sorted."""
        return len({type(decision) for decision in self.costs_.decisions}) > 1
