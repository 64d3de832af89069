"""Errors of input: their three parts, and the names of arguments on the command line."""

import pickle
from typing import get_args

import pytest

from stakes._core import validate
from stakes.cli.main import ADVICE
from stakes.errors import (
    Code,
    DesignError,
    FileError,
    InputError,
    InputTypeError,
    LabelError,
    StakesError,
    spelled,
)

KINDS = (InputError, InputTypeError, LabelError, FileError, DesignError)
OPTIONS = {"costs": "--costs", "pos_label": "--pos-label", "rows": "--rows", "smooth": "--smooth"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_has_three_parts(kind):
    error = kind("pos_label", "expected a label, got None.", "Name the positive class.")
    assert str(error) == "pos_label: expected a label, got None. Name the positive class."
    assert (error.argument, error.problem) == ("pos_label", "expected a label, got None.")
    assert error.remedy == "Name the positive class."


def test_the_argument_and_the_remedy_may_be_missing():
    assert str(InputError("", "there are no outcomes yet.")) == "there are no outcomes yet."
    assert str(InputError("n", "got 0.")) == "n: got 0."
    assert str(InputError("", "there is none.", "Call update.")) == "there is none. Call update."


@pytest.mark.parametrize("kind", KINDS)
def test_errors_stay_what_they_are_in_another_process(kind):
    error = kind("rows", "expected text, got 1.", "Give rows='actual'.", code="not_probabilities")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert type(again) is kind
    assert (again.args, again.code) == (error.args, error.code)
    assert again.message(OPTIONS.get) == error.message(OPTIONS.get)


def test_errors_are_the_built_in_ones_too():
    assert all(issubclass(kind, StakesError) for kind in KINDS)
    assert issubclass(InputTypeError, TypeError)
    assert all(issubclass(kind, ValueError) for kind in KINDS if kind is not InputTypeError)


def test_the_parts_are_spelled_as_options():
    error = InputError("pos_label, other", "without rows= it is unknown.", "Give pos_label=.")
    expected = "--pos-label, other: without --rows it is unknown. Give --pos-label."
    assert error.message(OPTIONS.get) == expected
    assert str(error) == "pos_label, other: without rows= it is unknown. Give pos_label=."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Give rows='actual'.", "Give --rows actual."),
        ("Try smooth=0.5, or smooth=1.", "Try --smooth 0.5, or --smooth 1."),
        ("Name both: pos_label=, rows=.", "Name both: --pos-label, --rows."),
        ("Give costs=. Or give rng=0. Or else wait.", "Give --costs. Or else wait."),
        ("Is it rng=? Then stop! Give rows=.", "Then stop! Give --rows."),
        ("Use rng=.", ""),
        ("Use CostMatrix(values, rows=...).", "Use CostMatrix(values, --rows...)."),
        ("It is a == b, or rows=None.", "It is a == b, or rows=None."),
        ("", ""),
    ],
)
def test_sentences_on_what_cannot_be_given_are_dropped(text, expected):
    assert spelled(text, OPTIONS.get) == expected


def test_a_problem_is_never_dropped_altogether():
    assert InputError("n", "got rng=.", "Give rng=.").message(OPTIONS.get) == "n: got rng=."


def test_files_are_not_spelled_as_options():
    assert FileError("costs", "it is empty.").message(OPTIONS.get) == "costs: it is empty."
    assert FileError("rows, line 2", "no.").message(OPTIONS.get) == "rows, line 2: no."
    assert (
        FileError("costs", "no.", "Give rows=.").message(OPTIONS.get) == "costs: no. Give --rows."
    )
    error = LabelError("costs, column 'a'", "there is no label.")
    assert error.message(OPTIONS.get, {"costs"}) == str(error)


def test_the_command_line_has_advice_on_every_code():
    assert set(ADVICE) == set(get_args(Code))


@pytest.mark.parametrize(
    ("lengths", "odd"),
    [
        ({"y_true": 2, "y_pred": 3}, "y_pred"),
        ({"groups": 1, "y_pred": 2, "y_true": 2}, "groups"),
        ({"y_true": 2, "y_score_1": 2, "y_score_2": 1}, "y_score_2"),
    ],
)
def test_the_argument_of_another_length_is_named(lengths, odd):
    with pytest.raises(InputError, match=f"{odd} has {lengths[odd]} rows") as raised:
        validate.same_length(lengths)
    assert raised.value.argument == odd
