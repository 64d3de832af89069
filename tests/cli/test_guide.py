"""Every command that the guides show runs."""

import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = [
    "howto/command_line.md",
    "howto/report.md",
    "howto/ci_gate.md",
    "howto/merge.md",
    "howto/large_files.md",
]
MAY_FAIL = "--gate"


def commands(guide):
    text = (DOCS / guide).read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def files(folder, payments):
    """Write the files that the guides are about."""
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


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_of_a_guide_run_one_after_the_other(guide, stakes):
    shown = commands(guide)
    assert shown
    for command in shown:
        name, *arguments = shlex.split(command)
        assert name == "stakes"
        said = stakes(*arguments)
        assert said.code in ({0, 1} if MAY_FAIL in arguments else {0}), said.err
