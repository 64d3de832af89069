"""Averages of evaluations at each operating condition (Holte & Drummond, section 7)."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostCurve, CostLine
from stakes.curves import average_curves, best_of
from stakes.errors import DesignError, InputError, InputTypeError

GRID = np.linspace(0, 1, 501)


def folds(seed, how_many=3):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(how_many):
        y_true = np.append([0, 1], rng.integers(0, 2, 20))
        made.append(CostCurve.from_scores(y_true, (y_true + rng.normal(0, 1, 22)).round()))
    return made


@given(st.integers(0, 10**6))
def test_the_cost_is_the_mean_of_the_costs_at_each_condition(seed):
    curves = folds(seed)
    found = average_curves(curves)
    expected = np.mean([curve.cost(GRID) for curve in curves], axis=0)
    assert np.allclose(found.cost(GRID), expected, atol=1e-14)
    assert found.area() == pytest.approx(np.mean([curve.area() for curve in curves]), abs=1e-13)


def test_selected_curves_are_averaged_at_the_very_end_too():
    one, other, validation = folds(6)
    curves = [curve.select(validation.counts) for curve in (one, other)]
    for combined, function in ((average_curves(curves), np.mean), (best_of(curves), np.min)):
        for pc in (0.0, 1.0):
            costs = [curve.cost(pc) for curve in curves]
            constant = [0.0] if function is np.min else []
            assert combined.cost(pc) == pytest.approx(function(costs + constant), abs=1e-14)


def test_figure_10_is_the_mean_of_two_envelopes():
    shy, eager = CostLine(0.04, 0.4), CostLine(0.3, 0.8)
    envelopes = [best_of([line]) for line in (shy, eager)]
    found = average_curves(envelopes)
    constant = np.minimum(GRID, 1 - GRID)
    by_hand = [
        np.minimum(constant, (1 - GRID) * fpr + GRID * (1 - tpr))
        for fpr, tpr in ((0.04, 0.4), (0.3, 0.8))
    ]
    assert np.allclose(found.cost(GRID), np.mean(by_hand, axis=0), atol=1e-14)
    assert found.cost(0.5) == pytest.approx((0.32 + 0.25) / 2)
    assert (found.cost(GRID) <= constant + 1e-15).all()


def test_moments_are_those_of_independent_test_sets():
    curves = folds(1)
    average = average_curves(curves, name="cross-validated")
    for sampling in ("stratified", "full"):
        mean, variance = average.moments(GRID, sampling=sampling)
        each = [curve.moments(GRID, sampling=sampling) for curve in curves]
        assert np.allclose(mean, np.mean([one for one, _ in each], axis=0), atol=1e-13)
        assert np.allclose(variance, np.sum([two for _, two in each], axis=0) / 9, atol=1e-13)


def test_the_average_of_one_curve_is_that_curve():
    (curve,) = folds(4, 1)
    average = average_curves(curve)
    for method in ("mover", "gaussian", "exact"):
        one, other = curve.band(method=method), average.band(method=method)
        assert np.allclose(one.low, other.low, atol=1e-12)
        assert np.allclose(one.high, other.high, atol=1e-12)


@pytest.mark.parametrize("method", ["mover", "wilson", "gaussian", "exact", "bootstrap"])
@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_the_band_of_an_average_is_narrower_than_that_of_a_fold(method, sampling):
    line = CostLine(0.2, 0.7, 30, 40)
    options = {"rng": 0} if method == "bootstrap" else {}
    pc = [0.25, 0.5]
    one = line.band(method=method, sampling=sampling, pc=pc, **options)
    four = average_curves([line] * 4).band(method=method, sampling=sampling, pc=pc, **options)
    assert np.allclose(four.cost, one.cost)
    assert ((four.high - four.low) / (one.high - one.low)).tolist() == pytest.approx(
        [0.5, 0.5], abs=0.08
    )


def test_the_exact_band_of_an_average_agrees_with_drawing():
    lines = [CostLine(0.2, 0.7, 10, 15), CostLine(0.4, 0.9, 20, 5)]
    rng = np.random.default_rng(0)
    w, size = 0.3, 200_000
    drawn = sum(
        w * rng.binomial(line.positives, 1 - line.tpr, size) / line.positives
        + (1 - w) * rng.binomial(line.negatives, line.fpr, size) / line.negatives
        for line in lines
    )
    band = average_curves(lines).band(0.9, method="exact", pc=[w])
    expected = np.quantile(drawn / 2, [0.05, 0.95], method="inverted_cdf")
    assert (band.low[0], band.high[0]) == pytest.approx(expected, abs=0.005)


def test_what_is_shown_and_pickled():
    average = average_curves(folds(2), name="<cv>")
    assert average.chosen_on == "the same examples"
    assert average.sized
    assert average.at(0.3).limits is not None
    assert pickle.loads(pickle.dumps(average)) == average  # noqa: S301 - made here
    assert "&lt;cv&gt;" in average._repr_html_()
    assert "nan" not in repr(average)
    assert average.to_dict()["name"] == "<cv>"
    mixed = average_curves([CostLine(0.1, 0.5), *folds(2)])
    assert not mixed.sized
    assert mixed.at(0.3).limits is None
    with pytest.raises(DesignError, match="without the numbers of examples there is no band"):
        mixed.band()


def test_bad_input():
    with pytest.raises(InputError, match="curves: expected at least one cost curve, got none"):
        average_curves([])
    with pytest.raises(InputTypeError, match=r"curves: expected cost curves.*got a float at posi"):
        average_curves([CostLine(0.1, 0.2), 0.5])
    with pytest.raises(InputTypeError, match=r"curves: expected cost curves.*got a int at"):
        average_curves(5)


def test_the_average_of_choices_with_hindsight_has_no_band_either():
    with pytest.raises(DesignError, match="chosen with hindsight"):
        average_curves([best_of(folds(0))]).band()
