"""The confusion matrix of one classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from stakes._core import validate
from stakes._core.labels import as_column
from stakes._core.optional import pandas
from stakes._core.result import checked
from stakes._core.text import Table, html_table, matrix_table, number, text_table
from stakes.counts._labelled import LabelledCounts
from stakes.counts.engines import group


@checked
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Confusion(LabelledCounts):
    r"""How often each decision met each actual class: ``counts[predicted, actual]``.

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
        The sums of squared weights, where `counts` are sums of weights; oriented alike.

    Examples
    --------
    >>> from stakes import Confusion
    >>> Confusion.from_labels(["ok", "ok", "fraud", "fraud"], ["ok", "fraud", "fraud", "ok"])
    Confusion: 4 examples, rows are predicted, columns are actual
    predicted \ actual  fraud  ok
    fraud                   1   1
    ok                      1   1

    Parts that were counted apart are merged by adding them:

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
            The actual class of each example, and what was decided: whole numbers, text, booleans,
            pandas categoricals …
        labels : sequence, optional
            All classes, including those that do not occur, in the order wanted; by default those
            that occur, sorted.
        decisions : sequence, optional
            All decisions; by default the classes. Without `labels`, the classes then are those
            that occur in `y_true`.
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
        validate.same_index(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight)
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
        """Count the rows of a data frame where it lives, collecting only the counts.

        Parameters
        ----------
        frame : data frame
            Of pandas, polars (eager or lazy), pyarrow, DuckDB, Dask, Spark or Ibis.
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
