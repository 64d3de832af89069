"""Tables for the terminal, and the results of a gate for continuous integration.

Tables are of estimates, and of the findings of commands. Gates are written as JUnit's XML, as a
summary in Markdown, and as lines that GitHub shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from stakes._core import validate
from stakes._core.optional import imported
from stakes._core.text import (
    decimals_for,
    in_column,
    number,
    p_value,
    percent,
    text_table,
    threshold_text,
)
from stakes.errors import DesignError, LabelError
from stakes.infer._inference import Interval
from stakes.infer.estimate import CostEstimate
from stakes.infer.family import ALONE, Pair
from stakes.infer.gate import Gate

if TYPE_CHECKING:
    from stakes.curves.condition import CostAt
    from stakes.findings.curves import Choice, CurveAtCondition
    from stakes.findings.policies import PolicyResult
    from stakes.findings.sample_size import NeededSize
    from stakes.findings.slices import PeriodFound, SliceFound
    from stakes.infer.family import Pair


MOST_DECIMALS = 6
WITHOUT_DECIMALS = 1000
"""Size from which numbers are written without decimals."""


def cost_table(
    estimates: Mapping[Any, CostEstimate],
    confidence: float = 0.95,
    method: str = "extremal",
    **options: Any,
) -> str:
    """Write a table of the costs of models, the cheapest first.

    The last line is the best constant prediction. If no decision is a class, no decision can be an
    error, and the column of errors has a dash. For costs of single examples, the table has neither.

    Parameters
    ----------
    estimates : mapping
        From the models' names to their estimates, on the same examples and costs.
    confidence, method, **options
        As in ``CostEstimate.interval``.

    Returns
    -------
    str
        The table.

    Notes
    -----
    The cost per decision is Σ M(i, j)·C(i, j)/n, M(i, j) being the number of the n examples of
    class j decided as i (equation 5.1 of Margineantu's thesis), and the total is n times that. The
    intervals are those of ``CostEstimate.interval``.

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
    model     cost per decision   95% interval  in total  errors
    careful               0.400  0.056 … 4.849         2     40%
    careless              2.000  0.054 … 6.905        10     20%
    always 1              0.600  0.158 … 0.944         3     60%
    """
    for each in estimates.values():
        validate.expect(each, CostEstimate, "estimates", "evaluate(y_true, y_pred, costs)")
    ranked = sorted(estimates.items(), key=lambda item: item[1].cost)

    def row(name: Any, estimate: CostEstimate) -> _Cost:
        return _row(name, estimate, estimate.interval(confidence, method, **options))

    rows = [row(name, estimate) for name, estimate in ranked]
    if ranked:
        with suppress(DesignError):  # costs of single examples lack other decisions
            decision, estimate = ranked[0][1].best_constant()
            rows.append(row(f"always {decision}", estimate))
    return _cost_table(rows, confidence)


@dataclass(frozen=True)
class _Cost:
    """A row of a table of costs."""

    name: str
    cost: float
    limits: tuple[float, ...]
    total: float
    errors: float | None


def _row(name: Any, estimate: CostEstimate, interval: Interval) -> _Cost:
    try:
        errors = estimate.error_rate
    except (LabelError, DesignError):
        errors = None
    return _Cost(str(name), estimate.cost, tuple(interval), estimate.total, errors)


def policy_table(policies: Sequence[PolicyResult], confidence: float, unit: str = "") -> str:
    """Write a table of the costs of policies, the cheapest first."""
    rows = [
        _Cost(each.name, each.cost, (each.low, each.high), each.total, each.error_rate)
        for each in policies
    ]
    return _cost_table(rows, confidence, "policy", unit)


def _cost_table(
    rows: Sequence[_Cost], confidence: float, what: str = "model", unit: str = ""
) -> str:
    costs = _decimals(each.cost for each in rows)
    totals = _decimals(each.total for each in rows)
    rates = _decimals(100 * each.errors for each in rows if each.errors is not None)
    rates = max(rates - 2, 1) if rates else 0  # one digit of the smallest is enough
    header = [
        what,
        f"{unit or 'cost'} per decision",
        f"{percent(confidence)} interval",
        "in total",
        "errors",
    ]
    cells = [
        [
            each.name,
            in_column(each.cost, costs),
            "known"
            if each.limits[0] == each.cost == each.limits[1]
            else _limits(each.limits, costs),
            in_column(each.total, totals),
            "–" if each.errors is None else f"{in_column(100 * each.errors, rates)}%",
        ]
        for each in rows
    ]
    return text_table(header, cells)


def _decimals(values: Iterable[float]) -> int:
    """Return the decimals of a column: none for whole numbers, more to distinguish two numbers."""
    found = sorted({value for value in values if isfinite(value)})
    if all(value == round(value) for value in found):
        return 0
    decimals = 0 if max(map(abs, found)) >= WITHOUT_DECIMALS else decimals_for(found)
    while decimals < MOST_DECIMALS and len({in_column(x, decimals) for x in found}) < len(found):
        decimals += 1
    return decimals


def slice_table(slices: Sequence[SliceFound], confidence: float, unit: str = "") -> str:
    """Write a table of the costs of slices, the most expensive first."""
    decimals = decimals_for(each.cost for each in slices if each.cost is not None)
    rows = [
        [
            f"{each.column}: {each.slice_}",
            number(each.n),
            "not known" if each.cost is None else in_column(each.cost, decimals),
            _limits((each.low, each.high), decimals),
            "" if each.share is None else f"{100 * each.share:.1f}%",
            each.verdict,
        ]
        for each in slices
    ]
    sure = f"{percent(confidence)} interval"
    return text_table(["slice", "rows", f"cost{_unit(unit)}", sure, "of all", "verdict"], rows)


def slice_notes(slices: Sequence[SliceFound], confidence: float) -> str:
    """State the simultaneous confidence of the intervals and verdicts of slices."""
    if len(slices) == 1:
        return "There is only one slice, so there is nothing to compare it with."
    return (
        f"Each slice is compared with all other rows. All {len(slices)} intervals hold together "
        f"with {percent(confidence)} confidence, and so do all verdicts."
    )


def period_notes(periods: Sequence[PeriodFound], confidence: float) -> str:
    """State the simultaneous confidence of the results of periods, and the running cost."""
    notes = []
    if len(periods) > 1:
        notes.append(
            "Each period is compared with the first complete one. All intervals hold together with "
            f"{percent(confidence)} confidence, and so do all changes."
        )
    if any(not each.complete for each in periods):
        notes.append("Intervals of incomplete periods allow for every label that is missing.")
    last = next((each for each in reversed(periods) if each.running is not None), None)
    if last is not None and last.running is not None:
        limits = ""
        if last.running_low is not None and last.running_high is not None:
            low, high = number(last.running_low), number(last.running_high)
            limits = f" ({low} to {high}, {percent(confidence)} confidence at all times at once)"
        notes.append(
            f"All decisions to the end of {last.period} cost {number(last.running)} each{limits}."
        )
    return " ".join(notes)


def period_table(periods: Sequence[PeriodFound], confidence: float, unit: str = "") -> str:
    """Write a table of the costs of periods, in their order."""
    decimals = decimals_for(each.cost for each in periods if each.cost is not None)
    rows = [
        [
            each.period,
            number(each.n),
            "" if each.cost is None else in_column(each.cost, decimals),
            _limits((each.low, each.high), decimals),
            each.verdict if each.complete else f"incomplete: {number(each.labelled)} labelled",
        ]
        for each in periods
    ]
    sure = f"{percent(confidence)} interval"
    return text_table(["period", "rows", f"{unit or 'cost'} per decision", sure, "change"], rows)


def volume_table(policies: Sequence[PolicyResult], unit: str, confidence: float) -> str:
    """Write a table of the costs of the stated number of decisions."""
    found = [(each.name, over) for each in policies if (over := each.over_volume) is not None]
    decimals = _decimals(over.cost for _, over in found)
    rows = [
        [name, in_column(over.cost, decimals), _limits((over.low, over.high), decimals)]
        for name, over in found
    ]
    return text_table(["policy", unit or "cost", f"{percent(confidence)} interval"], rows)


def moved_table(pairs: Sequence[Pair], unit: str, confidence: float) -> str:
    """Write a table of the savings of thresholds against the decisions of the same models."""
    header = [
        "threshold against decisions",
        f"saves{_unit(unit)}",
        f"{percent(confidence)} interval",
        "p",
        "verdict",
    ]
    decimals = _decimals(pair.difference for pair in pairs)
    rows = [
        [
            pair.first,
            in_column(0.0 - pair.difference, decimals),
            _limits((0.0 - pair.high, 0.0 - pair.low), decimals),
            p_value(pair.p_value),
            _verdict(pair),
        ]
        for pair in pairs
    ]
    return text_table(header, rows)


def policy_pair_title(pairs: Sequence[Pair], unit: str) -> str:
    """Write the title of a table of differences: in the header it would be too wide."""
    first = _same_first(pairs)
    what = "Differences in cost" if first is None else f"Cost of {first} minus that of others"
    return f"{what}, {unit + ' ' if unit else ''}per decision:"


def _same_first(pairs: Sequence[Pair]) -> str | None:
    """Return the first policy of the pairs, if it is the same for all."""
    return pairs[0].first if len({pair.first for pair in pairs}) == 1 else None


def policy_pair_table(pairs: Sequence[Pair], confidence: float) -> str:
    """Write a table of cost differences between the cheapest policy, or candidates, and others."""
    first, alone = _same_first(pairs), all(pair.by == ALONE for pair in pairs)
    header = [
        "pair" if first is None else "against",
        "difference",
        f"{percent(confidence)} interval",
        "p" if alone else "adjusted p",
        "verdict",
    ]
    decimals = _decimals(pair.difference for pair in pairs)
    rows = [
        [
            f"{pair.first} - {pair.second}" if first is None else pair.second,
            in_column(pair.difference, decimals),
            _limits((pair.low, pair.high), decimals),
            p_value(pair.p_value if alone else pair.p_adjusted),
            _verdict(pair),
        ]
        for pair in pairs
    ]
    return text_table(header, rows)


def _verdict(pair: Pair) -> str:
    """Return whether the first of a pair is shown to cost more or less."""
    if not pair.shown:
        return "not shown"
    return f"costs {'more' if pair.difference > 0 else 'less'}"


def range_table(curves: Sequence[CurveAtCondition]) -> str:
    """Write a table of the operating ranges of models."""
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
    """Write a table of the costs of models at one operating condition, the cheapest first."""
    header = [
        "model",
        f"{unit or 'cost'} per decision",
        f"{percent(confidence)} interval",
        "threshold",
    ]
    decimals = _decimals([*(each.cost for each in costs), costs[0].constant])
    rows = [
        [
            each.name,
            in_column(each.cost, decimals),
            "–" if each.limits is None else _limits(each.limits, decimals),
            "–" if each.threshold is None else threshold_text(each.threshold),
        ]
        for each in sorted(costs, key=lambda each: each.cost)
    ]
    first = costs[0]
    every = "negative" if first.pc < 0.5 else "positive"  # noqa: PLR2004 - they cross
    rows.append([f"all {every}", in_column(first.constant, decimals), "–", "–"])
    return text_table(header, rows)


def threshold_table(choices: Mapping[str, Choice], unit: str, confidence: float) -> str:
    """Write a table of the chosen thresholds, their rates and their costs."""
    priced = all(choice.cost is not None for choice in choices.values())
    header = ["model", "threshold", "recall", "FPR", "flagged"]
    if priced:
        header += [f"{unit or 'cost'} per decision", f"{percent(confidence)} interval"]
    decimals = _decimals(each.cost for each in choices.values() if each.cost is not None)
    rows = []
    for name, choice in choices.items():
        shares = (choice.recall, choice.fpr, choice.alarms)
        row = [name, threshold_text(choice.threshold), *(f"{100 * each:.1f}%" for each in shares)]
        if choice.cost is not None and choice.interval is not None:
            row += [
                in_column(choice.cost, decimals),
                _limits(tuple(choice.interval), decimals),
            ]
        rows.append(row)
    return text_table(header, rows)


def plan_table(plans: Mapping[str, NeededSize]) -> str:
    """Write a table of the numbers of examples needed for each model, or for each pair."""
    rows = []
    for name, each in plans.items():
        power = None if each.power is None else f"{100 * each.power.simulated:.0f}%"
        rows.append([name, number(each.n), power or each.reason])
    powers = next(iter(plans.values())).power is not None
    header = ["pair", "examples", "simulated power"] if powers else ["model", "examples", "for"]
    return text_table(header, rows)


def _limits(limits: tuple[float, ...], decimals: int) -> str:
    return " … ".join(in_column(each, decimals) for each in limits)


def _unit(unit: str) -> str:
    return f" ({unit})" if unit else ""


CONTROL = r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Characters not allowed in XML; compiled only when used, because so large a set is slow."""


def verdicts(gate: Gate) -> list[tuple[str, str]]:
    """Return each candidate with its result: passed, failed, or could not judge."""
    judged = [
        (pair.first, "failed" if pair.first in gate.failures else "passed") for pair in gate.pairs
    ]
    return [*judged, *((name, "could not judge") for name in gate.unjudged)]


def reason_of(name: str, gate: Gate) -> str:
    """Explain in a sentence why a candidate passes or fails, or why it could not be judged."""
    return f"{gate.unjudged[name]}." if name in gate.unjudged else gate.reasons()[name]


def junit_text(gate: Gate) -> str:
    """Write a gate as JUnit's XML, a test case for each candidate."""
    junit = imported("junitparser", "a JUnit file", "'stakes[ci]'")
    suite = junit.TestSuite("stakes gate")
    for name, found in verdicts(gate):
        case = junit.TestCase(_plain(name), _plain(f"stakes.gate against {gate.baseline}"), 0)
        reason = _plain(reason_of(name, gate))
        if found == "failed":
            case.result = [junit.Failure(reason, "gate")]
        elif found == "could not judge":
            case.result = [junit.Error(reason, "gate")]
        else:
            case.system_out = reason
        suite.add_testcase(case)
    document = junit.JUnitXml("stakes")
    document.add_testsuite(suite)
    document.update_statistics()
    root = document._elem  # noqa: SLF001 - Jenkins' schema has no such attribute there
    root.attrib.pop("skipped", None)
    return str(document.tostring().decode()) + "\n"


def gate_table(gate: Gate) -> str:
    """Write a table of the candidates of a gate, with the limit that decides."""
    header, rows = _gate_rows(gate)
    return text_table(header, rows)


def _gate_rows(gate: Gate) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table of a gate."""
    decides = "upper limit" if gate.margin is not None else "lower limit"
    header = [
        "candidate",
        "gate",
        "costs more",
        f"{percent(gate.confidence)} interval",
        decides,
        "p for the margin" if gate.margin is not None else "p",
    ]
    decimals = _decimals([*(pair.difference for pair in gate.pairs), *gate.limits])
    tests = {test.names[0]: test.p_value for test in gate.tests}
    found = {
        pair.first: [
            in_column(pair.difference, decimals),
            _limits((pair.low, pair.high), decimals),
            in_column(limit, decimals),
            p_value(tests.get(pair.first, pair.p_value)),
        ]
        for pair, limit in zip(gate.pairs, gate.limits, strict=True)
    }
    none = ["–"] * 4
    return header, [[name, result, *found.get(name, none)] for name, result in verdicts(gate)]


def markdown_text(gate: Gate) -> str:
    """Write a gate as Markdown, such as for the summary of a build."""
    outcome = "passed" if gate.passed else "failed"
    header, rows = _gate_rows(gate)
    lines = [
        f"### Cost gate {'not passed' if gate.unjudged else outcome}",
        "",
        _cell(f"{gate.rule[0].upper()}{gate.rule[1:]}"),
        "",
        f"| {' | '.join(map(_cell, header))} |",
        "|---|---|--:|--:|--:|--:|",
        *(f"| {' | '.join(map(_cell, row))} |" for row in rows),
        "",
        *(_cell(reason) for reason in gate.reasons().values()),
        *(_cell(f"{name}: {why}.") for name, why in gate.unjudged.items()),
        "",
    ]
    return "\n".join(lines)


def github_lines(gate: Gate) -> list[str]:
    """Return the lines by which GitHub annotates a change with failures."""
    return [
        f"::error title={_property(f'Cost gate: {name}')}::"
        f"{_data(f'{verdict}. {reason_of(name, gate)}')}"
        for name, verdict in verdicts(gate)
        if verdict != "passed"
    ]


def _plain(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return re.sub(CONTROL, "\N{REPLACEMENT CHARACTER}", text)


def _cell(text: str) -> str:
    """Return a text on one line, with the special characters of Markdown escaped."""
    line = " ".join(text.split())
    escaped = re.sub(r"([\\`*_{}\[\]<>|#!~$@])", r"\\\1", line.replace("&", "&amp;"))
    return escaped.replace("://", ":\N{ZERO WIDTH SPACE}//")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
