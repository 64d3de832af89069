"""
The cost over time, with labels that arrive late
================================================

Labels of the last weeks have not all arrived. Counted as they are, these weeks would look cheap;
the limits allow for every label that is missing. The running cost has limits that hold at all
times. :doc:`/howto/over_time` has the details.
"""

import matplotlib.pyplot as plt
import numpy as np

from stakes import CostMatrix, evaluate_over

rng = np.random.default_rng(2)
day = rng.integers(0, 182, 6000)
decided_at = np.datetime64("2026-01-05") + day.astype("timedelta64[D]")
y_true = rng.binomial(1, 0.15, 6000)
changed, recent = np.datetime64("2026-05-05"), np.datetime64("2026-06-14")
wrong = rng.random(6000) < np.where(decided_at > changed, 0.12, 0.05)
y_pred = np.where(wrong, 1 - y_true, y_true)
late = (decided_at > recent) & (rng.binomial(1, 0.3, 6000) == 1)
labels = np.where(late, None, y_true)
arrived = np.where(late, None, (decided_at + np.timedelta64(10, "D")).astype(object))
costs = CostMatrix.from_errors(false_positive=5, false_negative=100)
found = evaluate_over(labels, y_pred, costs, time=decided_at, labelled_at=arrived)
print(found.summary())

# %%
# Dotted, the periods whose labels have not all arrived; the band is that of the running cost.

fig, ax = plt.subplots(figsize=(6.8, 3.8), layout="constrained")
periods = found.periods()
for place, each in enumerate(periods):
    style = "-" if each.complete else ":"
    ax.plot([place, place], [each.low, each.high], style, color="C0", linewidth=2.5)
    ax.plot(place, each.cost, "o", color="C0")
known = [(place, each) for place, each in enumerate(periods) if each.running is not None]
places = [place for place, _ in known]
ax.plot(places, [each.running for _, each in known], color="C1", label="running cost")
ax.fill_between(
    places,
    [each.running_low for _, each in known],
    [each.running_high for _, each in known],
    color="C1",
    alpha=0.15,
)
ax.set_xticks(range(len(periods)), [each.period for each in periods])
ax.set(ylabel="cost per decision")
legend = ax.legend(frameon=False)
