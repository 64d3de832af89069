"""Counts and costs become estimates."""

from stakes.infer.estimate import CostEstimate, evaluate

__all__ = ["CostEstimate", "evaluate"]
