"""Scorer for scikit-learn: minus the expected cost per decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import make_scorer

from stakes._core import validate
from stakes._core.labels import label_codes
from stakes.costs import CostMatrix, ExampleCosts
from stakes.errors import InputError, InputTypeError
from stakes.infer.evaluation import evaluate


@dataclass(frozen=True, repr=False)
class ExpectedCost:
    """Mean cost of decisions, as a callable that scikit-learn can copy and pickle."""

    costs: CostMatrix
    __name__ = "expected_cost"  # scikit-learn shows it, as for any function

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, example_costs: Any = None
    ) -> float:
        """Return the cost per decision, by the cost matrix or by the examples' own costs."""
        if example_costs is None:
            return evaluate(y_true, y_pred, self.costs, sample_weight=sample_weight).cost
        validate.same_index(
            y_true=y_true,
            y_pred=y_pred,
            sample_weight=sample_weight,
            example_costs=example_costs,
        )
        paid = self._paid(y_true, y_pred, example_costs)
        if sample_weight is None:
            return float(paid.mean())
        return float(np.average(paid, weights=validate.weights(sample_weight, len(paid))))

    def _paid(self, y_true: Any, y_pred: Any, example_costs: Any) -> NDArray[np.float64]:
        """Return the cost of the decision on each example."""
        actual = label_codes(y_true, "y_true", self.costs.labels, "classes of the costs")
        shape = np.shape(example_costs)
        size = (len(actual), len(self.costs.decisions), len(self.costs.labels))
        if shape not in (size, size[:2]):
            raise InputError(
                "example_costs",
                "expected the cost of each decision for each example, an array of shape "
                f"{size[:2]}, or by class, one of shape {size} [example, decision, class]; got "
                f"shape {shape}. The order is that of costs.decisions and costs.labels.",
            )
        if len(shape) == len(size):
            by_class = validate.numeric(example_costs, "example_costs", ndim=3)
            example_costs = by_class[np.arange(len(actual)), :, actual]
        return ExampleCosts(example_costs, decisions=self.costs.decisions).of(y_pred)

    def __repr__(self) -> str:
        return f"ExpectedCost({len(self.costs.decisions)} × {len(self.costs.labels)} costs)"


def cost_scorer(costs: CostMatrix) -> Any:
    """Return a scorer for scikit-learn: minus the expected cost per decision.

    Use it wherever scikit-learn takes ``scoring=``, as in ``cross_validate``, ``GridSearchCV`` and
    ``TunedThresholdClassifierCV``. Scores are negative costs because scikit-learn maximises them;
    the value is minus that of `evaluate`.

    Parameters
    ----------
    costs : CostMatrix
        The cost of each decision for each class. It may have more classes than a fold does.

    Returns
    -------
    scorer
        Made by ``sklearn.metrics.make_scorer``. With metadata routing it can request
        ``sample_weight`` and ``example_costs``, which replace `costs`: an array of shape
        (n, decisions) with the cost of each decision for each example, or of shape
        (n, decisions, classes) with the cost for each class that the example could have; in the
        order of ``costs.decisions`` and ``costs.labels``.

    Notes
    -----
    The score is -(1/n) Σ C(dₖ, yₖ) over the n decisions d on examples of classes y; with weights v,
    -Σ vₖ C(dₖ, yₖ)/Σ vₖ. Its expectation is minus equation 2.4 of Margineantu's thesis.

    ``cross_validate`` and ``GridSearchCV`` turn an error of a scorer into a score of nan and a
    warning. Pass ``error_score="raise"`` to see it.

    References
    ----------
    Margineantu (2001), section 2.2.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score
    >>> from stakes import CostMatrix
    >>> from stakes.learn import cost_scorer
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> scorer = cost_scorer(costs)
    >>> plain = LogisticRegression()
    >>> tuned = TunedThresholdClassifierCV(plain, scoring=scorer)
    >>> for model in (plain, tuned):
    ...     print(round(-cross_val_score(model, X, y, scoring=scorer).mean(), 1))
    0.4
    0.2
    """
    if isinstance(costs, ExampleCosts):
        raise InputTypeError(
            "costs",
            "expected a CostMatrix, got ExampleCosts, which would have to be cut into folds with "
            "the examples.",
            "Give a CostMatrix that names the decisions, ask for the others with "
            "cost_scorer(costs).set_score_request(example_costs=True), and pass their values as "
            "params={'example_costs': …}.",
        )
    validate.expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")
    return make_scorer(ExpectedCost(costs), greater_is_better=False)
