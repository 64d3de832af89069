from ._assemble import Asked
from ._choose import Choosing
from .policies import Policies, Policy
from .threshold import ThresholdChoice, choose_threshold
from .verdict import ConstantCheck, Saving, Verdict

__all__ = [
    "Asked",
    "Choosing",
    "ConstantCheck",
    "Policies",
    "Policy",
    "Saving",
    "ThresholdChoice",
    "Verdict",
    "choose_threshold",
]
