"""The wording about models suits their numbers."""

import re

import numpy as np
import pytest

from stakes import CostMatrix, JointConfusion
from stakes.findings import Settings, findings
from stakes.policies import Asked
from stakes.predictions import Roles
from stakes.predictions.roles import Model
from stakes.study import Study

LABELS = ["ok", "bad"]


def found_for(cells, costs=((0, 10), (1, 0)), decisions=None, baseline=None, **settings):
    """Return the findings of models with these counts of (decisions …, class)."""
    keys = sorted(cells)
    decisions = decisions or LABELS
    names = [f"m{model}" for model in range(len(keys[0]) - 1)]
    joint = JointConfusion(
        names,
        decided=np.array([key[:-1] for key in keys]),
        actual=np.array([key[-1] for key in keys]),
        counts=np.array([cells[key] for key in keys]),
        labels=LABELS,
        decisions=decisions,
    )
    matrix = CostMatrix(costs, rows="predicted", labels=LABELS, decisions=decisions)
    roles = Roles("actual", tuple(Model(name, name, None) for name in names), (), guessed=False)
    study = Study("x.csv", roles, joint, matrix, asked=Asked(baseline))
    return findings(study, Settings(**settings))


def test_a_tie_names_what_cannot_be_told_apart():
    cells = {(0, 0, 0): 90, (1, 1, 1): 9, (0, 1, 1): 2, (1, 0, 1): 1}
    verdict = found_for(cells).verdict
    both = "m1 as decided or m0 as decided: equally good as far as 102 examples tell ("
    assert verdict.text.startswith(f"{both}m1 as decided is cheapest: 0.0980 per decision (")
    assert verdict.ties[0] == "m0"
    assert not verdict.shown


def test_equals_are_not_told_apart():
    """They decide every row alike, so they are one policy."""
    found = found_for({(0, 0, 0): 90, (1, 1, 1): 9, (0, 0, 1): 1})
    policy = next(each for each in found.policies if each.name == "m0")
    assert (policy.alike, policy.models) == (("m1",), ("m0", "m1"))
    assert "m1" not in {each.name for each in found.policies}
    assert {each.policy for each in found.models} == {"m0"}
    assert found.verdict.saving.per_decision == 0


def test_nobody_is_told_to_use_what_a_constant_prediction_beats():
    cells = {(0, 1, 0): 30, (1, 0, 0): 130, (0, 0, 0): 400, (1, 1, 1): 20, (0, 0, 1): 20}
    found = found_for(cells, [[0, 1], [20, 0]], unit="EUR")
    assert found.verdict.text.startswith(
        "No model is shown to be worth using: always 'ok' costs 0.0667 EUR per decision ("
    )
    assert found.verdict.shown
    assert all(pair.shown for pair in found.pairs)
    assert not any(model.cheaper_than_constant for model in found.models)


def test_one_model_that_a_constant_prediction_beats():
    cells = {(0, 0): 60, (1, 0): 40, (0, 1): 5, (1, 1): 5}
    verdict = found_for(cells, [[0, 1], [1, 0]]).verdict
    assert verdict.use == verdict.baseline == "always ok"
    named = found_for(cells, [[0, 1], [1, 0]], baseline="m0").verdict
    assert named.baseline == "m0"
    assert named.saving.shown


def test_a_model_can_cost_as_much_as_a_constant_prediction():
    """It decides every row as one, so they are one policy."""
    found = found_for({(0, 0): 95, (0, 1): 5})
    assert found.verdict.use == "always ok"
    assert next(each.alike for each in found.policies if each.name == "always ok") == ("m0",)


def test_sums_over_many_decisions_are_not_said_more_precisely_than_they_are_known():
    cells = {(0, 0): 931, (1, 0): 7, (1, 1): 62}
    found = found_for(cells, [[0, 9], [1, 0]], volume=1_234_567, per="month")
    assert found.verdict.use == "m0"
    cells = {(1, 0): 930, (0, 0): 8, (1, 1): 62}
    found = found_for(cells, baseline="m0", volume=1_234_567, per="month")
    saved = re.search(r", ([\d,]+) over 1,234,567 decisions a month \(", found.verdict.text)
    assert saved is not None
    assert float(saved[1].replace(",", "")) == pytest.approx(
        found.verdict.saving.per_period, rel=1e-3
    )
    assert saved[1].rstrip("0,") != saved[1]  # digits that are not significant are zeros
