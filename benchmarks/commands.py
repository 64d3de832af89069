"""The command line: time and peak memory of commands on small and large files."""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Row, within, within_memory, within_time
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from stakes.read.tables import read_table

LIBRARIES = (
    "import numpy, scipy.stats, scipy.optimize, scipy.fft, pyarrow, pyarrow.csv, pyarrow.parquet, "
    "typer, rich, altair, vl_convert, jinja2"
)
LIBRARIES_OF_READING = "import numpy, scipy.special, pyarrow"
MOST_HELP = 0.3
"""Limit on the CPU time of ``stakes --help``, in seconds."""

MOST_PAGE, MOST_MEMORY = 5 * 10**6, 5 * 10**8
PEAK = """
from pathlib import Path
from stakes.cli.main import main
assert main({!r}) == 0
print(1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]))
"""

IN_PYTHON = """
import pandas as pd
import stakes
costs = stakes.CostMatrix.read("costs.csv")
stakes.report(pd.read_parquet("scored.parquet"), costs, out="report.html")
"""
GROUPED_BY_POLARS = """
import polars
names = ["actual", "model_0", "model_1"]
polars.scan_csv("large.csv").group_by(names).agg(polars.len()).collect(engine="streaming")
"""
CLASSES = np.array(["ok", "fraud"])
BREAKS = ("every cell, and line breaks,", "all_valid")
COSTS = "predicted\\actual,ok,fraud\nok,0,100\nfraud,3,0\n"


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    yield _help()
    yield from _reading()
    yield from _many_models()
    yield from _unpacked()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "costs.csv").write_text(COSTS)
        _write(place / "tiny.csv", 200, 3, scored=False)
        yield within(
            "stakes evaluate, 200 rows × 3 models",
            lambda: _stakes(place, "evaluate", "tiny.csv"),
            lambda: _python("import numpy, scipy.special, pyarrow"),
            "import of numpy, scipy.special, pyarrow",
            at_most=1.5,
        )
        yield from _wide(place)
        _write(place / "small.csv", 10**5, 3, scored=True)
        yield within(
            "stakes report, 10⁵ rows × 3 models, scores",
            lambda: _stakes(place, "report", "small.csv"),
            lambda: _python(LIBRARIES),
            "import of its libraries",
            at_most=3,
            repeats=3,
        )
        _write(place / "scored.parquet", 10**6, 3, scored=True)
        yield within(
            "stakes.report(df), 10⁶ rows × 3 models, scores",
            lambda: _python(IN_PYTHON, place),
            lambda: _stakes(place, "report", "scored.parquet"),
            "the command on the same Parquet",
            at_most=1.2,
            repeats=3,
        )
        _write(place / "tiny.parquet", 1000, 2, scored=False)
        _write(place / "large.parquet", 10**7, 2, scored=False)
        yield within(
            "stakes report, 10⁷ rows × 2 models, Parquet",
            lambda: _stakes(place, "report", "large.parquet"),
            lambda: _grouped_and_reported(place),
            "group-by of pyarrow + a small report",
            at_most=2,
            repeats=3,
        )
        _write(place / "large.csv", 10**7, 2, scored=False)
        yield within(
            "stakes evaluate, 10⁷ rows × 2 models, CSV",
            lambda: _stakes(place, "evaluate", "large.csv"),
            lambda: _python(GROUPED_BY_POLARS, place),
            "group-by of polars, streaming",
            at_most=1.2,
            repeats=5,
        )


def _wide(place: Path) -> Iterator[Row]:
    """Time ``evaluate`` on a table of 5,000 columns against reading the three that it needs."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {
        name: _labels(rng.random(2000) < 0.1) for name in ("actual", "old", "new")
    }
    needed = list(columns)
    columns |= {f"f{i}": rng.normal(50, 20, 2000).astype(np.float32) for i in range(4997)}
    table = pa.table(columns)
    pq.write_table(table, place / "wide.parquet")
    arrow_csv.write_csv(table, place / "wide.csv")
    plain = {
        "wide.parquet": "from pyarrow import parquet; parquet.read_table('wide.parquet', "
        f"columns={needed})",
        "wide.csv": "from pyarrow import csv; csv.read_csv('wide.csv', convert_options="
        f"csv.ConvertOptions(include_columns={needed}))",
    }
    for file, code in plain.items():
        for how, named in (
            ("named", ("--actual", "actual", "-m", "old", "-m", "new")),
            ("found", ()),
        ):
            yield within(
                f"stakes evaluate, 5,000 columns, models {how}, {file.partition('.')[2]}",
                partial(_stakes, place, "evaluate", file, *named),
                partial(_python, f"{LIBRARIES_OF_READING}; {code}", place),
                "pyarrow reading these three",
                at_most=2 if named else 10,  # without names, all columns are inspected
                repeats=3,
            )


def _reading() -> Iterator[Row]:
    """Time our reading of CSV, which checks the quotes, against pyarrow's, which does not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        for cells, quoting in (("no cell", "none"), ("every cell", "all_valid"), BREAKS):
            _write_text(path, 3 * 10**5, quoting, breaks=cells == BREAKS[0])
            yield within(
                f"reading of 3·10⁵ rows of CSV, {cells} in quotes",
                partial(read_table, str(path)),
                partial(_plain_read, path),
                "pyarrow's own reader",
                at_most=1.03,
                repeats=31,
            )


def _write_text(path: Path, n: int, quoting: str, *, breaks: bool = False) -> None:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"actual": _labels(rng.random(n) < 0.1)}
    for i in range(4):
        columns[f"model_{i}"] = _labels(rng.random(n) < 0.1)
        columns[f"model_{i}_score"] = pa.array(rng.random(n).round(6)).cast(pa.string())
    if breaks:
        columns["note"] = ["a note of\ntwo lines"] * n
    options = arrow_csv.WriteOptions(quoting_style=quoting)
    arrow_csv.write_csv(pa.table(columns), path, options)


def _plain_read(path: Path) -> object:
    with path.open("rb") as file:
        content = file.read()
    names = content[:1000].decode().splitlines()[0].replace('"', "").split(",")
    return arrow_csv.read_csv(
        pa.BufferReader(content),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )


def _many_models() -> Iterator[Row]:
    """Run commands on 300 models: neither time nor page size may grow with their pairs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "costs.csv").write_text(COSTS)
        _write(place / "many.csv", 1000, 300, scored=True)
        for command, seconds in (("evaluate", 5), ("compare", 10), ("curve", 20), ("report", 20)):
            yield within_time(
                f"stakes {command}, 10³ rows × 300 models, scores",
                partial(_stakes, place, command, "many.csv"),
                at_most=1e3 * seconds,
                repeats=1,
            )
        page = (place / "report.html").stat().st_size
        yield within_memory("its report", page, MOST_PAGE, "5 MB", at_most=1)


def _unpacked() -> Iterator[Row]:
    """Evaluate 10⁸ rows from small files: peak memory must stay below a fixed limit."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "costs.csv").write_text(COSTS)
        rng = np.random.default_rng(0)
        rows = pa.table(
            {name: _labels(rng.random(1 << 22) < 0.1) for name in ("actual", "old", "new")}
        )
        many = pa.concat_tables([rows] * 24).slice(0, 10**8)
        amounts = pa.array(np.arange(rows.num_rows) % 100 / 4)  # that no model needs
        beside = pa.concat_tables([rows.append_column("amount", amounts)] * 24).slice(0, 10**8)
        for packing, table, dictionary in (
            ("a dictionary", many, True),
            ("plain text", many, False),
            ("an amount beside", beside, True),
        ):
            path, options = place / "large.parquet", {"compression": "zstd"}
            pq.write_table(
                table, path, row_group_size=1 << 30, use_dictionary=dictionary, **options
            )
            code = PEAK.format(["--quiet", "evaluate", "large.parquet", "--costs", "costs.csv"])
            run = subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=place
            )
            peak = int(run.stdout.split()[-1])
            task = f"peak memory, evaluate, 10⁸ rows of Parquet, {packing}"
            yield within_memory(task, peak, MOST_MEMORY, "500 MB", at_most=1)


def _help() -> Row:
    """Report the CPU time of ``stakes --help``, which hardly varies, beside its limit."""
    times = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _python("import sys; from stakes.cli.main import main; sys.exit(main(['--help']))")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    cpu = sorted(times)[len(times) // 2]
    ratio = cpu / MOST_HELP
    return Row(
        "stakes --help, CPU",
        "limit of 0.3 s",
        f"{1e3 * MOST_HELP:.3g} ms",
        f"{1e3 * cpu:.3g} ms",
        ratio,
        "reported",
        met=math.isfinite(ratio),
    )


def _write(path: Path, n: int, models: int, *, scored: bool) -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.02
    columns: dict[str, Any] = {"actual": _labels(positive)}
    for i in range(models):
        score = 1 / (1 + np.exp(3 - 4 * positive - rng.normal(0, 1, n)))
        columns[f"model_{i}"] = _labels(score > 0.4 + 0.1 * i)
        if scored:
            columns[f"model_{i}_score"] = pa.array(score.round(6))
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    arrow_csv.write_csv(table, path)


def _labels(positive: NDArray[np.bool_]) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(positive.astype(np.int8)), CLASSES).cast(
        pa.string()
    )


def _grouped(path: Path) -> object:
    columns = ["actual", "model_0", "model_1"]
    return pq.read_table(path, columns=columns).group_by(columns).aggregate([([], "count_all")])


def _grouped_and_reported(place: Path) -> None:
    _grouped(place / "large.parquet")
    _stakes(place, "report", "tiny.parquet")


def _stakes(folder: Path, command: str, file: str, *more: str) -> None:
    arguments = ["--quiet", command, file, "--costs", "costs.csv", *more]
    arguments += ["--out", "report.html"] if command == "report" else []
    # As in the installed command, main() takes its arguments from sys.argv.
    code = "import sys; from stakes.cli.main import main; sys.argv[1:] = {!r}; sys.exit(main())"
    _python(code.format(arguments), folder)


def _python(code: str, folder: Path | None = None) -> None:
    # Allow compiled modules, which an installed package has, as its libraries do.
    compiled = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, env=compiled)
