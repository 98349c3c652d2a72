"""The links between the tables of a spec: which table refers to which, in the order of copying."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kanon_sql.errors import SpecError
from kanon_sql.spec import LinkedSpec


@dataclass(frozen=True)
class Link:
    """One of the tables: its number, its own key column, and the columns that refer to other tables.

    `person`: the column that refers to the main table. `parent`: the table of events that it refers to, by
    `parent_key`. `referenced`: whether another table of events refers to it. `depth`: how many tables of events lead
    from it to the main table.
    """

    name: str
    number: int
    own_key: str | None
    person: str | None = None
    parent: str | None = None
    parent_key: str | None = None
    referenced: bool = False
    depth: int = 0

    @property
    def is_main(self) -> bool:
        """Whether it is the table with one row per person."""
        return self.number == 0

    @property
    def keys(self) -> list[str]:
        """The columns of keys, each once."""
        return list(dict.fromkeys(filter(None, (self.own_key, self.person, self.parent_key))))

    def key_rows(self, main: str) -> list[tuple[str, str, str]]:
        """The columns of keys, with the tables that they identify rows of, and the number of the row in a copy."""
        found = (
            (self.own_key, self.name, "row_id"),
            (self.person, main, "unit_id"),
            (self.parent_key, self.parent, "parent_id"),
        )
        return [(column, str(table), row) for column, table, row in found if column]


def links_of(spec: LinkedSpec) -> list[Link]:
    """The tables of a spec in the order of their links, the main table first; SpecError if the links are not a tree."""
    if spec.main not in spec.tables:
        raise SpecError(f"unit names the table {spec.main!r}, which is not in `tables`; add it")
    _check_main(spec)
    events = [name for name in spec.tables if name != spec.main]
    parents = {name: _parent_of(spec, name) for name in events}
    depths = {name: _depth(name, parents) for name in events}
    order = sorted(events, key=depths.__getitem__)
    links = [Link(spec.main, 0, spec.person_key)]
    for number, name in enumerate(order, start=1):
        table = spec.tables[name]
        person = next((column for column, refers_to in table.references.items() if refers_to == spec.main), None)
        parent_key = next(
            (column for column, refers_to in table.references.items() if refers_to == parents[name]), None
        )
        referenced = name in parents.values()
        links.append(Link(name, number, table.own_key, person, parents[name], parent_key, referenced, depths[name]))
    return links


def _check_main(spec: LinkedSpec) -> None:
    table = spec.tables[spec.main]
    if table.references:
        column, refers_to = next(iter(table.references.items()))
        raise SpecError(
            f"{spec.main}.{column} refers to {refers_to}, but {spec.main} is the table of the people, to which the "
            "other tables refer; remove it from `keys`"
        )
    if table.own_key not in (None, spec.person_key):
        raise SpecError(
            f"{spec.main} has the key {table.own_key!r} in `keys` and {spec.person_key!r} in `unit`; name one column"
        )


def _parent_of(spec: LinkedSpec, name: str) -> str | None:
    """The table of events that a table refers to; None if it refers to people only."""
    table = spec.tables[name]
    owns = [column for column, refers_to in table.keys.items() if refers_to == "own"]
    if len(owns) > 1:
        raise SpecError(f"{name} has {len(owns)} columns that are `own`: {', '.join(owns)}; keep one of them")
    for column, refers_to in table.references.items():
        if refers_to not in spec.tables:
            raise SpecError(
                f"{name}.{column} refers to {refers_to!r}, which is not in `tables`; add it, or leave out the key"
            )
        if refers_to != spec.main and spec.tables[refers_to].own_key is None:
            raise SpecError(f"{name}.{column} refers to {refers_to}, which has no key; declare one that is `own`")
    for target in {*table.references.values()}:
        columns = [column for column, refers_to in table.references.items() if refers_to == target]
        if len(columns) > 1:
            raise SpecError(
                f"{', '.join(columns)} of {name} all refer to {target}; keep the one that says whose row it is, and "
                "leave out the others"
            )
    others = [refers_to for refers_to in table.references.values() if refers_to != spec.main]
    if len(others) > 1:
        raise SpecError(
            f"{name} refers to {' and '.join(others)}; a table can refer to the people and to one other table, so "
            "leave out the other keys"
        )
    if not table.references:
        raise SpecError(
            f"{name} has no path to {spec.main}: none of its keys refers to a table; add the column that says whose "
            f"row it is, such as `keys: {{{spec.person_key}: {spec.main}}}`"
        )
    return others[0] if others else None


def _depth(name: str, parents: dict[str, str | None]) -> int:
    """How many tables of events lead from a table to the people; SpecError if they lead nowhere."""
    path = list(_path(name, parents))
    if len(path) != len({*path}):
        raise SpecError(f"the tables refer to each other in a circle: {' -> '.join(path)}; remove one of these keys")
    return len(path) - 1


def _path(name: str, parents: dict[str, str | None]) -> Iterator[str]:
    seen: set[str] = set()
    current: str | None = name
    while current is not None:
        yield current
        if current in seen:
            return
        seen.add(current)
        current = parents[current]
