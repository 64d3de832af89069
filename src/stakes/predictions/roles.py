"""Which column of a table plays which part: as named, or as its name and values suggest."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any

from stakes._core.labels import Label, LabelMatcher, Labels, is_blank, listing, plain
from stakes._core.text import listed
from stakes.costs import CostMatrix
from stakes.errors import InputError
from stakes.predictions.table import Table, check_columns, mostly

ACTUAL_NAMES = (
    "actual",
    "y_true",
    "truth",
    "ground_truth",
    "true_label",
    "label",
    "target",
    "class",
    "outcome",
    "y",
)
"""Names of the column with the actual classes, the most telling first."""

ID_NAMES = re.compile(r"(^|_)(id|uuid|key|index|row)$|^unnamed: 0$", re.IGNORECASE)
SCORE_WORDS = "scores?|proba?|probs|probability|probabilities|p"
SCORE_NAMES = re.compile(
    rf"^(?P<tail>.+?)[_. -](y_)?({SCORE_WORDS})$|^(y_)?({SCORE_WORDS})[_. -](?P<head>.+)$",
    re.IGNORECASE,
)
BARE_SCORE = re.compile(rf"^({SCORE_WORDS})$|^y_(score|proba?)$", re.IGNORECASE)
DECISION_WORDS = re.compile(
    r"^(?:(?:y_)?pred(?:icted|ictions?)?|decisions?)[_. -]"
    r"|[_. -](?:(?:y_)?pred(?:icted|ictions?)?|decisions?)$",
    re.IGNORECASE,
)
BARE_DECISION = re.compile(r"^(?:y_)?pred(?:icted|ictions?)?$|^decisions?$", re.IGNORECASE)
GROUP_NAMES = re.compile(
    r"^(patient|subject|user|customer|client|account|person|household|group|cluster|session|study|"
    r"student|speaker)s?([_. -]?(id|no|number|key|uuid))?$",
    re.IGNORECASE,
)
"""Names of columns whose equal values may tell rows that are not independent."""

TWO = 2
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class DesignColumns:
    """The columns that tell how rows came, and what a mistake costs for each; never guessed.

    Attributes
    ----------
    groups : str or None
        The group of each row, such as a patient, where those of a group are not independent.
    sample_weight : str or None
        The weight of each row: one over the probability of its being in the sample.
    strata : str or None
        The stratum that each row was drawn from. The column with the actual classes says that their
        numbers were fixed.
    false_positive, false_negative : str or None
        What a false alarm, and a miss, costs for each row.
    """

    groups: str | None = None
    sample_weight: str | None = None
    strata: str | None = None
    false_positive: str | None = None
    false_negative: str | None = None

    def used(self) -> dict[str, str]:
        """Return the columns that there are, by the part that they play."""
        return {name: column for name, column in vars(self).items() if column is not None}

    def in_words(self) -> list[str]:
        """Say what each column is taken for."""
        what = {
            "groups": "Rows with the same {!r} are one group",
            "sample_weight": "The weights are in the column {!r}",
            "strata": "The strata are in the column {!r}",
            "false_positive": "What a false alarm costs is in the column {!r}",
            "false_negative": "What a miss costs is in the column {!r}",
        }
        return [f"{what[name].format(column)}." for name, column in self.used().items()]


NO_DESIGN = DesignColumns()


@dataclass(frozen=True)
class Columns:
    """The columns that were named; what was not is guessed, except those of the design.

    Attributes
    ----------
    actual : str or None
        The column with the actual classes.
    models, scores : sequence of str
        The columns with decisions and with scores.
    key : str or None
        The column that names an example, to join files on.
    design : DesignColumns
        The columns of groups, weights, strata and costs.
    """

    actual: str | None = None
    models: Sequence[str] = ()
    scores: Sequence[str] = ()
    key: str | None = None
    design: DesignColumns = NO_DESIGN


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
        The column with its scores of the positive class of two.
    probabilities : tuple of str
        The columns with its probabilities of more classes, in the order of the costs' labels.
    """

    name: str
    decisions: str | None
    scores: str | None
    probabilities: tuple[str, ...] = ()

    @property
    def minimum_cost(self) -> str:
        """The name of its decisions of least expected cost, by its probabilities."""
        return f"{self.name}@minimum-cost"


@dataclass(frozen=True)
class Roles:
    """The parts that columns play.

    Attributes
    ----------
    actual : str
        The column with the actual classes.
    models : tuple of Model
        The models.
    ignored : tuple of str
        The columns that play no part.
    guessed : bool
        Whether any of it was guessed.
    design : DesignColumns
        The columns of groups, weights, strata and costs.
    doubtful : mapping of str to str
        Columns that nobody named and that play no part because of their values, such as "FRAUD" in
        place of "fraud", and why each may be a model all the same. Features are not among them.
    """

    actual: str
    models: tuple[Model, ...]
    ignored: tuple[str, ...]
    guessed: bool
    design: DesignColumns = NO_DESIGN
    doubtful: Mapping[str, str] = field(default_factory=dict)

    def in_words(self) -> list[str]:
        """Say what was understood, one sentence for each part."""
        notes = [f"The actual classes are in the column {self.actual!r}."]
        for model in self.models:
            where = []
            if model.decisions is not None:
                where.append(f"its decisions in {model.decisions!r}")
            if model.scores is not None:
                where.append(f"its scores in {model.scores!r}")
            if model.probabilities:
                where.append(f"its probabilities in {listed(list(map(repr, model.probabilities)))}")
            notes.append(f"The model {model.name!r} has {' and '.join(where)}.")
        notes += self.design.in_words()
        if self.ignored:
            notes.append(f"Not used: {', '.join(map(repr, self.ignored))}.")
        notes += [
            f"The column {name!r} may be a model, and is not used: {reason}."
            for name, reason in self.doubtful.items()
        ]
        grouping = [name for name in self.ignored if GROUP_NAMES.search(name)]
        if grouping and self.design.groups is None:
            notes.append(
                f"All rows are taken as independent. If those with the same {grouping[0]!r} are "
                "not, name it as the column of groups."
            )
        return notes


def find_roles(
    table: Table,
    named: Columns,
    costs: CostMatrix,
    positive: Label | None = None,
) -> Roles:
    """Give each column its part: what was named has it, the rest is found by names and values.

    Parameters
    ----------
    table : Table
        The rows.
    named : Columns
        The columns that were named. Without models and scores, all that look so are taken; without
        scores, those that have the names of the models.
    costs : CostMatrix
        Its classes and decisions are what columns of decisions hold.
    positive : label, optional
        The positive class: "prob_ok" holds the probability of "ok", which is no score of another.
    """
    check_columns(table, [named.actual, *named.models, *named.scores])
    check_columns(table, [*named.design.used().values()])
    actual = actual_column(table, named.actual)
    _check_one_part_each(actual, named, table.source)
    taken = {actual, *named.design.used().values()}
    candidates = [name for name in table.columns if name not in taken and not ID_NAMES.search(name)]
    foreign: list[str] = []
    if named.models or named.scores:
        decisions = list(dict.fromkeys(named.models))
        scores = list(dict.fromkeys(named.scores)) or _scores_of(decisions, candidates, table)
    else:
        others = {str(label) for label in costs.labels if label != positive}
        foreign = [name for name in candidates if _is_score_of(name, others)]
        candidates = [name for name in candidates if name not in foreign]
        scores = [name for name in candidates if _is_score(name, table)]
        candidates = [name for name in candidates if name not in scores]
        decisions = _decisions_among(candidates, scores, table, costs)
    _check_headed([*decisions, *scores], table)
    by_class = _by_class([*candidates, *scores, *foreign], table, costs.labels)
    taken |= {column for columns in by_class.values() for column in columns}
    scores = [name for name in scores if name not in taken]
    decisions = [name for name in decisions if name not in taken]
    chosen = bool(named.models and named.scores)
    models = _paired(decisions, scores, None if positive is None else str(positive), named=chosen)
    models = _with_probabilities(models, by_class)
    if not models:
        raise _no_models(table.columns, foreign, table.source)
    used = {*taken, *decisions, *scores}
    ignored = tuple(name for name in table.columns if name not in used)
    guessed = named.actual is None or not (named.models or named.scores)
    doubtful = {}
    if not (named.models or named.scores):
        left = [name for name in candidates if name in ignored]
        doubtful = _doubtful(left, scores, table, costs)
        doubtful |= _misnamed([n for n in ignored if n not in candidates], table, costs)
    return Roles(actual, models, ignored, guessed=guessed, design=named.design, doubtful=doubtful)


# The rules, in the order in which they are applied.


def _check_one_part_each(actual: str, named: Columns, source: str) -> None:
    """Raise when one column was named for two parts."""
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
    """Raise when a column of the design has another part; amounts may be those of both mistakes."""
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
    """Return the columns that have scores, and the names of models that were named."""
    stems = {_plain(name) for name in models}
    return [
        name
        for name in columns
        if name not in models and _plain(_stem(name)) in stems and _is_score(name, table)
    ]


def _by_class(columns: Sequence[str], table: Table, labels: Labels) -> dict[str, tuple[str, ...]]:
    """Return by model the columns with a probability for each of more than two classes.

    Their names end, or begin, with the class: "rf_red", "p_red_rf", or "red" alone.
    """
    if len(labels) <= TWO:
        return {}
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        for label in map(str, labels):
            stem = _stem_of_class(column, label)
            if stem is not None and table.numeric(column):
                found.setdefault(stem, {}).setdefault(label, column)
    every = list(map(str, labels))
    return {
        stem or "model": tuple(by_label[label] for label in every)
        for stem, by_label in found.items()
        if set(by_label) == set(every) and len(set(by_label.values())) == len(every)
    }


def _stem_of_class(column: str, label: str) -> str | None:
    """Return what is left of a column's name without a class and words such as "prob"."""
    escaped = re.escape(label)
    match = re.fullmatch(
        rf"(?:(?P<before>.*?)[_. -])?{escaped}(?:[_. -](?P<after>.*))?", column, re.IGNORECASE
    )
    if match is None:
        return None
    words = [each for each in (match["before"], match["after"]) if each]
    stem = "_".join(words)
    bare = rf"(?:y_)?(?:{SCORE_WORDS})"
    return re.sub(rf"^{bare}(?:[_. -]|$)|[_. -]{bare}$", "", stem, flags=re.IGNORECASE)


def _with_probabilities(
    models: Sequence[Model], by_class: Mapping[str, tuple[str, ...]]
) -> tuple[Model, ...]:
    """Give models their probabilities, and add those that have nothing else."""
    left = dict(by_class)
    found = []
    for model in models:
        stem = next((stem for stem in left if _plain(stem) == _plain(model.name)), None)
        if stem is None and len(models) == len(left) == 1:  # one of each: they belong together
            stem = next(iter(left))
        found.append(model if stem is None else replace(model, probabilities=left.pop(stem)))
    found += [Model(_in_one_line(stem), None, None, columns) for stem, columns in left.items()]
    return tuple(found)


def _is_score_of(name: str, classes: Collection[str]) -> bool:
    """Tell whether a column is named as scores of one of these classes, such as "prob_ok"."""
    return looks_like_score(name) and _stem(name) in classes


def _is_score(name: str, table: Table) -> bool:
    """Tell whether a column is named as scores are, and mostly has numbers."""
    return looks_like_score(name) and table.numeric(name)


def _decisions_among(
    columns: Sequence[str], scores: Sequence[str], table: Table, costs: CostMatrix
) -> list[str]:
    """Return the columns that have decisions, those with some wrong cells among them.

    Counting then finds the wrong cells. A model must not fall back to its scores, or be left out,
    because of a misspelt decision.
    """
    labels = tuple(dict.fromkeys([*costs.labels, *costs.decisions]))
    stems = {_plain(_stem(name)) for name in scores}
    return [
        name
        for name in columns
        if has_decisions(table, name, labels)
        or has_flawed_decisions(table, name, labels, named=_says_decisions(name, stems))
    ]


def has_decisions(table: Table, name: str, labels: Labels) -> bool:
    """Tell whether a column has values, and all of them stand for labels."""
    values = table.values(name)
    matcher = LabelMatcher(labels, table.cells)
    return bool(values) and all(map(matcher.knows, values or ()))


def has_flawed_decisions(table: Table, name: str, labels: Labels, *, named: bool) -> bool:
    """Tell whether a column that nobody named has decisions, some of them missing or misspelt.

    It has where at least half of its values, of those that are there, are labels, and

    - its name says so, such as "pred_a", or "a" beside "a_score"; or
    - the other values are not such as features have: no numbers where labels are numbers (counts
      such as 0, 1, 2 are no decisions between 0 and 1), and not several where one label occurs.

    Parameters
    ----------
    table : Table
        The rows.
    name : str
        The column.
    labels : tuple
        The labels.
    named : bool
        Whether its name says so.
    """
    values = table.values(name) or []
    matcher = LabelMatcher(labels, table.cells)
    known = {value for value in values if matcher.knows(value)}
    others = [value for value in values if value not in known and not is_blank(value)]
    numbers = any(map(_is_number, labels)) and any(map(_is_number, others))
    like_a_feature = numbers or len(others) > len(known) == 1
    if not known or (like_a_feature and not named):
        return False
    return mostly(*table.amounts(name, known))


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number, or text of one, but neither true nor false nor NaN."""
    try:
        return not isinstance(value, bool) and not isnan(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


# Columns that were left out because of their values, and may be models.

MISSING = re.compile(r"[\W_]*(?:n[\W_]*a|nan|nil|null|none|missing|unknown|error)?[\W_]*")
"""What is written, in small letters, where there is no value."""

FEW = 3
"""With more decisions than so many, a column of other words is as likely a feature."""


def _doubtful(
    columns: Sequence[str], scores: Sequence[str], table: Table, costs: CostMatrix
) -> dict[str, str]:
    """Return the columns that may have decisions or scores that cannot be read, and why."""
    labels = tuple(dict.fromkeys([*costs.labels, *costs.decisions]))
    stems = {_plain(_stem(name)) for name in scores}
    found = {}
    for name in columns:
        if looks_like_score(name):
            reason = "it is named as scores are, and most of its values are not numbers"
        else:
            reason = _doubt(table, name, labels, named=_says_decisions(name, stems))
        if reason:
            found[name] = reason
    return found


def _misnamed(columns: Sequence[str], table: Table, costs: CostMatrix) -> dict[str, str]:
    """Return columns with decisions whose names are those of something else, and why."""
    labels = tuple(dict.fromkeys([*costs.labels, *costs.decisions]))
    matcher = LabelMatcher(labels, table.cells)
    found = {}
    for name in columns:
        values = [value for value in table.values(name) or [] if not is_blank(value)]
        if values and all(map(matcher.knows, values)) and not all(map(_is_number, values)):
            found[name] = "it is named as ids, or scores of another class, are, but has decisions"
    return found


def _doubt(table: Table, name: str, labels: Labels, *, named: bool) -> str:
    """Say why a column that has no decisions may be meant to have some; nothing for a feature.

    It may where its name says so, where its values are labels but for their case, spaces and
    punctuation or for words for missing values, and where it has as few words as there are
    decisions. Numbers and columns of more words are features.
    """
    values = [value for value in table.values(name) or [] if not is_blank(value)]
    matcher = LabelMatcher(labels, table.cells)
    folded = {_folded(label): label for label in labels}
    known = {value for value in values if matcher.knows(value)}
    close = {value for value in values if value not in known and _folded(value) in folded}
    missing = {value for value in values if MISSING.fullmatch(str(value).lower())} - known - close
    others = [value for value in values if value not in known | close | missing]
    meant = {matcher.find(value) for value in known} | {
        labels.index(folded[_folded(value)]) for value in close
    }
    if not (others or known or close):
        if named:
            return f"it is named as decisions are, and has none of {listing(labels)}"
        return "all of its values are missing" if values else ""
    numbers = all(map(_is_number, others)) and (not meant or any(map(_is_number, labels)))
    if others and numbers and not named:
        return ""
    if not named and not meant and not 1 < len(others) <= min(len(labels), FEW):
        return ""
    if not named and len(meant) == 1 < len(others):
        return ""
    return _written_as(values, known, close, missing, labels)


def _written_as(
    values: Sequence[Any],
    known: Collection[Any],
    close: Collection[Any],
    missing: Collection[Any],
    labels: Labels,
) -> str:
    """Say what a column has in place of labels."""
    strange = [value for value in values if value not in known]
    first = [each for each in strange if each in close] or strange
    shown = ", ".join(repr(plain(each)) for each in first[:3])
    expected = f"the decisions of the costs are {listing(labels)}"
    if missing and len(missing) == len(strange):
        return f"most of its values are missing ({shown}); {expected}"
    return f"it has {shown}{', …' if first[3:] else ''}; {expected}"


def _folded(value: Any) -> str:
    """Return a value in small letters, without spaces and punctuation; numbers as they are."""
    text = str(plain(value)).strip()
    return text if _is_number(text) else re.sub(r"[\W_]+", "", text).casefold() or text


def _check_headed(names: Sequence[str], table: Table) -> None:
    """Raise when the column of a model has no name."""
    for name in names:
        if not name.strip():
            raise InputError(
                table.source,
                f"column {table.columns.index(name) + 1} has no name, but values like those of a "
                "model.",
                "Give it a name in the header, or name the models with models=.",
            )


def _no_models(columns: Sequence[str], foreign: Sequence[str], source: str) -> InputError:
    """Return the error that no column has decisions or scores, or only scores of other classes."""
    if foreign:
        return InputError(
            source,
            f"no column has decisions, and {', '.join(map(repr, foreign[:20]))} look like scores "
            "of classes other than the positive one of two.",
            "Name a column of decisions with models=.",
        )
    return InputError(
        source,
        "no column looks like a model's decisions, which are classes of the costs, or like its "
        "scores, which are numbers in a column named such as 'model_score'.",
        f"Name them with models= or scores=; there are {', '.join(map(repr, columns[:20]))}.",
    )


def actual_column(table: Table, named: str | None) -> str:
    """Return the column with the actual classes: the one named, or the one that is called so."""
    check_columns(table, [named])
    return guess_actual(table.columns, table.source) if named is None else named


def guess_actual(columns: Sequence[str], source: str) -> str:
    """Return the column that is named as those with actual classes are."""
    by_name = {name.lower(): name for name in reversed(columns)}
    for name in ACTUAL_NAMES:
        if name in by_name:
            return by_name[name]
    raise InputError(
        source,
        "which column has the actual classes? None is named 'actual', 'y_true', 'label' or the "
        "like.",
        f"Name it with actual=; there are {', '.join(map(repr, columns[:20]))}.",
    )


def looks_like_score(name: str) -> bool:
    """Tell whether a column is named as scores are."""
    return bool(SCORE_NAMES.match(name) or BARE_SCORE.match(name))


def _says_decisions(name: str, scored: Collection[str]) -> bool:
    """Tell whether a name is that of decisions, or of a model that has scores."""
    words = BARE_DECISION.search(name) or DECISION_WORDS.search(name)
    return words is not None or _plain(name) in scored


def _stem(name: str) -> str:
    """Return the model's name in that of a score column."""
    match = None if BARE_SCORE.match(name) else SCORE_NAMES.match(name)
    return name if match is None else match["tail"] or match["head"]


def _decision_stem(name: str) -> str:
    """Return the model's name in that of a column of decisions."""
    return name if BARE_DECISION.match(name) else DECISION_WORDS.sub("", name)


def _paired(
    decisions: Sequence[str], scores: Sequence[str], positive: str | None, *, named: bool
) -> tuple[Model, ...]:
    """Put decisions and scores of a model together, by their names or because both were named."""
    by_stem = {_plain(_stem(score)): score for score in scores}
    models = [_with_scores(column, by_stem) for column in decisions]
    taken = {model.scores for model in models}
    left = [score for score in scores if score not in taken]
    alone = len(models) == len(scores) == 1 and bool(left)
    if alone and (named or _names_no_other(decisions[0], scores[0], positive)):
        models, left = [replace(models[0], scores=scores[0])], []
    names = {model.name for model in models}
    models += [_of_scores_alone(score, names, positive) for score in left]
    if len({model.name for model in models}) < len(models):  # two columns shorten to one name
        models = [replace(each, name=str(each.decisions or each.scores)) for each in models]
    return tuple(replace(each, name=_in_one_line(each.name)) for each in models)


def _names_no_other(decisions: str, scores: str, positive: str | None) -> bool:
    """Tell whether one of two columns names no model: "prediction", "score" or "prob_fraud"."""
    bare = BARE_DECISION.match(decisions) or BARE_SCORE.match(scores)
    return bool(bare) or _stem(scores) == positive


def _with_scores(decisions: str, by_stem: Mapping[str, str]) -> Model:
    """Return the model of a column of decisions, with its scores if there are any."""
    name = _decision_stem(decisions) or decisions
    return Model(name, decisions, by_stem.get(_plain(name), by_stem.get(_plain(decisions))))


def _of_scores_alone(scores: str, names: Collection[str], positive: str | None) -> Model:
    """Return the model of a column of scores; "prob_fraud" names the class and no model."""
    name = scores if _stem(scores) == positive else _stem(scores)
    return Model(scores if name in names else name, None, scores)


def _in_one_line(name: str) -> str:
    """Return a name with its line breaks and the like as they are written in code."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], name)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", _decision_stem(name).lower())
