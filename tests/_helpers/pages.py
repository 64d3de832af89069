"""The pages of the documentation, and their blocks of code and commands."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def fenced(text):
    """Return the language and the text of each block, in order."""
    fence = r"^ *```([^\s`]*)[^\n`]*\n(.*?)^ *```$"
    return re.findall(fence, text, flags=re.DOTALL | re.MULTILINE)


def blocks(text, language):
    """Return the blocks of a language, in order."""
    return [block for found, block in fenced(text) if found == language]


def commands(text):
    """Return the commands that the blocks of a page show."""
    shown = "".join(blocks(text, "console")).splitlines()
    return [line[2:] for line in shown if line.startswith("$ ")]


def written():
    """Return the paths of the README, the contributing guide and all pages of the documentation."""
    paths = (path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))
    return ["README.md", "CONTRIBUTING.md", *sorted(paths)]
