"""Verdicts on which classifier is cheaper at which conditions, as text and as data."""

import pickle

import pytest

from stakes import CostLine
from stakes.curves import Range, Verdicts
from stakes.curves.band import verdicts
from stakes.errors import InputError

NAMES = ("A", "B")


def made(*signs, names=NAMES, otherwise="undecided"):
    """Return verdicts from the ends of ranges and their signs."""
    begin, ranges = 0.0, []
    for end, sign in signs:
        ranges.append((begin, end, sign))
        begin = end
    return verdicts(ranges, names, otherwise)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (made((1.0, 0)), "A and B are undecided everywhere."),
        (made((1.0, 0), otherwise="equal"), "A and B are equal everywhere."),
        (made((1.0, -1)), "A is cheaper for all PC(+)."),
        (made((1.0, 1)), "B is cheaper for all PC(+)."),
        (
            made((0.7, 0), (1.0, -1)),  # Figure 15
            "A is cheaper for PC(+) > 0.7, undecided elsewhere.",
        ),
        (
            made((0.25, -1), (1.0, 1)),
            "A is cheaper for PC(+) < 0.25, B for PC(+) > 0.25.",
        ),
        (
            made((0.1, 1), (0.3, -1), (0.4, 0), (0.5, -1), (0.7, 0), (1.0, 1)),
            (
                "A is cheaper for PC(+) from 0.1 to 0.3 and from 0.4 to 0.5, "
                "B for PC(+) < 0.1 and > 0.7, undecided elsewhere."
            ),
        ),
        (
            made((0.1, -1), (0.3, 0), (0.4, -1), (0.7, 0), (1.0, -1)),
            "A is cheaper for PC(+) < 0.1, from 0.3 to 0.4 and > 0.7, undecided elsewhere.",
        ),
    ],
)
def test_summaries_read_as_a_person_would_say_it(found, text):
    assert found.summary() == text
    assert repr(found) == text


def test_ranges_by_name():
    found = made((0.1, 1), (0.3, -1), (0.4, 0), (1.0, -1))
    assert found.where("A") == ((0.1, 0.3), (0.4, 1.0))
    assert found.where("B") == ((0.0, 0.1),)
    assert found.ranges[2] == Range(0.3, 0.4, None)
    with pytest.raises(InputError, match="name: expected 'A' or 'B', got 'C'"):
        found.where("C")


def test_as_data():
    found = made((0.25, -1), (0.5, 0), (1.0, 1), names=("<A>", "B"))
    frame = found.to_frame()
    assert frame.columns.tolist() == ["low", "high", "cheaper"]
    assert frame["low"].tolist() == [0, 0.25, 0.5]
    assert frame["high"].tolist() == [0.25, 0.5, 1]
    assert frame["cheaper"][0] == "<A>"
    assert found.to_dict() == {
        "names": ["<A>", "B"],
        "ranges": [
            {"low": 0.0, "high": 0.25, "cheaper": "<A>"},
            {"low": 0.25, "high": 0.5, "cheaper": None},
            {"low": 0.5, "high": 1.0, "cheaper": "B"},
        ],
        "otherwise": "undecided",
        "how_sure": "",
    }
    html = found._repr_html_()
    assert "&lt;A&gt;" in html
    assert "undecided" in html
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - made here
    assert isinstance(found, Verdicts)


def test_the_lines_of_the_paper():
    shy, eager = CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")
    place = 0.26 / 0.66
    assert shy.cheaper_ranges(eager).where("shy") == (pytest.approx((0, place)),)
    assert eager.cheaper_ranges(shy).where("eager") == (pytest.approx((place, 1)),)
    unnamed = CostLine(0.1, 0.5).cheaper_ranges(CostLine(0.2, 0.4))
    assert unnamed.summary() == "the first is cheaper for all PC(+)."
