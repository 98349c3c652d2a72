"""Sessions of PostgreSQL that may not write: on a standby, by default, and as a role without temporary tables."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg


@contextmanager
def standby_of(administrator: psycopg.Connection) -> Iterator[str]:
    """The URL of a hot standby of a server that runs on this machine, as the same user of the system."""
    primary, (bin_folder,) = (
        administrator.info,
        _row(administrator, "SELECT setting FROM pg_config WHERE name = 'BINDIR'"),
    )
    (data,) = _row(administrator, "SHOW data_directory")
    owner = Path(data).stat().st_uid
    folder = Path(tempfile.mkdtemp(prefix="kanon_sb_"))
    try:
        os.chown(folder, owner, -1)

        def run(program: str, *options: str) -> None:
            line = [f"{bin_folder}/{program}", *options]
            as_owner = {} if owner == os.geteuid() else {"user": owner}
            subprocess.run(
                line, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, **as_owner
            )

        place = ["-h", primary.host, "-p", str(primary.port), "-U", primary.user]
        run("pg_basebackup", *place, "-D", f"{folder}/data", "-c", "fast", "-X", "stream", "-R")
        Path(f"{folder}/data/postmaster.pid").unlink(missing_ok=True)
        run("pg_ctl", "-w", "-D", f"{folder}/data", "-l", f"{folder}/log", "-o", f"-h '' -k {folder}", "start")
        try:
            yield f"postgresql://{primary.user}@/{primary.dbname}?host={quote(str(folder))}&port={primary.port}"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "-D", f"{folder}/data", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def caught_up(administrator: psycopg.Connection, standby: str) -> None:
    """Wait until the standby has all that the primary has now."""
    (position,) = _row(administrator, "SELECT pg_current_wal_flush_lsn()")
    with psycopg.connect(standby, autocommit=True) as session:
        until = time.monotonic() + 20
        while not session.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [position]).fetchone()[0]:
            assert time.monotonic() < until, "the standby does not follow the primary"
            time.sleep(0.02)


def _row(session: psycopg.Connection, sql: str) -> tuple:
    row = session.execute(sql).fetchone()
    assert row
    return row
