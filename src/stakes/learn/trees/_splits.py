"""Tests of an attribute at a node, and their gains; numba compiles this file.

The mass of a class is 1 for each of its rows (plain), or 1 for all its rows in the node (balanced).
With mass r of each class in a subset and M their sum, the entropy is log M - (Σ r log r)/M, in
bits. All gains and scores are rounded to nine decimals before they are compared, so that ties do
not depend on the order of a sum.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import sha256
from inspect import getsource
from math import floor, log2
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from stakes.learn.trees._workspace import (
    AFTER,
    CLASS,
    CODE,
    HIGH,
    LANES,
    LARGEST_TABLE,
    LEFT_GAIN,
    LOCAL,
    LOW,
    NEVER,
    NOTHING,
    PARTS,
    RIGHT_GAIN,
    SCORE,
    UNIT,
    WEIGHT,
    Array,
    Batch,
    Data,
    Rules,
    Work,
)

Function = TypeVar("Function", bound=Callable[..., Any])
Int32, Int64 = cast("type[int]", np.int32), cast("type[int]", np.int64)
Uint32, Uint64 = cast("type[int]", np.uint32), cast("type[int]", np.uint64)
"""Integers of a fixed size; for type checkers they are int."""

SHARED = "_prepare", "_workspace", "_splits"
"""Files whose code all compiled functions use, in addition to their own."""

SLACK, SURE = 3e-9, 0.01
"""Maximum error of a sum updated row by row; distance to a half, in units, that is too small."""

DE_BRUIJN = 0x022FDD63CC95386D
PLACES = np.zeros(64, np.int64)
"""Place of a word's only bit, by the highest six bits of its product with `DE_BRUIJN`."""
for _place in range(64):
    PLACES[((DE_BRUIJN << _place) & (2**64 - 1)) >> 58] = _place


def _compiled(function: Function, **options: Any) -> Function:
    """Compile a function without reference counts of arrays.

    The code makes no arrays, and its callers keep theirs. With reference counting, which `_nrt`
    switches off, it took most of the time. Without the wrapper for calls from C, which would read
    all fields of all arrays, the code compiles faster.
    """
    compiler: Any = njit  # its type annotations lack some options
    options |= {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
    return cast("Function", compiler(**options)(function))


def inlined(function: Function) -> Function:
    """Compile a function, and inline it where it is called; Python cannot call it."""
    return _compiled(function, forceinline=True, no_cpython_wrapper=True)


def merged(function: Function) -> Function:
    """Inline a function in those that call it, before they are compiled.

    This is for functions that mostly call others: LLVM optimises a compiled function together with
    all that it calls, so each level of calls repeats that work. With `_best_tests` merged too, the
    code compiled a sixth faster, but trees grew 5% slower; with all merged, compiling took twice as
    long.
    """
    return _compiled(function, inline="always")


def _checksum(function: Callable[..., Any]) -> str:
    """Return a hash of the files whose code a compiled function uses."""
    names = [*(f"{__package__}.{name}" for name in SHARED), function.__module__]
    code = "".join(getsource(sys.modules[name]) for name in names)
    return sha256(code.encode()).hexdigest()[:16]


def entrance(function: Function) -> Function:
    """Compile a function that Python calls, and cache the code on disk for other processes.

    Numba looks for changes only in the file of the function itself, so cached code has a hash of
    all files in its name. This also helps if a process ends while it writes: numba writes the index
    of the cache first, and would find old code under a new index.
    """
    alone = _compiled(function)
    try:
        function.__qualname__ += _checksum(function)
        kept = _compiled(function, cache=True)
    except (OSError, RuntimeError):  # there is no folder for the cache
        return alone

    def call(*arguments: Any) -> Any:
        try:
            return kept(*arguments)
        except Exception:  # noqa: BLE001 - a full disk, a broken file: the code itself raises nothing
            return alone(*arguments)

    return cast("Function", call)


# Entropies and their tables.


@inlined
def units(value: float) -> int:
    """Round to nine decimals, as a whole number."""
    return Int64(floor(value * UNIT + 0.5))


@inlined
def entropy(mass: float, terms: float) -> float:
    """Return the entropy of a subset, given its mass and its sum of r log r."""
    return log2(mass) - terms / mass


def middle(low: float, high: float) -> float:
    """Return the threshold between two values."""
    half = low + (high - low) / 2
    return low if half >= high else half


middle_of = inlined(middle)


@inlined
def fill_terms(tally: Array, terms: Array, log: Array, balanced: bool) -> float:
    """Tabulate r log r of each class by the number of its rows; return the node's entropy."""
    at, mass, total = 0, 0.0, 0.0
    for c in range(len(tally)):
        n = tally[c].count
        unit = max(n, 1) if balanced else 1
        tally[c].start, tally[c].unit, tally[c].known = at, unit, n
        terms[at] = 0.0
        for k in range(1, n + 1):
            terms[at + k] = k / unit * (log[k] - log[unit])
        mass += n / unit
        total += terms[at + n]
        at += n + 1
    return entropy(mass, total)


@inlined
def fill_both(tally: Array, terms: Array, both: Array) -> None:
    """Tabulate each class's terms, summed over both sides of a split, by its rows on the left."""
    for c in range(len(tally)):
        start, known = tally[c].start, tally[c].known
        for k in range(known + 1):
            both[start + k] = terms[start + k] + terms[start + known - k]


@inlined
def _side(tally: Array, terms: Array, left: bool) -> tuple[float, float]:
    """Return the mass of the rows on the left or on the right, and their sum of terms."""
    mass, total = 0.0, 0.0
    for c in range(len(tally)):
        k = tally[c].left if left else tally[c].known - tally[c].left
        if k:
            mass += k / tally[c].unit
            total += terms[tally[c].start + k]
    return mass, total


@inlined
def _arrange(tally: Array) -> tuple[int, int, int]:
    """Sort the classes of a node by size, and lay out its table of splits.

    Returns the size of the table, or 0 if it would be too large; the number of classes; and a key
    of their counts. Small nodes with different counts have different keys: the second count, and
    each further one, is less than 32 if a table is not too large.
    """
    present, size, key = 0, 1, 1
    for c in range(len(tally)):
        n = tally[c].count
        if n:
            at = present
            while at > 0 and tally[at - 1].ordered < n:
                tally[at].order, tally[at].ordered = tally[at - 1].order, tally[at - 1].ordered
                at -= 1
            tally[at].order, tally[at].ordered = c, n
            present += 1
    for k in range(present):
        tally[tally[k].order].stride = size
        size = min(size * (tally[k].ordered + 1), LARGEST_TABLE + 1)
        key = key << 5 | tally[k].ordered if k else key
    return (size if size <= LARGEST_TABLE else 0), present, key << 10 | tally[0].ordered


@merged
def find_table(rules: Rules, work: Work) -> tuple[int, int]:
    """Return the first and last place of the table of a node's splits; write it if it is new."""
    table_key, table_begin = work.table_key, work.table_begin
    begin, mask = Int64(NOTHING), len(table_key) - 1
    size, present, key = _arrange(work.tally)
    if size:
        at = (key ^ (key >> 13)) & mask
        while table_key[at] != key and table_key[at] != 0:
            at = (at + 1) & mask
        if table_key[at] == 0:
            table_key[at], table_begin[at] = key, work.tabled[0]
            work.tabled[0] += size
            _fill_table(rules, work, present, table_begin[at], size)
        begin = table_begin[at]
    return begin, begin + size - 1


@inlined
def _fill_table(rules: Rules, work: Work, present: int, begin: int, size: int) -> None:
    """Write the scores and gains of all splits; a split and its mirror image have the same score.

    With ranking by information, both sides have the same gain, by their mean entropy.
    """
    min_leaf, balanced, tally, log = rules.min_leaf, rules.balanced, work.tally, work.log
    scores, gains = work.scores, work.table_gains
    _, mass, terms = _side_of_split(tally, log, balanced, present, size - 1)
    whole = entropy(mass, terms)
    for index in range((size + 1) // 2):
        mirror = size - 1 - index
        n_left, mass_left, terms_left = _side_of_split(tally, log, balanced, present, index)
        n_right, mass_right, terms_right = _side_of_split(tally, log, balanced, present, mirror)
        h_left = entropy(mass_left, terms_left) if n_left else 0.0
        h_right = entropy(mass_right, terms_right) if n_right else 0.0
        mean = (mass_left * h_left + mass_right * h_right) / (mass_left + mass_right)
        if rules.by_information:
            h_left = h_right = mean
        enough_left, enough_right = n_left >= min_leaf, n_right >= min_leaf
        gains[begin + index] = max(units(whole - h_left), 0) if enough_left else 0
        gains[begin + mirror] = max(units(whole - h_right), 0) if enough_right else 0
        score = units(mean) if enough_left and enough_right else Int64(NEVER)
        scores[begin + index] = scores[begin + mirror] = score


@inlined
def _side_of_split(
    tally: Array, log: Array, balanced: bool, present: int, index: int
) -> tuple[int, float, float]:
    """Return the number of rows on the left side of a split, its mass and its sum of terms."""
    n, mass, terms, rest = 0, 0.0, 0.0, index
    for k in range(present):
        most = tally[k].ordered
        unit = most if balanced else 1
        here = rest % (most + 1)
        rest //= most + 1
        if here:
            n += here
            mass += here / unit
            terms += here / unit * (log[here] - log[unit])
    return n, mass, terms


# The rows of a node in the order of an attribute.


@inlined
def line_of_few(work: Work, n: int, a: int) -> None:
    """Write the entries of a few rows in the order of an attribute, which has been sorted."""
    keys, local, line = work.keys, work.local, work.line
    for i in range(n):
        key = Int64(keys[i * LANES + a % LANES])
        line[i] = (key >> LOCAL) << CODE | local[key & (2**LOCAL - 1)]


@inlined
def line_of_many(data: Data, work: Work, rows: Array, first: int, n: int, a: int) -> None:  # noqa: PLR0917 - compiled calls go by position
    """Write the entries of rows in the order of an attribute: mark their places, and read back.

    Places are bits of `words`, and words in use are bits of `summary`; all bits are 0 before and
    after.
    """
    position, order, columns, entries = data.position, data.order, data.columns, data.entries
    words, summary, line, one = work.words, work.summary, work.line, Uint64(1)
    for i in range(first, first + n):
        place = Int64(position[a, rows[i]])
        words[place >> 6] |= one << Uint64(place & 63)
        summary[place >> 12] |= one << Uint64((place >> 6) & 63)
    found = 0
    for top in range((position.shape[1] >> 12) + 1):
        blocks = summary[top]
        summary[top] = 0
        while blocks:
            block = (top << 6) + _lowest_bit(blocks)
            blocks &= blocks - one
            word = words[block]
            words[block] = 0
            while word:
                row = order[a, (block << 6) + _lowest_bit(word)]
                line[found] = Int64(columns[a, row]) << CODE | entries[row]
                found += 1
                word &= word - one


@inlined
def _lowest_bit(word: Any) -> Any:
    """Return the place of the lowest bit that is set."""
    lowest = word & (~word + Uint64(1))
    return PLACES[(lowest * Uint64(DE_BRUIJN)) >> Uint64(58)]


@inlined
def _count_known(line: Array, tally: Array, n: int, size: int, missing: int) -> tuple[int, int]:
    """Count the rows of each class with a known value; return their number, distinct and in all."""
    n_known = n
    while n_known > 0 and line[n_known - 1] >> CODE == missing:
        n_known -= 1
    if n_known < n:
        size = 0
        for c in range(len(tally)):
            tally[c].known = 0
        for i in range(n_known):
            weight = (line[i] >> WEIGHT) & CLASS
            tally[line[i] & CLASS].known += weight
            size += weight
    return n_known, size


# The tests of an attribute at a node.


@inlined
def _bound_splits(work: Work, n_known: int, size: int, min_leaf: int) -> float:
    """Write a lower bound of the score of each split; return a limit.

    The masses' part of the score is a convex function, so it is bounded by its tangents, which take
    less time than two logarithms. A split whose bound is not below the limit is not the best. The
    loop has no branches, because no processor could predict them, and its places are unsigned,
    because numba counts negative ones from the end.
    """
    line, tally, both, worth, bound = work.line, work.tally, work.both, work.worth, work.bound
    tangents, whole, total, share, n, limit = work.tangents, 0.0, 0.0, 0.0, Uint64(0), np.inf
    least_n, most_n = Uint64(min_leaf), Uint64(max(size - min_leaf, 0))
    for c in range(len(tally)):
        tally[c].left = tally[c].start
        whole += tally[c].known / tally[c].unit
        total += both[tally[c].start]
    for c in range(len(tally)):
        worth[c] = PARTS / (whole * tally[c].unit)
    following = line[0]
    for i in range(n_known - 1):
        this, following = following, line[i + 1]
        c, weight = this & CLASS, Uint64((this >> WEIGHT) & CLASS)
        before = Uint64(tally[c].left)  # where its terms are
        total += both[before + weight] - both[before]
        tally[c].left = before + weight
        share += weight * worth[c]
        n += weight
        part = min(Uint64(share), Uint64(PARTS - 1))
        least = whole * (tangents[part, 0] + tangents[part, 1] * share) - total
        allowed = (n >= least_n) & (n <= most_n) & ((this ^ following) >> CODE != 0)
        least = least if allowed else np.inf
        bound[i] = least
        limit = min(limit, least + whole * tangents[part, 2])
    return limit + SLACK * whole


@inlined
def _node_threshold(
    work: Work, n_known: int, limit: float, by_information: bool
) -> tuple[int, float, float]:
    """Return the split of least mean entropy: the place before it, and the entropies of its sides.

    With ranking by information, their mean is returned for both. Only splits that could be the best
    by their bounds are computed.
    """
    best, after, left_entropy, right_entropy = Int64(1) << 62, NOTHING, 0.0, 0.0
    line, tally, terms, counted = work.line, work.tally, work.terms, 0
    for c in range(len(tally)):
        tally[c].left = 0
    for i in range(n_known - 1):
        if work.bound[i] < limit:
            for k in range(counted, i + 1):
                tally[line[k] & CLASS].left += (line[k] >> WEIGHT) & CLASS
            counted = i + 1
            mass_left, terms_left = _side(tally, terms, True)
            mass_right, terms_right = _side(tally, terms, False)
            h_left, h_right = entropy(mass_left, terms_left), entropy(mass_right, terms_right)
            mean = (mass_left * h_left + mass_right * h_right) / (mass_left + mass_right)
            score = units(mean)
            if by_information:
                h_left = h_right = mean
            if score < best:
                best, after, left_entropy, right_entropy = score, i, h_left, h_right
    return after, left_entropy, right_entropy


@merged
def _node_test(rules: Rules, work: Work, a: int, n_known: int, size: int, whole: float) -> None:  # noqa: PLR0917 - compiled calls go by position
    """Write the test of an attribute that is best for all queries together."""
    sides, line = work.sides, work.line
    limit = _bound_splits(work, n_known, size, rules.min_leaf)
    after, left_entropy, right_entropy = _node_threshold(work, n_known, limit, rules.by_information)
    found = after != NOTHING  # else both gains are 0, and the ranks have no effect
    sides[LEFT_GAIN, a] = max(units(whole - left_entropy), 0) if found else 0
    sides[RIGHT_GAIN, a] = max(units(whole - right_entropy), 0) if found else 0
    sides[LOW, a] = 2 * (line[max(after, 0)] >> CODE)
    sides[HIGH, a] = 2 * (line[after + 1] >> CODE)


@inlined
def table_test(work: Work, begin: int, end: int, n: int, a: int) -> None:
    """Write the test of an attribute that is best for all queries together, by a table.

    Splits are compared as numbers made of their score, the row before them and their place in the
    table, so that no branch depends on scores.
    """
    keys, step, scores, gains = work.keys, work.step, work.scores, work.table_gains
    sides, at, place, number = work.sides, Uint64(a % LANES), Uint64(begin), Uint32(2**LOCAL - 1)
    best, following = Uint64(NEVER) << Uint64(SCORE), keys[at]
    for i in range(Uint64(n - 1)):
        this, following = following, keys[at + Uint64(LANES)]
        at += Uint64(LANES)
        place += step[this & number]
        score = Uint64(scores[place]) if (this ^ following) > number else Uint64(NEVER)
        best = min(best, score << Uint64(SCORE) | i << Uint64(AFTER) | place)
    found = best >> Uint64(SCORE) != Uint64(NEVER)
    split, after = Int64(best) & (2**AFTER - 1), (Int64(best) >> AFTER) & (2**LOCAL - 1)
    before = after * LANES + a % LANES
    sides[LOW, a] = 2 * (Int64(keys[before]) >> LOCAL)
    sides[HIGH, a] = 2 * (Int64(keys[before + LANES]) >> LOCAL)
    sides[LEFT_GAIN, a] = Int64(gains[split]) if found else 0
    sides[RIGHT_GAIN, a] = Int64(gains[begin + end - split]) if found else 0


@inlined
def _value_tests(  # noqa: PLR0917 - compiled calls go by position
    rules: Rules, work: Work, batch: Batch, n_asked: int, a: int, n_known: int, size: int,
    whole: float,
) -> None:  # fmt: skip
    """Write each query's test of a discrete attribute: equality with the query's value.

    With ranking by information, each value has the gain of all values together.
    """
    line, tally, gain_of, seen = work.line, work.tally, work.gain_of, work.seen
    found, i, all_mass, all_entropy = 0, 0, 0.0, 0.0
    while i < n_known:
        for c in range(len(tally)):
            tally[c].left = 0
        code, n = line[i] >> CODE, 0
        while i < n_known and line[i] >> CODE == code:
            weight = (line[i] >> WEIGHT) & CLASS
            tally[line[i] & CLASS].left += weight
            n += weight
            i += 1
        mass, total = _side(tally, work.terms, True)
        left = entropy(mass, total)
        all_mass += mass
        all_entropy += mass * left
        if rules.min_leaf <= n < size:
            gain_of[code] = units(whole - left)
            seen[found] = code
            found += 1
    together = units(whole - all_entropy / all_mass) if rules.by_information and found else 0
    for k in range(found if rules.by_information else 0):
        gain_of[seen[k]] = together
    for k in range(n_asked):
        code = int(batch.values[batch.asked[k], a])
        batch.gain[k, a] = max(gain_of[code], 0) if code >= 0 else 0
        batch.choice[k, a] = 2 * code
    for k in range(found):
        gain_of[seen[k]] = NOTHING


@inlined
def _count_below(line: Array, value: Array, start: int, n_known: int, x: float) -> int:
    """Return the number of rows below the highest threshold that is below x."""
    low, high = 0, n_known
    while low < high:
        half = (low + high) >> 1
        if value[start + (line[half] >> CODE)] < x:
            low = half + 1
        else:
            high = half
    previous, following = line[max(low - 1, 0)] >> CODE, line[min(low, n_known - 1)] >> CODE
    above = 0 < low < n_known and x > middle_of(value[start + previous], value[start + following])
    while low > 0 and not above and line[low - 1] >> CODE == previous:
        low -= 1
    return low


@inlined
def _running_best(  # noqa: PLR0917 - compiled calls go by position
    rules: Rules, work: Work, n_known: int, size: int, whole: float, until: int, upwards: bool
) -> None:
    """Write, for each split up to `until`, the best gain of a side so far, its split and its size.

    A split is the number of rows below it. Upwards, sides are the rows above splits, and shrink as
    splits rise; downwards, the rows below. So the first of equal gains is that of the larger side.
    """
    line, tally, terms, worth = work.line, work.tally, work.terms, work.worth
    log, runs, mass, total, n = work.log, work.runs, 0.0, 0.0, 0
    for c in range(len(tally)):
        k = tally[c].known
        worth[c] = 1 / tally[c].unit
        tally[c].left = k
        n += k
        mass += k * worth[c]
        total += terms[tally[c].start + k]
    gain, where, large = Int64(0), Int64(NOTHING), Int64(0)
    into, step, split = (0, 1, 1) if upwards else (3, -1, n_known - 1)
    while split != until + step:
        this = line[split - 1 if upwards else split]
        other = line[split if upwards else split - 1]
        c, weight = this & CLASS, (this >> WEIGHT) & CLASS
        k = tally[c].start + tally[c].left
        total += terms[k - weight] - terms[k]
        tally[c].left -= weight
        mass -= weight * worth[c]
        n -= weight
        if rules.min_leaf <= n < size and this >> CODE != other >> CODE:
            about = log2(mass) - total / mass if rules.balanced else log[n] - total / n
            scaled = (whole - about) * UNIT + 0.5
            if scaled + SURE > gain + 1:
                this_gain = Int64(floor(scaled))
                if not SURE < scaled - this_gain < 1 - SURE:  # an update might round wrongly
                    side_mass, side_total = _side(tally, terms, True)
                    this_gain = units(whole - entropy(side_mass, side_total))
                if this_gain > gain:
                    gain, where, large = this_gain, split, n
        runs[into, split], runs[into + 1, split], runs[into + 2, split] = gain, where, large
        split += step


@inlined
def _query_tests(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, n_asked: int, a: int, n_known: int,
    size: int, whole: float,
) -> None:  # fmt: skip
    """Write each query's own best test of an attribute, by the gain of the side that it is on."""
    line, runs, below, start = work.line, work.runs, batch.below, data.value_start[a]
    least, most, last = n_known, 0, n_known - 1
    for i in range(n_asked):
        x = batch.values[batch.asked[i], a]
        below[i] = NOTHING
        if not np.isnan(x) and n_known > 0:
            below[i] = _count_below(line, data.value, start, n_known, x)
            least, most = min(least, below[i]), max(most, below[i])
    for upwards in (True, False):
        if (most > 0 and last > 0) if upwards else least < last:
            until = min(most, last) if upwards else least + 1
            _running_best(rules, work, n_known, size, whole, until, upwards)
    for i in range(n_asked):
        gain, choice, large = Int64(0), Int64(0), Int64(0)
        if below[i] > 0 and last > 0:  # rows above a threshold that is below the query
            split = min(below[i], last)
            gain, large = runs[0, split], runs[2, split]
            if gain:
                choice = 2 * (line[runs[1, split] - 1] >> CODE) + 1
        if NOTHING < below[i] < last:
            split = below[i] + 1
            if runs[3, split] > gain or (runs[3, split] == gain and runs[5, split] > large):
                gain = runs[3, split]
                choice = 2 * (line[runs[4, split] - 1] >> CODE) if gain else choice
        batch.gain[i, a], batch.choice[i, a] = gain, choice


@merged
def test_line(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, a: int, n: int, size: int, n_asked: int,
    whole: float,
) -> None:  # fmt: skip
    """Write the tests of an attribute, given the line of its entries."""
    n_known, known_size = _count_known(work.line, work.tally, n, size, data.missing)
    if n_known < n:
        fill_both(work.tally, work.terms, work.both)
    if data.discrete[a]:
        _value_tests(rules, work, batch, n_asked, a, n_known, size, whole)
    elif rules.at_node:
        _node_test(rules, work, a, n_known, known_size, whole)
    else:
        _query_tests(data, rules, work, batch, n_asked, a, n_known, size, whole)
    if n_known < n:
        for c in range(len(work.tally)):
            work.tally[c].known = work.tally[c].count
        fill_both(work.tally, work.terms, work.both)
