"""Dugas & Gadoury's (2008) band: a Gaussian with the two moments of the bootstrap.

Equations 4 and 5 (one classifier) and 7 and 8 (two) are for stratified sampling, 9 and 10, 12 and
13 for full sampling, which the paper has in another unit: times n⁺ c_fn + n⁻ c_fp over n c_max.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from stakes._core.typing import Floats
from stakes.curves._sampling import Sample, mean, variance


def limits(sample: Sample, alpha: float) -> tuple[Floats, Floats]:
    """Return the limits of a curve's height at each condition."""
    centre, half = mean(sample), -ndtri(alpha / 2) * np.sqrt(variance(sample))
    return centre - half, centre + half
