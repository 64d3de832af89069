"""A headless Chromium, and pages that may neither complain nor use the network."""

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


@pytest.fixture
def page(browser):
    """A blank page; console errors, exceptions and network requests fail the test."""
    complaints = []

    def heard(message):
        if message.type == "error":
            complaints.append(f"console error: {message.text}")

    def requested(request):
        if not request.url.startswith(FROM_DISK):
            complaints.append(f"network request: {request.url}")

    context = browser.new_context()
    blank = context.new_page()
    blank.on("console", heard)
    blank.on("pageerror", lambda error: complaints.append(f"exception: {error}"))
    blank.on("request", requested)
    yield blank
    context.close()
    assert complaints == []
