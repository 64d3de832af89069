"""Recall, precision, F1 and other rates: values, limits by two routes, designs and bad input."""

import json

import numpy as np
import pytest
from scipy.stats import beta
from sklearn import metrics

from stakes import (
    Confusion,
    CostEstimate,
    CostMatrix,
    ScoreCounts,
    choose_threshold,
    evaluate,
    evaluate_rates,
)
from stakes.errors import DesignError, InputError, LabelError
from stakes.infer import RateEstimates, compare_rates

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)


def drawn(n=400, classes=2, seed=0, right=0.8):
    """Return classes that become rarer, and decisions that are right so often."""
    rng = np.random.default_rng(seed)
    y_true = np.minimum(rng.geometric(0.5, n) - 1, classes - 1)
    return y_true, np.where(rng.random(n) < right, y_true, rng.integers(0, classes, n))


def by_sklearn(y_true, y_pred, weight=None):
    """Return scikit-learn's values of what it has."""
    given = {"sample_weight": weight}
    return {
        "recall": metrics.recall_score(y_true, y_pred, **given),
        "specificity": metrics.recall_score(y_true, y_pred, pos_label=0, **given),
        "precision": metrics.precision_score(y_true, y_pred, **given),
        "npv": metrics.precision_score(y_true, y_pred, pos_label=0, **given),
        "f1": metrics.f1_score(y_true, y_pred, **given),
        "accuracy": metrics.accuracy_score(y_true, y_pred, **given),
        "balanced_accuracy": metrics.balanced_accuracy_score(y_true, y_pred, **given),
        "mcc": metrics.matthews_corrcoef(y_true, y_pred, **given),
        "kappa": metrics.cohen_kappa_score(y_true, y_pred, **given),
    }


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_have_scikit_learns_values(weighted):
    y_true, y_pred = drawn()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y_true)) if weighted else None
    rates = evaluate_rates(y_true, y_pred, sample_weight=weight)
    for name, value in by_sklearn(y_true, y_pred, weight).items():
        found = rates.rate(name)
        assert found.value == pytest.approx(value, abs=1e-12), name
        assert found.low <= found.value <= found.high


def test_many_classes_have_scikit_learns_values():
    y_true, y_pred = drawn(600, classes=5, right=0.6)
    rates = evaluate_rates(y_true, y_pred)
    macro = {"average": "macro"}
    expected = {
        "accuracy": metrics.f1_score(y_true, y_pred, average="micro"),
        "balanced_accuracy": metrics.recall_score(y_true, y_pred, **macro),
        "macro_precision": metrics.precision_score(y_true, y_pred, **macro),
        "macro_f1": metrics.f1_score(y_true, y_pred, **macro),
        "mcc": metrics.matthews_corrcoef(y_true, y_pred),
        "kappa": metrics.cohen_kappa_score(y_true, y_pred),
    }
    for name, value in expected.items():
        found = rates.rate(name)
        assert found.value == pytest.approx(value, abs=1e-12), name
        assert found.low < value < found.high
    each = metrics.precision_score(y_true, y_pred, average=None)
    frame = rates.by_class().query("rate == 'precision'")
    np.testing.assert_allclose(frame["value"], each, atol=1e-12)


def test_values_and_limits_are_those_of_peers():
    from confidenceinterval import f1_score, ppv_score
    from sklearn.metrics import precision_score
    from statsmodels.stats.proportion import proportion_confint

    y_true, y_pred = drawn(2000)
    rates = evaluate_rates(y_true, y_pred)
    assert rates.f1.value == pytest.approx(f1_score(y_true, y_pred, average="binary")[0], abs=1e-12)
    # The peer adds 1e-10 to the denominator.
    assert rates.precision.value == pytest.approx(ppv_score(y_true, y_pred)[0], abs=1e-9)
    assert rates.precision.value == pytest.approx(precision_score(y_true, y_pred), abs=1e-12)
    hits, n = ((y_true == 1) & (y_pred == 1)).sum(), (y_true == 1).sum()
    # Clopper and Pearson's limits contain ours, which use the weight 0.7 instead of 1.
    low, high = proportion_confint(hits, n, method="beta")
    assert low < rates.recall.low < hits / n < rates.recall.high < high


def test_limits_of_proportions_are_quantiles_of_beta_distributions():
    table = Confusion([[90, 2], [5, 3]], labels=[0, 1])
    recall = RateEstimates(table, 1).recall
    assert recall.low == pytest.approx(beta.ppf(0.025, 3, 2.7), rel=1e-12)
    assert recall.high == pytest.approx(beta.ppf(0.975, 3.7, 2), rel=1e-12)
    share = beta.ppf(0.025, 3, 7.7), beta.ppf(0.975, 3.7, 7)  # of TP among TP, FP and FN
    f1 = RateEstimates(table, 1).f1
    assert (f1.low, f1.high) == pytest.approx([2 * j / (1 + j) for j in share], rel=1e-9)


@pytest.mark.parametrize("name", ["recall", "precision", "f1", "accuracy"])
def test_the_two_routes_to_limits_agree(name):
    """The quantile of a beta distribution, and the cost N - θD whose limit is 0."""
    rates = RateEstimates(Confusion([[900, 4], [9, 13]], labels=[0, 1]), 1)
    ratio, shares = rates._ratio(name), rates._shares  # noqa: SLF001 - the other route
    found = ratio._inverted(rates.table, rates.design, shares, 0.05)  # noqa: SLF001
    limits = rates.rate(name)
    assert found == pytest.approx((limits.low, limits.high), abs=1e-7)


def test_accuracy_is_one_minus_the_cost_of_errors():
    y_true, y_pred = drawn(300)
    errors = CostMatrix.from_errors(false_positive=1, false_negative=1)
    weight = np.random.default_rng(3).uniform(0.5, 2, 300)
    groups = np.arange(300) // 3
    strata = np.where(np.arange(300) < 100, "a", "b")
    for design in (
        {"sample_weight": weight},
        {"groups": groups},
        {"strata": strata, "population": {"a": 0.9, "b": 0.1}},
        {"class_priors": {0: 0.9, 1: 0.1}},
    ):
        cost = evaluate(y_true, y_pred, errors, **design)
        accuracy = evaluate_rates(y_true, y_pred, **design).accuracy
        low, high = cost.interval()
        assert accuracy.value == pytest.approx(1 - cost.cost, abs=1e-12)
        assert (accuracy.low, accuracy.high) == pytest.approx((1 - high, 1 - low), abs=1e-6)


def test_known_prevalence_moves_precision_and_not_recall():
    y_true, y_pred = drawn(1000)
    plain, moved = evaluate_rates(y_true, y_pred), evaluate_rates(y_true, y_pred, prevalence=0.01)
    assert moved.recall.to_dict() == pytest.approx(plain.recall.to_dict(), rel=1e-12)
    assert moved.specificity.to_dict() == pytest.approx(plain.specificity.to_dict(), rel=1e-12)
    hit, alarm = plain.recall.value, plain.fpr.value
    expected = 0.01 * hit / (0.01 * hit + 0.99 * alarm)
    assert moved.precision.value == pytest.approx(expected, abs=1e-12)
    assert moved.precision.low < expected < moved.precision.high
    priors = evaluate_rates(y_true, y_pred, class_priors={0: 0.99, 1: 0.01})
    assert priors.precision.to_dict() == moved.precision.to_dict()


def test_prevalence_reaches_the_interval_of_precision():
    """Precision varies with both rates: compare with draws from both beta distributions."""
    table = Confusion([[940, 10], [60, 90]], labels=[0, 1])
    found = RateEstimates(table, 1).of(1)
    rates = evaluate_rates(
        [0] * 1000 + [1] * 100, [0] * 940 + [1] * 60 + [0] * 10 + [1] * 90, prevalence=0.02
    )
    assert found.recall.value == pytest.approx(0.9)
    assert rates.recall.value == pytest.approx(0.9)
    rng = np.random.default_rng(0)
    hits, alarms = rng.beta(90.35, 10.35, 200_000), rng.beta(60.35, 940.35, 200_000)
    drawn_precision = 0.02 * hits / (0.02 * hits + 0.98 * alarms)
    low, high = np.quantile(drawn_precision, [0.025, 0.975])
    assert rates.precision.low == pytest.approx(low, rel=0.02)
    assert rates.precision.high == pytest.approx(high, rel=0.02)


def test_groups_widen_the_intervals_and_copies_do_not_narrow_them():
    y_true, y_pred = drawn(200)
    once = evaluate_rates(y_true, y_pred)
    groups = np.repeat(np.arange(200), 3)
    copied = evaluate_rates(np.repeat(y_true, 3), np.repeat(y_pred, 3), groups=groups)
    naive = evaluate_rates(np.repeat(y_true, 3), np.repeat(y_pred, 3))
    for name in ("recall", "precision", "f1", "mcc"):
        one, three, short = (each.rate(name) for each in (once, copied, naive))
        assert three.value == pytest.approx(one.value, abs=1e-12)
        assert three.high - three.low > 0.99 * (one.high - one.low)
        assert short.high - short.low < 0.7 * (one.high - one.low)


def test_what_is_not_defined_is_none_with_all_that_is_possible():
    rates = evaluate_rates([0, 0, 1, 1], [0, 0, 0, 0])
    assert rates.precision.to_dict() == {"value": None, "low": 0.0, "high": 1.0}
    assert rates.mcc.to_dict() == {"value": None, "low": -1.0, "high": 1.0}
    assert rates.f1.value == 0
    assert "not defined" in rates.summary()
    assert rates.npv.value == 0.5


def test_nothing_missed_still_leaves_doubt():
    rates = evaluate_rates([0] * 97 + [1] * 3, [0] * 97 + [1] * 3)
    assert rates.recall.value == 1
    assert rates.recall.low == pytest.approx(beta.ppf(0.025, 3, 0.7))
    assert rates.kappa.value == rates.mcc.value == pytest.approx(1)
    assert rates.kappa.low < 0.7
    assert rates.balanced_accuracy.low < 0.75


def test_paired_differences():
    y_true, first = drawn(500, right=0.9)
    second = np.where(np.random.default_rng(9).random(500) < 0.75, first, 1 - first)
    found = compare_rates(y_true, first, second, names=("new", "old"))
    for each in found:
        assert each.difference == pytest.approx(each.first.value - each.second.value, abs=1e-12)
        assert each.low < each.difference < each.high
        assert each.shown == (each.low > 0 or each.high < 0)
    assert found.rate("accuracy").shown
    swapped = compare_rates(y_true, second, first)
    for name in ("recall", "precision", "f1", "kappa"):
        one, other = found.rate(name), swapped.rate(name)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-5)
    json.dumps(found.to_dict())
    assert list(found.to_frame()["rate"]) == [each.name for each in found]
    assert "new" in found.summary()


def test_two_alike_models_may_still_differ_on_rows_not_seen():
    y_true, y_pred = drawn(200)
    for each in compare_rates(y_true, y_pred, y_pred):
        assert each.difference == 0
        assert each.low < -0.005
        assert each.high > 0.005


def test_paired_differences_of_many_classes_and_groups():
    y_true, first = drawn(300, classes=3, right=0.9)
    second = drawn(300, classes=3, right=0.4, seed=7)[1]
    plain = compare_rates(y_true, first, second).rate("macro_f1")
    assert plain.shown
    assert plain.difference == pytest.approx(
        metrics.f1_score(y_true, first, average="macro")
        - metrics.f1_score(y_true, second, average="macro"),
        abs=1e-12,
    )
    grouped = compare_rates(y_true, first, second, groups=np.arange(300) // 5).rate("accuracy")
    assert grouped.low < grouped.difference < grouped.high


def test_estimates_and_thresholds_have_their_rates():
    y_true, y_pred = drawn(300)
    confusion = Confusion.from_labels(y_true, y_pred)
    direct = evaluate_rates(y_true, y_pred).to_dict()
    assert CostEstimate(confusion, COSTS).rates().to_dict() == direct
    scores = np.random.default_rng(5).normal(y_true)
    choice = choose_threshold(ScoreCounts.from_scores(y_true, scores), COSTS)
    assert choice.rates().recall.value == pytest.approx(choice.recall)
    assert choice.rates().fpr.value == pytest.approx(choice.fpr)


def test_results_are_plain_and_have_tables():
    rates = evaluate_rates(*drawn(100))
    assert set(json.loads(json.dumps(rates.to_dict()))) == set(rates.names)
    assert list(rates.to_frame().columns) == ["rate", "value", "low", "high"]
    assert rates._repr_html_().count("<table>") == 1
    assert rates.sensitivity == rates.recall
    assert rates.ppv == rates.precision
    narrow, wide = rates.rate("f1", 0.5), rates.rate("f1", 0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_bad_input_names_the_argument():
    with pytest.raises(LabelError, match="pos_label"):
        evaluate_rates(["a", "b"], ["a", "b"])
    with pytest.raises(LabelError, match="pos_label"):
        evaluate_rates([0, 1], [0, 1], pos_label=7)
    with pytest.raises(LabelError, match="pos_label"):
        _ = evaluate_rates([0, 1, 2], [0, 1, 2]).recall
    with pytest.raises(InputError, match="two classes"):
        evaluate_rates([1, 1], [1, 1])
    with pytest.raises(InputError, match="prevalence"):
        evaluate_rates([0, 1], [0, 1], prevalence=1.2)
    with pytest.raises(DesignError, match="prevalence"):
        evaluate_rates([0, 1, 2], [0, 1, 2], prevalence=0.2)
    with pytest.raises(InputError, match="class_priors"):
        evaluate_rates([0, 1], [0, 1], prevalence=0.2, class_priors={0: 0.5, 1: 0.5})
    with pytest.raises(InputError, match="name"):
        evaluate_rates([0, 1], [0, 1]).rate("recal")
    assert evaluate_rates([1, 1], [1, 1], labels=[0, 1]).recall.value == 1
    many = np.arange(40)
    with pytest.raises(InputError, match="31 classes"):
        compare_rates(many, many, many)
    refer = Confusion([[5, 0], [0, 4], [1, 1]], labels=[0, 1], decisions=[0, 1, "refer"])
    with pytest.raises(LabelError, match="decisions"):
        RateEstimates(refer, 1)


@pytest.mark.parametrize("name", ["mcc", "kappa"])
def test_limits_of_very_many_rows_are_as_exact_as_those_of_few(name, monkeypatch):
    """One secant does for them; with a tolerance of 1e-11 there are more."""
    for counts in ([[855_000, 5_000], [45_000, 95_000]], [[888_127, 3_689], [101_939, 6_245]]):
        rates = RateEstimates(Confusion(counts, labels=[0, 1]), 1)
        quick = rates.rate(name)
        with monkeypatch.context() as patched:
            patched.setattr("stakes.infer._ratios.CLOSE", 1e-11)
            exact = rates.rate(name)
        assert (quick.low, quick.high) == pytest.approx((exact.low, exact.high), abs=1e-7)
