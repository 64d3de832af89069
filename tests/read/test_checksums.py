import hashlib

import numpy as np
import pytest

from stakes.errors import FileError
from stakes.read.checksums import check_unchanged, checksum, json_content


def test_the_checksum_is_that_of_what_is_said_by_the_documented_rule():
    header = {"b": [1, "ü"], "a": None}
    arrays = [np.array([[1, 2]], dtype=np.int32), np.array([0.5])]
    by_hand = b'{"a":null,"b":[1,"\\u00fc"]}'
    by_hand += b"(1, 2)" + (1).to_bytes(8, "little") + (2).to_bytes(8, "little")
    by_hand += b"(1,)" + np.float64(0.5).tobytes()
    assert checksum(header, arrays) == f"sha256:{hashlib.sha256(by_hand).hexdigest()}"


def test_the_checksum_does_not_depend_on_how_numbers_are_held():
    numbers = np.arange(6).reshape(2, 3)
    held = [numbers, numbers.astype(np.int16), np.asfortranarray(numbers), numbers.astype(">i8")]
    assert len({checksum({}, [each]) for each in held}) == 1
    assert checksum({}, [numbers]) != checksum({}, [numbers.T])
    assert checksum({}, [numbers]) != checksum({}, [numbers.ravel()])
    assert checksum({"a": 1, "b": 2}) == checksum({"b": 2, "a": 1}) != checksum({"a": 1, "b": 3})


def test_what_was_changed_is_refused():
    check_unchanged("sha256:1", "sha256:1", "a.json", "the file")
    with pytest.raises(FileError, match=r"a\.json: the file was changed .*'sha256:1'.*'sha256:2'"):
        check_unchanged("sha256:1", "sha256:2", "a.json", "the file")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [1,', r"a\.json, line 1, column 10: not a list, because it is not JSON"),
        ("[" * 10**5, r"a\.json"),
        ("9" * 5000, r"a\.json: cannot be read as JSON: Exceeds the limit"),
    ],
)
def test_text_that_is_not_json(text, message):
    with pytest.raises(FileError, match=message):
        json_content(text, "a.json", "a list")
