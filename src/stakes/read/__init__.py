"""Files in and out: the only part of stakes that touches them."""

from stakes.read.files import read_text, write_text

__all__ = ["read_text", "write_text"]
