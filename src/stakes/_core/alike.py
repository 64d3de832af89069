"""Which rows of an array are alike, without sorting them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 16
"""Rows handled at a time: they stay in the cache."""

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples are spread over all 64 bits (Knuth's multiplicative hashing)."""

MOST_LOOKS = 64
"""So often rows look in a table for others like them; two or three times are enough mostly."""


def distinct_rows(array: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return one row of each kind, and for each row which of these it is like.

    Parameters
    ----------
    array : ndarray, of one or two dimensions
        Numbers or fixed-width text; those with the same bytes are alike.
    """
    words = _words(array)
    met = _first_met(_hashes(words))
    if met is not None:
        first = np.zeros(len(words), dtype=bool)
        first[met] = True
        rows = np.flatnonzero(first)
        place = np.empty(len(words), dtype=np.intp)
        place[rows] = np.arange(len(rows))
        codes = place[met]
        kinds = words[rows]
        if all(
            np.array_equal(kinds[codes[start : start + CHUNK]], words[start : start + CHUNK])
            for start in range(0, len(words), CHUNK)
        ):
            return rows, codes
    whole = words.view(f"V{words.dtype.itemsize * words.shape[1]}")[:, 0]
    _, rows, codes = np.unique(whole, return_index=True, return_inverse=True)
    return rows, codes


def _words(array: NDArray[Any]) -> NDArray[Any]:
    """Return the bytes of each row as whole numbers, as large as they can be."""
    if array.dtype.kind == "f":
        array = array + array.dtype.type(0)  # minus zero equals zero
    flat = np.ascontiguousarray(array).reshape(len(array), -1)
    width = flat.dtype.itemsize * flat.shape[1]
    size = next(size for size in (8, 4, 2, 1) if width % size == 0)
    return flat.view(np.uint8).view(f"u{size}")


def _hashes(words: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number for each row, of those alike the same and of others most likely another."""
    found = np.zeros(len(words), dtype=np.uint64)
    for start in range(0, len(words), CHUNK):
        part = words[start : start + CHUNK]
        here = found[start : start + CHUNK]
        for column in range(part.shape[1]):
            here ^= part[:, column]
            here *= MIXER  # modulo 2⁶⁴
            here ^= here >> np.uint64(29)
    return found


def _first_met(hashes: NDArray[np.uint64]) -> NDArray[np.int32] | None:
    """Return for each row a row of the same hash, the same for all of them; None in a rare case.

    Rows look for each other in a table; those that find another hash look again elsewhere.
    """
    bits = max(int(len(hashes) - 1).bit_length(), 1)
    table = np.empty(1 << bits, dtype=np.int32)
    met = np.empty(len(hashes), dtype=np.int32)
    rows, left = np.arange(len(hashes), dtype=np.int32), hashes
    for _ in range(MOST_LOOKS):
        place = ((left * MIXER) >> np.uint64(64 - bits)).astype(np.intp)
        table[place] = rows
        found = table[place]
        met[rows] = found
        strange = hashes[found] != hashes[rows]
        if not strange.any():
            return met
        rows, left = rows[strange], left[strange] * MIXER
    return None
