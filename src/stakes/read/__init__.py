"""File input and output, all of which is in this package."""

from stakes.read.files import (
    append_binary,
    as_path,
    cached_text,
    check_writable,
    discard,
    identities,
    keep_numbers,
    read_text,
    real_path,
    write_binary,
    write_text,
    write_together,
)

__all__ = [
    "append_binary",
    "as_path",
    "cached_text",
    "check_writable",
    "discard",
    "identities",
    "keep_numbers",
    "read_text",
    "real_path",
    "write_binary",
    "write_text",
    "write_together",
]
