"""The plan of rows to label, and the results from their labels."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.text import csv_text, html_table, number, percent, with_unit
from stakes._core.values import Result
from stakes.audit._allocation import LEAST, Expected, Options, Stratum, allocate, expect
from stakes.audit._draw import Drawn, written_key
from stakes.audit._manifest import manifest_name, manifest_text, plan_of
from stakes.audit._reading import (
    Labelled,
    Reading,
    StratumFound,
    checked_labels,
    count_labelled,
    more_labels,
    plural,
    width_shares,
)
from stakes.counts import CostSample
from stakes.errors import (
    FileError,
    InputError,
    InputTypeError,
    NotClaimedWarning,
    PlanError,
    warn,
)
from stakes.infer._design import LEAST_LEFT
from stakes.infer._inference import DEFAULT, Interval
from stakes.infer._outcomes import Design
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.read import read_text, write_together
from stakes.read.checksums import json_content

TRUSTED = 4.0
"""Number of labels that the guess of a stratum's rate is worth in a later stage."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(Result):
    """Plan of the rows to label, with the expected result.

    `Pool.plan` makes it; `load` reads one that was saved.

    Parameters
    ----------
    strata : tuple of Stratum
        The strata of the pool, with their rows and labels.
    options : Options
        The options of the plan.
    pool : Pool or None
        The rows; None for a plan that was loaded without them.
    earlier : tuple of Labelled
        The labels of earlier stages, which count as known.
    drawn : tuple of Drawn or None
        The rows to label, if they are already drawn.

    Examples
    --------
    >>> import pandas as pd
    >>> from stakes import CostMatrix, Pool
    >>> costs = CostMatrix.from_errors(false_positive=5, false_negative=500,
    ...                                pos_label="fraud", neg_label="ok")
    >>> rows = pd.DataFrame({"id": range(10_000), "score": [k % 100 / 500 for k in range(10_000)]})
    >>> rows["decided"] = ["fraud" if score >= 0.18 else "ok" for score in rows.score]
    >>> plan = Pool.from_frame(rows, decision="decided", score="score", id="id").plan(
    ...     costs, n_labels=100)
    >>> labels = {key: "ok" for key in plan.rows["id"]}
    >>> found = plan.read(labels)
    >>> round(found.cost, 2), round(found.interval().high, 1)
    (0.5, 14.2)
    """

    strata: tuple[Stratum, ...]
    options: Options
    pool: Any = None
    earlier: tuple[Labelled, ...] = ()
    drawn: tuple[Drawn, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pool is not None:
            _check_pool(self.pool)

    @cached_property
    def _drawn(self) -> tuple[Drawn, ...]:
        """The rows to label, drawn on first use."""
        if self.drawn is not None:
            return self.drawn
        return tuple(self._draw(()))

    def _draw(self, show: Sequence[str]) -> list[Drawn]:
        if self.pool is None:
            raise InputError("pool", "this plan was loaded without its rows.", "Give the pool.")
        without = frozenset(written_key(each.key) for each in self.earlier)
        drawn: list[Drawn] = self.pool._draw(  # noqa: SLF001 - of this room
            self.strata, self.options, show, without
        )
        return drawn

    @property
    def id_name(self) -> str:
        """The name of the column of identifiers."""
        return self.options.id_name

    @cached_property
    def rows(self) -> Any:
        """The rows to label, in random order: a frame of identifiers, strata, decisions, amounts.

        It is a frame of the pool's library, if that is pandas or polars; otherwise of pyarrow.
        """
        import narwhals as nw

        names = self.options.columns.decisions
        data: dict[str, list[Any]] = {
            self.id_name: [each.key for each in self._drawn],
            "stratum": [self.strata[each.stratum].name for each in self._drawn],
        }
        for place, name in enumerate(names):
            data[name] = [self.strata[each.stratum].decided[place] for each in self._drawn]
        if self.options.columns.amount is not None:
            data[self.options.columns.amount] = [each.amount for each in self._drawn]
        frame = None if self.pool is None else nw.from_native(self.pool.frame, pass_through=True)
        implementation = getattr(frame, "implementation", None)
        backend: Any = "pyarrow"
        if implementation is not None and implementation.is_pandas():
            backend = "pandas"
        elif implementation is not None and implementation.is_polars():
            backend = "polars"
        return nw.from_dict(data, backend=backend).to_native()

    @property
    def n_labels(self) -> int:
        """The number of rows to label."""
        return sum(each.labels for each in self.strata)

    @cached_property
    def expected(self) -> Expected:
        """The expected result, if expensive mistakes are as frequent as guessed."""
        return expect(self.strata, self.options.look_confidence, anytime=self.options.anytime)

    def summary(self) -> str:
        """Describe how many rows are labelled, in how many strata, and the expected result.

        Returns
        -------
        str
            Some sentences.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> plan.summary().split(". ")[0]
        'Label 40 of 200 rows, in 2 strata'
        """
        expected, unit = self.expected, self.options.unit
        open_ones = [each for each in self.strata if each.at_stake > 0]
        rows = sum(each.rows for each in open_ones)
        text = (
            f"Label {number(self.n_labels)} of {number(self.options.rows)} rows, in "
            f"{plural(len(open_ones), 'stratum', 'strata')}."
        )
        if len(self.options.columns.decisions) > 1:
            agree = self.options.rows - rows - len(self.earlier)
            text += (
                f" The {number(agree)} rows on which both models agree need no label. Expected: "
                f"the difference in cost per decision within "
                f"±{with_unit(expected.half_width, unit)}"
            )
        else:
            text += (
                f" Expected: an upper limit of about {with_unit(expected.high, unit)} per decision"
            )
        sure = f"{percent(expected.confidence)} confidence"
        if self.options.looks > 1:
            sure += f" at each of {self.options.looks} looks"
        elif self.options.anytime:
            sure += " at any time"
        text += f" ({sure}) if mistakes are as frequent as the {self._guessed_by}"
        if len(self.options.columns.decisions) == 1:
            text += f", {number(expected.high_if_triple)} if they are three times as frequent"
        whole = sum(each.labels for each in open_ones if each.whole)
        if whole:
            text += f". {number(whole)} of the labels are in strata that are labelled whole"
        short = [each.name for each in open_ones if 0 < each.rows - each.labels < LEAST_LEFT]
        if short:
            text += (
                f". Fewer than {LEAST_LEFT} rows of {short[0]!r} would be left, where the "
                "confidence is not claimed"
            )
        if self.options.columns.key is None:
            text += ". There is no column of identifiers: rows are identified by their number"
            text += " in the table"
        return f"{text}."

    @property
    def _guessed_by(self) -> str:
        """The source of the guessed rates, with its verb."""
        edges = [edge for each in self.strata for edge in each.scores if math.isfinite(edge)]
        by_scores = self.options.columns.score and edges and 0 <= min(edges) <= max(edges) <= 1
        judges = len(self.options.columns.judges)
        sources = ["scores"] if by_scores else []
        sources += ["judges" if judges > 1 else "judge"] if judges else []
        if not sources:
            return "guess says"
        return f"{' and the '.join(sources)} {'says' if sources == ['judge'] else 'say'}"

    def to_frame(self) -> Any:
        """Return the strata as a pandas data frame.

        Returns
        -------
        DataFrame
            A row for each stratum: its rows, labels, the lowest and the highest cost of a row, and
            the guessed rate.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> plan.to_frame()[["name", "rows", "labels"]]
          name  rows  labels
        0    0   150      38
        1    1    50       2
        """
        from stakes._core.optional import data_frame

        names = ("name", "rows", "labels", "low", "high", "rate")
        return data_frame([{name: getattr(each, name) for name in names} for each in self.strata])

    # Reading labels.

    def read(self, labels: Any, *, skipped: str | None = None) -> CostEstimate | CostDifference:
        """Return the cost of a model, or the difference of two, as estimated from the labels.

        Parameters
        ----------
        labels : mapping or data frame
            From each identifier to the actual class; or a frame with the identifiers and a column
            ``actual``. Rows without a label are allowed at the end of the plan's order; elsewhere,
            only with ``skipped="random"``.
        skipped : "random", optional
            States that rows without a label were left out at random.

        Returns
        -------
        CostEstimate or CostDifference
            The estimate. Its own intervals and tests are for labels that are read once. For a plan
            with several looks, or read at any time, report the limits of `interval`; a warning
            states so.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> found = plan.read({key: 0 for key in plan.rows["id"]})
        >>> found.cost, round(found.interval().high, 2)
        (0.25, 0.75)
        """
        found = self._result(self._known(self._checked(labels, skipped)[0]))
        if self.options.anytime or self.options.looks > 1:
            warn(
                "this plan allows for several looks, and the intervals and tests of what is read "
                "are for one: take the limits from plan.interval(result) or plan.reading(labels).",
                NotClaimedWarning,
            )
        return found

    def reading(self, labels: Any, *, skipped: str | None = None) -> Reading:
        """Return the results from the labels, overall and by stratum.

        Parameters
        ----------
        labels, skipped
            As in `read`.

        Returns
        -------
        Reading
            The estimate, its interval, the strata, and what to label next.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> reading = plan.reading({key: 0 for key in plan.rows["id"]})
        >>> [(each.name, each.labels, each.costly, each.next) for each in reading.strata]
        [('0', 38, 0, 36), ('1', 2, 2, 4)]
        """
        given, note = self._checked(labels, skipped)
        known = self._known(given)
        result = self._result(known)
        interval = self.interval(result)
        return Reading(
            result=result,
            interval=interval,
            labels=len(known),
            drawn=len(self._drawn) + len(self.earlier),
            strata=self._found(known, result, interval),
            more=more_labels(result, interval),
            note=note,
        )

    def interval(self, result: CostEstimate | CostDifference) -> Interval:
        """Return the interval of the plan, which is valid however many looks there were before.

        Parameters
        ----------
        result : CostEstimate or CostDifference
            The estimate from the labels.

        Returns
        -------
        Interval
            The interval at the plan's confidence level: by the guaranteed method where labels are
            read at any time, with its share of the error rate where looks were planned.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> found = plan.read({key: 0 for key in plan.rows["id"]})
        >>> plan.interval(found) == found.interval()
        True
        """
        method = "guaranteed" if self.options.anytime else DEFAULT
        return result._interval(self.options.look_confidence, method, {})  # noqa: SLF001

    def next(self, labels: Any, n_labels: int, *, skipped: str | None = None) -> LabelPlan:
        """Plan further labels, with those read so far as known.

        Parameters
        ----------
        labels, skipped
            As in `read`.
        n_labels : int
            The number of further labels.

        Returns
        -------
        LabelPlan
            The plan of rows that were not drawn before. Its estimates count the labels of earlier
            stages as known, and estimate the other rows from the new labels alone.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> more = plan.next({key: 0 for key in plan.rows["id"]}, 20)
        >>> len(more.rows), len(set(more.rows["id"]) & set(plan.rows["id"]))
        (20, 0)
        """
        n = validate.as_size(n_labels, "n_labels", 2)
        if self.options.anytime:
            raise PlanError(
                "anytime",
                "a plan that is read at any time keeps the shares of its strata.",
                "Plan all labels at once, and stop after any batch.",
            )
        given, _ = self._checked(labels, skipped)
        known = self._known(given)
        counts = {each.name: 0 for each in self.strata}
        costly = {each.name: 0.0 for each in self.strata}
        ends = {each.name: (each.low, each.high) for each in self.strata}
        for row in known:
            low, high = ends[row.stratum]
            counts[row.stratum] += 1
            cost = self._cost(row)
            costly[row.stratum] += (cost - low) / (high - low) if high > low else 0.0
        fresh = {row.stratum: 0 for row in known}
        for row in known[len(self.earlier) :]:
            fresh[row.stratum] += 1
        strata = [
            replace(
                each,
                rows=each.rows - fresh.get(each.name, 0),
                rate=(each.rate * TRUSTED + costly[each.name]) / (TRUSTED + counts[each.name]),
                labels=0,
            )
            for each in self.strata
        ]
        kept = allocate(strata, n, self.options.look_confidence)
        seed = self.options.seed + 1
        return replace(
            self,
            strata=tuple(kept),
            options=replace(self.options, seed=seed),
            earlier=tuple(known),
            drawn=None,
        )

    def _known(self, given: Mapping[Any, Label]) -> list[Labelled]:
        """Return all rows with labels, those of earlier stages first."""
        return [
            *self.earlier,
            *(
                Labelled(
                    each.key,
                    self.strata[each.stratum].name,
                    self.strata[each.stratum].decided,
                    each.amount,
                    given[each.key],
                )
                for each in self._drawn
                if each.key in given
            ),
        ]

    def _checked(self, labels: Any, skipped: str | None) -> tuple[dict[Any, Label], str]:
        """Return the labels of drawn rows, and a note on them."""
        text = self.pool is None or self.pool.text
        found, note = checked_labels(
            labels, self._drawn, self.strata, self.options, text=text, skipped=skipped
        )
        if not found and not self.earlier:
            raise InputError("labels", "no row has a label yet.")
        return found, note

    def _cost(self, row: Labelled) -> float:
        prices = self.options.prices
        place = prices.costs.labels.index(row.actual)
        return float(prices.of(row.decided)[place] * prices.factors(row.amount)[place])

    def _result(self, known: Sequence[Labelled]) -> CostEstimate | CostDifference:
        """Return the estimate: rows of earlier stages are strata that are labelled whole."""
        old, new = known[: len(self.earlier)], known[len(self.earlier) :]
        rows: dict[Label, float] = {each.name: each.rows for each in self.strata if each.rows}
        decided = {each.name: each.decided for each in self.strata}
        bounds = {each.name: (each.low, each.high) for each in self.strata if each.rows}
        names = [each.stratum for each in new]
        for row in old:
            name = f"{row.stratum} (earlier labels)"
            rows[name] = rows.get(name, 0) + 1
            decided[name], bounds[name] = row.decided, bounds.get(name) or self._ends(row.stratum)
            names.append(name)
        every = [*new, *old]
        two, prices = len(self.options.columns.decisions) > 1, self.options.prices
        unit = self.options.unit
        if prices.by_amount:
            values = [self._cost(row) for row in every]
            sample = CostSample(values, strata=names, bounds=bounds)
            design = Design(population=rows)
            if two:
                return CostDifference(sample, None, self._two_names, design, unit)
            return CostEstimate(sample, None, design, unit)
        table = count_labelled(prices.costs, list(rows), names, every, models=2 if two else 1)
        taken: dict[Label, Any] = {
            name: decided[str(name)] if two else decided[str(name)][0] for name in rows
        }
        design = Design(population=rows, decided=taken)
        if two:
            return CostDifference(table, prices.costs, self._two_names, design, unit)
        return CostEstimate(table, prices.costs, design, unit)

    @property
    def _two_names(self) -> tuple[str, str]:
        first, second = self.options.columns.decisions
        return first, second

    def _ends(self, name: str) -> tuple[float, float]:
        found = next(each for each in self.strata if each.name == name)
        return found.low, found.high

    def _found(
        self, known: Sequence[Labelled], result: Any, interval: Interval
    ) -> tuple[StratumFound, ...]:
        """Return the results of each stratum, and what to label next."""
        costs: dict[str, list[float]] = {each.name: [] for each in self.strata}
        for row in known:
            costs[row.stratum].append(self._cost(row))
        widths = width_shares(result, interval)
        earlier = {each.name: 0 for each in self.strata}
        for row in self.earlier:
            earlier[row.stratum] += 1
        advice = self._advice(known)
        found = []
        for each in self.strata:
            values = costs[each.name]
            found.append(
                StratumFound(
                    name=each.name,
                    rows=each.rows + earlier[each.name],
                    labels=len(values),
                    costly=sum(value > each.low for value in values),
                    cost=float(np.mean(values)) if values else None,
                    width=widths.get(each.name, 0.0),
                    next=advice.get(each.name, 0),
                )
            )
        return tuple(found)

    def _advice(self, known: Sequence[Labelled]) -> dict[str, int]:
        """Return the allocation to strata of as many further labels as were read."""
        given = {row.key: row.actual for row in known[len(self.earlier) :]}
        try:
            # Keep the drawn rows, which would be drawn again otherwise.
            options = replace(self.options, anytime=False)
            plain_plan = replace(self, options=options, drawn=self._drawn)
            plan = plain_plan.next(given, max(len(given), LEAST), skipped="random")
        except InputError:  # nothing is left to label, or less than that
            return {}
        return {each.name: each.labels for each in plan.strata}

    # Files.

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        show: str | Sequence[str] = (),
        show_decisions: bool = False,
    ) -> None:
        """Write a file to label, and the manifest next to it.

        Parameters
        ----------
        path : path
            The label file, ``.csv``: identifiers, the columns to show, and an empty column
            ``actual``, in random order. The manifest's name is that with ``.manifest.json`` at the
            end; the labels cannot be read without the manifest.
        show : str or sequence of str
            The columns of the pool that labellers see.
        show_decisions : bool, default False
            Whether labellers also see the decisions. Labellers who know what a model decided tend
            to agree with it.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     plan.save(pathlib.Path(folder) / "to_label.csv")
        ...     sorted(each.name for each in pathlib.Path(folder).iterdir())
        ['to_label.csv', 'to_label.csv.manifest.json']
        """
        target = Path(path)
        if target.suffix.lower() != ".csv":
            raise FileError(f"{target}", "expected a name ending in .csv.")
        shown = _names(show)
        rows = tuple(self._draw(shown)) if shown else self._drawn
        names = self.options.columns.decisions if show_decisions else ()
        header = [self.id_name, *names, *shown, "actual"]
        twice = [name for name, times in Counter(header).items() if times > 1]
        if twice:
            raise InputError(
                "show",
                f"the file has a column {twice[0]!r} anyway, which would be there twice.",
                "Show other columns.",
            )
        lines = [
            [
                each.key,
                *(self.strata[each.stratum].decided if show_decisions else ()),
                *each.shown,
                "",
            ]
            for each in rows
        ]
        manifest = manifest_text(self.options, self.strata, rows, self.earlier)
        # An earlier file may hold labels: it is replaced only after everything is written.
        write_together({manifest_name(target): manifest, target: csv_text(header, lines)})

    def manifest(self) -> str:
        """Return the plan as the text of its manifest, a JSON file.

        Returns
        -------
        str
            Version, strata with sizes and draws, seed, costs, drawn rows, checksums.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> plan.manifest().splitlines()[1]
        ' "format": "stakes-audit/1",'
        """
        return manifest_text(self.options, self.strata, self._drawn, self.earlier)

    @classmethod
    def load(cls, path: str | os.PathLike[str], pool: Any = None) -> LabelPlan:
        """Read a plan from its manifest.

        Parameters
        ----------
        path : path
            The manifest, or the label file next to it.
        pool : Pool, optional
            The rows, needed to plan further labels; they must be the same as before.

        Returns
        -------
        LabelPlan
            The plan.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> from stakes.audit import LabelPlan
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "to_label.csv"
        ...     plan.save(path)
        ...     LabelPlan.load(path, pool).strata == plan.strata
        True
        """
        target = Path(path)
        if not target.name.endswith(".manifest.json"):
            target = manifest_name(target)
        content = json_content(read_text(target), f"{target}", "a manifest of an audit")
        plan: LabelPlan = plan_of(content, f"{target}", cls)
        return plan if pool is None else plan.with_pool(pool)

    def with_pool(self, pool: Any) -> LabelPlan:
        """Return the plan with its rows.

        Parameters
        ----------
        pool : Pool
            The rows; they must be the same as when labels were planned.

        Returns
        -------
        LabelPlan
            The plan.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import CostMatrix, Pool
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
        >>> pool = Pool.from_frame(rows, decision="decided", id="id")
        >>> plan = pool.plan(costs, n_labels=40)
        >>> plan.with_pool(pool) == plan
        True
        """
        _check_pool(pool)
        found = pool._cells(self.options.columns).checksum()  # noqa: SLF001 - of this room
        if found != self.options.checksum:
            raise InputError(
                "pool",
                "these are not the rows that the labels were planned for: their numbers by "
                "decision, verdict, score and amount differ.",
                "Give the same rows, or plan anew.",
            )
        # Equal counts do not show that the rows are the same.
        keys = [each.key for each in self.drawn or ()] + [each.key for each in self.earlier]
        absent = pool._absent(self.options.columns, keys) if keys else []  # noqa: SLF001
        if absent:
            raise InputError(
                "pool",
                "these are not the rows that the labels were planned for: "
                f"{plural(len(absent), 'row')} that {'was' if len(absent) == 1 else 'were'} drawn "
                f"{'is' if len(absent) == 1 else 'are'} not among them, such as {absent[0]!r}.",
                "Give the same rows, or plan anew.",
            )
        return replace(self, pool=pool)

    def __repr__(self) -> str:
        return f"LabelPlan: {self.summary()}"

    def _repr_html_(self) -> str:
        rows = [
            [each.name, number(each.rows), number(each.labels), number(each.low), number(each.high)]
            for each in self.strata
        ]
        header = ["stratum", "rows", "labels", "least cost", "most"]
        return html_table(header, rows, self.summary())


def _check_pool(pool: Any) -> None:
    """Raise an error for other types than `Pool`, whose module imports this one."""
    if not (hasattr(pool, "_draw") and hasattr(pool, "_cells")):
        raise InputTypeError(
            "pool", f"expected a Pool, got {type(pool).__name__}.", "Make it with Pool.from_frame."
        )


def _names(show: Any) -> tuple[str, ...]:
    """Return the columns to show."""
    found = (show,) if isinstance(show, str) else tuple(show)
    for each in found:
        if not isinstance(each, str):
            raise InputTypeError("show", f"expected names of columns, got {each!r}.")
    return tuple(dict.fromkeys(found))
