import pytest

from stakes.errors import InputError
from stakes.study.roles import Model, find_roles


def roles(columns, **options):
    found = {"is_decision": lambda _: True, "is_score": lambda _: True} | options
    return find_roles(columns, "a.csv", **found)


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
        (["actual", "a", "b_score"], [("a", "a", "b_score")]),
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
    ("columns", "models", "ignored"),
    [
        (["y", "y_pred", "prob_ok", "prob_bad"], [("y_pred", "y_pred", "prob_bad")], ("prob_ok",)),
        (["y", "prob_ok", "prob_bad"], [("prob_bad", None, "prob_bad")], ("prob_ok",)),
        (["y", "ok", "bad"], [("ok", "ok", None), ("bad", "bad", None)], ()),
    ],
)
def test_probabilities_of_other_classes_are_no_scores(columns, models, ignored):
    found = roles(columns, positive="bad", others={"ok"})
    assert found.models == tuple(Model(*each) for each in models)
    assert found.ignored == ignored


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
    assert both.models == (Model("a", "a", "b_score"),)


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
    ]


def test_the_most_telling_name_wins():
    assert roles(["class", "y", "target", "a"]).actual == "target"
    assert roles(["LABEL", "a"]).actual == "LABEL"
    with pytest.raises(InputError, match="which column has the actual classes"):
        roles(["x", "a"])


def test_decisions_of_which_some_are_wrong_are_still_those_of_a_model():
    asked = {}

    def is_flawed(name, named):
        asked[name] = named
        return name != "age"

    found = roles(
        ["actual", "tree", "tree_score", "pred_b", "rule", "age"],
        is_decision=lambda name: name == "rule",
        is_flawed=is_flawed,
    )
    assert found.models == (
        Model("tree", "tree", "tree_score"),
        Model("b", "pred_b", None),
        Model("rule", "rule", None),
    )
    assert asked == {"tree": True, "pred_b": True, "age": False}


def test_a_model_needs_a_name():
    with pytest.raises(InputError, match=r"a\.csv: column 3 has no name.*--model"):
        roles(["actual", "a", " "])
    assert roles(["actual", "a", ""], is_decision=lambda name: name == "a").ignored == ("",)


def test_names_of_models_are_in_one_line():
    assert roles(["actual", "a\n\tb", "c\u2028"]).models == (
        Model(r"a\n\tb", "a\n\tb", None),
        Model(r"c\u2028", "c\u2028", None),
    )
    assert roles(["actual", "a\nb", "score"]).models == (Model(r"a\nb", "a\nb", "score"),)
