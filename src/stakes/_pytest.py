"""pytest plug-in: the fixture ``cost_gate``, which fails a test if a model costs too much.

pytest loads this file wherever stakes is installed, so it imports only pytest until the fixture is
used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest


class CostGate:
    """Gate that fails a test if a model costs too much; models that cannot be judged are errors."""

    def cheaper(
        self,
        candidate: str,
        *,
        than: str,
        file: Any,
        costs: Any,
        margin: float = 0.0,
        **options: Any,
    ) -> None:
        """Fail unless a model is shown to cost less than another model plus a margin.

        Parameters
        ----------
        candidate, than : str
            The policies: ``new``, ``new@0.31``, ``new@best``.
        file : str, path, data frame or mapping of columns
            The predictions of both.
        costs : CostMatrix, mapping, or path
            The cost of each decision, or the file that contains the costs.
        margin : float, default 0
            Limit on the extra cost per decision; with 0, the model must be shown to be cheaper.
        **options
            Options of `stakes.study_of` for a data frame: actual, pos_label, groups, ….
        """
        __tracebackhide__ = True
        _judge(candidate, than, file, costs, margin=margin, options=options)

    def not_costlier(
        self, candidate: str, *, than: str, file: Any, costs: Any, **options: Any
    ) -> None:
        """Fail if a model is shown to cost more than another; arguments as in `cheaper`."""
        __tracebackhide__ = True
        _judge(candidate, than, file, costs, margin=None, options=options)


def _judge(
    candidate: str,
    than: str,
    file: Any,
    costs: Any,
    *,
    margin: float | None,
    options: dict[str, Any],
) -> None:
    __tracebackhide__ = True
    from stakes.costs import CostMatrix
    from stakes.errors import InputError
    from stakes.policies._assemble import Asked
    from stakes.read.tables import is_frame
    from stakes.study import study_of, study_of_files

    if isinstance(costs, str | os.PathLike):
        costs = CostMatrix.read(costs, rows=options.pop("rows", None))
    if is_frame(file):
        study = study_of(file, costs, baseline=than, **options)
    else:
        study = study_of_files([os.fspath(file)], costs, *_columns(options), **options)
    study = replace(study, asked=Asked(than, (candidate,)))
    gate = study.policies.gate(margin=margin)
    for name, why in gate.unjudged.items():
        raise InputError("file", f"could not judge {name}: {why}.")
    if not gate.passed:
        pairs = [f"{each.first} minus {each.second}: {each.difference:.4g}" for each in gate.pairs]
        tests = [test.summary() for test in gate.tests]
        lines = [gate.summary(), *pairs, *tests, f"The gate: {gate.rule}"]
        pytest.fail("\n".join(lines), pytrace=False)


def _columns(options: dict[str, Any]) -> tuple[Any, Any]:
    """Remove the columns from the options; return them, and a progress reporter without output."""
    from stakes.predictions import Columns, DesignColumns, Reading

    def taken(names: Sequence[str]) -> dict[str, Any]:
        return {name: options.pop(name) for name in names if name in options}

    design = DesignColumns(**taken(["groups", "sample_weight", "strata"]))
    reading = Reading(**taken(["ignore_case", "drop_missing", "lower_is_positive"]))
    named = taken(["actual", "models", "scores", "key", "model_column"])
    return Columns(**named, design=design, reading=reading), _Untold()


class _Untold:
    """Progress reporter that does nothing."""

    def expect(self, steps: int) -> None:
        """Ignore the number of further steps."""

    def step(self, text: str) -> None:
        """Ignore the next step."""

    def reach(self, done: int, total: int, text: str) -> None:
        """Ignore the number of steps done."""


@pytest.fixture
def cost_gate() -> CostGate:
    """Return a gate on model costs: ``cost_gate.cheaper("new", than="old", file=, costs=)``."""
    return CostGate()
