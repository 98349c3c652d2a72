"""Risk and verification of a table on a server: rows are fetched once, and figures are those that the server counts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import risk, verify
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.measure import fetched
from support.database import create_table
from support.engines import NASTY
from support.examples import examples

Values = Sequence[str | None]
# By type: values, and the number of classes that PostgreSQL finds among them.
EQUAL: dict[str, tuple[Values, int]] = {
    "TEXT": (["a", "a", "A", "a ", "", "\\N", None, None], 6),
    "VARCHAR(5)": (["a", "a ", "a", None], 3),
    "CHAR(5)": (["a", "a ", " a", "", " ", None], 4),
    "NAME": (["a", "A", "a"], 2),
    "mood": (["sad", "ok", "ok", None], 3),
    "BIGINT": (["1", "01", "-1", "9223372036854775807", None], 4),
    "DOUBLE PRECISION": (["0", "-0", "NaN", "NaN", "Infinity", "1e-320", "1e300", None], 6),
    "REAL": (["0", "-0", "0.1", "0.10000000149", "NaN"], 3),
    "NUMERIC": (["1", "1.0", "1.00", "2.5", "2.50", None], 3),
    "NUMERIC(5, 2)": (["1", "1.00", "2.5", None], 3),
    "price": (["1", "1.0", "2"], 2),
    "BOOLEAN": (["t", "f", "true"], 2),
    "DATE": (["infinity", "-infinity", "0044-03-15 BC", "0044-03-15", "5874897-12-31", "4713-01-01 BC"], 6),
    "TIMESTAMP": (["infinity", "0044-03-15 BC", "0044-03-15", "294246-12-31", "2024-01-01", "2024-01-01 00:00"], 5),
    "TIMESTAMPTZ": (["1800-01-01 UTC", "2024-01-01 UTC", "2024-01-01 01:00+01", "2024-01-01 00:00+01"], 3),
    "TIME": (["24:00", "00:00", "12:00", "12:00:00.000001"], 4),
}
# The same, of values that DuckDB cannot read, or finds equal only by accident.
COUNTED_THERE: dict[str, tuple[Values, int]] = {
    "NUMERIC": (["1", "1.0", "NaN", "NaN"], 2),
    "NUMERIC(5, 2)": (["1", "1.0", "NaN", "NaN"], 2),
    "NUMERIC(60)": (["1e50", "1e50", "1"], 2),
    "TIMESTAMP": (["294276-12-31", "2024-01-01", "2024-01-01"], 2),
    "TIMESTAMPTZ": (["294276-12-30", "infinity", "infinity"], 2),
    "TEXT": (['"' * 1_200_000, "a", "a"], 2),
    'TEXT COLLATE "ignoring"': (["a", "b", "b"], 2),
    "ignored": (["a", "b", "b"], 2),
}
TYPES = ("CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE DOMAIN price AS NUMERIC")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries whose rows PostgreSQL sent."""
    queries: list[str] = []
    send = PostgreSQL.fetch_into

    def recorded(engine: PostgreSQL, query: str, *target: Any) -> None:
        queries.append(query)
        send(engine, query, *target)

    monkeypatch.setattr(PostgreSQL, "fetch_into", recorded)
    return queries


@contextmanager
def counted_there(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No table is small enough to be fetched."""
    with monkeypatch.context() as context:
        context.setattr(fetched, "MOST_BYTES", -1)
        yield


def both(monkeypatch: pytest.MonkeyPatch, postgres: PostgreSQL, **options: Any) -> list[dict[str, Any]]:
    """The same figures, of fetched rows and counted by the server."""
    options["connection"] = postgres.connection
    of_fetched = risk("visits", **options).to_dict()
    with counted_there(monkeypatch):
        return [of_fetched, risk("visits", **options).to_dict()]


def is_fetched(sent: Sequence[str]) -> bool:
    return any("GROUP BY" not in query and '"visits"' in query for query in sent)


@pytest.mark.parametrize("type_name", EQUAL)
def test_values_are_equal_if_the_server_finds_them_equal(
    postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch, sent: list[str], type_name: str
) -> None:
    for statement in TYPES:
        postgres.connection.execute(statement)
    values, classes = EQUAL[type_name]
    others = [values[place - 1] for place, _ in enumerate(values)]
    create_table(postgres, "visits", {"Q q": type_name, "ill": type_name}, list(zip(values, others, strict=True)))
    here, there = both(monkeypatch, postgres, quasi_identifiers=["Q q"], sensitive=["ill"])
    assert here == there
    assert here["source"]["classes"] == classes
    assert is_fetched(sent)


@pytest.mark.parametrize("type_name", COUNTED_THERE)
def test_the_server_counts_what_duckdb_could_count_differently(
    postgres: PostgreSQL, sent: list[str], type_name: str
) -> None:
    schema = postgres.rows("SELECT current_schema()")[0][0]
    # A build without ICU has no such collation; this one is only declared to be one.
    postgres.connection.execute('CREATE COLLATION "ignoring" FROM "C"')
    postgres.connection.execute(
        "UPDATE pg_collation SET collisdeterministic = FALSE "
        f"WHERE collname = 'ignoring' AND collnamespace = '{schema}'::regnamespace"
    )
    postgres.connection.execute('CREATE DOMAIN ignored AS TEXT COLLATE "ignoring"')
    values, classes = COUNTED_THERE[type_name]
    create_table(postgres, "visits", {"Q q": type_name}, [(value,) for value in values])
    found = risk("visits", quasi_identifiers=["Q q"], connection=postgres.connection)
    assert (found.source.classes.rows, found.source.classes.number) == (len(values), classes)
    is_number = type_name.startswith("NUMERIC")  # whether DuckDB can represent them shows once they are fetched
    assert is_fetched(sent) == is_number
    assert any('"map_' in query or "code_0" in query for query in sent)


@pytest.mark.parametrize(
    ("types", "values", "hidden"),
    [
        (("NUMERIC", "NUMERIC"), ("5.00", "7.50"), "NaN"),
        (("DOUBLE PRECISION", "TEXT"), ("5", "7.5"), "NaN"),
        (("TIMESTAMPTZ", "TEXT"), ("0044-03-15 00:00:00+00 BC", "2024-01-02 00:00:00+00"), "infinity"),
    ],
)
def test_a_release_is_compared_with_its_source_as_the_server_prints_values(
    postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch, types: Values, values: Values, hidden: str
) -> None:
    rows = [(str(place % 2), values[place % 2]) for place in range(3)]
    create_table(postgres, "visits", {"zip": "TEXT", "ill": types[0]}, [*rows, ("9", hidden)])
    create_table(postgres, "released", {"zip": "TEXT", "ill": types[1]}, rows)
    here, there = both(monkeypatch, postgres, quasi_identifiers=["zip"], sensitive=["ill"], release="released")
    assert here == there
    assert here["release"]["sensitive"][0]["distinct_l"] == 1


@pytest.mark.parametrize(
    ("type_name", "hierarchy"),
    [
        ("DOUBLE PRECISION", {"ranges": [2]}),
        ("NUMERIC", {"ranges": [2]}),
        ("TIMESTAMP", {"dates": ["month", "year"]}),
        ("BOOLEAN", "suppress"),
        ("TIME", "suppress"),
    ],
)
def test_values_are_found_in_a_hierarchy(
    postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch, type_name: str, hierarchy: Any
) -> None:
    values = {
        "TIMESTAMP": ("2024-01-01 00:00:00.5", "2024-01-01", "2024-02-01", "2024-01-01"),
        "BOOLEAN": ("t", "f", "t", "f"),
        "TIME": ("24:00", "12:00", "12:00", "01:00:00.5"),
    }.get(type_name, ("5", "7.50", "6", "5.0"))
    rows = [(str(place % 2), value) for place, value in enumerate(values)]
    create_table(postgres, "visits", {"zip": "TEXT", "ill": type_name}, rows)
    distance = {"ill": {"t": 0.3, "distance": "hierarchical", "hierarchy": hierarchy}}
    options: dict[str, Any] = {"quasi_identifiers": ["zip"], "sensitive": ["ill"], "t_closeness": distance}
    here, there = both(monkeypatch, postgres, **options)
    assert here == there
    assert 0 < here["source"]["verdict"]["models"][1]["achieved"] < 1


def test_columns_that_cannot_be_counted_stay_on_the_server(postgres: PostgreSQL, sent: list[str]) -> None:
    create_table(postgres, "visits", {"zip": "TEXT", "note": "JSON"}, [("1", "{}"), ("1", "[]"), ("2", "{}")])
    found = risk("visits", quasi_identifiers=["zip"], connection=postgres.connection)
    assert found.source.classes.number == 2
    assert is_fetched(sent)
    assert not any('"note"' in query for query in sent)


def test_a_role_fetches_only_the_rows_that_it_may_see(postgres: PostgreSQL) -> None:
    create_table(postgres, "visits", {"zip": "TEXT"}, [("1",), ("1",), ("2",), ("3",)])
    schema = postgres.rows("SELECT current_schema()")[0][0]
    reader = f"reader_of_{schema}"
    postgres.connection.execute(f"CREATE ROLE {reader}; GRANT USAGE ON SCHEMA {schema} TO {reader}")
    try:
        postgres.connection.execute(
            f"GRANT SELECT ON visits TO {reader}; ALTER TABLE visits ENABLE ROW LEVEL SECURITY; "
            "CREATE POLICY three ON visits FOR SELECT USING (zip <> '3')"
        )
        postgres.connection.execute(f"SET ROLE {reader}")
        with pytest.warns(UserWarning, match="row-level security"):
            found = risk("visits", quasi_identifiers=["zip"], connection=postgres.connection)
    finally:
        postgres.connection.execute(f"RESET ROLE; DROP OWNED BY {reader}; DROP ROLE {reader}")
    assert found.source.classes.rows == 3


TEXTS = st.sampled_from([None, *NASTY[:8], "a", "b"])
ROWS = st.tuples(TEXTS, st.sampled_from([None, 1, 2]), st.sampled_from(["0", "-0", "1.5", "NaN"]), TEXTS)


MODELS: dict[str, Any] = {
    "quasi_identifiers": ["zip", "sex", "weight"],
    "k": 2,
    "l_diversity": {"ill": 2},
    "t_closeness": {"ill": 0.3},
}


def create_both(postgres: PostgreSQL, rows: Sequence[tuple[Any, ...]], released: int) -> None:
    """Create a table, and another one with its first rows."""
    types = {"zip": "TEXT", "sex": "INTEGER", "weight": "DOUBLE PRECISION", "ill": "TEXT", "person": "INTEGER"}
    numbered = [(*row, place // 2) for place, row in enumerate(rows)]
    for name, some in (("visits", numbered), ("released", numbered[:released])):
        postgres.connection.execute(f"DROP TABLE IF EXISTS {name}")
        create_table(postgres, name, types, some)


@examples(40)
@given(rows=st.lists(ROWS, min_size=1, max_size=12), released=st.integers(1, 12), by_people=st.booleans())
def test_random_tables_and_releases_have_the_same_figures(
    postgres: PostgreSQL,
    rows: list[tuple[Any, ...]],
    released: int,
    by_people: bool,
) -> None:
    create_both(postgres, rows, released)
    options: dict[str, Any] = {**MODELS, "sensitive": ["ill"], "k": None}
    options |= {"unit": "person"} if by_people else {}
    with pytest.MonkeyPatch.context() as monkeypatch:
        here, there = both(monkeypatch, postgres, release="released", **options)
    assert here == there


@pytest.mark.parametrize("against", [None, "visits"])
@pytest.mark.parametrize("unit", [None, "person"])
@examples(20)
@given(rows=st.lists(ROWS, min_size=1, max_size=12), released=st.integers(1, 12))
def test_random_releases_are_verified_alike(
    postgres: PostgreSQL, against: str | None, unit: str | None, rows: list[tuple[Any, ...]], released: int
) -> None:
    create_both(postgres, rows, released)
    options: dict[str, Any] = {**MODELS, "against": against, "unit": unit, "connection": postgres.connection}
    of_fetched = verify("released", **options).to_dict()
    with pytest.MonkeyPatch.context() as monkeypatch, counted_there(monkeypatch):
        assert of_fetched == verify("released", **options).to_dict()


def test_values_of_a_release_are_fetched_if_nearly_all_rows_differ(postgres: PostgreSQL, sent: list[str]) -> None:
    rows = [(str(place // 5), str(place % 5)) for place in range(50)]
    create_table(postgres, "visits", {"zip": "TEXT", "ill": "TEXT"}, rows)
    options: dict[str, Any] = {"quasi_identifiers": ["zip"], "k": 5, "connection": postgres.connection}
    assert verify("visits", **options)
    assert sent == []
    assert verify("visits", l_diversity={"ill": 5}, **options)
    assert is_fetched(sent)


def test_a_few_cells_of_a_release_are_counted_on_the_server(postgres: PostgreSQL, sent: list[str]) -> None:
    create_table(postgres, "visits", {"zip": "TEXT", "ill": "TEXT"}, [("1", str(place % 5)) for place in range(50)])
    options: dict[str, Any] = {"quasi_identifiers": ["zip"], "k": 5, "connection": postgres.connection}
    assert verify("visits", l_diversity={"ill": 5}, **options)
    assert not is_fetched(sent)
    assert sent
