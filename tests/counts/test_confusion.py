import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from _helpers.strategies import confusions, cost_matrices, label_columns, weights
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from stakes import (
    Confusion,
    CostMatrix,
    GroupedConfusion,
    JointConfusion,
    PairedConfusion,
    ScoreCounts,
    evaluate_rates,
    expected_cost,
)
from stakes.counts import _labelled as arrays
from stakes.errors import InputError, InputTypeError, LabelError, MissingExtraError


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


@given(st.data())
def test_the_order_in_which_classes_are_counted_changes_nothing(data):
    labels, (y_true, y_pred) = data.draw(label_columns())
    costs = data.draw(cost_matrices(labels=labels, extra_decisions=False))
    order = data.draw(st.permutations(range(len(labels))))
    names = [labels[i] for i in order]
    permuted = CostMatrix(costs.values[np.ix_(order, order)], rows="predicted", labels=names)
    plain = Confusion.from_labels(y_true, y_pred, labels=labels)
    turned = Confusion.from_labels(y_true, y_pred, labels=names)
    assert (turned.counts == plain.counts[np.ix_(order, order)]).all()
    assert expected_cost(turned, permuted) == pytest.approx(expected_cost(plain, costs), rel=1e-12)


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


def test_decisions_alone_leave_the_classes_to_what_actually_occurs():
    choices = ["a", "b", "ask"]
    confusion = Confusion.from_labels(["a", "b"], ["ask", "b"], decisions=choices)
    assert (confusion.labels, confusion.decisions) == (("a", "b"), ("a", "b", "ask"))
    assert confusion.counts.tolist() == [[0, 0], [0, 1], [1, 0]]
    paired = PairedConfusion.from_labels(["a", "b"], ["ask", "b"], ["b", "b"], decisions=choices)
    assert paired.labels == ("a", "b")
    assert paired.first == confusion


def test_rows_of_weight_zero_are_rows():
    confusion = Confusion.from_labels(["a", "b"], ["a", "c"], sample_weight=[1, 0])
    assert confusion.labels == ("a", "b", "c")
    assert confusion.counts.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    with pytest.raises(LabelError, match="y_pred: the label 'typo' at position 1"):
        Confusion.from_labels(["a", "b"], ["a", "typo"], labels=["a", "b"], sample_weight=[1, 0])


def test_scores_in_place_of_decisions_are_refused_at_once():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"y_pred: \d+ different labels .*scores or identifiers"):
        Confusion.from_labels(rng.integers(0, 2, 30_000), rng.random(30_000))


def test_tables_too_large_to_hold_are_refused_before_they_are_made():
    first, second = np.arange(4000), np.arange(4000, 8000)
    for make in (
        lambda: Confusion.from_labels(first, second),
        lambda: Confusion.from_labels([0], [1], labels=range(8000)),
        lambda: Confusion.from_labels([0], [1], labels=range(100), decisions=range(200_000)),
    ):
        with pytest.raises(InputError, match=r"y_.*: a table of \d+ × \d+ counts is too large"):
            make()
    with pytest.raises(InputError, match="a table of 300 × 300 × 300 counts is too large"):
        PairedConfusion.from_labels(first[:300], first[:300], first[:300])
    parts = [Confusion.from_labels(rows[:3000], rows[:3000]) for rows in (first, second)]
    with pytest.raises(InputError, match="labels of both parts: a table of 6000 × 6000"):
        sum(parts)


def test_labels_that_cannot_be_sorted_together():
    confusion = Confusion.from_labels([0, "a"], ["a", 0])
    assert confusion.labels == (0, "a")
    assert confusion.counts.tolist() == [[0, 1], [1, 0]]


WHOLE, TEXT = [0, 1] * 3, ["0", "1"] * 3


@pytest.mark.parametrize(
    "count",
    [
        Confusion.from_labels,
        lambda y, p: Confusion.from_labels(y, p, decisions=["0", "1"]),
        lambda y, p: PairedConfusion.from_labels(y, y, p),
        lambda y, p: JointConfusion.from_labels(y, {"a": p}),
        lambda y, p: JointConfusion.from_labels(y, {"a": p}, decisions=["0", "1"]),
        lambda y, p: GroupedConfusion.from_labels(y, p, groups=WHOLE),
        lambda y, p: ScoreCounts.from_scores([*y, *p], range(12), pos_label=1),
        lambda y, p: Confusion.from_labels(y, y) + Confusion.from_labels(p, p),
        lambda y, p: evaluate_rates(y, p, pos_label=1),
    ],
)
@pytest.mark.parametrize(
    ("numbers", "texts"),
    [(WHOLE, TEXT), (WHOLE, ["0.0", "1.0"] * 3), ([False, True] * 3, ["False", "True"] * 3)],
)
def test_labels_that_differ_in_their_type_only_are_refused(count, numbers, texts):
    with pytest.raises(LabelError, match=r"the str '.*' of .* and the (int|bool) .* would be two"):
        count(numbers, texts)


def test_labels_that_differ_in_their_type_only_can_be_stated():
    labels = [0, 1, "0", "1"]
    assert Confusion.from_labels(WHOLE, TEXT, labels=labels).counts.tolist()[2] == [3, 0, 0, 0]
    assert Confusion([[1, 0], [2, 3]], [0, "0"]).labels == (0, "0")
    assert Confusion.from_labels([0, 0], ["0", 0], decisions=[0, "0"]).counts.tolist() == [[1], [1]]


def test_equality_looks_at_the_types_of_labels_and_not_at_those_of_counts():
    assert CostMatrix.zero_one(["a", 1]) != CostMatrix.zero_one(["a", "1"])
    whole = Confusion([[1, 0], [2, 3]], [0, 1])
    floats = Confusion(np.asfortranarray([[1.0, -0.0], [2, 3]]), [False, True])
    assert whole == floats
    assert hash(whole) == hash(floats)
    assert floats.counts.flags.c_contiguous
    assert whole != Confusion([[1, 0], [2, 3]], [0, 1], squares=[[1, 0], [2, 3]])
    assert Confusion([[1, 0], [2, 3]], [0, 1], squares=[[1, 0], [2, 3]]) != whole
    assert len({whole, floats, Confusion([[1, 2], [0, 3]], [0, 1])}) == 2


def test_a_class_says_how_it_is_compared():
    class Loose(Confusion):
        def _comparable(self):
            return {"n": self.n}

    one, other = Loose([[1, 0], [2, 3]], [0, 1]), Loose([[6]], ["a"])
    assert one == other
    assert hash(one) == hash(other)
    assert one != Loose([[7]], ["a"])


def test_frame():
    frame = Confusion([[1, 2], [0, 4], [5, 6]], ["x", "y"], ["x", "y", "ask"]).to_frame()
    assert frame.loc["ask", "y"] == 6
    assert list(frame.index) == ["x", "y", "ask"]
    assert (frame.index.name, frame.columns.name) == ("predicted", "actual")


def test_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        Confusion([[1, 2], [0, 4]], ["x", "y"]).to_frame()


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
            "y_pred has 2 rows, y_true has 3 rows; they must describe the same examples",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[1]),
            InputError,
            "y_true has 2 rows, sample_weight has 1 rows",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[1, -1]),
            InputError,
            "sample_weight: weights cannot be negative, got -1.0 at position 1",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[np.nan, 1]),
            InputError,
            "sample_weight: expected finite numbers, got nan at position 0",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[0, 0]),
            InputError,
            "sample_weight: all weights are zero",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=[1, 1e200]),
            InputError,
            r"sample_weight: weights as large as 1e\+200 cannot be squared",
        ),
        (
            lambda: Confusion.from_labels([0] * 9, [1] * 9, sample_weight=[1e154] * 9),
            InputError,
            r"sample_weight: weights as large as 1e\+154",
        ),
        (
            lambda: Confusion.from_labels(
                [0, 1], [0, 1], sample_weight=np.ma.array([1.0, 2.0], mask=[False, True])
            ),
            InputError,
            r"sample_weight: expected numbers, got a masked entry at position 1 \(1 in all\)",
        ),
        (
            lambda: Confusion(np.ma.masked_equal([[1, 2], [3, 4]], 3), [0, 1], rows="actual"),
            InputError,
            "counts: expected numbers, got a masked entry at position .1, 0",
        ),
        (
            lambda: Confusion([[1, 2], [3]], [0, 1], rows="actual"),
            InputError,
            "counts: expected numbers, got rows of different lengths",
        ),
        (
            lambda: Confusion(np.array([[1, 2], [0, 2**63 + 9]], dtype=np.uint64), [0, 1]),
            InputError,
            r"counts: whole numbers up to 2\*\*63 can be counted.*the largest: 9223372036854775817",
        ),
        (
            lambda: Confusion([[2**62, 2**62], [0, 1]], [0, 1]),
            InputError,
            r"counts: whole numbers up to 2\*\*63",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 1], sample_weight=["a", "b"]),
            InputError,
            "sample_weight: expected numbers, got 'a'",
        ),
        (
            lambda: Confusion.from_labels([0, 1], [0, 2], labels=[0, 1]),
            LabelError,
            "y_pred: the label 2 at position 1 .*not among the decisions: 0, 1",
        ),
        (
            lambda: Confusion.from_labels([0, 2], [0, 1], labels=[0, 1]),
            LabelError,
            "y_true: the label 2 at position 1 .*not among the classes: 0, 1",
        ),
        (
            lambda: Confusion.from_labels(range(9000), range(9000)),
            InputError,
            "y_.*: 9000 different labels are too many to tabulate.*scores or identifiers",
        ),
        (
            lambda: Confusion([[1, -2], [0, 1]], [0, 1]),
            InputError,
            r"counts: counts cannot be negative, got -2.0 at position \[0, 1\]",
        ),
        (lambda: Confusion([[0, 0], [0, 0]], [0, 1]), InputError, "counts: all counts are zero"),
        (
            lambda: Confusion([[1, np.inf], [0, 1]], [0, 1]),
            InputError,
            "counts: expected finite numbers, got inf at position .0, 1",
        ),
        (
            lambda: Confusion([[1, 2, 3], [0, 1, 3]], [0, 1]),
            InputError,
            r"counts: with 2 decisions and 2 classes, expected an array of shape \(2, 2\)",
        ),
        (lambda: Confusion([1, 2], [0, 1]), InputError, "counts: expected a two-dimensional"),
        (lambda: Confusion([[1, 2], [3, 4]], [0, 1], rows="up"), InputTypeError, "rows: state"),
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


def test_a_frame_has_labels_of_its_own():
    frame = pd.crosstab(pd.Series(["b", "a", "a"]), pd.Series(["b", "b", "a"]))
    with pytest.raises(InputTypeError, match="counts: expected an array or lists, got a data"):
        Confusion(frame, labels=["b", "a"])
    assert Confusion(frame.to_numpy(), labels=["a", "b"]).counts.tolist() == [[1, 1], [0, 1]]
