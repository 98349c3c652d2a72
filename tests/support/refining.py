"""The inputs of refine in tests: a task on any frequency set, and tables of one small hierarchy."""

from collections.abc import Callable, Sequence

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import metric
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode import Clock, Rounds, Task
from kanon_sql.spec import may_suppress, parse
from kanon_sql.strategies import Driver, strategy
from support.database import create_table
from support.oracle import Node

ONE = h.from_rows([["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"], ["d", "cd", "*"]], "one")


def task_of(
    frequency_set: FrequencySet,
    model: PrivacyModels,
    limit: float,
    weights: Sequence[float] = (),
    seconds: float | None = None,
    watch: Callable[[Rounds], None] | None = None,
    start: Node | None = None,
) -> Task:
    judge = Judge(frequency_set, model)
    costs, lattice = judge.costs(), Lattice((0,) * len(frequency_set.heights), frequency_set.heights)

    def optimum(most: float | None) -> Node:
        allowed = may_suppress(limit, frequency_set.rows)
        driver = Driver(lattice, costs, metric("loss"), judge, allowed, model.monotone, most)
        return start or driver.run(strategy("auto")).node

    names = [attribute.column.name for attribute in frequency_set.attributes]
    spec = parse({"source": "people", "quasi_identifiers": names, "privacy": {"k": max(1, model.k)}})
    clock = Clock(seconds, watch)
    return Task(
        frequency_set, model, spec, tuple(weights) or (1.0,) * len(names), clock, judge, costs, lattice, optimum
    )


def small(rows: Sequence[tuple[str, ...]], hierarchies: Sequence[Hierarchy]) -> FrequencySet:
    engine = DuckDB()
    names = [f"q{j}" for j in range(len(hierarchies))]
    table = create_table(engine, "people", dict.fromkeys(names, "VARCHAR"), rows)
    builders = {
        name: lambda _, hierarchy=hierarchy: hierarchy for name, hierarchy in zip(names, hierarchies, strict=True)
    }
    return build_frequency_set(engine, table, builders, Scratch(engine))
