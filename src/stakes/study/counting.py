"""Rows become counts, a batch of them at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.study.columns import Table
from stakes.study.counted import Counted
from stakes.study.deciding import decisions_of
from stakes.study.roles import Roles
from stakes.study.scores import JointScores

MOST_SCORES = 30_000_000
"""Scores that are kept at most while batches are counted: 8 bytes each, and as much to sort."""


class Counting:
    """The counts of the batches so far.

    Parameters
    ----------
    costs : CostMatrix
        Its classes and decisions are counted.
    positive : label or None
        The positive class.
    roles : Roles
        The parts that columns play.
    decided_from : mapping
        The score from which on the positive class is decided, for models that have scores alone.
    with_scores : bool
        Whether scores are counted.
    advice : str, optional
        What to do about a decision that is missing or wrong.
    """

    def __init__(
        self,
        costs: CostMatrix,
        positive: Label | None,
        roles: Roles,
        decided_from: Mapping[str, float],
        *,
        with_scores: bool,
        advice: str = "",
    ) -> None:
        self._advice = advice
        self._costs, self._positive = costs, positive
        self._roles, self._decided_from = roles, dict(decided_from)
        scored = {each.name: each.scores for each in roles.models if each.scores is not None}
        self._scored = scored if with_scores and positive is not None else {}
        self._joint: JointConfusion | None = None
        self._positives: list[NDArray[np.bool_]] = []
        self._scores: dict[str, list[NDArray[np.float64]]] = {name: [] for name in self._scored}

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        models = self._roles.models
        decisions = [each.decisions for each in models if each.decisions is not None]
        deciding = [str(each.scores) for each in models if each.name in self._decided_from]
        every = [self._roles.actual, *decisions, *deciding, *self._scored.values()]
        return list(dict.fromkeys(every))

    def add(self, batch: Table) -> None:
        """Count some rows."""
        costs = self._costs
        codes = batch.codes(self._roles.actual, costs.labels, "classes")
        decided = {}
        for model in self._roles.models:
            if model.decisions is not None:
                decided[model.name] = batch.codes(
                    model.decisions, costs.decisions, "decisions", self._advice
                )
            elif model.name in self._decided_from:
                chosen = batch.scores(str(model.scores)) >= self._decided_from[model.name]
                decided[model.name] = decisions_of(chosen, costs, self._positive)
        joint = JointConfusion.from_codes(
            codes, decided, labels=costs.labels, decisions=costs.decisions
        )
        self._joint = joint if self._joint is None else self._joint + joint
        if self._scored:
            self._keep(codes == costs.labels.index(self._positive), batch)

    def _keep(self, positive: NDArray[np.bool_], batch: Table) -> None:
        self._positives.append(positive)
        for name, column in self._scored.items():
            self._scores[name].append(batch.scores(column))
        # A table that is one batch was read whole: its scores are in memory already.
        if len(self._positives) > 1 and self._rows() * len(self._scored) > MOST_SCORES:
            raise InputError(
                f"{batch.source}: with it there are more than {MOST_SCORES:,} scores, which do not "
                "fit here. 'stakes evaluate', 'stakes compare' and 'stakes count --without-scores' "
                "count decisions alone, of any number of rows; the cost curve of so many scores is "
                "that of BinnedScoreCounts.from_frame in Python."
            )

    def _rows(self) -> int:
        return sum(map(len, self._positives))

    def done(self, source: str) -> Counted:
        """Return the counts of all batches."""
        if self._joint is None:
            raise InputError(f"{source}: it has no rows.")
        roles = self._roles
        return Counted(
            roles.actual, roles.models, self._joint, self._joint_scores(), self._decided_from
        )

    def _joint_scores(self) -> JointScores | None:
        if not self._scored:
            return None
        columns = {}
        for name in self._scored:
            columns[name] = _one(self._scores.pop(name))
        return JointScores.from_columns(
            _one(self._positives),
            columns,
            pos_label=self._positive,
            neg_label=next(label for label in self._costs.labels if label != self._positive),
        )


def _one(arrays: list[Any]) -> Any:
    """Put arrays together; one alone need not be copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
