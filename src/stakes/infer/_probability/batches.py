"""Many random numbers, so many at a time as memory has room for."""

from __future__ import annotations

from collections.abc import Iterator

SERVING = 1 << 22
"""Numbers drawn at a time."""


def servings(draws: int, width: int) -> Iterator[int]:
    """Return how many to draw at a time, of rows so wide."""
    step = max(1, SERVING // max(width, 1))
    for start in range(0, draws, step):
        yield min(step, draws - start)
