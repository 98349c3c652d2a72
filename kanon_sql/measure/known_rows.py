"""Measure the risk if an attacker has several rows of a person, with bounded work."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.attack import interval
from kanon_sql.engines.scratch import Scratch
from kanon_sql.plan.source import Source
from kanon_sql.privacy import UNIT
from kanon_sql.queries import Hole, Relation, Same
from kanon_sql.release.kinds import Cells
from kanon_sql.risk.known_rows import KnownRows, SeveralRows, known_rows
from kanon_sql.spec import Spec

_SETS = {2: "pairs", 3: "triples"}  # of slots, by the attacker's number of rows
_SLOTS = ("a", "b", "c")
_MOST_PEOPLE = 10_000  # measured for each number of rows
_MOST_SLOTS = 8  # of a person that are combined: 28 pairs, 56 triples
_MOST_WORK = 50_000_000  # people who are looked up, for each number of rows
_AFTER_ALL = 2**31 - 1  # a number after the last person
_MOST_KEYS = 20  # columns that are tested for whether they link rows


def several_rows(tables: Scratch, cells: Cells, linked_by: Sequence[str]) -> SeveralRows:
    """Measure the risk if an attacker has two or three rows of a person, on the coded cells of a table and its people.

    `tables`: the scratch tables in which the cells were coded.
    """
    here, people = cells.tables, cells.codes[UNIT]
    (able,) = tables.rows("known_rows/people_with_rows", people=people)
    query = tables.text("known_rows/chosen", people=people, most=_MOST_PEOPLE)
    chosen = here.receive("known_chosen", tables.engine, query, "known_rows/chosen")
    names = list(cells.names)
    classes = here.create("known_classes", "known_rows/classes", names=names, cells=cells.relation, chosen=chosen)
    same = Same(names, "cells", "found")
    memberships = here.create(
        "known_memberships", "known_rows/memberships", cells=cells.relation, classes=classes, same=same
    )
    slots = here.create("known_slots", "known_rows/slots", memberships=memberships)
    slots_of_people = here.create(
        "known_slots_of_people", "known_rows/slots_of_people", memberships=memberships, slots=slots
    )
    found = [
        _known(here, chosen, slots, slots_of_people, rows, int(number))
        for rows, number in zip(_SETS, able, strict=True)
        if number
    ]
    here.drop(chosen, classes, memberships, slots, slots_of_people)
    return SeveralRows(tuple(linked_by), tuple(found))


def _known(
    here: Scratch, chosen: Relation, slots: Relation, slots_of_people: Relation, rows: int, people: int
) -> KnownRows:
    """Measure the risk if an attacker has this number of rows of a person; `people`: how many have as many rows."""
    targets = here.create(
        "targets",
        "known_rows/targets",
        slots_of_people=slots_of_people,
        chosen=chosen,
        rows=rows,
        most_people=_MOST_PEOPLE,
        most_slots=_MOST_SLOTS,
    )
    sets, names = _SETS[rows], _SLOTS[:rows]
    combined = here.create("combined", f"known_rows/{sets}", targets=targets)
    costs = here.create("costs", "known_rows/costs", combined=combined, slots=slots, names=list(names))
    ((too_far,),) = here.rows("known_rows/first_too_far", costs=costs, most_work=_MOST_WORK)
    before = _AFTER_ALL if too_far is None else int(too_far)
    candidates = here.create(
        "candidates", f"known_rows/candidates_of_{sets}", costs=costs, slots_of_people=slots_of_people, before=before
    )
    same = Same(list(names), "k", "found")
    found = here.rows("known_rows/worst", combined=combined, candidates=candidates, same=same, before=before)
    ((partly,),) = here.rows("known_rows/partly", targets=targets, before=before)
    here.drop("targets", "combined", "costs", "candidates")
    by_candidates = [(int(size), int(n)) for size, n in found]
    measured = sum(n for _, n in by_candidates)
    singled_out = sum(n for size, n in by_candidates if size == 1)
    uncertain = interval(singled_out, measured) if 0 < measured < people else None
    return known_rows(rows, people, int(partly), by_candidates, uncertain)


def linking_columns(table: Source, whole: Source | None, names: Sequence[str], spec: Spec, unit: str) -> list[str]:
    """The columns of a table by which rows of one person can be linked: the unit, or others with values per person.

    A column of a release links rows if in its source no value is shared by two people, and some person has a value in
    several rows. Columns that determine the classes, and perturbed ones, do not.
    """
    if table.table.column(unit):
        return [unit]
    if whole is None:
        return []
    excluded = {*names, *spec.quasi_identifiers, *spec.perturb}
    able = [
        column.name
        for column in whole.table.columns
        if column.name not in excluded and table.table.column(column.name) and column.kind != "other"
    ]
    linking = []
    with Scratch(whole.engine, "linking") as tables:
        for name in able[:_MOST_KEYS]:
            holes: dict[str, Hole] = {"column": [name], "unit": [unit], "source": whole.table.relation}
            ((shared, repeated),) = tables.rows("known_rows/repeated_values", **holes)
            if repeated and not shared:
                linking.append(name)
    return linking
