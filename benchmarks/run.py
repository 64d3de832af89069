"""Print one table of speed and memory: task, peer or limit, theirs, ours, ratio, goal.

Arguments select suites: ``python benchmarks/run.py curves learners``.
"""

from __future__ import annotations

import sys
from itertools import chain

import audits
import commands
import counting
import curves
import growth
import inference
import learners
import papers
import peers
import scale
import scores_at_scale
import streaming
import trees
from harness import show

MODULES = (
    counting,
    inference,
    curves,
    learners,
    trees,
    papers,
    commands,
    scale,
    scores_at_scale,
    growth,
    streaming,
    peers,
    audits,
)
SUITES = {module.__name__: module for module in MODULES}


def main(names: list[str]) -> int:
    """Run the suites, all by default; return 1 if a goal was missed, 2 if a suite is unknown."""
    if unknown := [name for name in names if name not in SUITES]:
        print(f"There is no suite {unknown[0]}; there are {', '.join(SUITES)}.", file=sys.stderr)
        return 2
    chosen = [SUITES[name] for name in names or SUITES]
    return 0 if show(chain.from_iterable(suite.rows() for suite in chosen)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
