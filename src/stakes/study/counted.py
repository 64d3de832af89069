"""Predictions of several models, counted: all that is kept of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stakes._core.labels import Label, Labels, hint, listing
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion
from stakes.errors import InputError, LabelError
from stakes.study.roles import Model
from stakes.study.scores import JointScores

TOO_MANY = 1 << 63
"""So many examples do not fit in the whole numbers that count them."""


@dataclass(frozen=True)
class Counted:
    """Counts of the decisions and scores of several models on the same examples.

    Attributes
    ----------
    actual : str
        The column that had the actual classes.
    models : tuple of Model
        The models.
    joint : JointConfusion
        The decisions of those that have any.
    scores : JointScores or None
        The scores of those that have any.
    decided_from : mapping
        The score from which on the positive class was decided, for models that had scores alone.
    """

    actual: str
    models: tuple[Model, ...]
    joint: JointConfusion
    scores: JointScores | None = None
    decided_from: Mapping[str, float] = field(default_factory=dict)

    def renamed(self, costs: CostMatrix, source: str) -> Counted:
        """Return the counts by the classes and decisions of a cost matrix.

        Parameters
        ----------
        costs : CostMatrix
            Must know all classes and decisions of the counts; text may stand for numbers.
        source : str
            Where the counts are from, for errors.
        """
        joint = self.joint
        classes = _places(joint.labels, costs.labels, "classes", source)
        decisions = _places(joint.decisions, costs.decisions, "decisions", source)
        columns = zip(joint.names, decisions[joint.decided].T, strict=True)
        scores = self.scores
        if scores is not None:
            both = (scores.pos_label, scores.neg_label)
            places = _places(both, costs.labels, "classes", source).tolist()
            positive, negative = (costs.labels[place] for place in places)
            scores = replace(scores, pos_label=positive, neg_label=negative)
        return replace(
            self,
            joint=JointConfusion.from_codes(
                classes[joint.actual],
                dict(columns),
                labels=costs.labels,
                decisions=costs.decisions,
                amounts=joint.counts,
            ),
            scores=scores,
        )


def _places(labels: Labels, known: Labels, what: str, source: str) -> np.ndarray:
    by_text = {str(label): place for place, label in enumerate(known)}
    for label in labels:
        if str(label) not in by_text:
            raise LabelError(
                f"{source}: {label!r} is not one of the {what} of the costs, {listing(known)}."
                f"{hint(label, known)}"
            )
    return np.array([by_text[str(label)] for label in labels], dtype=np.intp)


def merged(parts: Sequence[tuple[str, Counted]]) -> Counted:
    """Add up the counts of several files, which must be of the same models and classes.

    Parameters
    ----------
    parts : sequence of (name, Counted)
        The names of the files and what they hold.
    """
    rows = sum(int(part.joint.n) for _, part in parts)
    if rows >= TOO_MANY:
        raise InputError(
            f"{', '.join(name for name, _ in parts[:3])}{', …' if len(parts) > 3 else ''}: "  # noqa: PLR2004
            f"together they count {rows:,} examples, expected less than 2**63."
        )
    (first_name, total), *others = parts
    for name, part in others:
        _check_alike(total, part, f"{first_name} and {name}")
        scores = None
        if total.scores is not None and part.scores is not None:
            scores = total.scores + part.scores
        total = replace(total, joint=total.joint + part.joint, scores=scores)
    return total


def _check_alike(one: Counted, other: Counted, files: str) -> None:
    """Raise when counts are not of the same models, classes and decisions."""
    again = "Count all of them with the same costs and columns."
    names = [[model.name for model in each.models] for each in (one, other)]
    if names[0] != names[1]:
        raise LabelError(
            f"{files}: they have counts of different models, {listing(names[0])} and "
            f"{listing(names[1])}. {again}"
        )
    for what in ("labels", "decisions"):
        mine, theirs = (getattr(each.joint, what) for each in (one, other))
        if mine != theirs:
            raise LabelError(
                f"{files}: they have counts of different "
                f"{'classes' if what == 'labels' else what}, {listing(mine)} and "
                f"{listing(theirs)}. {again}"
            )
    if dict(one.decided_from) != dict(other.decided_from):
        raise LabelError(f"{files}: decisions were taken from scores by different costs. {again}")
    if one.joint.names != other.joint.names or _scored(one) != _scored(other):
        raise LabelError(
            f"{files}: a model has decisions or scores in one of them and not in the other. {again}"
        )


def _scored(counts: Counted) -> tuple[tuple[str, ...], tuple[Label, Label]] | None:
    scores = counts.scores
    return None if scores is None else (scores.names, (scores.neg_label, scores.pos_label))
