"""Shared parts of the learners: the classes of y, their costs, weights, seeds and rows of any X."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
    validate_data,
)

from stakes._core import validate
from stakes._core.labels import Labels, label_array, listing, plain
from stakes.costs import CostMatrix
from stakes.errors import ConstantCostWarning, InputError, InputTypeError, LabelError, warn

SEEDS = 2**31 - 1
"""Upper bound of random seeds."""


class MetaLearner(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of learners that train another learner, which must be able to read the data."""

    estimator: Any
    costs: CostMatrix | None
    classes_: NDArray[Any]
    costs_: CostMatrix

    def _learner(self) -> Any:
        """Return the learner to train; subclasses may have a default."""
        return self.estimator

    def _start(self, X: Any, y: Any) -> NDArray[Any]:
        """Store the features, the classes and their costs; return the class of each row."""
        needs_classes(self, y)
        validate_data(self, X, skip_check_array=True)
        actual, self.classes_ = read_classes(X, y)
        self.costs_ = training_costs(self.costs, self.classes_)
        return actual

    def _ready_for(self, X: Any) -> None:
        """Check that the learner is fitted and X has its features; a column of texts has none."""
        check_is_fitted(self)
        if getattr(X, "ndim", 2) > 1:
            validate_data(self, X, reset=False, skip_check_array=True)
        elif hasattr(self, "n_features_in_"):
            raise InputError(
                "X",
                f"expected rows of {self.n_features_in_} features, got an array of one dimension.",
                "Reshape your data, with X.reshape(1, -1) for one row.",
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_") or hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._learner())
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        tags.target_tags.multi_output = False  # costs are for one class per row
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


def needs_classes(learner: Any, y: Any) -> None:
    """Raise if y is missing."""
    if y is None:
        raise InputError(
            "",
            f"This {type(learner).__name__} estimator requires y to be passed, but the target y "
            "is None.",
        )


def read_classes(X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the class of each row of X, and the classes."""
    check_consistent_length(X, y)
    actual: NDArray[Any] = column_or_1d(y, warn=True)
    classes = classes_of(actual)
    assert_all_finite(actual, input_name="y")
    if actual.dtype.kind not in "biuUS":  # integers and text are always classes
        check_classification_targets(actual)
    return actual, classes


def classes_of(actual: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted classes; raise if they cannot be sorted."""
    try:
        return np.asarray(np.unique(actual))
    except ArithmeticError:  # from a Decimal that is NaN
        raise LabelError(
            "y", "expected classes, got NaN.", "Leave out the rows without a class."
        ) from None
    except TypeError:
        kinds = sorted({type(label).__name__ for label in actual.tolist()})
        raise LabelError(
            "y",
            f"expected classes of one kind, such as text or whole numbers, got {listing(kinds)}.",
            "Leave out the rows without a class, or name all classes by text.",
        ) from None


def training_costs(costs: CostMatrix | None, classes: NDArray[Any]) -> CostMatrix:
    """Return the costs of all decisions for the classes of y, in their order; 0/1 for None."""
    labels = tuple(plain(label) for label in classes)
    if costs is None:
        return CostMatrix.zero_one(labels)
    validate.expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")
    unknown = [label for label in labels if label not in costs.labels]
    if unknown:
        raise LabelError(
            "costs",
            f"y has the class {unknown[0]!r}, but the costs are for the classes "
            f"{listing(costs.labels)}.",
            "Name the classes of y in the costs, for example with costs.relabel({old: "
            f"new}}).{_if_numbered(labels, costs.labels)}",
        )
    values = costs.values_for(labels, costs.decisions)
    if (values == values[0]).all() and len(costs.decisions) > 1:
        warn(
            "costs: every decision costs the same, whatever the class, so nothing can be learnt "
            "from these costs. Give mistakes a cost.",
            ConstantCostWarning,
        )
    return CostMatrix(values, rows="predicted", labels=labels, decisions=costs.decisions)


def _if_numbered(found: Labels, named: Labels) -> str:
    """Return advice if scikit-learn has numbered the classes, or an empty text."""
    texts = sorted(label for label in named if isinstance(label, str))
    if found != tuple(range(len(found))) or len(found) != len(texts) or len(texts) < len(named):
        return ""
    numbers = {label: number for number, label in enumerate(texts)}
    return (
        " scikit-learn's VotingClassifier, StackingClassifier and cross_val_predict with "
        "method='predict_proba' number the classes in their sorted order: inside of these, "
        f"use costs.relabel({numbers})."
    )


def several_classes(classes: NDArray[Any]) -> None:
    """Raise if there is only one class."""
    if len(classes) == 1:
        raise LabelError(
            "y",
            "at least two classes are needed to learn what tells them apart, got one class, "
            f"{plain(classes[0])!r}.",
            "Check y, or stratify the folds that it comes from.",
        )


def decision_array(costs: CostMatrix, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the decisions, with the dtype of the classes if all are classes."""
    places = {plain(label): place for place, label in enumerate(classes)}
    if all(decision in places for decision in costs.decisions):
        return np.asarray(classes[[places[decision] for decision in costs.decisions]])
    return label_array(costs.decisions)


def class_columns(proba: NDArray[Any], known: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return probabilities with a column for each class; 0 for classes unknown to the learner."""
    if len(known) == len(classes):
        return np.asarray(proba, dtype=np.float64)
    full = np.zeros((len(proba), len(classes)))
    full[:, np.searchsorted(classes, known)] = proba
    return full


def needs_probabilities(estimator: Any, user: str) -> None:
    """Raise unless a learner has ``predict_proba``."""
    if not hasattr(estimator, "predict_proba"):
        raise InputTypeError(
            "estimator",
            f"{user} needs class probabilities, but {type(estimator).__name__} has no "
            "predict_proba.",
            "Wrap it in sklearn.calibration.CalibratedClassifierCV, or choose another.",
        )


def rows_of(X: Any, index: NDArray[Any]) -> Any:
    """Return some rows of an array, a sparse matrix or a data frame."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[np.flatnonzero(index) if index.dtype == bool else index].to_native()
    if hasattr(X, "tocsr"):
        return X.tocsr()[index]
    return np.asarray(X)[index]


def seeded(estimator: Any, seed: int, *, keep: bool = False) -> Any:
    """Return a clone of a learner in which every ``random_state`` is the seed.

    With `keep`, those that are not None stay as they are.
    """
    copy = clone(estimator)
    names = [
        name
        for name, value in copy.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and not (keep and value is not None)
    ]
    return copy.set_params(**dict.fromkeys(names, int(seed)))


def weight_name(estimator: Any) -> str:
    """Return the parameter by which a learner's fit takes row weights; raise if there is none."""
    name = weight_parameter(estimator)
    if name is None:
        raise InputTypeError(
            "sample_weight",
            f"the fit of {type(estimator).__name__} takes no weights.",
            f"Leave them out, or choose another estimator.{asking_for_weights()}",
        )
    return name


def asking_for_weights() -> str:
    """Return advice on weights in pipelines if metadata routing is on, or an empty text."""
    if not get_config()["enable_metadata_routing"]:
        return ""
    return " In a pipeline, let the step that takes them ask: set_fit_request(sample_weight=True)."


def weight_parameter(estimator: Any) -> str | None:
    """Return the parameter by which a learner's fit takes row weights, or None.

    A pipeline takes them for its last step: by metadata routing where that is on and requested,
    otherwise as ``step__sample_weight``.
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if get_config()["enable_metadata_routing"]:
        routed = get_routing_for_object(estimator).consumes("fit", ["sample_weight"])
        return "sample_weight" if routed else None
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_parameter(last)
        return inner and f"{name}__{inner}"
    return None
