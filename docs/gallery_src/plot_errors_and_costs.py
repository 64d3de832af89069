"""
Fewer errors, higher cost
=========================

The model with fewer errors can cost more. Here a missed malignancy costs twenty times as much as an
unneeded biopsy. The tree makes more mistakes than the discriminant but costs less. Always
predicting malignant costs less than either.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from stakes import CostMatrix, evaluate
from stakes.show import cost_table

data = load_breast_cancer()
names = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(
    data.data, names, test_size=0.5, stratify=names, random_state=0
)
classifiers = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
}
costs = CostMatrix.from_errors(
    false_positive=2_000, false_negative=40_000, pos_label="malignant", neg_label="benign"
)
estimates = {
    name: evaluate(y_test, classifier.fit(X_train, y_train).predict(X_test), costs)
    for name, classifier in classifiers.items()
}
print(cost_table(estimates))

# %%
# The bars are split by the kind of mistake that causes the cost.

import matplotlib.pyplot as plt

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
names = list(estimates)
left.barh(names, [100 * estimates[name].error_rate for name in names], color="0.6")
left.set(xlabel="errors (%)", title="how often they are wrong")

start = dict.fromkeys(names, 0.0)
looks = {
    ("benign", "malignant"): {"color": "#d55e00"},
    ("malignant", "benign"): {"color": "#0072b2", "hatch": "////", "edgecolor": "white"},
}
for (decision, label), look in looks.items():
    i, j = costs.decisions.index(decision), costs.labels.index(label)
    parts = [estimates[name].contributions()[i, j] for name in names]
    text = f"{label}, called {decision}"
    right.barh(names, parts, left=list(start.values()), label=text, **look)
    start = {name: start[name] + part for name, part in zip(names, parts, strict=True)}
always, constant = estimates["logistic"].best_constant()
right.axvline(constant.cost, color="black", linestyle="--", label=f"always {always}")
right.set(xlabel="dollars per tumour", title="what it costs")
right.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
left.invert_yaxis()
