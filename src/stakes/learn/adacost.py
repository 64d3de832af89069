"""AdaCost: boosting whose weights follow the costs of mistakes, for two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from stakes._core import validate
from stakes._core.labels import listing
from stakes.costs import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.learn._base import (
    SEEDS,
    MetaLearner,
    asking_for_weights,
    seeded,
    several_classes,
    weight_parameter,
)
from stakes.learn.weights import learnable


class AdaCostClassifier(MetaLearner):
    r"""AdaCost: boosting in which mistakes that cost more gain more weight.

    Examples start with weights :math:`D` in proportion to the cost of mistaking their class. Each
    round trains a weak learner :math:`h` with these weights, gives it the vote
    :math:`\alpha = \frac{1}{2} \ln\frac{1 + r}{1 - r}`, where
    :math:`r = \sum D\, y\, h\, \beta`, and multiplies the weights by
    :math:`\exp(-\alpha\, y\, h\, \beta)`. Here :math:`y` and :math:`h` are ±1, and the cost
    adjustment :math:`\beta` is :math:`0.5 - 0.5\,c` where :math:`h` is right and
    :math:`0.5 + 0.5\,c` where it is wrong, with the cost :math:`c` scaled to [0, 1]. The
    prediction is the sign of :math:`\sum \alpha h`.

    Parameters
    ----------
    estimator : classifier, optional
        The weak learner, which must take weights; by default a decision tree of depth 3.
    costs : CostMatrix, optional
        The cost of each decision for each class; by default 1 for each mistake. Only the extra
        cost of a mistake over the correct decision matters.
    n_estimators : int, default 50
        Maximum number of rounds.
    learning_rate : float, default 1.0
        Multiplies :math:`\alpha`.
    adjustment : float between 0 and 1, default 0.1
        The cost :math:`c` of the more expensive class; 1 in the paper. See the notes.
    random_state : int, RandomState or None
        The source of randomness, for weak learners that have any.

    Attributes
    ----------
    estimators_ : list of classifiers
        The weak learners.
    estimator_weights_ : ndarray
        Their votes :math:`\alpha`.
    classes_ : ndarray
        The two classes.
    costs_ : CostMatrix
        The costs, with the classes in the order of `classes_`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.

    See Also
    --------
    CostSensitiveBaggingClassifier : an ensemble for any number of classes.

    Notes
    -----
    With the weighted error :math:`\epsilon` and the weighted mean :math:`\bar c` of the costs,
    :math:`r = (1 - 2\epsilon - \bar c)/2`. The guarantee of AdaCost needs :math:`r > 0`, so
    boosting ends before a round in which that fails, though never before the first.

    In the paper each example has its own cost, scaled so that the largest is 1. That is
    ``adjustment=1``. But with one cost for each class :math:`\bar c` then comes close to 1, or is 1
    if the costs are equal, and boosting ends after the first round: in 14 of 20 cases that we
    tried. Smaller adjustments keep it going, and the default was cheaper in 17 of them. With 0 the
    costs affect only the initial weights.

    There is no ``predict_proba``, because the scores depend on the costs.

    References
    ----------
    Fan et al. (1999).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from stakes import CostMatrix, evaluate
    >>> from stakes.learn import AdaCostClassifier
    >>> X, y = make_classification(400, flip_y=0.2, random_state=0)
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    >>> for model in (AdaCostClassifier(), AdaCostClassifier(costs=costs)):
    ...     model = model.set_params(random_state=0).fit(X[:200], y[:200])
    ...     print(round(evaluate(y[200:], model.predict(X[200:]), costs).cost))
    2
    1
    """

    def __init__(
        self,
        estimator: Any = None,
        costs: CostMatrix | None = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        adjustment: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.adjustment = adjustment
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaCostClassifier:
        """Boost the weak learner.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features, as the estimator takes them.
        y : array_like, shape (n,)
            The classes, two of them.
        sample_weight : array_like, shape (n,), optional
            Multiplies the initial weights of the examples.

        Returns
        -------
        AdaCostClassifier
            Itself.
        """
        rounds = validate.as_size(self.n_estimators, "n_estimators", least=1)
        self._check_numbers()
        weight_name = self._weight_name()
        actual = self._start(X, y)
        several_classes(self.classes_)
        mistakes = self._mistake_costs()
        cost = np.where(actual == self.classes_[1], mistakes[1], mistakes[0])
        weights = self._start_weights(cost, sample_weight)
        adjusted = self.adjustment * cost / mistakes.max()
        rng = check_random_state(self.random_state)
        learners: list[Any] = []
        votes: list[float] = []
        for _ in range(rounds):
            learner = seeded(self._learner(), rng.randint(SEEDS))
            learner.fit(X, actual, **{weight_name: weights})
            right = learner.predict(X) == actual
            margin = np.where(right, 0.5 - 0.5 * adjusted, -0.5 - 0.5 * adjusted)  # y h β
            r = float((weights * margin).sum())
            if r <= 0 and votes:
                break
            learners.append(learner)
            votes.append(self.learning_rate * float(np.arctanh(r)) if r > 0 else 1.0)
            perfect = not (weights > 0)[~right].any()
            if r <= 0 or (perfect and len(votes) == 1):  # more rounds would only repeat it
                break
            weights = weights * np.exp(-votes[-1] * margin)
            weights /= weights.sum()
        self.estimators_, self.estimator_weights_ = learners, np.array(votes)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores, from -1 (all learners for the first class) to 1 (for the second).

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n,)
            The weighted mean of the weak learners' predictions, as -1 or 1.
        """
        self._ready_for(X)
        total = 0.0
        for learner, vote in zip(self.estimators_, self.estimator_weights_, strict=True):
            total = total + vote * np.where(learner.predict(X) == self.classes_[1], 1.0, -1.0)
        return np.asarray(total / self.estimator_weights_.sum())

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class by the vote of the weak learners; a tie goes to the first class.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n,)
            The classes.
        """
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(int)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _learner(self) -> Any:
        return DecisionTreeClassifier(max_depth=3) if self.estimator is None else self.estimator

    def _check_numbers(self) -> None:
        if validate.one_number(self.learning_rate, "learning_rate") <= 0:
            raise InputError(
                "learning_rate", f"expected a number above 0, got {self.learning_rate}."
            )
        if not 0 <= validate.one_number(self.adjustment, "adjustment") <= 1:
            raise InputError(
                "adjustment", f"expected a number between 0 and 1, got {self.adjustment}."
            )

    def _weight_name(self) -> str:
        name = weight_parameter(self._learner())
        if name is None:
            raise InputTypeError(
                "estimator",
                "AdaCostClassifier trains with weights, but the fit of "
                f"{type(self._learner()).__name__} takes none.",
                f"Choose another weak learner, such as a decision tree.{asking_for_weights()}",
            )
        return name

    def _mistake_costs(self) -> NDArray[np.float64]:
        """Return the extra cost of mistaking each of the two classes over the correct decision."""
        if len(self.classes_) > 2:  # noqa: PLR2004 - AdaCost is for two
            raise LabelError(
                "y",
                "Only binary classification is supported. AdaCost is for two classes, got "
                f"{len(self.classes_)}: {listing(self.costs_.labels)}.",
                "For more, use CostSensitiveBaggingClassifier, MetaCostClassifier or "
                "MinimumRiskClassifier.",
            )
        decisions = learnable(self.costs_, self.costs).decisions
        if set(decisions) != set(self.costs_.labels):
            raise InputError(
                "costs",
                "AdaCost can only decide for one of the two classes "
                f"{listing(self.costs_.labels)}, but the decisions are {listing(decisions)}.",
                "Use MinimumRiskClassifier, or costs without other decisions.",
            )
        values = self.costs_.values_for(self.costs_.labels, self.costs_.labels)
        mistakes = np.array([values[1, 0] - values[0, 0], values[0, 1] - values[1, 1]])
        if (mistakes < 0).any():
            label = self.costs_.labels[int(np.argmin(mistakes))]
            raise InputError(
                "costs",
                f"mistaking the class {label!r} must not cost less than recognizing it, but costs "
                f"{-mistakes.min():g} less.",
                "Check the orientation of the costs, or use MinimumRiskClassifier.",
            )
        return mistakes if mistakes.any() else np.ones(2)

    def _start_weights(self, cost: NDArray[np.float64], given: Any) -> NDArray[np.float64]:
        weights = cost
        if given is not None:
            weights = cost * validate.weights(given, len(cost), of="X")
        if not weights.any():
            raise InputError(
                "sample_weight",
                "only examples whose mistakes cost nothing have a weight.",
                "Give others a weight, or their class a cost.",
            )
        return np.asarray(weights / weights.sum())
