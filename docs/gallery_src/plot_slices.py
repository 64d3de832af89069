"""
Which slices cost most
======================

Twenty branches, one of which misses more fraud than the others. The intervals hold for all branches
at once, and branches with few rows have wide ones. :doc:`/howto/slices` has the details.
"""

import matplotlib.pyplot as plt
import numpy as np

from stakes import CostMatrix, evaluate_by

rng = np.random.default_rng(1)
branch = rng.choice([f"branch {i:02d}" for i in range(20)], 20_000, p=np.linspace(1, 3, 20) / 40)
y_true = rng.binomial(1, 0.03, 20_000)
missed = rng.random(20_000) < np.where(branch == "branch 13", 0.6, 0.1)
alarm = rng.binomial(1, 0.02, 20_000) == 1
y_pred = np.where(y_true == 1, ~missed, alarm).astype(int)
costs = CostMatrix.from_errors(false_positive=10, false_negative=500)
slices = evaluate_by(y_true, y_pred, costs, by={"branch": branch}, unit="USD").slices()

fig, ax = plt.subplots(figsize=(6.8, 5.2), layout="constrained")
for place, each in enumerate(reversed(slices)):
    look = "C3" if each.verdict.startswith("more") else "0.5"
    ax.plot([each.low, each.high], [place, place], color=look, linewidth=3, alpha=0.6)
    ax.plot(each.cost, place, "o", color=look)
ax.set_yticks(range(len(slices)), [f"{each.slice_} ({each.n:,} rows)" for each in reversed(slices)])
ax.set(xlim=(0, None), xlabel="cost per decision, USD")
ax.grid(axis="x", alpha=0.3)

# %%
# In words:

worst = slices[0]
print(f"{worst.slice_} costs {worst.cost:.2f} per decision, {worst.verdict};")
print(f"it has {100 * worst.share:.0f}% of the total cost.")
