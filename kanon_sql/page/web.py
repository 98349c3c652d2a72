"""What the screens share: templates, responses to changes, and the events that windows receive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import cache
from math import isfinite, nan
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.page.charts import way
from kanon_sql.page.wording import columns_in, in_page_words, linked, sentence_start, type_words
from kanon_sql.report.numbers import count, figure
from kanon_sql.report.words import percent

_FOLDER = Path(__file__).parent
_REPORT_POLICY = (  # a report has its own style sheet, and runs or fetches nothing
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; sandbox"
)
_HEARTBEAT = 1.0  # seconds after which a window notices a shutdown, or the server a closed window
# The screens in the order of work; every name is also that of a module and a template.
TITLES = {
    "start": "Open",
    "columns": "Columns",
    "data": "Data",
    "hierarchies": "Hierarchies",
    "risk": "Risk",
    "models": "Models",
    "search": "Search",
    "compare": "Compare",
    "release": "Release",
}
Change = Callable[[Request, FormData], Response]


@dataclass
class Windows:
    """The windows that listen for events."""

    loop: asyncio.AbstractEventLoop | None = None
    ending: Callable[[], bool] = lambda: False
    _queues: set[asyncio.Queue[str]] = field(default_factory=set)

    def tell(self, kind: str, html: str = "") -> None:
        """Send every window an event, from any thread: `changed`, or `live` with regions to exchange."""
        event = f"data: {json.dumps({'kind': kind, 'html': html})}\n\n"
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: str) -> None:
        for queue in self._queues:
            queue.put_nowait(event)

    async def events(self, request: Request) -> AsyncIterator[str]:
        """The events of one window, from now on."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._queues.add(queue)
        try:
            yield ": open\n\n"
            while not self.ending() and not await request.is_disconnected():
                try:
                    yield await asyncio.wait_for(queue.get(), _HEARTBEAT)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._queues.discard(queue)


def rendered(request: Request, name: str, problem: str = "", **content: Any) -> HTMLResponse:
    """A screen, by the name of its template; with `problem`, the response to a rejected change."""
    page = request.app.state.page
    base = str(request.scope.get("root_path", "")) + "/"
    names = [column.name for column in page.draft.columns]
    here = {
        "base": base,
        "screen": name,
        "path": request.url.path.removeprefix(base),
        "titles": TITLES,
        "page": page,
        "draft": page.draft,
        "problem": problem,
        "explained": lambda text: linked(text, names, base),
    }
    html = _templates().get_template(f"{name}.html.j2").render(**here, **content)
    return HTMLResponse(html, status_code=422 if problem else 200)


def fragment(name: str, **content: Any) -> str:
    """Regions that are sent with an event."""
    return _templates().get_template(f"{name}.html.j2").render(**content)


def report_page(request: Request, html: str, name: str) -> HTMLResponse:
    """A report as a separate page; with `download` in its address, as a file of that name."""
    headers = {"Content-Security-Policy": _REPORT_POLICY}
    if "download" in request.query_params:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return HTMLResponse(html, headers=headers)


def shown(request: Request, screen: str, **parameters: str) -> Response:
    """The response to a change: a redirect to a screen, with query parameters."""
    query = f"?{urlencode(parameters)}" if parameters else ""
    return RedirectResponse(f"{request.scope.get('root_path', '')}/{screen}{query}", status_code=303)


def shows_rare(request: Request) -> bool:
    """Whether the screen also shows values and labels of few people, as requested in its address."""
    return request.query_params.get("rare") == "yes"


def routes(screen: Any) -> list[Route]:
    """The routes of a screen: its `PAGES`, and its `CHANGES`, which show it again if they raise KanonError."""

    def endpoint_of(change: Change) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            async with request.form(max_files=1, max_fields=2000) as form:
                try:
                    return await run_in_threadpool(change, request, form)
                except KanonError as error:
                    return await run_in_threadpool(screen.show, request, problem=str(error))

        return endpoint

    pages = [Route(path, page) for path, page in screen.PAGES.items()]
    return pages + [Route(path, endpoint_of(change), methods=["POST"]) for path, change in screen.CHANGES.items()]


def stopping(back: Callable[[Request], Response]) -> Change:
    """The change that stops the running work, with the best result so far or without one."""

    def stop(request: Request, form: FormData) -> Response:
        request.app.state.page.stop(keep=form.get("how") != "end")
        return back(request)

    return stop


def whole(form: FormData, name: str, least: int, most: int | None = None) -> int | None:
    """A whole number in a form; None if the field is empty or not a number, so that the old number stays."""
    text = str(form.get(name, "")).strip()
    if not text.removeprefix("-").isdecimal():
        return None
    number = max(least, int(text))
    return number if most is None else min(number, most)


def number(form: FormData, name: str, title: str, least: float, most: float | None, usual: float) -> float:
    """A number in a form, or `usual` if the field is empty; SpecError, after its title if any, if not allowed."""
    text = str(form.get(name, "")).strip() or f"{usual:g}"
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isfinite(value) or value < least or (most is not None and value > most):
        allowed = f"from {least:g} to {most:g}" if most is not None else f"of at least {least:g}"
        raise SpecError(f"{title}{': ' if title else ''}{text!r} is not a number {allowed}; correct it")
    return int(value) if value == int(value) else value


def _events(request: Request) -> Response:
    events = request.app.state.page.windows.events(request)
    return StreamingResponse(events, media_type="text/event-stream")


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ("page.css", "page.js", "icon.svg"):
        return Response(status_code=404)
    return FileResponse(_FOLDER / "static" / name)


ROUTES = [Route("/events", _events), Route("/static/{name}", _static)]


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {"way": way, "columns_in": columns_in}
    environment.filters |= {"count": count, "figure": figure, "percent": percent, "in_page_words": in_page_words}
    environment.filters |= {"type_words": type_words, "sentence_start": sentence_start}
    return environment
