"""Counts that no machine changes, of small releases: what CI compares with benchmarks/baseline.json.

Every job is a release of a made-up table, without a time limit that could be reached. Where a count is higher than the
stored one, or a result is another, `differences` says so; where one is lower, `gains` does, and it should be stored:
`python benchmarks/all.py --baseline`. Times are nobody's business here.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import answers
import duckdb
from tables import visits

import kanon_sql
from kanon_sql.demo_data import people
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.resources import folder

Counts = dict[str, Any]
BASELINE = Path(__file__).parent / "baseline.json"
COUNTED = ("statements", "source_reads", "rows_read", "nodes_checked", "queries")  # less is better
FIGURES = (
    "score", "lower_bound", "proven_optimal", "released_rows", "suppressed_rows", "classes", "smallest_class",
    "distinct_tuples", "verified",
)  # fmt: skip
_SLACK = {"rows_read": 1.01}  # what KACA reads depends a little on the number of threads
SOURCE = "kanon_source"
NIGHTS = 3  # before the one whose statements are counted
QUASI_IDENTIFIERS = ("age", "education", "marital-status", "race", "sex")
_EXACT = ("auto", "certified", "ola", "incognito")  # of `people`
_LOCAL = ("mondrian", "prioprivacy", "refine")
_ANSWERS = ("auto", "datafly")
_DRAWN = ("local_search", "memetic", "kgen")


def jobs() -> dict[str, Callable[[], Counts]]:
    """The releases by name."""
    runs: list[tuple[str, str, Counts]] = [
        *(("people", strategy, {}) for strategy in _EXACT),
        *(("people", strategy, {"suppression_limit": 0.0}) for strategy in _LOCAL),
        *(("answers", strategy, {}) for strategy in _ANSWERS),
        *(("answers", strategy, {"evaluations": 60}) for strategy in _DRAWN),
        *(("answers", strategy, {"suppression_limit": 0.0}) for strategy in ("mondrian", "kaca")),
    ]
    made = {f"{table} {strategy}": partial(counted, table, strategy, **more) for table, strategy, more in runs}
    diverse = {"sensitive": ["salary-class"], "privacy": {"k": 5, "l_diversity": {"salary-class": 2}}}
    verbs = {verb: partial(counted_verb, verb) for verb in VERBS}
    return {**made, "people diverse": partial(counted, "people", "certified", **diverse), **verbs}


def counted(table: str, strategy: str, **more: Any) -> Counts:
    """One release kept in memory, and its queries of the database."""
    source, options = TABLES[table]()
    with statements() as sent:
        manifest = kanon_sql.anonymize(source, strategy=strategy, **{**options, **more}).manifest
    figures = {name: _rounded(manifest[name]) for name in FIGURES} | {
        "loss": _rounded(manifest["information_loss"]["loss"])
    }
    texts = [sql for sql, _ in sent]
    reads = [sql for sql in texts if f'"{SOURCE}"' in sql and not sql.startswith(("DESCRIBE", "CREATE VIEW", "DROP"))]
    counts = {"statements": len(sent), "source_reads": len(reads)}
    counts["rows_read"] = sum(rows for _, rows in sent)
    return {**counts, "nodes_checked": manifest["nodes_checked"], "queries": manifest["queries"], **figures}


def counted_verb(verb: str) -> Counts:
    """One call of a verb, and its queries of the database."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", kanon_sql.ReleaseWarning)
        spec = _visits(Path(folder))
        kanon_sql.anonymize(spec=spec)
        if verb == "run":
            for _ in range(NIGHTS):
                _night(Path(folder))
        with statements() as sent:
            VERBS[verb](spec, Path(folder))
        return {"statements": len(sent), "rows_read": sum(rows for _, rows in sent)}


def _visits(folder: Path) -> Path:
    """The spec of a table in which nearly all rows differ."""
    table = visits(folder, 300)
    spec = folder / "visits.yml"
    spec.write_text(
        json.dumps({**table.spec, "source": str(table.path), "target": {"file": str(folder / "release.csv")}})
    )
    return spec


def _night(folder: Path) -> None:
    """Change the source, and run the pipeline again."""
    spec, nightly = json.loads((folder / "visits.yml").read_text()), folder / "nightly.csv"
    left_out = len([*folder.glob("night-*")])
    (folder / f"night-{left_out}").touch()
    duckdb.sql(f"FROM '{spec['source']}' OFFSET {left_out}").write_csv(str(nightly))
    changed = {
        **spec,
        "source": str(nightly),
        "target": {"file": str(folder / "nights.csv")},
        "differencing_limit": 10**9,
    }
    (folder / "nightly.yml").write_text(json.dumps(changed))
    kanon_sql.run(folder / "nightly.yml")


VERBS: Mapping[str, Callable[[Path, Path], object]] = {
    "profile": lambda spec, _: kanon_sql.profile(json.loads(spec.read_text())["source"]),
    "init": lambda spec, _: kanon_sql.suggest(json.loads(spec.read_text())["source"]),
    "verify": lambda spec, _: kanon_sql.verify(spec=spec),
    "risk": lambda spec, _: kanon_sql.risk(spec=spec),
    "utility": lambda spec, _: kanon_sql.utility(spec=spec),
    "attack": lambda spec, _: kanon_sql.attack(spec=spec),
    "report": lambda spec, _: kanon_sql.report(spec=spec),
    "explain": lambda spec, _: kanon_sql.explain(spec=spec),
    "run": lambda _, folder: _night(folder),
}


def _people() -> tuple[Any, Counts]:
    options = {"quasi_identifiers": list(QUASI_IDENTIFIERS), "hierarchies": str(folder("hierarchies") / "adult")}
    return people(600).drop(columns="person_id"), options


def _answers() -> tuple[Any, Counts]:
    (table,) = answers.blocks(500, 6)
    return table, {"spec": {"quasi_identifiers": answers.recipes(6)}, "suppression_limit": 0.1}


TABLES: Mapping[str, Callable[[], tuple[Any, Counts]]] = {"people": _people, "answers": _answers}


def _rounded(figure: Any) -> Any:
    """Nine digits, of which none hangs on the order in which something was added up."""
    return round(figure, 9) if isinstance(figure, float) else figure


@contextmanager
def statements() -> Iterator[list[tuple[str, int]]]:
    """The statements that DuckDB is given meanwhile, each with the rows of tables that it reads, by its profile."""
    sent: list[tuple[str, int]] = []
    plain = {name: getattr(DuckDB, name) for name in ("rows", "run", "write_file")}

    def noting(method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(engine: DuckDB, sql: str, *given: Any, **more: Any) -> Any:
            engine.connection.execute("PRAGMA enable_profiling = 'no_output'")
            try:
                return method(engine, sql, *given, **more)
            finally:
                sent.append((sql, _scanned(engine)))

        return noted

    for name, method in plain.items():
        setattr(DuckDB, name, noting(method))
    try:
        yield sent
    finally:
        for name, method in plain.items():
            setattr(DuckDB, name, method)


def _scanned(engine: DuckDB) -> int:
    """What the last statement read."""
    found = re.search(r'"total_rows_scanned": (\d+)', engine.connection.get_profiling_information())
    engine.connection.execute("PRAGMA disable_profiling")
    return int(found[1]) if found else 0


def baseline() -> dict[str, Counts]:
    """What is stored."""
    return dict(json.loads(BASELINE.read_text(encoding="utf-8")))


def renew() -> str:
    """Run all jobs and store what they count; says what has changed."""
    before = baseline() if BASELINE.exists() else {}
    now = {name: job() for name, job in jobs().items()}
    lines = [f'  "{name}": {json.dumps(counts)}' for name, counts in now.items()]
    BASELINE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    changed = [line for name, counts in now.items() for line in changes(name, before.get(name, {}), counts)]
    return "\n".join([*changed, f"{len(now)} jobs are stored in {BASELINE.name}"])


def changes(name: str, before: Counts, now: Counts) -> list[str]:
    """Every figure that is not what it was."""
    return [
        f"{name}: {figure} {before.get(figure)} -> {value}"
        for figure, value in now.items()
        if before.get(figure) != value
    ]


def worse(name: str, before: Counts, now: Counts) -> list[str]:
    """The counts that have grown, and the results that are others."""
    kept = {figure: value for figure, value in now.items() if _is_worse(figure, before.get(figure), value)}
    return changes(name, before, kept)


def _is_worse(figure: str, before: Any, now: Any) -> bool:
    if figure not in COUNTED:
        return bool(before != now)
    return bool((now or 0) > (before or 0) * _SLACK.get(figure, 1))


def better(name: str, before: Counts, now: Counts) -> list[str]:
    """The counts that are smaller: to be stored, so that they stay."""
    return changes(name, before, {f: v for f, v in now.items() if f in COUNTED and (v or 0) < (before.get(f) or 0)})
