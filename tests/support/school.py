"""Tables of pupils and trips, a release of each form, and the roles of a server."""

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from kanon_sql import anonymize, cloak
from kanon_sql.engine import Engine
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.verbs.anatomize import anatomize
from support.database import create_table

Row = tuple[Any, ...]
PUPILS = [(f"p{i}", 10 + i % 4, f"{i % 3}", ["flu", "asthma", "acne"][i % 3]) for i in range(48)]
SPEC: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2]}, "max_level": 1}, "zip": {"hierarchy": "suppress"}},
    "sensitive": ["ill"],
    "privacy": {"k": 3},
}
LOCAL = {**SPEC, "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": "suppress"}}}
PLACES = {"location": ["x", "y"], "time": "at", "unit": "taxi", "cloak": {"interval": 10}, "privacy": {"k": 2}}
FORMS = ("table", "view", "local view", "anatomy", "exact anatomy", "cloaked")


@pytest.fixture(params=[*FORMS, "materialized"])
def form(request: pytest.FixtureRequest, engine: Engine) -> str:
    if request.param == "materialized" and not engine.has_materialized_views:
        pytest.skip("needs materialized views, which PostgreSQL has")
    kind: str = request.param
    return kind


def release(engine: Engine, form: str, into: str = "school", **options: Any) -> Any:
    more = {"connection": engine.connection, "into": into, **options}
    if form == "cloaked":
        return cloak("trips", PLACES, **more)
    if form == "exact anatomy":
        return anatomize("pupils", {key: SPEC[key] for key in SPEC if key != "privacy"}, l=2, **more)
    if form == "local view":
        return anonymize("pupils", LOCAL, form="view", strategy="mondrian", **more)
    return anonymize("pupils", SPEC, form=form, **more)


def rows(engine: Engine, name: str) -> list[Row]:
    return engine.rows(f"SELECT * FROM {name}")


def there(engine: Engine) -> set[str]:
    """The names of all tables and views of the current schema."""
    if engine.dialect == "postgres":
        listing = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v', 'm') AND relnamespace = "
        return {name for (name,) in engine.rows(f"{listing} current_schema()::regnamespace")}
    return {name for (name,) in engine.rows("SELECT table_name FROM information_schema.tables")}


class Role:
    """A role of its own, and a session of it."""

    def __init__(self, administrator: psycopg.Connection, dsn: str, schema: str) -> None:
        self.name = f"kanon_{uuid.uuid4().hex}"
        self._administrator = administrator
        administrator.execute(f"CREATE ROLE {self.name} LOGIN PASSWORD 'x'")
        administrator.execute(f"GRANT USAGE ON SCHEMA {schema} TO {self.name}")
        self.session = psycopg.connect(dsn, user=self.name, password="x", autocommit=True)

    def reads(self, name: str) -> bool:
        try:
            self.session.execute(f"SELECT * FROM {name}")
        except psycopg.errors.InsufficientPrivilege:
            return False
        return True

    def drop(self) -> None:
        self.session.close()
        self._administrator.execute(f"DROP OWNED BY {self.name} CASCADE")
        self._administrator.execute(f"DROP ROLE {self.name}")


@pytest.fixture
def roles(postgres: PostgreSQL, postgres_dsn: str) -> Iterator[list[Role]]:
    """Three roles that may see the schema, and nothing in it."""
    schema = postgres.rows("SELECT current_schema()")[0][0]
    created: list[Role] = []
    with psycopg.connect(postgres_dsn, autocommit=True) as administrator:
        try:
            for _ in range(3):
                created.append(Role(administrator, postgres_dsn, schema))
            yield created
        finally:
            for role in created:
                role.drop()


@pytest.fixture
def server(postgres: PostgreSQL) -> PostgreSQL:
    create_table(postgres, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    return postgres
