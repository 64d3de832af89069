"""Every key of the JSON that commands write is documented."""

import json
import re
from pathlib import Path

import pytest

REPORT = Path(__file__).parents[2] / "docs" / "reference" / "report_schema.md"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command_line_json.md"
INPUT = ["predictions.csv", "-c", "costs.csv"]
COMMANDS = {
    "evaluate": [["evaluate", *INPUT, "--volume", "10"]],
    "compare": [["compare", *INPUT, "--baseline", "old", "--margin", "1", "--gate"]],
    "curve": [["curve", *INPUT], ["curve", *INPUT, "-m", "old", "-s", "tree_score"]],
    "threshold": [["threshold", *INPUT]],
    "plan": [
        ["plan", *INPUT, "--half-width", "5"],
        ["plan", *INPUT, "-m", "old", "-m", "tree", "--difference", "10"],
    ],
    "counts": [
        ["count", *INPUT, "--without-scores"],
        ["count", "drawn.csv", *INPUT[1:], "--weight", "weight", "--strata", "patient"],
        ["count", "drawn.csv", "--pos-label", "fraud", "--fp", "1", "--fn-column", "amount"],
        ["count", "drawn.csv", *INPUT[1:], "--groups", "patient"],
    ],
    "labels": [["audit", "plan", *INPUT, "-m", "old", "--labels", "20", "-o", "l.csv"]],
    "audit": [["audit", "read", "l.csv"]],
    "simulate": [
        ["simulate", each, *INPUT, "-m", "old", "-m", "tree", "--repeats", "20"]
        for each in ("coverage", "type-one", "power")
    ],
}
GENERATED = ("evaluate", "compare", "curve", "threshold", "plan", "labels", "audit", "simulate")
"""Commands whose keys are documented from their dataclasses, which another test checks."""


def keys(value):
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from keys(each)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_key_is_documented(name, stakes, folder, drawn):
    (folder / "drawn.csv").write_text(drawn(60, 1))
    if name == "audit":
        stakes("-q", *COMMANDS["labels"][0])
        header, *rows = (folder / "l.csv").read_text().split()
        (folder / "l.csv").write_text("\n".join([header, *(f"{row}ok" for row in rows)]))
    head, *sections = re.split(r"(?m)^## (stakes-\w+/\d)$", PAGE.read_text(encoding="utf-8"))
    documented = dict(zip(sections[::2], sections[1::2], strict=True))
    versions = dict(each.removeprefix("stakes-").split("/") for each in documented)
    assert set(versions) == set(COMMANDS)
    schema = f"stakes-{name}/{versions[name]}"
    known = set(re.findall(r"`(\w+)`", head + documented[schema]))
    if name in GENERATED:  # parts shared by several documents are described once
        every = REPORT.read_text(encoding="utf-8") + "".join(sections)
        known |= set(re.findall(r"`(\w+)`", every))
    found = set()
    for arguments in COMMANDS[name]:
        stakes("-q", *arguments, "--out" if name == "counts" else "--json", "out.json")
        content = json.loads((folder / "out.json").read_text(encoding="utf-8"))
        assert content["schema"] == schema
        found |= set(keys(content))
    assert found <= known
    if name not in GENERATED:
        assert set(re.findall(r"`(\w+)`", documented[schema])) <= found  # no removed keys
