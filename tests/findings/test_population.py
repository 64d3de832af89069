"""With class priors, all findings are about the population that the priors describe."""

import json
from dataclasses import replace

import numpy as np
import pytest
from _helpers.report_studies import study_of as report_study_of
from scipy.stats import gamma, norm

from stakes import (
    Confusion,
    CostMatrix,
    Design,
    choose_threshold,
    evaluate,
    plan_test_size,
    study_of,
)
from stakes.curves import operating_condition
from stakes.findings import Settings, findings, sensitivity
from stakes.findings.data import json_text
from stakes.measures import kappa

PRIORS = {
    "example": {"benign": 0.995, "malignant": 0.005},
    "three": {"green": 0.04, "yellow": 0.06, "red": 0.9},
    "decisions": {"ok": 0.85, "fraud": 0.15},
    "correct": {0: 0.98, 1: 0.02},
    "one": {0: 0.25, 1: 0.75},
}
"""Class priors by study, far from the class frequencies; all costs are asymmetric."""


class Rows:
    """A study's findings, and its examples as rows, from which all is computed anew."""

    def __init__(self, name):
        self.study = replace(report_study_of(name), design=Design(PRIORS[name]))
        self.found = findings(self.study, Settings(unit="EUR", volume=1000))
        self.priors, self.costs = PRIORS[name], self.study.costs
        policies = self.study.policies
        names = policies.competitors
        self.actual, self.decided = rows_of(policies.table(names))
        self.deployed = rows_of(policies.table(names, deployed=True))

    def evaluated(self, policy, costs=None, times=1):
        return evaluate(
            self.actual * times,
            self.decided[policy] * times,
            self.costs if costs is None else costs,
            class_priors=self.priors,
        )

    def used(self, policy, costs):
        """Evaluate the policy that is deployed, on all rows."""
        actual, decided = self.deployed
        return evaluate(actual, decided[policy], costs, class_priors=self.priors)


def rows_of(joint):
    """Return the classes and decisions of the rows of a table."""
    row = np.repeat(np.arange(len(joint.counts)), joint.counts)
    decided = {
        policy: [joint.decisions[i] for i in joint.decided[row, place]]
        for place, policy in enumerate(joint.names)
    }
    return [joint.labels[j] for j in joint.actual[row]], decided


@pytest.fixture(scope="module", autouse=True)
def short_paths():
    """Spare the intervals along paths of costs, of which nothing is asked here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitivity, "STEPS", 2)
        yield


@pytest.fixture(scope="module", params=PRIORS)
def rows(request):
    return Rows(request.param)


def test_models_cost_what_evaluate_says(rows):
    fitted = {each.name for each in rows.found.policies if each.cross_fitted}
    for model in rows.found.models:
        estimate = rows.evaluated(model.policy)
        low, high = estimate.interval()
        assert model.cost == pytest.approx(estimate.cost)
        assert model.high == pytest.approx(high)
        if model.policy not in fitted:
            assert model.low == pytest.approx(low)
        assert model.low <= low + 1e-9 * abs(low)
        assert model.total == pytest.approx(estimate.cost * rows.study.n)
        assert model.over_volume.high == pytest.approx(1000 * high)
        inside = rows.used(model.policy, rows.costs).cost
        assert np.sum(model.contributions) == pytest.approx(inside)


def test_savings_are_against_the_best_constant_decision_of_that_population(rows):
    always = {
        decision: evaluate(
            rows.actual, [decision] * rows.study.n, rows.costs, class_priors=rows.priors
        )
        for decision in rows.costs.decisions
    }
    assert [each.cost for each in rows.found.constants] == pytest.approx(
        sorted(each.cost for each in always.values())
    )
    for each in rows.found.constants:  # with known class priors, their costs are known
        assert each.low == each.high == pytest.approx(each.cost)
    best = min(always, key=lambda decision: always[decision].cost)
    shares = [rows.priors[label] for label in rows.costs.labels]
    perfect = float(rows.costs.values.min(axis=0) @ shares)
    for model in rows.found.models:
        assert model.best_constant == best
        assert model.constant_cost == pytest.approx(always[best].cost)
        saved = (always[best].cost - model.cost) / (always[best].cost - perfect)
        assert model.savings == pytest.approx(saved)
        assert model.savings > 0 or not model.cheaper_than_constant


def test_errors_and_kappa_are_of_that_population(rows):
    labels, decisions = rows.costs.labels, rows.costs.decisions
    mistakes = [[float(i in labels and i != j) for j in labels] for i in decisions]
    costs = CostMatrix(mistakes, rows="predicted", labels=labels, decisions=decisions)
    for model in rows.found.models:
        errors = rows.used(model.policy, costs)
        assert model.error_rate == pytest.approx(errors.cost)
        counts = np.array(model.counts, dtype=float)
        counts *= [rows.priors[label] for label in labels] / counts.sum(axis=0)
        assert model.kappa == pytest.approx(kappa(Confusion(counts, labels, decisions)))


def test_pairs_and_ties_are_of_that_population(rows):
    first, *others = rows.decided
    assert [(each.first, each.second) for each in rows.found.pairs] == [(first, o) for o in others]
    for pair in rows.found.pairs:
        apart = rows.evaluated(pair.first).cost - rows.evaluated(pair.second).cost
        assert pair.difference == pytest.approx(apart, abs=1e-9)
        assert pair.low <= pair.difference <= pair.high
        assert (pair.p_value <= 0.05) == (not pair.low <= 0 <= pair.high)
        assert pair.shown == (pair.p_adjusted <= 0.05)
    assert rows.found.verdict.use == first
    assert list(rows.found.verdict.ties) == [p.second for p in rows.found.pairs if not p.shown]


def test_intervals_at_other_sizes_are_those_of_as_many_more_rows(rows):
    n = rows.study.n
    for enough in rows.found.sample_size:
        at = {size: place for place, size in enumerate(enough.sizes)}
        here = at[n]
        limits = tuple(rows.evaluated(enough.name).interval())
        assert (enough.low[here], enough.high[here]) == pytest.approx(limits)
        limits = tuple(rows.evaluated(enough.name, times=4).interval())
        assert (enough.low[at[4 * n]], enough.high[at[4 * n]]) == pytest.approx(limits)
        for low, high in zip(enough.low, enough.high, strict=True):
            assert low <= enough.cost <= high
        assert (np.diff(enough.low) > 0).all()
        assert (np.diff(enough.high) < 0).all()


def test_so_many_examples_as_are_planned_are_enough(rows):
    n = rows.study.n
    for enough in rows.found.sample_size:
        plan = enough.plan
        assert plan.arm <= enough.target
        assert plan.assurance == 0.8
        times = -(-plan.n // n)
        if times * n < 100_000:
            estimate = rows.evaluated(enough.name, times=times)
            assert estimate.interval().high - estimate.cost <= enough.target


def test_a_class_that_is_all_there_is_needs_what_its_own_examples_would():
    rows = Rows("one")
    found = findings(replace(rows.study, design=Design({0: 1.0, 1: 0.0}))).sample_size[0]
    counts = rows.study.joint.single("m").counts[:, 0]
    pilot = Confusion(np.column_stack([counts, 0 * counts]), [0, 1])
    part = rows.study.n / counts.sum()
    alone = CostMatrix([[0, 0], [1, 0]], rows="predicted", labels=[0, 1])
    plan = plan_test_size(alone, pilot, half_width=found.target, rng=0)
    assert found.plan.n == pytest.approx(part * plan.n, rel=0.06)
    p = counts[1] / counts.sum()
    spread = norm.isf(0.025) ** 2 * p * (1 - p) / found.target**2
    assert found.plan.spread == pytest.approx(part * spread, abs=1)
    rare = gamma.isf(0.025, 0.7) / found.target
    assert found.plan.range_of_costs == pytest.approx(part * rare, abs=1)


def test_a_target_beyond_all_plans_has_none():
    rows = Rows("one")
    for target in (1e-6, 1e-300):
        assert findings(rows.study, Settings(target=target)).sample_size[0].plan is None


@pytest.mark.parametrize("n", [2, 12, 14, 25])
def test_parts_of_an_example_make_an_interval_too(n):
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    actual, decided = [0] * (n - 1) + [1], [0] * (n - 1) + [1 - n % 2]
    study = study_of(actual, {"m": decided}, costs, class_priors={0: 0.9, 1: 0.1})
    enough = findings(study).sample_size[0]
    assert enough.sizes[0] == max(round(n / 10), 1)
    assert all(low <= enough.cost <= high for low, high in zip(*limits_of(enough), strict=True))


def limits_of(enough):
    return enough.low, enough.high


def test_the_condition_and_the_cheapest_thresholds_are_of_that_population(rows):
    curves = rows.found.curves
    if curves is None:
        return
    positive = rows.study.pos_label
    condition = curves.condition
    mistakes = rows.costs.mistake_costs(pos_label=positive)
    assert condition.prevalence == pytest.approx(rows.priors[positive])
    pc = operating_condition(prevalence=rows.priors[positive], **mistakes)
    assert condition.pc == pytest.approx(pc)
    for curve in curves.models:
        counts = rows.study.scores[curve.name]
        choice = choose_threshold(counts, rows.costs, class_priors=rows.priors)
        for field in ("threshold", "cost", "interval", "recall", "fpr", "alarms"):
            assert curve.choice.to_dict()[field] == choice.to_dict()[field]
        assert curve.choice.summary == choice.summary()
        assert choice.cost <= rows.found.constants[0].cost


def test_the_population_is_said(rows):
    (said,) = [each for each in rows.found.verdict.notes if each.startswith("Costs are for ")]
    assert said.endswith(", not as in the data.")
    for label, share in rows.priors.items():
        assert f"{100 * share:.4g}% {label!r}" in said
    assert list(rows.found.settings.class_priors) == pytest.approx(
        [rows.priors[label] for label in rows.found.data.labels]
    )
    assert json.loads(json_text(rows.found)) == rows.found.to_dict()


def test_without_priors_the_population_is_that_of_the_examples():
    study = report_study_of("one")
    found = findings(study)
    assert found.settings.class_priors is None
    assert not any(each.startswith("Costs are for ") for each in found.verdict.notes)
    counts = study.joint.class_counts()
    same = replace(study, design=Design(dict(zip([0, 1], counts / counts.sum(), strict=True))))
    said = findings(same).verdict.notes[0]
    assert said.startswith("Costs are for a population with ")
    assert said.endswith(", as in the data.")
    assert "not" not in said


@pytest.mark.parametrize("priors", [None, {"ok": 0.99, "fraud": 0.01}])
def test_who_makes_the_fewest_mistakes_depends_on_the_population(priors):
    """The shy one, where frauds are rare; then it is not blamed for dear mistakes either."""
    actual = np.repeat(["ok", "fraud"], [500, 500])
    decided = {
        "shy": np.repeat(["ok", "fraud"], [700, 300]),
        "eager": np.repeat(["ok", "fraud"], [400, 600]),
    }
    costs = CostMatrix.from_errors(
        false_positive=5, false_negative=20, pos_label="fraud", neg_label="ok"
    )
    found = findings(study_of(actual, decided, costs, class_priors=priors))
    least = min(found.models, key=lambda model: model.error_rate).name
    best = "eager" if priors is None else "shy"
    assert least == best
    assert min(found.models, key=lambda model: model.cost).name == best
    assert not any("fewest mistakes" in each for each in found.verdict.notes)
