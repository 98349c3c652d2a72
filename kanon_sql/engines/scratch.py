"""Scratch tables: the temporary tables of one piece of work, with one owner, who names, makes, times and drops them."""

from __future__ import annotations

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

_MOST_TEXTS = 512  # kept, of a few thousand characters each
_LOCK, _TAKEN = threading.Lock(), set[str]()


class Scratch:
    """The temporary tables of one piece of work in one engine: none is left when its block ends, however it ends.

    A table is named by a short word of the owner's, its stem; or by its relation, where another scratch has named it.
    No two scratches that live at the same time have a table in common, even on one connection. `log` has what was run,
    by the names of the statements; `statements` counts all that were run as text. A ready text may be given the name of
    its `query`, of `sql/` or of our own with a `sentence`.

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
        self._made: dict[Relation, None] = {}
        self._beside: tuple[Relation, str] | None = None
        self._lasting: dict[Relation, list[Relation]] = {}
        self._numbers = count(1)
        self._texts: dict[tuple[str, str], tuple[str, Mapping[str, Hole]]] = {}

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        # After an error the transaction may be lost, and the tables with it: then they cannot be dropped.
        self._close(quietly=kind is not None)

    def close(self) -> None:
        """Drop all that was made and is still there."""
        self._close()

    @property
    def log(self) -> tuple[Statement, ...]:
        """What was run: statements of one name as one, in the order of the first of each."""
        return tuple(self._log.values())

    def keep_lasting(self, place: Relation, comment: str) -> None:
        """On an engine without temporary tables, keep what queries give from now on in lasting ones, until the end.

        Their names begin with that of the place, and the comment tells whose they are if a process is killed.
        """
        self._beside = place, comment

    def __getitem__(self, stem: str) -> Relation:
        """The table of a stem, whether it has been made or not."""
        return queries.scratch(f"{self._prefix}_{stem}")

    def unused(self, stem: str) -> str:
        """The stem, or one with a number where there is a table of that stem, which somebody may still read."""
        stems = chain([stem], (f"{stem}_{number}" for number in count(2)))
        return next(stem for stem in stems if self[stem] not in self._made)

    def pair(self, stem: str) -> tuple[Relation, Relation]:
        """Two tables of a stem, of which one is read while the other is written."""
        return self[f"{stem}_0"], self[f"{stem}_1"]

    def create(self, table: str | Relation, query: str, /, **holes: Hole) -> Relation:
        """Make a table anew of what a query of `sql/` ("subject/query") gives."""
        return self._make(table, self.text(query, **holes), query)

    def create_as(self, table: str | Relation, text: str, query: str = "", sentence: str = "") -> Relation:
        """Make a table anew of what a ready query gives."""
        return self._make(table, text, query, sentence)

    def load(self, table: str | Relation, types: Mapping[str, str], columns: Sequence[Sequence[Any]]) -> Relation:
        """Make a table anew of values, column by column; `types` are the engine's own words."""
        relation, started = self._to_make(table), time.perf_counter()
        self.engine.load(relation, types, columns)
        rows = len(columns[0]) if columns else 0
        self.engine.filled(relation, rows or None)
        self._note("load", "Load values into a temporary table.", "", started, rows)
        return relation

    def create_castable(
        self, table: str | Relation, none: str, written: Relation, type_name: str, columns: Sequence[str]
    ) -> Relation:
        """Make a table anew of the rows of another whose text a type can hold; see `Engine.create_castable`."""
        relation, started = self._to_make(table), time.perf_counter()
        self.engine.create_castable(relation, none, written, type_name, columns)
        self.engine.filled(relation, None)
        self._note("values", "Read texts as values of a column's type.", "", started)
        return relation

    def receive(self, table: str | Relation, source: Engine, text: str, query: str = "") -> Relation:
        """Make a table anew of what a ready query gives in an engine, this or another."""
        relation, started = self._to_make(table), time.perf_counter()
        source.send(self._kept(relation, text) if source is self.engine else text, self.engine, relation)
        self.engine.filled(relation, None)
        sentence = self._sentence(query, "Send rows to a temporary table.")
        self._note(query or "send", sentence, text, started, engine=source.name)
        return relation

    def add(self, table: str | Relation, query: str, /, **holes: Hole) -> None:
        """Add what a query of `sql/` ("subject/query") gives to a table."""
        self._add(table, self.text(query, **holes), query)

    def add_as(self, table: str | Relation, text: str) -> None:
        """Add what a ready query gives to a table."""
        self._add(table, text)

    def rows(self, query: str, /, **holes: Hole) -> list[tuple[Any, ...]]:
        """All rows of a query of `sql/`."""
        return self._rows(self.text(query, **holes), query)

    def rows_as(self, text: str, query: str = "") -> list[tuple[Any, ...]]:
        """All rows of a ready query."""
        return self._rows(text, query)

    def count(self, table: str | Relation) -> int:
        """How many rows a table has."""
        ((rows,),) = self.rows("frequency_sets/row_count", relation=self._relation(table))
        return int(rows)

    def rename(self, table: str, new: str | Relation) -> None:
        """Give a table the place of another, which is dropped."""
        relation, place = self[table], self._to_make(new)
        self._drop(place)
        if self.engine.has_temporary_tables:
            renamed = queries.rename(relation, place.name, self.engine.dialect)
            self._run(renamed, "rename", "Give a temporary table the name of another.")
        else:
            self._show(place, queries.select_all(relation, self.engine.dialect))
            self._drop(relation)
        self._made.pop(relation, None)

    def drop(self, *tables: str | Relation) -> None:
        """Drop tables that are not needed any more."""
        for table in tables:
            relation = self._relation(table)
            self._drop(relation)
            self._made.pop(relation, None)

    def text(self, query: str, /, **holes: Hole) -> str:
        """The text of a query of `sql/` in the engine's dialect, printed once for the same holes.

        The rounds of a local recoding use the same tables again, and printing takes as long as a small query itself.
        """
        key = query, repr(holes)  # which differs for 1, 1.0 and TRUE
        if key not in self._texts:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            # With the holes, so that an address in the key stays that of one object.
            self._texts[key] = queries.text(query, self.engine.dialect, **holes), holes
        text, _ = self._texts[key]
        return text

    def _make(self, table: str | Relation, text: str, query: str = "", sentence: str = "") -> Relation:
        held = self._relation(table) in self._made
        relation = self._to_make(table)
        told = query or "make", sentence or self._sentence(query, "Make a temporary table.")
        if not self.engine.has_temporary_tables:
            self._show(relation, text, *told)
            return relation
        # What we have made there is dropped first, which gives back its memory before there is another.
        replace = self.engine.dialect == "duckdb" and not held
        if not replace:
            self._drop(relation)
        made = queries.create_as(relation, text, self.engine.dialect, temporary=True, replace=replace)
        self._fill(relation, made, *told)
        return relation

    def _show(self, relation: Relation, text: str, name: str = "show", sentence: str = "Name a query.") -> None:
        """Make or replace what is no table, but a query that is run at every use, or the name of a lasting table."""
        started, before = time.perf_counter(), list(self._lasting.get(relation, ()))
        self.engine.send(self._kept(relation, text), self.engine, relation)
        self._drop_lasting(relation, before)
        self._note(name, sentence, text, started)

    def _kept(self, relation: Relation, text: str) -> str:
        """A query, or that of the lasting table that is made of it where such are kept."""
        if self._beside is None:
            return text
        place, comment = self._beside
        kept = place.sibling(f"{place.name}__{next(self._numbers)}")
        self._lasting.setdefault(relation, []).append(kept)  # known before it is made; see `_to_make`
        self.engine.create(kept, text, "table", comment)
        return queries.select_all(kept, self.engine.dialect)

    def _drop_lasting(self, relation: Relation, kept: Sequence[Relation]) -> None:
        for old in kept:
            self.engine.run(queries.drop(old, self.engine.dialect))
            self._lasting[relation].remove(old)

    def _add(self, table: str | Relation, text: str, query: str = "") -> None:
        relation = self._relation(table)
        if not self.engine.has_temporary_tables:
            self._show(relation, queries.union_all([queries.select_all(relation, self.engine.dialect), text]))
            return
        added = queries.insert(relation, text, self.engine.dialect)
        self._fill(relation, added, query or "add", self._sentence(query, "Add rows to a temporary table."))

    def _fill(self, relation: Relation, statement: str, name: str, sentence: str) -> None:
        self.engine.filled(relation, self._run(statement, name, sentence))

    def _rows(self, text: str, query: str = "") -> list[tuple[Any, ...]]:
        started = time.perf_counter()
        rows = self.engine.rows(text)
        self.statements += 1
        self._note(query or "ask", self._sentence(query, "Ask for rows."), text, started, len(rows))
        return rows

    def _run(self, statement: str, name: str, sentence: str) -> int | None:
        started = time.perf_counter()
        rows = self.engine.run(statement)
        self.statements += 1
        self._note(name, sentence, statement, started, rows)
        return rows

    def _relation(self, table: str | Relation) -> Relation:
        return self[table] if isinstance(table, str) else table

    def _to_make(self, table: str | Relation) -> Relation:
        """The relation that is about to be made: known before, so that it is dropped even if making it ends halfway."""
        relation = self._relation(table)
        self._made[relation] = None
        return relation

    def _drop(self, relation: Relation) -> None:
        if not self.engine.has_temporary_tables:
            self.engine.forget(relation)
            self._drop_lasting(relation, list(self._lasting.get(relation, ())))
            return
        self._run(queries.drop(relation, self.engine.dialect), "drop", "Drop a temporary table.")

    def _sentence(self, query: str, other: str) -> str:
        return queries.sentence(query) if query else other

    def _note(
        self, name: str, sentence: str, sql: str, started: float, rows: int | None = None, engine: str = ""
    ) -> None:
        seconds = time.perf_counter() - started
        run = Statement(name, sentence, sql, seconds, rows, engine=engine or self.engine.name)
        self._log[name] = self._log[name] + run if name in self._log else run

    def _close(self, quietly: bool = False) -> None:
        with ExitStack() as last:  # one drop that fails does not keep the others from being made
            last.callback(self._give_back)
            for relation in self._made:
                last.callback(self._drop_quietly if quietly else self._drop, relation)
            self._made = {}

    def _drop_quietly(self, relation: Relation) -> None:
        with suppress(KanonError):
            self._drop(relation)


class Scratches:
    """The tables of a run that works in several engines: a scratch for each, all gone when the block ends."""

    def __init__(self) -> None:
        self._of: dict[int, Scratch] = {}

    def __getitem__(self, engine: Engine) -> Scratch:
        """The one scratch of an engine."""
        if id(engine) not in self._of:
            self._of[id(engine)] = Scratch(engine)
        return self._of[id(engine)]

    @property
    def log(self) -> tuple[Statement, ...]:
        """What was run in each of them; see `Scratch.log`."""
        return tuple(statement for tables in self._of.values() for statement in tables.log)

    def __enter__(self) -> Scratches:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        with ExitStack() as last:
            for tables in self._of.values():
                last.callback(tables.__exit__, kind, *rest)
            self._of = {}


def _take_prefix(name: str) -> str:
    """The name, or the name with the lowest number, that no scratch has now: so texts are the same from run to run."""
    with _LOCK:
        names = (name if number == 1 else f"{name}_{number}" for number in count(1))
        prefix = next(name for name in names if name not in _TAKEN)
        _TAKEN.add(prefix)
        return prefix
