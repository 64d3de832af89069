"""A study of predictions that are arrays in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stakes._core import validate
from stakes.errors import InputError, InputTypeError
from stakes.read.tables import pyarrow
from stakes.study.columns import Table
from stakes.study.study import Costs, Study

ACTUAL = "y_true"


def study_of(
    y_true: Any,
    y_pred: Mapping[str, Any],
    costs: Costs,
    *,
    y_score: Mapping[str, Any] | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    class_priors: Mapping[Any, float] | None = None,
    source: str = "the predictions",
) -> Study:
    """Count the predictions of several models, to report on them.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        The actual class of each example.
    y_pred : mapping of str to array_like
        The decisions of each model, by its name.
    costs : CostMatrix or mapping
        What decisions cost; or the costs of mistakes, as ``CostMatrix.from_errors`` takes them.
    y_score : mapping of str to array_like, optional
        The scores of models, of two classes; a model may have decisions, scores or both.
    pos_label : optional
        The positive class of two; by default 1, True, or the one whose misses cost more.
    confidence : float, default 0.95
        Of all intervals and tests.
    class_priors : mapping, optional
        The share of each class where the models are used.
    source : str
        What the predictions are called in the report.

    Returns
    -------
    Study
        The counts, which `findings` and ``write_report`` take.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.findings import findings
    >>> from stakes.study import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> actual = [0] * 80 + [1] * 20
    >>> models = {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}
    >>> found = findings(study_of(actual, models, costs))
    >>> found["verdict"]["text"].split(":")[0]
    'Use eager'
    """
    scores = y_score or {}
    for name, given in (("y_pred", y_pred), ("y_score", scores)):
        if not isinstance(given, Mapping):
            raise InputTypeError(
                f"{name}: expected a mapping of each model's name to its values, such as "
                f'{{"tree": …}}; got a {type(given).__name__}.'
            )
    columns = {ACTUAL: y_true, **{str(name): values for name, values in y_pred.items()}}
    columns |= {f"{name}_score": values for name, values in scores.items()}
    if len(columns) != 1 + len(y_pred) + len(scores) or len(columns) == 1:
        raise InputError(
            "y_pred, y_score: expected at least one model, and names that are different and not "
            f"{ACTUAL!r}; got {[*y_pred, *scores]}."
        )
    validate.same_length({name: len(values) for name, values in columns.items()})
    table = pyarrow().table({name: _native(name, values) for name, values in columns.items()})
    return Study.from_table(
        Table(table, source),
        costs,
        actual=ACTUAL,
        models=[str(name) for name in y_pred],
        scores=[f"{name}_score" for name in scores],
        pos_label=pos_label,
        confidence=confidence,
        class_priors=class_priors,
    )


def _native(name: str, values: Any) -> Any:
    pa = pyarrow()
    try:
        return pa.array(np.asarray(values))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"{name}: expected one value an example, all of one kind: {str(error).splitlines()[0]}"
        ) from error
