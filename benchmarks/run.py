"""Print one table of speed and memory: task, peer or limit, theirs, ours, ratio, goal."""

from __future__ import annotations

import sys
from itertools import chain

import commands
import counting
import curves
import inference
from harness import show

SUITES = [counting, inference, curves, commands]


def main() -> int:
    """Run all suites; exit with 1 when a goal was missed."""
    return 0 if show(chain.from_iterable(suite.rows() for suite in SUITES)) else 1


if __name__ == "__main__":
    sys.exit(main())
