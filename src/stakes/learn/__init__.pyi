from .adacost import AdaCostClassifier
from .bagged_lazy_trees import BaggedLazyOptionTreesClassifier, BaggedLazyTreesClassifier
from .bagging import CostSensitiveBaggingClassifier
from .comparison import LearnerComparison, LearnerDifference, compare_learners
from .lazy_trees import LazyOptionTreeClassifier, LazyTreeClassifier
from .metacost import MetaCostClassifier
from .minimum_risk import MinimumRiskClassifier
from .pet import BaggedPETClassifier, PETClassifier
from .scorer import cost_scorer
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
