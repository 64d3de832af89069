"""Groups, weights, strata, populations, class priors and amounts, from the file to the results.

Point estimates are compared with a computation on the rows, for all pairs and triples of designs.
"""

import csv
import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

FEATURES = {
    "groups": ["--groups", "patient"],
    "weight": ["--weight", "weight"],
    "strata": ["--strata", "region"],
    "population": ["--strata", "region", "--population", "north=700,south=1300"],
    "priors": ["--class-priors", "fraud=0.1,ok=0.9"],
    "amount": ["--fp", "3", "--fn-column", "amount", "--pos-label", "fraud"],
}
DESIGNS = [
    each
    for size in (1, 2)
    for each in combinations(FEATURES, size)
    if not {"strata", "population"} <= set(each)
]
TRIPLES = [each for each in combinations(FEATURES, 3) if not {"strata", "population"} <= set(each)]
PLANNED = [*DESIGNS, ("groups", "population", "priors"), ("weight", "strata", "amount")]
MODELS = ["-m", "tree", "-m", "old"]
SHARES = {"north": 0.35, "south": 0.65}
PRIORS = {"fraud": 0.1, "ok": 0.9}
COSTS = {("ok", "fraud"): 100.0, ("fraud", "ok"): 10.0}


def options(design, *, costs=True):
    """Return the options of a design; costs of the classes unless those of rows are in it."""
    given = [word for name in design for word in FEATURES[name]]
    return given if "amount" in design or not costs else [*given, "-c", "costs.csv"]


@pytest.fixture
def rows(folder, drawn):
    """Write rows with groups, weights, strata and amounts, and return them.

    They are in rows.csv, and in plain.csv without scores.
    """
    lines = drawn(160, 5).splitlines()
    regions = np.random.default_rng(1).choice(["north", "south"], len(lines) - 1)
    text = [f"{line},{each}" for line, each in zip(lines, ["region", *regions], strict=True)]
    Path(folder / "rows.csv").write_text("\n".join(text) + "\n")
    with Path(folder / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    with Path(folder / "plain.csv").open("w") as file:
        names = [name for name in rows[0] if not name.endswith("_score")]
        plain = csv.DictWriter(file, names, extrasaction="ignore")
        plain.writeheader()
        plain.writerows(rows)
    return rows


def expected(rows, design, decide):
    """Return the mean cost, computed row by row, of the decision that `decide` takes on a row."""
    actual = np.array([row["actual"] for row in rows])
    region = np.array([row["region"] for row in rows])
    weight = np.ones(len(rows))
    if "weight" in design:
        weight = np.array([float(row["weight"]) for row in rows])
    margins = []
    if {"strata", "population"} & set(design):
        seen = {each: weight[region == each].sum() / weight.sum() for each in SHARES}
        margins.append((region, SHARES if "population" in design else seen))
    if "priors" in design:
        margins.append((actual, PRIORS))
    for _ in range(100 if margins else 0):
        for names, shares in margins:
            for name, share in shares.items():
                weight[names == name] *= share / weight[names == name].sum()
    cost = [cost_of(row, decide(row), amounts="amount" in design) for row in rows]
    return float(weight @ cost / weight.sum())


def cost_of(row, decision, *, amounts):
    if decision == row["actual"]:
        return 0.0
    if amounts:
        return float(row["amount"]) if decision == "ok" else 3.0
    return COSTS[decision, row["actual"]]


def results(stakes, *arguments):
    said = stakes("-q", *arguments, "--json", "found.json")
    assert said.code == 0, said.err
    return json.loads(Path("found.json").read_text())


@pytest.mark.parametrize("design", DESIGNS, ids="-".join)
def test_costs_are_those_computed_on_the_rows(design, stakes, rows):
    # With scores, each threshold is evaluated too, which takes most of the time.
    file = "plain.csv" if len(design) == 2 else "rows.csv"
    found = results(stakes, "evaluate", file, *MODELS, *options(design))
    costs = {each["name"]: each for each in found["policies"]}
    for name in ("tree", "old"):
        right = expected(rows, design, lambda row, name=name: row[name])
        assert costs[name]["cost"] == pytest.approx(right, rel=1e-9)
        assert costs[name]["low"] <= right <= costs[name]["high"]
    for decision in ("ok", "fraud"):
        right = expected(rows, design, lambda _, decision=decision: decision)
        assert costs[f"always {decision}"]["cost"] == pytest.approx(right, rel=1e-9)
    for model in found["models"]:
        whole = costs[model["policy"]]["in_sample_cost"]  # cells are of what is deployed
        assert np.sum(model["contributions"]) == pytest.approx(whole, rel=1e-9)
    by_policy = {each["name"]: each["cost"] for each in found["policies"]}
    pairs = results(stakes, "compare", file, *MODELS, *options(design))["pairs"]
    assert len(pairs) == sum(each["competes"] for each in found["policies"]) - 1
    for compared in pairs:
        difference = by_policy[compared["first"]] - by_policy[compared["second"]]
        assert compared["difference"] == pytest.approx(difference, rel=1e-9)


@pytest.mark.parametrize("design", TRIPLES, ids="-".join)
def test_triples_of_designs_are_those_computed_on_the_rows(design, stakes, rows):
    """One run of two commands each: what differs between pairs and triples is the estimate."""
    found = results(stakes, "compare", "plain.csv", *MODELS, *options(design))
    costs = {each["name"]: each["cost"] for each in found["policies"]}
    for name in ("tree", "old"):
        right = expected(rows, design, lambda row, name=name: row[name])
        assert costs[name] == pytest.approx(right, rel=1e-9)
    for pair in found["pairs"]:
        difference = costs[pair["first"]] - costs[pair["second"]]
        assert pair["difference"] == pytest.approx(difference, rel=1e-9)
        assert pair["low"] <= pair["difference"] <= pair["high"]
    chosen = results(stakes, "threshold", "rows.csv", "-s", "tree_score", *options(design))
    choice = chosen["models"][0]["choice"]
    cut = float(choice["threshold"])
    right = expected(rows, design, lambda row: "fraud" if float(row["tree_score"]) >= cut else "ok")
    assert choice["in_sample_cost"] == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize(
    ("design", "kind"),
    [
        (("groups",), "json"),
        (("weight",), "parquet"),
        (("strata",), "json"),
        (("amount",), "parquet"),
        (("groups", "weight", "strata"), "json"),
        (("groups", "weight", "strata"), "parquet"),
        (("groups", "weight", "amount"), "json"),
        (("groups", "weight", "amount"), "parquet"),
    ],
)
def test_count_files_keep_the_design_and_parts_add_up_to_the_whole(
    design, kind, stakes, rows, folder
):
    lines = (folder / "rows.csv").read_text().splitlines(keepends=True)
    parts = []
    for number, some in enumerate((lines[1:60], lines[60:])):
        (folder / f"{number}.csv").write_text("".join([lines[0], *some]))
        parts.append(f"{number}.{kind}")
        counted = ["count", f"{number}.csv", *MODELS, *options(design), "--out", parts[-1]]
        assert stakes(*counted).code == 0
    assert stakes("merge", *parts, "--out", f"all.{kind}").code == 0
    costs = [] if "amount" in design else ["-c", "costs.csv"]
    whole = results(stakes, "evaluate", "rows.csv", *MODELS, *options(design))
    found = results(stakes, "evaluate", f"all.{kind}", *costs)
    for key in ("groups", "n_groups", "strata", "n_strata", "sample_weight", "caution"):
        assert found["data"]["sampling"][key] == whole["data"]["sampling"][key]
    assert found["data"]["n"] == len(rows)
    for one, other in zip(found["models"], whole["models"], strict=True):
        assert one["name"] == other["name"]
        for key in ("cost", "low", "high"):
            assert one[key] == pytest.approx(other[key], rel=1e-9)


def test_counts_of_other_designs_are_not_merged(stakes, rows, folder):
    assert rows
    for name, more in {
        "a": ["--groups", "patient"],
        "b": ["--groups", "customer"],
        "c": [],
    }.items():
        out = ["--out", f"{name}.json"]
        assert stakes("count", "rows.csv", *MODELS, "-c", "costs.csv", *more, *out).code == 0
    said = stakes("merge", "a.json", "b.json", "--out", "d.json")
    assert said.code == 2
    assert "different groups: one was counted by the column 'patient'" in said.err
    assert stakes("merge", "a.json", "c.json", "--out", "d.json").code == 2
    assert not (folder / "d.json").exists()


@pytest.mark.parametrize(
    "design",
    [("groups",), ("weight",), ("population",), ("groups", "weight", "priors")],
    ids="-".join,
)
def test_thresholds_take_designs(design, stakes, rows):
    found = results(stakes, "threshold", "rows.csv", "-s", "tree_score", *options(design))
    choice = found["models"][0]["choice"]
    cut = float(choice["threshold"])
    right = expected(rows, design, lambda row: "fraud" if float(row["tree_score"]) >= cut else "ok")
    assert choice["in_sample_cost"] == pytest.approx(right, rel=1e-9)
    assert found["data"]["sampling"] is not None


@pytest.mark.parametrize("design", [("groups",), ("weight", "strata")], ids="-".join)
def test_curves_take_designs(design, stakes, rows):
    assert rows
    found = results(stakes, "curve", "rows.csv", *MODELS, "-s", "tree_score", *options(design))
    assert found["data"]["sampling"]["text"]


def test_the_report_takes_designs(stakes, rows, folder):
    """The page itself, for every design, is in tests/findings/test_designs.py."""
    assert rows
    given = ["rows.csv", *MODELS, *options(("groups",)), "--json", "found.json"]
    said = stakes("-q", "report", *given)
    assert said.code == 0, said.err
    text = json.loads((folder / "found.json").read_text())["data"]["sampling"]["text"]
    page = (folder / "report.html").read_text()
    assert "Sampling design" in page
    assert text
    assert text.replace("'", "&#39;") in page


def test_scores_alone_decide_by_the_costs_of_each_row(stakes, rows):
    arguments = ["evaluate", "rows.csv", "-s", "tree_score", *FEATURES["amount"]]
    cost = results(stakes, *arguments)["models"][0]["cost"]

    def decide(row):
        p = float(row["tree_score"])
        return "fraud" if p * float(row["amount"]) >= (1 - p) * 3 else "ok"

    assert cost == pytest.approx(expected(rows, ("amount",), decide), rel=1e-12)


def test_the_population_may_be_in_a_file_or_one_number(stakes, rows, folder):
    assert rows
    (folder / "p.csv").write_text("region,rows\nnorth,700\nsouth,1300\n")
    (folder / "p.json").write_text('{"north": 700, "south": 1300}')
    common = ["evaluate", "rows.csv", "-m", "tree", "-c", "costs.csv"]
    given = ["north=700,south=1300", "p.csv", "p.json"]
    found = [
        results(stakes, *common, "--strata", "region", "--population", each)["models"]
        for each in given
    ]
    assert found[0] == found[1] == found[2]
    whole, part = (
        results(stakes, *common, *more)["models"][0] for more in ([], ["--population", "200"])
    )
    assert part["cost"] == whole["cost"]
    assert part["high"] < whole["high"]


def test_the_population_of_many_strata_is_not_taken_for_a_file(stakes, rows, folder):
    names = [f"a region with the number {place}" for place in range(16)]
    lines = (folder / "rows.csv").read_text().splitlines()
    parts = [f"{line},{names[place % 16]}" for place, line in enumerate(lines[1:])]
    (folder / "many.csv").write_text("\n".join([f"{lines[0]},part", *parts]) + "\n")
    sizes = {name: 1000 + place for place, name in enumerate(names)}
    (folder / "p.json").write_text(json.dumps(sizes))
    text = ",".join(f"{name}={size}" for name, size in sizes.items())
    assert len(rows) >= len(names)
    assert len(text) > 255
    common = ["evaluate", "many.csv", "-m", "tree", "-c", "costs.csv", "--strata", "part"]
    found = [results(stakes, *common, "--population", each)["models"] for each in (text, "p.json")]
    assert found[0] == found[1]


def test_strata_by_the_actual_classes_fix_their_numbers(stakes, rows):
    common = ["evaluate", "rows.csv", "-m", "tree", "-c", "costs.csv"]
    plain, fixed = (results(stakes, *common, *more) for more in ([], ["--strata", "actual"]))
    assert fixed["models"][0]["cost"] == pytest.approx(plain["models"][0]["cost"])
    assert fixed["data"]["sampling"]["n_strata"] == 2
    assert len(rows) == fixed["data"]["n"]


def test_few_groups_are_not_claimed_to_be_enough(stakes, folder, drawn):
    (folder / "few.csv").write_text(drawn(30, 3))
    said = stakes("-q", "evaluate", "few.csv", "-c", "costs.csv", "--groups", "patient")
    assert "The groups are worth only 15 independent ones" in said.out
    assert "the confidence is not claimed" in " ".join(said.out.split())
    one = ["few.csv", "-c", "costs.csv", "-m", "tree", "--groups", "patient"]
    found = results(stakes, "report", *one)
    assert found["verdict"]["notes"][0] == found["data"]["sampling"]["caution"]


def test_groups_are_never_guessed(stakes, rows):
    assert rows
    said = stakes("evaluate", "rows.csv", "-c", "costs.csv")
    assert "groups by" not in said.out
    assert "All rows are taken as independent, but values of 'patient' repeat." in said.err


CASES = {
    "no such column": (["--groups", "patients"], "there is no column 'patients'.*'patient'"),
    "a column of two parts": (["--groups", "tree", "-m", "tree"], "named as groups and as a model"),
    "no numbers": (["--weight", "region"], "rows.csv, line 2, column 'region': .* not a number"),
    "an unknown stratum": (
        ["--strata", "region", "--population", "north=1,west=2"],
        "--population: expected one of 'north', 'south', got 'west'",
    ),
    "strata without a column": (["--population", "north=1,south=2"], "--population: it names"),
    "no number of rows": (["--strata", "region", "--population", "north=x"], "--population"),
    "two costs": (["--fn", "3", "--fn-column", "amount"], "one cost, or the column of costs"),
    "one group": (["--groups", "one"], "at least two groups"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_does_not_fit_is_named(name, stakes, rows, folder):
    assert rows
    lines = (folder / "rows.csv").read_text().splitlines()
    lines = [f"{lines[0]},one", *(f"{line},x" for line in lines[1:])]
    (folder / "rows.csv").write_text("\n".join(lines))
    more, message = CASES[name]
    costs = [] if name == "two costs" else ["-c", "costs.csv"]
    said = stakes("-q", "evaluate", "rows.csv", *costs, *more)
    assert said.code == 2
    assert "unexpected" not in said.err
    assert re.search(message, said.err), said.err


SIMULATED = [
    ("groups",),
    ("strata",),
    ("priors",),
    ("groups", "weight"),
    ("groups", "strata"),
    ("population", "priors"),
    ("groups", "weight", "population"),
]


@pytest.mark.parametrize("design", SIMULATED, ids="-".join)
def test_simulations_draw_test_sets_of_the_design(design, stakes, rows):
    """What is taken as true is computed on the rows; both models cost the same in type-one."""
    told = [*MODELS, *options(design), "--method", "extremal"]
    found = results(stakes, "simulate", "coverage", "plain.csv", *told, "--repeats", "20")
    for each in found["results"]:
        if each["models"][0] in {"tree", "old"}:
            right = expected(rows, design, lambda row, each=each: row[each["models"][0]])
            assert each["result"]["truth"] == pytest.approx(right, rel=1e-6)
            assert each["result"]["coverage"] > 0.6
            assert each["result"]["n"] == len(rows)
    found = results(stakes, "simulate", "type-one", "plain.csv", *told, "--repeats", "10")
    assert all(each["result"]["size"] <= 0.3 for each in found["results"])
    sizes = ["--n", "100", "--n", "800", "--difference", "5", "--repeats", "10"]
    found = results(stakes, "simulate", "power", "plain.csv", *told, *sizes)
    for each in found["results"]:
        assert each["result"]["n"] == [100, 800]
        assert each["result"]["difference"] == pytest.approx(5)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--weight", "weight"], "which rows had them.*Use --groups with a column"),
        (["--groups", "patient", "--smooth", "0.1"], "--smooth: what was not observed has no"),
    ],
)
def test_what_cannot_be_simulated_is_named(more, message, stakes, rows):
    assert rows
    said = stakes("-q", "simulate", "coverage", "plain.csv", *MODELS, "-c", "costs.csv", *more)
    assert said.code == 2
    assert re.search(message, " ".join(said.err.split())), said.err


def test_simulations_refuse_costs_of_single_rows(stakes, rows):
    assert rows
    counted = ["count", "rows.csv", *MODELS, *options(("amount",)), "--out", "a.json"]
    assert stakes(*counted).code == 0
    said = stakes("-q", "simulate", "coverage", "a.json")
    assert said.code == 2
    assert "simulations take costs of the classes" in said.err


# Numbers are those of tests/infer/test_planning_designs.py.
@pytest.mark.parametrize("design", [each for each in PLANNED if len(each) != 2], ids="-".join)
def test_a_plan_for_a_design(design, stakes, rows):
    assert rows
    said = stakes(
        "-q", "plan", "plain.csv", *MODELS, *options(design), "--half-width", "20", "--json", "-"
    )
    assert said.code == 0, said.err
    plans = json.loads(said.out)["plans"]
    assert {each["name"] for each in plans} >= {"tree", "old"}
    for each in plans:
        drawn = each["plan"]["drawn"]
        assert ("come in groups" in drawn) == ("groups" in design)
        assert ("have weights" in drawn) == ("weight" in design)
        assert ("by strata" in drawn) == bool({"strata", "population"} & set(design))


def test_a_plan_to_show_a_difference_for_a_design(stakes, rows):
    assert rows
    asked = ["-q", "plan", "plain.csv", *MODELS, "--difference", "5", "--json", "-"]
    sizes = {}
    for design in ((), ("groups",), ("weight", "strata"), ("groups", "amount", "population")):
        said = stakes(*asked, *options(design))
        assert said.code == 0, said.err
        sizes[design] = json.loads(said.out)["plans"][0]["plan"]["n"]
    assert sizes["weight", "strata"] > sizes[()]
    said = stakes("plan", "-c", "costs.csv", "--half-width", "3", "--groups", "patient")
    assert said.code == 2
    assert "--groups: it is about the rows of a pilot" in said.err


@pytest.mark.parametrize(
    "design", [("amount",), ("amount", "groups"), ("amount", "weight", "population")]
)
def test_a_threshold_where_rows_have_their_own_costs(design, stakes, rows):
    found = results(stakes, "threshold", "rows.csv", *MODELS, *options(design))
    for model in found["models"]:
        choice = model["choice"]
        column, cut = f"{model['name']}_score", float(choice["threshold"])

        def decide(row, column=column, cut=cut):
            return "fraud" if float(row[column]) >= cut else "ok"

        assert choice["in_sample_cost"] == pytest.approx(expected(rows, design, decide), rel=1e-9)
        assert choice["interval"]["low"] <= choice["cost"] <= choice["interval"]["high"]


@pytest.mark.parametrize("design", [("population",), ("groups", "population")])
def test_curves_for_a_population(design, stakes, rows):
    assert rows
    found = results(stakes, "curve", "rows.csv", *MODELS, *options(design))
    assert found["curves"]["pairs"][0]["ranges"] is not None
    condition = found["curves"]["condition"]
    shares = {"fraud": 1.0, "ok": 0.0}
    positive = sum(
        SHARES[region] * np.mean([shares[r["actual"]] for r in rows if r["region"] == region])
        for region in SHARES
    )
    assert condition["prevalence"] == pytest.approx(positive)
