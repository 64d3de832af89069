"""Compare the counts of stakes for a file, broken or not, with those of a plain reader."""

import contextlib
import io
import json
import math
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st

from stakes.cli.main import main
from stakes.read import csv_file, shards
from tests._helpers.broken_files import (
    COUNT_FILES,
    ENDINGS,
    FOLDERS,
    PACKERS,
    QUESTIONS,
    Case,
    book_of,
    broken,
    good,
)
from tests._helpers.plain_readers import REFUSED, UNKNOWN, expected

COSTS = ["--fp", "1", "--fn", "5", "--pos-label", "fraud"]
SMALL = 150
"""Size of a block in bytes, so small that even small files have several blocks."""

COUNTED, CAUTIOUS = "counted", "refused, though a plain reader reads it"


@cache
def right_counts(asked):
    """Return the counts of an intact file."""
    return expected(Case("csv", good("csv", asked=asked), asked=asked))


def options_of(asked):
    """Return the options of `stakes count` for a question."""
    return [*COSTS, *QUESTIONS[asked].options]


def counted(case, folder):
    """Count a file with `stakes count`; return its counts, or `REFUSED`."""
    given, stdin = _given(case, folder)
    small = mock.patch.multiple(csv_file, LEAST_BLOCK=SMALL, OF_A_COLUMN=1)
    with mock.patch.object(shards, "BLOCK", SMALL), small:
        return run(["count", *given, *options_of(case.asked)], folder, stdin)


def _given(case, folder):
    """Write the files of a case; return the arguments that name them, and the standard input."""
    kind, content, way, asked = case
    if asked == "join":
        paths = []
        for name, each, part in zip("ab", kind.split("+"), content, strict=True):
            paths.append(folder / f"{name}{ENDINGS[each]}")
            paths[-1].write_bytes(part)
        return [*map(str, paths)], b""
    if way == "stdin":
        return ["-"], content
    content = book_of(content) if kind == "sheet" else content
    place = folder / f"a{ENDINGS[kind]}"
    if way in FOLDERS:
        place = folder / "shards" / place.name
        place.parent.mkdir(exist_ok=True)
        for old in place.parent.iterdir():
            old.unlink()
        other = good(kind, -1, asked)  # in another order, so that it is no copy
        place.with_name(f"b{ENDINGS[kind]}").write_bytes(other)
    packing = "zst" if way == "packed folder" else way
    if packing in PACKERS:
        place, content = place.with_name(f"{place.name}.{packing}"), PACKERS[packing](content)
    place.write_bytes(content)
    return [str(place.parent if way in FOLDERS else place)], b""


def run(arguments, folder, stdin=b""):
    """Run a command that writes a count file; return the counts, or check its error."""
    out, err, target = io.StringIO(), io.StringIO(), folder / "out.json"
    target.unlink(missing_ok=True)
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["-q", *arguments, "--out", str(target)])
    finally:
        sys.stdin = before
    said = err.getvalue()
    assert code in (0, 2), said
    assert "fault in stakes" not in said, said
    assert "Traceback" not in said, said
    if code == 2:
        assert said.startswith("stakes: "), said
        assert said.count("stakes: ") == 1, said
        assert not target.exists()
        return REFUSED
    return counts_in(json.loads(target.read_text(encoding="utf-8")))


def counts_in(content):
    """Return the counts of a count file: by class and decisions, and by these and the scores."""
    labels, decisions = content["labels"], [*map(str, content["decisions"])]
    joint, by_decisions, by_scores = content["joint"], Counter(), Counter()
    for actual, count, *decided in zip(
        joint["actual"], joint["counts"], *joint["decided"], strict=True
    ):
        chosen = [decisions[each] for each in decided]
        by_decisions["decisions", str(labels[actual]), *chosen] += count
    scores = content["scores"]
    if scores is None:
        return +by_decisions
    amounts = scores["amounts"] or [1] * len(scores["positive"])
    for at, (positive, amount) in enumerate(zip(scores["positive"], amounts, strict=True)):
        label = str(scores["pos_label" if positive else "neg_label"])
        chosen = [decisions[each[at]] for each in scores["decided"]]
        ranks = zip(scores["thresholds"], scores["ranks"], strict=True)
        values = [float(cuts[places[at]]) for cuts, places in ranks]
        by_scores["scores", label, *chosen, *values] += amount
    if any(model["decisions"] for model in content["models"]):
        return +(by_decisions + by_scores)
    start = content["models"][0]["decided_from"]
    if start is not None:  # decisions that follow from the scores are not counted twice
        same = Counter()
        for (_, label, value), amount in by_scores.items():
            decided = scores["pos_label" if value >= start else "neg_label"]
            same["decisions", label, str(decided)] += amount
        assert_same(by_decisions, same, "decided from a score on")
    return +by_scores


def assert_same(found, right, *what):
    """Raise if counts differ; sums of weights may differ in their last digits."""
    assert found.keys() == right.keys(), (*what, found, right)
    near = all(math.isclose(found[each], right[each], rel_tol=1e-9) for each in found)
    assert near, (*what, found, right)


def check(case, folder):
    """Raise if the counts of a file differ from a plain reader's; return the kind of outcome."""
    kind, content, way, asked = case
    if kind in COUNT_FILES:
        return check_counts(kind, content, folder)
    if way == "stdin" and kind == "jsonl" and not content.lstrip().startswith(b"{"):
        return UNKNOWN  # read as CSV
    found, right = counted(case, folder), expected(case)
    if found == REFUSED:  # stakes may be more careful, as with labels that are misspelt
        return REFUSED if right in (REFUSED, UNKNOWN) else CAUTIOUS
    assert right != REFUSED, (case, found)
    beside = right_counts(asked) if way in FOLDERS else Counter()
    if right == UNKNOWN:
        assert not beside or found.total() > beside.total(), (case, "a part is left out")
        return UNKNOWN
    assert_same(found, right + beside, case)
    return COUNTED


@cache
def good_counts(kind):
    """Return the bytes of an intact count file."""
    with tempfile.TemporaryDirectory() as folder:
        rows, target = Path(folder) / "good.csv", Path(folder) / f"good.{kind.split()[0]}"
        rows.write_bytes(good("csv", asked="weights"))
        assert main(["-q", "count", str(rows), *options_of("weights"), "--out", str(target)]) == 0
        return target.read_bytes()


def check_counts(kind, content, folder):
    """Raise if a broken count file is read with other counts than the intact file."""
    names = [folder / f"{name}.{kind.split()[0]}" for name in ("broken", "good")]
    for path, each in zip(names, (content, good_counts(kind)), strict=True):
        path.write_bytes(each)
    found = run(["merge", *map(str, names), "--allow-copies"], folder)
    if found != REFUSED:
        assert found == right_counts("weights") + right_counts("weights"), (kind, content, found)
        return COUNTED
    return REFUSED


count_files = st.sampled_from(COUNT_FILES).flatmap(
    lambda kind: broken(good_counts(kind)).map(
        lambda content: Case(kind, content, "file", "weights")
    )
)
