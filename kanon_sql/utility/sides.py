"""The source and its release as coded tuples in one engine, which all queries use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.generalization.values import Label
from kanon_sql.queries import Coded, Hole, Relation
from kanon_sql.utility.attribute import Int64s, SharedColumn
from kanon_sql.utility.counts import Query, QueryErrors, errors
from kanon_sql.utility.pairs import Association, Pairs, association

_NOTHING = "nothing"
_PLACES = ("first", "second", "third")
_FEW_TUPLES = 100_000
Subset = tuple[int, ...]  # of the attributes, by number
Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Side:
    """One of two compared tables, in an embedded engine. `cells`: its columns, by the number of the attribute."""

    engine: Engine
    table: Relation
    cells: Sequence[str]

    @property
    def rows(self) -> int:
        """The number of its rows."""
        ((rows,),) = self._rows("frequency_sets/row_count", relation=self.table)
        return int(rows)

    def counted(self, number: int) -> list[tuple[Label, int]]:
        """The distinct cells of a column as text, sorted, NULL last, with their numbers of rows."""
        rows = self._rows("utility/cells", table=self.table, cell=[self.cells[number]])
        return sorted(((cell, int(n)) for cell, n in rows), key=lambda counted: (counted[0] is None, counted[0] or ""))

    def _rows(self, query: str, **holes: Hole) -> list[tuple[Any, ...]]:
        return self.engine.rows(queries.text(query, self.engine.dialect, **holes))


@dataclass(frozen=True)
class Combined:
    """The combinations of codes in both tables: subset (a number), first, second, third, n."""

    subsets: Sequence[Subset]
    source: Relation
    release: Relation


@dataclass(frozen=True)
class Sides:
    """The coded tuples of two tables: a column of codes per attribute, `nothing`, and n."""

    tables: Scratch
    attributes: Sequence[SharedColumn]
    source: Relation
    release: Relation

    def combined(self, subsets: Sequence[Subset]) -> Combined:
        """Count the combinations of codes of some sets of up to three columns in both tables."""
        subsets = subsets or [()]  # of no column, so that a count is possible
        both = (self.source, self.release)
        return Combined(subsets, *(self._combined(f"combined_{coded.name}", subsets, coded) for coded in both))

    def _combined(self, stem: str, subsets: Sequence[Subset], coded: Relation) -> Relation:
        counted_in = supersets(subsets, [len(attribute.weights) for attribute in self.attributes])
        times = Counter(counted_in.values())
        shared = {superset: f"counted_{number}" for number, superset in enumerate(times) if times[superset] > 1}
        counted = {name: self._counted(superset, coded) for superset, name in shared.items()}
        texts = []
        for number, subset in enumerate(subsets):
            names = [column_of(number) for number in subset] + [_NOTHING] * (len(_PLACES) - len(subset))
            holes = {place: [name] for place, name in zip(_PLACES, names, strict=True)}
            name = shared.get(counted_in[subset])
            relation = Relation(name) if name else coded
            texts.append(self.tables.text("utility/combined", coded=relation, subset=number, **holes))
        return self.tables.create_as(stem, queries.union_all(texts, counted), "utility/combined")

    def _counted(self, columns: Subset, coded: Relation) -> str:
        codes = [column_of(number) for number in columns]
        return self.tables.text("utility/codes_of_columns", coded=coded, codes=codes)

    def associations(self, pairs: int, combined: Combined) -> list[Association]:
        """The associations of the first subsets, which are this many pairs of columns, in both tables."""
        of_source, of_release = (self._pairs(pairs, counted) for counted in (combined.source, combined.release))
        return [
            association(self.attributes[i], self.attributes[j], source, release)
            for (i, j), source, release in zip(combined.subsets[:pairs], of_source, of_release, strict=True)
        ]

    def _pairs(self, pairs: int, combined: Relation) -> list[Pairs]:
        """The pairs of codes of the first subsets, with their rows."""
        if not pairs:
            return []
        frame = self.tables.engine.frame(self.tables.create("pairs", "utility/pairs", combined=combined, pairs=pairs))
        columns = [frame[name].to_numpy(np.int64) for name in ("subset", "first", "second", "n")]
        order = np.lexsort(columns[::-1])
        subset, first, second, n = (column[order] for column in columns)
        parts = [slice(*ends) for ends in pairwise(np.searchsorted(subset, range(pairs + 1)))]
        return [(first[part], second[part], n[part].astype(float)) for part in parts]

    def counts(self, drawn_queries: Sequence[Query], combined: Combined, rows: int) -> QueryErrors:
        """The errors of count queries on subsets of the combined columns."""
        self._load(drawn_queries, combined.subsets)
        relations = {"predicates": self.tables["predicates"], "chances": self.tables["chances"]}
        self.tables.create("weights", "utility/weights", **relations)
        holes = {"asked": self.tables["asked"], "weights": self.tables["weights"]}
        exact, estimated = (
            {int(query): float(n) for query, n in self.tables.rows("utility/answers", combined=counted, **holes)}
            for counted in (combined.source, combined.release)
        )
        return errors(drawn_queries, rows, exact, estimated)

    def _load(self, drawn_queries: Sequence[Query], subsets: Sequence[Subset]) -> None:
        numbers = [subsets.index(query.subset) for query in drawn_queries]
        self.tables.load("asked", _integers("query", "subset"), [range(len(drawn_queries)), numbers])
        predicates = [row for number, query in enumerate(drawn_queries) for row in _predicates(number, query)]
        self.tables.load(
            "predicates", _integers("query", "place", "attribute", "part"), list(zip(*predicates, strict=True))
        )
        chances: list[list[float]] = [[-1], [0], [0], [1.0]]
        for number, attribute in enumerate(self.attributes):
            codes, parts = np.nonzero(attribute.weights)
            for column, added in zip(
                chances, ([number] * len(codes), codes, parts, attribute.weights[codes, parts]), strict=True
            ):
                column.extend(np.asarray(added).tolist())
        self.tables.load("chances", {**_integers("attribute", "code", "part"), "chance": "DOUBLE"}, chances)

    def rows(self, coded: Relation) -> tuple[list[Codes], Int64s]:
        """The distinct tuples of codes in order, as columns, and the number of rows of every tuple."""
        frame = self.tables.engine.frame(coded)
        columns = [frame[column_of(number)].to_numpy() for number in range(len(self.attributes))]
        order = np.lexsort(columns[::-1])
        return [column[order] for column in columns], frame["n"].to_numpy(np.int64)[order]


def supersets(subsets: Sequence[Subset], sizes: Sequence[int], most: int = _FEW_TUPLES) -> dict[Subset, Subset]:
    """A set of columns for every subset, whose counted tuples it can be counted from; few sets, of few tuples.

    `sizes`: the number of codes of every column. `most`: the tuples of a set with more columns than its subset.

    >>> supersets([(0, 1), (0, 2), (1, 2), (3, 4)], [2, 3, 5, 900, 900], 100)
    {(0, 1): (0, 1, 2), (0, 2): (0, 1, 2), (1, 2): (0, 1, 2), (3, 4): (3, 4)}
    """
    smallest_first = sorted(range(len(sizes)), key=lambda number: sizes[number])
    tuples_of: dict[Subset, int] = {}
    for subset in subsets:
        columns, tuples = {*subset}, prod(sizes[number] for number in subset)
        for number in smallest_first:
            if number not in columns and tuples * sizes[number] <= most:
                columns.add(number)
                tuples *= sizes[number]
        tuples_of[tuple(sorted(columns))] = tuples
    fewest_first = sorted(tuples_of, key=lambda columns: tuples_of[columns])
    return {subset: next(columns for columns in fewest_first if {*subset} <= {*columns}) for subset in subsets}


def coded(tables: Scratch, stem: str, side: Side, codes: Sequence[Mapping[Label, int]]) -> Relation:
    """The coded tuples of a table. `codes`: per attribute the codes of the cells."""
    with Scratch(side.engine, "codes") as mappings:
        mapped = [_mapped(mappings, number, code) for number, code in enumerate(codes)]
        cells = {attribute.stem: cell for attribute, cell in zip(mapped, side.cells, strict=True)}
        text = queries.coded_cells(side.table, cells, mapped, side.engine.dialect)
        return tables.receive(stem, side.engine, text, "utility/counted_codes")


def _mapped(tables: Scratch, number: int, codes: Mapping[Label, int]) -> Coded:
    rows = [(text, code) for text, code in codes.items() if text is not None]
    types = {"value": "VARCHAR", "code_0": tables.engine.integer_type(max(codes.values(), default=0))}
    mapping = tables.load(_stem(number), types, list(zip(*rows, strict=True)) or [[], []])
    nulls = {"code_0": codes[None]} if None in codes else None
    return Coded(_stem(number), mapping, 0, (), nulls)


def _stem(number: int) -> str:
    return f"a{number}"


def column_of(number: int) -> str:
    """The column of an attribute's codes."""
    return f"{_stem(number)}_0"


def _predicates(number: int, query: Query) -> list[tuple[int, int, int, int]]:
    """The predicates of a query: query, place, attribute, group of values; unused places have the attribute -1."""
    columns = [*zip(query.subset, query.groups, strict=True), *[(-1, (0,))] * (3 - len(query.subset))]
    return [
        (number, place, column, group) for place, (column, groups) in enumerate(columns, start=1) for group in groups
    ]


def _integers(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "INTEGER")
