"""Layouts of tables in practice: each column gets the right role, or the table is refused."""

import shlex
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

from stakes import CostMatrix, study_of
from stakes.cli.main import main
from stakes.errors import InputWarning, StakesError
from stakes.predictions import Columns, DesignColumns, Reading
from stakes.study import study_of_files

N = 60


class Quiet:
    """Is told the progress and does nothing."""

    def expect(self, steps):
        pass

    def step(self, text):
        pass

    def reach(self, done, total, text):
        pass


def column(kind, seed):
    """Return values of a kind: y and d are classes, p scores, x features, i ids."""
    truth = np.random.default_rng(0).random(N) < 0.4
    rng = np.random.default_rng(seed)
    decided = truth ^ (rng.random(N) < 0.2)
    score = np.clip(np.where(truth, 0.7, 0.3) + rng.normal(0, 0.15, N), 0.01, 0.99).round(4)
    words = {
        "yw": truth,
        "dw": decided,
    }
    made = {
        "y": lambda: truth.astype(int),
        "yb": truth.copy,
        "yf": lambda: truth.astype(float),
        "yn": lambda: np.where(truth, "yes", "no"),
        "d": lambda: decided.astype(int),
        "db": decided.copy,
        "df": lambda: decided.astype(float),
        "dn": lambda: np.where(decided, "yes", "no"),
        "dc": lambda: np.where(decided, "FRAUD", "Ok "),
        "p": score.copy,
        # Probabilities of the other class, in the column before (q) or after (qq) "p".
        "q": lambda: (1 - column("p", seed + 1)).round(4),
        "qq": lambda: (1 - column("p", seed - 1)).round(4),
        "m": lambda: (score * 10 - 5).round(3),
        "points": (300 + 550 * score).round,
        "comma": lambda: [str(each).replace(".", ",") for each in score],
        "x2": lambda: rng.integers(0, 2, N),
        "xi": lambda: rng.integers(18, 90, N),
        "xc": lambda: rng.integers(0, 5, N),
        "xf": lambda: rng.normal(50, 9, N).round(2),
        "xw": lambda: [f"town {each}" for each in rng.integers(0, 30, N)],
        "x2w": lambda: np.where(rng.random(N) < 0.5, "north", "south"),
        "i": lambda: np.arange(1000, 1000 + N),
        "ir": lambda: np.repeat(np.arange(N // 3), 3),
        "iw": lambda: [f"c{each}" for each in range(N)],
        "date": lambda: [f"2026-01-{1 + each % 28:02d}" for each in range(N)],
    }
    if kind in words:
        return np.where(words[kind], "fraud", "ok")
    return made[kind]()


def table(layout):
    return pa.table(
        {
            name: pa.array(list(column(kind, at)))
            for at, (name, kind) in enumerate(layout.items(), 1)
        }
    )


ONE = {"y_true": "y"}
LAYOUTS = [
    # common names
    ({**ONE, "y_pred": "d"}, "y_true", {"y_pred": ("y_pred", None)}),
    ({**ONE, "y_pred": "d", "y_score": "p"}, "y_true", {"y_pred": ("y_pred", "y_score")}),
    ({**ONE, "y_prob": "p"}, "y_true", {"y_prob": (None, "y_prob")}),
    ({**ONE, "y_pred_proba": "p"}, "y_true", {"y_pred_proba": (None, "y_pred_proba")}),
    ({"label": "y", "prediction": "d", "probability": "p"}, "label",
     {"prediction": ("prediction", "probability")}),
    ({"target": "y", "pred": "d", "proba": "p"}, "target", {"pred": ("pred", "proba")}),
    ({"y": "y", "yhat": "d", "phat": "p"}, "y", {"yhat": ("yhat", "phat")}),
    ({"actual": "yw", "predicted": "dw"}, "actual", {"predicted": ("predicted", None)}),
    ({"Actual": "yw", "Predicted": "dw", "Probability": "p"}, "Actual",
     {"Predicted": ("Predicted", "Probability")}),
    ({"ground truth": "y", "predicted_label": "d"}, "ground truth",
     {"predicted_label": ("predicted_label", None)}),
    ({"y_test": "y", "y_hat": "d"}, "y_test", {"y_hat": ("y_hat", None)}),
    ({"class": "yw", "score": "p"}, "class", {"score": (None, "score")}),
    ({"true_label": "y", "pred_label": "d", "score": "m"}, "true_label",
     {"pred_label": ("pred_label", "score")}),
    ({"gold": "yw", "prediction": "dw"}, "gold", {"prediction": ("prediction", None)}),
    ({"outcome": "y", "decision": "d"}, "outcome", {"decision": ("decision", None)}),
    # several models
    ({**ONE, "model_a": "d", "score_a": "p", "model_b": "d", "score_b": "p"}, "y_true",
     {"a": ("model_a", "score_a"), "b": ("model_b", "score_b")}),
    ({**ONE, "yhat_x": "d", "phat_x": "p", "yhat_z": "d", "phat_z": "p"}, "y_true",
     {"x": ("yhat_x", "phat_x"), "z": ("yhat_z", "phat_z")}),
    ({**ONE, "lgbm_0": "q", "lgbm_1": "p"}, "y_true", {"lgbm": (None, "lgbm_1")}),
    ({**ONE, "model_0": "p", "model_1": "p"}, "y_true",
     {"model_0": (None, "model_0"), "model_1": (None, "model_1")}),
    ({**ONE, "rf_proba_0": "q", "rf_proba_1": "p", "xgb_proba_0": "q", "xgb_proba_1": "p"},
     "y_true", {"rf": (None, "rf_proba_1"), "xgb": (None, "xgb_proba_1")}),
    ({**ONE, "proba_0": "q", "proba_1": "p"}, "y_true", {"proba_1": (None, "proba_1")}),
    ({**ONE, "pred_rf": "d", "pred_xgb": "d"}, "y_true",
     {"rf": ("pred_rf", None), "xgb": ("pred_xgb", None)}),
    ({**ONE, "rf_pred": "d", "rf_prob": "p", "xgb_pred": "d", "xgb_prob": "p"}, "y_true",
     {"rf": ("rf_pred", "rf_prob"), "xgb": ("xgb_pred", "xgb_prob")}),
    ({**ONE, "rf": "d", "rf_score": "p", "xgb": "d", "xgb_score": "p"}, "y_true",
     {"rf": ("rf", "rf_score"), "xgb": ("xgb", "xgb_score")}),
    ({**ONE, "rf": "d", "xgb": "d"}, "y_true", {"rf": ("rf", None), "xgb": ("xgb", None)}),
    ({**ONE, "rf": "p", "xgb": "p"}, "y_true", {"rf": (None, "rf"), "xgb": (None, "xgb")}),
    ({**ONE, "rf": "d", "xgb": "p"}, "y_true", {"rf": ("rf", None), "xgb": (None, "xgb")}),
    ({**ONE, "rf_logit": "m", "xgb_logit": "m"}, "y_true",
     {"rf": (None, "rf_logit"), "xgb": (None, "xgb_logit")}),
    ({**ONE, "pred_logit": "d", "score_logit": "p", "pred_rf": "d", "score_rf": "p"}, "y_true",
     {"logit": ("pred_logit", "score_logit"), "rf": ("pred_rf", "score_rf")}),
    ({**ONE, "logit": "d", "logit_score": "p", "rf": "d", "rf_score": "p"}, "y_true",
     {"logit": ("logit", "logit_score"), "rf": ("rf", "rf_score")}),
    ({**ONE, "logit_pred": "d", "logit_prob": "p"}, "y_true",
     {"logit": ("logit_pred", "logit_prob")}),
    ({"actual": "yw", "logit_pred": "dw", "proba_logit": "p"}, "actual",
     {"logit": ("logit_pred", "proba_logit")}),
    ({**ONE, "model_logit": "d", "pred_proba_logit": "p"}, "y_true",
     {"logit": ("model_logit", "pred_proba_logit")}),
    ({**ONE, "pred_logit": "m"}, "y_true", {"logit": (None, "pred_logit")}),
    ({**ONE, "logit": "m", "pred": "d"}, "y_true", {"pred": ("pred", "logit")}),
    ({**ONE, "pred_rf": "d", "pred_prob_rf": "p"}, "y_true", {"rf": ("pred_rf", "pred_prob_rf")}),
    ({**ONE, "rf": "d", "y_pred_proba_rf": "p"}, "y_true", {"rf": ("rf", "y_pred_proba_rf")}),
    ({**ONE, "svm_margin": "m", "svm_pred": "d"}, "y_true", {"svm": ("svm_pred", "svm_margin")}),
    ({**ONE, "svm_decision_function": "m", "svm": "d"}, "y_true",
     {"svm": ("svm", "svm_decision_function")}),
    ({**ONE, "scorecard_points": "points"}, "y_true", {"scorecard": (None, "scorecard_points")}),
    ({**ONE, "Random Forest": "d", "Random Forest Probability": "p"}, "y_true",
     {"Random Forest": ("Random Forest", "Random Forest Probability")}),
    ({**ONE, "pred.rf": "d", "prob.rf": "p"}, "y_true", {"rf": ("pred.rf", "prob.rf")}),
    ({**ONE, "y_pred_old": "d", "y_pred_new": "d"}, "y_true",
     {"old": ("y_pred_old", None), "new": ("y_pred_new", None)}),
    ({**ONE, "prediction_v1": "p", "prediction_v2": "p"}, "y_true",
     {"v1": (None, "prediction_v1"), "v2": (None, "prediction_v2")}),
    ({**ONE, "pred": "p"}, "y_true", {"pred": (None, "pred")}),
    ({**ONE, "old": "d", "new": "d", "new_score": "p", "old_score": "p"}, "y_true",
     {"old": ("old", "old_score"), "new": ("new", "new_score")}),
    # words, booleans, floats
    ({"actual": "yw", "logistic": "dw", "tree": "dw"}, "actual",
     {"logistic": ("logistic", None), "tree": ("tree", None)}),
    ({"actual": "yw", "logistic": "dw", "tree": "dw", "tree_score": "p"}, "actual",
     {"logistic": ("logistic", None), "tree": ("tree", "tree_score")}),
    ({"actual": "yw", "prob_fraud": "p", "prob_ok": "qq"}, "actual",
     {"prob_fraud": (None, "prob_fraud")}),
    ({"actual": "yw", "rf_fraud": "p", "rf_ok": "qq"}, "actual", {"rf": (None, "rf_fraud")}),
    ({"truth": "yn", "rule_pred": "dn"}, "truth", {"rule": ("rule_pred", None)}),
    ({"truth": "yb", "model": "db"}, "truth", {"model": ("model", None)}),
    ({"truth": "y", "model": "d", "score": "p"}, "truth", {"model": ("model", "score")}),
    ({"y": "yf", "pred": "df"}, "y", {"pred": ("pred", None)}),
    ({"y": "y", "pred": "df"}, "y", {"pred": ("pred", None)}),
    ({"y": "yf", "a": "d", "b": "d"}, "y", {"a": ("a", None), "b": ("b", None)}),
    # features beside models
    ({**ONE, "pred_a": "d", "married": "x2", "has_phone": "x2"}, "y_true",
     {"a": ("pred_a", None)}),
    ({**ONE, "score": "p", "married": "x2", "age": "xi"}, "y_true", {"score": (None, "score")}),
    ({**ONE, "rf": "d", "rf_score": "p", "owns_home": "x2", "visits": "xc", "town": "xw"},
     "y_true", {"rf": ("rf", "rf_score")}),
    ({**ONE, "pred": "d", "age": "xi", "income": "xf", "town": "xw"}, "y_true",
     {"pred": ("pred", None)}),
    ({**ONE, "rf": "d", "age": "xi", "visits": "xc"}, "y_true", {"rf": ("rf", None)}),
    ({**ONE, "rf": "p", "age": "xi", "balance": "xf"}, "y_true", {"rf": (None, "rf")}),
    ({"actual": "yw", "pred_rf": "dw", "region": "x2w"}, "actual", {"rf": ("pred_rf", None)}),
    ({"id": "i", **ONE, "pred": "d"}, "y_true", {"pred": ("pred", None)}),
    ({"Unnamed: 0": "i", **ONE, "pred": "d"}, "y_true", {"pred": ("pred", None)}),
    ({"patient_id": "ir", **ONE, "pred": "d"}, "y_true", {"pred": ("pred", None)}),
    ({"customerID": "iw", **ONE, "pred": "d", "date": "date"}, "y_true",
     {"pred": ("pred", None)}),
    ({"index": "i", "label": "y", "lr_p": "p", "paid": "x2"}, "label", {"lr": (None, "lr_p")}),
    # targets that are recognised by name
    ({"is_fraud": "y", "model_score": "p"}, "is_fraud", {"model": (None, "model_score")}),
    ({"default": "y", "pred": "d"}, "default", {"pred": ("pred", None)}),
    ({"churned": "yn", "churn_score": "p"}, "churned", {"churn": (None, "churn_score")}),
    ({"default.payment.next.month": "y", "score": "p"}, "default.payment.next.month",
     {"score": (None, "score")}),
    ({"isFraud": "y", "fraud_label": "y", "pred": "d"}, "fraud_label", {"pred": ("pred", None)}),
    ({"died_30d": "y", "age": "xi", "risk_score": "p"}, "died_30d", {"risk": (None, "risk_score")}),
    ({"readmitted": "y", "diabetic": "x2", "prob": "p"}, "readmitted", {"prob": (None, "prob")}),
    ({"is_spam": "yb", "pred_spam_filter": "db"}, "is_spam",
     {"spam_filter": ("pred_spam_filter", None)}),
    ({"click": "y", "ctr_model_prob": "p", "device": "x2w"}, "click",
     {"ctr_model": (None, "ctr_model_prob")}),
    ({"isFraud": "y", "TransactionAmt": "xf", "fraudScore": "p"}, "isFraud",
     {"fraud": (None, "fraudScore")}),
    ({"gold_label": "yw", "llm_label": "dw", "rule_label": "dw"}, "gold_label",
     {"llm_label": ("llm_label", None), "rule_label": ("rule_label", None)}),
    ({"expected": "yw", "gpt-4o": "dw", "claude": "dw"}, "expected",
     {"gpt-4o": ("gpt-4o", None), "claude": ("claude", None)}),
    ({"default_12m": "y", "pd_old": "p", "pd_new": "p"}, "default_12m",
     {"pd_old": (None, "pd_old"), "pd_new": (None, "pd_new")}),
    # the formats of libraries and services
    ({**ONE, "predict": "d", "predict_proba": "p"}, "y_true",
     {"predict": ("predict", "predict_proba")}),
    ({"class": "yw", "predict": "dw", "ok": "q", "fraud": "p"}, "class",
     {"predict": ("predict", "fraud")}),
    ({"y": "y", "predict": "d", "p0": "q", "p1": "p"}, "y", {"predict": ("predict", "p1")}),
    ({"y": "y", "0": "q", "1": "p"}, "y", {"1": (None, "1")}),
    ({"y": "yb", "prob_False": "q", "prob_True": "p"}, "y", {"prob_True": (None, "prob_True")}),
    ({"y": "yb", "rf_0": "q", "rf_1": "p"}, "y", {"rf": (None, "rf_1")}),
    ({"label": "yf", "prediction": "df", "probability_0": "q", "probability_1": "p"}, "label",
     {"prediction": ("prediction", "probability_1")}),
    ({"label": "y", "Scored Labels": "d", "Scored Probabilities": "p"}, "label",
     {"Scored Labels": ("Scored Labels", "Scored Probabilities")}),
    ({"actual": "y", "predicted_label": "d", "predicted_probability": "p"}, "actual",
     {"predicted_label": ("predicted_label", "predicted_probability")}),
    ({"class": "yw", ".pred_class": "dw", ".pred_fraud": "p", ".pred_ok": "qq"}, "class",
     {".pred_class": (".pred_class", ".pred_fraud")}),
    ({"pred": "dw", "obs": "yw", "fraud": "p", "ok": "qq"}, "obs", {"pred": ("pred", "fraud")}),
    ({**ONE, "P_BAD0": "q", "P_BAD1": "p"}, "y_true", {"BAD": (None, "P_BAD1")}),
    ({"label": "y", "predictions": "d", "scores": "p"}, "label",
     {"predictions": ("predictions", "scores")}),
    # names without separators; several models, one of them without a name
    ({"yTrue": "y", "yPred": "d", "yProb": "p"}, "yTrue", {"yPred": ("yPred", "yProb")}),
    ({**ONE, "predRF": "d", "probRF": "p", "predXGB": "d", "probXGB": "p"}, "y_true",
     {"RF": ("predRF", "probRF"), "XGB": ("predXGB", "probXGB")}),
    ({**ONE, "pred": "d", "proba": "p", "pred_rf": "d", "proba_rf": "p"}, "y_true",
     {"pred": ("pred", "proba"), "rf": ("pred_rf", "proba_rf")}),
    ({**ONE, "m0": "p", "m1": "p"}, "y_true", {"m0": (None, "m0"), "m1": (None, "m1")}),
    ({**ONE, "rf_y_pred": "d", "rf_y_score": "p"}, "y_true", {"rf": ("rf_y_pred", "rf_y_score")}),
    ({**ONE, "champion": "d", "champion_score": "p", "challenger": "d", "challenger_score": "p"},
     "y_true", {"champion": ("champion", "champion_score"),
                "challenger": ("challenger", "challenger_score")}),
    ({**ONE, "score_v1.2": "p", "score_v1.3": "p"}, "y_true",
     {"v1.2": (None, "score_v1.2"), "v1.3": (None, "score_v1.3")}),
    # features whose names are near those of scores
    ({**ONE, "pred": "d", "pH": "xf"}, "y_true", {"pred": ("pred", None)}),
    ({**ONE, "pred_lr": "d", "p_value": "p"}, "y_true", {"lr": ("pred_lr", None)}),
    ({**ONE, "pred": "d", "x0": "p", "x1": "p"}, "y_true", {"pred": ("pred", None)}),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
@pytest.mark.parametrize(
    ("layout", "actual", "models"), LAYOUTS, ids=[str([*x[0]]) for x in LAYOUTS]
)
def test_each_column_gets_its_part(tmp_path, layout, actual, models, kind):
    words = "fraud" if "yw" in layout.values() else None
    costs = {"false_positive": 1, "false_negative": 5}
    study = study_as(kind, table(layout), tmp_path, costs, pos_label=words)
    found = {each.name: (each.decisions, each.scores) for each in study.roles.models}
    assert (study.roles.actual, found) == (actual, models)


def study_as(kind, rows, folder, costs, **options):
    """Return the study of rows in a file of a kind, or in a data frame."""
    if kind == "frame":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # of ids that repeat
            return study_of(rows.to_pandas(), costs, **options)
    path = folder / f"predictions.{kind}"
    arrow_csv.write_csv(rows, path) if kind == "csv" else parquet.write_table(rows, path)
    return study_of_files([str(path)], costs, Columns(), Quiet(), **options)


def test_there_are_enough_layouts():
    assert len(LAYOUTS) >= 60


THREE = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
SHARES = np.random.default_rng(5).dirichlet([1, 1, 1], N)
OF_THREE = {
    "attached": ({f"p{i}": SHARES[:, i] for i in range(3)}, ("p0", "p1", "p2")),
    "apart": ({f"rf_{i}": SHARES[:, i] for i in range(3)}, ("rf_0", "rf_1", "rf_2")),
    "one-hot features": ({f"region_{i}": np.arange(N) // 3 % 3 == i for i in range(3)}, ()),
    "numbers": ({f"x_{i}": np.arange(N) + i for i in range(3)}, ()),
    "fractions that do not sum to 1": ({f"x{i}": SHARES[:, 0] for i in range(3)}, ()),
}


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
@pytest.mark.parametrize(("columns", "expected"), OF_THREE.values(), ids=OF_THREE)
def test_probabilities_of_three_classes_are_told_from_features(tmp_path, columns, expected, kind):
    decided = {"y": np.arange(N) % 3, "pred": np.arange(N) // 2 % 3}
    rows = pa.table(decided | {name: values.astype(float) for name, values in columns.items()})
    costs = CostMatrix(THREE, labels=[0, 1, 2], rows="predicted")
    (model,) = study_as(kind, rows, tmp_path, costs).roles.models
    assert (model.name, model.decisions, model.probabilities) == ("pred", "pred", expected)


def test_columns_without_any_value_are_named(tmp_path):
    rows = table({"y": "y", "pred_a": "d"}).append_column("pred_b", pa.nulls(N))
    for kind in ("csv", "parquet", "frame"):
        found = study_as(kind, rows, tmp_path, {"false_positive": 1, "false_negative": 5})
        assert [each.name for each in found.roles.models] == ["a"]
        assert "pred_b" in found.roles.doubtful


def test_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[0, 0, 1], [1, 1, 1]], columns=["y", "pred", "pred"])
    with pytest.raises(StakesError, match="the column 'pred' occurs 2 times"):
        study_of(frame, {"false_positive": 1, "false_negative": 5})


# Tables that need an option, and commands that are proposed for them.


def typed(words, capsys):
    """Run a command line as typed; return its exit code and what it wrote."""
    code = main(shlex.split(words)[1:])
    said = capsys.readouterr()
    return code, said.out, said.err


def write(path, layout, *, change=lambda rows: rows, **options):
    rows = change(table(layout))
    arrow_csv.write_csv(rows, path, arrow_csv.WriteOptions(**options))


def long_table(*, key="id", models=("a", "b"), order=1, model="model"):
    """Return rows for each example and model; examples of the second model in another order."""
    parts = []
    for at, name in enumerate(models):
        rows = slice(None, None, order if at else 1)
        parts.append({
            **({} if key is None else {key: column("i", 0)[rows]}),
            model: [name] * N,
            "y": column("y", 0)[rows],
            "score": column("p", 1 + at)[rows],
        })  # fmt: skip
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def with_gaps(rows):
    score = rows.column("score").to_pylist()
    label = rows.column("y_true").to_pylist()
    score[3], label[5] = None, None
    return pa.table({"y_true": label, "score": score})


def in_two_cases(rows):
    labels = enumerate(rows["y"].to_pylist())
    mixed = [each.title() if at % 2 else each for at, each in labels]
    return pa.table({"y": mixed, "pred": rows["pred"]})


REFUSED = {
    "which is the target": (
        lambda path: write(path, {"a": "d", "b": "d", "won": "y"}),
        "which column has the actual classes?",
    ),
    "two telling targets": (
        lambda path: write(path, {"is_fraud": "y", "churned": "x2", "score": "p"}),
        "which column has the actual classes?",
    ),
    "numbers that no name calls scores": (
        lambda path: write(path, {"y_true": "y", "rating": "points"}),
        "no column looks like a model",
    ),
    "labels in another case": (
        lambda path: write(path, {"actual": "yw", "pred": "dc"}),
        "(with --ignore-case they are the same)",
    ),
    "a target in two cases": (
        lambda path: write(
            path,
            {"y": "yn", "pred": "dn"},
            change=in_two_cases,
        ),
        "Some differ in case, spaces or punctuation only.",
    ),
    "missing values": (
        lambda path: write(path, {"y_true": "y", "score": "p"}, change=with_gaps),
        "there is no label. Leave such rows out with --drop-missing.",
    ),
    "long form, models in a column of any name": (
        lambda path: arrow_csv.write_csv(pa.table(long_table(model="run")), path),
        "each 'id' has a row with each of 'a', 'b', and one actual class. Are these models?",
    ),
    "long form of any name that lacks rows": (
        lambda path: arrow_csv.write_csv(pa.table(long_table(model="arm")).slice(0, 115), path),
        "each 'id' has a row with each of 'a', 'b'",
    ),
    "long form of any name without names of examples": (
        lambda path: arrow_csv.write_csv(pa.table(long_table(key=None, model="version")), path),
        "is there a row for each example and model?",
    ),
    "long form without names of examples": (
        lambda path: arrow_csv.write_csv(pa.table(long_table(key=None)), path),
        "is there a row for each example and model?",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "says"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_proposes_a_command_that_works(tmp_path, monkeypatch, capsys, make, says):
    monkeypatch.chdir(tmp_path)
    make("predictions.csv")
    costs = "--costs costs.csv" if "case" in says and "ignore" in says else "--fp 1 --fn 5"
    (tmp_path / "costs.csv").write_text("predicted\\actual,ok,fraud\nok,0,5\nfraud,1,0\n")
    code, out, err = typed(f"stakes evaluate predictions.csv {costs}", capsys)
    assert (code, out) == (2, "")
    assert says in err
    proposed = err.rstrip().splitlines()[-1]
    assert proposed.startswith("Try: stakes evaluate predictions.csv ")
    code, out, err = typed(proposed.removeprefix("Try: "), capsys)
    assert code == 0, err
    assert out


def understood(path, **columns):
    costs = {"false_positive": 1, "false_negative": 5}
    return study_of_files([str(path)], costs, Columns(**columns), Quiet())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("key", ["id", "patient", "sample_id"])
@pytest.mark.parametrize("order", [1, -1])
def test_long_form_is_put_side_by_side(tmp_path, kind, key, order):
    rows = pa.table(long_table(key=key, order=order))
    path = tmp_path / f"long.{kind}"
    arrow_csv.write_csv(rows, path) if kind == "csv" else parquet.write_table(rows, path)
    wide = tmp_path / "wide.csv"
    arrow_csv.write_csv(
        pa.table({"y": column("y", 0), "a_score": column("p", 1), "b_score": column("p", 2)}), wide
    )
    long, expected = understood(path), understood(wide)
    assert long.n == expected.n == N
    for name in ("a", "b"):
        assert long.scores[name] == expected.scores[name]
        assert long.estimate(name).cost == expected.estimate(name).cost
    assert f"were put side by side, by {key!r}" in " ".join(long.notes)


@pytest.mark.parametrize(("models", "column"), [(("a", "b"), "a_score"), (("a", "a_b"), "b_score")])
def test_long_form_whose_columns_would_have_one_name_is_refused(tmp_path, models, column):
    rows = long_table(models=models)
    rows[column] = rows["score"][::-1]
    path = tmp_path / "long.csv"
    arrow_csv.write_csv(pa.table(rows), path)
    with pytest.raises(StakesError, match=f"would have the name .*'{column}' of .*, model 'a'"):
        understood(path)


def test_rows_that_are_cases_of_their_own_are_kept_with_groups(tmp_path):
    path = tmp_path / "eyes.csv"
    arrow_csv.write_csv(pa.table(long_table(key="patient", model="eye")), path)
    with pytest.raises(StakesError, match="'patient', with groups="):
        understood(path)
    assert understood(path, design=_grouped("patient")).n == 2 * N


def test_long_form_with_names_of_examples_or_answers_that_no_word_tells(tmp_path):
    path = tmp_path / "long.csv"
    rows = long_table(key="image")
    rows["image"] = [f"{each}.png" for each in rows["image"]]
    arrow_csv.write_csv(pa.table(rows), path)
    assert "were put side by side, by 'image'" in " ".join(understood(path).notes)
    rows = long_table()
    rows["answer"] = (rows.pop("score") > 0.5).astype(int)
    arrow_csv.write_csv(pa.table(rows), path)
    found = understood(path)
    assert found.n == N
    assert [each.name for each in found.roles.models] == ["a_answer", "b_answer"]


@pytest.mark.parametrize("classes", [[0, 1] * (N // 2), sorted([0, 1] * (N // 2))])
def test_features_beside_regular_classes_are_no_models(tmp_path, classes):
    path = tmp_path / "toy.csv"
    towns = ["north", "north", "south", "south"] * (N // 4)
    arrow_csv.write_csv(pa.table({"y": classes, "pred": classes, "town": towns}), path)
    assert understood(path).n == N


def test_long_form_without_names_is_paired_in_order_when_asked(tmp_path):
    path = tmp_path / "long.csv"
    arrow_csv.write_csv(pa.table(long_table(key=None)), path)
    assert understood(path, model_column="model").n == N
    with pytest.raises(StakesError, match="is there a row for each example and model"):
        understood(path)
    shuffled = long_table(key=None, order=-1)
    arrow_csv.write_csv(pa.table(shuffled), path)
    with pytest.raises(StakesError, match="must agree on the actual classes"):
        understood(path, model_column="model")


def test_long_form_with_named_columns_is_never_pooled(tmp_path):
    path = tmp_path / "long.csv"
    arrow_csv.write_csv(pa.table(long_table()), path)
    found = understood(path, actual="y", scores=["score"])
    assert found.n == N
    assert [model.name for model in found.roles.models] == ["a", "b"]


@pytest.mark.parametrize("names", [("pred", "model"), ("pred_new", "the model"), ("a=b", "rf")])
@pytest.mark.parametrize("given", [{}, {"models": ("answer",), "scores": ("risk",)}])
def test_long_form_keeps_the_names_of_models(tmp_path, names, given):
    path = tmp_path / "long.csv"
    rows = long_table(models=names)
    rows["pred"] = (rows["score"] > 0.5).astype(int)
    if given:
        rows["answer"], rows["risk"] = rows.pop("pred"), rows.pop("score")
    arrow_csv.write_csv(pa.table(rows), path)
    found = understood(path, model_column="model", key="id", **given)
    value, score = ("answer", "risk") if given else ("pred", "score")
    assert [(each.name, each.decisions, each.scores) for each in found.roles.models] == [
        (name, f"{name}_{value}", f"{name}_{score}") for name in names
    ]


def test_models_of_long_form_cannot_be_named_again(tmp_path):
    path = tmp_path / "long.csv"
    arrow_csv.write_csv(pa.table(long_table()), path)
    with pytest.raises(StakesError, match="the models have the names in the column 'model'"):
        understood(path, model_column="model", scores=("old=score",))


def test_examples_that_a_model_lacks_are_an_error_or_dropped(tmp_path):
    rows = {name: values[:-2] for name, values in long_table().items()}
    path = tmp_path / "long.csv"
    arrow_csv.write_csv(pa.table(rows), path)
    with pytest.raises(StakesError, match="files must have the same examples"):
        understood(path)
    found = understood(path, reading=Reading(drop_missing=True))
    assert found.n == N - 2
    assert f"2 of {N} rows lack a value and are left out." in found.notes
    assert list(found.roles.doubtful) == ["b"]
    assert found.rows_left_out == {"another missing value": 2}


@pytest.mark.parametrize("named", [None, "id"])
def test_examples_that_a_model_has_twice_are_an_error_if_they_are_named(tmp_path, named):
    """Without a column that names them, rows of the models are paired in their order."""
    path = tmp_path / "long.csv"
    rows = ["1,a,0,0", "1,b,0,1", "2,a,1,0", "2,b,1,1", "2,a,1,1", "2,b,1,0", "3,a,0,0", "3,b,0,0"]
    path.write_text("\n".join(["id,model,y,pred", *rows]) + "\n")
    columns = {"actual": "y", "models": ("pred",), "model_column": "model", "key": named}
    if named is None:
        assert understood(path, **columns).n == 4
    else:
        with pytest.raises(StakesError, match="'2' occurs 2 times"):
            understood(path, **columns)


def test_a_feature_called_model_is_no_model(tmp_path):
    path = tmp_path / "cars.csv"
    layout = {"id": "i", "y_true": "y", "pred": "d"}
    rows = table(layout).append_column("model", pa.array(["golf", "polo"] * (N // 2)))
    arrow_csv.write_csv(rows, path)
    found = understood(path)
    assert found.n == N
    assert [each.name for each in found.roles.models] == ["pred"]


@pytest.mark.parametrize(("name", "kind", "warned"), [
    ("patient_id", "ir", True), ("customer", "ir", True), ("id", "ir", True),
    ("patient_id", "i", False), ("visits", "xc", False),
])  # fmt: skip
def test_ids_that_repeat_are_warned_of(tmp_path, name, kind, warned):
    path = tmp_path / "rows.csv"
    write(path, {name: kind, "y_true": "y", "pred": "d"})
    notes = " ".join(understood(path).notes)
    assert ("repeat" in notes and "groups=" in notes) == warned
    assert "repeat" not in " ".join(understood(path, actual="y_true", design=_grouped(name)).notes)


def _grouped(name):
    return DesignColumns(groups=name)


def test_bare_features_beside_named_models_are_said_and_stop_a_gate(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write("p.csv", {"y": "y", "pred_old": "d", "pred_new": "d", "married": "x2", "phone": "x2"})
    found = understood("p.csv")
    said = " ".join(found.notes)
    assert "Not judged: married and phone (each is named as a feature, and has the values" in said
    command = "stakes compare p.csv --fp 1 --fn 5 --baseline old --gate"
    assert typed(command, capsys)[0] == 2
    assert typed(f"{command} --candidate new", capsys)[0] in (0, 1)


@pytest.mark.parametrize(("new", "other"), [("new", "extra"), ("new", "New"), ("new", "NA")])
def test_models_without_an_example_in_common_are_refused(new, other, tmp_path, capsys):
    path = tmp_path / "p.csv"
    rows = [f"{i},old,{i % 2},1\n{i},{other if i % 2 else new},{i % 2},0\n" for i in range(6)]
    path.write_text("id,model,actual,pred\n" + "".join(rows))
    code, _, error = typed(
        f"stakes evaluate {path} --fp 1 --fn 2 --pos-label 1 --drop-missing", capsys
    )
    assert code == 2
    assert "p.csv, column 'model': no example has a row of every model; of 6 examples, " in error
    assert all(f"{name!r} has {size}" in error for name, size in (("old", 6), (new, 3), (other, 3)))
    assert "--model" in error


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_are_read(tmp_path, separator):
    points, commas = tmp_path / "points.csv", tmp_path / "commas.csv"
    write(points, {"y_true": "y", "score": "p"})
    write(commas, {"y_true": "y", "score": "comma"}, delimiter=separator)
    found = understood(commas)
    assert found.scores["score"] == understood(points).scores["score"]
    assert "In the column 'score', commas are read as decimal points." in found.notes


def test_commas_that_may_be_thousands_are_refused(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true;score\n" + "0;1,234\n1;2,345\n" * 5)
    with pytest.raises(StakesError):
        understood(path)


@pytest.mark.parametrize(
    "role", ["--score number --fn 2", "--fn-column number", "--weight number --fn 2"]
)
def test_commas_and_points_in_one_column_are_refused(role, tmp_path, capsys):
    """The points may be marks for thousands."""
    path = tmp_path / "p.csv"
    path.write_text("y;number;m_pred\n1;1.234;0\n0;2,5;1\n1;0;1\n")
    code, _, error = typed(f"stakes evaluate {path} --fp 1 {role} --pos-label 1", capsys)
    assert code == 2
    assert "p.csv, line 3, column 'number': '2,5' has a comma, and '1.234' in the same" in error


def test_commas_and_points_in_one_column_of_two_files_are_refused(tmp_path, capsys):
    head = "y;number;m_pred\n"
    (tmp_path / "a.csv").write_text(head + "0;1.234;1\n1;2;0\n")
    (tmp_path / "b.csv").write_text(head + "0;2,5;1\n1;2;0\n")
    code, _, error = typed(
        f"stakes evaluate {tmp_path} --fp 1 --fn-column number --pos-label 1", capsys
    )
    assert code == 2
    assert "column 'number': numbers have decimal commas in some rows and points" in error


def test_scores_worse_than_chance_are_said_and_can_be_reversed(tmp_path):
    right, wrong = tmp_path / "right.csv", tmp_path / "wrong.csv"
    write(right, {"y_true": "y", "a_score": "p"})
    rows = table({"y_true": "y", "a_score": "p"})
    flipped = 1 - rows["a_score"].to_numpy()
    arrow_csv.write_csv(rows.set_column(1, "a_score", pa.array(flipped)), wrong)
    said = " ".join(understood(wrong).notes)
    assert "rank worse than chance (AUC 0.0" in said
    assert "lower_is_positive=" in said
    assert "worse than chance" not in " ".join(understood(right).notes)
    turned = understood(wrong, reading=Reading(lower_is_positive=("a_score",)))
    assert "worse than chance" not in " ".join(turned.notes)
    np.testing.assert_allclose(
        turned.scores["a"].thresholds, understood(right).scores["a"].thresholds
    )
    np.testing.assert_array_equal(
        turned.scores["a"].positives, understood(right).scores["a"].positives
    )


@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl"])
def test_labels_that_are_null_are_dropped(kind, tmp_path):
    path = tmp_path / f"rows.{kind}"
    rows = {"y_true": ["no", "yes", None, "no"], "pred": ["no", None, "yes", "no"]}
    if kind == "jsonl":
        pd.DataFrame(rows).to_json(path, orient="records", lines=True)
    else:
        write = parquet.write_table if kind == "parquet" else feather.write_feather
        write(pa.table(rows), path)
    found = understood(path, reading=Reading(drop_missing=True))
    assert found.n == 2
    assert "2 of 4 rows lack a value and are left out." in found.notes


def test_rows_with_missing_values_are_dropped_and_counted(tmp_path):
    whole, gaps = tmp_path / "whole.csv", tmp_path / "gaps.csv"
    write(gaps, {"y_true": "y", "score": "p"}, change=with_gaps)
    rows = table({"y_true": "y", "score": "p"})
    arrow_csv.write_csv(rows.take([i for i in range(N) if i not in (3, 5)]), whole)
    found = understood(gaps, reading=Reading(drop_missing=True))
    assert found.n == N - 2
    assert f"2 of {N} rows lack a value and are left out." in found.notes
    assert found.rows_left_out == {"another missing value": 1, "no actual class": 1}
    assert f"Study of {gaps}: {N - 2} examples (2 rows left out), 1 model" in repr(found)
    assert "(2 rows left out)" in found._repr_html_()
    assert found.scores["score"] == understood(whole).scores["score"]
    (tmp_path / "parts").mkdir()
    for at, part in enumerate([(0, 20), (20, 40)]):
        lines = gaps.read_text().splitlines()
        chosen = lines[1 + part[0] : 1 + part[1]] if at == 0 else lines[21:]
        (tmp_path / "parts" / f"{at}.csv").write_text("\n".join([lines[0], *chosen]) + "\n")
    parts = understood(tmp_path / "parts", reading=Reading(drop_missing=True))
    assert parts.n == N - 2
    assert parts.rows_left_out == found.rows_left_out
    assert f"2 of {N} rows lack a value and are left out." in parts.notes
