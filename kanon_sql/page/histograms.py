"""The frequency set in memory, and the histograms of the page: which rows are safe for which k.

One query counts the classes of a node, and one more per column the rows of its labels by class size. After that, the
figures for any k are sums over numbers in memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import RLock
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column
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
MOST_LABELS = 10_000  # that are kept of a column
NO_VALUE = "no value"  # the label of NULL
MOST_CLASSES = 200_000  # that the classes of a few rows are looked up in
_MOST_TRIED = 20  # values, of which the sample is the first that level 1 changes
_FIRST_NUMBER = re.compile(r"^[^\d-]{0,2}(-?\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Bar:
    """The rows of one or several labels, by class size. `people`: those with the label, or its rows without a unit."""

    label: str
    sizes: Mapping[int, int]
    people: int = 0

    @property
    def rows(self) -> int:
        """All rows of the bar."""
        return sum(self.sizes.values())

    def at_risk(self, k: int) -> int:
        """The rows in classes of fewer than k."""
        return sum(rows for size, rows in self.sizes.items() if size < k)


@dataclass(frozen=True)
class DraftHistogram:
    """The labels of a column on a level, in order. `numeric`: whether they are numbers or dates, or ranges of these.

    `every`: a bar per label, or per stretch of neighbouring labels if there are more than `MOST_LABELS`.
    """

    column: Column
    level: int
    height: int
    every: tuple[Bar, ...]
    labels: int
    numeric: bool

    def rare(self, k: int) -> int:
        """The number of labels that fewer than k people have."""
        return sum(bar.people < k and bar.label != NO_VALUE for bar in self.every) if self.is_named else self.labels

    @property
    def is_named(self) -> bool:
        """Whether there is a bar per label."""
        return len(self.every) == self.labels

    def bars(self, k: int, interval_of: Callable[[str], str] | None = None) -> tuple[Bar, ...]:
        """The bars to draw, at most `MOST_BARS` or one per interval; no label of fewer than k people is in them.

        `interval_of`: the interval that contains a value of the source, if the column has intervals.
        """
        if self.numeric and len(self.every) > MOST_BARS:
            if interval_of is not None and self.level == 0 and self.is_named:
                return tuple(_intervals(self.every, interval_of))
            return tuple(_stretches(self.every, k))
        rare = [bar for bar in self.every if bar.people < k and bar.label != NO_VALUE]
        frequent = [bar for bar in self.every if bar.people >= k or bar.label == NO_VALUE]
        bars = _largest(frequent) if len(frequent) > MOST_BARS else frequent
        pooled = Bar(f"{len(rare):,} rare", _added(bar.sizes for bar in rare))
        return (*bars, pooled) if rare else tuple(bars)


@dataclass(frozen=True)
class NodeHistograms:
    """The histograms of a node, one per column; if people are counted, `people` by the size of their smallest class."""

    node: Node
    histograms: tuple[DraftHistogram, ...]
    classes: int
    people: Mapping[int, int] | None = None

    def at_risk(self, k: int) -> int:
        """The rows in classes of fewer than k; every column's histogram has the same number."""
        return sum(bar.at_risk(k) for bar in self.histograms[0].every)

    def people_at_risk(self, k: int) -> int:
        """The people with a row in a class of fewer than k."""
        return sum(people for size, people in (self.people or {}).items() if size < k)

    def smallest(self) -> int:
        """The size of the smallest class."""
        return min(min(bar.sizes) for bar in self.histograms[0].every)


@dataclass
class DraftCounts:
    """The distinct tuples of a draft, in a separate database, which is dropped with the last reference to it.

    `size`: the size of a class, in rows or people. `of_people`: whether people are counted.
    """

    frequency_set: FrequencySet
    size: Predicate
    of_people: bool = False
    _last: NodeHistograms | None = field(default=None, repr=False)
    _people: dict[tuple[str, int], dict[int, int]] = field(default_factory=dict, repr=False)
    _lock: RLock = field(default_factory=RLock, repr=False)

    @property
    def rows(self) -> int:
        """The rows of the source."""
        return self.frequency_set.rows

    @property
    def heights(self) -> dict[str, int]:
        """How many levels each column can rise."""
        names = [attribute.column.name for attribute in self.frequency_set.attributes]
        return dict(zip(names, self.frequency_set.heights, strict=True))

    def samples(self, k: int) -> dict[str, tuple[str, ...]]:
        """One value of every column with its label on each level; of a value that changes early, if there is one.

        Labels of fewer than k people, or rows without a unit, are empty.
        """
        with self._lock:
            attributes = [attribute for attribute in self.frequency_set.attributes if attribute.hierarchy.values]
            return {attribute.column.name: self._sample(attribute, k) for attribute in attributes}

    def _sample(self, attribute: Attribute, k: int) -> tuple[str, ...]:
        hierarchy = attribute.hierarchy
        for level in range(hierarchy.height):
            people = self._people_of(attribute, level)
            frequent = sorted(code for code, size in people.items() if size >= k)
            codes = hierarchy.codes(level)
            some = frequent[len(frequent) // 2 :][:_MOST_TRIED] + frequent[: len(frequent) // 2][-1:]
            found = (codes.index(code) for code in some)  # in C: a column can have a million values
            rows = [row for row in found if row < len(hierarchy.values) and hierarchy.values[row] is not None]
            if rows:
                return ("",) * level + sample(hierarchy, rows)[level:]
        return ("",) * hierarchy.height + (STAR,)

    def _people_of(self, attribute: Attribute, level: int) -> dict[int, int]:
        """The people, or rows without a unit, by the code of their label."""
        key_of = attribute.column.name, level
        if key_of not in self._people:
            counted = self.frequency_set
            column = attribute.coded.code_column(level)
            found = counted.tables.rows("page/classes", frequency_set=counted.relation, levels=[column], size=self.size)
            self._people[key_of] = {int(code): int(size or 0) for code, _, size in found}
        return self._people[key_of]

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
            histograms.append(_histogram(attribute, level, rows, self._people_of(attribute, level)))
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


def _histogram(
    attribute: Attribute, level: int, rows: Iterable[Sequence[Any]], people: Mapping[int, int]
) -> DraftHistogram:
    """The labels of a column with their rows, in order."""
    sizes: dict[int, dict[int, int]] = {}
    for code, size, n in rows:
        sizes.setdefault(int(code), {})[int(size)] = int(n)
    labels = attribute.hierarchy.distinct_labels(level)
    bars = [Bar(_label(labels[code]), sizes[code], people.get(code, 0)) for code in sorted(sizes)]
    order = by_number([bar.label for bar in bars])  # others than numbers come last
    every = [bars[place] for place in order] if order else bars
    numeric = bool(order) or attribute.column.kind not in ("text", "boolean", "other")
    if len(every) > MOST_LABELS:
        every = [Bar("", _added(bar.sizes for bar in part)) for part in _parts(every, MOST_LABELS // 10)]
    return DraftHistogram(attribute.column, level, attribute.hierarchy.height, tuple(every), len(bars), numeric)


def by_number(labels: Sequence[str]) -> list[int]:
    """The places of labels in the order of the numbers that they begin with; empty if nearly all begin with none.

    >>> by_number(["[100, 200)", "*", "[20, 30)"]), by_number(["Bern", "3007 Bern"])
    ([2, 0, 1], [])
    """
    numbers = [_FIRST_NUMBER.match(label) for label in labels]
    others = sum(
        number is None and label not in (NO_VALUE, STAR) for label, number in zip(labels, numbers, strict=True)
    )
    if not any(numbers) or others > max(len(labels) // 10, 1 if len(labels) > 2 else 0):
        return []
    keys = [(number is None, float(number[1]) if number else 0.0) for number in numbers]
    return sorted(range(len(labels)), key=lambda place: keys[place])


def sample(hierarchy: Hierarchy, rows: Sequence[int]) -> tuple[str, ...]:
    """A value and its labels, level by level: of the first of these rows that changes early, if there is one."""
    levels = [hierarchy.labels(level) for level in range(hierarchy.height + 1)]
    for row in (*rows[:_MOST_TRIED], rows[0]):  # the first one if none of them changes on level 1
        if levels[0][row] is not None and as_text(levels[0][row]) != levels[1][row]:
            break
    return tuple(_label(level[row]) for level in levels)


def _label(value: Any) -> str:
    return NO_VALUE if value is None else as_text(value)


def _largest(bars: Sequence[Bar]) -> list[Bar]:
    """The labels with most rows, and one bar for the rest."""
    by_rows = sorted(range(len(bars)), key=lambda place: -bars[place].rows)
    first = sorted(by_rows[: MOST_BARS - 1])
    rest = by_rows[MOST_BARS - 1 :]
    return [
        *(bars[place] for place in first),
        Bar(f"{len(rest):,} others", _added(bars[place].sizes for place in rest)),
    ]


def _intervals(bars: Sequence[Bar], interval_of: Callable[[str], str]) -> Iterator[Bar]:
    """The values by the interval that contains them; values in no interval are together."""
    inside: dict[str, list[Mapping[int, int]]] = {}
    for bar in bars:
        inside.setdefault(NO_VALUE if bar.label == NO_VALUE else interval_of(bar.label), []).append(bar.sizes)
    for last in (NO_VALUE, ""):
        if last in inside:
            inside[last] = inside.pop(last)
    for text, sizes in inside.items():
        yield Bar(text or "others", _added(sizes))


def _stretches(bars: Sequence[Bar], k: int) -> Iterator[Bar]:
    """Neighbouring labels in `MOST_BARS` stretches, from the first to the last label that k people have."""
    for part in _parts(bars, MOST_BARS):
        frequent = [bar.label for bar in part if bar.people >= k]
        first, last = (frequent[0], frequent[-1]) if frequent else ("rare", "rare")
        yield Bar(first if first == last else f"{first} to {last}", _added(bar.sizes for bar in part))


def _parts(bars: Sequence[Bar], number: int) -> Iterator[Sequence[Bar]]:
    cuts = [len(bars) * place // number for place in range(number + 1)]
    return (bars[first:last] for first, last in pairwise(cuts))


def _added(every: Iterable[Mapping[int, int]]) -> dict[int, int]:
    added: Counter[int] = Counter()
    for sizes in every:
        added.update(sizes)
    return dict(added)
