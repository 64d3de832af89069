"""Rank several classifiers by their costs, with comparisons of the cheapest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, Self, cast

import numpy as np

from stakes._core import validate
from stakes._core.labels import listing
from stakes._core.optional import data_frame
from stakes._core.text import (
    html_table,
    listed,
    number,
    p_value,
    percent,
    text_table,
    with_unit,
)
from stakes._core.values import ByValue
from stakes.costs import CostMatrix
from stakes.counts import CostSample, GroupedConfusion, PairedConfusion
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, InputTypeError
from stakes.infer._outcomes import SIMPLE, CountTable, Design
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import (
    CostEstimate,
    against_constant,
    cheapest_constants,
    only_decision,
)
from stakes.infer.family import MOST_CONSTANTS, Compared, Family, Pair, regret_sentence
from stakes.infer.gate import Gate, checked_margin, gate_against

PairTable = PairedConfusion | GroupedConfusion | JointConfusion
"""Joint counts of two classifiers' decisions on the same examples."""

Tables = JointConfusion | Mapping[tuple[str, str], PairTable] | Mapping[str, CostSample]


@dataclass(frozen=True, repr=False, eq=False)
class Ranking(ByValue):
    """Several classifiers, and the cheapest of them compared with the others.

    Made by `compare_many`, or from counts by `from_joint` and `from_pairs`, and from costs of
    single examples by `from_samples`.

    Attributes
    ----------
    tables : JointConfusion or mapping
        What was counted: all classifiers together, the joint counts by pairs of names, or the costs
        of single examples by name.
    costs : CostMatrix or None
        The costs; None for costs of single examples.
    unit : str
        The unit of the costs.
    design : Design
        How the examples were sampled.
    spread : float or None
        The most that two decisions on one example can differ in cost, for costs of single examples.
    constants : mapping
        The costs of every constant prediction, for costs of single examples.
    names : tuple of str
        The classifiers.

    Notes
    -----
    Constant predictions compete, too. p-values of the cheapest against the others are adjusted for
    Tukey's range of all policies, because the data picked the cheapest. See `comparisons` and
    `regret`.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.2.

    Tukey (1953).

    Examples
    --------
    >>> from stakes import CostMatrix, compare_many
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0] * 60 + [1] * 40
    >>> ranking = compare_many(y_true, {
    ...     "eager": [0] * 50 + [1] * 50, "keen": [0] * 51 + [1] * 49, "shy": [0] * 80 + [1] * 20,
    ... }, costs)
    >>> ranking.best_set()
    ['keen', 'eager']
    """

    tables: Tables
    costs: CostMatrix | None
    unit: str = ""
    design: Design = SIMPLE
    spread: float | None = None
    constants: Mapping[str, CostSample] = field(default_factory=dict)
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        validate.text(self.unit, "unit")
        validate.expect(self.design, Design, "design", "Design(class_priors=…)")
        given: Any = self.tables
        if isinstance(given, JointConfusion):
            names: Any = given.names
        elif self.costs is None:
            names = _names_of_samples(given)
        else:
            names = _names_of_pairs(given)
        if len(names) < 2:  # noqa: PLR2004 - nothing to compare
            raise InputError("tables", f"expected at least two classifiers, got {len(names)}.")
        tables = given if isinstance(given, JointConfusion) else dict(given)
        self._set(names=names, tables=tables, constants=dict(self.constants))
        _ = self._estimates[names[0]]  # raises if the costs, or the design, do not fit
        if self.spread is not None:
            validate.one_number(self.spread, "spread")
        if self.costs is None:
            if self.spread is None:
                ends = [(each.low, each.high) for each in given.values()]
                self._set(spread=max(high for _, high in ends) - min(low for low, _ in ends))
            for name in names[1:]:
                self._table_of(names[0], name)  # raises if the examples differ

    @classmethod
    def from_pairs(
        cls,
        pairs: Mapping[tuple[str, str], PairedConfusion | GroupedConfusion],
        costs: CostMatrix,
        unit: str = "",
        design: Design = SIMPLE,
    ) -> Self:
        """Make a ranking from the joint counts of every pair, wherever they were counted.

        Parameters
        ----------
        pairs : mapping
            From pairs of names to the joint counts of these two classifiers; all pairs, on the same
            examples.
        costs : CostMatrix
            The cost of each decision for each class.
        unit : str, optional
            The unit of the costs.
        design : Design, optional
            How the examples were sampled.

        Returns
        -------
        Ranking
            The ranking.

        Examples
        --------
        >>> from stakes import CostMatrix, PairedConfusion, Ranking
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> paired = PairedConfusion([[[600, 20], [70, 40]], [[30, 10], [30, 200]]], labels=[0, 1])
        >>> print(Ranking.from_pairs({("tree", "forest"): paired}, costs).summary())
        forest is the cheapest of 4 (2 models, 2 constant predictions): 0.4 each, with 95%
        confidence. Choosing forest costs no more per decision than the best of the 4 (95%
        confidence).
        """
        return cls(pairs, costs, unit, design)

    @classmethod
    def from_joint(
        cls, joint: JointConfusion, costs: CostMatrix, unit: str = "", design: Design = SIMPLE
    ) -> Self:
        """Make a ranking of all classifiers that were counted together.

        Parameters
        ----------
        joint : JointConfusion
            The count of each combination of decisions and class.
        costs : CostMatrix
            The cost of each decision for each class.
        unit : str, optional
            The unit of the costs.
        design : Design, optional
            How the examples were sampled.

        Returns
        -------
        Ranking
            The ranking.

        Examples
        --------
        >>> from stakes import CostMatrix, JointConfusion, Ranking
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> joint = JointConfusion.from_labels([0] * 60 + [1] * 40, {
        ...     "eager": [0] * 50 + [1] * 50, "shy": [0] * 80 + [1] * 20,
        ... }, labels=[0, 1])
        >>> print(Ranking.from_joint(joint, costs, "USD").summary())
        eager is the cheapest of 4 (2 models, 2 constant predictions): 0.1 USD each, with 95%
        confidence. Choosing eager costs no more per decision than the best of the 4 (95%
        confidence).
        """
        return cls(joint, costs, unit, design)

    @classmethod
    def from_samples(
        cls,
        samples: Mapping[str, CostSample],
        spread: float | None = None,
        unit: str = "",
        design: Design = SIMPLE,
        constants: Mapping[str, CostSample] | None = None,
    ) -> Self:
        """Make a ranking from the costs of each example with each classifier.

        Parameters
        ----------
        samples : mapping
            From the name of each classifier to the costs of the same examples, in the same order.
        spread : float, optional
            The most that two decisions on one example can differ in cost; by default the range of
            the costs.
        unit : str, optional
            The unit of the costs.
        design : Design, optional
            How the examples were sampled.
        constants : mapping, optional
            The costs of every constant prediction by name. They compete, too.

        Returns
        -------
        Ranking
            The ranking.

        Examples
        --------
        >>> from stakes import CostSample, Ranking
        >>> samples = {"a": CostSample([0, 5, 0, 5] * 50), "b": CostSample([0, 0, 0, 5] * 50)}
        >>> print(Ranking.from_samples(samples, unit="USD").summary())
        b is the cheapest of 2: 1.25 USD each, with 95% confidence. Choosing b costs no more per
        decision than the best of the 2 (95% confidence).
        """
        return cls(samples, None, unit, design, spread, constants or {})

    def difference(self, first: str, second: str) -> CostDifference:
        """Return the comparison of two of the classifiers.

        Parameters
        ----------
        first, second : str
            The classifiers.

        Returns
        -------
        CostDifference
            The cost of the first minus that of the second.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> y_true = [0] * 600 + [1] * 400
        >>> ranking = compare_many(y_true, {
        ...     "eager": [0] * 500 + [1] * 500, "keen": [0] * 510 + [1] * 490,
        ...     "shy": [0] * 800 + [1] * 200}, costs)
        >>> ranking.difference("shy", "eager")
        CostDifference(shy - eager = 1.9, n=1,000)
        """
        self._check_name(first, "first")
        self._check_name(second, "second")
        validate.two_names((first, second))
        return self._difference(first, second)

    def _difference(self, first: str, second: str) -> CostDifference:
        if (first, second) not in self._differences:
            self._differences[first, second] = CostDifference(
                self._table_of(first, second), self.costs, (first, second), self.design, self.unit
            )
        return self._differences[first, second]

    def _table_of(self, first: str, second: str) -> CountTable:
        """Return the joint counts of two models, or the differences of their costs."""
        tables: Any = self.tables
        if isinstance(tables, JointConfusion):
            return tables.pair(first, second)
        if self.costs is None:
            samples, spread = {**self.constants, **tables}, self.spread
            if not {first, second} <= {*tables}:
                # A constant prediction may take a decision that is impossible for the models.
                every = [each.values for each in self.constants.values()]
                spread = max(spread or 0.0, float(np.ptp(every, axis=0).max()))
            return cast("CostSample", samples[first].minus(samples[second], spread))
        if (first, second) in tables:
            return cast("PairTable", tables[first, second])
        return cast("PairTable", tables[second, first].swapped())

    def _single(self, name: str) -> CountTable:
        """Return the counts, or the costs of single examples, of a model."""
        tables: Any = self.tables
        if isinstance(tables, JointConfusion):
            return tables.single(name)
        if self.costs is None:
            return cast("CostSample", tables[name])
        pair, table = next(each for each in tables.items() if name in each[0])
        return cast("CountTable", table.first if name == pair[0] else table.second)

    def estimates(self) -> dict[str, CostEstimate]:
        """Return the estimated cost of each classifier, the cheapest first.

        Returns
        -------
        dict
            From each name to a CostEstimate.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> y_true = [0] * 600 + [1] * 400
        >>> ranking = compare_many(y_true, {
        ...     "eager": [0] * 500 + [1] * 500, "keen": [0] * 510 + [1] * 490,
        ...     "shy": [0] * 800 + [1] * 200}, costs)
        >>> {name: each.cost for name, each in ranking.estimates().items()}
        {'keen': 0.09, 'eager': 0.1, 'shy': 2.0}
        """
        return dict(self._estimates)

    @cached_property
    def _estimates(self) -> dict[str, CostEstimate]:
        """The estimates of the models, the cheapest first."""
        result = {
            name: CostEstimate(self._single(name), self.costs, self.design, self.unit)
            for name in self.names
        }
        return dict(sorted(result.items(), key=lambda item: item[1].cost))

    def _family(self, confidence: float = 0.95) -> Family:
        """Return the comparisons of the cheapest with all others, constants included."""
        validate.alpha(confidence)
        if confidence not in self._families:
            costs = {name: each.cost for name, each in (self._estimates | self._constants).items()}
            # At equal cost a constant prediction goes first: it needs no model.
            order = sorted(costs, key=lambda name: (costs[name], name not in self._constants))
            self._families[confidence] = Family(
                tuple(order), self._compare, float(confidence), known=self._compared
            )
        return self._families[confidence]

    @cached_property
    def _families(self) -> dict[float, Family]:
        """Cache of the comparisons by confidence."""
        return {}

    @cached_property
    def _compared(self) -> dict[tuple[str, str], Compared]:
        """Cache of what the comparisons share at any confidence, by names."""
        return {}

    @cached_property
    def _constants(self) -> dict[str, CostEstimate]:
        """The estimates of the cheapest constant predictions, by name.

        One that a model makes for all examples does not compete next to that model.
        """
        models = self._estimates.values()
        if self.costs is None:
            samples = {
                name: CostEstimate(sample, None, self.design, self.unit)
                for name, sample in self.constants.items()
            }
            found = dict(sorted(samples.items(), key=lambda each: each[1].cost)[:MOST_CONSTANTS])
            costs = [cast("CostSample", each.confusion).values for each in models]
            taken = {
                name
                for name in found
                if any(np.array_equal(self.constants[name].values, each) for each in costs)
            }
        else:
            cheapest = cheapest_constants(next(iter(models)), MOST_CONSTANTS)
            found = {f"always {decision}": each for decision, each in cheapest.items()}
            taken = {f"always {each}" for each in map(only_decision, models)}
        return {name: each for name, each in found.items() if name not in (*self.names, *taken)}

    def _compare(self, first: str, second: str) -> Compared:
        """Return the comparison of two models, or of a model and a constant prediction."""
        constants, names = self._constants, (first, second)
        if self.costs is None or not any(name in constants for name in names):
            return Compared(names, [self._difference(first, second)])
        decided = [only_decision(constants[name]) if name in constants else None for name in names]
        model = next((name for name in names if name not in constants), self.names[0])
        table: Any = self._estimates[model].confusion
        return Compared(names, [against_constant(table, self.costs, decided, self.design)])

    @property
    def competitors(self) -> tuple[str, ...]:
        """The models and the constant predictions that compete, the cheapest first.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> compare_many([0] * 600 + [1] * 400, {
        ...     "eager": [0] * 500 + [1] * 500, "shy": [0] * 800 + [1] * 200}, costs).competitors
        ('eager', 'always 1', 'shy', 'always 0')
        """
        return self._family().members

    def comparisons(self, *, confidence: float = 0.95) -> list[Pair]:
        """Compare the cheapest with each other model and constant prediction.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the intervals and claims.

        Returns
        -------
        list of Pair
            The comparisons, the cheapest first. The cheapest is the first of each pair.

        Notes
        -----
        The data pick the cheapest, so its lead is too large. The p-value of each pair is adjusted
        for the range of as many normal variables as policies are left, step by step in the order of
        the p-values. The limits are those of each difference alone.

        References
        ----------
        Tukey (1953).

        Examples
        --------
        >>> from stakes import CostMatrix, PairedConfusion, Ranking
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> paired = PairedConfusion([[[600, 20], [70, 40]], [[30, 10], [30, 200]]], labels=[0, 1])
        >>> ranking = Ranking.from_pairs({("tree", "forest"): paired}, costs)
        >>> [(pair.first, pair.second, pair.shown) for pair in ranking.comparisons()]
        [('forest', 'tree', True), ('forest', 'always 1', True), ('forest', 'always 0', True)]
        """
        return list(self._family(confidence).pairs)

    def against(self, baseline: str, *, confidence: float = 0.95) -> list[Pair]:
        """Compare each model with one that is named.

        Parameters
        ----------
        baseline : str
            The model that the others are compared with.
        confidence : float, default 0.95
            Confidence level of each interval and claim.

        Returns
        -------
        list of Pair
            The comparisons, the cheapest first; the baseline is the second of each pair. Each is
            judged alone, by its own p-value.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> ranking = compare_many([0] * 600 + [1] * 400, {
        ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
        ...     "new": [0] * 500 + [1] * 50 + [0] * 70 + [1] * 380,
        ...     "newer": [0] * 520 + [1] * 50 + [0] * 60 + [1] * 370}, costs)
        >>> [(pair.first, round(pair.difference, 2), pair.shown)
        ...  for pair in ranking.against("old")]
        [('new', -0.8, True), ('newer', -0.7, True)]
        """
        return list(self.gate(baseline, confidence=confidence).pairs)

    def gate(self, baseline: str, *, margin: float | None = None, confidence: float = 0.95) -> Gate:
        """Decide which models may replace a baseline.

        Parameters
        ----------
        baseline : str
            The model that the others are compared with.
        margin : float, optional
            How much more than the baseline a model may cost per decision. With a margin a model
            must be shown to cost less than that much more; without one it fails only if it is shown
            to cost more.
        confidence : float, default 0.95
            Confidence level of the intervals and tests.

        Returns
        -------
        Gate
            The models that fail and that pass, the rule, and the comparisons behind it.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> ranking = compare_many([0] * 600 + [1] * 400, {
        ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
        ...     "new": [0] * 500 + [1] * 50 + [0] * 70 + [1] * 380}, costs)
        >>> gate = ranking.gate("old", margin=0.5)
        >>> gate.passed
        True
        >>> print(gate.tests[0].summary())
        new costs less than 0.5 more than old: shown at 95% confidence (p = 1e-12, extremal).
        """
        self._check_name(baseline, "baseline")
        most = None if margin is None else checked_margin(margin)
        others = [name for name in self._estimates if name != baseline]
        return gate_against(self._family(confidence), others, baseline, margin=most, unit=self.unit)

    def _check_name(self, name: Any, argument: str) -> None:
        if name not in self.names:
            raise InputError(
                argument, f"there is no model {name!r}; there are {listing(self.names)}."
            )

    @cached_property
    def _differences(self) -> dict[tuple[str, str], CostDifference]:
        """Cache of the comparisons by names."""
        return {}

    def best_set(self, confidence: float = 0.95) -> list[str]:
        """Return the cheapest, and what it was not shown to cost less than.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the claims.

        Returns
        -------
        list of str
            The models and constant predictions that may be the best, the cheapest first.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> y_true = [0] * 600 + [1] * 400
        >>> ranking = compare_many(y_true, {
        ...     "eager": [0] * 500 + [1] * 500, "keen": [0] * 510 + [1] * 490,
        ...     "shy": [0] * 800 + [1] * 200}, costs)
        >>> ranking.best_set()
        ['keen', 'eager']
        """
        family = self._family(confidence)
        return [family.best, *family.ties]

    def regret(self, confidence: float = 0.95) -> float:
        """Return the most that choosing the cheapest costs more than the best, per decision.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the bound.

        Returns
        -------
        float
            The bound.

        Notes
        -----
        It is max(0, max over k of the one-sided upper limit of cost(A) - cost(k) at α/(m - 1)) for
        the cheapest A of m policies, by the extremal limit with the full weight.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> ranking = compare_many([0] * 600 + [1] * 400, {
        ...     "eager": [0] * 500 + [1] * 500, "keen": [0] * 510 + [1] * 490}, costs)
        >>> round(ranking.regret(), 3)
        0.031
        """
        return self._family(confidence).regret

    def summary(self, confidence: float = 0.95) -> str:
        """Summarise which policy is the cheapest, or which cannot be told apart.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the claims.

        Returns
        -------
        str
            Two sentences.
        """
        family, sure = self._family(confidence), f"{percent(confidence)} confidence"
        costs = {
            name: f"{with_unit(each.cost, self.unit)} each"
            for name, each in (self._constants | self._estimates).items()
        }
        best, of = [family.best, *family.ties], f"{len(family.members)}"
        if self._constants:
            m = len(self._constants)
            of += f" ({len(self.names)} models, {m} constant prediction{'s' if m > 1 else ''})"
        text = f"{best[0]} is the cheapest of {of}: {costs[best[0]]}, with {sure}."
        if family.ties:
            tied = listed([f"{name} ({costs[name]})" for name in best])
            text = f"{tied} cannot be told apart at {sure}: {len(best)} of {of}."
        return f"{text} {regret_sentence(family, best[0], self.unit)}"

    def to_frame(self, *, confidence: float = 0.95) -> Any:
        """Return the comparisons with the cheapest as a pandas data frame.

        Parameters
        ----------
        confidence
            As in `comparisons`.

        Returns
        -------
        DataFrame
            With a row for each pair and the attributes of `Pair` as columns.
        """
        return data_frame([asdict(pair) for pair in self.comparisons(confidence=confidence)])

    def to_dict(self, *, confidence: float = 0.95) -> dict[str, Any]:
        """Return the ranking as plain numbers and lists.

        Parameters
        ----------
        confidence
            As in `comparisons`.

        Returns
        -------
        dict
            The costs, the pairs, the best set and the regret.
        """
        return {
            "estimates": {name: each.cost for name, each in self._estimates.items()},
            "constants": {name: each.cost for name, each in self._constants.items()},
            "pairs": [asdict(pair) for pair in self.comparisons(confidence=confidence)],
            "best_set": self.best_set(confidence),
            "regret": self.regret(confidence),
        }

    def __repr__(self) -> str:
        header, rows = self._table()
        return f"{self.summary()}\n{text_table(header, rows)}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption=self.summary())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of comparisons with the cheapest."""
        rows = [
            [
                f"{pair.first} - {pair.second}",
                number(pair.difference),
                f"{number(pair.low)} to {number(pair.high)}",
                p_value(pair.p_adjusted),
                "first cheaper" if pair.shown else "not shown",
            ]
            for pair in self.comparisons()
        ]
        return ["pair", "difference", "95% interval", "adjusted p", "verdict"], rows


def _names_of_samples(given: Any) -> tuple[str, ...]:
    """Return the names, once all are of the costs of single examples."""
    if not isinstance(given, Mapping) or not all(
        isinstance(each, CostSample) for each in given.values()
    ):
        raise InputTypeError("samples", "expected a CostSample for each classifier.")
    return tuple(given)


def _names_of_pairs(given: Mapping[Any, Any]) -> tuple[str, ...]:
    """Return the names, once all pairs of them have counts of the same examples."""
    for pair, table in given.items():
        if not isinstance(pair, tuple) or not isinstance(table, PairTable):
            raise InputTypeError(
                "pairs", f"expected counts by pairs of names, got {table!r} by {pair!r}."
            )
    names = tuple(dict.fromkeys(name for pair in given for name in pair))
    missing = set(combinations(names, 2)) - {*given} - {pair[::-1] for pair in given}
    if missing:
        raise InputError(
            "pairs",
            f"expected the counts of every pair; the pair {min(missing)} is missing.",
        )
    sizes = {table.n for table in given.values()}
    # Sums of weights depend on the order in which they are added up.
    if sizes and not np.allclose(list(sizes), max(sizes), rtol=1e-9, atol=0):
        raise InputError(
            "pairs",
            f"the tables have {sorted(sizes)} examples; all pairs must be counted on the same "
            "examples.",
        )
    return names
