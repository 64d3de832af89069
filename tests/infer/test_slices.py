"""Costs by slice: values, simultaneous limits, verdicts, engines, search and bad input."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from stakes import (
    Confusion,
    CostEstimate,
    CostMatrix,
    ExampleCosts,
    compare_by,
    evaluate,
    evaluate_by,
    find_slices,
)
from stakes.errors import InputError, InputTypeError
from stakes.infer import SliceEstimates
from stakes.infer._ratios import beta_limits
from stakes.infer.slices import levels_of

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)


def drawn(n=900, seed=0, bad="south"):
    """Return rows in three regions and two channels; misses are frequent in one region."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "south", "west"], n)
    channel = rng.choice(["web", "shop"], n)
    y_true = (rng.random(n) < 0.3).astype(int)
    wrong = rng.random(n) < np.where(region == bad, 0.4, 0.05)
    return y_true, np.where(wrong, 1 - y_true, y_true), {"region": region, "channel": channel}


def test_each_slice_costs_what_its_rows_cost():
    y_true, y_pred, by = drawn()
    found = evaluate_by(y_true, y_pred, COSTS, by=by)
    for each in found.slices():
        rows = by[each.column] == each.slice_
        alone = evaluate(y_true[rows], y_pred[rows], COSTS)
        assert each.cost == pytest.approx(alone.cost)
        assert each.n == rows.sum()
        level = levels_of(["region"] * 3 + ["channel"] * 2, 0.05)[each.column]
        assert (each.low, each.high) == pytest.approx(tuple(alone.interval(1 - level)))
        rest = evaluate(y_true[~rows], y_pred[~rows], COSTS).cost
        assert each.difference == pytest.approx(alone.cost - rest)
        assert each.difference_low < each.difference < each.difference_high
    frame = found.to_frame()
    assert frame.groupby("column")["share"].sum().to_list() == pytest.approx([1, 1])
    worst = frame[frame["column"] == "region"].iloc[0]
    assert (worst["slice"], worst["verdict"]) == ("south", "more expensive than the rest")
    assert set(frame[frame["column"] == "channel"]["verdict"]) == {"not shown"}
    assert "Shown to cost more than the rest: region south." in found.summary()
    assert found._repr_html_().count("<table>") == 1
    assert found.to_dict()["slices"][0]["slice"] == "south"


def test_levels_are_shared_within_and_between_columns():
    levels = levels_of(["a", "a", "b"], 0.05)
    assert 1 - (1 - levels["a"]) ** 2 == pytest.approx(0.025)
    assert levels["b"] == pytest.approx(0.025)


def test_all_of_twenty_rare_slices_are_covered_by_enumeration():
    """20 slices of 200 rows with 0.5% misses of cost 500: all limits at once."""
    level = levels_of(["slice"] * 20, 0.05)["slice"]
    misses = np.arange(201)
    low, high = beta_limits(misses, 200 - misses, level)
    costs = CostMatrix.from_errors(false_positive=0, false_negative=500)
    for count in (0, 1, 4):  # intervals of slices are these
        table = Confusion([[0, count], [0, 200 - count]], labels=[0, 1])
        interval = CostEstimate(table, costs).interval(1 - level, impossible=[(1, 0)])
        assert tuple(interval) == pytest.approx((500 * low[count], 500 * high[count]), abs=1e-6)
    for share in (0.0025, 0.005, 0.01, 0.02):
        inside = (low <= share) & (share <= high)
        assert binom.pmf(misses, 200, share)[inside].sum() ** 20 >= 0.93


def test_crossed_columns_missing_values_and_one_class_in_a_slice():
    y_true, y_pred, by = drawn(200)
    by["region"] = by["region"].astype(object)
    by["region"][:30] = None
    by["region"][30:35] = np.nan
    found = evaluate_by(y_true, y_pred, COSTS, by=by, columns=["region:channel", "region"])
    names = {each.slice_ for each in found.slices() if each.column == "region"}
    assert names == {"north", "south", "west", "(missing)"}
    missing = next(each for each in found.slices() if each.slice_ == "(missing)")
    assert missing.n == 35
    crossed = [each for each in found.slices() if each.column == "region:channel"]
    assert sum(each.n for each in crossed) == 200
    assert "south:web" in {each.slice_ for each in crossed}
    y_true[by["channel"] == "web"] = 0
    one = evaluate_by(y_true, y_pred, COSTS, by=by["channel"]).slices()
    assert {each.slice_ for each in one} == {"web", "shop"}
    # With priors, the cost of a slice without rows of a class is unknown.
    priors = {0: 0.5, 1: 0.5}
    known = evaluate_by(y_true, y_pred, COSTS, by=by["channel"], class_priors=priors)
    web = next(each for each in known.slices() if each.slice_ == "web")
    assert (web.cost, web.low, web.high, web.verdict) == (None, 0.0, 20.0, "not shown")
    assert "not known" in known.summary()


def test_with_priors_no_shares_of_the_total_cost_are_stated():
    y_true, y_pred, by = drawn(400)
    plain = evaluate_by(y_true, y_pred, COSTS, by=by["region"]).slices()
    assert sum(each.share for each in plain) == pytest.approx(1)
    priors = {0: 0.9, 1: 0.1}
    known = evaluate_by(y_true, y_pred, COSTS, by=by["region"], class_priors=priors).slices()
    assert all(each.share is None and each.cost is not None for each in known)


def test_small_slices_are_not_narrower_than_their_data_allow():
    y_true, y_pred, _ = drawn(100)
    by = np.array(["large"] * 98 + ["one", "two"])
    found = {each.slice_: each for each in evaluate_by(y_true, y_pred, COSTS, by=by).slices()}
    assert found["one"].high - found["one"].low > 15
    assert found["one"].verdict == "not shown"


def test_ten_thousand_slices_are_refused_or_merged():
    n = 12_000
    y_true, y_pred = np.arange(n) % 2, np.arange(n) % 2
    by = {"customer": np.concatenate([np.repeat([1, 2, 3], 600), np.arange(10, n - 1790)])}
    with pytest.raises(InputError, match=r"10,203 different values.*most=20"):
        evaluate_by(y_true, y_pred, COSTS, by=by)
    found = evaluate_by(y_true, y_pred, COSTS, by=by, most=3).slices()
    assert {each.slice_: each.n for each in found} == {
        "1": 600,
        "2": 600,
        "3": 600,
        "(other)": n - 1800,
    }


@pytest.mark.parametrize("engine", ["pandas", "polars", "duckdb"])
def test_the_largest_slices_of_a_frame_are_those_with_most_rows(engine):
    """The small slice has all four cells, the large ones only one."""
    frame = pd.DataFrame(
        {
            "y": [0, 1, 0, 1] + [0] * 96,
            "p": [0, 0, 1, 1] + [0] * 96,
            "site": ["small"] * 4 + ["large"] * 56 + ["middle"] * 40,
        }
    )
    given = frame
    if engine == "polars":
        given = pytest.importorskip("polars").from_pandas(frame).lazy()
    elif engine == "duckdb":
        given = pytest.importorskip("duckdb").from_df(frame)
    found = SliceEstimates.from_frame(
        given, COSTS, actual="y", predicted="p", by=["site"], most=2
    ).slices()
    sizes = {each.slice_: each.n for each in found}
    assert sizes == {"large": 56, "middle": 40, "(other)": 4}


def test_each_slice_has_a_name_of_its_own():
    y = [0, 1] * 4
    crossed = {"a": ["x:y", "x"] * 4, "b": ["z", "y:z"] * 4}
    frame = pd.DataFrame({**crossed, "y": y, "p": y})
    for found in (
        evaluate_by(y, y, COSTS, by=crossed, columns=["a:b"]),
        SliceEstimates.from_frame(frame, COSTS, actual="y", predicted="p", by=["a:b"]),
    ):
        assert {each.slice_ for each in found.slices()} == {"'x:y':'z'", "'x':'y:z'"}
    mixed = evaluate_by(y, y, COSTS, by=[1, "1"] * 4).slices()
    assert [(each.slice_, each.n) for each in mixed] == [("1", 8)]
    # A slice named "(other)" in the data is merged with the others.
    other = evaluate_by(y, y, COSTS, by=["(other)", "a", "(other)", "b"] * 2, most=1).slices()
    assert {each.slice_: each.n for each in other} == {"a": 2, "(other)": 6}


def test_groups_weights_strata_and_costs_of_single_rows():
    y_true, y_pred, by = drawn(300)
    groups = np.arange(300) // 3
    rows = by["region"] == "south"
    found = evaluate_by(y_true, y_pred, COSTS, by=by["region"], groups=groups).slices()
    south = next(each for each in found if each.slice_ == "south")
    alone = evaluate(y_true[rows], y_pred[rows], COSTS, groups=groups[rows])
    level = levels_of(["slice"] * 3, 0.05)["slice"]
    assert (south.low, south.high) == pytest.approx(tuple(alone.interval(1 - level)))
    weight = np.random.default_rng(1).uniform(0.5, 2, 300)
    found = evaluate_by(y_true, y_pred, COSTS, by=by["region"], sample_weight=weight).slices()
    south = next(each for each in found if each.slice_ == "south")
    assert south.cost == pytest.approx(
        evaluate(y_true[rows], y_pred[rows], COSTS, sample_weight=weight[rows]).cost
    )
    strata = np.where(np.arange(300) < 100, "a", "b")
    shares = {"a": 0.5, "b": 0.5}
    found = evaluate_by(
        y_true, y_pred, COSTS, by=by["region"], strata=strata, population=shares
    ).slices()
    south = next(each for each in found if each.slice_ == "south")
    stands = np.where(strata == "a", 0.5 / 100, 0.5 / 200)
    assert south.cost == pytest.approx(
        evaluate(y_true[rows], y_pred[rows], COSTS, sample_weight=stands[rows]).cost
    )
    amounts = np.random.default_rng(2).uniform(1, 50, 300)
    each_costs = ExampleCosts.from_matrix(COSTS, y_true, amounts)
    found = evaluate_by(y_true, y_pred, each_costs, by=by["region"]).slices()
    south = next(each for each in found if each.slice_ == "south")
    values = np.where(y_true == y_pred, 0, np.where(y_true == 1, 20, 1)) * amounts
    assert south.cost == pytest.approx(values[rows].mean())


def test_pairs_of_slices_and_of_models():
    y_true, y_pred, by = drawn()
    found = evaluate_by(y_true, y_pred, COSTS, by=by)
    difference, low, high = found.difference("south", "north", column="region")
    assert 0 < low < difference < high
    for pair in (("east", "north"), ("south", "south")):
        with pytest.raises(InputError, match="first, second"):
            found.difference(*pair)
    with pytest.raises(InputError, match="column"):
        found.difference("south", "north", column="country")
    alone = evaluate_by(y_true, y_pred, COSTS, by=["a"] * len(y_true))
    assert "together" not in alone.summary()
    better = np.where(by["region"] == "south", y_true, y_pred)
    both = compare_by(y_true, better, y_pred, COSTS, by=by["region"], names=("new", "old"))
    slices = {each.slice_: each for each in both.slices()}
    assert slices["south"].cheaper == "new"
    assert slices["north"].difference == 0
    assert slices["north"].cheaper is None
    assert set(both.to_frame()["slice"]) == {"north", "south", "west"}
    assert "new minus old" in both.summary()
    assert both.to_dict()["names"] == ["new", "old"]


@pytest.mark.parametrize("engine", ["pandas", "polars", "duckdb"])
def test_frames_are_counted_where_they_are(engine):
    y_true, y_pred, by = drawn(400)
    region = by["region"].astype(object)
    region[:7] = None
    frame = pd.DataFrame({"y": y_true, "p": y_pred, "region": region, "channel": by["channel"]})
    expected = evaluate_by(
        y_true, y_pred, COSTS, by={**by, "region": region}, columns=["region", "region:channel"]
    ).to_frame()
    given = frame
    if engine == "polars":
        given = pytest.importorskip("polars").from_pandas(frame).lazy()
    elif engine == "duckdb":
        given = pytest.importorskip("duckdb").from_df(frame)
    found = SliceEstimates.from_frame(
        given, COSTS, actual="y", predicted="p", by=["region", "region:channel"]
    ).to_frame()
    order = ["column", "slice"]
    one, other = (each.sort_values(order, ignore_index=True) for each in (expected, found))
    pd.testing.assert_frame_equal(one, other, check_dtype=False, atol=1e-9)


def test_the_search_finds_a_bad_slice_and_says_what_it_searched():
    y_true, y_pred, by = drawn(3000, seed=3)
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({**by, "age": rng.integers(18, 90, 3000), "noise": rng.normal(size=3000)})
    found = find_slices(frame, y_true, y_pred, COSTS)
    assert "region = south" in found.slices[0].conditions
    assert found.shown
    assert found.n_search + found.n_judge == 3000
    assert found.searched > 50
    assert f"{found.searched:,} slices were searched on 1,500 rows" in found.summary()
    assert found.to_frame()["shown"].iloc[0]
    again = find_slices(frame, y_true, y_pred, COSTS)
    assert again == found
    grouped = find_slices(
        frame, y_true, y_pred, COSTS, groups=np.arange(3000) // 2, conditions=1, top=2
    )
    assert len(grouped.slices) == 2
    assert all(len(each.conditions) == 1 for each in grouped.slices)


@pytest.mark.parametrize("form", ["float", "nullable", "objects"])
def test_numbers_some_of_which_are_missing_are_searched_by_quarters(form):
    y_true, y_pred, _ = drawn(3000, bad="nowhere")
    age = np.random.default_rng(6).integers(18, 90, 3000).astype(float)
    y_pred = np.where(age >= 72, 0, y_pred)
    age[::10] = np.nan
    given = {
        "float": age,
        "nullable": pd.array(age, dtype="Int64"),
        "objects": [None if np.isnan(each) else int(each) for each in age],
    }[form]
    found = find_slices(pd.DataFrame({"age": given}), y_true, y_pred, COSTS, conditions=1)
    assert found.slices[0].conditions == ("age >= 73",)
    assert found.slices[0].shown
    assert ("age = (missing)",) in [each.conditions for each in found.slices]


def test_conditions_are_written_as_they_are_applied():
    """Numbers of many digits are neither rounded nor written with an exponent."""
    y_true, y_pred, _ = drawn(2000)
    rng = np.random.default_rng(7)
    for values in (rng.integers(20_260_100, 20_260_399, 2000), rng.normal(size=2000)):
        found = find_slices({"x": values}, y_true, y_pred, COSTS, conditions=1, top=4)
        judged = 0
        for each in found.slices:
            low, high = re.fullmatch(r"(?:(\S+) <= )?x(?: < (\S+))?", _turned(each)).groups()
            inside = (values >= float(low or "-inf")) & (values < float(high or "inf"))
            assert abs(inside.mean() - 0.25) < 0.02
            judged += each.n
        assert judged == found.n_judge


def _turned(found):
    """Return the condition with the column on the right of its lower end."""
    (text,) = found.conditions
    return re.sub(r"x >= (\S+)", r"\1 <= x", text)


def test_the_search_names_no_slice_where_there_is_none():
    """Of 40 searches in data without a bad slice; the statistical tests have more."""
    false = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y_true = (rng.random(600) < 0.2).astype(int)
        y_pred = np.where(rng.random(600) < 0.1, 1 - y_true, y_true)
        frame = {"a": rng.choice(list("xyz"), 600), "b": rng.normal(size=600)}
        false += bool(find_slices(frame, y_true, y_pred, COSTS, least=30, rng=seed).shown)
    assert false <= 4


def test_bad_input_names_the_argument():
    y_true, y_pred, by = drawn(60)
    with pytest.raises(InputError, match="columns"):
        evaluate_by(y_true, y_pred, COSTS, by=by, columns=["country"])
    for nothing in ({"by": {}}, {"by": by, "columns": []}, {"by": by, "columns": "region"}):
        with pytest.raises((InputError, InputTypeError), match=r"by|columns"):
            evaluate_by(y_true, y_pred, COSTS, **nothing)
    with pytest.raises(InputTypeError, match="by"):
        evaluate_by(y_true, y_pred, COSTS, by="region")
    with pytest.raises(InputError, match="by"):
        evaluate_by(y_true, y_pred, COSTS, by=by["region"][:10])
    with pytest.raises(InputError, match="population"):
        evaluate_by(y_true, y_pred, COSTS, by=by["region"], population={"a": 1.0})
    with pytest.raises(InputTypeError, match="costs"):
        evaluate_by(y_true, y_pred, [[0, 1], [1, 0]], by=by["region"])
    with pytest.raises(InputError, match="frame"):
        find_slices({"a": ["x"] * 60}, y_true, y_pred, COSTS)
    with pytest.raises(InputTypeError, match="by"):
        SliceEstimates.from_frame(pd.DataFrame(), COSTS, actual="y", predicted="p", by="region")


def test_weights_are_called_so():
    y_true, y_pred, by = [0, 1] * 40, [0, 1, 1, 1] * 20, {"side": ["n", "s", "s", "n"] * 20}
    costs = CostMatrix.from_errors(false_positive=1, false_negative=9)
    assert "rows" in evaluate_by(y_true, y_pred, costs, by=by).summary().splitlines()[0]
    weighted = evaluate_by(y_true, y_pred, costs, by=by, sample_weight=[1.0, 3.0] * 40)
    assert "weight" in weighted.summary().splitlines()[0]
