import numpy as np
import pytest

from stakes import BinnedCostCurve, BinnedScoreCounts
from stakes.show import CostCurveDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


def test_the_bracket_of_binned_scores_is_shaded():
    counts = BinnedScoreCounts([0.5, 0], [0.9, 0.4], [40, 10], [20, 80])
    curve = BinnedCostCurve(counts, name="model")
    display = CostCurveDisplay(curve).plot(lines=True)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "the exact curve of model, at most 0.16 lower" in labels
    (shade,) = (each for each in display.ax_.collections if "exact" in each.get_label())
    corners = shade.get_paths()[0].vertices
    at = corners[np.isclose(corners[:, 0], 0.2)][:, 1]
    assert (at.min(), at.max()) == pytest.approx((curve.lower(0.2), curve.upper(0.2)))
    frame = display.to_frame()
    assert (frame["lower"] <= frame["cost"] + 1e-12).all()
    assert frame["threshold"].iloc[100] == 0.5
    plt.close(display.figure_)
