"""Whole processes: `kanon anonymize` on Adult by OLA, and on a million made-up people; what is asked of the database.

ARX 3.9.2, as published in docs/benchmarks.md, needs 6.6 s wall and 4.8 s CPU for the Adult job in a fresh JVM.
Run with KANON_DATA set, and with nothing else running.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from measure import ADULT_COLUMNS, Cost, adult, process

import kanon_sql
from kanon_sql.cli.demo import QUASI_IDENTIFIERS
from kanon_sql.demo_data import write_parquet
from kanon_sql.resources import folder

KANON = (sys.executable, "-m", "kanon_sql")
# k, suppression limit, nodes that ARX 3.9.2 checks, its score: optimal search, metric Loss, nine quasi-identifiers.
ARX = (
    (2, 0.0, 218, 0.52970),
    (2, 0.02, 1045, 0.20937),
    (5, 0.0, 182, 0.57315),
    (5, 0.02, 1246, 0.31371),
    (5, 0.05, 1218, 0.24193),
    (5, 1.0, 4750, 0.22041),
    (10, 0.02, 1166, 0.34234),
    (100, 0.02, 521, 0.50729),
)


def main() -> None:
    """Print one table per job."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        adult_job(work)
        statements()
        searches()
        million(work, int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)


def adult_job(work: Path, runs: int = 5) -> None:
    """The command of a user, start of Python included."""
    command = (
        *KANON, "anonymize", str(adult() / "adult.csv"), "--quasi-identifiers", ",".join(ADULT_COLUMNS),
        "--hierarchies", str(adult() / "hierarchies"), "--k", "5", "--suppression-limit", "0.02",
        "--overwrite", "--output", str(work / "adult.csv"),
    )  # fmt: skip
    print("kanon anonymize adult.csv --k 5 --suppression-limit 0.02, nine quasi-identifiers, medians of", runs)
    print("  ARX 3.9.2, fresh JVM                      6.60 s wall, 4.80 s CPU (published with the data)")
    for options in (
        ("--strategy", "ola"),
        ("--strategy", "ola", "--metric", "loss_geometric"),
        ("--metric", "loss_geometric"),
    ):
        costs = [process(*command, *options) for _ in range(runs)]
        print(f"  {' '.join(options):40}  {_median(costs)}")


def _median(costs: list[Cost]) -> str:
    wall, cpu, megabytes = (
        statistics.median(getattr(cost, name) for cost in costs) for name in ("wall", "cpu", "megabytes")
    )
    return f"{wall:.2f} s wall, {cpu:.2f} s CPU, {megabytes:.0f} MB"


def statements() -> None:
    """What the same run asks the database, by the log that its tables and its release keep."""
    made = kanon_sql.explain(
        adult() / "adult.csv",
        quasi_identifiers=list(ADULT_COLUMNS),
        hierarchies=str(adult() / "hierarchies"),
        k=5,
        suppression_limit=0.02,
    )
    print("\nAdult, nine quasi-identifiers, k 5, limit .02: statements by what they took")
    print("  statement             times  seconds      rows")
    for step in sorted(made.steps, key=lambda step: step.seconds, reverse=True):
        print(f"  {step.name:20} {step.times:6} {step.seconds:8.3f} {'' if step.rows is None else f'{step.rows:9,}'}")


def searches() -> None:
    """Nodes checked to prove the optimum, next to ARX's."""
    print("\nAdult, nine quasi-identifiers, loss_geometric: nodes checked")
    print("    k  limit    ARX  auto  queries  seconds  score     proven")
    for k, limit, checks, score in ARX:
        made = kanon_sql.anonymize(
            adult() / "adult.csv",
            quasi_identifiers=list(ADULT_COLUMNS),
            hierarchies=str(adult() / "hierarchies"),
            metric="loss_geometric",
            k=k,
            suppression_limit=limit,
        ).manifest
        figures = f"{made['nodes_checked']:5} {made['queries']:8} {made['seconds']['search']:8.2f}"
        print(f"  {k:3}  {limit:5} {checks:6} {figures}  {made['score']:.5f}   {made['proven_optimal']}")
        assert abs(made["score"] - score) < 1e-5


def million(work: Path, rows: int) -> None:
    """The demo's eight quasi-identifiers on many rows: seconds of the whole process, and peak memory."""
    write_parquet(work / "people.parquet", rows)
    cost = process(
        *KANON, "anonymize", str(work / "people.parquet"), "--identifiers", "person_id",
        "--quasi-identifiers", ",".join(QUASI_IDENTIFIERS), "--hierarchies", str(folder("hierarchies") / "adult"),
        "--k", "5", "--output", str(work / "release.parquet"),
    )  # fmt: skip
    print(f"\n{rows:,} made-up people, eight quasi-identifiers, k 5, limit .02, loss, auto, Parquet to Parquet")
    print(f"  {_median([cost])}")


if __name__ == "__main__":
    main()
