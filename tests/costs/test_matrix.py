import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.strategies import confusions, cost_matrices
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stakes import CostMatrix, expected_cost
from stakes.errors import InputError, InputTypeError, LabelError

FRAUD = CostMatrix([[-1.5, 10], [100, 0]], rows="predicted", labels=["fraud", "no fraud"])


def test_orientation_is_explicit_and_inside_always_predicted_by_actual():
    by_actual = CostMatrix([[-1.5, 100], [10, 0]], rows="actual", labels=["fraud", "no fraud"])
    assert by_actual == FRAUD
    assert FRAUD.values[FRAUD.decisions.index("no fraud"), FRAUD.labels.index("fraud")] == 100


def test_a_matrix_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        FRAUD.values[0, 0] = 1
    with pytest.raises(AttributeError):
        FRAUD.labels = ("a", "b")


def test_the_values_given_are_copied():
    values = np.array([[0.0, 1.0], [5.0, 0.0]])
    costs = CostMatrix(values, rows="predicted", labels=[0, 1])
    values[0, 1] = 99
    assert costs.values[0, 1] == 1


@given(cost_matrices())
def test_equal_by_value_hashable_and_picklable(costs):
    same = CostMatrix(costs.values.T, rows="actual", labels=costs.labels, decisions=costs.decisions)
    loaded = pickle.loads(pickle.dumps(costs))  # noqa: S301 - made here
    assert costs == same == loaded == copy.deepcopy(costs)
    assert {costs, same, loaded} == {costs}
    assert not loaded.values.flags.writeable
    assert costs != costs.relabel(lambda label: f"other {label}")
    assert costs != "something else"


def test_negative_zero_is_zero():
    costs = CostMatrix([[-0.0, 1], [5, 0]], rows="predicted", labels=[0, 1])
    assert "-0" not in repr(costs)
    assert hash(costs) == hash(CostMatrix([[0, 1], [5, 0]], rows="predicted", labels=[0, 1]))


def test_from_errors_puts_each_kind_of_error_in_its_cell():
    costs = CostMatrix.from_errors(
        false_positive=1,
        false_negative=2,
        true_positive=3,
        true_negative=4,
        pos_label="yes",
        neg_label="no",
    )
    cell = {(decision, label): cost for decision, label, cost in costs.cells()}
    assert cell == {("yes", "no"): 1, ("no", "yes"): 2, ("yes", "yes"): 3, ("no", "no"): 4}


def test_gains_are_negative_costs():
    gains = CostMatrix.from_gains([[1, -2], [-3, 4]], rows="actual", labels=["a", "b"])
    assert gains.values.tolist() == [[-1, 3], [2, -4]]


def test_table_2_1_of_the_thesis_becomes_its_table_2_2():
    assert FRAUD.zero_diagonal().values.tolist() == [[0, 10], [101.5, 0]]


def test_zero_diagonal_follows_the_labels_not_the_positions():
    turned = CostMatrix(
        FRAUD.values[::-1], rows="predicted", labels=FRAUD.labels, decisions=FRAUD.labels[::-1]
    )
    assert turned.zero_diagonal().values.tolist() == [[101.5, 0], [0, 10]]


def test_zero_diagonal_needs_the_same_decisions_and_classes():
    costs = CostMatrix(
        [[0, 5], [9, 0], [1, 1]], rows="predicted", labels=[0, 1], decisions=[0, 1, "abstain"]
    )
    with pytest.raises(InputError, match=r"decisions: expected the same.*nonnegative\(\)"):
        costs.zero_diagonal()


@given(cost_matrices(extra_decisions=False))
def test_corollary_2_2_2(costs):
    zeroed, nonnegative = costs.zero_diagonal(), costs.nonnegative()
    assert not np.diag(zeroed.values).any()
    assert (nonnegative.values.min(axis=0) == 0).all()
    assert costs.equivalent_to(zeroed)
    assert costs.equivalent_to(nonnegative)


@given(cost_matrices(), st.floats(0.001, 1000), st.data())
def test_equivalent_means_column_constants_and_positive_scale(costs, scale, data):
    shift = data.draw(
        hnp.arrays(float, len(costs.labels), elements=st.floats(-1000, 1000).map(round))
    )

    def remade(values):
        return CostMatrix(values, rows="predicted", labels=costs.labels, decisions=costs.decisions)

    assert costs.equivalent_to(remade(scale * costs.values + shift))
    assume(np.ptp(costs.values, axis=0).max() > 1)
    assert not costs.equivalent_to(remade(-scale * costs.values))
    bumped = costs.values.copy()
    bumped[0, 0] += 0.01 * np.ptp(costs.values, axis=0).max()
    columns_that_matter = np.ptp(np.delete(costs.values, 0, axis=1), axis=0)
    if len(costs.labels) > 1 and columns_that_matter.max() > 1:
        assert not costs.equivalent_to(remade(bumped))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0, 1e10], [1, 0]], True),
        ([[7, 2e10], [9, 0]], True),
        ([[0, 1e10], [5, 0]], False),
        ([[0, 1e10], [0, 0]], False),
        ([[0, 0], [1, 0]], False),
        ([[1, 1e10], [0, 0]], False),
        ([[1e15, 1e10], [1e15, 0]], False),
    ],
)
def test_each_class_counts_however_small_its_costs(values, expected):
    costs = CostMatrix([[0, 1e10], [1, 0]], rows="predicted", labels=[0, 1])
    other = CostMatrix(values, rows="predicted", labels=[0, 1])
    assert costs.equivalent_to(other) is expected
    assert other.equivalent_to(costs) is expected


@given(st.data(), st.floats(0.001, 1000))
def test_equivalent_matrices_rank_classifiers_alike(data, scale):
    costs = data.draw(cost_matrices())
    first, second = data.draw(confusions(costs)), data.draw(confusions(costs))
    # Both classifiers predict the same examples, so the second gets the class totals of the first.
    counts = np.zeros(costs.values.shape, dtype=int)
    shares = second.counts / np.maximum(second.class_counts, 1)
    counts[:] = np.floor(shares * first.class_counts)
    counts[0] += first.class_counts - counts.sum(axis=0)
    second = type(first)(counts, costs.labels, costs.decisions)
    shift = data.draw(
        hnp.arrays(float, len(costs.labels), elements=st.floats(-1000, 1000, width=32))
    )
    moved = CostMatrix(
        scale * costs.values + shift,
        rows="predicted",
        labels=costs.labels,
        decisions=costs.decisions,
    )
    difference = expected_cost(first, costs) - expected_cost(second, costs)
    for other, factor in ((costs.nonnegative(), 1), (moved, scale)):
        assert costs.equivalent_to(other)
        assert other.equivalent_to(costs)
        theirs = expected_cost(first, other) - expected_cost(second, other)
        assert theirs == pytest.approx(factor * difference, rel=1e-6, abs=1e-6 * max(1, factor))


def test_equivalence_ignores_the_order_of_labels_but_not_their_names():
    turned = CostMatrix(FRAUD.values[::-1, ::-1], rows="predicted", labels=FRAUD.labels[::-1])
    assert FRAUD.equivalent_to(turned)
    assert not FRAUD.equivalent_to(FRAUD.relabel({"fraud": "theft"}))
    flat = CostMatrix([[1, 2], [1, 2]], rows="predicted", labels=FRAUD.labels)
    assert not FRAUD.equivalent_to(flat)
    assert flat.equivalent_to(flat.nonnegative())


@given(st.data())
def test_risk_and_decide_are_equation_2_3(data):
    costs = data.draw(cost_matrices())
    size = len(costs.labels)
    raw = data.draw(hnp.arrays(float, (5, size), elements=st.floats(0.01, 1)))
    proba = raw / raw.sum(axis=1, keepdims=True)
    risk = costs.risk(proba)
    for row in range(5):
        for i in range(len(costs.decisions)):
            by_hand = sum(proba[row, j] * costs.values[i, j] for j in range(size))
            assert risk[row, i] == pytest.approx(by_hand, rel=1e-9, abs=1e-6)
    slack = 1e-9 * np.abs(costs.values).max()
    for row, decision in enumerate(costs.decide(proba).tolist()):
        chosen = costs.decisions.index(decision)
        assert risk[row, chosen] <= risk[row].min() + slack


def test_ties_go_to_the_first_decision_even_after_rounding():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    tie = np.array([[10 / 11, 1 / 11]])
    assert costs.decide(tie).tolist() == [0]
    assert costs.decide(np.repeat(tie, 1000, axis=0)).tolist() == [0] * 1000
    turned = CostMatrix(costs.values[::-1], rows="predicted", labels=[0, 1], decisions=[1, 0])
    assert turned.decide(tie).tolist() == [1]


def test_a_large_cost_that_cannot_come_does_not_make_a_tie():
    costs = CostMatrix(
        [[0, 100, 1e15], [10, 0, 1e15], [50, 50, 0]], rows="predicted", labels=["a", "b", "c"]
    )
    assert costs.decide([[0.1, 0.9, 0], [1, 0, 0], [0.05, 0.05, 0.9]]).tolist() == ["b", "a", "c"]


@given(st.data())
def test_a_difference_beyond_rounding_is_never_a_tie(data):
    costs = data.draw(cost_matrices())
    raw = data.draw(hnp.arrays(float, (5, len(costs.labels)), elements=st.floats(0.01, 1)))
    proba = raw / raw.sum(axis=1, keepdims=True)
    risk = costs.risk(proba)
    slack = 1e-13 * (proba @ np.abs(costs.values).T)
    for row, decision in enumerate(costs.decide(proba).tolist()):
        chosen = costs.decisions.index(decision)
        assert risk[row, chosen] - slack[row, chosen] <= (risk + slack)[row].min()


SCIKIT = CostMatrix.from_errors(
    false_positive=1, false_negative=10, pos_label="fraud", neg_label="ok"
)
BY_LABELS = np.array([[0.95, 0.05], [0.5, 0.5], [0.2, 0.8]])  # ok, fraud


def test_labels_say_which_class_each_column_is():
    sorted_classes = np.array(["fraud", "ok"])  # the order of scikit-learn
    turned = BY_LABELS[:, ::-1]
    assert SCIKIT.decide(turned, labels=sorted_classes).tolist() == ["ok", "fraud", "fraud"]
    assert np.array_equal(SCIKIT.risk(turned, labels=sorted_classes), SCIKIT.risk(BY_LABELS))
    assert np.array_equal(SCIKIT.risk(BY_LABELS, labels=["ok", "fraud"]), SCIKIT.risk(BY_LABELS))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(BY_LABELS[:, ::-1], columns=["fraud", "ok"]),
        pl.DataFrame({"fraud": BY_LABELS[:, 1], "ok": BY_LABELS[:, 0]}),
        pa.table({"fraud": BY_LABELS[:, 1], "ok": BY_LABELS[:, 0]}),
        pd.DataFrame(BY_LABELS),  # default column numbers, so in the order of the labels
    ],
)
def test_columns_of_a_frame_are_matched_by_name(frame):
    assert np.array_equal(SCIKIT.risk(frame), SCIKIT.risk(BY_LABELS))
    assert SCIKIT.decide(frame).tolist() == ["ok", "fraud", "fraud"]


def test_numbers_and_their_texts_name_columns_alike():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    turned = costs.relabel({0: 1, 1: 0})
    for columns in (["1", "0"], [1, 0]):
        frame = pd.DataFrame(BY_LABELS[:, ::-1], columns=columns)
        assert np.array_equal(costs.risk(frame), costs.risk(BY_LABELS))
        assert costs.decide(frame, labels=[1, 0]).tolist() == costs.decide(BY_LABELS).tolist()
    assert np.array_equal(
        turned.risk(pd.DataFrame(BY_LABELS)), turned.risk(BY_LABELS, labels=[0, 1])
    )
    assert np.array_equal(
        SCIKIT.risk(pd.DataFrame(BY_LABELS[:, ::-1]), labels=["fraud", "ok"]),
        SCIKIT.risk(BY_LABELS),
    )


def test_probabilities_that_rounding_pushed_out_are_pushed_back():
    assert FRAUD.risk([[1.0000000000000002, -1e-17]]).tolist() == FRAUD.risk([[1, 0]]).tolist()
    with pytest.raises(InputError, match=r"between 0 and 1, got -1e-06 at position \[0, 1\]"):
        FRAUD.risk([[1.0, -1e-6]])


def test_table_2_4_of_the_thesis():
    y_true = [0, 1, 0, 0, 0, 1, 1, 0, 1, 1]
    first = np.array([0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
    second = np.array([0.35, 0.40, 0.65, 0.70, 0.72, 0.75, 0.77, 0.79, 0.80, 0.85])
    costs = CostMatrix([[0, 10], [1, 0]], rows="predicted", labels=[0, 1])
    from stakes import evaluate

    for scores, expected in ((first, 1.4), (second, 0.5)):
        decided = costs.decide(np.column_stack([1 - scores, scores]))
        assert evaluate(y_true, decided, costs).cost == pytest.approx(expected)
    assert evaluate(y_true, first >= 0.05, costs).cost == pytest.approx(0.4)


def test_abstaining_is_decided_when_it_is_cheapest():
    costs = CostMatrix(
        [[0, 10], [8, 0], [1, 1]],
        rows="predicted",
        labels=["a", "b"],
        decisions=["a", "b", "ask"],
    )
    assert costs.decide([[1, 0], [0.5, 0.5], [0.05, 0.95]]).tolist() == ["a", "ask", "b"]


def test_decisions_of_mixed_kinds_stay_what_they_are():
    costs = CostMatrix(
        [[0, 10], [8, 0], [1, 1]], rows="predicted", labels=[0, 1], decisions=[0, 1, "ask"]
    )
    assert costs.decide([[1, 0], [0.5, 0.5], [0.05, 0.95]]).tolist() == [0, "ask", 1]


def test_repr_and_html_say_which_side_is_predicted():
    assert "rows are predicted, columns are actual" in repr(FRAUD)
    html = FRAUD.relabel({"fraud": "<script>"})._repr_html_()
    assert "rows are predicted" in html
    assert "&lt;script&gt;" in html
    assert "<script>" not in html


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: CostMatrix([[0, 1], [5, 0]], labels=[0, 1]),
            InputTypeError,
            "rows: state what the rows.*got nothing",
        ),
        (
            lambda: CostMatrix([[0, 1], [5, 0]], rows="true", labels=[0, 1]),
            InputTypeError,
            "rows: .*got 'true'",
        ),
        (
            lambda: CostMatrix([[0, 1], [5, 0]], rows="actual", labels=["a", "a"]),
            LabelError,
            "labels: the label 'a' occurs twice.*position 1",
        ),
        (
            lambda: CostMatrix([[0, 1], [5, 0]], rows="actual", labels=["a", None]),
            LabelError,
            "labels: the label at position 1 is missing",
        ),
        (
            lambda: CostMatrix([[0, 1], [5, 0]], rows="actual", labels="ab"),
            InputTypeError,
            "labels: expected a sequence",
        ),
        (
            lambda: CostMatrix([[0, 1], [5, 0]], rows="actual", labels=[]),
            LabelError,
            "labels: expected at least one",
        ),
        (
            lambda: CostMatrix([[0, 1], [5, 0]], rows="actual", labels=[[1], [2]]),
            LabelError,
            "labels: the label at position 0 is .*cannot be a label",
        ),
        (
            lambda: CostMatrix([[0, np.nan], [5, 0]], rows="predicted", labels=["a", "b"]),
            InputError,
            "values: expected finite costs, got nan for predicting 'a' when it was 'b'",
        ),
        (
            lambda: CostMatrix([[0, np.inf], [5, 0]], rows="actual", labels=["a", "b"]),
            InputError,
            "got inf for predicting 'b' when it was 'a'.*a large one",
        ),
        (
            lambda: CostMatrix([[0, "x"], [5, 0]], rows="actual", labels=["a", "b"]),
            InputError,
            r"values: expected numbers, got 'x' \(str\) at position \[0, 1\]",
        ),
        (
            lambda: CostMatrix([["0", "1"], ["5", "0"]], rows="actual", labels=["a", "b"]),
            InputError,
            r"values: expected numbers, got '0' \(str\)",
        ),
        (
            lambda: CostMatrix([[0, 1], [5]], rows="actual", labels=["a", "b"]),
            InputError,
            "values: .*different lengths",
        ),
        (
            lambda: CostMatrix([0, 1], rows="actual", labels=["a", "b"]),
            InputError,
            r"values: expected a two-dimensional array, got one of shape \(2,\)",
        ),
        (
            lambda: CostMatrix([[0, 1, 2], [5, 0, 2]], rows="actual", labels=["a", "b"]),
            InputError,
            r"values: .*expected a matrix of shape \(2, 2\), got \(2, 3\)",
        ),
        (
            lambda: CostMatrix(None, rows="actual", labels=["a", "b"]),
            InputTypeError,
            "values: expected numbers, got None",
        ),
        (
            lambda: CostMatrix.from_errors(false_positive=1, false_negative=9, pos_label=0),
            LabelError,
            "occurs twice",
        ),
        (
            lambda: FRAUD.risk([[0.5, 0.4]]),
            InputError,
            "proba: .*sum to 1, those at position 0 sum to 0.9",
        ),
        (
            lambda: FRAUD.risk([[1, 0], [1.5, -0.5]]),
            InputError,
            "proba: expected probabilities between 0 and 1, got 1.5 at position .1, 0",
        ),
        (
            lambda: FRAUD.risk([[1, 0], [np.nan, 1]]),
            InputError,
            "proba: expected finite.*nan at position .1, 0",
        ),
        (lambda: FRAUD.risk([[0.2, 0.3, 0.5]]), InputError, "proba: expected 2 columns.*got 3"),
        (lambda: FRAUD.risk(np.empty((0, 2))), InputError, "proba: expected at least one example"),
        (lambda: FRAUD.risk([0.5, 0.5]), InputError, "proba: expected a two-dimensional"),
        (
            lambda: FRAUD.relabel({"frud": "x"}),
            LabelError,
            "names: 'frud' is not a label here.*Did you mean 'fraud'",
        ),
        (
            lambda: FRAUD.relabel({"fraud": 1}.__getitem__),
            LabelError,
            r"names: cannot rename the labels 'fraud', 'no fraud': KeyError\('no fraud'\)",
        ),
        (
            lambda: CostMatrix(pd.DataFrame([[0, 1], [5, 0]]), rows="actual", labels=[0, 1]),
            InputTypeError,
            r"values: .*got a data frame.*CostMatrix\.from_frame",
        ),
        (
            lambda: CostMatrix.from_gains(pl.DataFrame([[0, 1]]), rows="actual", labels=[0, 1]),
            InputTypeError,
            "values: .*got a data frame.*from_frame",
        ),
        (
            lambda: FRAUD.risk([[1, 0]], labels=["fraud", "okay"]),
            LabelError,
            "labels: expected the classes 'fraud', 'no fraud', .* got 'fraud', 'okay'",
        ),
        (
            lambda: FRAUD.risk(pd.DataFrame([[1, 0]], columns=["fraud", "okay"])),
            LabelError,
            "proba: expected columns named 'fraud', 'no fraud', .* got 'fraud', 'okay'",
        ),
        (
            lambda: FRAUD.decide(
                pd.DataFrame([[1, 0]], columns=["fraud", "no fraud"]), labels=["no fraud", "fraud"]
            ),
            LabelError,
            "labels: got the order 'no fraud', 'fraud', but the columns of proba",
        ),
        (
            lambda: FRAUD.equivalent_to([[0, 1], [5, 0]]),
            InputTypeError,
            "other: expected a CostMatrix, got a list",
        ),
        (
            lambda: CostMatrix.from_errors(false_positive="x", false_negative=1),
            InputError,
            "false_positive: expected numbers, got 'x'",
        ),
        (
            lambda: CostMatrix.from_errors(false_positive=1, false_negative=None),
            InputTypeError,
            "false_negative: expected numbers, got None",
        ),
        (
            lambda: CostMatrix.from_errors(
                false_positive=1, false_negative=1, true_positive=np.nan
            ),
            InputError,
            "true_positive: expected finite numbers, got nan",
        ),
        (
            lambda: CostMatrix.from_errors(
                false_positive=1, false_negative=1, true_negative=[1, 2]
            ),
            InputError,
            "true_negative: expected one number, got an array",
        ),
        (lambda: FRAUD.relabel(int), LabelError, "names: cannot rename the labels 'fraud'"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
