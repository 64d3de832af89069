"""The package, its extras and the conda recipe have the same requirements."""

import re
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import stakes
from stakes.cli.main import main

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
BUILD = SETTINGS["tool"]["hatch"]["build"]
EXTRAS = PROJECT["optional-dependencies"]
RECIPE = yaml.safe_load((ROOT / "conda-recipe" / "recipe.yaml").read_text(encoding="utf-8"))
FOR_USERS = ("ci", "cli", "databases", "engines", "excel", "mlflow", "plot", "report", "trees")
CONDA_NAMES = {
    "duckdb": "python-duckdb",
    "ibis-framework": "ibis-duckdb",
    "matplotlib": "matplotlib-base",
}


def bounds(requirements):
    """Return what is asked for, as conda would say it, without what leads to other extras."""
    found = set()
    for each in requirements:
        name, bound = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?(>=[\w.]+)?", each).groups()
        if name != "stakes":
            found.add(f"{CONDA_NAMES.get(name, name)} {bound}")
    return found


def led_to(extra):
    """Return the extras that an extra leads to, itself among them."""
    inner = [each for each in EXTRAS[extra] if each.startswith("stakes[")]
    names = [name for each in inner for name in each[len("stakes[") : -1].split(",")]
    return {extra}.union(*map(led_to, names))


def test_all_is_all_that_users_may_want():
    assert led_to("all") == {"all", *FOR_USERS}


def test_the_tests_have_what_they_test():
    assert led_to("test") == {"test", *FOR_USERS}


@pytest.mark.parametrize("extra", FOR_USERS)
def test_everything_has_a_lower_bound(extra):
    assert all(" >=" in each for each in bounds([*PROJECT["dependencies"], *EXTRAS[extra]]))


def test_the_version_is_that_of_the_source():
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    assert version("stakes") == stakes.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert "version" not in citation


def test_the_recipe_is_for_this_version():
    assert RECIPE["package"] == {"name": PROJECT["name"], "version": "${{ version }}"}
    assert RECIPE["context"]["version"] == stakes.__version__
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    assert RECIPE["about"]["license"] == PROJECT["license"]
    name, target = next(iter(PROJECT["scripts"].items()))
    assert RECIPE["build"]["python"]["entry_points"] == [f"{name} = {target}"]


def test_the_recipe_asks_for_what_the_package_asks_for():
    needs = RECIPE["requirements"]
    python = f"python {PROJECT['requires-python']}"
    with_command = [*PROJECT["dependencies"], *EXTRAS["cli"], *EXTRAS["report"]]
    assert set(needs["run"]) == {python, *bounds(with_command)}
    every = {each for extra in FOR_USERS for each in bounds(EXTRAS[extra])}
    assert set(needs["run_constraints"]) == every - set(needs["run"])
    builds = SETTINGS["build-system"]
    assert set(needs["host"]) == {python, "pip", *bounds(builds["requires"])}


def test_the_recipe_builds_from_the_source_that_it_is_in():
    source = (ROOT / "conda-recipe" / RECIPE["source"]["path"]).resolve()
    assert (source / "pyproject.toml").exists()
    assert [RECIPE["about"]["license_file"]] == PROJECT["license-files"]
    assert (source / RECIPE["about"]["license_file"]).exists()
    assert RECIPE["build"]["noarch"] == "python"  # nothing is compiled
    assert RECIPE["build"]["script"].startswith("python -m pip install . --no-deps")


def test_what_the_recipe_tries_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    imports, script = RECIPE["tests"]
    assert imports["python"]["pip_check"]
    for name in imports["python"]["imports"]:
        import_module(name)
    for command in script["script"]:
        name, *arguments = command.split()
        assert name in PROJECT["scripts"]
        assert main(arguments) == 0
    assert stakes.__version__ in capsys.readouterr().out


def test_the_wheel_holds_no_replication_and_the_source_archive_does():
    targets = BUILD["targets"]
    assert targets["wheel"] == {"packages": ["src/stakes"]}
    assert not [path for path in (ROOT / "src").rglob("*") if "replications" in path.name]
    assert "/replications" in targets["sdist"]["include"]
    checked = (ROOT / "tools" / "compare_builds.py").read_text(encoding="utf-8")
    assert '"replications/"' in checked  # `make wheel-check` checks the archive that is built


def test_every_extra_is_tried_from_the_wheel():
    smoke = (ROOT / "tools" / "smoke.py").read_text(encoding="utf-8")
    assert all(f"\ndef {extra}() -> None:" in smoke for extra in FOR_USERS)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    tried = re.search(r"^EXTRAS := (.*)$", makefile, flags=re.MULTILINE)
    assert set(tried[1].split()) == set(FOR_USERS)
    assert "\ttools/wheel-check $(EXTRAS)\n" in makefile
