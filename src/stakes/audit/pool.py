"""A pool of decided rows, most of them without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from stakes._core import validate
from stakes._core.labels import Label, LabelMatcher, Labels, listing
from stakes._core.text import number
from stakes._core.values import Result
from stakes.audit._allocation import (
    LABELS_PER_STRATUM,
    MOST_LABELS,
    MOST_STRATA,
    Options,
    Prices,
    Stratum,
    allocate,
    expect,
    make_strata,
)
from stakes.audit._draw import (
    Cells,
    Drawn,
    PoolColumns,
    Selection,
    absent_keys,
    count_cells,
    draw,
)
from stakes.audit._reading import in_batches, ordered
from stakes.audit.plan import LabelPlan
from stakes.costs import CostMatrix
from stakes.counts.engines import as_frame
from stakes.errors import InputError, InputTypeError, LabelError, PlanError
from stakes.predictions.classes import positive_class

FEWEST = 20
"""Number of labels at which the search for a target begins."""


@dataclass(frozen=True, eq=False, repr=False)
class Pool(Result):
    """Decided rows of which few can be labelled, and the roles of their columns.

    Make it with `from_frame`. No row is read until labels are planned. Pools of the same columns
    are equal if their rows are; with lazy frames, only if the frame is the same object.

    Parameters
    ----------
    frame : data frame
        The rows: pandas, polars, pyarrow, DuckDB, Spark, and others that narwhals knows.
    columns : PoolColumns
        The roles of the columns.
    text : bool
        Whether text may stand for numbers, as in a CSV file.

    Examples
    --------
    >>> import pandas as pd
    >>> from stakes import CostMatrix, Pool
    >>> costs = CostMatrix.from_errors(false_positive=5, false_negative=500,
    ...                                pos_label="fraud", neg_label="ok")
    >>> rows = pd.DataFrame({"id": range(10_000), "score": [k % 100 / 500 for k in range(10_000)]})
    >>> rows["decided"] = ["fraud" if score >= 0.18 else "ok" for score in rows.score]
    >>> pool = Pool.from_frame(rows, decision="decided", score="score", id="id")
    >>> plan = pool.plan(costs, n_labels=100)
    >>> len(plan.rows), sum(each.labels for each in plan.strata)
    (100, 100)
    """

    frame: Any
    columns: PoolColumns
    text: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        as_frame(self.frame, [])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pool):
            return NotImplemented
        alike = (self.columns, self.text) == (other.columns, other.text)
        return alike and _same_rows(self.frame, other.frame)

    def __hash__(self) -> int:
        return hash((Pool, self.columns, self.text))

    @cached_property
    def _counted(self) -> dict[PoolColumns, Cells]:
        return {}

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        decision: str | None = None,
        score: str | None = None,
        judge: str | Sequence[str] | None = None,
        amount: str | None = None,
        id: str | None = None,  # noqa: A002 - what the column is called everywhere
    ) -> Pool:
        """Make a pool from a frame and the roles of its columns.

        Parameters
        ----------
        frame : data frame
            The decided rows, in memory or lazy.
        decision : str, optional
            The column of the model's decisions; for two models, name their columns in
            ``plan(compare=)``.
        score : str, optional
            The column of scores. Rows are divided by it. If it has probabilities of the positive
            class (of the decision, with more than two classes), it also indicates where mistakes
            are likely.
        judge : str or sequence of str, optional
            The columns of verdicts on each row: another model's, or an LLM's. Each has at most 20
            distinct verdicts.
        amount : str, optional
            The column of amounts that costs are multiplied by, such as those of payments.
        id : str, optional
            The column of identifiers, which must be unique; by default the number of the row. Rows
            in memory are all checked; in lazy frames, only those that may be drawn.

        Returns
        -------
        Pool
            The pool.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import Pool
        >>> rows = pl.LazyFrame({"id": [1, 2, 3], "decided": ["ok", "ok", "fraud"]})
        >>> Pool.from_frame(rows, decision="decided", id="id")
        Pool of LazyFrame: decision 'decided', id 'id'
        """
        judges = () if judge is None else (judge,) if isinstance(judge, str) else tuple(judge)
        named = {"decision": decision, "score": score, "amount": amount, "id": id}
        for name, value in (*named.items(), *(("judge", each) for each in judges)):
            if value is not None and not isinstance(value, str):
                raise InputTypeError(name, f"expected the name of a column, got {value!r}.")
        decisions = () if decision is None else (decision,)
        return cls(frame, PoolColumns(decisions, score, judges, amount, id))

    def plan(
        self,
        costs: CostMatrix,
        *,
        n_labels: int | None = None,
        target: float | None = None,
        compare: tuple[str, str] | None = None,
        error_rate: float = 0.001,
        confidence: float = 0.95,
        looks: int = 1,
        anytime: bool = False,
        pos_label: Label | None = None,
        by_amount: Label | Sequence[Label] | None = None,
        unit: str = "",
        rng: int = 0,
    ) -> LabelPlan:
        """Choose the rows to label.

        Parameters
        ----------
        costs : CostMatrix
            The cost of each decision for each class.
        n_labels : int, optional
            The number of labels that can be paid for.
        target : float, optional
            Instead of `n_labels`, the goal: the upper limit of the cost per decision; for two
            models, half the width of the interval.
        compare : pair of str, optional
            The columns of two models' decisions: only rows on which they differ are labelled.
        error_rate : float, default 0.001
            The guessed share of expensive mistakes, where there are no probabilities.
        confidence : float, default 0.95
            Confidence level of the expected and of the final results.
        looks : int, default 1
            The number of times that labels will be read, including the last; each reading has a
            confidence level of 1 - (1 - confidence)/looks.
        anytime : bool, default False
            Whether labels may be read after every batch, any number of times; limits are wider.
        pos_label : label, optional
            The class that scores are the probability of.
        by_amount : label or sequence of labels, optional
            The classes whose costs are per unit of the amount; by default `pos_label`, so that a
            miss costs the amount times its cost, and a false alarm its cost.
        unit : str, optional
            The unit of the costs.
        rng : int, default 0
            The seed of the draw.

        Returns
        -------
        LabelPlan
            The rows to label, and the expected result.

        Notes
        -----
        Rows whose cost does not depend on their class need no label: for two models, all on which
        they agree. The others are divided by decision, verdict, amount (by factors of two) and
        score, into at most one stratum per twenty labels, and at most 40. Labels are allocated by
        what the rows of a stratum could cost, a_h = N_h (most - least), and by a_h √(p(1 - p)),
        where p is the guessed rate: n_h is proportional to the larger of both shares, weighted by
        the mix that has the smallest expected limit. Each stratum gets at least two labels; where
        fewer than ten rows would be left, all are labelled. With amounts this is monetary-unit
        sampling, in which the largest rows are all taken.

        References
        ----------
        Dalenius & Hodges (1959).

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rng = np.random.default_rng(0)
        >>> rows = pd.DataFrame({"id": range(5000), "old": rng.random(5000) < 0.1})
        >>> rows["new"] = np.where(rng.random(5000) < 0.02, ~rows.old, rows.old).astype(int)
        >>> rows["old"] = rows["old"].astype(int)
        >>> plan = Pool.from_frame(rows, id="id").plan(costs, n_labels=60, compare=("old", "new"))
        >>> [(each.name, each.rows, each.labels) for each in plan.strata]
        [('both 0', 4396, 0), ('0 → 1', 77, 53), ('1 → 0', 7, 7), ('both 1', 520, 0)]
        """
        validate.expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")
        options = _options(self, costs, locals())
        cells = self._cells(options.columns)
        labels = self._labels(cells, costs)
        matched = replace(
            cells, decided=tuple(tuple(labels[each] for each in row) for row in cells.decided)
        )
        base = validate.one_number(error_rate, "error_rate")
        if not 0 < base < 1:
            raise InputError("error_rate", f"expected a share between 0 and 1, got {base:g}.")
        if n_labels is not None:
            n = validate.as_size(n_labels, "n_labels", 2, MOST_LABELS)
            strata = self._allocated(matched, options, n, base)
        else:
            goal = validate.positive(target, "target")
            strata = self._reaching(matched, options, goal, base)
        return LabelPlan(
            strata=tuple(strata),
            options=replace(options, checksum=cells.checksum(), rows=int(cells.rows.sum())),
            pool=self,
        )

    def _cells(self, columns: PoolColumns) -> Cells:
        """Return the counts of rows, computed once for each set of columns."""
        if columns not in self._counted:
            self._counted[columns] = count_cells(self.frame, columns)
        return self._counted[columns]

    def _absent(self, columns: PoolColumns, keys: Sequence[Any]) -> list[Any]:
        """Return the identifiers that no row has."""
        return absent_keys(self.frame, columns, keys)

    def _labels(self, cells: Cells, costs: CostMatrix) -> dict[Label, Label]:
        """Return the decision of the costs that each decision in the frame stands for."""
        matcher = LabelMatcher(costs.decisions, "text" if self.text else "values")
        found: dict[Label, Label] = {}
        for decided in dict.fromkeys(each for row in cells.decided for each in row):
            place = matcher.find(decided)
            if place < 0:
                raise LabelError(
                    "decision",
                    f"{decided!r} is not among the decisions of the costs: "
                    f"{listing(costs.decisions)}.",
                )
            if costs.decisions[place] in found.values():
                raise LabelError(
                    "decision", f"{costs.decisions[place]!r} is written in several ways."
                )
            found[decided] = costs.decisions[place]
        return found

    def _allocated(self, cells: Cells, options: Options, n: int, base: float) -> list[Stratum]:
        most = min(max(n // LABELS_PER_STRATUM, 1), MOST_STRATA)
        strata = make_strata(cells, options.prices, most, base)
        made = allocate(strata, n, options.look_confidence)
        return in_batches(made) if options.anytime else made

    def _reaching(self, cells: Cells, options: Options, goal: float, base: float) -> list[Stratum]:
        """Return the strata with the fewest labels that are expected to reach a goal."""
        two = len(options.columns.decisions) > 1

        @cache
        def reached(n: int) -> float:
            try:
                made = self._allocated(cells, options, n, base)
            except PlanError:
                return float("inf")
            found = expect(made, options.look_confidence, anytime=options.anytime)
            return found.half_width if two else found.high

        whole = make_strata(cells, options.prices, 1, base)
        most = min(sum(each.rows for each in whole if each.at_stake > 0), MOST_LABELS)
        if not most:
            return self._allocated(cells, options, 2, base)  # raises that nothing is at stake
        high = FEWEST
        while high < most and reached(min(high, most)) > goal:
            high *= 2
        low, high = high // 2, min(high, most)
        while high - low > max(1, high // 50):
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) <= goal else (middle, high)
        if reached(high) > goal:
            what = "a half-width" if two else "an upper limit"
            raise PlanError(
                "target",
                f"even {number(high)} labels are expected to give {what} of "
                f"{number(reached(high))}, which is more than {number(goal)}.",
                "Give a larger target. Without probabilities as scores, error_rate= is the guess "
                "that this rests on.",
            )
        return self._allocated(cells, options, high, base)

    def _draw(
        self,
        strata: Sequence[Stratum],
        options: Options,
        show: Sequence[str] = (),
        without: frozenset[str] = frozenset(),
    ) -> list[Drawn]:
        """Draw the rows of a plan, in random order, without those that already have labels."""
        labels = self._labels(self._cells(options.columns), options.prices.costs)
        raw = {label: given for given, label in labels.items()}
        selections = [
            Selection(
                tuple(raw[taken] for taken in each.decided),
                each.verdicts,
                each.scores,
                each.amounts,
                each.rows,
                each.labels,
            )
            for each in strata
        ]
        rows = draw(
            self.frame, options.columns, selections, options.seed, show=show, without=without
        )
        return ordered(rows, strata, options)

    def __repr__(self) -> str:
        named = {
            "decision": ", ".join(self.columns.decisions),
            "score": self.columns.score,
            "judge": ", ".join(self.columns.judges),
            "amount": self.columns.amount,
            "id": self.columns.key,
        }
        words = ", ".join(f"{name} {value!r}" for name, value in named.items() if value)
        return f"Pool of {type(self.frame).__name__}: {words}"

    def _repr_html_(self) -> str:
        from stakes._core.text import html_table

        return html_table(["pool"], [[repr(self)]])


def _same_rows(one: Any, other: Any) -> bool:
    """Tell whether two frames hold the same rows; lazy ones, only if they are the same object."""
    if one is other:
        return True
    return type(one) is type(other) and hasattr(one, "equals") and bool(one.equals(other))


def _options(pool: Pool, costs: CostMatrix, given: dict[str, Any]) -> Options:
    """Check the arguments of a plan, and return them as options."""
    if (given["n_labels"] is None) == (given["target"] is None):
        raise InputTypeError("n_labels, target", "give one: how many labels, or what to reach.")
    looks = validate.as_size(given["looks"], "looks", 1, 1000)
    if looks > 1 and given["anytime"]:
        raise InputTypeError("looks, anytime", "give one: anytime allows for any number of looks.")
    positive = positive_class(costs, given["pos_label"])
    columns = _with_decisions(pool.columns, given["compare"])
    # The positive class is not guessed where its costs are multiplied by amounts.
    named = positive if given["pos_label"] is not None else None
    by_amount = _by_amount(columns.amount, given["by_amount"], named, costs.labels)
    validate.alpha(given["confidence"])
    return Options(
        columns=columns,
        prices=Prices(costs, positive, by_amount),
        confidence=float(given["confidence"]),
        looks=looks,
        anytime=bool(given["anytime"]),
        unit=validate.text(given["unit"], "unit"),
        seed=validate.as_size(given["rng"], "rng", 0, 2**63),
    )


def _with_decisions(columns: PoolColumns, compare: Any) -> PoolColumns:
    """Return the columns, with the decisions of the models that a plan is for."""
    if compare is not None:
        if isinstance(compare, str) or len(compare) != 2 or len(set(compare)) < 2:  # noqa: PLR2004
            raise InputTypeError(
                "compare", f"expected the columns of two models' decisions, got {compare!r}."
            )
        return replace(columns, decisions=tuple(compare))
    if not columns.decisions:
        raise InputTypeError(
            "decision", "which column has the decisions?", "Name it, or two with compare=."
        )
    return columns


def _by_amount(amount: str | None, given: Any, positive: Label | None, classes: Labels) -> Labels:
    """Return the classes whose costs are multiplied by the amount."""
    if amount is None:
        if given is not None:
            raise InputTypeError("by_amount", "it is about amounts of rows, and there are none.")
        return ()
    if given is None:
        if positive is None:
            raise InputTypeError(
                "by_amount",
                "which classes' costs are for each unit of the amount?",
                "Name them, or the positive class with pos_label=.",
            )
        return (positive,)
    found = tuple(given) if isinstance(given, list | tuple) else (given,)
    strange = [each for each in found if each not in classes]
    if strange:
        raise LabelError(
            "by_amount", f"{strange[0]!r} is not among the classes: {listing(classes)}."
        )
    return found
