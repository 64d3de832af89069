"""Replications of the papers' experiments, compared with the published numbers.

They use all of `stakes` but are not part of the installed package. ``python -m replications list``
lists them.
"""

from replications.catalogue import all_experiments
from replications.engine import run
from replications.experiment import Experiment, Printed, Results, Trial

__all__ = ["Experiment", "Printed", "Results", "Trial", "all_experiments", "run"]
