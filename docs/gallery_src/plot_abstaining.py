"""
When to refer a case to a person
================================

A model need not decide every case. It may refer some to a person, who is right and costs money.
Asking is one more decision, and each case gets the cheapest of the three. Here a miss costs 20, a
false alarm 5, and the price of asking goes from zero up to where nobody is asked. The data are made
up.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from stakes import CostMatrix, evaluate

X, codes = make_classification(
    8000, n_features=10, n_informative=5, weights=[0.8], flip_y=0.02, class_sep=0.7, random_state=2
)
y = np.array(["ok", "fraud"])[codes]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
model = LogisticRegression().fit(X_train, y_train)
proba = model.predict_proba(X_test)


def costs(price):
    """Return the costs of three decisions."""
    return CostMatrix(
        [[0, 20], [5, 0], [price, price]],
        rows="predicted",
        labels=["ok", "fraud"],
        decisions=["ok", "fraud", "ask"],
    )


prices = np.linspace(0, 4.5, 46)
found, asked = [], []
for price in prices:
    decided = costs(price).decide(proba, labels=model.classes_)
    found.append(evaluate(y_test, decided, costs(price)))
    asked.append(np.mean(decided == "ask"))
parts = np.array([each.contributions().sum(axis=1) for each in found])

# %%
# The higher the price, the fewer cases are referred. The amount paid for asking first grows and
# then falls, while mistakes make up more and more of the cost. The black line is the total cost,
# with its 95% interval. Dashed: the cost of the model if it cannot ask.

fig, (upper, lower) = plt.subplots(
    2, 1, figsize=(6.8, 6), sharex=True, height_ratios=(3, 2), layout="constrained"
)
names = ["called ok, was fraud", "called fraud, was ok", "asked"]
areas = upper.stackplot(prices, parts.T, labels=names, alpha=0.5)
for area, colour, hatch in zip(areas, ("C1", "C0", "C2"), ("//", "", ".."), strict=True):
    area.set(facecolor=colour, hatch=hatch, edgecolor="white")
limits = np.array([tuple(each.interval()) for each in found])
upper.plot(prices, [each.cost for each in found], color="black", label="in all")
upper.fill_between(prices, *limits.T, color="black", alpha=0.15)
alone = evaluate(y_test, costs(100).decide(proba, labels=model.classes_), costs(100)).cost
upper.axhline(alone, color="black", linestyle="--", label="without asking")
upper.set(ylabel="cost per decision", ylim=(0, None))
upper.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
lower.plot(prices, asked, color="black")
lower.set(xlabel="price of asking", ylabel="share asked", xlim=(0, prices[-1]), ylim=(0, None))
lower.yaxis.set_major_formatter("{x:.0%}")

# %%
# No case is referred once asking costs more than the expected cost of the most uncertain case. With
# two classes both decisions then have the same expected cost, 20 × 5 / (20 + 5):

print(f"The most uncertain case costs {20 * 5 / (20 + 5):.0f}.")
print(f"At a price of {prices[-1]:.1f} {100 * asked[-1]:.0f}% are asked about.")
