"""WeightedClassifier in edge cases: decisions that are not classes, and refused input."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from stakes import CostMatrix
from stakes.errors import ConstantCostWarning, InputError, InputTypeError, LabelError
from stakes.learn import WeightedClassifier

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)
NAMED = COSTS.relabel({0: "ok", 1: "fraud"})
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


def gaussians(n, seed):
    """Return rows of two classes, two standard deviations apart."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(int)
    return rng.normal(2 * y[:, np.newaxis], 1, (n, 2)), y


@pytest.mark.parametrize(
    "weighting", ["avg_cost", "max_cost", "class_freq", "eval_count", "powell"]
)
def test_one_class(weighting):
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(LabelError, match="y: at least two classes are needed"):
        WeightedClassifier(TREE, COSTS, weighting=weighting).fit(X, [1, 1, 1, 1])


def test_a_refit_forgets_an_earlier_search():
    X, y = gaussians(60, seed=0)
    learner = WeightedClassifier(TREE, COSTS, weighting="powell", max_fits=3).fit(X, y)
    assert learner.search_.fits == 3
    assert not hasattr(learner.set_params(weighting="avg_cost").fit(X, y), "search_")


def test_decisions_beyond_the_classes_are_known_to_the_formulas_alone():
    X, y = gaussians(60, seed=0)
    values = [[0, 20], [2, 0], [1, 4]]
    costs = CostMatrix(values, rows="predicted", labels=[0, 1], decisions=[0, 1, "ask"])
    fitted = WeightedClassifier(TREE, costs).fit(X, y)
    assert fitted.class_weight_ == {0: 1.5, 1: 12.0}
    assert set(fitted.predict(X)) <= {0, 1}
    WeightedClassifier(TREE, costs, weighting="powell", max_fits=3).fit(X, y)
    other = CostMatrix(
        [[0, 9], [2, 1]], rows="predicted", labels=[0, 1], decisions=["approve", "deny"]
    )
    assert WeightedClassifier(TREE, other).fit(X, y).class_weight_ == {0: 1.0, 1: 4.0}
    for weighting in ("powell", "eval_count"):
        with pytest.raises(LabelError, match="cost of predicting each class, but 0 is no decision"):
            WeightedClassifier(TREE, other, weighting=weighting).fit(X, y)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"weighting": "best"}, InputError, "weighting: expected one of 'max_cost'.*got 'best'"),
        ({"weighting": {0: 1}}, LabelError, "weighting: y has the class 1, but.*weights for 0"),
        ({"weighting": {0: 1, "1": 5}}, LabelError, "The str '1' is known, the int 1 is not"),
        ({"weighting": {0: 1, 1: 0}}, InputError, "above 0, got 0 for the class 1"),
        ({"weighting": {0: -2, 1: 1}}, InputError, "above 0, got -2 for the class 0"),
        ({"weighting": {0: 1, 1: np.inf}}, InputError, "finite weights above 0, got inf"),
        ({"weighting": {0: 1, 1: "much"}}, InputError, r"weighting\[1\]: expected numbers"),
        ({"passing": "both"}, InputError, "passing: expected one of 'auto'.*got 'both'"),
        ({"validation": 1.0}, InputError, "validation: expected a share between 0 and 1, got 1"),
        ({"validation": "some"}, InputError, "validation: expected numbers"),
        ({"max_fits": 0}, InputError, "max_fits: expected a whole number, 1 or more"),
        ({"max_fits": 2.5}, InputError, "max_fits: expected a whole number"),
        ({"costs": [[0, 1], [20, 0]]}, InputTypeError, "costs: expected a CostMatrix"),
        ({"costs": NAMED}, LabelError, "costs: y has the class 0"),
    ],
)
def test_bad_options_are_named(options, error, words):
    X, y = gaussians(40, seed=0)
    with pytest.raises(error, match=words):
        WeightedClassifier(TREE, **{"costs": COSTS, **options}).fit(X, y)


def test_bad_weights_are_named():
    X, y = gaussians(40, seed=0)
    with pytest.raises(InputTypeError, match="KNeighborsClassifier takes no sample_weight"):
        WeightedClassifier(KNeighborsClassifier(), COSTS, passing="sample_weight").fit(X, y)
    pipeline = make_pipeline(StandardScaler(), TREE)
    name = "decisiontreeclassifier__sample_weight"
    with pytest.raises(InputError, match=f"{name}: the learner gets its weights by this"):
        WeightedClassifier(pipeline, COSTS).fit(X, y, **{name: np.ones(40)})
    with pytest.raises(InputError, match="sample_weight: weights cannot be negative"):
        WeightedClassifier(TREE, COSTS).fit(X, y, sample_weight=-np.ones(40))
    with pytest.raises(InputError, match="y has 40 rows, sample_weight has 39"):
        WeightedClassifier(TREE, COSTS).fit(X, y, sample_weight=np.ones(39))


def test_costs_that_never_differ_are_named():
    X, y = gaussians(40, seed=0)
    nothing = CostMatrix([[0, 3], [0, 3]], rows="predicted", labels=[0, 1])
    with (
        pytest.warns(ConstantCostWarning, match="every decision costs the same"),
        pytest.raises(InputError, match="'avg_cost' gives the class 0 the weight 0"),
    ):
        WeightedClassifier(TREE, nothing).fit(X, y)
    with pytest.warns(ConstantCostWarning, match="Give mistakes a cost"):
        fitted = WeightedClassifier(TREE, nothing, weighting="powell", max_fits=4).fit(X, y)
    assert fitted.class_weight_ == {0: 1.0, 1: 1.0}
