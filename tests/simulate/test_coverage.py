"""Measured coverage agrees with the enumeration of all possible test sets."""

from math import exp

import numpy as np
import pytest
from scipy.stats import multinomial

from stakes import Confusion, CostEstimate, CostMatrix, Design, GroupedConfusion, evaluate
from stakes.errors import DesignError, InputError, InputTypeError, LabelError
from stakes.simulate import Measurements, coverage
from stakes.simulate._designs import drawing_of

COSTS = CostMatrix([[0, 7], [2, 1]], rows="predicted", labels=["ok", "bad"])
COUNTS = Confusion([[50, 4], [11, 35]], labels=["ok", "bad"])
STEEP = CostMatrix.from_errors(false_positive=1, false_negative=100)


def compositions(n, cells):
    """Return all tables of n examples."""
    if cells == 1:
        return [[n]]
    return [[k, *rest] for k in range(n + 1) for rest in compositions(n - k, cells - 1)]


def near(measured, exact, error):
    return abs(measured - exact) <= 4 * error + 1e-12


@pytest.mark.parametrize(
    ("method", "n"), [("extremal", 6), ("exact", 6), ("normal", 5), ("dirichlet", 3)]
)
def test_it_is_the_probability_of_all_test_sets_that_are_covered(method, n):
    tables = np.array(compositions(n, 4))
    probabilities = multinomial(n, COUNTS.counts.ravel() / COUNTS.n).pmf(tables)
    truth = float((COUNTS.counts * COSTS.values).sum() / COUNTS.n)
    limits = np.array([
        tuple(CostEstimate(Confusion(table.reshape(2, 2), COUNTS.labels), COSTS).interval(
            method=method
        ))
        for table in tables
    ])  # fmt: skip
    below, above = limits[:, 1] < truth - 1e-9, limits[:, 0] > truth + 1e-9
    found = coverage(method, COUNTS, COSTS, n=n, repeats=4000, rng=3)
    assert near(found.coverage, probabilities @ ~(below | above), found.standard_error)
    assert near(found.below, probabilities @ below, found.standard_error)
    assert near(found.above, probabilities @ above, found.standard_error)
    assert found.width == pytest.approx(probabilities @ (limits[:, 1] - limits[:, 0]), rel=0.02)
    assert found.truth == pytest.approx(truth)
    assert found.coverage + found.below + found.above == pytest.approx(1)


def test_bcost_agrees_with_its_limit_without_noise():
    found = coverage(["bcost", "exact"], COUNTS, COSTS, n=60, repeats=1000, rng=0)
    assert near(found["bcost"].coverage, found["exact"].coverage, found["exact"].standard_error)
    assert found["bcost"].width == pytest.approx(found["exact"].width, rel=0.03)


def unseen(expected, n):
    """Return shares where a mistake of 100 is expected so often in n examples."""
    return [[0.94 - expected / n, expected / n], [0.05, 0.01]]


def test_bcost_misses_where_the_costliest_outcome_is_expected_about_once():
    # The costs of 1 are certain here, so only the observation of the costly outcome matters: if it
    # was not observed, BCOST allows for one, and the truth is above that.
    shares = [[0.99 - 1.1 / 5000, 1.1 / 5000], [0.0, 0.01]]
    found = coverage("exact", shares, STEEP, n=5000, repeats=4000, rng=0)
    assert near(found.coverage, 1 - exp(-1.1), found.standard_error)
    assert 0.63 < found.coverage < 0.72
    assert found.costliest.expected == pytest.approx(1.1)
    both = coverage(["bcost", "extremal"], unseen(1.2, 2000), STEEP, n=2000, rng=0)
    assert 0.63 < both["bcost"].coverage < 0.78
    assert both["bcost"].below > 0.2
    assert both["extremal"].coverage > 0.93


def test_the_order_of_the_labels_and_more_classes_in_the_costs_do_not_matter():
    costs = CostMatrix([[0, 3, 9], [1, 0, 4], [8, 2, 0]], rows="predicted", labels=["a", "b", "c"])
    counts = Confusion([[30, 2], [3, 15]], labels=["c", "a"])
    shares = np.zeros((3, 3))
    shares[np.ix_([2, 0], [2, 0])] = counts.counts / counts.n
    one = coverage("normal", counts, costs, n=40, rng=1)
    other = coverage("normal", shares, costs, n=40, rng=1)
    assert one.truth == pytest.approx(other.truth) == pytest.approx((2 * 8 + 3 * 9) / 50)
    assert near(one.coverage, other.coverage, one.standard_error)
    assert one.costliest.what == "predicting 'a' when it was 'c'"


def test_smoothing_makes_unseen_cells_possible():
    counts = Confusion([[950, 0], [40, 10]], labels=[0, 1])
    plain = coverage("bcost", counts, STEEP, rng=0)
    smooth = coverage("bcost", counts, STEEP, smooth=1.2, rng=0)
    assert plain.costliest.expected == 0
    assert "never happens here; smooth= makes it possible" in plain.summary()
    assert smooth.costliest.expected == pytest.approx(1000 * 1.2 / 1004.8)
    assert smooth.coverage < 0.8
    assert plain.coverage > 0.93


def test_results_can_be_read_written_and_repeated():
    found = coverage(["bcost", "extremal"], COUNTS, COSTS, repeats=50, rng=7)
    assert isinstance(found, Measurements)
    assert found == coverage(["bcost", "extremal"], COUNTS, COSTS, repeats=50, rng=7)
    assert found["bcost"] == coverage("bcost", COUNTS, COSTS, repeats=50, rng=7)
    assert [each.method for each in found] == ["bcost", "extremal"]
    assert len(found) == 2
    assert found.to_frame().columns[0] == "method"
    assert found.to_dict()["results"][1]["costliest"]["value"] == 7
    assert "<td>100</td>" in found._repr_html_()
    assert found["extremal"].summary().startswith("extremal: 95% intervals cover the true cost in ")
    assert found.summary().count("\n") == 1
    assert "<table>" in found["extremal"]._repr_html_()
    with pytest.raises(InputError, match="method: expected one of 'bcost', 'extremal'; got 'x'"):
        found["x"]


def test_options_reach_the_method():
    narrow = coverage("extremal", COUNTS, COSTS, n=30, repeats=200, rng=0, weight=0.1)
    wide = coverage("extremal", COUNTS, COSTS, n=30, repeats=200, rng=0, weight=1)
    assert narrow.width < wide.width
    few = coverage("bcost", COUNTS, COSTS, n=30, repeats=200, rng=0, n_resamples=100, laplace=0)
    assert few.coverage > 0.5
    with pytest.raises(InputTypeError, match="weight: the method 'normal' has no such option"):
        coverage("normal", COUNTS, COSTS, weight=1)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"method": "magic"}, InputError, "method: expected one of 'anytime', .*got 'magic'"),
        ({"method": ["t", "x"]}, InputError, "method: expected one of 'anytime', .*got 'x'"),
        ({"method": []}, InputTypeError, r"method: expected the name .* got \[\]"),
        ({"method": 5}, InputTypeError, "method: expected the name of a method"),
        ({"confidence": 95}, InputError, "confidence: expected a number between 0 and 1"),
        ({"n": 0}, InputError, "n: expected a whole number, 1 or more, got 0"),
        ({"n": 2.5}, InputError, r"n: expected a whole number, 1 or more, got 2\.5"),
        ({"repeats": -1}, InputError, "repeats: expected a whole number, 1 or more"),
        ({"smooth": -0.1}, InputError, "smooth: expected a number from 0"),
        ({"smooth": "much"}, InputError, "smooth: expected numbers, got 'much'"),
        ({"rng": "seed"}, InputTypeError, "rng: expected a numpy Generator"),
        ({"costs": [[0, 1], [5, 0]]}, InputTypeError, "costs: expected a CostMatrix, got list"),
        ({"confusion": [[1, 2, 3]]}, InputError, r"confusion: .*shape \(2, 2\).*shape \(1, 3\)"),
        ({"confusion": [[0, 0], [0, 0]]}, InputError, "confusion: all counts are zero"),
        ({"confusion": [[1, -2], [0, 0]]}, InputError, "confusion: counts cannot be negative"),
        ({"confusion": [[0.5, 0], [0.25, 0.25]]}, InputError, "n: confusion has shares, so say"),
        (
            {"confusion": [[0.5, 0], [0.25, 0.25]], "n": 9, "smooth": 1},
            InputError,
            "smooth: it is added to counts, and confusion has shares",
        ),
        ({"confusion": Confusion([[1, 2], [3, 4]], ["ok", "x"])}, LabelError, "'x'"),
        (
            {"confusion": Confusion([[1, 2], [3, 4]], ["ok", "bad"], squares=[[1, 1], [2, 2]])},
            DesignError,
            "confusion: expected counts of examples, got sums of weights",
        ),
    ],
)
def test_bad_arguments_are_named(arguments, error, said):
    given = {"method": "extremal", "confusion": COUNTS, "costs": COSTS} | arguments
    method, confusion, costs = (given.pop(name) for name in ("method", "confusion", "costs"))
    with pytest.raises(error, match=said):
        coverage(method, confusion, costs, **given)


GROUPS = np.repeat(np.arange(40), 10)
SAMPLED = {
    "groups": {"groups": GROUPS},
    "strata": {"strata": GROUPS % 3},
    "groups in strata": {"groups": GROUPS, "strata": GROUPS % 3},
    "groups across strata": {"groups": GROUPS, "strata": np.arange(400) % 3},
    "groups of weights": {"groups": GROUPS, "sample_weight": 1.0 + GROUPS % 2},
}


@pytest.mark.parametrize("name", SAMPLED)
def test_test_sets_of_groups_and_strata_are_drawn_as_they_were(name):
    """Whole groups are missed: of ten rows each, so intervals of rows would cover too rarely."""
    actual = (GROUPS < 20).astype(int)
    decided = np.where(GROUPS < 4, 0, actual)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    counts = GroupedConfusion.from_labels(actual, decided, **SAMPLED[name])
    found = coverage("extremal", counts, costs, repeats=40, rng=1)
    assert found.coverage >= 0.85
    assert found.truth == pytest.approx(evaluate(actual, decided, costs, **SAMPLED[name]).cost)
    assert found.coverage + found.below + found.above == pytest.approx(1)
    assert coverage("extremal", counts, costs, repeats=40, rng=1).to_dict() == found.to_dict()


def test_what_cannot_be_drawn_again_is_refused():
    actual, costs = (GROUPS < 20).astype(int), STEEP
    weighted = GroupedConfusion.from_labels(
        actual, actual, strata=GROUPS % 3, sample_weight=1.0 + GROUPS % 2
    )
    with pytest.raises(DesignError, match="sums of weights do not tell which rows"):
        coverage("extremal", weighted, costs)
    counts = GroupedConfusion.from_labels(actual, actual, groups=GROUPS)
    with pytest.raises(DesignError, match="smooth: what was not observed has no group"):
        coverage("extremal", counts, costs, smooth=0.1)
    two = GroupedConfusion.from_labels(actual, actual, y_pred_2=actual, groups=GROUPS)
    with pytest.raises(InputTypeError, match="expected the counts of one classifier, got two"):
        coverage("extremal", two, costs)
    with pytest.raises(InputTypeError, match="design: expected a Design, got dict"):
        coverage("extremal", counts, costs, design={})
    with pytest.raises(InputTypeError, match="expected counts, which a design is of; got list"):
        coverage("extremal", [[5, 1], [2, 2]], costs, design=Design(class_priors=[0.5, 0.5]))
    with pytest.raises(DesignError, match="rows_counted"):
        coverage("extremal", counts, costs, design=Design(rows_counted=500))


def test_test_sets_have_the_size_asked_for():
    """As many groups as hold so many examples; weights do not matter to which are drawn."""
    actual = (GROUPS < 20).astype(int)
    decided = np.where(GROUPS < 4, 0, actual)
    counts = GroupedConfusion.from_labels(actual, decided, groups=GROUPS, strata=GROUPS % 3)
    drawing = drawing_of(counts, STEEP, None, 0.0, models=1)
    for n, groups in ((400, 40), (800, 80), (30, 6)):
        (drawn,) = drawing.draw(n, 1, np.random.default_rng(0))
        assert len(set(drawn.confusion.groups)) == pytest.approx(groups, abs=1)
    narrow, wide = (coverage("t", counts, STEEP, n=n, repeats=30, rng=0) for n in (2000, 400))
    assert narrow.width < 0.7 * wide.width


def test_class_priors_and_shares_of_strata_are_kept():
    """A design of its own: what it takes as true is the estimate of the rows."""
    actual = (GROUPS < 20).astype(int)
    decided = np.where(GROUPS < 4, 0, actual)
    priors = Design(class_priors=[0.9, 0.1])
    table = Confusion.from_labels(actual, decided)
    found = coverage("extremal", table, STEEP, design=priors, rng=0, repeats=50)
    told = {"class_priors": [0.9, 0.1]}
    assert found.truth == pytest.approx(evaluate(actual, decided, STEEP, **told).cost, rel=1e-9)
    assert found.coverage > 0.8
    shares = {0: 0.6, 1: 0.3, 2: 0.1}
    strata = GroupedConfusion.from_labels(actual, decided, strata=GROUPS % 3)
    for population in (shares, {name: 4000 * each for name, each in shares.items()}):
        design = Design(population=population)
        found = coverage("extremal", strata, STEEP, design=design, rng=0, repeats=20)
        told = {"strata": GROUPS % 3, "population": shares}
        assert found.truth == pytest.approx(evaluate(actual, decided, STEEP, **told).cost)
