"""The server of the page: one port of this machine, one secret, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

from kanon_sql.page import web
from kanon_sql.page.guard import Guard
from kanon_sql.page.state import Page

ADDRESS = "127.0.0.1"


def application(page: Page, token: str, port: int) -> Starlette:
    """The page as an ASGI application, under `/token/`."""
    screens = [import_module(f"kanon_sql.page.{name}") for name in web.TITLES]
    routes = [route for screen in screens for route in screen.ROUTES]
    first = Route("/", lambda _: RedirectResponse(f"/{token}/{next(iter(web.TITLES))}"))
    hosts = [f"{name}:{port}" for name in (ADDRESS, "localhost")]

    @contextlib.asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        page.windows.loop = asyncio.get_running_loop()
        page.counting()  # so that it is there when somebody comes to it
        yield
        page.close()

    app = Starlette(
        routes=[Mount(f"/{token}", routes=[first, *web.ROUTES, *routes])],
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
        lifespan=living,
    )
    app.state.page = page
    return app


def serve(page: Page, port: int = 0, opened: Callable[[str], None] = print) -> None:
    """Serve the page until Ctrl-C or SIGTERM; `opened` is told its address. `port`: 0 takes a free one."""
    token = secrets.token_urlsafe(24)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        taken = listening.getsockname()[1]
        app = application(page, token, taken)
        config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1, ws="none")
        listening.listen()  # before the address is told: a browser that is faster than the server waits for it
        opened(f"http://{ADDRESS}:{taken}/{token}/")
        _run(uvicorn.Server(config), listening, page)


def _run(server: Any, listening: socket.socket, page: Page) -> None:
    """Run it to its end; windows that listen for events would keep it open."""
    page.windows.ending = lambda: bool(server.should_exit)
    server.run(sockets=[listening])
