"""Columns with the values of classes: models are judged, features are not, and none is lost."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from stakes import CostMatrix, study_of
from stakes.errors import InputError, InputWarning
from stakes.predictions import Columns, _names
from stakes.study import study_of_files

N = 600
MISTAKES = {"false_positive": 1, "false_negative": 5}
DIGITS = np.random.default_rng(3).integers(1, 9, (10, 10)).astype(float)
np.fill_diagonal(DIGITS, 0)
RNG = np.random.default_rng(11)
TRUTH = (RNG.random(N) < 0.35).astype(int)


def decisions(right):
    return np.where(RNG.random(N) < right, TRUTH, 1 - TRUTH)


def scores():
    return np.clip(np.where(TRUTH, 0.7, 0.3) + RNG.normal(0, 0.2, N), 0.001, 0.999).round(4)


KINDS = {
    "d": lambda: decisions(0.76),  # kappa about 0.5: as a feature may have, such as sex
    "d2": lambda: decisions(0.68),
    "d9": lambda: decisions(0.93),  # kappa about 0.85
    "y": TRUTH.copy,
    "x": lambda: RNG.integers(0, 2, N),
    "p": scores,
    "p100": lambda: (100 * scores()).round(2),
    "%": lambda: [f"{100 * each:.1f}%" for each in scores()],
    "month": lambda: RNG.integers(1, 13, N),
    "fold": lambda: np.arange(N) % 5,
    "one": lambda: np.arange(N) % 2 + 1,
    "id": lambda: np.arange(N),
    "mf": lambda: np.where(RNG.random(N) < 0.5, "F", "M"),
}

# The columns, their kinds, the models that are judged, and the columns named as not judged.
FRAMES = [
    ({"rules": "d2", "hgb": "d", "hgb_proba": "p"}, "rules hgb", ""),
    ({"logreg": "d", "rf": "d2"}, "logreg rf", ""),
    ({"old": "d", "new": "d2", "new_proba": "p"}, "old new", ""),
    ({"champion": "d", "challenger": "p"}, "champion challenger", ""),
    ({"champion": "d2", "challenger": "d", "smoker": "x"}, "champion challenger", "smoker"),
    ({"v1": "d", "v2": "d2"}, "v1 v2", ""),
    ({"v1": "d", "v2": "d2", "sex": "d"}, "v1 v2", "sex"),
    ({"v1": "d", "hgb_proba": "p"}, "hgb", "v1"),
    ({"v1": "d9", "hgb_proba": "p"}, "v1 hgb", ""),
    ({"v1": "p", "v2": "p", "hgb_proba": "p"}, "hgb", "v1 v2"),
    ({"rf_pred": "d", "python": "x", "risk_full": "p100"}, "rf", "python risk_full"),
    ({"rf_pred": "d", "risk_full": "p"}, "rf", "risk_full"),
    ({"rules": "d", "RF PD %": "p100"}, "rules", "RF PD %"),
    ({"rules": "d", "RF PD %": "%"}, "rules", "RF PD %"),
    ({"rules": "d", "rf_pd": "p"}, "rules rf_pd", ""),
    ({"rf": "d", "python": "x"}, "rf", "python"),
    ({"rf": "d", "python": "d9"}, "rf python", ""),
    ({"gpt4": "d2", "gpt-4o-mini": "d", "claude": "d"}, "gpt4 gpt-4o-mini claude", ""),
    ({"llama_3": "d2", "has_llama": "x"}, "llama_3", "has_llama"),
    ({"xgb": "p", "hgb_proba": "p"}, "xgb hgb", ""),
    ({"xgb": "p", "lgbm": "d"}, "xgb lgbm", ""),
    ({"xgb": "p", "lightning": "p"}, "xgb", "lightning"),
    ({"XGBClassifier": "d2", "RandomForest": "d2", "age": "p"}, "XGBClassifier RandomForest", ""),
    ({"Random Forest": "d2", "naive_bayes": "d2", "urban": "d"}, "Random Forest|naive_bayes",
     "urban"),
    ({"decision_tree": "d2", "current_rules": "d2"}, "tree current_rules", ""),
    ({"fraud_model": "d2", "car_model": "x", "pred_a": "d"}, "fraud_model a", "car_model"),
    ({"tree_2": "d2", "tree_count": "x"}, "tree_2", "tree_count"),
    ({"forest": "d2", "forest_area": "x", "svm_proba": "p"}, "forest svm", "forest_area"),
    ({"m1": "d2", "m1_score": "p", "m2": "d2"}, "m1 m2", ""),
    ({"pred": "d", "sex": "d", "smoker": "x", "flag": "x"}, "pred", "sex smoker flag"),
    ({"pred": "d", "month": "month", "fold": "fold", "id": "id"}, "pred", ""),
    ({"pred": "d", "sex": "mf", "gender": "one", "patient_group": "one"}, "pred", ""),
    ({"sex": "d", "smoker": "x", "python": "d"}, "python", "sex smoker"),
    ({"a": "d2", "b": "d"}, "a b", ""),
    ({"a": "d2", "b": "p"}, "a b", ""),
    ({"a": "d2", "age": "p", "is_new": "x"}, "a", "is_new"),
    ({"hgb_proba": "p", "foo": "d9", "bar": "d"}, "foo hgb", "bar"),
    ({"hgb_proba": "p", "copied": "y"}, "hgb", "copied"),
    ({"gpt4": "d", "label": "y", "churned": "y"}, "gpt4", "label churned"),
    ({"lr": "d2", "nb": "d2", "knn": "d2", "day": "x"}, "lr nb knn", "day"),
    ({"scorecard": "d2", "catboost_v2": "d2", "home_owner": "d"}, "scorecard catboost_v2",
     "home_owner"),
    ({"incumbent": "d2", "proposed_v3": "d2", "married": "d"}, "incumbent proposed_v3", "married"),
    ({"baseline": "d2", "candidate": "d2", "treatment": "x"}, "baseline candidate", "treatment"),
    ({"rf": "d2", "rf_flag": "d2", "train": "x"}, "rf", "rf_flag train"),
    ({"old_balance": "p100", "old": "d2", "phoenix_v2": "p"}, "old", "phoenix_v2"),
]  # fmt: skip


def frame_of(kinds):
    return {"actual": TRUTH, **{name: KINDS[kind]() for name, kind in kinds.items()}}


def names(text):
    return text.split("|") if "|" in text else text.split() if "RF PD" not in text else [text]


def studied(frame, costs=MISTAKES, **named):
    """Return the study of a frame, and the warning about columns that are not judged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = study_of(frame, costs, **named)
    said = [str(each.message) for each in caught if "Not judged" in str(each.message)]
    assert all(issubclass(each.category, InputWarning) for each in caught)
    return study, "".join(said)


def test_there_are_enough_frames():
    assert len(FRAMES) >= 40


@pytest.mark.parametrize(
    ("kinds", "judged", "unjudged"), FRAMES, ids=[str([*f[0]]) for f in FRAMES]
)
def test_models_are_judged_and_what_may_be_one_is_named(kinds, judged, unjudged):
    study, said = studied(frame_of(kinds))
    assert {each.name for each in study.roles.models} == {*names(judged)}
    assert {*study.roles.unjudged} == {*names(unjudged)}
    assert all(name in said for name in names(unjudged))
    assert bool(said) == bool(unjudged)
    for shown in (repr(study), study._repr_html_()):
        assert ("Not judged: " in shown) == bool(unjudged)
    assert {*names(unjudged)} <= {*study.policies.unjudged}
    assert not {each.model for each in study.policies.policies} & {*names(unjudged)}
    assert len(repr(study).splitlines()) <= 10


@pytest.mark.parametrize("kind", ["csv", "parquet", "folder"])
@pytest.mark.parametrize("place", [0, 4, 10, 36, 37])
def test_files_are_read_as_frames_are(tmp_path, kind, place):
    rows = pd.DataFrame(frame_of(FRAMES[place][0]))
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        rows.to_csv(path, index=False)
    elif kind == "parquet":
        parquet.write_table(pa.Table.from_pandas(rows), path)
    else:
        path.mkdir()
        for at in range(3):
            rows.iloc[200 * at : 200 * (at + 1)].to_csv(path / f"{at}.csv", index=False)
    quiet = type("Quiet", (), dict.fromkeys(("expect", "step", "reach"), lambda *_: None))()
    of_file = study_of_files([str(path)], MISTAKES, Columns(), quiet)
    of_frame, _ = studied(rows)
    assert of_file.roles.models == of_frame.roles.models
    assert of_file.roles.unjudged == of_frame.roles.unjudged


def digits(**columns):
    """Return a frame of ten classes, and class probabilities of a model."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 10, N)
    chances = rng.random((N, 10))
    chances[np.arange(N), y] += 1.5 * (rng.random(N) < 0.8)
    chances /= chances.sum(axis=1, keepdims=True)
    made = {
        "logreg": chances.argmax(axis=1),
        "forest": np.where(rng.random(N) < 0.6, y, rng.integers(0, 10, N)),
        "python": rng.integers(0, 2, N),
        "good": np.where(rng.random(N) < 0.9, y, rng.integers(0, 10, N)),
        "fold": np.arange(N) % 10,
        "xgb": rng.random(N),
    }
    chosen = {name: made[name] for name in columns.pop("of", "").split()}
    return {"actual": y, **chosen, **{f"logreg_{k}": chances[:, k] for k in range(10)}}


TEN = CostMatrix(DIGITS, rows="predicted", labels=list(range(10)))


def test_decisions_belong_to_their_class_probabilities():
    study, said = studied(digits(of="logreg forest"), TEN)
    logreg, forest = study.roles.models
    assert (logreg.name, logreg.decisions) == ("logreg", "logreg")
    assert logreg.probabilities == tuple(f"logreg_{k}" for k in range(10))
    assert (forest.name, forest.decisions, forest.probabilities) == ("forest", "forest", ())
    assert said == ""
    policies = {each.name for each in study.policies.policies}
    assert {"logreg", "forest", "logreg@minimum-cost"} <= policies


def test_decisions_of_two_classes_belong_to_their_class_probabilities():
    high = scores()
    rows = frame_of({"lgbm": "d2"}) | {"lgbm_0": 1 - high, "lgbm_1": high}
    study, said = studied(rows)
    (model,) = study.roles.models
    assert (model.decisions, model.scores, said) == ("lgbm", "lgbm_1", "")


def test_of_many_classes_what_agrees_is_a_model_and_what_does_not_is_named():
    study, said = studied(digits(of="python good fold xgb"), TEN)
    assert [each.name for each in study.roles.models] == ["good", "logreg"]
    assert [*study.roles.unjudged] == ["fold", "python", "xgb"]
    assert "fold (it is named as a feature, and has the values of the classes)" in said


def test_features_alone_are_no_models():
    with pytest.raises(InputError, match="no column looks like a model's decisions"):
        study_of(frame_of({"sex": "d", "smoker": "x"}), MISTAKES)


def test_numbers_that_may_be_scores_are_proposed():
    rows = frame_of({"balance": "p100", "risk_full": "p100"})
    with pytest.raises(InputError) as caught:
        study_of(rows, MISTAKES)
    assert caught.value.proposal == {"scores": "risk_full"}


def test_what_is_declared_is_a_model_and_nothing_else_is_in_doubt():
    study, said = studied(frame_of({"rf": "d", "python": "x"}), models=["rf", "python"])
    assert (study.names, said, study.policies.unjudged) == (("rf", "python"), "", {})
    assert "Not judged" not in repr(study)


def test_agreement_by_chance_is_no_evidence_in_few_rows():
    """Of ten rows, nine alike happen by chance in one of a hundred columns."""
    actual = [0, 1] * 5
    rows = {"actual": actual, "rf": actual[::-1], "python": [*actual[:-1], 0]}
    study, said = studied(rows)
    assert [*study.roles.unjudged] == ["python"]
    assert "it could be a model's decisions or a feature" in said


def test_decisions_with_missing_cells_are_named():
    foo = [None if row == 4 else int(each) for row, each in enumerate(decisions(0.95))]
    study, _ = studied(pd.DataFrame(frame_of({"hgb_proba": "p"}) | {"foo": pd.array(foo)}))
    assert [*study.roles.unjudged] == ["foo"]


@pytest.mark.parametrize("name", ["alberta", "log_income", "rfm", "carton", "network_id", "x_ray"])
def test_words_that_resemble_models_are_not_their_names(name):
    assert not _names.names_model(name)
