"""How many examples weighted ones are worth."""

from __future__ import annotations

from typing import Any

from stakes.errors import InputError


def effective_size(total: Any, squares: Any) -> float:
    """Return the number of examples, or (Σw)²/Σw², what weighted ones are worth (Kish 1965)."""
    if squares is None:
        return float(total)
    if not squares:
        raise InputError(
            "sample_weight: weights this small cannot be squared and added up. Divide all weights "
            "by the largest."
        )
    return float(total) ** 2 / float(squares)
