"""stakes audit: choose rows to label, and estimate costs from their labels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import check_name, costs_if_given, no_costs
from stakes.cli._options import QuickGroup, add
from stakes.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from stakes.audit._reading import Reading
    from stakes.audit.plan import LabelPlan
    from stakes.audit.pool import Pool
    from stakes.cli._output import Output
    from stakes.costs import CostMatrix
    from stakes.findings.audit import AuditFound, PlanFound

EXAMPLES = {
    "plan": (
        "stakes audit plan rows.csv -c costs.csv --compare a b --labels 300 -o l.csv",
        "stakes audit plan rows.csv -c costs.csv -m a -s score --target 0.5 -o m.csv",
    ),
    "read": (
        "stakes audit read to_label.csv",
        "stakes audit read to_label.csv --report audit.html --json audit.json",
    ),
    "more": ("stakes audit more to_label.csv rows.csv --labels 200 -o second.csv",),
}

Rows = Annotated[
    str,
    typer.Argument(
        metavar="ROWS", help="Rows with decisions, most without labels: CSV, Parquet, …"
    ),
    options.FileUse.READ,
]
LabelFile = Annotated[
    Path,
    typer.Argument(metavar="LABELS", help="The labelled file, with its manifest beside it."),
    options.FileUse.READ,
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="COLUMN", help="Column with a model's decisions."),
]
Compare = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--compare",
        metavar="COLUMN COLUMN",
        help="Columns with two models' decisions. Only rows on which they differ are labelled.",
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        "--score", "-s", metavar="COLUMN", help="Column with scores, preferably probabilities."
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="COLUMN",
        help="Column with a judge's verdicts, such as an LLM's; repeatable.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="Column that identifies a row. Default: the row number."
    ),
]
Labels = Annotated[
    int | None, typer.Option("--labels", metavar="N", help="Number of rows to label.")
]
Target = Annotated[
    float | None,
    typer.Option(
        "--target",
        metavar="COST",
        help="Upper limit to reach, instead of --labels. With --compare: half the width.",
    ),
]
Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="Label file to write: .csv."),
    options.FileUse.WRITTEN,
]
Show = Annotated[
    list[str] | None,
    typer.Option("--show", metavar="COLUMN", help="Column that labellers see; repeatable."),
]
ShowDecisions = Annotated[
    bool, typer.Option("--show-decisions", help="Show the decisions to labellers, too.")
]
Looks = Annotated[
    int, typer.Option("--looks", metavar="K", help="How many times the labels will be read.")
]
Anytime = Annotated[
    bool,
    typer.Option("--anytime", help="Allow reading the labels after every batch. Limits are wider."),
]
ErrorRate = Annotated[
    float,
    typer.Option(
        "--error-rate", metavar="SHARE", help="Expected share of mistakes, if there are no scores."
    ),
]
Skipped = Annotated[
    str | None,
    typer.Option(
        "--skipped", metavar="HOW", help="'random' if rows were left unlabelled at random."
    ),
]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write a page with the results: .html."),
    options.FileUse.WRITTEN,
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the label file if it exists.")]


@dataclass(frozen=True)
class PoolOptions:
    """Options for the roles of the pool's columns."""

    decision: Model = None
    compare: Compare = None
    score: Score = None
    judge: Judges = None
    id: Key = None


def plan(
    context: typer.Context,
    *,
    pool: Rows,
    out: Out,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: PoolOptions,
    n_labels: Labels = None,
    target: Target = None,
    show: Show = None,
    show_decisions: ShowDecisions = False,
    looks: Looks = 1,
    anytime: Anytime = False,
    error_rate: ErrorRate = 0.001,
    confidence: options.Confidence = 0.95,
    unit: options.Unit = "",
    seed: options.Seed = 0,
    json: options.Json = None,
    force: Force = False,
) -> None:
    """Choose the rows to label, and write a file for the labellers."""
    from stakes.findings.audit import plan_found

    output = context.obj
    _check_out(output, out, json, force=force)
    rows, costs, classes = _rows_and_costs(pool, prices, amounts, columns, show or ())
    made = rows.plan(
        costs,
        n_labels=n_labels,
        target=target,
        compare=columns.compare,
        error_rate=error_rate,
        confidence=confidence,
        looks=looks,
        anytime=anytime,
        pos_label=None if prices.pos_label is None else _class_of(prices.pos_label, costs),
        by_amount=classes,
        unit=unit,
        rng=seed,
    )
    _show_plan(output, made, plan_found(made))
    _write(output, made, out, show, show_decisions=show_decisions)


def read(
    context: typer.Context,
    *,
    labels: LabelFile,
    skipped: Skipped = None,
    report: Report = None,
    json: options.Json = None,
) -> None:
    """Report what the labels show, and what to label next."""
    from stakes.audit._manifest import manifest_name
    from stakes.audit.plan import LabelPlan
    from stakes.findings.audit import audit_found

    output = context.obj
    check_name(report, (".html", ".htm"))
    output.will_read(manifest_name(labels))
    output.only_json(json)
    made = LabelPlan.load(labels)
    reading = made.reading(_labels(labels, made), skipped=skipped)
    found = audit_found(made, reading)
    _show_reading(output, reading, found)
    output.results(found)
    if report is not None:
        from stakes.show.report import audit_html

        output.write_text(report, audit_html(found))


def more(
    context: typer.Context,
    *,
    labels: LabelFile,
    pool: Rows,
    out: Out,
    n_labels: Annotated[
        int, typer.Option("--labels", metavar="N", help="Number of further rows to label.")
    ],
    show: Show = None,
    show_decisions: ShowDecisions = False,
    skipped: Skipped = None,
    json: options.Json = None,
    force: Force = False,
) -> None:
    """Choose further rows to label, given the labels so far."""
    from stakes.audit._manifest import manifest_name
    from stakes.audit.plan import LabelPlan
    from stakes.findings.audit import plan_found

    output = context.obj
    _check_out(output, out, json, force=force)
    output.will_read(manifest_name(labels))
    made = LabelPlan.load(labels)
    made = made.with_pool(_pool_of(pool, made.options.columns, show or ()))
    further = made.next(_labels(labels, made), n_labels, skipped=skipped)
    _show_plan(output, further, plan_found(further))
    _write(output, further, out, show, show_decisions=show_decisions)


def _check_out(output: Output, out: Path, json: Path | None, *, force: bool) -> None:
    """Raise if an output has an invalid name, or exists and must not be overwritten."""
    from stakes.audit._manifest import manifest_name

    check_name(out, (".csv",))
    output.will_write(manifest_name(out))
    output.only_json(json)
    if not force:
        for path, problem in ((out, "may hold labels"), (manifest_name(out), "labels may need it")):
            if path.exists():
                raise InputError(
                    f"{path}", f"it exists, and {problem}.", "Overwrite it with --force."
                )


def _write(
    output: Output, made: LabelPlan, out: Path, show: list[str] | None, *, show_decisions: bool
) -> None:
    """Write the label file, after everything that can fail, because it may replace labels."""
    made.save(out, show=show or (), show_decisions=show_decisions)
    output.remark(
        f"Wrote {out}, to be labelled in the column 'actual', and {out}.manifest.json, which "
        "reading the labels needs."
    )


def _rows_and_costs(
    path: str,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: PoolOptions,
    show: Sequence[str],
) -> tuple[Pool, CostMatrix, list[Any] | None]:
    """Return the pool, the costs, and the classes whose costs the amounts multiply."""
    from stakes.audit._draw import PoolColumns
    from stakes.costs import CostMatrix

    given = costs_if_given(prices, amounts)
    if given is None:
        raise no_costs()
    model = () if columns.decision is None else (columns.decision,)
    names: dict[str, str] = {}
    if not isinstance(given, CostMatrix):
        names = {name: value for name, value in given.items() if isinstance(value, str)}
    if len(set(names.values())) > 1:
        raise InputError(
            "--fp-column, --fn-column", "amounts of a plan are in one column; these are two."
        )
    amount = next(iter(names.values()), None)
    parts = PoolColumns(model, columns.score, tuple(columns.judge or ()), amount, columns.id)
    pool = _pool_of(path, parts, [*(columns.compare or ()), *show])
    if isinstance(given, CostMatrix):
        return pool, given, None
    positive, other = _two_classes(pool, prices.pos_label, columns)
    mistakes = {name: 1.0 if name in names else float(value) for name, value in given.items()}
    costs = CostMatrix.from_errors(**mistakes, pos_label=positive, neg_label=other)
    classes = [positive if name == "false_negative" else other for name in names]
    return pool, costs, classes or None


def _two_classes(pool: Pool, positive: str | None, columns: PoolOptions) -> tuple[Any, Any]:
    """Return the two classes that occur as decisions, the positive one first."""
    from stakes._core.labels import LabelMatcher, listing
    from stakes.counts.engines import group

    named = list(columns.compare or ((columns.decision,) if columns.decision else ()))
    if not named:
        raise InputTypeError("--model, --compare", "name the columns with the decisions.")
    found, _ = group(pool.frame, named)
    values = list(dict.fromkeys(value for each in found for value in each.present(each.used())))
    if positive is None:
        raise InputTypeError("--pos-label", "which class is the positive one? Name it.")
    place = LabelMatcher(values, "text").find(positive)
    if len(values) != 2 or place < 0:  # noqa: PLR2004 - two classes
        raise InputError(
            "--pos-label",
            f"the decisions are {listing(values)}; with --fp and --fn they must be two classes, "
            f"{positive!r} among them.",
            "Give a cost matrix with --costs.",
        )
    return values[place], values[1 - place]


def _class_of(label: str, costs: CostMatrix) -> Any:
    """Return the class that a label given as text matches, or the text if none does."""
    from stakes._core.labels import LabelMatcher

    place = LabelMatcher(costs.labels, "text").find(label)
    return label if place < 0 else costs.labels[place]


def _pool_of(path: str, columns: Any, further: Sequence[str]) -> Pool:
    """Read a pool; columns of numbers that are text, as in a CSV file, are converted."""
    from stakes._core.labels import listing
    from stakes.audit.pool import Pool
    from stakes.errors import FileError
    from stakes.read.tables import read_table

    scanned = _scanned(path, columns)
    table = read_table(path, None).table if scanned is None else scanned
    known = table.column_names if scanned is None else table.collect_schema().names()
    for name in (*columns.labels, *columns.numbers, columns.key, *further):
        if name is not None and name not in known:
            raise FileError(path, f"there is no column {name!r}. It has: {listing(known)}.")
    if scanned is not None:
        return Pool(scanned, columns, text=True)
    for name in (columns.score, columns.amount):
        if name in table.column_names:
            table = _as_numbers(table, name, path)
    if columns.key in table.column_names:
        table = _as_whole_numbers(table, columns.key)
    return Pool(table, columns, text=True)


def _scanned(path: str, columns: Any) -> Any:
    """Return a lazy polars frame of a Parquet file, which does not hold its rows, or None.

    Without polars, or if text must be converted to numbers, the rows are read.
    """
    from importlib.util import find_spec

    place = Path(path)
    if place.suffix.lower() != ".parquet" or not place.is_file() or find_spec("polars") is None:
        return None
    import polars as pl

    frame = pl.scan_parquet(place)
    try:
        kinds = frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError):  # reading the rows explains it
        return None
    whole = all(kinds[name].is_integer() for name in [columns.key] if name in kinds)
    numbers = all(kinds[name].is_numeric() for name in columns.numbers if name in kinds)
    return frame if whole and numbers else None


def _as_numbers(table: Any, name: str, path: str) -> Any:
    """Return a table in which a column of text is converted to numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from stakes.errors import FileError

    column = table.column(name)
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return table
    text = column.cast(pa.string())
    try:
        numbers = pc.if_else(pc.equal(text, ""), None, text).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FileError(f"{path}, column {name!r}", f"expected numbers: {error}.") from error
    return table.set_column(table.column_names.index(name), name, numbers)


def _as_whole_numbers(table: Any, name: str) -> Any:
    """Return a table in which identifiers that are all written as integers are integers.

    A CSV file and a Parquet file of the same rows then have the same identifiers.
    """
    import pyarrow as pa

    text = table.column(name)
    if pa.types.is_integer(text.type):
        return table
    try:
        numbers = text.cast(pa.string()).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return table
    if not numbers.cast(pa.string()).equals(text.cast(pa.string())):
        return table
    return table.set_column(table.column_names.index(name), name, numbers)


def _labels(path: Path, made: LabelPlan) -> Any:
    """Read the labels of a completed label file, by row identifier."""
    from stakes._core.labels import is_blank
    from stakes.errors import FileError
    from stakes.read.tables import read_table

    table = read_table(str(path), None).table
    for name in (made.id_name, "actual"):
        if name not in table.column_names:
            raise FileError(
                f"{path}", f"there is no column {name!r}; it has {', '.join(table.column_names)}."
            )
    keys = table.column(made.id_name).to_pylist()
    values = table.column("actual").to_pylist()
    seen: set[Any] = set()
    for row, key in enumerate(keys):
        if is_blank(key) and is_blank(values[row]):  # spreadsheets leave such rows at the end
            continue
        if is_blank(key):
            raise FileError(f"{path}, row {row + 2}", f"there is no {made.id_name}.")
        if key in seen:
            raise FileError(f"{path}, row {row + 2}", f"the row {key!r} occurs twice.")
        seen.add(key)
    return {key: value for key, value in zip(keys, values, strict=True) if not is_blank(key)}


def _show_plan(output: Output, made: LabelPlan, found: PlanFound) -> None:
    from stakes._core.text import number, text_table

    output.text(made.summary(), "bold")
    output.text()
    lines = [
        [each.name, number(each.rows), number(each.labels), number(each.low), number(each.high)]
        for each in found.strata
    ]
    output.table(text_table(["stratum", "rows", "labels", "lowest cost", "highest"], lines))
    output.results(found)


def _show_reading(output: Output, reading: Reading, found: AuditFound) -> None:
    from stakes._core.text import number, text_table

    output.text(found.text, "bold")
    if found.note:
        output.text()
        output.text(found.note)
    output.text()
    lines = [
        [
            each.name,
            number(each.rows),
            number(each.labels),
            number(each.costly),
            "under 1%" if 0 < each.width < 0.01 else f"{each.width:.0%}",  # noqa: PLR2004
            number(each.next),
        ]
        for each in reading.strata
        if each.labels or each.width
    ]
    header = ["stratum", "rows", "labels", "costly", "share of width", "label next"]
    output.table(text_table(header, lines))


app = typer.Typer(
    cls=QuickGroup,
    help="Choose rows to label, and estimate costs from few labels.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for command in EXAMPLES:
    add(app, sys.modules[__name__], command)
