"""A table in many files, of which only some thousand rows are in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from stakes._core.columns import MOST_LABELS
from stakes._core.labels import Label, Labels, plain
from stakes.errors import FileError, InputError
from stakes.read.shards import Part, check_same_columns, kind_of
from stakes.read.tables import first_row
from stakes.study.columns import (
    Suspicion,
    Table,
    all_known,
    is_missing_value,
    is_nested,
    mostly,
    too_many_labels,
)
from stakes.study.roles import unknown_column

NUMBERS = ("numbers", "true and false")


class PartedTable:
    """A table of predictions in many files, which is counted a batch of rows at a time.

    It can be asked what `Table` can be asked, but for the rows of a whole column.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    source : str
        What they are called together, for errors.
    on_part : callable, optional
        Is told the number of each file when work on it begins, how many there are, and its name.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        source: str,
        *,
        on_part: Callable[[int, int, str], None] | None = None,
    ) -> None:
        self.source = source
        self._parts = [Part(path) for path in paths]
        self._schema = check_same_columns(self._parts)
        self._on_part = on_part or (lambda *_: None)
        self._seen: dict[str, _Seen] = {}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._schema.names)

    def check_columns(self, names: Sequence[str | None]) -> None:
        """Raise when there is no such column; None stands for no name."""
        for name in names:
            if name is not None and name not in self.columns:
                raise InputError(unknown_column(name, self.columns, self.source))

    def batches(self, columns: Sequence[str]) -> Iterator[Table]:
        """Iterate over the rows, with these columns alone."""
        names = list(dict.fromkeys(columns))
        rows = 0
        for number, part in enumerate(self._parts):
            self._on_part(number, len(self._parts), part.source)
            for batch in part.batches(names):
                self._check_kinds(batch, names, part.source)
                rows += batch.num_rows
                yield Table(batch, part.source)
        if not rows:
            raise FileError(
                f"{self.source}: its files have columns ({', '.join(self.columns[:10])}) but no "
                "rows."
            )

    def labels(self, name: str) -> list[Label]:
        """Return the distinct labels of a column, which must not have too many or missing ones."""
        values = self._values(name)
        if values is None or any(map(is_missing_value, values)):
            for batch in self.batches([name]):
                batch.labels(name)  # which names the file and the row
        if values is None:
            raise too_many_labels(self.source, name, f"more than {MOST_LABELS:,}")
        return [plain(value) for value in values]

    def knows(self, name: str, labels: Labels) -> bool:
        """Tell whether all values of a column are among labels, as they are or as text."""
        values = None if is_nested(self._schema, name) else self._values(name)
        return values is not None and all_known(values, labels)

    def flawed(self, name: str, labels: Labels, *, named: bool = False) -> bool:
        """Tell whether a column has labels but for some rows; `Suspicion` tells when."""
        values = None if is_nested(self._schema, name) else self._values(name)
        suspicion = Suspicion(values or (), labels, named=named)
        if not suspicion.possible:
            return False
        amounts = [batch.filled(name, suspicion.known) for batch in self.batches([name])]
        return suspicion.holds(sum(all_ for all_, _ in amounts), sum(ours for _, ours in amounts))

    def numeric(self, name: str) -> bool:
        """Tell whether a column has numbers; of text, whether at least half of it is numbers."""
        if kind_of(self._schema.field(name).type) in NUMBERS:
            return True  # those that are missing are found when they are counted
        if name not in self._seen:
            self._look(name)
        return self._seen[name].numeric

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column."""
        ranges = [batch.score_range(name) for batch in self.batches([name])]
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def _values(self, name: str) -> list[Any] | None:
        """Return the distinct values of a column; nothing if there are too many to be labels."""
        if name not in self._seen:
            self._look(name)
        values = self._seen[name].values
        return None if values is None else list(values)

    def _look(self, name: str) -> None:
        """Look through a column once; through all of them where they cannot be read apart."""
        apart = all(part.columnar for part in self._parts)
        names = [name] if apart else [each for each in self.columns if each not in self._seen]
        seen = {each: _Seen(self._schema, each) for each in names}
        for batch in self.batches(names):
            for each, what in seen.items():
                what.look(batch, each)
            if not any(what.open for what in seen.values()):
                break
        self._seen |= seen

    def _check_kinds(self, batch: Any, names: Sequence[str], source: str) -> None:
        """Raise when a column is missing, or is of another kind than in the first file."""
        for name in names:
            if name not in batch.column_names:
                raise FileError(f"{source}: there are rows without the column {name!r}.")
            kinds = [kind_of(each.field(name).type) for each in (batch.schema, self._schema)]
            if kinds[0] != kinds[1] and "nothing" not in kinds:
                raise FileError(
                    f"{source}, from row {first_row(batch):,} on, column {name!r}: it has "
                    f"{kinds[0]}, but {kinds[1]} at the beginning of {self._parts[0].source}; a "
                    "column must be of one kind in all files of a table."
                )


class _Seen:
    """What a look through a column shows: its values while they are few, and if it has numbers."""

    def __init__(self, schema: Any, name: str) -> None:
        self.values: dict[Any, None] | None = None if is_nested(schema, name) else {}
        self._text = kind_of(schema.field(name).type) == "text"
        self._filled = self._numbers = 0

    @property
    def open(self) -> bool:
        """Whether there is anything left to learn."""
        return self.values is not None or self._text

    @property
    def numeric(self) -> bool:
        """Whether at least half of a text is numbers."""
        return self._text and mostly(self._filled, self._numbers)

    def look(self, batch: Table, name: str) -> None:
        if self.values is not None:
            self.values |= dict.fromkeys(batch.values(name))
            if len(self.values) > MOST_LABELS:
                self.values = None
        if self._text:
            filled, numbers = batch.numbers(name)
            self._filled, self._numbers = self._filled + filled, self._numbers + numbers
            self._text = not self._filled or self.numeric  # words at the beginning are enough
