"""Workbooks made by hand: read as spreadsheet programs read them, or refused."""

import re
import zipfile

import pytest

from stakes.errors import FileError
from stakes.read.tables import read_table

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"

HEAD = '<row r="1"><c r="A1" t="str"><v>a</v></c><c r="B1" t="str"><v>b</v></c></row>'
SECOND = '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row>'
THIRD = '<row r="3"><c r="A3"><v>3</v></c><c r="B3"><v>4</v></c></row>'
PLAIN = {"a": [1, 3], "b": [2, 4]}
TEXT = '<c t="inlineStr"><is><t>{}</t></is></c>'


def sheet(rows, before="", after=""):
    data = f"{before}<sheetData>{rows}</sheetData>{after}"
    return f'<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="{MAIN}">{data}</worksheet>'


def book(path, *sheets, names=("one", "two"), folder="worksheets"):
    """Write a workbook of the XML of its sheets, without the help of a library."""
    parts = [f"{folder}/sheet{at}.xml" for at in range(1, len(sheets) + 1)]
    content = "".join(
        f'<Override PartName="/xl/{name}" ContentType="{TYPES}.{kind}+xml"/>'
        for name, kind in [("workbook.xml", "sheet.main"), *((part, "worksheet") for part in parts)]
    )
    links = "".join(
        f'<Relationship Id="r{at}" Type="{OFFICE}/worksheet" Target="{part}"/>'
        for at, part in enumerate(parts, 1)
    )
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>'
        for at, (name, _) in enumerate(zip(names, sheets, strict=False), 1)
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">{content}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets>'
        "</workbook>",
    }
    files |= {f"xl/{part}": each for part, each in zip(parts, sheets, strict=True)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in files.items():
            archive.writestr(name, each)
    return path


@pytest.fixture
def made(tmp_path):
    """Return a function that writes a workbook."""
    return lambda *sheets, **options: book(tmp_path / "a.xlsx", *sheets, **options)


def unnumbered(rows, what="r"):
    return re.sub(rf' {what}="[A-Z]*\d+"', "", rows)


READABLE = {
    "plain": sheet(HEAD + SECOND + THIRD),
    "no cell numbers": sheet(re.sub(r'(<c) r="\w+"', r"\1", HEAD + SECOND + THIRD)),
    "no row numbers": sheet(re.sub(r'(<row) r="\w+"', r"\1", HEAD + SECOND + THIRD)),
    "no numbers": sheet(unnumbered(HEAD + SECOND + THIRD)),
    "one row without numbers": sheet(HEAD + unnumbered(SECOND) + THIRD),
    "second cell without a number": sheet(HEAD + SECOND.replace(' r="B2"', "") + THIRD),
    "odd spelling": sheet(HEAD + SECOND.replace('r="2"', "\nr = '2.0' spans='1:2' ") + THIRD),
    "small letters": sheet(HEAD + SECOND.lower() + THIRD),
    "gaps": sheet(HEAD + (SECOND + THIRD).replace('2"', '20"').replace('3"', '31"')),
    "extensions": sheet(
        HEAD + SECOND.replace("</row>", "<extLst><ext uri='x'/></extLst></row>") + THIRD,
        after="<extLst><ext uri='x'/></extLst>",
    ),
    "inline text": sheet(
        f"<row>{TEXT.format('a')}{TEXT.format('b')}</row>" + SECOND + unnumbered(THIRD)
    ),
    "another column after a gap": sheet(
        HEAD + SECOND.replace("</row>", '<c r="AB2"><v>9</v></c></row>') + THIRD
    ),
    "size too small": sheet(HEAD + SECOND + THIRD, '<dimension ref="A1:A2"/>'),
    "UTF-16": sheet(HEAD + SECOND + THIRD).replace("UTF-8", "UTF-16").encode("utf-16"),
    "prefix": re.sub(r"<(/?)(?=[a-z])", r"<\1x:", sheet(HEAD + SECOND + THIRD)).replace(
        "xmlns=", "xmlns:x="
    ),
    "attributes of others": sheet(
        (HEAD + SECOND + THIRD).replace("<row", '<row xmlns:y="urn:y" y:r="1"')
    ),
}


@pytest.mark.filterwarnings("ignore:Unknown extension")
@pytest.mark.parametrize("xml", READABLE.values(), ids=READABLE)
def test_sheets_that_spreadsheet_programs_read(xml, made):
    assert read_table(made(xml)).table.to_pydict() == PLAIN


REFUSED = {
    "cells swapped": (
        HEAD + '<row r="2"><c r="B2"><v>2</v></c><c r="A2"><v>1</v></c></row>' + THIRD,
        "has cells out of order: cell A2 is after one to its right",
    ),
    "cell beyond the last one": (
        HEAD + '<row r="2"><c r="B2"><v>2</v></c><c r="A2"/></row>' + THIRD,
        "cell A2 is after one to its right",
    ),
    "cell twice": (HEAD + SECOND.replace('"A2"', '"B2"') + THIRD, "has cell B2 twice"),
    "cell twice, one without a number": (
        HEAD + SECOND.replace(' r="A2"', "").replace("B2", "A2") + THIRD,
        "has cell A2 twice",
    ),
    "cell of another row": (HEAD + SECOND + THIRD.replace("B3", "B2"), "has cell B2 in row 3"),
    "cell of a longer number": (HEAD + SECOND.replace("B2", "B12"), "has cell B12 in row 2"),
    "cell without a column": (HEAD + SECOND.replace("B2", "2"), "has a cell '2' in row 2"),
    "cell with an empty name": (HEAD + SECOND.replace("B2", ""), "has a cell '' in row 2"),
    "absolute cell": (HEAD + SECOND.replace("B2", "$B$2"), r"has a cell '\$B\$2' in row 2"),
    "row twice": (HEAD + SECOND + SECOND.replace("<v>", "<v>9"), "has row 2 twice"),
    "row before": (HEAD + THIRD + SECOND, "has rows out of order: row 2 is after row 3"),
    "row that is counted, then numbered": (
        HEAD + SECOND.replace("<row r='2'", "<row") + unnumbered(SECOND) + THIRD,
        "has row 3 twice",
    ),
    "counted row whose cells are of another": (
        HEAD + THIRD.replace('<row r="3"', "<row"),
        "has cell A3 in row 2",
    ),
    "row twice, odd spelling": (
        HEAD + SECOND + unnumbered(THIRD, "r").replace("<row", "<row\n r = '2'"),
        "has row 2 twice",
    ),
    "row 0": ('<row r="0"><c><v>1</v></c></row>' + HEAD, "has a row '0' after row 0"),
    "row of no number": (HEAD + SECOND.replace('r="2"', 'r="2b"'), "has a row '2b' after row 1"),
    "row of half a number": (HEAD + unnumbered(SECOND).replace("<row", '<row r="2.5"'), "'2.5'"),
    "row far down": (
        HEAD + unnumbered(SECOND).replace("<row", '<row r="900000000"'),
        "has a row 900000000 after row 1; it can have 1,048,576",
    ),
    "row in a row": (
        HEAD + SECOND.replace("</row>", THIRD + "</row>"),
        "has an element 'row' in a wrong place after row 2",
    ),
    "row in a cell": (HEAD + SECOND.replace("<v>2", THIRD + "<v>2"), "an element 'row' in a wrong"),
    "cell in no row": (HEAD + SECOND + '<c r="A3"/>', "an element 'c' in a wrong place"),
    "cells in another element": (
        HEAD + SECOND.replace('<c r="B2">', '<b><c r="B2">').replace("</row>", "</b></row>"),
        "an element 'b' in a wrong place after row 2",
    ),
    "row of another namespace": (
        HEAD + SECOND.replace("<row", "<row xmlns='urn:x'") + THIRD,
        "an element 'row' in a wrong place after row 1",
    ),
}


@pytest.mark.parametrize(("rows", "said"), REFUSED.values(), ids=REFUSED)
def test_sheets_whose_rows_or_cells_would_be_lost_are_refused(rows, said, made):
    with pytest.raises(FileError, match=rf"a\.xlsx: its sheet 'one' .*{said}.*Save it anew"):
        read_table(made(sheet(rows)))


@pytest.mark.parametrize("where", ["before", "after"])
def test_rows_outside_the_data_of_a_sheet_are_refused(where, made):
    row = THIRD if where == "after" else SECOND
    with pytest.raises(FileError, match="an element 'row' in a wrong place"):
        read_table(made(sheet(HEAD + SECOND, **{where: f"<extLst>{row}</extLst>"})))


@pytest.mark.parametrize("encoding", ["UTF-16", "ISO-8859-1"])
def test_rows_are_in_order_in_every_encoding(encoding, made):
    xml = sheet(HEAD + SECOND + SECOND).replace("UTF-8", encoding).encode(encoding)
    with pytest.raises(FileError, match="row 2 twice"):
        read_table(made(xml))


def test_a_sheet_is_found_by_the_relations_of_its_workbook(made):
    with pytest.raises(FileError, match="row 2 twice"):
        read_table(made(sheet(HEAD + SECOND + SECOND), folder="elsewhere"))
    assert read_table(made(READABLE["plain"], folder="elsewhere")).table.to_pydict() == PLAIN


def test_only_the_named_sheet_matters(made):
    odd = sheet(HEAD + SECOND + SECOND)
    broken = sheet(HEAD + SECOND, '<dimension ref="A1:B2"/>')[:-20]
    for other in (broken, odd):
        path = made(READABLE["plain"], other)
        assert read_table(f"{path}#one").table.to_pydict() == PLAIN
    with pytest.raises(FileError, match="its sheet 'two' has row 2 twice"):
        read_table(f"{path}#two")
    with pytest.raises(FileError, match=r"it has 2 sheets: 'one', 'two'.*a\.xlsx#one"):
        read_table(path)


def test_a_sheet_that_only_seems_empty_is_not_ignored(made):
    """openpyxl sees no value here, because the last cell of the row is in its first column."""
    lost = '<row r="1"><c r="B1"><v>1</v></c><c r="A1"/></row>'
    with pytest.raises(FileError, match="it has 2 sheets: 'one', 'two'"):
        read_table(made(READABLE["plain"], sheet(lost)))
    assert read_table(made(READABLE["plain"], sheet("<row/>"))).table.to_pydict() == PLAIN


def test_sheets_of_one_name_are_refused(made):
    path = made(READABLE["plain"], sheet(HEAD + SECOND), names=("one", "one"))
    for name in (path, f"{path}#one"):
        with pytest.raises(FileError, match="several of its sheets have the same name"):
            read_table(name)


ENTITIES = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 12))


@pytest.mark.parametrize(
    "declared",
    [
        f'<!DOCTYPE worksheet [<!ENTITY e0 "lol">{ENTITIES}]>',
        '<!DOCTYPE worksheet [<!ENTITY e11 SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE worksheet SYSTEM "http://localhost:9/x.dtd">',
    ],
    ids=["bomb", "file", "address"],
)
def test_entities_are_refused(declared, made):
    rows = HEAD + SECOND.replace("<v>2", "<v>&e11;")
    for xml in (sheet(rows), sheet(rows, '<dimension ref="A1:B2"/>'), READABLE["plain"]):
        with pytest.raises(FileError, match=r"cannot be read as a workbook|document type"):
            read_table(made(xml.replace("<worksheet", declared + "<worksheet")))


@pytest.mark.parametrize("content", ["", "no XML", READABLE["plain"][:-30], "<a>" * 50_000])
def test_xml_that_is_broken_is_refused(content, made):
    with pytest.raises(FileError, match=r"a\.xlsx.* cannot be read as a workbook"):
        read_table(made(content))


def test_a_broken_end_of_a_sheet_names_the_sheet(made):
    xml = sheet(HEAD + SECOND, '<dimension ref="A1:B2"/>').replace("</sheetData>", "</oops>")
    with pytest.raises(FileError, match=r"in its sheet 'one', mismatched tag.*Save it anew"):
        read_table(made(xml))


def test_workbooks_that_are_cut_or_changed_are_refused_or_read(made):
    """Whichever byte is wrong, there is an error of ours, or what the sheet contains."""
    path = made(READABLE["plain"])
    content = path.read_bytes()
    for at in range(0, len(content), 7):
        for changed in (content[:at], content[:at] + b"\xff" + content[at + 1 :]):
            path.write_bytes(changed)
            try:
                assert read_table(path).table.to_pydict() == PLAIN
            except FileError as error:
                assert "a.xlsx" in str(error)  # noqa: PT017 - either is right
