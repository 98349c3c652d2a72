"""A large table on Spark: the work of the cluster in a release, its ratio to bare statements, and the memory.

`python benchmarks/spark.py NAME [ROWS [URL]]`: ten million rows by default, on the Connect server of the URL, or else
on a Sail server in a separate process. The figures are stored by the name. The server creates the table from hashes.
Every heavy statement runs once within the release, and then the bare ones follow. CPU is that of Sail's process, or of
the workers whose process groups `KANON_SPARK_WORKERS` names; the client's memory is without the server.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from people import RELEASED, SPEC, TUPLE
from pyspark.errors import PySparkException

from kanon_sql import anonymize
from kanon_sql.engines.spark import Spark

RESULTS = Path(__file__).parent / "results" / "spark.json"
# Ages and regions are skewed, so that some tuples are rare.
PEOPLE = """
CREATE TABLE people AS
SELECT
  id AS person_id, CONCAT('name of ', MD5(CAST(id AS STRING))) AS name,
  CAST(18 + FLOOR(72 * POWER(u0, 1.5)) AS INT) AS age, LPAD(CAST(FLOOR(400 * u1 * u1) AS STRING), 3, '0') AS zip,
  u2 < 0.5 AS sex, DATE_ADD(DATE'2024-01-01', CAST(FLOOR(48 * u3) AS INT) * 15) AS admitted,
  CONCAT('ill', CAST(FLOOR(60 * u4 * u4) AS STRING)) AS disease, CAST(20000 + 80000 * u5 AS DECIMAL(10, 2)) AS income,
  CAST(FLOOR(12 * u6) AS INT) AS visits
FROM (SELECT id, {uniform} FROM RANGE({rows})) AS drawn
"""
UNIFORM = ", ".join(f"(XXHASH64(id, {i}) % 1000000 + 1000000) / 2000001D AS u{i}" for i in range(7))
COLUMNS = "age INT, zip STRING, sex BOOLEAN, admitted DATE, disease STRING, income DECIMAL(10, 2), visits INT"
METHODS = ("rows", "run", "send", "load_batches", "table", "find", "existing", "comments", "forget", "place")


def main(name: str, rows: int = 10_000_000, url: str | None = None) -> None:
    """Print what a release took on one server, and keep it."""
    with served(url) as (address, groups), tempfile.TemporaryDirectory() as warehouse:
        made = measured(address, groups, warehouse, rows)
    print(json.dumps(made, indent=1))
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**known, name: made}, indent=1) + "\n")


def measured(url: str, groups: set[int], warehouse: str, rows: int) -> dict[str, Any]:
    """The statements of a release, and their seconds over those of the bare ones, in one session."""
    on, schema = Spark.open(url), f"bench_{uuid.uuid4().hex[:8]}"
    with suppress(PySparkException):  # a cluster has one already, and keeps it
        on.connection.conf.set("spark.sql.warehouse.dir", warehouse)
    on.run(f"CREATE DATABASE {schema}")
    on.connection.catalog.setCurrentDatabase(schema)
    on.run(PEOPLE.format(rows=rows, uniform=UNIFORM))
    ((tuples,),) = on.rows(f"SELECT COUNT(*) AS n FROM (SELECT DISTINCT {TUPLE} FROM people) AS tuples")
    bare(on, groups)  # what is new to the server is slow the first time
    with watched(groups) as log:
        manifest = anonymize("people", SPEC, connection=on.connection, into="released").manifest
        log = list(log)
    took = {"scan": longest(log, "GROUP BY"), "release": longest(log, "kanon_sorted"), **bare(on, groups)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    on.run(f"DROP DATABASE {schema} CASCADE")
    on.close()
    return {
        "rows": rows,
        "tuples": tuples,
        "released rows": manifest["released_rows"],
        "asked of the server": dict(Counter(method for method, _, _ in log)),
        "asked of the server, times": len(log),
        "client megabytes": round(peak),
        "seconds": {part: round(cost.wall, 1) for part, cost in took.items()},
        "seconds of CPU": {part: round(cost.cpu, 1) for part, cost in took.items()},
        "all, seconds": round(manifest["seconds"]["total"], 1),
        "scan over GROUP BY": over(took["scan"], took["GROUP BY"]),
        "release over INSERT": over(took["release"], took["INSERT"]),
        "release over INSERT with ORDER BY": over(took["release"], took["ORDER BY"]),
    }


@dataclass(frozen=True)
class Took:
    """What a statement took: seconds on the wall, and of the server's CPU."""

    wall: float
    cpu: float


def over(one: Took, other: Took) -> dict[str, float]:
    """How many times the one takes what the other does."""
    return {"wall": round(one.wall / other.wall, 2), "CPU": round(one.cpu / other.cpu, 2) if other.cpu else 0}


def bare(on: Spark, groups: set[int]) -> dict[str, Took]:
    """What the two bare statements take, and the second in an order, as a release is written."""
    grouped = f"SELECT {TUPLE}, COUNT(*) AS n FROM people GROUP BY {TUPLE}"
    took = {"GROUP BY": timed(lambda: on.connection.sql(grouped).toArrow(), groups)}
    written = f"INSERT INTO bare SELECT {RELEASED} FROM people"
    for part, statement in (("INSERT", written), ("ORDER BY", f"{written} ORDER BY {RELEASED}")):
        on.run(f"CREATE TABLE bare ({COLUMNS})")
        took[part] = timed(partial(on.run, statement), groups)
        on.run("DROP TABLE bare")
    return took


def timed(work: Callable[[], object], groups: set[int]) -> Took:
    """What a piece of work takes."""
    started, used = time.monotonic(), cpu(groups)
    work()
    return Took(time.monotonic() - started, cpu(groups) - used)


def cpu(groups: set[int]) -> float:
    """The seconds of CPU that the processes of some groups have used (Linux)."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12]) if int(fields[2]) in groups else 0
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def watched(groups: set[int]) -> Iterator[list[tuple[str, str, Took]]]:
    """The requests to Spark in a block: the method, its statement, and the time."""
    log: list[tuple[str, str, Took]] = []
    kept = {method: getattr(Spark, method) for method in METHODS}

    def watching(method: str) -> Callable[..., Any]:
        def ask(*given: Any) -> Any:
            answers: list[Any] = []
            took = timed(lambda: answers.append(kept[method](*given)), groups)
            log.append((method, str(given[1:2]), took))
            return answers[0]

        return ask

    for method in METHODS:
        setattr(Spark, method, watching(method))
    try:
        yield log
    finally:
        for method, was in kept.items():
            setattr(Spark, method, was)


def longest(log: list[tuple[str, str, Took]], word: str) -> Took:
    """What the statement took that reads the source and says a word."""
    return max(
        (took for _, statement, took in log if "`people`" in statement and word in statement),
        key=lambda took: took.wall,
    )


@contextmanager
def served(url: str | None) -> Iterator[tuple[str, set[int]]]:
    """A running server, or Sail in a separate process, with the process groups that work for it."""
    if url:
        yield url, {int(number) for number in os.environ.get("KANON_SPARK_WORKERS", "").split(",") if number}
        return
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there,), daemon=True)
    server.start()
    yield here.recv(), {server.pid or 0}
    server.terminate()


def serve(pipe: Connection) -> None:
    """Serve, and tell the address."""
    from pysail.spark import SparkConnectServer

    os.setpgid(0, 0)
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    pipe.send(f"sc://{host}:{port}")
    time.sleep(1e6)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
