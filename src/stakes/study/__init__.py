"""Studies: the predictions of several models on the same examples, with the costs of mistakes."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from stakes._core import validate
from stakes._core.values import name_arguments
from stakes.costs import ExampleCosts
from stakes.errors import InputTypeError, InputWarning, warn
from stakes.policies._assemble import Asked
from stakes.predictions import ArrayTable, Columns, DesignColumns, Reading
from stakes.predictions.files import Progress, read_predictions
from stakes.predictions.long_form import side_by_side
from stakes.read.tables import frame_rows, is_frame
from stakes.study._given import Costs, as_columns, no_costs
from stakes.study._study import Study

__all__ = ["Study", "study_of"]


def study_of(
    y_true: Any,
    y_pred: Any = None,
    costs: Costs | None = None,
    *,
    actual: str | None = None,
    models: Sequence[str] | Mapping[str, str] = (),
    scores: Sequence[str] | Mapping[str, str] = (),
    y_score: Mapping[str, Any] | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    sample_weight: Any = None,
    groups: Any = None,
    strata: Any = None,
    population: Any = None,
    class_priors: Mapping[Any, float] | None = None,
    impossible: Any = None,
    baseline: str | None = None,
    class_names: Mapping[Any, str] | None = None,
    model_column: str | None = None,
    key: str | None = None,
    ignore_case: bool = False,
    drop_missing: bool = False,
    lower_is_positive: Sequence[str] = (),
    source: str = "the predictions",
) -> Study:
    """Count the predictions of several models for a study of their costs.

    Predictions are arrays, ``study_of(y_true, y_pred, costs)``, or the columns of a data frame,
    ``study_of(frame, costs, actual="is_fraud")``.

    Parameters
    ----------
    y_true : array_like, shape (n,), data frame, or mapping of columns
        The actual class of each example; or all columns, as a data frame of any library that
        narwhals supports or as a mapping of arrays. The next argument is then the costs.
    y_pred : mapping of str to array_like
        The decisions of each model, by name.
    costs : CostMatrix, ExampleCosts or mapping
        The costs of decisions; or the costs of mistakes, as ``CostMatrix.from_errors`` takes them,
        each a number, an array with an entry for each example or, with a data frame, the name of
        a column.
    actual, models, scores : str and sequences of str, optional
        The columns of a data frame; by default guessed from their names and values, as for files.
        What may be a model and is not judged is named in a warning. Models and scores may also be
        mappings of names to columns, ``models={"old": "decision"}, scores={"old": "points"}``, or
        have the name with the column, ``models=["old=decision"]``, so that both belong together.
    y_score : mapping of str to array_like, optional
        The scores of each model, by name: for the positive class of two, or the probabilities of
        all classes, with columns in the order of the costs' labels. A model may have decisions,
        scores or both.
    pos_label : optional
        The positive class of two; by default 1, True, or the one whose misses cost more.
    confidence : float, default 0.95
        Confidence level of all intervals and tests.
    sample_weight, groups, strata, population, class_priors, impossible
        The sampling design, as in `stakes.evaluate`, in any combination. With a data frame, the
        first three are names of columns.
    baseline : str, optional
        The policy or model that savings are measured against: ``old``, ``old@0.31``, ``old@best``
        or ``always 0``; by default the cheapest of the constant predictions and of the models as
        decided.
    class_names : mapping, optional
        Display names of the classes, such as ``{0: "repaid", 1: "default"}``.
    model_column, key : str, optional
        The columns of the model and of the example id, in a data frame with a row for each example
        and model.
    ignore_case, drop_missing : bool, default False
        With a data frame, whether labels that differ only in case, spaces and punctuation are the
        same, and whether rows with missing values are left out.
    lower_is_positive : sequence of str, optional
        The columns of scores where low scores indicate the positive class.
    source : str
        The name of the predictions in the report.

    Returns
    -------
    Study
        The study, for `findings` and ``write_report``.

    Notes
    -----
    Labels are compared as Python compares them, as in `stakes.evaluate`: 1, 1.0 and True are one
    label, 1 and "1" are two. Only in files may text stand for a number.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.findings import findings
    >>> from stakes import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> actual = [0] * 80 + [1] * 20
    >>> models = {"shy": [0] * 90 + [1] * 10, "eager": [0] * 50 + [1] * 50}
    >>> found = findings(study_of(actual, models, costs))
    >>> found.verdict.text.split(":")[0]
    'Use eager as decided'
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"is_fraud": actual, "pred_shy": models["shy"]})
    >>> study_of(frame, costs).roles.actual
    'is_fraud'
    """
    options: dict[str, Any] = {
        "pos_label": pos_label,
        "confidence": confidence,
        "class_priors": class_priors,
        "population": population,
        "impossible": impossible,
        "asked": _asked(baseline),
        "class_names": class_names,
    }
    columns: dict[str, Any] = {
        "actual": actual,
        "models": models,
        "scores": scores,
        "key": key,
        "model_column": model_column,
        "ignore_case": ignore_case,
        "drop_missing": drop_missing,
        "lower_is_positive": lower_is_positive,
    }
    refuse_path(y_true, "y_true")
    if is_frame(y_true):
        _check_names(groups=groups, sample_weight=sample_weight, strata=strata)
        design = DesignColumns(groups, sample_weight, strata)
        costs = y_pred if costs is None else costs
        return _of_frame(y_true, costs, _columns_of(columns, design), source, options)
    _check_arrays(columns)
    rows, costs = _with_rows(costs, groups=groups, strata=strata, sample_weight=sample_weight)
    own = costs if isinstance(costs, ExampleCosts) else None
    scored = {} if y_score is None else y_score
    table = ArrayTable(y_true, y_pred, scored, source, rows, costs=own)
    costs = costs if table.costs is None else table.costs
    return Study.from_table(table, costs, actual=table.roles.actual, roles=table.roles, **options)


def refuse_path(given: Any, name: str) -> None:
    """Raise an error for the path of a file in place of its rows."""
    if isinstance(given, str | os.PathLike):
        raise InputTypeError(
            name,
            f"expected a data frame or arrays, got the path {os.fspath(given)!r}.",
            "Read the file into a data frame, such as with pandas.read_csv; the command line takes "
            "files.",
        )


def _check_names(**design: Any) -> None:
    """Raise an error if an argument has values instead of the name of their column."""
    for name, given in design.items():
        if given is not None and not isinstance(given, str):
            raise InputTypeError(
                name,
                "with a data frame, expected the name of a column, got "
                f"{reprlib.repr(given)} ({type(given).__name__}).",
                "Add the values to the frame, and give the name of their column.",
            )


def _asked(baseline: str | None) -> Asked:
    if baseline is not None and not isinstance(baseline, str):
        raise InputTypeError("baseline", f"expected the name of a policy, got {baseline!r}.")
    return Asked(baseline)


def _in_order(costs: Any, frame: Any) -> Any:
    """Return per-example costs in the order of a frame's pandas index, if it has one.

    The columns of a mapping may have one each; a call is refused where it is not clear which
    costs belong to a column without one.
    """
    if not isinstance(costs, ExampleCosts):
        return costs
    rows = {"y_true": frame}
    if isinstance(frame, Mapping):
        rows = {f"y_true[{name!r}]": values for name, values in frame.items()}
    return validate.aligned(**rows, costs=costs)[-1]


def _with_rows(costs: Costs | None, **design: Any) -> tuple[dict[str, Any], Costs]:
    """Return the per-row columns of the design and costs, and the costs that refer to them."""
    if costs is None:
        raise no_costs("the predictions")
    if not isinstance(costs, Mapping):
        return design, costs
    amounts = {name: each for name, each in costs.items() if np.ndim(each)}
    return design | amounts, {**costs, **{name: name for name in amounts}}


def _columns_of(given: Mapping[str, Any], design: DesignColumns) -> Columns:
    """Return the named columns of a data frame, with the options for reading them."""
    named = {name: given[name] for name in ("actual", "key", "model_column")}
    named |= {name: as_columns(given[name], name) for name in ("models", "scores")}
    low = tuple(given["lower_is_positive"])
    reading = Reading(given["ignore_case"], given["drop_missing"], low)
    return Columns(**named, design=design, reading=reading)


def _check_arrays(options: Mapping[str, Any]) -> None:
    """Raise an error for options that are about the columns of a data frame."""
    for name, given in options.items():
        if not (given is None or given is False or (isinstance(given, tuple) and not given)):
            raise InputTypeError(name, "it is about the columns of a data frame; got arrays.")


def _of_frame(
    frame: Any, costs: Any, columns: Columns, source: str, options: Mapping[str, Any]
) -> Study:
    """Count the rows of a data frame, with warnings about doubtful rows and scores."""
    if costs is None:
        raise no_costs("the frame")
    rows = frame_rows(frame, source)
    costs = _in_order(costs, frame)
    table = side_by_side(rows, columns)
    study = Study.from_table(
        table,
        costs,
        actual=columns.actual,
        models=columns.models,
        scores=columns.scores,
        design=columns.design,
        **options,
    )
    for caution in study.cautions:
        warn(caution, InputWarning)
    return study


def study_of_files(
    paths: Sequence[str],
    costs: Costs | None,
    columns: Columns,
    progress: Progress,
    *,
    with_scores: bool | Literal["if they fit"] = True,
    undecided: bool = False,
    **options: Any,
) -> Study:
    """Read and count predictions.

    Parameters
    ----------
    paths : sequence of str
        A count file; or tables, of which several are joined on the id of an example. A table may
        be in many files: those of a folder, or of a pattern. "-" is standard input.
    costs : CostMatrix, mapping or None
        The costs of decisions, as in `Study.from_table` and `Study.from_counts`.
    columns : Columns
        The columns that were named.
    progress : Progress
        The receiver of progress.
    with_scores : bool or "if they fit", default True
        Whether scores are counted. Unless True, a large file is read in batches.
    undecided : bool, default False
        Whether models may lack decisions if their scores are not probabilities.
    **options
        Further arguments of `Study.from_table`: pos_label, confidence, class_priors, population.

    Returns
    -------
    Study
        The study.
    """
    found = read_predictions(paths, columns, progress, in_batches=with_scores is not True)
    if isinstance(found, tuple):
        counts, source = found
        if with_scores is False:
            counts = replace(counts, scores=None)
        return Study.from_counts(counts, source, costs, undecided=undecided, **options)
    if costs is None:
        raise no_costs(found.source)
    return Study.from_table(
        found,
        costs,
        actual=columns.actual,
        models=columns.models,
        scores=columns.scores,
        design=columns.design,
        divides=columns.divides,
        undecided=undecided,
        with_scores=with_scores,
        **options,
    )


name_arguments(__name__)
