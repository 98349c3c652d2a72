"""Suggest a spec for a whole database: the people, the keys between its tables, and the roles of all columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.declared_keys import parts_of_tables
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.hints import QUASI_IDENTIFIER
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import opened_engine
from kanon_sql.queries import Relation
from kanon_sql.spec import check_values, session
from kanon_sql.spec.linked import OWN
from kanon_sql.suggestion import omop
from kanon_sql.suggestion.columns import SuggestedColumn, SuggestedTable
from kanon_sql.suggestion.database_file import DatabaseFile, database_text
from kanon_sql.suggestion.keys import Keys, find_keys
from kanon_sql.suggestion.paths import find_paths
from kanon_sql.verbs.result import DataFrame, frame
from kanon_sql.verbs.suggest import (
    SpecToWrite,
    has_password,
    relative_place,
)
from kanon_sql.verbs.table_roles import TableRoles

MOST_TABLES = 20  # of a spec
PRESETS = ("omop",)


@dataclass(frozen=True, repr=False)
class DatabaseSuggestions(SpecToWrite, DatabaseFile, json_form="init-database"):
    """A suggested spec of several tables. `write` creates the file and its hierarchies.

    `unit`: the table of the people; `key`: its key; `reason`: why this table. `left_out`: the other tables of the
    database, with the reasons. `into`: the schema of the release.
    """

    def to_dict(self) -> dict[str, Any]:
        """Everything except the values of hierarchies, as a mapping for JSON."""
        tables = {
            table.name: {
                "source": table.source,
                "rows": table.rows,
                "keys": [
                    {"column": column, "refers_to": refers_to, "reason": reason}
                    for column, refers_to, reason in table.keys
                ],
                "columns": [column.described() for column in table.columns],
            }
            for table in self.tables
        }
        names = ("unit", "key", "reason", "k", "m", "suppression_limit", "into")
        return {
            "database": self._written_database(None),
            **{name: getattr(self, name) for name in names},
            "tables": tables,
            "left_out": dict(self.left_out),
            "notes": [*self.notes],
        }

    def to_df(self) -> DataFrame:
        """One row per column."""
        return frame([{"table": table.name, **column.described()} for table in self.tables for column in table.columns])

    def text(self, path: str | PathLike[str] = "release.yml") -> str:
        """The text that `write` would write to a path."""
        target = Path(path)
        tables = []
        for table in self.tables:
            columns = (column.in_file(self._file(target.stem, table, column)) for column in table.columns)
            tables.append(replace(table, columns=tuple(columns)))
        database = self._written_database(target.absolute().parent)
        return database_text(replace(self, database=database, tables=tuple(tables)), target.name)

    def _written_database(self, folder: Path | None) -> str | None:
        """The database as a spec in a folder, or a document, names it; None for one whose address has a password."""
        if self.database is None or has_password(self.database):
            return None
        return relative_place(folder, self.database) if folder else self.database

    def _in_files(self, name: str) -> Iterator[tuple[str, SuggestedColumn]]:
        pairs = ((table, column) for table in self.tables for column in table.columns if column.levels)
        return ((self._file(name, table, column), column) for table, column in pairs)

    def _file(self, name: str, table: SuggestedTable, column: SuggestedColumn) -> str:
        """The path of a hierarchy's file; a number distinguishes names that differ only in their special characters."""
        number = self.tables.index(table), table.columns.index(column)
        plain = [re.sub(r"[^\w-]", "_", text) or "_" for text in (table.name, column.name)]
        stem = ".".join(plain)
        if plain != [table.name, column.name] or stem != stem.lower():
            stem = f"{stem}.{number[0]}-{number[1]}"
        return f"hierarchies/{name}/{stem}.csv"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("people", f"{self.unit}, by {self.key}: {self.reason}")]
        for table in self.tables:
            names = ", ".join(column.name for column in table.of_role(QUASI_IDENTIFIER)) or "no quasi-identifiers"
            lines.append((table.name, f"{table.rows:,} rows; {names}"))
        lines += [("left out", f"{name}: {reason}") for name, reason in self.left_out.items()]
        return lines


def suggest_database(
    database: str | PathLike[str] | None = None,
    *,
    connection: Any = None,
    schema: str | None = None,
    unit: str | None = None,
    preset: Literal["omop"] | None = None,
    k: int = 5,
    m: Literal[0, 1, 2, 3, "all"] = 2,
    suppression_limit: float | str = 0.02,
    time_limit: float | None = 30.0,
    observer: Observer | None = None,
    **options: Any,
) -> DatabaseSuggestions:
    """Suggest a spec for the tables of a database whose rows belong to the same people, for `anonymize_database`.

    `database`: a DuckDB file or the address of a PostgreSQL server; `connection`: an open connection instead. `schema`:
    of the tables, by default the current one. `unit`: the table of the people, by default the table with a key that
    most tables lead to, first those that are called like people. `preset`: a standard data model, `omop` for the OMOP
    Common Data Model. Keys are those that the tables declare; otherwise columns whose name is that of another table or
    its key and whose values are all in it, and columns of texts whose values alone show it. `time_limit`: seconds for
    examining sets of columns of all tables. Only `write` writes files. Raises KanonError.

    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE people AS SELECT range AS id, 20 + range % 50 AS age FROM range(500)")
    >>> _ = connection.execute("CREATE TABLE visits AS SELECT range % 500 AS person, range % 9 AS days FROM range(900)")
    >>> suggested = suggest_database(connection=connection)
    >>> suggested.unit, suggested.tables[1].keys
    ('people', (('person', 'people', 'a similar name, and all its values are in people.id: check it'),))
    """
    check_values(k=k, suppression_limit=suppression_limit, time_limit=time_limit)
    if preset not in (None, *PRESETS):
        raise SpecError(f"there is no preset {preset!r}; there are: {', '.join(PRESETS)}")
    is_omop = preset == "omop"
    observer = observer or Observer()
    if database is None and connection is None:
        raise SpecError("there is no database; name one with `database`, or a source for a single table")
    with opened_engine(session(database=database, **options), connection) as engine:
        if not engine.has_transactions or not engine.has_temporary_tables:
            raise SpecError(f"several tables are released from DuckDB and PostgreSQL only, not from {engine.name}")
        observer.stage("Finding the keys")
        tables, left_out = _tables(engine, schema)
        if is_omop:
            reasons = {table.relation.name: omop.left_out(table.relation.name) for table in tables}
            left_out |= {name: reason for name, reason in reasons.items() if reason}
        with Scratch(engine, "keys") as scratch:
            keys = find_keys(scratch, [table for table in tables if table.relation.name not in left_out])
            why = "your choice" if unit or not is_omop else "the table of people in OMOP"
            people = unit or (_omop_people(keys) if is_omop else None)
            paths = find_paths(scratch, keys, people, why, MOST_TABLES)
            if keys.tables[paths.main.name].rows < k:
                raise SpecError(
                    f"{paths.main.name} has {paths.main.rows:,} rows, fewer than k = {k:,} people; give a lower `k`, "
                    "or name another table with `unit`"
                )
            suggested = []
            share = None if time_limit is None else time_limit / len(paths.paths)
            for path in paths.paths:
                observer.stage(f"Looking at {path.name}")
                table = TableRoles(engine, scratch, path, keys, paths, is_omop, tables, k, share)
                suggested.append(table.suggested(is_elsewhere=schema is not None))
        stem = tables[0].relation.parts[-2]  # the release goes to the schema, or the file, with `_anon`
        if engine.is_embedded and schema is None and database is not None:
            stem = re.sub(r"\W", "_", Path(str(database)).stem)
        notes = tuple(note for path in paths.paths for note in engine.hidden(path.table.table.relation))
    if database is not None and has_password(str(database)):
        notes += ("the address of the database has a password, so that the spec does not contain it",)
    if not any(table.of_role(QUASI_IDENTIFIER) for table in suggested):
        raise SpecError(
            f"nothing in {', '.join(table.name for table in suggested)} looks like a quasi-identifier; write the spec "
            "by hand, as the documentation of several tables shows"
        )
    return DatabaseSuggestions(
        database=None if database is None else str(database),
        unit=paths.main.name,
        key=str(paths.main.key),
        reason=paths.reason,
        tables=tuple(suggested),
        left_out={**paths.left_out, **left_out},
        k=k,
        m=m,
        suppression_limit=suppression_limit,
        into=f"{stem or 'release'}_anon",
        notes=notes,
    )


def _omop_people(keys: Keys) -> str:
    """OMOP's table of the people, in its spelling in the database."""
    found = [name for name in keys.tables if name.lower() == omop.PEOPLE]
    if not found:
        raise SpecError(
            f"OMOP needs the table {omop.PEOPLE}, which is not there; check the schema, or leave out `preset`"
        )
    return found[0]


def _tables(engine: Engine, schema: str | None) -> tuple[list[Table], dict[str, str]]:
    """The tables of a schema, or its views if it has no tables, and why other relations are left out."""
    parts = parts_of_tables(engine)
    described = [table for relation in _relations(engine, schema) if (table := engine.existing(relation))]
    tables = [table for table in described if table.form == "table" and table.relation not in parts]
    if not described:
        schemas = sorted({relation.parts[-2] for relation in engine.relations()})
        where = f"the schema {schema}" if schema else "the current schema" if schemas else "the database"
        elsewhere = f"; name a `schema`: {', '.join(schemas)}" if schemas else "; check its name"
        raise SourceError(f"there are no tables in {where}{elsewhere}")
    if not tables:
        return described, {}
    left_out = {table.relation.name: f"a {table.form}" for table in described if table.form != "table"}
    left_out |= {part.name: "a part of another table" for part in parts if part in {t.relation for t in described}}
    if any(table.relation.name == OWN for table in tables):
        left_out[OWN] = f"in a spec, `{OWN}` is not the name of a table; show it by another name in a view"
    return [table for table in tables if table.relation.name != OWN], left_out


def _relations(engine: Engine, schema: str | None) -> list[Relation]:
    """The tables and views of a schema, by default the current one."""
    if schema is None:
        home = engine.place("kanon_table").parts[:-1]
        return [relation for relation in engine.relations() if relation.parts[:-1] == home]
    found = [relation for relation in engine.relations() if relation.parts[-2] == schema]
    if found and len(found[0].parts) == 3:  # of several attached databases
        database = engine.place("kanon_table").parts[0]
        found = [relation for relation in found if relation.parts[0] == database]
    return found
