"""stakes merge: the counts of shards become those of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stakes.errors import InputError

EXAMPLES = ("stakes merge january.json february.json --out year.json",)

Counts = Annotated[
    list[str], typer.Argument(metavar="COUNTS", help="Count files, written by 'stakes count'.")
]
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="FILE", help="The count file to write, named .json or .parquet."
    ),
]


def merge(context: typer.Context, counts: Counts, out: Out) -> None:
    """Add up count files of parts of the examples."""
    from stakes._core.text import number
    from stakes.cli._inputs import check_counts_name, write_counts
    from stakes.predictions import merged
    from stakes.predictions.count_file import counts_checksum, read_count_file
    from stakes.read import as_path

    output = context.obj
    check_counts_name(out)
    output.will_write(out, inputs=counts)
    places = [as_path(path).resolve() for path in counts]
    for path, place in zip(counts, places, strict=True):
        if places.count(place) > 1:
            raise InputError(f"{path}", "given twice; its examples would count double.")
    parts = [(path, read_count_file(path)) for path in counts]
    total = merged(parts)
    first: dict[str, str] = {}
    for path, part in parts:
        same = first.setdefault(counts_checksum(part), path)
        if same != path:
            output.remark(
                f"{path} has the same counts as {same}: both were added. If one is a copy of the "
                "other, its examples count double."
            )
    write_counts(out, total)
    output.remark(f"Wrote the counts of {number(total.n)} examples to {out}.")
