"""
Costs with more than two classes
================================

With three classes there are six kinds of mistakes, and no single axis holds all costs. Two views
help: each class against the others, and a path from one cost matrix to another.

Patients are sent home, to a ward or to intensive care. The data are made up.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from stakes import CostCurve, CostMatrix, CostRanges
from stakes.show import CostCurveDisplay, CostIntervalDisplay, CostSensitivityDisplay

labels = ["home", "ward", "intensive"]
X, codes = make_classification(
    3000,
    n_features=12,
    n_informative=6,
    n_classes=3,
    n_clusters_per_class=2,
    weights=[0.7, 0.2, 0.1],
    flip_y=0.05,
    class_sep=0.9,
    random_state=3,
)
y = np.array(labels)[codes]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
models = {
    "forest": RandomForestClassifier(300, min_samples_leaf=2, random_state=0),
    "balanced logistic": LogisticRegression(class_weight="balanced"),
    "discriminant": LinearDiscriminantAnalysis(priors=[1 / 4, 1 / 2, 1 / 4]),
}
predictions = {name: model.fit(X_train, y_train).predict(X_test) for name, model in models.items()}

# %%
# Each class against the others: what a forest costs, if the question is only whether a patient
# belongs to that class. The rarer a class, the wider its band.

forest = models["forest"]
curves = CostCurve.one_versus_rest(
    y_test, forest.predict_proba(X_test), labels=list(forest.classes_)
)
fig, ax = plt.subplots(layout="constrained")
for label in labels:
    CostCurveDisplay.from_curve(curves[label], ax=ax, name=f"{label} against the others")

# %%
# Now decisions, and what they cost, in hours of work. At first all mistakes cost about the same.

mild = CostMatrix([[0, 4, 8], [2, 0, 4], [4, 2, 0]], rows="predicted", labels=labels)
display = CostIntervalDisplay.from_labels(y_test, predictions, mild, unit="hours")

# %%
# If it becomes worse to send home patients who needed a bed, the verdict changes. The path goes in
# a straight line from the first cost matrix to the second.

harsh = CostMatrix([[0, 20, 80], [2, 0, 20], [4, 2, 0]], rows="predicted", labels=labels)
display = CostSensitivityDisplay.from_labels(y_test, predictions, mild, harsh, unit="hours")
print(display.sensitivity.summary())

# %%
# Or the costs are known only roughly. Then one of them goes through its range (by default the one
# that matters most to the comparison) while the others are sampled from theirs.

rough = CostRanges.from_cells(
    {
        ("home", "ward"): (2, 20),
        ("home", "intensive"): (5, 200),
        ("ward", "home"): (1, 4),
        ("ward", "intensive"): (3, 20),
        ("intensive", "home"): (3, 6),
        ("intensive", "ward"): (1, 4),
    },
    labels=labels,
    scale="log",
)
display = CostSensitivityDisplay.from_labels(y_test, predictions, rough, unit="hours")
