"""Checks that hold for every public callable, whatever it does.

A new public name is checked without a test of its own. Where no arguments can be made for it,
`tests/_helpers/public_names.py` asks for an entry in its registry.
"""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers import public_names as names

import stakes
from stakes.errors import StakesError

matplotlib = pytest.importorskip("matplotlib")

ELSEWHERE = {"ExampleCosts.of", "write_report", "CostDistribution", *names.REFUSING}
"""What is tested by itself: it needs a study, or refuses always."""

SLOW = {"compare_learners", "CostSensitivityDisplay.from_labels"}
LEFT_OUT = {"study_of"}
"""Whose own tests check its arguments."""

PARAMETERS_OF_LEARNERS = {"X", "estimator", "estimator_1", "estimator_2"}
"""scikit-learn's to check, and to name."""

CONTAINERS = {
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(values.tolist()),
    "pandas": pd.Series,
    "nullable": lambda values: pd.Series(
        values, dtype="Int64" if values.dtype.kind == "i" else "Float64"
    ),
    "categorical": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "arrow": pa.array,
    "chunks": lambda values: pa.chunked_array([values[:7], values[7:]]),
    "object": lambda values: values.astype(object),
    "narrow": lambda values: values.astype(np.int8 if values.dtype.kind == "i" else np.float64),
}

BAD = {
    "none": lambda: None,
    "text": lambda: "no such thing",
    "negative": lambda: -1,
    "infinite": lambda: float("inf"),
    "nan": lambda: float("nan"),
    "enormous": lambda: 10**30,
    "empty": list,
    "many nan": lambda: [float("nan")] * names.N,
    "object": object,
    "mapping": dict,
    "two-dimensional": lambda: [[1, 2], [3, 4]],
    "objects": lambda: np.array([object()] * names.N),
    "nullable": lambda: pd.Series([1, None] * (names.N // 2), dtype="Int64"),
    "ragged": lambda: [[1], [2, 3]],
    "missing": lambda: pd.NA,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return every public callable with its arguments, and a result of each kind."""
    matplotlib.use("Agg")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("files"))
        names.COSTS.write("costs.csv")
        single, paired = stakes.Accumulator(names.COSTS), stakes.PairedAccumulator(names.COSTS)
        single.update(names.Y, names.PRED_1)
        single.save("totals.json")
        paired.update(names.Y, names.PRED_1, names.PRED_2)
        paired.save("paired.json")
        yield names.prepared()
        matplotlib.pyplot.close("all")


def test_arguments_can_be_made_for_every_public_callable(world):
    _, _, left = world
    assert set(left) <= ELSEWHERE, {name: str(left[name]) for name in set(left) - ELSEWHERE}


def ready(world):
    cases, _, left = world
    return {name: case for name, case in cases.items() if name not in left and name not in SLOW}


def has_nan(value, depth=4):
    if isinstance(value, float):
        return value != value  # noqa: PLR0124 - NaN does not equal itself
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    if isinstance(value, list | tuple) and depth:
        return any(has_nan(each, depth - 1) for each in value[:20])
    if isinstance(value, dict) and depth:
        return any(has_nan(each, depth - 1) for each in value.values())
    if names.is_dataclass(value) and not isinstance(value, type) and depth:
        held = [getattr(value, each.name, None) for each in names.fields(value)]
        return any(has_nan(each, depth - 1) for each in held)
    return False


def complaint(case, pool, parameter, bad, usual):
    """Return what is wrong with how a callable took a bad argument."""
    try:
        result = names.called(case, pool, **{parameter.name: bad})
    except StakesError:
        return ""
    except (TypeError, ValueError) as error:
        named = parameter.name in str(error) or parameter.name in PARAMETERS_OF_LEARNERS
        return "" if named else f"does not name it: {type(error).__name__}: {error}"
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {error}"
    return "NaN in the result" if has_nan(result) and not usual else ""


def test_bad_arguments_are_named(world):
    _, pool, _ = world
    found = []
    rng = np.random.default_rng(0)
    for name, case in ready(world).items():
        if name in LEFT_OUT:
            continue
        usual = has_nan(names.called(case, pool))
        for parameter in case.parameters:
            kinds = [kind for kind in BAD if kind != "none" or parameter.default is not None]
            # A few of them each time keep this short; together they are all.
            for kind in rng.choice(kinds, 5, replace=False):
                wrong = complaint(case, pool, parameter, BAD[kind](), usual)
                if wrong:
                    found.append(f"{name}({parameter.name}={kind}): {wrong[:150]}")
        matplotlib.pyplot.close("all")
    assert not found, "\n".join(found)


def plain(value):
    """Return what a result holds, to be compared."""
    if hasattr(value, "to_dict"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return repr(value.to_dict())
    return repr(value)


def test_containers_and_dtypes_give_equal_results(world):
    _, pool, _ = world
    found = []
    for name, case in ready(world).items():
        rows = [each for each in case.kwargs if each in names.ROWS]
        if not rows or name in LEFT_OUT or "Display" in name:
            continue
        if any(isinstance(case.kwargs[each], dict) for each in rows):
            continue
        expected = plain(names.called(case, pool))
        for kind, make in CONTAINERS.items():
            changed = {
                each: make(np.asarray(case.kwargs[each]))
                for each in rows
                if kind != "categorical" or not each.startswith("y_score")
            }
            if expected != plain(names.called(case, pool, **changed)):
                found.append(f"{name}: {kind}")
    assert not found, "\n".join(found)


def test_results_are_equal_to_their_copies(world):
    _, pool, _ = world
    found = []
    for kind, value in pool.items():
        if kind in {"Study", "CostDistribution"} or kind.endswith(("Display", "Accumulator")):
            continue
        copies = (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)))  # noqa: S301
        if names.is_dataclass(value) and any(not made == value for made in copies):  # noqa: SIM201
            found.append(kind)
    assert found == []


def test_calls_from_several_threads_give_equal_results(world):
    chosen = [
        case
        for name, case in ready(world).items()
        if not case.owner and case.kwargs and not isinstance(case.call, type) and "." not in name
        if name not in LEFT_OUT
    ]

    def result(case):
        return plain(case.call(**case.kwargs))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [result(case) for case in chosen]
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(result, chosen)) == expected
