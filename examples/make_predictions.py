"""Make breast_cancer.csv: held-out predictions of three classifiers on real data.

The data set ships with scikit-learn (Wisconsin diagnostic breast cancer, 569 tumours). Half of it
trains the classifiers, the other half is predicted.
"""

from __future__ import annotations

import csv
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

HERE = Path(__file__).parent
CLASSIFIERS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
}


def main() -> None:
    """Train, predict, and write one row for each held-out tumour."""
    data = load_breast_cancer()
    names = data.target_names[data.target]
    train, test, actual_train, actual = train_test_split(
        data.data, names, test_size=0.5, stratify=names, random_state=0
    )
    columns = {"actual": actual.tolist()}
    for name, classifier in CLASSIFIERS.items():
        classifier.fit(train, actual_train)
        malignant = list(classifier.classes_).index("malignant")
        columns[name] = classifier.predict(test).tolist()
        scores = classifier.predict_proba(test)[:, malignant]
        columns[f"{name}_score"] = [f"{score:.6f}" for score in scores]
    with (HERE / "breast_cancer.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


if __name__ == "__main__":
    main()
