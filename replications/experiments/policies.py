"""Coverage of the limits of a threshold's cost, when the test rows chose the threshold.

This is not from a paper. The guide to chosen thresholds has the numbers: this module prints its
tables.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from replications.experiment import Experiment, Results, Row, Trial, average, share
from replications.experiments.shared.scored import Flags, Setting, settings
from stakes import CostEstimate
from stakes._core.typing import Floats
from stakes.errors import StakesWarning
from stakes.infer import batch_intervals
from stakes.policies import Policies, Policy

SETTINGS = {setting.name: setting for setting in settings()}
FEWER, SLOW = 0.5, 0.25
"""Shares of the test sets that are drawn for settings without a promise; and for designs, whose
limits take longer."""

MOST_DRAWN = 10
"""Largest number of test sets drawn for each that is wanted, where few have enough rows."""

OURS, FOLDS, SAME = "policies", "folds alone", "in sample"
ROUNDING = 1e-12


@dataclass(frozen=True)
class Found:
    """Results of test sets, with one entry for each that had enough rows.

    Attributes
    ----------
    truth : ndarray
        The true cost of the threshold to deploy.
    at_share : ndarray
        The true cost at the share of positives in the sample, to which costs on the rows refer.
    held_out, in_sample : ndarray
        The cost on folds that did not choose the threshold, and on the rows that did.
    ends : dict of str to ndarray, shape (any, 2)
        The limits of the cost, by the rule and by either table alone.
    room : float
        The difference that is rounding.
    drawn : int
        The number of test sets drawn, including those without enough rows.
    """

    truth: Floats
    at_share: Floats
    held_out: Floats
    in_sample: Floats
    ends: dict[str, Floats]
    room: float
    drawn: int

    @property
    def covered(self) -> dict[str, Flags]:
        """Whether the limits contain the truth."""
        return {
            method: (low <= self.truth + self.room) & (self.truth <= high + self.room)
            for method, (low, high) in ((name, each.T) for name, each in self.ends.items())
        }

    @property
    def widths(self) -> dict[str, Floats]:
        """The widths between the limits."""
        return {method: each[:, 1] - each[:, 0] for method, each in self.ends.items()}


@dataclass(frozen=True)
class Judged:
    """One test set with enough rows: its policies, and the true cost of the chosen threshold."""

    policies: Policies
    policy: Policy
    truth: float
    at_share: float

    def single(self, of: str) -> CostEstimate:
        """Return the cost on the folds, or on the rows that chose."""
        policies, policy = self.policies, self.policy
        if of == FOLDS or policy.always is not None:
            return policies.estimate(policy.name)
        return CostEstimate(
            policies.in_sample.single(policy.column), policies.costs, policies.design
        )


def judged(setting: Setting, rng: np.random.Generator) -> Judged | None:
    """Draw a test set and choose a threshold on it; None where there are too few rows."""
    drawn = setting.draw(rng)
    if not drawn.enough:
        return None
    policies = drawn.study(setting.costs).policies
    every = (one for each in policies.policies for one in (each, *each.alike))
    policy = next(each for each in every if each.chosen)  # may be alike a constant prediction
    assert policy.threshold is not None  # noqa: S101 - there are two decisions
    truth = float(setting.cost(policy.threshold))
    at_share = truth
    if drawn.priors is None:
        at_share = float(setting.cost(policy.threshold, drawn.positive_share))
    return Judged(policies, policy, truth, at_share)


def find(setting: Setting, wanted: int, rng: np.random.Generator) -> Found | None:
    """Evaluate `wanted` test sets with enough rows; None where none of many more has enough."""
    results: list[Judged] = []
    drawn = 0
    while len(results) < wanted and drawn < MOST_DRAWN * wanted:
        drawn += 1
        if (each := judged(setting, rng)) is not None:
            results.append(each)
    if not results:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StakesWarning)
        ours = np.array([tuple(each.policies.interval(each.policy.name)) for each in results])
        ends = {OURS: ours} | {each: _alone(setting, results, each) for each in (FOLDS, SAME)}
    names = [each.policy.name for each in results]
    return Found(
        np.array([each.truth for each in results]),
        np.array([each.at_share for each in results]),
        np.array([r.policies.estimate(name).cost for r, name in zip(results, names, strict=True)]),
        np.array([r.policies.in_sample_cost(name) for r, name in zip(results, names, strict=True)]),
        ends,
        ROUNDING * setting.ratio,
        drawn,
    )


def _alone(setting: Setting, results: Sequence[Judged], of: str) -> Floats:
    """Return the limits by one table: of rows one by one all at once, which is much faster."""
    found = np.empty((len(results), 2))
    together: dict[int, Floats] = {}
    for at, each in enumerate(results):
        if setting.way or each.policy.always is not None:
            found[at] = tuple(each.single(of).interval())
        else:
            table = each.policies.held_out if of == FOLDS else each.policies.in_sample
            together[at] = table.single(each.policy.column).counts
    if together:
        tables = np.array([*together.values()])
        found[[*together]] = np.transpose(batch_intervals(tables, setting.costs))
    return found


def measure(trial: Trial, *, setting: str) -> Iterator[Row]:
    """Measure coverage, costs relative to the truth, and the widths of limits."""
    about = SETTINGS[setting]
    effort = SLOW if about.way else 1.0 if about.promised else FEWER
    wanted = math.ceil(trial.repeats * effort)
    found = find(about, wanted, trial.rng)
    if found is None:
        yield share("enough rows", 0, MOST_DRAWN * wanted, method=OURS)
        return
    yield share("enough rows", len(found.truth), found.drawn, method=OURS)
    for method, hits in found.covered.items():
        yield share("coverage", int(hits.sum()), len(hits), method=method)
    level = found.at_share.mean()
    yield average("cost over truth", found.held_out / level, method=OURS)
    yield average("cost over truth", found.in_sample / level, method=SAME)
    if about.optimum * about.n >= 1:  # else there is hardly a mistake to compare with
        yield average("truth over optimum", found.truth / about.optimum, method=OURS)
    widths = found.widths
    yield average("width over folds alone", widths[OURS] / widths[FOLDS].mean(), method=OURS)


# The tables of the guide.

HEADER = (
    "scores", "rows", "settings", "enough rows", "coverage", "folds alone", "in sample",
    "cost / truth", "in sample / truth", "truth / optimum", "width",
)  # fmt: skip


def table(results: Results) -> str:
    """Return the table of the guide, in Markdown, with a line for each group of settings."""
    groups: dict[tuple[str, int], list[str]] = {}
    promised_first = sorted(SETTINGS.items(), key=lambda item: not item[1].promised)
    for name, setting in promised_first:
        if results.select(setting=name, measure="coverage"):
            groups.setdefault((setting.family, setting.n), []).append(name)
    lines: list[tuple[str, ...]] = [HEADER, ("---", *["---:"] * (len(HEADER) - 1))]
    for (kind, n), names in groups.items():
        lines.append((kind, f"{n:,}", f"{len(names)}", *_numbers(results, names)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _numbers(results: Results, names: Sequence[str]) -> tuple[str, ...]:
    def values(measure: str, method: str) -> list[float]:
        where = {"measure": measure, "method": method}
        rows = [row for name in names for row in results.select(setting=name, **where)]
        return [float(row["value"]) for row in rows]

    def percent(measure: str, method: str) -> str:
        return f"{100 * min(values(measure, method)):.1f}"

    def both(measure: str, method: str) -> str:
        found = values(measure, method)
        ends = [f"{end(found):.2f}" for end in (min, max) if found]
        return "–".join(dict.fromkeys(ends))

    return (
        f"{100 * min(values('enough rows', OURS)):.0f}",
        percent("coverage", OURS),
        percent("coverage", FOLDS),
        percent("coverage", SAME),
        both("cost over truth", OURS),
        both("cost over truth", SAME),
        both("truth over optimum", OURS),
        both("width over folds alone", OURS),
    )


EXPERIMENT = Experiment(
    name="policies",
    title="How often the limits of a chosen threshold's cost hold",
    source="No paper: thresholds chosen on the test rows and judged on folds of them",
    varies={"setting": tuple(SETTINGS)},
    measure=measure,
    repeats=2000,
    least=10,
)


if __name__ == "__main__":
    from replications.store import kept_results

    kept = kept_results(EXPERIMENT.name)
    if kept is not None:
        print(table(kept))  # noqa: T201 - what this is for
