"""Simulations on a problem like yours: how often intervals cover and how often tests reject.

The public names are listed in ``__init__.pyi`` and load when they are first used.
"""

from stakes._core.optional import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
