"""Findings about the input: the examples, the costs, the settings and the software.

The base class of all findings is here, too, and the one place where they become JSON.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label, Labels
from stakes._core.text import listed, number
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.errors import InputError
from stakes.study import Study


class Finding(Result):
    """Base class of all findings: frozen dataclasses with one conversion to JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as dictionaries, lists, text and numbers, as in JSON.

        Returns
        -------
        dict
            The attributes by name.
        """
        found: dict[str, Any] = plain(self)
        return found


READY = (str, int, bool, type(None))
"""Types that JSON holds unchanged."""


def plain(value: Any) -> Any:
    """Convert a value to types that JSON can hold.

    Dataclasses become dictionaries, arrays and tuples lists, infinite numbers the text "inf" or
    "-inf". NaN raises: an unknown number is None in the findings, never NaN.
    """
    if type(value) in READY or (type(value) is float and math.isfinite(value)):
        return value  # most values: checked first, because the other checks take longer
    if is_dataclass(value) and not isinstance(value, type):
        return {key_of(each.name): plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        entries = value.tolist()
        ready = value.dtype.kind in "biu" or (value.dtype.kind == "f" and np.isfinite(value).all())
        return entries if ready else plain(entries)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if not isinstance(value, int | str | float):
        raise TypeError(f"{type(value).__name__} has no form in JSON: {value!r}.")
    if isinstance(value, float) and math.isnan(value):
        raise ValueError("NaN is no finding; None stands for what cannot be computed.")
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def key_of(name: str) -> str:
    """Return the key of a field; an underscore at its end keeps it from being a Python keyword."""
    return name.removesuffix("_")


def json_text(value: Any, indent: int | None = None) -> str:
    """Return findings, or a selection of them, as the text of a JSON file."""
    separators = (",", ":") if indent is None else None
    return json.dumps(
        plain(value), indent=indent, separators=separators, ensure_ascii=False, allow_nan=False
    )


EQUAL = 0.95
"""An effective number is not mentioned if it is at least this share of the actual number."""

MOST_IN_WORDS = 400
"""Maximum number of costs that are written in sentences, one for each."""


@dataclass(frozen=True, eq=False)
class Settings(Result):
    """Settings of a report, other than predictions and costs.

    Attributes
    ----------
    unit : str
        The unit of the costs.
    volume : float or None
        The number of decisions per period.
    per : str
        The period, such as "year".
    factor : float
        The largest factor by which each cost may be wrong, such as 2.
    target : float or None
        How far the upper limit of a cost may be above it; by default a tenth of the cost.
    command : str
        The command that reproduces the report.
    title : str
        The heading of the report; by default it names the subject.
    noun : str
        The noun for the rows, such as "patients".

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
    command: str = ""
    title: str = ""
    noun: str = "examples"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.volume is not None:
            validate.positive(self.volume, "volume")
        if validate.one_number(self.factor, "factor") < 1:
            raise InputError("factor", f"expected a number of at least 1, got {self.factor!r}.")
        if self.target is not None:
            validate.positive(self.target, "target")


@dataclass(frozen=True, eq=False)
class Sampling(Finding):
    """Sampling design of the examples, where they are not single rows of equal weight.

    Attributes
    ----------
    groups : str or None
        The column of the groups, whose rows are not independent; null where there are none.
    n_groups : int or None
        The number of groups.
    sample_weight : str or None
        The column of the weights.
    strata : str or None
        The column of the strata.
    n_strata : int or None
        The number of strata.
    population : mapping, float or None
        From each stratum to its rows or its share, as given; or the number of rows.
    false_positive, false_negative : str or None
        The columns of the costs of false alarms and of misses.
    effective_n : float
        Kish's effective sample size: of groups or, without groups, of rows.
    caution : str
        Why the confidence is not claimed, in a sentence; empty where it is.
    text : str
        The sampling design in a sentence.
    """

    groups: str | None
    n_groups: int | None
    sample_weight: str | None
    strata: str | None
    n_strata: int | None
    population: Mapping[str, float] | float | None
    false_positive: str | None
    false_negative: str | None
    effective_n: float
    caution: str
    text: str


def sampling_of(study: Study, noun: str) -> Sampling | None:
    """Return the sampling design; None where the examples are single rows of equal weight."""
    columns, parts = getattr(study.roles, "design", None), study.joint.parts
    if columns is None:  # counts alone have no columns
        return None
    population = study.design.population
    if not columns.used() and population is None and study.examples is None:
        return None
    groups = strata = None
    if parts is not None:
        groups, strata = parts.groups, parts.strata
    by_class = columns.strata == study.roles.actual
    n_strata = len(study.costs.labels) if by_class else None if strata is None else len(set(strata))
    n_groups = None if groups is None else len(set(groups))
    effective = _effective(study)
    policies = study.policies
    caution = policies.estimate(policies.best).caution
    if caution:
        caution = f"{caution[0].upper()}{caution[1:]}."
    named: Mapping[str, float] | float | None = population
    if isinstance(population, Mapping):
        named = {str(name): float(each) for name, each in population.items()}
    return Sampling(
        groups=columns.groups,
        n_groups=n_groups,
        sample_weight=columns.sample_weight,
        strata=columns.strata,
        n_strata=n_strata,
        population=named,
        false_positive=columns.false_positive,
        false_negative=columns.false_negative,
        effective_n=effective,
        caution=caution,
        text=_sampling_text(study, noun, n_groups, n_strata, effective),
    )


def _effective(study: Study) -> float:
    """Return Kish's effective number of groups or, without groups, of rows."""
    joint = study.joint
    codes = None if joint.parts is None else joint.parts.group_codes()
    if codes is not None and joint.part is not None:
        sizes = np.bincount(codes[joint.part], joint.counts)
        return float(sizes.sum() ** 2 / (sizes @ sizes))
    if joint.squares is not None:
        return float(joint.counts.sum() ** 2 / joint.squares.sum())
    return float(study.n)


def _sampling_text(
    study: Study, noun: str, n_groups: int | None, n_strata: int | None, effective: float
) -> str:
    """Describe the sampling design in sentences."""
    columns = study.roles.design

    def by(argument: str) -> str:
        column = getattr(columns, argument)
        return "" if column == argument else f" by {column!r}"

    found = []
    if n_groups is not None:
        worth = (
            f" (worth {number(effective)} of equal size)" if effective < EQUAL * n_groups else ""
        )
        found.append(f"{number(n_groups)} groups{by('groups')}{worth}")
    if n_strata is not None:
        found.append(f"{number(n_strata)} strata{by('strata')}")
    sentences = [f"The {noun} are in {listed(found)}."] if found else []
    if columns.sample_weight is not None:
        worth = ""
        if n_groups is None and effective < EQUAL * study.n:
            worth = f": they are worth {number(effective)} {noun} of equal weight"
        sentences.append(f"They are weighted{by('sample_weight')}{worth}.")
    if study.examples is not None:
        both = (columns.false_positive, columns.false_negative)
        priced = [repr(each) for each in dict.fromkeys(both) if each is not None]
        where = f", by {listed(priced)}" if priced else ""
        sentences.append(f"What a mistake costs differs from example to example{where}.")
    return " ".join(sentences)


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
        The possible decisions.
    class_counts : tuple of int
        The number of examples of each class.
    pos_label : label or None
        The positive class of two.
    notes : tuple of str
        Notes on how the columns were interpreted.
    sampling : Sampling or None
        The sampling design; null where the examples are single rows of equal weight.
    """

    source: str
    n: int
    labels: Labels
    decisions: Labels
    class_counts: tuple[int, ...]
    pos_label: Label | None
    notes: tuple[str, ...]
    sampling: Sampling | None


def data_of(study: Study, noun: str = "examples") -> Data:
    """Return the description of the examples."""
    joint = study.joint
    return Data(
        source=study.source,
        n=study.n,
        labels=tuple(joint.labels),
        decisions=tuple(joint.decisions),
        class_counts=study.class_rows or tuple(joint.class_counts().tolist()),
        pos_label=study.pos_label,
        notes=tuple(study.notes),
        sampling=sampling_of(study, noun),
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
        The cost of each decision for each class.
    text : tuple of str
        The costs in sentences; of more than 400 costs only their range.
    average : bool
        Whether each example has costs of its own, and these are the means of each class.
    """

    rows: str
    labels: Labels
    decisions: Labels
    values: Floats
    text: tuple[str, ...]
    average: bool = False


def costs_of(costs: CostMatrix, *, average: bool = False) -> Costs:
    """Return a cost matrix in numbers and words; `average` if it has means over examples."""
    words = costs.in_words() if costs.values.size <= MOST_IN_WORDS else _range_in_words(costs)
    if average and costs.values.size <= MOST_IN_WORDS:
        rounded = [[float(f"{each:.4g}") for each in row] for row in costs.values.tolist()]
        named = {"labels": costs.labels, "decisions": costs.decisions}
        means = CostMatrix(rounded, rows="predicted", **named).in_words()
        words = [f"{each} on average" for each in means]
    return Costs(
        "predicted", costs.labels, costs.decisions, costs.values, tuple(words), average=average
    )


def _range_in_words(costs: CostMatrix) -> list[str]:
    low, high = (number(each) for each in (costs.values.min(), costs.values.max()))
    return [f"there are {costs.values.size:,} costs, from {low} to {high}"]


def costs_of_study(study: Study) -> Costs:
    """Return the costs of a study; their means where each example has its own."""
    return costs_of(study.costs, average=study.examples is not None)


@dataclass(frozen=True, eq=False)
class RunSettings(Finding):
    """Settings of a command.

    Attributes
    ----------
    confidence : float
        The confidence level of intervals and tests.
    class_priors : tuple of float, or None
        The frequency of each class in the target population, in the order of `labels`; null for
        the frequencies in the examples.
    unit : str
        The unit of the costs.
    volume : float or None
        The number of decisions per period.
    per : str or None
        The period, such as "year".
    seed : int or None
        The random seed of what is sampled; null where nothing is.
    """

    confidence: float
    class_priors: tuple[float, ...] | None
    unit: str = ""
    volume: float | None = None
    per: str | None = None
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class ReportSettings(RunSettings):
    """Settings of the report.

    Attributes
    ----------
    factor : float
        The largest factor by which each cost may be wrong.
    target : float or None
        How far the upper limit of a cost may be above it; null for a tenth of the cost.
    command : str
        The command that reproduces the report.
    title : str
        The heading of the report; empty for the default heading.
    noun : str
        The noun for the rows.
    """

    factor: float = 2.0
    target: float | None = None
    command: str = ""
    title: str = ""
    noun: str = "examples"


def run_settings_of(
    study: Study,
    unit: str = "",
    *,
    volume: float | None = None,
    per: str | None = None,
    seed: int | None = None,
) -> RunSettings:
    """Return the settings of a command, other than predictions and costs."""
    return RunSettings(study.confidence, _prior_values(study), unit, volume, per, seed)


def report_settings_of(study: Study, settings: Settings) -> ReportSettings:
    """Return the settings of the report, other than predictions and costs."""
    return ReportSettings(
        confidence=study.confidence,
        class_priors=_prior_values(study),
        unit=settings.unit,
        volume=settings.volume,
        per=settings.per,
        factor=settings.factor,
        target=settings.target,
        command=settings.command,
        title=settings.title,
        noun=settings.noun,
    )


def _prior_values(study: Study) -> tuple[float, ...] | None:
    priors = study.class_priors()
    return None if priors is None else tuple(priors.values())


def software() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that computed the findings."""
    packages = ("stakes", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
