"""Rates of false and of true statements that the cheapest policy costs less than another.

This is not from a paper. The guide to chosen thresholds has the numbers: this module prints its
table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from replications.experiment import Experiment, Results, Row, Trial, share
from stakes import CostMatrix
from stakes._core.typing import Floats
from stakes.counts import JointConfusion
from stakes.infer._outcomes import Design
from stakes.infer.batch import batch_outcomes, batch_p_values
from stakes.policies._choose import Choosing, choose
from stakes.policies._compared import adjusted
from stakes.policies.policies import Policies, Policy
from stakes.predictions.scores import JointScores

ALPHA = 0.05
APART = 1.5
LONG = 10_000

GRID = np.linspace(-8.0, 12.0, 20_001)


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
    """

    what: str
    n: int
    prevalence: float
    ratio: float
    worse: tuple[float, ...]
    alike: float = 0.0
    apart: float = APART

    @property
    def name(self) -> str:
        """The display name."""
        return f"{self.what}: {self.n:,} rows, {self.prevalence:.0%}, {self.ratio:g} to 1"

    @property
    def powerful(self) -> bool:
        """Whether only one model is best, so that rules can be compared by their power."""
        return self.worse.count(0.0) == 1

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

    def draw(self, rng: np.random.Generator) -> JointScores:
        """Draw a test set."""
        positive = rng.random(self.n) < self.prevalence
        common = rng.standard_normal(self.n) * math.sqrt(self.alike)
        noise = rng.standard_normal((len(self.worse), self.n)) * math.sqrt(1 - self.alike)
        columns = {
            f"model {at}": apart * positive + common + own
            for at, (apart, own) in enumerate(zip(self.parts, noise, strict=True))
        }
        return JointScores.from_columns(positive, columns, pos_label=1, neg_label=0)


def _both_below(at: float, correlation: float) -> float:
    """Return the probability that two normal variables are both below a value."""
    if correlation == 0:
        return float(ndtr(at) ** 2)
    wide = np.linspace(-8, 8, 4001)
    inside = (at - math.sqrt(correlation) * wide) / math.sqrt(1 - correlation)
    density = np.exp(-(wide**2) / 2) / math.sqrt(2 * math.pi)
    return float(np.trapezoid(density * ndtr(inside) ** 2, wide))


def contests() -> list[Contest]:
    """Return all contests."""
    sizes = ((200, 0.3, 20.0), (1000, 0.05, 20.0), (1000, 0.3, 1.0), (LONG, 0.05, 500.0))
    found = [Contest(f"{many} equal", *size, (0.0,) * many) for size in sizes for many in (2, 3, 5)]
    found += [Contest(f"{many} equal, alike", *size, (0.0,) * many, 0.8)
              for size in sizes[1:3] for many in (2, 5)]  # fmt: skip
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


# Statements about one test set.


@dataclass(frozen=True)
class Said:
    """The policies of one test set, and their true costs.

    Attributes
    ----------
    found : Policies
        The policies.
    truths : dict of str to float
        The true costs of the policies: the least cost of each model, and those of the constants.
    """

    found: Policies
    truths: Mapping[str, float]


def draw(contest: Contest, rng: np.random.Generator) -> Said | None:
    """Choose thresholds on a test set; None where there are too few rows."""
    scores = contest.draw(rng)
    chosen = choose(scores, contest.costs, Design(), Choosing())
    if not all(each.cross_fitted for each in chosen.thresholds.values()) or chosen.undecided:
        return None
    policies = [
        Policy(column, each.model, "threshold", cross_fitted=True, column=column)
        for column, each in chosen.thresholds.items()
    ]
    policies += [Policy(f"always {each}", None, "constant", decision=each) for each in (0, 1)]
    found = Policies(tuple(policies), chosen.held_out, chosen.in_sample, contest.costs, Design())
    truths = {"always 0": contest.prevalence * contest.ratio, "always 1": 1 - contest.prevalence}
    least = {apart: float(contest.cost(apart, GRID).min()) for apart in set(contest.parts)}
    for policy in found.policies:
        if policy.model is not None:
            truths[policy.name] = least[contest.parts[scores.names.index(policy.model)]]
    if contest.apart == 0:  # every threshold costs the same, and so do the constants
        truths = dict.fromkeys(truths, 1 - contest.prevalence)
    return Said(found, truths)


Pair = tuple[str, str]


def p_values(said: Sequence[Said], pairs: Sequence[Sequence[Pair]]) -> list[dict[Pair, float]]:
    """Return the p-value of each pair of each test set, many at once.

    As in `Policies.pairs`, this is the larger of those of the held-out and the in-sample decisions,
    and 1 where they disagree on which costs less.
    """
    found: list[dict[Pair, float]] = [{} for _ in said]
    tasks: dict[Any, list[tuple[int, Pair, Any, Any]]] = {}
    for at, (each, wanted) in enumerate(zip(said, pairs, strict=True)):
        for pair in wanted:
            key, tables = _tables(each.found, pair)
            tasks.setdefault(key, []).append((at, pair, *tables))
    for (matrix, method), rows in tasks.items():
        first, p_first = _tested([row[2] for row in rows], matrix, method)
        close = np.flatnonzero(p_first <= ALPHA)
        for at, pair, *_ in rows:
            found[at][pair] = 1.0
        if len(close):
            second, p_second = _tested([rows[k][3] for k in close], matrix, method)
            agree = np.sign(first[close]) == np.sign(second)
            both = np.where(agree, np.maximum(p_first[close], p_second), 1.0)
            for k, value in zip(close, both, strict=True):
                found[rows[k][0]][rows[k][1]] = float(value)
    return found


def _tested(tables: Sequence[Any], matrix: Any, method: str) -> tuple[Floats, Floats]:
    costs = _matrix(matrix)
    outcomes = batch_outcomes(np.array(tables), costs)
    if outcomes.lowest == outcomes.highest:  # nothing varies: the difference is known
        return outcomes.mean, np.where(outcomes.mean == 0, 1.0, 0.0)
    return outcomes.mean, batch_p_values(outcomes, method)


@cache
def _matrix(rows: tuple[tuple[float, ...], ...]) -> CostMatrix:
    decisions = [0, 1] if len(rows) > 1 else ["always"]
    return CostMatrix(np.array(rows), rows="predicted", labels=[0, 1], decisions=decisions)


def _tables(policies: Policies, pair: Pair) -> tuple[Any, tuple[Any, Any]]:
    """Return the costs and the test of a comparison, and its two tables."""
    one, other = (policies[name] for name in pair)
    values = policies.costs.values
    joints = (policies.held_out, policies.in_sample)
    if one.kind == other.kind == "constant":
        places = [policies.costs.decisions.index(each.decision) for each in (one, other)]
        difference = values[places[:1]] - values[places[1:]]
        classes = joints[0].single(joints[0].names[0]).counts.sum(axis=0, keepdims=True)
        return (_key(difference), "extremal"), (classes, classes)
    if "constant" in (one.kind, other.kind):
        constant, model, sign = (one, other, -1) if one.kind == "constant" else (other, one, 1)
        relative = sign * (values - values[policies.costs.decisions.index(constant.decision)])
        return (_key(relative), "extremal"), _counts(joints, model.column)
    tables = tuple(joint.pair(one.column, other.column).counts for joint in joints)
    return (_key(values), "auto"), (tables[0], tables[1])


def _counts(joints: Sequence[JointConfusion], column: str) -> tuple[Any, Any]:
    first, second = (joint.single(column).counts for joint in joints)
    return first, second


def _key(values: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(v) + 0.0 for v in row) for row in values)


# Which differences are shown, by this rule and by others.


def stepping_down(p: Mapping[str, float]) -> set[str]:
    """Return the policies shown to cost more than the cheapest, by the rule of `Policies.pairs`."""
    shown: set[str] = set()
    for name in sorted(p, key=p.__getitem__):
        if adjusted(p[name], len(p) + 1 - len(shown)) > ALPHA:
            break
        shown.add(name)
    return shown


def bonferroni(p: Mapping[str, float]) -> set[str]:
    """Return the policies shown to cost more than the cheapest by Bonferroni's rule."""
    return {name for name, value in p.items() if value <= ALPHA / len(p)}


def holm_all_pairs(p: Mapping[Pair, float], best: str) -> set[str]:
    """Return the policies shown to cost more than the cheapest by Holm's rule for all pairs."""
    shown: set[str] = set()
    for at, pair in enumerate(sorted(p, key=p.__getitem__)):
        if p[pair] > ALPHA / (len(p) - at):
            break
        if best in pair:
            shown.add(pair[0] if pair[1] == best else pair[1])
    return shown


RULES = ("policies", "Bonferroni", "Holm, all pairs")


def measure(trial: Trial, *, contest: str) -> Iterator[Row]:
    """Measure the rates of false and of true statements."""
    about = CONTESTS[contest]
    rules = RULES if about.powerful else RULES[:1]
    for rule, results in judged(about, trial.repeats, trial.rng, rules).items():
        for measured, hits in zip(MEASURED, results.sum(axis=0), strict=True):
            yield share(measured, int(hits), len(results), rule=rule)


MEASURED = ("any false statement", "false winner", "true winner")


def judged(
    contest: Contest, tried: int, rng: np.random.Generator, rules: Sequence[str] = RULES[:1]
) -> dict[str, Any]:
    """Return the values named in `MEASURED` of each test set with enough rows, for each rule."""
    said = [each for _ in range(tried) if (each := draw(contest, rng)) is not None]
    wanted: list[list[Pair]] = []
    for each in said:
        best, *others = each.found.competitors
        every = itertools.combinations(each.found.competitors, 2)
        wanted.append(list(every) if RULES[2] in rules else [(best, other) for other in others])
    found = p_values(said, wanted)
    results: dict[str, list[tuple[bool, ...]]] = {rule: [] for rule in rules}
    for each, p in zip(said, found, strict=True):
        best, *others = each.found.competitors
        against = {other: p[best, other] for other in others}
        for rule in rules:
            shown = holm_all_pairs(p, best) if rule == RULES[2] else BY_RULE[rule](against)
            results[rule].append(_judged(each, best, others, shown))
    return {rule: np.array(each) for rule, each in results.items()}


def any_false_statements(contest: Contest, tried: int, rng: np.random.Generator) -> Any:
    """Tell for each test set with enough rows whether any statement is false."""
    return judged(contest, tried, rng)[RULES[0]][:, 0]


BY_RULE = {RULES[0]: stepping_down, RULES[1]: bonferroni}


def _judged(said: Said, best: str, others: Sequence[str], shown: set[str]) -> tuple[bool, ...]:
    truth = said.truths
    false = any(truth[each] <= truth[best] + 1e-9 for each in shown)
    won = len(shown) == len(others)
    return false, won and false, won and not false


# The table of the guide.

HEADER = ("policies", "rows", "positives", "costs", *MEASURED, "Holm", "Bonferroni")


def table(results: Results) -> str:
    """Return the table of the guide, in Markdown, with percentages."""
    lines: list[tuple[str, ...]] = [HEADER, ("---", *["---:"] * (len(HEADER) - 1))]
    for name, contest in CONTESTS.items():
        rows = results.select(contest=name)
        if not rows:
            continue
        values = {(row["measure"], row["rule"]): float(row["value"]) for row in rows}
        lines.append(
            (
                contest.what,
                f"{contest.n:,}",
                f"{contest.prevalence:.0%}".replace("%", " %"),
                f"{contest.ratio:g} : 1",
                *(f"{100 * values[each, RULES[0]]:.1f}" for each in MEASURED),
                *(
                    f"{100 * values[MEASURED[2], rule]:.1f}"
                    if (MEASURED[2], rule) in values
                    else ""
                    for rule in reversed(RULES[1:])
                ),
            )
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


CONTESTS = {contest.name: contest for contest in contests()}
EXPERIMENT = Experiment(
    name="policy-verdicts",
    title="How often the cheapest policy is wrongly, and rightly, said to cost less",
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
