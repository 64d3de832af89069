"""Count files as Parquet: the same content as JSON, a row for each combination that came.

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

What is said besides rows, and the checksum, is JSON in the schema's metadata under ``stakes``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.counts._two_classes import amounts_of
from stakes.errors import FileError
from stakes.read.checksums import parquet_bytes, read_parquet
from stakes.read.tables import pyarrow
from stakes.study.counted import Counted
from stakes.study.counts_file import counts_checksum, counts_from_content, header

DECISIONS, SCORES = "decisions", "scores"


def counts_bytes(counts: Counted) -> bytes:
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
    content = header(counts) | {"checksum": counts_checksum(counts)}
    return parquet_bytes(pa.table(table), content)


def counts_from_parquet(path: str | os.PathLike[str], file: bytes | None = None) -> Counted:
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
            f"{path}: expected a count file, written by 'stakes count'; this is another Parquet "
            "file."
        )
    try:
        _add_rows(content, table)
    except KeyError as error:
        raise FileError(f"{path}: the count file has no {error.args[0]!r}.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path}: the count file is damaged: {error}") from error
    return counts_from_content(content, str(path))


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
