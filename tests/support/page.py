"""The page as its tests ask it: by requests, and by a real browser."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import uvicorn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a successor of httpx
    from starlette.testclient import TestClient

from kanon_sql.page.opening import open_page
from kanon_sql.page.server import application
from kanon_sql.page.state import Page

TOKEN = "token-of-the-tests"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextlib.contextmanager
def client_of(source: str | Path | None, spec: Any = None, **places: Any) -> Iterator[TestClient]:
    """A client that has the page's address; `client.app.state.page` is the page."""
    page = open_page(None if source is None else str(source), spec, **places)
    address = f"http://127.0.0.1:1/{TOKEN}/"
    with TestClient(application(page, TOKEN, 1), base_url=address, follow_redirects=True) as client:
        yield client


@contextlib.contextmanager
def served(page: Page) -> Iterator[str]:
    """The address of a page that is served in this process, for a browser."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        server = uvicorn.Server(
            uvicorn.Config(application(page, TOKEN, port), log_level="error", timeout_graceful_shutdown=1, ws="none")
        )
        page.windows.ending = lambda: server.should_exit
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/{TOKEN}/"
        finally:
            server.should_exit = True
            thread.join(timeout=20)


def finished(client: TestClient, seconds: float = 60) -> Any:
    """The work of a page once it has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        work = client.app.state.page.work
        if work.ended:
            return work
        time.sleep(0.05)
    raise AssertionError(f"still running: {work.stage}")


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def text_of(html: str) -> str:
    """What somebody reads of a page, on one line."""
    parser = _Text()
    parser.feed(html)
    return re.sub(r"\s+", " ", " ".join(parser.texts))
