"""Power of tests against a second classifier with some of its labels changed.

The papers make pairs of classifiers with a known difference in cost: the second has the labels of
the first, permuted within each true class, and then q of a million labels changed to any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from replications.experiment import Results, Row, Trial, average, share
from replications.experiments.shared.classifier import (
    TEST,
    THESIS_NAMES,
    draw_tables,
    matrices,
    over_matrices,
    permuted,
    relabelled,
)
from replications.experiments.shared.resampling import ALPHA, chances, outside
from stakes.infer._outcomes import Outcomes
from stakes.infer.batch import batch_outcomes, batch_p_values
from stakes.show._drawing import GREY, MARKERS, line_look, pyplot

MILLION = 1_000_000


def measure_power(
    trial: Trial,
    domain: str,
    model: str,
    *,
    changed: Sequence[int],
    resamples: Sequence[int] = (1000, 500),
    default_at: Sequence[int] = (),
    weak: bool = False,
) -> Iterator[Row]:
    """Measure how often tests reject equal costs, for each number of changed labels.

    Parameters
    ----------
    trial : Trial
        The trial, with one test set per repeat for each cost matrix.
    domain, model : str
        The domain of the examples, and the cost model.
    changed : sequence of int
        The numbers of changed labels in a million.
    resamples : sequence of int
        The numbers of resamples of BDELTACOST.
    default_at : sequence of int
        The numbers of changed labels for which to run the default test as well; it takes longer.
    weak : bool
        Whether the classifiers are trees of depth two.
    """
    judged = matrices(domain, model, trial.seed, TEST * trial.repeats, weak=weak)
    for q in changed:
        rejected: dict[tuple[str, int], list[float]] = {}
        ratios = []
        for each in judged:
            joint = relabelled(permuted(each.shares), q / MILLION)
            costs = [(joint.sum(axis=axis) * each.costs.values).sum() for axis in (1, 0)]
            ratios.append(abs(costs[1] - costs[0]) / costs[0])
            tables = draw_tables(joint, trial.repeats, trial.rng)
            outcomes = batch_outcomes(tables, each.costs)
            found = _rejections(outcomes, resamples, default=q in default_at)
            for key, value in found.items():
                rejected.setdefault(key, []).append(value)
        yield average("cost ratio", ratios, q=q)
        for (method, number), values in rejected.items():
            keys: dict[str, Any] = {"q": q, "method": method}
            if method == "bdeltacost":
                keys["resamples"] = number
            yield over_matrices("rejected", values, trial.repeats, **keys)
            for name, value in (("lowest", min(values)), ("highest", max(values))):
                yield share(f"{name} rejected", value * trial.repeats, trial.repeats, **keys)


def _rejections(
    outcomes: Outcomes, resamples: Sequence[int], *, default: bool
) -> dict[tuple[str, int], float]:
    sides = chances(outcomes, 0.0)
    found = {("bdeltacost", number): float(outside(*sides, number).mean()) for number in resamples}
    found["normal", 0] = float((batch_p_values(outcomes, "normal") <= ALPHA).mean())
    if default:
        found["extremal", 0] = float((batch_p_values(outcomes) <= ALPHA).mean())
    return found


def half_power(curve: Sequence[Row], across: Mapping[int, float]) -> tuple[float, float]:
    """Return where a power curve first reaches one half, and the standard error of that point.

    Parameters
    ----------
    curve : sequence of dict
        The rows "rejected" of one test.
    across : mapping of int to float
        The position of each q on the axis, such as its cost ratio.

    Returns
    -------
    where, error : float
        NaN where the power does not reach one half.
    """
    ordered = sorted(curve, key=lambda row: float(row["q"]))
    for before, after in pairwise(ordered):
        low, high = float(before["value"]), float(after["value"])
        if low < 0.5 <= high:  # noqa: PLR2004 - one half
            start, end = across[int(before["q"])], across[int(after["q"])]
            slope = (high - low) / (end - start)
            error = max(float(before["error"]), float(after["error"])) / slope
            return start + (0.5 - low) / slope, error
    return float("nan"), float("nan")


def thesis_panels(*groups: str) -> dict[str, list[str]]:
    """Return panels of the thesis's models, each named by the digits of its models."""
    model_of = {name: model for model, name in THESIS_NAMES.items()}
    return {
        "thesis: " + ", ".join(f"M{digit}" for digit in group): [model_of[f"M{d}"] for d in group]
        for group in groups
    }


def draw_power(
    results: Results,
    panels: Mapping[str, Sequence[str]],
    *,
    domain: str,
    names: Mapping[str, str] | None = None,
    across: str = "q",
    ranges: bool = False,
    resamples: Sequence[int] = (1000,),
    highest: int = MILLION,
) -> Any:
    """Draw power curves, in one panel for each group of models.

    Parameters
    ----------
    results : Results
        The measured results.
    panels : mapping of str to sequence of str
        The title of each panel, and its models.
    domain : str
        The domain.
    names : mapping of str to str, optional
        The display names of the models; by default those of the paper.
    across : {"q", "cost ratio"}
        The quantity on the horizontal axis.
    ranges : bool
        Whether bars show the range over cost matrices.
    resamples : sequence of int
        The numbers of resamples, each with curves of its own.
    highest : int
        The largest q to draw.
    """
    columns = min(2, len(panels))
    lines = -(-len(panels) // columns)
    figure, axes = pyplot().subplots(
        lines, columns, figsize=(5 * columns, 3.6 * lines), sharey=highest == MILLION,
        squeeze=False, layout="constrained",
    )  # fmt: skip
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, (title, models) in zip(axes.flat, panels.items(), strict=False):
        number = 0
        for model in models:
            shown = (names or {}).get(model, model)
            for count in resamples:
                label = shown if len(resamples) == 1 else f"{count} resamples"
                keys = {"domain": domain, "model": model, "resamples": count}
                _curve(
                    ax, results, keys, across=across, number=number, label=label, highest=highest,
                    ranges=ranges,
                )  # fmt: skip
                number += 1
        ax.axhline(ALPHA, color=GREY, linewidth=1, linestyle=":")
        ax.set(title=title)
        ax.set_ylim(*((-0.02, 1.02) if highest == MILLION else (0, None)))
        ax.set_xlabel("labels changed, q" if across == "q" else "cost ratio")
        if across == "q" and highest == MILLION:
            ax.set_xscale("symlog", linthresh=1000, linscale=0.5)
            ticks = [0, *(10**power for power in range(3, 7))]
            ax.set_xticks(ticks, [f"{tick:,}".replace(",", " ") for tick in ticks])
            ax.set_xlim(-50, highest * 1.3)
        elif across != "q":
            ax.set_xscale("symlog", linthresh=0.01, linscale=0.5)
            ax.set_xlim(left=0)
        ax.legend(fontsize="small", loc="upper left")  # where no power curve is
    for ax in axes[:, 0]:
        ax.set_ylabel("share of tests that reject")
    return figure


def _curve(
    ax: Any, results: Results, keys: Mapping[str, Any], *, across: str, number: int, label: str,
    highest: int, ranges: bool,
) -> None:  # fmt: skip
    rows = results.select(**keys, method="bdeltacost", measure="rejected")
    rows = [row for row in rows if float(row["q"]) <= highest]
    where = [float(row["q"]) for row in rows]
    cell = {key: keys[key] for key in ("domain", "model")}
    if across != "q":
        ratio = [results.value(**cell, q=row["q"], measure="cost ratio") for row in rows]
        order = np.argsort(ratio)
        rows, where = [rows[each] for each in order], [ratio[each] for each in order]
    values = np.array([float(row["value"]) for row in rows])
    look = line_look(number) | {"marker": MARKERS[number % len(MARKERS)], "markersize": 4}
    if not ranges:
        ax.plot(where, values, label=label, **look)
        return
    ends = [
        [results.value(**keys, method="bdeltacost", q=row["q"], measure=f"{end} rejected")
         for row in rows]
        for end in ("lowest", "highest")
    ]  # fmt: skip
    spread = np.abs(np.array(ends) - values)
    beside = np.array(where) * 1.07**number  # so that bars do not hide each other
    ax.errorbar(beside, values, spread, label=label, capsize=3, elinewidth=1, **look)
