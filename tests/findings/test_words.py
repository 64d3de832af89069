"""What is said about models, in words that suit the numbers."""

import numpy as np
import pytest

from stakes import CostMatrix, JointConfusion
from stakes.findings import Settings, findings
from stakes.predictions import Roles
from stakes.study import Study

LABELS = ["ok", "bad"]
ROLES = Roles("actual", (), (), guessed=False)


def found_for(cells, costs=((0, 10), (1, 0)), decisions=None, **settings):
    """Return the findings of models with these counts of (decisions …, class)."""
    keys = sorted(cells)
    decisions = decisions or LABELS
    joint = JointConfusion(
        [f"m{model}" for model in range(len(keys[0]) - 1)],
        decided=np.array([key[:-1] for key in keys]),
        actual=np.array([key[-1] for key in keys]),
        counts=np.array([cells[key] for key in keys]),
        labels=LABELS,
        decisions=decisions,
    )
    matrix = CostMatrix(costs, rows="predicted", labels=LABELS, decisions=decisions)
    return findings(Study("x.csv", ROLES, joint, matrix), Settings(**settings))


@pytest.mark.parametrize(
    ("times", "said"), [(0, "was never seen:"), (1, "was seen once:"), (4, "was seen 4 times:")]
)
def test_rare_outcomes_were_seen_never_once_or_some_times(times, said):
    cells = {(0, 0, 0): 500, (1, 1, 1): 40, (1, 0, 0): 60, (1, 0, 1): 90, (0, 1, 1): times}
    warning = found_for(cells).pairs[0].warning
    assert said in warning
    assert "0 times" not in warning
    assert "1 times" not in warning


def test_a_tie_names_all_and_the_cheapest():
    cells = {(0, 0, 0): 90, (1, 1, 1): 9, (0, 1, 1): 2, (1, 0, 1): 1}
    assert found_for(cells).verdict.text == (
        "A tie between m1 and m0: 102 examples do not tell which is cheaper with 95 % confidence. "
        "m1 was the cheapest so far."
    )


def test_equals_are_not_told_apart():
    text = found_for({(0, 0, 0): 90, (1, 1, 1): 9, (0, 0, 1): 1}).verdict.text
    assert text.startswith("A tie between m0 and m1:")
    assert text.endswith(" They cost the same so far.")


def test_nobody_is_told_to_use_what_one_decision_for_all_beats():
    cells = {(0, 1, 0): 30, (1, 0, 0): 130, (0, 0, 0): 400, (1, 1, 1): 20, (0, 0, 1): 20}
    verdict = found_for(cells, [[0, 1], [20, 0]], unit="EUR").verdict
    assert verdict.text == (
        "m1 is the cheapest of 2, with 95 % confidence. "
        "Deciding 'ok' every time costs less, 0.06667 EUR a decision."
    )
    assert verdict.caution == ("m0 costs more than deciding 'ok' every time.",)


def test_one_model_that_one_decision_for_all_beats():
    verdict = found_for({(0, 0): 60, (1, 0): 40, (0, 1): 5, (1, 1): 5}, [[0, 1], [1, 0]]).verdict
    assert verdict.text.endswith(" Deciding 'ok' every time costs less, 0.09091 a decision.")
    assert verdict.caution == ()
    assert verdict.money == ""


def test_a_model_can_cost_as_much_as_one_decision_for_all():
    verdict = found_for({(0, 0): 95, (0, 1): 5}).verdict
    assert "every time" not in verdict.text
    assert verdict.caution == ("m0 costs as much as deciding 'ok' every time.",)


def test_sums_over_many_decisions_are_not_said_more_precisely_than_they_are_known():
    found = found_for({(0, 0): 931, (1, 0): 7, (1, 1): 62}, volume=1_234_567, per="month")
    assert found.verdict.money == (
        "m0 costs 0.007 a decision (0.00282 to 0.03755); over 1,234,567 decisions a month that is "
        "8,642 (3,481 to 46,360)."
    )
