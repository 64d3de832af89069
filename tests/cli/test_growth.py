"""Many models and many rows: output, time and memory are bounded."""

import gc
import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from stakes import CostMatrix, compare, flip_region, study_of
from stakes.findings import curves, findings, policies
from stakes.findings.curves import compared_pairs
from stakes.findings.models import models_of
from stakes.findings.policies import moved_found
from stakes.predictions import files
from stakes.read import shards
from stakes.show.report._page import report_html

COSTS = CostMatrix.from_errors(false_positive=3, false_negative=100)
in_batches = files.ShardedTable
INLINE = ["--fp", "3", "--fn", "100", "--pos-label", "1"]


def scored(n, models, seed=0, decisions=False):
    """Return the actual classes, and the scores of so many models, the first the noisiest."""
    rng = np.random.default_rng(seed)
    actual = (rng.random(n) < 0.3).astype(int)
    noise = np.linspace(2, 1, models)
    scores = {
        f"m{i}": (1 / (1 + np.exp(1 - 2 * actual - rng.normal(0, noise[i], n)))).round(4)
        for i in range(models)
    }
    decided = {name: (each > 0.5).astype(int) for name, each in scores.items()}
    return actual, decided if decisions else {}, scores


def written(folder, n, models):
    actual, _, scores = scored(n, models)
    columns = {"actual": actual, **{f"{name}_score": each for name, each in scores.items()}}
    rows = zip(*columns.values(), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)])
    (folder / "many.csv").write_text(text + "\n")


def test_few_models_are_compared_in_pairs_and_many_with_two():
    names = ["a", "b", "c", "d", "e", "f", "g", "h"]
    assert len(compared_pairs(names[:6], names[:6], "a")) == 15
    found = compared_pairs(names, ["d", "h", "a"], "a")
    assert found == [("d", "h"), ("d", "a"), ("a", "h")]
    assert compared_pairs(names, ["d", "h"], "a") == [("d", "h"), ("a", "h"), ("d", "a")]
    assert compared_pairs(names, ["d", "h"], None) == [("d", "h")]
    assert compared_pairs(names, ["d", "h"], "d") == [("d", "h")]


def test_the_curves_of_many_models_say_which_are_compared(stakes, folder):
    written(folder, 120, 9)
    said = stakes("-q", "curve", "many.csv", *INLINE, "--json", "a.json")
    assert said.code == 0
    text = " ".join(said.out.split())
    assert "Of 9 models only the 9 with the lowest cost at this condition are compared" in text
    found = json.loads((folder / "a.json").read_text())["curves"]
    (left_out,) = found["left_out"]
    assert left_out in text
    assert left_out.endswith("Of 6 models or fewer, all pairs are compared: name those to compare.")
    cost = {each["name"]: each["at_condition"]["cost"] for each in found["models"]}
    best = min(cost, key=cost.get)
    assert len(cost) == 9
    assert len(found["pairs"]) == 8 + (0 if best == "m0" else 7)
    assert all({best, "m0"} & {each["first"], each["second"]} for each in found["pairs"])
    few = ("-q", "curve", "many.csv", *INLINE, *(f"-sm{i}_score" for i in range(6)))
    said = stakes(*few, "--json", "a.json")
    assert "are compared" not in said.out
    found = json.loads((folder / "a.json").read_text())["curves"]
    assert (len(found["pairs"]), found["left_out"]) == (15, [])


def test_a_report_on_many_models_says_which_curves_are_compared(stakes, folder):
    written(folder, 120, 7)
    sentence = (
        "There are 7 cost curves: each is compared with those of the cheapest model and of the "
        "baseline, not with all others. Of 6 models or fewer, all pairs are compared: name those "
        "to compare."
    )
    for models, said in ((7, [sentence]), (6, [])):
        columns = [f"-sm{i}_score" for i in range(models)]
        command = ("-q", "report", "many.csv", *INLINE, *columns, "--out", "a.html")
        assert stakes(*command, "--json", "a.json").code == 0
        assert json.loads((folder / "a.json").read_text())["left_out"] == said
        assert (sentence in (folder / "a.html").read_text()) == bool(said)


def test_a_report_on_very_many_models_shows_the_cheapest_and_says_so(monkeypatch):
    monkeypatch.setattr(policies, "MOST_MODELS", 3)
    monkeypatch.setattr(curves, "MOST_PAIRED", 3)
    actual, decided, scores = scored(150, 8, decisions=True)
    study = study_of(actual, decided, COSTS, y_score=scores, baseline="m0")
    found = findings(study)
    ranked = [each.name for each in found.models]
    assert len(ranked) == 8
    shown = {*ranked[:3], "m0"}
    assert {each.name for each in found.curves.models} == shown
    assert {each.name for each in found.calibration} == shown
    assert {study.policies[each.name].model for each in found.sample_size} == shown
    assert {study.policies[name].model for name in found.sensitivity.cheapest} == {*shown, None}
    pairs = [(each.first, each.second) for each in found.curves.pairs]
    assert all({ranked[0], "m0"} & {*pair} for pair in pairs)
    assert found.left_out[0] == (
        "Curves, sensitivity, sample sizes and calibration are of the 3 cheapest models and the "
        f"baseline; {8 - len(shown)} others have a higher estimated cost."
    )
    partly = f"There are {len(shown)} cost curves" if len(shown) > 3 else ""
    assert all(each.startswith(partly) for each in found.left_out[1:])
    assert len(found.pairs) >= 8  # the verdict covers all models


# Memory grows neither with the size of the file nor with the number of rows.


def labels(n, column=True):
    rng = np.random.default_rng(0)
    actual = np.where(rng.random(n) < 0.2, "fraud", "ok")
    other = np.where(rng.random(n) < 0.1, "ok", actual)
    return pa.table({"actual": actual, "old": other, "new": actual if column else other})


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_what_unpacks_to_much_is_read_in_batches(command, stakes, folder, monkeypatch):
    parquet.write_table(labels(500), folder / "a.parquet")
    given = ["a.parquet", "--fp", "1", "--fn", "9", "--pos-label", "fraud"]
    given += ["--out", "a.html"] if command == "report" else []
    expected = stakes("-q", command, *given)
    monkeypatch.setattr(shards, "LARGE_LABELS", 500 * 3 * 8)
    monkeypatch.setattr(shards, "BATCH", 64)
    monkeypatch.setattr("stakes.predictions.files.read_table", None)
    assert stakes("-q", command, *given) == expected


def test_scores_that_must_be_kept_are_read_whole(stakes, folder, monkeypatch):
    monkeypatch.setattr(shards, "LARGE_LABELS", 1)
    monkeypatch.setattr(shards, "BATCH", 64)
    monkeypatch.setattr("stakes.predictions.tally.MOST_SCORES", 10)
    for scores in (np.linspace(0, 1, 500), np.arange(500)):
        table = labels(500).append_column("new_score", pa.array(scores))
        parquet.write_table(table, folder / "a.parquet")
        given = ("a.parquet", "--fp", "1", "--fn", "9", "--pos-label", "fraud")
        assert stakes("-q", "curve", *given).code == 0


def test_packed_text_counts_as_what_it_unpacks_to(folder):
    (folder / "a.csv.gz").write_bytes(b"x" * 100)
    (folder / "a.csv").write_bytes(b"x" * 100)
    (folder / "broken.parquet").write_bytes(b"x" * 100)
    size = shards.unpacked
    assert size(folder / "a.csv.gz") == (1600, 0, None)
    assert size(folder / "a.csv") == (100, 0, None)
    assert size(folder / "broken.parquet") == (0, 0, None)


@pytest.mark.parametrize(
    ("column", "batches"), [("amount", True), ("new_score", False), ("amount", False)]
)
def test_only_fractions_that_are_scores_are_kept(column, batches, stakes, folder, monkeypatch):
    """Of other columns, an amount say, it takes as much memory as labels do."""
    table = labels(500).append_column(column, pa.array(np.linspace(0, 90, 500)))
    parquet.write_table(table, folder / "a.parquet")
    given = ["evaluate", "a.parquet", "--fp", "1", "--fn", "9", "--pos-label", "fraud"]
    if column == "amount" and not batches:
        given += ["--model", "old", "--score", "amount"]
    expected = stakes("-q", *given)
    assert expected.code == 0
    read = []
    monkeypatch.setattr(shards, "LARGE_LABELS", 1)
    monkeypatch.setattr(shards, "BATCH", 64)
    monkeypatch.setattr(
        files, "ShardedTable", lambda *a, **k: read.append(a) or in_batches(*a, **k)
    )
    assert stakes("-q", *given) == expected
    assert bool(read) == batches


def test_few_rows_of_many_columns_are_read_at_once(tmp_path, monkeypatch):
    """In batches, each column is looked through in a pass of its own."""
    path, asked = tmp_path / "a.parquet", {"scores_kept": False, "is_score": "x".__eq__}
    table = labels(500)
    for number in range(20):
        table = table.append_column(f"amount_{number}", pa.array([0.5] * 500))
    parquet.write_table(table, path)
    monkeypatch.setattr(shards, "LARGE_LABELS", 500 * 23 * 8)
    assert not shards.is_large(str(path), **asked)
    monkeypatch.setattr(shards, "BATCH", 500)
    assert shards.is_large(str(path), **asked)


def test_passes_over_a_file_leave_nothing_in_memory(tmp_path):
    """What pyarrow keeps of the end of a file is a circle, which commands hardly look for."""
    parquet.write_table(labels(500), tmp_path / "a.parquet")
    shard = shards.Shard(tmp_path / "a.parquet")

    def kept():
        return sum(type(each).__name__ == "FileMetaData" for each in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = kept()
        for _ in range(20):
            list(shard.batches(["actual"]))
        assert kept() <= before + 2
    finally:
        gc.enable()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("amount", [False, True])
def test_memory_does_not_grow_with_the_rows_of_a_small_file(amount, folder):
    """Sixteen million rows in a file of some megabytes, in one row group."""
    rows = labels(1 << 16)
    if amount:  # a column that no result needs
        rows = rows.append_column("amount", pa.array(np.arange(rows.num_rows) % 100 / 4))
    many = pa.concat_tables([rows] * 256)
    parquet.write_table(many, folder / "a.parquet", compression="zstd", row_group_size=1 << 30)
    code = (
        "import re; from pathlib import Path; from stakes.cli.main import main\n"
        "costs = ['--fp', '1', '--fn', '9', '--pos-label', 'fraud']\n"
        "assert main(['-q', 'evaluate', 'a.parquet', *costs]) == 0\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True
    )
    assert re.search("16,777,216 examples", done.stdout)
    assert int(done.stdout.split()[-1]) < 500_000


def test_many_policies_are_judged_as_each_would_be_alone(monkeypatch):
    """By tables that are stacked, or one after the other; both methods of tests among them."""
    actual, decided, scores = scored(400, 24, decisions=True)
    found = []
    for many in (10**6, 2):
        monkeypatch.setattr("stakes.policies.policies.MANY", many)
        study = study_of(actual, decided, COSTS, y_score=scores)
        policies = study.policies
        rows = [(name, *policies.interval(name)) for name in policies.competitors]
        rows += [
            (
                each.first,
                each.second,
                each.difference,
                each.low,
                each.high,
                each.p_value,
                each.shown,
            )
            for each in policies.pairs
        ]
        rows += [(each.name, each.cheaper_than_constant) for each in models_of(study)]
        rows += [
            (each.first, each.second, each.low, each.high, each.p_value, each.shown)
            for each in moved_found(study)
        ]
        found.append(rows)
    assert len(found[0]) > 90
    for one, other in zip(*found, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a == (b if isinstance(b, str | bool) else pytest.approx(b, rel=1e-6, abs=1e-9))


def test_a_report_on_very_many_classes_leaves_out_what_is_of_no_use(monkeypatch):
    monkeypatch.setattr("stakes.findings.sensitivity.MOST_COSTS", 8)
    monkeypatch.setattr("stakes.findings.data.MOST_IN_WORDS", 8)
    costs = CostMatrix([[0, 2, 3], [1, 0, 4], [5, 6, 0]], rows="predicted", labels=["a", "b", "c"])
    actual = ["a", "b", "c"] * 20
    found = findings(study_of(actual, {"m": ["a", "b", "b"] * 20, "n": ["a"] * 60}, costs))
    assert found.sensitivity is None
    assert found.left_out == ("What if the costs are wrong is left out: there are 9 costs.",)
    assert found.costs.text == ("there are 9 costs, from 0 to 6",)
    page = report_html(found)
    assert "there are 9 costs, from 0 to 6" in page


def test_a_pair_of_very_many_classes_tells_where_the_verdict_changes():
    labels = [f"c{i}" for i in range(300)]
    rng = np.random.default_rng(0)
    values = rng.integers(1, 9, (300, 300)) * (1 - np.eye(300, dtype=int))
    costs = CostMatrix(values, rows="predicted", labels=labels)
    actual = rng.integers(0, 300, 500)
    first, second = (np.where(rng.random(500) < p, actual, (actual + 7) % 300) for p in (0.9, 0.5))
    names = np.array(labels)
    found = compare(names[actual], names[first], names[second], costs)
    region = flip_region(found)
    assert (region.gradient * values).sum() == pytest.approx(found.difference)
