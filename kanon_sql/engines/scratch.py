"""Scratch tables: the temporary tables of one piece of work, whose owner names, creates, times and drops them."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain, count
from types import TracebackType
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Statement
from kanon_sql.errors import KanonError
from kanon_sql.queries import Hole, Relation

_LOG = logging.getLogger(__name__)
_MOST_TEXTS = 512  # cached statements, of a few thousand characters
_FEW_ROWS = 10_000  # in a table whose memory need not be freed before it is replaced
_LOCK, _TAKEN = threading.Lock(), set[str]()


class Scratch:
    """The temporary tables of one piece of work in one engine; all are dropped when its block ends, even by an error.

    A table is named by a short stem, or by its relation if that belongs to another scratch. Two scratches at the same
    time never have a table in common, even on one connection. `log` has the statements by name; `statements` is the
    number of statements run as text. A ready text can get the name of its `query`, of `sql/` or another one with a
    `sentence`.

    >>> from kanon_sql.engines.duckdb import DuckDB
    >>> with Scratch(DuckDB(), "example") as tables:
    ...     letters = tables.load("letters", {"letter": "VARCHAR"}, [["a", "b"]])
    ...     kept = tables.create("kept", "frequency_sets/copy", columns=["letter"], source=letters)
    ...     tables.count(kept)
    2
    """

    def __init__(self, engine: Engine, name: str = "") -> None:
        self.engine = engine
        self.statements = 0
        self._log: dict[str, Statement] = {}
        self._prefix = _take_prefix(f"kanon_{name}" if name else "kanon")
        self._give_back = weakref.finalize(self, _TAKEN.discard, self._prefix)
        self._created: dict[Relation, None] = {}
        self._written: dict[Relation, int] = {}  # rows, of tables for which the engine reported them
        self._views: set[Relation] = set()
        self._lasting_place: tuple[Relation, str] | None = None
        self._lasting: dict[Relation, list[Relation]] = {}
        self._numbers = count(1)
        self._texts: dict[tuple[str, str], tuple[str, Mapping[str, Hole]]] = {}

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        # An error can have rolled back the transaction with the tables, which then cannot be dropped.
        self.close(quietly=kind is not None)

    def close(self, quietly: bool = False) -> None:
        """Drop all tables that still exist; `quietly`: as far as possible."""
        with ExitStack() as last:  # a failed drop does not prevent the others
            last.callback(self._give_back)
            for relation in self._created:
                last.callback(self._drop_quietly if quietly else self._drop, relation)
            self._created = {}

    @property
    def log(self) -> tuple[Statement, ...]:
        """The statements, added up by name, in the order of their first run."""
        return tuple(self._log.values())

    def keep_lasting(self, place: Relation, comment: str) -> None:
        """On an engine without temporary tables, store the results of queries in lasting ones, until the end.

        Their names begin with that of the place, and the comment identifies them if the process is killed.
        """
        self._lasting_place = place, comment

    def __getitem__(self, stem: str) -> Relation:
        """The table of a stem, which need not exist yet."""
        return queries.scratch(f"{self._prefix}_{stem}")

    def __contains__(self, stem: str) -> bool:
        """Whether a table of a stem exists."""
        return self[stem] in self._created

    def unused(self, stem: str) -> str:
        """The stem, with a number if a table of that stem exists, which can still be in use."""
        stems = chain([stem], (f"{stem}_{number}" for number in count(2)))
        return next(stem for stem in stems if stem not in self)

    def pair(self, stem: str) -> tuple[Relation, Relation]:
        """Two tables of a stem, of which one is read while the other is written."""
        return self[f"{stem}_0"], self[f"{stem}_1"]

    def create(self, table: str | Relation, query: str, /, **holes: Hole) -> Relation:
        """Create or replace a table by the result of a query of `sql/` ("subject/query")."""
        return self.create_as(table, self.text(query, **holes), query)

    def create_as(self, table: str | Relation, text: str, query: str = "", sentence: str = "") -> Relation:
        """Create or replace a table by the result of a ready query."""
        exists, before = self._relation(table) in self._created, self._written.get(self._relation(table))
        relation = self._register(table)
        name = query or "make"
        sentence = sentence or _sentence(query, "Make a temporary table.")
        if not self.engine.has_temporary_tables:
            self._show(relation, text, name, sentence)
            return relation
        # A large table is dropped first, which frees its memory before the next one is filled.
        small = not exists or (before is not None and before < _FEW_ROWS)
        replace = self.engine.dialect == "duckdb" and small
        if not replace:
            self._drop(relation)
        statement = queries.create_as(relation, text, self.engine.dialect, temporary=True, replace=replace)
        rows = self._run(statement, name, sentence)
        self.engine.filled(relation, rows)
        if rows is not None:
            self._written[relation] = rows
        return relation

    def load(
        self,
        table: str | Relation,
        types: Mapping[str, str],
        columns: Sequence[Sequence[Any]],
        name: str = "load",
        sentence: str = "Load values into a temporary table.",
    ) -> Relation:
        """Create or replace a table by values, column by column; `types` are the engine's own names.

        `name`, `sentence`: for the log.
        """
        relation, started = self._register(table), time.perf_counter()
        self.engine.load_batches(relation, types, [columns])
        rows = len(columns[0]) if columns else 0
        self.engine.filled(relation, rows or None)
        self._note(name, sentence, "", started, rows)
        return relation

    def create_castable(
        self, table: str | Relation, none: str, written: Relation, type_name: str, columns: Sequence[str]
    ) -> Relation:
        """Create or replace a table by the rows of another whose text a type allows; see `Engine.create_castable`."""
        relation, started = self._register(table), time.perf_counter()
        self.engine.create_castable(relation, none, written, type_name, columns)
        self.engine.filled(relation, None)
        self._note("values", "Read texts as values of a column's type.", "", started)
        return relation

    def receive(self, table: str | Relation, source: Engine, text: str, query: str = "") -> Relation:
        """Create or replace a table by the result of a ready query in this or another engine."""
        relation, started = self._register(table), time.perf_counter()
        source.send(self._kept(relation, text) if source is self.engine else text, self.engine, relation)
        self.engine.filled(relation, None)
        sentence = _sentence(query, "Send rows to a temporary table.")
        self._note(query or "send", sentence, text, started, engine=source.name)
        return relation

    def view(self, stem: str, text: str) -> Relation:
        """Create or replace a temporary view of a query (DuckDB), which reads its tables at every use."""
        relation = self._register(stem)
        self._views.add(relation)
        statement = queries.create_as(relation, text, self.engine.dialect, "view", temporary=True, replace=True)
        self._run(statement, "show", "Name a query.")
        return relation

    def add(self, table: str | Relation, query: str, /, **holes: Hole) -> None:
        """Insert the result of a query of `sql/` ("subject/query") into a table."""
        self.add_as(table, self.text(query, **holes), query)

    def add_as(self, table: str | Relation, text: str, query: str = "") -> None:
        """Insert the result of a ready query into a table."""
        relation = self._relation(table)
        if not self.engine.has_temporary_tables:
            self._show(relation, queries.union_all([queries.select_all(relation, self.engine.dialect), text]))
            return
        before = self._written.pop(relation, None)
        if not before:  # none, or an unknown number
            self.engine.before_adding(relation)
        statement = queries.insert(relation, text, self.engine.dialect)
        rows = self._run(statement, query or "add", _sentence(query, "Add rows to a temporary table."))
        self.engine.filled(relation, rows)
        if before is not None and rows is not None:
            self._written[relation] = before + rows

    def rows(self, query: str, /, **holes: Hole) -> list[tuple[Any, ...]]:
        """All rows of a query of `sql/`."""
        return self.rows_as(self.text(query, **holes), query)

    def rows_as(self, text: str, query: str = "") -> list[tuple[Any, ...]]:
        """All rows of a ready query."""
        started = time.perf_counter()
        rows = self.engine.rows(text)
        self.statements += 1
        self._note(query or "ask", _sentence(query, "Ask for rows."), text, started, len(rows))
        return rows

    def count(self, table: str | Relation) -> int:
        """The number of rows in a table."""
        ((rows,),) = self.rows("frequency_sets/row_count", relation=self._relation(table))
        return int(rows)

    def written(self, table: str | Relation) -> int:
        """The number of rows in a table, as the engine reported when it wrote them; counted if it did not."""
        known = self._written.get(self._relation(table))
        return self.count(table) if known is None else known

    def rename(self, table: str, new: str | Relation) -> None:
        """Rename a table to another, which is dropped."""
        relation, place = self[table], self._register(new)
        if relation in self._written:
            self._written[place] = self._written.pop(relation)
        self._drop(place)
        if self.engine.has_temporary_tables:
            renamed = queries.rename(relation, place.name, self.engine.dialect)
            self._run(renamed, "rename", "Rename a temporary table.")
        else:
            self._show(place, queries.select_all(relation, self.engine.dialect))
            self._drop(relation)
        self._created.pop(relation, None)

    def drop(self, *tables: str | Relation) -> None:
        """Drop tables before the block ends."""
        for table in tables:
            relation = self._relation(table)
            self._drop(relation)
            self._created.pop(relation, None)
            self._written.pop(relation, None)

    def text(self, query: str, /, **holes: Hole) -> str:
        """The text of a query of `sql/` in the engine's dialect, cached for the same holes.

        The rounds of a local recoding reuse the same tables, and printing takes as long as running a small query.
        """
        key = query, repr(holes)  # `repr` differs for 1, 1.0 and TRUE
        if key not in self._texts:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            # The holes are stored so that an object whose address is in the key cannot be replaced by another.
            self._texts[key] = queries.text(query, self.engine.dialect, **holes), holes
        text, _ = self._texts[key]
        return text

    def _show(self, relation: Relation, text: str, name: str = "show", sentence: str = "Name a query.") -> None:
        """Create or replace a temporary view, of a query that runs at every use, or of a lasting table."""
        started, before = time.perf_counter(), list(self._lasting.get(relation, ()))
        self.engine.send(self._kept(relation, text), self.engine, relation)
        self._drop_lasting(relation, before)
        self._note(name, sentence, text, started)

    def _kept(self, relation: Relation, text: str) -> str:
        """A query; or that of a lasting table with its result, if such tables are kept."""
        if self._lasting_place is None:
            return text
        place, comment = self._lasting_place
        kept = place.sibling(f"{place.name}__{next(self._numbers)}")
        self._lasting.setdefault(relation, []).append(kept)  # before it is created; see `_register`
        self.engine.create(kept, text, "table", comment)
        return queries.select_all(kept, self.engine.dialect)

    def _drop_lasting(self, relation: Relation, kept: Sequence[Relation]) -> None:
        for old in kept:
            self.engine.run(queries.drop(old, self.engine.dialect))
            self._lasting[relation].remove(old)

    def _run(self, statement: str, name: str, sentence: str) -> int | None:
        started = time.perf_counter()
        rows = self.engine.run(statement)
        self.statements += 1
        self._note(name, sentence, statement, started, rows)
        return rows

    def _relation(self, table: str | Relation) -> Relation:
        return self[table] if isinstance(table, str) else table

    def _register(self, table: str | Relation) -> Relation:
        """The relation of a table that is about to be created, registered first, so that a failure cleans it up."""
        relation = self._relation(table)
        self._created[relation] = None
        self._written.pop(relation, None)
        return relation

    def _drop(self, relation: Relation) -> None:
        if not self.engine.has_temporary_tables:
            self.engine.forget(relation)
            self._drop_lasting(relation, list(self._lasting.get(relation, ())))
            return
        form = "view" if relation in self._views else "table"
        self._run(queries.drop(relation, self.engine.dialect, form), "drop", "Drop a temporary table.")

    def _note(
        self, name: str, sentence: str, sql: str, started: float, rows: int | None = None, engine: str = ""
    ) -> None:
        seconds = time.perf_counter() - started
        run = Statement(name, sentence, sql, seconds, rows, engine=engine or self.engine.name)
        self._log[name] = self._log[name] + run if name in self._log else run
        if _LOG.isEnabledFor(logging.DEBUG):  # without the text, which could contain values
            counted = "" if rows is None else f", {rows:,} rows"
            _LOG.debug("%s on %s: %.3f s%s", name, run.engine, seconds, counted)

    def _drop_quietly(self, relation: Relation) -> None:
        with suppress(KanonError):
            self._drop(relation)


class Scratches:
    """The tables of a run in several engines: one scratch per engine, all dropped when the block ends."""

    def __init__(self) -> None:
        self._of: dict[int, Scratch] = {}

    def __getitem__(self, engine: Engine) -> Scratch:
        """The scratch of an engine."""
        if id(engine) not in self._of:
            self._of[id(engine)] = Scratch(engine)
        return self._of[id(engine)]

    @property
    def log(self) -> tuple[Statement, ...]:
        """The statements of all engines; see `Scratch.log`."""
        return tuple(statement for tables in self._of.values() for statement in tables.log)

    def __enter__(self) -> Scratches:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        with ExitStack() as last:
            for tables in self._of.values():
                last.callback(tables.__exit__, kind, *rest)
            self._of = {}


def _sentence(query: str, other: str) -> str:
    return queries.sentence(query) if query else other


def _take_prefix(name: str) -> str:
    """The name, with the lowest number that no scratch uses now, so that statements are the same in every run."""
    with _LOCK:
        names = (name if number == 1 else f"{name}_{number}" for number in count(1))
        prefix = next(name for name in names if name not in _TAKEN)
        _TAKEN.add(prefix)
        return prefix
