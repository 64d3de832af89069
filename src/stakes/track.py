"""Logging of model costs to MLflow.

A run gets the costs, thresholds, verdict, report and counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from stakes._core.values import name_arguments
from stakes.costs import CostMatrix
from stakes.errors import MissingExtraError
from stakes.findings.data import Settings, json_text
from stakes.findings.report import Findings, findings
from stakes.infer.evaluation import evaluate
from stakes.policies.verdict import Verdict
from stakes.predictions.count_file import counts_text
from stakes.study import Study

__all__ = ["log_to_mlflow", "mlflow_cost_metric"]


FOLDER = "stakes"
LONGEST = 500
"""Length of a parameter that every version of MLflow stores whole, in characters."""

NOT_ALLOWED = re.compile(r"[^\w\-. /]")


def log_to_mlflow(
    study: Study, settings: Settings | None = None, *, prefix: str = "", report: bool = True
) -> Findings:
    """Log the costs of models to the active run of MLflow, or to a new one.

    Parameters
    ----------
    study : Study
        The predictions and costs: `stakes.study.study_of` makes one of arrays.
    settings : Settings, optional
        Further settings of the report.
    prefix : str
        Prefix of the names of metrics and parameters, such as "test/".
    report : bool
        Whether to log the report, which takes seconds and the extra `stakes[report]`.

    Returns
    -------
    Findings
        The results that were logged.

    Notes
    -----
    Names do not depend on the results, so that runs can be compared.

    - Metrics of each model at its cheapest policy: ``MODEL/cost``, ``MODEL/cost_low``,
      ``MODEL/cost_high``, and ``MODEL/threshold`` where it has one to deploy.
    - Metrics of the verdict: ``verdict/cost``, ``verdict/cost_low``, ``verdict/cost_high``,
      ``verdict/saving``, ``verdict/saving_low``, ``verdict/saving_high`` (per decision, against the
      baseline), ``verdict/ties`` (the number of policies it cannot be told apart from), and
      ``verdict/regret`` (the most that using it costs more than the best).
    - Tags: ``stakes.verdict`` (in words), ``stakes.use``, ``stakes.baseline``, ``stakes.shown``
      (whether it is shown to be the cheapest) and ``stakes.saving_shown``.
    - Parameters: ``stakes.costs``, ``stakes.class_priors``, ``stakes.confidence``, ``stakes.n``,
      ``stakes.thresholds`` (the threshold to deploy for each model).

    In the folder ``stakes`` of the artifacts are ``findings.json``, ``counts.json``, which
    ``stakes merge`` and all other commands read, and ``report.html``.

    The numbers are those of the findings, at the confidence and class priors of the study.

    Examples
    --------
    A store in a temporary folder; warnings of MLflow's dependencies are ignored:

    >>> import tempfile, warnings
    >>> from pathlib import Path
    >>> import mlflow
    >>> from stakes import CostMatrix
    >>> from stakes import study_of
    >>> from stakes.track import log_to_mlflow
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> decided = {"careful": [0, 1, 1, 1, 1], "careless": [0, 0, 0, 0, 1]}
    >>> study = study_of([0, 0, 0, 1, 1], decided, costs)
    >>> folder = Path(tempfile.mkdtemp())
    >>> with warnings.catch_warnings(action="ignore"):
    ...     mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    ...     place = mlflow.create_experiment("costs", (folder / "artifacts").as_uri())
    ...     with mlflow.start_run(experiment_id=place) as run:
    ...         found = log_to_mlflow(study, prefix="test/", report=False)
    ...     kept = mlflow.get_run(run.info.run_id).data
    >>> kept.metrics["test/careful/cost"], kept.metrics["test/careless/cost"]
    (0.4, 2.0)
    >>> kept.tags["stakes.verdict"] == found.verdict.text
    True
    >>> mlflow.set_tracking_uri(None)
    """
    mlflow = _mlflow()
    found = findings(study, settings)
    mlflow.log_metrics({_allowed(prefix + name): value for name, value in _metrics(found)})
    mlflow.log_params({_allowed(prefix + name): value for name, value in _parameters(found)})
    mlflow.set_tags(_tags(found.verdict))
    mlflow.log_text(json_text(found), f"{FOLDER}/findings.json")
    mlflow.log_text(counts_text(study.counts()), f"{FOLDER}/counts.json")
    if report:
        from stakes.show.report._page import report_html

        mlflow.log_text(report_html(found), f"{FOLDER}/report.html")
    return found


def mlflow_cost_metric(
    costs: CostMatrix, *, name: str = "cost", confidence: float = 0.95, method: str = "extremal"
) -> Any:
    """Return expected cost as a metric for ``mlflow.models.evaluate(extra_metrics=[…])``.

    Parameters
    ----------
    costs : CostMatrix
        The cost of each decision.
    name : str
        Name of the metric; its limits are ``name/low`` and ``name/high``.
    confidence, method
        As in ``CostEstimate.interval``.

    Returns
    -------
    mlflow.models.EvaluationMetric
        The cost and its limits, as `evaluate` computes them; lower is better.

    Examples
    --------
    One miss and one false alarm in four decisions:

    >>> from stakes import CostMatrix
    >>> from stakes.track import mlflow_cost_metric
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> metric = mlflow_cost_metric(costs)
    >>> metric.name, metric.greater_is_better
    ('cost', False)
    >>> found = metric.eval_fn([0, 1, 0, 1], [0, 0, 1, 1])  # decided, actual
    >>> {name: round(value, 2) for name, value in found.aggregate_results.items()}
    {'cost': 2.75, 'low': 0.24, 'high': 7.92}
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


def _metrics(found: Findings) -> Iterator[tuple[str, float]]:
    verdict = found.verdict
    for model in found.models:
        yield f"{model.name}/cost", model.cost
        yield f"{model.name}/cost_low", model.low
        yield f"{model.name}/cost_high", model.high
    for name, threshold in _thresholds(found).items():
        if isfinite(threshold):
            yield f"{name}/threshold", threshold
    yield "verdict/cost", verdict.cost
    yield "verdict/cost_low", verdict.low
    yield "verdict/cost_high", verdict.high
    yield "verdict/saving", verdict.saving.per_decision
    yield "verdict/saving_low", verdict.saving.low
    yield "verdict/saving_high", verdict.saving.high
    yield "verdict/ties", len(verdict.ties)
    yield "verdict/regret", verdict.regret


def _thresholds(found: Findings) -> dict[str, float]:
    """Return the threshold to deploy of each model that has one, at its cheapest policy."""
    by_policy = {each.name: each.threshold for each in found.policies}
    thresholds = {model.name: by_policy[model.policy] for model in found.models}
    return {name: value for name, value in thresholds.items() if value is not None}


def _tags(verdict: Verdict) -> dict[str, str]:
    return {
        "stakes.verdict": verdict.text,
        "stakes.use": verdict.use,
        "stakes.baseline": verdict.baseline,
        "stakes.shown": str(verdict.shown).lower(),
        "stakes.saving_shown": str(verdict.saving.shown).lower(),
    }


def _parameters(found: Findings) -> Iterator[tuple[str, Any]]:
    costs, settings = found.costs, found.settings
    matrix = {
        str(decision): dict(zip(map(str, costs.labels), map(float, row), strict=True))
        for decision, row in zip(costs.decisions, costs.values, strict=True)
    }
    priors = settings.class_priors
    yield "stakes.costs", _short(matrix)
    yield (
        "stakes.class_priors",
        _short(None if priors is None else dict(zip(map(str, costs.labels), priors, strict=True))),
    )
    yield "stakes.confidence", settings.confidence
    yield "stakes.n", found.data.n
    yield "stakes.thresholds", _short(_thresholds(found))


def _short(value: Any) -> str:
    """Return a value as JSON if it fits in a parameter, or else a reference to the artifacts."""
    text = json_text(value)
    return text if len(text) <= LONGEST else f"see {FOLDER}/findings.json"


def _allowed(name: str) -> str:
    """Return a name in which ``_`` replaces the characters that MLflow does not allow."""
    return NOT_ALLOWED.sub("_", name)


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError as error:
        raise MissingExtraError(
            "logging to MLflow needs mlflow, which is not installed: pip install 'stakes[mlflow]'"
        ) from error
    return mlflow


name_arguments(__name__)
