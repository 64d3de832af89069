"""Count files: reading, writing and merging counts as JSON or Parquet with a versioned layout.

As JSON:

- ``schema``: ``"stakes-counts/2"``.
- ``actual``: the column of the actual classes.
- ``labels``, ``decisions``: the classes and the possible decisions.
- ``models``: an object for each model with its ``name``, its columns of ``decisions`` and
  ``scores``, the columns of its class ``probabilities``, and ``decided_from``, the decision
  threshold of its scores; null for those that are absent. The minimum-expected-cost decisions by
  its probabilities belong to a model named ``<name>@minimum-cost``.
- ``design``: the columns of ``groups``, ``sample_weight``, ``strata``, and of the costs of a
  ``false_positive`` and a ``false_negative``; null for those that are absent. If ``strata`` is the
  column of the actual classes, the sampling was stratified by class.
- ``rows``: the number of rows of each class, where rows have weights; otherwise null.
- ``parts``: null, or the names of ``groups`` and ``strata`` (null for those that are absent), with
  an entry for each group in each stratum.
- ``joint``: ``models``, and a row for each combination of part, class and decisions that occurred:
  ``actual`` (positions among labels), ``decided`` (for each model, positions among decisions),
  ``counts`` (or sums of weights), ``squares`` (the sums of squared weights of independent rows, or
  null) and ``part`` (positions among the parts, or null).
- ``scores``: null, or ``models``, ``pos_label``, ``neg_label``, ``thresholds`` (each model's
  distinct scores, highest first; "inf" and "-inf" are text), and a row for each combination of
  part, class, scores and decisions: ``ranks`` (for each model, positions among its thresholds),
  ``deciding`` (the models that have a column of decisions) and ``decided`` (their positions),
  ``positive`` (0 or 1), ``amounts`` (null if all are 1), ``squares`` and ``part``.
- ``examples``: null, or, with per-row costs, each row: ``actual``, ``decided``, ``costs`` (the cost
  of each decision), ``weights`` and ``part``; ``high``, the highest possible cost of a row, if
  known; and ``scores``, of each model in ``scored``.
- ``doubtful``: the columns that may be models and could not be read, each with the reason; omitted
  if there are none. A gate does not pass while there are any.
- ``left_out``: the number of rows that were left out, for each reason; omitted if there are none.
- ``merged_from``: the sorted checksums of the merged files; omitted if rows were counted. None of
  these files can be added again.
- ``checksum``: the checksum of all of this. A file that was edited no longer matches it, and a file
  without it is refused.

Rows are in a fixed order, so that the merged counts of parts equal those of the whole byte for
byte, except ``merged_from`` and the checksum; sums of weights may differ in their last digit.

As Parquet, with a row for each combination that occurs:

========================== ==================================================================
column                     holds
========================== ==================================================================
``table``                  "decisions", "scores" or "examples": the table of the row
``actual``                 the position of the class among the labels
``decided: <model>``       the position of the model's decision among the decisions
``score: <model>``         the model's score, in rows of scores and of examples
``cost: <position>``       the cost of the decision at that position, in rows of examples
``count``                  the number of examples in the row, or their total weight
``square``                 the sum of their squared weights
``part``                   the position of the group and stratum among the parts
========================== ==================================================================

Everything but the rows, including the checksum, is JSON in the schema's metadata under ``stakes``.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import as_axes
from stakes._core.values import readonly
from stakes.counts import JointConfusion
from stakes.counts._parts import Parts
from stakes.counts._two_classes import amounts_of
from stakes.errors import FileError, InputError, StakesError
from stakes.predictions.examples import JointExamples
from stakes.predictions.roles import Model
from stakes.predictions.scores import NO_DECISIONS, JointScores
from stakes.predictions.table import DesignColumns
from stakes.predictions.tally import TOO_MANY, Tally, merged
from stakes.read import as_path, read_text, real_path
from stakes.read.checksums import (
    check_unchanged,
    checksum,
    has_metadata,
    json_content,
    parquet_bytes,
    read_parquet,
)
from stakes.read.sources import STANDARD_INPUT, file_kind, is_pipe, pyarrow, source_name

SCHEMA = "stakes-counts/2"

SCHEMA_SHOWS = b'"stakes-counts/'
"""Text near the start of a JSON count file."""

PARQUET = b"PAR1"
"""Magic number at the start of a Parquet file."""

DECISIONS, SCORES, EXAMPLES = "decisions", "scores", "examples"


def is_count_file(path: str, piped: bytes | None = None) -> bool:
    """Tell whether a file is a count file, by its name and its first bytes.

    Parameters
    ----------
    path : str
        The file; "-" is standard input.
    piped : bytes, optional
        The content of standard input.
    """
    if path == STANDARD_INPUT:
        content = piped or b""
        start = content[:200].lstrip(b"\xef\xbb\xbf").lstrip()
        if start.startswith(PARQUET):
            return has_metadata(path, content)
        return start.startswith(b"{") and SCHEMA_SHOWS in start
    place = Path(path)
    if file_kind(place) == "parquet":
        return not is_pipe(path) and has_metadata(path)
    return place.suffix.lower() == ".json"


def read_count_file(path: str, piped: bytes | None = None) -> Tally:
    """Read the counts of a count file.

    Parameters
    ----------
    path : str
        The file, whose name tells its format.
    piped : bytes, optional
        The content of the file, if it is standard input.
    """
    if piped is None and file_kind(Path(path)) == "parquet":
        return counts_from_parquet(path)
    if piped is not None and piped.startswith(PARQUET):
        return counts_from_parquet(source_name(path), piped)
    text = read_text(path) if piped is None else piped.decode("utf-8-sig", errors="replace")
    return counts_from_text(text, source_name(path))


def merged_files(paths: Sequence[str], *, allow_copies: bool = False) -> Tally:
    """Add up the counts of several count files.

    Parameters
    ----------
    paths : sequence of str
        The files.
    allow_copies : bool, default False
        Whether files with the same counts are added. One of them may be a copy, whose examples
        then count double; small files can also have the same counts by chance.
    """
    places = [real_path(as_path(path)) for path in paths]
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            raise InputError(f"{path}", "given twice; its examples would count double.")
    parts = [(path, read_count_file(path)) for path in paths]
    total = merged(parts)
    first: dict[str, str] = {}
    same: dict[str, str] = {}
    for path, part in parts:
        own = counts_checksum(replace(part, merged_from=()))
        alike = same.setdefault(own, path)
        others = [first.setdefault(each, path) for each in dict.fromkeys((own, *part.merged_from))]
        for other in others:
            if other != path and not allow_copies:
                raise _copy(path, other, whole=alike == other)
    every = {each for _, part in parts for each in part.merged_from or (counts_checksum(part),)}
    return replace(total, merged_from=tuple(sorted(every)) if parts[1:] else total.merged_from)


def _copy(path: str, other: str, *, whole: bool) -> FileError:
    """Return the error that two files have the same counts, or were merged from files that have."""
    problem = "it has the same counts as" if whole else "some of its counts are also in"
    return FileError(
        path,
        f"{problem} {other}; if they are of the same examples, these would count double.",
        "Leave a copy out. If they are different examples that are alike by chance, add them with "
        "allow_copies=.",
    )


def counts_text(counts: Tally) -> str:
    """Write counts as the text of a count file."""
    joint = counts.joint
    content = _header(counts)
    content["joint"] |= {
        "actual": joint.actual.tolist(),
        "decided": joint.decided.T.tolist(),
        "counts": joint.counts.tolist(),
        "squares": _listed(joint.squares),
        "part": _listed(joint.part),
    }
    if counts.scores is not None:
        content["scores"] |= _scores_dict(counts.scores.compressed())
    if counts.examples is not None:
        content["examples"] |= _examples_dict(counts.examples.ordered())
    content["checksum"] = counts_checksum(counts)
    lines = [f"{json.dumps(key)}: {_json(value)}" for key, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _header(counts: Tally) -> dict[str, Any]:
    """Return the content of a count file without its rows and checksum."""
    joint, scores = counts.joint, counts.scores
    parts = Parts() if joint.parts is None else joint.parts
    apart = {"groups": parts.groups, "strata": parts.strata}
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
                "probabilities": list(model.probabilities) or None,
                "decided_from": counts.decided_from.get(model.name),
            }
            for model in counts.models
        ],
        "design": vars(counts.design),
        "rows": list(counts.class_rows) if joint.weighted else None,
        "parts": None
        if joint.parts is None
        else {what: None if names is None else list(names) for what, names in apart.items()},
        "joint": {"models": list(joint.names)},
        "scores": None
        if scores is None
        else {
            "models": list(scores.names),
            "pos_label": scores.pos_label,
            "neg_label": scores.neg_label,
            "deciding": list(scores.deciding),
        },
        "examples": None if counts.examples is None else _examples_header(counts.examples),
        **({"doubtful": dict(counts.doubtful)} if counts.doubtful else {}),
        **({"left_out": dict(counts.left_out)} if counts.left_out else {}),
        **({"merged_from": list(counts.merged_from)} if counts.merged_from else {}),
    }


def _examples_header(examples: JointExamples) -> dict[str, Any]:
    scored = {} if examples.scores is None else {"scored": list(examples.scores)}
    return {"high": examples.high, **scored}


def counts_checksum(counts: Tally) -> str:
    """Return the checksum of counts, which is the same in files of all formats.

    It covers the header and then, from the sorted rows of decisions, the classes, the decisions of
    each model and the counts; from the rows of scores, the classes (1 for the positive one), the
    amounts, the scores of each model and the decisions; from the examples, the classes, the
    decisions and the costs. Squares (or weights) and parts, if any, follow each of these; the
    scores of the examples, if any, come last.
    """
    joint = counts.joint
    arrays: list[NDArray[Any]] = [joint.actual, joint.decided.T, joint.counts]
    arrays += _there(joint.squares, joint.part)
    if counts.scores is not None:
        scores = counts.scores.compressed()
        amounts = amounts_of(scores.amounts, len(scores.positive))
        values = [
            cuts[ranks] + 0.0  # minus zero is zero
            for cuts, ranks in zip(scores.thresholds, scores.ranks, strict=True)
        ]
        decided = scores.decided.astype(np.intp)
        arrays += [scores.positive, amounts, *values, decided]
        arrays += _there(scores.squares, scores.part)
    if counts.examples is not None:
        rows = counts.examples.ordered()
        arrays += [rows.actual, rows.decided.T, rows.costs.T, *_there(rows.weights, rows.part)]
        arrays += [each + 0.0 for each in (rows.scores or {}).values()]
    return checksum(_header(counts), arrays)


def _there(*arrays: NDArray[Any] | None) -> list[NDArray[Any]]:
    return [each for each in arrays if each is not None]


def _listed(array: NDArray[Any] | None) -> list[Any] | None:
    return None if array is None else array.tolist()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _scores_dict(scores: JointScores) -> dict[str, Any]:
    return {
        "thresholds": [
            [each if math.isfinite(each) else str(each) for each in values.tolist()]
            for values in scores.thresholds
        ],
        "ranks": scores.ranks.tolist(),
        "decided": scores.decided.tolist(),
        "positive": scores.positive.astype(int).tolist(),
        "amounts": _listed(scores.amounts),
        "squares": _listed(scores.squares),
        "part": _listed(scores.part),
    }


def _examples_dict(examples: JointExamples) -> dict[str, Any]:
    return {
        "actual": examples.actual.tolist(),
        "decided": examples.decided.T.tolist(),
        "costs": examples.costs.T.tolist(),
        "weights": _listed(examples.weights),
        "part": _listed(examples.part),
    } | (
        {}
        if examples.scores is None
        else {
            "scores": [
                [each if math.isfinite(each) else str(each) for each in values.tolist()]
                for values in examples.scores.values()
            ]
        }
    )


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
    """Return the counts in a count file's content, as lists or arrays; the checksum must match."""
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
    if content.get("checksum") is None:
        raise FileError(
            source,
            "the count file has no 'checksum', so a change of its counts would not show.",
            "Count the predictions again, or restore the file.",
        )
    check_unchanged(content["checksum"], counts_checksum(counts), source, "the count file")
    return counts


def _tally(content: dict[str, Any]) -> Tally:
    labels, decisions = as_axes(content["labels"], content["decisions"])
    models = content["models"]
    given = content["joint"]
    names = _names(given["models"], models)
    design = DesignColumns(**(content.get("design") or {}))
    weighted, parts = design.sample_weight is not None, _parts(content.get("parts"), design)
    counts = _amounts(given["counts"], "counts", weighted=weighted)
    size = len(counts)
    actual = _whole(given["actual"], "actual", (size,), len(labels))
    decided = _whole(given["decided"], "decided", (len(names), size), len(decisions))
    joint = JointConfusion.from_codes(
        actual,
        dict(zip(names, decided, strict=True)),
        labels=labels,
        decisions=decisions,
        amounts=counts,
        **_apart(given, parts, size, squared=weighted and not _grouped(parts)),
    )
    if not joint.n:
        raise ValueError("it counts no examples.")
    rows = _whole(content["rows"], "rows", (len(labels),)) if weighted else joint.class_counts()
    examples = content.get("examples")
    return Tally(
        str(content["actual"]),
        tuple(_model(each) for each in models),
        joint,
        None if content["scores"] is None else _scores(content["scores"], models, joint),
        {
            str(each["name"]): float(each["decided_from"])
            for each in models
            if each["decided_from"] is not None
        },
        design,
        tuple(rows.tolist()),
        None if examples is None else _examples(examples, joint, int(rows.sum())),
        doubtful=_doubtful(content.get("doubtful") or {}),
        merged_from=tuple(_texts(content.get("merged_from") or [], "merged_from")),
        left_out=_left_out(content.get("left_out") or {}),
    )


def _left_out(given: Any) -> dict[str, int]:
    reasons, rows = _texts([*given], "left_out"), [*given.values()]
    if not all(type(each) is int and each > 0 for each in rows):
        raise ValueError("left_out: expected numbers of rows.")
    return dict(zip(reasons, rows, strict=True))


def _doubtful(given: Any) -> dict[str, str]:
    names, reasons = _texts([*given], "doubtful"), _texts([*given.values()], "doubtful")
    return dict(zip(names, reasons, strict=True))


def _texts(given: Any, name: str) -> list[str]:
    """Check a list of texts."""
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise ValueError(f"{name}: expected texts.")
    return given


def _model(given: dict[str, Any]) -> Model:
    columns = tuple(map(str, given.get("probabilities") or ()))
    return Model(str(given["name"]), given["decisions"], given["scores"], columns)


def _parts(given: Any, design: DesignColumns) -> Parts | None:
    """Return the groups and strata, which must match the design."""
    if given is None:
        return None
    groups, strata = given.get("groups"), given.get("strata")
    parts = Parts.of(len(groups if strata is None else strata), groups, strata)
    if (groups is None) != (design.groups is None) or (strata and design.strata is None):
        raise ValueError("parts: expected the groups and strata that the design has.")
    return parts


def _grouped(parts: Parts | None) -> bool:
    return parts is not None and parts.groups is not None


def _apart(given: Any, parts: Parts | None, size: int, *, squared: bool) -> dict[str, Any]:
    """Return the part and the squares of each row, after checking whether each is expected."""
    for name, expected in (("part", parts is not None), ("squares", squared)):
        if (given.get(name) is not None) != expected:
            raise ValueError(f"{name}: expected {'them' if expected else 'none'}.")
    squares, part = given.get("squares"), None
    if parts is not None:
        part = _whole(given["part"], "part", (size,), len(parts))
    return {
        "squares": None if squares is None else _numbers(squares, "squares", (size,)),
        "parts": parts,
        "part": part,
    }


def _amounts(values: Any, name: str, *, weighted: bool) -> NDArray[Any]:
    """Check counts, or sums of weights."""
    if weighted:
        return _numbers(values, name, (-1,))
    counts = _whole(values, name, (-1,))
    many = counts.sum(dtype=np.float64) > TOO_MANY / 2
    if many and (total := sum(counts.tolist())) >= TOO_MANY:
        raise ValueError(f"{name}: they add up to {total:,}, expected less than 2**63 examples.")
    return counts


def _examples(given: dict[str, Any], joint: JointConfusion, n: int) -> JointExamples:
    parts, weights = joint.parts, given.get("weights")
    actual = _whole(given["actual"], "actual", (n,), len(joint.labels))
    shape = (len(joint.names), n)
    decided = _whole(given["decided"], "decided", shape, len(joint.decisions))
    if (weights is None) == joint.weighted:
        raise ValueError("weights: expected those of each row where rows have weights, only.")
    costs = _numbers(given["costs"], "costs", (len(joint.decisions), n), negative=True)
    return JointExamples(
        tuple(map(str, joint.names)),
        readonly(actual),
        readonly(np.ascontiguousarray(decided.T)),
        readonly(np.ascontiguousarray(costs.T)),
        joint.labels,
        joint.decisions,
        None if weights is None else readonly(_numbers(weights, "weights", (n,))),
        parts,
        None if parts is None else _whole(given["part"], "part", (n,), len(parts)),
        None if given.get("high") is None else float(given["high"]),
        scores=_example_scores(given, n),
    )


def _example_scores(given: dict[str, Any], n: int) -> dict[str, NDArray[np.float64]] | None:
    if "scored" not in given:
        return None
    found = {}
    for name, values in zip(given["scored"], given["scores"], strict=True):
        found[str(name)] = readonly(np.array([float(each) for each in values]))
        if len(values) != n or np.isnan(found[str(name)]).any():
            raise ValueError("scores: expected numbers, as many as there are rows.")
    return found


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
        amounts = readonly(_amounts(given["amounts"], "amounts", weighted=joint.weighted))
    counted = len(positive) if amounts is None else amounts.sum()
    if not math.isclose(counted, joint.n, rel_tol=1e-9 if joint.weighted else 0.0):
        raise ValueError(f"scores: expected those of all {joint.n} examples.")
    apart = _apart(given, joint.parts, len(positive), squared=joint.weighted)
    deciding = _names(given.get("deciding") or (), models)
    shape = (len(deciding), len(positive))
    decided = _whole(given["decided"], "decided", shape, len(joint.decisions)) if deciding else None
    return JointScores(
        names,
        tuple(map(readonly, thresholds)),
        readonly(ranks.astype(np.int32)),
        readonly(positive.astype(bool)),
        amounts,
        given["pos_label"],
        given["neg_label"],
        **apart,
        deciding=deciding,
        decided=NO_DECISIONS if decided is None else readonly(decided.astype(np.int16)),
    )


def _names(names: Any, models: Any) -> tuple[str, ...]:
    known = [str(each["name"]) for each in models]
    scored = [each for each in models if each.get("probabilities") or each.get("scores")]
    known += [_model(each).minimum_cost for each in scored]
    found = tuple(map(str, names))
    if len(set(found)) < len(found) or not set(found) <= set(known):
        raise ValueError(f"models: expected some of {known}, each once; got {list(found)}.")
    return found


def _whole(
    values: Any, name: str, shape: tuple[int, ...], below: int | None = None
) -> NDArray[np.int64]:
    """Check non-negative whole numbers; -1 in the shape stands for any length but 0."""
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


def _numbers(
    values: Any, name: str, shape: tuple[int, ...], *, negative: bool = False
) -> NDArray[np.float64]:
    """Check finite numbers, by default non-negative; -1 in the shape is any length but 0."""
    array = np.array(values, dtype=np.float64)
    right = array.ndim == len(shape) and all(
        size == asked or (asked < 0 < size) for size, asked in zip(array.shape, shape, strict=True)
    )
    if not right or not np.isfinite(array).all() or (not negative and (array < 0).any()):
        raise ValueError(f"{name}: expected finite numbers, as many as there are rows.")
    return array


# Parquet count files.


def counts_bytes(counts: Tally) -> bytes:
    """Write counts as the bytes of a Parquet file."""
    pa = pyarrow()
    tables = {DECISIONS: _decision_columns(counts)}
    if counts.scores is not None:
        tables[SCORES] = _score_columns(counts, counts.scores.compressed())
    if counts.examples is not None:
        tables[EXAMPLES] = _example_columns(counts.examples.ordered())
    sizes = {name: len(columns["actual"]) for name, columns in tables.items()}
    names = list(dict.fromkeys(name for columns in tables.values() for name in columns))
    last = [name for name in ("count", "square", "part") if name in names]
    names = [*(name for name in names if name not in last), *last]
    rows = pa.array([name for name, size in sizes.items() for _ in range(size)], pa.string())
    table: dict[str, Any] = {"table": rows.dictionary_encode()}
    for name in names:
        found = {each: columns[name] for each, columns in tables.items() if name in columns}
        whole = all(values.dtype.kind in "biu" for values in found.values())
        kind = pa.float64() if not whole else pa.int64() if name == "count" else pa.int32()
        table[name] = pa.chunked_array(
            [
                pa.array(found[each].astype(kind.to_pandas_dtype()), kind)
                if each in found
                else pa.nulls(size, kind)
                for each, size in sizes.items()
            ]
        )
    content = _header(counts) | {"checksum": counts_checksum(counts)}
    return parquet_bytes(pa.table(table), content)


def _decision_columns(counts: Tally) -> dict[str, NDArray[Any]]:
    joint = counts.joint
    columns = {"actual": joint.actual}
    for name, decided in zip(joint.names, joint.decided.T, strict=True):
        columns[f"decided: {name}"] = decided
    return columns | {"count": joint.counts} | _if_there(joint.squares, joint.part)


def _score_columns(counts: Tally, scores: JointScores) -> dict[str, NDArray[Any]]:
    labels = counts.joint.labels
    places = [labels.index(each) for each in (scores.neg_label, scores.pos_label)]
    columns = {"actual": np.array(places)[scores.positive.astype(np.intp)]}
    for name, cuts, ranks in zip(scores.names, scores.thresholds, scores.ranks, strict=True):
        columns[f"score: {name}"] = cuts[ranks]
    for name, decided in zip(scores.deciding, scores.decided, strict=True):
        columns[f"decided: {name}"] = decided
    columns["count"] = amounts_of(scores.amounts, len(scores.positive))
    return columns | _if_there(scores.squares, scores.part)


def _example_columns(examples: JointExamples) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {"actual": examples.actual}
    for name, decided in zip(examples.names, examples.decided.T, strict=True):
        columns[f"decided: {name}"] = decided
    for place, costs in enumerate(examples.costs.T):
        columns[f"cost: {place}"] = costs
    columns |= {f"score: {name}": each for name, each in (examples.scores or {}).items()}
    ones = np.ones(examples.n, dtype=np.int64)
    count = ones if examples.weights is None else examples.weights
    return columns | {"count": count} | _if_there(None, examples.part)


def _if_there(squares: NDArray[Any] | None, part: NDArray[Any] | None) -> dict[str, NDArray[Any]]:
    both = {"square": squares, "part": part}
    return {name: each for name, each in both.items() if each is not None}


def counts_from_parquet(path: str | os.PathLike[str], file: bytes | None = None) -> Tally:
    """Read a Parquet count file.

    Parameters
    ----------
    path : path
        The file.
    file : bytes, optional
        The content of the file, if it was read already.
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
    """Add the rows to the content, in the layout of a JSON file."""
    from pyarrow import compute

    kinds = table["table"].cast(pyarrow().string())
    columns = set(table.column_names)

    def values(name: str, of: str) -> NDArray[Any]:
        column = table[name].filter(compute.equal(kinds, of)).combine_chunks()
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def apart(of: str) -> dict[str, Any]:
        squares = values("square", of) if "square" in columns else None
        if squares is not None and np.isnan(squares).all():
            squares = None
        return {"squares": squares, "part": values("part", of) if "part" in columns else None}

    joint = content["joint"]
    joint |= {
        "actual": values("actual", DECISIONS),
        "decided": np.array([values(f"decided: {each}", DECISIONS) for each in joint["models"]]),
        "counts": values("count", DECISIONS),
        **apart(DECISIONS),
    }
    if content["scores"] is not None:
        _add_scores(content, values)
        content["scores"] |= apart(SCORES)
    if content.get("examples") is not None:
        costs = [values(f"cost: {place}", EXAMPLES) for place in range(len(content["decisions"]))]
        weighted = content["design"]["sample_weight"] is not None
        content["examples"] |= {
            "actual": values("actual", EXAMPLES),
            "decided": np.array([values(f"decided: {each}", EXAMPLES) for each in joint["models"]]),
            "costs": np.array(costs),
            "weights": values("count", EXAMPLES) if weighted else None,
            "part": apart(EXAMPLES)["part"],
        }
        if "scored" in content["examples"]:
            names = content["examples"]["scored"]
            content["examples"]["scores"] = [values(f"score: {each}", EXAMPLES) for each in names]


def _add_scores(content: dict[str, Any], values: Callable[[str, str], NDArray[Any]]) -> None:
    scores = content["scores"]
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
        "decided": [values(f"decided: {each}", SCORES) for each in scores.get("deciding") or ()],
    }
