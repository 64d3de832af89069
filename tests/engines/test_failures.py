"""Failures of engines, unsuitable partitions, and missing or outdated libraries."""

import sys

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

from stakes import Confusion, GroupedConfusion, JointConfusion
from stakes.errors import (
    EngineError,
    InputError,
    InputTypeError,
    LabelError,
    MissingExtraError,
)


def test_polars_streams_only_where_that_tells_of_damage(monkeypatch):
    asked = []
    collect = pl.LazyFrame.collect

    def watched(self, *args, **options):
        asked.append(options.get("engine"))
        return collect(self, *args, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    for version in ("1.26.0", "1.27.1", "2.0.0-beta.1"):
        monkeypatch.setattr(pl, "__version__", version)
        Confusion.from_frame(pl.LazyFrame({"t": [0, 1]}), actual="t", predicted="t")
    assert asked == [None, "streaming", "streaming"]


def test_a_panic_of_polars_is_an_error(monkeypatch):
    class PanicException(BaseException):
        pass

    def panic(*_, **__):
        raise PanicException("range.end <= self.size")

    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    with pytest.raises(EngineError, match=r"polars failed.*PanicException: range"):
        Confusion.from_frame(pl.LazyFrame({"t": [1]}), actual="t", predicted="t")


def test_a_wish_to_stop_is_no_error_of_the_engine(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.LazyFrame, "collect", stop)
    with pytest.raises(KeyboardInterrupt):
        Confusion.from_frame(pl.LazyFrame({"t": [1]}), actual="t", predicted="t")


def test_partitions_that_disagree_on_the_type_of_labels():
    dd = pytest.importorskip("dask.dataframe")
    parts = [
        pd.DataFrame({"t": [1, 2, 2]}),
        pd.DataFrame({"t": ["1", "2"]}),
        pd.DataFrame({"t": [1]}),
    ]
    table = dd.from_map(lambda number: parts[number], range(3), meta=parts[0].head(0))
    with pytest.raises(
        LabelError,
        match=r"column 't': 2 rows have text as labels \(in the partitions 1\) and 4 rows have "
        r"numbers \(in the partitions 0, 2\). Convert all to one type",
    ):
        Confusion.from_frame(table, actual="t", predicted="t")


def test_a_partition_that_takes_too_much_memory():
    dd = pytest.importorskip("dask.dataframe")

    def fail(_):
        raise MemoryError

    table = dd.from_map(fail, range(2), meta=pd.DataFrame({"t": [1]}).head(0))
    with pytest.raises(EngineError, match="a partition takes more memory than there is"):
        Confusion.from_frame(table, actual="t", predicted="t")


def test_whole_numbers_that_a_partition_holds_as_floats():
    dd = pytest.importorskip("dask.dataframe")
    parts = [pd.DataFrame({"t": [1, 2, 2]}), pd.DataFrame({"t": [1.0, 2.0]})]
    table = dd.from_map(lambda number: parts[number], range(2), meta=parts[0].head(0))
    assert Confusion.from_frame(table, actual="t", predicted="t").labels == (1, 2)


def test_a_library_that_is_not_installed(monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql("SELECT 1 AS t")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingExtraError, match=r'counting with duckdb needs .*"stakes\[engines\]"'
    ):
        Confusion.from_frame(relation, actual="t", predicted="t")


def test_a_library_that_is_too_old(monkeypatch):
    def refuse(_):
        raise ValueError("Minimum version of duckdb supported by Narwhals is (1, 1), found: (0, 9)")

    monkeypatch.setattr(nw, "from_native", refuse)
    with pytest.raises(MissingExtraError, match=r"\(0, 9\). Install a newer one: pip install --up"):
        Confusion.from_frame(pl.DataFrame({"t": [1]}), actual="t", predicted="t")


@pytest.mark.parametrize("predicted", [{}, [], "a", 3])
def test_classifiers_that_are_not_named(predicted):
    with pytest.raises(InputTypeError, match="predicted: expected"):
        JointConfusion.from_frame(pl.DataFrame({"a": [1]}), actual="a", predicted=predicted)
    if predicted != "a":
        with pytest.raises((InputError, InputTypeError), match="predicted: expected"):
            GroupedConfusion.from_frame(
                pl.DataFrame({"a": [1]}), actual="a", predicted=predicted, groups="a"
            )
