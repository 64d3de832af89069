"""The methods for intervals and tests, one file each.

To add one: its file with an `IntervalMethod`, its test, and its line in `METHODS`.
"""

from __future__ import annotations

from stakes.infer.methods import (
    anytime,
    bca,
    bcost,
    bdeltacost,
    dirichlet,
    exact,
    extremal,
    guaranteed,
    likelihood,
    mcnemar,
    normal,
    signflip,
    t,
)
from stakes.infer.methods._method import IntervalMethod

__all__ = ["METHODS", "IntervalMethod", "names_of_intervals", "names_of_tests"]

METHODS: dict[str, IntervalMethod] = {
    method.name: method
    for method in (
        anytime.METHOD,
        bca.METHOD,
        bcost.METHOD,
        bdeltacost.METHOD,
        dirichlet.METHOD,
        exact.METHOD,
        extremal.METHOD,
        guaranteed.METHOD,
        likelihood.METHOD,
        mcnemar.METHOD,
        normal.METHOD,
        signflip.METHOD,
        t.METHOD,
    )
}


def names_of_intervals() -> list[str]:
    """Return the names of the methods that give intervals."""
    return [name for name, method in METHODS.items() if method.limits is not None]


def names_of_tests() -> list[str]:
    """Return the names of the methods that give tests."""
    return [name for name, method in METHODS.items() if method.tails is not None]
