"""Differential tests of broken files: an error of stakes, or the counts of a plain reader."""

import gzip
from collections import Counter
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings

from stakes.errors import FileError
from stakes.read._diagnose import MOST_LEVELS, check_depth
from tests._helpers.broken_cases import cases
from tests._helpers.broken_checks import (
    COUNTED,
    check,
    count_files,
    counted,
    good_counts,
    options_of,
    right_counts,
    run,
)
from tests._helpers.broken_files import (
    COUNT_FILES,
    ENDINGS,
    PAIRS,
    QUESTIONS,
    SECOND,
    WAYS,
    Case,
    good,
    ways_of,
)
from tests._helpers.plain_readers import REFUSED, UNKNOWN, in_polars

CORPUS = [
    ("csv", b'actual,m,note\nok,ok,\nok,fraud,"open\nfraud,fraud,\nfraud,ok,\n'),
    ("csv", b'actual,m,note\nok,ok,"a\nok,fraud,"b\nfraud,fraud,\nfraud,ok,\n'),
    ("csv", b'actual,m,note\nok,ok,"a\nok,fraud,b"\nfraud,fraud,\nfraud,ok,\n'),
    ("csv", b'actual,m,note\n"ok"x,ok,\nfraud,fraud,\n'),
    ("csv", b'actual,m,"note\nok,ok,\nfraud,fraud,\n'),
    ("csv", b"actual,m,note\nok,ok,a\rfraud,fraud,b\nok,fraud,\n"),
    ("csv", b"actual,m,note\n\nok,ok,a\n\n\nfraud,fraud,b\n"),
    ("csv", b"actual,m,note\nok,ok,a,b\nfraud,fraud,b\n"),
    ("csv", b"actual,m,note\nok,ok\nfraud,fraud,b\n"),
    ("csv", b"actual,m,m\nok,ok,ok\nfraud,fraud,ok\n"),
    ("csv", b"\xef\xbb\xbfactual,m,note\nok,ok,\nfraud,fraud,\n"),
    ("csv", b"\xef\xbb\xbf\xef\xbb\xbfactual,m,note\nok,ok,\nfraud,fraud,\n"),
    ("csv", b"actual,m,note\nok,ok\x00,\nfraud,fraud,\n"),
    ("csv", b'actual,m,note\nok,ok,5" pipe\nfraud,fraud,"5"" pipe"\n'),
    ("csv", b" \nactual\nok\nfraud\n"),
    ("csv", b"\n  \nactual,m,note\nok,ok,\nfraud,fraud,\n"),
    ("csv", b'actual,m,note\nok,ok,"a\r\nb"\r\nfraud,fraud,"\r"\rok,fraud,"\n"\n\r\n'),
    ("csv", b"actual,m,note\nok,ok," + b"x" * 500 + b'\nfraud,fraud,"' + b"\n" * 500 + b'"\n'),
    ("csv", b"actual,m,note\nok,ok,\nfraud,fraud," + b"\xc3\xa9" * 300 + b"\xc3\nok,ok,\n"),
    ("csv", b'actual,m,note\nok,ok,\nfraud,fraud,\n"ok","ok","' + b"\n" * 300),
    (
        "jsonl",
        b'{"actual": 18446744073709551617, "m": 18446744073709551616}\n{"actual": 1, "m": 1}',
    ),
    ("jsonl", b'{"actual": 0, "m": 0}\n{"actual": ' + b"9" * 400 + b', "m": 1}\n'),
    ("jsonl", b'{"actual": 9007199254740993, "m": 1}\n{"actual": 0.5, "m": 1}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}\n{"actual": "fraud", "m": "fraud", "m": "ok"}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}{"actual": "fraud", "m": "fraud"}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}\n{"actual": "fraud"}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}\n{"actual": "fraud", "m": "f\xa9"}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}\n{"actual": "fraud", "m": "fraud", "x": "\xa9"}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}\n{"actual": "fraud", "m": "fraud", "\xa9": "x"}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}\n{"actual": "fraud", "m": "fraud"'),
    ("jsonl", b'null\n{"actual": "ok", "m": "ok"}\n{"actual": "fraud", "m": "fraud"}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"} null\n{"actual": "fraud", "m": "fraud"}null\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}\n' + b" " * 99 + b'\nnull{"actual": "ok", "m": "ok"}'),
    ("jsonl", b'{"actual": "ok", "m": "ok", "x": "}null"}\n{"actual": "ok", "m": "fraud"}\n'),
    ("jsonl", b'\xef\xbb\xbf null\n{"actual": "ok", "m": "ok"}\n'),
    ("jsonl", b'{"actual": "ok", "m": "ok"}\n \t\r\n null\n{"actual": "fraud", "m": "fraud"}\n'),
]

OTHERS = [
    # A line of JSON without a column has a missing value there.
    Case("jsonl", b'{"actual": "ok", "m": "ok", "s": 1}\n{"actual": "fraud", "m": "fraud"}\n'
         b'{"actual": "fraud", "m": "fraud", "s": 2}\n', asked="missing"),
    # Examples that occur twice in a model are not paired by the order of the rows.
    Case("csv", b"id,model,actual,m\n1,a,ok,ok\n1,b,ok,fraud\n2,a,fraud,ok\n2,b,fraud,fraud\n"
         b"2,a,fraud,fraud\n2,b,fraud,ok\n", asked="long"),
    # Commas before three digits are decimal if another number with a comma shows it.
    Case("comma", b"actual;s\nok;1,234\nfraud;1,5\n", "folder", "scores"),
    Case("comma", b"actual;s\nok;1,234\nfraud;2,345\n", "file", "scores"),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "content"), CORPUS)
def test_files_that_were_read_wrongly_once(kind, content, way, tmp_path):
    check(Case(kind, content, way), tmp_path)


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: f"{case.kind} {case.asked} {case.way}")
def test_files_of_which_other_things_were_read_wrongly_once(case, tmp_path):
    check(case, tmp_path)


@pytest.mark.parametrize("way", ["file", "folder"])
def test_a_null_far_into_json_lines_is_refused(way, tmp_path):
    """Where pyarrow begins to read anew it would end the process."""
    row = b'{"actual": "ok", "m": "ok"}\n'
    content = row * (2 * (1 << 20) // len(row)) + b"null\n" + row
    assert counted(Case("jsonl", content, way), tmp_path) == REFUSED


@pytest.mark.parametrize("levels", [MOST_LEVELS, 25_000])
@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"x":', "}"), ("[\n", "]")])
@pytest.mark.parametrize("way", ["file", "folder"])
def test_deep_nesting_in_json_lines_is_refused(opening, closing, way, levels, tmp_path):
    """pyarrow would end the process."""
    row = b'{"actual": "ok", "m": "ok"}\n'
    inner = opening * levels + "1" + closing * levels
    deep = f'{{"actual": "ok", "m": "ok", "x": {inner}}}\n'.encode()
    assert counted(Case("jsonl", row * 500 + deep + row, way), tmp_path) == REFUSED


@pytest.mark.parametrize(
    "row",
    [
        '{"a": ' + "[" * 199 + "]" * 199 + "}",
        '{"a": ["' + r"[\"" * 500 + r'\\", 1]}',
        '{"a": [' + "{}, " * 500 + "{}]}",
        " ".join(['{"a": [{}]}'] * 500),
    ],
)
def test_json_lines_with_many_brackets_that_are_not_deep_are_not_refused(row):
    check_depth(f"{row}\n".encode() * 9, ("a.jsonl", 0))


def test_the_line_of_deep_nesting_is_named():
    rows = b'{"a": "[\\"["}\n' * 300 + b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}\n"
    with pytest.raises(FileError, match=r"a\.jsonl, line 1,301: expected at most 200 levels"):
        check_depth(rows, ("a.jsonl", 1000))


@pytest.mark.parametrize("asked", [each for each in QUESTIONS if each != "join"])
@pytest.mark.parametrize("kind", ENDINGS)
def test_files_with_nothing_wrong_are_counted(kind, asked, tmp_path):
    for way in ways_of(kind, asked):
        case = Case(kind, good(kind, asked=asked), way, asked)
        assert check(case, tmp_path) == COUNTED, way
        assert counted(case, tmp_path), way


@pytest.mark.parametrize("kinds", [("csv", "csv"), ("csv", "jsonl"), ("parquet", "csv")])
def test_files_with_nothing_wrong_are_joined(kinds, tmp_path):
    one, other = good(kinds[0], asked="join"), good(kinds[1], asked="join", names=SECOND)
    assert check(Case("+".join(kinds), (one, other), asked="join"), tmp_path) == COUNTED


@pytest.mark.parametrize("kind", COUNT_FILES)
def test_count_files_with_nothing_wrong_are_merged(kind, tmp_path):
    assert check(Case(kind, good_counts(kind)), tmp_path) == COUNTED


def test_right_counts_are_those_of_the_rows():
    """What other counts are compared with, here, is counted in a third way."""
    pairs = Counter(("decisions", *pair) for pair in PAIRS)
    assert right_counts("decisions") == pairs
    weights = right_counts("weights")
    assert weights["decisions", "fraud", "fraud"] == 3 * 2.5
    assert weights["scores", "ok", "fraud", 0.5] == 3 * 0.5
    assert right_counts("missing")["scores", "fraud", "fraud", 0.9] == 1  # two of three are dropped


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases)
def test_broken_files_are_refused_or_read_as_others_read_them(tmp_path, case):
    check(case, tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(count_files)
def test_broken_count_files_are_refused(tmp_path, case):
    check(case, tmp_path)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_part_of_a_folder_that_is_left_out_is_seen(kind, tmp_path, monkeypatch):
    """Of a folder whose other part is counted, the check must not take the rest for refused."""
    wrong = good(kind)[:-5]
    only = mock.Mock(return_value=right_counts("decisions"))
    monkeypatch.setattr("tests._helpers.broken_checks.counted", only)
    with pytest.raises(AssertionError):
        check(Case(kind, wrong, "folder"), tmp_path)


def test_polars_may_end_or_refuse():
    rows = in_polars("parquet", good("parquet"), ["actual", "m"])
    assert rows == PAIRS
    assert in_polars("parquet", b"PAR1", ["actual"]) == UNKNOWN
    in_polars._process.kill()  # noqa: SLF001 - as a broken file would
    found = in_polars("arrow", good("arrow"), ["actual", "m"])
    assert found in (PAIRS, UNKNOWN)  # the process may or may not have ended by now
    assert in_polars("arrow", good("arrow"), ["actual", "m"]) == PAIRS


@pytest.mark.parametrize("stated", [b"\x00", b"\x0a"], ids=["none", "fewer"])
@pytest.mark.parametrize("after", [b"\x19", b"&"], ids=["of the file", "of a group"])
@pytest.mark.parametrize("way", WAYS)
def test_parquet_files_of_another_number_of_rows_are_refused(way, after, stated, tmp_path):
    """The number stands in the file twice, for the whole and for each group of rows."""
    content = good("parquet")
    place = content.index(b"\x16\x1e" + after)  # 15 rows, and the field that follows
    changed = content[: place + 1] + stated + content[place + 2 :]
    assert counted(Case("parquet", changed, way), tmp_path) == REFUSED


@pytest.mark.parametrize("way", WAYS)
def test_parquet_files_that_would_end_the_process_are_refused(way, tmp_path):
    """A column that is said to have no missing values has statistics of some."""
    content = good("parquet")
    place = content.index(b"\x15\x0c\x25\x02\x18\x01m") + 3
    changed = content[:place] + b"\x00" + content[place + 1 :]
    assert counted(Case("parquet", changed, way), tmp_path) == REFUSED


@pytest.mark.parametrize("way", WAYS)
def test_parquet_files_that_name_a_column_in_two_ways_are_refused(way, tmp_path):
    """A name is in the schema, and with each group of rows."""
    content = good("parquet")
    place = content.index(b"\x18\x06actual") + 2
    changed = content[:place] + b"b" + content[place + 1 :]
    assert counted(Case("parquet", changed, way), tmp_path) == REFUSED


@pytest.mark.parametrize("way", WAYS)
def test_parquet_files_with_names_that_are_not_utf_8_are_refused(way, tmp_path):
    changed = good("parquet").replace(b"note", b"\x80ote")
    assert counted(Case("parquet", changed, way), tmp_path) == REFUSED


@pytest.mark.parametrize("cut", [-1, -5, -12, 20])
def test_cut_gzip_is_refused(cut, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(good("csv") * 50)[:cut])
    assert run(["count", str(path), *options_of("decisions")], tmp_path) == REFUSED
