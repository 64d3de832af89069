"""All that a study finds, as typed results with a documented, versioned JSON layout."""

from stakes.findings._encode import Finding, json_text
from stakes.findings.curves import Choice, Condition, CurveAtCondition, CurvePair
from stakes.findings.data import Costs, Data, RunSettings, Settings
from stakes.findings.gate import GateResult
from stakes.findings.models import Model, Trivial
from stakes.findings.pairs import ComparedPair
from stakes.findings.report import SCHEMA, Findings, findings
from stakes.findings.sample_size import NeededSize

__all__ = [
    "SCHEMA",
    "Choice",
    "ComparedPair",
    "Condition",
    "Costs",
    "CurveAtCondition",
    "CurvePair",
    "Data",
    "Finding",
    "Findings",
    "GateResult",
    "Model",
    "NeededSize",
    "RunSettings",
    "Settings",
    "Trivial",
    "findings",
    "json_text",
]
