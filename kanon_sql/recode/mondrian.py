"""Mondrian: all tuples in one partition, which is cut repeatedly until no cut leaves every side safe.

K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006. In one round, the same few
statements over the frequency set cut every partition that can be cut. Numbers and dates are cut at the median of their
values. Columns shown by their hierarchy are cut there: the children of the lowest node with all of a partition's values
become partitions, and the children that are too small stay together under the node (the leftover of Y. He, J. Naughton,
VLDB 2009), where the basic algorithm would not cut.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.privacy import UNIT, Predicate
from kanon_sql.queries import Hole, Relation, RoundStatement, numbered_column, over, step
from kanon_sql.recode import order as orders
from kanon_sql.recode.node import one_per_tuple
from kanon_sql.recode.order import Order
from kanon_sql.recode.partitions import Partitions, partitions_of
from kanon_sql.recode.task import Clock, Local, Task
from kanon_sql.recode.value_tests import no_safe_classes

_TUPLES_AT_ONCE = 2_000_000  # moved by one statement, which takes about half a second and cannot be interrupted
_CELLS_IN_MEMORY = 30_000_000  # of attributes and tuples, for rounds on arrays
_MOST_QUERIES = 24  # whose results are combined; more take longer to plan than to run
_CUT_SECONDS, _CELL_SECONDS = 0.5, 4e-6  # estimates: the minimum time for cutting, and the time per cell
_NODES = {
    **dict.fromkeys(("attribute", "position", "level", "node", "low", "high"), "BIGINT"),
    "leaves": "BIGINT",
    "width": "DOUBLE",
}
_PLACES = {
    **dict.fromkeys(("attribute", "code", "position"), "BIGINT"),
    **dict.fromkeys(("number", "range", "most", "weight"), "DOUBLE"),
}
_SIDES = dict.fromkeys(("class", "parent", "attribute", "low", "high"), "BIGINT")
_WIDTHS = {"class": "BIGINT", "attribute": "BIGINT", "width": "DOUBLE"}


@dataclass(frozen=True)
class CutRule:
    """How a partition is cut; the defaults lose least on the tables measured (see docs/mondrian.md).

    `choose`: the attribute whose cut saves most over all rows of the partition (`gain`), or the widest one that
    can be cut (`width`, as in the paper). `median_only`: skip a numeric cut if the median itself does not leave both
    sides safe, instead of taking the nearest cut that does. `leftover`: False skips a cut by a hierarchy if a child is
    too small. `ordered`: the columns cut by the order of their values, None for columns shown as numbers. `inherited`:
    choose by the widths that partitions had when an attribute was last tried, as the implementation of Q. Gong does;
    needs `width` and every column ordered. `dealt_in`: columns of the frequency set in whose order rows equal to the
    median are dealt, the last first; None for all attributes.
    """

    choose: Literal["gain", "width"] = "gain"
    median_only: bool = False
    leftover: bool = True
    ordered: Collection[str] | None = None
    inherited: bool = False
    dealt_in: Sequence[str] | None = None


class Cuts:
    """Cuts parts of a task's tuples, by default by their hierarchies alone; the hierarchies are loaded once.

    `ranges`: columns shown as numbers are cut by their order. `tables`: used for nothing else until the last cut.
    `ended`: how the last cut ended.
    """

    ended = "complete"

    def __init__(self, task: Task, tables: Scratch, ranges: bool = False) -> None:
        self._task = task
        self._run = _MondrianRun(task, CutRule(), False, tables, ranges, occurring=task.frequency_set.relation)

    def cut(self, tuples: Relation, rows: int, clock: Clock, within: str | None = None) -> Relation | None:
        """Put some tuples into classes, in the time left and a moment more.

        `tuples`: a relation of the level-0 columns and n. `within`: its column of the partition, proven safe, that each
        tuple starts in; None for one partition. Returns the assignment, which is in the task's results until the
        next cut; None if the tuples are not safe together. No class has a lower number than these partitions.
        """
        task, run = self._task, self._run
        part = replace(task.frequency_set, relation=tuples, rows=rows)
        run.task = replace(task, frequency_set=part, clock=clock.last_part(_CUT_SECONDS / 2))
        if within is None and not run.is_safe_as_a_whole:
            return None
        _, self.ended = run.cut(within)
        if task.frequency_set.sensitive:
            one_per_tuple(run.assignment, task.frequency_set, task.results)
        return run.assignment


def cut(task: Task, tuples: Relation, rows: int, within: str | None = None) -> Relation | None:
    """Put some of a task's tuples into classes, once; see `Cuts`."""
    part = replace(task.frequency_set, relation=tuples, rows=rows)
    with Scratch(task.engine, "mondrian") as tables:
        return Cuts(replace(task, frequency_set=part), tables).cut(tuples, rows, task.clock, within)


def time_to_cut(task: Task) -> float | None:
    """The second of the task's clock at which other work must end to leave time to `cut`; None for no limit."""
    if task.clock.limit is None:
        return None
    left, cells = task.clock.limit - task.clock.seconds, task.frequency_set.tuples * len(task.frequency_set.attributes)
    return task.clock.limit - min(left / 2, max(left / 4, _CUT_SECONDS + cells * _CELL_SECONDS))


def mondrian(task: Task, rule: CutRule = CutRule()) -> Local:
    """Strict Mondrian: every distinct tuple is in one class.

    Anytime: after every round all partitions are safe. InfeasibleError if all rows together are not safe.
    """
    with Scratch(task.engine, "mondrian") as tables:
        return _MondrianRun(task, rule, False, tables).local()


def mondrian_relaxed(task: Task, rule: CutRule = CutRule()) -> Local:
    """Relaxed Mondrian: rows equal to the median are dealt to both sides, so that these are halves.

    Equal tuples can be split between classes, in the order of their sensitive values. Attributes that are cut by their
    hierarchy are cut as in `mondrian`.
    """
    with Scratch(task.engine, "mondrian") as tables:
        return _MondrianRun(task, rule, True, tables).local()


@dataclass
class _MondrianRun:
    """One recoding, in its scratch tables."""

    task: Task
    rule: CutRule
    relaxed: bool
    tables: Scratch
    ranges: bool = True
    in_memory: int = _CELLS_IN_MEMORY
    at_once: int = _TUPLES_AT_ONCE
    most_queries: int = _MOST_QUERIES
    laid_out: bool = False
    partitions: Partitions | None = None  # of the last cut on arrays
    pace: float = 0.0  # seconds per round in the last statement
    occurring: Relation | None = None  # the tuples whose values are placed; None for the tuples that are cut
    orders: tuple[Order, ...] = field(init=False)
    codes: list[str] = field(init=False)

    def __post_init__(self) -> None:
        attributes = self.task.frequency_set.attributes
        self.orders = tuple(
            orders.order_of(attribute, self._order_by(attribute.column.name)) for attribute in attributes
        )
        self.codes = [attribute.coded.code_column(0) for attribute in attributes]
        self.carried = [*self.codes, *self.task.frequency_set.counted]
        self.assignment = self.task.results["assignment"]
        if self.rule.inherited and not (self.rule.choose == "width" and all(map(self._ordered, self.orders))):
            raise ValueError("widths are inherited of ordered columns only, and chosen by")

    def local(self) -> Local:
        """Cut all tuples; returns the assignment and the facts of the run."""
        if not self.is_safe_as_a_whole:
            raise no_safe_classes(self.task)
        before = self.task.results.statements
        rounds, ended = self.cut()
        cuts = self._cuts() if self._shows_regions else None
        penalty = {"ncp": self._ncp()} if self.laid_out else {}
        if self.task.frequency_set.sensitive:
            self._merge_values()
        statements = self.tables.statements + self.task.results.statements - before
        facts = {**penalty, "rounds": rounds, "statements": statements}
        return Local(self.assignment, split=self.relaxed, cuts=cuts, ended=ended, facts=facts)

    def cut(self, within: str | None = None) -> tuple[int, str]:
        """Cut in rounds while there are open partitions and time; returns the rounds, and how it ended."""
        self._lay_out()
        if self.laid_out and self._fits_in_memory:
            return self._cut_in_memory(within)
        self._start(within)
        clock, rounds, classes, open_ones = self.task.clock, 0, 0, 1
        safe = self.task.model.rows_alone
        right = over(safe, "right_side", rest_of=("whole", "left_side"))
        sides = {"safe_left": over(safe, "left_side"), "safe_right": right}
        while self.laid_out and open_ones and not clock.spent and (counts := self._go_on(sides, rounds, open_ones)):
            rounds, classes, open_ones = rounds + counts[0], classes + counts[1], counts[2]
            clock.tell(rounds, classes + open_ones, open_ones)
        ended = clock.ended if open_ones else "complete"
        self.tables.add(self.assignment, "frequency_sets/copy", columns=self._kept, source=self.tables["open"])
        return rounds, ended

    @property
    def _fits_in_memory(self) -> bool:
        """Whether rounds are done on arrays: only rows or people decide about a class, and there is no variant."""
        counted, model = self.task.frequency_set, self.task.model
        default = self.rule == CutRule() and not self.relaxed and not self._shows_regions
        rows_decide = model.k_alone and not counted.counted
        people_decide = model.people_alone and counted.counted == [UNIT]
        cells = counted.tuples * len(counted.attributes)
        return default and (rows_decide or people_decide) and cells <= self.in_memory

    def _cut_in_memory(self, within: str | None) -> tuple[int, str]:
        """The same rounds on arrays."""
        task, tables, clock, rounds = self.task, self.tables, self.task.clock, 0
        kept, person = [*self.carried, "n"], UNIT if task.frequency_set.counted else None
        query = tables.text(
            "frequency_sets/copy", columns=[*kept, *([within] if within else [])], source=task.frequency_set.relation
        )
        counted = tables.view("counted", query)
        types = {column.name: column.type for column in task.engine.table(counted).columns}
        tuples = task.engine.arrays(counted)
        places, nodes = (task.engine.arrays(tables[name]) for name in ("places", "nodes"))
        model = task.model
        self.partitions = partitions_of(tuples, self.codes, places, nodes, model.k, model.monotone, within, person)
        partitions = self.partitions
        until = inf if clock.limit is None else clock.limit
        of_round = 0.0  # the seconds of the last one; a round cannot be interrupted
        while partitions.open and not clock.spent and clock.seconds + of_round <= until:
            started = clock.seconds
            partitions.cut()
            rounds, of_round = rounds + 1, clock.seconds - started
            clock.tell(rounds, partitions.closed + partitions.open, partitions.open)
        ended = clock.stopped or "time limit" if partitions.open else "complete"
        columns = [*(tuples[name] for name in kept), partitions.classes]
        task.results.load(self.assignment, {**{name: types[name] for name in kept}, "class": "BIGINT"}, columns)
        return rounds, ended

    def _go_on(self, sides: Mapping[str, Predicate], rounds: int, open_ones: int) -> tuple[int, int, int] | None:
        """Do some rounds; returns their number, the new classes and the open partitions, or None if time is up."""
        at_once, counts, started = self._rounds_at_once(rounds), None, self.task.clock.seconds
        with self.task.working():
            counts = self._look_ahead(sides, at_once) if at_once > 1 else self._look(sides, open_ones)
        if counts is None:
            return None
        self.pace = (self.task.clock.seconds - started) / at_once
        self._take_rounds() if at_once > 1 else self._take()
        return counts

    def _rounds_at_once(self, rounds: int) -> int:
        """Rounds per statement; with a time limit, at most as many as were done so far, and as fit the remaining time.

        An interruption loses the rounds of a statement, and several rounds cannot be interrupted.
        """
        if self.task.frequency_set.counted or self.rule.inherited or self._shows_regions:
            return 1
        most = max(1, self.at_once // max(1, self.task.frequency_set.tuples))
        clock = self.task.clock
        if clock.limit is None:
            return most
        in_time = most if self.pace == 0 else int((clock.limit - clock.seconds) / self.pace)
        return max(1, min(most, rounds, in_time))

    @property
    def is_safe_as_a_whole(self) -> bool:
        """Whether all tuples together are a safe class."""
        tuples = self.task.frequency_set.relation
        ((safe,),) = self.tables.rows("mondrian/whole", frequency_set=tuples, safe=self.task.model.safe)
        return bool(safe)

    def _start(self, within: str | None) -> None:
        """Put all tuples into partition 0, which is safe, or into the safe partitions of a column."""
        tables, tuples = self.tables, self.task.frequency_set.relation
        if self._shows_regions:
            tables.load("sides", _SIDES, [])
        if self.rule.inherited:
            tables.load("widths", _WIDTHS, [])
        if self.relaxed:
            self._start_dealing()
        else:
            place: Hole = 0 if within is None else [within]
            tables.create("open", "mondrian/start", columns=self.carried, **{"class": place}, frequency_set=tuples)
        self.task.results.create_as(self.assignment, self._closed(tables["open"]))

    def _start_dealing(self) -> None:
        """Put all tuples into partition 0, with the places of their rows in the order of sensitive values."""
        frequency_set = self.task.frequency_set
        sensitive = list(frequency_set.sensitive)
        more: dict[str, Hole] = {"codes": self.codes, "values": sensitive} if sensitive else {}
        self.tables.create(
            "open",
            "mondrian/deal_values_start" if sensitive else "mondrian/deal_start",
            columns=self.carried,
            order=[*(self.rule.dealt_in or self.codes), *sensitive],
            frequency_set=frequency_set.relation,
            **more,
        )

    def _merge_values(self) -> None:
        """Merge rows of the assignment that only differ in sensitive values, into tuples or dealt parts."""
        if not self.relaxed:
            one_per_tuple(self.assignment, self.task.frequency_set, self.task.results)
            return
        parts = self.tables.create("parts", "mondrian/merged_parts", codes=self.codes, assignment=self.assignment)
        columns = [*self.codes, "n", "first", "last", "class"]
        self.task.results.create(self.assignment, "frequency_sets/copy", columns=columns, source=parts)

    def _lay_out(self) -> None:
        """Load all attributes' orders and hierarchies into one table each, if time permits."""
        if self.laid_out:
            return
        with self.task.working():
            loaded = []
            for order in self.orders:
                if self.task.clock.spent:
                    return
                needed = not (self._fits_in_memory and self._counted_together and self._ordered(order))
                loaded.append(orders.load(self.tables, order, labels=False) if needed else order)
            self.orders = tuple(loaded)
            self._load_places()
            nodes = [text for j, order in enumerate(self.orders) if not self._ordered(order) for text in self._nodes(j)]
            self.tables.create("scales", "mondrian/scales", places=self.tables["places"])
            if nodes:
                self.tables.create_as("nodes", queries.union_all(nodes))
            else:
                self.tables.load("nodes", _NODES, [])
            self.laid_out = True

    def _look(self, sides: Mapping[str, Predicate], open_ones: int) -> tuple[int, int, int]:
        """Find and choose every partition's cuts, without changing the state: an interruption loses nothing else."""
        tables = self.tables
        self._make(self._find(tables.__getitem__, sides))
        self._make(self._choose(tables.__getitem__))
        while self.task.frequency_set.counted and self._rule_out_cuts():
            self._make(self._choose(tables.__getitem__))
        ((cut, left),) = tables.rows("mondrian/grown", moves=tables["moves"])
        return 1, open_ones - int(cut), int(left)

    def _look_ahead(self, sides: Mapping[str, Predicate], at_once: int) -> tuple[int, int, int]:
        """Do several rounds in one statement, without changing the state: small rounds are mostly query planning."""
        tables, in_rounds = self.tables, {"open": Relation("open"), "chosen": Relation("chosen")}
        closed = step("closed", "mondrian/closed", columns=self._moved, **in_rounds)
        steps = (*self._find(Relation, sides), *self._choose(Relation), closed)
        query = queries.rounds(tables["open"], self._moved, steps, at_once, self.task.engine.dialect)
        ((rounds, classes, left),) = tables.rows("mondrian/progress", rounds=tables.create_as("rounds", query))
        return int(rounds), int(classes), int(left)

    def _make(self, steps: Sequence[RoundStatement]) -> None:
        for current_step in steps:
            texts = [self.tables.text(current_step.query, **holes) for holes in current_step.holes]
            self.tables.create_as(current_step.table, queries.union_all(texts), current_step.query)

    def _find(self, at: Callable[[str], Relation], sides: Mapping[str, Predicate]) -> list[RoundStatement]:
        """The first steps of a round: count values, and find every partition's cuts."""
        safe, cells = self.task.model.rows_alone, at("cells")
        holes: dict[str, Hole] = {"cells": cells, "scales": self.tables["scales"]}
        if self.relaxed:
            medians = step("medians", "mondrian/halves", safe=safe, **holes)
        else:
            medians = step("medians", "mondrian/medians", median=self.rule.median_only, **holes, **sides)
        branches = step("branches", "mondrian/branches", nodes=self.tables["nodes"], safe=safe, **holes)
        return [
            *self._count(at),
            step("cells", "mondrian/cells", counted=at("counted"), places=self.tables["places"]),
            medians,
            branches,
        ]

    def _count(self, at: Callable[[str], Relation]) -> list[RoundStatement]:
        """The steps that count every partition's values: a query per attribute, or one for all if there are many."""
        rows: dict[str, Hole] = {"open": at("open"), "least": 2 * self.task.model.k}
        if len(self.codes) > self.most_queries:
            listed = step("listed", "mondrian/listed", codes=self.codes, **rows)
            together = step("counted", "mondrian/counted_together", attributes=len(self.codes), listed=at("listed"))
            return [listed, together]
        attributes: list[dict[str, Hole]] = [
            {"attribute": j, "code": [code], **rows} for j, code in enumerate(self.codes)
        ]
        return [RoundStatement("counted", "mondrian/counted", attributes)]

    def _choose(self, at: Callable[[str], Relation]) -> list[RoundStatement]:
        """The next steps of a round: choose a cut for every partition, and move the tuples of partitions with a cut."""
        steps, rule, model = [], self.rule, self.task.model
        if rule.inherited:
            steps.append(step("inherited", "mondrian/inherited", medians=at("medians"), widths=self.tables["widths"]))
        tried = {"medians": at(steps[-1].table if steps else "medians"), "branches": at("branches")}
        by: dict[str, Hole] = {"merge": model.monotone, "safe": model.rows_alone, "worth": [rule.choose]}
        cut = {"open": at("open"), "chosen": at("chosen")}
        read = {"moves": at("moves"), "places": self.tables["places"], "nodes": self.tables["nodes"]}
        codes: dict[str, Hole] = {"columns": self.carried, "code": numbered_column(self.codes, "attribute", "h")}
        return [
            *steps,
            step("chosen", "mondrian/chosen", leftover=rule.leftover, **tried, **by),
            step("moves", "mondrian/moves", branches=at("branches"), **cut),
            step("next", "mondrian/deal" if self.relaxed else "mondrian/next", **codes, **cut, **read),
        ]

    def _rule_out_cuts(self) -> int:
        """Drop the cuts with an unsafe side, which its number of rows did not show; returns how many."""
        tables = self.tables
        safe = self.task.model.safe
        unsafe = tables.create("unsafe", "mondrian/unsafe_cuts", moves=tables["moves"], next=tables["next"], safe=safe)
        for cuts in ("medians", "branches"):
            tables.create("left", "mondrian/other_cuts", cuts=tables[cuts], unsafe=unsafe)
            tables.rename("left", cuts)
        return tables.count(unsafe)

    def _take_rounds(self) -> None:
        """Apply the results of several rounds, in short statements."""
        tables = self.tables
        self.tables.add(
            self.assignment, "mondrian/after_rounds", columns=self._kept, open=False, rounds=tables["rounds"]
        )
        tables.create("open", "mondrian/after_rounds", columns=self._moved, open=True, rounds=tables["rounds"])

    def _take(self) -> None:
        """Apply the results of a round, in short statements."""
        tables = self.tables
        chosen, moves = tables["chosen"], tables["moves"]
        tables.add_as(self.assignment, self._closed(chosen))
        tables.rename("next", "open")
        if self.rule.inherited:
            tables.create("widths", "mondrian/widths", medians=tables["inherited"], chosen=chosen, moves=moves)
        if self._shows_regions:
            tables.add("sides", "mondrian/sides", moves=moves, chosen=chosen, nodes=tables["nodes"])

    def _load_places(self) -> None:
        """Load the places of all attributes: computed here if their values are counted together."""
        if not self._counted_together:
            places = [self._places(j) for j in range(len(self.orders))]
            self.tables.create_as("places", queries.union_all(places))
            return
        counted = self.task.frequency_set.value_counts
        rows = [row for j, counts in counted.items() for row in self._computed_places(j, counts)]
        self.tables.load("places", _PLACES, list(zip(*rows, strict=True)))

    @property
    def _counted_together(self) -> bool:
        """Whether one query counts the values of all attributes, so that their places are computed here."""
        return self.occurring is None and len(self.task.frequency_set.together) == len(self.orders)

    def _computed_places(self, j: int, occurring: Collection[int]) -> list[tuple[int | float | None, ...]]:
        """As the query "mondrian/places", for the codes that occur."""
        order, hierarchy = self.orders[j], self.orders[j].attribute.hierarchy
        codes, values = hierarchy.codes(0), order.values
        numbers = orders.numbers_of(values) if order.numeric else [float(place) for place in range(len(order.rows))]
        position_of = {codes[row]: position for position, row in enumerate(order.rows) if codes[row] in occurring}
        starred = {position for position, row in enumerate(order.rows) if row >= len(hierarchy.values)}
        on_line = {place: numbers[place] for place in position_of.values() if place not in starred}
        present = [number for number in on_line.values() if number is not None]
        lowest, highest = min(present, default=0.0), max(present, default=0.0)
        width = highest - lowest or 1.0

        def number(place: int) -> float | None:
            if not self._ordered(order):
                return None
            own = on_line.get(place)
            if own is not None:
                return own
            is_null = values[place] is None and place not in starred
            return lowest - 2 * width if is_null else highest + 2 * width

        figures = width, float(max(1, order.leaf_count - 1)), float(self.task.weights[j])
        return [(j, code, place, number(place), *figures) for code, place in position_of.items()]

    def _places(self, j: int) -> str:
        order = self.orders[j]
        return self.tables.text(
            "mondrian/places",
            attribute=j,
            ordered=self._ordered(order),
            weight=self.task.weights[j],
            most=max(1, order.leaf_count - 1),
            code=[self.codes[j]],
            number=["number" if order.numeric else "position"],
            frequency_set=self.occurring or self.task.frequency_set.relation,
            positions=order.relation,
        )

    def _nodes(self, j: int) -> list[str]:
        order = self.orders[j]
        return [
            self.tables.text(
                "mondrian/nodes",
                attribute=j,
                level=level,
                count=order.leaf_count,
                code=[f"code_{level}"],
                leaves=[f"leaves_{level}"],
                positions=order.relation,
            )
            for level in range(order.attribute.hierarchy.height + 1)
        ]

    def _ordered(self, order: Order) -> bool:
        """Whether an attribute is cut by the order of its values: columns shown as numbers are."""
        name = order.attribute.column.name
        if self.rule.ordered is not None:
            return name in self.rule.ordered
        return order.numeric and not (order.nested and self._show(name) in orders.NODES)

    def _order_by(self, name: str) -> str:
        """The `show` for which a column's values are ordered."""
        return "ranges" if self.rule.ordered is not None else self._show(name) or "ranges"

    def _show(self, name: str) -> str | None:
        if not self.ranges:
            return "common"
        return self.task.spec.quasi_identifiers[name].show or self.task.spec.show

    @property
    def _shows_regions(self) -> bool:
        return any(self._show(order.attribute.column.name) == "labels" for order in self.orders)

    def _closed(self, chosen: Relation) -> str:
        return self.tables.text("mondrian/closed", columns=self._kept, open=self.tables["open"], chosen=chosen)

    @property
    def _kept(self) -> list[str]:
        """The columns of the assignment."""
        return [*self.carried, "n", *(["first", "last"] if self.relaxed else []), "class"]

    @property
    def _moved(self) -> list[str]:
        """The columns of tuples that are in partitions."""
        return [*self._kept[:-1], *(["place"] if self.relaxed else []), "size", "class"]

    def _cuts(self) -> Relation:
        """The region of every class, from all cuts that led to it."""
        tables = self.tables
        regions = tables.create("regions", "mondrian/regions", assignment=self.assignment, sides=tables["sides"])
        last = [len(order.rows) - 1 for order in self.orders]
        return self.task.results.create_as("cuts", queries.regions(regions, last, self.task.engine.dialect))

    def _ncp(self) -> float:
        """The normalized certainty penalty: the mean over all cells of a range's or node's share of its attribute.

        J. Xu et al., "Utility-based anonymization using local recoding", KDD 2006; 0 for a single value.
        """
        cells = self.task.frequency_set.rows * len(self.orders)
        # Rounded, since the order in which floats are added up is not defined.
        return round((self.partitions.penalty() if self.partitions else self._penalty()) / cells, 12)

    def _penalty(self) -> float:
        tables = self.tables
        positions = [order.relation for order in self.orders]
        boxes = queries.boxes(self.assignment, self.codes, positions, self.task.engine.dialect)
        classes = tables.create_as("boxes", boxes)
        of_attributes: list[dict[str, Hole]] = [
            {"attribute": j, "low": [f"low_{j}"], "high": [f"high_{j}"], "boxes": classes}
            for j, _ in enumerate(self.orders)
        ]
        self._make([RoundStatement("sides_of_boxes", "mondrian/sides_of_boxes", of_attributes)])
        holes = {name: tables[name] for name in ("sides_of_boxes", "places", "scales", "nodes")}
        ((penalty,),) = tables.rows("mondrian/ncp", **holes)
        return float(penalty)
