"""The page as its tests use it: by requests, and by a real browser."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import uvicorn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a successor of httpx
    from starlette.testclient import TestClient

from kanon_sql.page import worker
from kanon_sql.page.database import DatabasePage
from kanon_sql.page.first_draft import open_page
from kanon_sql.page.server import application
from kanon_sql.page.state import Page
from kanon_sql.page.work import Work

TOKEN = "token-of-the-tests"
PEOPLE = """
SELECT 'P' || i AS person_id, 20 + (i * 7919) % 50 AS age, 1000 + (i * 31) % 90 AS zip, ['f', 'm'][1 + i % 2] AS sex,
  ['flu', 'asthma', 'gout'][1 + (i // 5) % 3] AS diagnosis
FROM range(400) AS t(i)
"""


def save_personnel(path: Path, rows: int = 240) -> None:
    """A sheet of personnel in Excel, with German names of columns, dates and umlauts."""
    import openpyxl

    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Personal"
    sheet.append(["Personalnummer", "Geburtsdatum", "Geschlecht", "PLZ", "Abteilung", "Jahresgehalt"])
    for i in range(rows):
        born = datetime.date(1960 + i * 7 % 40, 1 + i * 5 % 12, 1 + i * 11 % 28)
        place = [8001, 8002, 8400, 8406, 3001, 3007][i * 13 % 6]
        unit = ["Pflege", "Ärzte", "Verwaltung", "Küche"][i * 3 % 4]
        sheet.append([f"M{10_000 + i}", born, "wm"[i // 3 % 2], place, unit, 48_000 + 1500 * (i * 17 % 23)])
    workbook.save(path)


@contextlib.contextmanager
def client_of(source: str | Path | None, spec: Any = None, **places: Any) -> Iterator[TestClient]:
    """A client that has the page's address; `client.app.state.page` is the page."""
    with client_on(open_page(None if source is None else str(source), spec, **places)) as client:
        yield client


@contextlib.contextmanager
def client_on(page: Page | DatabasePage) -> Iterator[TestClient]:
    """A client that has the address of a page."""
    address = f"http://127.0.0.1:1/{TOKEN}/"
    with TestClient(application(page, TOKEN, 1), base_url=address, follow_redirects=True) as client:
        yield client


@contextlib.contextmanager
def served(page: Page | DatabasePage) -> Iterator[str]:
    """The address of a page that is served in this process, for a browser."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
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


def work_here(patch: pytest.MonkeyPatch) -> None:
    """Have workers run in a thread of this process: one of its own takes a second to start."""

    def start(work: Work, _: Path) -> None:
        def take(kind: str, reported: Any) -> None:
            work._take(kind, json.loads(json.dumps(reported, default=str)))
            work.on_event(work)

        patch.setattr(worker, "send", take)
        threading.Thread(target=_quietly, args=(work.request,), daemon=True).start()

    patch.setattr(Work, "start", start)


def _quietly(request: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        worker.answer(json.loads(json.dumps(request, default=str)))


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
