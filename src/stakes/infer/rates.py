"""Recall, precision, F1 and other rates, with intervals that hold where errors are rare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label, Labels, hint, is_missing, listing
from stakes._core.optional import data_frame
from stakes._core.text import html_table, percent, text_table
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.counts import Confusion, GroupedConfusion, PairedConfusion
from stakes.errors import DesignError, InputError, LabelError
from stakes.infer._design import outcomes_of
from stakes.infer._outcomes import SIMPLE, Design
from stakes.infer._ratios import Ratio, Term, linear_limits, on_pairs, sum_of
from stakes.infer._shares import cell_shares

OneModel = Confusion | GroupedConfusion
TwoModels = PairedConfusion | GroupedConfusion

OF_A_CLASS = ("recall", "specificity", "fpr", "fnr", "precision", "npv", "f1")
"""The rates of one class against the rest."""

OF_ALL = ("accuracy", "balanced_accuracy", "macro_precision", "macro_f1", "mcc", "kappa")
"""The rates of all classes together."""

MACRO = {"balanced_accuracy": "recall", "macro_precision": "precision", "macro_f1": "f1"}
"""Averages over the classes, and the rates that they average."""

REST = {"fpr": "specificity", "fnr": "recall"}
"""Rates that are one minus another rate."""

SIGNED = ("mcc", "kappa")
"""Rates whose range is -1 to 1."""

TITLES = {
    "recall": "recall (sensitivity)",
    "specificity": "specificity",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "precision": "precision (PPV)",
    "npv": "NPV",
    "f1": "F1",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_precision": "macro precision",
    "macro_f1": "macro F1",
    "mcc": "MCC",
    "kappa": "Cohen's kappa",
}
"""Display names of the rates."""


@dataclass(frozen=True, eq=False)
class Rate(Result):
    """A rate, with its confidence interval.

    Attributes
    ----------
    name : str
        The rate, such as "recall".
    value : float or None
        The rate in the test set, or in the population that the design describes; None where it is
        not defined, such as the precision of a model that predicts no positives.
    low, high : float
        The limits; where the rate is not defined, the least and the most it could be.
    confidence : float
        The confidence level of the limits.

    Examples
    --------
    >>> from stakes import evaluate_rates
    >>> recall = evaluate_rates([0] * 6 + [1] * 4, [0] * 5 + [1] * 5).recall
    >>> recall.name, recall.value, recall.high
    ('recall', 1.0, 1.0)
    """

    name: str
    value: float | None
    low: float
    high: float
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Return the rate as plain values.

        Returns
        -------
        dict
            Its value and its limits.
        """
        return {"value": self.value, "low": self.low, "high": self.high}

    def _shown(self) -> list[str]:
        """Return the cells of a row of a table."""
        write = _plain if self.name in SIGNED else _percent
        value = "not defined" if self.value is None else write(self.value)
        return [TITLES[self.name], value, write(self.low), write(self.high)]


@dataclass(frozen=True, eq=False, repr=False)
class RateEstimates(Result):
    """The usual rates of a model's decisions, each with a confidence interval.

    Made by `evaluate_rates`.

    Parameters
    ----------
    table : Confusion or GroupedConfusion
        The counts of the decisions.
    pos_label : label, optional
        The positive class. It may be left out with more than two classes.
    design : Design, optional
        Known class priors, strata, impossible cells.

    Notes
    -----
    A rate is a ratio E[N]/E[D] of two means over the cells. Its limits are the θ at which a limit
    of the mean of N - θD, computed as the default interval of a cost, is 0. For independent rows,
    recall, precision and similar rates thus have the limits of Clopper & Pearson with a weight of
    0.7 instead of 1, and F1 those of TP/(TP + FP + FN). For kappa and MCC the frequencies of
    classes and decisions in N and D are those observed. The variance of averages over classes is
    recovered from the limits of the classes.

    References
    ----------
    Clopper & Pearson (1934).

    Zou & Donner (2008).

    Examples
    --------
    >>> from stakes import evaluate_rates
    >>> rates = evaluate_rates([0] * 60 + [1] * 40, [0] * 52 + [1] * 46 + [0] * 2)
    >>> rates.recall
    Rate(name='recall', value=0.95, low=0.84..., high=0.99..., confidence=0.95)
    >>> round(rates.f1.low, 3), rates.rate("f1", confidence=0.9).value == rates.f1.value
    (0.792, True)
    """

    table: OneModel
    pos_label: Label | None = None
    design: Design = SIMPLE

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_table(self.table, one=True)
        if self.pos_label is not None and self.pos_label not in self.table.labels:
            raise _unknown(self.pos_label, self.table.labels)
        _ = self._shares  # raises when the design does not fit

    @cached_property
    def _shares(self) -> Floats:
        return cell_shares(self.table, self.design)

    @cached_property
    def caution(self) -> str:
        """The reason why the confidence is not claimed, in a few words; empty if it is claimed."""
        return outcomes_of(self.table, 1 - np.eye(len(self._shares)), self.design).caution

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rates: those of the positive class, if there is one, and of all."""
        two = len(self.table.labels) == 2  # noqa: PLR2004 - macro averages are for more classes
        of_all = [name for name in OF_ALL if not (two and name.startswith("macro"))]
        return (*(OF_A_CLASS if self.pos_label is not None else ()), *of_all)

    def rate(self, name: str, confidence: float = 0.95) -> Rate:
        """Return one rate.

        Parameters
        ----------
        name : str
            Such as "recall", "precision" or "macro_f1".
        confidence : float, default 0.95
            The confidence level of the interval.

        Returns
        -------
        Rate
            The rate and its interval.

        Examples
        --------
        >>> from stakes import evaluate_rates
        >>> rates = evaluate_rates(["a", "b", "c", "a"], ["a", "b", "c", "b"])
        >>> rates.rate("macro_f1").value
        0.777...
        """
        alpha = validate.alpha(confidence)
        validate.choice(name, "name", (*OF_A_CLASS, *OF_ALL))
        if name in MACRO:
            return self._macro(name, confidence)
        if name in REST:
            other = self.rate(REST[name], confidence)
            value = None if other.value is None else 1 - other.value
            return Rate(name, value, 1 - other.high, 1 - other.low, float(confidence))
        ratio = self._ratio(name)
        low, high = ratio.limits(self.table, self.design, self._shares, alpha)
        return Rate(name, ratio.value(self._shares), low, high, float(confidence))

    def of(self, label: Label) -> RateEstimates:
        """Return the rates with another positive class.

        Parameters
        ----------
        label : label
            The class that is compared with the rest.

        Returns
        -------
        RateEstimates
            Its rates.

        Examples
        --------
        >>> from stakes import evaluate_rates
        >>> evaluate_rates(["a", "b", "c", "a"], ["a", "b", "c", "b"]).of("a").recall.value
        0.5
        """
        return replace(self, pos_label=label)

    @property
    def recall(self) -> Rate:
        """The share of positives that are predicted positive; also called sensitivity."""
        return self.rate("recall")

    sensitivity = recall

    @property
    def specificity(self) -> Rate:
        """The share of negatives that are predicted negative."""
        return self.rate("specificity")

    @property
    def fpr(self) -> Rate:
        """The false positive rate: the share of negatives that are predicted positive."""
        return self.rate("fpr")

    @property
    def fnr(self) -> Rate:
        """The false negative rate: the share of positives that are predicted negative."""
        return self.rate("fnr")

    @property
    def precision(self) -> Rate:
        """The share of predicted positives that are positive; also called PPV."""
        return self.rate("precision")

    ppv = precision

    @property
    def npv(self) -> Rate:
        """The share of predicted negatives that are negative; also called NPV."""
        return self.rate("npv")

    @property
    def f1(self) -> Rate:
        """The harmonic mean of precision and recall."""
        return self.rate("f1")

    @property
    def accuracy(self) -> Rate:
        """The share of correct decisions; with more than two classes also the micro average."""
        return self.rate("accuracy")

    @property
    def balanced_accuracy(self) -> Rate:
        """The average recall of the classes."""
        return self.rate("balanced_accuracy")

    @property
    def mcc(self) -> Rate:
        """Matthews' correlation coefficient."""
        return self.rate("mcc")

    @property
    def kappa(self) -> Rate:
        """Cohen's kappa."""
        return self.rate("kappa")

    def __iter__(self) -> Iterator[Rate]:
        return map(self.rate, self.names)

    def by_class(self, confidence: float = 0.95) -> Any:
        """Return the rates of each class against the rest, as a pandas data frame.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level of the intervals.

        Returns
        -------
        DataFrame
            With the columns class, rate, value, low and high.
        """
        return data_frame(
            [
                {"class": label, "rate": name, **self.of(label).rate(name, confidence).to_dict()}
                for label in self.table.labels
                for name in OF_A_CLASS
            ]
        )

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return the rates as a pandas data frame.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level of the intervals.

        Returns
        -------
        DataFrame
            With the columns rate, value, low and high.
        """
        return data_frame(
            [{"rate": name, **self.rate(name, confidence).to_dict()} for name in self.names]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the rates as plain values.

        Returns
        -------
        dict
            From the name of each rate to its value and limits.
        """
        return {each.name: each.to_dict() for each in self}

    def summary(self, confidence: float = 0.95) -> str:
        """Return the rates as a table of text.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level of the intervals.

        Returns
        -------
        str
            A line for each rate.
        """
        table = text_table(*self._table(confidence))
        return f"{table}\n({self.caution})" if self.caution else table

    def _table(self, confidence: float) -> tuple[list[str], list[list[str]]]:
        header = ["rate", "value", f"{percent(confidence)} CI from", "to"]
        rows = [self.rate(name, confidence)._shown() for name in self.names]  # noqa: SLF001 - of this module
        return header, rows

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table(*self._table(0.95))

    def _ratio(self, name: str) -> Ratio:
        if name in OF_A_CLASS and self.pos_label is None:
            raise LabelError(
                "pos_label",
                f"the {TITLES[name]} is that of one class, and none was named.",
                "Name it, or ask for the rates of each class with of(…).",
            )
        labels, decisions = self.table.labels, self.table.decisions
        if name in OF_A_CLASS:
            row, column = decisions.index(self.pos_label), labels.index(self.pos_label)
            return class_ratio(name, row, column, self._shares.shape)
        return _overall(name, self._shares)

    def _macro(self, name: str, confidence: float) -> Rate:
        """Return an average over the classes; it is not defined if the rate of any class is not."""
        alpha, terms = validate.alpha(confidence), []
        for label in self.table.labels:
            one = self.of(label)
            ratio = one._ratio(MACRO[name])  # noqa: SLF001 - of the same kind
            value = ratio.value(self._shares)
            if value is None:
                return Rate(name, None, 0.0, 1.0, float(confidence))
            low, high = ratio.limits(self.table, self.design, self._shares, alpha)
            share = 1 / len(self.table.labels)
            terms.append(Term(share, value, low, high, ratio.linear(self._shares)))
        total, low, high = sum_of(terms, self.table, self.design)
        return Rate(name, total, max(low, 0.0), min(high, 1.0), float(confidence))


def class_ratio(name: str, row: int, column: int, shape: tuple[int, ...]) -> Ratio:
    """Return a rate of one class against the rest, at decision `row` and class `column`."""
    called, actual = np.zeros(shape), np.zeros(shape)
    called[row], actual[:, column] = 1.0, 1.0
    parts: dict[str, Callable[[], tuple[Floats, Floats]]] = {  # large with many classes
        "recall": lambda: (called * actual, actual),
        "specificity": lambda: ((1 - called) * (1 - actual), 1 - actual),
        "fpr": lambda: (called * (1 - actual), 1 - actual),
        "fnr": lambda: ((1 - called) * actual, actual),
        "precision": lambda: (called * actual, called),
        "npv": lambda: ((1 - called) * (1 - actual), 1 - called),
        "f1": lambda: (2 * called * actual, called + actual),
    }
    return Ratio(*parts[name]())


def _overall(name: str, shares: Floats) -> Ratio:
    """Return a rate of all classes; kappa and MCC use the observed frequencies."""
    same = np.eye(len(shares))
    if name == "accuracy":
        return Ratio(same, np.ones_like(same))
    decided, actual = shares.sum(axis=1), shares.sum(axis=0)
    chance = float(decided @ actual)
    expected = actual[:, np.newaxis] + decided[np.newaxis, :] - chance
    if name == "kappa":
        return Ratio(same - expected, 1 - expected, -1.0)
    spread = [1 - float(each @ each) for each in (decided, actual)]
    if min(spread) <= 0:  # only one class, or one decision, occurs
        return Ratio(np.zeros_like(same), np.zeros_like(same), -1.0)
    squares = [
        (2 - 2 * each - lack) / lack for each, lack in zip((decided, actual), spread, strict=True)
    ]
    return Ratio(
        (same - expected) / np.sqrt(spread[0] * spread[1]),
        (squares[0][:, np.newaxis] + squares[1][np.newaxis, :]) / 2,
        -1.0,
    )


@dataclass(frozen=True, eq=False)
class RateDifference(Result):
    """The difference of a rate between two models, on the same examples.

    Attributes
    ----------
    name : str
        The rate.
    first, second : Rate
        The rate of each model.
    difference : float or None
        The first minus the second; None where one of them is not defined.
    low, high : float
        The limits of the difference.
    shown : bool
        Whether the interval excludes 0, so that one is shown to have the higher rate.

    Examples
    --------
    >>> from stakes.infer import compare_rates
    >>> y_true = [0] * 60 + [1] * 40
    >>> found = compare_rates(y_true, [0] * 50 + [1] * 50, [0] * 80 + [1] * 20)
    >>> recall = found.rate("recall")
    >>> recall.first.value, recall.second.value, recall.difference, recall.shown
    (1.0, 0.5, 0.5, True)
    """

    name: str
    first: Rate
    second: Rate
    difference: float | None
    low: float
    high: float

    @property
    def shown(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain values.

        Returns
        -------
        dict
            The difference, its limits, whether it is shown, and both rates.
        """
        return {
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "shown": self.shown,
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class RateDifferences(Result):
    """The usual rates of two models on the same examples, and their differences.

    Made by `compare_rates`.

    Parameters
    ----------
    paired : PairedConfusion or GroupedConfusion
        The joint counts of both models' decisions.
    pos_label : label, optional
        The positive class.
    names : pair of str
        The names of the models.
    design : Design, optional
        Known class priors, strata, impossible cells.

    Notes
    -----
    A rate whose denominator is the same for both, such as recall, differs by a ratio of means over
    the cells of both models' decisions, whose limits are those of `RateEstimates`. Otherwise the
    variance is recovered from the limits of both rates, with their correlation; and the interval is
    at least as wide as the extremal one of the difference's linear part, which allows for
    disagreements that were not observed.

    References
    ----------
    Zou & Donner (2008).

    Examples
    --------
    >>> from stakes.infer import compare_rates
    >>> y_true = [0] * 60 + [1] * 40
    >>> found = compare_rates(y_true, [0] * 50 + [1] * 50, [0] * 80 + [1] * 20)
    >>> [each.name for each in found][:3]
    ['recall', 'specificity', 'fpr']
    """

    paired: TwoModels
    pos_label: Label | None = None
    names: tuple[str, str] = ("first", "second")
    design: Design = SIMPLE

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_table(self.paired, one=False)
        object.__setattr__(self, "names", validate.two_names(self.names))

    @cached_property
    def both(self) -> tuple[RateEstimates, RateEstimates]:
        """The rates of each model."""
        return (
            RateEstimates(self.paired.first, self.pos_label, self.design),
            RateEstimates(self.paired.second, self.pos_label, self.design),
        )

    def rate(self, name: str, confidence: float = 0.95) -> RateDifference:
        """Return the difference of one rate.

        Parameters
        ----------
        name : str
            Such as "recall", "precision" or "macro_f1".
        confidence : float, default 0.95
            The confidence level of the interval.

        Returns
        -------
        RateDifference
            The difference and its interval, with both rates.
        """
        alpha = validate.alpha(confidence)
        first, second = (each.rate(name, confidence) for each in self.both)
        if first.value is None or second.value is None:
            return RateDifference(
                name, first, second, None, first.low - second.high, first.high - second.low
            )
        value = first.value - second.value
        if name in MACRO:
            low, high = self._macro(name, confidence)
            return RateDifference(name, first, second, value, low, high)
        ratios = [self._spread(each, name, index) for index, each in enumerate(self.both)]
        shares = self._shares
        if np.array_equal(ratios[0].whole, ratios[1].whole):
            single = Ratio(ratios[0].part - ratios[1].part, ratios[0].whole, -1.0)
            low, high = single.limits(self.paired, self.design, shares, alpha)
            return RateDifference(name, first, second, value, low, high)
        terms = [
            Term(sign, each.value or 0.0, each.low, each.high, ratio.linear(shares))
            for sign, each, ratio in zip((1.0, -1.0), (first, second), ratios, strict=True)
        ]
        low, high = self._wider(value, terms, alpha)
        most = 2.0 if name in SIGNED else 1.0
        return RateDifference(name, first, second, value, max(low, -most), min(high, most))

    @cached_property
    def _shares(self) -> Floats:
        return cell_shares(self.paired, self.design)

    def _wider(self, value: float, terms: list[Term], alpha: float) -> tuple[float, float]:
        _, low, high = sum_of(terms, self.paired, self.design)
        linear = sum((each.factor * each.linear for each in terms), np.zeros_like(terms[0].linear))
        least, most = linear_limits(value, linear, self.paired, self.design, alpha)
        return min(low, least), max(high, most)

    def _macro(self, name: str, confidence: float) -> tuple[float, float]:
        """Return the limits of a difference of averages over the classes."""
        alpha, labels, terms = validate.alpha(confidence), self.paired.labels, []
        for index, each in enumerate(self.both):
            for label in labels:
                one = each.of(label)
                rate = one.rate(MACRO[name], confidence)
                ratio = self._spread(one, MACRO[name], index)
                linear = ratio.linear(self._shares)
                factor = (-1) ** index / len(labels)
                terms.append(Term(factor, rate.value or 0.0, rate.low, rate.high, linear))
        value = sum(each.factor * each.value for each in terms)
        low, high = self._wider(value, terms, alpha)
        return max(low, -1.0), min(high, 1.0)

    def _spread(self, rates: RateEstimates, name: str, index: int) -> Ratio:
        """Return a rate of one model as a ratio over the cells of both models."""
        ratio = rates._ratio(name)  # noqa: SLF001 - of this module
        return on_pairs(ratio, index, len(self.paired.decisions))

    def __iter__(self) -> Iterator[RateDifference]:
        return map(self.rate, self.both[0].names)

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return the differences as a pandas data frame.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level of the intervals.

        Returns
        -------
        DataFrame
            With the columns rate, first, second, difference, low, high and shown.
        """
        rows = []
        for name in self.both[0].names:
            found = self.rate(name, confidence)
            rows.append(
                {
                    "rate": name,
                    "first": found.first.value,
                    "second": found.second.value,
                    "difference": found.difference,
                    "low": found.low,
                    "high": found.high,
                    "shown": found.shown,
                }
            )
        return data_frame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the differences as plain values.

        Returns
        -------
        dict
            From the name of each rate to its difference.
        """
        return {each.name: each.to_dict() for each in self}

    def summary(self, confidence: float = 0.95) -> str:
        """Return the differences as a table of text.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level of the intervals.

        Returns
        -------
        str
            A line for each rate.
        """
        return text_table(*self._lines(confidence))

    def _lines(self, confidence: float) -> tuple[list[str], list[list[str]]]:
        header = ["rate", *self.names, "difference", f"{percent(confidence)} CI from", "to"]
        rows = []
        for name in self.both[0].names:
            found = self.rate(name, confidence)
            write = _plain if name in SIGNED else _percent
            values = [
                "not defined" if value is None else write(value)
                for value in (found.first.value, found.second.value, found.difference)
            ]
            rows.append([TITLES[name], *values, write(found.low), write(found.high)])
        return header, rows

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table(*self._lines(0.95))


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def _plain(value: float) -> str:
    return f"{value:.3f}"


def _check_table(table: Any, *, one: bool) -> None:
    kinds: Any = (Confusion, GroupedConfusion) if one else (PairedConfusion, GroupedConfusion)
    if not isinstance(table, kinds):
        raise InputError("table", "expected the counts of decisions, by from_labels(…).")
    if len(table.labels) < 2:  # noqa: PLR2004 - rates tell classes apart
        raise InputError(
            "y_true",
            f"two classes are needed, and all there is is {table.labels[0]!r}.",
            "Give labels=, with the class that does not occur.",
        )
    if set(table.decisions) != set(table.labels):
        raise LabelError(
            "decisions",
            f"rates need decisions that are the classes {listing(table.labels)}, got "
            f"{listing(table.decisions)}.",
            "Use the cost, which allows for any decision.",
        )


def _unknown(label: Any, labels: Labels) -> LabelError:
    return LabelError(
        "pos_label", f"expected one of {listing(labels)}, got {label!r}.{hint(label, labels)}"
    )


def positive_of(labels: Labels, pos_label: Any) -> Label | None:
    """Return the positive class: `pos_label`, or 1 of two classes; None of more than two."""
    if pos_label is not None:
        if is_missing(pos_label) or pos_label not in labels:
            raise _unknown(pos_label, labels)
        return labels[labels.index(pos_label)]
    if len(labels) > 2:  # noqa: PLR2004 - each class has its rates
        return None
    if 1 in labels:
        return labels[labels.index(1)]
    raise LabelError(
        "pos_label", f"the classes are {listing(labels)}; which one is the positive class?"
    )


def priors_with(
    labels: Labels, positive: Label | None, prevalence: float | None, class_priors: Any
) -> Any:
    """Return the class priors, which for two classes may be given by the prevalence."""
    if prevalence is None:
        return class_priors
    if class_priors is not None:
        raise InputError("prevalence", "class_priors says the same.", "Give one of the two.")
    if positive is None or len(labels) != 2:  # noqa: PLR2004 - the other class has the rest
        raise DesignError(
            "prevalence",
            f"it is for two classes, and there are {len(labels)}.",
            "Give class_priors, with the share of each class.",
        )
    share = validate.one_number(prevalence, "prevalence")
    if not 0 < share < 1:
        raise InputError("prevalence", f"expected a share between 0 and 1, got {share:g}.")
    return {label: share if label == positive else 1 - share for label in labels}
