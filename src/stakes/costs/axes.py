"""What the axes of a table say: which side is predicted, and what its labels mean.

Files and data frames use the same rules, so that a matrix is the same whichever way it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from stakes._labels import Label, Labels, hint, listing
from stakes._validate import Orientation, orientation
from stakes.errors import InputError, InputTypeError, LabelError

CORNERS: dict[str, Orientation] = {"predicted\\actual": "predicted", "actual\\predicted": "actual"}

TYPO = 0.8
"""How alike two texts are (as difflib measures it) that are probably one label, misspelt once."""


def corner_orientation(cell: str) -> Orientation | None:
    r"""Read ``predicted\actual`` or ``actual\predicted`` out of a table's corner cell."""
    return CORNERS.get("".join(cell.lower().split()).replace("/", "\\"))


def agreed_orientation(rows: str | None, said: Orientation | None, place: str) -> Orientation:
    """Combine what the caller says of the rows with what the table itself says."""
    if rows is None and said is None:
        raise InputTypeError(
            f"{place}: it does not say what its rows stand for. Write predicted\\actual or "
            "actual\\predicted into its corner cell (rows first), or pass rows='predicted' or "
            "rows='actual'."
        )
    if rows is not None and said is not None and orientation(rows) != said:
        raise InputError(f"rows: got {rows!r}, but {place} says that its rows are {said}.")
    return orientation(said if rows is None else rows)


def label_meanings(
    classes: Sequence[str], decisions: Sequence[str], known: Labels | None = None
) -> tuple[list[Label], list[Label]]:
    """Give the texts of both axes their meaning: those of the classes, then of the decisions.

    Classes that all look like whole numbers are numbers, classes that are all True or False are
    booleans, and decisions that look like the classes are read as they are. The caller's labels,
    where there are any, say what the classes are.
    """
    read = _reader(classes, known)
    meaning = {str(label): label for label in known or ()}
    return (
        [meaning.get(text, read(text)) for text in classes],
        [meaning.get(text, read(text)) for text in decisions],
    )


def check_same(found: Sequence[Label], known: Labels | None) -> None:
    """Check that a file has exactly the classes that the caller named."""
    if known is None:
        return
    for label in found:
        if label not in known:
            raise LabelError(unknown(label, known))
    for label in known:
        if label not in found:
            raise LabelError(
                f"labels: the class {label!r} is not in the file, which has {listing(found)}."
                f"{hint(label, found)} Name the classes of the file, all of them."
            )


def misspelt(classes: Sequence[Label], decisions: Sequence[Label]) -> tuple[int, str] | None:
    """Find a class that no decision names, but that one is spelt almost like.

    Returns the position of the class and what to say of it. Decisions need not be classes, so only
    a likely slip is told.
    """
    absent = [label for label in classes if isinstance(label, str) and label not in decisions]
    by_case = {label.casefold(): label for label in absent}
    for decision in decisions:
        if decision in classes or not isinstance(decision, str):
            continue
        near = get_close_matches(decision, absent, n=1, cutoff=TYPO)
        meant = by_case.get(decision.casefold(), near[0] if near else None)
        if meant is not None:
            return classes.index(meant), (
                f"the class {meant!r} is not among the decisions: {listing(decisions)}. "
                f"Did you mean {decision!r}? Write both in the same way."
            )
    return None


def unknown(label: Label, known: Sequence[Label]) -> str:
    """Say that the caller's labels have no such class."""
    return (
        f"the class {label!r} is not among the labels: {listing(known)}.{hint(label, known)} "
        "Correct the spelling, or add it."
    )


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number as Python writes it."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(text)) == text


def _reader(classes: Sequence[str], known: Labels | None) -> Callable[[str], Label]:
    """Choose how a text becomes a label."""
    if known is not None:
        whole = all(type(label) is int for label in known)
        boolean = all(type(label) is bool for label in known)
    else:
        whole = all(map(is_whole, classes))
        boolean = all(text in ("True", "False") for text in classes)
    if whole:
        return lambda text: int(text) if is_whole(text) else text
    if boolean:
        return lambda text: {"True": True, "False": False}.get(text, text)
    return str
