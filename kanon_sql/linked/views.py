"""Live views of several tables, which count the people of every combination whenever they are read.

The statement of a view has the same steps as the test of a node (`kanon_sql.linked.items`), on the source as it is at
that moment. It reads mapping tables and the secret of the keys from companion tables, so that its text, which others
can read, contains neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency import mapping
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.frequency.mapping import Place
from kanon_sql.generalization.lattice import Node
from kanon_sql.linked.counted import CodedTable
from kanon_sql.linked.items import (
    Create,
    NodeRows,
    Shown,
    chosen_items,
    every_event,
    parents_of_items,
    shown_rows,
    with_children,
)
from kanon_sql.linked.writer import OFFSET, shifted_column, unchanged
from kanon_sql.queries import CommonTables, KeyReference, LiveCell, NewKey, NumberedPlaces, Relation
from kanon_sql.release.cells import level_column
from kanon_sql.release.pieces import Piece, companion
from kanon_sql.spec import LinkedSpec

_SECRET = "key_secret"
_NEEDED = {"is": "a table that the view needs"}
_RARE = {1: "linked/rare_singles", 2: "linked/rare_pairs", 3: "linked/rare_triples"}


@dataclass(frozen=True)
class LiveViews:
    """Describes the views of a node, and their companion tables.

    `scratch`: in the engine of the source. `secret`: its table with the secret of the new keys. `targets`: the places
    of the views by table.
    """

    engine: Engine
    scratch: Scratch
    tables: Sequence[CodedTable]
    secret: Relation
    spec: LinkedSpec
    targets: Mapping[str, Relation]

    def pieces(self, node: Node, about: Mapping[str, object]) -> dict[str, list[Piece]]:
        """The views by table, each as one query, with the companion tables that they need."""
        found: dict[str, list[Piece]] = {table.copy.link.name: [] for table in self.tables}
        levels = iter(node)
        cells = []
        for table in self.tables:
            name = table.copy.link.name
            of_table = [self._cell(table, n, next(levels)) for n in range(len(table.attributes))]
            cells.append([cell for cell, _ in of_table])
            found[name] += [piece for _, piece in of_table if piece]
        main = self.tables[0].copy.link.name
        stem = next(stem for stem in (_SECRET, f"{_SECRET}_") if stem not in {piece.stem for piece in found[main]})
        text = queries.select_all(self.secret, self.engine.dialect)
        sentence = "Keep the secret of the keys, which only the owner of the views can read."
        found[main].append(Piece(stem, sentence, text, stem, about=_NEEDED, released=False))
        statements = ViewStatements(self, cells, self._lasting(companion(self.targets[main], stem)))
        for table in self.tables:
            name = table.copy.link.name
            text = statements.text(table)
            found[name].append(Piece(name, f"Create the view of {name}.", text, form="view", about=about))
        return found

    def _lasting(self, relation: Relation) -> Relation:
        return self.engine.lasting(relation)

    def _cell(self, table: CodedTable, index: int, level: int) -> tuple[LiveCell, Piece | None]:
        """A quasi-identifier, and the companion table with its labels; None if it shows nothing."""
        attribute, copy = table.attributes[index], table.copy
        stem, column = attribute.coded.stem, copy.columns[attribute.column.name]
        place = companion(self.targets[copy.link.name], stem)
        shown = level_column(attribute, level, self._lasting(place), "code", "label")
        shown = replace(shown, name=column)
        cell = LiveCell(attribute.column.name, column, f"q{index}", shown)
        if shown.mapping is None:
            return cell, None
        cell = replace(cell, shown=replace(shown, codes=max(attribute.hierarchy.codes(level), default=0) + 1))
        columns = {"code": f"code_{level}"} | ({"label": f"label_{level}"} if level else {})
        loaded = self._loaded(table, index, attribute)
        text = queries.text("mappings/view_mapping", self.engine.dialect, mapping=loaded, columns=columns)
        sentence = "Create a table that the view needs."
        return cell, Piece(stem, sentence, text, stem, about=_NEEDED, released=False, key="value")

    def _loaded(self, table: CodedTable, index: int, attribute: Attribute) -> Relation:
        """The mapping table in the engine of the source, in the type of its column."""
        if table.relation_engine is self.engine:
            return attribute.coded.mapping
        copy = table.copy
        coded = replace(attribute.coded, mapping=self.scratch[f"map_{copy.link.number}_{index}"])
        source = copy.source.column(attribute.column.name)
        assert source is not None
        place = Place(self.engine, copy.relation, Column(copy.columns[attribute.column.name], source.type, source.kind))
        mapping.load(self.scratch, place, coded, attribute.hierarchy)
        return coded.mapping


class ViewStatements:
    """Prints the statements of the views: the copies of the sources, what they show, and what remains of it.

    `cells`: the quasi-identifiers of every table. `secret`: the companion table with the secret of the keys.
    """

    def __init__(self, views: LiveViews, cells: Sequence[Sequence[LiveCell]], secret: Relation) -> None:
        self.engine, self.spec, self.secret = views.engine, views.spec, secret
        self.common = CommonTables(views.engine.dialect)
        self.tables = dict(zip((table.copy.link.name for table in views.tables), views.tables, strict=True))
        self.cells = dict(zip(self.tables, cells, strict=True))
        levels = max(1, *(table.copy.link.depth for table in views.tables))
        self.places = NumberedPlaces.of_growing_tables(levels)
        self.copies: dict[str, Relation] = {}
        self.rows: dict[str, Relation] = {}
        for name, table in self.tables.items():
            self.copies[name] = self._copy(table)
            of_table = queries.live_rows(self.copies[name], self.cells[name], self.engine.dialect)
            self.rows[name] = self.common.create_as(f"rows_{table.copy.link.number}", of_table)
        self.kept = self._kept()
        self.keys = {name: self._keys(table) for name, table in self.tables.items() if table.copy.link.own_key}
        self.offsets = self._offsets() if any(table.shift for table in self.spec.tables.values()) else None

    def text(self, table: CodedTable) -> str:
        """The statement of a table's view."""
        copy, name = table.copy, table.copy.link.name
        open_types = {column.name: column.open_type for column in copy.source.columns}
        query = queries.live_release(
            self.copies[name],
            self.rows[name],
            self.kept[name],
            [
                NewKey(column, self.keys[of], row, copy.columns[column])
                for column, of, row in copy.link.key_rows(self.spec.main)
            ],
            self.cells[name],
            {column: (copy.columns[column], open_types.get(column)) for column in unchanged(table)},
            {column: shifted_column(table, column) for column in self.spec.tables[name].shift},
            self.offsets if self.spec.tables[name].shift else None,
            copy.link.own_key is not None,
            self.engine.dialect,
        )
        return self.common.statement(query)

    def _create(self, stem: str, query: str, **holes: Any) -> Relation:
        return self.common.create(stem, query, **holes, **self.places.holes_of(query))

    def _copy(self, table: CodedTable) -> Relation:
        """The rows of a source that belong to one person, with their links to other rows; others are left out."""
        copy, link = table.copy, table.copy.link
        person = parent = None
        if link.person:
            person = KeyReference(link.person, self.copies[self.spec.main], self._own_key(self.spec.main))
        if link.parent:
            parent = KeyReference(str(link.parent_key), self.copies[link.parent], self._own_key(link.parent))
        renamed = {new: name for name, new in copy.columns.items()}
        source = self.engine.lasting(copy.source.relation)
        text = queries.linked_copy(source, renamed, person, parent, self.engine.dialect)
        columns = ["row_id", "unit_id", "parent_id", *renamed]
        key = [copy.columns[link.own_key] if link.own_key else "row_id"]
        copied = self.common.create_as(f"source_{link.number}", text)
        sound = self._create(f"copy_{link.number}", "linked/sound_rows", copy=copied, columns=columns, key=key)
        if not (link.parent and link.referenced):
            return sound
        most = self.places.most_children(len(self.tables))
        return self._create(
            f"numbered_{link.number}", "linked/with_few_siblings", rows=sound, columns=columns, most=most
        )

    def _own_key(self, name: str) -> str:
        copy = self.tables[name].copy
        return copy.columns[str(copy.link.own_key)]

    def _kept(self) -> dict[str, Relation]:
        """The rows of every table that remain."""
        rows = [
            NodeRows(
                table.copy.link,
                self.rows[name],
                queries.class_numbers(self.cells[name]),
                has_nulls=False,
            )
            for name, table in self.tables.items()
        ]
        shown = shown_rows(self._create, rows, self.places, self.spec.privacy.k)
        main, *others = self.tables
        kept = {main: self._rows_of_people(main, shown)}
        if self.spec.privacy.m == 0:
            return kept | {name: self._rows_of_people(name, shown) for name in others}
        if others:
            remaining = self._create("remaining", "linked/items_that_remain", events=self._remaining_events(shown))
            for name, items in zip(others, shown.items, strict=True):
                stem = f"kept_{self.tables[name].copy.link.number}"
                kept[name] = self._create(stem, "linked/rows_of_items", items=items, remaining=remaining)
        return kept

    def _rows_of_people(self, name: str, shown: Shown) -> Relation:
        stem = f"kept_{self.tables[name].copy.link.number}"
        return self._create(stem, "linked/rows_of_people", rows=self.rows[name], people=shown.people)

    def _remaining_events(self, shown: Shown) -> Relation:
        """The rows of people without the items of rare combinations of up to m rows."""
        k, m = self.spec.privacy.k, self.spec.privacy.m
        assert isinstance(m, int)
        create: Create = self._create
        equal_rows = [
            create(f"equal_rows_{number}", "linked/equal_rows", items=items)
            for number, items in enumerate(shown.items, start=1)
        ]
        copies = self.common.create_as("copies", queries.copies_of_rows(m))
        events = every_event(create, equal_rows, copies, len(self.tables))
        parents = parents_of_items(create, shown)
        for size in range(1, m + 1):
            holes: dict[str, Any] = {"events": events, "k": k}
            if size > 1:
                holes |= {"parts": 1, "part": 0}
            if size == 2:
                holes["unit_items"] = create("unit_items", "linked/unit_items", events=events)
            rare = create(f"rare_{size}", _RARE[size], **holes)
            chosen = chosen_items(create, size, rare, events)
            chosen = with_children(create, chosen, parents, self.places.levels)
            events = create(f"remaining_{size}", "linked/without_items", events=events, left_out=chosen)
        return events

    def _keys(self, table: CodedTable) -> Relation:
        link = table.copy.link
        return self._digests(f"keys_{link.number}", link.name, link.name)

    def _digests(self, stem: str, of: str, table: str) -> Relation:
        """Digests of the keys of a table's rows; `table`: a name, so that other tables have other digests."""
        holes: dict[str, Any] = {"secret": self.secret, "table": table, "column": [self._own_key(of)]}
        return self._create(stem, "linked/random_keys", copy=self.copies[of], **holes)

    def _offsets(self) -> Relation:
        """The number of days by which the dates of every person are shifted."""
        days = self.spec.shift_days
        digests = self._digests("digests", self.spec.main, OFFSET)
        return self._create("offsets", "linked/offsets", keys=digests, width=2 * days + 1, most=days)
