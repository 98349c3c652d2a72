"""Releases of PostgreSQL are sorted by the positions of classes: the order is that of the released values."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kanon_sql import anonymize
from kanon_sql.engines.postgres import PostgreSQL
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
    """The rows as they come, and as they look, of a new table: rows of a replaced one can fill old space."""
    engine.run("DROP TABLE IF EXISTS released")
    built = {**SPEC, **more}
    anonymize("people", built, k=2, node=node, connection=engine.connection, into="released", overwrite=True)
    return [row for (row,) in engine.rows("SELECT CAST(r AS TEXT) FROM released AS r")]


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
@pytest.mark.sampled
def test_rows_are_sorted_by_their_released_values(postgres: PostgreSQL, node: dict[str, int]) -> None:
    source = people()
    create_table(postgres, "people", TYPES, source)
    rows, masked = released(postgres, node), released(postgres, node, mask=True)
    columns = ", ".join([*SPEC["quasi_identifiers"], *SPEC["keep"]])
    released(postgres, node)
    by_value = postgres.rows(f"SELECT CAST(r AS TEXT) FROM released AS r ORDER BY {columns}")
    assert shown(rows) == shown([row for (row,) in by_value])
    assert masked[: len(rows)] == rows, "rows of no class are the last"
    assert len(masked) == len(source)
    postgres.run("DROP TABLE people")
    create_table(postgres, "people", TYPES, random.Random(1).sample(source, len(source)))
    assert released(postgres, node) == rows
    assert released(postgres, node, mask=True) == masked


def shown(rows: list[str]) -> list[str]:
    """Rows without what decides between equal values only."""
    return [row.replace("1.00", "1.0").replace("-0", "0") for row in rows]
