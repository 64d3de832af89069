from .adacost import AdaCostClassifier
from .bagging import CostSensitiveBaggingClassifier
from .comparison import LearnerComparison, LearnerDifference, compare_learners
from .metacost import MetaCostClassifier
from .minimum_risk import MinimumRiskClassifier
from .scorer import cost_scorer
from .weighted import WeightedClassifier
from .weights import class_weights

__all__ = [
    "AdaCostClassifier",
    "CostSensitiveBaggingClassifier",
    "LearnerComparison",
    "LearnerDifference",
    "MetaCostClassifier",
    "MinimumRiskClassifier",
    "WeightedClassifier",
    "class_weights",
    "compare_learners",
    "cost_scorer",
]
