"""Hypothesis strategies for user input. Cost matrices are arbitrary, not symmetric by design."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stakes import Confusion, CostMatrix

LABEL_SETS = [
    [0, 1],
    [1, 0],
    [-3, 7, 2],
    [10**12, 5, -(10**9)],
    ["no", "yes"],
    ["ok", "fraud", "a much longer label", "ünïcode"],
    [True, False],
    [0.5, 1.5, 2.0],
    list(range(7)),
    [2**62, 2**62 + 1, 2**62 + 3],
]

finite_costs = st.floats(-1e6, 1e6, allow_nan=False).map(lambda cost: round(cost, 3))


@st.composite
def cost_matrices(draw, labels=None, extra_decisions=True):
    """Labelled matrices of arbitrary costs, sometimes with a decision that is not a class."""
    labels = draw(st.sampled_from(LABEL_SETS)) if labels is None else labels
    decisions = list(labels)
    if extra_decisions and draw(st.booleans()):
        decisions.append("abstain")
    values = draw(hnp.arrays(float, (len(decisions), len(labels)), elements=finite_costs))
    return CostMatrix(values, rows="predicted", labels=labels, decisions=decisions)


@st.composite
def label_columns(draw, columns=2, min_size=1, max_size=60):
    """A set of labels, and lists of equal length of labels from it."""
    labels = draw(st.sampled_from(LABEL_SETS))
    n = draw(st.integers(min_size, max_size))
    lists = [
        draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n)) for _ in range(columns)
    ]
    return labels, lists


@st.composite
def confusions(draw, costs):
    """Confusion matrices with the labels of a cost matrix."""
    shape = costs.values.shape
    counts = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 1000)))
    if not counts.any():
        counts[0, 0] = 1
    return Confusion(counts, costs.labels, costs.decisions)


def weights(n):
    """Return a strategy of example weights, not all zero."""
    return st.lists(st.floats(0, 100), min_size=n, max_size=n).filter(any)
