"""The pictures in the documentation show the current report."""

import importlib.util
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
RENEW = "renew the pictures with: make pictures"

spec = importlib.util.spec_from_file_location("pictures", ROOT / "tools" / "pictures.py")
pictures = importlib.util.module_from_spec(spec)
sys.modules["pictures"] = pictures  # its dataclasses look up their module here
spec.loader.exec_module(pictures)


@pytest.fixture(scope="module")
def demo(browser, tmp_path_factory):
    """Open the demo's report."""
    page = pictures.open_report(browser, pictures.write_report(tmp_path_factory.mktemp("demo")))
    yield page
    page.close()


@pytest.mark.services
@pytest.mark.parametrize("picture", pictures.PICTURES, ids=lambda each: Path(each.path).stem)
def test_a_picture_shows_what_the_report_shows_now(picture, demo):
    with Image.open(ROOT / picture.path) as kept:
        assert kept.text[pictures.WORDS] == pictures.words(demo, picture), RENEW
        new = pictures.draw(demo, picture)
        assert kept.size == new.size, RENEW
        difference = np.abs(np.asarray(kept.convert("RGB"), float) - np.asarray(new, float))
        same_fonts = kept.text[pictures.FONTS] == pictures.fonts(demo)
    # Out of 255. Other fonts move lines, so that then only words, size and colours are comparable.
    assert difference.mean() < (0.5 if same_fonts else 25), RENEW


@pytest.mark.services
def test_a_build_draws_them_anew_elsewhere(demo, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "opened", lambda: nullcontext(demo))
    before = {each.path: (ROOT / each.path).read_bytes() for each in pictures.PICTURES}
    pictures.write(tmp_path)
    for each in pictures.PICTURES:
        with Image.open(tmp_path / each.path) as new, Image.open(ROOT / each.path) as kept:
            assert new.text[pictures.WORDS] == kept.text[pictures.WORDS]
        assert (ROOT / each.path).read_bytes() == before[each.path]


def test_without_a_browser_it_is_said_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "BROWSERS", ("no-such-browser",))
    with pytest.raises(pictures.NoBrowserError, match="none of no-such-browser is on the PATH"):
        pictures.write(tmp_path)
    monkeypatch.setattr(pictures, "BROWSERS", (Path(sys.executable).name,))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setitem(sys.modules, "playwright", None)
    with pytest.raises(pictures.NoBrowserError, match="playwright is not installed: pip install"):
        pictures.write(tmp_path)
    assert not list(tmp_path.iterdir())


def test_every_picture_of_the_documents_has_a_maker():
    kept = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/[!_]*/*.png")}
    assert kept == {each.path for each in pictures.PICTURES}
