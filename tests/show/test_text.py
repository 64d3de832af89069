from stakes import CostMatrix, evaluate
from stakes._table import exact, number
from stakes.show import cost_table


def test_the_cheapest_stands_first_and_the_trivial_decision_last():
    costs = CostMatrix.from_errors(false_positive=2, false_negative=3)
    y_true = [0, 1, 1]
    table = cost_table(
        {"bad": evaluate(y_true, [1, 0, 0], costs), "good": evaluate(y_true, y_true, costs)}
    )
    assert table.splitlines() == [
        "classifier  cost per decision  in total  errors",
        "good                        0         0     0 %",
        "bad                     2.667         8   100 %",
        "always 1               0.6667         2  33.3 %",
    ]
    assert cost_table({}) == "classifier  cost per decision  in total  errors"


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
