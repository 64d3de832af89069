import pickle

import numpy as np
import pytest
from _helpers.strategies import label_columns
from hypothesis import given
from hypothesis import strategies as st

from stakes import Confusion, PairedConfusion
from stakes.counts import GroupedConfusion
from stakes.errors import InputError, InputTypeError, LabelError


@st.composite
def grouped_rows(draw):
    labels, (y_true, first, second) = draw(label_columns(columns=3))
    n = len(y_true)
    return (
        labels,
        y_true,
        first,
        second,
        draw(st.lists(st.sampled_from("zyxab"), min_size=n, max_size=n)),
    )


@given(grouped_rows())
def test_each_group_has_the_counts_of_its_rows(drawn):
    labels, y_true, first, second, groups = drawn
    one = GroupedConfusion.from_labels(y_true, first, groups, labels=labels)
    two = GroupedConfusion.from_labels(y_true, first, groups, y_pred_2=second, labels=labels)
    assert one.groups == two.groups == tuple(sorted(set(groups)))
    for index, group in enumerate(one.groups):
        rows = [row for row, name in enumerate(groups) if name == group]
        part, ours, theirs = ([each[row] for row in rows] for each in (y_true, first, second))
        alone = Confusion.from_labels(part, ours, labels=labels)
        pair = PairedConfusion.from_labels(part, ours, theirs, labels=labels)
        assert one.counts[index].tolist() == alone.counts.tolist()
        assert two.counts[index].tolist() == pair.counts.tolist()
    assert one.pooled == Confusion.from_labels(y_true, first, labels=labels)
    assert two.pooled == PairedConfusion.from_labels(y_true, first, second, labels=labels)
    assert one.n == two.n == len(y_true)


@given(grouped_rows(), st.data())
def test_merging_parts_equals_counting_once(drawn, data):
    labels, y_true, first, _, groups = drawn
    cuts = sorted(data.draw(st.lists(st.integers(1, len(y_true)), min_size=2, max_size=2)))
    parts = [
        GroupedConfusion.from_labels(y_true[rows], first[rows], groups[rows], labels=labels)
        for rows in (slice(cuts[0]), slice(cuts[0], cuts[1]), slice(cuts[1], None))
        if y_true[rows]
    ]
    whole = GroupedConfusion.from_labels(y_true, first, groups, labels=labels)
    assert sum(parts) == sum(parts[::-1]) == whole


def test_labels_come_from_the_data_unless_given():
    table = GroupedConfusion.from_labels([0, 1], [2, 1], ["p", "q"])
    assert table.labels == table.decisions == (0, 1, 2)
    table = GroupedConfusion.from_labels([0, 1], ["ask", 1], ["p", "q"], decisions=[0, 1, "ask"])
    assert (table.labels, table.decisions) == ((0, 1), (0, 1, "ask"))


def test_there_may_be_very_many_groups():
    groups = np.arange(100_000) * 7
    y_true = np.arange(100_000) % 2
    for names in (groups, groups.astype(str), groups.astype(float), groups.astype(object)):
        table = GroupedConfusion.from_labels(y_true, 1 - y_true, names)
        assert len(table.groups) == 100_000
        assert table.pooled.counts.tolist() == [[0, 50_000], [50_000, 0]]


@pytest.mark.parametrize("what", ["groups", "strata"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("step", [1, 3, 1000, -7])
def test_numbers_of_groups_may_have_gaps(what, weighted, step):
    """However they are numbered, those that have rows are there, also with a weight of zero."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(-300, 300, 900)
    numbers = numbers[(numbers < -20) | (numbers > 20)]
    y_true, y_pred, y_other = rng.integers(0, 2, (3, len(numbers)))
    weights = rng.choice([0.0, 0.5, 2.0], len(numbers)) if weighted else None
    found, expected = (
        GroupedConfusion.from_labels(
            y_true, y_pred, y_pred_2=y_other, sample_weight=weights, **{what: names}
        )
        for names in (numbers * step, (numbers * step).astype(object))
    )
    assert found == expected
    assert getattr(found, what) == tuple(sorted({int(x) for x in numbers * step}))
    assert found.counts.dtype == (float if weighted else np.int64)


def test_numbers_of_groups_may_be_large():
    for names in ([2**63 + 2, 2**63, 2**63 + 2], [2**63 - 1, 2**63 - 3, 2**63 - 1]):
        given = np.array(names, dtype=np.uint64)
        table = GroupedConfusion.from_labels([0, 1, 1], [0, 1, 0], given)
        assert table.groups == (names[1], names[0])
        assert table.counts.sum(axis=(1, 2)).tolist() == [1, 2]


def test_numbered_groups_are_named_when_asked_for():
    one, other = (GroupedConfusion.from_labels([0, 1, 1], [0, 1, 0], [5, 3, 5]) for _ in range(2))
    assert pickle.loads(pickle.dumps(one)) == other  # noqa: S301
    assert one.parts == other.parts
    assert hash(one.parts) == hash(other.parts)
    assert repr(one.parts) == "Parts(groups=(3, 5), strata=None)"
    assert len(one.parts) == len(other.parts) == 2
    with pytest.raises(AttributeError, match="names"):
        _ = one.parts.names


def test_equality_pickling_and_texts():
    table = GroupedConfusion([[[1, 2], [0, 4]], [[1, 0], [0, 1]]], ["<b>", "y"], groups=["p", "q"])
    assert pickle.loads(pickle.dumps(table)) == table  # noqa: S301 - made here
    assert repr(table) == "GroupedConfusion: 9 examples in 2 groups"
    assert "9 examples in 2 groups" in table._repr_html_()
    assert "&lt;b&gt;" in table._repr_html_()
    assert GroupedConfusion(**table.to_dict()) == table
    two = GroupedConfusion(np.ones((3, 2, 2, 2), dtype=int), ["x", "y"])
    assert two.groups == (0, 1, 2)
    assert "x, y" in two._repr_html_()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: GroupedConfusion.from_labels([0, 1], [0, 1], ["p"]),
            InputError,
            "groups has 1 rows, y_pred has 2 rows, y_true has 2 rows",
        ),
        (
            lambda: GroupedConfusion.from_labels([0, 1], [0, 1], ["p", None]),
            LabelError,
            "groups: the label at position 1 is missing",
        ),
        (
            lambda: GroupedConfusion.from_labels([0, 1], [0, 2], ["p", "q"], labels=[0, 1]),
            LabelError,
            "y_pred: the label 2 at position 1 .*not among the decisions",
        ),
        (
            lambda: GroupedConfusion.from_labels([0], [0], ["p"], y_pred_2=[2], labels=[0, 1]),
            LabelError,
            "y_pred_2: the label 2 at position 0",
        ),
        (
            lambda: GroupedConfusion.from_labels(range(5000), range(5000), range(5000)),
            InputError,
            "y_pred: 5000 different labels are too many",
        ),
        (
            lambda: GroupedConfusion.from_labels(range(400), range(400), range(400)),
            InputError,
            "groups: a table of 400 × 400 × 400 counts is too large",
        ),
        (
            lambda: GroupedConfusion(np.ones((2, 2, 3)), [0, 1]),
            InputError,
            r"counts: expected a confusion matrix of shape \(2, 2\)",
        ),
        (
            lambda: GroupedConfusion(np.ones((2, 2)), [0, 1]),
            InputError,
            "counts: expected a 3-dimensional array",
        ),
        (
            lambda: GroupedConfusion([[[1, 2], [3]]], [0, 1]),
            InputError,
            "counts: expected numbers, got rows of different lengths",
        ),
        (lambda: GroupedConfusion(None, [0, 1]), InputTypeError, "counts: expected numbers"),
        (
            lambda: GroupedConfusion(np.ones((2, 2, 2)), [0, 1], groups=["p"]),
            InputError,
            "counts has 2 rows, groups has 1 rows",
        ),
        (
            lambda: GroupedConfusion(np.ones((2, 2, 2)), [0, 1], groups=["p", "p"]),
            LabelError,
            "groups: the label 'p' occurs twice",
        ),
        (
            lambda: (
                GroupedConfusion(np.ones((1, 2, 2)), [0, 1])
                + GroupedConfusion(np.ones((1, 2, 2)), [0, 2])
            ),
            InputError,
            "grouped counts can be merged only with the same labels, got 0, 1 and 0, 2",
        ),
        (
            lambda: (
                GroupedConfusion(np.ones((1, 2, 2)), [0, 1])
                + GroupedConfusion(np.ones((1, 2, 2, 2)), [0, 1])
            ),
            InputError,
            "of one model cannot be merged with those of two",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_only_grouped_counts_can_be_added():
    with pytest.raises(TypeError):
        GroupedConfusion(np.ones((1, 2, 2)), [0, 1]) + 1


def test_frames_have_a_row_for_each_combination():
    y_true, first, second = [0, 1, 1, 0, 1], [0, 1, 0, 0, 1], [1, 1, 0, 0, 1]
    groups, strata = ["p", "p", "q", "q", "p"], ["n", "n", "s", "s", "n"]
    both = GroupedConfusion.from_labels(
        y_true, first, groups, y_pred_2=second, strata=strata
    ).to_frame()
    assert both.columns.tolist() == ["group", "stratum", "actual", "first", "second", "count"]
    assert both["count"].tolist() == [1, 2, 1, 1]
    assert both.iloc[0].tolist() == ["p", "n", 0, 0, 1, 1]
