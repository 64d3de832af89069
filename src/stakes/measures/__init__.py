"""Point estimates from counts, costs and probabilities, without confidence intervals."""

from stakes._core.values import name_arguments
from stakes.measures.agreement import (
    Rates,
    chance_confusion,
    error_rate,
    kappa,
    rates,
    success_rate,
)
from stakes.measures.cost import (
    constant_costs,
    expected_cost,
    hand_till_auc,
    informational_loss,
    normalized_cost,
    quadratic_loss,
    savings,
    total_cost,
)

__all__ = [
    "Rates",
    "chance_confusion",
    "constant_costs",
    "error_rate",
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
]

name_arguments(__name__)
