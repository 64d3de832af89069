"""
Probabilities of trees compared with the truth
==============================================

Decisions by cost need reliable probabilities. Here the true ones are known, because the data are
simulated from them: two features, and a probability that changes smoothly between them. Five kinds
of trees learn from 400 examples and predict the probabilities of 400 new ones. Correct
probabilities lie on the diagonal.

* An ordinary, fully grown *tree* predicts 0 or 1.
* *Smoothed leaves* (``PETClassifier``) predict values in between.
* A *lazy tree* is grown for each case, with one line of tests. Its leaves are as small.
* A *lazy option tree* follows several tests at each node and averages.
* A *bag of smoothed trees* (``BaggedPETClassifier``) averages over trees.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.tree import DecisionTreeClassifier

from stakes.learn import (
    BaggedPETClassifier,
    LazyOptionTreeClassifier,
    LazyTreeClassifier,
    PETClassifier,
)

rng = np.random.default_rng(0)


def draw(number):
    """Return features, true probabilities and labels."""
    features = rng.uniform(-1, 1, (number, 2))
    truth = expit(3 * features[:, 0] + 2 * np.sin(3 * features[:, 1]))
    return features, truth, (rng.random(number) < truth).astype(int)


X, _, y = draw(400)
X_new, truth, _ = draw(400)
trees = {
    "tree": DecisionTreeClassifier(random_state=0),
    "lazy tree": LazyTreeClassifier(),
    "smoothed leaves": PETClassifier(random_state=0),
    "lazy option tree": LazyOptionTreeClassifier(),
    "bag of smoothed trees": BaggedPETClassifier(random_state=0),
}
told = {name: tree.fit(X, y).predict_proba(X_new)[:, 1] for name, tree in trees.items()}

# %%
# What it is worth, where a miss costs 10 and a false alarm 1: each decides for the least expected
# cost by its own probabilities. The expected costs are exact, since the truth is known.

from stakes import CostMatrix

costs = CostMatrix.from_errors(false_positive=1, false_negative=10)


def cost(probability):
    """Return the expected cost of deciding by these probabilities."""
    alarm = costs.decide(np.column_stack([1 - probability, probability])) == 1
    return np.mean(np.where(alarm, 1 - truth, 10 * truth))


found = {name: cost(each) for name, each in (told | {"the truth": truth}).items()}
for name, each in found.items():
    print(f"{name:22} {each:.3f}")

# %%
# The last panel shows these costs. A wrong zero costs most. So it matters more than the average
# error that small probabilities are not rounded to zero.

fig, axes = plt.subplots(2, 3, figsize=(8.4, 6.2), layout="constrained")
for ax, (name, each) in zip(axes.flat, told.items(), strict=False):
    error = np.sqrt(np.mean((each - truth) ** 2))
    ax.plot(truth, each, ".", color="C0", markersize=4, alpha=0.5)
    ax.plot([0, 1], [0, 1], color="black", linewidth=0.8)
    ax.set(box_aspect=1, xlabel="true probability", ylabel="what the tree says")
    ax.set_title(f"{name}\nroot mean square error {error:.2f}", fontsize="medium")
last = axes.flat[-1]
last.barh(list(found), list(found.values()), color="C0", alpha=0.35)
for name in found:
    last.text(0.03, name, name, va="center", fontsize="small")
last.invert_yaxis()
last.set(box_aspect=1, xlabel="expected cost of a decision", yticks=[])
