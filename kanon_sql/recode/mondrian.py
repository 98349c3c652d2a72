"""Mondrian: all tuples in one partition, cut and cut again until no cut leaves every side safe.

K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006. One round cuts every
partition that can be cut, by the same few statements over the frequency set. Numbers and dates are cut at the
median of their values. What is shown by its hierarchy is cut there: the children of the lowest node that holds
a partition's values become partitions, and those too small stay together under the node (the leftover of Y. He,
J. Naughton, VLDB 2009), where the basic algorithm would give the cut up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from kanon_sql import queries
from kanon_sql.errors import InfeasibleError
from kanon_sql.queries import Hole, Relation, over, scratch
from kanon_sql.recode import order as orders
from kanon_sql.recode.order import Order
from kanon_sql.recode.task import ASSIGNMENT, CUTS, Local, Task

PLACES, NODES = scratch("kanon_mondrian_places"), scratch("kanon_mondrian_nodes")
OPEN, NEXT = scratch("kanon_mondrian_open"), scratch("kanon_mondrian_next")
CELLS, MEDIANS = scratch("kanon_mondrian_cells"), scratch("kanon_mondrian_medians")
BRANCHES, CHOSEN = scratch("kanon_mondrian_branches"), scratch("kanon_mondrian_chosen")
MOVES, SIDES = scratch("kanon_mondrian_moves"), scratch("kanon_mondrian_sides")
WIDTHS, INHERITED = scratch("kanon_mondrian_widths"), scratch("kanon_mondrian_inherited")
REGIONS = scratch("kanon_mondrian_regions")
_TABLES = (PLACES, NODES, OPEN, NEXT, CELLS, MEDIANS, BRANCHES, CHOSEN, MOVES, SIDES, WIDTHS, INHERITED, REGIONS)

_CUT_SECONDS, _CELL_SECONDS = 0.5, 4e-6  # about what cutting takes at least, and for one attribute of one tuple


@dataclass(frozen=True)
class Rule:
    """How a partition is cut; the defaults lose least on the tables measured (see docs/mondrian.md).

    `choose`: the attribute whose cut saves most over all rows of the partition (`gain`), or the widest one that
    can be cut (`width`, as in the paper). `median_only`: give a numeric cut up when the median itself does not
    leave both sides safe, instead of taking the nearest cut that does. `leftover`: False gives a cut by a hierarchy
    up when a child is too small. `ordered`: the columns cut by the order of their values, None for those that are
    shown as numbers. `inherited`: choose by the widths that partitions had when an attribute was last tried, as
    the implementation of Q. Gong does; needs `width` and every column ordered. `dealt_in`: columns of the frequency
    set in whose order rows equal to the median are dealt, the last first; None for all attributes.
    """

    choose: Literal["gain", "width"] = "gain"
    median_only: bool = False
    leftover: bool = True
    ordered: Collection[str] | None = None
    inherited: bool = False
    dealt_in: Sequence[str] | None = None


def cut(task: Task, tuples: Relation, rows: int) -> bool:
    """Put some of a task's tuples into classes, as far as there is time and a moment more, by their hierarchies alone.

    `tuples`: a relation of the level-0 columns and n. Leaves `ASSIGNMENT`; False if not even all of them are safe
    together, and then there is none.
    """
    found = replace(task.frequency_set, relation=tuples, rows=rows)
    clock = task.clock.last_part(_CUT_SECONDS / 2)
    run = _Run(replace(task, frequency_set=found, clock=clock), Rule(), relaxed=False, ranges=False)
    if not run.is_safe_as_a_whole:
        return False
    run.cut()
    run.tidy()
    return True


def time_to_cut(task: Task) -> float | None:
    """When to leave off other work, in seconds of the task's clock, so that there is time to `cut`; None: never."""
    if task.clock.limit is None:
        return None
    left, cells = task.clock.limit - task.clock.seconds, task.frequency_set.tuples * len(task.frequency_set.attributes)
    return task.clock.limit - min(left / 2, max(left / 4, _CUT_SECONDS + cells * _CELL_SECONDS))


def mondrian(task: Task, rule: Rule = Rule()) -> Local:
    """Strict Mondrian: every distinct tuple is in one class.

    Anytime: after every round all partitions are safe. Raises InfeasibleError if not even all rows are safe together.
    """
    return _Run(task, rule, relaxed=False).local()


def mondrian_relaxed(task: Task, rule: Rule = Rule()) -> Local:
    """Relaxed Mondrian: rows equal to the median are dealt, so that both sides are halves.

    Equal tuples may fall into different classes. Attributes that are cut by their hierarchy are cut as in `mondrian`.
    """
    return _Run(task, rule, relaxed=True).local()


@dataclass
class _Run:
    """One recoding: the text of its statements, and how many were run."""

    task: Task
    rule: Rule
    relaxed: bool
    ranges: bool = True
    statements: int = 0
    laid_out: bool = False
    orders: tuple[Order, ...] = field(init=False)
    codes: list[str] = field(init=False)

    def __post_init__(self) -> None:
        attributes = self.task.frequency_set.attributes
        self.orders = tuple(orders.order_of(attribute) for attribute in attributes)
        self.codes = [attribute.coded.code_column(0) for attribute in attributes]
        if self.rule.inherited and not (self.rule.choose == "width" and all(map(self._ordered, self.orders))):
            raise ValueError("widths are inherited of ordered columns only, and chosen by")

    def local(self) -> Local:
        """Cut all tuples, and say how that went."""
        self._refuse_what_is_unsafe_as_a_whole()
        rounds, ended = self.cut()
        cuts = self._cuts() if self._shows_regions else None
        penalty = {"ncp": self._ncp()} if self.laid_out else {}
        facts = {**penalty, "rounds": rounds, "statements": self.statements}
        self.tidy()
        return Local(split=self.relaxed, cuts=cuts, ended=ended, facts=facts)

    def cut(self) -> tuple[int, str]:
        """Cut, round by round, while there is something to cut and time: rounds, and how it ended."""
        self._start()
        self._lay_out()
        clock, rounds, classes, open_ones = self.task.clock, 0, 1, 1
        look, take = self._look(), self._take()
        while self.laid_out and open_ones and not clock.spent and (found := self._cuts_found(look)):
            self._run(*take)
            cut, open_ones = found
            rounds, classes = rounds + 1, classes + open_ones - cut
            clock.tell(rounds, classes, open_ones)
        ended = clock.ended if open_ones else "complete"
        self._run(self._add(ASSIGNMENT, self._text("core/copy", columns=self._kept, source=OPEN)))
        return rounds, ended

    def _cuts_found(self, statements: Sequence[str]) -> tuple[int, int] | None:
        """Look for every partition's cut: how many are cut, and into how many; None if the time is up before."""
        with self.task.working():
            self._run(*statements)
            ((cut, made),) = self._rows("mondrian/grown", moves=MOVES)
            return int(cut), int(made)
        return None

    def tidy(self) -> None:
        """Leave nothing but the assignment, and the regions where they are shown."""
        self._run(*(queries.drop(table, self._dialect) for table in _TABLES))

    @property
    def is_safe_as_a_whole(self) -> bool:
        """Whether all tuples together are a class."""
        found = self.task.frequency_set
        ((safe,),) = self._rows("mondrian/whole", frequency_set=found.relation, safe=self.task.model.safe)
        return bool(safe)

    def _refuse_what_is_unsafe_as_a_whole(self) -> None:
        if not self.is_safe_as_a_whole:
            raise InfeasibleError(
                f"all {self.task.frequency_set.rows:,} rows together do not meet {self.task.model.name}, so no class "
                "can; ask for less"
            )

    def _start(self) -> None:
        """Put all tuples into partition 0, which is safe."""
        load, found = self.task.engine.load, self.task.frequency_set.relation
        load(SIDES, _SIDES, [])
        load(WIDTHS, _WIDTHS, [])
        if self.relaxed:
            dealt_in = list(self.rule.dealt_in or self.codes)
            start = self._text("mondrian/deal_start", columns=self.codes, order=dealt_in, frequency_set=found)
        else:
            start = self._text("mondrian/start", columns=self.codes, frequency_set=found)
        self._run(*self._make(OPEN, start), *self._make(ASSIGNMENT, self._closed(OPEN)))

    def _lay_out(self) -> None:
        """Put the attributes' orders and hierarchies side by side, if there is time for that."""
        with self.task.working():
            for order in self.orders:
                if self.task.clock.spent:
                    return
                orders.load(self.task.engine, order)
            places = [self._places(j) for j in range(len(self.orders))]
            nodes = [text for j, order in enumerate(self.orders) if not self._ordered(order) for text in self._nodes(j)]
            self._run(*self._make(PLACES, queries.union_all(places)))
            if nodes:
                self._run(*self._make(NODES, queries.union_all(nodes)))
            else:
                self.task.engine.load(NODES, _NODES, [])
            self.laid_out = True

    def _look(self) -> list[str]:
        """The first statements of a round, which may be lost: count, find every partition's cuts, choose one, cut."""
        rule, model = self.rule, self.task.model
        codes = {"columns": self.codes, "codes": self.codes}
        chosen: dict[str, Hole] = {
            "leftover": rule.leftover,
            "merge": model.monotone,
            "safe": model.safe,
            "worth": [rule.choose],
        }
        medians = INHERITED if rule.inherited else MEDIANS
        options = {"medians": medians, "branches": BRANCHES}
        cut = {"open": OPEN, "chosen": CHOSEN, "moves": MOVES}
        return [
            *self._make(CELLS, self._cells(OPEN)),
            *self._make(MEDIANS, self._medians()),
            *self._make(BRANCHES, self._text("mondrian/branches", cells=CELLS, nodes=NODES, safe=model.safe)),
            *(self._make(INHERITED, self._inherited()) if rule.inherited else []),
            *self._make(CHOSEN, self._text("mondrian/chosen", **options, **chosen)),
            *self._make(
                MOVES, self._text("mondrian/moves", chosen=CHOSEN, cells=CELLS, nodes=NODES, branches=BRANCHES)
            ),
            *self._make(NEXT, self._text("mondrian/deal" if self.relaxed else "mondrian/next", **codes, **cut)),
        ]

    def _take(self) -> list[str]:
        """The last statements of a round, which are short: keep what was found."""
        statements = [
            self._add(ASSIGNMENT, self._closed(CHOSEN)),
            queries.drop(OPEN, self._dialect),
            queries.rename(NEXT, OPEN.name, self._dialect),
        ]
        if self.rule.inherited:
            handed = self._text("mondrian/widths", medians=INHERITED, chosen=CHOSEN, moves=MOVES)
            statements += self._make(WIDTHS, handed)
        if self._shows_regions:
            sides = self._text("mondrian/sides", moves=MOVES, chosen=CHOSEN, nodes=NODES)
            statements.append(self._add(SIDES, sides))
        return statements

    def _medians(self) -> str:
        safe = self.task.model.safe
        if self.relaxed:
            return self._text("mondrian/halves", cells=CELLS, safe=safe)
        sides = {"safe_left": over(safe, "left_side"), "safe_right": over(safe, "right_side")}
        return self._text("mondrian/medians", median=self.rule.median_only, cells=CELLS, **sides)

    def _inherited(self) -> str:
        return self._text("mondrian/inherited", medians=MEDIANS, widths=WIDTHS)

    def _places(self, j: int) -> str:
        order = self.orders[j]
        return self._text(
            "mondrian/places",
            attribute=j,
            ordered=self._ordered(order),
            weight=self.task.weights[j],
            most=max(1, order.leaf_count - 1),
            code=[self.codes[j]],
            number=["number" if order.numeric else "position"],
            frequency_set=self.task.frequency_set.relation,
            positions=order.relation,
        )

    def _nodes(self, j: int) -> list[str]:
        order = self.orders[j]
        return [
            self._text(
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
        """Whether an attribute is cut by the order of its values: what is shown as numbers is."""
        name = order.attribute.column.name
        if self.rule.ordered is not None:
            return name in self.rule.ordered
        return order.numeric and not (order.nested and self._show(name) in ("labels", "common"))

    def _show(self, name: str) -> str | None:
        if not self.ranges:
            return "common"
        return self.task.spec.quasi_identifiers[name].show or self.task.spec.show

    @property
    def _shows_regions(self) -> bool:
        return any(self._show(order.attribute.column.name) == "labels" for order in self.orders)

    def _cells(self, counted: Relation) -> str:
        return self._text("mondrian/cells", codes=self.codes, count=len(self.codes), open=counted, places=PLACES)

    def _closed(self, chosen: Relation) -> str:
        return self._text("mondrian/closed", columns=self._kept, open=OPEN, chosen=chosen)

    @property
    def _kept(self) -> list[str]:
        """The columns of the assignment."""
        return [*self.codes, "n", *(["first", "last"] if self.relaxed else []), "class"]

    def _cuts(self) -> Relation:
        """The region of every class, from all the cuts on the way to it."""
        regions = self._text("mondrian/regions", assignment=ASSIGNMENT, sides=SIDES)
        cuts = queries.regions(REGIONS, [len(order.rows) - 1 for order in self.orders], self._dialect)
        self._run(*self._make(REGIONS, regions), *self._make(CUTS, cuts))
        return CUTS

    def _ncp(self) -> float:
        """The normalized certainty penalty: the mean over all cells of a range's or a node's share of its attribute.

        J. Xu et al., "Utility-based anonymization using local recoding", KDD 2006; 0 for a single value.
        """
        self._run(*self._make(CELLS, self._cells(ASSIGNMENT)))
        ((penalty,),) = self._rows("mondrian/ncp", cells=CELLS, nodes=NODES)
        # The order in which a database adds up floats is its own.
        return round(float(penalty) / (self.task.frequency_set.rows * len(self.orders)), 12)

    @property
    def _dialect(self) -> str:
        return self.task.engine.dialect

    def _text(self, name: str, **holes: Hole) -> str:
        return queries.text(name, self._dialect, **holes)

    def _make(self, relation: Relation, query: str) -> list[str]:
        made = queries.create_as(relation, query, self._dialect, temporary=True)
        return [queries.drop(relation, self._dialect), made]

    def _add(self, relation: Relation, query: str) -> str:
        return queries.insert(relation, query, self._dialect)

    def _run(self, *statements: str) -> None:
        for statement in statements:
            self.task.engine.run(statement)
        self.statements += len(statements)

    def _rows(self, name: str, **holes: Hole) -> list[tuple[Any, ...]]:
        self.statements += 1
        return self.task.engine.rows(self._text(name, **holes))


_NODES = {
    **dict.fromkeys(("attribute", "position", "level", "node", "low", "high"), "BIGINT"),
    "leaves": "BIGINT",
    "width": "DOUBLE",
}
_SIDES = dict.fromkeys(("class", "parent", "attribute", "low", "high"), "BIGINT")
_WIDTHS = {"class": "BIGINT", "attribute": "BIGINT", "width": "DOUBLE"}
