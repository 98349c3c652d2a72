"""One column of a source and of its release: values, labels, and what each label stands for.

One assumption holds for all measures: a released cell stands for each of the source's distinct values that its label
covers with equal chance, whatever the row's other cells are (the uniform spread of K. LeFevre, D. DeWitt, R.
Ramakrishnan, "Mondrian", ICDE 2006, and of X. Xiao, Y. Tao, "Anatomy", VLDB 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from kanon_sql.attack.labels import covered
from kanon_sql.engine import Column
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label, Value, key, ordered, read

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Cells = Sequence[tuple[Label, int]]
HierarchyOf = Callable[[Sequence[Value]], Hierarchy | None]
MOST_GROUPS = 100  # that a column's values are looked at in, but for its marginal


@dataclass(frozen=True)
class Shown:
    """What a column shows: its `kind`, how its values print and its numbers, NaN for none; and the released labels.

    `rows`: per label those that show it. `labels`, `places`: beside each other a label and a value that it covers.
    """

    kind: str
    values: Sequence[Label]
    numbers: Floats
    released: Sequence[Label]
    rows: Floats
    labels: Integers
    places: Integers

    @property
    def counts(self) -> Integers:
        """How many values each label covers."""
        return np.bincount(self.labels, minlength=len(self.released))


@dataclass(frozen=True)
class Attribute:
    """A column that both tables have.

    Per distinct value of the source, in order, NULL last: `rows` in the source, `released` rows by the uniform spread,
    and `nearby`, the rows of values that the source lacks, at the next value that it has. `lost`: released rows that
    stand for nothing near. `generalized`: the share of released cells that stand for more than one value.

    `groups`: per value its group, each value one of its own where there are at most 100; else ordered values are in
    groups of about equally many rows, of others the rarest are one. `numbers`: per group its mean, NaN where it has
    none. `weights`: per code and group the chance that a cell of that code is in it; the first codes are the groups.
    `codes`: of the source's and of the release's cells as they print. `shown`: its values and labels.
    """

    name: str
    ordered: bool
    rows: Floats
    released: Floats
    nearby: Floats
    lost: float
    generalized: float
    nullable: bool
    groups: Integers
    numbers: Floats
    weights: Floats
    source_codes: Mapping[Label, int]
    released_codes: Mapping[Label, int]
    shown: Shown
    unread: int = 0

    @property
    def is_number(self) -> bool:
        """Whether its groups can be told apart by numbers: of an ordered column with any."""
        return self.ordered and bool(np.isfinite(self.numbers).any())

    @property
    def group_rows(self) -> Floats:
        """The source's rows per group."""
        return np.bincount(self.groups, self.rows, len(self.numbers)).astype(float)

    @property
    def null_group(self) -> int | None:
        """The group of NULL, where there is one; always the last."""
        return len(self.numbers) - 1 if self.nullable else None


def attribute(
    column: Column, source: Cells, release: Cells, hierarchy: HierarchyOf = lambda _: None, as_any: bool = True
) -> Attribute:
    """What a column's cells stand for. `source`, `release`: how the cells print, each with its rows.

    `hierarchy`: makes that of the column for its values, where it is known. `as_any`: whether a label that cannot be
    read stands for any value; else for none.
    """
    domain = _Domain(column, source)
    covers = _Covers(domain, release, hierarchy(domain.values), as_any)
    groups, numbers = _grouped(domain)
    weights, codes = _coded(covers, groups, len(numbers))
    rows = np.array([n for _, n in release], dtype=float)
    total = rows.sum() or 1.0
    return Attribute(
        column.name,
        column.ordered,
        domain.rows,
        covers.spread(rows * ~covers.foreign),
        covers.spread(rows * covers.foreign),
        float(rows[covers.counts == 0].sum()),
        float(rows[covers.counts > 1].sum() / total),
        domain.nullable,
        groups,
        numbers,
        weights,
        {text: int(groups[place]) for text, place in domain.places.items()},
        {label: int(code) for (label, _), code in zip(release, codes, strict=True)},
        covers.shown(domain, release),
        covers.unread,
    )


class _Domain:
    """The distinct values of a source's column: in order where there is one, NULL last."""

    def __init__(self, column: Column, cells: Cells) -> None:
        read_as = {text: _value(text, column.kind) for text, _ in cells}
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
        """The place of a label that is no more than a value, or the next place to it, and whether it is foreign."""
        value = _value(label, self.kind)
        if self.ordered and value == label:
            value = _value(label, "decimal")
        if key(value) in self.by_key:
            return self.by_key[key(value)], False
        number, known = _number(value), self.numbers[self.finite]
        if number is None or not len(known):
            return None
        after = int(np.searchsorted(known, number))
        near = min(
            (place for place in (after - 1, after) if 0 <= place < len(known)), key=lambda i: abs(known[i] - number)
        )
        return int(self.finite[near]), True


class _Covers:
    """The places of the values that each label of a release covers, one label after the other.

    `counts`: how many each covers. `foreign`: labels that are a value which the source lacks, and cover the next one.
    """

    def __init__(self, domain: _Domain, release: Cells, hierarchy: Hierarchy | None, as_any: bool) -> None:
        labels = [label for label, _ in release]
        known = {} if hierarchy else domain.places  # what prints as a value of the source does is no more than that
        found = {label: [known[label]] for label in labels if label in known and STAR not in (label or "")}
        rest = [label for label in labels if label not in found]
        others, unread = covered(rest, domain.values, domain.kind, hierarchy, domain.texts) if rest else ({}, [])
        found.update(others)
        self.size = len(domain.values)
        self.foreign = np.zeros(len(labels), dtype=bool)
        if None in found and not domain.nullable:  # in a column that keeps its type it stands for *
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
        """The rows of the labels, each spread over the values that it covers."""
        return np.bincount(self.places, self.chances * rows[self.labels], self.size).astype(float)

    def shown(self, domain: _Domain, release: Cells) -> Shown:
        """The values and the labels beside each other."""
        labels, rows = [label for label, _ in release], np.array([n for _, n in release], dtype=float)
        return Shown(domain.kind, domain.texts, domain.numbers, labels, rows, self.labels, self.places)

    @property
    def chances(self) -> Floats:
        """Per label and value that it covers, the chance of the value."""
        chances: Floats = 1.0 / self.counts[self.labels]
        return chances


def _grouped(domain: _Domain) -> tuple[Integers, Floats]:
    """Each value's group, NULL's the last, and each group's mean number."""
    known = len(domain.values) - domain.nullable
    rows = domain.rows[:known]
    if known <= MOST_GROUPS:
        groups = np.arange(known)
    elif domain.ordered:
        before = np.cumsum(rows) - rows
        groups = _renumbered(np.floor(before * MOST_GROUPS / rows.sum()))
    else:
        by_size = np.argsort(-rows, kind="stable")
        groups = np.empty(known, dtype=np.int64)
        groups[by_size] = np.minimum(np.arange(known), MOST_GROUPS - 1)
    if domain.nullable:
        groups = np.append(groups, groups.max(initial=-1) + 1)
    weighted = np.bincount(groups, np.nan_to_num(domain.numbers) * domain.rows)
    counted = np.bincount(groups, domain.rows * np.isfinite(domain.numbers))
    means = np.divide(weighted, counted, out=np.full(len(counted), np.nan), where=counted > 0)
    return groups, means


def _renumbered(groups: Floats) -> Integers:
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _coded(covers: _Covers, groups: Integers, count: int) -> tuple[Floats, Integers]:
    """A code per label, and the weights of all codes: those in one group have the group's, others one of their own."""
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


def _value(text: Label, kind: str) -> Value:
    """A cell as a value of a kind; the text itself where it is none."""
    try:
        return None if text is None else read(text, kind)
    except ValueError:
        return text


def _number(value: Value) -> float | None:
    """An ordered value as a number: of dates in days, of times in seconds."""
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
    """A figure without its last digits, in which equal sums may differ; 0 without a sign."""
    return round(float(figure), 12) + 0.0
