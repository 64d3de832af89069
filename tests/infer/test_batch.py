import numpy as np
import pytest

from stakes import Confusion, CostDifference, CostEstimate, CostMatrix, PairedConfusion
from stakes.errors import InputError
from stakes.infer import batch_intervals
from stakes.infer.batch import Outcomes, batch_outcomes, batch_p_values, make_stratum
from stakes.infer.methods import METHODS, names_of_intervals

COSTS = CostMatrix([[0, 30, 2.5], [1, 0, 7], [4, 0.5, 0]], rows="predicted", labels=list("abc"))


@pytest.mark.parametrize("method", [name for name in names_of_intervals() if name != "bcost"])
def test_a_batch_is_its_tables_one_by_one(method):
    rng = np.random.default_rng(0)
    tables = rng.multinomial(80, rng.dirichlet(np.ones(9)), 12).reshape(-1, 3, 3)
    tables[3] *= 5  # a table of another size
    low, high = batch_intervals(tables, COSTS, method=method, confidence=0.9)
    for k, table in enumerate(tables):
        one = CostEstimate(Confusion(table, list("abc")), COSTS).interval(0.9, method)
        assert (low[k], high[k]) == pytest.approx((one.low, one.high), rel=1e-7, abs=1e-9)


def hard_tables(rng, cells):
    """Return tables of few and many draws, with empty cells, of one class, without errors."""
    drawn = [
        rng.multinomial(n, rng.dirichlet(np.full(cells, spread)))
        for n in (1, 30, 30, 1000, 1500, 40_000)
        for spread in (0.1, 1.0)
        for _ in range(10)
    ]
    size = round(cells**0.5)
    tables = np.reshape(drawn, (-1, size, size))
    tables[0], tables[1:3, :, 1:] = 50 * np.eye(size, dtype=int), 0
    tables[1:3, 0, 0] = 7
    return tables


@pytest.mark.parametrize("options", [{}, {"laplace": 0}, {"laplace": "auto"}, {"method": "bca"}])
@pytest.mark.parametrize(
    "values",
    [
        [[0, 30], [1, 0]],
        [[0, 30, 2.5], [1, 0, 7], [4, 0.5, 0]],
        [[-1, 300, 20], [1, 0, 7], [40, 0, 0]],
        [[0, 2**0.5, 1], [1, 0, 7], [3, 5, 0]],  # no common step
    ],
)
def test_many_distributions_are_those_of_one_table_each(values, options):
    costs = CostMatrix(values, rows="predicted", labels=range(len(values)))
    tables = hard_tables(np.random.default_rng(5), costs.values.size)
    if costs.values[0, 1] == 2**0.5:
        tables = tables[::15]  # these are treated one by one
    settings = {"method": "exact"} | options
    low, high = batch_intervals(tables, costs, **settings)
    alone = [
        tuple(CostEstimate(Confusion(each, range(len(values))), costs).interval(**settings))
        for each in tables
    ]
    assert np.column_stack([low, high]) == pytest.approx(np.array(alone), rel=1e-12, abs=1e-12)


def test_tables_in_several_strata_are_those_of_the_class_priors():
    rng, priors = np.random.default_rng(6), {"a": 0.7, "b": 0.2, "c": 0.1}
    tables = 1 + rng.multinomial(90, rng.dirichlet(np.ones(9)), 12).reshape(-1, 3, 3)
    columns = [COSTS.values[:, each] for each in range(3)]
    strata = tuple(
        make_stratum(column, tables[:, :, each], weight=prior)
        for each, (column, prior) in enumerate(zip(columns, priors.values(), strict=True))
    )
    low, high = METHODS["exact"].limits(Outcomes(strata, "stratified"), 0.05)
    for k, table in enumerate(tables):
        estimate = CostEstimate(Confusion(table, list("abc")), COSTS)
        one = estimate.interval(method="exact", class_priors=priors)
        assert (low[k], high[k]) == pytest.approx((one.low, one.high), rel=1e-12)


def test_many_quantiles_at_once_are_those_one_by_one():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    found = CostEstimate(Confusion([[50, 2], [8, 40]], [0, 1]), costs).distribution()
    levels = [0.0, 1e-12, 0.5, 1.0]
    assert found.quantile(levels).tolist() == [found.quantile(each) for each in levels]


def test_a_batch_of_pairs():
    rng = np.random.default_rng(1)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    tables = rng.multinomial(120, rng.dirichlet(np.ones(8)), 20).reshape(-1, 2, 2, 2)
    low, high = batch_intervals(tables, costs)
    p_values = batch_p_values(batch_outcomes(tables, costs))
    for k, table in enumerate(tables):
        difference = CostDifference(PairedConfusion(table, [0, 1]), costs)
        one = difference.interval()
        assert (low[k], high[k]) == pytest.approx((one.low, one.high), abs=1e-9)
        assert p_values[k] == pytest.approx(difference.test().p_value, abs=1e-9)


@pytest.mark.parametrize("margin", [0.0, 1.3])
@pytest.mark.parametrize("method", ["exact", "extremal", "normal"])
def test_p_values_of_a_batch_are_those_of_the_tests(method, margin):
    rng = np.random.default_rng(7)
    cells = 3 * 3 * 3
    shares = rng.dirichlet(np.full(cells, 0.3), 12)
    drawn = [rng.multinomial(n, each) for each in shares for n in (2, 5, 40, 200)]
    drawn += list(rng.integers(2, 60, cells)[:, np.newaxis] * np.eye(cells, dtype=int))
    tables = np.reshape(drawn, (-1, 3, 3, 3))
    outcomes = batch_outcomes(tables, COSTS)
    p_values = batch_p_values(outcomes, method, margin)
    paired = [CostDifference(PairedConfusion(each, list("abc")), COSTS) for each in tables]
    results = [each.test(method, margin=margin) for each in paired]
    assert p_values == pytest.approx([each.p_value for each in results], rel=1e-6, abs=1e-10)
    assert (p_values <= 0.05).tolist() == [each.rejected for each in results]
    assert 0 < (p_values <= 0.05).sum() < len(tables)


def test_a_difference_without_spread_is_certain_to_the_normal_test():
    always, never = np.zeros((2, 3, 3, 3), dtype=int)
    always[0, 1, 2] = 5  # the first is cheaper in every example
    never[1, 1, 2] = 5
    found = batch_p_values(batch_outcomes([always, never], COSTS), "normal")
    assert found.tolist() == [1e-12, 1]


def test_bcost_in_a_batch_has_the_right_limit():
    tables = np.array([[[40, 2, 3], [5, 30, 1], [0, 4, 25]]] * 3)
    low, high = batch_intervals(tables, COSTS, method="bcost", n_resamples=50_000, rng=0)
    exact = batch_intervals(tables, COSTS, method="exact")
    assert low == pytest.approx(exact[0], abs=0.03)
    assert high == pytest.approx(exact[1], abs=0.05)


def test_bad_input():
    with pytest.raises(InputError, match=r"counts: expected tables of shape \(3, 3\)"):
        batch_intervals(np.ones((4, 2, 2)), COSTS)
    with pytest.raises(InputError, match="counts: expected finite counts"):
        batch_intervals(-np.ones((4, 3, 3)), COSTS)
    tables = np.ones((4, 3, 3))
    tables[2] = 0
    with pytest.raises(InputError, match="counts: table 2 has no examples"):
        batch_intervals(tables, COSTS)
