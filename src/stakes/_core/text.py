"""Format numbers for people, and small tables as text, CSV and HTML."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from html import escape
from typing import Any

from stakes._core.labels import Labels

Rows = Sequence[Sequence[str]]
Table = tuple[list[str], list[list[str]]]
"""Header of a table, and its rows."""


def number(value: float) -> str:
    """Format a number for people: four significant digits, with thousands separators."""
    value = float(value) + 0.0  # minus zero is zero
    if not math.isfinite(value):
        return str(value)
    if value == round(value) or abs(value) >= 1000:  # noqa: PLR2004 - four digits without decimals
        return f"{value:,.0f}"
    return f"{value:.4g}"


DIGITS = 3
"""Number of significant digits of costs in sentences."""


def rounded(value: float) -> str:
    """Format a number in a sentence: three significant digits, with thousands separators."""
    if value == 0 or not math.isfinite(value):
        return number(value)
    digits = DIGITS - 1 - math.floor(math.log10(abs(value)))
    if digits <= 0:
        return f"{float(f'{value:.{DIGITS}g}'):,.0f}"
    return f"{value:.{min(digits, 12)}f}"


def decimals_for(values: Iterable[float]) -> int:
    """Return the number of decimals that gives a column's smallest number three digits."""
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    if not sizes:
        return 0
    return min(max(0, DIGITS - 1 - math.floor(math.log10(min(sizes)))), 6)


def in_column(value: float, decimals: int) -> str:
    """Format a number of a column with the column's number of decimals, and without -0."""
    text = f"{value:,.{decimals}f}"
    return text if float(text.replace(",", "")) else text.lstrip("-")


def amount(value: float) -> str:
    """Format an amount of money of any size: four significant digits, with thousands separators."""
    return number(float(f"{value:.4g}"))


def listed(names: Sequence[str]) -> str:
    """Format names as a list: a, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def in_one_line(name: str) -> str:
    """Return a name with control characters, such as line breaks, escaped."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], name)


MOST_ALIKE, MOST_REASONS = 6, 3
"""Maximum numbers of columns that a sentence names for one reason, and of its reasons."""


def unjudged_sentence(unjudged: Mapping[str, str]) -> str:
    """Return the sentence on what may be a model and was not judged; empty if there is nothing.

    Columns with the same reason are named together, and the last of many are only counted.

    Parameters
    ----------
    unjudged : mapping of str to str
        From each column or model to the reason, such as "it could be a model's decisions or a
        feature".
    """
    alike: dict[str, list[str]] = {}
    for name, reason in unjudged.items():
        alike.setdefault(reason, []).append(in_one_line(name))
    shown = []
    for reason, names in list(alike.items())[:MOST_REASONS]:
        more = len(names) - MOST_ALIKE
        some = [*names[:MOST_ALIKE], f"{more:,} more"] if more > 0 else names
        why = re.sub("^it ", "each ", reason) if names[1:] else reason
        shown.append(f"{listed(some)} ({why})")
    left = sum(map(len, list(alike.values())[MOST_REASONS:]))
    if left:
        shown.append(f"and {left:,} more for other reasons")
    return f"Not judged: {', '.join(shown)}." if shown else ""


def p_value(value: float) -> str:
    """Format a p-value: two significant digits, or "< 0.0001"."""
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"  # noqa: PLR2004 - the lowest value shown


def threshold_text(value: float) -> str:
    """Format a threshold in six digits, or more near 1, where the scores of some models crowd.

    The threshold is never rounded up: an example that scores exactly the threshold, often a
    positive, must also be flagged at the number shown.
    """
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    whole = Decimal(repr(float(value)))
    from_one = abs(1 - whole) or Decimal(1)
    last = min(whole.adjusted(), from_one.adjusted()) - 5
    if int(whole.as_tuple().exponent) >= last:
        return repr(float(value)).removesuffix(".0")
    kept = whole.quantize(Decimal(1).scaleb(last), ROUND_FLOOR)
    return f"{float(kept):.{whole.adjusted() - last + 1}g}"


def percent(share: float) -> str:
    """Format a share as a percentage."""
    return f"{100 * float(share):.4g}%"  # older Pythons cannot format a Fraction


def with_unit(value: float, unit: str, write: Callable[[float], str] = number) -> str:
    """Format a number with its unit, if it has one; pass `rounded` as `write` in sentences."""
    return f"{write(value)} {unit}" if unit else write(value)


def flag_words(threshold: float) -> str:
    """State which scores are flagged."""
    if math.isinf(threshold):
        return "Flag nothing" if threshold > 0 else "Flag everything"
    return f"Flag scores of {threshold_text(threshold)} and above"


def compared_costs(names: tuple[str, str], difference: float, unit: str) -> str:
    """State by how much the first of two is more or less expensive than the second."""
    first, second = names
    if not difference:
        return f"{first} costs the same per decision as {second}"
    side = "more" if difference > 0 else "less"
    return f"{first} costs {with_unit(abs(difference), unit)} {side} per decision than {second}"


def exact(value: float) -> str:
    """Format a number in full, without a trailing ``.0``."""
    value = float(value)
    whole = math.isfinite(value) and value == round(value)
    return f"{value:.0f}" if whole and abs(value) < 1e15 else repr(value)  # noqa: PLR2004


def matrix_table(decisions: Labels, labels: Labels, cells: Rows) -> Table:
    """Return a table of cells ``[predicted, actual]`` whose header names both axes."""
    header = ["predicted \\ actual", *map(str, labels)]
    rows = zip(map(str, decisions), cells, strict=True)
    return header, [[decision, *row] for decision, row in rows]


WIDTH = 80
"""Number of columns of a terminal."""

LEAST_NAME = 12
"""Smallest width to which names are folded; a table that is still too wide is left unchanged."""


def text_table(header: Sequence[str], rows: Rows) -> str:
    """Return a text table with the first column aligned left and the others right.

    Names in the first column are folded where the table would be wider than a terminal.
    """
    lines = [list(header), *map(list, rows)]
    first, *widths = (max(map(len, column)) for column in zip(*lines, strict=True))
    room = WIDTH - sum(width + 2 for width in widths)
    if first > room >= LEAST_NAME:
        first = room
        lines = [
            [name, *(cells if i == 0 else [""] * len(cells))]
            for whole, *cells in lines
            for i, name in enumerate(_folded(whole, room))
        ]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, [first, *widths], strict=True))
        ).rstrip()
        for line in lines
    )


def _folded(name: str, room: int) -> list[str]:
    """Break a name between words and before a threshold, with continuation lines indented."""
    lines = [""]
    for word in re.findall(rf"\s*@?[^\s@]{{0,{room - 3}}}", name):
        if len(lines[-1]) + len(word) <= room:
            lines[-1] += word
        else:
            lines.append(f"  {word.lstrip()}")
    return lines


LEFT = 'style="text-align: left"'
RIGHT = 'style="text-align: right; font-variant-numeric: tabular-nums"'


def html_table(header: Sequence[str], rows: Rows, caption: str = "") -> str:
    """Return an HTML table whose first row and first column are headers; all text is escaped.

    The caption is a paragraph above the table: a caption element would be squeezed to its width.
    """
    first, *rest = (escape(cell) for cell in header)
    head = f'<th scope="col" {LEFT}>{first}</th>'
    head += "".join(f'<th scope="col">{cell}</th>' for cell in rest)
    body = "".join(
        f'<tr><th scope="row" {LEFT}>{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    cells = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    table = f"<div {RIGHT}><table>{cells}</table></div>"
    return f"<p>{escape(caption)}</p>{table}" if caption else table


def html_values(values: Mapping[str, Any], sentence: str) -> str:
    """Return an HTML table of single values under a sentence; missing values have no row.

    Parameters
    ----------
    values : mapping
        From the name of each value to it: text, or a number.
    sentence : str
        The summary above the table.
    """
    rows = []
    for name, value in values.items():
        if value is None or isinstance(value, Mapping | list | tuple) or str(value) == "":
            continue
        plain = isinstance(value, bool | str)
        text = {True: "yes", False: "no"}.get(value, value) if plain else number(value)
        rows.append([name.replace("_", " "), str(text)])
    return html_table(["", "value"], rows, sentence)


FORMULA = re.compile(r"'*(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")
"""Beginnings of text that a spreadsheet may run as a formula, marked by apostrophes or not."""

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

TEXT_MARK = "'"
"""Prefix by which spreadsheets mark text that is not a formula."""


def csv_text(header: Sequence[Any], rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """Return the text of a CSV file in which no cell is a formula for a spreadsheet."""
    lines = []
    for row in (header, *rows):
        text = io.StringIO()
        # Python quotes only the line breaks that occur in its own line terminator.
        writer = csv.writer(text, delimiter=separator, lineterminator="\r\n")
        writer.writerow(map(_no_formula, row))
        lines.append(text.getvalue().removesuffix("\r\n"))
    return "\n".join([*lines, ""])


def _no_formula(cell: Any) -> Any:
    """Prefix text that begins like a formula, except numbers, with an apostrophe."""
    if not isinstance(cell, str) or NUMBER.fullmatch(cell):
        return cell
    return f"{TEXT_MARK}{cell}" if FORMULA.match(cell) else cell


def cell_text(cell: str) -> str:
    """Return the text of a cell that `csv_text` wrote, without the apostrophe it added."""
    marked = cell.startswith(TEXT_MARK) and FORMULA.match(cell)
    return cell.removeprefix(TEXT_MARK) if marked else cell
