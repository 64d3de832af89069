"""Columns that may be models although their values rule them out, which a gate must not pass."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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
from stakes.costs import CostMatrix
from stakes.predictions._names import (
    LIKELY_NAMES,
    MODEL_COLUMNS,
    USUAL_NAMES,
    looks_like_score,
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
        if reason:
            found[name] = reason
    return found


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
