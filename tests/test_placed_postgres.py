"""Releases of PostgreSQL that are sorted by the places of labels: the same rows in the same order as without."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kanon_sql import anonymize
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.queries import places, release
from support.database import create_table

TYPES = {
    "age": "INTEGER",
    "zip": "VARCHAR",
    "day": "DATE",
    "spans": "INTERVAL",
    "paid": "NUMERIC",
    "zero": "DOUBLE PRECISION",
    "seen": "INTEGER",
}
SPEC: dict[str, Any] = {
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [5, 20]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "day": {"hierarchy": {"dates": ["month"]}},
        "spans": {"hierarchy": "suppress"},
    },
    "keep": ["paid", "zero", "seen"],
    "suppression_limit": 1,
}
NODES = {
    "labels": {"age": 1, "zip": 1, "day": 1, "spans": 1},
    "values": {"age": 0, "zip": 1, "day": 0, "spans": 0},  # of more values than are walked, NULL among them
    "tops": {"age": 3, "zip": 3, "day": 2, "spans": 1},
}


def people(rows: int = 1500) -> list[tuple[Any, ...]]:
    draw = random.Random(5)
    return [
        (
            draw.choice([None, *range(120)]),
            draw.choice([None, "110", "111", "120", "205", "21"]),
            draw.choice([None, "2024-01-01", "2024-01-20", "2024-02-03"]),
            draw.choice(["1 mon", "30 days", "2 days"]),
            draw.choice(["1.0", "1.00", "2", "NaN", None]),
            draw.choice([0.0, -0.0, 1.5, float("nan"), None]),
            draw.randrange(3),
        )
        for _ in range(rows)
    ]


def released(engine: PostgreSQL, node: dict[str, int], **more: Any) -> list[str]:
    """The rows as they come, and as they look."""
    made = {**SPEC, **more}
    anonymize("people", made, k=2, node=node, connection=engine.connection, into="released", overwrite=True)
    return [row for (row,) in engine.rows("SELECT CAST(r AS TEXT) FROM released AS r")]


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_rows_and_their_order_are_those_without_places(
    postgres: PostgreSQL, node: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = people()
    create_table(postgres, "people", TYPES, source)
    rows, masked = released(postgres, node), released(postgres, node, mask=True)
    with monkeypatch.context() as without:
        without.setattr(release, "can_place", lambda _: False)
        usual, masked_usual = released(postgres, node), released(postgres, node, mask=True)
    assert sorted(rows) == sorted(usual)
    assert sorted(masked) == sorted(masked_usual)
    assert shown(rows) == shown(usual)
    monkeypatch.setattr(places, "_WORD", 9)  # bits in a number: the places are in several
    assert released(postgres, node) == rows
    postgres.run("DROP TABLE people")
    create_table(postgres, "people", TYPES, random.Random(1).sample(source, len(source)))
    assert released(postgres, node) == rows
    assert released(postgres, node, mask=True) == masked


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("node", [NODES["labels"], NODES["values"]], ids=["labels", "values"])
def test_rows_that_find_their_class_in_an_array_are_those_that_are_joined_to_it(
    postgres: PostgreSQL, node: dict[str, int], mask: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(postgres, "people", TYPES, people())
    joined = released(postgres, node, mask=mask)
    monkeypatch.setattr(places, "_ROWS_EACH", 0.01)  # rows for each element: all are few enough
    asked: list[str] = []
    monkeypatch.setattr(
        PostgreSQL, "run", lambda engine, sql, run=PostgreSQL.run: (asked.append(sql), run(engine, sql))[1]
    )
    assert released(postgres, node, mask=mask) == joined
    assert any("GENERATE_SERIES(1, " in sql for sql in asked)


def shown(rows: list[str]) -> list[str]:
    """Rows without what decides between equal values only."""
    return [row.replace("1.00", "1.0").replace("-0", "0") for row in rows]
