"""Plans of rows to label, and estimates when most labels are missing.

The public names are listed in ``__init__.pyi`` and load when they are first used.
"""

from stakes._core.optional import lazy_names

__getattr__, __dir__ = lazy_names(__name__, whole=True)
