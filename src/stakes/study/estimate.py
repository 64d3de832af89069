"""What a model costs, with intervals by the method that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stakes.infer._inference import Interval
from stakes.infer.estimate import CostEstimate


@dataclass(frozen=True, repr=False)
class EstimateBy(CostEstimate):
    """A cost estimate whose automatic intervals are by one method.

    Attributes
    ----------
    method : str
        What "auto" stands for; "auto" itself leaves the choice to stakes.
    options : mapping
        What the method is given, such as its seed.
    """

    method: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)

    def interval(self, confidence: float = 0.95, method: str = "auto", **options: Any) -> Interval:
        """Return a confidence interval; see `CostEstimate.interval`."""
        if method == "auto" and self.method != "auto":
            return super().interval(confidence, self.method, **{**self.options, **options})
        return super().interval(confidence, method, **options)
