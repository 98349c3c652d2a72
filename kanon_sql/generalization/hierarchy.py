"""Hierarchies: what each value of a column becomes, level by level, up to one label for all.

A hierarchy is a frozen value: leaves, and their label on every level (the domain and value generalization
hierarchies of P. Samarati, TKDE 13(6), 2001, and L. Sweeney, IJUFKS 10(5), 2002, kept as one table).
What makes one goes through `_checked`: each level is a function of the one before, the last has one label.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Context, Decimal, localcontext
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from kanon_sql.errors import HierarchyError

Value: TypeAlias = Any  # int, float, Decimal, str, bool, date, datetime, time, … hashable; None is NULL
Label: TypeAlias = str | None
Number: TypeAlias = int | float | Decimal | str

STAR = "*"
_SHOWN = 5  # values, in an error
_NAN = object()
_INFINITY = Decimal("Infinity")
# `ranges` takes numbers of at most 400 digits, below 10**400 (so any float), and then rounds nothing.
_DIGITS = 400
_EXACT = Context(prec=5 * _DIGITS)


class _Level(NamedTuple):
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
        """|A| of the loss metric (V. Iyengar, KDD 2002); starred values are not leaves."""
        return len(self.values)

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

    def distinct(self, data: Iterable[Value]) -> tuple[int, ...]:
        """How many labels the data's values have on each level; values without a row are left out.

        >>> from_rows([["39", "30-39"], ["40", "40-49"], ["41", "40-49"]], "age.csv").distinct(["40", "41"])
        (2, 1, 1)
        """
        row_of = {key(value): row for row, value in enumerate((*self.values, *self.starred))}
        rows = [row_of[key(value)] for value in data if key(value) in row_of]
        return tuple(len({self.codes(level)[row] for row in rows}) for level in range(self.height + 1))

    def agrees_with(self, other: Hierarchy) -> bool:
        """Whether the two are one hierarchy: as high, and the same labels for the values that both hold, if any.

        >>> ages = redact(["39", "40"], "right", "age")
        >>> ages.agrees_with(redact(["40", "51"], "right", "age")), ages.agrees_with(redact(["40"], "left", "age"))
        (True, False)
        """
        mine, theirs = self._paths(), other._paths()
        shared = mine.keys() & theirs.keys()
        return self.height == other.height and bool(shared) and all(mine[value] == theirs[value] for value in shared)

    def _paths(self) -> dict[Value, tuple[Label, ...]]:
        return dict(zip(map(key, self.values), zip(*self.levels, strict=True), strict=True))

    def sha256(self) -> str:
        """A fingerprint of leaves and labels, whatever their order."""
        rows = zip(self.values, *self.levels, strict=True)
        lines = sorted(json.dumps([type(value).__name__, str(value), *labels]) for value, *labels in rows)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The rows of a file in ARX's form, `value, level 1, …, top`; NULL is an empty field.

        >>> list(redact(["NL", "BE"], "right", "country").rows())
        [('BE', 'B*', '*'), ('NL', 'N*', '*')]
        """
        for value, *labels in zip(self.values, *self.levels, strict=True):
            yield ("" if value is None else as_text(value), *(label or "" for label in labels))

    @cached_property
    def _coded(self) -> tuple[_Level, ...]:
        return tuple(self._level(level) for level in range(self.height + 1))

    def _level(self, level: int) -> _Level:
        labels = self.labels(level)
        code_of: dict[Value, int] = {}
        codes = tuple(code_of.setdefault(key(label), len(code_of)) for label in labels)
        leaves = Counter(codes[: self.leaf_count])  # in the order of the codes
        if self.starred:
            leaves[codes[-1]] = self.leaf_count
        return _Level(codes, tuple(dict(zip(codes, labels, strict=True)).values()), tuple(leaves.values()))


def from_rows(rows: Sequence[Sequence[str]], name: str) -> Hierarchy:
    """The hierarchy whose rows are `value, level 1, level 2, …`, as in ARX's files.

    An empty value is NULL, and an empty label on NULL's row is NULL; on other rows an empty label is a
    slip and an error. A level of `*` is added where the last one has several labels, or none is given.
    Raises HierarchyError for no rows, ragged rows, a value with two meanings, a level that splits a label.

    >>> from_rows([["Male"], ["Female"]], "sex.csv").levels
    (('*', '*'),)
    """
    return _from_lines(list(enumerate(rows, start=1)), name)


def parse(text: str, name: str, separator: str | None = None, header: bool = False) -> Hierarchy:
    """The hierarchy in the text of a file: ARX's form, `value;level1;…`, one row per value.

    Without a separator the first line tells: `;`, tab, `|`, then `,` (labels like `[0, 10)` hold commas).
    Raises HierarchyError for a text that is not CSV, and whatever `from_rows` finds.

    >>> parse("39;[30, 40);*\\r\\n40;[40, 50);*\\r\\n", "age.csv").labels(1)
    ('[30, 40)', '[40, 50)')
    """
    return _from_lines(fields(text, name, separator, header), name)


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
        raise HierarchyError(f"{name}, line {reader.line_num}: {error}; mend the quotes there") from None
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
    entries = []
    for text, *labels in zip(hierarchy.values, *hierarchy.levels, strict=True):
        try:
            value = read(text, kind) if isinstance(text, str) else text
        except ValueError:
            continue
        entries.append((value, tuple(labels), f"written {_show(text)}"))
    if all(value is None for value, *_ in entries):
        first = next(_show(value) for value in hierarchy.values if value is not None)
        raise HierarchyError(
            f"{name}: none of its values ({first}, …) is of the column's type, {kind}; "
            "give the hierarchy file made for this column"
        )
    return _merged(entries, name)


def held(hierarchy: Hierarchy, rows: Mapping[int, tuple[int, Value]], where: str) -> Hierarchy:
    """The hierarchy of the leaves that a column can hold: `rows` has, by row, the first row equal to it and its value.

    Raises HierarchyError if no leaf but NULL is left, or if equal leaves have different labels.

    >>> prices = from_rows([["1.23", "low"], ["1.234", "low"], ["many", "high"]], "price.csv")
    >>> held(prices, {0: (0, Decimal("1.23")), 1: (0, Decimal("1.23"))}, "price.csv").values
    (Decimal('1.23'),)
    """
    entries = [
        (rows[rows[row][0]][1], tuple(labels), f"written {_show(value)}")
        for row, (value, *labels) in enumerate(zip(hierarchy.values, *hierarchy.levels, strict=True))
        if row in rows
    ]
    if all(value is None for value, *_ in entries):
        first = next(_show(value) for value in hierarchy.values if value is not None)
        raise HierarchyError(
            f"{where}: none of its values ({first}, …) can stand in the column; give the hierarchy made for this column"
        )
    return _merged(entries, where, hierarchy.starred)


def cover(
    hierarchy: Hierarchy, values: Iterable[Value], column: str, unmapped: Literal["error", "top"] = "error"
) -> Hierarchy:
    """The hierarchy with a row for each of the data's values, so that none is lost in a join.

    NULL without a leaf becomes one that names itself below the top. Other values without a leaf raise
    HierarchyError, or with `unmapped="top"` become starred.

    >>> cover(from_rows([["39"]], "age.csv"), ["39", "40"], "age", unmapped="top").starred
    ('40',)
    """
    data = {key(value): value for value in values}
    missing = data.keys() - {key(value) for value in (*hierarchy.values, *hierarchy.starred)}
    strays = _distinct(data[each] for each in missing)
    if strays and unmapped != "top":
        advice = "add them there" if "" not in strays else "give a recipe, since the empty text is NULL in a file"
        raise HierarchyError(
            f"column {column!r}: the hierarchy lacks {len(strays)} of its values; "
            f"{advice}, or let `--unmapped top` send them to `*`",
            map(_show, strays[:_SHOWN]),
        )
    leaves, levels = hierarchy.values, hierarchy.levels
    if None in missing:
        top = levels[-1][0] if leaves else STAR
        leaves, levels = (*leaves, None), (*((*level, None) for level in levels[:-1]), (*levels[-1], top))
    return _checked(leaves, levels, f"column {column!r}", hierarchy.starred + strays)


def ranges(
    values: Iterable[Value],
    widths: Sequence[Number],
    column: str,
    bottom: Number | None = None,
    top: Number | None = None,
    origin: Number = 0,
) -> Hierarchy:
    """Half-open ranges of growing width, each level aligned to `origin`, and `*` above them.

    Values from `top` on become `>= top` and values under `bottom` become `< bottom`, from level 1 on (top
    and bottom coding); ranges are cut there. Exact: a float counts as the decimal it prints. Raises
    HierarchyError for a value that is no finite number, and widths that do not nest.

    >>> ranges([7, 12.5, 99], [10, 50], "age", top=90).levels
    (('[0, 10)', '[10, 20)', '>= 90'), ('[0, 50)', '[0, 50)', '>= 90'), ('*', '*', '*'))
    """
    where = f"column {column!r}"
    leaves = _distinct(values)
    numbers = [_decimal(value, where) for value in leaves]
    steps = [_decimal(width, where) for width in widths]
    low = -_INFINITY if bottom is None else _decimal(bottom, where)
    high = _INFINITY if top is None else _decimal(top, where)
    start = _decimal(origin, where)
    with localcontext(_EXACT):
        _check_ranges(steps, low, high, where)
        levels = _nested(numbers, [partial(_range, width, start, low, high) for width in steps])
    return _checked(leaves, [*levels, [STAR] * len(leaves)], where)


def redact(values: Iterable[Value], side: Literal["right", "left"], column: str, step: int = 1) -> Hierarchy:
    """Level l hides `l * step` characters with `*`, from one side, and the top is a single `*`.

    Values of different length still differ when all is hidden, so `*` comes one level later for them.

    >>> redact(["NL805", "NL8"], "right", "zip", step=2).labels(1)
    ('N**', 'NL8**')
    """
    if step < 1:
        raise HierarchyError(f"column {column!r}: a step of {step} hides nothing; give 1 or more characters")
    leaves = _distinct(values)
    texts = [as_text(value) for value in leaves]
    longest = max(map(len, texts), default=0)
    levels = [[_hide(text, hidden, side) for text in texts] for hidden in range(step, longest + step, step)]
    if levels and len(set(levels[-1])) == 1:
        levels[-1] = [STAR] * len(leaves)
    return _checked(leaves, levels, f"column {column!r}")


def dates(values: Iterable[Value], units: Sequence[str], column: str) -> Hierarchy:
    """Calendar levels from day, month, quarter, year, decade and century, and `*` above them.

    Takes dates, timestamps and ISO text. A century is `2000-2099`, so that decades nest in it. Raises
    HierarchyError for a value that is no date, and units unknown or not each coarser than the last.

    >>> [label for label, in dates([date(2020, 5, 17)], ["month", "quarter", "decade"], "born").levels]
    ['2020-05', '2020-Q2', '2020s', '*']
    """
    where = f"column {column!r}"
    _check_units(units, where)
    leaves = _distinct(values)
    days = [_day(value, where) for value in leaves]
    return _checked(leaves, [*_nested(days, [_UNITS[unit] for unit in units]), [STAR] * len(leaves)], where)


def taxonomy(pairs: Iterable[tuple[str, str]], values: Iterable[Value], column: str, name: str) -> Hierarchy:
    """The hierarchy of a tree of child and parent; a parent of '', `*` or the child itself marks a root.

    Leaves (text) are the nodes without children, and the data's values that are inner nodes. Levels are
    counted from the root, so a shallow leaf names itself on the low ones. An empty child is NULL. Raises
    HierarchyError for no pairs, a cycle, and a child with two parents.

    >>> taxonomy([("NL", "EU"), ("EU", "World"), ("US", "World")], [], "country", "tree.csv").levels
    (('EU', 'US'), ('World', 'World'))
    """
    where = f"{name} (column {column!r})"
    parents = _parents(pairs, where)
    paths = {node: _path(node, parents, where) for node in parents}
    data = {as_text(value) for value in values if value is not None}
    leaves = paths.keys() - set(parents.values()) | paths.keys() & data
    if None in parents:
        leaves.add(None)
    ordered = [node for node in paths if node in leaves]
    depth = max(len(paths[leaf]) for leaf in ordered) - 1
    levels = [[paths[leaf][: above + 1][-1] for leaf in ordered] for above in reversed(range(depth))]
    return _checked(ordered, levels, where)


def suppress(values: Iterable[Value], column: str) -> Hierarchy:
    """The hierarchy of height 1: a value, or `*`.

    >>> list(suppress(["Male", "Female"], "sex").rows())
    [('Female', '*'), ('Male', '*')]
    """
    leaves = _distinct(values)
    return _checked(leaves, [[STAR] * len(leaves)], f"column {column!r}")


def _checked(
    values: Sequence[Value], levels: Sequence[Sequence[Label]], where: str, starred: tuple[Value, ...] = ()
) -> Hierarchy:
    """The only place that makes a Hierarchy: adds the missing top, refuses a level that splits a label."""
    tops = set(levels[-1]) if levels else {None}
    if len(tops) > 1 or None in tops:
        levels = [*levels, [STAR] * len(values)]
    hierarchy = Hierarchy(tuple(values), tuple(map(tuple, levels)), starred)
    # With level 0 and the starred rows: a leaf "*" must not part again from the values sent to the top.
    for level in range(1, hierarchy.height + 1):
        _check_function(hierarchy.labels(level - 1), hierarchy.labels(level), level, where)
    return hierarchy


def _check_function(below: Sequence[Value], above: Sequence[Value], level: int, where: str) -> None:
    links = set(zip(below, above, strict=True))
    if len(links) == len(set(below)):
        return
    becomes: dict[Value, Value] = {}
    for label, parent in zip(below, above, strict=True):
        known = becomes.setdefault(label, parent)
        if known != parent:
            raise HierarchyError(
                f"{where}: level {level} splits {_show(label)} of level {level - 1} "
                f"into {_show(known)} and {_show(parent)}; give it one label there"
            )


def _from_lines(lines: Sequence[tuple[int, Sequence[str]]], name: str) -> Hierarchy:
    if not lines:
        raise HierarchyError(f"{name}: there are no rows; write one `value;level1;…` per value")
    expected = max(1, len(lines[0][1]))
    return _merged((_entry(number, row, expected, name) for number, row in lines), name)


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
                f"{where}: {_show(value)} has the labels {_join(known)} ({first}) "
                f"and {_join(labels)} ({origin}); keep one of the two"
            )
    levels = list(zip(*(labels for _, labels, _ in leaves.values()), strict=True))
    return _checked([value for value, _, _ in leaves.values()], levels, where, starred)


def _separator(text: str) -> str:
    first = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    return next((mark for mark in ";\t|," if mark in first), ";")


def _decimal(value: Value, where: str) -> Decimal:
    try:
        number = Decimal(str(value))
    except ArithmeticError:
        number = _INFINITY
    if not number.is_finite() or max(abs(number.adjusted()), len(str(value))) > _DIGITS:
        raise HierarchyError(
            f"{where}: a value is not a finite number; make it one (or NULL), or use a hierarchy file", [_show(value)]
        )
    return number


def _check_ranges(widths: Sequence[Decimal], bottom: Decimal, top: Decimal, where: str) -> None:
    if bottom >= top:
        raise HierarchyError(f"{where}: bottom {bottom} is not below top {top}; swap them, or drop one")
    if not widths or min(widths) <= 0:
        shown = ", ".join(map(str, widths)) or "none"
        raise HierarchyError(f"{where}: ranges need widths above 0, and these are given: {shown}; mend them")
    for finer, width in pairwise(widths):
        if width % finer:
            raise HierarchyError(
                f"{where}: the width {width} is not a multiple of {finer}, the one before; "
                "make it one, so that ranges nest"
            )


def _range(width: Decimal, origin: Decimal, bottom: Decimal, top: Decimal, number: Decimal) -> str:
    if number >= top:
        return f">= {_plain(top)}"
    if number < bottom:
        return f"< {_plain(bottom)}"
    past = (number - origin) % width  # has the sign of what is divided
    low = number - past - (width if past < 0 else 0)
    return f"[{_plain(max(low, bottom))}, {_plain(min(low + width, top))})"


def _nested(items: Sequence[Value], labellers: Iterable[Callable[[Any], str]]) -> list[list[str]]:
    """Levels that are known to nest: each label is made once per label of the level below."""
    levels: list[list[str]] = []
    below = items
    for labeller in labellers:
        label_of = {name: labeller(item) for name, item in dict(zip(below, items, strict=True)).items()}
        below = [label_of[name] for name in below]
        levels.append(below)
    return levels


def _plain(number: Decimal) -> str:
    """Without exponent, trailing zeros or the sign of a zero."""
    return format(number.normalize() + 0, "f")


_UNITS: dict[str, Callable[[date], str]] = {
    "day": lambda day: day.isoformat()[:10],
    "month": lambda day: day.isoformat()[:7],
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10 * 10:04d}s",
    "century": lambda day: f"{day.year // 100:02d}00-{day.year // 100:02d}99",
}


def _check_units(units: Sequence[str], where: str) -> None:
    order = list(_UNITS)
    if not units or not set(units) <= set(order):
        shown = ", ".join(units) or "none"
        why = " (weeks do not nest in months)" if "week" in units else ""
        raise HierarchyError(f"{where}: the units given are {shown}{why}; choose among {', '.join(order)}")
    for finer, unit in pairwise(units):
        if order.index(unit) <= order.index(finer):
            raise HierarchyError(f"{where}: {unit} is not coarser than {finer}; go from fine to coarse")


def _day(value: Value, where: str) -> date:
    try:
        return value if isinstance(value, date) else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise HierarchyError(
            f"{where}: a value is not a date; write it as YYYY-MM-DD, or use a hierarchy file", [_show(value)]
        ) from None


def _hide(text: str, hidden: int, side: str) -> str:
    hidden = min(hidden, len(text))
    stars = STAR * hidden
    return text[: len(text) - hidden] + stars if side == "right" else stars + text[hidden:]


def _parents(pairs: Iterable[tuple[str, str]], where: str) -> dict[Label, Label]:
    """The parent of every node, None for a root; the child None is NULL, which has no children."""
    parents: dict[Label, Label] = {}
    for child, parent in pairs:
        up = None if parent in ("", STAR, child) else parent
        if child != STAR and parents.setdefault(child or None, up) != up:
            first, second = (node or STAR for node in (parents[child or None], up))
            raise HierarchyError(f"{where}: {_show(child)} has two parents, {first!r} and {second!r}; keep one")
    if not parents:
        raise HierarchyError(f"{where}: there are no pairs; write one `child;parent` per node")
    return dict.fromkeys(filter(None, parents.values())) | parents


def _path(node: Label, parents: dict[Label, Label], where: str) -> list[Label]:
    """From the root down to the node."""
    path = [node]
    while (parent := parents[path[-1]]) is not None:
        if parent in path:
            cycle = " -> ".join(map(str, [*path[path.index(parent) :], parent]))
            raise HierarchyError(f"{where}: the parents run in a circle, {cycle}; drop one of these pairs")
        path.append(parent)
    return path[::-1]


def _integer(text: str) -> int:
    number = Decimal(text)
    if abs(number.adjusted()) > 400 or number != number.to_integral_value():
        raise ValueError(text)
    return int(number)


def _date(text: str) -> date:
    moment = datetime.fromisoformat(text)
    if moment.time() != time():
        raise ValueError(text)
    return moment.date()


# What an engine's dates and times can be and Python's cannot, or not exactly; a zone is written in several ways.
_BEYOND_PYTHON = {
    "date": re.compile(r"-?infinity|\d{5,}-.*|.*BC\)?"),
    "timestamp": re.compile(r"-?infinity|\d{5,}-.*|.*BC\)?|.*\.\d{7,}.*"),
    "time": re.compile(r"24:00.*|.*\.\d{7,}|.*[+-].*"),
}
_READERS: dict[str, Callable[[str], Value]] = {
    "integer": _integer,
    "decimal": Decimal,
    "float": float,
    "date": _date,
    "timestamp": datetime.fromisoformat,
    "time": time.fromisoformat,
    "boolean": lambda text: {"true": True, "t": True, "false": False, "f": False}[text.lower()],
}


def read(text: str, kind: str) -> Value:
    """A value of a kind from its text; the text itself where Python has no such date or time, ValueError for no value.

    >>> read("2020-05-17", "date"), read("infinity", "date"), read("24:00:00", "time"), read("NL", "text")
    (datetime.date(2020, 5, 17), 'infinity', '24:00:00', 'NL')
    """
    beyond = _BEYOND_PYTHON.get(kind)
    if kind not in _READERS or (beyond and beyond.fullmatch(text)):
        return text
    try:
        return _READERS[kind](text)
    except (ArithmeticError, KeyError) as error:
        raise ValueError(text) from error


def key(value: Value) -> Value:
    """What two equal values share: NaN is equal to NaN here.

    >>> key(1) == key(1.0), key(float("nan")) == key(Decimal("nan"))
    (True, True)
    """
    if isinstance(value, float):
        return _NAN if math.isnan(value) else value
    return _NAN if isinstance(value, Decimal) and value.is_nan() else value


def _distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    """Without NULL and in order, so that a hierarchy does not depend on the order of the data."""
    found = {key(value): value for value in values if value is not None}.values()
    try:
        return tuple(sorted(found, key=lambda value: (key(value) is _NAN, value)))
    except TypeError:
        return tuple(sorted(found, key=repr))


def as_text(value: Value) -> str:
    """A value as an engine reads it back.

    >>> as_text(date(2020, 5, 17)), as_text(1.5)
    ('2020-05-17', '1.5')
    """
    return str(value.isoformat()) if isinstance(value, date | time) else str(value)


def _show(value: Value) -> str:
    if value is None:
        return "NULL"
    text = repr(value) if isinstance(value, str) else as_text(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _join(labels: Sequence[Label]) -> str:
    return repr(";".join(label or "" for label in labels))
