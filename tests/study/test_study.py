from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostCurve, CostDifference, CostMatrix, PairedConfusion, compare, evaluate
from stakes._core.labels import as_meant
from stakes.errors import DesignError, InputError, LabelError
from stakes.findings import findings
from stakes.predictions import ArrowTable, merged
from stakes.predictions.classes import positive_class
from stakes.predictions.count_file import counts_from_text, counts_text
from stakes.study import Study

COSTS = CostMatrix([[0, 100], [10, 1]], rows="predicted", labels=["ok", "fraud"])


def columns(n=200, seed=0):
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.3
    made = {"actual": np.where(fraud, "fraud", "ok")}
    for name in ("a", "b"):
        score = np.clip(0.3 + 0.4 * fraud + rng.normal(0, 0.2, n), 0, 1).round(2)
        made |= {name: np.where(score > 0.5, "fraud", "ok"), f"{name}_score": score}
    return made


def study(made=None, costs=COSTS, **options):
    table = ArrowTable(pa.table(columns() if made is None else made), "a.csv")
    return Study.from_table(table, costs, **options)


def test_a_study_finds_what_the_library_finds():
    made, found = columns(), study()
    assert (found.names, found.n, found.pos_label) == (("a", "b"), 200, "fraud")
    for name in found.names:
        expected = evaluate(made["actual"], made[name], COSTS)
        assert found.estimate(name) == expected
        assert found.estimate(name).interval() == expected.interval()
        assert found.estimate(name).interval(0.9, "bcost", rng=3) == expected.interval(
            0.9, "bcost", rng=3
        )
    difference = compare(made["actual"], made["a"], made["b"], COSTS)
    pair = found.policies.family.pair("a", "b")
    assert pair.difference == pytest.approx(difference.difference)
    assert pair.p_value == pytest.approx(difference.test().p_value)
    assert pair.shown == (pair.p_value <= 0.05)
    for name, curve in found.curves().items():
        assert curve == CostCurve.from_scores(
            made["actual"], made[f"{name}_score"], pos_label="fraud", name=name
        )
    assert found.lines() == {}
    one, other = found.curve_difference("a", "b"), found.curve_difference("b", "a")
    assert one.difference(0.3) == -other.difference(0.3)
    with pytest.raises(InputError, match="the model 'c' has no scores"):
        found.curve_difference("a", "c")


def test_class_priors_are_those_of_all_results():
    made = columns()
    found = study(class_priors={"fraud": 0.01, "ok": 0.99})
    expected = evaluate(made["actual"], made["a"], COSTS, class_priors=[0.99, 0.01])
    assert found.estimate("a").interval() == expected.interval()
    paired = PairedConfusion.from_labels(made["actual"], made["a"], made["b"], labels=COSTS.labels)
    difference = CostDifference(paired, COSTS, ("a", "b"), found.design)
    assert found.policies.difference("a", "b").test() == difference.test()
    constants = [each.name for each in found.policies.policies if each.kind == "constant"]
    for name, cost in zip(
        constants, (0.01 * 100, 0.99 * 10 + 0.01), strict=True
    ):  # known, not estimated
        assert tuple(found.policies.interval(name)) == pytest.approx((cost, cost))
    with pytest.raises(LabelError, match="class_priors: expected one of"):
        study(class_priors={"theft": 1.0})
    with pytest.raises(DesignError):
        found.estimate("a").interval(method="bca")


def test_scores_alone_decide():
    made = columns()
    found = study({"actual": made["actual"], "a_score": made["a_score"]})
    cut = 10 / (10 + 99)
    assert found.decided_from == {"a": pytest.approx(cut)}
    decided = np.where(made["a_score"] >= cut, "fraud", "ok")
    assert found.estimate("a").cost == evaluate(made["actual"], decided, COSTS).cost
    policy = next(each for each in found.policies.policies if each.model == "a")
    assert (policy.kind, policy.cross_fitted) == ("threshold", True)
    far = {"actual": made["actual"], "a_score": made["a_score"] * 3 - 1}
    with pytest.raises(InputError, match="not probabilities"):
        study(far, with_scores=False)
    left = study(far)
    assert (left.names, left.n, list(left.scores)) == ((), 200, ["a"])
    moved = next(each for each in left.policies.policies if each.model == "a")
    assert (moved.kind, moved.cross_fitted) == ("threshold", True)
    assert -1 < moved.threshold < 2


def test_decisions_by_scores_follow_the_class_priors():
    """Both models decide every row alike at the stated priors: they are one policy."""
    made = columns(400)
    probability = made["a_score"]
    odds = probability / np.maximum(1 - probability, 1e-9)
    other = 3 * odds / (1 + 3 * odds)
    priors = {"fraud": 0.02, "ok": 0.98}
    table = {"actual": made["actual"], "a_score": probability, "forest_score": other}
    found = study(table, class_priors=priors)
    (policy,) = (each for each in found.policies.policies if each.models)
    assert policy.models == ("a", "forest")
    assert [each.name for each in findings(found).models] == ["a", "forest"]
    assert {each.policy for each in findings(found).models} == {policy.name}
    share = (made["actual"] == "fraud").mean()
    alarm, miss = 10 * 0.98 / (1 - share), 99 * 0.02 / share
    assert found.decided_from["a"] == pytest.approx(alarm / (alarm + miss))
    without = study(table, class_priors=priors, with_scores=False)
    assert without.decided_from == found.decided_from
    thresholds = [each.threshold for each in without.policies.policies[:2]]
    assert thresholds == pytest.approx([alarm / (alarm + miss)] * 2)
    notes = without.verdict().notes
    assert any("without its scores no other threshold can be chosen" in each for each in notes)


def test_costs_of_mistakes_are_for_the_classes_of_the_table():
    made = columns()
    found = study(costs={"false_positive": 10, "false_negative": 100}, pos_label="fraud")
    assert found.costs == CostMatrix.from_errors(
        false_positive=10, false_negative=100, pos_label="fraud", neg_label="ok"
    )
    numbers = {"actual": made["actual"] == "fraud", "a": made["a"] == "fraud"}
    found = study(numbers, costs={"false_positive": 10, "false_negative": 100})
    assert (found.pos_label, found.costs.labels) == (True, (False, True))


def test_more_classes_have_no_curves():
    costs = CostMatrix.zero_one(["a", "b", "c"])
    found = study({"actual": ["a", "b", "c"], "m": ["a", "a", "c"], "m_score": [1, 2, 3]}, costs)
    assert (found.pos_label, found.joint_scores) == (None, None)
    assert (found.curves(), found.lines()) == ({}, {})


def test_one_class_alone_has_no_curves():
    found = study({"actual": ["ok", "ok"], "m": ["ok", "fraud"], "m_score": [0.1, 0.7]})
    assert (found.curves(), found.lines(), found.both_classes) == ({}, {}, False)
    assert list(found.scores) == ["m"]


def test_decisions_alone_are_lines():
    found = study({name: columns()[name] for name in ("actual", "a")})
    assert list(found.lines()) == ["a"]
    assert found.curves() == {}


@pytest.mark.parametrize(
    ("labels", "costs", "positive"),
    [
        (["no", "yes"], [[0, 1], [9, 0]], "yes"),
        (["Yes", "No"], [[0, 1], [9, 0]], "Yes"),
        (["FALSE", "TRUE"], [[0, 9], [1, 0]], "TRUE"),
        ([1, 0], [[0, 9], [1, 0]], 1),
        ([False, True], [[0, 1], [9, 0]], True),
        (["a", "b"], [[0, 9], [1, 0]], "b"),
        (["a", "b"], [[0, 1], [9, 0]], "a"),
        (["0", "1"], [[0, 1], [9, 0]], "1"),
        (["-1", "1"], [[0, 1], [9, 0]], "1"),
        (["1.0", "0.0"], [[0, 1], [9, 0]], "1.0"),
    ],
)
def test_the_positive_class_is_the_usual_one_or_the_dearer_to_miss(labels, costs, positive):
    matrix = CostMatrix(costs, rows="predicted", labels=labels)
    assert positive_class(matrix, None) is positive
    assert positive_class(matrix, str(labels[0])) == labels[0]


def test_labels_are_read_as_they_are_meant():
    assert as_meant(["10", "2", " -1"]) == (-1, 2, 10)
    assert as_meant(["b", "1"]) == ("1", "b")
    assert as_meant([2.0, 1.0]) == (1, 2)
    assert as_meant(["2.0", "1"]) == (1, 2)
    assert as_meant(["2.5", "1.0"]) == ("1.0", "2.5")
    assert as_meant([True, False]) == (False, True)
    assert as_meant([]) == ()
    assert as_meant(["02", "01"]) == ("01", "02")
    assert as_meant(["-0", "1"]) == ("-0", "1")
    assert as_meant(["1", "0", "1.0", "1.00"]) == (0, 1)
    assert as_meant(["a", "1.0", "1"]) == ("1", "a")


@given(st.integers(0, 5), st.lists(st.integers(1, 59), max_size=3, unique=True))
def test_merged_count_files_are_that_of_the_whole_byte_by_byte(seed, cuts):
    made = columns(60, seed)
    edges = [0, *sorted(cuts), 60]
    texts = [
        counts_text(study({k: v[a:b] for k, v in made.items()}).counts())
        for a, b in pairwise(edges)
    ]
    parts = [(f"{i}.json", counts_from_text(text, "")) for i, text in enumerate(texts)]
    assert counts_text(merged(parts)) == counts_text(study(made).counts())


def test_counts_make_the_same_study():
    found = study()
    again = Study.from_counts(counts_from_text(counts_text(found.counts()), "c"), "c", COSTS)
    assert again.joint == found.joint
    assert again.joint_scores == found.joint_scores
    assert again.notes == found.notes
    assert again.curves() == found.curves()


def test_counts_take_other_costs():
    counts = study().counts()
    other = CostMatrix(
        [[1, 0, 3], [0, 7, 5]], rows="predicted", labels=["fraud", "ok", "x"],
        decisions=["fraud", "ok"],
    )  # fmt: skip
    again = Study.from_counts(counts, "c.json", other)
    made = columns()
    expected = evaluate(made["actual"], made["a"], other)
    assert again.estimate("a").cost == expected.cost
    with pytest.raises(LabelError, match=r"c\.json: 'ok' is not one of the classes"):
        Study.from_counts(counts, "c.json", CostMatrix.zero_one(["fraud", "theft"]))
    inline = Study.from_counts(counts, "c.json", {"false_positive": 1, "false_negative": 2})
    assert inline.pos_label == "fraud"


def test_labels_in_count_files():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=5)
    made = {"actual": [0, 1, 1], "m": [0, 1, 0], "m_score": [0.1, np.inf, -np.inf]}
    found = study(made, costs)
    text = counts_text(found.counts())
    assert '"inf"' in text
    again = Study.from_counts(counts_from_text(text, "c"), "c", costs)
    assert again.scores == found.scores
    texts = CostMatrix.from_errors(false_positive=1, false_negative=5, pos_label="1", neg_label="0")
    assert Study.from_counts(counts_from_text(text, "c"), "c", texts).pos_label == "1"
