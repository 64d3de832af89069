"""Read and write results and findings on disk.

A cell of a run is one small Parquet file, written whole or not at all. The results of full-scale
runs are kept in `results/`, and their findings in `findings/`, as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import stakes
from replications.experiment import MEASURED, Results, Row, Value
from stakes.errors import FileError
from stakes.read import read_text, write_binary
from stakes.read.checksums import parquet_bytes, read_parquet
from stakes.read.sources import pyarrow

FORMAT = "replications/1"
RESULTS = Path(__file__).parent / "results"
FINDINGS = Path(__file__).parent / "findings"


def folder_of(folder: Path, experiment: str, scale: float, seed: int) -> Path:
    """Return the folder of a run's cells; each scale and seed has its own."""
    return folder / experiment / f"scale-{scale:g}-seed-{seed}"


def cell_file(folder: Path, number: int) -> Path:
    """Return the file of a cell."""
    return folder / f"cell-{number:05d}.parquet"


def make_folder(folder: Path) -> None:
    """Make the folder of a run, to fail before measuring anything that could not be saved."""
    _pyarrow()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}", f"the folder cannot be made: {error.strerror}.") from error


def write(path: Path, rows: Iterable[Row], about: Mapping[str, Any]) -> None:
    """Write rows, with metadata that identify them."""
    table = _pyarrow().Table.from_pylist(_filled(list(rows)))
    said = {"format": FORMAT, "version": stakes.__version__, **about}
    write_binary(path, parquet_bytes(table, said))


def read(path: Path) -> tuple[list[Row], dict[str, Any]]:
    """Read rows and the metadata that identify them."""
    _pyarrow()
    table, about = read_parquet(path, "results of a replication", "Delete it to measure it anew.")
    if not isinstance(about, dict):
        raise FileError(f"{path}", "expected results of a replication, got another Parquet file.")
    if about.get("format") != FORMAT:
        raise FileError(
            f"{path}",
            f"expected results of the format {FORMAT}, got {about.get('format')}: another version "
            "of stakes wrote them.",
            "Name another folder, or delete them.",
        )
    rows = [
        {name: value for name, value in row.items() if value is not None}
        for row in table.to_pylist()
    ]
    return rows, about


def write_results(path: Path, results: Results) -> None:
    """Write all results of a run into one file."""
    about = {
        "experiment": results.experiment, "scale": results.scale, "seed": results.seed,
        "seconds": results.seconds,
    }  # fmt: skip
    write(path, results.rows, about)


def read_results(path: Path) -> Results:
    """Read the results of a run from one file."""
    rows, about = read(path)
    return Results(about["experiment"], rows, about["scale"], about["seed"], about["seconds"])


def kept_results(name: str, folder: Path = RESULTS) -> Results | None:
    """Return the results of an experiment's full-scale run, or None if there was none yet."""
    path = folder / f"{name}.parquet"
    return read_results(path) if path.exists() else None


def findings(name: str) -> list[str]:
    """Return the findings of an experiment in addition to its numbers: items of a Markdown list.

    An experiment of your own has no file of findings, so its list is empty.
    """
    path = FINDINGS / f"{name}.md"
    if not path.exists():
        return []
    items: list[str] = []
    for line in read_text(path).splitlines():
        if line.startswith("- "):
            items.append(line.removeprefix("- ").strip())
        elif items and line.strip():
            items[-1] += f" {line.strip()}"
    return items


def without_escapes(text: str) -> str:
    """Return Markdown text without the backslashes that escape special characters."""
    return re.sub(r"\\([\\`*_{}\[\]<>$|#~])", r"\1", text)


def check(
    path: Path,
    about: Mapping[str, Any],
    cell: Mapping[str, Value],
    *,
    repeats: int,
    data: str | None,
) -> None:
    """Raise if a file holds a different cell than expected, or was measured with other data."""
    for what, ours, theirs in (
        ("stakes", stakes.__version__, about["version"]),
        ("the cell", dict(cell), about["cell"]),
        ("replicates:", repeats, about.get("repeats", repeats)),
    ):
        if ours != theirs:
            raise FileError(
                f"{path}",
                f"expected {what} {ours}, got {theirs}: another version of stakes or of the "
                "experiment wrote it, and a run would mix the two.",
                "Name another folder, or delete this one.",
            )
    measured_with = about.get("data", data)
    if measured_with != data:
        raise FileError(
            f"{path}",
            f"it was measured with {_named(measured_with)}, and this run has {_named(data)}.",
            "Name the same data, or another folder for the results.",
        )


def _named(data: str | None) -> str:
    return "no data sets" if data is None else f"the data sets of {data}"


def _filled(rows: Sequence[Row]) -> list[dict[str, Value | None]]:
    """Return rows with the same columns, identifying ones first; missing values are None."""
    names = [name for name in dict.fromkeys(n for row in rows for n in row) if name not in MEASURED]
    return [{name: row.get(name) for name in (*names, *MEASURED)} for row in rows]


def _pyarrow() -> Any:
    return pyarrow("keeping results of replications", "cli")
