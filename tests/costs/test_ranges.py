import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stakes import CostMatrix, CostRanges
from stakes.errors import InputError, InputTypeError, LabelError

LABELS = ["stable", "unstable"]
RIVER = {
    ("stable", "unstable"): (1e6, 1e8),
    ("unstable", "stable"): (500.0, 2000.0),
    ("unstable", "unstable"): 3000,
}


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_samples_lie_in_their_ranges_and_have_the_stated_law(scale):
    costs = CostRanges.from_cells(RIVER, labels=LABELS, scale=scale)
    drawn = costs.sample(4000, rng=0)
    assert (drawn >= costs.low).all()
    assert (drawn <= costs.high).all()
    assert (drawn[:, 0, 0] == 0).all()
    assert (drawn[:, 1, 1] == 3000).all()
    law = stats.loguniform(1e6, 1e8) if scale == "log" else stats.uniform(1e6, 9.9e7)
    assert stats.kstest(drawn[:, 0, 1], law.cdf).pvalue > 1e-3
    assert costs.mean().values[0, 1] == pytest.approx(law.mean())
    assert costs.mean().values[1, 1] == pytest.approx(3000)
    assert costs.mean().values[0, 0] == 0


def test_gains_on_the_log_scale():
    costs = CostRanges.from_cells({(0, 0): (-100, -1), (0, 1): (1, 9)}, labels=[0, 1], scale="log")
    drawn = costs.sample(2000, rng=1)[:, 0, 0]
    assert drawn.min() >= -100
    assert drawn.max() <= -1
    assert costs.mean().values[0, 0] == pytest.approx(-stats.loguniform(1, 100).mean())


def test_a_distribution_replaces_a_range():
    costs = CostRanges.from_cells({(0, 1): stats.gamma(3, scale=20), (1, 0): (1, 2)}, labels=[0, 1])
    drawn = costs.sample(4000, rng=2)
    assert stats.kstest(drawn[:, 0, 1], stats.gamma(3, scale=20).cdf).pvalue > 1e-3
    assert costs.mean().values.tolist() == [[0, pytest.approx(60)], [1.5, 0]]
    assert "mean 60" in repr(costs)


def test_the_same_seed_gives_the_same_matrices():
    costs = CostRanges.from_cells(RIVER, labels=LABELS)
    assert np.array_equal(costs.sample(5, rng=3), costs.sample(5, rng=np.random.default_rng(3)))
    assert not np.array_equal(costs.sample(5, rng=3), costs.sample(5, rng=4))


def test_orientation_and_equality():
    by_row = CostRanges([[0, 1], [2, 0]], [[0, 5], [9, 0]], rows="predicted", labels=LABELS)
    by_column = CostRanges([[0, 2], [1, 0]], [[0, 9], [5, 0]], rows="actual", labels=LABELS)
    assert by_row == by_column
    assert by_row.high[0, 1] == 5
    assert "1 … 5" in repr(by_row)
    assert "1 … 5" in by_row._repr_html_()


def test_distributions_are_equal_by_name_and_parameters():
    def made(*args, **kwds):
        cells = {(0, 1): stats.gamma(*args, **kwds), (1, 0): stats.norm(5, 1)}
        return CostRanges.from_cells(cells, labels=[0, 1])

    costs = made(3, scale=20)
    loaded = pickle.loads(pickle.dumps(costs))  # noqa: S301 - made here
    assert costs == made(3, scale=20) == loaded == copy.deepcopy(costs)
    assert len({costs, made(3, scale=20), loaded}) == 1
    assert costs != made(4, scale=20)
    assert costs != made(3, scale=21)
    assert costs != CostRanges.from_cells(
        {(0, 1): stats.invgamma(3, scale=20), (1, 0): stats.norm(5, 1)}, labels=[0, 1]
    )
    assert np.array_equal(loaded.sample(5, rng=0), costs.sample(5, rng=0))


def test_ranges_as_plain_lists():
    costs = CostRanges.from_cells(
        {("a", "b"): (1, 2), ("b", "a"): stats.gamma(3, scale=20)}, labels=["a", "b"]
    )
    assert json.loads(json.dumps(costs.to_dict())) == {
        "rows": "predicted",
        "labels": ["a", "b"],
        "decisions": ["a", "b"],
        "scale": "linear",
        "low": [[0, 1], [0, 0]],
        "high": [[0, 2], [0, 0]],
        "distributions": [
            {
                "decision": "b",
                "class": "a",
                "name": "gamma",
                "args": [3],
                "kwds": {"scale": 20},
                "mean": 60,
            }
        ],
    }


def test_a_sample_may_be_empty():
    costs = CostRanges.from_cells({(0, 1): stats.gamma(3)}, labels=[0, 1])
    assert costs.sample(np.int64(0)).shape == (0, 2, 2)


def test_around_known_costs():
    costs = CostMatrix.from_errors(false_positive=10, false_negative=100, true_positive=-4)
    ranges = CostRanges.around(costs, 4)
    assert ranges.low.tolist() == [[0, 25], [2.5, -16]]
    assert ranges.high.tolist() == [[0, 400], [40, -1]]
    assert np.allclose(CostRanges.around(costs, 1).sample(3, rng=0), costs.values)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: CostRanges([[0, 2], [1, 0]], [[0, 1], [1, 0]], rows="predicted", labels=LABELS),
            InputError,
            "low must not be above high, got 2 … 1 for predicting 'stable' when it was",
        ),
        (
            lambda: CostRanges.from_cells({(0, 1): (0, 5)}, labels=[0, 1], scale="log"),
            InputError,
            "on the log scale the ends must have the same sign .*got 0 … 5",
        ),
        (
            lambda: CostRanges.from_cells({(0, 1): (1, 2, 3)}, labels=[0, 1]),
            InputError,
            r"cells: expected a number, a pair .* for \(0, 1\), got \(1, 2, 3\)",
        ),
        (lambda: CostRanges.from_cells({(0, 1): "big"}, labels=[0, 1]), InputError, "got 'big'"),
        (
            lambda: CostRanges.from_cells({(0, 1): np.nan}, labels=[0, 1]),
            InputError,
            "low: expected finite costs, got nan",
        ),
        (
            lambda: CostRanges.from_cells({(0, 2): 1}, labels=[0, 1]),
            LabelError,
            r"expected a pair \(decision, class\) .* got \(0, 2\)",
        ),
        (lambda: CostRanges.from_cells({0: 1}, labels=[0, 1]), LabelError, "got 0"),
        (
            lambda: CostRanges.from_cells({}, labels=[0, 1], scale="sqrt"),
            InputError,
            "scale: expected one of 'linear', 'log'; got 'sqrt'",
        ),
        (lambda: CostRanges([[0]], [[0]], labels=[0]), InputTypeError, "rows: state what"),
        (
            lambda: CostRanges([[0]], [[0]], rows="actual", labels=[0], distributions={(0, 0): 3}),
            InputTypeError,
            "distributions: expected a frozen scipy.stats distribution",
        ),
        (
            lambda: CostRanges.around(CostMatrix.zero_one([0, 1]), 0.5),
            InputError,
            "factor: expected a number of at least 1, got 0.5",
        ),
        (
            lambda: CostRanges.around(CostMatrix.zero_one([0, 1]), "2"),
            InputError,
            "factor: expected numbers, got '2'",
        ),
        (
            lambda: CostRanges.around([[0, 1], [1, 0]], 2),
            InputTypeError,
            "costs: expected a CostMatrix, got a list",
        ),
        (
            lambda: CostRanges.from_cells([1, 2], labels=[0, 1]),
            InputTypeError,
            r"cells: expected a mapping from \(decision, class\).*got \[1, 2\] \(list\)",
        ),
        (
            lambda: CostRanges.from_cells({(0, 1): [1, [2, 3]]}, labels=[0, 1]),
            InputError,
            r"cells: expected a number, a pair .* got \[1, \[2, 3\]\]",
        ),
        (
            lambda: CostRanges([[0]], [[0]], rows="actual", labels=[0], distributions=[3]),
            InputTypeError,
            "distributions: expected a mapping",
        ),
        (
            lambda: CostRanges(
                [[0]], [[0]], rows="actual", labels=[0], distributions={0: stats.norm()}
            ),
            LabelError,
            r"distributions: expected a pair .* got 0",
        ),
        (
            lambda: CostRanges.from_cells({(0, 1): stats.gamma}, labels=[0, 1]),
            InputTypeError,
            r"distributions: expected a frozen .* for predicting 0 when it was 1.*gamma\(3",
        ),
        (
            lambda: CostRanges.from_cells({(0, 1): stats.cauchy()}, labels=[0, 1]),
            InputError,
            "distributions: expected a distribution with a finite mean for predicting 0",
        ),
        (
            lambda: CostRanges.from_cells(
                {(0, 1): stats.multivariate_normal([0, 1])}, labels=[0, 1]
            ),
            InputTypeError,
            "distributions: expected a frozen scipy.stats distribution of single numbers",
        ),
        (
            lambda: CostRanges(pd.DataFrame([[0]]), [[0]], rows="actual", labels=[0]),
            InputTypeError,
            "low: .*got a data frame",
        ),
        (
            lambda: CostRanges.from_cells({}, labels=[0, 1]).sample(-1),
            InputError,
            "size: expected a whole number, 0 or more, got -1",
        ),
        (
            lambda: CostRanges.from_cells({}, labels=[0, 1]).sample(2.5),
            InputError,
            "size: .*got 2.5",
        ),
        (
            lambda: CostRanges.from_cells({}, labels=[0, 1]).sample(2, rng="x"),
            InputTypeError,
            "rng: .*got 'x'",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_frames_name_the_distributions():
    ranges = CostRanges.from_cells(
        {(0, 1): stats.gamma(3, scale=20), (1, 0): (1, 4)}, labels=[0, 1]
    )
    frame = ranges.to_frame().set_index(["decision", "actual"])
    assert frame.loc[(0, 1), "distribution"] == "gamma"
    assert frame.loc[(1, 0), ["low", "high"]].tolist() == [1, 4]
