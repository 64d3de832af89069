"""Strategies for files of random cells, quotes, numbers, types and identifiers, as in practice."""

import json
import re

from hypothesis import strategies as st


@st.composite
def csv_soup(draw, separator=","):
    """A header and random cells, so that quotes and line ends occur in all combinations."""
    cell = st.sampled_from(["ok", "fraud", '"ok"', '"fraud"', '"', 'ok"', '"ok', '""', "", "x\ny"])
    note = st.sampled_from(
        ["", "a", '"a\nb"', '"', 'a"', '"a', '"a""b"', 'a"b', '"a"b', "\r", '"\r\n"']
    )
    row = st.tuples(cell, cell, note).map(separator.join)
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    rows = draw(st.lists(row, min_size=1, max_size=8))
    header = separator.join(["actual", "m", "note"])
    return (end.join([header, *rows]) + draw(st.sampled_from(["", end]))).encode()


NUMBERS = ["0.5", "0,5", ",5", "1,234", "0,125", "1.234", "1.234,5", "1e-1", "1E2", "+1", "1_0"]
NUMBERS += ["-1", " 0.5 ", "inf", "-inf", "nan", "", "NA", "0x1", "1.", "1,", "1,5e1", "1 000"]
NUMBERS += ["1d", "\N{ARABIC-INDIC DIGIT THREE}"]


@st.composite
def number_soup(draw, names):
    """Classes, scores and weights as people and programs write them, with commas or points."""
    label = st.sampled_from(["ok", "fraud"] * 5 + [" ok ", "", "NA", "null", "OK"])
    cells = [label if name in ("actual", "m") else st.sampled_from(NUMBERS) for name in names]
    rows = draw(st.lists(st.tuples(*cells).map(";".join), min_size=1, max_size=8))
    safe = [";".join(label if name in ("actual", "m") else value for name in names)
            for label, value in (("ok", "0,5"), ("fraud", "0.5"))]  # fmt: skip
    return "\n".join([";".join(names), safe[0], *rows, safe[1], ""]).encode()


@st.composite
def json_soup(draw, names):
    """Lines of JSON whose values are of many types, and some of which are missing."""
    label = st.sampled_from(['"ok"', '"fraud"'] * 5 + ['" ok"', "null", '""', '"NA"', "1", "[]"])
    number = st.sampled_from(JSON_NUMBERS)
    cells = [label if name in ("actual", "m") else number for name in names]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=8))
    kept = st.integers(0, 20).map(bool)
    lines = [
        ", ".join(f'"{name}": {cell}' for name, cell in zip(names, row, strict=True) if draw(kept))
        for row in rows
    ]
    return "".join(f"{{{line}}}\n" for line in lines).encode()


JSON_NUMBERS = ["0.5", "1", "-1", "0.30000000000000004", "1e400", "1E-400", "123456789012345678"]
JSON_NUMBERS += ["0", "-0.0", "null", "true", '"0.5"', '"0,5"', '"1,234"', '"x"', "0.1", "2.5"]

IDS = ["1", "2", "01", "1.0", "1e0", "a", "A", "2024-01-01", "2024-01-01 00:00:00", "null", "NA"]
IDS += [" 1", "", "9007199254740993", "12345678901234567890", "1.5", "2024-01-01T00:00:00Z"]


def _id_in(kind, name, *, text):
    if kind == "csv":
        return name
    plain = re.fullmatch(r"[1-9]\d*(\.\d+)?|null", name)
    return name if plain and not text else json.dumps(name)


def _table_in(kind, names, rows, *, text):
    """Return rows, whose first cells identify the examples, as CSV or JSON lines."""
    cells = [[_id_in(kind, row[0], text=text), *row[1:]] for row in rows]
    if kind == "csv":
        return "\n".join(",".join(row) for row in [names, *cells]).encode()
    lines = [
        ", ".join(
            f'"{name}": {cell if name == "id" else json.dumps(cell)}'
            for name, cell in zip(names, row, strict=True)
        )
        for row in cells
    ]
    return "".join(f"{{{line}}}\n" for line in lines).encode()


LABEL = st.sampled_from(["ok", "fraud"])


@st.composite
def id_soup(draw, kinds):
    """Two files whose examples have identifiers of many forms, in any order, most in both files."""
    names = draw(st.lists(st.sampled_from(IDS), min_size=2, max_size=5, unique=True))
    labels, text = {name: draw(LABEL) for name in names}, draw(st.booleans())
    made = []
    for kind, model in zip(kinds, ("m", "other"), strict=True):
        order = draw(st.permutations(names))
        if not draw(st.integers(0, 5)):
            order[0] = draw(st.sampled_from(IDS))
        rows = [[name, labels.get(name, "ok"), draw(LABEL)] for name in order]
        made.append(_table_in(kind, ["id", "actual", model], rows, text=text))
    return tuple(made)


@st.composite
def long_soup(draw, kind):
    """Rows of examples and models in any order; most pairs occur once."""
    names = draw(st.lists(st.sampled_from(IDS), min_size=2, max_size=4, unique=True))
    labels, text = {name: draw(LABEL) for name in names}, draw(st.booleans())
    models = draw(st.sampled_from([["a", "b"], ["a", "b", "c"], ["1", "2"], ["a", "a "]]))
    pairs = draw(st.permutations([(name, model) for name in names for model in models]))
    if not draw(st.integers(0, 3)):
        pairs[0] = (draw(st.sampled_from(names)), draw(st.sampled_from(models)))
    rows = [[name, model, labels[name], draw(LABEL)] for name, model in pairs]
    return _table_in(kind, ["id", "model", "actual", "m"], rows, text=text)
