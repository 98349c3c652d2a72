"""Every verb as a separate process, with its time as multiples of one bare GROUP BY of the quasi-identifiers.

    python benchmarks/verbs.py visits 30000,300000           # one kind of table, its sizes
    python benchmarks/verbs.py visits 3000000 risk attack    # only these verbs

The kinds: `people` (the demo's census), `visits` (nearly all rows differ), `stays` (three rows of each patient).
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
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
NIGHTS = 8  # releases before the measured one
NIGHTLY = {"run": 10**9, "run, unguarded": "unlimited"}  # by the limit of the differencing check
VERBS = (
    "limits", "profile", "init", "anonymize", "mondrian", "verify", "risk", "utility", "attack", "report", "explain",
    "compile", "lattice", *NIGHTLY,
)  # fmt: skip


def measured(kind: str, rows: int, verb: str, folder: Path, seconds: float) -> Row:
    """What one verb takes. `verify` and all after it read the release of `anonymize`, which stays in the folder."""
    table = KINDS[kind](folder, rows)
    work = folder / f"verbs-{kind}-{rows}"
    work.mkdir(exist_ok=True)
    if verb == "limits":
        return limits(table, folder, seconds)
    if verb in NIGHTLY:
        return _night(table, work / verb.replace(", ", "-"), seconds, NIGHTLY[verb])
    output = work / ("manifest.json" if verb == "anonymize" else "output")
    return taken(metered(_command(table, work, verb), seconds, output))


def _command(table: Table, work: Path, verb: str) -> list[str]:
    spec, source = work / "spec.yml", str(table.path)
    target = {"file": str(work / "release.parquet")}
    spec.write_text(yaml.safe_dump({"source": source, "target": target, **table.spec}))
    with_spec = ["--spec", str(spec)]
    arguments = {
        "profile": [source],
        "init": [source, "--output", str(work / "release.yml"), "--overwrite"],
        "anonymize": [*with_spec, "--json", "--overwrite"],
        "mondrian": [*with_spec, "--strategy", "mondrian", "--overwrite", "--output", str(work / "mondrian.parquet")],
        "report": [
            *with_spec,
            "--manifest",
            str(work / "manifest.json"),
            "--output",
            str(work / "report.html"),
            "--overwrite",
        ],
        "lattice": [*with_spec, "--output", str(work / "lattice.svg"), "--overwrite"],
    }
    return [*KANON, "anonymize" if verb == "mondrian" else verb, *arguments.get(verb, with_spec)]


def _night(table: Table, work: Path, seconds: float, limit: int | str) -> Row:
    """The last of some nights, on each of which two in a thousand rows arrive and as many leave."""
    shutil.rmtree(work, ignore_errors=True)  # also the copies of releases of an earlier run
    work.mkdir()
    database, path = work / "warehouse.duckdb", work / "night.yml"
    source = {"source": "source", "database": str(database), "target": {"table": "released"}}
    path.write_text(yaml.safe_dump({**table.spec, **source, "differencing_limit": limit}))
    for night in range(NIGHTS + 1):
        with duckdb.connect(str(database)) as connection:
            present = f"hash(s, 0) % 1000 NOT IN ({night}, 999 - {night})"
            connection.execute(f"CREATE OR REPLACE TABLE source AS SELECT * FROM '{table.path}' AS s WHERE {present}")
        row = taken(metered([*KANON, "run", str(path)], seconds, work / "output"))
        if "failed" in row:
            return row
    return row


def main() -> None:
    """Print a line of JSON for each size and verb."""
    kind, sizes, *verbs = sys.argv[1:]
    folder = Path(tempfile.gettempdir()) / "kanon-benchmark"
    folder.mkdir(exist_ok=True)
    for rows in map(int, sizes.split(",")):
        for verb in verbs or VERBS:
            print(json.dumps({"rows": rows, "verb": verb, **measured(kind, rows, verb, folder, 600)}), flush=True)


if __name__ == "__main__":
    main()
