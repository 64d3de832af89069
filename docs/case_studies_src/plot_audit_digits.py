"""
Which reader of digits to use, with one label in eight
======================================================

A company reads handwritten digits with a model, and has a new one. What a misread digit costs
depends on which one is taken for which: 3 EUR for each unit that it is read too high, 1 EUR for
each unit too low (**assumed**, as in the case study on water meters). Nobody knows the true digits:
someone must look at each card. How many cards tell which model costs less?

The digits are those that come with scikit-learn. 400 train the models; the other 1,397 are the pool
whose labels we pretend not to know.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from stakes import CostMatrix, Pool, compare

digits = list(range(10))
error = np.subtract.outer(digits, digits)  # what is read minus what it is
costs = CostMatrix(np.where(error > 0, 3 * error, -error), rows="predicted", labels=digits)
images, truth = load_digits(return_X_y=True)
models = {"old": LogisticRegression(C=1e-4, max_iter=1000), "new": KNeighborsClassifier(3)}
rows = pd.DataFrame({"card": range(400, len(truth))})
for name, model in models.items():
    rows[name] = model.fit(images[:400], truth[:400]).predict(images[400:])
apart = rows["old"] != rows["new"]
print(f"{len(rows)} cards; the models differ on {apart.sum()} of them.")

# %%
# Plan
# ----
#
# Where both read the same digit, both cost the same. Only the other cards need a label, and these
# are so few that all of them can have one.

pool = Pool.from_frame(rows, id="card")
plan = pool.plan(costs, n_labels=int(apart.sum()), compare=("old", "new"), unit="EUR")
print(plan.summary())

# %%
# Read
# ----
#
# Someone looks at these cards. The labels tell which model costs less, and by how much on these
# cards, for certain:

found = plan.reading({card: int(truth[card]) for card in plan.rows["card"]})
print(found.result.summary())

# %%
# Had all cards been labelled, the difference would have been the same:

exact = compare(truth[400:], rows["old"], rows["new"], costs, names=("old", "new"), unit="EUR")
print(f"{exact.difference:.4f} and {found.result.difference:.4f} EUR per card")

# %%
# As many cards drawn at random would have told less: on most of them the models agree.

drawn = np.random.default_rng(0).choice(len(rows), plan.n_labels, replace=False)
sample = compare(truth[400:][drawn], rows["old"].iloc[drawn], rows["new"].iloc[drawn], costs)
low, high = sample.interval(method="extremal")
print(f"{low:.2f} to {high:.2f} EUR per card, with {plan.n_labels} labels at random")
