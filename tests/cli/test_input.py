"""Options for messy files, and for names in the results."""

import json

import openpyxl
import pytest

from stakes.predictions import files
from stakes.read.csv_file import CsvFile

ROWS = [
    ["y", "pred_a", "pred_b"],
    *[[0, 0, 0]] * 30, *[[0, 1, 0]] * 6, *[[1, 1, 1]] * 18, *[[1, 0, 1]] * 3, *[[1, 0, 0]] * 3,
]  # fmt: skip
COMMON = ("--fp", "1", "--fn", "5")


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


@pytest.fixture
def csv_file(folder):
    """Write the rows as CSV and return the name of the file."""
    text = "".join(",".join(map(str, row)) + "\n" for row in ROWS)
    (folder / "rows.csv").write_text(text)
    return "rows.csv"


def test_a_workbook_gives_what_the_csv_file_gives(stakes, folder, csv_file):
    workbook(folder / "rows.xlsx", only=ROWS)
    workbook(folder / "two.xlsx", January=ROWS, February=ROWS[:20])
    expected = stakes("evaluate", csv_file, *COMMON)
    assert expected.code == 0
    found = stakes("evaluate", "rows.xlsx", *COMMON)
    assert found.out.replace("rows.xlsx", csv_file) == expected.out
    refused = stakes("evaluate", "two.xlsx", *COMMON)
    assert refused.code == 2
    assert "two.xlsx#January" in refused.err
    named = stakes("evaluate", "two.xlsx#January", *COMMON)
    assert named.out.replace("two.xlsx#January", csv_file) == expected.out
    assert "no sheet 'March'" in stakes("evaluate", "two.xlsx#March", *COMMON).err
    (folder / "broken.xlsx").write_bytes(b"PK no workbook")
    assert "cannot be read as a workbook" in stakes("evaluate", "broken.xlsx", *COMMON).err


def test_cells_of_a_workbook_may_be_of_several_types(stakes, folder):
    workbook(folder / "mixed.xlsx", only=[["y", "pred"], [0, "0"], [1, 1], [None, None], [0, 0]])
    found = stakes("evaluate", "mixed.xlsx", *COMMON)
    assert found.code == 0, found.err
    assert "3 examples" in found.out


def test_classes_have_the_names_that_people_know(stakes, folder, csv_file):
    plain = stakes("report", csv_file, *COMMON, "--json", "a.json", "--class-priors", "1=0.02")
    assert plain.code == 0, plain.err
    found = stakes(
        "report", csv_file, *COMMON, "--names", "0=repaid,1=default", "--json", "b.json",
        "--class-priors", "1=0.02", "--title", "Loans <2026>", "--noun", "applicants",
    )  # fmt: skip
    assert found.code == 0, found.err
    assert "98% 'repaid'" in found.out
    page = (folder / "report.html").read_text()
    assert '<h1 class="name">Loans &lt;2026&gt;</h1>' in page
    assert "60 applicants" in page
    from json import loads

    one, other = (loads((folder / f"{name}.json").read_text()) for name in "ab")
    assert other["data"]["labels"] == ["repaid", "default"]
    assert other["data"]["pos_label"] == "default"
    assert [each["cost"] for each in one["models"]] == [each["cost"] for each in other["models"]]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("0", "expected a name for each class"),
        ("0=a,0=b", "the class '0' occurs twice"),
        ("0=same,1=same", "two classes would be called the same"),
        ("7=seven", "expected one of 0, 1, got '7'"),
    ],
)
def test_names_that_cannot_be_are_refused(stakes, csv_file, names, says):
    found = stakes("evaluate", csv_file, *COMMON, "--names", names)
    assert found.code == 2
    assert says in found.err
    assert "--names" in found.err


def test_one_share_of_two_classes_is_enough(stakes, csv_file):
    one = stakes("evaluate", csv_file, *COMMON, "--class-priors", "1=0.02")
    both = stakes("evaluate", csv_file, *COMMON, "--class-priors", "0=0.98,1=0.02")
    assert one.code == 0, one.err
    assert one.out == both.out
    wrong = stakes("evaluate", csv_file, *COMMON, "--class-priors", "1=1.5")
    assert (wrong.code, "from 0 to 1" in wrong.err) == (2, True)


def test_columns_that_are_not_named_are_not_read(stakes, folder, monkeypatch):
    """Of classes 0 and 1 a column such as V10 might be a probability, if V11's sister were V10."""
    rows = [f"{i % 2},{int(i % 5 == 0)},{i % 7 / 7},{i},{i % 3}" for i in range(60)]
    (folder / "wide.csv").write_text("\n".join(["y,m,m_score,V10,V20", *rows]) + "\n")
    read, whole = [], CsvFile.table
    monkeypatch.setattr(CsvFile, "table", lambda *given: read.append(given[1:]) or whole(*given))
    asked = ["-q", "evaluate", "wide.csv", "--fp", "1", "--fn", "5", "--pos-label", "1"]
    named = [*asked, "--actual", "y", "-m", "m", "-s", "m_score"]
    assert stakes(*named, "--json", "named.json").code == 0
    assert read == [(["y", "m", "m_score"],)]
    monkeypatch.setattr(files, "_needed", lambda _: None)
    assert stakes(*named, "--json", "all.json").code == 0
    assert read[1:] == [()]
    assert (folder / "named.json").read_bytes() == (folder / "all.json").read_bytes()


def test_decisions_and_scores_are_paired_by_a_name(stakes, folder):
    rows = [f"{i % 2},{int(i % 5 == 0)},{i % 7 / 7},{i % 11 / 11}" for i in range(60)]
    path = folder / "wide.csv"
    path.write_text("\n".join(["y,old_decisions,new_scores,points 2", *rows]) + "\n")
    asked = [
        "evaluate",
        "wide.csv",
        "--fp",
        "1",
        "--fn",
        "5",
        "--pos-label",
        "1",
        "--json",
        "a.json",
    ]

    def models(*named):
        said = stakes(*asked, *named)
        assert said.code == 0, said.err
        notes = json.loads((folder / "a.json").read_text())["data"]["notes"]
        return [each for each in notes if each.startswith("The model ") and " has its " in each]

    assert models("-m", "old_decisions", "-s", "new_scores") == [
        "The model 'old' has its decisions in 'old_decisions'.",
        "The model 'new' has its scores in 'new_scores'.",
    ]
    assert models("-m", "a=old_decisions", "-s", "a=points 2", "-s", "b=new_scores") == [
        "The model 'a' has its decisions in 'old_decisions' and its scores in 'points 2'.",
        "The model 'b' has its scores in 'new_scores'.",
    ]
    said = stakes(*asked, "-m", "a=old_decisions", "-m", "a=y")
    assert said.code == 2
    assert "--model: the model 'a' has two columns here" in said.err
    path.write_text(path.read_text().replace("old_decisions", "a=old_decisions"))
    assert models("-m", "a=old_decisions") == [
        "The model 'a=old' has its decisions in 'a=old_decisions'."
    ]
    assert stakes("costs", "template", "wide.csv", "--out", "c.csv", "-m", "a=points 2").code == 0


def test_columns_that_may_be_models_are_named_and_stop_a_gate(stakes, folder):
    rows = [f"{i % 2},{int(i % 5 == 0)},{i % 3 % 2},{i % 2},{i % 100}" for i in range(600)]
    (folder / "wide.csv").write_text("\n".join(["y,pred_old,python,sex,risk_full", *rows]) + "\n")
    asked = ["wide.csv", "--fp", "1", "--fn", "5", "--pos-label", "1"]
    said = " ".join(stakes("evaluate", *asked).err.split())
    assert (
        "Not judged: sex (it is named as a feature, and has the values of the classes), python (it "
        "could be a model's decisions or a feature), risk_full (it has numbers from 0 to 99, no "
        "probabilities; its name may be that of a model). If one is a model, name all models with "
        "--model or --score."
    ) in said
    gate = stakes("compare", *asked, "--baseline", "old", "--gate")
    assert gate.code == 2
    assert "could not judge 'python': it could be a model's decisions or a feature" in gate.err
    assert (
        stakes("compare", *asked, "--baseline", "old", "-m", "pred_old", "-m", "python").code == 0
    )
