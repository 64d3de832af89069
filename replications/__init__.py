"""The experiments of the papers, to be run again and set beside what was published.

They use everything of `stakes` and are no part of it: the package that people install has none of
them. ``python -m replications list`` names them.
"""

from replications.catalogue import all_experiments
from replications.engine import run
from replications.experiment import Experiment, Printed, Results, Trial

__all__ = ["Experiment", "Printed", "Results", "Trial", "all_experiments", "run"]
