"""Check what is asked of an interval, and let the method answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from stakes import _validate
from stakes._core.typing import Floats
from stakes._warn import warn
from stakes.errors import ConstantCostWarning, DesignError, InputError, InputTypeError
from stakes.infer.methods import METHODS
from stakes.infer.outcomes import Outcomes

AUTOMATIC = ("exact", "extremal")
"""The methods that "auto" chooses from."""


def limits(
    outcomes: Outcomes, confidence: float, method: str, options: dict[str, Any]
) -> tuple[Floats, Floats]:
    """Return the limits of a method for each table."""
    alpha = _validate.alpha(confidence)
    if method not in METHODS:
        raise InputError(
            f"method: expected one of {', '.join(map(repr, ['auto', *METHODS]))}; got {method!r}."
        )
    module = METHODS[method]
    check_design(method, outcomes.design)
    check_options(options, f"the method {method!r}", option_names(module.limits, 2))
    if outcomes.lowest == outcomes.highest:
        warn(
            f"all possible outcomes cost the same, {outcomes.lowest:g}: the interval has no width.",
            ConstantCostWarning,
        )
        return outcomes.mean, outcomes.mean
    low, high = module.limits(outcomes, alpha, **options)
    return low, high


def option_names(function: Callable[..., Any], positional: int) -> list[str]:
    """Return the names of a function's parameters after the first few."""
    return list(inspect.signature(function).parameters)[positional:]


def check_options(options: dict[str, Any], what: str, known: list[str]) -> None:
    """Raise when an option is not among those known, and name these."""
    for name in options:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputTypeError(f"{name}: {what} has no such option; {takes}.")


def options_for(method: str, options: dict[str, Any], laplace: float) -> dict[str, Any]:
    """Return what a method takes of the options for "auto", which must be known to one of them."""
    able = {name: option_names(METHODS[name].limits, 2) for name in AUTOMATIC}
    check_options(options, "the method 'auto'", sorted({*able["exact"], *able["extremal"]}))
    return with_laplace(
        method, {name: value for name, value in options.items() if name in able[method]}, laplace
    )


def with_laplace(method: str, options: dict[str, Any], laplace: float) -> dict[str, Any]:
    """Add the Laplace correction to the options of a method that takes one."""
    return {"laplace": laplace} | options if takes(method, "laplace") else options


def takes(method: str, option: str) -> bool:
    """Tell whether a method has an option."""
    return method in METHODS and option in option_names(METHODS[method].limits, 2)


def check_design(method: str, design: str) -> None:
    """Raise when a method cannot treat a design, and name those that can."""
    if design not in METHODS[method].DESIGNS:
        able = [name for name, module in METHODS.items() if design in module.DESIGNS]
        raise DesignError(
            f"method: {method!r} cannot treat the design {design!r}; "
            f"these can: {', '.join(map(repr, able))}."
        )
