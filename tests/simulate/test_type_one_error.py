"""Measured sizes of tests agree with the enumeration of all possible test sets."""

import warnings
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multinomial

from stakes import CostDifference, CostMatrix, GroupedConfusion, PairedConfusion
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer.methods import METHODS, names_of_intervals, names_of_tests
from stakes.simulate import power_curve, type_one_error
from stakes.simulate._designs import drawing_of
from stakes.simulate._measurements import Truth

COSTS = CostMatrix([[0, 7], [2, 1]], rows="predicted", labels=["ok", "bad"])
PAIRED = PairedConfusion([[[40, 3], [9, 8]], [[4, 2], [5, 29]]], labels=["ok", "bad"])
STEEP = CostMatrix.from_errors(false_positive=1, false_negative=100)


def compositions(n, cells):
    """Return all tables of n examples."""
    if cells == 1:
        return [[n]]
    return [[k, *rest] for k in range(n + 1) for rest in compositions(n - k, cells - 1)]


def rejected(table, costs, method):
    """Ask the test itself about one table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PairedConfusion(np.reshape(table, (2, 2, 2)), costs.labels)
        return CostDifference(found, costs).test(method, confidence=0.8).rejected


def exact_power(truth, method, n):
    """Add up the probabilities of all tables that a test rejects, of the cells that can come."""
    possible = np.flatnonzero(truth.shares)
    tables = np.zeros((len(few := compositions(n, len(possible))), 8), dtype=int)
    tables[:, possible] = few
    chances = multinomial(n, truth.shares.ravel()[possible]).pmf(tables[:, possible])
    return float(chances @ [rejected(table, COSTS, method) for table in tables])


NULL = Truth(PAIRED.counts / PAIRED.n, COSTS).tilted(0.0)


@pytest.mark.parametrize("method", ["exact", "extremal", "normal"])
def test_it_is_the_probability_of_all_test_sets_that_are_rejected(method):
    shares = np.array([[[40, 0], [9, 8]], [[4, 2], [0, 0]]])
    truth = Truth(shares / shares.sum(), COSTS)
    settings = {"confidence": 0.8, "repeats": 4000, "rng": 5}
    for null in (truth.tilted(0.0), truth.exchanged()):
        assert null.mean == pytest.approx(0, abs=1e-12)
    found = type_one_error(method, truth.shares, COSTS, n=5, **settings)
    expected = exact_power(truth.tilted(0.0), method, 5)
    assert abs(found.size - expected) < 4 * found.standard_error
    found = power_curve(method, truth.shares, COSTS, n=5, **settings)
    assert abs(found.power[0] - exact_power(truth, method, 5)) < 4 * found.standard_error[0]


def test_exchanging_makes_the_difference_symmetric():
    both = Truth(PAIRED.counts / PAIRED.n, COSTS).exchanged()
    assert both.mean == pytest.approx(0, abs=1e-15)
    assert np.array_equal(both.shares, both.shares.swapaxes(0, 1))
    assert both.atoms.counts[0] == pytest.approx(both.atoms.counts[0, ::-1])
    assert both.atoms.costs == pytest.approx(-both.atoms.costs[::-1])


def test_tilting_changes_the_shares_as_little_as_possible():
    shares = PAIRED.counts / PAIRED.n
    values = (COSTS.values[:, np.newaxis] - COSTS.values[np.newaxis]).ravel()
    assert NULL.mean == pytest.approx(0, abs=1e-12)

    def divergence(logits):
        other = np.exp(logits) / np.exp(logits).sum()
        return float(other @ np.log(other / shares.ravel()))

    def difference(logits):
        return float(np.exp(logits) @ values / np.exp(logits).sum())

    best = minimize(
        divergence,
        np.log(shares.ravel()),
        constraints={"type": "eq", "fun": difference},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    nearest = np.exp(best.x) / np.exp(best.x).sum()
    assert NULL.shares.ravel() == pytest.approx(nearest, abs=1e-4)


def test_tilting_keeps_what_cannot_happen_and_what_is_right_already():
    shares = np.array([[[0.5, 0.0], [0.3, 0.02]], [[0.05, 0.0], [0.1, 0.03]]])
    tilted = Truth(shares, COSTS).tilted(-0.2)
    assert tilted.mean == pytest.approx(-0.2)
    assert np.array_equal(tilted.shares > 0, shares > 0)
    assert tilted.tilted(tilted.mean).shares is tilted.shares


def asymmetric(expected, n):
    """Return shares where +100 is expected so often in n examples, and -1 a hundred times that."""
    shares = np.zeros((2, 2, 2))
    shares[0, 1] = 100 * expected / n, expected / n
    shares[0, 0, 0] = 1 - shares.sum()
    return shares


def test_most_tests_reject_when_the_rare_expensive_outcome_did_not_come():
    names = ["bdeltacost", "exact", "normal", "signflip", "extremal"]
    rare = type_one_error(names, asymmetric(0.3, 1000), STEEP, n=1000, repeats=1000, rng=0)
    for name in names[:4]:
        assert abs(rare[name].size - exp(-0.3)) < 4 * rare[name].standard_error
    once = type_one_error(names[:1], asymmetric(1.2, 1000), STEEP, n=1000, repeats=1000, rng=0)
    assert 0.25 < once["bdeltacost"].size < 0.34
    often = type_one_error("bdeltacost", asymmetric(12, 5000), STEEP, n=5000, repeats=1000, rng=0)
    assert 0.02 < often.size < 0.09
    assert rare["extremal"].size < 0.06
    assert rare["extremal"].largest.expected == pytest.approx(0.3)
    assert "which changes the difference by 100, 0.3 times" in rare["extremal"].summary()
    assert "which changes the difference by -100, never" in rare["extremal"].summary()


def test_the_symmetric_null_hides_it():
    shares = asymmetric(1.2, 1000)
    found = type_one_error("bdeltacost", shares, STEEP, n=1000, null="exchanged", rng=0)
    assert found.size < 0.08
    assert found.smallest.expected == pytest.approx(0.6)


def test_mcnemar_is_for_equal_costs():
    equal = CostMatrix.zero_one(["ok", "bad"])
    found = type_one_error(["mcnemar", "signflip"], PAIRED, equal, n=60, repeats=300, rng=0)
    assert found["mcnemar"].size <= 0.07
    with pytest.raises(InputError, match="McNemar's test is for mistakes that all cost the same"):
        type_one_error("mcnemar", PAIRED, COSTS)


@pytest.mark.parametrize("name", sorted(set(names_of_intervals()) - set(names_of_tests())))
def test_what_is_no_test_of_a_difference_is_none_here(name):
    difference = CostDifference(PAIRED, COSTS)
    for asked in (lambda: type_one_error(name, PAIRED, COSTS), lambda: difference.test(name)):
        with pytest.raises(InputError, match=f"method: expected one of .*got '{name}'"):
            asked()


def test_a_new_method_can_be_measured_and_changes_no_other():
    names = ["bdeltacost", "signflip"]
    settings = {"n": 40, "repeats": 50, "rng": 1, "n_resamples": 100}
    before = type_one_error(names, PAIRED, COSTS, **settings)
    new = replace(METHODS["normal"], name="a_new_one")
    known = dict(METHODS)
    METHODS.clear()
    try:
        METHODS.update({new.name: new} | known)  # the new method comes first
        assert type_one_error(names, PAIRED, COSTS, **settings) == before
        del settings["n_resamples"]
        both = type_one_error(["normal", "a_new_one"], PAIRED, COSTS, **settings)
        assert both["normal"].size == both["a_new_one"].size
    finally:
        METHODS.clear()
        METHODS.update(known)


def test_results_can_be_read_written_and_repeated():
    settings = {"n": 40, "repeats": 100}
    found = type_one_error(["bdeltacost", "extremal"], PAIRED, COSTS, rng=1, **settings)
    assert found["extremal"] == type_one_error("extremal", PAIRED, COSTS, rng=1, **settings)
    assert found["bdeltacost"].to_dict()["largest"]["value"] == 6
    assert found.to_frame()["largest_expected"].iloc[0] == found["extremal"].largest.expected
    assert "and is meant to in 5%" in found["extremal"].summary()
    assert "<table>" in found["extremal"]._repr_html_()
    assert type_one_error("extremal", PAIRED, COSTS, repeats=5, rng=0).n == 100


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"method": "bcast"}, InputError, "method: expected one of 'bdeltacost', 'exact'"),
        ({"null": "none"}, InputError, "null: expected one of 'tilted', 'exchanged'; got 'none'"),
        ({"confidence": 1}, InputError, "confidence: expected a number between 0 and 1"),
        ({"n": [10]}, InputError, r"n: expected a whole number, 1 or more, got \[10\]"),
        ({"weight": 1, "method": "signflip"}, InputTypeError, "weight: the test 'signflip'"),
        ({"paired": PAIRED.first}, InputTypeError, "paired: expected a PairedConfusion, got a Con"),
        ({"paired": [[1, 2], [3, 4]]}, InputError, "paired: expected a 3-dimensional array"),
        (
            {"paired": [[[5, 0], [0, 2]], [[0, 0], [0, 3]]]},
            InputError,
            r"paired: the outcomes that were observed differ by 0 to 6, .* 0 cannot .*smooth=0\.1",
        ),
        (
            {"paired": PairedConfusion(PAIRED.counts, PAIRED.labels, squares=PAIRED.counts)},
            DesignError,
            "paired: expected counts of examples, got sums of weights",
        ),
    ],
)
def test_bad_arguments_are_named(arguments, error, said):
    given = {"method": "extremal", "paired": PAIRED, "costs": COSTS} | arguments
    method, paired, costs = (given.pop(name) for name in ("method", "paired", "costs"))
    with pytest.raises(error, match=said):
        type_one_error(method, paired, costs, **given)


GROUPS = np.repeat(np.arange(60), 10)
SAMPLED = {
    "groups": {"groups": GROUPS},
    "strata": {"strata": GROUPS % 3},
    "groups in strata": {"groups": GROUPS, "strata": GROUPS % 3},
    "groups across strata": {"groups": GROUPS, "strata": np.arange(600) % 3},
    "groups of weights": {"groups": GROUPS, "sample_weight": 1.0 + GROUPS % 2},
}


def of_groups(**told):
    """Return two models, of which the first misses whole groups and the other has false alarms."""
    rng = np.random.default_rng(0)
    actual = (GROUPS % 4 == 0).astype(int)
    first = np.where(GROUPS < 9, 0, actual)
    second = np.where(rng.random(600) < 0.3, 1, actual)
    return GroupedConfusion.from_labels(actual, first, y_pred_2=second, **told)


@pytest.mark.parametrize("null", ["tilted", "exchanged"])
@pytest.mark.parametrize("name", SAMPLED)
def test_whole_groups_make_up_the_null(name, null):
    counts, costs = of_groups(**SAMPLED[name]), CostMatrix.from_errors(
        false_positive=1, false_negative=40
    )  # fmt: skip
    drawing = drawing_of(counts, costs, None, 0.0, models=2)
    equal = drawing.exchanged() if null == "exchanged" else drawing.tilted(0.0)
    assert drawing.truth != pytest.approx(0, abs=0.1)
    assert equal.truth == pytest.approx(0, abs=1e-8)
    drawn = equal.draw(None, 200, np.random.default_rng(1))
    mean = np.mean([each.difference for each in drawn])
    error = np.std([each.difference for each in drawn]) / np.sqrt(200)
    assert abs(mean) < 4 * error  # the strata's estimates are ratios, almost unbiased
    found = type_one_error("extremal", counts, costs, null=null, repeats=60, rng=0)
    assert found.size <= 0.15
    assert found.n == round(counts.n)


def test_a_null_out_of_reach_is_said():
    actual = (GROUPS % 4 == 0).astype(int)
    worse = GroupedConfusion.from_labels(actual, 1 - actual, y_pred_2=actual, groups=GROUPS)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=40)
    with pytest.raises(InputError, match="a true difference of 0 cannot come from the groups"):
        type_one_error("extremal", worse, costs)
    with pytest.raises(InputTypeError, match="expected the counts of two, got one classifier"):
        type_one_error("extremal", worse.first, costs)


def test_the_power_of_groups_grows_with_their_number():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=40)
    counts = of_groups(groups=GROUPS)
    asked = {"n": [600, 3000], "difference": 3.0, "repeats": 40, "rng": 0}
    curve = power_curve("extremal", counts, costs, **asked)
    assert curve.difference == pytest.approx(3)
    assert curve.power[1] > curve.power[0] + 0.2
