"""The source is read twice: once for its distinct tuples, and once for the release. Every statement is recorded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.verbs.anatomize import anatomize
from support.database import create_table

TYPES = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR", "x": "DOUBLE PRECISION"}
TYPES |= {"y": "DOUBLE PRECISION", "at": "INTEGER"}
ILL = ("flu", "asthma", "acne")
ROWS = [(f"p{i}", 20 + i % 4, f"z{i % 3}{i % 2}", ILL[i % 3], 7 + i % 5 / 10, 46.5, 1000 + i) for i in range(120)]
HIERARCHIES = {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": {"redact": "right"}}}
SPEC: dict[str, Any] = {"identifiers": ["name", "x", "y", "at"], "quasi_identifiers": HIERARCHIES, "sensitive": ["ill"]}
CLOAK = {"identifiers": ["age", "zip"], "sensitive": ["ill"], "location": ["x", "y"], "time": "at", "unit": "name"}
SOURCE = "raw people"
_READS_NOTHING = ("DESCRIBE", "EXPLAIN", "CREATE VIEW", "COMMENT", "DROP", "GRANT", "REVOKE", "ALTER")
_NO_ROWS = ("LIMIT 0", "WHERE FALSE")


class Recorded:
    """The statements that an engine was given."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.statements: list[str] = []
        names = ("rows", "run", "write_file") if isinstance(engine, DuckDB) else ("rows", "run", "_copy_out")
        for name in names:
            monkeypatch.setattr(engine.__class__, name, self._recording(getattr(engine.__class__, name)))

    def _recording(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(engine: Engine, sql: str, *given: Any, **more: Any) -> Any:
            self.statements.append(sql)
            return method(engine, sql, *given, **more)

        return recorded

    def reads(self, *names: str) -> list[str]:
        """The statements that read rows of a relation of one of these names."""
        told = [sql for sql in self.statements if any(f'"{name}"' in sql for name in names)]
        return [sql for sql in told if not sql.startswith(_READS_NOTHING) and not any(no in sql for no in _NO_ROWS)]


@pytest.fixture
def people(engine: Engine) -> Engine:
    create_table(engine, SOURCE, TYPES, ROWS)
    return engine


RUNS: dict[str, tuple[int, dict[str, Any]]] = {
    "full-domain into a table": (2, {"into": "released"}),
    "full-domain into a file": (2, {"output": "released.parquet"}),
    "full-domain kept": (2, {}),
    "full-domain as a view": (2, {"into": "released", "form": "view"}),
    "full-domain as an anatomy": (2, {"into": "released", "form": "anatomy"}),
    "local into a table": (2, {"into": "released", "strategy": "mondrian"}),
    "local into a file": (2, {"output": "released.csv", "strategy": "mondrian"}),
    "local as a view": (2, {"into": "released", "form": "view", "strategy": "mondrian"}),
    "perturbed": (2, {"into": "released", "perturb": {"ill": {"pram": {"keep": 0.8}}}, "sensitive": []}),
    "microaggregated": (2, {"into": "released", "show": "median"}),
    "cloaked into a table": (1, {"into": "released", "cloak": {"interval": 1000}}),
    "cloaked into a file": (1, {"output": "released.csv", "cloak": {"interval": 1000}}),
}


@pytest.mark.parametrize("run", RUNS)
def test_a_table_is_read_once_for_its_tuples_and_once_for_the_release(
    people: Engine, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, options = RUNS[run]
    spec = CLOAK if "cloak" in options else SPEC
    if "output" in options:
        options = {**options, "output": tmp_path / options["output"]}
    recorded = Recorded(people, monkeypatch)
    anonymize(SOURCE, spec, connection=people.connection, **{"k": 3, **options})
    # A view is read through its own name, when it is verified; a table is not the source any more.
    shown = ("released",) if options.get("form") == "view" else ()
    reads = recorded.reads(SOURCE, *shown)
    assert len(reads) == expected, reads


def test_an_exact_anatomy_reads_the_source_once(people: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Recorded(people, monkeypatch)
    anatomize(SOURCE, SPEC, l=3, connection=people.connection, into="released")
    assert len(recorded.reads(SOURCE)) == 1


@pytest.mark.parametrize("keep", [None, "*"])
def test_columns_that_nobody_named_are_looked_at_in_a_bounded_sample(
    people: Engine, monkeypatch: pytest.MonkeyPatch, keep: str | None
) -> None:
    recorded, spec = Recorded(people, monkeypatch), {**SPEC, "sensitive": [], "keep": keep}
    anonymize(SOURCE, spec, connection=people.connection, k=3, into="released")
    more = [sql for sql in recorded.reads(SOURCE) if "LIMIT 100000" in sql]
    assert 1 <= len(more) <= 2
    assert len(recorded.reads(SOURCE)) == 2 + len(more)


def test_what_is_counted_is_what_reads(postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    create_table(postgres, SOURCE, TYPES, ROWS)
    recorded = Recorded(postgres, monkeypatch)
    postgres.rows(f'SELECT COUNT(*) FROM "{SOURCE}"')
    postgres.run(f'CREATE TEMPORARY TABLE copied AS SELECT * FROM "{SOURCE}"')
    postgres.rows(f'SELECT * FROM "{SOURCE}" LIMIT 0')
    assert len(recorded.reads(SOURCE)) == 2
