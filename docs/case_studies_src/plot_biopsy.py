"""
Who is sent to biopsy?
======================

A clinic takes a fine needle aspirate of each lump and measures the cells under the microscope. A
model uses these measurements to decide who is sent to a surgical biopsy. Two things can go wrong.
An unneeded biopsy costs money and causes pain. A missed malignant tumour is discovered later, and
its treatment is harder and costs more.

The data are the 569 tumours of the Wisconsin breast cancer set that comes with scikit-learn. The
costs are **assumed**: 2,000 for an unneeded biopsy, 40,000 for a missed malignancy. So is the
prevalence of malignant tumours in the clinic: 10%. In the data it is 37%.
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
# Half of the tumours train the models, the other half test them. Thresholds, and the model, will be
# chosen on the training half, by cross-validation, so that the test half has no part in any choice.

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
# First the models with the usual threshold: anyone with a predicted risk of one half or more goes
# to biopsy. The costs are those in the clinic, for which the two classes are weighed by
# ``class_priors``. The last line of the table is the constant prediction: a biopsy for everybody.

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
# Half is the threshold for mistakes that cost the same, at the prevalence that the models were
# trained with. Here a miss costs as much as twenty unneeded biopsies, and the clinic has fewer
# malignant tumours than the data. For calibrated risks, the two together determine the threshold.
# Predicted risks are seldom perfectly calibrated. So ``choose_threshold`` estimates the cheapest
# threshold from the training half, at the prevalence of the clinic; ``on`` evaluates it on the test
# half (:doc:`/howto/thresholds`).

from textwrap import fill

from stakes import ScoreCounts, choose_threshold

odds = (2_000 * clinic["benign"]) / (40_000 * clinic["malignant"])
odds *= np.mean(y_train == "malignant") / np.mean(y_train == "benign")
print(f"The threshold for risks that are right: {odds / (1 + odds):.2g}")
print()
train, test, on_training, chosen = {}, {}, {}, {}
for name in models:
    train[name] = ScoreCounts.from_scores(y_train, risk_train[name], pos_label="malignant")
    test[name] = ScoreCounts.from_scores(y_test, risk_test[name], pos_label="malignant")
    on_training[name] = choose_threshold(train[name], costs, class_priors=clinic)
    chosen[name] = on_training[name].on(test[name])
    print(fill(f"{name}: {chosen[name].summary()}", 96))
    print()

# %%
# What is gained, model by model? A threshold that was chosen on a few hundred tumours can also come
# out worse than one half. The last column compares the two on the same tumours, each model by
# itself, with 95% confidence.

from stakes import compare

decisions = {
    name: np.where(risk >= chosen[name].threshold, "malignant", "benign")
    for name, risk in risk_test.items()
}
print("USD a patient  at one half  as chosen  threshold  the chosen one is")
for name, model in models.items():
    before, choice = model.predict(X_test), chosen[name]
    gain = compare(y_test, decisions[name], before, costs, class_priors=clinic)
    low, high = gain.interval(method="extremal")
    verdict = "cheaper" if high < 0 else "more expensive" if low > 0 else "not shown to differ"
    print(f"{name:13} {estimates[name].cost:12.0f} {choice.cost:10.0f}", end=" ")
    print(f"{choice.threshold:10.2g}  {verdict} ({low:,.0f} to {high:,.0f})")

display = CostIntervalDisplay.from_estimates(
    {name: choice.estimate() for name, choice in chosen.items()}, unit="USD"
)

# %%
# Which model?
# ------------
#
# Overlapping intervals do not settle it. All models were tested on the same tumours, so their
# differences are tested, and adjusted for how many pairs there are (:doc:`/howto/compare_many`).

from stakes import compare_many

ranking = compare_many(y_test, decisions, costs, class_priors=clinic, unit="USD")
print(ranking)

# %%
# Tied models cannot be told apart with this test set; that does not make them equal. The clinic may
# choose among them by other criteria, such as whether a doctor can follow the model. From here on
# we take the one that was cheapest on the *training* half, so that its cost on the test half is not
# the lowest of several. (The costs on the training half are those of the cheapest thresholds there,
# and so too low.) Its rival is the one of the others that cost least on the test half.

best = min(models, key=lambda name: on_training[name].cost)
rival = next(name for name in ranking.estimates() if name != best)
for name in models:
    print(f"{name:10} {on_training[name].cost:5.0f} USD a patient on the training half", end=", ")
    print(f"{chosen[name].cost:4.0f} on the test half")
print(f"We take '{best}'; its rival is '{rival}'.")

# %%
# Whether a model is cheaper than a biopsy for everybody is another question, and the intervals
# answer it:

everybody = 2_000 * clinic["benign"]
for name, choice in chosen.items():
    low, high = choice.interval
    verdict = "shown" if high < everybody else "not shown"
    print(f"{name}: {low:,.0f} to {high:,.0f} USD a patient, {verdict} to be cheaper")

# %%
# Other costs and other clinics
# -----------------------------
#
# The cost curves of these two, with thresholds that were chosen on the training half anew for each
# condition, and bands that hold for the whole curve at once. The upper axis shows which share of
# malignant tumours the conditions stand for at these costs. The vertical line is the clinic. Where
# a band lies below both dotted lines, the model is shown to be cheaper than a biopsy for all or for
# nobody.

import matplotlib.pyplot as plt

from stakes import CostCurve
from stakes.curves import operating_condition
from stakes.show import CostCurveDisplay

prices = {"false_positive": 2_000, "false_negative": 40_000}
here = operating_condition(prevalence=clinic["malignant"], **prices)
fig, ax = plt.subplots(figsize=(6.8, 5), layout="constrained")
curves = {}
for name in (best, rival):
    curves[name] = CostCurve(test[name], name=name).select(train[name])
    CostCurveDisplay.from_curve(
        curves[name], simultaneous=True, ax=ax, second_axis="prevalence", **prices
    )
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
band = curves[best].band(simultaneous=True)
unclear = band.pc[band.high >= np.minimum(band.pc, 1 - band.pc)]
low, high = max(unclear[unclear < here]), min(unclear[unclear > here])
print(f"'{best}' is shown to be cheaper for PC(+) from {low:.2g} to {high:.2g}")

# %%
# How sure are the costs?
# -----------------------
#
# Nobody knows what a miss costs. Say it is somewhere between 10,000 and 200,000, and a biopsy
# between 1,000 and 4,000. Which model is the cheapest, with the thresholds chosen above, as the
# cost of a miss goes through its range?

from stakes import CostRanges, cost_sensitivity

rough = CostRanges.from_cells(
    {("benign", "malignant"): (10_000, 200_000), ("malignant", "benign"): (1_000, 4_000)},
    labels=["benign", "malignant"],
    scale="log",
)
path = cost_sensitivity(y_test, decisions, rough, cell=("benign", "malignant"), class_priors=clinic)
print(fill(path.summary(), 96))

# %%
# Where, along the costs, does the order of the model that we took and of its rival turn?

from stakes import flip_region

difference = compare(
    y_test, decisions[best], decisions[rival], costs, class_priors=clinic, names=(best, rival)
)
flip = flip_region(difference)
print(fill(flip.summary(), 96))

# %%
# Are so many tumours enough?
# ---------------------------
#
# For the question whether to use a model at all, see above. For what it will cost, look at how wide
# its interval is, and on how few misses it rests. Below is how many tumours would bring the upper
# limit within 50 of the estimate. The pilot is the test half as it would have come in the clinic;
# with so few misses in it, its uncertainty makes for much of the number.

from stakes import Confusion, plan_test_size

table = chosen[best].confusion
weight = {label: share / np.mean(y_test == label) for label, share in clinic.items()}
as_in_clinic = np.rint(table.counts * [weight[label] for label in table.labels]).astype(int)
plan = plan_test_size(costs, Confusion(as_in_clinic, table.labels), half_width=50, rng=0)
missed = np.sum((decisions[best] == "benign") & (y_test == "malignant"))
print(f"'{best}' missed {missed} of {np.sum(y_test == 'malignant')} malignant tumours.")
print(fill(chosen[best].estimate().summary(), 96))
print()
print(fill(plan.summary(), 96))

# %%
# What would change the decision
# ------------------------------
#
# The lines below are computed from the results above.

from stakes.curves import cost_ratio, prevalence_at

worse_misses = CostMatrix.from_errors(
    false_positive=2_000, false_negative=100_000, pos_label="malignant", neg_label="benign"
)
if_worse = choose_threshold(train[best], worse_misses, class_priors=clinic).on(test[best])
now = chosen[best]
answers = {
    "The decision": f"send to biopsy whom '{best}' gives a risk of {now.threshold:.2g} or more. "
    f"That costs {now.cost:,.0f} USD a patient ({now.interval.low:,.0f} to "
    f"{now.interval.high:,.0f} with 95% confidence), and a biopsy for all {everybody:,.0f}.",
    "Another model": f"{len(ranking.best_set())} of {len(models)} models are tied. On these "
    f"tumours {flip.summary()} With costs as unsure as above, '{mean}' costs least on average.",
    "Another threshold": "if a miss cost 100,000, the threshold would be "
    f"{if_worse.threshold:.2g}, and {100 * if_worse.alarms:.0f}% of the patients would go to "
    f"biopsy instead of {100 * now.alarms:.0f}%.",
    "No model at all": f"with {100 * clinic['malignant']:.0f}% malignant tumours the model, "
    "with thresholds chosen anew, is shown to be cheaper than a biopsy for all or for nobody as "
    "long as a miss is as bad as "
    f"{cost_ratio(low, prevalence=clinic['malignant']):.2g} to "
    f"{cost_ratio(high, prevalence=clinic['malignant']):.0f} unneeded biopsies; at these costs, as "
    f"long as {100 * prevalence_at(low, **prices):.2g} to "
    f"{100 * prevalence_at(high, **prices):.0f}% of the tumours are malignant. Beyond, these "
    "tumours do not tell.",
    "More data": plan.summary(),
}
for question, answer in answers.items():
    print(fill(f"{question}: {answer}", 96, subsequent_indent="    "))
