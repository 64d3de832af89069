"""stakes curve: which model is cheapest under which conditions."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from stakes._core.text import number, percent, text_table
from stakes.cli import _options as options
from stakes.cli._inputs import check_name, costs_if_given, examples_of, read_study
from stakes.cli._output import Progress
from stakes.curves import Band, CostAt, CostCurve, CostCurveDifference, Verdicts
from stakes.curves._base import Curve
from stakes.errors import InputError
from stakes.study import Study

# What 'stakes curve' finds, says and draws.

NO_COSTS = {"false_positive": 1.0, "false_negative": 1.0}
"""Costs that stand for none, where only the names of two classes are needed."""


@dataclass(frozen=True)
class PairOfCurves:
    """Where two models cross, and where one is cheaper beyond chance; None if that is not known."""

    first: str
    second: str
    crossovers: list[float]
    verdicts: Verdicts | None

    def said(self) -> str:
        """Say who is cheaper where."""
        text = f"{self.first} and {self.second} "
        if self.crossovers:
            text += f"cross at PC(+) = {', '.join(map(number, self.crossovers))}."
        else:
            text += "do not cross."
        if self.verdicts is None:
            return f"{text} Scores cannot be tested against decisions."
        return f"{text} {self.verdicts.summary()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain values."""
        known = None if self.verdicts is None else self.verdicts.to_dict()["ranges"]
        return {
            "first": self.first,
            "second": self.second,
            "crossovers": self.crossovers,
            "significant_ranges": known,
        }


@dataclass(frozen=True)
class Curves:
    """The cost curves of a study, their bands, and how they compare."""

    study: Study
    curves: dict[str, Curve]
    bands: dict[str, Band]
    pairs: list[PairOfCurves]
    condition: dict[str, float] | None
    costs: dict[str, CostAt]

    @classmethod
    def of(
        cls,
        study: Study,
        *,
        prevalence: float | None,
        priced: bool,
        simultaneous: bool,
        progress: Progress,
    ) -> Curves:
        """Find the curves of a study, and what they cost at the condition of its costs."""
        curves = _curves(study)
        progress.expect(len(curves) * (len(curves) + 1) // 2)
        bands = {}
        for name, curve in curves.items():
            progress.step(f"curve of {name}")
            bands[name] = curve.band(study.confidence, simultaneous=simultaneous)
        pairs = []
        for first, second in combinations(curves, 2):
            progress.step(f"{first} and {second}")
            pairs.append(_pair(study, curves[first], curves[second]))
        condition = _condition(study, prevalence) if priced else None
        costs = {}
        if condition is not None:
            costs = {
                name: curve.at(confidence=study.confidence, **condition)
                for name, curve in curves.items()
            }
        return cls(study, curves, bands, pairs, condition, costs)

    def said(self, currency: str) -> Iterator[str]:
        """Say what was found, part by part; a table begins with a bar."""
        study = self.study
        yield (
            f"{examples_of(study)}; {study.pos_label!r} is the positive class. "
            "PC(+) is the share of misses in what being always wrong would cost."
        )
        yield ""
        ranges = {name: curve.operating_range() for name, curve in self.curves.items()}
        rows = [
            [
                name,
                number(curve.area()),
                " and ".join(f"{number(low)} to {number(high)}" for low, high in ranges[name])
                or "nowhere",
            ]
            for name, curve in self.curves.items()
        ]
        yield "|" + text_table(["classifier", "area", "worth using for PC(+)"], rows)
        if self.condition is not None:
            yield ""
            yield from self._costs_said(self.condition, currency)
        for pair in self.pairs:
            yield ""
            yield pair.said()

    def _costs_said(self, condition: dict[str, float], currency: str) -> Iterator[str]:
        answers = list(self.costs.values())
        yield (
            f"At PC(+) = {number(answers[0].pc)}, for a prevalence of "
            f"{number(condition['prevalence'])}, false alarms that cost "
            f"{number(condition['false_positive'])} and misses that cost "
            f"{number(condition['false_negative'])}:"
        )
        yield ""
        unit = f" ({currency})" if currency else ""
        header = [
            "classifier",
            f"cost per decision{unit}",
            f"{percent(self.study.confidence)} interval",
            "threshold",
        ]
        rows = [
            [
                each.name,
                number(each.cost),
                "–" if each.limits is None else " … ".join(map(number, each.limits)),
                "–" if each.threshold is None else f"{each.threshold:.6g}",
            ]
            for each in sorted(answers, key=lambda each: each.cost)
        ]
        every = "negative" if answers[0].pc < 0.5 else "positive"  # noqa: PLR2004 - they cross
        rows.append([f"all {every}", number(answers[0].trivial), "–", "–"])
        yield "|" + text_table(header, rows)

    def rows(self) -> tuple[list[str], Iterator[list[Any]]]:
        """Return the bands as a table: its header, and its rows."""
        return ["classifier", "pc", "cost", "low", "high", "threshold"], self._rows()

    def _rows(self) -> Iterator[list[Any]]:
        for name, band in self.bands.items():
            curve = self.curves[name]
            cuts = curve.threshold(band.pc).tolist() if isinstance(curve, CostCurve) else None
            columns = zip(*(each.tolist() for each in _columns(band)), strict=True)
            for place, row in enumerate(columns):
                yield [name, *row, "" if cuts is None else cuts[place]]

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain values."""
        study = self.study
        return {
            "source": study.source,
            "n": study.n,
            "confidence": study.confidence,
            "pos_label": study.pos_label,
            "condition": self.condition,
            "curves": [
                {
                    **curve.to_dict(),
                    "band": self.bands[name].to_dict(),
                    "at_condition": self.costs[name].to_dict() if self.costs else None,
                }
                for name, curve in self.curves.items()
            ],
            "pairs": [pair.to_dict() for pair in self.pairs],
        }


def drawn(found: Curves, kind: str) -> bytes:
    """Draw the curves with their bands, the same bytes each time."""
    from stakes.show import CostCurveDisplay
    from stakes.show._matplotlib import pyplot

    pyplot()  # says how to get matplotlib, where it is missing
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    nothing = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with mpl.rc_context({"svg.hashsalt": "stakes", "font.family": "DejaVu Sans"}):
        figure = Figure(layout="constrained", figsize=(7.5, 5.0), dpi=150)
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for name, curve in found.curves.items():
            CostCurveDisplay(curve, found.bands[name]).plot(axes)
        if found.costs:
            pc = next(iter(found.costs.values())).pc
            axes.axvline(pc, color="0.4", linewidth=0.8, linestyle=":")
        picture = io.BytesIO()
        figure.savefig(picture, format=kind, metadata=nothing[kind])
    return picture.getvalue()


def _curves(study: Study) -> dict[str, Curve]:
    if study.pos_label is None:
        raise InputError(
            "--costs: cost curves are for two classes that are the decisions too; the costs have "
            f"{len(study.costs.labels)} classes and {len(study.costs.decisions)} decisions."
        )
    if not study.both_classes:
        raise one_class(study)
    found: dict[str, Curve] = {**study.curves(), **study.lines()}
    names = [model.name for model in study.roles.models]
    return dict(sorted(found.items(), key=lambda item: names.index(item[0])))


def one_class(study: Study) -> InputError:
    """Say that all examples are of one class."""
    counts = dict(zip(study.joint.labels, study.joint.class_counts().tolist(), strict=True))
    only = next(label for label, size in counts.items() if size)
    return InputError(
        f"{study.source}, column {study.roles.actual!r}: all {study.n:,} examples are of the class "
        f"{only!r}; two classes are needed."
    )


def _condition(study: Study, prevalence: float | None) -> dict[str, float]:
    if prevalence is None:
        counts = study.joint.class_counts()
        prevalence = float(counts[study.costs.labels.index(study.pos_label)] / counts.sum())
    mistakes = study.costs.mistake_costs(pos_label=study.pos_label)
    if min(mistakes.values()) < 0:
        raise InputError(
            "--costs: a cost curve is for mistakes that cost at least as much as being right; here "
            f"a false alarm costs {number(mistakes['false_positive'])} more, and a miss "
            f"{number(mistakes['false_negative'])}."
        )
    return {"prevalence": prevalence, **mistakes}


def _pair(study: Study, first: Curve, second: Curve) -> PairOfCurves:
    names = (first.name, second.name)
    scored = [name in study.scores for name in names]
    verdicts = None
    if all(scored):
        difference = study.curve_difference(*names)
        verdicts = difference.significant_ranges(study.confidence)
    elif not any(scored):
        counts = study.joint.pair(*names)
        difference = CostCurveDifference(counts, names, study.pos_label)
        verdicts = difference.significant_ranges(study.confidence)
    return PairOfCurves(*names, first.crossovers(second), verdicts)


def _columns(band: Band) -> tuple[Any, Any, Any, Any]:
    return band.pc, band.cost, band.low, band.high


EXAMPLES = (
    "stakes curve predictions.csv --costs costs.csv",
    "stakes curve predictions.csv --fp 1 --fn 50 --pos-label fraud",
    "stakes curve predictions.csv -c costs.csv --prevalence 0.01",
    "stakes curve predictions.csv -c costs.csv --out curve.svg --csv curve.csv",
)
SCHEMA = "stakes-curve/1"
PICTURES = (".png", ".svg", ".pdf")

Prevalence = Annotated[
    float | None,
    typer.Option(
        "--prevalence",
        metavar="SHARE",
        help="The share of positives in use; by default that of the examples.",
    ),
]
Simultaneous = Annotated[
    bool, typer.Option("--simultaneous", help="Have bands hold at all conditions at once.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Draw the curves: .png, .svg or .pdf."),
]
Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write the curves and bands as a table."),
]


def curve(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    prevalence: Prevalence = None,
    confidence: options.Confidence = 0.95,
    simultaneous: Simultaneous = False,
    currency: options.Currency = "",
    out: Out = None,
    csv: Csv = None,
    json: options.Json = None,
) -> None:
    """Say which model is cheapest under which prevalence and costs."""
    from stakes.cli._output import Progress, csv_text
    from stakes.cli.curve import NO_COSTS, Curves, drawn

    output = context.obj
    check_name(out, PICTURES)
    output.will_write(out, csv, json, inputs=[*predictions, prices.costs])
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
    )
    with Progress(shown=not output.quiet) as progress:
        found = Curves.of(
            study,
            prevalence=prevalence,
            priced=costs is not None,
            simultaneous=simultaneous,
            progress=progress,
        )
    for part in found.said(currency):
        if part.startswith("|"):
            output.table(part[1:])
        else:
            output.text(part)
    if out is not None:
        output.write_binary(out, drawn(found, out.suffix.lower()[1:]))
    if csv is not None:
        output.write_text(csv, csv_text(*found.rows()))
    output.results({"schema": SCHEMA, **found.to_dict()})
