"""Intervals and distributions of whatever has outcomes and a design."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

from stakes.errors import InputTypeError
from stakes.infer.designs import Design
from stakes.infer.distribution import CostDistribution
from stakes.infer.interval import Interval
from stakes.infer.methods.exact import distributions
from stakes.infer.outcomes import Outcomes
from stakes.infer.run import check_design, limits, options_for, with_laplace

DESIGN_OPTIONS = ("class_priors", "strata", "impossible")


class Inference(ABC):
    """What an estimate and a difference have in common."""

    design: Design

    @abstractmethod
    def outcomes(self) -> Outcomes:
        """Return the possible outcomes of a decision and how often each came."""

    @abstractmethod
    def default_method(self) -> str:
        """Return the method that "auto" stands for."""

    @abstractmethod
    def default_laplace(self) -> float:
        """Return the λ of the methods that take one."""

    def interval(self, confidence: float = 0.95, method: str = "auto", **options: Any) -> Interval:
        """Return a confidence interval for the mean per decision.

        Parameters
        ----------
        confidence : float, default 0.95
            How sure the interval is to be.
        method : str, default "auto"
            "auto", "extremal", "bcost", "exact", "normal", "t", "bca", "dirichlet", "likelihood",
            "guaranteed" or "anytime"; see the page on choosing a method.
        **options
            What the method takes: ``weight`` and ``conservative`` (extremal), ``laplace`` (bcost,
            exact), ``n_resamples`` and ``rng`` (bcost). And what describes the design:
            ``class_priors``, ``strata``, ``impossible``.
        """
        this = self.with_design(options)
        chosen = this.chosen_method(method, options)
        suit = options_for if method == "auto" else with_laplace
        settings = suit(chosen, options, this.default_laplace())
        low, high = limits(this.outcomes(), confidence, chosen, settings)
        return Interval(float(low[0]), float(high[0]), float(confidence), chosen)

    def chosen_method(self, method: str, options: dict[str, Any]) -> str:
        """Return the method to use; who asks for the conservative interval gets the extremal."""
        if method != "auto":
            return method
        return "extremal" if options.get("conservative") else self.default_method()

    def distribution(self, laplace: Any = None, **options: Any) -> CostDistribution:
        """Return the exact bootstrap distribution of the mean per decision.

        Parameters
        ----------
        laplace : float, array_like or "auto", optional
            The Laplace correction; by default that of the interval method "exact".
        **options
            What describes the design: ``class_priors``, ``strata``, ``impossible``.
        """
        this = self.with_design(options)
        if options:
            raise InputTypeError(f"{next(iter(options))}: distribution has no such option.")
        outcomes = this.outcomes()
        check_design("exact", outcomes.design)
        given = this.default_laplace() if laplace is None else laplace
        return distributions(outcomes, given, 0.05)[0]

    def with_design(self, options: dict[str, Any]) -> Self:
        """Take what describes the design out of `options`, and return the same with that design."""
        given = {name: options.pop(name) for name in DESIGN_OPTIONS if name in options}
        if not given:
            return self
        return replace(self, design=replace(self.design, **given))  # type: ignore[type-var]
