"""The same seeds give the same numbers on a Dask cluster, even when a worker dies."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import joblib
import pytest
from _helpers.toy_experiment import TOY, dies_once

from replications import run

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def cluster():
    """Start two workers, each a process of its own."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as started,
        distributed.Client(started),
    ):
        yield started


@contextmanager
def on(backend, jobs=None):
    with joblib.parallel_config(backend=backend, n_jobs=jobs):
        yield


@pytest.mark.usefixtures("cluster")
def test_one_worker_two_workers_and_a_cluster_give_the_same_numbers(tmp_path):
    alone = run(TOY, scale=0.3, seed=11, n_jobs=1)
    with on("loky", 2):
        two = run(TOY, scale=0.3, seed=11)
    told = []
    with on("dask"):
        many = run(TOY, scale=0.3, seed=11, folder=tmp_path, progress=lambda *now: told.append(now))
    assert alone == two == many
    assert [done for done, _, _ in told] == list(range(7))
    assert run(TOY, scale=0.3, seed=11, folder=tmp_path) == alone


@pytest.mark.usefixtures("cluster")
def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    mortal = replace(TOY, measure=dies_once)
    with on("dask"):
        found = run(mortal, data=tmp_path)
    assert Path(tmp_path / "died").exists()
    assert found == run(TOY)
