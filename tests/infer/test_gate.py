"""The gate decides by the limit that it states, and states its rule and its reasons."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostMatrix, PairedConfusion, Ranking, compare_many
from stakes.errors import InputError
from stakes.infer import Gate, Pair, Volume
from stakes.infer.family import Compared, Family
from stakes.infer.gate import gate_against

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
family_of = Ranking._family  # noqa: SLF001 - the comparisons behind what is public


def ranking(unit="", **more):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 4000)

    def wrong(rate):
        return np.where(rng.random(4000) < rate, 1 - y_true, y_true)

    models = {"good": wrong(0.05), "same": wrong(0.05), "bad": wrong(0.3), **more}
    return compare_many(y_true, models, COSTS, unit=unit)


def two(*counts):
    """Return a ranking of "new" and "old" with these counts of differences -10, -1, 0, 1, 10."""
    table = np.zeros((2, 2, 2), dtype=int)
    (table[1, 0, 1], table[0, 1, 0], table[0, 0, 0], table[1, 0, 0], table[0, 1, 1]) = counts
    return Ranking.from_pairs({("new", "old"): PairedConfusion(table, labels=[0, 1])}, COSTS)


def test_without_a_margin_a_model_fails_if_it_is_shown_to_cost_more():
    gate = ranking().gate("good")
    assert gate.failures == ("bad",)
    assert gate.passes == ("same",)
    assert not gate.passed
    assert gate.summary() == "bad failed; same passed."
    assert gate.rule == (
        "a model fails if it is shown, with 95% confidence, that it costs more than good."
    )
    assert gate.pairs == tuple(ranking().against("good"))
    assert gate.limits == tuple(pair.low for pair in gate.pairs)
    assert gate.tests == ()
    assert ranking().gate("bad").passed
    assert "bad" in gate._repr_html_()


def test_with_a_margin_a_model_passes_if_it_is_shown_to_cost_less_than_that_more():
    all_models = ranking("EUR")
    gate = all_models.gate("good", margin=9, confidence=0.9)
    assert gate.passed
    assert gate.rule == (
        "a model passes if it is shown, with 90% confidence, that it costs less than 9 EUR more "
        "per decision than good."
    )
    assert gate.summary() == f"{', '.join(pair.first for pair in gate.pairs)} passed."
    for pair, limit, test in zip(gate.pairs, gate.limits, gate.tests, strict=True):
        alone = all_models.difference(pair.first, "good")
        assert test == alone.test(alternative="less", margin=9, confidence=0.9)
        assert limit == pytest.approx(alone.interval(0.8, conservative=True).high, rel=1e-12)
    strict = all_models.gate("good", margin=0)
    assert strict.failures == tuple(pair.first for pair in strict.pairs)
    assert strict.summary().endswith(" failed.")


def test_each_model_is_judged_alone():
    """Whether a candidate passes does not depend on the others that are judged with it."""
    many = ranking()
    gate = many.gate("good")
    for name in ("same", "bad"):
        pair = next(each for each in gate.pairs if each.first == name)
        alone = many.difference(name, "good")
        assert (pair.low, pair.high) == tuple(alone.interval())
        assert pair.p_value == alone.test().p_value
        assert (name in gate.failures) == (alone.difference > 0 and alone.test().rejected)


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4), st.integers(300, 2000))
def test_a_model_passes_exactly_when_the_limit_that_is_printed_is_below_the_margin(counts, n):
    """The limit itself as margin, and margins that differ from it in the fourth digit only."""
    least, less, more, most = counts
    found = two(least, less, n, more, most)
    limit = found.gate("old", margin=1).limits[0]
    margins = [abs(limit) * (1 + each) for each in (-1e-2, -1e-5, -1e-9, 0, 1e-9, 1e-5, 1e-2)]
    margins += [float(f"{abs(limit):.{digits}g}") for digits in (1, 2, 3, 4)]
    for margin in margins:
        gate = found.gate("old", margin=margin)
        printed = written_limit(gate)
        assert gate.passed == (gate.limits[0] < margin) == (printed < margin)
        if abs(margin / limit - 1) > 1e-8:
            assert gate.tests[0].rejected == gate.passed
    gate = found.gate("old")
    assert gate.passed == (gate.limits[0] <= 0) == (written_limit(gate) <= 0)


def written_limit(gate):
    """Return the limit as the reason states it."""
    *_, amount, side = gate.reasons()["new"].split(" (")[0].replace(",", "").split()
    return float(amount) * {"more": 1, "less": -1}[side]


def test_a_limit_of_the_interval_above_the_margin_does_not_pass():
    """A candidate passed a margin of 0.298 while the interval printed beside it reached 0.299."""
    found = two(3, 30, 940, 20, 7)
    difference = found.difference("new", "old")
    one_sided = difference.interval(0.9).high  # by the weight 0.7, which is for two sides
    limit = found.gate("old", margin=1).limits[0]
    assert one_sided < limit
    between = (one_sided + limit) / 2
    assert not found.gate("old", margin=between).passed
    assert found.gate("old", margin=limit * 1.001).passed


def gate_of(difference, limit, margin=None, *, unit="", volume=None):
    shown = margin is None and limit > 0
    pair = Pair("new", "old", difference, limit, limit, 0.5, 0.5, shown=shown)
    return Gate("old", 0.95, (pair,), margin, (limit,), unit=unit, volume=volume)


@pytest.mark.parametrize(
    ("difference", "limit", "costs", "bound", "least"),
    [
        (0.3, 0.1, "0.3 more per decision than", "at least 0.1 more", None),
        (0.3, -0.1, "0.3 more per decision than", "but possibly 0.1 less", 0.4),
        (0.3, 0, "0.3 more per decision than", "but possibly the same", 0.3),
        (-0.3, -0.5, "0.3 less per decision than", "at most 0.5 less", 0.2),
        (0, -0.2, "the same per decision as", "but possibly 0.2 less", 0.2),
    ],
)
def test_the_reasons_without_a_margin(difference, limit, costs, bound, least):
    shown = f" An extra cost of about {least} would have been shown." if least else ""
    assert gate_of(difference, limit).reasons()["new"] == (
        f"new costs {costs} old, {bound} (lower limit of the 95% interval).{shown}"
    )


@pytest.mark.parametrize(
    ("difference", "limit", "costs", "bound"),
    [
        (0.3, 0.4, "0.3 more per decision than", "at most 0.4 more"),
        (0.3, 0.5, "0.3 more per decision than", "at most 0.5 more"),
        (0.3, 0.49999, "0.3 more per decision than", "at most 0.49999 more"),
        (-0.3, 0.1, "0.3 less per decision than", "but possibly 0.1 more"),
        (-0.3, -0.1, "0.3 less per decision than", "at least 0.1 less"),
        (-0.3, 0, "0.3 less per decision than", "but possibly the same"),
        (0, 0.1, "the same per decision as", "but possibly 0.1 more"),
    ],
)
def test_the_reasons_with_a_margin(difference, limit, costs, bound):
    which = "upper limit, 95% confidence, one-sided; it must be below 0.5"
    gate = gate_of(difference, limit, 0.5)
    assert gate.reasons()["new"] == f"new costs {costs} old, {bound} ({which})."
    assert gate.passed == (limit < 0.5)


def test_a_margin_is_stated_in_full():
    for margin, text in ((0.29812, "0.29812"), (12_345.5, "12345.5"), (10_000, "10,000")):
        gate = gate_of(0.1, 0.2, margin, unit="EUR")
        assert f"it must be below {text} EUR)." in gate.reasons()["new"]
        assert f"costs less than {text} EUR more per decision" in gate.rule


def test_amounts_have_their_unit_and_their_total():
    gate = gate_of(0.3, 0.1, unit="EUR", volume=Volume(2_000_000, "year"))
    assert gate.reasons()["new"] == (
        "new costs 0.3 EUR (600,000 EUR a year) more per decision than old, at least 0.1 EUR "
        "(200,000 EUR a year) more (lower limit of the 95% interval)."
    )
    assert Volume(1500).money(0.0123456) == "18.5 over 1,500 decisions"
    assert gate.to_dict()["volume"] == {"decisions": 2_000_000, "per": "year"}


def test_plain_values_and_copies():
    gate = ranking().gate("good", margin=0.5)
    assert pickle.loads(pickle.dumps(gate)) == gate  # noqa: S301
    plain = gate.to_dict()
    assert plain["failures"] == ["bad"]
    assert plain["passed"] is False
    assert (plain["baseline"], plain["margin"], plain["confidence"]) == ("good", 0.5, 0.95)
    assert [pair["second"] for pair in plain["pairs"]] == ["good", "good"]
    assert len(plain["tests"]) == 2
    assert plain["limits"] == dict(zip(("same", "bad"), gate.limits, strict=True))
    assert plain["detectable"]["bad"] == plain["limits"]["bad"] - gate.pairs[1].difference
    assert {*plain["reasons"]} == {"same", "bad"}
    frame = gate.to_frame()
    assert frame["limit"].tolist() == [*gate.limits]
    assert frame["passes"].tolist() == [True, False]


def test_what_could_not_be_judged_does_not_pass():
    found = two(3, 30, 940, 20, 7)
    unjudged = {"newest": "it has no decisions"}
    gate = gate_against(family_of(found), ["new"], "old", margin=1, unjudged=unjudged)
    assert gate.passes == ("new",)
    assert not gate.passed
    assert gate.summary() == "new passed. Could not judge newest: it has no decisions."
    assert repr(gate).startswith("Gate against old: could not judge (new passed.")
    nobody = gate_against(family_of(found), [], "old", unjudged=unjudged)
    assert (nobody.pairs, nobody.limits, nobody.reasons(), nobody.passed) == ((), (), {}, False)


def test_both_tables_of_a_chosen_threshold_must_be_below_the_margin():
    """STATISTICS §10: what folds show alone is shown too often."""
    both = [two(*each).difference("new", "old") for each in ((3, 9, 940, 3, 0), (1, 9, 940, 9, 4))]
    folds, rows = both
    family = Family(("old", "new"), lambda *names: Compared(names, [*both]), 0.95)
    gate = gate_against(family, ["new"], "old", margin=0.05)
    alone = [each.interval(0.9, conservative=True).high for each in both]
    assert alone[0] < 0.05 < alone[1]
    assert gate.limits[0] == pytest.approx(alone[1], rel=1e-12)
    assert gate.failures == ("new",)
    assert gate.tests[0].p_value == rows.test(alternative="less", margin=0.05).p_value
    assert gate.pairs[0].difference == folds.difference


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="baseline: there is no"):
        ranking().gate("nobody")


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
