"""The sixteen UCI data sets of Margineantu's thesis (Table 6.5), from a folder or from OpenML."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.errors import FileError, InputError, StakesWarning, warn
from stakes.read import read_text


@dataclass(frozen=True)
class Source:
    """Origin of a data set, and its size in Table 6.5.

    Attributes
    ----------
    title : str
        Its name in the UCI repository.
    openml : str
        Its name on OpenML.
    classes, attributes : int
        The numbers of classes and attributes, without the classes that Appendix A leaves out.
    smallest : int
        Classes with fewer rows are left out (Appendix A).
    target : str or None
        The class column on OpenML, where it is not OpenML's default.
    unused : tuple of str
        Columns on OpenML that are not attributes.
    """

    title: str
    openml: str
    classes: int
    attributes: int
    smallest: int = 1
    target: str | None = None
    unused: tuple[str, ...] = ()


SOURCES: Mapping[str, Source] = {
    "abalone": Source("Abalone", "abalone", 21, 8, smallest=6),
    "audio": Source("Audiology (Standardized)", "audiology", 8, 69, smallest=5),
    "bcy": Source("Breast Cancer (Ljubljana)", "breast-cancer", 2, 9),
    "glass": Source("Glass Identification", "glass", 6, 9),
    "hepatitis": Source("Hepatitis", "hepatitis", 2, 19),
    "iris": Source("Iris", "iris", 3, 4),
    "liver": Source("Liver Disorders (BUPA)", "liver-disorders", 2, 6, target="selector"),
    "lung": Source("Lung Cancer", "lung-cancer", 3, 56),
    "lympho": Source("Lymphography", "lymph", 4, 18),
    "segment": Source("Image Segmentation", "segment", 7, 19),
    "sonar": Source("Connectionist Bench (Sonar)", "sonar", 2, 60),
    "soybean": Source("Soybean (Large)", "soybean", 15, 35, smallest=20),
    "vehicle": Source("Statlog (Vehicle Silhouettes)", "vehicle", 4, 18),
    "voting": Source("Congressional Voting Records", "vote", 2, 16),
    "wine": Source("Wine", "wine", 3, 13),
    "zoo": Source("Zoo", "zoo", 7, 16, unused=("animal",)),
}
"""Data sets by the short names of Table 6.6.

The thesis counts lymphography's class as an attribute.
"""

RANGE = re.compile(r"^'?(\d+)-(\d+)'?$")
RANGED = ("age", "tumor-size", "inv-nodes", "deg-malig")
"""Continuous attributes of `bcy` (four in Table 6.5), which OpenML has as ranges and codes."""


@dataclass(frozen=True)
class DataSet:
    """A data set for classification.

    Attributes
    ----------
    name : str
        The short name of Table 6.6.
    X : ndarray, shape (rows, attributes)
        Numbers; discrete attributes as codes, and NaN where a value is missing.
    y : ndarray of str, shape (rows,)
        The classes.
    discrete : ndarray of bool, shape (attributes,)
        Which attributes are discrete.
    names : tuple of str
        The names of the attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from replications.domains.uci import DataSet
    >>> data = DataSet("mine", np.array([[1.5, 0.0], [2.5, 1.0], [3.5, 1.0]]),
    ...                np.array(["a", "b", "b"]), np.array([False, True]), ("size", "colour"))
    >>> data.classes.tolist(), data.shares.round(3).tolist()
    (['a', 'b'], [0.333, 0.667])
    >>> data.one_hot.tolist()
    [[1.5, 1.0, 0.0], [2.5, 0.0, 1.0], [3.5, 0.0, 1.0]]
    """

    name: str
    X: Floats
    y: NDArray[np.str_]
    discrete: NDArray[np.bool_]
    names: tuple[str, ...]

    @cached_property
    def classes(self) -> NDArray[np.str_]:
        """The classes in sorted order."""
        return np.unique(self.y)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The class of each row, as an index into `classes`."""
        return np.searchsorted(self.classes, self.y)

    @cached_property
    def shares(self) -> Floats:
        """The class frequencies."""
        return np.bincount(self.codes) / len(self.codes)

    @cached_property
    def one_hot(self) -> Floats:
        """The attributes with discrete ones in one-hot encoding: a column for each value."""
        columns = []
        for values, discrete in zip(self.X.T, self.discrete, strict=True):
            known = np.unique(values[~np.isnan(values)])
            columns += [values == value for value in known] if discrete else [values]
        return np.column_stack([column.astype(np.float64) for column in columns])


def read_uci(folder: str | PathLike[str], name: str) -> DataSet:
    r"""Read a data set of the thesis from a folder.

    The folder has a CSV file for each data set, such as ``iris.csv``: a header, the attributes, and
    the class in the last column; a missing value is an empty field. A column whose filled fields
    are all numbers is continuous, every other one discrete. Classes that the thesis leaves out for
    their size (Appendix A) are left out.

    Parameters
    ----------
    folder : path
        The folder of the files. They do not come with stakes.
    name : str
        A short name of Table 6.6, such as "iris".

    Returns
    -------
    DataSet

    See Also
    --------
    fetch_uci : downloads a data set from OpenML.

    References
    ----------
    Margineantu (2001), Tables 6.5 and 6.6 and appendix A.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from replications.domains.uci import read_uci
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "size,colour,class\n1.5,red,a\n,blue,b\n2.5,red,b\n"
    >>> _ = (folder / "iris.csv").write_text(text)
    >>> data = read_uci(folder, "iris")
    >>> data.X.tolist(), data.y.tolist()
    ([[1.5, 1.0], [nan, 0.0], [2.5, 1.0]], ['a', 'b', 'b'])
    """
    source = _source(name)
    path = Path(folder) / f"{name}.csv"
    if not path.exists():
        raise FileError(
            f"{path}",
            f"there is no such file. It is the data set {source.title!r} of the UCI repository "
            f"(archive.ics.uci.edu), or {source.openml!r} on OpenML (online, "
            f"replications.domains.uci.fetch_uci({name!r}) gets it): a header, the attributes, "
            "and the class in the last column; a missing value is an empty field.",
        )
    rows = [row for row in csv.reader(StringIO(read_text(path))) if row]
    if min(len(rows), len(rows[0]) if rows else 0) < 2:  # noqa: PLR2004 - an attribute, a class
        raise FileError(
            f"{path}", f"expected a header, attributes and a class, got {len(rows)} rows."
        )
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise FileError(
                f"{path}",
                f"row {number} has {len(row)} fields, but the header has {len(rows[0])}.",
            )
    return _data_set(name, rows[0][:-1], rows[1:])


def fetch_uci(name: str, *, version: int = 1) -> DataSet:
    """Download a data set of the thesis from OpenML, with scikit-learn.

    The data on OpenML have not been compared value by value with those of the thesis. A warning is
    given where the numbers of classes and attributes differ from Table 6.5. Two cases are known to
    differ: the thesis used 200 of the 226 rows of audiology, and its class frequencies in vehicle
    are those of 946 rows, of which 846 are public.

    Parameters
    ----------
    name : str
        A short name of Table 6.6, such as "iris".
    version : int, default 1
        OpenML's version.

    Returns
    -------
    DataSet

    See Also
    --------
    read_uci : reads a data set from a folder.

    References
    ----------
    Margineantu (2001), Tables 6.5 and 6.6 and appendix A.

    Examples
    --------
    >>> from replications.domains.uci import fetch_uci
    >>> data = fetch_uci("iris")  # doctest: +SKIP
    >>> data.X.shape  # doctest: +SKIP
    (150, 4)
    """
    from sklearn.datasets import fetch_openml

    source = _source(name)
    options: dict[str, Any] = {} if source.target is None else {"target_column": source.target}
    try:
        found = fetch_openml(source.openml, version=version, as_frame=True, **options)
    except OSError as error:
        raise FileError(
            source.openml,
            f"OpenML cannot be reached ({error}).",
            f"Put {name}.csv into a folder and use read_uci.",
        ) from error
    frame = found.data.drop(columns=[each for each in source.unused if each in found.data])
    columns = [_text(frame[each], name) for each in frame.columns]
    rows = [list(row) for row in zip(*columns, found.target.astype(str), strict=True)]
    data = _data_set(name, [str(each) for each in frame.columns], rows)
    expected = (source.classes, source.attributes)
    if (len(data.classes), data.X.shape[1]) != expected:
        warn(
            f"{name}: OpenML's {source.openml} (version {version}) has {len(data.classes)} classes "
            f"and {data.X.shape[1]} attributes, Table 6.5 has {expected[0]} and {expected[1]}.",
            StakesWarning,
        )
    return data


def _source(name: str) -> Source:
    validate.choice(name, "name", tuple(SOURCES))
    return SOURCES[name]


def _text(column: Any, name: str) -> list[str]:
    """Return a column as the fields of a file: discrete values must not look like numbers."""
    discrete = column.dtype.name in {"category", "object", "str", "string", "bool"}
    ranged = name == "bcy" and column.name in RANGED
    fields = []
    for value, missing in zip(column, column.isna(), strict=True):
        span = RANGE.match(str(value))
        if missing:
            fields.append("")
        elif ranged and span:
            fields.append(str((float(span[1]) + float(span[2])) / 2))
        else:
            fields.append(f"v{value}" if discrete and not ranged else str(value).strip("'"))
    return fields


def _data_set(name: str, names: Sequence[str], rows: list[list[str]]) -> DataSet:
    sizes = Counter(row[-1] for row in rows)
    rows = [row for row in rows if sizes[row[-1]] >= SOURCES[name].smallest]
    if len({row[-1] for row in rows}) < 2:  # noqa: PLR2004 - to tell apart
        raise InputError(
            name,
            f"expected rows of two classes or more with at least {SOURCES[name].smallest} rows "
            f"each, got {len(sizes)} classes in {sum(sizes.values())} rows.",
        )
    columns = [_column([row[place] for row in rows]) for place in range(len(names))]
    return DataSet(
        name,
        np.column_stack([values for values, _ in columns]),
        np.array([row[-1] for row in rows]),
        np.array([discrete for _, discrete in columns]),
        tuple(names),
    )


def _column(fields: list[str]) -> tuple[Floats, bool]:
    if any(fields):  # an empty column has no information, and is discrete as in the thesis
        try:
            return np.array([float(field) if field else np.nan for field in fields]), False
        except ValueError:
            pass
    codes = {value: code for code, value in enumerate(sorted({*fields} - {""}))}
    return np.array([codes.get(field, np.nan) for field in fields]), True
