"""Follow the tutorial literally in a fresh environment: python tools/reader_test.py [WHEEL].

Builds the wheel unless one is given, installs it with the extras that the tutorial names, and runs
every command and every line of Python of the page in an empty folder. What they print must be what
the page shows.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorial" / "index.md"
BIN = "Scripts" if os.name == "nt" else "bin"


@dataclass(frozen=True)
class Step:
    """A command of a page, and the output that the page shows."""

    command: str
    shown: str

    def agrees(self, printed: str) -> bool:
        """Return whether the output is the one shown; "..." matches anything."""
        wanted = f"\n{self.shown}"  # so that a leading "..." is not read as a prompt
        return doctest.OutputChecker().check_output(wanted, f"\n{printed}", doctest.ELLIPSIS)


def steps(page: str) -> Iterator[Step]:
    """Return the commands of a page, in order."""
    for block in re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield Step(command, shown)


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a command, and return what it printed; stop if it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}\nfailed:\n{done.stdout}{done.stderr}")
    return done.stdout


def install(step: Step, folder: Path, wheel: Path | None) -> None:
    """Create an environment, and install the wheel with the extras that the page asks for."""
    extras = re.fullmatch(r"pip install 'stakes(\[[\w,]+\])'", step.command)
    if extras is None:
        sys.exit(f"the page should begin with pip install 'stakes[...]', not: {step.command}")
    beside = Path(sys.executable).with_name("uv")
    uv = shutil.which("uv") or (str(beside) if beside.exists() else None)
    python = folder / "venv" / BIN / "python"
    if uv is not None:
        if wheel is None:
            run(uv, "build", "--wheel", "--out-dir", folder, ROOT)
        run(uv, "venv", "--python", sys.executable, folder / "venv")
        installer = [uv, "pip", "install", "--python", str(python)]
    else:
        if wheel is None:
            run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
        run(sys.executable, "-m", "venv", folder / "venv")
        installer = [str(python), "-m", "pip", "install"]
    run(*installer, f"{wheel or next(folder.glob('stakes-*.whl'))}{extras[1]}")


def follow(page: Path, folder: Path, wheel: Path | None) -> None:
    """Run the commands and the Python code of a page, as its reader would."""
    first, *others = steps(page.read_text(encoding="utf-8"))
    install(first, folder, wheel)
    programs = folder / "venv" / BIN
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env = {**kept, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    empty = folder / "empty"
    empty.mkdir()
    for step in others:
        began = time.monotonic()
        name, *arguments = shlex.split(step.command)
        printed = run(programs / name, *arguments, cwd=empty, env=env)
        if not step.agrees(printed):
            sys.exit(f"$ {step.command}\nshould print:\n{step.shown}\nbut prints:\n{printed}")
        print(f"{time.monotonic() - began:5.1f} s  {step.command}")
    began = time.monotonic()
    copy = empty / page.name
    shutil.copy(page, copy)
    run(
        *(programs / "python", "-W", "ignore", "-m", "doctest", "-o", "NORMALIZE_WHITESPACE"),
        copy.name,
        cwd=empty,
        env=env,
    )
    print(f"{time.monotonic() - began:5.1f} s  all lines of Python")


def main() -> None:
    """Follow the tutorial."""
    wheel = Path(sys.argv[1]).resolve() if sys.argv[1:] else None
    with tempfile.TemporaryDirectory() as folder:
        follow(PAGE, Path(folder), wheel)
    print("The tutorial works as it is written.")


if __name__ == "__main__":
    main()
