"""Predictions of several models on the same examples, and what their mistakes cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from stakes._core import validate
from stakes._core.labels import Label, as_meant
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion, PairedScoreCounts, ScoreCounts
from stakes.curves import CostCurve, CostCurveDifference, CostLine
from stakes.errors import InputError
from stakes.infer._design import SIMPLE, Design
from stakes.infer.estimate import CostEstimate
from stakes.infer.ranking import Ranking
from stakes.predictions import (
    ArrayTable,
    Columns,
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
from stakes.predictions.files import Progress, read_predictions
from stakes.predictions.roles import actual_column

__all__ = ["Study", "study_of"]

Costs = CostMatrix | Mapping[str, float]

DECISION_ADVICE = "Correct it; or, if the column is no model, name those that are with models=."


@dataclass(frozen=True)
class Study:
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
        The class priors, where they are not those of the examples.

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
    >>> {name: each.cost for name, each in study.estimates().items()}
    {'eager': 0.3, 'shy': 1.0}
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
        undecided: bool = False,
        with_scores: bool = True,
        roles: Roles | None = None,
    ) -> Self:
        """Find the parts that columns play, and count.

        Parameters
        ----------
        table : Table
            The rows, in any of the forms of `stakes.predictions`.
        costs : CostMatrix or mapping
            What decisions cost; or the costs of mistakes, as ``CostMatrix.from_errors`` takes
            them, for the two classes of the table.
        actual, models, scores : str and sequences of str, optional
            The columns; by default as their names and values suggest.
        pos_label : optional
            The positive class of two; by default 1, True, or the one whose misses cost more.
        confidence : float, default 0.95
            Of all intervals and tests.
        class_priors : mapping, optional
            The share of each class where the models are used.
        undecided : bool, default False
            Whether models may lack decisions, where scores are no probabilities to decide by.
        with_scores : bool, default True
            Whether scores are counted.
        roles : Roles, optional
            The parts that columns play, if they are known.

        Returns
        -------
        Study
            The study.
        """
        validate.alpha(confidence)
        if isinstance(costs, CostMatrix):
            matrix = costs
        else:
            actual = actual_column(table, actual)
            where = f"{table.source}, column {actual!r}"
            matrix = costs_of_mistakes(classes_of(table, actual), costs, pos_label, where)
        positive = positive_class(matrix, pos_label)
        if roles is None:
            roles = find_roles(table, Columns(actual, models, scores), matrix, positive)
        decided_from = _thresholds(table, roles, matrix, positive, undecided=undecided)
        counts = count_rows(
            table,
            roles,
            matrix,
            positive,
            decided_from,
            with_scores=with_scores,
            advice="" if models or scores else DECISION_ADVICE,
        )
        return cls._made(
            counts,
            source=table.source,
            roles=roles,
            costs=matrix,
            positive=positive,
            confidence=confidence,
            design=_design(class_priors, matrix),
        )

    @classmethod
    def from_counts(
        cls,
        counts: Tally,
        source: str,
        costs: Costs,
        *,
        pos_label: Any = None,
        confidence: float = 0.95,
        class_priors: Mapping[Any, float] | None = None,
        undecided: bool = False,
    ) -> Self:
        """Take rows that were counted before.

        Parameters
        ----------
        counts : Tally
            What was counted.
        source : str
            The name of the file, for errors.
        costs, pos_label, confidence, class_priors, undecided
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
        >>> dearer = {"false_positive": 1, "false_negative": 50}
        >>> again = Study.from_counts(study.counts(), "the same rows", dearer)
        >>> again.estimate("eager").cost, again.estimate("shy").cost
        (0.3, 5.0)
        """
        validate.alpha(confidence)
        known = None if counts.scores is None else counts.scores.pos_label
        if isinstance(costs, CostMatrix):
            matrix = costs
        else:
            given = known if pos_label is None else pos_label
            matrix = costs_of_mistakes(as_meant(counts.joint.labels), costs, given, source)
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
        if lacking and not undecided:
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
            roles=Roles(counts.actual, counts.models, (), guessed=False),
            costs=matrix,
            positive=positive,
            confidence=confidence,
            design=_design(class_priors, matrix),
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
    ) -> Self:
        notes = list(roles.in_words())
        notes += [
            f"The model {name!r} has no decisions; its scores are taken as probabilities of "
            f"{positive!r}, and {positive!r} is decided from {cut:.4g} on, where that costs less."
            for name, cut in counts.decided_from.items()
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
            design=design,
        )

    @property
    def n(self) -> int:
        """The number of examples."""
        return self.joint.n

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
        return Tally(roles.actual, roles.models, self.joint, scores, self.decided_from)

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
        return CostEstimate(self.joint.single(name), self.costs, self.design, unit)

    def estimates(self, unit: str = "") -> dict[str, CostEstimate]:
        """Return what each model costs, the cheapest first.

        Parameters
        ----------
        unit : str, optional
            The unit of the costs.

        Returns
        -------
        dict
            From each model to its CostEstimate.
        """
        every = {name: self.estimate(name, unit) for name in self.names}
        return dict(sorted(every.items(), key=lambda item: item[1].cost))

    def ranking(self, unit: str = "") -> Ranking:
        """Return the comparison of all models, of which there must be two.

        Parameters
        ----------
        unit : str, optional
            The unit of the costs.

        Returns
        -------
        Ranking
            The comparison.
        """
        if len(self.names) < TWO:
            raise InputError(
                self.source, f"comparing takes two models, there is only {self.names[0]!r}."
            )
        if unit not in self._rankings:
            made = Ranking.from_joint(self.joint, self.costs, unit, self.design)
            self._rankings[unit] = made
        return self._rankings[unit]

    @cached_property
    def _rankings(self) -> dict[str, Ranking]:
        """The comparisons that were asked for, by unit; several findings use the same one."""
        return {}

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
        if not self.both_classes:
            return {}
        return {name: CostCurve(counts, name) for name, counts in self.scores.items()}

    def lines(self) -> dict[str, CostLine]:
        """Return the cost lines of the models that have decisions and no scores.

        Returns
        -------
        dict
            From each model to its CostLine.
        """
        if not self.both_classes or self.pos_label is None:
            return {}
        return {
            name: CostLine.from_counts(self.joint.single(name), pos_label=self.pos_label, name=name)
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
        """
        scores = self.joint_scores
        missing = [n for n in (first, second) if scores is None or n not in scores.names]
        if scores is None or missing:
            raise InputError(self.source, f"the model {missing[0]!r} has no scores.")
        return scores.pair(first, second)

    def curve_difference(self, first: str, second: str) -> CostCurveDifference:
        """Return the difference of the cost curves of two models that have scores.

        Parameters
        ----------
        first, second : str
            The models.

        Returns
        -------
        CostCurveDifference
            The difference.
        """
        return CostCurveDifference(self.paired_scores(first, second), names=(first, second))


def study_of(
    y_true: Any,
    y_pred: Mapping[str, Any],
    costs: Costs,
    *,
    y_score: Mapping[str, Any] | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    class_priors: Mapping[Any, float] | None = None,
    source: str = "the predictions",
) -> Study:
    """Count the predictions of several models, to report on them.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        The actual class of each example.
    y_pred : mapping of str to array_like
        The decisions of each model, by its name.
    costs : CostMatrix or mapping
        What decisions cost; or the costs of mistakes, as ``CostMatrix.from_errors`` takes them.
    y_score : mapping of str to array_like, optional
        The scores of models, of two classes; a model may have decisions, scores or both.
    pos_label : optional
        The positive class of two; by default 1, True, or the one whose misses cost more.
    confidence : float, default 0.95
        Of all intervals and tests.
    class_priors : mapping, optional
        The share of each class where the models are used.
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
    'Use eager'
    """
    table = ArrayTable(y_true, y_pred, {} if y_score is None else y_score, source)
    return Study.from_table(
        table,
        costs,
        actual=table.roles.actual,
        pos_label=pos_label,
        confidence=confidence,
        class_priors=class_priors,
        roles=table.roles,
    )


def study_of_files(
    paths: Sequence[str],
    costs: Costs,
    columns: Columns,
    progress: Progress,
    *,
    with_scores: bool = True,
    pos_label: Any = None,
    confidence: float = 0.95,
    class_priors: Mapping[Any, float] | None = None,
    undecided: bool = False,
) -> Study:
    """Read and count predictions.

    Parameters
    ----------
    paths : sequence of str
        A count file; or tables, of which several are joined on the name of an example. A table may
        be in many files: those of a folder, or of a pattern. "-" is standard input.
    costs : CostMatrix or mapping
        What decisions cost; as in `Study.from_table`.
    columns : Columns
        The columns that were named.
    progress : Progress
        Is told how far it is.
    with_scores : bool, default True
        Whether scores are counted. Without them a large file is read in batches.
    pos_label, confidence, class_priors, undecided
        As in `Study.from_table`.

    Returns
    -------
    Study
        The study.
    """
    found = read_predictions(paths, columns, progress, in_batches=not with_scores)
    if isinstance(found, tuple):
        return Study.from_counts(
            *found,
            costs,
            pos_label=pos_label,
            confidence=confidence,
            class_priors=class_priors,
            undecided=undecided,
        )
    return Study.from_table(
        found,
        costs,
        actual=columns.actual,
        models=columns.models,
        scores=columns.scores,
        pos_label=pos_label,
        confidence=confidence,
        class_priors=class_priors,
        undecided=undecided,
        with_scores=with_scores,
    )


def _thresholds(
    table: Table, roles: Roles, costs: CostMatrix, positive: Label | None, *, undecided: bool
) -> dict[str, float]:
    """Return the score from which on the positive class is decided, for models without decisions.

    Where scores do not tell decisions it is an error, unless models may be undecided.
    """
    thresholds = {}
    for model in roles.models:
        if model.decisions is None:
            problem = why_undecidable(model, table, costs, positive)
            if problem is None:
                thresholds[model.name] = least_cost_threshold(costs, positive)
            elif not undecided:
                raise problem
    return thresholds


def _design(class_priors: Mapping[Any, float] | None, costs: CostMatrix) -> Design:
    if class_priors is None:
        return SIMPLE
    return Design(
        {among(label, costs.labels, "class_priors"): share for label, share in class_priors.items()}
    )
