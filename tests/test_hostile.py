"""A user who may create objects in the search_path: none of them runs with the rights of the anonymizing user."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import kanon_sql
from kanon_sql.engines.postgres import PostgreSQL
from support.school import LOCAL, SPEC, Role

ROOT = Path(kanon_sql.__file__).parents[1]
# A function of every name of the server's own that is in our texts, nearer to the types that we pass than the server's.
FUNCTIONS = """
DO $do$
DECLARE called name; arguments text;
BEGIN
  FOR called IN
    SELECT DISTINCT proname FROM pg_catalog.pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind <> 'p' AND proname = ANY('{words}'::text[])
  LOOP
    FOREACH arguments IN ARRAY ARRAY[
      '', 'varchar', 'name', 'name, text', 'integer', 'anyelement', 'varchar, integer'
    ] LOOP
      EXECUTE format(
        'CREATE FUNCTION %I(%s) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM trap(); END $$', called, arguments
      );
    END LOOP;
  END LOOP;
END $do$
"""
OPERATORS = """
DO $do$
DECLARE called name; operand text;
BEGIN
  FOREACH operand IN ARRAY ARRAY['varchar', 'text', 'name', 'integer', 'smallint', 'bigint', 'date', 'boolean'] LOOP
    EXECUTE format(
      'CREATE FUNCTION compare(%s, %s) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM trap(); END $$',
      operand, operand
    );
    FOR called IN SELECT DISTINCT oprname FROM pg_operator WHERE oprkind = 'b' AND oprname <> '=>' LOOP
      EXECUTE format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = compare)', called, operand, operand);
    END LOOP;
  END LOOP;
END $do$
"""
TYPES = "text", "name", "integer", "bigint", "varchar", "smallint", "boolean", "date", "regclass"


@pytest.fixture
def prey(server: PostgreSQL, roles: list[Role]) -> Iterator[psycopg.Connection]:
    """The session of somebody who anonymizes, whose search_path begins with a schema full of a stranger's traps."""
    anonymizer, stranger, _ = roles
    schema = server.rows("SELECT current_schema()")[0][0]
    for role in (anonymizer, stranger):
        server.run(f"GRANT CREATE ON SCHEMA {schema} TO {role.name}")
    server.run(f"GRANT SELECT ON pupils TO {anonymizer.name}")
    server.run(f"ALTER TABLE pupils OWNER TO {anonymizer.name}")
    sprung = "CREATE SEQUENCE sprung; GRANT USAGE ON SEQUENCE sprung TO PUBLIC;"
    trap = (
        "CREATE FUNCTION trap() RETURNS void LANGUAGE plpgsql AS "
        f"$$ BEGIN PERFORM pg_catalog.nextval('{schema}.sprung'); RAISE 'sprung'; END $$"
    )
    texts = [path.read_text() for kind in ("sql/**/*.sql", "kanon_sql/**/*.py") for path in ROOT.glob(kind)]
    words = "{" + ",".join(set(re.findall(r"[a-z_0-9]+", " ".join(texts).lower()))) + "}"
    domains = (f"CREATE DOMAIN {name} AS pg_catalog.json" for name in TYPES)
    for statement in (sprung, trap, FUNCTIONS.replace("{words}", words), OPERATORS, *domains):
        stranger.session.execute(statement)
    yield anonymizer.session
    assert stranger.session.execute("SELECT is_called FROM sprung").fetchone() == (False,)


@pytest.mark.slow
def test_no_function_of_another_user_is_called(prey: psycopg.Connection) -> None:
    path = prey.execute("SHOW search_path").fetchone()
    for form in ("table", "view", "materialized"):
        kanon_sql.anonymize("pupils", SPEC, connection=prey, into=f"as_{form}", form=form)
        kanon_sql.anonymize("PUPILS", SPEC, connection=prey, into=f"as_{form}", form=form, overwrite=True)
        assert kanon_sql.verify(f"as_{form}", connection=prey, quasi_identifiers=["age", "zip"], k=3)
        assert prey.execute(f"SELECT pg_catalog.count(*) FROM as_{form}").fetchone() == (48,)
    assert kanon_sql.refresh("as_materialized", connection=prey)["verified"]
    local = kanon_sql.anonymize("pupils", LOCAL, connection=prey, strategy="mondrian")
    assert len(local.to_df()) == 48
    kanon_sql.anonymize("pupils", SPEC, connection=prey, search_in="engine")
    kanon_sql.anonymize("pupils", SPEC, connection=prey, into="apart", form="anatomy")
    kanon_sql.risk("pupils", connection=prey, quasi_identifiers=["age", "zip"])
    kanon_sql.profile("pupils", connection=prey)
    assert prey.execute("SHOW search_path").fetchone() == path
