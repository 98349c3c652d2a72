"""Local algorithms that ask for rows alone, under models that count sensitive values: unsafe classes join others.

The algorithm works by the models that ask for the rows of a class alone; a tuple whose rows it parts goes wholly into
the class of its largest part. Then every class that is unsafe by any model joins the nearest one with which it is safe,
or the nearest of all, again and again, until none is unsafe. A model whose classes stay safe when they are merged comes
to an end so in any case: at the latest with one class of all rows, which is tested first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.judge import Judge
from kanon_sql.privacy import PrivacyModels, all_of, k_anonymity
from kanon_sql.queries import Relation, Steps
from kanon_sql.recode.task import Local, Task
from kanon_sql.recode.values import is_safe_as_a_whole, whole_tuples

_NEAREST = 32  # classes that an unsafe one is tried together with, before it joins the nearest of all
_UNIT = 10_000  # of a whole way up one hierarchy: sums of a thousand attributes stay exact


def recode_by_rows(recode: Callable[[Task], Local], task: Task) -> Local:
    """Recode by the rows of a class, and join the classes that are unsafe by any model; InfeasibleError if all are."""
    with Scratch(task.engine, "joining") as tables:
        refuse_if_unsafe_as_a_whole(task)
        relation = whole_tuples(task.frequency_set, tables)
        whole = replace(task.frequency_set, relation=relation, sensitive=(), population=None)
        model = _of_rows(task.model)
        local = recode(replace(task, frequency_set=whole, model=model, judge=Judge(whole, model)))
        return _joined(local, task, tables)


def join_unsafe(local: Local, task: Task) -> Local:
    """Join the classes of a recoding that are unsafe by any model; InfeasibleError if the last one is unsafe still."""
    with Scratch(task.engine, "joining") as tables:
        return _joined(local, task, tables)


def refuse_if_unsafe_as_a_whole(task: Task) -> None:
    """Raise InfeasibleError if not even all rows together are safe."""
    if not is_safe_as_a_whole(task):
        raise InfeasibleError(
            f"all {task.frequency_set.rows:,} rows together do not meet {task.model.name}, so no class can; "
            "ask for less"
        )


def _of_rows(model: PrivacyModels) -> PrivacyModels:
    """The models that ask for the rows of a class alone."""
    rows = [each for each in model.models if each.sensitive is None and each.population is None]
    return all_of(*rows) if rows else all_of(k_anonymity(1))


def _joined(local: Local, task: Task, tables: Scratch) -> Local:
    """The classes of a recoding, the unsafe ones joined to others; `facts` says how many."""
    keys, joins = [attribute.coded.code_column(0) for attribute in task.frequency_set.attributes], 0
    if local.split:  # which values the rows of a part have is not known
        parts = tables.make("parts", "joining/largest_parts", assignment=local.assignment, keys=keys)
        task.results.make(local.assignment, "core/copy", columns=[*keys, "n", "class"], source=parts)
    while merged := _round(local.assignment, task, tables):
        joins += len(merged)
        types = {"class": "INTEGER", "into": "INTEGER"}
        into = tables.load("into", types, [list(merged), list(merged.values())])
        made = tables.make(
            "assignment", "joining/joined", assignment=local.assignment, joined=into, columns=[*keys, "n"]
        )
        task.results.make(local.assignment, "core/copy", columns=[*keys, "n", "class"], source=made)
    return replace(local, split=False, facts={**local.facts, "classes_joined": joins})


def _round(assignment: Relation, task: Task, tables: Scratch) -> dict[int, int]:
    """Which classes join which others in one round; none if all are safe."""
    frequency_set, dialect = task.frequency_set, task.engine.dialect
    keys = [attribute.coded.code_column(0) for attribute in frequency_set.attributes]
    levels = {
        a.coded.code_column(level): max(1, round(_UNIT * weight / a.hierarchy.height))
        for a, weight in zip(frequency_set.attributes, task.weights, strict=True)
        for level in range(a.hierarchy.height)
    }
    columns = ["n", *levels, *frequency_set.counted]
    members = tables.make_as("members", queries.assigned(frequency_set.relation, assignment, keys, columns, dialect))
    unsafe = tables.make("unsafe", "joining/unsafe", members=members, safe=task.model.safe)
    if not tables.count(unsafe):
        return {}
    examples = tables.make("examples", "joining/examples", members=members, levels=list(levels))
    between = Steps(levels, "a", "b")
    pairs = tables.make("pairs", "joining/nearest", unsafe=unsafe, examples=examples, between=between, most=_NEAREST)
    columns = ["n", *frequency_set.counted]
    together = tables.make("together", "joining/pair_members", pairs=pairs, members=members, columns=columns)
    unsafe_pairs = tables.make("unsafe_pairs", "joining/unsafe", members=together, safe=task.model.safe)
    chosen = tables.rows("joining/chosen", pairs=pairs, unsafe=unsafe_pairs)
    if not chosen:
        raise InfeasibleError(f"the one class that is left does not meet {task.model.name}; ask for less")
    return _matched((int(one), int(other)) for one, other in chosen)


def _matched(nearest: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Which classes join which, each in one pair at most: who comes too late tries again in the next round.

    >>> _matched([(5, 3), (8, 3), (3, 5), (9, 1)])
    {5: 3, 9: 1}
    """
    taken: set[int] = set()
    joined: dict[int, int] = {}
    for one, other in nearest:
        if not {one, other} & taken:
            taken |= {one, other}
            joined[one] = other
    return joined
