"""Fuzz the file readers: a broken file must be refused, or counted as plain readers count it.

``python tools/fuzz.py 30`` runs for 30 minutes, in two processes that try different cases. A
failing case is shrunk and shown. A case that ends the process, or takes longer than a minute, is
shown as found. In both cases the exit code is 1. Add such cases to the corpus of
``tests/read/test_broken_files.py``.
"""

from __future__ import annotations

import faulthandler
import json
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests._helpers.broken_cases import cases
from tests._helpers.broken_checks import check, count_files
from tests._helpers.broken_files import Case

PROCESSES = 2

ROUND = 200
"""Number of cases between two checks of the time."""

PATIENCE = 60
"""Time limit of a case in seconds; most cases take a hundredth of a second."""

LAST, TRIED = "last_case.txt", "tried.json"
"""Names of the files with the current case, and with the numbers of cases tried."""


def search(minutes: float, folder: Path, start: int) -> None:
    """Try cases until the time is over; raise the first failure."""
    faulthandler.enable()
    end, tried = time.monotonic() + 60 * minutes, Counter[str]()
    last, inside = folder / LAST, folder / "files"
    inside.mkdir()

    def once(case: Case) -> None:
        last.write_text(repr(case), encoding="utf-8")
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            tried[f"{case.kind}, {case.asked}: {check(case, inside)}"] += 1
        finally:
            faulthandler.cancel_dump_traceback_later()
            last.unlink()

    options = settings(
        max_examples=ROUND, deadline=None, database=None, suppress_health_check=HealthCheck
    )
    drawn = st.one_of(cases, count_files)
    try:
        while time.monotonic() < end:
            start += PROCESSES
            seed(start)(options(given(drawn)(once)))()
            (folder / TRIED).write_text(json.dumps(tried), encoding="utf-8")
    except BaseException:
        (folder / TRIED).write_text(json.dumps(tried), encoding="utf-8")
        raise


def main(minutes: float) -> int:
    """Search in separate processes, because a broken file may crash them."""
    start, tried = secrets.randbelow(1 << 32), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / str(number) for number in range(PROCESSES)]
        running = []
        for number, folder in enumerate(folders):
            folder.mkdir()
            command = [sys.executable, __file__, str(minutes), str(folder), str(start + number)]
            running.append(subprocess.Popen(command))  # noqa: S603 - ourselves
        codes = [process.wait() for process in running]
        for folder, code in zip(folders, codes, strict=True):
            if code and (folder / LAST).exists():
                how = f"ended by signal {-code}" if code < 0 else f"longer than {PATIENCE} s"
                print(f"{how}: {(folder / LAST).read_text(encoding='utf-8')}")
            if (folder / TRIED).exists():
                tried.update(json.loads((folder / TRIED).read_text(encoding="utf-8")))
    for kind, cases_of_it in sorted(tried.items()):
        print(f"{cases_of_it:>9,}  {kind}")
    print(f"{tried.total():>9,}  cases, {'something' if any(codes) else 'nothing'} wrong")
    return int(any(codes))


if __name__ == "__main__":
    if len(sys.argv) > 2:  # noqa: PLR2004 - a process that searches
        search(float(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0))
