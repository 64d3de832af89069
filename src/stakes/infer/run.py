"""Check what is asked of an interval, and let the method answer."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from stakes.errors import ConstantCostWarning, DesignError, InputError, InputTypeError
from stakes.infer.methods import METHODS
from stakes.infer.outcomes import Floats, Outcomes


def checked_confidence(confidence: Any) -> float:
    """Return one minus the confidence, which must lie between 0 and 1."""
    if not isinstance(confidence, float | int) or not 0 < confidence < 1:
        raise InputError(
            f"confidence: expected a number between 0 and 1, such as 0.95; got {confidence!r}."
        )
    return round(1 - float(confidence), 15)  # 1 - 0.9 is 0.1, not 0.09999999999999998


def limits(
    outcomes: Outcomes, confidence: float, method: str, options: dict[str, Any]
) -> tuple[Floats, Floats]:
    """Return the limits of a method for each table."""
    alpha = checked_confidence(confidence)
    if method not in METHODS:
        raise InputError(
            f"method: expected one of {', '.join(map(repr, ['auto', *METHODS]))}; got {method!r}."
        )
    module = METHODS[method]
    check_design(method, outcomes.design)
    known = list(inspect.signature(module.limits).parameters)[2:]
    for name in options:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputTypeError(f"{name}: the method {method!r} has no such option; {takes}.")
    if outcomes.lowest == outcomes.highest:
        warnings.warn(
            f"all possible outcomes cost the same, {outcomes.lowest:g}: the interval has no width.",
            ConstantCostWarning,
            stacklevel=4,
        )
        return outcomes.mean, outcomes.mean
    low, high = module.limits(outcomes, alpha, **options)
    return low, high


def check_design(method: str, design: str) -> None:
    """Raise when a method cannot treat a design, and name those that can."""
    if design not in METHODS[method].DESIGNS:
        able = [name for name, module in METHODS.items() if design in module.DESIGNS]
        raise DesignError(
            f"method: {method!r} cannot treat the design {design!r}; "
            f"these can: {', '.join(map(repr, able))}."
        )
