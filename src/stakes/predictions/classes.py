"""Classes of a table, the positive class of two, and minimum-cost decisions from probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import (
    Label,
    LabelMatcher,
    Labels,
    as_meant,
    dates_error,
    folded,
    is_date,
    is_label,
    listing,
    number_in,
    occurring,
)
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.predictions.roles import Model
from stakes.predictions.table import Table

TWO = 2
USUAL = (
    (1, 0),
    (1, -1),
    ("true", "false"),
    ("yes", "no"),
)
"""Usual pairs of labels, positive first; matched in any case, and numbers also as text."""


def classes_of(table: Table, name: str) -> Labels:
    """Return the sorted classes in a column; those from files are converted by `as_meant`.

    Days in files are their text, such as "2020-01-31", as in CSV files and cost matrices.
    """
    labels = table.labels(name)
    where = f"{table.source}, column {name!r}"
    if table.cells == "values":
        if (day := next(filter(is_date, labels), None)) is not None:
            raise dates_error(where, day)
        return occurring({name: labels})
    labels = [each.isoformat() if type(each) is date else each for each in labels]
    if (wrong := next((each for each in labels if not is_label(each)), None)) is not None:
        raise InputTypeError(
            where,
            f"expected text or finite numbers as labels, got {str(wrong)!r} "
            f"({type(wrong).__name__}).",
            "Save the column as text in the file.",
        )
    if table.cells != "loose":
        return as_meant(labels)
    alike: dict[str, list[Label]] = {}
    for label in labels:
        alike.setdefault(folded(label), []).append(label)
    often = [max(same, key=lambda each: table.amounts(name, [each])[1]) for same in alike.values()]
    return as_meant(often)  # the most frequent spelling


def costs_of_mistakes(
    labels: Labels, costs: Mapping[str, float], pos_label: Any, where: str
) -> CostMatrix:
    """Return a cost matrix for the two classes of a table.

    Parameters
    ----------
    labels : tuple
        The sorted classes.
    costs : mapping
        The costs of mistakes, as ``CostMatrix.from_errors`` takes them.
    pos_label : label or None
        The positive class; None for 1, True or "yes".
    where : str
        The place of the classes, for errors.
    """
    if len(labels) != TWO:
        problem = (
            "the costs of false alarms and misses are for two classes, there "
            f"{'is' if len(labels) == 1 else 'are'} {len(labels)}: {listing(labels)}."
        )
        if len({folded(label) for label in labels}) == TWO:
            problem += " Some differ in case, spaces or punctuation only."
            advice = "Read them as the same with ignore_case=."
            raise LabelError(where, problem, advice, proposal={"ignore_case": ""})
        raise LabelError(where, problem, "Give a cost matrix.")
    if pos_label is None:
        pos_label = _usual_positive(labels)
    if pos_label is None:
        raise InputTypeError(
            where,
            f"which class is the positive one, of {listing(labels)}?",
            "Name it with pos_label=.",
        )
    positive = among(pos_label, labels, "pos_label")
    negative = next(label for label in labels if label != positive)
    return CostMatrix.from_errors(**costs, pos_label=positive, neg_label=negative)


def among(label: Any, labels: Sequence[Label], name: str) -> Label:
    """Return the label that matches; text may stand for a number, as in a file."""
    return all_among([label], labels, name)[0]


def all_among(given: Iterable[Any], labels: Sequence[Label], name: str) -> list[Label]:
    """Return the labels that match, as `among` does for one."""
    matcher, found = LabelMatcher(labels, "text"), []
    for label in given:
        place = matcher.find(label)
        if place < 0:
            raise LabelError(name, f"expected one of {listing(labels)}, got {label!r}.")
        found.append(labels[place])
    return found


def positive_class(costs: CostMatrix, pos_label: Any) -> Label | None:
    """Return the positive class of two: the one named, the usual one, or the one costlier to miss.

    There may be more decisions than classes, such as referral to an expert.
    """
    if len(costs.labels) != TWO or not set(costs.labels) <= set(costs.decisions):
        if pos_label is not None:
            raise InputError(
                "pos_label",
                f"a positive class needs two classes; the costs have {listing(costs.labels)}.",
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


def _usual_positive(labels: Sequence[Label]) -> Label | None:
    by_name = {_usual_name(each): each for each in labels}
    for pair in USUAL:
        if set(by_name) == set(pair):
            return by_name[pair[0]]  # True, not 1
    return None


def _usual_name(label: Label) -> Label:
    """Return a label as in the usual pairs: text in lower case, "1" as 1."""
    if not isinstance(label, str):
        return label
    number = number_in(label)
    return label.strip().lower() if number is None else number


# Minimum-cost decisions from probabilities.


def why_undecidable(
    model: Model, table: Table, costs: CostMatrix, positive: Label | None
) -> InputError | None:
    """Return the error for scores that give no decisions; None if they do."""
    where = f"{table.source}, column {model.scores!r}"
    if positive is None:
        return InputError(
            where,
            "scores alone give decisions only with two classes.",
            "Name a column of decisions with models=.",
        )
    lowest, highest = table.score_range(str(model.scores))
    if lowest < 0 or highest > 1:
        return InputError(
            where,
            f"the model {model.name!r} has scores and no decisions, and the scores are not "
            f"probabilities (from {lowest:.4g} to {highest:.4g}).",
            "Name a column of decisions with models=, or choose a threshold first.",
            code="not_probabilities",
        )
    if len(costs.decisions) != TWO:
        return InputError(
            where,
            f"the model {model.name!r} has scores and no decisions, and there are more decisions "
            "than the classes.",
            "Choose thresholds first.",
        )
    if sum(costs.mistake_costs(pos_label=positive).values()) <= 0:
        return InputError(
            "costs", "mistakes must cost more than correct decisions to decide by them."
        )
    return None


def least_cost_threshold(
    costs: CostMatrix, positive: Label | None, class_factors: Floats | None = None
) -> float:
    """Return the probability at and above which the positive decision has the least expected cost.

    Parameters
    ----------
    costs : CostMatrix
        The costs of decisions.
    positive : label
        The positive class.
    class_factors : ndarray, shape (classes,), or None
        The ratio of each class's frequency in the target population to that in the rows, which the
        probabilities refer to.
    """
    wrong = costs.mistake_costs(pos_label=positive)
    alarm, miss = wrong["false_positive"], wrong["false_negative"]
    if class_factors is not None and positive is not None:
        place = costs.labels.index(positive)
        alarm, miss = alarm * class_factors[1 - place], miss * class_factors[place]
    return float(alarm / (alarm + miss)) if alarm + miss > 0 else 0.5


def moved(probability: Floats, place: int, class_factors: Floats | None) -> Floats:
    """Return the probabilities of one of two classes, adjusted to other class frequencies."""
    if class_factors is None:
        return probability
    ours = probability * class_factors[place]
    other = (1 - probability) * class_factors[1 - place]
    return np.asarray(np.divide(ours, ours + other, out=probability.copy(), where=ours + other > 0))


ROUNDED = 0.02
"""Tolerance for the sum of a row's probabilities, which may be rounded to two digits."""


def cheapest_decisions(
    probabilities: Floats,
    costs: CostMatrix,
    class_factors: Floats | None,
    source: str,
    model: Model,
) -> NDArray[np.int64]:
    """Return the position of the minimum-expected-cost decision for each row.

    Parameters
    ----------
    probabilities : ndarray, shape (n, classes)
        The probability of each class, in the order of the costs' labels.
    costs : CostMatrix
        The costs of decisions.
    class_factors : ndarray, shape (classes,), or None
        The ratio of each class's frequency in the target population to that in the rows.
    source, model : str and Model
        For errors.
    """
    where = f"{source}, the probabilities of {model.name!r}"
    sums = probabilities.sum(axis=1)
    outside = (probabilities < 0) | (probabilities > 1)
    wrong = ~(np.abs(sums - 1) <= ROUNDED) | outside.any(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            where,
            f"expected numbers from 0 to 1 whose sum is 1, got "
            f"{', '.join(f'{each:.4g}' for each in probabilities[row])} in row {row + 1}.",
            "Leave these columns out, or name the models with models=.",
        )
    moved = probabilities if class_factors is None else probabilities * class_factors
    expected = moved @ costs.values.T
    return np.asarray(expected.argmin(axis=1))


def decisions_of(
    chosen: NDArray[np.bool_], costs: CostMatrix, positive: Label | None
) -> NDArray[np.int64]:
    """Return the positions of decisions in the costs; `chosen` marks the positive decisions."""
    negative = next(label for label in costs.labels if label != positive)
    places = [costs.decisions.index(label) for label in (positive, negative)]
    return np.where(chosen, *places)
