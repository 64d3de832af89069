from .band import Band, Range, Verdicts
from .binned import BinnedCostCurve
from .combine import (
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
from .condition import (
    CostAt,
    cost_ratio,
    operating_condition,
    prevalence_at,
    worst_cost,
)
from .curve import CostCurve
from .decision_curve import DecisionBand, DecisionCurve
from .decision_difference import DecisionCurveDifference
from .difference import CostCurveDifference
from .line import CostLine

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
    "Range",
    "RocPoints",
    "Verdicts",
    "average_curves",
    "best_of",
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
