"""The manifest of an audit: a file with the plan, next to the file of the labels."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stakes.audit._allocation import Options, Prices, Stratum
from stakes.audit._draw import Drawn, PoolColumns
from stakes.audit._reading import Labelled
from stakes.costs import CostMatrix
from stakes.errors import FileError
from stakes.read.checksums import check_unchanged, checksum

FORMAT = "stakes-audit/1"


def manifest_name(path: Path) -> Path:
    """Return the name of the manifest of a label file."""
    if not path.name:
        raise FileError(f"{path}", "expected a label file.")
    return path.with_name(f"{path.name}.manifest.json")


def manifest_text(
    options: Options,
    strata: Sequence[Stratum],
    drawn: Sequence[Drawn],
    earlier: Sequence[Labelled],
) -> str:
    """Return a plan as JSON."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "stakes": version("stakes"),
        "seed": options.seed,
        "confidence": options.confidence,
        "looks": options.looks,
        "anytime": options.anytime,
        "unit": options.unit,
        "pool": {"rows": options.rows, "checksum": options.checksum},
        "columns": asdict(options.columns),
        "costs": options.prices.costs.to_dict(),
        "positive": options.prices.positive,
        "by_amount": list(options.prices.by_amount),
        "strata": [_finite(asdict(each)) for each in strata],
        "rows": [[each.key, each.stratum, each.amount] for each in drawn],
        "earlier": [
            [each.key, each.stratum, list(each.decided), each.amount, each.actual]
            for each in earlier
        ],
    }
    plain_values = json.loads(json.dumps(content, allow_nan=False))
    content["checksum"] = checksum(plain_values)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _finite(stratum: dict[str, Any]) -> dict[str, Any]:
    """Return a stratum with null in place of infinite ends, which JSON does not have."""
    for name in ("scores", "amounts"):
        stratum[name] = [each if math.isfinite(each) else None for each in stratum[name]]
    return stratum


def plan_of(content: Any, source: str, make: Callable[..., Any]) -> Any:
    """Return the plan of a manifest, built by `make` from its parts."""
    if not isinstance(content, dict) or not str(content.get("format", "")).startswith(
        "stakes-audit/"
    ):
        raise FileError(source, "not a manifest of an audit.")
    if content["format"] != FORMAT:
        raise FileError(
            source,
            f"a manifest of the version {content['format']!r}; this version of stakes reads "
            f"{FORMAT!r}.",
            "Read it with the version that wrote it, "
            f"stakes {content.get('stakes', 'of that time')}.",
        )
    written = content.pop("checksum", None)
    check_unchanged(written, checksum(content), source, "the manifest")
    try:
        return make(**_parts(content))
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(
            source, f"this is no manifest that stakes wrote: {type(error).__name__}: {error}."
        ) from error


def _parts(content: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that a plan is built from."""
    columns = content["columns"]
    prices = Prices(
        CostMatrix(**content["costs"]), content["positive"], tuple(content["by_amount"])
    )
    options = Options(
        columns=PoolColumns(
            tuple(columns["decisions"]),
            columns["score"],
            tuple(columns["judges"]),
            columns["amount"],
            columns["key"],
        ),
        prices=prices,
        confidence=content["confidence"],
        looks=content["looks"],
        anytime=content["anytime"],
        unit=content["unit"],
        seed=content["seed"],
        rows=content["pool"]["rows"],
        checksum=content["pool"]["checksum"],
    )
    return {
        "strata": tuple(_stratum_of(each) for each in content["strata"]),
        "options": options,
        "earlier": tuple(
            Labelled(key, stratum, tuple(decided), amount, actual)
            for key, stratum, decided, amount, actual in content["earlier"]
        ),
        "drawn": tuple(Drawn(key, stratum, amount, ()) for key, stratum, amount in content["rows"]),
    }


def _stratum_of(given: dict[str, Any]) -> Stratum:
    given = dict(given)
    for name, least in (("scores", -math.inf), ("amounts", 0.0)):
        low, high = given[name]
        given[name] = (least if low is None else low, math.inf if high is None else high)
    given["decided"] = tuple(given["decided"])
    given["verdicts"] = tuple(tuple(each) for each in given["verdicts"])
    return Stratum(**given)
