"""Bagging: learners trained on bootstrap samples, and the probabilities they give (appendix B).

scikit-learn's own bagging turns data frames into arrays, and what it does with the weights of rows
has changed between versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from stakes._core import validate
from stakes.errors import InputError
from stakes.learn._base import SEEDS, class_columns, rows_of, seeded

Probabilities = Callable[[Any, Any, NDArray[Any]], NDArray[np.float64]]


@dataclass(frozen=True)
class Bag:
    """How to draw bootstrap samples: one seed each, so that they can be drawn again anywhere."""

    seeds: NDArray[np.int64]
    rows: int
    size: int
    chances: NDArray[np.float64] | None = None

    def sample(self, seed: int) -> NDArray[np.int64]:
        """Return the rows of one sample, in order, each as often as it was drawn."""
        rng = np.random.default_rng(seed)
        if self.chances is None:
            return np.sort(rng.integers(self.rows, size=self.size))
        return np.sort(rng.choice(self.rows, size=self.size, p=self.chances))

    def left_out(self, sample: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the rows that are not in a sample."""
        out = np.ones(self.rows, dtype=bool)
        out[sample] = False
        return out

    def never_out(self) -> NDArray[np.bool_]:
        """Mark the rows that are in every sample."""
        always = np.ones(self.rows, dtype=bool)
        for seed in self.seeds:
            always &= ~self.left_out(self.sample(seed))
            if not always.any():
                break
        return always

    def weighted(self, weights: NDArray[np.float64] | None) -> Bag:
        """Return the bag that draws rows in proportion to their weights."""
        return self if weights is None else replace(self, chances=weights / weights.sum())


def make_bag(random_state: Any, n_estimators: int, rows: int, max_samples: float = 1.0) -> Bag:
    """Draw a seed for each member, and find out how many rows it gets."""
    members = validate.as_size(n_estimators, "n_estimators", least=1)
    seeds = check_random_state(random_state).randint(SEEDS, size=members)
    return Bag(seeds.astype(np.int64), rows, _size(max_samples, rows))


def fit_members(estimator: Any, X: Any, y: NDArray[Any], bag: Bag, n_jobs: int | None) -> list[Any]:
    """Train a learner on each sample."""
    fitted = Parallel(n_jobs=n_jobs)(
        delayed(_fit)(estimator, X, y, bag.sample(seed), seed) for seed in bag.seeds
    )
    return list(fitted)


def training_probabilities(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    bag: Bag,
    *,
    probabilities: Probabilities,
    out_of_bag: bool,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return the class probabilities of the training rows, from the members that matter.

    Out of bag, the probabilities of a row come from the members that were not trained on it, or
    from all if each was. No member outlives this, so that n rows and 50 trees fit into memory.
    """
    classes = np.unique(y)
    always = bag.never_out() if out_of_bag else np.ones(bag.rows, dtype=bool)
    parts: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fit_and_ask)(
            estimator, X, y, bag, seed, always=always, probabilities=probabilities, classes=classes
        )
        for seed in bag.seeds
    )
    total = np.zeros((bag.rows, len(classes)))
    members = np.zeros((bag.rows, 1))
    for asked, told in parts:
        total[asked] += told
        members[asked] += 1
    return total / members


def mean_probabilities(
    members: list[Any],
    X: Any,
    classes: NDArray[Any],
    probabilities: Probabilities,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return the class probabilities of new rows, from all members."""
    parts = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(probabilities)(member, X, classes) for member in members
    )
    total = 0.0
    for told in parts:
        total = total + told
    return np.asarray(total / len(members))


def average(member: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return what a member takes for the probabilities (appendix B, second way)."""
    return class_columns(member.predict_proba(X), member.classes_, classes)


def vote(member: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the vote of a member: one for a class, zero for the others (appendix B, first way)."""
    chosen = np.searchsorted(classes, member.predict(X))
    return np.asarray(np.eye(len(classes))[chosen])


def probabilities_of(estimator: Any, how: Any = "auto") -> Probabilities:
    """Choose between votes and averaged probabilities."""
    validate.choice(how, "probabilities", ["auto", "average", "votes"])
    if how == "auto":
        return average if hasattr(estimator, "predict_proba") else vote
    return average if how == "average" else vote


def _fit(estimator: Any, X: Any, y: NDArray[Any], sample: NDArray[np.int64], seed: int) -> Any:
    """Train a learner on one sample; on one class only, take a constant one."""
    drawn = y[sample]
    # Many learners refuse a sample of one class, which needs no learning.
    one_class = (drawn == drawn[0]).all()
    learner = DummyClassifier(strategy="prior") if one_class else seeded(estimator, seed)
    return learner.fit(rows_of(X, sample), drawn)


def _fit_and_ask(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    bag: Bag,
    seed: int,
    *,
    always: NDArray[np.bool_],
    probabilities: Probabilities,
    classes: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    sample = bag.sample(seed)
    asked = np.flatnonzero(bag.left_out(sample) | always)
    if not len(asked):
        return asked, np.zeros((0, len(classes)))
    member = _fit(estimator, X, y, sample, seed)
    return asked, probabilities(member, rows_of(X, asked), classes)


def _size(max_samples: Any, rows: int) -> int:
    if isinstance(max_samples, int | np.integer) and not isinstance(max_samples, bool):
        if 1 <= max_samples <= rows:
            return int(max_samples)
    elif isinstance(max_samples, float) and 0 < max_samples <= 1:
        return max(1, round(max_samples * rows))
    raise InputError(
        f"max_samples: expected a share of the rows above 0 and up to 1.0, or a number of rows "
        f"from 1 to {rows}, got {max_samples!r}."
    )
