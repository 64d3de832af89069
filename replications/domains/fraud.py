"""Synthetic payments, a few of which are frauds, with known true probabilities of fraud.

Nothing here comes from real payments: amounts, signals and shares were chosen to look like what
fraud teams describe. Frauds are rare, their amounts are larger and vary as widely as those of
legitimate payments, and the model that scores them is mediocre.

An example's class is drawn first. Amounts are log-normal in each class; a signal is normal, with a
higher mean for frauds. Given both, Bayes' rule gives the true probability of fraud. The model sees
only a noisy signal, not the amount, and was trained on equal numbers of frauds and legitimate
payments, so its scores are probabilities at a prevalence of 50%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.costs import ExampleCosts
from stakes.errors import InputError

PREVALENCE = 0.005
MEDIANS = (35.0, 110.0)
"""Median amounts of legitimate payments and of frauds."""

SPREAD = 1.2
"""Standard deviation of the logarithm of the amount, in both classes."""

SIGNAL = 2.5
"""Mean signal of frauds, in standard deviations above that of legitimate payments."""

BLUR = 1.0
"""Standard deviation of the noise that the model adds to the signal."""


@dataclass(frozen=True, eq=False)
class Payments:
    """Payments with the scores of a mediocre model and the true classes and probabilities.

    Made by `fraud`.

    Attributes
    ----------
    y_true : ndarray of int
        1 for a fraud.
    y_score : ndarray
        The model's scores, from 0 to 1.
    amount : ndarray
        The amounts.
    probability : ndarray
        The true probability of a fraud, given the signal and the amount.

    Examples
    --------
    A missed fraud costs its amount, and investigating a payment costs 5:

    >>> from replications.domains.fraud import fraud
    >>> payments = fraud(1000, rng=0)
    >>> payments.y_true.sum().item(), payments.amount.max().round().item()
    (6, 1102.0)
    >>> costs = payments.costs(alarm=5)
    >>> costs.of(payments.y_true).sum().item()  # by who knows all frauds
    30.0
    """

    y_true: NDArray[np.int64]
    y_score: Floats
    amount: Floats
    probability: Floats

    def costs(self, alarm: float = 5.0) -> ExampleCosts:
        """Return the cost of each decision: the amount of a missed fraud, a fixed cost of an alarm.

        Parameters
        ----------
        alarm : float, default 5
            The cost of investigating a payment.

        Returns
        -------
        ExampleCosts
            The costs of passing a payment, decision 0, and of an alarm, decision 1.
        """
        price = validate.one_number(alarm, "alarm")
        passed = np.where(self.y_true == 1, self.amount, 0.0)
        return ExampleCosts(np.column_stack([passed, np.full(len(passed), price)]))


def fraud(n: int, *, prevalence: float = PREVALENCE, rng: Any = None) -> Payments:
    r"""Draw synthetic payments, a few of which are frauds.

    Parameters
    ----------
    n : int
        The number of payments.
    prevalence : float, default 0.005
        The share of frauds in all payments, on which the true probabilities depend.
    rng : int or numpy.random.Generator, optional
        The random generator or its seed.

    Returns
    -------
    Payments

    Notes
    -----
    With the prevalence :math:`\pi`, the signal :math:`s` and the logarithm :math:`a` of the amount,
    Bayes' rule gives the true probability of fraud

    .. math:: \frac{P}{1 - P} = \frac{\pi}{1 - \pi}
              \cdot \frac{\varphi(s - 2.5)}{\varphi(s)}
              \cdot \frac{\varphi\bigl((a - \ln 110)/1.2\bigr)}
              {\varphi\bigl((a - \ln 35)/1.2\bigr)},

    where :math:`\varphi` is the standard normal density. The domain is our own, not from a paper.

    Examples
    --------
    >>> import numpy as np
    >>> from replications.domains.fraud import fraud
    >>> payments = fraud(100_000, rng=0)
    >>> int(payments.y_true.sum()), round(float(payments.probability.sum()))
    (485, 482)
    >>> frauds = payments.y_true == 1
    >>> round(float(np.median(payments.amount[frauds]))), round(float(payments.amount.max()))
    (97, 5861)

    The true probabilities allow decisions by the amount at stake; a threshold on scores does not:

    >>> costs = payments.costs(alarm=5)
    >>> wise = payments.probability * payments.amount > 5
    >>> plain = payments.y_score > 0.9
    >>> round(float(costs.of(wise.astype(int)).mean()), 2)
    0.21
    >>> round(float(costs.of(plain.astype(int)).mean()), 2)
    0.76
    """
    share = validate.one_number(prevalence, "prevalence")
    if not 0 < share < 1:
        raise InputError("prevalence", f"expected a share above 0 and below 1, got {share:g}.")
    size, random = validate.as_size(n, "n"), validate.generator(rng)
    y_true = (random.random(size) < share).astype(np.int64)
    middle = np.log(MEDIANS)
    logged = middle[y_true] + SPREAD * random.standard_normal(size)
    signal = SIGNAL * y_true + random.standard_normal(size)
    blurred = signal + BLUR * random.standard_normal(size)
    evidence = _log_ratio(signal, (0.0, SIGNAL), 1.0) + _log_ratio(logged, middle, SPREAD)
    seen = _log_ratio(blurred, (0.0, SIGNAL), float(np.hypot(1.0, BLUR)))
    return Payments(y_true, expit(seen), np.exp(logged), expit(logit(share) + evidence))


def _log_ratio(values: Floats, means: Any, spread: float) -> Floats:
    """Return the log likelihood ratio of normal values, the second mean against the first."""
    low, high = means
    return np.asarray((high - low) * (values - (high + low) / 2) / spread**2)
