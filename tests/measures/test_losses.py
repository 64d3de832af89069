import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics  # noqa: F401 - importing it takes longer than one example may
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stakes.errors import InputError, LabelError
from stakes.measures import hand_till_auc, informational_loss, quadratic_loss


@st.composite
def predictions(draw):
    """Classes, actual classes and probabilities; probabilities of 0 and ties included."""
    labels = draw(st.sampled_from([["no", "yes"], [3, 1, 2], list("abcde")]))
    n = draw(st.integers(len(labels), 20))
    y_true = [*labels, *draw(st.lists(st.sampled_from(labels), max_size=n))]
    raw = draw(
        hnp.arrays(float, (len(y_true), len(labels)), elements=st.sampled_from([0, 1, 2, 5]))
    )
    raw[raw.sum(axis=1) == 0] = 1
    return labels, y_true, raw / raw.sum(axis=1, keepdims=True)


@given(predictions())
def test_quadratic_loss_is_the_printed_sum_and_keeps_its_bound(drawn):
    labels, y_true, proba = drawn
    each = [
        sum((p - (label == actual)) ** 2 for p, label in zip(row, labels, strict=True))
        for actual, row in zip(y_true, proba, strict=True)
    ]
    assert quadratic_loss(y_true, proba, labels=labels) == pytest.approx(np.mean(each))
    for actual, row, loss in zip(y_true, proba, each, strict=True):
        assert quadratic_loss([actual], [row], labels=labels) == pytest.approx(loss)
        assert loss <= 1 + (row**2).sum() + 1e-12 <= 2 + 1e-12


@given(predictions())
def test_informational_loss_is_bits_of_the_actual_class(drawn):
    labels, y_true, proba = drawn
    bits = [
        math.inf if row[labels.index(actual)] == 0 else -math.log2(row[labels.index(actual)])
        for actual, row in zip(y_true, proba, strict=True)
    ]
    assert informational_loss(y_true, proba, labels=labels) == pytest.approx(np.mean(bits))


def test_losses_at_their_ends():
    labels = ["a", "b"]
    assert quadratic_loss(["a"], [[1, 0]], labels=labels) == 0
    assert quadratic_loss(["a"], [[0, 1]], labels=labels) == 2
    assert informational_loss(["a"], [[1, 0]], labels=labels) == 0
    assert informational_loss(["a"], [[0, 1]], labels=labels) == math.inf
    assert informational_loss(["a", "b"], [[0.25, 0.75]] * 2, labels=labels) == pytest.approx(
        (2 - math.log2(0.75)) / 2
    )
    assert quadratic_loss(["a"], [[1]], labels=["a"]) == 0


@given(predictions())
def test_auc_is_hand_and_tills_average_over_pairs(drawn):
    labels, y_true, proba = drawn
    y = np.array([labels.index(actual) for actual in y_true])

    def separation(i, j):
        """P(an i has a higher probability of i than a j has), ties counted half."""
        mine, theirs = proba[y == i, i], proba[y == j, i]
        return np.mean([(a > b) + 0.5 * (a == b) for a, b in itertools.product(mine, theirs)])

    pairs = list(itertools.combinations(range(len(labels)), 2))
    if len(labels) == 2:
        expected = separation(1, 0)
    else:
        expected = np.mean([(separation(i, j) + separation(j, i)) / 2 for i, j in pairs])
    assert hand_till_auc(y_true, proba, labels=labels) == pytest.approx(expected, abs=1e-9)


def test_probabilities_rounded_in_a_file_are_accepted():
    proba = [[0.333, 0.333, 0.333], [0.25, 0.5, 0.25], [0.1, 0.2, 0.7]]
    assert 0 < hand_till_auc(["a", "b", "c"], proba, labels=["a", "b", "c"]) <= 1
    assert quadratic_loss(["a", "b", "c"], proba, labels=["a", "b", "c"]) > 0


@pytest.mark.parametrize("loss", [quadratic_loss, informational_loss, hand_till_auc])
def test_columns_of_a_frame_are_matched_by_name(loss):
    proba = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.1, 0.2, 0.7]])
    y_true, labels = ["a", "b", "b", "c"], ["a", "b", "c"]
    expected = loss(y_true, proba, labels=labels)
    turned = pd.DataFrame(proba[:, [2, 0, 1]], columns=["c", "a", "b"])
    assert loss(y_true, turned, labels=labels) == expected
    assert loss(y_true, pl.from_pandas(turned), labels=labels) == expected
    assert loss(y_true, pd.DataFrame(proba), labels=labels) == expected
    with pytest.raises(LabelError, match="proba: expected columns named 'a', 'b', 'c'"):
        loss(y_true, turned.rename(columns={"c": "d"}), labels=labels)


@pytest.mark.parametrize("loss", [quadratic_loss, informational_loss, hand_till_auc])
@pytest.mark.parametrize(
    ("y_true", "proba", "error", "message"),
    [
        (["a", "b"], [[0.5, 0.5]], InputError, "y_true has 2 rows, proba has 1 rows"),
        (["a", "z"], [[0.5, 0.5]] * 2, LabelError, "y_true: the label 'z' at position 1"),
        (["a"], [[0.7, 0.7]], InputError, "proba: .*those at position 0 sum to 1.4"),
        (["a"], [[0.7, 0.2, 0.1]], InputError, "proba: expected 2 columns.*got 3"),
        (["a"], [["x", "y"]], InputError, "proba: expected numbers, got 'x'"),
        ([None], [[0.5, 0.5]], LabelError, "y_true: the label at position 0 is missing"),
    ],
)
def test_bad_input(loss, y_true, proba, error, message):
    with pytest.raises(error, match=message):
        loss(y_true, proba, labels=["a", "b"])


def test_the_auc_needs_every_class():
    with pytest.raises(InputError, match=r"two or more classes, each of them present.*is 'b'"):
        hand_till_auc(["a"], [[0.5, 0.5]], labels=["a", "b"])
    with pytest.raises(InputError, match="got 1 classes"):
        hand_till_auc(["a"], [[1]], labels=["a"])
