"""Studies of arrays agree with studies of a file with the same rows."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from stakes import CostMatrix, ExampleCosts, evaluate
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.findings import findings
from stakes.predictions import ArrowTable
from stakes.read.tables import read_table
from stakes.study import Study, study_of

COSTS = CostMatrix.from_errors(
    false_positive=2000, false_negative=40_000, pos_label="malignant", neg_label="benign"
)


def test_arrays_and_a_file_say_the_same():
    path = "examples/breast_cancer.csv"
    rows = pd.read_csv(path)
    names = ["logistic", "tree", "discriminant"]
    ours = study_of(
        rows["actual"],
        {name: rows[name].to_numpy() for name in names},
        COSTS,
        y_score={name: rows[f"{name}_score"].tolist() for name in names},
    )
    theirs = Study.from_table(ArrowTable.of_file(read_table(path)), COSTS)
    found, expected = findings(ours), findings(theirs)
    for part in ("models", "pairs", "curves", "verdict", "calibration"):
        assert getattr(found, part) == getattr(expected, part)


def test_numbers_and_scores_alone():
    actual = np.array([0, 1] * 50)
    study = study_of(
        actual, {}, {"false_positive": 1, "false_negative": 5}, y_score={"a": actual * 0.8 + 0.1}
    )
    assert study.names == ("a",)
    assert study.estimate("a").cost == 0


def test_bad_input():
    costs = {"false_positive": 1, "false_negative": 5}
    with pytest.raises(InputTypeError, match="y_pred: expected a mapping"):
        study_of([0, 1], [0, 1], costs)
    with pytest.raises(InputError, match="at least one model"):
        study_of([0, 1], {}, costs)
    with pytest.raises(InputError, match="different and not 'y_true'"):
        study_of([0, 1], {"y_true": [0, 1]}, costs)
    with pytest.raises(InputError, match=r"y_pred\['a'\] has 3"):
        study_of([0, 1], {"a": [0, 1, 1]}, costs)
    with pytest.raises(LabelError, match=r"y_pred\['a'\]: the label 'b' at position 1"):
        study_of([0, 1], {"a": np.array([0, "b"], dtype=object)}, costs)


KEYS, TURNED = [3, 1, 4, 5, 9, 2], [4, 2, 0, 5, 1, 3]
INDEXES = {
    "list": None,
    "numpy": None,
    "in order": KEYS,
    "permuted": [KEYS[place] for place in TURNED],
    "another": [13, 11, 14, 15, 19, 12],
    "duplicated": [3, 1, 4, 5, 9, 9],
}
ROWS = {
    "y_true": [0, 1, 0, 1, 1, 0],
    "y_pred": [0, 1, 1, 0, 1, 0],
    "score": [0.1, 0.9, 0.3, 0.4, 0.8, 0.2],
    "groups": [1, 2, 3, 1, 2, 3],
    "costs": [[0, 1], [10, 0], [0, 2], [20, 0], [30, 0], [0, 3]],
}


def given_as(form, values):
    """Return values as an argument; those in another order keep the keys of their rows."""
    if INDEXES[form] is None:
        return list(values) if form == "list" else np.array(values)
    rows = [values[place] for place in TURNED] if form == "permuted" else values
    kind = pd.DataFrame if isinstance(rows[0], list) else pd.Series
    return kind(rows, index=INDEXES[form])


def paired_by_hand(forms):
    """Return the rows as lists, paired by key or by position; None where neither is right."""
    listed = {name: given_as(form, ROWS[name]) for name, form in forms.items()}
    listed = {name: np.asarray(each).tolist() for name, each in listed.items()}
    orders = [INDEXES[form] for form in forms.values()]
    keys = [order for order in orders if order is not None]
    if all(order == keys[0] for order in keys):
        return listed
    if len(keys) < len(orders) or any(set(each) != set(KEYS) for each in keys):
        return None
    found = {}
    for (name, rows), order in zip(listed.items(), orders, strict=True):
        by_key = dict(zip(order, rows, strict=True))
        found[name] = [by_key[key] for key in keys[0]]
    return found


def study_and_estimate(rows):
    """Return a study and the estimate of `evaluate`; None for what is refused for its index."""
    costs = ExampleCosts(rows["costs"])
    calls = (
        lambda: study_of(
            rows["y_true"],
            {"m": rows["y_pred"]},
            costs,
            y_score={"m": rows["score"]},
            groups=rows["groups"],
        ),
        lambda: evaluate(
            rows["y_true"],
            rows["y_pred"],
            costs,
            groups=rows["groups"],
            sample_weight=rows["score"],
        ),
    )
    found = []
    for call in calls:
        try:
            found.append(call())
        except InputError as error:
            if "its index differs from that of" not in str(error):
                raise
            found.append(None)
    return found


@pytest.mark.parametrize("form", INDEXES)
def test_rows_are_paired_by_index_or_refused_as_evaluate_does(form):
    """All kinds of the other four arguments; scores are weights in `evaluate`, which has none."""
    names = [name for name in ROWS if name != "y_true"]
    for others in product(INDEXES, repeat=len(names)):
        forms = {"y_true": form, **dict(zip(names, others, strict=True))}
        rows = {name: given_as(each, ROWS[name]) for name, each in forms.items()}
        study, estimate = study_and_estimate(rows)
        by_hand = paired_by_hand(forms)
        assert (study is None, estimate is None) == (by_hand is None,) * 2, forms
        if by_hand is None:
            continue
        expected_study, expected_estimate = study_and_estimate(by_hand)
        assert study.joint == expected_study.joint, forms
        assert study.joint_scores == expected_study.joint_scores, forms
        assert study.examples == expected_study.examples, forms
        assert estimate.confusion == expected_estimate.confusion, forms
