"""The policies that compete in a study, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label, listing
from stakes._core.text import listed
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.infer._outcomes import Design
from stakes.infer._shares import where_used
from stakes.policies._choose import (
    IMPOSSIBLE,
    Choosing,
    Chosen,
    ChosenRows,
    Threshold,
    choose,
    choose_rows,
)
from stakes.policies._limits import broken, impossible
from stakes.policies._rows import FOLDS
from stakes.policies.policies import Policies, Policy
from stakes.policies.verdict import in_words
from stakes.predictions.examples import JointExamples
from stakes.predictions.roles import Model
from stakes.predictions.scores import JointScores

BEST = "best"
EXTREMES = {"never": np.inf, "always": -np.inf}


@dataclass(frozen=True, eq=False)
class Asked(Result):
    """Policies that were requested by name.

    Attributes
    ----------
    baseline : str or None
        The policy, or the model, that savings are measured against: ``old``, ``old@0.31``,
        ``old@best`` or ``always ok``.
    candidates : tuple of str
        Policies that must compete, named in the same way.

    Examples
    --------
    >>> from stakes.policies import Asked
    >>> Asked("old", ("new@best",)).names
    ('old', 'new@best')
    """

    baseline: str | None = None
    candidates: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The baseline and the candidates."""
        return (*(() if self.baseline is None else (self.baseline,)), *self.candidates)


@dataclass(frozen=True)
class Counted:
    """The counted rows of a study.

    Attributes
    ----------
    models : sequence of Model
        The models.
    joint : JointConfusion
        The decisions of the models that have any.
    scores : JointScores or None
        The scores and decisions row by row.
    costs : CostMatrix
        The costs of decisions.
    design : Design
        The class priors and the population.
    decided_from : mapping
        By model, the score from which on the positive class was decided, where scores were not
        kept.
    examples : JointExamples or None
        The single rows, where each has costs of its own.
    positive : label or None
        The positive class.
    class_rows : tuple of int
        The number of rows of each class.
    doubtful : mapping of str to str
        Columns that may be models but could not be read, with the reasons.
    """

    models: Sequence[Model]
    joint: JointConfusion
    scores: JointScores | None
    costs: CostMatrix
    design: Design
    decided_from: Mapping[str, float]
    examples: JointExamples | None
    positive: Label | None
    class_rows: tuple[int, ...] = ()
    doubtful: Mapping[str, str] = field(default_factory=dict)


def policies_of(
    counted: Counted,
    choosing: Choosing,
    asked: Asked,
    confidence: float,
    chosen: Chosen | ChosenRows | None = None,
) -> Policies:
    """Return the policies of the models, and the constant predictions.

    Parameters
    ----------
    counted : Counted
        The rows.
    choosing : Choosing
        How thresholds are chosen.
    asked : Asked
        Policies that were named.
    confidence : float
        Confidence level of intervals and tests.
    chosen : Chosen, optional
        The thresholds, where they are chosen already.
    """
    stated = _stated(asked, counted.models)
    largest = counted.costs.values if counted.examples is None else counted.examples.costs
    validate.not_too_large(float(np.abs(largest).max()), "costs")
    for name, (model, _) in stated.items():
        if model not in _scored(counted):
            raise _refused(asked, name, f"{name!r}: {_no_scores(model)}.")
    if chosen is None and _scored(counted):
        chosen = _chosen(counted, with_stated(choosing, asked, counted.models))
    found = _decided(counted, chosen) + ([] if chosen is None else _by_threshold(chosen))
    tables = (counted.joint, counted.joint)
    if chosen is not None:
        tables = (chosen.held_out, chosen.in_sample)
    found += [
        Policy(f"always {decision}", None, "constant", decision=decision)
        for decision in counted.costs.decisions
    ]
    order = {model.name: place for place, model in enumerate(counted.models)}
    found.sort(key=lambda each: order.get(each.model or "", len(order)))
    every = merged(_distinct(found), tables[1])
    barred = [each.name for each in every if _broken(each, tables[1], counted, choosing)]
    if all(each.name in barred for each in every if each.models):
        raise _nothing_to_judge(counted, chosen, choosing)
    unread = {name: why for name, why in counted.doubtful.items() if name not in order}
    known = _Known(every, stated, asked, unread, barred)
    names = {each: known.resolved(each) for each in asked.names}
    baseline = None if asked.baseline is None else names[asked.baseline]
    kept = {baseline}
    if all(
        each.name in barred for each in every if _fixed(each)
    ):  # nothing else to measure against
        kept |= {each.name for each in every if _fixed(each)}
    policies = tuple(each for each in every if each.name not in barred or {*each.names} & kept)
    return Policies(
        policies,
        *tables,
        counted.costs,
        counted.design,
        confidence,
        chosen.examples if isinstance(chosen, ChosenRows) else counted.examples,
        baseline,
        tuple(dict.fromkeys(names[each] for each in asked.candidates)),
        (
            *_notes(counted, chosen),
            *_limit_notes([each for each in every if each.name in barred], policies),
        ),
        _unjudged(counted, chosen, policies),
        tuple(each.name for each in policies if each.name in barred),
        tuple(_remarks(chosen, choosing)),
    )


def _fixed(policy: Policy) -> bool:
    """Tell whether a policy needs no choice: a constant prediction, or decisions as they stand."""
    return policy.kind in {"constant", "decisions", "minimum_cost"}


PRECEDENCE = ("constant", "decisions", "minimum_cost", "threshold")


def merged(policies: Sequence[Policy], table: JointConfusion) -> list[Policy]:
    """Return the policies, those that decide every row alike as one with several names.

    What needs no choice comes first, and a threshold that these rows chose before the same one as
    stated: typing a chosen threshold does not make it one that needed no choice.
    """
    alike: dict[object, list[Policy]] = {}
    for each in policies:
        key: object
        if each.always is not None:
            key = table.decisions.index(each.always)
        else:
            column = table.decided[:, table.names.index(each.column)]
            constant = len(column) > 0 and bool((column == column[0]).all())
            key = int(column[0]) if constant else column.tobytes()
        alike.setdefault(key, []).append(each)
    found: dict[str, Policy] = {}
    for group in alike.values():
        first, *others = sorted(group, key=lambda each: (PRECEDENCE.index(each.kind), each.pinned))
        found[first.name] = replace(first, alike=tuple(others))
    return [found[each.name] for each in policies if each.name in found]


def _scored(counted: Counted) -> tuple[str, ...]:
    """Return the models that have scores to choose thresholds by."""
    if counted.examples is not None:
        two = len(counted.costs.decisions) == len(counted.costs.labels) == 2  # noqa: PLR2004
        return tuple(counted.examples.scores or ()) if two and counted.positive is not None else ()
    return () if counted.scores is None else counted.scores.names


def _chosen(counted: Counted, choosing: Choosing) -> Chosen | ChosenRows:
    if counted.examples is not None and counted.positive is not None:
        deciding = [model.name for model in counted.models if model.decisions is not None]
        design = counted.design
        return choose_rows(counted.examples, counted.positive, design, choosing, deciding)
    assert counted.scores is not None  # noqa: S101 - there are models with scores
    return choose(counted.scores, counted.costs, counted.design, choosing)


def with_stated(choosing: Choosing, asked: Asked, models: Sequence[Model]) -> Choosing:
    """Return the settings of the choice with the thresholds stated in names, such as ``m@0.3``."""
    stated = _stated(asked, models).values()
    return replace(choosing, fixed=tuple(dict.fromkeys([*choosing.fixed, *stated])))


def _broken(policy: Policy, table: JointConfusion, counted: Counted, choosing: Choosing) -> bool:
    """Tell whether a policy that was not chosen within the limits breaks one on these rows."""
    limits = choosing.limits
    if not limits or policy.cross_fitted:
        return False
    if policy.kind == "constant":
        rate = float(policy.decision == counted.positive)  # of both classes
        return counted.positive is not None and broken(choosing, rate, rate, rate)
    if counted.positive is None or len(counted.costs.decisions) != 2:  # noqa: PLR2004
        raise InputError(", ".join(limits), "limits are for two classes and two decisions.")
    counts = where_used(table.single(policy.column), counted.design).counts
    flagged = counts[counted.costs.decisions.index(counted.positive)].astype(float)
    positive = counted.costs.labels.index(counted.positive)
    totals = counts.sum(axis=0)
    recall, fpr = (
        float(flagged[place] / totals[place]) if totals[place] else 0.0
        for place in (positive, 1 - positive)
    )
    return broken(choosing, recall, fpr, float(flagged.sum() / totals.sum()))


def _limit_notes(barred: Sequence[Policy], kept: Sequence[Policy]) -> list[str]:
    """State which policies break a limit, and whether they are left out."""
    names = {each.name for each in kept}
    others = [in_words(each) for each in barred if each.name not in names]
    notes = [
        f"{in_words(each)} does not keep within the limits on these rows: it cannot be the policy "
        "to use, only the baseline."
        for each in barred
        if each.name in names
    ]
    if others:
        do, are = ("do", "are") if others[1:] else ("does", "is")
        notes.append(
            f"{listed(others)} {do} not keep within the limits on these rows and {are} left out."
        )
    return [
        f"{each[0].upper()}{each[1:]}" if each.startswith("always ") else each for each in notes
    ]


def _nothing_to_judge(
    counted: Counted, chosen: Chosen | ChosenRows | None, choosing: Choosing
) -> InputError:
    """Return the error for the case that no model has decisions or a threshold."""
    reasons = {} if chosen is None else chosen.undecided
    if choosing.limits and all(each.startswith(IMPOSSIBLE) for each in reasons.values()):
        return impossible(choosing, "threshold" if reasons else "policy")
    each = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    return InputError(
        "",
        f"no model can be judged{f' ({each})' if each else ''}.",
        f"Give more rows, decisions, or a threshold, such as {counted.models[0].name}@0.31.",
    )


def _refused(asked: Asked, name: str, problem: str) -> InputError:
    """Return the error for a named policy that is not available."""
    return InputError("baseline" if name == asked.baseline else "candidates", problem)


def _no_scores(model: str) -> str:
    return f"the model {model!r} has no scores to apply a threshold to"


def _unjudged(
    counted: Counted, chosen: Chosen | ChosenRows | None, policies: Sequence[Policy]
) -> dict[str, str]:
    """Return the models without a policy and unreadable columns that may be models, and why."""
    judged = {model for each in policies for model in each.models}
    reasons = {} if chosen is None else chosen.undecided
    lacking = [model.name for model in counted.models if model.name not in judged]
    found = {name: reasons.get(name, "it has no decisions") for name in lacking}
    return {**found, **counted.doubtful}


def _decided(counted: Counted, chosen: Chosen | ChosenRows | None) -> list[Policy]:
    """Return the policies of columns of decisions as they stand."""
    found = []
    for model in counted.models:
        if model.name in counted.joint.names and model.decisions is not None:
            found.append(Policy(model.name, model.name, "decisions", column=model.name))
        elif model.name in counted.joint.names and counted.examples is not None:
            found.append(Policy(model.minimum_cost, model.name, "minimum_cost", column=model.name))
        elif chosen is None and model.name in counted.decided_from:
            cuts = ((counted.positive, float(counted.decided_from[model.name])),)
            found.append(
                threshold_policy(Threshold(model.name, cuts, None, cross_fitted=False), model.name)
            )
        if model.minimum_cost in counted.joint.names:
            column = model.minimum_cost
            found.append(Policy(column, model.name, "minimum_cost", column=column))
    return found


def _by_threshold(chosen: Chosen | ChosenRows) -> list[Policy]:
    return [threshold_policy(each, column) for column, each in chosen.thresholds.items()]


def threshold_policy(each: Threshold, column: str) -> Policy:
    """Return the policy of a model at a threshold."""
    return Policy(
        f"{each.model}@{','.join(written(value) for _, value in each.cuts)}",
        each.model,
        "threshold",
        threshold=each.cuts[0][1] if len(each.cuts) == 1 else None,
        cuts=each.cuts,
        below=each.below,
        cross_fitted=each.cross_fitted and any(np.isfinite(value) for _, value in each.cuts),
        range_=each.range_,
        column=column,
        chosen=column == f"{each.model}@",
        pinned=column not in {each.model, f"{each.model}@"},
        reason=each.reason,
    )


def written(value: float) -> str:
    """Return a threshold as text, with as many digits as identify it, at least four."""
    if not np.isfinite(value):
        return next(name for name, extreme in EXTREMES.items() if extreme == value)
    texts = (f"{value:.{digits}g}" for digits in range(4, 18))
    return next(text for text in texts if float(text) == value)


def _distinct(policies: Sequence[Policy]) -> list[Policy]:
    """Return the policies with unique names."""
    taken: dict[str, Policy] = {}
    for each in policies:
        name = each.name
        other = taken.get(name)
        if other is not None and other.kind == each.kind == "threshold":
            taken[name] = replace(other, pinned=other.pinned and each.pinned)
            continue  # stated and chosen: the same threshold
        while name in taken:  # the name of another model
            name = f"{name}'"
        taken[name] = replace(each, name=name)
    return list(taken.values())


def _stated(asked: Asked, models: Sequence[Model]) -> dict[str, tuple[str, float]]:
    """Return the thresholds in names such as ``old@0.31``, unless a model has that name."""
    known = {model.name for model in models}
    found = {}
    for name in asked.names:
        model, at, value = name.rpartition("@")
        if not at or name in known or model not in known or value == BEST:
            continue
        threshold = _number(value)
        if np.isnan(threshold):
            if name == next(each for each in models if each.name == model).minimum_cost:
                continue
            raise _refused(
                asked,
                name,
                f"expected a threshold after @, such as {model}@0.31, or {model}@{BEST}; got "
                f"{value!r}.",
            )
        found[name] = (model, threshold)
    return found


def _number(threshold: str) -> float:
    """Parse a threshold, including the words of `written`; NaN for any other text."""
    if threshold in EXTREMES:
        return EXTREMES[threshold]
    try:
        number = float(threshold)
    except ValueError:
        return np.nan
    return validate.applicable(number) if np.isfinite(number) else np.nan


@dataclass(frozen=True)
class _Known:
    """The available policies, for lookup by name."""

    policies: Sequence[Policy]
    stated: Mapping[str, tuple[str, float]]
    asked: Asked
    doubtful: Mapping[str, str]
    barred: Sequence[str]

    def _check_usable(self, name: str) -> None:
        """Raise an error if a name is of an unreadable column, or of one that breaks a limit."""
        if name in self.doubtful:
            problem = f"the column {name!r} cannot be used: {self.doubtful[name]}."
            raise _refused(self.asked, name, problem)
        if name in self.barred and name in self.asked.candidates:
            raise _refused(self.asked, name, f"{name!r} does not keep within the limits.")

    def resolved(self, name: str) -> str:
        """Return the full name of the policy that a name refers to."""
        every = [one for each in self.policies for one in (each, *each.alike)]
        by_name = {each.name: each for each in every}
        self._check_usable(name)
        if name in self.stated:
            wanted = self.stated[name]
            same = [each for each in every if (each.model, each.threshold) == wanted]
            if same:
                return same[0].name
        if name in by_name:
            return name
        model, at, value = name.rpartition("@")
        best = bool(at) and value == BEST
        own = [each for each in every if each.model == (model if best else name)]
        chosen = [each for each in own if each.kind in ("threshold", "minimum_cost")]
        chosen.sort(key=lambda each: each.kind != "threshold")
        if own and not best:
            return (chosen or own)[0].name
        if chosen:
            return chosen[0].name
        if own:
            problem = f"{name!r}: the model {model!r} has no scores to choose a threshold by."
            raise _refused(self.asked, name, problem)
        if model in self.doubtful:
            raise _refused(
                self.asked, name, f"the column {model!r} cannot be used: {self.doubtful[model]}."
            )
        there = listing(tuple(by_name))
        raise _refused(self.asked, name, f"there is no policy {name!r}; there are {there}.")


def _instead(name: str, counted: Counted) -> str:
    """Describe how a model without a threshold competes."""
    if name not in counted.joint.names or name in counted.decided_from:
        return "it is not compared"
    given = any(each.name == name and each.decisions is not None for each in counted.models)
    return "it competes as decided" if given else "it competes by minimum expected cost"


def _notes(counted: Counted, chosen: Chosen | ChosenRows | None) -> list[str]:
    """State for which models no threshold could be chosen, and what is unusual about others."""
    if chosen is None:
        both = [model.name for model in counted.models if model.decisions and model.scores]
        if counted.examples is not None and both:
            who = f"{listed(both)} compete{'' if both[1:] else 's'}"
            text = (
                f"Costs differ from row to row: {who} as decided and by minimum expected cost, and "
                "no thresholds are chosen: that needs the score of each row."
            )
            return [text]
        return [
            f"{name} decides {counted.positive!r} from a score of {cut:.4g} up, as it was counted: "
            "without its scores no other threshold can be chosen."
            for name, cut in counted.decided_from.items()
        ]
    notes: list[str] = []
    unable = [name for name, each in chosen.undecided.items() if each.startswith(IMPOSSIBLE)]
    if unable:
        notes.append(f"No threshold of {listed(unable)} keeps within the limits.")
    for name, reason in chosen.undecided.items():
        if name in unable:
            continue
        notes.append(f"No threshold is chosen for {name}: {reason}; {_instead(name, counted)}.")
    notes += _threshold_notes(counted, chosen)
    return notes


def _remarks(chosen: Chosen | ChosenRows | None, choosing: Choosing) -> list[str]:
    """Describe how thresholds were chosen and judged."""
    if chosen is None:
        return []
    remarks = []
    if any(each.cross_fitted for each in chosen.thresholds.values()):
        remarks.append(
            "Thresholds are chosen on these rows. The cost of a chosen threshold and its interval "
            f"are corrected for that: each of {FOLDS} folds is judged at the threshold that the "
            "others choose. Recall, flagged share and all else are of the threshold itself, on all "
            "rows."
        )
        if choosing.limits:
            remarks.append(
                "A limit holds on the rows that choose the threshold; on others it may be missed. "
                "Folds use other thresholds with a limit than without, so the cost with one may by "
                "chance be lower."
            )
    elif choosing.validation is not None and not any(
        each.reason for each in chosen.thresholds.values()
    ):
        other = choosing.validation
        n = other.n if isinstance(other, JointExamples) else len(other.positive)
        remarks.append(f"Thresholds are chosen on {n:,} validation rows.")
    return remarks


def _threshold_notes(counted: Counted, chosen: Chosen | ChosenRows) -> list[str]:
    """Describe what is unusual about thresholds."""
    if counted.examples is None and not np.ptp(counted.costs.values):
        return ["All decisions cost the same, so no threshold is cheaper than another."]
    notes: list[str] = []
    constant: dict[Label, list[str]] = {}
    several = len(counted.costs.decisions) > 2  # noqa: PLR2004
    for each in chosen.thresholds.values():
        (first, start), *others = each.cuts
        if each.reason:
            cuts = listed([written(value) for _, value in each.cuts])
            notes.append(f"{each.model} is used at {cuts}, as the costs imply: {each.reason}.")
        if each.reversed_ is not None:
            notes.append(
                f"The scores of {each.model} rank worse than chance (AUC {each.reversed_:.2g}): "
                f"low scores may mean {first!r}. If so, negate them."
            )
        if not np.isfinite(start):
            constant.setdefault(each.below if start > 0 else first, []).append(each.model)
        elif several and not others:
            notes.append(
                f"{each.model} decides {first!r} from a score of {written(start)} up and "
                f"{each.below!r} otherwise."
            )
        if each.below == counted.positive:
            notes.append(
                f"High scores of {each.model} lead to {first!r}, not to {counted.positive!r}: with "
                "these costs mistakes cost less than correct decisions."
            )
    for always, models in constant.items():
        what, decide = ("thresholds", "decide") if models[1:] else ("threshold", "decides")
        notes.append(f"The {what} chosen for {listed(models)} {decide} {always!r} for every row.")
    return notes
