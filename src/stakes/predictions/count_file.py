"""Count files: counts as JSON or Parquet with a versioned layout, to be merged and read again.

As JSON:

- ``schema``: ``"stakes-counts/1"``.
- ``actual``: the column that had the actual classes.
- ``labels``, ``decisions``: the classes, and what can be decided.
- ``models``: an object for each model with its ``name``, its columns of ``decisions`` and
  ``scores``, and ``decided_from``, the score from which on the positive class was decided; null
  for what it has not.
- ``joint``: ``models``, and a row for each combination of class and decisions that came: ``actual``
  (positions among labels), ``decided`` (for each model, positions among decisions), ``counts``.
- ``scores``: null, or ``models``, ``pos_label``, ``neg_label``, ``thresholds`` (each model's
  distinct scores, highest first; "inf" and "-inf" are text), and a row for each combination of
  class and scores: ``ranks`` (for each model, positions among its thresholds), ``positive`` (0 or
  1) and ``amounts`` (null if all are 1).
- ``checksum``: of all this; a file that was edited no longer has it. Files that other software
  makes may leave it out.

Rows are in one order, so that the merged counts of parts are, byte by byte, those of the whole.

As Parquet, with a row for each combination that occurs:

========================== ==================================================================
column                     holds
========================== ==================================================================
``part``                   "decisions" or "scores": which of the two the row counts
``actual``                 the position of the class among the labels
``decided: <model>``       the position of the model's decision among the decisions, in rows of
                           decisions
``score: <model>``         the model's score, in rows of scores
``count``                  how many examples the row stands for
========================== ==================================================================

What there is besides rows, and the checksum, is JSON in the schema's metadata under ``stakes``.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import as_axes
from stakes._core.values import readonly
from stakes.counts import JointConfusion
from stakes.counts._two_classes import amounts_of
from stakes.errors import FileError, LabelError, StakesError
from stakes.predictions.roles import Model
from stakes.predictions.scores import JointScores
from stakes.predictions.tally import TOO_MANY, Tally
from stakes.read import read_text
from stakes.read.checksums import (
    check_unchanged,
    checksum,
    has_metadata,
    json_content,
    parquet_bytes,
    read_parquet,
)
from stakes.read.tables import STANDARD_INPUT, file_kind, pyarrow, source_name

SCHEMA = "stakes-counts/1"

SCHEMA_SHOWS = b'"stakes-counts/'
"""What a count file in JSON holds near its beginning."""

PARQUET = b"PAR1"
"""What a Parquet file begins with."""

DECISIONS, SCORES = "decisions", "scores"


def is_count_file(path: str, piped: bytes | None = None) -> bool:
    """Tell whether a file has counts, by its name and how it begins.

    Parameters
    ----------
    path : str
        The file; "-" is standard input.
    piped : bytes, optional
        What standard input holds.
    """
    if path == STANDARD_INPUT:
        content = piped or b""
        start = content[:200].lstrip(b"\xef\xbb\xbf").lstrip()
        if start.startswith(PARQUET):
            return has_metadata(path, content)
        return start.startswith(b"{") and SCHEMA_SHOWS in start
    place = Path(path)
    if file_kind(place) == "parquet":
        return has_metadata(path)
    return place.suffix.lower() == ".json"


def read_count_file(path: str, piped: bytes | None = None) -> Tally:
    """Read the counts of a count file.

    Parameters
    ----------
    path : str
        The file, whose name tells its format.
    piped : bytes, optional
        What the file holds, if it is standard input.
    """
    if piped is None and file_kind(Path(path)) == "parquet":
        return counts_from_parquet(path)
    if piped is not None and piped.startswith(PARQUET):
        return counts_from_parquet(source_name(path), piped)
    text = read_text(path) if piped is None else piped.decode("utf-8-sig", errors="replace")
    return counts_from_text(text, source_name(path))


def counts_text(counts: Tally) -> str:
    """Write counts as the text of a count file."""
    joint = counts.joint
    content = _header(counts)
    content["joint"] |= {
        "actual": joint.actual.tolist(),
        "decided": joint.decided.T.tolist(),
        "counts": joint.counts.tolist(),
    }
    if counts.scores is not None:
        content["scores"] |= _scores_dict(counts.scores.compressed())
    content["checksum"] = counts_checksum(counts)
    lines = [f"{json.dumps(key)}: {_json(value)}" for key, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _header(counts: Tally) -> dict[str, Any]:
    """Return what a count file has besides rows."""
    joint, scores = counts.joint, counts.scores
    for label in (*joint.labels, *joint.decisions):
        if not isinstance(label, str | int | float):
            raise LabelError(
                "labels",
                f"a count file holds text and numbers only, got {label!r} "
                f"({type(label).__name__}).",
            )
    return {
        "schema": SCHEMA,
        "actual": counts.actual,
        "labels": list(joint.labels),
        "decisions": list(joint.decisions),
        "models": [
            {
                "name": model.name,
                "decisions": model.decisions,
                "scores": model.scores,
                "decided_from": counts.decided_from.get(model.name),
            }
            for model in counts.models
        ],
        "joint": {"models": list(joint.names)},
        "scores": None
        if scores is None
        else {
            "models": list(scores.names),
            "pos_label": scores.pos_label,
            "neg_label": scores.neg_label,
        },
    }


def counts_checksum(counts: Tally) -> str:
    """Return the checksum of counts, which is the same in files of all formats.

    It is that of what the file has besides rows and, of the rows in their order, the classes, the
    decisions of each model and the counts; then of the rows of scores the classes (1 for the
    positive one), the amounts and the scores of each model.
    """
    joint = counts.joint
    arrays: list[NDArray[Any]] = [joint.actual, joint.decided.T, joint.counts]
    if counts.scores is not None:
        scores = counts.scores.compressed()
        amounts = amounts_of(scores.amounts, len(scores.positive))
        values = [
            cuts[ranks] + 0.0  # minus zero is zero
            for cuts, ranks in zip(scores.thresholds, scores.ranks, strict=True)
        ]
        arrays += [scores.positive, amounts, *values]
    return checksum(_header(counts), arrays)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _scores_dict(scores: JointScores) -> dict[str, Any]:
    return {
        "thresholds": [
            [each if math.isfinite(each) else str(each) for each in values.tolist()]
            for values in scores.thresholds
        ],
        "ranks": scores.ranks.tolist(),
        "positive": scores.positive.astype(int).tolist(),
        "amounts": None if scores.amounts is None else scores.amounts.tolist(),
    }


def counts_from_text(text: str, source: str) -> Tally:
    """Read the text of a count file.

    Parameters
    ----------
    text : str
        The text.
    source : str
        The name of the file, for errors.
    """
    content = json_content(text, source, "a count file")
    return _from_content(content, source)


def _from_content(content: Any, source: str) -> Tally:
    """Take what a count file holds, in lists or arrays, as counts; the checksum must be right."""
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        if schema is not None:
            raise FileError(
                source,
                f"expected a count file with the schema {SCHEMA!r}; its schema is {schema!r}.",
            )
        raise FileError(
            source,
            "expected a count file.",
            "Write predictions in JSON with an object on each line, in a file named .jsonl.",
        )
    try:
        counts = _tally(content)
    except KeyError as error:
        raise FileError(source, f"the count file has no {error.args[0]!r}.") from error
    except (StakesError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileError(source, f"the count file is damaged: {error}") from error
    if "checksum" in content:
        check_unchanged(content["checksum"], counts_checksum(counts), source, "the count file")
    return counts


def _tally(content: dict[str, Any]) -> Tally:
    labels, decisions = as_axes(content["labels"], content["decisions"])
    models = content["models"]
    given = content["joint"]
    names = _names(given["models"], models)
    counts = _whole(given["counts"], "counts", (-1,))
    size = len(counts)
    many = counts.sum(dtype=np.float64) > TOO_MANY / 2
    if many and (total := sum(counts.tolist())) >= TOO_MANY:
        raise ValueError(f"counts: they add up to {total:,}, expected less than 2**63 examples.")
    actual = _whole(given["actual"], "actual", (size,), len(labels))
    decided = _whole(given["decided"], "decided", (len(names), size), len(decisions))
    joint = JointConfusion.from_codes(
        actual,
        dict(zip(names, decided, strict=True)),
        labels=labels,
        decisions=decisions,
        amounts=counts,
    )
    if not joint.n:
        raise ValueError("it counts no examples.")
    return Tally(
        str(content["actual"]),
        tuple(Model(str(each["name"]), each["decisions"], each["scores"]) for each in models),
        joint,
        None if content["scores"] is None else _scores(content["scores"], models, joint),
        {
            str(each["name"]): float(each["decided_from"])
            for each in models
            if each["decided_from"] is not None
        },
    )


def _scores(given: dict[str, Any], models: Any, joint: JointConfusion) -> JointScores:
    names = _names(given["models"], models)
    thresholds = tuple(np.array([float(each) for each in one]) for one in given["thresholds"])
    for values in thresholds:
        if np.isnan(values).any() or (values[1:] >= values[:-1]).any():
            raise ValueError("thresholds: expected distinct scores, highest first.")
    positive = _whole(given["positive"], "positive", (-1,), 2)
    ranks = _whole(given["ranks"], "ranks", (len(names), len(positive)))
    for each, values in zip(ranks, thresholds, strict=True):
        if each.max() >= len(values):
            raise ValueError(f"ranks: expected positions among {len(values)} scores.")
    amounts = None
    if given["amounts"] is not None:
        amounts = readonly(_whole(given["amounts"], "amounts", (len(positive),)))
    if (len(positive) if amounts is None else amounts.sum()) != joint.n:
        raise ValueError(f"scores: expected those of all {joint.n} examples.")
    return JointScores(
        names,
        tuple(map(readonly, thresholds)),
        readonly(ranks.astype(np.int32)),
        readonly(positive.astype(bool)),
        amounts,
        given["pos_label"],
        given["neg_label"],
    )


def _names(names: Any, models: Any) -> tuple[str, ...]:
    known = [str(each["name"]) for each in models]
    found = tuple(map(str, names))
    if len(set(found)) < len(found) or not set(found) <= set(known):
        raise ValueError(f"models: expected some of {known}, each once; got {list(found)}.")
    return found


def _whole(
    values: Any, name: str, shape: tuple[int, ...], below: int | None = None
) -> NDArray[np.int64]:
    """Check whole numbers that are not negative; -1 in the shape stands for any length but 0."""
    array = np.array(values)
    if array.size == 0 and 0 in shape:  # no model has decisions
        return np.empty(shape, dtype=np.int64)
    right = array.ndim == len(shape) and all(
        size == asked or (asked < 0 < size) for size, asked in zip(array.shape, shape, strict=True)
    )
    if not right or array.dtype.kind != "i":
        raise ValueError(f"{name}: expected whole numbers below 2**63, as many as there are rows.")
    if array.min() < 0 or (below is not None and array.max() >= below):
        most = "or more" if below is None else f"to {below - 1}"
        raise ValueError(f"{name}: expected numbers from 0 {most}.")
    return array.astype(np.int64)


# Parquet, whose rows become what a JSON file has.


def counts_bytes(counts: Tally) -> bytes:
    """Write counts as the bytes of a Parquet file."""
    pa = pyarrow()
    joint = counts.joint
    scores = None if counts.scores is None else counts.scores.compressed()
    rows = len(joint.counts), 0 if scores is None else len(scores.positive)

    def column(kind: Any, above: Any, below: Any) -> Any:
        parts = [
            pa.nulls(size, kind) if values is None else pa.array(values, kind)
            for values, size in zip((above, below), rows, strict=True)
        ]
        return pa.chunked_array(parts)

    parts = pa.array([DECISIONS] * rows[0] + [SCORES] * rows[1]).dictionary_encode()
    actual, amounts = np.empty(0, np.int32), np.empty(0, np.int64)
    if scores is not None:
        places = [joint.labels.index(each) for each in (scores.neg_label, scores.pos_label)]
        actual = np.array(places, dtype=np.int32)[scores.positive.astype(np.intp)]
        amounts = amounts_of(scores.amounts, rows[1])
    table = {"part": parts, "actual": column(pa.int32(), joint.actual, actual)}
    for name, decided in zip(joint.names, joint.decided.T, strict=True):
        table[f"decided: {name}"] = column(pa.int32(), decided, None)
    for place, name in enumerate(() if scores is None else scores.names):
        values = scores.thresholds[place][scores.ranks[place]]  # type: ignore[union-attr]
        table[f"score: {name}"] = column(pa.float64(), None, values)
    table["count"] = column(pa.int64(), joint.counts, amounts)
    content = _header(counts) | {"checksum": counts_checksum(counts)}
    return parquet_bytes(pa.table(table), content)


def counts_from_parquet(path: str | os.PathLike[str], file: bytes | None = None) -> Tally:
    """Read a Parquet count file.

    Parameters
    ----------
    path : path
        The file.
    file : bytes, optional
        What it holds, if it was read already.
    """
    table, content = read_parquet(path, "a count file", content=file)
    if not isinstance(content, dict) or "checksum" not in content:
        raise FileError(
            f"{path}",
            "expected a count file; this is another Parquet file.",
        )
    try:
        _add_rows(content, table)
    except KeyError as error:
        raise FileError(f"{path}", f"the count file has no {error.args[0]!r}.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path}", f"the count file is damaged: {error}") from error
    return _from_content(content, str(path))


def _add_rows(content: dict[str, Any], table: Any) -> None:
    """Put the rows where a JSON file has them."""
    from pyarrow import compute

    part = table["part"].cast(pyarrow().string())

    def values(name: str, of: str) -> NDArray[Any]:
        column = table[name].filter(compute.equal(part, of)).combine_chunks()
        return np.asarray(column.to_numpy(zero_copy_only=False))

    joint = content["joint"]
    joint |= {
        "actual": values("actual", DECISIONS),
        "decided": np.array([values(f"decided: {each}", DECISIONS) for each in joint["models"]]),
        "counts": values("count", DECISIONS),
    }
    scores = content["scores"]
    if scores is None:
        return
    ranked = [
        np.unique(-values(f"score: {each}", SCORES), return_inverse=True)
        for each in scores["models"]
    ]
    positive = content["labels"].index(scores["pos_label"])
    scores |= {
        "thresholds": [-negative for negative, _ in ranked],
        "ranks": np.array([ranks for _, ranks in ranked]),
        "positive": (values("actual", SCORES) == positive).astype(np.int64),
        "amounts": values("count", SCORES),
    }
