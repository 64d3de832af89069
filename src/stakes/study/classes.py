"""The two classes of a table, and which of them is the positive one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stakes._core.labels import Label, Labels, in_order, listing
from stakes.costs import CostMatrix
from stakes.costs._axes import is_whole
from stakes.errors import InputError, InputTypeError, LabelError

TWO = 2
USUAL = (
    (1, 0),
    (1, -1),
    ("true", "false"),
    ("yes", "no"),
)
"""Pairs of labels, in any case, numbers also as text, of which the first is the positive one."""


def costs_of_mistakes(
    labels: Sequence[Label], costs: Mapping[str, float], pos_label: Any, where: str
) -> CostMatrix:
    """Make a cost matrix for the two classes that were found.

    Parameters
    ----------
    labels : sequence
        The classes.
    costs : mapping
        The costs of mistakes, as ``CostMatrix.from_errors`` takes them.
    pos_label : label or None
        The positive class; None for 1, True or "yes".
    where : str
        Where the classes were found, for errors.
    """
    meant = as_meant(labels)
    if len(meant) != TWO:
        raise LabelError(
            f"{where}: the costs of false alarms and misses are for two classes, there "
            f"{'is' if len(meant) == 1 else 'are'} {len(meant)}: {listing(meant)}. Give a cost "
            "matrix."
        )
    if pos_label is None:
        pos_label = _usual_positive(meant)
    if pos_label is None:
        raise InputTypeError(
            f"{where}: which class is the positive one, of {listing(meant)}? Name it with "
            "--pos-label."
        )
    positive = among(pos_label, meant, "pos_label")
    negative = next(label for label in meant if label != positive)
    return CostMatrix.from_errors(**costs, pos_label=positive, neg_label=negative)


def as_meant(labels: Sequence[Label]) -> Labels:
    """Read classes that all are whole numbers, in text or not, as such; in order, each once."""
    if not any(isinstance(label, str) for label in labels):
        return in_order({_whole(label) for label in labels})
    texts = {str(label).strip() for label in labels}
    # "1.0" is the same class as "1", as it is to a cost matrix.
    once = {whole if (whole := without_point(text)) in texts else text for text in texts}
    return in_order(set(in_words_or_numbers(list(once))))


def in_words_or_numbers(texts: Sequence[str]) -> list[Label]:
    """Read labels that all are whole numbers as such, in their order; "01" is none."""
    stripped = [text.strip() for text in texts]
    wholes = list(map(without_point, stripped))
    if all(map(is_whole, wholes)):
        return [int(text) for text in wholes]
    return list(stripped)


def without_point(text: str) -> str:
    """Return a label as text without the spaces around it, and "1.0" as "1"."""
    stripped = text.strip()
    whole, point, zeros = stripped.partition(".")
    return whole if point and zeros and not zeros.strip("0") else stripped


def among(label: Any, labels: Sequence[Label], name: str) -> Label:
    """Return the one of the labels that is meant; text may stand for a number."""
    for known in labels:
        if known == label or str(known) == str(label).strip():
            return known
    raise LabelError(f"{name}: expected one of {listing(labels)}, got {label!r}.")


def positive_class(costs: CostMatrix, pos_label: Any) -> Label | None:
    """Return the positive class of two: as said, the usual one, or that whose misses cost more."""
    if len(costs.labels) != TWO or set(costs.labels) != set(costs.decisions):
        if pos_label is not None:
            raise InputError(
                "pos_label: only two classes have a positive one, the costs have "
                f"{listing(costs.labels)}."
            )
        return None
    if pos_label is not None:
        return among(pos_label, costs.labels, "pos_label")
    usual = _usual_positive(costs.labels)
    if usual is not None:
        return usual
    first, second = costs.labels
    mistakes = costs.mistake_costs(pos_label=second)
    return second if mistakes["false_negative"] >= mistakes["false_positive"] else first


def _whole(label: Label) -> Label:
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _usual_positive(labels: Sequence[Label]) -> Label | None:
    by_name = {_usual_name(each): each for each in labels}
    for pair in USUAL:
        if set(by_name) == set(pair):
            return by_name[pair[0]]  # True, not 1
    return None


def _usual_name(label: Label) -> Label:
    """Return a label as the usual pairs have it: text in small letters, "1" as 1."""
    if not isinstance(label, str):
        return label
    text = without_point(label).lower()
    return int(text) if text in ("1", "0", "-1") else text
