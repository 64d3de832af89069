import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostCurve, CostMatrix, ScoreCounts, evaluate
from stakes.counts._labelled import effective_size
from stakes.errors import InputError

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=7)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30), st.floats(1e-6, 1e6))
def test_size_of_weighted_examples(weights, factor):
    weights = np.array(weights)
    found = effective_size(weights.sum(), (weights**2).sum())
    assert 1 - 1e-9 <= found <= len(weights) * (1 + 1e-9)
    scaled = factor * weights
    assert effective_size(scaled.sum(), (scaled**2).sum()) == pytest.approx(found)
    assert effective_size(len(weights), None) == len(weights)


def test_weights_too_small_to_square():
    y_true, decided = [0, 1, 1, 0] * 5, [0, 1, 0, 0] * 5
    tiny = np.full(20, 1e-200)
    with pytest.raises(InputError, match="sample_weight: weights this small cannot be squared"):
        evaluate(y_true, decided, COSTS, sample_weight=tiny).interval()
    scores = ScoreCounts.from_scores(y_true, np.linspace(0, 1, 20), pos_label=1, sample_weight=tiny)
    with pytest.raises(InputError, match="sample_weight: weights this small cannot be squared"):
        CostCurve(scores).band()
