"""Predictions of several models on the same examples, and what their mistakes cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label, LabelMatcher, Labels, as_labels, as_meant, listing
from stakes._core.text import listed, percent
from stakes._core.typing import Floats
from stakes._core.values import Result, name_arguments
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import (
    CostSample,
    GroupedConfusion,
    JointConfusion,
    PairedScoreCounts,
    ScoreCounts,
)
from stakes.counts._parts import Parts
from stakes.curves import CostCurve, CostCurveDifference, CostLine
from stakes.curves._discordant import represented_pair
from stakes.curves._rates import represented, represented_table
from stakes.errors import InputError, InputTypeError
from stakes.infer._design import cell_shares, checked_priors
from stakes.infer._outcomes import SIMPLE, Design
from stakes.infer.estimate import CostEstimate
from stakes.policies._assemble import Asked, Counted, policies_of
from stakes.policies._choose import Choosing
from stakes.policies.policies import Policies
from stakes.policies.verdict import Stated, Verdict, verdict_of
from stakes.predictions import (
    ArrayTable,
    Columns,
    DesignColumns,
    JointExamples,
    JointScores,
    Roles,
    Table,
    Tally,
    count_rows,
    find_roles,
)
from stakes.predictions.classes import (
    TWO,
    among,
    classes_of,
    costs_of_mistakes,
    least_cost_threshold,
    positive_class,
    why_undecidable,
)
from stakes.predictions.examples import GivenCosts, RowCosts, row_costs
from stakes.predictions.files import Progress, read_predictions
from stakes.predictions.roles import NO_DESIGN, Model, actual_column

__all__ = ["Study", "study_of"]

Costs = CostMatrix | ExampleCosts | Mapping[str, Any]

CROSS_FITTED, NOTHING_ASKED = Choosing(), Asked()

DECISION_ADVICE = "Correct it; or, if the column is no model, name those that are with models=."


@dataclass(frozen=True, eq=False)
class Study(Result):
    """Counts of the decisions and scores of several models, and what mistakes cost.

    Made by `from_table` or `from_counts`; nothing here sees the rows again.

    Attributes
    ----------
    source : str
        The name of the file.
    roles : Roles
        The parts that its columns play.
    joint : JointConfusion
        The decisions of all models that have any.
    costs : CostMatrix
        What decisions cost.
    pos_label : label or None
        The positive class; None with more than two classes.
    joint_scores : JointScores or None
        The scores of the models that have any.
    decided_from : mapping
        The score from which on the positive class was decided, for models that had scores alone.
    notes : tuple of str
        What was understood, in sentences.
    confidence : float
        Of all intervals and tests.
    design : Design
        The class priors and the population, where they are not those of the examples.
    class_rows : tuple of int
        How many rows each class has, whatever they weigh.
    examples : JointExamples or None
        The rows one by one, where costs are those of single rows; `costs` are then their means.
    choosing : Choosing
        How thresholds are chosen.
    asked : Asked
        The baseline and the candidates, where such were named.
    merged_from : tuple of str
        The checksums of the count files that these counts were added up from, if they were.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> study = study_of(
    ...     [0] * 80 + [1] * 20,
    ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
    >>> study.n, study.names
    (100, ('shy', 'eager'))
    >>> study.verdict().use
    'eager'
    """

    source: str
    roles: Roles
    joint: JointConfusion
    costs: CostMatrix
    pos_label: Label | None = None
    joint_scores: JointScores | None = None
    decided_from: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    confidence: float = 0.95
    design: Design = SIMPLE
    class_rows: tuple[int, ...] = ()
    examples: JointExamples | None = None
    choosing: Choosing = CROSS_FITTED
    asked: Asked = NOTHING_ASKED
    merged_from: tuple[str, ...] = ()

    @classmethod
    def from_table(
        cls,
        table: Table,
        costs: Costs,
        *,
        actual: str | None = None,
        models: Sequence[str] = (),
        scores: Sequence[str] = (),
        pos_label: Any = None,
        confidence: float = 0.95,
        class_priors: Mapping[Any, float] | None = None,
        design: DesignColumns = NO_DESIGN,
        population: Any = None,
        impossible: Any = None,
        undecided: bool = False,
        with_scores: bool | Literal["if they fit"] = True,
        choosing: Choosing = CROSS_FITTED,
        asked: Asked = NOTHING_ASKED,
        roles: Roles | None = None,
    ) -> Self:
        """Find the parts that columns play, and count.

        Parameters
        ----------
        table : Table
            The rows, in any of the forms of `stakes.predictions`.
        costs : CostMatrix, ExampleCosts or mapping
            What decisions cost; or the costs of mistakes, as ``CostMatrix.from_errors`` takes
            them, for the two classes of the table. In place of a number, the name of the column
            that has it.
        actual, models, scores : str and sequences of str, optional
            The columns; by default as their names and values suggest.
        pos_label : optional
            The positive class of two; by default 1, True, or the one whose misses cost more.
        confidence : float, default 0.95
            Of all intervals and tests.
        class_priors : mapping, optional
            The share of each class where the models are used.
        design : DesignColumns, optional
            The columns of groups, weights and strata, which are never guessed.
        population : mapping or number, optional
            From each stratum to its share or its number of rows, as in `stakes.evaluate`.
        impossible : sequence of (decision, class), optional
            Cells that cannot occur.
        undecided : bool, default False
            Whether models may lack decisions, where scores are no probabilities to decide by.
        with_scores : bool or "if they fit", default True
            Whether scores are counted. Where they are, thresholds are chosen for models that have
            them; those that have no decisions need not have probabilities then.
        choosing : Choosing, optional
            How thresholds are chosen.
        asked : Asked, optional
            The baseline and the candidates.
        roles : Roles, optional
            The parts that columns play, if they are known.

        Returns
        -------
        Study
            The study.
        """
        validate.alpha(confidence)
        _check_rows(table, pos_label)
        models, scores = _names(models, "models"), _names(scores, "scores")
        if not isinstance(costs, CostMatrix):
            actual = actual_column(table, actual)
        matrix, positive, each = _priced(table, costs, str(actual), pos_label)
        if roles is None:
            named = Columns(actual, models, scores, design=_with_amounts(design, costs))
            roles = find_roles(table, named, matrix, positive)
        roles = replace(
            roles, models=tuple(_of_two(model, matrix, positive) for model in roles.models)
        )
        may = undecided or (bool(with_scores) and positive is not None)
        least = _by_least_cost(table, roles, matrix, positive, each)
        factors = _class_factors(table, roles, matrix, class_priors, least)
        decided_from: dict[str, float] = {}
        if each is None or each.for_both_classes or not may:
            decided_from = _thresholds(table, roles, matrix, positive, factors, undecided=may)
        counts = count_rows(
            table,
            roles,
            matrix,
            positive,
            decided_from,
            with_scores=with_scores,
            row_costs=each,
            class_factors=factors,
            by_least_cost=least,
            advice="" if models or scores else DECISION_ADVICE,
        )
        known: dict[str, Any] = {"source": table.source, "roles": roles, "costs": matrix}
        asking: dict[str, Any] = {"choosing": choosing, "asked": asked, "confidence": confidence}
        about = _design(counts, class_priors, population, impossible)
        return cls._made(counts, positive=positive, design=about, **known, **asking)

    @classmethod
    def from_counts(
        cls,
        counts: Tally,
        source: str,
        costs: Costs | None,
        *,
        pos_label: Any = None,
        confidence: float = 0.95,
        class_priors: Mapping[Any, float] | None = None,
        population: Any = None,
        impossible: Any = None,
        undecided: bool = False,
        choosing: Choosing = CROSS_FITTED,
        asked: Asked = NOTHING_ASKED,
    ) -> Self:
        """Take rows that were counted before.

        Parameters
        ----------
        counts : Tally
            What was counted.
        source : str
            The name of the file, for errors.
        costs : CostMatrix, mapping or None
            What decisions cost; None where the counts have the costs of single rows.
        pos_label, confidence, class_priors, population, impossible, undecided, choosing, asked
            As in `from_table`.

        Returns
        -------
        Study
            The study.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> from stakes import study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> study = study_of(
        ...     [0] * 80 + [1] * 20,
        ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
        >>> from stakes.study import Study
        >>> others = {"false_positive": 1, "false_negative": 50}
        >>> again = Study.from_counts(study.counts(), "the same rows", others)
        >>> again.estimate("eager").cost, again.estimate("shy").cost
        (0.3, 5.0)
        """
        validate.alpha(confidence)
        _check_positive(pos_label)
        matrix = _costs_for(counts, source, costs, pos_label)
        counts = counts.renamed(matrix, source)
        positive = positive_class(matrix, pos_label)
        if positive is None:  # more classes or decisions than two, for which scores say nothing
            counts = replace(counts, scores=None)
        elif counts.scores is not None:
            positive = counts.scores.pos_label
            if pos_label is not None and among(pos_label, matrix.labels, "pos_label") != positive:
                raise InputError(
                    "pos_label",
                    f"the scores in {source} were counted as those of {positive!r}, got "
                    f"{pos_label!r}.",
                )
        lacking = [each.name for each in counts.models if each.name not in counts.joint.names]
        if lacking and counts.scores is None and not undecided:
            raise InputError(
                source,
                f"the model {lacking[0]!r} was counted without decisions, because its scores are "
                "no probabilities.",
                "Choose a threshold first.",
                code="not_probabilities",
            )
        return cls._made(
            counts,
            source=source,
            roles=Roles(
                counts.actual,
                counts.models,
                (),
                guessed=False,
                design=counts.design,
                doubtful=counts.doubtful,
            ),
            costs=matrix,
            positive=positive,
            confidence=confidence,
            design=_design(counts, class_priors, population, impossible),
            choosing=choosing,
            asked=asked,
        )

    @classmethod
    def _made(
        cls,
        counts: Tally,
        *,
        source: str,
        roles: Roles,
        costs: CostMatrix,
        positive: Label | None,
        confidence: float,
        design: Design,
        choosing: Choosing,
        asked: Asked,
    ) -> Self:
        notes = list(roles.in_words())
        notes += [
            f"The model {name!r} has no decisions; its scores are taken as probabilities of "
            f"{positive!r}, and {positive!r} is decided from {cut:.4g} on, where that costs less."
            for name, cut in counts.decided_from.items()
            if counts.scores is None
        ]
        examples = counts.examples
        if examples is not None:
            costs = _mean_matrix(examples, costs)
            examples = replace(examples, impossible=design.impossible)
            notes += [
                f"The model {model.name!r} has no decisions; its scores are taken as "
                f"probabilities of {positive!r}, and each row is decided by what costs less there."
                for model in counts.models
                if model.decisions is None and model.name in counts.joint.names
            ]
        if counts.scores is not None:
            notes.append(f"Scores are of the class {positive!r}: the higher, the more likely.")
        notes += counts.notes
        return cls(
            source=source,
            roles=roles,
            joint=counts.joint,
            costs=costs,
            pos_label=positive,
            joint_scores=counts.scores,
            decided_from=counts.decided_from,
            notes=tuple(notes),
            confidence=float(confidence),
            design=design if examples is None else replace(design, impossible=None),
            class_rows=counts.class_rows,
            examples=examples,
            choosing=choosing,
            asked=asked,
            merged_from=counts.merged_from,
        )

    @property
    def n(self) -> int:
        """The number of examples."""
        return sum(self.class_rows) if self.class_rows else int(self.joint.n)

    @property
    def plain(self) -> bool:
        """Whether rows are independent, of equal weight and cost, and not from several strata.

        Then their counts tell all, with class priors where these are known.
        """
        apart = self.joint.parts is not None or self.joint.weighted or self.examples is not None
        return not apart and self.design == Design(self.design.class_priors)

    @property
    def names(self) -> tuple[str, ...]:
        """The models that have decisions."""
        return tuple(map(str, self.joint.names))

    def counts(self) -> Tally:
        """Return what was counted.

        Returns
        -------
        Tally
            The counts, which `from_counts` and count files take.
        """
        scores = None if self.joint_scores is None else self.joint_scores.compressed()
        roles = self.roles
        return Tally(
            roles.actual,
            roles.models,
            self.joint,
            scores,
            self.decided_from,
            roles.design,
            self.class_rows,
            self.examples,
            doubtful=roles.doubtful,
            merged_from=self.merged_from,
        )

    def estimate(self, name: str, unit: str = "") -> CostEstimate:
        """Return what a model costs.

        Parameters
        ----------
        name : str
            The model.
        unit : str, optional
            The unit of the costs.

        Returns
        -------
        CostEstimate
            The estimate, whose ``interval`` takes a confidence level and a method.
        """
        if self.examples is not None:
            return self._estimate_of(self.examples.single(name), unit)
        return CostEstimate(self.joint.single(name), self.costs, self.design, unit)

    def _estimate_of(self, sample: CostSample, unit: str = "") -> CostEstimate:
        return CostEstimate(sample, None, self.design, unit)

    def ideal_cost(self) -> float | None:
        """Return what the cheapest decision for each row costs; None if classes tell it.

        Returns
        -------
        float or None
            The cost per decision.
        """
        return None if self.examples is None else self._estimate_of(self.examples.ideal()).cost

    @cached_property
    def policies(self) -> Policies:
        """The policies of the models, and the constant predictions."""
        counted = Counted(
            self.roles.models,
            self.joint,
            self.joint_scores,
            self.costs,
            self.design,
            self.decided_from,
            self.examples,
            self.pos_label,
            self.class_rows,
            self.roles.doubtful,
        )
        return policies_of(counted, self.choosing, self.asked, self.confidence)

    def verdict(
        self,
        *,
        unit: str = "",
        volume: float | None = None,
        per: str = "year",
        seed: int = 0,
        method: str = "auto",
    ) -> Verdict:
        """Return which policy to use, what it saves, and what would settle it.

        Parameters
        ----------
        unit : str, optional
            The unit of the costs.
        volume : float, optional
            How many decisions are taken in a period.
        per : str, default "year"
            The period.
        seed : int, default 0
            Of the plan for a larger test set.
        method : str, default "auto"
            The method of the interval of the policy's cost, as in ``CostEstimate.interval``.

        Returns
        -------
        Verdict
            The policy of least cost, its saving against the baseline, the policies that it cannot
            be told apart from, and how many examples would tell.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> study = study_of(
        ...     [0] * 80 + [1] * 20,
        ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
        >>> verdict = study.verdict()
        >>> verdict.use, verdict.baseline, verdict.saving.shown
        ('eager', 'shy', True)
        """
        stated = Stated(unit, volume, per, seed, method)
        return verdict_of(self.policies, self.n, stated, tuple(filter(None, self._context())))

    def _context(self) -> tuple[str, str]:
        """Say why the confidence is not claimed, and which population costs are for, if so."""
        caution = self.policies.estimate(self.policies.best).caution
        if caution:
            caution = f"{caution[0].upper()}{caution[1:]}."
        return caution, self.population()

    def population(self) -> str:
        """Say which population the costs are for; nothing where it is that of the examples.

        Returns
        -------
        str
            A sentence.
        """
        priors = self.class_priors()
        if priors is None:
            return ""
        shares = listed([f"{percent(share)} {label!r}" for label, share in priors.items()])
        same = np.allclose(list(priors.values()), self.joint.class_counts() / self.joint.n)
        return f"Costs are for a population with {shares}, {'' if same else 'not '}as in the data."

    def class_priors(self) -> dict[Label, float] | None:
        """Return the share of each class in the target population; None for that of the examples.

        Returns
        -------
        dict or None
            From each class to its share.
        """
        priors, labels = self.design.class_priors, self.joint.labels
        if priors is None:
            return None
        return dict(zip(labels, checked_priors(priors, labels).tolist(), strict=True))

    def prevalence(self) -> float:
        """Return the share of the positive class where the models are used.

        Returns
        -------
        float
            The share.
        """
        if self.names:
            table = self.joint.single(self.names[0])
        else:
            table = next(iter(self.scores.values())).confusion_at(np.inf)
        shares = cell_shares(table, self.design).sum(axis=0)
        return float(shares[table.labels.index(self.pos_label)])

    @cached_property
    def scores(self) -> dict[str, ScoreCounts]:
        """The score tables of the models that have scores."""
        scores = self.joint_scores
        return {} if scores is None else {name: scores.single(name) for name in scores.names}

    @property
    def both_classes(self) -> bool:
        """Whether there are examples of two classes."""
        return bool((self.joint.class_counts() > 0).sum() == TWO)

    def curves(self) -> dict[str, CostCurve]:
        """Return the cost curves of the models that have scores; none with one class only.

        Returns
        -------
        dict
            From each model to its CostCurve.
        """
        if not self.both_classes or len(self.costs.decisions) != TWO:
            return {}
        return {name: CostCurve(self.scores_where_used(name), name) for name in self.scores}

    def scores_where_used(self, name: str) -> ScoreCounts:
        """Return the scores of a model with the weights that strata have in use.

        Parameters
        ----------
        name : str
            The model.

        Returns
        -------
        ScoreCounts
            The score table.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> study = study_of([0, 1, 0, 1], {}, costs, y_score={"new": [0.1, 0.9, 0.4, 0.6]})
        >>> study.scores_where_used("new").thresholds.tolist()
        [0.9, 0.6, 0.4, 0.1]
        """
        if name not in tuple(self.scores):
            raise InputError("name", f"there are no scores of {name!r}.")
        counts = self.scores[name]
        stratified = counts.parts is not None and counts.parts.strata is not None
        return represented(counts, self.design) if stratified else counts

    def where_thresholds_are_used(self) -> dict[str, Any]:
        """Return the class priors and the population as `stakes.choose_threshold` takes them.

        Returns
        -------
        dict
            Its arguments; classes that are strata have priors.
        """
        if self.design.strata is None:
            return {"class_priors": self.class_priors(), "population": self.design.population}
        share = self.prevalence()
        shares = (share if label == self.pos_label else 1 - share for label in self.joint.labels)
        return {"class_priors": dict(zip(self.joint.labels, shares, strict=True))}

    def decisions_where_used(self, *names: str) -> Any:
        """Return the decisions of one model, or of two, with the weights that strata have in use.

        Parameters
        ----------
        *names : str
            The models.

        Returns
        -------
        Confusion, PairedConfusion or GroupedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> study = study_of([0, 1, 0, 1], {"new": [0, 1, 1, 1]}, costs)
        >>> study.decisions_where_used("new").counts.tolist()
        [[1, 0], [1, 2]]
        """
        if not 1 <= len(names) <= TWO or not {*map(str, names)} <= set(self.joint.names):
            raise InputError("names", f"expected one or two of {listing(self.joint.names)}.")
        table = self.joint.pair(*names) if len(names) == TWO else self.joint.single(*names)
        if isinstance(table, GroupedConfusion):
            return represented_table(table, self.design)
        return table

    def lines(self) -> dict[str, CostLine]:
        """Return the cost lines of the models that have decisions and no scores.

        Returns
        -------
        dict
            From each model to its CostLine.
        """
        two = len(self.costs.decisions) == TWO
        if not self.both_classes or self.pos_label is None or not two:
            return {}
        return {
            name: CostLine.from_counts(
                self.decisions_where_used(name), pos_label=self.pos_label, name=name
            )
            for name in self.names
            if name not in self.scores
        }

    def paired_scores(self, first: str, second: str) -> PairedScoreCounts:
        """Return the joint score table of two models.

        Parameters
        ----------
        first, second : str
            The models.

        Returns
        -------
        PairedScoreCounts
            The table.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> scores = {"one": [0.1, 0.8, 0.3, 0.6], "two": [0.2, 0.4, 0.4, 0.9]}
        >>> study = study_of([0, 1, 0, 1], {}, costs, y_score=scores)
        >>> study.paired_scores("one", "two")
        PairedScoreCounts: 2 × 1, 2 × 0, 4 and 3 distinct scores
        """
        scores = self.joint_scores
        missing = [n for n in (first, second) if scores is None or n not in scores.names]
        if scores is None or missing:
            raise InputError(self.source, f"the model {missing[0]!r} has no scores.")
        return scores.pair(first, second)

    def curve_difference(self, first: str, second: str) -> CostCurveDifference:
        """Return the difference of the cost curves of two models that both have scores, or not.

        Parameters
        ----------
        first, second : str
            The models.

        Returns
        -------
        CostCurveDifference
            The difference.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> scores = {"one": [0.1, 0.8, 0.3, 0.6], "two": [0.2, 0.4, 0.4, 0.9]}
        >>> study = study_of([0, 1, 0, 1], {}, costs, y_score=scores)
        >>> study.curve_difference("one", "two").names
        ('one', 'two')
        """
        names = (first, second)
        if any(name in self.scores for name in names):
            pair = represented_pair(self.paired_scores(*names), self.design)
            return CostCurveDifference(pair, names)
        return CostCurveDifference(self.decisions_where_used(*names), names, self.pos_label)


def study_of(
    y_true: Any,
    y_pred: Mapping[str, Any],
    costs: Costs,
    *,
    y_score: Mapping[str, Any] | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    sample_weight: Any = None,
    groups: Any = None,
    strata: Any = None,
    population: Any = None,
    class_priors: Mapping[Any, float] | None = None,
    impossible: Any = None,
    baseline: str | None = None,
    rng: int = 0,
    source: str = "the predictions",
) -> Study:
    """Count the predictions of several models, to report on them.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        The actual class of each example.
    y_pred : mapping of str to array_like
        The decisions of each model, by its name.
    costs : CostMatrix, ExampleCosts or mapping
        What decisions cost; or the costs of mistakes, as ``CostMatrix.from_errors`` takes them,
        each a number or an array with an entry for each example.
    y_score : mapping of str to array_like, optional
        The scores of models: of the positive class of two, or the probabilities of all classes, a
        column each in the order of the costs' labels. A model may have decisions, scores or both.
    pos_label : optional
        The positive class of two; by default 1, True, or the one whose misses cost more.
    confidence : float, default 0.95
        Of all intervals and tests.
    sample_weight, groups, strata, population, class_priors, impossible
        How the examples were drawn, as in `stakes.evaluate`; in any combination.
    baseline : str, optional
        The policy or model that savings are against: ``old``, ``old@0.31``, ``old@best`` or
        ``always 0``; by default the first model as decided, or else the cheapest constant.
    rng : int, default 0
        The seed by which rows are dealt into folds.
    source : str
        What the predictions are called in the report.

    Returns
    -------
    Study
        The counts, which `findings` and ``write_report`` take.

    Notes
    -----
    Labels are compared as Python compares them, as in `stakes.evaluate`: 1, 1.0 and True are one
    label, 1 and "1" are two. Only in files may text stand for a number.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.findings import findings
    >>> from stakes import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> actual = [0] * 80 + [1] * 20
    >>> models = {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}
    >>> found = findings(study_of(actual, models, costs))
    >>> found.verdict.text.split(":")[0]
    'Use eager as decided'
    """
    if baseline is not None and not isinstance(baseline, str):
        raise InputTypeError("baseline", f"expected the name of a policy, got {baseline!r}.")
    design = {"groups": groups, "strata": strata, "sample_weight": sample_weight}
    if isinstance(costs, Mapping):
        amounts = {name: each for name, each in costs.items() if np.ndim(each)}
        design |= amounts
        costs = {**costs, **{name: name for name in amounts}}
    table = ArrayTable(y_true, y_pred, {} if y_score is None else y_score, source, design)
    return Study.from_table(
        table,
        costs,
        actual=table.roles.actual,
        pos_label=pos_label,
        confidence=confidence,
        class_priors=class_priors,
        population=population,
        impossible=impossible,
        choosing=Choosing(seed=validate.as_size(rng, "rng", most=math.inf)),
        asked=Asked(baseline),
        roles=table.roles,
    )


def study_of_files(
    paths: Sequence[str],
    costs: Costs | None,
    columns: Columns,
    progress: Progress,
    *,
    with_scores: bool | Literal["if they fit"] = True,
    undecided: bool = False,
    **options: Any,
) -> Study:
    """Read and count predictions.

    Parameters
    ----------
    paths : sequence of str
        A count file; or tables, of which several are joined on the name of an example. A table may
        be in many files: those of a folder, or of a pattern. "-" is standard input.
    costs : CostMatrix, mapping or None
        What decisions cost; as in `Study.from_table` and `Study.from_counts`.
    columns : Columns
        The columns that were named.
    progress : Progress
        Is told how far it is.
    with_scores : bool or "if they fit", default True
        Whether scores are counted. Unless they must be, a large file is read in batches.
    undecided : bool, default False
        Whether models may lack decisions, where scores are no probabilities to decide by.
    **options
        As `Study.from_table` takes them: pos_label, confidence, class_priors, population.

    Returns
    -------
    Study
        The study.
    """
    found = read_predictions(paths, columns, progress, in_batches=with_scores is not True)
    if isinstance(found, tuple):
        return Study.from_counts(*found, costs, undecided=undecided, **options)
    if costs is None:
        raise _no_costs(found.source)
    return Study.from_table(
        found,
        costs,
        actual=columns.actual,
        models=columns.models,
        scores=columns.scores,
        design=columns.design,
        undecided=undecided,
        with_scores=with_scores,
        **options,
    )


def _of_two(model: Model, costs: CostMatrix, positive: Label | None) -> Model:
    """Return a model with the scores of the positive class, where it has the probabilities of two.

    Probabilities must be those of all classes.
    """
    if not model.probabilities:
        return model
    if len(model.probabilities) != len(costs.labels):
        raise InputError(
            f"y_score[{model.name!r}]",
            f"expected a column for each of the {len(costs.labels)} classes "
            f"{listing(costs.labels)}, got {len(model.probabilities)}.",
        )
    if positive is None:
        return model
    column = model.probabilities[costs.labels.index(positive)]
    return replace(model, scores=column, probabilities=())


def _class_factors(
    table: Table,
    roles: Roles,
    costs: CostMatrix,
    class_priors: Mapping[Any, float] | None,
    least: Sequence[str],
) -> Floats | None:
    """Return how many times as frequent classes are in the target population as in the rows."""
    by_scores = [each for each in roles.models if each.probabilities or each.decisions is None]
    if class_priors is None or not (by_scores or least):
        return None
    shares = checked_priors(_by_name(class_priors, costs.labels, "class_priors"), costs.labels)
    matcher = LabelMatcher(costs.labels, table.cells)
    counts = np.zeros(len(costs.labels))
    for batch in table.batches([roles.actual]):
        codes = batch.codes(roles.actual, matcher, "classes")
        counts += np.bincount(codes, minlength=len(costs.labels))
    return np.asarray(shares / np.maximum(counts / counts.sum(), 1e-300))


def _no_costs(source: str) -> InputTypeError:
    return InputTypeError(
        "costs", f"what do mistakes cost? {source} does not tell.", "Give a cost matrix."
    )


def _priced(
    table: Table, costs: Costs, actual: str, pos_label: Any
) -> tuple[CostMatrix, Label | None, RowCosts | None]:
    """Return the cost matrix, the positive class, and the costs of single rows if there are any.

    The matrix then has the right labels, and its costs are not used.
    """
    if isinstance(costs, CostMatrix):
        return costs, positive_class(costs, pos_label), None
    if not isinstance(costs, ExampleCosts | Mapping):
        raise InputTypeError(
            "costs",
            "expected a CostMatrix, ExampleCosts or a mapping of the costs of mistakes, got a "
            f"{type(costs).__name__}.",
        )
    labels = classes_of(table, actual)
    if isinstance(costs, ExampleCosts):
        nothing = np.zeros((len(costs.decisions), len(labels)))
        matrix = CostMatrix(nothing, rows="predicted", labels=labels, decisions=costs.decisions)
        return matrix, positive_class(matrix, pos_label), GivenCosts(costs)
    _check_mistakes(costs)
    where = f"{table.source}, column {actual!r}"
    single = {name: 1.0 if isinstance(each, str) else each for name, each in costs.items()}
    matrix = costs_of_mistakes(labels, single, pos_label, where)
    positive = positive_class(matrix, pos_label)
    return matrix, positive, row_costs(costs, positive)


def _with_amounts(design: DesignColumns, costs: Costs) -> DesignColumns:
    """Return the columns of the design with those of the costs."""
    if not isinstance(costs, Mapping):
        return design
    return replace(design, **{name: each for name, each in costs.items() if isinstance(each, str)})


def _costs_for(counts: Tally, source: str, costs: Costs | None, pos_label: Any) -> CostMatrix:
    """Return the cost matrix that counts are studied with."""
    if counts.examples is not None:
        if costs is not None:
            raise InputTypeError(
                "costs", f"{source} has the costs of each row.", "Leave other costs out."
            )
        return _mean_matrix(counts.examples, counts.joint)
    if costs is None:
        raise _no_costs(source)
    if isinstance(costs, CostMatrix):
        return costs
    if isinstance(costs, ExampleCosts) or any(isinstance(each, str) for each in costs.values()):
        raise InputTypeError(
            "costs",
            f"costs of single rows are counted with the rows, which {source} no longer has.",
            "Give the predictions themselves.",
        )
    _check_mistakes(costs)
    known = None if counts.scores is None else counts.scores.pos_label
    given = known if pos_label is None else pos_label
    return costs_of_mistakes(as_meant(counts.joint.labels), costs, given, source)


def _check_rows(table: Any, pos_label: Any) -> None:
    if not hasattr(table, "batches"):
        raise InputTypeError("table", f"expected rows, got a {type(table).__name__}.")
    _check_positive(pos_label)


def _check_positive(pos_label: Any) -> None:
    if pos_label is not None:
        as_labels([pos_label], "pos_label")


def _names(columns: Sequence[str], name: str) -> tuple[str, ...]:
    if isinstance(columns, str) or not all(isinstance(each, str) for each in columns):
        raise InputTypeError(name, f"expected the names of columns, got {columns!r}.")
    return tuple(columns)


def _check_mistakes(costs: Mapping[str, Any]) -> None:
    for name in ("false_positive", "false_negative"):
        if name not in costs:
            raise InputTypeError("costs", f"expected what a {name} costs, and it is missing.")


def _mean_matrix(examples: JointExamples, names: CostMatrix | JointConfusion) -> CostMatrix:
    """Return what each decision costs on average, for each class."""
    return CostMatrix(
        examples.mean_costs(), rows="predicted", labels=names.labels, decisions=names.decisions
    )


def _thresholds(
    table: Table,
    roles: Roles,
    costs: CostMatrix,
    positive: Label | None,
    factors: Floats | None,
    *,
    undecided: bool,
) -> dict[str, float]:
    """Return the score from which on the positive class is decided, for models without decisions.

    Where scores do not tell decisions it is an error, unless models may be undecided.
    """
    thresholds = {}
    for model in roles.models:
        if model.decisions is None and not model.probabilities:
            problem = why_undecidable(model, table, costs, positive)
            if problem is None:
                thresholds[model.name] = least_cost_threshold(costs, positive, factors)
            elif not undecided:
                raise problem
    return thresholds


def _by_least_cost(
    table: Table,
    roles: Roles,
    costs: CostMatrix,
    positive: Label | None,
    each: RowCosts | None,
) -> list[str]:
    """Return the models with decisions whose scores tell what costs least in each row, too."""
    if each is None or not each.for_both_classes:
        return []
    both = [model for model in roles.models if model.decisions is not None and model.scores]
    return [model.name for model in both if not why_undecidable(model, table, costs, positive)]


def _design(
    counts: Tally, class_priors: Mapping[Any, float] | None, population: Any, impossible: Any
) -> Design:
    """Return what is known of the sampling besides the counts, by the names that these have."""
    joint = counts.joint
    by_class = counts.design.strata == counts.actual
    if isinstance(population, Mapping):
        parts = Parts() if joint.parts is None else joint.parts
        names = joint.labels if by_class else tuple(dict.fromkeys(parts.strata or ()))
        if not names:
            raise InputTypeError(
                "population",
                "it names strata, and there are none.",
                "Name the column of strata with strata=, or give one number of rows.",
            )
        population = _by_name(population, names, "population")
    priors = None if class_priors is None else _by_name(class_priors, joint.labels, "class_priors")
    if priors is not None:
        checked_priors(priors, joint.labels)
    return Design(priors, "class" if by_class else None, impossible, population)


def _by_name(given: Mapping[Any, Any], names: Labels, what: str) -> dict[Label, Any]:
    """Return values by the names that are meant; text may stand for numbers."""
    if not isinstance(given, Mapping):
        raise InputTypeError(
            what, f"expected a mapping of names to numbers, got a {type(given).__name__}."
        )
    return {among(name, names, what): value for name, value in given.items()}


name_arguments(__name__)
