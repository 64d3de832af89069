"""The second implementation reproduces the published numbers, and its folds are dealt evenly."""

import numpy as np
import pytest
from _helpers import oracle_extremal, oracle_policies
from _helpers.oracle_policies import FOLDS, LEFT_OUT, choose, cross_fitted, dealt
from scipy.stats import beta

# Extremal limits and tests.

FIVE = [-5.0, -1.0, 0.0, 1.0, 5.0], [4, 14, 267, 12, 3]


@pytest.mark.parametrize(
    ("worse", "better", "weight", "expected"),
    [
        (20, 10, 0.7, 0.0861991656),
        (6, 0, 0.7, 0.0163842667),
        (22, 8, 0.7, 0.0132524388),
        (20, 10, 1.0, 0.0987371467),
    ],
)
def test_p_values_of_two_outcomes_are_beta_probabilities(worse, better, weight, expected):
    counts = [better, 300 - worse - better, worse]
    found = oracle_extremal.p_value([-1, 0, 1], counts, weight)
    assert found == pytest.approx(expected, abs=1.1e-10)
    sides = [
        1.0 if less == 0 else beta.sf(0.5, more + weight, less)
        for more, less in ((worse, better), (better, worse))
    ]
    assert found == pytest.approx(2 * min(sides), rel=1e-10)


@pytest.mark.parametrize(
    ("weight", "expected"),
    [(0.7, (-0.1354763, 0.0859908)), (1.0, (-0.1422527, 0.0929905))],
)
def test_limits_of_five_outcomes(weight, expected):
    found = oracle_extremal.limits(*FIVE, weight=weight)
    assert found == pytest.approx(expected, abs=6e-8)


@pytest.mark.parametrize(("share", "expected"), [(1, 0.0750433), (3, 0.1029712)])
def test_regret_is_the_one_sided_limit_shared_by_the_others(share, expected):
    values, counts = FIVE
    assert oracle_extremal.upper(values, counts, 0.05 / share, weight=1.0) == pytest.approx(
        expected, abs=6e-8
    )
    rows = np.repeat(values, counts)
    apart = [(values, (rows, rows))] * share
    assert oracle_policies.regret(apart) == pytest.approx(expected, abs=6e-8)
    cheaper = np.repeat([-5.0, 0.0], [290, 10])
    assert oracle_policies.regret([(values, (cheaper, cheaper))]) == 0.0
    assert oracle_policies.regret([*apart, (values, (cheaper, cheaper))]) > expected


@pytest.mark.parametrize(
    ("n", "costliest", "expected"),
    [
        (300, 10_000.0, 100.318930),
        (2000, 10_000.0, 15.190870),
        (20_000, 10_000.0, 1.610015),
        (300, 1.0, 0.138671),
        (2000, 1.0, 0.113848),
        (20_000, 1.0, 0.104227),
    ],
)
def test_the_limit_with_an_unobserved_cost(n, costliest, expected):
    """A tenth of the rows cost 1. Given the beta share of the costliest, the rest is a beta too."""
    values, counts = [0.0, 1.0, costliest], [0.9 * n, 0.1 * n, 0.0]
    found = oracle_extremal.upper(values, counts, 0.025)
    assert found == pytest.approx(expected, rel=5e-6)
    rest = beta(0.1 * n, 0.9 * n)
    middles = rest.ppf((np.arange(20_000) + 0.5) / 20_000)
    beyond = beta.sf(np.clip((found - middles) / (costliest - middles + 1e-300), 0, 1), 0.7, n)
    if costliest > 1:
        assert beyond.mean() == pytest.approx(0.025, rel=1e-5)
    else:
        assert beta.sf(found, 0.1 * n + 0.7, 0.9 * n) == pytest.approx(0.025, rel=1e-9)


# The rule that chooses a cut.

SCORES = [0.95, 0.90, 0.85, 0.80, 0.70, 0.65, 0.60, 0.50, 0.40, 0.30, 0.20, 0.10]
CLASSES = [1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0]
TIED = [9, 9, 8, 8, 8, 7, 7, 7, 6, 6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 1, 1]
TIED_CLASSES = [1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("scores", "classes", "ratio", "threshold", "cost"),
    [
        (SCORES, CLASSES, 1.0, 0.625, 4),
        (SCORES, CLASSES, 3.0, 0.25, 8),
        (SCORES, CLASSES, 20.0, -np.inf, 6),
        (TIED, TIED_CLASSES, 2.0, 4.5, 11),
        (TIED, TIED_CLASSES, 5.0, 2.5, 11),
    ],
)
def test_the_rule_chooses_the_printed_cuts(scores, classes, ratio, threshold, cost):
    found = choose(scores, classes, 1.0, ratio)
    assert (found.threshold, found.cost) == (pytest.approx(threshold), cost)
    if scores is SCORES:
        assert found.slope == pytest.approx(1.096112, abs=6e-7)
    lower = -np.asarray(scores, dtype=float)  # the same rows with the classes exchanged
    turned = choose(lower, 1 - np.asarray(classes), ratio, 1.0)
    assert turned.cost == cost


# Folds.


def rows(n=403, seed=0, steps=None):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    scores = rng.standard_normal(n) + 1.5 * y
    return y, scores if steps is None else np.round(scores * steps) / steps


@pytest.mark.parametrize("steps", [None, 1])
def test_folds_are_the_stream_of_numpy_along_the_score(steps):
    y, scores = rows(steps=steps)
    folds = dealt(scores, y)
    for label, sign in ((1, -1), (0, 1)):
        side = np.flatnonzero(y == label)
        order = side[np.lexsort([side, sign * scores[side]])]
        expected = np.random.RandomState(0).permutation(np.arange(len(side)) % FOLDS)
        assert folds[order].tolist() == expected.tolist()
        assert np.ptp(np.bincount(expected, minlength=FOLDS)) <= 1


def test_the_first_folds_of_thirty_positives():
    """The stream that numpy keeps, so that other implementations can be checked."""
    first = [2, 8, 13, 10, 6, 4, 7, 11, 17, 2, 5, 16, 8, 14, 3, 0, 1, 9, 6, 4, 18, 19, 9, 7]
    assert oracle_policies.turns(30).tolist()[: len(first)] == first


def test_ties_are_broken_by_what_rows_are_and_the_rest_is_interchangeable():
    y, scores = rows(steps=1)
    rng = np.random.default_rng(1)
    own = {
        "weight": rng.integers(1, 4, len(y)),
        "costs": rng.integers(1, 3, (len(y), 2)),
        "stratum": rng.choice(["a", "b"], len(y)),
    }
    others = [np.round(rng.standard_normal(len(y))), rng.integers(0, 2, len(y))]
    order = rng.permutation(len(y))
    for names in ([], ["weight"], ["costs"], ["stratum"], [*own]):
        given = {name: own[name] for name in names}
        for more in ([], others[:1], others):
            folds = dealt(scores, y, others=more, **given)
            moved = {name: values[order] for name, values in given.items()}
            again = dealt(scores[order], y[order], others=[each[order] for each in more], **moved)
            kinds = np.column_stack(
                [y, scores, *more, *(np.column_stack([np.unique(v, return_inverse=True)[1]])
                                     if np.ndim(v) == 1 else v for v in given.values())]
            )  # fmt: skip
            first = sorted(map(tuple, np.column_stack([kinds, folds]).tolist()))
            second = sorted(map(tuple, np.column_stack([kinds[order], again]).tolist()))
            assert first == second


def test_other_models_matter_only_where_scores_tie():
    y, scores = rows()
    other = np.random.default_rng(2).standard_normal(len(y))
    assert (dealt(scores, y) == dealt(scores, y, others=[other])).all()
    y, scores = rows(steps=1)
    assert (dealt(scores, y) != dealt(scores, y, others=[other])).any()
    assert (dealt(scores, y) == dealt(2 * scores + 3, y)).all()


def test_exchanging_the_classes_changes_no_fold():
    y, scores = rows()
    other = np.random.default_rng(2).standard_normal(len(y))
    for given in (scores, np.round(scores)):
        folds = dealt(given, y, others=[other])
        assert (dealt(-given, 1 - y, others=[-other]) == folds).all()


def test_rows_that_do_not_count_leave():
    y, scores = rows()
    weight = (np.arange(len(y)) % 5 > 0) * 2.0
    labelled = np.where(np.arange(len(y)) % 7 == 0, -1, y)
    folds = dealt(scores, labelled, weight)
    kept = (weight > 0) & (labelled >= 0)
    assert ((folds == LEFT_OUT) == ~kept).all()
    assert (folds[kept] == dealt(scores[kept], y[kept], weight[kept])).all()
    assert (dealt(scores, y, np.ones(len(y))) == dealt(scores, y)).all()


def test_identical_rows_are_spread():
    y, scores = rows(n=2000, steps=0.5)
    folds = dealt(scores, y)
    for value in np.unique(scores):
        for label in (0, 1):
            found = np.bincount(folds[(scores == value) & (y == label)], minlength=FOLDS)
            expected = found.sum() / FOLDS
            if expected > 10:
                assert ((found - expected) ** 2 / expected).sum() < 44  # χ² of 19: 0.001


@pytest.mark.parametrize("steps", [None, 2])
def test_groups_are_dealt_whole_and_evenly(steps):
    y, scores = rows(n=900, steps=steps)
    groups = np.random.default_rng(3).integers(0, 150, len(y))
    folds = dealt(scores, y, groups=groups)
    of_group = {int(g): set(folds[groups == g].tolist()) for g in np.unique(groups)}
    assert all(len(each) == 1 for each in of_group.values())
    for with_rare in (True, False):
        some = [of_group[int(g)].copy().pop() for g in np.unique(groups)
                if (y[groups == g] == 1).any() == with_rare]  # fmt: skip
        assert np.ptp(np.bincount(some, minlength=FOLDS)) <= 1
    order = np.random.default_rng(4).permutation(len(y))
    names = np.random.default_rng(5).permutation(150)
    again = dealt(scores[order], y[order], groups=names[groups][order])
    turned = dealt(-scores, 1 - y, groups=groups)

    def contents(folds, rows):
        """Return the rows of each group with its fold: groups alike in all are interchangeable."""
        found = []
        for group in range(150):
            inside = groups[rows] == group
            held = sorted(zip(y[rows][inside], scores[rows][inside], strict=True))
            found.append((held, sorted(folds[inside])))
        return sorted(found)

    every = np.arange(len(y))
    assert contents(again, order) == contents(folds, every) == contents(turned, every)


@pytest.mark.parametrize("steps", [None, 2])
def test_groups_of_one_row_give_the_folds_of_rows(steps):
    y, scores = rows(steps=steps)
    other = np.random.default_rng(6).standard_normal(len(y))
    alone = dealt(scores, y, others=[other], groups=np.arange(len(y))[::-1])
    assert (alone == dealt(scores, y, others=[other])).all()


def test_few_groups_have_a_fold_each():
    y, scores = rows(n=120)
    groups = np.arange(120) // 10
    folds = dealt(scores, y, groups=groups)
    rare = np.array([(y[groups == g] == 1).any() for g in range(12)])
    assert (rare.sum(), (~rare).sum()) == (11, 1)
    found = np.array([folds[groups == g][0] for g in range(12)])
    assert len(set(found[rare])) == 11
    assert found.max() < 12


# Cross-fitting.


@pytest.mark.parametrize("steps", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_fold_is_decided_by_the_rule_on_the_other_rows(steps, weighted):
    y, scores = rows(steps=steps)
    weight = np.where(np.arange(len(y)) % 3, 1.0, 4.0) if weighted else None
    found = cross_fitted(scores, y, 1.0, 20.0, weight)
    folds = dealt(scores, y, weight)
    unit = None if weight is None else (weight**2).sum() / weight.sum()
    for fold in (0, 7, 19):
        inside = folds == fold
        given = None if weight is None else weight[~inside]
        other = choose(scores[~inside], y[~inside], 1.0, 20.0, given, unit=unit)
        assert (found.held_out[inside] == (scores[inside] >= other.threshold)).all()
    assert (found.in_sample == (scores >= found.threshold)).all()


def test_a_limit_that_cannot_be_kept_without_a_fold_leaves_the_deployed_cut():
    y, scores = rows(n=60, steps=1)
    most = choose(scores, y, 1.0, 5.0)
    flagged = float((scores >= most.threshold).mean())
    kept = cross_fitted(scores, y, 1.0, 5.0, allowed=lambda *rates: rates[2] == flagged)
    assert kept.threshold == most.threshold
    assert (kept.held_out == kept.in_sample).all()
    assert cross_fitted(scores, y, 1.0, 5.0, allowed=lambda *_: False) is None


def test_both_tables_must_agree():
    values = oracle_policies.outcomes(1.0, 20.0)
    one = np.repeat([1.0, 0.0], [30, 270])
    apart = [one, -one]
    assert oracle_policies.p_value(apart, values) == 1.0
    half = np.repeat([1.0, 0.0], [12, 288])
    alone = [oracle_extremal.p_value(values, oracle_policies.counted(values, each))
             for each in (one, half)]  # fmt: skip
    assert oracle_policies.p_value([one, half], values) == max(alone) > min(alone)


def test_outcomes_of_nested_policies_exclude_half_of_the_disagreements():
    assert oracle_policies.outcomes(1.0, 20.0) == [-20.0, -1.0, 0.0, 1.0, 20.0]
    assert oracle_policies.outcomes(1.0, 20.0, nested="first") == [-20.0, 0.0, 1.0]
    y, scores = rows()
    flags = cross_fitted(scores, y, 1.0, 20.0)
    never = oracle_policies.constant(len(y), flag=False)
    nested = oracle_policies.outcomes(1.0, 20.0, nested="first")
    apart = oracle_policies.differences(flags, never, y, 1.0, 20.0)
    wide = oracle_policies.outcomes(1.0, 20.0)
    assert oracle_policies.p_value(apart, nested) < oracle_policies.p_value(apart, wide)
