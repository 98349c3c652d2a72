"""Joining unsafe classes to others, for local algorithms that only count rows and models that count sensitive values.

The algorithm only applies the models that count the rows of a class. A tuple whose rows it splits goes into the class
of its largest part. Then every class that is unsafe under any model joins the nearest class with which it is safe, or
the nearest of all, until none is unsafe. If merged classes of a model stay safe, this always ends: at the latest with
one class of all rows, which is tested first.

When time is up, the unsafe classes are merged with the fewest others, the largest first, that make the result safe, and
its tuples are cut again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.judge import Judge
from kanon_sql.privacy import PrivacyModels, all_of, k_anonymity
from kanon_sql.queries import Hole, Steps
from kanon_sql.recode.mondrian import cut, time_to_cut
from kanon_sql.recode.task import Clock, Local, Task
from kanon_sql.recode.value_tests import members, no_safe_classes, refuse_if_unsafe_as_a_whole, whole_tuples

_NEAREST = 32  # candidates tested for an unsafe class before it joins the nearest of all
_UNIT = 10_000  # the cost of a whole hierarchy: sums over a thousand attributes stay exact
_MOMENT = 0.5  # seconds for the last joins after an interruption
_TO_JOIN = 0.25  # fraction of the time for joining


def recode_by_rows(recode: Callable[[Task], Local], task: Task) -> Local:
    """Recode by rows, and join the classes that are unsafe under any model; InfeasibleError if all rows are unsafe."""
    with Scratch(task.engine, "joining") as tables:
        if task.model.mergeable:
            refuse_if_unsafe_as_a_whole(task)
        relation = whole_tuples(task.frequency_set, tables)
        whole = replace(task.frequency_set, relation=relation, sensitive=(), population=None)
        model, clock = of_rows(task.model), _time_to_recode(task.clock)
        local = recode(replace(task, frequency_set=whole, model=model, judge=Judge(whole, model), clock=clock))
        return _Joining(task, tables).join(local)


def join_unsafe(local: Local, task: Task) -> Local:
    """Join the classes of a recoding that are unsafe under any model; InfeasibleError if one unsafe class remains."""
    with Scratch(task.engine, "joining") as tables:
        return _Joining(task, tables).join(local)


def of_rows(model: PrivacyModels) -> PrivacyModels:
    """The models that only count the rows of a class."""
    rows = [model for model in model.models if model.sensitive is None and model.population is None]
    return all_of(*rows) if rows else all_of(k_anonymity(1))


def _time_to_recode(clock: Clock) -> Clock:
    return clock.part(None if clock.limit is None else clock.limit - _TO_JOIN * (clock.limit - clock.seconds))


@dataclass
class _Joining:
    """The classes of one recoding: an assignment of whole tuples in a scratch table that is replaced, never changed."""

    task: Task
    tables: Scratch

    def __post_init__(self) -> None:
        self.keys = self.task.frequency_set.keys
        self.columns = [*self.keys, "n", "class"]
        self.assignment, self.spare = self.tables.pair("assignment")
        self.joins = 0

    def join(self, local: Local) -> Local:
        """Join the unsafe classes of a recoding to others; the number of joins is in `facts`."""
        source = local.assignment
        if local.split:  # the values of the rows of a part are undetermined
            source = self.tables.create("parts", "joining/largest_parts", assignment=source, keys=self.keys)
        self.tables.create(self.assignment, "frequency_sets/copy", columns=self.columns, source=source)
        until = time_to_cut(self.task)
        clock = self.task.clock.last_part(_MOMENT) if self.task.clock.stopped else self.task.clock.part(until)
        late = not self._join_nearest(clock) and self._join_largest()
        self.task.results.create(local.assignment, "frequency_sets/copy", columns=self.columns, source=self.assignment)
        ended = clock.ended if late and local.ended == "complete" else local.ended
        return replace(local, split=False, ended=ended, facts={**local.facts, "classes_joined": self.joins})

    def _join_nearest(self, clock: Clock) -> bool:
        """Join unsafe classes to their nearest, in rounds, until time is up; whether all are safe now."""
        with self.task.working(clock):
            while not clock.spent:
                if not (merged := self._find_nearest()):
                    return True
                types = {"class": "INTEGER", "into": "INTEGER"}
                into = self.tables.load("into", types, [list(merged), list(merged.values())])
                self._advance("joining/joined", joined=into, columns=[*self.keys, "n"])
                self.joins += len(merged)
        return False

    def _find_nearest(self) -> dict[int, int]:
        """The joins of one round, class -> class; empty if all are safe."""
        frequency_set, tables, safe = self.task.frequency_set, self.tables, self.task.model.safe
        levels = {
            a.coded.code_column(level): max(1, round(_UNIT * weight / a.hierarchy.height))
            for a, weight in zip(frequency_set.attributes, self.task.weights, strict=True)
            for level in range(a.hierarchy.height)
        }
        classes = members(frequency_set, self.assignment, tables, list(levels))
        unsafe = tables.create("unsafe", "joining/unsafe", members=classes, safe=safe)
        if not tables.count(unsafe):
            return {}
        examples = tables.create("examples", "joining/examples", members=classes, levels=list(levels))
        between = Steps(levels, "a", "b")
        pairs = tables.create(
            "pairs", "joining/nearest", unsafe=unsafe, examples=examples, between=between, most=_NEAREST
        )
        columns = ["n", *frequency_set.counted]
        together = tables.create("together", "joining/pair_members", pairs=pairs, members=classes, columns=columns)
        unsafe_pairs = tables.create("unsafe_pairs", "joining/unsafe", members=together, safe=safe)
        chosen = tables.rows("joining/chosen", pairs=pairs, unsafe=unsafe_pairs)
        if not chosen:
            raise no_safe_classes(self.task)
        return _matched((int(class_), int(nearest)) for class_, nearest in chosen)

    def _join_largest(self) -> bool:
        """Merge the unsafe classes with the fewest others, the largest first, that make them safe, and cut the result.

        Returns whether there were unsafe classes. InfeasibleError if all classes together are not safe.
        """
        classes = members(self.task.frequency_set, self.assignment, self.tables, self.keys)
        ranked = self.tables.create("ranked", "joining/ranked", members=classes, safe=self.task.model.safe)
        ((low, high),) = self.tables.rows("joining/ranks", ranked=ranked)
        if low == 0:
            return False
        if not self._is_safe_up_to(high):
            raise no_safe_classes(self.task)
        low -= 1
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_safe_up_to(middle) else (middle, high)
        self._is_safe_up_to(high)
        self._cut_first(high)
        return True

    def _is_safe_up_to(self, place: int) -> bool:
        """Whether the classes up to a rank are safe together; their rows are then in `first`."""
        columns = [*self.keys, "n", *self.task.frequency_set.counted]
        holes: dict[str, Hole] = {name: self.tables[name] for name in ("members", "ranked")}
        first = self.tables.create("first", "joining/first", columns=columns, most=place, **holes)
        ((safe,),) = self.tables.rows("mondrian/whole", frequency_set=first, safe=self.task.model.safe)
        return bool(safe)

    def _cut_first(self, most: int) -> None:
        """Replace the classes up to a rank by new ones: cut, or one class.

        Cut classes can have equal labels, and are then one class for readers: together they must be safe.
        """
        holes: dict[str, Hole] = {"ranked": self.tables["ranked"], "most": most, "columns": [*self.keys, "n"]}
        first = self.tables["first"]
        ((rows,),) = self.tables.rows("frequency_sets/total_rows", counted=first)
        assignment = cut(self.task, first, int(rows)) if self.task.model.mergeable else None
        assignment = assignment or self.tables.create("one", "joining/one", assignment=self.assignment, **holes)
        self._advance("joining/replaced", added=assignment, **holes)

    def _advance(self, query: str, **holes: Hole) -> None:
        """Replace the assignment by the result of a query on it."""
        self.tables.create(self.spare, query, assignment=self.assignment, **holes)
        self.assignment, self.spare = self.spare, self.assignment


def _matched(nearest: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Joins such that every class is in at most one pair; a class that comes too late tries again in the next round.

    >>> _matched([(5, 3), (8, 3), (3, 5), (9, 1)])
    {5: 3, 9: 1}
    """
    taken: set[int] = set()
    joined: dict[int, int] = {}
    for class_, other in nearest:
        if not {class_, other} & taken:
            taken |= {class_, other}
            joined[class_] = other
    return joined
