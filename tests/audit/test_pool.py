"""Pools of decided rows: counting by engines, strata, draws, and estimates from labels."""

import json
import math
import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from stakes import CostDifference, CostEstimate, CostMatrix, Pool
from stakes.audit import LabelPlan
from stakes.audit._allocation import Stratum, share_out
from stakes.audit._draw import (
    PRIME,
    PoolColumns,
    Selection,
    coefficients,
    draw,
    mixed,
    number_of_text,
)
from stakes.errors import (
    FileError,
    InputError,
    InputTypeError,
    LabelError,
    NotClaimedWarning,
    PlanError,
)

COSTS = CostMatrix.from_errors(
    false_positive=5, false_negative=500, pos_label="fraud", neg_label="ok"
)
MONEY = CostMatrix.from_errors(
    false_positive=5, false_negative=1, pos_label="fraud", neg_label="ok"
)
ROWS = 20_000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    score = rng.beta(0.1, 10, ROWS)
    actual = np.where(rng.random(ROWS) < score, "fraud", "ok")
    frame = pd.DataFrame(
        {
            "id": rng.permutation(ROWS) + 2**40,
            "score": score,
            "decided": np.where(score > 0.05, "fraud", "ok"),
            "new": np.where(score > 0.07, "fraud", "ok"),
            "judge": np.where(rng.random(ROWS) < np.where(actual == "fraud", 0.8, 0.02), 1, 0),
            "amount": np.round(rng.lognormal(3, 1.5, ROWS), 2),
            "actual": actual,
        }
    )
    frame["key"] = [f"k{each}é" for each in frame.id]
    return frame


@pytest.fixture(scope="module")
def truth(rows):
    return dict(zip(rows.id, rows.actual, strict=True))


def labelled(plan, truth):
    return {key: truth[key] for key in plan.rows["id"]}


def every(frame, **options):
    names = {"decision": "decided", "score": "score", "judge": "judge", "amount": "amount"}
    return Pool.from_frame(frame, **(names | {"id": "id"} | options))


class TestDraw:
    """Which rows are drawn depends on identifiers and seed alone."""

    @pytest.mark.parametrize("key", ["id", "key"])
    def test_the_same_rows_from_every_engine(self, rows, key):
        expected = every(rows, id=key).plan(MONEY, pos_label="fraud", n_labels=300)
        shuffled = rows.sample(frac=1, random_state=3)
        frames = {
            "pandas": shuffled,
            "polars": pl.from_pandas(shuffled),
            "lazy": pl.concat([pl.from_pandas(rows[:7000]), pl.from_pandas(rows[7000:])]).lazy(),
            "pyarrow": pl.from_pandas(shuffled).to_arrow(),
            "duckdb": duckdb.from_df(shuffled),
        }
        for name, frame in frames.items():
            found = every(frame, id=key).plan(MONEY, pos_label="fraud", n_labels=300)
            assert found.strata == expected.strata, name
            assert found.manifest() == expected.manifest(), name

    def test_strata_have_the_rows_that_were_counted(self, rows):
        plan = every(rows).plan(MONEY, pos_label="fraud", n_labels=400)
        assert sum(each.rows for each in plan.strata) == ROWS
        for each in plan.strata:
            inside = rows.decided == each.decided[0]
            inside &= (rows.score >= each.scores[0]) & (rows.score < each.scores[1])
            inside &= (rows.amount >= each.amounts[0]) & (rows.amount < each.amounts[1])
            if each.verdicts:
                inside &= np.array([(verdict,) in each.verdicts for verdict in rows.judge])
            assert inside.sum() == each.rows, each.name

    def test_numbers_are_mixed_well(self):
        """Consecutive identifiers, and every second one, are drawn like independent ones."""
        numbers = np.arange(200_000)
        hits = np.zeros(len(numbers))
        for seed in range(100):
            low = mixed(numbers, coefficients(seed)) < PRIME // 10
            assert abs(low.mean() - 0.1) < 0.004
            assert abs((low[1:] & low[:-1]).mean() - 0.01) < 0.002
            assert abs(low[::2].mean() - low[1::2].mean()) < 0.006
            hits += low
        assert abs(hits.var() / (100 * 0.09) - 1) < 0.03

    def test_draws_are_like_independent_ones(self):
        """From identifiers in a row, of which few are drawn: those of a part vary as by chance."""
        frame = pl.DataFrame({"id": np.arange(60_000), "decided": 0})
        selection = Selection((0,), (), (-math.inf, math.inf), (0, math.inf), 60_000, 25)
        seen = np.array(
            [
                [
                    row.key
                    for row in draw(frame, PoolColumns(("decided",), key="id"), [selection], seed)
                ]
                for seed in range(150)
            ]
        )
        for part in (seen < 6000, seen % 10 == 3, seen // 7 % 10 == 0):
            hits = part.sum(axis=1)
            assert abs(hits.mean() - 2.5) < 0.5  # 1.5 / √150 is 0.12
            assert abs(hits.var() / (25 * 0.09) - 1) < 0.5

    def test_expressions_and_arrays_agree(self):
        numbers = np.array([0, 1, 2**31, 2**53 + 1, 2**62])
        frame = pl.DataFrame({"x": numbers})
        found = frame.select(mixed(pl.col("x"), coefficients(5)))["x"].to_numpy()
        exact = [mixed(int(each), coefficients(5)) for each in numbers]
        assert found.tolist() == exact == mixed(numbers, coefficients(5)).tolist()

    def test_text_is_its_md5(self):
        assert number_of_text("abc") == int("900150983cd24fb0d6963f7d28e17f72"[:15], 16)

    def test_another_seed_draws_others(self, rows):
        pool = every(rows, amount=None, judge=None)
        one, other = (pool.plan(COSTS, n_labels=300, rng=seed).rows for seed in (0, 1))
        assert len(set(one.id) & set(other.id)) < 60

    def test_row_numbers_are_identifiers_where_there_are_none(self, rows):
        plan = every(rows, id=None).plan(MONEY, pos_label="fraud", n_labels=100)
        assert "by their number in the table" in plan.summary()
        assert set(plan.rows["row"]) <= set(range(ROWS))
        lazy = every(pl.from_pandas(rows).lazy(), id=None).plan(
            MONEY, pos_label="fraud", n_labels=100
        )
        assert list(lazy.rows["row"]) == list(plan.rows["row"])
        with pytest.raises(InputError, match="have no order"):
            _ = (
                every(duckdb.from_df(rows), id=None)
                .plan(MONEY, pos_label="fraud", n_labels=100)
                .rows
            )

    def test_every_row_has_an_identifier(self, rows):
        """Rows without one have the same hash, and might never be candidates."""
        some = rows.assign(key=np.where(rows.id % 3 == 0, rows.key, ""))
        counted = rf"{(some.key == '').sum()} rows have no identifier"
        frames = {counted: some, "some rows have no": duckdb.from_df(some)}
        for message, frame in (*frames.items(), ("some rows have no", pl.from_pandas(some).lazy())):
            with pytest.raises(InputError, match=message):
                _ = every(frame, id="key").plan(MONEY, pos_label="fraud", n_labels=100).rows
        alike = pl.from_pandas(rows.assign(id=7)).lazy()
        with pytest.raises(InputError, match="occurs in several rows"):
            _ = every(alike, amount=None).plan(COSTS, n_labels=100).rows

    def test_identifiers_must_be_unique(self, rows):
        twice = pd.concat([rows, rows])
        with pytest.raises(InputError, match="occurs in several rows"):
            _ = every(twice).plan(MONEY, pos_label="fraud", n_labels=400).rows


class TestEquality:
    """Pools and plans are equal by what they hold."""

    @pytest.mark.parametrize(
        "make", [pd.DataFrame, pl.DataFrame, lambda rows: pl.DataFrame(rows).to_arrow()]
    )
    def test_in_memory(self, make):
        one, other = (make({"id": [1, 2, 3], "decided": ["ok", "ok", "fraud"]}) for _ in range(2))
        pool = Pool.from_frame(one, decision="decided", id="id")
        assert pool == Pool.from_frame(other, decision="decided", id="id")
        assert hash(pool) == hash(Pool.from_frame(other, decision="decided", id="id"))
        assert pool != Pool.from_frame(other, decision="decided")
        assert pool != Pool.from_frame(
            make({"id": [1, 2], "decided": ["ok", "ok"]}), decision="decided", id="id"
        )
        assert pool != "pool"

    def test_lazy_frames_are_equal_to_themselves_alone(self):
        lazy = pl.LazyFrame({"id": [1], "decided": ["ok"]})
        pool = Pool.from_frame(lazy, decision="decided")
        assert pool == Pool.from_frame(lazy, decision="decided")
        assert pool != Pool.from_frame(
            pl.LazyFrame({"id": [1], "decided": ["ok"]}), decision="decided"
        )

    def test_plans(self, rows, truth):
        pool = every(rows, amount=None)
        plan = pool.plan(COSTS, n_labels=60)
        assert plan == every(rows.copy(), amount=None).plan(COSTS, n_labels=60)
        assert plan != pool.plan(COSTS, n_labels=60, rng=1)
        assert len({plan, pool.plan(COSTS, n_labels=60)}) == 1
        again = pickle.loads(pickle.dumps(plan))  # noqa: S301 - our own
        assert again == plan
        assert again.reading(labelled(plan, truth)) == plan.reading(labelled(plan, truth))


class TestAllocation:
    """How many labels each stratum gets."""

    def stratum(self, rows, span, rate=0.01):
        ends = (-math.inf, math.inf)
        return Stratum(
            f"{rows} {span} {rate}", ("ok",), (), ends, (0, math.inf), rows, 0, span, rate
        )

    @pytest.mark.parametrize("mix", [0.1, 0.5, 1.0])
    def test_all_labels_are_given_and_few_are_left_nowhere(self, mix):
        rng = np.random.default_rng(3)
        for _ in range(200):
            strata = [
                self.stratum(
                    int(rng.lognormal(5, 2)) + 1, rng.choice([0, 5, 500]), rng.random() / 9
                )
                for _ in range(rng.integers(1, 9))
            ]
            open_rows = sum(each.rows for each in strata if each.high)
            if open_rows < 40:
                continue
            n = int(rng.integers(40, min(open_rows, 400) + 1))
            made = share_out(strata, n, mix)
            assert sum(each.labels for each in made) == n
            for each in made:
                assert each.labels <= each.rows
                assert not each.labels or each.high
                if each.high:
                    assert each.labels >= min(2, each.rows)

    def test_small_strata_are_labelled_whole(self):
        made = share_out([self.stratum(100_000, 5), self.stratum(60, 500)], 200, 1.0)
        assert made[1].whole or made[1].rows - made[1].labels >= 10

    def test_at_most_a_stratum_for_twenty_labels(self, rows):
        plan = every(rows).plan(MONEY, pos_label="fraud", n_labels=200)
        assert len(plan.strata) <= 10

    def test_the_largest_amounts_are_taken_whole(self, rows):
        plan = every(rows, score=None, judge=None).plan(MONEY, pos_label="fraud", n_labels=600)
        assert plan.strata[-1].whole
        assert plan.strata[-1].amounts[1] == math.inf

    def test_too_many_or_too_few_labels(self, rows):
        pool = every(rows, amount=None)
        with pytest.raises(PlanError, match="more than the"):
            pool.plan(COSTS, n_labels=ROWS + 1)
        with pytest.raises(PlanError, match="at least"):
            pool.plan(COSTS, n_labels=3)
        with pytest.raises(PlanError, match="nothing is left to know"):
            Pool.from_frame(rows.assign(same=rows.decided), id="id").plan(
                COSTS, n_labels=10, compare=("decided", "same")
            )

    def test_target(self, rows):
        plan = every(rows, amount=None, judge=None).plan(COSTS, target=8)
        assert plan.expected.high <= 8
        fewer = every(rows, amount=None, judge=None).plan(COSTS, n_labels=int(plan.n_labels * 0.8))
        assert fewer.expected.high > 8
        with pytest.raises(PlanError, match="even 20,000 labels are expected to give"):
            every(rows, amount=None, judge=None).plan(COSTS, target=0.001)


class TestRead:
    """What labels tell."""

    def test_one_model(self, rows, truth):
        plan = every(rows, amount=None, judge=None).plan(COSTS, n_labels=2000)
        found = plan.reading(labelled(plan, truth))
        assert isinstance(found.result, CostEstimate)
        missed = (rows.decided == "ok") & (rows.actual == "fraud")
        alarms = (rows.decided == "fraud") & (rows.actual == "ok")
        exact = (500 * missed.sum() + 5 * alarms.sum()) / ROWS
        assert found.interval.low <= exact <= found.interval.high
        assert found.result.contributions().sum() == pytest.approx(found.result.cost)
        assert sum(each.width for each in found.strata) == pytest.approx(1)
        assert sum(each.labels for each in found.strata) == 2000
        assert sum(each.next for each in found.strata) == 2000
        assert found.result.worth.labels == 2000

    def test_two_models(self, rows, truth):
        plan = every(rows, amount=None).plan(COSTS, n_labels=150, compare=("decided", "new"))
        assert set(plan.rows["decided"] + plan.rows["new"]) == {"fraudok"}
        found = plan.reading(labelled(plan, truth))
        assert isinstance(found.result, CostDifference)
        apart = rows.decided != rows.new
        exact = (np.where(rows.actual == "ok", 5, -500)[apart]).sum() / ROWS
        assert found.interval.low <= exact <= found.interval.high
        assert found.result.names == ("decided", "new")

    def test_what_would_settle_it_is_by_the_method_of_the_plan(self, rows):
        """Labels that are read at any time may settle nothing where others would."""
        pool = every(rows, amount=None, judge=None)
        options = {"n_labels": 100, "compare": ("decided", "new")}
        for anytime in (False, True):
            plan = pool.plan(COSTS, **options, anytime=anytime)
            order = list(plan.rows["id"])
            for costly in (2, 4, 8):
                labels = {key: "fraud" if k < costly else "ok" for k, key in enumerate(order)}
                found = plan.reading(labels)
                apart = found.interval.low > 0 or found.interval.high < 0
                assert (found.more is None) is apart

    def test_amounts(self, rows, truth):
        plan = every(rows, judge=None).plan(MONEY, pos_label="fraud", n_labels=800)
        found = plan.reading(labelled(plan, truth))
        missed = (rows.decided == "ok") & (rows.actual == "fraud")
        alarms = (rows.decided == "fraud") & (rows.actual == "ok")
        exact = ((rows.amount * missed).sum() + 5 * alarms.sum()) / ROWS
        assert found.interval.low <= exact <= found.interval.high

    def test_all_rows_labelled_are_known(self, rows, truth):
        small = rows[:300]
        plan = every(small, amount=None, judge=None, score=None).plan(COSTS, n_labels=300)
        low, high = plan.read(labelled(plan, truth)).interval()
        missed = ((small.decided == "ok") & (small.actual == "fraud")).sum()
        alarms = ((small.decided == "fraud") & (small.actual == "ok")).sum()
        assert low == pytest.approx(high) == pytest.approx((500 * missed + 5 * alarms) / 300)

    def test_a_second_stage_counts_the_first_as_known(self, rows, truth):
        plan = every(rows, amount=None, judge=None).plan(COSTS, n_labels=300)
        first = labelled(plan, truth)
        more = plan.next(first, 200)
        second = labelled(more, truth)
        assert not set(first) & set(second)
        assert len(second) == 200
        found = more.reading(second)
        assert found.labels == 500
        assert sum(each.rows for each in found.strata) == ROWS
        assert found.result.total == pytest.approx(found.result.cost * ROWS)
        # By hand: costs of the first stage are known, those of the other rows are estimated from
        # the second stage.
        costs = {key: 500 * (truth[key] == "fraud") for key in [*first, *second]}
        decided = dict(zip(rows.id, rows.decided, strict=True))
        for key in costs:
            if decided[key] == "fraud":
                costs[key] = 5 * (truth[key] == "ok")
        total = sum(costs[key] for key in first)
        names = dict(zip(more.rows["id"], more.rows["stratum"], strict=True))
        for stratum in more.strata:
            inside = [costs[key] for key in second if names[key] == stratum.name]
            total += stratum.rows * np.mean(inside) if inside else 0
        assert found.result.cost == pytest.approx(total / ROWS)

    def test_planned_looks_and_any_time(self, rows, truth):
        pool = every(rows, amount=None, judge=None)
        plan = pool.plan(COSTS, n_labels=300, looks=5)
        once = pool.plan(COSTS, n_labels=300)
        labels = labelled(plan, truth)
        wide, narrow = plan.reading(labels).interval, once.reading(labels).interval
        assert wide.confidence == pytest.approx(0.99)
        assert wide.width > narrow.width
        with pytest.warns(NotClaimedWarning, match=r"take the limits from plan\.interval"):
            found = plan.read(labels)
        assert plan.interval(found) == wide
        anytime = pool.plan(COSTS, n_labels=300, anytime=True)
        labels = labelled(anytime, truth)
        found = anytime.reading(labels)
        assert found.interval.method == "guaranteed"
        some = dict(list(labels.items())[:200])
        part = anytime.reading(some)
        assert part.labels <= 200
        shares = [
            (one.labels / all_.labels)
            for one, all_ in zip(part.strata, found.strata, strict=True)
            if all_.labels and all_.labels != all_.rows
        ]
        assert np.ptp(shares) < 1e-12  # the same shares at the end of every batch
        # The expected interval is computed by the same method.
        assert anytime.expected.half_width > 1.3 * once.expected.half_width
        assert anytime.expected.high == pytest.approx(found.interval.high, rel=0.5)
        assert "at any time" in anytime.summary()
        assert "each of 5 looks" in plan.summary()
        with pytest.raises(PlanError, match="keeps the shares"):
            anytime.next(labels, 100)
        with pytest.raises(InputError, match="first batch"):
            anytime.read(dict(list(labels.items())[:3]))


class TestBadLabels:
    """Whatever is wrong with labels is said, or a smaller audit; nothing is reweighted."""

    @pytest.fixture
    def plan(self, rows):
        return every(rows, amount=None, judge=None).plan(COSTS, n_labels=100)

    def test_a_beginning_is_a_smaller_audit(self, plan, truth):
        labels = labelled(plan, truth)
        found = plan.reading(dict(list(labels.items())[:60]))
        assert found.labels == 60
        assert "40 rows of 100 not labelled yet" in found.note
        blank = {key: (value if k < 60 else "") for k, (key, value) in enumerate(labels.items())}
        assert plan.read(blank).cost == found.result.cost

    def test_gaps_are_refused_unless_random(self, plan, truth):
        labels = labelled(plan, truth)
        gone = list(labels)[10]
        gap = {key: value for key, value in labels.items() if key != gone}
        with pytest.raises(LabelError, match="has no label, and later ones have"):
            plan.read(gap)
        assert plan.reading(gap, skipped="random").labels == 99
        with pytest.raises(InputError, match="random"):
            plan.read(gap, skipped="whatever")

    def test_strange_rows_and_labels(self, plan, truth):
        labels = labelled(plan, truth)
        with pytest.raises(LabelError, match="was not drawn"):
            plan.read(labels | {7: "ok"})
        with pytest.raises(LabelError, match="'dunno' of row"):
            plan.read(labels | {next(iter(labels)): "dunno"})
        with pytest.raises(InputError, match="no row has a label yet"):
            plan.read({})
        frame = pd.DataFrame({"id": list(labels), "actual": list(labels.values())})
        assert plan.read(frame).cost == plan.read(labels).cost
        assert plan.read(pl.from_pandas(frame).lazy()).cost == plan.read(labels).cost
        with pytest.raises(LabelError, match="occurs twice"):
            plan.read(pd.concat([frame, frame[:1]]))
        with pytest.raises(InputError, match="no column 'actual'"):
            plan.read(frame[["id"]])
        with pytest.raises(InputTypeError, match="expected a mapping"):
            plan.read([1, 2])

    def test_no_labels_in_a_stratum_are_its_worst_case(self, plan, truth):
        labels = dict(list(labelled(plan, truth).items())[:5])
        found = plan.reading(labels)
        assert any(not each.labels and each.rows for each in found.strata)
        assert found.interval.high > plan.reading(labelled(plan, truth)).interval.high


class TestFiles:
    """The label file and its manifest."""

    def test_labellers_are_blind(self, rows, truth, tmp_path):
        plan = every(rows, amount=None).plan(COSTS, n_labels=100)
        path = tmp_path / "to_label.csv"
        plan.save(path, show=["amount"])
        file = pd.read_csv(path)
        assert list(file.columns) == ["id", "amount", "actual"]
        assert list(file.id) == list(plan.rows["id"])
        assert file.actual.isna().all()
        amounts = dict(zip(rows.id, rows.amount, strict=True))
        assert [amounts[key] for key in file.id] == pytest.approx(list(file.amount))
        plan.save(path, show_decisions=True)
        assert list(pd.read_csv(path).columns) == ["id", "decided", "actual"]
        loaded = LabelPlan.load(path)
        file["actual"] = [truth[key] for key in file.id]
        assert loaded.read(file).cost == plan.read(file).cost
        with pytest.raises(InputError, match="loaded without its rows"):
            _ = loaded.next(file, 50).rows
        assert len(LabelPlan.load(path, every(rows, amount=None)).next(file, 50).rows) == 50

    def test_another_pool(self, rows, tmp_path):
        path = tmp_path / "to_label.csv"
        every(rows, amount=None).plan(COSTS, n_labels=100).save(path)
        with pytest.raises(InputError, match="not the rows that the labels were planned for"):
            LabelPlan.load(path, every(rows[:-5], amount=None))
        others = rows.assign(id=rows.id + 2**41)  # the same counts, but other rows
        for frame in (others, pl.from_pandas(others).lazy(), others.assign(id=others.id.map(str))):
            with pytest.raises(InputError, match="100 rows that were drawn are not among them"):
                LabelPlan.load(path, every(frame, amount=None))
        as_text = rows.assign(id=rows.id.map(str))
        for frame in (rows, duckdb.from_df(rows), pl.from_pandas(as_text).lazy()):
            assert LabelPlan.load(path, every(frame, amount=None)).n_labels == 100

    def test_row_numbers_of_another_pool(self, rows, tmp_path):
        path = tmp_path / "to_label.csv"
        pool = every(rows, amount=None, id=None)
        pool.plan(COSTS, n_labels=100).save(path)
        assert LabelPlan.load(path, pool).n_labels == 100

    def test_manifests_that_were_edited_or_are_of_another_version(self, rows, tmp_path):
        path = tmp_path / "to_label.csv"
        every(rows, amount=None).plan(COSTS, n_labels=100).save(path)
        manifest = tmp_path / "to_label.csv.manifest.json"
        content = json.loads(manifest.read_text())
        cheaper = json.loads(manifest.read_text())
        cheaper["costs"]["values"][0][1] = 5
        manifest.write_text(json.dumps(cheaper))
        with pytest.raises(FileError, match="was changed after it was written"):
            LabelPlan.load(path)
        manifest.write_text(json.dumps(content | {"format": "stakes-audit/9"}))
        with pytest.raises(FileError, match="of the version 'stakes-audit/9'"):
            LabelPlan.load(path)
        manifest.write_text("[]")
        with pytest.raises(FileError, match="not a manifest"):
            LabelPlan.load(path)
        with pytest.raises(FileError, match="csv"):
            every(rows, amount=None).plan(COSTS, n_labels=100).save(tmp_path / "labels.txt")

    def test_a_second_stage_knows_identifiers_of_another_type(self, rows, truth, tmp_path):
        """Text in one file and numbers in another: no row is drawn again."""
        as_text = rows.assign(id=rows.id.astype(str))
        plan = every(as_text, amount=None, judge=None).plan(COSTS, n_labels=2000)
        plan.save(tmp_path / "first.csv")
        first = {key: truth[int(key)] for key in plan.rows["id"]}
        loaded = LabelPlan.load(tmp_path / "first.csv", every(rows, amount=None, judge=None))
        second = loaded.next(first, 4000).rows["id"]
        assert len(second) == 4000
        assert not set(first) & set(map(str, second))

    def test_a_second_stage_can_be_saved(self, rows, truth, tmp_path):
        plan = every(rows, amount=None, judge=None).plan(COSTS, n_labels=100)
        more = plan.next(labelled(plan, truth), 60)
        more.save(tmp_path / "more.csv")
        loaded = LabelPlan.load(tmp_path / "more.csv")
        labels = labelled(more, truth)
        assert loaded.read(labels).cost == more.read(labels).cost


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, InputTypeError, "give one"),
        ({"n_labels": 10, "target": 3}, InputTypeError, "give one"),
        ({"n_labels": 1}, InputError, "n_labels"),
        ({"n_labels": 100, "looks": 3, "anytime": True}, InputTypeError, "any number of looks"),
        ({"n_labels": 100, "compare": ("new",)}, InputTypeError, "two models"),
        ({"n_labels": 100, "by_amount": "fraud"}, InputTypeError, "there are none"),
        ({"n_labels": 100, "error_rate": 2}, InputError, "between 0 and 1"),
        ({"n_labels": 100, "compare": ("new", "nothing")}, InputError, "no column 'nothing'"),
        ({"n_labels": 100, "compare": ("new", "judge")}, LabelError, "among the decisions"),
    ],
)
def test_bad_plans(rows, options, error, message):
    with pytest.raises(error, match=message):
        every(rows, amount=None).plan(COSTS, **options)


def test_bad_pools(rows):
    with pytest.raises(InputTypeError, match="which column"):
        Pool.from_frame(rows).plan(COSTS, n_labels=10)
    with pytest.raises(InputTypeError, match="name of a column"):
        Pool.from_frame(rows, decision=7)
    with pytest.raises(InputError, match="finite, 0 or more"):
        every(rows.assign(amount=-1.0)).plan(MONEY, pos_label="fraud", n_labels=100)
    with pytest.raises(InputError, match="rows have no score"):
        every(rows.assign(score=np.nan), amount=None).plan(COSTS, n_labels=100)
    with pytest.raises(InputError, match="different verdicts"):
        every(rows.assign(judge=np.arange(ROWS) % 50), amount=None).plan(COSTS, n_labels=100)
    with pytest.raises(InputTypeError, match="whole numbers or text"):
        _ = every(rows, id="score", amount=None).plan(COSTS, n_labels=100).rows
    with pytest.raises(LabelError, match="not among the classes"):
        every(rows).plan(MONEY, n_labels=100, by_amount="maybe")
    with pytest.raises(InputTypeError, match="for each unit of the amount"):
        every(rows).plan(MONEY, n_labels=100)
