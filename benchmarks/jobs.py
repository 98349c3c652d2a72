"""One release as a user creates it: `kanon anonymize` in a separate process, from file to Parquet file."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import Cost, Row, metered

KANON = (sys.executable, "-m", "kanon_sql")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Table:
    """A file, what the page calls it, its spec (quasi-identifiers, suppression limit, …), and what is kept."""

    path: Path
    name: str
    rows: int
    spec: dict[str, Any] = field(default_factory=dict)
    kept: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The quasi-identifiers."""
        return list(self.spec["quasi_identifiers"])


def released(
    table: Table, strategy: str, seconds: float, output: Path | None = None, trace: Path | None = None, **more: Any
) -> Row:
    """One row: what the process took, what the manifest says, or why there is no release.

    `seconds`: after which it is killed. `trace`: the file for what the search asks. `more`: fields of the spec.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "spec.json").write_text(json.dumps({**table.spec, "strategy": strategy, **more}))
        (work / "spill").mkdir()
        command = [
            *KANON, "anonymize", str(table.path), "--spec", str(work / "spec.json"), "--overwrite", "--json",
            "--output", str(output or work / "out.parquet"), "--temp-directory", str(work / "spill"),
            *(["--trace", str(trace)] if trace else []),
        ]  # fmt: skip
        cost = metered(command, seconds, work / "manifest.json", str(work / "spill"))
        result = taken(cost)
        if "failed" in result:
            return result
        return {**result, **_of(json.loads((work / "manifest.json").read_text()))}


def taken(cost: Cost) -> Row:
    """What a process took; `failed`, if it did not end well."""
    figures: Row = {name: round(getattr(cost, name), 3) for name in ("wall", "cpu", "megabytes", "spilled")}
    if cost.killed:
        return {**figures, "failed": f"killed after {cost.wall:.0f} s"}
    if cost.code:
        lines = [line.strip() for line in cost.errors.splitlines() if line.strip()] or [f"ended with {cost.code}"]
        return {**figures, "failed": lines[-1]}
    return figures


_FIGURES = (
    "rows", "distinct_tuples", "released_rows", "suppressed_rows", "classes", "smallest_class", "lattice_size",
    "nodes_checked", "queries", "score", "lower_bound", "gap", "proven_optimal", "search_ended", "found_by",
)  # fmt: skip


def _of(manifest: Row) -> Row:
    """What is kept of a manifest."""
    losses = {name: manifest["information_loss"].get(name) for name in ("loss", "loss_geometric", "precision")}
    return {**{name: manifest[name] for name in _FIGURES}, **losses, "seconds": manifest["seconds"]}


def limits(table: Table, scratch: Path, seconds: float) -> Row:
    """The time and memory of bare DuckDB for the same table, in a separate process."""
    limits = scratch / "limits.json"
    arguments = [str(table.path), str(scratch), ",".join(table.columns), ",".join(table.kept)]
    command = [sys.executable, str(HERE / "limits.py"), *arguments]
    took = taken(metered(command, seconds, limits, str(scratch / "spill")))
    return took if "failed" in took else {**took, **json.loads(limits.read_text())}
