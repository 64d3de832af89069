import pyarrow as pa
import pytest
from pyarrow import parquet

from stakes.errors import FileError
from stakes.read.checksums import has_metadata, parquet_bytes, read_parquet

TABLE = pa.table({"a": [1, 2], "b": ["x", None]})


def test_what_is_said_is_read_with_the_table(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet_bytes(TABLE, {"labels": ["ü", 1, 2.5, True]}))
    table, said = read_parquet(path, "a thing")
    assert table.equals(TABLE)
    assert said == {"labels": ["ü", 1, 2.5, True]}
    assert has_metadata(path)


def test_the_same_table_is_the_same_bytes():
    assert parquet_bytes(TABLE, {"a": 1}) == parquet_bytes(TABLE, {"a": 1})


def test_other_files_say_nothing(tmp_path):
    path = tmp_path / "a.parquet"
    assert not has_metadata(path)
    parquet.write_table(TABLE, path)
    assert not has_metadata(path)
    assert read_parquet(path, "a thing") == (TABLE, None)
    path.write_text("text")
    assert not has_metadata(path)
    with pytest.raises(FileError, match=r"a\.parquet: not a thing, because it cannot be read as a"):
        read_parquet(path, "a thing")
    with pytest.raises(FileError, match=r"\. Make it anew\.$"):
        read_parquet(path, "a thing", "Make it anew.")
    with pytest.raises(FileError, match="cannot be read"):
        read_parquet(tmp_path, "a thing")
    with pytest.raises(FileError, match="NUL"):
        read_parquet("a\0.parquet", "a thing")


def test_a_file_may_be_read_already():
    content = parquet_bytes(TABLE, {"a": 1})
    assert has_metadata("-", content)
    assert not has_metadata("-", content[:-20])
    table, said = read_parquet("standard input", "a thing", content=content)
    assert (table.equals(TABLE), said) == (True, {"a": 1})
    with pytest.raises(FileError, match="standard input: not a thing"):
        read_parquet("standard input", "a thing", content=content[:-20])
