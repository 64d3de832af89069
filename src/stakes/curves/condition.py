"""Operating conditions PC(+), and the line segments over them that make up a cost curve.

PC(+) combines prevalence and costs into one number between 0 and 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.text import html_values, number, percent
from stakes._core.typing import Floats
from stakes._core.values import ByValue, Result
from stakes.errors import InputError


def operating_condition(*, prevalence: Any, false_positive: Any, false_negative: Any) -> Any:
    """Return PC(+), the operating condition of a prevalence and two costs.

    Holte & Drummond's (2005) equation 1: the share of the worst-case cost, that of a classifier
    that is always wrong, that comes from misses. With equal costs it is the prevalence.

    PC(+) = p c_fn/[p c_fn + (1 - p) c_fp], with p the prevalence and c_fn, c_fp the two costs.

    Parameters
    ----------
    prevalence : float or array_like
        The share of positives in the target population, from 0 to 1.
    false_positive, false_negative : float or array_like
        The extra cost of a false alarm and of a miss over a correct decision.

    Returns
    -------
    float or ndarray
        PC(+), from 0 to 1.

    References
    ----------
    Holte & Drummond (2005), equation 1.

    Drummond & Holte (2006).

    Examples
    --------
    One fraud in a hundred payments, each as bad as fifty false alarms:

    >>> from stakes.curves import operating_condition
    >>> round(operating_condition(prevalence=0.01, false_positive=1, false_negative=50), 4)
    0.3356
    """
    misses, _, worst = _weights(prevalence, false_positive, false_negative)
    return _plain(misses / worst)


def worst_cost(*, prevalence: Any, false_positive: Any, false_negative: Any) -> Any:
    """Return the mean cost per decision if all decisions are wrong, the unit of normalised costs.

    cost = p c_fn + (1 - p) c_fp, with p the prevalence and c_fn, c_fp the two costs.

    Parameters
    ----------
    prevalence, false_positive, false_negative
        As in `operating_condition`.

    Returns
    -------
    float or ndarray
        The cost per decision.

    References
    ----------
    Holte & Drummond (2005), section 2.

    Examples
    --------
    >>> from stakes.curves import worst_cost
    >>> round(worst_cost(prevalence=0.01, false_positive=1, false_negative=50), 4)
    1.49
    """
    return _plain(_weights(prevalence, false_positive, false_negative)[2])


def cost_ratio(pc: Any, *, prevalence: Any) -> Any:
    """Return the cost of a miss in false alarms, c_fn/c_fp, at an operating condition.

    c_fn/c_fp = [x/(1 - x)] (1 - p)/p at PC(+) = x and the prevalence p.

    Parameters
    ----------
    pc : float or array_like
        The operating condition PC(+), from 0 to 1; at 1 the ratio is infinite.
    prevalence : float or array_like
        The share of positives, between 0 and 1.

    Returns
    -------
    float or ndarray
        The ratio of the two costs.

    References
    ----------
    Holte & Drummond (2005), equation 1.

    Examples
    --------
    >>> from stakes.curves import cost_ratio
    >>> round(cost_ratio(0.5, prevalence=0.01), 6)
    99.0
    """
    condition, share = _together(pc=conditions(pc), prevalence=_share(prevalence))
    if not ((share > 0) & (share < 1)).all():
        raise InputError(
            "prevalence",
            "with one class only, no ratio of costs leads to a given operating condition; "
            f"expected a share between 0 and 1, got {prevalence!r}.",
        )
    with np.errstate(divide="ignore"):
        return _plain(np.divide(condition, 1 - condition) * (1 - share) / share)


def prevalence_at(pc: Any, *, false_positive: Any, false_negative: Any) -> Any:
    """Return the prevalence at which given costs have a given operating condition.

    p = x c_fp/[x c_fp + (1 - x) c_fn] at PC(+) = x, with c_fn, c_fp the two costs.

    Parameters
    ----------
    pc : float or array_like
        The operating condition PC(+), from 0 to 1.
    false_positive, false_negative : float or array_like
        The extra cost of a false alarm and of a miss over a correct decision; both positive.

    Returns
    -------
    float or ndarray
        The prevalence.

    References
    ----------
    Holte & Drummond (2005), equation 1.

    Examples
    --------
    >>> from stakes.curves import prevalence_at
    >>> round(prevalence_at(0.5, false_positive=1, false_negative=99), 6)
    0.01
    """
    condition, alarm, miss = _together(
        pc=conditions(pc),
        false_positive=_cost(false_positive, "false_positive"),
        false_negative=_cost(false_negative, "false_negative"),
    )
    for cost, name in ((alarm, "false_positive"), (miss, "false_negative")):
        if (cost == 0).any():
            raise InputError(
                name,
                "a mistake that costs nothing has the same operating condition at any "
                "prevalence; expected a positive cost, got 0.",
            )
    return _plain(condition * alarm / (condition * alarm + (1 - condition) * miss))


def conditions(pc: Any) -> Floats:
    """Check operating conditions: one number or several, each from 0 to 1."""
    array = validate.numeric(pc, "pc", ndim=None)
    inside = (array >= 0) & (array <= 1)
    if not inside.all():
        raise InputError(
            "pc",
            f"an operating condition PC(+) lies between 0 and 1; got {array[~inside].ravel()[0]}.",
            "Make one of a prevalence and costs with operating_condition.",
        )
    return array


def _weights(
    prevalence: Any, false_positive: Any, false_negative: Any
) -> tuple[Floats, Floats, Floats]:
    """Return the cost of misses, of false alarms and of both if every decision is wrong."""
    share, alarm, miss = _together(
        prevalence=_share(prevalence),
        false_positive=_cost(false_positive, "false_positive"),
        false_negative=_cost(false_negative, "false_negative"),
    )
    misses, alarms = share * miss, (1 - share) * alarm
    worst = misses + alarms
    if not (worst > 0).all():
        raise InputError(
            "false_positive, false_negative",
            "the mistakes that can happen at this prevalence cost nothing, so there is nothing "
            "to weigh; at least one of them must cost something.",
        )
    return misses, alarms, worst


def _together(**arrays: Floats) -> list[Floats]:
    """Check that lists have the same length; single numbers fit any length."""
    lengths = {name: len(each) for name, each in arrays.items() if each.ndim}
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(
            ", ".join(lengths),
            f"expected lists of the same length, or single numbers; {lengths_text} numbers.",
        )
    return list(arrays.values())


def _share(prevalence: Any) -> Floats:
    share = validate.numeric(prevalence, "prevalence", ndim=None)
    if not ((share >= 0) & (share <= 1)).all():
        raise InputError(
            "prevalence", f"expected the share of positives, from 0 to 1; got {prevalence!r}."
        )
    return share


def _cost(value: Any, name: str) -> Floats:
    cost = validate.numeric(value, name, ndim=None)
    validate.finite(cost, name, "Give what the mistake costs more than a correct decision.")
    if (cost < 0).any():
        raise InputError(
            name, f"a mistake costs at least as much as a correct decision; got {value!r}."
        )
    validate.not_too_large(float(cost.max(initial=0)), name)
    return cost


def _plain(values: Any) -> Any:
    """Return a float for one number, an array for several."""
    return float(values) if np.ndim(values) == 0 else np.asarray(values)


# The cost at one operating condition.


@dataclass(frozen=True, eq=False, repr=False)
class CostAt(Result):
    """Cost of a classifier at one operating condition.

    Made by the ``at`` methods of cost curves, such as ``CostCurve.at`` and ``CostLine.at``.

    Attributes
    ----------
    name : str
        The classifier.
    pc : float
        The operating condition PC(+).
    cost : float
        The normalised expected cost; or what `volume` decisions cost, where costs were given.
    limits : pair of float, or None
        The confidence interval; None where the numbers of examples are not known.
    confidence : float
        Confidence level of the interval.
    threshold : float or None
        The score from which on examples are called positive.
    rule : str
        The same in words.
    constant : float
        The cost of the cheaper constant prediction.
    scale : float
        The unit of `cost`: what being always wrong would cost.
    in_money : bool
        Whether costs were given, so that `cost` is in their unit.
    volume : float
        The number of decisions.
    chosen_on : str
        Where the threshold was chosen.

    Examples
    --------
    >>> from stakes import CostLine
    >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
    >>> found = line.at(prevalence=0.05, false_positive=1, false_negative=30, volume=1000)
    >>> round(found.pc, 4), round(found.cost, 2), round(found.constant, 2)
    (0.6122, 395.0, 950.0)
    >>> low, high = found.limits
    >>> round(low, 1), round(high, 1)
    (313.5, 488.9)
    """

    name: str
    pc: float
    cost: float
    limits: tuple[float, float] | None
    confidence: float
    threshold: float | None
    rule: str
    constant: float
    scale: float
    in_money: bool
    volume: float
    chosen_on: str

    def summary(self) -> str:
        """Summarise the cost at the operating condition.

        Returns
        -------
        str
            A sentence.
        """
        unit = "" if self.in_money else " of what being always wrong would"
        decisions = f" for {number(self.volume)} decisions" if self.volume != 1 else unit
        text = f"At PC(+) = {number(self.pc)} {self.name} costs {number(self.cost)}{decisions}"
        if self.limits is not None:
            low, high = map(number, self.limits)
            text += f" ({low} to {high} with {percent(self.confidence)} confidence)"
        if self.rule:
            text += f", {self.rule}"
        if self.chosen_on:
            text += f", as chosen on {self.chosen_on}"
        constant = "all negative" if self.pc < 0.5 else "all positive"  # noqa: PLR2004 - they cross
        return f"{text}; calling {constant} costs {number(self.constant)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the cost as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self)

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_values(self.to_dict(), self.summary())


NO_LENGTH = 1e-12
"""Length below which a range of operating conditions is a rounding error."""

NO_DIFFERENCE = 1e-14
"""Difference up to which two costs are equal."""


@dataclass(frozen=True, eq=False)
class Pieces(ByValue):
    """A piecewise linear function of the operating condition.

    Attributes
    ----------
    breaks : ndarray, shape (pieces + 1,)
        The operating conditions at which pieces begin and end, from 0 to 1.
    left, right : ndarray, shape (pieces,)
        The cost of each piece's line at PC(+) = 0 and at PC(+) = 1.
    """

    breaks: Floats
    left: Floats
    right: Floats

    def __post_init__(self) -> None:
        self._set(**self._values())

    def index(self, pc: Floats) -> NDArray[np.intp]:
        """Return the index of the piece of each condition; where two meet, the later one."""
        return np.searchsorted(self.breaks[1:-1], pc, side="right")

    def at(self, pc: Floats) -> Floats:
        """Return the height at each condition."""
        piece = self.index(pc)
        return np.asarray((1 - pc) * self.left[piece] + pc * self.right[piece])

    def height(self, pc: Any) -> Any:
        """Return the height at conditions given by a user: a float for one, else an array."""
        condition = conditions(pc)
        heights = self.at(condition)
        return float(heights) if condition.ndim == 0 else heights

    def money(
        self, *, prevalence: Any, false_positive: Any, false_negative: Any, volume: float
    ) -> Any:
        """Return the height in the unit of the costs, for `volume` decisions."""
        given = {
            "prevalence": prevalence,
            "false_positive": false_positive,
            "false_negative": false_negative,
        }
        pc, worst = operating_condition(**given), worst_cost(**given)
        return self.height(pc) * worst * validate.positive(volume, "volume")

    def count(self) -> int:
        """Return the number of pieces that are not rounding errors in length."""
        return int((np.diff(self.breaks) > NO_LENGTH).sum())

    def ends(self) -> tuple[Floats, Floats]:
        """Return the height of each piece at its beginning and at its end."""
        begin, end = self.breaks[:-1], self.breaks[1:]
        return (
            (1 - begin) * self.left + begin * self.right,
            (1 - end) * self.left + end * self.right,
        )

    def area(self) -> float:
        """Return the area under the curve."""
        first, last = self.ends()
        return float(np.diff(self.breaks) @ (first + last) / 2)

    def over(self, breaks: Floats) -> Pieces:
        """Return the same curve with more breaks."""
        piece = self.index(breaks[:-1])
        return Pieces(breaks, self.left[piece], self.right[piece])

    def minus(self, other: Pieces) -> Pieces:
        """Return the difference of two curves."""
        breaks = np.union1d(self.breaks, other.breaks)
        mine, theirs = self.over(breaks), other.over(breaks)
        return Pieces(breaks, mine.left - theirs.left, mine.right - theirs.right)

    def signs(self) -> list[tuple[float, float, int]]:
        """Return the ranges over which the curve is below, on and above zero: -1, 0 and 1."""
        first, last = self.ends()
        flat = np.maximum(np.abs(first), np.abs(last)) <= NO_DIFFERENCE
        crosses = ~flat & (np.sign(first) * np.sign(last) < 0)
        begin, end = self.breaks[:-1], self.breaks[1:]
        run = np.where(crosses, first - last, 1.0)
        root = np.where(crosses, begin + (end - begin) * first / run, end)
        before = np.where(flat, 0, np.sign(np.where(first == 0, last, first)))
        after = np.where(flat, 0, np.sign(np.where(last == 0, first, last)))
        lows = np.column_stack([begin, root]).ravel()
        highs = np.column_stack([root, end]).ravel()
        return merged(lows, highs, np.column_stack([before, after]).ravel().astype(int))


BEST_CONSTANT = Pieces(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))
"""The cheaper of calling all examples negative and calling all positive."""


def average(curves: list[Pieces]) -> Pieces:
    """Return the mean height of several curves at each condition."""
    breaks = np.unique(np.concatenate([each.breaks for each in curves]))
    cut = [each.over(breaks) for each in curves]
    left, right = (
        np.mean([getattr(each, end) for each in cut], axis=0) for end in ("left", "right")
    )
    return Pieces(breaks, left, right)


def merged(lows: Any, highs: Any, signs: Any) -> list[tuple[float, float, int]]:
    """Join neighbouring ranges of the same sign, and leave out those without a length."""
    result: list[tuple[float, float, int]] = []
    for low, high, sign in zip(lows.tolist(), highs.tolist(), signs.tolist(), strict=True):
        if high - low <= NO_LENGTH:
            continue
        if result and result[-1][2] == sign:
            result[-1] = (result[-1][0], high, sign)
        else:
            result.append((result[-1][1] if result else 0.0, high, sign))
    if result:
        result[-1] = (result[-1][0], 1.0, result[-1][2])
    return result
