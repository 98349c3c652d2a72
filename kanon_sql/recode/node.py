"""A lattice node as a local recoding: its classes, which may then show more than the node's labels."""

from __future__ import annotations

from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.generalization.lattice import Node
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode.task import Local


def from_node(frequency_set: FrequencySet, model: PrivacyModels, node: Node) -> Local:
    """The classes of a node that hold; the rows of the others are suppressed."""
    attributes = frequency_set.attributes
    assignment = frequency_set.tables.make(
        "assignment",
        "core/node_assignment",
        frequency_set=frequency_set.relation,
        keys=[attribute.coded.code_column(0) for attribute in attributes],
        levels=frequency_set.level_columns(node),
        sensitive=list(frequency_set.sensitive),
        safe=model.safe,
    )
    return Local(assignment, facts={"node": dict(zip([a.column.name for a in attributes], node, strict=True))})
