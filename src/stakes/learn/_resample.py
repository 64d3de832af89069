"""Training with weights: as sample weights, or by drawing rows in proportion (stratification)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.errors import InputError, InputTypeError
from stakes.learn._base import rows_of, weight_parameter

PASSING = ("auto", "sample_weight", "resample", "oversample", "undersample")

MOST_REPEATED = 20
"""How many times as many rows oversampling may make, however large the weights."""


@dataclass(frozen=True)
class WeightedFit:
    """Trains a learner with weights of classes and of rows."""

    estimator: Any
    passing: str
    parameter: str | None
    fit_params: Mapping[str, Any]
    seed: int

    @classmethod
    def of(
        cls, estimator: Any, passing: str, fit_params: Mapping[str, Any], seed: int
    ) -> WeightedFit:
        """Decide how the learner gets the weights."""
        validate.choice(passing, "passing", PASSING)
        parameter = weight_parameter(estimator)
        if passing == "auto":
            passing = "resample" if parameter is None else "sample_weight"
        if passing == "sample_weight" and parameter is None:
            raise InputTypeError(
                "passing",
                f"the fit of {type(estimator).__name__} takes no sample_weight.",
                "Use passing='resample', or request sample_weight from the step that takes it.",
            )
        if parameter in fit_params:
            raise InputError(
                str(parameter),
                "the learner gets its weights by this argument.",
                "Pass weights of your own as sample_weight, and both will be multiplied.",
            )
        return cls(estimator, passing, parameter, fit_params, seed)

    def __call__(
        self, X: Any, y: NDArray[Any], codes: NDArray[Any], rows: Floats, classes: Floats
    ) -> Any:
        """Train on all rows, given the weight of each row and of each class."""
        learner = clone(self.estimator)
        if self.passing == "sample_weight" and self.parameter is not None:
            weight = (classes / classes.max())[codes] * rows
            weight *= rows.sum() / weight.sum()
            return learner.fit(X, y, **{**self.fit_params, self.parameter: weight})
        copies = expected_copies(self.passing, codes, rows, classes)
        # The same seed for all fits of a search, so that only the weights make a difference.
        index = drawn_rows(copies, codes, np.random.default_rng(self.seed))
        params = params_of(self.fit_params, index, len(y))
        return learner.fit(rows_of(X, index), y[index], **params)

    def on(self, index: NDArray[Any], n: int) -> WeightedFit:
        """Return the same for some of the n rows."""
        params = params_of(self.fit_params, index, n)
        return WeightedFit(self.estimator, self.passing, self.parameter, params, self.seed)


def params_of(fit_params: Mapping[str, Any], index: NDArray[Any], n: int) -> dict[str, Any]:
    """Return the arguments of fit for some of the n rows, cutting those that have n entries."""
    return {
        name: rows_of(value, index) if _has_rows(value, n) else value
        for name, value in fit_params.items()
    }


def _has_rows(value: Any, n: int) -> bool:
    if isinstance(value, str | bytes | Mapping):
        return False
    shape = getattr(value, "shape", None)  # sparse matrices have no len
    length = shape[0] if shape else len(value) if hasattr(value, "__len__") else None
    return length == n


def expected_copies(passing: str, codes: NDArray[Any], rows: Floats, classes: Floats) -> Floats:
    """Return how often each row is to be drawn on average.

    "oversample" leaves the lightest class as it is, as long as there is room, "undersample" the
    heaviest, and "resample" the number of rows.
    """
    per_class = classes / (classes.min() if passing == "oversample" else classes.max())
    copies = per_class[codes] * (rows / rows.mean())
    n, total = len(copies), copies.sum()
    if passing == "resample":
        copies *= n / total
    elif total > MOST_REPEATED * n:
        copies *= MOST_REPEATED * n / total
    return np.asarray(copies)


def drawn_rows(copies: Floats, codes: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows so that each comes ``copies`` times on average, and each class at least once.

    Systematic sampling in random order within classes: a row comes as often as its number of
    copies, rounded down or up, and so do the rows of a class together.
    """
    codes = codes.astype(np.min_scalar_type(codes.max()))  # NumPy sorts small integers fastest
    order = rng.permutation(len(copies))
    order = order[np.argsort(codes[order], kind="stable")]
    ends = np.cumsum(copies[order])
    reached = np.maximum(np.ceil(ends - rng.random()), 0)
    times = np.empty(len(copies), dtype=np.intp)
    times[order] = np.diff(reached, prepend=0)
    per_class = np.bincount(codes, times)
    for missing in np.flatnonzero((per_class == 0) & (np.bincount(codes) > 0)):
        candidates = order[codes[order] == missing]
        times[candidates[np.argmax(copies[candidates] > 0)]] = 1
    return np.repeat(np.arange(len(copies)), times)
