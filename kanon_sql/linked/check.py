"""The independent check of released tables: joined by their released keys, and counted with separate SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.linked.links import Link
from kanon_sql.queries import Relation, ReleasedTable
from kanon_sql.spec import LinkedSpec

_PAIRS_AT_ONCE = 20_000_000


@dataclass(frozen=True)
class LinkedFinding:
    """What a check found about combinations of a size: how many occur, how many are rare, and the fewest people.

    `known`: how many of a person's rows in other tables are known. `achieved`: None if there is no such combination.
    """

    known: int | str
    required: int
    achieved: int | None
    combinations: int
    rare: int

    @property
    def satisfied(self) -> bool:
        """Whether every combination is shared by enough people."""
        return self.rare == 0


@dataclass(frozen=True)
class Checked:
    """The findings about released tables, and what is wrong with their keys, in sentences."""

    people: int
    findings: tuple[LinkedFinding, ...]
    broken: tuple[str, ...] = ()

    @property
    def satisfied(self) -> bool:
        """Whether the tables are (k, m)-anonymous, and their keys fit together."""
        return not self.broken and all(finding.satisfied for finding in self.findings)


def check_released(
    engine: Engine, links: Sequence[Link], spec: LinkedSpec, released: Mapping[str, Relation]
) -> Checked:
    """Join released tables by their keys, and count the people who share what somebody may know of one of them."""
    described = [
        ReleasedTable(
            released[link.name],
            link.number,
            list(spec.tables[link.name].quasi_identifiers),
            link.own_key,
            link.person,
            next((other.number for other in links if other.name == link.parent), None),
            link.parent_key,
        )
        for link in links
    ]
    with Scratch(engine, "checked") as tables:
        broken = list(_broken(tables, links, released))
        people = tables.create_as("people", queries.released_people(described[0], engine.dialect))
        count = tables.count(people)
        findings = list(_findings(tables, people, described, spec))
    return Checked(count, tuple(findings), tuple(broken))


def _findings(tables: Scratch, people: Relation, described: Sequence[ReleasedTable], spec: LinkedSpec) -> Any:
    k, m = spec.privacy.k, spec.privacy.m
    yield _finding(0, k, tables.rows("linked/smallest_classes", people=people, k=k))
    if m == 0 or len(described) == 1:
        return
    facts = tables.create_as("facts", queries.released_facts(described, tables.engine.dialect))
    rows = tables.create("rows", "linked/released_rows", facts=facts, people=people)
    if m == "all":
        yield _finding("all", k, tables.rows("linked/smallest_wholes", people=people, rows=rows, k=k))
        return
    yield _finding(1, k, tables.rows("linked/smallest_singles", rows=rows, k=k))
    ((pairs,),) = tables.rows("linked/pairs_of_people", rows=rows)
    parts = 1 + int(pairs) // _PAIRS_AT_ONCE
    for known, query in ((2, "linked/smallest_pairs"), (3, "linked/smallest_triples")):
        if m >= known:
            found = [tables.rows(query, rows=rows, k=k, parts=parts, part=part)[0] for part in range(parts)]
            yield _finding(known, k, found)


def _finding(known: int | str, k: int, found: Sequence[Sequence[Any]]) -> LinkedFinding:
    smallest = min((int(row[2]) for row in found if row[2] is not None), default=None)
    return LinkedFinding(known, k, smallest, sum(int(row[0]) for row in found), sum(int(row[1]) for row in found))


def _broken(tables: Scratch, links: Sequence[Link], released: Mapping[str, Relation]) -> Any:
    """Sentences about released keys that occur twice, or lead nowhere."""
    own_keys = {link.name: str(link.own_key) for link in links}
    main = links[0].name
    for link in links:
        relation = released[link.name]
        if link.own_key:
            ((doubled,),) = tables.rows("linked/broken_keys", column=[link.own_key], released=relation)
            if doubled:
                yield f"{doubled:,} values of {link.name}.{link.own_key} are in several rows"
        for column, target in ((link.person, main), (link.parent_key, link.parent)):
            if column and target:
                holes: dict[str, Any] = {
                    "released": relation,
                    "column": [column],
                    "target": released[target],
                    "key": [own_keys[target]],
                }
                ((lost,),) = tables.rows("linked/lost_references", **holes)
                if lost:
                    yield f"{lost:,} rows of {link.name} refer by {column} to rows of {target} that do not exist"
