"""Load the example predictions and costs that come with the package."""

from __future__ import annotations

import csv
import io
import pkgutil
from typing import Any

import numpy as np

from stakes._core.optional import data_frame
from stakes._core.values import name_arguments
from stakes.costs import CostMatrix

__all__ = ["load_breast_cancer_costs", "load_breast_cancer_predictions"]


def load_breast_cancer_predictions(*, as_frame: bool = False) -> Any:
    """Return the predictions of three models for breast tumours of a test set.

    Parameters
    ----------
    as_frame : bool, default False
        Whether to return a pandas data frame.

    Returns
    -------
    dict of ndarray, or pandas DataFrame
        The column ``actual``, and for each of the models logistic, tree and discriminant its
        decisions and its probabilities of *malignant*. `stakes.study_of` and `stakes.report` accept
        it unchanged.

    Notes
    -----
    The data are the Wisconsin diagnostic breast cancer data that come with scikit-learn. The models
    were trained on half of the 569 tumours and predict the other half.

    Examples
    --------
    >>> from stakes.datasets import load_breast_cancer_predictions
    >>> tumours = load_breast_cancer_predictions()
    >>> len(tumours["actual"]), [*tumours][:3]
    (285, ['actual', 'logistic', 'logistic_score'])
    """
    header, *rows = csv.reader(io.StringIO(_text("breast_cancer.csv")))
    columns = {
        name: np.array(values, dtype=float if name.endswith("_score") else None)
        for name, values in zip(header, zip(*rows, strict=True), strict=True)
    }
    return data_frame(columns) if as_frame else columns


def load_breast_cancer_costs() -> CostMatrix:
    """Return the costs of misclassified breast tumours, in USD.

    Returns
    -------
    CostMatrix
        2,000 for a benign tumour that is called malignant, 40,000 for a malignant one called
        benign.

    Examples
    --------
    >>> from stakes.datasets import load_breast_cancer_costs
    >>> load_breast_cancer_costs().mistake_costs(pos_label="malignant")
    {'false_positive': 2000.0, 'false_negative': 40000.0}
    """
    header, *rows = csv.reader(io.StringIO(_text("breast_cancer_costs.csv")))
    values = [[float(cell) for cell in row[1:]] for row in rows]
    return CostMatrix(values, rows="predicted", labels=header[1:])


def _text(name: str) -> str:
    content = pkgutil.get_data(__name__, name)
    return "" if content is None else content.decode()


name_arguments(__name__)
