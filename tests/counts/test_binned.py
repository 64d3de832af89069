import math
import pickle

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.strategies import weights
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stakes import BinnedScoreCounts, ScoreCounts
from stakes.counts._bins import bin_expression, bin_of, reaches
from stakes.errors import InputError, InputTypeError, LabelError, ToleranceWarning


def duckdb_frame(columns):
    return duckdb.from_arrow(pa.table(columns))


LAZY = {"polars lazy": pl.LazyFrame, "duckdb": duckdb_frame}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, **LAZY}
lazy_frames = pytest.mark.parametrize("frame", LAZY.values(), ids=LAZY)
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)

EDGES = [16.0, -16.0, 0.25, 1 / 8192, -1 / 8192, 0.0, -0.0, math.inf, -math.inf, 1e308, 5e-324]
AROUND = [
    *EDGES,
    *(math.nextafter(edge, way) for edge in EDGES for way in (math.inf, -math.inf)),
]
any_score = st.floats(allow_nan=False) | st.sampled_from(AROUND) | st.floats(0, 1)


@st.composite
def clumped(draw, min_size=2, max_size=60):
    """Labels and scores, many of which are close together or the same."""
    n = draw(st.integers(min_size, max_size))
    y_true = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
    y_true[:2] = ["no", "yes"]
    centres = draw(st.lists(any_score, min_size=1, max_size=3))
    near = st.builds(
        lambda centre, step: centre + step,
        st.sampled_from(centres),
        st.sampled_from([0.0, 1e-9, -1e-9, 1e-6, 1e-5, 3e-4, 0.5]),
    )
    return y_true, draw(st.lists(near | any_score, min_size=n, max_size=n))


tolerances = st.sampled_from([1.0, 0.1, 1e-2, 1e-4, 1e-9])
may_miss = pytest.mark.filterwarnings("ignore::stakes.errors.ToleranceWarning")


@lazy_frames
@settings(max_examples=20)
@given(scores=st.lists(any_score, min_size=1, max_size=50))
def test_engines_find_the_bins_that_numpy_finds(frame, scores):
    wrapped = nw.from_native(frame({"row": range(len(scores)), "s": scores})).lazy()
    table = wrapped.select("row", bin_expression(nw.col("s")).alias("bin")).collect()
    found = table.sort("row")["bin"].to_list()
    assert found == bin_of(np.array(scores)).tolist()


@given(st.lists(any_score, min_size=2, max_size=50))
def test_bins_of_higher_scores_are_not_lower(scores):
    ordered = np.sort(np.array(scores))
    keys = bin_of(ordered)
    assert (keys[1:] >= keys[:-1]).all()


@may_miss
@frames
@settings(max_examples=20)
@given(drawn=clumped(), tolerance=tolerances)
def test_frames_give_the_bins_of_arrays(frame, drawn, tolerance):
    y_true, y_score = drawn
    names = {"pos_label": "yes", "tolerance": tolerance}
    table = frame({"t": y_true, "s": y_score, "b": [label == "yes" for label in y_true]})
    binned = BinnedScoreCounts.from_frame(table, actual="t", score="s", **names)
    assert binned == BinnedScoreCounts.from_scores(y_true, y_score, **names)
    assert binned.positives.dtype == np.int64
    both = BinnedScoreCounts.from_frame(table, actual="t", score="s", neg_label="no", **names)
    assert both == binned
    told = BinnedScoreCounts.from_frame(table, actual="b", score="s", tolerance=tolerance)
    assert told.to_dict() | {"pos_label": "yes", "neg_label": "no"} == binned.to_dict()


@may_miss
@frames
@settings(max_examples=20)
@given(drawn=clumped(), tolerance=tolerances, data=st.data())
def test_frames_with_weights_give_the_bins_of_arrays(frame, drawn, tolerance, data):
    y_true, y_score = drawn
    weight = [w + 0.25 for w in data.draw(weights(len(y_true)))]
    names = {"pos_label": "yes", "tolerance": tolerance}
    table = frame({"t": y_true, "s": y_score, "w": weight})
    binned = BinnedScoreCounts.from_frame(table, actual="t", score="s", sample_weight="w", **names)
    whole = BinnedScoreCounts.from_scores(y_true, y_score, sample_weight=weight, **names)
    exact = ScoreCounts.from_scores(y_true, y_score, sample_weight=weight, pos_label="yes")
    assert binned.weighted
    assert whole.n == pytest.approx(binned.n)
    assert _agrees(binned, exact)
    assert _agrees(whole, exact)


@may_miss
@given(clumped(), tolerances)
def test_what_bins_know_of_thresholds_is_exact(drawn, tolerance):
    y_true, y_score = drawn
    binned = BinnedScoreCounts.from_scores(y_true, y_score, pos_label="yes", tolerance=tolerance)
    assert _agrees(binned, ScoreCounts.from_scores(y_true, y_score, pos_label="yes"))


def _agrees(binned, exact):
    table = binned.score_counts()
    assert set(binned.lowest) | set(binned.highest) <= set(exact.thresholds)
    for threshold in [*binned.lowest, np.inf]:
        mine, theirs = (each.confusion_at(threshold) for each in (table, exact))
        assert np.allclose(mine.counts, theirs.counts)
        if exact.squares is not None:
            assert np.allclose(mine.squares, theirs.squares)
    return True


def by_hand(binned):
    """Return the width of the bracket from all lines at very many operating conditions."""
    false = np.append(0, np.cumsum(binned.negatives)) / binned.n_negatives
    missed = 1 - np.append(0, np.cumsum(binned.positives)) / binned.n_positives
    inside = ~binned.exact
    pc = np.linspace(0, 1, 20001)[:, np.newaxis]
    upper = ((1 - pc) * false + pc * missed).min(axis=1)
    lower = ((1 - pc) * false[:-1][inside] + pc * missed[1:][inside]).min(axis=1, initial=np.inf)
    return max((upper - lower).max(), 0.0)


@may_miss
@given(clumped(), tolerances)
@example((["no", "yes", "yes"], [math.inf, math.inf, 0.5]), 1.0)
def test_the_width_is_what_the_best_corner_of_a_bin_gains(drawn, tolerance):
    y_true, y_score = drawn
    binned = BinnedScoreCounts.from_scores(y_true, y_score, pos_label="yes", tolerance=tolerance)
    found = by_hand(binned)
    assert found - 1e-9 <= binned.width <= found + 1e-3
    assert (binned.reaches()[binned.exact] == 0).all()


def test_one_class_alone_has_no_bracket():
    counts = np.array([[1, 2], [0, 0]])
    assert not reaches(*counts, np.array([False, False])).any()


def smooth(n, seed=0):
    rng = np.random.default_rng(seed)
    y_true = rng.random(n) < 0.2
    return y_true, np.where(y_true, rng.beta(3, 2, n), rng.beta(1.5, 6, n))


SHAPES = {
    "spread over [0, 1]": lambda s: s,
    "log-odds": lambda s: np.log(s / (1 - s)),
    "near zero": lambda s: s * 1e-5,
    "points": lambda s: 300 + 550 * s,
    "large": lambda s: 1e9 * (1 + s),
    "negative and large": lambda s: -1e6 * (1 - s),
    "far from zero": lambda s: 1e6 + s,
    "overconfident": lambda s: 1 / (1 + np.exp(-30 * (s - 0.4))),
    "in single precision": lambda s: s.astype(np.float32),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_two_passes_meet_the_tolerance(shape, monkeypatch):
    y_true, scores = smooth(200_000)
    frame = pl.LazyFrame({"t": y_true, "s": shape(scores)})
    collected = []
    collect = pl.LazyFrame.collect
    monkeypatch.setattr(
        pl.LazyFrame,
        "collect",
        lambda self, **options: collected.append(collect(self, **options)) or collected[-1],
    )
    binned = BinnedScoreCounts.from_frame(frame, actual="t", score="s", tolerance=1e-4)
    assert binned.width <= 1e-4
    assert len(collected) <= 2
    assert max(map(len, collected)) < 140_000


@pytest.mark.parametrize("spread", [20, 50, 100, 200, 1000, 1e5])
@pytest.mark.parametrize("n", [20_000, 200_000])
def test_scores_on_both_sides_of_zero_may_lie_far_from_it(spread, n):
    rng = np.random.default_rng(0)
    y_true = rng.random(n) < 0.5
    scores = rng.normal(np.where(y_true, spread / 2, -spread / 2), spread)
    assert BinnedScoreCounts.from_scores(y_true, scores, tolerance=1e-4).width <= 1e-4


def test_few_distinct_scores_are_exact():
    y_true, scores = smooth(100_000)
    rounded = scores.round(2)
    frame = pl.LazyFrame({"t": y_true, "s": rounded})
    binned = BinnedScoreCounts.from_frame(frame, actual="t", score="s")
    assert binned.width == 0
    assert binned.score_counts() == ScoreCounts.from_scores(y_true, rounded)


def test_a_heavy_tie_is_no_obstacle():
    y_true, scores = smooth(100_000)
    scores[::2] = 0.0  # as when tiny probabilities are rounded to single precision
    scores[1::4] = np.minimum(scores[1::4] * 1e-5, 1e-4)
    binned = BinnedScoreCounts.from_frame(
        pl.LazyFrame({"t": y_true, "s": scores}), actual="t", score="s"
    )
    assert binned.width <= 1e-4
    assert 0.0 in binned.lowest[binned.exact]


def test_what_two_passes_cannot_split_is_told():
    labels = [0, 1, 1, 0] * 25
    assert BinnedScoreCounts.from_scores(labels, [1.0, 1 + 1e-13] * 50).width == 0
    close = [1.0, 1 + 1e-15] * 50
    with pytest.warns(ToleranceWarning, match=r"tolerance: 0\.001 was asked .* is 0\.5 wide"):
        assert BinnedScoreCounts.from_scores(labels, close, tolerance=1e-3).width == 0.5
    frame = pl.LazyFrame({"t": labels, "s": close})
    with pytest.warns(ToleranceWarning, match=r"tolerance: 0\.0001 was asked .* is 0\.5 wide"):
        BinnedScoreCounts.from_frame(frame, actual="t", score="s")
    far = [*np.geomspace(1e20, 1e25, 50), 1e300]
    with pytest.warns(ToleranceWarning):
        binned = BinnedScoreCounts.from_scores([0, 1] * 25 + [1], far)
    assert binned.width > 0.1
    assert "within 0." in repr(binned)


def test_scores_that_change_between_passes_are_refused():
    y_true, scores = smooth(5000)
    passes = []

    def shrinking(frame):
        passes.append(1)
        return frame.head(len(frame) // len(passes))

    frame = pl.LazyFrame({"t": y_true, "s": scores * 1e-5}).map_batches(
        shrinking, predicate_pushdown=False, projection_pushdown=False, slice_pushdown=False
    )
    with pytest.raises(InputError, match=r"frame: a second pass over its rows found .* examples"):
        BinnedScoreCounts.from_frame(frame, actual="t", score="s")


@may_miss
@given(clumped(min_size=6), tolerances, st.data())
def test_merging_is_associative_and_order_free(drawn, tolerance, data):
    y_true, y_score = drawn
    n = len(y_true)
    names = {"pos_label": "yes", "neg_label": "no", "tolerance": tolerance}
    cuts = sorted(data.draw(st.lists(st.integers(1, n - 1), min_size=2, max_size=2, unique=True)))
    parts = [
        BinnedScoreCounts.from_scores(y_true[a:b], y_score[a:b], **names)
        for a, b in zip([0, *cuts], [*cuts, n], strict=True)
    ]
    one, two, three = parts
    assert (one + two) + three == one + (two + three) == sum([three, one, two])
    merged = sum(parts)
    assert merged.n == n
    assert _agrees(merged, ScoreCounts.from_scores(y_true, y_score, pos_label="yes"))


def test_merging_parts_of_one_pass_is_counting_once():
    y_true, scores = smooth(100_000)
    whole = BinnedScoreCounts.from_scores(y_true, scores, tolerance=1)
    parts = [
        BinnedScoreCounts.from_scores(y_true[i::3], scores[i::3], tolerance=1) for i in range(3)
    ]
    merged = sum(parts)
    assert merged.width <= whole.width * 1.01
    assert len(whole.lowest) <= len(merged.lowest) < 2 * len(whole.lowest)


def test_merging_weights():
    one = BinnedScoreCounts([2], [3], [1], [4], squares=[[1], [8]])
    other = BinnedScoreCounts([5, 1], [6, 2], [1, 1], [1, 1], squares=[[1, 2], [3, 4]])
    merged = one + other
    assert merged.lowest.tolist() == [5, 1]
    assert merged.highest.tolist() == [6, 3]
    assert merged.squares.tolist() == [[1, 3], [3, 12]]


def test_pickle_equality_and_plain_values():
    binned = BinnedScoreCounts([2, 0], [3, 1], [3, 0], [1, 4], pos_label="<a>", neg_label="b")
    assert pickle.loads(pickle.dumps(binned)) == binned  # noqa: S301 - made here
    assert BinnedScoreCounts(**binned.to_dict()) == binned
    assert hash(BinnedScoreCounts(**binned.to_dict())) == hash(binned)
    assert binned != binned + binned
    weighted = BinnedScoreCounts([2], [3], [1], [4], squares=[[1], [8]])
    assert BinnedScoreCounts(**weighted.to_dict()) == weighted
    assert "positives (&lt;a&gt;)" in binned._repr_html_()
    assert repr(binned) == (
        "BinnedScoreCounts: 3 × '<a>', 5 × 'b', 2 bins, within 0.1667 of the exact cost curve"
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BinnedScoreCounts([1], [0], [1], [1]), InputError, "lowest, highest: .*overlap"),
        (lambda: BinnedScoreCounts([2, 1], [3, 2], [1, 1], [1, 1]), InputError, "not overlap"),
        (lambda: BinnedScoreCounts([1], [np.nan], [1], [1]), InputError, "without NaN"),
        (lambda: BinnedScoreCounts([1], [2, 3], [1], [1]), InputError, "lowest has 1 rows, high"),
        (lambda: BinnedScoreCounts([1, 2], [1, 2], [1, 1], [1, 1]), InputError, "^lowest: .*first"),
        (lambda: BinnedScoreCounts([1], [1], [1, 2], [1]), InputError, "lowest has 1 rows, posi"),
        (lambda: BinnedScoreCounts([1], ["x"], [1], [1]), InputError, "highest: expected numbers"),
        (lambda: BinnedScoreCounts([1], [1], [0], [0]), InputError, "all counts are zero"),
        (
            lambda: BinnedScoreCounts.from_scores([0, 1], [1, 2], tolerance=0),
            InputError,
            "tolerance: expected a normalised expected cost, above 0 and up to 1, got 0",
        ),
        (
            lambda: BinnedScoreCounts.from_scores([0, 1], [1, 2], tolerance="little"),
            InputError,
            "tolerance: expected numbers",
        ),
        (
            lambda: BinnedScoreCounts.from_counts([1, 2]),
            InputTypeError,
            "counts: expected a ScoreCounts, got a list",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


@frames
def test_bad_columns_are_named(frame):
    table = frame(
        {
            "t": ["a", None, "b"],
            "u": ["a", "b", "b"],
            "v": ["a", "b", "c"],
            "s": [0.5, None, None],
            "nan": [0.5, float("nan"), 1.0],
            "ok": [0.5, 0.25, 1.0],
            "w": [1.0, -1.0, 1.0],
            "zero": [0.0, 1.0, 1.0],
        }
    )

    def counted(actual="u", score="ok", pos_label="b", **options):
        return BinnedScoreCounts.from_frame(
            table, actual=actual, score=score, pos_label=pos_label, **options
        )

    assert counted().n == counted(neg_label="a").n == 3
    with pytest.raises(LabelError, match=r"column 't': .*(missing|rows have no label)"):
        counted(actual="t", neg_label="a")
    with pytest.raises(LabelError, match="column 'v': exactly two classes are needed, got 3"):
        counted(actual="v", neg_label="a")
    with pytest.raises(InputError, match=r"column 's': expected numbers, (2 rows|got NaN)"):
        counted(score="s", neg_label="a")
    with pytest.raises(InputError, match=r"column 's': expected numbers, (2 rows|got NaN)"):
        counted(score="s")
    with pytest.raises(InputError, match=r"column 'nan': expected numbers, (1 rows|got NaN)"):
        counted(score="nan")
    with pytest.raises(InputError, match="column 'u': expected numbers, got a column of type"):
        counted(score="u")
    with pytest.raises(LabelError, match=r"column 't': .*(missing|rows have no label)"):
        counted(actual="t")
    with pytest.raises(LabelError, match="column 'v': exactly two classes are needed, got 3"):
        counted(actual="v")
    with pytest.raises(InputError, match="frame: there is no column 'other'"):
        counted(score="other")
    with pytest.raises(LabelError, match="pos_label: 1 does not occur in column 'u'"):
        counted(pos_label=1)
    with pytest.raises(InputError, match="column 'w': weights cannot be negative"):
        counted(sample_weight="w")
    with pytest.raises(InputError, match=r"column 'u': two classes.*'a' have weight zero"):
        counted(sample_weight="zero")


@lazy_frames
def test_an_empty_frame(frame):
    table = frame({"t": pa.array([], pa.int64()).to_numpy(), "s": np.array([])})
    with pytest.raises(InputError, match="frame: expected at least one example"):
        BinnedScoreCounts.from_frame(table, actual="t", score="s")
