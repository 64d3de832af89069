"""The `Study` class: the counts of several models and their costs, with the analyses of both."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label, listing
from stakes._core.optional import data_frame
from stakes._core.text import (
    html_table,
    listed,
    number,
    percent,
    text_table,
    unjudged_sentence,
)
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.counts import (
    CostSample,
    GroupedConfusion,
    JointConfusion,
    PairedScoreCounts,
    ScoreCounts,
)
from stakes.errors import InputError
from stakes.infer._outcomes import SIMPLE, Design
from stakes.infer._shares import cell_shares, checked_priors
from stakes.infer.estimate import CostEstimate
from stakes.policies._assemble import Asked, Counted, policies_of
from stakes.policies._choose import Choosing
from stakes.policies.policies import Policies
from stakes.policies.verdict import Stated, Verdict, verdict_of
from stakes.predictions import (
    Columns,
    DesignColumns,
    JointExamples,
    JointScores,
    Roles,
    Table,
    Tally,
)
from stakes.predictions.classes import TWO
from stakes.predictions.table import NO_DESIGN
from stakes.study._given import Costs, Given, as_columns, given_counts, given_rows, mean_matrix

if TYPE_CHECKING:  # most studies need no curves, which are slow to import
    from stakes.curves.curve import CostCurve
    from stakes.curves.difference import CostCurveDifference
    from stakes.curves.line import CostLine

SHOWN_MODELS = 6
"""Maximum number of models in the text of a study, which has at most ten lines."""

CROSS_FITTED, NOTHING_ASKED = Choosing(), Asked()


def _pages() -> Any:
    """Return the module of reports, imported by name and on demand because it imports this one."""
    return import_module("stakes.show.report")


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """Counts of the decisions and scores of several models, with the costs of mistakes.

    `from_table` and `from_counts` make a study; it does not read the rows again.

    Attributes
    ----------
    source : str
        The name of the file.
    roles : Roles
        The roles of its columns.
    joint : JointConfusion
        The joint decisions of the models that have any.
    costs : CostMatrix
        The costs of decisions.
    pos_label : label or None
        The positive class; None with more than two classes.
    joint_scores : JointScores or None
        The joint scores of the models that have any.
    decided_from : mapping
        The decision threshold of each model that had scores only.
    notes : tuple of str
        Sentences on the roles of columns and the reading of rows.
    confidence : float
        Confidence level of all intervals and tests.
    design : Design
        The sampling design beyond the counts, such as class priors and the population.
    class_rows : tuple of int
        The unweighted number of rows of each class.
    examples : JointExamples or None
        The single rows, if costs are per row; `costs` are then their means.
    choosing : Choosing
        The settings for choosing thresholds.
    asked : Asked
        The baseline and the candidates, if any were named.
    merged_from : tuple of str
        The checksums of the merged count files, if any.
    cautions : tuple of str
        Warnings about rows that may be dependent, about scores that may be reversed, and about
        columns that may be models and are not judged.
    rows_left_out : mapping of str to int
        The number of rows that were left out because a value is missing, by reason.

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
    cautions: tuple[str, ...] = ()
    rows_left_out: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_table(
        cls,
        table: Table,
        costs: Costs,
        *,
        actual: str | None = None,
        models: Sequence[str] | Mapping[str, str] = (),
        scores: Sequence[str] | Mapping[str, str] = (),
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
        class_names: Mapping[Any, str] | None = None,
        divides: Sequence[str] = (),
    ) -> Self:
        """Return the study of a table, after finding the roles of columns and counting rows.

        Parameters
        ----------
        table : Table
            The rows, in any of the forms of `stakes.predictions`.
        costs : CostMatrix, ExampleCosts or mapping
            The costs of decisions; or the costs of mistakes, as ``CostMatrix.from_errors`` takes
            them, for the two classes of the table. Each may be a number or the name of a column.
        actual, models, scores : str and sequences of str, optional
            The columns; by default guessed from their names and values. Models and scores may
            also be mappings of the models' names to their columns.
        pos_label : optional
            The positive class of two; by default 1, True, or the one whose misses cost more.
        confidence : float, default 0.95
            Confidence level of all intervals and tests.
        class_priors : mapping, optional
            The prevalence of each class in the target population.
        design : DesignColumns, optional
            The columns of groups, weights and strata, which are never guessed.
        population : mapping or number, optional
            The share or the number of rows of each stratum, as in `stakes.evaluate`.
        impossible : sequence of (decision, class), optional
            The cells that cannot occur.
        undecided : bool, default False
            Whether models may lack decisions if their scores are not probabilities.
        with_scores : bool or "if they fit", default True
            Whether scores are counted. If so, thresholds are chosen for the models with scores, and
            scores of models without decisions need not be probabilities.
        choosing : Choosing, optional
            The settings for choosing thresholds.
        asked : Asked, optional
            The baseline and the candidates.
        roles : Roles, optional
            The roles of the columns, if they are known.
        class_names : mapping, optional
            Display names of the classes, such as ``{0: "repaid", 1: "default"}``.
        divides : sequence of str, optional
            The columns that divide the rows, such as region and month; none of them is a model.

        Returns
        -------
        Study
            The study.
        """
        validate.alpha(confidence)
        given = given_rows(
            table,
            costs,
            Columns(
                actual,
                as_columns(models, "models"),
                as_columns(scores, "scores"),
                design=design,
                divides=tuple(divides),
            ),
            pos_label=pos_label,
            class_priors=class_priors,
            population=population,
            impossible=impossible,
            undecided=undecided,
            with_scores=with_scores,
            roles=roles,
        ).called(class_names)
        return cls._made(given, confidence=confidence, choosing=choosing, asked=asked)

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
        class_names: Mapping[Any, str] | None = None,
    ) -> Self:
        """Return the study of rows that were counted before.

        Parameters
        ----------
        counts : Tally
            The counts.
        source : str
            The name of the file, for errors.
        costs : CostMatrix, mapping or None
            The costs of decisions; None if the counts have per-row costs.
        pos_label, confidence, class_priors, population, impossible, undecided, choosing, asked, \
class_names
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
        given = given_counts(
            counts,
            source,
            costs,
            pos_label=pos_label,
            class_priors=class_priors,
            population=population,
            impossible=impossible,
            undecided=undecided,
        ).called(class_names)
        return cls._made(given, confidence=confidence, choosing=choosing, asked=asked)

    @classmethod
    def _made(cls, given: Given, *, confidence: float, choosing: Choosing, asked: Asked) -> Self:
        counts, costs, design, examples = given.counts, given.costs, given.design, None
        if counts.examples is not None:
            costs = mean_matrix(counts.examples, costs)
            examples = replace(counts.examples, impossible=design.impossible)
            design = replace(design, impossible=None)
        return cls(
            source=given.source,
            roles=given.roles,
            joint=counts.joint,
            costs=costs,
            pos_label=given.positive,
            joint_scores=counts.scores,
            decided_from=counts.decided_from,
            notes=tuple(given.notes()),
            confidence=float(confidence),
            design=design,
            class_rows=counts.class_rows,
            examples=examples,
            choosing=choosing,
            asked=asked,
            merged_from=counts.merged_from,
            cautions=tuple(
                filter(
                    None,
                    [*given.roles.cautions, *given.reversed_scores, given.roles.unjudged_note],
                )
            ),
            rows_left_out=counts.left_out,
        )

    def report(self, path: str | os.PathLike[str] = "report.html", **settings: Any) -> Self:
        """Write a report on the study to a file.

        Parameters
        ----------
        path : str or path, default "report.html"
            The file to write.
        **settings
            Arguments of `stakes.findings.Settings`: unit, volume, per, title, noun, ….

        Returns
        -------
        Study
            The study itself.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from stakes import datasets, study_of
        >>> study = study_of(
        ...     datasets.load_breast_cancer_predictions(), datasets.load_breast_cancer_costs())
        >>> page = Path(tempfile.mkdtemp()) / "report.html"
        >>> study.report(page, unit="USD").n
        285
        >>> page.stat().st_size > 100_000
        True
        """
        _pages().write_study(self, path, **settings)
        return self

    def show(self, *, height: int = 800, **settings: Any) -> Any:
        """Show the report in a notebook.

        Parameters
        ----------
        height : int, default 800
            The height of the page in pixels.
        **settings
            Arguments of `stakes.findings.Settings`.

        Returns
        -------
        object
            An object that a notebook displays as the page.

        Examples
        --------
        >>> from stakes import datasets, study_of
        >>> study = study_of(
        ...     datasets.load_breast_cancer_predictions(), datasets.load_breast_cancer_costs())
        >>> study.show()._repr_html_()[:7]
        '<iframe'
        """
        return _pages().page_of(self, height=height, **settings)

    def __repr__(self) -> str:
        header, rows = self._table()
        models = f"{len(rows)} model{'' if len(rows) == 1 else 's'}"
        unjudged = unjudged_sentence(self.roles.unjudged)
        shown = SHOWN_MODELS - bool(unjudged)
        lines = [f"Study of {self.source}: {self._size()}, {models}"]
        lines += text_table(header, rows[:shown]).splitlines()
        if rows[shown:]:
            lines.append(f"… and {len(rows) - shown} more")
        lines += filter(None, [unjudged])
        lines.append(f"The actual classes are in {self.roles.actual!r}; notes has the rest.")
        return "\n".join(lines)

    def _size(self) -> str:
        """Return the number of examples, and of rows that are left out."""
        left_out = sum(self.rows_left_out.values())
        rows = f" ({left_out:,} row{'s' if left_out > 1 else ''} left out)" if left_out else ""
        return f"{self.n:,} examples{rows}"

    def to_frame(self) -> Any:
        """Return the policies as a pandas data frame, the cheapest first.

        Returns
        -------
        DataFrame
            A row for each policy, with its name, model, threshold and cost per decision.

        Examples
        --------
        >>> from stakes import datasets, study_of
        >>> study = study_of(
        ...     datasets.load_breast_cancer_predictions(), datasets.load_breast_cancer_costs())
        >>> study.to_frame()["policy"].tolist()[0]
        'discriminant@0.002999'
        """
        policies = self.policies
        return data_frame(
            [
                {
                    "policy": each.name,
                    "model": each.model,
                    "threshold": each.threshold,
                    "cost": policies.estimate(each.name).cost,
                }
                for each in sorted(
                    policies.policies, key=lambda each: policies.estimate(each.name).cost
                )
            ]
        )

    def _repr_html_(self) -> str:
        header, rows = self._table()
        said = [*self.notes[:1], unjudged_sentence(self.roles.unjudged)]
        caption = f"Study of {self.source}: {self._size()}. {' '.join(filter(None, said))}"
        return html_table(header, rows, caption)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return a table of the models, with the cost of their decisions, without inference."""
        rows = []
        for model in self.roles.models:
            decided = model.name in self.names
            cost = number(self.estimate(model.name).cost) if decided else "–"
            rows.append(
                [
                    model.name,
                    model.decisions or "–",
                    model.scores
                    or (f"{len(model.probabilities)} columns" if model.probabilities else "–"),
                    cost,
                ]
            )
        return ["model", "decisions", "scores", "cost per decision"], rows

    @property
    def n(self) -> int:
        """The number of examples."""
        return sum(self.class_rows) if self.class_rows else int(self.joint.n)

    @property
    def plain(self) -> bool:
        """Whether rows are independent, of equal weight and cost, and not from several strata.

        If so, the counts suffice for inference, together with any class priors.
        """
        apart = self.joint.parts is not None or self.joint.weighted or self.examples is not None
        return not apart and self.design == Design(self.design.class_priors)

    @property
    def names(self) -> tuple[str, ...]:
        """The models that have decisions."""
        return tuple(map(str, self.joint.names))

    def counts(self) -> Tally:
        """Return the counts.

        Returns
        -------
        Tally
            The counts, for `from_counts` and count files.
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
            left_out=self.rows_left_out,
        )

    def estimate(self, name: str, unit: str = "") -> CostEstimate:
        """Return the estimated cost of a model.

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
        """Return the mean cost of the cheapest decision for each row; None without per-row costs.

        Returns
        -------
        float or None
            The cost per decision.
        """
        return None if self.examples is None else self._estimate_of(self.examples.ideal()).cost

    @property
    def counted(self) -> Counted:
        """The rows, as the choice of policies needs them."""
        return Counted(
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

    @cached_property
    def policies(self) -> Policies:
        """The policies of the models, and the constant predictions."""
        return policies_of(self.counted, self.choosing, self.asked, self.confidence)

    def verdict(
        self,
        *,
        unit: str = "",
        volume: float | None = None,
        per: str = "year",
        rng: int = 0,
        method: str = "extremal",
        noun: str = "examples",
    ) -> Verdict:
        """Return the recommended policy, its saving, and what choosing it may cost.

        Parameters
        ----------
        unit : str, optional
            The unit of the costs.
        volume : float, optional
            How many decisions are taken in a period.
        per : str, default "year"
            The period.
        rng : int, default 0
            Random seed of an interval method that resamples, such as "bcost".
        method : str, default "extremal"
            The method of the interval of the policy's cost, as in ``CostEstimate.interval``.
        noun : str, default "examples"
            The name of the rows in text, such as "patients".

        Returns
        -------
        Verdict
            The policy of least cost, its saving against the baseline, the policies that it cannot
            be told apart from, and the most that choosing it costs more than the best.

        Examples
        --------
        >>> from stakes import CostMatrix, study_of
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> study = study_of(
        ...     [0] * 80 + [1] * 20,
        ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
        >>> verdict = study.verdict()
        >>> verdict.use, verdict.baseline, verdict.saving.shown
        ('eager', 'eager', False)
        """
        left_out = sum(self.rows_left_out.values())
        stated = Stated(unit, volume, per, method, rng, noun, self.n, left_out)
        return verdict_of(self.policies, stated, tuple(filter(None, self._context())))

    def _context(self) -> tuple[str, str]:
        """Return the caution on the confidence level and the population of the costs, if any."""
        caution = self.policies.estimate(self.policies.best).caution
        if caution:
            caution = f"{caution[0].upper()}{caution[1:]}."
        return caution, self.population()

    def population(self) -> str:
        """Return a sentence on the target population of the costs; empty without class priors.

        Returns
        -------
        str
            The sentence.
        """
        priors = self.class_priors()
        if priors is None:
            return ""
        shares = listed([f"{percent(share)} {label!r}" for label, share in priors.items()])
        same = np.allclose(list(priors.values()), self.joint.class_counts() / self.joint.n)
        return f"Costs are for a population with {shares}, {'' if same else 'not '}as in the data."

    def class_priors(self) -> dict[Label, float] | None:
        """Return the prevalence of each class in the target population; None if not given.

        Returns
        -------
        dict or None
            The prevalence of each class.
        """
        priors, labels = self.design.class_priors, self.joint.labels
        if priors is None:
            return None
        return dict(zip(labels, checked_priors(priors, labels).tolist(), strict=True))

    def prevalence(self) -> float:
        """Return the prevalence of the positive class in the target population.

        Returns
        -------
        float
            The prevalence.
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
        """Return the cost curves of the models with scores; none unless there are two classes.

        Returns
        -------
        dict
            The CostCurve of each model; empty unless the data have two classes and the costs two
            decisions.
        """
        from stakes.curves.curve import CostCurve

        if not self.both_classes or len(self.costs.decisions) != TWO:
            return {}
        return {name: CostCurve(self.scores_where_used(name), name) for name in self.scores}

    def scores_where_used(self, name: str) -> ScoreCounts:
        """Return the scores of a model, with strata weighted as in the population.

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
        if counts.parts is None or counts.parts.strata is None:
            return counts
        from stakes.curves._rates import represented

        return represented(counts, self.design)

    def where_thresholds_are_used(self) -> dict[str, Any]:
        """Return the class priors and the population as arguments of `stakes.choose_threshold`.

        Returns
        -------
        dict
            The arguments; if classes are strata, they have priors.
        """
        if self.design.strata is None:
            return {"class_priors": self.class_priors(), "population": self.design.population}
        share = self.prevalence()
        shares = (share if label == self.pos_label else 1 - share for label in self.joint.labels)
        return {"class_priors": dict(zip(self.joint.labels, shares, strict=True))}

    def decisions_where_used(self, *names: str) -> Any:
        """Return the decisions of one or two models, with strata weighted as in the population.

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
            from stakes.curves._rates import represented_table

            return represented_table(table, self.design)
        return table

    def lines(self) -> dict[str, CostLine]:
        """Return the cost lines of the models with decisions and no scores.

        Returns
        -------
        dict
            The CostLine of each model.
        """
        from stakes.curves.line import CostLine

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
        """Return the difference of the cost curves of two models, both with or both without scores.

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
        from stakes.curves._rates import represented_pair
        from stakes.curves.difference import CostCurveDifference

        names = (first, second)
        if any(name in self.scores for name in names):
            pair = represented_pair(self.paired_scores(*names), self.design)
            return CostCurveDifference(pair, names)
        return CostCurveDifference(self.decisions_where_used(*names), names, self.pos_label)
