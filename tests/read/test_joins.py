import pyarrow as pa
import pytest

from stakes.errors import FileError
from stakes.read.joins import joined
from stakes.read.tables import FileRows

FIRST = pa.table({"id": ["a", "b", "c"], "actual": ["x", "y", "x"], "pred": ["x", "x", "x"]})
SECOND = pa.table({"id": ["c", "a", "b"], "actual": ["x", "x", "y"], "pred": ["y", "x", "x"]})


def join(tables, key, actual):
    return joined([FileRows(table, name) for name, table in tables], key, actual)


def test_rows_are_found_by_their_names():
    result = join([("one/m.csv", FIRST), ("n.csv.gz", SECOND)], "id", "actual")
    assert result.to_pydict() == {
        "id": ["a", "b", "c"],
        "actual": ["x", "y", "x"],
        "m_pred": ["x", "x", "x"],
        "n_pred": ["x", "x", "y"],
    }


def test_files_of_the_same_name_are_numbered():
    result = join([("one/m.csv", FIRST), ("two/m.csv", SECOND)], "id", "actual")
    assert result.column_names == ["id", "actual", "1_pred", "2_pred"]


def test_three_files_and_other_columns():
    third = pa.table({"id": ["b", "c", "a"], "svm": ["y", "y", "y"], "extra": [[1], [2], [3]]})
    result = join([("m", FIRST), ("n", SECOND.drop_columns("actual")), ("o", third)], "id", "x")
    assert result.column_names == ["id", "actual", "m_pred", "n_pred", "svm", "extra"]
    assert result.column("extra").to_pylist() == [[3], [1], [2]]


@pytest.mark.parametrize("kind", [pa.int32(), pa.dictionary(pa.int8(), pa.string())])
def test_names_may_be_numbers_in_one_file_and_text_in_another(kind):
    numbers = pa.array(["3", "1", "2"]).cast(pa.int32() if kind == pa.int32() else pa.string())
    second = SECOND.set_column(0, "id", numbers.cast(kind))
    first = FIRST.set_column(0, "id", pa.array(["1", "2", "3"]))
    result = join([("m", first), ("n", second)], "id", "actual")
    assert result.column("n_pred").to_pylist() == ["x", "x", "y"]
    again = join([("m", second), ("n", second)], "id", "actual")
    assert again.column_names == ["id", "actual", "pred"]


def test_names_that_are_lists():
    table = pa.table({"id": [[1], [2]], "actual": ["x", "y"]})
    with pytest.raises(FileError, match=r"m, column 'id': expected names of examples.*list"):
        join([("m", table), ("n", table)], "id", "actual")


def test_columns_of_different_kinds_differ():
    second = pa.table({"id": ["a", "b", "c"], "pred": [[1], [2], [3]]})
    result = join([("m", FIRST), ("n", second)], "id", "actual")
    assert result.column_names == ["id", "actual", "m_pred", "n_pred"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_name_that_another_column_has_is_refused(order):
    """The decisions of one model would stand under the name of another."""
    other = SECOND.append_column("m_pred", pa.array(["y", "y", "y"]))
    files = [("m.csv", FIRST), ("n.csv", other)][::order]
    says = r"m\.csv and n\.csv: .*'m_pred': 'pred' of m\.csv and 'm_pred' of n\.csv\. Rename"
    with pytest.raises(FileError, match=says):
        join(files, "id", "actual")


def test_a_name_that_a_column_of_the_same_file_has_is_refused():
    one = FIRST.append_column("m_pred", pa.array(["y", "y", "y"]))
    with pytest.raises(FileError, match=r"^m\.csv: joined, two columns .* 'm_pred' of m\.csv"):
        join([("m.csv", one), ("n.csv", SECOND)], "id", "actual")


def test_names_that_two_files_make_alike_are_refused():
    one = FIRST.append_column("b_pred", pa.array(["x", "y", "y"]))
    other = SECOND.append_column("b_pred", pa.array(["y", "y", "y"]))
    says = r"'a_b_pred': 'b_pred' of a\.csv and 'pred' of a_b\.csv"
    with pytest.raises(FileError, match=says):
        join([("a.csv", one), ("a_b.csv", other)], "id", "actual")
