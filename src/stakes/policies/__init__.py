"""Policies: a model at a threshold, decisions as they stand, or a constant prediction.

The public names are listed in ``__init__.pyi`` and load on first use.
"""

from stakes._core.optional import lazy_names

__getattr__, __dir__ = lazy_names(__name__, whole=True)
