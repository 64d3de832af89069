"""Check the source archive of a release: python compare_builds.py ARCHIVE WHEEL WHEEL.

The archive must have the files needed to test the package, and build the same wheel as the
repository. The first wheel is built from the archive, the second from the repository.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

NEEDED = (
    *("CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "README.md", "conftest.py"),
    *("conda-recipe/recipe.yaml", "docs/conf.py", "docs/howto/report.png", "examples/", "tests/"),
    *("pyproject.toml", "tools/setup", "tests/test_documents.py", "tests/golden/", "replications/"),
)


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel, by name."""
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def main() -> None:
    """Check the contents of the archive, and compare the wheels."""
    archive, of_archive, direct = map(Path, sys.argv[1:])
    with tarfile.open(archive) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    missing = [each for each in NEEDED if not any(name.startswith(each) for name in names)]
    if missing:
        raise SystemExit(f"{archive.name} lacks {', '.join(missing)}")
    tests = {name for name in names if name.startswith("tests/") and name.endswith(".py")}
    here = {path.as_posix() for path in Path("tests").rglob("*.py")}
    if here - tests:
        raise SystemExit(f"{archive.name} lacks {', '.join(sorted(here - tests))}")
    first, second = contents(of_archive), contents(direct)
    differing = sorted(name for name in first | second if first.get(name) != second.get(name))
    if differing:
        raise SystemExit(f"the archive makes another wheel: {', '.join(differing)}")
    if others := sorted(name for name in first if not name.startswith(("stakes/", "stakes-"))):
        raise SystemExit(f"the wheel holds what is not the package: {', '.join(others)}")
    size = archive.stat().st_size / 1e6
    print(
        f"{archive.name} ({size:.1f} MB) has {len(tests)} files of tests, and makes the same wheel."
    )


if __name__ == "__main__":
    main()
