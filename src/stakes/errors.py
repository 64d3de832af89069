"""Everything that stakes raises or warns with.

Every error names the argument (or the file, row and column), what is allowed, what came, and what
to do. Each also is the built-in error that scientific Python would raise in its place, so that
``except ValueError`` keeps working.
"""

from __future__ import annotations


class StakesError(Exception):
    """Base of all errors that stakes raises on purpose.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.errors import StakesError
    >>> try:
    ...     CostMatrix([[0, 5], [1, 0]], rows="predicted", labels=["ok"])
    ... except StakesError as error:
    ...     print(type(error).__name__)
    InputError
    """


class InputError(StakesError, ValueError):
    """An argument has a value that cannot be used.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> CostMatrix.from_errors(false_positive=1, false_negative=float("nan"))
    Traceback (most recent call last):
    stakes.errors.InputError: ...
    """


class InputTypeError(StakesError, TypeError):
    """An argument is missing, or of a kind that cannot be used.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> CostMatrix([[0, 5], [1, 0]], labels=["ok", "fraud"])  # what are the rows?
    Traceback (most recent call last):
    stakes.errors.InputTypeError: ...
    """


class LabelError(InputError):
    """A label is missing, unknown, or given twice.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, expected_cost
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> expected_cost(Confusion([[5, 1], [0, 4]], labels=["ok", "fraud"]), costs)
    Traceback (most recent call last):
    stakes.errors.LabelError: ...
    """


class FileError(InputError):
    """A file cannot be read or written, or does not say what it should.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> CostMatrix.read("there is no such file.csv")
    Traceback (most recent call last):
    stakes.errors.FileError: ...
    """


class MissingExtraError(StakesError, ImportError):
    """An optional library is needed and is not installed.

    Examples
    --------
    >>> from stakes.errors import MissingExtraError
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class EngineError(StakesError, RuntimeError):
    """An engine failed while it read or counted a data frame; nothing was counted.

    Examples
    --------
    >>> from stakes.errors import EngineError
    >>> issubclass(EngineError, RuntimeError)
    True
    """


class DesignError(InputError):
    """A method cannot treat the way in which the examples came.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> evaluate([0, 0, 1], [0, 1, 1], costs, groups=[1, 1, 2], class_priors=[0.9, 0.1])
    Traceback (most recent call last):
    stakes.errors.DesignError: ...
    """


class StakesWarning(UserWarning):
    """Base of all warnings that stakes issues.

    Examples
    --------
    >>> import warnings
    >>> from stakes import CostMatrix, compare
    >>> from stakes.errors import StakesWarning
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", StakesWarning)
    ...     try:
    ...         compare([0, 0, 1], [0, 1, 1], [0, 0, 1], costs).test()
    ...     except StakesWarning as warning:
    ...         print(type(warning).__name__)
    RareCostWarning
    """


class RareCostWarning(StakesWarning):
    """The outcomes that matter most were seen too rarely for the usual test.

    Examples
    --------
    >>> import warnings
    >>> from stakes import CostMatrix, compare
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = compare([0, 0, 1], [0, 1, 1], [0, 0, 1], costs).test()
    >>> [each.category.__name__ for each in caught]
    ['RareCostWarning']
    """


class ConstantCostWarning(StakesWarning):
    """All outcomes cost the same, so an interval has no width.

    Examples
    --------
    >>> import warnings
    >>> from stakes import CostMatrix, evaluate
    >>> costs = CostMatrix([[2, 2], [2, 2]], rows="predicted", labels=[0, 1])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     interval = evaluate([0, 1], [0, 1], costs).interval()
    >>> [each.category.__name__ for each in caught], interval.width
    (['ConstantCostWarning'], 0.0)
    """


class ConstantDecisionWarning(StakesWarning):
    """One decision is the cheapest for every training example, so no other is ever taken.

    Examples
    --------
    >>> from stakes.errors import ConstantDecisionWarning, StakesWarning
    >>> issubclass(ConstantDecisionWarning, StakesWarning)
    True
    """


class ToleranceWarning(StakesWarning):
    """A result is not as close to the exact one as was asked for.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from stakes import BinnedScoreCounts
    >>> scores = [0.3, np.nextafter(0.3, 1)]  # too close together for any bins
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     counts = BinnedScoreCounts.from_scores([1, 0], scores, tolerance=1e-9)
    >>> [each.category.__name__ for each in caught]
    ['ToleranceWarning']
    """
