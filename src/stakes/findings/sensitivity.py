"""Sensitivity to the costs: where the verdict would change, and the decisions at other costs.

Thresholds that the rows chose are chosen again at other costs, as someone who deploys them would.
The page computes everything again from the decisions of the policies at other costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.text import listed, number, percent
from stakes._core.typing import Floats
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.findings.data import Finding, Settings
from stakes.findings.policies import shown_models, shown_policies
from stakes.infer._inference import Inference
from stakes.infer._outcomes import is_simple
from stakes.infer.estimate import CostEstimate
from stakes.infer.family import Compared, adjusted
from stakes.infer.sensitivity import intervals_at, p_values_at
from stakes.policies._assemble import Asked
from stakes.policies._choose import Chosen
from stakes.policies._path import Line, Repriced, identity, with_thresholds
from stakes.policies._turns import FARTHEST, Quantity, turn
from stakes.policies.policies import Policies, Policy
from stakes.policies.verdict import in_words
from stakes.study import Study

STEPS, FEW_STEPS = 9, 5
"""Number of values of a cost at which policies are judged; fewer where limits take long: with
groups, weights, strata and class priors."""

MOST_PATHS, MOST_CELLS = 4, 10
"""Maximum number of costs that are varied, one by one: with limits, and for turning points."""

UNIT_DIGITS = 12
"""Decimals to which costs in units of the largest are compared."""

TWO = 2

MOST_COSTS = 10_000
"""Maximum number of costs that are varied one by one; nobody could use a page with more."""


@dataclass(frozen=True, eq=False)
class Turn(Finding):
    """Value at which another policy has the lowest estimated cost.

    Attributes
    ----------
    at : float
        The value. The policy of the verdict is the cheapest just before it, and the other one just
        beyond it.
    policy : str
        The policy that is the cheapest just beyond, with its threshold there.
    words : str
        The same in words.
    model : str or None
        Its model; null for a constant prediction.
    """

    at: float
    policy: str
    words: str
    model: str | None


@dataclass(frozen=True, eq=False)
class Change(Finding):
    """The nearest values of one cost, or of the prevalence, that would change the verdict.

    Attributes
    ----------
    decision : label or None
        The decision whose cost is changed; null for the prevalence.
    label : label
        The class whose cost is changed, or the positive class.
    now : float
        The stated cost, or the prevalence that costs are for.
    low, high : float
        The range that was searched, outwards from `now` up to the first change.
    below, above : Turn or None
        The first changes; null where none was found.
    """

    decision: Label | None
    label: Label
    now: float
    low: float
    high: float
    below: Turn | None
    above: Turn | None


@dataclass(frozen=True, eq=False)
class CheapestRange(Finding):
    """Values of a cost at which the same policy is the cheapest.

    Attributes
    ----------
    low, high : float
        The lowest and the highest of the values.
    cheapest : str
        The policy of lowest estimated cost.
    shown : bool
        Whether it is shown to be the cheapest there.
    """

    low: float
    high: float
    cheapest: str
    shown: bool


@dataclass(frozen=True, eq=False)
class CostPath(Finding):
    """Costs of the policies as one cost varies, with thresholds that are chosen again.

    Attributes
    ----------
    names : tuple of str
        The policies, by their names at the stated costs.
    axis : str
        The cost that varies, in words.
    cell : tuple of labels
        Its decision and class.
    position : ndarray
        The values of that cost.
    cost, low, high : ndarray
        The expected cost of each policy at each value, and its limits.
    cheapest : tuple of str
        The policy of lowest estimated cost at each value.
    shown : tuple of bool
        Whether it is shown to be the cheapest there.
    confidence : float
        The confidence level of the limits and of what is shown.
    ranges : tuple of CheapestRange
        The same as runs of values.
    summary : str
        The result in sentences.
    """

    names: tuple[str, ...]
    axis: str
    cell: tuple[Label, ...]
    position: Floats
    cost: Floats
    low: Floats
    high: Floats
    cheapest: tuple[str, ...]
    shown: tuple[bool, ...]
    confidence: float
    ranges: tuple[CheapestRange, ...]
    summary: str


@dataclass(frozen=True, eq=False)
class Sensitivity(Finding):
    """Sensitivity of the verdict to the costs.

    Attributes
    ----------
    factor : float
        The largest factor by which each cost may be wrong.
    rechosen : bool
        Whether thresholds are chosen again at other costs; otherwise no policy has one.
    changes : tuple of Change
        For the costs that matter most, and the prevalence of two classes, the nearest values at
        which another policy has the lowest estimated cost.
    paths : tuple of CostPath
        The costs of the policies as one cost varies by the factor; none where that is 1.
    summary : str
        Which policies are the cheapest if one cost is wrong by the factor, in a sentence; empty
        where the factor is 1.
    notes : tuple of str
        What was not varied, and why, in sentences.
    """

    factor: float
    rechosen: bool
    changes: tuple[Change, ...]
    paths: tuple[CostPath, ...]
    summary: str
    notes: tuple[str, ...]


def repriced(study: Study, models: Sequence[str] | None = None) -> Repriced:
    """Return the policies of a study at other costs, or those of some of its models."""
    policies, counted, asked = study.policies, study.counted, study.asked
    if models is not None and {*models} < {model.name for model in counted.models}:
        counted = replace(counted, models=[each for each in counted.models if each.name in models])
        asked = Asked(asked.baseline)
        among = {*models}
        kept = (each for each in policies.policies if not each.models or among & {*each.models})
        policies = replace(policies, policies=tuple(kept), asked=())
    return Repriced(counted, study.choosing, asked, policies)


def sensitivity_of(
    study: Study, settings: Settings, again: Repriced | None = None
) -> Sensitivity | None:
    """Return how the verdict depends on the costs.

    None where each row has costs of its own, which are not varied, and where there are too many
    costs to vary each.
    """
    if study.examples is not None or too_many_costs(study):
        return None
    models = shown_models(study)
    if again is None or {*models} < {model.name for model in study.counted.models}:
        again = repriced(study, models)
    try:
        return _sensitivity(study, again, settings.factor)
    except InputError:  # too few rows to choose on, so that costs alone imply the thresholds
        if not study.choosing.limits:
            raise
        note = "Costs are not varied: at some of them no policy keeps within the limits."
        return Sensitivity(settings.factor, again.rechosen, (), (), "", (note,))


def _sensitivity(study: Study, again: Repriced, factor: float) -> Sensitivity:
    cells = _cells(again)
    changes = [_cell_change(study, again, cell) for cell in cells]
    prevalence, note = _prevalence_change(study, again)
    widest = sorted(cells, key=lambda cell: -abs(study.costs.values[cell]))[:MOST_PATHS]
    paths = _paths(study, again, widest, factor) if factor > 1 else ()
    return Sensitivity(
        factor,
        again.rechosen,
        (*changes, *([] if prevalence is None else [prevalence])),
        paths,
        _summary(study, paths, factor),
        tuple(filter(None, [note, _fixed_note(study)])),
    )


def too_many_costs(study: Study) -> bool:
    """Tell whether there are too many costs to vary each of them."""
    return study.costs.values.size > MOST_COSTS


# Turning points.


def _cells(again: Repriced) -> list[tuple[int, int]]:
    """Return the costs to vary: of very many, those whose turning points are nearest.

    They are ranked as if thresholds stayed: then the cost of each policy is a straight line.
    """
    values = again.counted.costs.values
    cells = [(int(i), int(j)) for i, j in np.argwhere(values)]
    if len(cells) <= MOST_CELLS:
        return cells
    parts = np.stack([each.judged * values for each in again.lines(values)])
    total = parts.sum(axis=(1, 2))
    best = int(total.argmin())
    slope = np.abs(parts - parts[best])
    ahead = np.broadcast_to((total - total[best])[:, np.newaxis, np.newaxis], slope.shape)
    far = np.divide(ahead, slope, out=np.full(slope.shape, np.inf), where=slope > 0)
    far[best] = np.inf
    nearest = far.min(axis=0)
    return sorted(cells, key=lambda cell: float(nearest[cell]))[:MOST_CELLS]


def _cell_change(study: Study, again: Repriced, cell: tuple[int, int]) -> Change:
    costs = study.costs
    mask = np.zeros(costs.values.shape, dtype=bool)
    mask[cell] = True
    quantity = Quantity(float(costs.values[cell]), mask)
    return _change(again, quantity, costs.decisions[cell[0]], costs.labels[cell[1]])


def _prevalence_change(study: Study, again: Repriced) -> tuple[Change | None, str]:
    """Return the change of the prevalence; or a note why there is none."""
    labels, positive = study.costs.labels, study.pos_label
    if len(labels) != TWO or positive is None:
        return None, ""
    share = float(study.policies.class_shares[study.policies.held_out.labels.index(positive)])
    if not 0 < share < 1:
        return None, ""
    if again.stratified:
        return (
            None,
            "The prevalence is not varied: with strata, it changes the weights of the rows.",
        )
    if study.choosing.capacity is not None:
        return None, "The prevalence is not varied: it changes which thresholds keep the capacity."
    mask = np.zeros(study.costs.values.shape, dtype=bool)
    mask[:, labels.index(positive)] = True
    return _change(again, Quantity(share, mask, share=True), None, positive), ""


def _fixed_note(study: Study) -> str:
    """State which decisions would be others at other costs, but cannot be taken again."""
    if not any(each.kind == "minimum_cost" for each in study.policies.policies):
        return ""
    return "Decisions by minimum expected cost stay those at the stated costs."


def _change(again: Repriced, quantity: Quantity, decision: Label | None, label: Label) -> Change:
    stated, usual = again.counted.costs.values, identity(again.stated[again.stated.best])

    @cache
    def cheapest(factor: float) -> Line:
        return again.cheapest(np.where(quantity.cells, factor * stated, stated))

    def found(*, up: bool) -> Turn | None:
        first = turn(quantity, usual, lambda factor: cheapest(factor).identity, up=up)
        if first is None:
            return None
        policy = cheapest(first[1]).make()
        return Turn(first[0], policy.name, in_words(policy), policy.model)

    turns = [found(up=False), found(up=True)]
    ends = [quantity.at(1 / FARTHEST), quantity.at(FARTHEST)]
    if ends[0] > ends[1]:  # of a gain, which is a negative cost
        turns, ends = turns[::-1], ends[::-1]
    low, high = (end if each is None else each.at for each, end in zip(turns, ends, strict=True))
    return Change(decision, label, quantity.now, low, high, *turns)


# The costs of all policies, one cost at a time.


def _paths(
    study: Study, again: Repriced, cells: Sequence[tuple[int, int]], factor: float
) -> tuple[CostPath, ...]:
    """Return the costs of the policies as each cell by itself is wrong by the factor at most.

    They are in proportion to all costs, so places that differ in the unit only are computed once.
    """
    costs = study.costs
    simple = is_simple(study.policies.deployed(study.policies.best), study.design)
    steps = STEPS if simple and study.design.impossible is None else FEW_STEPS
    places: dict[bytes, Policies] = {}
    paths = []
    for cell in cells:
        path = []
        for value in np.sort(costs.values[cell] * factor ** np.linspace(-1, 1, steps)):
            values = costs.values.copy()
            values[cell] = value
            unit = float(np.abs(values).max())
            key = np.round(values / unit + 0.0, UNIT_DIGITS).tobytes()
            if key not in places:
                places[key] = again.policies(again.matrix(values / unit))
            path.append((float(value), unit, key))
        paths.append(path)
    judged = _judged(study, [*places.values()])
    found = dict(zip(places, judged.places, strict=True))
    return tuple(
        _path(
            study, cell, judged.policies, [(value, unit, found[key]) for value, unit, key in path]
        )
        for cell, path in zip(cells, paths, strict=True)
    )


@dataclass(frozen=True, eq=False)
class _Place:
    """What the policies cost at a place, with limits, shape (policies, 3), and the cheapest."""

    amounts: Floats
    cheapest: Policy
    shown: bool


@dataclass(frozen=True, eq=False)
class _Judged:
    """The policies as stated, and what they cost at each place."""

    policies: list[Policy]
    places: list[_Place]


def _judged(study: Study, places: Sequence[Policies]) -> _Judged:
    """Return what the policies cost that compete at the stated costs or are the cheapest anywhere.

    One that is merged with another costs the same.
    """
    stated = {
        identity(each): each for policies in (*places, study.policies) for each in policies.every
    }
    leaders = [
        {identity(each): one.name for one in policies.policies for each in (one, *one.alike)}
        for policies in places
    ]
    best = [identity(policies[policies.best]) for policies in places]
    wanted = [*(identity(study.policies[name]) for name in shown_policies(study)), *best]
    kept = [key for key in dict.fromkeys(wanted) if all(key in each for each in leaders)]
    names = [[each[key] for key in kept] for each in leaders]
    limits = _limits(places, names)
    amounts = [
        np.column_stack([[policies.estimate(name).cost for name in own], ends])
        for policies, own, ends in zip(places, names, limits, strict=True)
    ]
    cheapest = [stated[key] for key in best]
    each = zip(amounts, cheapest, _shown(places), strict=True)
    return _Judged([stated[key] for key in kept], [_Place(*one) for one in each])


def _path(
    study: Study,
    cell: tuple[int, int],
    policies: Sequence[Policy],
    places: Sequence[tuple[float, float, _Place]],
) -> CostPath:
    decided, actual = study.costs.decisions[cell[0]], study.costs.labels[cell[1]]
    amounts = np.stack([unit * each.amounts for _, unit, each in places], axis=1)
    position = np.array([value for value, _, _ in places])
    best, shown = [each.cheapest for *_, each in places], [each.shown for *_, each in places]
    ranges = _ranges(position, [each.name for each in best], shown)
    return CostPath(
        names=tuple(each.name for each in policies),
        axis=f"cost of predicting {decided!r} when it was {actual!r}",
        cell=(decided, actual),
        position=position,
        cost=amounts[..., 0],
        low=amounts[..., 1],
        high=amounts[..., 2],
        cheapest=tuple(each.name for each in best),
        shown=tuple(shown),
        confidence=study.confidence,
        ranges=ranges,
        summary=_path_summary(ranges, {each.name: each.label for each in best}, study.confidence),
    )


def _limits(places: Sequence[Policies], names: Sequence[Sequence[str]]) -> Floats:
    """Return the limits of policies at each place, shape (places, policies, 2); all at once."""
    results: list[Inference] = []
    fitted = []
    for policies, own in zip(places, names, strict=True):
        for name in own:
            policy = policies[name]
            results.append(policies.estimate(name))
            if policy.cross_fitted:
                table = policies.in_sample.single(policy.column)
                fitted.append((len(results) - 1, len(results)))
                results.append(CostEstimate(table, policies.costs, policies.design))
    limits = intervals_at(results, places[0].confidence)
    # The lower limit is the smaller one of both tables, as that of `Policies.interval`.
    for judged, in_sample in fitted:
        limits[judged, 0] = min(limits[[judged, in_sample], 0])
    keep = np.ones(len(results), dtype=bool)
    keep[[at for _, at in fitted]] = False
    return limits[keep].reshape(len(places), -1, TWO)


def _shown(places: Sequence[Policies]) -> list[bool]:
    """Tell at which places the cheapest policy is shown to be that: whether there are no ties."""
    families = [policies.family for policies in places]
    compared = [
        [each.compare(each.best, name) for name in (*each.members[1:], *each.barred)]
        for each in families
    ]
    # The next policy is often the last one that is not shown to cost more: then it is enough.
    alpha = [1 - each.confidence for each in families]
    nearest = _p_values([row[:1] for row in compared])
    open_ = [max(own, default=0.0) <= most for own, most in zip(nearest, alpha, strict=True)]
    others = _p_values([row[1:] if left else [] for row, left in zip(compared, open_, strict=True)])
    found = []
    for first, rest, left, most in zip(nearest, others, open_, alpha, strict=True):
        every = sorted([*first, *rest])
        members = range(1 + len(every), 1, -1)
        found.append(
            left and all(adjusted(p, m) <= most for p, m in zip(every, members, strict=True))
        )
    return found


def _p_values(compared: Sequence[Sequence[Compared]]) -> list[list[float]]:
    """Return the p-value of each comparison by itself; all at once."""
    results = iter(p_values_at([one for row in compared for each in row for one in each.found]))
    largest = [[max(float(next(results)) for _ in each.found) for each in row] for row in compared]
    return [
        [p if each.agree else 1.0 for p, each in zip(own, row, strict=True)]
        for own, row in zip(largest, compared, strict=True)
    ]


def _ranges(
    position: Floats, best: Sequence[str], shown: Sequence[bool]
) -> tuple[CheapestRange, ...]:
    """Return runs of values at which the same policy is the cheapest."""
    found: list[CheapestRange] = []
    for at, name, sure in zip(position.tolist(), best, shown, strict=True):
        if found and (found[-1].cheapest, found[-1].shown) == (name, sure):
            found[-1] = replace(found[-1], high=at)
        else:
            found.append(CheapestRange(at, at, name, sure))
    return tuple(found)


def _path_summary(
    ranges: Sequence[CheapestRange], labels: Mapping[str, str], confidence: float
) -> str:
    """State which policy is the cheapest where, and where that is shown."""

    def words(runs: Sequence[CheapestRange]) -> str:
        (low, high), name = (runs[0].low, runs[-1].high), labels[runs[0].cheapest]
        if low == high:
            return f"{name} at {number(low)}"
        return f"{name} from {number(low)} to {number(high)}"

    runs = [[*each] for _, each in groupby(ranges, lambda each: each.cheapest)]
    shown = [words([each]) for each in ranges if each.shown]
    sure = f"at {percent(confidence)} confidence"
    return f"The lowest estimate is that of {listed([words(each) for each in runs])}. " + (
        f"Shown to be the cheapest {sure}: {listed(shown)}."
        if shown
        else f"None is shown to be the cheapest {sure}."
    )


def _summary(study: Study, paths: Sequence[CostPath], factor: float) -> str:
    """State which policies are the cheapest if one cost is wrong by the factor."""
    if not paths:
        return ""
    labels = {each.name: each.label for each in study.policies.every}
    use = study.policies.best
    others = {name for path in paths for name in path.cheapest} - {use}
    wrong = f"if one cost is wrong by a factor of {number(factor)} or less"
    if not others:
        return f"{labels[use]} keeps the lowest estimate {wrong}."
    named = " or ".join(label for name, label in labels.items() if name in others)
    return f"{wrong[0].upper()}{wrong[1:]}, the lowest estimate may be that of {named}."


FACTORS = (0.0, *np.round(np.logspace(-2, 2, 21), 12).tolist(), np.inf)
"""Ratios of the two mistakes' costs, relative to the stated ratio; 0 and ∞ are the ends."""

THINNED = (1, 2, 5, 10)
"""Steps between the ratios that are kept, apart from the ends; larger for large tables."""

MOST_COUNTS = 20_000
"""Maximum number of counts in all tables, so that the page does not grow by 300 kB."""

LARGEST_CODE = 2**53
"""Larger integers lose digits in the page, whose numbers are floats."""


@dataclass(frozen=True, eq=False)
class LivePolicy(Finding):
    """A policy as the page computes with it.

    Attributes
    ----------
    model : str or None
        The model; null for constants.
    kind : str
        As in the policies: "threshold", "decisions" or "constant".
    decision : label or None
        The constant decision at any costs; null otherwise.
    column : int or None
        The position of its column in the tables; null for constants.
    cross_fitted : bool
        Whether the two tables differ in it.
    rechosen : bool
        Whether its threshold is chosen again at other costs.
    chosen, pinned : bool
        Whether its threshold was chosen for the costs, or stated by name.
    """

    model: str | None
    kind: str
    decision: Label | None
    column: int | None
    cross_fitted: bool
    rechosen: bool
    chosen: bool
    pinned: bool


@dataclass(frozen=True, eq=False)
class Tables(Finding):
    """Decisions of the policies at one ratio of the costs of the two mistakes.

    A combination of decisions and a class is one number: the class plus, for each column in turn,
    the decision times the number of classes and of decisions in all columns before it.

    Attributes
    ----------
    factor : float
        The ratio relative to that of the stated costs: the extra cost of a false alarm over a
        correct decision, divided by that of a miss. "inf" where misses cost nothing.
    names : tuple of str
        The names of the policies at this ratio.
    cuts : tuple of (tuple of float)
        Their thresholds.
    held_out, held_out_counts : ndarray
        The combinations on folds that did not choose the thresholds, and how often each occurred.
    in_sample, in_sample_counts : ndarray
        The same on all rows with the thresholds to deploy; empty where they do not differ.
    """

    factor: float
    names: tuple[str, ...]
    cuts: tuple[tuple[float, ...], ...]
    held_out: NDArray[Any]
    held_out_counts: NDArray[Any]
    in_sample: NDArray[Any]
    in_sample_counts: NDArray[Any]


@dataclass(frozen=True, eq=False)
class OtherCosts(Finding):
    """Data that the page needs to judge the policies at other costs.

    Attributes
    ----------
    ratio : float or None
        The extra cost of a false alarm over a correct decision, divided by that of a miss, at the
        stated costs; null where thresholds are not chosen again.
    decisions : tuple of int
        The positions of the decisions for high and for low scores; empty where no model has a
        single threshold.
    classes : tuple of int
        The positions of the negative and of the positive class.
    policies : tuple of LivePolicy
        The policies. Ones that decide alike at some costs may not at others, so each is listed.
    columns : int
        The number of columns of decisions in the tables.
    baseline : int or None
        The position of the baseline; null where none was named.
    asked : tuple of int
        The positions of policies that were named to compete.
    tables : tuple of Tables
        The decisions at each ratio, the lowest first.
    """

    ratio: float | None
    decisions: tuple[int, ...]
    classes: tuple[int, ...]
    policies: tuple[LivePolicy, ...]
    columns: int
    baseline: int | None
    asked: tuple[int, ...]
    tables: tuple[Tables, ...]


def other_costs_of(study: Study, again: Repriced | None = None) -> OtherCosts | None:
    """Return the decisions of the policies at other costs.

    None where the page cannot compute: it supports only independent rows of equal weight, the class
    frequencies of the examples, and no baseline that breaks a limit.
    """
    if not study.plain or study.design.class_priors is not None or study.policies.barred:
        return None
    policies, scores = study.policies, study.joint_scores
    stated = policies.held_out
    if len(stated.labels) * len(stated.decisions) ** len(stated.names) >= LARGEST_CODE:
        return None
    ratio: float | None = None
    classes: tuple[int, ...] = ()
    found = [(1.0, policies)]
    if scores is not None and any(each.kind == "threshold" for each in policies.policies):
        again = again or repriced(study)
        ratio = again.ratio
    if scores is not None and again is not None and ratio is not None:
        chosen = again.at_ratios(FACTORS)
        found = [
            (factor, with_thresholds(policies, each, study.costs)) for factor, each in _fit(chosen)
        ]
        classes = tuple(study.costs.labels.index(x) for x in (scores.neg_label, scores.pos_label))
    every = policies.every
    place = {name: at for at, each in enumerate(every) for name in each.names}
    named = policies.baseline
    cuts = ((each.cuts[0][0], each.below) for each in every if len(each.cuts) == 1)
    ends = next((each for each in cuts if each[1] is not None), ())
    return OtherCosts(
        ratio=ratio,
        decisions=tuple(stated.decisions.index(each) for each in ends),
        classes=classes,
        policies=_live_policies(policies, [each for _, each in found], again=ratio is not None),
        columns=len(stated.names),
        baseline=None if named is None else place[named],
        asked=tuple(place[each] for each in policies.asked),
        tables=tuple(_tables(*each, policies) for each in found),
    )


def _fit(chosen: list[Chosen]) -> list[tuple[float, Chosen]]:
    """Return as many of the ratios as the page has room for, always with the stated one."""
    first, *between, last = zip(FACTORS, chosen, strict=True)
    middle = len(between) // 2
    for every in THINNED:
        found = [first, *between[middle % every :: every], last]
        size = sum(len(each.held_out.counts) + len(each.in_sample.counts) for _, each in found)
        if size <= MOST_COUNTS:
            return found
    return [between[middle]]


def _live_policies(
    policies: Policies, found: Sequence[Policies], *, again: bool
) -> tuple[LivePolicy, ...]:
    """Return the policies for all ratios; a threshold may be a constant prediction at some."""
    names = policies.held_out.names
    same_policy = zip(*(_in_order(each, policies) for each in found), strict=True)
    fitted = [any(each.cross_fitted for each in one) for one in same_policy]
    return tuple(
        LivePolicy(
            each.model,
            each.kind,
            each.decision if again else each.always,
            None if each.kind == "constant" else names.index(each.column),
            cross_fitted,
            again and each.chosen,
            each.chosen,
            each.pinned,
        )
        for each, cross_fitted in zip(policies.every, fitted, strict=True)
    )


def _in_order(policies: Policies, stated: Policies) -> list[Policy]:
    """Return all policies in the order of those at the stated costs."""
    by_column = {(each.column, each.decision): each for each in policies.every}
    return [by_column[each.column, each.decision] for each in stated.every]


def _tables(factor: float, policies: Policies, stated: Policies) -> Tables:
    every = _in_order(policies, stated)
    chosen = any(each.cross_fitted for each in every)
    nothing = np.zeros(0, dtype=int)
    in_sample = _coded(policies.in_sample) if chosen else (nothing, nothing)
    return Tables(
        factor,
        tuple(each.name for each in every),
        tuple(tuple(cut for _, cut in each.cuts) for each in every),
        *_coded(policies.held_out, every),
        *in_sample,
    )


def _coded(
    joint: JointConfusion, policies: Sequence[Policy] = ()
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each combination of decisions and class as a number, and the counts.

    A threshold that leads to one decision for every row does so in each fold.
    """
    always = {each.column: each.always for each in policies if each.always is not None}
    codes, radix = joint.actual.astype(np.int64), len(joint.labels)
    for name, column in zip(joint.names, joint.decided.T, strict=True):
        decided = column
        if name in always:
            decided = np.full_like(column, joint.decisions.index(always[name]))
        codes = codes + radix * decided.astype(np.int64)
        radix *= len(joint.decisions)
    return codes, joint.counts
