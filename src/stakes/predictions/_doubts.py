"""Columns that may be models although their values rule them out, which a gate must not pass."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core import labels as label_rules
from stakes._core.labels import (
    Cells,
    LabelMatcher,
    Labels,
    folded,
    is_blank,
    is_number,
    listing,
)
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.errors import InputError
from stakes.predictions._names import (
    GROUP_NAMES,
    LIKELY_NAMES,
    MODEL_COLUMNS,
    TWO,
    USUAL_NAMES,
    guessed_actual,
    has_probabilities,
    is_common,
    looks_like_score,
    may_name_scores,
    names_feature,
    names_known_model,
    names_model,
    names_outcome,
    plain,
    says_decisions,
    stem,
)
from stakes.predictions.table import Table, mostly

MISSING = re.compile(r"[\W_]*(?:n[\W_]*a|nan|nil|null|none|missing|unknown|error)?[\W_]*")
"""Pattern of text for a missing value, in lower case."""

FEW, FEW_LIKELY = 3, 10
"""Maximum number of other words in a column that may be a model; the second if its name is likely.

With more words, the column is as likely a feature."""

LEAST_SHARE = 0.01
"""Minimum share of rows with labels for a column of very many other values to be doubtful."""


@dataclass(frozen=True)
class _Content:
    """The distinct values of a column, classified.

    Attributes
    ----------
    values : list
        All values except blanks.
    known, close, missing : set
        Labels; values that differ from labels only in case, spaces and punctuation; words for
        missing values.
    others : list
        All other values.
    meant : set of int
        The positions of the labels that known and close values stand for.
    """

    values: Sequence[Any]
    known: Collection[Any]
    close: Collection[Any]
    missing: Collection[Any]
    others: Sequence[Any]
    meant: Collection[int]

    @classmethod
    def of(cls, values: Iterable[Any], labels: Labels, cells: Cells) -> _Content:
        """Classify the distinct values of a column.

        Parameters
        ----------
        values : iterable
            The values.
        labels : tuple
            The labels.
        cells : {"values", "typed", "text", "loose"}
            The kind of cells that the values come from.
        """
        values = [value for value in values if not is_blank(value)]
        matcher = LabelMatcher(labels, cells)
        by_folded = {folded(label): place for place, label in enumerate(labels)}
        known = {value for value in values if matcher.knows(value)}
        close = {value for value in values if value not in known and folded(value) in by_folded}
        missing = {value for value in values if MISSING.fullmatch(str(value).lower())}
        missing -= known | close
        meant = {matcher.find(value) for value in known}
        meant |= {by_folded[folded(value)] for value in close}
        others = [value for value in values if value not in known | close | missing]
        return cls(values, known, close, missing, others, meant)

    @property
    def ours(self) -> set[Any]:
        """The values that are labels, apart from case, spaces and punctuation."""
        return {*self.known, *self.close}


UNCLEAR = "it could be a model's decisions or a feature"
UNCLEAR_SCORES = "it could be a model's scores or a feature"

SUBSTANTIAL = 0.6
"""Least kappa, agreement beyond chance, of decisions: "substantial" (Landis and Koch, 1977)."""

SURELY = 5.0
"""Least kappa in standard errors, so that chance does not reach it in any of many columns."""


@dataclass(frozen=True)
class Told:
    """Columns that only their values make models, told apart from features.

    Attributes
    ----------
    decisions, scores : list of str
        The columns of models.
    doubtful : dict of str to str
        The columns that may be models, with the reason why none is read as one.
    """

    decisions: list[str]
    scores: list[str]
    doubtful: dict[str, str]


def told_apart(
    columns: Sequence[str],
    decided: Sequence[str],
    by_name: Sequence[str],
    table: Table,
    costs: CostMatrix,
    *,
    actual: str,
    known: bool,
) -> Told:
    """Tell models from features among columns that are not named as decisions or scores.

    A column is a model if its name is that of a kind of model, or if it agrees with the actual
    classes far more than by chance; it is not if it is named like a feature. Of the other columns,
    all are models if no model is known by its name, and otherwise none is.

    Parameters
    ----------
    columns : sequence of str
        The columns.
    decided : sequence of str
        Those that have the values of classes.
    by_name : sequence of str
        Those that are named as decisions.
    table : Table
        The rows.
    costs : CostMatrix
        The matrix with the classes and decisions.
    actual : str
        The column of the actual classes.
    known : bool
        Whether any model is known by a name as that of decisions or scores.
    """
    labels = tuple(dict.fromkeys([*costs.labels, *costs.decisions]))
    alike = {_without_number(name) for name in by_name}
    named = [name for name in decided if names_model(name) or _without_number(name) in alike]
    fractions = [
        name
        for name in columns
        if len(costs.labels) == TWO  # with more classes, a fraction has no known class
        and name not in {*decided, *by_name}
        and (names_known_model(name) if known else not names_feature(name))
        and has_probabilities(table, name, labels)
    ]
    likely = [name for name in fractions if names_model(name) or may_name_scores(name)]
    words = not all(map(is_common, labels))
    doubtful = {
        name: reason
        for name in decided
        if name not in named and (reason := _no_model(name, words=words))
    }
    rest = [name for name in decided if name not in {*named, *doubtful}]
    if known or named or likely:
        if not words:
            doubtful |= _unclear(rest, table, actual, labels)
        doubtful |= {name: UNCLEAR_SCORES for name in fractions if name not in likely}
    return Told(
        [name for name in decided if name not in doubtful],
        [name for name in fractions if name not in doubtful],
        doubtful,
    )


def _no_model(name: str, *, words: bool) -> str:
    """Return the reason why a name is not that of a model, although the values are classes.

    Features do not have classes in specific words, but copies of the actual classes do.
    """
    if guessed_actual([name]) is not None or (names_outcome(name) and not words):
        return "it is named as actual classes are, and another column has these"
    if names_feature(name) and not words:
        return "it is named as a feature, and has the values of the classes"
    return ""


def _unclear(columns: Sequence[str], table: Table, actual: str, labels: Labels) -> dict[str, str]:
    """Return the columns that do not agree with the actual classes far more than by chance.

    Columns that equal the actual classes may be a copy of them, and are included.
    """
    found = dict.fromkeys(columns, UNCLEAR)
    for name, (truth, decided, right) in _margins(columns, table, actual, labels).items():
        if right.sum() == truth.sum():
            found[name] = f"it is equal to {actual!r} in every row, and may be a copy of it"
        elif _agrees(truth, decided, right):
            del found[name]
    return found


def _margins(
    columns: Sequence[str], table: Table, actual: str, labels: Labels
) -> dict[str, Floats]:
    """Return by column, and by label, the rows of that class, decided so, and rightly decided so.

    Columns in which a cell is no label have no entry.
    """
    matcher, size = LabelMatcher(labels, table.cells), len(labels)
    found = {name: np.zeros((3, size)) for name in columns}
    for batch in table.batches([actual, *columns]) if columns else ():
        truth = batch.codes(actual, matcher, "classes")
        for name in list(found):
            try:
                decided = batch.codes(name, matcher, "decisions")
            except InputError:
                del found[name]
                continue
            codes = (truth, decided, truth[truth == decided])
            found[name] += [np.bincount(each, minlength=size) for each in codes]
    return found


def _agrees(truth: Floats, decided: Floats, right: Floats) -> bool:
    """Tell whether Cohen's kappa (1960) is substantial, and far from what chance may give.

    The standard error of kappa for decisions that do not depend on the class is that of Fleiss,
    Cohen and Everitt (1969).
    """
    n = truth.sum()
    rows, columns = truth / n, decided / n
    chance = float(rows @ columns)
    if chance == 1:
        return False
    kappa = (right.sum() / n - chance) / (1 - chance)
    spread = chance + chance**2 - float((rows * columns) @ (rows + columns))
    error = math.sqrt(max(spread, 0.0) / n) / (1 - chance)
    return bool(kappa >= max(SUBSTANTIAL, SURELY * error))


def doubts(
    columns: Sequence[str],
    scores: Sequence[str],
    table: Table,
    costs: CostMatrix,
    decided: Sequence[str] = (),
) -> dict[str, str]:
    """Return the columns that may have unreadable decisions or scores, with the reason.

    Parameters
    ----------
    columns : sequence of str
        The columns without a role.
    scores, decided : sequence of str
        The columns with the scores and with the decisions of models.
    table : Table
        The rows.
    costs : CostMatrix
        The matrix with the classes and decisions that columns of decisions hold.
    """
    labels = tuple(dict.fromkeys([*costs.labels, *costs.decisions]))
    stems = {plain(stem(name)) for name in scores}
    alike = {_without_number(name) for name in decided}
    codes = _codes_of({len(costs.labels), len(costs.decisions)})
    found = {}
    for name in columns:
        if looks_like_score(name):
            shown = listing([str(label_rules.plain(each)) for each in table.values(name) or ()], 3)
            such = f", such as {shown.partition(', …')[0]}" if shown else ""
            reason = f"it is named as scores are, and most of its values are not numbers{such}"
        else:
            named = says_decisions(name, stems) or bool(USUAL_NAMES.search(name))
            likely = bool(LIKELY_NAMES.search(name)) and not MODEL_COLUMNS.search(name)
            likely |= _without_number(name) in alike
            values = table.values(name)
            if values is None:
                reason = _among_many(table, name, labels, whole=table.reading.gated)
                reason = reason or (_no_decisions(labels) if named else "")
            else:
                content = _Content.of(values, labels, table.cells)
                reason = _doubt(table, name, content, labels, codes, named=named, likely=likely)
            reason = reason or _percentages(table, name, values)
        if reason:
            found[name] = reason
    return found


PERCENT = re.compile(r"\s*[\d.,]+\s*%\s*")


def _percentages(table: Table, name: str, values: Sequence[Any] | None) -> str:
    """Return the reason that percentages, as text, may be scores: the name of their column."""
    if not may_name_scores(name):
        return ""
    first = next(iter(table.frequent(name, whole=False).rows if values is None else values), "")
    if not PERCENT.fullmatch(str(first)):
        return ""
    return f"its name may be that of a model, and it has text such as {str(first).strip()!r}"


def _without_number(name: str) -> str:
    """Return a name with its numbers replaced by 0, so that "v1" and "v2" are alike."""
    return re.sub(r"\d+", "0", name).casefold()


def misnamed(columns: Sequence[str], table: Table, costs: CostMatrix) -> dict[str, str]:
    """Return columns with decisions that are named like something else, with the reason."""
    labels = tuple(dict.fromkeys([*costs.labels, *costs.decisions]))
    found = {}
    for name in columns:
        values = table.values(name)
        if values is None:
            has = bool(_among_many(table, name, labels, whole=False))
        else:
            content = _Content.of(values, labels, table.cells)
            has = not all(map(is_number, content.ours)) and (
                len(content.meant) > 1 or _mostly_labels(table, name, content)
            )
        if has:
            found[name] = "it is named as ids, or scores of another class, are, but has decisions"
    return found


def _codes_of(sizes: Collection[int]) -> list[set[float]]:
    """Return the sets of numbers that commonly code classes, for each number of classes."""
    counted = [set(map(float, range(first, first + n))) for n in sizes for first in (0, 1)]
    return [*counted, {-1.0, 1.0}] if 2 in sizes else counted  # noqa: PLR2004 - two classes


def _mostly_labels(table: Table, name: str, content: _Content) -> bool:
    """Tell whether at least half of the non-missing rows have a label, apart from case."""
    return bool(content.ours) and mostly(*table.amounts(name, content.ours))


def _no_decisions(labels: Labels) -> str:
    return f"none of its values is one of the decisions of the costs, {listing(labels)}"


def _doubt(
    table: Table,
    name: str,
    content: _Content,
    labels: Labels,
    codes: Sequence[set[float]],
    *,
    named: bool,
    likely: bool,
) -> str:
    """Return the reason why an unreadable column may have decisions; empty for a feature.

    It may if its name indicates decisions; if its values are labels apart from case, spaces and
    punctuation, or words for missing values; if it has no more words than there are decisions, or
    few words and a name that is likely for a model; or if its numbers commonly code classes. Other
    numbers and columns of more words are features, unless most rows are labels.
    """
    if not (content.others or content.meant):
        return "all of its values are missing" if named or content.values else ""
    if named or _has_decisions(table, name, content, labels, codes, likely=likely):
        return _written_as(content, labels)
    return ""


def _has_decisions(
    table: Table,
    name: str,
    content: _Content,
    labels: Labels,
    codes: Sequence[set[float]],
    *,
    likely: bool,
) -> bool:
    """Tell whether a column's values may stand for decisions, although its name does not say so."""
    others, meant = content.others, content.meant
    feature = names_feature(name) or GROUP_NAMES.match(name)
    if feature and others and all(map(is_number, content.ours)):
        return False
    if others and all(map(is_number, others)) and (not meant or any(map(is_number, labels))):
        numbers = all(map(is_number, content.values))
        return numbers and set(map(float, content.values)) in codes
    if likely and len(others) <= FEW_LIKELY:
        return True
    if not meant:
        return 1 < len(others) <= min(len(labels), FEW)
    one_of_many = len(meant) == 1 < len(others)
    return not one_of_many or _mostly_labels(table, name, content)


def _among_many(table: Table, name: str, labels: Labels, *, whole: bool) -> str:
    """Return the reason why a column with too many values may contain decisions, or empty text.

    It may if labels of several classes are in at least `LEAST_SHARE` of its rows, or one label in
    half of them; if these labels are numbers, the other values must not be.
    """
    frequent = table.frequent(name, whole=whole)
    content = _Content.of(frequent.rows, labels, table.cells)
    ours = sum(frequent.rows[value] for value in content.ours)
    share = LEAST_SHARE if len(content.meant) > 1 else 1 / 2
    if not ours or ours < share * frequent.filled:
        return ""
    if all(map(is_number, content.ours)):
        filled, numbers = table.numbers(name)
        missing = sum(frequent.rows[value] for value in content.missing)
        if filled - numbers - missing < LEAST_SHARE * filled:
            return ""
    there = listing(sorted(map(str, content.ours)), FEW)
    return (
        f"it has {there} beside more values than classes have; the decisions of the costs are "
        f"{listing(labels)}"
    )


def _written_as(content: _Content, labels: Labels) -> str:
    """Return a description of the values that a column has instead of labels."""
    strange = [value for value in content.values if value not in content.known]
    first = [each for each in strange if each in content.close] or strange
    shown = ", ".join(repr(label_rules.plain(each)) for each in first[:3])
    expected = f"the decisions of the costs are {listing(labels)}"
    if content.missing and len(content.missing) == len(strange):
        return f"most of its values are missing ({shown}); {expected}"
    same = " (with ignore_case= they are the same)" if content.close else ""
    return f"it has {shown}{', …' if first[3:] else ''}; {expected}{same}"
