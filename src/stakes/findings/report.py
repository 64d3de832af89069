"""All findings of the report and its JSON file, computed in one place.

A new section of the report takes five files:

1. its findings, `findings/NAME.py`: a frozen dataclass with its attributes documented (the
   reference of the JSON file is made of that), and a function ``NAME_of(study, settings)``;
2. here: its attribute of `Findings`, and the call in `findings`;
3. its text and tables, `show/report/parts/NAME.html.j2`;
4. its line in ``SECTIONS`` of `show/report/_sections.py`, and its charts there, if it has any;
5. its test, `tests/findings/test_NAME.py`.

`python tools/json_reference.py` then writes the reference anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from stakes._core.labels import Labels
from stakes.counts import JointConfusion
from stakes.errors import NotClaimedWarning
from stakes.findings.calibration import (
    Calibration,
    ScoreDistribution,
    calibration_of,
    distributions_of,
)
from stakes.findings.curves import Curves, Decision, curves_of, decisions_of, uncompared
from stakes.findings.data import (
    Costs,
    Data,
    Finding,
    ReportSettings,
    Settings,
    costs_of_study,
    data_of,
    report_settings_of,
    software,
)
from stakes.findings.models import Constant, Model, constants_of, models_of
from stakes.findings.policies import (
    PolicyResult,
    moved_found,
    other_models,
    policies_found,
)
from stakes.findings.sample_size import SampleSize, sample_sizes_of
from stakes.findings.sensitivity import (
    OtherCosts,
    Sensitivity,
    other_costs_of,
    repriced,
    sensitivity_of,
    too_many_costs,
)
from stakes.findings.slices import Divided, PeriodFound, SliceFound, divided_of
from stakes.infer.family import Pair
from stakes.policies.verdict import Verdict
from stakes.study import Study

SCHEMA = "stakes-report/3"
"""The name and version of the layout; the version rises when a key changes its meaning."""


@dataclass(frozen=True, eq=False)
class Joint(Finding):
    """Counts behind all findings: a row for each combination that was observed.

    Attributes
    ----------
    names : tuple of str
        The policies that compete.
    decided : ndarray
        The decision of each policy, as positions among the decisions, on all rows.
    actual : ndarray
        The actual class, as a position among the labels.
    counts : ndarray
        The number of times that the combination occurred.
    labels, decisions : tuple of labels
        The classes, and the possible decisions.
    """

    names: tuple[str, ...]
    decided: NDArray[Any]
    actual: NDArray[Any]
    counts: NDArray[Any]
    labels: Labels
    decisions: Labels


def _joint_of(joint: JointConfusion) -> Joint:
    if joint.parts is not None:  # pooled, because there may be very many
        joint = JointConfusion.from_codes(
            joint.actual,
            dict(zip(joint.names, joint.decided.T, strict=True)),
            labels=joint.labels,
            decisions=joint.decisions,
            amounts=joint.counts,
        )
    return Joint(
        tuple(map(str, joint.names)),
        joint.decided,
        joint.actual,
        joint.counts,
        joint.labels,
        joint.decisions,
    )


def _left_out(study: Study, curves: Curves | None) -> tuple[str, ...]:
    """State what is left out for these examples, and why."""
    found = [each for each in (other_models(study), uncompared(curves)) if each]
    if too_many_costs(study):
        found.append(
            f"What if the costs are wrong is left out: there are {study.costs.values.size:,} costs."
        )
    if study.examples is not None:
        found.append("Other costs are left out: each example has its own.")
        if study.scores:
            found.append(
                "Cost curves are left out: they are for costs that depend on the class alone."
            )
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Findings(Finding):
    """All findings of a study.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    data : Data
        The examples.
    costs : Costs
        The cost matrix.
    settings : ReportSettings
        The settings, other than predictions and costs.
    verdict : Verdict
        The policy to use, and the evidence for it.
    policies : tuple of PolicyResult
        The cost of each policy, the cheapest first.
    models : tuple of Model
        The cost of each model at its cheapest policy, the cheapest first.
    constants : tuple of Constant
        The cost of each constant prediction, the cheapest first.
    pairs : tuple of Pair
        The cheapest policy against each of the others that compete.
    moved : tuple of Pair
        Each threshold against the same model's decisions as they stand: what moving the threshold
        saves. Each is compared alone, unless it is one of the pairs.
    joint : Joint
        The counts behind all findings.
    other_costs : OtherCosts or None
        The decisions of the policies at other costs; null where the page does not recompute.
    curves : Curves or None
        Cost curves and thresholds; null where no model has scores, and where examples have costs of
        their own.
    sensitivity : Sensitivity or None
        How the verdict depends on the costs; null where examples have costs of their own.
    sample_size : tuple of SampleSize
        Each policy's interval at other sizes of the test set.
    decision : tuple of Decision
        Decision curves, for each model whose scores can be probabilities.
    slices : tuple of SliceFound
        The cost of the recommended policy in each slice, where columns to slice by were named; the
        most expensive first.
    periods : tuple of PeriodFound
        The cost of the recommended policy in each period, where a column of times was named.
    divided_notes : tuple of str
        How slices and periods were decided and times were read, in sentences.
    calibration : tuple of Calibration
        The calibration of each model whose scores can be probabilities.
    score_distributions : tuple of ScoreDistribution
        The distribution of scores in both classes, and the results of flagging the highest.
    left_out : tuple of str
        The sections that are left out, and why, in sentences.
    software : mapping of str
        The versions of Python, stakes and the packages it computes with.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> study = study_of(
    ...     [0] * 80 + [1] * 20,
    ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
    >>> from stakes.findings import findings
    >>> found = findings(study)
    >>> found.verdict.use, found.verdict.ties, found.pairs[-1].shown
    ('eager', (), True)
    >>> found.to_dict()["verdict"]["use"]
    'eager'
    """

    schema: str
    data: Data
    costs: Costs
    settings: ReportSettings
    verdict: Verdict
    policies: tuple[PolicyResult, ...]
    models: tuple[Model, ...]
    constants: tuple[Constant, ...]
    pairs: tuple[Pair, ...]
    moved: tuple[Pair, ...]
    joint: Joint
    other_costs: OtherCosts | None
    curves: Curves | None
    sensitivity: Sensitivity | None
    sample_size: tuple[SampleSize, ...]
    decision: tuple[Decision, ...]
    slices: tuple[SliceFound, ...]
    periods: tuple[PeriodFound, ...]
    divided_notes: tuple[str, ...]
    calibration: tuple[Calibration, ...]
    score_distributions: tuple[ScoreDistribution, ...]
    left_out: tuple[str, ...]
    software: Mapping[str, str]


class _OfModel(Protocol):
    @property
    def name(self) -> str: ...


_Named = TypeVar("_Named", bound=_OfModel)


def _in_order(models: tuple[Model, ...], found: tuple[_Named, ...]) -> tuple[_Named, ...]:
    """Return findings of models in the order of `models`, which all sections share."""
    places = {model.name: place for place, model in enumerate(models)}
    return tuple(sorted(found, key=lambda each: places[each.name]))


def findings(
    study: Study, settings: Settings | None = None, divided: Divided | None = None
) -> Findings:
    """Return all findings of a study.

    Parameters
    ----------
    study : Study
        The counts and costs.
    settings : Settings, optional
        The settings, other than predictions and costs.
    divided : Divided, optional
        The rows, and the columns to slice by.

    Returns
    -------
    Findings
        The content of a report; ``to_dict()`` has the layout `SCHEMA` that the reference describes.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> study = study_of(
    ...     [0] * 80 + [1] * 20,
    ...     {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}, costs)
    >>> from stakes.findings import findings
    >>> found = findings(study)
    >>> found.schema, found.data.n
    ('stakes-report/3', 100)
    >>> [(each.name, each.cost) for each in found.models]
    [('eager', 0.3), ('shy', 1.0)]
    """
    chosen = settings or Settings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotClaimedWarning)  # the verdict states it
        policies = study.policies
        parts = divided_of(study, divided, chosen.unit)
        models = models_of(study, chosen.unit, chosen.volume)
        curves, again = curves_of(study), repriced(study)
        return Findings(
            schema=SCHEMA,
            data=data_of(study, chosen.noun),
            costs=costs_of_study(study),
            settings=report_settings_of(study, chosen),
            verdict=study.verdict(
                unit=chosen.unit,
                volume=chosen.volume,
                per=chosen.per,
                noun=chosen.noun,
            ),
            policies=policies_found(study, chosen.volume),
            models=models,
            constants=constants_of(study),
            pairs=study.policies.pairs,
            moved=moved_found(study),
            joint=_joint_of(policies.table(policies.competitors, deployed=True)),
            other_costs=other_costs_of(study, again),
            curves=curves,
            sensitivity=sensitivity_of(study, chosen, again),
            sample_size=sample_sizes_of(study, chosen),
            decision=_in_order(models, decisions_of(study)),
            slices=parts.slices,
            periods=parts.periods,
            divided_notes=parts.notes,
            calibration=_in_order(models, calibration_of(study)),
            score_distributions=_in_order(models, distributions_of(study)),
            left_out=_left_out(study, curves),
            software=software(),
        )
