"""`kanon` without the second that its imports take: a process that has imported everything forks for every command.

The command is still a separate process, with the folder, environment and streams of its caller, and with an exit code,
so a shell can pipe it, redirect it, and stop if it fails.
"""

import gc
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NoReturn

import duckdb

# Isolated and without `site`, an interpreter is there in ten milliseconds.
CLIENT = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(request)
    ended = server.recv(1)
sys.exit(ended[0] if ended else "kanon was killed")
"""


@contextmanager
def warm_kanon(programs: Path) -> Iterator[None]:
    """Put a `kanon` into a folder for PATH, which a process of ours answers as long as this lasts."""
    root = Path(__file__).resolve().parents[2]
    # A console is as wide as its process was told when it imported it.
    env = {**os.environ, "PYTHONPATH": str(root), "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120"}
    # A short path: a socket's may have a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="kanon_", dir="/tmp") as folder:
        address = f"{folder}/socket"
        (programs / "kanon").write_text(CLIENT.format(python=sys.executable, address=address))
        (programs / "kanon").chmod(0o755)
        server = subprocess.Popen([sys.executable, __file__, address], env=env, stdout=subprocess.PIPE)
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield
        finally:
            server.terminate()
            server.wait()


def serve(address: str) -> NoReturn:
    _import_everything()
    _run_once()
    gc.collect()
    gc.freeze()  # otherwise every command looks through all imported objects for garbage, and so copies them
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while True:
            client, _ = server.accept()
            if not os.fork():
                server.close()
                _answer(client)
            client.close()
            _reap()


def _reap() -> None:
    """So that what the commands took counts as taken by this process."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _import_everything() -> None:
    """Nothing that starts a thread: a fork has none but its own."""
    import importlib
    import pkgutil

    import pandas  # noqa: F401

    import kanon_sql

    for module in pkgutil.walk_packages(kanon_sql.__path__, "kanon_sql."):
        if module.name not in ("kanon_sql.__main__", "kanon_sql.dbt", "kanon_sql.engines.spark"):
            importlib.import_module(module.name)
    for extra in ("openpyxl", "psycopg", "sklearn.ensemble", "sklearn.linear_model", "sklearn.tree"):
        with suppress(ImportError):
            importlib.import_module(extra)


def _run_once() -> None:
    """Queries are printed once in a process: those of a release are then there for all that follow."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w") as null,
        redirect_stdout(null),
        redirect_stderr(null),
    ):
        for command in (
            f"demo --rows 500 --directory {folder}",
            f"anonymize --spec {folder}/release.yml --strategy mondrian",
            f"profile {folder}/people.parquet",
        ):
            assert _run(command.split()) == 0
    duckdb.default_connection().close()  # and with it the last of DuckDB's threads, which a fork would lack


def _answer(client: socket.socket) -> NoReturn:
    code = 1
    try:
        length, streams, _, _ = socket.recv_fds(client, 8, 3)
        request = client.makefile("rb").read(int.from_bytes(length, "big"))
        arguments, folder, environment = json.loads(request)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:0] = map(os.path.abspath, filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)))
        duckdb.set_default_connection(duckdb.connect())
        code = _run(arguments)
    finally:
        with suppress(OSError):
            client.sendall(bytes([code % 256]))
        os._exit(code)


def _run(arguments: list[str]) -> int:
    from kanon_sql.cli import main

    sys.argv = ["kanon", *arguments]
    try:
        main()
    except SystemExit as ended:
        code = ended.code
        return code if isinstance(code, int) else int(code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
