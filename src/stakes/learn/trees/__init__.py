"""Probability estimation trees, and lazy option trees with what numba compiles for them."""
