"""Methods for bands around a curve; a new one needs its file, its test and its line here.

Each has ``limits(sample, alpha, **options)``, which returns the lower and the upper limit of the
height at each operating condition.
"""

from types import ModuleType

from stakes.curves.bands import bootstrap, exact, gaussian, mover, wilson

METHODS: dict[str, ModuleType] = {
    "mover": mover,
    "wilson": wilson,
    "gaussian": gaussian,
    "exact": exact,
    "bootstrap": bootstrap,
}
