"""Tables created by a release and existing ones: who owns them, and which name means which."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from kanon_sql import anonymize, queries, refresh
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.release import tables
from support.database import create_table, mark
from support.school import FORMS, PUPILS, release, rows, there

TRIPS = [(f"t{i % 6}", float(i % 3), float(i % 2), i, i % 5) for i in range(60)]
NEEDED = {"view": "school__age", "local view": "school__age", "anatomy": "school__sensitive"}
NEEDED |= {"materialized": "school__age", "exact anatomy": "school__sensitive"}


HIERARCHIES = ("school__age", "school__zip")
BESIDE = {"view": HIERARCHIES, "local view": (*HIERARCHIES, "school__assignment", "school__classes")}
BESIDE |= {"materialized": HIERARCHIES, "anatomy": ("school__sensitive",), "exact anatomy": ("school__sensitive",)}


# As kanon_sql fills such tables, so that their columns prove nothing.
OWN = {
    "school__age": "SELECT 7 AS value, 7 AS code_0",
    "school__zip": "SELECT 'x' AS value, 7 AS code",
    "school__classes": "SELECT 7 AS class",
    "school__assignment": "SELECT 7 AS class",
    "school__sensitive": "SELECT 7 AS group_id, 'flu' AS ill, 7 AS count",
}


@pytest.fixture
def school(engine: Engine) -> Engine:
    """A table of pupils, and one of trips."""
    create_table(engine, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    types = {"taxi": "TEXT", "x": "DOUBLE PRECISION", "y": "DOUBLE PRECISION", "at": "BIGINT", "speed": "INTEGER"}
    create_table(engine, "trips", types, TRIPS)
    return engine


# Tables of others stay


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.sampled("postgres", "sail")
def test_foreign_tables_next_to_a_target_are_never_dropped(school: Engine, form: str, first: bool) -> None:
    if first:
        release(school, "table")
    for name, query in OWN.items():
        school.run(f"CREATE TABLE {name} AS {query}")
    before = {name: rows(school, name) for name in OWN}
    for overwrite in (None, True):
        if form in NEEDED and (overwrite or not first):
            with pytest.raises(TargetError, match=rf"{NEEDED[form]}, which exists already; name another target"):
                release(school, form, overwrite=overwrite)
        elif first and not overwrite:
            with pytest.raises(TargetError, match="school exists already; use `overwrite=True`"):
                release(school, form)
        else:
            release(school, form, overwrite=overwrite)
            assert rows(school, "school")
            school.run("DROP TABLE school")
        assert {name: rows(school, name) for name in OWN} == before


@pytest.mark.parametrize("kind", ["view", "local view"])
def test_conflicting_tables_are_reported_before_any_work(
    school: Engine, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Even what the released node may turn out not to need."""
    for number, name in enumerate(["school__zip", "school__classes"]):
        if number and kind == "view":
            continue
        school.run(f"CREATE TABLE {name} AS {OWN[name]}")
        monkeypatch.setattr("kanon_sql.plan.problem.build_frequency_set", None)
        with pytest.raises(TargetError, match=f"{name}, which exists already; name another target"):
            release(school, kind, overwrite=True)
        school.run(f"DROP TABLE {name}")


def test_a_table_created_meanwhile_is_not_dropped(school: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found free at the start, and there at the end."""
    monkeypatch.setattr(tables, "check", lambda *_: None)
    school.run("CREATE TABLE school AS SELECT 1 AS mine")
    with pytest.raises(TargetError, match="school exists now; use `overwrite=True`"):
        release(school, "table")
    assert rows(school, "school") == [(1,)]


@pytest.mark.parametrize(
    "comment", ["mine", 'kanon_sql: {"is": "a table", "of": "other"}', "kanon_sql: {", "kanon_sql: 7"]
)
def test_only_our_comment_with_the_name_of_the_target_proves_it(school: Engine, comment: str) -> None:
    release(school, "view")
    school.run(f"COMMENT ON TABLE school__age IS '{comment}'")
    with pytest.raises(TargetError, match="school__age, which exists already; name another target"):
        release(school, "view", overwrite=True)
    if school.dialect == "duckdb":
        release(school, "table", overwrite=True)
        assert "school__age" in there(school)


@pytest.mark.sampled
def test_our_own_release_is_replaced_completely(school: Engine, form: str) -> None:
    """By every form in turn, and back; a pair of forms once, either way."""
    others = FORMS
    if school.name == "postgresql":
        if form not in ("view", "materialized"):
            pytest.skip("DuckDB has all pairs; on a server either kind of view is replaced by every form, and back")
    else:
        others = FORMS[FORMS.index(form) :]
    for form_ in [form, *(item for other in others for item in (other, form))]:
        release(school, form_, overwrite=True)
        assert there(school) - {"pupils", "trips"} == {"school", *BESIDE.get(form_, ())}
        kind = {"view": "view", "local view": "view", "materialized": "materialized view"}.get(form_, "table")
        assert school.existing(school.place("school")).form == kind


def test_a_leftover_table_is_replaced_only_on_request(school: Engine) -> None:
    release(school, "view")
    school.run("DROP VIEW school")
    with pytest.raises(TargetError, match="school__age, which exists already; use `overwrite=True` to replace it"):
        release(school, "view")
    release(school, "view", overwrite=True)


def test_a_second_table_must_not_be_the_source(school: Engine) -> None:
    create_table(school, "school__age", {"age": "INTEGER"}, [(1,)] * 5)
    spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}}
    with pytest.raises(TargetError, match="the view school needs a table school__age, which is the source"):
        anonymize("school__age", spec, connection=school.connection, into="school", form="view", overwrite=True)


@pytest.mark.sampled
def test_the_comment_states_the_guarantee_and_keeps_the_users_comment(school: Engine, form: str) -> None:
    release(school, form)
    kind = school.existing(school.place("school")).form
    own = 'Made every night.\nAsk "Zoë"; it\'s hers. kanon_sql: no'
    ours = school.comments(school.place("school"))[school.place("school")]
    school.run(queries.comment(school.place("school"), f"{own}\n{ours}", school.dialect, kind))
    for _ in range(2):
        release(school, form, overwrite=True)
        comments = {relation.name: text for relation, text in school.comments(school.place("school")).items()}
        *first, last = comments.pop("school").splitlines()
        assert "\n".join(first) == own
        result = json.loads(last.removeprefix("kanon_sql: "))
        assert result["is"] == "release"
        if form in ("table", "view", "materialized", "anatomy"):
            assert (result["k"], result["quasi_identifiers"]) == (3, ["age", "zip"])
        assert all(json.loads(text.removeprefix("kanon_sql: "))["of"] == "school" for text in comments.values())
        assert not any(value in text for text in (last, *comments.values()) for value in ("flu", "asthma", "p1"))


# One place for one name


@pytest.fixture
def schemas(postgres: PostgreSQL) -> Iterator[tuple[PostgreSQL, str, str]]:
    """A session with two schemas on its search_path, the first its own."""
    first = postgres.rows("SELECT current_schema()")[0][0]
    second = f"{first}_two"
    postgres.run(f"CREATE SCHEMA {second}")
    postgres.run(f"SET search_path = {first}, {second}")
    yield postgres, first, second
    postgres.run(f"DROP SCHEMA {second} CASCADE")


@pytest.mark.parametrize("overwrite", [None, True])
@pytest.mark.parametrize("kind", [*FORMS, "materialized"])
@pytest.mark.sampled
def test_a_target_is_never_in_another_schema_of_the_search_path(
    schemas: tuple[PostgreSQL, str, str], kind: str, overwrite: bool | None
) -> None:
    engine, first, second = schemas
    create_table(engine, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    types = {"taxi": "TEXT", "x": "float8", "y": "float8", "at": "BIGINT", "speed": "INTEGER"}
    create_table(engine, "trips", types, TRIPS)
    for name in ("school", *OWN):
        engine.run(f"CREATE TABLE {second}.{name} AS SELECT 1 AS precious")
        says = 'kanon_sql: {"is": "a table that the view needs", "of": "school"}'
        engine.run(f"COMMENT ON TABLE {second}.{name} IS '{says}'")
    released = release(engine, kind, overwrite=overwrite)
    assert released.manifest["target"]["table"] == f"{first}.school"
    for name in ("school", *OWN):
        assert rows(engine, f"{second}.{name}") == [(1,)]
    engine.run(f"DROP TABLE {second}.school")
    release(engine, kind, into=f"{second}.school", overwrite=True)  # what stands beside it says that it is ours
    assert rows(engine, f"{second}.school")


@pytest.mark.parametrize("overwrite", [None, True])
@pytest.mark.parametrize("kind", [*FORMS, "materialized"])
@pytest.mark.sampled
def test_a_name_in_another_case_is_another_table_on_a_server(
    postgres: PostgreSQL, kind: str, overwrite: bool | None
) -> None:
    create_table(postgres, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    types = {"taxi": "TEXT", "x": "float8", "y": "float8", "at": "BIGINT", "speed": "INTEGER"}
    create_table(postgres, "trips", types, TRIPS)
    names = ["Results", *(name.replace("school", "Results") for name in OWN), "RESULTS__age", "results__AGE"]
    for name in names:
        postgres.run(f'CREATE TABLE "{name}" AS SELECT 1 AS precious')
    release(postgres, kind, into="results", overwrite=overwrite)
    assert "results" in there(postgres)
    assert [rows(postgres, f'"{name}"') for name in names] == [[(1,)]] * len(names)
    release(postgres, kind, into="Pupils", overwrite=overwrite)
    assert len(rows(postgres, "pupils")) == len(PUPILS)


def test_a_schema_has_its_own_capitals_on_a_server(postgres: PostgreSQL) -> None:
    schema = postgres.rows("SELECT current_schema()")[0][0]
    database = postgres.rows("SELECT current_database()")[0][0]
    assert postgres.place(f"{database}.{schema}.x") == Relation(schema, "x")
    with pytest.raises(TargetError, match=f"there is no schema {schema.upper()} for x; there is {schema}, in its own"):
        postgres.place(f"{schema.upper()}.x")
    with pytest.raises(TargetError, match="there is no schema nowhere for x; create it first"):
        postgres.place("nowhere.x")
    with pytest.raises(TargetError, match=r"elsewhere\.public\.x is in another database than"):
        postgres.place("elsewhere.public.x")


@pytest.mark.slow
def test_a_name_in_another_case_is_the_same_table_in_duckdb(embedded: DuckDB) -> None:
    create_table(embedded, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    embedded.run("CREATE SCHEMA hr")
    for kind in ("table", "view", "local view", "anatomy", "exact anatomy"):
        embedded.run("CREATE TABLE hr.Results AS SELECT 1 AS precious")
        with pytest.raises(TargetError, match="exists already; use `overwrite=True`"):
            release(embedded, kind, into="HR.results")
        mark(embedded, "hr.Results")
        release(embedded, kind, into="Hr.RESULTS", overwrite=True)
        names = {name for (name,) in embedded.rows("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'hr'")}
        assert kind.endswith("view") or "Results" in names
        beside = {"table": None, "view": "age", "local view": "classes"}.get(kind, "sensitive")
        assert beside is None or f"Results__{beside}" in names
        release(embedded, "table", into="hr.results", overwrite=True)
        assert embedded.rows("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'hr'") == [(1,)]
        embedded.run("DROP TABLE hr.results")
    with pytest.raises(TargetError, match="the target PUPILS is the source"):
        release(embedded, "table", into="PUPILS", overwrite=True)


@pytest.mark.parametrize("kind", ["table", "view", "local view", "anatomy", "exact anatomy"])
def test_tables_in_a_schema_of_another_case_are_kept(embedded: DuckDB, kind: str) -> None:
    create_table(embedded, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    embedded.run("CREATE SCHEMA hr")
    for name, query in OWN.items():
        embedded.run(f"CREATE TABLE hr.{name.upper()} AS {query}")
    before = [rows(embedded, f"hr.{name}") for name in OWN]
    if kind == "table":
        release(embedded, kind, into="HR.School", overwrite=True)
    else:
        with pytest.raises(TargetError, match=f"{NEEDED[kind].upper()}, which exists already"):
            release(embedded, kind, into="HR.School", overwrite=True)
    assert [rows(embedded, f"hr.{name}") for name in OWN] == before


@pytest.mark.parametrize("into", ["Other.school", "OTHER.main.school"])
@pytest.mark.parametrize("kind", ["table", "anatomy", "exact anatomy"])
def test_a_target_in_an_attached_database(tmp_path: Path, kind: str, into: str) -> None:
    with duckdb.connect(str(tmp_path / "here.duckdb")) as connection:
        engine = DuckDB(connection)
        create_table(engine, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
        engine.run("CREATE TABLE school AS SELECT 1 AS precious")
        engine.run("CREATE TABLE school__sensitive AS SELECT 1 AS precious")
        connection.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS Other")
        release(engine, kind, into=into)
        assert engine.place(into) == engine.find("other.school").relation == Relation("Other", "main", "school")
        with pytest.raises(TargetError, match="exists already; use `overwrite=True`"):
            release(engine, kind, into=into)
        release(engine, kind, into=into, overwrite=True)
        assert rows(engine, "school") == rows(engine, "school__sensitive") == [(1,)]
        with pytest.raises(TargetError, match="there is no schema nowhere for school"):
            release(engine, kind, into="nowhere.school")


def test_a_temporary_table_hides_no_target(embedded: DuckDB) -> None:
    create_table(embedded, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    embedded.run("CREATE TEMPORARY TABLE school AS SELECT 1 AS precious")
    release(embedded, "table", overwrite=True)
    assert rows(embedded, "temp.school") == [(1,)]
    assert rows(embedded, "main.school")


def test_letters_beyond_a_to_z_have_their_case_in_duckdb(embedded: DuckDB) -> None:
    create_table(embedded, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    embedded.run('CREATE TABLE "Ärzte" AS SELECT 1 AS precious')
    release(embedded, "table", into="ärzte", overwrite=True)
    assert rows(embedded, '"Ärzte"') == [(1,)]


def test_a_source_in_another_case_is_reported(postgres: PostgreSQL) -> None:
    for name in ("Pupils", "PUPILS"):
        create_table(postgres, name, {"age": "INTEGER"}, [(1,)] * 6)
    with pytest.raises(SourceError, match="pupils could be any of 'PUPILS' and 'Pupils'; write the one meant"):
        anonymize("pupils", {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}}, connection=postgres.connection)
    create_table(postgres, "School", {"age": "INTEGER"})
    with pytest.raises(TargetError, match="there is no materialized view school; did you mean 'School'"):
        refresh("school", connection=postgres.connection)
