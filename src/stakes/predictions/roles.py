"""The roles of the columns of a table, as the user named them or guessed from names and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stakes._core.labels import Label, LabelMatcher, Labels, is_blank, listing
from stakes._core.text import in_one_line, listed, number, unjudged_sentence
from stakes.costs import CostMatrix
from stakes.errors import InputError
from stakes.predictions import _names
from stakes.predictions._doubts import FEW, doubts, misnamed, told_apart
from stakes.predictions._names import (
    ANY_MODEL,
    TWO,
    columns_by_class,
    has_decisions,
    has_flawed_decisions,
    has_probabilities,
    is_common,
)
from stakes.predictions.table import NO_DESIGN, Columns, DesignColumns, Table, check_columns

MOST_SAID, MOST_UNUSED = 12, 40
"""Maximum numbers of models with a sentence each, and of unused columns in a list."""


@dataclass(frozen=True)
class Model:
    """A model: the column with its decisions, those with its scores, or both.

    Attributes
    ----------
    name : str
        Its name.
    decisions : str or None
        The column with its decisions.
    scores : str or None
        The column with its scores for the positive class of two.
    probabilities : tuple of str
        The columns with its class probabilities, in the order of the costs' labels.
    """

    name: str
    decisions: str | None
    scores: str | None
    probabilities: tuple[str, ...] = ()

    @property
    def minimum_cost(self) -> str:
        """The name of its minimum-expected-cost decisions, by its probabilities."""
        return f"{self.name}@minimum-cost"


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a table.

    Attributes
    ----------
    actual : str
        The column with the actual classes.
    models : tuple of Model
        The models.
    ignored : tuple of str
        The columns without a role.
    guessed : bool
        Whether any role was guessed.
    design : DesignColumns
        The columns of groups, weights, strata and costs.
    doubtful : mapping of str to str
        The columns that the user did not name and that may be models, with the reason why none is
        read as one: values that rule out a role, such as "FRAUD" in place of "fraud", or values
        that features have too, such as 0 and 1. Also the models with missing values.
    cautions : tuple of str
        Warnings that rows may not be independent.
    """

    actual: str
    models: tuple[Model, ...]
    ignored: tuple[str, ...]
    guessed: bool
    design: DesignColumns = NO_DESIGN
    doubtful: Mapping[str, str] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()

    @property
    def unjudged(self) -> dict[str, str]:
        """The columns in `doubtful` that are read as no model, with the reasons."""
        read = {model.name for model in self.models}
        return {
            name: reason
            for name, reason in self.doubtful.items()
            if name not in read or name in self.ignored
        }

    @property
    def unjudged_note(self) -> str:
        """The sentence on the columns in `unjudged`, and what to do; empty if there are none."""
        found = unjudged_sentence(self.unjudged)
        remedy = "If one is a model, name all models with models= or scores=."
        return f"{found} {remedy}" if found else ""

    def in_words(self, *, short: bool = False) -> list[str]:
        """Return the roles as sentences; in short, of models with columns of their names one."""
        notes = [f"The actual classes are in the column {self.actual!r}."]
        kinds: dict[str, list[str]] = {}
        usual: dict[str, list[str]] = {}
        for model in self.models:
            where = {}
            if model.decisions is not None:
                where["decisions"] = repr(model.decisions)
            if model.scores is not None:
                where["scores"] = repr(model.scores)
            if model.probabilities:
                where["probabilities"] = listed(list(map(repr, model.probabilities)))
            kinds.setdefault(" and ".join(where), []).append(model.name)
            named = (model.decisions, model.scores, *model.probabilities)
            if short and all(each is None or each.startswith(model.name) for each in named):
                usual.setdefault(" and ".join(where), []).append(model.name)
                continue
            columns = " and ".join(f"its {what} in {names}" for what, names in where.items())
            notes.append(f"The model {model.name!r} has {columns}.")
        notes[1:1] = [f"Models with {kind}: {listed(names)}." for kind, names in usual.items()]
        if len(self.models) > MOST_SAID:
            notes[1:] = [
                f"There are models with {kind}: {listing(names, MOST_SAID)}."
                for kind, names in kinds.items()
            ]
        notes += self.design.in_words()
        if self.ignored:
            notes.append(f"Not used: {listing(self.ignored, MOST_UNUSED)}.")
        notes += [
            f"The model {model.name!r} cannot be judged by a gate: {self.doubtful[model.name]}."
            for model in self.models
            if model.name in self.doubtful and model.name not in self.ignored
        ]
        notes += filter(None, [] if short else [self.unjudged_note])  # the headline has it
        return notes


def find_roles(
    table: Table,
    named: Columns,
    costs: CostMatrix,
    positive: Label | None = None,
) -> Roles:
    """Return the role of each column, as the user named it or guessed from names and values.

    Parameters
    ----------
    table : Table
        The rows.
    named : Columns
        The columns that were named. Without models and scores, all columns that look like either
        are used; without scores, those that have the names of the models.
    costs : CostMatrix
        The matrix with the classes and decisions that columns of decisions hold.
    positive : label, optional
        The positive class: "prob_ok" holds the probability of "ok", and no score of another class.
    """
    named, owners = named.resolved(table.columns)
    owners |= _long_form_owners(table.renamed)
    named = replace(
        named,
        models=now_named(named.models, table.renamed),
        scores=now_named(named.scores, table.renamed),
    )
    check_columns(table, [named.actual, *named.models, *named.scores])
    check_columns(table, [*named.design.used().values()])
    actual = actual_column(table, named.actual, costs)
    _check_one_part_each(actual, named, table.source)
    divides = [name for name in named.divides if name not in {*named.models, *named.scores}]
    taken = {actual, *named.design.used().values(), *divides}
    candidates = [
        name for name in table.columns if name not in taken and not _names.ID_NAMES.search(name)
    ]
    chosen = bool(named.models or named.scores)
    if chosen:
        found = _as_named(named, owners, candidates, table, costs)
    else:
        found = _guessed(candidates, table, costs, positive, actual)
    _check_headed([*found.decisions, *found.scores], table)
    taken |= {column for columns in found.by_class.values() for column in columns}
    scores = [name for name in found.scores if name not in taken]
    decisions = [name for name in found.decisions if name not in taken]
    texts = () if positive is None else _names.texts_of(positive)
    bare = {name for name in scores if name in found.bare or _names.names_no_model(name, texts)}
    bare -= {*owners}
    models = _paired(decisions, scores, bare, owners, named=bool(named.scores))
    models = _with_probabilities(models, found.by_class)
    if not models:
        raise _no_models(table, candidates, found.foreign, costs)
    used = {*taken, *decisions, *scores}
    ignored = tuple(name for name in table.columns if name not in used)
    doubtful = dict(found.doubtful)
    if not chosen:
        unused, possible = set(ignored), set(candidates)
        known = {*doubtful, *found.foreign}
        left = [name for name in candidates if name in unused and name not in known]
        doubtful |= doubts(left, scores, table, costs, decisions)
        doubtful |= _scores_alone(found, models, table, costs, positive)
        elsewhere = [n for n in ignored if n not in possible or n in found.foreign]
        doubtful |= misnamed(elsewhere, table, costs)
    return Roles(
        actual,
        models,
        ignored,
        guessed=named.actual is None or not chosen,
        design=named.design,
        doubtful=doubtful,
        cautions=_cautions(ignored, table, named),
    )


def _as_named(
    named: Columns,
    owners: Mapping[str, str],
    columns: Sequence[str],
    table: Table,
    costs: CostMatrix,
) -> _Guess:
    """Return the columns of the models that the user named; without scores, with their scores."""
    decisions, scores = list(dict.fromkeys(named.models)), list(dict.fromkeys(named.scores))
    if not scores:
        models = [owners.get(name, name) for name in decisions]
        scores = _scores_of(models, [name for name in columns if name not in decisions], table)
    by_class = columns_by_class([*columns, *scores], table, costs.labels)
    return _Guess(decisions, scores, by_class)


def now_named(columns: Sequence[str], renamed: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the present names of columns, which reshaping may have replaced by one per model."""
    return tuple(name for column in columns for name in renamed.get(column, (column,)))


@dataclass(frozen=True)
class _Guess:
    """The columns of models, of scores of other classes, and those that may be models.

    Among the scores, `bare` have only the positive class in their name: "p1", "fraud". Among those
    of other classes, `of_classes` are their counterparts: "p0", "ok".
    """

    decisions: Sequence[str]
    scores: Sequence[str]
    by_class: Mapping[str, tuple[str, ...]]
    foreign: Sequence[str] = ()
    doubtful: Mapping[str, str] = field(default_factory=dict)
    bare: Sequence[str] = ()
    of_classes: Sequence[str] = ()


def _guessed(
    columns: Sequence[str], table: Table, costs: CostMatrix, positive: Label | None, actual: str
) -> _Guess:
    """Return the guessed columns of models: by their names, or else by their values.

    If any model is known by its name, other columns may be features, except those that hold the
    classes in specific words, such as "malignant", which features do not have; see `told_apart`.
    """
    labels = tuple(dict.fromkeys([*costs.labels, *costs.decisions]))
    by_class = columns_by_class(columns, table, costs.labels)
    bare = columns_by_class(columns, table, costs.labels, bare=True).get("model", ())
    of_positive = [bare[costs.labels.index(positive)]] if bare and positive is not None else []
    taken = {column for several in by_class.values() for column in several}
    others = _names.ModelNames(columns, costs.labels)
    foreign = [
        name
        for name in columns
        if name not in taken
        and name not in of_positive
        and (name in bare or _class_of_scores(name, costs, positive, others) is not None)
    ]
    left = [name for name in columns if name not in foreign and name not in taken]
    texts = () if positive is None else _names.texts_of(positive)
    scores = [
        name
        for name in left
        if name in of_positive
        or _is_score(name, table, labels)
        or (_names.names_scores_of(name, texts) and has_probabilities(table, name, labels))
    ]
    left = [name for name in left if name not in scores]
    stems = {_names.plain(_names.stem(name)) for name in scores} | {*map(_names.plain, by_class)}
    by_name = [
        name
        for name in left
        if _names.says_decisions(name, stems) and _decides(name, table, labels, named=True)
    ]
    unnamed = [
        name for name in left if name not in by_name and _decides(name, table, labels, named=False)
    ]
    known = bool(scores or by_name or by_class)
    rest = [name for name in left if name not in {*by_name, *unnamed}]
    told = told_apart(left, unnamed, by_name, table, costs, actual=actual, known=known)
    unnamed, doubtful, scores = told.decisions, dict(told.doubtful), [*scores, *told.scores]
    doubtful |= _likely_scores(rest, scores, table, costs, positive)
    scores = [name for name in scores if name not in doubtful]
    kept = {*by_name, *unnamed}
    decisions = [name for name in left if name in kept]
    of_classes = [name for name in foreign if name in bare and of_positive]
    return _Guess(decisions, scores, by_class, foreign, doubtful, of_positive, of_classes)


def _decides(name: str, table: Table, labels: Labels, *, named: bool) -> bool:
    """Tell whether a column has decisions, some of which may be missing or misspelt."""
    return has_decisions(table, name, labels) or has_flawed_decisions(
        table, name, labels, named=named
    )


def _class_of_scores(
    name: str, costs: CostMatrix, positive: Label | None, others: _names.ModelNames
) -> Label | None:
    """Return the class other than the positive one whose scores a column is named for, if any."""
    of = (each for each in costs.labels if _names.is_score_of(name, each, positive, others))
    return next(of, None)


def _likely_scores(
    columns: Sequence[str],
    scores: Collection[str],
    table: Table,
    costs: CostMatrix,
    positive: Label | None,
) -> dict[str, str]:
    """Return the columns of numbers that are named for a class or a model, with the reason.

    Columns that are read as `scores` are excluded, unless they have another class in the name.
    """
    labels = tuple(dict.fromkeys([*costs.labels, *costs.decisions]))
    found = {}
    for name in columns:
        label = _class_in(name, labels) if len(labels) == TWO else None
        another = label is not None and label != positive
        named = label is not None or _names.may_name_scores(name) or _names.VERSION.search(name)
        if (another or (named and name not in scores)) and table.numeric(name):
            fractions = has_probabilities(table, name, labels)
            if another and fractions:
                found[name] = _another_class(label, positive)
            elif name not in scores and (fractions or _many_named(name, table)):
                found[name] = _numbers_named(name, table)
    return found


def _class_in(name: str, labels: Labels) -> Label | None:
    """Return the only class in a column's name, if it is a word that features do not have."""
    there = [each for each in labels if _names.stem_of_class(name, each) is not None]
    return there[0] if len(there) == 1 and not is_common(there[0]) else None


def _many_named(name: str, table: Table) -> bool:
    """Tell whether a column may have scores by its name, and has too many values for decisions."""
    return _names.may_name_scores(name) and _many(name, table)


def _many(name: str, table: Table) -> bool:
    return len(table.values(name) or range(FEW + 1)) > FEW


def _numbers_named(name: str, table: Table) -> str:
    """Return the reason that numbers may be a model's scores: its name."""
    lowest, highest = table.score_range(name)
    named = "its name may be that of a model"
    if lowest >= 0 and highest <= 1:
        return f"it has numbers from 0 to 1, and {named}"
    return f"it has numbers from {number(lowest)} to {number(highest)}, no probabilities; {named}"


def _another_class(label: Label, positive: Label | None) -> str:
    """Return the reason that a column may have scores of a class whose scores are not read."""
    read = "" if positive is None else f"; only those of {positive!r} are read"
    return f"it is named as scores of {label!r} are{read}"


def _scores_alone(
    found: _Guess,
    models: Sequence[Model],
    table: Table,
    costs: CostMatrix,
    positive: Label | None,
) -> dict[str, str]:
    """Return the scores of classes other than the positive one that belong to no model."""
    unnamed = any(
        model.name in found.bare
        or _names.BARE_DECISION.match(model.decisions or "")
        or _names.BARE_SCORE.match(model.scores or "")
        for model in models
    )
    stems = {each for model in models for each in _names.pairing_names(model.name)}
    alone, others = {}, _names.ModelNames(table.columns, costs.labels)
    for name in found.foreign:
        label = _class_of_scores(name, costs, positive, others)
        if name in found.of_classes or label is None:
            continue
        left = _names.stem_of_class(name, label)
        if not (_names.plain(left) in stems if left else unnamed):
            alone[name] = _another_class(label, positive)
    return alone


def _cautions(ignored: Sequence[str], table: Table, named: Columns) -> tuple[str, ...]:
    """Return a warning about dependent rows if values of a column of ids repeat."""
    if named.design.groups is not None:
        return ()
    like_ids = [name for name in ignored if _names.GROUP_NAMES.search(name)]
    like_ids += [name for name in ignored if _names.ID_NAMES.search(name) and name not in like_ids]
    repeated = [name for name in like_ids if table.repeats(name)]
    if not repeated:
        return ()
    caution = (
        f"All rows are taken as independent, but values of {repeated[0]!r} repeat. If rows with "
        "the same value are not independent, intervals and tests are too narrow: name it as the "
        "column of groups with groups=."
    )
    return (caution,)


# The rules, in the order of their application.


def _check_one_part_each(actual: str, named: Columns, source: str) -> None:
    """Raise an error if a column was named for two roles."""
    if actual in (*named.models, *named.scores):
        raise InputError(
            source, f"the column {actual!r} has the actual classes, it cannot be a model too."
        )
    if both := set(named.models) & set(named.scores):
        raise InputError(
            source,
            f"the column {min(both)!r} was named as decisions and as scores; it can be only one "
            "of them.",
        )
    _check_design(actual, named, source)


def _check_design(actual: str, named: Columns, source: str) -> None:
    """Raise an error if a design column has another role; both costs may be in one column."""
    design = named.design
    apart = {"groups": design.groups, "weights": design.sample_weight, "strata": design.strata}
    taken = dict.fromkeys((*named.models, *named.scores), "a model") | {actual: "the classes"}
    costs = {column: "costs" for column in (design.false_positive, design.false_negative) if column}
    for what, column in [*apart.items(), *((what, column) for column, what in costs.items())]:
        if column is None or (what == "strata" and column == actual):
            continue
        other = taken.get(column)
        if other is not None:
            raise InputError(
                source,
                f"the column {column!r} was named as {what} and as {other}; it can be only one of "
                "them.",
            )
        taken[column] = what


def _scores_of(models: Sequence[str], columns: Sequence[str], table: Table) -> list[str]:
    """Return the columns with scores that have the names of models."""
    stems = {each for name in models for each in _names.pairing_names(name)}
    return [
        name
        for name in columns
        if _names.plain(_names.stem(name)) in stems and _is_score(name, table, ())
    ]


def _with_probabilities(
    models: Sequence[Model], by_class: Mapping[str, tuple[str, ...]]
) -> tuple[Model, ...]:
    """Add probabilities to models, and models that have only probabilities."""
    left = dict(by_class)
    found = []
    for model in models:
        stem = next((stem for stem in left if _names.plain(stem) == _names.plain(model.name)), None)
        if stem is None and len(models) == len(left) == 1:  # one of the two may lack a name
            only = next(iter(left))
            alone = only == ANY_MODEL or _names.BARE_DECISION.match(model.decisions or model.name)
            stem = only if alone else None
        found.append(model if stem is None else replace(model, probabilities=left.pop(stem)))
    found += [Model(in_one_line(stem), None, None, columns) for stem, columns in left.items()]
    return tuple(found)


def _is_score(name: str, table: Table, labels: Labels) -> bool:
    """Tell whether a column is named like scores, and has mostly numbers.

    A column that is named like decisions has scores if they are from 0 to 1 and not the labels;
    "logit" and "pred_logit", if they are any numbers but the labels.
    """
    if _names.LOGIT_COLUMN.match(name):
        return table.numeric(name) and not has_decisions(table, name, labels)
    if _names.looks_like_score(name):
        return table.numeric(name)
    return _names.looks_like_decisions(name) and has_probabilities(table, name, labels)


def _check_headed(names: Sequence[str], table: Table) -> None:
    """Raise an error if a model's column has no name."""
    for name in names:
        if not name.strip():
            raise InputError(
                table.source,
                f"column {table.columns.index(name) + 1} has no name, but values like those of a "
                "model.",
                "Give it a name in the header, or name the models with models=.",
            )


def _no_models(
    table: Table, candidates: Sequence[str], foreign: Sequence[str], costs: CostMatrix
) -> InputError:
    """Return the error that no column has decisions or scores, or only scores of other classes."""
    doubtful = doubts([name for name in candidates if name not in foreign], (), table, costs)
    for name, reason in doubtful.items():
        where = f"{table.source}, column {name!r}"
        if "ignore_case=" in reason:
            problem = f"no column has decisions as the costs write them: {reason}."
            return InputError(where, problem, proposal={"ignore_case": ""})
    for name, reason in doubtful.items():
        where = f"{table.source}, column {name!r}"
        if _names.looks_like_score(name):
            return InputError(where, f"{reason}.", "Write them as numbers: 0.35, not 35%.")
        if _names.looks_like_decisions(name):
            problem = f"it is named as decisions are, but {reason}."
            return InputError(where, problem, "Write decisions and actual classes alike.")
    if foreign:
        return InputError(
            table.source,
            f"no column has decisions, and {', '.join(map(repr, foreign[:20]))} look like scores "
            "of classes other than the positive one of two.",
            "Name a column of decisions with models=.",
        )
    numbers = [name for name in candidates if table.numeric(name)]
    many = [name for name in numbers if _many(name, table)]
    many.sort(key=lambda name: not _names.may_name_scores(name))
    return InputError(
        table.source,
        "no column looks like a model's decisions, which are classes of the costs, or like its "
        "scores, which are numbers from 0 to 1, or in a column named such as 'model_score'.",
        f"Name them with models= or scores=; there are {', '.join(map(repr, table.columns[:20]))}.",
        proposal={"scores": many[0]} if many else {},
    )


def actual_column(table: Table, named: str | None, costs: CostMatrix | None = None) -> str:
    """Return the column with the actual classes: the one named, or the one with a usual name.

    Otherwise it is the only column that holds classes of the costs and is named for an outcome.

    Parameters
    ----------
    table : Table
        The rows.
    named : str or None
        The column that was named.
    costs : CostMatrix, optional
        The matrix with the classes.
    """
    check_columns(table, [named])
    if named is not None:
        return named
    by_name = _names.guessed_actual(table.columns)
    if by_name is not None:
        return by_name
    likely = [
        name
        for name in table.columns
        if not (_names.looks_like_score(name) or _names.looks_like_decisions(name))
        and not _names.ID_NAMES.search(name)
        and _has_classes(table, name, costs)
    ]
    for telling in _names.TELLING_NAMES:
        found = [name for name in likely if telling.search(name)]
        if len(found) == 1:
            return found[0]
        if found:
            likely = found
            break
    raise _no_actual(table.columns, table.source, likely)


def _has_classes(table: Table, name: str, costs: CostMatrix | None) -> bool:
    """Tell whether a column holds several classes, all in the costs; without costs, any two."""
    values = [value for value in table.values(name) or [] if not is_blank(value)]
    if costs is None or len(costs.labels) == TWO:
        matcher = None if costs is None else LabelMatcher(costs.labels, table.cells)
        return len(values) == TWO and (matcher is None or all(map(matcher.knows, values)))
    return len(values) > 1 and all(map(LabelMatcher(costs.labels, table.cells).knows, values))


def guess_actual(columns: Sequence[str], source: str) -> str:
    """Return the column that has a usual name for the actual classes."""
    found = _names.guessed_actual(columns)
    if found is None:
        raise _no_actual(columns, source, ())
    return found


def _no_actual(columns: Sequence[str], source: str, likely: Sequence[str]) -> InputError:
    """Return the error that no column is known to have the actual classes."""
    return InputError(
        source,
        "which column has the actual classes? None is named 'actual', 'y_true', 'label' or the "
        "like.",
        f"Name it with actual=; there are {', '.join(map(repr, columns[:20]))}.",
        proposal={"actual": likely[0]} if likely else {},
    )


def _paired(
    decisions: Sequence[str],
    scores: Sequence[str],
    bare: Collection[str],
    owners: Mapping[str, str],
    *,
    named: bool,
) -> tuple[Model, ...]:
    """Pair decisions with scores of the same model, by their names.

    The names of `bare` scores, and of decisions such as "prediction", contain no model. If exactly
    one of each is left, they belong together. The user, or a table in long form, names the models
    of `owners`. If the user `named` scores, one name may also start with the other.
    """
    scores_of = _finder(decisions, scores, owners)
    models = [_with_scores(column, owners.get(column), scores_of) for column in decisions]
    if named:
        begun = _by_beginning(models, scores, owners)
        models = [replace(each, scores=begun.get(each.decisions, each.scores)) for each in models]
    taken = {model.scores for model in models}
    left = [score for score in scores if score not in taken]
    nameless = [
        model
        for model in models
        if model.scores is None
        and _names.BARE_DECISION.match(str(model.decisions))
        and model.decisions not in owners
    ]
    alone = [score for score in left if score in bare]
    if len(decisions) == len(scores) == 1 and (nameless or alone):  # one of them may have a name
        nameless = models
        alone = [score for score in left if score not in owners]
    if len(nameless) == len(alone) == 1:
        models[models.index(nameless[0])] = replace(nameless[0], scores=alone[0])
        left.remove(alone[0])
    names = {model.name for model in models}
    models += [_of_scores_alone(score, names, bare, owners) for score in left]
    if len({model.name for model in models}) < len(models):  # two names shorten to the same
        models = [replace(each, name=str(each.decisions or each.scores)) for each in models]
    return tuple(replace(each, name=in_one_line(each.name)) for each in models)


def _finder(
    decisions: Sequence[str], scores: Sequence[str], owners: Mapping[str, str]
) -> Callable[[str], str | None]:
    """Return a lookup of a model's scores by its name, or by its plain name if that is unique.

    The scores of "lr+" are not those of "lr", although the plain name of both is "lr".
    """
    exact = {_names.stem(score): score for score in scores if score not in owners}
    exact |= {owners[score]: score for score in scores if score in owners}
    stems = {owners.get(each) or _names.decision_stem(each) or each for each in decisions}
    plainly = [Counter(map(_names.plain, names)) for names in (exact, stems)]
    alone = {
        plain: score
        for stem, score in exact.items()
        if max(counts[plain := _names.plain(stem)] for counts in plainly) == 1
    }
    return lambda name: exact.get(name, alone.get(_names.plain(name)))


def _with_scores(
    decisions: str, owner: str | None, scores_of: Callable[[str], str | None]
) -> Model:
    """Return the model of a column of decisions, with its scores, if any."""
    if owner is not None:
        return Model(owner, decisions, scores_of(owner))
    name = _names.decision_stem(decisions) or decisions
    whole = scores_of(name) or scores_of(decisions)
    if whole is not None:
        return Model(name, decisions, whole)
    short = _names.MODEL_AFFIX.sub("", name) or name  # "model_a" beside "score_a"
    scores = scores_of(short)
    return Model(name if scores is None else short, decisions, scores)


def _by_beginning(
    models: Sequence[Model], scores: Sequence[str], owners: Mapping[str, str]
) -> dict[str | None, str]:
    """Return the scores of decisions without any whose name starts theirs, or is started by it.

    "rf" and "rf_calibrated_risk" belong together, unless either has another such column.
    """
    taken = {*(model.scores for model in models), *owners}
    pairs = [
        (model.decisions, score)
        for model in models
        if model.scores is None and model.decisions not in owners
        for score in scores
        if score not in taken and _begins(model, score)
    ]
    amounts = Counter(name for pair in pairs for name in pair)
    return {one: other for one, other in pairs if amounts[one] == amounts[other] == 1}


def _begins(model: Model, scores: str) -> bool:
    """Tell whether the name of a model or of its scores starts with the other, in whole words."""
    pairs = ((model.name, _names.stem(scores)), (str(model.decisions), scores))
    ordered = (sorted(pair, key=len) for pair in pairs)
    return any(_names.starts_with(longer, shorter) for shorter, longer in ordered)


def _of_scores_alone(
    scores: str, names: Collection[str], bare: Collection[str], owners: Mapping[str, str]
) -> Model:
    """Return the model of a column of scores; "prob_fraud" names the class, not a model."""
    name = owners.get(scores) or (scores if scores in bare else _names.stem(scores))
    return Model(scores if name in names else name, None, scores)


def _long_form_owners(renamed: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the model of each column that reshaping made from a column of all models."""
    return {
        column: column.removesuffix(f"_{value}")
        for value, columns in renamed.items()
        for column in columns
    }
