"""What is said about models, in words that suit the numbers."""

import numpy as np
import pytest

from stakes import CostMatrix, JointConfusion
from stakes.findings import Settings, findings
from stakes.predictions import Roles
from stakes.predictions.roles import Model
from stakes.study import Study

LABELS = ["ok", "bad"]


def found_for(cells, costs=((0, 10), (1, 0)), decisions=None, **settings):
    """Return the findings of models with these counts of (decisions …, class)."""
    keys = sorted(cells)
    decisions = decisions or LABELS
    names = [f"m{model}" for model in range(len(keys[0]) - 1)]
    roles = Roles("actual", tuple(Model(name, name, None) for name in names), (), guessed=False)
    joint = JointConfusion(
        names,
        decided=np.array([key[:-1] for key in keys]),
        actual=np.array([key[-1] for key in keys]),
        counts=np.array([cells[key] for key in keys]),
        labels=LABELS,
        decisions=decisions,
    )
    matrix = CostMatrix(costs, rows="predicted", labels=LABELS, decisions=decisions)
    return findings(Study("x.csv", roles, joint, matrix), Settings(**settings))


@pytest.mark.parametrize(
    ("times", "said"), [(0, "was never seen:"), (1, "was seen once:"), (4, "was seen 4 times:")]
)
def test_rare_outcomes_were_seen_never_once_or_some_times(times, said):
    cells = {(0, 0, 0): 500, (1, 1, 1): 40, (1, 0, 0): 60, (1, 0, 1): 90, (0, 1, 1): times}
    found = found_for(cells)
    (warning,) = [pair.warning for pair in found.pairs if pair.warning is not None]
    assert said in warning
    assert "0 times" not in warning
    assert "1 times" not in warning


def test_a_tie_names_all_that_cannot_be_told_apart():
    cells = {(0, 0, 0): 90, (1, 1, 1): 9, (0, 1, 1): 2, (1, 0, 1): 1}
    verdict = found_for(cells).verdict
    assert (verdict.use, verdict.baseline, verdict.shown) == ("m1", "m0", False)
    assert "It may save 0.09804 per decision against m0 as decided (" in verdict.text
    assert "It cannot be told apart from m0 as decided" in verdict.text


def test_equals_are_not_told_apart_and_the_baseline_stays():
    verdict = found_for({(0, 0, 0): 90, (1, 1, 1): 9, (0, 0, 1): 1}).verdict
    assert verdict.use == verdict.baseline == "m0"
    assert "It is the baseline: no other policy cost less." in verdict.text
    assert "m1" in verdict.ties


def test_nobody_is_told_to_use_what_a_constant_beats():
    cells = {(0, 1, 0): 30, (1, 0, 0): 130, (0, 0, 0): 400, (1, 1, 1): 20, (0, 0, 1): 20}
    verdict = found_for(cells, [[0, 1], [20, 0]], unit="EUR").verdict
    assert verdict.use == "always ok"
    assert verdict.text.startswith(
        "Use no model: always predicting ok costs 0.06667 EUR per decision ("
    )
    assert verdict.shown


def test_a_model_that_costs_as_much_as_a_constant_is_the_baseline_and_stays():
    verdict = found_for({(0, 0): 95, (0, 1): 5}).verdict
    assert verdict.use == "m0"
    assert verdict.ties == ("always ok", "always bad")[: len(verdict.ties)]


def test_sums_over_many_decisions_are_not_said_more_precisely_than_they_are_known():
    cells = {(1, 0, 0): 31, (0, 0, 0): 900, (0, 1, 0): 7, (1, 1, 1): 62}
    text = found_for(cells, volume=1_234_567, per="month").verdict.text
    assert " over 1,234,567 decisions a month (" in text
    for each in text.split("month (")[1].split(")")[0].split(" to "):
        assert float(each.replace(",", "")) == float(f"{float(each.replace(',', '')):.4g}")
