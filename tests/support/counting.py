"""The frequency set of an oracle's table, made in an engine."""

from itertools import count
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.generalization.hierarchy import Hierarchy, cover
from support.database import create_table
from support.examples import examples
from support.oracle import Problem

NAMES = ("n", "value", "Sum(n)", 'a "b"; DROP', "Straße", "select", "m0", "t", "kanon_tuples", " ", "node", "k")
EXAMPLES = examples(25)
_numbers = count()


def counted(
    engine: Engine, problem: Problem, names: tuple[str, ...] = NAMES, search_in: Engine | None = None
) -> FrequencySet:
    """The frequency set of a problem's table, made in the engine under odd names."""
    types = ["BIGINT" if isinstance(c.levels[0][0], int) else "VARCHAR" for c in problem.columns]
    names = names[: len(types)]
    table = create_table(engine, f"people {next(_numbers)}", dict(zip(names, types, strict=True)), problem.rows)

    def build(index: int) -> Any:
        hierarchy = Hierarchy(*problem.columns[index].levels)
        return lambda values: cover(hierarchy, values, "it", "top")

    try:
        builders = {name: build(index) for index, name in enumerate(names)}
        return build_frequency_set(engine, table, builders, Scratch(search_in or engine))
    finally:
        engine.run(queries.drop(table.relation, engine.dialect))
