"""Write the pictures of the demo's report for the documentation: python tools/pictures.py.

Each picture stores the text that it shows, so that a test can detect when it is out of date.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from stakes.cli.main import main as stakes

ROOT = Path(__file__).parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH = 1280
WORDS, FONTS = "Words", "Fonts"
"""Metadata keys of a picture: its text, and the widths of a line in the fonts it was drawn with."""

MEASURE = """() => ["h1", "p", "svg text"].map(which => {
  const brush = document.createElement("canvas").getContext("2d");
  brush.font = getComputedStyle(document.querySelector(which)).font;
  return brush.measureText("What a classifier's mistakes cost").width.toFixed(2);
}).join(" ")"""


class NoBrowserError(RuntimeError):
    """No browser is found, or a package that drawing needs is not installed."""


@dataclass(frozen=True)
class Picture:
    """Part of the report, from the top of an element down, with a height in pixels."""

    path: str
    top: str
    height: int
    words_of: tuple[str, ...]
    """Selectors of the elements whose text is in the picture."""


PICTURES = (
    Picture("docs/howto/report.png", "html", 876, ("h1", "#verdict", "#lead", "#policies")),
    Picture(
        "docs/tutorial/threshold.png", "#threshold", 1560, ("#threshold p", "#threshold-table")
    ),
)


def write_report(folder: Path) -> Path:
    """Write the demo's report, and return its path."""
    path = folder / "stakes-demo.html"
    with redirect_stdout(io.StringIO()):
        code = stakes(["demo", "--out", str(path)])
    if code != 0:
        raise SystemExit("the demo failed")
    return path


def open_report(browser: Any, report: Path) -> Any:
    """Open a report in a window of the width of the pictures, and wait until it is drawn."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 1180}, color_scheme="light")
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-drawn]")
    page.evaluate("document.getElementById('threshold').open = true")
    page.wait_for_selector("#chart-roc svg")
    return page


def words(page: Any, picture: Picture) -> str:
    """Return the text that a picture shows."""
    found = [page.locator(each).first.inner_text() for each in picture.words_of]
    return " ".join(" ".join(found).split())


def fonts(page: Any) -> str:
    """Return the widths of a line in the report's fonts on this machine."""
    return str(page.evaluate(MEASURE))


def draw(page: Any, picture: Picture) -> Image.Image:
    """Return a picture of the open report."""
    top = round(page.locator(picture.top).first.bounding_box()["y"])
    clip = {"x": 0, "y": top, "width": WIDTH, "height": picture.height}
    return Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip))).convert("RGB")


def save(page: Any, picture: Picture, path: Path) -> None:
    """Write a picture of the open report, with its text as metadata."""
    kept = PngInfo()
    kept.add_itxt(WORDS, words(page, picture))
    kept.add_itxt(FONTS, fonts(page))
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(page, picture).save(path, optimize=True, pnginfo=kept)


@contextmanager
def opened() -> Iterator[Any]:
    """Open the demo's report in a browser."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise NoBrowserError(f"none of {', '.join(BROWSERS)} is on the PATH")
    for name in ("playwright", "altair"):
        if find_spec(name) is None:
            raise NoBrowserError(f"{name} is not installed: pip install '.[test]'")
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = write_report(Path(folder))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield open_report(browser, report)
        browser.close()


def write(folder: Path) -> None:
    """Write all pictures to their paths in the project, but relative to another folder."""
    with opened() as page:
        for picture in PICTURES:
            save(page, picture, folder / picture.path)


def main() -> None:
    """Write all pictures into the project."""
    try:
        write(ROOT)
    except NoBrowserError as error:
        sys.exit(f"no pictures were drawn: {error}")
    print("\n".join(picture.path for picture in PICTURES))


if __name__ == "__main__":
    main()
