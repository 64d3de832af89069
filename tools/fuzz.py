"""Break files at random for some minutes: each is refused, or counted as plain readers count it.

``python tools/fuzz.py 30`` runs for 30 minutes. What fails is shown as small as it can be made;
put it into the corpus of ``tests/read/test_broken_files.py``.
"""

from __future__ import annotations

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


def main(minutes: float) -> None:
    """Try cases until the time is over, and say how many there were."""
    end, tried = time.monotonic() + 60 * minutes, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def once(data: st.DataObject) -> None:
            nonlocal tried
            tried += 1
            if data.draw(st.integers(0, 9)):
                check(data.draw(cases), folder)
            else:
                check_counts(data.draw(broken(good_counts(folder))), folder)

        search = settings(
            max_examples=ROUND, deadline=None, database=None, suppress_health_check=HealthCheck
        )
        while time.monotonic() < end:
            search(given(st.data())(once))()
            print(f"{tried:,} cases, nothing wrong", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0)
