"""Lazy option trees: what numba compiles, and what prepares for it."""

LANES = 32
"""How many attributes the compiled code takes at once."""
