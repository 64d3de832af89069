"""Find phrases to avoid in the product, and print where they occur: python tools/words.py.

The list has only phrases that are always wrong here, no words that also have ordinary meanings.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WHERE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "examples", "src", "replications")
ENDINGS = (".py", ".md", ".rst", ".j2", ".js")
INSTEAD = {
    r"\bdear(?:er|est|ly)?\b": "expensive, more expensive",
    r"\bmend(?:s|ed|ing)?\b": "fix, correct",
    r"\blest\b": "so that … not",
    r"\btrivial decision": "constant prediction",
    r"\bdeciding \S+ every time": "a constant prediction",
    r"\bone and the same decision": "a constant prediction",
    r"\ba tie with\b": "cannot be told apart",
    r"\bof everything that is drawn": "random seed",
    r"\bnever came\b": "not observed",
    r"\bhow often it came\b": "how often it occurred",
    r"\bon the sure side\b": "conservative",
    r"\bmore careful (?:one|test)\b": "more conservative test",
    r"\basks? nothing of\b": "needs no",
    r"\bsay only what was asked": "print results only",
    r"\binformational loss \(bits\)": "log loss",
    r"\bshares? of the class(?:es)?\b": "prevalence, class frequencies, class priors",
    r"\bwhere it is used\b": "in the target population",
    r"\bwhere the (?:models?|classifiers?) (?:is|are) used\b": "in the target population",
    r"\bhow often each(?: \w+)? came\b": "how often each occurred",
    r"\bhow the (?:examples|rows) came\b": "how they were sampled",
    r"^\s+Of (?:the |all )?(?:intervals?|tests?|draw)\b(?! \w)": "confidence level of …",
    r"\bwhoever\b": "anyone who",
}
PERCENT = {r"\d\u00a0%|\d %(?!\w|\()": "a percentage without a space, 95%"}


def _of_a_run(name: Path, line: str) -> bool:
    """Return whether a line is in the replications, or in a table, which a run may have written."""
    return name.parts[0] == "replications" or line.startswith("|")


def _files() -> Iterator[Path]:
    """Iterate over the files that people read."""
    for each in map(ROOT.joinpath, WHERE):
        found = [each] if each.is_file() else each.rglob("*")
        for path in found:
            if path.suffix in ENDINGS:
                yield path


def main() -> int:
    """Print each phrase with its place and its replacement; return the number of phrases found."""
    found = 0
    for path in sorted(_files()):
        name = path.relative_to(ROOT)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            rules = INSTEAD | ({} if _of_a_run(name, line) else PERCENT)
            for phrase, instead in rules.items():
                for match in re.finditer(phrase, line, flags=re.IGNORECASE):
                    print(f"{name}:{number}: {match[0]!r}; write: {instead}")
                    found += 1
    return found


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
