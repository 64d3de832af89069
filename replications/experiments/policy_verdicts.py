"""Rates of false and of true statements on which policy costs less than another.

Of the verdict: how often it wrongly states that the cheapest costs less than another, how often the
policies that it cannot tell apart lack the one that truly costs least, and how often the cheapest
costs more than the best by more than the stated regret. This is not from a paper. The guide to
chosen thresholds has the numbers: this module prints its table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from replications.experiment import Experiment, Results, Row, Trial, average, share
from replications.experiments.shared.scored import FEWEST_ROWS
from stakes import CostMatrix, study_of
from stakes.policies import Policies, Policy

ALPHA = 0.05
APART = 1.5
LONG = 10_000
EXTRA = 1.2
"""Cost of thresholds beside the best one, where it is 1."""

GRID = np.linspace(-8.0, 12.0, 20_001)

CHOSEN, DECIDED, BESIDE, PINNED = "", "as decided", "as decided, half of them bolder", "pinned"
"""Thresholds chosen on the rows; decisions by the best threshold; by one below it or one above it,
which cost the same; and thresholds chosen on the rows against the best one, stated beforehand."""


@dataclass(frozen=True)
class Contest:
    """Models with normal scores, and the true costs of their best thresholds.

    Attributes
    ----------
    what : str
        Its label in the table.
    n : int
        The number of rows.
    prevalence, ratio : float
        The share of positives, and the cost of a miss; a false alarm costs 1.
    worse : tuple of float
        The excess cost of each model over the best, in standard errors of such a difference.
    alike : float
        The correlation of the scores of two models within a class.
    apart : float
        The separation of the class means by the best models, in standard deviations.
    way : str
        The kind of thresholds.
    """

    what: str
    n: int
    prevalence: float
    ratio: float
    worse: tuple[float, ...]
    alike: float = 0.0
    apart: float = APART
    way: str = CHOSEN

    @property
    def name(self) -> str:
        """The display name."""
        return f"{self.label}: {self.n:,} rows, {100 * self.prevalence:g}%, {self.ratio:g} to 1"

    @property
    def label(self) -> str:
        """The policies, in the table."""
        return f"{self.what}, {self.way}" if self.way else self.what

    @property
    def powerful(self) -> bool:
        """Whether only one model is best, so that rules can be compared by their power."""
        return self.way == CHOSEN and self.worse.count(0.0) == 1

    @cached_property
    def costs(self) -> CostMatrix:
        """The costs of mistakes."""
        return CostMatrix.from_errors(false_positive=1, false_negative=self.ratio)

    def cost(self, apart: float, threshold: Any) -> Any:
        """Return the true cost of a threshold."""
        misses, passed = ndtr(threshold - apart), ndtr(threshold)
        return self.prevalence * self.ratio * misses + (1 - self.prevalence) * (1 - passed)

    @cached_property
    def standard_error(self) -> float:
        """The standard error of the difference of two models as good as the best."""
        at = GRID[self.cost(self.apart, GRID).argmin()]
        miss, alarm = ndtr(at - self.apart), 1 - ndtr(at)
        both = (_both_below(at - self.apart, self.alike), _both_below(-at, self.alike))
        square = 2 * self.prevalence * self.ratio**2 * (miss - both[0])
        square += 2 * (1 - self.prevalence) * (alarm - both[1])
        return math.sqrt(square / self.n)

    @cached_property
    def parts(self) -> tuple[float, ...]:
        """The separation of the class means by each model, in standard deviations."""
        best = self.cost(self.apart, GRID).min()

        def more(apart: float, worse: float) -> float:
            return float(self.cost(apart, GRID).min() - best) - worse * self.standard_error

        return tuple(
            self.apart if worse == 0 else float(brentq(more, 0.0, self.apart, args=(worse,)))
            for worse in self.worse
        )

    def stated(self, model: int) -> float:
        """Return the threshold of a model that is not chosen on the rows."""
        costs = self.cost(self.parts[model], GRID)
        best = int(costs.argmin())
        if self.way != BESIDE:
            return float(GRID[best])
        end = GRID[0] if model % 2 else GRID[-1]  # both constants cost more than that, or neither

        def more(threshold: float) -> float:
            return float(self.cost(self.parts[model], threshold) - EXTRA * costs[best])

        return float(brentq(more, GRID[best], end))

    def draw(self, rng: np.random.Generator) -> Policies | None:
        """Draw a test set, and return its policies; None where there are too few rows."""
        positive = rng.random(self.n) < self.prevalence
        common = rng.standard_normal(self.n) * math.sqrt(self.alike)
        noise = rng.standard_normal((len(self.worse), self.n)) * math.sqrt(1 - self.alike)
        if min(positive.sum(), (~positive).sum()) < FEWEST_ROWS:
            return None
        columns = {
            f"model {at}": apart * positive + common + own
            for at, (apart, own) in enumerate(zip(self.parts, noise, strict=True))
        }
        decided: dict[str, Any] = {}
        if self.way in {DECIDED, BESIDE}:
            cuts = map(self.stated, range(len(columns)))
            each = zip(columns.items(), cuts, strict=True)
            decided, columns = {name: (v >= cut) * 1 for (name, v), cut in each}, {}
        baseline = f"model 0@{self.stated(0)!r}" if self.way == PINNED else None
        y_true = positive.astype(np.intp)
        given: dict[str, Any] = {"y_score": columns, "pos_label": 1, "baseline": baseline}
        return study_of(y_true, decided, self.costs, **given).policies

    def truths(self, policies: Policies, *, deployed: bool) -> dict[str, float]:
        """Return the true cost of each policy.

        Of a chosen threshold, that of the one to deploy or, which is stricter where models are
        equally good, that of the model's best one.
        """
        if self.apart == 0 and not deployed:  # every threshold costs the same, as constants do
            return dict.fromkeys((each.name for each in policies.policies), 1 - self.prevalence)
        return {each.name: self._truth(each, deployed=deployed) for each in policies.policies}

    def _truth(self, policy: Policy, *, deployed: bool) -> float:
        if policy.model is None:
            return 1 - self.prevalence if policy.decision == 1 else self.prevalence * self.ratio
        model = int(policy.model.split()[1])
        if policy.kind == "decisions":
            return float(self.cost(self.parts[model], self.stated(model)))
        if not deployed and policy.threshold != self.stated(model):
            return float(self.cost(self.parts[model], GRID).min())
        return float(self.cost(self.parts[model], policy.threshold))


def _both_below(at: float, correlation: float) -> float:
    """Return the probability that two normal variables are both below a value."""
    if correlation == 0:
        return float(ndtr(at) ** 2)
    wide = np.linspace(-8, 8, 4001)
    inside = (at - math.sqrt(correlation) * wide) / math.sqrt(1 - correlation)
    density = np.exp(-(wide**2) / 2) / math.sqrt(2 * math.pi)
    return float(np.trapezoid(density * ndtr(inside) ** 2, wide))


SIZES = ((200, 0.3, 20.0), (1000, 0.05, 20.0), (1000, 0.3, 1.0), (LONG, 0.05, 500.0))
RARE = ((1000, 0.05, 20.0), (1000, 0.3, 1.0), (LONG, 0.01, 100.0), (LONG, 0.002, 500.0))


def contests() -> list[Contest]:
    """Return all contests."""
    found = [Contest(f"{many} equal", *size, (0.0,) * many) for size in SIZES
             for many in (2, 3, 5, 8)]  # fmt: skip
    found += [Contest(f"{many} equal, alike", *size, (0.0,) * many, 0.8)
              for size in SIZES[1:3] for many in (2, 5)]  # fmt: skip
    found += [Contest(f"{many} equal", *size, (0.0,) * many, 0.8, way=way)
              for way in (DECIDED, BESIDE) for size in RARE for many in (2, 5, 8)]  # fmt: skip
    found += [Contest("1 against its best", *size, (0.0,), way=PINNED) for size in SIZES]
    found += [Contest("3 equal, a constant near", n, 0.05, 1.0, (0.0,) * 3) for n in (1000, LONG)]
    found += [Contest(f"{many} worth nothing, as both constants", n, 0.05, 19.0, (0.0,) * many,
                      apart=0.0) for n in (1000, LONG) for many in (2, 5)]  # fmt: skip
    for worse in (0.5, 1.0, 2.0, 4.0):
        found.append(Contest(f"2 equal, 1 worse by {worse:g}", 1000, 0.3, 1.0, (0.0, 0.0, worse)))
        found.append(
            Contest(f"2 equal, 3 worse by {worse:g}", 1000, 0.3, 1.0, (0.0, 0.0, *[worse] * 3))
        )
    for worse in (2.0, 3.0, 4.0):
        for others in (1, 2, 4):
            found.append(
                Contest(f"{others} worse by {worse:g}", 1000, 0.3, 1.0, (0.0, *[worse] * others))
            )
    return found


# What is shown, by this rule and by others.

RULES = ("policies", "Bonferroni", "Holm, all pairs")
STATED = ("any false statement", "false winner", "true winner")
MISSED, EXCEEDED, REGRET = "best missed", "regret exceeded", "regret over cost"


def shown_by(rule: str, policies: Policies) -> set[str]:
    """Return the policies that a rule shows to cost more than the cheapest."""
    if rule == RULES[0]:
        return {pair.second for pair in policies.pairs if pair.shown}
    best, others = policies.best, policies.others
    if rule == RULES[1]:
        return bonferroni({pair.second: pair.p_value for pair in policies.pairs})
    every = itertools.combinations((best, *others), 2)
    return holm_all_pairs({pair: policies.family.pair(*pair).p_value for pair in every}, best)


@dataclass(frozen=True)
class Judged:
    """What is stated on one test set, and whether it is true.

    Attributes
    ----------
    stated : dict of str to tuple of bool
        By rule, whether the statements in `STATED` hold.
    missed : bool
        Whether a policy that truly costs least is shown to cost more than another.
    exceeded : bool
        Whether the cheapest costs more than the best by more than the regret.
    regret : float
        The regret over the cost of the cheapest.
    """

    stated: Mapping[str, tuple[bool, ...]]
    missed: bool
    exceeded: bool
    regret: float


def judge(contest: Contest, policies: Policies, rules: Sequence[str] = RULES[:1]) -> Judged:
    """Compare what is stated with what is true."""
    best, others = policies.best, policies.others
    truth = contest.truths(policies, deployed=False)
    stated = {}
    for rule in rules:
        shown = shown_by(rule, policies)
        false = any(truth[each] <= truth[best] + 1e-9 for each in shown)
        won = len(shown) == len(others)
        stated[rule] = (false, won and false, won and not false)
    real = contest.truths(policies, deployed=True)
    # Of equally good ones the first by name, which does not depend on the rows.
    least = min(sorted((best, *others)), key=real.__getitem__)
    regret = policies.regret
    return Judged(
        stated,
        least not in (best, *policies.ties),
        real[best] - real[least] > regret + 1e-12,
        regret / policies.estimate(best).cost,
    )


def judged(
    contest: Contest, tried: int, rng: np.random.Generator, rules: Sequence[str] = RULES[:1]
) -> list[Judged]:
    """Return what is stated on each test set with enough rows."""
    drawn = (contest.draw(rng) for _ in range(tried))
    return [judge(contest, policies, rules) for policies in drawn if policies is not None]


def any_false_statements(contest: Contest, tried: int, rng: np.random.Generator) -> Any:
    """Tell for each test set with enough rows whether any statement is false."""
    return np.array([each.stated[RULES[0]][0] for each in judged(contest, tried, rng)])


def measure(trial: Trial, *, contest: str) -> Iterator[Row]:
    """Measure the rates of false and of true statements."""
    about = CONTESTS[contest]
    rules = RULES if about.powerful else RULES[:1]
    found = judged(about, trial.repeats, trial.rng, rules)
    for rule in rules:
        hits = np.array([each.stated[rule] for each in found]).sum(axis=0)
        for measured, number in zip(STATED, hits, strict=True):
            yield share(measured, int(number), len(found), rule=rule)
    for measured, flags in (
        (MISSED, [each.missed for each in found]),
        (EXCEEDED, [each.exceeded for each in found]),
    ):
        yield share(measured, sum(flags), len(found), rule=RULES[0])
    yield average(REGRET, [each.regret for each in found], rule=RULES[0])


def bonferroni(p: Mapping[str, float]) -> set[str]:
    """Return the policies shown to cost more than the cheapest by Bonferroni's rule."""
    return {name for name, value in p.items() if value <= ALPHA / len(p)}


def holm_all_pairs(p: Mapping[tuple[str, str], float], best: str) -> set[str]:
    """Return the policies shown to cost more than the cheapest by Holm's rule for all pairs."""
    shown: set[str] = set()
    for at, pair in enumerate(sorted(p, key=p.__getitem__)):
        if p[pair] > ALPHA / (len(p) - at):
            break
        if best in pair:
            shown.add(pair[0] if pair[1] == best else pair[1])
    return shown


# The table of the guide.

HEADER = (
    "policies", "rows", "positives", "costs", *STATED, "Holm", "Bonferroni", MISSED, EXCEEDED,
    REGRET,
)  # fmt: skip


def table(results: Results) -> str:
    """Return the table of the guide, in Markdown, with percentages; without empty columns."""
    lines: list[tuple[str, ...]] = [HEADER, ("---", *["---:"] * (len(HEADER) - 1))]
    for name, contest in CONTESTS.items():
        rows = results.select(contest=name)
        if not rows:
            continue
        values = {(row["measure"], row["rule"]): float(row["value"]) for row in rows}

        def percent(
            measure: str, rule: str, values: Mapping[Any, float] = values, form: str = ".1f"
        ) -> str:
            return f"{100 * values[measure, rule]:{form}}" if (measure, rule) in values else ""

        lines.append(
            (
                contest.label,
                f"{contest.n:,}",
                f"{contest.prevalence:.1%}".replace(".0%", "%").replace("%", " %"),
                f"{contest.ratio:g} : 1",
                *(percent(each, RULES[0]) for each in STATED),
                *(percent(STATED[2], rule) for rule in reversed(RULES[1:])),
                *(percent(each, RULES[0]) for each in (MISSED, EXCEEDED)),
                percent(REGRET, RULES[0], form=".0f"),
            )
        )
    filled = [at for at in range(len(HEADER)) if any(line[at] for line in lines[2:])]
    return "\n".join(f"| {' | '.join(line[at] for at in filled)} |" for line in lines)


CONTESTS = {contest.name: contest for contest in contests()}
EXPERIMENT = Experiment(
    name="policy-verdicts",
    title="How often verdicts wrongly, and rightly, state that a policy costs less",
    source="No paper: policies compared with the cheapest of them, by Tukey's range stepping down",
    varies={"contest": tuple(CONTESTS)},
    measure=measure,
    repeats=2000,
    least=5,
)


if __name__ == "__main__":
    from replications.store import kept_results

    kept = kept_results(EXPERIMENT.name)
    if kept is not None:
        print(table(kept))  # noqa: T201 - what this is for
