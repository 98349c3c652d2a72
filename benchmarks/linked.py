"""Several tables of the same people: a release compared with a bare self-join, and growth with people, events and m.

`python linked.py 100000 2 300` releases 100,000 patients with 1 million visits and 3 million diagnoses at m = 2, with a
search of 300 seconds; `python linked.py growth` varies people, rows and m. `python linked.py flat 20000` compares a
release of three tables with one of their join. `python linked.py init 100000` suggests the spec of such a database.
`python linked.py nights 5000 1 10 0.002` releases 5,000 people on ten nights: each night 0.2 % of them arrive, as many
visits are added, and a third as many people leave. `python linked.py nights 5000 1 10 0.002 values` keeps the sex as a
sensitive column with two values, which are compared as well. `python linked.py live 5000 2 15` compares views with
tables, and reads them on DuckDB and PostgreSQL.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from engines import server

from kanon_sql import anonymize, anonymize_database, run_database, suggest_database, verify_database

MEMORY = "3GB"
VISITS, DIAGNOSES = 10, 30  # per person
PATIENTS = {
    "birth_year": {"hierarchy": {"ranges": [5, 10, 20, 40]}},
    "zip": {"hierarchy": {"redact": "right"}},
    "sex": {"hierarchy": "suppress"},
}
VISIT_COLUMNS = {"admitted": {"hierarchy": {"dates": ["month", "quarter", "year"]}}, "ward": {"hierarchy": "suppress"}}
CODES = {"code": {"hierarchy": {"redact": "right"}}}


def hospital(path: Path, people: int, visits: int = VISITS, diagnoses: int = DIAGNOSES) -> None:
    """Patients, visits and diagnoses with skewed values, the same in every run."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET threads = 1")
        connection.execute("SELECT SETSEED(0.5)")
        connection.execute(f"""
            CREATE TABLE patients AS SELECT
              range AS patient_id, 1930 + CAST(FLOOR(90 * SQRT(RANDOM())) AS INT) AS birth_year,
              PRINTF('%05d', CAST(1000 + FLOOR(RANDOM() * RANDOM() * 200) * 7 AS INT)) AS zip,
              CASE WHEN RANDOM() < 0.5 THEN 'f' ELSE 'm' END AS sex FROM RANGE({people})""")
        connection.execute(f"""
            CREATE TABLE visits AS SELECT
              range AS visit_id, CAST(FLOOR(RANDOM() * {people}) AS BIGINT) AS patient_id,
              DATE '2020-01-01' + CAST(FLOOR(RANDOM() * 1000) AS INT) AS admitted,
              'ward ' || CAST(FLOOR(RANDOM() * RANDOM() * 12) AS INT) AS ward FROM RANGE({people * visits})""")
        connection.execute(f"""
            CREATE TABLE diagnoses AS SELECT
              CAST(FLOOR(RANDOM() * {people * visits}) AS BIGINT) AS visit_id,
              CHR(65 + CAST(FLOOR(RANDOM() * RANDOM() * 20) AS INT))
                || PRINTF('%02d', CAST(FLOOR(RANDOM() * 50) AS INT)) AS code
            FROM RANGE({people * diagnoses})""")


def spec(database: Path, m: int | str, seconds: float) -> dict[str, Any]:
    """The spec of the three tables."""
    return {
        "database": str(database),
        "memory_limit": MEMORY,
        "unit": {"patients": "patient_id"},
        "tables": {
            "patients": {"quasi_identifiers": PATIENTS},
            "visits": {"keys": {"visit_id": "own", "patient_id": "patients"}, "quasi_identifiers": VISIT_COLUMNS},
            "diagnoses": {"keys": {"visit_id": "visits"}, "quasi_identifiers": CODES},
        },
        "privacy": {"k": 5, "m": m},
        "time_limit": seconds,
        "into": {"schema": "released"},
    }


def self_join(database: Path) -> tuple[float, int]:
    """Seconds of one GROUP BY of the pairs of released rows of a person by their labels, and the pairs."""
    with duckdb.connect(str(database), read_only=True) as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        connection.execute("""
            CREATE TEMP TABLE events AS
            SELECT DENSE_RANK() OVER (ORDER BY patient_id) AS person, DENSE_RANK() OVER (ORDER BY label) AS label
            FROM (SELECT patient_id, admitted || ward AS label FROM released.visits
                  UNION ALL
                  SELECT patient_id, admitted || ward || code
                  FROM released.diagnoses JOIN released.visits USING (visit_id))""")
        started = time.perf_counter()
        ((pairs,),) = connection.execute("""
            SELECT SUM(n) FROM (
              SELECT COUNT(*) AS n FROM events AS a JOIN events AS b ON a.person = b.person AND a.label <= b.label
              GROUP BY a.label, b.label)""").fetchall()
        return time.perf_counter() - started, int(pairs)


def release(people: int, m: int | str, seconds: float, visits: int = VISITS, diagnoses: int = DIAGNOSES) -> None:
    """Release and verify one database, and print a line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hospital.duckdb"
        hospital(path, people, visits, diagnoses)
        settings = spec(path, m, seconds)
        started = time.perf_counter()
        manifest = anonymize_database(settings).manifest
        released = time.perf_counter() - started
        started = time.perf_counter()
        assert verify_database(settings).satisfied
        verified = time.perf_counter() - started
        bare, pairs = self_join(path)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{people:,} people, {visits} visits, {diagnoses} diagnoses each, m = {m}: {released:.1f} s, "
            f"{manifest['nodes_checked']} nodes, loss {manifest['score']:.4f} (bound {manifest['lower_bound']:.4f}), "
            f"verify {verified:.1f} s, bare self-join {bare:.1f} s ({pairs:,} pairs), {memory:.1f} GiB; "
            f"{manifest['released_people']:,} people, "
            f"{manifest['tables']['diagnoses']['released_rows']:,} diagnoses"
        )


def flat(people: int, seconds: float = 60) -> None:
    """The join of all tables as one table of people with several rows, released with a unit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hospital.duckdb"
        hospital(path, people)
        with duckdb.connect(str(path)) as connection:
            connection.execute("""
                CREATE TABLE flat AS SELECT p.*, v.admitted, v.ward, d.code
                FROM patients p LEFT JOIN visits v USING (patient_id) LEFT JOIN diagnoses d USING (visit_id)""")
        joined = anonymize(
            "flat", database=path, quasi_identifiers={**PATIENTS, **VISIT_COLUMNS, **CODES}, unit="patient_id", k=5,
            suppression_limit=0.01, time_limit=seconds, into="flat_released",
        ).manifest  # fmt: skip
        rows = f"{joined['released_rows']:,} of {joined['rows']:,} rows"
        print(f"flat: loss {joined['score']:.4f}, {rows}, node {joined['node']}")
        for m in (1, 2):
            settings = {**spec(path, m, seconds), "into": {"schema": f"m{m}"}}
            found = anonymize_database(settings).manifest
            released = f"{found['released_people']:,} of {found['people']:,} people"
            print(f"m = {m}: loss {found['score']:.4f}, {released}, node {found['node']}")


def night(connection: duckdb.DuckDBPyConnection, people: int, share: float) -> None:
    """The changes of a night: people arrive with two visits, others have a new one, and some leave."""
    arrivals = max(1, int(people * share))
    connection.execute(f"""
        CREATE OR REPLACE TEMP TABLE gone AS SELECT patient_id FROM patients ORDER BY RANDOM() LIMIT {arrivals // 3};
        DELETE FROM diagnoses WHERE visit_id IN (SELECT visit_id FROM visits WHERE patient_id IN (FROM gone));
        DELETE FROM visits WHERE patient_id IN (FROM gone);
        DELETE FROM patients WHERE patient_id IN (FROM gone);
        CREATE OR REPLACE TEMP TABLE arrivals AS
          SELECT (SELECT MAX(patient_id) FROM patients) + ROW_NUMBER() OVER () AS patient_id, * EXCLUDE patient_id
          FROM patients USING SAMPLE {arrivals};
        INSERT INTO patients SELECT * FROM arrivals;
        CREATE OR REPLACE TEMP TABLE fresh AS
          SELECT (SELECT MAX(visit_id) FROM visits) + ROW_NUMBER() OVER () AS visit_id, patient_id
          FROM (FROM arrivals UNION ALL FROM arrivals UNION ALL FROM (FROM patients USING SAMPLE {arrivals}));
        INSERT INTO visits
          SELECT visit_id, patient_id, DATE '2020-01-01' + CAST(FLOOR(RANDOM() * 1000) AS INT),
            'ward ' || CAST(FLOOR(RANDOM() * RANDOM() * 12) AS INT) FROM fresh;
        INSERT INTO diagnoses
          SELECT visit_id, CHR(65 + CAST(FLOOR(RANDOM() * RANDOM() * 20) AS INT))
            || PRINTF('%02d', CAST(FLOOR(RANDOM() * 50) AS INT)) FROM (FROM fresh UNION ALL FROM fresh)""")


def with_sensitive(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with the sex as a sensitive column."""
    known = {name: recipe for name, recipe in PATIENTS.items() if name != "sex"}
    tables = {**spec["tables"], "patients": {"quasi_identifiers": known, "sensitive": ["sex"]}}
    return {**spec, "tables": tables, "privacy": {**spec["privacy"], "l_diversity": {"patients.sex": 2}}}


def nights(people: int, m: int, number: int, share: float, values: bool) -> None:
    """Release a database night after night, and print a line for the last one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hospital.duckdb"
        hospital(path, people, 2, 4)
        asked = {**spec(path, m, 30), "deferral_limit": 1.0}
        asked = with_sensitive(asked) if values else asked
        first = run_database(asked).release
        assert first
        changed, started = 0, time.perf_counter()
        for _ in range(number):
            with duckdb.connect(str(path)) as connection:
                connection.execute("SET threads = 1")
                night(connection, people, share)
            release = run_database(asked).release
            assert release
            waiting = release.manifest["waiting"]
            kinds = ("to_appear", "to_leave", "to_change")
            waits = sum(table[kind] for table in waiting["tables"].values() for kind in kinds)
            changed += waiting["changed_rows"] - waits
        seconds = (time.perf_counter() - started) / number
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{people:,} people, m = {m}, {number} nights of {share:.1%}: loss {first.manifest['score']:.4f}, "
            f"{changed:,} rows changed, {waits:,} wait, of {waiting['people'] / people:.1%} of the people, "
            f"{seconds:.1f} s a night, {memory:.1f} GiB"
        )


def live(people: int, m: int, seconds: float) -> None:
    """Release tables and views, the views also at the node of the tables, and read the views on both engines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hospital.duckdb"
        hospital(path, people)
        settings = spec(path, m, seconds)
        levels = None
        for form in ("table", "view"):
            found = anonymize_database({**settings, "into": {"schema": form, "as": form}}).manifest
            described(f"{form}s", found)
            levels = levels or found["node"]
        at_node = {**settings, "tables": at_levels(settings["tables"], levels), "event_suppression_limit": 1.0}
        described(
            "views at the node of the tables",
            anonymize_database(at_node, into={"schema": "same", "as": "view"}).manifest,
        )
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"SET memory_limit = '{MEMORY}'")
            print("DuckDB:", reads(connection, "view"))
            on_server(connection, {**settings, "tables": at_levels(settings["tables"], found["node"])})


def at_levels(tables: dict[str, Any], levels: dict[str, dict[str, int]]) -> dict[str, Any]:
    """The tables of a spec with a single node."""
    fixed: dict[str, Any] = {}
    for name, table in tables.items():
        recipes = table["quasi_identifiers"].items()
        bounds = {column: {"min_level": level, "max_level": level} for column, level in levels[name].items()}
        fixed[name] = {**table, "quasi_identifiers": {column: {**of, **bounds[column]} for column, of in recipes}}
    return fixed


def described(what: str, manifest: dict[str, Any]) -> None:
    """Print a line about a release."""
    tables = manifest["tables"].items()
    kept = ", ".join(f"{table['released_rows'] / table['rows']:.2%} of {name}" for name, table in tables)
    print(f"{what}: {manifest['seconds']} s, loss {manifest['score']:.4f}, {kept}, {manifest['node']}", flush=True)


def on_server(source: duckdb.DuckDBPyConnection, settings: dict[str, Any]) -> None:
    """Read the views of the same tables on PostgreSQL."""
    settings = {key: value for key, value in settings.items() if key not in ("database", "memory_limit")}
    with server() as on, psycopg.connect(on.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE patients (patient_id INT, birth_year INT, zip TEXT, sex TEXT)")
        connection.execute("CREATE TABLE visits (visit_id INT, patient_id INT, admitted DATE, ward TEXT)")
        connection.execute("CREATE TABLE diagnoses (visit_id INT, code TEXT)")
        for table in settings["tables"]:
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in source.execute(f"FROM {table}").fetchall():
                    copy.write_row(row)
        connection.execute("VACUUM ANALYZE")
        anonymize_database(settings, connection=connection, into={"schema": "view", "as": "view"})
        print("PostgreSQL:", reads(connection, "view"))


def reads(connection: Any, schema: str) -> str:
    """The seconds to read every view, the least of three."""
    found = []
    for table in ("patients", "visits", "diagnoses"):
        seconds = []
        for _ in range(3):
            started = time.perf_counter()
            rows = len(connection.execute(f"SELECT * FROM {schema}.{table}").fetchall())
            seconds.append(time.perf_counter() - started)
        found.append(f"{table} {min(seconds):.2f} s ({rows:,} rows)")
    return ", ".join(found)


def suggestion(people: int) -> None:
    """Suggest the spec of a database, and print a line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hospital.duckdb"
        hospital(path, people)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        started = time.perf_counter()
        suggested = suggest_database(path, memory_limit=MEMORY)
        seconds = time.perf_counter() - started
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows = ", ".join(f"{table.name} {table.rows:,}" for table in suggested.tables)
        print(f"init: {seconds:.1f} s, {memory:.1f} GiB ({before:.1f} GiB before) for {rows}")


if __name__ == "__main__":
    if sys.argv[1] == "init":
        suggestion(int(sys.argv[2]))
    elif sys.argv[1] == "nights":
        nights(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), "values" in sys.argv)
    elif sys.argv[1] == "live":
        live(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    elif sys.argv[1] == "flat":
        flat(int(sys.argv[2]))
    elif sys.argv[1] == "growth":
        for m in (0, 1, 2, 3):
            release(2_000, m, 60)
        for people in (5_000, 10_000, 20_000):
            release(people, 2, 60)
        for visits in (2, 5, 10, 20):
            release(5_000, 2, 60, visits, 3 * visits)
    else:
        release(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2].isdigit() else sys.argv[2], float(sys.argv[3]))
