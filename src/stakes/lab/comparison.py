"""Published numbers beside measured ones, as tables for the command line and the results page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from stakes._core.text import number
from stakes.lab.experiment import HOLDS, Experiment, Results, Value
from stakes.lab.verdict import AGREES, DIFFERS, NOISE, SAID, Verdict, verdicts

ELSEWHERE = "where"
NAMED = 4
"""More numbers that differ for the same reason are counted, not named."""

HEADER = ("published", "ours", "standard error", "verdict")


def tables(experiment: Experiment, results: Results) -> dict[str, list[list[str]]]:
    """Return the rows of each published table, by its name; each begins with what it is."""
    alike = len(_allowed(experiment)) == 1
    return {
        source: [[label, *_cells(verdict, alike=alike)] for label, verdict in rows]
        for source, rows in _labelled(experiment, results).items()
    }


def tally(experiment: Experiment, results: Results) -> str:
    """Say how many of the published numbers and statements agree."""
    words = Counter(verdict.word for verdict in verdicts(experiment, results))
    if not words:
        return "No number of it was published."
    parts = [f"{word} {words[word]}" for word in (AGREES, NOISE, DIFFERS, SAID) if words[word]]
    kinds = {each.in_words: None for each in experiment.printed}
    what = " and ".join("statement{s}" if in_words else "number{s}" for in_words in sorted(kinds))
    total = words.total()
    if total == 1:
        (word,) = words
        return f"The one published {what.format(s='')}{':' if word == SAID else ''} {word}."
    if words[AGREES] == total:
        return f"All {total} published {what.format(s='s')} agree."
    return f"Of {total} published {what.format(s='s')}: {', '.join(parts)}."


def reasons(experiment: Experiment, results: Results) -> list[str]:
    """Say why numbers differ, each reason once with the numbers that it is about."""
    found: dict[str, list[str]] = {}
    for source, rows in _labelled(experiment, results).items():
        for label, verdict in rows:
            if verdict.word == DIFFERS and verdict.printed.why:
                what = label if source == ELSEWHERE else f"{source}, {label}"
                found.setdefault(verdict.printed.why, []).append(what)
    return [
        f"{'; '.join(labels) if len(labels) <= NAMED else f'{len(labels)} numbers'}: {why}"
        for why, labels in found.items()
    ]


def duration(seconds: float) -> str:
    """Write a time for a person."""
    minute, hour = 60, 3600
    if seconds < minute:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 2 * hour:
        return f"{seconds / minute:.0f} min"
    return f"{seconds / hour:.1f} h"


def nearness(experiment: Experiment) -> str:
    """Say how near published numbers must be to agree."""
    allowed = _allowed(experiment)
    if not allowed:
        return ""
    near = f"{allowed.pop():g} of ours" if len(allowed) == 1 else "what follows its ±"
    return f"A number agrees when it is within {near}."


def _allowed(experiment: Experiment) -> set[float]:
    """Return how far numbers may be off, of those that do not say it themselves."""
    return {each.within for each in experiment.printed if not each.in_words and not each.shown}


def _cells(verdict: Verdict, *, alike: bool) -> list[str]:
    """Write a number beside ours, with what it may be off by unless that is the same for all."""
    printed, row = verdict.printed, verdict.row
    value, error = float(row["value"]), float(row["error"])
    if printed.where.get("measure") == HOLDS:
        return [_holds(printed.value), _holds(value), "", verdict.word]
    published = "" if math.isnan(printed.value) else number(printed.value)
    if published and not alike and printed.within:
        published += f" ± {printed.within:.2g}"
    unsure = "" if math.isnan(error) else f"{error:.2g}"
    return [printed.shown or published, number(value), unsure, verdict.word]


def _holds(value: float) -> str:
    return "holds" if value else "does not hold"


def _labelled(experiment: Experiment, results: Results) -> dict[str, list[tuple[str, Verdict]]]:
    """Name each number by what differs within its table; single numbers share a table."""
    found = verdicts(experiment, results)
    rows = Counter(verdict.printed.source for verdict in found)
    groups: dict[str, list[Verdict]] = {}
    for verdict in found:
        source = verdict.printed.source
        groups.setdefault(source if rows[source] > 1 else ELSEWHERE, []).append(verdict)
    named = {}
    for source, group in groups.items():
        names = _varying(group)
        labels = [_label(verdict, names) for verdict in group]
        if source == ELSEWHERE:
            places = [verdict.printed.source for verdict in group]
            labels = [f"{at}: {label}" for at, label in zip(places, labels, strict=True)]
        named[source] = list(zip(labels, group, strict=True))
    return named


def _label(verdict: Verdict, names: Sequence[str]) -> str:
    if verdict.printed.name:
        return verdict.printed.name
    where = verdict.printed.where
    shown = [name for name in names or where if name in where and where[name] != HOLDS]
    return " ".join(_part(name, where[name]) for name in shown)


def _varying(group: Sequence[Verdict]) -> list[str]:
    """Return what differs between numbers; what is measured is said last."""
    wheres = [verdict.printed.where for verdict in group]
    names = list(dict.fromkeys(name for where in wheres for name in where))
    vary = [name for name in names if len({where.get(name) for where in wheres}) > 1]
    return sorted(vary, key=lambda name: name == "measure")


def _part(name: str, value: Value) -> str:
    return value if isinstance(value, str) else f"{name} {number(value)}"
