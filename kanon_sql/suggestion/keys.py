"""The keys of the tables of a database: declared ones, and others by their names and values.

Counts only: no value leaves the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql import queries
from kanon_sql.engine import Column, Table
from kanon_sql.engines.declared_keys import DeclaredKeys, declared_keys
from kanon_sql.engines.scratch import Scratch
from kanon_sql.hints import names_people
from kanon_sql.queries import Relation
from kanon_sql.suggestion.key_names import OTHER, SAME, SIMILAR, likeness, looks_like_key, subject

DECLARED, BY_VALUES = 4, 1  # more and less certain than SAME and SIMILAR, by their names
_EVIDENCE = {
    DECLARED: "declared foreign key",
    SAME: "found by name and values: all its values are in {target}.{key}",
    SIMILAR: "a similar name, and all its values are in {target}.{key}: check it",
    BY_VALUES: "by its values only, which are all in {target}.{key}: check it",
}
_FEWEST_BY_VALUES = 20  # different texts, for values alone to be evidence
_MOST_ROWS_OF_TEXT = 1_000_000  # above which texts are counted only if they are called like keys


@dataclass(frozen=True)
class ForeignKey:
    """A column that refers to the key of another table. `certainty`: DECLARED, SAME, SIMILAR or BY_VALUES."""

    table: str
    column: str
    target: str
    key: str
    certainty: int

    @property
    def evidence(self) -> str:
        """Why, in words."""
        return _EVIDENCE[self.certainty].format(target=self.target, key=self.key)


@dataclass(frozen=True)
class KeyedTable:
    """A table with its key, if it has one, and why; `filled` and `different` count the values of possible keys."""

    name: str
    table: Table
    rows: int
    key: str | None = None
    evidence: str = ""
    declared: DeclaredKeys = field(default_factory=DeclaredKeys)
    filled: Mapping[str, int] = field(default_factory=dict)
    different: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_named(self) -> bool:
        """Whether the key is declared, or called like a key of the table."""
        if self.key is None:
            return False
        called = looks_like_key(self.key) and likeness(self.key, self.name, "") == SAME
        return called or not subject(self.key) or self.key == self.declared.primary

    def missing(self, column: str) -> int:
        """The rows without a value in a column that may be a key."""
        return self.rows - self.filled.get(column, self.rows)

    def is_unique(self, column: str) -> bool:
        """Whether a column identifies every row."""
        return self.rows > 0 and self.filled.get(column) == self.different.get(column) == self.rows


@dataclass(frozen=True)
class BrokenKey:
    """A column that is called like the key of another table, which lacks some of its values."""

    table: str
    column: str
    target: str
    key: str
    missing: int


@dataclass(frozen=True)
class Keys:
    """The tables of a database by name, with the columns by which they refer to each other."""

    tables: Mapping[str, KeyedTable]
    references: Sequence[ForeignKey]
    broken: Sequence[BrokenKey] = ()

    def of(self, table: str) -> list[ForeignKey]:
        """The references of a table."""
        return [reference for reference in self.references if reference.table == table]

    def to(self, table: str) -> list[ForeignKey]:
        """The references of other tables to a table."""
        return [reference for reference in self.references if table == reference.target != reference.table]


def find_keys(scratch: Scratch, tables: Sequence[Table]) -> Keys:
    """Find the keys of tables, with two statements per table."""
    declared = declared_keys(scratch.engine)
    keyed: dict[str, KeyedTable] = {}
    for table in tables:
        counted = _counted(scratch, table, declared.get(table.relation, DeclaredKeys()), tables)
        keyed[counted.name] = _with_key(counted, tables, declared)
    references: list[ForeignKey] = []
    broken: list[BrokenKey] = []
    for counted in keyed.values():
        found, without = _references(scratch, counted, keyed)
        references += found
        broken += without
    return Keys(keyed, references, broken)


def _counted(scratch: Scratch, table: Table, declared: DeclaredKeys, tables: Sequence[Table]) -> KeyedTable:
    """The table with counts of all columns that may be keys, in one statement."""
    name = table.relation.name
    rows = scratch.count(table.relation)
    columns = [column for column in table.columns if _may_be_key(column, rows, table, tables)]
    texts = [
        scratch.text("keys/figures", number=number, column=[column.name], source=table.relation)
        for number, column in enumerate(columns)
    ]
    found = scratch.rows_as(queries.union_all(texts), "keys/figures") if texts and rows else []
    filled = {columns[number].name: int(n) for number, n, _ in found}
    different = {columns[number].name: int(n) for number, _, n in found}
    return KeyedTable(name, table, rows, declared=declared, filled=filled, different=different)


def _may_be_key(column: Column, rows: int, table: Table, tables: Sequence[Table]) -> bool:
    kind = key_kind(column)
    if kind == "uuid" or column.kind == "integer":
        return True
    if kind is None:
        return False
    others = [other for other in tables if other is not table]
    is_named = looks_like_key(column.name) or any(other.column(column.name) for other in others)
    return is_named or (kind == "text" and rows <= _MOST_ROWS_OF_TEXT)


def key_kind(column: Column) -> str | None:
    """The kind of values that a key column is compared by; None for a column that cannot be a key."""
    if column.type.upper() == "UUID":
        return "uuid"
    return {"integer": "integer", "decimal": "integer", "text": "text"}.get(column.kind)


def _with_key(table: KeyedTable, tables: Sequence[Table], declared: Mapping[Relation, DeclaredKeys]) -> KeyedTable:
    """The table with the column that identifies its rows: the one that others declare to refer to, or the best one."""
    unique = [column for column in table.filled if table.is_unique(column)]
    referenced = [
        column
        for keys in declared.values()
        for targets in keys.references.values()
        for target, column in targets
        if target == table.table.relation
    ]
    elsewhere = {column.name for other in tables if other.relation != table.table.relation for column in other.columns}

    def rank(column: str) -> tuple[bool, ...]:
        return (
            column in referenced,
            column == table.declared.primary,
            column in table.declared.unique,
            looks_like_key(column) and likeness(column, table.name, "") == SAME,
            not subject(column),
            column in elsewhere,
            looks_like_key(column),
            not names_people(column),
        )

    if not unique:
        return table
    key = max(unique, key=rank)
    if key == table.declared.primary:
        evidence = "declared primary key"
    elif key in table.declared.unique:
        evidence = "declared as unique"
    else:
        evidence = "unique in every row"
    return KeyedTable(table.name, table.table, table.rows, key, evidence, table.declared, table.filled, table.different)


def _references(
    scratch: Scratch, table: KeyedTable, tables: Mapping[str, KeyedTable]
) -> tuple[list[ForeignKey], list[BrokenKey]]:
    """The columns of a table that refer to others, and those that are called so but have other values."""
    found: list[ForeignKey] = list(_declared(table, tables))
    declared = {reference.column for reference in found}
    possible = [pair for pair in _possible(table, tables) if pair.column not in declared]
    texts = [  # in one statement: the number of values per pair that the key lacks
        scratch.text(
            "keys/missing",
            number=number,
            column=[pair.column],
            source=table.table.relation,
            key=[pair.key],
            target=tables[pair.target].table.relation,
        )
        for number, pair in enumerate(possible)
    ]
    counts = scratch.rows_as(queries.union_all(texts), "keys/missing") if texts else []
    missing = {possible[int(number)]: int(n) for number, n in counts}
    found += _most_certain([pair for pair in possible if not missing[pair]])
    settled = {reference.column for reference in found}
    broken = [
        BrokenKey(pair.table, pair.column, pair.target, pair.key, missing[pair])
        for pair in possible
        if missing[pair] and pair.certainty == SAME and pair.column not in settled
    ]
    order = {column.name: number for number, column in enumerate(table.table.columns)}
    return sorted(found, key=lambda reference: order[reference.column]), broken


def _declared(table: KeyedTable, tables: Mapping[str, KeyedTable]) -> Iterator[ForeignKey]:
    """The declared references to the keys of tables."""
    by_relation = {other.table.relation: other for other in tables.values()}
    for column, targets in table.declared.references.items():
        for relation, key in targets:
            target = by_relation.get(relation)
            if target and target.key == key:
                yield ForeignKey(table.name, column, target.name, key, DECLARED)
                break


def _possible(table: KeyedTable, tables: Mapping[str, KeyedTable]) -> Iterator[ForeignKey]:
    """The pairs of a column and the key of a table that can be a reference by their names, kinds and counts."""
    for column in table.filled:
        different = table.different[column]
        if not different:
            continue
        for target in tables.values():
            if target.key is None or (target is table and target.key == column):
                continue
            kind = key_kind(_column(table, column))
            if kind != key_kind(_column(target, target.key)):
                continue
            certainty = likeness(column, target.name, target.key)
            if certainty == OTHER:
                # Values alone are evidence if they are many texts: numbers are in many keys by chance.
                if kind == "integer" or not _FEWEST_BY_VALUES <= different <= target.rows or target is table:
                    continue
                certainty = BY_VALUES
            yield ForeignKey(table.name, column, target.name, target.key, certainty)


def _column(table: KeyedTable, name: str) -> Column:
    column = table.table.column(name)
    assert column is not None
    return column


def _most_certain(pairs: Sequence[ForeignKey]) -> Iterator[ForeignKey]:
    """One reference per column: the most certain one, and none if several are equally certain by values only."""
    by_column: dict[str, list[ForeignKey]] = {}
    for pair in pairs:
        by_column.setdefault(pair.column, []).append(pair)
    for candidates in by_column.values():
        most = max(pair.certainty for pair in candidates)
        best = [pair for pair in candidates if pair.certainty == most]
        if len(best) == 1 or most > BY_VALUES:
            yield best[0]
