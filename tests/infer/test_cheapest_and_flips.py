"""Probability that each classifier is the cheapest, against the examples and exact tails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stakes import (
    CostMatrix,
    CostRanges,
    CostSample,
    JointConfusion,
    cheapest_probability,
    compare,
    flip_region,
)
from stakes.errors import DesignError, InputError, InputTypeError, LabelError, RareCostWarning
from stakes.infer._outcomes import Design
from stakes.infer._shares import cell_shares
from stakes.infer.cheapest import Populations, find_cheapest
from stakes.infer.difference import CostDifference

pytestmark = pytest.mark.filterwarnings("ignore::stakes.errors.RareCostWarning")

Y_TRUE = [0] * 600 + [1] * 400
EAGER = [0] * 400 + [1] * 600  # 200 false alarms
SHY = [0] * 630 + [1] * 370  # 30 misses


def test_known_costs_leave_only_the_sampling():
    costs = CostRanges.from_cells({(0, 1): 10, (1, 0): 1}, labels=[0, 1])
    found = cheapest_probability(Y_TRUE, {"eager": EAGER, "shy": SHY}, costs, rng=0)
    assert found.costs_only.tolist() == [1, 0]
    assert found.probability_low == pytest.approx(found.sampling_low)
    assert found.probability_high == pytest.approx(found.sampling_high)
    assert found.sd_costs.tolist() == pytest.approx([0, 0], abs=1e-12)
    assert found.cost == pytest.approx([0.2, 0.3])
    # The Bayesian bootstrap has the variance of the mean.
    each = np.array([0.0] * 970 + [10.0] * 30)
    assert found.sd_sampling[1] == pytest.approx(each.std() / np.sqrt(1000), rel=0.05)


def test_the_two_sources_add_up_to_the_whole():
    costs = CostRanges.from_cells({(0, 1): (2, 12), (1, 0): (0.5, 1.5)}, labels=[0, 1])
    found = cheapest_probability(Y_TRUE, {"eager": EAGER, "shy": SHY}, costs, n_draws=20_000, rng=1)
    # Independent sources: variances add up, except for a small product term, and for the allowance
    # of one miss more than 30, whose cost is uncertain too.
    assert found.sd**2 == pytest.approx(found.sd_costs**2 + found.sd_sampling**2, rel=0.09)
    # With two classifiers, one is the cheapest if the other is not.
    assert found.probability_low + found.probability_high[::-1] == pytest.approx([1, 1])
    # Given the costs, eager is cheaper when 0.2·fp < 0.03·fn.
    rng = np.random.default_rng(2)
    fn, fp = rng.uniform(2, 12, 10**6), rng.uniform(0.5, 1.5, 10**6)
    assert found.costs_only[0] == pytest.approx((0.2 * fp < 0.03 * fn).mean(), abs=0.02)
    assert "eager, the cheapest on average, has a probability of 49% to 54%" in found.summary()
    assert "costs only" in repr(found)
    assert "<table>" in found._repr_html_()
    assert set(found.to_dict()) == {"eager", "shy"}


def test_nothing_is_known_of_twins_and_all_of_one_and_seeds_reproduce():
    costs = CostRanges.from_cells({(0, 1): (2, 12), (1, 0): 1}, labels=[0, 1])
    twins = cheapest_probability(Y_TRUE, {"a": SHY, "b": SHY}, costs, rng=0)
    assert twins.probability_low.tolist() == [0, 0]
    assert twins.probability_high.tolist() == [1, 1]
    assert twins.costs_only.tolist() == [0.5, 0.5]
    assert twins.summary().startswith("Which model is the cheapest cannot be told: a, the cheapest")
    alone = cheapest_probability(Y_TRUE, {"a": SHY}, costs, rng=0)
    assert alone.probability_low.tolist() == alone.probability_high.tolist() == [1]
    joint = JointConfusion.from_labels(Y_TRUE, {"a": EAGER, "b": SHY}, labels=[0, 1])
    one, other = (cheapest_probability(joint, None, costs, rng=3) for _ in range(2))
    assert one.to_dict() == other.to_dict()


def three_classes(seed):
    """Return labels of three classes, the decisions of three classifiers and ranges of costs."""
    rng = np.random.default_rng(seed)
    y_true = rng.permutation([0] * 60 + [1] * 30 + [2] * 10)
    decided = {
        name: np.where(rng.random(100) < share, y_true, rng.integers(0, 3, 100))
        for name, share in (("a", 0.8), ("b", 0.7), ("c", 0.75))
    }
    low = rng.uniform(0, 30, (3, 3)).round(1) * (1 - np.eye(3))
    costs = CostRanges(low, 2 * low, rows="predicted", labels=range(3))
    return y_true, decided, costs


@pytest.mark.parametrize("seed", range(3))
def test_priors_do_what_examples_repeated_in_their_ratio_do(seed):
    y_true, decided, costs = three_classes(seed)
    priors = {0: 0.2, 1: 0.3, 2: 0.5}  # 60, 30 and 10 examples: once, thrice and 15 times
    again = np.array([1, 3, 15])[y_true]
    found = cheapest_probability(y_true, decided, costs, class_priors=priors, rng=0)
    repeated = {name: np.repeat(each, again) for name, each in decided.items()}
    plain = cheapest_probability(np.repeat(y_true, again), repeated, costs, rng=0)
    assert found.cost == pytest.approx(plain.cost)
    assert found.costs_only == pytest.approx(plain.costs_only)
    assert found.sd_costs == pytest.approx(plain.sd_costs)
    assert (found.sd_sampling > 1.2 * plain.sd_sampling).all()  # repeated rows add no information


def test_priors_leave_the_doubt_of_each_class():
    """One more example in each class, added to the rows: all weights from Dirichlet(1, …, 1)."""
    y_true, decided, costs = three_classes(3)
    priors = np.array([0.2, 0.3, 0.5])
    found = cheapest_probability(y_true, decided, costs, class_priors=priors, n_draws=20_000, rng=0)
    rng = np.random.default_rng(1)
    drawn = costs.sample(20_000, rng=rng)
    weights = [rng.dirichlet(np.ones((y_true == j).sum() + 1), len(drawn)) for j in range(3)]
    for who, name in enumerate(decided):
        for bound, against in (("low", True), ("high", False)):
            each = np.zeros((len(drawn), 3))
            for j, prior in enumerate(priors):
                most, least = drawn[:, :, j].max(axis=1), drawn[:, :, j].min(axis=1)
                for k, decisions in enumerate(decided.values()):
                    rows = drawn[:, decisions[y_true == j], j]
                    extra = most if (k == who) == against else least
                    rows = np.column_stack([rows, extra])
                    each[:, k] += prior * (weights[j] * rows).sum(axis=1)
            share = (each.argmin(axis=1) == who).mean()
            got = getattr(found, f"probability_{bound}")[who]
            assert got == pytest.approx(share, abs=0.02), (name, bound)
            if against:
                assert found.sd[who] == pytest.approx(each[:, who].std(), rel=0.03)


def test_priors_may_leave_out_a_class_and_need_examples():
    y_true, decided, costs = three_classes(4)
    kept = np.flatnonzero(y_true != 2)
    some = {name: each[kept] for name, each in decided.items()}
    found, alone = (
        cheapest_probability(truth, each, costs, class_priors=[0.5, 0.5, 0], rng=0)
        for truth, each in ((y_true, decided), (y_true[kept], some))
    )
    assert found.cost == pytest.approx(alone.cost)
    with pytest.raises(InputError, match=r"class_priors: the class 2 has a prior of 0\.4 but no"):
        cheapest_probability(y_true[kept], some, costs, class_priors=[0.1, 0.5, 0.4])
    with pytest.raises(LabelError, match=r"class_priors: .* misses 2"):
        cheapest_probability(y_true, decided, costs, class_priors={0: 0.5, 1: 0.5})


def known(costs):
    """Return ranges without width."""
    return CostRanges(costs.values, costs.values, rows="predicted", labels=costs.labels)


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_two_are_the_tails_of_the_extremal_test(seed, priors):
    """Draws against the tails without sampling, on which the one-sided test rests."""
    y_true, decided, ranges = three_classes(seed)
    two = {name: decided[name] for name in "ab"}
    costs = ranges.mean()
    found = cheapest_probability(
        y_true, two, known(costs), class_priors=priors, n_draws=20_000, rng=0
    )
    difference = compare(y_true, two["a"], two["b"], costs, class_priors=priors)
    less, greater = (
        difference.test("extremal", alternative=way).p_value for way in ("less", "greater")
    )
    if priors is not None:  # one more row in each class allows more than the test's one row
        assert (found.probability_low < np.array([1 - less, 1 - greater]) + 0.015).all()
        assert (found.probability_high > np.array([greater, less]) - 0.015).all()
        return
    assert found.probability_low == pytest.approx([1 - less, 1 - greater], abs=0.015)
    assert found.probability_high == pytest.approx([greater, less], abs=0.015)


def test_bounds_of_three_are_those_of_one_more_row():
    """The row in which one decides what costs most, and all others what costs least."""
    y_true, decided, ranges = three_classes(5)
    costs = ranges.mean().values
    found = cheapest_probability(y_true, decided, known(ranges.mean()), n_draws=20_000, rng=0)
    j = int(np.ptp(costs, axis=0).argmax())
    weights = np.random.default_rng(1).dirichlet(np.ones(len(y_true) + 1), 20_000)
    rows = np.column_stack([costs[each, y_true] for each in decided.values()])
    for who in range(3):
        extra = np.full(3, costs[:, j].min())
        extra[who] = costs[:, j].max()
        drawn = weights @ np.vstack([rows, extra])
        low = (drawn.argmin(axis=1) == who).mean()
        assert found.probability_low[who] == pytest.approx(low, abs=0.015)
        drawn = weights @ np.vstack([rows, costs[:, j].max() + costs[:, j].min() - extra])
        high = (drawn.argmin(axis=1) == who).mean()
        assert found.probability_high[who] == pytest.approx(high, abs=0.015)


def test_a_mistake_that_was_not_observed_leaves_room():
    """A model without a miss or a false alarm is not certain to be the cheapest."""
    costs = CostRanges.from_cells({(0, 1): 100, (1, 0): 1}, labels=[0, 1])
    y_true = [0] * 4000 + [1] * 100
    models = {"old": [1] * 30 + [0] * 3970 + [1] * 100, "new": y_true}
    with pytest.warns(
        RareCostWarning, match=r"old predicting 1 and new 0 when it was 1, .* not observed"
    ):
        found = cheapest_probability(y_true, models, costs, n_draws=20_000, rng=0)
    # new is cheaper unless one miss, of weight Gamma(1), outweighs 30 false alarms.
    outweighed = (1 + 1 / 100) ** -30  # E exp(-G/100) for G ~ Gamma(30)
    assert found.probability_low[1] == pytest.approx(1 - outweighed, abs=0.015)
    assert found.probability_high[1] == 1
    assert "cannot be told: new, the cheapest on average, has a probability of" in found.summary()
    sure = cheapest_probability(y_true, models, costs, impossible=[(0, 1)], rng=0)
    assert sure.probability_low[1] == 1
    assert sure.summary().startswith("new is the cheapest with a probability of 100% (100%")
    with pytest.raises(InputError, match=r"impossible: predicting 1 when it was 0 .* observed 30"):
        cheapest_probability(y_true, models, costs, impossible=[(1, 0)], rng=0)


@pytest.mark.filterwarnings("error::stakes.errors.RareCostWarning")
def test_with_many_mistakes_the_bounds_meet():
    """Both within two points of the plain Dirichlet, which has no room."""
    rng = np.random.default_rng(7)
    y_true = np.repeat([0, 1], [30_000, 20_000])
    models = {
        name: np.where(rng.random(50_000) < wrong, 1 - y_true, y_true)
        for name, wrong in (("a", 0.100), ("b", 0.101), ("c", 0.104))
    }
    costs = CostRanges.from_cells({(0, 1): (2, 6), (1, 0): 1}, labels=[0, 1])
    joint = JointConfusion.from_labels(y_true, models, labels=[0, 1])
    found = cheapest_probability(joint, None, costs, n_draws=20_000, rng=0)
    shares = rng.dirichlet(joint.counts, 20_000)
    drawn = costs.sample(20_000, rng=rng)
    each = [(shares * drawn[:, who, joint.actual]).sum(axis=1) for who in joint.decided.T]
    plain = np.bincount(np.argmin(each, axis=0), minlength=3) / 20_000
    assert 0.05 < plain.max() < 0.95
    assert found.probability_low == pytest.approx(plain, abs=0.02)
    assert found.probability_high == pytest.approx(plain, abs=0.02)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_no_more_is_claimed_than_there_is(seed):
    y_true, decided, costs = three_classes(seed)
    found = cheapest_probability(y_true, decided, costs, n_draws=200, rng=0)
    for low, high in (
        (found.probability_low, found.probability_high),
        (found.sampling_low, found.sampling_high),
    ):
        assert (low >= 0).all()
        assert (low <= high).all()
        assert (high <= 1).all()
        assert low.sum() <= 1 <= high.sum()


def test_classes_that_were_fixed_beforehand_have_a_room_each():
    y_true, decided, costs = three_classes(6)
    joint = JointConfusion.from_labels(y_true, decided, labels=range(3))
    shares = [0.6, 0.3, 0.1]
    one, other = (
        find_cheapest(joint, costs, design, 500, 0)
        for design in (Design(class_priors=shares), Design(strata="class"))
    )
    assert one.probability_low.tolist() == other.probability_low.tolist()
    assert one.sd == pytest.approx(other.sd)
    assert one.probability_low[0] < find_cheapest(joint, costs, Design(), 500, 0).probability_low[0]


def test_flip_ratio():
    costs = CostMatrix.from_errors(false_positive=2, false_negative=20)
    region = flip_region(compare(Y_TRUE, EAGER, SHY, costs, names=("eager", "shy")))
    assert region.cheaper == "eager"
    assert region.ratio == pytest.approx(200 / 30)
    assert "costs more than 6.667 × the opposite mistake (now 10 ×)" in region.summary()
    cheap = CostMatrix.from_errors(false_positive=2, false_negative=4)
    region = flip_region(compare(Y_TRUE, EAGER, SHY, cheap, names=("eager", "shy")))
    assert "costs less than 6.667 × the opposite mistake" in region.summary()


@given(st.integers(0, 10_000))
def test_at_a_flip_both_cost_the_same_and_beyond_it_the_other_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    y_true, first, second = rng.integers(0, 3, (3, 60))
    costs = CostMatrix(rng.integers(1, 50, (3, 3)), rows="predicted", labels=range(3))
    difference = compare(y_true, first, second, costs)
    if difference.difference == 0:
        return
    region = flip_region(difference)
    for flip in region.flips:
        if flip.at is None:
            assert flip.holds == "always"
            continue
        for factor in (1.0, 1.01):
            values = costs.values.copy()
            beyond = flip.cost + factor * (flip.at - flip.cost)
            values[costs.decisions.index(flip.decision), costs.labels.index(flip.label)] = beyond
            moved = CostMatrix(values, rows="predicted", labels=range(3))
            now = compare(y_true, first, second, moved).difference
            if factor == 1:
                assert now == pytest.approx(0, abs=1e-9)
            else:
                assert np.sign(now) == -np.sign(difference.difference)
    assert region.cheaper in region.summary()


def test_bad_input():
    costs = CostRanges.from_cells({(0, 1): (2, 12)}, labels=[0, 1])
    with pytest.raises(InputTypeError, match="costs: expected CostRanges, got CostMatrix"):
        cheapest_probability([0, 1], {"a": [0, 1]}, CostMatrix.zero_one([0, 1]))
    with pytest.raises(InputError, match="n_draws: expected a whole number, 100 or more"):
        cheapest_probability([0, 1], {"a": [0, 1]}, costs, n_draws=5)
    with pytest.raises(InputTypeError, match="predictions: expected a mapping"):
        cheapest_probability([0, 1], None, costs)
    with pytest.raises(InputError, match="both classifiers cost exactly the same"):
        flip_region(compare([0, 1], [0, 1], [0, 1], CostMatrix.zero_one([0, 1])))
    with pytest.raises(DesignError, match="have no cells"):
        flip_region(CostDifference(CostSample([1.0, -2.0, 3.0])))


def test_labels_are_matched_by_name():
    costs = CostRanges.from_cells({(0, 1): (9, 11), (1, 0): 1}, labels=[0, 1])
    predictions = {"eager": EAGER, "shy": SHY}
    for labels in ([0, 1], [1, 0]):
        joint = JointConfusion.from_labels(Y_TRUE, predictions, labels=labels)
        assert cheapest_probability(joint, None, costs, rng=0).costs_only.tolist() == [1, 0]


def test_flip_region_follows_the_priors():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    difference = compare(
        Y_TRUE, EAGER, SHY, costs, names=("eager", "shy"), class_priors=[0.99, 0.01]
    )
    assert difference.difference > 0
    region = flip_region(difference)
    assert region.cheaper == "shy"
    assert region.to_dict()["cheaper"] == "shy"
    assert "shy stays cheaper" in region._repr_html_()


def test_strata_and_class_priors_are_raked_in_every_draw():
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.3) * 1
    strata = np.where(rng.random(300) < 0.4, "n", "s")
    decided = {
        "a": np.where(rng.random(300) < 0.2, 1 - y, y),
        "b": np.where(rng.random(300) < 0.1, 1 - y, y),
    }
    shares, priors = {"n": 0.8, "s": 0.2}, {0: 0.95, 1: 0.05}
    design = Design(priors, population=shares)
    for more in (
        {},
        {"sample_weight": rng.choice([1.0, 3.0], 300)},
        {"groups": np.arange(300) // 3},
    ):
        joint = JointConfusion.from_labels(y, decided, strata=strata, **more)
        population = Populations(joint, design)
        for place, name in enumerate(decided):
            direct = cell_shares(joint.single(name), design)
            assert population.shares()[place] == pytest.approx(direct.ravel(), abs=1e-9)
        drawn = population.drawn(200, np.random.default_rng(1))
        tables = drawn.tables.reshape(2, 2, 2, -1)
        by_class = tables.sum(axis=1) + drawn.extra.T
        assert np.abs(by_class - np.array([0.95, 0.05])[:, np.newaxis]).max() < 1e-9
        assert (drawn.extra > 0).all()
        ranges = CostRanges.from_cells({(0, 1): (5, 50), (1, 0): 1}, labels=[0, 1])
        found = find_cheapest(joint, ranges, design, 500, 0)
        assert (found.probability_low <= found.probability_high).all()
