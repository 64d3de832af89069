"""Every public callable of the package, with arguments for a valid call.

Public names are those that the modules of the reference export. Their arguments are recorded while
the examples in the docstrings run. Therefore a new public name with an example is checked without a
test, or arguments, of its own.
"""

import contextlib
import copy
import doctest
import inspect
import io
import sys
import warnings
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

from tools.docstrings import exported, rooms

ELSEWHERE = {"stakes.errors", "stakes.track"}
"""Modules with tests of their own: errors and warnings are not results, and MLflow needs a
database."""

LONG = {"write_report", "report", "Study.report", "Study.show"}
"""Names whose calls take seconds: their own tests check them, and, of the tests that use these
cases, only the long one of all bad arguments."""


@dataclass
class Case:
    """A public callable, and its call in the examples."""

    name: str
    """Name without the module, such as `CostMatrix.risk`."""

    call: Any
    owner: Any = None
    """The class of a method that needs an instance, otherwise None."""

    given: dict[str, Any] | None = None
    """The arguments; None if no example shows any."""

    result: Any = None
    seconds: float = 0.0

    @property
    def function(self):
        """The Python function that a call runs."""
        function = self.call.__init__ if inspect.isclass(self.call) else self.call
        return inspect.unwrap(getattr(function, "__func__", function))

    @property
    def kind(self):
        """The class that it is called on, or that it constructs."""
        if inspect.isclass(self.call):
            return self.call
        return self.owner or getattr(self.call, "__self__", None)

    @property
    def parameters(self):
        """The parameters that take one argument each, without `self`."""
        found = list(inspect.signature(self.call).parameters.values())
        several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return [each for each in found[bool(self.owner) :] if each.kind not in several]

    def called(self, **changes):
        """Call as in the examples, with some arguments changed."""
        given = {**self.given, **changes}
        own = [given.pop("self")] if self.owner else []
        if own and not is_dataclass(own[0]):  # a call may change it
            own = copy.deepcopy(own)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.call(*own, **given)


def public():
    """Return every public callable by its name: functions, constructors, methods."""
    found = {}
    for room in [*rooms(), import_module("stakes.policies")]:
        for full, value in {} if room.__name__ in ELSEWHERE else exported(room).items():
            name = full.rpartition(".")[2]
            if hasattr(value, "fit"):
                continue  # an estimator, which tests/learn tests by scikit-learn's own checks
            found.setdefault(name, Case(name, value))
            if inspect.isclass(value):
                found |= methods(name, value)
    return found


def methods(name, kind):
    """Return the public methods of a class that stakes itself defines."""
    found = {}
    for key in dir(kind):
        static = inspect.getattr_static(kind, key)
        inner = getattr(static, "__func__", static)
        ours = str(getattr(inner, "__module__", "")).startswith("stakes")
        if key.startswith("_") or not ours or not inspect.isroutine(static) or not callable(inner):
            continue
        bound = inner is not static
        call = getattr(kind, key) if bound else static
        found[f"{name}.{key}"] = Case(f"{name}.{key}", call, None if bound else kind)
    return found


class Watch:
    """Profiler that records calls of public callables, and an object of each class."""

    def __init__(self, cases):
        functions = [case.function for case in cases if hasattr(case.function, "__code__")]
        self.functions = {id(each.__code__): each for each in functions}  # equal codes differ
        self.open: dict[Any, Any] = {}
        self.done: list[Any] = []
        self.calls: dict[Any, dict[Any, tuple[Any, Any, float]]] = {}
        self.results: dict[type, Any] = {}

    def __call__(self, frame, event, value):
        """Handle an event of `sys.setprofile`."""
        if event == "call" and id(frame.f_code) in self.functions:
            self.open[frame] = dict(frame.f_locals), process_time()
        elif event == "return" and frame in self.open:
            given, start = self.open.pop(frame)
            self.done.append((id(frame.f_code), given, value, process_time() - start))
        elif event == "return" and type(value).__module__.startswith("stakes."):
            self.results.setdefault(type(value), value)

    def keep(self):
        """Keep the calls of an example that ran to its end."""
        for code, given, value, seconds in self.done:
            function, receiver = self.functions[code], given.get("self", given.get("cls"))
            failed = value is None and function.__annotations__.get("return") not in NOTHING
            kind = receiver if inspect.isclass(receiver) or receiver is None else type(receiver)
            if not failed:
                self.calls.setdefault(function, {}).setdefault(kind, (given, value, seconds))
            for each in (receiver, value):
                self.results.setdefault(type(each), each)

    def run(self, text):
        """Run the examples of a docstring."""
        names: dict[str, Any] = {}
        for example in doctest.DocTestParser().get_examples(inspect.cleandoc(text or "")):
            code = compile(example.source, "<example>", "single")
            self.done = []
            sys.setprofile(self)
            try:
                exec(code, names)  # noqa: S102 - our own examples
            except Exception:  # noqa: BLE001, S112 - which the example may demonstrate
                continue
            finally:
                sys.setprofile(None)
            self.keep()


NOTHING = ("None", None)
"""Return annotations of functions that return nothing."""


def prepared():
    """Return every public callable with arguments, and a result of each class.

    The examples of a callable run only if others have not shown how it is called.
    """
    cases = public()
    watch = Watch(cases.values())
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for name, case in cases.items():
            if case.kind not in watch.calls.get(case.function, {}) and name not in LONG:
                watch.run(inspect.getdoc(case.call))
    for writes in (True, False):  # before what reads the same file
        for name, case in cases.items():
            if name.endswith((".save", ".write")) is writes:
                fill(case, watch)
    return cases, watch.results


def fill(case, watch):
    """Give a callable the arguments of an example: its own, or that of a related class."""
    calls = watch.calls.get(case.function, {})
    other = next(iter(calls.values()), ({}, None, 0.0))
    given, case.result, case.seconds = calls.get(case.kind, other)
    case.given = {each.name: given.get(each.name, each.default) for each in case.parameters}
    if case.owner is not None:
        case.given["self"] = given["self"] if case.kind in calls else watch.results.get(case.owner)
    if isinstance(case.given.get("path"), str | Path):  # in a folder that is gone
        stem = getattr(case.kind, "__name__", case.name)
        case.given["path"] = f"{stem}{Path(case.given['path']).suffix}"
    lacks = any(each is inspect.Parameter.empty for each in case.given.values())
    if lacks or (case.owner is not None and case.given["self"] is None):
        case.given = None
    elif case.kind not in calls or "path" in case.given:
        start = process_time()
        try:
            case.result = case.called()
        except Exception:  # noqa: BLE001 - which the test reports
            case.given = None
        case.seconds = process_time() - start
