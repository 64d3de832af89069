"""Sensitivity to the costs, at the class priors of the study."""

import numpy as np
import pytest

from stakes import CostMatrix, CostRanges, evaluate, study_of
from stakes.findings import Settings
from stakes.findings.sensitivity import sensitivity_of


@pytest.mark.parametrize("priors", [None, {"ok": 0.99, "fraud": 0.01}])
def test_what_is_said_of_each_cost_is_about_the_same_population(priors):
    rng = np.random.default_rng(0)
    truth = np.repeat(["ok", "fraud"], [300, 100])
    decided = {
        "eager": np.where((truth == "fraud") | (rng.random(400) < 0.2), "fraud", "ok"),
        "shy": np.where((truth == "fraud") & (rng.random(400) < 0.7), "fraud", "ok"),
    }
    costs = CostMatrix.from_errors(
        false_positive=1, false_negative=20, pos_label="fraud", neg_label="ok"
    )
    study = study_of(truth, decided, costs, class_priors=priors)
    settings = Settings()
    found = sensitivity_of(study, settings)
    mean = CostRanges.around(costs, settings.factor).mean()
    for name, each in decided.items():
        cost = evaluate(truth, each, mean, class_priors=priors).cost
        assert found.cheapest[name].cost == pytest.approx(cost)
    best = max(found.cheapest, key=lambda name: found.cheapest[name].probability_low)
    assert best == found.flips[0].cheaper == ("eager" if priors is None else "shy")
    for path in found.paths:
        assert best in [piece.cheapest for piece in path.average_ranges]
        assert {piece.cheapest for piece in path.ranges} <= {best, None}
