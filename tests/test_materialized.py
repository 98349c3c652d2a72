"""Materialized releases: their rows, and what a refresh does."""

import json
import re
from typing import Any

import pytest

import kanon_sql
from kanon_sql import anonymize, refresh
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import KanonError, SourceWarning, SpecError, TargetError, VerificationError
from kanon_sql.release import recoded
from support.database import create_table
from support.school import LOCAL, PUPILS, SPEC, Role, release, rows, there


def test_a_materialized_view_is_for_engines_that_have_one(embedded: DuckDB) -> None:
    create_table(embedded, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    with pytest.raises(SpecError, match="duckdb has no materialized views; use `form='table'`, and refresh it with"):
        release(embedded, "materialized")
    with pytest.raises(
        SpecError, match="duckdb has no materialized views; release a table again with `overwrite=True`"
    ):
        refresh("school", connection=embedded.connection)
    assert there(embedded) == {"pupils"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask": True}, "a view drops rows instead of masking them"),
        ({"perturb": {"ill": {"pram": {"keep": 0.5}}}}, "a view would be perturbed again"),
    ],
)
def test_impossible_views_are_refused(server: PostgreSQL, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        release(server, "materialized", **options)


@pytest.mark.capability("a materialized view")
def test_a_materialized_release_shows_the_source_of_its_last_refresh(server: PostgreSQL) -> None:
    first = release(server, "materialized", suppression_limit=0.1)
    assert first.manifest["target"]["as"] == "materialized"
    before = sorted(rows(server, "school"))
    server.run("INSERT INTO pupils SELECT 'new', 99, '9', 'rare' FROM generate_series(1, 2)")
    server.run("DELETE FROM pupils WHERE zip = '0' AND age = 10 AND name <> 'p0'")
    assert sorted(rows(server, "school")) == before
    released = refresh("school", connection=server.connection)
    after = rows(server, "school")
    assert (released["verified"], released["released_rows"], released["smallest_class"] >= 3) == (
        True,
        len(after),
        True,
    )
    assert sorted(after) != before
    assert all(ill != "rare" for *_, ill in after), "two of a class are too few"
    server.run("INSERT INTO pupils SELECT 'new', 99, '9', 'rare' FROM generate_series(1, 1)")
    refresh("school", connection=server.connection)
    assert sum(ill == "rare" for *_, ill in rows(server, "school")) == 3
    assert "rare" not in json.dumps(released)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "name", "identifiers": []}, "can be verified only by people, whose column no release has"),
        ({"t_closeness": {"ill": 0.9}}, "can be verified only by what its source is"),
    ],
)
def test_a_release_with_an_incomplete_description_is_not_refreshed(
    server: PostgreSQL, options: dict[str, Any], message: str
) -> None:
    """Rows would be counted for people, and the view compared with itself, and either called verified."""
    release(server, "materialized", **options)
    before = sorted(rows(server, "school"))
    server.run("UPDATE pupils SET name = 'p0'")
    with pytest.raises(SpecError, match=message):
        refresh("school", connection=server.connection)
    assert sorted(rows(server, "school")) == before


def test_a_local_recoding_can_be_materialized_too(server: PostgreSQL) -> None:
    anonymize(
        "pupils",
        LOCAL,
        connection=server.connection,
        into="school",
        form="materialized",
        strategy="mondrian",
        suppression_limit=1.0,
    )
    assert "school__assignment" in there(server)
    server.run("DELETE FROM pupils WHERE name < 'p3'")
    released = refresh("school", connection=server.connection)
    assert released["smallest_class"] >= 3
    assert 0 < released["released_rows"] == len(rows(server, "school")) <= len(rows(server, "pupils")) < len(PUPILS)


def test_a_refresh_that_fails_verification_leaves_the_old_rows(
    server: PostgreSQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recoded, "promise", lambda *_: {"k": 40, "quasi_identifiers": ["age", "zip"]})
    release(server, "materialized")  # which promises more than it keeps
    before = rows(server, "school")
    server.run("INSERT INTO pupils SELECT * FROM pupils")
    with pytest.raises(VerificationError, match=r"school would have \d+ rows in \d+ classes that do not"):
        refresh("school", connection=server.connection)
    assert rows(server, "school") == before


def test_only_a_materialized_release_can_be_refreshed(server: PostgreSQL, roles: list[Role]) -> None:
    cases = {"table": "is replaced by anonymize with `overwrite=True`", "view": "shows its source as it is now"}
    for kind, message in cases.items():
        release(server, kind, overwrite=True)
        with pytest.raises(TargetError, match=f"school is a {kind}, which {message}"):
            refresh("school", connection=server.connection)
    release(server, "materialized", overwrite=True)
    server.run(f"GRANT SELECT ON school TO {roles[0].name}")
    with pytest.raises(KanonError, match=r"must be owner|permission denied"):
        refresh("school", connection=roles[0].session)
    if server.connection.info.server_version >= 170000:
        server.run(f"GRANT MAINTAIN ON school TO {roles[0].name}; GRANT SELECT ON pupils TO {roles[0].name}")
        assert refresh("school", connection=roles[0].session)["verified"]
    server.run("COMMENT ON MATERIALIZED VIEW school IS 'mine'")
    with pytest.raises(TargetError, match="no comment on school names the k"):
        refresh("school", connection=server.connection)
    with pytest.raises(TargetError, match="there is no materialized view nowhere; check its name"):
        refresh("nowhere", connection=server.connection)


def test_a_refresh_neither_empties_a_release_nor_exceeds_its_limit(server: PostgreSQL) -> None:
    release(server, "materialized", suppression_limit="3 rows")
    before = sorted(rows(server, "school"))
    add = "INSERT INTO pupils SELECT 'new', 99, {}::text, 'rare' FROM generate_series(1, {}) AS i"
    for statement, message in (
        (add.format("i", 4), "would leave out 4 of 52 rows of pupils, and its limit is 3 rows"),
        ("DELETE FROM pupils WHERE age <> 99", "would leave out 4 of 4 rows of pupils"),
        ("TRUNCATE pupils", "would be empty, as pupils has no rows"),
    ):
        server.run(statement)
        with pytest.raises(VerificationError, match=message):
            refresh("school", connection=server.connection)
        assert sorted(rows(server, "school")) == before
    server.run(add.format("'1'", 20))
    server.run(add.format("'2'", 2))
    server.run(add.format("'0'", 1))
    released = refresh("school", connection=server.connection)
    assert (released["released_rows"], released["suppressed_rows"], released["warnings"]) == (20, 3, [])


def test_row_security_is_reported_for_those_whom_it_hides_rows_from(server: PostgreSQL, roles: list[Role]) -> None:
    schema, clerk = server.rows("SELECT current_schema()")[0][0], roles[0]
    for statement in (
        f"GRANT CREATE ON SCHEMA {schema} TO {clerk.name}",
        f"CREATE VIEW seen AS SELECT * FROM pupils; GRANT SELECT ON pupils, seen TO {clerk.name}",
        f"CREATE VIEW invoked WITH (security_invoker) AS SELECT * FROM seen; GRANT SELECT ON invoked TO {clerk.name}",
        "ALTER TABLE pupils ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON pupils FOR SELECT USING (zip < '2')",
    ):
        server.run(statement)
    text = f"row-level security on {schema}.pupils shows {clerk.name} only the rows that its policies allow (half)"
    released = anonymize("pupils", SPEC, connection=clerk.session, into="school", form="materialized")
    assert released.manifest["rows"] == 32
    assert [warning.startswith(text) for warning in released.manifest["warnings"]].count(True) == 1
    with pytest.warns(SourceWarning, match="policies allow"):
        kanon_sql.verify("pupils", connection=clerk.session, quasi_identifiers=["zip"], k=3)
    assert refresh("school", connection=clerk.session)["warnings"][0].startswith(text)
    for name in ("seen", "invoked"):  # a view reads with its owner's rights, who here may see everything
        assert server.hidden(server.place(name)) == []
        released = anonymize(name, SPEC, connection=clerk.session)
        assert (
            released.manifest["rows"],
            any("row-level" in warning for warning in released.manifest["warnings"]),
        ) == (48, False)
    server.run(f"ALTER VIEW seen OWNER TO {clerk.name}")
    released = anonymize("invoked", SPEC, connection=server.connection)
    assert released.manifest["rows"] == 32
    assert any(warning.startswith(text) for warning in released.manifest["warnings"])
    released = anonymize("pupils", SPEC, connection=server.connection)
    assert not any("row-level" in warning for warning in released.manifest["warnings"])


HIDDEN = 9_876_543


def _guess(role: Role, name: str) -> list[str]:
    """What the planner tells a reader of rows with a value, and of rows above many a number."""
    arguments = [
        "ill = 'RARE'",
        "ill = 'NONE'",
        "zip = '99999'",
        *(f"pay > {n}" for n in range(1_000, 10_000_000, 250_000)),
    ]
    return [_estimate(role, name, condition) for condition in arguments]


def _estimate(role: Role, name: str, condition: str) -> str:
    plan = role.session.execute(f"EXPLAIN SELECT * FROM {name} WHERE {condition}").fetchall()
    return "\n".join(line for (line,) in plan)


def _scanned(plan: str, where: str) -> int:
    return int(re.search(rf"{where}.*rows=(\d+)", plan)[1])


def _released_payroll(server: PostgreSQL, reader: Role, kind: str, hidden: bool) -> None:
    people = [(f"{i % 20}", 1000 + i, ["flu", "acne"][i % 2]) for i in range(4000)]
    server.run("DROP TABLE IF EXISTS payroll CASCADE")
    people += [("99999", HIDDEN, "RARE")] if hidden else []
    create_table(server, "payroll", {"zip": "TEXT", "pay": "INTEGER", "ill": "TEXT"}, people)
    quasi_identifiers = {"zip": {"hierarchy": "suppress", "max_level": 0}}
    spec = {"quasi_identifiers": quasi_identifiers, "keep": "*", "privacy": {"k": 5}}
    released = anonymize("payroll", spec, connection=server.connection, into="school", form=kind, overwrite=True)
    assert released.manifest["suppressed_rows"] == int(hidden)
    server.run(f"GRANT SELECT ON school TO {reader.name}")
    server.run("ANALYZE")
    assert reader.session.execute("SELECT count(*) FROM school WHERE pay > 5000").fetchone() == (0,)


def test_estimates_of_a_live_view_reveal_suppressed_rows_and_those_of_a_materialized_view_do_not(
    server: PostgreSQL, roles: list[Role]
) -> None:
    """docs/databases.md says so; what is in the rows is told by neither."""
    reader, options = roles[0], {}
    for kind in ("view", "materialized"):
        for hidden in (False, True):
            _released_payroll(server, reader, kind, hidden)
            options[kind, hidden] = _guess(reader, "school")
            if hidden and kind == "view":
                guess = _bisected(reader)
    assert options["materialized", True] == options["materialized", False]
    assert options["view", True] != options["view", False]
    assert guess != pytest.approx(HIDDEN, rel=0.05), "the hidden pay, found without reading a row of it"


def _bisected(reader: Role) -> float:
    """The hidden number: where the planner expects half as many rows as above the released ones, twice as far."""

    def rows_above(number: int) -> int:
        return _scanned(_estimate(reader, "school", f"pay > {number}"), r"CTE Scan on kanon_recoded  \(")

    whole, low, high = rows_above(5_001), 5_001, 100_000_000
    assert whole > 10
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rows_above(middle) > whole / 2 else (low, middle)
    return 2.0 * low


def test_kanon_sql_offers_refresh() -> None:
    assert kanon_sql.refresh is refresh
