"""Lazy option trees: time beside a plain-Python reference and random forests, growth and memory."""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import Row
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from stakes.learn import BaggedLazyOptionTreesClassifier, LazyOptionTreeClassifier

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "literal": {"entropy": "plain", "thresholds": "query"},
}
ASKED = 8  # queries for the oracle, which is slow
STEPS = (500, 1000, 2000, 4000)
GIGABYTE = 10**9
SLICE = {"default": 6, "literal": 200}  # queries that take seconds on 100 000 rows


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    yield from _start()
    for name, preset in PRESETS.items():
        yield from _oracle(name, preset)
    for name, preset in PRESETS.items():
        yield from _forest(name, preset)
    for name, preset in PRESETS.items():
        yield from _growth(name, preset)
    for name in PRESETS:
        yield from _large(name)


def _problem(size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    features, y = make_classification(
        size, 20, n_informative=8, n_classes=3, flip_y=0.05, random_state=0
    )
    return features, y


def _oracle(name: str, preset: dict[str, Any]) -> Iterator[Row]:
    """Compare with the tests' reference implementation: 600 rows × 10 attributes, 500 queries."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    oracle = importlib.import_module("_helpers.lazy_oracle").Oracle
    features, y = make_classification(
        1100, 10, n_informative=6, n_classes=3, flip_y=0.05, random_state=0
    )
    bins = np.digitize(features, [-2, 0, 2]).astype(float)
    kinds = (
        ("continuous", features, False, 1500.0),
        ("discrete", bins, True, 60.0),
        ("tied", np.round(features), False, 60.0),
    )
    for kind, all_rows, discrete, at_least in kinds:
        train, queries = all_rows[:600], all_rows[600:]
        columns = list(range(10)) if discrete else []
        model = LazyOptionTreeClassifier(**preset, categorical_features=columns or None, n_jobs=1)
        model.fit(train, y[:600]).predict_proba(queries[:2])
        ours = _median(lambda: model.fit(train, y[:600]).predict_proba(queries), 5)  # noqa: B023
        slow = oracle(train.tolist(), y[:600].tolist(), classes=3, discrete=columns, **preset)
        theirs = _median(lambda: [slow.proba(x) for x in queries[:ASKED].tolist()], 1)  # noqa: B023
        theirs *= len(queries) / ASKED
        task = f"LOT {name}, 600 × 10 {kind}, 500 queries"
        ratio, goal = theirs / ours, f"≥ {at_least:g} × faster"
        peer = f"plain Python, scaled from {ASKED}"
        yield Row(task, peer, _time(theirs), _time(ours), ratio, goal, ratio >= at_least)


def _forest(name: str, preset: dict[str, Any]) -> Iterator[Row]:
    """Compare with a random forest: fit and probabilities, 50 trees each, one job."""
    features, y = _problem(2000)
    train, actual, queries = features[:1000], y[:1000], features[1000:]
    forest = RandomForestClassifier(50, n_jobs=1, random_state=0)
    for min_leaf, at_most in ((2, 25.0), (8, 35.0)):
        model = BaggedLazyOptionTreesClassifier(
            n_estimators=50, min_leaf=min_leaf, random_state=0, n_jobs=1, **preset
        )
        pairs = [
            (
                _median(lambda: model.fit(train, actual).predict_proba(queries), 1),  # noqa: B023
                _median(lambda: forest.fit(train, actual).predict_proba(queries), 1),
            )
            for _ in range(4)
        ]  # in turns
        ours, theirs = map(statistics.median, zip(*pairs[1:], strict=True))  # the first compiles
        ratio = ours / theirs
        yield Row(
            f"B-LOT {name}, min_leaf {min_leaf}, 1000 × 20, 1000 asked",
            "sklearn RandomForest, 50 trees",
            _time(theirs),
            _time(ours),
            ratio,
            f"≤ {at_most:g} × its time",
            ratio <= at_most,
        )


def _growth(name: str, preset: dict[str, Any]) -> Iterator[Row]:
    """Double the rows, then the queries; the ratio is the geometric mean growth per step."""
    features, y = _problem(2 * STEPS[-1])
    queries = features[STEPS[-1] :]

    def seconds(size: int, asked: int) -> float:
        model = LazyOptionTreeClassifier(**preset, n_jobs=1).fit(features[:size], y[:size])
        model.predict_proba(queries[:asked])
        return _median(lambda: model.predict_proba(queries[:asked]), 3)

    growths = (
        ("rows", [seconds(size, 500) for size in STEPS], 2.6),
        ("queries", [seconds(1000, asked) for asked in STEPS], 1.95),
    )
    for what, times, at_most in growths:
        ratio = (times[-1] / times[0]) ** (1 / (len(times) - 1))
        yield Row(
            f"LOT {name}, {what} doubling {STEPS[0]} → {STEPS[-1]}",
            f"{STEPS[0]} {what}; mean ratio of a step",
            _time(times[0]),
            _time(times[-1]),
            ratio,
            f"≤ {at_most:g} × a step",
            ratio <= at_most,
        )


LARGE = """
import json, sys, time
from pathlib import Path
from sklearn.datasets import make_classification
from stakes.learn import LazyOptionTreeClassifier
X, y = make_classification(110_000, 20, n_informative=8, n_classes=3, flip_y=0.05, random_state=0)
X, y, queries = X[:100_000], y[:100_000], X[100_000:]
options, asked = json.loads(sys.argv[1]), int(sys.argv[2])
def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
before = kilobytes("VmRSS")
model = LazyOptionTreeClassifier(**options, n_jobs=1).fit(X, y)
model.predict_proba(queries[-1:])
Path("/proc/self/clear_refs").write_text("5")  # forget the peak of what was just loaded
start = time.process_time()
model.predict_proba(queries[:asked])
print(time.process_time() - start, 1024 * (kilobytes("VmHWM") - before))
"""


def _large(name: str) -> Iterator[Row]:
    """Project the time of 100 000 queries on 100 000 rows, and measure the memory of some of them.

    More queries share more nodes, so the projection tends to overestimate the time.
    """
    asked, options = SLICE[name], json.dumps(PRESETS[name])
    _run(LARGE, options, "1")  # compiles, unless there is compiled code already
    told = _run(LARGE, options, str(asked))
    seconds, extra = float(told[0]), int(told[1])
    task = f"LOT {name}, 100 000 × 20"
    projected = f"{seconds / asked * 1e5 / 3600:.3g} h"
    peer = f"projected from {asked} for 100 000"
    yield Row(f"{task}, time", peer, _time(seconds), projected, 1e5 / asked, "reported", True)
    memory = f"{extra / 1e6:.3g} MB"
    ratio = extra / GIGABYTE
    yield Row(f"{task}, extra memory", "1 GB", "1000 MB", memory, ratio, "≤ 1 ×", ratio <= 1)


START = """
import time
import numba, numpy, sklearn.tree, narwhals
start = time.process_time()
from stakes.learn import LazyOptionTreeClassifier
X = numpy.random.default_rng(0).normal(size=(60, 4))
LazyOptionTreeClassifier().fit(X[:40], X[:40, 0] > 0).predict_proba(X[40:])
print(time.process_time() - start)
"""


def _start() -> Iterator[Row]:
    """Time the first probabilities of a new process, without and with compiled code cached."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, limit in (("compiling", 20.0), ("compiled before", 1.0)):
            seconds = float(_run(START, NUMBA_CACHE_DIR=folder)[0])
            yield Row(
                f"LOT, first probabilities, {kind}",
                f"{limit:g} s",
                _time(limit),
                _time(seconds),
                seconds / limit,
                "≤ 1 ×",
                seconds <= limit,
            )


def _run(code: str, *arguments: str, **environment: str) -> list[str]:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def _median(task: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()  # of one job; other processes hardly affect it
        task()
        times.append(time.process_time() - start)
    return statistics.median(times)


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
