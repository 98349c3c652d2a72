"""A real cluster that loses one of its workers in the middle of a release; `.ci/spark` starts it."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import anonymize, verify
from kanon_sql.engines.spark import Spark
from kanon_sql.errors import KanonError

pytestmark = pytest.mark.spark
ROWS = 2_000_000
PEOPLE = f"""
CREATE TABLE many AS SELECT id AS number, CAST(20 + ABS(XXHASH64(id)) % 40 AS INT) AS age,
LPAD(CAST(ABS(XXHASH64(id, 1)) % 100 AS STRING), 3, '0') AS zip, CONCAT('ill', ABS(XXHASH64(id, 2)) % 9) AS ill
FROM RANGE({ROWS})
"""
SPEC: dict[str, Any] = {
    "identifiers": ["number"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
}
CLASSES = "SELECT age, zip, ill, COUNT(*) AS n FROM released GROUP BY age, zip, ill"


@pytest.fixture
def workers() -> list[int]:
    """The process groups of the workers, each with its executors."""
    if "KANON_SPARK_WORKERS" not in os.environ:
        pytest.skip("needs a cluster whose workers may be killed; run .ci/spark")
    return [int(item) for item in os.environ["KANON_SPARK_WORKERS"].split(",")]


def executors(worker: int) -> int:
    """How many processes of a worker's group live, the worker not counted."""
    stats = [path.read_text().rpartition(")")[2].split() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    return sum(fields[2] == str(worker) and fields[0] != "Z" for fields in stats) - 1


def test_a_worker_that_is_killed_leaves_a_whole_release(
    workers: list[int], spark: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either the new release, every row of it, or the old one as it was, and one sentence."""
    spark.run(PEOPLE)
    given = {"connection": spark.connection, "into": "released", "overwrite": True}
    anonymize("many", SPEC, k=2, **given)
    old = sorted(spark.rows(CLASSES))
    assert executors(workers[0]) == 1
    run, killed = Spark.run, []

    def losing_a_worker(of: Spark, sql: str) -> None:
        """The statement that writes the release runs for a second, and then half of the cluster is gone."""
        if not sql.startswith("INSERT") or killed:
            return run(of, sql)
        timer = threading.Timer(1, lambda: (os.killpg(workers[0], signal.SIGKILL), killed.append(time.monotonic())))
        timer.start()
        try:
            return run(of, sql)
        finally:
            killed.append(time.monotonic())
            timer.cancel()

    monkeypatch.setattr(Spark, "run", losing_a_worker)
    text = None
    try:
        release = anonymize("many", SPEC, k=700, **given)
    except KanonError as error:
        text = str(error)
    assert len(killed) == 2, "the release was written before the worker was killed"
    if text is None:
        assert release.manifest["released_rows"] == ROWS
        assert verify("released", connection=spark.connection, quasi_identifiers=["age", "zip"], k=700)
        assert spark.rows("SELECT SUM(n) AS n FROM (" + CLASSES + ") AS f") == [(ROWS,)]
        assert sorted(spark.rows(CLASSES)) != old
    else:
        assert "\n" not in text
        assert sorted(spark.rows(CLASSES)) == old
    left = {table.name for table in spark.connection.catalog.listTables()}
    assert left == {"many", "released"}
