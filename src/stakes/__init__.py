"""What a classifier's mistakes cost, how sure you can be of it, and which classifier to use.

The public names are listed in ``__init__.pyi`` and load when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0.dev0"
