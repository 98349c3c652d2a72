"""Values that are equal and look different do not keep the order of the source: in anatomies and cloaked releases too."""

import random
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import Release, anatomize, anonymize
from kanon_sql.engine import Engine
from support.database import create_table

# -0 and 0, 1.0 and 1.00 (PostgreSQL keeps them), one name by its collation (DuckDB), a number with leading zeros
TYPES = {
    "age": "INTEGER",
    "ill": "VARCHAR",
    "x": "DOUBLE PRECISION",
    "y": "DOUBLE PRECISION",
    "person": "INTEGER",
    "stamp": "INTEGER",
}
TYPES |= {"zero": "DOUBLE PRECISION", "paid": "NUMERIC", "name": "VARCHAR", "code": "VARCHAR"}
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 40]}}, "code": {"hierarchy": "suppress"}}
}
CLOAK: dict[str, Any] = {
    "location": ["x", "y"],
    "time": "stamp",
    "unit": "person",
    "identifiers": ["age", "ill"],
    "keep": "*",
}
OTHERS: dict[str, Any] = {"identifiers": ["x", "y", "person", "stamp"], "keep": "*"}


def rows(number: int = 160) -> list[tuple[Any, ...]]:
    draw = random.Random(2)
    return [
        (
            *(draw.randrange(40), "abcdef"[i % 6]),
            *(46.5 + i % 4, 7.25, i, i // 9),
            *(
                draw.choice([0.0, -0.0]),
                draw.choice(["1.0", "1.00"]),
                draw.choice(["Doe", "doe"]),
                draw.choice(["1", "01"]),
            ),
        )
        for i in range(number)
    ]


def fill(engine: Engine, people: list[tuple[Any, ...]]) -> None:
    for table in ("people", "drawn"):
        engine.run(f"DROP TABLE IF EXISTS {table}")
    create_table(engine, "drawn", TYPES, people)
    name = "name COLLATE NOCASE" if engine.name == "duckdb" else "name"
    engine.run(
        f"CREATE TABLE people AS SELECT age, ill, x, y, person, stamp, zero, paid, {name} AS name, code FROM drawn"
    )


def looks(engine: Engine, table: str) -> list[tuple[str, ...]]:
    """The rows as they come, and as they look."""
    return [tuple(map(str, row)) for row in engine.rows(f"SELECT * FROM {table}")]


@pytest.mark.parametrize("kind", ["classes", "sensitive", "groups", "cloak"])
def test_the_order_of_the_source_leaves_no_trace(engine: Engine, kind: str, tmp_path: Path) -> None:
    people, written = rows(), set()
    (tmp_path / "secret").write_text("forty characters that nobody else knows!")
    for order in (people, people[::-1], random.Random(7).sample(people, len(people))):
        fill(engine, order)
        made = release(kind, tmp_path, connection=engine.connection, into="released", overwrite=True)
        halves = ["released", *([made.manifest["anatomy"]["sensitive"]] if kind != "cloak" else [])]
        written.add(tuple(row for half in halves for row in looks(engine, half)))
    assert len(written) == 1


def release(kind: str, folder: Path, **made: Any) -> Release:
    if kind == "cloak":
        return anonymize("people", CLOAK, k=4, **made)
    if kind == "groups":
        exact = {**OTHERS, "quasi_identifiers": ["age", "code"], "sensitive": ["ill"]}
        return anatomize("people", exact, l=3, secret=folder / "secret", **made)
    counted = ["ill"] if kind == "classes" else ["ill", "name", "zero", "paid"]
    return anonymize("people", {**SPEC, **OTHERS, "sensitive": counted}, form="anatomy", k=4, **made)
