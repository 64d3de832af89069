"""Costs, intervals, comparisons, the report and the counts in a run of MLflow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from stakes.costs import CostMatrix
from stakes.errors import MissingExtraError
from stakes.findings import Settings, findings
from stakes.infer.estimate import evaluate
from stakes.study import Study
from stakes.study.counts_file import counts_text

FOLDER = "stakes"
NOT_ALLOWED = re.compile(r"[^\w\-. /]")


def log_to_mlflow(
    study: Study, settings: Settings | None = None, *, prefix: str = "", report: bool = True
) -> dict[str, Any]:
    """Log what models cost to the active run of MLflow, or to a new one.

    Parameters
    ----------
    study : Study
        The predictions and costs: `stakes.study.study_of` makes one of arrays.
    settings : Settings, optional
        What the report is told besides.
    prefix : str
        Put before the names of the metrics, such as "test/".
    report : bool
        Whether to log the report, which takes seconds and the extra `stakes[report]`.

    Returns
    -------
    dict
        The findings.

    Notes
    -----
    Metrics: ``MODEL/cost``, ``MODEL/cost_low`` and ``MODEL/cost_high`` of each model. Of each pair
    ``A vs B/difference`` with ``_low``, ``_high``, ``_p_value`` and, adjusted for the number of
    pairs, ``_adjusted``. The verdict is the tag ``stakes.verdict``. In the folder
    ``stakes`` of the artifacts are ``findings.json``, ``counts.json``, which ``stakes merge`` and
    all other commands read, and ``report.html``.
    """
    mlflow = _mlflow()
    found = findings(study, settings)
    mlflow.log_metrics({_allowed(prefix + name): value for name, value in _metrics(found)})
    mlflow.set_tag("stakes.verdict", found["verdict"]["text"])
    text = json.dumps(found, ensure_ascii=False, default=str)
    mlflow.log_text(text, f"{FOLDER}/findings.json")
    mlflow.log_text(counts_text(study.counts()), f"{FOLDER}/counts.json")
    if report:
        from stakes.show.report.page import report_html

        mlflow.log_text(report_html(found), f"{FOLDER}/report.html")
    return found


def mlflow_cost_metric(
    costs: CostMatrix, *, name: str = "cost", confidence: float = 0.95, method: str = "auto"
) -> Any:
    """Return expected cost as a metric for ``mlflow.models.evaluate(extra_metrics=[…])``.

    Parameters
    ----------
    costs : CostMatrix
        What decisions cost.
    name : str
        Of the metric; its limits are ``name/low`` and ``name/high``.
    confidence, method
        Of the interval, as in ``CostEstimate.interval``.
    """
    models = _mlflow().models
    from mlflow.metrics.base import MetricValue

    def cost(predictions: Any, targets: Any) -> Any:
        estimate = evaluate(list(targets), list(predictions), costs)
        interval = estimate.interval(confidence, method)
        return MetricValue(
            aggregate_results={
                name: estimate.cost,
                "low": interval.low,
                "high": interval.high,
            }
        )

    return models.make_metric(eval_fn=cost, greater_is_better=False, name=name)


def _metrics(found: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for model in found["models"]:
        yield f"{model['name']}/cost", model["cost"]
        for limit in ("low", "high"):
            yield f"{model['name']}/cost_{limit}", model[limit]
    for pair in found["pairs"]:
        both = f"{pair['first']} vs {pair['second']}"
        for name in ("difference", "low", "high", "p_value", "adjusted"):
            of = "" if name == "difference" else "difference_"
            yield f"{both}/{of}{name}", pair[name]


def _allowed(name: str) -> str:
    """Return a name with those characters only that MLflow allows."""
    return NOT_ALLOWED.sub("_", name)


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError as error:
        raise MissingExtraError(
            "logging to MLflow needs mlflow, which is not installed: pip install 'stakes[mlflow]'"
        ) from error
    return mlflow
