"""Fixtures: a headless Chromium, and pages that must not log messages or use the network."""

import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FROM_DISK = ("file:", "data:", "blob:", "about:")


@pytest.fixture(scope="session")
def browser():
    """One browser for all tests of a process."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        leave = pytest.fail if os.environ.get("CI") else pytest.skip  # CI must try the page
        leave(f"no browser found: none of {', '.join(BROWSERS)} is on the PATH")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], headless=True
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def complaints():
    """Collect console messages, exceptions and network requests of all pages."""
    return []


@pytest.fixture(scope="session")
def blank_page(browser, complaints):
    """Return a function that opens a blank page, and records its complaints.

    All pages share a context, as reports store nothing in the browser. This halves the time to open
    the second page.
    """
    context = browser.new_context()

    def heard(message):
        complaints.append(f"console {message.type}: {message.text}")

    def requested(request):
        if not request.url.startswith(FROM_DISK):
            complaints.append(f"network request: {request.url}")

    def opened():
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(f"exception: {error}"))
        page.on("request", requested)
        return page

    yield opened
    context.close()


@pytest.fixture(autouse=True)
def _no_complaints(complaints):
    """Fail a test whose pages caused complaints."""
    yield
    found = list(complaints)
    complaints.clear()
    assert found == []


@pytest.fixture
def page(blank_page):
    """A blank page for one test."""
    page = blank_page()
    yield page
    page.close()
