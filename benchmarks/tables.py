"""The tables of the benchmark: made-up people and answers of any size, and real ones where KANON_DATA has them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import answers
import duckdb
from jobs import Table

from kanon_sql.cli.demo import QUASI_IDENTIFIERS
from kanon_sql.demo_data import write_parquet
from kanon_sql.resources import folder as resources

HIERARCHIES = resources("hierarchies") / "adult"


def people(folder: Path, rows: int) -> Table:
    """The demo's made-up people, eight quasi-identifiers: k = 5, 2 % suppressed at most, loss."""
    path = folder / f"people-{rows}.parquet"
    if not path.exists():
        write_parquet(path, rows)
    spec = {
        "identifiers": ["person_id"],
        "quasi_identifiers": list(QUASI_IDENTIFIERS),
        "hierarchies": str(HIERARCHIES),
        "keep": ["salary-class"],
    }
    return Table(path, f"people, {rows:,} rows, {len(QUASI_IDENTIFIERS)} columns", rows, spec, ("salary-class",))


def answered(folder: Path, rows: int, columns: int, doubt: int = answers.USUAL, limit: float = 0.1) -> Table:
    """Made-up answers: nearly all rows differ, or few; k = 5."""
    path = folder / f"answers-{rows}-{columns}-{doubt}.parquet"
    if not path.exists():
        written = path.with_suffix(".part")
        answers.write(written, rows, columns, doubt=doubt)
        written.replace(path)
    which = "few" if doubt == answers.LITTLE else "nearly all"
    spec = {"quasi_identifiers": answers.recipes(columns), "suppression_limit": limit}
    return Table(path, f"answers, {rows:,} rows, {columns} columns, {which} differ", rows, spec)


def alike(folder: Path, rows: int = 5_000, columns: int = 7) -> Table:
    """Answers of one scale under one hierarchy, as the searches for identical hierarchies need them."""
    path = folder / f"alike-{rows}-{columns}.parquet"
    if not path.exists():
        wide = folder / f"answers-{rows}-{5 * columns}-{answers.USUAL}.parquet"
        answered(folder, rows, 5 * columns)
        names = ", ".join(f"answer_{5 * j + 4}" for j in range(columns))  # every fifth has six values
        duckdb.connect().execute(f"COPY (SELECT {names} FROM '{wide}') TO '{path}' (FORMAT parquet)")
    recipes = {f"answer_{5 * j + 4}": {"hierarchy": {"ranges": [3]}} for j in range(columns)}
    spec = {"quasi_identifiers": recipes, "suppression_limit": 0.0, "metric": "precision"}
    return Table(path, f"answers, {rows:,} rows, {columns} identical hierarchies", rows, spec)


def incomes(folder: Path, rows: int = 1_000_000) -> Table:
    """A column in which every row has another value, next to 90 ages and 3 sexes."""
    path = folder / f"incomes-{rows}.parquet"
    if not path.exists():
        columns = f"i * 2654435761 % {rows + 3} AS income, i * 7919 % 90 AS age, i * 104729 % 3 AS sex"
        duckdb.connect().execute(f"COPY (SELECT {columns} FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)")
    recipes = {
        "income": {"ranges": [10, 100, 1000, 10_000, 100_000]},
        "age": {"ranges": [5, 10, 20]},
        "sex": "suppress",
    }
    spec = {"quasi_identifiers": {name: {"hierarchy": recipe} for name, recipe in recipes.items()}, "privacy": {"k": 5}}
    return Table(path, f"incomes, {rows:,} values", rows, spec)


def visits(folder: Path, rows: int, per_person: int = 1) -> Table:
    """Made-up visits to a hospital, five quasi-identifiers: nearly all tuples differ, `per_person` rows a patient."""
    path = folder / f"visits-{rows}-{per_person}.parquet"
    if not path.exists():
        duckdb.connect().execute(VISITS.format(rows=rows, per_person=per_person, path=path))
    spec: dict[str, Any] = {
        **({"identifiers": ["patient"]} if per_person == 1 else {"unit": "patient"}),
        "quasi_identifiers": {
            "age": {"hierarchy": {"ranges": [5, 10, 20]}},
            "zip": {"hierarchy": {"redact": "right"}},
            "sex": {"hierarchy": "suppress"},
            "admitted": {"hierarchy": {"dates": ["month", "quarter", "year"]}},
            "race": {"hierarchy": "suppress"},
        },
        "sensitive": ["diagnosis"],
        "privacy": {"k": 5},
        "keep": ["days"],
    }
    return Table(path, f"visits, {rows:,} rows, {per_person} per patient", rows, spec, ("diagnosis", "days"))


def taxis(folder: Path, rows: int) -> Table:
    """Places and times of made-up taxis, to be cloaked."""
    path = folder / f"taxis-{rows}.parquet"
    if not path.exists():
        duckdb.connect().execute(TAXIS.format(rows=rows, taxis=rows // 50, path=path))
    spec: dict[str, Any] = {"location": ["lat", "lon"], "time": "ts", "unit": "taxi", "cloak": {}}
    return Table(path, f"taxis, {rows:,} rows", rows, spec)


def real(folder: Path) -> dict[str, Table | str]:
    """Tables that are not in the repository, or why one is left out."""
    data = os.environ.get("KANON_DATA")
    found: dict[str, Table | str] = {}
    for name in ("adult", "c2k", "creditcard", "cup98", "jester"):
        if not data:
            found[name] = "KANON_DATA is not set"
        elif not (Path(data) / name).is_dir():
            found[name] = "KANON_DATA has no such folder"
        else:
            found[name] = _real(name, folder)
    return found


def _real(name: str, folder: Path) -> Table:
    from search import arx, cargo, halves, jester

    if name == "jester":
        table, path = jester(8), folder / "jester.parquet"
        duckdb.from_df(table).write_parquet(str(path))
        file = {"hierarchy": {"file": halves(folder, table, -10, 10)}}
        spec = {
            "quasi_identifiers": dict.fromkeys(table.columns, file),
            "suppression_limit": 0.0,
            "metric": "precision",
        }
        return Table(path, "Jester, 8 columns", len(table), spec)
    case = cargo(25, own=False) if name == "c2k" else arx(name)
    path, k = case.pop("source"), case.pop("k")
    title = {"c2k": "Cargo 2000", "adult": "Adult", "creditcard": "credit cards", "cup98": "KDD Cup 98"}[name]
    with path.open() as file:
        rows = sum(1 for _ in file) - 1
    named = {"privacy": {"k": k}, "keep": []}
    return Table(path, f"{title}, {len(case['quasi_identifiers'])} columns", rows, {**case, **named})


TAXIS = """
COPY (
  SELECT
    hash(i, 1) % {taxis} AS taxi,
    39.9 + 0.05 * sqrt(-2 * ln(u1)) * cos(6.2832 * u2) AS lat,
    116.4 + 0.05 * sqrt(-2 * ln(u3)) * cos(6.2832 * u4) AS lon,
    TIMESTAMP '2026-01-01' + INTERVAL 1 SECOND * (hash(i, 6) % 86400) AS ts
  FROM (
    SELECT
      i,
      (1 + hash(i, 2) % 1000003) / 1000004.0 AS u1,
      (hash(i, 3) % 1000003) / 1000003.0 AS u2,
      (1 + hash(i, 4) % 1000003) / 1000004.0 AS u3,
      (hash(i, 5) % 1000003) / 1000003.0 AS u4
    FROM range({rows}) AS r (i)
  )
) TO '{path}' (FORMAT parquet)
"""

VISITS = """
COPY (
  SELECT
    hash(i // {per_person}, 9)::VARCHAR AS patient,
    18 + (hash(i // {per_person}, 1) % 73)::INTEGER AS age,
    (10000 + (hash(i // {per_person}, 2) % 5000)::INTEGER * 17)::VARCHAR AS zip,
    IF(hash(i // {per_person}, 3) % 2 = 0, 'female', 'male') AS sex,
    DATE '2024-01-01' + (hash(i, 4) % 730)::INTEGER AS admitted,
    (['White', 'Black', 'Asian', 'Native', 'Other'])[1 + (hash(i // {per_person}, 5) % 5)::INTEGER] AS race,
    'D' || sqrt(hash(i, 6) % 40000)::INTEGER AS diagnosis,
    1 + (hash(i, 7) % 30)::INTEGER AS days
  FROM range({rows}) AS r (i)
) TO '{path}' (FORMAT parquet)
"""
