"""A task for Mondrian, and the resulting classes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from kanon_sql import queries
from kanon_sql import spec as specs
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.recode.task import Clock, Task
from support.database import create_table

Row = tuple[Any, ...]


def task_of(
    rows: Sequence[Row],
    hierarchies: Sequence[Callable[[Sequence[Any]], Hierarchy]],
    k: int,
    weights: Sequence[float] | None = None,
    show: Sequence[str | None] | None = None,
    types: Sequence[str] | None = None,
    owners: Sequence[int] | None = None,
) -> Task:
    """A task on a table of columns q0, q1, …; by their type whole numbers if there are any, else text.

    `owners`: the person of every row, if people are counted.
    """
    engine = DuckDB()
    names = [f"q{j}" for j in range(len(hierarchies))]
    found_types = ["BIGINT" if any(isinstance(row[j], int) for row in rows) else "VARCHAR" for j in range(len(names))]
    columns, unit = dict(zip(names, types or found_types, strict=True)), None
    if owners is not None:
        rows = [(*row, owner) for row, owner in zip(rows, owners, strict=True)]
        columns, unit = {**columns, "person": "BIGINT"}, "person"
    table = create_table(engine, "people", columns, rows)
    model = all_of(k_anonymity(k), unit=unit)
    built = dict(zip(names, hierarchies, strict=True))
    frequency_set = build_frequency_set(engine, table, built, Scratch(engine), sensitive=model.sensitive)
    attributes = {name: {"show": how} for name, how in zip(names, show or [None] * len(names), strict=True)}
    spec = specs.parse({"source": "people", "quasi_identifiers": attributes, "privacy": {"k": k}, "unit": unit})
    judge = Judge(frequency_set, model)
    lattice = Lattice((0,) * len(names), frequency_set.heights)
    weighted = tuple(weights or (1.0,) * len(names))
    return Task(
        frequency_set, model, spec, weighted, Clock(), judge, judge.costs(), lattice, lambda _: frequency_set.heights
    )


def values_of(task: Task) -> list[dict[int, Any]]:
    """Per attribute the value of every level-0 code."""
    return [
        dict(zip(a.hierarchy.codes(0), (*a.hierarchy.values, *a.hierarchy.starred), strict=True))
        for a in task.frequency_set.attributes
    ]


def classes_of(task: Task) -> list[Counter[Row]]:
    """The classes of an assignment: the rows of each, by their values; in order, so that two can be compared."""
    codes = [a.coded.code_column(0) for a in task.frequency_set.attributes]
    query = queries.text(
        "frequency_sets/copy", "duckdb", columns=[*codes, "n", "class"], source=task.results["assignment"]
    )
    values, classes = values_of(task), defaultdict(Counter)
    for *tuple_codes, n, number in task.engine.rows(query):
        classes[number][tuple(known[code] for known, code in zip(values, tuple_codes, strict=True))] += n
    return in_order(classes.values())


def in_order(classes: Any) -> list[Counter[Row]]:
    return sorted(classes, key=lambda members: sorted(map(repr, members.items())))


def stopped_after_one_round() -> Clock:
    """What Ctrl-C does in the first round, with a time limit: without one several rounds are one statement."""
    clock = Clock(600.0)
    clock.watch = lambda _: setattr(clock, "interrupted", True)
    return clock
