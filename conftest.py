"""Run the code in the guides and in the README as tests."""

from doctest import NORMALIZE_WHITESPACE
from importlib.util import find_spec

from hypothesis import settings
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser

collect_ignore_glob = ["docs/*.py"]  # the gallery runs when the documentation is built
if find_spec("mlflow") is None:
    collect_ignore_glob.append("src/stakes/track/*.py")  # its examples log to MLflow

# The same input each time, so that a change fails only by its own fault; `make test-search` seeks
# new input. A busy machine is not a failure.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("same")

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=NORMALIZE_WHITESPACE)],
    patterns=["*.md"],
    excludes=["docs/_build/**", "changelog.d/**"],
).pytest()
