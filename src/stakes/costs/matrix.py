"""The cost matrix: the cost of each decision for each class (thesis, section 2.2)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core import validate
from stakes._core.labels import (
    Label,
    Labels,
    as_axes,
    as_labels,
    label_array,
    listing,
    renamed,
)
from stakes._core.text import Table, exact, html_table, matrix_table, text_table
from stakes._core.validate import ordered_probabilities
from stakes._core.values import ByValue, readonly_copy
from stakes.costs._axes import (
    MatrixTable,
    expected_risk,
    least_risk,
    matrix_from_frame,
    matrix_to_frame,
    positions,
    rank_alike,
)
from stakes.costs._io import matrix_from_weka, read_matrix, write_matrix
from stakes.errors import InputError, LabelError

FRAME = "Use CostMatrix.from_frame(frame, rows='predicted') or rows='actual'."


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CostMatrix(ByValue):
    r"""The cost of each decision for each actual class.

    Costs are losses; a benefit is a negative cost. The matrix is immutable and hashable. Two
    matrices are equal if their labels, decisions and costs are.

    Parameters
    ----------
    values : array_like, shape (decisions, classes) or its transpose
        The costs, oriented as `rows` says.
    rows : {"predicted", "actual"}
        What the rows of `values` stand for. There is no default, because conventions differ: the
        rows are the predicted class in Margineantu and in the text of Holte & Drummond, but the
        actual class in scikit-learn and Weka. A silently transposed matrix gives wrong results.
    labels : sequence
        The classes, in the order of `values`.
    decisions : sequence, optional
        The possible decisions, in the order of `values`; by default the classes. They may include
        others, such as "abstain", or differ from the classes altogether.

    Attributes
    ----------
    values : ndarray, shape (decisions, classes)
        The costs, always ``[predicted, actual]``; read-only.
    labels, decisions : tuple
        The names of the columns and of the rows of `values`.

    Notes
    -----
    Classifiers are judged by their expected cost, L(h) = Σ_i Σ_j P_h(i, j) C(i, j), where P_h(i, j)
    is the share of examples that are of class j and for which h decides i (thesis, equation 2.4).
    The best decision for an example x has the least risk, R(i | x) = Σ_j P(j | x) C(i, j)
    (equation 2.3): see `decide`.

    References
    ----------
    Margineantu (2001), section 2.2.

    Examples
    --------
    Table 2.1 of Margineantu's thesis, a calling-card fraud problem:

    >>> from stakes import CostMatrix
    >>> costs = CostMatrix(
    ...     [[-1.5, 10], [100, 0]], rows="predicted", labels=["fraud", "no fraud"]
    ... )
    >>> costs
    CostMatrix: rows are predicted, columns are actual
    predicted \ actual  fraud  no fraud
    fraud                -1.5        10
    no fraud              100         0
    >>> costs.decide([[0.05, 0.95], [0.10, 0.90]]).tolist()
    ['no fraud', 'fraud']
    """

    values: NDArray[np.float64]
    labels: Labels
    decisions: Labels

    def __init__(
        self, values: ArrayLike, *, rows: str | None = None, labels: Any, decisions: Any = None
    ) -> None:
        validate.refuse_frame(values, "values", FRAME)
        classes, choices = as_axes(labels, decisions)
        oriented = validate.costs(values, "values", rows=rows, labels=classes, decisions=choices)
        # Adding zero turns -0.0 into 0.0, which equality and texts should not tell apart.
        self._set(values=readonly_copy(oriented + 0.0), labels=classes, decisions=choices)

    # -- alternative constructors

    @classmethod
    def from_errors(
        cls,
        *,
        false_positive: float,
        false_negative: float,
        true_positive: float = 0.0,
        true_negative: float = 0.0,
        pos_label: Label = 1,
        neg_label: Label = 0,
    ) -> CostMatrix:
        """Make a two-class matrix from the cost of each kind of error.

        Parameters
        ----------
        false_positive, false_negative : float
            The cost of a false alarm and of a miss.
        true_positive, true_negative : float, default 0
            The cost of a correct decision; negative for a benefit.
        pos_label, neg_label : default 1 and 0
            The names of the positive and of the negative class.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100,
        ...                                pos_label="fraud", neg_label="ok")
        >>> for sentence in costs.in_words():
        ...     print(sentence)
        predicting 'ok' when it was 'ok' costs 0
        predicting 'ok' when it was 'fraud' costs 100
        predicting 'fraud' when it was 'ok' costs 10
        predicting 'fraud' when it was 'fraud' costs 0
        """
        values = [
            [(true_negative, "true_negative"), (false_negative, "false_negative")],
            [(false_positive, "false_positive"), (true_positive, "true_positive")],
        ]
        costs = [[validate.one_number(*cell) for cell in row] for row in values]
        return cls(costs, rows="predicted", labels=[neg_label, pos_label])

    @classmethod
    def from_gains(
        cls, values: ArrayLike, *, rows: str | None = None, labels: Any, decisions: Any = None
    ) -> CostMatrix:
        r"""Make a matrix from the gain of each outcome: a gain is a negative cost.

        Parameters
        ----------
        values : array_like, shape (decisions, classes) or its transpose
            The gains, oriented as `rows` says.
        rows, labels, decisions
            As for the class.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> CostMatrix.from_gains([[0, 0], [-2, 30]], rows="predicted", labels=["no", "yes"])
        CostMatrix: rows are predicted, columns are actual
        predicted \ actual  no  yes
        no                   0    0
        yes                  2  -30
        """
        validate.refuse_frame(values, "values", "Use from_frame, and turn the sign of the frame.")
        classes, choices = as_axes(labels, decisions)
        gains = validate.costs(values, "values", rows=rows, labels=classes, decisions=choices)
        return cls(-gains, rows="predicted", labels=classes, decisions=choices)

    @classmethod
    def zero_one(cls, labels: Any) -> CostMatrix:
        """Make the matrix that counts errors: 0 when correct, 1 otherwise.

        Parameters
        ----------
        labels : sequence
            The classes.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> CostMatrix.zero_one(["a", "b"]).values.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        classes = as_labels(labels, "labels")
        return cls(1.0 - np.eye(len(classes)), rows="predicted", labels=classes)

    @classmethod
    def from_frame(cls, frame: Any, *, rows: str | None = None) -> Self:
        r"""Make a matrix from a data frame (pandas, polars, pyarrow …).

        With pandas the index names the rows. If it or the columns are named "predicted" or
        "actual", `rows` is not needed. In other frames, and in a pandas frame read from a file,
        whose index has only row numbers, the first column holds the names of the rows. The name of
        that column may be ``predicted\actual`` or ``actual\predicted``.

        Column names are often text although the labels are not, so text labels become numbers or
        booleans by the rules of CSV files (see `read`). They stay text if both the index and the
        columns of a pandas frame are text.

        Parameters
        ----------
        frame : data frame
            The costs, with the names of the rows.
        rows : {"predicted", "actual"}, optional
            What the rows stand for, if the frame does not state it.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix
        >>> frame = pd.DataFrame([[0, 100], [10, 0]], index=["ok", "fraud"],
        ...                      columns=["ok", "fraud"])
        >>> CostMatrix.from_frame(frame, rows="predicted").values.tolist()
        [[0.0, 100.0], [10.0, 0.0]]
        """
        return cls._from_table(matrix_from_frame(frame, rows))

    @classmethod
    def from_weka(cls, text: str, labels: Any) -> Self:
        r"""Make a matrix from the text of a Weka ``.cost`` file, whose rows are the actual class.

        Weka writes no labels: give them in the order of its class attribute. Three layouts are
        read: with a line of sizes, the one-line ``[0 1; 5 0]``, and the old one with a line
        ``actual predicted cost`` for each cost that is not 1.

        Parameters
        ----------
        text : str
            The content of the file.
        labels : sequence
            The classes, in the order of the file.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> CostMatrix.from_weka("2 2\n0 1\n5 0\n", ["good", "bad"])
        CostMatrix: rows are predicted, columns are actual
        predicted \ actual  good  bad
        good                   0    5
        bad                    1    0
        """
        return cls._from_table(matrix_from_weka(text, labels, source="text"))

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, rows: str | None = None, labels: Any = None
    ) -> Self:
        r"""Read a matrix from a file: ``.csv``, ``.tsv``, ``.json`` or Weka's ``.cost``.

        Parameters
        ----------
        path : path
            The file. A CSV or TSV file has the labels in its first row and column, and
            ``predicted\actual`` (rows are predicted) or ``actual\predicted`` in its corner cell.
            Classes that all look like whole numbers are numbers, classes that are all True or False
            are booleans. A JSON file has ``rows``, ``labels``, ``values`` and, where they differ
            from the labels, ``decisions``.
        rows : {"predicted", "actual"}, optional
            What the rows stand for, if the file does not state it.
        labels : sequence, optional
            The classes; required for a Weka file, which has no labels. Other files must have the
            same classes, in any order.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "costs.csv"
        ...     costs.write(path)
        ...     CostMatrix.read(path) == costs
        True
        """
        return read_matrix(path, cls._from_table, rows=rows, labels=labels)

    @classmethod
    def _from_table(cls, table: MatrixTable) -> Self:
        return cls(table.values, rows=table.rows, labels=table.labels, decisions=table.decisions)

    # -- theory (thesis, section 2.2)

    def mistake_costs(self, *, pos_label: Label = 1) -> dict[str, float]:
        """Return the extra cost of a false alarm and of a miss over the correct decision.

        Parameters
        ----------
        pos_label : default 1
            Which of the two classes is the positive one.

        Returns
        -------
        dict
            With "false_positive", C(+, -) - C(-, -), and "false_negative", C(-, +) - C(+, +).

        Examples
        --------
        A cost curve needs only these two numbers of a cost matrix:

        >>> from stakes import CostLine, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100, true_positive=5)
        >>> costs.mistake_costs()
        {'false_positive': 10.0, 'false_negative': 95.0}
        >>> round(CostLine(0.1, 0.8).money(prevalence=0.2, **costs.mistake_costs()), 4)
        4.6
        """
        validate.two_classes(self.labels, "labels")
        if pos_label not in self.labels:
            raise LabelError(
                "pos_label", f"expected one of {listing(self.labels)}, got {pos_label!r}."
            )
        positive = self.labels.index(pos_label)
        labels = (self.labels[1 - positive], self.labels[positive])
        values = self.values_for(labels, labels)
        return {
            "false_positive": float(values[1, 0] - values[0, 0]),
            "false_negative": float(values[0, 1] - values[1, 1]),
        }

    def zero_diagonal(self) -> CostMatrix:
        """Return the equivalent matrix in which correct decisions cost nothing.

        Corollary 2.2.2 of the thesis with δ_j = -C(j, j).

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        Table 2.1 of the thesis becomes its Table 2.2:

        >>> from stakes import CostMatrix
        >>> CostMatrix([[-1.5, 10], [100, 0]], rows="predicted",
        ...            labels=["fraud", "no fraud"]).zero_diagonal().values.tolist()
        [[0.0, 10.0], [101.5, 0.0]]
        """
        if set(self.decisions) != set(self.labels):
            raise InputError(
                "decisions",
                "expected the same decisions and classes, got decisions "
                f"{self.decisions} and classes {self.labels}.",
                "Use nonnegative() instead.",
            )
        correct = [self.decisions.index(label) for label in self.labels]
        return self._with(self.values - self.values[correct, range(len(self.labels))])

    def nonnegative(self) -> CostMatrix:
        """Return the equivalent matrix in which each class's cheapest decision costs nothing.

        Corollary 2.2.2 of the thesis, with δ_j = -min_i C(i, j); the minus is missing in print.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> CostMatrix([[-1.5, 10], [100, 3]], rows="predicted",
        ...            labels=["fraud", "no fraud"]).nonnegative().values.tolist()
        [[0.0, 7.0], [101.5, 0.0]]
        """
        return self._with(self.values - self.values.min(axis=0))

    def equivalent_to(self, other: CostMatrix) -> bool:
        """Tell whether both matrices rank any two classifiers alike (Definition 2.2.1).

        They do if, and as long as every class occurs only if, one matrix is the other times a
        positive number plus a constant for each class (Theorem 2.2.1 and the remark on scaling
        before it). The order of the labels and decisions does not matter.

        Parameters
        ----------
        other : CostMatrix
            The other matrix.

        Returns
        -------
        bool
            Whether they do.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix([[-1.5, 10], [100, 0]], rows="predicted", labels=["a", "b"])
        >>> costs.equivalent_to(costs.zero_diagonal())
        True
        """
        validate.expect(other, CostMatrix, "other", "CostMatrix(values, rows=, labels=)")
        if set(self.labels) != set(other.labels) or set(self.decisions) != set(other.decisions):
            return False
        return rank_alike(self.values, other.values_for(self.labels, self.decisions))

    def risk(self, proba: ArrayLike, *, labels: Any = None) -> NDArray[np.float64]:
        """Return the expected cost of each decision for each example (equation 2.3).

        Parameters
        ----------
        proba : array_like or data frame, shape (n, classes)
            Class probabilities. The columns of a data frame are matched to the classes by name.
        labels : sequence, optional
            Which class each column of `proba` is; by default they are in the order of
            ``costs.labels``. scikit-learn sorts the classes: pass ``labels=clf.classes_``.

        Returns
        -------
        ndarray, shape (n, decisions)
            ``R(i | x) = Σ_j P(j | x) C(i, j)``.

        References
        ----------
        Margineantu (2001), equation 2.3.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> costs.risk([[0.75, 0.25]]).tolist()
        [[25.0, 7.5]]
        """
        return expected_risk(ordered_probabilities(proba, self.labels, labels), self.values)

    def decide(self, proba: ArrayLike, *, labels: Any = None) -> NDArray[Any]:
        """Return the decision of least expected cost for each example (equation 2.3).

        A tie goes to the first decision in the order of `decisions`. Risks are tied when they
        differ by no more than the rounding of their sums, a few units in the last place of
        ``Σ_j P(j | x) |C(i, j)|``.

        Parameters
        ----------
        proba, labels
            As for `risk`.

        Returns
        -------
        ndarray, shape (n,)
            The decisions, argmin_i Σ_j P(j | x) C(i, j).

        References
        ----------
        Margineantu (2001), equation 2.3.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100,
        ...                                pos_label="fraud", neg_label="ok")
        >>> costs.decide([[0.95, 0.05], [0.75, 0.25]]).tolist()
        ['ok', 'fraud']
        >>> costs.decide([[0.05, 0.95], [0.25, 0.75]], labels=["fraud", "ok"]).tolist()
        ['ok', 'fraud']
        """
        probabilities = ordered_probabilities(proba, self.labels, labels)
        chosen: NDArray[Any] = label_array(self.decisions)[least_risk(probabilities, self.values)]
        return chosen

    # -- labels and texts

    def relabel(self, names: Mapping[Any, Label] | Callable[[Any], Label]) -> CostMatrix:
        """Return the matrix with other names for its classes and decisions.

        Parameters
        ----------
        names : mapping or function
            From old to new names; a mapping may leave some out. ``costs.relabel(int)`` converts
            labels that were read as text to numbers.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> CostMatrix.zero_one(["0", "1"]).relabel(int).labels
        (0, 1)
        """
        known = tuple(dict.fromkeys((*self.labels, *self.decisions)))
        try:
            new = renamed(known, names)
        except (LookupError, AttributeError) as error:
            raise LabelError(
                "names",
                f"cannot rename the labels {listing(known)}: {error!r}.",
                "A function must have a name for each; a mapping may leave some out.",
            ) from error
        return CostMatrix(
            self.values,
            rows="predicted",
            labels=[new[label] for label in self.labels],
            decisions=[new[decision] for decision in self.decisions],
        )

    def values_for(self, labels: Labels, decisions: Labels) -> NDArray[np.float64]:
        """Return the costs for some of the classes and decisions, in another order.

        Parameters
        ----------
        labels, decisions : tuple
            The classes and decisions wanted.

        Returns
        -------
        ndarray, shape (decisions, classes)
            Their costs.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> costs.values_for((1, 0), (1, 0)).tolist()
        [[0.0, 10.0], [100.0, 0.0]]
        """
        if (labels, decisions) == (self.labels, self.decisions):
            return self.values
        rows = positions(decisions, self.decisions, "decision")
        return self.values[np.ix_(rows, positions(labels, self.labels, "class"))]

    def cells(self) -> Iterator[tuple[Label, Label, float]]:
        """Iterate over (decision, class, cost).

        Returns
        -------
        iterator of (decision, class, cost)
            All cells, decision by decision.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> [cell for cell in costs.cells() if cell[2]]
        [(0, 1, 100.0), (1, 0, 10.0)]
        """
        for i, decision in enumerate(self.decisions):
            for j, label in enumerate(self.labels):
                yield decision, label, float(self.values[i, j])

    def in_words(self) -> list[str]:
        """Describe each cell in a sentence, so that a person can check the orientation.

        Returns
        -------
        list of str
            A sentence for each cell.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> costs.in_words()[1]
        'predicting 0 when it was 1 costs 100'
        """
        return [
            f"predicting {decision!r} when it was {label!r} costs {exact(cost)}"
            for decision, label, cost in self.cells()
        ]

    # -- output

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the matrix to a ``.csv``, ``.tsv``, ``.json`` or Weka ``.cost`` file.

        Parameters
        ----------
        path : path
            The file; its suffix determines the format.

        Notes
        -----
        In CSV and TSV files, a label that a spreadsheet would run as a formula, such as one that
        begins with "=", is written after an apostrophe, which `read` removes.
        """
        write_matrix(self._as_table(), path)

    def to_frame(self, backend: str = "pandas") -> Any:
        r"""Return the matrix as a data frame that `from_frame` reads back.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "modin", "cudf"}
            The library of the frame. A pandas frame has the decisions in an index named "predicted"
            and the classes in columns named "actual". Other frames have the decisions in a first
            column named ``predicted\actual``, and all labels as text.

        Returns
        -------
        data frame
            A frame of that library.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> float(costs.to_frame().loc[0, 1])
        100.0
        """
        return matrix_to_frame(self._as_table(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as plain lists, in the layout of its JSON file.

        Returns
        -------
        dict
            The arguments of the constructor, as plain values.
        """
        return {
            "rows": "predicted",
            "labels": list(self.labels),
            "decisions": list(self.decisions),
            "values": self.values.tolist(),
        }

    def __repr__(self) -> str:
        return f"CostMatrix: rows are predicted, columns are actual\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption="Costs: rows are predicted, columns are actual")

    def _table(self) -> Table:
        cells = [[exact(cost) for cost in row] for row in self.values.tolist()]
        return matrix_table(self.decisions, self.labels, cells)

    def _as_table(self) -> MatrixTable:
        return MatrixTable(self.values, "predicted", self.labels, self.decisions)

    def _with(self, values: NDArray[np.float64]) -> CostMatrix:
        return CostMatrix(values, rows="predicted", labels=self.labels, decisions=self.decisions)
