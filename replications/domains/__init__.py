"""Domains to draw examples and costs from, with the truth about synthetic ones."""
