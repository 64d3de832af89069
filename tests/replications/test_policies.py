"""The measured tables of chosen thresholds: their test sets, and their copies in the guide."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from replications.experiment import Results
from replications.experiments import policies, policy_verdicts
from replications.experiments.policies import OURS, SETTINGS, find, judged
from replications.experiments.policy_verdicts import CONTESTS, draw, p_values, stepping_down
from replications.experiments.shared.scored import PROMISED, SHAPES, WAYS, Setting
from replications.store import kept_results
from stakes.policies._choose import Choosing, choose
from stakes.policies.policies import Policies, Policy

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "chosen_thresholds.md"
MODEL = Policy("model", "model", "threshold", cross_fitted=True, column="model@")


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_called_true_is_what_thresholds_cost(kind, way):
    if kind not in PROMISED and way:
        pytest.skip("drawn row by row only")
    setting = Setting(60_000, 0.2, 5.0, kind, way)
    drawn = setting.draw(np.random.default_rng(7))
    scores, positive = drawn.scores, drawn.scores.positive
    values = scores.thresholds[0][scores.ranks[0]]
    weights = np.ones(len(values)) if scores.amounts is None else np.asarray(scores.amounts)
    if drawn.design.class_priors:
        weights = np.where(positive, 0.2, 0.8)
    every = scores.thresholds[0]
    for threshold in (*every[[len(every) // 5, len(every) // 2]], np.inf, -np.inf):
        decided = values >= threshold
        spent = 5.0 * (positive & ~decided) + (~positive & decided)
        cost = np.average(spent, weights=weights)
        noise = 5.0 / np.sqrt(len(values) / (10 if way else 1))
        assert setting.cost(threshold) == pytest.approx(cost, abs=4 * noise)
        assert setting.optimum <= setting.cost(threshold) + 1e-6


@pytest.mark.parametrize(
    "name",
    [
        "calibrated: 200 rows, 30%, 20 to 1",
        "coarse: 1,000 rows, 5%, 500 to 1",
        "calibrated, groups of both classes: 1,000 rows, 30%, 1 to 1",
        "calibrated, weights 1 and 10: 1,000 rows, 5%, 20 to 1",
    ],
)
def test_what_is_measured_is_what_policies_say(name):
    setting, trials = SETTINGS[name], 4
    found = find(setting, trials, np.random.default_rng(8))
    rng = np.random.default_rng(8)
    for at in range(trials):
        drawn = setting.draw(rng)
        chosen = choose(drawn.scores, setting.costs, drawn.design, Choosing())
        tables = chosen.held_out, chosen.in_sample
        said = Policies((MODEL,), *tables, setting.costs, drawn.design)
        interval = said.interval("model")
        truth = float(setting.cost(chosen.thresholds["model@"].cuts[0][1]))
        assert found.truth[at] == truth
        assert found.held_out[at] == said.estimate("model").cost
        assert found.covered[OURS][at] == (interval.low <= truth <= interval.high)
        assert found.widths[at, 0] == pytest.approx(interval.high - interval.low, rel=1e-6)


def test_too_few_rows_are_left_out():
    few = Setting(100, 0.02, 20.0, "calibrated")
    assert judged(few, np.random.default_rng(0)) is None
    assert find(few, 3, np.random.default_rng(0)) is None


def test_models_are_as_much_worse_as_they_are_called():
    contest = replace(CONTESTS["2 equal, 1 worse by 2: 1,000 rows, 30%, 1 to 1"], alike=0.5)
    at = np.linspace(-3, 5, 20_001)
    best, _, worse = (contest.cost(apart, at).min() for apart in contest.parts)
    assert worse - best == pytest.approx(2 * contest.standard_error, rel=1e-6)
    rng, threshold = np.random.default_rng(9), at[contest.cost(contest.apart, at).argmin()]
    found = []
    for _ in range(400):
        scores = contest.draw(rng)
        values = [scores.thresholds[k][scores.ranks[k]] >= threshold for k in (0, 1)]
        wrong = [each != scores.positive for each in values]
        found.append(wrong[0].mean() - wrong[1].mean())
    assert np.std(found) == pytest.approx(contest.standard_error, rel=0.15)
    assert abs(np.mean(found)) < 4 * np.std(found) / 20


@pytest.mark.parametrize(
    "name",
    [
        "2 equal, 1 worse by 4: 1,000 rows, 30%, 1 to 1",
        "2 worth nothing, as both constants: 1,000 rows, 5%, 19 to 1",
    ],
)
def test_many_verdicts_at_once_are_those_of_policies(name):
    rng = np.random.default_rng(10)
    said = [draw(CONTESTS[name], rng) for _ in range(6)]
    wanted = [[(each.found.best, other) for other in each.found.competitors[1:]] for each in said]
    for each, p in zip(said, p_values(said, wanted), strict=True):
        shown = stepping_down({other: value for (_, other), value in p.items()})
        assert shown == {pair.second for pair in each.found.pairs if pair.shown}


@pytest.mark.parametrize(
    ("module", "key", "name", "line"),
    [
        (policies, "setting", "coarse: 200 rows, 30%, 20 to 1", "| coarse | 200 | 1 | 100 | "),
        (
            policy_verdicts,
            "contest",
            "1 worse by 4: 1,000 rows, 30%, 1 to 1",
            "| 1 worse by 4 | 1,000 | 30 % | 1 : 1 | ",
        ),
    ],
)
def test_the_table_has_a_line(module, key, name, line):
    experiment = module.EXPERIMENT
    trial = experiment.trial({key: name}, scale=0.005, seed=0, data=None)
    rows = [{key: name, **row} for row in experiment.measure(trial, **{key: name})]
    lines = module.table(Results(experiment.name, rows, 0.005, 0)).splitlines()
    assert len(lines) == 3
    assert lines[2].startswith(line)
    assert len({each.count("|") for each in lines}) == 1


@pytest.mark.parametrize("module", [policies, policy_verdicts])
def test_the_guide_has_the_table_of_the_kept_run(module):
    kept = kept_results(module.EXPERIMENT.name)
    assert kept is not None
    assert module.table(kept) in GUIDE.read_text(encoding="utf-8")
