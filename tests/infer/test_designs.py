"""Combined designs: every pair and triple agrees with a direct computation on the rows."""

from itertools import combinations

import numpy as np
import pytest

from stakes import (
    CostMatrix,
    CostSample,
    ExampleCosts,
    Ranking,
    ScoreCounts,
    choose_threshold,
    compare,
    compare_many,
    evaluate,
)
from stakes.errors import DesignError, InputError, InputTypeError, LabelError

family_of = Ranking._family  # noqa: SLF001 - the comparisons behind what is public

N = 240
CLASSES, DECISIONS = ("no", "yes"), ("no", "refer", "yes")
COSTS = CostMatrix(
    [[0.0, 30.0], [2.5, 4.0], [3.0, -1.0]],
    rows="predicted",
    labels=CLASSES,
    decisions=DECISIONS,
)
POPULATION = {"north": 5000, "south": 2000, "west": 900}
PRIORS = {"no": 0.8, "yes": 0.2}
IMPOSSIBLE = [("refer", "no")]
FEATURES = ("groups", "weights", "strata", "priors", "examples", "impossible")
SETS = [set(), *(set(each) for size in (1, 2, 3) for each in combinations(FEATURES, size))]
SETS.append(set(FEATURES))


def _rows():
    rng = np.random.default_rng(7)
    groups = rng.integers(0, 60, N)
    y_true = rng.choice(CLASSES, N, p=[0.6, 0.4])
    models = {}
    for name, skill in (("a", 0.9), ("b", 0.75), ("c", 0.6)):
        decided = np.where(rng.random(N) < skill, y_true, rng.choice(DECISIONS, N))
        models[name] = np.where((decided == "refer") & (y_true == "no"), "no", decided)
    return {
        "y_true": y_true,
        "models": models,
        "score": np.where(y_true == "yes", rng.beta(3, 2, N), rng.beta(2, 3, N)).round(2),
        "groups": groups,
        "weights": rng.choice([0.5, 1.0, 3.0], N),
        "strata": rng.choice(list(POPULATION), N, p=[0.3, 0.3, 0.4]),
        "examples": ExampleCosts.from_matrix(COSTS, y_true, rng.uniform(0.5, 2.0, N)),
    }


ROWS = _rows()


def _arguments(features):
    """Return the costs and the options of a combination of designs."""
    options = {}
    if "groups" in features:
        options["groups"] = ROWS["groups"]
    if "weights" in features:
        options["sample_weight"] = ROWS["weights"]
    if "strata" in features:
        options |= {"strata": ROWS["strata"], "population": POPULATION}
    if "priors" in features:
        options["class_priors"] = PRIORS
    if "impossible" in features:
        options["impossible"] = IMPOSSIBLE
    return ROWS["examples"] if "examples" in features else COSTS, options


def _by_hand(features, models=None):
    """Return what each model costs, from the rows."""
    share = ROWS["weights"].copy() if "weights" in features else np.ones(N)
    total = sum(POPULATION.values())
    margins = []
    if "strata" in features:
        margins.append([(ROWS["strata"] == h, rows / total) for h, rows in POPULATION.items()])
    if "priors" in features:
        margins.append([(ROWS["y_true"] == j, prior) for j, prior in PRIORS.items()])
    share /= share.sum()
    for _ in range(200 if len(margins) > 1 else 1):  # raking, one margin after the other
        for margin in margins:
            for inside, target in margin:
                share[inside] *= target / share[inside].sum()
    costs = {}
    for name, decided in (models or ROWS["models"]).items():
        if "examples" in features:
            each = ROWS["examples"].of(decided)
        else:
            rows = [DECISIONS.index(value) for value in decided]
            each = COSTS.values[rows, [CLASSES.index(value) for value in ROWS["y_true"]]]
        costs[name] = float(share @ each)
    return costs


def _id(features):
    return "+".join(sorted(features)) or "none"


@pytest.mark.parametrize("features", SETS, ids=_id)
def test_estimates_of_any_design_are_those_of_the_rows(features):
    costs, options = _arguments(features)
    wanted = _by_hand(features)
    y_true, models = ROWS["y_true"], ROWS["models"]
    for name, decided in models.items():
        assert evaluate(y_true, decided, costs, **options).cost == pytest.approx(
            wanted[name], rel=1e-9
        )
    ranking = compare_many(y_true, models, costs, **options)
    assert list(ranking.estimates()) == sorted(wanted, key=wanted.get)
    for name, estimate in ranking.estimates().items():
        assert estimate.cost == pytest.approx(wanted[name], rel=1e-9)
    for first, second in [*combinations(models, 2), ("c", "a")]:
        both = compare(y_true, models[first], models[second], costs, **options)
        expected = wanted[first] - wanted[second]
        assert both.difference == pytest.approx(expected, rel=1e-9)
        assert ranking.difference(first, second).difference == pytest.approx(expected, rel=1e-9)


# Thresholds, of all designs but impossible decisions: those of a score are always possible.
SCORED = [features for features in SETS if "impossible" not in features]


@pytest.mark.parametrize("features", SCORED, ids=_id)
def test_the_cost_of_a_threshold_of_any_design_is_that_of_the_rows(features):
    _, options = _arguments(features)
    y_true, score = ROWS["y_true"], ROWS["score"]
    two = [DECISIONS.index(name) for name in CLASSES]
    costs = CostMatrix(COSTS.values[two], rows="predicted", labels=CLASSES)
    kept = {name: options.pop(name, None) for name in ("class_priors", "population")}
    if "examples" in features:
        costs = ExampleCosts(ROWS["examples"].values[:, two], decisions=CLASSES)
        choice = choose_threshold(score, costs, pos_label="yes", y_true=y_true, **options, **kept)
    else:
        counts = ScoreCounts.from_scores(y_true, score, pos_label="yes", **options)
        choice = choose_threshold(counts, costs, **kept)
    wanted = _by_hand(features, {"x": np.where(score >= choice.threshold, "yes", "no")})["x"]
    assert choice.in_sample_cost == pytest.approx(wanted, rel=1e-9)


# Intervals of triples use no other code than those of pairs.
PAIRS = [features for features in SETS if len(features) <= 2 or features == set(FEATURES)]


@pytest.mark.parametrize("features", PAIRS, ids=_id)
def test_a_ranking_of_any_design_is_that_of_its_comparisons(features):
    costs, options = _arguments(features)
    y_true, models = ROWS["y_true"], {name: ROWS["models"][name] for name in "bc"}
    ranking = compare_many(y_true, models, costs, **options)
    alone = compare(y_true, models["b"], models["c"], costs, **options)
    pair = family_of(ranking).pair("b", "c")
    assert (pair.difference, pair.p_value) == (alone.difference, alone.test().p_value)
    assert (pair.low, pair.high) == tuple(alone.interval())
    assert pair.low < pair.difference < pair.high
    assert {f"always {each}" for each in DECISIONS} < {*ranking.competitors}
    assert ranking.regret() >= 0


def test_the_gate_of_any_design_is_that_of_its_comparisons():
    costs, options = _arguments({"groups", "weights"})
    y_true, models = ROWS["y_true"], ROWS["models"]
    gate = compare_many(y_true, models, costs, **options).gate("b", margin=2.0)
    for pair, limit, test in zip(gate.pairs, gate.limits, gate.tests, strict=True):
        alone = compare(y_true, models[pair.first], models["b"], costs, **options)
        assert (pair.low, pair.high) == tuple(alone.interval())
        assert test.p_value == alone.test(alternative="less", margin=2.0).p_value
        assert limit == pytest.approx(alone.interval(0.9, conservative=True).high, rel=1e-12)


def test_copies_of_rows_in_one_group_tell_nothing_more():
    copies = {name: np.repeat(decided, 4) for name, decided in ROWS["models"].items()}
    y_true, person = np.repeat(ROWS["y_true"], 4), np.repeat(np.arange(N), 4)
    once = compare_many(ROWS["y_true"], ROWS["models"], COSTS, groups=np.arange(N))
    copied = compare_many(y_true, copies, COSTS, groups=person)
    for first, second in combinations("abc", 2):
        one, other = (each.difference(first, second) for each in (once, copied))
        assert one.difference == pytest.approx(other.difference)
        assert tuple(one.interval()) == pytest.approx(tuple(other.interval()), rel=1e-6)


@pytest.mark.parametrize("features", [{"groups"}, {"weights"}, {"groups", "strata", "priors"}])
def test_constant_predictions_under_a_design(features):
    costs, options = _arguments(features)
    y_true, models = ROWS["y_true"], ROWS["models"]
    estimate = compare_many(y_true, models, costs, **options).estimates()["a"]
    for decision, always in estimate.constants().items():
        direct = evaluate(y_true, [decision] * N, costs, **options)
        assert always.cost == pytest.approx(direct.cost)
        assert type(always.confusion) is type(direct.confusion)
    decision, always = estimate.best_constant()
    assert always.cost == min(each.cost for each in estimate.constants().values())


def test_a_decision_that_cannot_be_taken_narrows_the_bounds_of_single_costs():
    values = np.tile([0.0, 5.0, 9.0], (40, 1))
    values[0] = [0.0, 800.0, 9.0]
    costs = ExampleCosts(values, decisions=DECISIONS)
    y_true = ["no"] + ["yes"] * 39
    decided, other = ["no"] * 40, ["yes"] * 40
    assert CostSample.from_labels(costs, decided).high == 800
    named = CostSample.from_labels(costs, decided, y_true=y_true, impossible=IMPOSSIBLE)
    assert (named.low, named.high) == (0, 9)
    paired = CostSample.from_labels(costs, decided, other, y_true=y_true, impossible=IMPOSSIBLE)
    assert (paired.low, paired.high) == (-9, 9)
    ranking = compare_many(y_true, {"x": decided, "y": other}, costs, impossible=iter(IMPOSSIBLE))
    assert ranking.difference("x", "y").paired == paired
    taken = ["refer"] * 40
    with pytest.raises(InputError, match="'refer' when it was 'no' was called impossible, but was"):
        CostSample.from_labels(costs, decided, taken, y_true=y_true, impossible=IMPOSSIBLE)
    with pytest.raises(LabelError, match=r"pairs \(decision, class\)"):
        CostSample.from_labels(costs, decided, y_true=y_true, impossible=[("maybe", "no")])
    with pytest.raises(DesignError, match="needs the class of each example"):
        evaluate(None, decided, costs, impossible=IMPOSSIBLE)


def test_rankings_of_samples_need_the_same_examples():
    one, other = CostSample([0, 5, 9], groups=[1, 2, 3]), CostSample([0, 5, 1], groups=[1, 2, 2])
    with pytest.raises(DesignError, match="the two samples have different groups"):
        Ranking.from_samples({"a": one, "b": other})
    with pytest.raises(InputError, match="spread: one example's costs differ by 8, got 7"):
        one.minus(CostSample([0, 5, 1], groups=[1, 2, 3]), spread=7)
    difference = one.minus(CostSample([0, 5, 1], groups=[1, 2, 3]))
    assert difference.swapped().swapped() == difference
    assert (difference.swapped().values == [0, 0, -8]).all()
    with pytest.raises(InputTypeError, match="samples: expected a CostSample for each classifier"):
        Ranking({("a", "b"): one, ("a", "c"): None}, None)


def test_what_compare_many_refuses():
    y_true, models = ROWS["y_true"], ROWS["models"]
    with pytest.raises(InputTypeError, match="expected a CostMatrix or ExampleCosts"):
        compare_many(y_true, models, [[0, 1], [1, 0]])
    with pytest.raises(InputTypeError, match="expected a mapping"):
        compare_many(y_true, list(models.values()), ROWS["examples"])
    with pytest.raises(InputError, match="at least two classifiers, got 1"):
        compare_many(y_true, {"a": models["a"]}, ROWS["examples"])
