"""Equal rows are found without sorting, and without false matches."""

import numpy as np
import pytest

from stakes._core import alike


def checked(array):
    rows, codes = alike.distinct_rows(array)
    assert np.array_equal(array[rows][codes], array)
    flat = array.reshape(len(array), -1)
    assert len(rows) == len(np.unique(flat, axis=0))


CASES = {
    "text": lambda rng: np.char.add("name ", rng.integers(0, 700, 5000).astype(str)),
    "bytes": lambda rng: rng.integers(0, 700, 5000).astype("S3"),
    "numbers": lambda rng: rng.integers(-(2**62), 2**62, 300)[rng.integers(0, 300, 5000)],
    "zeros of both signs": lambda rng: rng.choice([0.0, -0.0, 0.5], 5000),
    "small numbers": lambda rng: rng.integers(0, 9, 5000).astype(np.int8),
    "tables": lambda rng: rng.poisson(0.4, (5000, 2, 3)).astype(float),
    "one row": lambda _: np.array([7]),
}


@pytest.mark.parametrize("kind", CASES)
def test_each_row_is_like_the_one_it_stands_for(kind):
    checked(CASES[kind](np.random.default_rng(0)))


@pytest.mark.parametrize("kind", CASES)
def test_rows_with_one_hash_are_told_apart(kind, monkeypatch):
    monkeypatch.setattr(alike, "_hashes", lambda words: np.zeros(len(words), dtype=np.uint64))
    checked(CASES[kind](np.random.default_rng(1)))


def test_places_that_are_all_taken_end_the_search(monkeypatch):
    monkeypatch.setattr(alike, "MOST_LOOKS", 1)
    checked(CASES["numbers"](np.random.default_rng(2)))
