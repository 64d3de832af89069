"""Studies whose reports are tested: the example, and difficult cases."""

from functools import cache
from pathlib import Path

import numpy as np

from stakes import CostMatrix
from stakes.findings import Settings, findings
from stakes.predictions import ArrowTable
from stakes.study import Study

ROOT = Path(__file__).parents[2]
HOSTILE_CLASSES = ("<script>alert(1)</script>", '=HYPERLINK("x")')
HOSTILE_MODELS = (
    "<img src=x onerror=alert(2)>",
    "quo\"te's & <b>bold</b> 🚀",
    "</script><script>alert(3)</script>",
    "a name that goes on and on " * 8 + "unbroken" * 20,
)


def table(columns):
    import pyarrow as pa

    return ArrowTable(pa.table(columns), "predictions.csv")


def noisy(rng, actual, choices, share):
    """Return decisions that are wrong, or right by luck, for a share of the examples."""
    wrong = rng.random(len(actual)) < share
    drawn = rng.choice(len(choices), len(actual))
    return [choices[drawn[i]] if wrong[i] else label for i, label in enumerate(actual)]


def scores(rng, positive, spread):
    raw = 2.0 * np.asarray(positive) - 1 + rng.normal(0, spread, len(positive))
    return np.round(1 / (1 + np.exp(-raw)), 3)


def drawn(rng, labels, n, shares):
    return [labels[i] for i in rng.choice(len(labels), n, p=shares)]


def example():
    """Three models with decisions and scores, two classes: a tie, and rare costs."""
    from stakes.read.tables import read_table

    source = "examples/breast_cancer.csv"
    costs = CostMatrix.read(ROOT / "examples/breast_cancer_costs.csv")
    study = Study.from_table(ArrowTable.of_file(read_table(ROOT / source), source), costs)
    return study, Settings(unit="USD", volume=10_000, command=f"stakes report {source}")


def one_model():
    rng = np.random.default_rng(1)
    actual = drawn(rng, [0, 1], 500, [0.9, 0.1])
    costs = CostMatrix.from_errors(false_positive=1, false_negative=9)
    return Study.from_table(table({"y": actual, "m": noisy(rng, actual, [0, 1], 0.1)}), costs), None


def three_classes():
    rng = np.random.default_rng(2)
    labels = ["green", "yellow", "red"]
    actual = drawn(rng, labels, 1500, [0.6, 0.3, 0.1])
    models = {f"m{i}": noisy(rng, actual, labels, 0.1 + 0.05 * i) for i in range(4)}
    costs = CostMatrix([[0, 2, 10], [1, 0, 5], [2.5, 1, 0]], rows="predicted", labels=labels)
    return Study.from_table(table({"y": actual, **models}), costs), Settings(unit="€")


def many_classes(size):
    """Two models of many classes; not in `STUDIES`, which every test of reports uses."""
    rng = np.random.default_rng(6)
    labels = [f"class {i}" for i in range(size)]
    actual = drawn(rng, labels, 2000, None)
    models = {name: noisy(rng, actual, labels, 0.2) for name in "ab"}
    values = rng.integers(1, 50, (size, size)).astype(float)
    costs = CostMatrix(values, rows="predicted", labels=labels)
    return Study.from_table(table({"y": actual, **models}), costs)


def other_decisions():
    """A decision that is not a class, gains (negative costs), and no scores."""
    rng = np.random.default_rng(3)
    labels, decisions = ["ok", "fraud"], ["ok", "fraud", "ask"]
    actual = drawn(rng, labels, 800, [0.95, 0.05])
    models = {f"m{share}": noisy(rng, actual, decisions, share) for share in (0.1, 0.2)}
    costs = CostMatrix(
        [[0, 500], [10, -50], [3, 4]], rows="predicted", labels=labels, decisions=decisions
    )
    return Study.from_table(table({"y": actual, **models}), costs), None


def hostile():
    rng = np.random.default_rng(4)
    actual = drawn(rng, HOSTILE_CLASSES, 400, [0.8, 0.2])
    positive = [label == HOSTILE_CLASSES[1] for label in actual]
    columns = {"y": actual}
    for name in HOSTILE_MODELS:
        columns[name] = noisy(rng, actual, HOSTILE_CLASSES, 0.15)
        columns[f"{name}_score"] = scores(rng, positive, 1.5)
    costs = CostMatrix([[0, 40], [2, 0]], rows="predicted", labels=HOSTILE_CLASSES)
    study = Study.from_table(table(columns), costs, pos_label=HOSTILE_CLASSES[1])
    return study, Settings(unit="<b>$</b>", volume=1000, command="stakes '<i>' & \"x\"")


def costly_correct():
    """Correct decisions cost something too, and one model has no scores."""
    rng = np.random.default_rng(5)
    actual = drawn(rng, [0, 1], 2000, [0.8, 0.2])
    columns = {"y": actual, "rules": noisy(rng, actual, [0, 1], 0.3)}
    for name, spread in (("forest", 0.8), ("net", 1.1)):
        columns[f"{name}_score"] = scores(rng, actual, spread)
    costs = CostMatrix([[1, 30], [6, 3]], rows="predicted", labels=[0, 1])
    return Study.from_table(table(columns), costs), Settings(volume=5000, per="week")


def names():
    """Names of sixty letters, and names written from right to left."""
    rng = np.random.default_rng(11)
    labels = ["سليم", "احتيال"]
    actual = drawn(rng, labels, 1200, [0.9, 0.1])
    positive = [label == labels[1] for label in actual]
    columns = {"y": actual}
    for name in ("נמוך", "gradient_boosting_calibrated_isotonic_2025_q3_all_features_v12"):
        columns[name] = noisy(rng, actual, labels, 0.1)
        columns[f"{name}_score"] = scores(rng, positive, 1.2)
    costs = CostMatrix([[0, 20], [1, 0]], rows="predicted", labels=labels)
    study = Study.from_table(table(columns), costs, pos_label=labels[1])
    return study, Settings(unit="ر.س", noun="cards")


STUDIES = {
    "names": names,
    "example": example,
    "one": one_model,
    "three": three_classes,
    "decisions": other_decisions,
    "hostile": hostile,
    "correct": costly_correct,
}


@cache
def study_of(name):
    return STUDIES[name]()[0]


@cache
def findings_of(name):
    return findings(study_of(name), STUDIES[name]()[1])
