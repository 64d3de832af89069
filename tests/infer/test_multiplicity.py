import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostMatrix, compare_many
from stakes.infer.gate import covariance, holm

COSTS = CostMatrix([[0, 7, 2], [1, 0, 30], [4, 3, 0.5]], rows="predicted", labels=[0, 1, 2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_by_its_definition(p_values):
    found = holm(np.array(p_values))
    ordered = sorted(p_values)
    for p, adjusted in zip(p_values, found, strict=True):
        rank = ordered.index(p)
        by_hand = max((len(p_values) - k) * ordered[k] for k in range(rank + 1))
        assert adjusted == pytest.approx(min(1, by_hand))


@pytest.mark.parametrize("seed", range(3))
def test_covariance_of_the_differences_by_the_examples_themselves(seed):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 3, 200)
    predictions = {
        name: np.where(rng.random(200) < 0.6, y_true, rng.integers(0, 3, 200)) for name in "abcd"
    }
    ranking = compare_many(y_true, predictions, COSTS)
    compared = [ranking.difference(*pair) for pair in itertools.combinations("cadb", 2)]
    paid = {name: COSTS.values[decided, y_true] for name, decided in predictions.items()}
    differences = [paid[one] - paid[other] for one, other in itertools.combinations("cadb", 2)]
    expected = np.cov(differences) / 200
    first, second, error, of_models = covariance(compared)
    apart = np.eye(4)[first] - np.eye(4)[second]
    np.testing.assert_allclose(apart @ of_models @ apart.T, expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(error**2, np.diag(expected), rtol=1e-9)
