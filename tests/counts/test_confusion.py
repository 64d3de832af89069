import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix
from strategies import confusions, cost_matrices, label_columns, weights

from stakes import Confusion, CostMatrix, PairedConfusion, expected_cost
from stakes.counts import arrays
from stakes.errors import InputError, InputTypeError, LabelError


@given(label_columns())
def test_counts_are_those_of_a_plain_loop(drawn):
    labels, (y_true, y_pred) = drawn
    by_hand = [
        [sum(p == i and t == j for t, p in zip(y_true, y_pred, strict=True)) for j in labels]
        for i in labels
    ]
    for container in (list, np.array, pd.Series):
        confusion = Confusion.from_labels(container(y_true), container(y_pred), labels=labels)
        assert confusion.counts.tolist() == by_hand
        assert confusion.counts.dtype == np.int64
        assert confusion.labels == tuple(labels)
        assert confusion.n == len(y_true)


@given(label_columns())
def test_counts_are_the_transpose_of_scikit_learns(drawn):
    labels, (y_true, y_pred) = drawn
    confusion = Confusion.from_labels(np.array(y_true), np.array(y_pred), labels=labels)
    theirs = confusion_matrix(
        [str(label) for label in y_true],
        [str(label) for label in y_pred],
        labels=[str(label) for label in confusion.labels],
    )
    assert confusion.counts.T.tolist() == theirs.tolist()
    assert Confusion(theirs, confusion.labels, rows="actual") == confusion


@given(st.data())
def test_weights_are_added_up_with_their_squares(data):
    labels, (y_true, y_pred) = data.draw(label_columns())
    weight = data.draw(weights(len(y_true)))
    confusion = Confusion.from_labels(y_true, y_pred, labels=labels, sample_weight=weight)
    for i, decision in enumerate(labels):
        for j, label in enumerate(labels):
            cell = [
                w
                for t, p, w in zip(y_true, y_pred, weight, strict=True)
                if (p, t) == (decision, label)
            ]
            assert confusion.counts[i, j] == pytest.approx(sum(cell))
            assert confusion.squares[i, j] == pytest.approx(sum(w * w for w in cell))
    assert confusion.weighted
    assert confusion.n == pytest.approx(sum(weight))


@given(st.data())
def test_merging_chunks_equals_counting_once(data):
    _, (y_true, y_pred, other) = data.draw(label_columns(columns=3, min_size=2))
    weight = data.draw(st.none() | st.just([1.0, 0.25] * len(y_true)))
    cut = data.draw(st.integers(1, len(y_true) - 1))
    parts = [slice(None, cut), slice(cut, None)]

    def weighted(part):
        return {} if weight is None else {"sample_weight": weight[: len(y_true)][part]}

    whole = Confusion.from_labels(y_true, y_pred, **weighted(slice(None)))
    first, second = (Confusion.from_labels(y_true[p], y_pred[p], **weighted(p)) for p in parts)
    assert first + second == second + first == sum([first, second]) == whole

    pairs = [
        PairedConfusion.from_labels(y_true[p], y_pred[p], other[p], **weighted(p)) for p in parts
    ]
    assert sum(pairs) == PairedConfusion.from_labels(y_true, y_pred, other, **weighted(slice(None)))


@given(st.data())
def test_merging_is_associative(data):
    sets = data.draw(
        st.lists(
            st.lists(st.sampled_from("zyxab"), min_size=1, unique=True), min_size=3, max_size=3
        )
    )
    a, b, c = (Confusion(np.eye(len(labels), dtype=int), labels) for labels in sets)
    assert (a + b) + c == a + (b + c) == c + (b + a)


@given(st.data())
def test_permuting_classes_with_the_costs_changes_nothing(data):
    costs = data.draw(cost_matrices())
    confusion = data.draw(confusions(costs))
    classes = data.draw(st.permutations(range(len(costs.labels))))
    decisions = data.draw(st.permutations(range(len(costs.decisions))))
    permuted = CostMatrix(
        costs.values[np.ix_(decisions, classes)],
        rows="predicted",
        labels=[costs.labels[j] for j in classes],
        decisions=[costs.decisions[i] for i in decisions],
    )
    assert expected_cost(confusion, permuted) == pytest.approx(
        expected_cost(confusion, costs), rel=1e-12
    )


@given(label_columns(columns=3))
def test_large_tables_are_counted_like_small_ones(drawn):
    labels, (y_true, first, second) = drawn
    small = PairedConfusion.from_labels(y_true, first, second, labels=labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "SMALL_TABLE", 0)
        patch.setattr(arrays, "CHUNK", 1)
        large = PairedConfusion.from_labels(y_true, first, second, labels=labels)
    assert small == large


def test_wide_integers_do_not_make_a_wide_table():
    y_true = np.array([0, 255, 255])
    paired = PairedConfusion.from_labels(y_true, y_true, y_true[::-1])
    assert paired.labels == (0, 255)
    assert paired.counts.sum() == 3


def test_classes_that_do_not_occur_and_any_order():
    confusion = Confusion.from_labels(["b", "a"], ["a", "a"], labels=["c", "b", "a"])
    assert confusion.counts.tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 1]]
    assert confusion.class_counts.tolist() == [0, 1, 1]


def test_unused_categories_are_not_labels_unless_asked_for():
    y = pd.Categorical(["a", "b"], categories=["a", "b", "c"])
    assert Confusion.from_labels(y, y).labels == ("a", "b")
    assert Confusion.from_labels(y, y, labels=y.categories).labels == ("a", "b", "c")


def test_decisions_that_are_not_classes():
    confusion = Confusion.from_labels(
        [0, 1, 1], [0, "ask", 1], labels=[0, 1], decisions=[0, 1, "ask"]
    )
    assert confusion.counts.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_labels_that_cannot_be_sorted_together():
    confusion = Confusion.from_labels([0, "a"], ["a", 0])
    assert confusion.labels == (0, "a")
    assert confusion.counts.tolist() == [[0, 1], [1, 0]]


def test_equality_pickling_and_texts():
    confusion = Confusion([[1, 2], [0, 4]], ["<b>", "y"])
    assert pickle.loads(pickle.dumps(confusion)) == confusion  # noqa: S301 - made here
    assert hash(confusion) == hash(Confusion(np.array([[1, 2], [0, 4]]), ["<b>", "y"]))
    assert confusion != Confusion([[1, 2], [1, 4]], ["<b>", "y"])
    assert "7 examples, rows are predicted, columns are actual" in repr(confusion)
    assert "&lt;b&gt;" in confusion._repr_html_()
    assert confusion.to_dict() == {
        "labels": ["<b>", "y"],
        "decisions": ["<b>", "y"],
        "counts": [[1, 2], [0, 4]],
    }
    weighted = Confusion([[1.5, 2], [0, 4]], [0, 1], squares=[[2.25, 4], [0, 16]])
    assert weighted.to_dict()["squares"] == [[2.25, 4], [0, 16]]
    turned = Confusion([[1.5, 0], [2, 4]], [0, 1], squares=[[2.25, 0], [4, 16]], rows="actual")
    assert turned == weighted


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: Confusion.from_labels([0, 1, 1], [0, 1]),
            InputError,
            "y_pred has 2 rows, y_true has 3 rows: they must describe the same examples",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[1]),
            InputError,
            "y_true has 2 rows, sample_weight has 1 rows",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[1, -1]),
            InputError,
            "sample_weight: weights cannot be negative, got -1.0 at row 1",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[np.nan, 1]),
            InputError,
            "sample_weight: expected finite numbers, got nan at row 0",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[0, 0]),
            InputError,
            "sample_weight: all weights are zero",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=["a", "b"]),
            InputError,
            "sample_weight: expected numbers, got 'a'",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 2], labels=[0, 1]),
            LabelError,
            "y_pred: the label 2 at row 1 .*not among the decisions: 0, 1",
        ),
        (
            lambda: Confusion.from_labels([0, 2], [0, 1], labels=[0, 1]),
            LabelError,
            "y_true: the label 2 at row 1 .*not among the classes: 0, 1",
        ),
        (
            lambda: Confusion.from_labels(range(9000), range(9000)),
            InputError,
            "y_.*: 9000 different labels are too many to tabulate.*scores or identifiers",
        ),
        (
            lambda: Confusion([[1, -2], [0, 1]], [0, 1]),
            InputError,
            r"counts: counts cannot be negative, got -2.0 at \(0, 1\)",
        ),
        (lambda: Confusion([[0, 0], [0, 0]], [0, 1]), InputError, "counts: all counts are zero"),
        (
            lambda: Confusion([[1, np.inf], [0, 1]], [0, 1]),
            InputError,
            "counts: expected finite numbers, got inf at row 0, column 1",
        ),
        (
            lambda: Confusion([[1, 2, 3], [0, 1, 3]], [0, 1]),
            InputError,
            r"counts: with 2 decisions and 2 classes, expected an array of shape \(2, 2\)",
        ),
        (lambda: Confusion([1, 2], [0, 1]), InputError, "counts: expected a two-dimensional"),
        (lambda: Confusion([[1, 2], [3, 4]], [0, 1], rows="up"), InputTypeError, "rows: say"),
        (
            lambda: Confusion([[1, 2], [3, 4]], [0, 1], squares=[[1, 2]]),
            InputError,
            "squares: expected the shape of counts",
        ),
        (
            lambda: (
                Confusion([[1, 2], [3, 4]], [0, 1])
                + Confusion([[1, 2], [3, 4]], [0, 1], squares=[[1, 2], [3, 4]])
            ),
            InputError,
            "counts with sample weights cannot be merged",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_only_counts_can_be_added():
    with pytest.raises(TypeError):
        Confusion([[1, 2], [3, 4]], [0, 1]) + 1
    with pytest.raises(TypeError):
        1 + Confusion([[1, 2], [3, 4]], [0, 1])
