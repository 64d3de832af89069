"""Policies: a model at a threshold, decisions as they stand, or a constant prediction."""

from stakes._core.values import name_arguments
from stakes.policies._assemble import Asked
from stakes.policies._choose import Choosing
from stakes.policies._compared import PolicyPair
from stakes.policies.policies import Policies, Policy
from stakes.policies.verdict import Saving, ToSettle, Verdict

__all__ = [
    "Asked",
    "Choosing",
    "Policies",
    "Policy",
    "PolicyPair",
    "Saving",
    "ToSettle",
    "Verdict",
]

name_arguments(__name__)
