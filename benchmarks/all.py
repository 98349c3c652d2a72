"""The benchmark: limits of the machine, our times as multiples of them, peers in the same run, and one page of it all.

    python benchmarks/all.py             # about 20 minutes on two cores
    python benchmarks/all.py --quick     # some minutes, to see that it works; its page is printed, nothing is kept
    python benchmarks/all.py --largest   # 100 million rows too: ten minutes and some GB of disk more
    python benchmarks/all.py --resume    # go on with what was stopped
    python benchmarks/all.py peers nodes # only these parts; the others stay as they were
    python benchmarks/all.py --page      # the page alone, of what was measured
    python benchmarks/all.py --baseline  # renew benchmarks/baseline.json, the counters that CI compares

Every release is a separate process with a time limit. Measurements go to benchmarks/results/all.json as
they come, and at the end docs/benchmarks.md is filled from it. Tables and the peers' environments are kept in --folder.
Adult and other real tables are taken from the folder in KANON_DATA, if it is set.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import answers
import counters
import duckdb
from jobs import HERE, KANON, Table, limits, released, taken
from measure import Row, metered
from peers import FEW, OURS, PEERS, our_run, peer_run
from tables import HIERARCHIES, alike, answered, people, real, taxis
from verbs import KINDS, NIGHTLY, VERBS, measured

from kanon_sql.recode import RECODERS
from kanon_sql.strategies import STRATEGIES

Job = tuple[str, Callable[[], Row]]
RESULTS = HERE / "results" / "all.json"
SIZES = (30_000, 300_000, 3_000_000, 20_000_000)
LARGEST = 100_000_000
MOST_SECONDS = 600.0  # that a verb may take
MOST_NIGHTLY = 300_000  # rows of a table that nights of a pipeline are run on, nine of them
MOST_LOCAL = 3_000_000  # rows that Mondrian is given, but with --largest
WIDTHS = (5, 10, 20, 40, 60)
MOMENTS = (5, 10, 20, 60)  # seconds at which `auto` is looked at
# What recodings are compared by: no row left out, and the same form of release whatever makes it.
EVERY_ROW = {"privacy": {"k": 5}, "suppression_limit": 0.0, "metric": "loss", "show": "common"}
# k, suppression limit, nodes that ARX 3.9.2 checks, its score: published by it for Adult, Flash, its metric Loss.
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


@dataclass(frozen=True)
class Run:
    """The options of a run: the folder of the tables, the sizes, small tables only, Mondrian on every size."""

    folder: Path
    sizes: tuple[int, ...]
    quick: bool = False
    every: bool = False

    @property
    def small(self) -> int:
        """Rows of the tables that every strategy is tried on."""
        return 3_000 if self.quick else 30_000

    def limited(self, seconds: float) -> float:
        """A time limit of a search, or a tenth of it."""
        return max(1.0, seconds / 10) if self.quick else seconds


def sizes(run: Run) -> Iterator[Job]:
    """The same people in growing numbers: the limits, `auto`, and Mondrian."""
    for rows in run.sizes:
        seconds = max(120.0, rows / 1e5)
        table = partial(people, run.folder, rows)
        yield f"{rows}", lambda table=table: {"rows": table().rows}  # made before anything is measured
        yield f"{rows} limits", lambda table=table, seconds=seconds: limits(table(), run.folder, seconds)
        yield f"{rows} auto", lambda table=table, seconds=seconds: released(table(), "auto", seconds)
        if rows <= MOST_LOCAL or run.every:
            yield f"{rows} mondrian", lambda table=table, seconds=seconds: released(table(), "mondrian", seconds)


def nodes(run: Run) -> Iterator[Job]:
    """What a verdict on a node takes, and the bare query of the same text."""
    for name, table in (
        ("people", partial(people, run.folder, run.small)),
        ("answers", partial(answered, run.folder, 2 * run.small, 16)),
    ):
        yield name, lambda table=table: _node(table(), run.folder)


def _node(table: Table, folder: Path) -> Row:
    spec, figures = folder / "node.json", folder / "node-said.json"
    spec.write_text(json.dumps({**table.spec, "source": str(table.path)}))
    took = taken(metered([sys.executable, str(HERE / "node_test.py"), str(spec)], 120, figures))
    return {"table": table.name, **took, **({} if "failed" in took else json.loads(figures.read_text()))}


def strategies(run: Run) -> Iterator[Job]:
    """Every search on a table that is easy, on one with identical hierarchies, and on two that are hard."""
    seconds = run.limited(5)
    tried = (
        partial(people, run.folder, run.small),
        partial(alike, run.folder),
        partial(answered, run.folder, 5 * run.small // 2, 16),
        partial(answered, run.folder, run.small, 24),
    )
    for table in tried[:2] if run.quick else tried:
        for name, strategy in STRATEGIES.items():
            if strategy.one_hierarchy and table.func is not alike:
                continue
            job = partial(_within, table, name, seconds)
            yield f"{table.func.__name__} {' '.join(map(str, table.args[1:]))} {name}".replace("  ", " "), job


def _within(table: Callable[[], Table], strategy: str, seconds: float, **more: Any) -> Row:
    """A release whose search may take so many seconds, and its process a good deal longer."""
    loaded = table()
    return {"table": loaded.name, "strategy": strategy, "time_limit": seconds} | released(
        loaded, strategy, 30 + 3 * seconds, time_limit=seconds, **more
    )


def hard(run: Run) -> Iterator[Job]:
    """What `auto` has after so many seconds where nearly all rows differ."""
    for table in (
        partial(answered, run.folder, 5 * run.small // 2, 16),
        partial(answered, run.folder, run.small, 24),
    ):
        yield f"{table.args[2]} columns", partial(_curve, table, run)


def _curve(table: Callable[[], Table], run: Run) -> Row:
    loaded, seconds = table(), run.limited(MOMENTS[-1])
    trace = run.folder / "trace.json"
    result = released(loaded, "auto", 30 + 2 * seconds, trace=trace, time_limit=seconds)
    if "failed" in result:
        return {"table": loaded.name, **result}
    allowed = loaded.spec["suppression_limit"] * result["rows"]
    steps = [json.loads(line) for line in trace.read_text().splitlines()]
    scored = [step for step in steps if step.get("score") is not None and step["rows_at_risk"] <= allowed]
    best = {}
    for at in map(run.limited, MOMENTS[1:] if run.quick else MOMENTS):
        best[f"{at:g}"] = min((step["score"] for step in scored if step["seconds"] <= at), default=None)
    return {"table": loaded.name, **result, "best_after": best}


def widths(run: Run) -> Iterator[Job]:
    """From 5 to 60 quasi-identifiers, where few rows differ and where nearly all do."""
    for columns in WIDTHS[:2] if run.quick else WIDTHS:
        for doubt in (answers.LITTLE, answers.USUAL):
            table = partial(answered, run.folder, run.small, columns, doubt)
            for strategy, seconds in (("auto", 6), ("mondrian", 30)):
                yield f"{columns} {doubt} {strategy}", partial(_within, table, strategy, run.limited(seconds))


def recodings(run: Run) -> Iterator[Job]:
    """Every local recoding on eight kinds of tables, and cloaking."""
    seconds = run.limited(10)
    made_up = (
        partial(people, run.folder, run.small),
        partial(people, run.folder, 10 * run.small),
        partial(answered, run.folder, run.small, 8),
        partial(answered, run.folder, run.small, 16),
    )
    for table in made_up[:1] if run.quick else made_up:
        for name in ("auto", *RECODERS):
            arguments = " ".join(map(str, table.args[1:]))
            job = partial(_within, table, name, seconds, **EVERY_ROW)
            yield f"{table.func.__name__} {arguments} {name}", job
    found = real(run.folder)
    for case in ("adult",) if run.quick else ("adult", "c2k", "creditcard", "cup98"):
        for name in ("auto", *RECODERS):
            yield f"{case} {name}", partial(_real, found[case], name, seconds, **EVERY_ROW)
    for rows in (10 * run.small, 100 * run.small // 3):
        yield f"taxis {rows}", lambda rows=rows: _cloaked(taxis(run.folder, rows), 120)


def _cloaked(table: Table, seconds: float) -> Row:
    """Cloaking has a separate manifest, of which only the time and memory are kept."""
    spec = table.path.with_suffix(".json")
    spec.write_text(json.dumps({**table.spec, "cloak": {"method": "adaptive"}}))
    output = table.path.with_name("cloaked.parquet")
    command = [*KANON, "cloak", str(table.path), "--spec", str(spec), "--overwrite", "--output", str(output)]
    return {"table": table.name, "strategy": "cloak", "rows": table.rows, **taken(metered(command, seconds))}


def peers(run: Run) -> Iterator[Job]:
    """Other tools on the same people, and ours under the same rules."""
    seconds = 240
    table = partial(people, run.folder, run.small)
    for columns in (None, FEW):
        for name in OURS:
            job = partial(our_run, name)
            yield (
                f"kanon {name}{f', {columns} columns' if columns else ''}",
                lambda job=job, columns=columns: job(table(), run.folder, HIERARCHIES, seconds, columns),
            )
    for peer in PEERS:
        yield peer.name, lambda peer=peer: peer_run(peer, table(), run.folder, HIERARCHIES, seconds)


def arx(run: Run) -> Iterator[Job]:
    """Adult with nine quasi-identifiers as ARX publishes it: nodes checked and score, and the whole process."""
    adult = partial(real, run.folder)
    for k, limit, checks, score in ARX[:2] if run.quick else ARX:
        more = {"privacy": {"k": k}, "suppression_limit": limit}
        say = {"k": k, "limit": limit, "arx_checks": checks, "arx_score": score}
        yield f"k {k}, limit {limit}", lambda say=say, more=more: say | _real(adult()["adult"], "auto", 60.0, **more)


def tables(run: Run) -> Iterator[Job]:
    """Real tables, each by `auto` and by Mondrian."""
    for name in ("adult", "c2k", "creditcard", "cup98", "jester"):
        for strategy in ("auto", "mondrian"):
            yield (
                f"{name} {strategy}",
                lambda name=name, strategy=strategy: _real(real(run.folder)[name], strategy, run.limited(15)),
            )


def _real(table: Table | str, strategy: str, seconds: float, **more: Any) -> Row:
    if isinstance(table, str):
        return {"strategy": strategy, "skipped": table}
    return _within(lambda: table, strategy, seconds, **more)


def verbs(run: Run) -> Iterator[Job]:
    """Every verb, on people, on rows that nearly all differ, and on several rows of each patient."""
    for kind in KINDS:
        for rows in (run.small, 10 * run.small) if run.quick else (30_000, 300_000, 3_000_000):
            for verb in VERBS:
                if verb in NIGHTLY and rows > MOST_NIGHTLY:
                    continue
                yield f"{kind} {rows} {verb}", partial(measured, kind, rows, verb, run.folder, MOST_SECONDS)


PARTS: dict[str, Callable[[Run], Iterator[Job]]] = {
    part.__name__: part for part in (nodes, sizes, verbs, strategies, hard, widths, recodings, peers, arx, tables)
}


def about(run: Run) -> Row:
    """The machine, the versions, and the day; nothing that names somebody's machine."""
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": git.stdout.strip(),
        "cores": os.cpu_count(),
        "memory": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "load": round(os.getloadavg()[0], 1),
        "sizes": list(run.sizes),
        "quick": run.quick,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def measure(run: Run, named: list[str], results: Path, resume: bool) -> Row:
    """Run the jobs of the named parts, writing each result as it comes; those that are there are kept where resumed."""
    known: Row = json.loads(results.read_text()) if results.exists() else {}
    if not resume:
        known = {part: rows for part, rows in known.items() if part not in named}
    known["about"] = here = about(run)
    dates = known.setdefault("measured", {})
    dates |= {part: f"{here['date']}, {here['commit']}" for part in named if not (resume and part in dates)}
    jobs = [(part, *job) for part in named for job in PARTS[part](run)]
    started = time.monotonic()
    for number, (part, name, job) in enumerate(jobs, start=1):
        if name in known.setdefault(part, {}):
            continue
        print(f"[{time.monotonic() - started:5.0f} s, {number:3} of {len(jobs)}] {part}: {name}", end="", flush=True)
        row = job()
        known[part][name] = row
        results.parent.mkdir(exist_ok=True)
        unfinished = results.with_suffix(".part")
        unfinished.write_text(json.dumps(known, indent=1) + "\n")
        unfinished.replace(results)
        print(f"  {_told(row)}", flush=True)
    for part in named:  # in the order of the jobs, also what was measured again
        in_order = [name for of_part, name, _ in jobs if of_part == part and name in known[part]]
        known[part] = {name: known[part][name] for name in (*in_order, *known[part])}
    return known


def _told(row: Row) -> str:
    if reason := row.get("skipped") or row.get("failed"):
        return str(reason)[:90]
    return f"{row['wall']:.1f} s" if "wall" in row else ""


def main() -> None:
    """Run the requested measurements, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rows", help="the sizes, such as 30000,3000000")
    parser.add_argument("--largest", action="store_true", help="100 million rows too, and Mondrian on every size")
    parser.add_argument("--quick", action="store_true", help="small tables and short searches; prints its page")
    parser.add_argument("--resume", action="store_true", help="keep what is measured already")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--baseline", action="store_true", help="renew the counters that CI compares")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kanon-benchmark")
    arguments = parser.parse_args()
    if unknown := [part for part in arguments.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    if arguments.baseline:
        print(counters.renew())
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    run = Run(
        arguments.folder, _sizes(arguments.rows, arguments.largest, arguments.quick), arguments.quick, arguments.largest
    )
    results = arguments.folder / "quick.json" if arguments.quick else RESULTS
    found = (
        json.loads(results.read_text())
        if arguments.page
        else measure(run, arguments.parts or [*PARTS], results, arguments.resume)
    )
    import all_pages  # needs matplotlib, which nothing before does

    print(all_pages.text(found) if arguments.quick else all_pages.write(found))
    for part in PARTS:
        for name, row in found.get(part, {}).items():
            if "failed" in row:
                print(f"{part}: {name} failed: {row['failed']}", file=sys.stderr)


def _sizes(rows: str | None, largest: bool, quick: bool) -> tuple[int, ...]:
    chosen = [int(number) for number in rows.split(",")] if rows else [*(SIZES[:2] if quick else SIZES)]
    return tuple(sorted({*chosen, *([LARGEST] if largest else [])}))


if __name__ == "__main__":
    main()
