import math

import pytest

from stakes import CostMatrix, ExampleCosts, evaluate
from stakes._core.text import exact, number, text_table, threshold_text, unjudged_sentence
from stakes.show import cost_table


def test_the_cheapest_stands_first_and_the_constant_prediction_last():
    costs = CostMatrix.from_errors(false_positive=2, false_negative=3)
    y_true = [0, 1, 1]
    table = cost_table(
        {"bad": evaluate(y_true, [1, 0, 0], costs), "good": evaluate(y_true, y_true, costs)}
    )
    assert table.splitlines() == [
        "model     cost per decision   95% interval  in total  errors",
        "good                  0.000  0.000 … 1.953         0    0.0%",
        "bad                   2.667  0.914 … 2.991         8  100.0%",
        "always 1              0.667  0.019 … 1.786         2   33.3%",
    ]
    assert cost_table({}) == "model  cost per decision  95% interval  in total  errors"


def test_decisions_that_are_no_classes_are_neither_right_nor_wrong():
    costs = CostMatrix(
        [[0, 5], [1, 0]], rows="predicted", labels=["good", "bad"], decisions=["lend", "refuse"]
    )
    y_true = ["good", "bad"]
    table = cost_table(
        {
            1: evaluate(y_true, ["lend", "refuse"], costs),
            ("a", 2): evaluate(y_true, ["lend", "lend"], costs),
        }
    )
    assert table.splitlines() == [
        "model          cost per decision   95% interval  in total  errors",
        "1                          0.000  0.000 … 3.997         0       –",
        "('a', 2)                   2.500  0.074 … 4.926         5       –",
        "always refuse              0.500  0.015 … 0.985         1       –",
    ]


def test_costs_of_single_examples_have_no_errors():
    costs = ExampleCosts([[0, 5], [7, 5]], decisions=["ok", "fraud"])
    table = cost_table({"first": evaluate(["ok", "fraud"], ["ok", "fraud"], costs)})
    assert table.splitlines()[1:] == [
        "first               2.50   0.07 … 6.25         5       –",
    ]


def test_costs_that_would_look_equal_have_one_more_digit():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=2)
    y_true = [0] * 500 + [1] * 500
    table = cost_table(
        {
            "one": evaluate(y_true, [1] * 400 + [0] * 100 + [1] * 500, costs),
            "other": evaluate(y_true, [1] * 400 + [0] * 100 + [1] * 499 + [0], costs),
        }
    )
    shown = [line.split()[1] for line in table.splitlines()[1:3]]
    assert shown == ["0.400", "0.402"]
    close = [
        line.split()[:2]
        for line in cost_table(
            {
                "one": evaluate(y_true * 9, ([1] * 400 + [0] * 100 + [1] * 500) * 9, costs),
                "other": evaluate(
                    y_true * 9,
                    ([1] * 400 + [0] * 100 + [1] * 500) * 8 + [1] * 401 + [0] * 99 + [1] * 500,
                    costs,
                ),
            }
        ).splitlines()[1:3]
    ]
    assert close == [["one", "0.4000"], ["other", "0.4001"]]


def test_numbers_for_people():
    assert [number(x) for x in (0, 1234567, 1234.567, 0.012345, -2.5, 1e-7)] == [
        "0",
        "1,234,567",
        "1,235",
        "0.01235",
        "-2.5",
        "1e-07",
    ]
    assert [exact(x) for x in (0.0, 10, 1e20, 0.1, -1.5)] == ["0", "10", "1e+20", "0.1", "-1.5"]
    assert [number(x) for x in (math.inf, -math.inf, math.nan)] == ["inf", "-inf", "nan"]
    assert [exact(x) for x in (math.inf, -math.inf, math.nan)] == ["inf", "-inf", "nan"]


@pytest.mark.parametrize(
    ("threshold", "shown"),
    [
        (0.1039999951, "0.103999"),
        (0.103474, "0.103474"),
        (-2.34567891, "-2.34568"),
        (8.558372e-05, "8.55837e-05"),
        (0.9999999999973213, "0.9999999999973213"),
        (0.99999876543219, "0.99999876543"),
        (712.3456789, "712.345"),
        (1.0, "1"),
        (0.0, "0"),
        (math.inf, "inf"),
        (3, "3"),
    ],
)
def test_a_threshold_is_shown_so_that_it_flags_what_it_flagged(threshold, shown):
    assert threshold_text(threshold) == shown
    assert float(shown) <= threshold


def test_names_are_folded_where_a_table_would_be_wider_than_a_terminal():
    header = ["policy", "cost per decision", "95% interval", "in total", "errors"]
    cells = ["1.00", "12,640 … 17,210,000,000", "1,000,000", "5%"]
    names = ["discriminant@0.002999", "one of several words@0.31", "x" * 40, "short"]
    assert text_table(header, [[name, *cells] for name in names]).splitlines() == [
        "policy             cost per decision             95% interval   in total  errors",
        "discriminant                    1.00  12,640 … 17,210,000,000  1,000,000      5%",
        "  @0.002999",
        "one of several                  1.00  12,640 … 17,210,000,000  1,000,000      5%",
        "  words@0.31",
        "xxxxxxxxxxxxxx                  1.00  12,640 … 17,210,000,000  1,000,000      5%",
        "  xxxxxxxxxxxxxx",
        "  xxxxxxxxxxxx",
        "short                           1.00  12,640 … 17,210,000,000  1,000,000      5%",
    ]


def test_a_table_that_no_folding_makes_narrow_stays_as_it_is():
    row = ["a name that is long", *["1,000,000"] * 8]
    assert text_table(row, [row]).splitlines() == ["  ".join(row)] * 2


def test_what_is_not_judged_is_one_sentence():
    assert unjudged_sentence({}) == ""
    why = "it could be a model's decisions or a feature"
    assert unjudged_sentence({"python": why}) == f"Not judged: python ({why})."
    each = why.replace("it ", "each ", 1)
    found = {"sql": why, "risk\nfull": "it has numbers from 0 to 100", "python": why}
    assert unjudged_sentence(found) == (
        f"Not judged: sql and python ({each}), risk\\nfull (it has numbers from 0 to 100)."
    )
    many = unjudged_sentence({f"x{place}": why for place in range(18)})
    assert many == f"Not judged: x0, x1, x2, x3, x4, x5 and 12 more ({each})."
    reasons = unjudged_sentence({name: f"it is {name}" for name in "abcde"})
    assert reasons.endswith("c (it is c), and 2 more for other reasons.")
