"""Break files at random for some minutes: each is refused, or counted as plain readers count it.

``python tools/fuzz.py 30`` runs for 30 minutes. What fails is shown as small as it can be made, and
what ends the process as it was found. Put it into the corpus of ``tests/read/test_broken_files.py``
"""

from __future__ import annotations

import faulthandler
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests._helpers.broken_files import (
    broken,
    cases,
    check,
    check_counts,
    good_counts,
)

ROUND = 200
"""Cases between two looks at the clock."""

LAST = "last_case.txt"
"""The file with the case that is being tried."""


def search(minutes: float, folder: Path) -> None:
    """Try cases until the time is over, and say how many there were."""
    faulthandler.enable()
    end, tried = time.monotonic() + 60 * minutes, 0

    def drawn(case: object) -> object:
        (folder / LAST).write_text(repr(case), encoding="utf-8")
        return case

    def once(data: st.DataObject) -> None:
        nonlocal tried
        tried += 1
        if data.draw(st.integers(0, 9)):
            check(drawn(data.draw(cases)), folder)
        else:
            check_counts(drawn(data.draw(broken(good_counts(folder)))), folder)

    options = settings(
        max_examples=ROUND, deadline=None, database=None, suppress_health_check=HealthCheck
    )
    while time.monotonic() < end:
        options(given(st.data())(once))()
        print(f"{tried:,} cases, nothing wrong", flush=True)


def main(minutes: float) -> int:
    """Search in a process of its own, which a broken file may end."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, str(minutes), folder]
        code = subprocess.run(command, check=False).returncode  # noqa: S603 - ourselves
        if code < 0:
            print(f"ended by signal {-code} at {(Path(folder) / LAST).read_text(encoding='utf-8')}")
    return code


if __name__ == "__main__":
    if len(sys.argv) > 2:  # noqa: PLR2004 - the process that searches
        search(float(sys.argv[1]), Path(sys.argv[2]))
    else:
        sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0))
