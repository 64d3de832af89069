"""The report by slice and by period, rates in the JSON, and decision curves of the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from stakes import CostMatrix, DecisionCurve, evaluate_by, evaluate_over, evaluate_rates

COSTS = CostMatrix.from_errors(
    false_positive=10, false_negative=100, pos_label="fraud", neg_label="ok"
)


@pytest.fixture
def rows(folder, payments):
    """Write payments with regions, channels and times, and return their columns."""
    header, *lines = payments(160, 3, {"tree": 0.8}).splitlines()
    rng = np.random.default_rng(0)
    region = rng.choice(["north", "south", ""], 160)
    channel = rng.choice(["web", "shop"], 160)
    day = rng.integers(1, 29, 160)
    month = rng.integers(1, 4, 160)
    when = [f"2026-{m:02d}-{d:02d}" for m, d in zip(month, day, strict=True)]
    late = [m == 3 and d > 20 for m, d in zip(month, day, strict=True)]
    arrived = ["" if each else "2026-05-01" for each in late]
    more = zip(lines, region, channel, when, arrived, strict=True)
    text = [f"{header},region,channel,decided_at,labelled_at", *(",".join(each) for each in more)]
    (folder / "rows.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    cells = [line.split(",") for line in lines]
    open_ = [
        ",".join([line[0], "", *line[2:]]) if missing else ",".join(line)
        for line, missing in zip(cells, late, strict=True)
    ]
    more = zip(open_, region, channel, when, arrived, strict=True)
    text = [text[0], *(",".join(each) for each in more)]
    (folder / "open.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    actual, tree = (np.array([line[place] for line in cells]) for place in (1, 2))
    score = np.array([float(line[3]) for line in cells])
    return {
        "actual": actual,
        "tree": tree,
        "score": score,
        "region": [each or None for each in region],
        "channel": channel,
        "when": when,
        "late": np.array(late),
        "arrived": [each or None for each in arrived],
    }


BASE = ("--fp", "10", "--fn", "100", "--pos-label", "fraud", "--json", "found.json")


def found():
    return json.loads(Path("found.json").read_text(encoding="utf-8"))


def exactly(stakes, *arguments):
    said = stakes("-q", *arguments)
    assert said.code == 0, said.err
    return said


def test_slices_and_periods_of_the_report(stakes, rows):
    said = exactly(
        stakes, "report", "rows.csv", *BASE, "--by", "region, channel,region:channel",
        "--time", "decided_at", "--out", "page.html",
    )  # fmt: skip
    report = found()
    policy = next(each for each in report["policies"] if each["name"] == report["verdict"]["use"])
    cut = policy["cuts"][0]["from"] if policy["cuts"] else None
    decided = rows["tree"] if cut is None else np.where(rows["score"] >= cut, "fraud", "ok")
    by = {"region": rows["region"], "channel": rows["channel"]}
    columns = ["region", "channel", "region:channel"]
    expected = evaluate_by(rows["actual"], decided, COSTS, by=by, columns=columns).slices()
    assert [each["slice"] for each in report["slices"]] == [each.slice_ for each in expected]
    for one, other in zip(report["slices"], expected, strict=True):
        assert set(one) == {"column", "slice", "n", "cost", "low", "high", "share", "verdict"}
        assert one["cost"] == pytest.approx(other.cost)
        assert (one["low"], one["high"]) == pytest.approx((other.low, other.high))
    periods = evaluate_over(rows["actual"], decided, COSTS, time=rows["when"]).periods()
    assert [each["period"] for each in report["periods"]] == ["2026-01", "2026-02", "2026-03"]
    for one, other in zip(report["periods"], periods, strict=True):
        assert one["running_high"] == pytest.approx(other.running_high)
        assert one["complete"]
    assert "region: (missing)" in said.out
    page = Path("page.html").read_text(encoding="utf-8")
    assert 'id="slices-table"' in page
    assert 'id="periods-table"' in page
    assert 'id="calibration-bins-table"' in page
    assert "slices is shown to differ" in page or "slices are shown to differ" in page
    assert "--by 'region, channel,region:channel' --time decided_at --every month" in page.replace(
        "&#39;", "'"
    )


def test_labels_that_have_not_arrived(stakes, rows):
    said = exactly(
        stakes, "report", "open.csv", *BASE, "-m", "tree", "--time", "decided_at",
        "--labelled-at", "labelled_at", "--out", "page.html",
    )  # fmt: skip
    report = found()
    assert report["data"]["n"] == (~rows["late"]).sum()
    last = report["periods"][-1]
    assert not last["complete"]
    assert last["labelled"] < last["n"]
    assert last["running"] is None
    assert "incomplete" in said.out
    missing = rows["late"].sum()
    told = stakes("report", "open.csv", *BASE, "-m", "tree", "--time", "decided_at",
                  "--labelled-at", "labelled_at", "--out", "page.html")  # fmt: skip
    assert f"{missing} of 160 rows lack a value and are left out." in " ".join(told.err.split())
    assert stakes("report", "open.csv", *BASE, "--time", "decided_at").code == 2
    assert stakes("report", "rows.csv", *BASE, "--labelled-at", "labelled_at").code == 2


def test_what_divides_the_rows_is_no_model_and_is_used(stakes, folder, rows):  # noqa: ARG001
    """A column of 0 and 1 that is named to slice by does not compete as a model."""
    rng = np.random.default_rng(1)
    y = rng.binomial(1, 0.3, 200)
    lines = [f"{a},{a if u < 0.9 else 1 - a},{v}" for a, u, v in
             zip(y, rng.random(200), rng.binomial(1, 0.5, 200), strict=True)]  # fmt: skip
    (folder / "flags.csv").write_text("actual,m,is_new\n" + "\n".join(lines), encoding="utf-8")
    given = ("flags.csv", "--fp", "1", "--fn", "5", "--json", "found.json", "--out", "page.html")
    said = stakes("report", *given, "--by", "is_new")
    assert said.code == 0, said.err
    assert [each["name"] for each in found()["models"]] == ["m"]
    assert {each["slice"] for each in found()["slices"]} == {"0", "1"}
    assert "is_new" not in said.err
    said = stakes("report", *given)
    assert [each["name"] for each in found()["models"]] == ["m"]
    assert "Not judged: is_new (" in " ".join(said.err.split())


def test_what_is_to_be_known_of_slices_and_periods(stakes, folder, rows):
    said = exactly(
        stakes, "report", "rows.csv", *BASE, "--by", "region", "--time", "decided_at",
        "--out", "page.html",
    )  # fmt: skip
    words = " ".join(said.out.split())
    assert "All 3 intervals hold together with 95% confidence, and so do all verdicts." in words
    assert "All decisions to the end of 2026-03 cost" in words
    report = found()
    policy = next(each for each in report["policies"] if each["name"] == report["verdict"]["use"])
    assert policy["cross_fitted"] == any(
        note.startswith("The threshold was chosen on these rows. With it they cost")
        for note in report["divided_notes"]
    )
    text = (folder / "rows.csv").read_text(encoding="utf-8")
    for number, when in enumerate(rows["when"]):
        text = text.replace(f",{when},", f",{when}T12:00{'Z' if number % 2 else '+05:00'},", 1)
    (folder / "zones.csv").write_text(text, encoding="utf-8")
    exactly(stakes, "report", "zones.csv", *BASE, "--time", "decided_at", "--out", "page.html")
    assert "Times of several zones are compared in UTC." in found()["divided_notes"]
    assert "Times of several zones" in Path("page.html").read_text(encoding="utf-8")


def test_too_many_slices_offer_the_largest_and_others(stakes, folder, rows):  # noqa: ARG001
    header, *lines = (folder / "rows.csv").read_text(encoding="utf-8").splitlines()
    many = [f"{line},{number}" for number, line in enumerate(lines)]
    text = "\n".join([f"{header},customer_name", *many])
    (folder / "many.csv").write_text(text, encoding="utf-8")
    said = stakes("report", "many.csv", *BASE, "--by", "customer_name", "--out", "page.html")
    assert said.code == 2
    assert "160 different values" in said.err
    assert "Give --most-slices 20" in said.err
    exactly(
        stakes, "report", "many.csv", *BASE, "--by", "customer_name", "--most-slices", "2",
        "--out", "page.html",
    )  # fmt: skip
    assert {each["slice"]: each["n"] for each in found()["slices"]}["(other)"] == 158


def test_slices_and_periods_of_rows_with_costs_of_their_own(stakes, folder, rows):
    header, *lines = (folder / "rows.csv").read_text(encoding="utf-8").splitlines()
    loss = np.random.default_rng(2).uniform(50, 150, len(lines)).round(2)
    text = "\n".join(
        [f"{header},loss", *(f"{line},{each}" for line, each in zip(lines, loss, strict=True))]
    )
    (folder / "loss.csv").write_text(text, encoding="utf-8")
    exactly(
        stakes, "report", "loss.csv", "--fp", "10", "--fn-column", "loss", "--pos-label", "fraud",
        "-m", "tree", "--by", "region", "--time", "decided_at", "--json", "found.json",
        "--out", "page.html",
    )  # fmt: skip
    report = found()
    policy = next(each for each in report["policies"] if each["name"] == report["verdict"]["use"])
    for parts in (report["slices"], report["periods"]):
        total = sum(each["n"] * each["cost"] for each in parts)
        assert total / len(lines) == pytest.approx(policy["cost"])
    if policy["kind"] == "decisions":
        missed, alarm = rows["actual"] == "fraud", rows["tree"] == "fraud"
        paid = np.where(missed & ~alarm, loss, np.where(alarm & ~missed, 10, 0))
        assert policy["cost"] == pytest.approx(paid.mean())


def test_rates_in_the_json(stakes, rows):
    exactly(stakes, "evaluate", "rows.csv", *BASE, "-m", "tree")
    report = found()
    model = report["models"][0]
    rates = model["rates"]
    assert rates["pos_label"] == "fraud"
    if model["policy"] == "tree":
        direct = evaluate_rates(rows["actual"], rows["tree"], pos_label="fraud")
        for name in ("recall", "specificity", "precision", "npv", "f1", "mcc"):
            assert rates[name] == pytest.approx(direct.rate(name).to_dict())
    for name in ("recall", "precision", "f1", "accuracy", "balanced_accuracy", "kappa"):
        assert rates[name]["low"] <= rates[name]["value"] <= rates[name]["high"]
    assert rates["by_class"] == []


def test_decision_curves(stakes, rows):
    said = exactly(
        stakes, "curve", "rows.csv", "--decision", "--csv", "curve.csv", "--out", "curve.png", *BASE
    )
    assert "net benefit" in said.out
    (decision,) = found()["decision"]
    curve = DecisionCurve.from_scores(rows["actual"], rows["score"], pos_label="fraud")
    at = np.array(decision["threshold"])
    np.testing.assert_allclose(decision["net_benefit"], curve.net_benefit(at), atol=1e-12)
    np.testing.assert_allclose(decision["treat_all"], curve.treat_all(at), atol=1e-12)
    assert decision["prevalence"] == pytest.approx((rows["actual"] == "fraud").mean())
    assert found()["curves"] is None
    header = Path("curve.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.startswith("model,threshold,net_benefit,low,high")
    assert Path("curve.png").read_bytes().startswith(b"\x89PNG")
    exactly(stakes, "curve", "rows.csv", "--decision", "--prevalence", "0.1", *BASE)
    assert found()["decision"][0]["prevalence"] == pytest.approx(0.1)


def test_bad_input_names_the_column(stakes, rows):  # noqa: ARG001 - which writes the file
    said = stakes("report", "rows.csv", *BASE, "--by", "regoin")
    assert said.code == 2
    assert "'region'" in said.err
    assert stakes("report", "rows.csv", *BASE, "--time", "region").code == 2
    said = stakes("report", "rows.csv", *BASE, "--by", "id")
    assert said.code == 2
    assert "160 different values" in said.err
    exactly(stakes, "report", "rows.csv", *BASE, "--by", "id", "--most-slices", "5")
    assert len(found()["slices"]) == 6
    Path("margins.csv").write_text(
        "actual,model_score\nok,-3\nfraud,2\nok,1\nfraud,4\n", encoding="utf-8"
    )
    said = stakes("curve", "margins.csv", "--decision", "--pos-label", "fraud")
    assert said.code == 2
    assert "from 0 to 1" in said.err
