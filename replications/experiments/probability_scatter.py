"""Thesis 6.25-6.35: probabilities of bagged trees and of bagged lazy trees, against the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from replications.domains.gaussians import Gaussians
from replications.experiment import Experiment, Printed, Results, Row, Trial, Value, average
from replications.experiments.shared.contest import count_row
from stakes._core.typing import Floats
from stakes.learn import BaggedLazyOptionTreesClassifier, BaggedPETClassifier

SIZES, LEAVES = (100, 300, 600, 1000), (2, 8, 12)
TESTED, SHOWN = 1000, 200
EXTREME = 0.005
PET, BARE, BLOT, LITERAL = "B-PET", "B-PET λ=0", "B-LOT", "B-LOT literal"
LEARNERS = (PET, BLOT, LITERAL, BARE)
SHIFTS = (2.0, 1.0, 3.0)
"""Distances between the class means; the figures show the first."""

FIGURES = {
    "6.26": ((100, 2), (100, 8)),
    "6.27": ((100, 12),),
    "6.28": ((300, 2), (300, 8)),
    "6.29": ((300, 12),),
    "6.30": ((600, 2), (600, 8)),
    "6.31": ((600, 12),),
    "6.32": ((1000, 2), (1000, 8)),
    "6.33": ((1000, 12),),
}
BARE_FIGURES = {
    "6.34": ((100, 2), (100, 8), (300, 2), (300, 8)),
    "6.35": ((1000, 2), (1000, 8)),
}


def measure(trial: Trial, *, shift: float, size: int, leaf: int) -> Iterator[Row]:
    """Train on new examples in each repeat, and predict the same 1000 test examples."""
    domain = Gaussians(shift)
    asked = tested(domain, trial.seed)
    truth = domain.probability(asked)
    told: dict[str, list[Floats]] = {name: [] for name in LEARNERS}
    for _ in range(trial.repeats):
        features, y = domain.draw(size, trial.rng)
        seed = int(trial.rng.integers(2**31))
        for name, learner in learners(leaf, seed).items():
            told[name].append(learner.fit(features, y).predict_proba(asked)[:, 1])
    for name, estimates in told.items():
        each = np.array(estimates)
        error = np.sqrt(((each - truth) ** 2).mean(axis=1))
        extreme = (np.minimum(each, 1 - each) < EXTREME).mean(axis=1)
        flat = [len(np.unique(row)) for row in each.round(6)]
        yield average("root mean square error", error, learner=name)
        yield average("rank correlation", [_correlation(row, truth) for row in each], learner=name)
        yield average("extreme estimates", extreme, learner=name)
        yield average("different estimates", flat, learner=name)
        if shift == SHIFTS[0]:
            yield from _points(each, name)


def tested(domain: Gaussians, seed: int) -> Floats:
    """Return the test examples, the same for all settings."""
    return domain.draw(TESTED, np.random.SeedSequence(seed, spawn_key=(TESTED,)))[0]


def learners(leaf: int, seed: int) -> dict[str, Any]:
    """Return the learners with at least `leaf` examples in a leaf."""
    pet: dict[str, Any] = {"min_samples_leaf": leaf, "random_state": seed}
    lazy: dict[str, Any] = {"min_leaf": leaf, "random_state": seed}
    return {
        PET: BaggedPETClassifier(**pet),
        BLOT: BaggedLazyOptionTreesClassifier(**lazy),
        LITERAL: BaggedLazyOptionTreesClassifier(**lazy, entropy="plain", thresholds="query"),
        BARE: BaggedPETClassifier(**pet, laplace=0.0),
    }


def _correlation(told: Floats, truth: Floats) -> float:
    """Return Spearman's correlation; 0 if all estimates are equal."""
    if np.ptp(told) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(told), rankdata(truth))[0, 1])


def _points(each: Floats, learner: str) -> Iterator[Row]:
    """Return the estimates of the first training set, and their standard deviations over all."""
    spread = each.std(axis=0, ddof=1) if len(each) > 1 else np.full(each.shape[1], np.nan)
    for point in range(0, TESTED, TESTED // SHOWN):
        yield {
            "learner": learner, "point": point, "measure": "estimate",
            "value": round(float(each[0, point]), 4), "error": round(float(spread[point]), 3),
            "repeats": 1,
        }  # fmt: skip


def derive(rows: Sequence[Row]) -> Iterator[Row]:
    """Return the numbers to check the text's statements about the plots."""

    def found(measure: str, learner: str, size: int, leaf: int) -> Row:
        where: dict[str, Value] = {
            "shift": SHIFTS[0], "size": size, "leaf": leaf, "learner": learner, "measure": measure,
        }  # fmt: skip
        return next(row for row in rows if where.items() <= row.items())

    def value(measure: str, learner: str, size: int, leaf: int) -> float:
        return float(found(measure, learner, size, leaf)["value"])

    error, rank, extreme = "root mean square error", "rank correlation", "extreme estimates"
    for size in SIZES:
        for name in (BLOT, LITERAL):
            best = min(LEAVES, key=lambda leaf: value(error, name, size, leaf))
            yield count_row("best leaf", best, learner=name, size=size)
    settings = [(size, leaf) for size in SIZES for leaf in LEAVES]
    for name in (BLOT, LITERAL):
        better = sum(value(error, name, *each) < value(error, PET, *each) for each in settings)
        yield count_row("settings with less error than B-PET", better, learner=name)
        yield _fewer(found(extreme, name, SIZES[0], 2), found(extreme, name, SIZES[-1], 2))
        more = value(extreme, name, 100, 2) > value(extreme, PET, 100, 2)
        yield _claim(f"{name}: more extreme estimates than B-PET, TD=100, MINinst=2", more)
    better = sum(value(rank, PET, size, 12) > value(rank, PET, size, 2) for size in SIZES)
    yield count_row("sizes where B-PET ranks better with MINinst 12 than 2", better)
    some = [(size, leaf) for size in (100, 300, 1000) for leaf in (2, 8)]
    worse = sum(value(error, BARE, *each) > value(error, PET, *each) for each in some)
    yield count_row("settings with more error without the correction", worse)


def _fewer(few: Row, many: Row) -> Row:
    """Return the share of extreme estimates with few examples minus that with many."""
    error = float(np.hypot(float(few["error"]), float(many["error"])))
    less = float(few["value"]) - float(many["value"])
    return {
        "learner": few["learner"], "measure": "extreme estimates, TD=100 less TD=1000",
        "value": less, "error": error, "repeats": few["repeats"],
    }  # fmt: skip


def _claim(text: str, holds: bool) -> Row:
    return count_row("holds", holds, claim=text)


def draw(results: Results) -> Mapping[str, Any]:
    """Draw Figures 6.25 to 6.35."""
    domain = Gaussians(SHIFTS[0])
    truth = domain.probability(tested(domain, results.seed))
    figures = {"figure-6.25": _densities(domain)}
    for number, settings in FIGURES.items():
        panels = [(name, *setting) for setting in settings for name in (PET, BLOT)]
        figures[f"figure-{number}"] = _scatter(results, truth, panels)
    for number, settings in BARE_FIGURES.items():
        figures[f"figure-{number}"] = _scatter(results, truth, [(BARE, *each) for each in settings])
    return figures


def _densities(domain: Gaussians) -> Any:
    from scipy.stats import norm

    from stakes.show._drawing import line_look, pyplot

    figure, ax = pyplot().subplots(figsize=(5, 3), layout="constrained")
    x = np.linspace(-4, domain.shift + 4, 400)
    for index, (name, density) in enumerate(
        (("class 0", norm.pdf(x)), ("class 1", norm.pdf(x, domain.shift, domain.spread)))
    ):
        ax.plot(x, density, label=name, **line_look(index))
    ax.set_xlabel("feature")
    ax.set_ylabel("density")
    ax.legend()
    return figure


def _scatter(results: Results, truth: Floats, panels: Sequence[tuple[str, int, int]]) -> Any:
    from stakes.show._drawing import COLOURS, GREY, pyplot

    rows = len(panels) // 2
    figure, axes = pyplot().subplots(
        rows, 2, figsize=(7, 3.5 * rows), layout="constrained", sharex=True, sharey=True
    )
    for letter, ax, (name, size, leaf) in zip("abcd", axes.flat, panels, strict=False):
        found = results.select(
            shift=SHIFTS[0], size=size, leaf=leaf, learner=name, measure="estimate"
        )
        points = [int(row["point"]) for row in found]
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
        values = [float(row["value"]) for row in found]
        ax.plot(truth[points], values, ".", color=COLOURS[0], markersize=4)
        ax.set_title(f"({letter}) {name}; TD={size}; MINinst={leaf}", fontsize=9)
        ax.set_aspect("equal")
    figure.supxlabel("true probability of class 1", fontsize=9)
    figure.supylabel("estimated probability", fontsize=9)
    return figure


def _said() -> Iterator[Printed]:
    view = "The error falls with the size of the leaves for every size of the training data."
    for size, leaf in ((300, 8), (1000, 12)):
        where: dict[str, Value] = {"learner": BLOT, "size": size, "measure": "best leaf"}
        yield Printed(where, leaf, "text of 6.4", within=0, why=view)
    more = f"{BLOT}: more extreme estimates than B-PET, TD=100, MINinst=2"
    yield Printed({"claim": more, "measure": "holds"}, 1, "text of 6.4", within=0)
    where = {"learner": BLOT, "measure": "extreme estimates, TD=100 less TD=1000"}
    yield Printed(where, float("nan"), "text of 6.4")
    yield Printed(
        {"measure": "sizes where B-PET ranks better with MINinst 12 than 2"}, len(SIZES),
        "text of 6.4", within=0,
    )  # fmt: skip
    yield Printed(
        {"measure": "settings with more error without the correction"}, 6, "text of 6.4", within=0
    )


EXPERIMENT = Experiment(
    name="probability-scatter",
    title="Estimated against true probabilities of two overlapping normal classes",
    source="thesis, section 6.4: Figures 6.25-6.35",
    varies={"shift": SHIFTS, "size": SIZES, "leaf": LEAVES},
    measure=measure,
    repeats=20,
    least=2,
    printed=tuple(_said()),
    derive=derive,
    draw=draw,
    stand_ins=(
        (
            "Figure 6.25 is lost and the text has no numbers: the classes here are N(0, 1) and "
            "N(2, 1), equally frequent. Errors are also measured for N(1, 1) and N(3, 1)."
        ),
        "B-PETs are scikit-learn trees with the entropy criterion in place of C4.5's.",
        "200 of the 1000 test points are drawn, and kept in the results.",
    ),
)
