"""Equal values with different spellings do not keep the order of the source in anatomies and cloaked releases."""

import random
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import Release, anatomize, anonymize, cloak
from kanon_sql.engine import Engine
from support.database import create_table

# -0 and 0, 1.0 and 1.00 (PostgreSQL keeps them), one name by its collation (DuckDB), a number with leading zeros
TYPES = dict.fromkeys(["age", "person", "stamp"], "INTEGER") | dict.fromkeys(["x", "y", "zero"], "DOUBLE PRECISION")
TYPES |= {"paid": "NUMERIC"} | dict.fromkeys(["ill", "name", "code"], "VARCHAR")
PRAM = {"pram": {"keep": 0.5}}
AGES, CODES = {"hierarchy": {"ranges": [10, 40]}}, {"hierarchy": "suppress"}
CLOAK: dict[str, Any] = {"location": ["x", "y"], "time": "stamp", "unit": "person", "keep": "*"}
CLOAK |= {"identifiers": ["age", "ill"]}
OTHERS: dict[str, Any] = {"identifiers": ["x", "y", "person", "stamp"], "keep": "*"}


def rows(number: int = 160) -> list[tuple[Any, ...]]:
    draw = random.Random(2)
    looks = [[0.0, -0.0], ["1.0", "1.00"], ["Doe", "doe"], ["1", "01"]]
    places = [(draw.randrange(40), i, i // 9, 46.5 + i % 4, 7.25) for i in range(number)]
    shown = [tuple(map(draw.choice, looks)) for _ in range(number)]
    ills = ["abcdef"[i % 6] for i in range(number)]
    return [(*place, *x[:2], ill, *x[2:]) for place, x, ill in zip(places, shown, ills, strict=True)]


def fill(engine: Engine, people: list[tuple[Any, ...]]) -> None:
    for table in ("people", "drawn"):
        engine.run(f"DROP TABLE IF EXISTS {table}")
    create_table(engine, "drawn", TYPES, people)
    collated = {"name": "name COLLATE NOCASE"} if engine.name == "duckdb" else {}
    columns = dict(zip(TYPES, TYPES, strict=True)) | collated
    selected = ", ".join(f"{value} AS {column}" for column, value in columns.items())
    engine.run(f"CREATE TABLE people AS SELECT {selected} FROM drawn")


def looks(engine: Engine, table: str) -> list[tuple[str, ...]]:
    """The rows as they come, and as they look."""
    return [tuple(map(str, row)) for row in engine.rows(f"SELECT * FROM {table}")]


@pytest.mark.parametrize("kind", ["classes", "groups", "cloak"])
def test_the_order_of_the_source_leaves_no_trace(engine: Engine, kind: str, tmp_path: Path) -> None:
    people, written = rows(), set()
    (tmp_path / "secret").write_text("forty characters that nobody else knows!")
    for order in (people, random.Random(7).sample(people, len(people))):
        fill(engine, order)
        released = release(kind, tmp_path, connection=engine.connection, into="released", overwrite=True)
        halves = ["released", *([released.manifest["anatomy"]["sensitive"]] if kind != "cloak" else [])]
        written.add(tuple(row for half in halves for row in looks(engine, half)))
    assert len(written) == 1


COLLATIONS = {"duckdb": ("NOCASE", "NOACCENT"), "postgresql": ('"C"', '"POSIX"')}
ASKED: dict[str, dict[str, Any]] = {
    "shuffled": {"quasi_identifiers": ["zip", "town"], "shuffle": True},
    "kept": {"quasi_identifiers": ["age"], "keep": ["zip", "town"]},
    "dealt": {"quasi_identifiers": ["zip", "town"], "strategy": "mondrian_relaxed"},
    "perturbed": {"quasi_identifiers": ["age"], "keep": ["town"], "sensitive": ["zip"], "perturb": {"zip": PRAM}},
}


@pytest.mark.parametrize("options", ASKED.values(), ids=ASKED)
def test_rows_of_two_collations_have_an_order(engine: Engine, options: dict[str, Any]) -> None:
    if engine.name not in COLLATIONS:
        pytest.skip("a text has no collation there")
    zips, towns = COLLATIONS[engine.name]
    engine.run(f"CREATE TABLE people (zip VARCHAR COLLATE {zips}, town VARCHAR COLLATE {towns}, age INTEGER)")
    for number in range(12):
        engine.run(f"INSERT INTO people VALUES ('{'aAb'[number % 3]}', '{'eéf'[number % 3]}', {number % 2})")
    others = {"zip", "town", "age"} - {
        *options["quasi_identifiers"],
        *options.get("keep", ()),
        *options.get("sensitive", ()),
    }
    quasi_identifiers = dict.fromkeys(options["quasi_identifiers"], CODES)
    spec = {**options, "quasi_identifiers": quasi_identifiers, "identifiers": sorted(others), "privacy": {"k": 2}}
    assert anonymize("people", spec, connection=engine.connection, seed=1).manifest["released_rows"] == 12


def release(kind: str, folder: Path, **options: Any) -> Release:
    if kind == "cloak":
        return cloak("people", CLOAK, k=4, **options)
    if kind == "groups":
        exact = {**OTHERS, "quasi_identifiers": ["age", "code"], "sensitive": ["ill"]}
        return anatomize("people", exact, l=3, secret=folder / "secret", **options)
    counted = ["ill", "name"]  # zero and paid stay in the rows
    spec = {**OTHERS, "quasi_identifiers": {"age": AGES, "code": CODES}, "sensitive": counted}
    return anonymize("people", spec, form="anatomy", k=4, **options)
