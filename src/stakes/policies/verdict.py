"""The verdict: which policy to use, what it saves, and how many examples would settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from math import inf, isfinite
from typing import Any

from scipy.special import ndtri

from stakes._core.text import html_values, listed, number, percent, rounded, threshold_text
from stakes._core.values import Result
from stakes.errors import InputError, PlanError
from stakes.infer._inference import Interval, takes
from stakes.infer._shares import where_used
from stakes.infer.planning import plan_from
from stakes.measures import error_rate
from stakes.policies._compared import PolicyPair, level
from stakes.policies.policies import Policies, Policy

POWER = 0.8
"""Power for which the number of examples that would settle a tie is planned."""

MOST_ROWS = 1e15
MOST_NAMED, MOST_TIES = 3, 6
"""Maximum number of policies that are named; more are counted."""


@dataclass(frozen=True, eq=False)
class Saving(Result):
    """Saving of the policy to use against the baseline.

    Attributes
    ----------
    per_decision, low, high : float
        The cost of the baseline minus that of the policy, and its limits.
    shown : bool
        Whether it is shown to cost less than the baseline.
    per_period : float or None
        The saving over the stated number of decisions; null where none was stated.
    """

    per_decision: float
    low: float
    high: float
    shown: bool
    per_period: float | None


@dataclass(frozen=True, eq=False)
class ToSettle(Result):
    """Number of examples that would settle whether the policy costs less than the next one.

    Attributes
    ----------
    against : str
        The cheapest of the policies that it cannot be told apart from.
    examples : int
        The size of a whole test set that shows the difference with a probability of 80%, if it is
        as large as it was here.
    more : int
        The number of examples in addition to those there are.

    Examples
    --------
    >>> from stakes import CostMatrix, study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> models = {"one": [0] * 70 + [1] * 30, "two": [0] * 68 + [1] * 32}
    >>> study_of([0] * 80 + [1] * 20, models, costs).verdict().to_settle.against
    'two'
    """

    against: str
    examples: int
    more: int


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
        The policies that it was not shown to cost less than, the cheapest first.
    shown : bool
        Whether there are no such policies, so that it is shown to be the cheapest.
    baseline : str
        The policy that savings are measured against.
    saving : Saving
        The saving of the policy against the baseline.
    to_settle : ToSettle or None
        The number of examples that would distinguish it from the next policy; null where it is
        shown to be the cheapest, and where no number would.
    text : str
        The verdict in sentences.
    notes : tuple of str
        Further notes: the population that the costs are for, how thresholds were chosen, what could
        not be compared, and why the confidence is not claimed where it is not.
    """

    use: str
    cost: float
    low: float
    high: float
    ties: tuple[str, ...]
    shown: bool
    baseline: str
    saving: Saving
    to_settle: ToSettle | None
    text: str
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self) | {"ties": list(self.ties), "notes": list(self.notes)}

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        saving, settle = self.saving, self.to_settle
        values = {
            "use": self.use,
            "cost per decision": _with_limits(self.cost, self.low, self.high),
            "baseline": self.baseline,
            "saving per decision": _with_limits(saving.per_decision, saving.low, saving.high),
            "saving shown": saving.shown,
            "cannot be told apart": ", ".join(map(str, self.ties)),
            "would settle it": settle and f"{settle.examples:,} examples",
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
    seed : int
        Random seed of the plan for a larger test set.
    method : str
        The method of the interval of the policy's cost.
    noun : str
        The noun for the rows.
    """

    unit: str = ""
    volume: float | None = None
    per: str = ""
    seed: int = 0
    method: str = "auto"
    noun: str = "examples"

    def interval(self, policies: Policies) -> Interval:
        """Return the limits of the cost of the policy to use."""
        options = {"rng": self.seed} if takes(self.method, "rng") else {}
        return policies.interval(policies.best, self.method, **options)


def verdict_of(policies: Policies, n: int, stated: Stated, notes: Sequence[str] = ()) -> Verdict:
    """Return which policy to use, with its cost, saving and notes.

    Parameters
    ----------
    policies : Policies
        The policies.
    n : int
        The number of examples.
    stated : Stated
        The unit, the number of decisions, and the seed.
    notes : sequence of str
        Further notes.
    """
    best, interval = policies.best, stated.interval(policies)
    saving = _saving(policies, stated.volume)
    settle = _to_settle(policies, n, stated.seed)
    return Verdict(
        use=best,
        cost=policies.estimate(best).cost,
        low=interval.low,
        high=interval.high,
        ties=policies.ties,
        shown=not policies.ties,
        baseline=policies.reference,
        saving=saving,
        to_settle=settle,
        text=" ".join(_sentences(policies, stated, saving, settle)),
        notes=(*notes, *policies.notes, *_accuracy_note(policies)),
    )


def _saving(policies: Policies, volume: float | None) -> Saving:
    pair = baseline_pair(policies)
    if pair is None:
        return Saving(0.0, 0.0, 0.0, shown=False, per_period=None if volume is None else 0.0)
    each, low, high = (0.0 - x for x in (pair.difference, pair.high, pair.low))  # never -0
    shown = pair.shown and each > 0
    return Saving(each, low, high, shown, None if volume is None else each * volume)


def baseline_pair(policies: Policies) -> PolicyPair | None:
    """Return the comparison of the cheapest policy with the baseline; None if they are the same."""
    return next((each for each in policies.pairs if each.second == policies.reference), None)


# The number of examples that would settle it.


def _to_settle(policies: Policies, n: int, seed: int) -> ToSettle | None:
    ties = [each for each in policies.pairs if each.second in policies.ties and each.difference < 0]
    if not ties:
        return None
    pair = ties[0]
    alpha = level(1 - policies.confidence, 1 + len(policies.ties))
    needed = _planned(policies, pair, n, alpha, seed)
    if needed is None:
        needed = _by_width(n, pair, alpha)
    if needed is None:
        return None
    needed = max(needed, n + 1)
    if needed > _rows_in_all(policies.design.population):
        return None  # the population is smaller
    return ToSettle(pair.second, needed, needed - n)


def _rows_in_all(population: Any) -> float:
    """Return the size of the population; infinite where only shares are known, or nothing."""
    if isinstance(population, Mapping):
        sizes = [float(each) for each in population.values()]
    else:
        sizes = [] if population is None else [float(population)]
    return sum(sizes) if sum(sizes) > 1.5 else inf  # noqa: PLR2004 - shares add up to 1


def _planned(policies: Policies, pair: PolicyPair, n: int, alpha: float, seed: int) -> int | None:
    """Return the size of a test set that shows the difference, by the plan for a paired test."""
    try:
        plan = plan_from(
            policies.apart(pair.first, pair.second),
            n,
            difference=abs(pair.difference),
            power=POWER,
            confidence=1 - alpha,
            rng=seed,
        )
    except (PlanError, InputError):  # more than can be planned, or no difference to plan with
        return None
    return plan.n


def _by_width(n: int, pair: PolicyPair, alpha: float) -> int | None:
    """Return the size of a test set that shows the difference, by normal theory."""
    quantile = -float(ndtri(alpha / 2))
    error = (pair.high - pair.low) / (2 * quantile)
    size = n * ((quantile + float(ndtri(POWER))) * error / abs(pair.difference)) ** 2
    return int(size) + 1 if size < MOST_ROWS else None


# Sentences.


def in_words(policy: Policy) -> str:
    """Describe a policy."""
    if policy.kind == "constant":
        return f"always predicting {policy.decision}"
    if policy.kind == "decisions":
        return f"{policy.model} as decided"
    if policy.kind == "minimum_cost":
        return f"{policy.model} by minimum expected cost"
    ends = [value for _, value in policy.cuts]
    if len(ends) == 1 and not isfinite(ends[0]):
        always = policy.below if ends[0] > 0 else policy.cuts[0][0]
        return f"{policy.model} (which then always predicts {always})"
    if policy.threshold is not None:
        return f"{policy.model} at threshold {policy.name.rpartition('@')[2].rstrip(chr(39))}"
    cuts = ", ".join(f"{decision} from {threshold_text(value)}" for decision, value in policy.cuts)
    return f"{policy.model} ({cuts}, otherwise {policy.below})"


def _sentences(
    policies: Policies, stated: Stated, saving: Saving, settle: ToSettle | None
) -> list[str]:
    unit = f" {stated.unit}" if stated.unit else ""
    sure = f"{percent(policies.confidence)} confidence"
    best, interval = policies[policies.best], stated.interval(policies)
    cost = rounded(policies.estimate(best.name).cost)
    limits = f"({' to '.join(map(rounded, interval))}, {percent(policies.confidence)} CI)"
    if interval.low == interval.high:  # at known priors, or where the class makes no difference
        limits = "(known exactly)"
    use = f"Use {in_words(best)}: it"
    if best.kind == "constant":
        use = f"Use no model: {in_words(best)}"
    sentences = [f"{use} costs {cost}{unit} per decision {limits}."]
    sentences += _saving_words(policies, stated, saving, sure)
    if policies.ties:
        names = [in_words(policies[name]) for name in policies.ties]
        if len(names) > MOST_TIES:
            names = [*names[:MOST_TIES], f"{len(names) - MOST_TIES} others"]
        tied = listed(names)
        sentences.append(f"At {sure} it cannot be told apart from {tied}.")
    elif policies.others:
        sentences.append(
            f"At {sure} it is shown to cost less than "
            f"{_every([in_words(policies[name]) for name in policies.others])}."
        )
    if settle is not None:
        sentences.append(
            f"About {_round(settle.examples)} {stated.noun} ({_round(settle.more)} more) would "
            f"settle it against {in_words(policies[settle.against])}, if the difference is as "
            "large as it is here."
        )
    return sentences


def _every(names: list[str]) -> str:
    """Return the list of names, or their number if they are too many."""
    return (
        listed(names)
        if len(names) <= MOST_NAMED
        else f"all {len(names)} policies it was compared with"
    )


def _round(size: int) -> str:
    """Format a size to three significant digits."""
    return number(int(float(f"{size:.3g}")))


def _saving_words(policies: Policies, stated: Stated, saving: Saving, sure: str) -> list[str]:
    if policies.best == policies.reference:
        return ["It is the baseline."]
    against = in_words(policies[policies.reference])
    if saving.per_decision < 0:  # a baseline that breaks a limit may cost less
        what = f"more per decision than {against}"
        text = _difference_words(stated, what, -saving.per_decision, -saving.high, -saving.low)
        if saving.high < 0:
            return [f"It costs {text}: {against} does not keep within the limits."]
        unsure = f"a difference is not shown at {sure}"
        return [f"It may cost {text}: {unsure}, and {against} does not keep within the limits."]
    what = f"per decision against {against}"
    text = _difference_words(stated, what, saving.per_decision, saving.low, saving.high)
    if saving.shown:
        return [f"It saves {text}."]
    return [f"It may save {text}: a saving is not shown at {sure}."]


def _difference_words(stated: Stated, what: str, value: float, low: float, high: float) -> str:
    """Write a difference with its limits, per decision and over all decisions."""
    unit = f" {stated.unit}" if stated.unit else ""
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
        else error_rate(where_used(policies.single(each.name), policies.design))
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
