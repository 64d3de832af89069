"""Which rows to label, and what is known when most labels are missing."""

from stakes._core.values import name_arguments
from stakes.audit._allocation import Expected, Stratum
from stakes.audit._reading import Reading, StratumFound
from stakes.audit.plan import LabelPlan
from stakes.audit.pool import Pool

__all__ = ["Expected", "LabelPlan", "Pool", "Reading", "Stratum", "StratumFound"]

name_arguments(__name__)
