"""Tables for the terminal: of estimates, and of what the commands find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from stakes._core import validate
from stakes._core.text import number, p_value, percent, text_table
from stakes.errors import DesignError, LabelError
from stakes.infer._inference import Interval
from stakes.infer.estimate import CostEstimate

if TYPE_CHECKING:
    from stakes.curves import CostAt
    from stakes.findings.curves import Choice, CurveAtCondition
    from stakes.findings.policies import ComparedPolicies, PolicyResult
    from stakes.findings.sample_size import NeededSize


def cost_table(
    estimates: Mapping[Any, CostEstimate],
    confidence: float = 0.95,
    method: str = "auto",
    **options: Any,
) -> str:
    """Write a table of what models cost, the cheapest first.

    The last line is the best that one and the same decision for all examples would do. Where no
    decision is a class, none can be an error, and the table has a dash there; for costs of single
    examples it has neither.

    Parameters
    ----------
    estimates : mapping
        From the models' names to their estimates, on the same examples and costs.
    confidence, method, **options
        Of the intervals, as in ``CostEstimate.interval``.

    Returns
    -------
    str
        The table.

    Notes
    -----
    The cost per decision is Σ M(i, j)·C(i, j)/n, with M(i, j) of the n examples decided as i that
    are j (equation 5.1 of Margineantu's thesis), and the total n times that. The intervals are
    those of ``CostEstimate.interval``.

    References
    ----------
    Margineantu (2001), section 5.2.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate
    >>> from stakes.show import cost_table
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0, 0, 0, 1, 1]
    >>> print(cost_table({"careful": evaluate(y_true, [0, 1, 1, 1, 1], costs),
    ...                   "careless": evaluate(y_true, [0, 0, 0, 0, 1], costs)}))
    model     cost per decision    95 % interval  in total  errors
    careful                 0.4  0.05646 … 4.849         2    40 %
    careless                  2  0.05372 … 6.905        10    20 %
    always 1                0.6   0.1582 … 4.957         3    60 %
    """
    for each in estimates.values():
        validate.expect(each, CostEstimate, "estimates", "evaluate(y_true, y_pred, costs)")
    ranked = sorted(estimates.items(), key=lambda item: item[1].cost)

    def row(name: Any, estimate: CostEstimate) -> list[str]:
        return _row(name, estimate, estimate.interval(confidence, method, **options))

    rows = [row(name, estimate) for name, estimate in ranked]
    if ranked:
        with suppress(DesignError):  # costs of single examples know no other decision
            decision, estimate = ranked[0][1].best_trivial()
            rows.append(row(f"always {decision}", estimate))
    return _cost_table(rows, confidence)


def _row(name: Any, estimate: CostEstimate, interval: Interval) -> list[str]:
    try:
        errors = estimate.error_rate
    except (LabelError, DesignError):
        errors = None
    return _cost_row(name, estimate.cost, tuple(interval), estimate.total, errors)


def policy_table(policies: Sequence[PolicyResult], confidence: float) -> str:
    """Write what policies cost, the cheapest first."""
    rows = [
        _cost_row(each.name, each.cost, (each.low, each.high), each.total, each.error_rate)
        for each in policies
    ]
    return _cost_table(rows, confidence, "policy")


def _cost_row(
    name: Any, cost: float, limits: tuple[float, ...], total: float, errors: float | None
) -> list[str]:
    rate = "–" if errors is None else f"{100 * errors:.3g} %"
    known = limits[0] == cost == limits[1]
    return [str(name), number(cost), "known" if known else _limits(limits), number(total), rate]


def _cost_table(rows: Sequence[Sequence[str]], confidence: float, what: str = "model") -> str:
    sure = f"{percent(confidence)} interval"
    return text_table([what, "cost per decision", sure, "in total", "errors"], rows)


def volume_table(policies: Sequence[PolicyResult], title: str, confidence: float) -> str:
    """Write what the stated number of decisions costs."""
    rows = [
        [each.name, number(over.cost), _limits((over.low, over.high))]
        for each in policies
        if (over := each.over_volume) is not None
    ]
    return text_table(["policy", title, f"{percent(confidence)} interval"], rows)


def policy_pair_table(pairs: Sequence[ComparedPolicies], unit: str, confidence: float) -> str:
    """Write how the cheapest policy, or candidates, differ in cost from others."""
    header = [
        "pair",
        f"difference{_unit(unit)}",
        f"{percent(confidence)} interval",
        "p",
        "adjusted p",
        "verdict",
    ]
    rows = [
        [
            f"{pair.first} - {pair.second}",
            number(pair.difference),
            _limits((pair.low, pair.high)),
            p_value(pair.p_value),
            p_value(pair.adjusted),
            _verdict(pair, shown=pair.shown),
        ]
        for pair in pairs
    ]
    return text_table(header, rows)


def _verdict(pair: Any, *, shown: bool) -> str:
    if not shown:
        return "not shown"
    return f"{pair.first} costs {'more' if pair.difference > 0 else 'less'}"


def range_table(curves: Sequence[CurveAtCondition]) -> str:
    """Write where models are worth using."""
    rows = [
        [
            each.name,
            number(each.area),
            " and ".join(f"{number(low)} to {number(high)}" for low, high in each.operating_range)
            or "nowhere",
        ]
        for each in curves
    ]
    return text_table(["model", "area", "worth using for PC(+)"], rows)


def condition_table(costs: Sequence[CostAt], unit: str, confidence: float) -> str:
    """Write what models cost at one operating condition, the cheapest first."""
    header = [
        "model",
        f"cost per decision{_unit(unit)}",
        f"{percent(confidence)} interval",
        "threshold",
    ]
    rows = [
        [
            each.name,
            number(each.cost),
            "–" if each.limits is None else _limits(each.limits),
            "–" if each.threshold is None else f"{each.threshold:.6g}",
        ]
        for each in sorted(costs, key=lambda each: each.cost)
    ]
    first = costs[0]
    every = "negative" if first.pc < 0.5 else "positive"  # noqa: PLR2004 - they cross
    rows.append([f"all {every}", number(first.trivial), "–", "–"])
    return text_table(header, rows)


def threshold_table(choices: Mapping[str, Choice], unit: str, confidence: float) -> str:
    """Write which thresholds were chosen, and what they do."""
    priced = all(choice.cost is not None for choice in choices.values())
    header = ["model", "threshold", "finds", "false alarms", "alarms"]
    if priced:
        header += [f"cost per decision{_unit(unit)}", f"{percent(confidence)} interval"]
    rows = []
    for name, choice in choices.items():
        shares = (choice.recall, choice.fpr, choice.alarms)
        row = [name, f"{choice.threshold:.6g}", *(f"{100 * each:.3g} %" for each in shares)]
        if choice.cost is not None and choice.interval is not None:
            row += [number(choice.cost), _limits(tuple(choice.interval))]
        rows.append(row)
    return text_table(header, rows)


def plan_table(plans: Mapping[str, NeededSize]) -> str:
    """Write how many examples are needed for each model, or for each pair."""
    rows = []
    for name, each in plans.items():
        power = None if each.power is None else f"{100 * each.power.simulated:.0f} %"
        rows.append([name, number(each.n), power or each.reason])
    powers = next(iter(plans.values())).power is not None
    header = ["pair", "examples", "simulated power"] if powers else ["model", "examples", "for"]
    return text_table(header, rows)


def _limits(limits: tuple[float, ...]) -> str:
    return " … ".join(map(number, limits))


def _unit(unit: str) -> str:
    return f" ({unit})" if unit else ""
