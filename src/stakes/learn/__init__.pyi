from .adacost import AdaCostClassifier
from .bagging import CostSensitiveBaggingClassifier, MetaCostClassifier
from .comparison import LearnerComparison, LearnerDifference, compare_learners
from .minimum_risk import MinimumRiskClassifier
from .scorer import cost_scorer
from .trees.lazy import (
    BaggedLazyOptionTreesClassifier,
    BaggedLazyTreesClassifier,
    LazyOptionTreeClassifier,
    LazyTreeClassifier,
)
from .trees.pet import BaggedPETClassifier, PETClassifier
from .weighted import WeightedClassifier
from .weights import class_weights

__all__ = [
    "AdaCostClassifier",
    "BaggedLazyOptionTreesClassifier",
    "BaggedLazyTreesClassifier",
    "BaggedPETClassifier",
    "CostSensitiveBaggingClassifier",
    "LazyOptionTreeClassifier",
    "LazyTreeClassifier",
    "LearnerComparison",
    "LearnerDifference",
    "MetaCostClassifier",
    "MinimumRiskClassifier",
    "PETClassifier",
    "WeightedClassifier",
    "class_weights",
    "compare_learners",
    "cost_scorer",
]
