"""Errors and warnings of stakes.

An input error has three parts: the argument (or the file, line and column), the problem (what is
allowed and what was given), and the remedy. Texts write arguments as Python does, ``pos_label=``;
the command line shows them as its options, ``--pos-label``. Each error is also the built-in error
that scientific Python would raise in its place, so that ``except ValueError`` keeps working.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Container, Mapping
from typing import ClassVar, Literal

__all__ = [
    "ConstantCostWarning",
    "ConstantDecisionWarning",
    "DesignError",
    "EngineError",
    "FileError",
    "InputError",
    "InputTypeError",
    "InputWarning",
    "LabelError",
    "MissingExtraError",
    "NotClaimedWarning",
    "PlanError",
    "RefusedInputError",
    "StakesError",
    "StakesWarning",
    "ToleranceWarning",
]


Code = Literal["count_file_not_alone", "not_probabilities", "too_many_scores"]
"""Codes of problems on which programs give advice of their own."""


PASSWORD = re.compile(
    r"(://[^\s:/@]*:)(?:\S*|[^\n]*?)(?=@)|([?&][a-z]*password=)[^&\s]*", re.IGNORECASE
)
"""The password in an address such as ``postgresql://user:password@host/db``."""


def redacted(text: str) -> str:
    """Return a text in which the passwords of addresses are masked."""
    return PASSWORD.sub(r"\1\2***", text)


LONG_VALUE = re.compile(r"(['\"])((?:(?!\1).){200})(?:(?!\1).){600,}\1", re.DOTALL)
"""A quoted value of 800 or more characters in a text."""

MOST_SHOWN = 4000
"""Maximum length of a part of an error, in characters: a cell of a file may have millions."""


def shortened(text: str) -> str:
    """Return a text that is cut to about `MOST_SHOWN` characters, its long values first."""
    if len(text) <= MOST_SHOWN:
        return text
    text = LONG_VALUE.sub(lambda found: f"{found[1]}{found[2]}…{found[1]}", text)
    half = MOST_SHOWN // 2
    return text if len(text) <= MOST_SHOWN else f"{text[:half]} … {text[-half:]}"


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


class RefusedInputError(StakesError):
    """Base of the errors about input, with the place of the problem, the problem and the remedy.

    Parameters
    ----------
    argument : str
        The argument, or the file, line and column; empty if the problem is in none of them.
    problem : str
        The problem: what is allowed and what was given.
    remedy : str
        The remedy, if it is not clear from the problem.
    code : str, optional
        Code of the problem, for programs that give advice of their own on it.
    proposal : mapping of str, optional
        Arguments that solve the problem, with their values.

    Examples
    --------
    >>> from stakes.errors import InputError, RefusedInputError
    >>> issubclass(InputError, RefusedInputError)
    True
    """

    in_a_file: ClassVar[bool] = False
    """Whether `argument` is a place in a file, which has the same name in every interface."""

    def __init__(
        self,
        argument: str,
        problem: str,
        remedy: str = "",
        *,
        code: Code | None = None,
        proposal: Mapping[str, str] | None = None,
    ) -> None:
        argument, problem, remedy = (
            shortened(redacted(each)) for each in (argument, problem, remedy)
        )
        super().__init__(argument, problem, remedy)
        self.argument = argument
        self.problem = problem
        self.remedy = remedy
        self.code = code
        self.proposal = dict(proposal or {})

    def __str__(self) -> str:
        return self.message()

    def message(
        self, spell: Callable[[str], str | None] | None = None, files: Container[str] = ()
    ) -> str:
        """Return the three parts as text.

        Parameters
        ----------
        spell : callable, optional
            Returns the name of an argument in the reader's interface, or None if it does not exist
            there; advice that needs such an argument is left out.
        files : container of str
            Names of files, which are kept even if an argument has the same name.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> from stakes.errors import InputError
        >>> error = InputError("labels", "which class is positive?", "Name it with pos_label=.")
        >>> error.message({"pos_label": "--pos-label"}.get)
        'labels: which class is positive? Name it with --pos-label.'
        """
        where, problem, remedy = self.argument, self.problem, self.remedy
        if spell is not None:
            names = [] if self.in_a_file else where.split(", ")
            called = [name if name in files else spell(name) or name for name in names]
            where = ", ".join(dict.fromkeys(called)) or where
            problem = spelled(problem, spell) or problem
            remedy = spelled(remedy, spell)
        text = f"{problem} {remedy}".strip()
        return f"{where}: {text}" if where else text


ARGUMENT = re.compile(r"\b([a-z][a-z_]*)=(?:'(\w+)'|(\d[\d.]*\d|\d))?(?![\w'\"])")
"""An argument in a text, such as ``pos_label=``, ``rows='actual'`` or ``smooth=0.5``."""


def spelled(text: str, spell: Callable[[str], str | None]) -> str:
    """Return a text with its arguments renamed, without sentences about unknown ones."""

    def called(found: re.Match[str]) -> str:
        return " ".join(filter(None, (spell(found[1]), found[2], found[3])))

    sentences = re.split(r"(?<=[.?!]) (?=[A-Z])", text)
    return " ".join(
        ARGUMENT.sub(called, sentence)
        for sentence in sentences
        if all(spell(found[0]) for found in ARGUMENT.findall(sentence))
    )


class InputError(RefusedInputError, ValueError):
    """An argument has a value that cannot be used.

    Parameters
    ----------
    argument : str
        The argument, or the file, line and column; empty if the problem is in none of them.
    problem : str
        The problem: what is allowed and what was given.
    remedy : str
        The remedy, if it is not clear from the problem.
    code : str, optional
        Code of the problem, for programs that give advice of their own on it.
    proposal : mapping of str, optional
        Arguments that solve the problem, with their values.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> CostMatrix.from_errors(false_positive=1, false_negative=float("nan"))
    Traceback (most recent call last):
    stakes.errors.InputError: ...
    """


class InputTypeError(RefusedInputError, TypeError):
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
    """A file cannot be read or written, or its content is not valid.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> CostMatrix.read("there is no such file.csv")
    Traceback (most recent call last):
    stakes.errors.FileError: ...
    """

    in_a_file = True


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
    """A method does not support the sampling design of the examples.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> evaluate([0, 0, 1], [0, 1, 1], costs, strata="class").interval(method="anytime")
    Traceback (most recent call last):
    stakes.errors.DesignError: ...
    """


class PlanError(InputError):
    """No test set or number of labels reaches the goal of a plan.

    Examples
    --------
    >>> from stakes import CostMatrix, plan_test_size
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> plan_test_size(costs, half_width=1e-6)
    Traceback (most recent call last):
    stakes.errors.PlanError: ...
    """


class StakesWarning(UserWarning):
    """Base of all warnings that stakes issues.

    Examples
    --------
    >>> import warnings
    >>> from stakes import CostMatrix, evaluate
    >>> from stakes.errors import StakesWarning
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", StakesWarning)
    ...     try:
    ...         evaluate([0, 0, 1], [0, 1, 1], costs, groups=[1, 1, 2]).interval()
    ...     except StakesWarning as warning:
    ...         print(type(warning).__name__)
    NotClaimedWarning
    """


class NotClaimedWarning(StakesWarning):
    """The confidence level is not claimed: for example, a few groups, weights or amounts dominate.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     limits = evaluate([0, 0, 1], [0, 1, 1], costs, groups=[1, 1, 2]).interval()
    >>> [each.category.__name__ for each in caught]
    ['NotClaimedWarning']
    """


class InputWarning(StakesWarning):
    """The rows may have been misread: for example, they may not be independent.

    Examples
    --------
    >>> import warnings
    >>> from stakes import study_of
    >>> rows = {"patient": [1, 1, 2, 2], "actual": [0, 0, 0, 1], "pred": [0, 0, 1, 1]}
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     study = study_of(rows, {"false_positive": 1, "false_negative": 5})
    >>> [each.category.__name__ for each in caught]
    ['InputWarning']
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
    """A result is not within the requested tolerance of the exact one.

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


# Warnings that point at the user's line, wherever in the package they are issued.


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line outside of stakes that called into it."""
    depth, frame = 2, sys._getframe(1)  # noqa: SLF001 - to find the caller
    while frame.f_back and str(frame.f_globals.get("__name__", "")).split(".")[0] == "stakes":
        frame = frame.f_back
        depth += 1
    warnings.warn(message, category, stacklevel=depth)
