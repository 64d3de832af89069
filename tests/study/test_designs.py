"""Studies of arrays accept every design, and agree with `evaluate` and `compare_many`."""

import numpy as np
import pytest

from stakes import CostMatrix, ExampleCosts, compare_many, evaluate, study_of
from stakes.errors import DesignError, InputError, InputTypeError, LabelError
from stakes.findings import findings
from stakes.predictions import merged
from stakes.predictions.count_file import (
    counts_bytes,
    counts_from_parquet,
    counts_from_text,
    counts_text,
)

RNG = np.random.default_rng(3)
N = 240
Y = RNG.integers(0, 2, N)
PREDICTIONS = {
    "good": np.where(RNG.random(N) < 0.1, 1 - Y, Y),
    "poor": np.where(RNG.random(N) < 0.3, 1 - Y, Y),
}
MISTAKES = {"false_positive": 1.0, "false_negative": 7.0}
COSTS = CostMatrix.from_errors(**MISTAKES)
GROUPS, STRATA = RNG.integers(0, 60, N), RNG.choice(["a", "b", "c"], N)
WEIGHTS, AMOUNTS = RNG.uniform(1, 4, N), RNG.lognormal(1, 0.5, N)
DESIGNS = {
    "groups": {"groups": GROUPS},
    "weights": {"sample_weight": WEIGHTS},
    "strata": {"strata": STRATA, "population": {"a": 0.5, "b": 0.3, "c": 0.2}},
    "class": {"strata": "class"},
    "finite": {"population": 1000},
    "all": {
        "groups": GROUPS,
        "sample_weight": WEIGHTS,
        "strata": STRATA,
        "class_priors": {0: 0.8, 1: 0.2},
    },
    "impossible": {"impossible": [(1, 1)], "y": "all correct"},
}


def given(name):
    design = dict(DESIGNS[name])
    if design.pop("y", None) is None:
        return PREDICTIONS, design
    return {each: np.where(Y == 1, 0, made) for each, made in PREDICTIONS.items()}, design


def limits(estimate):
    found = estimate.interval()
    return found.low, found.high


def example_costs():
    table = np.zeros((N, 2))
    table[Y == 0, 1], table[Y == 1, 0] = 1.0, AMOUNTS[Y == 1]
    return ExampleCosts(table)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_study_agrees_with_evaluate_and_compare_many(name):
    predictions, design = given(name)
    study = study_of(Y, predictions, COSTS, **design)
    for each, decided in predictions.items():
        mine, right = study.estimate(each), evaluate(Y, decided, COSTS, **design)
        assert mine.cost == pytest.approx(right.cost, rel=1e-12)
        assert limits(mine) == pytest.approx(limits(right), rel=1e-9)
    pair = study.policies.family.pair("good", "poor")
    right = compare_many(Y, predictions, COSTS, **design).difference("good", "poor")
    assert pair.difference == pytest.approx(right.difference, rel=1e-12)
    assert pair.p_value == pytest.approx(right.test().p_value, rel=1e-6)
    assert study.n == N


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("form", ["amounts", "ExampleCosts"])
def test_costs_of_single_rows_agree_with_example_costs(name, form):
    predictions, design = given(name)
    costs = {"false_positive": 1.0, "false_negative": AMOUNTS}
    study = study_of(Y, predictions, example_costs() if form == "ExampleCosts" else costs, **design)
    for each, decided in predictions.items():
        mine, right = study.estimate(each), evaluate(Y, decided, example_costs(), **design)
        assert mine.cost == pytest.approx(right.cost, rel=1e-12)
        assert limits(mine) == pytest.approx(limits(right), rel=1e-9)
        assert study.policies.contributions(each).sum() == pytest.approx(right.cost, rel=1e-9)
    pair = study.policies.family.pair("good", "poor")
    right = limits(
        compare_many(Y, predictions, example_costs(), **design).difference("good", "poor")
    )
    assert (pair.low, pair.high) == pytest.approx(right, rel=1e-9)
    found = findings(study)
    assert found.costs.average
    assert found.models[0].savings == pytest.approx(savings(study, found.models[0].name))


def savings(study, name):
    """Compute by definition: what of the avoidable cost of the best constant is saved."""
    policies = study.policies
    constants = [each.name for each in policies.policies if each.kind == "constant"]
    best = min(policies.estimate(each).cost for each in constants)
    return (best - study.estimate(name).cost) / best  # correct decisions cost nothing


@pytest.mark.parametrize("name", [each for each in DESIGNS if each not in ("finite", "impossible")])
@pytest.mark.parametrize("amounts", [False, True])
def test_count_files_give_back_the_same(name, amounts, tmp_path):
    predictions, design = given(name)
    costs = {"false_positive": 1.0, "false_negative": AMOUNTS} if amounts else COSTS
    scores = {"good": RNG.random(N).round(2)}
    design = {key: value for key, value in design.items() if key != "population"}
    counts = study_of(Y, predictions, costs, y_score=scores, **design).counts()
    (tmp_path / "a.parquet").write_bytes(counts_bytes(counts))
    text = counts_text(counts)
    for again in (counts_from_text(text, ""), counts_from_parquet(tmp_path / "a.parquet")):
        assert again == counts
        assert counts_text(again) == text


@pytest.mark.parametrize("name", ["groups", "strata", "all"])
def test_parts_add_up_to_the_whole(name):
    predictions, design = given(name)
    design = {key: value for key, value in design.items() if key != "population"}

    def counted(rows):
        part = {
            key: value[rows] if isinstance(value, np.ndarray) else value
            for key, value in design.items()
        }
        models = {each: made[rows] for each, made in predictions.items()}
        return study_of(Y[rows], models, COSTS, **part).counts()

    total = merged([("0", counted(slice(0, 100))), ("1", counted(slice(100, N)))])
    whole = counted(slice(0, N))
    assert total.class_rows == whole.class_rows
    assert total.joint.parts == whole.joint.parts
    np.testing.assert_allclose(total.joint.counts, whole.joint.counts, rtol=1e-12)


def test_designs_that_differ_are_not_merged():
    one, other = (
        study_of(Y, PREDICTIONS, COSTS, **more).counts()
        for more in ({"groups": GROUPS}, {"sample_weight": WEIGHTS})
    )
    with pytest.raises(DesignError, match="different groups"):
        merged([("a", one), ("b", other)])


def test_findings_say_how_the_examples_were_drawn():
    sampling = findings(study_of(Y, PREDICTIONS, COSTS, **DESIGNS["all"])).data.sampling
    sizes = np.bincount(GROUPS, WEIGHTS)
    assert sampling.n_groups == len(np.unique(GROUPS))
    assert sampling.n_strata == 3
    assert sampling.effective_n == pytest.approx(sizes.sum() ** 2 / (sizes @ sizes))
    assert sampling.text.startswith(f"The examples are in {sampling.n_groups} groups")
    assert sampling.caution == ""
    assert findings(study_of(Y, PREDICTIONS, COSTS)).data.sampling is None


def test_one_large_group_is_said_to_be_too_large():
    groups = np.where(np.arange(N) < 100, -1, GROUPS)
    found = findings(study_of(Y, PREDICTIONS, COSTS, groups=groups))
    assert "holds 41.67% of the weight" in found.data.sampling.caution
    assert found.verdict.notes[0] == found.data.sampling.caution


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="groups"):
        study_of(Y, PREDICTIONS, COSTS, groups=GROUPS[:-1])
    with pytest.raises(InputError, match="strata"):
        study_of(Y, PREDICTIONS, COSTS, strata="region")
    with pytest.raises(InputTypeError, match="names strata, and there are none"):
        study_of(Y, PREDICTIONS, COSTS, population={"a": 1})
    with pytest.raises(LabelError, match="population: expected one of"):
        study_of(Y, PREDICTIONS, COSTS, strata=STRATA, population={"z": 1})
    with pytest.raises(InputError, match="weights cannot be negative"):
        study_of(Y, PREDICTIONS, COSTS, sample_weight=-WEIGHTS)
    with pytest.raises(InputError, match="costs of 0 or more"):
        study_of(Y, PREDICTIONS, MISTAKES | {"false_negative": -AMOUNTS})
