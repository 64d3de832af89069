from ._inference import Interval, TestResult, Worth
from ._outcomes import Design
from ._probability.distribution import CostDistribution
from .batch import batch_intervals
from .difference import CostDifference
from .estimate import CostEstimate, Unobserved
from .evaluation import (
    compare,
    compare_many,
    compare_rates,
    evaluate,
    evaluate_rates,
)
from .example_stream import ExampleAccumulator
from .family import Pair
from .flips import Flip, FlipRegion, flip_region
from .gate import Gate, Volume
from .periods import Period, PeriodEstimates, evaluate_over
from .planning import Plan, Power, plan_test_size, power
from .ranking import Ranking
from .rates import Rate, RateDifference, RateDifferences, RateEstimates
from .sensitivity import CostSensitivity, cost_sensitivity
from .slice_search import FoundSlice, FoundSlices, find_slices
from .slices import (
    Slice,
    SliceDifference,
    SliceDifferences,
    SliceEstimates,
    compare_by,
    evaluate_by,
)
from .stream import Accumulator, PairedAccumulator

__all__ = [
    "Accumulator",
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
    "Unobserved",
    "Volume",
    "Worth",
    "batch_intervals",
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
