"""The interval methods, one file each.

A method is a module with ``limits(outcomes, alpha, **options)``, which returns the lower and the
upper limit for each table, and ``DESIGNS``, the designs it can treat. To add one: its file, its
test, and its line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stakes.infer.methods import (
    anytime,
    bca,
    bcost,
    dirichlet,
    exact,
    extremal,
    guaranteed,
    likelihood,
    normal,
    t,
)

if TYPE_CHECKING:
    from types import ModuleType

METHODS: dict[str, ModuleType] = {
    "anytime": anytime,
    "bca": bca,
    "bcost": bcost,
    "dirichlet": dirichlet,
    "exact": exact,
    "extremal": extremal,
    "guaranteed": guaranteed,
    "likelihood": likelihood,
    "normal": normal,
    "t": t,
}
