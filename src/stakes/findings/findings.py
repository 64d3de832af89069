"""Everything that the report and its JSON file say, found in one place."""

from __future__ import annotations

import platform
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from stakes._core import validate
from stakes.errors import InputError, RareCostWarning
from stakes.findings.calibration import calibration_of
from stakes.findings.curves import curves_of
from stakes.findings.doubts import doubts_of
from stakes.findings.enough import enough_of
from stakes.findings.models import models_of, trivial_of
from stakes.findings.pairs import pairs_of
from stakes.findings.population import class_priors_of
from stakes.findings.verdict import verdict_of
from stakes.study import Study

SCHEMA = "stakes-report/1"
"""The name and version of the dictionary's layout; changed when a key changes its meaning."""


@dataclass(frozen=True)
class Settings:
    """What the user said besides predictions and costs.

    Attributes
    ----------
    currency : str
        The unit of the costs.
    volume : float or None
        How many decisions are taken in a period.
    per : str
        The period, such as "year".
    factor : float
        How wrong, at most, each cost is thought to be: by a factor of two, say.
    target : float or None
        How far the upper limit of a cost may be above it; by default a tenth of the cost.
    seed : int
        Of everything that is drawn.
    command : str
        The command that makes the same report again.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.study import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> study = study_of(
    ...     [0] * 80 + [1] * 20,
    ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
    >>> from stakes.findings import Settings, findings
    >>> settings = Settings(currency="EUR", volume=100_000, per="month")
    >>> findings(study, settings)["settings"]["currency"]
    'EUR'
    """

    currency: str = ""
    volume: float | None = None
    per: str = "year"
    factor: float = 2.0
    target: float | None = None
    seed: int = 0
    command: str = ""

    def __post_init__(self) -> None:
        if self.volume is not None:
            validate.positive(self.volume, "volume")
        if validate.one_number(self.factor, "factor") < 1:
            raise InputError(f"factor: expected a number of at least 1, got {self.factor!r}.")
        if self.target is not None:
            validate.positive(self.target, "target")


def findings(study: Study, settings: Settings | None = None) -> dict[str, Any]:
    """Return all that a study finds, as numbers, text, lists and dictionaries.

    Parameters
    ----------
    study : Study
        The counts and costs.
    settings : Settings, optional
        What the user said besides.

    Returns
    -------
    dict
        The content of a report, in the layout `SCHEMA` that the reference describes.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.study import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> study = study_of(
    ...     [0] * 80 + [1] * 20,
    ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
    >>> from stakes.findings import findings
    >>> found = findings(study)
    >>> found["schema"], found["data"]["n"]
    ('stakes-report/1', 100)
    >>> [(each["name"], each["cost"]) for each in found["models"]]
    [('eager', 0.3), ('shy', 1.0)]
    """
    chosen = settings or Settings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RareCostWarning)  # the pairs say it beside their numbers
        models = models_of(study, chosen)
        pairs = pairs_of(study)
        return {
            "schema": SCHEMA,
            "data": _data_of(study),
            "costs": _costs_of(study),
            "settings": _settings_of(study, chosen),
            "verdict": verdict_of(study, chosen, models, pairs),
            "models": models,
            "trivial": trivial_of(study),
            "pairs": pairs,
            "joint": study.joint.to_dict(),
            "curves": curves_of(study),
            "doubts": doubts_of(study, chosen),
            "enough": enough_of(study, chosen),
            "calibration": calibration_of(study),
            "software": _software(),
        }


def _data_of(study: Study) -> dict[str, Any]:
    joint = study.joint
    counts = joint.single(study.names[0]).counts.sum(axis=0)
    return {
        "source": study.source,
        "n": study.n,
        "labels": list(joint.labels),
        "decisions": list(joint.decisions),
        "class_counts": counts.tolist(),
        "pos_label": study.pos_label,
        "understood": list(study.notes),
    }


def _costs_of(study: Study) -> dict[str, Any]:
    costs = study.costs
    return {**costs.to_dict(), "in_words": costs.in_words()}


def _settings_of(study: Study, settings: Settings) -> dict[str, Any]:
    priors = class_priors_of(study)
    return {
        "confidence": study.confidence,
        "class_priors": None if priors is None else list(priors.values()),
        "currency": settings.currency,
        "volume": settings.volume,
        "per": settings.per,
        "factor": settings.factor,
        "target": settings.target,
        "seed": settings.seed,
        "command": settings.command,
    }


def _software() -> dict[str, str]:
    packages = ("stakes", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
