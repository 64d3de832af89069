"""
Recall and precision with few positives
=======================================

With thirty positives in a test set, a recall of 90% may well be 75% in truth. Each rate has its
own number of rows behind it: recall has the positives, specificity the negatives, precision those
that were called positive. :doc:`/howto/rates` has the details.
"""

import matplotlib.pyplot as plt
import numpy as np

from stakes import evaluate_rates

rng = np.random.default_rng(3)
y_true = np.repeat([0, 1], [970, 30])
y_pred = np.where(rng.random(1000) < np.where(y_true == 1, 0.1, 0.02), 1 - y_true, y_true)
rates = evaluate_rates(y_true, y_pred)
print(rates.summary())

# %%
# As a picture:

names = ["recall", "specificity", "precision", "npv", "f1", "balanced_accuracy", "mcc", "kappa"]
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for place, name in enumerate(reversed(names)):
    rate = rates.rate(name)
    ax.plot([rate.low, rate.high], [place, place], color="C0", linewidth=3, alpha=0.6)
    ax.plot(rate.value, place, "o", color="C0")
ax.set_yticks(range(len(names)), list(reversed(names)))
ax.set(xlim=(0, 1.02), xlabel="rate, with its 95% interval")
ax.grid(axis="x", alpha=0.3)
