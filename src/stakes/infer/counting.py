"""Count one or two classifiers' decisions, in the table that the costs and the design ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stakes import _validate
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import Confusion, CostSample, GroupedConfusion, PairedConfusion
from stakes.errors import DesignError, InputTypeError
from stakes.infer.designs import Table


def counted(
    costs: Any, y_true: Any, predictions: Sequence[Any], *, sample_weight: Any, groups: Any
) -> Table:
    """Return the table of one or two classifiers' decisions."""
    if isinstance(costs, ExampleCosts):
        if sample_weight is not None or groups is not None:
            raise DesignError(
                "sample_weight, groups: they cannot be combined with costs of single examples."
            )
        if y_true is not None:
            _validate.same_length({"y_true": len(y_true), "costs": len(costs)})
        return CostSample.from_predictions(costs, *predictions)
    if not isinstance(costs, CostMatrix):
        raise InputTypeError(
            f"costs: expected a CostMatrix or ExampleCosts, got {type(costs).__name__}. "
            "For an array use CostMatrix(values, rows=, labels=); for CostRanges, their mean() or "
            "cheapest_probability."
        )
    names = {"labels": costs.labels, "decisions": costs.decisions}
    if groups is not None:
        if sample_weight is not None:
            raise DesignError("sample_weight: it cannot be combined with groups.")
        second = predictions[1] if len(predictions) > 1 else None
        return GroupedConfusion.from_labels(
            y_true, predictions[0], groups, y_pred_2=second, **names
        )
    kind = Confusion if len(predictions) == 1 else PairedConfusion
    return kind.from_labels(y_true, *predictions, sample_weight=sample_weight, **names)
