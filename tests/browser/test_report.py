"""The report in a real browser: what it shows is what Python computes."""

from dataclasses import replace

import pytest
from _helpers.report_studies import (
    HOSTILE_CLASSES,
    HOSTILE_MODELS,
    STUDIES,
    findings_of,
    many_classes,
    study_of,
)
from _helpers.retuned import retuned

from stakes import CostMatrix, Design, choose_threshold, evaluate
from stakes._core.text import amount, number, p_value
from stakes.curves import cost_ratio, operating_condition
from stakes.findings import Settings, findings
from stakes.findings.other_costs import other_costs_of
from stakes.findings.policies import compared_found
from stakes.policies.verdict import Stated, verdict_of
from stakes.show.report import write_report
from stakes.show.report._page import SCRIPTS

SHOWN = {"rel": 0, "abs": 1e-6}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Write each report once."""
    folder = tmp_path_factory.mktemp("reports")

    def get(name):
        path = folder / f"{name}.html"
        if not path.exists():
            write_report(findings_of(name), path)
        return path.as_uri()

    return get


WIDE, PHONE = 1280, 360
STATE = """() => {
    const copy = document.body.cloneNode(true);
    copy.querySelectorAll("[data-chart], script").forEach((each) => each.replaceChildren());
    const boxes = [...document.querySelectorAll("input, select")].map((each) => each.value);
    const charts = [...document.querySelectorAll("[data-chart] svg")];
    const sizes = charts.map((each) => each.getAttribute("viewBox"));
    return [copy.outerHTML, ...boxes, ...sizes].join("\\n");
}"""
RESET = """() => {
    for (const part of ["pc", "threshold", "costs"]) {
        document.getElementById(`${part}-reset`)?.click();
    }
}"""


class Opened:
    """A report in a window of some width, which tests share: each leaves it as it found it."""

    def __init__(self, page, address, width):
        self.page, self._width = page, width
        self._as_window()
        page.goto(address)
        page.wait_for_selector("html[data-drawn]")
        self._state = page.evaluate(STATE)

    def reset(self):
        """Undo all edits with the page's own buttons, and see that none left a trace."""
        self._as_window()
        self.page.evaluate(RESET)
        self.page.wait_for_function(f"(state) => ({STATE})() === state", arg=self._state)

    def _as_window(self):
        self.page.set_viewport_size({"width": self._width, "height": 800})
        self.page.emulate_media(media="screen", color_scheme="light")


@pytest.fixture(scope="module")
def opened(blank_page, reports):
    """Open each report once in each width."""
    pages = {}

    def get(name, width):
        if (name, width) not in pages:
            pages[name, width] = Opened(blank_page(), reports(name), width)
        return pages[name, width]

    yield get
    for each in pages.values():
        each.page.close()


@pytest.fixture
def report(opened):
    """Return a report that is open and drawn, as if it were new."""
    used = []

    def get(name, width=WIDE):
        used.append(opened(name, width))
        return used[-1].page

    yield get
    for each in used:
        each.reset()


def value(locator):
    return float(locator.get_attribute("data-value"))


def shown(row, field):
    """Return the number in full that stands behind a read-out, after comparing it with its text."""
    cell = row.locator(f"[data-field='{field}']").first
    return value(cell), cell.inner_text()


def check(row, field, expected, text=number):
    found, said = shown(row, field)
    assert found == pytest.approx(expected, **SHOWN), field
    if text is not None:
        assert said == text(found)


def close_numbers(found, expected):
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


# ---- opening


@pytest.mark.parametrize("name", STUDIES)
def test_a_report_opens_from_disk_and_draws_everything(report, name):
    page = report(name)
    plots = page.locator("[data-chart]")
    assert plots.count() >= 3
    for i in range(plots.count()):
        box = plots.nth(i).locator("svg").bounding_box()
        assert box["width"] > 100
        assert box["height"] > 40
    assert page.locator("#verdict-text").text_content() == findings_of(name).verdict.text


# ---- the slider over operating conditions


@pytest.mark.parametrize("name", ["example", "correct"])
def test_the_condition_slider_reads_off_each_curve(report, name):
    page, study = report(name), study_of(name)
    for pc in (0, 0.05, 0.223, 0.5, 0.732, 0.93, 1):
        page.locator("#pc").fill(str(pc))
        check_curves(page, study, pc)


def check_curves(page, study, pc):
    for place, (model, curve) in enumerate(study.curves().items()):
        row = page.locator(f"#pc-table [data-curve='{place}']")
        assert row.locator("th").inner_text() == model
        band = curve.band(study.confidence, pc=[pc])
        check(row, "cost", curve.cost(pc))
        check(row, "low", band.low[0])
        check(row, "high", band.high[0])
        threshold = curve.threshold(pc)
        assert shown(row, "threshold")[0] == threshold
        line = curve.line(threshold)
        check(row, "tpr", line.tpr, text=None)
        check(row, "fpr", line.fpr, text=None)
    assert value(page.locator("#pc-out")) == pc
    check(page.locator("#pc-trivial"), "cost", min(pc, 1 - pc))


def test_the_condition_begins_at_the_stated_costs_and_returns_there(report):
    page, found = report("example"), findings_of("example")
    stated = found.curves.condition.pc
    assert value(page.locator("#pc-out")) == stated
    page.locator("#pc").fill("0.2")
    assert value(page.locator("#pc-out")) == 0.2
    page.locator("#pc-reset").click()
    assert value(page.locator("#pc-out")) == stated


def test_a_prevalence_and_a_ratio_of_costs_set_the_condition(report):
    page, curve = report("example"), study_of("example").curves()["logistic"]
    page.locator("#pc-prevalence").fill("5")
    page.locator("#pc-ratio").fill("8")
    pc = operating_condition(prevalence=0.05, false_positive=1, false_negative=8)
    assert value(page.locator("#pc-out")) == pytest.approx(pc, abs=1e-12)
    check(page.locator("#pc-table [data-curve='0']"), "cost", curve.cost(pc))
    page.locator("#pc").fill("0.4")
    ratio = float(page.locator("#pc-ratio").input_value())
    assert ratio == pytest.approx(cost_ratio(0.4, prevalence=0.05), rel=1e-5)


def test_a_condition_that_cannot_be_changes_nothing(report):
    page = report("example")
    before = page.locator("#pc-table").inner_text()
    page.locator("#pc-prevalence").fill("120")
    assert "between 0 and 100 %" in page.locator("#pc-problem").inner_text()
    assert page.locator("#pc-prevalence").get_attribute("aria-invalid") == "true"
    assert page.locator("#pc-table").inner_text() == before
    page.locator("#pc").fill("0.5")
    assert page.locator("#pc-problem").is_hidden()


def test_the_slider_moves_with_the_keyboard(report):
    page = report("example")
    page.locator("#pc").fill("0.5")
    page.locator("#pc").press("ArrowRight")
    assert value(page.locator("#pc-out")) == pytest.approx(0.501)
    assert page.locator("#pc").get_attribute("aria-valuetext") == "PC(+) = 0.501"


def test_another_pair_of_curves_can_be_picked(report):
    page = report("example")
    lines = page.locator("#chart-difference .mark-line path").first
    before = lines.get_attribute("d")
    page.locator("#pair").select_option("2")
    assert lines.get_attribute("d") != before
    page.locator("#pair").select_option("0")
    assert lines.get_attribute("d") == before


# ---- the chooser of thresholds


def chosen(study, model, miss, alarm, share):
    """Return Python's choice at these costs and this share of positives."""
    counts = study.scores[model]
    labels = (counts.neg_label, counts.pos_label)
    values = study.costs.values_for(labels, labels).copy()
    values[0, 1], values[1, 0] = miss, alarm
    costs = CostMatrix(values, rows="predicted", labels=labels)
    here = counts.n_positives / counts.n
    priors = None if share == here else dict(zip(labels, (1 - share, share), strict=True))
    return choose_threshold(counts, costs, class_priors=priors, confidence=study.confidence)


def check_choices(page, study, miss, alarm, share):
    for place, model in enumerate(study.curves()):
        choice = chosen(study, model, miss, alarm, share)
        row = page.locator(f"#threshold-table [data-curve='{place}']")
        assert shown(row, "threshold")[0] == choice.threshold
        check(row, "cost", choice.cost)
        for field in ("recall", "fpr", "alarms"):
            check(row, field, getattr(choice, field), text=None)
        scale = max(miss, alarm)
        for field in ("low", "high"):
            found, said = shown(row, field)
            assert found == pytest.approx(getattr(choice.interval, field), rel=0, abs=1e-6 * scale)
            assert said == number(found)
        card = page.locator(f"[data-choice='{place}']")
        for i in range(2):
            for j in range(2):
                cell = card.locator(f"[data-cell='{i}{j}']")
                check(cell, "count", choice.confusion.counts[i, j])
        total = sum(value(card.locator("b[data-field]").nth(i)) for i in range(4))
        assert total == pytest.approx(choice.cost)


@pytest.mark.parametrize("name", ["example", "correct"])
def test_the_chooser_begins_with_pythons_choice(report, name):
    page, study, found = report(name), study_of(name), findings_of(name)
    condition = found.curves.condition
    labels = study.costs.labels
    cells = study.costs.values_for(labels, labels)
    check_choices(page, study, cells[0, 1], cells[1, 0], condition.prevalence)
    for place, model in enumerate(found.curves.models):
        row = page.locator(f"#threshold-table [data-curve='{place}']")
        check(row, "cost", model.choice.cost)
        check(row, "low", model.choice.interval.low)


@pytest.mark.parametrize("name", ["example", "correct"])
def test_the_chooser_follows_its_boxes(report, name):
    page, study = report(name), study_of(name)
    share = findings_of(name).curves.condition.prevalence
    for miss, alarm in ((100, 7), (31, 900.5)):
        page.locator("#miss").fill(str(miss))
        page.locator("#alarm").fill(str(alarm))
        check_choices(page, study, miss, alarm, share)
    for percent in (2.5, 61):
        page.locator("#share").fill(str(percent))
        check_choices(page, study, miss, alarm, percent / 100)


def test_the_chooser_follows_each_slider(report):
    page, study = report("example"), study_of("example")
    stated = {"miss": 40_000.0, "alarm": 2000.0, "share": 106 / 285}
    for slider, position in (("miss", -1.3), ("alarm", 0.7), ("share", 0.12), ("share", 0.9)):
        page.locator(f"#{slider}-slider").fill(str(position))
        box = float(page.locator(f"#{slider}").input_value())
        if slider == "share":
            assert box == pytest.approx(100 * position)
            now = position
        else:
            assert box == pytest.approx(stated[slider] * 10**position, rel=5e-3)
            now = box
        check_choices(page, study, **(stated | {slider: now}))
        page.locator("#threshold-reset").click()
        check_choices(page, study, **stated)


def test_the_chooser_says_when_no_threshold_is_needed(report):
    page = report("example")
    status = page.locator("#threshold-status")
    assert status.inner_text().startswith("With its best threshold, 0.103474, logistic has the")
    page.locator("#miss").fill("0")
    assert status.inner_text() == "Calling nothing 'malignant' costs least, 0 USD a decision."
    page.locator("#threshold-reset").click()
    page.locator("#alarm").fill("0")
    assert status.inner_text() == (
        "With its best threshold, 0.03188, logistic has the lowest cost: 0 USD a decision."
    )


def test_a_mistake_must_not_be_cheaper_than_the_correct_decision(report):
    page = report("correct")
    before = page.locator("#threshold-table").inner_text()
    page.locator("#alarm").fill("0.5")  # a correct negative costs 1
    problem = page.locator("#threshold-problem")
    assert problem.inner_text() == (
        "A false alarm must cost at least 1, as the correct decision does."
    )
    assert page.locator("#alarm").get_attribute("aria-invalid") == "true"
    assert page.locator("#threshold-table").inner_text() == before


# ---- class priors


@pytest.mark.parametrize("share", [0.01, 0.0])
def test_a_page_with_class_priors_is_about_that_population(page, tmp_path, share):
    priors = {"benign": 1 - share, "malignant": share}
    study = replace(study_of("example"), design=Design(priors))
    found = findings(study, Settings(unit="USD"))
    write_report(found, tmp_path / "rare.html")
    page.goto((tmp_path / "rare.html").as_uri())
    page.wait_for_selector("html[data-drawn]")
    assert study.population() in page.locator("#verdict .notes").inner_text()
    assert page.locator("#cost-matrix").count() == 0
    condition = found.curves.condition
    assert condition.prevalence == share
    check_curves(page, study, condition.pc)
    assert float(page.locator("#pc-prevalence").input_value()) == 100 * share
    assert page.locator("#threshold-problem").is_hidden()
    check_choices(page, study, 40_000, 2000, share)
    for place, curve in enumerate(found.curves.models):
        row = page.locator(f"#threshold-table [data-curve='{place}']")
        check(row, "cost", curve.choice.cost)
        assert curve.choice.cost <= found.trivial[0].cost
        for field in ("low", "high"):
            limit = getattr(curve.choice.interval, field)
            assert shown(row, field)[0] == pytest.approx(limit, rel=0, abs=0.04)
    page.locator("#miss").fill("900")
    page.locator("#share").fill("25")
    check_choices(page, study, 900, 2000, 0.25)
    page.locator("#threshold-reset").click()
    check_choices(page, study, 40_000, 2000, share)


# ---- the editable costs


def edit(page, cells):
    for (i, j), text in cells.items():
        page.locator(f"#cost-{i}-{j}").fill(str(text))
    page.wait_for_selector("#cost-matrix:not([data-state='waiting'])")


def edited_policies(study, cells):
    """Return the policies at other costs, whose thresholds are chosen again where they can be."""
    values = study.costs.values.copy()
    for cell, cost in cells.items():
        values[cell] = cost
    if other_costs_of(study).tables[1:]:
        return retuned(study, [values.tolist()])[0]
    costs = study.costs
    named = {"rows": "predicted", "labels": costs.labels, "decisions": costs.decisions}
    return replace(study.policies, costs=CostMatrix(values, **named))


EDITS = [
    ("example", {(0, 1): 7777}),
    ("example", {(0, 0): 12.5, (1, 1): -3, (1, 0): 0.1}),
    ("one", {(0, 1): 123.45}),
    ("three", {(0, 2): 900, (2, 0): 0}),
    ("decisions", {(2, 0): 0.25, (1, 1): -200}),
    ("hostile", {(0, 1): 3}),
]


@pytest.mark.filterwarnings("ignore::stakes.errors.RareCostWarning")
@pytest.mark.parametrize(("name", "cells"), EDITS)
def test_edited_costs_give_pythons_numbers(report, name, cells, monkeypatch):
    monkeypatch.setattr("stakes.policies.verdict._to_settle", lambda *_: None)
    page, found, study = report(name), findings_of(name), study_of(name)
    edit(page, cells)
    policies = edited_policies(study, cells)
    for stated, policy in zip(study.policies.policies, policies.policies, strict=True):
        row = live_row(page, stated.name)
        assert row.locator("[data-field='name']").text_content() == policy.name
        limits = policies.interval(policy.name)
        cost = policies.estimate(policy.name).cost
        for field, expected in (("cost", cost), ("low", limits.low), ("high", limits.high)):
            close_numbers(shown(row, field)[0], expected)
            assert shown(row, field)[1] == number(shown(row, field)[0])
        if found.settings.volume:
            over, text = shown(row, "over")
            close_numbers(over, cost * found.settings.volume)
            assert text == amount(over)
        said = row.locator("[data-field='note']").text_content()
        assert ("cannot be made again" in said) == (policy.kind == "decisions")
        assert ("chosen again" in said) == (policy.kind == "threshold")
    check_pairs(page, policies)
    settings = found.settings
    stated = Stated(settings.unit, settings.volume, settings.per)
    said = page.locator("#live-verdict").text_content()
    assert said == verdict_of(policies, study.n, stated).text


def live_row(page, name):
    rows = page.locator("#live-table [data-policy]")
    names = rows.evaluate_all("(rows) => rows.map((row) => row.dataset.policy)")
    return rows.nth(names.index(name))


def check_pairs(page, policies):
    rows = page.locator("#live-pairs tbody tr")
    assert rows.count() == len(policies.pairs)
    for place, each in enumerate(policies.pairs):
        row, pair = rows.nth(place), compared_found(policies, each)
        said = row.locator("[data-field='pair']").text_content()
        assert said.split() == f"{pair.first} − {pair.second}".split()
        for field in ("difference", "p_value", "adjusted", "low", "high"):
            found = shown(row, field)[0]
            assert found == pytest.approx(getattr(pair, field), rel=1e-5, abs=1e-5)
        verdict = f"{pair.first} costs less" if pair.shown else "cannot be told apart"
        assert row.locator("[data-field='verdict']").text_content().split() == verdict.split()
        warning = row.locator("[data-field='warning']").text_content()
        assert warning == (pair.warning or "")


def test_edited_costs_are_those_of_evaluate(report):
    """The same for decisions as they stand, from labels instead of counts."""
    import pandas as pd
    from _helpers.report_studies import ROOT

    page = report("example")
    edit(page, {(0, 1): 9000, (1, 0): 450})
    tumours = pd.read_csv(ROOT / "examples/breast_cancer.csv")
    labels = ["benign", "malignant"]
    costs = CostMatrix([[0, 9000], [450, 0]], rows="predicted", labels=labels)
    for model in findings_of("example").models:
        estimate = evaluate(tumours["actual"], tumours[model.name], costs)
        row, limits = live_row(page, model.name), estimate.interval()
        close_numbers([shown(row, f)[0] for f in ("cost", "low", "high")], [estimate.cost, *limits])


def test_the_page_says_for_which_costs_thresholds_were_chosen(report):
    page = report("example")
    note = page.locator("#live-note")
    assert note.is_hidden()
    edit(page, {(0, 1): 8000})
    said = "nearest of 23 ratios of costs: a miss that costs as much as 5.024 false alarms; here it"
    assert said in note.inner_text()
    edit(page, {(0, 1): 80_000, (1, 0): 4000})
    assert note.inner_text() == "Thresholds were chosen again, for exactly these costs."
    edit(page, {(1, 0): -1})
    assert "never the more expensive one" in note.inner_text()
    edit(page, {(0, 1): -1})
    assert note.inner_text().startswith("Thresholds stay as they are")
    page.locator("#costs-reset").click()
    assert note.is_hidden()


@pytest.mark.parametrize("name", STUDIES)
def test_stated_costs_show_pythons_own_numbers(report, name):
    page, found = report(name), findings_of(name)
    check_stated(page, found)
    assert page.locator("#costs-reset").is_disabled()


def check_stated(page, found):
    """Compare with Python's numbers to the last digit."""
    for policy in found.policies:
        row = live_row(page, policy.name)
        assert row.locator("[data-field='note']").text_content() == ""
        for field in ("cost", "low", "high"):
            expected = getattr(policy, field)
            assert shown(row, field) == (expected, number(expected))
    pairs = page.locator("#live-pairs tbody tr")
    for place, pair in enumerate(found.pairs):
        for field in ("p_value", "adjusted"):
            assert shown(pairs.nth(place), field) == (
                getattr(pair, field),
                p_value(getattr(pair, field)),
            )
    assert page.locator("#live-verdict").text_content() == found.verdict.text


def test_reset_restores_pythons_own_numbers(report):
    page, found = report("example"), findings_of("example")
    edit(page, {(0, 1): 5, (1, 0): 17})
    assert page.locator("#cost-matrix").get_attribute("data-state") == "edited"
    page.locator("#costs-reset").click()
    check_stated(page, found)
    assert page.locator("#cost-0-1").input_value() == "40000"
    assert page.locator("#cost-matrix").get_attribute("data-state") == "stated"


def test_typing_the_stated_costs_again_is_no_edit(report):
    page, found = report("example"), findings_of("example")
    edit(page, {(0, 1): 5})
    edit(page, {(0, 1): "40,000.0"})
    check_stated(page, found)
    edit(page, {(0, 1): "40000"})  # for the next test: there is nothing to reset


def test_a_cost_that_is_no_number_is_named_and_changes_nothing(report):
    page = report("example")
    edit(page, {(1, 0): 77})
    before = page.locator("#live-table").inner_text()
    for text in ("", "abc", "1,5", "1e999", "--3", "NaN", "<b>"):
        edit(page, {(0, 1): text})
        assert page.locator("#cost-0-1").get_attribute("aria-invalid") == "true"
        assert page.locator("#cost-1-0").get_attribute("aria-invalid") is None
        said = page.locator("#costs-problem").inner_text()
        assert said.startswith("The cost of predicting 'benign' when it was 'malignant' must be")
        assert said.endswith(f"“{text}” is none.")
        assert page.locator("#live-table").inner_text() == before
    page.locator("#costs-reset").click()
    assert page.locator("#costs-problem").is_hidden()
    assert page.locator("#cost-0-1").get_attribute("aria-invalid") is None


# ---- names


def test_hostile_names_stay_text(page, reports):
    dialogs = []  # also while the page opens
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(reports("hostile"))
    page.wait_for_selector("html[data-drawn]")
    page.locator("#pc").fill("0.3")
    page.locator("#miss").fill("11")
    edit(page, {(0, 1): 3})
    edit(page, {(0, 1): "<img src=x onerror=alert(9)>"})
    assert dialogs == []
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 3 + len(SCRIPTS)
    assert (
        page.evaluate("[...document.querySelectorAll('td b, dd b')].length")
        == page.locator("b").count()
    )
    names = page.locator("#live-table tbody th .name").all_text_contents()
    assert set(HOSTILE_MODELS) <= set(names)
    headers = page.locator("#cost-matrix thead th .name")
    assert [headers.nth(i).text_content() for i in range(2)] == list(HOSTILE_CLASSES)
    drawn = page.locator("#chart-costs").text_content()
    assert HOSTILE_MODELS[0] in drawn
    assert HOSTILE_MODELS[1] in drawn


def test_nothing_runs_but_the_scripts_of_the_page(page, reports, complaints):
    page.goto(reports("one"))
    page.wait_for_selector("html[data-drawn]")
    assert complaints == []
    ran = page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "globalThis.ran = 'a script'";
            document.body.append(script);
            const link = document.createElement("a");
            link.setAttribute("onclick", "globalThis.ran = 'a handler'");
            document.body.append(link);
            link.click();
            return globalThis.ran ?? null;
        }"""
    )
    assert ran is None
    assert len(complaints) == 2
    assert all("Content Security Policy" in each for each in complaints)
    complaints.clear()
    page.close()


# ---- for everyone, everywhere


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["example", "one", "three", "hostile"])
def test_axe_finds_no_serious_violation(report, name, scheme):
    sync = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = report(name)
    page.emulate_media(color_scheme=scheme)
    edit(page, {(0, 1): "abc"})  # with an error on show
    plain = page.add_style_tag(content=".scroll { background: none }")  # axe sees through no shades
    results = sync.Axe().run(page).response
    plain.evaluate("(tag) => tag.remove()")
    serious = [
        (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in results["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("name", STUDIES)
def test_a_narrow_screen_needs_no_sideways_scrolling(report, name):
    page = report(name, PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    for box in page.locator("[data-chart] svg").all():
        place = box.bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= PHONE + 1


def test_charts_follow_the_window(report):
    page = report("example")
    wide = page.locator("#chart-costs svg").bounding_box()["width"]
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_timeout(200)
    assert page.locator("#chart-costs svg").bounding_box()["width"] < wide / 2
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def brightness(page, selector, part):
    colour = page.evaluate(
        "([s, p]) => getComputedStyle(document.querySelector(s))[p]", [selector, part]
    )
    channels = [float(each) for each in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(channels) / 3


def test_dark_screens_get_a_dark_page_and_light_charts(page, reports):
    page.emulate_media(color_scheme="dark")  # before the page opens
    page.goto(reports("example"))
    page.wait_for_selector("html[data-drawn]")
    assert brightness(page, "body", "backgroundColor") < 60
    assert brightness(page, "#chart-costs .role-axis-label text", "fill") > 120
    page.emulate_media(color_scheme="light")
    assert brightness(page, "body", "backgroundColor") > 200
    assert brightness(page, "#chart-costs .role-axis-label text", "fill") < 120


def test_paper_gets_no_sliders_and_light_colours(report):
    page = report("example")
    page.emulate_media(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator("#pc").is_hidden()
    assert page.locator("#costs").is_hidden()
    assert page.locator("#pc-table").is_visible()
    assert brightness(page, "body", "backgroundColor") > 200
    assert brightness(page, "#chart-costs .role-axis-label text", "fill") < 120


def test_nothing_is_cut_off_on_paper(page, tmp_path):
    write_report(findings(many_classes(12)), tmp_path / "many.html")
    page.set_viewport_size({"width": 680, "height": 1000})  # A4 between its margins
    page.goto((tmp_path / "many.html").as_uri())
    page.wait_for_selector("html[data-drawn]")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 680


def test_a_constant_prediction_far_off_does_not_squeeze_the_chart(report):
    page = report("example")
    far = page.locator("#far-live")
    said = "Not drawn, because the cost is so much higher: always benign."
    assert far.inner_text() == page.locator("#far-costs").inner_text() == said
    points = page.locator("#chart-live .role-mark.mark-symbol path")
    assert points.count() == 7
    edit(page, {(0, 0): 40_000, (1, 1): 40_000})
    assert far.is_hidden()
    assert points.count() == 8
    page.locator("#costs-reset").click()
    assert far.is_visible()


def test_tables_that_scroll_can_be_reached_by_keyboard(report):
    page = report("three", PHONE)
    table = page.locator(".scroll:has(#cost-matrix)")
    assert table.get_attribute("tabindex") == "0"
    page.set_viewport_size({"width": WIDE, "height": 800})
    page.wait_for_function(
        "!document.querySelector('.scroll:has(#cost-matrix)').hasAttribute('tabindex')"
    )


@pytest.mark.parametrize("name", ["example", "hostile"])
def test_on_a_phone_tables_are_lists_whose_cells_say_their_column(report, name):
    page = report(name, PHONE)
    tables = page.locator("table.stacks")
    assert tables.count() >= 6
    for table in tables.all():
        assert table.bounding_box()["width"] <= PHONE
    cell = page.locator("#policies-table tbody tr").first.locator("td").nth(1)
    assert cell.get_attribute("data-title") == "95\u00a0% interval"
    before = (
        "getComputedStyle(document.querySelector('#policies-table td:nth-child(3)'), '::before')"
    )
    assert page.evaluate(f"{before}.content") == '"95\u00a0% interval"'
    page.set_viewport_size({"width": WIDE, "height": 800})
    assert page.evaluate(f"{before}.content") == "none"
