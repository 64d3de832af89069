"""
Ranking models, and what is not decided
=======================================

Which of five models is the cheapest? Instead of a list in the order of their costs, the chart shows
how much less the cheapest costs than each of the others, and than the constant predictions. The
examples are made up.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from stakes import CostMatrix, compare_many

X, codes = make_classification(
    10_000, n_features=12, n_informative=6, weights=[0.7], flip_y=0.1, class_sep=0.7, random_state=1
)
y = np.array(["ok", "fraud"])[codes]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
classifiers = {
    "logistic": LogisticRegression(class_weight={"ok": 1, "fraud": 5}),
    "neighbours": KNeighborsClassifier(15),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
    "forest": RandomForestClassifier(100, max_depth=6, random_state=0),
}
predictions = {
    name: each.fit(X_train, y_train).predict(X_test) for name, each in classifiers.items()
}
costs = CostMatrix.from_errors(
    false_positive=10, false_negative=50, pos_label="fraud", neg_label="ok"
)
ranking = compare_many(y_test, predictions, costs)
print(ranking)

# %%
# A difference that is shown is blue with a round mark; one that is not shown is orange with a
# square mark and a dashed line. That is decided by the p-values, which are adjusted because the
# data picked the cheapest; the intervals are those of each difference alone.

pairs = ranking.to_dict()["pairs"]
rows = np.arange(len(pairs))
fig, ax = plt.subplots(figsize=(7, 0.4 * len(pairs) + 1.2), layout="constrained")
for row, pair in zip(rows, pairs, strict=True):
    colour, style, marker = ("C0", "-", "o") if pair["shown"] else ("C1", "--", "s")
    ax.hlines(row, pair["low"], pair["high"], color=colour, linestyle=style)
    ax.plot(pair["difference"], row, color=colour, marker=marker)
ax.axvline(0, color="black", linewidth=0.8)
ax.set_yticks(rows, [f"{pair['first']} − {pair['second']}" for pair in pairs])
ax.invert_yaxis()
ax.grid(axis="x", color="0.9")
ax.set_axisbelow(True)
ax.set(xlabel="difference in cost per decision, 95% intervals")
