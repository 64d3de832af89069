"""Run experiments at full scale, and keep the numbers that the results pages are made from.

    python tools/lab_results.py NAME... [--data FOLDER] [--scale SHARE] [--jobs N]

A run that was stopped goes on from the folder stakes-lab.
"""

from __future__ import annotations

import argparse

from stakes.lab import run
from stakes.lab.catalogue import find
from stakes.lab.comparison import duration, tally
from stakes.lab.kept import DEFAULT_FOLDER
from stakes.lab.shipped import FOLDER
from stakes.lab.store import write_results


def main() -> None:
    """Run what is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--data")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=-1)
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for name in given.names:
        results = run(
            name, scale=given.scale, folder=DEFAULT_FOLDER, data=given.data, n_jobs=given.jobs
        )
        write_results(FOLDER / f"{name}.parquet", results)
        print(f"{name}: {duration(results.seconds)}. {tally(find(name), results)}")


if __name__ == "__main__":
    main()
