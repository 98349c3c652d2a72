"""Recipes: a hierarchy by ranges, redaction, calendar, age, taxonomy, groups or one step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date, datetime
from decimal import Context, Decimal, localcontext
from functools import partial
from itertools import pairwise
from math import floor
from typing import Any, Literal, TypeAlias

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.calendar import NAMED, TimeUnit, unit
from kanon_sql.generalization.hierarchy import (
    OR_TOP,
    SHOWN,
    STAR,
    Hierarchy,
    Level,
    nested_levels,
    new_level,
    of_levels,
)
from kanon_sql.generalization.label_rules import MOST
from kanon_sql.generalization.values import Label, Value, as_text, ordered, printed

Number: TypeAlias = int | float | Decimal | str
ExactNumber: TypeAlias = int | Decimal

_INFINITY = Decimal("Infinity")
# `ranges` accepts numbers of at most 400 digits, below 10**400 (so any float), and computes exactly with them.
_DIGITS = 400
_EXACT = Context(prec=5 * _DIGITS)


def ranges(
    values: Iterable[Value],
    widths: Sequence[Number],
    column: str,
    bottom: Number | None = None,
    top: Number | None = None,
    origin: Number = 0,
) -> Hierarchy:
    """Half-open ranges of growing width, all aligned to `origin`, and `*` above them.

    Values from `top` on become `>= top` and values under `bottom` become `< bottom`, from level 1 on (top and bottom
    coding); ranges end there. Exact: a float is the decimal that it prints. Raises HierarchyError for a value that is
    not a finite number, and widths that do not nest.

    >>> ranges([7, 12.5, 99], [10, 50], "age", top=90).levels
    (('[0, 10)', '[10, 20)', '>= 90'), ('[0, 50)', '[0, 50)', '>= 90'), ('*', '*', '*'))
    """
    where = f"column {column!r}"
    leaves = ordered(values)
    numbers = _exact(leaves, where)
    steps = [_decimal(width, where) for width in widths]
    low = -_INFINITY if bottom is None else _decimal(bottom, where)
    high = _INFINITY if top is None else _decimal(top, where)
    start = _decimal(origin, where)
    with localcontext(_EXACT):
        _check_ranges(steps, low, high, where)
        return of_levels(leaves, _labelled(numbers, steps, start, low, high))


def redact(values: Iterable[Value], side: Literal["right", "left"], column: str, step: int = 1) -> Hierarchy:
    """Level l hides `l * step` characters with `*`, from one side, and the top is a single `*`.

    Completely hidden values of different length still differ, so they become `*` one level later.

    >>> redact(["NL805", "NL8"], "right", "zip", step=2).labels(1)
    ('N**', 'NL8**')
    """
    if step < 1:
        raise HierarchyError(f"column {column!r}: a step of {step} hides nothing; hide 1 or more characters")
    leaves = ordered(values)
    texts = [as_text(value) for value in leaves]
    longest = max(map(len, texts), default=0)
    hides = [partial(_hide, hidden=hidden, side=side) for hidden in range(step, longest + step, step)]
    levels = _nested(texts, hides)
    if levels and len(levels[-1].labels) == 1:
        levels.pop()
    return of_levels(leaves, levels)


def dates(values: Iterable[Value], units: Sequence[str], column: str) -> Hierarchy:
    """Calendar levels such as hour, day, week, month, quarter, year, `5 years`, decade and century; `*` above them.

    Takes dates, timestamps and ISO text. A century is `2000-2099`, so that decades nest in it; `5 years` are
    `2020-2024`, and weeks those of ISO 8601. Raises HierarchyError for a value that is not a date, unknown units, and
    units that do not nest.

    >>> [label for label, in dates([date(2020, 5, 17)], ["month", "quarter", "decade"], "born").levels]
    ['2020-05', '2020-Q2', '2020s', '*']
    """
    where = f"column {column!r}"
    steps = _checked_units(units, where)
    leaves = ordered(values)
    days = [_day(value, where) for value in leaves]
    same = [(day.year, day.month, day.day) for day in days] if steps[0].hours != 1 else days
    return of_levels(leaves, _nested(days, [step.label for step in steps], same))


def edges(values: Iterable[Value], levels: Sequence[Sequence[Number]], column: str) -> Hierarchy:
    """Half-open ranges between custom edges, a list of edges per level, and `*` above them; for skewed numbers.

    The edges of a level are a subset of those of the level below. Raises HierarchyError for a value that is not a
    finite number, and edges that do not increase or are not among those below.

    >>> edges([0, 3, 700], [[1, 10, 100], [10]], "gain").levels
    (('< 1', '[1, 10)', '>= 100'), ('< 10', '< 10', '>= 10'), ('*', '*', '*'))
    """
    where = f"column {column!r}"
    leaves = ordered(values)
    numbers = [_decimal(value, where) for value in leaves]
    cuts = [[_decimal(edge, where) for edge in level] for level in levels]
    _check_edges(cuts, where)
    finest = [bisect_right(cuts[0], number) for number in numbers]
    return of_levels(leaves, _nested(numbers, [partial(_between, cut) for cut in cuts], finest))


def ages(values: Iterable[Value], as_of: date, bands: Sequence[int], column: str, top: int | None = None) -> Hierarchy:
    """Ages at a date, from dates of birth, in bands of years, and `*` above them.

    A band of 1 is the age itself; ages from `top` on become `>= top`, and dates of birth in the future `< 0`. Raises
    HierarchyError for a value that is not a date, and bands that do not nest.

    >>> ages([date(1990, 5, 17), date(1931, 1, 1)], date(2026, 5, 16), [1, 10], "born", top=90).levels
    (('>= 90', '35'), ('>= 90', '[30, 40)'), ('*', '*'))
    """
    where = f"column {column!r}"
    leaves = ordered(values)
    days = (_day(value, where) for value in leaves)
    years = [as_of.year - day.year - ((as_of.month, as_of.day) < (day.month, day.day)) for day in days]
    widths = [Decimal(band) for band in bands]
    high = _INFINITY if top is None else Decimal(top)
    _check_ranges(widths, Decimal(0), high, where)
    labellers = [partial(_band, width, Decimal(0), Decimal(0), high) for width in widths]
    return of_levels(leaves, _nested(list(map(Decimal, years)), labellers))


def taxonomy(pairs: Iterable[tuple[str, str]], values: Iterable[Value], column: str, name: str) -> Hierarchy:
    """The hierarchy of a tree of child and parent; a parent of '', `*` or the child itself marks a root.

    Leaves (text) are the nodes without children, and inner nodes that occur in the data. Levels are counted from the
    root, so a shallow leaf is its own label on the low levels. An empty child is NULL. Raises HierarchyError for no
    pairs, a cycle, and a child with two parents.

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
    return nested_levels(ordered, levels, where)


def groups(
    levels: Sequence[Mapping[str, Sequence[str]]], column: str, unmapped: Literal["error", "top", "refuse"] = "error"
) -> Hierarchy:
    """The hierarchy of groups by hand: per level the members of every label, first values, then labels below; and `*`.

    Leaves are text, and the empty text is NULL. With `unmapped="top"`, a label that is in no group of the next level
    becomes `*`. Otherwise it raises HierarchyError, as do a member of two groups, a member that is not a label of the
    level below, an empty group, and a label `*` below the last level.

    >>> schools = [{"School": ["9th", "10th"], "Higher": ["Masters"]}, {"Any": ["School", "Higher"]}]
    >>> list(groups(schools, "education").rows())
    [('9th', 'School', 'Any', '*'), ('10th', 'School', 'Any', '*'), ('Masters', 'Higher', 'Any', '*')]
    """
    where = f"column {column!r}"
    groups = (_group_of(level, number, number == len(levels), where) for number, level in enumerate(levels, 1))
    label_of, *above = groups
    labels = [list(label_of.values())]
    for number, parents in enumerate(above, 2):
        _check_members(parents.keys(), set(labels[-1]) - {STAR}, number, unmapped, where)
        labels.append([parents.get(label, STAR) for label in labels[-1]])
    if set(labels[-1]) != {STAR}:
        labels.append([STAR] * len(label_of))
    return nested_levels([value or None for value in label_of], labels, where)


def grouped(values: Iterable[Value], levels: Iterable[Sequence[Label]]) -> list[dict[str, list[str]]]:
    """The argument of `groups` that yields these labels; without the `*` at the top, and NULL that stays NULL.

    >>> from kanon_sql.generalization.hierarchy import from_rows
    >>> schools = from_rows([["9th", "School", "*"], ["10th", "School", "*"], ["", "", "*"]], "education.csv")
    >>> grouped(schools.values, schools.levels)
    [{'School': ['9th', '10th']}]
    """
    rows = [[value, *labels] for value, *labels in zip(values, *levels, strict=True) if None not in labels]
    below, *columns = zip(*rows, strict=True)
    texts = ["" if value is None else as_text(value) for value in below]
    groups: list[dict[str, list[str]]] = []
    for labels in columns:
        members: dict[str, dict[str, None]] = {}
        for text, label in zip(texts, labels, strict=True):
            members.setdefault(label, {})[text] = None
        groups.append({label: list(leaves) for label, leaves in members.items()})
        texts = list(labels)
    return groups[:-1] if len(groups) > 1 and groups[-1].keys() == {STAR} else groups


def suppress(values: Iterable[Value], column: str) -> Hierarchy:
    """The hierarchy of height 1: a value, or `*`.

    >>> list(suppress(["Male", "Female"], "sex").rows())
    [('Female', '*'), ('Male', '*')]
    """
    leaves = ordered(values)
    return nested_levels(leaves, [[STAR] * len(leaves)], f"column {column!r}")


def _group_of(level: Mapping[str, Sequence[str]], number: int, last: bool, where: str) -> dict[str, str]:
    """The label of every member of a level of groups."""
    if not level:
        raise HierarchyError(f"{where}: level {number} has no groups; write some such as {{Higher: [Bachelors]}}")
    if STAR in level and not last:
        raise HierarchyError(f"{where}: a group of level {number} is called `*`, as the top is; choose another label")
    label_of: dict[str, str] = {}
    for label, members in level.items():
        if not members:
            raise HierarchyError(f"{where}: the group {label!r} of level {number} is empty; fill it, or leave it out")
        for member in members:
            if label_of.setdefault(member, label) != label:
                raise HierarchyError(
                    f"{where}: a member of {label!r} is in {label_of[member]!r} on level {number} too; keep one",
                    [printed(member or None)],
                )
    return label_of


def _check_members(members: Set[str], below: Set[str], number: int, unmapped: str, where: str) -> None:
    """HierarchyError unless the members of a level of groups are the labels below it."""
    if strays := sorted(members - below):
        raise HierarchyError(
            f"{where}: the groups of level {number} have {len(strays)} members that are not labels of level "
            f"{number - 1}; name its labels there, or leave them out",
            map(printed, strays[:SHOWN]),
        )
    missing = sorted(below - members)
    if missing and unmapped != "top":
        raise HierarchyError(
            f"{where}: the groups of level {number} lack {len(missing)} of the labels of level {number - 1}; "
            f"add them there{OR_TOP if unmapped == 'error' else ''}",
            map(printed, missing[:SHOWN]),
        )


def _exact(leaves: Sequence[Value], where: str) -> Sequence[ExactNumber]:
    """Small integers unchanged, other numbers as the decimals that they print."""
    if set(map(type, leaves)) == {int} and max(-leaves[0], leaves[-1]) < MOST:
        return leaves
    return [_decimal(value, where) for value in leaves]


def _decimal(value: Value, where: str) -> Decimal:
    if type(value) is int and abs(value) < MOST:
        return Decimal(value)
    try:
        number = Decimal(str(value))
    except ArithmeticError:
        number = _INFINITY
    if not number.is_finite() or max(abs(number.adjusted()), len(str(value))) > _DIGITS:
        raise HierarchyError(
            f"{where}: a value is not a finite number; replace it by a number or NULL, or use a hierarchy file",
            [printed(value)],
        )
    return number


def _check_ranges(widths: Sequence[Decimal], bottom: Decimal, top: Decimal, where: str) -> None:
    if bottom >= top:
        raise HierarchyError(f"{where}: bottom {bottom} is not below top {top}; swap them, or drop one")
    if not widths or min(widths) <= 0:
        shown = ", ".join(map(str, widths)) or "none"
        raise HierarchyError(f"{where}: ranges need widths above 0, not {shown}; correct them")
    for finer, width in pairwise(widths):
        if width % finer:
            raise HierarchyError(
                f"{where}: the width {width} is not a multiple of {finer}, the previous one; "
                "make it one, so that ranges nest"
            )


def _check_edges(levels: Sequence[Sequence[Decimal]], where: str) -> None:
    if not levels or not all(levels):
        raise HierarchyError(
            f"{where}: edges are a list of numbers per level, and one is empty; write [[10, 50], [50]]"
        )
    for level in levels:
        if list(level) != sorted(set(level)):
            raise HierarchyError(
                f"{where}: the edges {_shown(level)} do not increase; write them from low to high, each once"
            )
    for finer, coarser in pairwise(levels):
        if not set(coarser) <= set(finer):
            new = sorted(set(coarser) - set(finer))
            raise HierarchyError(
                f"{where}: the edges {_shown(new)} are not among those of the level below; add them there"
            )


def _shown(numbers: Iterable[Decimal]) -> str:
    return ", ".join(map(_plain, numbers))


def _between(edges: Sequence[Decimal], number: Decimal) -> str:
    above = bisect_right(edges, number)
    if above == 0:
        return f"< {_plain(edges[0])}"
    if above == len(edges):
        return f">= {_plain(edges[-1])}"
    return f"[{_plain(edges[above - 1])}, {_plain(edges[above])})"


def _band(width: Decimal, origin: Decimal, bottom: Decimal, top: Decimal, age: Decimal) -> str:
    one = width == 1 and bottom <= age < top
    return _plain(age) if one else _range(width, origin, bottom, top, age)


def _range(width: ExactNumber, origin: ExactNumber, bottom: ExactNumber, top: ExactNumber, number: ExactNumber) -> str:
    if number >= top:
        return f">= {_plain(top)}"
    if number < bottom:
        return f"< {_plain(bottom)}"
    past = (number - origin) % width  # has the sign of the dividend
    low = number - past - (width if past < 0 else 0)
    return f"[{_plain(max(low, bottom))}, {_plain(min(low + width, top))})"


def _labelled(
    numbers: Sequence[ExactNumber], widths: Sequence[Decimal], origin: Decimal, bottom: Decimal, top: Decimal
) -> list[Level]:
    if not all(number == number.to_integral_value() for number in (*widths, origin, bottom, top)):
        exact = list(map(Decimal, numbers))
        return _nested(exact, [partial(_range, width, origin, bottom, top) for width in widths])
    # A number and its floor are in the same range between integers, and integers are several times faster.
    floors, (finest, *coarser), start = list(map(floor, numbers)), list(map(int, widths)), int(origin)
    low, high = (int(bound) if bound.is_finite() else bound for bound in (bottom, top))
    open_ended = low == -_INFINITY and high == _INFINITY
    shared: list[Any] = [(lowest - start) // finest for lowest in floors]
    if not open_ended:
        shared = [(place, number < low, number >= high) for place, number in zip(shared, floors, strict=True)]
    return _nested(floors, [partial(_range, width, start, low, high) for width in (finest, *coarser)], shared)


def _nested(
    items: Sequence[Value], labellers: Iterable[Callable[[Any], str]], same: Sequence[Any] | None = None
) -> list[Level]:
    """Levels that nest by construction. `same`: as in `new_level`, for the lowest level."""
    levels: list[Level] = []
    for labeller in labellers:
        levels.append(new_level(items, labeller, levels[-1] if levels else None, same))
    return levels


def _plain(number: ExactNumber) -> str:
    """Without exponent, trailing zeros or the sign of a zero."""
    if isinstance(number, int):
        return str(number)
    return format(number.normalize() + 0, "f")


def _checked_units(names: Sequence[str], where: str) -> list[TimeUnit]:
    """The units of these names, which must nest."""
    units = [unit_ for unit_ in map(unit, names) if unit_]
    if not units or len(units) < len(names):
        shown = ", ".join(names) or "none"
        raise HierarchyError(
            f"{where}: the units are {shown}; choose among {', '.join(NAMED)}, and bands such as `5 years`"
        )
    for finer, coarser in pairwise(units):
        if not finer.nests_in(coarser):
            why = "weeks do not nest in months" if finer.name == "week" else "go from fine to coarse"
            whole = finer.months and coarser.months > finer.months
            wrong = f"not a multiple of {finer.name}" if whole else f"not coarser than {finer.name}"
            raise HierarchyError(f"{where}: {coarser.name} is {wrong}; {why}")
    return units


def _day(value: Value, where: str) -> date:
    try:
        return value if isinstance(value, date) else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise HierarchyError(
            f"{where}: a value is not a date; write it as YYYY-MM-DD, or use a hierarchy file", [printed(value)]
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
            raise HierarchyError(f"{where}: {printed(child)} has two parents, {first!r} and {second!r}; keep one")
    if not parents:
        raise HierarchyError(f"{where}: there are no pairs; write one `child;parent` per node")
    return dict.fromkeys(filter(None, parents.values())) | parents


def _path(node: Label, parents: dict[Label, Label], where: str) -> list[Label]:
    """From the root down to the node."""
    path = [node]
    while (parent := parents[path[-1]]) is not None:
        if parent in path:
            cycle = " -> ".join(map(str, [*path[path.index(parent) :], parent]))
            raise HierarchyError(f"{where}: the parents form a cycle, {cycle}; drop one of these pairs")
        path.append(parent)
    return path[::-1]
