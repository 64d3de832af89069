"""Probability estimation trees, and lazy option trees with what numba compiles for them."""

LANES = 32
"""How many attributes the compiled code takes at once."""
