"""The same rules for labels and for the places of rows, for all forms of predictions."""

import csv
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from stakes import Confusion, CostMatrix, evaluate
from stakes._core.labels import LabelMatcher, as_meant, number_in
from stakes.errors import LabelError
from stakes.predictions import Columns
from stakes.study import study_of, study_of_files

ARRAYS = {
    "list": list,
    "numpy": np.array,
    "numpy objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow": pa.array,
}


class Quiet:
    """Takes what it is told of the progress."""

    def expect(self, steps):
        """Take no notice."""

    step = expect

    def reach(self, done, total, text):
        """Take no notice."""


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["actual", "m"], *rows])


def write_jsonl(path, rows):
    lines = [json.dumps({"actual": one, "m": other}) for one, other in rows]
    path.write_text("\n\n".join(lines) + "\n")  # line numbers include blank lines


def table(rows):
    return pa.table({"actual": [one for one, _ in rows], "m": [other for _, other in rows]})


def write_feather(path, rows):
    feather.write_feather(table(rows), str(path))


def write_parquet(path, rows):
    parquet.write_table(table(rows), path)


# For each file: its writer, and the place of a row as messages state it.
FILES = {
    "a.csv": (write_csv, lambda row: f"a.csv, line {row + 2}"),
    "a.jsonl": (write_jsonl, lambda row: f"a.jsonl, line {2 * row + 1}"),
    "a.parquet": (write_parquet, lambda row: f"a.parquet, row {row + 1}"),
    "a.arrow": (write_feather, lambda row: f"a.arrow, row {row + 1}"),
}


def file_study(path, costs):
    columns = Columns(actual="actual", models=["m"])
    return study_of_files([str(path)], costs, columns, Quiet(), with_scores=False)


def costs(labels):
    return CostMatrix([[0, 7], [2, 0]], rows="predicted", labels=labels)


# Labels of the costs; decisions; whether arrays accept them; and whether a note explains the
# reading of a file with types, and of a file of text.
CASES = {
    "numbers": ((0, 1), [0, 1, 1], True, False, False),
    "floats": ((0, 1), [0.0, 1.0, 1.0], True, False, True),
    "booleans as numbers": ((0, 1), [False, True, True], True, False, None),
    "text as numbers": ((0, 1), ["0", "1", "1"], False, True, False),
    "text of floats as numbers": ((0, 1), ["0.0", "1.0", "1.0"], False, True, True),
    "numbers as text": (("0", "1"), [0, 1, 1], False, True, False),
    "floats as labels": ((0.0, 1.0), [0, 1, 1], True, False, True),
    "text as labels that are floats": ((0.0, 1.0), ["0", "1", "1"], False, True, True),
    "text of floats as labels": (("0.0", "1.0"), ["0", "1", "1"], False, True, True),
    "numbers as text of floats": (("0.0", "1.0"), [0, 1, 1], False, True, True),
    "other spellings of fractions": ((0.5, 1.5), ["0.50", "1.500", "1.5"], False, True, True),
    "fractions as other text": (("0.50", "1.50"), [0.5, 1.5, 1.5], False, True, True),
    "text": (("no", "yes"), ["no", "yes", "yes"], True, False, False),
    "text with spaces": (("no", "yes"), ["no ", " yes", "yes"], False, False, False),
    "zeros in front are another label": ((0, 1), ["0", "01", "1"], False, None, None),
    "another label": (("no", "yes"), ["no", "yes", "maybe"], False, None, None),
}

# Index of the first row that files refuse.
WRONG = {
    "booleans as numbers": 0,
    "zeros in front are another label": 1,
    "another label": 2,
}


@pytest.mark.parametrize("form", ARRAYS)
@pytest.mark.parametrize("case", CASES)
def test_arrays_compare_labels_as_python_does(case, form):
    labels, decided, taken, *_ = CASES[case]
    matrix, actual = costs(labels), [labels[0], labels[1], labels[0]]
    y_pred = ARRAYS[form](decided)
    if taken:
        expected = evaluate(actual, y_pred, matrix)
        assert expected.cost == pytest.approx(2 / 3)
        assert study_of(actual, {"m": y_pred}, matrix).estimate("m").cost == expected.cost
        return
    with pytest.raises(
        LabelError, match=r"^y_pred: the label .* at position \d(?: \(the first of \d\))? is"
    ) as one:
        evaluate(actual, y_pred, matrix)
    with pytest.raises(LabelError) as other:
        study_of(actual, {"m": y_pred}, matrix)
    assert str(other.value) == str(one.value).replace("y_pred:", "y_pred['m']:", 1)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
@pytest.mark.parametrize("case", CASES)
def test_frames_compare_labels_as_python_does(case, frame):
    labels, decided, taken, *_ = CASES[case]
    rows = frame({"actual": [labels[0], labels[1], labels[0]], "m": decided})

    def count():
        return Confusion.from_frame(rows, actual="actual", predicted="m", labels=labels)

    if taken:
        assert count().counts.tolist() == [[1, 0], [1, 1]]
    else:
        with pytest.raises(LabelError, match=r"column 'm': the label .* is not among"):
            count()


@pytest.mark.parametrize("many", [False, True], ids=["one file", "a folder"])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("case", CASES)
def test_files_let_text_stand_for_numbers_and_say_so(case, name, many, tmp_path, monkeypatch):
    labels, decided, _, typed, text = CASES[case]
    noted = text if name == "a.csv" else typed
    monkeypatch.chdir(tmp_path)
    write, place = FILES[name]
    path = tmp_path / "folder" / name if many else tmp_path / name
    path.parent.mkdir(exist_ok=True)
    actual = [labels[0], labels[1], labels[0]]
    write(path, list(zip(actual, decided, strict=True)))
    source = "folder" if many else name
    if noted is None:
        with pytest.raises(LabelError) as error:
            file_study(source, costs(labels))
        message = str(error.value).removeprefix("folder/")
        assert message.startswith(f"{place(WRONG[case])}, column 'm': ")
        return
    study = file_study(source, costs(labels))
    assert study.estimate("m").cost == pytest.approx(2 / 3)
    notes = [note for note in study.notes if "is read as" in note]
    assert bool(notes) == noted
    if noted:
        value = str(decided[0]) if name == "a.csv" else decided[0]
        assert notes[-1].startswith(f"In the column 'm', {value!r} is read as {labels[0]!r}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("actual,m\nno,no\nno,?\n", 3),
        ("\n\nactual,m\nno,no\n\nno,?\n", 6),
        ('note,actual,m\n"a\nb",no,no\n"c\n\nd",no,?\n', 4),
        ('"no\nte",actual,m\nx,no,no\nx,no,?\n', 4),
        ("actual;m\r\nno;no\r\nno;?\r\n", 3),
        ("\ufeffactual\tm\nno\tno\nno\t?", 3),
    ],
    ids=["plain", "blank lines", "quoted lines", "quoted header", "CRLF", "BOM"],
)
@pytest.mark.parametrize("many", [False, True], ids=["one file", "a folder"])
def test_a_line_is_the_one_that_an_editor_shows(text, line, many, tmp_path):
    path = tmp_path / "folder" / "a.csv"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    with pytest.raises(LabelError, match=rf"a\.csv, line {line}, column 'm': '\?' is not one"):
        file_study(path.parent if many else path, costs(("no", "yes")))


def test_missing_values_are_no_labels():
    for cells in ("values", "typed", "text"):
        matcher = LabelMatcher(("None", "nan", "ok"), cells)
        assert [matcher.find(value) for value in (None, float("nan"), "ok")] == [-1, -1, 2]
        assert not matcher.readings
    assert LabelMatcher((0, 1), "text").find(" ") == -1


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("1", 1),
        (" 1.0 ", 1),
        ("-1.00", -1),
        ("0.50", 0.5),
        (".5", 0.5),
        ("-.5", -0.5),
        (".0", 0),
        ("9007199254740993", 2**53 + 1),
        (2.0, 2),
        (np.float64(2), 2),
    ],
)
def test_what_reads_as_a_number(value, number):
    assert number_in(value) == number


@pytest.mark.parametrize(
    "value",
    [
        *("", "-", ".", "1.", "01", "00.5", "-0", "-0.0", "-.0", "+1", "1e3", "1_0", "1,5", "1 0"),
        *("1\n2", "٣", "²", "nan", "inf", "9" * 5000, True, None, (1,)),
    ],
)
def test_what_reads_as_no_number(value):
    assert number_in(value) is None


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (("01", "1"), {"01": 0, "1": 1, 1: 1, "1.0": 1, "001": -1}),
        (("01", "02"), {"01": 0, "1": -1, 1: -1}),
        (("1.1", "1.10"), {"1.1": 0, "1.10": 1, " 1.10": 1, 1.1: 0, "1.100": -1}),
        (("1", "1.0"), {"1": 0, "1.0": 1, 1: 0, "1.00": -1}),
        ((1, "1"), {1: 0, "1": 1, "1.0": -1}),
        ((2**53, 2**53 + 1), {str(2**53): 0, f"{2**53 + 1}.0": 1}),
        ((False, True), {"False": 0, "True": 1, "1": -1, 1: 1}),
    ],
)
def test_labels_that_look_alike_are_told_apart(labels, found):
    for cells in ("typed", "text"):
        matcher = LabelMatcher(labels, cells)
        assert {value: matcher.find(value) for value in found} == found


def test_classes_of_files_of_predictions_and_of_costs_are_read_alike(tmp_path):
    for texts in (
        ["0", "1"],
        ["0.0", "1.0"],
        ["0", "1.00"],
        ["01", "1"],
        ["0.5", "1"],
        ["1.1", "1.10"],
        ["False", "True"],
        ["1", "a"],
    ):
        path = tmp_path / "costs.csv"
        one, other = texts
        path.write_text(f"predicted\\actual,{one},{other}\n{one},0,7\n{other},2,0\n")
        labels = CostMatrix.read(path).labels
        assert labels == as_meant(texts)
        assert [*map(type, labels)] == [*map(type, as_meant(texts))]


@pytest.mark.parametrize("cells", [("0", "1"), ("0.0", "1.0"), ("0", "1.00")])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("costs.json", '{"rows": "predicted", "labels": [0.0, 1.0], "values": [[0, 7], [2, 0]]}'),
        ("costs.json", '{"rows": "predicted", "labels": ["0.0", "1"], "values": [[0, 7], [2, 0]]}'),
        ("costs.csv", "predicted\\actual,0.0,1.0\n0,0,7\n1,2,0\n"),
        ("costs.csv", "predicted\\actual,0,1\n0.0,0,7\n1.0,2,0\n"),
    ],
)
def test_costs_and_predictions_may_spell_numbers_differently(name, text, cells, tmp_path):
    (tmp_path / name).write_text(text)
    no, yes = cells
    write_csv(tmp_path / "a.csv", [(no, no), (yes, yes), (no, yes), (yes, no)] * 3)
    study = study_of_files(  # the column of decisions is recognised by its labels
        [str(tmp_path / "a.csv")],
        CostMatrix.read(tmp_path / name),
        Columns(actual="actual"),
        Quiet(),
        with_scores=False,
    )
    assert study.estimate("m").cost == pytest.approx((2 + 7) / 4)


def test_columns_with_the_same_readings_share_a_note(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("actual,m,k,j\n1,1.0,0.0,1\n0,0.0,1.0,0.0\n")
    columns = Columns(actual="actual", models=["m", "k", "j"])
    study = study_of_files([str(path)], costs([0, 1]), columns, Quiet(), with_scores=False)
    notes = [note for note in study.notes if "is read as" in note]
    assert notes == [
        "In the columns 'm' and 'k', '1.0' is read as 1 and '0.0' as 0.",
        "In the column 'j', '0.0' is read as 0.",
    ]
