"""One publisher: a release is staged, verified and put in place, with or without transactions, or nothing is left."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import KanonError, VerificationError
from kanon_sql.release import findings, tables
from kanon_sql.release.findings import Summary
from kanon_sql.verbs.anatomize import anatomize
from support.database import create_table

TYPES = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
ROWS = [(f"p{i}", 20 + i % 4, f"z{i % 3}{i % 2}", ("flu", "asthma", "acne")[i % 3]) for i in range(120)]
SPEC: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
}
FORMS = ("table", "view", "anatomy")
KINDS = [*((form, {}) for form in FORMS), ("view", {"strategy": "mondrian"})]
Contents = dict[str, tuple[str, list[Any]]]


@pytest.fixture
def people(embedded: DuckDB) -> DuckDB:
    create_table(embedded, "people", TYPES, ROWS)
    return embedded


@pytest.fixture
def without_transactions(people: DuckDB, monkeypatch: pytest.MonkeyPatch) -> DuckDB:
    """An engine that has none: what it is told to do is done at once, and is never taken back."""

    @contextmanager
    def at_once(_: DuckDB) -> Iterator[None]:
        yield

    monkeypatch.setattr(DuckDB, "has_transactions", False)
    monkeypatch.setattr(DuckDB, "transaction", at_once)
    return people


def lasting(engine: DuckDB) -> Contents:
    """All that lasts: every table and view with its form and its rows."""
    listed = "SELECT table_name, table_type FROM information_schema.tables WHERE table_catalog <> 'temp' ORDER BY 1"
    return {name: (form, sorted(engine.rows(f'FROM "{name}"'), key=str)) for name, form in engine.rows(listed)}


def temporary(engine: DuckDB) -> list[str]:
    listed = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'temp' ORDER BY 1"
    return [name for (name,) in engine.rows(listed)]


def release(engine: DuckDB, form: str, **options: Any) -> Any:
    given = {"k": 3, "connection": engine.connection, "into": "released", "form": form, **options}
    return anonymize("people", SPEC, **given)


def drop_all(engine: DuckDB) -> None:
    """Drop everything that lasts, except the source."""
    for name, (form, _) in sorted(lasting(engine).items(), key=lambda item: item[1][0], reverse=True):  # views first
        if name != "people":
            engine.run(f'DROP {"VIEW" if form == "VIEW" else "TABLE"} "{name}"')


@pytest.mark.parametrize(("form", "options"), KINDS)
@pytest.mark.sampled
def test_without_transactions_the_end_result_is_the_same(
    people: DuckDB, monkeypatch: pytest.MonkeyPatch, form: str, options: dict[str, Any]
) -> None:
    release(people, form, **options)
    with_them, comments = lasting(people), people.comments(people.place("released"))
    monkeypatch.setattr(DuckDB, "has_transactions", False)
    for old in (None, *FORMS):
        drop_all(people)
        if old:
            release(people, old, k=2)
            people.run(f"COMMENT ON {'VIEW' if old == 'view' else 'TABLE'} released IS 'theirs'")
        release(people, form, overwrite=True, **({"replace_foreign_table": "released"} if old else {}), **options)
        assert lasting(people) == with_them, old
        commented = people.comments(people.place("released"))
        assert {relation: text.removeprefix("theirs\n") for relation, text in commented.items()} == comments, old


@pytest.mark.parametrize("old", [None, *FORMS])
def test_without_transactions_an_unsafe_release_leaves_only_the_old_one(
    without_transactions: DuckDB, monkeypatch: pytest.MonkeyPatch, old: str | None
) -> None:
    engine = without_transactions
    if old:
        release(engine, old, k=2)
    before = lasting(engine)
    monkeypatch.setattr(findings, "summarize", lambda *_, **__: Summary(9, 2, 1, 1, 1))
    for form, options in KINDS:
        with pytest.raises(VerificationError, match="that do not satisfy the privacy model"):
            release(engine, form, overwrite=True, **options)
        assert lasting(engine) == before, (form, options)


def test_without_transactions_nothing_is_left_of_an_unsafe_temporary_release(
    without_transactions: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "summarize", lambda *_, **__: Summary(9, 2, 1, 1, 1))
    with pytest.raises(VerificationError):
        anonymize("people", SPEC, connection=without_transactions.connection, k=3)
    assert not [name for name in temporary(without_transactions) if name.startswith("kanon_release")]


@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.parametrize("old", FORMS)
@pytest.mark.slow
@pytest.mark.sampled
def test_without_transactions_a_step_that_fails_is_undone(
    without_transactions: DuckDB, monkeypatch: pytest.MonkeyPatch, form: str, old: str
) -> None:
    """Every statement that puts the release in place is refused once, and all before it are undone."""
    engine, run = without_transactions, DuckDB.run
    release(engine, old, k=2)
    before, place, left = lasting(engine), tables.put_in_place, [0]

    def refused(of: DuckDB, sql: str) -> int | None:
        left[0] -= not sql.startswith("DROP")  # which undoes something, or clears away what was replaced
        if left[0] == 0 and not sql.startswith("DROP"):
            raise KanonError("the disk is full")
        return run(of, sql)

    def placing(*given: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(DuckDB, "run", refused)
            place(*given)

    monkeypatch.setattr(tables, "put_in_place", placing)
    for step in range(1, 20):
        left[0] = step
        with suppress(KanonError):
            release(engine, form, overwrite=True)
            break
        assert lasting(engine) == before, step
    assert 2 < step < 19
    assert lasting(engine)["released"][0] == ("VIEW" if form == "view" else "BASE TABLE")


@pytest.mark.parametrize("target", ["table", "view", "anatomy", "file", "exact", "temporary"])
def test_every_statement_of_a_release_is_reported(engine: Engine, tmp_path: Path, target: str) -> None:
    create_table(engine, "people", TYPES, ROWS)
    where: dict[str, Any] = {"into": "released"} if target != "file" else {"output": tmp_path / "out.parquet"}
    given = {"connection": engine.connection, **({} if target == "temporary" else where)}
    if target == "exact":
        released = anatomize("people", SPEC, l=3, **given)
    else:
        released = anonymize("people", SPEC, k=3, **given, **({"form": target} if target in FORMS else {}))
    statements = {statement.name: statement for statement in released.statements}
    assert {*statements} >= {"release"}
    assert {*statements} >= ({"rows", "sensitive"} if target in ("anatomy", "exact") else set())
    assert all(statement.sentence.endswith(".") and statement.seconds >= 0 for statement in statements.values())
    written = statements["rows" if target == "anatomy" else "release"].rows
    assert written == (None if target == "view" else released.manifest["released_rows"])
