"""Tables of results as pandas data frames, for those who have pandas."""

from __future__ import annotations

from typing import Any

from stakes.errors import MissingExtraError


def pandas() -> Any:
    """Return pandas, or say how to get it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "frame needs pandas, which is not installed: pip install pandas"
        ) from error
    return pd


def data_frame(rows: Any) -> Any:
    """Return a data frame of a mapping of columns, or of a list of rows."""
    return pandas().DataFrame(rows)
