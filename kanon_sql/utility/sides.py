"""The source and its release as coded tuples in one engine, which all queries use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.generalization.values import Label
from kanon_sql.queries import Coded, Relation
from kanon_sql.utility.attribute import Integers, SharedColumn
from kanon_sql.utility.counts import Counts, Query, drawn, errors
from kanon_sql.utility.pairs import Association, Pairs, association

_NOTHING = "nothing"


@dataclass(frozen=True)
class Sides:
    """The coded tuples of two tables: a column of codes per attribute, `nothing`, and n."""

    tables: Scratch
    attributes: Sequence[SharedColumn]
    source: Relation
    release: Relation

    def associations(self, columns: Sequence[int]) -> list[Association]:
        """The associations of all pairs of some columns in both tables."""
        numbers = list(combinations(columns, 2))
        of_source, of_release = (self._pairs(numbers, coded) for coded in (self.source, self.release))
        return [
            association(self.attributes[i], self.attributes[j], source, release)
            for (i, j), source, release in zip(numbers, of_source, of_release, strict=True)
        ]

    def _pairs(self, numbers: Sequence[tuple[int, ...]], coded: Relation) -> list[Pairs]:
        """The pairs of codes of all pairs of columns, with their rows."""
        if not numbers:
            return []
        frame = self.tables.engine.frame(self._combined("pairs", numbers, coded))
        columns = [frame[name].to_numpy(np.int64) for name in ("subset", "first", "second", "n")]
        order = np.lexsort(columns[::-1])
        subset, first, second, n = (column[order] for column in columns)
        parts = [slice(*ends) for ends in pairwise(np.searchsorted(subset, range(len(numbers) + 1)))]
        return [(first[part], second[part], n[part].astype(float)) for part in parts]

    def _combined(self, stem: str, subsets: Sequence[tuple[int, ...]], coded: Relation) -> Relation:
        """The combinations of codes of some columns, with their rows, by the number of the subset."""
        places = ("first", "second", "third")
        texts = []
        for number, subset in enumerate(subsets):
            names = [column_of(number) for number in subset] + [_NOTHING] * (len(places) - len(subset))
            holes = {place: [name] for place, name in zip(places, names, strict=True)}
            texts.append(self.tables.text("utility/combined", coded=coded, subset=number, **holes))
        return self.tables.create_as(stem, queries.union_all(texts), "utility/combined")

    def counts(self, many: int, seed: int, rows: int) -> Counts | None:
        """The errors of a number of count queries; None without a column to query."""
        drawn_queries = drawn(self.attributes, many, seed)
        if not drawn_queries:
            return None
        subsets = sorted({query.subset for query in drawn_queries})
        self._load(drawn_queries, subsets)
        relations = {"predicates": self.tables["predicates"], "chances": self.tables["chances"]}
        self.tables.create("weights", "utility/weights", **relations)
        exact, estimated = (self._answers(subsets, coded) for coded in (self.source, self.release))
        return errors(drawn_queries, rows, exact, estimated)

    def _load(self, drawn_queries: Sequence[Query], subsets: Sequence[tuple[int, ...]]) -> None:
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

    def _answers(self, subsets: Sequence[tuple[int, ...]], coded: Relation) -> Mapping[int, float]:
        holes = {"asked": self.tables["asked"], "weights": self.tables["weights"]}
        combined = self._combined("combined", subsets, coded)
        return {int(query): float(n) for query, n in self.tables.rows("utility/answers", combined=combined, **holes)}

    def rows(self, coded: Relation) -> tuple[Integers, Integers]:
        """The distinct tuples of codes, in order, and the number of rows of every tuple."""
        names = [column_of(number) for number in range(len(self.attributes))]
        frame = self.tables.engine.frame(coded)
        tuples = np.column_stack([frame[name].to_numpy(np.int64) for name in names])
        distinct, whose = np.unique(tuples, axis=0, return_inverse=True)
        rows = np.bincount(whose.ravel(), frame["n"].to_numpy(np.int64), len(distinct))
        return distinct, rows.astype(np.int64)


def coded(
    tables: Scratch, stem: str, copied: Relation, cells: Sequence[str], codes: Sequence[Mapping[Label, int]]
) -> Relation:
    """The coded tuples of a copy. `cells`: its columns; `codes`: per column the codes of the cells."""
    tuples = tables.create(
        f"{stem}_tuples",
        "utility/tuples",
        copied=copied,
        cells=dict(zip(map(_stem, range(len(cells))), cells, strict=True)),
    )
    mapped = [_mapped(tables, f"{stem}_{number}", number, code) for number, code in enumerate(codes)]
    text = queries.frequency_set(tuples, mapped, tables.engine.dialect, [_NOTHING])
    return tables.create_as(f"{stem}_coded", text)


def _mapped(tables: Scratch, stem: str, number: int, codes: Mapping[Label, int]) -> Coded:
    rows = [(text, code) for text, code in codes.items() if text is not None]
    mapping = tables.load(stem, {"value": "VARCHAR", "code_0": "INTEGER"}, list(zip(*rows, strict=True)) or [[], []])
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
