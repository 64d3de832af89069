"""Counts and costs become estimates, with how sure they are."""

from stakes._core.values import name_arguments
from stakes.infer._inference import Choice, Interval, TestResult
from stakes.infer._multiplicity import Pair
from stakes.infer._outcomes import Design
from stakes.infer._probability.distribution import CostDistribution
from stakes.infer.batch import batch_intervals
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.evaluation import compare, compare_many, evaluate
from stakes.infer.gate import Gate
from stakes.infer.planning import Plan, Power, plan_test_size, power
from stakes.infer.ranking import Ranking
from stakes.infer.stream import Accumulator, PairedAccumulator
from stakes.infer.what_if.cheapest import CheapestProbability, cheapest_probability
from stakes.infer.what_if.flips import Flip, FlipRegion, flip_region
from stakes.infer.what_if.sensitivity import CostSensitivity, cost_sensitivity

__all__ = [
    "Accumulator",
    "CheapestProbability",
    "Choice",
    "CostDifference",
    "CostDistribution",
    "CostEstimate",
    "CostSensitivity",
    "Design",
    "Flip",
    "FlipRegion",
    "Gate",
    "Interval",
    "Pair",
    "PairedAccumulator",
    "Plan",
    "Power",
    "Ranking",
    "TestResult",
    "batch_intervals",
    "cheapest_probability",
    "compare",
    "compare_many",
    "cost_sensitivity",
    "evaluate",
    "flip_region",
    "plan_test_size",
    "power",
]

name_arguments(__name__)
