"""stakes evaluate: what each model costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import check_volume, examples_of, read_study, volume_words

if TYPE_CHECKING:
    from stakes.infer._inference import Interval
    from stakes.infer.estimate import CostEstimate
    from stakes.study import Study

EXAMPLES = (
    "stakes evaluate predictions.csv --costs costs.csv",
    "stakes evaluate predictions.csv --fp 10 --fn 100 --pos-label fraud",
    "stakes evaluate predictions.csv -c costs.csv --volume 1e6 --per year",
)
SCHEMA = "stakes-evaluate/1"

Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Of intervals: auto, extremal, bcost, exact, normal, t, bca, dirichlet, likelihood, "
        "guaranteed or anytime.",
    ),
]


def evaluate(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    method: Method = "auto",
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    currency: options.Currency = "",
    volume: options.Volume = None,
    per: options.Per = None,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Say what each model costs, and how sure that is."""
    from stakes.infer._inference import takes
    from stakes.show import cost_table

    output = context.obj
    check_volume(volume, per)
    output.will_write(json, inputs=[*predictions, prices.costs])
    output.only_json(json)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        confidence=confidence,
        class_priors=class_priors,
        with_scores=False,
    )
    estimates = study.estimates(currency)
    sure: dict[str, Any] = {"confidence": study.confidence, "method": method}
    sure |= {"rng": seed} if takes(method, "rng") else {}
    intervals = {name: each.interval(**sure) for name, each in estimates.items()}
    unit = f"; costs in {currency}" if currency else ""
    output.text(f"{examples_of(study)}{unit}.")
    output.text()
    output.table(cost_table(estimates, **sure))
    if volume is not None:
        unit = f" ({currency})" if currency else ""
        title = f"cost of {volume_words(volume, per)}{unit}"
        _show_volume(output, estimates, intervals, volume, title)
    output.text()
    summary = _summary(study, estimates, currency, sure)
    output.text(summary, "bold")
    output.results(
        {
            "schema": SCHEMA,
            **_results(study, estimates, intervals, volume),
            "currency": currency,
            "volume": volume,
            "per": per,
            "summary": summary,
        }
    )


def _show_volume(
    output: Any,
    estimates: dict[str, CostEstimate],
    intervals: dict[str, Interval],
    volume: float,
    title: str,
) -> None:
    from stakes._core.text import number, percent, text_table

    rows = []
    for name, estimate in estimates.items():
        low, high = map(number, intervals[name].times(volume))
        rows.append([name, number(estimate.times(volume)), f"{low} … {high}"])
    confidence = next(iter(intervals.values())).confidence
    output.text()
    output.table(text_table(["classifier", title, f"{percent(confidence)} interval"], rows))


def _summary(
    study: Study, estimates: dict[str, CostEstimate], currency: str, sure: dict[str, Any]
) -> str:
    if len(estimates) > 1:
        return study.ranking(currency).summary(study.confidence)
    ((name, estimate),) = estimates.items()
    return f"{name}: {estimate.summary(**sure)}"


def _results(
    study: Study,
    estimates: dict[str, CostEstimate],
    intervals: dict[str, Interval],
    volume: float | None,
) -> dict[str, Any]:
    best = study.ranking().best_set(study.confidence) if len(estimates) > 1 else list(estimates)
    return {
        "source": study.source,
        "n": study.n,
        "confidence": study.confidence,
        "costs": study.costs.to_dict(),
        "class_priors": study.design.class_priors,
        "models": [
            _model(study, name, estimates[name], intervals[name], volume) for name in estimates
        ],
        "best_set": best,
    }


def _model(
    study: Study, name: str, estimate: CostEstimate, interval: Interval, volume: float | None
) -> dict[str, Any]:
    from stakes.errors import LabelError

    over = None if volume is None else interval.times(volume)
    try:
        errors = estimate.error_rate
    except LabelError:  # no decision is a class
        errors = None
    return {
        "name": name,
        "cost": estimate.cost,
        "interval": interval.to_dict(),
        "total": estimate.total,
        "over_volume": None
        if over is None or volume is None
        else {"cost": estimate.times(volume), "low": over.low, "high": over.high},
        "error_rate": errors,
        "counts": study.joint.single(name).counts.tolist(),
        "contributions": estimate.contributions().tolist(),
    }
