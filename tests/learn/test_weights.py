"""Class weights by formula, against weights computed by hand."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _helpers.strategies import cost_matrices
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from stakes import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.learn import class_weights

# Table 2.1 of the thesis; Table 2.2 is equivalent, with zeros on the diagonal.
TABLE_21 = CostMatrix([[-1.5, 10], [100, 0]], rows="predicted", labels=["fraud", "ok"])
THREE = CostMatrix([[0, 3, 8], [1, 0, 2], [5, 6, 0]], rows="predicted", labels=["a", "b", "c"])
ABC = ["a", "b", "c"]


@pytest.mark.parametrize("costs", [TABLE_21, TABLE_21.zero_diagonal()])
def test_fraud_weighs_1015_times_as_much_in_table_22(costs):
    y = [0, 0, 0, 1]
    numbered = costs.relabel({"fraud": 1, "ok": 0})
    assert class_weights(y, numbered, "cost_ratio") == {0: 1.0, 1: 10.15}
    for method in ("avg_cost", "max_cost"):
        assert class_weights(y, numbered, method) == {0: 10.0, 1: 101.5}
    named = class_weights(["fraud", "ok"], costs, "cost_ratio")
    assert named == {"fraud": 1.0, "ok": pytest.approx(1 / 10.15)}


def test_three_classes_by_hand():
    assert class_weights(ABC, THREE) == {"a": 3.0, "b": 4.5, "c": 5.0}
    assert class_weights(ABC, THREE, "max_cost") == {"a": 5.0, "b": 6.0, "c": 8.0}


def test_the_cost_of_correct_decisions_is_taken_off_first():
    moved = CostMatrix(THREE.values + np.array([4, -7, 1]), rows="predicted", labels=ABC)
    for method in ("avg_cost", "max_cost"):
        assert class_weights(ABC, moved, method) == class_weights(ABC, THREE, method)


def test_class_frequencies_times_weights_are_constant():
    sizes = dict(zip(ABC, (50, 30, 20), strict=True))
    y = np.repeat(ABC, list(sizes.values()))
    weights = class_weights(y, THREE, "class_freq")
    assert [sizes[label] * weights[label] for label in ABC] == pytest.approx([100 / 3] * 3)
    balanced = compute_class_weight("balanced", classes=np.array(ABC), y=y)
    assert list(weights.values()) == pytest.approx(balanced.tolist())


def test_they_fit_the_class_weight_of_scikit_learn():
    y = np.repeat(ABC, [5, 3, 2])
    X = np.arange(20.0).reshape(10, 2)
    weights = class_weights(y, THREE)
    assert compute_sample_weight(weights, y).tolist() == [3.0] * 5 + [4.5] * 3 + [5.0] * 2
    DecisionTreeClassifier(class_weight=weights).fit(X, y)


def test_no_costs_count_errors():
    assert class_weights([3, 1, 1], None) == {1: 1.0, 3: 1.0}


def test_other_decisions_are_mistakes_too():
    costs = CostMatrix(
        [[0, 20], [2, 0], [1, 4]], rows="predicted", labels=[0, 1], decisions=[0, 1, "ask"]
    )
    assert class_weights([0, 1], costs) == {0: 1.5, 1: 12.0}
    assert class_weights([0, 1], costs, "max_cost") == {0: 2.0, 1: 20.0}
    assert class_weights([0, 1], costs, "cost_ratio") == {0: 1.0, 1: 10.0}


def test_the_cheapest_of_decisions_that_are_no_classes_is_the_correct_one():
    costs = CostMatrix(
        [[1, 9], [3, 2]], rows="predicted", labels=["good", "bad"], decisions=["lend", "refuse"]
    )
    assert class_weights(["good", "bad"], costs) == {"bad": 3.5, "good": 1.0}
    with pytest.raises(LabelError, match="'cost_ratio' needs the cost of predicting each class"):
        class_weights(["good", "bad"], costs, "cost_ratio")


def test_predictions_of_classes_that_y_has_not_do_not_count():
    assert class_weights(["a", "b"], THREE) == {"a": 1.0, "b": 3.0}
    assert class_weights(["a", "c"], THREE, "cost_ratio") == {"a": 1.0, "c": 1.6}
    assert class_weights(["b"], THREE) == {"b": 1.0}


@pytest.mark.parametrize("series", [list, np.asarray, pd.Series, pl.Series])
def test_labels_come_in_any_form_and_leave_as_plain_values(series):
    weights = class_weights(series(["b", "a", "c", "c"]), THREE)
    assert weights == {"a": 3.0, "b": 4.5, "c": 5.0}
    assert {type(label) for label in weights} == {str}
    assert {type(label) for label in class_weights(series([1, 0]), None)} == {int}


@pytest.mark.filterwarnings("ignore::stakes.errors.ConstantCostWarning")
@given(cost_matrices(extra_decisions=False), st.data())
def test_weights_are_those_of_the_zero_diagonal_or_an_error(costs, data):
    assume(not isinstance(costs.labels[0], float))  # scikit-learn accepts no floats as classes
    y = data.draw(st.permutations(list(costs.labels)))
    off = costs.zero_diagonal().values
    mean = off.sum(axis=0) / (len(costs.labels) - 1)
    for method, expected in (("avg_cost", mean), ("max_cost", off.max(axis=0))):
        if expected.min() > 1e-6:
            by_hand = dict(zip(costs.labels, expected.tolist(), strict=True))
            assert class_weights(y, costs, method) == pytest.approx(by_hand, abs=1e-9)
        elif expected.min() < -1e-6 or method == "max_cost":
            with pytest.raises(InputError, match=f"{method!r} gives the class"):
                class_weights(y, costs, method)


@pytest.mark.parametrize(
    ("values", "method", "words"),
    [
        ([[0, 5], [0, 0]], "avg_cost", "costs: 'avg_cost' gives the class 0 the weight 0"),
        ([[0, 5], [0, 0]], "max_cost", "costs: 'max_cost' gives the class 0 the weight 0"),
        ([[0, 5], [0, 0]], "cost_ratio", "'cost_ratio' gives the class 1 the weight inf"),
        ([[0, 0], [5, 0]], "cost_ratio", "'cost_ratio' gives the class 1 the weight 0"),
        ([[3, 5], [1, 0]], "avg_cost", "'avg_cost' gives the class 0 the weight -2"),
        ([[3, 5], [1, 0]], "cost_ratio", "'cost_ratio' gives the class 1 the weight -2.5"),
        ([[-1e308, 5], [1e308, 0]], "avg_cost", "'avg_cost' gives the class 0 the weight inf"),
    ],
)
def test_weights_that_cannot_be_used_are_named(values, method, words):
    costs = CostMatrix(values, rows="predicted", labels=[0, 1])
    with pytest.raises(InputError, match=f"{words}.*Give every mistake a cost"):
        class_weights([0, 1], costs, method)
    assert class_weights([0, 1, 1], costs, "class_freq") == {0: 1.5, 1: 0.75}


def test_bad_input_is_named():
    with pytest.raises(LabelError, match="costs: y has the class 'd', but"):
        class_weights(["a", "d"], THREE)
    with pytest.raises(InputTypeError, match="costs: expected a CostMatrix, got a list"):
        class_weights([0, 1], [[0, 1], [2, 0]])
    with pytest.raises(InputError, match=r"method: expected one of 'max_cost'.*got 'mean'"):
        class_weights(ABC, THREE, "mean")
    for method in ("eval_count", "powell"):
        with pytest.raises(InputError, match=f"needs one. Use WeightedClassifier.*{method}"):
            class_weights(ABC, THREE, method)
    with pytest.raises(LabelError, match=r"'cost_ratio' is for two classes.*got 3"):
        class_weights(ABC, THREE, "cost_ratio")
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        class_weights([0.1, 0.2, 0.7], None)
