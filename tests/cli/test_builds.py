"""Outputs of a gate for builds: JUnit XML, Markdown, GitHub annotations, and the action's steps."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import junitparser
import pytest
import yaml

from stakes._core.text import number, p_value
from stakes.infer import Gate
from stakes.show.text import github_lines, junit_text, markdown_text

ROOT = Path(__file__).parents[2]
GATE = ("compare", "predictions.csv", "--costs", "costs.csv", "--baseline", "old", "--gate")

XS = "{http://www.w3.org/2001/XMLSchema}"
SCHEMA = ET.parse(ROOT / "tests" / "fixtures" / "junit-10.xsd").getroot()  # noqa: S314 - Jenkins'
ELEMENTS = {each.get("name"): each for each in SCHEMA.findall(f"{XS}element")}
PATTERNS = {
    kind.get("name"): kind.find(f".//{XS}pattern").get("value")
    for kind in SCHEMA.findall(f"{XS}simpleType")
}


def check_schema(element):
    """Check an element by the schema of Jenkins' xunit plug-in, whose sequences have one part."""
    declared = ELEMENTS[element.tag]
    attributes = {each.get("name"): each for each in declared.iter(f"{XS}attribute")}
    required = {name for name, each in attributes.items() if each.get("use") == "required"}
    assert required <= set(element.attrib) <= set(attributes), (element.tag, element.attrib)
    for name, value in element.attrib.items():
        pattern = PATTERNS.get(attributes[name].get("type"))
        assert pattern is None or re.fullmatch(pattern, value), (name, value)
    kind = declared.find(f"{XS}complexType")
    mixed = kind is None or kind.get("mixed") == "true"
    assert mixed or not (element.text or "").strip()
    children = {each.get("ref") for each in declared.iter(f"{XS}element")} - {None}
    for child in element:
        assert child.tag in children, (element.tag, child.tag)
        check_schema(child)


def test_the_schema_refuses_what_jenkins_does():
    suite = '<testsuite name="a" tests="1" failures="0" errors="0" time="{}">{}</testsuite>'
    for time, inside in [("1,234.5", ""), ("0.0", '<testcase name="a"><skipped/></testcase>')]:
        check_schema(ET.fromstring(suite.format(time, inside)))  # noqa: S314
    for time, inside in [("soon", ""), ("1.2345", ""), ("1", "<testcase/>"), ("1", "<p/>")]:
        with pytest.raises(AssertionError):
            check_schema(ET.fromstring(suite.format(time, inside)))  # noqa: S314


@pytest.mark.parametrize(
    ("options", "code", "results"),
    [
        ((), 0, {"logistic": [], "tree": []}),
        (("--margin", "0.01"), 1, {"logistic": ["Failure"], "tree": ["Failure"]}),
    ],
)
def test_the_gate_in_the_files_of_a_build(stakes, folder, options, code, results):
    (folder / "summary.md").write_text("# Before\n")
    found = stakes(*GATE, *options, "--junit", "gate.xml", "--markdown", "summary.md")
    assert found.code == code, found.err
    check_schema(ET.parse(folder / "gate.xml").getroot())  # noqa: S314 - our own
    (suite,) = junitparser.JUnitXml.fromfile(str(folder / "gate.xml"))
    cases = {case.name: [type(each).__name__ for each in case.result] for case in suite}
    assert {name.split("@")[0]: each for name, each in cases.items()} == results
    assert (suite.tests, suite.failures, suite.errors) == (2, 2 * code, 0)
    summary = (folder / "summary.md").read_text()
    assert summary.startswith("# Before\n### Cost gate ")
    assert summary.count("| passed |" if code == 0 else "| failed |") == 2


@pytest.mark.parametrize("margin", [(), ("--margin", "0.4")])
def test_a_build_is_shown_the_p_value_that_decides(stakes, folder, margin):
    stakes(*GATE, *margin, "--junit", "g.xml", "--markdown", "s.md", "--json", "g.json")
    found = json.loads((folder / "g.json").read_text())
    alone = {each["first"]: each["p_value"] for each in found["against_baseline"]}
    tested = {each["names"][0]: each["p_value"] for each in found["tests"]}
    rows = [line.split(" | ") for line in (folder / "s.md").read_text().splitlines()]
    shown = {row[0].strip("| "): row[-1].strip("| ") for row in rows if len(row) > 1}
    assert shown.pop("candidate") == ("p for the margin" if margin else "p")
    assert shown == {name: p_value(p) for name, p in (tested if margin else alone).items()}
    report = (folder / "g.xml").read_text()
    for each in found["gate"]["candidates"]:  # the limit that decides is stated
        assert number(abs(each["limit"])) in each["reason"]
        assert each["reason"] in report


def test_lines_for_github_are_written_there_only(stakes, monkeypatch, folder):
    assert folder
    strict = (*GATE, "--margin", "0.01")
    assert "::error" not in stakes(*strict).err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines = [line for line in stakes(*strict).err.splitlines() if line.startswith("::")]
    assert len(lines) == 2
    assert all(re.match(r"::error title=Cost gate%3A \w+::failed\. ", line) for line in lines)


posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell and named pipes")


def shell(command, folder, **variables):
    """Run a command line in a shell, `stakes` being ours."""
    return subprocess.run(
        ["/bin/bash", "-c", command.replace("stakes", f"{sys.executable} -m stakes.cli.main", 1)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **variables},
    )


@posix
@pytest.mark.parametrize("end", ["2>/dev/full", "2>&-", "2>/dev/null"])
def test_a_failed_gate_exits_with_1_whoever_reads_its_errors(folder, end):
    strict = " ".join((*GATE, "--margin", "0.01"))
    assert shell(f"stakes {strict} {end}", folder, GITHUB_ACTIONS="true").returncode == 1


@posix
def test_a_summary_goes_into_a_pipe(folder):
    gate = f"stakes -q {' '.join(GATE)} --markdown"
    done = shell(f"{gate} /dev/stdout | cat", folder)
    assert (done.stdout.count("### Cost gate"), done.stderr) == (1, "")
    os.mkfifo(folder / "pipe")
    done = shell(f"cat pipe & {gate} pipe > out.txt; code=$?; wait; exit $code", folder)
    assert (done.returncode, done.stdout.count("### Cost gate")) == (0, 1)


def test_a_summary_is_not_added_to_what_is_not_utf_8(stakes, folder):
    before = "# Übersicht\n".encode("utf-16")
    (folder / "summary.md").write_bytes(before)
    said = stakes("-q", *GATE, "--markdown", "summary.md")
    assert said.code == 2
    assert "summary.md: expected UTF-8 text" in said.err
    assert "fault in stakes" not in said.err
    assert (folder / "summary.md").read_bytes() == before


def test_a_gate_that_cannot_run_exits_with_2(stakes, folder):
    assert folder
    assert stakes(*GATE[:-1], "--junit", "gate.xml").code == 2
    assert stakes(*GATE, "--junit", "gate.xml", "--candidate", "nobody").code == 2
    assert not (folder / "gate.xml").exists()


NAME = "a%b,c:d\n::error::x |<b>*`&\x01 \N{RIGHT-TO-LEFT OVERRIDE}"


def test_names_are_text_and_nothing_else():
    gate = Gate("old", 0.95, (), unjudged={NAME: f"no {NAME}"})
    (line,) = github_lines(gate)
    assert "\n" not in line
    title = line.split("title=")[1].split("::")[0]
    assert ":" not in title
    assert "," not in title
    root = ET.fromstring(junit_text(gate))  # noqa: S314 - our own
    check_schema(root)
    assert root.find("testsuite/testcase").get("name").startswith("a%b,c:d")
    text = markdown_text(gate)
    row = next(line for line in text.splitlines() if "a%b" in line)
    assert r"\|\<b\>\*\`&amp;" in row
    assert len(re.findall(r"(?<!\\)\|", row)) == 7


def wheel(folder):
    """Write the smallest wheel that pip installs."""
    path, about = folder / "of_a_test-1-py3-none-any.whl", "of_a_test-1.dist-info"
    files = {
        "of_a_test.py": "",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: of-a-test\nVersion: 1\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def run_step(step, inputs, folder, **environment):
    """Run a step of the action as GitHub's runner does."""
    for name, value in step["env"].items():
        environment[name] = inputs[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]]
    assert "${{" not in step["run"]  # names in a pull request must not become script code
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env={**os.environ, "PATH": programs, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_steps_of_the_action_run_as_written(folder, tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    install, compare = action["runs"]["steps"]
    assert install["if"] == "inputs.install != ''"
    inputs = {name: each.get("default", "") for name, each in action["inputs"].items()}
    inputs |= {"predictions": "predictions.csv", "costs": "costs.csv", "baseline": "old"}
    inputs |= {"arguments": "--candidate logistic", "install": str(wheel(tmp_path))}
    if find_spec("pip") is not None:
        apart = {"PIP_NO_INDEX": "1", "PIP_TARGET": str(tmp_path / "installed")}
        done = run_step(install, inputs, folder, **apart)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "installed" / "of_a_test.py").exists()
    done = run_step(compare, inputs, folder, GITHUB_STEP_SUMMARY=str(tmp_path / "step.md"))
    assert done.returncode == 0, done.stderr
    assert "Gate passed." in done.stdout
    assert "| logistic" in (tmp_path / "step.md").read_text()
    (suite,) = junitparser.JUnitXml.fromfile(str(folder / "stakes-gate.xml"))
    assert suite.tests == 1
    costly = run_step(
        compare, inputs | {"margin": "0.01"}, folder, GITHUB_STEP_SUMMARY=str(tmp_path / "step.md")
    )
    assert costly.returncode == 1
