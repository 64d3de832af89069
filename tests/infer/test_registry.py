"""The registry of methods: its entries, and the results that are computed with them."""

import copy
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import stakes.infer.methods
from stakes import (
    Confusion,
    CostDifference,
    CostEstimate,
    CostMatrix,
    PairedConfusion,
    compare,
    compare_many,
)
from stakes.errors import ConstantCostWarning, DesignError, InputError
from stakes.infer import _outcomes
from stakes.infer._inference import takes
from stakes.infer.batch import batch_outcomes, batch_p_values
from stakes.infer.methods import METHODS, IntervalMethod, names_of_intervals, names_of_tests

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
ALIKE = CostMatrix.from_errors(false_positive=1, false_negative=1)
SAME = CostMatrix([[2, 2], [2, 2]], rows="predicted", labels=[0, 1])
PAIRED = PairedConfusion([[[60, 2], [7, 6]], [[3, 1], [3, 18]]], labels=[0, 1])
OFTEN = PairedConfusion([[[600, 20], [70, 40]], [[30, 10], [30, 200]]], labels=[0, 1])


def models(count, n=2000):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, n)
    return y_true, {
        f"m{k}": np.where(rng.random(n) < 0.1 + 0.01 * k, 1 - y_true, y_true) for k in range(count)
    }


# Entries.


def test_every_file_is_a_method_and_every_method_has_its_file():
    folder = Path(stakes.infer.methods.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert files == set(METHODS)
    for name, method in METHODS.items():
        assert method.name == name
        assert method.limits is not None or method.tails is not None
    assert set(names_of_intervals()) | set(names_of_tests()) == set(METHODS)


def test_options_are_the_keyword_only_parameters():
    def limits(outcomes, alpha, *, sure=1):
        return outcomes.mean - alpha * sure, outcomes.mean + alpha * sure

    method = IntervalMethod(name="mine", designs=frozenset({"simple"}), limits=limits)
    assert method.options == ("sure",)
    assert method.test_options == ()
    assert takes("bcost", "rng")
    assert takes("exact", "laplace")
    assert not takes("extremal", "rng")
    assert not takes("bdeltacost", "rng")  # a test, which has no interval
    assert "rng" in METHODS["bdeltacost"].test_options


def test_what_has_no_interval_or_no_test_is_refused_with_those_that_have():
    difference = CostDifference(OFTEN, COSTS)
    with pytest.raises(InputError, match=r"expected one of 'anytime', 'bca', .*; got 'mcnemar'"):
        difference.interval(method="mcnemar")
    with pytest.raises(InputError, match=r"expected one of 'bdeltacost', .*; got 't'"):
        difference.test("t")
    with pytest.raises(InputError, match="method: expected one of"):
        difference.test(["exact"])
    with pytest.raises(InputError, match="method: expected one of"):
        batch_p_values(batch_outcomes(OFTEN.counts[np.newaxis], COSTS), "t")
    grouped = compare([0, 1] * 30, [0, 1] * 30, [1, 0] * 30, COSTS, groups=np.repeat(range(12), 5))
    with pytest.raises(DesignError, match=r"can: 'bdeltacost', 'extremal',.* 'normal'"):
        grouped.test("exact")


def test_the_docstring_of_test_names_them_all():
    assert [
        name for name in names_of_tests() if f'"{name}"' not in CostDifference.test.__doc__
    ] == []


@pytest.mark.parametrize("method", names_of_tests())
def test_many_tables_at_once_are_tested_as_one_by_one(method):
    costs = ALIKE if method == "mcnemar" else COSTS
    tables = np.stack([PAIRED.counts, PAIRED.counts[::-1], 2 * PAIRED.counts])
    options = {"rng": 0} if "rng" in METHODS[method].test_options else {}
    together = batch_p_values(batch_outcomes(tables, costs), method, **options)
    alone = [
        CostDifference(PairedConfusion(table, labels=[0, 1]), costs).test(method, **options).p_value
        for table in tables
    ]
    # In a batch, tables share a random stream, so that only the first has the same random numbers.
    assert together[0] == pytest.approx(alone[0])
    assert together == pytest.approx(alone, **({"abs": 0.05} if options else {}))


def test_nothing_warns_that_is_only_looked_at():
    y_true = [0] * 60 + [1] * 40
    predictions = {"eager": [0] * 50 + [1] * 50, "shy": [0] * 80 + [1] * 20}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rare = compare(y_true, *predictions.values(), COSTS)
        constant = CostEstimate(Confusion([[5, 0], [0, 5]], labels=[0, 1]), SAME)
        ranking = compare_many(y_true, predictions, COSTS)
        for each in (rare, constant, ranking):
            repr(each)
            each.summary()
            each.to_dict()
            each._repr_html_()
        assert rare.cheaper in ("first", "second", None)
        ranking.best_set()
        ranking.to_frame()
    with pytest.warns(ConstantCostWarning):
        constant.interval()


# Cached results.


@pytest.fixture
def built(monkeypatch):
    """Return what a list of outcomes built from tables so far grows by."""
    count = []
    for module in ("stakes.infer.estimate", "stakes.infer.difference"):
        real = _outcomes.simple_outcomes

        def counting(*arguments, real=real):
            count.append(arguments[0])
            return real(*arguments)

        monkeypatch.setattr(f"{module}.simple_outcomes", counting)
    return count


def test_outcomes_are_built_once_for_each_table(built):
    y_true, predictions = models(8)
    ranking = compare_many(y_true, predictions, COSTS)
    looks = (repr, repr, lambda each: each.to_dict(), lambda each: each.comparisons(confidence=0.9))
    for look in looks:
        look(ranking)
        assert len(built) == 8 + 2 + 7 + 2  # models, constants, and the cheapest against each
    built.clear()
    estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), COSTS)
    for _ in range(2):
        assert estimate.interval().low < estimate.cost < estimate.total
        estimate.summary()
        estimate.to_dict()
    assert len(built) == 1
    difference = CostDifference(OFTEN, COSTS)
    for _ in range(2):
        difference.test()
        difference.interval()
        difference.summary()
        difference.estimates()
    assert len(built) == 1 + 1 + 2


def unpickled(result):
    return pickle.loads(pickle.dumps(result))  # noqa: S301


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, unpickled])
def test_results_are_copied_and_compared_by_their_fields(again):
    y_true, predictions = models(3)
    ranking = compare_many(y_true, predictions, COSTS)
    results = [ranking, ranking.difference("m0", "m1"), ranking.estimates()["m0"]]
    before = [pickle.dumps(each) for each in results]
    for each in results:
        each.summary()
    assert [pickle.dumps(each) for each in results] == before  # without cached results
    for each in results:
        other = again(each)
        assert other == each
        assert other.summary() == each.summary()
    others = compare_many(y_true, predictions, COSTS)
    assert others == ranking


def test_the_caller_cannot_change_what_is_kept():
    y_true, predictions = models(3)
    ranking = compare_many(y_true, predictions, COSTS)
    ranking.estimates().clear()
    assert len(ranking.estimates()) == 3
