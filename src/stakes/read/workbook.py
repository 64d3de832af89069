"""Read sheets of Excel workbooks, once their rows and cells are known to be in order."""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from string import ascii_uppercase
from typing import Any, NoReturn
from xml.etree.ElementTree import ParseError, XMLParser

from stakes._core.optional import imported
from stakes.errors import FileError, StakesError
from stakes.read._diagnose import (
    shortly,
)
from stakes.read.files import as_path
from stakes.read.sources import pyarrow, workbook_of

SHEET_TAG = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
"""Namespace of the XML of sheets, as it begins the tags of their elements."""
SHEET_DATA, ROW, CELL = (SHEET_TAG + name for name in ("sheetData", "row", "c"))
IN_ROWS = {CELL, SHEET_TAG + "extLst"}
"""Elements that a row may have: cells, and extensions after them."""
ROW_NUMBER = re.compile(r"([0-9]{1,9})(?:\.0*)?")
"""Pattern of the number of a row; some programs write 3.0."""
CELL_NAME = re.compile(r"([A-Za-z]{1,3})([0-9]{1,9})")
"""Pattern of the name of a cell, such as B2."""
MOST_ROWS = 2**20
"""Number of rows of a sheet in spreadsheet programs."""
SAVE_ANEW = "Save it anew with a spreadsheet program."
READ_AT_ONCE = 1 << 16
"""Bytes of the XML of a sheet that are unpacked at a time."""


def read_workbook(named: Callable[[], str], source: str) -> Any:
    """Read a sheet of a workbook, with the types of its cells."""
    openpyxl = imported("openpyxl", "reading .xlsx files", "'stakes[excel]'")
    file, sheet = workbook_of(named())
    try:
        # openpyxl leaves files open that it cannot read.
        with as_path(file).open("rb") as stream, zipfile.ZipFile(stream) as archive:
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            with contextlib.closing(book):
                return _sheet_table(_chosen_sheet(book, sheet, archive, source), source)
    except (StakesError, MemoryError):
        raise
    except Exception as error:  # zip, XML and openpyxl raise many kinds of errors
        raise FileError(source, f"cannot be read as a workbook: {shortly(error)}") from error


def _chosen_sheet(book: Any, name: str | None, archive: zipfile.ZipFile, source: str) -> Any:
    """Return the named sheet of a workbook, or the only one that has cells."""
    sheets = {each.title: each for each in book.worksheets}
    if len(sheets) < len(book.worksheets):
        raise FileError(source, "several of its sheets have the same name.", SAVE_ANEW)
    for each in sheets.values():
        each.reset_dimensions()  # rows beyond the size that the file states would be skipped
    if name is not None and name not in sheets:
        raise FileError(source, f"it has no sheet {name!r}; there are {', '.join([*sheets][:10])}.")
    asked = sheets if name is None else {name: sheets[name]}
    problems = {title: _sheet_problem(each, archive) for title, each in asked.items()}
    filled = [*asked]
    if name is None:  # openpyxl may not see the cells of a sheet with a problem
        filled = [
            title
            for title, each in asked.items()
            if problems[title] or any(map(_has_cells, _sheet_rows(each)))
        ]
    if len(filled) > 1:
        raise FileError(
            source,
            f"it has {len(filled)} sheets: {', '.join(map(repr, filled[:10]))}.",
            f"Name one: {archive.filename}#{filled[0]}",
        )
    if not filled:
        raise FileError(source, "its sheets are empty; expected a table of predictions.")
    if problem := problems[filled[0]]:
        raise FileError(source, problem, SAVE_ANEW)
    return sheets[filled[0]]


def _sheet_problem(sheet: Any, archive: zipfile.ZipFile) -> str | None:
    """Return why openpyxl would leave out or move cells of a sheet, or None if it would not."""
    part = sheet._worksheet_path  # noqa: SLF001 - openpyxl has no public name for it
    parser = XMLParser(target=_SheetOrder())  # noqa: S314 - it refuses to define entities
    try:
        with archive.open(part) as stream:
            while content := stream.read(READ_AT_ONCE):
                parser.feed(content)
            parser.close()
    except _SheetOrderError as error:
        return f"its sheet {sheet.title!r} has {error}."
    except ParseError as error:
        return f"cannot be read as a workbook: in its sheet {sheet.title!r}, {shortly(error)}"
    return None


class _SheetOrderError(Exception):
    """A sheet that openpyxl reads differently from spreadsheet programs."""


class _SheetOrder:
    """Checks the order of rows and cells while the XML of a sheet is parsed.

    openpyxl finds rows anywhere in the XML, skips rows whose number is not above the one before,
    and places the cells of a row by their column alone, up to the column of the last one. It reads
    what spreadsheet programs read if rows and cells are where they belong, in ascending order, and
    each cell names its own row. Rows and cells without a number follow the one before.
    """

    def __init__(self) -> None:
        self._depth = self._row = self._column = 0
        self._row_text = "0"
        self._in_data = self._in_row = False
        self._columns = _columns()

    def doctype(self, *_: str | None) -> None:
        """Refuse a document type, which could define entities; workbooks never have one."""
        raise _SheetOrderError("a document type declaration")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Check an element where it begins."""
        self._depth = depth = self._depth + 1
        if depth == 4 and self._in_row:  # noqa: PLR2004 - in worksheet, sheetData and row
            if tag not in IN_ROWS:
                self._misplaced(tag)
            self._start_cell(attributes.get("r"))
        elif depth == 3 and self._in_data:  # noqa: PLR2004 - in worksheet and sheetData
            if tag != ROW:
                self._misplaced(tag)
            self._in_row = True
            self._start_row(attributes.get("r"))
        elif tag in (ROW, CELL):
            self._misplaced(tag)
        elif depth == 2:  # noqa: PLR2004 - in worksheet
            self._in_data, self._in_row = tag == SHEET_DATA, False

    def end(self, _: str) -> None:
        """Leave an element."""
        self._depth -= 1

    def close(self) -> None:
        """Do nothing; the parser calls this at the end."""

    def _misplaced(self, tag: str) -> NoReturn:
        where = f"after row {self._row}" if self._row else "before its first row"
        raise _SheetOrderError(f"an element {tag.rpartition('}')[2]!r} in a wrong place {where}")

    def _start_row(self, name: str | None) -> None:
        before, number = self._row, self._row + 1
        if name is not None:
            match = ROW_NUMBER.fullmatch(name.strip())
            number = int(match[1]) if match else 0
            if not number:
                raise _SheetOrderError(f"a row {name!r} after row {before}; expected its number")
        if number == before:
            raise _SheetOrderError(f"row {number} twice")
        if number < before:
            raise _SheetOrderError(f"rows out of order: row {number} is after row {before}")
        if number > max(MOST_ROWS, before + 1):  # openpyxl would fill the gap, perhaps for hours
            raise _SheetOrderError(f"a row {number} after row {before}; it can have {MOST_ROWS:,}")
        self._row, self._row_text, self._column = number, str(number), 0

    def _start_cell(self, name: str | None) -> None:
        if name is None:
            self._column += 1
            return
        text = self._row_text
        column = self._columns.get(name[: -len(text)], 0) if name.endswith(text) else 0
        if column <= self._column:
            column = self._odd_cell(name)
        self._column = column

    def _odd_cell(self, name: str) -> int:
        """Return the column of a cell whose name is unusual, or raise an error if it is wrong."""
        match = CELL_NAME.fullmatch(name)
        if not match:
            raise _SheetOrderError(
                f"a cell {name!r} in row {self._row}; expected a name such as B2"
            )
        if int(match[2]) != self._row:
            raise _SheetOrderError(f"cell {name} in row {self._row}")
        column = self._columns[match[1].upper()]
        if column == self._column:
            raise _SheetOrderError(f"cell {name} twice")
        if column < self._column:
            raise _SheetOrderError(f"cells out of order: cell {name} is after one to its right")
        return column


@cache
def _columns() -> dict[str, int]:
    """Return the numbers of the columns A to ZZZ, the last one that openpyxl reads."""
    names = (letters for size in (1, 2, 3) for letters in product(ascii_uppercase, repeat=size))
    return {"".join(letters): at for at, letters in enumerate(names, 1)}


def _sheet_rows(sheet: Any) -> Iterator[Sequence[Any]]:
    """Iterate over the rows of a sheet, each with the values up to its last cell."""
    return iter(sheet.iter_rows(values_only=True))


def _has_cells(row: Sequence[Any]) -> bool:
    return any(cell is not None for cell in row)


def _sheet_table(sheet: Any, source: str) -> Any:
    """Return the table in a sheet, whose first row has the names of the columns."""
    rows = _sheet_rows(sheet)
    header = next(rows, ())
    width = max((at for at, name in enumerate(header, 1) if name is not None), default=0)
    if not width:
        raise FileError(source, "its first row is empty; expected the names of columns there.")
    wide = ((*row, *[None] * (width - len(row)))[:width] for row in rows)
    filled = [row for row in wide if _has_cells(row)]
    columns = zip(*filled, strict=True) if filled else [()] * width
    heads = ["" if name is None else str(name) for name in header[:width]]
    return pyarrow().Table.from_arrays([_cells(each) for each in columns], names=heads)


def _cells(values: Any) -> Any:
    """Return the cells of a column, as text if their types differ."""
    pa = pyarrow()
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if each is None else str(each) for each in values], pa.string())
