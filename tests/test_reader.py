"""A role with no right but to read a release: what it can learn about rows that the release does not show."""

import re
from typing import Any

import psycopg
import pytest

from kanon_sql import anonymize
from kanon_sql.engines.postgres import PostgreSQL
from support.database import create_table
from support.school import Role

HIDDEN = ("Ada Hidden", "Z-hidden", "rare-hidden", "987654")
TYPES = {"name": "TEXT", "zip": "TEXT", "ill": "TEXT", "pay": "INTEGER"}
SHOWN = [(f"p{i}", f"{1 + i % 2}", ("flu", "acne", "gout")[i % 3], 10 + i % 5) for i in range(120)]
ROWS: list[tuple[Any, ...]] = [*SHOWN, (*HIDDEN[:3], int(HIDDEN[3]))]
SPEC: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": {"zip": {"hierarchy": "suppress"}},
    "sensitive": ["ill", "pay"],
    "privacy": {"k": 5, "l_diversity": {"ill": {"l": 2}}, "t_closeness": {"ill": 0.5}},
    "suppression_limit": 0.1,
    "metric": "precision",
}
FORMS: dict[str, dict[str, Any]] = {
    "table": {"form": "table"},
    "materialized": {"form": "materialized"},
    "view": {"form": "view"},
    "local view": {"form": "view", "strategy": "mondrian"},
}
PROBES = ["ill = 'rare-hidden'", "ill >= 'o'", "pay > 100", "pay = 987654", "zip = '*'", "zip >= '3'"]
LOOKS = [
    "SELECT * FROM released",
    "SELECT pg_get_viewdef('released'::regclass, true)",
    "SELECT definition FROM pg_views WHERE schemaname = current_schema()",
    "SELECT definition FROM pg_matviews WHERE schemaname = current_schema()",
    "SELECT definition FROM pg_rules WHERE schemaname = current_schema()",
    "SELECT view_definition FROM information_schema.views WHERE table_schema = current_schema()",
    "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE schemaname = current_schema()",
    "SELECT most_common_vals::text FROM pg_stats_ext WHERE schemaname = current_schema()",
    "SELECT most_common_vals::text FROM pg_stats_ext_exprs",
    "SELECT stavalues1::text, stavalues2::text FROM pg_statistic",
    "SELECT stxdmcv::text, stxdexpr::text FROM pg_statistic_ext_data",
    "SELECT pg_mcv_list_items(stxdmcv) FROM pg_statistic_ext_data",
    "SELECT description FROM pg_description",
    "SELECT pg_get_expr(conbin, conrelid), pg_get_constraintdef(oid) FROM pg_constraint",
    "SELECT query FROM pg_stat_activity",
    "SELECT statement FROM pg_cursors",
    "SELECT statement FROM pg_prepared_statements",
    "COPY people TO STDOUT",
    "SELECT * FROM released WHERE CAST(ill AS INTEGER) > 0",
    "SELECT * FROM released WHERE 1 / (pay - 987654) < 9",
    "SELECT MIN(zip), MAX(zip), MIN(ill), MAX(ill), MAX(pay) FROM released",
]
SPY = """
CREATE FUNCTION pg_temp.spy(told TEXT) RETURNS BOOLEAN LANGUAGE plpgsql COST 0.0000001
AS 'BEGIN RAISE NOTICE ''seen %'', told; RETURN TRUE; END'
"""


@pytest.fixture
def hospital(postgres: PostgreSQL) -> PostgreSQL:
    """A table with one row that no release of it shows."""
    create_table(postgres, "people", TYPES, ROWS)
    postgres.run("CREATE STATISTICS together (mcv) ON ill, zip FROM people")
    return postgres


def shown_to(reader: Role, statement: str) -> str:
    """All that a statement tells a session: its rows, its notices, its error."""
    messages: list[str] = []
    listen = lambda notice: messages.append(notice.message_primary or "")  # noqa: E731
    reader.session.add_notice_handler(listen)
    try:
        if statement.startswith("COPY"):
            with reader.session.cursor() as cursor, cursor.copy(statement) as copy:
                messages.extend(str(bytes(chunk)) for chunk in copy)
        else:
            messages.append(str(reader.session.execute(statement).fetchall()))
    except psycopg.Error as error:
        messages.append(str(error))
    finally:
        reader.session.remove_notice_handler(listen)
    return "\n".join(messages)


def release_without(hospital: PostgreSQL, hidden: tuple[Any, ...], form: str, reader: Role) -> None:
    """Release the table, of which one row is not shown; in a local view since it came later."""
    options = {**FORMS[form], "connection": hospital.connection, "into": "released", "overwrite": True}
    hospital.run("DELETE FROM people WHERE name LIKE 'Ada%'")
    insert = f"INSERT INTO people VALUES {hidden}"
    later = form == "local view"
    if not later:
        hospital.run(insert)
    assert anonymize("people", SPEC, **options).manifest["suppressed_rows"] == (0 if later else 1)
    if later:
        hospital.run(insert)
    hospital.run("ANALYZE people")
    hospital.run(f"GRANT SELECT ON released TO {reader.name}")
    assert reader.session.execute("SELECT COUNT(*) FROM released").fetchall() == [(120,)]


def hidden_in(message: str, query: str = "") -> list[str]:
    return [value for value in HIDDEN if value in message and value not in query]


@pytest.mark.parametrize("form", FORMS)
def test_a_reader_sees_no_value_of_a_hidden_row(hospital: PostgreSQL, roles: list[Role], form: str) -> None:
    reader, schema = roles[0], hospital.rows("SELECT current_schema()")[0][0]
    release_without(hospital, ROWS[-1], form, reader)
    reader.session.execute(SPY)
    names = [f'"{name}"' for name in _tables(hospital) if name != "released"]
    assert {'"people"'} <= set(names)
    for name in names:
        hospital.run(f"ANALYZE {name}")
        assert "permission denied" in shown_to(reader, f"SELECT * FROM {name}")
        assert "permission denied" in shown_to(reader, f"EXPLAIN SELECT * FROM {name}")
    hospital.rows("SELECT 'rare-hidden'")  # the text of another session's statement
    for look in LOOKS:
        assert not hidden_in(shown_to(reader, look), look), look
    for column in ("zip", "ill", "CAST(pay AS TEXT)"):
        count = shown_to(reader, f"SELECT COUNT(*) FROM released WHERE pg_temp.spy({column})")
        assert "(120,)" in count
        assert "seen" in count
        assert not hidden_in(count)
    assert "permission denied" in shown_to(reader, f"CREATE TABLE {schema}.mine AS SELECT 1")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.sampled
def test_a_plan_does_not_depend_on_a_hidden_row(hospital: PostgreSQL, roles: list[Role], form: str) -> None:
    """Not what it costs to read the source, which everybody may know, but what a reader's condition finds in it."""
    reader, plans = roles[0], []
    for hidden in (ROWS[-1], ("Ada", "0-hidden", "ill", 1)):
        release_without(hospital, hidden, form, reader)
        costs = [f"EXPLAIN (VERBOSE) SELECT * FROM released WHERE {probe}" for probe in PROBES]
        runs = [cost.replace("VERBOSE", "ANALYZE, TIMING off, SUMMARY off, BUFFERS off, VERBOSE") for cost in costs]
        plans.append([_without_sizes(shown_to(reader, item)) for item in (*costs, *runs)])
    assert plans[0] == plans[1]


def _without_sizes(plan: str) -> str:
    """A plan without what the length of a text alone may change: its width, and the memory it takes."""
    return re.sub(r"width=\d+|Memory: \d+kB|(Memory|Maximum Storage|Memory Usage): \d+kB", "", plan)


def _tables(engine: PostgreSQL) -> list[str]:
    listing = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v', 'm') AND relnamespace = "
    return [name for (name,) in engine.rows(f"{listing} current_schema()::regnamespace")]
