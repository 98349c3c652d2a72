"""Release or verify several tables of a database whose rows belong to the same people."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.linked.check import Checked, check_released
from kanon_sql.linked.copies import copied
from kanon_sql.linked.files import file_of, read_files, read_once
from kanon_sql.linked.links import links_of
from kanon_sql.linked.release import LinkedRelease, levels_of, release_tables
from kanon_sql.linked.sensitive import compared_with_source, needs_source, sensitive_columns
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import opened_engine
from kanon_sql.queries import Relation
from kanon_sql.release.tables import quoted
from kanon_sql.spec import LinkedSpec, load_linked
from kanon_sql.verbs.result import DataFrame, Result, frame


@dataclass(frozen=True)
class DatabaseRelease(Result, json_form="database"):
    """A verified release of several tables: `manifest` describes it; `tables` has the names of the released tables."""

    manifest: dict[str, Any]
    tables: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The manifest."""
        return dict(self.manifest)

    def to_df(self) -> DataFrame:
        """One row per table: its rows, those released, and where they are."""
        columns = ("rows", "released_rows", "target")
        rows = [
            {"table": name, **{key: table[key] for key in columns}} for name, table in self.manifest["tables"].items()
        ]
        return frame(rows)

    def _lines(self) -> Sequence[tuple[str, str]]:
        tables = self.manifest["tables"]
        people = f"{self.manifest['released_people']:,} of {self.manifest['people']:,} released"
        rows = [(name, f"{t['released_rows']:,} of {t['rows']:,} rows in {t['target']}") for name, t in tables.items()]
        values = [value_line(finding) for finding in self.manifest["sensitive"]]
        return [("people", people), *rows, *_finding_lines(self.manifest["privacy"]), *values]


@dataclass(frozen=True)
class DatabaseVerification(Result, json_form="database-check"):
    """What a check of released tables found; `satisfied` if they meet the spec."""

    people: int
    findings: list[dict[str, Any]]
    sensitive: list[dict[str, Any]]
    broken_keys: list[str]
    satisfied: bool

    def to_df(self) -> DataFrame:
        """One row per number of known rows."""
        return frame(self.findings)

    def _lines(self) -> Sequence[tuple[str, str]]:
        broken = [("broken keys", sentence) for sentence in self.broken_keys]
        values = [value_line(finding) for finding in self.sensitive]
        return [("people", f"{self.people:,}"), *_finding_lines(self.findings), *values, *broken]


def _finding_lines(findings: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """A line per number of rows that the attacker has."""
    return [(known_rows(finding["known_rows"]), _shared(finding)) for finding in findings]


def value_line(finding: Mapping[str, Any]) -> tuple[str, str]:
    """What a check found about a sensitive column, as a name and a text."""
    achieved = "no such values" if finding["achieved"] is None else f"{finding['achieved']:.4g}"
    unsafe = f", {finding['unsafe_combinations']:,} combinations violate it" if finding["unsafe_combinations"] else ""
    return f"{finding['column']}: {known_rows(finding['known_rows'])}", (
        f"{finding['model']}: {achieved}, {finding['required']} required{unsafe}"
    )


def known_rows(rows: int | str) -> str:
    """The attacker's rows of a person, in words."""
    return {0: "row of the main table", 1: "and 1 other row", "all": "and all other rows"}.get(
        rows, f"and {rows} other rows"
    )


def limits(required: Any) -> str:
    """The parameter of a model, or all of them."""
    return ", ".join(map(str, required.values() if isinstance(required, dict) else [required]))


def _shared(finding: Mapping[str, Any]) -> str:
    if finding["achieved"] is None:
        return "no such rows"
    rare = f", {finding['rare_combinations']:,} combinations by fewer" if finding["rare_combinations"] else ""
    return f"shared by at least {finding['achieved']:,} people, {finding['required']:,} required{rare}"


def anonymize_database(
    spec: LinkedSpec | Mapping[str, Any] | str | Path,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    **overrides: Any,
) -> DatabaseRelease:
    """Release several tables of a database so that (k, m)-anonymity of people holds for all of them together.

    At least k people share every released combination of a row of the main table and up to m rows of the same person
    in the other tables, with the rows that these refer to (after M. Terrovitis, N. Mamoulis, P. Kalnis, VLDB 2008).
    `spec`: a `LinkedSpec`, a mapping of the same shape, or the path of a YAML file; `overrides` replace its keys.
    `connection`: an open connection (DuckDB or psycopg) instead of the spec's `database`. All tables become visible
    together, with new keys. Raises KanonError; then nothing was written.

    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE people AS SELECT range AS id, 20 + range % 4 AS age FROM range(8)")
    >>> _ = connection.execute("CREATE TABLE visits AS SELECT range AS person, range % 2 AS ward FROM range(8)")
    >>> tables = {
    ...     "people": {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [2, 4]}}}},
    ...     "visits": {"keys": {"person": "people"}, "quasi_identifiers": {"ward": {"hierarchy": "suppress"}}},
    ... }
    >>> spec = {"unit": {"people": "id"}, "tables": tables, "privacy": {"k": 4, "m": 1}, "into": {"schema": "anon"}}
    >>> anonymize_database(spec, connection=connection).manifest["node"]
    {'people': {'age': 2}, 'visits': {'ward': 0}}
    """
    settled = load_linked(spec, **overrides)
    observer = observer or Observer()
    if connection is None and settled.database is None:
        raise SpecError("there is no database; name one with `database`, such as `database: hospital.duckdb`")
    started = time.monotonic()
    writes = () if settled.into is None or settled.into.folder else (f"{settled.into.schema_name}.{settled.main}",)
    with opened_engine(replace(settled.session, writes=writes), connection) as engine:
        released = release_tables(engine, settled, observer)
    return DatabaseRelease(manifest_of(settled, released, time.monotonic() - started), dict(released.names))


def verify_database(
    spec: LinkedSpec | Mapping[str, Any] | str | Path, *, connection: Any = None, **overrides: Any
) -> DatabaseVerification:
    """Check the released tables of a spec with separate SQL: their keys, and the people who share each combination.

    Needs the released tables, and those of the source only for models that compare with them, such as t-closeness.
    Raises SourceError if one is missing.
    """
    settled = load_linked(spec, **overrides)
    if settled.into is None:
        raise SpecError("the spec names no target; add `into` with the schema or folder of the release")
    with opened_engine(settled.session, connection) as engine:
        links = links_of(settled)
        with released_tables(engine, settled) as (reader, released), Scratch(engine, "source") as scratch:
            # The source is read only for models that compare with it.
            copies = copied(engine, scratch, settled, links) if needs_source(settled) else {}
            columns = sensitive_columns(engine, settled, links, copies)
            columns = compared_with_source(scratch, copies, columns)
            checked = check_released(reader, links, settled, released, columns)
    found = _findings(checked), _value_findings(checked), list(checked.broken)
    return DatabaseVerification(checked.people, *found, checked.satisfied)


@contextmanager
def released_tables(engine: Engine, spec: LinkedSpec) -> Iterator[tuple[Engine, dict[str, Relation]]]:
    """The released tables by name, with their engine: an embedded one for files."""
    assert spec.into is not None
    if spec.into.folder:
        with read_files(engine, {name: file_of(Path(spec.into.folder), name) for name in spec.tables}) as read:
            yield read
        return
    found: dict[str, Relation] = {}
    for name in spec.tables:
        table = engine.find(quoted(Relation(str(spec.into.schema_name), name)))
        if table is None:
            raise SourceError(f"there is no table {name} in the schema {spec.into.schema_name}; release first")
        found[name] = table.relation
    with read_once(engine, found, in_transaction=False) as read:
        yield engine, read


def _findings(checked: Checked) -> list[dict[str, Any]]:
    return [
        {
            "known_rows": finding.known_rows,
            "required": finding.required,
            "achieved": finding.achieved,
            "combinations": finding.combinations,
            "rare_combinations": finding.rare,
            "satisfied": finding.satisfied,
        }
        for finding in checked.findings
    ]


def _value_findings(checked: Checked) -> list[dict[str, Any]]:
    return [{**vars(finding), "satisfied": finding.satisfied} for finding in checked.values]


def manifest_of(spec: LinkedSpec, released: LinkedRelease, seconds: float) -> dict[str, Any]:
    """The manifest: names and figures, never values."""
    assert spec.into is not None
    outcome, judge = released.outcome, released.judge
    verdict = judge.verdict(outcome.node)
    assert verdict.left_out is not None
    assert verdict.losses is not None
    losses = iter(verdict.losses)
    tables = {}
    for table, left_out in zip(released.tables, verdict.left_out, strict=True):
        copy = table.copy
        tables[copy.link.name] = {
            "rows": copy.rows,
            "released_rows": copy.rows - left_out,
            "target": released.names[copy.link.name],
            "keys": copy.link.keys,
            "losses": {attribute.column.name: next(losses) for attribute in table.attributes},
            "hierarchies": {name: source.sha256 for name, source in table.sources.items()},
            "sensitive": list(copy.spec.sensitive),
            "shifted": list(spec.tables[copy.link.name].shift),
            **copy.roles.described(),
        }
    people = tables[spec.main]
    return {
        "unit": spec.main,
        "k": spec.privacy.k,
        "m": spec.privacy.m,
        "form": "file" if spec.into.folder else spec.into.form,
        "people": people["rows"],
        "released_people": people["released_rows"],
        "tables": tables,
        "node": levels_of(released.tables, outcome.node),
        "metric": spec.metric,
        "score": outcome.score,
        "lower_bound": outcome.lower_bound,
        "proven_optimal": outcome.proven_optimal,
        "strategy": spec.strategy,
        "ended": outcome.ended,
        "nodes_checked": outcome.nodes_checked,
        "queries": judge.queries,
        "privacy": _findings(released.checked),
        "sensitive": _value_findings(released.checked),
        "verified": released.checked.satisfied,
        "same_keys_in_every_release": spec.key_secret is not None,
        "warnings": list(released.warnings),
        "seconds": round(seconds, 3),
    }
