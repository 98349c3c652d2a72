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

from kanon_sql import anonymize, attack, explain, profile, risk, search, utility, verify
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import TargetError
from support.database import create_table
from support.engines import ByHand
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
    "risk in a population": lambda dsn: risk("people", SPEC, population="people", database=dsn).to_dict(),
    "risk of people": lambda dsn: risk("people", SPEC, release="released", unit="name", database=dsn).to_dict(),
    "verify": lambda dsn: verify("released", SPEC, database=dsn).to_dict(),
    "verify against": lambda dsn: verify("released", SPEC, database=dsn, against="people", unit="name").to_dict(),
    "utility": lambda dsn: utility("people", "released", SPEC, database=dsn).to_dict(),
    "attack": lambda dsn: attack("released", source="people", spec=SPEC, database=dsn, seed=1).to_dict(),
    "search": lambda dsn: search("people", SPEC, database=dsn).to_dict(),
    "explain": lambda dsn: explained(explain("people", SPEC, database=dsn).to_dict()),
    "explain a local recoding": lambda dsn: explained(
        explain("people", SPEC, database=dsn, strategy="mondrian").to_dict()
    ),
}


KINDS = ("standby", "read-only transactions", "no temporary tables")


@pytest.fixture(scope="module")
def sessions(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The URLs of an ordinary session, and of those that cannot create temporary tables, on the same tables."""
    if "postgres" not in request.config.getoption("--engines"):
        pytest.skip("needs PostgreSQL; add postgres to --engines")
    server, administrator = request.getfixturevalue("_postgres_server")
    schema = f"test_{uuid.uuid4().hex}"
    administrator.execute(f"CREATE SCHEMA {schema}")
    options = f"-c search_path={schema}"
    ordinary = f"{server}{'&' if '?' in server else '?'}options={quote(options)}"
    engine = ByHand.open(ordinary)
    create_table(engine, "people", TYPES, ROWS)
    anonymize("people", SPEC, database=ordinary, into="released")
    read_only = ordinary + quote(" -c default_transaction_read_only=on")
    with standby_of(administrator) as standby, as_a_role_without_them(engine, ordinary) as without:
        caught_up(administrator, standby)
        urls = [f"{standby}&options={quote(options)}", read_only, without]
        yield {"": ordinary, **dict(zip(KINDS, urls, strict=True))}
    engine.close()
    administrator.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.mark.parametrize(
    ("kind", "verb"), [*(("standby", verb) for verb in VERBS), *((kind, "risk of people") for kind in KINDS[1:])]
)
@pytest.mark.capability("reading without temporary tables")
@pytest.mark.sampled
def test_the_result_is_that_of_an_ordinary_session(sessions: dict[str, str], kind: str, verb: str) -> None:
    ordinary, restricted = (timeless(VERBS[verb](sessions[name])) for name in ("", kind))
    assert restricted == ordinary


@pytest.mark.parametrize(("kind", "strategy"), [*((kind, "auto") for kind in KINDS), ("standby", "mondrian")])
@pytest.mark.capability("reading without temporary tables")
@pytest.mark.sampled
def test_a_release_goes_to_a_file(sessions: dict[str, str], tmp_path: Path, kind: str, strategy: str) -> None:
    files = {"": tmp_path / "ordinary.csv", kind: tmp_path / "restricted.csv"}
    for name, output in files.items():
        assert anonymize("people", SPEC, database=sessions[name], output=output, strategy=strategy, seed=1).verify()
    assert files[""].read_text() == files[kind].read_text()


@pytest.mark.parametrize("kind", KINDS[:2])
def test_a_table_is_refused_before_any_work(sessions: dict[str, str], kind: str) -> None:
    with pytest.raises(TargetError, match=r"is read-only .* so there can be no by_them in it; write a file"):
        anonymize("people", SPEC, database=sessions[kind], into="by_them")


def test_a_role_without_temporary_tables_can_create_a_release(sessions: dict[str, str]) -> None:
    for _ in range(2):
        anonymize("people", SPEC, database=sessions[KINDS[2]], into="by_them", overwrite=True)
        assert verify("by_them", SPEC, database=sessions[KINDS[2]])


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
    """The results of some statements; those in between differ, as in Spark."""
    steps = {step["name"]: step["gave"] for step in found["steps"] if step["name"] != "make"}
    return steps.get("node_test"), steps["class_summary"], found["statement"]
