"""Cost matrices with named axes: orientation, labels, data frames, least risk and equivalence.

Files and data frames follow the same rules for the orientation and the labels, so that both give
the same matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label, LabelMatcher, Labels, hint, listing, plain, text_reader
from stakes._core.typing import Floats
from stakes._core.validate import Orientation, orientation
from stakes.errors import InputError, InputTypeError, LabelError, MissingExtraError

CORNERS: dict[str, Orientation] = {"predicted\\actual": "predicted", "actual\\predicted": "actual"}

CORNER = "predicted\\actual"
BACKENDS = ("pandas", "polars", "pyarrow", "modin", "cudf")

NO_NAME = ("", "Unnamed: 0")
"""Names of the first column when a table without a corner cell was read from a file."""

TYPO = 0.8
"""Similarity (difflib's ratio) from which on two texts are probably one label, misspelt once."""


@dataclass(frozen=True)
class MatrixTable:
    """The content of a file or a data frame: the costs, and the names of both axes.

    Attributes
    ----------
    values : array_like
        The costs.
    rows : {"predicted", "actual"}
        What the rows of `values` stand for.
    labels, decisions : sequence
        The classes and the decisions.
    """

    values: Any
    rows: Orientation
    labels: Sequence[Label]
    decisions: Sequence[Label]


def positions(wanted: Sequence[Label], known: Labels, what: str) -> list[int]:
    """Return the positions of labels among those of the costs."""
    for label in wanted:
        if label not in known:
            raise LabelError(
                "costs",
                f"there is no {what} {label!r}; there are {listing(known)}.{hint(label, known)} "
                "Count with the labels of the costs, or add it to them.",
            )
    return [known.index(label) for label in wanted]


def corner_orientation(cell: str) -> Orientation | None:
    r"""Read ``predicted\actual`` or ``actual\predicted`` out of a table's corner cell."""
    return CORNERS.get("".join(cell.lower().split()).replace("/", "\\"))


def agreed_orientation(rows: str | None, stated: Orientation | None, place: str) -> Orientation:
    """Return the orientation from the caller's `rows` and the table's own statement."""
    if rows is None and stated is None:
        raise InputTypeError(
            place,
            "it does not state what its rows stand for.",
            "Write predicted\\actual or actual\\predicted into its corner cell (rows first), or "
            "pass rows='predicted' or rows='actual'.",
        )
    if rows is not None and stated is not None and orientation(rows) != stated:
        raise InputError("rows", f"got {rows!r}, but {place} says that its rows are {stated}.")
    return orientation(stated if rows is None else rows)


def label_meanings(
    classes: Sequence[str], decisions: Sequence[str], known: Labels | None = None
) -> tuple[list[Label], list[Label]]:
    """Convert the texts of both axes to labels: those of the classes, then of the decisions.

    Classes that all read as whole numbers are numbers, and classes that are all True or False are
    booleans. Decisions that look like the classes are read in the same way. The caller's labels, if
    given, determine the classes.
    """
    if known is None:
        read = text_reader(classes)
    elif any(isinstance(label, str) for label in known):
        read = str
    else:
        read = text_reader([*map(str, known)])
    matcher = LabelMatcher(known or [*map(read, classes)], "text")

    def meanings(axis: Sequence[str]) -> list[Label]:
        places = [matcher.find(text) for text in axis]
        meant = [
            read(text) if place < 0 else matcher.labels[place]
            for text, place in zip(axis, places, strict=True)
        ]
        # "1.10" stands for the class "1.1", unless the axis has that one, too.
        return [
            text if label != text and label in axis else label
            for text, label in zip(axis, meant, strict=True)
        ]

    return meanings(classes), meanings(decisions)


def check_same(found: Sequence[Label], known: Labels | None) -> None:
    """Check that a file has exactly the classes that the caller named."""
    if known is None:
        return
    for label in found:
        if label not in known:
            raise unknown(label, known)
    for label in known:
        if label not in found:
            raise LabelError(
                "labels",
                f"the class {label!r} is not in the file, which has "
                f"{listing(found)}.{hint(label, found)} Name the classes of the file, all of them.",
            )


def misspelt(classes: Sequence[Label], decisions: Sequence[Label]) -> tuple[int, str] | None:
    """Find a class that is not among the decisions, although one is spelt almost like it.

    Return its position and the message. Decisions need not be classes, so only likely misspellings
    are reported.
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


def unknown(label: Label, known: Sequence[Label]) -> LabelError:
    """Return the error for a class that is not among the caller's labels."""
    return LabelError(
        "labels",
        f"the class {label!r} is not among the labels: {listing(known)}.{hint(label, known)}",
        "Correct the spelling, or add it.",
    )


# -- data frames of any library that narwhals supports


def matrix_from_frame(frame: Any, rows: str | None) -> MatrixTable:
    """Read a matrix; a frame without an index has the names of the rows in its first column."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
        columns = [plain(name) for name in table.columns]
        cells = table.rows()
    except TypeError as error:
        raise InputTypeError(
            "frame",
            f"expected a data frame (pandas, polars, pyarrow …), got {type(frame).__name__}.",
            "For an array use CostMatrix(values, rows=, labels=).",
        ) from error
    except ValueError as error:  # two columns of the same name
        raise LabelError("frame", f"cannot be read: {error}") from error
    if not columns or not cells:
        raise InputError("frame", f"expected a cost matrix, got a frame of shape {table.shape}.")
    index = nw.maybe_get_index(table)
    corner = corner_orientation(str(columns[0]))
    typed = corner is None and index is not None and not _holds_labels(index, columns[0])
    if typed:
        corner = _stated_by_axes(frame.index.name, getattr(frame.columns, "name", None))
        down = [plain(label) for label in frame.index]
    else:
        down = [row[0] for row in cells]
        columns, cells = columns[1:], [row[1:] for row in cells]
    oriented = agreed_orientation(rows, corner, "frame")
    labels, decisions = (columns, down) if oriented == "predicted" else (down, columns)
    labels, decisions = _meanings(labels, decisions, typed=typed)
    slip = misspelt(labels, decisions)
    if slip is not None:
        raise LabelError("frame", f"{slip[1]}")
    return MatrixTable(cells, oriented, labels, decisions)


def matrix_to_frame(costs: MatrixTable, backend: Any) -> Any:
    """Return a frame with the labels in its axes (pandas), or as text (other libraries)."""
    validate.choice(backend, "backend", BACKENDS)
    try:
        if backend == "pandas":
            import pandas as pd

            return pd.DataFrame(
                costs.values,
                index=pd.Index(costs.decisions, name="predicted"),
                columns=pd.Index(costs.labels, name="actual"),
            )
        import narwhals as nw

        columns = dict(
            zip(map(str, costs.labels), np.transpose(costs.values).tolist(), strict=True)
        )
        data = {CORNER: [*map(str, costs.decisions)], **columns}
        return nw.from_dict(data, backend=backend).to_native()
    except ImportError as error:
        raise MissingExtraError(
            f"to_frame needs {backend}, which is not installed: pip install {backend}"
        ) from error


def _meanings(
    labels: list[Label], decisions: list[Label], *, typed: bool
) -> tuple[list[Label], list[Label]]:
    """Convert text axes as those of a file are, unless both are text and `typed`.

    Most libraries allow only text as column names, whatever the labels were.
    """
    text = [all(isinstance(label, str) for label in axis) for axis in (labels, decisions)]
    if typed and all(text):
        return labels, decisions
    known = None if text[0] else tuple(labels)
    meant = label_meanings([*map(str, labels)], [*map(str, decisions)], known)
    return meant[0] if text[0] else labels, meant[1] if text[1] else decisions


def _holds_labels(index: Any, first: Any) -> bool:
    """Tell whether a frame has its labels in the first column although it has an index."""
    return first in NO_NAME and index.name is None and list(index) == list(range(len(index)))


def _stated_by_axes(down: Any, across: Any) -> Orientation | None:
    """Return the orientation that the names of pandas' axes state; one name is enough."""
    names = [str(name).strip().lower() for name in (down, across)]
    if names[0] == names[1] and names[0] in ("predicted", "actual"):
        raise InputError(
            "frame",
            f"its rows and its columns are both named {names[0]!r}; one must be predicted, the "
            "other actual.",
        )
    if "predicted" in names:
        return "predicted" if names[0] == "predicted" else "actual"
    if "actual" in names:
        return "actual" if names[0] == "actual" else "predicted"
    return None


ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Rounding error allowed in a sum, for each term, as a share of the sum of absolute terms."""

ALIKE = 1e-9
"""Differences below this share of a column's spread count as zero."""

COST_ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Differences below this share of a column's largest absolute cost are rounding errors."""


def expected_risk(proba: Floats, values: Floats) -> Floats:
    """Return the risk of each decision (thesis, equation 2.3).

    Costs are ``[decision, class]``, or ``[example, decision, class]``.
    """
    if values.ndim == 2:  # noqa: PLR2004 - one matrix for all
        return np.asarray(proba @ values.T)
    return np.asarray(np.matmul(values, proba[:, :, np.newaxis])[:, :, 0])


def least_risk(proba: Floats, values: Floats) -> NDArray[np.intp]:
    """Return which decision has the least risk; a tie goes to the first.

    Risks are tied when they differ by no more than the rounding of their sums.
    """
    risk = expected_risk(proba, values)
    rounding = ROUNDING * (proba.shape[1] + 2) * expected_risk(proba, np.abs(values))
    could_be_least = risk - rounding <= (risk + rounding).min(axis=1, keepdims=True)
    return np.asarray(could_be_least.argmax(axis=1))


def rank_alike(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    """Tell whether one matrix is the other, scaled and with a constant added to each column.

    Then both rank all classifiers alike (thesis, Definition and Theorem 2.2.1). One column
    determines the scale. Each column must then agree on its own, because a class with small costs
    affects the ranking as much as one with large costs if it occurs often enough.
    """
    spreads = np.ptp(first, axis=0), np.ptp(second, axis=0)
    roundings = (
        COST_ROUNDING * np.abs(first).max(axis=0),
        COST_ROUNDING * np.abs(second).max(axis=0),
    )
    matters = spreads[0] > roundings[0]
    if not np.array_equal(matters, spreads[1] > roundings[1]):
        return False
    if not matters.any():
        return True
    spread, other_spread = spreads[0][matters], spreads[1][matters]
    rounding, other_rounding = roundings[0][matters], roundings[1][matters]
    sharpest = np.argmin(rounding / spread + other_rounding / other_spread)
    scale = other_spread[sharpest] / spread[sharpest]
    difference = scale * (first - first[0]) - (second - second[0])
    allowed = ALIKE * other_spread + scale * rounding + other_rounding
    return bool((np.abs(difference[:, matters]) <= allowed).all())
