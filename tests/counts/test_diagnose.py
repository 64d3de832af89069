import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from stakes import Confusion
from stakes.counts.engines import error_text, failed, unreadable_shard
from stakes.errors import EngineError


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for number in range(3):
        columns = {name: rng.integers(0, 3, 3000) for name in ("t", "p")}
        pl.DataFrame(columns).write_parquet(tmp_path / f"{number}.parquet")
    return tmp_path


def named(lazy):
    return unreadable_shard(nw.from_native(lazy), ["t", "p"])


def test_sound_files_are_not_blamed(folder):
    assert named(pl.scan_parquet(folder / "*.parquet")) is None
    assert named(pl.LazyFrame({"t": [1], "p": [1]})) is None
    assert named(pd.DataFrame({"t": [1], "p": [1]})) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:1000],
        lambda content: content[:500] + bytes(800) + content[1300:],
        lambda _: b"no Parquet at all",
    ],
    ids=["cut short", "overwritten", "another format"],
)
def test_the_damaged_file_of_a_plan_is_found(folder, damage):
    file = folder / "1.parquet"
    file.write_bytes(damage(file.read_bytes()))
    scan = pl.scan_parquet(folder / "*.parquet")
    plan = pl.concat([scan.filter(pl.col("t") < 2), pl.LazyFrame({"t": [1], "p": [1]})])
    for frame in (scan, plan.with_columns(t=pl.col("t") + 1)):
        assert named(frame) == f"The file {str(file)!r}"
        with pytest.raises(EngineError, match=r"polars failed.*1\.parquet' cannot be read"):
            Confusion.from_frame(frame, actual="t", predicted="p")


def test_a_failure_of_every_partition_is_not_blamed_on_one():
    dd = pytest.importorskip("dask.dataframe")
    sound = pd.DataFrame({"t": [1], "p": [1]})

    def part(number, bad):
        if number in bad:
            raise OSError("gone")
        return sound

    def frame(*bad):
        return dd.from_map(part, range(3), bad=bad, meta=sound)

    assert named(frame()) is None
    assert named(frame(2)) == "The partition 2 of 3"
    assert named(frame(0)) == "The partition 0 of 3"
    assert named(frame(0, 1, 2)) is None
    with pytest.raises(EngineError, match=r"nothing was counted: OSError: gone\.$"):
        Confusion.from_frame(frame(0, 1, 2), actual="t", predicted="p")


def test_a_wish_to_stop_is_not_a_failure():
    assert failed(OSError())
    assert not failed(KeyboardInterrupt())


def test_what_an_engine_says_is_told_without_its_stack_trace():
    error = RuntimeError(
        "An error occurred while calling o82.getResult.\n"
        ": org.apache.spark.SparkException: Exception thrown in awaitResult: \n"
        "\tat org.apache.spark.util.ThreadUtils\n"
        "Caused by: org.apache.spark.SparkException: cannot read file:///a.parquet\n\t... 41 more"
    )
    expected = "Caused by: org.apache.spark.SparkException: cannot read file:///a.parquet."
    assert error_text(error) == f"RuntimeError: {expected}"
    assert len(error_text(ValueError("x" * 5000))) < 1100
