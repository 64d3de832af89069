"""Common properties of the score tables of two classes, for each kind of table."""

import pytest

from stakes import BinnedScoreCounts, PairedScoreCounts, ScoreCounts
from stakes.errors import InputError, LabelError


def paired_scores(y_true, y_score, **options):
    return PairedScoreCounts.from_scores(y_true, y_score, y_score, **options)


COUNT = {
    "scores": ScoreCounts.from_scores,
    "binned": BinnedScoreCounts.from_scores,
    "paired": paired_scores,
}
SCORES = [3, 2, 1]
counting = pytest.mark.parametrize("count", COUNT.values(), ids=COUNT)


@counting
def test_classes_can_be_renamed(count):
    table = count([1, 0, 0], SCORES)
    named = table.relabel(pos_label="fraud", neg_label="ok")
    assert named == count(["fraud", "ok", "ok"], SCORES, pos_label="fraud")
    assert (named.pos_label, named.neg_label) == ("fraud", "ok")
    assert (table.pos_label, table.neg_label) == (1, 0)
    assert (named.n_positives, named.n_negatives, named.n) == (1, 2, 3)
    with pytest.raises(LabelError, match="neg_label, pos_label: the label 'ok' occurs twice"):
        table.relabel(pos_label="ok", neg_label="ok")


def test_decisions_have_the_new_names():
    counts = ScoreCounts.from_scores([True, False, True], [0.3, 0.2, 0.9])
    named = counts.relabel(pos_label="fraud", neg_label="ok")
    assert named.confusion_at(0.3).labels == ("ok", "fraud")
    assert (counts.pos_label, counts.neg_label) == (1, False)


@counting
@pytest.mark.parametrize(
    ("y_true", "options", "error", "message"),
    [
        ([1, 1], {}, LabelError, "y_true: two classes are needed, got only 1"),
        (["a", "b"], {}, LabelError, "pos_label: 1 does not occur in y_true, which has 'a', 'b'"),
        (["1", "0"], {}, LabelError, "The str '1' is known, the int 1 is not"),
        ([0, 1, 2], {}, LabelError, "y_true: exactly two classes are needed, got 3: 0, 1, 2"),
        ([0, 1], {"neg_label": 5}, LabelError, "exactly two classes are needed, got 3"),
        ([0, 1], {"neg_label": 1}, LabelError, "pos_label, neg_label: the label 1 occurs twice"),
        (
            [0, 1],
            {"pos_label": [1]},
            LabelError,
            r"pos_label: the label at position 0 is \[1\] \(list\), which cannot be a label",
        ),
        (
            [0, 1],
            {"sample_weight": [0, 1]},
            InputError,
            "y_true: two classes are needed, all examples of 0 have weight zero",
        ),
    ],
)
def test_two_classes_are_needed(count, y_true, options, error, message):
    with pytest.raises(error, match=message):
        count(y_true, range(len(y_true)), **options)


@counting
def test_only_tables_of_the_same_classes_and_kind_can_be_merged(count):
    table = count([1, 0, 0], SCORES)
    with pytest.raises(LabelError, match="classes 0 and 1 cannot be merged with one of 0 and 2"):
        table + count([2, 0, 0], SCORES, pos_label=2)
    with pytest.raises(InputError, match="scores with sample weights cannot be merged"):
        table + count([1, 0, 0], SCORES, sample_weight=[0.5, 1, 2])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"squares": [1, 1]}, "squares: expected a two-dimensional"),
        ({"squares": [[1]]}, r"squares: expected an array of shape \(2, 1\)"),
        ({"positives": [1, 1]}, "thresholds has 1 rows, positives has 2 rows"),
        ({"positives": [0], "negatives": [0]}, "all counts are zero"),
    ],
)
def test_positives_and_negatives_of_each_score_are_needed(given, message):
    with pytest.raises(InputError, match=message):
        ScoreCounts(**({"thresholds": [1], "positives": [1], "negatives": [1]} | given))
