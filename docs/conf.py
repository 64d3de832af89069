"""Sphinx configuration."""

import re
import shutil
import sys
import tempfile
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.util.logging import getLogger

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs"), str(ROOT / "tools")]
from pictures import PICTURES, NoBrowserError, write
from results_page import write_pages

project = "stakes"
author = "The stakes developers"
copyright = "2026, The stakes developers"  # noqa: A001 - the name Sphinx asks for
version = release = installed_version("stakes")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["*_src"]
exclude_patterns += [
    f"{each}/*.{ending}" for each in ("gallery", "case_studies") for ending in ("py", "ipynb")
]
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!stakes).*")]  # other projects' names are not linked
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameter lists show the types
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": ["gallery_src", "case_studies_src"],
    "gallery_dirs": ["gallery", "case_studies"],
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "run_stale_examples": True,  # the library may have changed though the script has not
    "download_all_examples": False,
    "show_signature": False,
}

# Prompts and outputs are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "stakes"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["page.css"]
# Pages without subpages need no sidebar. Nor does the reference: its first page lists the names by
# topic, and every page below links to it.
ALONE = ("tutorial/index", "glossary", "changes", "reference/**")
html_sidebars = {page: [] for page in ALONE}
toc_object_entries_show_parents = "hide"

html_theme_options = {
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}


def _is_inherited(member):
    return str(getattr(member, "__module__", "")).startswith("sklearn")


def _shorten_inherited(_app, _what, _name, inherited, _options, lines):
    """Keep only the first line of scikit-learn's docstrings: the rest links to its own pages."""
    if _is_inherited(inherited):
        del lines[1:]


def _skip_inherited(_app, _what, name, member, skip, _options):
    """Skip members of every scikit-learn estimator, such as `set_fit_request`, except `score`."""
    plumbing = name == "get_metadata_routing" or (_is_inherited(member) and name != "score")
    return True if plumbing else skip


def _link_citations(app, _what, _name, _object, _options, lines):
    """Link the citations under References in a docstring to the bibliography."""
    page = (Path(app.srcdir) / "reference" / "bibliography.md").read_text(encoding="utf-8")
    labels = re.findall(r"^\((\S+)\)=\n\*\*(.+)\*\*$", page, flags=re.MULTILINE)
    places = [i for i, line in enumerate(lines) if line.strip() == ".. rubric:: References"]
    for i in range(places[0] if places else len(lines), len(lines)):
        for label, cited in labels:
            found = rf"(?<![\w&] ){re.escape(cited)}"  # not the end of a longer list of authors
            lines[i] = re.sub(found, f":ref:`{cited} <{label}>`", lines[i])


def _write_results(app):
    """Write the pages about the papers' experiments."""
    write_pages(Path(app.srcdir) / "results")


def _draw_report(app, failure):
    """Replace the pictures of the report that are kept with the source by newly drawn ones."""
    if failure is not None or app.builder.format != "html":
        return
    log = getLogger(__name__)
    with tempfile.TemporaryDirectory() as folder:
        try:
            write(Path(folder))
        except NoBrowserError as error:
            log.info("pictures of the report: those kept with the source are shown, as %s", error)
            return
        for picture in PICTURES:
            _, name = app.env.images[picture.path.removeprefix("docs/")]
            shutil.copy(Path(folder) / picture.path, Path(app.outdir) / "_images" / name)
    log.info("pictures of the report: drawn anew")


def setup(app):
    """Register the callbacks of Sphinx."""
    app.connect("builder-inited", _write_results)
    app.connect("autodoc-process-docstring", _shorten_inherited)
    app.connect("autodoc-skip-member", _skip_inherited)
    app.connect("autodoc-process-docstring", _link_citations, priority=900)  # after numpydoc
    app.connect("build-finished", _draw_report)
