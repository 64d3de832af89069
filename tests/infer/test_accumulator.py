import json
import subprocess
import sys
from functools import reduce
from itertools import combinations, pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import (
    Accumulator,
    Confusion,
    CostDifference,
    CostEstimate,
    CostMatrix,
    ExampleCosts,
    GroupedConfusion,
    PairedAccumulator,
    PairedConfusion,
    compare,
    evaluate,
)
from stakes.errors import DesignError, FileError, InputError, InputTypeError, LabelError
from stakes.infer import ExampleAccumulator, Interval

COSTS = CostMatrix(
    [[0, 100], [10, 1], [4, 4]],
    rows="predicted",
    labels=["ok", "fraud"],
    decisions=["ok", "fraud", "ask"],
)


def outcomes(n, seed, models=1):
    rng = np.random.default_rng(seed)
    actual = rng.choice(["ok", "fraud"], n, p=[0.9, 0.1])
    decided = [rng.choice(["ok", "fraud", "ask"], n, p=[0.8, 0.15, 0.05]) for _ in range(models)]
    return [actual, *decided]


def filled(kind=Accumulator, n=200, seed=0, **settings):
    running = kind(COSTS, **settings)
    running.update(*outcomes(n, seed, 1 if kind is Accumulator else 2))
    return running


@given(st.integers(0, 99), st.lists(st.integers(0, 80), max_size=5), st.booleans())
def test_batches_are_the_whole_however_they_are_cut(seed, cuts, paired):
    kind = PairedAccumulator if paired else Accumulator
    columns = outcomes(80, seed, 2 if paired else 1)
    running = kind(COSTS)
    for a, b in pairwise([0, *sorted(cuts), 80]):
        running.update(*(column[a:b] for column in columns))
    whole = (compare if paired else evaluate)(*columns, COSTS)
    assert running.estimate() == whole
    assert running.interval() == whole.interval(method="anytime")
    assert running.n == 80


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data(), st.booleans())
def test_merging_is_associative_and_free_of_order(seeds, data, paired):
    kind = PairedAccumulator if paired else Accumulator
    parts = [filled(kind, n=seed, seed=seed) for seed in seeds]
    total = sum(parts)
    again = data.draw(st.permutations(parts))
    cut = data.draw(st.integers(0, len(again)))
    halves = [reduce(add, half, kind(COSTS)) for half in (again[:cut], again[cut:])]
    assert halves[0] + halves[1] == total == halves[1] + halves[0]
    assert total.n == sum(seeds)
    assert total.interval() == (halves[0] + halves[1]).interval()


def test_merging_changes_neither_part():
    one, other = filled(seed=1), filled(seed=2)
    before = one.n, other.n, one.cost, other.cost
    total = one + other
    total.update(["ok"], ["fraud"])
    assert (one.n, other.n, one.cost, other.cost) == before
    assert total.n == 401


def test_what_it_knows_of_a_stream():
    running = filled(unit="USD")
    estimate = running.estimate()
    assert isinstance(estimate, CostEstimate)
    assert (running.cost, running.total) == (estimate.cost, estimate.total)
    assert running.counts == estimate.confusion
    low, high = running.interval(0.9)
    assert low < running.cost < high
    assert repr(running) == f"Accumulator(n=200, cost={running.cost:.6g})"
    said = running.summary(0.9)
    assert said.startswith("200 decisions cost ")
    assert "USD each" in said
    assert "90% confidence" in said


def test_before_the_first_outcome():
    running = Accumulator(COSTS)
    assert running.n == 0
    assert list(running.interval()) == [0, 100]
    running.update([], [])
    running.update(np.array([], dtype=object), np.array([], dtype=object))
    assert (running.n, running.summary()) == (0, "No outcomes yet.")
    assert repr(running) == "Accumulator(n=0)"
    for ask in ("cost", "total", "counts"):
        with pytest.raises(InputError, match=r"no outcomes yet.*Call update"):
            getattr(running, ask)
    with pytest.raises(InputError, match="confidence"):
        running.interval(1.5)
    paired = PairedAccumulator(COSTS)
    assert list(paired.interval()) == [-99, 99]  # costs of 100 against 1, if the class is fraud
    assert (paired.cheaper(), paired.summary()) == (None, "No outcomes yet.")


def test_two_classifiers():
    running = filled(PairedAccumulator, names=("old", "new"), unit="USD")
    difference = running.estimate()
    assert isinstance(difference, CostDifference)
    assert running.difference == difference.difference
    assert difference.names == ("old", "new")
    assert running.cheaper() is None
    assert "not decided yet" in running.summary()
    actual, decided = outcomes(2000, 3)
    running.update(actual, decided, actual)
    assert running.cheaper() == "new"
    assert running.summary().startswith("old costs ")
    assert "USD more per decision than new over 2,200 decisions" in running.summary()
    assert "new is cheaper" in running.summary()
    turned = PairedAccumulator(COSTS, names=("new", "old"))
    turned.update(actual, actual, decided)
    assert turned.cheaper() == "new"
    assert "less per decision" in turned.summary()
    low, high = turned.interval()
    assert low < turned.difference < high < 0


def test_impossible_cells_narrow_the_interval():
    running = Accumulator(COSTS, impossible=[("ok", "fraud")])
    assert list(running.interval()) == [0, 10]
    running.update(["ok"] * 9, ["ok"] * 8 + ["fraud"])
    wide = Accumulator(COSTS)
    wide.update(["ok"] * 9, ["ok"] * 8 + ["fraud"])
    assert running.interval().high < wide.interval().high
    with pytest.raises(InputError, match="called impossible, but was observed 1 times"):
        running.update(["fraud"], ["ok"])
    assert running.n == 9
    with pytest.raises(LabelError, match="impossible: expected pairs"):
        Accumulator(COSTS, impossible=[("ok", "theft")])
    every = [(decision, label) for decision in COSTS.decisions for label in COSTS.labels]
    with pytest.raises(InputError, match="impossible: expected some cells only"):
        Accumulator(COSTS, impossible=every)


def test_counts_of_engines_find_their_place():
    running = filled()
    one = running.counts
    flipped = Confusion(one.counts[::-1, ::-1], ["fraud", "ok"], decisions=["ask", "fraud", "ok"])
    running.add(flipped)
    assert (running.counts.counts == 2 * one.counts).all()
    running.add(Confusion([[7]], ["ok"]))  # a part with one class only
    assert running.counts.counts[0, 0] == 2 * one.counts[0, 0] + 7


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda r: r.update(["ok", "theft"], ["ok", "ok"]), LabelError, "y_true.*'theft'"),
        (lambda r: r.update(["ok"], ["theft"]), LabelError, "y_pred.*'theft'"),
        (lambda r: r.update(["ok", None], ["ok", "ok"]), InputError, "y_true"),
        (lambda r: r.update(["ok"], ["ok", "ok"]), InputError, "y_pred.*2.*y_true.*1"),
        (lambda r: r.update(["ok"], []), InputError, "y_pred: expected at least one example"),
        (lambda r: r.update("ok", "ok"), InputTypeError, "y_pred"),
        (lambda r: r.add([[1, 2]]), InputTypeError, "counts: expected a Confusion, got list"),
        (
            lambda r: r.add(PairedConfusion.from_labels(["ok"], ["ok"], ["ok"])),
            InputTypeError,
            "expected a Confusion, got PairedConfusion",
        ),
        (lambda r: r.add(Confusion([[1, 2], [3, 4]], [0, 1])), LabelError, "0"),
        (
            lambda r: r.add(Confusion.from_labels(["ok"], ["ok"], sample_weight=[2.0])),
            DesignError,
            "all outcomes must have the same of them; those so far have none, these have sample_w",
        ),
        (lambda r: r.add(Confusion([[1.5]], ["ok"])), InputError, "whole outcomes"),
        (lambda r: r + filled(unit="EUR"), InputError, "unit: .*differ in it: '' and 'EUR'"),
        (
            lambda r: r + Accumulator(CostMatrix.zero_one(["ok", "fraud"])),
            InputError,
            "costs: the totals cannot be added up",
        ),
    ],
)
def test_a_batch_with_an_error_changes_nothing(change, error, message):
    running = filled()
    before = running.to_dict()
    with pytest.raises(error, match=message):
        change(running)
    assert running.to_dict() == before


def test_what_cannot_be_made_or_added():
    with pytest.raises(InputTypeError, match="costs: expected a CostMatrix, got list"):
        Accumulator([[0, 1], [1, 0]])
    for names in (("a", "a"), ("a",), "abc"):
        with pytest.raises(InputError, match="names: expected two different names"):
            PairedAccumulator(COSTS, names=names)
    with pytest.raises(TypeError):
        filled() + filled(PairedAccumulator)
    with pytest.raises(InputError, match=r"names: .*differ"):
        PairedAccumulator(COSTS) + PairedAccumulator(COSTS, names=("a", "b"))
    assert filled() != filled(seed=1)
    assert filled() != filled(PairedAccumulator)
    with pytest.raises(TypeError, match="unhashable"):
        hash(filled())


# -- designs

DESIGNS = [
    set(each)
    for size in (1, 2, 3)
    for each in combinations(("groups", "strata", "sample_weight"), size)
]


def sampled(n, seed, design):
    """Return how so many outcomes were drawn; the groups are in all batches."""
    rng = np.random.default_rng(1000 + seed)
    drawn = {
        "groups": rng.integers(0, 30, n),
        "strata": rng.choice(["north", "south"], n),
        "sample_weight": rng.choice([0.5, 1.0, 4.0], n),
    }
    return {name: drawn[name] for name in design}


def in_batches(kind, columns, how, cuts=(0, 70, 75, 200), **settings):
    running = kind(COSTS, **settings)
    for a, b in pairwise(cuts):
        batch = {name: values[a:b] for name, values in how.items()}
        running.update(*(column[a:b] for column in columns), **batch)
    return running


@pytest.mark.parametrize("design", DESIGNS, ids=lambda names: "+".join(sorted(names)))
@pytest.mark.parametrize("kind", [Accumulator, PairedAccumulator])
def test_batches_merges_and_files_of_a_design(kind, design, tmp_path):
    models = 2 if kind is PairedAccumulator else 1
    columns, how = outcomes(200, 5, models), sampled(200, 5, design)
    running = in_batches(kind, columns, how)
    whole = (compare if models == 2 else evaluate)(*columns, COSTS, **how)
    value = "difference" if models == 2 else "cost"
    assert getattr(running, value) == pytest.approx(getattr(whole, value), rel=1e-12)
    one, other = (
        in_batches(kind, [column[part] for column in columns], {k: v[part] for k, v in how.items()})
        for part in (slice(120), slice(120, None))
    )
    merged = one + other
    assert getattr(merged, value) == pytest.approx(getattr(whole, value), rel=1e-12)
    np.testing.assert_allclose(merged.counts.counts, running.counts.counts)
    running.save(tmp_path / "a.json")
    again = kind.load(tmp_path / "a.json")
    assert again == running
    assert again.estimate()._outcomes.design == whole._outcomes.design  # noqa: SLF001
    again.update(*columns, **how)
    assert again.n == pytest.approx(2 * whole.n)
    with pytest.raises(DesignError, match=r"no interval that holds at any time.*estimate\(\)"):
        running.interval()
    with pytest.raises(DesignError, match="all outcomes must have the same of them"):
        running.update(*columns)
    with pytest.raises(DesignError, match="all outcomes must have the same of them"):
        running + filled(kind)


def test_the_estimate_of_a_design_has_the_interval_of_one_look():
    columns, how = outcomes(200, 5), sampled(200, 5, {"groups", "strata"})
    settings = {
        "population": {"north": 0.8, "south": 0.2},
        "class_priors": {"ok": 0.95, "fraud": 0.05},
    }
    running = in_batches(Accumulator, columns, how, **settings)
    whole = evaluate(*columns, COSTS, **how, **settings)
    assert running.cost == pytest.approx(whole.cost, rel=1e-12)
    assert list(running.estimate().interval()) == pytest.approx(list(whole.interval()), rel=1e-9)
    assert "with 95% confidence, if one looks only once)." in running.summary()
    paired = in_batches(PairedAccumulator, outcomes(200, 5, 2), sampled(200, 5, {"groups"}))
    assert paired.summary().endswith("if one looks only once).")
    with pytest.raises(DesignError, match="holds at any time"):
        paired.cheaper()


def test_priors_and_populations_are_saved_and_must_agree(tmp_path):
    settings = {"population": {1: 0.8, 2: 0.2}, "class_priors": [0.95, 0.05]}
    running = Accumulator(COSTS, **settings)
    running.update(*outcomes(60, 1), strata=np.arange(60) % 2 + 1)
    running.save(tmp_path / "a.json")
    again = Accumulator.load(tmp_path / "a.json")
    assert (again, again.cost) == (running, running.cost)
    with pytest.raises(InputError, match=r"population: the totals cannot be added up"):
        running + Accumulator(COSTS, class_priors=[0.95, 0.05])
    with pytest.raises(InputError, match="class_priors"):
        Accumulator(COSTS, class_priors=[0.5, 0.6])
    priors = Accumulator(COSTS, class_priors=[0.95, 0.05])
    assert list(priors.interval()) == [0, 100]
    priors.update(*outcomes(60, 1))
    with pytest.raises(DesignError, match="holds at any time"):
        priors.interval()


def test_impossible_cells_are_refused_in_groups_too():
    running = Accumulator(COSTS, impossible=[("ok", "fraud")])
    running.update(["ok"] * 4, ["ok"] * 4, groups=[1, 1, 1, 1])  # of one group, so far
    with pytest.raises(InputError, match="called impossible, but was observed 1 times"):
        running.update(["fraud"], ["ok"], groups=[2])
    assert running.n == 4
    with pytest.raises(InputTypeError, match="strata: expected the stratum of each example"):
        running.update(["ok"], ["ok"], strata="class")
    paired = GroupedConfusion.from_labels(["ok"], ["ok"], y_pred_2=["ok"], groups=[1])
    with pytest.raises(InputTypeError, match="expected a Confusion, got PairedConfusion of groups"):
        running.add(paired)


# -- files


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [True, False], [0.5, 2.0], ["ü", "\n"]])
def test_a_saved_file_is_read_back(tmp_path, labels):
    costs = CostMatrix([[0, 1 / 3], [1e-7, 0]], rows="predicted", labels=labels)
    running = Accumulator(costs, impossible=[(labels[0], labels[1])], unit="€")
    running.update([labels[0]] * 3 + [labels[1]], [labels[0], labels[1], labels[1], labels[1]])
    running.save(tmp_path / "a.json")
    again = Accumulator.load(tmp_path / "a.json")
    assert again == running
    assert again.interval() == running.interval()
    assert [type(label) for label in again.costs.labels] == [type(label) for label in labels]
    again.update([labels[0]], [labels[0]])
    assert again.n == running.n + 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_two_classifiers_and_no_outcomes_are_saved_too(tmp_path):
    for running in (filled(PairedAccumulator, names=("a", "b")), Accumulator(COSTS)):
        running.save(tmp_path / "a.json")
        assert type(running).load(tmp_path / "a.json") == running
        assert type(running).load(str(tmp_path / "a.json")) == running


def test_a_file_cut_short_anywhere_is_refused(tmp_path):
    path = tmp_path / "a.json"
    filled().save(path)
    text = path.read_text()
    for size in range(len(text.rstrip())):
        path.write_text(text[:size])
        with pytest.raises(FileError, match=r"a\.json.*[Cc]ut short|a\.json"):
            Accumulator.load(path)


def test_any_changed_digit_is_seen(tmp_path):
    path = tmp_path / "a.json"
    filled(unit="USD").save(path)
    text = path.read_text()
    places = [i for i, character in enumerate(text) if character.isdigit()]
    for place in places:
        changed = "7" if text[place] != "7" else "8"
        path.write_text(text[:place] + changed + text[place + 1 :])
        with pytest.raises(FileError, match=r"a\.json"):
            Accumulator.load(path)
    path.write_text(json.dumps(json.loads(text), indent=4))  # other spacing, same content
    assert Accumulator.load(path).n == 200


def edited(**changes):
    from stakes.infer._totals import totals_text

    return totals_text(filled().to_dict() | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1, column 1: not a file of totals, because it is not JSON.*cut short\?"),
        ("[1, 2]", "expected a file of totals, written by Accumulator.save"),
        ('{"schema": "stakes-totals/9"}', "'stakes-totals/1'; its schema is 'stakes-totals/9'"),
        ('{"schema": "stakes-totals/1"}', "the file of totals has no 'checksum'"),
        (edited().replace('"n": 200', '"n": 201'), "changed after it was written.*do not edit it"),
        (edited(n=201), "damaged: expected 201 outcomes, counted 200"),
        (edited(counts=[[1]]), r"damaged: counts: .*shape \(3, 2\)"),
        (edited(counts=[[1, -1], [2, 3], [4, 5]]), "damaged: counts"),
        (edited(kind="PairedAccumulator"), "those of PairedAccumulator. Use PairedAccumulator.loa"),
        (edited(costs=filled().to_dict()["costs"] | {"rows": "x"}), "damaged: rows"),
        (edited(impossible=[["ok", "theft"]]), "damaged: impossible"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "totals.json"
    path.write_text(text)
    with pytest.raises(FileError, match=rf"totals\.json.*{message}"):
        Accumulator.load(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"nope\.json: cannot be read: No such file"):
        Accumulator.load(tmp_path / "nope.json")


KILLING = """
import os, signal, sys, time
from stakes import Accumulator, CostMatrix
path = sys.argv[1]
costs = CostMatrix([[0, 9], [1, 0]], rows="predicted", labels=["no", "yes"])
Accumulator(costs).save(path)
for kill in range(20):
    start = Accumulator.load(path)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        while True:
            start.update(["no", "no", "yes"], ["no", "yes", "no"])
            start.save(path)
            os.write(writer, f"{start.n}\\n".encode())
    os.close(writer)
    told = os.read(reader, 1 << 16)
    time.sleep(0.0007 * kill)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reader, 1 << 16):
        told += more
    last = int(told.split()[-1])
    found = Accumulator.load(path)
    # What was told as saved is there; the last save may have been done and not told.
    assert found.n in (last, last + 3), (found.n, last)
    assert found.counts.counts.tolist() == [[found.n // 3] * 2, [found.n // 3, 0]]
print("done", found.n)
"""


def test_killed_while_saving_leaves_the_last_file(tmp_path):
    path = tmp_path / "a.json"
    result = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", KILLING, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout.startswith("done"), result.stderr
    assert Accumulator.load(path).n >= 60


@pytest.mark.parametrize("kind", [Accumulator, PairedAccumulator])
def test_history_is_what_was_seen_at_each_update(kind, tmp_path):
    running, seen = kind(COSTS), []
    for seed in range(260):
        running.update(*outcomes(20, seed, 1 if kind is Accumulator else 2))
        mean = running.cost if kind is Accumulator else running.difference
        seen.append([running.n, mean, *running.interval(0.9)])
    past = running.history(0.9)
    assert 100 <= len(past["n"]) <= 200
    assert past["n"][-1] == 260 * 20
    by_n = {row[0]: row for row in seen}
    found = np.array(list(past.values())).T
    np.testing.assert_allclose(found, [by_n[n] for n in past["n"]], rtol=1e-9)
    assert running.to_frame(0.9).columns.tolist() == ["n", "mean", "low", "high"]
    running.save(tmp_path / "a.json")
    loaded = kind.load(tmp_path / "a.json")
    assert loaded == running
    np.testing.assert_array_equal(loaded.history()["low"], running.history()["low"])


def test_history_of_a_design_is_not_kept():
    running = Accumulator(COSTS)
    assert len(running.history()["n"]) == 0
    running.update(*outcomes(30, 1), groups=np.arange(30) // 3)
    assert len(running.history()["n"]) == 0


def test_tables_of_many_classes_keep_no_past():
    """Two hundred copies of a table of 25 classes would be more than all that is known of it."""
    labels = list(range(25))
    running = Accumulator(CostMatrix.zero_one(labels))
    for _ in range(3):
        running.update(labels, labels)
    assert running.n == 75
    assert len(running.history()["n"]) == 0


def amounts(y_true, size):
    """Return costs of single examples that are those of a matrix."""
    costs = CostMatrix.from_errors(false_positive=1, false_negative=size)
    return ExampleCosts.from_matrix(costs, y_true)


def test_costs_of_single_examples_add_up_as_those_of_classes_do(tmp_path):
    """Where the amounts are the same for all, both kinds of totals have the same intervals."""
    rng = np.random.default_rng(0)
    plain = Accumulator(CostMatrix.from_errors(false_positive=1, false_negative=20))
    single = ExampleAccumulator(high=20, unit="EUR")
    assert single.interval() == Interval(0.0, 20.0, 0.95, "anytime")
    assert single.summary() == "No outcomes yet."
    for _ in range(4):
        y_true = rng.binomial(1, 0.2, 50)
        y_pred = np.where(rng.random(50) < 0.9, y_true, 1 - y_true)
        plain.update(y_true, y_pred)
        single.update(y_true, y_pred, amounts(y_true, 20))
    single.update([], [], amounts([1], 20))
    assert single.n == plain.n == 200
    assert single.cost == pytest.approx(plain.cost)
    assert single.total == pytest.approx(plain.total)
    assert tuple(single.interval(0.9)) == pytest.approx(tuple(plain.interval(0.9)), rel=1e-9)
    for name, values in single.history().items():
        np.testing.assert_allclose(values, plain.history()[name], rtol=1e-9)
    assert list(single.to_frame()) == ["n", "mean", "low", "high"]
    assert "at any time" in single.summary()
    assert single._repr_html_().count("<table>") == 1
    single.save(tmp_path / "single.json")
    again = ExampleAccumulator.load(tmp_path / "single.json")
    assert again == single
    np.testing.assert_array_equal(again.history()["low"], single.history()["low"])
    with pytest.raises(FileError, match=r"ExampleAccumulator\.load"):
        Accumulator.load(tmp_path / "single.json")
    text = (tmp_path / "single.json").read_text(encoding="utf-8")
    (tmp_path / "cut.json").write_text(text.replace("20.0", "19.0", 1), encoding="utf-8")
    with pytest.raises(FileError, match=r"damaged|changed|checksum"):
        ExampleAccumulator.load(tmp_path / "cut.json")
    both = single + again
    assert both.n == 400
    assert both.cost == pytest.approx(single.cost)
    assert len(both.history()["n"]) == 0


def test_groups_and_weights_of_single_examples():
    running = ExampleAccumulator(high=20)
    y_true, y_pred = [0, 1, 1, 0], [0, 0, 1, 1]
    running.update(y_true, y_pred, amounts(y_true, 20), groups=["a", "a", "b", "b"])
    running.update(y_true, y_pred, amounts(y_true, 20), groups=["b", "c", "c", "d"])
    direct = evaluate(y_true * 2, y_pred * 2, amounts(y_true * 2, 20), groups=[*"aabb", *"bccd"])
    assert running.cost == pytest.approx(direct.cost)
    with pytest.raises(DesignError, match="any time"):
        running.interval()
    assert "looks only once" in running.summary()
    assert len(running.history()["n"]) == 0
    with pytest.raises(DesignError, match="groups"):
        running.update(y_true, y_pred, amounts(y_true, 20))
    assert running.n == 8


def test_bad_costs_of_single_examples_change_nothing():
    running = ExampleAccumulator(high=10)
    with pytest.raises(InputError, match="from 0 to 10, got 0 to 20"):
        running.update([1, 0], [0, 0], amounts([1, 0], 20))
    with pytest.raises(InputTypeError, match="ExampleCosts"):
        running.update([1], [0], CostMatrix.from_errors(false_positive=1, false_negative=5))
    assert running.n == 0
    with pytest.raises(InputError, match="low below high"):
        ExampleAccumulator(low=3, high=3)
    with pytest.raises(InputTypeError, match="ExampleAccumulator"):
        Accumulator(amounts([1], 20))
    with pytest.raises(InputError, match="cannot be added up"):
        _ = running + ExampleAccumulator(high=20)


@pytest.mark.parametrize("population", [float("nan"), -5, "x", 1e308, {"a": -1.0}, {"a": None}])
def test_a_population_is_checked_before_there_are_outcomes(population):
    with pytest.raises(InputError) as caught:
        Accumulator(COSTS, population=population)
    assert caught.value.argument == "population"


@pytest.mark.parametrize("unit", [float("nan"), 3, b"USD"])
def test_a_unit_is_text(unit):
    kinds = (lambda: Accumulator(COSTS, unit=unit), lambda: ExampleAccumulator(high=1, unit=unit))
    for make in kinds:
        with pytest.raises(InputTypeError) as caught:
            make()
        assert caught.value.argument == "unit"
