from .cost_curve import CostCurveDisplay, DecisionCurveDisplay
from .difference import CostDifferenceDisplay
from .intervals import CostIntervalDisplay, CostSensitivityDisplay, RunningCostDisplay
from .report import write_report
from .roc_and_cost import RocCostDisplay
from .text import cost_table

__all__ = [
    "CostCurveDisplay",
    "CostDifferenceDisplay",
    "CostIntervalDisplay",
    "CostSensitivityDisplay",
    "DecisionCurveDisplay",
    "RocCostDisplay",
    "RunningCostDisplay",
    "cost_table",
    "write_report",
]
