"""The report as a file: complete, deterministic, and with names of the data as text only."""

import base64
import hashlib
import json
import os
import pickle
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from _helpers.report_studies import (
    HOSTILE_CLASSES,
    HOSTILE_MODELS,
    ROOT,
    STUDIES,
    findings_of,
    many_classes,
    study_of,
)

from stakes import CostMatrix, Design
from stakes import study_of as study_of_arrays
from stakes.cli.main import main
from stakes.errors import FileError, MissingExtraError
from stakes.findings import Settings, findings
from stakes.show.report import _page, report_html, write_report
from stakes.show.report._answer import answer_of, minus
from stakes.show.report._page import SCRIPTS

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

GOLDEN = Path(__file__).parent.parent / "golden" / "report"
VOID = {"meta", "link", "input", "br", "img", "wbr"}


class Page(HTMLParser):
    """The elements of a page, their attributes, and the text in them."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.texts, self.errors = [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])
        if tag not in VOID:
            self.open.append((tag, len(self.elements) - 1))

    def handle_endtag(self, tag):
        name, _ = self.open.pop()
        assert name == tag, f"<{name}> is closed by </{tag}>"

    def handle_data(self, data):
        plain = re.sub("[\u2068\u2069]", "", data)  # these isolate the direction of names
        for _, place in self.open:
            self.elements[place][2] += plain

    def all(self, tag):
        return [
            (attrs, " ".join(text.split())) for name, attrs, text in self.elements if name == tag
        ]

    def text(self, id_):
        return next(text for _, attrs, text in self.elements if attrs.get("id") == id_)


@pytest.fixture(scope="module")
def pages():
    made = {}

    def get(name):
        if name not in made:
            made[name] = report_html(findings_of(name))
        return made[name]

    return get


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_is_well_formed_and_its_ids_are_unique(pages, name):
    page = Page(pages(name))
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    inside = {attrs["href"][1:] for attrs, _ in page.all("a")}
    assert inside <= set(ids)
    named = {attrs["for"] for attrs, _ in page.all("label")}
    assert named <= set(ids)


def test_the_same_findings_give_the_same_page(pages):
    again = replace(findings_of("hostile"))
    assert report_html(again) == pages("hostile")


def test_another_process_gives_the_same_page(pages, tmp_path):
    source, target = tmp_path / "findings.pickle", tmp_path / "report.html"
    source.write_bytes(pickle.dumps(findings_of("one")))
    code = (
        "import pickle; from stakes.show.report import write_report; "
        f"write_report(pickle.load(open({str(source)!r}, 'rb')), {str(target)!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert target.read_text(encoding="utf-8") == pages("one")


def whole(page, found):
    """Undo what makes the page's data shorter, where that loses nothing that is read."""
    page["joint"]["decided"] = [[*map(int, row)] for row in page["joint"]["decided"]]
    curves = [each["curves"] or {"models": [], "pairs": []} for each in (page, found)]
    shorter, longer = (
        [*(each["band"] or {} for each in (*parts["models"], *parts["pairs"])), *data["decision"]]
        for parts, data in zip(curves, (page, found), strict=True)
    )
    for short, long in zip(shorter, longer, strict=True):
        for key, values in long.items():
            if isinstance(values, list):
                np.testing.assert_allclose(short[key], values, rtol=5e-6)
                short[key] = values
    return page


@pytest.mark.parametrize("name", STUDIES)
def test_the_findings_are_in_the_page_once_and_whole(pages, name):
    found = findings_of(name)
    block = Page(pages(name)).text("findings")
    assert whole(json.loads(block), found.to_dict()) == found.to_dict()
    assert not re.search("[<>&\u2028\u2029]", block)


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_asks_nothing_of_the_network(pages, name):
    page = Page(pages(name))
    for tag, attrs, _ in page.elements:
        assert "src" not in attrs
        assert attrs.get("href", "#").startswith(("#", "data:,")), tag
        assert not [key for key in attrs if key.startswith("on")]
    style = page.all("style")[0][1]
    assert "@import" not in style
    assert "url(" not in style
    policy = next(
        attrs["content"]
        for attrs, _ in page.all("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'")


@pytest.mark.parametrize("name", STUDIES)
def test_the_policy_names_each_script_by_its_hash_and_lets_nothing_else_run(pages, name):
    html = pages(name)
    policy = re.search('Content-Security-Policy" content="([^"]*)"', html)[1]
    rules = dict(each.split(maxsplit=1) for each in policy.split("; "))
    bodies = re.findall("<script>(.*?)</script>", html, re.DOTALL)
    digests = [hashlib.sha256(each.encode()).digest() for each in bodies]
    expected = [f"'sha256-{base64.b64encode(each).decode()}'" for each in digests]
    assert rules["script-src"].split() == expected
    assert len(expected) == 1 + len(SCRIPTS)
    assert not re.search("[\r\0]", html)  # browsers replace these before they check the hash


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_is_below_two_megabytes_without_its_data(pages, name):
    html = pages(name)
    data = len(Page(html).text("findings").encode())
    assert len(html.encode()) - data < 2e6


def test_names_are_text(pages):
    page = Page(pages("hostile"))
    assert {tag for tag, *_ in page.elements}.isdisjoint({"img", "i", "iframe", "object"})
    assert len(page.all("script")) == 3 + 1 + len(SCRIPTS)  # data, Vega, and the page's own
    headers = {text for _, text in page.all("th")}
    for name in HOSTILE_CLASSES:
        assert " ".join(name.split()) in headers
    names = {text for attrs, text in page.all("span") if attrs.get("class") == "name"}
    for name in HOSTILE_MODELS:
        assert " ".join(name.split()) in names
    assert "<b>$</b>" in page.text("lead")
    assert "stakes '<i>' & \"x\"" in page.text("method")


def test_names_from_right_to_left_keep_their_direction_to_themselves(pages):
    headline = re.search(r'<h2 id="verdict".*?</h2>', pages("names"))[0]
    assert "\u2068נמוך\u2069" in headline
    assert "\u2068احتيال\u2069" in pages("names")
    assert "\u2068" not in pages("three")


def test_each_note_stands_once(pages):
    for name in STUDIES:
        notes = re.search(r'<ul class="notes".*?</ul>', pages(name), flags=re.DOTALL)
        listed = re.findall(r"<li>(.*?)</li>", notes[0] if notes else "", flags=re.DOTALL)
        assert len(listed) == len(set(listed))


def test_line_separators_do_not_end_a_script():
    one = findings_of("one")
    unit = "a\u2028b\u2029</script><!--<script>"
    found = replace(one, settings=replace(one.settings, unit=unit))
    html = report_html(found)
    assert "\u2028" not in html.split('id="findings">')[1].split("</script>")[0]
    assert json.loads(Page(html).text("findings"))["settings"]["unit"] == unit


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_says_what_was_found(pages, name):
    found, page = findings_of(name), Page(pages(name))
    assert minus(found.verdict.text) in page.text("verdict-text")
    answer = answer_of(found)
    assert page.text("verdict") == answer.headline
    assert page.text("lead") == answer.lead
    for fact in answer.facts:
        assert fact.text in page.text("facts")
    assert not answer.missing or answer.missing in page.text("missing")
    for note in found.verdict.notes:
        assert minus(note) in page.text("notes")
    for remark in found.verdict.remarks:
        assert remark in page.text("remarks")
    rows = {attrs.get("data-policy") for attrs, _ in page.all("tr")}
    assert {policy.name for policy in found.policies} <= rows
    named = {each.name: each.words for each in found.policies}
    for pair in found.pairs:
        assert named[pair.second] in page.text("pairs")
    ids = {attrs["id"] for _, attrs, _ in page.elements if "id" in attrs}
    for part, there in {
        "pairs": bool(found.pairs),
        "threshold": found.curves is not None,
        "sensitivity": found.sensitivity is not None,
        "calibration": bool(found.calibration),
    }.items():
        assert (part in ids) == there


def decided(seed, n, errors, costs, **options):
    """Return the findings about models whose decisions are wrong as often as stated."""
    rng = np.random.default_rng(seed)
    actual = (rng.random(n) < 0.3).astype(int)
    models = {
        name: np.where(rng.random(n) < share, 1 - actual, actual) for name, share in errors.items()
    }
    study = study_of_arrays(actual, models, CostMatrix.from_errors(**costs), **options)
    return findings(study, Settings(unit="EUR", volume=1000, per="day", noun="patients"))


EVEN, UNEVEN = (
    {"false_positive": 2, "false_negative": 3},
    {"false_positive": 1, "false_negative": 20},
)
HEADLINES = {
    "use": (
        decided(1, 3000, {"good": 0.05, "bad": 0.2}, EVEN, baseline="bad"),
        "Use good as decided. It saves 326 EUR a day.",
        "Compared with bad as decided, over 1,000 decisions a day. 95% confidence interval",
    ),
    "ties": (
        decided(2, 2000, {"one": 0.05, "two": 0.055, "bad": 0.2}, EVEN, baseline="bad"),
        "one as decided or two as decided: equally good as far as 2,000 patients tell.",
        "It saves 357 EUR a day against bad as decided.",
    ),
    "constant as good": (
        decided(3, 150, {"one": 0.05}, UNEVEN),
        "No model is shown to be worth using: always 1 costs 0.700 EUR per decision.",
        "The cheapest policy, one as decided, costs 0.293 EUR per decision",
    ),
    "constant better": (
        decided(4, 2000, {"one": 0.3}, UNEVEN),
        "No model is shown to be worth using: always 1 costs 0.711 EUR per decision.",
        "The limits of this cost: 0.691 to 0.731, 95% CI. It is the baseline",
    ),
    "the baseline": (
        decided(1, 3000, {"good": 0.05, "bad": 0.2}, EVEN),
        "Use good as decided.",
        "It is the baseline, the cheapest policy that needs no choice.",
    ),
}


@pytest.mark.parametrize("case", HEADLINES)
def test_the_headline_is_the_conclusion_of_the_verdict(case):
    found, headline, lead = HEADLINES[case]
    page = Page(report_html(found))
    assert page.text("verdict") == headline
    assert lead in page.text("lead")
    assert headline.split(":")[0].split(".")[0] in found.verdict.text
    facts = page.text("facts")
    assert found.verdict.sentences.apart in facts
    assert found.verdict.sentences.regret in facts


def test_a_badge_states_the_test_or_the_rule_behind_it():
    badges = {}
    for case, (found, *_) in HEADLINES.items():
        fact = answer_of(found).facts[0]
        badges[case] = fact.badge, fact.open
        assert "Equal" not in fact.text
    assert badges["use"] == ("Shown, p < 0.0001", False)
    assert badges["constant as good"] == ("", False)  # the model is the baseline
    rng = np.random.default_rng(6)
    actual = (rng.random(6000) < 0.3).astype(int)
    old = np.where(rng.random(6000) < 0.1, 1 - actual, actual)
    new = np.where(rng.random(6000) < 0.002, 1 - old, old)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=3)
    study = study_of_arrays(actual, {"old": old, "new": new}, costs, baseline="new")
    fact = answer_of(findings(study)).facts[0]
    assert re.fullmatch(r"Equal within ±0\.00\d+", fact.badge)
    assert not fact.open
    assert "Equal: both limits are within 5% of the baseline's cost." in fact.text


def test_what_was_not_judged_stands_under_the_headline(pages):
    found = findings_of("one")
    missing = "Not judged: rules (it has the values of no class)."
    sentences = replace(found.verdict.sentences, missing=missing)
    unjudged = replace(found, verdict=replace(found.verdict, sentences=sentences))
    assert Page(report_html(unjudged)).text("missing") == missing
    assert 'id="missing"' not in pages("one")


def test_remarks_on_the_method_fold_away(pages):
    page = Page(pages("example"))
    summaries = [text for _, text in page.all("summary")]
    assert "Method: 1 remark" in summaries
    assert 'id="remarks"' not in pages("three")


def test_a_constant_prediction_has_one_name(pages):
    page = Page(pages("example"))
    for part in ("policies", "facts", "pairs", "baseline", "verdict-text", "sensitivity"):
        text = page.text(part)
        assert "always 'benign'" in text
        assert "always benign" not in text
        assert "always malignant" not in text


def test_thresholds_have_the_digits_that_matter_and_all_where_they_are_copied(pages):
    page, found = Page(pages("example")), findings_of("example")
    best = found.policies[0]
    assert best.words == "discriminant at about 0.003"
    assert "about 0.003" in page.text("policies")
    assert "0.002999" not in page.text("policies")
    assert "0.002999" in page.text("threshold-table")
    exact = {attrs.get("data-value") for _, attrs, _ in page.elements}
    assert str(best.threshold) in exact


def test_a_baseline_far_off_has_no_line():
    costs = {"false_positive": 1, "false_negative": 500}
    found = decided(5, 2000, {"one": 0.001}, costs, baseline="always 0")
    html = report_html(found)
    assert 'class="ref"' not in html.split('id="policies"')[1].split("</table>")[0]
    assert "off the scale" in html


def test_every_chart_is_described(pages):
    for name in STUDIES:
        page = Page(pages(name))
        specs = json.loads(page.text("charts"))
        plots = {
            attrs["data-chart"]: attrs for _, attrs, _ in page.elements if "data-chart" in attrs
        }
        assert plots.keys() == specs.keys()
        assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in plots.values())


def test_the_outline_is_as_expected(pages):
    page = Page(pages("example"))
    kinds = {"h1", "h2", "h3", "h4", "label", "button", "summary", "dt"}
    lines = [
        f"{tag}: {' '.join(text.split())}"
        for tag, attrs, text in page.elements
        if tag in kinds or (tag == "th" and attrs.get("scope") == "col")
    ]
    if os.environ.get("STAKES_WRITE_GOLDEN"):
        (GOLDEN / "outline.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    expected = (GOLDEN / "outline.txt").read_text(encoding="utf-8")
    assert "\n".join(lines) + "\n" == expected


def test_sources_are_cited_only_where_their_method_was_used(pages):
    assert "Holte, R. C." in pages("example")
    assert "Holte, R. C." not in pages("one")
    for name in ("Margineantu, D. D.", "Learned-Miller, E.", "Witten, I. H."):
        assert name in pages("one")


def test_a_report_is_written_whole_or_not_at_all(pages, tmp_path):
    path = tmp_path / "report.html"
    write_report(findings_of("one"), path)
    assert path.read_text(encoding="utf-8") == pages("one")
    with pytest.raises(FileError, match="cannot be written"):
        write_report(findings_of("one"), tmp_path / "none" / "report.html")


@pytest.mark.parametrize("module", ["altair", "jinja2", "vl_convert"])
def test_a_missing_library_is_named(monkeypatch, module, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where no scripts are cached
    _page._drawing.cache_clear()  # noqa: SLF001
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'stakes\[report\]'"):
        report_html(findings_of("one"))


def test_importing_the_report_loads_no_heavy_library():
    code = (
        "import sys, stakes.show.report; "
        "print([name for name in ('altair', 'jinja2', 'vl_convert') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_many_classes_are_listed_and_not_laid_out():
    page = Page(report_html(findings(many_classes(25))))
    assert "too many models or classes" in page.text("panel-note")
    assert "most expensive kinds of decision of" in page.text("matrices")


@pytest.mark.parametrize(("classes", "width"), [(3, ""), (4, "wide"), (6, "full"), (12, "full")])
def test_matrices_get_the_room_that_their_names_need(classes, width):
    html = report_html(findings(many_classes(classes)))
    assert f'<div class="cards {width}">' in html


def test_what_a_target_needs_is_said():
    study = study_of("one")
    page = Page(report_html(findings(study)))
    assert "a tenth of it," in page.text("sample_size")
    page = Page(report_html(findings(study, Settings(target=0.01))))
    said = " ".join(page.text("sample_size").split())
    assert "For an upper limit within 0.01 of the cost of m " in said
    assert "a tenth" not in said
    assert "0.01" in page.text("method")


def test_a_model_without_costs_needs_a_target():
    found = findings_of("one")
    nothing = replace(found.sample_size[0], target=None, plan=None)
    free = replace(found, sample_size=(nothing,))
    assert "m as decided cost nothing in this test" in Page(report_html(free)).text("sample_size")
    tiny = replace(found, sample_size=(replace(nothing, target=1e-9),))
    assert "than can be planned for" in Page(report_html(tiny)).text("sample_size")


# ---- class priors


@pytest.fixture(scope="module")
def rare():
    """The findings of the example where one tumour in a hundred is malignant."""
    design = Design({"benign": 0.99, "malignant": 0.01})
    return findings(replace(study_of("example"), design=design), Settings(unit="USD"))


def test_a_page_with_class_priors_says_which_population_it_is_about(rare):
    page = Page(report_html(rare))
    said = "Costs are for a population with 99% 'benign' and 1% 'malignant', not as in the data."
    assert said in rare.verdict.notes
    assert said in page.text("notes")
    assert "99% 'benign', 1% 'malignant'" in page.text("method")
    assert "class frequencies in the examples, not the stated ones" in page.text("calibration")


def test_a_page_with_class_priors_has_no_costs_to_edit(rare):
    page = Page(report_html(rare))
    ids = {attrs.get("id") for _, attrs, _ in page.elements}
    assert ids.isdisjoint({"cost-matrix", "miss", "alarm", "prevalence", "baseline"})
    assert "for the stated class priors" in page.text("panel-note")
    plots = {attrs["data-chart"] for _, attrs, _ in page.elements if "data-chart" in attrs}
    assert plots == json.loads(page.text("charts")).keys()


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_without_class_priors_speaks_of_none(pages, name):
    text = " ".join(Page(pages(name)).text("main").split())
    assert "Costs are for" not in text
    assert "class priors" not in text


def test_the_command_takes_class_priors_and_names_them_again(rare, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    asked = (
        "report examples/breast_cancer.csv --costs examples/breast_cancer_costs.csv "
        "--class-priors benign=0.99,malignant=0.01 --unit USD"
    )
    assert main([*shlex.split(asked), "--out", str(page), "--json", str(data)]) == 0
    found = json.loads(data.read_text(encoding="utf-8"))
    assert found["settings"]["command"] == f"stakes {asked}"
    expected = rare.to_dict()
    for part in ("verdict", "models", "pairs", "sample_size"):
        assert found[part] == expected[part]
    said = rare.verdict.notes[0]
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in Page(page.read_text(encoding="utf-8")).text("notes")


# ---- every kind of predictions


def kinds():
    """Return studies of every kind of columns, by what is special about them."""
    rng = np.random.default_rng(7)
    actual = np.repeat([0, 1], [240, 60])
    margin = {
        name: 2.0 * actual + rng.normal(-1, spread, 300) for name, spread in [("a", 1), ("b", 2)]
    }
    chance = {name: 1 / (1 + np.exp(-each)) for name, each in margin.items()}
    points = {name: np.round(600 + 40 * each) for name, each in margin.items()}
    decided = {name: (each > 0).astype(int) for name, each in margin.items()}
    costs = CostMatrix([[0, 30], [2, 0]], rows="predicted", labels=[0, 1])
    review = CostMatrix(
        [[0, 30], [9, 0], [3, 4]], rows="predicted", labels=[0, 1], decisions=[0, 1, "review"]
    )
    few = np.repeat([0, 1], [294, 6])
    priors = {0: 0.95, 1: 0.05}
    return {
        "margins": study_of_arrays(actual, {}, costs, y_score=margin),
        "credit points": study_of_arrays(actual, {}, costs, y_score=points),
        "probabilities": study_of_arrays(actual, {}, costs, y_score=chance),
        "both": study_of_arrays(actual, decided, costs, y_score=chance),
        "mixed": study_of_arrays(actual, {"a": decided["a"]}, costs, y_score={"b": margin["b"]}),
        "priors": study_of_arrays(actual, decided, costs, y_score=chance, class_priors=priors),
        "margins and priors": study_of_arrays(
            actual, {}, costs, y_score=margin, class_priors=priors
        ),
        "few positives": study_of_arrays(few, {}, costs, y_score=chance),
        "review": study_of_arrays(actual, {"a": decided["a"]}, review),
        "constant scores": study_of_arrays(actual, {}, costs, y_score={"a": np.full(300, 0.5)}),
        "groups": study_of_arrays(
            actual, decided, costs, y_score=margin, groups=np.arange(300) % 100
        ),
        "a named baseline": study_of_arrays(
            actual, decided, costs, y_score=margin, baseline="a@0.3"
        ),
    }


@pytest.mark.parametrize("kind", kinds())
def test_a_page_is_written_for_every_kind_of_predictions(kind):
    study = kinds()[kind]
    found = findings(study, Settings(unit="EUR", volume=1000))
    page = Page(report_html(found))
    assert minus(found.verdict.text) in page.text("verdict-text")
    rows = {attrs.get("data-policy") for attrs, _ in page.all("tr")}
    assert {policy.name for policy in found.policies} <= rows
    ids = {attrs.get("id") for _, attrs, _ in page.elements}
    assert bool(ids & {"cost-matrix", "miss"}) == (
        kind not in ("priors", "margins and priors", "groups")
    )
    assert "nan" not in page.text("main").lower().split()
