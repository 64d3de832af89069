"""Estimated against true probabilities: their errors are right, and stored for the figures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from replications import Trial, run
from replications.domains.gaussians import Gaussians
from replications.experiments import probability_scatter as scatter

pytest.importorskip("numba")


class Knowing:
    """Tells a function of the true probability."""

    def __init__(self, told):
        self.told = told

    def fit(self, *_):
        return self

    def predict_proba(self, features):
        known = self.told(Gaussians(2.0).probability(features))
        return np.column_stack([1 - known, known])


def test_measures_what_learners_tell(monkeypatch):
    told = {
        scatter.PET: lambda p: p,
        scatter.BLOT: np.round,
        scatter.LITERAL: lambda p: p**2,
        scatter.BARE: lambda p: np.full_like(p, 0.5),
    }
    monkeypatch.setattr(
        scatter, "learners", lambda *_: {name: Knowing(each) for name, each in told.items()}
    )
    trial = Trial(2, np.random.default_rng(0), 0)
    rows = list(scatter.measure(trial, shift=2.0, size=100, leaf=2))
    found = {(row["learner"], row["measure"]): row["value"] for row in rows if "point" not in row}
    domain = Gaussians(2.0)
    truth = domain.probability(scatter.tested(domain, 0))
    for name, each in told.items():
        error = np.sqrt(np.mean((each(truth) - truth) ** 2))
        assert found[name, "root mean square error"] == pytest.approx(error)
        if name != scatter.BARE:
            expected = spearmanr(each(truth), truth).statistic
            assert found[name, "rank correlation"] == pytest.approx(expected)
    assert found[scatter.BARE, "rank correlation"] == 0
    assert found[scatter.BARE, "different estimates"] == 1
    assert found[scatter.BLOT, "extreme estimates"] == 1
    points = [row for row in rows if row.get("point") == 15]
    assert points[0]["value"] == pytest.approx(truth[15], abs=1e-4)
    assert len(rows) == 4 * (4 + scatter.SHOWN)


def test_runs_and_draws_all_figures():
    plt = pytest.importorskip("matplotlib.pyplot")
    small = replace(scatter.EXPERIMENT, varies={"shift": (2.0,), "size": (100,), "leaf": (8,)})
    results = run(replace(small, derive=None), scale=0.1)
    where = {"size": 100, "leaf": 8, "measure": "root mean square error"}
    assert 0 < results.value(learner="B-LOT", **where) < 0.3
    figures = scatter.draw(results)
    assert list(figures) == [f"figure-6.{number}" for number in range(25, 36)]
    shown = [len(line.get_xdata()) for ax in figures["figure-6.26"].axes for line in ax.lines]
    assert shown == [2, 0, 2, 0, 2, 200, 2, 200]  # only MINinst = 8 was run
    plt.close("all")


def test_claims_are_read_off_the_errors():
    rows = []
    for size in scatter.SIZES:
        for leaf in scatter.LEAVES:
            for name in scatter.LEARNERS:
                values = {
                    "root mean square error": abs(leaf - (8 if size < 600 else 12))
                    + (name == scatter.BARE) + 0.5 * (name == scatter.PET),
                    "rank correlation": leaf / 20,
                    "extreme estimates": (name == scatter.BLOT) / size,
                }  # fmt: skip
                where = {"shift": 2.0, "size": size, "leaf": leaf, "learner": name}
                rows += [
                    where | {"measure": key, "value": each, "error": 0.3, "repeats": 5}
                    for key, each in values.items()
                ]
    found = {
        tuple(v for k, v in row.items() if k not in {"error", "repeats", "value"}): row["value"]
        for row in scatter.derive(rows)
    }
    for printed in scatter.EXPERIMENT.printed:
        key = tuple(printed.where[name] for name in ("learner", "size", "claim", "measure")
                    if name in printed.where)  # fmt: skip
        assert found[key] == printed.value or np.isnan(printed.value), key
    fewer = found["B-LOT", "extreme estimates, TD=100 less TD=1000"]
    assert fewer == pytest.approx(1 / 100 - 1 / 1000)
    assert found["B-LOT", "settings with less error than B-PET"] == 12
