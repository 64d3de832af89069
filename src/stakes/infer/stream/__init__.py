"""Outcomes that come in batches: running totals, and intervals that may be looked at any time."""
