"""The report in a real browser: what it shows is what Python computes."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
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

from stakes import CostMatrix, Design
from stakes import study_of as study_of_arrays
from stakes._core.text import threshold_text
from stakes.findings import Settings, findings
from stakes.findings.policies import BY_DEFAULT, _result
from stakes.findings.report import _joint_of
from stakes.findings.sensitivity import other_costs_of
from stakes.policies.verdict import Stated, in_words, verdict_of
from stakes.show.report import write_report
from stakes.show.report._answer import (
    aligned,
    answer_of,
    axis_of,
    decimals_for,
    percent_of,
    rounded,
)
from stakes.show.report._page import SCRIPTS

WIDE, PHONE = 1280, 390
FACTS = ("saving", "does", "doubt", "regret")


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


STATE = """() => {
    const copy = document.body.cloneNode(true);
    copy.querySelectorAll("[data-chart], script").forEach((each) => each.replaceChildren());
    copy.querySelectorAll("details").forEach((each) => each.removeAttribute("open"));
    const boxes = [...document.querySelectorAll("input, select")].map((each) => each.value);
    return [copy.outerHTML, ...boxes].join("\\n");
}"""
OPEN = """() => document.querySelectorAll("details.section").forEach((each) => {
    each.open = true;
})"""


class Opened:
    """A report in a window of some width, which tests share: each leaves it as it found it."""

    def __init__(self, page, address, width):
        self.page, self._width = page, width
        self._as_window()
        page.goto(address)
        page.wait_for_selector("html[data-drawn]")
        page.evaluate(OPEN)
        page.wait_for_function(
            "[...document.querySelectorAll('[data-chart]')].every((e) => e.querySelector('svg'))"
        )
        self._state = page.evaluate(STATE)

    def reset(self):
        """Undo all edits with the page's own button, and see that none left a trace."""
        self._as_window()
        self.page.evaluate("document.querySelector('#panel form').reset()")
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


def settled(page):
    page.wait_for_selector("body:not([data-state='waiting'])")


def edit(page, fields):
    """Type into fields of the panel, by their ids."""
    for field, text in fields.items():
        page.locator(f"#{field}").evaluate(
            """(e, text) => {
                e.value = text;
                e.dispatchEvent(new Event('input', { bubbles: true }));
            }""",
            str(text),
        )
    page.wait_for_function("document.body.dataset.state !== 'stated'")
    settled(page)


def policy_row(page, name):
    rows = page.locator("#policies [data-policy]")
    names = rows.evaluate_all("(rows) => rows.map((row) => row.dataset.policy)")
    return rows.nth(names.index(name))


def numbers_of(row):
    cost = float(row.locator("[data-field='cost']").get_attribute("data-value"))
    limits = row.locator("[data-field='limits']")
    return [cost, *(float(limits.get_attribute(f"data-{end}")) for end in ("low", "high"))]


def words(locator):
    """Return the words of an element, without what keeps the direction of names."""
    return " ".join(re.sub("[\u2068\u2069]", "", locator.inner_text()).split())


def check_answer(page, found):
    """Compare the first screen with Python's; numbers may be rounded up in one, down in other."""
    answer = answer_of(found)
    assert words(page.locator("#verdict")) == " ".join(answer.headline.split())
    assert words(page.locator("#lead")) == " ".join(answer.lead.split())
    for fact in answer.facts:
        if fact.name in FACTS and fact.title != "Most expensive mistakes":
            said = words(page.locator(f"[data-fact='{fact.name}'] dd"))
            assert said == " ".join(f"{fact.big} {fact.text}".split())
            badge = page.locator(f"[data-fact='{fact.name}'] .badge")
            assert badge.all_inner_texts() == ([fact.badge] if fact.badge else [])


# ---- opening


@pytest.mark.parametrize("name", STUDIES)
def test_a_report_opens_from_disk_and_draws_everything(report, name):
    page = report(name)
    plots = page.locator("[data-chart]")
    assert plots.count() >= 2
    for plot in plots.all():
        box = plot.locator("svg").bounding_box()
        assert box["width"] > 100
        assert box["height"] > 40
    check_answer(page, findings_of(name))
    for policy in findings_of(name).policies:
        expected = [policy.cost, policy.low, policy.high]
        assert numbers_of(policy_row(page, policy.name)) == expected


@pytest.mark.parametrize("name", ["example", "correct", "three", "names"])
def test_the_first_screen_holds_verdict_saving_doubt_and_chart(page, reports, name):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(reports(name))
    page.wait_for_selector("html[data-drawn]")
    facts = ("saving", "doubt", "regret")
    for part in ("#verdict", *(f"[data-fact='{each}']" for each in facts), "#policies"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 800, part
    assert page.evaluate("document.documentElement.scrollHeight") <= 6000
    assert page.locator("details.section[open]").count() == 0


def test_contents_have_the_names_of_the_headings_and_open_them(page, reports):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(reports("example"))
    page.wait_for_selector("html[data-drawn]")
    names = page.locator(".contents a").all_inner_texts()
    assert names == page.locator("details.section h2").all_inner_texts()
    page.locator(".contents a").first.click()
    assert page.locator("#matrices").get_attribute("open") is not None
    page.locator("#open-all").click()
    assert page.locator("details.section:not([open])").count() == 0


# ---- other assumptions


def edited_policies(study, values, tables=True):
    """Return the policies at other costs, whose thresholds are chosen again where they can be."""
    if tables and other_costs_of(study).tables[1:]:
        return retuned(study, [values.tolist()])[0]
    costs = study.costs
    named = {"rows": "predicted", "labels": costs.labels, "decisions": costs.decisions}
    return replace(study.policies, costs=CostMatrix(values, **named))


def findings_at(found, study, policies):
    """Return the findings with other policies, as far as the first screen shows them."""
    settings = found.settings
    stated = Stated(
        settings.unit, settings.volume, settings.per or "", noun=settings.noun, rows=study.n
    )
    return replace(
        found,
        costs=replace(found.costs, values=policies.costs.values),
        verdict=verdict_of(policies, stated),
        policies=tuple(
            _result(policies, each, study.pos_label, settings.volume, BY_DEFAULT)
            for each in policies.policies
        ),
        pairs=tuple(policies.pairs),
        joint=_joint_of(policies.table(policies.competitors, deployed=True)),
        sensitivity=None,
    )


EDITS = [
    ("example", {"miss": 7777}, {(0, 1): 7777}),
    ("example", {"miss": 31, "alarm": 900.5}, {(0, 1): 31, (1, 0): 900.5}),
    ("one", {"miss": 123.45}, {(0, 1): 123.45}),
    ("correct", {"miss": 80}, {(0, 1): 80}),
    ("three", {"cost-0-2": 900, "cost-2-0": 0}, {(0, 2): 900, (2, 0): 0}),
    ("decisions", {"cost-2-0": 0.25, "cost-1-1": -200}, {(2, 0): 0.25, (1, 1): -200}),
    ("hostile", {"miss": 3}, {(0, 1): 3}),
]


@pytest.mark.parametrize(("name", "fields", "cells"), EDITS)
def test_edited_costs_give_pythons_numbers_and_words(report, name, fields, cells):
    page, found, study = report(name), findings_of(name), study_of(name)
    edit(page, fields)
    values = study.costs.values.copy()
    for cell, cost in cells.items():
        values[cell] = cost
    policies = edited_policies(study, values)
    check_rows(page, study, policies, rel=1e-6, abs=1e-6)
    check_answer(page, findings_at(found, study, policies))
    check_pairs(page, policies)
    check_matrices(page, study, policies)
    assert page.locator("[data-fact='change']:visible").count() == 0


def now_named(study, policies):
    """Return what each policy of a study is called at other costs, by its name."""
    same = {(each.column, each.decision): each.name for each in policies.every}
    return {each.name: same[each.column, each.decision] for each in study.policies.every}


def check_rows(page, study, policies, **near):
    """Compare the rows of the chart; one that decides as another policy does is hidden."""
    for stated, name in now_named(study, policies).items():
        row = page.locator(f'#policies [data-policy="{stated}"]')
        if policies[name].name != name:
            assert not row.is_visible()
            continue
        limits = policies.interval(name)
        expected = [policies.estimate(name).cost, limits.low, limits.high]
        assert numbers_of(policy_row(page, stated)) == pytest.approx(expected, **near)


def scored(seed, baseline=None, cut=0.5, share=0.2):
    """Return the findings and the study of three models with scores, one of them with decisions."""
    rng = np.random.default_rng(seed)
    actual = (rng.random(900) < share).astype(int)
    latent = rng.normal(0, 1, 900)
    scores = {
        name: np.round(1 / (1 + np.exp(-(lift * actual + latent + rng.normal(0, 0.6, 900)))), 3)
        for name, lift in (("old", 1.3), ("new", 2.2), ("other", 2.15))
    }
    costs = CostMatrix.from_errors(false_positive=1, false_negative=8)
    decided = {"old": (scores["old"] >= cut).astype(int)}
    study = study_of_arrays(actual, decided, costs, y_score=scores, baseline=baseline)
    return findings(study, Settings(unit="EUR", volume=500, per="day")), study


def nearly_equal():
    """Return the findings and the study of two models that disagree on few rows."""
    rng = np.random.default_rng(6)
    actual = (rng.random(6000) < 0.3).astype(int)
    old = np.where(rng.random(6000) < 0.1, 1 - actual, actual)
    new = np.where(rng.random(6000) < 0.002, 1 - old, old)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=3)
    study = study_of_arrays(actual, {"old": old, "new": new}, costs, baseline="new")
    return findings(study, Settings(unit="EUR")), study


CASES = {
    "equal": (nearly_equal(), {"alarm": 1.05, "miss": 3.1}),
    "ties, and a saving that is shown": (scored(1), {"miss": 12}),
    "a named baseline": (scored(2, baseline="old"), {"miss": 9, "alarm": 1.5}),
    "a baseline that was chosen": (scored(2, baseline="old@best"), {"miss": 30}),
    "two thresholds of a model": (scored(4, baseline="new@0.9"), {"alarm": 2}),
    "no model is worth using": (scored(5, share=0.4), {"miss": 60}),
}


@pytest.mark.parametrize("case", CASES)
def test_edited_costs_give_the_conclusions_of_python(page, tmp_path, case):
    (found, study), fields = CASES[case]
    write_report(found, tmp_path / "case.html")
    page.goto((tmp_path / "case.html").as_uri())
    page.wait_for_selector("html[data-drawn]")
    page.evaluate(OPEN)
    check_answer(page, found)
    edit(page, fields)
    values = study.costs.values.copy()
    values[1, 0], values[0, 1] = fields.get("alarm", 1), fields.get("miss", 8)
    policies = edited_policies(study, values)
    check_rows(page, study, policies, rel=1e-6, abs=1e-6)
    check_answer(page, findings_at(found, study, policies))
    check_pairs(page, policies)
    check_matrices(page, study, policies)


def test_a_threshold_that_decides_as_a_column_does_is_shown_once_they_differ(page, tmp_path):
    _, before = scored(3)
    cut = before.policies[before.policies.chosen_for("old")].threshold
    found, study = scored(3, cut=cut)
    (alias,) = study.policies["old"].alike
    write_report(found, tmp_path / "alike.html")
    page.goto((tmp_path / "alike.html").as_uri())
    page.wait_for_selector("html[data-drawn]")
    said = words(policy_row(page, "old").locator("[data-field='alike']"))
    assert said == f"same decisions: {alias.name}"
    check_rows(page, study, study.policies)
    page.evaluate(OPEN)
    assert page.locator(f'[data-threshold="{alias.name}"]').is_visible()
    edit(page, {"miss": 40})
    values = study.costs.values.copy()
    values[0, 1] = 40
    policies = edited_policies(study, values)
    assert policy_row(page, alias.name).is_visible()
    check_rows(page, study, policies, rel=1e-6, abs=1e-6)
    check_answer(page, findings_at(found, study, policies))


def check_pairs(page, policies):
    rows = page.locator("#pairs-table tbody tr")
    assert rows.count() == len(policies.pairs)
    for place, pair in enumerate(policies.pairs):
        row = rows.nth(place)
        assert words(row.locator("[data-field='second']")) == in_words(policies[pair.second])
        for field in ("difference", "p_value", "p_adjusted"):
            value = float(row.locator(f"[data-field='{field}']").get_attribute("data-value"))
            assert value == pytest.approx(getattr(pair, field), rel=1e-5, abs=1e-5)
        said = row.locator("[data-field='verdict']").text_content()
        assert said == ("shown to cost more" if pair.shown else "not shown to differ")


def check_matrices(page, study, policies):
    names = now_named(study, policies)
    for card in page.locator("[data-matrix]").all():
        name = names[card.get_attribute("data-matrix")]
        counts = policies.deployed(name).counts
        parts = policies.contributions(name)
        for i in range(counts.shape[0]):
            for j in range(counts.shape[1]):
                cell = card.locator(f"[data-cell='{i}-{j}']")
                shown = [
                    float(cell.locator(f"[data-field='{field}']").get_attribute("data-value"))
                    for field in ("count", "cost")
                ]
                assert shown == pytest.approx([counts[i, j], parts[i, j]], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["example", "correct"])
@pytest.mark.parametrize("percent", [2.5, 61])
def test_another_prevalence_gives_the_costs_of_known_class_priors(report, name, percent):
    page, study = report(name), study_of(name)
    edit(page, {"prevalence": percent, "miss": 90})
    share = percent / 100
    values = study.costs.values.copy()
    values[0, 1] = 90
    here = float(study.policies.class_shares[1])
    shift = (1 - share) * here / (share * (1 - here))
    # Multiplying the cost of a false alarm by the ratio of the odds gives the same thresholds.
    weighted = values.copy()
    weighted[1, 0] = values[0, 0] + (values[1, 0] - values[0, 0]) * shift
    retold = retuned(study, [weighted.tolist()])[0]
    costs = CostMatrix(values, rows="predicted", labels=study.costs.labels)
    priors = dict(zip(study.costs.labels, (1 - share, share), strict=True))
    policies = replace(retold, costs=costs, design=Design(priors))
    check_rows(page, study, policies, rel=0, abs=1e-5 * float(values.max()))
    assert "Lowest estimate" in words(page.locator("#verdict"))
    assert "Differences are not tested" in words(page.locator("#lead"))
    assert "Not tested" in words(page.locator("[data-fact='doubt']"))
    assert page.locator("#pairs-table").is_hidden()
    assert "not tested" in words(page.locator("#pairs .untested"))


def test_thresholds_can_be_kept_and_be_set_by_hand(report):
    page, study = report("example"), study_of("example")
    edit(page, {"miss": 4000, "thresholds": "stated"})
    values = study.costs.values.copy()
    values[0, 1] = 4000
    policies = edited_policies(study, values, tables=False)
    for policy in policies.policies:
        expected = policies.estimate(policy.name).cost
        assert numbers_of(policy_row(page, policy.name))[0] == pytest.approx(expected)
    edit(page, {"thresholds": "hand"})
    place = [each.name for each in findings_of("example").curves.models].index("logistic")
    edit(page, {f"threshold-{place}": 0.5})
    counts = study.scores["logistic"].confusion_at(0.5).counts
    cost = float((counts * values).sum() / counts.sum())
    chosen = next(
        each.name
        for each in findings_of("example").policies
        if each.model == "logistic" and each.kind == "threshold"
    )
    row = policy_row(page, chosen)
    assert numbers_of(row)[0] == pytest.approx(cost)
    assert row.locator("[data-field='threshold']").inner_text() == "0.5"
    assert "Differences are not tested" in words(page.locator("#lead"))


def test_another_baseline_and_volume(report):
    page, found, study = report("example"), findings_of("example"), study_of("example")
    option = page.locator("#baseline option", has_text="always 'malignant'")
    edit(page, {"baseline": option.get_attribute("value"), "volume": "2,000,000"})
    policies = replace(study.policies, baseline="always malignant")
    settings = replace(found.settings, volume=2e6)
    check_answer(page, findings_at(replace(found, settings=settings), study, policies))


def test_the_volume_alone_changes_no_cost(report):
    page, found = report("example"), findings_of("example")
    edit(page, {"volume": "500"})
    answer = answer_of(replace(found, settings=replace(found.settings, volume=500)))
    assert words(page.locator("#verdict")) == answer.headline
    assert words(page.locator("#lead")) == answer.lead
    for policy in found.policies:
        assert numbers_of(policy_row(page, policy.name))[0] == policy.cost
    assert page.locator("[data-fact='change']").is_visible()


def test_the_volume_scales_a_saving_that_is_shown(report):
    page, found = report("correct"), findings_of("correct")
    edit(page, {"volume": "700"})
    check_answer(page, replace(found, settings=replace(found.settings, volume=700)))
    assert "over 700 decisions a week" in words(page.locator("#lead"))


def test_reset_restores_pythons_own_page(report):
    page = report("example")
    assert page.locator("#reset-all").is_disabled()
    edit(page, {"miss": 5, "alarm": 17})
    assert words(page.locator("#panel-state")) == "Changed by you"
    page.locator("#reset-all").click()
    page.wait_for_selector("body[data-state='stated']")
    check_answer(page, findings_of("example"))
    assert page.locator("#miss").input_value() == "40000"
    assert page.locator("#reset-all").is_disabled()


@pytest.mark.parametrize("text", ["", "abc", "1,5", "1e999", "--3", "NaN", "<b>"])
def test_a_cost_that_is_no_number_is_named_and_changes_nothing(report, text):
    page = report("example")
    edit(page, {"alarm": 77})
    before = page.locator("#policies").inner_text()
    edit(page, {"miss": text})
    assert page.locator("#miss").get_attribute("aria-invalid") == "true"
    assert page.locator("#alarm").get_attribute("aria-invalid") is None
    assert page.locator("#panel-problem").inner_text() == f"Miss: “{text}” is not allowed here."
    assert page.locator("#policies").inner_text() == before


@pytest.mark.parametrize("text", ["0", "100", "120", "-3"])
def test_a_prevalence_that_cannot_be_is_refused(report, text):
    page = report("example")
    edit(page, {"prevalence": text})
    assert page.locator("#prevalence").get_attribute("aria-invalid") == "true"
    assert page.locator("#panel-problem").is_visible()


def test_sections_that_do_not_follow_say_so(report):
    page = report("example")
    said = "getComputedStyle(document.querySelector('#sensitivity > .in'), '::before').content"
    assert page.evaluate(said) == "none"
    edit(page, {"miss": 5})
    assert "For the stated assumptions" in page.evaluate(said)
    assert page.locator("#matrices .card .note").first.is_hidden()
    assert page.locator("#threshold-table td.as-stated").first.is_hidden()
    assert page.locator("[data-finding='matrices']").is_hidden()
    prefix = "getComputedStyle(document.querySelector('[data-finding=rates]'), '::before').content"
    assert page.evaluate(prefix) == '"As stated: "'
    assert page.evaluate(prefix.replace("[data-finding=rates]", "#remarks li")) == "none"


@pytest.mark.parametrize("share", [0.01, 0.0])
def test_a_page_with_class_priors_is_about_that_population(page, tmp_path, share):
    priors = {"benign": 1 - share, "malignant": share}
    study = replace(study_of("example"), design=Design(priors))
    found = findings(study)
    write_report(found, tmp_path / "rare.html")
    page.goto((tmp_path / "rare.html").as_uri())
    page.wait_for_selector("html[data-drawn]")
    assert study.population() in page.locator("#notes").inner_text()
    assert page.locator("#miss").count() == 0
    assert "stated class priors" in page.locator("#panel-note").inner_text()
    check_answer(page, found)


# ---- results of the scripts, on generated cases


def generated():
    rng = np.random.default_rng(7)
    sizes = 10 ** rng.uniform(-7, 9, 400) * rng.choice([-1, 1], 400)
    ties = (np.arange(-300, 300) + 0.5) / 8
    return [0.0, *sizes.tolist(), *ties.tolist()]


def test_numbers_for_people_are_those_of_python(report):
    page, values = report("example"), generated()
    shown = page.evaluate("(values) => values.map((each) => stakesAnswer.rounded(each))", values)
    assert shown == [rounded(each) for each in values]
    for decimals in (0, 1, 3, 6):
        shown = page.evaluate(
            "([values, d]) => values.map((each) => stakesAnswer.aligned(each, d))",
            [values, decimals],
        )
        assert shown == [aligned(each, decimals) for each in values]
    rng = np.random.default_rng(8)
    columns = [(10 ** rng.uniform(-5, 6, 4)).tolist() for _ in range(50)]
    assert page.evaluate("(all) => all.map(stakesAnswer.decimalsFor)", columns) == [
        decimals_for(column) for column in columns
    ]


def test_thresholds_in_words_are_those_of_python(report):
    rng = np.random.default_rng(12)
    near = rng.choice([-1, 1], 300) * 10 ** rng.uniform(-16, 0, 300)
    values = [
        *generated(),
        *rng.uniform(0, 1, 300).round(5).tolist(),
        *(1 - near).tolist(),
        *(1e5, 100000.5, 123456789.0, 1e22, 5e-324, 0.1, 1.0, -0.0463155, -9.9999999),
    ]
    shown = report("example").evaluate("(all) => all.map(stakesWords.threshold)", values)
    assert shown == [threshold_text(each) for each in values]


def test_axes_are_those_of_python(report):
    page, rng = report("example"), np.random.default_rng(9)
    ends = [sorted((10 ** rng.uniform(-3, 5) * rng.uniform(-1, 1, 2)).tolist()) for _ in range(200)]
    found = page.evaluate("(ends) => ends.map((each) => stakesAnswer.axisOf(...each).ticks)", ends)
    for ticks, (low, high) in zip(found, ends, strict=True):
        expected = axis_of(low, high).ticks
        assert [text for _, text in ticks] == [text for _, text in expected]
        assert [at for at, _ in ticks] == pytest.approx([at for at, _ in expected])


def test_rates_costs_and_thresholds_by_hand_are_those_of_python(report):
    page, found, study = report("example"), findings_of("example"), study_of("example")
    rng = np.random.default_rng(10)
    for _ in range(30):
        counts, costs = rng.integers(0, 60, (2, 2)) + np.eye(2), rng.uniform(-5, 90, (2, 2))
        rates = page.evaluate("(counts) => stakesSections.ratesOf(counts, null)", counts.tolist())
        fpr, recall = (counts[1] / counts.sum(axis=0)).tolist()
        flagged = counts[1].sum() / counts.sum()
        assert rates == pytest.approx({"recall": recall, "fpr": fpr, "flagged": flagged})
        share = float(rng.uniform(0.01, 0.9))
        weights = counts / counts.sum(axis=0) * [1 - share, share]
        point = {"fpr": rates["fpr"], "tpr": rates["recall"]}
        cost = page.evaluate(
            "(all) => stakesSections.costOf(...all)", [point, costs.tolist(), [1 - share, share]]
        )
        assert cost == pytest.approx(float((weights * costs).sum()))
    for place, model in enumerate(found.curves.models):
        for value in rng.uniform(-0.1, 1.1, 12).tolist():
            shown = page.evaluate("(all) => stakesSections.atThreshold(...all)", [place, value])
            expected = study.scores[model.name].confusion_at(value).counts
            assert shown["counts"] == expected.tolist()


# ---- curves


def test_curves_are_those_of_python(report):
    page, study = report("correct"), study_of("correct")
    rates = """([chart]) => stakesPage.views.get(chart).data("@rows")
        .map(({ name, ratio, prevalence, cost }) => [name, ratio ?? prevalence, cost])"""
    labels = study.costs.labels
    values = study.costs.values_for(labels, labels)
    alarm = values[1, 0] - values[0, 0]
    here = findings_of("correct").curves.condition.prevalence
    for chart in ("ratio", "prevalence"):
        for name, x, cost in page.evaluate(rates, [chart])[::37]:
            miss = values[1, 1] + x * alarm if chart == "ratio" else values[0, 1]
            share = here if chart == "ratio" else x
            worst = (1 - share) * alarm + share * (miss - values[1, 1])
            pc = share * (miss - values[1, 1]) / worst
            free = (1 - share) * values[0, 0] + share * values[1, 1]
            expected = study.curves()[name].cost(pc) * worst + free
            assert cost == pytest.approx(expected, rel=1e-9)


def test_costs_by_threshold_are_those_of_python(report):
    page, study = report("example"), study_of("example")
    rows = page.evaluate(
        "stakesPage.views.get('threshold').data('@rows').map((r) => [r.name, r.threshold, r.cost])"
    )
    for name, threshold, cost in rows[::41]:
        counts = study.scores[name].confusion_at(threshold).counts
        expected = float((counts * study.costs.values).sum() / counts.sum())
        assert cost == pytest.approx(expected)


THRESHOLD = "data-threshold"


def test_rates_in_the_table_of_thresholds(report):
    page, found = report("example"), findings_of("example")
    edit(page, {"volume": "5"})  # changes no rate
    for row in page.locator("[data-threshold]").all():
        policy = next(each for each in found.policies if each.name == row.get_attribute(THRESHOLD))
        for rate in ("recall", "fpr", "flagged"):
            text = words(row.locator(f"[data-field='{rate}']"))
            assert text == percent_of(getattr(policy, rate))
        exact = row.locator("[data-field='threshold']")
        assert float(exact.get_attribute("data-value")) == policy.threshold
        assert words(exact) == threshold_text(policy.threshold)


# ---- tools


def test_tables_and_charts_can_be_saved(report):
    page = report("example")
    with page.expect_download() as table:
        page.locator("[data-tools='policies'] button", has_text="CSV").click()
    lines = Path(table.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "Policy,Threshold,Cost,95% CI"
    assert len(lines) == 1 + len(findings_of("example").policies)
    cost = findings_of("example").policies[0].cost
    assert lines[1].split(",")[1:3] == [
        repr(findings_of("example").policies[0].threshold),
        repr(cost),
    ]
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        for tools in ("policies", "chart-ratio"):
            with page.expect_download() as picture:
                page.locator(f"[data-tools='{tools}'] button", has_text=kind).click()
            content = Path(picture.value.path()).read_bytes()
            assert content.startswith(start)
            assert b"var(--" not in content


# ---- names


def test_hostile_names_stay_text(page, reports):
    dialogs = []  # also while the page opens
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(reports("hostile"))
    page.wait_for_selector("html[data-drawn]")
    page.evaluate(OPEN)
    edit(page, {"miss": 3})
    edit(page, {"miss": "<img src=x onerror=alert(9)>"})
    assert dialogs == []
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 4 + len(SCRIPTS)
    names = set(page.locator("#policies tbody .name").all_text_contents())
    assert set(HOSTILE_MODELS) <= names
    heads = set(page.locator(".matrix thead th").all_text_contents())
    assert set(HOSTILE_CLASSES) <= heads


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


# ---- accessibility, languages, screen sizes and print


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width"),
    [("example", WIDE), ("three", PHONE), ("hostile", WIDE), ("names", WIDE), ("names", PHONE)],
)
def test_axe_finds_no_violation(report, name, width, scheme):
    sync = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = report(name, width)
    page.emulate_media(color_scheme=scheme)
    edit(page, {"volume": "abc"})  # with a visible error
    results = sync.Axe().run(page).response
    found = [
        (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in results["violations"]
    ]
    assert found == []


@pytest.mark.parametrize("name", STUDIES)
def test_a_narrow_screen_needs_no_sideways_scrolling(report, name):
    page = report(name, PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    for box in page.locator("[data-chart] svg").all():
        place = box.bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= PHONE + 1


def brightness(page, selector, part):
    colour = page.evaluate(
        "([s, p]) => getComputedStyle(document.querySelector(s))[p]", [selector, part]
    )
    channels = [float(each) for each in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(channels) / 3


def test_dark_screens_get_a_dark_page_and_light_charts(report):
    page = report("example")
    page.emulate_media(color_scheme="dark")
    assert brightness(page, "body", "backgroundColor") < 60
    assert brightness(page, "#chart-pairs .role-axis-label text", "fill") > 120
    page.emulate_media(color_scheme="light")
    assert brightness(page, "body", "backgroundColor") > 200
    assert brightness(page, "#chart-pairs .role-axis-label text", "fill") < 120


def pages_of(page, path):
    page.pdf(path=path, format="A4", print_background=True, prefer_css_page_size=True)
    return Path(path).read_bytes().count(b"/Type /Page\n") or Path(path).read_bytes().count(
        b"/Type /Page "
    )


@pytest.mark.parametrize("name", ["example", "three", "correct", "names"])
def test_paper_has_at_most_five_pages_with_charts_and_without_controls(
    page, reports, name, tmp_path
):
    page.goto(reports(name))
    page.wait_for_selector("html[data-drawn]")
    assert 1 <= pages_of(page, tmp_path / "report.pdf") <= 5
    page.emulate_media(media="print")
    assert page.locator("#panel").is_hidden()
    assert page.locator("#chart-pairs svg").count() == 1
    assert brightness(page, "body", "backgroundColor") > 200


def test_a_full_report_is_printed_whole(page, tmp_path):
    write_report(findings_of("example"), tmp_path / "full.html", full=True)
    page.goto((tmp_path / "full.html").as_uri())
    page.wait_for_selector("html[data-drawn]")
    page.emulate_media(media="print")
    assert (
        page.locator("details.section:visible").count() == page.locator("details.section").count()
    )


CUT_OFF = """() => [...document.querySelectorAll(".scroll")]
    .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.getAttribute("aria-label") ?? each.className)"""


@pytest.mark.parametrize("name", ["example", "three", "decisions", "correct", "names"])
def test_paper_cuts_no_column_off(page, reports, name):
    page.set_viewport_size({"width": 690, "height": 1000})  # A4 between its margins
    page.goto(reports(name))
    page.wait_for_selector("html[data-drawn]")
    page.evaluate(OPEN)
    page.emulate_media(media="print")
    assert page.evaluate(CUT_OFF) == []


BROKEN = """() => [...document.querySelectorAll(".matrix td b, .matrix td small")]
    .filter((each) => {
        const range = document.createRange();
        range.selectNodeContents(each);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        return lines.size > 1 || each.scrollWidth > each.parentElement.clientWidth;
    }).map((each) => each.textContent)"""


@pytest.mark.parametrize("classes", [4, 6, 12])
def test_matrices_of_many_classes_fit(page, tmp_path, classes):
    write_report(findings(many_classes(classes)), tmp_path / "many.html", full=True)
    page.set_viewport_size({"width": WIDE, "height": 800})
    page.goto((tmp_path / "many.html").as_uri())
    page.wait_for_selector("html[data-drawn]")
    for table in page.locator("table.matrix").all():
        outer = table.locator("xpath=..").bounding_box()
        assert table.bounding_box()["width"] <= outer["width"] + 1
    assert page.evaluate(BROKEN) == []  # a number broken over two lines looks like two numbers
    page.set_viewport_size({"width": 680, "height": 1000})  # A4 between its margins
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
