"""Classifiers without scores: points in ROC space, lines in cost space."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stakes import Confusion, CostLine, CostMatrix, expected_cost
from stakes.errors import DesignError, InputError, InputTypeError, LabelError

rates = st.floats(0, 1, allow_subnormal=False)

# Figure 11 of Holte & Drummond: 16 of 20 positives and 4 of 10 negatives are predicted positive.
FIGURE_11 = CostLine.from_counts(Confusion([[6, 4], [4, 16]], labels=[0, 1]))


@given(rates, rates)
def test_a_line_goes_from_the_false_positive_to_the_false_negative_rate(fpr, tpr):
    line = CostLine(fpr, tpr)
    assert line.cost(0) == fpr
    assert line.cost(1) == 1 - tpr
    assert line.cost(0.3) == pytest.approx(0.3 * (1 - tpr) + 0.7 * fpr)
    assert line.area() == pytest.approx((fpr + 1 - tpr) / 2)
    assert line.point == (fpr, tpr)


@given(rates, rates)
def test_the_operating_range_is_where_the_line_is_under_the_diagonals(fpr, tpr):
    assume(abs(tpr - fpr) > 1e-6)
    line = CostLine(fpr, tpr)
    if tpr < fpr:
        assert line.operating_range() == ()
        return
    (found,) = line.operating_range()
    assert found == pytest.approx((fpr / (fpr + tpr), (1 - fpr) / (2 - fpr - tpr)), abs=1e-9)


def test_a_classifier_no_better_than_chance_has_no_operating_range():
    assert CostLine(0.4, 0.4).operating_range() == ()
    assert CostLine(0.0, 0.0).operating_range() == ()


def test_figure_11():
    assert FIGURE_11.point == (0.4, 0.8)
    assert (FIGURE_11.positives, FIGURE_11.negatives) == (20, 10)
    assert FIGURE_11.cost(0.5) == pytest.approx(0.3, abs=1e-15)
    mean, variance = FIGURE_11.moments([0.5])
    assert mean[0] == pytest.approx(0.3, abs=1e-15)
    assert variance[0] == pytest.approx(0.008, abs=1e-15)
    band = FIGURE_11.band(0.90, method="exact", pc=[0.5])
    assert (band.low[0], band.high[0]) == pytest.approx((0.15, 0.45), abs=1e-12)


def test_equations_9_and_10_in_the_units_of_the_paper():
    n_pos, n_neg, miss, alarm = 20, 10, 5, 1
    pc = n_pos * miss / (n_pos * miss + n_neg * alarm)
    mean, variance = FIGURE_11.moments([pc], sampling="full")
    factor = (n_pos * miss + n_neg * alarm) / ((n_pos + n_neg) * max(miss, alarm))
    assert factor * mean[0] == pytest.approx(0.16, abs=1e-14)
    assert factor**2 * variance[0] == pytest.approx(0.00376888889, abs=1e-11)


@given(st.data())
def test_moments_are_equations_4_5_9_and_10(data):
    n_pos, n_neg = data.draw(st.integers(1, 10**4)), data.draw(st.integers(1, 10**4))
    found, alarmed = data.draw(st.integers(0, n_pos)), data.draw(st.integers(0, n_neg))
    miss, alarm = data.draw(st.floats(0.01, 100)), data.draw(st.floats(0.01, 100))
    table = Confusion([[n_neg - alarmed, n_pos - found], [alarmed, found]], labels=[0, 1])
    line = CostLine.from_counts(table)
    n, most = n_pos + n_neg, max(miss, alarm)
    w = n_pos * miss / (n_pos * miss + n_neg * alarm)
    p, q = found / n_pos, alarmed / n_neg
    mean, variance = line.moments([w])
    assert mean[0] == pytest.approx(w * (1 - p) + (1 - w) * q, abs=1e-12)
    fifth = w**2 * p * (1 - p) / n_pos + (1 - w) ** 2 * q * (1 - q) / n_neg
    assert variance[0] == pytest.approx(fifth, abs=1e-12)
    mean, variance = line.moments([w], sampling="full")
    factor = (n_pos * miss + n_neg * alarm) / (n * most)
    ninth = (miss * (n_pos - found) + alarm * alarmed) / (n * most)
    assert factor * mean[0] == pytest.approx(ninth, abs=1e-12)
    spread = [found - found**2 / n_pos, alarmed - alarmed**2 / n_neg]
    between = (miss * (n_pos - found) / n_pos - alarm * alarmed / n_neg) ** 2 * n_pos * n_neg / n
    tenth = (miss**2 * spread[0] + alarm**2 * spread[1] + between) / (n * most) ** 2
    assert factor**2 * variance[0] == pytest.approx(tenth, abs=1e-12)


def test_the_positive_class_and_the_order_of_labels_are_as_named():
    table = Confusion([[16, 4], [4, 6]], labels=["yes", "no"])
    line = CostLine.from_counts(table, pos_label="yes", name="figure 11")
    assert line.point == FIGURE_11.point
    assert (line.positives, line.negatives, line.name) == (20, 10, "figure 11")
    other = CostLine.from_counts(table, pos_label="no")
    assert other.cost(0.2) == pytest.approx(line.cost(0.8))
    mixed = Confusion([[4, 6], [16, 4]], labels=["yes", "no"], decisions=["no", "yes"])
    assert CostLine.from_counts(mixed, pos_label="yes").point == line.point


@given(st.floats(0.01, 0.99), st.floats(0.1, 50), st.floats(0.1, 50))
def test_money_is_the_expected_cost_at_the_prevalence(prevalence, alarm, miss):
    costs = CostMatrix.from_errors(false_positive=alarm, false_negative=miss)
    shares = np.array([[0.6, 0.2], [0.4, 0.8]]) * [1 - prevalence, prevalence]
    expected = expected_cost(Confusion(shares, [0, 1]), costs)
    given_ = {"prevalence": prevalence, "false_positive": alarm, "false_negative": miss}
    assert FIGURE_11.money(**given_, volume=50) == pytest.approx(50 * expected)


def test_weighted_examples_count_for_what_their_weights_are_worth():
    table = Confusion.from_labels(
        [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 1, 0], sample_weight=[1, 1, 4, 2, 2, 2]
    )
    line = CostLine.from_counts(table)
    assert line.point == pytest.approx((1 / 6, 2 / 3))
    assert line.positives == pytest.approx(3)
    # Negatives: one of weight 1 is wrong; one of weight 1 and one of weight 4 are right.
    variance = (1 * (5 / 6) ** 2 + (1 + 16) * (1 / 6) ** 2) / 36
    assert line.negatives == pytest.approx(1 / 6 * 5 / 6 / variance)
    with pytest.raises(DesignError, match="not groups, weights or rates"):
        line.band(method="exact")
    with pytest.raises(DesignError, match="sampling: 'full' needs numbers of examples"):
        CostLine(*line.point, positives=line.positives, negatives=2.5).band(sampling="full")
    for sampling in ("stratified", "full"):
        assert np.isfinite(line.band(sampling=sampling).high).all()


def test_rates_that_stand_for_whole_numbers_can_be_drawn_again():
    for n in (3, 7, 49, 1000, 999_999):
        line = CostLine(1 / n, 1 - 1 / n, positives=n, negatives=n)
        mean, _ = line.moments([0.25])
        assert mean[0] == pytest.approx(1 / n, rel=1e-12)
        line.band(method="exact", pc=[0.25])


def test_without_sizes_there_are_costs_but_no_band():
    line = CostLine(0.04, 0.4)
    assert not line.sized
    assert line.at(0.3).limits is None
    assert "confidence" not in line.at(0.3).summary()
    for ask in (line.band, line.moments):
        with pytest.raises(DesignError, match="without the numbers of examples there is no band"):
            ask()


def test_pickling_equality_and_what_is_shown():
    line = CostLine(0.04, 0.4, 50, 100, name="<shy>")
    line.band()
    copy = pickle.loads(pickle.dumps(line))  # noqa: S301 - made here
    assert copy == line
    assert hash(copy) == hash(line)
    assert copy != CostLine(0.04, 0.4, 50, 101, name="<shy>")
    assert line.to_dict()["fpr"] == [0.04]
    assert line.to_dict()["tpr"] == [0.4]
    assert "&lt;shy&gt;" in line._repr_html_()
    assert repr(line).startswith("CostLine: The area under the cost curve of <shy> is 0.32")
    assert line.chosen_on == ""
    assert "chosen" not in line.summary()
    assert line.at(0.3).threshold is None


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: CostLine(1.1, 0.5), InputError, r"fpr: expected a rate from 0 to 1, got 1\.1"),
        (lambda: CostLine(0.1, -0.5), InputError, r"tpr: expected a rate from 0 to 1, got -0\.5"),
        (lambda: CostLine(np.nan, 0.5), InputError, "fpr: expected finite numbers, got nan"),
        (lambda: CostLine(0.1, "all"), InputError, "tpr: expected numbers, got 'all'"),
        (lambda: CostLine(None, 0.5), InputTypeError, "fpr: expected numbers, got None"),
        (lambda: CostLine([0.1, 0.2], 0.5), InputError, "fpr: expected one number"),
        (lambda: CostLine(0.1, 0.5, 10), InputError, "give both numbers of examples, or neither"),
        (
            lambda: CostLine(0.1, 0.5, 10, 0),
            InputError,
            "negatives: expected a positive number of examples, got 0",
        ),
        (lambda: CostLine(0.1, 0.5, -3, 4), InputError, "positives: expected a positive number"),
        (
            lambda: CostLine(0.15, 0.5, 10, 10).band(method="bootstrap"),
            DesignError,
            "method: 'bootstrap' draws whole examples",
        ),
        (
            lambda: CostLine.from_counts(Confusion(np.eye(3), labels=[0, 1, 2])),
            LabelError,
            "exactly two classes are needed, got 3",
        ),
        (
            lambda: CostLine.from_counts(Confusion([[1, 0], [2, 0]], labels=[0, 1])),
            InputError,
            "no example is 1, so its rates are not defined",
        ),
        (
            lambda: CostLine.from_counts(Confusion([[1, 2], [2, 1]], labels=["a", "b"])),
            LabelError,
            "pos_label: expected one of 'a', 'b', got 1",
        ),
        (
            lambda: CostLine.from_counts([[1, 2], [2, 1]]),
            InputTypeError,
            "confusion: expected a Confusion",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
