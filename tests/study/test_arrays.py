"""Studies of arrays agree with studies of a file with the same rows."""

import numpy as np
import pandas as pd
import pytest

from stakes import CostMatrix
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
