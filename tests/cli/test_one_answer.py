"""One question has one answer, whatever the door: Python, commands, JSON, page, MLflow, a gate."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stakes import (
    CostMatrix,
    ScoreCounts,
    choose_threshold,
    compare,
    compare_many,
    evaluate,
    study_of,
)
from stakes._pytest import CostGate
from stakes.findings import findings
from stakes.track import _metrics, _tags

EXAMPLES = Path(__file__).parents[2] / "examples"


def breast_cancer():
    """Decisions and scores of three models."""
    frame = pd.read_csv(EXAMPLES / "breast_cancer.csv")
    costs = CostMatrix.read(EXAMPLES / "breast_cancer_costs.csv")
    return frame, costs, "malignant", ("logistic", "tree")


def tied():
    """Scores on a coarse scale, of which one model's decisions are known; some rows tie."""
    rng = np.random.default_rng(11)
    actual = np.where(rng.random(900) < 0.2, "fraud", "ok")
    bad = actual == "fraud"
    frame = {"actual": actual}
    for name, lead in (("old", 1.0), ("new", 1.8)):
        score = 1 / (1 + np.exp(1.5 - lead * bad - rng.normal(size=900)))
        frame[f"{name}_score"] = np.round(score, 2)
    frame["old"] = np.where(frame["old_score"] >= 0.5, "fraud", "ok")
    costs = CostMatrix.from_errors(
        false_positive=4, false_negative=35, pos_label="fraud", neg_label="ok"
    )
    return pd.DataFrame(frame), costs, "fraud", ("old",)


def species():
    """Decisions alone, of three classes."""
    rng = np.random.default_rng(12)
    labels = np.array(["sound", "worn", "broken"])
    actual = rng.choice(labels, 700, p=[0.6, 0.3, 0.1])
    frame = {"actual": actual}
    for name, share in (("sharp", 0.12), ("dull", 0.3)):
        frame[name] = np.where(rng.random(700) < share, rng.choice(labels, 700), actual)
    costs = CostMatrix(
        [[0, 30, 200], [5, 0, 90], [25, 10, 0]], rows="predicted", labels=labels.tolist()
    )
    return pd.DataFrame(frame), costs, None, ("sharp", "dull")


FILES = {"breast cancer": breast_cancer, "tied": tied, "species": species}


class Doors:
    """A file, its study, and what each command says of it."""

    def __init__(self, name, stakes, folder):
        self.frame, self.costs, self.positive, self.decided = FILES[name]()
        self.frame.to_csv(folder / "a.csv", index=False)
        self.costs.write(folder / "c.csv")
        self.folder, self.stakes = folder, stakes
        self.more = [] if self.positive is None else ["--pos-label", self.positive]
        self.study = study_of(self.frame, self.costs, pos_label=self.positive)
        self.policies, self.verdict = self.study.policies, self.study.verdict()

    def json(self, command, *options):
        arguments = ["a.csv", "-c", "c.csv", *self.more, *options]
        said = self.stakes("-q", command, *arguments, "--json", "out.json")
        assert said.code in (0, 1), said.err
        return json.loads((self.folder / "out.json").read_text())

    def page(self):
        """Return what the page has: at the stated assumptions it computes nothing."""
        self.json("report", "-o", "a.html")
        text = (self.folder / "a.html").read_text()
        embedded = re.search(r'id="findings">(.*?)</script>', text, re.DOTALL)
        return text, json.loads(embedded[1])


@pytest.fixture(params=FILES)
def doors(request, stakes, folder):
    return Doors(request.param, stakes, folder)


def near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def check_document(doors, document):
    """Check the parts that evaluate, compare and report have in common."""
    policies, verdict = doors.policies, doors.verdict
    found = {each["name"]: each for each in document["policies"]}
    for name in policies.competitors:
        policy, each = policies[name], found[name]
        assert each["cost"] == near(policies.estimate(name).cost)
        assert (each["low"], each["high"]) == near(tuple(policies.interval(name)))
        if policy.threshold is not None:
            assert float(each["threshold"]) == policy.threshold
    pairs = {each["second"]: each for each in document["pairs"]}
    assert list(pairs) == [each.second for each in policies.pairs]
    for pair in policies.pairs:
        each = pairs[pair.second]
        for key in ("difference", "low", "high", "p_value", "p_adjusted"):
            assert each[key] == near(getattr(pair, key))
        assert each["shown"] == pair.shown
    said = document["verdict"]
    assert (said["use"], said["baseline"]) == (verdict.use, verdict.baseline)
    assert said["ties"] == list(verdict.ties)
    assert (said["cost"], said["low"], said["high"]) == near(
        (verdict.cost, verdict.low, verdict.high)
    )
    assert said["regret"] == near(verdict.regret)
    assert said["text"] == verdict.text


def test_evaluate_compare_report_and_page_say_what_the_study_says(doors):
    for command in ("evaluate", "compare"):
        check_document(doors, doors.json(command))
    check_document(doors, doors.json("report", "-o", "a.html"))
    _, embedded = doors.page()
    check_document(doors, embedded)


def test_the_terminal_says_what_the_study_says(doors):
    said = doors.stakes("-q", "evaluate", "a.csv", "-c", "c.csv", *doors.more).out
    assert " ".join(said.split()).startswith(doors.verdict.text)


def test_the_library_says_what_the_study_says(doors):
    """Decisions as they stand: evaluate, compare and compare_many."""
    actual, policies = doors.frame["actual"], doors.policies
    decided = {name: doors.frame[name] for name in doors.decided}
    for name, column in decided.items():
        estimate = evaluate(actual, column, doors.costs)
        assert policies.estimate(name).cost == near(estimate.cost)
        assert tuple(policies.interval(name)) == near(tuple(estimate.interval()))
    if len(decided) < 2:
        return
    first, second = decided
    difference = compare(actual, decided[first], decided[second], doors.costs)
    pair = policies.family.pair(first, second)
    assert pair.difference == near(difference.difference)
    assert (pair.low, pair.high) == near(tuple(difference.interval()))
    assert pair.p_value == near(difference.test().p_value)
    everything = [*doors.frame.columns.intersection(doors.policies.held_out.names)]
    ranking = compare_many(actual, {name: doors.frame[name] for name in everything}, doors.costs)
    alone = study_of(actual, {name: doors.frame[name] for name in everything}, doors.costs)
    assert ranking.competitors == alone.policies.family.members
    assert ranking.best_set() == [alone.verdict().use, *alone.verdict().ties]
    assert ranking.regret() == near(alone.verdict().regret)
    for one, other in zip(ranking.comparisons(), alone.policies.pairs, strict=True):
        assert (one.second, one.shown) == (other.second, other.shown)
        numbers = ("difference", "low", "high", "p_value", "p_adjusted")
        assert [getattr(one, key) for key in numbers] == near(
            [getattr(other, key) for key in numbers]
        )


def test_thresholds_are_those_of_the_study(doors):
    chosen = [each for each in doors.policies.policies if each.chosen]
    if not chosen:
        return
    printed = {each["name"]: each["choice"] for each in doors.json("threshold")["models"]}
    for policy in chosen:
        scores = doors.frame[f"{policy.model}_score"]
        counts = ScoreCounts.from_scores(doors.frame["actual"], scores, pos_label=doors.positive)
        choice = choose_threshold(counts, doors.costs)
        cost, limits = (
            doors.policies.estimate(policy.name).cost,
            doors.policies.interval(policy.name),
        )
        for threshold, value, interval in (
            (choice.threshold, choice.cost, tuple(choice.interval)),
            (
                printed[policy.model]["threshold"],
                printed[policy.model]["cost"],
                [printed[policy.model]["interval"][key] for key in ("low", "high")],
            ),
        ):
            assert threshold == policy.threshold
            assert value == near(cost)
            assert interval == near(tuple(limits))
        flags = scores >= policy.threshold
        positive = doors.frame["actual"] == doors.positive
        shown = next(
            each for each in doors.json("evaluate")["policies"] if each["name"] == policy.name
        )
        assert shown["flagged"] == near(flags.mean())
        assert shown["recall"] == near(flags[positive].mean())
        assert shown["fpr"] == near(flags[~positive].mean())
        assert shown["precision"] == near(positive[flags].mean())
        assert printed[policy.model]["recall"] == near(flags[positive].mean())


def test_a_curve_at_the_stated_condition_costs_what_the_policy_costs(doors):
    if doors.positive is None:
        return
    models = {each["name"]: each for each in doors.json("curve")["curves"]["models"]}
    for policy in doors.policies.policies:
        if policy.chosen:
            at = models[policy.model]["at_condition"]
            assert at["threshold"] == policy.threshold
            assert at["cost"] == near(doors.policies.estimate(policy.name).cost)
            assert at["limits"] == near(tuple(doors.policies.interval(policy.name)))


def test_mlflow_logs_what_the_study_says(doors):
    found = findings(doors.study)
    metrics = dict(_metrics(found))
    assert metrics["verdict/cost"] == near(doors.verdict.cost)
    assert metrics["verdict/regret"] == near(doors.verdict.regret)
    assert metrics["verdict/saving"] == near(doors.verdict.saving.per_decision)
    assert _tags(found.verdict)["stakes.use"] == doors.verdict.use


def test_a_gate_is_the_same_from_every_door(doors):
    """Each candidate has one interval and one p; the limit that decides is the one printed."""
    first = doors.decided[0]
    other = next(each.name for each in doors.policies.policies if each.model not in (None, first))
    options = ["--baseline", first, "--candidate", other, "--gate"]
    plain = doors.json("compare", *options)
    study = study_of(doors.frame, doors.costs, pos_label=doors.positive, baseline=first)
    pair = study.policies.family.pair(other, first)
    (printed,) = plain["against_baseline"]
    for key in ("difference", "low", "high", "p_value", "p_adjusted"):
        assert printed[key] == near(getattr(pair, key))
    (candidate,) = plain["gate"]["candidates"]
    assert candidate["limit"] == near(pair.low)
    most = study.policies.gate(margin=1.0)
    limit = dict(zip([each.first for each in most.pairs], most.limits, strict=True))[other]
    for margin, passes in ((limit * 0.999, False), (limit * 1.001, True)):
        if margin <= 0:
            continue
        found = doors.json("compare", *options, "--margin", f"{margin:.12g}")
        assert found["gate"]["passed"] == passes
        assert found["gate"]["candidates"][0]["limit"] == near(limit)
        given = {"than": first, "file": doors.frame, "costs": doors.costs, "margin": margin}
        if doors.positive is not None:
            given["pos_label"] = doors.positive
        if passes:
            CostGate().cheaper(other, **given)
        else:
            with pytest.raises(pytest.fail.Exception):
                CostGate().cheaper(other, **given)


# What must make no difference.


def numbers_of(study):
    """Return what must stay the same but for names: choices, numbers, order."""
    policies, verdict = study.policies, study.verdict()
    return (
        [policies[name].threshold for name in policies.competitors],
        [policies.estimate(name).cost for name in policies.competitors],
        [limit for name in policies.competitors for limit in policies.interval(name)],
        [value for each in policies.pairs for value in (each.difference, each.p_value)],
        [verdict.regret, verdict.saving.per_decision, verdict.saving.p],
        [policies.family.members.index(name) for name in verdict.ties],
    )


def check_same(one, other):
    for mine, theirs in zip(numbers_of(one), numbers_of(other), strict=True):
        assert [each is None for each in mine] == [each is None for each in theirs]
        values = [[x for x in part if x is not None] for part in (mine, theirs)]
        assert values[0] == pytest.approx(values[1], rel=1e-12, abs=1e-12)


def test_the_order_of_rows_and_the_kind_of_file_change_nothing(doors):
    order = np.random.default_rng(1).permutation(len(doors.frame))
    shuffled = doors.frame.iloc[order].reset_index(drop=True)
    check_same(study_of(shuffled, doors.costs, pos_label=doors.positive), doors.study)
    text = doors.json("evaluate")
    shuffled.to_csv(doors.folder / "a.csv", index=False)
    assert doors.json("evaluate") | {"data": 0} == text | {"data": 0}
    half = len(shuffled) // 2
    (doors.folder / "parts").mkdir()
    for name, part in (("1", shuffled[:half]), ("2", shuffled[half:])):
        part.to_csv(doors.folder / "parts" / f"{name}.csv", index=False)
    shuffled.to_parquet(doors.folder / "a.parquet")
    for source in ("parts", "a.parquet"):
        arguments = ["-q", "evaluate", source, "-c", "c.csv", *doors.more, "--json", "o.json"]
        assert doors.stakes(*arguments).code == 0
        found = json.loads((doors.folder / "o.json").read_text())
        assert found["verdict"] == text["verdict"]
        assert found["policies"] == text["policies"]


def test_names_of_models_and_classes_change_nothing(doors):
    names = {name: f"zz_{name}" for name in doors.frame.columns if name != "actual"}
    check_same(
        study_of(doors.frame.rename(columns=names), doors.costs, pos_label=doors.positive),
        doors.study,
    )
    labels = doors.costs.labels
    called = {label: f"class {len(labels) - at}" for at, label in enumerate(labels)}
    frame = doors.frame.replace(called)
    costs = CostMatrix(
        doors.costs.values, rows="predicted", labels=[called[label] for label in labels]
    )
    positive = None if doors.positive is None else called[doors.positive]
    check_same(study_of(frame, costs, pos_label=positive), doors.study)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_model_costs_the_same_alone_and_beside_seven_others(reverse):
    rng = np.random.default_rng(3)
    n = 500
    actual = (rng.random(n) < 0.25) * 1
    scores = {f"m{at}": np.round(rng.normal(size=n) + at / 4 * actual, 1) for at in range(8)}
    costs = CostMatrix.from_errors(false_positive=1, false_negative=12)
    order = [*scores][::-1] if reverse else [*scores]
    together = study_of(actual, {}, costs, y_score={name: scores[name] for name in order}).policies
    for name, score in scores.items():
        alone = study_of(actual, {}, costs, y_score={name: score}).policies
        chosen = alone.chosen_for(name)
        assert together.chosen_for(name) == chosen
        assert together[chosen].threshold == alone[chosen].threshold
        assert together.estimate(chosen).cost == alone.estimate(chosen).cost
        assert tuple(together.interval(chosen)) == tuple(alone.interval(chosen))


def test_csv_writes_what_it_reads(folder):
    """The files of these tests keep all digits of scores, so that every door reads the same."""
    frame, *_ = tied()
    frame.to_csv(folder / "x.csv", index=False)
    with (folder / "x.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["old_score"]) for row in rows] == frame["old_score"].tolist()
