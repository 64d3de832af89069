import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import PairedScoreCounts, ScoreCounts
from stakes.errors import LabelError
from stakes.predictions import JointScores

LABELS = {"pos_label": "yes", "neg_label": "no"}
few = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 3.0, np.inf])


@st.composite
def examples(draw, models=3):
    """Whether examples are positive, and their scores."""
    n = draw(st.integers(1, 40))
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    names = [f"m{i}" for i in range(models)]
    columns = {name: np.array(draw(st.lists(few, min_size=n, max_size=n))) for name in names}
    return positive, columns


def counted(positive, columns):
    return JointScores.from_columns(positive, columns, **LABELS)


@given(examples())
def test_tables_are_those_of_the_library(drawn):
    positive, columns = drawn
    scores = counted(*drawn)
    y_true = np.where(positive, "yes", "no")
    for each in (scores, scores.compressed()):
        for name, values in columns.items():
            assert each.single(name) == ScoreCounts.from_scores(y_true, values, **LABELS)
        expected = PairedScoreCounts.from_scores(y_true, columns["m2"], columns["m0"], **LABELS)
        assert each.pair("m2", "m0") == expected
    assert scores.both_classes == (0 < positive.sum() < len(positive))


@given(examples(), st.integers(1, 40))
def test_merging_equals_counting_the_whole(drawn, cut):
    positive, columns = drawn
    parts = [
        counted(positive[part], {name: values[part] for name, values in columns.items()})
        for part in (slice(cut), slice(cut, None))
        if len(positive[part])
    ]
    whole = counted(*drawn)
    merged = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    assert merged == whole
    assert hash(merged) == hash(whole)
    for name in ("ranks", "positive", "amounts"):
        one, other = (getattr(each.compressed(), name) for each in (merged, whole))
        assert (one is None) == (other is None)
        assert one is None or one.tolist() == other.tolist()


def test_other_scores_cannot_be_merged():
    one = counted(np.array([True]), {"a": np.array([1.0])})
    other = counted(np.array([True]), {"b": np.array([1.0])})
    with pytest.raises(LabelError, match="scores of 'a' for 'yes' cannot be merged"):
        one + other
    with pytest.raises(TypeError):
        one + 1
