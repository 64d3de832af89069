"""Catalogue of the experiments, by name."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from replications.experiment import Experiment
from stakes.errors import InputError

NAMES = (
    "bcost-coverage",
    "bcost-laplace",
    "bdeltacost-type1",
    "bdeltacost-power",
    "bdeltacost-resamples",
    "bdeltacost-weak-tree",
    "z-claim",
    "loss-distribution",
    "weighting-uci",
    "probability-scatter",
    "blot-uci",
    "river-standin",
    "cost-curve-figures",
    "exact-band-coverage",
    "finite-validation",
    "designs",
    "policies",
    "policy-verdicts",
    "default-power",
    "audit-coverage",
)
"""An experiment "some-name" is `EXPERIMENT` in the module `replications.experiments.some_name`."""


def find(name: str) -> Experiment:
    """Return an experiment by its name."""
    if name not in NAMES:
        near = get_close_matches(str(name), NAMES, n=3, cutoff=0.4)
        meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise InputError(
            "experiment",
            f"there is none called {name!r}.{meant} There are: {', '.join(NAMES)}.",
        )
    module = import_module(f"replications.experiments.{name.replace('-', '_')}")
    experiment: Experiment = module.EXPERIMENT
    return experiment


def all_experiments() -> list[Experiment]:
    """Return all experiments, grouped by paper.

    Returns
    -------
    list of Experiment
        The `source` of each names the tables and figures that it repeats.

    See Also
    --------
    run : runs one of them.

    Examples
    --------
    >>> from replications import all_experiments
    >>> [each.name for each in all_experiments()][:3]
    ['bcost-coverage', 'bcost-laplace', 'bdeltacost-type1']
    >>> print(all_experiments()[0].source)
    Margineantu & Dietterich (2000), Table 5; Margineantu (2001), Table 6.3
    """
    return [find(name) for name in NAMES]
