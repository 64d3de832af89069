import numpy as np
import pytest
from _helpers.strategies import confusions, cost_matrices
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from stakes import Confusion, CostMatrix, expected_cost
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.measures import chance_confusion, error_rate, kappa, rates, success_rate

# Witten, Frank & Hall, Table 5.4 (a); rows are the actual class.
WITTEN = Confusion([[88, 10, 2], [14, 40, 6], [18, 10, 12]], labels=["a", "b", "c"], rows="actual")


def test_table_5_4():
    assert success_rate(WITTEN) == pytest.approx(0.7)
    assert error_rate(WITTEN) == pytest.approx(0.3)
    expected = [[60, 30, 10], [36, 18, 6], [24, 12, 4]]
    assert pytest.approx(np.array(expected)) == chance_confusion(WITTEN).counts.T
    assert kappa(WITTEN) == pytest.approx(58 / 118)
    assert kappa(WITTEN) == pytest.approx(0.4915254237)


def test_counts_whose_products_are_no_64_bit_integers():
    large = Confusion(WITTEN.counts * 10**8, WITTEN.labels)
    assert chance_confusion(large).counts == pytest.approx(chance_confusion(WITTEN).counts * 1e8)
    assert kappa(large) == pytest.approx(58 / 118)
    even = Confusion(np.full((2, 2), 5 * 10**9), labels=[0, 1])
    assert chance_confusion(even).counts.tolist() == [[5e9, 5e9], [5e9, 5e9]]


@given(st.data())
def test_kappa_is_the_success_beyond_chance(data):
    confusion = data.draw(confusions(data.draw(cost_matrices())))
    assume(success_rate(chance_confusion(confusion)) < 1 - 1e-9)
    decided, actual = np.indices(confusion.counts.shape).reshape(2, -1)
    codes = {name: code for code, name in enumerate({*confusion.labels, *confusion.decisions})}
    peer = cohen_kappa_score(
        [codes[confusion.decisions[i]] for i in decided],
        [codes[confusion.labels[j]] for j in actual],
        sample_weight=confusion.counts.ravel(),
    )
    assert kappa(confusion) == pytest.approx(peer, rel=1e-9, abs=1e-9)
    assert kappa(chance_confusion(confusion)) == pytest.approx(0, abs=1e-9)


@given(st.data())
def test_the_error_rate_is_the_cost_of_zero_one(data):
    confusion = data.draw(confusions(data.draw(cost_matrices(extra_decisions=False))))
    assert error_rate(confusion) == pytest.approx(
        expected_cost(confusion, CostMatrix.zero_one(confusion.labels))
    )
    assert success_rate(confusion) == pytest.approx(1 - error_rate(confusion))


def test_abstaining_is_neither_a_success_nor_an_error():
    confusion = Confusion([[5, 1], [0, 2], [1, 1]], labels=[0, 1], decisions=[0, 1, "ask"])
    assert success_rate(confusion) == pytest.approx(0.7)
    assert error_rate(confusion) == pytest.approx(0.1)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_rates_follow_the_labels_not_the_positions(order):
    y_true = [1] * 40 + [0] * 50
    y_pred = [1] * 38 + [0] * 2 + [1] * 5 + [0] * 45
    found = rates(Confusion.from_labels(y_true, y_pred, labels=order))
    assert found.true_positive == pytest.approx(0.95)
    assert found.false_negative == pytest.approx(0.05)
    assert found.false_positive == pytest.approx(0.1)
    assert found.true_negative == pytest.approx(0.9)
    other = rates(Confusion.from_labels(y_true, y_pred, labels=order), pos_label=0)
    assert other.true_positive == found.true_negative
    assert other.false_positive == found.false_negative
    assert found.to_dict() == pytest.approx(
        {
            "true_positive": 0.95,
            "false_positive": 0.1,
            "true_negative": 0.9,
            "false_negative": 0.05,
        }
    )
    assert "true positive</th><td>0.95</td>" in found._repr_html_()


@pytest.mark.parametrize("measure", [success_rate, error_rate, rates, chance_confusion, kappa])
def test_counts_must_be_a_confusion_matrix_of_stakes(measure):
    with pytest.raises(InputTypeError, match=r"confusion: expected a Confusion, got a list"):
        measure([[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: rates(WITTEN, pos_label="a"),
            LabelError,
            "confusion: exactly two classes are needed, got 3",
        ),
        (
            lambda: rates(Confusion([[1, 2], [3, 4]], ["a", "b"])),
            LabelError,
            "pos_label: expected one of 'a', 'b', got 1",
        ),
        (
            lambda: rates(Confusion([[1, 0], [3, 0]], [0, 1])),
            InputError,
            "two classes are needed, but no example is 1",
        ),
        (
            lambda: rates(Confusion([[1, 2], [3, 4], [0, 1]], [0, 1], [0, 1, "ask"])),
            LabelError,
            "the rates need decisions that are the classes",
        ),
        (
            lambda: kappa(Confusion([[5, 0], [0, 0]], ["a", "b"])),
            InputError,
            "two classes are needed, but every example is and was called 'a'",
        ),
        (
            lambda: error_rate(Confusion([[1, 2], [3, 4]], ["a", "b"], ["x", "y"])),
            LabelError,
            r"none of the decisions \('x', 'y'\) is a class",
        ),
        (
            lambda: kappa(Confusion([[1, 2], [3, 4]], ["a", "b"], ["x", "y"])),
            LabelError,
            "none of the decisions",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
