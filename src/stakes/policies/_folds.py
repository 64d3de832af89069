"""Rows dealt into folds, the same for the same rows whatever their order.

Rows are put in an order that their content tells, and folds are dealt along it at random. Rows of
the same content may then be in different folds, as rows of different content are; which of them is
where makes no difference. Calling the other class the positive one changes no fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Folds = NDArray[np.int8]

FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


def row_keys(
    n: int, two_sided: Sequence[tuple[Any, int, NDArray[Any]]], others: Sequence[Any] = ()
) -> Keys:
    """Return a number for each row that depends on its content, apart from its class.

    Parameters
    ----------
    n : int
        The number of rows.
    two_sided : sequence of (ndarray of int, int, ndarray of bool)
        Positions, how many there are, and of which rows they count from the first one: those of
        one class. Those of the other class count from the last one, so that nothing changes where
        the classes change their places, and positions with them.
    others : sequence of ndarray
        Other numbers, such as weights.
    """
    key = np.zeros(n, dtype=np.uint64)
    for values, size, forward in two_sided:
        positions = np.asarray(values).astype(np.uint64)
        key = _mixed(key, np.where(forward, positions, np.uint64(size - 1) - positions))
    for values in others:
        numbers = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
        key = _mixed(key, numbers)
    return key


def _mixed(key: Keys, values: Keys) -> Keys:
    key = (key ^ values) * FACTOR
    return key ^ (key >> SHIFT)


def name_numbers(names: Sequence[Any]) -> NDArray[np.float64]:
    """Return a number for each name, the same in every run."""
    return np.array([crc32(repr(name).encode()) for name in names], dtype=np.float64)


def deal(keys: Keys, classes: NDArray[Any], folds: int, seed: int) -> Folds:
    """Return the fold of each row; every class is dealt evenly.

    Parameters
    ----------
    keys : ndarray
        The content of each row.
    classes : ndarray of bool
        The class of each row.
    folds : int
        The number of folds.
    seed : int
        Another one deals otherwise.
    """
    dealt = np.empty(len(keys), dtype=np.int8)
    for each in (False, True):
        rows = np.flatnonzero(classes == each)
        order = rows[np.argsort(keys[rows])]  # rows of one key are alike: any order of them does
        turns = _turns(len(rows), folds)
        dealt[order] = np.random.default_rng(seed).permutation(turns)
    return dealt


def _turns(n: int, folds: int) -> Folds:
    """Return the folds in turn."""
    return np.tile(np.arange(folds, dtype=np.int8), n // folds + 1)[:n]


def deal_ranked(ranks: NDArray[np.integer], classes: NDArray[Any], folds: int, seed: int) -> Folds:
    """Return the fold of each row where no two have the same score, which then tells their order.

    Nothing needs to be sorted. Each class counts from its own end of the scores, so that it makes
    no difference which of them is called the positive one.
    """
    by_rank = np.empty(len(ranks), dtype=bool)
    by_rank[ranks] = classes
    dealt = np.empty(len(ranks), dtype=np.int8)
    for each in (False, True):
        places = by_rank == each
        turns = _turns(int(places.sum()), folds)
        shuffled = np.random.default_rng(seed).permutation(turns)
        dealt[places] = shuffled if each else shuffled[::-1]
    return np.asarray(dealt[ranks])


def deal_groups(
    keys: Keys, classes: NDArray[Any], groups: NDArray[np.intp], folds: int, seed: int
) -> Folds:
    """Return the fold of each row where groups stay whole.

    Groups that have rows of the rarer class are dealt evenly, and so are the others.
    """
    rare = _rarer(keys, classes)
    size = int(groups.max()) + 1
    content = np.zeros(size, dtype=np.uint64)
    np.add.at(content, groups, _mixed(keys, rare.astype(np.uint64)))
    with_rare = np.zeros(size, dtype=bool)
    with_rare[groups[rare]] = True
    return deal(content, with_rare, folds, seed)[groups]


def _rarer(keys: Keys, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows are of the rarer class; of two equally frequent ones, content tells."""
    flags = np.asarray(classes, dtype=bool)
    found = [(int(side.sum()), int(keys[side].sum())) for side in (flags, ~flags)]
    return flags if found[0] <= found[1] else ~flags
