"""How many decisions a cost is said for."""

from __future__ import annotations

from stakes.errors import InputError, InputTypeError


def check_volume(volume: float | None, per: str | None) -> None:
    """Raise when a number of decisions makes no sense, or a time is given without one."""
    if volume is None and per is not None:
        raise InputTypeError("--per: it says in what time --volume decisions are taken; give both.")
    if volume is not None and not 0 < volume < float("inf"):
        raise InputError(f"--volume: expected a positive number of decisions, got {volume:g}.")


def volume_words(volume: float, per: str | None) -> str:
    """Say how many decisions, and in what time."""
    from stakes._table import number

    return f"{number(volume)} decisions" + (f" a {per}" if per else "")
