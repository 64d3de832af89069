"""Counts and costs become estimates, with how sure they are."""

from stakes._core.values import name_arguments
from stakes.infer._inference import Choice, Interval, TestResult, Worth
from stakes.infer._outcomes import Design
from stakes.infer._probability.distribution import CostDistribution
from stakes.infer.batch import batch_intervals
from stakes.infer.cheapest import CheapestProbability, cheapest_probability
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.evaluation import (
    compare,
    compare_many,
    compare_rates,
    evaluate,
    evaluate_rates,
)
from stakes.infer.example_stream import ExampleAccumulator
from stakes.infer.flips import Flip, FlipRegion, flip_region
from stakes.infer.gate import Gate, Pair
from stakes.infer.periods import Period, PeriodEstimates, evaluate_over
from stakes.infer.planning import Plan, Power, plan_test_size, power
from stakes.infer.ranking import Ranking
from stakes.infer.rates import Rate, RateDifference, RateDifferences, RateEstimates
from stakes.infer.sensitivity import CostSensitivity, cost_sensitivity
from stakes.infer.slice_search import FoundSlice, FoundSlices, find_slices
from stakes.infer.slices import (
    Slice,
    SliceDifference,
    SliceDifferences,
    SliceEstimates,
    compare_by,
    evaluate_by,
)
from stakes.infer.stream import Accumulator, PairedAccumulator

__all__ = [
    "Accumulator",
    "CheapestProbability",
    "Choice",
    "CostDifference",
    "CostDistribution",
    "CostEstimate",
    "CostSensitivity",
    "Design",
    "ExampleAccumulator",
    "Flip",
    "FlipRegion",
    "FoundSlice",
    "FoundSlices",
    "Gate",
    "Interval",
    "Pair",
    "PairedAccumulator",
    "Period",
    "PeriodEstimates",
    "Plan",
    "Power",
    "Ranking",
    "Rate",
    "RateDifference",
    "RateDifferences",
    "RateEstimates",
    "Slice",
    "SliceDifference",
    "SliceDifferences",
    "SliceEstimates",
    "TestResult",
    "Worth",
    "batch_intervals",
    "cheapest_probability",
    "compare",
    "compare_by",
    "compare_many",
    "compare_rates",
    "cost_sensitivity",
    "evaluate",
    "evaluate_by",
    "evaluate_over",
    "evaluate_rates",
    "find_slices",
    "flip_region",
    "plan_test_size",
    "power",
]

name_arguments(__name__)
