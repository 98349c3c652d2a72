"""A source and its release as coded rows, with the associations and count queries of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.generalization.values import Label
from kanon_sql.queries import Hole, Relation
from kanon_sql.utility.attribute import Floats, SharedColumn
from kanon_sql.utility.coded_rows import CodedRows, Subset
from kanon_sql.utility.counts import Query, QueryErrors, errors
from kanon_sql.utility.pairs import Association, Pairs, association

_FEW_TUPLES = 300_000  # possible ones of a larger set; the fastest of four limits, see docs/speed.md


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
class Sides:
    """The coded rows of two tables with the same columns."""

    attributes: Sequence[SharedColumn]
    source: CodedRows
    release: CodedRows

    def associations(self, pairs: Sequence[Subset]) -> list[Association]:
        """The associations of pairs of columns in both tables."""
        found = {}
        for (i, j), *sides in self._counted(pairs):
            of_source, of_release = (side.counted((i, j)) for side in sides)
            found[i, j] = association(self.attributes[i], self.attributes[j], _pairs(of_source), _pairs(of_release))
        return [found[i, j] for i, j in pairs]

    def counts(self, drawn_queries: Sequence[Query], rows: int) -> QueryErrors:
        """The errors of count queries on the release; `rows`: of the source."""
        exact, estimated = np.zeros(len(drawn_queries)), np.zeros(len(drawn_queries))
        numbers: dict[Subset, list[int]] = {}
        for number, query in enumerate(drawn_queries):
            numbers.setdefault(query.subset, []).append(number)
        for subset, source, release in self._counted(numbers):
            asked = [drawn_queries[number] for number in numbers[subset]]
            weights = [
                self._weights(column, [query.groups[place] for query in asked]) for place, column in enumerate(subset)
            ]
            exact[numbers[subset]] = source.expected(subset, weights)
            estimated[numbers[subset]] = release.expected(subset, weights)
        return errors(rows, exact, estimated)

    def _weights(self, column: int, groups: Sequence[Sequence[int]]) -> Floats:
        """The probability that a cell is in some groups of values, by query and code."""
        return np.stack([self.attributes[column].weights[:, list(of_query)].sum(axis=1) for of_query in groups])

    def _counted(self, subsets: Iterable[Subset]) -> Iterator[tuple[Subset, CodedRows, CodedRows]]:
        """Some sets of columns with the rows of both tables, counted by few larger sets of columns."""
        of = supersets([*subsets], self.source.sizes)
        for superset in dict.fromkeys(of.values()):
            source, release = self.source, self.release
            if prod(source.sizes[column] for column in superset) <= _FEW_TUPLES:
                source, release = source.counted(superset), release.counted(superset)
            yield from ((subset, source, release) for subset in of if of[subset] == superset)


def _pairs(counted: CodedRows) -> Pairs:
    """The pairs of codes of two columns, with their rows."""
    assert counted.rows is not None
    first, second = counted.codes.values()
    return first.astype(np.int64), second.astype(np.int64), counted.rows.astype(float)


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
