"""Cached results of the tests equal newly computed ones."""

import numpy as np
import pytest
from _helpers import once

from stakes import CostMatrix, evaluate
from stakes.infer import _inference
from stakes.infer._probability import dirichlet_mean

COSTS, ALPHA, UPPER = np.array([0.0, 0.1, 1.0]), np.array([[50.0, 8.0, 3.0]]), np.array([0.025])


@pytest.fixture
def kept(monkeypatch):
    """Keep results for one test, in a store of its own."""
    monkeypatch.setattr(once, "_kept", {})
    once.keep(active=True)
    yield once._kept  # noqa: SLF001
    once.keep(active=False)


def test_a_result_is_kept_by_all_that_was_given(kept):
    first = dirichlet_mean.quantile(COSTS, ALPHA, UPPER)
    assert len(kept) == 1
    again = dirichlet_mean.quantile(COSTS.copy(), alpha=ALPHA.copy(), upper=UPPER.copy())
    assert len(kept) == 1
    assert (again == first).all()
    again[:] = -1  # a copy of its own
    assert (dirichlet_mean.quantile(COSTS, ALPHA, UPPER) == first).all()
    other = dirichlet_mean.quantile(COSTS, ALPHA + 1, UPPER)
    assert other != first
    once.keep(active=False)
    assert (dirichlet_mean.quantile(COSTS, ALPHA, UPPER) == first).all()
    assert (dirichlet_mean.quantile(COSTS, ALPHA + 1, UPPER) == other).all()


def test_a_generator_that_moves_on_is_never_kept(kept):
    costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    estimate = evaluate([0, 1] * 40, [0, 1, 0, 0] * 20, costs)
    rng = np.random.default_rng(0)
    one, other = (estimate.interval(method="bcost", rng=rng) for _ in range(2))
    assert tuple(one) != tuple(other)
    one, other = (estimate.interval(method="bcost", rng=0) for _ in range(2))
    assert tuple(one) == tuple(other)
    assert kept


def test_what_cannot_be_kept_is_computed(kept):
    with pytest.raises(AttributeError):
        _inference.limits(lambda: None, 0.95, "normal", {})
    assert kept == {}


def test_forgetting_computes_anew(kept):
    dirichlet_mean.quantile(COSTS, ALPHA, UPPER)
    once.forget()
    assert kept == {}
