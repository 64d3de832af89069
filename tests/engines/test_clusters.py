"""Clusters of several processes that lose a worker while counting."""

import doctest
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stakes import CostMatrix, PairedConfusion

pytestmark = [
    pytest.mark.services,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # of py4j
]

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "engines.md"
ROWS, PARTS = 4_000_000, 16
LABELS = ("ok", "fraud", "review")


def expected(labels):
    """The table by NumPy, from the same arithmetic on row numbers as in the frames."""
    ids = np.arange(ROWS)
    table = np.zeros((3, 3, 3), dtype=np.int64)
    columns = (ids * 7 % 11 % 3, ids * 5 % 13 % 3, ids % 17 % 3)
    np.add.at(table, columns, 1)
    return PairedConfusion(table, labels)


def when(happened, act):
    """Do something in a thread as soon as something has happened; return the thread."""

    def watch():
        while not happened():
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def test_a_lost_worker_of_spark_changes_no_count(cluster, cluster_spark):
    size = ROWS // PARTS
    nap = f"id % {size} = 0 AND concat('x', reflect('java.lang.Thread', 'sleep', 250L)) = ''"
    names = ", ".join(map(repr, LABELS))
    frame = cluster_spark.range(0, ROWS, numPartitions=PARTS).selectExpr(
        f"element_at(array({names}), int(id * 7% 11% 3 + 1)) AS a",
        f"element_at(array({names}), int(id * 5% 13% 3 + 1)) AS b",
        f"CASE WHEN {nap} THEN '' ELSE element_at(array({names}), int(id % 17% 3 + 1)) END AS t",
    )
    tracker = cluster_spark.sparkContext.statusTracker()
    seen = []

    def some_parts_are_done():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        busy = [(s.numCompletedTasks, s.numTasks) for s in stages if s and s.numTasks == PARTS]
        seen.extend(done for done in busy if 3 <= done[0] < PARTS - 4)
        return bool(seen)

    thread = when(some_parts_are_done, lambda: cluster.kill(cluster.workers[0]))
    counted = PairedConfusion.from_frame(
        frame, actual="t", predicted=("a", "b"), labels=list(LABELS)
    )
    thread.join(timeout=30)
    executors = cluster_spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()  # noqa: SLF001
    assert seen, "no worker was killed"
    assert len(executors) == 2, "the driver itself, and the worker that is left"
    assert counted == expected(LABELS)


def test_the_guide_counts_on_spark(cluster_spark, tmp_path):
    rows = pd.DataFrame({"truth": ["ok", "fraud"] * 50, "model": ["ok"] * 50 + ["fraud"] * 50})
    rows.to_parquet(tmp_path / "decisions.parquet")
    run_the_guide("spark", {"spark": cluster_spark, "folder": str(tmp_path)})


def test_a_lost_worker_of_dask_changes_no_count(dask_client, tmp_path):
    import dask.dataframe as dd

    size, traces = ROWS // PARTS, str(tmp_path)

    def part(number):
        import tempfile

        handle, _ = tempfile.mkstemp(dir=traces)
        os.close(handle)
        time.sleep(0.25)
        ids = np.arange(number * size, (number + 1) * size)
        return pd.DataFrame({"a": ids * 7 % 11 % 3, "b": ids * 5 % 13 % 3, "t": ids % 17 % 3})

    def runs():
        return len(list(tmp_path.iterdir()))

    frame = dd.from_map(part, range(PARTS), meta=part(0).head(0))
    before = runs()
    process = next(iter(dask_client.run(os.getpid).values()))
    thread = when(lambda: runs() >= before + 5, lambda: os.kill(process, signal.SIGKILL))
    counted = PairedConfusion.from_frame(frame, actual="t", predicted=("a", "b"))
    thread.join(timeout=30)
    assert process not in dask_client.run(os.getpid).values()
    assert runs() - before > PARTS, "nothing was lost, so nothing had to be made again"
    assert counted == expected(range(3))


def test_learners_on_dask_are_those_of_this_process(dask_client):
    from joblib import parallel_config
    from sklearn.datasets import make_classification
    from sklearn.naive_bayes import GaussianNB

    from stakes.learn import BaggedPETClassifier, compare_learners

    X, y = make_classification(300, random_state=0)  # noqa: N806
    costs = CostMatrix.from_errors(false_positive=1, false_negative=7)
    learners = {
        "bayes": GaussianNB(),
        "trees": BaggedPETClassifier(5, random_state=0),
    }

    def tasks():
        return dask_client.run_on_scheduler(
            lambda dask_scheduler: dask_scheduler.transition_counter
        )

    dask_client.wait_for_workers(2)  # joblib sends no task to a cluster of one worker
    here = compare_learners(learners, X, y, costs, cv=3, random_state=0)
    before = tasks()
    with parallel_config(backend="dask"):
        there = compare_learners(learners, X, y, costs, cv=3, random_state=0, n_jobs=2)
        trees = BaggedPETClassifier(5, random_state=0, n_jobs=2).fit(X, y)
    assert tasks() > before, "nothing was sent to the workers"
    assert np.array_equal(there.fold_costs, here.fold_costs)
    assert there.best_set() == here.best_set()
    alone = BaggedPETClassifier(5, random_state=0).fit(X, y)
    assert np.array_equal(trees.predict_proba(X), alone.predict_proba(X))


def test_the_guide_counts_on_dask(dask_client, tmp_path):
    rows = pd.DataFrame({"truth": ["ok", "fraud"] * 50, "model": ["ok"] * 50 + ["fraud"] * 50})
    rows.to_parquet(tmp_path / "decisions.parquet")
    run_the_guide("dask", {"client": dask_client, "folder": str(tmp_path)})


def run_the_guide(engine, names):
    """Run an example of the guide that needs a cluster, which the others do without."""
    blocks = GUIDE.read_text(encoding="utf-8").split("```pycon\n")[1:]
    (example,) = [block.split("```")[0] for block in blocks if f"{engine}." in block]
    parsed = doctest.DocTestParser().get_doctest(example, names, engine, str(GUIDE), 0)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(parsed, out=said.append)
    assert runner.tries
    assert said == []
