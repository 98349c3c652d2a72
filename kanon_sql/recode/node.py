"""A lattice node as a local recoding: its classes, which may then show more than the node's labels."""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.generalization.lattice import Node
from kanon_sql.privacy import PrivacyModel
from kanon_sql.recode.task import ASSIGNMENT, Local


def from_node(found: FrequencySet, model: PrivacyModel, node: Node) -> Local:
    """The classes of a node that hold; the rows of the others are suppressed."""
    engine = found.engine
    query = queries.text(
        "core/node_assignment",
        engine.dialect,
        frequency_set=found.relation,
        keys=[attribute.coded.code_column(0) for attribute in found.attributes],
        levels=found.level_columns(node),
        safe=model.safe,
    )
    engine.run(queries.drop(ASSIGNMENT, engine.dialect))
    engine.run(queries.create_as(ASSIGNMENT, query, engine.dialect, temporary=True))
    return Local(facts={"node": dict(zip([a.column.name for a in found.attributes], node, strict=True))})
