"""The regions of an earlier release on new data: rows stay in their region, and only the rest is recoded.

Every tuple goes into the region that contains it; of several regions into the one that loses least, or the first of
those. A class that is then unsafe under any model is dissolved, and its tuples are pooled with those outside all
regions. The pool is recoded alone, by the release's algorithm. If that is impossible, its tuples join the nearest
classes (see `kanon_sql.recode.joining`), or in an incremental release they are held back.

Where changes wait (see `kanon_sql.pipeline.deferral`), no class is dissolved and nothing is recoded: a new label can
cover rows of several earlier classes, and a reader of both releases would find fewer than k of them. Tuples outside all
regions are left out, and rows of a class that has become unsafe wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from math import ceil

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.judge import Judge
from kanon_sql.queries import Hole, Relation
from kanon_sql.recode import show
from kanon_sql.recode.joining import join_unsafe
from kanon_sql.recode.regions import Placing, Ranges, Regions, labels_of, placed
from kanon_sql.recode.task import Local, Region, Task
from kanon_sql.recode.value_tests import assigned_tuples, is_safe_as_a_whole, members, whole_tuples
from kanon_sql.spec.suppression_limit import may_suppress

_PARTS = 32  # into which an attribute is divided, to find the boxes near a tuple
_MOST_DIVIDED = 8  # rows per box
_MOST_DIVIDING = 4  # attributes


def keep_regions(recode: Callable[[Task], Local], task: Task, regions: Regions) -> Local:
    """Keep the regions that are safe; InfeasibleError if there are no safe classes."""
    with Scratch(task.engine, "keeping") as tables:
        return _Keeping(recode, task, tables, regions).local()


def _grid(boxes: Sequence[Ranges], sizes: Sequence[int]) -> dict[int, int]:
    """The attributes by which to divide the space, so that a tuple is compared with few boxes, and widths of parts.

    Those in which boxes reach into the smallest share of the parts, as long as they do not reach into too many.
    """
    widths = [ceil(size / _PARTS) for size in sizes]
    spans = [[box[j][1] // width - box[j][0] // width + 1 for box in boxes] for j, width in enumerate(widths)]
    grid: dict[int, int] = {}
    rows = [1] * len(boxes)
    shares = [sum(span) / ceil(size / width) for span, size, width in zip(spans, sizes, widths, strict=True)]
    for j in sorted(range(len(sizes)), key=lambda j: shares[j]):
        divided = [row * span for row, span in zip(rows, spans[j], strict=True)]
        if sum(divided) <= _MOST_DIVIDED * len(boxes) and len(grid) < _MOST_DIVIDING:
            grid[j], rows = widths[j], divided
    return grid


def _cells(ranges: Ranges, grid: Mapping[int, int]) -> Iterator[tuple[int, ...]]:
    """The parts of the grid that a box reaches into."""
    return product(*(range(ranges[j][0] // width, ranges[j][1] // width + 1) for j, width in grid.items()))


@dataclass
class _Keeping:
    """One recoding, in its scratch tables."""

    recode: Callable[[Task], Local]
    task: Task
    tables: Scratch
    regions: Regions

    def __post_init__(self) -> None:
        self.keys = self.task.frequency_set.keys
        self.columns = [*self.keys, "n", "class"]

    def local(self) -> Local:
        """The assignment of all tuples, with the number of regions kept."""
        placed_in = self._place()
        marked = self._marked(self.tables["placed"])
        if self.task.spec.defers:
            return self._deferring(marked, placed_in)
        held = self.tables.create("held", "keeping/held", marked=marked, keys=self.keys)
        pool = self.tables.create("pool", "keeping/pool", marked=marked, keys=self.keys)
        return self._with_regions(self._with_pool(held, pool, len(placed_in)), marked, placed_in)

    def _deferring(self, marked: Relation, placed_in: list[Region]) -> Local:
        """The classes that stay, and next to them the same with the classes that are unsafe."""
        in_regions = self.tables.create(
            "in_regions", "keeping/in_regions", placed=self.tables["placed"], keys=self.keys
        )
        held = self.tables.create("held", "keeping/held", marked=marked, keys=self.keys)
        rows = self._rows(in_regions)
        self._check_left_out(self.task.frequency_set.rows - rows)
        local = self._with_regions(self._result(held), marked, placed_in)
        if self._rows(held) == rows:
            return local
        kept = dict(enumerate(placed_in, start=1))
        placed = self._result(in_regions, "placed_assignment")
        return replace(local, placed=replace(placed, kept=kept, facts=local.facts))

    def _place(self) -> list[Region]:
        """Put every tuple into a region, as the table `placed`; returns the regions by their numbers there, from 1.

        A region whose class's own values surround the tuple comes before one whose labels merely cover it.
        """
        frequency_set = self.task.frequency_set
        orders = show.load_orders(self.tables, frequency_set, self.regions.hows)
        placings = [Placing(order, how) for order, how in zip(orders, self.regions.hows, strict=True)]
        by_loss = not self.task.spec.defers  # the classes of equal rows must not depend on the night
        found = placed(self.regions.regions, placings, Placing.of, by_loss)
        number_of: dict[Region, int] = {}
        for region, _ in found:
            number_of.setdefault(labels_of(region), len(number_of) + 1)
        boxes = [*placed((region for region, _ in found), placings, Placing.box_of, by_loss), *found]
        ends = [f"{end}_{j}" for j in range(len(orders)) for end in ("low", "high")]
        rows = [
            (place, number_of[labels_of(region)], *(end for range_ in ranges for end in range_))
            for place, (region, ranges) in enumerate(boxes)
        ]
        types = dict.fromkeys(["place", "class", *ends], "INTEGER")
        loaded = self.tables.load("boxes", types, list(zip(*rows, strict=True)) or [[]] * len(types))
        tuples = whole_tuples(frequency_set, self.tables) if frequency_set.sensitive else frequency_set.relation
        positions = [order.relation for order in orders]
        grid = _grid([ranges for _, ranges in boxes], [len(order.rows) for order in orders])
        cells = [f"cell_{j}" for j in grid]
        in_grid = [(*row, *cell) for row, (_, ranges) in zip(rows, boxes, strict=True) for cell in _cells(ranges, grid)]
        types |= dict.fromkeys(cells, "INTEGER")
        divided = self.tables.load("divided_boxes", types, list(zip(*in_grid, strict=True)) or [[]] * len(types))
        query = queries.placed(tuples, divided, self.keys, positions, self.task.engine.dialect, grid)
        self.tables.create_as("in_boxes", query)
        holes: dict[str, Hole] = {"placed": self.tables["in_boxes"], "boxes": loaded, "keys": self.keys}
        self.tables.create("placed", "keeping/placed", **holes)
        return list(number_of)

    def _marked(self, assignment: Relation) -> Relation:
        """The tuples of an assignment, with their classes if these are safe."""
        unsafe = self._unsafe(assignment, "unsafe")
        return self.tables.create("marked", "keeping/marked", placed=assignment, unsafe=unsafe, keys=self.keys)

    def _unsafe(self, assignment: Relation, stem: str) -> Relation:
        counted = members(self.task.frequency_set, assignment, self.tables)
        return self.tables.create(stem, "joining/unsafe", members=counted, safe=self.task.model.safe)

    def _with_pool(self, held: Relation, pool: Relation, most: int) -> Local:
        """The classes that stay, and those of the pool: recoded alone, or joined to the others, or held back."""
        if not self.tables.count(pool):
            return self._result(held)
        recoded = self._recoded(pool)
        if recoded is None and self.task.spec.incremental:
            return self._result(held)
        others = pool if recoded is None else recoded.assignment
        if recoded and recoded.split:  # every tuple in one class
            others = self.tables.create("parts", "joining/largest_parts", assignment=others, keys=self.keys)
        both = self._both(held, others, most)
        ended = recoded.ended if recoded else "complete"
        if self.task.spec.incremental:
            return self._result(self._safe_alone(both), ended=ended)
        if self._rows(both) < self.task.frequency_set.rows:  # some were left out, and can join other classes
            both = self._both(held, pool, most)
        return join_unsafe(self._result(both, ended=ended), self.task)

    def _check_left_out(self, rows: int) -> None:
        of_all, spec = self.task.frequency_set.rows, self.task.spec
        allowed = may_suppress(spec.max_suppressed, of_all)
        if rows > allowed:
            raise InfeasibleError(
                f"the classes of the earlier release leave out {rows:,} of {of_all:,} rows, and {allowed:,} may be "
                'suppressed; recode all rows with `node_else="search"`, or raise `suppression_limit`'
            )

    def _both(self, held: Relation, others: Relation, most: int) -> Relation:
        return self.tables.create("both", "keeping/both", held=held, others=others, keys=self.keys, most=most)

    def _rows(self, counted: Relation) -> int:
        ((rows,),) = self.tables.rows("frequency_sets/total_rows", counted=counted)
        return int(rows)

    def _safe_alone(self, both: Relation) -> Relation:
        """The safe classes; merging the parts of split tuples can make a class unsafe."""
        unsafe = self._unsafe(both, "others")
        safe = self.tables.create("safe", "keeping/marked", placed=both, unsafe=unsafe, keys=self.keys)
        return self.tables.create("alone", "keeping/held", marked=safe, keys=self.keys)

    def _recoded(self, pool: Relation) -> Local | None:
        """The pool recoded alone; None if that is impossible."""
        part = assigned_tuples(self.task.frequency_set, pool, self.tables)
        judge = Judge(part, self.task.model)
        costs = replace(judge.costs(), weights=self.task.costs.weights, beta=self.task.costs.beta)
        top = self.task.lattice.top  # one safe class of the whole pool: searching for a better node is not worth it
        task = replace(self.task, frequency_set=part, judge=judge, costs=costs, optimum=lambda _: top)
        if is_safe_as_a_whole(task):
            with suppress(InfeasibleError):
                return self.recode(task)
        return None

    def _result(self, assignment: Relation, stem: str = "kept_assignment", ended: str = "complete") -> Local:
        result = self.task.results.create(stem, "frequency_sets/copy", columns=self.columns, source=assignment)
        return Local(result, ended=ended)

    def _with_regions(self, recoded: Local, marked: Relation, placed_in: list[Region]) -> Local:
        """The recoding with the regions that its classes are, and their number."""
        dialect, columns = self.task.engine.dialect, ["region", "n"]
        query = queries.assigned(marked, recoded.assignment, self.keys, columns, dialect)
        assigned = self.tables.create_as("assigned", query)
        kept = self.tables.rows("keeping/kept", assigned=assigned)
        placed_rows, regions = sum(int(size) for *_, size in kept), {int(region) for _, region, _ in kept}
        facts = {
            **recoded.facts,
            "kept_classes": len(regions),
            "recut_classes": self.regions.count - len(regions),
            "placed_rows": placed_rows,
            "recut_rows": self._rows(assigned) - placed_rows,
        }
        return replace(
            recoded, facts=facts, kept={int(class_): placed_in[int(region) - 1] for class_, region, _ in kept}
        )
