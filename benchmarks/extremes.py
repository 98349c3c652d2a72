"""Local recodings at their extremes: a column of a million values, 300 columns, and time limits on a busy machine.

    python benchmarks/extremes.py values          # mondrian, a column with as many values as rows
    python benchmarks/extremes.py columns         # mondrian, 300 quasi-identifiers
    python benchmarks/extremes.py limits          # kaca and refine, with a limit of 5 s and two busy processes

Rows go to benchmarks/results/extremes.json. Tables are kept in the folder of `benchmarks/all.py`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from jobs import HERE, released
from measure import Row, record
from tables import answered, incomes, visits

FOLDER = Path(tempfile.gettempdir()) / "kanon-benchmark"
MOST_SECONDS = 600.0
LIMIT = 5.0


def values() -> Iterator[Row]:
    """A column of a million values."""
    yield {"table": "incomes", **released(incomes(FOLDER), "mondrian", MOST_SECONDS)}


def columns() -> Iterator[Row]:
    """300 quasi-identifiers; `unnamed`: the share of the total that is in no phase of the manifest's seconds."""
    row = released(answered(FOLDER, 30_000, 300), "mondrian", MOST_SECONDS)
    seconds = row.get("seconds", {})
    total = seconds.get("total", 0.0)
    named = sum(of_phase for phase, of_phase in seconds.items() if phase != "total")
    yield {"table": "answers", "unnamed": (total - named) / total if total else None, **row}


def limits() -> Iterator[Row]:
    """How long a recoding with a time limit takes next to two busy processes: `search` of the manifest's seconds."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        for rows in (300_000, 3_000_000):
            for strategy in ("kaca", "refine"):
                row = released(visits(FOLDER, rows), strategy, MOST_SECONDS, time_limit=LIMIT)
                yield {"strategy": strategy, "rows": rows, "time_limit": LIMIT, **row}
    finally:
        for process in busy:
            process.kill()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    record(HERE / "results" / "extremes.json", {"values": values, "columns": columns, "limits": limits})
