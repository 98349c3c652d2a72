"""The roles of the columns of a table in a suggested spec of several tables, and the hierarchies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engine import Column, Engine, Table, written
from kanon_sql.engines.scratch import Scratch
from kanon_sql.hints import DROPPED, KEPT, QUASI_IDENTIFIER, SENSITIVE, name_words, words
from kanon_sql.plan.source import Source, column_values
from kanon_sql.queries import Relation
from kanon_sql.spec.linked import OWN
from kanon_sql.suggestion import omop
from kanon_sql.suggestion.columns import SuggestedColumn, SuggestedTable
from kanon_sql.suggestion.keys import ForeignKey, KeyedTable, Keys
from kanon_sql.suggestion.paths import Path, Paths
from kanon_sql.verbs.profile import Profile, profiled
from kanon_sql.verbs.suggest import (
    PeopleByValue,
    role_of,
    with_fewer_quasi_identifiers,
    with_hierarchies,
)

_MOST_OF_PEOPLE, _MOST_OF_EVENTS = 8, 5  # suggested quasi-identifiers of a table
_MOST_SET = 2  # columns of a set that the profile counts
_MOST_CODES = 64  # different rows of a table of codes that a column refers to
_CLOCK = words("datetime timestamp time ts at zeit heure hora ora")
_DAY = words("date on datum day tag fecha data jour")
_START = words("start begin began from admission admitted beginn anfang aufnahme eintritt debut inicio")
_END = words("end stop until ended discharge discharged ende entlassung austritt fin")


@dataclass(frozen=True)
class TableRoles:
    """A table with its keys, whose other columns get roles and hierarchies; `is_omop`: by the conventions of OMOP."""

    engine: Engine
    scratch: Scratch
    path: Path
    keys: Keys
    paths: Paths
    is_omop: bool
    tables: Sequence[Table]
    k: int
    time_limit: float | None

    @property
    def table(self) -> KeyedTable:
        return self.path.table

    @property
    def is_main(self) -> bool:
        return self.table.name == self.paths.main.name

    def suggested(self, is_elsewhere: bool) -> SuggestedTable:
        """The table with the roles and hierarchies of its columns."""
        relation = self.table.table.relation
        written_name = written(self.engine.lasting(relation))
        keys = self._keys()
        key_columns = [column for column, _, _ in keys] or [str(self.table.key)] * self.is_main
        columns = [column for column in self.table.table.columns if column.name not in key_columns]
        known = {column.name: self._by_convention(column) for column in columns}
        weights = {name: role.weight for name, role in known.items() if role and role.weight}
        return SuggestedTable(
            self.table.name,
            written_name if is_elsewhere or written(Relation(self.table.name)) != self.table.name else self.table.name,
            self.table.rows,
            tuple(keys),
            tuple(self._suggested_columns(columns)),
            weights,
        )

    def _keys(self) -> list[tuple[str, str, str]]:
        """The columns of keys with what they refer to, and why; the key of the main table is the unit's."""
        if self.is_main:
            return []
        references = [(found.column, found.target, found.evidence) for found in self.path.references]
        used = {column for column, _, _ in references}
        own = str(self.table.key)
        # The release needs the table's key if others refer to it, or if it is a key by declaration or name.
        referenced = any(found.target == self.table.name for path in self.paths.paths for found in path.references)
        if self.table.key is None or own in used or not (referenced or self.table.is_named):
            return references
        return [(own, OWN, self.table.evidence), *references]

    def _suggested_columns(self, columns: Sequence[Column]) -> Iterator[SuggestedColumn]:
        """The columns in the table's order: those whose roles are settled, and the others by their names and values."""
        if not columns:
            return
        settled = {column.name: self._settled(column) for column in columns}
        others = [column for column in columns if settled[column.name] is None]
        data = Source(self.engine, replace(self.table.table, columns=tuple(columns)), owned=False)
        profile = (
            profiled(self.engine, replace(data.table, columns=tuple(others)), _MOST_SET, self.time_limit)
            if others
            else None
        )
        guessed = {column.name: column for column in self._guessed(profile, columns)} if profile else {}
        merged = [settled[column.name] or guessed[column.name] for column in columns]
        most = _MOST_OF_PEOPLE if self.is_main else _MOST_OF_EVENTS
        decided = [name for name, column in settled.items() if column]
        fewer = with_fewer_quasi_identifiers(merged, profile, most, decided) if profile else merged
        unit = self.path.person.column if self.path.person else None
        yield from with_hierarchies(data, [*fewer], self.k, unit, people=self._people())

    def _settled(self, column: Column) -> SuggestedColumn | None:
        """A column whose role follows from OMOP, or from its reference to a table."""
        known = self._by_convention(column)
        name, kind = column.name, column.type_without_values
        if known is None and name in self.path.skipped:
            return SuggestedColumn(name, kind, DROPPED, self.path.skipped[name])
        if known is None:
            return self._code(column)
        levels: Any = ()
        if known.levels_of:
            relations = {table.relation.name.lower(): table.relation for table in self.tables}
            data = Source(self.engine, self.table.table, owned=False)
            levels = known.levels_of(self.scratch, relations, column_values(data, name))
        return SuggestedColumn(name, kind, known.role, known.reason, known.recipe, known.why, levels=levels)

    def _by_convention(self, column: Column) -> omop.OmopColumn | None:
        """The role of a column by OMOP's conventions."""
        parent = self.path.parent.target if self.path.parent else None
        return omop.column_of(self.table.name.lower(), column, parent) if self.is_omop else None

    def _code(self, column: Column) -> SuggestedColumn | None:
        """A column that refers to a table that is not released, such as one of wards or physicians."""
        chosen = {path.name for path in self.paths.paths}
        reference = next(
            (
                found
                for found in self.keys.of(self.table.name)
                if found.column == column.name and found.target not in chosen
            ),
            None,
        )
        if reference is None:
            return None
        name, kind = column.name, column.type_without_values
        different = self.table.different[name]
        if different > _MOST_CODES:
            reason = f"it refers to one of {different:,} rows of {reference.target}, which is not released"
            return SuggestedColumn(name, kind, DROPPED, reason)
        reason = f"it refers to {reference.target}, which others may know"
        return SuggestedColumn(name, kind, QUASI_IDENTIFIER, reason, "suppress", "a code: shown, or not")

    def _guessed(self, profile: Profile, columns: Sequence[Column]) -> Iterator[SuggestedColumn]:
        """The roles by names and values; sensitive values count as background knowledge, and constants are dropped."""
        repeated = _repeated(columns) | _equivalent(profile)
        for column in profile.columns:
            role, reason = role_of(column, profile, profile.unit)
            if column.name in repeated and role in (QUASI_IDENTIFIER, SENSITIVE):
                role, reason = DROPPED, repeated[column.name]
            elif role == SENSITIVE:
                role, reason = QUASI_IDENTIFIER, f"{reason}; counted as known, so that k people share it"
            elif role == KEPT:
                role = DROPPED
            yield SuggestedColumn(column.name, column.type, role, reason)

    def _people(self) -> PeopleByValue | None:
        """The count of people by value, for a table whose rows lead to a person by another table."""
        parent = self.path.parent
        if self.path.person or parent is None:
            return None
        parents, key, person = self._owners(parent)

        def count(column: str) -> Sequence[tuple[Any, ...]]:
            return self.scratch.rows(
                "keys/people",
                column=[column],
                parent=[parent.column],
                source=self.table.table.relation,
                key=[key],
                of=[person],
                parents=parents,
            )

        return count

    def _owners(self, reference: ForeignKey) -> tuple[Relation, str, str]:
        """A relation with the rows that a column refers to, its column of their key, and that of their person."""
        path = next(path for path in self.paths.paths if path.name == reference.target)
        relation = path.table.table.relation
        if path.person:
            return relation, reference.key, path.person.column
        assert path.parent
        parents, above, person = self._owners(path.parent)
        holes = {"key": [reference.key], "parent": [path.parent.column], "above": [above], "of": [person]}
        owners = self.scratch.create(f"owners_of_{path.name}", "keys/owners", source=relation, parents=parents, **holes)
        return owners, "row_key", "person"


def _repeated(columns: Sequence[Column]) -> dict[str, str]:
    """The times of day next to a date of the same event, and the ends next to a start, by their names; with the reason.

    >>> _repeated([Column("admission_date", "DATE", "date"), Column("admission_time", "TIMESTAMP", "timestamp")])
    {'admission_time': 'the time of day is finer than admission_date, which is generalized'}
    >>> _repeated([Column("START", "DATE", "date"), Column("STOP", "DATE", "date")])
    {'STOP': 'START tells when it began; add it as a quasi-identifier if you need durations'}
    """
    times = [column for column in columns if column.kind in ("date", "timestamp", "time")]
    days = {_event(column): column.name for column in times if column.kind == "date"}
    starts = {_event(column, _START): column.name for column in times if _START & {*name_words(column.name)}}
    found = {}
    for column in times:
        if column.kind != "date" and _event(column) in days:
            found[column.name] = f"the time of day is finer than {days[_event(column)]}, which is generalized"
        elif _END & {*name_words(column.name)} and (start := starts.get(_event(column, _END))):
            found[column.name] = f"{start} tells when it began; add it as a quasi-identifier if you need durations"
    return found


def _event(column: Column, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The words of a column's name for the event, without those for times."""
    return tuple(word for word in name_words(column.name) if word not in _CLOCK | _DAY | without)


def _equivalent(profile: Profile) -> dict[str, str]:
    """Columns that have one value for every value of another, such as a code and its description, with the reason.

    Of two such columns, a text is kept, and then the first one.
    """
    order = {column.name: (column.kind != "text", number) for number, column in enumerate(profile.columns)}
    different = {column.name: column.distinct for column in profile.columns}
    found: dict[str, str] = {}
    for pair in profile.sets:
        is_code = 2 < pair.combinations < profile.rows
        if len(pair.columns) == 2 and is_code and {different[name] for name in pair.columns} == {pair.combinations}:
            kept, other = sorted(pair.columns, key=lambda name: order[name])
            if kept not in found:
                found[other] = f"it has one value for every value of {kept}"
    return found
