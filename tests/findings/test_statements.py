"""Every difference that a sentence states is shown by the comparison behind it."""

import json
import re
from functools import cache

import numpy as np
import pytest

from stakes import CostMatrix, study_of
from stakes.cli.evaluate import Evaluation
from stakes.findings import findings
from stakes.findings.data import costs_of_study, data_of, json_text, run_settings_of
from stakes.findings.models import models_of
from stakes.findings.policies import moved_found, policies_found
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


@EVERY
def test_what_is_stated_is_shown(kind, seed):
    study, found = found_for(kind, seed)
    verdict = found.verdict
    shown = {each.second for each in found.pairs if each.shown}
    checked = 0
    for text in sentences(verdict.text):
        if not STATES.search(text):
            continue
        checked += 1
        if "is shown to cost less than" in text:
            assert verdict.shown
            assert set(named(study, text)) <= shown
        elif text.startswith("It saves"):
            assert verdict.saving.shown
            assert verdict.baseline in shown
        elif text.startswith("It may save"):
            assert "a saving is not shown" in text
            assert not verdict.saving.shown
        else:
            raise AssertionError(f"what is behind this? {text}")
    assert checked or verdict.ties or verdict.use == verdict.baseline
    for text in verdict.notes:
        if STATES.search(text):
            assert "makes the fewest mistakes but costs more" in text
            assert set(named(study, text)) <= shown


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
    shown = {each.second for each in found.pairs if each.shown}
    for each in found.sensitivity.flips:
        assert each.cheaper == found.verdict.use
        assert each.shown == (each.other in shown)
        assert each.summary.startswith(
            f"{each.cheaper} stays cheaper than {each.other}"
            if each.shown
            else f"{each.cheaper} is not shown to be cheaper than {each.other}"
        )
    for path in found.sensitivity.paths:
        place = [str(each) for each in found.costs.decisions].index(str(path.cell[0]))
        label = [str(each) for each in found.costs.labels].index(str(path.cell[1]))
        now = found.costs.values[place, label]
        here = [each.cheapest for each in path.ranges if each.low <= now <= each.high]
        assert set(here) - {None} <= ({found.verdict.use} if found.verdict.shown else set())
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
    pairs = {(each.first, each.second): each for each in found.pairs}
    assert [each.first.partition("@")[0] for each in found.moved] == ["a", "b"]
    for each in found.moved:
        costs = [study.policies.estimate(name).cost for name in (each.first, each.second)]
        assert each.difference == pytest.approx(costs[0] - costs[1], abs=1e-9)
        assert pairs.get((each.first, each.second), each) is each


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
            "first", "second", "difference", "low", "high", "p_value", "adjusted", "shown",
        }  # fmt: skip
        gap = use["cost"] - policies[name]["cost"]
        assert pair["difference"] == pytest.approx(gap, abs=1e-9)
        assert pair["shown"] == (not pair["low"] <= 0 <= pair["high"])
        assert pair["p_value"] <= pair["adjusted"] <= 1
        assert not pair["shown"] or pair["adjusted"] <= 0.05
    assert [verdict[key] for key in ("cost", "low", "high")] == [
        use[key] for key in ("cost", "low", "high")
    ]
    assert verdict["ties"] == [name for name, each in compared.items() if not each["shown"]]
    assert verdict["shown"] == (verdict["ties"] == [])
    if verdict["shown"]:
        assert verdict["to_settle"] is None
    elif verdict["to_settle"] is not None:
        settle = verdict["to_settle"]
        assert settle["against"] in verdict["ties"]
        assert settle["examples"] == content["data"]["n"] + settle["more"]
        assert settle["more"] > 0
    check_saving(verdict, compared)
    models = {each["name"] for each in content["models"]}
    assert models == {each["model"] for each in policies.values()} - {None}
    assert "NaN" not in json.dumps(content)
