"""Cost curves: the expected cost of a classifier at every operating condition.

The public names are listed in ``__init__.pyi`` and load on first use.
"""

from stakes._core.optional import lazy_names

__getattr__, __dir__ = lazy_names(__name__, whole=True)
