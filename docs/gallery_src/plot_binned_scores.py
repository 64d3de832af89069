"""
A cost curve from binned scores
===============================

You need not store the scores of millions of examples. Counted in bins, they give a cost curve that
thresholds between two bins attain, and a lower limit. The exact curve lies in between. With ten
bins the bracket is wide; with some hundreds it is hardly wider than a line.
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from stakes import BinnedCostCurve, BinnedScoreCounts, CostCurve, ScoreCounts

rng = np.random.default_rng(0)
y = rng.choice([True, False], 200_000, p=[0.1, 0.9])
scores = rng.normal(1.5 * y, 1)
exact = CostCurve(ScoreCounts.from_scores(y, scores, pos_label=True), name="exact")


def in_bins(number):
    """Count the scores in so many bins of equal length."""
    edges = np.linspace(scores.min(), scores.max(), number + 1)
    place = np.clip(np.digitize(scores, edges) - 1, 0, number - 1)
    filled = [np.flatnonzero(place == each) for each in reversed(range(number))]
    rows = [each for each in filled if len(each)]
    return BinnedScoreCounts(
        lowest=[scores[each].min() for each in rows],
        highest=[scores[each].max() for each in rows],
        positives=[int(y[each].sum()) for each in rows],
        negatives=[int((~y[each]).sum()) for each in rows],
    )


pc = np.linspace(0, 1, 401)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, number in zip(axes, (10, 40), strict=True):
    curve = BinnedCostCurve(in_bins(number))
    ax.fill_between(pc, curve.lower(pc), curve.upper(pc), color="C0", alpha=0.25, label="bracket")
    ax.plot(pc, curve.upper(pc), color="C0", label="attained by a threshold between bins")
    ax.plot(pc, exact.cost(pc), color="C1", linestyle="--", label="exact")
    ax.plot(pc, np.minimum(pc, 1 - pc), color="0.5", linestyle=":", label="constant predictions")
    ax.set(title=f"{number} bins", xlim=(0, 1), ylim=(0, 0.35), xlabel="operating condition PC(+)")
axes[0].set_ylabel("normalised expected cost")
handles, labels = axes[0].get_legend_handles_labels()
legend = fig.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)

# %%
# The more bins, the narrower the bracket:

for number in (10, 40, 200, 1000):
    curve = BinnedCostCurve(in_bins(number))
    low, high = curve.areas()
    print(f"{number:6,} bins: at most {curve.width:.5f} wide, area {low:.5f} to {high:.5f}")
print(f"        exact: {'':23}area {exact.area():.5f}")

# %%
# In practice ``from_scores`` and ``from_frame`` choose enough bins to keep the bracket within a
# tolerance, by default 0.0001. The engine of a data frame does the counting.

counts = BinnedScoreCounts.from_scores(y, scores, pos_label=True)
print(fill(BinnedCostCurve(counts).summary(), 96))
