"""PostgreSQL without temporary tables: on a standby, in read-only transactions, by rights."""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from kanon_sql import anonymize, attack, compare, explain, lattice, profile, risk, search, utility, verify
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import TargetError
from support.database import create_table
from support.standby import caught_up, standby_of

TYPES = {"name": "TEXT", "age": "INTEGER", "zip": "VARCHAR(4)", "born": "DATE", "weight": "NUMERIC", "ill": "TEXT"}
ROWS = [
    (
        f"p{i}",
        None if i % 40 == 7 else 20 + i % 4,
        f"z{i % 3}{i % 2}",
        f"19{70 + i % 5}-0{1 + i % 9}-01",
        ("1.5", "1.50", "2", None)[i % 4],
        ("flu", "asthma", "acne")[i % 3],
    )
    for i in range(240)
]
SPEC: dict[str, Any] = {
    "identifiers": ["name", "born"],
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [2]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "weight": {"hierarchy": "suppress"},
    },
    "sensitive": ["ill"],
    "privacy": {"k": 3},
}
VERBS: dict[str, Callable[[str], Any]] = {
    "profile": lambda dsn: profile("people", database=dsn).to_dict(),
    "risk": lambda dsn: risk("people", SPEC, database=dsn).to_dict(),
    "risk of people": lambda dsn: risk("people", SPEC, release="released", unit="name", database=dsn).to_dict(),
    "verify": lambda dsn: verify("released", SPEC, database=dsn).to_dict(),
    "verify against": lambda dsn: verify("released", SPEC, database=dsn, against="people", unit="name").to_dict(),
    "utility": lambda dsn: utility("people", "released", SPEC, database=dsn).to_dict(),
    "attack": lambda dsn: attack("released", source="people", spec=SPEC, database=dsn, seed=1).to_dict(),
    "search": lambda dsn: search("people", SPEC, database=dsn).to_dict(),
    "lattice": lambda dsn: lattice("people", SPEC, database=dsn).to_dict(),
    "compare": lambda dsn: compare("people", SPEC, database=dsn, strategies=["best_first", "ola"]).to_dict(),
    "explain": lambda dsn: explained(explain("people", SPEC, database=dsn).to_dict()),
    "explain a local recoding": lambda dsn: explained(
        explain("people", SPEC, database=dsn, strategy="mondrian").to_dict()
    ),
}


@pytest.fixture(params=["read-only transactions", "no temporary tables", "standby"])
def reading(request: pytest.FixtureRequest, postgres: PostgreSQL, postgres_dsn: str) -> Iterator[tuple[str, str]]:
    """The URL of an ordinary session, and that of one which cannot create temporary tables."""
    create_table(postgres, "people", TYPES, ROWS)
    anonymize("people", SPEC, connection=postgres.connection, into="released")
    if request.param == "read-only transactions":
        yield postgres_dsn, postgres_dsn + quote(" -c default_transaction_read_only=on")
    elif request.param == "standby":
        _, administrator = request.getfixturevalue("_postgres_server")
        standby = request.getfixturevalue("standby")
        caught_up(administrator, standby)
        yield postgres_dsn, f"{standby}&{postgres_dsn[postgres_dsn.index('options=') :]}"
    else:
        with as_a_role_without_them(postgres, postgres_dsn) as dsn:
            yield postgres_dsn, dsn


@pytest.fixture(scope="module")
def standby(_postgres_server: tuple[str, psycopg.Connection]) -> Iterator[str]:
    with standby_of(_postgres_server[1]) as url:
        yield url


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.capability("reading without temporary tables")
def test_the_result_is_that_of_an_ordinary_session(reading: tuple[str, str], verb: str) -> None:
    ordinary, restricted = (timeless(VERBS[verb](dsn)) for dsn in reading)
    assert restricted == ordinary


@pytest.mark.parametrize("strategy", ["auto", "mondrian", "kaca"])
def test_a_release_goes_to_a_file(reading: tuple[str, str], tmp_path: Path, strategy: str) -> None:
    released = []
    for number, dsn in enumerate(reading):
        made = anonymize("people", SPEC, database=dsn, output=tmp_path / f"{number}.csv", strategy=strategy, seed=1)
        assert made.verify()
        released.append((tmp_path / f"{number}.csv").read_text())
    assert released[0] == released[1]


def test_a_table_is_refused_before_any_work(postgres: PostgreSQL, postgres_dsn: str) -> None:
    create_table(postgres, "people", TYPES, ROWS)
    read_only = postgres_dsn + quote(" -c default_transaction_read_only=on")
    with pytest.raises(TargetError, match=r"is read-only .* so there can be no released in it; write a file"):
        anonymize("people", SPEC, database=read_only, into="released")


def test_a_role_without_temporary_tables_can_create_a_release(postgres: PostgreSQL, postgres_dsn: str) -> None:
    create_table(postgres, "people", TYPES, ROWS)
    with as_a_role_without_them(postgres, postgres_dsn) as dsn:
        for _ in range(2):
            anonymize("people", SPEC, database=dsn, into="by_them", overwrite=True)
            assert verify("by_them", SPEC, database=dsn)


@contextmanager
def as_a_role_without_them(postgres: PostgreSQL, dsn: str) -> Iterator[str]:
    """The URL of a session of a role that owns everything in the schema, in a database without rights to TEMPORARY."""
    name, ((database, schema),) = (
        f"kanon_{uuid.uuid4().hex}",
        postgres.rows("SELECT current_database(), current_schema()"),
    )
    with psycopg.connect(dsn, autocommit=True) as administrator:
        administrator.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
        try:
            administrator.execute(f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
            administrator.execute(f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {name}")
            administrator.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}")
            yield re.sub(r"//[^@/]*@", f"//{name}:x@", dsn)
        finally:
            administrator.execute(f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")
            administrator.execute(f"DROP OWNED BY {name} CASCADE")
            administrator.execute(f"DROP ROLE {name}")


def timeless(value: Any) -> Any:
    """A result without what differs from run to run."""
    if isinstance(value, dict):
        return {name: timeless(inner) for name, inner in value.items() if "seconds" not in name}
    return [timeless(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def explained(found: dict[str, Any]) -> Any:
    """The results of statements that do not only prepare others."""
    steps = {step["name"]: step["gave"] for step in found["steps"] if step["name"] != "make"}
    return steps, found["statement"]
