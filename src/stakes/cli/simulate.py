"""stakes simulate: the performance of intervals and tests on data like the user's."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import read_study
from stakes.cli._options import QuickGroup, add
from stakes.errors import InputError

if TYPE_CHECKING:
    from stakes.findings.data import Costs, Data
    from stakes.simulate import Coverage, PowerCurve, TypeOneError
    from stakes.simulate._measurements import Extreme
    from stakes.study import Study

EXAMPLES = {
    "coverage": (
        "stakes simulate coverage predictions.csv --costs costs.csv",
        "stakes simulate coverage predictions.csv -c costs.csv --groups patient",
        "stakes simulate coverage predictions.csv -c costs.csv --n 200 --n 1000",
        "stakes simulate coverage predictions.csv -c costs.csv -m tree --smooth 0.1",
    ),
    "type_one": (
        "stakes simulate type-one predictions.csv -c costs.csv --smooth 0.1",
        "stakes simulate type-one predictions.csv -c costs.csv -m old -m tree",
    ),
    "power": (
        "stakes simulate power predictions.csv --costs costs.csv",
        "stakes simulate power predictions.csv -c costs.csv --n 500 --difference 2",
    ),
}
SCHEMA = "stakes-simulate/1"
INTERVALS = ("extremal", "bcost", "normal")
TESTS = ("extremal", "bdeltacost", "normal")
GROWTH = (1, 2, 4)
"""Sizes at which power is shown by default, as multiples of the number of examples."""


@dataclass(frozen=True)
class Measured:
    """Measurement for a policy, or for a pair.

    Attributes
    ----------
    models : tuple of str
        The policy of a model, or the two that were compared.
    result : Coverage, TypeOneError or PowerCurve
        The measurement, by one method.
    """

    models: tuple[str, ...]
    result: Coverage | TypeOneError | PowerCurve


@dataclass(frozen=True)
class SimulationSettings:
    """Settings of the command.

    Attributes
    ----------
    confidence : float
        The confidence level of intervals and tests.
    seed : int
        The random seed.
    """

    confidence: float
    seed: int


@dataclass(frozen=True)
class Simulation:
    """Findings of `stakes simulate`.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    data : Data
        The examples; their counts, with `smooth` added to each, are taken as the truth.
    costs : Costs
        The cost matrix.
    settings : SimulationSettings
        Settings of the command.
    smooth : float
        The number added to each count, as given.
    simulated : str
        The quantity measured: "coverage", "type-one" or "power".
    results : tuple of Measured
        The measurement for each model's cheapest policy and the baseline, or for each pair, by
        each method.
    """

    schema: str
    data: Data
    costs: Costs
    settings: SimulationSettings
    smooth: float
    simulated: str
    results: tuple[Measured, ...]


Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Interval method, as in stakes evaluate; repeatable. Default: extremal, bcost and "
        "normal.",
    ),
]
Tests = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Test: extremal, bdeltacost, exact, normal, signflip or mcnemar; repeatable. "
        "Default: extremal, bdeltacost, normal.",
    ),
]
Sizes = Annotated[
    list[int] | None,
    typer.Option(
        "--n",
        metavar="N",
        help="Size of the simulated test sets; repeatable. Default: that of the file.",
    ),
]
GrowingSizes = Annotated[
    list[int] | None,
    typer.Option(
        "--n",
        metavar="N",
        help="Size of the simulated test sets; repeatable. Default: 1, 2 and 4 times that of the "
        "file.",
    ),
]
Repeats = Annotated[
    int,
    typer.Option("--repeats", metavar="N", help="Number of simulated test sets."),
]
Smooth = Annotated[
    float,
    typer.Option(
        "--smooth",
        metavar="COUNT",
        help="Added to each count, such as 0.1, so that outcomes not observed can occur.",
    ),
]
Null = Annotated[
    str,
    typer.Option(
        "--null",
        metavar="HOW",
        help="How two models are made to cost the same: tilted or exchanged.",
    ),
]
Differences = Annotated[
    list[float] | None,
    typer.Option(
        "--difference",
        metavar="COST",
        help="True difference in cost per decision; repeatable. Default: that of the file.",
    ),
]


@dataclass(frozen=True)
class SimulationOptions:
    """Options for the simulation of test sets and for its results."""

    smooth: Smooth = 0.0
    class_priors: options.ClassPriors = None
    confidence: options.Confidence = 0.95
    seed: options.Seed = 0
    json: options.Json = None


def coverage(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    method: Methods = None,
    n: Sizes = None,
    repeats: Repeats = 2000,
    simulation: SimulationOptions,
) -> None:
    """Measure how often confidence intervals contain the true cost."""
    from stakes._core.text import number
    from stakes.simulate import coverage as measure

    output = context.obj
    study = _read(output, predictions, prices, columns, simulation, sampling=sampling)
    found = [
        (name, each)
        for name, size in _steps(output, study.policies.of_models, _once(n or [None]))
        for each in _simulate(
            measure,
            study,
            study.policies.table((name,)).single(name),
            method or INTERVALS,
            n=size,
            repeats=repeats,
            confidence=simulation.confidence,
            smooth=simulation.smooth,
            rng=simulation.seed,
        )
    ]
    _show(
        output,
        f"Coverage of {_percent(simulation.confidence)} confidence intervals "
        f"{_simulated(study, repeats, simulation.smooth)}",
        ["model", "method", "n", "coverage", "SE", "below", "above", "mean width"],
        [
            [
                name,
                each.method,
                f"{each.n:,}",
                *_measured(each.coverage, each.standard_error),
                f"{100 * each.below:.1f}%",
                f"{100 * each.above:.1f}%",
                number(each.width),
            ]
            for name, each in found
        ],
    )
    output.text(
        "below, above: the interval lies entirely below, or above, the true cost. mean width: of "
        "the intervals, in the unit of the costs."
    )
    output.text()
    for name, each in _first_of_each(found):
        output.text(_truth_in_words(name, each))
    measured = [Measured((name,), each) for name, each in found]
    _write(output, study, simulation, "coverage", measured)


def type_one(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    method: Tests = None,
    null: Null = "tilted",
    n: Sizes = None,
    repeats: Repeats = 2000,
    simulation: SimulationOptions,
) -> None:
    """Measure how often tests show a difference where there is none."""
    from stakes.simulate import type_one_error

    output = context.obj
    study = _read(output, predictions, prices, columns, simulation, sampling=sampling)
    found = [
        (pair, each)
        for pair, size in _steps(output, _pairs(study), _once(n or [None]))
        for each in _of_pair(
            type_one_error,
            study,
            pair,
            method or TESTS,
            n=size,
            null=null,
            repeats=repeats,
            confidence=simulation.confidence,
            smooth=simulation.smooth,
            rng=simulation.seed,
        )
    ]
    nominal = f"{100 * (1 - simulation.confidence):.3g}%"
    _show(
        output,
        f"Type-I error of tests at the {nominal} level: how often they find a difference though "
        f"both models are made to cost the same ({null}), "
        f"{_simulated(study, repeats, simulation.smooth)}",
        ["pair", "test", "n", "type-I error", "SE"],
        [
            [_named(pair), each.method, f"{each.n:,}", *_measured(each.size, each.standard_error)]
            for pair, each in found
        ],
    )
    for pair, each in _first_of_each(found):
        output.text(
            f"{_named(pair)}: the largest difference in cost is {_outcome(each.largest)} in a test "
            f"set of {each.n:,}; the smallest is {_outcome(each.smallest)}."
        )
    measured = [Measured(pair, each) for pair, each in found]
    _write(output, study, simulation, "type-one", measured)


def power(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    method: Tests = None,
    n: GrowingSizes = None,
    difference: Differences = None,
    repeats: Repeats = 500,
    simulation: SimulationOptions,
) -> None:
    """Measure how often tests show the difference between two models."""
    from stakes._core.text import number
    from stakes.simulate import power_curve

    output = context.obj
    study = _read(output, predictions, prices, columns, simulation, sampling=sampling)
    found = [
        (pair, each)
        for pair, wanted in _steps(output, _pairs(study), _once(difference or [None]))
        for each in _of_pair(
            power_curve,
            study,
            pair,
            method or TESTS,
            n=_once(n or [times * study.n for times in GROWTH]),
            difference=wanted,
            repeats=repeats,
            confidence=simulation.confidence,
            smooth=simulation.smooth,
            rng=simulation.seed,
        )
    ]
    _show(
        output,
        f"Power of tests at the {100 * (1 - simulation.confidence):.3g}% level "
        f"{_simulated(study, repeats, simulation.smooth)}",
        ["pair", "test", "difference", "n", "power", "SE"],
        [
            [
                _named(pair),
                each.method,
                number(each.difference),
                f"{size:,}",
                *_measured(share, error),
            ]
            for pair, each in found
            for size, share, error in zip(each.n, each.power, each.standard_error, strict=True)
        ],
    )
    output.text("difference: the true cost of the first model minus that of the second.")
    measured = [Measured(pair, each) for pair, each in found]
    _write(output, study, simulation, "power", measured)


def _read(
    output: Any,
    predictions: list[str],
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    simulation: SimulationOptions,
    *,
    sampling: options.SamplingOptions,
) -> Study:
    json: Path | None = simulation.json
    output.only_json(json)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        sampling=sampling,
        class_priors=simulation.class_priors,
        confidence=simulation.confidence,
        with_scores="if they fit",
    )
    if study.examples is not None:
        raise InputError(
            study.source,
            "it was counted with costs of single rows; simulations take costs of the classes.",
            "Count it with a cost matrix.",
        )
    return study


def _pairs(study: Study) -> list[tuple[str, str]]:
    names = study.policies.of_models
    pairs = list(combinations(names, 2))
    if not pairs:
        raise InputError(
            study.source, f"a test compares two models, and there is only {names[0]!r}."
        )
    return pairs


def _of_pair(
    measure: Any, study: Study, pair: tuple[str, str], methods: Sequence[str], **settings: Any
) -> Any:
    """Simulate a pair; an error about its table names the pair."""
    try:
        table = study.policies.table(pair).pair(*pair)
        return _simulate(measure, study, table, methods, **settings)
    except InputError as error:
        if error.argument != "paired":
            raise
        raise InputError(_named(pair), error.problem, error.remedy) from error


def _simulate(
    measure: Any, study: Study, table: Any, methods: Sequence[str], **settings: Any
) -> list[Any]:
    """Simulate test sets like the counted one; their sizes are numbers of rows."""
    if table.weighted:
        if getattr(table, "groups", None) is None:
            raise InputError(
                study.source,
                "sums of weights do not tell which rows had them, so rows cannot be drawn again.",
                "Use --groups with a column that has another value in each row.",
            )
        # Only the ratios of weights matter; they are scaled to add up to the number of rows.
        table = table.with_counts(table.counts * (study.n / table.n), table.decisions)
    return list(measure(_once(methods), table, study.costs, design=study.design, **settings))


def _steps(output: Any, subjects: Sequence[Any], settings: Sequence[Any]) -> Iterator[Any]:
    """Iterate over models or pairs and the settings for each, with a progress bar."""
    from stakes.cli._output import Progress

    steps = list(product(subjects, settings))
    with Progress(shown=not output.quiet) as progress:
        progress.expect(len(steps))
        for subject, setting in steps:
            progress.step(subject if isinstance(subject, str) else _named(subject))
            yield subject, setting


def _show(output: Any, title: str, header: list[str], rows: list[list[str]]) -> None:
    from stakes._core.text import text_table

    output.text(title)
    output.text()
    output.table(text_table(header, rows))
    output.text()


def _write(
    output: Any,
    study: Study,
    simulation: SimulationOptions,
    what: str,
    measured: Sequence[Measured],
) -> None:
    from stakes.findings.data import costs_of, data_of

    output.results(
        Simulation(
            schema=SCHEMA,
            data=data_of(study),
            costs=costs_of(study.costs),
            settings=SimulationSettings(study.confidence, simulation.seed),
            smooth=simulation.smooth,
            simulated=what,
            results=tuple(measured),
        )
    )


def _once(given: Sequence[Any]) -> list[Any]:
    """Return values without duplicates, which would be measured twice with the same result."""
    return list(dict.fromkeys(given))


def _simulated(study: Study, repeats: int, smooth: float) -> str:
    """Return the number of test sets and what they are sampled from, in words."""
    from stakes._core.text import number

    sets = "1 simulated test set" if repeats == 1 else f"{repeats:,} simulated test sets"
    added = f", with {number(smooth)} added to each," if smooth else ""
    return (
        f"in {sets}; the counts of {study.source}{added} are taken as the truth. SE: standard "
        "error of the simulation."
    )


def _measured(share: float, error: float) -> list[str]:
    return [f"{100 * share:.1f}%", f"{100 * error:.1f}%"]


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"


def _named(pair: tuple[str, str]) -> str:
    return f"{pair[0]} - {pair[1]}"


def _first_of_each(found: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return the first result of each model or pair, for what all its results share."""
    first: dict[Any, Any] = {}
    for subject, each in found:
        first.setdefault(subject, each)
    return list(first.items())


def _truth_in_words(name: str, found: Coverage) -> str:
    """Return the true cost of a model in the simulations and its costliest outcome, in words."""
    from stakes._core.text import number

    return (
        f"{name} costs {number(found.truth)} per decision. Its most expensive outcome is "
        f"{_outcome(found.costliest)} in a test set of {found.n:,}."
    )


def _outcome(extreme: Extreme) -> str:
    """Describe an extreme outcome and how often it is expected: methods fail where it is rare."""
    from stakes._core.text import number

    if extreme.expected:
        often = f"expected {extreme.expected:.3g} times"
    else:
        often = "never expected (--smooth makes it possible)"
    return f"{extreme.what} ({number(extreme.value)}), {often}"


app = typer.Typer(
    cls=QuickGroup,
    help="Measure how intervals and tests perform on data like yours.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for each in EXAMPLES:
    add(app, sys.modules[__name__], each)
