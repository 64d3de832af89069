"""Files in the user's cache folder are used as written, or written again if changed."""

import pytest

from stakes.read import cached_text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "stakes"


def test_a_text_is_made_once(folder):
    made = iter(["Größe\r\n1", "another"])
    assert [cached_text("a.js", lambda: next(made)) for _ in range(2)] == ["Größe\r\n1"] * 2
    assert [path.name for path in folder.iterdir()] == ["a.js"]


@pytest.mark.parametrize("content", [b"", b"\n", b"wrong\nGr\xff", b"0" * 64 + b"\nother"])
def test_a_file_that_was_changed_is_made_anew(folder, content):
    folder.mkdir()
    (folder / "a.js").write_bytes(content)
    assert cached_text("a.js", lambda: "text") == "text"
    assert cached_text("a.js", lambda: "unused") == "text"


def test_without_a_folder_nothing_is_cached_text(folder):
    folder.parent.joinpath("stakes").write_text("a file")
    made = iter(["one", "two"])
    assert [cached_text("a.js", lambda: next(made)) for _ in range(2)] == ["one", "two"]
