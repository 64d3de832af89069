"""Scores as ranks, against a look-up of each score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes.counts._two_classes import amounts_of, merged, places_among, ranked, sides

numbers = st.one_of(
    st.floats(-1, 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, np.finfo(float).max, -np.finfo(float).max, 5e-324]),
)


@pytest.fixture
def parts():
    random = np.random.default_rng(4)
    return [random.integers(0, 9, size).astype(float) for size in (20, 1, 7)]


def test_ranks_lead_back_to_the_scores(parts):
    for scores in parts:
        thresholds, ranks = ranked(scores)
        assert thresholds.tolist() == sorted(set(scores.tolist()), reverse=True)
        assert thresholds[ranks].tolist() == scores.tolist()


def test_merging_equals_ranking_all_at_once(parts):
    thresholds, ranks = zip(*map(ranked, parts), strict=True)
    together = merged(thresholds, ranks)
    for one, other in zip(together, ranked(np.concatenate(parts)), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("kind", [None, np.int64, np.float64])
def test_rows_are_added_up_by_class_and_score(parts, kind):
    thresholds, ranks = ranked(parts[0])
    positive = np.arange(20) % 3 == 0
    amounts = None if kind is None else np.arange(20).astype(kind)
    each = amounts_of(amounts, 20)
    table = sides(ranks, len(thresholds), positive, amounts)
    expected = [
        [each[(parts[0] == cut) & rows].sum() for cut in thresholds]
        for rows in (positive, ~positive)
    ]
    assert table.tolist() == expected
    assert table.dtype == (np.int64 if kind is None else kind)


some = st.lists(numbers, min_size=1, max_size=20)


@given(some, some, st.integers(0, 2))
def test_cells_place_scores_as_a_search_does(edges, scores, infinite):
    """Also where edges repeat, are zeros of both signs, or are too far apart for cells."""
    ascending = np.sort(np.array([*edges, *[np.inf] * infinite]))
    every = np.concatenate([scores, edges, np.nextafter(edges, 2), np.nextafter(edges, -2)])
    every = every[np.isfinite(every)]
    found = places_among(ascending)(every)
    np.testing.assert_array_equal(found, np.searchsorted(ascending, every, side="right"))
    assert found.dtype == np.int32
