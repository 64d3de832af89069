"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of stakes that led here."""
    depth, frame = 2, sys._getframe(1)  # noqa: SLF001 - the way to see who called
    while frame.f_back and str(frame.f_globals.get("__name__", "")).split(".")[0] == "stakes":
        frame = frame.f_back
        depth += 1
    warnings.warn(message, category, stacklevel=depth)
