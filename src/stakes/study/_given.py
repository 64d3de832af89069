"""Preparation of rows or counts, with costs, for a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from stakes._core.labels import Label, LabelMatcher, Labels, as_labels, as_meant, listing
from stakes._core.text import listed
from stakes._core.typing import Floats
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import JointConfusion
from stakes.counts._parts import Parts
from stakes.errors import InputError, InputTypeError
from stakes.infer._outcomes import Design
from stakes.infer._shares import checked_priors, filled_priors
from stakes.predictions import (
    Columns,
    DesignColumns,
    JointExamples,
    Roles,
    Table,
    Tally,
    count_rows,
    find_roles,
)
from stakes.predictions.classes import (
    all_among,
    among,
    classes_of,
    costs_of_mistakes,
    least_cost_threshold,
    positive_class,
    why_undecidable,
)
from stakes.predictions.examples import GivenCosts, RowCosts, row_costs
from stakes.predictions.roles import Model, actual_column
from stakes.predictions.tally import NO_CLASS, NO_VALUE, lacking_reason

Costs = CostMatrix | ExampleCosts | Mapping[str, Any]

DECISION_ADVICE = "Correct it. If the column is not a model, name the models with models=."


@dataclass(frozen=True, eq=False)
class Given:
    """The counts, the roles of columns, and the costs with their classes."""

    counts: Tally
    source: str
    roles: Roles
    costs: CostMatrix
    positive: Label | None
    design: Design
    done: tuple[str, ...] = ()

    def called(self, names: Mapping[Any, str] | None) -> Given:
        """Return it with display names for classes and decisions."""
        if not names:
            return self
        known = tuple(dict.fromkeys((*self.costs.labels, *self.costs.decisions)))
        new = {among(old, known, "class_names"): str(name) for old, name in names.items()}
        every = [new.get(label, label) for label in known]
        if len(set(every)) < len(every):
            raise InputError(
                "class_names", f"two classes would be called the same: {listing(every)}."
            )
        design = self.design
        priors, cells, population = design.class_priors, design.impossible, design.population
        if priors is not None:
            priors = {new.get(label, label): share for label, share in dict(priors).items()}
        if cells is not None:
            cells = tuple((new.get(one, one), new.get(other, other)) for one, other in cells)
        if design.strata == "class" and isinstance(population, Mapping):
            population = {new.get(label, label): rows for label, rows in population.items()}
        renamed = listed([f"{old!r} is called {name!r}" for old, name in new.items()])
        return replace(
            self,
            counts=self.counts.called(new),
            costs=self.costs.relabel(new),
            positive=new.get(self.positive, self.positive),
            design=replace(design, class_priors=priors, impossible=cells, population=population),
            done=(*self.done, f"Of the classes, {renamed}."),
        )

    def notes(self) -> list[str]:
        """Return sentences on the roles of columns and the reading of rows."""
        counts, positive = self.counts, self.positive
        notes = [*self.roles.in_words(), *self.roles.cautions, *self.done]
        undecided: dict[str, list[str]] = {}
        for name, cut in counts.decided_from.items() if counts.scores is None else ():
            how = f"{positive!r} is predicted from {cut:.4g} up, which minimises the expected cost."
            undecided.setdefault(how, []).append(name)
        for model in counts.models if counts.examples is not None else ():
            if model.decisions is None and model.name in counts.joint.names:
                how = "each row gets the decision that minimises its expected cost."
                undecided.setdefault(how, []).append(model.name)
        for how, names in undecided.items():
            notes.append(
                f"The model {names[0]!r} has no decision column. Its scores are read as "
                f"P({positive!r}); {how}"
                if len(names) == 1
                else f"The models {listing(names)} have no decision columns. Their scores are read "
                f"as P({positive!r}); {how}"
            )
        if counts.scores is not None:
            notes.append(f"Scores are of the class {positive!r}: the higher, the more likely.")
            notes += self.reversed_scores
        return [*notes, *counts.notes]

    @cached_property
    def reversed_scores(self) -> list[str]:
        """Warnings of scores that rank worse than chance."""
        scores = self.counts.scores
        if scores is None:
            return []
        columns = {model.name: model.scores for model in self.roles.models}
        found = {name: scores.worse_than_chance(name) for name in scores.names}
        return [
            f"The scores of {name!r} rank worse than chance (AUC {auc:.2g}): do low scores mean "
            f"{self.positive!r}? If so, name the column {columns.get(name) or name!r} with "
            "lower_is_positive=."
            for name, auc in found.items()
            if auc is not None
        ]


def given_rows(
    table: Table,
    costs: Costs,
    columns: Columns,
    *,
    pos_label: Any,
    class_priors: Mapping[Any, float] | None,
    population: Any,
    impossible: Any,
    undecided: bool,
    with_scores: bool | Literal["if they fit"],
    roles: Roles | None,
) -> Given:
    """Find the roles of columns and count rows; the arguments are those of ``Study.from_table``."""
    _check_rows(table, pos_label)
    models, scores = as_columns(columns.models, "models"), as_columns(columns.scores, "scores")
    actual = columns.actual
    if roles is None:
        actual = actual_column(table, actual, costs if isinstance(costs, CostMatrix) else None)
    if table.reading.drop_missing:
        table = table.complete([str(actual)], _labels_of(costs))
    matrix, positive, each = _priced(table, costs, str(actual), pos_label)
    if roles is None:
        design = _with_amounts(columns.design, costs)
        if design.groups is None and table.grouping is not None:
            design = replace(design, groups=table.grouping)
        named = replace(columns, actual=actual, models=models, scores=scores, design=design)
        roles = find_roles(table, named, matrix, positive)
    roles = replace(roles, models=tuple(_of_two(model, matrix, positive) for model in roles.models))
    if table.reading.drop_missing:
        table = table.complete(_in_use(roles), (*matrix.labels, *matrix.decisions))
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
    about = _design(counts, class_priors, population, impossible)
    roles = replace(roles, doubtful={**roles.doubtful, **_lacking(table, roles, counts)})
    counts = replace(counts, doubtful=roles.doubtful, left_out=_left_out(table, roles))
    done = (*table.notes, *_done(counts))
    return Given(counts, table.source, roles, matrix, positive, about, done)


def _labels_of(costs: Costs) -> Labels:
    """Return the labels and decisions of a cost matrix; those of other costs are not known yet."""
    return (*costs.labels, *costs.decisions) if isinstance(costs, CostMatrix) else ()


def _in_use(roles: Roles) -> list[str]:
    """Return the columns with a role."""
    columns = [roles.actual, *roles.design.used().values()]
    for model in roles.models:
        columns += [each for each in (model.decisions, model.scores) if each is not None]
        columns += model.probabilities
    return columns


def _lacking(table: Table, roles: Roles, counts: Tally) -> dict[str, str]:
    """Return the models with missing values in rows that were left out, with the reason.

    The decisions in such rows are not known, so that a gate cannot judge the model.
    """
    every = counts.n + table.dropped
    found = {}
    for model in roles.models:
        columns = [model.decisions, model.scores, *model.probabilities]
        numbers = [table.lacking.get(each, 0) for each in columns if each is not None]
        number = max(numbers, default=0)
        if number:
            found[model.name] = lacking_reason(number, every)
    return found


def _left_out(table: Table, roles: Roles) -> dict[str, int]:
    """Return the number of rows that were left out, by reason."""
    unlabelled = table.lacking.get(roles.actual, 0)
    found = {NO_CLASS: unlabelled, NO_VALUE: table.dropped - unlabelled}
    return {reason: rows for reason, rows in sorted(found.items()) if rows}


def _done(counts: Tally) -> list[str]:
    """Return a sentence on the rows that were left out, if any."""
    dropped = sum(counts.left_out.values())
    every = counts.n + dropped
    return [f"{dropped:,} of {every:,} rows lack a value and are left out."] if dropped else []


def given_counts(
    counts: Tally,
    source: str,
    costs: Costs | None,
    *,
    pos_label: Any,
    class_priors: Mapping[Any, float] | None,
    population: Any,
    impossible: Any,
    undecided: bool,
) -> Given:
    """Prepare rows that were counted before; the arguments are those of ``Study.from_counts``."""
    _check_positive(pos_label)
    matrix = _costs_for(counts, source, costs, pos_label)
    counts = counts.renamed(matrix, source)
    positive = positive_class(matrix, pos_label)
    if positive is None:  # scores refer to the positive class of two
        counts = replace(counts, scores=None)
    elif counts.scores is not None:
        positive = counts.scores.pos_label
        if pos_label is not None and among(pos_label, matrix.labels, "pos_label") != positive:
            raise InputError(
                "pos_label",
                f"the scores in {source} were counted as those of {positive!r}, got {pos_label!r}.",
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
    roles = Roles(
        counts.actual,
        counts.models,
        (),
        guessed=False,
        design=counts.design,
        doubtful=counts.doubtful,
    )
    about = _design(counts, class_priors, population, impossible)
    return Given(counts, source, roles, matrix, positive, about, tuple(_done(counts)))


def _of_two(model: Model, costs: CostMatrix, positive: Label | None) -> Model:
    """Return a model with scores in place of the probabilities of two classes.

    There must be a column of probabilities for each class.
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
    """Return the ratio of class frequencies in the target population to those in the rows."""
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


def no_costs(source: str) -> InputTypeError:
    return InputTypeError("costs", f"costs are missing: {source} has none.", "Give a cost matrix.")


def _priced(
    table: Table, costs: Costs, actual: str, pos_label: Any
) -> tuple[CostMatrix, Label | None, RowCosts | None]:
    """Return the cost matrix, the positive class, and the per-row costs, if any.

    With per-row costs, only the labels of the matrix are used.
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
    """Return the design columns, including those of the costs."""
    if not isinstance(costs, Mapping):
        return design
    return replace(design, **{name: each for name, each in costs.items() if isinstance(each, str)})


def _costs_for(counts: Tally, source: str, costs: Costs | None, pos_label: Any) -> CostMatrix:
    """Return the cost matrix for counts."""
    if counts.examples is not None:
        if costs is not None:
            raise InputTypeError(
                "costs", f"{source} has the costs of each row.", "Leave other costs out."
            )
        return mean_matrix(counts.examples, counts.joint)
    if costs is None:
        raise no_costs(source)
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


def as_columns(columns: Sequence[str] | Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return columns as options have them, such as "old=decision" for the mapping of a model.

    Parameters
    ----------
    columns : sequence or mapping of str
        The columns, by the names of their models if it is a mapping.
    name : str
        The argument.
    """
    if isinstance(columns, Mapping):
        if any("=" in str(model) for model in columns):
            raise InputTypeError(name, f"expected names of models without '=', got {columns!r}.")
        columns = [f"{model}={column}" for model, column in columns.items()]
    if isinstance(columns, str) or not all(isinstance(each, str) for each in columns):
        raise InputTypeError(name, f"expected the names of columns, got {columns!r}.")
    return tuple(columns)


def _check_mistakes(costs: Mapping[str, Any]) -> None:
    for name in ("false_positive", "false_negative"):
        if name not in costs:
            raise InputTypeError("costs", f"expected what a {name} costs, and it is missing.")


def mean_matrix(examples: JointExamples, names: CostMatrix | JointConfusion) -> CostMatrix:
    """Return the mean cost of each decision for each class, as a cost matrix."""
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
    """Return the minimum-expected-cost threshold of each model without decisions.

    Scores that give no decisions are an error, unless models may be undecided.
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
    """Return the models with decisions whose scores also give each row's cheapest decision."""
    if each is None or not each.for_both_classes:
        return []
    both = [model for model in roles.models if model.decisions is not None and model.scores]
    return [model.name for model in both if not why_undecidable(model, table, costs, positive)]


def _design(
    counts: Tally, class_priors: Mapping[Any, float] | None, population: Any, impossible: Any
) -> Design:
    """Return the sampling design beyond the counts, with the names that the counts have."""
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
        priors = filled_priors(priors, joint.labels)
        checked_priors(priors, joint.labels)
    return Design(priors, "class" if by_class else None, impossible, population)


def _by_name(given: Mapping[Any, Any], names: Labels, what: str) -> dict[Label, Any]:
    """Return values by the matching names; text may stand for numbers."""
    if not isinstance(given, Mapping):
        raise InputTypeError(
            what, f"expected a mapping of names to numbers, got a {type(given).__name__}."
        )
    return dict(zip(all_among(given, names, what), given.values(), strict=True))
