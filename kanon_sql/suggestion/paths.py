"""The table of the people, and for every other table the columns by which its rows belong to a person.

The result fits a spec of several tables: a table refers to the people, to one other table, or to both. All other tables
and keys are left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.suggestion.key_names import SAME, is_of_people, likeness
from kanon_sql.suggestion.keys import ForeignKey, KeyedTable, Keys

_ONE_TABLE = "for a single table use `kanon init TABLE`"
_NAME_UNIT = "name the table of the people with `unit`"


@dataclass(frozen=True)
class Path:
    """A table of the release with its keys. `person` and `parent`: its references to the people and to another table.

    `skipped`: the reasons why other columns that refer to tables are not keys of the release, by column.
    """

    table: KeyedTable
    person: ForeignKey | None = None
    parent: ForeignKey | None = None
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.table.name

    @property
    def references(self) -> list[ForeignKey]:
        """The references that are keys of the release."""
        return [reference for reference in (self.person, self.parent) if reference]


@dataclass(frozen=True)
class Paths:
    """The tables of the release, the main table first, and the reasons for leaving out others."""

    main: KeyedTable
    reason: str
    paths: Sequence[Path]
    left_out: dict[str, str]


def find_paths(scratch: Scratch, keys: Keys, unit: str | None, why: str, most: int) -> Paths:
    """Find the table of the people, or use the named `unit`, and the paths of at most `most` tables to it.

    `why`: the reason for a named table.
    """
    main, reason = (_named(keys, unit), why) if unit else _most_likely(keys)
    left_out: dict[str, str] = {}
    direct = {name: key for name in keys.tables if (key := _to_people(keys, name, main.name, left_out))}
    parents = _parents(scratch, keys, main.name, direct, left_out)
    reached = [name for name in keys.tables if name in direct or name in parents]
    for name in reached[most - 1 :]:
        left_out[name] = f"a spec has at most {most} tables"
    reached = _with_their_parents(reached[: most - 1], parents, left_out)
    for name in keys.tables:
        if name != main.name and name not in reached:
            left_out.setdefault(name, _why_not_reached(keys, name, main.name, left_out))
    names = [main.name, *sorted(reached, key=lambda name: (_depth(name, parents), list(keys.tables).index(name)))]
    paths = [Path(keys.tables[name], direct.get(name), parents.get(name)) for name in names]
    chosen = {path.name for path in paths}
    paths = [replace(path, skipped=dict(_skipped(path, keys, main.name, chosen))) for path in paths]
    return Paths(main, reason, paths, left_out)


def _named(keys: Keys, unit: str) -> KeyedTable:
    """The table that the user named."""
    table = keys.tables.get(unit)
    if table is None:
        raise SpecError(f"there is no table {unit!r} for `unit`; there are {', '.join(keys.tables) or 'none'}")
    if table.key is None:
        raise SpecError(
            f"{unit} has no key: none of its columns is unique and without NULL; name another table with `unit`, or "
            "create one with one row per person"
        )
    return table


def _most_likely(keys: Keys) -> tuple[KeyedTable, str]:
    """The table with a key that most tables lead to, first tables called like people."""
    filled = [table for table in keys.tables.values() if table.rows]
    able = [table for table in filled if table.key]
    if not able:
        which = "there are no tables with rows"
        if filled:
            which = (
                f"no table has a key: a column that is unique and without NULL ({_few(table.name for table in filled)})"
            )
        raise SpecError(f"{which}; create a table with one row per person, or {_ONE_TABLE}")
    leading = {table.name: _leading(keys, table.name) for table in able}

    def rank(table: KeyedTable) -> tuple[bool, int]:
        return is_of_people(table.name, str(table.key)), len(leading[table.name])

    candidates = [table for table in able if leading[table.name] or len(filled) == 1]
    if not candidates:
        raise SpecError(
            f"no column of {_few(table.name for table in filled)} refers to the key of another table; declare foreign "
            f"keys, or create a table with one row per person, such as SELECT DISTINCT patient_id FROM visits; "
            f"{_ONE_TABLE}"
        )
    best = max(rank(table) for table in candidates)
    found = [table for table in candidates if rank(table) == best]
    if len(found) > 1:
        names = {table.name for table in found}
        is_circle = all(names - {name} <= leading[name] for name in names)
        how = "lead to each other in a circle" if is_circle else "could each be the table of the people"
        raise SpecError(f"{_few(table.name for table in found)} {how}; {_NAME_UNIT}")
    reasons = ["it is called like a table of people"] if best[0] else []
    if best[1]:
        reasons.append(f"{best[1]} {'table leads' if best[1] == 1 else 'tables lead'} to it")
    return found[0], ", and ".join(reasons) or "the only table"


def _leading(keys: Keys, name: str) -> set[str]:
    """The tables that refer to a table, directly or by others."""
    found: set[str] = set()
    new = {name}
    while new:
        new = {reference.table for other in new for reference in keys.to(other)} - found
        found |= new
    return found - {name}


def _to_people(keys: Keys, name: str, main: str, left_out: dict[str, str]) -> ForeignKey | None:
    """The column by which a table refers to the people; None, with a reason, if several are equally likely."""
    if name == main:
        return None
    references = [reference for reference in keys.of(name) if reference.target == main]
    if not references:
        return None
    most = max(_strength(reference) for reference in references)
    best = [reference for reference in references if _strength(reference) == most]
    if len(best) > 1:
        columns = " and ".join(reference.column for reference in best)
        left_out[name] = f"{columns} refer to {main}; add it with the one that says whose row it is in `keys`"
        return None
    return best[0]


def _strength(reference: ForeignKey) -> tuple[bool, int]:
    """How likely a column says whose row it is: first one whose name is that of the key or the table."""
    return likeness(reference.column, reference.target, reference.key) == SAME, reference.certainty


def _parents(
    scratch: Scratch, keys: Keys, main: str, direct: dict[str, ForeignKey], left_out: dict[str, str]
) -> dict[str, ForeignKey]:
    """The table that a table refers to in addition to the people, or by which alone it leads to them.

    Changes `direct`: a table whose rows have no person there is left out, unless its parents lead to one.
    """
    optional: list[ForeignKey] = []
    only: list[ForeignKey] = []
    for name in keys.tables:
        if name == main or name in left_out:
            continue
        others = [reference for reference in keys.of(name) if reference.target not in (main, name)]
        (optional if name in direct else only).extend(others)
    parents: dict[str, ForeignKey] = {}
    leading = {name for name, person in direct.items() if not keys.tables[name].missing(person.column)}
    waiting = sorted(only, key=lambda found: -found.certainty)
    while now := [found for found in waiting if found.target in leading and found.table not in parents]:
        for reference in now:
            lost = keys.tables[reference.table].missing(reference.column)
            if lost:
                left_out[reference.table] = f"{lost:,} of its rows have no {reference.column}; leave them out in a view"
            elif reference.table not in parents:
                parents[reference.table] = reference
        waiting = [found for found in waiting if found not in now]
        leading |= {*parents}
    for name in parents:
        left_out.pop(name, None)
    popular = {name: len(keys.to(name)) for name in keys.tables}
    for reference in sorted(optional, key=lambda found: (-popular[found.target], -found.certainty)):
        if reference.table in parents or reference.target not in direct:
            continue
        if reference.table in _to_the_top(reference.target, parents):
            continue
        if _agree(scratch, keys, direct, reference):
            parents[reference.table] = reference
    for name, person in [*direct.items()]:
        lost = keys.tables[name].missing(person.column)
        if lost and name not in parents:
            left_out[name] = f"{lost:,} of its rows have no {person.column}; leave them out in a view"
            del direct[name]
    return {name: parent for name, parent in parents.items() if _to_the_top(name, parents)[-1] in direct}


def _to_the_top(name: str, parents: dict[str, ForeignKey]) -> list[str]:
    """A table and those that it refers to, up to the one that refers to the people only."""
    path = [name]
    while parent := parents.get(path[-1]):
        path.append(parent.target)
    return path


def _depth(name: str, parents: dict[str, ForeignKey]) -> int:
    return len(_to_the_top(name, parents))


def _agree(scratch: Scratch, keys: Keys, direct: dict[str, ForeignKey], parent: ForeignKey) -> bool:
    """Whether every row of a table leads to one person, directly and by the row that it refers to."""
    above = direct[parent.target]
    target = keys.tables[parent.target]
    if target.missing(above.column):
        return False
    ((without_person, contradicting),) = scratch.rows(
        "keys/paths",
        person=[direct[parent.table].column],
        parent=[parent.column],
        source=keys.tables[parent.table].table.relation,
        key=[parent.key],
        of=[above.column],
        parents=target.table.relation,
    )
    return not without_person and not contradicting


def _with_their_parents(reached: Sequence[str], parents: dict[str, ForeignKey], left_out: dict[str, str]) -> list[str]:
    """The tables whose parents are among them."""
    found = []
    for name in reached:
        missing = [other for other in _to_the_top(name, parents) if other not in reached]
        if missing:
            left_out[name] = f"{missing[0]} is left out"
        else:
            found.append(name)
    return found


def _why_not_reached(keys: Keys, name: str, main: str, left_out: dict[str, str]) -> str:
    """Why a table is left out."""
    table = keys.tables[name]
    if not table.rows:
        return "it has no rows"
    for lost in keys.broken:
        if lost.table == name:
            return (
                f"{lost.missing:,} values of {lost.column} are not in {lost.target}.{lost.key}; leave out their rows "
                "in a view, and add it"
            )
    path = list(_way(keys, name, main))
    if path and path[1] in left_out:
        return f"it refers to {path[1]}, which is left out"
    if path:
        return f"not every row of {path[1]} leads to {main}; leave out the others in a view, and add {name}"
    if keys.to(name):
        return f"its rows belong to no person: other tables refer to it, and it does not lead to {main}"
    return f"none of its columns leads to {main}"


def _way(keys: Keys, name: str, main: str) -> Sequence[str]:
    """The shortest path of references from a table to the people, both included; empty without any."""
    paths = [[name]]
    seen = {name}
    while paths:
        path = paths.pop(0)
        for reference in keys.of(path[-1]):
            if reference.target == main:
                return [*path, main]
            if reference.target not in seen:
                seen.add(reference.target)
                paths.append([*path, reference.target])
    return []


def _skipped(path: Path, keys: Keys, main: str, chosen: set[str]) -> Iterator[tuple[str, str]]:
    """The columns that refer to tables of the release and are not keys, with the reasons."""
    used = [reference.column for reference in path.references]
    if path.name == main:
        used.append(str(path.table.key))
    for reference in keys.of(path.name):
        if reference.column in used or reference.target not in chosen:
            continue
        if reference.target == path.name:
            yield reference.column, f"it refers to rows of {path.name}, which get new keys"
        elif path.name == main:
            yield reference.column, f"it refers to {reference.target}, which refers to {main}"
        elif reference.target == main:
            yield reference.column, f"it refers to a person, as {path.person.column if path.person else 'others'} does"
        else:
            yield reference.column, f"it refers to {reference.target}, whose keys are new in the release"
    for lost in keys.broken:
        if lost.table == path.name and lost.column not in used:
            yield (
                lost.column,
                f"it refers to {lost.target}, which lacks {lost.missing:,} of its values",
            )


def _few(names: Iterator[str] | Sequence[str]) -> str:
    first = list(names)
    more = [f"{len(first) - 4} more"] if len(first) > 5 else []
    listed = [*(first[:4] if more else first), *more]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
