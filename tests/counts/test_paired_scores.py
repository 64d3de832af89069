"""Joint score tables, against counts of each scorer alone and of each example."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.strategies import weights
from hypothesis import given
from hypothesis import strategies as st

from stakes import PairedScoreCounts, ScoreCounts
from stakes.errors import InputError, InputTypeError, LabelError

scores = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 0.5, np.inf, -np.inf])
NAMES = {"pos_label": "yes", "neg_label": "no"}


@st.composite
def scored(draw, min_size=2):
    """Labels of both classes and the scores of two scorers."""
    n = draw(st.integers(min_size, 30))
    y_true = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
    y_true[:2] = ["no", "yes"]
    return y_true, *(draw(st.lists(scores, min_size=n, max_size=n)) for _ in range(2))


def count(drawn, **options):
    return PairedScoreCounts.from_scores(*drawn, pos_label="yes", **options)


def sorted_rows(table):
    """Return what each row stands for, in an order of its own."""
    amounts = np.ones(len(table.positive)) if table.amounts is None else table.amounts
    firsts, seconds = table.thresholds_1[table.ranks_1], table.thresholds_2[table.ranks_2]
    rows = {}
    for key, amount in zip(
        zip(firsts.tolist(), seconds.tolist(), table.positive.tolist(), strict=True),
        amounts.tolist(),
        strict=True,
    ):
        rows[key] = rows.get(key, 0) + amount
    return rows


@given(scored())
def test_rows_are_the_examples(drawn):
    table = count(drawn)
    y_true, one, other = drawn
    rows = {}
    one, other = (np.nan_to_num(each).tolist() for each in (one, other))
    for key in zip(one, other, [label == "yes" for label in y_true], strict=True):
        rows[key] = rows.get(key, 0) + 1
    assert sorted_rows(table) == rows
    assert (table.n, table.n_positives) == (len(y_true), y_true.count("yes"))
    assert type(table.n_positives) is type(table.n_negatives) is int
    assert (table.pos_label, table.neg_label) == ("yes", "no")
    assert not table.weighted


@given(scored(), st.data())
def test_each_marginal_is_the_score_table_of_that_scorer(drawn, data):
    y_true, one, other = drawn
    weight = data.draw(st.none() | weights(len(y_true)).map(lambda ws: [w + 0.25 for w in ws]))
    table = count(drawn, sample_weight=weight)
    for marginal, y_score in ((table.first, one), (table.second, other)):
        alone = ScoreCounts.from_scores(y_true, y_score, pos_label="yes", sample_weight=weight)
        if weight is None:
            assert marginal == alone
            assert marginal.positives.dtype == np.int64
        assert marginal.thresholds.tolist() == alone.thresholds.tolist()
        for name in ("positives", "negatives", "squares"):
            mine, theirs = getattr(marginal, name), getattr(alone, name)
            assert (mine is None) == (theirs is None)
            assert mine is None or np.allclose(mine, theirs)
        assert (marginal.pos_label, marginal.neg_label) == ("yes", "no")


@given(scored(min_size=4), st.booleans(), st.randoms())
def test_the_order_of_the_examples_does_not_matter(drawn, weighted, random):
    weight = [0.5 + i % 3 for i in range(len(drawn[0]))] if weighted else None
    table = count(drawn, sample_weight=weight)
    order = list(range(len(drawn[0])))
    random.shuffle(order)
    shuffled = count(
        [[column[i] for i in order] for column in drawn],
        sample_weight=None if weight is None else [weight[i] for i in order],
    )
    assert shuffled == table
    assert hash(shuffled) == hash(table)
    changed = [*drawn[0][:-1], "no" if drawn[0][-1] == "yes" else "yes"]
    assert count((changed, *drawn[1:]), sample_weight=weight, neg_label="no") != table


@given(scored(min_size=4), st.booleans())
def test_merging_parts_equals_counting_once(drawn, weighted):
    weight = np.array([0.5, 0.25] * len(drawn[0]))[: len(drawn[0])] if weighted else None
    half = len(drawn[0]) // 2
    parts = [
        PairedScoreCounts.from_scores(
            *(column[part] for column in drawn),
            **NAMES,
            sample_weight=None if weight is None else weight[part],
        )
        for part in (slice(half), slice(half, None))
    ]
    whole = count(drawn, sample_weight=weight)
    assert parts[0] + parts[1] == parts[1] + parts[0] == sum(parts) == whole
    assert (parts[0] + parts[1]).first == parts[0].first + parts[1].first
    assert sorted_rows(parts[0] + parts[1]) == sorted_rows(whole)


@given(scored())
def test_swapping_the_scorers_swaps_the_marginals(drawn):
    y_true, one, other = drawn
    table = count(drawn)
    swapped = table.swapped()
    assert swapped == count((y_true, other, one))
    assert (swapped.first, swapped.second) == (table.second, table.first)
    assert swapped.swapped() == table


FRAME = {
    "actual": ["no", "yes", "no", "yes", "yes", "no"],
    "one": [0.5, 0.5, np.inf, -np.inf, 2.0, 0.5],
    "other": [3, 1, 2, 3, 3, 3],
    "weight": [1.0, 2.0, 0.5, 3.0, 1.0, 4.0],
}
COLUMNS = {"actual": "actual", "score": ("one", "other"), "pos_label": "yes"}


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_frames_of_any_kind_are_counted_alike(make, weight):
    expected = count(
        (FRAME["actual"], FRAME["one"], FRAME["other"]),
        sample_weight=None if weight is None else FRAME[weight],
    )
    table = PairedScoreCounts.from_frame(make(FRAME), **COLUMNS, sample_weight=weight)
    assert table == expected
    assert table.first == expected.first
    assert table.second == expected.second
    assert table.n == expected.n
    assert table + table == expected + expected


def test_of_a_lazy_frame_one_row_for_each_combination_is_collected():
    frame = pl.LazyFrame(
        {"actual": [0, 1, 0, 0] * 100, "one": [1, 2, 1, 1] * 100, "other": 400 * [5]}
    )
    table = PairedScoreCounts.from_frame(frame, actual="actual", score=("one", "other"))
    assert len(table.positive) == 2
    assert (table.n_positives, table.n_negatives) == (100, 300)
    assert type(table.n) is int


def test_a_column_may_play_two_parts():
    frame = pl.LazyFrame({"actual": [0, 1], "one": [1.0, 2.0]})
    table = PairedScoreCounts.from_frame(frame, actual="actual", score=["one", "one"])
    assert table.first == table.second


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_what_was_handed_in_stays_writable_and_is_not_watched(make):
    y_true, one, other = np.array([0, 1, 0]), np.array([0.1, 0.8, 0.3]), np.array([2.0, 3.0, 2.0])
    weight = np.array([1.0, 2.0, 3.0])
    if make is dict:
        table = PairedScoreCounts.from_scores(y_true, one, other, sample_weight=weight)
    else:
        frame = make({"actual": y_true, "one": one, "other": other, "weight": weight})
        table = PairedScoreCounts.from_frame(
            frame, actual="actual", score=("one", "other"), sample_weight="weight"
        )
        if make is pd.DataFrame:
            frame.loc[0, "weight"] = 7.0
    for array in (y_true, one, other, weight):
        assert array.flags.writeable
        array[0] = 1
    assert table.n == 6
    assert table.first.negatives.tolist() == [0, 3, 1]
    with pytest.raises(ValueError, match="read-only"):
        table.ranks_1[0] = 1


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 3.0]])
def test_to_dict_pickle_and_what_is_shown(weight):
    table = PairedScoreCounts.from_scores(
        ["<a>", "b", "<a>"], [0.1, 0.8, 0.3], [2, 3, 2], pos_label="<a>", sample_weight=weight
    )
    content = table.to_dict()
    assert content["thresholds_1"] == [0.8, 0.3, 0.1]
    assert ("amounts" in content) == ("squares" in content) == (weight is not None)
    assert PairedScoreCounts(**content) == table
    copy = pickle.loads(pickle.dumps(table))  # noqa: S301 - made here
    assert copy == table
    assert not copy.ranks_1.flags.writeable
    assert "positives (&lt;a&gt;)" in table._repr_html_()
    if weight is None:
        assert repr(table) == "PairedScoreCounts: 2 × '<a>', 1 × 'b', 3 and 2 distinct scores"


def test_counts_of_rows_may_be_given():
    table = PairedScoreCounts(
        [2, 1], [5], ranks_1=[0, 1], ranks_2=[0, 0], positive=[True, False], amounts=[3, 4]
    )
    spelled = PairedScoreCounts.from_scores([1] * 3 + [0] * 4, [2] * 3 + [1] * 4, [5] * 7)
    assert table == spelled
    assert table.first.positives.tolist() == [3, 0]
    assert table != "something else"
    with pytest.raises(TypeError, match="unsupported operand"):
        table + 5


ROWS = {"ranks_1": [0, 1], "ranks_2": [0, 0], "positive": [True, False]}


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: PairedScoreCounts.from_scores([0, 1], [1, 2], [1]),
            InputError,
            "y_true has 2 rows, y_score_1 has 2 rows, y_score_2 has 1 rows",
        ),
        (
            lambda: PairedScoreCounts.from_scores([0, 1], [1, np.nan], [1, 2]),
            InputError,
            r"y_score_1: expected numbers, got NaN at position 1 \(1 in all\)",
        ),
        (
            lambda: PairedScoreCounts.from_scores([0, 1], [1, 2], ["low", "high"]),
            InputError,
            "y_score_2: expected numbers, got 'low'",
        ),
        (
            lambda: PairedScoreCounts.from_scores([0, 1], [1, 2], [[0.5, 0.5], [0, 1]]),
            InputError,
            "y_score_2: expected one score an example",
        ),
        (
            lambda: PairedScoreCounts.from_scores([0, 1], [1, 2], [1, 2], sample_weight=[-1, 1]),
            InputError,
            "sample_weight: weights cannot be negative",
        ),
        (
            lambda: PairedScoreCounts.from_scores([], [], []),
            InputError,
            "expected at least one example",
        ),
        (
            lambda: PairedScoreCounts.from_frame(pd.DataFrame(FRAME), actual="actual", score="one"),
            InputTypeError,
            r"score: expected two column names, one for each scorer, such as \('a', 'b'\)",
        ),
        (
            lambda: PairedScoreCounts.from_frame(
                pl.LazyFrame(FRAME), actual="actual", score=("one", "two"), pos_label="yes"
            ),
            InputError,
            "frame: there is no column 'two'",
        ),
        (
            lambda: PairedScoreCounts.from_frame(
                pl.LazyFrame(FRAME), actual="actual", score=("one", "actual"), pos_label="yes"
            ),
            InputError,
            "column 'actual': expected numbers, got a column of type String",
        ),
        (
            lambda: PairedScoreCounts.from_frame(
                pl.LazyFrame({"y": [0, 1], "a": [1.0, None], "b": [1, 2]}),
                actual="y",
                score=("a", "b"),
            ),
            InputError,
            "column 'a': expected numbers, 1 rows have no score",
        ),
        (lambda: PairedScoreCounts([1, 2], [5], **ROWS), InputError, "thresholds_1: .*highest fi"),
        (lambda: PairedScoreCounts([2, 1], [], **ROWS), InputError, "thresholds_2: expected dist"),
        (
            lambda: PairedScoreCounts([2, 1], [5], **(ROWS | {"ranks_1": [0, 2]})),
            InputError,
            "ranks_1: expected positions among the 2 thresholds_1, from 0 up",
        ),
        (
            lambda: PairedScoreCounts([2, 1], [5], **(ROWS | {"ranks_2": [0, -1]})),
            InputError,
            "ranks_2: expected positions among the 1 thresholds_2",
        ),
        (
            lambda: PairedScoreCounts([2, 1], [5], **(ROWS | {"ranks_1": [0.5, 1]})),
            InputError,
            "ranks_1: expected whole numbers",
        ),
        (
            lambda: PairedScoreCounts([2, 1], [5], **(ROWS | {"positive": [1, 0]})),
            InputError,
            "positive: expected a boolean for each row, at least one",
        ),
        (
            lambda: PairedScoreCounts([2, 1], [5], **(ROWS | {"positive": [True]})),
            InputError,
            "ranks_1 has 2 rows, ranks_2 has 2 rows, positive has 1 rows",
        ),
        (
            lambda: PairedScoreCounts([2, 1], [5], **ROWS, amounts=[1]),
            InputError,
            "amounts has 1 rows",
        ),
        (
            lambda: PairedScoreCounts([2, 1], [5], **ROWS, amounts=[1, -1]),
            InputError,
            "amounts: counts cannot be negative",
        ),
        (
            lambda: PairedScoreCounts([2, 1], [5], **ROWS, pos_label=0),
            LabelError,
            "neg_label, pos_label: the label 0 occurs twice",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_squares_without_the_sums_of_weights_are_refused():
    with pytest.raises((InputError, InputTypeError), match="squares"):
        PairedScoreCounts([2, 1], [5], **ROWS, squares=[0.25, 1])
