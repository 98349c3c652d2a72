"""One column of a source and of its release: values, labels, and the values that labels cover.

All measures share one assumption: the original value of a released cell is any of the source's distinct values that its
label covers, with equal probability and independently of the row's other cells (the uniform spread of K. LeFevre, D.
DeWitt, R. Ramakrishnan, "Mondrian", ICDE 2006, and of X. Xiao, Y. Tao, "Anatomy", VLDB 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from kanon_sql.attack.label_readings import covered
from kanon_sql.engine import Column
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label, Value, key, ordered, read_or_text

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]
CountedLabels = Sequence[tuple[Label, int]]
HierarchyOfValues = Callable[[Sequence[Value]], Hierarchy | None]
MOST_GROUPS = 100  # of a column's values, except in its marginal


@dataclass(frozen=True)
class ColumnDisplay:
    """The contents of a column: its `kind`, its values as text and as numbers (NaN for none), and the released labels.

    `rows`: the rows per label. `labels`, `places`: pairs of a label and a value that it covers.
    """

    kind: str
    values: Sequence[Label]
    numbers: Floats
    released: Sequence[Label]
    rows: Floats
    labels: Int64s
    places: Int64s

    @property
    def counts(self) -> Int64s:
        """The number of values that every label covers."""
        return np.bincount(self.labels, minlength=len(self.released))


@dataclass(frozen=True)
class SharedColumn:
    """A column of both tables.

    Per distinct value of the source, in order, NULL last: `rows` in the source, `released` rows by the uniform spread,
    and `nearby`, the released rows of values that the source lacks, at the nearest value that it has. `lost`: released
    rows without a nearby value. `generalized`: the share of released cells that cover more than one value.

    `groups`: the group of every value; up to 100 values are separate groups, more ordered values form groups with about
    equally many rows, and of more other values the rarest form one group. `numbers`: the mean of every group, NaN
    without numbers. `weights`: per code and group the probability that a cell of this code is in it; the first codes
    are the groups. `source_codes`, `released_codes`: the codes of cells by their text. `shown`: its values and labels.
    """

    name: str
    ordered: bool
    rows: Floats
    released: Floats
    nearby: Floats
    lost: float
    generalized: float
    nullable: bool
    groups: Int64s
    numbers: Floats
    weights: Floats
    source_codes: Mapping[Label, int]
    released_codes: Mapping[Label, int]
    shown: ColumnDisplay
    unread: int = 0

    @property
    def is_number(self) -> bool:
        """Whether its groups are numbers: of an ordered column with any numbers."""
        return self.ordered and bool(np.isfinite(self.numbers).any())

    @property
    def group_rows(self) -> Floats:
        """The source's rows per group."""
        return np.bincount(self.groups, self.rows, len(self.numbers)).astype(float)

    @property
    def null_group(self) -> int | None:
        """The group of NULL, if any; always the last."""
        return len(self.numbers) - 1 if self.nullable else None


def attribute(
    column: Column,
    source: CountedLabels,
    release: CountedLabels,
    hierarchy: HierarchyOfValues = lambda _: None,
    as_any: bool = True,
) -> SharedColumn:
    """The column's values and labels. `source`, `release`: the texts of the cells with their rows.

    `hierarchy`: returns the column's hierarchy for its values, if available. `as_any`: whether a label that cannot be
    read covers any value; otherwise none.
    """
    domain = _Domain(column, source)
    covers = _Covers(domain, release, hierarchy(domain.values), as_any)
    groups, numbers = _grouped(domain)
    weights, codes = _coded(covers, groups, len(numbers))
    labels, rows = [label for label, _ in release], np.array([n for _, n in release], dtype=float)
    total = rows.sum() or 1.0
    return SharedColumn(
        column.name,
        column.ordered,
        rows=domain.rows,
        released=covers.spread(rows * ~covers.foreign),
        nearby=covers.spread(rows * covers.foreign),
        lost=float(rows[covers.counts == 0].sum()),
        generalized=float(rows[covers.counts > 1].sum() / total),
        nullable=domain.nullable,
        groups=groups,
        numbers=numbers,
        weights=weights,
        source_codes={text: int(groups[place]) for text, place in domain.places.items()},
        released_codes={label: int(code) for label, code in zip(labels, codes, strict=True)},
        shown=ColumnDisplay(domain.kind, domain.texts, domain.numbers, labels, rows, covers.labels, covers.places),
        unread=covers.unread,
    )


class _Domain:
    """The distinct values of a source's column: in order if it is ordered, NULL last."""

    def __init__(self, column: Column, cells: CountedLabels) -> None:
        read_as = {text: read_or_text(text, column.kind) for text, _ in cells}
        printed = {key(value): text for text, value in read_as.items()}
        self.kind = column.kind
        self.ordered = column.ordered
        values = ordered([value for value in read_as.values() if value is not None])
        self.nullable = None in read_as
        self.values: tuple[Value, ...] = (*values, None) if self.nullable else values
        self.texts = [printed[key(value)] for value in self.values]
        self.by_key = {key(value): place for place, value in enumerate(self.values)}
        self.places = {text: self.by_key[key(value)] for text, value in read_as.items()}
        counted = np.zeros(len(self.values))
        for text, n in cells:
            counted[self.places[text]] += n
        self.rows: Floats = counted
        numbers = [_number(value) if column.ordered else None for value in self.values]
        self.numbers: Floats = np.array([np.nan if number is None else number for number in numbers], dtype=float)
        self.finite = np.flatnonzero(np.isfinite(self.numbers))

    def literal(self, label: str) -> tuple[int, bool] | None:
        """The position of a label that is a single value, or the nearest position, and whether the source lacks it."""
        value = read_or_text(label, self.kind)
        if self.ordered and value == label:
            value = read_or_text(label, "decimal")
        if key(value) in self.by_key:
            return self.by_key[key(value)], False
        number = _number(value)
        numbers = self.numbers[self.finite]
        if number is None or not len(numbers):
            return None
        after = int(np.searchsorted(numbers, number))
        neighbours = (place for place in (after - 1, after) if 0 <= place < len(numbers))
        nearest = min(neighbours, key=lambda place: abs(numbers[place] - number))
        return int(self.finite[nearest]), True


class _Covers:
    """The positions of the values that the labels of a release cover, label by label.

    `counts`: the number of covered values per label. `foreign`: labels that are a value that the source lacks; they
    cover the nearest one.
    """

    def __init__(self, domain: _Domain, release: CountedLabels, hierarchy: Hierarchy | None, as_any: bool) -> None:
        labels = [label for label, _ in release]
        # Without a hierarchy, a label with the text of a value covers this value only.
        places = {} if hierarchy else domain.places
        found = {label: [places[label]] for label in labels if label in places and STAR not in (label or "")}
        rest = [label for label in labels if label not in found]
        of_rest, unread = covered(rest, domain.values, domain.kind, hierarchy, domain.texts) if rest else ({}, [])
        found.update(of_rest)
        self.size = len(domain.values)
        self.foreign = np.zeros(len(labels), dtype=bool)
        if None in found and not domain.nullable:  # NULL means * in a column that keeps its type
            found[None] = list(range(self.size))
        numbers = {label: number for number, label in enumerate(labels)}
        never_read = {label for label in unread if domain.literal(label) is None}
        self.unread = len(never_read)
        in_doubt = {*unread, *(label for label in rest if label is not None and not found[label])}
        for label in sorted(in_doubt):
            literal = domain.literal(label)
            if literal:
                found[label] = [literal[0]]
                self.foreign[numbers[label]] = literal[1]
            elif label in never_read:
                found[label] = found[label] if as_any else []
        self.counts = np.array([len(found[label]) for label in labels], dtype=np.int64)
        self.places = np.array([place for label in labels for place in found[label]], dtype=np.int64)
        self.labels = np.repeat(np.arange(len(labels)), self.counts)

    def spread(self, rows: Floats) -> Floats:
        """The rows of the labels, spread over the values that they cover."""
        return np.bincount(self.places, self.chances * rows[self.labels], self.size).astype(float)

    @property
    def chances(self) -> Floats:
        """The probabilities of the covered values, per label and value."""
        chances: Floats = 1.0 / self.counts[self.labels]
        return chances


def _grouped(domain: _Domain) -> tuple[Int64s, Floats]:
    """The groups of the values, that of NULL last, and the mean numbers of the groups."""
    count = len(domain.values) - domain.nullable  # without NULL
    rows = domain.rows[:count]
    if count <= MOST_GROUPS:
        groups = np.arange(count)
    elif domain.ordered:
        before = np.cumsum(rows) - rows
        groups = np.unique(np.floor(before * MOST_GROUPS / rows.sum()), return_inverse=True)[1].astype(np.int64)
    else:
        by_size = np.argsort(-rows, kind="stable")
        groups = np.empty(count, dtype=np.int64)
        groups[by_size] = np.minimum(np.arange(count), MOST_GROUPS - 1)
    if domain.nullable:
        groups = np.append(groups, groups.max(initial=-1) + 1)
    weighted = np.bincount(groups, np.nan_to_num(domain.numbers) * domain.rows)
    counted = np.bincount(groups, domain.rows * np.isfinite(domain.numbers))
    means = np.divide(weighted, counted, out=np.full(len(counted), np.nan), where=counted > 0)
    return groups, means


def _coded(covers: _Covers, groups: Int64s, count: int) -> tuple[Floats, Int64s]:
    """The weights of all codes, and the code per label: labels within one group have its code."""
    of_group = groups[covers.places]
    cells = covers.labels * count + of_group
    distinct, inverse = np.unique(cells, return_inverse=True)
    chances = np.bincount(inverse, covers.chances, len(distinct))
    labels, group = distinct // count, distinct % count
    alone = np.bincount(labels, minlength=len(covers.counts)) == 1
    codes = np.cumsum(~alone) + count - 1
    codes[labels[alone[labels]]] = group[alone[labels]]
    weights = np.vstack([np.eye(count), np.zeros((int((~alone).sum()), count))])
    weights[codes[labels], group] = chances
    return weights, codes.astype(np.int64)


def _number(value: Value) -> float | None:
    """An ordered value as a number: dates in days, times in seconds."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
    if isinstance(value, date):
        return float(value.toordinal())
    if isinstance(value, time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return None
    number = float(value)
    return number if isfinite(number) else None


def rounded(figure: float) -> float:
    """A figure without its last digits, in which equal sums can differ; 0 without a sign."""
    return round(float(figure), 12) + 0.0
