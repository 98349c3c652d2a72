"""Who may read a release, its companion tables, and the release that replaces it."""

import pytest

from kanon_sql import anonymize, queries
from kanon_sql.engine import Engine
from kanon_sql.engines.postgres import PostgreSQL
from support.database import create_table
from support.school import PUPILS, SPEC, Role, release, there

STANDING = ("view", "local view", "materialized")


@pytest.mark.parametrize("to", ["reader", "PUBLIC"])
@pytest.mark.parametrize("kind", STANDING)
@pytest.mark.sampled
def test_default_privileges_do_not_show_what_a_view_needs(
    server: PostgreSQL, roles: list[Role], kind: str, to: str
) -> None:
    reader = roles[0]
    to = reader.name if to == "reader" else to
    server.run(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {_here(server)} GRANT ALL ON TABLES TO {to}")
    for _ in range(2):
        release(server, kind, overwrite=True)
        assert reader.reads("school")
        beside = there(server) - {"school", "pupils"}
        assert beside
        assert not any(reader.reads(f'"{name}"') for name in beside)


def test_default_privileges_show_both_tables_of_an_anatomy(server: PostgreSQL, roles: list[Role]) -> None:
    server.run(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {_here(server)} GRANT SELECT ON TABLES TO {roles[0].name}")
    release(server, "anatomy")
    assert roles[0].reads("school")
    assert roles[0].reads("school__sensitive")


@pytest.mark.parametrize("later", ["table", "view", "materialized", "anatomy"])
@pytest.mark.parametrize("kind", ["table", "view", "materialized", "anatomy"])
@pytest.mark.sampled
def test_readers_of_a_release_can_read_its_replacement(
    server: PostgreSQL, roles: list[Role], kind: str, later: str
) -> None:
    reader, passer, none = roles
    release(server, kind)
    server.run(f"GRANT SELECT ON school TO {reader.name}")
    server.run(f"GRANT SELECT, UPDATE ON school TO {passer.name} WITH GRANT OPTION")
    server.run(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {_here(server)} GRANT SELECT ON TABLES TO {none.name}")
    if kind == later == "anatomy":
        server.run(f"GRANT SELECT ON school__sensitive TO {reader.name}")
    before = server.rights(server.place("school"))
    release(server, later, overwrite=True)
    assert server.rights(server.place("school")) == before
    assert [role.reads("school") for role in roles] == [True, True, False], "as it was, not as the default is"
    if later == "anatomy":
        assert reader.reads("school__sensitive") == (kind == later)
    passer.session.execute(f"GRANT SELECT ON school TO {none.name}")


def test_rights_to_columns_stay_where_the_columns_do(server: PostgreSQL, roles: list[Role]) -> None:
    release(server, "table")
    reader = roles[0]
    server.run(f"GRANT SELECT (age, ill) ON school TO {reader.name}")
    create_table(server, "pupils_2", {"age": "INTEGER", "zip": "TEXT"}, [row[1:3] for row in PUPILS])
    anonymize(
        "pupils_2",
        {**SPEC, "identifiers": [], "sensitive": []},
        connection=server.connection,
        into="school",
        overwrite=True,
    )
    assert reader.session.execute("SELECT count(age) FROM school").fetchone() == (48,)
    assert not reader.reads("school")


@pytest.mark.parametrize("kind", ["table", "view", "materialized", "anatomy", "local view"])
@pytest.mark.capability("owners and grants are kept")
@pytest.mark.sampled
def test_an_owner_who_can_read_the_source_stays_the_owner(server: PostgreSQL, roles: list[Role], kind: str) -> None:
    owner, reader, _ = roles
    release(server, kind)
    owned = there(server) - {"pupils"}
    for able in (False, True):
        server.run(f"GRANT CREATE ON SCHEMA {_here(server)} TO {owner.name}")
        if able:
            server.run(f"GRANT SELECT ON pupils TO {owner.name}")
        for name in owned:
            form = server.existing(server.place(name)).form
            server.run(queries.set_owner(server.place(name), owner.name, "postgres", form))
        server.run(f"GRANT SELECT ON school TO {reader.name}")
        release(server, kind, overwrite=True)
        kept = able or kind in ("table", "anatomy")
        assert {server.rights(server.place(n)).owner == owner.name for n in owned} == {kept}
        assert reader.reads("school")
        assert not reader.reads("pupils")
        assert owner.reads("school") == kept
        assert not any(reader.reads(name) for name in owned - {"school", "school__sensitive"})


def _here(engine: Engine) -> str:
    return str(engine.rows("SELECT current_schema()")[0][0])
