"""Every verb as a process of its own, on one table: what it takes, as multiples of one bare GROUP BY of the table.

python benchmarks/verbs.py visits 30000,300000           # one kind of table, its sizes
python benchmarks/verbs.py visits 3000000 risk attack    # only these verbs
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import duckdb
import yaml
from jobs import KANON, Table, limits, taken
from measure import Row, metered
from tables import people, visits

KINDS: dict[str, Callable[[Path, int], Table]] = {
    "people": people,
    "visits": visits,
    "stays": partial(visits, per_person=3),
}
NIGHTS = 8
NIGHTLY = {"run": 10**9, "run_unguarded": "unlimited"}  # by the limit of the differencing check
VERBS = (
    "profile", "init", "risk", "anonymize", "verify", "utility", "attack", "report", "compile", "explain", "lattice",
    "mondrian", "run_unguarded", "run",
)  # fmt: skip


def rows_of(
    table: Table, folder: Path, verbs: tuple[str, ...] = VERBS, seconds: float = 600
) -> Iterator[tuple[str, Row]]:
    """Each verb in turn, and first the limits of the machine. Verbs that read a release read that of `anonymize`."""
    yield "limits", limits(table, folder, seconds)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        work = Path(name)
        commands = _commands(table, work)
        needed = ("anonymize", *verbs) if {"verify", "utility", "attack", "report"} & {*verbs} else verbs
        for verb in dict.fromkeys(needed):
            if verb in NIGHTLY:
                yield verb, _nights(table, work / verb, seconds, NIGHTLY[verb])
            else:
                output = work / ("manifest.json" if verb == "anonymize" else "output")
                yield verb, taken(metered(commands[verb], seconds, output))


def _commands(table: Table, work: Path) -> dict[str, list[str]]:
    spec, release, source = work / "spec.yml", work / "release.parquet", str(table.path)
    spec.write_text(yaml.safe_dump({"source": source, "target": {"file": str(release)}, **table.spec}))
    (work / "init").mkdir()
    made = ["--spec", str(spec)]
    return {
        "profile": [*KANON, "profile", source],
        "init": [*KANON, "init", source, "--output", str(work / "init" / "release.yml")],
        "risk": [*KANON, "risk", *made],
        "anonymize": [*KANON, "anonymize", *made, "--json"],
        "mondrian": [
            *KANON, "anonymize", *made, "--strategy", "mondrian", "--json", "--output", str(work / "mondrian.parquet"),
        ],
        "verify": [*KANON, "verify", *made],
        "utility": [*KANON, "utility", *made],
        "attack": [*KANON, "attack", *made],
        "report": [
            *KANON, "report", *made, "--manifest", str(work / "manifest.json"),
            "--output", str(work / "report.html"),
        ],
        "compile": [*KANON, "compile", *made],
        "explain": [*KANON, "explain", *made],
        "lattice": [*KANON, "lattice", *made, "--output", str(work / "lattice.svg")],
    }  # fmt: skip


def _nights(table: Table, work: Path, seconds: float, limit: int | str) -> Row:
    """A pipeline's night after `NIGHTS` others, on each of which some rows arrive and leave.

    `limit`: of the differencing check; "unlimited" turns it off.
    """
    work.mkdir()
    database, path, source = work / "warehouse.duckdb", work / "night.yml", str(table.path)
    spec = {
        **table.spec,
        "source": "source",
        "database": str(database),
        "target": {"table": "released"},
        "differencing_limit": limit,
    }
    path.write_text(yaml.safe_dump(spec))
    row: Row = {}
    for night in range(NIGHTS + 1):
        with duckdb.connect(str(database)) as connection:
            present = f"hash(s, 0) % 1000 NOT IN ({night}, 999 - {night})"
            connection.execute(f"CREATE OR REPLACE TABLE source AS SELECT * FROM '{source}' AS s WHERE {present}")
        cost = taken(metered([*KANON, "run", str(path), "--json"], seconds, work / "output"))
        if "failed" in cost:
            return {"night": night, **cost}
        row[f"cpu_{night}"] = cost["cpu"]
    return {**row, **cost}


def main() -> None:
    """Print a line of JSON for each size and verb."""
    kind, sizes, *verbs = sys.argv[1:]
    folder = Path(tempfile.gettempdir()) / "kanon-benchmark"
    folder.mkdir(exist_ok=True)
    for rows in map(int, sizes.split(",")):
        for verb, row in rows_of(KINDS[kind](folder, rows), folder, tuple(verbs) or VERBS):
            print(json.dumps({"rows": rows, "verb": verb, **row}), flush=True)


if __name__ == "__main__":
    main()
