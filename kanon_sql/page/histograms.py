"""The frequency set in memory, and the histograms of the page: which rows are safe for which k.

One query counts the classes of a node, and one more per column the rows of its labels by class size. After that, the
figures for any k are sums over numbers in memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.generalization.values import as_text, key
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.preflight import preflight
from kanon_sql.plan.problem import count
from kanon_sql.plan.source import Source
from kanon_sql.privacy import UNIT, Predicate
from kanon_sql.spec import Spec

MOST_BARS = 40  # of a histogram
MOST_CLASSES = 200_000  # that the classes of a few rows are looked up in
_MOST_TRIED = 200  # values, of which the sample is the first that level 1 changes
_FIRST_NUMBER = re.compile(r"^[^\d-]{0,2}(-?\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Bar:
    """The rows of one or several labels, by class size."""

    label: str
    sizes: Mapping[int, int]

    @property
    def rows(self) -> int:
        """All rows of the bar."""
        return sum(self.sizes.values())

    def at_risk(self, k: int) -> int:
        """The rows in classes of fewer than k."""
        return sum(rows for size, rows in self.sizes.items() if size < k)


@dataclass(frozen=True)
class DraftHistogram:
    """The labels of a column on a level, in order: `labels` of them, from the first to the last.

    A column with many labels has a bar per stretch of neighbouring labels; a text column has a bar for each of the
    largest labels, and one for the rest.
    """

    column: str
    level: int
    height: int
    bars: tuple[Bar, ...]
    labels: int
    first: str
    last: str


@dataclass(frozen=True)
class NodeHistograms:
    """The histograms of a node, one per column; if people are counted, `people` by the size of their smallest class."""

    node: Node
    histograms: tuple[DraftHistogram, ...]
    classes: int
    people: Mapping[int, int] | None = None

    def at_risk(self, k: int) -> int:
        """The rows in classes of fewer than k; every column's histogram has the same number."""
        return sum(bar.at_risk(k) for bar in self.histograms[0].bars)

    def people_at_risk(self, k: int) -> int:
        """The people with a row in a class of fewer than k."""
        return sum(people for size, people in (self.people or {}).items() if size < k)

    def smallest(self) -> int:
        """The size of the smallest class."""
        return min(min(bar.sizes) for bar in self.histograms[0].bars)


@dataclass
class DraftCounts:
    """The distinct tuples of a draft, in a separate database, which is dropped with the last reference to it.

    `size`: the size of a class, in rows or people. `of_people`: whether people are counted.
    """

    frequency_set: FrequencySet
    size: Predicate
    of_people: bool = False
    _last: NodeHistograms | None = field(default=None, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def rows(self) -> int:
        """The rows of the source."""
        return self.frequency_set.rows

    @property
    def heights(self) -> dict[str, int]:
        """How many levels each column can rise."""
        names = [attribute.column.name for attribute in self.frequency_set.attributes]
        return dict(zip(names, self.frequency_set.heights, strict=True))

    @cached_property
    def samples(self) -> dict[str, tuple[str, ...]]:
        """One value of every column with its label on each level; of a value that changes early, if there is one."""
        return {
            attribute.column.name: sample(attribute.hierarchy)
            for attribute in self.frequency_set.attributes
            if attribute.hierarchy.values
        }

    def shown(self, levels: Mapping[str, int]) -> NodeHistograms:
        """The histograms of a node. Missing levels are 0; a level that is too high is the top."""
        heights = self.heights
        node = tuple(max(0, min(levels.get(name, 0), height)) for name, height in heights.items())
        with self._lock:  # several windows share one connection
            if self._last is None or self._last.node != node:
                self._last = self._count(node)
            return self._last

    def class_sizes(self, levels: Mapping[str, int], rows: Sequence[Mapping[str, Any]]) -> list[int | None]:
        """The size of the class of every row at these levels; None if that is unknown. Values are keys by column."""
        seen = self.shown(levels)
        if seen.classes > MOST_CLASSES:
            return [None] * len(rows)
        attributes = self.frequency_set.attributes
        codes = []
        for attribute, level in zip(attributes, seen.node, strict=True):
            values = (*attribute.hierarchy.values, *attribute.hierarchy.starred)
            codes.append(dict(zip(map(key, values), attribute.hierarchy.codes(level), strict=True)))
        tables = self.frequency_set.tables
        with self._lock:
            if self._last is not seen:  # another window has counted another node meanwhile
                return [None] * len(rows)
            query = queries.select_all(tables["page_classes"], self.frequency_set.engine.dialect)
            sizes = {tuple(map(int, row[:-2])): int(row[-1]) for row in tables.rows_as(query)}
        names = [attribute.column.name for attribute in attributes]
        placed = [tuple(code.get(row.get(name), -1) for name, code in zip(names, codes, strict=True)) for row in rows]
        return [sizes.get(row) for row in placed]

    def _count(self, node: Node) -> NodeHistograms:
        counted, tables = self.frequency_set, self.frequency_set.tables
        pairs = list(zip(counted.attributes, node, strict=True))
        columns = [attribute.coded.code_column(level) for attribute, level in pairs]
        classes = tables.create(
            "page_classes", "page/classes", frequency_set=counted.relation, levels=columns, size=self.size
        )
        histograms = []
        for (attribute, level), column in zip(pairs, columns, strict=True):
            rows = tables.rows("page/label_sizes", classes=classes, label=[column])
            histograms.append(_histogram(attribute, level, rows))
        people = None
        if self.of_people:
            found = tables.rows("page/people_sizes", frequency_set=counted.relation, levels=columns, unit=[UNIT])
            people = {int(size): int(number) for size, number in found}
        return NodeHistograms(node, tuple(histograms), tables.count(classes), people)


def counted(source: Source, spec: Spec, observer: Observer) -> DraftCounts:
    """Count the distinct tuples of an open source into a separate database, so that the source can be closed."""
    database = embedded(spec.session.limits)
    try:
        with source.scratches:
            problem = count(preflight(spec, source), observer)
            counts = problem.frequency_set
            query = queries.select_all(counts.relation, counts.engine.dialect)
            counts.engine.send(query, database, counts.relation)
    except BaseException:
        database.close()
        raise
    model = problem.judge.model
    return DraftCounts(replace(counts, tables=Scratch(database, "page")), model.size, model.unit is not None)


def _histogram(attribute: Attribute, level: int, rows: Iterable[Sequence[Any]]) -> DraftHistogram:
    """The bars of a column: one per label, or for many labels one per stretch, or one for each of the largest."""
    sizes: dict[int, dict[int, int]] = {}
    for code, size, n in rows:
        sizes.setdefault(int(code), {})[int(size)] = int(n)
    labels = attribute.hierarchy.distinct_labels(level)
    named = _in_order([(_label(labels[code]), sizes[code]) for code in sorted(sizes)])
    if len(named) <= MOST_BARS:
        bars = [Bar(label, rows) for label, rows in named]
    elif attribute.column.kind in ("text", "boolean", "other"):
        bars = _largest(named)
    else:
        bars = _stretches(named)
    return DraftHistogram(
        attribute.column.name, level, attribute.hierarchy.height, tuple(bars), len(named), named[0][0], named[-1][0]
    )


def _in_order(named: list[tuple[str, dict[int, int]]]) -> list[tuple[str, dict[int, int]]]:
    """The labels by the number that they begin with, if all do, except NULL and *, which come last.

    >>> [label for label, _ in _in_order([("[100, 200)", {}), ("*", {}), ("[20, 30)", {})])]
    ['[20, 30)', '[100, 200)', '*']
    """
    numbers = [_FIRST_NUMBER.match(label) for label, _ in named]
    if not all(number or label in ("NULL", STAR) for (label, _), number in zip(named, numbers, strict=True)):
        return named
    keys = [(number is None, float(number[1]) if number else 0.0) for number in numbers]
    return [named[place] for place in sorted(range(len(named)), key=lambda place: keys[place])]


def sample(hierarchy: Hierarchy) -> tuple[str, ...]:
    """A value and its labels, level by level; of a value that changes early, if there is one."""
    levels = [hierarchy.labels(level) for level in range(hierarchy.height + 1)]
    middle = len(hierarchy.values) // 2
    tried = range(middle, min(len(hierarchy.values), middle + _MOST_TRIED))
    row = next(
        (row for row in tried if levels[0][row] is not None and as_text(levels[0][row]) != levels[1][row]), middle
    )
    return tuple(_label(level[row]) for level in levels)


def _label(value: Any) -> str:
    return "NULL" if value is None else as_text(value)


def _largest(named: Sequence[tuple[str, dict[int, int]]]) -> list[Bar]:
    """The labels with most rows, and one bar for the rest."""
    by_rows = sorted(range(len(named)), key=lambda place: -sum(named[place][1].values()))
    first = sorted(by_rows[: MOST_BARS - 1])
    rest = by_rows[MOST_BARS - 1 :]
    rest_bar = Bar(f"{len(rest):,} others", _added(named[place][1] for place in rest))
    return [*(Bar(*named[place]) for place in first), rest_bar]


def _stretches(named: Sequence[tuple[str, dict[int, int]]]) -> list[Bar]:
    """Neighbouring labels in `MOST_BARS` stretches."""
    cuts = [len(named) * place // MOST_BARS for place in range(MOST_BARS + 1)]
    parts = [named[first:last] for first, last in pairwise(cuts)]
    return [Bar(_from_to(part[0][0], part[-1][0]), _added(sizes for _, sizes in part)) for part in parts]


def _from_to(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _added(every: Iterable[Mapping[int, int]]) -> dict[int, int]:
    added: Counter[int] = Counter()
    for sizes in every:
        added.update(sizes)
    return dict(added)
