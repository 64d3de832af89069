"""
Decision curves from cost curves
================================

A decision curve and its band can be computed from a cost curve. Decision curves are used in
medicine: they show the net benefit of a model over the threshold probability, the risk above which
one would treat. Net benefit is the prevalence minus the cost, in units of one miss.
:doc:`/explanation/net_benefit` has the formulas.

The chart is for a clinic in which 15% of the tumours are malignant. In the data it is 37%. A
decision curve of the data themselves would be for 37%. A cost curve is for all prevalences.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from stakes import CostCurve, ScoreCounts
from stakes.curves import operating_condition

data = load_breast_cancer()
y = data.target_names[data.target]
X = data.data[:, [1, 4, 5, 8, 9]]  # the look of the cells, but not their size
risk = cross_val_predict(GaussianNB(), X, y, cv=10, method="predict_proba")[:, 1]
scores = ScoreCounts.from_scores(y, risk, pos_label="malignant")
curve = CostCurve(scores, name="bayes")

prevalence = 0.15
threshold = np.linspace(0.01, 0.6, 200)
pc = operating_condition(
    prevalence=prevalence, false_positive=threshold, false_negative=1 - threshold
)
band = curve.band(pc=pc)


def net_benefit(cost):
    return prevalence * (1 - cost / pc)


# %%
# The usual decision curve uses its own threshold: patients with a predicted risk of 10% are
# treated at a threshold probability of 10%. The cost curve uses the best threshold. The gap
# between the two is the cost of miscalibration. Here the probabilities are wrong in two ways: they
# are those of a naive Bayes, and they are for the prevalence of the data.

rates = [scores.confusion_at(each).counts for each in threshold]
own = np.array(
    [
        prevalence * table[1, 1] / table[:, 1].sum()
        - (1 - prevalence) * table[1, 0] / table[:, 0].sum() * each / (1 - each)
        for each, table in zip(threshold, rates, strict=True)
    ]
)
fig, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
ax.plot(threshold, net_benefit(band.cost), color="C0", label="bayes, best threshold")
ax.fill_between(
    threshold,
    net_benefit(band.high),
    net_benefit(band.low),
    color="C0",
    alpha=0.15,
    label="its 95% band (pointwise)",
)
ax.plot(threshold, own, color="C1", linestyle="--", label="bayes, at its own threshold")
ax.plot(threshold, net_benefit(1 - pc), color="0.4", linestyle=":", label="treat all")
ax.axhline(0, color="0.4", linewidth=1, label="treat none")
ax.set(
    xlim=(0, 0.6),
    ylim=(-0.03, prevalence + 0.01),
    xlabel="threshold probability",
    ylabel="net benefit",
)
ax.xaxis.set_major_formatter("{x:.0%}")
legend = ax.legend(frameon=False)

# %%
# In words, at a threshold probability of 10%, at which a miss is as bad as nine unneeded
# treatments:

at = int(np.abs(threshold - 0.1).argmin())
print(f"net benefit with the best threshold: {net_benefit(band.cost)[at]:.3f}", end=" ")
print(f"({net_benefit(band.high)[at]:.3f} to {net_benefit(band.low)[at]:.3f})")
print(f"at its own threshold: {own[at]:.3f}; treat all: {net_benefit(1 - pc)[at]:.3f}")
