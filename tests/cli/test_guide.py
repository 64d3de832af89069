"""Every command shown in the guides runs."""

import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from _helpers.pages import blocks, commands, text_of

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
GUIDES = [
    "docs/howto/command_line.md",
    "docs/howto/input.md",
    "docs/howto/evaluation_logs.md",
    "docs/howto/report.md",
    "docs/howto/ci_gate.md",
    "docs/howto/merge.md",
    "docs/howto/large_files.md",
    "docs/howto/simulate.md",
]
MAY_FAIL = "--gate"


@pytest.fixture
def files(folder, payments, drawn):
    """Write the files that the guides are about."""
    lines = drawn(60, 5).splitlines()
    regions = ["region", *(["north"] * 30), *(["south"] * 30)]
    text = [f"{line},{region}" for line, region in zip(lines, regions, strict=True)]
    (folder / "visits.csv").write_text("\n".join(text) + "\n")
    for seed, name in enumerate(["test", "validation", "january", "february"]):
        (folder / f"{name}.csv").write_text(payments(60, seed))
    (folder / "predictions").mkdir()
    for part in range(2):
        (folder / f"predictions/part-{part}.csv").write_text(payments(60, part))
    rows = [line.split(",") for line in payments(60, 9).splitlines()]
    for name, columns in {
        "labels": [0, 1],
        "predictions-of-a": [0, 2],
        "predictions-of-b": [0, 4],
    }.items():
        text = "\n".join(",".join(row[i] for i in columns) for row in rows)
        (folder / f"{name}.csv").write_text(text + "\n")
    messy = payments(60, 3).replace(",ok,", ",OK,", 5).replace(",fraud,", ",,", 2)
    (folder / "messy.csv").write_text(messy)
    for name in ("promptfoo.json", "prompt_a.eval", "prompt_b.eval"):
        log = name if name.endswith("json") else f"inspect_{name}"
        shutil.copy(LOGS / log, folder / name)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_of_a_guide_run_one_after_the_other(guide, stakes):
    shown = commands(text_of(guide))
    assert shown
    for command in shown:
        run(stakes, command)


def run(stakes, command):
    name, *arguments = shlex.split(command)
    assert name == "stakes"
    few = ["--repeats", "50"] if arguments[0] == "simulate" else []
    said = stakes(*arguments, *few)
    assert said.code in ({0, 1} if MAY_FAIL in arguments else {0}), said.err


def test_the_workflow_uses_the_action_as_it_is():
    (workflow,) = blocks(text_of("docs/howto/ci_gate.md"), "yaml")
    steps = yaml.safe_load(workflow)["jobs"]["gate"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == ["python predict.py"]
    given = steps[-1]["with"]
    inputs = yaml.safe_load(text_of("action.yml"))["inputs"]
    assert given.keys() <= inputs.keys()
    assert {name for name, each in inputs.items() if each.get("required")} <= given.keys()
