"""Long-form tables, with a row for each example and model, reshaped to a column for each model.

Without reshaping, the rows of all models would be read as those of one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label, is_blank, listing, plain
from stakes._core.text import listed
from stakes.errors import InputError
from stakes.predictions import _names
from stakes.predictions.arrow import ArrowTable, cells_of
from stakes.predictions.roles import actual_column
from stakes.predictions.table import Columns, Table, check_columns
from stakes.read.joins import joined
from stakes.read.sources import pyarrow
from stakes.read.tables import FileRows

MOST_MODELS = 50
"""Maximum number of models in a column of model names."""

MOST_LACKING = 0.1
"""Maximum share of missing rows in a table that seems to have one for each example and model."""

LEAST_ROWS, LEAST_RUNS = 10, 4
"""Minimum numbers of rows, and of runs of actual classes, whose order identifies the examples.

Sorted classes have too few runs, and alternating classes show nothing."""

ROW = "\0row"
"""Name of the column that numbers the rows of each model, if there are no example ids."""


@dataclass(frozen=True)
class LongForm:
    """The roles of the columns of a table in long form.

    Attributes
    ----------
    model : str
        The column of model names.
    names : tuple
        The models.
    values : tuple of str
        The columns that differ between models: decisions and scores.
    key : str or None
        The column of example ids; None if the rows of all models are in the same order.
    """

    model: str
    names: tuple[Label, ...]
    values: tuple[str, ...]
    key: str | None


def side_by_side(
    rows: FileRows, columns: Columns, on_column: Callable[[str], None] | None = None
) -> ArrowTable:
    """Return rows as a table with a row for each example and separate columns for each model.

    Parameters
    ----------
    rows : FileRows
        The rows, in long form or not.
    columns : Columns
        The columns that were named.
    on_column : callable, optional
        Called with the name of each column when work on it begins.
    """
    table = ArrowTable.of_file(rows, on_column=on_column, reading=columns.reading)
    columns, owners = columns.resolved(table.columns)
    form = _long_form(table, columns)
    if form is None:
        return table
    _check_unnamed(form, owners)
    each, dropped, lacking = _by_model(rows, form, drop=columns.reading.drop_missing)
    key = ROW if form.key is None else form.key
    actual = _actual_of(table, columns) or ""
    stems = [str(plain(name)) for name in form.names]
    wide = joined(each, key, actual, apart=form.values, stems=stems)
    renamed = {value: tuple(f"{stem}_{value}" for stem in stems) for value in form.values}
    reading = replace(
        columns.reading,
        lower_is_positive=tuple(
            name
            for value in columns.reading.lower_is_positive
            for name in renamed.get(value, (value,))
        ),
    )
    found = ArrowTable(
        wide.drop_columns([ROW]) if form.key is None else wide,
        rows.source,
        cells=cells_of(rows),
        place=lambda row: f"{'row' if form.key is None else key} {plain(wide.column(key)[row])!r}",
        on_column=on_column,
        reading=reading,
        notes=(_note(form),),
    )
    found.dropped = dropped
    for stem, number in lacking.items():
        found.lacking.update({f"{stem}_{value}": number for value in form.values})
    found.renamed = renamed
    return found


def _long_form(table: ArrowTable, columns: Columns) -> LongForm | None:
    """Return the roles of the columns if a table is in long form, otherwise None.

    A table is in long form if a column has a name that is usual for models, has few values, and
    each example has a row for each model. Without example ids, or without a usual name, the user
    has to confirm it.
    """
    _check_named(table, columns)
    model = columns.model_column or _model_column(table, columns)
    if model is None:
        _check_crossing(table, columns)
        return None
    names, values = _models_of(table, model), _value_columns(table, columns, model)
    named = columns.model_column is not None
    for key in [columns.key] if columns.key else _keys(table, columns, model, len(names)):
        repeats = table.repeats(key)
        if repeats and table.pairs(key, model) == table.n:
            return LongForm(model, names, values, key)
        if columns.key or not repeats:  # each row is a separate example
            # With a named key, joining reports duplicate and missing examples of a model.
            return None if not named else LongForm(model, names, values, columns.key)
    if named and not values:
        raise InputError(
            table.source,
            "no column is named as decisions or scores are.",
            "Name them with models= or scores=.",
        )
    if named:
        return LongForm(model, names, values, None)
    if columns.models or columns.scores:
        return None  # the user named the columns of one model
    if values:
        raise _unclear(table, model, names, f", such as {values[0]!r}")
    _check_crossing(table, columns)
    return None


def _check_crossing(table: ArrowTable, columns: Columns) -> None:
    """Raise an error if a column without a usual name seems to hold model names."""
    crossing = _crossing(table, columns)
    if crossing is not None:
        raise crossing[1]


def _check_named(table: Table, columns: Columns) -> None:
    """Raise an error if a column that was named does not exist."""
    named = [columns.actual, columns.model_column, columns.key, *columns.models, *columns.scores]
    check_columns(table, [*named, *columns.design.used().values()])


def _check_unnamed(form: LongForm, owners: Mapping[str, str]) -> None:
    """Raise an error if the user named models, which have the names in their column."""
    for column, model in owners.items():
        raise InputError(
            "models, scores",
            f"the models have the names in the column {form.model!r}; {column!r} cannot be that of "
            f"{model!r} alone.",
            "Give the column without a name.",
        )


def _models_of(table: Table, model: str) -> tuple[Label, ...]:
    """Return the model names in a column, which must have one in each row."""
    found = table.values(model) or []
    names = tuple(plain(each) for each in found if not is_blank(each))
    if len(names) < len(found) or len(names) < 2:  # noqa: PLR2004 - a model and another
        raise InputError(
            f"{table.source}, column {model!r}",
            f"expected the names of two models or more, one in each row; got {listing(names)}.",
        )
    return names


def _model_column(table: Table, columns: Columns) -> str | None:
    """Return the column that has a usual name for models, and few values; None if there is none."""
    actual = columns.actual or _names.guessed_actual(table.columns)
    taken = {actual, columns.key, *columns.models, *columns.design.used().values()}
    likely = [name for name in table.columns if _names.MODEL_COLUMNS.search(name)]
    for name in likely:
        if name in taken:
            continue
        classes = set() if actual is None else set(table.values(actual) or ())
        values = [value for value in table.values(name) or () if not is_blank(value)]
        if 1 < len(values) <= MOST_MODELS and not set(values) <= classes:
            return name
    return None


def _value_columns(table: Table, columns: Columns, model: str) -> tuple[str, ...]:
    """Return the columns with decisions and scores, as the user named them or by their names."""
    if columns.models or columns.scores:
        return tuple(dict.fromkeys([*columns.models, *columns.scores]))
    actual = columns.actual or _names.guessed_actual(table.columns)
    taken = {actual, model, columns.key, *columns.design.used().values()}
    return tuple(
        name
        for name in table.columns
        if name not in taken
        and (_names.looks_like_score(name) or _names.looks_like_decisions(name))
    )


def _keys(table: Table, columns: Columns, model: str | None, models: int = 0) -> list[str]:
    """Return the columns that may hold example ids, by names of ids or groups, or by their values.

    Values qualify if each of the models has one row with each of them.
    """
    taken = {columns.actual, model, columns.design.groups}
    rest = [name for name in table.columns if name not in taken]
    ids = [name for name in rest if _names.ID_NAMES.search(name)]
    ids += [name for name in rest if _names.GROUP_NAMES.search(name) and name not in ids]
    if model is None or not isinstance(table, ArrowTable):
        return ids
    by_values = [
        name
        for name in rest
        if name not in ids
        and not (_names.looks_like_score(name) or _names.looks_like_decisions(name))
        and table.repeats(name)
        and not table.numeric(name)
        and table.distinct(name) * models == table.n == table.pairs(name, model)
    ]
    return ids + [name for name in by_values if table.distinct(name) >= LEAST_ROWS]


def _actual_of(table: Table, columns: Columns) -> str | None:
    """Return the column with the actual classes; None if the user has to name it."""
    try:
        return actual_column(table, columns.actual)
    except InputError:
        return None


def _crossing(table: ArrowTable, columns: Columns) -> tuple[str, InputError] | None:
    """Return a column without a usual name that seems to hold model names, and the error about it.

    It seems so if each example has a row with each value of the column, and one actual class; or if
    there are no example ids, and the rows with each value have the same actual classes in the same
    order. There is no error if the user named groups or, in the latter case, models or scores.
    """
    actual = _actual_of(table, columns)
    if actual is None or columns.design.groups is not None:
        return None
    keys = [columns.key] if columns.key else _keys(table, columns, None)
    for key in keys:
        if not table.repeats(key):
            return None
        examples = table.distinct(key)
        for name, values in _few_valued(table, columns, {actual, key}):
            every = examples * len(values)
            if (
                (1 - MOST_LACKING) * every <= table.n <= every
                and table.pairs(key, name) == table.n
                and table.pairs(key, actual) == examples
            ):
                return name, _crossed(table, key, name, values, lacking=table.n < every)
    if keys or columns.models or columns.scores:
        return None
    for name, values in _few_valued(table, columns, {actual}):
        rows = [] if table.n % len(values) else table.rows_by(name)
        if rows and _same_classes(table, rows, actual):
            return name, _unclear(table, name, values, "")
    return None


def _few_valued(
    table: ArrowTable, columns: Columns, taken: Collection[str]
) -> Iterator[tuple[str, tuple[Label, ...]]]:
    """Iterate over the columns that may hold model names, with their values; dates may not."""
    from datetime import date, time

    used = {*taken, *columns.models, *columns.scores, *columns.design.used().values()}
    for name in table.columns:
        if name in used or _names.looks_like_score(name) or _names.looks_like_decisions(name):
            continue
        values = tuple(plain(each) for each in table.values(name) or ())
        if 1 < len(values) <= MOST_MODELS and not any(
            is_blank(each) or isinstance(each, date | time) for each in values
        ):
            yield name, values


def _same_classes(table: ArrowTable, rows: Sequence[NDArray[np.intp]], actual: str) -> bool:
    """Tell whether lists of rows have the same actual classes in the same, irregular order."""
    size = len(rows[0])
    if size < LEAST_ROWS or not table.same_in(rows, actual):
        return False
    labels = table.texts(actual)[0][rows[0]]
    runs = 1 + int(np.count_nonzero(labels[1:] != labels[:-1]))
    return LEAST_RUNS <= runs < size


def _by_model(
    rows: FileRows, form: LongForm, *, drop: bool
) -> tuple[list[FileRows], int, dict[str, int]]:
    """Return the rows of each model, the number of dropped examples, and how many each lacks."""
    from pyarrow import compute as pc

    pa = pyarrow()
    table, model = rows.table, rows.table.column(form.model)
    if pa.types.is_dictionary(model.type):
        model = model.cast(model.type.value_type)
    parts = []
    for name in form.names:
        part = table.filter(pc.equal(model, pa.scalar(name, model.type)))
        parts.append(part.drop_columns([form.model]))
    if form.key is None:
        sizes = [part.num_rows for part in parts]
        if len(set(sizes)) > 1:
            raise InputError(
                rows.source,
                f"the models have different numbers of rows, {listing(sizes)}, and no column names "
                "the examples.",
                "Name the column that does with key=.",
            )
        parts = [part.append_column(ROW, pa.array(range(1, 1 + part.num_rows))) for part in parts]
    dropped, lacking = 0, {}
    if drop and form.key is not None:
        each = [set(part.column(form.key).to_pylist()) for part in parts]
        every, there = set.intersection(*each), set.union(*each)
        if not every:
            raise _nothing_in_common(rows.source, form, [len(own) for own in each], len(there))
        dropped = len(there) - len(every)
        lacking = {
            str(plain(name)): len(there) - len(own)
            for name, own in zip(form.names, each, strict=True)
        }
        kept = pa.array(list(every), parts[0].schema.field(form.key).type)
        parts = [part.filter(pc.is_in(part.column(form.key), value_set=kept)) for part in parts]
    found = [
        FileRows(part, f"{rows.source}, model {plain(name)!r}")
        for name, part in zip(form.names, parts, strict=True)
    ]
    return found, dropped, lacking


def _nothing_in_common(
    source: str, form: LongForm, sizes: Sequence[int], examples: int
) -> InputError:
    """Return the error that no example is left if those without a row of every model are left out.

    `sizes` are the numbers of examples that each model has.
    """
    found = zip(form.names, sizes, strict=True)
    return InputError(
        f"{source}, column {form.model!r}",
        f"no example has a row of every model; of {examples:,} examples, "
        f"{listed([f'{name!r} has {size:,}' for name, size in found])}.",
        "Correct misspelt names of models, or remove the rows of models with few examples; if the "
        "column is a feature, name the columns of the models with models=.",
    )


def _note(form: LongForm) -> str:
    """Return a note on how the rows were combined."""
    models = listed([repr(name) for name in form.names])
    by = "in the order of their rows" if form.key is None else f"by {form.key!r}"
    return (
        f"There is a row for each example and model: the models {models} of the column "
        f"{form.model!r} were put side by side, {by}."
    )


def _unclear(table: Table, model: str, names: Sequence[Label], other: str) -> InputError:
    """Return the error that rows may be of several models, and there are no example ids."""
    return InputError(
        f"{table.source}, column {model!r}",
        f"it has {listing(names, 5)}: is there a row for each example and model? No column names "
        "the examples.",
        "If so, name it with model_column=, and the column of examples with key=; without that, "
        "rows of the models are paired in their order. If it is a feature, name the columns of the "
        f"models with models= or scores={other}.",
        proposal={"model_column": model},
    )


def _crossed(
    table: Table, key: str, model: str, names: Sequence[Label], *, lacking: bool
) -> InputError:
    """Return the error that each example has a row for each value of a column."""
    return InputError(
        f"{table.source}, column {model!r}",
        f"each {key!r} has a row with each of {listing(names, 5)}, and one actual class. Are these "
        "models?",
        "If so, name it with model_column=. If rows are cases of their own, name what they belong "
        f"to, {key!r}, with groups=.",
        proposal={"model_column": model, **({"drop_missing": ""} if lacking else {})},
    )


def check_wide(table: Table, columns: Columns) -> None:
    """Raise an error if a table that is read in batches seems to be in long form.

    Parameters
    ----------
    table : Table
        The rows.
    columns : Columns
        The columns that were named.
    """
    columns, _ = columns.resolved(table.columns)
    _check_named(table, columns)
    if columns.models or columns.scores:
        return
    model = columns.model_column or _model_column(table, columns)
    if model is None or not _value_columns(table, columns, model):
        first = next(iter(table.batches(table.columns)))
        crossing = _crossing(first, columns) if isinstance(first, ArrowTable) else None
        if crossing is None:
            return
        model = crossing[0]
    else:
        keys = _keys(table, columns, model)
        if columns.model_column is None and keys and not table.repeats(keys[0]):
            return
    raise InputError(
        f"{table.source}, column {model!r}",
        "there seems to be a row for each example and model. Models are put side by side only in "
        "one file that is read whole, and this table is read in batches.",
        "Put the models side by side first; or, if it is a feature, name the models with models=.",
    )
