"""The scores that a fitted classifier gives the positive class."""

from __future__ import annotations

from typing import Any

import numpy as np

from stakes import _validate
from stakes._labels import Label
from stakes.errors import InputError, InputTypeError, LabelError

RESPONSES = ("predict_proba", "decision_function")


def positive_scores(
    estimator: Any, examples: Any, *, pos_label: Label | None, response_method: str
) -> tuple[Any, Label]:
    """Return the scores of the positive class, and which class that is."""
    _validate.choice(response_method, "response_method", ("auto", *RESPONSES))
    classes = np.asarray(_classes(estimator)).tolist()
    if len(classes) != 2:  # noqa: PLR2004 - a cost curve is for two classes
        raise InputError(
            f"estimator: a cost curve needs a classifier of two classes, this one has {classes}. "
            "CostCurve.one_versus_rest makes a curve for each of several classes."
        )
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise LabelError(f"pos_label: expected one of {classes}, got {pos_label!r}.")
    wanted = RESPONSES if response_method == "auto" else (response_method,)
    method = next((each for each in wanted if hasattr(estimator, each)), None)
    if method is None:
        raise InputTypeError(
            f"estimator: {type(estimator).__name__} has no {' or '.join(wanted)}, so it gives no "
            "scores; draw its decisions with from_predictions(y, estimator.predict(X))."
        )
    response = np.asarray(getattr(estimator, method)(examples))
    at = classes.index(positive)
    if method == "predict_proba":
        return response[:, at], positive
    return (response if at == 1 else -response), positive


def estimator_name(estimator: Any) -> str:
    """Return the kind of an estimator; of a pipeline, that of its last step."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


def _classes(estimator: Any) -> Any:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputTypeError(
            f"estimator: expected a fitted classifier, got a {type(estimator).__name__}, which "
            "has no classes_."
        )
    return classes
