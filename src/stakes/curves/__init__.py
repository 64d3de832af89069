"""Counts become cost curves: what a classifier costs at every operating condition."""

from stakes._core.values import name_arguments
from stakes.curves.band import Band, Range, Verdicts
from stakes.curves.binned import BinnedCostCurve
from stakes.curves.combine import (
    AverageCurve,
    BestCurve,
    RocPoints,
    average_curves,
    best_of,
    cost_point,
    isoperformance_line,
    roc_average,
    roc_hull,
    roc_points,
)
from stakes.curves.condition import (
    CostAt,
    cost_ratio,
    operating_condition,
    prevalence_at,
    worst_cost,
)
from stakes.curves.curve import CostCurve
from stakes.curves.decision_curve import DecisionBand, DecisionCurve
from stakes.curves.decision_difference import DecisionCurveDifference
from stakes.curves.difference import CostCurveDifference
from stakes.curves.example_threshold import ExampleThresholdChoice
from stakes.curves.line import CostLine
from stakes.curves.threshold import ThresholdChoice, choose_threshold

__all__ = [
    "AverageCurve",
    "Band",
    "BestCurve",
    "BinnedCostCurve",
    "CostAt",
    "CostCurve",
    "CostCurveDifference",
    "CostLine",
    "DecisionBand",
    "DecisionCurve",
    "DecisionCurveDifference",
    "ExampleThresholdChoice",
    "Range",
    "RocPoints",
    "ThresholdChoice",
    "Verdicts",
    "average_curves",
    "best_of",
    "choose_threshold",
    "cost_point",
    "cost_ratio",
    "isoperformance_line",
    "operating_condition",
    "prevalence_at",
    "roc_average",
    "roc_hull",
    "roc_points",
    "worst_cost",
]

name_arguments(__name__)
