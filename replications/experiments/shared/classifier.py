"""The classifiers that the bootstrap experiments evaluate, with their true confusion matrices.

For each cost matrix the papers train C4.5 on a thousand examples, each weighted by the average
cost of mistakes about its class. Its mistakes on a million further examples serve as the truth.
A scikit-learn tree grown by entropy, with at least two examples a leaf and no pruning, stands in
for C4.5. Here every matrix has its own training set, so that the variance over matrices includes
that of the training set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from replications.domains.cost_models import PAPER, THESIS, draw_costs
from replications.domains.expf5 import EXPF5_SHARES, expf5
from replications.domains.waveform import waveform
from replications.experiment import Row, Value, average, share
from stakes._core.typing import Floats
from stakes.costs import CostMatrix

TRAINING = 1000
TEST = 1000
"""Numbers of training examples, and of examples in each test set."""

MATRICES = 10
"""Number of cost matrices of a model that the papers average over."""

SHARES = {
    "expf5": EXPF5_SHARES,
    "expf5-bands": EXPF5_SHARES,
    "waveform": (1 / 3, 1 / 3, 1 / 3),
}
"""Class frequencies of each domain."""

STAND_INS = (
    ("A scikit-learn tree grown by entropy, with at least two examples a leaf and no pruning, "
    "stands in for C4.5; its examples are weighted by average cost, as in the papers."),
    ('The figure with the boundaries of Expf5 is lost. "expf5" has curved boundaries with a pocket '
    'for the rare class, "expf5-bands" diagonal bands; both have the printed class frequencies.'),
    "Each cost matrix has a training set of its own; the papers do not say whether theirs had.",
    "Test sets are drawn from the confusion matrix of a million examples, not dealt out of these.",
    ("Models have the paper's names, M1 to M9; the thesis's M3, M4, M5, M6, M7 and M8 are M4, M5, "
    "M6, M7, M8 and M3 here."),
)  # fmt: skip


PAPER_MODELS = tuple(PAPER)
THESIS_NAMES = {
    next(name for name in PAPER if PAPER[name] == model): own for own, model in THESIS.items()
}
"""The thesis's names of the paper's models, without M9."""

THESIS_LABELS = {
    model: name if model == name else f"{name} (paper's {model})"
    for model, name in THESIS_NAMES.items()
}
"""Labels of the models for tables and figures of the thesis."""


def unpublished(domain: str, model: str) -> bool:
    """Tell whether no paper has a model on a domain: only the thesis has Waveform, without M9."""
    return domain == "waveform" and model not in THESIS_NAMES


@dataclass(frozen=True)
class Judged:
    """A classifier with its cost matrix and its true confusion matrix.

    Parameters
    ----------
    costs : CostMatrix
        The costs of its mistakes, for which it was trained.
    shares : ndarray, shape (classes, classes)
        The joint probabilities of predicted and actual classes, [predicted, actual].
    """

    costs: CostMatrix
    shares: Floats

    @property
    def cost(self) -> float:
        """The true expected cost per decision."""
        return float((self.shares * self.costs.values).sum())

    def draw(self, tables: int, rng: np.random.Generator, size: int = TEST) -> NDArray[np.int64]:
        """Draw the confusion matrices of that many test sets."""
        return draw_tables(self.shares, tables, rng, size)

    def costliest(self, size: int = TEST) -> float:
        """Return n·p, the expected number of the costliest mistake in a test set."""
        return size * float(self.shares.flat[np.argmax(self.costs.values)])


def draw_tables(
    shares: Floats, tables: int, rng: np.random.Generator, size: int = TEST
) -> NDArray[np.int64]:
    """Draw tables of `size` examples each, with these cell probabilities."""
    counts = rng.multinomial(size, shares.ravel() / shares.sum(), tables)
    return np.asarray(counts.reshape(tables, *shares.shape))


def matrices(
    domain: str, model: str, seed: int, examples: int, *, weak: bool = False
) -> list[Judged]:
    """Return a classifier for each of ten cost matrices of a model.

    Parameters
    ----------
    domain : {"expf5", "expf5-bands", "waveform"}
        The domain of the examples.
    model : str
        The paper's cost model, "M1" to "M9".
    seed : int
        The seed of the training set, the examples and the cost matrices.
    examples : int
        The number of examples that the true confusion matrix is counted from.
    weak : bool
        Whether to train trees of depth two that ignore the costs.
    """
    return [judged(domain, model, each, seed, examples, weak=weak) for each in range(MATRICES)]


@lru_cache(maxsize=1024)
def judged(
    domain: str, model: str, number: int, seed: int, examples: int, *, weak: bool = False
) -> Judged:
    """Return the classifier for one cost matrix of a model."""
    shares = SHARES[domain]
    train, actual = _examples(domain, f"training {number}", seed, TRAINING)
    labels = range(1, 4) if domain == "waveform" else range(5)
    costs = draw_costs(
        model, shares, labels=list(labels), rng=_stream(seed, domain, model, str(number))
    )
    # Trees try the attributes in random order: a fixed seed makes ties reproducible.
    tree = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, max_depth=2 if weak else None, random_state=0
    )
    weights = None if weak else _average_costs(costs)[actual - labels[0]]
    tree.fit(train, actual, sample_weight=weights)
    many, truth = _examples(domain, "test", seed, examples)
    predicted = tree.predict(many)
    size, first = len(labels), labels[0]
    cells = (predicted - first) * size + (truth - first)
    counts = np.bincount(cells.astype(np.intp), minlength=size * size).reshape(size, size)
    return Judged(costs, counts / examples)


def over_matrices(measure: str, values: Any, tables: int, **keys: Value) -> Row:
    """Return the row of a share averaged over cost matrices.

    Its standard error is that of a mean over matrices, and at least that of a share of all test
    sets, so that it is not 0 where all matrices have the same share.
    """
    row = average(measure, values, **keys)
    total = len(values) * tables
    floor = share(measure, float(row["value"]) * total, total)["error"]
    return row | {"error": max(float(row["error"]), float(floor))}


def permuted(shares: Floats) -> Floats:
    """Return the joint shares with a classifier whose labels are permuted within each true class.

    Such a classifier has the same confusion matrix, and hence the same cost. Given the true class,
    its decisions are independent of the first's.
    """
    frequent = shares.sum(axis=0)
    given = np.divide(shares, frequent, out=np.zeros_like(shares), where=frequent > 0)
    return np.asarray(np.einsum("aj,bj->abj", shares, given))


def relabelled(joint: Floats, changed: float) -> Floats:
    """Return joint shares after a share of the second's labels change to any other, uniformly."""
    others = (joint.sum(axis=1, keepdims=True) - joint) / (joint.shape[1] - 1)
    return np.asarray((1 - changed) * joint + changed * others)


def _average_costs(costs: CostMatrix) -> Floats:
    """Return the average cost of the mistakes about each class, from unchanged costs.

    `stakes.learn.class_weights` would subtract the costs of correct decisions, which in M9 can be
    more than those of mistakes.
    """
    mistakes = costs.values.sum(axis=0) - np.diag(costs.values)
    return np.asarray(mistakes / (len(costs.values) - 1))


@lru_cache(maxsize=32)
def _examples(domain: str, what: str, seed: int, n: int) -> tuple[Any, NDArray[np.int64]]:
    rng = _stream(seed, domain, what)
    if domain == "waveform":
        points, classes = waveform(n, rng=rng)
    else:
        geometry = "bands" if domain == "expf5-bands" else "curves"
        points, classes = expf5(n, geometry=geometry, rng=rng)
    return points.astype(np.float32), classes  # the type that trees work with


def _stream(seed: int, *names: str) -> np.random.Generator:
    """Return a random generator that depends only on a seed and on names."""
    keys = tuple(crc32(name.encode()) for name in names)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=keys))
