"""The costs of policies, and the comparisons between them.

A policy is a model with a threshold, a column of decisions as it stands, or a constant prediction.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from stakes._core.labels import Label, as_labels
from stakes._core.typing import Floats
from stakes._core.values import Result, readonly
from stakes.costs import CostMatrix
from stakes.counts import Confusion, GroupedConfusion, JointConfusion
from stakes.errors import ConstantCostWarning, InputError, NotClaimedWarning
from stakes.infer._inference import (
    Interval,
    TestResult,
)
from stakes.infer._outcomes import Design
from stakes.infer._shares import where_used
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.gate import Gate, Pair, checked_margin
from stakes.policies._compared import (
    MANY,
    Compared,
    PolicyPair,
    adjusted,
    find_limits,
    find_p_values,
    intervals_of,
    level,
)
from stakes.predictions.examples import IN_SAMPLE, JointExamples

MOST_CONSTANTS = 5
"""Maximum number of constant predictions that compete; of more, the cheapest."""

MANY_CONSTANTS = 20
"""Maximum number of constant predictions that are estimated; of more, the cheapest by the means."""


@dataclass(frozen=True, eq=False)
class Policy(Result):
    """A way to decide: a model at a threshold, decisions as given, or a constant prediction.

    Attributes
    ----------
    name : str
        Unique: ``hgb@0.043`` for a model at a threshold, ``hgb`` for decisions as given, ``always
        malignant`` for a constant prediction.
    model : str or None
        The model; None for constants.
    kind : str
        "threshold", "decisions", "minimum_cost" or "constant".
    threshold : float or None
        The threshold to deploy: scores at or above it lead to the decision of `cuts`. None where
        there is not just one.
    cuts : tuple of (decision, float)
        Each decision with the lowest score that leads to it, highest first.
    below : label or None
        The decision for lower scores.
    decision : label or None
        The constant prediction.
    cross_fitted : bool
        Whether its cost is judged on folds that did not choose the threshold.
    range_ : pair of float, or None
        The thresholds not shown to cost more than the chosen one, from the lowest to the highest.
    column : str
        Its column in the tables of decisions; empty for constants.
    """

    name: str
    model: str | None
    kind: str
    threshold: float | None = None
    cuts: tuple[tuple[Label, float], ...] = ()
    below: Label | None = None
    decision: Label | None = None
    cross_fitted: bool = False
    range_: tuple[float, float] | None = None
    column: str = ""

    @property
    def always(self) -> Label | None:
        """The only decision of a constant prediction or an infinite threshold; None otherwise."""
        if self.kind == "constant":
            return self.decision
        if len(self.cuts) == 1 and np.isinf(self.cuts[0][1]):
            return self.below if self.cuts[0][1] > 0 else self.cuts[0][0]
        return None


@dataclass(frozen=True, eq=False)
class Policies(Result):
    """The policies of a study, their costs, and the comparisons between them.

    Attributes
    ----------
    policies : tuple of Policy
        All policies.
    held_out, in_sample : JointConfusion
        The decisions of the policies that have a column. Thresholds that the rows chose decide on
        folds that did not choose them in `held_out`, and on all rows in `in_sample`.
    costs : CostMatrix
        The costs of decisions.
    design : Design
        The class priors and the population.
    confidence : float
        Confidence level of intervals and tests.
    examples : JointExamples or None
        The single rows, where each has costs of its own.
    baseline : str or None
        The policy that savings are measured against; by default the first model as decided, or
        else the cheapest constant.
    asked : tuple of str
        Policies that must compete.
    notes : tuple of str
        Notes on what could not be done, and what was done instead.
    unjudged : mapping of str to str
        Models without a policy and unreadable columns that may be models, with the reasons.
    barred : tuple of str
        The baseline, if it breaks a limit: savings are measured against it, but it does not
        compete.
    """

    policies: tuple[Policy, ...]
    held_out: JointConfusion
    in_sample: JointConfusion
    costs: CostMatrix
    design: Design
    confidence: float = 0.95
    examples: JointExamples | None = None
    baseline: str | None = None
    asked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unjudged: Mapping[str, str] = field(default_factory=dict)
    barred: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Policy:
        """Return a policy by its name."""
        try:
            return self._by_name[name]
        except KeyError:
            known = ", ".join(map(repr, self._by_name))
            raise InputError("policy", f"there is no {name!r}; there are {known}.") from None

    @cached_property
    def _made(self) -> dict[Any, Any]:
        """The cache of results."""
        return {}

    @cached_property
    def _by_name(self) -> dict[str, Policy]:
        return {each.name: each for each in self.policies}

    # Costs.

    def estimate(self, name: str) -> CostEstimate:
        """Return the cost of a policy as judged: on folds that did not choose its threshold."""
        if ("estimate", name) not in self._made:
            self._made["estimate", name] = self._estimate(self[name], self.held_out)
        made: CostEstimate = self._made["estimate", name]
        return made

    def single(self, name: str) -> Confusion | GroupedConfusion:
        """Return the table of a policy's decisions, as judged."""
        policy = self[name]
        if policy.always is None:
            return self.held_out.single(policy.column)
        return self.table((name,)).single(name)

    def table(self, names: Sequence[str]) -> JointConfusion:
        """Return the decisions of policies, as judged, in columns of their own names."""
        source, columns = self.held_out, {}
        for name in map(str, as_labels(names, "names")):
            policy = self[name]
            if policy.always is not None:
                place = source.decisions.index(policy.always)
                columns[name] = np.full(len(source.actual), place)
            else:
                columns[name] = source.decided[:, source.names.index(policy.column)]
        return JointConfusion.from_codes(
            source.actual,
            columns,
            labels=source.labels,
            decisions=source.decisions,
            amounts=source.counts,
            squares=source.squares,
            part=source.part,
            parts=source.parts,
        )

    def in_sample_cost(self, name: str) -> float:
        """Return the cost on the rows that chose the threshold, which is too low."""
        policy = self[name]
        if not policy.cross_fitted:
            return self.estimate(name).cost
        return self._estimate(policy, self.in_sample).cost

    def interval(self, name: str, method: str = "auto", **options: Any) -> Interval:
        """Return limits of a policy's cost that hold although its threshold was chosen.

        The upper limit is that of the held-out decisions. The lower limit is the smaller of theirs
        and the in-sample one: thresholds of folds differ from the one to deploy, and cost more.
        """
        key = ("interval", name, method, tuple(sorted(options.items())))
        if key not in self._made and (method, options) == ("auto", {}):
            self._find_intervals()
        if key not in self._made:
            policy = self[name]
            tables = [self.held_out, self.in_sample] if policy.cross_fitted else [self.held_out]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConstantCostWarning)
                warnings.simplefilter("ignore", NotClaimedWarning)
                held_out, *others = (
                    self._estimate(policy, table).interval(self.confidence, method, **options)
                    for table in tables
                )
            low = min(each.low for each in (held_out, *others))
            self._made[key] = replace(held_out, low=low)
        made: Interval = self._made[key]
        return made

    def _find_intervals(self) -> None:
        """Find the limits of all policies together, where they are many."""
        if len(self.policies) < MANY:
            return
        tables = [
            [self.held_out, self.in_sample] if each.cross_fitted else [self.held_out]
            for each in self.policies
        ]
        pairs = zip(self.policies, tables, strict=True)
        results = [self._estimate(each, table) for each, both in pairs for table in both]
        found = iter(intervals_of(results, [1 - self.confidence] * len(results)))
        for policy, both in zip(self.policies, tables, strict=True):
            held_out, *others = [next(found) for _ in both]
            low = min(each.low for each in (held_out, *others))
            key = ("interval", policy.name, "auto", ())
            self._made[key] = replace(held_out, low=low, confidence=self.confidence)

    def _estimate(self, policy: Policy, table: JointConfusion) -> CostEstimate:
        if self.examples is not None:
            if policy.always is not None:
                return CostEstimate(self.examples.always(policy.always), None, self.design)
            column = self._column(policy, table)
            return CostEstimate(self.examples.single(column), None, self.design)
        if policy.always is not None:
            chosen = self.costs.decisions.index(policy.always)
            return CostEstimate(
                self._classes, self._one_row(self.costs.values[chosen]), self.design
            )
        return CostEstimate(table.single(policy.column), self.costs, self.design)

    def contributions(self, name: str) -> Floats:
        """Return the contribution of each cell ``[decision, class]`` to a policy's cost."""
        if self.examples is None:
            policy = self[name]
            if policy.always is None:
                return self.estimate(name).contributions()
            return CostEstimate(self.single(name), self.costs, self.design).contributions()
        policy = self[name]
        column = policy.column if policy.always is None else f"{policy.column}{IN_SAMPLE}"
        cells = np.zeros((len(self.costs.decisions), len(self.costs.labels)))
        for at in np.ndindex(cells.shape):
            sample = self.examples.cell(column, *at)
            cells[at] = CostEstimate(sample, None, self.design).cost
        return cells

    @cached_property
    def _classes(self) -> Confusion | GroupedConfusion:
        """The classes of the rows, as a table of the only possible decision."""
        table = self.held_out.single(self.held_out.names[0])
        summed = table.counts.sum(axis=-2, keepdims=True)
        squares = None if table.squares is None else table.squares.sum(axis=-2, keepdims=True)
        if isinstance(table, GroupedConfusion):
            return table.with_counts(summed, (ALWAYS,), squares)
        return Confusion(summed, table.labels, (ALWAYS,), squares=squares)

    def _one_row(self, values: Any) -> CostMatrix:
        return CostMatrix(
            np.atleast_2d(values), rows="predicted", labels=self.costs.labels, decisions=(ALWAYS,)
        )

    @cached_property
    def class_shares(self) -> Floats:
        """The share of each class in the population that costs are for."""
        counts = where_used(self._classes, self.design).counts
        return readonly(counts.sum(axis=0) / counts.sum())

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """The constant predictions that may compete; of very many, only the cheapest."""
        found = [
            each
            for each in self.policies
            if each.kind == "constant" and each.name not in self.barred
        ]
        if self.examples is None and len(found) > MANY_CONSTANTS:
            rough = dict(
                zip(self.costs.decisions, self.costs.values @ self.class_shares, strict=True)
            )
            found = sorted(found, key=lambda each: rough[each.decision])[:MANY_CONSTANTS]
        return tuple(each.name for each in found)

    # Comparisons.

    @cached_property
    def competitors(self) -> tuple[str, ...]:
        """Each model's cheapest policy, the baseline and the constants, the cheapest first."""
        named = {*self.constants, *self.asked, self.reference}
        costs = {
            each.name: self.estimate(each.name).cost
            for each in self.policies
            if each.kind != "constant" or each.name in named
        }
        best: dict[str, str] = {}
        for each in self.policies:
            if each.model is not None and each.name not in (*self.asked, *self.barred):
                other = best.get(each.model)
                if other is None or costs[each.name] < costs[other]:
                    best[each.model] = each.name
        constants = sorted(self.constants, key=costs.__getitem__)
        chosen = [*best.values(), *self.asked, self.reference, *constants[:MOST_CONSTANTS]]
        # At equal cost the baseline, which needs no change, goes before a constant, then a model.
        rank = {self.reference: 0} | {name: 1 for name in constants if name != self.reference}
        unique = [name for name in dict.fromkeys(chosen) if name not in self.barred]
        return tuple(sorted(unique, key=lambda name: (costs[name], rank.get(name, 2))))

    @cached_property
    def reference(self) -> str:
        """The baseline: as named, the first model as decided, or the cheapest constant."""
        if self.baseline is not None:
            return self[self.baseline].name
        decided = [each.name for each in self.policies if each.kind == "decisions"]
        if decided:
            return decided[0]
        if not self.constants:  # none keeps within the limits
            return self.policies[0].name
        return min(self.constants, key=lambda name: self.estimate(name).cost)

    @property
    def best(self) -> str:
        """The policy of least cost."""
        return self.competitors[0]

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The competitors other than the cheapest one, without duplicates, the cheapest first.

        A policy that always decides as a constant prediction does is a duplicate of it.
        """
        best, *others = self.competitors
        seen, found = {self[best].always}, []
        for name in others:
            always = self[name].always
            if always is None or always not in seen:
                found.append(name)
            seen.add(always)
        return tuple(found)

    @cached_property
    def pairs(self) -> tuple[PolicyPair, ...]:
        """The cheapest against each other competitor and the baseline, the cheapest first.

        The comparisons are judged step by step in the order of their p-values. Each is adjusted for
        the policies that are left: those shown to cost more no longer compete.
        """
        best, others = self.best, (*self.others, *self.barred)
        compared = {name: self._compared(best, name) for name in others}
        alpha, left = 1 - self.confidence, 1 + len(others)
        if left >= MANY:
            self._find_pairs(compared, alpha)
        largest, shown, found = 0.0, True, {}
        for name in sorted(others, key=lambda each: compared[each].p_value):
            each = compared[name]
            largest = max(largest, adjusted(each.p_value, left))
            pair = each.judged(level(alpha, left), largest, shown=shown and largest <= alpha)
            shown, found[name] = pair.shown, pair
            left -= shown
        return tuple(found[name] for name in others)

    def _find_pairs(self, compared: Mapping[str, Compared], alpha: float) -> None:
        """Find p-values and limits together, as if limits never contradicted p-values."""
        find_p_values([*compared.values()])
        left, largest, levels = 1 + len(compared), 0.0, []
        ordered = sorted(compared.values(), key=lambda each: each.p_value)
        for each in ordered:
            largest = max(largest, adjusted(each.p_value, left))
            levels.append(level(alpha, left))
            left -= largest <= alpha
        find_limits(ordered, levels)

    @property
    def ties(self) -> tuple[str, ...]:
        """The competitors that the cheapest was not shown to cost less than."""
        unshown = (each.second for each in self.pairs if not each.shown)
        return tuple(name for name in unshown if name not in self.barred)

    def prepare_alone(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Compute many comparisons together, for later calls of `alone`."""
        if len(pairs) >= MANY:
            compared = [self._compared(*pair) for pair in pairs]
            find_p_values(compared)
            find_limits(compared, [1 - self.confidence] * len(compared))

    def alone(self, first: str, second: str) -> PolicyPair:
        """Compare two policies without adjustment for the number of policies."""
        each = self._compared(first, second)
        alpha = 1 - self.confidence
        return each.judged(alpha, each.p_value, shown=each.p_value <= alpha)

    def described(self, pair: Pair) -> PolicyPair:
        """Return a comparison of a gate with its method, and a warning where outcomes are rare.

        Parameters
        ----------
        pair : Pair
            A comparison of the gate.

        Returns
        -------
        PolicyPair
            The same comparison.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
        >>> policies = study_of([0] * 80 + [1] * 20, models, costs, baseline="one").policies
        >>> policies.described(policies.gate().pairs[0]).first
        'two'
        """
        each = self._compared(pair.first, pair.second)
        return PolicyPair(
            first=pair.first,
            second=pair.second,
            difference=pair.difference,
            low=pair.low,
            high=pair.high,
            p_value=pair.p_value,
            adjusted=pair.adjusted,
            shown=pair.rejected,
            method=each.method,
            warning=each.warning,
        )

    def gate(self, *, margin: float | None = None, unit: str = "") -> Gate:
        """Decide which candidates may replace the baseline.

        Parameters
        ----------
        margin : float, optional
            The largest extra cost per decision allowed over the baseline, as in ``Ranking.gate``.
        unit : str
            The unit of the costs.

        Returns
        -------
        Gate
            The gate of the named candidates. Without names, the candidates are each other model's
            decisions as they stand or, if it has none, those by its threshold; models and columns
            that could not be judged are in `unjudged`, and then the gate does not pass.
        """
        names = self.candidates
        if not names and self.asked:
            raise InputError("candidates", f"{self.reference!r} is the baseline. Name another.")
        if not names and not self.unjudged:
            raise InputError("baseline", f"there is no model to compare with {self.reference!r}.")
        unjudged = self.unjudged
        if self.asked:  # only named models need a judgement, but one may lack rows
            models = {self[name].model for name in (*names, self.reference)}
            unjudged = {name: why for name, why in unjudged.items() if name in models}
        compared = [
            self._compared(name, self.reference)
            for name in names
            if self[name].model not in unjudged
        ]
        compared.sort(key=lambda each: each.p_value)
        alpha, left, largest = 1 - self.confidence, len(compared), 0.0
        rejected, pairs = True, []
        for each in compared:  # Holm's method
            largest = max(largest, min(1.0, each.p_value * left))
            pair = each.judged(alpha / left, largest, shown=rejected and largest <= alpha)
            rejected = pair.shown
            left -= rejected
            pairs.append(Pair(*astuple(pair)[:8]))
        pairs.sort(key=lambda pair: pair.difference)
        tests: list[TestResult] = []
        if margin is not None:
            by_name = {each.names[0]: each for each in compared}
            most = checked_margin(margin)
            tests = [by_name[pair.first].no_more_than(most, self.confidence) for pair in pairs]
        return Gate(
            self.reference, self.confidence, tuple(pairs), margin, tuple(tests), unit, unjudged
        )

    @property
    def candidates(self) -> tuple[str, ...]:
        """The policies that a gate judges: those named, or else one of each other model."""
        if self.asked:
            return tuple(name for name in self.asked if name != self.reference)
        usual: dict[str, str] = {}
        for each in self.policies:
            if each.model is not None and each.model != self[self.reference].model:
                usual.setdefault(each.model, each.name)  # decisions as given come first
        return tuple(usual.values())

    def _compared(self, first: str, second: str) -> Compared:
        if ("compared", first, second) not in self._made:
            chosen = self[first].cross_fitted or self[second].cross_fitted
            tables = [self.held_out, self.in_sample] if chosen else [self.held_out]
            found = [self.difference(first, second, table) for table in tables]
            self._made["compared", first, second] = Compared((first, second), found)
        made: Compared = self._made["compared", first, second]
        return made

    def difference(
        self, first: str, second: str, table: JointConfusion | None = None
    ) -> CostEstimate | CostDifference:
        """Return the difference in cost of two policies, on one of the tables of decisions.

        Against a constant d it is the cost of the other policy at relative costs,
        C(i, j) - C(d, j), which exclude impossible outcomes.
        """
        one, other = self[first], self[second]
        on = self.held_out if table is None else table
        if self.examples is not None:
            return self._examples_apart(one, other, on)
        if one.always is not None and other.always is not None:
            rows = [self.costs.decisions.index(each.always) for each in (one, other)]
            values = self.costs.values[rows[0]] - self.costs.values[rows[1]]
            return CostEstimate(self._classes, self._one_row(values), self.design)
        if one.always is not None or other.always is not None:
            return self._against_constant(one, other, on)
        pair = on.pair(one.column, other.column)
        return CostDifference(pair, self.costs, (first, second), self.design)

    def apart(self, first: str, second: str) -> CostDifference:
        """Return the difference in cost of two policies from paired decisions, as a plan needs it.

        A constant is treated as a model that might also decide otherwise.
        """
        found = self.difference(first, second)
        if isinstance(found, CostDifference):
            return found
        pair = self.table((first, second)).pair(first, second)
        return CostDifference(pair, self.costs, (first, second), self.design)

    def _against_constant(self, one: Policy, other: Policy, table: JointConfusion) -> CostEstimate:
        constant, model, sign = (one, other, -1) if other.always is None else (other, one, 1)
        values = self.costs.values
        relative = sign * (values - values[self.costs.decisions.index(constant.always)])
        matrix = CostMatrix(
            relative + 0.0,
            rows="predicted",
            labels=self.costs.labels,
            decisions=self.costs.decisions,
        )
        return CostEstimate(table.single(model.column), matrix, self.design)

    def _column(self, policy: Policy, table: JointConfusion) -> str:
        """Return the column of a policy's decisions among the examples."""
        on_all = policy.cross_fitted and table is self.in_sample
        return f"{policy.column}{IN_SAMPLE}" if on_all else policy.column

    def _examples_apart(self, one: Policy, other: Policy, table: JointConfusion) -> CostDifference:
        examples = self.examples
        if examples is None:
            raise InputError("costs", "there are no costs of single rows.")
        samples, spread = examples.samples
        both = [
            examples.always(each.always)
            if each.always is not None
            else samples[self._column(each, table)]
            for each in (one, other)
        ]
        if one.always is not None or other.always is not None:  # constants may cost more
            spread = max(spread, float(np.ptp(examples.costs, axis=1).max()))
        return CostDifference(
            both[0].minus(both[1], spread), None, (one.name, other.name), self.design
        )


ALWAYS = "always"
