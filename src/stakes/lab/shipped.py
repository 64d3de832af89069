"""Results of full-scale runs that come with the source, from which the results page is made."""

from __future__ import annotations

from pathlib import Path

from stakes.lab.experiment import Results
from stakes.lab.store import read_results

FOLDER = Path(__file__).parents[3] / "docs" / "lab_results"
"""It is there in a checkout, and not where only the package is installed."""


def shipped(name: str, folder: Path = FOLDER) -> Results | None:
    """Return the results of an experiment's full-scale run, where they are at hand."""
    path = folder / f"{name}.parquet"
    return read_results(path) if path.exists() else None
