"""
Monitoring costs every day
==========================

The anytime interval of an ``Accumulator`` holds on all days at once. Outcomes arrive daily, and
somebody looks at the cost every morning. An interval for one look is then wrong on some day far
more often than one time in twenty.
"""

import matplotlib.pyplot as plt
import numpy as np

from stakes import Accumulator, Confusion, CostMatrix

costs = CostMatrix.from_errors(
    false_positive=5, false_negative=120, pos_label="fraud", neg_label="ok"
)
shares = np.array([0.955, 0.005, 0.015, 0.025])  # ok passed, missed, false alarms, found
truth = 120 * shares[1] + 5 * shares[2]
days, per_day = 365, 100


def stream(seed):
    """Return the outcomes of each day."""
    drawn = np.random.default_rng(seed).multinomial(per_day, shares, days)
    return [Confusion(day.reshape(2, 2), labels=["ok", "fraud"]) for day in drawn]


running = Accumulator(costs, unit="EUR")
rows = []
for outcomes in stream(1):
    running.add(outcomes)
    rows.append((running.cost, *running.interval(), *running.estimate().interval(method="normal")))
cost, low, high, low_once, high_once = np.array(rows).T
print(running.summary())

# %%
# The shaded range is the anytime interval, the dashed lines the normal one for a single look, and
# the dotted line the truth.

fig, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
day = np.arange(1, days + 1)
ax.fill_between(day, low, high, color="C0", alpha=0.2, label="anytime, 95%")
ax.plot(day, cost, color="C0", label="cost so far")
ax.plot(day, low_once, color="C1", linestyle="--", linewidth=1.2)
ax.plot(
    day,
    high_once,
    color="C1",
    linestyle="--",
    linewidth=1.2,
    label="for one look, 95% (normal)",
)
ax.axhline(truth, color="black", linestyle=":", label="the truth")
ax.set(xlim=(1, days), ylim=(0, 4 * truth), xlabel="day", ylabel="cost per decision (EUR)")
legend = ax.legend(frameon=False)
for name, limits in {"normal": (low_once, high_once), "anytime": (low, high)}.items():
    excluded = np.sum((truth < limits[0]) | (truth > limits[1]))
    print(f"The {name} interval excludes the truth on {excluded} of {days} days.")

# %%
# How many of 40 such years have a day on which the interval excludes the truth? To look on a day is
# to look at the counts up to it, so both kinds are computed for all days at once.

from stakes.infer import batch_intervals

wrong = dict.fromkeys(("anytime", "normal"), 0)
looks = np.unique(np.geomspace(1, days, 40).astype(int)) - 1  # forty looks will do
for seed in range(40):
    totals = np.cumsum([each.counts for each in stream(100 + seed)], axis=0)[looks]
    for method in wrong:
        below, above = batch_intervals(totals, costs, method=method)
        wrong[method] += bool(np.any((truth < below) | (truth > above)))
for method, years in wrong.items():
    print(f"{method:8} wrong at some look in {years} of 40 years")
