"""Every command has examples in its help, and each example runs."""

import re
import shlex

import pytest

from stakes.cli._app import command

COMMANDS = [
    (name, *inner)
    for name, found in command().commands.items()
    for inner in ([(each,) for each in found.commands] if hasattr(found, "commands") else [()])
]
ALLOWED = {"compare": {0, 1}}
"""Allowed exit codes by command: a gate may fail."""


@pytest.fixture
def files(folder, payments, drawn, label_file, stakes):
    """Write the files that examples are about."""
    for seed, name in enumerate(["test", "validation", "pilot", "january", "february"]):
        (folder / f"{name}.csv").write_text(payments(60, seed))
    for name in ("january", "february"):
        assert stakes("count", f"{name}.csv", "-c", "costs.csv", "--out", f"{name}.json").code == 0
    for name in ("predictions", "january", "audit"):
        (folder / f"{name}.csv").write_text(drawn(60, 7))
    (folder / "matrix.csv").write_text(",good,bad\ngood,0,1\nbad,5,0\n")
    (folder / "german.cost").write_text("2 2\n0 1\n5 0\n")
    label_file(4000, "to_label.csv")


ELSEWHERE = "postgresql://"
"""Servers are started by tests/cli/test_databases.py."""


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_examples_in_the_help_run(path, stakes, folder, drawn):
    said = stakes(*path, "--help")
    assert said.code == 0
    examples = re.findall(r"^ +(stakes .*)$", said.out.split("Examples:")[1], flags=re.MULTILINE)
    assert examples
    few = ["--repeats", "20"] if path[0] == "simulate" else []
    for example in examples:
        if ELSEWHERE in example:
            continue
        if path == ("report",):  # others take columns of regions for models
            (folder / "predictions.csv").write_text(drawn(60, 7, divided=True))
        said = stakes(*shlex.split(example)[1:], *few)
        assert said.code in ALLOWED.get(path[0], {0}), said.err
        assert "stakes: " not in said.err


def test_help_is_narrow(stakes):
    for path in [(), *COMMANDS]:
        lines = stakes(*path, "--help").out.splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[0].startswith(f"Usage: stakes {' '.join(path)}".rstrip())
