import numpy as np
import pytest
from _helpers.strategies import label_columns, weights
from hypothesis import given
from hypothesis import strategies as st

from stakes import Confusion, PairedConfusion
from stakes.errors import InputError, LabelError


@given(st.data())
def test_counts_are_those_of_a_plain_loop_and_marginals_those_of_each_classifier(data):
    labels, (y_true, first, second) = data.draw(label_columns(columns=3))
    paired = PairedConfusion.from_labels(y_true, first, second, labels=labels)
    by_hand = np.zeros((len(labels),) * 3, dtype=int)
    for rows in zip(first, second, y_true, strict=True):
        by_hand[tuple(labels.index(label) for label in rows)] += 1
    assert (paired.counts == by_hand).all()
    assert paired.first == Confusion.from_labels(y_true, first, labels=labels)
    assert paired.second == Confusion.from_labels(y_true, second, labels=labels)

    weight = data.draw(weights(len(y_true)))
    weighted = PairedConfusion.from_labels(
        y_true, first, second, labels=labels, sample_weight=weight
    )
    alone = Confusion.from_labels(y_true, second, labels=labels, sample_weight=weight)
    assert np.allclose(weighted.second.counts, alone.counts)
    assert np.allclose(weighted.second.squares, alone.squares)


def test_the_first_axis_is_the_first_classifier():
    paired = PairedConfusion.from_labels(["a"], ["b"], ["c"])
    position = tuple(np.argwhere(paired.counts)[0])
    assert [paired.labels[i] for i in position] == ["b", "c", "a"]
    assert ">b, c</th>" in paired._repr_html_()
    assert repr(paired) == "PairedConfusion: 1 examples, 3 × 3 decisions × 3 classes"


def test_bad_input():
    with pytest.raises(InputError, match="y_pred_1 has 1 rows, y_pred_2 has 2 rows, y_true has 1"):
        PairedConfusion.from_labels([0], [0], [0, 1])
    with pytest.raises(LabelError, match="y_pred_2: the label 5 at position 0"):
        PairedConfusion.from_labels([0], [1], [5], labels=[0, 1])
    with pytest.raises(InputError, match=r"counts: .*expected an array of shape \(2, 2, 2\)"):
        PairedConfusion(np.ones((2, 2, 3)), [0, 1])
    with pytest.raises(InputError, match="counts: expected a 3-dimensional array"):
        PairedConfusion(np.ones((2, 2)), [0, 1])
