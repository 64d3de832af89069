"""The same counts, and the same errors, from every engine."""

from itertools import combinations

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from _helpers.strategies import label_columns, weights
from hypothesis import given, settings
from hypothesis import strategies as st

from stakes import (
    Confusion,
    CostEstimate,
    CostMatrix,
    GroupedConfusion,
    JointConfusion,
    PairedConfusion,
    PairedScoreCounts,
    Ranking,
    ScoreCounts,
    compare_many,
    evaluate,
)
from stakes.errors import (
    EngineError,
    InputError,
    InputTypeError,
    LabelError,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # of py4j
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated"),  # ibis
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame"),  # Dask
]

SPARK = pytest.param("spark", marks=pytest.mark.services)  # it runs in Java
LAZY = ("polars lazy", "duckdb", "ibis", "dask", SPARK)
ENGINES = ("pandas", "polars", "pyarrow", *LAZY)
COSTS = CostMatrix.from_errors(false_positive=3, false_negative=40, pos_label=1, neg_label=0)


def maker(name, request):
    """Return what makes a frame of a pyarrow table."""
    if name == "spark":
        return request.getfixturevalue("local_spark").createDataFrame
    if name == "duckdb":
        return pytest.importorskip("duckdb").connect().from_arrow
    if name == "ibis":
        return pytest.importorskip("ibis").memtable
    if name == "dask":
        dd = pytest.importorskip("dask.dataframe")
        return lambda table: dd.from_pandas(table.to_pandas(), npartitions=2)
    return {
        "pandas": pa.Table.to_pandas,
        "polars": pl.from_arrow,
        "polars lazy": lambda table: pl.from_arrow(table).lazy(),
        "pyarrow": lambda table: table,
    }[name]


@pytest.fixture(scope="module", params=ENGINES)
def frame(request):
    """Make a frame of columns, on each of the engines."""
    make = maker(request.param, request)
    return lambda columns: make(pa.table(columns))


@pytest.fixture(scope="module", params=LAZY)
def lazy(request):
    """Make a frame of columns, on each engine that counts later."""
    make = maker(request.param, request)
    return lambda columns: make(pa.table(columns))


@settings(max_examples=4)
@given(data=st.data())
def test_labels(frame, data):
    names, (y_true, first, second) = data.draw(label_columns(columns=3))
    weight = data.draw(weights(len(y_true)))
    group = [f"g{row % 3}" for row in range(len(y_true))]
    table = frame({"t": y_true, "a": first, "b": second, "w": weight, "g": group})
    assert PairedConfusion.from_frame(
        table, actual="t", predicted=("a", "b"), labels=names
    ) == PairedConfusion.from_labels(y_true, first, second, labels=names)
    assert JointConfusion.from_frame(
        table, actual="t", predicted={"one": "a", "two": "b", "three": "a"}
    ) == JointConfusion.from_labels(y_true, {"one": first, "two": second, "three": first})
    assert GroupedConfusion.from_frame(
        table, actual="t", predicted=("a", "b"), groups="g"
    ) == GroupedConfusion.from_labels(y_true, first, group, y_pred_2=second)
    weighted = Confusion.from_frame(table, actual="t", predicted="a", sample_weight="w")
    expected = Confusion.from_labels(y_true, first, sample_weight=weight)
    assert weighted.labels == expected.labels
    assert np.allclose(weighted.counts, expected.counts)
    assert np.allclose(weighted.squares, expected.squares)


@settings(max_examples=4)
@given(data=st.data())
def test_scores(frame, data):
    n = data.draw(st.integers(2, 30))
    y_true = [0, 1, *data.draw(st.lists(st.sampled_from([0, 1]), min_size=n - 2, max_size=n - 2))]
    score = st.lists(st.sampled_from([0.0, -0.0, 0.25, 1.0, np.inf]), min_size=n, max_size=n)
    first, second = data.draw(score), data.draw(score)
    table = frame({"t": y_true, "s": first, "u": second})
    counted = ScoreCounts.from_frame(table, actual="t", score="s")
    assert counted == ScoreCounts.from_scores(y_true, first)
    paired = PairedScoreCounts.from_frame(table, actual="t", score=("s", "u"))
    assert paired.first == counted
    assert paired.second == ScoreCounts.from_scores(y_true, second)


def test_estimates_and_rankings_start_from_the_counts(lazy):
    rng = np.random.default_rng(5)
    actual = rng.integers(0, 2, 2000)
    predictions = {
        name: np.where(rng.random(2000) < right, actual, 1 - actual)
        for name, right in (("a", 0.9), ("b", 0.8), ("c", 0.89))
    }
    table = lazy({"actual": actual, **predictions})
    counted = Confusion.from_frame(table, actual="actual", predicted="a", labels=COSTS.labels)
    alone = evaluate(actual, predictions["a"], COSTS)
    assert tuple(CostEstimate(counted, COSTS).interval()) == tuple(alone.interval())
    joint = JointConfusion.from_frame(
        table, actual="actual", predicted=list(predictions), labels=COSTS.labels
    )
    ranking = Ranking.from_joint(joint, COSTS)
    expected = compare_many(actual, predictions, COSTS)
    assert ranking.comparisons() == expected.comparisons()
    pairs = {
        (a, b): PairedConfusion.from_frame(
            table, actual="actual", predicted=(a, b), labels=COSTS.labels
        )
        for a, b in combinations(joint.names, 2)
    }
    assert pairs == {pair: joint.pair(*pair) for pair in pairs}
    assert Ranking.from_pairs(pairs, COSTS).comparisons() == expected.comparisons()


@pytest.mark.parametrize("name", ["t.x", "t`x", "it's", 'a"b', "t x", "SELECT", "key_0", "rows"])
def test_columns_of_any_name(frame, name):
    table = frame({name: ["a", "b", "b"], "p": ["b", "b", "a"]})
    if "duckdb" in type(table).__module__ and name in {"t.x", 'a"b'}:
        duckdb = pytest.importorskip("duckdb")
        if int(duckdb.__version__.split(".")[0]) < 2:
            pytest.skip("DuckDB before 2 takes a dot for the name of a table")
    counted = Confusion.from_frame(table, actual=name, predicted="p")
    assert counted.counts.tolist() == [[0, 1], [1, 1]]


NAN = float("nan")
MISSING = "column 't': 2 rows have no label. Leave out the examples that have no label, or give"
LABELS = {"actual": "t", "predicted": "p"}
WEIGHTS = LABELS | {"sample_weight": "w"}
FINITE = "column 'w': expected finite weights, got missing or infinite ones."
BAD = {
    "null text": ({"t": ["a", None, None], "p": ["a", "b", "b"]}, LABELS, LabelError, MISSING),
    "null number": ({"t": [1, None, None], "p": [1, 2, 2]}, LABELS, LabelError, MISSING),
    "nan": ({"t": pa.array([1.0, NAN, None]), "p": [1, 2, 2]}, LABELS, LabelError, MISSING),
    "new class": (
        {"t": ["a", "b", "b"], "p": ["a", "frod", "frod"]},
        LABELS | {"labels": ["a", "b", "fraud"]},
        LabelError,
        "column 'p': the label 'frod' (2 such rows) is not among the decisions: 'a', 'b', 'fraud'.",
    ),
    "text for numbers": (
        {"t": ["1", "2"], "p": ["1", "1"]},
        LABELS | {"labels": [1, 2]},
        LabelError,
        "column 'p': the label '1' (2 such rows) is not among the decisions: 1, 2. The int 1 is",
    ),
    "no column": (
        {"t": ["a"], "q": ["a"]},
        LABELS,
        InputError,
        "frame: there is no column 'p'. It has: 't', 'q'.",
    ),
    "empty": (
        {"t": pa.array([], pa.string()), "p": pa.array([], pa.string())},
        LABELS,
        InputError,
        "frame: expected at least one example, got none.",
    ),
    "text as weight": (
        {"t": ["a"], "p": ["a"], "w": ["1"]},
        WEIGHTS,
        InputError,
        "column 'w': expected numbers, got a column of type String. Convert it to numbers first.",
    ),
    "negative weight": (
        {"t": ["a", "a"], "p": ["a", "a"], "w": [2.0, -1.0]},
        WEIGHTS,
        InputError,
        "column 'w': weights cannot be negative, got -1.0.",
    ),
    "no weight": ({"t": [1, 1], "p": [1, 1], "w": [1.0, None]}, WEIGHTS, InputError, FINITE),
    "nan weight": (
        {"t": [1, 1], "p": [1, 1], "w": pa.array([1.0, NAN])},
        WEIGHTS,
        InputError,
        FINITE,
    ),
    "infinite weight": ({"t": [1], "p": [1], "w": [float("inf")]}, WEIGHTS, InputError, FINITE),
    "heavy": (
        {"t": [1, 1], "p": [1, 1], "w": [1e300, 1.0]},
        WEIGHTS,
        InputError,
        "column 'w': weights as large as 1e+300 cannot be squared and added up.",
    ),
    "dates": (
        {"t": pa.array([1, 2], pa.timestamp("us")), "p": [1, 1]},
        LABELS,
        InputTypeError,
        "column 't': expected text or numbers as labels, got dates or times (a column of type",
    ),
    "identifiers": (
        {"t": [0] * 4097, "p": list(range(0, 3 * 4097, 3))},
        LABELS,
        InputError,
        "column 'p': 4097 different labels are too many to tabulate",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_found_by_the_engine(frame, case):
    columns, options, kind, message = BAD[case]
    with pytest.raises(kind) as caught:
        Confusion.from_frame(frame(columns), **options)
    assert str(caught.value).startswith(message)


ARRAYS = {
    name: (columns, options)
    for name, (columns, options, _, _) in BAD.items()
    if name not in {"no column", "empty", "text as weight"}
}


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays_with_the_same_fault_raise_the_same_kind_of_error(case):
    columns, options = ARRAYS[case]
    table = pa.table(columns).to_pandas()
    weight = table.get("w")
    kind = BAD[case][2]
    with pytest.raises(kind) as caught:
        Confusion.from_labels(
            table["t"], table["p"], labels=options.get("labels"), sample_weight=weight
        )
    remedy = "Leave out the examples that have no label, or give them one."
    assert (remedy in str(caught.value)) == (BAD[case][3] == MISSING)


def test_lists_are_no_labels(frame):
    table = frame({"t": [[0.5, 0.5], [0.1, 0.9]], "p": [0, 1]})
    if "dask" in type(table).__module__:
        pytest.skip("Dask makes text of lists before anyone asks")
    with pytest.raises(InputTypeError, match=r"'t'.*: expected (text|one label)"):
        Confusion.from_frame(table, actual="t", predicted="p")


def test_missing_scores_are_counted(lazy):
    table = lazy({"t": [0, 1, 1], "s": pa.array([0.5, NAN, None])})
    with pytest.raises(InputError, match="column 's': expected numbers, 2 rows have no score"):
        ScoreCounts.from_frame(table, actual="t", score="s")


def test_only_groups_are_collected(lazy, monkeypatch):
    collected = []
    collect = nw.LazyFrame.collect

    def watched(self, *args, **options):
        result = collect(self, *args, **options)
        collected.append((len(result), options))
        return result

    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    table = lazy({"t": [0, 1] * 500, "a": [0, 0, 1, 1] * 250, "g": list(range(4)) * 250})
    assert Confusion.from_frame(table, actual="t", predicted="a").n == 1000
    assert GroupedConfusion.from_frame(table, actual="t", predicted="a", groups="g").n == 1000
    assert [rows for rows, _ in collected] == [4, 4]
    streamed = isinstance(table, pl.LazyFrame)
    assert all(("engine" in options) == streamed for _, options in collected)


def test_too_many_groups_are_not_collected(lazy, monkeypatch):
    monkeypatch.setattr("stakes.counts.engines.MOST_CELLS", 10)
    table = lazy({"t": [0, 1] * 20, "id": list(range(40))})
    with pytest.raises(InputError, match="columns 'id', 't': more than 10 different combinations"):
        Confusion.from_frame(table, actual="t", predicted="id")


@pytest.mark.services
def test_spark_brings_no_rows_to_its_driver(local_spark):
    # The driver of this session accepts no more than a megabyte.
    rows = local_spark.range(0, 2_000_000, numPartitions=2).selectExpr(
        "id", "id % 3 AS t", "id % 7% 3 AS p"
    )
    with pytest.raises(Exception, match="maxResultSize"):
        rows.toArrow()
    counted = Confusion.from_frame(rows, actual="t", predicted="p")
    ids = np.arange(2_000_000)
    assert counted == Confusion.from_labels(ids % 3, ids % 7 % 3)


def damaged(folder):
    """Write a folder of files, one of which has lost its end."""
    rng = np.random.default_rng(0)
    for number in range(4):
        columns = {name: rng.integers(0, 3, 5000) for name in ("t", "p")}
        pl.DataFrame(columns).write_parquet(folder / f"part-{number}.parquet")
    file = folder / "part-2.parquet"
    file.write_bytes(file.read_bytes()[:2000])


SCANS = {
    "polars lazy": lambda folder, _: pl.scan_parquet(folder / "*.parquet"),
    "duckdb": lambda folder, _: __import__("duckdb").read_parquet(str(folder / "*.parquet")),
    "spark": lambda folder, spark: spark().read.parquet(str(folder)),
    "dask": lambda folder, _: __import__("dask.dataframe").dataframe.read_parquet(str(folder)),
}


@pytest.mark.parametrize("name", [each if each != "spark" else SPARK for each in SCANS])
def test_a_truncated_file_gives_no_total(name, request, tmp_path):
    damaged(tmp_path)
    table = SCANS[name](tmp_path, lambda: request.getfixturevalue("local_spark"))
    part = "The partition 2 of 4 cannot be read" if name == "dask" else "part-2.parquet"
    with pytest.raises(EngineError, match=rf"frame: \w+ failed, so nothing was counted: .*{part}"):
        Confusion.from_frame(table, actual="t", predicted="p")
