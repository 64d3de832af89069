"""Work for many strata: it grows with what they contain, not with their number or its square."""

from dataclasses import replace

import numpy as np
import pytest

from stakes import CostMatrix, ExampleCosts, evaluate
from stakes._core import labels
from stakes.infer import _design, _shares
from stakes.infer._outcomes import Outcomes, make_stratum
from stakes.infer._probability import strata
from stakes.infer.methods import extremal
from stakes.predictions.classes import all_among

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
KINDS = 7


def _rows(number, kinds=KINDS):
    """Return classes, decisions and strata: four rows in each stratum, of a few kinds in turn."""
    rng = np.random.default_rng(3)
    y_true, y_pred = rng.random((2, kinds, 4)) < [[[0.4]], [[0.5]]]
    kind = np.arange(number) % kinds
    of_rows = np.repeat([f"stratum {k}" for k in range(number)], 4)
    return y_true[kind].ravel().astype(int), y_pred[kind].ravel().astype(int), of_rows


class Calls:
    """A function that counts its calls."""

    def __init__(self, monkeypatch, module, name):
        self.function, self.results = getattr(module, name), []
        monkeypatch.setattr(module, name, self)

    def __call__(self, *args, **kwargs):
        self.results.append(self.function(*args, **kwargs))
        return self.results[-1]


@pytest.mark.parametrize("design", ["rows", "weights", "groups", "finite"])
def test_alike_strata_are_computed_once(monkeypatch, design):
    calls = [
        Calls(monkeypatch, _design, "make_stratum" if design != "weights" else "_block"),
        Calls(monkeypatch, strata, "part_of"),
        Calls(monkeypatch, strata, "_repeated"),
    ]
    found = []
    for number in (20 * KINDS, 100 * KINDS):
        y_true, y_pred, of_rows = _rows(number)
        options = {
            "rows": {},
            "weights": {"sample_weight": np.tile([1.0, 1.0, 2.0, 3.0], number)},
            "groups": {"groups": np.arange(4 * number) // 2},
            "finite": {"population": dict.fromkeys(of_rows.tolist(), 40)},
        }
        evaluate(y_true, y_pred, COSTS, strata=of_rows, **options[design]).interval()
        found.append([len(each.results) for each in calls])
        for each in calls:
            each.results.clear()
    assert found[0] == found[1]
    assert max(found[0]) <= 4 * KINDS


def test_lattices_of_narrow_strata_are_short(monkeypatch):
    number = 2000
    y_true, y_pred, of_rows = _rows(number)
    odd = np.random.default_rng(1).uniform(1, 2, number)  # no two strata have the same share
    shares = dict(zip(of_rows[::4].tolist(), (odd / odd.sum()).tolist(), strict=True))
    lengths = []
    masses = strata.Contribution.masses

    def measured(self, step, most):
        found = masses(self, step, most)
        lengths.append(len(found))
        return found

    monkeypatch.setattr(strata.Contribution, "masses", measured)
    evaluate(y_true, y_pred, COSTS, strata=of_rows, population=shares).interval()
    assert len(lengths) > number / 2  # was each as long as the whole lattice
    assert sum(lengths) <= strata.LATTICE + 4 * len(lengths)


@pytest.mark.parametrize("kinds", [KINDS, 150])
def test_alike_strata_have_the_limits_of_strata_one_by_one(monkeypatch, kinds):
    y_true, y_pred, of_rows = _rows(150, kinds)
    together = evaluate(y_true, y_pred, COSTS, strata=of_rows).interval()
    monkeypatch.setattr(strata, "FEW_STRATA", 10**6)
    apart = evaluate(y_true, y_pred, COSTS, strata=of_rows).interval()
    np.testing.assert_allclose((together.low, together.high), (apart.low, apart.high), rtol=1e-9)


def test_names_of_strata_are_matched_together(monkeypatch):
    names = tuple(f"stratum {k}" for k in range(300))
    calls = Calls(monkeypatch, labels, "number_in")
    found = all_among(names, names, "population")
    assert found == list(names)
    assert len(calls.results) == len(names)  # was their square


def test_fit_by_strata_and_classes_is_that_by_a_column_for_each():
    rng = np.random.default_rng(5)
    y_true, y_pred, of_rows = (values.tolist() for values in _rows(12))
    table = evaluate(y_true, y_pred, COSTS, strata=of_rows).confusion
    rows = _shares.listed(table, COSTS.values, _shares.Design()).counted()
    each = rng.uniform(0.5, 2, len(rows.amounts))
    columns = np.hstack([np.eye(12)[rows.strata], np.eye(2)[rows.kinds]]) * np.sqrt(each)[:, None]
    solution = np.linalg.lstsq(columns, rows.costs * np.sqrt(each), rcond=None)[0]
    expected = columns @ solution / np.sqrt(each)
    fitted = _shares._two_way(rows, each)  # noqa: SLF001 - its own test
    np.testing.assert_allclose(fitted, expected, atol=1e-12)


def test_hardly_a_draw_of_three_outcomes_is_a_single_outcome():
    # With two draws in each of many strata, a stratum tells of almost nothing but its mean. Limits
    # at smaller sizes of a test set lead there.
    stratum = replace(make_stratum([0.0, 0.1, 1.0], [0.5, 1.0, 0.5]), weight=1 / 600)
    (low,), (high,) = extremal.limits(Outcomes((stratum,) * 600, "stratified"), 0.05)
    assert 0 < low < stratum.mean[0] < high < 1


def test_strata_of_single_rows_have_wide_limits():
    y_true, y_pred, _ = _rows(100)
    names = np.arange(len(y_true))
    alone = evaluate(y_true, y_pred, COSTS, strata=names).interval()
    assert alone.width > 5 * evaluate(y_true, y_pred, COSTS).interval().width


def test_costs_of_single_examples_in_many_strata(monkeypatch):
    calls = Calls(monkeypatch, _design, "make_stratum")
    y_true, y_pred, of_rows = _rows(50 * KINDS)
    costs = ExampleCosts.from_matrix(COSTS, y_true)
    evaluate(y_true, y_pred, costs, strata=of_rows).interval()
    assert len(calls.results) <= KINDS
