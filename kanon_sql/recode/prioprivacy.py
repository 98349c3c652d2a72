"""PrioPrivacy: greedy local recoding that changes the least important attributes first.

A. Bampoulidis, I. Markopoulos, M. Lupu, PrioPrivacy, WI 2019 Companion, 10.1145/3358695.3360918. Only tuples that do
not meet the model by themselves are touched. Attributes join one by one, the least important first; after each of
them, groups are formed among the tuples still unsafe, by as few changed attributes as will do, the largest group first.

The published form hides the cells of a single tuple when enough original rows agree with what is left of it: `*` is a
wildcard there, and its output is not k-anonymous for who counts equal rows. It is made with `wildcard_suppression`.
The strict form is ours: `*` is the level above the last level of rules, so that suppression too forms groups of
equal rows.

A greedy choice takes one group at a time. But a group that is larger than all groups it shares a tuple with (or as
large, and earlier) stays so, since the others can only shrink; so it will be taken, whatever is taken before. All such
groups are taken at once. And after smaller sets of attributes have been exhausted, a group of c changed attributes
that is still large enough belongs to one combination of c rules: no combination needs to be tried one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations, islice
from math import prod
from typing import Any

from kanon_sql import queries
from kanon_sql.errors import HierarchyError, InfeasibleError
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization.lattice import Node
from kanon_sql.queries import PerNode, Relation
from kanon_sql.recode import coding, quality, wildcard
from kanon_sql.recode.coding import LABELS, TUPLES
from kanon_sql.recode.rules import Levels, rules_of
from kanon_sql.recode.task import ASSIGNMENT, CLASSES, Clock, Local, Task
from kanon_sql.spec import Spec

_UNSAFE, _STILL_UNSAFE = queries.scratch("kanon_prio_unsafe"), queries.scratch("kanon_prio_still_unsafe")
_MEMBERS, _OTHER_MEMBERS = queries.scratch("kanon_prio_members"), queries.scratch("kanon_prio_other_members")
_RECODED, _NODES = queries.scratch("kanon_prio_recoded"), queries.scratch("kanon_prio_nodes")
_PLACES, _CHOSEN = queries.scratch("kanon_prio_places"), queries.scratch("kanon_prio_chosen")
_MOVED, _OPEN = queries.scratch("kanon_prio_moved"), queries.scratch("kanon_prio_open")
_LABELLED, _NUMBERED = queries.scratch("kanon_prio_labelled"), queries.scratch("kanon_prio_numbered")
_CELLS, _COMMON = queries.scratch("kanon_prio_cells"), queries.scratch("kanon_prio_common")
_MATCHES, _ATTRIBUTES = queries.scratch("kanon_prio_matches"), queries.scratch("kanon_prio_attributes")
_GROWN, _KEPT = queries.scratch("kanon_prio_grown"), queries.scratch("kanon_prio_kept")
_SCRATCH = (
    *(_UNSAFE, _STILL_UNSAFE, _MEMBERS, _OTHER_MEMBERS, _RECODED, _NODES, _PLACES, _CHOSEN, _MOVED, _OPEN),
    *(_LABELLED, _NUMBERED, _CELLS, _COMMON, _MATCHES, _ATTRIBUTES, _GROWN, _KEPT),
)
_AT_ONCE = 16  # transformations tried in one statement
_MOST_MEMBERS = 4_000_000  # of the groups that are compared with each other
_MOST_SETS = 1_024  # sets of attributes that are tried together, one level after the other
_MOST = 2**60  # a larger product of domain sizes says no more

Stage = tuple[Callable[[Sequence[Node]], None], list[Node]]


def prioprivacy(task: Task) -> Local:
    """Recode by the priorities of the spec; attributes without one are among the least important.

    The classes have labels of their own: what a rule makes, or `*`. Raises SpecError for rules that cannot be used.
    """
    run = _Run(task)
    try:
        run.recode()
        return run.result()
    finally:
        run.drop()


def priority_order(spec: Spec, columns: Sequence[str]) -> list[int]:
    """The places of the columns in the order in which they join: least important first, then as they stand."""
    said = [spec.quasi_identifiers[column].priority for column in columns]
    lowest = max((priority for priority in said if priority), default=1)
    return sorted(range(len(said)), key=lambda j: (-(said[j] or lowest), j))


def hash_map_order(sets: Iterable[Sequence[int]]) -> list[Sequence[int]]:
    """The order in which a Java HashMap gives back the texts "i j k" that were put into it in this order.

    >>> hash_map_order([(8, 7), (8, 10), (7, 10)])
    [(7, 10), (8, 10), (8, 7)]
    """
    texts = [(" ".join(map(str, found)), found) for found in sets]
    capacity = 16
    while len(texts) > capacity * 3 // 4:
        capacity *= 2
    return [found for _, found in sorted(texts, key=lambda pair: _bucket(pair[0], capacity))]


def _bucket(text: str, capacity: int) -> int:
    code = 0
    for character in text:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return (code ^ (code >> 16)) & (capacity - 1)


def _domain(spec: Spec, attribute: Attribute) -> int:
    """How many values a hidden cell may have: as the spec says, else the leaves of the hierarchy."""
    said = spec.quasi_identifiers[attribute.column.name].domain
    if isinstance(said, int):
        return said
    return attribute.distinct[0] if said == "occurring" else attribute.hierarchy.leaf_count


class _Run:
    """One run: which transformations were tried, and what is still unsafe."""

    def __init__(self, task: Task) -> None:
        self.task, self.engine = task, task.engine
        found = task.frequency_set
        self.rules: list[Levels] = rules_of(task.spec, found.attributes)
        self.coding = coding.code(found, self.rules)
        self.heights = self.coding.heights
        self.columns = [attribute.column.name for attribute in found.attributes]
        self.domains = [max(1, _domain(task.spec, attribute)) for attribute in found.attributes]
        self.nodes: list[Node] = [self.node({})]
        self.unsafe, self.spare = _UNSAFE, _STILL_UNSAFE
        self.rounds = self.classes = self.absorbed = 0
        self.clock, self.ended = task.clock, "complete"
        safe = task.model.safe
        self.groups_sql: PerNode = queries.per_node("prioprivacy/rule_groups", self.engine.dialect, safe=safe)
        self.suppressible_sql: PerNode = queries.per_node("prioprivacy/suppressible", self.engine.dialect, safe=safe)

    def recode(self) -> None:
        """Give every tuple a transformation."""
        safe = self.task.model.safe
        self._make(_UNSAFE, "prioprivacy/unsafe_tuples", tuples=TUPLES, safe=safe)
        self.engine.load(_RECODED, {"tuple": "INTEGER", "node": "INTEGER"}, [])
        self.clock = self._time_to_recode()
        with self.task.working(self.clock):
            self._count_left()
            self._take_turns()
        self.ended = self.clock.ended
        self._finish()

    def _time_to_recode(self) -> Clock:
        """The time that there is, but for what comes after, which takes about twice as long as what came before."""
        clock = self.task.clock
        return clock.part(None if clock.limit is None else clock.limit - min(clock.limit / 4, 2 * clock.seconds))

    def _take_turns(self) -> None:
        joined: list[int] = []
        for j in priority_order(self.task.spec, self.columns):
            joined.append(j)
            for work, nodes in self._stages(joined):
                if self._exhausted:
                    return
                work(nodes)

    def _stages(self, joined: Sequence[int]) -> Iterator[Stage]:
        if not self.task.spec.wildcard_suppression:
            yield from ((self._form_groups, nodes) for nodes in self._strict(joined))
            return
        yield from ((self._form_groups, nodes) for nodes in self._generalizations(joined))
        for size in range(1, len(joined) + 1):
            yield from ((self._hide_cells, nodes) for nodes in self._suppressions(joined, size))

    def _generalizations(self, joined: Sequence[int]) -> Iterator[list[Node]]:
        """As published: level by level, sets of attributes with rules on that level, the smaller ones first.

        Sets without the attribute that joined last were exhausted in earlier rounds.
        """
        for level in range(1, max(self.heights)):
            ruled = [j for j in sorted(joined) if level < self.heights[j]]
            for size in range(1, len(ruled) + 1):
                sets = (found for found in combinations(ruled, size) if joined[-1] in found)
                yield [self.node(dict.fromkeys(found, level)) for found in sets]

    def _suppressions(self, joined: Sequence[int], size: int) -> Iterator[list[Node]]:
        """The sets of attributes to hide: in the order of their places, or in the published program's."""
        if self.task.spec.suppression_order == "published":
            found = (found for found in combinations(joined, size) if joined[-1] in found)
            sets: Iterable[list[Sequence[int]]] = [hash_map_order(found)]
        else:
            sets = self._sets(joined, size)
        yield from ([self.node({j: self.heights[j] for j in found}) for found in some] for some in sets)

    def _sets(self, joined: Sequence[int], size: int) -> Iterator[list[Sequence[int]]]:
        """The sets of so many attributes with the one that joined last, all at once or, if they are many, in pieces."""
        sets = (found for found in combinations(sorted(joined), size) if joined[-1] in found)
        while some := list(islice(sets, _MOST_SETS)):
            yield [*some]

    def _strict(self, joined: Sequence[int]) -> Iterator[list[Node]]:
        """Our strict form: the smaller sets first, each level by level, `*` above the last level of rules."""
        for size in range(1, len(joined) + 1):
            for some in self._sets(joined, size):
                sets = self._promising(some)
                for level in range(1, max(self.heights) + 1):
                    high = [found for found in sets if max(self.heights[j] for j in found) >= level]
                    yield [self.node({j: min(level, self.heights[j]) for j in found}) for found in high]

    def _promising(self, sets: list[Sequence[int]]) -> list[Sequence[int]]:
        """The sets that form a group when they are hidden: the others form none on any level."""
        if not self.task.model.monotone or self._exhausted:
            return sets
        nodes, found = [self.node({j: self.heights[j] for j in found}) for found in sets], set()
        first = len(self.nodes)
        while nodes:
            nodes = nodes[self._ask(self.groups_sql, self.unsafe, nodes) :]
            found |= {
                node - first for (node,) in self.engine.rows(self._text("prioprivacy/used_nodes", recoded=_MEMBERS))
            }
        return [sets[place] for place in sorted(found)]

    def node(self, levels: dict[int, int]) -> Node:
        """A transformation: the level of each attribute, 0 where it is kept."""
        return tuple(levels.get(j, 0) for j in range(len(self.heights)))

    @property
    def _exhausted(self) -> bool:
        """Whether no group can be formed any more, or the time is up."""
        too_few = not self.task.spec.wildcard_suppression and self.rows_left < self.task.model.required
        return self.rows_left == 0 or (too_few and self.task.model.monotone) or self.clock.spent

    def _form_groups(self, nodes: Sequence[Node]) -> None:
        """Take the largest group that a transformation forms, the earlier one on ties; again, until there is none.

        Where the groups of all of them have too many members, those of the first come first.
        """
        while nodes:
            nodes = nodes[self._ask(self.groups_sql, self.unsafe, nodes) :]
            self._take_groups()

    def _take_groups(self) -> None:
        members, spare = _MEMBERS, _OTHER_MEMBERS
        while True:
            self._make(
                _PLACES, "prioprivacy/group_places", members=members, tuples=self.unsafe, safe=self.task.model.safe
            )
            if not self._rows_of(_PLACES):
                return
            self._make(_CHOSEN, "prioprivacy/best_groups", members=members, places=_PLACES)
            self._make(_MOVED, "prioprivacy/group_tuples", members=members, chosen=_CHOSEN)
            self.classes += self._rows_of(_CHOSEN)
            self._move()
            self._make(spare, "prioprivacy/remaining", tuples=members, recoded=_MOVED)
            members, spare = spare, members

    def _hide_cells(self, nodes: Sequence[Node]) -> None:
        """Hide the first set of cells that makes a tuple fit enough original rows; safe ones count too."""
        while nodes:
            nodes = nodes[self._hide_some_cells(nodes) :]

    def _hide_some_cells(self, nodes: Sequence[Node]) -> int:
        first = len(self.nodes)
        # All cells may be hidden, and then the one code of a suppressed attribute makes the one group.
        columns = [*self.coding.columns(), self.coding.of(self.heights)[0]]
        self._make(_OPEN, "prioprivacy/open_tuples", tuples=TUPLES, remaining=self.unsafe, columns=columns)
        asked = self._ask(self.suppressible_sql, _OPEN, nodes)
        domains = [prod(d for d, level in zip(self.domains, node, strict=True) if level) for node in nodes[:asked]]
        numbers = range(first, len(self.nodes))
        types = {"node": "INTEGER", "domain": "BIGINT"}
        self.engine.load(_NODES, types, [list(numbers), [min(domain, _MOST) for domain in domains]])
        k = self.task.model.required
        self._make(_MOVED, "prioprivacy/first_suppressions", candidates=_MEMBERS, nodes=_NODES, k=k)
        self._move()
        return asked

    def _ask(self, query: PerNode, source: Relation, nodes: Sequence[Node]) -> int:
        """Try transformations, some in one statement, until they have found much; how many were tried.

        What they find goes to `_MEMBERS`.
        """
        asked = 0
        while asked < len(nodes) and (not asked or self._rows_of(_MEMBERS) < _MOST_MEMBERS):
            some = nodes[asked : asked + _AT_ONCE]
            text = queries.union_all([query(number, source, self.coding.of(n)) for number, n in self._numbered(some)])
            if asked:
                self._insert(_MEMBERS, text)
            else:
                self.engine.send(text, self.engine, _MEMBERS)
            self.nodes += some
            asked += len(some)
        return asked

    def _numbered(self, nodes: Sequence[Node]) -> Iterator[tuple[int, Node]]:
        return enumerate(nodes, len(self.nodes))

    def _move(self) -> None:
        """The tuples in `_MOVED` have their transformation; they are unsafe no more."""
        self._make(self.spare, "prioprivacy/remaining", tuples=self.unsafe, recoded=_MOVED)
        self._insert(_RECODED, queries.select_all(_MOVED, self.engine.dialect))  # the last that can be interrupted
        self.unsafe, self.spare = self.spare, self.unsafe
        self.rounds += 1
        self._count_left()
        self.task.clock.tell(self.rounds, self.classes, self.rows_left)

    def _finish(self) -> None:
        """Give the tuples that are left what is left: `*` for all their cells, or a place in a class that there is.

        Both are safe, and so the strict form ends well: all-`*` is taken if the rows left meet the model together.
        Else some class that meets it was formed, or is there untouched (or not even the whole table would meet it), and
        a class that meets a monotone model still does with more rows.
        """
        self._keep_safe()
        self._count_left()
        if not self.rows_left:
            return
        if self.task.spec.wildcard_suppression or self._left_is_safe():
            self._suppress_left()
        elif self._rows_of(_RECODED):
            self._absorb()
        else:
            raise InfeasibleError("not even all rows as one class meet the privacy model; ask for less privacy")

    def _left_is_safe(self) -> bool:
        return bool(self.engine.rows(self.groups_sql(0, self.unsafe, self.coding.of(self.heights))))

    def _suppress_left(self) -> None:
        self.nodes.append(self.heights)
        number = len(self.nodes) - 1
        self._insert(_RECODED, self._text("prioprivacy/not_recoded", tuples=self.unsafe, recoded=_RECODED, node=number))

    def _keep_safe(self) -> None:
        self._make(_KEPT, "prioprivacy/remaining", tuples=TUPLES, recoded=self.unsafe)
        self._insert(_RECODED, self._text("prioprivacy/not_recoded", tuples=_KEPT, recoded=_RECODED, node=0))

    def _absorb(self) -> None:
        """Let each tuple that is left join the class where that loses least; the class goes with it as a whole."""
        self._number_classes()
        cells = [
            self._text("prioprivacy/rule_cells", attribute=j, level=level, column=[column], tuples=TUPLES)
            for j, columns in enumerate(self.coding.all_columns)
            for level, column in enumerate(columns)
        ]
        self.engine.send(queries.union_all(cells), self.engine, _CELLS)
        self._load_weights()
        self._load_used_nodes(long=True)
        common = {"numbered": _NUMBERED, "recoded": _RECODED, "nodes": _NODES, "labels": LABELS}
        self._make(_COMMON, "prioprivacy/common_cells", cells=_CELLS, attributes=_ATTRIBUTES, **common)
        self._make(_MATCHES, "prioprivacy/matching_cells", common=_COMMON, cells=_CELLS, left_over=self.unsafe)
        self._make(_CHOSEN, "prioprivacy/cheapest_classes", matches=_MATCHES, common=_COMMON)
        self.absorbed = self.rows_left
        self._grow()

    def _grow(self) -> None:
        """Write the new transformations of the classes that tuples have joined: at most one per tuple left."""
        levels: dict[int, dict[int, int]] = {}
        for found, j, level in self.engine.rows(
            self._text("prioprivacy/joint_levels", matches=_MATCHES, chosen=_CHOSEN)
        ):
            levels.setdefault(found, {})[j] = level
        numbers = list(range(len(self.nodes), len(self.nodes) + len(levels)))
        self.nodes += [self.node(found) for found in levels.values()]
        self.engine.load(_GROWN, {"class": "INTEGER", "node": "INTEGER"}, [list(levels), numbers])
        self._make(_MOVED, "prioprivacy/grown_classes", numbered=_NUMBERED, chosen=_CHOSEN, grown=_GROWN)
        self._make(_KEPT, "prioprivacy/remaining", tuples=_RECODED, recoded=_MOVED)
        self._make(_RECODED, "prioprivacy/recoded_anew", kept=_KEPT, moved=_MOVED)

    def _load_weights(self) -> None:
        """What one more leaf under a cell's label costs: a cell loses at most its attribute's weight."""
        spans = [max(1, attribute.hierarchy.leaf_count - 1) for attribute in self.task.frequency_set.attributes]
        weights = [weight / span for weight, span in zip(self.task.weights, spans, strict=True)]
        columns: list[list[Any]] = [list(range(len(spans))), weights]
        self.engine.load(_ATTRIBUTES, {"attribute": "INTEGER", "weight": "DOUBLE"}, columns)

    def _load_used_nodes(self, long: bool = False) -> None:
        """Load the transformations in use: a row each, or a row per attribute."""
        used = sorted(node for (node,) in self.engine.rows(self._text("prioprivacy/used_nodes", recoded=_RECODED)))
        places = range(len(self.heights))
        if long:
            rows = [(number, j, self.nodes[number][j]) for number in used for j in places]
            types = dict.fromkeys(("node", "attribute", "level"), "INTEGER")
        else:
            rows = [(number, *self.nodes[number]) for number in used]
            types = dict.fromkeys(("node", *(f"level_{j}" for j in places)), "INTEGER")
        self.engine.load(_NODES, types, list(zip(*rows, strict=True)))

    def _number_classes(self) -> None:
        self._load_used_nodes()
        labelled = queries.labelled(TUPLES, _RECODED, _NODES, LABELS, self.coding.all_columns, self.engine.dialect)
        self.engine.send(labelled, self.engine, _LABELLED)
        places = range(len(self.heights))
        labels = [f"label_{j}" for j in places]
        self._make(_NUMBERED, "prioprivacy/numbered_classes", labels=labels, cells=self._cells, labelled=_LABELLED)

    @property
    def _cells(self) -> list[str]:
        return [f"{name}_{j}" for j in range(len(self.heights)) for name in ("label", "leaves", "level")]

    def result(self) -> Local:
        """The assignment, the classes with their labels, and what is to be said of both."""
        self._number_classes()
        self._make(CLASSES, "prioprivacy/own_classes", cells=self._cells, numbered=_NUMBERED)
        columns = {
            a.coded.code_column(0): c for a, c in zip(self.coding.attributes, self.coding.columns(), strict=True)
        }
        self._make(ASSIGNMENT, "prioprivacy/own_assignment", columns=columns, tuples=TUPLES, numbered=_NUMBERED)
        return Local(ASSIGNMENT, classes=CLASSES, ended=self.ended, facts=self._facts())

    def _facts(self) -> dict[str, Any]:
        model, loose = self.task.model, self.task.spec.wildcard_suppression
        if loose:
            found = wildcard.of_classes(self.coding, model, CLASSES)
        else:
            found = wildcard.of_equal_rows(self.engine, model, CLASSES)
        if found.unsafe_rows:
            raise InfeasibleError(
                f"{found.unsafe_rows:,} rows do not meet {model.name} after all that prioprivacy can do; "
                "choose another strategy"
            )
        order = priority_order(self.task.spec, self.columns)
        return {
            "changed_first": [self.columns[j] for j in order],
            "rules": "files" if self.task.spec.rules else "hierarchies",
            "form": "wildcard" if loose else "strict",
            "domains": dict(zip(self.columns, self.domains, strict=True)),
            "transformations_tried": len(self.nodes) - 1,
            "absorbed_rows": self.absorbed,
            "string_classes": {"smallest": found.smallest_class, "rows_below": found.unsafe_class_rows},
            "wildcard": {"smallest": found.smallest_fit, "rows_below": found.unsafe_rows},
            "quality": self._quality(),
        }

    def _quality(self) -> dict[str, float] | None:
        """The paper's figures of the table; None if a rule makes a label that is on no level of its hierarchy."""
        try:
            table, _ = quality.measure(self.engine, self.task.frequency_set.attributes)
        except HierarchyError:
            return None
        return asdict(table)

    def drop(self) -> None:
        """Leave nothing but the result."""
        for relation in _SCRATCH:
            self.engine.run(queries.drop(relation, self.engine.dialect))
        coding.drop(self.engine)

    def _text(self, name: str, **holes: Any) -> str:
        return queries.text(name, self.engine.dialect, **holes)

    def _make(self, relation: Relation, name: str, **holes: Any) -> None:
        self.engine.send(self._text(name, **holes), self.engine, relation)

    def _insert(self, relation: Relation, query: str) -> None:
        self.engine.run(queries.insert(relation, query, self.engine.dialect))

    def _rows_of(self, relation: Relation) -> int:
        return int(self.engine.rows(self._text("core/row_count", relation=relation))[0][0])

    def _count_left(self) -> None:
        self.rows_left = int(self.engine.rows(self._text("core/total_rows", counted=self.unsafe))[0][0])
