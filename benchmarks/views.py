"""Reading a live view in DuckDB: CPU seconds, and multiples of one bare GROUP BY of the quasi-identifiers.

    python benchmarks/views.py 3000000                # people, visits, and stays with several rows per patient
    python benchmarks/views.py 3000000 stays 5        # one of them; the minimum of five rounds instead of three

All queries return all of their rows as Arrow batches, alternately, so that a change of the machine's speed affects all.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from jobs import Table
from measure import Row
from verbs import KINDS

from kanon_sql import anonymize


def read(table: Table, database: Path, rounds: int) -> Row:
    """The CPU seconds of the queries of a view, and the multiples."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE OR REPLACE TABLE source AS FROM '{table.path}'")
        anonymize("source", table.spec, connection=connection, into="view_", form="view", overwrite=True)
        columns = ", ".join(f'"{column}"' for column in table.columns)
        queries = {
            "group by": f"SELECT {columns}, COUNT(*) FROM source GROUP BY ALL",
            "all": "FROM view_",
            "count": "SELECT COUNT(*) FROM view_",
            "two columns": f'SELECT "{table.columns[0]}", "{table.kept[0]}" FROM view_',
            "limit": "FROM view_ LIMIT 10",
        }
        least = dict.fromkeys(queries, float("inf"))
        for _ in range(rounds):
            for name, query in queries.items():
                started = time.process_time()
                for _batch in connection.sql(query).to_arrow_reader(100_000):
                    pass
                least[name] = min(least[name], time.process_time() - started)
    seconds = {name: round(cpu, 2) for name, cpu in least.items()}
    return {"seconds": seconds, "multiples": {name: round(cpu / least["group by"], 1) for name, cpu in least.items()}}


def main() -> None:
    """Print a line of JSON for each kind of table."""
    rows, *more = sys.argv[1:]
    kinds = more[0].split(",") if more else list(KINDS)
    folder = Path(tempfile.gettempdir()) / "kanon-benchmark"
    folder.mkdir(exist_ok=True)
    for kind in kinds:
        table = KINDS[kind](folder, int(rows))
        figures = read(table, folder / f"views-{kind}-{rows}.duckdb", int(more[1]) if more[1:] else 3)
        print(json.dumps({"kind": kind, "rows": int(rows), **figures}), flush=True)


if __name__ == "__main__":
    main()
