"""What bare DuckDB takes for what no anonymizer is spared: `python limits.py TABLE SCRATCH COLUMNS KEPT` prints JSON.

Seconds on as many threads as DuckDB takes by itself: to read the columns, to group by the quasi-identifiers (COLUMNS,
separated by commas), to copy all that is released (KEPT as well) from Parquet to Parquet, and to copy it sorted. A
copy reads too, so it is the least that a release can take; and a grouping and a copy the least that the whole can take.
Short statements are repeated for half a second, and the median counts.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import duckdb


def limits(table: str, scratch: Path, columns: list[str], kept: list[str]) -> dict[str, float]:
    """Seconds by statement, and the distinct tuples that the grouping found."""
    connection = duckdb.connect(config={"temp_directory": str(scratch / "spill"), "preserve_insertion_order": False})
    source, copied = f"read_parquet('{table}')", scratch / "copied.parquet"
    grouped, released = _names(columns), _names([*columns, *kept])
    bytes_read = ", ".join(
        f"sum(strlen({name}::VARCHAR))" if _is_text(connection, source, name) else f"max({name})"
        for name in released.split(", ")
    )
    groups = f"SELECT count(*), max(n) FROM (SELECT {grouped}, count(*) AS n FROM {source} GROUP BY ALL)"
    copy = f"COPY (SELECT {released} FROM {source}{{}}) TO '{copied}' (FORMAT parquet, COMPRESSION zstd)"
    connection.execute(f"FROM {source} LIMIT 1").fetchall()  # whatever is loaded once
    statements = {
        "read": f"SELECT {bytes_read} FROM {source}",
        "group": groups,
        "copy": copy.format(""),
        "sort": copy.format(" ORDER BY ALL"),
    }
    taken = {name: _taken(connection, sql) for name, sql in statements.items()}
    ((tuples, _),) = taken["group"][2]
    walls = {name: seconds for name, (seconds, _, _) in taken.items()}
    return {"tuples": tuples, **walls, **{f"{name}_cpu": seconds for name, (_, seconds, _) in taken.items()}}


def _names(columns: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _is_text(connection: duckdb.DuckDBPyConnection, source: str, name: str) -> bool:
    ((kind,),) = connection.execute(f"SELECT typeof({name}) FROM {source} LIMIT 1").fetchall()
    return kind == "VARCHAR"


def _taken(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[float, float, list[Any]]:
    """The medians of its seconds, on the wall and of CPU, and what it gave."""
    walls: list[float] = []
    cpus: list[float] = []
    while sum(walls) < 0.5:
        started, cpu = time.perf_counter(), time.process_time()
        gave = connection.execute(sql).fetchall()
        walls.append(time.perf_counter() - started)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus), gave


if __name__ == "__main__":
    path, folder, columns, kept = sys.argv[1:]
    print(json.dumps(limits(path, Path(folder), columns.split(","), [name for name in kept.split(",") if name])))
