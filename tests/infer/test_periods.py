"""Costs over time: periods, changes, running cost, late labels and invalid times."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from stakes import CostMatrix, ExampleCosts, GroupedConfusion, evaluate, evaluate_over
from stakes.errors import DesignError, InputError
from stakes.infer.periods import as_times, period_codes
from stakes.infer.slices import levels_of

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)


def drawn(n=600, seed=0):
    """Return decisions of three months in random order; the last month has more misses."""
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 90, n)
    time = np.datetime64("2026-01-01") + day.astype("timedelta64[D]")
    y_true = (rng.random(n) < 0.3).astype(int)
    wrong = rng.random(n) < np.where(day >= 59, 0.5, 0.05)
    return y_true, np.where(wrong, 1 - y_true, y_true), time


def test_each_period_costs_what_its_rows_cost():
    y_true, y_pred, time = drawn()
    found = evaluate_over(y_true, y_pred, COSTS, time=time, unit="USD")
    periods = found.periods()
    assert [each.period for each in periods] == ["2026-01", "2026-02", "2026-03"]
    level = levels_of(["period"] * 3, 0.05)["period"]
    so_far = np.zeros(len(time), dtype=bool)
    for each in periods:
        rows = time.astype("datetime64[M]") == np.datetime64(each.period)
        so_far |= rows
        alone = evaluate(y_true[rows], y_pred[rows], COSTS)
        assert each.cost == pytest.approx(alone.cost)
        assert (each.low, each.high) == pytest.approx(tuple(alone.interval(1 - level)))
        running = evaluate(y_true[so_far], y_pred[so_far], COSTS)
        assert each.running == pytest.approx(running.cost)
        limits = running.interval(method="anytime")
        assert (each.running_low, each.running_high) == pytest.approx(tuple(limits))
    assert [each.verdict for each in periods] == ["not shown", "not shown", "higher than at first"]
    assert periods[0].change is None
    assert periods[2].change == pytest.approx(periods[2].cost - periods[0].cost)
    assert periods[2].change_low > 0
    frame = found.to_frame()
    assert list(frame["n"]) == [each.n for each in periods]
    assert found.to_dict()["periods"][0]["period"] == "2026-01"
    assert "2026-03" in found.summary()
    assert found._repr_html_().count("<table>") == 1


@pytest.mark.parametrize(
    ("every", "names"),
    [
        ("day", ["2025-12-28", "2025-12-29", "2025-12-30", "2025-12-31", "2026-01-01"]),
        ("week", ["2025-W52", "2026-W01"]),
        ("month", ["2025-12", "2026-01"]),
        ("quarter", ["2025-Q4", "2026-Q1"]),
        ("year", ["2025", "2026"]),
    ],
)
def test_periods_have_iso_names(every, names):
    times = np.array(["2025-12-28T23:59", "2026-01-01T00:00"], dtype="datetime64[us]")
    codes, found = period_codes(times, every)
    assert found == names
    assert codes.tolist() == [0, len(names) - 1]


def test_a_period_without_rows_is_not_called_cheap():
    found = evaluate_over([0, 1], [0, 1], COSTS, time=["2026-01-05", "2026-03-05"]).periods()
    empty = found[1]
    assert (empty.period, empty.n, empty.cost, empty.low, empty.high) == ("2026-02", 0, None, 0, 20)


def test_forms_of_time_agree():
    texts = ["2026-01-05", "2026-02-07T10:00", "2026-02-28"]
    expected = as_times(texts, "time").clock
    for given in (
        np.array(texts, dtype="datetime64[s]"),
        pd.Series(pd.to_datetime(texts, format="ISO8601")),
        [date(2026, 1, 5), datetime(2026, 2, 7, 10), date(2026, 2, 28)],  # noqa: DTZ001 - no zone
    ):
        found = as_times(given, "time")
        assert found.clock.tolist() == expected.tolist()
        assert found.note == ""


def test_time_zones():
    east = timezone(timedelta(hours=9))
    aware = [datetime(2026, 2, 1, 3, tzinfo=east), datetime(2026, 1, 31, 18, tzinfo=UTC)]
    found = as_times(aware, "time")
    assert found.clock[0] == found.clock[1] == np.datetime64("2026-01-31T18:00")
    assert "UTC" in found.note
    assert "UTC" in evaluate_over([0, 1], [0, 1], COSTS, time=aware).summary()
    with pytest.raises(InputError, match=r"some times have a time zone and some have none"):
        as_times([aware[0], "2026-01-01T00:00"], "time")


@pytest.mark.parametrize("form", ["datetime", "text", "pandas", "polars"])
def test_times_of_one_zone_are_in_the_periods_of_its_clocks(form):
    """Three in the morning of 1 February in Tokyo is still January in UTC."""
    texts = ["2026-02-01T03:00:00+09:00", "2026-03-01T00:30:00+09:00"]
    given = texts
    if form == "datetime":
        given = [datetime.fromisoformat(each) for each in texts]
    elif form == "pandas":
        given = pd.Series(pd.to_datetime(texts)).dt.tz_convert("Asia/Tokyo")
    elif form == "polars":
        polars = pytest.importorskip("polars")
        given = polars.Series(texts).str.to_datetime(time_zone="UTC")
        given = given.dt.convert_time_zone("Asia/Tokyo")
    found = evaluate_over([0, 1], [0, 1], COSTS, time=given)
    assert [each.period for each in found.periods()] == ["2026-02", "2026-03"]
    assert found.note == ""


def test_a_date_to_look_back_from_has_a_zone_as_the_labels_have():
    aware = ["2026-02-01T03:00:00+09:00", "2026-03-01T00:30:00+09:00"]
    rows = {"time": aware, "labelled_at": aware}
    with pytest.raises(InputError, match=r"as_of.*lacks a time zone"):
        evaluate_over([0, 1], [0, 1], COSTS, **rows, as_of="2026-02-15")
    naive = ["2026-02-01", "2026-03-01"]
    with pytest.raises(InputError, match=r"as_of.*has a time zone"):
        evaluate_over([0, 1], [0, 1], COSTS, time=naive, labelled_at=naive, as_of=aware[0])
    # The second label arrived at half past three in the afternoon of UTC.
    found = evaluate_over([0, 1], [0, 1], COSTS, **rows, as_of="2026-02-28T15:29:00+00:00")
    assert [each.complete for each in found.periods()] == [True, False]
    found = evaluate_over([0, 1], [0, 1], COSTS, **rows, as_of="2026-02-28T15:30:00+00:00")
    assert [each.complete for each in found.periods()] == [True, True]


def test_rows_are_counted_once_however_many_periods_and_late_labels_there_are(monkeypatch):
    """Counting takes as long as the rows are many; periods are sums of what was counted."""
    y_true, y_pred, time = drawn(400)
    labels = y_true.astype(object)
    late = np.arange(400) % 3 == 0
    labels[late] = None
    arrived = np.where(late, np.datetime64("NaT", "us"), time)
    calls = []
    count = GroupedConfusion.from_labels.__func__
    monkeypatch.setattr(
        GroupedConfusion,
        "from_labels",
        classmethod(lambda *args, **given: calls.append(1) or count(*args, **given)),
    )
    found = evaluate_over(labels, y_pred, COSTS, time=time, labelled_at=arrived, every="day")
    assert len(found.parts) > 80
    assert len(calls) <= 3
    worst = np.where(late, np.where(y_pred == 1, 0, 1), y_true)  # the costliest labels
    direct = evaluate(worst, y_pred, COSTS).cost
    assert sum(each.worst.total for each in found.parts) == pytest.approx(400 * direct)


def test_labels_that_have_not_arrived_are_allowed_for():
    y_true, y_pred, time = drawn(300)
    late = time >= np.datetime64("2026-03-15")
    labels = y_true.astype(object)
    labels[late] = None
    arrived = np.where(late, np.datetime64("NaT", "us"), time + np.timedelta64(5, "D"))
    found = evaluate_over(labels, y_pred, COSTS, time=time, labelled_at=arrived)
    full = evaluate_over(y_true, y_pred, COSTS, time=time).periods()
    *complete, last = found.periods()
    assert [each.complete for each in complete] == [True, True]
    assert not last.complete
    assert last.labelled == (~late[time >= np.datetime64("2026-03-01")]).sum()
    assert last.change is None
    assert last.running is None
    assert (last.low, last.high) != (full[2].low, full[2].high)
    assert last.low <= full[2].low
    assert last.high >= full[2].high
    assert "incomplete" in found.summary()
    # With an earlier as_of, later labels count as not arrived.
    early = evaluate_over(y_true, y_pred, COSTS, time=time, labelled_at=arrived, as_of="2026-02-20")
    assert [each.complete for each in early.periods()] == [True, False, False]
    assert early.periods()[2].cost is None
    # A constant prediction: all rows without labels may be wrong.
    nothing = evaluate_over(
        [0, None], [0, 0], COSTS, time=["2026-01-01"] * 2, labelled_at=["2026-01-02", None]
    )
    assert nothing.periods()[0].high > 15


def test_designs():
    y_true, y_pred, time = drawn(300)
    groups = np.arange(300) // 3
    found = evaluate_over(y_true, y_pred, COSTS, time=time, groups=groups).periods()
    assert all(each.low < each.cost < each.high for each in found)
    assert found[0].running is not None
    assert found[0].running_low is None
    costs = ExampleCosts.from_matrix(COSTS, y_true, np.linspace(1, 2, 300), high=40)
    each = evaluate_over(y_true, y_pred, costs, time=time, every="year").periods()[0]
    values = np.where(y_true == y_pred, 0, np.where(y_true == 1, 20, 1)) * np.linspace(1, 2, 300)
    assert each.cost == pytest.approx(values.mean())
    assert each.running_low < each.running < each.running_high
    # The largest observed amount is no bound, so no limit holds at all times.
    costs = ExampleCosts.from_matrix(COSTS, y_true, np.linspace(1, 2, 300))
    each = evaluate_over(y_true, y_pred, costs, time=time, every="year").periods()[0]
    assert each.running_low is None
    labels = y_true.astype(object)
    labels[0] = None
    with pytest.raises(DesignError, match="labelled_at"):
        evaluate_over(labels, y_pred, costs, time=time, labelled_at=[None, *["2026-06-01"] * 299])


def test_bad_input_names_the_argument():
    y_true, y_pred, time = drawn(30)
    with pytest.raises(InputError, match="time"):
        evaluate_over(y_true, y_pred, COSTS, time=["yesterday"] * 30)
    with pytest.raises(InputError, match="3 times are missing"):
        evaluate_over(y_true, y_pred, COSTS, time=[None] * 3 + ["2026-01-01"] * 27)
    with pytest.raises(InputError, match="every"):
        evaluate_over(y_true, y_pred, COSTS, time=time, every="fortnight")
    with pytest.raises(InputError, match="periods from the first to the last"):
        evaluate_over([0, 1], [0, 1], COSTS, time=["1990-01-01", "2026-01-01"], every="day")
    with pytest.raises(InputError, match="labels are missing"):
        evaluate_over([None, *y_true[1:]], y_pred, COSTS, time=time)
    with pytest.raises(InputError, match="labelled_at"):
        evaluate_over([None, *y_true[1:]], y_pred, COSTS, time=time, labelled_at=time)
    with pytest.raises(InputError, match="as_of"):
        evaluate_over(y_true, y_pred, COSTS, time=time, as_of="2026-01-01")
    with pytest.raises(InputError, match="time"):
        evaluate_over(y_true, y_pred, COSTS, time=time[:5])
