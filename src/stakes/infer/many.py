"""Which of several classifiers is the cheapest."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, Self

import numpy as np

from stakes import _validate
from stakes._frame import data_frame
from stakes._table import html_table, number, text_table
from stakes._warn import warn
from stakes.costs import CostMatrix
from stakes.counts import PairedConfusion
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, RareCostWarning
from stakes.infer.designs import SIMPLE, Design
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.multiplicity import holm, simultaneous_limits
from stakes.infer.run import checked_confidence


@dataclass(frozen=True)
class Pair:
    """One comparison out of several.

    Attributes
    ----------
    first, second : str
        The classifiers.
    difference : float
        The cost of the first minus that of the second.
    low, high : float
        The simultaneous interval: all pairs' intervals are right together.
    p_value, adjusted : float
        The p-value of this comparison alone, and adjusted for their number.
    rejected : bool
        Whether the two differ, by the adjusted p-value.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, PairedConfusion, Ranking
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> paired = PairedConfusion([[[600, 20], [70, 40]], [[30, 10], [30, 200]]], labels=[0, 1])
    >>> pair, = Ranking.from_pairs({("tree", "forest"): paired}, costs).pairwise()
    >>> pair.first, pair.second, pair.difference
    ('forest', 'tree', -0.26)
    >>> round(pair.low, 3), round(pair.high, 3), pair.rejected
    (-0.399, -0.121, True)
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    rejected: bool


@dataclass(frozen=True, repr=False)
class Ranking:
    """Several classifiers, compared pair by pair.

    Made by `compare_many`, or by `from_pairs` from counts.

    Notes
    -----
    p-values are adjusted by Holm's method: the k-th smallest of m is multiplied by m + 1 - k, and
    is no less than those before it. Simultaneous intervals are d ± t* s_d, with t* the quantile of
    the largest t of all pairs, whose correlations come from their joint counts; Bonferroni's
    where an outcome that matters is rare, or the design is not simple.

    References
    ----------
    Margineantu, D. D. & Dietterich, T. G. (2000). Bootstrap methods for the cost-sensitive
    evaluation of classifiers. *ICML 2000*, section 3.2.

    Holm, S. (1979). A simple sequentially rejective multiple test procedure. *Scandinavian Journal
    of Statistics* 6, 65-70.

    Hothorn, T., Bretz, F. & Westfall, P. (2008). Simultaneous inference in general parametric
    models. *Biometrical Journal* 50, 346-363.

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

    pairs: Mapping[tuple[str, str], PairedConfusion]
    costs: CostMatrix
    joint: JointConfusion | None = None
    unit: str = ""
    design: Design = SIMPLE
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = tuple(dict.fromkeys(name for pair in self.pairs for name in pair))
        wanted = set(combinations(names, 2))
        for pair in self.pairs:
            wanted -= {pair, pair[::-1]}
        if wanted or len(names) < 2:  # noqa: PLR2004 - nothing to compare
            missing = f"the pair {min(wanted)} is missing" if wanted else f"got {len(names)}"
            raise InputError(
                f"pairs: expected the counts of every pair of at least two classifiers; {missing}."
            )
        sizes = {table.n for table in self.pairs.values()}
        if len(sizes) > 1:
            raise InputError(
                f"pairs: the tables have {sorted(sizes)} examples; all pairs must be counted on "
                "the same examples."
            )
        object.__setattr__(self, "names", names)

    @classmethod
    def from_pairs(
        cls, pairs: Mapping[tuple[str, str], PairedConfusion], costs: CostMatrix, unit: str = ""
    ) -> Self:
        """Make a ranking from the joint counts of every pair, wherever they were counted.

        Parameters
        ----------
        pairs : mapping
            From pairs of names to the joint counts of these two classifiers; all pairs, on the same
            examples.
        costs : CostMatrix
            What each decision costs for each class.
        unit : str, optional
            The unit of the costs.

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
        forest is the cheapest of 2: 0.4 each, with 95 % confidence.
        """
        return cls(dict(pairs), costs, unit=unit)

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
        if (first, second) in self.pairs:
            table = self.pairs[first, second]
        else:
            table = self.pairs[second, first].swapped()
        return CostDifference(table, self.costs, (first, second), self.design, self.unit)

    def estimates(self) -> dict[str, CostEstimate]:
        """Return what each classifier costs, the cheapest first.

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
        result: dict[str, CostEstimate] = {}
        for (first, second), table in self.pairs.items():
            for name, counts in ((first, table.first), (second, table.second)):
                if name not in result:
                    result[name] = CostEstimate(counts, self.costs, self.design, self.unit)
        return dict(sorted(result.items(), key=lambda item: item[1].cost))

    def pairwise(
        self,
        adjust: str = "holm",
        *,
        confidence: float = 0.95,
        rng: np.random.Generator | int | None = 0,
    ) -> list[Pair]:
        """Compare every pair, by the test that suits it.

        Parameters
        ----------
        adjust : {"holm", "none"}
            How p-values are adjusted for the number of comparisons.
        confidence : float, default 0.95
            One minus the probability of any wrong rejection, and that all intervals are right.
        rng : Generator or seed, default 0
            For the simultaneous intervals; the default always gives the same.

        Returns
        -------
        list of Pair
            The comparisons; of each pair the cheaper one is first.

        Notes
        -----
        Of m p-values p_1 ≤ … ≤ p_m, Holm's method makes max{(m + 1 - i) p_i : i ≤ k} of the k-th, 1
        at most.

        References
        ----------
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. *Scandinavian
        Journal of Statistics* 6, 65-70.

        Hothorn, T., Bretz, F. & Westfall, P. (2008). Simultaneous inference in general parametric
        models. *Biometrical Journal* 50, 346-363.

        Examples
        --------
        >>> from stakes import CostMatrix, PairedConfusion, Ranking
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> paired = PairedConfusion([[[600, 20], [70, 40]], [[30, 10], [30, 200]]], labels=[0, 1])
        >>> ranking = Ranking.from_pairs({("tree", "forest"): paired}, costs)
        >>> [(pair.first, pair.second, pair.rejected) for pair in ranking.pairwise()]
        [('forest', 'tree', True)]
        """
        _validate.choice(adjust, "adjust", ("holm", "none"))
        compared = [self.difference(*pair) for pair in combinations(self.estimates(), 2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RareCostWarning)
            rare = sum(each.default_method() != "exact" for each in compared)
        if rare:
            warn(
                f"in {rare} of {len(compared)} comparisons the outcomes that matter most were seen "
                "too rarely: they use the extremal interval, and the simultaneous intervals are "
                "Bonferroni's.",
                RareCostWarning,
            )
        return self._compared(compared, adjust, confidence, rng)

    def _compared(
        self, compared: list[CostDifference], adjust: str, confidence: float, rng: Any
    ) -> list[Pair]:
        alpha = checked_confidence(confidence)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RareCostWarning)
            tests = [each.test(confidence=confidence) for each in compared]
            limits = simultaneous_limits(compared, self.costs, self.pairs, alpha, rng)
        p_values = np.array([test.p_value for test in tests])
        adjusted = holm(p_values) if adjust == "holm" else p_values
        return [
            Pair(*each.names, each.difference, low, high, float(p), float(q), bool(q <= alpha))
            for each, (low, high), p, q in zip(compared, limits, p_values, adjusted, strict=True)
        ]

    def best_set(self, confidence: float = 0.95) -> list[str]:
        """Return the classifiers that no other was shown to beat, the cheapest first.

        Parameters
        ----------
        confidence : float, default 0.95
            One minus the probability of any wrong rejection.

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
        beaten = {pair.second for pair in self._quietly(confidence) if pair.rejected}
        return [name for name in self.estimates() if name not in beaten]

    def _quietly(self, confidence: float = 0.95) -> list[Pair]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RareCostWarning)
            return self.pairwise(confidence=confidence)

    def summary(self, confidence: float = 0.95) -> str:
        """Say which classifier is the cheapest, or which are tied.

        Parameters
        ----------
        confidence : float, default 0.95
            One minus the probability of any wrong rejection.

        Returns
        -------
        str
            A sentence.
        """
        estimates = self.estimates()
        best = self.best_set(confidence)
        unit = f" {self.unit}" if self.unit else ""
        sure = f"{100 * confidence:.4g} % confidence"
        if len(best) == 1:
            cost = number(estimates[best[0]].cost)
            return f"{best[0]} is the cheapest of {len(estimates)}: {cost}{unit} each, with {sure}."
        tied = ", ".join(f"{name} ({number(estimates[name].cost)}{unit} each)" for name in best)
        return f"A tie with {sure} between {len(best)} of {len(estimates)}: {tied}."

    def frame(self, **options: Any) -> Any:
        """Return the comparisons as a pandas data frame.

        Parameters
        ----------
        **options
            As in `pairwise`.

        Returns
        -------
        DataFrame
            With a row for each pair and the attributes of `Pair` as columns.
        """
        return data_frame([asdict(pair) for pair in self.pairwise(**options)])

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as plain numbers and lists.

        Returns
        -------
        dict
            The costs, the pairs and the best set.
        """
        return {
            "estimates": {name: each.cost for name, each in self.estimates().items()},
            "pairs": [asdict(pair) for pair in self._quietly()],
            "best_set": self.best_set(),
        }

    def __repr__(self) -> str:
        return f"{self.summary()}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption=self.summary())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [
                f"{pair.first} - {pair.second}",
                number(pair.difference),
                f"{number(pair.low)} to {number(pair.high)}",
                f"{pair.adjusted:.2g}",
                f"{pair.first} is cheaper" if pair.rejected else "a tie",
            ]
            for pair in self._quietly()
        ]
        return ["pair", "difference", "simultaneous interval", "adjusted p", "verdict"], rows
