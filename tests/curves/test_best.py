"""The cheapest of several classifiers at each operating condition."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostCurve, CostLine
from stakes.curves import best_of
from stakes.errors import DesignError, InputError, InputTypeError

GRID = (np.arange(1000) + 1 / np.pi) / 1000  # contains no breakpoint of a curve
SHY, EAGER = CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")

rates = st.integers(0, 10).map(lambda tenths: tenths / 10)
lines = st.builds(CostLine, rates, rates)


@given(st.lists(lines, min_size=1, max_size=6), st.booleans(), st.integers(0, 10**6))
def test_it_costs_what_the_cheapest_costs(drawn, constants, seed):
    rng = np.random.default_rng(seed)
    y_true = np.append([0, 1], rng.integers(0, 2, 20))
    scorer = CostCurve.from_scores(y_true, (y_true + rng.normal(0, 1, 22)).round())
    curves = [*(CostLine(*line.point, name=str(i)) for i, line in enumerate(drawn)), scorer]
    best = best_of(curves, constants=constants)
    costs = [curve.cost(GRID) for curve in curves] + [GRID, 1 - GRID] * constants
    least = np.min(costs, axis=0)
    assert np.allclose(best.cost(GRID), least, atol=1e-13)
    by_name = {curve.title(): curve for curve in best.curves}
    for pc, name, cost in zip(GRID[::25], best.classifier(GRID[::25]), least[::25], strict=True):
        assert by_name[name].cost(pc) == pytest.approx(cost, abs=1e-13)


def test_figure_9_in_cost_space():
    best = best_of([SHY, EAGER], name="either")
    places = best.pieces.breaks
    assert best.classifier([0.05, 0.3, 0.6, 0.9]).tolist() == [
        "all negative",
        "shy",
        "eager",
        "all positive",
    ]
    assert best.classifier(0.3) == "shy"
    crossing = SHY.crossovers(EAGER)
    assert crossing == pytest.approx([(0.3 - 0.04) / (0.3 - 0.04 + 0.8 - 0.4)])
    assert np.abs(places - crossing[0]).min() < 1e-15
    assert best.operating_range()[0] == pytest.approx((0.04 / 0.44, 0.7 / 0.9))
    assert best.title() == "either"


def test_without_the_constant_predictions_it_may_cost_more_than_they_do():
    best = best_of([SHY], constants=False)
    assert best.cost(0.01) == SHY.cost(0.01) > 0.01
    assert best.pieces.breaks.tolist() == [0, 1]


def test_a_generator_or_a_single_curve_will_do():
    assert best_of(each for each in (SHY, EAGER)) == best_of([SHY, EAGER])
    assert best_of(SHY).cost(0.3) == SHY.cost(0.3)


def test_there_is_no_band_with_hindsight():
    best = best_of([CostLine(0.1, 0.6, 20, 20)])
    assert best.chosen_on == "the same examples"
    assert not best.sized
    assert best.at(0.3).limits is None
    with pytest.raises(DesignError, match=r"chosen with hindsight.*Ask each of the curves"):
        best.band()
    with pytest.raises(DesignError, match="chosen with hindsight"):
        best.moments()


def test_what_is_shown_and_pickled():
    best = best_of([SHY, EAGER], name="<either>")
    best.cost(0.5)
    assert pickle.loads(pickle.dumps(best)) == best  # noqa: S301 - made here
    assert "&lt;either&gt;" in best._repr_html_()
    assert repr(best).startswith("BestCurve: The area under the cost curve of <either>")
    assert best.to_dict()["name"] == "<either>"


def test_bad_input():
    with pytest.raises(InputError, match="curves: expected at least one cost curve, got none"):
        best_of([])
    with pytest.raises(InputTypeError, match=r"expected cost curves.*got a str at position 0"):
        best_of("ab")
    with pytest.raises(InputTypeError, match=r"expected cost curves.*got a tuple at position 1"):
        best_of([SHY, (0.1, 0.2)])
    with pytest.raises(InputError, match="between 0 and 1; got 2"):
        best_of([SHY]).classifier(2)
