"""What users attach to a released table stays when the next release replaces its rows, or the release is refused."""

import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from kanon_sql import anonymize, queries
from kanon_sql.engine import Attached, Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError, TargetError, VerificationError
from kanon_sql.release import findings
from kanon_sql.release.findings import Summary
from support.database import create_table
from support.school import PUPILS, Role, rows
from support.school import SPEC as SCHOOL

TYPES = {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}
NEW = [(f"n{i}", 20 + i % 4, f"{i % 3}", "measles") for i in range(12)]
AGE = {"hierarchy": {"ranges": [2]}, "min_level": 1, "max_level": 1}  # so that its type does not depend on the rows
SPEC: dict[str, Any] = {**SCHOOL, "quasi_identifiers": {**SCHOOL["quasi_identifiers"], "age": AGE}}
FEWER = {**SPEC, "identifiers": [], "sensitive": []}
BI = "CREATE VIEW bi AS SELECT age, COUNT(*) AS pupils FROM school GROUP BY age"


def release(engine: Engine, form: str, **options: Any) -> None:
    anonymize("pupils", SPEC, connection=engine.connection, into="school", form=form, **options)


@pytest.fixture
def classroom(engine: Engine) -> Engine:
    create_table(engine, "pupils", TYPES, PUPILS)
    create_table(engine, "pupils_2", {"age": "INTEGER", "zip": "TEXT"}, [row[1:3] for row in PUPILS])
    release(engine, "table")
    return engine


def next_night(engine: Engine) -> None:
    """More pupils, and the next release."""
    for row in NEW:
        engine.run(f"INSERT INTO pupils VALUES {row}")
    release(engine, "table", overwrite=True)


def attached(engine: Any) -> list[Attached]:
    return sorted(engine.attached(engine.place("school")), key=lambda each: each.name)


def pupils_in(engine: Engine, relation: str = "school") -> int:
    return int(engine.rows(f"SELECT COUNT(*) FROM {relation}")[0][0])


def identities(engine: Engine) -> dict[str, int]:
    """The tables of the schema with their numbers in the catalog, which a new table does not inherit."""
    of = "FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    return dict(engine.rows(f"SELECT relname, oid {of}"))


def fewer_columns(engine: Engine) -> None:
    anonymize("pupils_2", FEWER, connection=engine.connection, into="school", overwrite=True)


def with_everything(engine: Engine) -> None:
    statements = [BI, "CREATE INDEX by_age ON school (age)", "COMMENT ON COLUMN school.ill IS 'it''s theirs'"]
    if isinstance(engine, PostgreSQL):
        statements += [
            "CREATE INDEX by_both ON school (lower(ill), age)",
            "ALTER TABLE school SET (fillfactor = 70, autovacuum_enabled = false)",
            "ALTER TABLE school ALTER ill SET STATISTICS 50",
            "CREATE STATISTICS of_both ON age, ill FROM school",
            "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "CREATE TRIGGER told AFTER INSERT ON school EXECUTE FUNCTION nothing()",
            "CREATE POLICY everybody ON school USING (true)",
            "ALTER TABLE school ADD CONSTRAINT filled CHECK (age IS NOT NULL)",
        ]
    for statement in statements:
        engine.run(statement)


@pytest.mark.capability("views, indexes and comments are kept")
def test_everything_attached_to_a_table_stays(classroom: Engine) -> None:
    with_everything(classroom)
    before = attached(classroom)
    assert len(before) >= 2
    for night in (1, 2):
        next_night(classroom)
        assert attached(classroom) == before
        assert pupils_in(classroom) == len(PUPILS) + night * len(NEW)
        assert classroom.rows("SELECT SUM(pupils) FROM bi") == [(len(PUPILS) + night * len(NEW),)]
    comment = classroom.comments(classroom.place("school"))[classroom.place("school")]
    assert comment.startswith("kanon_sql: ")


@pytest.mark.parametrize("attach", [with_everything, lambda engine: engine.run(BI)])
@pytest.mark.capability("views, indexes and comments are kept")
def test_a_refused_release_changes_nothing(
    classroom: Engine, attach: Callable[[Engine], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    attach(classroom)
    before = attached(classroom), sorted(rows(classroom, "school"))
    with monkeypatch.context() as patch:
        patch.setattr(findings, "summarize", lambda *_, **__: Summary(9, 2, 1, 1, 1))
        with pytest.raises(VerificationError):
            next_night(classroom)
    assert (attached(classroom), sorted(rows(classroom, "school"))) == before
    next_night(classroom)
    assert attached(classroom) == before[0]


@pytest.mark.parametrize("kind", ["by people", "anatomy"])
def test_companion_tables_stay_too(server: PostgreSQL, roles: list[Role], kind: str) -> None:
    """The private ones stay private, even if somebody granted a right to them."""
    spec = {**SPEC, "privacy": {"k": 3, "unit": "name"}, "differencing_limit": 100} if kind == "by people" else SPEC
    options: dict[str, Any] = {"connection": server.connection, "into": "school", "overwrite": True}
    companions = {"by people": {"school__people", "school__people_key"}, "anatomy": {"school__sensitive"}}[kind]
    anonymize("pupils", spec, form="table" if kind == "by people" else "anatomy", **options)
    before = identities(server)
    assert set(before) == {"pupils", "school", *companions}
    for name in companions:
        server.run(f"GRANT SELECT ON {name} TO {roles[0].name}")
    for row in NEW:
        server.run(f"INSERT INTO pupils VALUES {row}")
    anonymize("pupils", spec, form="table" if kind == "by people" else "anatomy", **options)
    assert identities(server) == before
    assert [roles[0].reads(name) for name in companions] == [kind == "anatomy"] * len(companions)


def test_a_release_with_other_columns_names_what_depends_on_the_old_one(classroom: Engine) -> None:
    with_everything(classroom)
    before = attached(classroom), sorted(rows(classroom, "school"))
    why = r"^school cannot be replaced: its columns change \(ill is missing\), and the .* depends? on it; drop what"
    with pytest.raises(TargetError, match=why):
        fewer_columns(classroom)
    assert (attached(classroom), sorted(rows(classroom, "school"))) == before


def test_a_function_that_returns_rows_of_the_old_table_is_named(server: PostgreSQL) -> None:
    release(server, "table")
    schema = _schema(server)
    server.run(f"CREATE FUNCTION of_school() RETURNS SETOF school LANGUAGE sql AS 'SELECT * FROM {schema}.school'")
    next_night(server)
    assert pupils_in(server, "of_school()") == len(PUPILS) + len(NEW)
    with pytest.raises(SourceError, match=r"other objects depend on it; function \S*of_school\(\) depends on type"):
        release(server, "view", overwrite=True)


def test_another_form_of_release_names_what_depends_on_the_old_one(server: PostgreSQL) -> None:
    release(server, "table")
    server.run(BI)
    with pytest.raises(TargetError, match=r"the table becomes a view, and the view \S*bi depends on it"):
        release(server, "view", overwrite=True)
    server.run("DROP VIEW bi")
    release(server, "view", overwrite=True)
    server.run(BI)
    with pytest.raises(TargetError, match=r"each release creates the view again, and the view \S*bi depends on it"):
        release(server, "view", overwrite=True)
    assert pupils_in(server) == len(PUPILS)


def test_indexes_and_comments_are_created_again_if_the_columns_change(server: PostgreSQL) -> None:
    release(server, "table")
    create_table(server, "pupils_2", {"age": "INTEGER", "zip": "TEXT"}, [row[1:3] for row in PUPILS])
    server.run("CREATE INDEX by_age ON school (age) WITH (fillfactor = 60)")
    server.run("COMMENT ON COLUMN school.age IS 'in ranges'")
    server.run("ALTER TABLE school SET (fillfactor = 70)")
    server.run("ALTER TABLE school ALTER age SET STATISTICS 50")
    before = attached(server)
    assert len(before) == 4
    fewer_columns(server)
    assert attached(server) == before


def test_indexes_of_a_materialized_view_are_created_again(server: PostgreSQL) -> None:
    release(server, "materialized")
    server.run("CREATE INDEX by_age ON school (age)")
    before = attached(server)
    assert [each.name for each in before] == [f"the index {_schema(server)}.by_age"]
    release(server, "materialized", overwrite=True)
    assert attached(server) == before


@pytest.mark.parametrize(
    ("identity", "published"),
    [("DEFAULT", "all"), ("DEFAULT", "insert, truncate"), ("DEFAULT", "insert"), ("FULL", "all"), ("FULL", "delete")],
)
@pytest.mark.sampled
def test_a_publication_of_a_table_stays(
    server: PostgreSQL, published: str, identity: str, request: pytest.FixtureRequest
) -> None:
    name = f"kanon_{uuid.uuid4().hex}"
    request.addfinalizer(lambda: server.run(f"DROP PUBLICATION IF EXISTS {name}"))
    release(server, "table")
    server.run(f"ALTER TABLE school REPLICA IDENTITY {identity}")
    options = "" if published == "all" else f" WITH (publish = '{published}')"
    server.run(f"CREATE PUBLICATION {name} FOR TABLE school{options}")
    before = attached(server)
    assert len(before) == 1
    for night in (1, 2):
        next_night(server)
        assert attached(server) == before
        assert pupils_in(server) == len(PUPILS) + night * len(NEW)


def test_a_reader_with_an_older_snapshot_sees_the_old_rows_and_blocks_no_one(
    server: PostgreSQL, postgres_dsn: str
) -> None:
    release(server, "table")
    before = sorted(rows(server, "school"))
    with (
        psycopg.connect(postgres_dsn, autocommit=False) as early,
        psycopg.connect(postgres_dsn, autocommit=False) as later,
    ):
        for reader in (early, later):
            reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        early.execute("SELECT 1 FROM school")  # and its lock
        later.execute("SELECT 1 FROM pupils")  # a snapshot alone
        next_night(server)
        for reader in (early, later):
            assert sorted(reader.execute("SELECT * FROM school").fetchall()) == before
    assert pupils_in(server) == len(PUPILS) + len(NEW)


def test_rows_that_another_session_adds_to_an_empty_table_meanwhile_do_not_stay(
    server: PostgreSQL, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not in the snapshot of the release, so that no DELETE finds them."""
    release(server, "table")
    server.run("TRUNCATE school")
    hold = PostgreSQL.hold

    def late(engine: PostgreSQL, relation: queries.Relation) -> None:
        server.run("INSERT INTO school VALUES ('a', 'b', 'c')")
        hold(engine, relation)

    monkeypatch.setattr(PostgreSQL, "hold", late)
    anonymize("pupils", SPEC, database=postgres_dsn, into="school", overwrite=True)
    assert pupils_in(server) == len(PUPILS)


@pytest.mark.parametrize(
    "trigger",
    [
        "TRIGGER worse BEFORE INSERT ON school FOR EACH ROW",
        "CONSTRAINT TRIGGER worse AFTER INSERT ON school INITIALLY DEFERRED FOR EACH ROW",
    ],
)
def test_a_trigger_that_makes_rows_unsafe_is_noticed(server: PostgreSQL, trigger: str) -> None:
    release(server, "table")
    before = sorted(rows(server, "school"))
    change = "NEW.age := NEW.age || random(); RETURN NEW"
    if "AFTER" in trigger:
        change = f"UPDATE {_schema(server)}.school SET age = age || random(); RETURN NULL"
    server.run(f"CREATE FUNCTION worse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN {change}; END'")
    server.run(f"CREATE {trigger} EXECUTE FUNCTION worse()")
    with pytest.raises(VerificationError):
        next_night(server)
    assert sorted(rows(server, "school")) == before


def test_a_constraint_that_refuses_a_row_is_named(server: PostgreSQL) -> None:
    release(server, "table")
    server.run("ALTER TABLE school ADD CONSTRAINT never CHECK (ill <> 'measles')")
    with pytest.raises(SourceError, match="constraint never of school does not allow a row"):
        next_night(server)


def test_the_owner_of_a_table_with_policies_for_everybody_must_see_its_rows(
    server: PostgreSQL, roles: list[Role]
) -> None:
    owner = roles[0]
    release(server, "table")
    server.run(f"GRANT CREATE ON SCHEMA {_schema(server)} TO {owner.name}")
    server.run(f"GRANT SELECT ON pupils TO {owner.name}")
    server.run(f"ALTER TABLE school OWNER TO {owner.name}")
    server.run("CREATE POLICY a_part ON school USING (age <> 'x')")
    server.run("ALTER TABLE school ENABLE ROW LEVEL SECURITY")
    anonymize("pupils", SPEC, connection=owner.session, into="school", overwrite=True)
    server.run("ALTER TABLE school FORCE ROW LEVEL SECURITY")
    with pytest.raises(TargetError, match="row-level security hides rows of school"):
        anonymize("pupils", SPEC, connection=owner.session, into="school", overwrite=True)
    assert pupils_in(server) == len(PUPILS)


@pytest.mark.parametrize(
    "constraint", ["CREATE UNIQUE INDEX once ON school (name)", "ALTER TABLE school ADD PRIMARY KEY (name)"]
)
def test_a_key_that_users_declared_stays(engine: Engine, constraint: str) -> None:
    """The same keys are deleted and inserted in one transaction."""
    create_table(engine, "pupils", TYPES, PUPILS)
    kept = {**{key: SPEC[key] for key in SPEC if key != "identifiers"}, "keep": ["name"]}
    for _ in range(3):
        anonymize("pupils", kept, connection=engine.connection, into="school", overwrite=True)
        if constraint:
            engine.run(constraint)
            constraint, before = "", attached(engine)
        assert attached(engine) == before
        assert pupils_in(engine) == len(PUPILS)


def test_a_large_release_replaces_its_rows(embedded: DuckDB) -> None:
    create_table(embedded, "pupils", TYPES)
    embedded.run(
        "INSERT INTO pupils SELECT CAST(i AS TEXT), 10 + i % 4, CAST(i % 3 AS TEXT), 'flu' FROM RANGE(150000) AS r(i)"
    )
    release(embedded, "table")
    embedded.run("CREATE INDEX by_age ON school (age)")
    for _ in range(2):
        release(embedded, "table", overwrite=True)
        assert pupils_in(embedded) == 150_000


def _schema(engine: Engine) -> str:
    return str(engine.rows("SELECT current_schema()")[0][0])
