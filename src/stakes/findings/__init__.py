"""All that a study finds, as typed results with a documented, versioned JSON layout."""

from stakes._core.values import name_arguments
from stakes.findings.data import Settings
from stakes.findings.report import SCHEMA, Findings, findings

__all__ = ["SCHEMA", "Findings", "Settings", "findings"]

name_arguments(__name__)
