"""What a model's mistakes cost, how sure you can be, and which model to use at which threshold.

The public names are listed in ``__init__.pyi`` and load when they are first used.
"""

import sys


def _is_command() -> bool:
    """Return whether Python was started to run ``stakes`` or ``python -m stakes``."""
    name, given = (getattr(sys, "argv", None) or [""])[0], sys.orig_argv
    if name == "-m":  # its value until the module is found
        return "-m" in given and given[given.index("-m") + 1].partition(".")[0] == "stakes"
    return name.rpartition("/")[2] == "stakes"


if _is_command():
    # Ctrl-C while the modules load ends the command without a traceback.
    import signal

    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:  # only the main thread can set signal handlers
        pass

from stakes._core.optional import lazy_names  # noqa: E402 - after Ctrl-C is handled

__getattr__, __dir__ = lazy_names(__name__)
__version__ = "0.1.0"
