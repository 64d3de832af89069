"""The two reconstructions of Expf5 have the printed class frequencies."""

import numpy as np
import pytest
from scipy.integrate import quad

from replications.domains.expf5 import (
    CUBE,
    EXPF5_SHARES,
    GEOMETRIES,
    LEFT,
    LEFT_DECAY,
    POCKET,
    POCKET_DECAY,
    TOP,
    expf5,
    expf5_classes,
)
from stakes.errors import InputError


def test_the_printed_frequencies_add_up():
    assert sum(EXPF5_SHARES) == pytest.approx(1)
    assert 2000 * EXPF5_SHARES[1] / EXPF5_SHARES[3] == pytest.approx(559125)  # below Table 4


def test_curves_have_the_printed_areas():
    def left(x):
        return LEFT * np.exp(-LEFT_DECAY * x)

    def top(x):
        return TOP * np.exp(2 * (x - 1))

    def pocket(x):
        return POCKET * np.exp(-POCKET_DECAY * x)

    def cube(x):
        return CUBE * x**3

    areas = [
        quad(each, 0, 1, epsabs=1e-12, points=(0.1, 0.7))[0]
        for each in (
            lambda x: max(left(x) - cube(x), 0),
            lambda x: 1 - top(x) - max(left(x), cube(x)),
            lambda x: top(x) - pocket(x),
            pocket,
            cube,
        )
    ]
    np.testing.assert_allclose(areas, EXPF5_SHARES, atol=1e-7)
    x = np.linspace(0, 1, 1001)
    assert (top(x) > pocket(x)).all()
    assert (1 - top(x) > np.maximum(left(x), cube(x))).all()


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_fine_grid_has_the_printed_frequencies(geometry):
    middle = (np.arange(2000) + 0.5) / 2000
    points = np.stack(np.meshgrid(middle, middle), axis=-1).reshape(-1, 2)
    shares = np.bincount(expf5_classes(points, geometry=geometry)) / len(points)
    np.testing.assert_allclose(shares, EXPF5_SHARES, atol=4e-4)


def test_the_rare_class_is_a_pocket_or_a_strip():
    points, classes = expf5(200_000, rng=1)
    assert points[classes == 3].min(axis=0) == pytest.approx([0, 0.96], abs=0.03)
    points, classes = expf5(200_000, geometry="bands", rng=1)
    assert np.ptp(points[classes == 3].sum(axis=1)) < 0.003
    assert np.ptp(points[classes == 3][:, 0]) > 0.8


def test_same_seed_same_examples():
    assert (expf5(50, rng=3)[0] == expf5(50, rng=3)[0]).all()
    assert expf5(0)[1].shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expf5(-1), "n: expected a whole number"),
        (lambda: expf5(3, geometry="round"), "geometry: expected one of 'curves', 'bands'"),
        (lambda: expf5_classes([1, 2, 3]), r"X: expected an array of shape \(n, 2\)"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
