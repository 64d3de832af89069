"""The verdict: which policy to use, what it costs, saves and risks, and what was not judged.

Each sentence of the headline states a result of a test, and which one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from math import floor, isfinite, log10
from typing import Any

from stakes._core.text import (
    html_values,
    listed,
    number,
    p_value,
    percent,
    rounded,
    threshold_text,
    unjudged_sentence,
    with_unit,
)
from stakes._core.values import Result
from stakes.infer._inference import DEFAULT, Interval, takes
from stakes.infer._shares import where_used
from stakes.infer.family import ALONE, Pair, regret_sentence
from stakes.measures import error_rate
from stakes.policies.policies import Policies, Policy

MOST_NAMED, MOST_TIES = 3, 6
"""Maximum number of policies that are named; more are counted."""

EQUAL_WITHIN = 0.05
"""Two policies are called equal within ± x where x, the larger limit of their difference, is at
most this share of the baseline's cost."""


@dataclass(frozen=True, eq=False)
class Saving(Result):
    """Saving of the policy to use against the baseline.

    Attributes
    ----------
    per_decision, low, high : float
        The cost of the baseline minus that of the policy, and its limits.
    shown : bool
        Whether the policy is shown to cost less than the baseline.
    p : float
        The p-value that decides this.
    by : str
        "p_value" where the baseline was named; "p_adjusted", the p-value adjusted for the number of
        policies, where it is the cheapest policy that needs no choice.
    per_period : float or None
        The saving over the stated number of decisions; null where none was stated.
    threshold, model : float or None
        The part of the saving that comes from a threshold, which could be moved without another
        model, and the part that comes from the model; null where there are no two parts.

    Examples
    --------
    >>> from stakes import CostMatrix, study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
    >>> saving = study_of([0] * 80 + [1] * 20, models, costs, baseline="two").verdict().saving
    >>> round(saving.per_decision, 3), saving.shown, saving.by
    (0.02, False, 'p_value')
    """

    per_decision: float
    low: float
    high: float
    shown: bool
    p: float
    by: str
    per_period: float | None
    threshold: float | None = None
    model: float | None = None

    def badge(self, cost: float) -> str:
        """Return the result of the test in a few words.

        Parameters
        ----------
        cost : float
            The cost of the baseline.

        Returns
        -------
        str
            Shown or not, with the p-value; or equal within a number.

        Examples
        --------
        >>> from stakes.policies import Saving
        >>> Saving(0.5, 0.2, 0.8, True, 0.004, "p_value", None).badge(9.0)
        'Shown, p = 0.004'
        """
        if self.shown:
            return f"Shown, {_p(self.p, self.by)}"
        within = max(abs(self.low), abs(self.high))
        if within <= EQUAL_WITHIN * abs(cost):
            return f"Equal within ±{rounded(within)}"
        return f"Not shown, {_p(self.p, self.by)}"


@dataclass(frozen=True, eq=False)
class ConstantCheck(Result):
    """The cheapest constant prediction, in comparison with the cheapest policy of a model.

    Attributes
    ----------
    policy : str
        The constant prediction.
    model : str
        The cheapest policy of a model.
    difference, low, high : float
        The cost of the model's policy minus that of the constant prediction, and its limits.
    p : float
        The adjusted p-value.
    shown : bool
        Whether any model is shown to cost less than the constant prediction.

    Examples
    --------
    >>> from stakes import CostMatrix, study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
    >>> found = study_of([0] * 80 + [1] * 20, models, costs).verdict().constant
    >>> found.policy, found.model, found.shown
    ('always 1', 'one', True)
    """

    policy: str
    model: str
    difference: float
    low: float
    high: float
    p: float
    shown: bool


@dataclass(frozen=True, eq=False)
class Sentences(Result):
    """The sentences of a verdict, for pages that set each apart.

    Attributes
    ----------
    conclusion : str
        Which policy to use, which are equally good, or that no model is shown to be worth using.
    detail : str
        What the cheapest policy costs.
    apart : str
        Which competitors it is shown to cost less than, and which not; empty where it has none.
    regret : str
        What choosing it may cost; empty where it has no competitors.
    saving : str
        Its saving against the baseline.
    missing : str
        What was not judged, and how many rows were left out; empty where nothing was.
    """

    conclusion: str
    detail: str
    apart: str
    regret: str
    saving: str
    missing: str


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(Result):
    """The policy to use, and the evidence for it.

    Attributes
    ----------
    use : str
        The policy of least cost.
    cost, low, high : float
        The expected cost per decision of that policy, and its limits.
    ties : tuple of str
        The policies that it was not shown to cost less than, the cheapest first. Together with it
        they are the policies that may be the best.
    shown : bool
        Whether there are no such policies, so that it is shown to be the cheapest.
    regret : float
        The most that using it costs more per decision than the best of all policies, at the stated
        confidence.
    baseline : str
        The policy that savings are measured against.
    saving : Saving
        The saving of the policy against the baseline.
    constant : ConstantCheck or None
        The cheapest constant prediction against the cheapest policy of a model; null where no
        constant prediction keeps within the limits.
    text : str
        The verdict in sentences.
    sentences : Sentences
        The same sentences by what they state.
    notes : tuple of str
        What limits the verdict: the population that the costs are for, what could not be compared,
        and why the confidence is not claimed where it is not.
    remarks : tuple of str
        Remarks on the method, such as how thresholds were chosen.

    Examples
    --------
    >>> from stakes import CostMatrix, study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
    >>> verdict = study_of([0] * 80 + [1] * 20, models, costs).verdict()
    >>> verdict.use, verdict.ties, round(verdict.regret, 3)
    ('one', ('two',), 0.383)
    """

    use: str
    cost: float
    low: float
    high: float
    ties: tuple[str, ...]
    shown: bool
    regret: float
    baseline: str
    saving: Saving
    constant: ConstantCheck | None
    text: str
    sentences: Sentences
    notes: tuple[str, ...]
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        lists = {name: list(getattr(self, name)) for name in ("ties", "notes", "remarks")}
        return asdict(self) | lists

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        saving = self.saving
        values = {
            "use": self.use,
            "cost per decision": _with_limits(self.cost, self.low, self.high),
            "baseline": self.baseline,
            "saving per decision": _with_limits(saving.per_decision, saving.low, saving.high),
            "saving shown": saving.shown,
            "cannot be told apart": ", ".join(map(str, self.ties)),
            "regret at most": self.regret,
        }
        table = html_values(values, self.text)
        return table + "".join(f"<p>{escape(each)}</p>" for each in self.notes)


def _with_limits(value: float, low: float, high: float) -> str:
    return f"{number(value)} ({number(low)} to {number(high)})"


@dataclass(frozen=True, eq=False)
class Stated(Result):
    """Settings other than predictions and costs.

    Attributes
    ----------
    unit : str
        The unit of the costs.
    volume : float or None
        The number of decisions per period.
    per : str
        The period.
    method : str
        The method of the interval of the policy's cost.
    rng : int
        Random seed of a method that resamples.
    noun : str
        The noun for the rows.
    rows : int
        The number of rows.
    left_out : int
        The number of rows that were left out because a label or a score is missing.
    """

    unit: str = ""
    volume: float | None = None
    per: str = ""
    method: str = DEFAULT
    rng: int = 0
    noun: str = "examples"
    rows: int = 0
    left_out: int = 0

    def interval(self, policies: Policies) -> Interval:
        """Return the limits of the cost of the policy to use."""
        options = {"rng": self.rng} if takes(self.method, "rng") else {}
        return policies.interval(policies.best, self.method, **options)

    @property
    def space_unit(self) -> str:
        """The unit after a space; empty where there is none."""
        return f" {self.unit}" if self.unit else ""


def verdict_of(policies: Policies, stated: Stated, notes: Sequence[str] = ()) -> Verdict:
    """Return which policy to use, with its cost, saving and notes.

    Parameters
    ----------
    policies : Policies
        The policies.
    stated : Stated
        The unit and the number of decisions.
    notes : sequence of str
        Further notes.
    """
    best, interval = policies.best, stated.interval(policies)
    saving, constant = _saving(policies, stated.volume), _constant_check(policies)
    unseen = policies.estimate(best).unobserved(policies.confidence)
    text, sentences = _sentences(policies, stated, saving, constant)
    return Verdict(
        use=best,
        cost=policies.estimate(best).cost,
        low=interval.low,
        high=interval.high,
        ties=policies.ties,
        shown=not policies.ties,
        regret=policies.regret,
        baseline=policies.reference,
        saving=saving,
        constant=constant,
        text=text,
        sentences=sentences,
        notes=(
            *notes,
            *([] if unseen is None else [unseen.summary(stated.unit)]),
            *policies.notes,
            *_accuracy_note(policies),
        ),
        remarks=policies.remarks,
    )


def _saving(policies: Policies, volume: float | None) -> Saving:
    pair = baseline_pair(policies)
    if pair is None:
        by = ALONE
        return Saving(0.0, 0.0, 0.0, False, 1.0, by, None if volume is None else 0.0)
    each, low, high = (0.0 - x for x in (pair.difference, pair.high, pair.low))  # never -0
    shown = pair.shown and each > 0
    p = pair.p_value if pair.by == ALONE else pair.p_adjusted
    total = None if volume is None else each * volume
    return Saving(each, low, high, shown, p, pair.by, total, *_parts(policies, each))


def _parts(policies: Policies, saving: float) -> tuple[float | None, float | None]:
    """Divide a saving into that of a threshold and that of a model.

    The threshold's part is what the baseline's model would save at its chosen threshold. Where it
    has none, it is what the policy to use saves against the same model as decided.
    """
    baseline, best = policies[policies.reference], policies[policies.best]
    if best.kind == "constant" or baseline.kind == "constant":
        return None, None
    if baseline.model == best.model:
        return (saving, 0.0) if best.chosen else (None, None)
    moved = policies.chosen_for(baseline.model)
    if moved is not None:
        threshold = policies.estimate(baseline.name).cost - policies.estimate(moved).cost
    else:
        as_decided = policies.decided_for(best.model)
        if as_decided is None or as_decided == best.name:
            return None, None
        threshold = policies.estimate(as_decided).cost - policies.estimate(best.name).cost
    return threshold, saving - threshold


def baseline_pair(policies: Policies) -> Pair | None:
    """Return the comparison of the cheapest policy with the baseline; None if they are the same.

    A baseline that was named is judged alone, any other by the adjusted p-value.
    """
    best, reference = policies.best, policies.reference
    if best == reference:
        return None
    if policies.baseline is not None:
        return policies.family.pair(best, reference)
    return next((each for each in policies.pairs if each.second == reference), None)


def _constant_check(policies: Policies) -> ConstantCheck | None:
    """Compare the cheapest constant prediction with the cheapest policy of a model."""
    members = policies.family.members
    constants = [name for name in members if policies[name].always is not None]
    models = [name for name in members if policies[name].always is None]
    if not constants or not models:
        return None
    pair = policies.family.pair(models[0], constants[0])
    shown = any(
        each.difference < 0 and each.p_adjusted <= 1 - policies.confidence
        for each in (policies.family.pair(name, constants[0]) for name in models)
    )
    return ConstantCheck(
        constants[0], models[0], pair.difference, pair.low, pair.high, pair.p_adjusted, shown
    )


# Sentences.


def threshold_words(policy: Policy) -> str:
    """Write the threshold of a policy with the digits that matter.

    Where a range of thresholds does as well, digits that are small against its width are left out.
    """
    value = policy.threshold
    if value is None or not isfinite(value):
        return ", ".join(threshold_text(cut) for _, cut in policy.cuts)
    return short_threshold(value, None if policy.pinned else policy.range_)


def short_threshold(value: float, within: tuple[float, float] | None) -> str:
    """Write a threshold with the digits that matter where any within a range does as well."""
    exact = threshold_text(value)
    if within is None:
        return exact
    low, high = within
    least = 1 if value == 0 else floor(log10(abs(value)))
    for digits in range(1, 7):
        short = float(f"{value:.{digits}g}")
        if low < short < high and 10.0 ** (least - digits + 1) <= (high - low) / 5:
            text = threshold_text(short)
            return text if text == exact else f"about {text}"
    return exact


def in_words(policy: Policy) -> str:
    """Describe a policy."""
    if policy.kind != "threshold":
        return policy.label
    if policy.always is not None:
        return f"{policy.model} (which then always predicts {policy.always!r})"
    if policy.threshold is not None:
        return f"{policy.model} at {threshold_words(policy)}"
    cuts = ", ".join(f"{decision} from {threshold_text(value)}" for decision, value in policy.cuts)
    return f"{policy.model} ({cuts}, otherwise {policy.below})"


def _sentences(
    policies: Policies, stated: Stated, saving: Saving, constant: ConstantCheck | None
) -> tuple[str, Sentences]:
    """Return the headline as text, and its sentences by what they state."""
    best = policies[policies.best]
    lead, conclusion, detail, named = _lead(policies, stated, constant)
    regret = ""
    if policies.others:
        regret = regret_sentence(policies.family, in_words(best), stated.unit, noun="policies")
    saved = " ".join(_saving_words(policies, stated, saving))
    judged = {model for each in policies.policies for model in each.models}
    unjudged = {name: why for name, why in policies.unjudged.items() if name not in judged}
    missing = [unjudged_sentence(unjudged)] if unjudged else []
    if stated.left_out:
        rows = "1 row was" if stated.left_out == 1 else f"{number(stated.left_out)} rows were"
        missing.append(f"{rows} left out: a label or score is missing.")
    rest = [_told_apart(policies, named), regret, saved, *missing]
    sentences = Sentences(
        conclusion, detail, _told_apart(policies), regret, saved, " ".join(missing)
    )
    return " ".join(filter(None, [lead, *rest])), sentences


def _cost_words(policies: Policies, stated: Stated) -> str:
    """Write the cost of the policy to use, with its limits."""
    cost = rounded(policies.estimate(policies.best).cost)
    return f"{cost}{stated.space_unit} per decision ({_limits_words(policies, stated)})"


def _limits_words(policies: Policies, stated: Stated) -> str:
    interval = stated.interval(policies)
    if interval.low == interval.high:  # at known priors, or where the class makes no difference
        return "known exactly"
    return f"{' to '.join(map(rounded, interval))}, {percent(policies.confidence)} CI"


def _lead(
    policies: Policies, stated: Stated, constant: ConstantCheck | None
) -> tuple[str, str, str, tuple[str, ...]]:
    """Return the first sentence, its conclusion and detail apart, and the ties that it names."""
    best, cost = policies[policies.best], _cost_words(policies, stated)
    words = in_words(best)
    if best.always is not None:
        lead = "Use no model" if constant is None else "No model is shown to be worth using"
        amount = f"{rounded(policies.estimate(best.name).cost)}{stated.space_unit} per decision"
        conclusion = f"{lead}: {words} costs {amount}."
        limits = f"The limits of this cost: {_limits_words(policies, stated)}."
        return f"{lead}: {words} costs {cost}.", conclusion, limits, ()
    if constant is not None and not constant.shown:
        always = in_words(policies[constant.policy])
        costs = rounded(policies.estimate(constant.policy).cost)
        lead = (
            f"No model is shown to be worth using: {always} costs "
            f"{costs}{stated.space_unit} per decision"
        )
        doubt = f"the difference is not shown (adjusted {_p(constant.p, ALONE)})"
        return (
            f"{lead}, and {words}, the cheapest, {cost}; {doubt}.",
            f"{lead}.",
            f"The cheapest policy, {words}, costs {cost}; {doubt}.",
            (constant.policy,),
        )
    ties = tuple(name for name in policies.ties if policies[name].always is None)
    if not ties:
        return f"Use {words}: it costs {cost}.", f"Use {words}.", f"It costs {cost}.", ()
    names = [best.label, *(policies[name].label for name in ties[:MOST_TIES])]
    if len(ties) > MOST_TIES:
        names.append(others_words(len(ties) - MOST_TIES))
    either = f"{', '.join(names[:-1])} or {names[-1]}"
    lead = f"{either}: equally good as far as {number(stated.rows)} {stated.noun} tell"
    inside = cost.replace(" (", ", ").removesuffix(")")  # no brackets in brackets
    return (
        f"{lead} ({words} is cheapest: {inside}).",
        f"{lead}.",
        f"{words} is cheapest: {cost}.",
        ties,
    )


def _told_apart(policies: Policies, named: Sequence[str] = ()) -> str:
    """State which competitors the policy to use is shown to cost less than, and which not.

    Those that a sentence before has named as not shown are left out.
    """
    sure = f"{percent(policies.confidence)} confidence"
    shown = [
        each.second for each in policies.pairs if each.shown and each.second in policies.others
    ]
    rest = [name for name in policies.ties if name not in named]
    sentences = []
    if shown:
        words = _several([in_words(policies[name]) for name in shown], len(policies.others))
        sentences.append(f"It is shown to cost less than {words} at {sure}.")
    if rest:
        words = _several([in_words(policies[name]) for name in rest], 0)
        sentences.append(f"It is not shown to cost less than {words}.")
    return " ".join(sentences)


def _several(names: list[str], all_: int) -> str:
    """Return the list of names, or their number and the first if they are too many."""
    if len(names) <= MOST_NAMED:
        return listed(names)
    if len(names) == all_:
        return f"all {all_} others"
    return listed([*names[:MOST_NAMED], others_words(len(names) - MOST_NAMED)])


def others_words(count: int) -> str:
    """Write how many more there are."""
    return "1 other" if count == 1 else f"{number(count)} others"


def _p(value: float, by: str) -> str:
    """Write a p-value, and whether it is adjusted."""
    text = p_value(value)
    text = f"p {text}" if text.startswith("<") else f"p = {text}"
    return text if by == ALONE else f"adjusted {text}"


def _saving_words(policies: Policies, stated: Stated, saving: Saving) -> list[str]:
    """State the saving against the baseline, its test, and how much of it is the threshold's."""
    if policies.best == policies.reference:
        needs = "" if policies.baseline else ", the cheapest policy that needs no choice"
        return [f"It is the baseline{needs}."]
    against, p = in_words(policies[policies.reference]), _p(saving.p, saving.by)
    if saving.per_decision < 0:  # a baseline that breaks a limit may cost less
        ends = (-saving.per_decision, -saving.high, -saving.low)
        text = _difference_words(stated, f"more per decision than {against}", *ends)
        if saving.high < 0:
            return [f"It costs {text}: {against} does not keep within the limits."]
        broken = f"{against} does not keep within the limits."
        return [f"It may cost {text}: a difference is not shown ({p}), and {broken}"]
    ends = (saving.per_decision, saving.low, saving.high)
    text = _difference_words(stated, f"per decision against {against}", *ends)
    if not saving.shown:
        return [f"A saving against {against} is not shown ({p}): {_short(stated, *ends)}."]
    return [f"It saves {text}, {p}.", *filter(None, [parts_words(saving, stated.unit)])]


def parts_words(saving: Saving, unit: str) -> str:
    """State how a saving divides into that of the threshold and that of the model."""
    if saving.threshold is None or saving.model is None:
        return ""
    if saving.model == 0:
        return "All of it is the threshold's, none the model's."
    if saving.threshold == 0:
        return "All of it is the model's, none the threshold's."
    parts = (with_unit(each, unit, rounded) for each in (saving.threshold, saving.model))
    return "Of it, {} is the threshold's and {} the model's.".format(*parts)


def _short(stated: Stated, value: float, low: float, high: float) -> str:
    unit = stated.space_unit
    return f"{rounded(value)}{unit} per decision ({rounded(low)} to {rounded(high)})"


def _difference_words(stated: Stated, what: str, value: float, low: float, high: float) -> str:
    """Write a difference with its limits, per decision and over all decisions."""
    unit = stated.space_unit
    text = f"{rounded(value)}{unit} {what} ({rounded(low)} to {rounded(high)})"
    if stated.volume is None:
        return text
    over, *ends = (rounded(each * stated.volume) for each in (value, low, high))
    period = f" a {stated.per}" if stated.per else ""
    decisions = f"{number(stated.volume)} decisions{period}"
    return f"{text}, {over}{unit} over {decisions} ({ends[0]} to {ends[1]})"


def _accuracy_note(policies: Policies) -> list[str]:
    """Return a note if the policy with the fewest errors is shown to cost more."""
    costs = policies.costs
    if policies.examples is not None or not set(costs.decisions) <= set(costs.labels):
        return []  # a review is neither right nor wrong
    shares = dict(zip(costs.labels, policies.class_shares.tolist(), strict=True))
    rates = {
        each.name: 1 - shares[each.decision]
        if each.kind == "constant"
        else error_rate(where_used(policies.deployed(each.name), policies.design))
        for each in policies.policies
    }
    pairs = {each.second: each for each in policies.pairs}
    accurate = min(rates, key=rates.__getitem__)
    if accurate not in pairs or not pairs[accurate].shown:
        return []
    text = in_words(policies[accurate])
    if policies[accurate].kind == "constant":
        text = f"{text[0].upper()}{text[1:]}"
    reason = "because its mistakes are the expensive kind"
    return [f"{text} makes the fewest mistakes but costs more, {reason}."]
