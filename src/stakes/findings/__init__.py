"""All that a study finds, as one plain dictionary with a documented, versioned schema."""

from stakes.findings.findings import SCHEMA, Settings, findings

__all__ = ["SCHEMA", "Settings", "findings"]
