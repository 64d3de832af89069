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
from stakes.errors import DesignError, InputError, InputTypeError, LabelError
from stakes.infer.difference import CostDifference

Y_TRUE = [0] * 600 + [1] * 400
EAGER = [0] * 400 + [1] * 600  # 200 false alarms
SHY = [0] * 630 + [1] * 370  # 30 misses


def test_known_costs_leave_only_the_sampling():
    costs = CostRanges.from_cells({(0, 1): 10, (1, 0): 1}, labels=[0, 1])
    found = cheapest_probability(Y_TRUE, {"eager": EAGER, "shy": SHY}, costs, rng=0)
    assert found.costs_only.tolist() == [1, 0]
    assert found.probability == pytest.approx(found.sampling_only, abs=0.03)
    assert found.sd_costs.tolist() == pytest.approx([0, 0], abs=1e-12)
    assert found.cost == pytest.approx([0.2, 0.3])
    # The Bayesian bootstrap has the variance of the mean.
    each = np.array([0.0] * 970 + [10.0] * 30)
    assert found.sd_sampling[1] == pytest.approx(each.std() / np.sqrt(1000), rel=0.05)


def test_the_two_sources_add_up_to_the_whole():
    costs = CostRanges.from_cells({(0, 1): (2, 12), (1, 0): (0.5, 1.5)}, labels=[0, 1])
    found = cheapest_probability(Y_TRUE, {"eager": EAGER, "shy": SHY}, costs, n_draws=20_000, rng=1)
    # Independent sources: variances add up, but for a small product term.
    assert found.sd**2 == pytest.approx(found.sd_costs**2 + found.sd_sampling**2, rel=0.05)
    assert found.probability.sum() == pytest.approx(1)
    # Given the costs, eager is cheaper when 0.2·fp < 0.03·fn.
    rng = np.random.default_rng(2)
    fn, fp = rng.uniform(2, 12, 10**6), rng.uniform(0.5, 1.5, 10**6)
    assert found.costs_only[0] == pytest.approx((0.2 * fp < 0.03 * fn).mean(), abs=0.02)
    assert "is the cheapest with a probability of" in found.summary()
    assert "costs only" in repr(found)
    assert "<table>" in found._repr_html_()
    assert set(found.to_dict()) == {"eager", "shy"}


def test_ties_are_shared_and_seeds_reproduce():
    costs = CostRanges.from_cells({(0, 1): (2, 12), (1, 0): 1}, labels=[0, 1])
    twins = {"a": SHY, "b": SHY}
    assert cheapest_probability(Y_TRUE, twins, costs, rng=0).probability.tolist() == [0.5, 0.5]
    joint = JointConfusion.from_labels(Y_TRUE, {"a": EAGER, "b": SHY}, labels=[0, 1])
    one, other = (cheapest_probability(joint, None, costs, rng=3) for _ in range(2))
    assert (one.draws == other.draws).all()


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
    assert (found.sd_sampling > 1.2 * plain.sd_sampling).all()  # repeating adds no knowledge


def test_priors_leave_the_doubt_of_each_class():
    """Dirichlet weights of the examples of each class, against those of combinations."""
    y_true, decided, costs = three_classes(3)
    priors = np.array([0.2, 0.3, 0.5])
    found = cheapest_probability(y_true, decided, costs, class_priors=priors, n_draws=20_000, rng=0)
    rng = np.random.default_rng(1)
    weights = np.empty((20_000, len(y_true)))
    for label, prior in enumerate(priors):
        rows = np.flatnonzero(y_true == label)
        weights[:, rows] = prior * rng.dirichlet(np.ones(len(rows)), len(weights))
    drawn = costs.sample(len(weights), rng=rng)
    each = np.column_stack(
        [(weights * drawn[:, decisions, y_true]).sum(axis=1) for decisions in decided.values()]
    )
    shares = np.bincount(each.argmin(axis=1), minlength=3) / len(each)
    assert found.probability == pytest.approx(shares, abs=0.02)
    assert found.sd == pytest.approx(each.std(axis=0), rel=0.03)
    assert found.cost == pytest.approx(each.mean(axis=0), rel=0.02)


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


def test_flip_ratio():
    costs = CostMatrix.from_errors(false_positive=2, false_negative=20)
    region = flip_region(compare(Y_TRUE, EAGER, SHY, costs, names=("eager", "shy")))
    assert region.cheaper == "eager"
    assert region.ratio == pytest.approx(200 / 30)
    assert "costs more than 6.667 × the opposite mistake (now 10 ×)" in region.summary()
    cheap = CostMatrix.from_errors(false_positive=2, false_negative=4)
    region = flip_region(compare(Y_TRUE, EAGER, SHY, cheap, names=("eager", "shy")))
    assert "costs less than 6.667 × the opposite mistake" in region.summary()


@settings(deadline=None, max_examples=50)
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
