"""Counting the rows of predictions; analyses use only these counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label, LabelMatcher, Labels, hint, listing
from stakes._core.text import listed
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion
from stakes.counts._parts import Parts
from stakes.errors import DesignError, InputError, LabelError
from stakes.predictions.classes import cheapest_decisions, decisions_of, moved
from stakes.predictions.examples import JointExamples, RowCosts, joined
from stakes.predictions.roles import Model, Roles
from stakes.predictions.scores import JointScores
from stakes.predictions.table import NO_DESIGN, Batch, DesignColumns, Table

MOST_SCORES = 30_000_000
"""Maximum number of scores kept while batches are counted; each takes 8 bytes, 16 to sort."""

MOST_READINGS = 5
"""Maximum number of values of a column in a note."""

LACKING = re.compile(r"it lacks a value in ([\d,]+) of (at least )?([\d,]+) rows")
"""Beginning of the reasons of `lacking_reason`."""

NO_CLASS, NO_VALUE = "no actual class", "another missing value"
"""Reasons why rows are left out."""

MOST_FILES = 3
"""Maximum number of files that a reason names."""

TOO_MANY = 1 << 63
"""Smallest number of examples that overflows a 64-bit count."""


@dataclass(frozen=True)
class Tally:
    """Counts of the decisions and scores of several models on the same examples.

    Attributes
    ----------
    actual : str
        The column of the actual classes.
    models : tuple of Model
        The models.
    joint : JointConfusion
        The joint decisions of the models that have any.
    scores : JointScores or None
        The joint scores of the models that have any.
    decided_from : mapping
        The decision threshold of each model that had scores only.
    design : DesignColumns
        The columns of groups, weights, strata and costs.
    class_rows : tuple of int
        The unweighted number of rows of each class.
    examples : JointExamples or None
        The single rows, if costs are per row.
    notes : tuple of str
        Sentences on labels that are spelt differently from those of the costs.
    doubtful : mapping of str to str
        The columns that may be models and could not be read, with the reason.
    merged_from : tuple of str
        The checksums of the merged counts; empty if rows were counted.
    left_out : mapping of str to int
        The number of rows that were left out, by reason: `NO_CLASS` or `NO_VALUE`.
    """

    actual: str
    models: tuple[Model, ...]
    joint: JointConfusion
    scores: JointScores | None = None
    decided_from: Mapping[str, float] = field(default_factory=dict)
    design: DesignColumns = NO_DESIGN
    class_rows: tuple[int, ...] = ()
    examples: JointExamples | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    doubtful: Mapping[str, str] = field(default_factory=dict)
    merged_from: tuple[str, ...] = field(default=(), compare=False)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.class_rows:
            whole = tuple(int(each) for each in self.joint.class_counts())
            object.__setattr__(self, "class_rows", whole)

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(self.class_rows)

    def renamed(self, costs: CostMatrix, source: str) -> Tally:
        """Return the counts with the classes and decisions of a cost matrix.

        Parameters
        ----------
        costs : CostMatrix
            A matrix with all classes and decisions of the counts; text may stand for numbers.
        source : str
            The name of the counts, for errors.
        """
        joint = self.joint
        classes = _places(joint.labels, costs.labels, "classes", source)
        decisions = _places(joint.decisions, costs.decisions, "decisions", source)
        columns = zip(joint.names, decisions[joint.decided].T, strict=True)
        scores = self.scores
        if scores is not None:
            both = (scores.pos_label, scores.neg_label)
            places = _places(both, costs.labels, "classes", source).tolist()
            positive, negative = (costs.labels[place] for place in places)
            scores = replace(
                scores,
                pos_label=positive,
                neg_label=negative,
                decided=decisions.astype(scores.decided.dtype)[scores.decided],
            )
        examples = self.examples
        rows = np.zeros(len(costs.labels), dtype=np.int64)
        rows[classes] = self.class_rows
        return replace(
            self,
            joint=JointConfusion.from_codes(
                classes[joint.actual],
                dict(columns),
                labels=costs.labels,
                decisions=costs.decisions,
                amounts=joint.counts,
                squares=joint.squares,
                part=joint.part,
                parts=joint.parts,
            ),
            scores=scores,
            class_rows=tuple(rows.tolist()),
            examples=None if examples is None else examples.renamed(classes, decisions, costs),
        )

    def called(self, names: Mapping[Label, Label]) -> Tally:
        """Return the counts with other names for classes and decisions.

        Parameters
        ----------
        names : mapping
            From old to new names, which must differ; names that are not in it are kept.
        """
        joint, scores, examples = self.joint, self.scores, self.examples
        new: dict[str, Any] = {
            "labels": tuple(names.get(each, each) for each in joint.labels),
            "decisions": tuple(names.get(each, each) for each in joint.decisions),
        }
        if scores is not None:
            positive, negative = scores.pos_label, scores.neg_label
            scores = replace(
                scores,
                pos_label=names.get(positive, positive),
                neg_label=names.get(negative, negative),
            )
        return replace(
            self,
            joint=JointConfusion.from_codes(
                joint.actual,
                dict(zip(joint.names, joint.decided.T, strict=True)),
                amounts=joint.counts,
                squares=joint.squares,
                part=joint.part,
                parts=joint.parts,
                **new,
            ),
            scores=scores,
            examples=None if examples is None else replace(examples, **new),
        )


def _places(labels: Labels, known: Labels, what: str, source: str) -> NDArray[np.intp]:
    matcher = LabelMatcher(known, "typed")
    places = [matcher.find(label) for label in labels]
    if -1 in places:
        label = labels[places.index(-1)]
        raise LabelError(
            source,
            f"{label!r} is not one of the {what} of the costs, "
            f"{listing(known)}.{hint(label, known)}",
        )
    return np.array(places, dtype=np.intp)


def merged(parts: Sequence[tuple[str, Tally]]) -> Tally:
    """Merge the counts of several files, which must be of the same models and classes.

    Parameters
    ----------
    parts : sequence of (name, Tally)
        The names of the files and their counts.
    """
    rows = sum(part.n for _, part in parts)
    if rows >= TOO_MANY:
        raise InputError(
            ", ".join(name for name, _ in parts[:3]) + (", …" if parts[3:] else ""),
            f"together they count {rows:,} examples, expected less than 2**63.",
        )
    (first_name, total), *others = parts
    for name, part in others:
        _check_alike(total, part, f"{first_name} and {name}")
        scores = None
        if total.scores is not None and part.scores is not None:
            scores = total.scores + part.scores
        examples = None
        if total.examples is not None and part.examples is not None:
            examples = total.examples + part.examples
        total = replace(
            total,
            joint=total.joint + part.joint,
            scores=scores,
            class_rows=tuple(map(sum, zip(total.class_rows, part.class_rows, strict=True))),
            examples=examples,
            merged_from=(),
        )
    if not others:
        return total
    names = sorted({name for _, part in parts for name in part.doubtful})
    left_out = Counter[str]()
    for _, part in parts:
        left_out.update(part.left_out)
    doubtful = {name: _merged_reason(name, parts) for name in names}
    return replace(total, doubtful=doubtful, left_out=dict(sorted(left_out.items())))


def lacking_reason(number: int, every: int, *, at_least: bool = False) -> str:
    """Return why a model that lacks values cannot be judged.

    Parameters
    ----------
    number : int
        The number of rows in which it lacks a value.
    every : int
        The number of all rows, with those that are left out.
    at_least : bool, default False
        Whether there may be more rows, because other rows may have been left out.
    """
    rows = f"{'at least ' if at_least else ''}{every:,}"
    return (
        f"it lacks a value in {number:,} of {rows} rows, which are left out; write what is decided "
        "there into its cells"
    )


def _lacks(reason: str) -> tuple[int, int, bool] | None:
    """Return the numbers in a reason of `lacking_reason`; None for any other reason."""
    found = LACKING.match(reason)
    if found is None:
        return None
    number, every = (int(found[group].replace(",", "")) for group in (1, 3))
    given = number, every, found[2] is not None
    return given if reason == lacking_reason(number, every, at_least=given[2]) else None


def _merged_reason(name: str, parts: Sequence[tuple[str, Tally]]) -> str:
    """Return why a column cannot be used, of all parts together.

    Numbers of rows are added; other reasons name the files that they are about.
    """
    files: dict[str, list[str]] = {}
    for file, part in parts:
        if name in part.doubtful:
            files.setdefault(part.doubtful[name], []).append(file)
    if all(map(_lacks, files)):
        number, every, at_least = 0, 0, False
        for _, part in parts:
            own = _lacks(part.doubtful.get(name, ""))
            # Every reason of a part has its number of rows. A part without any may have left out
            # rows for another reason, and only those that were counted are known.
            known = own or next(filter(None, map(_lacks, part.doubtful.values())), None)
            number += 0 if own is None else own[0]
            every += part.n if known is None else known[1]
            at_least |= known is None or known[2]
        return lacking_reason(number, every, at_least=at_least)
    if [len(each) for each in files.values()] == [len(parts)]:
        return next(iter(files))
    return "; ".join(f"in {_some(each)}, {reason}" for reason, each in files.items())


def _some(files: Sequence[str]) -> str:
    """Format the names of files, of which the first few are shown."""
    more = len(files) - MOST_FILES
    others = [f"{more:,} other file{'' if more == 1 else 's'}"] if more > 0 else []
    return listed([*files[:MOST_FILES], *others])


def _check_alike(one: Tally, other: Tally, files: str) -> None:
    """Raise an error if counts are not of the same models, design, classes and decisions."""
    again = "Count all of them with the same costs and columns."
    names = [[model.name for model in each.models] for each in (one, other)]
    if names[0] != names[1]:
        raise LabelError(
            files,
            f"they have counts of different models, {listing(names[0])} and {listing(names[1])}.",
            again,
        )
    if one.design != other.design:
        raise DesignError(files, _unlike(one.design, other.design), again)
    for what in ("labels", "decisions"):
        mine, theirs = (getattr(each.joint, what) for each in (one, other))
        if mine != theirs:
            raise LabelError(
                files,
                f"they have counts of different {'classes' if what == 'labels' else what}, "
                f"{listing(mine)} and {listing(theirs)}.",
                again,
            )
    if dict(one.decided_from) != dict(other.decided_from):
        raise LabelError(files, "decisions were taken from scores by different costs.", again)
    if one.joint.names != other.joint.names or _scored(one) != _scored(other):
        raise LabelError(
            files, "a model has decisions or scores in one of them and not in the other.", again
        )


def _unlike(one: DesignColumns, other: DesignColumns) -> str:
    """Return a sentence on the first design column in which two counts differ."""
    name = next(name for name in vars(one) if getattr(one, name) != getattr(other, name))
    what = {
        "sample_weight": "weights",
        "false_positive": "costs of false alarms",
        "false_negative": "costs of misses",
    }.get(name, name)
    mine, theirs = (
        "without them" if column is None else f"by the column {column!r}"
        for column in (getattr(one, name), getattr(other, name))
    )
    return f"they have different {what}: one was counted {mine}, the other {theirs}."


def _scored(counts: Tally) -> tuple[tuple[str, ...], tuple[Label, Label]] | None:
    scores = counts.scores
    return None if scores is None else (scores.names, (scores.neg_label, scores.pos_label))


def count_rows(
    table: Table,
    roles: Roles,
    costs: CostMatrix,
    positive: Label | None,
    decided_from: Mapping[str, float],
    *,
    with_scores: bool | str,
    row_costs: RowCosts | None = None,
    class_factors: Floats | None = None,
    by_least_cost: Collection[str] = (),
    advice: str = "",
) -> Tally:
    """Count the rows of a table, one batch at a time.

    Parameters
    ----------
    table : Table
        The rows.
    roles : Roles
        The roles of the columns.
    costs : CostMatrix
        The matrix with the classes and decisions to count.
    positive : label or None
        The positive class.
    decided_from : mapping
        The decision threshold of each model that has scores only.
    with_scores : bool or str
        Whether scores are counted; any text means that they are if they fit in memory.
    row_costs : RowCosts, optional
        The per-row costs of decisions, if costs vary within a class; the decisions of models in
        `decided_from` then minimize each row's expected cost, instead of using one threshold.
    class_factors : ndarray, shape (classes,), optional
        The ratio of each class's frequency in the target population to that in the rows, by which
        probabilities are adjusted.
    by_least_cost : collection of str
        The models with decisions whose scores are probabilities, for which the decision of least
        expected cost in each row is counted too.
    advice : str, optional
        The remedy for a missing or invalid decision.
    """
    counter = _Counter(
        table, roles, costs, positive, decided_from, with_scores=with_scores, row_costs=row_costs
    )
    counter.class_factors = class_factors
    counter.by_least_cost = frozenset(by_least_cost)
    for batch in table.batches(counter.columns()):
        counter.add(batch, advice)
    return counter.tally()


class _Counter:
    """Accumulator of the counts of batches."""

    def __init__(
        self,
        table: Table,
        roles: Roles,
        costs: CostMatrix,
        positive: Label | None,
        decided_from: Mapping[str, float],
        *,
        with_scores: bool | str,
        row_costs: RowCosts | None,
    ) -> None:
        self._source, self._roles = table.source, roles
        self._row_costs = row_costs
        self._examples: list[JointExamples] = []
        self._class_rows = np.zeros(len(costs.labels), dtype=np.int64)
        self._costs, self._positive = costs, positive
        self._decided_from = dict(decided_from)
        scored = {each.name: each.scores for each in roles.models if each.scores is not None}
        self._scored = scored if with_scores and positive is not None else {}
        self.class_factors: Floats | None = None
        self.by_least_cost: frozenset[str] = frozenset()
        self._if_they_fit = isinstance(with_scores, str)
        self._left_out = ""
        self._commas: dict[str, None] = {}
        self._points: set[str] = set()
        self._joint: JointConfusion | None = None
        self._positives: list[NDArray[np.bool_]] = []
        self._weights: list[Floats | None] = []
        self._parts: list[tuple[Parts, NDArray[np.intp]]] = []
        self._scores: dict[str, list[Floats]] = {name: [] for name in self._scored}
        self._decisions: dict[str, list[NDArray[Any]]] = {
            each.name: [] for each in roles.models if each.decisions is not None
        }
        self._matchers = {roles.actual: LabelMatcher(costs.labels, table.cells)}
        for model in roles.models:
            if model.decisions is not None:
                self._matchers[model.decisions] = LabelMatcher(costs.decisions, table.cells)

    def columns(self) -> list[str]:
        """Return the required columns."""
        models = self._roles.models
        deciding = [
            str(each.scores)
            for each in models
            if self._decides_by_scores(each) or each.name in self.by_least_cost
        ]
        every = [*self._matchers, *deciding, *self._scored.values()]
        every += [column for model in models for column in model.probabilities]
        every += self._roles.design.used().values()
        every += [] if self._row_costs is None else self._row_costs.columns
        return list(dict.fromkeys(every))

    def _decides_by_scores(self, model: Model) -> bool:
        return model.decisions is None and model.name in self._decided_from

    def add(self, batch: Batch, advice: str) -> None:
        """Count the rows of a batch."""
        costs, actual = self._costs, self._roles.actual
        codes = batch.codes(actual, self._matchers[actual], "classes")
        self._class_rows += np.bincount(codes, minlength=len(costs.labels))
        decided = self._decided(batch, advice)
        part, parts, weights = self._apart(batch, len(codes))
        joint = JointConfusion.from_codes(
            codes,
            decided,
            labels=costs.labels,
            decisions=costs.decisions,
            amounts=weights,
            part=part,
            parts=parts,
        )
        self._joint = joint if self._joint is None else self._joint + joint
        if self._row_costs is not None:
            self._examples.append(
                JointExamples(
                    tuple(decided),
                    codes.astype(np.intp),
                    np.array([*decided.values()], dtype=np.intp).reshape(-1, len(codes)).T,
                    self._row_costs.of(batch, codes, costs),
                    costs.labels,
                    costs.decisions,
                    weights,
                    parts,
                    part,
                    self._row_costs.high,
                    scores={name: batch.scores(column) for name, column in self._scored.items()}
                    or None,
                )
            )
        if self._scored:
            self._weights.append(weights)
            self._parts += [] if parts is None or part is None else [(parts, part)]
            small = np.min_scalar_type(-len(costs.decisions))
            for name, kept in self._decisions.items():
                kept.append(decided[name].astype(small))
            self._keep(codes == costs.labels.index(self._positive), batch)
        self._note_commas(batch)

    def _note_commas(self, batch: Batch) -> None:
        """Note which columns have decimal commas; raise an error if other rows have points."""
        self._commas |= dict.fromkeys(sorted(batch.commas))
        self._points |= set(batch.points)
        for name in self._commas:
            if name in self._points:
                raise InputError(
                    f"{batch.source}, column {name!r}",
                    "numbers have decimal commas in some rows and points in others; it is not "
                    "clear which are for decimals and which for thousands.",
                    "Write all numbers of the column in the same way.",
                )

    def _decided(self, batch: Batch, advice: str) -> dict[str, NDArray[Any]]:
        """Return the positions of the decisions of each model that has any."""
        decided: dict[str, NDArray[Any]] = {}
        for model in self._roles.models:
            if model.decisions is not None:
                matcher = self._matchers[model.decisions]
                decided[model.name] = batch.codes(model.decisions, matcher, "decisions", advice)
            elif self._decides_by_scores(model):
                scores = batch.scores(str(model.scores))
                if self._row_costs is None:
                    chosen = scores >= self._decided_from[model.name]
                    decided[model.name] = decisions_of(chosen, self._costs, self._positive)
                else:
                    decided[model.name] = self._least_cost(batch, scores, self._row_costs)
            if model.name in self.by_least_cost and self._row_costs is not None:
                scores = batch.scores(str(model.scores))
                column = model.minimum_cost
                decided[column] = self._least_cost(batch, scores, self._row_costs)
            if model.probabilities:
                columns = [batch.scores(name, "probability") for name in model.probabilities]
                decided[model.minimum_cost] = cheapest_decisions(
                    np.stack(columns, axis=1), self._costs, self.class_factors, batch.source, model
                )
        return decided

    def _least_cost(self, batch: Batch, scores: Floats, row_costs: RowCosts) -> NDArray[Any]:
        """Return the decision of least expected cost for each row."""
        place = self._costs.labels.index(self._positive)
        chosen = row_costs.chosen(batch, moved(scores, place, self.class_factors))
        return decisions_of(chosen, self._costs, self._positive)

    def _apart(
        self, batch: Batch, n: int
    ) -> tuple[NDArray[np.intp] | None, Parts | None, Floats | None]:
        """Return the part of each row, the parts, and the weights; None for those not in use."""
        design, part, parts, weights = self._roles.design, None, None, None
        strata = None if design.strata == self._roles.actual else design.strata
        if design.groups is not None or strata is not None:
            column, parts = Parts.of_columns(
                *(None if name is None else batch.names(name) for name in (design.groups, strata))
            )
            part = column.codes.astype(np.intp)
        if design.sample_weight is not None:
            name = design.sample_weight
            where = name if name == "sample_weight" else f"{batch.source}, column {name!r}"
            weights = validate.weights(batch.scores(name, "weight"), n, where)
        return part, parts, weights

    def _keep(self, positive: NDArray[np.bool_], batch: Batch) -> None:
        self._positives.append(positive)
        for name, column in self._scored.items():
            self._scores[name].append(batch.scores(column))
        # A table with a single batch was read whole, so its scores are in memory already.
        if len(self._positives) > 1 and self._rows() * len(self._scored) > MOST_SCORES:
            if self._if_they_fit and len(self._decided_from) + len(self._decisions) > 0:
                self._leave_scores_out()
                return
            raise InputError(
                batch.source,
                f"with it there are more than {MOST_SCORES:,} scores, which do not fit here.",
                "Decisions alone can be counted for any number of rows; for a cost curve, "
                "BinnedScoreCounts.from_frame counts so many scores. Pass with_scores= as False to "
                "count decisions alone.",
                code="too_many_scores",
            )

    def _leave_scores_out(self) -> None:
        """Discard the scores and count decisions only."""
        self._left_out = (
            f"There are more than {MOST_SCORES:,} scores, which do not fit here: models are judged "
            "by their decisions, and no thresholds are chosen."
        )
        self._scored, self._scores = {}, {}
        self._positives, self._weights, self._parts = [], [], []
        self._decisions = {name: [] for name in self._decisions}

    def _rows(self) -> int:
        return sum(map(len, self._positives))

    def tally(self) -> Tally:
        """Return the counts of all batches."""
        if self._joint is None:
            raise InputError(self._source, "it has no rows.")
        roles = self._roles
        return Tally(
            roles.actual,
            roles.models,
            self._joint,
            self._joint_scores(),
            self._decided_from if self._row_costs is None else {},
            roles.design,
            tuple(self._class_rows.tolist()),
            joined(self._examples) if self._examples else None,
            self._notes(),
            roles.doubtful,
        )

    def _notes(self) -> tuple[str, ...]:
        """Return notes on values that were read as labels with another spelling."""
        first: tuple[str, ...] = (self._left_out,) if self._left_out else ()
        if self._commas:
            several = (
                f"column{'s' if len(self._commas) > 1 else ''} {listed([*map(repr, self._commas)])}"
            )
            first += (f"In the {several}, commas are read as decimal points.",)
        columns: dict[frozenset[tuple[Any, Any]], list[str]] = {}
        readings: dict[frozenset[tuple[Any, Any]], dict[Any, Any]] = {}
        for name, matcher in self._matchers.items():
            if matcher.readings:
                same = frozenset(matcher.readings.items())
                columns.setdefault(same, []).append(repr(name))
                readings.setdefault(same, dict(matcher.readings))
        return first + tuple(
            f"In the column{'s' if names[1:] else ''} {listed(names)}, {_readings(readings[same])}."
            for same, names in columns.items()
        )

    def _joint_scores(self) -> JointScores | None:
        if not self._scored:
            return None
        columns = {}
        for name in self._scored:
            columns[name] = _one(self._scores.pop(name))
        parts, part = _one_set(self._parts) if self._parts else (None, None)
        return JointScores.from_columns(
            _one(self._positives),
            columns,
            pos_label=self._positive,
            neg_label=next(label for label in self._costs.labels if label != self._positive),
            sample_weight=None if self._weights[0] is None else _one(self._weights),
            parts=parts,
            part=part,
            decided={name: _one(each) for name, each in self._decisions.items()},
        )


def _readings(found: dict[Any, Any]) -> str:
    """Return how the first values were read."""
    (value, label), *others = list(found.items())[:MOST_READINGS]
    parts = [f"{value!r} is read as {label!r}", *(f"{each!r} as {read!r}" for each, read in others)]
    return f"{', '.join(parts)}, …" if len(found) > MOST_READINGS else listed(parts)


def _one(arrays: list[Any]) -> Any:
    """Concatenate arrays, without copying a single one."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _one_set(
    batches: Sequence[tuple[Parts, NDArray[np.intp]]],
) -> tuple[Parts, NDArray[np.intp]]:
    """Return the groups and strata of all batches, and the position of each row's part."""
    total, rows = batches[0][0], [batches[0][1]]
    for parts, part in batches[1:]:
        total, before, now = total.merged(parts)
        rows = [*(before[each] for each in rows), now[part]]
    return total, _one(rows)
