"""Spark, DuckDB, Dask and Ibis draw the same rows to label as in memory."""

import numpy as np
import pyarrow as pa
import pytest

from stakes import CostMatrix, Pool

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # of py4j
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated"),  # ibis
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame"),  # Dask
]
COSTS = CostMatrix.from_errors(false_positive=5, false_negative=1, pos_label="bad", neg_label="ok")
ROWS = 3000


def table():
    rng = np.random.default_rng(6)
    score = rng.beta(0.3, 6, ROWS)
    return pa.table(
        {
            "id": rng.permutation(ROWS).astype(np.int64) * 7_919_000_001,
            "key": [f"ü{k}" for k in range(ROWS)],
            "score": score,
            "decided": np.where(score > 0.1, "bad", "ok"),
            "judge": (rng.random(ROWS) < 0.1).astype(int),
            "amount": rng.lognormal(2, 1, ROWS).round(2),
        }
    )


def frame_of(engine, request):
    rows = table()
    if engine == "spark":
        return request.getfixturevalue("local_spark").createDataFrame(rows.to_pandas())
    if engine == "duckdb":
        return pytest.importorskip("duckdb").connect().from_arrow(rows)
    if engine == "ibis":
        return pytest.importorskip("ibis").memtable(rows)
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(rows.to_pandas(), npartitions=3)


@pytest.mark.parametrize("key", ["id", "key"])
@pytest.mark.parametrize(
    "engine", ["duckdb", "dask", "ibis", pytest.param("spark", marks=pytest.mark.services)]
)
def test_the_same_rows(engine, key, request):
    names = {"decision": "decided", "score": "score", "judge": "judge", "amount": "amount"}
    options = {"n_labels": 120, "pos_label": "bad", "rng": 3}
    expected = Pool.from_frame(table(), id=key, **names).plan(COSTS, **options)
    found = Pool.from_frame(frame_of(engine, request), id=key, **names).plan(COSTS, **options)
    assert found.strata == expected.strata
    assert found.manifest() == expected.manifest()
