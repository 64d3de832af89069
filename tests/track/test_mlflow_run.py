"""Runs of a real MLflow, with its local SQLite store."""

import json
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

from stakes import CostMatrix, evaluate, study_of
from stakes.errors import MissingExtraError
from stakes.predictions.count_file import counts_from_text
from stakes.track import log_to_mlflow, mlflow_cost_metric

# MLflow and its dependencies warn about one another.
pytestmark = pytest.mark.filterwarnings("ignore")

COSTS = CostMatrix.from_errors(
    false_positive=2000, false_negative=40_000, pos_label="malignant", neg_label="benign"
)
ROWS = pd.read_csv("examples/breast_cancer.csv")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return MLflow with a store for all tests: to make one takes seconds."""
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db")
    yield mlflow
    mlflow.set_tracking_uri(None)


@pytest.fixture
def mlflow(store, tmp_path):
    """Return MLflow with an experiment for one test."""
    store.create_experiment(tmp_path.name, artifact_location=(tmp_path / "artifacts").as_uri())
    store.set_experiment(tmp_path.name)
    return store


def test_costs_comparisons_counts_and_the_report_are_logged(mlflow, tmp_path):
    study = study_of(
        ROWS["actual"],
        {"logistic": ROWS["logistic"], "a tree: 1": ROWS["tree"]},
        COSTS,
        y_score={"logistic": ROWS["logistic_score"]},
    )
    with mlflow.start_run() as run:
        found = log_to_mlflow(study, prefix="test/")
    kept = mlflow.get_run(run.info.run_id).data
    verdict = found.verdict
    for model in found.models:
        name = "test/" + model.name.replace(":", "_")
        metrics = [kept.metrics[f"{name}/cost{each}"] for each in ("", "_low", "_high")]
        assert metrics == pytest.approx([model.cost, model.low, model.high])
    tree = evaluate(ROWS["actual"], ROWS["tree"], COSTS)  # a model with decisions only
    assert kept.metrics["test/a tree_ 1/cost"] == pytest.approx(tree.cost)
    assert kept.metrics["test/a tree_ 1/cost_high"] == pytest.approx(tree.interval().high)
    policy = next(each for each in found.policies if each.kind == "threshold")
    assert kept.metrics["test/logistic/threshold"] == policy.threshold
    saved = [kept.metrics[f"test/verdict/saving{each}"] for each in ("", "_low", "_high")]
    saving = verdict.saving
    assert saved == pytest.approx([saving.per_decision, saving.low, saving.high])
    assert kept.metrics["test/verdict/cost"] == verdict.cost
    assert kept.metrics["test/verdict/ties"] == len(verdict.ties)
    assert kept.tags["stakes.verdict"] == verdict.text
    assert kept.tags["stakes.use"] == verdict.use
    assert kept.tags["stakes.baseline"] == "logistic"
    assert kept.tags["stakes.shown"] == str(verdict.shown).lower()
    parameters = {name.removeprefix("test/stakes."): each for name, each in kept.params.items()}
    assert json.loads(parameters["costs"])["benign"] == {"benign": 0, "malignant": 40_000}
    assert json.loads(parameters["thresholds"]) == {"logistic": policy.threshold}
    assert (parameters["n"], parameters["confidence"]) == (str(len(ROWS)), "0.95")
    assert parameters["class_priors"] == "null"
    folder = mlflow.artifacts.download_artifacts(
        run_id=run.info.run_id, artifact_path="stakes", dst_path=str(tmp_path)
    )
    files = {path.name: path for path in type(tmp_path)(folder).iterdir()}
    assert sorted(files) == ["counts.json", "findings.json", "report.html"]
    assert json.loads(files["findings.json"].read_text())["schema"] == found.schema
    assert "logistic" in files["report.html"].read_text()
    counts = counts_from_text(files["counts.json"].read_text(), "counts.json")
    assert counts.joint.n == len(ROWS)


def test_names_do_not_depend_on_who_wins(mlflow):
    names = []
    for alarm in (2000, 200_000):  # logistic wins, then no model does
        costs = CostMatrix.from_errors(
            false_positive=alarm, false_negative=40_000, pos_label="malignant", neg_label="benign"
        )
        decided = {name: ROWS[name] for name in ("logistic", "tree")}
        study = study_of(
            ROWS["actual"], decided, costs, class_priors={"benign": 0.9, "malignant": 0.1}
        )
        with mlflow.start_run() as run:
            log_to_mlflow(study, report=False)
        kept = mlflow.get_run(run.info.run_id).data
        assert json.loads(kept.params["stakes.class_priors"]) == {"benign": 0.9, "malignant": 0.1}
        names.append((set(kept.metrics) - {"verdict/to_settle"}, set(kept.params)))
    assert names[0] == names[1]


def test_cost_as_a_metric_of_an_evaluation(mlflow):
    data = pd.DataFrame({"actual": ROWS["actual"], "decided": ROWS["tree"]})
    with mlflow.start_run():
        result = mlflow.models.evaluate(
            data=data,
            targets="actual",
            predictions="decided",
            extra_metrics=[mlflow_cost_metric(COSTS)],
            evaluators="default",
        )
    estimate = evaluate(ROWS["actual"], ROWS["tree"], COSTS)
    interval = estimate.interval()
    names = ("cost", "cost/low", "cost/high")
    expected = [estimate.cost, interval.low, interval.high]
    assert [result.metrics[name] for name in names] == pytest.approx(expected)


@pytest.mark.usefixtures("mlflow")
def test_the_guide_runs(capsys):
    guide = (Path(__file__).parents[2] / "docs/howto/mlflow.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```py\n(.*?)```", guide, flags=re.DOTALL)
    assert len(blocks) > 1
    exec(compile("\n".join(blocks), "mlflow.md", "exec"), {})  # noqa: S102 - our own guide
    assert capsys.readouterr().out.startswith("2028.07")


def test_without_mlflow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'stakes\[mlflow\]'"):
        mlflow_cost_metric(COSTS)
