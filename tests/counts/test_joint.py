import numpy as np
import polars as pl
import pytest
from _helpers.strategies import label_columns
from hypothesis import given
from hypothesis import strategies as st

from stakes import (
    Confusion,
    CostMatrix,
    GroupedConfusion,
    JointConfusion,
    PairedConfusion,
    Ranking,
    compare,
)
from stakes.errors import DesignError, InputError, InputTypeError, LabelError


@given(st.data())
def test_merging_equals_counting_the_whole(data):
    labels, (y_true, one, other) = data.draw(label_columns(columns=3))
    cut = data.draw(st.integers(1, len(y_true)))
    whole = JointConfusion.from_labels(y_true, {"a": one, "b": other}, labels=labels)
    parts = [
        JointConfusion.from_labels(y_true[part], {"a": one[part], "b": other[part]}, labels=labels)
        for part in (slice(cut), slice(cut, None))
        if y_true[part]
    ]
    assert sum(parts) == whole
    assert whole.n == len(y_true)
    assert whole.class_counts().tolist() == [y_true.count(label) for label in labels]


def test_merging_parts_with_other_labels_and_another_order():
    one = JointConfusion.from_labels(["a", "b"], {"x": ["a", "a"], "y": ["b", "b"]})
    other = JointConfusion.from_labels(["c", "a"], {"y": ["c", "b"], "x": ["a", "c"]})
    whole = JointConfusion.from_labels(
        ["a", "b", "c", "a"], {"x": ["a", "a", "a", "c"], "y": ["b", "b", "c", "b"]}
    )
    assert one + other == whole
    assert (other + one).pair("x", "y") == whole.pair("x", "y")


def test_only_the_same_classifiers_can_be_merged():
    one = JointConfusion.from_labels([0, 1], {"x": [0, 1]})
    other = JointConfusion.from_labels([0, 1], {"y": [0, 1]})
    with pytest.raises(LabelError, match="'x' cannot be merged with those of 'y'"):
        one + other
    with pytest.raises(TypeError):
        one + 1


def test_many_combinations_are_counted_like_few(monkeypatch):
    rng = np.random.default_rng(0)
    labels = list(range(5))
    y_true, *predictions = rng.integers(0, 5, (7, 300))
    columns = {str(i): each for i, each in enumerate(predictions)}
    few = JointConfusion.from_codes(y_true, columns, labels=labels, decisions=labels)
    monkeypatch.setattr("stakes.counts.joint.COUNTED_CELLS", 30)
    many = JointConfusion.from_codes(y_true, columns, labels=labels, decisions=labels)
    assert few == many
    assert few + few == JointConfusion.from_codes(
        y_true, columns, labels=labels, decisions=labels, amounts=np.full(300, 2)
    )


def test_classes_are_counted_without_classifiers():
    joint = JointConfusion.from_codes(
        np.array([0, 1, 1]), {}, labels=["a", "b"], decisions=["a", "b"]
    )
    assert (joint.names, joint.n, joint.class_counts().tolist()) == ((), 3, [1, 2])


def test_pairs_of_very_many_decisions_stay_sparse():
    labels = list(range(300))
    others = labels[1:] + labels[:1]
    joint = JointConfusion.from_labels(labels, {"a": labels, "b": others, "c": labels})
    pair = joint.pair("b", "a")
    assert (pair.names, pair.n) == (("b", "a"), 300)
    values = 1.0 + np.arange(300.0 * 300).reshape(300, 300) % 7
    np.fill_diagonal(values, 0)
    costs = CostMatrix(values, rows="predicted", labels=labels)
    found = compare(labels, others, labels, costs)
    assert found.difference == pytest.approx(values[others, labels].mean())
    assert Ranking.from_joint(joint, costs).difference("a", "b").difference == -found.difference
    assert [each.cost for each in found.estimates()] == [found.difference, 0.0]
    with pytest.raises(InputTypeError, match="names: expected two classifiers, got 3"):
        joint.first  # noqa: B018 - raises


@pytest.mark.parametrize("design", ["", "weights", "groups", "strata", "priors", "class", "both"])
def test_sparse_pairs_are_judged_like_full_ones(monkeypatch, design):
    rng = np.random.default_rng(1)
    y_true, first, second = rng.integers(0, 4, (3, 240))
    first = np.where(rng.random(240) < 0.5, y_true, first)
    values = np.round(rng.exponential(5, (4, 4)), 1)
    np.fill_diagonal(values, 0)
    costs = CostMatrix(values, rows="predicted", labels=range(4))
    options = {
        "": {},
        "weights": {"sample_weight": 1 + np.arange(240) % 3},
        "groups": {"groups": np.arange(240) // 4},
        "strata": {"strata": np.arange(240) % 2},
        "priors": {"class_priors": [0.1, 0.2, 0.3, 0.4]},
        "class": {"strata": "class"},
        "both": {"groups": np.arange(240) // 4, "sample_weight": 1 + np.arange(240) % 3},
    }[design]
    full = compare(y_true, first, second, costs, **options)
    monkeypatch.setattr("stakes.counts.joint.MOST_CELLS", 0)
    monkeypatch.setattr("stakes.infer.evaluation.MOST_LISTED", 0)
    sparse = compare(y_true, first, second, costs, **options)
    assert isinstance(sparse.paired, JointConfusion)
    assert sparse.difference == pytest.approx(full.difference)
    method = "normal" if {"weights", "groups", "both"} & {design} else "extremal"
    expected = full.interval(method=method)
    assert tuple(sparse.interval(method=method)) == pytest.approx(tuple(expected), rel=1e-6)
    turned = compare(y_true, second, first, costs, **options)
    assert turned.difference == pytest.approx(-full.difference)


DESIGNS = [
    {"groups"},
    {"strata"},
    {"sample_weight"},
    {"groups", "strata"},
    {"groups", "sample_weight"},
    {"strata", "sample_weight"},
    {"groups", "strata", "sample_weight"},
]


def _rows(n=60, seed=1):
    rng = np.random.default_rng(seed)
    return {
        "y_true": rng.choice(["no", "yes"], n, p=[0.7, 0.3]),
        "a": rng.choice(["no", "yes"], n),
        "b": rng.choice(["no", "yes"], n),
        "c": rng.choice(["no", "yes"], n),
        "groups": rng.choice(["p1", "p2", "p3", "p4"], n),
        "strata": rng.choice(["north", "south"], n),
        "sample_weight": rng.choice([0.5, 1.0, 4.0], n),
    }


def _joint(rows, design, part=slice(None)):
    models = {name: rows[name][part] for name in "abc"}
    how = {name: rows[name][part] for name in design}
    return JointConfusion.from_labels(rows["y_true"][part], models, labels=["no", "yes"], **how)


def _same(one, other):
    one, other = one.to_dict(), other.to_dict()
    assert one.keys() == other.keys()
    for name, value in one.items():
        if name in {"counts", "squares"}:
            np.testing.assert_allclose(value, other[name], rtol=1e-12)
        else:
            assert value == other[name], name


@pytest.mark.parametrize("design", DESIGNS, ids=lambda names: "+".join(sorted(names)))
def test_designs_are_kept_in_tables_and_merges(design):
    rows = _rows()
    joint = _joint(rows, design)
    how = {name: rows[name] for name in design}
    if design == {"sample_weight"}:
        single = Confusion.from_labels(rows["y_true"], rows["b"], **how)
        pair = PairedConfusion.from_labels(rows["y_true"], rows["a"], rows["c"], **how)
    else:
        single = GroupedConfusion.from_labels(rows["y_true"], rows["b"], **how)
        pair = GroupedConfusion.from_labels(
            rows["y_true"], rows["a"], y_pred_2=rows["c"], labels=["no", "yes"], **how
        )
    _same(joint.single("b"), single)
    _same(joint.pair("a", "c"), pair)
    _same(
        sum(_joint(rows, design, part) for part in (slice(25), slice(25, 40), slice(40, 60))), joint
    )
    assert JointConfusion(**joint.to_dict()) == joint
    total = rows["sample_weight"].sum() if "sample_weight" in design else 60
    assert joint.n == pytest.approx(total)
    assert joint.class_counts().sum() == pytest.approx(total)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda names: "+".join(sorted(names)))
def test_frames_with_designs_are_counted_as_labels(design):
    rows = _rows()
    frame = pl.LazyFrame({name: values.tolist() for name, values in rows.items()})
    counted = JointConfusion.from_frame(
        frame, actual="y_true", predicted=list("abc"), **{name: name for name in design}
    )
    _same(counted, _joint(rows, design))


def test_other_designs_are_not_merged():
    rows = _rows()
    for one in [set(), *DESIGNS]:
        for other in DESIGNS:
            if one != other:
                with pytest.raises(DesignError, match="cannot be merged with counts without"):
                    _joint(rows, one) + _joint(rows, other)


def test_many_groups_are_counted_like_few(monkeypatch):
    rows = _rows()
    few = _joint(rows, {"groups", "strata", "sample_weight"})
    monkeypatch.setattr("stakes.counts.joint.COUNTED_CELLS", 10)
    _same(_joint(rows, {"groups", "strata", "sample_weight"}), few)


def test_groups_of_another_number_of_rows_are_refused():
    with pytest.raises(InputError, match="groups"):
        JointConfusion.from_labels([0, 1], {"a": [0, 1]}, groups=["p1"])
    with pytest.raises(InputError, match="part: expected the part of each row"):
        JointConfusion(["a"], decided=[[0]], actual=[0], counts=[1], labels=[0, 1], part=[0])
