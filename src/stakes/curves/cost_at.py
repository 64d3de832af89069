"""What a classifier costs at one operating condition."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from stakes._core.text import html_table, number, percent


@dataclass(frozen=True, repr=False)
class CostAt:
    """What a classifier costs at one operating condition.

    Made by ``CostCurve.at``, ``CostLine.at`` and the average's.

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
        Of the interval.
    threshold : float or None
        The score from which on examples are called positive.
    rule : str
        The same in words.
    trivial : float
        What the cheaper trivial classifier costs.
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
    >>> round(found.pc, 4), round(found.cost, 2), round(found.trivial, 2)
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
    trivial: float
    scale: float
    in_money: bool
    volume: float
    chosen_on: str

    def summary(self) -> str:
        """Say what the classifier costs there.

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
        trivial = "all negative" if self.pc < 0.5 else "all positive"  # noqa: PLR2004 - they cross
        return f"{text}; calling {trivial} costs {number(self.trivial)}."

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
        return html_table(["cost"], [[self.summary()]])
