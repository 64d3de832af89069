"""Lazy option trees: what numba compiles, and what prepares for it."""
