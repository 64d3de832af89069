"""The probability that each classifier is the cheapest, when costs are uncertain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from stakes._core import validate
from stakes._core.labels import Labels
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number, percent_range, seen, text_table
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix, CostRanges
from stakes.costs._axes import positions
from stakes.counts.joint import JointConfusion
from stakes.errors import DesignError, InputTypeError, RareCostWarning, warn
from stakes.infer._inference import RareOutcome
from stakes.infer._outcomes import ENOUGH, Design
from stakes.infer._probability.sampling import batch_sizes
from stakes.infer._shares import priors_of_examples, stratum_shares
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate

FEWEST_DRAWS = 100
"""The smallest number of draws that is accepted."""

MORE_LIKELY = 0.5

MOST_RAKING, CLOSE = 1000, 1e-10
"""The largest number of raking rounds, and the relative change of the weights that ends them."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Random draws of the population's cell shares, each with the share of one more example.

    Attributes
    ----------
    tables : ndarray, shape (classifiers, cells, draws)
        The share of each cell of each classifier's confusion matrix.
    extra : ndarray, shape (draws, 1) or (draws, classes)
        The share of one more example of any class; with known class priors, of one in each class.
    """

    tables: Floats
    extra: Floats


class Populations:
    """The distribution of the confusion matrices' cell shares in the target population.

    Parameters
    ----------
    joint : JointConfusion
        The count of each combination of decisions and class.
    design : Design
        The prevalence of each class in the target population, if it differs from the test set's,
        and cells that cannot occur.
    """

    def __init__(self, joint: JointConfusion, design: Design) -> None:
        self.joint, self.design = joint, design
        self._priors: Floats | None = None
        if design.class_priors is not None:
            self._priors = priors_of_examples(
                design.class_priors, joint.labels, joint.class_counts()
            )
        elif design.strata is not None:
            self._priors = stratum_shares(
                joint.labels, joint.class_counts().astype(np.float64), design.population
            )
        self._draws = _Draws(joint, design, self._priors)
        self._possible = _possible_cells(joint, design)
        decisions, classes = self._possible.shape
        models, rows = len(joint.names), len(joint.counts)
        cells = joint.decided * classes + joint.actual[:, np.newaxis]
        places = (np.arange(models) * decisions * classes + cells).T.ravel()
        ones = np.ones(places.size)
        shape = (models * decisions * classes, rows)
        self._cells = csr_array((ones, (places, np.tile(np.arange(rows), models))), shape=shape)
        self._classes = csr_array((np.ones(rows), (np.arange(rows), joint.actual)), (rows, classes))

    @property
    def width(self) -> int:
        """The number of values that one draw needs."""
        return int(max(self._cells.shape))

    def shares(self) -> Floats:
        """Return the estimated share of each cell of each classifier, shape (models, cells)."""
        counts = self.joint.counts[np.newaxis].astype(np.float64)
        size = 1 if self._priors is None else len(self._priors)
        return self._scaled(self._draws.as_used(counts), np.zeros((1, size))).tables[..., 0]

    def drawn(self, size: int, generator: np.random.Generator) -> Drawn:
        """Draw cell shares from Dirichlet(counts, 1), over all examples or within each class.

        The last share is that of one more example. Its cell is chosen once the costs are known.
        """
        amounts = self._draws.amounts(size, generator)
        extras = 1 if self._priors is None else len(self._priors)
        extra = self._draws.room * generator.standard_exponential((size, extras))
        return self._scaled(self._draws.as_used(amounts), extra)

    def _scaled(self, amounts: Floats, extra: Floats) -> Drawn:
        """Normalise amounts to shares; those of a class sum to its prior, if that is known."""
        if self._priors is None:
            totals = amounts.sum(axis=1, keepdims=True) + extra
            amounts = amounts / totals
            extra = extra / totals
        else:
            totals = (self._classes.T @ amounts.T).T + extra
            # A class without examples has no prior, and needs no room.
            factors = np.divide(self._priors, totals, out=np.zeros_like(totals), where=totals > 0)
            amounts = amounts * factors[:, self.joint.actual]
            extra = extra * factors
        tables = (self._cells @ amounts.T).reshape(len(self.joint.names), -1, len(amounts))
        return Drawn(tables, extra)

    def room(self, extra: Floats, costs: Floats) -> Floats:
        """Return the most that one more example can add to the difference of two classifiers.

        Without priors, the example is of the class in which the costs of two decisions differ most.

        Parameters
        ----------
        extra : ndarray, shape (draws, 1) or (draws, classes)
            The share of the example.
        costs : ndarray, shape (decisions, classes) or (draws, decisions, classes)
            The costs.
        """
        spans = self._highest(costs) + self._highest(-costs)
        return self._added(extra, np.where(self._possible.any(axis=0), spans, 0.0))

    def worst(self, extra: Floats, costs: Floats) -> Floats:
        """Return what one more example adds to a classifier's cost at its highest possible cost."""
        return self._added(extra, self._highest(costs))

    def _highest(self, costs: Floats) -> Floats:
        if self._possible.all():
            return np.asarray(costs.max(axis=-2))
        return np.asarray(np.where(self._possible, costs, -np.inf).max(axis=-2))

    def _added(self, extra: Floats, by_class: Floats) -> Floats:
        if self._priors is None:
            return np.asarray(extra[:, 0] * by_class.max(axis=-1))
        used = self._priors > 0
        return np.asarray((extra[:, used] * by_class[..., used]).sum(axis=-1))


class _Draws:
    """Random amounts of the rows, which may have groups, weights and strata.

    `room` is the size of one more sampling unit: of the group, or the weighted row, that is typical
    for a row. Where strata have known shares, it is that of the stratum in which the unit would
    count most. Where classes have known shares too, each draw is raked to both, and each class has
    a room of its own.
    """

    def __init__(self, joint: JointConfusion, design: Design, priors: Floats | None) -> None:
        counts = joint.counts.astype(np.float64)
        self._counts, self._squares = counts, joint.squares
        self._groups: NDArray[np.intp] | None = None
        self._strata: NDArray[np.intp] | None = None
        self._shares = np.ones(1)
        if joint.parts is not None and joint.part is not None:
            groups = joint.parts.group_codes()
            self._groups = None if groups is None else groups[joint.part]
            if joint.parts.strata is not None:
                codes, names = joint.parts.stratum_codes()
                self._strata = codes[joint.part]
                seen = np.asarray(np.bincount(self._strata, counts), dtype=np.float64)
                by_class = design.strata is not None
                self._shares = stratum_shares(names, seen, None if by_class else design.population)
        self._raking: _Raking | None = None
        if self._strata is not None and len(self._shares) > 1 and priors is not None:
            self._raking = _Raking(self._strata, joint.actual, self._shares, priors)
        self.room = self._typical()

    def _typical(self) -> float | Floats:
        sizes: Floats = np.ones(len(self._counts))
        if self._groups is not None:
            of_groups = np.bincount(self._groups, self._counts)
            sizes = sizes * float(of_groups @ of_groups / of_groups.sum())
        elif self._squares is not None:
            sizes = self._heavy(self._squares)
        if self._raking is not None:
            return self._raking.largest(self._raking.factors(self._counts[np.newaxis])[0] * sizes)
        return float(sizes.max()) * float(self._factors(self._counts[np.newaxis]).max())

    def _heavy(self, squares: Floats) -> Floats:
        """Return the typical weight of the rows of each cell, 0 where all weights are 0."""
        counts = self._counts
        return np.divide(squares, counts, out=np.zeros_like(counts), where=counts > 0)

    def amounts(self, size: int, generator: np.random.Generator) -> Floats:
        """Draw amounts, shape (draws, rows): gamma variables whose shapes are the counts."""
        if self._groups is not None:
            each = generator.standard_exponential((size, int(self._groups.max()) + 1))
            return np.asarray(each[:, self._groups] * self._counts)
        if self._squares is None:
            return generator.standard_gamma(self._counts, (size, len(self._counts)))
        heavy = self._heavy(self._squares)
        shapes = np.divide(self._counts, heavy, out=np.zeros_like(heavy), where=heavy > 0)
        return np.asarray(generator.standard_gamma(shapes, (size, len(heavy))) * heavy)

    def as_used(self, amounts: Floats) -> Floats:
        """Scale the amounts so that the strata have their shares of the target population."""
        if self._strata is None or len(self._shares) == 1:
            return amounts
        if self._raking is not None:
            return np.asarray(amounts * self._raking.factors(amounts))
        return np.asarray(amounts * self._factors(amounts)[:, self._strata])

    def _factors(self, amounts: Floats) -> Floats:
        if self._strata is None or len(self._shares) == 1:
            return np.ones((len(amounts), 1))
        totals = np.stack([np.bincount(self._strata, row, len(self._shares)) for row in amounts])
        return np.asarray(self._shares / totals * self._counts.sum())


class _Raking:
    """Raking weights that give every draw the known shares of both strata and classes."""

    def __init__(
        self,
        strata: NDArray[np.intp],
        classes: NDArray[np.intp],
        shares: Floats,
        priors: Floats,
    ) -> None:
        self._strata, self._classes = strata, classes
        self._shares, self._priors = shares, priors
        rows = len(strata)
        cells = strata * len(priors) + classes
        shape = (rows, len(shares) * len(priors))
        self._cells = csr_array((np.ones(rows), (np.arange(rows), cells)), shape)

    def factors(self, amounts: Floats) -> Floats:
        """Return the weight of each row in each draw; totals stay the same (Deming & Stephan)."""
        shape = (len(amounts), len(self._shares), len(self._priors))
        table = np.asarray((self._cells.T @ amounts.T).T).reshape(shape)
        totals = table.sum(axis=(1, 2))
        by_class = np.ones(shape[::2])
        for _ in range(MOST_RAKING):
            by_stratum = self._shares / np.einsum("shk,sk->sh", table, by_class)
            sums = np.einsum("shk,sh->sk", table, by_stratum)
            used = np.divide(self._priors, sums, out=np.zeros_like(sums), where=sums > 0)
            change = np.abs(used - by_class).max() / used.max()
            by_class = used
            if change < CLOSE:
                break
        else:
            raise DesignError(
                "class_priors, strata",
                "no weights have both the shares of the strata and those of the classes: some "
                "strata have too few classes among their examples.",
                "Merge strata.",
            )
        found = by_stratum[:, self._strata] * by_class[:, self._classes]
        return np.asarray(found * totals[:, np.newaxis])

    def largest(self, sizes: Floats) -> Floats:
        """Return the largest size of the rows of each class."""
        found = np.zeros(len(self._priors))
        np.maximum.at(found, self._classes, sizes)
        return found


def _possible_cells(joint: JointConfusion, design: Design) -> NDArray[np.bool_]:
    """Return which cells can occur, after checking that no impossible cell was observed."""
    possible = np.ones((len(joint.decisions), len(joint.labels)), dtype=bool)
    if design.impossible is not None:
        zero = CostMatrix(
            possible.astype(float), rows="predicted", labels=joint.labels, decisions=joint.decisions
        )
        for name in joint.names:  # raises if an impossible cell is unknown or was observed
            CostEstimate(joint.single(name), zero, Design(impossible=design.impossible))
        for decision, label in design.impossible:
            possible[joint.decisions.index(decision), joint.labels.index(label)] = False
    return possible


def joint_counts(y_true: Any, predictions: Any, costs: CostRanges | CostMatrix) -> JointConfusion:
    """Count the decisions of several classifiers, unless they are counted already."""
    if isinstance(y_true, JointConfusion):
        return y_true
    return JointConfusion.from_labels(
        y_true,
        {} if predictions is None else predictions,
        labels=costs.labels,
        decisions=costs.decisions,
    )


def expected_costs(tables: Floats, costs: Floats) -> Floats:
    """Return the expected cost of each classifier for each draw, shape (draws, classifiers).

    Parameters
    ----------
    tables : ndarray, shape (classifiers, cells) or (classifiers, cells, draws)
        The shares of the cells.
    costs : ndarray, shape (decisions, classes) or (draws, decisions, classes)
        The costs of the cells.
    """
    tables = tables.reshape(*tables.shape[:2], -1)
    flat = costs.reshape(-1, tables.shape[1])
    if len(flat) == 1:
        return np.asarray(np.tensordot(flat[0], tables, (0, 1)).T)
    if tables.shape[2] == 1:
        return np.asarray(flat @ tables[..., 0].T)
    return np.asarray(np.einsum("kcs,sc->sk", tables, flat))


def shares_of_minimum(table: Floats) -> Floats:
    """Return the share of rows in which each column is the minimum; ties are split."""
    least = np.isclose(table, table.min(axis=1, keepdims=True), rtol=1e-12, atol=0)
    return np.asarray((least / least.sum(axis=1, keepdims=True)).mean(axis=0))


def wins(table: Floats, room: Floats) -> Floats:
    """Return how many draws each classifier wins, with one more example against it and for it.

    Parameters
    ----------
    table : ndarray, shape (draws, classifiers)
        The costs.
    room : ndarray, shape (draws,)
        The most that one more example can add to the difference of two classifiers.

    Returns
    -------
    ndarray, shape (2, classifiers)
        The draws in which each is cheaper than every other with the room against it, and those in
        which it is at least as cheap as any other with the room in its favour.
    """
    if table.shape[1] == 1:
        return np.full((2, 1), float(len(table)))
    least = np.sort(table, axis=1)[:, :2]
    first = table.argmin(axis=1)
    rival = np.repeat(least[:, :1], table.shape[1], axis=1)
    rival[np.arange(len(table)), first] = least[:, 1]
    lead = rival - table
    rounding = 1e-12 * np.abs(table).max(axis=1)
    against = lead > (room + rounding)[:, np.newaxis]
    towards = lead >= -(room + rounding)[:, np.newaxis]
    return np.stack([against.sum(axis=0), towards.sum(axis=0)]).astype(np.float64)


def rarest_outcome(
    joint: JointConfusion, matrices: Sequence[CostMatrix], design: Design
) -> RareOutcome | None:
    """Return the largest extreme outcome of any two classifiers that occurred too rarely."""
    rare = [
        choice.rare
        for first, second in combinations(joint.names, 2)
        for table in [joint.pair(first, second)]
        for costs in matrices
        for choice in [CostDifference(table, costs, (str(first), str(second)), design).choice]
        if choice.rare is not None
    ]
    return max(rare, key=lambda each: abs(each.value), default=None)


def warn_of_rare(joint: JointConfusion, matrices: Sequence[CostMatrix], design: Design) -> None:
    """Warn if the outcome that matters most occurred too rarely for narrow bounds."""
    rare = rarest_outcome(joint, matrices, design)
    if rare is not None:
        rarely = f", fewer than {ENOUGH}" if rare.count else ""
        warn(
            f"the outcome that matters most, {rare.what}, changes the difference by "
            f"{number(rare.value)} and was {seen(rare.count)}{rarely}: the bounds of the "
            "probabilities leave room for it, so they may be far apart. Collect more examples. "
            "Name cells that cannot occur with impossible=.",
            RareCostWarning,
        )


FIELDS = (
    "probability_low",
    "probability_high",
    "costs_only",
    "sampling_low",
    "sampling_high",
    "cost",
    "sd",
    "sd_costs",
    "sd_sampling",
)


@dataclass(frozen=True, eq=False, repr=False)
class CheapestProbability(Result):
    """The probability that each classifier is the cheapest, and the sources of uncertainty.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    probability_low, probability_high : ndarray
        Bounds of the probability that each is the cheapest, with costs and test set both uncertain.
    costs_only : ndarray
        That probability if only the costs were uncertain.
    sampling_low, sampling_high : ndarray
        Bounds of that probability if only the test set were uncertain.
    cost : ndarray
        The expected cost per decision of each, at the mean costs.
    sd, sd_costs, sd_sampling : ndarray
        The standard deviation of each expected cost: in total, from uncertain costs alone, and from
        the test set alone.

    Examples
    --------
    >>> from stakes import CostRanges, cheapest_probability
    >>> costs = CostRanges.from_cells({(0, 1): (2, 30), (1, 0): 1}, labels=[0, 1])
    >>> found = cheapest_probability(
    ...     [0] * 600 + [1] * 400,
    ...     {"eager": [0] * 400 + [1] * 595 + [0] * 5, "shy": [1] * 9 + [0] * 611 + [1] * 380},
    ...     costs, rng=0)
    >>> found.names, found.cost.round(2).tolist()
    (('eager', 'shy'), [0.28, 0.33])
    >>> found.probability_low.round(2).tolist(), found.probability_high.round(2).tolist()
    ([0.53, 0.4], [0.6, 0.47])
    """

    names: Labels
    probability_low: Floats
    probability_high: Floats
    costs_only: Floats
    sampling_low: Floats
    sampling_high: Floats
    cost: Floats
    sd: Floats
    sd_costs: Floats
    sd_sampling: Floats

    def summary(self) -> str:
        """Summarise which classifier is the cheapest and how sure that is.

        Returns
        -------
        str
            A sentence.
        """
        best = int(self.probability_low.argmax())
        told = self.probability_low[best] > MORE_LIKELY
        if not told:
            best = int(self.cost.argmin())
        name, lead = self.names[best], "is the cheapest with a probability of"
        if not told:
            name = f"Which model is the cheapest cannot be told: {name}, the cheapest on average,"
            lead = "has a probability of"
        both = percent_range(self.probability_low[best], self.probability_high[best])
        sampling = percent_range(self.sampling_low[best], self.sampling_high[best])
        return (
            f"{name} {lead} {both} ({100 * self.costs_only[best]:.0f}% if only the costs, "
            f"{sampling} if only the test set were uncertain)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the probabilities as plain values, by classifier.

        Returns
        -------
        dict
            From each classifier to its numbers.
        """
        columns = {name: getattr(self, name).tolist() for name in FIELDS}
        return {
            str(who): {name: values[i] for name, values in columns.items()}
            for i, who in enumerate(self.names)
        }

    def to_frame(self) -> Any:
        """Return the bounds as a pandas data frame, a row for each model.

        Returns
        -------
        DataFrame
            With the attributes as columns.

        Examples
        --------
        >>> from stakes import CostRanges, cheapest_probability
        >>> costs = CostRanges.from_cells({(0, 1): (2, 30), (1, 0): 1}, labels=[0, 1])
        >>> found = cheapest_probability(
        ...     [0] * 600 + [1] * 400,
        ...     {"eager": [0] * 400 + [1] * 595 + [0] * 5, "shy": [1] * 9 + [0] * 611 + [1] * 380},
        ...     costs, rng=0)
        >>> found.to_frame()["name"].tolist()
        ['eager', 'shy']
        """
        arrays = {each.name: getattr(self, each.name) for each in fields(self)}
        columns = {name: each for name, each in arrays.items() if np.ndim(each) == 1}
        names = columns.pop("names", self.names)
        return data_frame({"name": list(names), **columns})

    def __repr__(self) -> str:
        return f"{self.summary()}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption=self.summary())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["classifier", "cheapest", "costs only", "sampling only", "cost", "sd"]
        rows = [
            [
                str(name),
                percent_range(self.probability_low[i], self.probability_high[i]),
                f"{100 * self.costs_only[i]:.0f}%",
                percent_range(self.sampling_low[i], self.sampling_high[i]),
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
    impossible: Any = None,
    n_draws: Any = 4000,
    rng: np.random.Generator | int | None = None,
) -> CheapestProbability:
    """Return how likely each classifier is the cheapest when costs are known only as ranges.

    Costs are drawn from their ranges, the population from a Dirichlet distribution. That
    distribution covers only observed mistakes, so the probability has two bounds. The lower bound
    adds one more example, in which the classifier makes the costliest possible mistake and all
    others make none; the upper bound adds the opposite. Where expensive mistakes are rare the
    bounds are far apart; with many of them they meet.

    Parameters
    ----------
    y_true : array_like, shape (n,), or JointConfusion
        The actual class of each example; or the counts, and then no `predictions`.
    predictions : mapping or None
        From the name of each classifier to its decisions.
    costs : CostRanges
        The ranges, or distributions, of the costs.
    class_priors : mapping or sequence, optional
        The prevalence of each class in the target population, if it differs from the test set's.
    impossible : sequence of (decision, class), optional
        Cells that cannot occur, for which no room is needed.
    n_draws : int, default 4000
        The number of draws of costs and populations.
    rng : Generator or seed
        The source of randomness.

    Returns
    -------
    CheapestProbability
        The probabilities, and how much of the uncertainty is due to the costs and to the test set.

    Warns
    -----
    RareCostWarning
        Where the outcome that matters most to a comparison was observed fewer than five times.

    Notes
    -----
    The lower bound for k is the share of the draws in which k has the least Σ D(i, j) C(i, j), with
    C drawn from the ranges and D, the shares of k's decisions and classes, from Dirichlet(M + e): M
    are the joint counts of all classifiers, and e is one more example of the class j with the
    largest max C(·, j) - min C(·, j), for which k decides what costs most and all others what costs
    least. For the upper bound the others decide what costs most. With class priors each class has
    its own Dirichlet distribution, and its own e.

    For two classifiers and known costs the lower bound is 1 - p, p being the p-value of
    ``CostDifference.test("extremal", alternative="less")``. So a model that is not the cheapest
    gets a lower bound of 99% in about 1% of test sets at most, however rare the mistakes.

    References
    ----------
    Rubin (1981).

    Learned-Miller & Thomas (2019).

    Margineantu (2001), Table 6.8.

    Examples
    --------
    >>> from stakes import CostRanges, cheapest_probability
    >>> costs = CostRanges.from_cells({(0, 1): (2, 30), (1, 0): 1}, labels=[0, 1])
    >>> y_true = [0] * 600 + [1] * 400
    >>> predictions = {
    ...     "eager": [0] * 400 + [1] * 595 + [0] * 5, "shy": [1] * 9 + [0] * 611 + [1] * 380}
    >>> found = cheapest_probability(y_true, predictions, costs, rng=0)
    >>> print(found.summary())
    eager is the cheapest with a probability of 52% to 61% (63% if only the costs, 65% to 79%
    if only the test set were uncertain).

    With a prevalence of 10%, false positives matter more:

    >>> found = cheapest_probability(
    ...     y_true, predictions, costs, class_priors={0: 0.9, 1: 0.1}, rng=0)
    >>> print(found.summary())
    shy is the cheapest with a probability of 100% (100% if only the costs, 100% if only the
    test set were uncertain).
    """
    if not isinstance(costs, CostRanges):
        raise InputTypeError("costs", f"expected CostRanges, got {type(costs).__name__}.")
    draws = validate.as_size(n_draws, "n_draws", least=FEWEST_DRAWS)
    joint = joint_counts(y_true, predictions, costs)
    design = Design(class_priors, impossible=impossible)
    found = find_cheapest(joint, costs, design, draws, rng)
    warn_of_rare(joint, [costs.mean()], design)
    return found


def find_cheapest(
    joint: JointConfusion, costs: CostRanges, design: Design, draws: int, rng: Any
) -> CheapestProbability:
    """Return how likely each classifier is the cheapest, without a warning."""
    generator = validate.generator(rng)
    population = Populations(joint, design)
    shares = population.shares()
    rows = positions(joint.decisions, costs.decisions, "decision")
    columns = positions(joint.labels, costs.labels, "class")
    mean = costs.mean().values_for(joint.labels, joint.decisions)
    won = np.zeros((2, 2, len(joint.names)))
    tables: list[list[Floats]] = [[], [], []]
    for size in batch_sizes(draws, population.width):
        sampled = costs.sample(size, rng=generator)[:, rows][:, :, columns]
        drawn = population.drawn(size, generator)
        for place, values in enumerate((sampled, mean)):
            table = expected_costs(drawn.tables, values)
            won[place] += wins(table, population.room(drawn.extra, values))
            worst = population.worst(drawn.extra, values)
            tables[2 * place].append(table + worst[:, np.newaxis])
        tables[1].append(expected_costs(shares, sampled))
    both, by_costs, by_sampling = map(np.concatenate, tables)
    (low, high), (sampling_low, sampling_high) = won / draws
    return CheapestProbability(
        names=joint.names,
        probability_low=low,
        probability_high=high,
        costs_only=shares_of_minimum(by_costs),
        sampling_low=sampling_low,
        sampling_high=sampling_high,
        cost=expected_costs(shares, mean)[0],
        sd=both.std(axis=0),
        sd_costs=by_costs.std(axis=0),
        sd_sampling=by_sampling.std(axis=0),
    )
