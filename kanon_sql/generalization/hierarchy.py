"""Hierarchies: what each value of a column becomes, level by level, up to one label for all.

A hierarchy is a frozen value: leaves, and their label on every level (the domain and value generalization
hierarchies of P. Samarati, TKDE 13(6), 2001, and L. Sweeney, IJUFKS 10(5), 2002, kept as one table).
What makes one goes through `nested_levels`, which holds each level against the one before, or through `of_levels`,
where each was made of the one before: it is a function of that, and the last has one label.
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
from kanon_sql.generalization.values import Label, Value, as_text, key, keys, ordered, printed, read, read_all

STAR = "*"

_quoted: Callable[[Any], str] = json.encoder.encode_basestring_ascii  # what json.dumps makes of a text


SHOWN = 5  # values, in an error
OR_TOP = ", or generalize them to `*` with `unmapped='top'`"


class Level(NamedTuple):
    """The labels of a level, each with a code, in order of first appearance."""

    codes: tuple[int, ...]  # per row
    labels: tuple[Value, ...]  # per code
    leaves: tuple[int, ...]  # per code


@dataclass(frozen=True)
class Hierarchy:
    """The leaves of one column and their labels; a row is a leaf, or after the leaves a starred value.

    `levels[l-1][i]` is the label of `values[i]` on level l. Starred values are data without a leaf: they
    carry `*` on level 0 and the top's label from level 1 on.

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
        """|A| of the loss metric (V. Iyengar, KDD 2002); starred values are not leaves, but for one beside a lone leaf.

        A `*` that a lone leaf shares with them stands for two things at least, so that it loses all.
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
        """M of the loss metric per code: the leaves under it, and all of them for the starred code."""
        return self._coded[level].leaves

    @property
    def counts(self) -> tuple[int, ...]:
        """How many labels each level has, from 0 on."""
        return tuple(len(level.labels) for level in self._coded)

    def lower_levels(self, level: int) -> dict[int, set[int]]:
        """The codes, on level 0, of the leaves whose label on a level is theirs on a lower one, by the lowest such.

        >>> from_rows([["39", "30-39"], ["40", "40-49"], ["41", "40-49"], ["", ""]], "age.csv").lower_levels(1)
        {0: {3}}
        """
        count, lowest = len(self.values), [0] * len(self.distinct_labels(0))
        for higher in range(1, level + 1):
            fine, coarse = self._coded[higher - 1], self._coded[higher]
            child = dict(zip(coarse.codes[:count], fine.codes[:count], strict=True))
            lowest = [
                lowest[child[code]]
                if code in child and leaves == fine.leaves[child[code]] and _same_label(fine.labels[child[code]], label)
                else higher
                for code, (label, leaves) in enumerate(zip(coarse.labels, coarse.leaves, strict=True))
            ]
        found: dict[int, set[int]] = {}
        for own, code in zip(self.codes(0)[:count], self.codes(level)[:count], strict=True):
            if lowest[code] < level:
                found.setdefault(lowest[code], set()).add(own)
        return found

    def distinct(self, data: Iterable[Value]) -> tuple[int, ...]:
        """How many labels the data's values have on each level; values without a row are left out.

        >>> from_rows([["39", "30-39"], ["40", "40-49"], ["41", "40-49"]], "age.csv").distinct(["40", "41"])
        (2, 1, 1)
        """
        every, found = keys((*self.values, *self.starred)), set(keys(list(data)))
        if found.issuperset(every):
            return self.counts
        rows = [row for row, value in enumerate(every) if value in found]
        return tuple(len(set(map(level.codes.__getitem__, rows))) for level in self._coded)

    def agrees_with(self, other: Hierarchy) -> bool:
        """Whether the two are one hierarchy: as high, and the same labels for the values that both hold, if any.

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
        """Whether the two can be no parts of one hierarchy: not as high, or other labels for a value that both hold.

        >>> ages = from_rows([["39", "3*"], ["40", "4*"]], "age.csv")
        >>> others = from_rows([["51", "5*"], ["62", "6*"]], "age.csv")
        >>> ages.contradicts(others), ages.contradicts(from_rows([["39", "*9"], ["40", "*0"]], "age.csv"))
        (False, True)
        """
        if self.height != other.height:
            return True
        mine, theirs = self._rows(), other._rows()
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
        # As json.dumps writes a list, but column by column: a million rows have no time for more.
        labels = (self._written(level) for level in self._coded[1:])
        lines = sorted(map(", ".join, zip(*columns, *labels, strict=True)))
        written = "[" + "]\n[".join(lines) + "]" if lines else ""
        return hashlib.sha256(written.encode()).hexdigest()

    def first(self, leaves: int) -> Hierarchy:
        """The same of the first leaves alone, in their order.

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
        """The same with other values for the leaves, all different, in their order.

        >>> from_rows([["1", "odd"], ["2", "even"]], "parity.csv").renamed((1, 2)).levels[0]
        ('odd', 'even')
        """
        if self.starred or len(self._coded[0].labels) < len(values):
            return Hierarchy(values, self.levels, self.starred)
        return known(values, self.levels, [self._coded[0]._replace(labels=values), *self._coded[1:]])

    @cached_property
    def _coded(self) -> tuple[Level, ...]:
        return tuple(self._level(level) for level in range(self.height + 1))

    def _level(self, level: int) -> Level:
        labels = self.labels(level)
        same = keys(labels)
        codes, different = _numbered(same)
        label_of = dict(zip(same, labels, strict=True))
        if len(different) == len(labels):
            leaves = (1,) * len(labels)
        else:
            leaves = tuple(Counter(codes[: len(self.values)]).values())  # in the order of the codes
        if self.starred:
            leaves = (*leaves[: codes[-1]], self.leaf_count, *leaves[codes[-1] + 1 :])
        return Level(codes, tuple(map(label_of.__getitem__, different)), leaves)


def _same_label(value: Value, label: Value) -> bool:
    return bool(label == (None if value is None else as_text(value)))


def from_rows(rows: Sequence[Sequence[str]], name: str) -> Hierarchy:
    """The hierarchy whose rows are `value, level 1, level 2, …`, as in ARX's files.

    An empty value is NULL, and an empty label on NULL's row is NULL; on other rows an empty label is a
    slip and an error. A level of `*` is added where the last one has several labels, or none is given.
    Raises HierarchyError for no rows, ragged rows, a value with two meanings, a level that splits a label.

    >>> from_rows([["Male"], ["Female"]], "sex.csv").levels
    (('*', '*'),)
    """
    return _of_columns(_columns(rows)) or _row_by_row(list(enumerate(rows, start=1)), name)


def parse(text: str, name: str, separator: str | None = None, header: bool = False) -> Hierarchy:
    """The hierarchy in the text of a file: ARX's form, `value;level1;…`, one row per value.

    Without a separator the first line tells: `;`, tab, `|`, then `,` (labels like `[0, 10)` hold commas).
    Raises HierarchyError for a text that is not CSV, and whatever `from_rows` finds.

    >>> parse("39;[30, 40);*\\r\\n40;[40, 50);*\\r\\n", "age.csv").labels(1)
    ('[30, 40)', '[40, 50)')
    """
    with _without_collection():
        # A million rows are not to be kept beside their columns; the few that are no plain table are read again.
        columns = _columns([row for _, row in fields(text, name, separator, header)])
        return _of_columns(columns) or _row_by_row(fields(text, name, separator, header), name)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without looking for garbage in a million rows each time that some more have been read: a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
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

    Kinds: integer, decimal, float, date, timestamp, time, boolean; text and other change nothing. A leaf
    that is no such value cannot occur in the column and is left out; one that Python has no date or time for
    (infinity, 24:00) stays text. Raises HierarchyError if none is such a value, or if two texts become one value
    with different labels.

    >>> convert(from_rows([["39", "adult"], ["?", "unknown"]], "age.csv"), "integer", "age.csv").values
    (39,)
    """
    if kind in ("text", "other") or not any(isinstance(value, str) for value in hierarchy.values):
        return hierarchy
    with suppress(ValueError):
        values = read_all(hierarchy.values, kind)
        if len(set(keys(values))) == len(values) and any(value is not None for value in values):
            return hierarchy.renamed(tuple(values))  # as many leaves with their labels: they still nest
    entries = []
    for text, *labels in zip(hierarchy.values, *hierarchy.levels, strict=True):
        try:
            value = read(text, kind) if isinstance(text, str) else text
        except ValueError:
            continue
        entries.append((value, tuple(labels), f"written {printed(text)}"))
    if all(value is None for value, *_ in entries):
        first = next(printed(value) for value in hierarchy.values if value is not None)
        raise HierarchyError(
            f"{name}: none of its values ({first}, …) is of the column's type, {kind}; "
            "give the hierarchy made for this column"
        )
    return _merged(entries, name)


def restricted(hierarchy: Hierarchy, rows: Mapping[int, tuple[int, Value]], where: str) -> Hierarchy:
    """The hierarchy of the leaves that a column can hold: `rows` has, by row, the first row equal to it and its value.

    Raises HierarchyError if no leaf but NULL is left, or if equal leaves have different labels.

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
    if all(value is None for value, *_ in entries):
        first = next(printed(value) for value in hierarchy.values if value is not None)
        raise HierarchyError(
            f"{where}: none of its values ({first}, …) fits the column's type; give the hierarchy made for this column"
        )
    return _merged(entries, where, hierarchy.starred)


def cover(
    hierarchy: Hierarchy, values: Iterable[Value], column: str, unmapped: Literal["error", "top", "refuse"] = "error"
) -> Hierarchy:
    """The hierarchy with a row for each of the data's values, so that none is lost in a join.

    NULL without a leaf becomes one that names itself below the top. Other values without a leaf raise
    HierarchyError, or with `unmapped="top"` become starred; "refuse" is an error that does not speak of this way out.

    >>> cover(from_rows([["39"]], "age.csv"), ["39", "40"], "age", unmapped="top").starred
    ('40',)
    """
    values, known = list(values), set(keys((*hierarchy.values, *hierarchy.starred)))
    if known.issuperset(keys(values)):
        return hierarchy
    data = dict(zip(keys(values), values, strict=True))
    missing = data.keys() - known
    strays = ordered(data[row] for row in missing)
    if strays and unmapped != "top":
        null = "give another recipe, since the empty text is NULL in a file and in groups"
        advice = "add them there" if "" not in strays else null
        raise HierarchyError(
            f"column {column!r}: the hierarchy lacks {len(strays)} of its values; "
            f"{advice}{OR_TOP if unmapped == 'error' else ''}",
            map(printed, strays[:SHOWN]),
        )
    leaves, levels = hierarchy.values, hierarchy.levels
    if None in missing:
        top = levels[-1][0] if leaves else STAR
        leaves, levels = (*leaves, None), (*((*level, None) for level in levels[:-1]), (*levels[-1], top))
    return nested_levels(leaves, levels, f"column {column!r}", hierarchy.starred + strays)


def nested_levels(
    values: Sequence[Value], levels: Sequence[Sequence[Label]], where: str, starred: tuple[Value, ...] = ()
) -> Hierarchy:
    """The hierarchy of levels by hand: adds the missing top, refuses a level that splits a label."""
    tops = set(levels[-1]) if levels else {None}
    if len(tops) > 1 or None in tops:
        levels = [*levels, [STAR] * len(values)]
    hierarchy = Hierarchy(tuple(values), tuple(map(tuple, levels)), starred)
    # With level 0 and the starred rows: a leaf "*" must not part again from the values sent to the top.
    for level in range(1, hierarchy.height + 1):
        _check_function(hierarchy.labels(level - 1), hierarchy.labels(level), level, where)
    return hierarchy


def made_level(
    items: Sequence[Value],
    labeller: Callable[[Value], Label],
    below: Level | None = None,
    same: Sequence[Value] | None = None,
) -> Level:
    """The level of the label of every item, made once per label of the level `below`, in which it nests.

    `same`: of the lowest level, what the items of one label share; the items themselves unless given.

    >>> tens = made_level([31, 39, 47], lambda age: f"{age // 10}*")
    >>> tens
    Level(codes=(0, 0, 1), labels=('3*', '4*'), leaves=(2, 1))
    >>> made_level([31, 39, 47], lambda age: "under 40" if age < 40 else "40+", tens).labels
    ('under 40', '40+')
    """
    names = below.codes if below else items if same is None else same
    label_of = {name: labeller(item) for name, item in dict(zip(names, items, strict=True)).items()}
    code_of = {label: code for code, label in enumerate(dict.fromkeys(label_of.values()))}
    codes = tuple(map({name: code_of[label] for name, label in label_of.items()}.__getitem__, names))
    return Level(codes, tuple(code_of), tuple(Counter(codes).values()))


def of_levels(leaves: Sequence[Value], levels: Sequence[Level]) -> Hierarchy:
    """The hierarchy of different leaves and of levels each of which was made of the one before, `*` above them.

    >>> of_levels([31, 47], [made_level([31, 47], lambda age: f"{age // 10}*")]).levels
    (('3*', '4*'), ('*', '*'))
    """
    rows = range(len(leaves))
    every = [Level(tuple(rows), tuple(leaves), (1,) * len(leaves)), *levels]
    if not levels or levels[-1].labels != (STAR,):
        every.append(made_level(leaves, lambda _: STAR, same=(0,) * len(leaves)))
    labels = [tuple(map(level.labels.__getitem__, level.codes)) for level in every[1:]]
    return known(tuple(leaves), labels, every)


def known(values: tuple[Value, ...], levels: Sequence[tuple[Label, ...]], coded: Sequence[Level]) -> Hierarchy:
    """The hierarchy of which the codes, labels and leaves of all levels are known, from 0 on."""
    hierarchy = Hierarchy(values, tuple(levels))
    hierarchy.__dict__["_coded"] = tuple(coded)  # what the property would find out from the labels
    return hierarchy


def _numbered(items: Sequence[Value]) -> tuple[tuple[int, ...], list[Value]]:
    """A number per item, 0.. in order of first appearance, and the different items in this order."""
    different, rows = list(dict.fromkeys(items)), len(items)
    if len(different) == rows:  # as values are
        return tuple(range(rows)), different
    if len(different) == 1:  # as the top is
        return (0,) * rows, different
    number_of = dict(zip(different, range(len(different)), strict=True))
    return tuple(map(number_of.__getitem__, items)), different


def _check_function(below: Sequence[Value], above: Sequence[Value], level: int, where: str) -> None:
    if not _tears(below, above):
        return
    becomes: dict[Value, Value] = {}
    for label, parent in zip(below, above, strict=True):
        known = becomes.setdefault(label, parent)
        if known != parent:
            raise HierarchyError(
                f"{where}: level {level} splits {printed(label)} of level {level - 1} "
                f"into {printed(known)} and {printed(parent)}; give it one label there"
            )


def _row_by_row(lines: Sequence[tuple[int, Sequence[str]]], name: str) -> Hierarchy:
    """The hierarchy of numbered rows that are no plain table, or the error that says which of them is wrong."""
    if not lines:
        raise HierarchyError(f"{name}: there are no rows; write one `value;level1;…` per value")
    expected = max(1, len(lines[0][1]))
    return _merged((_entry(number, row, expected, name) for number, row in lines), name)


def _columns(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The columns of rows; none where there are no rows, or rows of different lengths."""
    return list(zip(*rows, strict=True)) if len(set(map(len, rows))) == 1 else []


def _of_columns(columns: list[tuple[str, ...]]) -> Hierarchy | None:
    """The hierarchy of a file's columns, which it empties, coded on the way.

    None for no column, and where a value is there twice, a field is empty, or a level splits a label. The labels of a
    level are as few texts as they are different: what is alike is then soon compared.
    """
    every: list[Level] = []
    for number, column in enumerate(columns):
        codes, labels = _numbered(column)
        if "" in labels or (_tears(every[-1].codes, codes) if every else len(labels) < len(column)):
            return None
        every.append(Level(codes, tuple(labels), tuple(Counter(codes).values())))
        columns[number] = ()
    if not every:
        return None
    rows = len(every[0].codes)
    if len(every) == 1 or len(every[-1].labels) > 1:
        every.append(Level((0,) * rows, (STAR,), (rows,)))
    values, *levels = (tuple(map(level.labels.__getitem__, level.codes)) for level in every)
    return known(values, levels, every)


def _tears(below: Sequence[Value], above: Sequence[Value]) -> bool:
    """Whether what is one below is not one above."""
    parents = dict(zip(below, above, strict=True))
    return len(parents) < len(below) and not all(map(eq, map(parents.__getitem__, below), above))


def _entry(number: int, row: Sequence[str], expected: int, name: str) -> tuple[Value, tuple[Label, ...], str]:
    if len(row) != expected:
        raise HierarchyError(
            f"{name}, line {number}: {len(row)} fields found, {expected} expected; "
            "give every value a label on every level"
        )
    value, *labels = row
    if not value:
        return None, tuple(label or None for label in labels), f"line {number}"
    if "" in labels:
        level = labels.index("") + 1
        raise HierarchyError(f"{name}, line {number}: level {level} of {value!r} is empty; write a label or `*`")
    return value, tuple(labels), f"line {number}"


def _merged(
    entries: Iterable[tuple[Value, tuple[Label, ...], str]], where: str, starred: tuple[Value, ...] = ()
) -> Hierarchy:
    leaves: dict[Value, tuple[Value, tuple[Label, ...], str]] = {}
    for value, labels, origin in entries:
        _, known, first = leaves.setdefault(key(value), (value, labels, origin))
        if known != labels:
            raise HierarchyError(
                f"{where}: {printed(value)} has the labels {_join(known)} ({first}) "
                f"and {_join(labels)} ({origin}); keep one of the two"
            )
    levels = list(zip(*(labels for _, labels, _ in leaves.values()), strict=True))
    return nested_levels([value for value, _, _ in leaves.values()], levels, where, starred)


def _separator(text: str) -> str:
    first = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    return next((mark for mark in ";\t|," if mark in first), ";")


def _join(labels: Sequence[Label]) -> str:
    return repr(";".join(label or "" for label in labels))
