"""Differential tests of broken files: an error of ours, or what a plain reader counts."""

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests._helpers.broken_files import (
    GOOD,
    REFUSED,
    WAYS,
    broken,
    cases,
    check,
    check_counts,
    counted,
    good,
    good_counts,
)

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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "content"), CORPUS)
def test_files_that_were_read_wrongly_once(kind, content, way, tmp_path):
    check((kind, content, way), tmp_path)


@pytest.mark.parametrize("way", ["file", "folder"])
def test_a_null_far_into_json_lines_is_refused(way, tmp_path):
    """Where pyarrow begins to read anew it would end the process."""
    row = b'{"actual": "ok", "m": "ok"}\n'
    content = row * (2 * (1 << 20) // len(row)) + b"null\n" + row
    assert counted("jsonl", content, way, tmp_path) == REFUSED


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["csv", "quoted", "jsonl", "parquet"])
def test_files_with_nothing_wrong_are_counted(kind, way, tmp_path):
    assert counted(kind, good(kind), way, tmp_path) == GOOD


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases)
def test_broken_files_are_refused_or_read_as_others_read_them(tmp_path, case):
    check(case, tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_broken_count_files_are_refused(tmp_path, data):
    check_counts(data.draw(broken(good_counts(tmp_path))), tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_parquet_files_of_another_number_of_rows_are_refused(way, tmp_path):
    """The number stands in the file twice, for the whole and for each group of rows."""
    content = good("parquet")
    place = content.index(b"\x16\x1e\x19")  # 15 rows, then the list of groups
    changed = content[: place + 1] + b"\x00" + content[place + 2 :]
    assert counted("parquet", changed, way, tmp_path) == REFUSED


@pytest.mark.parametrize("way", WAYS)
def test_parquet_files_that_would_end_the_process_are_refused(way, tmp_path):
    """A column that is said to have no missing values has statistics of some."""
    content = good("parquet")
    place = content.index(b"\x15\x0c\x25\x02\x18\x01m") + 3
    changed = content[:place] + b"\x00" + content[place + 1 :]
    assert counted("parquet", changed, way, tmp_path) == REFUSED


@pytest.mark.parametrize("way", WAYS)
def test_parquet_files_that_name_a_column_in_two_ways_are_refused(way, tmp_path):
    """A name is in the schema, and with each group of rows."""
    content = good("parquet")
    place = content.index(b"\x18\x06actual") + 2
    changed = content[:place] + b"b" + content[place + 1 :]
    assert counted("parquet", changed, way, tmp_path) == REFUSED


@pytest.mark.parametrize("way", WAYS)
def test_parquet_files_with_names_that_are_not_utf_8_are_refused(way, tmp_path):
    changed = good("parquet").replace(b"note", b"\x80ote")
    assert counted("parquet", changed, way, tmp_path) == REFUSED


@pytest.mark.parametrize("cut", [-1, -5, -12, 20])
def test_cut_gzip_is_refused(cut, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(good("csv") * 50)[:cut])
    from tests._helpers.broken_files import COUNT, run

    assert run(["count", str(path), *COUNT], tmp_path) == REFUSED
