"""Counts and random samples of a pool of decided rows, the same on every engine.

Engines count and filter the rows themselves. The sample depends on identifiers and a seed alone,
not on the order or the partitions of the rows. Identifiers become whole numbers (text by its MD5),
and these are hashed to numbers below 2³¹ by polynomials modulo a prime, whose coefficients come
from the seed: every engine can compute them without rounding. Rows with small numbers are
collected, and BLAKE2 of seed and identifier selects among them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label, is_blank, is_missing, plain
from stakes._core.typing import Floats
from stakes.counts._bins import FINENESS, bin_expression
from stakes.counts.engines import (
    as_frame,
    check_scored,
    collected,
    collected_groups,
    column,
    label_column,
    run_query,
)
from stakes.errors import InputError, InputTypeError

PRIME, OTHER_PRIME = 2**31 - 1, 2**31 - 19
SPARE, AT_LEAST = 2.0, 64
"""`SPARE` times the rows to draw, plus `AT_LEAST`, are collected: they are just as random."""

COARSELY = 32.0
"""Rows kept for each candidate by the first number, which is faster to compute."""

POWERS = 16
"""Number of factors of two, below the largest amount, that amounts are divided by."""

COARSE = 2.0**6
"""Bins of scores per unit interval, where rows are also divided by amounts."""

MOST_VERDICTS = 20
NUMBER, ROW = "stakes_number", "stakes_row"

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class PoolColumns:
    """Roles of the columns of a pool.

    Attributes
    ----------
    decisions : tuple of str
        The columns of the decisions of one model, or of two.
    score, amount, key : str or None
        The columns of scores, amounts and identifiers; without identifiers, rows are identified by
        their number.
    judges : tuple of str
        The columns of verdicts.
    """

    decisions: tuple[str, ...]
    score: str | None = None
    judges: tuple[str, ...] = ()
    amount: str | None = None
    key: str | None = None

    @property
    def labels(self) -> list[str]:
        """The columns that hold labels."""
        return [*self.decisions, *self.judges]

    @property
    def numbers(self) -> list[str]:
        """The columns that hold numbers."""
        return [name for name in (self.score, self.amount) if name is not None]


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of rows by decisions, verdicts, and ranges of scores and amounts.

    Attributes
    ----------
    decided, verdicts : tuple of tuple of labels
        The decisions for the rows of each cell, and the judges' verdicts on them.
    scores : ndarray, shape (cells, 2)
        The range of their scores, without the upper end.
    powers : ndarray, shape (cells, 2)
        The range of their amounts, without the upper end.
    amounts : ndarray, shape (cells, 3)
        The smallest and the largest amount, and the sum.
    rows : ndarray
        The number of rows.
    """

    decided: tuple[tuple[Label, ...], ...]
    verdicts: tuple[tuple[Label, ...], ...]
    scores: Floats
    powers: Floats
    amounts: Floats
    rows: Floats

    def checksum(self) -> str:
        """Return a checksum of the counts, the same on every engine."""
        lines = sorted(
            repr(
                (
                    *map(str, (*each, *verdict)),  # as in a CSV file
                    score.tolist(),
                    power.tolist(),
                    int(rows),
                )
            )
            for each, verdict, score, power, rows in zip(
                self.decided, self.verdicts, self.scores, self.powers, self.rows, strict=True
            )
        )
        return hashlib.blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()


def count_cells(frame: Any, columns: PoolColumns) -> Cells:
    """Count the rows of each cell by the frame's engine, in one pass; with amounts, in two."""
    import narwhals as nw

    wrapped = as_frame(frame, columns.labels, columns.numbers)
    keyed = {f"key_{i}": column(wrapped, name) for i, name in enumerate(columns.labels)}
    fineness = FINENESS if columns.amount is None else COARSE
    if columns.score is not None:
        score = column(wrapped, columns.score).cast(nw.Float64)
        keyed["bin"] = bin_expression(score) if columns.amount is None else _coarse(score)
    selected = [each.alias(name) for name, each in keyed.items()]
    sums = [nw.len().alias("rows")]
    top = 0.0
    if columns.amount is not None:
        top = _largest_amount(wrapped, columns.amount)
        amount = column(wrapped, columns.amount).cast(nw.Float64)
        keyed["power"] = _power(amount, top)
        selected += [keyed["power"].alias("power"), amount.alias("amount")]
        each = nw.col("amount")
        sums += [each.min().alias("least"), each.max().alias("most"), each.sum().alias("sum")]
    names = [*columns.labels, *columns.numbers]
    table = collected_groups(
        wrapped, names, lambda: wrapped.select(selected).group_by(list(keyed)).agg(sums)
    )
    rows = table["rows"].to_numpy().astype(np.float64)
    found = [
        label_column(wrapped, name, table[f"key_{i}"].to_list(), rows)
        for i, name in enumerate(columns.labels)
    ]
    values = [[each.values[code - each.offset] for code in each.codes.tolist()] for each in found]
    for name, verdicts in zip(columns.judges, values[len(columns.decisions) :], strict=True):
        _check_verdicts(name, verdicts)
    n, split = len(rows), len(columns.decisions)
    cells = [tuple(row) for row in zip(*values, strict=True)]
    scores, powers = np.tile([-np.inf, np.inf], (n, 1)), np.tile([0.0, np.inf], (n, 1))
    if columns.score is not None:
        bins = table["bin"].to_numpy().astype(np.float64)
        check_scored(bins, rows, columns.score)
        scores = _ranges(bins, fineness)
    amounts = np.ones((n, 3)) * [1.0, 1.0, 0.0]
    if columns.amount is not None:
        powers = _power_ranges(table["power"].to_numpy().astype(np.float64), top)
        amounts = np.stack([table[each].to_numpy() for each in ("least", "most", "sum")], axis=1)
        amounts = amounts.astype(np.float64)
    return Cells(
        tuple(row[:split] for row in cells),
        tuple(row[split:] for row in cells),
        scores,
        powers,
        amounts,
        rows,
    )


def _check_verdicts(name: str, values: list[Label]) -> None:
    if len(set(values)) > MOST_VERDICTS:
        raise InputError(
            f"column {name!r}",
            f"expected at most {MOST_VERDICTS} different verdicts, got {len(set(values))}.",
            "Give numbers as score=.",
        )


def _coarse(score: Any) -> Any:
    """Return the number of a score's bin; scores beyond ±16 are in one bin on each side."""
    import narwhals as nw

    near = (score * COARSE).floor()
    far = 16 * COARSE
    bounded = nw.when(near < -far).then(nw.lit(-far - 1)).otherwise(near)
    return nw.when(bounded >= far).then(nw.lit(far)).otherwise(bounded)


def _ranges(bins: Floats, fineness: float) -> Floats:
    """Return the range of scores of each bin."""
    far = 16 * fineness
    low = np.where(bins < -far, -np.inf, np.where(bins > far, far, bins)) / fineness
    high = np.where(bins < -far, -far, np.where(bins >= far, np.inf, bins + 1)) / fineness
    return np.stack([low, high], axis=1)


def _largest_amount(wrapped: Any, name: str) -> float:
    """Return the power of two above the largest amount; amounts must be 0 or more."""
    import narwhals as nw

    each = column(wrapped, name).cast(nw.Float64).alias("amount")
    amount = nw.col("amount")
    asked = [
        amount.min().alias("least"),
        amount.max().alias("most"),
        amount.sum().alias("sum"),
        amount.count().alias("known"),
        nw.len().alias("rows"),
    ]
    table = collected(wrapped, [name], lambda: wrapped.select(each).select(asked))
    least, most, total, known, rows = (table[key].to_list()[0] for key in table.columns)
    if not rows:
        raise InputError("frame", "expected at least one example, got none.")
    if known < rows or not np.isfinite([least, most, total]).all() or least < 0:
        raise InputError(
            f"column {name!r}", "expected amounts that are finite, 0 or more, in every row."
        )
    return float(2.0 ** np.ceil(np.log2(most) + 1e-12)) if most > 0 else 1.0


def _power(amount: Any, top: float) -> Any:
    """Return how many halvings of `top` an amount is below; 0 for the largest amounts."""
    import narwhals as nw

    found = nw.lit(0.0)
    for k in range(1, POWERS + 1):
        found = nw.when(amount < top / 2.0**k).then(nw.lit(float(k))).otherwise(found)
    return found


def _power_ranges(powers: Floats, top: float) -> Floats:
    high = np.where(powers > 0, top / 2.0**powers, np.inf)
    low = np.where(powers < POWERS, top / 2.0 ** (powers + 1), 0.0)
    return np.stack([low, high], axis=1)


# Identifiers as numbers, and hashes of these.


def coefficients(seed: int) -> list[int]:
    """Return the coefficients of the polynomials."""
    found = []
    for k in range(9):
        digest = hashlib.blake2b(f"rows to label {seed} {k}".encode(), digest_size=8).digest()
        found.append(1 + int.from_bytes(digest) % (PRIME - 1))
    return found


def spread(number: Any, given: Sequence[int]) -> Any:
    """Hash whole numbers of 0 or more, an array or an expression, to numbers below 2³¹.

    The hashes are pairwise independent, but those of three identifiers in a row are not.
    """
    low, high = number % PRIME, number % OTHER_PRIME
    return (low * given[0] + high * given[1] + given[2]) % PRIME


def remixed(number: Any, given: Sequence[int]) -> Any:
    """Hash a number that `spread` made once more, to a number below 2³¹."""
    found = number
    for k in (3, 6):
        square = (found * found) % PRIME
        found = (square * given[k] + found * given[k + 1] + given[k + 2]) % PRIME
    return found


def mixed(number: Any, given: Sequence[int]) -> Any:
    """Hash whole numbers of 0 or more to numbers below 2³¹, by `spread` and `remixed`."""
    return remixed(spread(number, given), given)


def number_of_text(text: Any) -> int:
    """Return the first 60 bits of the MD5 of a text."""
    return int(hashlib.md5(str(text).encode(), usedforsecurity=False).hexdigest()[:15], 16)


def written_key(value: Any) -> str:
    """Return an identifier as text: 7, 7.0 and "7" are the same in a CSV file."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def rank_of(key: Any, seed: int, purpose: str = "draw") -> bytes:
    """Return the key that collected rows are sorted by: BLAKE2 of seed and identifier."""
    text = f"{purpose}\x00{seed}\x00{key}"
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _with_numbers(wrapped: Any, key: str) -> Any:
    """Return the frame with each identifier as a whole number."""
    import narwhals as nw

    kind = wrapped.collect_schema()[key]
    each = column(wrapped, key)
    if kind.is_integer():
        return wrapped.with_columns(each.cast(nw.Int64).abs().alias(NUMBER))
    if kind not in (nw.String, nw.Categorical):
        raise InputTypeError(
            f"column {key!r}", f"expected whole numbers or text as identifiers, got {kind}."
        )
    native = wrapped.to_native()
    implementation = wrapped.implementation
    if implementation.is_polars():
        import polars as pl

        def numbered(values: Any) -> Any:
            return pl.Series(
                [None if v is None else number_of_text(v) for v in values], dtype=pl.Int64
            )

        made = pl.col(key).cast(pl.String).map_batches(numbered, return_dtype=pl.Int64)
        return nw.from_native(native.with_columns(made.alias(NUMBER)))
    if implementation.is_duckdb():
        quoted = '"' + key.replace('"', '""') + '"'
        text = f"('0x' || substr(md5({quoted}), 1, 15))::BIGINT AS {NUMBER}"
        return nw.from_native(native.project(f"*, {text}"))
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        from pyspark.sql import functions as f

        quoted = f"`{key.replace('`', '``')}`"
        digits = f.conv(f.substring(f.md5(f.col(quoted).cast("binary")), 1, 15), 16, 10)
        return nw.from_native(native.withColumn(NUMBER, digits.cast("long")))
    if isinstance(wrapped, nw.LazyFrame):  # engines without MD5: their rows are collected
        wrapped = run_query(wrapped, [key], wrapped.collect)
    numbers = [
        0 if is_missing(plain(value)) else number_of_text(plain(value))
        for value in wrapped[key].to_list()
    ]
    series: Any = nw.new_series(NUMBER, numbers, nw.Int64, backend=wrapped.implementation)
    return wrapped.with_columns(series)


def with_row_numbers(frame: Any) -> Any:
    """Return a frame with the number of each row, where rows have an order."""
    import narwhals as nw

    wrapped = as_frame(frame, [])
    if not isinstance(wrapped, nw.LazyFrame):
        return wrapped.with_row_index(ROW).to_native()
    if wrapped.implementation.is_polars():
        return wrapped.to_native().with_row_index(ROW)
    raise InputError(
        "id",
        f"the rows of {wrapped.implementation.value} have no order, so their numbers are no "
        "identifiers.",
        "Name a column of identifiers: id=.",
    )


@dataclass(frozen=True)
class Selection:
    """Definition of a stratum's rows, and the number of them to draw.

    Attributes
    ----------
    decided : tuple of labels
        The decisions for the rows.
    verdicts : tuple of tuple of labels
        The combinations of verdicts on them; empty for all.
    scores, amounts : pair of float
        The ranges of their scores and amounts, without the upper ends.
    rows, labels : int
        The number of rows, and the number to draw.
    """

    decided: tuple[Label, ...]
    verdicts: tuple[tuple[Label, ...], ...]
    scores: tuple[float, float]
    amounts: tuple[float, float]
    rows: int
    labels: int


@dataclass(frozen=True)
class Drawn:
    """A row that was drawn: its identifier, position of the stratum, amount, and values to show."""

    key: Any
    stratum: int
    amount: float
    shown: tuple[Any, ...]


def draw(
    frame: Any,
    columns: PoolColumns,
    selections: Sequence[Selection],
    seed: int,
    *,
    show: Sequence[str] = (),
    without: frozenset[str] = frozenset(),
) -> list[Drawn]:
    """Return the rows drawn from each stratum; only candidates are collected.

    The candidates of a stratum are the rows with the smallest numbers, a few more than are drawn.
    Rows that already have labels are excluded by the text of their identifiers, which may be
    numbers in one file and text in another.
    """
    key = columns.key
    if key is None:
        frame, key = with_row_numbers(frame), ROW
    names = list(dict.fromkeys([key, *columns.labels, *columns.numbers, *show]))
    wrapped = as_frame(frame, columns.labels, columns.numbers)
    wrapped = as_frame(_with_numbers(wrapped, key).to_native(), [])
    known = set(wrapped.collect_schema())
    for name in names:
        if name not in known:
            raise InputError("frame", f"there is no column {name!r}.")
    _check_keys(wrapped, key)
    # The ids of an earlier stage may be among the smallest numbers, so as many more are collected.
    wanted = {
        place: each.labels + len(without) for place, each in enumerate(selections) if each.labels
    }
    factor = SPARE
    found: dict[int, list[Drawn]] = {}
    while len(found) < len(wanted):
        todo = {place: more for place, more in wanted.items() if place not in found}
        shares = {place: _share(selections[place], more, factor) for place, more in todo.items()}
        sieve = _Sieve(selections, shares, columns, coefficients(seed))
        data, hashes = _candidates(wrapped, names, key, sieve)
        keys = [plain(each) for each in data[key]]
        if any(map(is_blank, keys)):
            raise InputError("id", "some rows have no identifier.")
        shown = list(zip(*(map(plain, data[name]) for name in show), strict=True))
        inside = _by_stratum(data, hashes, sieve)
        amounts = data[columns.amount] if columns.amount else [1.0] * len(keys)
        for place, chosen in inside.items():
            rows = [
                Drawn(keys[row], place, float(amounts[row]), shown[row] if show else ())
                for row in chosen
            ]
            kept = [row for row in rows if written_key(row.key) not in without]
            enough = len(kept) >= selections[place].labels
            if enough or shares[place] >= 1:
                found[place] = _ranked(kept, selections[place], seed)
        factor *= 4
    return [row for place in sorted(found) for row in found[place]]


def absent_keys(frame: Any, columns: PoolColumns, keys: Sequence[Any]) -> list[Any]:
    """Return the identifiers that no row has; only the rows that have one are collected."""
    key = columns.key
    if key is None:
        frame, key = with_row_numbers(frame), ROW
    wrapped = as_frame(frame, [])
    asked = {written_key(each): each for each in keys}
    wanted: list[Any] = list(asked)
    if wrapped.collect_schema()[key].is_integer():
        wanted = [int(each) for each in asked if each.removeprefix("-").isdecimal()]
    each = column(wrapped, key)
    table = collected(
        wrapped, [key], lambda: wrapped.filter(each.is_in(wanted)).select(each.alias("key"))
    )
    found = {written_key(plain(value)) for value in table["key"].to_list()}
    return [each for written, each in asked.items() if written not in found]


def _check_keys(wrapped: Any, key: str) -> None:
    """Refuse rows in memory that share an identifier, because they would be drawn together.

    In lazy frames, only candidates are checked.
    """
    import narwhals as nw

    if not isinstance(wrapped, nw.DataFrame):
        return
    known = wrapped.filter(~_blank(wrapped, key))[key]
    if len(known) < len(wrapped):
        raise InputError("id", f"{len(wrapped) - len(known)} rows have no identifier.")
    if known.n_unique() < len(known):
        twice = known.filter(known.is_duplicated()).to_list()[0]
        raise InputError("id", f"the identifier {plain(twice)!r} occurs in several rows.")


def _blank(wrapped: Any, key: str) -> Any:
    """Return the expression for rows that have no identifier."""
    import narwhals as nw

    blank = column(wrapped, key).is_null()
    if wrapped.collect_schema()[key] == nw.String:
        blank |= column(wrapped, key) == ""
    return blank


def _share(selection: Selection, labels: int, factor: float) -> float:
    """Return the share of the rows of a stratum that are candidates."""
    return min((factor * labels + AT_LEAST) / max(selection.rows, 1), 1.0)


@dataclass(frozen=True)
class _Sieve:
    """Filter for candidates: in each stratum, a share of rows with small numbers.

    The first number of a row takes a third of the time of the second. It keeps many more rows than
    are candidates, so that the second one, which is mixed better, decides; few rows need it.
    """

    selections: Sequence[Selection]
    shares: dict[int, float]
    columns: PoolColumns
    given: list[int]

    def first(self, place: int) -> int:
        """Return the upper bound of the first number of a candidate."""
        share = COARSELY * self.shares[place]
        return PRIME + 1 if share >= 1 else int(share * PRIME)

    def second(self, place: int) -> int:
        """Return the upper bound of the second number of a candidate."""
        share = self.shares[place] * PRIME / min(self.first(place), PRIME)
        return PRIME + 1 if share >= 1 else int(share * PRIME)

    def coarse(self, places: dict[str, str]) -> Any:
        """Return the expression for rows that the first number keeps, and perhaps some more."""
        import narwhals as nw

        limits = {place: self.first(place) for place in self.shares}
        thin = [limit for limit in limits.values() if limit < PRIME // 4]
        kept: Any = nw.col("first") < max(thin, default=0)
        for place, limit in limits.items():
            if limit not in thin:
                kept |= (nw.col("first") < limit) & _member(self.selections[place], places, self)
        return kept

    def fine(self, places: dict[str, str]) -> Any:
        """Return the expression for candidates."""
        import narwhals as nw

        chosen: Any = None
        for place in self.shares:
            inside = (nw.col("first") < self.first(place)) & (nw.col("hash") < self.second(place))
            inside &= _member(self.selections[place], places, self)
            chosen = inside if chosen is None else chosen | inside
        return chosen


def _candidates(
    wrapped: Any, names: list[str], key: str, sieve: _Sieve
) -> tuple[dict[str, list[Any]], Floats]:
    """Return the columns of candidates, and both of their numbers."""
    import narwhals as nw

    places = {name: f"column_{i}" for i, name in enumerate(names)}
    made = wrapped.select(
        *(column(wrapped, name).alias(place) for name, place in places.items()),
        nw.when(~_blank(wrapped, key)).then(nw.col(NUMBER)).alias(NUMBER),
    )
    open_ones = dict.fromkeys(sieve.selections[place].decided for place in sieve.shares)
    either: Any = None
    for decided in open_ones:
        alike = _equal(sieve.columns.decisions, decided, places)
        either = alike if either is None else either | alike
    # Rows without an identifier are kept, for the error.
    number = nw.when(nw.col(NUMBER).is_null()).then(nw.lit(0)).otherwise(nw.col(NUMBER))
    blank = nw.col(NUMBER).is_null()
    made = made.filter(either).with_columns(spread(number, sieve.given).alias("first"))
    made = made.filter(sieve.coarse(places) | blank)
    made = made.with_columns(remixed(nw.col("first"), sieve.given).alias("hash"))
    made = made.filter(sieve.fine(places) | blank)
    # There are far more than expected if identifiers are missing, or many rows share one.
    expected = sum(share * sieve.selections[place].rows for place, share in sieve.shares.items())
    most = int(2 * expected) + 10_000
    table = collected(wrapped, names, lambda: made.head(most))
    if len(table) == most and not any(map(is_blank, map(plain, table[places[key]].to_list()))):
        raise InputError("id", "many rows share an identifier.")
    data = {name: table[place].to_list() for name, place in places.items()}
    numbers = [np.array(table[each].to_list(), dtype=np.float64) for each in ("first", "hash")]
    return data, np.stack(numbers, axis=1)


def _equal(names: Sequence[str], values: Sequence[Label], places: dict[str, str]) -> Any:
    """Return the expression for rows that have the given values."""
    import narwhals as nw

    alike: Any = None
    for name, value in zip(names, values, strict=True):
        same = nw.col(places[name]) == value
        alike = same if alike is None else alike & same
    return alike


def _ranked(rows: list[Drawn], selection: Selection, seed: int) -> list[Drawn]:
    """Return the rows to draw, the first ones in the order of BLAKE2."""
    keys = [row.key for row in rows]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError("id", f"the identifier {twice!r} occurs in several rows.")
    if len(rows) < selection.labels:
        raise InputError(
            "frame",
            f"{len(rows)} rows of a stratum were found where {selection.rows} were counted.",
            "The rows must not change between counting and drawing.",
        )
    return sorted(rows, key=lambda row: rank_of(row.key, seed))[: selection.labels]


def _member(selection: Selection, places: dict[str, str], sieve: _Sieve) -> Any:
    """Return the expression for rows of a stratum."""
    import narwhals as nw

    columns = sieve.columns
    inside = _equal(columns.decisions, selection.decided, places)
    if selection.verdicts and columns.judges:
        either: Any = None
        for verdicts in selection.verdicts:
            alike = _equal(columns.judges, verdicts, places)
            either = alike if either is None else either | alike
        inside &= either
    ends = ((columns.score, selection.scores), (columns.amount, selection.amounts))
    for known, (low, high) in ends:
        if known is None:
            continue
        value = nw.col(places[known]).cast(nw.Float64)
        if low > -np.inf:
            inside &= value >= low
        if high < np.inf:
            inside &= value < high
    return inside


def _by_stratum(data: dict[str, list[Any]], hashes: Floats, sieve: _Sieve) -> dict[int, list[int]]:
    """Return which of the collected rows are candidates of each stratum."""
    columns = sieve.columns
    decided = list(zip(*(map(plain, data[name]) for name in columns.decisions), strict=True))
    verdicts = list(zip(*(map(plain, data[name]) for name in columns.judges), strict=True))
    n = len(hashes)
    scores = np.array(data[columns.score], dtype=np.float64) if columns.score else np.zeros(n)
    amounts = np.array(data[columns.amount], dtype=np.float64) if columns.amount else np.ones(n)
    found = {}
    for place in sieve.shares:
        each = sieve.selections[place]
        below = (scores < each.scores[1]) | (each.scores[1] == np.inf)
        inside = (hashes[:, 0] < sieve.first(place)) & (hashes[:, 1] < sieve.second(place))
        inside &= (scores >= each.scores[0]) & below
        inside &= (amounts >= each.amounts[0]) & (amounts < each.amounts[1])
        found[place] = [
            row
            for row in np.flatnonzero(inside).tolist()
            if decided[row] == each.decided
            and (not each.verdicts or not verdicts or verdicts[row] in each.verdicts)
        ]
    return found
