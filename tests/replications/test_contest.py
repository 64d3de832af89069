"""Wins, ties and losses are those of BDELTACOST, and are counted correctly."""

from itertools import product

import numpy as np
import pytest
from _helpers.made_up_sets import write_set

from replications.domains.uci import read_uci
from replications.experiments.shared.contest import (
    ahead,
    clearly_ahead,
    cost_of,
    decisions,
    draw_bars,
    folds,
    matrices,
    standing,
    tally,
    totals,
    verdicts,
)
from stakes import CostDifference, CostMatrix, CostSample


def test_verdicts_are_those_of_all_resamples():
    rng = np.random.default_rng(0)
    rows = 5
    differences = rng.normal(0.7, 1, (60, rows)) * rng.choice(
        [0, 1, -1], (60, 1), p=[0.1, 0.5, 0.4]
    )
    drawn = np.array(list(product(range(rows), repeat=rows)))
    every = differences[:, drawn].sum(axis=2)  # [test, resample]
    expected = np.where(
        (every >= -1e-9).mean(axis=1) < 0.025,
        1,
        -((every <= 1e-9).mean(axis=1) < 0.025).astype(int),
    )
    expected[~differences.any(axis=1)] = 0
    found = verdicts(differences, np.random.default_rng(1))
    assert (found == expected).all()
    assert {-1, 0, 1} <= set(found)


def test_verdicts_are_those_of_the_exact_interval():
    rng = np.random.default_rng(2)
    costs = np.round(rng.normal(rng.normal(0, 0.6, (25, 1)), 1, (25, 20)), 1)
    costs *= rng.random((25, 20)) < 0.6
    expected = []
    for each in costs:
        interval = CostDifference(CostSample(each), None).interval(method="exact", laplace=0)
        expected.append(1 if interval.high < 0 else -1 if interval.low > 0 else 0)
    assert verdicts(costs, np.random.default_rng(3)).tolist() == expected


def test_equal_decisions_tie_and_scale_does_not_matter():
    differences = np.array([[0.0] * 8, [-3.0] * 8, [1e-9] * 8, [4.0, -4.0] * 4])
    assert verdicts(differences, np.random.default_rng(0)).tolist() == [0, 1, -1, 0]


def test_decisions_are_those_of_least_risk():
    rng = np.random.default_rng(4)
    proba = rng.dirichlet([1, 1, 1], 12)
    costs = rng.uniform(0, 10, (5, 3, 3))
    actual = rng.integers(0, 3, 12)
    decided = decisions(proba, costs)
    for values, row, paid in zip(costs, decided, cost_of(decided, actual, costs), strict=True):
        matrix = CostMatrix(values, rows="predicted", labels=[0, 1, 2])
        assert (matrix.decide(proba) == row).all()
        assert paid == pytest.approx([values[i, j] for i, j in zip(row, actual, strict=True)])


def test_matrices_are_those_of_the_thesis_and_the_first_ones_for_any_number(tmp_path):
    rows = ["x,class", *["1,a"] * 90, *["2,b"] * 10]
    (tmp_path / "bcy.csv").write_text("\n".join(rows))
    data = read_uci(tmp_path, "bcy")
    drawn = matrices(data, 0, 60)
    assert drawn.shape == (8, 60, 2, 2)
    assert (matrices(data, 0, 2) == drawn[:, :2]).all()
    assert not (matrices(data, 1, 2) == drawn[:, :2]).any(axis=(2, 3)).all()
    highest = drawn.max(axis=1)
    assert highest[0] == pytest.approx(np.array([[0, 10], [10, 0]]), rel=0.2)
    # Predicting a for a rare b is expensive in M5, and cheap in M6.
    assert highest[4] == pytest.approx(np.array([[0, 9000], [1000 / 9, 0]]), rel=0.2)
    assert highest[5] == pytest.approx(np.array([[0, 1000 / 9], [9000, 0]]), rel=0.2)
    assert highest[7] == pytest.approx(np.array([[10, 100], [100, 10]]), rel=0.2)


def test_folds_part_the_rows(tmp_path):
    write_set(tmp_path, "iris", rows=45)
    data = read_uci(tmp_path, "iris")
    found = folds(data, 3)
    assert len(found) == 10
    assert sorted(np.concatenate([test for _, test in found])) == list(range(45))
    assert all(set(train) | set(test) == set(range(45)) for train, test in found)


def rows_of(dataset, pair, *outcomes):
    return [
        {"dataset": dataset, "fold": fold, **row}
        for fold, each in enumerate(outcomes)
        for row in tally(np.array(each), pair=pair)
    ]


def test_totals_and_standings():
    rows = rows_of("iris", "A : B", [1, 1, 0, -1], [1, 0, 0, 0], [1, 1, 1, 1])
    rows += rows_of("zoo", "A : B", [0, 0, 0, -1])
    rows.append({"dataset": "zoo", "fold": 1, "measure": "left out", "value": 1.0})
    summed = totals(rows)
    wins = next(row for row in summed if row["dataset"] == "iris" and row["measure"] == "wins")
    assert wins["value"] == pytest.approx(7 / 12)
    assert wins["error"] == pytest.approx(np.std([0.5, 0.25, 1.0], ddof=1) / np.sqrt(3))
    assert wins["repeats"] == 12
    assert standing(summed, "A : B") == {"iris": (7, 4, 1), "zoo": (0, 3, 1)}
    assert standing(summed, "B : A") == {}
    assert [ahead(each) for each in standing(summed, "A : B").values()] == [1, -1]


def test_clearly_ahead_by_a_sign_test():
    assert clearly_ahead((9, 0, 1)) == 1  # p = 22/1024
    assert clearly_ahead((8, 50, 2)) == 0  # p = 112/1024
    assert clearly_ahead((1, 0, 9)) == -1
    assert clearly_ahead((0, 9, 0)) == 0


@pytest.mark.parametrize("black", [0, 1])
def test_bars_are_as_high_as_the_shares(black):
    plt = pytest.importorskip("matplotlib.pyplot")
    rows = totals(rows_of("iris", "A : B", [1, 1, 0, -1, 0]) + rows_of("bcy", "A : B", [0, -1]))
    figure = draw_bars(rows, "A : B", ("A", "B"), "A against B", black=black)
    ax = figure.axes[0]
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in ax.containers}
    assert heights == {"ties": [0.5, 0.4], "wins of A": [0, 0.4], "wins of B": [0.5, 0.2]}
    assert [bars.get_label() for bars in ax.containers][1] == f"wins of {'AB'[black]}"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["bcy\n2", "iris\n5"]
    plt.close(figure)
