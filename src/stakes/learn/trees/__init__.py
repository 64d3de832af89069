"""Probability estimation trees, and lazy trees and lazy option trees compiled by numba."""
