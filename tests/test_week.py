"""A data engineer's week: every night releases, dependents stay, and no two releases single anybody out.

The same with dbt around it: `check_nights_with_changes_that_wait` in support/dbt_example.py.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import psycopg
import pytest

import kanon_sql
from support.command_line import ask, kanon
from support.nights import CODES, COVERS, DOMAIN, Row, Ward, people_singled_out
from support.standby import caught_up, standby_of

K, NIGHTS = 3, 4
SPEC = """
source: visits
database: {database}
unit: pid
quasi_identifiers:
  age: {{hierarchy: {{ranges: [20]}}, min_level: 1, max_level: 1}}
  zip: {{hierarchy: zip.csv}}
sensitive: [ill]
privacy: {{k: {k}, l_diversity: {{ill: 2}}}}
suppression_limit: 0.2
deferral_limit: 0.5
audit: true
target: {{table: anon}}
"""
READERS = "CREATE ROLE week_reader; GRANT SELECT ON anon, bi TO week_reader"
BI = "CREATE VIEW bi AS SELECT zip, COUNT(*) AS visits FROM anon GROUP BY zip"
COMMENT = "COMMENT ON COLUMN anon.ill IS 'as coded by the ward'"
COMMENTS = {
    "duckdb": "SELECT comment FROM duckdb_columns() WHERE table_name = 'anon' AND column_name = 'ill'",
    "postgres": "SELECT col_description('anon'::regclass, attnum) FROM pg_attribute "
    "WHERE attrelid = 'anon'::regclass AND attname = 'ill'",
}
INDEXES = {
    "duckdb": "SELECT index_name FROM duckdb_indexes() WHERE table_name = 'anon'",
    "postgres": "SELECT indexname FROM pg_indexes WHERE tablename = 'anon'",
}


@pytest.fixture(params=["duckdb", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("zip.csv").write_text("".join(f"{code};{code[:2]}**;*\n" for code in CODES))
    return "hospital.duckdb" if request.param == "duckdb" else str(request.getfixturevalue("postgres_dsn"))


@pytest.fixture
def standby(request: pytest.FixtureRequest, database: str) -> Iterator[tuple[str, psycopg.Connection] | None]:
    """The URL of a standby of the server, and the server's administrator; None for DuckDB."""
    if not database.startswith("postgresql"):
        yield None
        return
    _, administrator = request.getfixturevalue("_postgres_server")
    with standby_of(administrator) as url:
        yield f"{url}&options={database.partition('options=')[2]}", administrator


def test_every_night_of_a_week_releases(database: str, standby: tuple[str, psycopg.Connection] | None) -> None:
    engine = "postgres" if database.startswith("postgresql") else "duckdb"
    ward, nights, waited = Ward("a week"), list[list[Row]](), list[int]()
    Path("release.yml").write_text(SPEC.format(database=database, k=K))
    for night in range(NIGHTS):
        if night:
            ward.night()
        ward.write(database)
        shown = kanon("run", "release.yml", "--dry-run")
        assert (shown.code, "would release" in shown.out) == (0, True)
        (done,) = kanon_sql.run("release.yml").releases
        assert done.release
        assert done.status == "released"
        waited.append(done.release.manifest.get("deferred", {"waiting": 0})["waiting"])
        people = ask(database, "SELECT CAST(age AS VARCHAR), zip, ill, pid FROM anon__people")
        assert all(people_singled_out(earlier, people, DOMAIN, COVERS, K) == 0 for earlier in nights)
        nights.append(people)
        if night == 0:
            for statement in (BI, "CREATE INDEX by_zip ON anon (zip)", COMMENT):
                ask(database, statement)
            if engine == "postgres":
                ask(database, READERS)
        assert sum(visits for _, visits in ask(database, "SELECT zip, visits FROM bi")) == len(people)
        assert ask(database, INDEXES[engine]) == [("by_zip",)]
        assert ask(database, COMMENTS[engine]) == [("as coded by the ward",)]
        if engine == "postgres":
            rights = "SELECT has_table_privilege('week_reader', 'anon', 'SELECT'), {} FROM (SELECT 1) AS one"
            private = "has_table_privilege('week_reader', 'anon__people', 'SELECT')"
            assert ask(database, rights.format(private)) == [(True, False)]
        if standby:
            url, administrator = standby
            caught_up(administrator, url)
            assert Counter(ask(url, "SELECT age, zip, ill FROM anon")) == Counter(
                ask(database, "SELECT age, zip, ill FROM anon")
            )
    assert sum(map(bool, waited)) >= NIGHTS - 2
    assert any(first != second for first, second in combinations(nights, 2))
    assert kanon_sql.run("release.yml").releases[0].status == "unchanged"
    assert kanon_sql.verify(spec="release.yml").holds
    if standby:
        assert kanon_sql.verify(spec="release.yml", database=standby[0]).holds
        assert kanon_sql.profile("anon", database=standby[0]).rows == len(nights[-1])
    trail = kanon_sql.releases("kanon_releases", database=database)
    assert trail.manifest(NIGHTS).get("deferred", {"waiting": 0})["waiting"] == waited[-1]
