"""Minimum-risk decisions: the cheapest ones, given the class probabilities (eq. 2.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import accuracy_score
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from stakes._core import validate
from stakes._core.labels import Labels, listing, plain
from stakes.costs import CostMatrix
from stakes.costs._axes import expected_risk, least_risk
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.learn._base import (
    MetaLearner,
    class_columns,
    decision_array,
    needs_probabilities,
    several_classes,
    training_costs,
    weight_name,
)

CALIBRATIONS = ["sigmoid", "isotonic"]


class MinimumRiskClassifier(MetaLearner):
    r"""Take the decision of least expected cost, given the class probabilities of any classifier.

    The expected cost, or risk, of decision :math:`i` is
    :math:`R(i | x) = \sum_j P(j | x)\, C(i, j)` (equation 2.3 of the thesis). If the probabilities
    are correct, no other decisions have a lower expected cost. Calibrate classifiers that only
    rank well.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``predict_proba``; with calibration, a decision function is enough. For
        a fitted one, pass ``FrozenEstimator(classifier)``.
    costs : CostMatrix, optional
        The cost of each decision for each class; by default 1 for each mistake. It may have
        decisions that are not classes, such as "abstain".
    calibration : {"sigmoid", "isotonic"}, optional
        Method by which scikit-learn's ``CalibratedClassifierCV`` calibrates the probabilities.
    cv : int, splitter or iterable, default 5
        The folds to calibrate on.
    n_jobs : int, optional
        Number of folds to fit in parallel.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier, calibrated if requested.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    decisions_ : ndarray
        The decisions, in the order of ``costs.decisions`` and of the columns of `expected_risk`.
    costs_ : CostMatrix
        The costs, with the classes in the order of `classes_`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.

    See Also
    --------
    MetaCostClassifier : for learners whose probabilities are poor, or one readable model.
    WeightedClassifier : uses the costs in training.

    References
    ----------
    Margineantu (2001), equations 2.3 and 4.1, sections 2.3.3 and 7.2.2.

    Examples
    --------
    A miss costs five false alarms, so a probability of 0.24 is enough to predict class 1:

    >>> from sklearn.linear_model import LogisticRegression
    >>> from stakes import CostMatrix
    >>> from stakes.learn import MinimumRiskClassifier
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=5)
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1]
    >>> model = MinimumRiskClassifier(LogisticRegression(), costs).fit(X, y)
    >>> model.predict([[0], [1], [3]]).tolist()
    [0, 1, 1]
    >>> model.predict_proba([[1]]).round(2).tolist()
    [[0.76, 0.24]]
    >>> model.expected_risk([[1]]).round(2).tolist()
    [[1.2, 0.76]]
    """

    # Weights are passed on to the estimator, which must request them.
    __metadata_request__fit = {"sample_weight": UNUSED}  # noqa: RUF012 - scikit-learn reads it

    def __init__(
        self,
        estimator: Any,
        costs: CostMatrix | None = None,
        *,
        calibration: str | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.calibration = calibration
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any
    ) -> MinimumRiskClassifier:
        """Fit the classifier that estimates the probabilities.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features, as the estimator takes them.
        y : array_like, shape (n,)
            The classes.
        sample_weight : array_like, shape (n,), optional
            The weights of the examples, for the estimator.
        **fit_params
            Further arguments of the estimator's ``fit``, by metadata routing.

        Returns
        -------
        MinimumRiskClassifier
            Itself.
        """
        if self.calibration is not None:
            validate.choice(self.calibration, "calibration", CALIBRATIONS)
        else:
            needs_probabilities(self.estimator, "MinimumRiskClassifier without calibration")
        actual = self._start(X, y)
        several_classes(self.classes_)
        if sample_weight is not None:
            fit_params["sample_weight"] = validate.weights(sample_weight, len(actual), of="X")
        learner = self._learner_to_fit()
        self.estimator_ = learner.fit(X, actual, **self._for_learner(learner, fit_params))
        self._take_classes_of_prefit()
        self.decisions_ = decision_array(self.costs_, self.classes_)
        return self

    def predict(self, X: Any, example_costs: Any = None) -> NDArray[Any]:
        """Take the decision of least expected cost; a tie goes to the first in `decisions_`.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.
        example_costs : array_like, shape (n, decisions, classes), optional
            The cost of each decision for each class that the example may have, in place of the
            cost matrix. The order is that of ``costs.decisions`` and ``costs.labels``; without
            `costs` that of `classes_`. To pass them through a pipeline, request them with
            ``set_predict_request(example_costs=True)``.

        Returns
        -------
        ndarray, shape (n,)
            The decisions.
        """
        proba = self.predict_proba(X)
        return np.asarray(self.decisions_[least_risk(proba, self._values(example_costs, proba))])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities, in the order of `classes_`.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n, classes)
        """
        self._ready_for(X)
        proba = self.estimator_.predict_proba(X)
        return class_columns(proba, self.estimator_.classes_, self.classes_)

    def expected_risk(self, X: Any, example_costs: Any = None) -> NDArray[np.float64]:
        """Return the expected cost of each decision for each example.

        Parameters
        ----------
        X, example_costs
            As for `predict`.

        Returns
        -------
        ndarray, shape (n, decisions)
            In the order of `decisions_`.
        """
        proba = self.predict_proba(X)
        return expected_risk(proba, self._values(example_costs, proba))

    def score(self, X: Any, y: Any, sample_weight: Any = None, example_costs: Any = None) -> float:
        """Return the share of correct decisions, as scikit-learn's classifiers do.

        Parameters
        ----------
        X, example_costs
            As for `predict`.
        y : array_like, shape (n,)
            The classes.
        sample_weight : array_like, shape (n,), optional
            The weights of the examples.

        Returns
        -------
        float
        """
        right = self.predict(X, example_costs=example_costs) == np.asarray(y)
        return float(accuracy_score(np.ones(len(right)), right, sample_weight=sample_weight))

    def get_metadata_routing(self) -> Any:
        """Return the routing: fit parameters go to the estimator, example costs to `predict`.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._learner_to_fit(), method_mapping=to_fit)

    def _learner_to_fit(self) -> Any:
        if self.calibration is None:
            return clone(self.estimator)
        calibrated = CalibratedClassifierCV(
            self.estimator, method=self.calibration, cv=self.cv, n_jobs=self.n_jobs
        )
        if get_config()["enable_metadata_routing"]:
            calibrated.set_fit_request(sample_weight=True)  # users cannot reach this one
        return calibrated

    def _for_learner(self, learner: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters for the learner's fit."""
        if not params:
            return {}
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **params).estimator.fit)
        others = [name for name in params if name != "sample_weight"]
        if others:
            raise InputTypeError(
                others[0],
                "fit takes sample_weight, and others only with metadata routing.",
                "Turn it on with sklearn.set_config(enable_metadata_routing=True), and let the "
                f"estimator ask with set_fit_request({others[0]}=True).",
            )
        return {weight_name(learner): params["sample_weight"]}

    def _take_classes_of_prefit(self) -> None:
        """Take the classes of a classifier that is already fitted, to more classes than y has."""
        known = np.asarray(self.estimator_.classes_)
        if np.array_equal(known, self.classes_):
            return
        unknown = [plain(label) for label in self.classes_ if label not in known]
        if unknown:
            raise LabelError(
                "y",
                f"has the class {unknown[0]!r}, but the estimator tells probabilities of "
                f"{listing(tuple(known.tolist()))}.",
                "Fit it to all classes of y.",
            )
        self.classes_ = known
        self.costs_ = training_costs(self.costs, known)

    def _values(self, example_costs: Any, proba: NDArray[Any]) -> NDArray[np.float64]:
        """Return costs [decision, class] or [example, decision, class], ordered as `classes_`."""
        if example_costs is None:
            return self.costs_.values
        labels: Labels = self.costs_.labels if self.costs is None else self.costs.labels
        array = validate.numeric(example_costs, "example_costs", ndim=3)
        shape = (len(proba), len(self.decisions_), len(labels))
        if array.shape != shape:
            raise InputError(
                "example_costs",
                f"expected an array of shape {shape} [example, decision, class], in the order of "
                f"the decisions {listing(self.costs_.decisions)} and of the classes "
                f"{listing(labels)}, got shape {array.shape}.",
            )
        validate.finite(array, "example_costs", "Give each decision a cost for each class.")
        return array[:, :, [labels.index(label) for label in self.costs_.labels]]
