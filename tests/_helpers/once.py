"""Cache of results that several tests compute from the same small tables, one in each process.

Commands, reports and pages of the same few predictions spend most of their time on limits of the
same tables. The cached functions are pure: results are stored by all arguments, and each caller
gets its own copy. Tests in other folders, including the tests of these functions, do not use the
cache; a test that calls `forget` starts with an empty cache.
"""

import inspect
import pickle
import sys
from functools import cache, wraps
from importlib import import_module

import numpy as np

FUNCTIONS = {
    "stakes.infer._probability.dirichlet_mean": ("quantile", "upper_tail", "near_scores"),
    "stakes.infer._probability.gamma_ratio": ("quantile", "upper_tail", "near_scores"),
    "stakes.infer._probability.sampling": ("all_tilted",),
    "stakes.infer._inference": ("limits", "p_values"),
    "stakes.infer.methods.extremal": ("tails_of",),
    "stakes.infer.planning": ("plan_from",),
    "stakes.policies._choose": ("choose",),
}
# Packages whose modules import these functions under names of their own.
USERS = ("stakes.infer", "stakes.audit", "stakes.findings", "stakes.show", "stakes.simulate")

_kept: dict[tuple[str, str, bytes], bytes] = {}
_state = {"active": False}


def keep(active):
    """Turn the cache on or off."""
    if active:
        _install()
    _state["active"] = active


def forget():
    """Empty the cache."""
    _kept.clear()


@cache
def _install():
    for module in FUNCTIONS:
        import_module(module)
    for room in map(import_module, USERS):
        for name in room.__all__:  # access loads lazy names
            getattr(room, name)
    for module, names in FUNCTIONS.items():
        for name in names:
            function = getattr(sys.modules[module], name)
            once = _once(function)
            for user in [each for key, each in sys.modules.items() if key.startswith("stakes.")]:
                for own_name, value in list(vars(user).items()):
                    if value is function:
                        setattr(user, own_name, once)


def _once(function):
    signature = inspect.signature(function)

    @wraps(function)
    def once(*given, **named):
        if not _state["active"]:
            return function(*given, **named)
        bound = signature.bind(*given, **named).arguments
        options = {**bound, **bound.get("options", {})}
        if isinstance(options.get("rng"), np.random.Generator):  # each call changes its state
            return function(*given, **named)
        try:
            key = (function.__module__, function.__name__, pickle.dumps(bound))
        except (pickle.PicklingError, AttributeError, TypeError):  # e.g. functions of a test
            return function(*given, **named)
        if key not in _kept:
            _kept[key] = pickle.dumps(function(*given, **named))
        return pickle.loads(_kept[key])  # noqa: S301 - written here

    return once
