"""Conversion of evaluation logs of language models to tables of predictions.

The formats are Inspect (``.eval``, ``.json``), lm-evaluation-harness (``samples_….jsonl``) and
promptfoo (``.json``). The actual class of a sample is its target, and the decision is the answer; a
repeated sample has a row for each repeat.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

from stakes.errors import FileError
from stakes.read.files import read_text
from stakes.read.sources import pyarrow
from stakes.read.tables import FileRows

COUNTS = "stakes-counts"
START = 4096
ACTUAL_NAMES = ("label", "actual", "expected", "target", "expected_label", "gold")
"""Usual names of the expected class in the metadata and variables of promptfoo."""

BROKEN = (KeyError, TypeError, ValueError, IndexError, RecursionError, zipfile.BadZipFile)
"""Errors that a log raises if its content is not as expected; deep nesting is a RecursionError."""


@dataclass(frozen=True)
class Answer:
    """The answer of a model to one repeat of a sample.

    Attributes
    ----------
    model : str
        The model, or the prompt.
    row, sample : str
        The names of the repeat and of the sample.
    actual, predicted : str
        The target and the answer.
    probabilities : mapping of str to float
        The probability of each class, if the log has them.
    """

    model: str
    row: str
    sample: str
    actual: str
    predicted: str
    probabilities: Mapping[str, float]


def log_kind(path: str) -> str | None:
    """Return the tool that wrote a log; None if the file is not a log."""
    place = Path(path)
    kind = place.suffix.lower()
    if kind == ".eval":
        return "inspect"
    if kind not in (".json", ".jsonl") or not place.is_file():
        return None
    with place.open("rb") as file:
        start = file.read(START)
    if kind == ".jsonl":
        return "lm_eval" if b'"doc_id"' in start and b'"doc"' in start else None
    return None if COUNTS.encode() in start else _kind_of(path)


def _kind_of(path: str) -> str | None:
    """Return the tool that wrote a JSON log, by its keys; None if it is not a log."""
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError, FileError):  # reported when read as another kind of file
        return None
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("eval"), dict) and "samples" in content:
        return "inspect"
    results = content.get("results")
    nested = isinstance(results, dict) and isinstance(results.get("results"), list)
    return "promptfoo" if nested else None


def read_logs(paths: Sequence[str]) -> tuple[FileRows, str | None]:
    """Return the rows of logs, and the column of samples if any were repeated.

    Parameters
    ----------
    paths : sequence of str
        The logs, which must be of the same samples.
    """
    source = " + ".join(map(str, paths))
    by_model: dict[str, dict[str, Answer]] = {}
    for answer in _all(paths):
        rows = by_model.setdefault(answer.model, {})
        if answer.row in rows:
            raise FileError(source, f"{answer.model!r} has two answers to {answer.row!r}.")
        rows[answer.row] = answer
    (first, kept), *others = by_model.items()
    for model, rows in others:
        _check_same(source, (first, kept), (model, rows))
    columns: dict[str, list[Any]] = {
        "row": list(kept),
        "sample": [each.sample for each in kept.values()],
        "actual": [each.actual for each in kept.values()],
    }
    for model, rows in by_model.items():
        columns[f"{model}_pred"] = [rows[row].predicted for row in kept]
        classes = dict.fromkeys(name for each in rows.values() for name in each.probabilities)
        for name in classes:
            columns[f"{model}_{name}"] = [rows[row].probabilities.get(name) for row in kept]
    repeated = len(set(columns["sample"])) < len(kept)
    return FileRows(pyarrow().table(columns), source, "log"), "sample" if repeated else None


def _all(paths: Sequence[str]) -> Iterator[Answer]:
    """Iterate over the answers of all logs; a repeated model name gets the name of its file."""
    readers = {"inspect": _inspect, "lm_eval": _lm_eval, "promptfoo": _promptfoo}
    names: dict[str, str] = {}
    for path in paths:
        kind = log_kind(path)
        if kind is None:
            raise FileError(f"{path}", "it is no evaluation log, and logs are read together only.")
        try:
            found = [*readers[kind](path)]
        except BROKEN as error:
            raise FileError(
                f"{path}", f"cannot be read as a log of {kind}: {type(error).__name__} {error}."
            ) from error
        if not found:
            raise FileError(f"{path}", "the log has no samples.")
        for answer in found:
            model = answer.model
            if names.setdefault(model, path) != path:
                model = f"{model} ({Path(path).stem})"
            yield Answer(**{**vars(answer), "model": model})


def _check_same(
    source: str, one: tuple[str, dict[str, Answer]], other: tuple[str, dict[str, Answer]]
) -> None:
    """Raise an error unless two models answered the same samples, with the same targets."""
    (first, kept), (model, rows) = one, other
    missing = [row for row in kept if row not in rows] or [row for row in rows if row not in kept]
    if missing:
        lacks = model if missing[0] in kept else first
        raise FileError(source, f"{lacks!r} has no answer to {missing[0]!r}, which the other has.")
    for row, answer in kept.items():
        if answer.actual != rows[row].actual:
            raise FileError(
                source,
                f"the target of {row!r} is {answer.actual!r} for {first!r} and "
                f"{rows[row].actual!r} for {model!r}.",
            )


def _inspect(path: str) -> Iterator[Answer]:
    """Iterate over the answers in a log of Inspect."""
    if Path(path).suffix.lower() == ".eval":
        with zipfile.ZipFile(path) as archive:
            header = json.loads(_unzipped(archive, "header.json"))
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            samples = [json.loads(_unzipped(archive, name)) for name in names]
    else:
        header = json.loads(read_text(path))
        samples = header["samples"]
    if header.get("status", "success") != "success":
        raise ValueError(f"the evaluation ended with {header['status']!r}; it is not complete")
    task, model = header["eval"]["task"], header["eval"]["model"]
    name = task if model.startswith("mockllm/") else f"{model.rpartition('/')[2]} {task}"
    for sample in samples:
        if sample.get("error"):
            raise ValueError(f"the sample {sample['id']!r} ended with an error")
        scores = [each.get("answer") for each in (sample.get("scores") or {}).values()]
        response = next((each for each in scores if each), sample["output"].get("completion", ""))
        target = sample["target"]
        label = target[0] if isinstance(target, list) else target
        row = f"{sample['id']} ({sample['epoch']})"
        yield Answer(name, row, str(sample["id"]), str(label), str(response).strip(), {})


ZSTANDARD = 93
LOCAL_HEADER = 30
"""Bytes before the name in the header of a file in an archive."""


def _unzipped(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file of an archive; also with Zstandard, which older versions of Python lack."""
    found = archive.getinfo(name)
    if found.compress_type != ZSTANDARD:
        return archive.read(name)
    file = archive.fp
    if file is None:
        raise ValueError("the archive is closed")
    file.seek(found.header_offset)
    lengths = file.read(LOCAL_HEADER)[-4:]
    file.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
    packed = file.read(found.compress_size)
    with pyarrow().CompressedInputStream(pyarrow().BufferReader(packed), "zstd") as stream:
        return bytes(stream.read())


def _lm_eval(path: str) -> Iterator[Answer]:
    """Iterate over the answers in a file of samples of lm-evaluation-harness."""
    place = Path(path)
    model = place.stem.removeprefix("samples_")
    for line in read_text(path).splitlines():
        if not line.strip():
            continue
        each = json.loads(line)
        response, name = each["filtered_resps"], str(each["doc_id"])
        if not isinstance(response[0], list | tuple):
            yield Answer(
                model, name, name, str(each["target"]).strip(), str(response[0]).strip(), {}
            )
            continue
        choices = [str(part["arg_1"]).strip() for part in each["arguments"].values()]
        odds = [float(pair[0]) for pair in response]
        weights = [exp(value - max(odds)) for value in odds]
        shares = [weight / sum(weights) for weight in weights]
        best = choices[odds.index(max(odds))]
        label = choices[int(each["target"])]
        yield Answer(model, name, name, label, best, dict(zip(choices, shares, strict=True)))


def _promptfoo(path: str) -> Iterator[Answer]:
    """Iterate over the answers in a log of promptfoo."""
    found = json.loads(read_text(path))["results"]["results"]
    providers = {_provider(each) for each in found}
    prompts = {each["promptIdx"] for each in found}
    for each in found:
        names = []
        if len(providers) > 1 or len(prompts) == 1:
            names.append(_provider(each))
        if len(prompts) > 1:
            names.append(str(each["prompt"].get("label") or each["promptIdx"]))
        if each.get("error") and not (each.get("response") or {}).get("output"):
            raise ValueError(f"the test {each['testIdx']} ended with an error: {each['error']}")
        sample = json.dumps(each["testCase"].get("vars", {}), sort_keys=True)
        response = str(each["response"]["output"]).strip()
        yield Answer(" ".join(names), str(each["testIdx"]), sample, _expected(each), response, {})


def _provider(result: Mapping[str, Any]) -> str:
    provider = result["provider"]
    return str(provider.get("label") or provider["id"])


def _expected(result: Mapping[str, Any]) -> str:
    """Return the class that a test expects, from its metadata, variables or assertions."""
    case = result["testCase"]
    for place in (case.get("metadata") or {}, case.get("vars") or {}):
        for name in ACTUAL_NAMES:
            if name in place:
                return str(place[name]).strip()
    for each in case.get("assert") or ():
        if each.get("type") in ("equals", "iequals", "icontains", "contains"):
            return str(each["value"]).strip()
    raise ValueError(
        f"the test {result['testIdx']} states no class: give it in metadata as 'label', or assert "
        "that the output equals it"
    )
