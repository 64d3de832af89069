"""The results stored with the source are complete, and are written as pages."""

import re
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from _helpers.toy_experiment import TOY
from matplotlib import pyplot as plt

from replications import Printed, run, store
from replications.catalogue import NAMES, find
from replications.comparison import DIFFERS, verdicts
from replications.store import RESULTS, findings, kept_results, read_results, write_results

ROOT = Path(__file__).parents[2]
FILES = sorted(RESULTS.glob("*.parquet"))


@pytest.fixture(scope="module")
def pages():
    """Load the generator of the pages."""
    spec = spec_from_file_location("results_page", ROOT / "docs" / "results_page.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_markdown(text):
    """Check what a reader of Markdown could stumble over."""
    assert len(re.findall(r"(?m)^# ", text)) == 1
    assert text.count("```") % 2 == 0
    blocks = [block.splitlines() for block in text.split("\n\n")]
    for rows in (block for block in blocks if block[0].startswith("|")):
        columns = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert len(columns) == 1, rows
        assert re.fullmatch(r"\|( -+:? \|)+", rows[1])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_result_that_comes_with_the_source_is_whole(path, pages):
    results = read_results(path)
    assert results.experiment == path.stem
    assert path.stem in NAMES
    experiment = find(path.stem)
    assert 0 < results.scale <= 1
    assert results.seconds > 0
    found = verdicts(experiment, results)
    assert len(found) == len(experiment.printed)
    for verdict in found:  # every difference is explained
        assert verdict.word != DIFFERS or verdict.printed.why or findings(experiment.name)
    for row in results.rows:
        assert {"measure", "value", "error", "repeats"} <= set(row)
    for cell in experiment.cells():
        assert results.select(**cell), "of another version of the experiment"
    if experiment.draw is not None:
        assert experiment.draw(results)
        plt.close("all")
    page = pages.page_of(experiment, results, {})
    check_markdown(page)
    assert f"$ python -m replications run {path.stem}" in page
    assert f"seed {results.seed};" in page


def test_no_other_file_is_among_them():
    assert {path.suffix for path in RESULTS.glob("*")} <= {".parquet"}
    assert kept_results("no-such-experiment") is None


def test_pages_of_an_experiment_and_the_index(pages, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FINDINGS", tmp_path)
    found = "# Findings\n\n- a\\_b is \\<c\\>,\n  not *so*.\n"
    (tmp_path / "strange.md").write_text(found)
    strange = replace(
        TOY,
        name="strange",
        title="What | of $1 and *that*",
        printed=(*TOY.printed, Printed({"measure": "total"}, float("nan"), "page [7]")),
        draw=lambda _: {"figure-1": plt.figure()},
    )
    results = run(strange, scale=0.1, seed=4)
    write_results(tmp_path / "strange.parquet", results)
    pages.write_pages(tmp_path / "pages", tmp_path, known=[strange, TOY])
    page = (tmp_path / "pages" / "strange.md").read_text()
    check_markdown(page)
    assert r"# What \| of \$1 and \*that\*" in page
    assert "$ python -m replications run strange --scale 0.1 --seed 4\n" in page
    assert "| Table 1 | published | ours | standard error | verdict |" in page
    assert r"page \[7\]" in page
    assert "## Found besides\n\n- a\\_b is \\<c\\>, not *so*.\n" in page
    assert "- Table 1, sides 2: not halved" in page
    (figure,) = re.findall(r"!\[Figure 1\]\((.*)\)", page)
    assert (tmp_path / "pages" / figure).read_bytes().startswith(b"\x89PNG")
    index = (tmp_path / "pages" / "index.md").read_text()
    check_markdown(index)
    assert "[`strange`](strange.md)" in index
    assert "no full-scale run yet" in index
    assert re.search(r"(?s)toctree.*\nstrange\n```", index)
    assert not (tmp_path / "pages" / "toy.md").exists()
