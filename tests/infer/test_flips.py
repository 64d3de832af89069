"""The costs at which the other of two classifiers becomes the cheaper one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostMatrix, CostSample, compare, flip_region
from stakes.errors import DesignError, InputError
from stakes.infer.difference import CostDifference

Y_TRUE = [0] * 600 + [1] * 400
EAGER = [0] * 400 + [1] * 600  # 200 false alarms
SHY = [0] * 630 + [1] * 370  # 30 misses


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
    with pytest.raises(InputError, match="both classifiers cost exactly the same"):
        flip_region(compare([0, 1], [0, 1], [0, 1], CostMatrix.zero_one([0, 1])))
    with pytest.raises(DesignError, match="have no cells"):
        flip_region(CostDifference(CostSample([1.0, -2.0, 3.0])))


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
