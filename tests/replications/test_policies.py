"""The measured tables of chosen thresholds: their test sets, and their copies in the guide."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _helpers import oracle_extremal

from replications.experiment import Results
from replications.experiments import policies, policy_verdicts
from replications.experiments.policies import FOLDS, OURS, SAME, SETTINGS, find, judged
from replications.experiments.policy_verdicts import (
    BESIDE,
    CONTESTS,
    DECIDED,
    EXTRA,
    GRID,
    RULES,
    judge,
    shown_by,
)
from replications.experiments.shared.scored import PROMISED, SHAPES, WAYS, Setting
from replications.store import kept_results
from stakes import CostDifference

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "chosen_thresholds.md"


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_called_true_is_what_thresholds_cost(kind, way):
    if kind not in PROMISED and way:
        pytest.skip("drawn row by row only")
    setting = Setting(60_000, 0.2, 5.0, kind, way)
    drawn = setting.draw(np.random.default_rng(7))
    values, positive = drawn.score, drawn.positive
    weights = np.ones(len(values)) if drawn.weights is None else drawn.weights
    if drawn.priors:
        weights = np.where(positive, 0.2, 0.8)
    every = np.unique(values)[::-1]
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
        "upside down: 1,000 rows, 5%, 20 to 1",
    ],
)
def test_what_is_measured_is_what_policies_say(name):
    setting, trials = SETTINGS[name], 4
    found = find(setting, trials, np.random.default_rng(8))
    rng = np.random.default_rng(8)
    for at in range(trials):
        drawn = setting.draw(rng)
        said = drawn.study(setting.costs).policies
        policy = next(each for each in said.policies if each.model == "model")
        interval, folds = said.interval(policy.name), said.estimate(policy.name).interval()
        assert found.truth[at] == setting.cost(policy.threshold)
        assert found.held_out[at] == said.estimate(policy.name).cost
        assert found.in_sample[at] == said.in_sample_cost(policy.name)
        assert found.ends[OURS][at].tolist() == [*interval]
        assert found.covered[OURS][at] == (interval.low <= found.truth[at] <= interval.high)
        assert found.ends[FOLDS][at] == pytest.approx([*folds], rel=1e-6)
        if policy.cross_fitted:
            lowest = min(found.ends[FOLDS][at, 0], found.ends[SAME][at, 0])
            assert lowest == pytest.approx(interval.low, rel=1e-6)


def test_too_few_rows_are_left_out():
    few = Setting(100, 0.02, 20.0, "calibrated")
    assert judged(few, np.random.default_rng(0)) is None
    assert find(few, 3, np.random.default_rng(0)) is None


def test_groups_with_rows_of_a_class_are_what_must_be_enough():
    rows = SETTINGS["calibrated, groups of one class: 1,000 rows, 30%, 1 to 1"]
    drawn = rows.draw(np.random.default_rng(0))
    assert drawn.enough
    few = replace(drawn, groups=drawn.groups // 15)
    assert not replace(few, positive=drawn.positive & (few.groups < 8)).enough


def test_models_are_as_much_worse_as_they_are_called():
    contest = replace(CONTESTS["2 equal, 1 worse by 2: 1,000 rows, 30%, 1 to 1"], alike=0.5)
    best, _, worse = (contest.cost(apart, GRID).min() for apart in contest.parts)
    assert worse - best == pytest.approx(2 * contest.standard_error, rel=1e-6)
    decided = replace(contest, way=DECIDED, worse=(0.0, 0.0))
    rng, found = np.random.default_rng(9), []
    for _ in range(300):
        policies = decided.draw(rng)
        found.append(CostDifference(policies.held_out.pair("model 0", "model 1"),
                                    decided.costs).difference)  # fmt: skip
    assert np.std(found) == pytest.approx(contest.standard_error, rel=0.15)
    assert abs(np.mean(found)) < 4 * np.std(found) / len(found) ** 0.5


@pytest.mark.parametrize("name", [name for name in CONTESTS if "as decided" in name])
def test_decided_models_cost_what_they_are_called(name):
    contest = CONTESTS[name]
    best = contest.cost(contest.apart, GRID).min()
    factor = EXTRA if contest.way == BESIDE else 1.0
    stated = [contest.stated(at) for at in range(len(contest.worse))]
    costs = [contest.cost(contest.apart, at) for at in stated]
    assert costs == pytest.approx([factor * best] * len(costs), rel=1e-6)
    assert len({round(each, 6) for each in stated}) == (2 if contest.way == BESIDE else 1)
    constants = contest.prevalence * contest.ratio, 1 - contest.prevalence
    assert min(constants) > 1.2 * factor * best


def test_truths_are_those_of_models_or_of_what_is_deployed():
    contest = CONTESTS["2 equal, 1 worse by 4: 1,000 rows, 30%, 1 to 1"]
    policies = contest.draw(np.random.default_rng(1))
    strict, real = (contest.truths(policies, deployed=each) for each in (False, True))
    names = [each.name for each in policies.policies if each.kind == "threshold"]
    assert strict[names[0]] == strict[names[1]] < strict[names[2]]
    for at, name in enumerate(names):
        assert real[name] == contest.cost(contest.parts[at], policies[name].threshold)
        assert strict[name] <= real[name]
    assert [strict["always 0"], strict["always 1"]] == [0.3, 0.7]
    pinned = CONTESTS["1 against its best, pinned: 1,000 rows, 30%, 1 to 1"]
    policies = pinned.draw(np.random.default_rng(1))
    truths = pinned.truths(policies, deployed=True)
    chosen = next(each.name for each in policies.policies if each.cross_fitted)
    assert policies.reference.startswith("model 0@")
    assert truths[policies.reference] == pytest.approx(pinned.cost(pinned.apart, GRID).min())
    assert truths[policies.reference] < truths[chosen]


@pytest.mark.parametrize(
    "name",
    [
        "2 equal, 1 worse by 4: 1,000 rows, 30%, 1 to 1",
        "2 worth nothing, as both constants: 1,000 rows, 5%, 19 to 1",
        "5 equal, as decided, half of them bolder: 1,000 rows, 5%, 20 to 1",
    ],
)
def test_what_is_judged_is_what_policies_say(name):
    contest = CONTESTS[name]
    for seed in range(4):
        policies = contest.draw(np.random.default_rng(seed))
        found = judge(contest, policies, RULES)
        best, ties = policies.best, policies.ties
        shown = {each for each in policies.others if each not in ties}
        truth = contest.truths(policies, deployed=False)
        false = any(truth[each] <= truth[best] + 1e-9 for each in shown)
        assert found.stated[RULES[0]] == (false, false and not ties, not false and not ties)
        real = contest.truths(policies, deployed=True)
        everyone = [best, *policies.others]
        if not found.missed:
            within = [real[each] for each in (best, *ties)]
            assert min(within) == pytest.approx(min(real[each] for each in everyone))
        regret = policies.regret
        assert found.exceeded == (real[best] - min(real[e] for e in everyone) > regret)
        for rule in RULES[1:]:
            assert shown_by(rule, policies) <= {*policies.others}


def test_regret_is_the_largest_one_sided_limit():
    contest = CONTESTS["2 equal, as decided: 1,000 rows, 5%, 20 to 1"]
    policies = contest.draw(np.random.default_rng(3))
    best, joint = policies.best, policies.held_out
    ends = []
    for other in policies.others:
        if other.startswith("always"):  # flags all rows, or none: it differs to one side only
            flags = other == "always 1"
            values = [-1.0, 0.0, 20.0] if flags else [-20.0, 0.0, 1.0]
            (no, missed), (alarms, found) = joint.single(best).counts
            counts = [no, alarms + found, missed] if flags else [found, no + missed, alarms]
        else:
            cells = joint.pair(best, other).counts
            values = [-20.0, -1.0, 0.0, 1.0, 20.0]
            same = cells[0, 0].sum() + cells[1, 1].sum()
            counts = [cells[1, 0, 1], cells[0, 1, 0], same, cells[1, 0, 0], cells[0, 1, 1]]
        level = 0.05 / len(policies.others)
        ends.append(oracle_extremal.upper(values, counts, level, weight=1.0))
    assert policies.regret == pytest.approx(max(0.0, *ends), rel=1e-6)


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
