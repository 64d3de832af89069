"""Averaged verdicts of the replications agree with stakes' own simulated BCOST and BDELTACOST."""

import numpy as np
import pytest

from replications.experiments.shared.classifier import draw_tables, judged, permuted
from replications.experiments.shared.resampling import chances, outside
from stakes.infer import batch_intervals
from stakes.infer.batch import batch_outcomes

pytestmark = pytest.mark.statistical
TABLES = 1000


@pytest.mark.parametrize("domain", ["expf5", "expf5-bands", "waveform"])
@pytest.mark.parametrize("model", ["M1", "M6", "M7", "M8"])
def test_bcost_coverage(domain, model):
    each = judged(domain, model, 2, 0, 200_000)
    rng = np.random.default_rng(1)
    tables = each.draw(TABLES, rng)
    low, high = batch_intervals(tables, each.costs, method="bcost", rng=rng)
    drawn = ((low <= each.cost) & (each.cost <= high)).astype(float)
    averaged = 1 - outside(
        *chances(batch_outcomes(tables, each.costs), each.cost, laplace=0.1), 1000
    )
    error = np.sqrt((averaged * (1 - averaged)).sum()) / TABLES
    assert drawn.mean() == pytest.approx(averaged.mean(), abs=4 * error + 1e-3)


@pytest.mark.parametrize("model", ["M1", "M6", "M9"])
@pytest.mark.parametrize("n_resamples", [100, 500])
def test_bdeltacost_size(model, n_resamples):
    each = judged("expf5", model, 1, 0, 200_000)
    rng = np.random.default_rng(1)
    tables = draw_tables(permuted(each.shares), TABLES, rng)
    low, high = batch_intervals(
        tables, each.costs, method="bcost", n_resamples=n_resamples, rng=rng, laplace=0.0
    )
    drawn = (low > 0) | (high < 0)
    averaged = outside(*chances(batch_outcomes(tables, each.costs), 0.0), n_resamples)
    error = np.sqrt((averaged * (1 - averaged)).sum()) / TABLES
    assert drawn.mean() == pytest.approx(averaged.mean(), abs=4 * error + 1e-3)
