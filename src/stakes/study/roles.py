"""Which column of a table plays which part: as said, or as its name and values suggest."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from stakes.errors import InputError

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
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class Model:
    """A classifier: the column with its decisions, that with its scores, or both."""

    name: str
    decisions: str | None
    scores: str | None


@dataclass(frozen=True)
class Roles:
    """The parts that columns play.

    Attributes
    ----------
    actual : str
        The column with the actual classes.
    models : tuple of Model
        The classifiers.
    ignored : tuple of str
        The columns that play no part.
    guessed : bool
        Whether any of it was guessed.
    """

    actual: str
    models: tuple[Model, ...]
    ignored: tuple[str, ...]
    guessed: bool

    def in_words(self) -> list[str]:
        """Say what was understood, one sentence for each part."""
        said = [f"The actual classes are in the column {self.actual!r}."]
        for model in self.models:
            where = []
            if model.decisions is not None:
                where.append(f"its decisions in {model.decisions!r}")
            if model.scores is not None:
                where.append(f"its scores in {model.scores!r}")
            said.append(f"The model {model.name!r} has {' and '.join(where)}.")
        if self.ignored:
            said.append(f"Not used: {', '.join(map(repr, self.ignored))}.")
        return said


def find_roles(
    columns: Sequence[str],
    source: str,
    *,
    is_decision: Callable[[str], bool],
    is_score: Callable[[str], bool],
    is_flawed: Callable[[str, bool], bool] = lambda *_: False,
    actual: str | None = None,
    models: Sequence[str] = (),
    scores: Sequence[str] = (),
    positive: str | None = None,
    others: Collection[str] = (),
) -> Roles:
    """Give each column its part.

    Parameters
    ----------
    columns : sequence of str
        The names of the columns.
    source : str
        The name of the file, for errors.
    is_decision, is_score : callable
        Tell whether a column's values are classes or decisions, or numbers.
    is_flawed : callable, optional
        Tells whether a column's values are decisions but for some, which are missing or wrong. It
        is a model then all the same, so that counting finds the row; it must not fall back to its
        scores, or be left out. Also takes whether its name says that it has decisions.
    actual : str, optional
        The column with the actual classes.
    models, scores : sequence of str, optional
        The columns with decisions and with scores. Without both, all that look so; without scores,
        those that have the names of the models.
    positive, others : str and collection of str, optional
        The names of the positive class and of the other classes: "prob_ok" holds the probability
        of "ok", which is no score of the positive class.
    """
    for name in (*([] if actual is None else [actual]), *models, *scores):
        if name not in columns:
            raise InputError(unknown_column(name, columns, source))
    known = guess_actual(columns, source) if actual is None else actual
    _check_apart(known, models, scores, source)
    rest = [name for name in columns if name != known and not ID_NAMES.search(name)]
    foreign: list[str] = []
    if models or scores:
        chosen_models = list(dict.fromkeys(models))
        chosen_scores = list(dict.fromkeys(scores)) or _scores_of(models, rest, is_score)
    else:
        foreign = [name for name in rest if _looks_like_score(name) and _stem(name) in others]
        rest = [name for name in rest if name not in foreign]
        chosen_scores = [name for name in rest if _looks_like_score(name) and is_score(name)]
        stems = {_plain(_stem(name)) for name in chosen_scores}
        chosen_models = [
            name
            for name in rest
            if name not in chosen_scores
            and (is_decision(name) or is_flawed(name, _says_decisions(name, stems)))
        ]
    for name in (*chosen_models, *chosen_scores):
        if not name.strip():
            raise InputError(
                f"{source}: column {columns.index(name) + 1} has no name, but values like those of "
                "a model. Give it a name in the header, or name the models with --model."
            )
    found = _paired(chosen_models, chosen_scores, positive)
    if not found:
        raise InputError(_no_models(columns, foreign, source))
    used = {known, *chosen_models, *chosen_scores}
    ignored = tuple(name for name in columns if name not in used)
    return Roles(known, found, ignored, guessed=actual is None or not (models or scores))


def _check_apart(actual: str, models: Sequence[str], scores: Sequence[str], source: str) -> None:
    """Raise when one column was named for two parts."""
    if actual in (*models, *scores):
        raise InputError(
            f"{source}: the column {actual!r} has the actual classes, it cannot be a model too."
        )
    if both := set(models) & set(scores):
        raise InputError(
            f"{source}: the column {min(both)!r} was named as decisions and as scores; it can be "
            "only one of them."
        )


def _scores_of(
    models: Sequence[str], columns: Sequence[str], is_score: Callable[[str], bool]
) -> list[str]:
    """Return the columns that look like scores and have the names of the models."""
    stems = {_plain(name) for name in models}
    named = [name for name in columns if _looks_like_score(name) and _plain(_stem(name)) in stems]
    return [name for name in named if name not in models and is_score(name)]


def _no_models(columns: Sequence[str], foreign: Sequence[str], source: str) -> str:
    """Say that no column has decisions or scores, but at best scores of other classes."""
    if foreign:
        return (
            f"{source}: no column has decisions, and {', '.join(map(repr, foreign[:20]))} look "
            "like scores of classes other than the positive one of two. Name a column of decisions "
            "with --model."
        )
    return (
        f"{source}: no column looks like a model's decisions, which are classes of the costs, or "
        "like its scores, which are numbers in a column named such as 'model_score'. Name them "
        f"with --model or --score; there are {', '.join(map(repr, columns[:20]))}."
    )


def unknown_column(name: str, columns: Sequence[str], source: str) -> str:
    """Say that there is no such column, and which one may be meant."""
    close = get_close_matches(name, columns, n=1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    there = ", ".join(map(repr, columns[:20]))
    return f"{source}: there is no column {name!r}; there are {there}.{meant}"


def guess_actual(columns: Sequence[str], source: str) -> str:
    """Return the column that is named as those with actual classes are."""
    by_name = {name.lower(): name for name in reversed(columns)}
    for name in ACTUAL_NAMES:
        if name in by_name:
            return by_name[name]
    raise InputError(
        f"{source}: which column has the actual classes? None is named 'actual', 'y_true', 'label' "
        f"or the like. Name it with --actual; there are {', '.join(map(repr, columns[:20]))}."
    )


def _looks_like_score(name: str) -> bool:
    return bool(SCORE_NAMES.match(name) or BARE_SCORE.match(name))


def _says_decisions(name: str, scored: Collection[str]) -> bool:
    """Tell whether a name is that of decisions, or of a model that has scores."""
    said = BARE_DECISION.search(name) or DECISION_WORDS.search(name)
    return said is not None or _plain(name) in scored


def _stem(name: str) -> str:
    """Return the model's name in that of a score column."""
    match = None if BARE_SCORE.match(name) else SCORE_NAMES.match(name)
    return name if match is None else match["tail"] or match["head"]


def _decision_stem(name: str) -> str:
    """Return the model's name in that of a column of decisions."""
    return name if BARE_DECISION.match(name) else DECISION_WORDS.sub("", name)


def _paired(
    models: Sequence[str], scores: Sequence[str], positive: str | None
) -> tuple[Model, ...]:
    """Put decisions and scores of the same model together, by their names."""
    stems = {_plain(_stem(score)): score for score in scores}
    result, taken = [], set()
    for column in models:
        name = _decision_stem(column) or column
        score = stems.get(_plain(name), stems.get(_plain(column)))
        if score is not None:
            taken.add(score)
        result.append(Model(name, column, score))
    if len(models) == 1 and len(scores) == 1 and not taken:
        return (Model(_in_one_line(result[0].name), models[0], scores[0]),)
    names = {model.name for model in result}
    for score in scores:
        if score not in taken:
            name = score if _stem(score) == positive else _stem(score)
            result.append(Model(score if name in names else name, None, score))
    twice = [model.name for model in result]
    if len(set(twice)) < len(twice):  # two columns shorten to one name: keep the columns' own
        result = [
            Model(str(each.decisions or each.scores), each.decisions, each.scores)
            for each in result
        ]
    return tuple(replace(each, name=_in_one_line(each.name)) for each in result)


def _in_one_line(name: str) -> str:
    """Return a name with its line breaks and the like as they are written in code."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], name)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", _decision_stem(name).lower())
