"""
Who is sent to biopsy?
======================

A clinic takes a fine needle aspirate of each lump and measures the cells under the microscope. A
model is to say from these measurements who is sent to a surgical biopsy. Two things can go wrong. A
biopsy that was not needed costs money, and pain. A malignant tumour that is sent home is found
later, and treating it is harder and dearer.

The data are the 569 tumours of the Wisconsin breast cancer set that comes with scikit-learn. The
costs are **assumed**: 2,000 for an unneeded biopsy, 40,000 for a missed malignancy. So is the share
of malignant tumours in the clinic: 10 %. In the data it is 37 %.
"""

from stakes import CostMatrix

costs = CostMatrix.from_errors(
    false_positive=2_000, false_negative=40_000, pos_label="malignant", neg_label="benign"
)
clinic = {"benign": 0.90, "malignant": 0.10}
print("\n".join(costs.in_words()))

# %%
# Four models
# -----------
#
# Half of the tumours train the models, the other half test them. The threshold will be chosen on
# the training half, by cross-validation, so that the test half has no part in any choice.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = load_breast_cancer()
X, y = data.data, data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
models = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": RandomForestClassifier(200, min_samples_leaf=2, random_state=0),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    "bayes": GaussianNB(),
}
risk_train, risk_test = {}, {}
for name, model in models.items():
    proba = cross_val_predict(model, X_train, y_train, cv=10, method="predict_proba")
    risk_train[name] = proba[:, 1]
    risk_test[name] = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
print(f"{len(y_train)} tumours to train on, {len(y_test)} to test on")

# %%
# At a threshold of one half
# --------------------------
#
# First the models as they come: whoever has a predicted risk of one half or more goes to biopsy.
# The costs are those in the clinic, for which the two classes are weighed by ``class_priors``. The
# last line of the table is a biopsy for everybody.

from stakes import evaluate
from stakes.show import CostIntervalDisplay, cost_table

estimates = {
    name: evaluate(y_test, model.predict(X_test), costs, class_priors=clinic, unit="USD")
    for name, model in models.items()
}
print(cost_table(estimates))

# %%
# A threshold for the costs
# -------------------------
#
# Half is the threshold for mistakes that cost the same. Here a miss costs as much as twenty
# unneeded biopsies. ``choose_threshold`` takes the threshold that was cheapest on the training
# half, at the prevalence of the clinic; ``on`` tells what it does on the test half
# (:doc:`/howto/thresholds`).

from textwrap import fill

from stakes import ScoreCounts, choose_threshold

train, test, chosen = {}, {}, {}
for name in models:
    train[name] = ScoreCounts.from_scores(y_train, risk_train[name], pos_label="malignant")
    test[name] = ScoreCounts.from_scores(y_test, risk_test[name], pos_label="malignant")
    chosen[name] = choose_threshold(train[name], costs, class_priors=clinic).on(test[name])
    print(fill(f"{name}: {chosen[name].summary()}", 96))
    print()

# %%
# What is gained, model by model. A model whose risks are about right has little to gain. One whose
# risks are far too sure, such as the naive Bayes, has much. And a threshold that was chosen on a
# few hundred tumours can also come out worse than one half.

decisions = {
    name: np.where(risk >= chosen[name].threshold, "malignant", "benign")
    for name, risk in risk_test.items()
}
for name, choice in chosen.items():
    before, after = estimates[name].cost, choice.cost
    print(f"{name:10}  {before:6.0f} at one half, {after:6.0f} at {choice.threshold:.2g}")

display = CostIntervalDisplay.from_estimates(
    {name: choice.estimate() for name, choice in chosen.items()}, unit="USD"
)

# %%
# Which model?
# ------------
#
# Intervals that overlap decide nothing. All models saw the same tumours, so their differences are
# compared, and adjusted for how many pairs there are (:doc:`/howto/compare_many`).

from stakes import compare_many

ranking = compare_many(y_test, decisions, costs, class_priors=clinic, unit="USD")
print(ranking)

# %%
# Models that are tied are not told apart by this test set. The clinic may choose among them by what
# else matters to it, such as whether a doctor can follow the model. Below, the one that cost least
# on the test half stands for them; that flatters it a little. That a model is cheaper than a biopsy
# for everybody is another question:

for name, choice in chosen.items():
    low, high = choice.interval
    verdict = "cheaper than" if high < 2_000 * clinic["benign"] else "not shown to be cheaper than"
    print(f"{name}: at most {high:,.0f} USD a patient, {verdict} a biopsy for everybody")

# %%
# Other costs and other clinics
# -----------------------------
#
# The cost curves of the two that cost least here, with thresholds that were chosen on the training
# half. The upper axis shows which share of malignant tumours the conditions stand for at these
# costs. The upright line is the clinic.

import matplotlib.pyplot as plt

from stakes import CostCurve, operating_condition
from stakes.show import CostCurveDisplay

best, second = list(ranking.estimates())[:2]
prices = {"false_positive": 2_000, "false_negative": 40_000}
here = operating_condition(prevalence=clinic["malignant"], **prices)
fig, ax = plt.subplots(figsize=(6.8, 5), layout="constrained")
curves = {}
for name in (best, second):
    curves[name] = CostCurve(test[name], name=name).select(train[name])
    CostCurveDisplay.from_curve(curves[name], ax=ax, second_axis="prevalence", **prices)
ax.set_ylim(0, 0.36)
ax.axvline(here, color="0.4", linewidth=1)
ax.annotate(
    "the clinic",
    (here, 1),
    xycoords=ax.get_xaxis_transform(),
    xytext=(4, -4),
    textcoords="offset points",
    va="top",
    color="0.3",
)
print(fill(curves[best].summary(), 96))

# %%
# How sure are the costs?
# -----------------------
#
# Nobody knows what a miss costs. Say it is somewhere between 10,000 and 200,000, and a biopsy
# between 1,000 and 4,000. How likely is each model then the cheapest, with the thresholds chosen
# above? To weigh a class by its share in the clinic is to multiply its costs, so the ranges are
# multiplied.

from stakes import CostRanges, cheapest_probability

weight = {label: share / np.mean(y_test == label) for label, share in clinic.items()}
missed = 10_000 * weight["malignant"], 200_000 * weight["malignant"]
unneeded = 1_000 * weight["benign"], 4_000 * weight["benign"]
rough = CostRanges.from_cells(
    {("benign", "malignant"): missed, ("malignant", "benign"): unneeded},
    labels=["benign", "malignant"],
    scale="log",
)
likely = cheapest_probability(y_test, decisions, rough, rng=0)
print(likely)

# %%
# The columns tell where the doubt comes from: from the costs, or from the size of the test set. The
# doubt about the costs alone can turn the order. Where, for the two that cost least here?

from stakes import compare, flip_region

difference = compare(
    y_test, decisions[best], decisions[second], costs, class_priors=clinic, names=(best, second)
)
flip = flip_region(difference)
print(fill(flip.summary(), 96))

# %%
# Are 285 tumours enough?
# -----------------------
#
# For the question whether to use a model at all, yes. For what it will cost, hardly: the interval
# is wide. Below is how many tumours would bring its upper limit within 50 of the estimate. The
# pilot is the test set as it would have come in the clinic.

from stakes import Confusion, plan_test_size

table = chosen[best].confusion
as_in_clinic = np.rint(table.counts * [weight[label] for label in table.labels]).astype(int)
plan = plan_test_size(costs, Confusion(as_in_clinic, table.labels), half_width=50, rng=0)
print(fill(chosen[best].estimate().summary(), 96))
print()
print(fill(plan.summary(), 96))

# %%
# What would change the decision
# ------------------------------
#
# The lines below are computed from the results above.

from stakes import cost_ratio, prevalence_at

end = curves[best].operating_range()[-1][1]
dearer = CostMatrix.from_errors(
    false_positive=2_000, false_negative=100_000, pos_label="malignant", neg_label="benign"
)
if_dearer = choose_threshold(train[best], dearer, class_priors=clinic).on(test[best])
now = chosen[best]
answers = {
    "The decision": f"send to biopsy whom '{best}' gives a risk of {now.threshold:.2g} or more. "
    f"That costs {now.cost:,.0f} USD a patient, a biopsy for all {2_000 * clinic['benign']:,.0f}.",
    "Another model": f"{len(ranking.best_set())} of {len(models)} models are tied. "
    + flip.summary(),
    "Another threshold": "if a miss cost 100,000, the threshold would be "
    f"{if_dearer.threshold:.2g}, and {100 * if_dearer.alarms:.0f} % of the patients would go to "
    f"biopsy instead of {100 * now.alarms:.0f} %.",
    "No model at all": "a biopsy for everybody would be cheaper if "
    f"{100 * prevalence_at(end, **prices):.0f} % of the tumours were malignant; or, with "
    f"{100 * clinic['malignant']:.0f} % of them, if a miss were as bad as "
    f"{cost_ratio(end, prevalence=clinic['malignant']):,.0f} unneeded biopsies.",
    "More data": plan.summary(),
}
for question, answer in answers.items():
    print(fill(f"{question}: {answer}", 96, subsequent_indent="    "))
