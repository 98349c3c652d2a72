"""Copies of the tables in the source's database: numbered rows with their links, checked before anything is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql import queries
from kanon_sql import spec as specs
from kanon_sql.engine import Engine, Table, refuse_equal_names
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.linked.links import Link
from kanon_sql.plan.preflight import check_roles
from kanon_sql.queries import KeyReference, Relation
from kanon_sql.risk import roles
from kanon_sql.risk.roles import Roles
from kanon_sql.spec import LinkedSpec, Spec


@dataclass(frozen=True)
class TableCopy:
    """A copied table: its link, its spec, its source, and its roles.

    `relation`: the copy, with row_id, unit_id, parent_id, and the columns of the source by the names in `columns`.
    """

    link: Link
    spec: Spec
    source: Table
    roles: Roles
    relation: Relation
    columns: Mapping[str, str]
    rows: int

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns that others may know."""
        return list(self.spec.quasi_identifiers)


def copied(engine: Engine, scratch: Scratch, spec: LinkedSpec, links: Sequence[Link]) -> dict[str, TableCopy]:
    """Copy the tables in the order of their links; SourceError if keys are missing, repeated, or lead nowhere."""
    copies: dict[str, TableCopy] = {}
    for link in links:
        own = spec_of(spec, link)
        source = source_of(engine, own, link)
        check_roles(own, source)
        _check_keys(link, source)
        narrow, settled = roles.settle(engine, source, own)
        if link.own_key:
            _check_distinct(scratch, link, source)
        shifted = spec.tables[link.name].shift
        copies[link.name] = _copy(scratch, link, own, narrow, _without(settled, shifted), shifted, copies)
    return copies


def spec_of(spec: LinkedSpec, link: Link) -> Spec:
    """The spec of one of the tables by itself, for its columns' roles and hierarchies."""
    table = spec.tables[link.name]
    first = next(iter([*table.quasi_identifiers, *link.keys]))
    identifiers = [name for name in (*table.identifiers, *link.keys) if name not in table.quasi_identifiers]
    own = specs.parse(
        {
            "source": table.source or link.name,
            "database": spec.database,
            "attach": dict(spec.attach),
            "hierarchies": spec.hierarchies,
            "quasi_identifiers": dict(table.quasi_identifiers) or [first],
            "identifiers": [name for name in dict.fromkeys(identifiers) if table.quasi_identifiers or name != first],
            "sensitive": spec.sensitive_of(link.name),
            "keep": [*table.keep, *table.shift],
            "privacy": {"k": spec.privacy.k},
        }
    )
    return (
        own
        if table.quasi_identifiers
        else own.model_copy(update={"quasi_identifiers": {}, "identifiers": tuple(identifiers)})
    )


def source_of(engine: Engine, own: Spec, link: Link) -> Table:
    """The table or view of the database."""
    found = engine.find(own.source)
    if found is None:
        raise SourceError(
            f"there is no table {own.source!r} for {link.name} in the database; check its name, or name its `source`"
        )
    refuse_equal_names([column.name for column in found.columns], own.source)
    return found


def _check_keys(link: Link, source: Table) -> None:
    for column in link.keys:
        if source.column(column) is None:
            names = ", ".join(found.name for found in source.columns)
            raise SpecError(f"there is no key column {column!r} in {link.name}; there are {names}")


def _check_distinct(scratch: Scratch, link: Link, source: Table) -> None:
    ((doubled, missing),) = scratch.rows("linked/doubled_keys", column=[str(link.own_key)], source=source.relation)
    if doubled or missing:
        what = "people" if link.is_main else "rows"
        found = f"{doubled:,} values occur several times" if doubled else f"{missing:,} rows have none"
        raise SourceError(
            f"{link.name}.{link.own_key} must identify the {what}, but {found}; correct the table, or name another key"
        )


def _without(settled: Roles, shifted: Sequence[str]) -> Roles:
    """The roles without dates that are shifted, which are not released unchanged."""
    suspects = tuple(found for found in settled.suspects if found.column not in shifted)
    return replace(settled, kept=tuple(name for name in settled.kept if name not in shifted), suspects=suspects)


def _copy(
    scratch: Scratch,
    link: Link,
    own: Spec,
    source: Table,
    settled: Roles,
    shifted: Sequence[str],
    copies: Mapping[str, TableCopy],
) -> TableCopy:
    needed = dict.fromkeys([*link.keys, *own.quasi_identifiers, *own.sensitive, *settled.kept, *shifted])
    columns = {name: f"c{index}" for index, name in enumerate(needed)}
    main = next(iter(copies.values()), None)
    person = parent = None
    if main and link.person:
        person = KeyReference(link.person, main.relation, main.columns[str(main.link.own_key)])
    if link.parent:
        other = copies[link.parent]
        parent = KeyReference(str(link.parent_key), other.relation, other.columns[str(other.link.own_key)])
    renamed = {new: name for name, new in columns.items()}
    text = queries.linked_copy(source.relation, renamed, person, parent, scratch.engine.dialect)
    relation = scratch.create_as(f"copy_{link.number}", text)
    _check_links(scratch, link, relation)
    return TableCopy(link, own, source, settled, relation, columns, scratch.count(relation))


def _check_links(scratch: Scratch, link: Link, copy: Relation) -> None:
    ((orphans, contradicting, without_person),) = scratch.rows("linked/broken_links", copy=copy)
    targets = " or ".join(filter(None, (link.parent_key, link.person)))
    if orphans:
        raise SourceError(
            f"{link.name}.{targets} refers to rows that do not exist, in {orphans:,} rows; leave them out, or "
            "add the missing ones"
        )
    if contradicting:
        raise SourceError(
            f"{contradicting:,} rows of {link.name} refer to one person by {link.person} and to another by "
            f"{link.parent_key}; correct one of the two columns"
        )
    if without_person:
        raise SourceError(
            f"{without_person:,} rows of {link.name} belong to no person: {targets} is NULL; leave them out in a view"
        )
