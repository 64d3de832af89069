"""What findings are about: the examples, the costs, the settings and the software."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label, Labels
from stakes._core.text import listed, percent
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.errors import InputError
from stakes.findings._encode import Finding
from stakes.infer._design import checked_priors
from stakes.study import Study


@dataclass(frozen=True)
class Settings:
    """What the user states besides predictions and costs.

    Attributes
    ----------
    unit : str
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
        The random seed.
    command : str
        The command that makes the same report again.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> study = study_of(
    ...     [0] * 80 + [1] * 20,
    ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
    >>> from stakes.findings import Settings, findings
    >>> settings = Settings(unit="EUR", volume=100_000, per="month")
    >>> findings(study, settings).settings.unit
    'EUR'
    """

    unit: str = ""
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
            raise InputError("factor", f"expected a number of at least 1, got {self.factor!r}.")
        if self.target is not None:
            validate.positive(self.target, "target")


@dataclass(frozen=True, eq=False)
class Data(Finding):
    """The examples.

    Attributes
    ----------
    source : str
        The name of the file.
    n : int
        The number of examples.
    labels : tuple of labels
        The classes.
    decisions : tuple of labels
        What can be decided.
    class_counts : tuple of int
        How many examples there are of each class.
    pos_label : label or None
        The positive class of two.
    notes : tuple of str
        What the columns were taken for.
    """

    source: str
    n: int
    labels: Labels
    decisions: Labels
    class_counts: tuple[int, ...]
    pos_label: Label | None
    notes: tuple[str, ...]


def data_of(study: Study) -> Data:
    """Return what is known of the examples."""
    joint = study.joint
    return Data(
        source=study.source,
        n=study.n,
        labels=tuple(joint.labels),
        decisions=tuple(joint.decisions),
        class_counts=tuple(joint.class_counts().tolist()),
        pos_label=study.pos_label,
        notes=tuple(study.notes),
    )


@dataclass(frozen=True, eq=False)
class Costs(Finding):
    """The cost matrix.

    Attributes
    ----------
    rows : str
        Always "predicted": a row for each decision, a column for each class.
    labels : tuple of labels
        The classes.
    decisions : tuple of labels
        The decisions.
    values : ndarray
        What each decision costs for each class.
    text : tuple of str
        The same in sentences.
    """

    rows: str
    labels: Labels
    decisions: Labels
    values: Floats
    text: tuple[str, ...]


def costs_of(costs: CostMatrix) -> Costs:
    """Return a cost matrix, in numbers and in words."""
    return Costs("predicted", costs.labels, costs.decisions, costs.values, tuple(costs.in_words()))


@dataclass(frozen=True, eq=False)
class RunSettings(Finding):
    """What a command was told.

    Attributes
    ----------
    confidence : float
        The confidence level of intervals and tests.
    class_priors : tuple of float, or None
        The frequency of each class in the target population, in the order of `labels`; null for
        that in the examples.
    unit : str
        The unit of the costs.
    volume : float or None
        How many decisions are taken in a period.
    per : str or None
        The period, such as "year".
    seed : int or None
        The random seed; null where nothing is random.
    """

    confidence: float
    class_priors: tuple[float, ...] | None
    unit: str = ""
    volume: float | None = None
    per: str | None = None
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class ReportSettings(RunSettings):
    """What the report was told.

    Attributes
    ----------
    factor : float
        How wrong, at most, each cost is thought to be.
    target : float or None
        How far the upper limit of a cost may be above it; null for a tenth of the cost.
    command : str
        The command that makes the same report again.
    """

    factor: float = 2.0
    target: float | None = None
    command: str = ""


def run_settings_of(
    study: Study,
    unit: str = "",
    *,
    volume: float | None = None,
    per: str | None = None,
    seed: int | None = None,
) -> RunSettings:
    """Return what a command was told, besides predictions and costs."""
    return RunSettings(study.confidence, _prior_values(study), unit, volume, per, seed)


def report_settings_of(study: Study, settings: Settings) -> ReportSettings:
    """Return what the report was told, besides predictions and costs."""
    return ReportSettings(
        confidence=study.confidence,
        class_priors=_prior_values(study),
        unit=settings.unit,
        volume=settings.volume,
        per=settings.per,
        seed=settings.seed,
        factor=settings.factor,
        target=settings.target,
        command=settings.command,
    )


def class_priors_of(study: Study) -> dict[Label, float] | None:
    """Return the share of each class where the models are used; None for that in the examples."""
    priors = study.design.class_priors
    if priors is None:
        return None
    labels = study.joint.labels
    return dict(zip(labels, checked_priors(priors, labels).tolist(), strict=True))


def _prior_values(study: Study) -> tuple[float, ...] | None:
    priors = class_priors_of(study)
    return None if priors is None else tuple(priors.values())


def population_of(study: Study) -> str:
    """Say which population the costs are for; nothing where it is that of the examples."""
    priors = class_priors_of(study)
    if priors is None:
        return ""
    shares = listed([f"{percent(share)} {label!r}" for label, share in priors.items()])
    same = np.allclose(list(priors.values()), study.joint.class_counts() / study.n)
    return f"Costs are for populations with {shares}, {'' if same else 'not '}as in the examples."


def software() -> Mapping[str, str]:
    """Return the versions of what computed the findings."""
    packages = ("stakes", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
