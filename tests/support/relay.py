"""A port of localhost that forwards to a server listening elsewhere, for example on a socket of the file system."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress


@contextmanager
def on_localhost(host: str, port: int) -> Iterator[int]:
    """The port; `host` is that of a PostgreSQL connection, a folder where it listens on a socket."""
    with socket.create_server(("localhost", 0)) as door:
        threading.Thread(target=_welcome, args=(door, host, port), daemon=True).start()
        yield door.getsockname()[1]


def _welcome(door: socket.socket, host: str, port: int) -> None:
    with suppress(OSError):  # the door is closed
        while True:
            guest, _ = door.accept()
            server = _connected(host, port)
            for ends in ((guest, server), (server, guest)):
                threading.Thread(target=_carry, args=ends, daemon=True).start()


def _connected(host: str, port: int) -> socket.socket:
    if not host.startswith("/"):
        return socket.create_connection((host, port))
    server = socket.socket(socket.AF_UNIX)
    server.connect(f"{host}/.s.PGSQL.{port}")
    return server


def _carry(source: socket.socket, target: socket.socket) -> None:
    with closing(target), suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
