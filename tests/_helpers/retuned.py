"""The policies of a study at other costs, as the page of the report shows them."""

import math

import numpy as np

from stakes import CostMatrix
from stakes.findings.sensitivity import FACTORS, repriced
from stakes.policies._path import with_thresholds


def retuned(study, edits):
    """Return the policies at other costs, with the thresholds of the nearest ratio of costs."""
    every = repriced(study).at_ratios(FACTORS)
    named = {"rows": "predicted", "labels": study.costs.labels}
    return [
        with_thresholds(study.policies, every[nearest(study, edit)], CostMatrix(edit, **named))
        for edit in edits
    ]


def nearest(study, edited):
    """Return the index in `FACTORS` of the nearest cost ratio; the second class is positive."""
    (c00, c01), (c10, c11) = edited
    (s00, s01), (s10, s11) = study.costs.values.tolist()
    alarm, miss = c10 - c00, c01 - c11
    if alarm <= 0 or miss <= 0:
        return FACTORS.index(0.0 if alarm <= 0 else math.inf)
    factor = alarm / miss / ((s10 - s00) / (s01 - s11))
    far = [abs(math.log(f / factor)) if 0 < f < math.inf else math.inf for f in FACTORS]
    return int(np.argmin(far))
