"""Which classifier is the cheapest, and how likely, where costs are not certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.text import html_table, number, text_table
from stakes._core.typing import Floats
from stakes.costs import CostMatrix, CostRanges
from stakes.costs._axes import positions
from stakes.counts.joint import JointConfusion
from stakes.errors import InputTypeError
from stakes.infer._design import priors_of_examples
from stakes.infer._probability.sampling import batch_sizes

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


@dataclass(frozen=True, repr=False)
class CheapestProbability:
    """How likely each classifier is the cheapest, and where the doubt comes from.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    probability : ndarray
        That each is the cheapest, costs and test set both uncertain.
    costs_only, sampling_only : ndarray
        The same if only the costs, or only the test set, were uncertain.
    cost : ndarray
        Each one's expected cost at the mean costs.
    sd, sd_costs, sd_sampling : ndarray
        The standard deviation of each one's expected cost, and of its two sources alone.
    draws : ndarray, shape (draws, classifiers)
        The expected costs drawn.

    Examples
    --------
    >>> from stakes import CostRanges, cheapest_probability
    >>> costs = CostRanges.from_cells({(0, 1): (2, 30), (1, 0): 1}, labels=[0, 1])
    >>> found = cheapest_probability(
    ...     [0] * 60 + [1] * 40,
    ...     {"eager": [0] * 40 + [1] * 60, "shy": [0] * 62 + [1] * 38}, costs, rng=0)
    >>> found.names, found.cost.round(2).tolist()
    (('eager', 'shy'), [0.2, 0.32])
    >>> found.probability.round(2).tolist(), found.costs_only.round(2).tolist()
    ([0.55, 0.45], [0.72, 0.28])
    """

    names: tuple[Any, ...]
    probability: Floats
    costs_only: Floats
    sampling_only: Floats
    cost: Floats
    sd: Floats
    sd_costs: Floats
    sd_sampling: Floats
    draws: Floats

    def summary(self) -> str:
        """Say who is the cheapest and how sure that is.

        Returns
        -------
        str
            A sentence.
        """
        best = int(self.probability.argmax())
        return (
            f"{self.names[best]} is the cheapest with a probability of "
            f"{100 * self.probability[best]:.0f} % ({100 * self.costs_only[best]:.0f} % if only "
            f"the costs, {100 * self.sampling_only[best]:.0f} % if only the test set were "
            "uncertain)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the probabilities as plain values, by classifier.

        Returns
        -------
        dict
            From each classifier to its numbers.
        """
        fields = (
            "probability",
            "costs_only",
            "sampling_only",
            "cost",
            "sd",
            "sd_costs",
            "sd_sampling",
        )
        columns = {name: getattr(self, name).tolist() for name in fields}
        return {
            str(who): {name: values[i] for name, values in columns.items()}
            for i, who in enumerate(self.names)
        }

    def __repr__(self) -> str:
        return f"{self.summary()}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption=self.summary())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["classifier", "cheapest", "costs only", "sampling only", "cost", "sd"]
        rows = [
            [
                str(name),
                *(
                    f"{100 * each[i]:.0f} %"
                    for each in (self.probability, self.costs_only, self.sampling_only)
                ),
                number(self.cost[i]),
                number(self.sd[i]),
            ]
            for i, name in enumerate(self.names)
        ]
        return header, rows


def cheapest_probability(
    y_true: Any,
    predictions: Mapping[str, Any] | None,
    costs: CostRanges,
    *,
    class_priors: Any = None,
    n_draws: Any = 4000,
    rng: np.random.Generator | int | None = None,
) -> CheapestProbability:
    """Return how likely each classifier is the cheapest when costs are known only as ranges.

    Costs are drawn from their ranges, the population from the Bayesian bootstrap, that is from
    Dirichlet(counts) over the combinations of decisions and class that came; with class priors over
    those of each class, whose share then is its prior.

    Parameters
    ----------
    y_true : array_like, shape (n,), or JointConfusion
        The actual class of each example; or the counts, and then no `predictions`.
    predictions : mapping or None
        From the name of each classifier to its decisions.
    costs : CostRanges
        What is known of the costs.
    class_priors : mapping or sequence, optional
        The share of each class where the classifiers are used, if it differs from the test set's.
    n_draws : int, default 4000
        How many costs and populations are drawn.
    rng : Generator or seed
        The source of randomness.

    Returns
    -------
    CheapestProbability
        The probabilities, and how much of the doubt is due to the costs and to the test set.

    Notes
    -----
    P(k is the cheapest) is the share of the draws in which k has the least Σ D(i, j) C(i, j), with
    C drawn from the ranges and D, the shares of k's decisions and classes, from the drawn
    population; those that are tied share the draw.

    References
    ----------
    Rubin (1981).

    Margineantu (2001), Table 6.8.

    Examples
    --------
    >>> from stakes import CostRanges, cheapest_probability
    >>> costs = CostRanges.from_cells({(0, 1): (2, 30), (1, 0): 1}, labels=[0, 1])
    >>> y_true = [0] * 60 + [1] * 40
    >>> found = cheapest_probability(
    ...     y_true, {"eager": [0] * 40 + [1] * 60, "shy": [0] * 62 + [1] * 38}, costs, rng=0)
    >>> print(found.summary())
    eager is the cheapest with a probability of 55 % (72 % if only the costs, 64 % if only the test
    set were uncertain).

    Where only one in ten is a 1, false alarms matter more:

    >>> found = cheapest_probability(
    ...     y_true, {"eager": [0] * 40 + [1] * 60, "shy": [0] * 62 + [1] * 38}, costs,
    ...     class_priors={0: 0.9, 1: 0.1}, rng=0)
    >>> [round(float(each), 2) for each in found.probability]
    [0.02, 0.98]
    """
    if not isinstance(costs, CostRanges):
        raise InputTypeError("costs", f"expected CostRanges, got {type(costs).__name__}.")
    draws = validate.as_size(n_draws, "n_draws", least=FEWEST_DRAWS)
    joint = joint_counts(y_true, predictions, costs)
    generator = validate.generator(rng)
    population = Populations(joint, class_priors)
    shares = population.shares()
    rows = positions(joint.decisions, costs.decisions, "decision")
    columns = positions(joint.labels, costs.labels, "class")
    mean = costs.mean().values_for(joint.labels, joint.decisions)
    both, by_costs, by_sampling = [], [], []
    for size in batch_sizes(draws, len(shares)):
        drawn = costs.sample(size, rng=generator)[:, rows][:, :, columns]
        populations = population.drawn(size, generator)
        both.append(expected_costs(joint, drawn, populations))
        by_costs.append(expected_costs(joint, drawn, shares))
        by_sampling.append(expected_costs(joint, mean, populations))
    tables = [np.concatenate(parts) for parts in (both, by_costs, by_sampling)]
    probability, costs_only, sampling_only = map(shares_of_minimum, tables)
    sd, sd_costs, sd_sampling = (table.std(axis=0) for table in tables)
    return CheapestProbability(
        names=joint.names,
        probability=probability,
        costs_only=costs_only,
        sampling_only=sampling_only,
        cost=expected_costs(joint, mean, shares)[0],
        sd=sd,
        sd_costs=sd_costs,
        sd_sampling=sd_sampling,
        draws=tables[0],
    )
