"""stakes audit: plan labels, read them, and plan further labels."""

import csv
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _helpers.pages import commands, text_of

from stakes.read.checksums import checksum

ROWS = 4000
PLAN = "audit plan rows.csv -c costs.csv -m old --id id --labels 60 -o l.csv"
COSTS = "predicted\\actual,ok,fraud\nok,0,500\nfraud,5,0\n"


@pytest.fixture
def pool(folder):
    """Write decided rows, and return the class of each."""
    rng = np.random.default_rng(4)
    score = rng.beta(0.4, 8, ROWS).round(6)
    columns = {
        "id": list(range(100, 100 + ROWS)),
        "score": score.tolist(),
        "old": np.where(score > 0.05, "fraud", "ok").tolist(),
        "new": np.where(score > 0.03, "fraud", "ok").tolist(),
        "amount": rng.lognormal(3, 1, ROWS).round(2).tolist(),
    }
    (folder / "costs.csv").write_text(COSTS)
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    with (folder / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    actual = np.where(rng.random(ROWS) < score, "fraud", "ok").tolist()
    return dict(zip(map(str, columns["id"]), actual, strict=True))


def label(path, truth, leave=()):
    """Fill in the column of classes, as a person would."""
    with path.open() as file:
        header, *rows = list(csv.reader(file))
    for place, row in enumerate(rows):
        row[-1] = "" if place in leave else truth[row[0]]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return header, rows


def test_compare_two_models(stakes, folder, pool):
    plan = "audit plan rows.parquet -c costs.csv --compare old new -s score --id id --labels 80"
    said = stakes(*plan.split(), "-o", "to_label.csv", "--show", "amount")
    assert said.code == 0, said.err
    assert "rows on which both models agree need no label" in " ".join(said.out.split())
    assert "to_label.csv.manifest.json" in said.err
    header, rows = label(folder / "to_label.csv", pool)
    assert header == ["id", "amount", "actual"]
    assert len(rows) == 80
    said = stakes("audit", "read", "to_label.csv", "--json", "a.json", "--report", "a.html")
    assert said.code == 0, said.err
    found = json.loads((folder / "a.json").read_text())
    assert found["models"] == ["old", "new"]
    assert found["labels"] == 80
    assert found["low"] <= found["value"] <= found["high"]
    page = (folder / "a.html").read_text()
    assert found["text"].split(":")[0] in page
    assert "<script" not in page
    assert found["headline"] in page
    for each in found["strata"]:  # rows, labels, costly labels, and rows to label next
        row = re.search(
            rf'"name">{each["name"]}</span></th>(.*?)</tr>',
            page[page.index("strata-table") :],
            re.DOTALL,
        )
        values = [float(value) for value in re.findall(r'data-value="([^"]*)"', row[1])]
        assert values[:2] == [each["rows"], each["labels"]]
        assert ("no label needed" in row[1]) is not each["at_stake"]
    assert sum(each["next"] for each in found["strata"]) == 80
    assert "What to label next" in page
    assert "at random within each stratum, seed 0" in page
    # The same rows from a CSV file, and further labels of others.
    again = stakes(*plan.replace("parquet", "csv").split(), "-o", "again.csv")
    assert again.code == 0, again.err
    ids = [row[0] for row in rows]
    assert [line.split(",")[0] for line in (folder / "again.csv").read_text().split()[1:]] == ids
    more = stakes("audit", "more", "to_label.csv", "rows.csv", "--labels", 20, "-o", "more.csv")
    assert more.code == 0, more.err
    _, others = label(folder / "more.csv", pool)
    assert len(others) == 20
    assert not {row[0] for row in others} & set(ids)
    said = stakes("audit", "read", "more.csv", "--json", "-")
    assert json.loads(said.out)["labels"] == 100


def test_one_model(stakes, folder, pool):
    plan = "audit plan rows.csv -c costs.csv -m old -s score --id id --labels 100 -o l.csv"
    said = stakes(*plan.split(), "--show-decisions", "--looks", 2, "--json", "plan.json")
    assert said.code == 0, said.err
    assert json.loads((folder / "plan.json").read_text())["confidence"] == pytest.approx(0.975)
    with (folder / "l.csv").open() as file:
        assert next(csv.reader(file)) == ["id", "old", "actual"]
    label(folder / "l.csv", pool, leave=range(60, 100))
    said = stakes("audit", "read", "l.csv")
    assert said.code == 0, said.err
    assert "old costs" in said.out
    assert "40 rows of 100 not labelled yet" in said.out


def test_amounts_and_targets(stakes, folder, pool):  # noqa: ARG001 - its files
    amounts = "audit plan rows.csv --fp 5 --fn-column amount --pos-label fraud -m old --id id"
    said = stakes(*amounts.split(), "--labels", 200, "-o", "l.csv")
    assert said.code == 0, said.err
    assert "amount" in said.out
    said = stakes(*amounts.split(), "--target", 1.5, "-o", "m.csv", "--anytime")
    assert said.code == 0, said.err
    assert json.loads((folder / "m.csv.manifest.json").read_text())["anytime"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-c costs.csv -m old -o l.csv", "give one: how many labels"),
        ("-c costs.csv --labels 50 -o l.csv", "which column has the decisions"),
        ("-c costs.csv -m old --labels 9000 -o l.csv", "more than the 4,000 rows"),
        ("-c costs.csv -m nothing --labels 50 -o l.csv", "there is no column 'nothing'"),
        ("-m old --labels 50 -o l.csv", "costs are missing"),
        ("-c costs.csv -m old --labels 50 -o l.txt", "expected a name ending in .csv"),
        ("-c costs.csv -m old --labels 50 -o rows.csv", "this is an input"),
        ("--fp 1 --fn 2 -m old --labels 50 -o l.csv", "which class is the positive one"),
        ("--fp 1 --fn 2 --pos-label x -m old --labels 50 -o l.csv", "'x' among them"),
        ("-c costs.csv -m old -s new --labels 50 -o l.csv", "expected numbers"),
        ("-c costs.csv -m old --labels 1 -o l.csv", "--labels: expected a whole number, 2 or more"),
        ("-c costs.csv -m old --target 0.0001 -o l.csv", "--target: even 4,000 labels are"),
        ("-c costs.csv -m score --labels 50 -o l.csv", "--model: "),
        ("-c costs.csv -m old --labels 50 -o l.csv --show nope", "rows.csv: there is no column"),
        ("-c costs.csv -m old --id id --labels 50 -o l.csv --show id", "--show: the file has"),
    ],
)
def test_bad_plans(stakes, folder, pool, arguments, message):  # noqa: ARG001 - its files
    said = stakes("audit", "plan", "rows.csv", *arguments.split())
    assert said.code == 2
    assert message in " ".join(said.err.split())
    assert not (folder / "l.csv.manifest.json").exists()


class TestBadLabels:
    """What is wrong with a label file is said."""

    @pytest.fixture
    def labelled(self, stakes, folder, pool):
        said = stakes(*PLAN.split())
        assert said.code == 0, said.err
        label(folder / "l.csv", pool)
        return folder / "l.csv"

    def refused(self, stakes, message):
        said = stakes("audit", "read", "l.csv")
        assert said.code == 2
        assert message in " ".join(said.err.split())

    def test_rows(self, stakes, labelled):
        text = labelled.read_text()
        lines = text.splitlines()
        labelled.write_text("\n".join([*lines, lines[1]]))
        self.refused(stakes, "occurs twice")
        labelled.write_text("\n".join([*lines, "7,ok"]))
        self.refused(stakes, "was not drawn")
        labelled.write_text("\n".join([lines[0], *lines[2:]]))
        self.refused(stakes, "has no label, and later ones have")
        assert stakes("audit", "read", "l.csv", "--skipped", "random").code == 0
        labelled.write_text(text.replace(",ok", ",dunno", 1))
        self.refused(stakes, "'dunno' of row")
        labelled.write_text(text.replace("actual", "class"))
        self.refused(stakes, "no column 'actual'")
        labelled.write_text(text.replace(",ok", ",").replace(",fraud", ","))
        self.refused(stakes, "no row has a label yet")

    def test_spreadsheets(self, stakes, labelled):
        """What they do to a file without being asked changes nothing, or is refused."""
        expected = stakes("audit", "read", "l.csv").out
        header, *rows = labelled.read_text().splitlines()
        as_floats = [row.replace(",", ".0,") for row in rows]
        spaced = [row.replace(",", ', "').replace(', "', ',"') + '"' for row in rows]
        for lines in (
            [header, *as_floats],
            [header, *spaced],
            [header, *sorted(rows)],
            [header, *rows, "", ",", ","],
            [f"{header},note", *(f"{row},é" for row in rows)],
        ):
            for separator, end, mark in (",", "\n", ""), (";", "\r\n", "\ufeff"), ("\t", "\n", ""):
                text = end.join(lines).replace(",", separator)
                labelled.write_text(f"{mark}{text}{end}", encoding="utf-8", newline="")
                assert stakes("audit", "read", "l.csv").out == expected
        labelled.write_text("\n".join([header, *rows, rows[0].replace(",", ".0,")]))
        self.refused(stakes, "occurs twice")
        labelled.write_text("\n".join([header, *(f"00{row}" for row in rows)]))
        self.refused(stakes, "Spreadsheets may change identifiers")
        for nothing in ("NA", "?", "OK"):
            labelled.write_text(
                "\n".join([header, *rows[:-1], rows[-1].split(",")[0] + f",{nothing}"])
            )
            self.refused(stakes, "Leave the label empty where it is not known yet")

    def test_sorted_and_half_done(self, stakes, labelled):
        header, *rows = labelled.read_text().splitlines()
        some = [row if k < 30 else row.split(",")[0] + "," for k, row in enumerate(sorted(rows))]
        labelled.write_text("\n".join([header, *some]))
        self.refused(stakes, "has no label, and later ones have")

    def test_manifest(self, stakes, labelled, folder):  # noqa: ARG002 - its files
        manifest = folder / "l.csv.manifest.json"
        content = manifest.read_text()
        manifest.write_text(content.replace("500", "50"))
        self.refused(stakes, "was changed after it was written")
        manifest.write_text(content.replace("stakes-audit/1", "stakes-audit/2"))
        self.refused(stakes, "of the version 'stakes-audit/2'")
        for name in json.loads(content):
            changed = json.loads(content)
            del changed[name]
            changed.pop("checksum", None)
            manifest.write_text(json.dumps(changed | {"checksum": checksum(changed)}))
            if name not in ("stakes", "checksum"):
                self.refused(stakes, "manifest")
        manifest.unlink()
        self.refused(stakes, "l.csv.manifest.json")

    def test_another_pool_and_a_file_with_labels(self, stakes, labelled, folder):  # noqa: ARG002 - its files
        text = (folder / "rows.csv").read_text()
        (folder / "fewer.csv").write_text("\n".join(text.splitlines()[:-9]))
        more = ["audit", "more", "l.csv", "fewer.csv", "--labels", 10, "-o", "m.csv"]
        said = stakes(*more)
        assert said.code == 2
        assert "not the rows that the labels were planned for" in " ".join(said.err.split())
        assert "may hold labels" in stakes(*PLAN.split()).err
        assert stakes(*PLAN.split(), "--force").code == 0


@pytest.mark.parametrize("change", [{}, {"id": pa.string()}, {"score": pa.string()}])
def test_files_of_every_type_give_the_same_rows(stakes, folder, pool, change):  # noqa: ARG001 - its files
    table = pq.read_table(folder / "rows.parquet")
    for name, kind in change.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).cast(kind))
    pq.write_table(table, folder / "rows.parquet")
    plan = "-c costs.csv -m old -s score --id id --labels 60 --show amount"
    for name in ("csv", "parquet"):
        said = stakes("audit", "plan", f"rows.{name}", *plan.split(), "-o", f"{name}.csv")
        assert said.code == 0, said.err
    assert (folder / "csv.csv").read_text() == (folder / "parquet.csv").read_text()


def test_a_damaged_file(stakes, folder, pool):  # noqa: ARG001 - its files
    content = (folder / "rows.parquet").read_bytes()
    (folder / "rows.parquet").write_bytes(content[: len(content) // 2])
    said = stakes("audit", "plan", "rows.parquet", *PLAN.split()[3:])
    assert said.code == 2
    assert said.err.startswith("stakes: rows.parquet")


@pytest.mark.parametrize(
    "form", ["é😀{}", '="{}"', "-x{}", "'{}", "{:05d}", "a,{}", " {}", "{}.50"]
)
def test_identifiers_of_every_form(stakes, folder, form):
    """They come back from the label file as they went."""
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "old"])
        writer.writerows((form.format(k), "fraud" if k % 9 else "ok") for k in range(400))
    (folder / "costs.csv").write_text(COSTS)
    assert stakes(*PLAN.split()).code == 0
    with (folder / "l.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    with (folder / "l.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([rows[0], *([key, "ok"] for key, _ in rows[1:])])
    said = stakes("audit", "read", "l.csv")
    assert said.code == 0, said.err
    assert "60 labels" in said.out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("\n100,", "\n,"), "id: 1 rows have no identifier"),
        (("\n101,", "\n100,"), "id: the identifier 100 occurs in several rows"),
        (("\n100,", "\n100,nan"), "expected numbers"),
    ],
)
def test_bad_rows(stakes, folder, pool, change, message):  # noqa: ARG001 - its files
    text = (folder / "rows.csv").read_text()
    (folder / "rows.csv").write_text(text.replace(*change, 1))
    said = stakes(*PLAN.split(), "-s", "score")
    assert said.code == 2
    assert message in " ".join(said.err.split())


def test_the_commands_of_the_guide(stakes, folder, pool):
    for command in commands(text_of("docs/howto/audit.md")):
        said = stakes(*command.split()[1:])
        assert said.code == 0, said.err
        if "plan" in command:
            label(folder / "to_label.csv", pool)
    assert (folder / "audit.html").exists()
