"""The distribution of the loss over test sets: the thesis's Figure 5.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm, skew

from replications.experiment import Experiment, Printed, Results, Row, Trial, share
from replications.experiments.shared.classifier import STAND_INS, TEST, Judged, matrices
from stakes._core.typing import Floats
from stakes.show._drawing import COLOURS, GREY, pyplot

BINS = 50
MODELS = ("M1", "M6", "M9")
BATCHES = 20


def measure(trial: Trial, *, model: str) -> Iterator[Row]:
    """Measure the total losses of test sets for one classifier and one cost matrix."""
    each = max(matrices("expf5", model, trial.seed, TEST * trial.repeats), key=rare_part)
    tables = each.draw(trial.repeats, trial.rng)
    losses = (tables * each.costs.values).sum(axis=(1, 2))
    counts, edges = np.histogram(losses, BINS)
    for count, low in zip(counts, edges, strict=False):
        yield share("test sets", int(count), trial.repeats, loss=float(low))
    yield _row("width of a bin", float(edges[1] - edges[0]), 0.0, 1)
    parts = np.array_split(losses, min(BATCHES, len(losses) // 10 or 1))
    for name, statistic in {
        "mean": np.mean,
        "standard deviation": np.std,
        "skewness": skew,
        "97.5 % quantile over 2.5 % quantile": _range_ratio,
    }.items():
        several = [float(statistic(part)) for part in parts]
        error = np.std(several, ddof=1) / len(several) ** 0.5 if len(several) > 1 else np.nan
        yield _row(name, float(statistic(losses)), float(error), len(losses))
    yield _row("n·p of the mistake that varies most", TEST * each.shares.flat[_worst(each)], 0.0, 1)
    yield _row("its share of the variance", rare_part(each), 0.0, 1)


def rare_part(judged: Judged) -> float:
    """Return the largest share of the cost's variance due to one cell of the confusion matrix."""
    squares = _squares(judged)
    return float(squares.flat[_worst(judged)] / squares.sum())


def _squares(judged: Judged) -> Floats:
    return np.asarray(judged.shares * (judged.costs.values - judged.cost) ** 2)


def _worst(judged: Judged) -> int:
    return int(_squares(judged).argmax())


def _range_ratio(losses: Any) -> float:
    low, high = np.quantile(losses, [0.025, 0.975])
    return float(high / low)


def _row(name: str, value: float, error: float, repeats: int) -> Row:
    return {"measure": name, "value": value, "error": error, "repeats": repeats}


def draw(results: Results) -> Mapping[str, Any]:
    """Draw the histograms with the normal density of the same mean and standard deviation."""
    return {"figure-5.1": _histograms(results, ("M6",)), "models": _histograms(results, MODELS)}


def _histograms(results: Results, models: Sequence[str]) -> Any:
    figure, axes = pyplot().subplots(
        1, len(models), figsize=(4.2 * len(models) + 1, 3.8), squeeze=False, layout="constrained"
    )
    for ax, model in zip(axes.flat, models, strict=True):
        bars = results.select(model=model, measure="test sets")
        width = results.value(model=model, measure="width of a bin")
        number = int(bars[0]["repeats"])
        low = np.array([float(row["loss"]) for row in bars])
        ax.bar(low, [float(row["value"]) * number for row in bars], width, align="edge",
               color=COLOURS[0])  # fmt: skip
        mean, spread = (
            results.value(model=model, measure=name) for name in ("mean", "standard deviation")
        )
        grid = np.linspace(min(low[0], mean - 3 * spread), low[-1] + width, 300)
        ax.plot(grid, norm.pdf(grid, mean, spread) * width * number, color=GREY, linestyle="--",
                label="normal")  # fmt: skip
        ax.set(title=model, xlabel="total loss of a test set", xlim=(min(0, grid[0]), grid[-1]))
        ax.legend()
    axes[0, 0].set_ylabel(f"test sets of {number}")
    return figure


EXPERIMENT = Experiment(
    name="loss-distribution",
    title="How the loss of one classifier varies from test set to test set",
    source="Margineantu (2001), Figure 5.1",
    varies={"model": MODELS},
    measure=measure,
    repeats=1000,
    least=100,
    printed=(
        Printed(
            {"model": "M6", "measure": "97.5 % quantile over 2.5 % quantile"},
            float("nan"), "thesis, section 5.2: losses vary over a huge range",
        ),
    ),
    draw=draw,
    stand_ins=(
        *STAND_INS,
        ("The thesis does not say which classifier and costs the figure is of: here, of the ten "
        "matrices, the one whose variance comes most from one kind of mistake."),
    ),
)  # fmt: skip
