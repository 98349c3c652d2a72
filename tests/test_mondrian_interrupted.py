"""Mondrian, interrupted in the middle of a statement: the previous rounds count."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql import interrupts
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import KanonError
from kanon_sql.recode.mondrian import _MondrianRun
from kanon_sql.recode.task import Task


@pytest.mark.parametrize("interrupted", [0, 1, 2])
def test_cuts_before_an_interruption_are_kept(interrupted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[str] = []

    def until_then(name: str) -> Callable[..., Any]:
        plain = getattr(_MondrianRun, name)

        def look(*given: Any) -> Any:
            requests.append(name)
            if len(requests) > interrupted:
                raise KanonError("interrupted")
            return plain(*given)

        return look

    @contextmanager
    def working(*_: Any) -> Iterator[None]:
        try:
            yield
        except KanonError as error:
            if str(error) != "interrupted":
                raise

    for name in ("_look", "_look_ahead"):
        monkeypatch.setattr(_MondrianRun, name, until_then(name))
    monkeypatch.setattr(Task, "working", working)
    monkeypatch.setattr(_MondrianRun, "_fits_in_memory", False)
    table = pandas.DataFrame({"x": range(200), "y": [n * 7 % 200 for n in range(200)]})
    recipes = {column: {"hierarchy": {"ranges": [10, 50]}} for column in table}
    spec = {"quasi_identifiers": recipes, "time_limit": 600}
    manifest = kanon_sql.anonymize(table, spec, strategy="mondrian", k=5).manifest
    assert manifest["verified"]
    assert manifest["classes"] == 2**interrupted
    assert len(requests) == interrupted + 1


LONG = """
WITH RECURSIVE steps AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM steps WHERE n < {})
SELECT COUNT(*) AS n FROM steps
"""


@pytest.fixture
def restless() -> Iterator[DuckDB]:
    """An engine that is interrupted a hundred times a second."""
    engine, over = DuckDB(), threading.Event()
    engine.over = over  # type: ignore[attr-defined]

    def interrupt() -> None:
        while not over.wait(0.01):
            engine.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    yield engine
    over.set()
    thread.join()
    engine.close()


def test_nothing_interrupts_a_recursive_statement_which_might_then_never_end(restless: DuckDB) -> None:
    restless.run(f"CREATE TABLE made AS {LONG.format(2000)}")
    restless.over.set()  # type: ignore[attr-defined]
    time.sleep(0.05)  # the last interrupt
    assert restless.connection.execute("FROM made").fetchall() == [(2001,)]


def test_a_signal_is_delivered_when_the_work_is_over() -> None:
    done: list[str] = []

    def work() -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.1)  # while the main thread hears of it
        done.append("all of it")

    def signalled(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, signalled)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupts.run_to_its_end(work)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert done == ["all of it"]
