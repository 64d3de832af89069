"""The joint confusion of two classifiers on the same examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import as_column
from stakes._core.result import checked
from stakes._core.text import Table, html_table, number
from stakes.counts._labelled import LabelledCounts
from stakes.counts.confusion import Confusion
from stakes.counts.engines import group
from stakes.errors import InputTypeError


@checked
@dataclass(frozen=True, init=False, eq=False, repr=False)
class PairedConfusion(LabelledCounts):
    """How often two classifiers' decisions met each actual class.

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
            The actual class of each example, and what each classifier decided.
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
        validate.same_index(
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
        """Count the rows of a data frame where it lives; `predicted` names two columns.

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
        """Lay out the pairs of decisions that occur."""
        header = ["predicted 1, predicted 2 \\ actual", *map(str, self.labels)]
        rows = []
        for first, second in np.argwhere(self.counts.any(axis=-1)).tolist():
            pair = f"{self.decisions[first]}, {self.decisions[second]}"
            rows.append([pair, *map(number, self.counts[first, second].tolist())])
        return header, rows
