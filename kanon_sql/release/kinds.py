"""Kinds of classes: a relation is grouped once, and classes with the same rows per value are evaluated once.

Where nearly all rows differ, nearly all classes have one row, and there are only as many kinds as sensitive values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.privacy import PEOPLE, UNIT, PeopleByClass, Predicate
from kanon_sql.queries import CodedColumn, Relation, Same

CLASS = "_class"  # the number of a cell's class, where its quasi-identifiers are not needed


@dataclass(frozen=True)
class Cells:
    """The rows of a relation by their quasi-identifiers, sensitive values and unit: these columns, and n.

    `names`: the quasi-identifiers, `columns`: the others, by our names for them. `codes`: if the columns contain codes,
    the values by column, as a relation in the engine where they were coded. `classes`: the rows by `names` alone, if
    counted; with other columns also `_cells`, the number of cells of each class.
    """

    tables: Scratch
    relation: Relation
    names: Sequence[str]
    columns: Sequence[str]
    codes: Mapping[str, Relation] = field(default_factory=dict)
    classes: Relation | None = None


@dataclass(frozen=True)
class KindsOfColumn:
    """The kinds by the values of one column, the cells that they consist of, and the numbered classes of several."""

    kinds: Relation
    cells: Relation
    several: Relation


def cells_of(
    tables: Scratch,
    relation: Relation,
    quasi_identifiers: Sequence[str],
    columns: Mapping[str, str],
    here: Scratch,
    once: bool,
) -> Cells:
    """Count the cells of a relation, as codes; on a server, they are fetched into `here`, embedded.

    They are not coded on an engine without temporary tables, which would code them again for every query, nor if the
    relation must be read only `once`.
    """
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    if tables.engine.is_embedded and not once:
        ((rows,),) = tables.rows("kinds/rows", relation=relation)
        return coded(tables, relation, plain, columns, here, int(rows))
    if not tables.engine.is_embedded and tables.engine.has_temporary_tables:
        texts = {column.name for column in tables.engine.table(relation).columns if column.kind == "text"}
        names = sorted(plain.values(), key=texts.__contains__)  # texts last, because they take longest to compare
        holes: dict[str, Any] = {"names": names, "columns": columns, "relation": relation}
        numbered = tables.create("tuples", "kinds/numbered_cells", **holes)
        return _fetched(tables, numbered, columns, here)
    counted = tables.create("cells", "kinds/cells", columns={**plain, **columns}, relation=relation)
    return Cells(tables, counted, list(plain), list(columns))


def coded(
    tables: Scratch,
    relation: Relation,
    names: Mapping[str, str],
    columns: Mapping[str, str],
    here: Scratch,
    rows: int,
    values: Mapping[str, Relation] = MappingProxyType({}),
    in_order: bool = False,
) -> Cells:
    """The cells of a relation as integer codes; equal values have equal codes. NULL is 0, but no code of a person.

    `names`, `columns`: of the relation, by our names for them. `rows`: of the relation; SourceError if it has other
    ones now. `values`: the tables of `profile/numbered_values` that exist, by column. `in_order`: whether the codes of
    `names` are in the order of the values, so that every run measures the same rows of people.
    """
    every = {**names, **columns}
    codes = {name: values.get(column) or _codes(tables, name, column, relation) for name, column in every.items()}
    if in_order:
        codes |= {name: tables.create(f"order_{name}", "profile/ordered_values", values=codes[name]) for name in names}
    query = queries.coded_tuples(relation, every, _coded_columns(codes), tables.engine.dialect)
    cells = here.receive("cells", tables.engine, query, "kinds/cells")
    return _complete(here, cells, list(names), columns, codes, rows)


def _fetched(tables: Scratch, tuples: Relation, columns: Mapping[str, str], here: Scratch) -> Cells:
    """Counted tuples of numbered classes and some columns, as codes in the engine of `here`."""
    codes = {name: _codes(tables, name, name, tuples) for name in columns}
    query = queries.frequency_set(tuples, _coded_columns(codes), tables.engine.dialect, [CLASS])
    cells = here.receive("cells", tables.engine, query)
    ((rows,),) = tables.rows("frequency_sets/total_rows", counted=tuples)
    tables.drop(tuples)
    return _complete(here, cells, [CLASS], columns, codes, rows)


def _codes(tables: Scratch, name: str, column: str, relation: Relation) -> Relation:
    return tables.create(f"map_{name}", "profile/numbered_values", column=[column], source=relation)


def _coded_columns(codes: Mapping[str, Relation]) -> list[CodedColumn]:
    return [CodedColumn(name, values, 0, (), {"code_0": None if name == UNIT else 0}) for name, values in codes.items()]


def _complete(
    here: Scratch,
    cells: Relation,
    names: Sequence[str],
    columns: Mapping[str, str],
    codes: Mapping[str, Relation],
    rows: int,
) -> Cells:
    """Coded cells, if every row and every code is among them."""
    own = [name for name in (*names, *columns) if name != UNIT]
    ((number, counted, *with_code),) = here.rows("kinds/complete", coded=cells, columns=own)
    if counted != rows or any(n != number for n in with_code):
        raise SourceError(
            f"the source has {rows:,} rows and its frequency set {counted:,}; it changed while it was read, run again"
        )
    if not columns:
        return Cells(here, cells, names, [], classes=cells)
    if UNIT in columns:  # classes are counted by people
        return Cells(here, cells, names, list(columns), codes)
    classes = here.create("classes", "kinds/counted_classes", names=names, cells=cells)
    return Cells(here, cells, names, list(columns), codes, classes)


class Kinds:
    """The kinds of the classes of a relation: by size, and by the values of one sensitive column after another.

    A kind is one row per value: `_kind`, the value, `n` (the rows with it, or the people), `_rows`, `_size` (`n` of all
    values of the class), `_people` (of the class, with a unit), and `_weight`, the number of classes of this kind.
    """

    def __init__(self, tables: Scratch, cells: Cells) -> None:
        self.tables, self._cells, self._names = tables, cells, list(cells.names)
        self._of_people = UNIT in cells.columns

    def sizes(self) -> tuple[list[tuple[int, int, int]], PeopleByClass | None]:
        """The size of classes in people, or rows; their rows each; and the number of these classes.

        With a unit, also the people by the size of their smallest class.
        """
        if not self._of_people:
            return self._sizes("kinds/class_sizes", self._cells.classes or self._grain("classes")), None
        tables, names, pairs = self.tables, self._names, self._grain("pairs", UNIT)
        classes = tables.create("classes", "kinds/people_of_classes", names=names, pairs=pairs)
        sizes = self._sizes("kinds/class_sizes_of_people", classes)
        holes: dict[str, Any] = {"names": names, "pairs": pairs, "classes": classes}
        people = tables.rows("kinds/people_by_class", **holes, same=Same(names, "pairs", "larger"))
        tables.drop(*(table for table in (pairs, classes) if table != self._cells.relation))
        return sizes, PeopleByClass(tuple((int(size), int(number)) for size, number in people))

    def of(self, value: str) -> KindsOfColumn:
        """The kinds by the values of a sensitive column."""
        tables, grain = self.tables, self._grain("grain", value)
        holes: dict[str, Any] = {"names": self._names, "value": [value]}
        valued = tables.create("valued", "kinds/people_of_values", cells=grain, **holes) if self._of_people else grain
        if valued is self._cells.relation and self._cells.classes:
            several = tables.create("several", "kinds/several_cells", classes=self._cells.classes, names=self._names)
        else:
            several = tables.create("several", "kinds/several", valued=valued, names=self._names)
        joined: dict[str, Any] = {"valued": valued, "several": several, "same": Same(self._names, "valued", "several")}
        if self._of_people:
            same = Same(self._names, "cells", "several")
            joined["people"] = tables.create(
                "people", "kinds/people_of_several", cells=grain, several=several, same=same
            )
        kinds = tables.create("kinds", f"kinds/of_{'people' if self._of_people else 'rows'}", value=[value], **joined)
        if valued is not grain:
            tables.drop(valued)
        return KindsOfColumn(kinds, grain, several)

    def homogeneous(self, column: KindsOfColumn) -> tuple[int, int, int]:
        """The classes with a single value, their rows, and the rows of all classes with their most frequent value."""
        members = Predicate("MAX(_people)" if self._of_people else "SUM(n)")
        ((classes, rows, frequent),) = self.tables.rows("kinds/homogeneous", kinds=column.kinds, members=members)
        return int(classes), int(rows), int(frequent)

    def homogeneous_classes(self, value: str) -> tuple[int, int, int]:
        """The same figures of rows, for a column without a model: from the cells, without the kinds of classes."""
        cells = self._grain("grain", value)
        ((classes, rows, frequent),) = self.tables.rows("kinds/homogeneous_classes", cells=cells, names=self._names)
        return int(classes), int(rows), int(frequent)

    def people_of_homogeneous(self, column: KindsOfColumn) -> int:
        """The people in classes with a single value."""
        same = Same(self._names, "cells", "mixed")
        holes: dict[str, Any] = {"cells": column.cells, "several": column.several, "kinds": column.kinds}
        ((people,),) = self.tables.rows("kinds/homogeneous_people", names=self._names, same=same, **holes)
        return int(people)

    def _sizes(self, query: str, classes: Relation) -> list[tuple[int, int, int]]:
        rows = self.tables.rows(query, classes=classes)
        return sorted((int(size), int(rows), int(classes)) for size, rows, classes in rows)

    def _grain(self, stem: str, *columns: str) -> Relation:
        """The rows by the quasi-identifiers, these columns, and the unit if any."""
        kept = [name for name in self._cells.columns if name in columns or name == UNIT]
        if kept == list(self._cells.columns):
            return self._cells.relation
        source, every = self._cells.relation, [*self._names, *kept]
        return self.tables.create(stem, "frequency_sets/counted_tuples", columns=every, rows=["n"], source=source)


def of_sizes(tables: Scratch, sizes: Sequence[tuple[int, int, int]], of_people: bool) -> Relation:
    """The kinds of classes by their sizes alone."""
    members = [size for size, _, _ in sizes]
    columns = {
        "_kind": list(range(len(sizes))),
        "n": members,
        "_rows": [rows for _, rows, _ in sizes],
        "_weight": [classes for _, _, classes in sizes],
        **({PEOPLE: members} if of_people else {}),
    }
    types = dict.fromkeys(columns, "BIGINT")
    return tables.load("sizes", types, list(columns.values()), "sizes", "Load the sizes of the classes.")
