"""What a classifier's mistakes cost, how sure you can be of it, and which classifier to use.

The public names are listed in ``__init__.pyi`` and load when they are first used.
"""

from stakes._core.optional import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
__version__ = "0.1.0.dev0"
