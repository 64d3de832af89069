"""The nearest probabilities with a given mean."""

import numpy as np
import pytest

from stakes.errors import InputError
from stakes.infer._probability.sampling import tilted

SHARES = np.array([0.7, 0.2, 0.1, 0.0])
VALUES = np.array([-1.0, 2.0, 100.0, 50.0])


@pytest.mark.parametrize("mean", [-0.999, 0.0, 9.7, 99.0])
def test_each_share_is_multiplied_by_an_exponential_of_its_value(mean):
    found = tilted(SHARES, VALUES, mean, argument="mean")
    assert found.sum() == pytest.approx(1)
    assert found @ VALUES == pytest.approx(mean, abs=1e-9)
    assert found[3] == 0
    steps = np.diff(np.log(found[:3] / SHARES[:3])) / np.diff(VALUES[:3])
    assert steps[0] == pytest.approx(steps[1])


def test_a_mean_that_is_there_changes_nothing_and_one_beyond_is_refused():
    assert tilted(SHARES, VALUES, float(SHARES @ VALUES), argument="mean") is SHARES
    with pytest.raises(InputError, match=r"^pilot: they differ by -1 to 100, so a .* 100 cannot"):
        tilted(SHARES, VALUES, 100.0, argument="pilot", what="they")
