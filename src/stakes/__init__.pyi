from .costs import CostMatrix, CostRanges, ExampleCosts
from .counts import Confusion, PairedConfusion, ScoreCounts
from .infer import CostEstimate, evaluate
from .measures import (
    Rates,
    chance_confusion,
    error_rate,
    expected_cost,
    hand_till_auc,
    informational_loss,
    kappa,
    normalized_cost,
    quadratic_loss,
    rates,
    savings,
    success_rate,
    total_cost,
    trivial_costs,
)

__all__ = [
    "Confusion",
    "CostEstimate",
    "CostMatrix",
    "CostRanges",
    "ExampleCosts",
    "PairedConfusion",
    "Rates",
    "ScoreCounts",
    "chance_confusion",
    "error_rate",
    "evaluate",
    "expected_cost",
    "hand_till_auc",
    "informational_loss",
    "kappa",
    "normalized_cost",
    "quadratic_loss",
    "rates",
    "savings",
    "success_rate",
    "total_cost",
    "trivial_costs",
]
__version__: str
