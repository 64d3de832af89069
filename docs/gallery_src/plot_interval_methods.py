"""
Interval methods compared on one table
======================================

All interval methods are applied to the same 2000 decisions. A false alarm costs 10, a missed fraud
500. On the left seven frauds were missed. On the right none was, which does not prove that none
ever will be. Methods that use only the observed costs, such as the normal interval, put the upper
limit just above the estimate. The default allows for mistakes that were not observed.
"""

import matplotlib.pyplot as plt
import numpy as np

from stakes import Confusion, CostEstimate, CostMatrix

costs = CostMatrix.from_errors(
    false_positive=10, false_negative=500, pos_label="fraud", neg_label="ok"
)
tables = {
    "seven misses, forty false alarms": Confusion([[1940, 7], [40, 13]], labels=["ok", "fraud"]),
    "no miss, forty false alarms": Confusion([[1940, 0], [40, 20]], labels=["ok", "fraud"]),
}
methods = {
    "extremal (the default)": {"method": "extremal"},
    "guaranteed": {"method": "guaranteed"},
    "anytime": {"method": "anytime"},
    "exact (BCOST's limit)": {"method": "exact"},
    "bca": {"method": "bca"},
    "dirichlet": {"method": "dirichlet"},
    "likelihood": {"method": "likelihood"},
    "normal": {"method": "normal"},
}
intervals = {
    title: {name: CostEstimate(table, costs).interval(**way) for name, way in methods.items()}
    for title, table in tables.items()
}
for title, found in intervals.items():
    print(title)
    for name, each in found.items():
        print(f"  {name:24} {each.low:6.3f} to {each.high:6.3f}")

# %%
# The default is solid, the others are dashed. The dotted line is the cost of the decisions.
# "Anytime" and "guaranteed" are wide for a reason: the one may be looked at as often as one likes,
# the other holds for every distribution and every number of examples.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
rows = np.arange(len(methods))
for ax, (title, table) in zip(axes, tables.items(), strict=True):
    for row, each in zip(rows, intervals[title].values(), strict=True):
        colour, style = ("C1", "--") if row else ("C0", "-")
        ax.hlines(row, *each, color=colour, linestyle=style, linewidth=1.8)
        ax.plot([*each], [row, row], color=colour, linestyle="none", marker="|", markersize=9)
    ax.axvline(CostEstimate(table, costs).cost, color="0.4", linestyle=":")
    ax.set(title=title, xlabel="cost per decision")
    ax.set_xlim(left=0)
    ax.grid(axis="x", color="0.9")
axes[0].set_yticks(rows, methods)
axes[0].invert_yaxis()
