"""Find the distinct rows of an array by hashing, without sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 16
"""Number of rows to process at a time, which stay in the cache."""

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples are spread over all 64 bits (Knuth's multiplicative hashing)."""

MOST_LOOKS = 64
"""Largest number of rounds of hash-table lookups; two or three are usually enough."""


def distinct_rows(array: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the index of one row of each distinct kind, and each row's position in these indices.

    Parameters
    ----------
    array : ndarray, of one or two dimensions
        Numbers or fixed-width text; rows with the same bytes are of the same kind.
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
    """Return the bytes of each row as unsigned integers of the largest size that divides it."""
    if array.dtype.kind == "f":
        array = array + array.dtype.type(0)  # minus zero equals zero
    flat = np.ascontiguousarray(array).reshape(len(array), -1)
    width = flat.dtype.itemsize * flat.shape[1]
    size = next(size for size in (8, 4, 2, 1) if width % size == 0)
    return flat.view(np.uint8).view(f"u{size}")


def _hashes(words: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of each row: equal for equal rows, and most likely different for others."""
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
    """Return for each row the representative row of its hash; None in a rare case.

    Rows write themselves into a hash table. Rows that find one of another hash in their place try
    again in another place; None means that some still collide after the last round.
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
