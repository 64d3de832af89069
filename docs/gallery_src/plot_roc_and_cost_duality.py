"""
ROC space and cost space
========================

ROC space and cost space show the same models. A model with false positive rate *FP* and
true positive rate *TP* is a point of ROC space. In cost space it is the line from *FP* at
PC(+) = 0 to 1 − *TP* at PC(+) = 1. These are Figures 1 to 4 of Holte & Drummond (2005) with other
data: a decision stump and a tree, which tell malignant tumours from the look of their cells but
not from their size.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from stakes import Confusion, CostCurve, CostLine
from stakes.show import CostCurveDisplay, RocCostDisplay

data = load_breast_cancer()
looks = [
    f"mean {each}"
    for each in ("texture", "smoothness", "compactness", "symmetry", "fractal dimension")
]
X = data.data[:, [list(data.feature_names).index(each) for each in looks]]
y = data.target_names[data.target]
stump = DecisionTreeClassifier(max_depth=1, class_weight={"benign": 1, "malignant": 3})
tree = DecisionTreeClassifier(min_samples_leaf=8, random_state=0)

lines = [
    CostLine.from_counts(
        Confusion.from_labels(y, cross_val_predict(model, X, y, cv=10)),
        pos_label="malignant",
        name=name,
    )
    for name, model in (("stump", stump), ("tree", tree))
]
figures_1_and_2 = RocCostDisplay.from_curves(lines, hull=False)

# %%
# Cost space shows what ROC space hides: where each of the two is cheaper, by how much, and that
# neither should be used where it lies above the dotted lines. Those are the constant predictions.

print(lines[0].cheaper_ranges(lines[1]).summary())
for line in lines:
    print(line.summary())

# %%
# The leaves of the tree give scores, and each threshold is a model of its own. The many points
# are as many lines. Those on the convex hull make up the lower envelope. The black point on the
# envelope is the black line that touches the hull. All models on that line cost the same at
# PC(+) = 0.4.

proba = cross_val_predict(tree, X, y, cv=10, method="predict_proba")
curve = CostCurve.from_scores(y, proba[:, 1], pos_label="malignant", name="tree")
figures_3_and_4 = RocCostDisplay.from_curves([curve], at=0.4)

# %%
# Read as costs: with the best threshold at each operating condition, the tree never costs more than
# a fifth of what being always wrong would cost. The vertical lines are the ends of its operating
# range. The upper axis shows the prevalence of each condition if a miss is as bad as ten false
# alarms.

display = CostCurveDisplay.from_curve(
    curve,
    lines=True,
    operating_range=True,
    second_axis="prevalence",
    false_positive=1,
    false_negative=10,
)
print(curve.summary())
