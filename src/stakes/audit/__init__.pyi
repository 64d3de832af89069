from ._allocation import Expected, Stratum
from ._reading import Reading, StratumFound
from .plan import LabelPlan
from .pool import Pool

__all__ = ["Expected", "LabelPlan", "Pool", "Reading", "Stratum", "StratumFound"]
