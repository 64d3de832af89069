"""Every difference that a sentence states is shown by the comparison behind it."""

import json
import re
from functools import cache

import numpy as np
import pytest

from stakes import CostMatrix, study_of
from stakes._core.text import rounded
from stakes.cli.evaluate import Evaluation
from stakes.findings import findings
from stakes.findings.data import costs_of_study, data_of, json_text, run_settings_of
from stakes.findings.models import models_of
from stakes.findings.policies import moved_found, policies_found
from stakes.infer.family import adjusted, p_values_of, uppers_of
from stakes.policies.verdict import in_words

KINDS = ("scores", "decisions", "both", "mixed", "raw", "priors", "weak", "equal", "amount")
STATES = re.compile(r"cheaper|costs? more|costs? less|saves?\b|cheapest")


@cache
def made(kind, seed, n=160):
    """Return the arguments of a study of two models, of one kind of file."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    actual = np.where(rng.random(n) < rng.choice([0.15, 0.3, 0.5]), "bad", "ok")
    actual[:24] = np.resize(["bad", "ok"], 24)
    signal = 0.0 if kind == "weak" else rng.choice([0.7, 1.5, 3])
    log_odds = {
        name: signal * (actual == "bad") + rng.normal(0, 1, n) - signal / 2 for name in "ab"
    }
    if kind == "equal":
        log_odds["b"] = log_odds["a"] * 2 + 1
    scores = {name: 1 / (1 + np.exp(-each)) for name, each in log_odds.items()}
    decided = {name: np.where(each > 0, "bad", "ok") for name, each in log_odds.items()}
    given = {"y_true": actual, "y_pred": {}, "y_score": scores}
    if kind in ("decisions", "amount"):
        given |= {"y_pred": decided, "y_score": {}}
    elif kind == "both":
        given |= {"y_pred": decided}
    elif kind == "mixed":
        given |= {"y_pred": {"a": decided["a"]}, "y_score": {"b": scores["b"]}}
    elif kind == "raw":
        given |= {"y_score": {"a": log_odds["a"], "b": 100 * log_odds["b"] - 7}}
    if kind in ("priors", "equal"):
        given["class_priors"] = {"bad": 0.04, "ok": 0.96}
    alarm, miss = float(rng.choice([1, 5])), float(rng.choice([3, 20, 60]))
    given["costs"] = CostMatrix.from_errors(
        false_positive=alarm, false_negative=miss, pos_label="bad", neg_label="ok"
    )
    if kind == "amount":
        given["costs"] = {"false_positive": alarm, "false_negative": rng.gamma(2, miss, n)}
        given["pos_label"] = "bad"
    return given


@cache
def found_for(kind, seed):
    """Return a study and, of its findings, the parts that compare policies."""
    study = study_of(**made(kind, seed))
    found = Evaluation(
        "test",
        data_of(study),
        costs_of_study(study),
        run_settings_of(study),
        study.verdict(volume=1000),
        policies_found(study, 1000),
        models_of(study),
        study.policies.pairs,
        moved_found(study),
    )
    return study, found


CASES = [(kind, seed) for kind in KINDS for seed in range(2)]
EVERY = pytest.mark.parametrize(("kind", "seed"), CASES)


def sentences(text):
    return re.split(r"(?<=[.:;]) (?=[A-Z])", text)


def named(study, text):
    """Return the policies that a sentence names, in its order."""
    words = {each.name: (in_words(each), each.name) for each in study.policies.policies}
    places = {}
    left = text
    for name in sorted(words, key=lambda each: -max(map(len, words[each]))):
        for each in words[name]:
            match = re.search(rf"(?<![\w@]){re.escape(each)}(?![\w@]|\.\d)", left)
            if match is not None:
                places[name] = match.start()
                left = left.replace(each, "_" * len(each))
                break
    return sorted(places, key=places.__getitem__)


def alone(study, first, second):
    """Compare two policies by the public classes, without the family: difference and p."""
    policies = study.policies
    tables = [policies.held_out, policies.in_sample]
    chosen = policies[first].cross_fitted or policies[second].cross_fitted
    found = [policies.difference(first, second, each) for each in tables[: 1 + chosen]]
    values = [getattr(each, "difference", getattr(each, "cost", None)) for each in found]
    ps = p_values_of(found, 0.0)
    return values[0], max(ps) if len({np.sign(each) for each in values}) == 1 else 1.0


def check_worth(study, verdict, text):
    """No model is shown to cost less than the constant prediction that is named."""
    policies = study.policies
    constant = verdict.constant.policy if verdict.constant else verdict.use
    assert policies[constant].always is not None
    for name in policies.family.members:
        if policies[name].always is None:
            value, p = alone(study, name, constant)
            assert value >= 0 or adjusted(p, 2) > 0.05 or not verdict.constant.shown
    assert in_words(policies[constant]) in text


def check_regret(study, verdict, text):
    policies, family = study.policies, study.policies.family
    m = len(family.members)
    most = max(
        uppers_of([each], 0.05 / (m - 1))[0]
        for name in family.members[1:]
        for each in [
            policies.difference(verdict.use, name, table) for table in tables_of(study, name)
        ]
    )
    assert verdict.regret == pytest.approx(max(most, 0.0), rel=1e-9)
    assert f"the best of the {m} policies (95% confidence)" in text
    assert rounded(verdict.regret) in text or (verdict.regret == 0 and "no more" in text)


def tables_of(study, name):
    policies = study.policies
    chosen = policies[name].cross_fitted or policies[policies.best].cross_fitted
    return [policies.held_out, policies.in_sample][: 1 + chosen]


def check_saving_words(study, verdict, text):
    saving = verdict.saving
    value, p = alone(study, verdict.use, verdict.baseline)
    assert saving.per_decision == pytest.approx(-value, abs=1e-12)
    assert f"({rounded(saving.low)} to {rounded(saving.high)})" in text
    assert saving.by == "p_adjusted"
    assert saving.p >= p * (1 - 1e-9)
    assert saving.shown == (saving.p <= 0.05 and value < 0)
    assert saving.shown == text.startswith("It saves")
    costs = {each.name: study.policies.estimate(each.name).cost for each in study.policies.policies}
    fixed = [name for name in costs if study.policies[name].kind != "threshold"]
    assert costs[verdict.baseline] == min(costs[name] for name in fixed)
    if saving.threshold is not None:
        assert saving.threshold + saving.model == pytest.approx(saving.per_decision, abs=1e-12)


MANY_FILES = [(kind, seed) for kind in KINDS for seed in range(23)]


def test_every_sentence_of_the_headline_is_behind_a_test():  # noqa: C901, PLR0912 - one branch each
    """Some 200 files: each sentence is checked against the comparisons, computed again."""
    seen = set()
    for kind, seed in MANY_FILES:
        study = study_of(**made(kind, seed, 160 if seed < 15 else 1500))
        verdict, policies = study.verdict(volume=1000), study.policies
        shown = {each.second for each in policies.pairs if each.shown}
        for name in policies.others:  # what is shown is so when judged anew
            value, p = alone(study, verdict.use, name)
            pair = next(each for each in policies.pairs if each.second == name)
            assert (pair.difference, pair.p_value) == pytest.approx((value, p), rel=1e-9)
            assert not pair.shown or p <= 0.05
        for text in sentences(verdict.text):
            if text.startswith("No model is shown to be worth using"):
                seen.add("worth")
                check_worth(study, verdict, text)
            elif "equally good as far as" in text:
                seen.add("ties")
                assert verdict.ties
                assert not {*named(study, text.partition(":")[0])} & shown
            elif text.startswith("Use "):
                seen.add("use")
                assert named(study, text)[0] == verdict.use
                assert verdict.constant is None or verdict.constant.shown
            elif text.startswith("It is shown to cost less than"):
                seen.add("shown")
                assert {*named(study, text)} <= shown
            elif text.startswith("It is not shown to cost less than"):
                seen.add("not shown")
                assert {*named(study, text)} <= {*verdict.ties}
            elif text.startswith("Choosing "):
                seen.add("regret")
                check_regret(study, verdict, text)
            elif text.startswith(("It saves", "A saving against")):
                seen.add("saving")
                check_saving_words(study, verdict, text)
            elif text.startswith("It is the baseline"):
                seen.add("baseline")
                assert verdict.use == verdict.baseline
            elif text.startswith(("Of it, ", "All of it is")):
                seen.add("parts")
                assert verdict.saving.threshold is not None
            else:
                raise AssertionError(f"what is behind this? {text}")
        for text in verdict.notes:
            if "makes the fewest mistakes but costs more" in text:
                assert {*named(study, text)} <= shown
    assert seen >= {"worth", "ties", "use", "shown", "not shown", "regret", "saving"}


def test_a_saving_is_divided_into_that_of_the_threshold_and_that_of_the_model():
    rng = np.random.default_rng(4)
    actual = (rng.random(4000) < 0.2) * 1
    scores = {
        name: 1 / (1 + np.exp(1.5 - lead * actual - rng.normal(size=4000)))
        for name, lead in (("old", 1.5), ("new", 2.0))
    }
    decided = {"old": (scores["old"] > 0.5) * 1}
    costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    study = study_of(actual, decided, costs, y_score=scores, baseline="old")
    verdict, cost = study.verdict(), lambda name: study.policies.estimate(name).cost
    assert study.policies[verdict.use].model == "new"
    moved = study.policies.chosen_for("old")
    saving = verdict.saving
    assert saving.threshold == pytest.approx(cost("old") - cost(moved))
    assert saving.model == pytest.approx(cost(moved) - cost(verdict.use))
    assert saving.by == "p_value"
    parts = f"Of it, {rounded(saving.threshold)} is the threshold's and {rounded(saving.model)} the"
    assert parts in verdict.text
    alone = study_of(actual, decided, costs, y_score={"old": scores["old"]}, baseline="old")
    assert "All of it is the threshold's, none the model's." in alone.verdict().text


UNTESTED = re.compile(
    r"probability of|on average|shown to be (the )?cheap|\(cheapest|^cheapest$|costs? (more|less) "
    r"than -?[\d.]+|average cost stays lower",
    re.IGNORECASE,
)
"""Sentences that claim no difference between policies: they name a condition, an estimate, a
probability, or a shown result."""


def texts(value, path=""):
    """Return all texts of findings, and where they are."""
    if isinstance(value, str):
        return [(path, value)]
    if isinstance(value, dict):
        return [each for key in value for each in texts(value[key], f"{path}.{key}")]
    return [each for item in value for each in texts(item, path)] if isinstance(value, list) else []


def check_every_sentence(found):
    """Check that no sentence outside the verdict, whose own are checked, states a difference."""
    pairs = [each for each in found.pairs if each.shown]
    shown = {f"{each.first} stays cheaper than {each.second} " for each in pairs}
    for path, text in texts(json.loads(json_text(found))):
        if path.startswith(".verdict."):
            continue
        for sentence in re.split(r"(?<=[.;]) ", text):
            if STATES.search(sentence) and not UNTESTED.search(sentence):
                raise AssertionError(f"what is behind this? {path}: {sentence}")
            if "stays cheaper" in sentence:
                assert any(sentence.startswith(each) for each in shown)


@pytest.mark.parametrize("kind", ["both", "priors", "decisions"])
def test_what_is_stated_of_other_costs_is_shown(kind):
    found = findings(study_of(**made(kind, 0)))
    check_every_sentence(found)
    for model in found.models:
        assert not STATES.search(model.summary)
        assert not model.cheaper_than_constant or model.cost < model.constant_cost


def check_saving(verdict, compared):
    """Check that the saving is the difference of the pair with the baseline, negated."""
    saving = verdict["saving"]
    assert saving["per_period"] == pytest.approx(1000 * saving["per_decision"])
    pair = compared.get(verdict["baseline"])
    if pair is None:
        assert verdict["baseline"] == verdict["use"]
        assert (saving["per_decision"], saving["shown"]) == (0, False)
    else:
        found = [saving["per_decision"], saving["low"], saving["high"]]
        assert found == pytest.approx([-pair["difference"], -pair["high"], -pair["low"]])
        assert saving["shown"] == pair["shown"]


@pytest.mark.parametrize("seed", range(3))
def test_what_moving_a_threshold_saves_is_what_the_verdict_says(seed):
    study, found = found_for("both", seed)
    assert [each.first.partition("@")[0] for each in found.moved] == ["a", "b"]
    for each in found.moved:
        costs = [study.policies.estimate(name).cost for name in (each.first, each.second)]
        assert each.difference == pytest.approx(costs[0] - costs[1], abs=1e-9)
        assert each.shown == (each.p_value <= 0.05)


@EVERY
def test_the_json_is_consistent(kind, seed):
    _, found = found_for(kind, seed)
    content = json.loads(json_text(found))
    policies = {each["name"]: each for each in content["policies"]}
    assert len(policies) == len(content["policies"])
    for each in policies.values():
        assert each["kind"] in ("threshold", "decisions", "minimum_cost", "constant")
        constant = each["kind"] == "constant"
        one_cut = each["kind"] == "threshold" and len(each["cuts"]) == 1
        assert (each["threshold"] is not None) == one_cut
        assert (each["decision"] is not None) == constant
        assert (each["model"] is None) == constant
        assert each["low"] <= each["cost"] <= each["high"]
        if constant and content["settings"]["class_priors"] is not None:
            assert each["low"] == each["high"] == each["cost"]
        if not each["cross_fitted"]:
            assert each["in_sample_cost"] == each["cost"]
        else:
            assert each["kind"] == "threshold"
    compared = {each["second"]: each for each in content["pairs"]}
    verdict = content["verdict"]
    use = policies[verdict["use"]]
    assert {each["first"] for each in content["pairs"]} <= {verdict["use"]}
    assert set(compared) | {verdict["use"]} == {
        name for name, each in policies.items() if each["competes"]
    }
    for name, pair in compared.items():
        assert set(pair) >= {
            "first", "second", "difference", "low", "high", "p_value", "p_adjusted", "by", "shown",
        }  # fmt: skip
        gap = use["cost"] - policies[name]["cost"]
        assert pair["difference"] == pytest.approx(gap, abs=1e-9)
        assert (pair["p_value"] <= 0.05) == (not pair["low"] <= 0 <= pair["high"])
        assert pair["p_value"] <= pair["p_adjusted"] <= 1
        assert pair["shown"] == (pair["p_adjusted"] <= 0.05)
    assert [verdict[key] for key in ("cost", "low", "high")] == [
        use[key] for key in ("cost", "low", "high")
    ]
    assert verdict["ties"] == [name for name, each in compared.items() if not each["shown"]]
    assert verdict["shown"] == (verdict["ties"] == [])
    assert verdict["regret"] >= 0
    check_saving(verdict, compared)
    models = {each["name"] for each in content["models"]}
    assert models == {model for each in policies.values() for model in each["models"]}
    assert "NaN" not in json.dumps(content)
