"""stakes curve: cost curves, which show the cheapest model at each condition; decision curves."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import (
    check_name,
    check_scores,
    costs_if_given,
    examples_of,
    read_study,
    sampling_note,
    show_caution,
)
from stakes.cli._output import Output, Progress
from stakes.errors import InputError

if TYPE_CHECKING:
    from stakes.curves._base import Curve
    from stakes.curves.condition import CostAt
    from stakes.curves.decision_curve import DecisionCurve
    from stakes.findings.curves import Condition, CurveAtCondition, CurvePair, Decision
    from stakes.findings.data import Costs, Data, RunSettings
    from stakes.study import Study

TWO = 2
EXAMPLES = (
    "stakes curve predictions.csv --costs costs.csv",
    "stakes curve predictions.csv --fp 1 --fn 50 --pos-label fraud",
    "stakes curve predictions.csv -c costs.csv --prevalence 0.01",
    "stakes curve predictions.csv -c costs.csv --out curve.svg --csv curve.csv",
    "stakes curve predictions.csv --decision --pos-label fraud",
)
SCHEMA = "stakes-curve/3"
NO_COSTS = {"false_positive": 1.0, "false_negative": 1.0}
"""Placeholder for missing costs, where only the names of two classes are needed."""
PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class CurvesFound:
    """Cost curves, and how they compare.

    Attributes
    ----------
    condition : Condition or None
        The operating condition of the costs and prevalence; null where no costs were given.
    models : tuple of CurveAtCondition
        The curve of each model.
    pairs : tuple of CurvePair
        The comparison of each pair; of more than six models, those of the cheapest ones with the
        cheapest and with the first.
    left_out : tuple of str
        Which pairs are not there, and why, in sentences.
    """

    condition: Condition | None
    models: tuple[CurveAtCondition, ...]
    pairs: tuple[CurvePair, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class CurveDocument:
    """Findings of `stakes curve`.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    data : Data
        The examples.
    costs : Costs or None
        The cost matrix; null where none was given.
    settings : RunSettings
        Settings of the command.
    curves : CurvesFound or None
        The cost curves; null where decision curves were asked for.
    decision : tuple of Decision
        The decision curves, where they were asked for.
    """

    schema: str
    data: Data
    costs: Costs | None
    settings: RunSettings
    curves: CurvesFound | None
    decision: tuple[Decision, ...] = ()


Prevalence = Annotated[
    float | None,
    typer.Option(
        "--prevalence",
        metavar="SHARE",
        help="Prevalence in production. Default: that of the examples.",
    ),
]
Simultaneous = Annotated[
    bool,
    typer.Option(
        "--simultaneous", help="Bands that hold for the whole curve at once, not point by point."
    ),
]
DecisionCurves = Annotated[
    bool,
    typer.Option("--decision", help="Decision curves: net benefit by threshold probability."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write a picture of the curves: .png, .svg or .pdf."
    ),
    options.FileUse.WRITTEN,
]
Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write the curves and bands as CSV."),
    options.FileUse.WRITTEN,
]


def curve(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    prevalence: Prevalence = None,
    confidence: options.Confidence = 0.95,
    simultaneous: Simultaneous = False,
    decision: DecisionCurves = False,
    unit: options.Unit = "",
    out: Out = None,
    csv: Csv = None,
    json: options.Json = None,
) -> None:
    """Show which model is cheapest at each prevalence and cost ratio."""
    from stakes._core.text import csv_text
    from stakes.findings.data import costs_of, data_of, run_settings_of

    output = context.obj
    check_name(out, PICTURES)
    output.only_json(json)
    costs = costs_if_given(prices)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        costs=costs or NO_COSTS,
        confidence=confidence,
        undecided=True,
        sampling=sampling,
    )
    check_scores(study)
    data = data_of(study)
    stated: dict[str, Any] = {
        "schema": SCHEMA,
        "data": data,
        "costs": None if costs is None else costs_of(study.costs),
        "settings": run_settings_of(study, unit),
    }
    if decision:
        chosen = _decision_curves(study, prevalence)
        _show_decision(output, study, chosen, data, simultaneous=simultaneous)
        decisions = _write_decision(output, study, chosen, out, csv, simultaneous=simultaneous)
        output.results(CurveDocument(**stated, curves=None, decision=decisions))
        return
    curves = _curves(study, ranked=costs is not None)
    condition = None if costs is None else _condition(study, prevalence)
    priced = {} if condition is None else _costs(study, curves, condition, prevalence)
    with Progress(shown=not output.quiet) as progress:
        found = _found(study, curves, condition, priced, progress, simultaneous=simultaneous)
    _show(output, study, found, unit, data)
    if out is not None:
        output.write_binary(out, drawn(curves, found, out.suffix.lower()[1:]))
    if csv is not None:
        output.write_text(csv, csv_text(*_rows(curves, found)))
    output.results(CurveDocument(**stated, curves=found))


def _found(
    study: Study,
    curves: Mapping[str, Curve],
    condition: Condition | None,
    costs: Mapping[str, CostAt],
    progress: Progress,
    *,
    simultaneous: bool,
) -> CurvesFound:
    """Compute the bands of the curves, and the pairs."""
    from stakes.findings.curves import compared_pairs, curve_at, curve_pair
    from stakes.findings.policies import MOST_MODELS

    progress.expect(len(curves))
    models, pairs = [], []
    for name, curve in curves.items():
        progress.step(f"curve of {name}")
        band = curve.band(study.confidence, simultaneous=simultaneous)
        models.append(curve_at(curve, band, costs.get(name)))
    ranked = sorted(models, key=_rank)[:MOST_MODELS]
    first_in_file = next((m.name for m in study.roles.models if m.name in curves), None)
    chosen = compared_pairs([*curves], [each.name for each in ranked], first_in_file)
    progress.expect(len(chosen))
    for first, second in chosen:
        progress.step(f"{first} and {second}")
        pairs.append(curve_pair(study, curves[first], curves[second]))
    return CurvesFound(condition, tuple(models), tuple(pairs), _left_out(models))


def _left_out(models: Sequence[CurveAtCondition]) -> tuple[str, ...]:
    """Return a sentence on which pairs of many models are compared; none if all are."""
    from stakes.findings.curves import ALL_PAIRS, MOST_PAIRED
    from stakes.findings.policies import MOST_MODELS

    if len(models) <= MOST_PAIRED:
        return ()
    where = "over all conditions" if models[0].at_condition is None else "at this condition"
    sentence = (
        f"Of {len(models):,} models only the {min(MOST_MODELS, len(models))} with the lowest cost "
        f"{where} are compared: with the cheapest one, and with the first. {ALL_PAIRS}"
    )
    return (sentence,)


AS_JUDGED = (
    "These costs are those of `stakes evaluate`: at chosen thresholds, and corrected for the "
    "choice. The curves are of the best threshold at each condition in hindsight, and lower."
)

AT = (0.05, 0.1, 0.2, 0.3, 0.5)
"""The threshold probabilities whose net benefit is printed."""


def _decision_curves(study: Study, prevalence: float | None) -> list[DecisionCurve]:
    from stakes.findings.curves import decision_curves

    if not study.both_classes:
        raise one_class(study)
    found = decision_curves(study, prevalence)
    if not found:
        raise InputError(
            "predictions",
            "decision curves need scores that are probabilities, from 0 to 1, of two classes.",
        )
    return found


def _show_decision(
    output: Output, study: Study, curves: list[DecisionCurve], data: Data, *, simultaneous: bool
) -> None:
    from stakes._core.text import number, percent, text_table

    output.text(
        f"{examples_of(study)}; {study.pos_label!r} is the positive class.{sampling_note(data)} "
        "Net benefit: true positives per decision, minus false positives weighted by the odds of "
        "the threshold probability."
    )
    output.text()
    sure = percent(study.confidence)
    rows = []
    for curve in curves:
        band = curve.band(AT, confidence=study.confidence, simultaneous=simultaneous)
        every = curve.treat_all(AT)
        for place, at in enumerate(AT):
            numbers = (each[place] for each in (band.net_benefit, band.low, band.high, every))
            rows.append([curve.name, number(at), *(f"{each:.4f}" for each in numbers)])
    header = ["model", "threshold", "net benefit", f"{sure} CI from", "to", "treat all"]
    output.table(text_table(header, rows))
    for curve in curves:
        output.text()
        output.text(curve.shown_better(curve.band(confidence=study.confidence, simultaneous=True)))
    show_caution(output, data)


def _write_decision(
    output: Output,
    study: Study,
    curves: list[DecisionCurve],
    out: Path | None,
    csv: Path | None,
    *,
    simultaneous: bool,
) -> tuple[Decision, ...]:
    """Write the picture and the table of decision curves, and return the curves as findings."""
    from stakes._core.text import csv_text
    from stakes.findings.curves import decision_of

    if out is not None:
        output.write_binary(out, _decision_picture(curves, study, out, simultaneous))
    found = tuple(decision_of(each, study.confidence) for each in curves)
    if csv is not None:
        output.write_text(csv, csv_text(*_decision_rows(found)))
    return found


def _decision_rows(found: tuple[Decision, ...]) -> tuple[list[str], Iterator[list[object]]]:
    names = ["threshold", "net_benefit", "low", "high", "simultaneous_low", "simultaneous_high"]
    names += ["treat_all", "interventions_avoided"]
    rows = (
        [each.name, *row]
        for each in found
        for row in zip(*(getattr(each, name).tolist() for name in names), strict=True)
    )
    return ["model", *names], rows


def _decision_picture(
    curves: list[DecisionCurve], study: Study, out: Path, simultaneous: bool
) -> bytes:
    from stakes.show.cost_curve import DecisionCurveDisplay

    def draw(axes: Any) -> None:
        for curve in curves:
            DecisionCurveDisplay.from_curve(
                curve, confidence=study.confidence, simultaneous=simultaneous, ax=axes
            )

    return picture_of(draw, out.suffix.lower()[1:])


def _rank(model: CurveAtCondition) -> tuple[bool, float]:
    """Return by what models are ranked: the cost at the condition, or over all conditions."""
    at = model.at_condition
    return (True, model.area) if at is None else (False, float(at.cost))


def _costs(
    study: Study, curves: Mapping[str, Curve], condition: Condition, prevalence: float | None
) -> dict[str, CostAt]:
    """Return what models cost at a condition; nothing where none can be judged."""
    from stakes.findings.curves import costs_at

    if prevalence is not None:
        shares = {study.pos_label: prevalence}
        priors = {label: shares.get(label, 1 - prevalence) for label in study.joint.labels}
        study = replace(study, design=replace(study.design, class_priors=priors))
    with suppress(InputError):
        return costs_at(study, curves, condition)
    return {}


def _show(output: Output, study: Study, found: CurvesFound, unit: str, data: Data) -> None:
    from stakes._core.text import number
    from stakes.show.text import condition_table, range_table

    output.text(
        f"{examples_of(study)}; {study.pos_label!r} is the positive class.{sampling_note(data)} "
        "PC(+) is the share of misses in what being always wrong would cost."
    )
    output.text()
    output.table(range_table(found.models))
    costs = [each.at_condition for each in found.models if each.at_condition is not None]
    if found.condition is not None and costs:
        output.text()
        output.text(
            f"At PC(+) = {number(costs[0].pc)}, for a prevalence of "
            f"{number(found.condition.prevalence)}, false alarms that cost "
            f"{number(found.condition.false_positive)} and misses that cost "
            f"{number(found.condition.false_negative)}:"
        )
        output.text()
        output.table(condition_table(costs, unit, study.confidence))
        if any(each.threshold is not None for each in costs):
            output.text()
            output.text(AS_JUDGED)
    for pair in found.pairs:
        crossed = ", ".join(map(number, pair.crossovers))
        where = f"cross at PC(+) = {crossed}." if crossed else "do not cross."
        output.text()
        output.text(f"{pair.first} and {pair.second} {where} {pair.summary}")
    for sentence in found.left_out:
        output.text()
        output.text(sentence)
    show_caution(output, data)


def _rows(
    curves: Mapping[str, Curve], found: CurvesFound
) -> tuple[list[str], Iterator[list[object]]]:
    """Return the bands as a table: its header, and its rows."""
    return ["model", "pc", "cost", "low", "high", "threshold"], _band_rows(curves, found)


def _band_rows(curves: Mapping[str, Curve], found: CurvesFound) -> Iterator[list[object]]:
    from stakes.curves.curve import CostCurve

    for model in found.models:
        band, curve = model.band, curves[model.name]
        cuts = curve.threshold(band.pc).tolist() if isinstance(curve, CostCurve) else None
        columns = (each.tolist() for each in (band.pc, band.cost, band.low, band.high))
        for place, row in enumerate(zip(*columns, strict=True)):
            yield [model.name, *row, "" if cuts is None else cuts[place]]


def drawn(curves: Mapping[str, Curve], found: CurvesFound, kind: str) -> bytes:
    """Draw the curves with their bands, the same bytes each time."""
    from stakes.show.cost_curve import CostCurveDisplay

    def draw(axes: Any) -> None:
        for model in found.models:
            CostCurveDisplay(curves[model.name], model.band).plot(axes)
        if found.condition is not None:
            axes.axvline(found.condition.pc, color="0.4", linewidth=0.8, linestyle=":")

    return picture_of(draw, kind)


def picture_of(draw: Callable[[Any], None], kind: str) -> bytes:
    """Return the picture that a function draws on axes, the same bytes each time."""
    from stakes.show._drawing import pyplot

    pyplot()  # without matplotlib, the error states how to install it
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    nothing = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with mpl.rc_context({"svg.hashsalt": "stakes", "font.family": "DejaVu Sans"}):
        figure = Figure(layout="constrained", figsize=(7.5, 5.0), dpi=150)
        FigureCanvasAgg(figure)
        draw(figure.add_subplot())
        picture = io.BytesIO()
        figure.savefig(picture, format=kind, metadata=nothing[kind])
    return picture.getvalue()


def _curves(study: Study, *, ranked: bool) -> dict[str, Curve]:
    """Return the curves in the order of the report, or of the file if there are no costs."""
    from stakes.findings.models import best_policies

    if study.pos_label is None or len(study.costs.decisions) != TWO:
        raise InputError(
            "costs",
            "cost curves need two classes that are also the decisions; the costs have "
            f"{len(study.costs.labels)} classes and {len(study.costs.decisions)} decisions.",
        )
    if not study.both_classes:
        raise one_class(study)
    found: dict[str, Curve] = {**study.curves(), **study.lines()}
    names = [model.name for model in study.roles.models]
    with suppress(InputError):  # models that cannot be judged still have curves
        names = [*dict.fromkeys([*(best_policies(study) if ranked else ()), *names])]
    return dict(sorted(found.items(), key=lambda item: names.index(item[0])))


def one_class(study: Study) -> InputError:
    """Return the error for examples that are all of one class."""
    counts = dict(zip(study.joint.labels, study.joint.class_counts().tolist(), strict=True))
    only = next(label for label, size in counts.items() if size)
    which = " whose weight is not zero" if study.joint.weighted else ""
    every = "" if study.joint.weighted else f"{study.n:,} "
    return InputError(
        f"{study.source}, column {study.roles.actual!r}",
        f"all {every}examples{which} are of the class {only!r}; two classes are needed.",
    )


def _condition(study: Study, prevalence: float | None) -> Condition:
    from stakes._core.text import number
    from stakes.curves.condition import operating_condition
    from stakes.findings.curves import Condition

    if prevalence is None:
        prevalence = study.prevalence()
    mistakes = study.costs.mistake_costs(pos_label=study.pos_label)
    if min(mistakes.values()) < 0:
        raise InputError(
            "costs",
            "a cost curve is for mistakes that cost at least as much as being right; here a "
            f"false alarm costs {number(mistakes['false_positive'])} more, and a miss "
            f"{number(mistakes['false_negative'])}.",
        )
    pc = operating_condition(prevalence=prevalence, **mistakes)
    return Condition(pc, prevalence, **mistakes)
