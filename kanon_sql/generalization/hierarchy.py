"""Hierarchies: the labels of a column's values, level by level, up to one label for all.

A hierarchy is a frozen value: leaves, and their label on every level (the domain and value generalization
hierarchies of P. Samarati, TKDE 13(6), 2001, and L. Sweeney, IJUFKS 10(5), 2002, as one table). It is built by
`nested_levels`, which checks that every level is a function of the previous one, or by `of_levels` from levels that are
built that way. The last level has one label.
"""

from __future__ import annotations

import csv
import gc
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from operator import eq
from typing import Any, Literal, NamedTuple

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.values import Label, Value, as_text, key, keys, label_of, ordered, printed, read, read_all

STAR = "*"

_quoted: Callable[[Any], str] = json.encoder.encode_basestring_ascii  # as json.dumps writes a text
Entry = tuple[Value, tuple[Label, ...], str]  # a leaf, its labels, and where it was written
SHOWN = 5  # values in an error
OR_TOP = ", or generalize them to `*` with `unmapped='top'`"


class Level(NamedTuple):
    """The labels of a level; their codes are in order of first appearance."""

    codes: tuple[int, ...]  # per row
    labels: tuple[Value, ...]  # per code
    leaves: tuple[int, ...]  # per code


@dataclass(frozen=True)
class Hierarchy:
    """The leaves of one column and their labels; a row is a leaf, or after the leaves a starred value.

    `levels[l-1][i]` is the label of `values[i]` on level l. Starred values are data without a leaf: their label is `*`
    on level 0 and the top's label from level 1 on.

    >>> hierarchy = from_rows([["39", "30-39"], ["40", "40-49"], ["41", "40-49"]], "age.csv")
    >>> hierarchy.height, hierarchy.labels(1), hierarchy.codes(1), hierarchy.leaves(1)
    (2, ('30-39', '40-49', '40-49'), (0, 1, 1), (1, 2))
    """

    values: tuple[Value, ...]
    levels: tuple[tuple[Label, ...], ...]
    starred: tuple[Value, ...] = ()

    @property
    def height(self) -> int:
        """The highest level; 0 is the values themselves."""
        return len(self.levels)

    @property
    def leaf_count(self) -> int:
        """|A| of the loss metric (V. Iyengar, KDD 2002), without starred values; at least 2 if there are any.

        If a single leaf shares `*` with starred values, the label covers at least two values and loses everything.
        """
        return max(len(self.values), 2) if self.starred else len(self.values)

    def labels(self, level: int) -> tuple[Value, ...]:
        """The label of every row on a level, 0..height."""
        if level == 0:
            return self.values + (STAR,) * len(self.starred)
        top = self.levels[-1][0] if self.values else STAR
        return self.levels[level - 1] + (top,) * len(self.starred)

    def codes(self, level: int) -> tuple[int, ...]:
        """An integer per row, 0.. in order of first appearance: equal codes are equal labels."""
        return self._coded[level].codes

    def distinct_labels(self, level: int) -> tuple[Value, ...]:
        """The label of every code on a level."""
        return self._coded[level].labels

    def leaves(self, level: int) -> tuple[int, ...]:
        """M of the loss metric per code: the leaves under it, and all leaves for the starred code."""
        return self._coded[level].leaves

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of labels per level, from 0 on."""
        return tuple(len(level.labels) for level in self._coded)

    def lower_levels(self, level: int) -> dict[int, set[int]]:
        """The codes on level 0 of the leaves with the same label on a lower level, by the lowest such level.

        >>> from_rows([["39", "30-39"], ["40", "40-49"], ["41", "40-49"], ["", ""]], "age.csv").lower_levels(1)
        {0: {3}}
        """
        count = len(self.values)
        lowest = [0] * len(self.distinct_labels(0))
        for higher in range(1, level + 1):
            fine, coarse = self._coded[higher - 1], self._coded[higher]
            child_of = dict(zip(coarse.codes[:count], fine.codes[:count], strict=True))
            lowest_below = lowest
            lowest = [higher] * len(coarse.labels)
            for code, child in child_of.items():
                same_leaves = coarse.leaves[code] == fine.leaves[child]
                if same_leaves and coarse.labels[code] == label_of(fine.labels[child]):
                    lowest[code] = lowest_below[child]
        found: dict[int, set[int]] = {}
        for own, code in zip(self.codes(0)[:count], self.codes(level)[:count], strict=True):
            if lowest[code] < level:
                found.setdefault(lowest[code], set()).add(own)
        return found

    def distinct(self, data: Iterable[Value]) -> tuple[int, ...]:
        """The number of labels of the data's values per level; values without a row are left out.

        >>> from_rows([["39", "30-39"], ["40", "40-49"], ["41", "40-49"]], "age.csv").distinct(["40", "41"])
        (2, 1, 1)
        """
        row_keys = keys((*self.values, *self.starred))
        found = set(keys(list(data)))
        if found.issuperset(row_keys):
            return self.counts
        rows = [row for row, value in enumerate(row_keys) if value in found]
        return tuple(len(set(map(level.codes.__getitem__, rows))) for level in self._coded)

    def agrees_with(self, other: Hierarchy) -> bool:
        """Whether two hierarchies are consistent: equally high, with common values, and equal labels for these.

        >>> ages = from_rows([["39", "3*"], ["40", "4*"]], "age.csv")
        >>> ages.agrees_with(from_rows([["40", "4*"], ["51", "5*"]], "age.csv"))
        True
        >>> ages.agrees_with(from_rows([["40", "*0"]], "age.csv"))
        False
        """
        if self is other:
            return bool(self.values)
        return not self.contradicts(other) and bool(self._rows().keys() & other._rows().keys())

    def contradicts(self, other: Hierarchy) -> bool:
        """Whether two hierarchies cannot be parts of one: different heights, or different labels for a common value.

        >>> ages = from_rows([["39", "3*"], ["40", "4*"]], "age.csv")
        >>> others = from_rows([["51", "5*"], ["62", "6*"]], "age.csv")
        >>> ages.contradicts(others), ages.contradicts(from_rows([["39", "*9"], ["40", "*0"]], "age.csv"))
        (False, True)
        """
        if self.height != other.height:
            return True
        mine = self._rows()
        theirs = other._rows()
        return any(self._path(mine[value]) != other._path(theirs[value]) for value in mine.keys() & theirs.keys())

    def _rows(self) -> dict[Value, int]:
        """The row of every leaf, by its key."""
        return dict(zip(keys(self.values), range(len(self.values)), strict=True))

    def _path(self, row: int) -> tuple[Label, ...]:
        return tuple(level[row] for level in self.levels)

    def sha256(self) -> str:
        """A fingerprint of leaves and labels, whatever their order."""
        kinds = {kind: _quoted(kind.__name__) for kind in set(map(type, self.values))}
        columns = [map(kinds.__getitem__, map(type, self.values)), map(_quoted, map(str, self.values))]
        # As json.dumps writes a list, but column by column, which is faster for a million rows.
        labels = (self._written(level) for level in self._coded[1:])
        lines = sorted(map(", ".join, zip(*columns, *labels, strict=True)))
        written = "[" + "]\n[".join(lines) + "]" if lines else ""
        return hashlib.sha256(written.encode()).hexdigest()

    def first(self, leaves: int) -> Hierarchy:
        """The hierarchy of the first leaves.

        >>> from_rows([["BE", "B*"], ["NL", "N*"]], "country.csv").first(1).values
        ('BE',)
        """
        return Hierarchy(self.values[:leaves], tuple(level[:leaves] for level in self.levels))

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The rows of a file in ARX's form, `value, level 1, …, top`; NULL is an empty field.

        >>> list(from_rows([["BE", "B*"], ["NL", "N*"]], "country.csv").rows())
        [('BE', 'B*', '*'), ('NL', 'N*', '*')]
        """
        for value, *labels in zip(self.values, *self.levels, strict=True):
            yield ("" if value is None else as_text(value), *(label or "" for label in labels))

    def _written(self, level: Level) -> Iterator[str]:
        written = ["null" if label is None else _quoted(label) for label in level.labels]
        return map(written.__getitem__, level.codes[: len(self.values)])

    def renamed(self, values: tuple[Value, ...]) -> Hierarchy:
        """The hierarchy with other, distinct values for its leaves, in the same order.

        >>> from_rows([["1", "odd"], ["2", "even"]], "parity.csv").renamed((1, 2)).levels[0]
        ('odd', 'even')
        """
        if self.starred or len(self._coded[0].labels) < len(values):
            return Hierarchy(values, self.levels, self.starred)
        return coded_hierarchy(values, self.levels, [self._coded[0]._replace(labels=values), *self._coded[1:]])

    @cached_property
    def _coded(self) -> tuple[Level, ...]:
        return tuple(self._level(level) for level in range(self.height + 1))

    def _level(self, level: int) -> Level:
        labels = self.labels(level)
        label_keys = keys(labels)
        codes, different = _numbered(label_keys)
        label_of = dict(zip(label_keys, labels, strict=True))
        if len(different) == len(labels):
            leaves = (1,) * len(labels)
        else:
            leaves = tuple(Counter(codes[: len(self.values)]).values())  # in the order of the codes
        if self.starred:
            leaves = (*leaves[: codes[-1]], self.leaf_count, *leaves[codes[-1] + 1 :])
        return Level(codes, tuple(map(label_of.__getitem__, different)), leaves)


def from_rows(rows: Sequence[Sequence[str]], name: str) -> Hierarchy:
    """The hierarchy whose rows are `value, level 1, level 2, …`, as in ARX's files.

    An empty value is NULL, and an empty label on NULL's row is NULL; on other rows an empty label is an error. A level
    of `*` is added if the last one has several labels, or if there is none. Raises HierarchyError for no rows, ragged
    rows, a value with different labels, and a level that splits a label.

    >>> from_rows([["Male"], ["Female"]], "sex.csv").levels
    (('*', '*'),)
    """
    return _of_columns(_columns(rows)) or _row_by_row(list(enumerate(rows, start=1)), name)


def parse(text: str, name: str, separator: str | None = None, header: bool = False) -> Hierarchy:
    """The hierarchy in the text of a file: ARX's form, `value;level1;…`, one row per value.

    The separator is by default the first of `;`, tab, `|` and `,` in the first line (labels like `[0, 10)` contain
    commas). Raises HierarchyError for a text that is not CSV, and as in `from_rows`.

    >>> parse("39;[30, 40);*\\r\\n40;[40, 50);*\\r\\n", "age.csv").labels(1)
    ('[30, 40)', '[40, 50)')
    """
    with _without_collection():
        # To save memory, rows are not kept with their columns; if they are no plain table, they are read again.
        columns = _columns([row for _, row in fields(text, name, separator, header)])
        return _of_columns(columns) or _row_by_row(fields(text, name, separator, header), name)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Disable garbage collection, which would take a third of the time while a million rows are read."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def fields(text: str, name: str, separator: str | None = None, header: bool = False) -> list[tuple[int, list[str]]]:
    """The rows of a separated text with their line numbers, blank lines left out.

    >>> fields("a;b\\n\\nc;d\\n", "two.csv")
    [(1, ['a', 'b']), (3, ['c', 'd'])]
    """
    text = text.removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=separator or _separator(text), strict=True)
    try:
        lines = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise HierarchyError(f"{name}, line {reader.line_num}: {error}; correct the quotes there") from None
    return lines[header:]


def convert(hierarchy: Hierarchy, kind: str, name: str) -> Hierarchy:
    """The hierarchy with its textual leaves as values of the column's type.

    Kinds: integer, decimal, float, date, timestamp, time, boolean; text and other change nothing. A leaf that is not a
    value of the kind cannot occur in the column and is left out; a date or time that Python cannot represent (infinity,
    24:00) stays text. Raises HierarchyError if no leaf is left, or if two texts with different labels are the same
    value.

    >>> convert(from_rows([["39", "adult"], ["?", "unknown"]], "age.csv"), "integer", "age.csv").values
    (39,)
    """
    if kind in ("text", "other") or not any(isinstance(value, str) for value in hierarchy.values):
        return hierarchy
    with suppress(ValueError):
        values = read_all(hierarchy.values, kind)
        if len(set(keys(values))) == len(values) and any(value is not None for value in values):
            return hierarchy.renamed(tuple(values))  # the leaves stay distinct, so the levels still nest
    entries = []
    for text, *labels in zip(hierarchy.values, *hierarchy.levels, strict=True):
        try:
            value = read(text, kind) if isinstance(text, str) else text
        except ValueError:
            continue
        entries.append((value, tuple(labels), f"written {printed(text)}"))
    return _with_values(hierarchy, entries, name, f"is of the column's type, {kind}")


def restricted(hierarchy: Hierarchy, rows: Mapping[int, tuple[int, Value]], where: str) -> Hierarchy:
    """The hierarchy of the leaves that a column can contain: `rows` maps a row to the first equal row and its value.

    Raises HierarchyError if only NULL is left, or if equal leaves have different labels.

    >>> from decimal import Decimal
    >>> prices = from_rows([["1.23", "low"], ["1.234", "low"], ["many", "high"]], "price.csv")
    >>> restricted(prices, {0: (0, Decimal("1.23")), 1: (0, Decimal("1.23"))}, "price.csv").values
    (Decimal('1.23'),)
    """
    entries = [
        (rows[rows[row][0]][1], tuple(labels), f"written {printed(value)}")
        for row, (value, *labels) in enumerate(zip(hierarchy.values, *hierarchy.levels, strict=True))
        if row in rows
    ]
    return _with_values(hierarchy, entries, where, "fits the column's type", hierarchy.starred)


def _with_values(
    hierarchy: Hierarchy, entries: Sequence[Entry], where: str, fits: str, starred: tuple[Value, ...] = ()
) -> Hierarchy:
    """The hierarchy of other values for some of its leaves; HierarchyError if only NULL is left: `fits` is false."""
    if all(value is None for value, *_ in entries):
        first = next(printed(value) for value in hierarchy.values if value is not None)
        raise HierarchyError(f"{where}: none of its values ({first}, …) {fits}; name the hierarchy of this column")
    return _merged(entries, where, starred)


def cover(
    hierarchy: Hierarchy, values: Iterable[Value], column: str, unmapped: Literal["error", "top", "refuse"] = "error"
) -> Hierarchy:
    """The hierarchy with a row for every value of the data, so that a join loses none.

    NULL without a leaf becomes a leaf that stays NULL below the top. Other values without a leaf raise HierarchyError,
    or with `unmapped="top"` become starred; "refuse" is an error that does not mention this option.

    >>> cover(from_rows([["39"]], "age.csv"), ["39", "40"], "age", unmapped="top").starred
    ('40',)
    """
    values = list(values)
    covered = set(keys((*hierarchy.values, *hierarchy.starred)))
    if covered.issuperset(keys(values)):
        return hierarchy
    data = dict(zip(keys(values), values, strict=True))
    missing = data.keys() - covered
    strays = ordered(data[row] for row in missing)
    if strays and unmapped != "top":
        null = "choose another recipe, since the empty text is NULL in a file and in groups"
        advice = "add them there" if "" not in strays else null
        raise HierarchyError(
            f"column {column!r}: the hierarchy lacks {len(strays)} of its values; "
            f"{advice}{OR_TOP if unmapped == 'error' else ''}",
            map(printed, strays[:SHOWN]),
        )
    leaves, levels = hierarchy.values, hierarchy.levels
    if None in missing:
        top = levels[-1][0] if leaves else STAR
        leaves = (*leaves, None)
        levels = (*((*level, None) for level in levels[:-1]), (*levels[-1], top))
    return nested_levels(leaves, levels, f"column {column!r}", hierarchy.starred + strays)


def nested_levels(
    values: Sequence[Value], levels: Sequence[Sequence[Label]], where: str, starred: tuple[Value, ...] = ()
) -> Hierarchy:
    """The hierarchy with these levels and a top if it is missing; HierarchyError if a level splits a label."""
    tops = set(levels[-1]) if levels else {None}
    if len(tops) > 1 or None in tops:
        levels = [*levels, [STAR] * len(values)]
    hierarchy = Hierarchy(tuple(values), tuple(map(tuple, levels)), starred)
    # Level 0 and starred rows included: a leaf "*" must not be separated again from values generalized to `*`.
    for level in range(1, hierarchy.height + 1):
        _check_function(hierarchy.labels(level - 1), hierarchy.labels(level), level, where)
    return hierarchy


def new_level(
    items: Sequence[Value],
    labeller: Callable[[Value], Label],
    below: Level | None = None,
    same: Sequence[Value] | None = None,
) -> Level:
    """The level with the labels of all items, computed once per label of the level `below`, which nests in it.

    `same`: for the lowest level, a key that implies the label; by default the items themselves.

    >>> tens = new_level([31, 39, 47], lambda age: f"{age // 10}*")
    >>> tens
    Level(codes=(0, 0, 1), labels=('3*', '4*'), leaves=(2, 1))
    >>> new_level([31, 39, 47], lambda age: "under 40" if age < 40 else "40+", tens).labels
    ('under 40', '40+')
    """
    names = below.codes if below else same or items
    label_of = {name: labeller(item) for name, item in dict(zip(names, items, strict=True)).items()}
    code_of = {label: code for code, label in enumerate(dict.fromkeys(label_of.values()))}
    codes = tuple(map({name: code_of[label] for name, label in label_of.items()}.__getitem__, names))
    return Level(codes, tuple(code_of), tuple(Counter(codes).values()))


def of_levels(leaves: Sequence[Value], levels: Sequence[Level]) -> Hierarchy:
    """The hierarchy of distinct leaves and of levels, each built from the previous one; `*` is added above them.

    >>> of_levels([31, 47], [new_level([31, 47], lambda age: f"{age // 10}*")]).levels
    (('3*', '4*'), ('*', '*'))
    """
    rows = range(len(leaves))
    coded = [Level(tuple(rows), tuple(leaves), (1,) * len(leaves)), *levels]
    if not levels or levels[-1].labels != (STAR,):
        coded.append(new_level(leaves, lambda _: STAR, same=(0,) * len(leaves)))
    labels = [tuple(map(level.labels.__getitem__, level.codes)) for level in coded[1:]]
    return coded_hierarchy(tuple(leaves), labels, coded)


def coded_hierarchy(
    values: tuple[Value, ...], levels: Sequence[tuple[Label, ...]], coded: Sequence[Level]
) -> Hierarchy:
    """The hierarchy whose levels are already coded, from 0 on."""
    hierarchy = Hierarchy(values, tuple(levels))
    hierarchy.__dict__["_coded"] = tuple(coded)  # the cached property, without deriving it from the labels
    return hierarchy


def _numbered(items: Sequence[Value]) -> tuple[tuple[int, ...], list[Value]]:
    """A number per item, 0.. in order of first appearance, and the different items in this order."""
    different = list(dict.fromkeys(items))
    rows = len(items)
    if len(different) == rows:  # such as values
        return tuple(range(rows)), different
    if len(different) == 1:  # such as the top
        return (0,) * rows, different
    number_of = dict(zip(different, range(len(different)), strict=True))
    return tuple(map(number_of.__getitem__, items)), different


def _check_function(below: Sequence[Value], above: Sequence[Value], level: int, where: str) -> None:
    if _is_function(below, above):
        return
    parents: dict[Value, Value] = {}
    for label, parent in zip(below, above, strict=True):
        first = parents.setdefault(label, parent)
        if first != parent:
            raise HierarchyError(
                f"{where}: level {level} splits {printed(label)} of level {level - 1} "
                f"into {printed(first)} and {printed(parent)}; write one label there"
            )


def _row_by_row(lines: Sequence[tuple[int, Sequence[str]]], name: str) -> Hierarchy:
    """The hierarchy of numbered rows that are not a plain table; HierarchyError for the first wrong row."""
    if not lines:
        raise HierarchyError(f"{name}: there are no rows; write one `value;level1;…` per value")
    expected = max(1, len(lines[0][1]))
    return _merged((_entry(number, row, expected, name) for number, row in lines), name)


def _columns(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The columns of the rows; none without rows, or for rows of different lengths."""
    return list(zip(*rows, strict=True)) if len(set(map(len, rows))) == 1 else []


def _of_columns(columns: list[tuple[str, ...]]) -> Hierarchy | None:
    """The coded hierarchy of a file's columns, which are emptied to save memory.

    None without columns, and if a value is repeated, a field is empty, or a level splits a label. Equal labels of a
    level become one text object, which makes comparisons fast.
    """
    coded: list[Level] = []
    for number, column in enumerate(columns):
        codes, labels = _numbered(column)
        valid = _is_function(coded[-1].codes, codes) if coded else len(labels) == len(column)
        if "" in labels or not valid:
            return None
        coded.append(Level(codes, tuple(labels), tuple(Counter(codes).values())))
        columns[number] = ()
    if not coded:
        return None
    rows = len(coded[0].codes)
    if len(coded) == 1 or len(coded[-1].labels) > 1:
        coded.append(Level((0,) * rows, (STAR,), (rows,)))
    values, *levels = (tuple(map(level.labels.__getitem__, level.codes)) for level in coded)
    return coded_hierarchy(values, levels, coded)


def _is_function(below: Sequence[Value], above: Sequence[Value]) -> bool:
    """Whether equal labels below have equal labels above."""
    parents = dict(zip(below, above, strict=True))
    return len(parents) == len(below) or all(map(eq, map(parents.__getitem__, below), above))


def _entry(number: int, row: Sequence[str], expected: int, name: str) -> Entry:
    if len(row) != expected:
        raise HierarchyError(
            f"{name}, line {number}: {len(row)} fields found, {expected} expected; "
            "write a label for every value on every level"
        )
    value, *labels = row
    if not value:
        return None, tuple(label or None for label in labels), f"line {number}"
    if "" in labels:
        level = labels.index("") + 1
        raise HierarchyError(f"{name}, line {number}: level {level} of {value!r} is empty; write a label or `*`")
    return value, tuple(labels), f"line {number}"


def _merged(entries: Iterable[Entry], where: str, starred: tuple[Value, ...] = ()) -> Hierarchy:
    leaves: dict[Value, Entry] = {}
    for value, labels, origin in entries:
        _, first_labels, first = leaves.setdefault(key(value), (value, labels, origin))
        if first_labels != labels:
            raise HierarchyError(
                f"{where}: {printed(value)} has the labels {_join(first_labels)} ({first}) "
                f"and {_join(labels)} ({origin}); keep one of the two"
            )
    levels = list(zip(*(labels for _, labels, _ in leaves.values()), strict=True))
    return nested_levels([value for value, _, _ in leaves.values()], levels, where, starred)


def _separator(text: str) -> str:
    first = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    return next((mark for mark in ";\t|," if mark in first), ";")


def _join(labels: Sequence[Label]) -> str:
    return repr(";".join(label or "" for label in labels))
