"""What all displays share: axes, colours and line styles, and the scores of an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stakes._core import optional, validate
from stakes._core.labels import Label
from stakes.errors import InputError, InputTypeError, LabelError

pyplot = optional.pyplot
"""The only way to matplotlib here: it says what to install where there is none."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, which colour-blind people can tell apart; without yellow, which is too
pale for a line."""

STYLES = ("-", "--", "-.", (0, (1, 1.2)), (0, (9, 2)), (0, (4, 1, 1, 1, 1, 1)))
"""The line styles that go with them, for print in black and white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "//")

GREY = "0.4"
WIDTH = 1.8

RESPONSES = ("predict_proba", "decision_function")
"""The methods of a classifier that give scores, the first choice first."""


def one_axes(ax: Any) -> Any:
    """Return the axes to draw on; new ones, if none are given."""
    plt = pyplot()
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def several_axes(axes: Any, count: int, **options: Any) -> Any:
    """Return an array of as many axes; new ones, made with the options, if none are given."""
    plt = pyplot()
    if axes is None:
        return np.ravel(plt.subplots(layout="constrained", **options)[1])
    given = np.ravel(np.asarray(axes, dtype=object))
    if len(given) != count:
        raise InputError("axes", f"expected {count} axes to draw on, got {len(given)}.")
    return given


def line_look(index: int) -> dict[str, Any]:
    """Return the colour and the line style of the curve with that number."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": STYLES[index % len(STYLES)],
        "linewidth": WIDTH,
    }


def line_options(index: int, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what matplotlib is told about a curve: the look of its number, and what is given."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    if given is not None and not isinstance(given, Mapping):
        raise InputTypeError(
            "curve_kwargs",
            'expected a mapping of matplotlib\'s options, such as {"color": "red"}; got a '
            f"{type(given).__name__}.",
        )
    return line_look(index) | normalize_kwargs(dict(given or {}), Line2D)


def tinted(colour: Any, alpha: float) -> Any:
    """Return a colour that shows what is behind it."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour, alpha)


def positive_scores(
    estimator: Any, examples: Any, *, pos_label: Label | None, response_method: str
) -> tuple[Any, Label]:
    """Return the scores of the positive class, and which class that is."""
    validate.choice(response_method, "response_method", ("auto", *RESPONSES))
    classes = np.asarray(_classes(estimator)).tolist()
    if len(classes) != 2:  # noqa: PLR2004 - a cost curve is for two classes
        raise InputError(
            "estimator",
            f"a cost curve needs a classifier of two classes, this one has {classes}. "
            "CostCurve.one_versus_rest makes a curve for each of several classes.",
        )
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise LabelError("pos_label", f"expected one of {classes}, got {pos_label!r}.")
    wanted = RESPONSES if response_method == "auto" else (response_method,)
    method = next((each for each in wanted if hasattr(estimator, each)), None)
    if method is None:
        raise InputTypeError(
            "estimator",
            f"{type(estimator).__name__} has no {' or '.join(wanted)}, so it gives no scores; "
            "draw its decisions with from_predictions(y, estimator.predict(X)).",
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
            "estimator",
            f"expected a fitted classifier, got a {type(estimator).__name__}, which has no "
            "classes_.",
        )
    return classes
