"""
Reading water meters
====================

A water company's customers write their meter readings on a card. A model reads the digits, and the
bill is made from them. How bad a misread digit is depends on which one is taken for which: a 1 that
is read as a 7 makes the bill six units too high, a 5 that is read as a 6 only one. And the
directions differ. A bill that is too high brings a complaint and a refund. One that is too low is
corrected by the next reading; until then the company has lent the difference.

The digits are those that come with scikit-learn: 1,797 handwritten ones in 8 × 8 pixels. The costs
are **assumed**: 3 EUR for each unit that a digit is read too high, 1 EUR for each unit too low.
They are for the last digit of a reading; one further left would count for more, or stand out as
implausible. A clerk who looks at the card costs 0.50 EUR, and is always right.
"""

import numpy as np

from stakes import CostMatrix

digits = list(range(10))
error = np.subtract.outer(digits, digits)  # what is read minus what it is
costs = CostMatrix(np.where(error > 0, 3 * error, -error), rows="predicted", labels=digits)
print(costs)

# %%
# Four models
# -----------
#
# 600 digits train the models, and the others test them. Which model to use will be chosen on the
# training digits, by cross-validation, so that the test has no part in it. "Plain" is what each
# model takes for the most probable digit.

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from stakes import evaluate
from stakes.show import cost_table

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, train_size=600, stratify=y, random_state=0
)
models = {
    "logistic": LogisticRegression(C=10, max_iter=1000),
    "forest": RandomForestClassifier(100, random_state=0),
    "neighbours": KNeighborsClassifier(5, weights="distance"),
    "vectors": SVC(C=10),
}
plain = {name: model.fit(X_train, y_train).predict(X_test) for name, model in models.items()}
estimates = {name: evaluate(y_test, read, costs, unit="EUR") for name, read in plain.items()}
print(cost_table(estimates))

# %%
# Where does the money go? A column is a digit, a row what it was taken for. Below the diagonal
# digits are read too high, which costs three times as much.

import matplotlib.pyplot as plt

shown = ["logistic", "forest"]
fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
parts = {name: 1000 * estimates[name].contributions() for name in shown}
top = max(each.max() for each in parts.values())
for ax, (name, part) in zip(axes, parts.items(), strict=True):
    image = ax.imshow(part, cmap="Greys", vmin=0, vmax=top)
    for i, j in np.argwhere(part > 0):
        colour = "white" if part[i, j] > top / 2 else "black"
        ax.text(j, i, f"{part[i, j]:.0f}", ha="center", va="center", color=colour, fontsize=8)
    ax.set(title=name, xlabel="the digit", xticks=digits, yticks=digits)
axes[0].set_ylabel("what it was taken for")
bar = fig.colorbar(image, ax=axes, label="EUR per 1,000 digits", shrink=0.9)

# %%
# Read for the least cost
# -----------------------
#
# Instead of the most probable digit, read the one with the lowest expected cost. If it is about as
# likely a 1 as a 7, that is the 1. ``MinimumRiskClassifier`` does it
# (:doc:`/howto/cost_sensitive_learning`). It is only as good as the probabilities. Those of a
# forest are spread out, because its trees seldom agree, and support vectors have none. For these
# two, ``calibration`` corrects or creates them on parts of the training digits. The forest shows
# the effect:

from stakes.learn import MinimumRiskClassifier

calibration = {"forest": "isotonic", "vectors": "isotonic"}
careful = {
    name: MinimumRiskClassifier(model, costs, calibration=calibration.get(name)).fit(
        X_train, y_train
    )
    for name, model in models.items()
}
raw = MinimumRiskClassifier(models["forest"], costs).fit(X_train, y_train)
forest = {
    "forest (plain)": plain["forest"],
    "forest (least risk)": raw.predict(X_test),
    "forest (least risk, calibrated)": careful["forest"].predict(X_test),
}
print(cost_table({name: evaluate(y_test, read, costs) for name, read in forest.items()}))

# %%
# Ask a person
# ------------
#
# Asking the clerk is one more decision, and one more row of the costs. The threshold follows from
# it: ask if every possible reading is expected to cost more than the clerk. The last column of the
# table compares asking with plain reading, each model by itself.

from stakes import compare


def with_clerk(costs, price):
    """Return the costs with one more decision, to ask."""
    rows = np.vstack([costs.values, np.full(10, price)])
    return CostMatrix(rows, rows="predicted", labels=digits, decisions=[*digits, "ask"])


asking = with_clerk(costs, 0.5)
proba = {name: model.predict_proba(X_test) for name, model in careful.items()}
decided = {}
for name in models:
    decided[f"{name} (plain)"] = plain[name].astype(object)
    decided[f"{name} (least risk)"] = costs.decide(proba[name]).astype(object)
    decided[f"{name} (asking)"] = asking.decide(proba[name]).astype(object)


def verdict(first, second):
    """Return what the test digits show about two ways to decide, with 95% confidence."""
    low, high = compare(y_test, first, second, asking).interval(method="extremal")
    return "cheaper" if high < 0 else "more expensive" if low > 0 else "a tie"


ways = ("plain", "least risk", "asking")
print("EUR per digit   plain  least risk  asking  asked  asking against plain")
for name in models:
    found = [evaluate(y_test, decided[f"{name} ({way})"], asking).cost for way in ways]
    share = np.mean(decided[f"{name} (asking)"] == "ask")
    against = verdict(decided[f"{name} (asking)"], decided[f"{name} (plain)"])
    print(f"{name:14} {found[0]:6.3f} {found[1]:11.3f} {found[2]:7.3f}", end=" ")
    print(f"{100 * share:4.0f}%  {against}")

# %%
# Which one?
# ----------
#
# On the training digits each model is judged on parts that it was not trained on. We take the
# cheapest of those that may ask, and the cheapest of those that may not.

from sklearn.model_selection import cross_val_predict

on_training = {}
for name, model in models.items():
    read = cross_val_predict(model, X_train, y_train, cv=5)
    on_training[f"{name} (plain)"] = evaluate(y_train, read, costs).cost
    held_out = cross_val_predict(careful[name], X_train, y_train, cv=5, method="predict_proba")
    choices = asking.decide(held_out).astype(object)
    on_training[f"{name} (asking)"] = evaluate(y_train, choices, asking).cost
best, alone = (
    min((name for name in on_training if way in name), key=on_training.get)
    for way in ("asking", "plain")
)
for name, each in on_training.items():
    print(f"{name:20} {each:.3f} EUR a digit on the training digits")
print(f"We take '{best}' and '{alone}'.")

# %%
# On the test digits: all models that may ask, and the one that may not.

from stakes import compare_many
from stakes.show import CostIntervalDisplay

candidates = {
    name: each for name, each in decided.items() if name == alone or name.endswith("(asking)")
}
display = CostIntervalDisplay.from_labels(y_test, candidates, asking, unit="EUR")
display.ax_.set_xlim(0, 0.6)
ranking = compare_many(y_test, candidates, asking, unit="EUR")
print(ranking)

# %%
# What does the clerk have to cost?
# ---------------------------------
#
# The more a clerk costs, the fewer digits are left to one. Here the decisions are made anew for
# each price, with the probabilities of the model that we took. The shaded band has the 95%
# interval of each cost. Whether asking is cheaper than not to ask is told for each price by itself,
# from the differences on the same digits.

model = best.removesuffix(" (asking)")
prices = np.geomspace(0.02, 10, 60)
cost, share, band, shown = [], [], [], []
for price in prices:
    matrix = with_clerk(costs, price)
    choices = matrix.decide(proba[model]).astype(object)
    estimate = evaluate(y_test, choices, matrix)
    cost.append(estimate.cost)
    band.append(tuple(estimate.interval()))
    share.append(np.mean(choices == "ask"))
    difference = compare(y_test, choices, decided[alone], matrix)
    shown.append(difference.interval(method="extremal").high < 0)

fig, (upper, lower) = plt.subplots(
    2, 1, figsize=(6.4, 5.4), sharex=True, height_ratios=(3, 2), layout="constrained"
)
upper.plot(prices, cost, color="C0", label=f"{model} (asking)")
upper.fill_between(prices, *zip(*band, strict=True), color="C0", alpha=0.2, linewidth=0)
for name, style in ((alone, "--"), (f"{model} (least risk)", "-.")):
    height = evaluate(y_test, decided[name], asking).cost
    upper.axhline(height, color="C1", linestyle=style, label=name)
upper.set(ylim=(0, None), ylabel="EUR per digit")
upper.legend(frameon=False)
lower.plot(prices, share, color="C0")
lower.set(xscale="log", ylim=(0, None), xlabel="price of asking (EUR)", ylabel="share asked")
lower.yaxis.set_major_formatter("{x:.0%}")
lower.set_xticks([0.02, 0.1, 0.5, 2, 10], ["0.02", "0.1", "0.5", "2", "10"])
lower.minorticks_off()
for ax in (upper, lower):
    ax.axvline(0.5, color="0.6", linewidth=1, linestyle=":")
number = [*shown, False].index(False)  # of prices, from the lowest on
pays = f"up to a price of about {prices[number - 1]:.2g} EUR" if number else "at no price"
print(f"Asking is shown to be cheaper than '{alone}' {pays}.")

# %%
# Other costs
# -----------
#
# Perhaps the size of the error does not matter, and each wrong bill costs the same 5 EUR: somebody
# has to write it again. The path goes from there (on the left) to the costs assumed above (on the
# right). The decisions stay as they are.

from textwrap import fill

from stakes import cost_sensitivity
from stakes.show import CostSensitivityDisplay

alike = with_clerk(
    CostMatrix(5 * (error != 0), rows="predicted", labels=digits),
    0.5,
)
path = cost_sensitivity(y_test, candidates, alike, asking, rng=0)
display = CostSensitivityDisplay(path).plot(unit="EUR", intervals=False)
print(fill(path.summary(), 96))

# %%
# What would change the decision
# ------------------------------
#
# The lines below are computed from the results above.

now, without = (evaluate(y_test, decided[name], asking).cost for name in (best, alone))
asked = decided[best] == "ask"
kept = evaluate(y_test[~asked], decided[best][~asked], asking).cost
difference = compare(y_test, decided[best], decided[alone], asking, names=(best, alone), unit="EUR")
worth = verdict(decided[best], decided[alone])
tied = [name for name in ranking.best_set() if name != best]
slack = (without - now) / np.mean(asked)
answers = {
    "The decision": {
        "cheaper": f"'{best}', which is shown to be cheaper than '{alone}'.",
        "more expensive": f"'{alone}', which is shown to be cheaper than '{best}'.",
        "a tie": f"'{best}' or '{alone}'. These digits do not tell them apart, and so give no "
        "reason to hire a clerk, nor against asking one who is there.",
    }[worth]
    + f" '{best}' costs {now:.3f} EUR a digit and leaves {100 * np.mean(asked):.0f}% of them to "
    f"the clerk, '{alone}' costs {without:.3f}. To ask about every digit costs 0.50.",
    "Is the clerk worth it?": difference.summary(),
    "Another model": (f"tied with '{best}': {'; '.join(tied)}." if tied else "none is tied."),
    "A cheaper clerk": f"asking is shown to be cheaper {pays}.",
    "A clerk who errs": "on these digits, chance left aside, asking has "
    f"{max(slack, 0):.2f} EUR to spare for each digit asked about. A clerk whose mistakes cost "
    "more than that on average is not worth asking.",
    "Other digits": f"the digits that are not asked about cost {kept:.3f} EUR each. On cards that "
    "are harder to read, more would be left to the clerk; these digits do not tell how many.",
}
for question, answer in answers.items():
    print(fill(f"{question}: {answer}", 96, subsequent_indent="    "))
