"""Results and files of the commands, apart from the wording of their output."""

import bz2
import csv
import gzip
import io
import json
import re
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from stakes import Confusion, CostMatrix, evaluate, plan_test_size
from stakes.cli._output import Progress
from stakes.cli.demo import DATA
from stakes.infer.methods import names_of_intervals, names_of_tests

EVALUATE = ["-q", "evaluate"]
COSTS = ["-c", "costs.csv"]


def rows(folder, name="predictions.csv"):
    header, *lines = (folder / name).read_text().splitlines()
    cells = [line.split(",") for line in lines]
    return dict(zip(header.split(","), map(list, zip(*cells, strict=True)), strict=True))


@pytest.fixture
def decided(folder):
    """Write the predictions without scores, and return the name of the file."""
    text = (folder / "predictions.csv").read_text()
    (folder / "decided.csv").write_text(text.replace("_score", "_id"))
    return "decided.csv"


def test_the_cost_is_that_of_the_library(stakes, folder, decided):
    columns = rows(folder)
    costs = CostMatrix.read(folder / "costs.csv")
    for name in ("predictions.csv", decided):
        found = json.loads(stakes(*EVALUATE, name, *COSTS, "--json", "-").out)
        policies = {each["name"]: each for each in found["policies"]}
        for model in ("old", "logistic", "tree"):
            expected = evaluate(columns["actual"], columns[model], costs)
            assert policies[model]["cost"] == expected.cost
            assert (policies[model]["low"], policies[model]["high"]) == tuple(expected.interval())
        for model in found["models"]:  # at its cheapest policy
            own = [each for each in found["policies"] if each["model"] == model["name"]]
            assert model["policy"] == min(own, key=lambda each: each["cost"])["name"]
            assert model["cost"] == policies[model["policy"]]["cost"]
    assert [model["name"] for model in found["models"]] == sorted(
        ("old", "logistic", "tree"),
        key=lambda name: evaluate(columns["actual"], columns[name], costs).cost,
    )


@pytest.mark.parametrize("command", ["type-one", "power"])
def test_every_test_is_in_the_help_of_simulations(command, stakes):
    said = " ".join(stakes("simulate", command, "--help").out.split())
    assert all(re.search(rf"\b{name}\b", said) for name in names_of_tests())


def test_simulations_state_what_was_added_to_the_counts(stakes):
    asked = ("simulate", "coverage", "predictions.csv", *COSTS, "-m", "tree", "--method", "bcost")
    plain = " ".join(stakes(*asked, "--repeats", "20").out.split())
    assert "in 20 simulated test sets; the counts of predictions.csv are taken as" in plain
    said = " ".join(stakes(*asked, "--repeats", "1", "--smooth", "0.5").out.split())
    assert (
        "in 1 simulated test set; the counts of predictions.csv, with 0.5 added to each, are taken "
        "as the truth."
    ) in said


def test_what_is_asked_twice_is_simulated_once(stakes, decided):
    asked = [decided, *COSTS, "-m", "tree", "-m", "old", "--repeats", "5", "--json", "-"]
    twice = ["--n", "50", "--n", "50", "--method", "normal", "--method", "normal"]
    for command, results in (("coverage", 2), ("type-one", 1), ("power", 1)):
        found = json.loads(stakes("-q", "simulate", command, *asked, *twice).out)
        assert len(found["results"]) == results
        assert found["settings"] == {"confidence": 0.95, "seed": 0}
    assert found["results"][0]["result"]["n"] == [50]


def test_the_help_of_a_simulation_has_its_own_options_before_those_of_all(stakes):
    said = stakes("simulate", "power", "--help").out
    places = [said.index(f"--{name} ") for name in ("difference", "repeats", "smooth", "seed")]
    assert places == sorted(places)


@pytest.mark.parametrize("method", names_of_intervals())
def test_every_interval_method_is_in_the_help_and_takes_the_seed(method, stakes):
    assert re.search(rf"\b{method}\b", " ".join(stakes("evaluate", "--help").out.split()))
    asked = (*EVALUATE, "predictions.csv", *COSTS, "-m", "tree", "--method", method, "--json", "-")

    def intervals(seed):
        keys = ("cost", "low", "high", "method")
        return {
            each["name"]: [each[key] for key in keys]
            for each in json.loads(stakes(*asked, "--seed", seed).out)["policies"]
        }

    found, other = (intervals(seed) for seed in (1, 2))
    if method == "bcost":
        assert found != other
        assert found == intervals(1)
    else:
        assert found == other


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.csv.gz", "a.jsonl", "a.parquet", "a.feather", "a.arrow"]
)
def test_all_formats_say_the_same(name, stakes, folder):
    columns = rows(folder)
    table = pa.table(
        {n: pa.array(v, pa.string()).cast(pa.float64()) if "score" in n else v
         for n, v in columns.items()}
    )  # fmt: skip
    text = (folder / "predictions.csv").read_text()
    if name == "a.csv":
        content = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()  # the format of Excel
    elif name == "a.tsv":
        content = text.replace(",", "\t").encode()
    elif name == "a.csv.gz":
        content = gzip.compress(text.encode())
    elif name == "a.jsonl":
        content = "\n".join(map(json.dumps, table.to_pylist())).encode()
    else:
        sink = io.BytesIO()
        write = pq.write_table if name == "a.parquet" else feather.write_feather
        write(table, sink)
        content = sink.getvalue()
    (folder / name).write_bytes(content)
    expected = stakes(*EVALUATE, "predictions.csv", *COSTS)
    assert expected.code == 0
    found = stakes(*EVALUATE, name, *COSTS)
    assert found.out.replace(name, "predictions.csv") == expected.out
    if name != "a.csv.gz":
        piped = stakes(*EVALUATE, "-", *COSTS, stdin=content)
        assert piped.out.replace("standard input", "predictions.csv") == expected.out


def test_numbers_are_classes_too(stakes, folder):
    (folder / "a.csv").write_text("y_true,y_pred,y_score\n0,0,0.1\n1,0,0.4\n1,1,0.9\n0,1,0.8\n")
    (folder / "c.csv").write_text("predicted\\actual,0,1\n0,0,5\n1,1,0\n")
    for costs in (["--fp", "1", "--fn", "5"], ["-c", "c.csv"]):
        found = json.loads(stakes(*EVALUATE, "a.csv", *costs, "--json", "-").out)
        assert [each["name"] for each in found["models"]] == ["y_pred"]
        costs_of = {each["name"]: each["cost"] for each in found["policies"]}
        assert costs_of["y_pred"] == 1.5
    table = pa.table({"y_true": [0.0, 1.0], "y_pred": [False, True]})
    pq.write_table(table, folder / "a.parquet")
    found = json.loads(stakes(*EVALUATE, "a.parquet", "-c", "c.csv", "--json", "-").out)
    assert found["models"][0]["cost"] == 0


def test_files_of_several_models_are_joined(stakes, folder, decided):
    columns = rows(folder)
    order = np.random.default_rng(0).permutation(len(columns["id"]))
    for i, model in enumerate(["old", "tree"]):
        rank = order if i else np.arange(len(order))
        lines = [f"{columns['id'][j]},{columns['actual'][j]},{columns[model][j]}" for j in rank]
        (folder / f"{model}.csv").write_text("\n".join(["id,actual,pred", *lines]))
    expected = stakes(*EVALUATE, decided, *COSTS, "-m", "old", "-m", "tree")
    found = stakes(*EVALUATE, "old.csv", "tree.csv", "--id", "id", *COSTS)
    assert found.code == 0
    assert found.out.splitlines()[2:] == expected.out.splitlines()[2:]
    assert found.out.startswith("60 examples of old.csv + tree.csv.")


def test_counts_stand_for_predictions_everywhere(stakes, folder):
    assert stakes("count", "predictions.csv", *COSTS, "--out", "all.json").code == 0
    for command in (
        ["evaluate"],
        ["compare", "--baseline", "old", "--gate"],
        ["curve"],
        ["threshold"],
        ["threshold", "--validation", "all.json"],
        ["plan", "--half-width", "5"],
    ):
        name, *options = command
        expected = stakes("-q", name, "predictions.csv", *COSTS, *options)
        found = stakes("-q", name, "all.json", *COSTS, *options)
        assert found.code == expected.code
        assert found.out.replace("all.json", "predictions.csv").split() == expected.out.split()
    text = (folder / "all.json").read_bytes()
    piped = stakes("-q", "curve", "-", *COSTS, stdin=text)
    assert piped.out.startswith("60 examples of standard input;")
    other = stakes("-q", "evaluate", "all.json", "--fp", "1", "--fn", "2")
    assert other.code == 0


def test_merged_shards_are_the_whole(stakes, folder):
    header, *lines = (folder / "predictions.csv").read_text().splitlines(keepends=True)
    by_class = sorted(lines, key=lambda line: ",fraud," in line)  # shards of one class only
    parts = [by_class[:20], by_class[20:45], by_class[45:]]
    for i, part in enumerate(parts):
        (folder / f"{i}.csv").write_text(header + "".join(part))
        assert stakes("count", f"{i}.csv", *COSTS, "--out", f"{i}.json").code == 0
    said = stakes("merge", "2.json", "0.json", "1.json", "--out", "merged.json")
    assert said.err == "Wrote the counts of 60 examples to merged.json.\n"
    assert stakes("count", "predictions.csv", *COSTS, "--out", "all.json").code == 0
    merged, whole = (
        json.loads((folder / f"{name}.json").read_text()) for name in ("merged", "all")
    )
    checksums = [json.loads((folder / f"{i}.json").read_text())["checksum"] for i in range(3)]
    assert merged.pop("merged_from") == sorted(checksums)
    assert merged | {"checksum": whole["checksum"]} == whole
    assert stakes("merge", "all.json", "--out", "again.json").code == 0
    assert (folder / "again.json").read_bytes() == (folder / "all.json").read_bytes()


def test_counts_without_scores(stakes, folder):
    said = stakes("-q", "count", "predictions.csv", *COSTS, "--out", "a.json", "--without-scores")
    assert said.code == 0
    assert json.loads((folder / "a.json").read_text())["scores"] is None
    assert "no model has scores" in stakes("threshold", "a.json", *COSTS).err
    assert stakes("-q", "curve", "a.json", *COSTS).code == 0  # lines of decisions


def test_scores_that_are_no_probabilities(stakes, folder):
    (folder / "a.csv").write_text("actual,m_score\nok,-3\nfraud,2\nok,-1\nfraud,5\nok,3\n")
    few = stakes(*EVALUATE, "a.csv", *COSTS)
    assert few.code == 2
    assert "only 2 rows of the class 'fraud'" in few.err
    assert stakes("-q", "evaluate", "a.csv", *COSTS, "--candidate", "m@1.5").code == 0
    assert stakes("-q", "curve", "a.csv", *COSTS).code == 0
    assert stakes("-q", "count", "a.csv", *COSTS, "--out", "a.json").code == 0
    for name in ("a.csv", "a.json"):
        assert stakes("-q", "threshold", name, *COSTS, "--rule", "minimum").code == 0
        asked = stakes("-q", "threshold", name, *COSTS)
        assert asked.code == 2
        assert "only 2 rows of the class 'fraud'" in asked.err
        assert asked.err.endswith("Give more rows, or --rule minimum.\n")
    assert stakes("-q", "evaluate", "a.json", *COSTS).err == few.err
    lines = [f"{'fraud' if i % 3 else 'ok'},{(i % 3) * 4 - i % 7}" for i in range(60)]
    (folder / "b.csv").write_text("\n".join(["actual,m_score", *lines]))
    found = json.loads(stakes(*EVALUATE, "b.csv", *COSTS, "--json", "-").out)
    policy = next(each for each in found["policies"] if each["model"] == "m")
    assert (policy["kind"], policy["cross_fitted"]) == ("threshold", True)
    assert -7 < policy["threshold"] < 9


def test_scores_alone_decide_at_least_cost(stakes, folder):
    (folder / "a.csv").write_text("actual,m_prob\nok,0.05\nfraud,0.1\nok,0.2\nfraud,0.9\n")
    found = json.loads(stakes("evaluate", "a.csv", *COSTS, "--json", "-").out)
    assert (
        "m is used at 0.09091, as the costs imply: its scores are taken as probabilities, because "
        "there are only 2 rows" in " ".join(found["verdict"]["notes"])
    )
    assert found["models"][0]["cost"] == 2.5
    lines = ["ok,0.05", "ok,0.2", "ok,0.6", "fraud,0.1", "fraud,0.9"]
    rows = [line for line in lines for _ in range(16 if line.startswith("ok") else 4)]
    (folder / "a.csv").write_text("\n".join(["actual,m_prob", *rows]))
    priors = ("--class-priors", "fraud=0.05,ok=0.95")
    found = json.loads(stakes(*EVALUATE, "a.csv", *COSTS, *priors, "--json", "-").out)
    alarm, miss = 10 * 0.95 / (48 / 56), 100 * 0.05 / (8 / 56)
    threshold = next(each for each in found["policies"] if each["model"] == "m")["threshold"]
    assert threshold == float(f"{alarm / (alarm + miss):.4g}")


def test_the_gate(stakes, folder):
    n = 200
    actual = ["fraud", "ok"] * (n // 2)
    bad = ["ok"] * n
    lines = [f"{a},{a},{b},{a}" for a, b in zip(actual, bad, strict=True)]
    (folder / "a.csv").write_text("\n".join(["actual,good,bad,same", *lines]))

    def gate(*options):
        return stakes("-q", "compare", "a.csv", *COSTS, "--gate", *options).code

    assert gate("--baseline", "good", "-m", "good", "-m", "bad") == 1
    assert gate("--baseline", "bad") == 0
    assert gate("--baseline", "good", "-m", "good", "-m", "same") == 0
    assert gate("--baseline", "good", "-m", "good", "-m", "same", "--margin", "0") == 1
    assert gate("--baseline", "good", "-m", "good", "-m", "same", "--margin", "9") == 0
    assert gate("--baseline", "bad", "--margin", "0", "-m", "good", "-m", "bad") == 0
    without = stakes("-q", "compare", "a.csv", *COSTS, "--baseline", "good")
    assert without.code == 0
    assert "Gate" not in without.out


def test_what_was_understood_of_two_files_is_said_once(stakes, folder, payments):
    (folder / "validation.csv").write_text(payments(60, seed=5))
    said = stakes("threshold", "predictions.csv", *COSTS, "--validation", "validation.csv").err
    assert said.count("The actual classes are in the column 'actual'.") == 1


@pytest.mark.parametrize("command", ["evaluate", "compare", "threshold", "report"])
def test_validation_scores_in_percent_are_refused(command, stakes, folder, payments):
    header, *rows = (row.split(",") for row in payments(60, seed=5).splitlines())
    place = header.index("tree_score")
    for row in rows:
        row[place] = f"{100 * float(row[place]):.2f}"
    (folder / "v.csv").write_text("\n".join(map(",".join, [header, *rows])) + "\n")
    said = stakes("-q", command, "predictions.csv", *COSTS, "--validation", "v.csv")
    assert (said.code, said.out) == (2, "")
    assert "stakes: --validation: its scores of 'tree' are from " in said.err


def test_probabilities_of_each_class_are_those_of_one_model(stakes, folder):
    (folder / "a.csv").write_text(
        "actual,pred,prob_ok,prob_fraud\nok,ok,0.9,0.1\nfraud,fraud,0.2,0.8\nok,fraud,0.3,0.7\n"
    )
    said = stakes("threshold", "a.csv", *COSTS, "--json", "-")
    assert [model["name"] for model in json.loads(said.out)["models"]] == ["pred"]
    assert "its scores in 'prob_fraud'.\nNot used: 'prob_ok'.\n" in said.err


def test_probabilities_of_many_classes_do_not_matter_where_there_are_decisions(stakes, folder):
    (folder / "c.csv").write_text("predicted\\actual,a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n")
    (folder / "a.csv").write_text(
        "label,pred,prob_a,prob_b,prob_c\na,a,1,0,0\nb,c,0.1,0.2,0.7\nc,c,0,0,1\n"
    )
    said = stakes("evaluate", "a.csv", "-c", "c.csv", "--json", "-")
    costs = {each["name"]: each["cost"] for each in json.loads(said.out)["policies"]}
    assert costs["pred"] == 2
    assert "its probabilities in 'prob_a', 'prob_b' and 'prob_c'." in said.err
    (folder / "b.csv").write_text(
        "label,pred,prob_a,prob_b\na,a,1,0\nb,c,0.1,0.2\nc,c,0,0\n"  # of too few classes
    )
    said = stakes("evaluate", "b.csv", "-c", "c.csv", "--json", "-")
    assert [model["cost"] for model in json.loads(said.out)["models"]] == [2]
    assert "Not used: 'prob_a', 'prob_b'." in said.err


def test_a_single_example_is_one(stakes, folder):
    (folder / "a.csv").write_text("actual,pred\nok,ok\n")
    assert stakes(*EVALUATE, "a.csv", *COSTS).out.startswith("1 example of a.csv.\n")


def test_thresholds_are_chosen_elsewhere(stakes, folder, payments):
    (folder / "validation.csv").write_text(payments(200, seed=5))
    arguments = ["-q", "threshold", "predictions.csv", *COSTS, "--rule", "minimum", "--json", "-"]
    same = json.loads(stakes(*arguments).out)
    other = json.loads(stakes(*arguments, "--validation", "validation.csv").out)
    for one, two in zip(same["models"], other["models"], strict=True):
        assert one["name"] == two["name"]
        first, second = one["choice"], two["choice"]
        assert first["cost"] <= second["cost"]
        assert (first["chosen_on"], second["chosen_on"]) == ("the same examples", "other examples")


def test_a_template_is_filled_in(stakes, folder):
    said = stakes("costs", "template", "predictions.csv", "--out", "new.csv")
    assert said.code == 0
    path = folder / "new.csv"
    assert path.read_text() == "predicted\\actual,fraud,ok\nfraud,0,\nok,,0\n"
    assert "line 2, column 3" in stakes("costs", "check", "new.csv").err
    path.write_text(path.read_text().replace("fraud,0,", "fraud,0,10").replace("ok,,", "ok,99,"))
    said = stakes("costs", "check", "new.csv")
    assert "predicting 'ok' when it was 'fraud' costs 99." in said.out
    assert "a missed 'fraud' is as bad as 9.9 false alarms" in said.out
    assert stakes(*EVALUATE, "predictions.csv", "-c", "new.csv").code == 0
    (folder / "a.csv").write_text("actual,m\n2,1\n1,ask\n10,2\n")
    assert stakes("costs", "template", "a.csv", "-m", "m", "--out", "t.tsv").code == 0
    assert (folder / "t.tsv").read_text() == (
        "predicted\\actual\t1\t2\t10\n1\t0\t\t\n2\t\t0\t\n10\t\t\t0\nask\t\t\t\n"
    )
    assert stakes("costs", "template", "a.csv", "--out", "t.tsv", "--force").code == 0


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ("predicted\\actual,a,b\na,5,0\nb,0,5\n", "Is that meant? When it was 'a'"),
        ("predicted\\actual,a,b\na,1,1\nb,1,1\n", "All decisions cost the same"),
        ("predicted\\actual,0,1\n0,0,5\n1,0,0\n", "false alarms of 1 cost nothing"),
        ("predicted\\actual,a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n", "predicting 'c' when it was 'a'"),
        ("predicted\\actual,a,b\nx,0,1\ny,3,0\n", "predicting 'y' when it was 'a' costs 3."),
    ],
)
def test_costs_are_checked_in_words(matrix, says, stakes, folder):
    (folder / "m.csv").write_text(matrix)
    said = stakes("costs", "check", "m.csv")
    assert said.code == 0
    assert says in " ".join(said.out.split())


def test_the_demo_runs_on_the_examples_of_the_project(stakes):
    from pathlib import Path

    for path in DATA.glob("*.csv"):
        example = Path(__file__).parents[2] / "examples" / path.name
        assert path.read_bytes() == example.read_bytes()
    said = stakes("demo")
    assert said.code == 0
    assert "logistic" in said.out


def test_progress_shows_what_takes_long(monkeypatch, capsys):
    monkeypatch.setattr("stakes.cli._output.DELAY", 0.01)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress(shown=True) as progress:
        progress.expect(2)
        progress.step("reading")
        deadline = time.monotonic() + 600
        while not progress.visible and time.monotonic() < deadline:
            time.sleep(0.01)
        progress.step("counting")
        assert progress.visible
    assert not progress.visible
    shown = capsys.readouterr()
    assert (shown.out, "reading" in shown.err) == ("", True)


@pytest.mark.parametrize(("shown", "terminal"), [(False, True), (True, False)])
def test_progress_is_not_shown_to_files_nor_to_who_wants_quiet(
    shown, terminal, monkeypatch, capsys
):
    monkeypatch.setattr("stakes.cli._output.DELAY", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    with Progress(shown=shown) as progress:
        progress.step("reading")
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_plan_for_other_shares_of_the_classes_is_that_of_the_library(stakes, folder, decided):
    asked = ["-q", "plan", decided, *COSTS, "--half-width", "3", "--json", "-"]
    columns = rows(folder)
    costs = CostMatrix.read(folder / "costs.csv")
    shares = dict(zip(costs.labels, (0.97, 0.03), strict=True))
    given = ",".join(f"{label}={share}" for label, share in shares.items())
    found = json.loads(stakes(*asked, "--class-priors", given).out)
    assert found["settings"]["class_priors"] == list(shares.values())
    for each in found["plans"]:
        plan = each["plan"]
        table = Confusion.from_labels(columns["actual"], columns[each["name"]], labels=costs.labels)
        expected = plan_test_size(costs, table, half_width=3, class_priors=shares, rng=0)
        assert (plan["n"], plan["arm"]) == (expected.n, expected.arm)
    said = stakes("plan", *COSTS, "--half-width", "3", "--class-priors", given)
    assert "--class-priors: it is about the rows of a pilot" in said.err


ZERO_ONE = "actual,a,b,{}\n" + "".join(
    f"{i % 3 // 2},{i % 5 // 3},{i % 2},{{}}\n" for i in range(30)
)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("kids", [0, 1, 0, 1, 2]),
        ("digit", list(range(10))),
        ("age", list(range(18, 48))),
        ("row_number", list(range(30))),
        ("share", [0, 1, 2.5]),
        ("", list(range(30))),  # as pandas writes its index
        ("note", [""]),
        ("kind", ["0", "x", "y"]),
    ],
)
def test_features_that_share_values_with_classes_are_no_models(stakes, folder, name, values):
    cells = [values[i % len(values)] for i in range(30)]
    (folder / "a.csv").write_text(ZERO_ONE.format(name, *cells))
    said = stakes("evaluate", "a.csv", "--fp", 10, "--fn", 100, "--json", "-")
    assert said.code == 0, said.err
    assert f"Not used: {name!r}." in said.err
    assert {each["name"] for each in json.loads(said.out)["models"]} == {"a", "b"}


def test_scores_that_are_not_used_may_be_missing(stakes, folder):
    text = (folder / "predictions.csv").read_text()
    arguments = ("-q", "count", "predictions.csv", *COSTS, "--without-scores", "--out")
    assert stakes(*arguments, "all.json").code == 0
    (folder / "predictions.csv").write_text(re.sub(r"0\.\d+\n", "\n", text, count=1))
    assert stakes(*arguments, "some.json").code == 0
    assert (folder / "some.json").read_bytes() == (folder / "all.json").read_bytes()
    said = stakes(*EVALUATE, "predictions.csv", *COSTS)  # thresholds need the scores
    assert said.code == 2
    assert "line 2, column 'tree_score': there is no score" in said.err


def test_classes_with_leading_zeros_are_kept(stakes, folder):
    rows = "01,01,02\n02,02,02\n01,02,01\n01,01,01\n02,01,02\n"
    (folder / "a.csv").write_text("actual,a,b\n" + rows)
    assert stakes("costs", "template", "a.csv", "--out", "t.csv").code == 0
    text = (folder / "t.csv").read_text()
    assert text == "predicted\\actual,01,02\n01,0,\n02,,0\n"
    filled = text.replace("01,0,\n", "01,0,100\n").replace("02,,0", "02,10,0")
    (folder / "t.csv").write_text(filled)
    said = [
        stakes("-q", "evaluate", "a.csv", *costs)
        for costs in (["-c", "t.csv"], ["--fp", 10, "--fn", 100, "--pos-label", "02"])
    ]
    assert said[0].code == said[1].code == 0, said
    assert said[0].out == said[1].out
    assert re.search(r"^a +22 ", said[0].out, re.MULTILINE)


def test_numbers_with_and_without_a_point_are_one_class(stakes, folder):
    (folder / "a.csv").write_text("actual,a,b\n0,0,1\n1.0,1,1\n1,0,1.0\n0.0,0,0\n")
    (folder / "b.csv").write_text("actual,a,b\n0,0,1\n1,1,1\n1,0,1\n0,0,0\n")
    one, two = (
        stakes("-q", "evaluate", name, "--fp", 10, "--fn", 100).out for name in ("a.csv", "b.csv")
    )
    assert one.replace("a.csv", "b.csv") == two
    assert re.search(r"^a +25\.00 ", one, re.MULTILINE)


def test_text_classes_have_the_usual_positive_one(stakes, folder):
    (folder / "a.csv").write_text("actual,p\n0,0.1\n1,0.9\n1,0.3\n0,0.6\n0,0.2\n")
    costs = {"rows": "predicted", "values": [[0, 1], [10, 0]]}
    (folder / "c.json").write_text(json.dumps(costs | {"labels": ["0", "1"]}))
    (folder / "i.json").write_text(json.dumps(costs | {"labels": [0, 1]}))
    text, whole = (
        json.loads(stakes("-q", "threshold", "a.csv", "-c", name, "--json", "-").out)
        for name in ("c.json", "i.json")
    )
    assert (text["data"]["pos_label"], whole["data"]["pos_label"]) == ("1", 1)
    for key in ("threshold", "cost", "recall", "fpr"):
        assert text["models"][0]["choice"][key] == whole["models"][0]["choice"][key]


def test_packed_standard_input_is_unpacked(stakes, folder):
    content = (folder / "predictions.csv").read_bytes()
    expected = stakes("-q", "evaluate", "-", "-c", "costs.csv", stdin=content).out
    assert expected
    for pack in (gzip.compress, bz2.compress):
        found = stakes("-q", "evaluate", "-", "-c", "costs.csv", stdin=pack(content))
        assert (found.code, found.out) == (0, expected)


def test_names_of_models_stay_in_one_line(stakes, folder):
    (folder / "a.csv").write_text('actual,"a\nx","b"\n0,0,1\n1,1,1\n1,0,1\n')
    said = stakes("-q", "compare", "a.csv", "--fp", 10, "--fn", 100, "--baseline", "a\\nx")
    assert said.code == 0, said.err
    assert r"a\nx" in said.out
    assert "a\nx" not in said.out


def test_no_cell_of_a_table_is_a_formula(stakes, folder):
    text = (folder / "predictions.csv").read_text().replace("tree", "=1+1").replace("ok", "-ok")
    (folder / "predictions.csv").write_text(text)
    made = ("costs", "template", "predictions.csv", "--out", "template.csv")
    assert stakes(*made).code == 0
    header, *body = (folder / "template.csv").read_text().splitlines()
    assert header == "predicted\\actual,'-ok,fraud"
    assert body == ["'-ok,0,", "fraud,,0"]
    (folder / "costs.csv").write_text(f"{header}\n'-ok,0,7\nfraud,3,0\n")
    said = stakes("-q", "curve", "predictions.csv", *COSTS, "--csv", "curve.csv")
    assert said.code == 0, said.err
    models = {row.split(",")[0] for row in (folder / "curve.csv").read_text().splitlines()}
    assert models == {"model", "old", "logistic", "'=1+1"}


CELLS = {
    "curve": "curve p.csv -c c.csv -m MODEL -s MODEL_score --csv out.csv",
    "curve --decision": "curve p.csv -c c.csv -m MODEL -s MODEL_score --decision --csv out.csv",
    "costs template": "costs template p.csv --actual actual -o out.csv",
    "costs template, tabs": "costs template p.csv --actual actual -o out.tsv",
    "audit plan": "audit plan p.csv -c c.csv -m MODEL -s MODEL_score --id id --labels 20 "
    "--show MODEL_score --show-decisions -o out.csv",
    "audit more": "audit more labels.csv p.csv --labels 9 -o out.csv",
}
"""Commands that write cells; the names of a model, a class and the rows begin with a mark."""


@pytest.mark.parametrize("mark", ["=", "+", "-", "@", "\uff1d"])
@pytest.mark.parametrize("command", CELLS)
def test_no_cell_that_commands_write_is_a_formula(command, mark, stakes, folder, payments):
    written, harmless = [], "x" if mark > "fraud" else "A"  # sorted like the mark
    for sign in (mark, harmless):
        model, label = f"{sign}model", f"{sign}ok"
        text = payments(200, seed=1).replace("tree", model).replace("ok", label)
        (folder / "p.csv").write_text(text.replace("\np", f"\n{sign}p"))
        cells = f"predicted\\actual,{label},fraud\n{label},0,100\nfraud,10,0\n"
        (folder / "c.csv").write_text(cells)
        plan = CELLS["audit plan"].replace("out.csv", "labels.csv").replace("MODEL", model)
        if command == "audit more":
            assert stakes("-q", *plan.split(), "--force").code == 0
            first, *rows = (folder / "labels.csv").read_text().splitlines()
            labelled = [f"{row}fraud" for row in rows]
            (folder / "labels.csv").write_text("\n".join([first, *labelled, ""]))
        said = stakes("-q", *CELLS[command].replace("MODEL", model).split())
        assert said.code == 0, said.err
        path = next(folder.glob("out.[ct]sv"))
        separator = "\t" if path.suffix == ".tsv" else ","
        written.append(list(csv.reader(io.StringIO(path.read_text()), delimiter=separator)))
        for each in folder.glob("out.*"):
            each.unlink()
    marked, plain = written
    names = tuple(f"{harmless}{name}" for name in ("model", "ok", "p"))
    assert any(cell.startswith(names) for row in plain for cell in row)
    expected = [
        [f"'{mark}{cell[1:]}" if cell.startswith(names) else cell for cell in row] for row in plain
    ]
    if command.startswith("audit"):  # other identifiers, other rows
        cells = [cell for row in marked for cell in row]
        assert not [cell for cell in cells if cell.startswith(mark)]
        assert any(cell.startswith(f"'{mark}p") for cell in cells)
    else:
        assert marked == expected
    if command == "curve --decision":
        assert any(cell.startswith("-") and float(cell) < 0 for row in marked for cell in row)


@pytest.mark.parametrize("priors", ["ok=0,fraud=1", "ok=1,fraud=0"])
def test_reports_at_a_prevalence_of_none_and_all(stakes, folder, priors):
    said = stakes(
        "-q", "report", "predictions.csv", *COSTS, "--class-priors", priors, "--out", "a.html"
    )
    assert said.code == 0, said.err
    assert (folder / "a.html").exists()


@pytest.mark.parametrize("command", ["evaluate", "compare", "report"])
def test_a_class_whose_rows_weigh_nothing_is_no_class_to_choose_on(command, stakes, folder):
    lines = ["bad,bad,0.9,1", "ok,ok,0.2,0", "bad,ok,0.4,1"] * 20
    (folder / "a.csv").write_text("\n".join(["actual,old,new,w", *lines, ""]))
    costs = ["--fp", "1", "--fn", "5", "--pos-label", "bad"]
    said = stakes(command, "a.csv", *costs, "--weight", "w")
    assert said.code == 0
    assert "there are no rows of the class 'ok' whose weight is not zero" in " ".join(
        said.out.split()
    )
    # The same file without the rows of weight zero.
    least = [each for each in lines if not each.startswith("ok")]
    (folder / "b.csv").write_text("\n".join(["actual,old,new,w", *least, ""]))
    (folder / "c.csv").write_text("predicted\\actual,ok,bad\nok,0,5\nbad,1,0\n")
    without = stakes(command, "b.csv", "-c", "c.csv", "--pos-label", "bad", "--weight", "w")
    table = re.search(r"old +2\.50.*|old +-2\.50.*", said.out)
    assert table is not None
    assert table[0] in without.out
