"""The page in a real browser: `browser`, windows of it, and what every screen must satisfy."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium; install Debian's, or Chrome")
PICTURES = os.environ.get("KANON_PICTURES")  # a folder for pictures of the screens


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def window(browser: Any, address: str, width: int = 1280, height: int = 900, **more: Any) -> Any:
    """A window on the page; `complaints` collects the errors of its script and its dialogs."""
    opened = browser.new_context(viewport={"width": width, "height": height}, **more).new_page()
    opened.set_default_timeout(30_000)
    opened.complaints = []
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.on("console", lambda reported: opened.complaints.append(reported.text) if reported.type == "error" else None)
    opened.on("dialog", lambda dialog: opened.complaints.append(dialog.message) or dialog.dismiss())
    opened.goto(address)
    return opened


def eventually(holds: Callable[[], Any], seconds: float = 30) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def show(opened: Any, screen: str) -> None:
    """Go to a screen by its link, and wait until it is loaded: a click alone can return before that."""
    opened.click(f"nav a:text-is('{screen}')")
    opened.wait_for_selector(f"nav a[aria-current]:text-is('{screen}')")
    opened.wait_for_load_state()


def clean(opened: Any) -> None:
    """Axe finds no violation on the screen, and the window has no complaints."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(opened, options={"resultTypes": ["violations"]})  # describing what passed takes as long again
    assert found.violations_count == 0, found.generate_report()
    assert opened.complaints == []


def fits(opened: Any) -> None:
    """The screen is not wider than its window."""
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), opened.url


def picture(opened: Any, name: str) -> None:
    """Keep a picture of the screen, if a folder for pictures is set."""
    if PICTURES:
        opened.screenshot(path=str(Path(PICTURES) / f"{name}.png"), full_page=True)
