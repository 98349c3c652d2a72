"""Scratch tables: the temporary tables of one piece of work, with one owner, who names, makes, times and drops them."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import count
from types import TracebackType
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Statement
from kanon_sql.errors import KanonError
from kanon_sql.queries import Hole, Relation

_MOST_LOGGED = 10_000  # statements; a long local recoding runs more
_MOST_TEXTS = 512  # filled queries kept, of a few thousand characters each
_LOCK, _TAKEN = threading.Lock(), set[str]()


class Scratch:
    """The temporary tables of one piece of work in one engine: none is left when its block ends, however it ends.

    A table is named by a short word of the owner's, its stem; or by its relation, where another scratch has named it.
    No two scratches that live at the same time have a table in common, even on one connection. `log` has the last
    statements in their order, `statements` counts all that were run as text.

    >>> from kanon_sql.engines.duckdb import DuckDB
    >>> with Scratch(DuckDB(), "example") as tables:
    ...     letters = tables.load("letters", {"letter": "VARCHAR"}, [["a", "b"]])
    ...     kept = tables.make("kept", "core/copy", columns=["letter"], source=letters)
    ...     tables.count(kept)
    2
    """

    def __init__(self, engine: Engine, name: str = "") -> None:
        self.engine = engine
        self.statements = 0
        self.log: deque[Statement] = deque(maxlen=_MOST_LOGGED)
        self._prefix = _take_prefix(f"kanon_{name}" if name else "kanon")
        self._give_back = weakref.finalize(self, _TAKEN.discard, self._prefix)
        self._made: dict[Relation, None] = {}
        self._texts: dict[str, str] = {}

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        # After an error the transaction may be lost, and the tables with it: then they cannot be dropped.
        self._close(quietly=kind is not None)

    def close(self) -> None:
        """Drop all that was made and is still there."""
        self._close()

    def __getitem__(self, stem: str) -> Relation:
        """The table of a stem, whether it has been made or not."""
        return queries.scratch(f"{self._prefix}_{stem}")

    def pair(self, stem: str) -> tuple[Relation, Relation]:
        """Two tables of a stem, of which one is read while the other is written."""
        return self[f"{stem}_0"], self[f"{stem}_1"]

    def make(self, table: str | Relation, query: str, /, **holes: Hole) -> Relation:
        """Make a table anew of what the query `sql/<query>.sql` gives."""
        return self._make(table, self.text(query, **holes), query)

    def make_as(self, table: str | Relation, text: str) -> Relation:
        """Make a table anew of what a ready query gives."""
        return self._make(table, text)

    def load(self, table: str | Relation, types: Mapping[str, str], columns: Sequence[Sequence[Any]]) -> Relation:
        """Make a table anew of values, column by column; `types` are the engine's own words."""
        relation, started = self._to_make(table), time.perf_counter()
        self.engine.load(relation, types, columns)
        self._note("load", f"Load {relation.name}.", "", started, len(columns[0]) if columns else 0)
        return relation

    def receive(self, table: str | Relation, source: Engine, query: str) -> Relation:
        """Make a table anew of what a ready query gives in an engine, this or another."""
        relation, started = self._to_make(table), time.perf_counter()
        source.send(query, self.engine, relation)
        self._note("send", f"Make {relation.name}.", query, started)
        return relation

    def add(self, table: str | Relation, query: str, /, **holes: Hole) -> None:
        """Add what the query `sql/<query>.sql` gives to a table."""
        self._add(table, self.text(query, **holes), query)

    def add_as(self, table: str | Relation, text: str) -> None:
        """Add what a ready query gives to a table."""
        self._add(table, text)

    def rows(self, query: str, /, **holes: Hole) -> list[tuple[Any, ...]]:
        """All rows of the query `sql/<query>.sql`."""
        return self._rows(self.text(query, **holes), query)

    def rows_as(self, text: str) -> list[tuple[Any, ...]]:
        """All rows of a ready query."""
        return self._rows(text)

    def count(self, table: str | Relation) -> int:
        """How many rows a table has."""
        ((rows,),) = self.rows("core/row_count", relation=self._relation(table))
        return int(rows)

    def rename(self, table: str, new: str) -> None:
        """Give a table the place of another, which is dropped."""
        relation, place = self[table], self._to_make(new)
        self._drop(place)
        sentence = f"Call {relation.name} {place.name}."
        self._run(queries.rename(relation, place.name, self.engine.dialect), "rename", sentence)
        self._made.pop(relation, None)

    def drop(self, *tables: str | Relation) -> None:
        """Drop tables that are not needed any more."""
        for table in tables:
            relation = self._relation(table)
            self._drop(relation)
            self._made.pop(relation, None)

    def text(self, query: str, /, **holes: Hole) -> str:
        """The text of `sql/<query>.sql`; it is kept, since filling holes takes as long as a small query itself."""
        key = f"{query} {holes}"
        if key not in self._texts:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[key] = queries.text(query, self.engine.dialect, **holes)
        return self._texts[key]

    def _make(self, table: str | Relation, text: str, query: str = "") -> Relation:
        relation = self._to_make(table)
        self._drop(relation)
        made = queries.create_as(relation, text, self.engine.dialect, temporary=True)
        self._run(made, query or "make", queries.sentence(query) if query else f"Make {relation.name}.")
        return relation

    def _add(self, table: str | Relation, text: str, query: str = "") -> None:
        relation = self._relation(table)
        added = queries.insert(relation, text, self.engine.dialect)
        self._run(added, query or "add", queries.sentence(query) if query else f"Add to {relation.name}.")

    def _rows(self, text: str, query: str = "") -> list[tuple[Any, ...]]:
        started = time.perf_counter()
        rows = self.engine.rows(text)
        self.statements += 1
        self._note(query or "ask", queries.sentence(query) if query else "Ask.", text, started, len(rows))
        return rows

    def _run(self, statement: str, name: str, sentence: str) -> None:
        started = time.perf_counter()
        rows = self.engine.run(statement)
        self.statements += 1
        self._note(name, sentence, statement, started, rows)

    def _relation(self, table: str | Relation) -> Relation:
        return self[table] if isinstance(table, str) else table

    def _to_make(self, table: str | Relation) -> Relation:
        """The relation that is about to be made: known before, so that it is dropped even if making it ends halfway."""
        relation = self._relation(table)
        self._made[relation] = None
        return relation

    def _drop(self, relation: Relation) -> None:
        self._run(queries.drop(relation, self.engine.dialect), "drop", f"Drop {relation.name}.")

    def _note(self, name: str, sentence: str, sql: str, started: float, rows: int | None = None) -> None:
        self.log.append(Statement(name, sentence, sql, time.perf_counter() - started, rows))

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
        prefix = next(each for each in names if each not in _TAKEN)
        _TAKEN.add(prefix)
        return prefix
