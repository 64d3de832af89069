"""The findings of a report are plain data, documented and deterministic."""

import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from stakes import CostMatrix, evaluate
from stakes.errors import InputError
from stakes.findings import SCHEMA, Settings, findings
from stakes.findings.data import json_text
from stakes.predictions import ArrowTable
from stakes.read.tables import read_table
from stakes.study import Study

ROOT = Path(__file__).parents[2]
PREDICTIONS = ROOT / "examples" / "breast_cancer.csv"
COSTS = CostMatrix.read(ROOT / "examples" / "breast_cancer_costs.csv")
TOOL = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "json_reference.py")
json_reference = importlib.util.module_from_spec(TOOL)
TOOL.loader.exec_module(json_reference)
SCHEMA_PAGE = (ROOT / "docs" / "reference" / "report_schema.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def study():
    return Study.from_table(ArrowTable.of_file(read_table(PREDICTIONS), "breast_cancer.csv"), COSTS)


@pytest.fixture(scope="module")
def found(study):
    return findings(study, Settings(unit="USD", volume=1000, per="year", command="stakes"))


def test_the_reference_is_made_of_the_dataclasses():
    for path, text in json_reference.pages().items():
        assert path.read_text(encoding="utf-8") == text, "run python tools/json_reference.py"


def keys(value, named_by_user=("cheapest", "software")):
    """All keys at any depth, but for those that are names of models and packages."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            if key in named_by_user and isinstance(each, dict):
                yield from keys(list(each.values()))
            else:
                yield from keys(each)
    elif isinstance(value, list):
        for each in value[:3]:
            yield from keys(each)


def test_the_layout_has_a_version_and_every_key_is_documented(found):
    assert found.schema == SCHEMA == "stakes-report/3"
    documented = set(re.findall(r"`([\w-]+)`", SCHEMA_PAGE))
    assert set(keys(found.to_dict())) <= documented


def test_all_of_it_is_plain_json_and_comes_again(found, study):
    text = json_text(found)
    again = findings(study, Settings(unit="USD", volume=1000, per="year", command="stakes"))
    assert again == found
    assert json_text(again) == text
    assert json.loads(text) == found.to_dict()  # lists, not tuples


@dataclass(frozen=True)
class Odd:
    """What JSON needs care for."""

    from_: object


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([1.5, np.inf, -np.inf]), [1.5, "inf", "-inf"]),
        (np.int64(3), 3),
        (np.bool_(True), True),
        ({1: (2, None)}, {"1": [2, None]}),
        (Odd("nested"), {"from": "nested"}),
    ],
)
def test_one_encoder_writes_everything(value, expected):
    assert json.loads(json_text(Odd(value))) == {"from": expected}


def test_what_is_no_finding_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        json_text(Odd(np.array([0.5, np.nan])))
    with pytest.raises(TypeError, match="set has no form"):
        json_text(Odd({1}))


def test_the_numbers_are_those_of_the_library(found):
    rows = read_table(PREDICTIONS).table.to_pydict()
    names = ("logistic", "tree", "discriminant")
    policies = {each.name: each for each in found.policies}
    for name in names:
        estimate = evaluate(rows["actual"], rows[name], COSTS)
        assert policies[name].cost == estimate.cost
        assert (policies[name].low, policies[name].high) == tuple(estimate.interval())
    for model in found.models:
        assert model.cost == policies[model.policy].cost
        assert model.over_volume.high == pytest.approx(1000 * model.high)
        inside = policies[model.policy].in_sample_cost  # cells are of what is deployed
        assert np.sum(model.contributions) == pytest.approx(inside)
    assert found.verdict.baseline == "logistic"
    assert not found.verdict.shown


def test_one_model_is_compared_with_its_decisions_and_the_constants():
    study = Study.from_table(
        ArrowTable.of_file(read_table(PREDICTIONS), "breast_cancer.csv"), COSTS, models=["tree"]
    )
    found = findings(study)
    assert {pair.second for pair in found.pairs} == {"always malignant", "always benign"}
    assert [model.name for model in found.curves.models] == ["tree"]
    assert found.curves.pairs == ()
    assert found.verdict.text.startswith("No model is shown to be worth using: always 'malignant'")
    assert found.verdict.baseline == "always malignant"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"volume": 0}, "volume: expected a positive number"),
        ({"factor": 0.5}, "factor: expected a number of at least 1"),
        ({"target": -1}, "target: expected a positive number"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(InputError, match=message):
        Settings(**settings)
