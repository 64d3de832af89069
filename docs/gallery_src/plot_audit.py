"""
Labels where two models disagree
================================

Two models decide on 200,000 payments, and there is money for 500 labels. Drawn at random, almost
all of these labels fall on payments for which both models decide the same, and so say nothing about
which one costs less. Drawn where the models disagree, all of them count.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from stakes import CostMatrix, Pool, compare

costs = CostMatrix.from_errors(
    false_positive=5, false_negative=500, pos_label="fraud", neg_label="ok"
)
rng = np.random.default_rng(0)
score = rng.beta(0.05, 5, 200_000)
rows = pd.DataFrame({"id": range(len(score)), "score": score})
for model, threshold in {"old": 0.06, "new": 0.03}.items():
    rows[model] = np.where(score > threshold, "fraud", "ok")
truth = np.where(rng.random(len(score)) < score, "fraud", "ok")
exact = compare(truth, rows["old"], rows["new"], costs).difference

# %%
# The same number of labels, drawn in both ways, ten times:

pool = Pool.from_frame(rows, score="score", id="id")
intervals = {"at random": [], "where they disagree": []}
for seed in range(10):
    drawn = np.random.default_rng(seed).choice(len(rows), 500, replace=False)
    sample = compare(truth[drawn], rows["old"].iloc[drawn], rows["new"].iloc[drawn], costs)
    intervals["at random"].append(sample.interval(method="extremal"))
    plan = pool.plan(costs, n_labels=500, compare=("old", "new"), rng=seed)
    found = plan.read({key: truth[key] for key in plan.rows["id"]})
    intervals["where they disagree"].append(found.interval())

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, (name, each) in zip(axes, intervals.items(), strict=True):
    for place, interval in enumerate(each):
        ax.plot([interval.low, interval.high], [place, place], color="C0", linewidth=3)
    ax.axvline(0, color="grey", linewidth=1)
    ax.axvline(exact, color="C1", linestyle="--", label="true difference")
    ax.set(title=f"500 labels {name}", xlabel="old costs so much more per decision")
axes[0].set(yticks=[], ylabel="draws")
axes[1].legend()
plt.show()
