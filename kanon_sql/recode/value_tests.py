"""The rows of tuples by their sensitive values, on which `refine` tests classes if a model counts more than rows.

A tuple with several values stays one tuple, whose rows are always in one class; its values are joined to it for a test.
The model determines the code columns, and what their rows mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Hole, Relation
from kanon_sql.recode.task import Task

_ROWS = 20_000_000  # counted in one statement


@dataclass
class ValueTests:
    """The tests of one run, on `refine`'s relations and tuple ids."""

    tables: Scratch
    model: PrivacyModels
    frequency_set: FrequencySet

    def __post_init__(self) -> None:
        self.columns = list(self.frequency_set.sensitive)
        self.keys = self.frequency_set.keys
        self.values, self.of_classes = self.tables["values"], self.tables["class_values"]

    def load(self) -> Relation:
        """Store every tuple's rows by value; returns the tuples without values, one row per tuple."""
        source = self.frequency_set.relation
        holes: Mapping[str, Hole] = {"keys": self.keys, "sensitive": self.columns}
        self.tables.create(self.values, "refine/values", frequency_set=source, **holes)
        return whole_tuples(self.frequency_set, self.tables)

    def of(self, placed: Relation, *where: str) -> Relation:
        """The rows of placed tuples by value, with some columns of theirs."""
        columns = [*where, *self.columns]
        return self.tables.create("rows", "refine/placed_values", placed=placed, values=self.values, columns=columns)

    def count_classes(self, state: Relation) -> None:
        """Count the rows of a state's classes by value, which the tests of moves start from."""
        holes: Mapping[str, Hole] = {"state": state, "values": self.values, "sensitive": self.columns}
        self.tables.create(self.of_classes, "refine/class_values", **holes)

    def of_rests(self, rests: Relation) -> Relation:
        """The rows by value that classes keep without one of their tuples."""
        leavers = self.tables.create("leavers", "refine/leavers", rests=rests, class_values=self.of_classes, most=_ROWS)
        holes: Mapping[str, Hole] = {"class_values": self.of_classes, "values": self.values, "sensitive": self.columns}
        return self.tables.create("rest_values", "refine/rest_values", leavers=leavers, **holes)

    def safe_moves(self, wanted: Relation) -> Relation:
        """The best of every tuple's wanted moves after which its new class is safe."""
        pairs = self.tables.create("pairs", "refine/pairs", wanted=wanted, class_values=self.of_classes, most=_ROWS)
        holes: Mapping[str, Hole] = {"class_values": self.of_classes, "values": self.values, "sensitive": self.columns}
        rows = self.tables.create("pair_values", "refine/pair_values", pairs=pairs, **holes)
        return self.tables.create(
            "safe_pairs", "refine/safe_pairs", pairs=pairs, pair_values=rows, safe=self.model.safe
        )

    def rank(self, classes: Relation, outsiders: Relation) -> Relation:
        """The classes in order of how many of the tuples without a class they could take in, most first."""
        holes: Mapping[str, Hole] = {"class_values": self.of_classes, "values": self.values, "sensitive": self.columns}
        rows = self.tables.create("joinable_rows", "refine/joinable_rows", classes=classes, open=outsiders, **holes)
        return self.tables.create("ranked", "refine/ranked", classes=classes, joinable_rows=rows, safe=self.model.safe)


def whole_tuples(frequency_set: FrequencySet, tables: Scratch) -> Relation:
    """The frequency set without the sensitive values: one row per tuple."""
    attributes = frequency_set.attributes
    levels = [a.coded.code_column(level) for a in attributes for level in range(1, a.coded.height + 1)]
    sums = ["n", *(a.coded.loss_column(level) for a in attributes for level in a.coded.loss_levels)]
    holes = {"keys": frequency_set.keys, "levels": levels, "sums": sums}
    return tables.create("whole", "frequency_sets/rollup", frequency_set=frequency_set.relation, **holes)


def assigned_tuples(frequency_set: FrequencySet, assignment: Relation, tables: Scratch) -> FrequencySet:
    """The frequency set of the tuples that have a class."""
    columns = [column.name for column in frequency_set.engine.table(frequency_set.relation).columns]
    assigned = _assigned(frequency_set, assignment, tables, columns, "assigned")
    relation = tables.create("assigned_tuples", "frequency_sets/copy", columns=columns, source=assigned)
    ((rows,),) = tables.rows("frequency_sets/total_rows", counted=relation)
    return replace(frequency_set, relation=relation, rows=int(rows), tuples=tables.count(assignment))


def members(
    frequency_set: FrequencySet, assignment: Relation, tables: Scratch, columns: Sequence[str] = ()
) -> Relation:
    """The rows of every class by everything that models count, with some columns of codes."""
    return _assigned(frequency_set, assignment, tables, ["n", *columns, *frequency_set.counted], "members")


def _assigned(
    frequency_set: FrequencySet, assignment: Relation, tables: Scratch, columns: Sequence[str], stem: str
) -> Relation:
    relation, dialect = frequency_set.relation, frequency_set.engine.dialect
    return tables.create_as(stem, queries.assigned(relation, assignment, frequency_set.keys, columns, dialect))


def is_safe_as_a_whole(task: Task) -> bool:
    """Whether all rows together are a safe class."""
    relation = task.frequency_set.relation
    query = queries.text("mondrian/whole", task.engine.dialect, frequency_set=relation, safe=task.model.safe)
    ((safe,),) = task.engine.rows(query)
    return bool(safe)


def refuse_if_unsafe_as_a_whole(task: Task) -> None:
    """Raise InfeasibleError if all rows together are not safe."""
    if not is_safe_as_a_whole(task):
        raise no_safe_classes(task)


def no_safe_classes(task: Task) -> InfeasibleError:
    """The error if all classes were merged and the result is unsafe."""
    return InfeasibleError(
        f"all {task.frequency_set.rows:,} rows together do not meet {task.model.name}, and no other classes that hold "
        "all of them were found; relax the model, or raise `suppression_limit`"
    )
