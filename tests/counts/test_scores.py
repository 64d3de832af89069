import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.strategies import weights
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from stakes import Confusion, PairedScoreCounts, ScoreCounts
from stakes.counts import scores as counting
from stakes.errors import InputError, InputTypeError

scores = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 0.5, np.inf, -np.inf])


@st.composite
def scored(draw, min_size=2):
    n = draw(st.integers(min_size, 50))
    y_true = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
    y_true[:2] = ["no", "yes"]
    return y_true, draw(st.lists(scores, min_size=n, max_size=n))


@given(scored())
def test_every_threshold_gives_the_confusion_of_its_decisions(drawn):
    y_true, y_score = drawn
    table = ScoreCounts.from_scores(y_true, y_score, pos_label="yes")
    y_score = np.nan_to_num(y_score).tolist()  # infinite scores are the largest numbers
    assert sorted(set(y_score), reverse=True) == table.thresholds.tolist()
    for threshold in [*table.thresholds, np.inf, -np.inf, 0.25]:
        decided = np.where(np.array(y_score) >= threshold, "yes", "no")
        expected = Confusion.from_labels(y_true, decided, labels=["no", "yes"])
        assert table.confusion_at(threshold) == expected
    assert (table.n, table.n_positives) == (len(y_true), y_true.count("yes"))


@given(scored())
def test_running_totals_are_scikit_learns_roc_curve(drawn):
    y_true, y_score = drawn
    y_score = np.clip(y_score, -1e300, 1e300)
    table = ScoreCounts.from_scores(y_true, y_score, pos_label="yes")
    fpr, tpr, thresholds = roc_curve(y_true, y_score, pos_label="yes", drop_intermediate=False)
    assert table.thresholds.tolist() == thresholds[1:].tolist()
    assert np.allclose(np.cumsum(table.positives) / table.n_positives, tpr[1:])
    assert np.allclose(np.cumsum(table.negatives) / table.n_negatives, fpr[1:])


def in_order(scores, positive):
    """Return the table by finding the order of all scores, as weighted ones are counted."""
    once = np.ones(len(scores), dtype=np.int64)
    every = np.asarray(scores, dtype=float)
    thresholds, (table,) = counting.count_scores(every, positive, [once])  # the other way
    return thresholds, table


KINDS = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "int64": np.int64,
    "int8": np.int8,
    "bool": np.bool_,
    "decimal": lambda values: np.array([Decimal(str(each)) for each in values.tolist()]),
}


FINE = [Decimal("0.12345678901234567891"), Decimal("0.12345678901234567892"), Decimal("0.5")]
WIDE = [2**53, 2**53 + 1, 5]


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
@pytest.mark.parametrize("scores", [FINE, WIDE], ids=["decimals", "integers"])
def test_scores_that_only_floats_cannot_tell_apart_are_refused(scores, make):
    said = "y_score: it has numbers that cannot be told apart as floating-point numbers"
    with pytest.raises(InputError, match=said):
        ScoreCounts.from_scores([0, 1, 1], make(scores))
    with pytest.raises(InputError, match="y_score_2: it has numbers that cannot be told apart"):
        PairedScoreCounts.from_scores([0, 1, 1], [0.1, 0.2, 0.3], make(scores))
    tied = ScoreCounts.from_scores([0, 1, 1], make([scores[0], scores[0], scores[2]]))
    assert len(tied.thresholds) == 2  # as they were given


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pa.table])
@pytest.mark.parametrize("scores", [FINE, WIDE], ids=["decimals", "integers"])
def test_scores_of_frames_that_only_floats_cannot_tell_apart_are_refused(scores, make):
    with pytest.raises(InputError, match="column 's': it has numbers that cannot be told apart"):
        ScoreCounts.from_frame(make({"t": [0, 1, 1], "s": scores}), actual="t", score="s")
    frame = make({"t": [0, 1, 1, 1], "s": [scores[0], scores[0], scores[2], scores[2]]})
    found = ScoreCounts.from_frame(frame, actual="t", score="s")
    assert (found.positives.tolist(), found.negatives.tolist()) in (
        ([1, 2], [1, 0]),
        ([2, 1], [0, 1]),
    )


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("distinct", [1, 5, 10**6])
@pytest.mark.parametrize("kind", KINDS)
def test_classes_sorted_apart_give_the_table_of_all_sorted(kind, distinct, share):
    rng = np.random.default_rng(distinct)
    positive = rng.random(300) < share
    made = np.round(rng.normal(size=300) * 9, 4) if distinct > 5 else rng.integers(0, distinct, 300)
    scores = KINDS[kind](made) if kind == "decimal" else made.astype(KINDS[kind])
    found = ScoreCounts.from_scores(positive, scores, pos_label=True, neg_label=False)
    thresholds, table = in_order(made.astype(float) if kind == "decimal" else scores, positive)
    assert found.thresholds.dtype == np.float64
    assert found.thresholds.tolist() == thresholds.tolist()
    assert [found.positives.tolist(), found.negatives.tolist()] == table.tolist()
    assert found.positives.dtype == np.int64


@given(scored())
def test_ties_infinities_and_zeros_are_counted_as_all_sorted(drawn):
    y_true, values = drawn
    positive = np.array(y_true) == "yes"
    found = ScoreCounts.from_scores(y_true, values, pos_label="yes")
    largest = np.finfo(float).max
    thresholds, table = in_order(np.clip(values, -largest, largest), positive)
    assert found.thresholds.tolist() == thresholds.tolist()
    assert [found.positives.tolist(), found.negatives.tolist()] == table.tolist()
    with pytest.raises(InputError, match="got NaN at position 1"):
        ScoreCounts.from_scores(y_true, [values[0], np.nan, *values[2:]], pos_label="yes")


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_infinite_scores_of_any_precision_are_the_largest_numbers(kind):
    """Those of single precision stay such only where they are finite; NaN is refused in all."""
    scores = np.array([0.5, np.inf, -0.0, 0.0, -np.inf, 0.5], dtype=kind)
    found = ScoreCounts.from_scores([0, 1, 1, 0, 0, 1], scores)
    largest = np.finfo(float).max
    assert found.thresholds.tolist() == [largest, 0.5, 0.0, -largest]
    assert np.signbit(found.thresholds).tolist() == [False, False, False, True]
    assert found.positives.tolist() == [1, 1, 1, 0]
    assert found.negatives.tolist() == [0, 1, 1, 1]
    scores[3] = np.nan
    with pytest.raises(InputError, match="got NaN at position 3"):
        ScoreCounts.from_scores([0, 1, 1, 0, 0, 1], scores)
    with pytest.raises(InputError, match="masked entry at position 0"):
        ScoreCounts.from_scores([0, 1], np.ma.array([1, 2], mask=[True, False], dtype=kind))


@given(scored(min_size=4), st.booleans())
def test_merging_parts_equals_counting_once(drawn, weighted):
    y_true, y_score = drawn
    names = {"pos_label": "yes", "neg_label": "no"}
    weight = np.array([0.5, 0.25] * len(y_true))[: len(y_true)]

    def count(part):
        extra = {"sample_weight": weight[part]} if weighted else {}
        return ScoreCounts.from_scores(y_true[part], y_score[part], **names, **extra)

    first, second, whole = count(slice(2)), count(slice(2, None)), count(slice(None))
    assert first + second == second + first == sum([first, second]) == whole
    assert whole.weighted == weighted


@given(scored())
def test_weights_of_one_count_and_weights_of_two_double(drawn):
    y_true, y_score = drawn
    table = ScoreCounts.from_scores(y_true, y_score, pos_label="yes")
    double = ScoreCounts.from_scores(
        y_true, y_score, pos_label="yes", sample_weight=np.full(len(y_true), 2.0)
    )
    assert (double.positives == 2 * table.positives).all()
    assert (double.negatives == 2 * table.negatives).all()


@given(scored(), st.data())
def test_weighted_tables_give_weighted_confusions(drawn, data):
    y_true, y_score = drawn
    weight = data.draw(weights(len(y_true)).map(lambda drawn: [w + 0.25 for w in drawn]))
    table = ScoreCounts.from_scores(y_true, y_score, pos_label="yes", sample_weight=weight)
    assert table.weighted
    for threshold in [*table.thresholds, np.inf, -np.inf]:
        decided = np.where(np.nan_to_num(y_score) >= threshold, "yes", "no")
        expected = Confusion.from_labels(
            y_true, decided, labels=["no", "yes"], sample_weight=weight
        )
        confusion = table.confusion_at(threshold)
        assert confusion.weighted
        assert np.allclose(confusion.counts, expected.counts)
        assert np.allclose(confusion.squares, expected.squares)


def test_only_squares_make_a_weighted_table():
    assert not ScoreCounts([2, 1], [0.5, 1], [1, 1]).weighted
    assert not ScoreCounts([2, 1], [0.5, 1], [1, 1]).confusion_at(2).weighted
    table = ScoreCounts([2, 1], [1, 1], [1, 3], squares=[[1, 1], [1, 9]])
    assert table.weighted
    assert table.positives.dtype == float
    assert (table + table).squares.tolist() == [[2, 2], [2, 18]]
    assert table.confusion_at(2).squares.tolist() == [[9, 1], [1, 1]]


def test_tables_with_infinite_scores_are_hashable():
    table = ScoreCounts([np.inf, 0, -np.inf], [1, 0, 0], [1, 1, 1])
    same = ScoreCounts([np.inf, -0.0, -np.inf], [1.0, 0, 0], [1, 1, 1])
    assert table == same
    assert hash(table) == hash(same)


def test_to_dict_and_html():
    table = ScoreCounts([2, 1], [3, 0], [1, 4], pos_label="<a>", neg_label="b")
    content = table.to_dict()
    assert content["thresholds"] == [2.0, 1.0]
    assert ScoreCounts(**content) == table
    weighted = ScoreCounts([2, 1], [3, 0], [1, 4], squares=[[9, 0], [1, 16]])
    assert ScoreCounts(**weighted.to_dict()) == weighted
    assert "positives (&lt;a&gt;)" in table._repr_html_()


def test_booleans_and_numbers():
    assert ScoreCounts.from_scores([True, False], [1, 2]) == ScoreCounts.from_scores([1, 0], [1, 2])
    assert ScoreCounts.from_scores([-1, 1], [1, 2]).neg_label == -1


def test_pickle_and_repr():
    table = ScoreCounts([2, 1], [3, 0], [1, 4], pos_label="a", neg_label="b")
    assert pickle.loads(pickle.dumps(table)) == table  # noqa: S301 - made here
    assert repr(table) == "ScoreCounts: 3 × 'a', 5 × 'b', 2 distinct scores"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: ScoreCounts.from_scores([0, 1], [0.5]),
            InputError,
            "y_true has 2 rows, y_score has 1 rows",
        ),
        (
            lambda: ScoreCounts.from_scores([0, 1], [0.5, np.nan]),
            InputError,
            r"y_score: expected numbers, got NaN at position 1 \(1 in all\)",
        ),
        (
            lambda: ScoreCounts.from_scores([0, 1], ["low", "high"]),
            InputError,
            r"y_score: expected numbers, got 'low' \(str\) at position 0",
        ),
        (
            lambda: ScoreCounts.from_scores([0, 1], [0.5, None]),
            InputError,
            "y_score: expected numbers",
        ),
        (
            lambda: ScoreCounts.from_scores([0, 1], [[0.5, 0.5], [0, 1]]),
            InputError,
            r"y_score: expected one score an example.*predict_proba\(X\)\[:, 1\]",
        ),
        (
            lambda: ScoreCounts.from_scores([0, 1], [[1, 2], [3]]),
            InputError,
            "y_score: expected numbers, got rows of different lengths",
        ),
        (
            lambda: ScoreCounts.from_scores([0, 1], np.ma.array([1.0, 2.0], mask=[True, False])),
            InputError,
            "y_score: expected numbers, got a masked entry at position 0",
        ),
        (
            lambda: ScoreCounts.from_scores([0, 1], [1, 2], sample_weight=[1e200, 1]),
            InputError,
            r"sample_weight: weights as large as 1e\+200",
        ),
        (
            lambda: ScoreCounts.from_scores(range(5000), range(5000)),
            InputError,
            "y_true: 5000 different labels are too many",
        ),
        (
            lambda: ScoreCounts([1], [1], [1]).confusion_at(None),
            InputTypeError,
            "threshold: expected numbers, got None",
        ),
        (
            lambda: ScoreCounts([1], [1], [1]).confusion_at("high"),
            InputError,
            r"threshold: expected numbers, got 'high' \(str\)\.",
        ),
        (
            lambda: ScoreCounts([1], [1], [1]).confusion_at([1, 2]),
            InputError,
            r"threshold: expected one number, got an array of shape \(2,\)",
        ),
        (
            lambda: ScoreCounts([1], np.ma.array([1], mask=[True]), [1]),
            InputError,
            "positives: expected numbers, got a masked entry at position 0",
        ),
        (lambda: ScoreCounts([1, 2], [1, 1], [1, 1]), InputError, "thresholds: .*highest first"),
        (lambda: ScoreCounts([], [], []), InputError, "thresholds"),
        (lambda: ScoreCounts(None, [0, 0], [0, 0]), InputTypeError, "thresholds: expected numbers"),
        (lambda: ScoreCounts([1], [1], [1]).confusion_at(np.nan), InputError, "threshold: .*NaN"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
