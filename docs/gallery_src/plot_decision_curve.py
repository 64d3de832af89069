"""
Decision curves with bands
==========================

A decision curve shows the net benefit of a model over the threshold probability: the risk above
which one would treat. Here it has a band, is compared with treating everyone and no one, and is for
a clinic in which 15% of the tumours are malignant, although 37% are in the data.

:doc:`/explanation/net_benefit` has the relation to cost curves, and
:doc:`/howto/decision_curves` all that decision curves can do.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stakes import CostCurve, DecisionCurve
from stakes.curves import DecisionCurveDifference, operating_condition
from stakes.show import DecisionCurveDisplay

data = load_breast_cancer()
y = data.target_names[data.target]
X = data.data[:, [1, 4, 5, 8, 9]]  # the look of the cells, but not their size
models = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "bayes": GaussianNB(),
}
risk = {
    name: cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
    for name, model in models.items()
}
prevalence, threshold = 0.15, np.linspace(0.01, 0.6, 60)
curves = {
    name: DecisionCurve.from_scores(
        y, each, pos_label="malignant", prevalence=prevalence, name=name
    )
    for name, each in risk.items()
}

# %%
# One of the models, beside treating everyone and no one, with its pointwise band; for all
# thresholds at once take ``simultaneous=True``.

display = DecisionCurveDisplay.from_curve(curves["logistic"], thresholds=threshold)

# %%
# Which of two models is better, and where is that shown? The interval of the difference is paired:
# both models were asked about the same patients.

difference = DecisionCurveDifference.from_scores(
    y, risk["logistic"], risk["bayes"], pos_label="malignant", names=("logistic", "bayes")
)
print(difference.summary())

# %%
# A decision curve acts on the model's own probabilities: at a threshold probability of 10% patients
# with a predicted risk of 10% are treated. A cost curve chooses the best threshold instead. The gap
# is the price of miscalibration; for naive Bayes it is large.

condition = operating_condition(
    prevalence=prevalence, false_positive=threshold, false_negative=1 - threshold
)
best = CostCurve.from_scores(y, risk["bayes"], pos_label="malignant")
at_best = prevalence * (1 - best.cost(condition) / condition)
figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
ax.plot(threshold, at_best, color="C0", label="bayes, best threshold")
ax.plot(
    threshold,
    curves["bayes"].net_benefit(threshold),
    color="C1",
    linestyle="--",
    label="bayes, at its own probabilities",
)
ax.plot(
    threshold,
    curves["bayes"].treat_all(threshold),
    color="0.4",
    linestyle=":",
    label="treat all",
)
ax.axhline(0, color="0.4", linewidth=1, label="treat none")
ax.set(ylim=(-0.03, prevalence + 0.01), xlabel="threshold probability", ylabel="net benefit")
ax.xaxis.set_major_formatter("{x:.0%}")
legend = ax.legend(frameon=False)
