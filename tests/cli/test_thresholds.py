"""What is printed of a threshold is what evaluate prints of the policy that has it."""

import json
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
COSTS = ("--fp", "3", "--fn", "20", "--pos-label", "fraud")
AMOUNTS = ("--fp", "3", "--fn-column", "amount", "--pos-label", "fraud")
CANCER = ("-c", "breast_cancer_costs.csv")


def payments(n, seed):
    """Return rows of two models: tied scores, and points that are no probabilities."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.25
    lines = ["actual,a_score,b_score,amount,customer,weight,region"]
    for bad in fraud:
        shift = 1.5 * bad
        lines.append(
            f"{'fraud' if bad else 'ok'},{1 / (1 + np.exp(1 - rng.normal(shift))):.2f},"
            f"{rng.normal(shift):.3f},{np.exp(rng.normal(3)):.2f},{rng.integers(n // 4)},"
            f"{rng.choice([1, 3])},{rng.choice(['n', 's'])}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def files(folder):
    for name in ("breast_cancer.csv", "breast_cancer_costs.csv"):
        (folder / name).write_bytes((EXAMPLES / name).read_bytes())
    (folder / "payments.csv").write_text(payments(400, 1))
    (folder / "others.csv").write_text(payments(300, 2))


def results(stakes, *arguments):
    said = stakes("-q", *arguments, "--json", "-")
    assert said.code == 0, said.err
    return json.loads(said.out)


def policies_by_threshold(document):
    """Return the policy of each model at its chosen threshold, by model and by other names."""
    return {
        (model, name): each
        for each in document["policies"]
        for model in each["models"]
        for name in (each["name"], *each["alike"])
    }


OPTIONS = {
    "cancer": ("breast_cancer.csv", *CANCER),
    "cancer within a limit": ("breast_cancer.csv", *CANCER, "--max-fpr", "0.1"),
    "cancer in a clinic": (
        "breast_cancer.csv", *CANCER, "--class-priors", "benign=0.9,malignant=0.1",
    ),
    "payments": ("payments.csv", *COSTS),
    "payments with a capacity": ("payments.csv", *COSTS, "--capacity", "150"),
    "payments of customers": ("payments.csv", *COSTS, "--groups", "customer"),
    "payments that weigh": (
        "payments.csv", *COSTS, "--weight", "weight", "--strata", "region", "--min-recall", "0.7",
    ),
    "payments of a file": ("payments.csv", *COSTS, "--validation", "others.csv"),
    "amounts": ("payments.csv", *AMOUNTS),
    "amounts of customers": ("payments.csv", *AMOUNTS, "--groups", "customer"),
}  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS)
def test_a_threshold_has_the_cost_and_the_limits_of_its_policy(options, stakes):
    document = results(stakes, "evaluate", *OPTIONS[options])
    found = policies_by_threshold(document)
    models = results(stakes, "threshold", *OPTIONS[options])["models"]
    assert models
    for model in models:
        choice, name = model["choice"], model["name"]
        (policy,) = {
            id(each): each
            for (owner, key), each in found.items()
            if owner == name
            and key.startswith(f"{name}@")
            and key != f"{name}@minimum-cost"
            and float(key.partition("@")[2]) == pytest.approx(choice["threshold"], rel=1e-12)
        }.values()
        assert choice["cost"] == pytest.approx(policy["cost"], rel=1e-12)
        for key in ("low", "high"):
            assert choice["interval"][key] == pytest.approx(policy[key], rel=1e-12)
        assert choice["corrected"] == policy["cross_fitted"]
        assert choice["in_sample_cost"] == pytest.approx(policy["in_sample_cost"], rel=1e-12)
        for mine, theirs in (("alarms", "flagged"), ("recall",) * 2, ("fpr",) * 2):
            assert choice[mine] == pytest.approx(policy[theirs], rel=1e-12)
        assert choice["precision"] == pytest.approx(policy["precision"], rel=1e-12)


@pytest.mark.parametrize("options", ["cancer", "payments", "payments of customers"])
def test_a_curve_agrees_at_the_condition_of_the_costs(options, stakes):
    models = results(stakes, "curve", *OPTIONS[options])["curves"]["models"]
    chosen = results(stakes, "threshold", *OPTIONS[options])["models"]
    at = {each["name"]: each["at_condition"] for each in models}
    for model in chosen:
        there, choice = at[model["name"]], model["choice"]
        assert (there["threshold"], there["cost"]) == (choice["threshold"], choice["cost"])
        assert there["limits"] == [choice["interval"]["low"], choice["interval"]["high"]]


def test_a_curve_agrees_at_another_prevalence(stakes):
    given = ("breast_cancer.csv", *CANCER)
    models = results(stakes, "curve", *given, "--prevalence", "0.1")["curves"]["models"]
    priors = ("--class-priors", "benign=0.9,malignant=0.1")
    chosen = results(stakes, "threshold", *given, *priors)["models"]
    constants = results(stakes, "evaluate", *given, *priors)["policies"]
    cheapest = min(each["cost"] for each in constants if each["kind"] == "constant")
    at = {each["name"]: each["at_condition"] for each in models}
    for model in chosen:
        there, choice = at[model["name"]], model["choice"]
        assert (there["threshold"], there["cost"]) == (choice["threshold"], choice["cost"])
        assert there["constant"] == cheapest


def test_decisions_have_the_same_cost_on_a_curve(stakes, folder):
    rows = [line.split(",") for line in (EXAMPLES / "breast_cancer.csv").read_text().split()]
    places = [rows[0].index(name) for name in ("actual", "tree")]
    lines = [",".join(row[place] for place in places) for row in rows]
    (folder / "decisions.csv").write_text("\n".join(lines))
    given = ("decisions.csv", *CANCER)
    (model,) = results(stakes, "curve", *given)["curves"]["models"]
    policies = results(stakes, "evaluate", *given)["policies"]
    policy = next(each for each in policies if each["name"] == "tree")
    assert model["at_condition"]["cost"] == policy["cost"]
    assert model["at_condition"]["limits"] == [policy["low"], policy["high"]]
    assert model["at_condition"]["threshold"] is None


def test_the_plain_minimum_is_an_option(stakes):
    for given in (COSTS, AMOUNTS):
        models = [
            results(stakes, "threshold", "payments.csv", *given, "--rule", rule)["models"]
            for rule in ("guarded", "minimum")
        ]
        for one, other in zip(*models, strict=True):
            guarded, least = one["choice"], other["choice"]
            assert guarded["corrected"]
            assert not least["corrected"]
            assert least["cost"] == least["in_sample_cost"] <= guarded["in_sample_cost"]
            assert least["rule"] == "lowest in-sample cost"
    judged = results(
        stakes, "threshold", "payments.csv", *AMOUNTS, "--rule", "minimum",
        "--validation", "others.csv",
    )  # fmt: skip
    assert {each["choice"]["chosen_on"] for each in judged["models"]} == {"other examples"}
    unknown = stakes("threshold", "payments.csv", *COSTS, "--rule", "best")
    assert "--rule: expected one of 'guarded', 'minimum'; got 'best'" in unknown.err
