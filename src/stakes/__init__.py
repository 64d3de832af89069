"""What a classifier's mistakes cost, how sure you can be of it, and which classifier to use.

The public names are listed in ``__init__.pyi`` and load when they are first used.
"""

import signal
import sys

if getattr(sys, "argv", [""])[:1] and sys.argv[0].rpartition("/")[2] == "stakes":
    # Ctrl-C ends the command while its modules load, where Python would show a traceback.
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:  # only the main thread can say so
        pass

from stakes._core.optional import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
__version__ = "0.1.0.dev0"
