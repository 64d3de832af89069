"""The type-I error and the power of tests on a problem like the user's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import html_table, html_values, listed, number, percent
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.errors import InputError
from stakes.infer._outcomes import Design
from stakes.infer.methods import names_of_tests
from stakes.simulate._designs import Drawing, drawing_of, has_design, rejections_of
from stakes.simulate._measurements import (
    Extreme,
    checked_size,
    for_each,
    rate,
    rejections,
    seeds,
    truth_of,
)

NULLS = ("tilted", "exchanged")


@dataclass(frozen=True, eq=False)
class TypeOneError(Result):
    """Type-I error of a test: how often it rejects that two classifiers cost the same, if they do.

    Attributes
    ----------
    method : str
        The test.
    n : int
        The number of examples in a test set.
    confidence : float
        The confidence level of the test: 1 minus its nominal type-I error.
    size, standard_error : float
        The share of test sets in which the test rejects, and its standard error.
    null : {"tilted", "exchanged"}
        The null hypothesis: how the two classifiers were made to cost the same.
    smallest, largest : Extreme
        The outcomes of the smallest and of the largest possible difference. Where a test set is
        expected to have one of them a few times only, most tests reject too often.
    repeats : int
        The number of simulated test sets.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.simulate import type_one_error
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    >>> shares = [[[0.899, 0.0], [0.1, 0.001]], [[0.0, 0.0], [0.0, 0.0]]]
    >>> found = type_one_error("bdeltacost", shares, costs, n=1000, repeats=500, rng=0)
    >>> found.size
    0.376
    >>> print(found.largest.what, found.largest.value, round(found.largest.expected, 3))
    predicting 0 and 1 when it was 1 100.0 1.0
    """

    method: str
    n: int
    confidence: float
    size: float
    standard_error: float
    null: str
    smallest: Extreme
    largest: Extreme
    repeats: int

    def summary(self) -> str:
        """Describe how often the test rejects, and how often it is meant to.

        Returns
        -------
        str
        """
        extremes = [
            f"{each.what}, which changes the difference by {number(each.value)}, "
            + (f"{number(each.expected)} times" if each.expected else "never")
            for each in (self.largest, self.smallest)
        ]
        return (
            f"{self.method}: finds a difference where there is none in {100 * self.size:.1f}% of "
            f"test sets of {number(self.n)} (± {100 * self.standard_error:.1f}%), and is meant "
            f"to in {percent(round(1 - self.confidence, 9))}. Expected in a test set: "
            f"{'; '.join(extremes)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values.

        Returns
        -------
        dict
        """
        return asdict(self)

    def _rows(self) -> list[dict[str, Any]]:
        row = asdict(self)
        low, high = row.pop("smallest"), row.pop("largest")
        return [row | {"smallest_expected": low["expected"], "largest_expected": high["expected"]}]

    def _repr_html_(self) -> str:
        return html_values(self.to_dict(), self.summary())


def type_one_error(
    method: Any,
    paired: Any,
    costs: CostMatrix,
    *,
    n: int | None = None,
    null: str = "tilted",
    confidence: float = 0.95,
    repeats: int = 2000,
    smooth: float = 0.0,
    design: Design | None = None,
    rng: np.random.Generator | int | None = None,
    **options: Any,
) -> Any:
    """Measure the type-I error of tests on a problem like yours, where both cost the same.

    The type-I error, or size, of a test is the probability that it rejects where
    Σ p(i₁, i₂, j)·(C(i₁, j) - C(i₂, j)) = 0. It is measured as the share of test sets, simulated
    from such p, in which the test rejects, with the standard error of `coverage`.

    Parameters
    ----------
    method : str or list of str
        The test, as in ``CostDifference.test``: "extremal", "bdeltacost", "exact",
        "normal", "signflip" or "mcnemar"; or several.
    paired : PairedConfusion, GroupedConfusion or array_like, shape (decisions, decisions, classes)
        Your counts, or shares that sum to 1, in the order of the costs' labels. Of counts with
        groups, whole groups are sampled, within each stratum unless groups have rows in several;
        the nulls below then change groups, not examples.
    costs : CostMatrix
        The costs.
    n : int, optional
        The number of examples in a test set; by default as many as were counted. With weights it is
        their sum, so scale them to add up to the number of rows.
    null : {"tilted", "exchanged"}
        How the two are made to cost the same. "tilted" changes the shares of your outcomes as
        little as possible, so that rare, expensive ones stay rare and expensive. "exchanged" swaps
        the classifiers in each example with probability 1/2, as in the papers' experiment; the
        difference is then symmetric, which hides how most tests fail.
    confidence : float, default 0.95
        Confidence level of the test.
    repeats : int, default 2000
        The number of test sets to simulate.
    smooth : float, default 0
        A number to add to the count of every cell first, so that outcomes that were not observed
        can occur. Not available with a design.
    design : Design, optional
        The sampling design, as in `coverage`.
    rng : Generator or seed, optional
        The source of randomness.
    **options
        Options of the test.

    Returns
    -------
    TypeOneError, or Measurements of several tests on the same test sets

    Notes
    -----
    The tilted shares are p·exp(t·Δ), divided by their sum, where Δ is the difference in cost of an
    outcome. Of all shares with a mean difference of 0, they have the least Kullback-Leibler
    divergence from yours.

    References
    ----------
    Margineantu & Dietterich (2000), section 4 and Table 6: the "exchanged" null.

    Csiszár (1975): the "tilted" null.

    Examples
    --------
    In one of a thousand payments, the first misses a fraud that the second detects; in one of ten,
    the second raises a false alarm that the first does not:

    >>> from stakes import CostMatrix
    >>> from stakes.simulate import type_one_error
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    >>> shares = [[[0.899, 0.0], [0.1, 0.001]], [[0.0, 0.0], [0.0, 0.0]]]
    >>> type_one_error("bdeltacost", shares, costs, n=1000, rng=0).size > 0.25
    True
    >>> type_one_error("extremal", shares, costs, n=1000, rng=0).size < 0.08
    True
    """
    validate.alpha(confidence)
    validate.choice(null, "null", NULLS)
    sets = validate.as_size(repeats, "repeats", least=1)
    if has_design(paired, design):
        drawing = drawing_of(paired, costs, design, smooth, models=2)
        equal = drawing.exchanged() if null == "exchanged" else drawing.tilted(0.0)
        told: dict[str, Any] = {"n": n, "null": null, "repeats": sets, "rng": rng}
        return _size_of_design(method, equal, confidence=confidence, options=options, **told)
    found, counted = truth_of(paired, costs, smooth, name="paired")
    size = checked_size(n, counted, "paired")
    truth = found.exchanged() if null == "exchanged" else found.tilted(0.0)
    generator = validate.generator(rng)
    drawn, seed_of = truth.draw(size, sets, generator), seeds(generator)

    def measured(name: str) -> TypeOneError:
        rejected = rejections(
            truth, drawn, name, confidence=confidence, options=options, seed=seed_of(name)
        )
        share, error = rate(rejected)
        return TypeOneError(
            method=name,
            n=size,
            confidence=confidence,
            size=share,
            standard_error=error,
            null=null,
            smallest=truth.extreme(0, size),
            largest=truth.extreme(-1, size),
            repeats=sets,
        )

    return for_each(method, names_of_tests(), measured)


def _size_of_design(
    method: Any,
    drawing: Drawing,
    *,
    n: Any,
    null: str,
    confidence: float,
    repeats: int,
    rng: Any,
    options: dict[str, Any],
) -> Any:
    """Measure the type-I error on test sets that are drawn as the counts were."""
    size = checked_size(n, max(round(drawing.n), 1), "paired")
    drawn = drawing.draw(None if n is None else size, repeats, validate.generator(rng))

    def measured(name: str) -> TypeOneError:
        share, error = rate(rejections_of(drawn, name, confidence=confidence, options=options))
        return TypeOneError(
            method=name,
            n=size,
            confidence=confidence,
            size=share,
            standard_error=error,
            null=null,
            smallest=drawing.extreme(0, size),
            largest=drawing.extreme(-1, size),
            repeats=repeats,
        )

    return for_each(method, names_of_tests(), measured)


@dataclass(frozen=True, eq=False)
class PowerCurve(Result):
    """Power of a test for a difference, in test sets of several sizes.

    Attributes
    ----------
    method : str
        The test.
    difference : float
        The true cost of the first classifier minus that of the second, per decision.
    confidence : float
        Confidence level of the test.
    n : tuple of int
        The numbers of examples in a test set.
    power, standard_error : tuple of float
        The share of test sets of each size in which the test rejects, and its standard error.
    repeats : int
        The number of simulated test sets of each size.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.simulate import power_curve
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> paired = [[[60, 2], [7, 4]], [[3, 1], [3, 20]]]
    >>> curve = power_curve("extremal", paired, costs, n=[100, 600], repeats=300, rng=0)
    >>> print(curve.summary())
    extremal: finds a difference of 0.26 in 14% of test sets of 100 and 80% of test sets of 600.
    >>> curve.to_frame()["power"].tolist()
    [0.14, 0.796...]
    """

    method: str
    difference: float
    confidence: float
    n: tuple[int, ...]
    power: tuple[float, ...]
    standard_error: tuple[float, ...]
    repeats: int

    def summary(self) -> str:
        """Describe how likely the test is to find the difference.

        Returns
        -------
        str
        """
        sizes = [
            f"{100 * share:.0f}% of test sets of {number(n)}"
            for n, share in zip(self.n, self.power, strict=True)
        ]
        return f"{self.method}: finds a difference of {number(self.difference)} in {listed(sizes)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values.

        Returns
        -------
        dict
        """
        return asdict(self)

    def to_frame(self) -> Any:
        """Return the curve as a pandas data frame, a row for each size.

        Returns
        -------
        pandas.DataFrame
        """
        return data_frame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"method": self.method, "n": n, "power": power, "standard_error": error}
            for n, power, error in zip(self.n, self.power, self.standard_error, strict=True)
        ]

    def _repr_html_(self) -> str:
        rows = [
            [number(row["n"]), f"{row['power']:.3f}", f"{row['standard_error']:.3f}"]
            for row in self._rows()
        ]
        return html_table(["examples", "power", "standard error"], rows, self.summary())


def power_curve(
    method: Any,
    paired: Any,
    costs: CostMatrix,
    *,
    n: Any,
    difference: float | None = None,
    confidence: float = 0.95,
    repeats: int = 1000,
    smooth: float = 0.0,
    design: Design | None = None,
    rng: np.random.Generator | int | None = None,
    **options: Any,
) -> Any:
    """Measure how likely tests are to find the difference of two classifiers, as n grows.

    Power is the probability that a test rejects the hypothesis that the true difference
    Σ p(i₁, i₂, j)·(C(i₁, j) - C(i₂, j)) is 0, when it is not. It is measured as the share of
    simulated test sets in which the test rejects, with the standard error of `coverage`.

    Parameters
    ----------
    method : str or list of str
        The test, as in `type_one_error`; or several.
    paired : PairedConfusion, GroupedConfusion or array_like, shape (decisions, decisions, classes)
        Your counts, or shares that sum to 1, in the order of the costs' labels. They are taken as
        the population; groups are sampled whole, as in `type_one_error`.
    costs : CostMatrix
        The costs.
    n : int or sequence of int
        The sizes of the test sets; with weights, the sums of weights.
    difference : float, optional
        The true difference; by default that of `paired`. Another one is reached by changing the
        shares as little as possible, as for the "tilted" null of `type_one_error`.
    confidence : float, default 0.95
        Confidence level of the test.
    repeats : int, default 1000
        The number of test sets of each size to simulate.
    smooth : float, default 0
        A number to add to the count of every cell first, so that outcomes that were not observed
        can occur. Not available with a design.
    design : Design, optional
        The sampling design, as in `coverage`.
    rng : Generator or seed, optional
        The source of randomness.
    **options
        Options of the test.

    Returns
    -------
    PowerCurve, or Measurements of several tests on the same test sets

    References
    ----------
    Margineantu & Dietterich (2000), section 4, which measures power as labels change.

    Examples
    --------
    >>> from stakes import CostMatrix, PairedConfusion
    >>> from stakes.simulate import power_curve
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> paired = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> curve = power_curve("extremal", paired, costs, n=[100, 600], repeats=300, rng=0)
    >>> [round(power, 1) for power in curve.power]
    [0.1, 0.8]
    """
    validate.alpha(confidence)
    asked = np.atleast_1d(np.asarray(n, dtype=object))
    sizes = tuple(
        validate.as_size(size, "n", least=1, most=validate.MOST_ROWS)
        for size in asked.ravel().tolist()
    )
    if not sizes:
        raise InputError("n", "expected one or more sizes of test sets, got none.")
    wanted = None
    if difference is not None:
        given = validate.numeric(difference, "difference", ndim=0)
        validate.finite(given, "difference", "Give the difference in cost per decision.")
        wanted = float(given)
    sets = validate.as_size(repeats, "repeats", least=1)
    generator = validate.generator(rng)
    if has_design(paired, design):
        drawing = drawing_of(paired, costs, design, smooth, models=2)
        drawing = drawing if wanted is None else drawing.tilted(wanted)
        sets_of = [drawing.draw(size, sets, generator) for size in sizes]
        mean = drawing.truth

        def rejected(name: str) -> list[NDArray[np.bool_]]:
            return [
                rejections_of(each, name, confidence=confidence, options=options)
                for each in sets_of
            ]
    else:
        truth, _ = truth_of(paired, costs, smooth, name="paired")
        truth = truth if wanted is None else truth.tilted(wanted)
        drawn = [truth.draw(size, sets, generator) for size in sizes]
        seed_of, mean = seeds(generator), truth.mean

        def rejected(name: str) -> list[NDArray[np.bool_]]:
            told: dict[str, Any] = {"confidence": confidence, "options": options}
            return [rejections(truth, each, name, seed=seed_of(name), **told) for each in drawn]

    def measured(name: str) -> PowerCurve:
        powers, errors = zip(*map(rate, rejected(name)), strict=True)
        return PowerCurve(name, mean, confidence, sizes, powers, errors, sets)

    return for_each(method, names_of_tests(), measured)
