"""Results of an executed notebook in a real browser: light, dark and narrow."""

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import sync_playwright

pytestmark = pytest.mark.services

CELLS = {
    "setup": """
import warnings
warnings.simplefilter("ignore")
import stakes
from stakes import *
tumours = stakes.datasets.load_breast_cancer_predictions(as_frame=True)
costs = stakes.datasets.load_breast_cancer_costs()
y = tumours["actual"]
scores = ScoreCounts.from_scores(y, tumours["tree_score"], pos_label="malignant")
""",
    "study": "study = stakes.study_of(tumours, costs); study",
    "verdict": "study.verdict(unit='USD')",
    "estimate": "estimate = evaluate(y, tumours['tree'], costs, unit='USD'); estimate",
    "interval": "estimate.interval()",
    "difference": "difference = compare(y, tumours.tree, tumours.logistic, costs); difference",
    "test": "difference.test()",
    "ranking": "compare_many(y, {n: tumours[n] for n in ('logistic', 'tree')}, costs)",
    "plan": "plan_test_size(costs, estimate.confusion, half_width=500, rng=0)",
    "curve": "CostCurve(scores, 'tree')",
    "threshold": "choose_threshold(scores, costs)",
    "accumulator": "a = Accumulator(costs, unit='USD'); a.update(y, tumours['tree']); a",
    "costs": "costs",
    "page": "study.show(height=600)",
}
SENTENCES = {
    "verdict", "estimate", "interval", "difference", "test", "ranking", "plan", "curve",
    "threshold", "accumulator", "study",
}  # fmt: skip
STYLE = """
:root { color-scheme: light dark; }
body { margin: 1rem; background: Canvas; color: CanvasText; font: 13px system-ui; }
table { border-collapse: collapse; margin: 0.5em 0 2em; }
td, th { padding: 0.4em 0.6em; }
"""


@pytest.fixture(scope="module")
def outputs():
    """Execute the notebook, and return what each cell shows as HTML and as text."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.values()]
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    shown = {}
    for name, cell in zip(CELLS, notebook.cells, strict=True):
        data = [each["data"] for each in cell.outputs if "data" in each]
        shown[name] = data[-1] if data else {}
    return shown


def test_results_are_tables_under_a_sentence(outputs):
    for name in CELLS.keys() - {"setup", "page"}:
        html = outputs[name]["text/html"]
        assert "<table>" in html, name
        assert "<caption" not in html, name
        assert html.startswith("<p>") or name not in SENTENCES, name
    assert len(outputs["study"]["text/plain"].splitlines()) <= 10
    assert outputs["page"]["text/html"].startswith("<iframe srcdoc=")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_results_look_right_in_a_browser(outputs, tmp_path, scheme, width):
    tables = "".join(
        f'<section id="{name}">{data["text/html"]}</section>'
        for name, data in outputs.items()
        if "text/html" in data
    )
    page_file = tmp_path / "notebook.html"
    page_file.write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{tables}")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium")
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        page.goto(page_file.as_uri())
        for name in SENTENCES:
            sentence = page.locator(f"#{name} p").first.bounding_box()
            assert sentence["width"] >= width - 40, name
            first = page.locator(f"#{name} td").first
            assert first.evaluate("node => getComputedStyle(node).textAlign") == "right"
        frame = page.frame_locator("#page iframe")
        frame.locator("h1").wait_for()
        assert frame.locator("svg, canvas").count() > 0
        shown = page.locator("#page iframe")
        shown.scroll_into_view_if_needed()
        shown.screenshot(path=tmp_path / f"page-{scheme}-{width}.png")
        page.screenshot(path=tmp_path / f"{scheme}-{width}.png", full_page=True)
        browser.close()
    assert (tmp_path / f"{scheme}-{width}.png").stat().st_size > 20_000
