"""The policies of a study, their names, and their comparison."""

import re
from dataclasses import replace

import numpy as np
import pytest

from stakes import CostMatrix, compare, evaluate, study_of
from stakes._core.text import rounded
from stakes.errors import InputError
from stakes.findings import findings
from stakes.findings.policies import policies_found
from stakes.policies import Asked, Choosing
from stakes.show.report._answer import answer_of

COSTS = CostMatrix.from_errors(false_positive=2, false_negative=35)


def rows(n=2000, prevalence=0.1, seed=0):
    rng = np.random.default_rng(seed)
    actual = (rng.random(n) < prevalence).astype(int)
    scores = {
        name: 1 / (1 + np.exp(2.5 - rng.standard_normal(n) - lead * actual))
        for name, lead in (("old", 1.2), ("new", 2.0))
    }
    return actual, scores


@pytest.fixture(scope="module")
def study():
    actual, scores = rows()
    decided = {"old": (scores["old"] > 0.5).astype(int)}
    return study_of(actual, decided, COSTS, y_score=scores)


def test_there_is_a_policy_for_each_way_to_decide(study):
    kinds = {each.name.split("@")[0]: each.kind for each in study.policies.policies}
    assert [each.kind for each in study.policies.policies] == [
        "decisions",
        "threshold",
        "threshold",
        "constant",
        "constant",
    ]
    assert kinds == {
        "old": "threshold",
        "new": "threshold",
        "always 0": "constant",
        "always 1": "constant",
    }
    assert len({each.name for each in study.policies.policies}) == 5


def test_decisions_as_given_cost_what_evaluate_says(study):
    actual, scores = rows()
    found = evaluate(actual, (scores["old"] > 0.5).astype(int), COSTS)
    assert study.policies.estimate("old").cost == found.cost
    assert tuple(study.policies.interval("old")) == tuple(found.interval())


def test_the_deployed_threshold_is_applied_in_sample(study):
    actual, scores = rows()
    policies = study.policies
    for policy in policies.policies:
        if policy.kind == "threshold":
            decided = (scores[policy.model] >= policy.threshold).astype(int)
            direct = evaluate(actual, decided, COSTS).cost
            assert policies.in_sample_cost(policy.name) == pytest.approx(direct, rel=1e-12)


def test_the_range_of_thresholds_has_the_chosen_one_in_it(study):
    for policy in study.policies.policies:
        if policy.kind == "threshold":
            low, high = policy.range_
            assert low <= policy.threshold <= high


def test_the_limits_are_the_wider_ones_of_both_tables(study):
    policies = study.policies
    name = next(each.name for each in policies.policies if each.kind == "threshold")
    column = policies[name].column
    intervals = [
        evaluate_table(table.single(column)) for table in (policies.held_out, policies.in_sample)
    ]
    found = policies.interval(name)
    assert found.low == min(each.low for each in intervals)
    assert found.high == intervals[0].high


def evaluate_table(table):
    from stakes import CostEstimate

    return CostEstimate(table, COSTS).interval()


def test_two_columns_of_decisions_compare_as_compare_does():
    rng = np.random.default_rng(3)
    actual = (rng.random(3000) < 0.2).astype(int)
    decided = {
        name: np.where(rng.random(3000) < share, 1 - actual, actual)
        for name, share in (("a", 0.1), ("b", 0.2))
    }
    policies = study_of(actual, decided, COSTS).policies
    direct = compare(actual, decided["a"], decided["b"], COSTS)
    pair = policies.family.pair("a", "b")
    assert pair.difference == direct.difference
    assert pair.p_value == direct.test().p_value
    assert (pair.low, pair.high) == tuple(direct.interval())


def test_against_a_constant_only_what_can_happen_counts():
    """The difference from a constant is a cost by relative costs, of the model's own table."""
    actual, scores = rows(400)
    decided = (scores["new"] > 0.3).astype(int)
    policies = study_of(actual, {"m": decided}, COSTS).policies
    relative = CostMatrix(COSTS.values - COSTS.values[1], rows="predicted", labels=[0, 1])
    direct = evaluate(actual, decided, relative)
    pair = policies.family.pair("m", "always 1")
    assert pair.difference == pytest.approx(direct.cost, rel=1e-12)
    swapped = policies.family.pair("always 1", "m")
    assert swapped.difference == pytest.approx(-direct.cost, rel=1e-12)
    assert (swapped.low, swapped.high) == pytest.approx((-pair.high, -pair.low), rel=1e-9)


def test_with_known_priors_a_constant_has_no_interval():
    actual, scores = rows(300)
    study = study_of(actual, {}, COSTS, y_score=scores, class_priors={0: 0.98, 1: 0.02})
    interval = study.policies.interval("always 0")
    assert interval.low == interval.high == pytest.approx(0.02 * 35)
    assert tuple(study.policies.interval("always 1")) == pytest.approx((1.96, 1.96))


def test_shown_agrees_with_the_limits(study):
    for pair in study.policies.pairs:
        assert (pair.p_value <= 0.05) == (not pair.low <= 0 <= pair.high)
        assert pair.shown == (pair.p_adjusted <= 0.05)
        assert pair.p_adjusted >= pair.p_value


def test_policies_that_were_asked_for_compete(study):
    asked = replace(study, asked=Asked("always 0", ("old@0.3", "new@best"))).policies
    assert asked.reference == "always 0"
    assert "old@0.3" in asked.competitors
    assert asked["old@0.3"].threshold == 0.3
    assert not asked["old@0.3"].cross_fitted
    chosen = next(each for each in asked.asked if each.startswith("new@"))
    assert asked[chosen].cross_fitted


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nobody", "there is no policy"),
        ("old@high", "expected a threshold after @"),
        ("old@nan", "got .nan"),
        ("nobody@0.5", "there is no policy"),
    ],
)
def test_a_policy_that_is_not_there_is_an_error(study, name, problem):
    with pytest.raises(InputError, match=problem):
        _ = replace(study, asked=Asked(name)).policies


@pytest.mark.parametrize("stated", ["m@never", "m@always", "m@0.35", "m@-1.7976931348623157e308"])
def test_thresholds_can_be_stated_as_they_are_named(stated):
    actual, scores = rows(200)
    score = np.where(scores["new"] < 0.3, -np.inf, scores["new"])
    study = study_of(actual, {}, COSTS, y_score={"m": score}, pos_label=1)
    policies = replace(study, asked=Asked(None, (stated,))).policies
    (name,) = policies.asked
    asked = "m@always" if "e308" in stated else stated
    assert asked in policies[name].names  # all for one decision is a constant prediction
    flagged = float({"m@never": "inf", "m@always": "-inf"}.get(asked, asked[2:])) <= score
    values = COSTS.values[flagged.astype(int), actual]
    assert policies.estimate(name).cost == pytest.approx(values.mean(), rel=1e-12)


@pytest.mark.parametrize("given", [[np.inf, -np.inf], [np.inf, 0.5], [0.5, -np.inf]])
def test_infinite_scores_are_cut_as_others_in_their_order_are(given):
    actual = np.repeat([1, 1, 0, 0], [60, 40, 30, 70])
    costs = CostMatrix([[0, 1.25], [1, 0]], rows="predicted", labels=[0, 1])

    def found(high, low):
        score = np.repeat([high, low, high, low], [60, 40, 30, 70])
        policies = study_of(actual, {}, costs, y_score={"m": score}, pos_label=1).policies
        best = policies[policies.best]
        assert (best.threshold <= score).sum() == 90
        return policies.estimate(policies.best)

    one, other = found(*given), found(6.0, -6.0)
    assert one.cost == other.cost == pytest.approx((1.25 * 40 + 30) / 200)


def test_a_threshold_needs_scores():
    actual, scores = rows(200)
    study = study_of(actual, {"m": (scores["new"] > 0.5).astype(int)}, COSTS)
    with pytest.raises(InputError, match="has no scores"):
        _ = replace(study, asked=Asked("m@0.5")).policies
    with pytest.raises(InputError, match="has no scores"):
        _ = replace(study, asked=Asked("m@best")).policies


def test_few_rows_of_a_class_choose_no_threshold():
    actual, scores = rows(40)
    study = study_of(actual, {}, COSTS, y_score=scores)
    found = [each for each in study.policies.policies if each.kind == "threshold"]
    assert [each.threshold for each in found] == [float(f"{2 / 37:.4g}")] * 2
    assert not any(each.cross_fitted for each in found)
    assert any("only" in note for note in study.policies.notes)


def test_the_threshold_by_costs_follows_the_priors():
    """Odds move by (π⁺/π⁻)/(n⁺/n⁻): the threshold moves the other way."""
    actual, scores = rows(40)
    positives = int(actual.sum())
    study = study_of(actual, {}, COSTS, y_score=scores, class_priors={0: 0.99, 1: 0.01})
    odds = 2 / 35 * (0.99 / 0.01) * positives / (40 - positives)
    assert study.policies.policies[0].threshold == float(f"{odds / (1 + odds):.4g}")


def test_margins_need_rows_to_choose_on():
    actual, scores = rows(40)
    margins = {name: np.log(each / (1 - each)) for name, each in scores.items()}
    decided = {"old": (margins["old"] > 0).astype(int)}
    study = study_of(actual, decided, COSTS, y_score=margins)
    assert {each.model for each in study.policies.policies} == {"old", None}
    assert sum("not probabilities" in note for note in study.policies.notes) == 2


def test_raw_scores_choose_the_same_policies():
    actual, scores = rows()
    margins = {name: 100 * np.log(each / (1 - each)) for name, each in scores.items()}
    one, other = (study_of(actual, {}, COSTS, y_score=each).verdict() for each in (scores, margins))
    assert (one.cost, one.low, one.high) == (other.cost, other.low, other.high)
    assert one.use.split("@")[0] == other.use.split("@")[0]


@pytest.mark.parametrize("ties", [False, True])
def test_nothing_changes_what_does_not_matter(ties):
    actual, scores = rows(600)
    if ties:
        scores = {name: np.round(each, 1) for name, each in scores.items()}
    decided = {"old": (scores["old"] > 0.5).astype(int)}
    first = study_of(actual, decided, COSTS, y_score=scores).verdict()
    order = np.random.default_rng(1).permutation(600)
    shuffled = study_of(
        actual[order],
        {name: each[order] for name, each in decided.items()},
        COSTS,
        y_score={name: each[order] for name, each in scores.items()},
    ).verdict()
    assert shuffled == first
    swapped = study_of(
        1 - actual,
        {name: 1 - each for name, each in decided.items()},
        CostMatrix.from_errors(false_positive=35, false_negative=2),
        y_score={name: -each for name, each in scores.items()},
    ).verdict()
    numbers = ("cost", "low", "high", "saving", "shown")
    assert [getattr(swapped, each) for each in numbers[:3]] == pytest.approx(
        [getattr(first, each) for each in numbers[:3]], rel=1e-9
    )
    assert swapped.shown == first.shown
    tenfold = CostMatrix.from_errors(false_positive=20, false_negative=350)
    larger = study_of(actual, decided, tenfold, y_score=scores).verdict()
    assert larger.use == first.use
    assert larger.cost == pytest.approx(10 * first.cost, rel=1e-12)


def test_groups_stay_whole_in_folds():
    actual, scores = rows(1000)
    groups = np.repeat(np.arange(100), 10)
    study = study_of(actual, {}, COSTS, y_score=scores, groups=groups)
    assert study.policies.held_out.parts is not None
    assert study.verdict().use


def test_limits_hold_in_sample():
    actual, scores = rows()
    study = study_of(actual, {}, COSTS, y_score=scores)
    for choosing, rate, keeps in (
        (Choosing(min_recall=0.95), "recall", lambda share: share >= 0.95),
        (Choosing(max_fpr=0.05), "fpr", lambda share: share <= 0.05),
        (Choosing(capacity=0.1), "alarms", lambda share: share <= 0.1),
    ):
        for policy in replace(study, choosing=choosing).policies.policies:
            if policy.kind == "threshold":
                called = scores[policy.model] >= policy.threshold
                share = {
                    "recall": called[actual == 1].mean(),
                    "fpr": called[actual == 0].mean(),
                    "alarms": called.mean(),
                }[rate]
                assert keeps(share)


def test_thresholds_of_other_rows_are_not_cross_fitted():
    actual, scores = rows(seed=1)
    other = study_of(actual, {}, COSTS, y_score=scores)
    actual, scores = rows(500, seed=2)
    study = study_of(actual, {}, COSTS, y_score=scores)
    study = replace(study, choosing=Choosing(validation=other.joint_scores))
    found = [each for each in study.policies.policies if each.kind == "threshold"]
    known = [each for each in other.policies.policies if each.kind == "threshold"]
    assert [each.threshold for each in found] == [each.threshold for each in known]
    assert not any(each.cross_fitted for each in found)


def test_a_review_decision_gives_two_thresholds():
    actual, scores = rows()
    costs = CostMatrix(
        [[0, 35], [1, 3], [6, 0]], rows="predicted", labels=[0, 1], decisions=[0, "ask", 1]
    )
    study = study_of(actual, {"none": [0] * len(actual)}, costs, y_score={})
    assert study.policies.best == "always ask"  # no scores, no thresholds
    study = study_of(actual, {}, costs, y_score=scores)
    policy = study.policies[study.policies.best]
    decisions = [decision for decision, _ in policy.cuts]
    assert decisions == [1, "ask"]
    assert policy.below == 0
    assert policy.cuts[0][1] > policy.cuts[1][1]


def test_the_family_is_as_large_as_its_members(study):
    pairs = study.policies.pairs
    members = len(study.policies.competitors)
    assert len(pairs) == members - 1
    assert study.policies.family.members == study.policies.competitors


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"costs": 3}, "costs"),
        ({"class_priors": [0.9, 0.1]}, "class_priors"),
        ({"baseline": float("nan")}, "baseline"),
    ],
)
def test_wrong_arguments_are_named(given, argument):
    actual, scores = rows(60)
    asked = {"costs": COSTS} | given
    with pytest.raises((TypeError, ValueError), match=argument):
        study_of(actual, {}, asked.pop("costs"), y_score=scores, **asked)


def test_decisions_that_break_a_limit_do_not_compete(study):
    limited = replace(study, choosing=Choosing(max_fpr=0.001), asked=Asked("always 0")).policies
    assert "old" not in [each.name for each in limited.policies]
    assert any("old" in note and "not keep within the limits" in note for note in limited.notes)


@pytest.mark.parametrize("asked", [Asked("old"), Asked("always 1")])
def test_a_baseline_that_breaks_a_limit_is_what_savings_are_against(study, asked):
    """It is compared with the policy to use, and cannot be that itself."""
    limited = replace(study, choosing=Choosing(max_fpr=0.001), asked=asked)
    policies, verdict = limited.policies, limited.verdict(volume=1000)
    baseline = asked.baseline
    assert policies.barred == (baseline,)
    assert verdict.baseline == policies.reference == baseline
    assert verdict.use != baseline
    assert baseline not in (*verdict.ties, *policies.competitors)
    pair = next(each for each in policies.pairs if each.second == baseline)
    assert verdict.saving.per_decision == -pair.difference
    assert verdict.saving.shown == (pair.shown and pair.difference < 0)
    said = "old as decided" if baseline == "old" else "Always 1"
    assert f"{said} does not keep within the limits" in " ".join(verdict.notes)
    found = {each.name: each for each in policies_found(limited)}
    assert not found[baseline].competes
    with pytest.raises(InputError, match="does not keep within the limits"):
        replace(limited, asked=Asked(candidates=("old",))).policies  # noqa: B018


def test_a_model_that_cannot_keep_within_limits_leaves_the_others():
    actual, scores = rows()
    scores["none"] = np.full(len(actual), 0.5)
    limited = replace(
        study_of(actual, {}, COSTS, y_score=scores), choosing=Choosing(min_recall=0.5, max_fpr=0.3)
    )
    assert {each.model for each in limited.policies.policies} == {"old", "new", None}
    assert "No threshold of none keeps within the limits." in limited.verdict().notes
    assert findings(limited).verdict.use.startswith("new@")
    with pytest.raises(InputError, match="no threshold has a false positive rate of"):
        replace(limited, choosing=Choosing(min_recall=1, max_fpr=0)).policies  # noqa: B018


def test_a_cheaper_baseline_that_breaks_a_limit_is_said_to_cost_less():
    actual, scores = rows(4000)
    decided = {"old": (scores["old"] > 0.05).astype(int)}
    study = study_of(actual, decided, COSTS, y_score=scores)
    limited = replace(study, choosing=Choosing(max_fpr=0.0005), asked=Asked("old"))
    verdict = limited.verdict(unit="EUR", volume=10)
    assert verdict.saving.high < 0
    assert not verdict.saving.shown
    more = f"It costs {rounded(-verdict.saving.per_decision)} EUR more per decision than old as"
    assert more in verdict.text
    assert "old as decided does not keep within the limits." in verdict.text
    answer = answer_of(findings(limited))
    assert re.search(
        r"It costs [\d.]+ more per decision, but keeps within the limits", answer.headline
    )
    assert "extra cost: " in answer.lead
    assert answer.facts[0].title == "Extra cost"


def test_a_threshold_can_be_typed_as_it_is_printed(study):
    for policy in study.policies.policies:
        if policy.kind == "threshold":
            assert float(policy.name.rpartition("@")[2]) == policy.threshold
            again = replace(study, asked=Asked(candidates=(policy.name,))).policies
            assert again.asked == (policy.name,)
            assert again[policy.name].cross_fitted


def test_thresholds_close_to_one_keep_their_digits():
    actual, scores = rows()
    near = {name: 1 - (1 - each) * 1e-7 for name, each in scores.items()}
    study = study_of(actual, {}, COSTS, y_score=near)
    policy = study.policies[study.policies.best]
    assert policy.threshold < 1
    decided = (near[policy.model] >= float(policy.name.rpartition("@")[2])).astype(int)
    direct = evaluate(actual, decided, COSTS).cost
    assert study.policies.in_sample_cost(policy.name) == pytest.approx(direct)
    assert policy.name.rpartition("@")[2] in study.verdict().text


def test_reversed_scores_are_pointed_out():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    score = y + rng.normal(size=400)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    study = study_of(y, {}, costs, y_score={"right": score, "wrong": -score})
    found = [note for note in study.policies.notes if "AUC" in note]
    assert len(found) == 1
    assert found[0].startswith("The scores of wrong rank worse than chance (AUC 0.2")
    assert found[0].endswith("low scores may mean 1. If so, negate them.")


def test_equal_costs_are_said_to_choose_nothing():
    rng = np.random.default_rng(0)
    truth = (rng.random(60) < 0.3).astype(int)
    score = np.where(truth, 0.6, 0.3) + rng.normal(0, 0.1, 60)
    table = {"actual": truth, "pred_a": (score > 0.5).astype(int), "score_a": score}
    study = study_of(table, {"false_positive": 0, "false_negative": 0}, pos_label=1)
    notes = " ".join(study.verdict().notes)
    assert "All decisions cost the same" in notes
    assert "High scores" not in notes


def reviewed(values, few=False):
    """Return the study of a model with a third decision, at costs of 0, "review" and 1."""
    rng = np.random.default_rng(3)
    actual = (rng.random(400) < 0.3).astype(int)
    if few:
        actual = np.repeat([0, 1], [395, 5])
    score = 1 / (1 + np.exp(-(2 * actual - 1 + rng.normal(size=400))))
    costs = CostMatrix(values, rows="predicted", labels=[0, 1], decisions=[0, "review", 1])
    return study_of(actual, {}, costs, y_score={"m": score}, pos_label=1)


@pytest.mark.parametrize("few", [False, True])
def test_decisions_that_are_never_the_cheapest_leave_a_constant(few):
    study = reviewed([[0, 1], [5, 5], [100, 2]], few=few)
    policy = study.policies["m@never"]
    assert (policy.always, policy.kind, policy.cross_fitted) == (0, "constant", False)
    assert study.policies.best == "always 0"
    assert study.policies.others == ("always review", "always 1")
    assert "m" not in {each.rpartition("@")[0] for each in study.verdict().ties}
    assert any(each.endswith("decides 0 for every row.") for each in study.verdict().notes)


@pytest.mark.parametrize(
    ("values", "first", "below"),
    [
        ([[0, 2000], [30, 30], [100, 50]], "review", 0),  # a review is always better than 1
        ([[0, 2000], [0.001, 10], [100, 0]], 1, "review"),  # a review is always better than 0
    ],
)
def test_one_threshold_of_three_decisions_says_what_they_are(values, first, below):
    study = reviewed(values)
    policy = next(each for each in study.policies.policies if each.model == "m")
    assert ([decision for decision, _ in policy.cuts], policy.below) == ([first], below)
    assert policy.threshold == policy.cuts[0][1]
    notes = " ".join(study.verdict().notes)
    assert f"m decides {first!r} from a score of" in notes
    assert f"{below!r} otherwise" in notes
    assert "mistakes cost less than correct decisions" not in notes


def test_a_review_is_no_mistake():
    study = reviewed([[0, 2000], [30, 30], [100, 0]])
    found = {each.name: each.error_rate for each in policies_found(study)}
    assert found["always review"] == 0
    assert found[study.policies.best] < 0.1
    assert not any("mistakes" in note for note in study.verdict().notes)


def test_a_known_cost_has_no_interval_in_words():
    study = reviewed([[0, 2000], [30, 30], [100, 50]])
    assert "costs 30.0 per decision (known exactly)." in study.verdict().text


def test_the_same_constant_competes_once():
    rng = np.random.default_rng(1)
    actual = (rng.random(300) < 0.5).astype(int)
    scores = {"good": 3 * actual + rng.normal(size=300), "flat": np.full(300, 7.0)}
    costs = CostMatrix.from_errors(false_positive=1, false_negative=5)
    policies = study_of(actual, {}, costs, y_score=scores).policies
    assert policies["flat@always"].always == 1
    assert [each.second for each in policies.pairs] == ["always 1", "always 0"]
    named = study_of(actual, {}, costs, y_score=scores, baseline="flat@best").policies
    assert named.reference == "always 1"
    assert "flat@always" in named["always 1"].names
