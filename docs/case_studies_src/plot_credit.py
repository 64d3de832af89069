"""
Who gets a credit card?
=======================

A retail chain gives credit cards to its customers. Some do not pay back. For each application the
chain grants the card or refuses it. Refusing somebody who would have paid loses the profit on a
good customer. Granting a card to somebody who defaults loses a large part of the loan.

The data are those of the PAKDD 2009 competition, as they come with the package *empulse*: 38,938
applications, of which one in five ended in default. The data hold **no costs**. Those on this page
are assumptions, and are here to be replaced:

* the credit line is three months' net income of the applicant, and three quarters of it are lost in
  a default (as *empulse* assumes, after Correa Bahnsen et al. 2014);
* a customer who pays brings a quarter of the line.

So a default costs as much as three good customers bring. One more assumption: of those who will
apply, 22% would default, more than in the data. Whether somebody pays back is known only of those
who got a card, and they may not be like all who apply.
"""

import numpy as np
import pandas as pd
from empulse.datasets import load_credit_scoring_pakdd

applications = load_credit_scoring_pakdd(backend=pd)
y = np.where(applications.target == 1, "defaults", "pays")
line = 3 * applications.data["personal_net_income"].to_numpy(float)
X = applications.data.drop(columns=["is_male"])  # many countries forbid to decide by it
X = X[[name for name in X if len(X[name].unique()) > 1]]
print(f"{len(X):,} applications with {X.shape[1]} features", end=", ")
print(f"{100 * np.mean(y == 'defaults'):.1f}% of them ended in default")
print(f"the middle half of the credit lines: {np.quantile(line, 0.25):,.0f}", end=" ")
print(f"to {np.quantile(line, 0.75):,.0f}, on average {line.mean():,.0f}")

# %%
# The positive class is the default, and to call somebody a defaulter is to refuse the card. At
# first everybody has the average line:

from stakes import CostMatrix

share_lost, share_earned = 0.75, 0.25
prices = {
    "false_positive": round(share_earned * line.mean()),
    "false_negative": round(share_lost * line.mean()),
}
costs = CostMatrix.from_errors(**prices, pos_label="defaults", neg_label="pays")
expected = {"pays": 0.78, "defaults": 0.22}
print("\n".join(costs.in_words()))

# %%
# Four models
# -----------
#
# 10,000 applications train the models; 10,000 others, for validation, choose the thresholds and the
# model; and the rest test what was chosen.

from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

rows = np.arange(len(X))
train, rest = train_test_split(rows, train_size=10_000, stratify=y, random_state=0)
validation, test = train_test_split(rest, train_size=10_000, stratify=y[rest], random_state=0)

text = X.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes]].tolist()
numbers = [name for name in X if name not in text]


def pipeline(model):
    codes = OneHotEncoder(
        min_frequency=50, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    return make_pipeline(make_column_transformer((codes, text), (StandardScaler(), numbers)), model)


models = {
    "logistic": pipeline(LogisticRegression(max_iter=1000)),
    "boosted": pipeline(
        HistGradientBoostingClassifier(
            learning_rate=0.05, max_leaf_nodes=8, max_iter=100, random_state=0
        )
    ),
    "forest": pipeline(
        RandomForestClassifier(50, min_samples_leaf=20, max_features=0.2, random_state=0)
    ),
    "tree": pipeline(DecisionTreeClassifier(max_depth=4, min_samples_leaf=100, random_state=0)),
}
risk = {}
for name, model in models.items():
    model.fit(X.iloc[train], y[train])
    risk[name] = model.predict_proba(X)[:, list(model.classes_).index("defaults")]
print(f"{len(train):,} to train, {len(validation):,} to choose, {len(test):,} to test")

# %%
# As they come
# ------------
#
# A threshold of one half suits mistakes that cost the same, and few applicants have a risk that
# high. The last line of the table is the better constant prediction: granting to all or refusing
# all.

from stakes import evaluate
from stakes.show import CostIntervalDisplay, cost_table

plain = {name: model.predict(X.iloc[test]) for name, model in models.items()}
estimates = {
    name: evaluate(y[test], each, costs, class_priors=expected) for name, each in plain.items()
}
print(cost_table(estimates))
for name, each in plain.items():
    print(f"{name:9} refuses {100 * np.mean(each == 'defaults'):.1f}%")

# %%
# A threshold for the costs
# -------------------------

from textwrap import fill

from stakes import ScoreCounts, choose_threshold


def counted(name, rows, **options):
    return ScoreCounts.from_scores(y[rows], risk[name][rows], pos_label="defaults", **options)


on_validation = {
    name: choose_threshold(counted(name, validation), costs, class_priors=expected)
    for name in models
}
chosen = {name: choice.on(counted(name, test)) for name, choice in on_validation.items()}
for name, choice in chosen.items():
    print(f"{name:9} {estimates[name].cost:5.0f} at one half, {choice.cost:5.0f} at", end=" ")
    print(f"{choice.threshold:.2f}, which refuses {100 * choice.alarms:.0f}%")

# %%
# Dashed: the better of the two constant predictions.

display = CostIntervalDisplay.from_estimates(
    {name: choice.estimate() for name, choice in chosen.items()}
)

# %%
# Which model?
# ------------

from stakes import compare_many

decisions = {
    name: np.where(risk[name][test] >= choice.threshold, "defaults", "pays")
    for name, choice in chosen.items()
}
ranking = compare_many(y[test], decisions, costs, class_priors=expected)
print(ranking)

# %%
# Tied models cannot be told apart with this test set, which does not make them equal. The regret
# bounds what taking the cheapest may cost more than taking the best. From here on we take the model
# that was cheapest on the *validation* applications, so that the test has no part in the choice.
# (Its threshold was chosen there as well, and its cost there is corrected for that.) Each interval
# is then that of one comparison with a model that was named beforehand.

best = min(models, key=lambda name: on_validation[name].cost)
rival = next(name for name in ranking.estimates() if name != best)
lost = {pair.first: -pair.low for pair in ranking.against(best)}
for name in models:
    print(f"{name:9} {on_validation[name].cost:5.1f} on validation", end=", ")
    print(f"{chosen[name].cost:5.1f} on the test applications")
print(f"We take '{best}'; its rival, the cheapest of the others on the test, is '{rival}'.")
for name, most in lost.items():
    if most > 0:
        print(f"'{best}' may cost up to {most:.1f} an application more than '{name}'.")
    else:
        print(f"'{best}' is shown to be cheaper than '{name}'.")

# %%
# Under other conditions
# ----------------------
#
# If the economy turns, more will default; if refinancing costs more, a good customer brings less.
# Both move the operating condition PC(+). The cost curve of our model has them all, with thresholds
# that were chosen on the validation applications anew for each condition, and the band holds for
# the whole curve at once. The curve of the small tree is there for comparison. The dotted lines are
# to grant to all (on the left) and to refuse all (on the right); where the band lies below both,
# the model is shown to be cheaper than either.

import matplotlib.pyplot as plt

from stakes import CostCurve
from stakes.curves import operating_condition
from stakes.show import CostCurveDisplay

here = operating_condition(prevalence=expected["defaults"], **prices)
fig, ax = plt.subplots(figsize=(6.8, 5), layout="constrained")
for name in dict.fromkeys((best, "tree")):
    curve = CostCurve(counted(name, test), name=name).select(counted(name, validation))
    CostCurveDisplay.from_curve(curve, simultaneous=True, ax=ax, second_axis="prevalence", **prices)
ax.axvline(here, color="0.4", linewidth=1)
ax.annotate(
    "expected",
    (here, 0),
    xycoords=ax.get_xaxis_transform(),
    xytext=(4, 6),
    textcoords="offset points",
    color="0.3",
)
curve = CostCurve(counted(best, test), name=best).select(counted(best, validation))
band = curve.band(simultaneous=True)
unclear = band.pc[band.high >= np.minimum(band.pc, 1 - band.pc)]
low, high = max(unclear[unclear < here]), min(unclear[unclear > here])
print(f"'{best}' is shown to be cheaper for PC(+) from {low:.2g} to {high:.2g}")
print(fill(curve.at(prevalence=expected["defaults"], **prices).summary(), 96))

# %%
# Costs of each applicant
# -----------------------
#
# By our assumptions both mistakes grow with the credit line, so a mistake about somebody with a
# large income costs more. ``ExampleCosts`` holds what each decision costs for each applicant
# (:doc:`/howto/example_costs`). Such costs cannot be combined with class priors. Instead some of
# those who paid are left out, so that the expected share of defaults remains.
#
# Should the threshold mind the amounts? Choose one more, on applications that are weighed by their
# credit lines, and compare. That one aims at the right sum. But large lines weigh much, so fewer
# applications in effect choose it, and it may come out worse on new ones.

from stakes import ExampleCosts, compare

rng = np.random.default_rng(0)


def thinned(rows):
    failed, paid = rows[y[rows] == "defaults"], rows[y[rows] == "pays"]
    number = round(len(failed) * expected["pays"] / expected["defaults"])
    return np.concatenate([failed, rng.choice(paid, number, replace=False)])


def refused(name, rows, threshold):
    return np.where(risk[name][rows] >= threshold, "defaults", "pays")


earlier, new = thinned(validation), thinned(test)
by_heads = choose_threshold(counted(best, earlier), costs).threshold
by_money = choose_threshold(counted(best, earlier, sample_weight=line[earlier]), costs).threshold
pattern = CostMatrix.from_errors(
    false_positive=share_earned, false_negative=share_lost, pos_label="defaults", neg_label="pays"
)
amounts = ExampleCosts.from_matrix(pattern, y[new], line[new])
heads, money = refused(best, new, by_heads), refused(best, new, by_money)
for label in costs.labels:
    print(f"{label}: a credit line of {line[new][y[new] == label].mean():,.0f} on average")
effective = line[earlier].sum() ** 2 / np.sum(line[earlier] ** 2)
print(f"Threshold chosen by heads: {by_heads:.3f}, by money: {by_money:.3f}", end=" ")
print(f"(by {len(earlier):,} applications, which weigh like {effective:,.0f}).")
print(fill(evaluate(y[new], heads, amounts).summary(), 96))
own = compare(y[new], heads, money, amounts, names=("by heads", "by money"))
print(fill(own.summary(), 96))

# %%
# What a decision costs differs from above, where everybody had the average line. Now the lines of
# those about whom mistakes are made count, and those who default have other lines than those who
# pay.
#
# How sure are the costs?
# -----------------------
#
# The two shares are guesses. Let a default cost half as much or twice as much, and likewise the
# refusal of a good customer. The picture has the cost of a default in its range across; the other
# one stays as assumed. The decisions are the ones made above, with thresholds for the
# assumed costs, and those of a chain that grants to all or refuses all.

from stakes import CostRanges, flip_region
from stakes.show import CostSensitivityDisplay

rough = CostRanges.around(costs, 2)
policies = {
    best: decisions[best],
    "grant to all": np.full(len(test), "pays"),
    "refuse all": np.full(len(test), "defaults"),
}
display = CostSensitivityDisplay.from_labels(
    y[test], policies, rough, cell=("pays", "defaults"), class_priors=expected, steps=21
)
print(fill(display.sensitivity.summary(), 96))

# %%
# How far may the costs move until the model, *as it decides now*, is no better than either? With a
# threshold that is chosen anew it stays useful longer; that is what the cost curve tells, and the
# last section has both.

flips = [
    flip_region(
        compare(
            y[test],
            policies[best],
            policies[other],
            costs,
            class_priors=expected,
            names=(best, other),
        )
    ).summary()
    for other in ("grant to all", "refuse all")
]
for each in flips:
    print(fill(each, 96))

# %%
# Enough applications?
# --------------------
#
# To tell the model from its rival, how many would it take? That depends on which difference would
# matter. We take one hundredth of what granting to all costs; to plan for the difference that
# happened to be seen would be to plan for chance.

from stakes import PairedConfusion, plan_test_size

worth = 0.01 * prices["false_negative"] * expected["defaults"]
pair = [refused(name, new, chosen[name].threshold) for name in (best, rival)]
pilot = PairedConfusion.from_labels(y[new], *pair, labels=costs.labels)
plan = plan_test_size(costs, pilot, difference=worth, power=0.8, rng=0)
print(fill(plan.summary(), 96))

# %%
# What would change the decision
# ------------------------------
#
# The lines below are computed from the results above.

from stakes.curves import cost_ratio, prevalence_at

now = chosen[best]
least, most = (cost_ratio(end, prevalence=expected["defaults"]) for end in (low, high))
tied = [name for name in ranking.best_set() if name != best]
harder = choose_threshold(
    counted(best, validation), costs, class_priors={"pays": 0.7, "defaults": 0.3}
).on(counted(best, test))
answers = {
    "The decision": f"refuse whom '{best}' gives a risk of {now.threshold:.2f} or more, "
    f"{100 * now.alarms:.0f}% of the applicants. That costs {now.cost:,.0f} an application "
    f"({now.interval.low:,.0f} to {now.interval.high:,.0f} with 95% confidence); to grant to all "
    f"costs {prices['false_negative'] * expected['defaults']:,.0f}, to refuse all "
    f"{prices['false_positive'] * expected['pays']:,.0f}.",
    "Another model": f"not told apart from '{best}': "
    + (", ".join(f"'{name}' (may cost up to {lost[name]:.1f} less)" for name in tied) or "none")
    + f". To tell it from '{rival}': {plan.summary()}",
    "Another threshold": f"if 30% would default, refuse from {harder.threshold:.2f} on, which is "
    f"{100 * harder.alarms:.0f}% of the applicants.",
    "No model at all": "if the threshold is chosen anew whenever something changes, the model is "
    "shown to be cheaper than to grant to all or to refuse all as long as "
    f"{100 * prevalence_at(low, **prices):.0f} to {100 * prevalence_at(high, **prices):.0f}% "
    f"would default at these costs; or, with {100 * expected['defaults']:.0f}% defaults, as long "
    f"as one costs what {least:.2g} to {most:.2g} good customers bring. Beyond, these applications "
    "do not show that any threshold gains something.",
    "The threshold kept as it is": f"then, on these applications, {' '.join(flips)}",
    "Other applicants": "only the share of defaults was changed. If those who never got a card "
    "differ otherwise from those who did, none of this holds for them. To find out, grant some "
    "cards at random.",
}
for question, answer in answers.items():
    print(fill(f"{question}: {answer}", 96, subsequent_indent="    "))
