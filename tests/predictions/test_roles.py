from typing import ClassVar

import pyarrow as pa
import pytest

from stakes import CostMatrix
from stakes.errors import InputError
from stakes.predictions import ArrowTable, Columns, Model, Reading, find_roles

COSTS = CostMatrix.zero_one(["ok", "bad"])


class Made:
    """A table whose columns have decisions, flawed decisions, numbers or several of these."""

    source = "a.csv"
    cells = "text"
    renamed: ClassVar = {}
    reading = Reading()

    def __init__(self, columns, is_decision, is_score, is_flawed):
        self.columns = columns
        self._is_decision, self._is_score, self._is_flawed = is_decision, is_score, is_flawed

    def values(self, name):
        if self._is_decision(name):
            return ["ok", "bad"]
        return ["ok", "bad", "badd"] if self._is_flawed(name) else ["x"]

    def amounts(self, _, among):
        return 3, len(among)

    def numeric(self, name):
        return self._is_score(name)

    def score_range(self, _):
        return 0, 2

    def repeats(self, _):
        return False


def roles(
    columns,
    positive=None,
    is_decision=lambda _: True,
    is_score=lambda _: True,
    is_flawed=lambda _: False,
    **named,
):
    table = Made(columns, is_decision, is_score, is_flawed)
    return find_roles(table, Columns(**named), COSTS, positive)


@pytest.mark.parametrize(
    ("columns", "models"),
    [
        (["y_true", "y_pred", "y_score"], [("y_pred", "y_pred", "y_score")]),
        (["label", "prediction", "probability"], [("prediction", "prediction", "probability")]),
        (["actual", "tree", "tree_score"], [("tree", "tree", "tree_score")]),
        (["actual", "pred_a", "prob_a"], [("a", "pred_a", "prob_a")]),
        (
            ["y_true", "y_pred_a", "y_score_a", "y_pred_b", "y_proba_b"],
            [("a", "y_pred_a", "y_score_a"), ("b", "y_pred_b", "y_proba_b")],
        ),
        (["actual", "Tree Prediction", "tree_p"], [("Tree", "Tree Prediction", "tree_p")]),
        (["actual", "m_y_pred", "m_y_score"], [("m", "m_y_pred", "m_y_score")]),
        (["actual", "score"], [("score", None, "score")]),
        (["actual", "a", "b_score"], [("a", "a", None), ("b", None, "b_score")]),
        (["actual", "a", "score"], [("a", "a", "score")]),
        (
            ["actual", "a", "b", "c_score"],
            [("a", "a", None), ("b", "b", None), ("c", None, "c_score")],
        ),
        (["actual", "a", "a_pred"], [("a", "a", None), ("a_pred", "a_pred", None)]),
        (["Actual", "a", "id", "customer_id", "Unnamed: 0"], [("a", "a", None)]),
    ],
)
def test_decisions_and_scores_of_a_model_are_found_by_name(columns, models):
    assert roles(columns).models == tuple(Model(*each) for each in models)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("نموذج", "יער אקראי"),
        ("模型一", "模型二"),
        ("कि", "की"),  # differ only in a mark
        ("lr+", "lr"),
        ("a b", "ab"),
        ("LR", "lr"),
        ("+", "-"),
    ],
)
def test_scores_go_to_the_model_of_that_name_in_every_script(first, second):
    columns = ["actual", f"{first}_score", first, f"{second}_score", second]
    found = roles(columns, is_decision=lambda name: not name.endswith("_score"))
    assert [(each.decisions, each.scores) for each in found.models] == [
        (first, f"{first}_score"),
        (second, f"{second}_score"),
    ]
    one = roles(["actual", f"{second}_score", first, second], is_decision=lambda n: "_" not in n)
    assert [(each.decisions, each.scores) for each in one.models] == [
        (first, None),
        (second, f"{second}_score"),
    ]


@pytest.mark.parametrize(
    ("columns", "models", "ignored"),
    [
        (["y", "y_pred", "prob_ok", "prob_bad"], [("y_pred", "y_pred", "prob_bad")], ("prob_ok",)),
        (["y", "prob_ok", "prob_bad"], [("prob_bad", None, "prob_bad")], ("prob_ok",)),
        (["y", "ok", "bad"], [("ok", "ok", None), ("bad", "bad", None)], ()),
    ],
)
def test_probabilities_of_other_classes_are_no_scores(columns, models, ignored):
    found = roles(columns, positive="bad")
    assert found.models == tuple(Model(*each) for each in models)
    assert found.ignored == ignored


@pytest.mark.parametrize(
    ("scores", "decisions", "models", "ignored"),
    [
        (["p_no_show"], [], ["no_show"], ()),
        (["p_no_show", "p_yes_show"], [], ["yes_show"], ("p_no_show",)),
        (["p_no_show"], ["pred_show"], ["show"], ("p_no_show",)),
        (["p_no_show"], ["pred_no_show"], ["no_show"], ()),
        (["rf_p_no", "rf_p_yes"], [], ["rf_p_yes"], ("rf_p_no",)),
    ],
)
def test_a_common_class_may_be_in_the_name_of_a_model(scores, decisions, models, ignored):
    """The class in "p_no_show" is "no" only if there is another column of a model "show"."""
    rows = {"y": ["no", "yes"]} | {name: ["no", "yes"] for name in decisions}
    rows |= {name: [0.25, 0.5] for name in scores}
    costs = CostMatrix([[0, 5], [1, 0]], rows="predicted", labels=["no", "yes"])
    found = find_roles(ArrowTable(pa.table(rows), "a.csv"), Columns(actual="y"), costs, "yes")
    assert ([each.name for each in found.models], found.ignored) == (models, ignored)


def test_what_is_said_is_used():
    columns = ["truth", "actual", "a", "a_score", "b", "b_score"]
    found = roles(columns, actual="truth", models=["b", "b"])
    assert found.actual == "truth"
    assert found.models == (Model("b", "b", "b_score"),)
    assert found.ignored == ("actual", "a", "a_score")
    assert not found.guessed
    assert roles(columns, models=["b"]).guessed
    only_scores = roles(columns, scores=["a_score"])
    assert only_scores.models == (Model("a", None, "a_score"),)
    both = roles(columns, models=["a"], scores=["b_score"])
    assert both.models == (Model("a", "a", None), Model("b", None, "b_score"))


@pytest.mark.parametrize(
    ("models", "scores", "expected"),
    [
        (["old_decisions"], ["new_scores"],
         [("old", "old_decisions", None), ("new", None, "new_scores")]),
        (["old_decisions"], ["old_scores"], [("old", "old_decisions", "old_scores")]),
        (["logreg"], ["logreg_calibrated_risk"], [("logreg", "logreg", "logreg_calibrated_risk")]),
        (["logreg"], ["LogregRisk"], [("logreg", "logreg", "LogregRisk")]),
        (["rf_tuned_call"], ["rf_tuned"], [("rf_tuned_call", "rf_tuned_call", "rf_tuned")]),
        (["rf"], ["rfm_risk"], [("rf", "rf", None), ("rfm_risk", None, "rfm_risk")]),
        (["rf", "rf_new"], ["rf_new_risk"],
         [("rf", "rf", None), ("rf_new", "rf_new", None), ("rf_new_risk", None, "rf_new_risk")]),
        (["rf", "gbm"], ["rf_risk", "gbm_risk"],
         [("rf", "rf", "rf_risk"), ("gbm", "gbm", "gbm_risk")]),
        (["decision"], ["risk"], [("decision", "decision", "risk")]),
        (["rf"], ["score"], [("rf", "rf", "score")]),
        (["old=call", "new=b"], ["new=risk", "old=points x"],
         [("old", "call", "points x"), ("new", "b", "risk")]),
        (["old=call"], ["new=score"], [("old", "call", None), ("new", None, "score")]),
        (["old=prediction"], ["risk"], [("old", "prediction", None), ("risk", None, "risk")]),
        (["old=call"], ["score"], [("old", "call", "score")]),
        (["old=call"], ["old_score"], [("old", "call", "old_score")]),
        (["old_call"], ["old=x"], [("old_call", "old_call", None), ("old", None, "x")]),
        (["old_pred"], ["old = x"], [("old", "old_pred", "x")]),
        (["old=call=er"], [], [("old", "call=er", None)]),
        (["a=b"], [], [("a=b", "a=b", None)]),
    ],
)  # fmt: skip
def test_decisions_and_scores_that_are_named_belong_together_by_their_names(
    models, scores, expected
):
    columns = [
        each.partition("=")[2].strip() if each != "a=b" else each for each in models + scores
    ]
    columns = [column or each for column, each in zip(columns, models + scores, strict=True)]
    found = roles(["actual", *columns], models=models, scores=scores)
    assert [(each.name, each.decisions, each.scores) for each in found.models] == expected


@pytest.mark.parametrize(
    ("models", "scores", "says"),
    [
        (["old=a", "old=b"], [], "models: the model 'old' has two columns here, 'a' and 'b'"),
        (["b=a", "b"], [], "models: the model 'b' has two columns here, 'a' and 'b'"),
        ([], ["old=a", "old=b"], "scores: the model 'old' has two columns here, 'a' and 'b'"),
        (["old=a", "new=a"], [], "models: the column 'a' is named as that of 'old' and of 'new'"),
        (["old=a"], ["new=a"], "scores: the column 'a' is named as that of 'old' and of 'new'"),
        (["old=a"], ["old=a"], "the column 'a' was named as decisions and as scores"),
        (["old=c"], [], "there is no column 'c'"),
        (["=c"], [], "there is no column '=c'"),
    ],
)
def test_names_that_are_given_to_two_columns_are_refused(models, scores, says):
    with pytest.raises(InputError, match=says):
        roles(["actual", "a", "b"], models=models, scores=scores)


def test_scores_of_a_model_that_is_named_are_found():
    found = roles(["actual", "call", "old_score", "new_score"], models=["old=call"])
    assert found.models == (Model("old", "call", "old_score"),)


def test_values_count_as_names_do():
    found = roles(
        ["actual", "age", "a", "a_score", "note_score"],
        is_decision=lambda name: name == "a",
        is_score=lambda name: name in {"age", "a_score"},
    )
    assert found.models == (Model("a", "a", "a_score"),)
    assert found.ignored == ("age", "note_score")
    assert found.in_words() == [
        "The actual classes are in the column 'actual'.",
        "The model 'a' has its decisions in 'a' and its scores in 'a_score'.",
        "Not used: 'age', 'note_score'.",
        (
            "Not judged: note_score (it is named as scores are, and most of its values are not "
            "numbers, such as 'x'). If one is a model, name all models with models= or scores=."
        ),
    ]


def test_many_models_are_one_sentence():
    names = [f"m{i}" for i in range(300)]
    found = roles(["actual", "a_score", *names, *(f"f{i}" for i in range(100))], models=names)
    _, models, unused = found.in_words()
    assert models.startswith("There are models with decisions: 'm0', 'm1', ")
    assert models.endswith(" … (300 in all).")
    assert unused.endswith("… (101 in all).")


def test_the_most_telling_name_wins():
    assert roles(["class", "y", "target", "a"]).actual == "target"
    assert roles(["LABEL", "a"]).actual == "LABEL"
    with pytest.raises(InputError, match="which column has the actual classes"):
        roles(["x", "a"])


def test_decisions_of_which_some_are_wrong_are_still_those_of_a_model():
    found = roles(
        ["actual", "tree", "tree_score", "pred_b", "rule", "age"],
        is_decision=lambda name: name == "rule",
        is_flawed=lambda name: name != "age",
    )
    assert found.models == (
        Model("tree", "tree", "tree_score"),
        Model("b", "pred_b", None),
        Model("rule", "rule", None),
    )
    assert found.ignored == ("age",)


def test_a_name_tells_decisions_from_a_feature():
    features = pa.table(
        {
            "actual": ["0", "1", "1"],
            "tree": ["0", "1", "2"],
            "tree_score": [0.1, 0.2, 0.3],
            "pred_b": ["0", "1", "2"],
            "visits": ["0", "1", "2"],
        }
    )
    costs = CostMatrix.from_errors(false_positive=1, false_negative=9)
    found = find_roles(ArrowTable(features, "a.csv"), Columns(), costs, 1)
    assert [model.decisions for model in found.models] == ["tree", "pred_b"]
    assert found.ignored == ("visits",)


def test_a_model_needs_a_name():
    with pytest.raises(InputError, match=r"a\.csv: column 3 has no name.*models="):
        roles(["actual", "a", " "])
    assert roles(["actual", "a", ""], is_decision=lambda name: name == "a").ignored == ("",)


def test_names_of_models_are_in_one_line():
    assert roles(["actual", "a\n\tb", "c\u2028"]).models == (
        Model(r"a\n\tb", "a\n\tb", None),
        Model(r"c\u2028", "c\u2028", None),
    )
    assert roles(["actual", "a\nb", "score"]).models == (Model(r"a\nb", "a\nb", "score"),)
