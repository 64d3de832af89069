"""
Which model is cheaper at which condition
=========================================

When two ROC curves cross, each model is better at some conditions. ROC space does not show which:
the point at which the curves cross has little to do with it. In cost space it is where the cost
curves cross (Figures 5 and 6 of Holte & Drummond 2005).
"""

import numpy as np
from scipy.stats import norm

from stakes import CostCurve
from stakes.show import CostDifferenceDisplay, RocCostDisplay

# Evenly spread normal scores: positives of "steep" score widely, negatives of "shallow" do.
evenly = norm.ppf((np.arange(500) + 0.5) / 500)
y_true = np.repeat([1, 0], 500)
scores = {
    "steep": np.concatenate([1.5 + 2.0 * evenly, evenly]),
    "shallow": np.concatenate([evenly, -1.5 + 2.0 * evenly]),
}
steep, shallow = (CostCurve.from_scores(y_true, each, name=name) for name, each in scores.items())
print(steep.cheaper_ranges(shallow).summary())

# %%
# The black line in ROC space touches both curves. Its slope is the operating condition at which
# both cost the same, the black point in cost space.

(crossover,) = steep.crossovers(shallow)
figures_5_and_6 = RocCostDisplay.from_curves([steep, shallow], at=crossover, hull=False)

# %%
# Curves are often close together and hard to read. Here are trees of four kinds, on a problem of
# the size of the Sonar data (Figures 7 and 8). In ROC space they are tangled; in cost space the
# distance between two curves, straight up, is the difference in cost. The forest and the extra
# trees cost the same, and one tree is far behind.

from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

X, y = make_classification(
    208, n_features=60, n_informative=8, n_redundant=20, flip_y=0.1, class_sep=0.9, random_state=4
)
trees = {
    "one tree": DecisionTreeClassifier(min_samples_leaf=8, random_state=0),
    "bagged": RandomForestClassifier(20, max_features=None, min_samples_leaf=3, random_state=0),
    "random forest": RandomForestClassifier(200, min_samples_leaf=3, random_state=0),
    "extra trees": ExtraTreesClassifier(200, min_samples_leaf=3, random_state=0),
}
scores = {
    name: cross_val_predict(each, X, y, cv=10, method="predict_proba")[:, 1]
    for name, each in trees.items()
}
figures_7_and_8 = RocCostDisplay.from_scores(y, scores, hull=False)

# %%
# Another display shows whether a difference is more than chance. With 208 examples, that of the
# bagged trees hardly is.

display = CostDifferenceDisplay.from_scores(
    y, scores["extra trees"], scores["bagged"], names=("extra trees", "bagged"), confidence=0.9
)
