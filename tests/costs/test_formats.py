import csv
import io
import json

import pytest
from _helpers.strategies import cost_matrices
from hypothesis import HealthCheck, assume, given, settings

from stakes import CostMatrix
from stakes.errors import FileError, InputError, InputTypeError

COSTS = CostMatrix.from_errors(
    false_positive=10, false_negative=100, true_positive=-1.5, pos_label="fraud", neg_label="ok"
)


@pytest.fixture
def write(tmp_path):
    def write(name, text, encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "predicted\\actual,ok,fraud\nok,0,100\nfraud,10,-1.5\n",
        "actual\\predicted,ok,fraud\nok,0,10\nfraud,100,-1.5\n",
        "Predicted / Actual , ok , fraud\r\n ok , 0 , 1e2\r\n fraud , 10 , -1.5\r\n\r\n",
        "predicted\\actual;ok;fraud\nok;0;100\nfraud;10;-1.5\n",
        'predicted\\actual,"ok","fraud"\nok,0,100\nfraud,10,-1.5',
        "\n\r\n,,\npredicted\\actual,ok,fraud\nok,0,100\nfraud,10,-1.5\n",
        "\ufeffpredicted\\actual,ok,fraud\nok,0,100\nfraud,10,-1.5\n",
    ],
)
def test_csv_says_its_own_orientation(write, text):
    assert CostMatrix.read(write("costs.csv", text)) == COSTS


def test_decisions_keep_the_order_of_the_file(write, tmp_path):
    turned = CostMatrix(
        [[10, -1.5], [0, 100]],
        rows="predicted",
        labels=["ok", "fraud"],
        decisions=["fraud", "ok"],
    )
    text = "predicted\\actual,ok,fraud\nfraud,10,-1.5\nok,0,100\n"
    assert CostMatrix.read(write("costs.csv", text)) == turned
    assert CostMatrix.read(write("costs.json", json.dumps(turned.to_dict()))) == turned
    turned.write(tmp_path / "costs.cost")
    assert CostMatrix.read(tmp_path / "costs.cost", labels=["ok", "fraud"]) == COSTS


@pytest.mark.parametrize(
    "corner", ["predicted\\actual", '"predicted\\actual"', '"predicted / actual" ']
)
def test_the_character_after_the_corner_cell_separates(write, corner):
    path = write("costs.csv", f'{corner};"a,b";c\n"a,b";0;5\nc;1;0\n')
    costs = CostMatrix.read(path)
    assert costs.labels == ("a,b", "c")
    assert costs.values.tolist() == [[0, 5], [1, 0]]
    path = write("commas.csv", f'{corner},"a;b",c\n"a;b",0,5\nc,1,0\n')
    assert CostMatrix.read(path).labels == ("a;b", "c")


def test_tsv(write):
    text = "predicted\\actual\tok\tfraud\nok\t0\t100\nfraud\t10\t-1.5\n"
    assert CostMatrix.read(write("costs.tsv", text)) == COSTS


def test_rows_can_be_said_where_the_file_does_not(write):
    path = write("costs.csv", ",ok,fraud\nok,0,10\nfraud,100,-1.5\n")
    assert CostMatrix.read(path, rows="actual") == COSTS


def test_extra_decisions_stand_in_the_predicted_axis(write):
    path = write("costs.csv", "actual\\predicted,ok,fraud,ask\nok,0,10,1\nfraud,100,0,2\n")
    costs = CostMatrix.read(path)
    assert costs.decisions == ("ok", "fraud", "ask")
    assert costs.values.tolist() == [[0, 100], [10, 0], [1, 2]]


def test_decisions_may_be_other_things_than_classes(write):
    path = write("costs.csv", "predicted\\actual,good,bad\nlend,0,100\nrefuse,10,0\n")
    assert CostMatrix.read(path).decisions == ("lend", "refuse")


def test_whole_numbers_are_numbers_unless_the_labels_say_text(write):
    path = write("costs.csv", "predicted\\actual,0,1\n0,0,5\n1,1,0\nask,2,2\n")
    assert CostMatrix.read(path).decisions == (0, 1, "ask")
    assert CostMatrix.read(path, labels=["0", "1"]).decisions == ("0", "1", "ask")
    more = write("more.csv", "predicted\\actual,0,1\n0,0,5\n1,1,0\n2,2,2\n")
    assert CostMatrix.read(more).decisions == (0, 1, 2)
    assert CostMatrix.read(more, labels=[0, 1]).decisions == (0, 1, 2)
    assert CostMatrix.read(more, labels=["0", "1"]).decisions == ("0", "1", "2")
    padded = write("padded.csv", "predicted\\actual,00,01\n00,0,5\n01,1,0\n")
    assert CostMatrix.read(padded).labels == ("00", "01")


def test_whole_numbers_are_numbers_however_they_are_spelt(write):
    points = write("points.csv", "predicted\\actual,1.0,2.0\n1,0,5\n2.00,1,0\n3.0,2,2\nask,2,2\n")
    costs = CostMatrix.read(points)
    assert costs.labels == (1, 2)
    assert costs.decisions == (1, 2, 3, "ask")
    assert [type(label) for label in costs.decisions] == [int, int, int, str]
    assert CostMatrix.read(points, labels=[1, 2]) == costs
    assert CostMatrix.read(points, labels=[1.0, 2.0]) == costs
    texts = CostMatrix.read(points, labels=["1", "2"])
    assert texts.labels == ("1", "2")
    assert texts.decisions == ("1", "2", "3.0", "ask")
    twice = write("twice.csv", "predicted\\actual,1,1.0\n1,0,5\n1.0,1,0\n")
    with pytest.raises(FileError, match="the label 1 occurs twice"):
        CostMatrix.read(twice)


def test_decisions_spell_fractions_in_any_way_unless_the_spelling_tells_them_apart(write):
    path = write("a.csv", "predicted\\actual,0.50,1.5\n0.5,0,5\n1.500,1,0\n")
    assert CostMatrix.read(path).decisions == ("0.50", "1.5")
    assert CostMatrix.read(path, labels=[0.5, 1.5]).decisions == (0.5, 1.5)
    versions = write("b.csv", "predicted\\actual,1.1,1.10\n1.1,0,5\n1.10,1,0\n")
    assert CostMatrix.read(versions).decisions == ("1.1", "1.10")
    more = write("c.csv", "predicted\\actual,1.1,2.1\n1.1,0,5\n2.1,1,0\n1.10,2,2\n")
    assert CostMatrix.read(more).decisions == ("1.1", "2.1", "1.10")


def test_true_and_false_are_booleans(write):
    path = write("costs.csv", "predicted\\actual,True,False\nTrue,0,5\nFalse,1,0\nask,2,2\n")
    costs = CostMatrix.read(path)
    assert costs.labels == (True, False)
    assert [type(label) for label in costs.decisions] == [bool, bool, str]


def test_json(write):
    content = {"rows": "actual", "labels": ["ok", "fraud"], "values": [[0, 10], [100, -1.5]]}
    assert CostMatrix.read(write("costs.json", json.dumps(content))) == COSTS
    content["decisions"] = None
    assert CostMatrix.read(write("null.json", json.dumps(content))) == COSTS


@pytest.mark.parametrize(
    "text",
    [
        "% Rows\tColumns\n2\t2\n% Matrix elements\n0.0\t10.0\n100.0\t-1.5\n",
        "2 2\n0 10% the false alarm\n100 -1.5",
        "[0 10; 100 -1.5]",
        "[0, 10; 100, -1.5]\n",
        "[0 10; 100 -1.5;]",
        "% the old format\n0 1 10\n1 0 100% a miss\n1 1 -1.5\n",
    ],
)
def test_weka_has_the_actual_class_in_its_rows(write, text):
    assert CostMatrix.from_weka(text, ["ok", "fraud"]) == COSTS
    assert CostMatrix.read(write("a.cost", text), labels=["ok", "fraud"]) == COSTS


def test_wekas_old_format_costs_1_for_each_error_that_it_does_not_name():
    costs = CostMatrix.from_weka("0 2 7\n", ["a", "b", "c"])
    assert costs.values.T.tolist() == [[0, 1, 7], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(costs=cost_matrices())
def test_files_with_labels_are_read_back_without_being_told_them(tmp_path, suffix, costs):
    assume(suffix == ".json" or not isinstance(costs.labels[0], float))  # text looks no different
    path = tmp_path / f"costs{suffix}"
    costs.write(path)
    again = CostMatrix.read(path)
    assert again == costs
    for mine, theirs in ((costs.labels, again.labels), (costs.decisions, again.decisions)):
        assert [type(label) for label in mine] == [type(label) for label in theirs]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json"])
@pytest.mark.parametrize(
    ("labels", "decisions"),
    [
        (["a", "b", "c"], ["a", "b"]),
        (["a", "b"], ["b", "a"]),
        (["good", "bad"], ["lend", "refuse"]),
        ([0, 10], [0, 100]),
        ([0, 1], [2, 1, 0, "ask"]),
        (["a,b", 'c"d'], ["a,b", "e;f"]),
    ],
)
def test_any_decisions_are_read_back(tmp_path, suffix, labels, decisions):
    values = [[i + 10 * j for j in range(len(labels))] for i in range(len(decisions))]
    costs = CostMatrix(values, rows="predicted", labels=labels, decisions=decisions)
    costs.write(tmp_path / f"costs{suffix}")
    assert CostMatrix.read(tmp_path / f"costs{suffix}") == costs


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".cost"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(costs=cost_matrices(extra_decisions=False))
def test_what_is_written_is_read_back(tmp_path, suffix, costs):
    path = tmp_path / f"costs{suffix}"
    costs.write(path)
    again = CostMatrix.read(path, labels=costs.labels)
    assert again == costs
    assert [type(label) for label in again.labels] == [type(label) for label in costs.labels]
    assert [path.name for path in tmp_path.iterdir()] == [f"costs{suffix}"]


def test_extra_decisions_are_read_back(tmp_path):
    costs = CostMatrix(
        [[0, 5], [9, 0], [1, 2]], rows="predicted", labels=["a", "b"], decisions=["a", "b", "?"]
    )
    for suffix in (".csv", ".tsv", ".json"):
        costs.write(tmp_path / f"costs{suffix}")
        assert CostMatrix.read(tmp_path / f"costs{suffix}") == costs
    with pytest.raises(InputError, match="a Weka file has the same decisions and classes"):
        costs.write(tmp_path / "costs.cost")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.csv",
            "predicted\\actual,a,b\na,0,5\nb,1\n",
            r"a\.csv, line 3, column 3: expected 2 costs in this row, got 1",
        ),
        (
            "a.csv",
            "predicted\\actual,a,b\na,0,5,7\nb,1,0\n",
            r"a\.csv, line 2, column 4: expected 2 costs in this row, got 3",
        ),
        (
            "a.csv",
            "predicted\\actual,a,b\na,0,x\nb,1,0\n",
            r"a\.csv, line 2, column 3: expected a finite number as the cost, got 'x'",
        ),
        ("a.csv", "predicted\\actual,a,b\na,0,\nb,1,0\n", r"line 2, column 3: .*got ''"),
        ("a.csv", "predicted\\actual,a,b\na,0,nan\nb,1,0\n", r"line 2, column 3: .*got 'nan'"),
        ("a.csv", "predicted\\actual,a,b\na,0,inf\nb,1,0\n", r"line 2, column 3: .*got 'inf'"),
        (
            "a.csv",
            ",a,b\na,0,5\nb,1,0\n",
            r"a\.csv, line 1, column 1: it does not state what its rows.*predicted\\actual",
        ),
        ("a.csv", "costs,a,b\na,0,5\nb,1,0\n", "line 1, column 1: it does not state"),
        (
            "a.csv",
            "predicted\\actual,apple,pear\nappel,0,5\npear,1,0\n",
            r"line 1, column 2: the class 'apple' is not among the decisions.*Did you mean 'appel'",
        ),
        ("a.csv", "predicted\\actual,a,\na,0,5\nb,1,0\n", "line 1, column 3: a label is missing"),
        (
            "a.csv",
            "predicted\\actual,a,a\na,0,5\nb,1,0\n",
            r"a\.csv, line 1, column 3: the label 'a' occurs twice \(first in line 1, column 2\)",
        ),
        (
            "a.csv",
            "predicted\\actual,ok,fraud\nok,0,5\n\nfraud,1,0\nfraud,1,0\n",
            r"a\.csv, line 5, column 1: the label 'fraud' occurs twice \(first in line 4, ",
        ),
        (
            "a.csv",
            "predicted\\actual,ok,fraud\n\nok,0,x\nfraud,1,0\n",
            r"a\.csv, line 3, column 3: expected a finite number",
        ),
        ("a.csv", "", r"a\.csv: the file is empty"),
        ("a.csv", "\n\n", r"a\.csv: the file is empty"),
        ("a.csv", ",,\n,,\n", r"a\.csv: all cells are empty"),
        ("a.csv", "predicted\\actual,a,b\n", r"a\.csv: expected labels .* got 0 rows of 2 costs"),
        ("a.csv", "predicted\\actual\na\n", r"a\.csv: expected labels .* got 1 rows of 0 costs"),
        ("a.csv", f"predicted\\actual,{'x' * 200_000}\n", r"a\.csv, line 1: .*field limit"),
        (
            "a.csv",
            "\npredicted\\actual,a,b\na,0,x\nb,1,0\n",
            r"a\.csv, line 3, column 3: .*got 'x'",
        ),
        ("a.csv", 'predicted\\actual,"a\n",b\na,0,1\nb,x,0\n', r"line 4, column 2: .*got 'x'"),
        (
            "a.csv",
            "predicted\\actual,Yes,No\nyes,0,5\nno,1,0\n",
            r"a\.csv, line 1, column 2: the class 'Yes' is not .*decisions.*Did you mean 'yes'",
        ),
        (
            "a.csv",
            "actual\\predicted,no,fruad\nno,0,5\nfraud,1,0\n",
            r"a\.csv, line 3, column 1: the class 'fraud' is not .*Did you mean 'fruad'",
        ),
        ("a.json", "[" * 100_000, r"a\.json: nested too deeply"),
        (
            "a.json",
            f'{{"rows": "actual", "labels": [0], "values": [[{"9" * 400}]]}}',
            r"a\.json, values: .*numbers too large",
        ),
        ("a.json", "9" * 5000, r"a\.json: cannot be read as JSON: .*digits"),
        ("a.json", "{", r"a\.json, line 1, column 2: not JSON"),
        ("a.json", "[1]", r'a\.json: expected an object such as \{"rows"'),
        ("a.json", '{"rows": "predicted", "values": [[0]]}', "expected an object such as"),
        ("a.json", '{"labels": [0, 1], "values": [[0, 5], [1, 0]]}', r"a\.json: .*does not state"),
        (
            "a.json",
            '{"rows": "predicted", "labels": [0, 1], "values": [[0, "5"], [1, 0]]}',
            r"a\.json, values: expected numbers, got '5' \(str\) at position \[0, 1\]",
        ),
        (
            "a.json",
            '{"rows": "predicted", "labels": [0, 1], "values": [[0, 5], [1]]}',
            r"a\.json, values: .*different lengths",
        ),
        (
            "a.json",
            '{"rows": "sideways", "labels": [0, 1], "values": [[0, 5], [1, 0]]}',
            r"a\.json, rows: .*got 'sideways'",
        ),
        ("a.cost", "2 2\n0 5\n1 0\n", r"a\.cost, labels: a Weka file has no labels"),
        ("a.txt", "0", r"a\.txt: expected a name ending in \.csv"),
    ],
)
def test_bad_files_are_named_with_row_and_column(write, name, text, message):
    with pytest.raises(FileError, match=message) as raised:
        CostMatrix.read(write(name, text))
    assert str(raised.value).count(name) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 2\n0 5\n1\n", r"a\.cost, line 3, column 2: expected 2 costs in this row, got 1"),
        ("2 2\n0 5\n% a comment\n1 x\n", r"a\.cost, line 4, column 2: .*got 'x'"),
        ("2 2\n0 5\n", r"a\.cost: expected 2 rows of costs, one for each label, got 1"),
        ("% nothing\n", r"a\.cost: expected 2 rows of costs.*got 0"),
        ("3 3\n0 5\n1 0\n", r"a\.cost, line 1: expected .* 2 2 for 2 labels, got '3 3'"),
        ("2\n0 5\n1 0\n", r"a\.cost, line 1: expected .*got '2'"),
        ("0 5\n1 0\n", r"a\.cost, line 1: expected .*got '0 5'"),
        ("2 2\n0 log(a1)\n1 0\n", r"line 2, column 2: .*expressions are not .*ExampleCosts"),
        ("2 2\n0 'a1 * 2'\n1 0\n", r"line 2, column 2: .*expressions are not .*ExampleCosts"),
        ("2 2\n0 inf\n1 0\n", r"line 2, column 2: expected a finite number"),
        ("[0 1; 5 0", r"a\.cost, line 1: expected '\]'"),
        ("0 1 5\n0 1\n", r"a\.cost, line 2: expected three numbers.*got '0 1'"),
        ("0 2 5\n", r"a\.cost, line 1, column 2: expected the index .* from 0 to 1, got '2'"),
        ("0 1 x\n", r"a\.cost, line 1, column 3: .*got 'x'"),
        ("0 1 5\n0 1 6\n", r"a\.cost, line 2: the cost of 0 1 occurs twice"),
    ],
)
def test_bad_weka_files(write, text, message):
    with pytest.raises(FileError, match=message):
        CostMatrix.read(write("a.cost", text), labels=["a", "b"])


def test_labels_unknown_to_the_caller(write):
    csv = write("a.csv", "predicted\\actual,a,b\na,0,5\nb,1,0\n")
    with pytest.raises(FileError, match=r"a\.csv, line 1, column 3: the class 'b' is not among"):
        CostMatrix.read(csv, labels=["a", "c"])
    path = write("a.json", '{"rows": "predicted", "labels": [0, 1], "values": [[0, 5], [1, 0]]}')
    with pytest.raises(
        FileError, match=r"a\.json, labels: the class 1 is not among the labels: 0, 2"
    ):
        CostMatrix.read(path, labels=[0, 2])
    for file, labels in ((csv, ["a", "b", "c"]), (path, [0, 1, 2])):
        with pytest.raises(FileError, match=r"labels: the class ('c'|2) is not in the file"):
            CostMatrix.read(file, labels=labels)
    assert CostMatrix.read(csv, labels=["b", "a"]).labels == ("a", "b")


def test_rows_that_contradict_the_file(write):
    path = write("a.csv", "predicted\\actual,a,b\na,0,5\nb,1,0\n")
    with pytest.raises(
        FileError, match=r"column 1: its rows are predicted, got rows='actual'\. Leave out rows="
    ):
        CostMatrix.read(path, rows="actual")
    with pytest.raises(InputTypeError, match=r"rows: .*got 'sideways'"):
        CostMatrix.read(path, rows="sideways")
    weka = write("a.cost", "2 2\n0 5\n1 0\n")
    with pytest.raises(FileError, match=r"Weka file: its rows are actual, got rows='predicted'"):
        CostMatrix.read(weka, rows="predicted", labels=[0, 1])


def test_files_that_cannot_be_read_or_written(write, tmp_path):
    with pytest.raises(FileError, match=r"none\.csv: cannot be read: No such file"):
        CostMatrix.read(tmp_path / "none.csv")
    with pytest.raises(FileError, match=r"latin\.csv: expected UTF-8 text, got the byte 0xfc"):
        CostMatrix.read(write("latin.csv", "predicted\\actual,ü,b\n", encoding="latin-1"))
    with pytest.raises(FileError, match="cannot be written: No such file"):
        COSTS.write(tmp_path / "no folder" / "costs.csv")
    with pytest.raises(InputError, match=r"path: expected a name ending in \.csv"):
        COSTS.write(tmp_path / "costs.doc")
    with pytest.raises(InputTypeError, match="labels: a Weka file has no labels"):
        CostMatrix.from_weka("2 2\n0 5\n1 0", None)
    with pytest.raises(InputTypeError, match=r"text: expected the text of a Weka .*got None"):
        CostMatrix.from_weka(None, ["a", "b"])
    with pytest.raises(FileError, match=r"cannot be written: .*surrogates not allowed"):
        CostMatrix.zero_one(["\ud800", "b"]).write(tmp_path / "costs.csv")
    for path in (None, 3, b"costs.csv"):
        for call in (CostMatrix.read, COSTS.write):
            with pytest.raises(InputTypeError, match="path: expected the name of a file"):
                call(path)


def test_blank_lines_are_skipped_as_in_predictions(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("\npredicted\\actual,ok,fraud\n\nok,0,5\n  \nfraud,1,0\n\n")
    assert CostMatrix.read(path).values.tolist() == [[0, 5], [1, 0]]


def test_a_suggestion_for_a_class_of_a_file_shows_the_number(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("predicted\\actual,100,1000\n100,0,5\n1000,1,0\n")
    with pytest.raises(FileError, match=r"not among the labels: 100, 7\. Did you mean 100\?"):
        CostMatrix.read(path, labels=[100, 7])


FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "  =1",
    "'=1",
    "''-x",
    "\uff1d1",
    "-",
]
"""Class names that a spreadsheet would run as formulas, or that look marked as text already."""


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize("label", FORMULAS)
def test_no_cell_that_is_written_is_a_formula_and_each_is_read_back(tmp_path, label, suffix):
    costs = CostMatrix([[0, 7], [-3, 0]], rows="predicted", labels=["ok", label])
    path = tmp_path / f"costs.{suffix}"
    costs.write(path)
    text = path.read_bytes().decode()
    separator = {"csv": ",", "tsv": "\t"}[suffix]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    assert rows[0][2] == rows[2][0] == f"'{label}"
    assert rows[2][1] == "-3"
    read = CostMatrix.read(path)
    assert read.labels == ("ok", label)
    assert read == costs


@pytest.mark.parametrize("labels", [[-1, 1], ["-1", "+1"], ["'x", "a=b"]])
def test_numbers_and_other_texts_are_written_as_they_are(tmp_path, labels):
    path = tmp_path / "costs.csv"
    CostMatrix([[0, 7], [3, 0]], rows="predicted", labels=labels).write(path)
    header, *_ = csv.reader(path.read_text().splitlines())
    assert header[1:] == list(map(str, labels))
    assert CostMatrix.read(path, labels=labels).labels == tuple(labels)
