"""The gate that decides whether models may replace a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import exact, html_table, number, percent, with_unit
from stakes._core.values import Result
from stakes.errors import InputError
from stakes.infer._inference import TestResult
from stakes.infer.family import Family, Pair, find_together, p_values_below, uppers_of


def checked_margin(margin: Any) -> float:
    """Return the margin, the most that a model may cost above a baseline, once checked."""
    most = float(validate.numeric(margin, "margin", ndim=0))
    if not math.isfinite(most):
        raise InputError("margin", f"expected how much more a model may cost, got {most:g}.")
    if most < 0:
        raise InputError(
            "margin", f"expected how much more a model may cost, 0 or more; got {most:g}."
        )
    return most


def in_full(value: float) -> str:
    """Write a number that was given without rounding it."""
    text = number(value)
    return text if float(text.replace(",", "")) == value else exact(value)


@dataclass(frozen=True, eq=False)
class Volume(Result):
    """A number of decisions, and their period.

    Attributes
    ----------
    decisions : float
        The number of decisions.
    per : str
        The period; empty where none was stated.

    Examples
    --------
    >>> from stakes.infer import Volume
    >>> Volume(2_000_000, "year").money(0.3, "EUR")
    '600,000 EUR a year'
    """

    decisions: float
    per: str = ""

    def money(self, value: float, unit: str = "") -> str:
        """Write the total of a value per decision.

        Parameters
        ----------
        value : float
            The value per decision.
        unit : str
            The unit of costs.

        Returns
        -------
        str
            The amount, and the period or the number of decisions.

        Examples
        --------
        >>> from stakes.infer import Volume
        >>> Volume(1500).money(0.0123456)
        '18.5 over 1,500 decisions'
        """
        period = f" a {self.per}" if self.per else f" over {number(self.decisions)} decisions"
        return f"{with_unit(float(f'{value * self.decisions:.3g}'), unit)}{period}"


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """The models that pass and the models that fail in comparison with a baseline.

    Made by `Ranking.gate`, and by the policies of a study.

    Attributes
    ----------
    baseline : str
        The model that the others are compared with.
    confidence : float
        Confidence level of the intervals and tests.
    pairs : tuple of Pair
        The comparisons, the cheapest model first; the baseline is the second of each pair.
    margin : float or None
        How much more than the baseline a model may cost per decision.
    limits : tuple of float
        For each pair the limit of the difference that decides: with a margin the one-sided upper
        limit, which must be below the margin; without, the lower limit of the interval, which must
        not exceed 0.
    tests : tuple of TestResult
        With a margin, the non-inferiority test of each model.
    unit : str
        The unit of the costs.
    unjudged : mapping of str to str
        Models that could not be judged, and why. Where there are any, the gate does not pass.
    volume : Volume or None
        The number of decisions that differences are also stated for.

    Notes
    -----
    Without a margin a model fails if it is shown to cost more than the baseline. With a margin it
    passes if it is shown to cost less than the baseline plus the margin (a test of
    non-inferiority). Each model is judged alone, by its own p-value.

    Examples
    --------
    >>> from stakes import CostMatrix, compare_many
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> ranking = compare_many([0] * 600 + [1] * 400, {
    ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
    ...     "new": [0] * 500 + [1] * 50 + [0] * 70 + [1] * 380,
    ...     "bad": [0] * 550 + [1] * 250 + [0] * 190 + [1] * 10}, costs)
    >>> gate = ranking.gate("old")
    >>> gate.passed, gate.failures, gate.passes
    (False, ('bad',), ('new',))
    >>> gate
    Gate against old: failed (bad failed; new passed)
    >>> print(gate.summary())
    bad failed; new passed.
    """

    baseline: str
    confidence: float
    pairs: tuple[Pair, ...]
    margin: float | None = None
    limits: tuple[float, ...] = ()
    tests: tuple[TestResult, ...] = ()
    unit: str = ""
    unjudged: Mapping[str, str] = field(default_factory=dict)
    volume: Volume | None = None

    @property
    def failures(self) -> tuple[str, ...]:
        """The models that fail."""
        if self.margin is None:
            return tuple(pair.first for pair in self.pairs if pair.shown and pair.difference > 0)
        # The limit decides, not the p-value behind it, so that no rounding can part the two.
        pairs = zip(self.pairs, self.limits, strict=True)
        return tuple(pair.first for pair, limit in pairs if not limit < self.margin)

    @property
    def passes(self) -> tuple[str, ...]:
        """The models that pass."""
        failures = self.failures
        return tuple(pair.first for pair in self.pairs if pair.first not in failures)

    @property
    def passed(self) -> bool:
        """Whether all models were judged and none fails."""
        return not self.failures and not self.unjudged

    @property
    def detectable(self) -> tuple[float, ...]:
        """For each pair, the distance from the difference to the limit that decides.

        Without a margin it is about the smallest extra cost that these rows would have shown.
        """
        pairs = zip(self.pairs, self.limits, strict=True)
        return tuple(abs(limit - pair.difference) for pair, limit in pairs)

    @property
    def rule(self) -> str:
        """The rule for passing, in words."""
        sure = percent(self.confidence)
        if self.margin is not None:
            most = with_unit(self.margin, self.unit, in_full)
            return (
                f"a model passes if it is shown, with {sure} confidence, that it costs less than "
                f"{most} more per decision than {self.baseline}."
            )
        return (
            f"a model fails if it is shown, with {sure} confidence, that it costs more than "
            f"{self.baseline}."
        )

    def reasons(self) -> dict[str, str]:
        """Return why each model passes or fails: the limit that decides, in words.

        Returns
        -------
        dict
            A sentence for each model.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> ranking = compare_many([0] * 600 + [1] * 400, {
        ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
        ...     "new": [0] * 550 + [1] * 340 + [0] * 110}, costs)
        >>> print(ranking.gate("old").reasons()["new"])
        new costs 0.1 more per decision than old, at least 0.0375 more
        (lower limit of the 95% interval).
        >>> print(ranking.gate("new").reasons()["old"])
        old costs 0.1 less per decision than new, at most 0.1793 less
        (lower limit of the 95% interval). An extra cost of about 0.07931 would have been shown.
        >>> print(ranking.gate("old", margin=0.15).reasons()["new"])
        new costs 0.1 more per decision than old, at most 0.169 more
        (upper limit, 95% confidence, one-sided; it must be below 0.15).
        """
        sure, failures = percent(self.confidence), self.failures
        which = f"lower limit of the {sure} interval"
        if self.margin is not None:
            must = with_unit(self.margin, self.unit, in_full)
            which = f"upper limit, {sure} confidence, one-sided; it must be below {must}"
        found = {}
        for pair, limit, least in zip(self.pairs, self.limits, self.detectable, strict=True):
            more = "the same"
            if pair.difference:
                side = "more" if pair.difference > 0 else "less"
                more = f"{self._amount(abs(pair.difference))} {side}"
            than = "as" if not pair.difference else "than"
            text = (
                f"{pair.first} costs {more} per decision {than} {self.baseline}, "
                f"{self._bound(pair.difference, limit)} ({which})."
            )
            if self.margin is None and pair.first not in failures:
                text += f" An extra cost of about {self._amount(least)} would have been shown."
            found[pair.first] = text
        return found

    def _bound(self, difference: float, limit: float) -> str:
        """State a limit next to the difference that it belongs to."""
        if limit == 0:
            return "but possibly the same"
        value = f"{self._amount(abs(limit))} {'more' if limit > 0 else 'less'}"
        if limit * difference <= 0:
            return f"but possibly {value}"
        further = limit > difference if limit > 0 else limit < difference  # from 0
        return f"{'at most' if further else 'at least'} {value}"

    def _amount(self, value: float) -> str:
        text = with_unit(value, self.unit, self._written)
        return text if self.volume is None else f"{text} ({self.volume.money(value, self.unit)})"

    def _written(self, value: float) -> str:
        """Write a number with the digits that show on which side of the margin it is."""
        text = number(value)
        for digits in range(5, 18):
            if self.margin is None or (float(text.replace(",", "")) < self.margin) == (
                value < self.margin
            ):
                break
            text = f"{value:,.{digits}g}"
        return text

    def summary(self) -> str:
        """Summarise which models fail, which pass, and which could not be judged.

        Returns
        -------
        str
            A sentence for each part.
        """
        parts = [(self.failures, "failed"), (self.passes, "passed")]
        found = "; ".join(f"{', '.join(names)} {what}" for names, what in parts if names)
        sentences = [f"{found}."] if found else []
        sentences += [f"Could not judge {name}: {why}." for name, why in self.unjudged.items()]
        return " ".join(sentences)

    def __repr__(self) -> str:
        answer = "passed" if self.passed else "failed"
        if self.unjudged:
            answer = "could not judge"
        return f"Gate against {self.baseline}: {answer} ({self.summary()[:-1]})"

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as plain values.

        Returns
        -------
        dict
            The rule, the models that fail, whether all passed, and the comparisons behind it.
        """
        names = [pair.first for pair in self.pairs]
        return {
            "rule": self.rule,
            "failures": list(self.failures),
            "passed": self.passed,
            "judged": names,
            "unjudged": dict(self.unjudged),
            "baseline": self.baseline,
            "margin": self.margin,
            "confidence": self.confidence,
            "unit": self.unit,
            "volume": None if self.volume is None else asdict(self.volume),
            "limits": dict(zip(names, self.limits, strict=True)),
            "detectable": dict(zip(names, self.detectable, strict=True)),
            "reasons": self.reasons(),
            "pairs": [asdict(pair) for pair in self.pairs],
            "tests": [test.to_dict() for test in self.tests],
        }

    def to_frame(self) -> Any:
        """Return the comparisons as a pandas data frame.

        Returns
        -------
        DataFrame
            With a row for each model, the attributes of the comparison, the limit that decides,
            and whether it passes.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> ranking = compare_many([0] * 600 + [1] * 400, {
        ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
        ...     "new": [0] * 500 + [1] * 50 + [0] * 70 + [1] * 380,
        ...     "bad": [0] * 550 + [1] * 250 + [0] * 190 + [1] * 10}, costs)
        >>> ranking.gate("old").to_frame()[["first", "passes"]]
          first  passes
        0   new    True
        1   bad   False
        """
        passes = self.passes
        return data_frame(
            [
                asdict(pair) | {"limit": limit, "passes": pair.first in passes}
                for pair, limit in zip(self.pairs, self.limits, strict=True)
            ]
        )

    def _repr_html_(self) -> str:
        rows = [
            [
                pair.first,
                number(pair.difference),
                self._written(limit),
                "failed" if pair.first in self.failures else "passed",
            ]
            for pair, limit in zip(self.pairs, self.limits, strict=True)
        ]
        which = "lower limit" if self.margin is None else "upper limit, one-sided"
        header = ["model", f"cost minus that of {self.baseline}", which, "gate"]
        return html_table(header, rows, caption=f"Gate: {self.rule}")


def gate_against(
    family: Family,
    candidates: Sequence[str],
    baseline: str,
    *,
    margin: float | None = None,
    unit: str = "",
    unjudged: Mapping[str, str] | None = None,
    volume: Volume | None = None,
) -> Gate:
    """Judge candidates against a baseline that was named, each alone."""
    confidence = family.confidence
    pairs = tuple(sorted(family.against(candidates, baseline), key=lambda pair: pair.difference))
    limits = tuple(pair.low for pair in pairs)
    tests: tuple[TestResult, ...] = ()
    if margin is not None:
        compared = family.compared([(pair.first, baseline) for pair in pairs])
        find_together(compared, uppers_of, 1 - confidence)
        find_together(compared, p_values_below, margin)
        limits = tuple(each.upper(1 - confidence) for each in compared)
        tests = tuple(each.no_more_than(margin, confidence) for each in compared)
    return Gate(baseline, confidence, pairs, margin, limits, tests, unit, unjudged or {}, volume)
