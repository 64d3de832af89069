"""The methods for intervals and tests, one file each.

To add one: its file with an `IntervalMethod`, its test, and its name in `FILES`.
"""

from __future__ import annotations

from importlib import import_module

from stakes.infer.methods._method import IntervalMethod

__all__ = ["METHODS", "IntervalMethod", "names_of_intervals", "names_of_tests"]

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
