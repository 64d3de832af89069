"""
Confidence bands of cost curves
===============================

A test set has 30 examples: 16 of 20 positives and 4 of 10 negatives were predicted positive. Holte
& Drummond (2005, Figures 11 and 12) resample confusion matrices with the same numbers of positives
and negatives. Each of them is a line, and at each operating condition the fifth lowest and the
fifth highest of 100 lines are the limits of a 90% band.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from stakes import CostCurveDifference, CostLine, PairedConfusion
from stakes.show import CostCurveDisplay, CostDifferenceDisplay

line = CostLine(fpr=4 / 10, tpr=16 / 20, positives=20, negatives=10, name="tree")
bands = {
    "bootstrap, 100 lines": line.band(0.9, method="bootstrap", n_resamples=100, rng=0),
    "exact": line.band(0.9, method="exact"),
    "mover (the default)": line.band(0.9),
}
rng = np.random.default_rng(0)  # the same draws as those of the band
missed, alarms = rng.binomial(20, 4 / 20, 100) / 20, rng.binomial(10, 4 / 10, 100) / 10
resampled = [[(0, alarm), (1, miss)] for alarm, miss in zip(alarms, missed, strict=True)]

figure_12, axes = plt.subplots(1, 3, figsize=(10, 3.9), sharey=True, layout="constrained")
axes[0].add_collection(LineCollection(resampled, color="0.6", linewidth=0.4, zorder=1))
for ax, (title, band) in zip(axes, bands.items(), strict=True):
    CostCurveDisplay(line, band).plot(ax, legend=False)
    ax.set_ylim(0, 0.8)
    ax.set_title(title, fontsize="medium")
    ax.label_outer()

# %%
# "Exact" is the limit of the bootstrap with infinitely many lines; its corners come from the few
# matrices that 30 examples allow. Both are too narrow where few mistakes were observed. The default
# method is not; the coverage of each is measured by ``python -m replications run
# exact-band-coverage``. It shows most where there were none at all in one class:

perfect = CostLine(fpr=0, tpr=16 / 20, positives=20, negatives=10)
for method in ("exact", "mover"):
    band = perfect.band(0.9, method=method, pc=[0.0])
    print(f"{method:6} at PC(+) = 0: {band.low[0]:.3f} to {band.high[0]:.3f}")

# %%
# Whether two models differ depends on more than their two confusion matrices: on whether they
# make their mistakes on the same examples. In Figures 13 to 15 the matrices are always the same.
# The first model misses 30 of 200 positives and raises 34 false alarms in 100 negatives, the
# second misses 20 and raises 30. What changes is how many of these mistakes only one of them makes.


def paired(positives, negatives):
    """Count two models of which the second makes so many mistakes alone."""
    counts = np.zeros((2, 2, 2), dtype=int)  # [predicted by the first, by the second, actual]
    wrong = (20 - positives, 10 + positives, positives)  # both, the first alone, the second alone
    counts[0, 0, 1], counts[0, 1, 1], counts[1, 0, 1] = wrong
    counts[1, 1, 1] = 200 - sum(wrong)
    wrong = (30 - negatives, 4 + negatives, negatives)
    counts[1, 1, 0], counts[1, 0, 0], counts[0, 1, 0] = wrong
    counts[0, 0, 0] = 100 - sum(wrong)
    return PairedConfusion(counts, labels=[0, 1])


tables = {
    "high correlation": paired(0, 0),
    "low correlation": paired(20, 30),
    "medium correlation": paired(11, 18),
}
figures, axes = plt.subplots(3, 1, figsize=(6.4, 9.5), sharex=True, layout="constrained")
for ax, (title, table) in zip(axes, tables.items(), strict=True):
    difference = CostCurveDifference(table, names=("first", "second"))
    display = CostDifferenceDisplay.from_difference(
        difference,
        confidence=0.9,
        simultaneous=False,
        ax=ax,
        curves=True,
        legend=ax is axes[-1],
    )
    verdict = display.verdicts.in_words().removesuffix(".")
    ax.set_title(f"{title}: {verdict}", fontsize="medium")
    ax.set_ylim(-0.18, 0.46)
    ax.label_outer()
