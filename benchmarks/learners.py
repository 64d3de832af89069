"""Learners, and the comparison of learners, against the fits that they cannot avoid."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from harness import Row, Task, within
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from stakes import CostMatrix, learn

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)
BAG = 20
ROUNDS = 20
LITTLE = 1.05


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    features, y = make_classification(20_000, 20, n_informative=8, flip_y=0.1, random_state=0)
    yield from _single_fits(features, y)
    yield from _bags(features[::2], y[::2])
    yield from _boosting(features[::2], y[::2])
    yield from _comparison(features, y)
    yield from _scorer()


def _tree() -> Any:
    return DecisionTreeClassifier(min_samples_leaf=20, random_state=0)


def _single_fits(features: NDArray[Any], y: NDArray[Any]) -> Iterator[Row]:
    weights = np.array([learn.class_weights(y, COSTS)[label] for label in (0, 1)])[y]
    yield within(
        "WeightedClassifier, a tree, 20 000 × 20",
        lambda: learn.WeightedClassifier(_tree(), COSTS).fit(features, y),
        lambda: _tree().fit(features, y, sample_weight=weights),
        "the tree's fit with those weights",
        at_most=LITTLE,
    )
    yield within(
        "MinimumRiskClassifier, a tree, 20 000 × 20",
        lambda: learn.MinimumRiskClassifier(_tree(), COSTS).fit(features, y),
        lambda: _tree().fit(features, y),
        "the tree's fit",
        at_most=LITTLE,
    )


def _bags(features: NDArray[Any], y: NDArray[Any]) -> Iterator[Row]:
    def bag() -> None:
        rng = np.random.default_rng(0)
        for _ in range(BAG):
            drawn = rng.integers(0, len(y), len(y))
            _tree().fit(features[drawn], y[drawn])

    options: dict[str, Any] = {"n_estimators": BAG, "random_state": 0}
    yield within(
        f"MetaCostClassifier, {BAG} trees, 10 000 × 20",
        lambda: learn.MetaCostClassifier(_tree(), COSTS, **options).fit(features, y),
        bag,
        "its bag of fits",
        at_most=1.2,
        repeats=3,
    )
    yield within(
        f"CostSensitiveBagging, {BAG} trees, 10 000 × 20",
        lambda: learn.CostSensitiveBaggingClassifier(_tree(), COSTS, **options).fit(features, y),
        bag,
        "its fits",
        at_most=LITTLE,
        repeats=3,
    )


class _Recorder(DecisionTreeClassifier):  # type: ignore[misc]
    """Tree that records the weights of all rounds, because the time of a fit depends on them."""

    rounds: ClassVar[list[NDArray[Any]]] = []

    def fit(self, features: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit, and record the weights."""
        self.rounds.append(sample_weight)
        return super().fit(features, y, sample_weight=sample_weight)


def _boosting(features: NDArray[Any], y: NDArray[Any]) -> Iterator[Row]:
    weak = DecisionTreeClassifier(max_depth=3, random_state=0)
    ours = learn.AdaCostClassifier(weak, COSTS, n_estimators=ROUNDS, random_state=0)
    clone(ours).set_params(estimator=_Recorder(max_depth=3)).fit(features, y)
    rounds = len(_Recorder.rounds)

    def fits() -> None:
        for weights in _Recorder.rounds:
            clone(weak).fit(features, y, sample_weight=weights).predict(features)

    task = f"AdaCostClassifier, {rounds} rounds, 10 000 × 20"
    peers: list[tuple[Task, str, float]] = [
        (fits, "its fits and predictions", LITTLE),
        (
            lambda: AdaBoostClassifier(weak, n_estimators=rounds, random_state=0).fit(features, y),
            "sklearn AdaBoost (no goal)",
            math.inf,
        ),
    ]
    for peer, name, at_most in peers:
        yield within(task, lambda: ours.fit(features, y), peer, name, at_most=at_most, repeats=5)


def _comparison(features: NDArray[Any], y: NDArray[Any]) -> Iterator[Row]:
    learners = {"tree": _tree(), "bayes": GaussianNB()}
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(features, y))

    def bare() -> None:
        for train, test in splits:
            for learner in learners.values():
                clone(learner).fit(features[train], y[train]).predict(features[test])

    yield within(
        "compare_learners, 2 learners, 5 splits",
        lambda: learn.compare_learners(learners, features, y, COSTS, cv=splits),
        bare,
        "the fits and predictions",
        at_most=LITTLE,
    )
    compared = learn.compare_learners(learners, features, y, COSTS, cv=splits)
    yield within(
        "its table: tests and verdicts of 5 splits",
        lambda: repr(compared),
        bare,
        "the fits and predictions (no goal)",
        at_most=math.inf,
        repeats=3,
    )


def _scorer() -> Iterator[Row]:
    y = np.random.default_rng(0).integers(0, 2, 10**6)
    features = np.zeros((len(y), 1))
    always = DummyClassifier(strategy="most_frequent").fit(features, y)
    ours, accuracy = learn.cost_scorer(COSTS), get_scorer("accuracy")
    yield within(
        "cost_scorer, 10⁶ decisions",
        lambda: ours(always, features, y),
        lambda: accuracy(always, features, y),
        "sklearn's accuracy scorer (no goal)",
        at_most=math.inf,
    )
