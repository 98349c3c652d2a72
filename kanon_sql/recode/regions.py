"""Regions: the labels of a release's classes, kept so that rows of the next release can be put into them.

A region is a cell per column: a node of its hierarchy, a range of its values, or everything. Rows in it can be released
with its labels, which are true for them. Inside is the box of the class's own values, which are values of people: it
distinguishes regions that overlap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column
from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.generalization.hierarchy import STAR
from kanon_sql.generalization.values import key, label_of, read
from kanon_sql.queries import Relation
from kanon_sql.recode.order import Order, is_placed, number_key
from kanon_sql.recode.show import form_of, shown_names
from kanon_sql.recode.task import ClassCell, Local, Region
from kanon_sql.spec import Limits

_TYPES = {
    "class": "INTEGER",
    "column": "VARCHAR",
    "shown": "VARCHAR",
    "level": "INTEGER",
    "everything": "BOOLEAN",
    "label": "VARCHAR",
    "label_high": "VARCHAR",
    "low": "VARCHAR",
    "high": "VARCHAR",
}
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Regions:
    """The regions of a release, with one cell per column, and the form of every column's labels.

    Regions with equal labels and different boxes are one class of the release.
    """

    columns: tuple[str, ...]
    hows: tuple[str, ...]
    regions: tuple[Region, ...]

    @property
    def count(self) -> int:
        """The number of classes that they form."""
        return len(set(map(labels_of, self.regions)))


def labels_of(region: Region) -> Region:
    """The labels of a region, without the box of its class."""
    return tuple(replace(cell, low=None, high=None) for cell in region)


def regions_of(
    tables: Scratch, local: Local, classes: Relation, orders: Sequence[Order], hows: Sequence[str]
) -> Regions:
    """The regions of the classes of a local recoding, by the loss of their boxes: their labels, and the boxes of their
    values."""
    columns = [order.attribute.column.name for order in orders]
    keys, positions = [o.attribute.coded.code_column(0) for o in orders], [o.relation for o in orders]
    with Scratch(tables.engine, "regions") as scratch:
        boxes = scratch.create_as("boxes", queries.boxes(local.assignment, keys, positions, tables.engine.dialect))
        ends = [f"{end}_{j}" for j in range(len(orders)) for end in ("low", "high")]
        box_of = {row[0]: dict(zip(ends, row[1:], strict=True)) for row in _rows(scratch, boxes, ["class", *ends])}
        names = [[f"level_{j}", f"label_{j}", f"high_{j}"][: 1 + len(shown_names("", h))] for j, h in enumerate(hows)]
        source = ["class", *(name for of in names for name in of)]
        shown = [dict(zip(source, row, strict=True)) for row in _rows(scratch, classes, source)]
    regions = (tuple(_cells(row, box_of[row["class"]], orders, hows)) for row in shown if row["class"] in box_of)
    placings = [Placing(order, how) for order, how in zip(orders, hows, strict=True)]
    by_loss = [region for region, _ in placed(sorted(dict.fromkeys(regions), key=repr), placings, Placing.box_of)]
    return Regions(tuple(columns), tuple(hows), tuple(by_loss))


def _rows(tables: Scratch, source: Relation, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    return tables.rows("frequency_sets/copy", columns=list(columns), source=source)


def _cells(
    row: Mapping[str, Any], box: Mapping[str, int], orders: Sequence[Order], hows: Sequence[str]
) -> Iterator[ClassCell]:
    for j, (order, how) in enumerate(zip(orders, hows, strict=True)):
        level, label, high = int(row[f"level_{j}"]), label_of(row[f"label_{j}"]), label_of(row.get(f"high_{j}"))
        top = level == order.attribute.hierarchy.height
        everything = top and (not _is_range(how) or label in (None, STAR))
        ends = (label_of(order.values[box[f"{end}_{j}"]]) for end in ("low", "high"))
        yield ClassCell(level, everything, label, high, *ends)


def _is_range(how: str) -> bool:
    return form_of(how) in ("ranges", "bounds")


def write_regions(regions: Regions, path: Path, limits: Limits | None = None) -> None:
    """Write regions to a Parquet file, with a row per region and column."""
    rows = [
        (number, name, how, *astuple(cell))
        for number, region in enumerate(regions.regions)
        for name, how, cell in zip(regions.columns, regions.hows, region, strict=True)
    ]
    here = embedded(limits)
    with Scratch(here, "regions") as tables:
        loaded = tables.load("regions", _TYPES, list(zip(*rows, strict=True)) or [[]] * len(_TYPES))
        here.write_file(queries.select_all(loaded, here.dialect), path, "parquet")
    here.close()


def read_regions(path: Path, limits: Limits | None = None) -> Regions:
    """Read a file of regions; SourceError for any other file."""
    here = embedded(limits)
    try:
        table = here.read_file(str(path))
        if [column.name for column in table.columns] != list(_TYPES):
            raise SourceError("other columns")
        rows = here.rows(queries.select_all(table.relation, here.dialect))
    except KanonError:
        raise SourceError(f"{path} is not a file of regions; name one that `write_regions` wrote") from None
    finally:
        here.close()
    hows = {name: how for _, name, how, *_ in rows}
    cells: dict[int, dict[str, ClassCell]] = {}
    for number, name, _, *cell in rows:
        cells.setdefault(number, {})[name] = ClassCell(*cell)
    regions = tuple(tuple(cells[number][name] for name in hows) for number in sorted(cells))
    return Regions(tuple(hows), tuple(hows.values()), regions)


def check_regions(regions: Regions, columns: Sequence[str], hows: Sequence[str]) -> Regions:
    """The regions with their columns in this order; SpecError for other columns, or another form of labels."""
    if regions.columns and set(regions.columns) != set(columns):
        raise SpecError(
            f"the regions are of {', '.join(regions.columns)}, and the quasi-identifiers are {', '.join(columns)}; "
            "run again without `node_from` and `regions`"
        )
    shown = dict(zip(regions.columns, regions.hows, strict=True))
    for name, how in zip(columns, hows, strict=True):
        if name in shown and _form(shown[name]) != _form(how):
            raise SpecError(
                f"the regions show {name!r} as {shown[name]}, but the spec shows it as {how}; show it as before, or "
                "run again without `node_from` and `regions`"
            )
    places = [regions.columns.index(name) for name in columns] if regions.columns else []
    return Regions(tuple(columns), tuple(hows), tuple(tuple(region[i] for i in places) for region in regions.regions))


def _form(how: str) -> str:
    return form_of(how) if _is_range(how) else "labels"


@dataclass(frozen=True)
class Placing:
    """Places the cells of one column in the order of the current values: ranges of positions."""

    order: Order
    how: str

    def of(self, cell: ClassCell) -> tuple[int, int] | None:
        """The first and last position in a cell; None if there are none, or if they are not contiguous."""
        if cell.everything:
            return 0, len(self.order.rows) - 1
        if _is_range(self.how):
            return self._range(*self._ends(cell))
        label: Any = cell.label
        if cell.level == 0 and label is not None:  # the value whose text it is
            label = key(read(label, self._column.kind))
        found = self._nodes[cell.level].get(label, ())
        return (found[0], found[-1]) if found and found[-1] - found[0] + 1 == len(found) else None

    def box_of(self, cell: ClassCell) -> tuple[int, int] | None:
        """The positions of a cell between the first and last value of its class; None if there are none."""
        shown, (low, high) = self.of(cell), self._box(cell)
        if shown is None:
            return None
        first, last = max(shown[0], low), min(shown[1], high)
        return (first, last) if first <= last else None

    def width(self, first: int, last: int) -> float:
        """The share of the column's values in a range of positions, beyond one."""
        return (last - first) / max(1, self.order.leaf_count - 1)

    @property
    def _column(self) -> Column:
        return self.order.attribute.column

    def _ends(self, cell: ClassCell) -> tuple[Any, Any]:
        low, high = cell.label, cell.label if form_of(self.how) == "ranges" else cell.label_high
        if form_of(self.how) == "ranges" and low is not None and low.startswith("["):
            low, _, high = low[1:-1].partition(", ")
        return tuple(None if text is None else read(text, self._column.kind) for text in (low, high))  # type: ignore

    def _box(self, cell: ClassCell) -> tuple[int, int]:
        low, high = (None if text is None else read(text, self._column.kind) for text in (cell.low, cell.high))
        everywhere = 0, len(self.order.rows) - 1
        if self.order.numeric and low is not None and high is not None:
            start, keys = self._placed
            return start + bisect_left(keys, number_key(low)), start + bisect_right(keys, number_key(high)) - 1
        first, last = (self._nodes[0].get(key(value)) for value in (low, high))
        return first[0] if first else everywhere[0], last[0] if last else everywhere[1]

    def _range(self, low: Any, high: Any) -> tuple[int, int] | None:
        if low is None or high is None:
            return self._null
        start, keys = self._placed
        first, last = bisect_left(keys, number_key(low)), bisect_right(keys, number_key(high)) - 1
        return (start + first, start + last) if first <= last else None

    @cached_property
    def _null(self) -> tuple[int, int] | None:
        leaves = self.order.attribute.hierarchy.values
        found = [place for place, row in enumerate(self.order.rows) if row < len(leaves) and leaves[row] is None]
        return (found[0], found[0]) if found else None

    @cached_property
    def _placed(self) -> tuple[int, list[Any]]:
        placed = [(place, number_key(value)) for place, value in enumerate(self.order.values) if is_placed(value)]
        return placed[0][0] if placed else 0, [ranges for _, ranges in placed]

    @cached_property
    def _nodes(self) -> list[dict[Any, list[int]]]:
        """Per level of the hierarchy, label -> positions."""
        hierarchy = self.order.attribute.hierarchy
        nodes: list[dict[Any, list[int]]] = []
        for level in range(hierarchy.height + 1):
            labels = hierarchy.labels(level)
            of_label: dict[Any, list[int]] = {}
            for place, row in enumerate(self.order.rows):
                if row < len(hierarchy.values):
                    label = labels[row] if level else key(hierarchy.values[row])
                    of_label.setdefault(label, []).append(place)
            nodes.append(of_label)
        return [*nodes, {}]


def placed(
    regions: Iterable[Region],
    placings: Sequence[Placing],
    of: Callable[[Placing, ClassCell], tuple[int, int] | None],
    by_loss: bool = True,
) -> list[tuple[Region, Ranges]]:
    """The regions with any of the current values, and their ranges of positions, ordered by loss.

    `of`: returns a cell's range, of all values that it covers or of its class's own values. `by_loss`: otherwise
    they keep their order, which does not depend on the current values.
    """
    found = []
    for number, region in enumerate(regions):
        ranges = [of(placing, cell) for placing, cell in zip(placings, region, strict=True)]
        filled = tuple(range_ for range_ in ranges if range_ is not None)
        if len(filled) == len(ranges):
            widths = (placing.width(*range_) for placing, range_ in zip(placings, filled, strict=True))
            loss = sum(widths) if by_loss else 0
            found.append((loss, number, region, filled))
    return [(region, ranges) for _, _, region, ranges in sorted(found, key=lambda place: place[:2])]


def shown_as_before(
    results: Scratch,
    classes: Relation,
    orders: Sequence[Order],
    hows: Sequence[str],
    kept: Mapping[int, Region],
) -> Relation:
    """The classes of a local recoding, some of which have the labels of an earlier release's regions.

    `kept`: these regions by the numbers of the classes; those without rows are left out.
    """
    types = {column.name: column.type for column in results.engine.table(classes).columns}
    rows = dict(results.rows("frequency_sets/copy", columns=["class", "n"], source=classes))
    placings = [Placing(order, how) for order, how in zip(orders, hows, strict=True)]
    shown = [
        {"class": number, "n": rows[number], **_shown(kept[number], placings)} for number in kept if number in rows
    ]
    columns = [[region.get(name) for region in shown] for name in types]
    with Scratch(results.engine, "before") as tables:
        loaded = tables.load("kept", types, columns)
        relabelled = tables.create("classes", "keeping/classes", classes=classes, kept=loaded, columns=list(types))
        return results.create(classes, "frequency_sets/copy", columns=list(types), source=relabelled)


def _shown(region: Region, placings: Sequence[Placing]) -> dict[str, Any]:
    """The labels of a kept class, and the current values that they cover."""
    cells: dict[str, Any] = {}
    for j, (cell, placing) in enumerate(zip(region, placings, strict=True)):
        first, last = placing.of(cell) or (0, 0)
        leaves = placing.order.leaf_count
        hierarchy = placing.order.attribute.hierarchy
        cells |= {f"label_{j}": cell.label, f"high_{j}": cell.label_high, f"first_{j}": first}
        cells |= {f"last_{j}": min(last, leaves - 1), f"leaves_{j}": leaves if cell.everything else last - first + 1}
        cells |= {f"level_{j}": hierarchy.height if cell.everything else _covering(placing.order, first, last)}
    return cells


def _covering(order: Order, first: int, last: int) -> int:
    """The lowest level on which a range of positions has one label, if the order is nested; otherwise the top."""
    hierarchy = order.attribute.hierarchy
    rows = order.rows[first : last + 1]
    levels = range(hierarchy.height) if order.nested else range(1)
    return next(
        (level for level in levels if len({hierarchy.codes(level)[row] for row in rows}) == 1), hierarchy.height
    )
