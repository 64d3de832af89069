"""The gate decides by the tests of the ranking, and states its rule."""

import pickle

import numpy as np
import pytest

from stakes import CostMatrix, compare_many
from stakes.errors import InputError, RareCostWarning

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)


def ranking(unit="", **more):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 4000)

    def wrong(rate):
        return np.where(rng.random(4000) < rate, 1 - y_true, y_true)

    models = {"good": wrong(0.05), "same": wrong(0.05), "bad": wrong(0.3), **more}
    return compare_many(y_true, models, COSTS, unit=unit)


def test_without_a_margin_a_model_fails_if_it_is_shown_to_cost_more():
    gate = ranking().gate("good")
    assert gate.failures == ("bad",)
    assert gate.passes == ("same",)
    assert not gate.passed
    assert gate.summary() == "bad failed; same passed."
    assert gate.rule == (
        "a model fails if it is shown, with 95% confidence, p-values adjusted for 2 models, that "
        "it costs more than good."
    )
    assert gate.pairs == tuple(ranking().against("good"))
    assert gate.tests == ()
    assert ranking().gate("bad").passed
    assert "bad" in gate._repr_html_()


def test_with_a_margin_a_model_passes_if_it_is_shown_to_cost_no_more_than_that():
    all_models = ranking("EUR")
    gate = all_models.gate("good", margin=9, confidence=0.9)
    assert gate.passed
    assert gate.rule == (
        "a model passes if it is shown, with 90% confidence, that it costs less than 9 EUR more "
        "per decision than good."
    )
    assert gate.summary() == f"{', '.join(pair.first for pair in gate.pairs)} passed."
    for pair, test in zip(gate.pairs, gate.tests, strict=True):
        alone = all_models.difference(pair.first, "good")
        assert test == alone.test(alternative="less", margin=9, confidence=0.9)
    strict = all_models.gate("good", margin=0)
    assert strict.failures == tuple(pair.first for pair in strict.pairs)
    assert strict.summary().endswith(" failed.")


def test_the_rule_for_one_model_names_no_adjustment():
    y_true = [0] * 500 + [1] * 500
    two = compare_many(y_true, {"a": [0] * 400 + [1] * 600, "b": [0] * 600 + [1] * 400}, COSTS)
    with pytest.warns(RareCostWarning, match="extremal"):
        gate = two.gate("a")
    assert (
        gate.rule == "a model fails if it is shown, with 95% confidence, that it costs more than a."
    )
    assert gate.failures == ("b",)


def test_plain_values_and_copies():
    gate = ranking().gate("good", margin=0.5)
    assert pickle.loads(pickle.dumps(gate)) == gate  # noqa: S301
    plain = gate.to_dict()
    assert plain["failures"] == ["bad"]
    assert plain["passed"] is False
    assert (plain["baseline"], plain["margin"], plain["confidence"]) == ("good", 0.5, 0.95)
    assert [pair["second"] for pair in plain["pairs"]] == ["good", "good"]
    assert len(plain["tests"]) == 2


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="baseline: there is no"):
        ranking().gate("nobody")
    for margin in (-1, np.inf, np.nan):
        with pytest.raises(InputError, match="margin"):
            ranking().gate("good", margin=margin)


def test_the_repr_is_short_and_has_the_answer():
    assert repr(ranking().gate("good")) == "Gate against good: failed (bad failed; same passed)"
    assert repr(ranking().gate("bad")) == "Gate against bad: passed (same, good passed)"


def test_a_margin_is_a_float_everywhere():
    gate = ranking().gate("good", margin=1)
    assert isinstance(gate.margin, float)
    assert {type(test.margin) for test in gate.tests} == {float}


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        (float("nan"), "expected how much more a model may cost, got nan"),
        (float("inf"), "expected how much more a model may cost, got inf"),
        (-1, "expected how much more a model may cost, 0 or more; got -1"),
    ],
)
def test_a_margin_is_a_number_from_0_on(margin, said):
    with pytest.raises(InputError, match=said):
        ranking().gate("good", margin=margin)
