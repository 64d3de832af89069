"""The report's script computes what Python computes: costs, intervals, p-values and the verdict."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _helpers.retuned import nearest, retuned

import stakes
from stakes import Confusion, CostEstimate, CostMatrix, JointConfusion, study_of
from stakes._core.text import number, p_value
from stakes.findings.data import plain
from stakes.findings.sensitivity import OtherCosts, _live_policies, _tables, other_costs_of
from stakes.infer._inference import outcomes_behind
from stakes.infer._outcomes import SIMPLE, Design
from stakes.infer.family import adjusted
from stakes.policies._assemble import Asked, merged
from stakes.policies.policies import Policies, Policy
from stakes.show.report._page import ARITHMETIC

FOLDER = Path(stakes.__file__).parent / "show" / "report"
SCRIPTS = [FOLDER / name for name in ARITHMETIC]
EXAMPLES = Path(__file__).parents[2] / "examples"
CONFIDENCES = (0.8, 0.95, 0.999)

pytestmark = pytest.mark.filterwarnings("ignore::stakes.errors.ConstantCostWarning")


@pytest.fixture(scope="module")
def scripts(blank_page):
    """A page with the scripts, which keep nothing between calls: all tests share it."""
    page = blank_page()
    for path in SCRIPTS:
        page.add_script_tag(path=path)
    yield page
    page.close()


@pytest.fixture(scope="module")
def live(scripts):
    """Call a function of the script with each of many lists of arguments."""

    def called(name, *calls):
        script = """([name, calls]) => {
            const all = { ...stakesWords, ...stakesStrata, ...stakesLive, policiesAt };
            return calls.map((each) => all[name](...each));
            function policiesAt(...asked) {
                const found = stakesLive.policiesAt(...asked);
                if (found.family === null) return found;
                const { members, pairs, regret, apart } = found.family;
                const all = members.flatMap((one) => members.map((two) => apart(one, two)));
                return { ...found, family: { members, pairs, regret, all } };
            }
        }"""
        return scripts.evaluate(script, [name, [list(each) for each in calls]])

    return called


def joint_of(cells, n_classes, n_decisions=None, names=None):
    """Make joint counts from a mapping of (decisions …, class) to counts."""
    keys = sorted(cells)
    return JointConfusion(
        names or [f"m{model}" for model in range(len(keys[0]) - 1)],
        decided=np.array([key[:-1] for key in keys]),
        actual=np.array([key[-1] for key in keys]),
        counts=np.array([cells[key] for key in keys], dtype=np.int64),
        labels=[f"class {j}" for j in range(n_classes)],
        decisions=[f"class {i}" for i in range(n_decisions or n_classes)],
    )


def matrix(joint, costs):
    return CostMatrix(costs, rows="predicted", labels=joint.labels, decisions=joint.decisions)


def policies_of(joint, costs, confidence):
    """Make the policies of decisions as they stand, and of constants."""
    found = [Policy(name, name, "decisions", column=name) for name in joint.names]
    found += [Policy(f"always {d}", None, "constant", decision=d) for d in joint.decisions]
    one = tuple(merged(found, joint))
    return Policies(one, joint, joint, matrix(joint, costs), SIMPLE, confidence)


def stored(policies):
    """Return what the page has of policies whose thresholds it does not choose again."""
    every = _live_policies(policies, [policies], again=False)
    columns, tables = len(policies.held_out.names), (_tables(1.0, policies, policies),)
    return OtherCosts(None, (), (), every, columns, None, (), tables).to_dict()


def names_of(costs):
    return plain({"labels": list(costs.labels), "decisions": list(costs.decisions)})


def has_an_order(policies):
    """Tell whether no two costs are equal up to rounding, which may order them either way.

    Columns with the same outcomes are in order: their costs are equal to the last bit.
    """
    found = []
    for each in policies.policies:
        estimate = policies.estimate(each.name)
        same = tuple(outcomes_behind(estimate).only.counts[0]) if each.model else each.name
        found.append((estimate.cost, each.model is None, same))
    found.sort(key=lambda each: each[0])
    least = 1e-12 * float(np.abs(policies.costs.values).max())
    return all(
        one[1:] == other[1:] or other[0] - one[0] > least
        for one, other in itertools.pairwise(found)
    )


def check_same(live, cases):
    """Compare the script with Python on (joint, costs, confidence)."""
    both = [policies_of(*case) for case in cases]
    check_policies(live, [(stored(policies), policies) for policies in both])


def check_policies(live, cases):
    """Compare the script with Python on what the page has, and policies at their costs."""
    arguments = [
        (other, names_of(each.costs), each.costs.values.tolist(), each.confidence)
        for other, each in cases
    ]
    results = live("policiesAt", *arguments)
    for found, (_, policies) in zip(results, cases, strict=True):
        check_costs(policies, found["policies"])
        if has_an_order(policies):
            names = [each["name"] for each in found["policies"]]
            assert [names[place] for place in found["order"]] == list(policies.competitors)
            assert names[found["base"]] == policies.reference
            check_family(policies, found["family"], names)
    return results


def check_costs(policies, found):
    costs = policies.costs.values
    span = float(np.ptp(costs)) or float(np.abs(costs).max())
    assert [each["name"] for each in found] == [each.name for each in policies.policies]
    for each in found:
        estimate, interval = policies.estimate(each["name"]), policies.interval(each["name"])
        assert each["cost"] == pytest.approx(estimate.cost, rel=1e-12, abs=1e-12 * span)
        assert each["total"] == pytest.approx(estimate.total, rel=1e-12, abs=1e-9 * span)
        assert each["low"] == pytest.approx(interval.low, rel=0, abs=1e-6 * span)
        assert each["high"] == pytest.approx(interval.high, rel=0, abs=1e-6 * span)
        assert each["low"] <= each["cost"] + 1e-9 * span
        assert each["cost"] <= each["high"] + 1e-9 * span


def check_family(policies, found, names):
    family = policies.family
    assert [names[place] for place in found["members"]] == list(family.members)
    size = float(np.abs(policies.costs.values).max())
    assert found["regret"] == pytest.approx(family.regret, rel=0, abs=1e-8 * size)
    expected = {(each.first, each.second): each for each in family.pairs}
    assert [(names[each["first"]], names[each["second"]]) for each in found["pairs"]] == [*expected]
    for each in found["pairs"]:
        check_pair(each, expected[names[each["first"]], names[each["second"]]], size)
    for each in found["all"]:
        check_pair(each, family.pair(names[each["first"]], names[each["second"]]), size)


def check_pair(found, pair, size):
    assert found["difference"] == pytest.approx(pair.difference, rel=1e-9, abs=1e-12 * size)
    assert found["p_value"] == pytest.approx(pair.p_value, rel=1e-7, abs=1e-10)
    assert found["p_adjusted"] == pytest.approx(pair.p_adjusted, rel=1e-7, abs=1e-10)
    assert found["low"] == pytest.approx(pair.low, rel=0, abs=1e-8 * size)
    assert found["high"] == pytest.approx(pair.high, rel=0, abs=1e-8 * size)
    assert (found["shown"], found["by"]) == (pair.shown, pair.by)


# -- thresholds after changes


def scored_study(
    seed, *, n=400, cost=(5.0, 60.0), with_decisions=2, models=3, cut=0.005, asked=(), **options
):
    """Draw rows with scores of several models, some of them raw, some with decisions."""
    rng = np.random.default_rng(seed)
    actual = (rng.random(n) < 0.25).astype(int)
    scores = {
        f"m{i}": np.round(2.0 * actual - 1 + rng.normal(0, 1 + 0.4 * i, n), 2)
        for i in range(models)
    }
    decided = {f"m{i}": (scores[f"m{i}"] >= cut).astype(int) for i in range(with_decisions)}
    costs = CostMatrix([[0.5, cost[1]], [cost[0], 0]], rows="predicted", labels=[0, 1])
    study = study_of(actual, decided, costs, y_score=scores, **options)
    return replace(study, asked=Asked(study.asked.baseline, asked)) if asked else study


EDITS = (
    [[0.5, 60], [5, 0]],
    [[0, 100], [5, 0]],
    [[0, 7], [11.5, 1]],
    [[0, 6000], [3, 0]],
    [[0, 1], [4000, 0]],
    [[0, math.pi], [1, 0]],
    [[0, 60], [0, 0]],
    [[2, 60], [1, 0]],
    [[0, 0], [5, 0]],
    [[0, 3], [5, 4]],
)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"with_decisions": 0},
        {"baseline": "always 1"},
        {"baseline": "m0@0.1"},
        {"baseline": "m2@best"},
        {"baseline": "m0@0.1", "asked": ("m0@0.3", "m0@-0.2", "m1@0.7")},
        {"with_decisions": 2, "models": 2, "n": 120, "confidence": 0.8},
    ],
    ids=["mixed", "scores only", "constant", "stated", "best", "nested", "few rows"],
)
def test_thresholds_are_chosen_again_for_the_nearest_ratio(live, options):
    study = scored_study(len(str(options)), **options)
    other = other_costs_of(study).to_dict()
    found = check_policies(live, [(other, policies) for policies in retuned(study, EDITS)])
    assert [each["at"] for each in found] == [nearest(study, edited) for edited in EDITS]
    assert all(each["rechosen"] for each in found)
    chosen = {tuple(one["cuts"]) for each in found for one in each["policies"] if one["rechosen"]}
    assert len(chosen) > 1


def test_cuts_of_one_score_disagree_in_one_way_only(live):
    study = scored_study(31, baseline="m0@0.1", asked=("m0@0.3",))
    found = study.policies.difference("m0@0.3", "m0@0.1")
    assert len(outcomes_behind(found).only.costs) == 3  # both agree, or one of two classes
    other = other_costs_of(study).to_dict()
    check_policies(live, [(other, study.policies)])


def test_policies_that_decide_alike_come_apart_at_other_costs(live):
    chosen = scored_study(3, with_decisions=0).policies.chosen_for("m0")
    cut = scored_study(3, with_decisions=0).policies[chosen].threshold
    study = scored_study(3, with_decisions=1, cut=cut)
    both = study.policies["m0"]
    assert (both.kind, [each.kind for each in both.alike]) == ("decisions", ["threshold"])
    other = other_costs_of(study).to_dict()
    edits = [study.costs.values.tolist(), [[0, 6000], [3, 0]]]
    found = check_policies(live, [(other, each) for each in retuned(study, edits)])
    kinds = [[one["kind"] for one in each["policies"] if one["model"] == "m0"] for each in found]
    assert kinds == [["decisions"], ["decisions", "threshold"]]


def test_at_the_stated_costs_the_page_has_the_numbers_of_the_study(live):
    study = scored_study(3)
    other = other_costs_of(study).to_dict()
    (found,) = check_policies(live, [(other, study.policies)])
    assert found["factor"] == pytest.approx(1)


def test_costs_that_turn_the_scores_round_keep_the_thresholds(live):
    study = scored_study(4)
    other = other_costs_of(study)
    arguments = (other.to_dict(), names_of(study.costs), [[5, 0], [0, 60]], 0.95)
    (found,) = live("policiesAt", arguments)
    assert not found["rechosen"]
    assert found["at"] == [each.factor for each in other.tables].index(1.0)
    assert not any(each["rechosen"] for each in found["policies"])


@pytest.mark.parametrize("members", [2, 3, 4, 7, 12])
def test_the_family_of_comparisons_is_that_of_python(live, members):
    values = [1.0, 0.7, 0.2, 0.05, 0.013, 1e-4, 1e-6, 1e-7, 1e-9, 1e-12]
    found = live("adjusted", *([p, members] for p in values))
    assert found == pytest.approx([adjusted(p, members) for p in values], rel=1e-6, abs=1e-11)


# -- the example


def breast_cancer():
    table = np.genfromtxt(
        EXAMPLES / "breast_cancer.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    costs = CostMatrix.read(EXAMPLES / "breast_cancer_costs.csv")
    predictions = {name: table[name] for name in ("logistic", "tree", "discriminant")}
    joint = JointConfusion.from_labels(
        table["actual"], predictions, labels=costs.labels, decisions=costs.decisions
    )
    return joint, costs.values


def test_the_example_and_edits_of_each_of_its_costs(live):
    joint, costs = breast_cancer()
    cases = [(joint, costs, confidence) for confidence in CONFIDENCES]
    edits = itertools.product(np.ndindex(costs.shape), (0, 2000, 3999.99, 41234, math.pi, -500))
    for (place, edit), confidence in zip(edits, itertools.cycle(CONFIDENCES), strict=False):
        edited = costs.copy()
        edited[place] = edit
        cases.append((joint, edited, confidence))
    check_same(live, cases)


# -- tables of all kinds


def random_joint(rng, n, n_models, n_classes, n_decisions):
    """Draw joint counts: models that are wrong together or alone, and cells that are rare."""
    drawn = min(n, 5000)
    mistakes, together = 10 ** rng.uniform(-3, -0.3), rng.uniform(0, 0.95)
    actual = rng.choice(n_classes, drawn, p=rng.dirichlet(np.full(n_classes, 0.7)))
    shared, shared_wrong = rng.random(drawn), rng.integers(0, n_decisions, drawn)
    columns = []
    for _ in range(n_models):
        copied = rng.random((2, drawn)) < together
        chance = np.where(copied[0], shared, rng.random(drawn))
        wrong = np.where(copied[1], shared_wrong, rng.integers(0, n_decisions, drawn))
        columns.append(np.where(chance < mistakes * rng.uniform(0.5, 1.5), wrong, actual))
    cells, counts = np.unique(np.column_stack([*columns, actual]), axis=0, return_counts=True)
    many = np.where(counts > 1, rng.poisson(counts * (n / drawn)), 1)
    counts = counts if n == drawn else np.maximum(many, 1)
    cells = {tuple(cell): count for cell, count in zip(cells.tolist(), counts, strict=True)}
    return joint_of(cells, n_classes, n_decisions)


COSTS = {
    "small whole numbers": lambda rng, shape: rng.integers(0, 10, shape),
    "whole numbers and gains": lambda rng, shape: rng.integers(-50, 1000, shape),
    "tenths": lambda rng, shape: rng.integers(0, 30, shape) / 10,
    "cents": lambda rng, shape: np.round(10 ** rng.uniform(-1, 4, shape), 2),
    "on no lattice": lambda rng, shape: rng.gamma(0.5, 10, shape),
    "small gains on no lattice": lambda rng, shape: rng.normal(0, 1e-3, shape),
    "two far apart": lambda rng, shape: np.where(rng.random(shape) < 0.5, 1, 1000),
    "a million to one": lambda rng, shape: rng.choice([1, 12.5, 1e6], shape),
}


def random_costs(rng, kind, joint):
    costs = COSTS[kind](rng, (len(joint.decisions), len(joint.labels))).astype(float)
    if rng.random() < 0.6:
        np.fill_diagonal(costs, 0)
    return costs


@pytest.mark.parametrize("kind", COSTS)
def test_random_tables(live, kind):
    cases = []
    for seed in range(16):
        rng = np.random.default_rng([seed, *kind.encode()])
        n_classes = int(rng.integers(2, 7))
        extra = int(rng.integers(1, 3)) if seed % 4 == 0 else 0
        joint = random_joint(
            rng, round(10 ** rng.uniform(0.5, 7)), seed % 4 + 2, n_classes, n_classes + extra
        )
        cases.append((joint, random_costs(rng, kind, joint), CONFIDENCES[seed % 3]))
    check_same(live, cases)


def tied_joint(rng, n, n_classes):
    """Draw two models that disagree either way equally often, so that no p-value is tiny."""
    cells, disagreement = {}, 10 ** rng.uniform(-3, -0.5)
    for first, second, actual in itertools.product(range(n_classes), repeat=3):
        if second <= first:
            mean = n * rng.beta(0.5, 1) / n_classes**2 * (1 if first == second else disagreement)
            cells[first, second, actual] = 5 + rng.poisson(mean)
            cells[second, first, actual] = 5 + rng.poisson(mean)
    return joint_of(cells, n_classes)


@pytest.mark.parametrize("kind", COSTS)
def test_near_ties(live, kind):
    cases = []
    for seed in range(12):
        rng = np.random.default_rng([100 + seed, *kind.encode()])
        joint = tied_joint(rng, 10 ** rng.uniform(1, 7), seed % 3 + 2)
        cases.append((joint, random_costs(rng, kind, joint), 0.95))
    check_same(live, cases)


def test_ten_classes(live):
    rng = np.random.default_rng(10)
    joint = random_joint(rng, 30_000, 3, 10, 10)
    check_same(live, [(joint, random_costs(rng, kind, joint), 0.95) for kind in COSTS])


def test_so_many_different_costs_that_they_are_condensed(live):
    rng = np.random.default_rng(16)
    joint = random_joint(rng, 20_000, 2, 16, 16)
    cases = [(joint, rng.gamma(1, 10, (16, 16)), confidence) for confidence in CONFIDENCES]
    difference = policies_of(*cases[0]).difference("m0", "m1")
    assert len(outcomes_behind(difference).only.costs) > 2048
    check_same(live, cases)


# -- degenerate cases


DEGENERATE = {
    "one example": ({(0, 0, 1): 1}, [[0, 7], [2, 0]]),
    "one outcome only, the cheapest": ({(0, 0, 0): 50}, [[0, 7], [2, 0]]),
    "one outcome only, the costliest": ({(0, 0, 1): 50}, [[0, 7], [2, 0]]),
    "one outcome only, in between": ({(1, 1, 0): 50}, [[0, 7], [2, 0]]),
    "all costs equal": ({(0, 1, 0): 20, (1, 0, 1): 30}, [[3.7, 3.7], [3.7, 3.7]]),
    "all costs zero": ({(0, 1, 0): 20, (1, 0, 1): 30}, [[0, 0], [0, 0]]),
    "decisions that cost the same": ({(0, 1, 0): 20, (1, 0, 1): 30}, [[1, 5], [1, 5]]),
    "models that always agree": ({(0, 0, 0): 20, (1, 1, 1): 30}, [[0, 7], [2, 0]]),
    "models that never agree": ({(0, 1, 0): 20, (1, 0, 0): 31}, [[0, 7], [2, 0]]),
    "always one way": ({(0, 1, 0): 20, (1, 0, 1): 30}, [[0, 7], [2, 0]]),
    "only gains": ({(0, 1, 0): 20, (1, 0, 1): 30, (1, 1, 1): 9}, [[-5, -1], [-2, -30]]),
    "a large constant": (
        {(0, 1, 0): 20, (1, 0, 0): 30, (1, 1, 1): 9},
        [[1e9, 1e9 + 7], [1e9, 1e9]],
    ),
    "tiny costs": ({(0, 1, 0): 20, (1, 0, 0): 30, (0, 1, 1): 9}, [[0, 7e-9], [2e-9, 0]]),
    "huge costs": ({(0, 1, 0): 20, (1, 0, 0): 30, (0, 1, 1): 9}, [[0, 7e30], [2e30, 0]]),
    "costs that differ by rounding": (
        {(0, 1, 0): 20, (1, 0, 1): 30, (1, 1, 1): 9},
        [[0.1 + 0.2, 1], [0.3, 0]],
    ),
    "a rare disaster": (
        {(0, 0, 0): 10**6, (1, 1, 1): 10**4, (0, 1, 1): 3, (1, 0, 0): 90},
        [[0, 1e6], [1, 0]],
    ),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_tables(live, name):
    cells, costs = DEGENERATE[name]
    check_same(live, [(joint_of(cells, 2), costs, confidence) for confidence in CONFIDENCES])


def test_one_model_is_compared_with_the_constants(live):
    joint = joint_of({(0, 0): 50, (1, 0): 8, (0, 1): 2, (1, 1): 40}, 2)
    check_same(live, [(joint, [[0, 10], [1, 0]], confidence) for confidence in CONFIDENCES])


# -- texts


def numbers():
    rng = np.random.default_rng(1)
    sizes = 10 ** rng.uniform(-12, 25, 2000) * rng.choice([-1, 1], 2000)
    ties = (np.arange(-4000, 4000) + 0.5) / 16
    decimals = np.round(rng.uniform(-2000, 2000, 2000), 3)
    special = [0.0, -0.0, 1e21, 1e22, 5e-324, 1.7976931348623157e308, 999.95, 999.96, 9999.5]
    edges = [1e-4, 9.9995e-5, 9.99949e-5, 1e-5, 0.5, 2.5, 1000.5, 1001.5, -1000.5, 2**53]
    strange = [math.inf, -math.inf, math.nan]
    return [*special, *edges, *strange, *sizes.tolist(), *ties.tolist(), *decimals.tolist()]


def test_numbers_are_written_as_in_python(live):
    values = numbers()
    assert live("number", *([value] for value in values)) == list(map(number, values))


def test_p_values_are_written_as_in_python(live):
    small = [1, 0.91, 0.05, 0.0123, 1e-4, 9.9e-5, 1e-12]
    assert live("pValue", *([value] for value in small)) == list(map(p_value, small))


def test_limits_with_known_shares_of_the_classes_are_those_of_python(live):
    rng = np.random.default_rng(5)
    cases, expected = [], []
    for share in [*rng.uniform(0.001, 0.999, 30).tolist(), 0.0, 1.0]:
        counts = rng.poisson(10 ** rng.uniform(-0.5, 4, (2, 2)))
        counts[0] += 1
        costs = np.round(rng.uniform(0, 100, (2, 2)), 2) * rng.choice([0, 1], (2, 2), p=[0.2, 0.8])
        confidence = CONFIDENCES[len(cases) % 3]
        table = Confusion(counts, rows="predicted", labels=["a", "b"])
        priors = Design({"a": 1 - share, "b": share})
        matrix_ = CostMatrix(costs, rows="predicted", labels=["a", "b"])
        estimate = CostEstimate(table, matrix_, priors)
        expected.append(list(estimate.interval(confidence)))
        cases.append([counts.tolist(), costs.tolist(), [1 - share, share], 1 - confidence])
    found = live("stratifiedLimits", *cases)
    for limits, wanted, (_, costs, *_) in zip(found, expected, cases, strict=True):
        assert limits == pytest.approx(wanted, rel=0, abs=1e-6 * max(np.ptp(costs), 1e-9))


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 6])
def test_significant_digits_are_those_of_python(live, digits):
    values = [value for value in numbers() if math.isfinite(value)]
    expected = [f"{value:.{digits}g}" for value in values]
    assert live("general", *([value, digits] for value in values)) == expected


# -- results that cannot be computed


@pytest.fixture(scope="module")
def refusal(scripts):
    """Return the message of the Error that a function of the script throws."""
    script = """([name, args]) => {
        try { return "no error: " + JSON.stringify(stakesLive[name](...args)); }
        catch (error) { return error instanceof Error ? error.message : "no Error"; }
    }"""
    return lambda name, *arguments: scripts.evaluate(script, [name, list(arguments)])


@pytest.mark.parametrize("bad", ["", "7", "ten", None, math.nan, math.inf, -math.inf, [1], True])
def test_a_cost_that_is_no_finite_number_is_refused(refusal, bad):
    joint, _ = breast_cancer()
    policies = policies_of(joint, [[0, 1], [2, 0]], 0.95)
    message = (
        "costs: expected a finite number for predicting 'benign' when it was 'malignant', got "
    )
    costs = [[0, bad], [2000, 0]]
    assert refusal("estimates", joint.to_dict(), costs, 0.95).startswith(message)
    names = names_of(policies.costs)
    assert refusal("policiesAt", stored(policies), names, costs, 0.95).startswith(message)


@pytest.mark.parametrize(
    "costs", [[[0, 1]], [[0, 1], [2]], [[0, 1, 2], [3, 4, 5]], [], None, [None, None]]
)
def test_costs_of_another_shape_are_refused(refusal, costs):
    joint, _ = breast_cancer()
    message = refusal("estimates", joint.to_dict(), costs, 0.95)
    assert message.startswith("costs: expected 2 rows, one for each decision, of 2 numbers")


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, math.nan, "0.95", None])
def test_a_confidence_out_of_range_is_refused(refusal, confidence):
    joint, costs = breast_cancer()
    message = refusal("estimates", joint.to_dict(), costs.tolist(), confidence)
    assert message.startswith("confidence: expected a number between 0 and 1")


@pytest.mark.parametrize("counts", [[0, 0], [1.5, 2], [-1, 3], ["1", 2]])
def test_counts_that_are_none_are_refused(refusal, counts):
    joint = joint_of({(0, 1, 0): 1, (1, 0, 1): 1}, 2).to_dict() | {"counts": counts}
    message = refusal("estimates", joint, [[0, 1], [2, 0]], 0.95)
    assert message.startswith("counts: expected whole numbers of examples")


@pytest.mark.parametrize("size", [1e308, 1e200, 1e-200, 5e-324])
def test_costs_beyond_double_precision_give_an_error_or_a_number(refusal, size):
    cells = {(0, 1, 0): 20, (1, 0, 0): 30, (0, 1, 1): 9, (1, 0, 1): 9}
    costs = [[-size, 0.7 * size], [0.2 * size, 0]]
    policies = policies_of(joint_of(cells, 2), [[0, 1], [2, 0]], 0.95)
    arguments = {
        "estimates": (joint_of(cells, 2).to_dict(), costs, 0.95),
        "policiesAt": (stored(policies), names_of(policies.costs), costs, 0.95),
    }
    for name, given in arguments.items():
        message = refusal(name, *given)
        assert message.startswith(("costs: they are too large", "no error: "))
        for known in ("factor", "decision", "column", "model"):
            message = message.replace(f'"{known}":null', "")
        assert "null" not in message  # JSON's form of NaN


# -- in a page


def test_the_script_can_stand_inside_a_page():
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8").lower()
        assert "</script" not in text
        assert "<!--" not in text
        assert "http" not in text


def test_an_edit_takes_no_noticeable_time(scripts):
    rng = np.random.default_rng(8)
    actual = rng.integers(0, 6, 20_000)
    predictions = {
        name: np.where(rng.random(20_000) < 0.5, rng.integers(0, 6, 20_000), actual)
        for name in "abc"
    }
    joint = JointConfusion.from_labels(actual, predictions)
    assert len(joint.counts) > 1000
    policies = policies_of(joint, np.ones((6, 6)), 0.95)
    scripts.evaluate(f"window.other = {json.dumps(stored(policies))}")
    scripts.evaluate(f"window.names = {json.dumps(names_of(policies.costs))}")
    for kind in COSTS:
        taken = scripts.evaluate(
            """(costs) => Math.min(...[1, 2, 3, 4, 5].map(() => {
                const start = performance.now();
                stakesLive.policiesAt(other, names, costs, 0.95);
                return performance.now() - start;
            }))""",
            random_costs(rng, kind, joint).tolist(),
        )
        # Milliseconds. An idle machine needs a tenth, unless the costs need a lattice each.
        assert taken < (1500 if kind == "a million to one" else 300), kind
