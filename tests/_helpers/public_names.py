"""Every public callable of the package, and arguments with which each can be called.

The rooms are walked by introspection, so a new public name is checked without a test of its own.
Arguments come from what they are called (`ARGUMENTS`), or else from their annotation: whatever kind
of result it names is taken from the results of the other callables.
"""

import importlib
import inspect
import re
import signal
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

import stakes
import stakes.show
import stakes.simulate
from stakes import CostMatrix, CostRanges, ExampleCosts
from stakes.learn import PETClassifier

ROOMS = ("", "curves", "infer", "measures", "show", "simulate", "learn")

rng = np.random.default_rng(7)
N = 60
Y = np.arange(N) % 3 % 2
PRED_1 = np.where(rng.random(N) < 0.8, Y, 1 - Y)
PRED_2 = np.where(rng.random(N) < 0.7, Y, 1 - Y)
SCORE_1 = np.round(np.clip(0.3 + 0.4 * Y + rng.normal(0, 0.25, N), 0, 1), 3)
SCORE_2 = np.round(np.clip(0.35 + 0.3 * Y + rng.normal(0, 0.25, N), 0, 1), 3)
GROUPS = np.arange(N) // 10
PROBA = np.column_stack([1 - SCORE_1, SCORE_1])
FEATURES = np.column_stack([SCORE_1, SCORE_2, rng.normal(size=N)])
COSTS = CostMatrix([[0, 10], [1, 0]], rows="predicted", labels=[0, 1])
OTHER_COSTS = CostMatrix([[0, 4], [2, 0]], rows="predicted", labels=[0, 1])
RANGES = CostRanges([[0, 5], [1, 0]], [[0, 20], [2, 0]], rows="predicted", labels=[0, 1])
EXAMPLE_COSTS = ExampleCosts.from_matrix(COSTS, Y, factor=1.0 + np.arange(N) % 5)
COUNTS = [[30, 4], [6, 20]]
TREE = PETClassifier(random_state=0).fit(FEATURES, Y)


def frame():
    """Return a frame with the columns that `ARGUMENTS` name."""
    import pandas as pd

    columns = {"y": Y, "p1": PRED_1, "p2": PRED_2, "s1": SCORE_1, "s2": SCORE_2, "g": GROUPS}
    return pd.DataFrame(columns)


ROWS = {
    "y_true": Y,
    "y_pred": PRED_1,
    "y_pred_1": PRED_1,
    "y_pred_2": PRED_2,
    "y_score": SCORE_1,
    "y_score_1": SCORE_1,
    "y_score_2": SCORE_2,
}
"""Arguments that are a column of rows, in any container."""

ARGUMENTS: dict[str, Any] = {
    **ROWS,
    "X": FEATURES,
    "x": 0.5,
    "y": Y,
    "proba": PROBA,
    "predictions": {"a": PRED_1, "b": PRED_2},
    "y_scores": {"a": SCORE_1, "b": SCORE_2},
    "costs": COSTS,
    "labels": [0, 1],
    "decisions": [0, 1],
    "pos_label": 1,
    "neg_label": 0,
    "estimator": TREE,
    "estimator_1": TREE,
    "estimator_2": TREE,
    "estimators": {"a": PETClassifier(random_state=0), "b": PETClassifier(laplace=5)},
    "values": [[0, 10], [1, 0]],
    "rows": "predicted",
    "low": [[0, 5], [1, 0]],
    "high": [[0, 20], [2, 0]],
    "cells": {(0, 1): (5, 20), (1, 0): (1, 2)},
    "factor": 2.0,
    "size": 5,
    "false_positive": 1.0,
    "false_negative": 10.0,
    "prevalence": 0.2,
    "pc": 0.3,
    "slope": 1.5,
    "intercept": 0.2,
    "cost": 0.2,
    "q": 0.5,
    "threshold": 0.5,
    "volume": 100.0,
    "confidence": 0.9,
    "method": "auto",
    "name": "a",
    "names": ("a", "b"),
    "first": "a",
    "second": "b",
    "baseline": "a",
    "frame": frame,
    "actual": "y",
    "predicted": "p1",
    "score": "s1",
    "text": "% Rows Columns\n2 2\n0 1\n10 0\n",
    "fpr": 0.1,
    "tpr": 0.8,
    "n": 200,
    "rng": 0,
    "counts": COUNTS,
    "confusion": COUNTS,
    "paired": [[[60, 2], [7, 4]], [[3, 1], [3, 20]]],
    "thresholds": [0.9, 0.5, 0.1],
    "positives": [3, 2, 1],
    "negatives": [0, 2, 4],
    "path": "made.json",
    "other": lambda pool: pool["CostLine"],
    "curve": lambda pool: pool["CostCurve"],
    "scale": 2.0,
}
"""Valid arguments by name, wherever a parameter is called so; functions are called to make one."""

SPECIAL: dict[str, Any] = {
    "CostMatrix.relabel.names": {0: "no", 1: "yes"},
    "CostMatrix.values_for.labels": (0, 1),
    "CostMatrix.values_for.decisions": (0, 1),
    "CostDistribution.cdf.x": [0.5, 1.0],
    "CostMatrix.read.path": "costs.csv",
    "CostMatrix.write.path": "written.csv",
    "CostRanges.around.factor": 2.0,
    "CostSample.values": [0.0, 1.0, 10.0, 0.0, 1.0],
    "CostSample.low": None,
    "CostSample.high": None,
    "CostSample.from_labels.costs": EXAMPLE_COSTS,
    "CostSample.of_models.costs": EXAMPLE_COSTS,
    "ExampleCosts.values": np.tile([0.0, 1.0], (N, 1)),
    "ExampleCosts.high": None,
    "cheapest_probability.costs": RANGES,
    "cost_sensitivity.costs": RANGES,
    "GroupedConfusion.counts": [COUNTS, COUNTS],
    "GroupedConfusion.groups": ["u", "v"],
    "PairedConfusion.counts": [[[60, 2], [7, 4]], [[3, 1], [3, 20]]],
    "PairedConfusion.from_frame.predicted": ("p1", "p2"),
    "JointConfusion.from_frame.predicted": ["p1", "p2"],
    "PairedScoreCounts.from_frame.score": ("s1", "s2"),
    "JointConfusion.decided": [[0, 0], [1, 0], [1, 1]],
    "JointConfusion.actual": [0, 1, 1],
    "JointConfusion.counts": [5, 2, 3],
    "JointConfusion.from_codes.actual": Y,
    "JointConfusion.from_codes.decided": {"a": PRED_1, "b": PRED_2},
    "PairedScoreCounts.thresholds_1": [0.9, 0.1],
    "PairedScoreCounts.thresholds_2": [0.8, 0.2],
    "PairedScoreCounts.ranks_1": [0, 1, 1, 0],
    "PairedScoreCounts.ranks_2": [0, 1, 0, 1],
    "PairedScoreCounts.positive": [True, False, True, False],
    "BinnedScoreCounts.lowest": [0.5, 0.0],
    "BinnedScoreCounts.highest": [0.9, 0.4],
    "BinnedScoreCounts.positives": [3, 1],
    "BinnedScoreCounts.negatives": [1, 4],
    "BinnedScoreCounts.from_counts.counts": lambda _: stakes.ScoreCounts.from_scores(Y, SCORE_1),
    "batch_intervals.counts": [COUNTS, COUNTS],
    "plan_test_size.pilot": "Confusion",
    "plan_test_size.half_width": 0.5,
    "study_of.y_pred": {"a": PRED_1, "b": PRED_2},
    "study_of.y_score": {"a": SCORE_1, "b": SCORE_2},
    "Ranking.from_pairs.pairs": lambda pool: {("a", "b"): pool["PairedConfusion"]},
    "Ranking.from_samples.samples": lambda pool: {
        "a": pool["CostSample"],
        "b": pool["CostSample"],
    },
    "Ranking.pairs": lambda pool: {("a", "b"): pool["PairedConfusion"]},
    "choose_threshold.counts": "ScoreCounts",
    "power_curve.n": [100, 200],
    "power_curve.method": "normal",
    "type_one_error.method": "normal",
    "coverage.method": "normal",
    "power_curve.repeats": 20,
    "type_one_error.repeats": 20,
    "coverage.repeats": 20,
    "power.pilot": "PairedConfusion",
    "average_curves.curves": lambda pool: [pool["CostCurve"], pool["CostLine"]],
    "best_of.curves": lambda pool: [pool["CostCurve"], pool["CostLine"]],
    "roc_average.curves": lambda pool: [pool["CostCurve"], pool["CostLine"]],
    "RocCostDisplay.from_curves.curves": lambda pool: [pool["CostCurve"], pool["CostLine"]],
    "CostIntervalDisplay.from_estimates.estimates": lambda pool: {"a": pool["CostEstimate"]},
    "cost_table.estimates": lambda pool: {"a": pool["CostEstimate"]},
    "Accumulator.load.path": "totals.json",
    "PairedAccumulator.load.path": "paired.json",
    "ExampleThresholdChoice.on.y_score": SCORE_1,
    "ExampleThresholdChoice.on.costs": EXAMPLE_COSTS,
    "chance_confusion.confusion": "Confusion",
    "CostMatrix.rows": "predicted",
    "CostMatrix.from_gains.rows": "predicted",
    "CostRanges.rows": "predicted",
    "CostMatrix.from_frame.frame": COSTS.to_frame(),
    "CostDifference.paired": "PairedConfusion",
    "CostDifference.costs": COSTS,
    "CostEstimate.confusion": "Confusion",
    "CostEstimate.costs": COSTS,
    "Accumulator.counted.table": COUNTS,
    "PairedAccumulator.counted.table": [[[60, 2], [7, 4]], [[3, 1], [3, 20]]],
    "PairedAccumulator.add.counts": "PairedConfusion",
    "CostCurveDifference.counts": "PairedScoreCounts",
    "CostSample.minus.other": lambda pool: pool["CostSample"],
    "CostSample.from_labels.y_true": Y,
    "CostSample.of_models.y_true": Y,
    "GroupedConfusion.from_frame.groups": "g",
    "GroupedConfusion.from_labels.groups": GROUPS,
    "GroupedConfusion.from_labels.y_pred_2": PRED_2,
    "GroupedConfusion.with_counts.counts": [[[[5, 1], [2, 3]], [[1, 2], [1, 4]]]] * 6,
    "GroupedConfusion.with_counts.decisions": [0, 1],
    "ScoreCounts.reweighted.factors": np.ones((2, 2)),
    "choose_threshold.costs": COSTS,
    "Verdicts.where.name": lambda pool: pool["Verdicts"].names[0],
    "CostIntervalDisplay.costs": [0.5],
    "CostIntervalDisplay.names": ["a"],
    "CostIntervalDisplay.intervals": lambda pool: [pool["Interval"]],
    "CostSensitivityDisplay.from_labels.costs": RANGES,
    "ExampleCosts.from_matrix.factor": 1.0 + np.arange(N) % 5,
    "AverageCurve.curves": lambda pool: (pool["CostCurve"], pool["CostLine"]),
    "BestCurve.curves": lambda pool: (pool["CostCurve"], pool["CostLine"]),
    "RocCostDisplay.duals": lambda pool: pool["RocCostDisplay"].duals,
    "Design.class_priors": {0: 0.7, 1: 0.3},
    "compare_learners.cv": 3,
    "cost_sensitivity.steps": 5,
    "cost_sensitivity.n_draws": 100,
    "cheapest_probability.n_draws": 100,
    **{
        f"{kind}.at.pc": 0.3
        for kind in ("AverageCurve", "BestCurve", "BinnedCostCurve", "CostCurve", "CostLine")
    },
}
"""Arguments of one callable that are not what others call so."""


SEEDS = {
    "Choice": lambda: stakes.evaluate(Y, PRED_1, COSTS).choice,
    "CostCurveDifference": lambda: stakes.CostCurveDifference.from_scores(Y, SCORE_1, SCORE_2),
    "ExampleCosts": lambda: ExampleCosts.from_matrix(COSTS, factor=1.0 + np.arange(N) % 5),
    "ExampleThresholdChoice": lambda: stakes.choose_threshold(SCORE_1, EXAMPLE_COSTS),
    "GroupedConfusion": lambda: stakes.GroupedConfusion.from_labels(
        Y, PRED_1, GROUPS, y_pred_2=PRED_2
    ),
    "Measurements": lambda: stakes.simulate.coverage(
        ["normal", "t"], COUNTS, COSTS, repeats=20, rng=0
    ),
    "RocCostDisplay": lambda: stakes.show.RocCostDisplay.from_scores(Y, {"a": SCORE_1}),
    "ScoreCounts": lambda: stakes.ScoreCounts.from_scores(Y, SCORE_1, strata=GROUPS // 3),
}
"""Results that plain calls do not return, or not in the form that all their methods need."""

REFUSING = {"BestCurve.band", "BestCurve.moments"}
"""Methods that refuse whatever they are given, and say why."""


@dataclass
class Case:
    """A public callable, and how to call it."""

    name: str
    """Such as `CostMatrix.risk`, without the room."""

    call: Any
    owner: Any = None
    """Of a method that needs an instance: its class."""

    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def parameters(self):
        """The parameters that take one argument each, without `self`."""
        found = list(inspect.signature(self.call).parameters.values())
        return [
            each
            for each in found[1 if self.owner else 0 :]
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]


def public():
    """Return every public callable by its name: functions, constructors, methods."""
    found = {}
    for room in ROOMS:
        module = importlib.import_module(f"stakes.{room}" if room else "stakes")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value) or name in found:
                continue
            if hasattr(value, "fit"):
                continue  # checked by scikit-learn's own checks
            if callable(value):
                found[name] = Case(name, value)
            if inspect.isclass(value):
                found |= methods(name, value)
    return found


def methods(name, kind):
    """Return the public methods of a class that stakes itself defines."""
    found = {}
    for key in dir(kind):
        static = inspect.getattr_static(kind, key)
        if key.startswith("_") or not is_ours(static):
            continue
        if isinstance(static, classmethod | staticmethod):
            found[f"{name}.{key}"] = Case(f"{name}.{key}", getattr(kind, key))
        elif inspect.isfunction(static):
            found[f"{name}.{key}"] = Case(f"{name}.{key}", static, kind)
    return found


def is_ours(static):
    function = getattr(static, "__func__", static)
    return str(getattr(function, "__module__", "")).startswith("stakes")


class Pool(dict):
    """One instance of each kind of result, by the name of its class."""

    def keep(self, value, depth=3):
        """Keep what a call returned, and what that holds."""
        kind = type(value)
        if kind.__module__.startswith("stakes"):
            self.setdefault(kind.__name__, value)
            if is_dataclass(value) and depth:
                for each in fields(value):
                    self.keep(getattr(value, each.name, None), depth - 1)
        if isinstance(value, list | tuple) and depth:
            for each in value[:5]:
                self.keep(each, depth - 1)
        if isinstance(value, dict) and depth:
            for each in list(value.values())[:5]:
                self.keep(each, depth - 1)


def argument(case, parameter, pool):
    """Return a valid argument for a parameter, or raise LookupError."""
    made = SPECIAL.get(f"{case.name}.{parameter.name}", SPECIAL)
    if made is SPECIAL and is_dataclass(case.call) and case.name in pool:
        return getattr(pool[case.name], parameter.name)  # of a result that stakes made
    if made is SPECIAL:
        for word in re.findall(r"\w+", str(parameter.annotation)):
            if word in pool and parameter.name != "costs":
                return pool[word]
        made = ARGUMENTS.get(parameter.name, SPECIAL)
    if made is SPECIAL:
        raise LookupError(parameter.name)
    if isinstance(made, str) and made in KINDS:
        return pool[made]
    if inspect.isfunction(made):
        return made(pool) if inspect.signature(made).parameters else made()
    return made


KINDS = {"ScoreCounts", "Confusion", "PairedConfusion", "PairedScoreCounts"}


def required(case, pool):
    """Return arguments for parameters without a default, for seeds and for those in SPECIAL."""
    return {
        each.name: argument(case, each, pool)
        for each in case.parameters
        if each.default is each.empty or f"{case.name}.{each.name}" in SPECIAL or each.name == "rng"
    }


def receiver(case, pool):
    """Return what a method is called on."""
    if case.owner is None:
        return ()
    return (pool[case.owner.__name__],)


@contextmanager
def limited(seconds):
    """Interrupt what takes longer."""

    def stop(*_):
        raise TimeoutError

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def called(case, pool, **changes):
    """Call with valid arguments, some of them changed."""
    with warnings.catch_warnings(), limited(20):
        warnings.simplefilter("ignore")
        return case.call(*receiver(case, pool), **(case.kwargs | changes))


def prepared():
    """Return every public callable with arguments, and a result of each kind.

    What can be called is called; its results are arguments and receivers of others. Those left are
    returned too, with what they lack.
    """
    cases, pool, left = public(), Pool(), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool.update({name: make() for name, make in SEEDS.items()})
    waiting = dict(cases)
    while waiting:
        before = len(waiting)
        left = {}
        for name, case in list(waiting.items()):
            try:
                case.kwargs = required(case, pool)
                pool.keep(called(case, pool))
            except Exception as error:  # noqa: BLE001 - reported by the test
                left[name] = error
            else:
                del waiting[name]
        if len(waiting) == before:
            break
    return cases, pool, left
