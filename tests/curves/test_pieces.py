"""Piecewise linear curves, against plain evaluation of the lines."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from stakes.curves.condition import BEST_CONSTANT, Pieces, average, merged

GRID = np.linspace(0, 1, 1009)  # contains no breakpoint of a curve
heights = st.integers(0, 8).map(lambda eighths: eighths / 8)


@st.composite
def curves(draw, most=5):
    """Pieces that need not join; breaks on a coarse grid, so that two curves share some."""
    inner = sorted(draw(st.lists(st.integers(1, 12), max_size=most - 1, unique=True)))
    size = len(inner) + 1
    ends = [draw(st.lists(heights, min_size=size, max_size=size)) for _ in range(2)]
    breaks = np.array([0.0, *(each / 13 for each in inner), 1.0])
    return Pieces(breaks, *map(np.array, ends))


def by_hand(pieces, pc):
    """Return the height at one condition by looking for its piece."""
    last = max(i for i, begin in enumerate(pieces.breaks[:-1]) if begin <= pc)
    return (1 - pc) * pieces.left[last] + pc * pieces.right[last]


@given(curves())
def test_heights_are_those_of_the_piece_that_a_condition_lies_on(pieces):
    for pc in (*GRID[::50], *pieces.breaks):
        assert pieces.at(np.asarray(pc)) == pytest.approx(by_hand(pieces, pc), abs=1e-15)
    assert pieces.at(GRID).tolist() == [pieces.at(np.asarray(pc)) for pc in GRID]


@given(curves())
def test_the_area_is_the_integral(pieces):
    parts = [
        quad(lambda pc, i=i: (1 - pc) * pieces.left[i] + pc * pieces.right[i], *ends)[0]
        for i, ends in enumerate(zip(pieces.breaks[:-1], pieces.breaks[1:], strict=True))
    ]
    assert pieces.area() == pytest.approx(sum(parts), abs=1e-12)


@given(curves(), curves())
def test_differences_and_averages_are_taken_at_each_condition(one, other):
    difference = one.minus(other)
    assert np.allclose(difference.at(GRID), one.at(GRID) - other.at(GRID), atol=1e-14)
    assert np.allclose(
        average([one, other, one]).at(GRID), (2 * one.at(GRID) + other.at(GRID)) / 3, atol=1e-14
    )
    assert difference.area() == pytest.approx(one.area() - other.area(), abs=1e-12)
    assert (one.minus(one).left == 0).all()


@given(curves(), curves())
def test_signs_are_those_on_a_dense_grid(one, other):
    difference = one.minus(other)
    signs = difference.signs()
    assert signs[0][0] == 0
    assert signs[-1][1] == 1
    for before, after in pairwise(signs):
        assert before[1] == after[0]
        assert before[2] != after[2]
    found = difference.at(GRID)
    for low, high, sign in signs:
        inside = (low + 1e-9 < GRID) & (high - 1e-9 > GRID)
        if sign:
            assert (sign * found[inside] > 0).all()
        else:
            assert np.abs(found[inside]).max(initial=0) < 1e-13


def test_touching_zero_at_one_point_is_no_change_of_sign():
    valley = Pieces(np.array([0.0, 0.5, 1.0]), np.array([1.0, -1.0]), np.array([-1.0, 1.0]))
    assert valley.signs() == [(0.0, 1.0, 1)]
    line = Pieces(np.array([0.0, 1.0]), np.array([1.0]), np.array([-1.0]))
    assert line.signs() == [(0.0, 0.5, 1), (0.5, 1.0, -1)]


def test_a_crossing_is_found_however_small_the_numbers():
    """The product of two heights may be too small for a number."""
    line = Pieces(np.array([0.0, 1.0]), np.array([5e-324]), np.array([-0.25]))
    assert [sign for _, _, sign in line.signs()] == [-1]
    steep = Pieces(np.array([0.0, 1.0]), np.array([1e-200]), np.array([-1e-200]))
    assert len(steep.signs()) == 1  # both values are practically zero


@pytest.mark.parametrize("place", [28 / 37, 1 / 3, 0.1, 0.7])
def test_breaks_next_to_each_other_are_told_apart(place):
    """As where the same number was computed in two ways."""
    one, other = (
        Pieces(np.array([0.0, at, 1.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
        for at in (place, np.nextafter(place, 1))
    )
    for pc in (place, np.nextafter(place, 0), np.nextafter(place, 1)):
        at = np.asarray(pc)
        assert one.minus(other).at(at) == one.at(at) - other.at(at)


def test_the_constant_predictions_cross_in_the_middle():
    assert BEST_CONSTANT.at(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist() == [
        0,
        0.25,
        0.5,
        0.25,
        0,
    ]
    assert BEST_CONSTANT.area() == 0.25


def test_ranges_without_a_length_are_left_out_and_neighbours_joined():
    lows, highs = np.array([0, 0.5, 0.5, 0.75]), np.array([0.5, 0.5 + 1e-14, 0.75, 1])
    assert merged(lows, highs, np.array([1, -1, 1, 0])) == [(0.0, 0.75, 1), (0.75, 1.0, 0)]


def test_cutting_a_curve_at_more_places_leaves_it_as_it_is():
    cut = BEST_CONSTANT.over(np.array([0.0, 0.1, 0.5, 0.9, 1.0]))
    assert (cut.at(GRID) == BEST_CONSTANT.at(GRID)).all()
    assert cut != BEST_CONSTANT
    assert BEST_CONSTANT.over(BEST_CONSTANT.breaks) == BEST_CONSTANT
