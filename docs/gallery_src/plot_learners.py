"""
Comparing learners, not models
==============================

A model that was cheaper once may have been lucky with its training data. To choose a learner, train
each one many times: here on 25 splits of the same tumours. Each small mark is the cost on one
split, and the marks of one split are joined. Costs differ between splits by as much as between
learners. But on nearly all splits the order is the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stakes import CostMatrix
from stakes.learn import MinimumRiskClassifier, compare_learners

data = load_breast_cancer()
X, y = data.data, data.target_names[data.target]
costs = CostMatrix.from_errors(
    false_positive=2_000, false_negative=40_000, pos_label="malignant", neg_label="benign"
)
neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier(15))
learners = {
    "neighbours,\nleast risk": MinimumRiskClassifier(neighbours, costs),
    "neighbours": neighbours,
    "bayes": GaussianNB(),
}
compared = compare_learners(learners, X, y, costs, unit="USD", random_state=0)

fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
places = np.arange(len(learners))
ax.plot(places, compared.fold_costs.T, color="0.8", linewidth=0.8, zorder=1)
for place, name in zip(places, learners, strict=True):
    spread = compared.fold_costs[:, place]
    look = {"color": f"C{place}", "marker": "os^"[place], "linestyle": "none"}
    ax.plot(np.full(len(spread), place), spread, markersize=4, alpha=0.7, **look)
    mean = compared.mean_costs()[name]
    ax.plot(place + 0.14, mean, markersize=10, **look)
    ax.annotate(f"{mean:,.0f}", (place + 0.14, mean), (10, -4), textcoords="offset points")
ax.set_xticks(places, learners)
ax.set(ylabel="cost per decision (USD)", xlim=(-0.4, len(learners) - 0.4), ylim=(0, None))
ax.set_title("costs on 25 splits, and their means (large)", fontsize="medium")

# %%
# Splits share training examples, so their differences are not independent. The intervals are those
# of the corrected resampled t test:

best, *others = compared.mean_costs()
for other in others:
    low, high = compared.difference(other, best).interval()
    mean = compared.difference(other, best).difference
    names = [each.replace("\n", " ") for each in (other, best)]
    print(f"{names[0]} costs {mean:,.0f} more than {names[1]} ({low:,.0f} to {high:,.0f})")
