"""Populations that examples may come from, and what classifiers cost in each."""

from __future__ import annotations

from typing import Any

import numpy as np

from stakes._core.typing import Floats
from stakes.costs import CostMatrix, CostRanges
from stakes.counts.joint import JointConfusion
from stakes.infer.designs import priors_of_examples

FEWEST_DRAWS = 100
"""Fewer tell nothing."""


class Populations:
    """What shares combinations of decisions and class may have where the classifiers are used.

    Parameters
    ----------
    joint : JointConfusion
        How often each combination came.
    class_priors : mapping or sequence, optional
        The share of each class where the classifiers are used, if it differs from the test set's.
    """

    def __init__(self, joint: JointConfusion, class_priors: Any = None) -> None:
        self.joint, self._priors = joint, None
        if class_priors is not None:
            self._priors = priors_of_examples(class_priors, joint.labels, joint.class_counts())

    def shares(self) -> Floats:
        """Return the share of each combination, estimated."""
        return np.asarray(self._scaled(self.joint.counts[np.newaxis].astype(np.float64))[0])

    def drawn(self, size: int, generator: np.random.Generator) -> Floats:
        """Draw shares by the Bayesian bootstrap, Dirichlet(counts) of all or of each class."""
        counts = self.joint.counts
        return self._scaled(generator.standard_gamma(counts, (size, len(counts))))

    def _scaled(self, amounts: Floats) -> Floats:
        """Make shares of amounts; those of a class add up to its prior, if that is known."""
        if self._priors is None:
            return np.asarray(amounts / amounts.sum(axis=1, keepdims=True))
        actual = self.joint.actual
        totals = amounts @ np.eye(len(self._priors))[actual]
        factors = np.divide(self._priors, totals, out=np.zeros_like(totals), where=totals > 0)
        return np.asarray(amounts * factors[:, actual])


def joint_counts(y_true: Any, predictions: Any, costs: CostRanges | CostMatrix) -> JointConfusion:
    """Count the decisions of several classifiers, unless they are counted already."""
    if isinstance(y_true, JointConfusion):
        return y_true
    return JointConfusion.from_labels(
        y_true, predictions or {}, labels=costs.labels, decisions=costs.decisions
    )


def expected_costs(joint: JointConfusion, costs: Floats, populations: Floats) -> Floats:
    """Return the expected cost of each classifier for each draw."""
    return np.column_stack(
        [
            np.atleast_1d((costs[..., decided, joint.actual] * populations).sum(axis=-1))
            for decided in joint.decided.T
        ]
    )


def shares_of_minimum(table: Floats) -> Floats:
    """Return how often each column is the least; ties are shared."""
    least = np.isclose(table, table.min(axis=1, keepdims=True), rtol=1e-12, atol=0)
    return np.asarray((least / least.sum(axis=1, keepdims=True)).mean(axis=0))
