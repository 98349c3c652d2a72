"""The profile: which columns identify people, alone and in small sets. Counts only, never a raw value.

Every column is counted once on the table. The possible quasi-identifiers then become one frequency set of integer
codes, on which all sets of columns are counted: in an embedded DuckDB if the engine is a server, so that only codes
and counts leave the server.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.opening import embedded_for
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.hints import IDENTIFIER, NOTHING, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import opened_source
from kanon_sql.queries import Relation
from kanon_sql.risk.all_rows import gains_in_all_rows
from kanon_sql.risk.identifiers import evidence_of, examine_columns
from kanon_sql.risk.people import Unit, unit_of
from kanon_sql.risk.roles import Suspect, suspects
from kanon_sql.risk.security_labels import Labelled, labelled
from kanon_sql.risk.sets import (
    MOST_COLUMNS,
    Sample,
    SetProfile,
    Sets,
    choose,
    code,
    count_sets,
    possible_sets,
    sample_of,
)
from kanon_sql.risk.single_columns import (
    SMALL_CLASS,
    ColumnCounts,
    Gain,
    Whole,
    noticeable,
    to_count,
)
from kanon_sql.spec import check_values, session
from kanon_sql.verbs.options import PlaceOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame

MAY_BE_KNOWN = "others may know it; keep it if they cannot"
_MANY_NUMBERS = 100  # with more different values, a column of whole numbers could be a measure


@dataclass(frozen=True)
class ColumnProfile:
    """A column's counts (None if its type cannot be grouped), its suggested role and the reason.

    `distinct` counts NULL as a value. `unique_rows`: rows with a value that occurs once; `unique_share`: their share of
    all rows. `unique_people`: of a column in `combined`, the people with a value that no other person has, if people
    have several rows. `suggestion`: `identifier`, `quasi-identifier` or empty. `dates`: most values are dates.
    """

    name: str
    type: str
    kind: str
    distinct: int | None
    null_rows: int | None
    unique_rows: int | None
    unique_share: float | None
    smallest_class: int | None
    largest_class: int | None
    suggestion: str
    reason: str
    dates: bool = False
    unique_people: int | None = None


@dataclass(frozen=True, repr=False)
class Profile(Result, json_form="profile"):
    """The result of `profile`.

    `combined`: the columns that the sets consist of. `sets`: the most identifying first. `together`: all counted
    `quasi_identifiers` as one set. `sensitive`: by name only. `kept`: all other columns; a release that keeps them
    warns of the `suspects` among them. `unit`: the column that identifies people, if some have several rows.
    `complete`: whether the time limit sufficed; if not, `notes` list the missing parts.
    """

    rows: int
    columns: tuple[ColumnProfile, ...]
    combined: tuple[str, ...]
    sets: tuple[SetProfile, ...]
    possible_sets: int
    identifiers: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]
    suspects: tuple[Suspect, ...]
    together: SetProfile
    unit: Unit | None
    complete: bool
    notes: tuple[str, ...]
    seconds: float = field(compare=False)

    @property
    def whole(self) -> Whole:
        """What the figures of sets are shares of: all people, if some have several rows, otherwise all rows."""
        return Whole(self.unit.people, "people") if self.unit else Whole(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The profile as lists, mappings, numbers and text, for JSON."""
        plain: dict[str, Any] = _plain(self)
        return plain

    def to_df(self) -> DataFrame:
        """One row per column."""
        return frame([asdict(column) for column in self.columns])

    def _lines(self) -> list[tuple[str, str]]:
        roles = {
            "identifiers": self.identifiers,
            "quasi-identifiers": self.quasi_identifiers,
            "sensitive": self.sensitive,
            "other columns": self.kept,
        }
        small = f"{self.whole.share(self.together.small)} are in classes smaller than {SMALL_CLASS}"
        return [
            ("rows", f"{self.rows:,}; by the quasi-identifiers, {small}"),
            *((role, ", ".join(names) or "none") for role, names in roles.items()),
            *([("people", f"{self.unit.people:,}, by {self.unit.column}")] if self.unit else []),
            *(("suspect", f"{suspect.column}: {suspect.reason}") for suspect in self.suspects),
            *(("note", note) for note in self.notes),
        ]


@spelled_out(PlaceOptions)
def profile(
    source: Any,
    *,
    connection: Any = None,
    largest_set: int = 3,
    time_limit: float | None = 30.0,
    observer: Observer | None = None,
    **options: Unpack[PlaceOptions],
) -> Profile:
    """Profile a table before anonymizing it: which columns identify people, alone and in small sets.

    `source`: a file, a table of the `database` or behind the `connection`, a DataFrame or an Arrow table. The rules are
    those of `profiled`. Counts only, never a value; nothing is written. Raises KanonError.

    >>> import pandas
    >>> people = pandas.DataFrame({"id": range(12), "ward": [1, 2, 3] * 4, "site": ["x"] * 12})
    >>> seen = profile(people)
    >>> seen.identifiers, seen.quasi_identifiers
    (('id',), ('ward',))
    """
    check_values(time_limit=time_limit)
    with opened_source(source, session(source, **taken(PlaceOptions, options)), connection, warns=False) as data:
        seen = profiled(data.engine, data.table, largest_set, time_limit, observer)
        return replace(seen, notes=(*data.notes, *seen.notes))


def profiled(
    engine: Engine,
    table: Table,
    largest_set: int = 3,
    time_limit: float | None = 30.0,
    observer: Observer | None = None,
) -> Profile:
    """Count how identifying every column is, and every set of 2 to `largest_set` columns.

    The suggested role of a column is that of its PostgreSQL Anonymizer label, or else the first of these that applies:

    1. None: its type cannot be grouped (except UUIDs, which are identifiers), or it has one value.
    2. Identifier: the column that tells people apart, if some have several rows; text or whole numbers of which 90 %
       of the non-NULL rows are unique, unless the name suggests otherwise (zip, diagnosis, charge); or many values
       under a name like ssn, e-mail, patient_id; or values that are names of people, e-mail addresses, telephone
       numbers, numbers with a check digit, free text. Never dates, since they can be generalized.
    3. None: sensitive by its name (diagnosis, salary), or a measure, by its name (charge, amount) or because it
       contains fractions.
    4. Quasi-identifier: by its name (age, zip, birth, sex, …), or because adding it to a set of remaining columns
       puts at least 1 % of all rows more into classes smaller than 5, or makes them unique. The set is empty or
       small or, if small sets are inconclusive, one of a chain. The chain begins with the column that puts most rows
       into classes smaller than 5, and grows by the column that adds most of them.

    Sets consist of at most 12 columns: first columns named like quasi-identifiers, then those with the most values.
    They contain no identifiers, constants or measures, and no sensitive columns that differ in nearly every row.
    If people have several rows, rule 4 counts people: those with a row that few others have, or no one else.
    After `time_limit` seconds (None: never) no more sets are counted. Raises SourceError for an
    empty table.

    >>> from kanon_sql.engines.duckdb import DuckDB
    >>> engine = DuckDB()
    >>> _ = engine.run("CREATE TABLE t AS SELECT i AS id, i % 3 AS ward, 'x' AS site FROM RANGE(12) AS r(i)")
    >>> seen = profiled(engine, engine.find("t"))
    >>> [(column.name, column.distinct, column.suggestion) for column in seen.columns]
    [('id', 12, 'identifier'), ('ward', 3, 'quasi-identifier'), ('site', 1, '')]
    >>> seen.together.columns, seen.together.small_rows
    (('ward',), 12)
    """
    with Scratch(engine, "profile") as tables:
        return profiled_in(tables, table, largest_set, time_limit, observer).profile


@dataclass(frozen=True)
class ProfiledTable:
    """A profile with temporary tables that can be read again.

    `values`: by column, see `profile/numbered_values`; columns with hardly any equal values have none. `sample`: the
    rows in which the sets were counted, if not in all.
    """

    profile: Profile
    values: Mapping[str, Relation]
    sample: Sample | None


def profiled_in(
    tables: Scratch,
    table: Table,
    largest_set: int = 3,
    time_limit: float | None = 30.0,
    observer: Observer | None = None,
    is_for_spec: bool = False,
) -> ProfiledTable:
    """The same profile, with tables that last as long as `tables`.

    `is_for_spec`: without the suspects, and with the sets of a large table counted in a sample of its rows.
    """
    if largest_set < 1:
        raise SpecError(f"largest_set is {largest_set}; it must be at least 1")
    started = time.monotonic()
    deadline = None if time_limit is None else started + time_limit
    stage = (observer or Observer()).stage
    engine = tables.engine
    with embedded_for(engine) as here, engine.snapshot(), Scratch(here, "profile_sets") as coded_tables:
        rows, source = to_count(tables, table)
        if rows == 0:
            name = "the table" if queries.is_scratch(table.relation) else table.relation.name
            raise SourceError(f"{name} has no rows, so there is nothing to profile; name one with rows")
        counted, contents = examine_columns(tables, table, source, rows, stage)
        found = contents.identifiers
        found_in = {column.name: [content for content in found if content.column == column.name] for column in counted}
        counted = [replace(column, content=evidence_of(found_in[column.name])) for column in counted]
        unit = unit_of(tables, source, counted, found)
        combined, left_out = choose([column for column in counted if not unit or column.name != unit.column])
        # Of a single column, only rows have been counted so far.
        coded = [*combined, *(column for column in left_out if unit or column.identifying)]
        stage("Counting sets of columns")
        sample = sample_of(tables, source, counted, rows, unit) if is_for_spec else None
        read, rows_read = (sample.relation, sample.rows) if sample else (source, rows)
        cells = code(tables, read, coded, rows_read, coded_tables, counted, unit=unit)
        people = unit.people if unit else None
        sets = Sets(cells, counted, coded, rows, deadline, sampled=rows_read if sample else None, people=people)
        complete = count_sets(sets, combined, largest_set)
        listed = sets.listed([column.name for column in combined], largest_set)
        gains = sets.gains()
        shown_gains = gains_in_all_rows(tables, source, counted, sets, gains, unit) if sample else gains
        labels = {label.column: label for label in labelled(engine, table)}
        columns = []
        for column in counted:
            name = column.name
            gain, shown_gain = gains.get(name), shown_gains.get(name)
            described = _column_profile(
                column, gain, shown_gain, sets.whole, column in combined, labels.get(name), unit
            )
            dates = any(content.said == "contains dates" for content in found_in[column.name])
            by_people = unit and not sample and column in combined
            unique_people = sets.figures([name]).unique if by_people else None
            columns.append(replace(described, dates=dates, unique_people=unique_people))
        suggestions = {column.name: column.suggestion for column in columns}
        together = sets.total([column.name for column in coded if suggestions[column.name] == QUASI_IDENTIFIER])
        sensitive = [column.name for column in counted if column.role == SENSITIVE and not suggestions[column.name]]
        kept = [c.column for c in counted if not suggestions[c.name] and c.role != SENSITIVE]
        quasi = [column.column for column in counted if suggestions[column.name] == QUASI_IDENTIFIER]
        is_copy = source != table.relation  # which lacks columns that cannot be grouped
        available = [column for column in kept if not is_copy or column.kind != "other"]
        suspected = [] if is_for_spec else suspects(engine, replace(table, relation=source), available, quasi)
    possible = possible_sets(len(combined), largest_set)
    profile = Profile(
        rows=rows,
        columns=tuple(columns),
        combined=tuple(column.name for column in counted if column in combined),
        sets=listed,
        possible_sets=possible,
        identifiers=tuple(column.name for column in columns if column.suggestion == IDENTIFIER),
        quasi_identifiers=tuple(column.name for column in columns if column.suggestion == QUASI_IDENTIFIER),
        sensitive=tuple(sensitive),
        kept=tuple(column.name for column in kept),
        suspects=tuple(suspected),
        together=together,
        complete=complete,
        unit=unit,
        notes=tuple(_notes(len(left_out), len(listed), possible, complete, time_limit)),
        seconds=round(time.monotonic() - started, 4),
    )
    return ProfiledTable(profile, {column.name: column.values for column in counted if column.values}, sample)


def _column_profile(
    column: ColumnCounts,
    gain: Gain | None,
    shown_gain: Gain | None,
    whole: Whole,
    combined: bool,
    label: Labelled | None,
    unit: Unit | None,
) -> ColumnProfile:
    role, reason = column.verdict
    if unit and column.name == unit.column:
        role, reason = IDENTIFIER, unit.in_words(column.rows)
    elif role is None:
        role, reason = _quasi_identifier(column, gain or column.alone, shown_gain or column.alone, whole, combined)
    suggestion = role if role in (IDENTIFIER, QUASI_IDENTIFIER) else NOTHING
    if label:  # the table owner's declaration outweighs counts and names
        suggestion, reason = label.role, f"labelled {label.in_words} for PostgreSQL Anonymizer"
    names = ("distinct", "null_rows", "unique_rows", "smallest_class", "largest_class")
    counts = asdict(column.counted) if column.counted else {}
    counted: dict[str, Any] = {name: counts.get(name) for name in names}
    return ColumnProfile(
        name=column.name,
        type=column.column.type_without_values,
        kind=column.column.kind,
        unique_share=column.counted.unique_rows / column.rows if column.counted else None,
        suggestion=suggestion,
        reason=reason,
        **counted,
    )


def _quasi_identifier(
    column: ColumnCounts, gain: Gain, shown_gain: Gain, whole: Whole, combined: bool
) -> tuple[str, str]:
    """Rule 4 of `profiled`: the role by the gain in the rows that were counted, the reason by that in all rows."""
    shown = noticeable(shown_gain.gained, whole.number)
    gained = shown or noticeable(gain.gained, whole.number)
    reason = shown_gain.in_words(whole)
    if column.hint == QUASI_IDENTIFIER:
        return QUASI_IDENTIFIER, f"a quasi-identifier by its name{f'; {reason}' if shown else ''}"
    if gained and not shown:
        return QUASI_IDENTIFIER, MAY_BE_KNOWN
    if gained:
        is_numeric = column.column.kind not in ("text", "boolean")
        if is_numeric and column.counts.distinct > _MANY_NUMBERS:
            reason += "; leave it out if others cannot know it"
        return QUASI_IDENTIFIER, reason
    if not combined:
        return NOTHING, f"alone it distinguishes few {whole.whom}, and {MOST_COLUMNS} columns go before it in the sets"
    return NOTHING, f"it adds less than 1 % of the {whole.whom} to the {whole.whom} at risk, in any set counted"


def _notes(left_out: int, counted: int, possible: int, complete: bool, time_limit: float | None) -> Iterator[str]:
    if left_out:
        yield (
            f"{MOST_COLUMNS} of {MOST_COLUMNS + left_out} columns were combined: first those named like "
            "quasi-identifiers, then those with the most values"
        )
    if not complete:
        yield (
            f"stopped after {time_limit:g} seconds: {counted:,} of {possible:,} sets were counted, and the "
            "suggestions are based on these sets and on the names"
        )


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
