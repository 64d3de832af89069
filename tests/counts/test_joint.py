import numpy as np
import pytest
from _helpers.strategies import label_columns
from hypothesis import given
from hypothesis import strategies as st

from stakes import JointConfusion
from stakes.errors import InputError, LabelError


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
    monkeypatch.setattr("stakes.counts.joint.MOST_CELLS", 30)
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


def test_pairs_of_too_many_decisions_are_refused():
    labels = list(range(300))
    joint = JointConfusion.from_labels(labels, {"a": labels, "b": labels})
    with pytest.raises(InputError, match="decisions: a table of 300 × 300 × 300 counts is too lar"):
        joint.pair("a", "b")
