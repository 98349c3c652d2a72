"""Other anonymizers, each as pip installs it in an environment made here, on one table, measured by our rules."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb
from jobs import HERE, Table, released, taken
from measure import Row, metered
from quality import quality


@dataclass(frozen=True)
class Peer:
    """A tool: what pip installs, what it does, and how many of the quasi-identifiers it can take in reasonable time."""

    name: str
    packages: tuple[str, ...]
    does: str
    columns: int | None = None


FEW = 4  # columns, for a tool that lists a lattice node by node
PEERS = (
    Peer("anjana", ("anjana==1.2.3",), "full-domain, greedy"),
    Peer("crowds", ("crowds==0.0.1", "pandas==2.3.3"), "full-domain, OLA", columns=FEW),
    Peer("anonypy", ("anonypy==0.2.1", "pandas==2.3.3"), "Mondrian, shows sets of values"),
    Peer("lighthouse", ("project-lighthouse-anonymize==1.0.0",), "Mondrian (Airbnb)"),
)
OURS = {"auto": 0.05, "mondrian": 0.0, "refine": 0.0}  # and what they may suppress
PERCENT = 5  # that a full-domain peer may suppress


def python(peer: Peer, folder: Path, seconds: float = 300) -> Path:
    """The Python of a peer's environment, made if it is not there; RuntimeError with pip's last line if it fails."""
    made = folder / "environments" / peer.name
    ready = made / "ready"
    if not ready.exists():
        commands = ([sys.executable, "-m", "venv", "--clear", str(made)],
                    [str(made / "bin" / "pip"), "install", "--quiet", *peer.packages])  # fmt: skip
        for command in commands:
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"not installed after {seconds:.0f} s") from None
            if done.returncode:
                raise RuntimeError(_last(done.stderr, folder))
        ready.write_text(" ".join(peer.packages))
    return made / "bin" / "python"


def _last(output: str, folder: Path) -> str:
    """The last line of an error, without where things lie on this machine."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no output"]
    return lines[-1].replace(str(folder), "…")


def peer_run(peer: Peer, table: Table, folder: Path, hierarchies: Path, seconds: float) -> Row:
    """One peer on the table: what its process took, the start of Python included, and what its release is worth."""
    try:
        interpreter = python(peer, folder)
    except RuntimeError as error:
        return {"does": peer.does, "failed": str(error)}
    columns = table.columns[: peer.columns]
    source, release = folder / f"{peer.name}.csv", folder / f"{peer.name}-release.csv"
    names = ", ".join(f'"{column}"' for column in columns)
    numbered = f"SELECT {names}, row_number() OVER () AS row FROM read_parquet('{table.path}')"
    duckdb.connect().execute(f"COPY ({numbered}) TO '{source}' (HEADER)")
    release.unlink(missing_ok=True)
    command = [
        str(interpreter),
        str(HERE / "peer_runs.py"),
        peer.name,
        str(source),
        str(hierarchies),
        ",".join(columns),
    ]
    took = taken(metered([*command, "5", str(PERCENT), str(release)], seconds))
    if "failed" in took:
        return {"does": peer.does, **took, "failed": took["failed"].replace(str(folder), "…")}
    return {"does": peer.does, "columns": len(columns), **took, **quality(source, release, hierarchies, columns)}


def our_run(strategy: str, table: Table, folder: Path, hierarchies: Path, seconds: float, columns: int | None) -> Row:
    """One of ours on the same table, or on its first columns, by the same rules."""
    release, kept = folder / "ours-release.parquet", table.columns[:columns]
    smaller = Table(table.path, table.name, table.rows, {**table.spec, "quasi_identifiers": kept, "keep": []})
    took = released(smaller, strategy, seconds, release, suppression_limit=OURS[strategy])
    if "failed" in took:
        return took
    figures = {name: took[name] for name in ("wall", "cpu", "megabytes")}
    return {"columns": len(kept), **figures, **quality(table.path, release, hierarchies, kept)}
