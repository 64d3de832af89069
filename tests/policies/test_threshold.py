"""Chosen thresholds, against evaluating every threshold."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import beta

from stakes import CostEstimate, CostMatrix, ScoreCounts
from stakes import choose_threshold as choose
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.infer._outcomes import Design
from stakes.policies import ThresholdChoice, _limits

choose_threshold = partial(choose, rule="minimum")  # the plain minimum, except where stated
seeds = st.integers(0, 10**6)

# Tables 2.4 and 2.5 of the thesis: two estimators with the same ranking.
ACTUAL = [0, 1, 0, 0, 0, 1, 1, 0, 1, 1]
TABLE_24 = ScoreCounts.from_scores(
    ACTUAL, [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95]
)
SECOND = ScoreCounts.from_scores(
    ACTUAL, [0.35, 0.40, 0.65, 0.70, 0.72, 0.75, 0.77, 0.79, 0.80, 0.85]
)
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)


def drawn(seed, n=40):
    """Return labels of both classes, and scores that tie often and are infinite at times."""
    rng = np.random.default_rng(seed)
    y_true = np.append([0, 1], (rng.random(n) < 0.4).astype(int))
    y_score = np.round(y_true + rng.normal(0, 1, n + 2), 1)
    y_score[rng.random(n + 2) < 0.03] = np.inf
    y_score[rng.random(n + 2) < 0.03] = -np.inf
    return y_true, y_score


def any_costs(seed):
    """Return costs that are not symmetric, correct decisions costing something too."""
    rng = np.random.default_rng(seed)
    return CostMatrix(rng.uniform(-5, 20, (2, 2)), rows="predicted", labels=[0, 1])


def tried(y_true, y_score):
    """Return each threshold with its numbers of found positives and of false alarms."""
    y_score = np.nan_to_num(y_score)  # infinite scores are the largest numbers
    for threshold in [np.inf, *np.unique(y_score)[::-1]]:
        called = y_score >= threshold
        yield threshold, int((called & (y_true == 1)).sum()), int((called & (y_true == 0)).sum())


def cost_by_hand(y_true, y_score, threshold, costs, priors=None):
    """Return the mean cost of the examples, each looked up, reweighted to the priors."""
    decided = (np.nan_to_num(y_score) >= threshold).astype(int)
    each = costs.values[decided, y_true]
    if priors is None:
        return each.mean()
    return sum(share * each[y_true == actual].mean() for actual, share in enumerate(priors))


def test_probabilities_taken_at_their_word_cost_more_than_the_best_threshold():
    """Thesis, section 2.3.4.2: from P = 1/11 on positive for the costs, from 1/2 for errors."""
    errors = CostMatrix.zero_one([0, 1])
    for costs, word, at_word, best, thresholds in (
        (COSTS, 1 / 11, (1.4, 0.5), 0.4, (0.07, 0.40)),
        (errors, 1 / 2, (0.3, 0.5), 0.2, (0.70, 0.75)),
    ):
        for counts, cost, threshold in zip((TABLE_24, SECOND), at_word, thresholds, strict=True):
            assert CostEstimate(counts.confusion_at(word), costs).cost == pytest.approx(cost)
            choice = choose_threshold(counts, costs)
            assert choice.threshold == threshold
            assert choice.cost == pytest.approx(best)


def test_table_2_5_of_the_thesis():
    choice = choose_threshold(TABLE_24, COSTS)
    assert isinstance(choice, ThresholdChoice)
    assert choice.threshold == 0.07
    assert choice.cost == pytest.approx(0.4)
    assert choice.recall == 1
    assert choice.fpr == pytest.approx(0.8)
    assert choice.alarms == pytest.approx(0.9)
    assert choice.confusion.counts.tolist() == [[1, 0], [4, 5]]
    low, high = choice.interval
    assert 0 < low < 0.4 < high
    assert tuple(choice.interval) == tuple(CostEstimate(choice.confusion, COSTS).interval())


@given(seeds)
def test_no_threshold_is_cheaper(seed):
    examples, costs = drawn(seed), any_costs(seed)
    choice = choose_threshold(ScoreCounts.from_scores(*examples), costs)
    least = min(cost_by_hand(*examples, each, costs) for each, _, _ in tried(*examples))
    assert choice.cost == pytest.approx(least, abs=1e-12)
    assert cost_by_hand(*examples, choice.threshold, costs) == pytest.approx(least, abs=1e-12)
    assert choice.rule == "lowest in-sample cost"


@given(seeds, st.floats(0.01, 0.99))
def test_no_threshold_is_cheaper_at_another_prevalence(seed, share):
    examples, costs = drawn(seed), any_costs(seed)
    counts = ScoreCounts.from_scores(*examples)
    priors = (1 - share, share)
    least = min(cost_by_hand(*examples, each, costs, priors) for each, _, _ in tried(*examples))
    for given_ in (priors, {1: share, 0: 1 - share}):
        choice = choose_threshold(counts, costs, class_priors=given_)
        assert choice.cost == pytest.approx(least, abs=1e-10)


rates = st.integers(0, 200).map(lambda k: k / 200)  # not so close to a rate that rounding decides


def chosen(counts, **limits):
    """Return the choice, or None where no threshold keeps the limits."""
    try:
        return choose_threshold(counts, **limits)
    except InputError as error:
        if "no threshold has" not in str(error):
            raise
        return None


@given(seeds, rates)
def test_under_a_false_positive_rate_the_most_positives_are_found(seed, most):
    y_true, y_score = drawn(seed)
    negatives = (y_true == 0).sum()
    allowed = [
        (found, -alarmed)
        for _, found, alarmed in tried(y_true, y_score)
        if alarmed <= most * negatives + 1e-9
    ]
    choice = chosen(ScoreCounts.from_scores(y_true, y_score), max_fpr=most)
    assert (choice is None) == (not allowed)
    if choice is not None:
        assert (choice.confusion.counts[1, 1], -choice.confusion.counts[1, 0]) == max(allowed)
        assert choice.fpr <= most + 1e-9
        assert choice.cost is None
        assert choice.interval is None


@given(seeds, rates)
def test_under_a_least_recall_the_fewest_alarms_are_false(seed, least):
    y_true, y_score = drawn(seed)
    positives = (y_true == 1).sum()
    allowed = [
        alarmed for _, found, alarmed in tried(y_true, y_score) if found >= least * positives - 1e-9
    ]
    choice = choose_threshold(ScoreCounts.from_scores(y_true, y_score), min_recall=least)
    assert choice.confusion.counts[1, 0] == min(allowed)
    assert choice.recall >= least - 1e-9


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("assurance", [None, 0.8])
def test_counts_as_floats_and_thresholds_tried_in_steps_give_the_same_choice(
    monkeypatch, seed, assurance
):
    counts = ScoreCounts.from_scores(*drawn(seed, n=200))
    sides = [side.astype(float) for side in (counts.positives, counts.negatives)]
    floats = ScoreCounts(counts.thresholds, *sides)
    for rate in (0, 0.03, 0.2, 0.5, 0.9, 1):
        for given_ in (
            {"max_fpr": rate},
            {"min_recall": rate},
            {"capacity": 200 * rate},
            {"max_fpr": rate, "min_recall": 0.4},
            {"costs": COSTS, "max_fpr": rate},
        ):
            found = []
            for each, most in ((counts, 1024), (counts, 4), (floats, 1024)):
                monkeypatch.setattr(_limits, "MOST_TRIED", most)
                choice = chosen(each, **given_, assurance=assurance)
                found.append(choice and choice.threshold)
            assert len({*found}) == 1


def test_of_as_few_false_alarms_the_threshold_that_finds_more_is_chosen():
    counts = ScoreCounts.from_scores([1, 1, 0], [3, 2, 1])
    choice = choose_threshold(counts, min_recall=0.5)
    assert (choice.recall, choice.fpr) == (1, 0)


@given(seeds, st.integers(0, 45))
def test_under_a_capacity_the_most_positives_are_found(seed, capacity):
    y_true, y_score = drawn(seed)
    allowed = [found for _, found, alarmed in tried(y_true, y_score) if found + alarmed <= capacity]
    counts = ScoreCounts.from_scores(y_true, y_score)
    n = len(y_true)
    for given_ in (
        {"capacity": capacity},
        {"capacity": 100 * capacity, "volume": 100 * n},
        {"capacity": capacity / n, "volume": 1},
    ):
        choice = chosen(counts, **given_)
        assert (choice is None) == (not allowed)
        if choice is not None:
            assert choice.confusion.counts[1, 1] == max(allowed)
            assert choice.alarms * n <= capacity + 1e-6


@given(seeds, st.sampled_from([0.1, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.3, 0.5, 0.9]))
def test_with_costs_and_limits_the_cheapest_that_keeps_them_all(seed, most, least):
    examples, costs = drawn(seed), any_costs(seed)
    y_true = examples[0]
    allowed = [
        cost_by_hand(*examples, threshold, costs)
        for threshold, found, alarmed in tried(*examples)
        if alarmed <= most * (y_true == 0).sum() + 1e-9
        and found >= least * (y_true == 1).sum() - 1e-9
    ]
    counts = ScoreCounts.from_scores(*examples)
    choice = chosen(counts, costs=costs, max_fpr=most, min_recall=least)
    assert (choice is None) == (not allowed)
    if choice is not None:
        assert choice.cost == pytest.approx(min(allowed), abs=1e-12)


def test_all_positives_must_be_found():
    """Thesis, Table 6.9: the fewest false alarms among those that miss nothing."""
    choice = choose_threshold(TABLE_24, min_recall=1)
    assert choice.threshold == 0.07
    assert choice.rule == "recall of at least 100%"
    assert choose_threshold(TABLE_24, max_fpr=0).threshold == 0.92
    assert choose_threshold(TABLE_24, capacity=0).threshold == np.inf


# Limits that must hold on new examples


@pytest.mark.parametrize(("negatives", "enough"), [(58, False), (59, True)])
def test_the_rule_of_three(negatives, enough):
    """No false alarm in 59 shows, with 95% assurance, a rate of at most 5%."""
    y_true = [0] * negatives + [1] * 10
    counts = ScoreCounts.from_scores(y_true, [0.0] * negatives + [1.0] * 10)
    choice = choose_threshold(counts, max_fpr=0.05, assurance=0.95)
    assert choice.threshold == (1.0 if enough else np.inf)
    assert choice.rule == "false positive rate of at most 5% with 95% assurance"
    found = choose_threshold(
        ScoreCounts.from_scores([1 - each for each in y_true], [1.0] * negatives + [0.0] * 10),
        min_recall=0.95,
        assurance=0.95,
    )
    assert found.threshold == (1.0 if enough else -np.inf)


@given(seeds, st.floats(0.05, 0.95), st.sampled_from([0.5, 0.8, 0.99]))
def test_assurance_is_the_bound_of_clopper_and_pearson(seed, most, assurance):
    y_true, y_score = drawn(seed)
    y_score = np.clip(y_score, -9, 9)
    n = (y_true == 0).sum()

    def bound(k):
        return 1.0 if k == n else beta.ppf(assurance, k + 1, n - k)

    allowed = [0] + [
        found
        for threshold, found, alarmed in tried(y_true, y_score)
        if threshold < np.inf and bound(alarmed) <= most
    ]
    choice = choose_threshold(
        ScoreCounts.from_scores(y_true, y_score), max_fpr=most, assurance=assurance
    )
    assert choice.confusion.counts[1, 1] == max(allowed)


def test_assurance_costs_room():
    rng = np.random.default_rng(0)
    y_true = np.arange(2000) < 1000
    counts = ScoreCounts.from_scores(y_true, y_true + rng.normal(0, 1, 2000))
    plain, sure = (choose_threshold(counts, max_fpr=0.1, assurance=each) for each in (None, 0.95))
    assert plain.threshold < sure.threshold
    assert sure.fpr < 0.1 == pytest.approx(plain.fpr, abs=0.002)
    surer = choose_threshold(counts, capacity=500, volume=2000, assurance=0.95)
    assert surer.alarms < 0.25


def test_infinite_scores_of_negatives_need_not_be_called_positive():
    counts = ScoreCounts.from_scores([0] * 50 + [1] * 50, [np.inf] * 50 + [1.0] * 50)
    choice = choose_threshold(counts, max_fpr=0.1, assurance=0.95)
    assert (choice.threshold, choice.fpr, choice.alarms) == (np.inf, 0, 0)


def test_heavy_weights_are_no_assurance():
    """Ten examples are ten examples, whatever they weigh."""
    y_true, y_score = [0] * 10 + [1] * 10, [0.0] * 10 + [1.0] * 10
    light, heavy = (
        ScoreCounts.from_scores(y_true, y_score, sample_weight=[each] * 20) for each in (1.0, 1e4)
    )
    one, other = (
        choose_threshold(each, max_fpr=0.05, assurance=0.95).threshold for each in (light, heavy)
    )
    assert one == other == np.inf


def test_an_assurance_of_nothing_is_an_error():
    with pytest.raises(InputTypeError, match="assurance"):
        choose_threshold(TABLE_24, COSTS, assurance=0.95)


# Class priors


def test_a_capacity_is_for_the_prevalence_where_the_threshold_is_used():
    """Half of the examples are positive, one in a hundred in use: few alarms for 99 of 100."""
    y_true = np.array([1] * 100 + [0] * 100)
    y_score = np.concatenate([np.arange(100) + 50.5, np.arange(100)])
    counts = ScoreCounts.from_scores(y_true, y_score)
    priors = {0: 0.99, 1: 0.01}
    dear = CostMatrix.from_errors(false_positive=1, false_negative=1000)
    choice = choose_threshold(counts, dear, capacity=20, volume=1000, class_priors=priors)
    assert choice.alarms == pytest.approx(0.99 * choice.fpr + 0.01 * choice.recall)
    assert choice.alarms <= 0.02
    # Fifty-one positives score more than all negatives, and flagging each adds 0.01% to the alarms.
    assert choice.recall > 0.5


def test_class_priors_are_checked_without_costs_too():
    with pytest.raises(InputError, match="class_priors"):
        choose_threshold(TABLE_24, max_fpr=0.2, class_priors=[0.9, 0.9])


def test_class_priors_and_weights_go_together():
    weighted = ScoreCounts.from_scores([0, 1, 0, 1], [1, 2, 3, 4], sample_weight=[1, 2, 3, 4])
    choice = choose_threshold(weighted, COSTS, class_priors=[0.8, 0.2])
    expected = COSTS.values_for([0, 1], [0, 1])
    rates = (choice.fpr, choice.recall)
    cost = sum(
        prior * (expected[0, j] * (1 - rate) + expected[1, j] * rate)
        for j, (prior, rate) in enumerate(zip((0.8, 0.2), rates, strict=True))
    )
    assert choice.cost == pytest.approx(cost)


# Other examples, weights, results


@given(seeds)
def test_on_other_examples_the_same_threshold_is_judged(seed):
    counts, others = (ScoreCounts.from_scores(*drawn(each)) for each in (seed, seed + 1))
    costs = any_costs(seed)
    choice = choose_threshold(counts, costs)
    judged = choice.on(others)
    assert judged.threshold == choice.threshold
    assert judged.confusion == others.confusion_at(choice.threshold)
    assert judged.cost == pytest.approx(cost_by_hand(*drawn(seed + 1), choice.threshold, costs))
    assert judged.chosen_on == "other examples"
    assert choice.chosen_on == "the same examples"
    assert judged.rule == choice.rule


def test_other_examples_may_lack_a_class():
    others = ScoreCounts.from_scores([0, 0], [0.0, 0.5], neg_label=0)
    judged = choose_threshold(TABLE_24, COSTS).on(others)
    assert judged.recall == 0
    assert judged.fpr == 0.5
    assert judged.cost == 0.5
    assert "nan" not in judged.summary()


@pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
def test_weights_count():
    y_true, y_score, weight = [0, 1, 0, 1], [1, 2, 3, 4], [1.0, 10.0, 2.0, 3.0]
    counts = ScoreCounts.from_scores(y_true, y_score, sample_weight=weight)
    choice = choose_threshold(counts, CostMatrix.from_errors(false_positive=9, false_negative=1))
    # Missing the positive of weight 10 costs 10, the false alarm of weight 2 costs 18.
    assert choice.threshold == 4
    assert choice.cost == pytest.approx(10 / 16)
    assert choice.interval.low <= choice.cost <= choice.interval.high
    assert choose_threshold(counts, max_fpr=0.6).threshold == 4
    assert choose_threshold(counts, max_fpr=0.7).threshold == 2


def test_classes_may_have_any_names():
    counts = ScoreCounts.from_scores(["ham", "spam", "ham"], [1, 3, 2], pos_label="spam")
    costs = CostMatrix.from_errors(
        false_positive=1, false_negative=2, pos_label="spam", neg_label="ham"
    )
    choice = choose_threshold(counts, costs)
    assert choice.threshold == 3
    assert choice.confusion.labels == ("ham", "spam")
    assert choice.summary().startswith(
        "Flag scores of 3 and above (lowest in-sample cost). This catches"
    )
    assert "of 'spam', flags" in choice.summary()


def test_what_is_shown_and_pickled():
    choice = choose_threshold(TABLE_24, COSTS, max_fpr=0.9, confidence=0.9)
    assert choice.summary() == repr(choice)
    assert choice.summary().startswith(
        "Flag scores of 0.07 and above (lowest in-sample cost, false positive rate of at most "
        "90%). This catches 100% of 1, flags 80% of the others and 90% of all, and costs 0.4 per "
        "decision ("
    )
    assert choice.summary().endswith(
        " CI). The threshold was chosen on the same examples, so its cost is too low."
    )
    assert not choice.corrected
    assert choice.in_sample_cost == choice.cost == choice.to_dict()["in_sample_cost"]
    content = choice.to_dict()
    assert content["threshold"] == 0.07
    assert content["confusion"]["counts"] == [[1, 0], [4, 5]]
    assert content["interval"]["low"] == choice.interval.low
    assert "<table>" in choice._repr_html_()
    assert pickle.loads(pickle.dumps(choice)) == choice  # noqa: S301 - made here
    limited = choose_threshold(TABLE_24, capacity=3, volume=20)
    assert limited.rule == "load of at most 3 alarms in 20"
    assert limited.to_dict()["cost"] is None
    assert limited.summary().endswith("of all. The threshold was chosen on the same examples.")
    assert limited.design == Design()
    assert choose_threshold(TABLE_24, capacity=3).rule == "load of at most 3 alarms in 10"


def test_choices_with_priors_can_be_compared():
    one, other = (
        choose_threshold(TABLE_24, COSTS, class_priors=np.array([0.9, 0.1])) for _ in range(2)
    )
    assert one == other


def test_calling_nothing_or_everything_positive_is_said_in_words():
    dear = CostMatrix.from_errors(false_positive=100, false_negative=1)
    nothing = choose_threshold(ScoreCounts.from_scores([0, 1, 0], [3, 2, 1]), dear)
    assert nothing.threshold == np.inf
    assert nothing.summary().startswith("Flag nothing (lowest in-sample cost)")
    everything = choose_threshold(TABLE_24, min_recall=1, assurance=0.99)
    assert everything.threshold == -np.inf
    assert everything.summary().startswith("Flag everything ")


def test_calling_only_infinite_scores_positive_is_not_calling_nothing_positive():
    counts = ScoreCounts.from_scores([0, 1, 1], [0, np.inf, np.inf])
    choice = choose_threshold(counts, COSTS)
    assert (choice.recall, choice.fpr) == (1, 0)
    assert 0 < choice.threshold < np.inf
    assert "nothing" not in choice.summary()


def test_nothing_and_everything_stay_a_choice_whatever_the_scores():
    """A score of infinity took the place of the threshold that calls nothing positive."""
    never = CostMatrix.from_errors(false_positive=10, false_negative=1)
    counts = ScoreCounts.from_scores([0, 1], [np.inf, 0.5])
    choice = choose_threshold(counts, never)
    assert (choice.threshold, choice.cost, choice.alarms) == (np.inf, 0.5, 0)
    assert choice.summary().startswith("Flag nothing ")
    always = CostMatrix.from_errors(false_positive=1, false_negative=10)
    choice = choose_threshold(ScoreCounts.from_scores([0, 1], [0.5, -np.inf]), always)
    assert (choice.cost, choice.alarms) == (0.5, 1)


@pytest.mark.parametrize(
    "scores",
    [
        [1, 1, 1, 1],
        [np.inf] * 4,
        [-np.inf] * 4,
        [1, 2, 3, 4],
        [4, 3, 2, 1],
        [np.inf, -np.inf, 0, 0],
    ],
)
def test_no_nan_however_nasty_the_scores(scores):
    counts = ScoreCounts.from_scores([0, 1, 0, 1], scores)
    for limits in ({"min_recall": 0.5}, {"class_priors": [0.9, 0.1]}):
        choice = choose_threshold(counts, COSTS, **limits)
        numbers = [choice.cost, *choice.interval, choice.recall, choice.fpr, choice.alarms]
        assert np.isfinite(numbers).all()
        assert "nan" not in choice.summary()


@pytest.mark.parametrize(
    ("given_", "error", "message"),
    [
        (
            {},
            InputTypeError,
            "costs: give the costs, or a limit: max_fpr=, min_recall= or capacity=",
        ),
        ({"costs": 5}, InputTypeError, "costs: expected a CostMatrix, got a int"),
        ({"counts": [1, 2]}, InputTypeError, "counts: expected a ScoreCounts, got a list"),
        (
            {"counts": ScoreCounts.from_scores([1], [1], neg_label=0), "max_fpr": 0.1},
            InputError,
            "counts: a cost curve needs examples of both classes|both classes",
        ),
        ({"max_fpr": 1.5}, InputError, r"max_fpr: expected a rate from 0 to 1, got 1\.5"),
        ({"max_fpr": np.nan}, InputError, "max_fpr: expected finite numbers, got nan"),
        ({"min_recall": -0.1}, InputError, r"min_recall: expected a rate from 0 to 1, got -0\.1"),
        ({"min_recall": "all"}, InputError, "min_recall: expected numbers, got 'all'"),
        ({"capacity": -1}, InputError, "capacity: expected a number of alarms, 0 or more; got -1"),
        (
            {"capacity": 1, "volume": 0},
            InputError,
            "volume: expected a positive number, got 0",
        ),
        ({"max_fpr": 0.1, "volume": 10}, InputTypeError, "volume: .*give capacity= too"),
        ({"max_fpr": 0.1, "assurance": 95}, InputError, "assurance: expected a number from 0.5"),
        ({"costs": COSTS, "confidence": 1}, InputError, "confidence: expected a number between"),
        (
            {"max_fpr": 0.1, "min_recall": 0.9},
            InputError,
            "max_fpr, min_recall: no threshold has a false positive rate of at most 10% and a",
        ),
        (
            {"costs": COSTS, "class_priors": [0.9, 0.9]},
            InputError,
            "class_priors: expected shares that are not negative and sum to 1",
        ),
        (
            {"costs": COSTS, "class_priors": {0: 0.9, "fraud": 0.1}},
            LabelError,
            "class_priors: expected a prior for each of the classes 0, 1; it misses 1",
        ),
        (
            {"costs": CostMatrix.zero_one(["a", "b"])},
            LabelError,
            "labels",
        ),
    ],
)
def test_bad_input(given_, error, message):
    with pytest.raises(error, match=message):
        choose_threshold(**({"counts": TABLE_24} | given_))


def test_the_assurance_is_named_when_it_is_wrong():
    with pytest.raises(InputError, match="assurance"):
        choose_threshold(TABLE_24, max_fpr=0.1, assurance=95)


def test_other_examples_must_be_of_the_same_classes():
    choice = choose_threshold(TABLE_24, COSTS)
    with pytest.raises(LabelError, match=r"counts: its classes are .*, the threshold was chosen"):
        choice.on(ScoreCounts.from_scores(["a", "b"], [1, 2], pos_label="a"))
    with pytest.raises(InputTypeError, match="counts: expected a ScoreCounts, got a list"):
        choice.on([1, 2])


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=30))
def test_of_equal_thresholds_the_highest(examples):
    actual, scores = map(list, zip(*examples, strict=True))
    assume(len(set(actual)) == 2)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=2)
    found = choose_threshold(ScoreCounts.from_scores(actual, scores, pos_label=1), costs).threshold
    cuts = [np.inf, *sorted(set(scores), reverse=True)]
    paid = [
        sum((s >= cut) if y == 0 else 2 * (s < cut) for y, s in zip(actual, scores, strict=True))
        for cut in cuts
    ]
    best = cuts[int(np.argmin(paid))]
    assert found == best
