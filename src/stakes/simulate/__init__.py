"""Simulations on a problem like yours: how often intervals cover and how often tests reject.

The public names are listed in ``__init__.pyi`` and load when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
