"""Base of the accumulators: running totals, their intervals at any time, and their files."""

from __future__ import annotations

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import number, percent
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.costs._axes import positions
from stakes.counts import Confusion, GroupedConfusion, PairedConfusion
from stakes.counts.grouped import grouped_of_parts
from stakes.errors import (
    DesignError,
    FileError,
    InputError,
    InputTypeError,
    StakesError,
)
from stakes.infer._inference import Inference, Interval, outcomes_behind, quiet_interval
from stakes.infer._outcomes import Design
from stakes.infer._shares import checked_priors
from stakes.infer.evaluation import Sampling
from stakes.infer.methods import anytime
from stakes.read import read_text, write_text
from stakes.read.checksums import check_unchanged, checksum, json_content

METHOD = anytime.METHOD.name
MOST_KEPT, SMALL = 200, 400
"""The largest number of past totals that are kept, and of cells of a table for which they are."""

Counts = TypeVar("Counts", bound=Confusion | PairedConfusion)


class Totals(ABC, Generic[Counts]):
    """Running totals: the counts so far, and their costs. All results depend on these alone."""

    _kind: type[Counts]
    _deciders: int

    def __init__(
        self,
        costs: CostMatrix,
        *,
        impossible: Any = None,
        class_priors: Any = None,
        population: Any = None,
        unit: str = "",
    ) -> None:
        if not isinstance(costs, CostMatrix):
            raise InputTypeError(
                "costs",
                f"expected a CostMatrix, got {type(costs).__name__}. The interval needs to know "
                "beforehand the least and the most that a decision can cost.",
                "For costs of single examples use stakes.infer.ExampleAccumulator.",
            )
        self.costs = costs
        self.unit = validate.text(unit, "unit")
        self.impossible = None if impossible is None else validate.cells(impossible)
        self.class_priors: list[float] | None = None
        if class_priors is not None:
            self.class_priors = checked_priors(class_priors, costs.labels).tolist()
        self.population = dict(population) if isinstance(population, Mapping) else population
        Design(population=population)  # raises if the population is invalid
        self._shape = (len(costs.decisions),) * self._deciders + (len(costs.labels),)
        self._counts: Counts | GroupedConfusion | None = None
        self._past: list[NDArray[np.int64]] = []
        outcomes = outcomes_behind(self._of_cells(self.counted(self._one_outcome())))
        self._range = outcomes.lowest, outcomes.highest

    @abstractmethod
    def _inference(self, counts: Any, design: Design) -> Inference:
        """Return the estimate from counts."""

    def _of_cells(self, counts: Counts) -> Inference:
        """Return the estimate from the cells alone; raise if an impossible cell occurred."""
        return self._inference(counts, Design(impossible=self.impossible))

    @property
    def _design(self) -> Design:
        return Design(self.class_priors, impossible=self.impossible, population=self.population)

    def counted(self, table: Any) -> Counts:
        """Return a table in the order of the costs as counts.

        Parameters
        ----------
        table : array_like
            Counts by the decision of each classifier and by class.

        Returns
        -------
        Confusion or PairedConfusion
            The counts.
        """
        return self._kind(table, self.costs.labels, self.costs.decisions)

    def _one_outcome(self) -> NDArray[np.int64]:
        """Return the table of one possible outcome, from which the range of costs is read."""
        for i, decision in enumerate(self.costs.decisions):
            for j, label in enumerate(self.costs.labels):
                if (decision, label) not in (self.impossible or ()):
                    table = np.zeros(self._shape, dtype=np.int64)
                    table[(i,) * self._deciders + (j,)] = 1
                    return table
        raise InputError("impossible", "expected some cells only, got all of them.")

    @property
    def n(self) -> Any:
        """The number of outcomes so far, or the sum of their weights."""
        return 0 if self._counts is None else self._counts.n

    @property
    def counts(self) -> Counts | GroupedConfusion:
        """The counts of decisions and classes so far, by group and stratum."""
        if self._counts is None:
            raise InputError("", "there are no outcomes yet.", "Call update first.")
        return self._counts

    def add(self, counts: Confusion | PairedConfusion | GroupedConfusion) -> None:
        """Add outcomes that were counted elsewhere, such as by a data engine.

        Parameters
        ----------
        counts : Confusion, PairedConfusion (for two classifiers) or GroupedConfusion
            Counts of classes and decisions that the costs contain. Either all counts have groups,
            or none; the same holds for strata and for weights.

        Examples
        --------
        >>> from stakes import Accumulator, Confusion, CostMatrix
        >>> running = Accumulator(CostMatrix.from_errors(false_positive=1, false_negative=10))
        >>> running.add(Confusion([[850, 10], [50, 90]], labels=[0, 1]))
        >>> running.n, running.cost
        (1000, 0.15)
        """
        pooled = counts.pooled if isinstance(counts, GroupedConfusion) else counts
        if not isinstance(pooled, self._kind):
            of = " of groups" if isinstance(counts, GroupedConfusion) else ""
            raise InputTypeError(
                "counts", f"expected a {self._kind.__name__}, got {type(pooled).__name__}{of}."
            )
        if not counts.weighted and (counts.counts != np.rint(counts.counts)).any():
            raise InputError(
                "counts",
                "running totals are of whole outcomes or of weights, got parts of outcomes.",
                "For weighted outcomes count with sample_weight=.",
            )
        total = self._sum(self._arranged(counts))  # type: ignore[arg-type]  # of this kind
        if self.impossible:
            self._of_cells(total.pooled if isinstance(total, GroupedConfusion) else total)  # type: ignore[arg-type]
        self._counts = total
        if self._any_time and math.prod(self._shape) <= SMALL:
            self._past.append(total.counts)
            if len(self._past) > MOST_KEPT:
                del self._past[-2::-2]  # every second one; the last stays

    def _arranged(self, counts: Counts | GroupedConfusion) -> Counts | GroupedConfusion:
        """Return counts in the order of the costs."""
        same = (counts.labels, counts.decisions) == (self.costs.labels, self.costs.decisions)
        if same and (counts.weighted or counts.counts.dtype.kind == "i"):
            return counts
        down = positions(counts.decisions, self.costs.decisions, "decision")
        across = positions(counts.labels, self.costs.labels, "class")

        def moved(table: NDArray[Any]) -> NDArray[Any]:
            parts = table.shape[: table.ndim - len(self._shape)]
            result = np.zeros((*parts, *self._shape), dtype=table.dtype)
            places = [*map(range, parts), *[down] * self._deciders, across]
            result[np.ix_(*places)] = table
            return result

        squares = None if counts.squares is None else moved(counts.squares)
        table = moved(counts.counts)
        if not counts.weighted:
            table = table.astype(np.int64)
        return self._made(table, counts, squares)

    def _made(self, table: Any, like: Any, squares: Any) -> Counts | GroupedConfusion:
        """Return a table in the order of the costs as counts with the parts of `like`."""
        axes = (self.costs.labels, self.costs.decisions)
        if isinstance(like, GroupedConfusion):
            return grouped_of_parts(like.parts, table, axes, squares)
        return self._kind(table, *axes, squares=squares)

    def _sum(self, more: Counts | GroupedConfusion) -> Counts | GroupedConfusion:
        """Return the totals with more counts, which must be of the same design."""
        mine = self._counts
        if mine is None:
            return more
        if _how_sampled(mine) != _how_sampled(more):
            ours, theirs = (" and ".join(_how_sampled(each)) or "none" for each in (mine, more))
            raise DesignError(
                "groups, strata, sample_weight",
                f"all outcomes must have the same of them; those so far have {ours}, these have "
                f"{theirs}.",
            )
        total: Any = mine + more
        return total  # type: ignore[no-any-return]

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the anytime-valid interval for the mean per decision.

        With the given confidence the true mean lies in *all* of the intervals that are ever
        computed, so look as often as you like, and stop when you like. Before the first outcome,
        the interval is the range of the possible costs. It holds for independent outcomes without
        groups, strata, weights, class priors and population; with any of them it is refused.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the whole sequence of intervals; choose it before looking.

        Returns
        -------
        Interval
            The limits, by the method "anytime".

        Notes
        -----
        A bettor against a mean m, with the fraction f of the fortune W at stake, has W_t =
        W_{t-1} [1 - f + f (C_t - low)/(m - low)] after the outcome C_t; the fortune is split over a
        fixed grid of fractions. If m is the true mean, the probability that W *ever* reaches 2/α is
        at most α/2 (Ville's inequality). The interval contains all means against which W has not
        reached it, from below or from above.

        References
        ----------
        Waudby-Smith & Ramdas (2024).

        Ville (1939).

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> low, high = running.interval()
        >>> round(low, 3), round(high, 3)
        (0.013, 0.791)
        """
        if self._counts is None:
            validate.alpha(confidence)
            return Interval(*self._range, float(confidence), METHOD)
        if not self._any_time:
            raise DesignError(
                "groups, strata, sample_weight, class_priors, population",
                "no interval that holds at any time is known for outcomes with any of them.",
                "Use estimate().interval() at one time that was chosen beforehand; of k such "
                "times, each with the confidence 1 - α/k.",
            )
        return self._inference(self._counts, self._design).interval(confidence, METHOD)

    def history(self, confidence: float = 0.95) -> dict[str, Floats]:
        """Return the mean and its anytime-valid interval after each update.

        With very many updates some are left out. With groups, strata, weights, class priors or a
        population, and for tables of more than 400 cells, no updates are kept.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the whole sequence of intervals.

        Returns
        -------
        dict
            The arrays "n", "mean", "low" and "high", with an entry for each update that was kept.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> running = Accumulator(CostMatrix.from_errors(false_positive=1, false_negative=10))
        >>> for day in range(3):
        ...     running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> running.history()["n"].tolist()
        [100.0, 200.0, 300.0]
        """
        found = (self._inference(self.counted(table), self._design) for table in self._past)
        sizes = (table.sum() for table in self._past)
        return history_of(zip(sizes, found, strict=True), confidence)

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return `history` as a pandas data frame.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the whole sequence of intervals.

        Returns
        -------
        DataFrame
            With the columns n, mean, low and high.
        """
        return data_frame(self.history(confidence))

    @property
    def _any_time(self) -> bool:
        """Whether the outcomes have an anytime-valid interval."""
        plain = self._counts is None or not _how_sampled(self._counts)
        return plain and self.class_priors is None and self.population is None

    def _sure(self, confidence: float) -> str:
        """Describe the interval, and when it holds."""
        found = self._inference(self.counts, self._design)
        return limits_of(found, confidence, any_time=self._any_time)

    def _settings(self) -> dict[str, Any]:
        """Return what must be the same for totals to be added up."""
        names = ("costs", "impossible", "class_priors", "population", "unit")
        return {name: getattr(self, name) for name in names}

    def __add__(self, other: object) -> Self:
        """Add the totals of two streams, such as of two sites; both stay unchanged.

        The interval of the sum holds if both have the same expected cost, or constant shares.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        for name, mine in self._settings().items():
            theirs = getattr(other, name)
            if mine != theirs:
                raise InputError(
                    name,
                    f"the totals cannot be added up, because they differ in it: {mine!r} and "
                    f"{theirs!r}.",
                )
        result = type(self)(**self._settings())
        result._counts = self._counts
        if other._counts is not None:
            result._counts = result._sum(other._counts)
        return result

    def __radd__(self, other: object) -> Self:
        """Support `sum`, which starts from 0."""
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Totals) or type(other) is not type(self):
            return NotImplemented
        same = self._settings() == other._settings()
        return same and bool(self._counts == other._counts)

    __hash__ = None  # type: ignore[assignment]  # totals change

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the totals to a JSON file atomically.

        An interrupted save leaves the previous file unchanged.

        Parameters
        ----------
        path : path
            The file.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     running.save(pathlib.Path(folder) / "totals.json")
        ...     Accumulator.load(pathlib.Path(folder) / "totals.json") == running
        True
        """
        write_text(path, totals_text(self.to_dict()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read saved totals; a truncated or edited file is refused.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Accumulator or PairedAccumulator
            The totals.
        """
        return totals_from_text(read_text(path), str(path), cls)

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values.

        Returns
        -------
        dict
            The costs and the counts.
        """
        cells, population = self.impossible, self.population
        if isinstance(population, Mapping):
            population = [list(item) for item in population.items()]  # JSON has text keys only
        result = {
            "kind": type(self).__name__,
            "costs": self.costs.to_dict(),
            "impossible": None if cells is None else [list(cell) for cell in cells],
            "class_priors": self.class_priors,
            "population": population,
            "unit": self.unit,
            "n": self.n,
            "weighted": self._counts is not None and self._counts.weighted,
        }
        for name in ("groups", "strata", "squares"):
            given = getattr(self._counts, name, None)
            if given is not None:
                result[name] = np.asarray(given).tolist() if name == "squares" else list(given)
        table = np.zeros(self._shape, dtype=int) if self._counts is None else self._counts.counts
        if self._past:
            result["history"] = [table.tolist() for table in self._past]
        return result | {"counts": table.tolist()}


def history_of(past: Iterable[tuple[float, Inference]], confidence: float) -> dict[str, Floats]:
    """Return the numbers of outcomes, the means and their limits at any time, as columns.

    `past` has the number of outcomes and the result at each earlier time.
    """
    validate.alpha(confidence)
    rows = [
        [n, outcomes_behind(found).mean[0], *found.interval(confidence, METHOD)]
        for n, found in past
    ]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return dict(zip(("n", "mean", "low", "high"), columns, strict=True))


def limits_of(found: Inference, confidence: float, *, any_time: bool) -> str:
    """Describe the interval of a stream so far, and when it holds."""
    if any_time:
        (low, high), when = found.interval(confidence, METHOD), "at any time"
    else:
        (low, high), when = quiet_interval(found, confidence), "if one looks only once"
    limits = f"{number(low)} to {number(high)}"
    return f"({limits} with {percent(confidence)} confidence, {when})"


def sampling_of(sample_weight: Any, groups: Any, strata: Any) -> Sampling:
    if isinstance(strata, str):
        raise InputTypeError(
            "strata", f"expected the stratum of each example, got {strata!r}.", "Use class_priors=."
        )
    return Sampling(sample_weight, groups, strata)


def _how_sampled(counts: Any) -> list[str]:
    """Return which of groups, strata and weights the counts have."""
    found = [name for name in ("groups", "strata") if getattr(counts, name, None) is not None]
    return [*found, "sample_weight"] if counts.weighted else found


def any_outcomes(*columns: Any) -> bool:
    """Tell whether a batch has any outcomes; an empty batch is not an error."""
    return not all(_is_empty(values) for values in columns)


def _is_empty(values: Any) -> bool:
    try:
        return len(values) == 0
    except TypeError:  # counting raises the error for what is not a column
        return False


# Running totals as text: JSON with a version and a checksum.

SCHEMA = "stakes-totals/1"
Kind = TypeVar("Kind", bound=Totals[Any])


def totals_text(content: dict[str, Any]) -> str:
    """Return the text of a file of totals, from what their `to_dict` returned."""
    document = {"schema": SCHEMA} | content
    document["checksum"] = checksum(document)
    lines = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
        for key, value in document.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def checked_content(text: str, source: str, kind: str) -> dict[str, Any]:
    """Return the content of a file of totals, after checking its schema, checksum and kind."""
    content: Any = json_content(text, source, "a file of totals")
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise FileError(
            source,
            f"expected a file of totals, written by {kind}.save, with the schema {SCHEMA!r}; its "
            f"schema is {schema!r}.",
        )
    if "checksum" not in content:
        raise FileError(source, "the file of totals has no 'checksum'.")
    check_unchanged(content.pop("checksum"), checksum(content), source, "the file of totals")
    if content.get("kind") != kind:
        raise FileError(
            source,
            f"expected the totals of {kind}, it has those of {content.get('kind')}.",
            f"Use {content.get('kind')}.load.",
        )
    found: dict[str, Any] = content
    return found


def totals_from_text(text: str, source: str, kind: type[Kind]) -> Kind:
    """Read running totals of one kind.

    Parameters
    ----------
    text : str
        The text of the file.
    source : str
        The name of the file, for errors.
    kind : type
        Accumulator or PairedAccumulator.
    """
    content = checked_content(text, source, kind.__name__)
    try:
        return _totals(content, kind)
    except KeyError as error:
        raise FileError(source, f"the file of totals has no {error.args[0]!r}.") from error
    except (StakesError, TypeError, ValueError, OverflowError) as error:
        raise FileError(source, f"the file of totals is damaged: {error}") from error


def _totals(content: dict[str, Any], kind: type[Kind]) -> Kind:
    costs = CostMatrix(**content["costs"])
    settings = {
        name: content[name] for name in ("impossible", "class_priors", "population", "unit")
    }
    if isinstance(settings["population"], list):
        settings["population"] = dict(settings["population"])
    if "names" in content:
        settings["names"] = tuple(content["names"])
    totals = kind(costs, **settings)
    if content["n"] != 0:
        totals.add(_counts_in(content, totals))
    if "history" in content:
        totals._past = [totals.counted(table).counts for table in content["history"]]  # noqa: SLF001 - of this module
    if not math.isclose(totals.n, content["n"], rel_tol=1e-12):
        raise ValueError(f"expected {content['n']} outcomes, counted {totals.n}.")
    return totals


def _counts_in(content: dict[str, Any], totals: Totals[Any]) -> Any:
    """Return the counts in the content of a file of totals."""
    groups, strata, squares = (content.get(name) for name in ("groups", "strata", "squares"))
    table = content["counts"]
    if content["weighted"]:
        table = np.asarray(table, dtype=np.float64)
    axes = (totals.costs.labels, totals.costs.decisions)
    if groups is None and strata is None:
        return totals._kind(table, *axes, squares=squares)  # noqa: SLF001 - of this module
    return GroupedConfusion(table, *axes, groups, strata=strata, squares=squares)
