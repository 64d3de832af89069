"""Results become text, figures and reports; nothing here computes a statistic."""

from stakes._core.values import name_arguments
from stakes.show.cost_curve import CostCurveDisplay, DecisionCurveDisplay
from stakes.show.difference import CostDifferenceDisplay
from stakes.show.intervals import CostIntervalDisplay, CostSensitivityDisplay, RunningCostDisplay
from stakes.show.report import write_report
from stakes.show.roc_and_cost import RocCostDisplay
from stakes.show.text import cost_table

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

name_arguments(__name__)
