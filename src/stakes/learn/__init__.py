"""Cost-sensitive learners as scikit-learn estimators, and comparisons of learners by cost.

The public names are listed in ``__init__.pyi`` and load when they are first used.
"""

from stakes._core.optional import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
