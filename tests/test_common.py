"""Checks of properties that every public callable must have.

A new public name is checked without a test of its own: its arguments are taken from the example in
its docstring.
"""

import copy
import json
import pickle
import re
import warnings
from collections import namedtuple
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, MutableSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers import public_names

from stakes import CostSample, Design, Ranking
from stakes._core.values import PROBABILITIES, Result, json_values
from stakes.errors import InputError, StakesError

matplotlib = pytest.importorskip("matplotlib")

ROWS = {"y_true", "y_pred", "y_pred_1", "y_pred_2", "y_score", "y_score_1", "y_score_2"}
"""Arguments that are a column of rows, in any container."""

DESIGN = {
    "groups": lambda n: np.arange(n) // 2,
    "strata": lambda n: np.arange(n) % 2,
    "sample_weight": lambda n: np.where(np.arange(n) % 3, 2.0, 1.0),
}
"""Columns of the sampling design, for callables whose examples have none."""

AMOUNTS = {"factor", "values", "times"}
"""Arguments that are a column of numbers, such as the costs of single rows."""

LEARNERS = {"X", "y", "estimator", "estimator_1", "estimator_2"}
"""Arguments that scikit-learn names and checks."""

SLOW = 0.03
"""Seconds. A slower callable is tested with only one kind of bad argument and one container."""


def narrowest(values):
    """Return the smallest type with a sign for whole numbers; of others, their own type."""
    kinds = [np.int8, np.int16] if values.dtype.kind == "i" else []
    fits = (each for each in kinds if abs(values).max() <= np.iinfo(each).max)
    return next(fits, values.dtype)


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
    "narrow": lambda values: values.astype(narrowest(values)),
}

NARROW = {
    "single": lambda values: values.astype(np.float32),
    "half": lambda values: values.astype(np.float16),
    "arrow single": lambda values: pa.array(values, pa.float32()),
    "polars single": lambda values: pl.Series(values, dtype=pl.Float32),
    "pandas single": lambda values: pd.Series(values, dtype="Float32"),
}
"""Columns of lower precision, for numbers that are exact in it."""

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
    "no text": str,
    "huge": lambda: 1e300,
    "table": lambda: np.ones((2, 2)),
    "generator": lambda: (each for each in [1, 2]),
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
"""Inherited methods that refuse every call, with a reason."""


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
        named = re.search(rf"\b{parameter.name}\b", str(error)) or parameter.name in LEARNERS
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


def columns_of(case):
    """Return the arguments of a call that are columns, as arrays."""
    given = {name: value for name, value in case.given.items() if value is not None}
    rows = {name: np.asarray(given[name]) for name in ROWS & set(given)}
    if "Display" in case.name or any(each.ndim != 1 for each in rows.values()):
        return {}
    more = {name: np.asarray(given[name]) for name in (AMOUNTS | set(DESIGN)) & set(given)}
    return rows | {
        name: each for name, each in more.items() if each.ndim == 1 and each.dtype.kind != "O"
    }


def designs_of(case, columns):
    """Iterate over columns that say how the rows of a call may have been sampled, one by one."""
    n = max((len(columns[name]) for name in ROWS & set(columns)), default=0)
    for name in DESIGN if n else ():
        if name not in columns and name in {each.name for each in case.parameters}:
            yield {name: DESIGN[name](n)}


def whole(result):
    """Return a result, or all that it iterates over, which can be compared more than once."""
    return list(result) if isinstance(result, Iterator) else result


def tried(case, columns):
    """Return the result of a call with some columns; nothing where they do not suit each other."""
    try:
        return whole(case.called(**columns))
    except StakesError:  # for example, too few rows
        return None


def different(case, columns, changed, kinds):
    """Iterate over the kinds of columns that give another result."""
    expected = tried(case, columns)
    for kind, make in kinds.items() if expected is not None else ():
        made = {
            name: make(values)
            for name, values in changed.items()
            if kind != "categorical" or not name.startswith(NUMBERS)
        }
        try:
            if not same(expected, whole(case.called(**columns | made))):
                yield f"{case.name}({', '.join(made)}): {kind}"
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            yield f"{case.name}({', '.join(made)}): {kind}: {type(error).__name__}: {error}"


NUMBERS = ("y_score", "sample_weight", *AMOUNTS)


def test_containers_and_dtypes_give_equal_results(cases):
    found, sampled = [], set()
    for case in cases.values():
        columns = columns_of(case)
        if not columns:
            continue
        kinds = {"pandas": pd.Series} if case.seconds > SLOW else CONTAINERS
        found += different(case, {}, columns, kinds)
        for design in designs_of(case, columns):
            sampled |= {(case.name, name) for name in design if tried(case, design) is not None}
            found += different(case, design, design, kinds)
    assert not found, "\n".join(found)
    assert len(sampled) > 40


def test_numbers_of_less_precision_give_equal_results(cases):
    """What is exact in 32 or 16 bits is computed with as if it had come in 64."""
    found, callables = [], set()
    for case in cases.values():
        columns = columns_of(case)
        floats = {name: each for name, each in columns.items() if each.dtype.kind == "f"}
        floats |= {name: each for name, each in columns.items() if name in AMOUNTS}
        exact = {name: np.round(each.astype(float) * 64) / 64 for name, each in floats.items()}
        for design in designs_of(case, columns):
            exact |= {name: each for name, each in design.items() if name == "sample_weight"}
        if exact:
            callables.add(case.name)
            kinds = {"single": NARROW["single"]} if case.seconds > SLOW else NARROW
            found += different(case, exact, exact, kinds)
    assert not found, "\n".join(found)
    assert len(callables) > 25


def test_results_are_tables_in_a_notebook(world):
    """Every result that a public call returns is shown as a table, or as a picture."""
    results = {type(case.result): case.result for case in world[0].values()} | world[1]
    ours = {kind: value for kind, value in results.items() if isinstance(value, Result)}
    assert len(ours) > 40
    lacking = [kind.__name__ for kind, value in ours.items() if "<t" not in value._repr_html_()]
    assert lacking == []


def test_results_become_strict_json(world):
    results = [case.result for case in world[0].values()] + [*world[1].values()]
    given = {type(each): each for each in results if hasattr(each, "to_dict")}
    ours = [each for kind, each in given.items() if kind.__module__.startswith("stakes")]
    assert len(ours) > 40
    for each in ours:
        json.dumps(each.to_dict(), allow_nan=False)


def test_infinite_numbers_become_text_wherever_they_are():
    limits = namedtuple("Limits", "low high")  # noqa: PYI024 - the type of some results
    inf = float("inf")
    given = {"a": limits(0.0, inf), "b": [limits(1.0, [-inf])], inf: {-inf: 1, 2.5: (3, inf)}}
    found = json_values(given)
    assert found == {
        "a": (0.0, "inf"),
        "b": [(1.0, ["-inf"])],
        "inf": {"-inf": 1, 2.5: (3, "inf")},
    }
    assert "Infinity" not in json.dumps(found, allow_nan=False)


def test_results_are_equal_to_their_copies(world):
    """All that examples make inside, too; only what is of no use outside may equal itself alone."""
    ours = {k: value for k, value in world[1].items() if k.__module__.startswith("stakes.")}
    public = {case.call for case in world[0].values()}
    found = []
    for kind, value in ours.items():
        if not is_dataclass(value):
            continue
        copies = (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)))  # noqa: S301
        alone = (
            kind.__eq__ is object.__eq__ and kind not in public and not isinstance(value, Result)
        )
        if any((made == value) is not (not alone) for made in copies):
            found.append(kind.__name__)
    assert found == []


def changeable(held, depth=3):
    """Tell whether a value that a result holds can be changed in place."""
    if isinstance(held, np.ndarray):
        return held.size > 0 and held.flags.writeable
    if isinstance(held, Mapping | tuple):
        inner = held.values() if isinstance(held, Mapping) else held
        mutable = isinstance(held, MutableMapping) and bool(held)
        return mutable or (depth > 0 and any(changeable(each, depth - 1) for each in inner))
    return isinstance(held, MutableSequence | MutableSet) and bool(held)


def attribute(result, name):
    """Return an attribute of a result; None where it does not exist for this one."""
    try:
        return getattr(result, name)
    except (AttributeError, StakesError):
        return None


def test_results_cannot_be_changed(world):
    """What an attribute holds is read-only, or made anew at each access."""
    public = {case.call for case in world[0].values()}
    given = {type(case.result): case.result for case in world[0].values()} | world[1]
    results = [
        each
        for kind, each in given.items()
        if is_dataclass(kind) and (issubclass(kind, Result) or kind in public)
    ]
    found = []
    for result in results:
        for name in dir(result):
            held = None if name.startswith("_") else attribute(result, name)
            if changeable(held) and attribute(result, name) is held:
                found.append(f"{type(result).__name__}.{name}")
        with pytest.raises(AttributeError):
            setattr(result, fields(result)[0].name, None)
    assert len(results) > 80
    assert found == []


def unfit(field, value):
    """Return values that a field of a result cannot have, whatever the other fields are."""
    found = [] if re.search("Any|Label|Hashable", str(field.type)) else [object()]
    if str(field.type).startswith(("float", "int")):
        found += [float("nan"), "much", [1, 2]]
    if str(field.type).startswith("tuple[str"):
        found += [(1, object())]
    if isinstance(value, float) and field.name in PROBABILITIES:
        found += [-0.1, 1.1]
    return found


def test_results_that_are_made_by_hand_check_their_fields(world):
    """All that is public has a public constructor, even what only methods are meant to make."""
    public = {case.call for case in world[0].values()}
    given = {type(case.result): case.result for case in world[0].values()} | world[1]
    results = [each for kind, each in given.items() if kind in public and issubclass(kind, Result)]
    taken, tried = [], 0
    for result in results:
        changes = [
            (each.name, bad)
            for each in fields(result)
            if each.init
            for bad in unfit(each, getattr(result, each.name))
        ]
        names = {each.name for each in fields(result)}
        limits = names & {"low", "difference_low", "change_low", "running_low"}
        far = np.nextafter(np.inf, 0)  # above every upper limit
        changes += [(low, far) for low in limits if isinstance(getattr(result, low), float)]
        for name, bad in changes:
            tried += 1
            try:
                replace(result, **{name: bad})
            except (InputError, TypeError) as error:
                named = re.search(rf"\b{name}\b", str(error))
                taken += [] if named else [f"{type(result).__name__}({name}): {error}"]
            else:
                taken.append(f"{type(result).__name__}({name}={bad!r}) is taken")
    assert taken == []
    assert tried > 400


def test_comparisons_cannot_lose_a_pair(world):
    joint = world[1][Ranking].tables
    given = {pair: joint.pair(*pair) for pair in combinations(joint.names, 2)}
    ranking = Ranking(dict(given), world[1][Ranking].costs)
    with pytest.raises(AttributeError):
        ranking.tables.clear()
    made = Ranking(given, ranking.costs)
    given.clear()
    assert made.summary() == ranking.summary() == world[1][Ranking].summary()
    assert len({ranking, made, pickle.loads(pickle.dumps(made))}) == 1  # noqa: S301


def test_designs_do_not_change_with_what_they_were_made_from():
    priors, population, listed = {0: 0.9, 1: 0.1}, {"a": 10, "b": 90}, [0.9, 0.1]
    designs = Design(priors, population=population), Design(listed)
    expected = copy.deepcopy(designs)
    for given in (priors, population, listed):
        given.clear()
    assert designs == expected == pickle.loads(pickle.dumps(designs))  # noqa: S301
    with pytest.raises(TypeError):
        designs[0].population["a"] = 1
    sample = CostSample([1, 2], strata=["a", "b"], bounds={"a": (0, 3), "b": (0, 4)}).swapped()
    with pytest.raises(TypeError):
        sample.bounds["a"] = (0, 0)


def test_calls_from_several_threads_give_equal_results(cases):
    """Functions, and methods of one result: what it keeps for the next call is made by several."""
    calls, expected = [], []
    for case in cases.values():
        if "Display" in case.name or "path" in case.given:
            continue
        given = dict(case.given)
        own = [given.pop("self")] if case.owner else []
        if own and not is_dataclass(own[0]):  # a call may change it
            continue
        own = [pickle.loads(pickle.dumps(each)) for each in own]  # noqa: S301 - has kept nothing
        made = tried(case, {})
        if made is not None:
            expected.append(made)
            calls.append((case.name, case.call, own, given))

    def result(numbered):
        _, call, own, given = calls[numbered]
        return whole(call(*own, **given))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        turns = [number for number in range(len(calls)) for _ in range(4)]
        with ThreadPoolExecutor(4) as threads:
            made = list(threads.map(result, turns))
    pairs = zip(turns, made, strict=True)
    assert {calls[turn][0] for turn, each in pairs if not same(expected[turn], each)} == set()
    assert sum(bool(own) for _, _, own, _ in calls) > 100


def test_public_functions_can_be_sent_to_other_processes(cases):
    for case in cases.values():
        if case.owner is None:
            assert pickle.loads(pickle.dumps(case.call)) == case.call  # noqa: S301
