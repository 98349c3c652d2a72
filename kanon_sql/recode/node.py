"""A lattice node as a local recoding: its classes, which may then show more than the node's labels."""

from __future__ import annotations

from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.generalization.lattice import Node
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.recode.task import Local


def from_node(frequency_set: FrequencySet, model: PrivacyModels, node: Node) -> Local:
    """The safe classes of a node; the rows of the others are suppressed."""
    assignment = frequency_set.tables.create(
        "assignment",
        "node_tests/node_assignment",
        frequency_set=frequency_set.relation,
        keys=frequency_set.keys,
        levels=frequency_set.level_columns(node),
        sensitive=frequency_set.counted,
        safe=model.safe,
    )
    if frequency_set.sensitive:
        assignment = one_per_tuple(assignment, frequency_set, frequency_set.tables)
    columns = [attribute.column.name for attribute in frequency_set.attributes]
    return Local(assignment, facts={"node": dict(zip(columns, node, strict=True))})


def one_per_tuple(assignment: Relation, frequency_set: FrequencySet, results: Scratch) -> Relation:
    """An assignment of tuples by their sensitive values as one of whole tuples, all of whose rows are in one class."""
    keys = frequency_set.keys
    with Scratch(results.engine, "assigned") as tables:
        holes = {"keys": [*keys, "class"], "levels": [], "sums": ["n"]}
        whole = tables.create("whole", "frequency_sets/rollup", frequency_set=assignment, **holes)
        return results.create(assignment, "frequency_sets/copy", columns=[*keys, "n", "class"], source=whole)
