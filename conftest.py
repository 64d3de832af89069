"""Run the code in the guides and in the README as tests, and distribute tests over processes."""

import inspect
import os
from doctest import NORMALIZE_WHITESPACE, DocTestFinder
from importlib.util import find_spec

import pytest
from hypothesis import settings
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser

# The test processes share the cores; additional threads of linear algebra would wait for one
# another, above all on a busy machine. This must be set before numpy is loaded.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Public functions are wrapped: doctest finds their examples only by the inner function's module.
is_from = DocTestFinder._from_module  # noqa: SLF001
DocTestFinder._from_module = lambda self, module, each: is_from(  # noqa: SLF001
    self, module, inspect.unwrap(each)
)

collect_ignore_glob = ["docs/*.py"]  # the gallery runs when the documentation is built
if find_spec("mlflow") is None:
    collect_ignore_glob.append("src/stakes/track/*.py")  # its examples log to MLflow

# The same input each time, so that a change fails only because of its own faults;
# `make test-search` searches for new input. No deadline: a busy machine is not a failure.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("same")

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=NORMALIZE_WHITESPACE)],
    patterns=["*.md"],
    excludes=["changelog.d/**"],
).pytest()

# Test files that grow lazy trees, whose kernel takes a minute to compile: one process runs them
# all, so that the kernel is compiled once.
WITH_KERNEL = (
    "docs/explanation/trees.md",
    "docs/howto/probability_trees.md",
    "src/stakes/learn/trees/",
    "tests/learn/test_lazy_",
)
# Folders with the longest files, which start first, so that all processes have work at the end.
LONG = (
    "tests/browser/test_report",
    "tests/browser/",
    "tests/cli/",
    "tests/replications/",
    "tests/engines/",
    "tests/show/",
    "tests/study/",
    "docs/",
)

# Folders whose tests check what commands and pages show for the same few tables.
SAME_TABLES = (
    "tests/browser/",
    "tests/cli/",
    "tests/findings/",
    "tests/show/",
    "tests/study/",
    "tests/test_documents.py",
    "tests/test_tutorial.py",
    "tests/track/",
)


def pytest_runtest_setup(item):
    """Cache the limits of the same tables in folders that do not test the limits themselves."""
    from _helpers import once

    once.keep(active=item.nodeid.startswith(SAME_TABLES))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file in one process, as the examples of a guide build on one another."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "kernel" if file.startswith(WITH_KERNEL) else file

    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items):
    """Start with the tests that take longest."""
    order = [WITH_KERNEL, *LONG]
    items.sort(
        key=lambda item: next(
            (i for i, start in enumerate(order) if item.nodeid.startswith(start)), len(order)
        )
    )
