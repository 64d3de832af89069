"""Checks that hold for every public callable, whatever it does.

A new public name is checked without a test of its own: how it is called is taken from the example
in its docstring.
"""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers import public_names

from stakes._core.values import Result
from stakes.errors import StakesError

matplotlib = pytest.importorskip("matplotlib")

ROWS = {"y_true", "y_pred", "y_pred_1", "y_pred_2", "y_score", "y_score_1", "y_score_2"}
"""Arguments that are a column of rows, in any container."""

LEARNERS = {"X", "y", "estimator", "estimator_1", "estimator_2"}
"""scikit-learn's to check, and to name."""

SLOW = 0.03
"""Seconds from which on a callable is given one kind of bad argument only, and one container."""

CONTAINERS = {
    "tuple": lambda values: tuple(values.tolist()),
    "array": lambda values: values,
    "pandas": pd.Series,
    "nullable": lambda values: pd.Series(
        values, dtype={"i": "Int64", "f": "Float64", "b": "boolean"}.get(values.dtype.kind)
    ),
    "categorical": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "arrow": pa.array,
    "chunks": lambda values: pa.chunked_array([values[:2], values[2:]]),
    "object": lambda values: values.astype(object),
    "narrow": lambda values: values.astype(np.int8) if values.dtype.kind == "i" else values,
}

BAD = {
    "none": lambda: None,
    "text": lambda: "no such thing",
    "negative": lambda: -1,
    "infinite": lambda: float("inf"),
    "nan": lambda: float("nan"),
    "enormous": lambda: 10**30,
    "empty": list,
    "many nan": lambda: [float("nan")] * 20,
    "object": object,
    "mapping": dict,
    "two-dimensional": lambda: [[1, 2], [3, 4]],
    "objects": lambda: np.array([object()] * 20),
    "nullable": lambda: pd.Series([1, None] * 10, dtype="Int64"),
    "categorical": lambda: pd.Series(["a", "b"] * 10, dtype="category"),
    "negatives": lambda: np.full(20, -1.0),
    "ragged": lambda: [[1], [2, 3]],
    "missing": lambda: pd.NA,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return every public callable with its arguments, and a result of each class."""
    matplotlib.use("Agg")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("files"))
        yield public_names.prepared()
    matplotlib.pyplot.close("all")


@pytest.fixture
def cases(world):
    """Return the callables that can be called quickly."""
    long = public_names.LONG
    return {k: case for k, case in world[0].items() if case.given is not None and k not in long}


REFUSING = {"BestCurve.band", "BestCurve.moments"}
"""What inherited methods refuse whatever they are given, and say why."""


def test_examples_show_how_every_public_name_is_called(world):
    known = REFUSING | public_names.LONG
    lacking = {name for name, case in world[0].items() if case.given is None} - known
    assert lacking == set(), "Add a runnable example of a call to the docstrings of these."


def has_nan(value, depth=4):
    """Tell whether a result holds NaN somewhere."""
    if isinstance(value, float):
        return value != value  # noqa: PLR0124 - NaN does not equal itself
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    held = []
    if isinstance(value, list | tuple):
        held = value[:20]
    elif isinstance(value, dict):
        held = value.values()
    elif is_dataclass(value) and not isinstance(value, type):
        held = [getattr(value, each.name, None) for each in fields(value)]
    return bool(depth) and any(has_nan(each, depth - 1) for each in held)


def complaint(case, parameter, bad):
    """Return what is wrong with how a callable took a bad argument."""
    try:
        result = case.called(**{parameter.name: bad})
    except StakesError:
        return ""
    except (TypeError, ValueError) as error:
        named = parameter.name in str(error) or parameter.name in LEARNERS
        return "" if named else f"does not name it: {type(error).__name__}: {error}"
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {error}"
    return "NaN in the result" if has_nan(result) else ""


def complaints(cases, every):
    """Iterate over bad arguments that were not refused by name; `every`-th kind for each."""
    turn = 0
    for name, case in cases.items():
        for parameter in case.parameters:
            kinds = [kind for kind in BAD if kind != "none" or parameter.default is not None]
            turn += 1
            some = kinds[turn % every :: every]
            if case.seconds > SLOW and every > 1:
                some = some[:1]
            for kind in some:
                wrong = complaint(case, parameter, BAD[kind]())
                if wrong:
                    yield f"{name}({parameter.name}={kind}): {wrong[:150]}"
        matplotlib.pyplot.close("all")


def test_results_hold_no_nan(cases):
    assert [name for name, case in cases.items() if has_nan(case.result)] == []


def test_bad_arguments_are_named(cases):
    found = list(complaints(cases, every=4))
    assert not found, "\n".join(found)


@pytest.mark.statistical
def test_all_bad_arguments_are_named(cases):
    found = list(complaints(cases, every=1))
    assert not found, "\n".join(found)


def same(one, other):
    """Tell whether two results are equal; what has no equality is compared as it is shown."""
    return one == other if is_dataclass(one) else repr(one) == repr(other)


def test_containers_and_dtypes_give_equal_results(cases):
    found = []
    for name, case in cases.items():
        given = {each: value for each, value in case.given.items() if value is not None}
        rows = {each: np.asarray(given[each]) for each in ROWS & set(given)}
        if not rows or "Display" in name or any(each.ndim != 1 for each in rows.values()):
            continue
        expected = case.called()
        kinds = ["pandas"] if case.seconds > SLOW else CONTAINERS
        for kind in kinds:
            changed = {
                each: CONTAINERS[kind](values)
                for each, values in rows.items()
                if kind != "categorical" or not each.startswith("y_score")
            }
            if not same(expected, case.called(**changed)):
                found.append(f"{name}: {kind}")
    assert not found, "\n".join(found)


def test_results_are_tables_in_a_notebook(world):
    """Every result that a public call returns is shown as a table, or as a picture."""
    results = {type(case.result): case.result for case in world[0].values()} | world[1]
    ours = {kind: value for kind, value in results.items() if isinstance(value, Result)}
    assert len(ours) > 40
    lacking = [kind.__name__ for kind, value in ours.items() if "<t" not in value._repr_html_()]
    assert lacking == []


def test_results_are_equal_to_their_copies(world):
    found = []
    results = [world[1][kind] for kind in world[1] if kind in {c.call for c in world[0].values()}]
    for value in filter(is_dataclass, results):
        copies = (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)))  # noqa: S301
        if any(not made == value for made in copies):  # noqa: SIM201 - equality is what is tested
            found.append(type(value).__name__)
    assert found == []


def test_calls_from_several_threads_give_equal_results(cases):
    chosen = [
        case
        for case in cases.values()
        if not case.owner and case.seconds < SLOW and "Display" not in case.name
    ]

    def result(case):
        return case.call(**case.given)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [result(case) for case in chosen]
        with ThreadPoolExecutor(4) as threads:
            assert all(map(same, expected, threads.map(result, chosen)))


def test_public_functions_can_be_sent_to_other_processes(cases):
    for case in cases.values():
        if case.owner is None:
            assert pickle.loads(pickle.dumps(case.call)) == case.call  # noqa: S301
