"""Tests of the hypothesis that two classifiers cost the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import binom

from stakes._core import validate
from stakes._core.text import percent
from stakes._core.typing import Floats
from stakes.errors import DesignError, InputError
from stakes.infer._inference import check_options, option_names
from stakes.infer._outcomes import Outcomes
from stakes.infer._probability.batches import servings
from stakes.infer.methods import METHODS, exact, extremal, normal
from stakes.infer.methods.bcost import order, resampled

SMALLEST = 1e-12
"""No p-value is known to be smaller than what the distributions are computed to."""

Tails = tuple[float, float]
"""The evidence against a mean of at most, and of at least, the margin: one-sided p-values for
"greater" and for "less"."""


@dataclass(frozen=True)
class TestResult:
    """What a test found.

    Attributes
    ----------
    statistic : float
        The observed difference minus the margin.
    p_value : float
        The smallest error rate at which the hypothesis would be rejected.
    rejected : bool
        Whether it is rejected at the confidence asked for.
    method, alternative, margin, confidence
        How it was tested.
    names : pair of str
        The classifiers.

    Examples
    --------
    >>> from stakes import CostDifference, CostMatrix, PairedConfusion
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> paired = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> difference = CostDifference(paired, costs, names=("tree", "forest"))
    >>> result = difference.test(method="exact")
    >>> result.rejected, round(result.p_value, 4), round(result.statistic, 4)
    (False, 0.2448, 0.26)
    >>> print(result.summary())
    tree and forest differ in cost: not shown at 95 % confidence (p = 0.245, exact).
    """

    statistic: float
    p_value: float
    rejected: bool
    method: str
    alternative: str
    margin: float
    confidence: float
    names: tuple[str, str] = ("first", "second")

    __test__ = False  # not a test of pytest's

    def summary(self) -> str:
        """Say what the test found.

        Returns
        -------
        str
            A sentence.
        """
        first, second = self.names
        claim = {
            "two-sided": f"{first} and {second} differ in cost",
            "less": f"{first} costs less than {second}",
            "greater": f"{first} costs more than {second}",
        }[self.alternative]
        if self.margin:
            claim = {
                "two-sided": f"the difference of {first} and {second} is not {self.margin:g}",
                "less": f"{first} costs less than {self.margin:g} more than {second}",
                "greater": f"{first} costs more than {self.margin:g} more than {second}",
            }[self.alternative]
        verdict = "shown" if self.rejected else "not shown"
        sure = f"{percent(self.confidence)} confidence"
        return f"{claim}: {verdict} at {sure} (p = {self.p_value:.3g}, {self.method})."

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self) | {"names": list(self.names)}


def run_test(
    outcomes: Outcomes,
    method: str,
    *,
    alternative: str,
    margin: Any,
    confidence: float,
    names: tuple[str, str],
    options: dict[str, Any],
) -> TestResult:
    """Check what is asked, and let the method answer."""
    alpha = validate.alpha(confidence)
    validate.choice(alternative, "alternative", ("two-sided", "less", "greater"))
    validate.choice(method, "method", ("auto", *TESTS))
    if not isinstance(margin, Real) or not np.isfinite(float(margin)):
        raise InputError(f"margin: expected a finite number, got {margin!r}.")
    test, designs = TESTS[method]
    if outcomes.design not in designs:
        able = [name for name, (_, known) in TESTS.items() if outcomes.design in known]
        raise DesignError(
            f"method: {method!r} cannot treat the design {outcomes.design!r}; "
            f"these can: {', '.join(map(repr, able))}."
        )
    check_options(options, f"the test {method!r}", option_names(test, 3))
    if method == "bdeltacost":
        order(alpha, options.get("n_resamples", 1000))  # raises when they are too few
    if method == "extremal" and alternative != "two-sided" and "weight" not in options:
        # The weight 0.7 balances two sides; one side alone needs all of it.
        options = {"conservative": True} | options
    greater, less = test(outcomes, float(margin), alpha, **options)
    p_value = {
        "two-sided": min(1.0, 2 * min(greater, less)),
        "less": min(1.0, less),
        "greater": min(1.0, greater),
    }[alternative]
    return TestResult(
        statistic=float(outcomes.mean[0]) - float(margin),
        p_value=max(float(p_value), SMALLEST),
        rejected=bool(p_value <= alpha),
        method=method,
        alternative=alternative,
        margin=float(margin),
        confidence=confidence,
        names=names,
    )


def _exact(outcomes: Outcomes, margin: float, alpha: float, *, laplace: Any = 0.0) -> Tails:
    """BDELTACOST without sampling noise: the bootstrap probability of at most, at least margin."""
    return _first(exact.tails(outcomes, margin, laplace=laplace, alpha=alpha))


def _bdeltacost(
    outcomes: Outcomes,
    margin: float,
    alpha: float,
    *,
    laplace: Any = 0.0,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> Tails:
    """BDELTACOST (3.2): rejects when the margin lies outside the percentile interval.

    The interval at error rate α starts behind ⌊α/2·N⌋ resamples, so it excludes the margin exactly
    when at most α/2·N of them are on its other side. No p-value is smaller than 1/N.
    """
    drawn = resampled(outcomes, alpha, laplace, n_resamples, validate.generator(rng))[0]
    slack = 1e-9 * max(np.abs(drawn).max(), 1e-300)
    below, above = np.sum(drawn <= margin + slack), np.sum(drawn >= margin - slack)
    return max(below, 0.5) / n_resamples, max(above, 0.5) / n_resamples


def _extremal(
    outcomes: Outcomes,
    margin: float,
    _alpha: float,
    *,
    weight: float = extremal.WEIGHT,
    conservative: bool = False,
) -> Tails:
    """Return the error rates at which the extremal interval would end at the margin."""
    return _first(extremal.tails(outcomes, margin, weight=weight, conservative=conservative))


def _normal(outcomes: Outcomes, margin: float, _alpha: float) -> Tails:
    """Return the paired-differences z test's tails."""
    return _first(normal.tails(outcomes, margin))


def _first(tails: tuple[Floats, Floats]) -> Tails:
    """Return the tails of the first table, which is the only one."""
    greater, less = tails
    return float(greater[0]), float(less[0])


def _signflip(
    outcomes: Outcomes,
    margin: float,
    _alpha: float,
    *,
    n_resamples: Any = 9999,
    rng: np.random.Generator | int | None = None,
) -> Tails:
    """Flip the sign of each example's difference at random, by counts.

    Valid where the differences are symmetric about the margin under the hypothesis; with costs they
    often are not.
    """
    n_resamples = validate.as_size(n_resamples, "n_resamples", least=1)
    stratum = outcomes.only
    seen = stratum.counts[0] > 0
    counts = np.rint(stratum.counts[0, seen]).astype(np.int64)
    shifted = stratum.costs[seen] - margin
    observed, slack = float(counts @ shifted), 1e-9 * float(counts @ np.abs(shifted))
    generator = validate.generator(rng)
    above = below = 0
    for size in servings(n_resamples, len(counts)):
        heads = generator.binomial(counts, 0.5, (size, len(counts)))
        totals = (2 * heads - counts) @ np.abs(shifted)
        above += int(np.sum(totals >= observed - slack))
        below += int(np.sum(totals <= observed + slack))
    return (1 + above) / (n_resamples + 1), (1 + below) / (n_resamples + 1)


def _mcnemar(outcomes: Outcomes, margin: float, _alpha: float) -> Tails:
    """Test, as McNemar does, whether the two kinds of disagreement are equally frequent."""
    stratum = outcomes.only
    seen = stratum.costs[stratum.counts[0] > 0]
    sizes = np.unique(np.abs(seen[seen != 0]))
    if margin or len(sizes) > 1:
        raise InputError(
            "method: McNemar's test is for mistakes that all cost the same (0/1 costs) and a "
            "margin of 0. Use 'exact' or 'auto'."
        )
    counts = np.rint(stratum.counts[0]).astype(np.int64)
    above, below = counts[stratum.costs > 0].sum(), counts[stratum.costs < 0].sum()
    law = binom(above + below, 0.5)
    return float(law.sf(above - 1)), float(law.cdf(above))


ONE_SAMPLE = frozenset({"simple", "examples"})
TESTS: dict[str, tuple[Callable[..., Tails], frozenset[str]]] = {
    "bdeltacost": (_bdeltacost, METHODS["bcost"].DESIGNS),
    "exact": (_exact, METHODS["exact"].DESIGNS),
    "extremal": (_extremal, METHODS["extremal"].DESIGNS),
    "normal": (_normal, METHODS["normal"].DESIGNS),
    "signflip": (_signflip, ONE_SAMPLE),
    "mcnemar": (_mcnemar, ONE_SAMPLE),
}
