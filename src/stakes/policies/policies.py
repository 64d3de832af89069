"""The costs of policies, and the comparisons between them.

A policy is a model with a threshold, a column of decisions as it stands, or a constant prediction.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from stakes._core.labels import Label, as_labels
from stakes._core.typing import Floats
from stakes._core.values import Result, readonly
from stakes.costs import CostMatrix
from stakes.counts import Confusion, GroupedConfusion, JointConfusion
from stakes.errors import ConstantCostWarning, InputError, NotClaimedWarning
from stakes.infer._inference import DEFAULT, Inference, Interval
from stakes.infer._outcomes import Design
from stakes.infer._shares import where_used
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import (
    ALWAYS,
    CostEstimate,
    against_constant,
    class_counts,
    constant_cost,
)
from stakes.infer.family import MANY, MOST_CONSTANTS, Compared, Family, Pair, intervals_of
from stakes.infer.gate import Gate, Volume, checked_margin, gate_against
from stakes.predictions.examples import IN_SAMPLE, JointExamples

MANY_CONSTANTS = 20
"""Maximum number of constant predictions that are estimated; of more, the cheapest by the means."""


AGREE = ("agree", "differ")


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
    chosen, pinned : bool
        Whether the threshold was chosen for the costs, or stated by name.
    reason : str
        Why the threshold was not chosen on the rows but follows from the costs; otherwise empty.
    alike : tuple of Policy
        Other policies that decide every row in the same way, and so are the same policy.

    Examples
    --------
    >>> from stakes import CostMatrix, study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
    >>> policy = study_of([0] * 80 + [1] * 20, models, costs).policies["one"]
    >>> policy.name, policy.model, policy.kind
    ('one', 'one', 'decisions')
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
    chosen: bool = False
    pinned: bool = False
    reason: str = ""
    alike: tuple[Policy, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """The models that decide so."""
        found = [each.model for each in (self, *self.alike) if each.model is not None]
        return tuple(dict.fromkeys(found))

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the policy."""
        return (self.name, *(each.name for each in self.alike))

    @property
    def label(self) -> str:
        """A short name: the model, and how it decides unless by a threshold of its own."""
        if self.kind == "threshold" and self.model is not None and not self.pinned:
            return self.model
        if self.kind == "constant":
            return f"always {self.decision!r}"
        how = {"decisions": "as decided", "minimum_cost": "by minimum expected cost"}
        return f"{self.model} {how[self.kind]}" if self.kind in how else self.name

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
        The policy that savings are measured against; by default the cheapest of the constant
        predictions and of the models as decided, which need no choice on these rows.
    asked : tuple of str
        Policies that must compete.
    notes : tuple of str
        Notes on what could not be done, and what was done instead.
    remarks : tuple of str
        Remarks on the method.
    unjudged : mapping of str to str
        Models without a policy and unreadable columns that may be models, with the reasons.
    barred : tuple of str
        Policies that break a limit and are kept because savings may be measured against them; they
        do not compete.

    Examples
    --------
    >>> from stakes import CostMatrix, study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
    >>> policies = study_of([0] * 80 + [1] * 20, models, costs).policies
    >>> policies.best, policies.ties, policies.reference
    ('one', ('two',), 'one')
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
    remarks: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Policy:
        """Return a policy by its name."""
        try:
            return self._by_name[name]
        except KeyError:
            known = ", ".join(map(repr, self._by_name))
            raise InputError("policy", f"there is no {name!r}; there are {known}.") from None

    @property
    def every(self) -> tuple[Policy, ...]:
        """All policies, ones that decide alike each by itself."""
        return tuple(one for each in self.policies for one in (each, *each.alike))

    @cached_property
    def _made(self) -> dict[Any, Any]:
        """The cache of results."""
        return {}

    @cached_property
    def _by_name(self) -> dict[str, Policy]:
        return {name: each for each in self.policies for name in each.names}

    # Costs.

    def estimate(self, name: str) -> CostEstimate:
        """Return the cost of a policy as judged: on folds that did not choose its threshold.

        Parameters
        ----------
        name : str
            The policy.


        Returns
        -------
        CostEstimate
            The estimate.
        """
        if ("estimate", name) not in self._made:
            self._made["estimate", name] = self._estimate(self[name], self.held_out)
        made: CostEstimate = self._made["estimate", name]
        return made

    def deployed(self, name: str) -> Confusion | GroupedConfusion:
        """Return the table of the decisions of a policy that is deployed, on all rows.

        Everything but the cost is of these: recall, flagged share and precision belong to the
        threshold itself, which folds do not have.

        Parameters
        ----------
        name : str
            The policy.


        Returns
        -------
        Confusion or GroupedConfusion
            The counts.
        """
        policy = self[name]
        if policy.always is None:
            return self.in_sample.single(policy.column)
        return self.table((policy.name,), deployed=True).single(policy.name)

    def table(self, names: Sequence[str], *, deployed: bool = False) -> JointConfusion:
        """Return the decisions of policies in columns of their own names.

        Thresholds that the rows chose decide as judged, on folds, or as deployed, on all rows.

        Parameters
        ----------
        names : sequence of str
            The policies.
        deployed : bool, default False
            Whether thresholds decide as deployed.


        Returns
        -------
        JointConfusion
            The counts.
        """
        source, columns = self.in_sample if deployed else self.held_out, {}
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
        """Return the cost on the rows that chose the threshold, which is too low.

        Parameters
        ----------
        name : str
            The policy.


        Returns
        -------
        float
            The cost per decision.
        """
        policy = self[name]
        if not policy.cross_fitted:
            return self.estimate(name).cost
        return self._estimate(policy, self.in_sample).cost

    def interval(self, name: str, method: str = DEFAULT, **options: Any) -> Interval:
        """Return limits of a policy's cost that hold although its threshold was chosen.

        The upper limit is that of the held-out decisions. The lower limit is the smaller of theirs
        and the in-sample one: thresholds of folds differ from the one to deploy, and cost more.

        Parameters
        ----------
        name : str
            The policy.
        method : str, default "extremal"
            The method, as in ``CostEstimate.interval``.
        **options
            Options of the method.


        Returns
        -------
        Interval
            The limits.
        """
        key = ("interval", name, method, tuple(sorted(options.items())))
        if key not in self._made and (method, options) == (DEFAULT, {}):
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
        found = iter(intervals_of(results, self.confidence))
        for policy, both in zip(self.policies, tables, strict=True):
            held_out, *others = [next(found) for _ in both]
            low = min(each.low for each in (held_out, *others))
            key = ("interval", policy.name, DEFAULT, ())
            self._made[key] = replace(held_out, low=low)

    def _estimate(self, policy: Policy, table: JointConfusion) -> CostEstimate:
        if self.examples is not None:
            if policy.always is not None:
                return CostEstimate(self.examples.always(policy.always), None, self.design)
            column = self._column(policy, table)
            return CostEstimate(self.examples.single(column), None, self.design)
        if policy.always is not None:
            chosen = self.costs.decisions.index(policy.always)
            values = self.costs.values[chosen]
            return constant_cost(self._first, values, self.costs.labels, self.design)
        return CostEstimate(table.single(policy.column), self.costs, self.design)

    def contributions(self, name: str) -> Floats:
        """Return the contribution of each cell ``[decision, class]`` to the cost of all rows.

        Parameters
        ----------
        name : str
            The policy.


        Returns
        -------
        ndarray, shape (decisions, classes)
            The contributions.
        """
        if self.examples is None:
            return CostEstimate(self.deployed(name), self.costs, self.design).contributions()
        policy, examples = self[name], self.examples
        column = self._column(policy, self.in_sample)
        if policy.always is not None:
            column, place = ALWAYS, examples.decisions.index(policy.always)
            examples = examples.with_columns({ALWAYS: np.full(examples.n, place)})
        cells = np.zeros((len(self.costs.decisions), len(self.costs.labels)))
        for at in np.ndindex(cells.shape):
            sample = examples.cell(column, *at)
            cells[at] = CostEstimate(sample, None, self.design).cost
        return cells

    @cached_property
    def _first(self) -> Confusion | GroupedConfusion:
        """A table of decisions, for the counts of the classes."""
        return self.held_out.single(self.held_out.names[0])

    @cached_property
    def class_shares(self) -> Floats:
        """The share of each class in the population that costs are for."""
        counts = where_used(class_counts(self._first), self.design).counts
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

    def chosen_for(self, model: str | None) -> str | None:
        """Return the policy of a model at its chosen threshold; None if there is none.

        Parameters
        ----------
        model : str or None
            The model.


        Returns
        -------
        str or None
            The name of the policy.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
        >>> policies = study_of([0] * 80 + [1] * 20, models, costs).policies
        >>> policies.chosen_for("one") is None
        True
        """
        return self._first_of(lambda each: each.chosen and each.model == model)

    def decided_for(self, model: str | None) -> str | None:
        """Return the policy of a model's decisions as they stand; None if there is none.

        Parameters
        ----------
        model : str or None
            The model.


        Returns
        -------
        str or None
            The name of the policy.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
        >>> policies = study_of([0] * 80 + [1] * 20, models, costs).policies
        >>> policies.decided_for("one")
        'one'
        """
        return self._first_of(lambda each: each.kind == "decisions" and each.model == model)

    def _first_of(self, wanted: Callable[[Policy], bool]) -> str | None:
        """Return the name of the first policy of some kind, also of those that are alike."""
        return next((each.name for each in self.every if wanted(each)), None)

    @property
    def of_models(self) -> list[str]:
        """The policies of models that compete, by a name of each model's own."""
        return [
            one.name
            for each in self.policies
            if each.name in self.competitors
            for one in (each, *each.alike)
            if one.model is not None
        ]

    @cached_property
    def competitors(self) -> tuple[str, ...]:
        """Each model's cheapest policy, the baseline and the constants, the cheapest first."""
        asked = [self[name].name for name in self.asked]
        named = {*self.constants, *asked, self.reference}
        costs = {
            each.name: self.estimate(each.name).cost
            for each in self.policies
            if each.kind != "constant" or each.name in named
        }
        best: dict[str, str] = {}
        for each in self.policies:
            if each.name in (*asked, *self.barred):
                continue
            for model in each.models:
                if each.name in costs and costs[each.name] < costs.get(best.get(model, ""), np.inf):
                    best[model] = each.name
        constants = sorted(self.constants, key=costs.__getitem__)
        chosen = [*best.values(), *asked, self.reference, *constants[:MOST_CONSTANTS]]
        # At equal cost the baseline, which needs no change, goes before a constant, then a model.
        rank = {self.reference: 0} | {name: 1 for name in constants if name != self.reference}
        unique = [name for name in dict.fromkeys(chosen) if name not in self.barred]
        return tuple(sorted(unique, key=lambda name: (costs[name], rank.get(name, 2))))

    @cached_property
    def reference(self) -> str:
        """The baseline: as named, or the cheapest policy that needs no choice on these rows.

        Those are the constant predictions and the models as decided. Ones that keep within the
        limits go first.
        """
        if self.baseline is not None:
            return self[self.baseline].name
        fixed = [
            each.name
            for each in self.policies
            if not (each.cross_fitted or each.pinned or each.kind == "threshold")
            and (each.kind != "constant" or each.name in (*self.constants, *self.barred))
        ]
        within = [name for name in fixed if name not in self.barred]
        every = within or fixed or [self.policies[0].name]
        return min(every, key=lambda name: self.estimate(name).cost)

    @property
    def best(self) -> str:
        """The policy of least cost."""
        return self.competitors[0]

    @cached_property
    def family(self) -> Family:
        """The comparisons of the cheapest with each other competitor, and with the baseline.

        A policy that always decides as a cheaper competitor does is left out.
        """
        members: dict[Label | str, str] = {}
        for name in self.competitors:
            always = self[name].always
            members.setdefault(name if always is None else ("always", always), name)
        barred = tuple(name for name in self.barred if name == self.reference)
        return Family(tuple(members.values()), self._compared, self.confidence, barred)

    @property
    def others(self) -> tuple[str, ...]:
        """The competitors other than the cheapest one, the cheapest first."""
        return self.family.members[1:]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The cheapest against each other competitor and the baseline, the cheapest first."""
        return self.family.pairs

    @property
    def ties(self) -> tuple[str, ...]:
        """The competitors that the cheapest was not shown to cost less than."""
        return self.family.ties

    @property
    def regret(self) -> float:
        """The most that choosing the cheapest costs more per decision than the best of all."""
        return self.family.regret

    def gate(
        self, *, margin: float | None = None, unit: str = "", volume: Volume | None = None
    ) -> Gate:
        """Decide which candidates may replace the baseline.

        Parameters
        ----------
        margin : float, optional
            The largest extra cost per decision allowed over the baseline, as in ``Ranking.gate``.
        unit : str
            The unit of the costs.
        volume : Volume, optional
            The number of decisions that differences are also stated for.

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
            models = {model for name in (*names, self.reference) for model in self[name].models}
            unjudged = {name: why for name, why in unjudged.items() if name in models}
        return gate_against(
            self.family,
            [name for name in names if not {*self[name].models} & {*unjudged}],
            self.reference,
            margin=None if margin is None else checked_margin(margin),
            unit=unit,
            unjudged=unjudged,
            volume=volume,
        )

    @property
    def candidates(self) -> tuple[str, ...]:
        """The policies that a gate judges: those named, or else one of each other model."""
        if self.asked:
            return tuple(name for name in self.asked if name != self.baseline)
        reference = self.reference if self.baseline is None else self.baseline
        own = next(each.model for each in self.every if each.name == reference)
        usual: dict[str, str] = {}
        for each in self.every:
            if each.model is not None and each.model != own:
                usual.setdefault(each.model, each.name)  # decisions as given come first
        return tuple(usual.values())

    def _compared(self, first: str, second: str) -> Compared:
        if ("compared", first, second) not in self._made:
            one, other = self[first], self[second]
            tables = [self.held_out]
            if (one.cross_fitted or other.cross_fitted) and one.name != other.name:
                tables = [self.held_out, self.in_sample]
            found: list[Inference] = [self.difference(first, second, each) for each in tables]
            self._made["compared", first, second] = Compared((first, second), found)
        made: Compared = self._made["compared", first, second]
        return made

    def difference(
        self, first: str, second: str, table: JointConfusion | None = None
    ) -> CostEstimate | CostDifference:
        """Return the difference in cost of two policies, on one of the tables of decisions.

        Against a constant d it is the cost of the other policy at relative costs,
        C(i, j) - C(d, j), which exclude impossible outcomes.

        Parameters
        ----------
        first, second : str
            The policies.
        table : JointConfusion, optional
            The table of decisions; by default the one that policies are judged by.


        Returns
        -------
        CostEstimate or CostDifference
            The cost of the first minus that of the second.
        """
        one, other = self[first], self[second]
        on = self.held_out if table is None else table
        if one.name == other.name:  # they decide every row alike
            nothing = np.zeros(len(self.costs.labels))
            return constant_cost(self._first, nothing, self.costs.labels, self.design)
        if self.examples is not None:
            return self._examples_apart(one, other, on)
        decided = [one.always, other.always]
        if any(each is not None for each in decided):
            model = next((each for each in (one, other) if each.always is None), None)
            counts = self._first if model is None else on.single(model.column)
            return against_constant(counts, self.costs, decided, self.design)
        nested = self._nested(one, other, on)
        if nested is not None:
            return nested
        pair = on.pair(one.column, other.column)
        return CostDifference(pair, self.costs, (first, second), self.design)

    def _nested(self, one: Policy, other: Policy, on: JointConfusion) -> CostEstimate | None:
        """Return the difference of two cuts of one score, which disagree in one way only.

        Only outcomes that can occur may be the extreme ones (STATISTICS §11): the difference is the
        cost of "differ" instead of "agree". None for other pairs, and where folds disagree in the
        other way, too.
        """
        if one.model != other.model or len(one.cuts) != 1 or len(other.cuts) != 1:
            return None
        (high, first), (same, second) = one.cuts[0], other.cuts[0]
        if high != same or one.below != other.below or first == second:
            return None
        lower = other if first > second else one  # flags more rows
        place, below = (self.costs.decisions.index(each) for each in (high, one.below))
        columns = [on.decided[:, on.names.index(each.column)] for each in (one, other)]
        flags = [column == place for column in columns]
        more, less = (flags[1], flags[0]) if lower is other else (flags[0], flags[1])
        if (less & ~more).any():
            return None
        rows = (below, place) if lower is other else (place, below)
        values = self.costs.values[rows[0]] - self.costs.values[rows[1]]
        both = JointConfusion.from_codes(
            on.actual,
            {"pair": (more != less).astype(np.int8)},
            labels=on.labels,
            decisions=AGREE,
            amounts=on.counts,
            squares=on.squares,
            part=on.part,
            parts=on.parts,
        )
        costs = CostMatrix(
            np.stack([np.zeros_like(values), values]),
            rows="predicted",
            labels=self.costs.labels,
            decisions=AGREE,
        )
        design = replace(self.design, impossible=None)
        return CostEstimate(both.single("pair"), costs, design)

    def apart(self, first: str, second: str) -> CostDifference:
        """Return the difference in cost of two policies from paired decisions, as a plan needs it.

        A constant is treated as a model that might also decide otherwise.

        Parameters
        ----------
        first, second : str
            The policies.


        Returns
        -------
        CostDifference
            The cost of the first minus that of the second.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
        >>> policies = study_of([0] * 80 + [1] * 20, models, costs).policies
        >>> round(policies.apart("one", "two").difference, 3)
        -0.02
        """
        found = self.difference(first, second)
        if isinstance(found, CostDifference):
            return found
        pair = self.table((first, second)).pair(first, second)
        return CostDifference(pair, self.costs, (first, second), self.design)

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
