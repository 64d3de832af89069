"""No command overwrites an input, whatever the option and the name of the output."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest
from _helpers.commands import INPUTS, OUTPUTS, all_commands

NO_FILES = {
    *("CLASS", "CLASSES", "COLUMN", "COLUMN COLUMN", "COLUMNS", "HOW", "NAME", "NAMES", "PERIOD"),
    *("POLICY", "SHARES", "SQL", "TEXT", "TIME", "UNIT", "WHICH", "WORD"),
}
"""Metavariables of options that take text, but no file."""

EVALUATE = ("-q", "evaluate")
POLICIES = ("-c", "costs.csv", "-m", "tree", "-s", "tree_score")


def takes_text(parameter):
    kind = str(parameter.type_descriptor.annotation)
    return "str" in kind or "Path" in kind


COMMANDS = all_commands()
PAIRS = [
    (name, read.name, written.name)
    for name, made in COMMANDS.items()
    for read in made.params
    for written in made.params
    if read.name in INPUTS and written.name in OUTPUTS
]


def test_of_every_option_it_is_known_whether_it_names_a_file():
    """A new option is an input, an output, or takes something that is known to be no file."""
    unknown = {
        f"{name} {each.opts[0]} {each.metavar}"
        for name, made in COMMANDS.items()
        for each in made.params
        if takes_text(each) and each.name not in INPUTS | OUTPUTS
        if each.metavar not in NO_FILES
    }
    assert unknown == set()


def words_of(parameter, value):
    return [value] if parameter.param_type_name == "argument" else [parameter.opts[0], value]


@pytest.mark.parametrize(("name", "read", "written"), PAIRS)
def test_no_output_may_be_an_input(name, read, written, stakes, folder):
    arguments = name.split()
    for each in COMMANDS[name].params:
        if each.name in (read, written):
            arguments += words_of(each, "same.csv")
        elif each.required:
            values = {"n_labels": "5"}
            arguments += words_of(each, values.get(each.name, f"{each.name}.csv"))
    content = (folder / "predictions.csv").read_bytes()
    (folder / "same.csv").write_bytes(content)
    said = stakes(*arguments)
    assert said.code == 2
    assert said.err == "stakes: same.csv: this is an input; it would be overwritten.\n"
    assert (folder / "same.csv").read_bytes() == content


def refused(said, name):
    assert said.code == 2
    assert f"stakes: {name}: this is an input; it would be overwritten." in said.err
    return True


def test_other_names_of_an_input(stakes, folder):
    content = (folder / "predictions.csv").read_bytes()
    (folder / "link.csv").symlink_to("predictions.csv")
    os.link(folder / "predictions.csv", folder / "hard.csv")
    (folder / "sub").mkdir()
    names = ("./predictions.csv", "sub/../predictions.csv", f"{folder}/predictions.csv")
    for one in ("predictions.csv", "link.csv", "hard.csv"):
        for other in ("link.csv", "hard.csv", *names):
            said = stakes(*EVALUATE, one, *POLICIES, "--json", other)
            assert refused(said, Path(other))
    assert (folder / "predictions.csv").read_bytes() == content


def parts(folder, where):
    where.mkdir(exist_ok=True)
    header, *rows = (folder / "predictions.csv").read_text().splitlines()
    for number in (1, 2):
        some = rows[number::2]
        (where / f"part-{number}.csv").write_text("\n".join([header, *some]) + "\n")


def test_the_files_of_a_pattern(stakes, folder):
    parts(folder, folder)
    before = (folder / "part-1.csv").read_bytes()
    for pattern in ("part-*.csv", "p*rt-[12].csv", "**/part-?.csv"):
        assert refused(stakes(*EVALUATE, pattern, *POLICIES, "--json", "part-1.csv"), "part-1.csv")
    (folder / "link.csv").symlink_to("part-2.csv")
    assert refused(stakes(*EVALUATE, "part-*.csv", *POLICIES, "--json", "link.csv"), "link.csv")
    assert (folder / "part-1.csv").read_bytes() == before
    assert stakes(*EVALUATE, "part-*.csv", *POLICIES, "--json", "a.json").code == 0


def test_a_folder_that_is_read_gets_no_further_files(stakes, folder):
    parts(folder, folder / "preds")
    (folder / "preds" / "sub").mkdir()
    (folder / "link").symlink_to("preds")
    before = sorted((folder / "preds").rglob("*"))
    for read in ("preds", "preds/", "link"):
        said = stakes(*EVALUATE, read, *POLICIES, "--json", "preds/part-1.csv")
        assert refused(said, "preds/part-1.csv")
        for name in ("preds/out.json", "link/out.json", "preds/sub/out.json"):
            said = stakes(*EVALUATE, read, *POLICIES, "--json", name)
            assert said.code == 2
            expected = f"stakes: {name}: it would be in the folder {read}, all files of which"
            assert said.err.startswith(expected)
    assert sorted((folder / "preds").rglob("*")) == before
    assert stakes(*EVALUATE, "preds", *POLICIES, "--json", "out.json").code == 0
    assert stakes(*EVALUATE, "preds/*.csv", *POLICIES, "--json", "preds/out.json").code == 0


def test_the_workbook_of_a_sheet(stakes, folder):
    book = openpyxl.Workbook()
    book.active.title = "Sheet"
    for line in (folder / "predictions.csv").read_text().splitlines():
        book.active.append(line.split(","))
    book.save(folder / "b.xlsx")
    before = (folder / "b.xlsx").read_bytes()
    for name in ("b.xlsx", "b.xlsx#Sheet"):
        assert refused(stakes(*EVALUATE, name, *POLICIES, "--json", "b.xlsx"), "b.xlsx")
    assert (folder / "b.xlsx").read_bytes() == before


def test_the_manifest_of_labels(stakes, folder, label_file):
    label_file(200, "labels.csv")
    manifest = folder / "labels.csv.manifest.json"
    before = manifest.read_bytes()
    said = stakes("-q", "audit", "read", "labels.csv", "--json", manifest.name)
    assert refused(said, manifest.name)
    said = stakes(
        *("-q", "audit", "more", "labels.csv", "rows.csv", "--labels", "20", "-o", "x.csv"),
        *("--json", manifest.name),
    )
    assert refused(said, manifest.name)
    shutil.copy(manifest, folder / "rows.csv.manifest.json")
    said = stakes(
        *("-q", "audit", "plan", "rows.csv.manifest.json", "-c", "costs.csv", "-m", "a"),
        *("--labels", "20", "-o", "rows.csv", "--force"),
    )
    assert refused(said, "rows.csv.manifest.json")
    assert manifest.read_bytes() == before


def test_a_manifest_alone_is_not_overwritten_either(stakes, folder, label_file):
    """The labels may be with those who give them."""
    label_file(200, "labels.csv")
    (folder / "labels.csv").unlink()
    before = (folder / "labels.csv.manifest.json").read_bytes()
    plan = "-q audit plan rows.csv -c costs.csv -m a -s score --id id --labels 20 -o labels.csv"
    said = stakes(*plan.split())
    assert said.code == 2
    assert "labels.csv.manifest.json: it exists, and labels may need it." in said.err
    assert (folder / "labels.csv.manifest.json").read_bytes() == before
    assert stakes(*plan.split(), "--force").code == 0


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="standard input has no name here")
def test_the_file_that_standard_input_is(folder):
    before = (folder / "predictions.csv").read_bytes()
    words = [*EVALUATE, "-", *POLICIES, "--json", "predictions.csv"]
    with (folder / "predictions.csv").open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "stakes", *words],
            cwd=folder,
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "predictions.csv: this is an input; it would be overwritten." in done.stderr
    assert (folder / "predictions.csv").read_bytes() == before


def test_devices_are_no_files_that_are_overwritten(stakes):
    said = stakes(*EVALUATE, "predictions.csv", *POLICIES, "--json", "/dev/null")
    assert (said.code, said.err) == (0, "")
