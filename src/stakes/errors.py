"""Everything that stakes raises or warns with.

Every error names the argument (or the file, row and column), what is allowed, what came, and what
to do. Each also is the built-in error that scientific Python would raise in its place, so that
``except ValueError`` keeps working.
"""

from __future__ import annotations


class StakesError(Exception):
    """Base of all errors that stakes raises on purpose."""


class InputError(StakesError, ValueError):
    """An argument has a value that cannot be used."""


class InputTypeError(StakesError, TypeError):
    """An argument is missing, or of a kind that cannot be used."""


class LabelError(InputError):
    """A label is missing, unknown, or given twice."""


class FileError(InputError):
    """A file cannot be read or written, or does not say what it should."""


class MissingExtraError(StakesError, ImportError):
    """An optional library is needed and is not installed."""


class EngineError(StakesError, RuntimeError):
    """An engine failed while it read or counted a data frame; nothing was counted."""


class DesignError(InputError):
    """A method cannot treat the way in which the examples came."""


class StakesWarning(UserWarning):
    """Base of all warnings that stakes issues."""


class RareCostWarning(StakesWarning):
    """The outcomes that matter most were seen too rarely for the usual test."""


class ConstantCostWarning(StakesWarning):
    """All outcomes cost the same, so an interval has no width."""


class ConstantDecisionWarning(StakesWarning):
    """One decision is the cheapest for every training example, so no other is ever taken."""


class ToleranceWarning(StakesWarning):
    """A result is not as close to the exact one as was asked for."""
