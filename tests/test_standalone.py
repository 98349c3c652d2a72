"""The standalone statement: its expressions match the hierarchies, its rows are those of the release."""

import math
import random
import struct
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.looks import looks_plain
from kanon_sql.frequency.fitting import hierarchy_source
from kanon_sql.generalization.hierarchy import cover
from kanon_sql.generalization.label_rules import Range
from kanon_sql.generalization.values import key
from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation, StandaloneQuery, StatementColumn
from kanon_sql.release.full_domain import exact_of, says_the_same
from kanon_sql.spec import may_suppress, parse
from support import grammars
from support.database import create_table

RANDOM = random.Random(13)


def _numbers(most: int) -> list[int]:
    near = [item + step for item in (-100, -10, -5, 0, 5, 10, 18, 90, 100) for step in (-1, 0, 1)]
    return sorted({*near, *(RANDOM.randint(-most, most) for _ in range(40))})


def _single(number: float) -> float:
    return float(struct.unpack("f", struct.pack("f", number))[0])


INTEGERS = _numbers(10**6)
FLOATS = [*map(float, INTEGERS), -0.0, 1e-7, -1e-7, 0.1 + 0.2, 1e14 + 0.5]
FLOATS += [math.nextafter(10, 0), math.nextafter(-10, -11)]
FLOATS += [RANDOM.uniform(-200, 200) for _ in range(40)]
DECIMALS = [Decimal(number) / 100 for number in _numbers(10**5)]
TEXTS = ["", " ", "a", "ab", "ab ", " ab", "é", "e\u0301", "🏥x", "東京都", "*", "**", "A", "it's", '"', "a\nb"]
DAYS = [date(1, 1, 1), date(9, 12, 31), date(999, 3, 1), date(1900, 2, 28), date(2000, 2, 29), date(9999, 12, 31)]
DAYS += [date(1999, 1, 1) + timedelta(days=RANDOM.randint(0, 9000)) for _ in range(30)]
MOMENTS = [datetime(day.year, day.month, day.day, 23, 59, 59, 999999) for day in DAYS]
RANGES: list[dict[str, Any]] = [
    {"ranges": [10, 50]},
    {"ranges": [7], "origin": 3},
    {"ranges": [10, 100], "bottom": 18, "top": 90},
    {"ranges": [20], "bottom": -7, "top": 95, "origin": -5},
    {"edges": [[-7, 1, 10, 90], [1, 90]]},
]
REDACTIONS: list[dict[str, Any]] = [
    {"redact": "right"},
    {"redact": "left", "step": 2},
    {"prefix": [3, 1]},
    {"prefix": [4, 2], "pad": 5},
]
CALENDAR: list[dict[str, Any]] = [
    {"dates": ["hour", "day", "month", "quarter", "year", "decade", "century"]},
    {"dates": ["year", "5 years", "20 years"]},
    {"age": "2020-02-29", "bands": [1, 5, 20], "top": 90},
]
COLUMNS: dict[str, tuple[str, Sequence[Any], Sequence[dict[str, Any]]]] = {
    "small": ("SMALLINT", [*_numbers(30_000), -32_768, 32_767], RANGES),
    "integer": ("INTEGER", [*INTEGERS, -(2**31), 2**31 - 1], RANGES + REDACTIONS),
    "long": ("BIGINT", [*INTEGERS, 1 - 10**15, 10**15 - 1], RANGES),
    "float": ("DOUBLE PRECISION", FLOATS, RANGES),
    "single": ("REAL", sorted({_single(item) for item in FLOATS if abs(item) < 2**24}), RANGES),
    "decimal": ("DECIMAL(18, 2)", DECIMALS, RANGES),
    "whole": ("DECIMAL(12, 0)", [Decimal(integer) for integer in INTEGERS], RANGES + REDACTIONS),
    "text": ("VARCHAR", TEXTS, REDACTIONS),
    "date": ("DATE", DAYS, CALENDAR),
    "moment": ("TIMESTAMP", MOMENTS, CALENDAR),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.sampled
def test_an_expression_returns_the_label_of_every_value(engine: Engine, name: str) -> None:
    type_name, values, recipes = COLUMNS[name]
    rows = list(enumerate([*values, None]))
    table = create_table(engine, "people", {"id": "INTEGER", "x": type_name}, rows)
    column = table.columns[1]
    assert looks_plain(engine, table, column) == (column.kind != "float")
    held = [item for _, item in sorted(engine.rows("SELECT id, x FROM people"))]
    for recipe in recipes:
        spec = parse({"source": "people", "quasi_identifiers": {"x": {"hierarchy": recipe}}})
        source = hierarchy_source(spec.quasi_identifiers["x"], column, spec, engine)
        hierarchy = cover(source.build(held), held, "x")
        row_of = {key(value): row for row, value in enumerate(hierarchy.values)}
        for level in range(hierarchy.height):
            rule = source.rule(level)
            assert rule is not None
            assert says_the_same(rule, column, hierarchy.values, column.kind != "float")
            expected = [hierarchy.labels(level)[row_of[key(value)]] for value in held]
            cell = StatementColumn("x", column.kind, rule=rule, exact=exact_of(column))
            given = sorted(engine.rows(_statement(engine, StatementColumn("id", "integer"), cell)))
            assert [label for _, label in given] == expected, (recipe, level)


BEYOND: dict[str, tuple[str, Sequence[Any], dict[str, Any]]] = {
    "BIGINT": ("BIGINT", [-(2**63), -(10**15) - 1, 2**63 - 1], {"ranges": [10], "top": 90}),
    "DOUBLE": (
        "DOUBLE PRECISION",
        [1e15 + 2, 1e300, math.inf, -math.inf, math.nan],
        {"ranges": [10], "top": 90},
    ),
    "DATE": ("DATE", ["infinity", "-infinity", "12000-01-01"], {"dates": ["month"]}),
}


@pytest.mark.parametrize("name", BEYOND)
def test_values_that_the_recipe_refuses_become_a_star(engine: Engine, name: str) -> None:
    type_name, values, recipe = BEYOND[name]
    table = create_table(engine, "people", {"id": "INTEGER", "x": type_name}, list(enumerate(values)))
    column = table.columns[1]
    spec = parse({"source": "people", "quasi_identifiers": {"x": {"hierarchy": recipe}}})
    rule = hierarchy_source(spec.quasi_identifiers["x"], column, spec, engine).rule(1)
    if isinstance(rule, Range) and name == "BIGINT":
        assert not says_the_same(rule, column, values, True), "then a mapping table has them"
    cell = StatementColumn("x", column.kind, rule=rule, exact=exact_of(column))
    assert engine.rows(_statement(engine, cell)) == [("*",)] * len(values)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("system", [grammars.ClickHouse, grammars.BigQuery], ids=["clickhouse", "bigquery"])
@pytest.mark.sampled
def test_other_systems_return_the_same_labels(embedded: DuckDB, system: Any, name: str) -> None:
    """Those of the engine for the first level of every recipe, which the test above compares with the hierarchies."""
    type_name, values, recipes = COLUMNS[name]
    server = system()
    if name in ("date", "moment") and system is grammars.ClickHouse:
        values = [value for value in values if value.year >= 1900 and value.year < 2299]  # what its types can hold
    types = {"id": "INTEGER", **{f"x{i}": type_name for i, _ in enumerate(recipes)}}
    rows = [(i, *[value for _ in recipes]) for i, value in enumerate([*values, None])]
    table = create_table(embedded, "people", types, rows)
    server.create("people", types, rows)
    cells = [StatementColumn("id", "integer")]
    for column, recipe in zip(table.columns[1:], recipes, strict=True):
        spec = parse({"source": "people", "quasi_identifiers": {column.name: {"hierarchy": recipe}}})
        source = hierarchy_source(spec.quasi_identifiers[column.name], column, spec, embedded)
        source.build([row[1] for row in embedded.rows(f"SELECT id, {column.name} FROM people")])
        cells.append(StatementColumn(column.name, column.kind, rule=source.rule(1), exact=exact_of(column)))
    query = StandaloneQuery(source=Relation("people"), columns=tuple(cells), safe=Predicate("SUM(n) >= 1"))
    expected = sorted(tuple(map(str, row)) for row in embedded.rows(query.statement("duckdb").script()))
    there = replace(query, source=Relation("clinic", "people")).statement(server.DIALECT)
    shown = server.run(there.script(), list(types))
    server.close()
    assert sorted(tuple("None" if text == "\\N" else str(text) for text in row) for row in shown) == expected


def _statement(engine: Engine, *cells: StatementColumn) -> str:
    query = StandaloneQuery(source=Relation("people"), columns=cells, safe=Predicate("SUM(n) >= 1"))
    return query.statement(engine.dialect).script()


# In whole


def _people(seed: int) -> list[tuple[Any, ...]]:
    draw = random.Random(seed)
    ages, weights = [*range(-12, 96, 9), None], [-0.0, 0.0, 0.1 + 0.2, 9.5, 10.0, -10.0, 71.25, None]
    zips, born = ["02138", "02139", "021", "", "é8", "ab ", "ab", None], [*DAYS[4:12], None]
    wards, padded = ["N1", "N2", "S1", None], ["a", "ab", None]
    codes = [*range(990, 1003), None]
    choices = ages, weights, zips, born, wards, padded, codes
    rows = [tuple(draw.choice(choice) for choice in choices) for _ in range(40)]
    return [(*draw.choice(rows), draw.choice(["flu", "cold", None])) for _ in range(160)]


TYPES = {
    "age": "BIGINT",
    "weight": "DOUBLE PRECISION",
    "zip": "VARCHAR",
    "born": "DATE",
    "ward": "VARCHAR",
    "padded": "CHAR(4)",
    "code": "INTEGER",
    "N": "VARCHAR",
}


def _spec(folder: Path, draw: random.Random) -> dict[str, Any]:
    (folder / "ward.csv").write_text("N1;north\nN2;north\nS1;south\nX9;south\n")
    (folder / "code.csv").write_text("".join(f"{code};{code // 10}\n" for code in range(800, 1010) if code != 995))
    recipes: dict[str, Any] = {
        "age": {"ranges": [10, 30], "bottom": 0, "top": 90},
        "weight": {"ranges": [10]},
        "zip": {"redact": "right"},
        "born": {"dates": ["month", "year"]},
        "ward": str(folder / "ward.csv"),
        "padded": {"redact": "right"},
        "code": str(folder / "code.csv"),
    }
    levels = {name: draw.randint(0, 2) for name in recipes} | {"ward": draw.randint(0, 1)}
    chosen = draw.sample(list(recipes), 4)
    at = {name: {"min_level": levels[name], "max_level": levels[name]} for name in chosen}
    quasi_identifiers = {name: {"hierarchy": recipes[name], **at[name]} for name in chosen}
    dropped = [name for name in recipes if name not in chosen and draw.random() < 0.5]
    how = {"keep": "*", "unmapped": "top", "suppression_limit": 1.0}
    return {"quasi_identifiers": quasi_identifiers, "identifiers": dropped, **how}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_the_statement_returns_the_rows_of_the_release(engine: Engine, tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    create_table(engine, "people", TYPES, _people(seed))
    spec = _spec(tmp_path, draw) | {"sensitive": ["N"], "privacy": {"k": draw.choice([2, 3, 5])}}
    if seed % 3 == 0:
        spec["privacy"] |= {"l_diversity": {"N": {"l": 2}}, "t_closeness": {"N": {"t": 0.4}}}
    kanon_sql.anonymize("people", spec, connection=engine.connection, into="released")
    statement = kanon_sql.anonymize_sql("people", spec, connection=engine.connection)
    given, released = _run(engine, statement), engine.rows("SELECT * FROM released")
    assert released or seed
    assert given == released, f"in its order too: {spec}"


@pytest.mark.parametrize(
    ("limit", "strategy"), [(0.29, "mondrian"), (1 / 7, "auto"), ("3 rows", "auto"), (1.0, "auto")]
)
@pytest.mark.slow
def test_the_statement_fails_if_it_would_suppress_too_much(engine: Engine, limit: float | str, strategy: str) -> None:
    """The classes of a column at level 0 are its values, which Python counts; new ones have no class of their own."""
    types, draw = {"a": "VARCHAR", "b": "VARCHAR"}, random.Random(7)
    create_table(engine, "people", types, [("pqrst"[i % 5], f"v{i}") for i in range(60)])
    options = {"a": {"hierarchy": "suppress"}}
    spec = {"quasi_identifiers": options, "keep": ["b"], "privacy": {"k": 3}, "suppression_limit": limit}
    statement = kanon_sql.anonymize_sql("people", spec, connection=engine.connection, strategy=strategy)
    failed, given = 0, 0
    for size in (0, *(draw.choice([7, 14, 21, 100]) for _ in range(15))):
        weights = [draw.choice([1, 3, 20]) for _ in range(5)]
        rows = [(a, f"v{i}") for i, a in enumerate(draw.choices("pqrst", weights, k=size))]
        engine.run("DROP TABLE people")
        create_table(engine, "people", types, rows)
        held = sorted(row for row in rows if sum(a == row[0] for a, _ in rows) >= 3)
        if rows and len(rows) - len(held) <= may_suppress(limit, size):
            assert engine.rows(statement) == held
            given += len(held) < size
        else:
            text = f"{size - len(held)} of {size} rows would be left out, and the suppression limit is {limit};"
            with pytest.raises(Exception, match=text if rows else "0 rows in the source; there is nothing to release"):
                engine.connection.execute(f"CREATE TABLE never AS {statement}")  # type: ignore[attr-defined]
            failed += bool(rows)
    assert engine.find("never") is None
    assert given
    assert failed or limit == 1.0


def _run(engine: Engine, statement: str) -> list[tuple[Any, ...]]:
    *before, query = statement.split(";\n\n")
    for setup in before:
        engine.run(setup)
    return engine.rows(query)


def test_texts_that_are_equal_by_collation_are_listed() -> None:
    engine = DuckDB()
    engine.connection.execute("CREATE TABLE people (zip VARCHAR COLLATE NOCASE)")
    engine.connection.execute("INSERT INTO people SELECT UNNEST(['Ab', 'aB', 'AB', 'cd', 'Cd', NULL, NULL])")
    for level in (0, 1):
        options = {"zip": {"hierarchy": {"redact": "right"}, "min_level": level, "max_level": level}}
        spec = {"quasi_identifiers": options, "privacy": {"k": 2}}
        kanon_sql.anonymize("people", spec, connection=engine.connection, into=f"level_{level}")
        statement = kanon_sql.anonymize_sql("people", spec, connection=engine.connection)
        assert "VALUES" in statement
        assert engine.rows(statement) == engine.rows(f"SELECT * FROM level_{level}")
