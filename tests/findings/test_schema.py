"""What the report says is plain, documented, and the same each time."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from stakes import CostMatrix, compare_many, evaluate
from stakes.errors import InputError, RareCostWarning
from stakes.findings import SCHEMA, Settings, findings
from stakes.predictions import ArrowTable
from stakes.read.tables import read_table
from stakes.study import Study

ROOT = Path(__file__).parents[2]
PREDICTIONS = ROOT / "examples" / "breast_cancer.csv"
COSTS = CostMatrix.read(ROOT / "examples" / "breast_cancer_costs.csv")
SCHEMA_PAGE = (ROOT / "docs" / "reference" / "report_schema.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def study():
    table = ArrowTable.of_file(read_table(PREDICTIONS), "breast_cancer.csv")
    return Study.from_table(table, COSTS)


@pytest.fixture(scope="module")
def found(study):
    return findings(study, Settings(currency="USD", volume=1000, per="year", command="stakes"))


def keys(value, named_by_user=("cheapest",)):
    """All keys at any depth, but for those that are names of models."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            if key in named_by_user and isinstance(each, dict):
                for model in each.values():
                    yield from keys(model)
            else:
                yield from keys(each)
    elif isinstance(value, list):
        for each in value[:3]:
            yield from keys(each)


def test_the_layout_has_a_version_and_every_key_is_documented(found):
    assert found["schema"] == SCHEMA == "stakes-report/1"
    documented = set(re.findall(r"`([\w-]+)`", SCHEMA_PAGE))
    missing = set(keys(found)) - documented - {"labels", "decisions", "counts", "confidence"}
    assert missing == set()


def test_all_of_it_is_plain_json_and_comes_again(found, study):
    text = json.dumps(found, allow_nan=False)
    again = findings(study, Settings(currency="USD", volume=1000, per="year", command="stakes"))
    assert json.dumps(again, allow_nan=False) == text
    assert json.loads(text) == found  # lists, not tuples


def test_the_numbers_are_those_of_the_library(found):
    rows = read_table(PREDICTIONS).to_pydict()
    names = ("logistic", "tree", "discriminant")
    for model in found["models"]:
        estimate = evaluate(rows["actual"], rows[model["name"]], COSTS)
        assert model["cost"] == estimate.cost
        assert (model["low"], model["high"]) == tuple(estimate.interval())
        assert model["over_volume"]["high"] == pytest.approx(1000 * model["high"])
        assert np.sum(model["contributions"]) == pytest.approx(model["cost"])
    ranking = compare_many(rows["actual"], {name: rows[name] for name in names}, COSTS)
    assert found["verdict"]["best_set"] == ranking.best_set()
    assert found["verdict"]["tie"] is True
    with pytest.warns(RareCostWarning):
        adjusted = [pair.adjusted for pair in ranking.pairwise()]
    assert [pair["adjusted"] for pair in found["pairs"]] == adjusted


def test_one_model_has_nothing_to_be_compared_with():
    study = Study.from_table(
        ArrowTable.of_file(read_table(PREDICTIONS), "breast_cancer.csv"), COSTS, models=["tree"]
    )
    found = findings(study)
    assert found["pairs"] == []
    assert found["doubts"] is None
    assert [model["name"] for model in found["curves"]["models"]] == ["tree"]
    assert found["curves"]["pairs"] == []
    assert found["verdict"]["text"].startswith("tree costs 2,028 a decision")


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
