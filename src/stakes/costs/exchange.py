"""How a cost matrix is read and written: the methods; the formats have modules of their own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from stakes.costs.matrix import CostMatrix


class Exchange:
    """Reading and writing of cost matrices: files, data frames and Weka's text."""

    @classmethod
    def from_frame(cls, frame: Any, *, rows: str | None = None) -> CostMatrix:
        r"""Make a matrix from a data frame (pandas, polars, pyarrow …).

        With pandas the index names the rows. Where it or the columns are named "predicted" or
        "actual", `rows` need not be given. Otherwise, and where a pandas frame read from a file
        has only row numbers as its index, the first column holds the names of the rows, and its own
        name may say ``predicted\actual`` or ``actual\predicted``.

        Labels that are text only because column names are become numbers or booleans by the rules
        of CSV files (see `read`); an index and columns of pandas that both are text stay text.

        Parameters
        ----------
        frame : data frame
            The costs, with the names of the rows.
        rows : {"predicted", "actual"}, optional
            What the rows stand for, where the frame does not say.

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
        from stakes.costs._axes import matrix_from_frame

        return matrix_from_frame(frame, rows)

    @classmethod
    def from_weka(cls, text: str, labels: Any) -> CostMatrix:
        r"""Make a matrix from the text of a Weka ``.cost`` file, whose rows are the actual class.

        Weka writes no labels: give them in the order of its class attribute. The layout with a
        line of sizes, the one-line ``[0 1; 5 0]`` and the old layout with a line ``actual predicted
        cost`` for each cost that is not 1 are read.

        Parameters
        ----------
        text : str
            What the file says.
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
        from stakes.costs._io import matrix_from_weka

        return matrix_from_weka(text, labels, source="text")

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, rows: str | None = None, labels: Any = None
    ) -> CostMatrix:
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
            What the rows stand for, where the file does not say.
        labels : sequence, optional
            The classes, needed for a Weka file, which has none; other files must have the same
            classes, in any order.

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
        from stakes.costs._io import read_matrix

        return read_matrix(path, rows=rows, labels=labels)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the matrix to a ``.csv``, ``.tsv``, ``.json`` or Weka ``.cost`` file.

        Parameters
        ----------
        path : path
            The file; what its name ends with is the format.
        """
        from stakes.costs._io import write_matrix

        write_matrix(cast("CostMatrix", self), path)

    def to_frame(self, backend: str = "pandas") -> Any:
        r"""Return the matrix as a data frame that `from_frame` reads back.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "modin", "cudf"}
            The library of the frame. pandas has the decisions in an index named "predicted" and
            columns named "actual"; the others a first column named ``predicted\actual``, and all
            labels as text.

        Returns
        -------
        data frame
            Of the library asked for.

        Examples
        --------
        >>> from stakes import CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> float(costs.to_frame().loc[0, 1])
        100.0
        """
        from stakes.costs._axes import matrix_to_frame

        return matrix_to_frame(cast("CostMatrix", self), backend)
