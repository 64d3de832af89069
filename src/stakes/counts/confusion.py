"""Confusion matrix of one classifier, and the joint one of two on the same examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import as_column
from stakes._core.optional import data_frame, pandas
from stakes._core.text import Table, html_table, matrix_table, number, text_table
from stakes.counts._labelled import LabelledCounts
from stakes.counts.engines import group
from stakes.errors import InputTypeError


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Confusion(LabelledCounts):
    r"""Confusion matrix: how often each decision and class co-occur, ``counts[predicted, actual]``.

    Parameters
    ----------
    counts : array_like, shape (decisions, classes) or its transpose
        The confusion matrix.
    labels : sequence
        The classes.
    decisions : sequence, optional
        The decisions; by default the classes.
    rows : {"predicted", "actual"}, default "predicted"
        What the rows of `counts` stand for. Those of scikit-learn's ``confusion_matrix`` are
        "actual".
    squares : array_like, optional
        The sums of squared weights, where `counts` are sums of weights; in the same orientation.

    Examples
    --------
    >>> from stakes import Confusion
    >>> Confusion.from_labels(["ok", "ok", "fraud", "fraud"], ["ok", "fraud", "fraud", "ok"])
    Confusion: 4 examples, rows are predicted, columns are actual
    predicted \ actual  fraud  ok
    fraud                   1   1
    ok                      1   1

    Add matrices to merge parts that were counted separately:

    >>> part = Confusion([[5, 0], [1, 3]], labels=["ok", "fraud"])
    >>> (part + part).counts.tolist()
    [[10, 0], [2, 6]]
    """

    def __init__(
        self,
        counts: Any,
        labels: Any,
        decisions: Any = None,
        *,
        rows: str = "predicted",
        squares: Any = None,
    ) -> None:
        validate.refuse_frame(counts, "counts", "Use frame.to_numpy(), in the order of the labels.")
        if validate.orientation(rows) == "actual":
            counts = validate.counts(counts, "counts", ndim=2).T
            squares = None if squares is None else validate.amounts(squares, "squares", ndim=2).T
        super().__init__(counts, labels, decisions, squares=squares)

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        labels: Any = None,
        decisions: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Count a classifier's decisions.

        Parameters
        ----------
        y_true, y_pred : array_like, shape (n,)
            The actual class of each example, and the decision: whole numbers, text, booleans,
            pandas categoricals …
        labels : sequence, optional
            All classes, including those that do not occur, in the order wanted; by default those
            that occur, sorted.
        decisions : sequence, optional
            All decisions; by default the classes. If `decisions` is given without `labels`, the
            classes are those that occur in `y_true`.
        sample_weight : array_like, shape (n,), optional
            The weight of each example.

        Returns
        -------
        Confusion
            The counts.

        Examples
        --------
        >>> from stakes import Confusion
        >>> Confusion.from_labels([0, 0, 1, 1], [0, 1, 1, 1]).counts.tolist()
        [[1, 0], [1, 2]]
        """
        y_true, y_pred, sample_weight = validate.aligned(
            y_true=y_true, y_pred=y_pred, sample_weight=sample_weight
        )
        columns = [as_column(y_pred, "y_pred"), as_column(y_true, "y_true")]
        amounts = validate.weight_amounts(sample_weight, len(columns[1]))
        return cls._from_columns(columns, labels, decisions, amounts)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        predicted: str,
        labels: Any = None,
        decisions: Any = None,
        sample_weight: str | None = None,
    ) -> Self:
        """Count the rows of a data frame in its own engine, collecting only the counts.

        Parameters
        ----------
        frame : data frame
            A frame of pandas, polars (eager or lazy), pyarrow, DuckDB, Dask, Spark or Ibis.
        actual, predicted : str
            The names of the columns.
        labels, decisions
            As in `from_labels`.
        sample_weight : str, optional
            The name of a column of weights.

        Returns
        -------
        Confusion
            The counts.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import Confusion
        >>> frame = pl.LazyFrame({"truth": [0, 1, 1], "model": [0, 1, 0]})
        >>> Confusion.from_frame(frame, actual="truth", predicted="model").counts.tolist()
        [[1, 1], [0, 1]]
        """
        columns, amounts = group(frame, [predicted, actual], sample_weight)
        return cls._from_columns(columns, labels, decisions, amounts)

    def to_frame(self) -> Any:
        """Return the counts as a pandas data frame: rows are predicted, columns are actual.

        Returns
        -------
        DataFrame
            The counts.

        Examples
        --------
        >>> from stakes import Confusion
        >>> Confusion([[5, 0], [1, 3]], labels=["ok", "fraud"]).to_frame()
        actual     ok  fraud
        predicted
        ok          5      0
        fraud       1      3
        """
        pd = pandas()
        return pd.DataFrame(
            self.counts,
            index=pd.Index(self.decisions, name="predicted"),
            columns=pd.Index(self.labels, name="actual"),
        )

    def __repr__(self) -> str:
        title = f"Confusion: {number(self.n)} examples, rows are predicted, columns are actual"
        return f"{title}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption="Counts: rows are predicted, columns are actual")

    def _table(self) -> Table:
        cells = [[number(count) for count in row] for row in self.counts.tolist()]
        return matrix_table(self.decisions, self.labels, cells)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PairedConfusion(LabelledCounts):
    """Joint confusion matrix of two classifiers on the same examples.

    Dietterich's three-dimensional confusion matrix, ``counts[predicted_1, predicted_2, actual]``
    (Margineantu & Dietterich 2000, section 3.2). It keeps what two separate matrices lose: on
    which examples the classifiers disagree.

    Parameters
    ----------
    counts : array_like, shape (decisions, decisions, classes)
        The counts.
    labels, decisions : sequence
        The classes and, where they differ from them, the decisions.
    squares : array_like, optional
        The sums of squared weights, where `counts` are sums of weights.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.2.

    Examples
    --------
    >>> from stakes import PairedConfusion
    >>> paired = PairedConfusion.from_labels([0, 1, 1], [0, 1, 0], [0, 1, 1])
    >>> paired.counts[0, 1].tolist()  # the first said 0, the second 1
    [0, 1]
    >>> paired.second.counts.tolist()
    [[1, 0], [0, 2]]
    """

    _deciders = 2

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred_1: Any,
        y_pred_2: Any,
        *,
        labels: Any = None,
        decisions: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Count two classifiers' decisions on the same examples.

        Parameters
        ----------
        y_true, y_pred_1, y_pred_2 : array_like, shape (n,)
            The actual class of each example, and the decision of each classifier.
        labels, decisions, sample_weight
            As in `Confusion.from_labels`.

        Returns
        -------
        PairedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import PairedConfusion
        >>> PairedConfusion.from_labels([0, 1, 1], [0, 1, 0], [0, 1, 1]).first.counts.tolist()
        [[1, 1], [0, 1]]
        """
        y_true, y_pred_1, y_pred_2, sample_weight = validate.aligned(
            y_true=y_true, y_pred_1=y_pred_1, y_pred_2=y_pred_2, sample_weight=sample_weight
        )
        columns = [
            as_column(y_pred_1, "y_pred_1"),
            as_column(y_pred_2, "y_pred_2"),
            as_column(y_true, "y_true"),
        ]
        amounts = validate.weight_amounts(sample_weight, len(columns[2]))
        return cls._from_columns(columns, labels, decisions, amounts)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        predicted: tuple[str, str],
        labels: Any = None,
        decisions: Any = None,
        sample_weight: str | None = None,
    ) -> Self:
        """Count the rows of a data frame in its own engine; `predicted` names two columns.

        Parameters
        ----------
        frame, actual, labels, decisions, sample_weight
            As in `Confusion.from_frame`.
        predicted : pair of str
            The names of the two classifiers' columns.

        Returns
        -------
        PairedConfusion
            The counts.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import PairedConfusion
        >>> frame = pl.LazyFrame({"truth": [0, 1, 1], "a": [0, 1, 0], "b": [0, 1, 1]})
        >>> paired = PairedConfusion.from_frame(frame, actual="truth", predicted=("a", "b"))
        >>> paired.counts[0, 1].tolist()
        [0, 1]
        """
        pair: Any = predicted
        if not isinstance(pair, list | tuple) or len(pair) != cls._deciders:
            raise InputTypeError(
                "predicted",
                "expected two column names, one for each classifier, such as ('a', 'b'); got "
                f"{predicted!r}.",
            )
        columns, amounts = group(frame, [*pair, actual], sample_weight)
        return cls._from_columns(columns, labels, decisions, amounts)

    @property
    def first(self) -> Confusion:
        """The confusion matrix of the first classifier."""
        return self._marginal(axis=1)

    @property
    def second(self) -> Confusion:
        """The confusion matrix of the second classifier."""
        return self._marginal(axis=0)

    def swapped(self) -> PairedConfusion:
        """Return the counts with the second classifier first.

        Returns
        -------
        PairedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import PairedConfusion
        >>> paired = PairedConfusion.from_labels([0, 1, 1], [0, 1, 0], [0, 1, 1])
        >>> paired.swapped().first == paired.second
        True
        """
        squares = None if self.squares is None else self.squares.swapaxes(0, 1)
        counts = self.counts.swapaxes(0, 1)
        return PairedConfusion(counts, self.labels, self.decisions, squares=squares)

    def _marginal(self, axis: int) -> Confusion:
        squares = None if self.squares is None else self.squares.sum(axis=axis)
        return Confusion(self.counts.sum(axis=axis), self.labels, self.decisions, squares=squares)

    def to_frame(self) -> Any:
        """Return the counts as a pandas data frame, a row for each combination that occurs.

        Returns
        -------
        DataFrame
            Both decisions, the actual class, and the count or weight.

        Examples
        --------
        >>> from stakes import PairedConfusion
        >>> PairedConfusion.from_labels([0, 1, 1], [0, 1, 0], [0, 1, 1]).to_frame()
           predicted_1  predicted_2  actual  count
        0            0            0       0      1
        1            0            1       1      1
        2            1            1       1      1
        """
        places = np.argwhere(self.counts)
        return data_frame(
            {
                "predicted_1": [self.decisions[at] for at in places[:, 0].tolist()],
                "predicted_2": [self.decisions[at] for at in places[:, 1].tolist()],
                "actual": [self.labels[at] for at in places[:, 2].tolist()],
                "count": self.counts[tuple(places.T)],
            }
        )

    def __repr__(self) -> str:
        return (
            f"PairedConfusion: {number(self.n)} examples, "
            f"{len(self.decisions)} × {len(self.decisions)} decisions × {len(self.labels)} classes"
        )

    def _repr_html_(self) -> str:
        return html_table(
            *self._table(), caption="Counts: rows are both decisions, columns are actual"
        )

    def _table(self) -> Table:
        """Return the header and the rows of a table of the pairs of decisions that occur."""
        header = ["predicted 1, predicted 2 \\ actual", *map(str, self.labels)]
        rows = []
        for first, second in np.argwhere(self.counts.any(axis=-1)).tolist():
            pair = f"{self.decisions[first]}, {self.decisions[second]}"
            rows.append([pair, *map(number, self.counts[first, second].tolist())])
        return header, rows
