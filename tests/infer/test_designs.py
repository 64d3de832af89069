"""Designs combine: every pair and triple gives what a direct computation on the rows gives."""

from itertools import combinations

import numpy as np
import pytest

from stakes import CostMatrix, CostSample, ExampleCosts, Ranking, compare, compare_many, evaluate
from stakes.errors import DesignError, InputError, InputTypeError, LabelError

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


def _by_hand(features):
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
    for name, decided in ROWS["models"].items():
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


@pytest.mark.filterwarnings("ignore::stakes.errors.RareCostWarning")
@pytest.mark.parametrize("features", SETS, ids=_id)
def test_intervals_and_tests_of_any_design(features):
    costs, options = _arguments(features)
    y_true, models = ROWS["y_true"], ROWS["models"]
    estimate = evaluate(y_true, models["b"], costs, **options)
    low, high = estimate.interval()
    assert low < estimate.cost < high
    ranking = compare_many(y_true, models, costs, **options)
    for pair in ranking.pairwise():
        alone = compare(
            y_true, models[pair.first], models[pair.second], costs, names=("x", "y"), **options
        )
        assert pair.p_value == pytest.approx(alone.test().p_value, rel=1e-6, abs=1e-12)
        assert pair.low <= pair.difference <= pair.high
        assert pair.high - pair.low > alone.interval().width * 0.999
        assert pair.adjusted >= pair.p_value
    assert ranking.best_set()[0] == next(iter(ranking.estimates()))
