"""Rank several classifiers by their costs, with comparisons of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import listing
from stakes._core.optional import data_frame
from stakes._core.text import html_table, listed, number, percent, text_table, with_unit
from stakes._core.typing import Floats
from stakes._core.values import ByValue
from stakes.costs import CostMatrix
from stakes.counts import CostSample, GroupedConfusion, PairedConfusion
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, InputTypeError, RareCostWarning, warn
from stakes.infer._inference import USUAL, TestResult, outcomes_behind, quiet_interval
from stakes.infer._outcomes import SIMPLE, CountTable, Design
from stakes.infer.difference import CostDifference, quiet_test
from stakes.infer.estimate import CostEstimate
from stakes.infer.gate import Gate, Pair, bonferroni, checked_margin, holm, judged, max_t, p_values

ONE_SAMPLE = ("simple", "examples")
"""The designs in which all examples are independent draws from one population."""

MOST_COMPARED = 12
"""The largest number of models of which a displayed ranking compares all pairs."""

PairTable = PairedConfusion | GroupedConfusion | JointConfusion | CostSample
"""Joint counts of two classifiers' decisions on the same examples, or their cost differences."""


@dataclass(frozen=True, repr=False, eq=False)
class Ranking(ByValue):
    """Several classifiers, compared pair by pair.

    Made by `compare_many`, or from counts by `from_joint` and `from_pairs`, and from costs of
    single examples by `from_samples`.

    Notes
    -----
    p-values are adjusted by Holm's method: the k-th smallest of m is multiplied by m + 1 - k, and
    is no less than those before it. Simultaneous intervals are d ± t* s_d, with t* the quantile of
    the largest t of all pairs, whose correlations come from their joint counts; Bonferroni's
    where an outcome that matters is rare, or the design is not simple: with groups, strata,
    weights, class priors or a finite population each interval is that of `compare` at the
    confidence 1 - α/m.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.2.

    Holm (1979).

    Hothorn et al. (2008).

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

    pairs: Mapping[tuple[str, str], PairTable]
    costs: CostMatrix | None
    unit: str = ""
    design: Design = SIMPLE
    singles: Mapping[str, CountTable] | None = None
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        validate.text(self.unit, "unit")
        validate.expect(self.design, Design, "design", "Design(class_priors=…)")
        given: Mapping[Any, Any] = self.pairs
        for pair, table in given.items():
            if not isinstance(pair, tuple) or not isinstance(table, PairTable):
                raise InputTypeError(
                    "pairs", f"expected counts by pairs of names, got {table!r} by {pair!r}."
                )
        names = tuple(dict.fromkeys(name for pair in self.pairs for name in pair))
        wanted = set(combinations(names, 2))
        for pair in self.pairs:
            wanted -= {pair, pair[::-1]}
        if wanted or len(names) < 2:  # noqa: PLR2004 - nothing to compare
            missing = f"the pair {min(wanted)} is missing" if wanted else f"got {len(names)}"
            raise InputError(
                "pairs",
                f"expected the counts of every pair of at least two classifiers; {missing}.",
            )
        sizes = {table.n for table in self.pairs.values()}
        # Sums of weights depend on the order in which they are added up.
        if not np.allclose(list(sizes), max(sizes), rtol=1e-9, atol=0):
            raise InputError(
                "pairs",
                f"the tables have {sorted(sizes)} examples; all pairs must be counted on the same "
                "examples.",
            )
        self._set(
            names=names,
            pairs=dict(self.pairs),
            singles=None if self.singles is None else dict(self.singles),
        )
        if set(self._tables()) != set(names):
            raise InputError("singles", f"expected those of {listing(names)}.")
        _ = self._estimates[names[0]]  # raises if the costs, or the design, do not fit

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
        forest is the cheapest of 2: 0.4 each, with 95% confidence.
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
        eager is the cheapest of 2: 0.1 USD each, with 95% confidence.
        """
        return cls(joint.pairs(), costs, unit, design)

    @classmethod
    def from_samples(
        cls,
        samples: Mapping[str, CostSample],
        spread: float | None = None,
        unit: str = "",
        design: Design = SIMPLE,
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

        Returns
        -------
        Ranking
            The ranking.

        Examples
        --------
        >>> from stakes import CostSample, Ranking
        >>> samples = {"a": CostSample([0, 5, 0, 5] * 50), "b": CostSample([0, 0, 0, 5] * 50)}
        >>> print(Ranking.from_samples(samples, unit="USD").summary())
        b is the cheapest of 2: 1.25 USD each, with 95% confidence.
        """
        if not samples or not all(isinstance(each, CostSample) for each in samples.values()):
            raise InputTypeError("samples", "expected a CostSample for each classifier.")
        if spread is None:
            ends = [(each.low, each.high) for each in samples.values()]
            spread = max(high for _, high in ends) - min(low for low, _ in ends)
        pairs: dict[tuple[str, str], PairTable] = {
            (first, second): samples[first].minus(samples[second], spread)
            for first, second in combinations(samples, 2)
        }
        return cls(pairs, None, unit, design, dict(samples))

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
        if (first, second) not in self._differences:
            if (first, second) in self.pairs:
                table = self.pairs[first, second]
            else:
                table = self.pairs[second, first].swapped()
            self._differences[first, second] = CostDifference(
                table, self.costs, (first, second), self.design, self.unit
            )
        return self._differences[first, second]

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
        result: dict[str, CostEstimate] = {}
        for name, table in self._tables().items():
            result[name] = CostEstimate(table, self.costs, self.design, self.unit)
        return dict(sorted(result.items(), key=lambda item: item[1].cost))

    def _tables(self) -> Mapping[str, CountTable]:
        """Return the counts, or the costs of single examples, of each model."""
        if self.singles is not None:
            return self.singles
        tables: dict[str, CountTable] = {}
        for (first, second), table in self.pairs.items():
            if isinstance(table, CostSample):
                raise InputError("singles", "expected the costs of each classifier, got None.")
            if first not in tables:
                tables[first] = table.first
            if second not in tables:
                tables[second] = table.second
        return tables

    def pairwise(
        self,
        adjust: str = "holm",
        *,
        confidence: float = 0.95,
        rng: np.random.Generator | int | None = 0,
    ) -> list[Pair]:
        """Compare every pair by its default test.

        Parameters
        ----------
        adjust : {"holm", "none"}
            How p-values are adjusted for the number of comparisons.
        confidence : float, default 0.95
            One minus the family-wise error rate; also the simultaneous level of all intervals.
        rng : Generator or seed, default 0
            The source of randomness for the simultaneous intervals; the default is reproducible.

        Returns
        -------
        list of Pair
            The comparisons; the cheaper one of each pair is first.

        Notes
        -----
        For m p-values p_1 ≤ … ≤ p_m, the k-th adjusted by Holm's method is
        max{(m + 1 - i) p_i : i ≤ k}, at most 1.

        References
        ----------
        Holm (1979).

        Hothorn et al. (2008).

        Examples
        --------
        >>> from stakes import CostMatrix, PairedConfusion, Ranking
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> paired = PairedConfusion([[[600, 20], [70, 40]], [[30, 10], [30, 200]]], labels=[0, 1])
        >>> ranking = Ranking.from_pairs({("tree", "forest"): paired}, costs)
        >>> [(pair.first, pair.second, pair.rejected) for pair in ranking.pairwise()]
        [('forest', 'tree', True)]
        """
        found = self._pairwise(adjust, confidence, rng)
        _warn_of_rare(self._compared)
        return found

    def _pairwise(self, adjust: str, confidence: float, rng: Any) -> list[Pair]:
        """Compare every pair without a warning."""
        validate.choice(adjust, "adjust", ("holm", "none"))
        alpha = validate.alpha(confidence)
        compared = self._compared
        # Normal theory needs every extreme outcome often enough, and independent examples.
        usual = self.design == SIMPLE and all(
            each.choice.name == USUAL and outcomes_behind(each).design in ONE_SAMPLE
            for each in compared
        )
        limits = max_t(compared, alpha, rng) if usual else bonferroni(compared, alpha)
        return judged(compared, self._p_values, limits, alpha, adjust)

    def against(self, baseline: str, *, confidence: float = 0.95) -> list[Pair]:
        """Compare each classifier with one of them.

        Parameters
        ----------
        baseline : str
            The classifier that the others are compared with.
        confidence : float, default 0.95
            One minus the family-wise error rate; also the simultaneous level of all intervals,
            which are Bonferroni's.

        Returns
        -------
        list of Pair
            The comparisons, the cheapest first; the baseline is the second of each pair.

        Notes
        -----
        p-values are adjusted by Holm's method, as in `pairwise`, for the number of classifiers that
        are compared with the baseline.

        References
        ----------
        Holm (1979).

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> ranking = compare_many([0] * 600 + [1] * 400, {
        ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
        ...     "new": [0] * 500 + [1] * 50 + [0] * 70 + [1] * 380,
        ...     "newer": [0] * 520 + [1] * 50 + [0] * 60 + [1] * 370}, costs)
        >>> [(pair.first, round(pair.difference, 2), pair.rejected)
        ...  for pair in ranking.against("old")]
        [('new', -0.8, True), ('newer', -0.7, True)]
        """
        self._check_name(baseline, "baseline")
        alpha = validate.alpha(confidence)
        others = [name for name in self.estimates() if name != baseline]
        compared = [self.difference(name, baseline) for name in others]
        for each in compared:
            each.choice.warn()
        return judged(compared, p_values(compared), bonferroni(compared, alpha), alpha)

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
        new costs less than 0.5 more than old: shown at 95% confidence (p = 1e-12, exact).
        """
        margin = None if margin is None else checked_margin(margin)
        pairs = self.against(baseline, confidence=confidence)
        tests: list[TestResult] = []
        if margin is not None:
            compared = [self.difference(pair.first, baseline) for pair in pairs]
            tests = [
                quiet_test(each, alternative="less", margin=margin, confidence=confidence)
                for each in compared  # `against` has warned of rare outcomes
            ]
        return Gate(baseline, float(confidence), tuple(pairs), margin, tuple(tests), self.unit)

    def _check_name(self, name: Any, argument: str) -> None:
        if name not in self.names:
            raise InputError(
                argument, f"there is no model {name!r}; there are {listing(self.names)}."
            )

    @cached_property
    def _differences(self) -> dict[tuple[str, str], CostDifference]:
        """Cache of the comparisons by names."""
        return {}

    @cached_property
    def _compared(self) -> list[CostDifference]:
        """The comparisons of all pairs, the cheaper one first."""
        return [self.difference(*pair) for pair in combinations(self._estimates, 2)]

    @cached_property
    def _p_values(self) -> Floats:
        """The unadjusted p-values of `_compared`, which are the same at any confidence."""
        return p_values(self._compared)

    def best_set(self, confidence: float = 0.95) -> list[str]:
        """Return the classifiers that no other was shown to beat, the cheapest first.

        Parameters
        ----------
        confidence : float, default 0.95
            One minus the family-wise error rate.

        Returns
        -------
        list of str
            Their names.

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
        alpha, adjusted = validate.alpha(confidence), holm(self._p_values)
        beaten = {
            each.names[1] for each, p in zip(self._compared, adjusted, strict=True) if p <= alpha
        }
        return [name for name in self._estimates if name not in beaten]

    def summary(self, confidence: float = 0.95) -> str:
        """Summarise which classifier is the cheapest, or which cannot be told apart.

        Parameters
        ----------
        confidence : float, default 0.95
            One minus the family-wise error rate.

        Returns
        -------
        str
            A sentence.
        """
        best, sure = self.best_set(confidence), f"{percent(confidence)} confidence"
        costs = {
            name: f"{with_unit(each.cost, self.unit)} each"
            for name, each in self.estimates().items()
        }
        if len(best) == 1:
            return f"{best[0]} is the cheapest of {len(costs)}: {costs[best[0]]}, with {sure}."
        tied = listed([f"{name} ({costs[name]})" for name in best])
        return f"{tied} cannot be told apart at {sure} ({len(best)} of {len(costs)})."

    def to_frame(
        self,
        adjust: str = "holm",
        *,
        confidence: float = 0.95,
        rng: np.random.Generator | int | None = 0,
    ) -> Any:
        """Return the comparisons as a pandas data frame, without a warning of rare outcomes.

        Parameters
        ----------
        adjust, confidence, rng
            As in `pairwise`.

        Returns
        -------
        DataFrame
            With a row for each pair and the attributes of `Pair` as columns.
        """
        return data_frame([asdict(pair) for pair in self._pairwise(adjust, confidence, rng)])

    def to_dict(
        self, *, confidence: float = 0.95, rng: np.random.Generator | int | None = 0
    ) -> dict[str, Any]:
        """Return the ranking as plain numbers and lists.

        Parameters
        ----------
        confidence, rng
            As in `pairwise`.

        Returns
        -------
        dict
            The costs, the pairs and the best set.
        """
        return {
            "estimates": {name: each.cost for name, each in self.estimates().items()},
            "pairs": [asdict(pair) for pair in self._pairwise("holm", confidence, rng)],
            "best_set": self.best_set(confidence),
        }

    def __repr__(self) -> str:
        caption, header, rows = self._table()
        return f"{caption}\n{text_table(header, rows)}"

    def _repr_html_(self) -> str:
        caption, header, rows = self._table()
        return html_table(header, rows, caption=caption)

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        """Return the table of pairs; with many models that of costs, as many tests are slow."""
        if len(self.names) > MOST_COMPARED:
            caption = (
                f"{len(self.names)} models, {len(self.pairs):,} pairs. What each costs, with 95% "
                "intervals; summary() shows which cannot be told apart, pairwise() compares all."
            )
            costs = [
                [name, number(each.cost), f"{number(low)} to {number(high)}"]
                for name, each in self.estimates().items()
                for low, high in [quiet_interval(each, 0.95)]
            ]
            return caption, ["model", "cost per decision", "interval"], costs
        rows = [
            [
                f"{pair.first} - {pair.second}",
                number(pair.difference),
                f"{number(pair.low)} to {number(pair.high)}",
                f"{pair.adjusted:.2g}",
                "first cheaper" if pair.rejected else "not shown",
            ]
            for pair in self._pairwise("holm", 0.95, 0)
        ]
        header = ["pair", "difference", "simultaneous interval", "adjusted p", "verdict"]
        return self.summary(), header, rows


def _warn_of_rare(compared: Sequence[CostDifference]) -> None:
    """Warn once for all comparisons in which an extreme outcome was observed too rarely."""
    rare = sum(each.choice.rare is not None for each in compared)  # not for the design alone
    if rare:
        warn(
            f"in {rare} of {len(compared)} comparisons the outcomes that matter most were seen "
            "too rarely: they use the extremal interval, and the simultaneous intervals are "
            "Bonferroni's.",
            RareCostWarning,
        )
