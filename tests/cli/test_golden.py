"""Exact output of the commands, as stored; STAKES_WRITE_GOLDEN=1 rewrites the stored output."""

import json
import math
import os
import shlex
from pathlib import Path

import numpy as np
import pytest
from _helpers.once import forget

from stakes._core.text import csv_text

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "cli"
P, C = "breast_cancer.csv", "breast_cancer_costs.csv"
TWO = "-m tree -m logistic"

COMMANDS = {
    "evaluate": f"stakes evaluate {P} --costs {C}",
    "evaluate_one": f"stakes -q evaluate {P} -c {C} -m tree --method bcost --confidence 0.9",
    "evaluate_volume": f"stakes -q evaluate {P} -c {C} --volume 1e5 --per year --unit USD",
    "evaluate_inline": f"stakes evaluate {P} --fp 1 --fn 20 --pos-label malignant -s tree_score",
    "evaluate_priors": f"stakes -q evaluate {P} -c {C} --class-priors benign=0.99,malignant=0.01",
    "evaluate_designs": "stakes evaluate visits.csv -c costs.csv --groups patient --weight weight",
    "compare_caution": "stakes -q compare few.csv -c costs.csv -m old -m tree --groups patient",
    "compare": f"stakes -q compare {P} -c {C} --unit USD",
    "compare_gate": f"stakes -q compare {P} -c {C} --baseline logistic --gate",
    "compare_margin": f"stakes -q compare {P} -c {C} --baseline tree --margin 1500 --gate",
    "compare_failed": f"stakes -q compare {P} -c {C} --baseline tree --margin 100 --gate",
    "evaluate_scores": f"stakes evaluate scores.csv -c {C} --unit USD",
    "evaluate_decisions": f"stakes evaluate decisions.csv -c {C} --unit USD",
    "evaluate_mixed": f"stakes evaluate mixed.csv -c {C} --unit USD",
    "evaluate_margins": f"stakes -q evaluate margins.csv -c {C} --unit USD",
    "evaluate_prevalence": f"stakes -q evaluate scores.csv -c {C} "
    "--class-priors benign=0.99,malignant=0.01",
    "evaluate_validation": f"stakes -q evaluate scores.csv -c {C} --validation validation.csv",
    "evaluate_limits": f"stakes -q evaluate {P} -c {C} --max-fpr 0.1 --baseline tree",
    "evaluate_broken_limit": f"stakes -q evaluate {P} -c {C} --min-recall 0.99 --baseline tree",
    "compare_scores": f"stakes -q compare scores.csv -c {C} --unit USD",
    "compare_candidate": f"stakes -q compare {P} -c {C} --baseline tree --candidate logistic@0.3 "
    "--candidate tree@best --gate",
    "compare_unjudged": f"stakes -q compare capitals.csv -c {C} --baseline tree --gate",
    "curve": f"stakes -q curve {P} -c {C} --unit USD",
    "curve_decisions": f"stakes curve {P} --pos-label malignant -m tree -m logistic -s tree_score",
    "threshold": f"stakes -q threshold {P} -c {C} --unit USD",
    "threshold_limit": f"stakes -q threshold {P} --pos-label malignant --max-fpr 0.05 -m tree",
    "plan": f"stakes -q plan -c {C} --half-width 100",
    "plan_models": f"stakes -q plan {P} -c {C} --half-width 500",
    "plan_power": f"stakes -q plan {P} -c {C} --power 0.7",
    "plan_difference": f"stakes -q plan {P} -c {C} --difference 500 -m logistic -m tree",
    "audit_plan": f"stakes -q audit plan {P} -c {C} --compare tree logistic --labels 20 -o l.csv",
    "costs_check": f"stakes costs check {C}",
    "simulate_coverage": f"stakes simulate coverage {P} --costs {C} --repeats 200",
    "simulate_sizes": f"stakes -q simulate coverage {P} -c {C} -m tree --n 50 --n 500 --method t",
    "simulate_type_one": f"stakes -q simulate type-one {P} -c {C} {TWO} --repeats 200",
    "simulate_power": f"stakes -q simulate power {P} -c {C} {TWO} --repeats 100",
    "simulate_difference": f"stakes -q simulate power {P} -c {C} {TWO} --method normal "
    "--n 200 --difference 500 --difference 1500 --seed 1 --repeats 100",
}


@pytest.fixture
def examples(folder, drawn):
    """Copy the examples into the working folder, and write rows with groups and weights."""
    (folder / "visits.csv").write_text(drawn(200, 3))
    (folder / "few.csv").write_text(drawn(30, 3))
    for name in (P, C):
        (folder / name).write_bytes((ROOT / "examples" / name).read_bytes())
    write_kinds(folder)
    return folder


def write_kinds(folder):
    """Write the predictions as other kinds of files: scores or decisions alone, margins, …"""
    header, *lines = (folder / P).read_text().splitlines()
    names = header.split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines]

    def write(name, rows):
        (folder / name).write_text(csv_text(rows[0], [row.values() for row in rows]))

    scores = [name for name in names if name.endswith("_score")]
    alone = [{name: row[name] for name in ("actual", *scores)} for row in rows]
    write("scores.csv", alone)
    write("validation.csv", alone[::3])
    write("decisions.csv", [{k: v for k, v in row.items() if k not in scores} for row in rows])
    write("mixed.csv", [{k: v for k, v in row.items() if k != "tree"} for row in rows])
    write("margins.csv", [{k: margin(k, v) for k, v in row.items()} for row in alone])
    tree, logistic = ([row[name] for row in rows] for name in ("tree", "logistic"))
    both = zip(rows, tree, map(str.upper, logistic), strict=True)
    write_species(folder, write)
    write("capitals.csv", [{"actual": r["actual"], "tree": t, "new": new} for r, t, new in both])


def write_species(folder, write):
    """Write three classes with the probabilities that two models give to each, and costs."""
    rng = np.random.default_rng(7)
    classes = ["sound", "worn", "broken"]
    rows = []
    for actual in rng.choice(3, 240, p=[0.7, 0.2, 0.1]):
        row = {"actual": classes[actual]}
        for model, skill in (("sharp", 3.0), ("dull", 1.0)):
            odds = np.exp(skill * (np.arange(3) == actual) + rng.normal(size=3))
            shares = (odds / odds.sum()).round(4)
            row |= {f"{model}_prob_{name}": p for name, p in zip(classes, shares, strict=True)}
        rows.append(row)
    write("species.csv", rows)
    matrix = "predicted\\actual,sound,worn,broken\nsound,0,30,200\nworn,5,0,90\nbroken,25,10,0\n"
    (folder / "species_costs.csv").write_text(matrix)


def margin(name, value):
    """Return the log-odds of a probability, as a classifier with margins would give them."""
    if name == "actual":
        return value
    share = min(max(float(value), 1e-6), 1 - 1e-6)
    return round(math.log(share / (1 - share)), 3)


def transcript(command, said):
    """Return a command and what it said, as in a terminal."""
    parts = [f"$ {command}\n{said.out}"]
    parts += [f"--- standard error\n{said.err}"] if said.err else []
    parts += [f"--- exit code {said.code}\n"] if said.code else []
    return "".join(parts)


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_say_what_they_always_said(name, stakes):
    command = COMMANDS[name]
    text = transcript(command, stakes(*shlex.split(command)[1:]))
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("STAKES_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert "\x1b" not in text


@pytest.mark.parametrize("name", COMMANDS)
def test_results_fit_a_terminal(name):
    _, *lines = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    end = lines.index("--- standard error") if "--- standard error" in lines else len(lines)
    assert [line for line in lines[:end] if len(line) > 80] == []


@pytest.mark.parametrize("command", ["evaluate", "compare", "threshold", "curve", "plan"])
def test_tables_of_long_names_fit_a_terminal(command, stakes, examples):
    header, *lines = (examples / P).read_text().splitlines()
    for name in ("logistic", "discriminant"):
        header = header.replace(name, f"{name} retrained on all branches in the autumn of 2025")
    (examples / P).write_text("\n".join([header, *lines]))
    more = ["--half-width", "500"] if command == "plan" else ["--unit", "USD"]
    said = stakes("-q", command, P, "-c", C, *more)
    assert (said.code, said.err) == (0, "")
    assert [line for line in said.out.splitlines() if len(line) > 80] == []


def test_no_golden_file_is_left_over():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(COMMANDS)


KINDS = {
    "both": f"{P} -c {C} --volume 1e5 --per year",
    "scores": f"scores.csv -c {C}",
    "decisions": f"decisions.csv -c {C}",
    "mixed": f"mixed.csv -c {C}",
    "probabilities": "species.csv -c species_costs.csv",
    "margins": f"margins.csv -c {C}",
    "priors": f"{P} -c {C} --class-priors benign=0.99,malignant=0.01",
    "validation": f"scores.csv -c {C} --validation validation.csv",
}


def rounded(value):
    """Return findings with numbers of six digits, which are the same on every machine."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_has_policies_and_a_verdict(kind, stakes, folder):
    arguments = shlex.split(KINDS[kind])
    page = folder / "report.html"
    written = {}
    for command in ("evaluate", "compare", "report"):
        out = ["--out", str(page)] if command == "report" else []
        said = stakes("-q", command, *arguments, *out, "--json", "found.json")
        assert (said.code, said.err) == (0, "")
        found = json.loads((folder / "found.json").read_text())
        written[command] = {key: found[key] for key in ("policies", "pairs", "verdict")}
    assert written["evaluate"] == written["compare"] == written["report"]
    assert written["report"]["verdict"]["use"] in page.read_text(encoding="utf-8")
    path = GOLDEN.parent / "policies" / f"{kind}.json"
    text = json.dumps(rounded(written["report"]), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("STAKES_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize(
    "name", ["evaluate_one", "evaluate_scores", "compare", "curve", "plan_models", "simulate_power"]
)
def test_the_same_input_gives_the_same_files(name, stakes, folder):
    arguments = shlex.split(COMMANDS[name])[1:]
    files = []
    for i in range(2):
        forget()
        stakes(*arguments, "--json", f"{i}.json")
        files.append((folder / f"{i}.json").read_bytes())
    assert files[0] == files[1]
    assert json.loads(files[0])["schema"].startswith(f"stakes-{name.split('_')[0]}/")


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_are_the_same_each_time(kind, stakes, folder):
    pictures = []
    for i in range(2):
        said = stakes("curve", P, "-c", C, "--out", f"{i}.{kind}", "--csv", "curve.csv")
        assert said.code == 0
        assert f"Wrote {i}.{kind}." in said.err
        pictures.append((folder / f"{i}.{kind}").read_bytes())
    assert pictures[0] == pictures[1]
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind]
    assert pictures[0].startswith(begin)
    rows = (folder / "curve.csv").read_text().splitlines()
    assert rows[0] == "model,pc,cost,low,high,threshold"
    assert len(rows) == 1 + 3 * 201
