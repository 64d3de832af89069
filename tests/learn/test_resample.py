"""Rows sampled in proportion to weights, against their expectation by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes.learn.weighted import MOST_REPEATED, drawn_rows, expected_copies, params_of

CODES = np.repeat([0, 1, 2], [50, 30, 20])
WEIGHTS = np.array([1.0, 2.5, 12.0])
ONES = np.ones(100)


def random(seed):
    return np.random.default_rng(seed)


def times(copies, codes, seed):
    """Return how often each row was drawn."""
    return np.bincount(drawn_rows(copies, codes, random(seed)), minlength=len(codes))


@pytest.mark.parametrize(
    ("passing", "per_class"),
    [
        ("oversample", [50, 75, 240]),
        ("undersample", [50 / 12, 75 / 12, 20]),
        ("resample", [100 * 50 / 365, 100 * 75 / 365, 100 * 240 / 365]),
    ],
)
def test_how_many_rows_of_each_class_are_drawn(passing, per_class):
    copies = expected_copies(passing, CODES, ONES, WEIGHTS)
    assert np.bincount(CODES, copies) == pytest.approx(per_class)
    for seed in range(5):
        drawn = np.bincount(CODES, times(copies, CODES, seed))
        assert (np.abs(drawn - per_class) <= 1 + 1e-9).all()


def test_the_scale_of_weights_does_not_matter():
    own = random(0).uniform(0, 5, 100)
    for passing in ("oversample", "undersample", "resample"):
        copies = expected_copies(passing, CODES, own, WEIGHTS)
        for scale in (1e-12, 1e12):
            assert expected_copies(passing, CODES, scale * own, WEIGHTS) == pytest.approx(copies)
            assert expected_copies(passing, CODES, own, scale * WEIGHTS) == pytest.approx(copies)


def test_oversampling_stops_at_so_many_times_the_rows():
    copies = expected_copies("oversample", CODES, ONES, np.array([1.0, 2.0, 1e9]))
    assert copies.sum() == pytest.approx(MOST_REPEATED * 100)
    assert copies[99] / copies[50] == pytest.approx(1e9 / 2)


def test_each_row_comes_as_often_as_it_should_on_average():
    copies = expected_copies("resample", CODES, random(1).uniform(0, 3, 100), WEIGHTS)
    draws = 4000
    total = sum(times(copies, CODES, seed) for seed in range(draws))
    share = copies % 1  # the probability of one more copy of a row, the only source of variance
    error = np.sqrt(draws * share * (1 - share)) + 1e-9
    assert (np.abs(total - draws * copies) < 4.5 * error + 1e-6).all()


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 4))
def test_a_row_is_rounded_down_or_up_and_every_class_is_kept(seed, n, classes):
    codes = random(seed).integers(classes, size=n)
    copies = random(seed + 1).exponential(0.7, n) * (random(seed + 2).random(n) < 0.8)
    drawn = times(copies, codes, seed)
    kept_alone = (drawn == 1) & (np.bincount(codes, drawn)[codes] == 1)
    assert ((drawn == np.floor(copies)) | (drawn == np.ceil(copies)) | kept_alone).all()
    assert set(codes[drawn > 0]) == set(codes)


def test_a_class_of_hardly_any_weight_keeps_a_row_that_weighs_something():
    codes = np.array([0, 0, 0, 1, 1])
    copies = np.array([2.0, 2.0, 1.0, 0.0, 1e-9])
    for seed in range(20):
        assert drawn_rows(copies, codes, random(seed)).tolist()[-1] == 4


def test_draws_are_independent_of_the_order_of_rows():
    """In the order of the rows, systematic draws would take every other row of a class."""
    copies = np.full(10, 0.5)
    codes = np.zeros(10, dtype=int)
    seen = {tuple(drawn_rows(copies, codes, random(seed))) for seed in range(200)}
    assert len(seen) > 100


def test_fit_arguments_are_cut_where_they_have_a_row_each():
    index = np.array([2, 0, 0])
    params = {"group": [5, 6, 7], "name": "abc", "table": {"a": 1, "b": 2, "c": 3}, "rate": 0.1}
    cut = params_of(params, index, 3)
    assert cut["group"].tolist() == [7, 5, 5]
    assert {name: cut[name] for name in ("name", "table", "rate")} == {
        name: params[name] for name in ("name", "table", "rate")
    }
    assert params_of({"number": np.float64(3), "none": None}, index, 3) == {
        "number": 3.0,
        "none": None,
    }
