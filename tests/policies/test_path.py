"""Thresholds at other costs are those that a study with these costs chooses."""

import numpy as np
import pytest

from stakes import CostMatrix
from stakes.infer._outcomes import Design
from stakes.policies._choose import Choosing, choose
from stakes.policies._path import chosen_at
from stakes.predictions.scores import JointScores


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [300, 12_000])
def test_as_if_chosen_for_these_costs(n, ties):
    rng = np.random.default_rng(n)
    positive = rng.random(n) < 0.2
    columns = {name: rng.normal(size=n) + lead * positive for name, lead in (("a", 1), ("b", 2))}
    if ties:
        columns = {name: np.round(each, 1) for name, each in columns.items()}
    decided = {"a": (columns["a"] > 1).astype(np.int8)}
    scores = JointScores.from_columns(positive, columns, pos_label=1, neg_label=0, decided=decided)
    design = Design({0: 0.9, 1: 0.1})
    stated = CostMatrix.from_errors(false_positive=3, false_negative=20)
    factors = [0.01, 0.3, 1.0, 7.0, 50.0]
    found = chosen_at(scores, stated, design, Choosing(), factors)
    for factor, each in zip(factors, found, strict=True):
        costs = CostMatrix.from_errors(false_positive=3 * factor, false_negative=20)
        direct = choose(scores, costs, design, Choosing())
        assert each.held_out == direct.held_out
        assert each.in_sample == direct.in_sample
        cuts = [{name: t.cuts for name, t in one.thresholds.items()} for one in (each, direct)]
        assert cuts[0] == cuts[1]
