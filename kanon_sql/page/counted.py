"""The frequency set in memory, and what the page asks of it while a slider moves: who is safe at which k.

The classes of a node are counted by one query, and the rows of each column's labels by the size of their class by one
more. After that any k is a sum over numbers that are here already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.generalization.lattice import Node
from kanon_sql.generalization.values import as_text
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.preflight import preflight
from kanon_sql.plan.problem import count
from kanon_sql.plan.source import Source
from kanon_sql.privacy import Predicate
from kanon_sql.spec import Spec

MOST_BARS = 40  # of a histogram


@dataclass(frozen=True)
class Bar:
    """The rows of a label, or of several, by the size of their class."""

    label: str
    sizes: Mapping[int, int]

    @property
    def rows(self) -> int:
        """All of them."""
        return sum(self.sizes.values())

    def at_risk(self, k: int) -> int:
        """Those in classes of fewer than k."""
        return sum(rows for size, rows in self.sizes.items() if size < k)


@dataclass(frozen=True)
class Histogram:
    """The labels that a column has on a level, in their order: `labels` of them, from the first to the last.

    Of many there is a bar per stretch of neighbours, or for text one for each that holds many rows, and one for the
    others.
    """

    column: str
    level: int
    height: int
    bars: tuple[Bar, ...]
    labels: int
    first: str
    last: str


@dataclass(frozen=True)
class Shown:
    """What the page shows of a node: a histogram per column."""

    node: Node
    histograms: tuple[Histogram, ...]
    classes: int

    def at_risk(self, k: int) -> int:
        """The rows in classes of fewer than k, which are the same whichever column they are told by."""
        return sum(bar.at_risk(k) for bar in self.histograms[0].bars)

    def smallest(self) -> int:
        """The size of the smallest class."""
        return min(min(bar.sizes) for bar in self.histograms[0].bars)


@dataclass
class Counted:
    """The distinct tuples of a draft, in a database of their own, which goes when nobody knows it any more.

    `size`: what makes the size of a class, its rows or its people.
    """

    frequency_set: FrequencySet
    size: Predicate
    _last: Shown | None = field(default=None, repr=False)
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

    def shown(self, levels: Mapping[str, int]) -> Shown:
        """The histograms of a node; levels that are not said are 0, and too high ones the top."""
        heights = self.heights
        node = tuple(max(0, min(levels.get(name, 0), height)) for name, height in heights.items())
        with self._lock:  # several windows may ask, and one connection answers
            if self._last is None or self._last.node != node:
                self._last = self._asked(node)
            return self._last

    def _asked(self, node: Node) -> Shown:
        counted, tables = self.frequency_set, self.frequency_set.tables
        pairs = list(zip(counted.attributes, node, strict=True))
        columns = [attribute.coded.code_column(level) for attribute, level in pairs]
        classes = tables.create(
            "page_classes", "page/classes", frequency_set=counted.relation, levels=columns, size=self.size
        )
        made = []
        for (attribute, level), column in zip(pairs, columns, strict=True):
            rows = tables.rows("page/label_sizes", classes=classes, label=[column])
            made.append(_histogram(attribute, level, rows))
        return Shown(node, tuple(made), tables.count(classes))


def counted(source: Source, spec: Spec, observer: Observer) -> Counted:
    """Count the distinct tuples of an open source, in a database of their own: the source may be closed then."""
    beside = embedded(spec.session.limits)
    try:
        with source.scratches:
            problem = count(preflight(spec, source), observer)
            made = problem.frequency_set
            made.engine.send(queries.select_all(made.relation, made.engine.dialect), beside, made.relation)
    except BaseException:
        beside.close()
        raise
    return Counted(replace(made, tables=Scratch(beside, "page")), problem.judge.model.size)


def _histogram(attribute: Attribute, level: int, rows: Iterable[Sequence[Any]]) -> Histogram:
    """The bars of a column: one per label, or of many labels one per stretch of their order, or the largest alone."""
    sizes: dict[int, dict[int, int]] = {}
    for code, size, n in rows:
        sizes.setdefault(int(code), {})[int(size)] = int(n)
    labels = attribute.hierarchy.distinct_labels(level)
    named = [(_label(labels[code]), sizes[code]) for code in sorted(sizes)]
    if len(named) <= MOST_BARS:
        bars = [Bar(label, rows) for label, rows in named]
    elif attribute.column.kind in ("text", "boolean", "other"):
        bars = _largest(named)
    else:
        bars = _stretches(named)
    return Histogram(
        attribute.column.name, level, attribute.hierarchy.height, tuple(bars), len(named), named[0][0], named[-1][0]
    )


def _label(value: Any) -> str:
    return "NULL" if value is None else as_text(value)


def _largest(named: Sequence[tuple[str, dict[int, int]]]) -> list[Bar]:
    """The labels of most rows, and the others as one bar."""
    by_rows = sorted(range(len(named)), key=lambda place: -sum(named[place][1].values()))
    first, rest = sorted(by_rows[: MOST_BARS - 1]), by_rows[MOST_BARS - 1 :]
    others = Bar(f"{len(rest):,} others", _added(named[place][1] for place in rest))
    return [*(Bar(*named[place]) for place in first), others]


def _stretches(named: Sequence[tuple[str, dict[int, int]]]) -> list[Bar]:
    """As many stretches of neighbouring labels as there is room for."""
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
