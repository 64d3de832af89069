"""Compare published numbers with ours, as tables for the command line and the results page."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from replications.experiment import HOLDS, Experiment, Printed, Results, Row, Value
from stakes._core.text import number
from stakes.show._drawing import pyplot

AGREES, NOISE, DIFFERS, SAID = "agrees", "within noise", "differs", "see findings"
ERRORS = 3
"""Largest difference, in standard errors, that counts as noise."""

ROUNDING = 1e-9
"""Rounding error allowed in differences, so that 0.73 is within 0.03 of 0.7."""


@dataclass(frozen=True)
class Verdict:
    """A printed number, the measured row, and whether they agree."""

    printed: Printed
    row: Row
    word: str

    @property
    def difference(self) -> float:
        """Our number minus the printed one."""
        return float(self.row["value"]) - self.printed.value


def verdicts(experiment: Experiment, results: Results) -> list[Verdict]:
    """Compare every printed number with the measured one."""
    found = []
    for printed in experiment.printed:
        row = results.only(**printed.where)
        found.append(Verdict(printed, row, _word(printed, row)))
    return found


def _word(printed: Printed, row: Row) -> str:
    if math.isnan(printed.value):
        return SAID
    off = abs(float(row["value"]) - printed.value) - ROUNDING
    error = float(row["error"])
    if off <= printed.within:
        return AGREES
    if printed.always or off > printed.within + ERRORS * error:
        return DIFFERS
    return NOISE


ELSEWHERE = "where"
NAMED = 4
"""Most numbers that differ for the same reason and are still named; more are only counted."""

HEADER = ("published", "ours", "standard error", "verdict")


def tables(experiment: Experiment, results: Results) -> dict[str, list[list[str]]]:
    """Return the rows of each published table, by its name; each row begins with its label."""
    alike = len(_allowed(experiment)) == 1
    return {
        source: [[label, *_cells(verdict, alike=alike)] for label, verdict in rows]
        for source, rows in _labelled(experiment, results).items()
    }


def tally(experiment: Experiment, results: Results) -> str:
    """Return a sentence on how many of the published numbers and statements agree."""
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
    """Return the reasons why numbers differ, each with the numbers that it explains."""
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
    """Format a duration for display."""
    minute, hour = 60, 3600
    if seconds < minute:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 2 * hour:
        return f"{seconds / minute:.0f} min"
    return f"{seconds / hour:.1f} h"


def nearness(experiment: Experiment) -> str:
    """Return a sentence on how close published numbers must be to agree."""
    allowed = _allowed(experiment)
    if not allowed:
        return ""
    near = f"{allowed.pop():g} of ours" if len(allowed) == 1 else "what follows its ±"
    return f"A number agrees when it is within {near}."


def _allowed(experiment: Experiment) -> set[float]:
    """Return the tolerances of published numbers, without statements and numbers shown as text."""
    return {each.within for each in experiment.printed if not each.in_words and not each.shown}


def _cells(verdict: Verdict, *, alike: bool) -> list[str]:
    """Format a number and ours, with its tolerance unless that is the same for all."""
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
    """Label each number by the values that vary within its table; single numbers share a table."""
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
    """Return the names of the values that differ between numbers, `measure` last."""
    wheres = [verdict.printed.where for verdict in group]
    names = list(dict.fromkeys(name for where in wheres for name in where))
    vary = [name for name in names if len({where.get(name) for where in wheres}) > 1]
    return sorted(vary, key=lambda name: name == "measure")


def _part(name: str, value: Value) -> str:
    return value if isinstance(value, str) else f"{name} {number(value)}"


KINDS = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Metadata to omit from each kind of picture, so that the same figure has the same bytes."""


def figures(experiment: Experiment, results: Results, kind: str = "png") -> dict[str, bytes]:
    """Draw the figures in the papers' layout, and return the encoded images by figure name."""
    if experiment.draw is None:
        return {}
    plt = pyplot()  # its error says how to install matplotlib
    pictures = {}
    with plt.rc_context({"svg.hashsalt": "stakes", "font.family": "DejaVu Sans"}):
        for name, figure in experiment.draw(results).items():
            picture = io.BytesIO()
            figure.savefig(picture, format=kind, dpi=150, metadata=KINDS[kind])
            pictures[name] = picture.getvalue()
            plt.close(figure)
    return pictures
