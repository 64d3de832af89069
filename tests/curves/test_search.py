"""Search for the conditions where a verdict holds, against evaluating it at many conditions."""

import numpy as np
import pytest
from _helpers.paired_examples import GRID, difference_of, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from stakes.curves.band import signs_of


def test_verdicts_change_where_they_do_and_at_breaks():
    def verdict(pc):
        return np.where(pc < np.pi / 10, 1, np.where(pc < 0.5001, 0, -1))

    found = signs_of(verdict, np.array([0.0, 0.5001, 1.0]))
    assert [sign for _, _, sign in found] == [1, 0, -1]
    lows, highs, _ = map(np.array, zip(*found, strict=True))
    assert lows == pytest.approx([0, np.pi / 10, 0.5001], abs=1e-9)
    assert highs == pytest.approx([np.pi / 10, 0.5001, 1], abs=1e-9)


def check_ranges(difference, method, **options):
    """Compare the verdicts with the band at many conditions."""
    options = {"simultaneous": False} | options
    found = difference.significant_ranges(0.8, method, **options)
    band = difference.band(0.8, method=method, pc=GRID, **options)
    edges = np.array([each.low for each in found.ranges[1:]])
    for low, high, cheaper in found.ranges:
        inside = (low + 1e-6 < GRID) & (high - 1e-6 > GRID)
        below, above = (band.high < 0)[inside], (band.low > 0)[inside]
        expected = {"one": below, "other": above, None: ~below & ~above}[cheaper]
        assert expected.mean() > 0.97 if expected.size else True  # the search may step over some
    assert (np.diff(edges) > 0).all()
    assert found.ranges[0].low == 0
    assert found.ranges[-1].high == 1


@settings(max_examples=10)
@given(seeds, st.sampled_from(["mover", "wilson", "gaussian"]))
def test_significant_ranges_are_where_the_band_leaves_out_zero(seed, method):
    check_ranges(difference_of(seed, n=80, digits=1), method)


def test_significant_ranges_take_all_options():
    difference = difference_of(3, n=200, digits=1)
    check_ranges(difference, "mover", sampling="full")
    check_ranges(difference, "mover", simultaneous=True)
    check_ranges(difference, "mover", weight=1)
    check_ranges(difference_of(2), "exact")
    strict, loose = (difference.significant_ranges(simultaneous=each) for each in (True, False))
    lengths = [
        sum(high - low for low, high, cheaper in each.ranges if cheaper) for each in (strict, loose)
    ]
    assert lengths[0] <= lengths[1]
