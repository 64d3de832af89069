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
from replications.experiments.shared.scored import Flags, Scored, Setting, settings
from stakes import CostEstimate
from stakes._core.typing import Floats
from stakes.errors import StakesWarning
from stakes.infer import batch_intervals
from stakes.infer._inference import outcomes_behind, quiet_interval
from stakes.infer.methods import extremal
from stakes.policies._choose import Choosing, Threshold, choose

SETTINGS = {setting.name: setting for setting in settings()}
COLUMN, ALPHA = "model@", 0.05
FEWER, SLOW = 0.5, 0.25
"""Shares of the test sets that are drawn for settings without a promise; and for designs, whose
limits take a hundred times as long."""

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
    covered : dict of str to ndarray of bool
        Whether the limits contain the truth.
    widths : ndarray, shape (any, 2)
        The width between the limits, and that between the limits of folds alone.
    drawn : int
        The number of test sets drawn, including those without enough rows.
    """

    truth: Floats
    at_share: Floats
    held_out: Floats
    in_sample: Floats
    covered: dict[str, Flags]
    widths: Floats
    drawn: int


@dataclass(frozen=True)
class Judged:
    """One test set with enough rows: its threshold's true cost, and the estimates of this cost."""

    drawn: Scored
    truth: float
    at_share: float
    held_out: CostEstimate
    in_sample: CostEstimate


def judged(setting: Setting, rng: np.random.Generator) -> Judged | None:
    """Draw a test set and choose a threshold on it; None where there are too few rows."""
    drawn = setting.draw(rng)
    chosen = choose(drawn.scores, setting.costs, drawn.design, Choosing(folds=setting.folds))
    threshold = chosen.thresholds.get(COLUMN)
    if threshold is None or not threshold.cross_fitted:
        return None
    value = deployed(threshold)
    tables = (each.single(COLUMN) for each in (chosen.held_out, chosen.in_sample))
    truth = float(setting.cost(value))
    return Judged(
        drawn,
        truth,
        truth if drawn.design.class_priors else float(setting.cost(value, drawn.positive_share)),
        *(CostEstimate(table, setting.costs, drawn.design) for table in tables),
    )


def deployed(threshold: Threshold) -> float:
    """Return the lowest score that the threshold classifies as positive."""
    return threshold.cuts[0][1] if threshold.cuts else math.inf


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
    truth = np.array([each.truth for each in results])
    covered, widths = _in_designs(results) if setting.way else _row_by_row(setting, results, truth)
    return Found(
        truth,
        np.array([each.at_share for each in results]),
        np.array([each.held_out.cost for each in results]),
        np.array([each.in_sample.cost for each in results]),
        covered,
        widths,
        drawn,
    )


def _row_by_row(
    setting: Setting, results: Sequence[Judged], truth: Floats
) -> tuple[dict[str, Flags], Floats]:
    """Compute all limits at once."""
    ends = []
    for name in ("held_out", "in_sample"):
        tables = np.array([getattr(each, name).confusion.counts for each in results])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StakesWarning)
            ends.append(batch_intervals(tables, setting.costs))
    (low, high), (other_low, other_high) = ends
    lowest = np.minimum(low, other_low)
    room = ROUNDING * setting.ratio

    def holds(below: Floats, above: Floats) -> Flags:
        return (below <= truth + room) & (truth <= above + room)

    covered = {OURS: holds(lowest, high), FOLDS: holds(low, high)}
    covered[SAME] = holds(other_low, other_high)
    return covered, np.stack([high - lowest, high - low], axis=1)


def _in_designs(results: Sequence[Judged]) -> tuple[dict[str, Flags], Floats]:
    """Tell from tails whether limits contain the truth, in a tenth of the time of limits."""
    beyond = []
    for each in results:
        estimates = (each.held_out, each.in_sample)
        tails = [extremal.tails(outcomes_behind(e), each.truth, ALPHA) for e in estimates]
        beyond.append([[float(tail[0]) < ALPHA / 2 for tail in pair] for pair in tails])
    held_out, in_sample = np.array(beyond).transpose(1, 2, 0)
    covered = {
        OURS: ~(held_out[0] & in_sample[0]) & ~held_out[1],
        FOLDS: ~held_out.any(axis=0),
        SAME: ~in_sample.any(axis=0),
    }
    widths = []
    for each in results[:: max(1, len(results) // 10)]:
        first, second = (quiet_interval(e, 1 - ALPHA) for e in (each.held_out, each.in_sample))
        widths.append((first.high - min(first.low, second.low), first.width))
    return covered, np.array(widths)


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
    yield average("truth over optimum", found.truth / about.optimum, method=OURS)
    wide, plain = found.widths.T
    yield average("width over folds alone", wide / plain.mean(), method=OURS)


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
        return [results.value(setting=name, **where) for name in names]

    def percent(measure: str, method: str) -> str:
        return f"{100 * min(values(measure, method)):.1f}"

    def both(measure: str, method: str) -> str:
        found = values(measure, method)
        ends = [f"{end:.2f}" for end in (min(found), max(found))]
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
