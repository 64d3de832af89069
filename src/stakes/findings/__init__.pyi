from .data import Settings
from .report import SCHEMA, Findings, findings

__all__ = ["SCHEMA", "Findings", "Settings", "findings"]
