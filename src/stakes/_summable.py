"""What can be added up can be handed to `sum`."""

from __future__ import annotations

from typing import Self


class Summable:
    """A kind of table or total that has ``+``, and begins from nothing when it is summed."""

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented
