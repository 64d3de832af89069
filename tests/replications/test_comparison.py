"""Tables of published numbers beside measured ones."""

from dataclasses import replace

import pytest
from _helpers.toy_experiment import TOY

from replications import Printed, Results
from replications.comparison import duration, nearness, reasons, tables, tally

ROWS = [
    {"model": "M1", "n": 1000, "measure": "size", "value": 0.05, "error": 0.001, "repeats": 9},
    {"model": "M2", "n": 1000, "measure": "size", "value": 0.07, "error": 0.01, "repeats": 9},
    {"model": "M2", "n": 2000, "measure": "power", "value": 0.9, "error": 0.02, "repeats": 9},
    {"measure": "worst", "value": 1234.5, "error": float("nan"), "repeats": 9},
]
RESULTS = Results("toy", ROWS, 1.0, 0)
SIZES = (
    Printed({"model": "M1", "n": 1000, "measure": "size"}, 0.051, "Table 6"),
    Printed({"model": "M2", "n": 1000, "measure": "size"}, 0.04, "Table 6"),
)
POWER = Printed(
    {"model": "M2", "n": 2000, "measure": "power"}, 0.5, "Figure 3", why="Theirs are few."
)
WORST = Printed({"measure": "worst"}, float("nan"), "section 4")


def test_rows_are_named_by_what_differs_within_a_table():
    toy = replace(TOY, printed=(*SIZES, POWER, WORST))
    found = tables(toy, RESULTS)
    assert found == {
        "Table 6": [
            ["M1", "0.051", "0.05", "0.001", "agrees"],
            ["M2", "0.04", "0.07", "0.01", "within noise"],
        ],
        "where": [
            ["Figure 3: M2 n 2,000 power", "0.5", "0.9", "0.02", "differs"],
            ["section 4: worst", "", "1,234", "", "see findings"],
        ],
    }
    assert reasons(toy, RESULTS) == ["Figure 3: M2 n 2,000 power: Theirs are few."]
    many = replace(TOY, printed=[POWER] * 5)
    assert reasons(many, RESULTS) == ["5 numbers: Theirs are few."]
    assert tally(toy, RESULTS) == (
        "Of 4 published numbers and statements: agrees 1, within noise 1, differs 1, "
        "see findings 1."
    )


def test_one_number_is_named_in_full():
    toy = replace(TOY, printed=(POWER,))
    assert tables(toy, RESULTS)["where"][0][0] == "Figure 3: M2 n 2,000 power"
    wider = replace(TOY, printed=(SIZES[0], replace(SIZES[1], within=0.05)))
    assert [row[1] for row in tables(wider, RESULTS)["Table 6"]] == ["0.051 ± 0.01", "0.04 ± 0.05"]
    assert tally(replace(TOY, printed=SIZES[:1]), RESULTS) == "The one published number agrees."
    assert tally(replace(TOY, printed=(WORST,)), RESULTS) == (
        "The one published statement: see findings."
    )
    assert tally(replace(TOY, printed=()), RESULTS) == "No number of it was published."


def test_a_number_may_have_a_name_and_be_written_in_words():
    named = replace(SIZES[0], name="M1 (paper's M3)", shown="below 0.06")
    toy = replace(TOY, printed=(named, SIZES[1]))
    assert tables(toy, RESULTS)["Table 6"][0][:2] == ["M1 (paper's M3)", "below 0.06"]
    assert nearness(toy) == "A number agrees when it is within 0.01 of ours."
    assert nearness(replace(TOY, printed=(named,))) == ""
    mixed = replace(TOY, printed=(SIZES[0], replace(SIZES[1], within=0.05)))
    assert nearness(mixed) == "A number agrees when it is within what follows its ±."


def test_statements_hold_or_not():
    said = [
        {"claim": claim, "measure": "holds", "value": value, "error": 0.0, "repeats": 1}
        for claim, value in (("it grows", 1.0), ("it shrinks", 0.0))
    ]
    printed = [
        Printed({"claim": row["claim"], "measure": "holds"}, 1.0, "section 5", 0.0) for row in said
    ]
    toy, results = replace(TOY, printed=printed), Results("toy", said, 1.0, 0)
    assert tables(toy, results)["section 5"] == [
        ["it grows", "holds", "holds", "", "agrees"],
        ["it shrinks", "holds", "does not hold", "", "differs"],
    ]
    assert (
        tables(replace(toy, printed=printed[:1]), results)["where"][0][0] == "section 5: it grows"
    )
    assert nearness(toy) == ""
    assert tally(toy, results) == "Of 2 published statements: agrees 1, differs 1."


def test_what_is_said_of_every_test_set_differs_however_noisy_ours_is():
    toy = replace(TOY, printed=(replace(SIZES[1], always=True),))
    assert tally(toy, RESULTS) == "The one published number differs."


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "1 s"), (59, "59 s"), (150, "2 min"), (7000, "117 min"), (9000, "2.5 h")],
)
def test_times_are_for_people(seconds, said):
    assert duration(seconds) == said


def test_rounding_is_no_difference():
    rows = [{"measure": "from", "value": 0.73, "error": 0.0, "repeats": 1}]
    toy = replace(TOY, printed=(Printed({"measure": "from"}, 0.7, "Figure 15", 0.03),))
    assert tally(toy, Results("toy", rows, 1.0, 0)) == "The one published number agrees."
