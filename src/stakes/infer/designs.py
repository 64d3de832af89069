"""From a table of counts and its costs to the outcomes that the methods work on.

======== ============================================= =========================================
design   when                                          table
======== ============================================= =========================================
simple   examples drawn at random                      Confusion, PairedConfusion
priors   the class shares in use are known, or the     the same, with `class_priors` or
         test set has fixed numbers of each class      ``strata="class"``
weighted examples have weights                         the same, counted with `sample_weight`
grouped  examples come in groups (patients)            GroupedConfusion
examples costs differ from example to example          CostSample
======== ============================================= =========================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes._core.typing import Floats
from stakes._labels import Labels, listing
from stakes.counts import Confusion, CostSample, GroupedConfusion, PairedConfusion
from stakes.counts.effective import effective_size
from stakes.errors import DesignError, InputError, LabelError
from stakes.infer.outcomes import Outcomes, Stratum, make_stratum

NEARLY = 0.9
"""Costs nearly as far from the mean as the farthest count as extreme."""

ENOUGH_GROUPS = 3
"""So many groups must depart from the usual cost before their correlation is estimated."""

CountTable = Confusion | PairedConfusion | GroupedConfusion | CostSample


@dataclass(frozen=True)
class Design:
    """What is known of how the examples came, besides their counts.

    Attributes
    ----------
    class_priors : mapping, sequence or None
        The share of each class where the classifier is used.
    strata : "class" or None
        "class" when the numbers of examples of each class were fixed beforehand.
    impossible : sequence of (decision, class), or None
        Cells that cannot occur.

    Notes
    -----
    With class priors π the expected cost is Σ_j π_j Σ_i M(i, j) C(i, j)/n_j, n_j being the number
    of examples of class j, and each class varies by itself.

    Examples
    --------
    >>> from stakes import Confusion, CostEstimate, CostMatrix, Design
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> table = Confusion([[50, 2], [8, 40]], labels=[0, 1])
    >>> CostEstimate(table, costs).cost
    0.28
    >>> round(CostEstimate(table, costs, Design(class_priors={0: 0.99, 1: 0.01})).cost, 4)
    0.1413
    """

    class_priors: Any = None
    strata: str | None = None
    impossible: Any = None

    def __post_init__(self) -> None:
        if self.impossible is not None:  # which may be an iterator
            object.__setattr__(self, "impossible", tuple(self.impossible))


SIMPLE = Design()


def outcomes_of(table: CountTable, cell_costs: Any, design: Design, scale: float = 0.0) -> Outcomes:
    """Combine counts, the cost of each cell, and the design.

    `scale` is the size of the costs that differences were taken of.
    """
    stratified = design.class_priors is not None or design.strata is not None
    if isinstance(table, CostSample):
        if stratified or design.impossible is not None:
            raise DesignError(
                "class_priors, strata, impossible: costs of single examples have no classes. "
                "Give the bounds of CostSample instead."
            )
        values = np.concatenate([table.values, [table.low, table.high]])
        counts = np.concatenate([np.ones(table.n), [0.0, 0.0]])
        return Outcomes((make_stratum(values, counts),), "examples")
    pooled = table.pooled if isinstance(table, GroupedConfusion) else table
    if not pooled.weighted and (pooled.counts != np.rint(pooled.counts)).any():
        raise InputError(
            "counts: intervals need whole numbers of examples. For weighted examples count with "
            "sample_weight, which keeps the squared weights too."
        )
    possible = _possible(pooled, design.impossible)
    if stratified:
        if isinstance(table, GroupedConfusion) or pooled.weighted:
            raise DesignError(
                "class_priors, strata: they cannot be combined with groups or sample weights."
            )
        return _stratified(pooled, cell_costs, possible, design, scale)
    stratum = make_stratum(cell_costs, pooled.counts, possible=possible, scale=scale)
    if isinstance(table, GroupedConfusion):
        return _grouped(table, cell_costs, stratum)
    if pooled.squares is not None:
        return _weighted(pooled, cell_costs, stratum)
    return Outcomes((stratum,))


def _weighted(table: Confusion | PairedConfusion, cell_costs: Any, stratum: Stratum) -> Outcomes:
    """Linearise the weighted mean; count as many draws as its variance is worth.

    But no more than there would be if all examples weighed as much as those of the classes in which
    the extreme costs can occur: what was not seen there may come with that weight.
    """
    squares = np.asarray(table.squares)
    costs = np.asarray(cell_costs)
    n = float(stratum.n[0])
    kish = effective_size(n, squares.sum())
    variance = float((squares * (costs - stratum.mean[0]) ** 2).sum()) / n**2
    variance *= kish / max(kish - 1, 0.5)  # as with n - 1 in a sample variance
    spread = float(stratum.moment(2)[0])
    effective = spread / variance if variance > 0 else kish
    axes = tuple(range(costs.ndim - 1))
    distance = np.abs(costs - stratum.mean[0]) * (stratum.place >= 0).reshape(costs.shape)
    extreme = (distance > NEARLY * distance.max()).any(axis=axes)
    heaviness = squares.sum(axis=axes) / np.maximum(table.class_counts, 1e-300)
    if (heavy := heaviness[extreme & (table.class_counts > 0)]).size:
        effective = min(effective, n / float(heavy.max()))
    return Outcomes((stratum,), "weighted", np.array([variance]), np.array([max(effective, 1.0)]))


def _grouped(table: GroupedConfusion, cell_costs: Any, stratum: Stratum) -> Outcomes:
    n_groups = len(table.counts)
    if n_groups < 2:  # noqa: PLR2004 - one group tells nothing about others
        raise InputError("groups: at least two groups are needed, got 1.")
    cells = table.counts.reshape(n_groups, -1).astype(np.float64)
    totals = cells @ np.asarray(cell_costs, dtype=np.float64).ravel()
    sizes = cells.sum(axis=1)
    residuals = totals - stratum.mean[0] * sizes
    n = sizes.sum()
    variance = np.array([residuals @ residuals * n_groups / (n_groups - 1) / n**2])
    alone = stratum.moment(2)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where(variance > 0, alone / variance, n)
    # Where hardly any group departs from the commonest cost (or, of two classifiers, difference),
    # nothing is known of the correlation within groups: count no more draws than groups, and fewer
    # the more unequal they are.
    usual = float(stratum.costs[stratum.counts[0].argmax()])
    departing = np.abs(totals - usual * sizes) > 1e-9 * float(np.abs(cell_costs).max())
    if departing.sum() < ENOUGH_GROUPS:
        effective = np.minimum(effective, n**2 / (sizes @ sizes))
    effective = np.clip(effective, 1.0, n)
    return Outcomes((stratum,), "grouped", variance, effective, (totals, sizes))


def _stratified(
    table: Confusion | PairedConfusion,
    cell_costs: Any,
    possible: Any,
    design: Design,
    scale: float,
) -> Outcomes:
    sizes = table.class_counts
    if design.strata not in (None, "class"):
        raise InputError(f"strata: expected 'class' or None, got {design.strata!r}.")
    if design.class_priors is None:
        priors = sizes / sizes.sum()
    else:
        priors = priors_of_examples(design.class_priors, table.labels, sizes)
    strata = []
    costs = np.asarray(cell_costs)
    for j in np.flatnonzero(priors):
        mask = None if possible is None else possible[..., j]
        strata.append(
            make_stratum(
                costs[..., j],
                table.counts[..., j],
                possible=mask,
                weight=float(priors[j]),
                scale=scale,
            )
        )
    return Outcomes(tuple(strata), "priors")


def cell_shares(table: Confusion | PairedConfusion, design: Design) -> Floats:
    """Return the share of each cell in the population that the design describes."""
    if design.class_priors is None:
        return np.asarray(table.counts / table.n)
    sizes = np.maximum(table.class_counts, 1)
    return np.asarray(table.counts / sizes * checked_priors(design.class_priors, table.labels))


def where_used(table: Confusion, design: Design) -> Confusion:
    """Return the shares of the cells where a classifier is used, if not as in the examples."""
    if design.class_priors is None:
        return table
    return Confusion(cell_shares(table, design), table.labels, table.decisions)


def priors_of_examples(class_priors: Any, labels: Labels, sizes: NDArray[Any]) -> Floats:
    """Return the prior of each class; those that have one must have examples."""
    priors = checked_priors(class_priors, labels)
    for label, prior, size in zip(labels, priors, sizes, strict=True):
        if prior and not size:
            raise InputError(
                f"class_priors: the class {label!r} has a prior of {prior:g} but no examples, "
                "so nothing is known of its costs. Add examples of it, or set its prior to 0."
            )
    return priors


def checked_priors(class_priors: Any, labels: Labels) -> Floats:
    """Return the prior of each class in the order of `labels`."""
    class_priors = _by_name(class_priors)
    if isinstance(class_priors, Mapping):
        missing = [label for label in labels if label not in class_priors]
        strange = [label for label in class_priors if label not in labels]
        if missing or strange:
            problem = f"misses {missing[0]!r}" if missing else f"has the unknown {strange[0]!r}"
            raise LabelError(
                f"class_priors: expected a prior for each of the classes {listing(labels)}; "
                f"it {problem}."
            )
        class_priors = [class_priors[label] for label in labels]
    priors = _validate.numeric(class_priors, "class_priors", ndim=1)
    if len(priors) != len(labels):
        raise InputError(
            f"class_priors: expected {len(labels)} shares, one for each of the classes "
            f"{listing(labels)}; got {len(priors)}."
        )
    if not np.isfinite(priors).all() or (priors < 0).any() or abs(priors.sum() - 1) > 1e-6:  # noqa: PLR2004
        raise InputError(
            f"class_priors: expected shares that are not negative and sum to 1, got "
            f"{priors.tolist()}, which sum to {priors.sum():.6g}."
        )
    return np.asarray(priors / priors.sum())


def _by_name(class_priors: Any) -> Any:
    """Return what a pandas Series says by name as a mapping; one that only counts has no names."""
    if not hasattr(class_priors, "index") or not hasattr(class_priors, "to_dict"):
        return class_priors
    named = class_priors.to_dict()
    return class_priors if list(named) == list(range(len(named))) else named


def _possible(table: Confusion | PairedConfusion, impossible: Any) -> NDArray[np.bool_] | None:
    """Return which cells can occur; for two classifiers, those in which both their cells can."""
    if impossible is None:
        return None
    single = np.ones((len(table.decisions), len(table.labels)), dtype=bool)
    for cell in impossible:
        match cell:
            case (decision, label) if decision in table.decisions and label in table.labels:
                single[table.decisions.index(decision), table.labels.index(label)] = False
            case _:
                raise LabelError(
                    f"impossible: expected pairs (decision, class) of the decisions "
                    f"{listing(table.decisions)} and the classes {listing(table.labels)}; "
                    f"got {cell!r}."
                )
    possible = single
    if isinstance(table, PairedConfusion):
        possible = single[:, np.newaxis, :] & single[np.newaxis, :, :]
    if (table.counts[~possible] > 0).any():
        place = np.argwhere((table.counts > 0) & ~possible)[0]
        raise InputError(
            f"impossible: predicting {table.decisions[place[0]]!r} when it was "
            f"{table.labels[place[-1]]!r} was called impossible, but was observed "
            f"{table.counts[tuple(place)]} times."
        )
    return possible
