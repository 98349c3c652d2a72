"""The server of the page: one port of this machine, one secret, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from importlib import import_module
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from kanon_sql.page import database, web
from kanon_sql.page.database import DatabasePage
from kanon_sql.page.folder import MOST_UPLOADED
from kanon_sql.page.state import Page

ADDRESS = "127.0.0.1"
MOST_BYTES = 32 * 2**20  # of a request: an uploaded hierarchy
MOST_OF_DATA = MOST_UPLOADED + 2**20  # of a request with a data file
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-src 'self'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send a form of ours with the origin null
    "X-Content-Type-Options": "nosniff",
}


def application(page: Page | DatabasePage, token: str, port: int) -> Starlette:
    """The page as an ASGI application, under `/token/`; that of several tables has one screen."""
    hosts = [f"{name}:{port}" for name in (ADDRESS, "localhost")]
    middleware = [Middleware(RequestGuard, token=token, hosts=hosts)]
    if isinstance(page, DatabasePage):
        screens: list[Any] = [database]
    else:
        screens = [import_module(f"kanon_sql.page.{name}") for name in web.TITLES]
        middleware.append(Middleware(StartFirst, page=page, token=token))
    routes = [route for screen in screens for route in web.routes(screen)]
    to_first = Route("/", lambda _: RedirectResponse(f"/{token}/{page.first_screen}"))

    @contextlib.asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        page.windows.loop = asyncio.get_running_loop()
        page.begin()
        yield
        page.close()

    app = Starlette(
        routes=[Mount(f"/{token}", routes=[to_first, *web.ROUTES, *routes])],
        middleware=middleware,
        lifespan=living,
        exception_handlers={405: _to_screen},
    )
    app.state.page = page
    return app


async def _to_screen(request: Request, _: Exception) -> Response:
    """Lead to its screen whoever reloads the address that a rejected form was sent to."""
    token, screen = [*request.url.path.split("/"), "", ""][1:3]
    if request.method == "GET" and screen in (*web.TITLES, database.SCREEN):
        return RedirectResponse(f"/{token}/{screen}", status_code=303)
    return PlainTextResponse("Method Not Allowed", status_code=405)


def serve(page: Page | DatabasePage, port: int = 0, opened: Callable[[str], None] = print) -> None:
    """Serve the page until Ctrl-C or SIGTERM; `opened` is called with its address. `port`: 0 for a free one."""
    token = secrets.token_urlsafe(24)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        taken = listening.getsockname()[1]
        app = application(page, token, taken)
        config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1, ws="none")
        listening.listen()  # before the address is shown: a browser that is faster than the server waits for it
        opened(f"http://{ADDRESS}:{taken}/{token}/")
        server = uvicorn.Server(config)
        page.windows.ending = lambda: server.should_exit  # listening windows would keep it open
        server.run(sockets=[listening])


class RequestGuard:
    """Let through requests that carry the token and name this server, and add the security headers to every response.

    A page of another site that is open in the same browser can also send requests to 127.0.0.1, but without the random
    token in the path. If such a site points a host name at this machine, the Host header is wrong.
    """

    def __init__(self, app: Any, token: str, hosts: Iterable[str]) -> None:
        self.app = app
        self.token = token
        self.hosts = frozenset(hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._refused(scope)
        answer = self.app if refused is None else PlainTextResponse(refused, status_code=403)

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                more = ((name.lower().encode(), value.encode()) for name, value in HEADERS.items())
                message["headers"] = [*message["headers"], *(header for header in more if header[0] not in own)]
            await send(message)

        await answer(scope, receive, with_headers)

    def _refused(self, scope: Any) -> str | None:
        """Why a request is refused; None if it is not."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:
            return "This page is only for the address that kanon page printed."
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return "Another site may not ask this page anything."
        token = scope["path"].removeprefix("/").split("/")[0].encode()  # the path of `OPTIONS *` has no slash
        if not hmac.compare_digest(token, self.token.encode()):
            return "Open the whole address that kanon page printed: it ends in a secret."
        length = headers.get("content-length", "0")
        most = MOST_OF_DATA if scope["path"] == f"/{self.token}/start/upload" else MOST_BYTES
        if scope["method"] == "POST" and not (length.isdecimal() and int(length) <= most):
            return f"More than {most // 2**20} MiB cannot be sent to this page."
        return None


class StartFirst:
    """While nothing is open, lead every screen to the start screen."""

    def __init__(self, app: Any, page: Page, token: str) -> None:
        self.app = app
        self.page = page
        self.start = f"/{token}/start"
        self.free = (self.start, f"{self.start}/", f"/{token}/static/", f"/{token}/events")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or self.page.opened or scope["path"].startswith(self.free):
            await self.app(scope, receive, send)
        else:
            await RedirectResponse(self.start, status_code=303)(scope, receive, send)
