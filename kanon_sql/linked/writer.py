"""The released tables: new keys, labels, and kept columns, of the rows that a node keeps."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency import mapping
from kanon_sql.frequency.mapping import Place
from kanon_sql.generalization.lattice import Node
from kanon_sql.linked.counted import CodedTable
from kanon_sql.linked.judge import KeptRows
from kanon_sql.queries import NewKey, Relation, ReleasedColumn, ShiftedColumn
from kanon_sql.release.pieces import Piece
from kanon_sql.spec import LinkedSpec

OFFSET = "offset\x1f"  # in the place of a table's name, for digests that no key is
_DATES = ("date", "timestamp")
_LEAST_SECRET = 16  # bytes


@dataclass(frozen=True)
class Writer:
    """Prints the queries of the released tables in the engine of the source, whose `scratch` has the copies.

    `secret`: a table with the secret of the new keys, so that it appears in no statement and no log of a server.
    """

    engine: Engine
    scratch: Scratch
    tables: Sequence[CodedTable]
    secret: Relation
    spec: LinkedSpec

    def pieces(self, node: Node, kept: KeptRows, about: Mapping[str, object]) -> dict[str, Piece]:
        """The released tables by name, each as one query."""
        keys = {table.copy.link.name: self._keys(table) for table in self.tables if table.copy.link.own_key}
        main = self.tables[0].copy.link.name
        new_keys = {
            table.copy.link.name: [
                NewKey(name, keys[of], row, table.copy.columns[name])
                for name, of, row in table.copy.link.key_rows(main)
            ]
            for table in self.tables
        }
        return {
            name: Piece(name, f"Write the rows of {name} that are kept.", text, about=about)
            for name, text in self.queries(node, kept, new_keys).items()
        }

    def queries(self, node: Node, kept: KeptRows, keys: Mapping[str, Sequence[NewKey]]) -> dict[str, str]:
        """The queries of the kept rows by table: `keys`, labels, and columns that are released unchanged or shifted."""
        offsets = self._offsets() if any(table.shift for table in self.spec.tables.values()) else None
        levels = iter(node)
        texts: dict[str, str] = {}
        for table, left_out in zip(self.tables, kept.left_out, strict=True):
            copy = table.copy
            cells = [cell_of(self.engine, self.scratch, table, n, next(levels)) for n in range(len(table.attributes))]
            shifted = {name: shifted_column(table, name) for name in self.spec.tables[copy.link.name].shift}
            texts[copy.link.name] = queries.linked_release(
                copy.relation,
                self._here(left_out, f"out_{copy.link.number}", table),
                keys[copy.link.name],
                cells,
                {name: copy.columns[name] for name in unchanged(table)},
                shifted,
                offsets,
                self.secret,
                self.engine.dialect,
            )
        return texts

    def _offsets(self) -> Relation:
        """The number of days by which the dates of every person are shifted."""
        main, days = self.tables[0].copy, self.spec.shift_days
        column = [main.columns[str(main.link.own_key)]]
        holes: dict[str, Any] = {"secret": self.secret, "table": OFFSET, "column": column, "copy": main.relation}
        digests = self.scratch.create("digests", "linked/random_keys", **holes)
        return self.scratch.create("offsets", "linked/offsets", keys=digests, width=2 * days + 1, most=days)

    def _keys(self, table: CodedTable) -> Relation:
        copy = table.copy
        column = [copy.columns[str(copy.link.own_key)]]
        holes: dict[str, Any] = {
            "secret": self.secret,
            "table": copy.link.name,
            "column": column,
            "copy": copy.relation,
        }
        return self.scratch.create(f"keys_{copy.link.number}", "linked/random_keys", **holes)

    def _here(self, left_out: Relation, stem: str, table: CodedTable) -> Relation:
        """The rows that are left out, in the engine of the copies."""
        if table.relation_engine is self.engine:
            return left_out
        text = queries.select_all(left_out, table.relation_engine.dialect)
        return self.scratch.receive(stem, table.relation_engine, text)


def shifted_column(table: CodedTable, name: str) -> ShiftedColumn:
    """A column of dates that is released with an offset; SpecError if it has no dates."""
    found = table.copy.source.column(name)
    if found is None or found.kind not in _DATES:
        raise SpecError(f"{table.copy.link.name}.{name} is in `shift`, but is not a date; convert it in a view")
    return ShiftedColumn(table.copy.columns[name], found.kind == "date")


def unchanged(table: CodedTable) -> list[str]:
    """The columns of a table that are released unchanged, the sensitive ones first."""
    return [*table.copy.spec.sensitive, *table.copy.roles.kept]


def cell_of(engine: Engine, scratch: Scratch, table: CodedTable, index: int, level: int) -> ReleasedColumn:
    """A released column on a level, whose mapping table is loaded where the copy is, in `engine` and `scratch`."""
    attribute = table.attributes[index]
    name, coded = attribute.column.name, attribute.coded
    column = table.copy.columns[name]
    if level and table.relation_engine is not engine:
        here = scratch[f"map_{table.copy.link.number}_{index}"]
        coded = replace(coded, mapping=here)
        source = table.copy.source.column(name)
        assert source is not None
        place = Place(engine, table.copy.relation, Column(column, source.type, source.kind))
        mapping.load(scratch, place, coded, attribute.hierarchy)
    return ReleasedColumn(name, column, coded, level)


def secret_of(spec: LinkedSpec) -> str:
    """The secret of the new keys: that of the spec's file, or a random one, which is forgotten after the release."""
    if spec.key_secret is None:
        return secrets.token_hex(16)
    try:
        text = Path(spec.key_secret).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SpecError(f"the secret {spec.key_secret} cannot be read ({error.strerror}); check the path") from None
    if len(text) < _LEAST_SECRET:
        raise SpecError(
            f"the secret in {spec.key_secret} has {len(text)} characters; write at least {_LEAST_SECRET} random ones"
        )
    return text
