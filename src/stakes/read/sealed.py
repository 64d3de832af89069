"""Files of counts that tell when they were cut short or edited: JSON with a checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.errors import FileError


def checksum(header: Mapping[str, Any], arrays: Iterable[NDArray[Any]] = ()) -> str:
    """Return the SHA-256 of plain values and of arrays of numbers.

    It depends on what a file says and not on how it is spaced, ordered or packed: the keys of the
    header are sorted, whole numbers are hashed as 64-bit integers, and others as 64-bit floats, the
    least significant byte first.
    """
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(f"{array.shape}".encode())
        plain = np.ascontiguousarray(array, "<f8" if array.dtype.kind == "f" else "<i8")
        digest.update(plain.data)
    return f"sha256:{digest.hexdigest()}"


def check_unchanged(said: Any, found: str, source: str, what: str) -> None:
    """Raise when a file does not hold what it held when its checksum was written."""
    if said != found:
        raise FileError(
            f"{source}: {what} was changed after it was written: its checksum is {said!r}, and "
            f"what it holds has {found!r}. Write or copy it again; do not edit it."
        )


def json_content(text: str, source: str, what: str) -> Any:
    """Read the JSON text of a file.

    Parameters
    ----------
    text : str
        The text.
    source : str
        The name of the file, for errors.
    what : str
        What it should be, such as "a count file".
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{source}, line {error.lineno}, column {error.colno}: not {what}, because it is "
            f"not JSON: {error.msg}. Was it cut short?"
        ) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"{source}: cannot be read as JSON: {error}.") from error
