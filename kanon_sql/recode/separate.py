"""A separate database for a local recoding, which can be interrupted there at any moment.

Interrupting a statement aborts its transaction, and a run is one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.queries import Relation
from kanon_sql.recode.task import Local


@contextmanager
def separate_database(frequency_set: FrequencySet, source: Engine) -> Iterator[FrequencySet]:
    """The frequency set outside of the run's transaction: copied into a private DuckDB if there is one.

    In the copy, values are texts, whatever the column's type.
    """
    if frequency_set.engine is not source or not source.is_embedded or source.can_interrupt:
        yield frequency_set
        return
    private = frequency_set.engine.embedded()
    try:
        for relation in (frequency_set.relation, *frequency_set.references.values()):
            query = queries.select_all(relation, frequency_set.engine.dialect)
            frequency_set.engine.send(query, private, relation)
        attributes = tuple(_moved(frequency_set.engine, a, private) for a in frequency_set.attributes)
        yield replace(frequency_set, tables=Scratch(private), attributes=attributes)
    finally:
        private.close()


def bring_back(local: Local, at: Engine, results: Scratch, stem: str = "assignment") -> Local:
    """Send the results of a local algorithm to the engine of the frequency set; `stem`: the name of the assignment."""
    if at is results.engine:
        return local

    def bring(stem: str, relation: Relation) -> Relation:
        return results.receive(stem, at, queries.select_all(relation, at.dialect))

    cuts = local.cuts and bring("cuts", local.cuts)
    classes = local.classes and bring("local_classes", local.classes)
    placed = local.placed and bring_back(local.placed, at, results, "placed_assignment")
    return replace(local, assignment=bring(stem, local.assignment), cuts=cuts, classes=classes, placed=placed)


def _moved(engine: Engine, attribute: Attribute, private: Engine) -> Attribute:
    mapping, levels = attribute.coded.mapping, range(attribute.hierarchy.height + 1)
    codes = [f"code_{level}" for level in levels] + [f"loss_{level}" for level in attribute.coded.loss_levels]
    query = queries.text("mappings/mapping_codes", engine.dialect, mapping=mapping, codes=codes)
    engine.send(query, private, mapping)
    return replace(attribute, column=replace(attribute.column, type="VARCHAR"))
