"""What the README and the reference say is so."""

import inspect
import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet
import pytest
from _helpers.pages import written

import stakes
from stakes import CostMatrix, evaluate
from stakes.cli.main import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")


def exported():
    """Return the classes and functions that the packages export, by their full names."""
    packages = ("", ".lab", ".learn", ".show", ".track", ".study", ".findings", ".errors")
    modules = [import_module(f"stakes{package}") for package in packages]
    every = {}
    for module in modules:
        names = getattr(module, "__all__", None) or [
            name
            for name, each in vars(module).items()
            if getattr(each, "__module__", "") == module.__name__
        ]
        every |= {f"{module.__name__}.{name}": getattr(module, name) for name in names}
    return {
        name: each
        for name, each in every.items()
        if inspect.isroutine(each) or inspect.isclass(each)
    }


def documented():
    """Return what the reference has entries for, by their full names."""
    every = {}
    module = ""
    for line in REFERENCE.splitlines():
        if current := re.match(r"\.\. (?:currentmodule|automodule):: (\S+)", line):
            module = current[1]
        elif entry := re.fullmatch(r"   (\w+)", line):
            every[f"{module}.{entry[1]}"] = getattr(import_module(module), entry[1])
    errors = vars(stakes.errors).items()
    return every | {f"stakes.errors.{name}": each for name, each in errors if inspect.isclass(each)}


def found(name):
    """Return the class, function or method of a full name."""
    if name in PUBLIC:
        return PUBLIC[name]
    owner, method = name.rsplit(".", 1)
    return getattr(PUBLIC[owner], method)


def sections(documented):
    """Return the sections of a numpydoc docstring; what comes before them under ""."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.getdoc(documented) or "", flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def methods(name):
    """Return the full names of the methods that a public class has from stakes."""
    owner = PUBLIC[name]
    return [
        f"{name}.{method}"
        for method, each in inspect.getmembers(owner, inspect.isroutine)
        if not method.startswith("_") and str(getattr(each, "__module__", "")).startswith("stakes")
    ]


PUBLIC = exported()
DOCUMENTED = documented()
FUNCTIONS = [
    *(name for name, each in PUBLIC.items() if inspect.isfunction(each)),
    *(method for name, each in PUBLIC.items() if inspect.isclass(each) for method in methods(name)),
]
EQUATION = re.compile(r"[Σ√∫≤≥±·]|\s[=<>]\s|math::?")
CENTRAL = [
    "stakes.CostEstimate.interval",
    "stakes.CostEstimate.distribution",
    "stakes.CostDifference.interval",
    "stakes.CostDifference.distribution",
    "stakes.CostDifference.test",
    "stakes.CostMatrix.risk",
    "stakes.CostMatrix.decide",
    "stakes.Ranking.pairwise",
    "stakes.Accumulator.interval",
    "stakes.PairedAccumulator.interval",
    "stakes.CostCurve.cost",
    "stakes.CostCurve.at",
    "stakes.CostCurve.band",
    "stakes.CostCurve.moments",
    "stakes.CostCurve.operating_range",
    "stakes.CostLine.band",
    "stakes.CostCurveDifference.band",
    "stakes.CostCurveDifference.significant_ranges",
]
PLAIN = {
    "stakes.Band",
    "stakes.BestCurve",
    "stakes.AverageCurve",
    "stakes.BinnedScoreCounts",
    "stakes.CheapestProbability",
    "stakes.Confusion",
    "stakes.CostAt",
    "stakes.CostSample",
    "stakes.CostSensitivity",
    "stakes.Flip",
    "stakes.GroupedConfusion",
    "stakes.Interval",
    "stakes.JointConfusion",
    "stakes.Pair",
    "stakes.PairedScoreCounts",
    "stakes.Plan",
    "stakes.Power",
    "stakes.Range",
    "stakes.Rates",
    "stakes.RocPoints",
    "stakes.ScoreCounts",
    "stakes.TestResult",
    "stakes.ThresholdChoice",
    "stakes.Verdicts",
    "stakes.findings.Settings",
    "stakes.findings.findings",
    "stakes.lab.Coverage",
    "stakes.lab.DataSet",
    "stakes.lab.Experiment",
    "stakes.lab.Measurements",
    "stakes.lab.Payments",
    "stakes.lab.PowerCurve",
    "stakes.lab.Printed",
    "stakes.lab.Results",
    "stakes.lab.Trial",
    "stakes.lab.TypeOneError",
    "stakes.lab.experiments",
    "stakes.lab.run",
    "stakes.learn.LearnerDifference",
    "stakes.show.write_report",
    "stakes.study.Study",
    "stakes.study.study_of",
    "stakes.track.log_to_mlflow",
    "stakes.track.mlflow_cost_metric",
    *(name for name in PUBLIC if name.startswith("stakes.errors.")),
}
"""Containers, results, runners and errors: they implement no equation."""
IN_WORDS = {
    "stakes.CostRanges",
    "stakes.PairedConfusion",
    "stakes.lab.BinormalPair",
    "stakes.lab.binormal",
    "stakes.lab.expf5",
    "stakes.lab.fetch_uci",
    "stakes.lab.read_uci",
}
"""Tables and data of the papers, which have no equation there."""
OWN = {
    "stakes.CostSensitivityDisplay",
    "stakes.Design",
    "stakes.FlipRegion",
    "stakes.flip_region",
    "stakes.lab.fraud",
    "stakes.show.CostSensitivityDisplay",
}
"""Equations of our own."""


def test_the_readme_shows_the_real_output_of_the_demo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert (tmp_path / "stakes-demo.html").stat().st_size > 500_000
    shown = re.search(r"```text\n(.*?)```", README, flags=re.DOTALL)
    assert shown is not None
    assert f"\n\n{shown[1]}\n" in capsys.readouterr().out  # the whole table


def test_the_readme_shows_the_coverage_that_the_lab_measured():
    kept = pyarrow.parquet.read_table(ROOT / "docs" / "lab_results" / "bcost-coverage.parquet")
    rows = kept.select(["method", "measure", "value"]).to_pylist()

    def values(method, measure):
        return [
            100 * row["value"]
            for row in rows
            if (row["method"], row["measure"]) == (method, measure)
        ]

    rare = "coverage where rare mistakes cost more than λ allows for"
    measured = {}
    for method, name in [("extremal", "the default"), ("bcost", "BCOST"), ("normal", "mean")]:
        every = values(method, "coverage of a matrix")
        assert len(every) == 260
        shown = (sum(every) / len(every), *values(method, rare), min(every))
        measured[name] = [f"{each:.1f}" for each in shown]
    assert evaluate([0, 1], [0, 1], CostMatrix.zero_one([0, 1])).interval().method == "extremal"
    row = r"^\| (the default|BCOST|mean)[^|]*\|([^|]+)\|([^|]+)\|([^|]+)\|$"
    table = re.findall(row, README, flags=re.MULTILINE)
    assert {name: [each.strip() for each in numbers] for name, *numbers in table} == measured


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_and_pictures_lead_to_files_that_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)|(?:src|href)=\"([^\"]+)\"", text)
    inside = [link for pair in targets for link in pair if link and "://" not in link]
    assert name != "README.md" or len(inside) > 10
    assert [link for link in inside if not (ROOT / link).exists()] == []


def test_every_command_of_the_documents_is_a_target_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    for document in (README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        named = set(re.findall(r"^\$ make ([a-z-]+)", document, flags=re.MULTILINE))
        assert named
        assert named <= targets


def test_the_map_of_the_code_names_every_room_once():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = re.findall(r"^\| `(\w+)/` \|", text, flags=re.MULTILINE)
    packages = [path.parent.name for path in ROOT.glob("src/stakes/*/__init__.py")]
    assert sorted(rooms) == sorted(packages)
    named = re.findall(r"`(\w+/[\w/]*(?:\.py)?)`", text)
    inside = ROOT / "src" / "stakes"
    assert [
        path for path in named if not (ROOT / path).exists() and not (inside / path).exists()
    ] == [
        "shared/"  # of lab/replicate
    ]


def test_every_public_name_has_a_reference_entry():
    assert [name for name, each in PUBLIC.items() if each not in DOCUMENTED.values()] == []
    assert "automodule:: stakes.errors" in REFERENCE


def test_what_people_copy_uses_nothing_private():
    scripts = [
        *ROOT.glob("docs/gallery_src/*.py"),
        *ROOT.glob("docs/case_studies_src/*.py"),
        *ROOT.glob("examples/*.py"),
    ]
    assert len(scripts) > 15
    for path in (*scripts, *(ROOT / page for page in written())):
        private = r"(?:from|import) stakes[\w.]*\._\w+|from stakes[\w.]* import \(?\s*_\w+"
        assert re.findall(private, path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize("name", [*PUBLIC, *CENTRAL])
def test_every_public_name_has_a_runnable_example(name):
    assert ">>> " in sections(found(name)).get("Examples", "")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_methods_say_what_they_take_and_return(name):
    function = found(name)
    told, signature = sections(function), inspect.signature(function)
    taken = [each for each in signature.parameters if each not in ("self", "cls")]
    listed = re.findall(r"^(\S.*)$", told.get("Parameters", ""), flags=re.MULTILINE)
    names = {each.strip("* ") for line in listed for each in line.split(" : ")[0].split(",")}
    assert set(taken) <= names
    assert "Returns" in told or signature.return_annotation == "None"


@pytest.mark.parametrize("name", [*sorted(set(PUBLIC) - PLAIN - IN_WORDS), *CENTRAL])
def test_what_implements_an_equation_gives_it(name):
    told = sections(found(name))
    prose = "".join(told.get(part, "") for part in ("", "Returns", "Notes"))
    assert EQUATION.search(prose) or ":math:" in told.get("Parameters", "")


@pytest.mark.parametrize("name", [*sorted(set(PUBLIC) - PLAIN - OWN), *CENTRAL])
def test_what_implements_a_published_method_cites_it(name):
    assert re.search(r"\(\d{4}\)", sections(found(name)).get("References", ""))


def test_only_public_names_are_left_out():
    assert set(PUBLIC) >= PLAIN | IN_WORDS | OWN


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {stakes.__version__}\n" in citation
    assert version("stakes") == stakes.__version__
