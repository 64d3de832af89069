"""Registry of the methods for intervals and tests, which have one file each.

A method has the limits of an interval, the tails of a test, or both, and the designs it supports.
To add one, add its file with an `IntervalMethod`, its test, and its name in `FILES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from stakes._core import validate
from stakes._core.typing import Floats

__all__ = ["METHODS", "IntervalMethod", "names_of_intervals", "names_of_tests"]

TwoSides = tuple[Floats, Floats]
"""An array for the lower and one for the upper side, with an entry for each table."""


class Bounds(tuple[Floats, Floats]):  # noqa: SLOT001 - a tuple with slots takes no attribute
    """Two sides that are bounds of the exact values, where a method cannot compute those."""

    error: float

    @classmethod
    def of(cls, low: Floats, high: Floats, error: float) -> TwoSides:
        """Return the sides with the largest error, in cost, of the distribution behind them."""
        result = cls((low, high))
        result.error = error
        return result


EVERY_DESIGN = frozenset({"simple", "examples", "stratified", "weighted", "grouped", "finite"})
ONE_SAMPLE = frozenset({"simple", "examples"})


@dataclass(frozen=True, kw_only=True)
class IntervalMethod:
    """A method for intervals, for tests, or for both. Nothing else knows methods by name.

    Attributes
    ----------
    name : str
        The name that users give.
    designs : frozenset of str
        The designs it supports, a subset of `EVERY_DESIGN`.
    limits : callable or None
        ``limits(outcomes, alpha, *, …)`` returns the lower and the upper limit for each table; None
        where there is only a test.
    tails : callable or None
        ``tails(outcomes, margin, alpha, *, …)`` returns for each table the evidence against a mean
        of at most, and of at least, the margin: the one-sided p-values for "greater" and for
        "less". None where there is only an interval.
    one_sided : callable or None
        Turns the options given for a one-sided test into those that `tails` gets, where they
        differ.
    needs_bounds : bool
        Whether its guarantee requires that the largest possible cost of an example is known.
    options, test_options : tuple of str
        The keyword-only parameters of `limits` and of `tails`, which users may set.
    """

    name: str
    designs: frozenset[str]
    limits: Callable[..., TwoSides] | None = None
    tails: Callable[..., TwoSides] | None = None
    one_sided: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    needs_bounds: bool = False
    options: tuple[str, ...] = field(init=False)
    test_options: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        for name, function in (("options", self.limits), ("test_options", self.tails)):
            known = () if function is None else validate.keywords(function)
            object.__setattr__(self, name, known)


FILES = (
    "anytime",
    "bca",
    "bcost",
    "bdeltacost",
    "dirichlet",
    "exact",
    "extremal",
    "guaranteed",
    "likelihood",
    "mcnemar",
    "normal",
    "signflip",
    "t",
)


def _method_of(file: str) -> IntervalMethod:
    method: IntervalMethod = import_module(f"{__name__}.{file}").METHOD
    return method


METHODS: dict[str, IntervalMethod] = {method.name: method for method in map(_method_of, FILES)}


def names_of_intervals() -> list[str]:
    """Return the names of the methods that give intervals."""
    return [name for name, method in METHODS.items() if method.limits is not None]


def names_of_tests() -> list[str]:
    """Return the names of the methods that give tests."""
    return [name for name, method in METHODS.items() if method.tails is not None]
