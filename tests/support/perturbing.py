"""Perturbation in plain Python: the rows, the draws, and the resulting values."""

import hmac
import json
import math
from collections import Counter
from collections.abc import Sequence
from hashlib import md5, sha256
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import queries, spec
from kanon_sql.engine import Engine
from kanon_sql.release import perturb
from support.database import create_table

SECRET = "correct horse battery staple"
QI = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "privacy": {"k": 2}}
Row = tuple[Any, ...]


@pytest.fixture
def secret(tmp_path: Path) -> str:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET + "\n")
    return str(path)


def row_ids(rows: Sequence[Row]) -> list[str]:
    """A row's content, each cell after a bar and NULL apart from all text; equal rows are numbered."""
    seen: Counter[Row] = Counter()
    ids = []
    for row in rows:
        seen[row] += 1
        cells = ("~n" if cell is None else str(cell).replace("~", "~~").replace("|", "~p") for cell in row)
        content = hexdigest("".join(f"|{cell}" for cell in cells))
        ids.append(hexdigest(f"{content}|{seen[row]}"))
    return ids


def hexdigest(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def derived(what: str, column: str, options: dict[str, Any]) -> str:
    """Of the secret, for one column perturbed in one way: a draw for one scale is none for another."""
    purpose = json.dumps(["perturb", column, options], sort_keys=True)
    return hmac.new(SECRET.encode(), f"{what}|{purpose}".encode(), sha256).hexdigest()


def noise_of(scale: float, distribution: str = "normal", **bounds: float) -> dict[str, Any]:
    return {"noise": {"scale": float(scale), "distribution": distribution, **bounds}}


def draws(rows: Sequence[Row], options: dict[str, Any], column: str = "x") -> list[tuple[float, float]]:
    digests = (hexdigest(derived("key", column, options) + row_id) for row_id in row_ids(rows))
    return [((int(d[:8], 16) + 0.5) / 2**32, (int(d[8:16], 16) + 0.5) / 2**32) for d in digests]


def standard(distribution: str, u: float, v: float) -> float:
    if distribution == "normal":
        return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
    if distribution == "uniform":
        return 2 * u - 1
    return math.copysign(-math.log(1 - 2 * abs(u - 0.5)), u - 0.5)


def table(engine: Engine, rows: Sequence[Row], types: Sequence[str] = ("VARCHAR", "INTEGER")) -> str:
    """A table of zip, x and whatever else, anew."""
    table = engine.find("people")
    if table:
        engine.run(queries.drop(table.relation, engine.dialect))
    names = ("zip", "x", "other")[: len(types)]
    create_table(engine, "people", dict(zip(names, types, strict=True)), rows)
    return "people"


def perturbed(engine: Engine, options: dict[str, Any], secret: str, **more: Any) -> list[Row]:
    """All rows of `people` with the column x perturbed, in no order."""
    settled = spec.parse({"source": "people", **QI, "perturb": {"x": options}, "secret": secret, **more})
    table = engine.find("people")
    assert table is not None
    with engine.transaction():
        perturb.check(engine, table, settled)
        with perturb.perturbed_source(engine, table, settled) as source:
            rows = engine.rows(queries.select_all(source.relation, engine.dialect))
    assert [column.kind for column in source.columns] == [column.kind for column in table.columns]
    return rows


def with_zips(values: Sequence[Any]) -> list[Row]:
    return [(f"z{number}", value) for number, value in enumerate(values)]
