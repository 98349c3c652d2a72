"""Nights of a pipeline: what is released and who waits when changes wait, are refused, or are not compared.

    python benchmarks/nights.py                          # 30 nights of three tables in three ways, as Markdown
    python benchmarks/nights.py people 5000 365 defer    # a year of one table, in one way; a line for every night

Every night 15 of 10,000 people arrive, 5 leave, and one value of 2 changes, as in a warehouse of 200,000 rows with 300
inserts and 100 deletes a night. The kinds of tables are those of verbs.py.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import yaml
from jobs import Table
from verbs import KINDS

import kanon_sql
from kanon_sql.errors import DifferencingError

ARRIVE, LEAVE, CHANGE = 0.0015, 0.0005, 0.0002  # of the people, every night
WAYS: dict[str, dict[str, Any]] = {
    "defer": {"differencing_limit": 0},
    "mondrian": {"differencing_limit": 0, "strategy": "mondrian"},
    "refuse": {"differencing_limit": 0, "differencing": "refuse"},
    "unlimited": {"differencing_limit": "unlimited"},
    "diverse": {"differencing_limit": 0, "l_diversity": 2},
    "values": {"differencing_limit": 0, "l_diversity": 2, "differencing_values": 2},
}
SOURCE = """
CREATE OR REPLACE TABLE source AS
SELECT * EXCLUDE (arrives, leaves, changes)
  REPLACE (
    CASE WHEN changes <= {night} THEN lead(r."{value}", 7, r."{value}") OVER () ELSE r."{value}" END AS "{value}"
  )
FROM (
  SELECT s.*,
    (hash(s."{person}", 1) % 1000000 / 1e6 * {all} - 1) / {arrive} AS arrives,
    hash(s."{person}", 2) % 1000000 / 1e6 / {leave} AS leaves,
    hash(s."{person}", 3) % 1000000 / 1e6 / {change} AS changes
  FROM '{path}' AS s
) AS r
WHERE r.arrives <= {night} AND r.leaves > {night}
"""
CHANGED = """
SELECT COUNT(DISTINCT "{person}") / (SELECT COUNT(DISTINCT "{person}") FROM source)
FROM ((FROM source EXCEPT ALL FROM first) UNION ALL (FROM first EXCEPT ALL FROM source))
"""

HEAD = """
| table | changes | nights released | changed by the last | waiting, mean | waiting, last | loss | suppressed |
|---|---|---|---|---|---|---|---|
""".strip()


def nights(kind: str, rows: int, number: int, way: str, folder: Path) -> Iterator[dict[str, Any]]:
    """What every night releases: the manifest's figures, or that it was refused."""
    everybody = 1 + ARRIVE * number
    table: Table = KINDS[kind](folder, round(rows * everybody))
    work = folder / f"nights-{kind}-{rows}-{way}"
    work.mkdir(exist_ok=True)
    database, spec = work / "warehouse.duckdb", work / "night.yml"
    for file in (database, *work.glob(".kanon/*")):
        file.unlink(missing_ok=True)
    target = {"source": "source", "database": str(database), "target": {"table": "released"}, "deferral_limit": 1.0}
    spec.write_text(yaml.safe_dump({**table.spec, **target, **_options(way, table)}))
    person = "person_id" if kind == "people" else "patient"
    rates = {"all": everybody, "arrive": ARRIVE, "leave": LEAVE, "change": CHANGE}
    for night in range(number):
        query = SOURCE.format(person=person, value=table.kept[0], path=table.path, night=night, **rates)
        with duckdb.connect(str(database)) as connection:
            connection.execute(query)
            if night == 0:
                connection.execute("CREATE TABLE first AS FROM source")
            ((changed,),) = connection.execute(CHANGED.format(person=person)).fetchall()
        try:
            (done,) = kanon_sql.run(spec).releases
        except DifferencingError:
            yield {"night": night, "released": False}
            continue
        if done.status == "unchanged":
            continue
        assert done.release
        manifest = done.release.manifest
        members = manifest.get("released_people", manifest["released_rows"])
        waiting = manifest.get("deferred", {}).get("waiting", 0)
        yield {
            "night": night,
            "released": True,
            "changed": changed,
            "waiting": waiting / members,
            "loss": manifest["score"],
            "suppressed": manifest["suppressed_rows"] / manifest["rows"],
        }


def _options(way: str, table: Table) -> dict[str, Any]:
    """The options of a way; numbers of values are those of the first column that is kept."""
    options = dict(WAYS[way])
    if "l_diversity" in options:
        column, *others = table.kept
        options["privacy"] = {**table.spec.get("privacy", {}), "l_diversity": {column: options.pop("l_diversity")}}
        options |= {"keep": others, "sensitive": [column]}
        if "differencing_values" in options:
            options["differencing_values"] = {column: options["differencing_values"]}
    return options


def summary(kind: str, rows: int, number: int, way: str, folder: Path) -> str:
    """One line of the page's table."""
    found = list(nights(kind, rows, number, way, folder))
    released = [night for night in found if night["released"]]
    waiting = [night["waiting"] for night in released]
    last = released[-1]
    return (
        f"| {kind} | {way} | {len(released)} of {number} | {last['changed']:.1%} | {sum(waiting) / len(waiting):.1%} "
        f"| {waiting[-1]:.1%} | {last['loss']:.4f} | {last['suppressed']:.1%} |"
    )


def main() -> None:
    """Print the table, or the nights of one kind."""
    folder = Path(tempfile.gettempdir()) / "kanon-benchmark"
    folder.mkdir(exist_ok=True)
    if len(sys.argv) > 1:
        kind, rows, number, way = sys.argv[1:]
        for night in nights(kind, int(rows), int(number), way, folder):
            print(night, flush=True)
        return
    print(HEAD)
    for kind in KINDS:
        for way in WAYS:
            print(summary(kind, 30_000, 30, way, folder), flush=True)


if __name__ == "__main__":
    main()
