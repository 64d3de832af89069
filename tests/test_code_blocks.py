"""Every block of code and every command in the documentation is run by some test.

Blocks of Python run with their page (`conftest.py`). This file runs the blocks of other kinds that
no test of their subject runs, and checks that no block is forgotten.
"""

import doctest
import re
from importlib import import_module

import numpy as np
import pytest
from _helpers.pages import ROOT, blocks, fenced, text_of, written
from _helpers.toy_experiment import TOY
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replications import run
from stakes import BinnedScoreCounts, CostMatrix
from stakes.learn import compare_learners

NO_CODE = {"text", "{image}", "{eval-rst}", "{glossary}", "{include}", "{toctree}"}
RUN_BY = {
    ("CONTRIBUTING.md", "console"): "tests/test_documents.py",
    ("README.md", "console"): "tests/test_documents.py",
    ("docs/explanation/what_we_found.md", "console"): "tests/replications/test_guide.py",
    ("docs/howto/binned_scores.md", "sql"): "tests/test_code_blocks.py",
    ("docs/howto/audit.md", "console"): "tests/cli/test_audit.py",
    ("docs/howto/ci_gate.md", "console"): "tests/cli/test_guide.py",
    ("docs/howto/ci_gate.md", "py"): "tests/track/test_pytest_gate.py",
    ("docs/howto/ci_gate.md", "yaml"): "tests/cli/test_guide.py",
    ("docs/howto/command_line.md", "console"): "tests/cli/test_guide.py",
    ("docs/howto/databases.md", "console"): "tests/cli/test_databases.py",
    ("docs/howto/databases.md", "py"): "tests/cli/test_databases.py",
    ("docs/howto/evaluation_logs.md", "console"): "tests/cli/test_guide.py",
    ("docs/howto/input.md", "console"): "tests/cli/test_guide.py",
    ("docs/howto/engines.md", "pycon"): "tests/engines/test_clusters.py",
    ("docs/howto/simulate.md", "console"): "tests/cli/test_guide.py",
    ("docs/howto/large_files.md", "console"): "tests/cli/test_guide.py",
    ("docs/howto/merge.md", "console"): "tests/cli/test_guide.py",
    ("docs/howto/mlflow.md", "py"): "tests/track/test_mlflow_run.py",
    ("docs/howto/report.md", "console"): "tests/cli/test_guide.py",
    ("docs/howto/reproduce.md", "console"): "tests/replications/test_guide.py",
    ("docs/howto/reproduce.md", "py"): "tests/test_code_blocks.py",
    ("docs/index.md", "console"): "tests/test_tutorial.py",  # the same command
    ("docs/index.md", "py"): "tests/test_documents.py",  # the README has them, with data
    ("docs/tutorial/index.md", "console"): "tests/test_tutorial.py",
    ("docs/tutorial/index.md", "py"): "tests/test_tutorial.py",
}


def test_every_block_is_run_by_a_test():
    found = {
        (page, language)
        for page in written()
        for language, _ in fenced(text_of(page))
        if language not in NO_CODE | {"python"}
    }
    assert found == set(RUN_BY)
    for (page, _), test in RUN_BY.items():
        *_, name = page.split("/")
        text = text_of(test)
        assert name in text or ("tutorial" in page and '"tutorial"' in text), (page, test)


def test_no_command_hides_in_other_blocks():
    for page in written():
        for block in blocks(text_of(page), "text"):
            found = re.search(r"^\$ |^ *(from [\w.]+ )?import \w+", block, flags=re.MULTILINE)
            assert not found, page


def test_the_query_of_the_guide_makes_bins():
    duckdb = pytest.importorskip("duckdb")
    (query,) = blocks(text_of("docs/howto/binned_scores.md"), "sql")
    rng = np.random.default_rng(0)
    truth = rng.random(1000) < 0.3
    score = rng.beta(2 + truth, 3 - truth)
    with duckdb.connect() as database:
        database.execute("CREATE TABLE predictions (score DOUBLE, truth INTEGER)")
        rows = list(zip(score.tolist(), truth.astype(int).tolist(), strict=True))
        database.executemany("INSERT INTO predictions VALUES (?, ?)", rows)
        table = database.execute(query).fetchall()
    binned = BinnedScoreCounts(*(np.array(column, float) for column in zip(*table, strict=True)))
    assert binned.n == 1000
    assert binned.positives.sum() == truth.sum()


@pytest.fixture(scope="module")
def cluster():
    """Start a Dask cluster in this process, and return its address."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    ) as started:
        yield started.scheduler_address


def test_an_experiment_of_the_guide_runs_on_a_cluster(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (shown,) = blocks(text_of("docs/howto/reproduce.md"), "py")
    assert shown.count("tcp://scheduler:8786") == 1
    names = {"run": run, "mine": TOY}
    exec(shown.replace("tcp://scheduler:8786", cluster), names)  # noqa: S102 - our own guide
    assert names["results"] == run(TOY)
    assert (tmp_path / "rare-frauds").is_dir()


def test_the_guide_trains_on_a_cluster(cluster):
    (shown,) = [
        block for block in blocks(text_of("docs/howto/engines.md"), "pycon") if "learners" in block
    ]
    features, y = make_classification(200, random_state=0)
    names = {
        "X": features,
        "y": y,
        "compare_learners": compare_learners,
        "costs": CostMatrix.from_errors(false_positive=1, false_negative=7),
        "learners": {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)},
    }
    parsed = doctest.DocTestParser().get_doctest(shown, dict(names), "engines", str(ROOT), 0)
    with import_module("distributed").Client(cluster):
        assert doctest.DocTestRunner().run(parsed, clear_globs=False).failed == 0
    here = compare_learners(names["learners"], features, y, names["costs"], random_state=0)
    assert np.array_equal(parsed.globs["compared"].fold_costs, here.fold_costs)
