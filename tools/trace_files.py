"""Print the files of `stakes` that a call runs through, which a reader has to open to follow it.

A file counts when one of its functions is called. Code that only runs during an import (class
bodies, decorators, the module itself) does not count. Imports therefore happen before the trace:
a snippet runs twice, and only the second run is traced.

    python tools/trace_files.py                       # the calls that have a limit
    python tools/trace_files.py 'import stakes' 'stakes.…'   # setup and call of your own
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SETUP = """
from stakes import CostCurve, CostMatrix, compare, evaluate

costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
y_true = [0] * 60 + [1] * 40
first = [0] * 50 + [1] * 50
second = [0] * 80 + [1] * 20
scores = [i / 100 for i in range(100)]
"""


@dataclass(frozen=True)
class Call:
    """A call, and the limit on the number of files that it runs through.

    Attributes
    ----------
    code : str
        The call, after `SETUP`.
    limit : int
        Maximum number of files that it may run through.
    """

    code: str
    limit: int


CALLS = (
    Call("evaluate(y_true, first, costs).interval()", 12),
    Call("compare(y_true, first, second, costs).test()", 14),
    Call("CostCurve.from_scores(y_true, scores, pos_label=1).band()", 12),
)


def files_of(code: str, setup: str = SETUP) -> list[str]:
    """Return the files of `stakes` whose functions a call runs, relative to the package.

    Parameters
    ----------
    code, setup : str
        The call, and the code before it, which is not traced.

    Returns
    -------
    list of str
        Their paths, sorted.
    """
    import stakes

    package = Path(stakes.__file__).parent
    names: dict[str, Any] = {}
    exec(setup, names)  # noqa: S102 - our own code, or the user's
    exec(code, names)  # noqa: S102 - triggers lazy imports
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        exec(code, names)  # noqa: S102
    finally:
        sys.setprofile(before)
    # Generated code, such as the __init__ of a dataclass, is in no file of the package.
    paths = {Path(each.co_filename) for each in seen if each.co_name != "<module>"}
    return sorted(str(path.relative_to(package)) for path in paths if package in path.parents)


def main(arguments: list[str]) -> int:
    """Print the files of the calls that have a limit, or of the call given.

    Returns
    -------
    int
        1 if a call runs through more files than its limit, 0 otherwise.
    """
    if arguments:
        *setup, code = arguments
        print(*files_of(code, "\n".join(setup)), sep="\n")
        return 0
    crossed = False
    for call in CALLS:
        found = files_of(call.code)
        crossed |= len(found) > call.limit
        print(f"{call.code}: {len(found)} files, at most {call.limit}")
        print(*(f"    {path}" for path in found), sep="\n")
    return int(crossed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
