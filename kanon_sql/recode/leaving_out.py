"""Local algorithms for tables whose rows cannot all be in safe classes: some are suppressed, within the limit.

A local algorithm releases every row. If that is impossible, because some rows spoil every class, a search finds the
best node with suppression, and the algorithm recodes the rows that the node keeps. If it finds no safe classes for them
either (a model can be satisfied by classes and not by unions of them), the classes of the node are released.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.judge import Judge
from kanon_sql.recode.node import from_node
from kanon_sql.recode.task import Local, Task
from kanon_sql.recode.value_tests import assigned_tuples

Recode = Callable[[Task], Local]


def recode_what_can_be(recode: Recode, task: Task) -> Local:
    """Recode all rows, or those that the best node keeps; InfeasibleError without such a node."""
    try:
        return recode(task)
    except InfeasibleError as error:
        return _recode_the_rest(recode, task, error)


def _recode_the_rest(recode: Recode, task: Task, error: InfeasibleError) -> Local:
    limit, clock = task.clock.limit, task.clock
    try:
        node = task.optimum(None if limit is None else max(1.0, (limit - clock.seconds) / 2))
    except InfeasibleError:
        raise error from None
    from_search = from_node(task.frequency_set, task.model, node)
    with Scratch(task.engine, "kept") as tables:
        kept = assigned_tuples(task.frequency_set, from_search.assignment, tables)
        if not kept.rows:
            raise error
        with suppress(InfeasibleError):
            if kept.rows < task.frequency_set.rows:
                local = recode(replace(task, frequency_set=kept, judge=Judge(kept, task.model)))
                return replace(local, facts={**local.facts, "kept_by": from_search.facts["node"]})
    return replace(from_node(task.frequency_set, task.model, node), ended=clock.ended)
