"""The difference of two classifiers' cost curves on the same examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label, is_missing
from stakes._core.text import html_table, number, percent
from stakes._core.typing import Floats
from stakes.counts import GroupedConfusion, PairedConfusion, PairedScoreCounts
from stakes.curves._base import Curve, OverConditions
from stakes.curves._rates import discordant, paired_scores_of, represented_pair, represented_table
from stakes.curves._sampling import Mistakes, Sample, discordant_decisions, drawn
from stakes.curves.band import Band, Verdicts, band_limits, is_full, make_band, signs_of, verdicts
from stakes.curves.condition import Pieces
from stakes.curves.curve import CostCurve
from stakes.curves.line import CostLine
from stakes.errors import InputError, InputTypeError
from stakes.infer._outcomes import Design


@dataclass(frozen=True, repr=False)
class CostCurveDifference(OverConditions):
    """The cost of one classifier minus that of another, at every operating condition.

    It is positive where the first costs more. Examples on which both are right, or both wrong, do
    not matter; those on which they differ are counted in pairs, which accounts for the correlation
    of the two (Holte & Drummond 2005, section 9).

    Parameters
    ----------
    counts : PairedScoreCounts, PairedConfusion or GroupedConfusion
        The scores, or the decisions, of both on the same examples.
    names : pair of str
        The classifiers' names.
    pos_label : default 1
        Which class is the positive one, for decisions; score counts have it already.
    validation : PairedScoreCounts, optional
        Other examples, on which the thresholds are chosen, as in `select`.

    Notes
    -----
    With n1⁺, n2⁺ (n1⁻, n2⁻) the positives (negatives) that only the first, only the second calls
    positive, the difference at PC(+) = x is x (n2⁺ - n1⁺)/n⁺ + (1 - x)(n1⁻ - n2⁻)/n⁻, and its
    variance x² [n1⁺ + n2⁺ - (n1⁺ - n2⁺)²/n⁺]/n⁺² + (1 - x)² [n1⁻ + n2⁻ - (n1⁻ - n2⁻)²/n⁻]/n⁻².

    References
    ----------
    Holte & Drummond (2005), section 9.

    Dugas & Gadoury (2008), equations 7 and 8.

    Zou & Donner (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import CostCurveDifference, PairedScoreCounts
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(2000) < 0.3
    >>> sharp, dull = (y_true + rng.normal(0, scale, 2000) for scale in (0.4, 0.6))
    >>> difference = CostCurveDifference(
    ...     PairedScoreCounts.from_scores(y_true, sharp, dull), names=("sharp", "dull"))
    >>> round(difference.difference(0.5), 3)
    -0.089
    >>> print(difference.significant_ranges().summary())
    With 95% confidence for all PC(+) at once, sharp is cheaper for PC(+) from 0.02535 to 0.971,
    undecided elsewhere.
    """

    counts: PairedScoreCounts | PairedConfusion | GroupedConfusion
    names: tuple[str, str] = ("the first", "the second")
    pos_label: Label = 1
    validation: PairedScoreCounts | None = None

    def __post_init__(self) -> None:
        positive: Any = self.pos_label
        if np.ndim(positive) or is_missing(positive):
            raise InputError("pos_label", f"expected a class, got {self.pos_label!r}.")
        given: Any = self.counts
        table = given.pooled if isinstance(given, GroupedConfusion) else given
        if not isinstance(table, PairedScoreCounts | PairedConfusion):
            raise InputTypeError(
                "counts",
                "expected PairedScoreCounts, or a PairedConfusion, because how sure a difference "
                f"is depends on which examples the two differ on; got a {type(given).__name__}.",
                "Make one with PairedScoreCounts.from_scores(y_true, y_score_1, y_score_2).",
            )
        names: Any = self.names
        texts = tuple(map(str, names)) if isinstance(names, list | tuple) else ()
        if len(texts) != 2 or texts[0] == texts[1]:  # noqa: PLR2004 - two classifiers
            raise InputError("names", f"expected two different names, got {names!r}.")
        object.__setattr__(self, "names", texts)
        self._check_validation()
        self.first  # noqa: B018 - raises when there are not two classes

    def _check_validation(self) -> None:
        if self.validation is None:
            return
        if not isinstance(self.counts, PairedScoreCounts):
            raise InputTypeError(
                "validation_counts", "decisions have no thresholds to choose; compare scores."
            )
        example = "PairedScoreCounts.from_scores(y_true, y_score_1, y_score_2)"
        validate.expect(self.validation, PairedScoreCounts, "validation_counts", example)

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score_1: Any,
        y_score_2: Any,
        *,
        pos_label: Label = 1,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
        population: Any = None,
        names: tuple[str, str] = ("the first", "the second"),
    ) -> Self:
        """Return the difference of two scorers; see `PairedScoreCounts.from_scores`.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        y_score_1, y_score_2 : array_like, shape (n,)
            The scores of each scorer; the higher, the more likely positive.
        pos_label : default 1
            Which class is the positive one.
        sample_weight, groups, strata : array_like, shape (n,), optional
            The weight, the group and the stratum of each example, as in `CostCurve.from_scores`.
        population : mapping, optional
            From each stratum to its share of the population, or to its number of rows.
        names : pair of str
            The classifiers' names.

        Returns
        -------
        CostCurveDifference
            The difference.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import CostCurveDifference
        >>> rng = np.random.default_rng(0)
        >>> y_true = rng.random(2000) < 0.3
        >>> sharp, dull = (y_true + rng.normal(0, scale, 2000) for scale in (0.4, 0.6))
        >>> difference = CostCurveDifference.from_scores(
        ...     y_true, sharp, dull, names=("sharp", "dull"))
        >>> round(difference.difference(0.8), 3)
        -0.049
        """
        counts = PairedScoreCounts.from_scores(
            y_true,
            y_score_1,
            y_score_2,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            strata=strata,
        )
        return cls(represented_pair(counts, Design(population=population)), names=names)

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred_1: Any,
        y_pred_2: Any,
        *,
        pos_label: Label = 1,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
        population: Any = None,
        names: tuple[str, str] = ("the first", "the second"),
    ) -> Self:
        """Return the difference of two classifiers' decisions; see `PairedConfusion.from_labels`.

        Parameters
        ----------
        y_true, y_pred_1, y_pred_2 : array_like, shape (n,)
            The actual class of each example, and the decision of each classifier.
        pos_label : default 1
            Which class is the positive one.
        sample_weight, groups, strata : array_like, shape (n,), optional
            The weight, the group and the stratum of each example, as in `CostCurve.from_scores`.
        population : mapping, optional
            From each stratum to its share of the population, or to its number of rows.
        names : pair of str
            The classifiers' names.

        Returns
        -------
        CostCurveDifference
            The difference.

        Examples
        --------
        >>> from stakes import CostCurveDifference
        >>> y_true = [0] * 600 + [1] * 400
        >>> difference = CostCurveDifference.from_labels(
        ...     y_true, [0] * 500 + [1] * 500, [0] * 800 + [1] * 200, names=("eager", "shy"))
        >>> [round(each, 3) for each in difference.crossovers()]
        [0.25]
        """
        if groups is None and strata is None and population is None:
            plain = PairedConfusion.from_labels(
                y_true, y_pred_1, y_pred_2, sample_weight=sample_weight
            )
            return cls(plain, names=names, pos_label=pos_label)
        table = GroupedConfusion.from_labels(
            y_true, y_pred_1, groups, strata=strata, y_pred_2=y_pred_2, sample_weight=sample_weight
        )
        table = represented_table(table, Design(population=population))
        return cls(table, names=names, pos_label=pos_label)

    def select(self, validation_counts: PairedScoreCounts) -> Self:
        """Return the difference at thresholds that are best on other examples.

        Parameters
        ----------
        validation_counts : PairedScoreCounts
            The same scorers' scores of other examples.

        Returns
        -------
        CostCurveDifference
            The difference on the same examples, at those thresholds.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import CostCurveDifference
        >>> rng = np.random.default_rng(0)
        >>> y_true = rng.random(2000) < 0.3
        >>> sharp, dull = (y_true + rng.normal(0, scale, 2000) for scale in (0.4, 0.6))
        >>> difference = CostCurveDifference.from_scores(
        ...     y_true[:1000], sharp[:1000], dull[:1000], names=("sharp", "dull"))
        >>> from stakes import PairedScoreCounts
        >>> selected = difference.select(
        ...     PairedScoreCounts.from_scores(y_true[1000:], sharp[1000:], dull[1000:]))
        >>> round(difference.difference(0.8), 3), round(selected.difference(0.8), 3)
        (-0.058, -0.054)
        """
        return replace(self, validation=validation_counts)

    @property
    def chosen_on(self) -> str:
        """The examples on which the thresholds were chosen; empty for decisions."""
        return self.first.chosen_on

    @cached_property
    def first(self) -> Curve:
        """The curve of the first classifier."""
        return self._curve("first", self.names[0])

    @cached_property
    def second(self) -> Curve:
        """The curve of the second classifier."""
        return self._curve("second", self.names[1])

    def _curve(self, which: str, name: str) -> Curve:
        counts = getattr(self.counts, which)
        if not isinstance(self.counts, PairedScoreCounts):
            return CostLine.from_counts(counts, pos_label=self.pos_label, name=name)
        other = None if self.validation is None else getattr(self.validation, which)
        return CostCurve(counts, name, other)

    @cached_property
    def pieces(self) -> Pieces:
        """The difference, which again consists of line segments."""
        return self.first.pieces.minus(self.second.pieces)

    @cached_property
    def _mistakes(self) -> tuple[Mistakes, Mistakes]:
        """The positives, and the negatives, on which only one of the two is wrong, by piece."""
        if isinstance(self.counts, PairedConfusion):
            return discordant_decisions(self.counts, self.pos_label)
        if isinstance(self.counts, GroupedConfusion):
            one = np.ones(1, dtype=np.intp)
            return discordant(paired_scores_of(self.counts, self.pos_label), (one, one))
        starts = self.pieces.breaks[:-1]
        curves: tuple[Any, Any] = (self.first, self.second)  # curves of scores, so with thresholds
        cuts = [curve.cuts[curve.pieces.index(starts)] for curve in curves]
        return discordant(self.counts, (cuts[0], cuts[1]))

    def _sample(self, pc: Floats, full: bool) -> Sample:
        index = self.pieces.index(pc)
        positives, negatives = (each.at(index) for each in self._mistakes)
        return drawn(pc, positives, negatives, full=full)

    def difference(self, pc: Any) -> Any:
        """Return the normalised expected cost of the first classifier minus that of the second.

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+).

        Returns
        -------
        float or ndarray
            The difference at each condition.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import CostCurveDifference
        >>> rng = np.random.default_rng(0)
        >>> y_true = rng.random(2000) < 0.3
        >>> sharp, dull = (y_true + rng.normal(0, scale, 2000) for scale in (0.4, 0.6))
        >>> difference = CostCurveDifference.from_scores(
        ...     y_true, sharp, dull, names=("sharp", "dull"))
        >>> difference.difference([0.2, 0.8]).round(3).tolist()
        [-0.058, -0.049]
        """
        return self.pieces.height(pc)

    def area(self) -> float:
        """Return the area under the difference: its mean if all conditions are equally likely.

        Returns
        -------
        float
            ∫ difference(x) dx over PC(+) from 0 to 1.
        """
        return self.pieces.area()

    def band(
        self,
        confidence: float = 0.95,
        method: str = "mover",
        *,
        sampling: str = "stratified",
        simultaneous: bool = False,
        pc: Any = None,
        **options: Any,
    ) -> Band:
        """Return limits for the difference at each operating condition.

        Parameters
        ----------
        confidence, method, sampling, simultaneous, pc, **options
            As in `CostCurve.band`.

        Returns
        -------
        Band
            The difference and its limits at each condition.

        Notes
        -----
        As for one curve, with the rates in x q⁺ + (1 - x) q⁻ being those of the discordant
        examples: mistakes of the first alone are added, those of the second alone subtracted.

        References
        ----------
        Holte & Drummond (2005), section 9.

        Dugas & Gadoury (2008), equations 7 and 8.

        Examples
        --------
        >>> from stakes import CostCurveDifference
        >>> y_true = [0] * 600 + [1] * 400
        >>> difference = CostCurveDifference.from_labels(
        ...     y_true, [0] * 500 + [1] * 500, [0] * 800 + [1] * 200, names=("eager", "shy"))
        >>> band = difference.band(pc=[0.2, 0.8])
        >>> band.low.round(3).tolist(), band.high.round(3).tolist()
        ([0.008, -0.407], [0.061, -0.326])
        """
        return make_band(
            self._sample,
            self.pieces,
            within=(-1.0, 1.0),
            confidence=confidence,
            method=method,
            sampling=sampling,
            simultaneous=simultaneous,
            pc=pc,
            options=options,
            chosen_on=self.chosen_on,
        )

    def cheaper_ranges(self) -> Verdicts:
        """Return the ranges in which each classifier is cheaper, without a test.

        Returns
        -------
        Verdicts
            The ranges.

        Examples
        --------
        >>> from stakes import CostCurveDifference
        >>> y_true = [0] * 600 + [1] * 400
        >>> difference = CostCurveDifference.from_labels(
        ...     y_true, [0] * 500 + [1] * 500, [0] * 800 + [1] * 200, names=("eager", "shy"))
        >>> print(difference.cheaper_ranges().summary())
        eager is cheaper for PC(+) > 0.25, shy for PC(+) < 0.25.
        """
        return self.first.cheaper_ranges(self.second)

    def crossovers(self) -> list[float]:
        """Return all operating conditions at which the other classifier becomes cheaper.

        Returns
        -------
        list of float
            The conditions PC(+).
        """
        return self.first.crossovers(self.second)

    def significant_ranges(
        self,
        confidence: float = 0.95,
        method: str = "mover",
        *,
        sampling: str = "stratified",
        simultaneous: bool = True,
        **options: Any,
    ) -> Verdicts:
        """Return the ranges of PC(+) in which the difference is statistically significant.

        In these the band does not contain zero (Holte & Drummond 2005, Figure 15).

        Parameters
        ----------
        confidence, method, sampling, **options
            As in `band`.
        simultaneous : bool, default True
            Whether the confidence level holds for all verdicts at once. With False each condition
            is tested by itself, as in the paper, and two equivalent classifiers will often look
            different somewhere along the curve.

        Returns
        -------
        Verdicts
            The ranges, including undecided ones.

        Notes
        -----
        The ranges are where low(x) > 0 or high(x) < 0, the limits being those of `band`.

        References
        ----------
        Holte & Drummond (2005), section 9 and Figure 15.

        Dugas & Gadoury (2008), equations 7 and 8.

        Zou & Donner (2008).

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import CostCurveDifference
        >>> rng = np.random.default_rng(0)
        >>> y_true = rng.random(2000) < 0.3
        >>> sharp, dull = (y_true + rng.normal(0, scale, 2000) for scale in (0.4, 0.6))
        >>> difference = CostCurveDifference.from_scores(
        ...     y_true, sharp, dull, names=("sharp", "dull"))
        >>> found = difference.significant_ranges()
        >>> [(round(low, 3), round(high, 3)) for low, high in found.where("sharp")]
        [(0.025, 0.971)]
        """
        full = is_full(sampling)
        if method == "bootstrap":  # each evaluation must use the same draws
            options["rng"] = int(validate.generator(options.get("rng")).integers(2**63))

        def verdict(pc: Floats) -> NDArray[np.int64]:
            low, high = band_limits(
                self._sample(pc, full),
                lines=self.pieces.count(),
                confidence=confidence,
                method=method,
                simultaneous=simultaneous,
                options=options,
            )
            return np.where(low > 0, 1, np.where(high < 0, -1, 0))

        # A verdict can change to its opposite only at a zero of the difference.
        zeros = [low for low, _, _ in self.pieces.signs()]
        signs = signs_of(verdict, np.concatenate([self.pieces.breaks, zeros]))
        how = f"{percent(confidence)} confidence"
        how += " for all PC(+) at once" if simultaneous else " at each PC(+) by itself"
        return verdicts(signs, self.names, "undecided", how)

    def summary(self, confidence: float = 0.95) -> str:
        """Summarise in which ranges each classifier is significantly cheaper.

        Parameters
        ----------
        confidence : float, default 0.95
            Simultaneous confidence level of the verdicts.

        Returns
        -------
        str
            One sentence or two.
        """
        ranges = self.significant_ranges(confidence)
        chosen = f" Thresholds were chosen on {self.chosen_on}." if self.chosen_on else ""
        return f"{ranges.summary()}{chosen}"

    def to_frame(self) -> Any:
        """Return the difference and its band as a pandas data frame.

        Returns
        -------
        DataFrame
            A row for each PC(+) of the band; see `Band.to_frame`.
        """
        return self.band().to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain values and lists.

        Returns
        -------
        dict
            The area, the crossovers, the significant ranges and the band.
        """
        band = self.band()
        return {
            "names": list(self.names),
            "area": self.area(),
            "crossovers": self.crossovers(),
            "chosen_on": self.chosen_on,
            "significant_ranges": self.significant_ranges().to_dict(),
            "band": band.to_dict(),
        }

    def __repr__(self) -> str:
        return f"CostCurveDifference: {self.summary()}"

    def _repr_html_(self) -> str:
        band = self.band(pc=np.linspace(0, 1, 11))
        rows = [
            [number(each) for each in row]
            for row in zip(band.pc, band.cost, band.low, band.high, strict=True)
        ]
        return html_table(["PC(+)", "difference", "low", "high"], rows, caption=self.summary())
