"""Interrupted runs: signals and kills at any moment, in real processes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SourceError
from kanon_sql.interrupts import LINE, Signals, Stopped, ended_by_signals, interrupted_by_signals
from kanon_sql.staging import _HOST as HOST

# As the installed script does it, in a shell's foreground; a byte tells that the process listens to signals. Before
# that, for a moment which a busy machine may draw out, it ends as any process does.
START = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import kanon_sql.cli
from kanon_sql.interrupts import Signals
watch = Signals.watch
def watch_and_tell(self, *args):
    os.write(1, b".")
    watch(self, *args)
Signals.watch = watch_and_tell
kanon_sql.cli.process()
"""


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """`kanon` in a process of its own, about to begin."""
    line = [sys.executable, "-c", START, *arguments]
    pipe = subprocess.PIPE
    process = subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, cwd=folder)
    assert process.stdout
    assert os.read(process.stdout.fileno(), 1) == b"."
    return process


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table that takes a release about as long as the imports do."""
    query = "SELECT range AS id, range % 71 AS age, range % 13 AS zip, range % 7 AS sex FROM RANGE(2000)"
    duckdb.execute(f"COPY ({query}) TO '{tmp_path / 'people.csv'}'")
    return tmp_path


RELEASE = "anonymize people.csv --identifiers id --quasi-identifiers age,zip,sex --strategy mondrian --output anon.csv"


@pytest.mark.slow
def test_a_signal_at_any_moment_ends_the_run_with_one_line(people: Path) -> None:
    draw = random.Random()
    began = time.monotonic()
    out, err = started(people, *RELEASE.split()).communicate()
    assert (people / "anon.csv").exists(), out + err
    length = time.monotonic() - began
    # A third of them in the first moments, where modules are imported.
    moments = [draw.random() * (0.3 if i % 3 == 0 else length) for i in range(16)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(_end, [people / str(i) for i in range(len(moments))], moments))


def _end(folder: Path, moment: float) -> None:
    """Send a run one of the two signals, and look what it says and leaves."""
    folder.mkdir()
    shutil.copy(folder.parent / "people.csv", folder)
    number = random.choice([signal.SIGINT, signal.SIGTERM])
    process = started(folder, *RELEASE.split())
    time.sleep(moment)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    text = f"{signal.Signals(number).name} after {moment:.3f} s: {process.returncode}, {out}, {err}"
    if "Verified" in out:  # the run was over, and what is left is Python's own end
        assert "Traceback" not in err, text
    else:
        assert process.returncode == 128 + number, text
        assert err == f"{LINE}\n", text
    assert {path.name for path in folder.iterdir()} <= {"people.csv", "anon.csv"}, text


LONG = "SELECT COUNT(*) FROM (SELECT a.i FROM {0} AS a, {0} AS b, {0} AS c WHERE (a.i * b.i + c.i) % 7 = 3) AS d"


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_interrupts_a_long_statement(engine: Engine, number: int) -> None:
    series = "range(100000) AS t(i)" if isinstance(engine, DuckDB) else "generate_series(1, 100000) AS t(i)"
    engine.run(f"CREATE TEMPORARY TABLE long AS SELECT i FROM {series}")
    late = threading.Timer(0.5, os.kill, [os.getpid(), number])
    late.start()
    with pytest.raises(Stopped) as stopped:
        _run_until_stopped(engine, LONG.format("long"))
    assert stopped.value.number == number


def _run_until_stopped(engine: Engine, sql: str) -> None:
    with ended_by_signals() as signals:
        signals.tidy = True
        engine.rows(sql)


def test_the_running_statement_is_interrupted_before_the_handler_raises() -> None:
    class Working:
        interrupted = False

        def interrupt(self) -> None:
            self.interrupted = True

    working = Working()
    interrupted_by_signals(working, at_once=True)
    with pytest.raises(Stopped):
        Signals(tidy=True)(signal.SIGTERM, None)
    assert working.interrupted


@pytest.mark.usefixtures("terminal")
def test_a_ctrl_c_noticed_by_duckdb_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Noticed:
        def execute(self, _: str) -> Any:
            raise RuntimeError("Query interrupted")

    engine = DuckDB()
    monkeypatch.setattr(engine, "connection", Noticed())
    with pytest.raises(KeyboardInterrupt):
        engine.run("SELECT 1")


@pytest.mark.usefixtures("terminal")
def test_handlers_are_restored() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(SourceError), ended_by_signals():
        raise SourceError("no table")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_in_a_finalizer_is_not_lost(number: int) -> None:
    class Final:
        def __del__(self) -> None:
            os.kill(os.getpid(), number)
            time.sleep(0.01)  # the handler runs here, and Python ignores what it raises

    with pytest.raises(Stopped) as stopped:
        _finalize_and_go_on(Final)
    assert stopped.value.number == number


def _finalize_and_go_on(finalized: type) -> None:
    with ended_by_signals() as signals:
        signals.tidy = True
        finalized()
        time.sleep(30)


@pytest.mark.slow
def test_the_next_run_removes_the_leftovers_of_a_killed_one(people: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = people / f".kanon-{HOST}-{dead.pid}-abcdefgh"
    others = [people / f".kanon-{HOST}-{os.getpid()}-abcdefgh", people / f".kanon-elsewhere-{dead.pid}-abcdefgh"]
    for folder in (left, *others):
        folder.mkdir()
        (folder / "0").write_text("half a release")
    process = started(people, *RELEASE.split())
    out, err = process.communicate()
    assert "Verified" in out, err
    assert not left.exists()
    assert all((folder / "0").exists() for folder in others)
