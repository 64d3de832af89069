"""The stand-in for the river data has the sizes of the thesis, and its tables are correct."""

import numpy as np
import pytest

from replications import Results, Trial
from replications.comparison import verdicts
from replications.experiments import river_standin as river


def test_channels_have_the_sizes_of_the_thesis():
    features, factor, discrete = river.draw_rivers(np.random.default_rng(0))
    assert features.shape == (55, 11)
    assert discrete.sum() == 7
    assert set(np.unique(features[:, discrete])) == {0, 1, 2}
    assert (factor.min(), factor.max()) == (55, 117.5)
    for theta, stable in river.STABLE.items():
        assert (factor <= theta).sum() == stable


def test_the_shares_of_table_69_are_shares_of_these_numbers():
    for theta, pair in river.TABLE_69.items():
        possible = {round(k / river.STABLE[theta], 2) for k in range(river.STABLE[theta] + 1)}
        assert set(pair) <= possible, theta


def test_tables_by_hand(monkeypatch):
    factor = np.array([60.0, 70.0, 85.0, 91.0, 92.0, 100.0])
    told = {"B-LOT": np.array([0.1, 0.6, 0.2, 0.3, 0.5, 0.9]), "B-PET": np.full(6, 0.5)}
    monkeypatch.setattr(river, "draw_rivers", lambda _: (None, factor, None))
    monkeypatch.setattr(river, "scores", lambda *_: told)
    rows = list(river.measure(Trial(2, np.random.default_rng(0), 0), theta=90))
    found = {(row.get("learner"), row["measure"]): row["value"] for row in rows}
    # 0.3, 0.5, 0.9 against 0.1, 0.6, 0.2: seven of nine pairs are ranked correctly.
    assert found["B-LOT", "AUC"] == pytest.approx(7 / 9)
    assert found["B-PET", "AUC"] == 0.5
    assert found["B-LOT", river.FALSE_ALARMS] == pytest.approx(1 / 3)
    assert found["B-PET", river.FALSE_ALARMS] == 1
    assert found[None, "AUC, B-LOT less B-PET"] == pytest.approx(7 / 9 - 1 / 2)
    assert found[None, "unstable"] == 0.5


def test_leave_one_out_does_not_know_what_it_is_asked():
    pytest.importorskip("numba")
    rng = np.random.default_rng(1)
    features = np.column_stack([rng.normal(size=12), rng.integers(0, 2, 12)]).astype(float)
    unstable = np.arange(12) % 3 == 0
    discrete = np.array([False, True])
    told = river.scores(features, unstable, discrete, seed=0)
    changed = unstable.copy()
    changed[4] = ~changed[4]
    again = river.scores(features, changed, discrete, seed=0)
    for name in ("B-LOT", "B-PET"):
        assert told[name][4] == again[name][4]
        assert not np.array_equal(told[name], again[name])


def test_printed_tables_would_agree_with_themselves():
    plt = pytest.importorskip("matplotlib.pyplot")
    rows = []
    for theta in river.STABLE:
        for what, table in ((river.AUC, river.TABLE_67), (river.FALSE_ALARMS, river.TABLE_69)):
            pair = table.get(theta, (0.5, 0.5))
            values = {"learner": ("B-LOT", "B-PET")}
            rows += [
                {"theta": theta, "learner": name, "measure": what, "value": value, "error": 0.0}
                for name, value in zip(values["learner"], pair, strict=True)
            ]
            less = {"measure": f"{what}, B-LOT less B-PET", "value": pair[0] - pair[1]}
            rows.append({"theta": theta, "error": 0.0, **less})
    results = Results("river-standin", rows + list(river.derive(rows)), 1.0, 0)
    assert {each.word for each in verdicts(river.EXPERIMENT, results)} == {"agrees"}
    assert list(river.draw(results)) == ["tables-6.7-and-6.9"]
    plt.close("all")
