"""Costs of mistakes: one matrix for all examples, costs per example, or ranges."""

from stakes._core.values import name_arguments
from stakes.costs.example import ExampleCosts
from stakes.costs.matrix import CostMatrix
from stakes.costs.ranges import CostRanges

__all__ = ["CostMatrix", "CostRanges", "ExampleCosts"]

name_arguments(__name__)
