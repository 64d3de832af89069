"""stakes merge: add up count files, such as those of shards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stakes.cli._options import FileUse

EXAMPLES = ("stakes merge january.json february.json --out year.json",)

Counts = Annotated[
    list[str],
    typer.Argument(metavar="COUNTS", help="Count files that 'stakes count' wrote."),
    FileUse.READ,
]
Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="Count file to write: .json or .parquet."),
    FileUse.WRITTEN,
]


AllowCopies = Annotated[
    bool,
    typer.Option(
        "--allow-copies",
        help="Also add files with identical counts, one of which may be a copy.",
    ),
]


def merge(
    context: typer.Context, counts: Counts, out: Out, allow_copies: AllowCopies = False
) -> None:
    """Add up count files, such as one for each month."""
    from stakes._core.text import number
    from stakes.cli._inputs import check_counts_name, write_counts
    from stakes.predictions.count_file import merged_files

    output = context.obj
    check_counts_name(out)
    total = merged_files(counts, allow_copies=allow_copies)
    write_counts(out, total)
    output.remark(f"Wrote the counts of {number(total.n)} examples to {out}.")
