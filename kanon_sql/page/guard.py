"""Who may ask the page anything: the holder of its address, from this machine, from a window of its own.

A page of another site that is open in the same browser can send requests to 127.0.0.1 too. It does not know the
random token in the path; and a name of its own that it points at this machine fails by the Host header.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

MOST_BYTES = 32 * 2**20  # of a request: an uploaded hierarchy
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-src 'self'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Let through what carries the token and names this server, and give every answer its headers."""

    def __init__(self, app: Any, token: str, hosts: Iterable[str]) -> None:
        self.app, self.token, self.hosts = app, token, frozenset(hosts)

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
        """Why a request is not answered; None if it is."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:
            return "This page is only for the address that kanon page printed."
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return "Another site may not ask this page anything."
        given = scope["path"].removeprefix("/").split("/")[0].encode()  # that of `OPTIONS *` has no slash
        if not hmac.compare_digest(given, self.token.encode()):
            return "Open the whole address that kanon page printed: it ends in a secret."
        length = headers.get("content-length", "0")
        if scope["method"] == "POST" and not (length.isdecimal() and int(length) <= MOST_BYTES):
            return f"More than {MOST_BYTES // 2**20} MiB cannot be sent to this page."
        return None
