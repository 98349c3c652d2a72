"""PrioPrivacy: greedy local recoding that changes the least important attributes first.

A. Bampoulidis, I. Markopoulos, M. Lupu, PrioPrivacy, WI 2019 Companion, 10.1145/3358695.3360918. Only tuples that do
not meet the model unchanged are recoded. Attributes join one by one, the least important first. After each of them,
groups are formed among the tuples that are still unsafe, by as few changed attributes as possible, the largest first.

The published form hides cells of a single tuple when enough original rows agree with its remaining cells: `*` is a
wildcard there, and the output is not k-anonymous for readers who count equal rows. It needs `wildcard_suppression`.
The strict form is ours: `*` is the level above the last level of rules, so that suppression also forms groups of
equal rows.

A greedy choice takes one group at a time. But a group that is larger than all groups with a tuple in common (or as
large, and earlier) stays so, since the others can only shrink; so it will be taken, whatever is taken before. All such
groups are taken at once. And after smaller sets of attributes have been exhausted, a group of c changed attributes
that is still large enough belongs to one combination of c rules, so combinations need not be tried one by one. Both
arguments are about a group's size; under a model that smaller groups can meet, a group may be found later than it would
be one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations, islice
from math import prod
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import HierarchyError, InfeasibleError
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization.lattice import Node
from kanon_sql.queries import Hole, PerNode, Relation
from kanon_sql.recode import quality, rule_codes, wildcard
from kanon_sql.recode.joining import of_rows, recode_by_rows
from kanon_sql.recode.rules import RulesByLevel, rules_of
from kanon_sql.recode.task import Local, Task
from kanon_sql.recode.value_tests import no_safe_classes
from kanon_sql.spec import Spec

_AT_ONCE = 16  # transformations tried in one statement
_MOST_MEMBERS = 4_000_000  # of groups that are compared with each other
_MOST_SETS = 1_024  # sets of attributes that are tried together, level by level
_MOST = 2**60  # cap on products of domain sizes

Stage = tuple[Callable[[Sequence[Node]], None], list[Node]]


def prioprivacy(task: Task) -> Local:
    """Recode by the priorities of the spec; attributes without a priority are among the least important.

    The classes have their own labels: those of rules, or `*`. Raises SpecError for rules that cannot be used.
    """
    with Scratch(task.engine, "prio") as tables:
        run = _PrioPrivacyRun(task, tables)
        run.recode()
        return run.result()


def priority_order(spec: Spec, columns: Sequence[str]) -> list[int]:
    """The places of the columns in the order in which they join: least important first, ties in their own order."""
    priorities = [spec.quasi_identifiers[column].priority for column in columns]
    lowest = max((priority for priority in priorities if priority), default=1)
    return sorted(range(len(priorities)), key=lambda j: (-(priorities[j] or lowest), j))


def hash_map_order(sets: Iterable[Sequence[int]]) -> list[Sequence[int]]:
    """The order in which a Java HashMap iterates over the texts "i j k" that were inserted in this order.

    >>> hash_map_order([(8, 7), (8, 10), (7, 10)])
    [(7, 10), (8, 10), (8, 7)]
    """
    texts = [(" ".join(map(str, columns)), columns) for columns in sets]
    capacity = 16
    while len(texts) > capacity * 3 // 4:
        capacity *= 2
    return [columns for _, columns in sorted(texts, key=lambda pair: _bucket(pair[0], capacity))]


def _bucket(text: str, capacity: int) -> int:
    code = 0
    for character in text:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return (code ^ (code >> 16)) & (capacity - 1)


def _domain(spec: Spec, attribute: Attribute) -> int:
    """The number of values a hidden cell could have: from the spec, or the leaves of the hierarchy."""
    domain = spec.quasi_identifiers[attribute.column.name].domain
    if isinstance(domain, int):
        return domain
    return attribute.distinct[0] if domain == "occurring" else attribute.hierarchy.leaf_count


class _PrioPrivacyRun:
    """One run: the transformations tried so far, and the tuples still unsafe."""

    def __init__(self, task: Task, tables: Scratch) -> None:
        self.task, self.tables = task, tables
        attributes, dialect = task.frequency_set.attributes, task.engine.dialect
        self.rules: list[RulesByLevel] = rules_of(task.spec, attributes)
        self.coding = rule_codes.code(task.frequency_set, self.rules, tables)
        self.heights = self.coding.heights
        self.columns = [attribute.column.name for attribute in attributes]
        self.domains = [max(1, _domain(task.spec, attribute)) for attribute in attributes]
        self.nodes: list[Node] = [self.node({})]
        self.unsafe, self.spare = tables["unsafe"], tables["still_unsafe"]
        self.rounds = self.classes = self.absorbed = self.joins = 0
        self.clock, self.ended = task.clock, "complete"
        self.counted = self._count_values()
        self.of_rows = of_rows(task.model)
        safe = self.of_rows.safe  # the part of the model that can be tested while groups are formed
        self.groups_sql: PerNode = queries.per_node("prioprivacy/rule_groups", dialect, safe=safe)
        self.suppressible_sql: PerNode = queries.per_node("prioprivacy/suppressible", dialect, safe=safe)

    def _count_values(self) -> Relation:
        """The rows of every tuple by everything that the model counts."""
        frequency_set = self.task.frequency_set
        if not frequency_set.counted:
            return self.coding.tuples
        tuples, values = frequency_set.relation, frequency_set.counted
        return self._make("counted", "counted_values", keys=self._keys, values=values, frequency_set=tuples)

    @property
    def _keys(self) -> list[str]:
        return [attribute.coded.code_column(0) for attribute in self.coding.attributes]

    def recode(self) -> None:
        """Assign a transformation to every tuple."""
        safe = self.task.model.safe
        self._make("unsafe", "unsafe_tuples", tuples=self.coding.tuples, counted=self.counted, safe=safe)
        self.tables.load("recoded", {"tuple": "INTEGER", "node": "INTEGER"}, [])
        # The available time, without an estimate for the steps after recoding: twice the time spent before it.
        clock = self.task.clock
        self.clock = clock.part(None if clock.limit is None else clock.limit - min(clock.limit / 4, 2 * clock.seconds))
        with self.task.working(self.clock):
            self._count_left()
            self._take_turns()
        self.ended = self.clock.ended
        self._finish()

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
                sets = (columns for columns in combinations(ruled, size) if joined[-1] in columns)
                yield [self.node(dict.fromkeys(columns, level)) for columns in sets]

    def _suppressions(self, joined: Sequence[int], size: int) -> Iterator[list[Node]]:
        """The sets of attributes to hide, in the order of their places or of the published program."""
        if self.task.spec.suppression_order == "published":
            chosen = (columns for columns in combinations(joined, size) if joined[-1] in columns)
            sets: Iterable[list[Sequence[int]]] = [hash_map_order(chosen)]
        else:
            sets = self._sets(joined, size)
        yield from ([self.node({j: self.heights[j] for j in columns}) for columns in some] for some in sets)

    def _sets(self, joined: Sequence[int], size: int) -> Iterator[list[Sequence[int]]]:
        """The sets of `size` attributes with the one that joined last, in batches if they are many."""
        sets = (columns for columns in combinations(sorted(joined), size) if joined[-1] in columns)
        while some := list(islice(sets, _MOST_SETS)):
            yield [*some]

    def _strict(self, joined: Sequence[int]) -> Iterator[list[Node]]:
        """The strict form: the smaller sets first, level by level, with `*` above the last level of rules."""
        for size in range(1, len(joined) + 1):
            for some in self._sets(joined, size):
                sets = self._promising(some)
                for level in range(1, max(self.heights) + 1):
                    high = [columns for columns in sets if max(self.heights[j] for j in columns) >= level]
                    yield [self.node({j: min(level, self.heights[j]) for j in columns}) for columns in high]

    def _promising(self, sets: list[Sequence[int]]) -> list[Sequence[int]]:
        """The sets that form a group when they are hidden; the others form none on any level."""
        if not self.of_rows.monotone or self._exhausted:
            return sets
        nodes, promising = [self.node({j: self.heights[j] for j in columns}) for columns in sets], set[int]()
        first = len(self.nodes)
        while nodes:
            nodes = nodes[self._try_nodes(self.groups_sql, self.unsafe, nodes) :]
            promising |= {node - first for (node,) in self._rows("used_nodes", recoded=self.tables["members"])}
        return [sets[place] for place in sorted(promising)]

    def node(self, levels: dict[int, int]) -> Node:
        """A transformation: the level of every attribute, 0 if it is not changed."""
        return tuple(levels.get(j, 0) for j in range(len(self.heights)))

    @property
    def _exhausted(self) -> bool:
        """Whether no group can be formed any more, or time is up."""
        too_few = not self.task.spec.wildcard_suppression and self.rows_left < self.task.model.k
        return self.rows_left == 0 or (too_few and self.of_rows.monotone) or self.clock.spent

    def _form_groups(self, nodes: Sequence[Node]) -> None:
        """Take the largest group of any transformation, the earlier one on ties, until there is none.

        If the groups have too many members to be compared, the transformations are tried in batches.
        """
        while nodes:
            nodes = nodes[self._try_nodes(self.groups_sql, self.unsafe, nodes) :]
            self._take_groups()

    def _take_groups(self) -> None:
        members, spare = self.tables["members"], self.tables["other_members"]
        counted, safe = self.counted if self.task.frequency_set.counted else self.unsafe, self.task.model.safe
        while True:
            places = self._make("places", "group_places", members=members, counted=counted, safe=safe)
            if not self.tables.count(places):
                return
            chosen = self._make("chosen", "best_groups", members=members, places=places)
            moved = self._make("moved", "group_tuples", members=members, chosen=chosen)
            self.classes += self.tables.count(chosen)
            self._move()
            self._make(spare, "remaining", tuples=members, recoded=moved)
            members, spare = spare, members

    def _hide_cells(self, nodes: Sequence[Node]) -> None:
        """Hide the first set of cells that makes a tuple match enough original rows, which may be safe ones."""
        # If all cells are hidden, the one code of a suppressed attribute forms the one group.
        columns = [*self.coding.columns(), self.coding.of(self.heights)[0]]
        types = {"node": "INTEGER", "domain": "BIGINT"}
        while nodes:
            first = len(self.nodes)
            holes: dict[str, Hole] = {"remaining": self.unsafe, "columns": columns}
            tuples = self._make("open", "open_tuples", tuples=self.coding.tuples, **holes)
            tried = self._try_nodes(self.suppressible_sql, tuples, nodes)
            domains = [prod(d for d, level in zip(self.domains, node, strict=True) if level) for node in nodes[:tried]]
            numbers = list(range(first, len(self.nodes)))
            used = self.tables.load("nodes", types, [numbers, [min(domain, _MOST) for domain in domains]])
            k = self.task.model.k
            self._make("moved", "first_suppressions", candidates=self.tables["members"], nodes=used, k=k)
            self._move()
            nodes = nodes[tried:]

    def _try_nodes(self, query: PerNode, source: Relation, nodes: Sequence[Node]) -> int:
        """Try transformations in batches until their groups have many members; returns how many were tried.

        The results are in the table `members`.
        """
        tried = 0
        while tried < len(nodes) and (not tried or self.tables.count("members") < _MOST_MEMBERS):
            some = nodes[tried : tried + _AT_ONCE]
            numbered = enumerate(some, len(self.nodes))
            text = queries.union_all([query(number, source, self.coding.of(node)) for number, node in numbered])
            if tried:
                self.tables.add_as("members", text)
            else:
                self.tables.create_as("members", text)
            self.nodes += some
            tried += len(some)
        return tried

    def _move(self) -> None:
        """Record the transformation of the tuples in `moved`, and remove them from the unsafe ones."""
        moved = self.tables["moved"]
        self._make(self.spare, "remaining", tuples=self.unsafe, recoded=moved)
        # An interruption after this statement would lose nothing.
        self.tables.add_as("recoded", queries.select_all(moved, self.task.engine.dialect))
        self.unsafe, self.spare = self.spare, self.unsafe
        self.rounds += 1
        self._count_left()
        self.task.clock.tell(self.rounds, self.classes, self.rows_left)

    def _finish(self) -> None:
        """Handle the remaining tuples: `*` in all their cells, or a place in an existing class.

        Both are safe, so the strict form always ends with a safe result. All-`*` is used if the remaining rows meet the
        model together. Otherwise some class that meets it was formed or exists unchanged (or the whole table would not
        meet it), and a class that meets a monotone model still does with more rows. Under any other model, the
        remaining tuples become classes that join others in the end.
        """
        kept = self._make("kept", "remaining", tuples=self.coding.tuples, recoded=self.unsafe)
        self._add_untouched(kept, 0)
        self._count_left()
        if not self.rows_left:
            return
        if self.task.spec.wildcard_suppression or self._left_is_safe():
            self.nodes.append(self.heights)
            self._add_untouched(self.unsafe, len(self.nodes) - 1)
        elif not self.task.model.monotone:
            self._add_untouched(self.unsafe, 0)
        elif self.tables.count("recoded"):
            self._absorb()
        else:
            raise no_safe_classes(self.task)

    def _left_is_safe(self) -> bool:
        if not self.task.frequency_set.counted:
            return bool(self.tables.rows_as(self.groups_sql(0, self.unsafe, self.coding.of(self.heights))))
        left = self._make("left", "remaining", tuples=self.counted, recoded=self.tables["kept"])
        ((safe,),) = self.tables.rows("mondrian/whole", frequency_set=left, safe=self.task.model.safe)
        return bool(safe)

    def _add_untouched(self, tuples: Relation, node: int) -> None:
        """Assign this transformation to those of some tuples that have none."""
        recoded = self.tables["recoded"]
        self.tables.add(recoded, "prioprivacy/not_recoded", tuples=tuples, recoded=recoded, node=node)

    def _absorb(self) -> None:
        """Let every remaining tuple join the class where that loses least; all of the class is recoded with it."""
        tables = self.tables
        self._number_classes()
        common = self._common_cells(tables["numbered"])
        matches = self._make("matches", "matching_cells", common=common, cells=tables["cells"], left_over=self.unsafe)
        chosen = self._make("chosen", "cheapest_classes", matches=matches, common=common)
        self.absorbed = self.rows_left
        self._recode_classes(self._rows("joint_levels", matches=matches, chosen=chosen), tables["numbered"])

    def _common_cells(self, classes: Relation) -> Relation:
        """The levels, from the current one up, on which all tuples of a class are equal."""
        tables, tuples = self.tables, self.coding.tuples
        cells = [
            tables.text("prioprivacy/rule_cells", attribute=j, level=level, column=[column], tuples=tuples)
            for j, columns in enumerate(self.coding.all_columns)
            for level, column in enumerate(columns)
        ]
        tables.create_as("cells", queries.union_all(cells))
        # The loss per additional leaf under a cell's label: a cell loses at most its attribute's weight.
        spans = [max(1, attribute.hierarchy.leaf_count - 1) for attribute in self.task.frequency_set.attributes]
        weights = [weight / span for weight, span in zip(self.task.weights, spans, strict=True)]
        types = {"attribute": "INTEGER", "weight": "DOUBLE"}
        attributes = tables.load("attributes", types, [list(range(len(spans))), weights])
        self._load_used_nodes(long=True)
        return self._make(
            "common",
            "common_cells",
            attributes=attributes,
            labels=self.coding.labels,
            numbered=classes,
            **{name: tables[name] for name in ("cells", "recoded", "nodes")},
        )

    def _recode_classes(self, found: Iterable[tuple[int, int, int]], classes: Relation) -> None:
        """Assign other levels (class, attribute, level) to classes and the chosen tuples that join them."""
        tables, levels = self.tables, dict[int, dict[int, int]]()
        for number, j, level in found:
            levels.setdefault(number, {})[j] = level
        numbers = list(range(len(self.nodes), len(self.nodes) + len(levels)))
        self.nodes += [self.node(level) for level in levels.values()]
        grown = tables.load("grown", {"class": "INTEGER", "node": "INTEGER"}, [list(levels), numbers])
        moved = self._make("moved", "grown_classes", numbered=classes, chosen=tables["chosen"], grown=grown)
        kept = self._make("kept", "remaining", tuples=tables["recoded"], recoded=moved)
        self._make("recoded", "recoded_anew", kept=kept, moved=moved)

    def _join_unsafe_classes(self) -> None:
        """Let unsafe classes join others until all are safe.

        They show the labels that all their tuples have in common; if another class shows the same, both become one.
        """
        while wildcard.of_equal_rows(self.task.engine, self.task.model, self._members()).unsafe_rows:
            joined = recode_by_rows(lambda _: Local(self._make_assignment()), self.task)
            self.joins += joined.facts["classes_joined"]
            self._show_in_common(joined.assignment)
            self._number_classes()

    def _show_in_common(self, assignment: Relation) -> None:
        """Assign to merged classes the lowest levels on which their tuples are equal."""
        tables, tuples = self.tables, self.coding.tuples
        query = queries.assigned(tuples, assignment, self._keys, ["tuple", "n"], self.task.engine.dialect)
        joined = tables.create_as("joined", query)
        merged = self._make("merged", "merged_tuples", joined=joined, numbered=tables["numbered"])
        common = self._common_cells(merged)
        tables.load("chosen", {"tuple": "INTEGER", "class": "INTEGER"}, [])
        self._recode_classes(self._rows("lowest_levels", common=common), merged)

    def _members(self) -> Relation:
        """The rows of every class by everything that the model counts."""
        numbered, columns = self.tables["numbered"], ["n", *self.task.frequency_set.counted]
        return self._make("class_rows", "class_members", columns=columns, numbered=numbered, counted=self.counted)

    def _load_used_nodes(self, long: bool = False) -> None:
        """Load the transformations in use: one row each, or one row per attribute."""
        used = sorted(node for (node,) in self._rows("used_nodes", recoded=self.tables["recoded"]))
        places = range(len(self.heights))
        if long:
            rows = [(number, j, self.nodes[number][j]) for number in used for j in places]
            types = dict.fromkeys(("node", "attribute", "level"), "INTEGER")
        else:
            rows = [(number, *self.nodes[number]) for number in used]
            types = dict.fromkeys(("node", *(f"level_{j}" for j in places)), "INTEGER")
        self.tables.load("nodes", types, list(zip(*rows, strict=True)))

    def _number_classes(self) -> None:
        tables, coded = self.tables, self.coding
        self._load_used_nodes()
        query = queries.labelled(
            coded.tuples, tables["recoded"], tables["nodes"], coded.labels, coded.all_columns, self.task.engine.dialect
        )
        labelled = tables.create_as("labelled", query)
        labels = [f"label_{j}" for j in range(len(self.heights))]
        self._make("numbered", "numbered_classes", labels=labels, cells=self._cells, labelled=labelled)

    @property
    def _cells(self) -> list[str]:
        return [f"{name}_{j}" for j in range(len(self.heights)) for name in ("label", "leaves", "level")]

    def result(self) -> Local:
        """The assignment, the classes with their labels, and the facts of the run."""
        self._number_classes()
        if not self.task.model.monotone:
            self._join_unsafe_classes()
        results, numbered = self.task.results, self.tables["numbered"]
        classes = results.create("local_classes", "prioprivacy/own_classes", cells=self._cells, numbered=numbered)
        assignment = self._make_assignment()
        facts = self._facts(assignment, classes)
        return Local(assignment, classes=classes, ended=self.ended, facts=facts)

    def _make_assignment(self) -> Relation:
        columns = dict(zip(self._keys, self.coding.columns(), strict=True))
        holes = {"tuples": self.coding.tuples, "numbered": self.tables["numbered"]}
        return self.task.results.create("assignment", "prioprivacy/own_assignment", columns=columns, **holes)

    def _facts(self, assignment: Relation, classes: Relation) -> dict[str, Any]:
        model, loose = self.task.model, self.task.spec.wildcard_suppression
        if loose:
            matched = wildcard.of_classes(self.coding, model, classes)
        else:
            counted = self._members() if self.task.frequency_set.counted else classes
            matched = wildcard.of_equal_rows(self.task.engine, model, counted)
        if matched.unsafe_rows:
            raise InfeasibleError(
                f"{matched.unsafe_rows:,} rows do not meet {model.name} after all of prioprivacy's steps; "
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
            **({} if model.monotone else {"classes_joined": self.joins}),
            "string_classes": {"smallest": matched.smallest_class, "rows_below": matched.unsafe_class_rows},
            "wildcard": {"smallest": matched.smallest_fit, "rows_below": matched.unsafe_rows},
            "quality": self._quality(assignment, classes),
        }

    def _quality(self, assignment: Relation, classes: Relation) -> dict[str, float] | None:
        """The paper's figures of the table; None if a rule's label is on no level of its hierarchy."""
        try:
            table, _ = quality.measure(self.task.engine, self.task.frequency_set.attributes, assignment, classes)
        except HierarchyError:
            return None
        return asdict(table)

    def _make(self, table: str | Relation, name: str, **holes: Hole) -> Relation:
        return self.tables.create(table, f"prioprivacy/{name}", **holes)

    def _rows(self, name: str, **holes: Hole) -> list[tuple[Any, ...]]:
        return self.tables.rows(f"prioprivacy/{name}", **holes)

    def _count_left(self) -> None:
        ((rows,),) = self.tables.rows("frequency_sets/total_rows", counted=self.unsafe)
        self.rows_left = int(rows)
