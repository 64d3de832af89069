"""Count files: counts as JSON with a versioned layout, to be merged and read again.

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
The same as a Parquet file is in `stakes.study.counts_parquet`.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import as_axes
from stakes._core.values import readonly
from stakes.counts import JointConfusion
from stakes.counts._two_classes import amounts_of
from stakes.errors import FileError, LabelError, StakesError
from stakes.read.checksums import check_unchanged, checksum, json_content
from stakes.study.counted import TOO_MANY, Counted
from stakes.study.roles import Model
from stakes.study.scores import JointScores

SCHEMA = "stakes-counts/1"


def counts_text(counts: Counted) -> str:
    """Write counts as the text of a count file."""
    joint = counts.joint
    content = header(counts)
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


def header(counts: Counted) -> dict[str, Any]:
    """Return what a count file says besides rows."""
    joint, scores = counts.joint, counts.scores
    for label in (*joint.labels, *joint.decisions):
        if not isinstance(label, str | int | float):
            raise LabelError(
                f"labels: a count file holds text and numbers only, got {label!r} "
                f"({type(label).__name__})."
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


def counts_checksum(counts: Counted) -> str:
    """Return the checksum of counts, which is the same in files of all formats.

    It is that of what the file says besides rows and, of the rows in their order, the classes, the
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
    return checksum(header(counts), arrays)


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


def counts_from_text(text: str, source: str) -> Counted:
    """Read the text of a count file.

    Parameters
    ----------
    text : str
        The text.
    source : str
        The name of the file, for errors.
    """
    content = json_content(text, source, "a count file")
    return counts_from_content(content, source)


def counts_from_content(content: Any, source: str) -> Counted:
    """Take what a count file says, in lists or arrays, as counts; the checksum must be right."""
    said = content.get("schema") if isinstance(content, dict) else None
    if said != SCHEMA:
        raise FileError(
            f"{source}: expected a count file, written by 'stakes count', with the schema "
            f"{SCHEMA!r}; its schema is {said!r}."
            if said is not None
            else f"{source}: expected a count file, written by 'stakes count'. Predictions in JSON "
            "must have an object on each line, in a file named .jsonl."
        )
    try:
        counts = _counted(content)
    except KeyError as error:
        raise FileError(f"{source}: the count file has no {error.args[0]!r}.") from error
    except (StakesError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileError(f"{source}: the count file is damaged: {error}") from error
    if "checksum" in content:
        check_unchanged(content["checksum"], counts_checksum(counts), source, "the count file")
    return counts


def _counted(content: dict[str, Any]) -> Counted:
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
    return Counted(
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
