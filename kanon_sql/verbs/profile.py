"""The profile: which columns tell people apart, alone and in small sets. Counts only, never a raw value.

Every column is counted once on the table. Those that may be quasi-identifiers then become one frequency set
of integer codes, and all sets of columns are counted on that: in DuckDB beside us where the engine is a
server, which so hands over codes and counts alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.opening import embedded_for
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.hints import IDENTIFIER, NOTHING, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import opened_source
from kanon_sql.risk.columns import (
    SMALL_CLASS,
    ColumnCounts,
    Gain,
    OnProgress,
    count_columns,
    noticeable,
    percent,
    to_count,
)
from kanon_sql.risk.identifiers import contents, tells_who
from kanon_sql.risk.labels import Labelled, labelled
from kanon_sql.risk.people import Unit, unit_of
from kanon_sql.risk.roles import Suspect, suspects
from kanon_sql.risk.sets import MOST_COLUMNS, SetProfile, Sets, choose, code, count_sets, possible_sets
from kanon_sql.spec import check_values, session
from kanon_sql.verbs.options import PlaceOptions, spelled_out, taken
from kanon_sql.verbs.result import Result

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ColumnProfile:
    """A column's counts (None where its type cannot be grouped), what it is suggested to be, and why.

    `distinct` counts NULL as a value. `unique_rows` hold a value that occurs once; `unique_share` is their
    share of all rows. `suggestion` is `identifier`, `quasi-identifier`, or empty. `dates`: most values are dates.
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


@dataclass(frozen=True, repr=False)
class Profile(Result):
    """What `profile` found; `to_dict` makes it JSON.

    `combined`: the columns that the sets are made of. `sets`: the most identifying first. `together`: all
    counted `quasi_identifiers` as one set. `sensitive`: by name alone. `kept`: all other columns; of these a
    release that keeps them warns of the `suspects`. `unit`: the column that tells people apart, where some of them have
    several rows. `complete`: the time limit cut nothing off;
    else `notes` say what.
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

    def to_dict(self) -> dict[str, Any]:
        """The profile in lists, mappings, numbers and text."""
        plain: dict[str, Any] = _plain(self)
        return plain

    def to_df(self) -> pandas.DataFrame:
        """One row per column."""
        import pandas

        return pandas.DataFrame([asdict(column) for column in self.columns])

    def _lines(self) -> list[tuple[str, str]]:
        roles = {
            "identifiers": self.identifiers,
            "quasi-identifiers": self.quasi_identifiers,
            "sensitive": self.sensitive,
            "other columns": self.kept,
        }
        small = f"{percent(self.together.small_rows, self.rows)} in classes smaller than {SMALL_CLASS}"
        return [
            ("rows", f"{self.rows:,}; by the quasi-identifiers, {small}"),
            *((role, ", ".join(names) or "none") for role, names in roles.items()),
            *([("people", f"{self.unit.people:,}, by {self.unit.column}")] if self.unit else []),
            *(("suspect", f"{each.column}: {each.reason}") for each in self.suspects),
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
    """Look at a table before anonymizing it: which columns tell people apart, alone and in small sets.

    `source`: a file, a table of the `database` or behind the `connection`, a DataFrame or an Arrow table. The rules are
    those of `profiled`. Counts only, never a value; nothing is written. Raises KanonError.

    >>> import pandas
    >>> people = pandas.DataFrame({"id": range(12), "ward": [1, 2, 3] * 4, "site": ["x"] * 12})
    >>> seen = profile(people)
    >>> seen.identifiers, seen.quasi_identifiers
    (('id',), ('ward',))
    """
    check_values(time_limit=time_limit)
    with opened_source(source, session(source, **taken(PlaceOptions, options)), connection, said=True) as data:
        (observer or Observer()).stage("Counting")
        seen = profiled(data.engine, data.table, largest_set, time_limit)
        return replace(seen, notes=(*data.notes, *seen.notes))


def profiled(
    engine: Engine,
    table: Table,
    largest_set: int = 3,
    time_limit: float | None = 30.0,
    on_progress: OnProgress | None = None,
) -> Profile:
    """Count how far each column, and each set of 2 to `largest_set` columns, tells the rows of a table apart.

    What a column is suggested to be: as labels of PostgreSQL Anonymizer say, or else the first of these that applies:

    1. Nothing: its type cannot be grouped (but a UUID is an identifier), or it has one value.
    2. Identifier: text or whole numbers of which 90 % of the non-NULL rows are unique, unless the name says
       otherwise (zip, diagnosis, charge); or many values under a name like ssn, e-mail, patient_id; or values that
       are names of people, e-mail addresses, telephone numbers, numbers with a check digit, free text. Never a date,
       which can be generalized.
    3. Nothing: sensitive by its name (diagnosis, salary), or a measure, by its name (charge, amount) or since it
       holds fractions.
    4. Quasi-identifier: by its name (age, zip, birth, sex, …), or since it raises the rows in classes smaller
       than 5, or the unique ones, by at least 1 % of all rows when it joins a set of the columns that came this
       far: none, a small set, or, where small sets do not tell, one of a chain. The chain begins with the column
       that puts most rows in classes smaller than 5 and always takes the one that puts most there next.

    Sets are made of at most 12 columns: first those named like quasi-identifiers, then those with the most values.
    Identifiers, constants and measures are not in them, nor what is sensitive and differs in nearly every row.
    After `time_limit` seconds (None: never) no other set is counted. `on_progress(what, done, total)` is told
    of columns and sets. Raises SourceError for an empty table.

    >>> from kanon_sql.engines.duckdb import DuckDB
    >>> engine = DuckDB()
    >>> _ = engine.run("CREATE TABLE t AS SELECT i AS id, i % 3 AS ward, 'x' AS site FROM RANGE(12) AS r(i)")
    >>> seen = profiled(engine, engine.find("t"))
    >>> [(column.name, column.distinct, column.suggestion) for column in seen.columns]
    [('id', 12, 'identifier'), ('ward', 3, 'quasi-identifier'), ('site', 1, '')]
    >>> seen.together.columns, seen.together.small_rows
    (('ward',), 12)
    """
    if largest_set < 1:
        raise SpecError(f"largest_set is {largest_set}; it must be at least 1")
    started = time.monotonic()
    deadline = None if time_limit is None else started + time_limit
    progress = on_progress or (lambda _what, _done, _total: None)
    with (
        embedded_for(engine) as here,
        engine.transaction(),
        Scratch(engine, "profile") as tables,
        Scratch(here, "profile_sets") as coded_tables,
    ):
        rows, source = to_count(tables, table)
        if rows == 0:
            raise SourceError(f"{table.relation.name} has no rows; there is nothing to profile")
        counted = count_columns(engine, table, source, rows, progress)
        found = contents(tables, source, counted).identifiers
        held = {one.name: [each for each in found if each.column == one.name] for one in counted}
        counted = [replace(one, content=tells_who(held[one.name])) for one in counted]
        unit = unit_of(tables, source, counted, found)
        combined, left_out = choose(counted)
        coded = [*combined, *(one for one in left_out if one.identifying)]
        code(tables, source, coded, rows, coded_tables)
        sets = Sets(coded_tables, counted, coded, rows, deadline)
        complete = count_sets(sets, combined, largest_set, progress)
        listed = sets.listed([one.name for one in combined], largest_set)
        columns = _suggest(counted, combined, sets.gains(), labelled(engine, table))
        columns = tuple(
            replace(column, dates=any(each.said == "holds dates" for each in held[column.name])) for column in columns
        )
        together = sets.total([one.name for one in coded if columns[one.order].suggestion == QUASI_IDENTIFIER])
        kept = [one.column for one in counted if not columns[one.order].suggestion and one.role != SENSITIVE]
        quasi = [one.column for one in counted if columns[one.order].suggestion == QUASI_IDENTIFIER]
        whole = source == table.relation  # a copy lacks what cannot be grouped
        able = [column for column in kept if whole or column.kind != "other"]
        suspected = suspects(engine, replace(table, relation=source), able, quasi)
    possible = possible_sets(len(combined), largest_set)
    return Profile(
        rows=rows,
        columns=columns,
        combined=tuple(one.name for one in counted if one in combined),
        sets=listed,
        possible_sets=possible,
        identifiers=tuple(c.name for c in columns if c.suggestion == IDENTIFIER),
        quasi_identifiers=tuple(c.name for c in columns if c.suggestion == QUASI_IDENTIFIER),
        sensitive=tuple(one.name for one in counted if one.role == SENSITIVE and not columns[one.order].suggestion),
        kept=tuple(column.name for column in kept),
        suspects=tuple(suspected),
        together=together,
        complete=complete,
        unit=unit,
        notes=tuple(_notes(len(left_out), len(listed), possible, complete, time_limit)),
        seconds=round(time.monotonic() - started, 4),
    )


def _suggest(
    counted: Sequence[ColumnCounts],
    combined: Sequence[ColumnCounts],
    gains: Mapping[str, Gain],
    labels: Sequence[Labelled] = (),
) -> tuple[ColumnProfile, ...]:
    told = {each.column: each for each in labels}
    described = (_described(one, gains.get(one.name), one in combined) for one in counted)
    return tuple(_as_labelled(each, told.get(each.name)) for each in described)


def _as_labelled(column: ColumnProfile, label: Labelled | None) -> ColumnProfile:
    """What the table's owner says of a column goes before what its counts and name suggest."""
    if label is None:
        return column
    return replace(column, suggestion=label.role, reason=f"labelled {label.said} for PostgreSQL Anonymizer")


def _described(one: ColumnCounts, gain: Gain | None, combined: bool) -> ColumnProfile:
    role, reason = one.verdict
    if role is None:
        role, reason = _quasi_identifier(one, gain or one.alone, combined)
    counts = asdict(one.counted) if one.counted else {}
    return ColumnProfile(
        name=one.name,
        type=one.column.type_without_values,
        kind=one.column.kind,
        distinct=counts.get("distinct"),
        null_rows=counts.get("null_rows"),
        unique_rows=counts.get("unique_rows"),
        unique_share=one.counted.unique_rows / one.rows if one.counted else None,
        smallest_class=counts.get("smallest_class"),
        largest_class=counts.get("largest_class"),
        suggestion=role if role in (IDENTIFIER, QUASI_IDENTIFIER) else NOTHING,
        reason=reason,
    )


def _quasi_identifier(one: ColumnCounts, gain: Gain, combined: bool) -> tuple[str, str]:
    """Rule 4, and the reason."""
    gained = noticeable(gain.rows, one.rows)
    told = gain.told(one.rows)
    if one.hint == QUASI_IDENTIFIER:
        return QUASI_IDENTIFIER, f"a quasi-identifier by its name{f'; {told}' if gained else ''}"
    if gained:
        many = one.column.kind not in ("text", "boolean") and one.counts.distinct > _MANY_NUMBERS
        return QUASI_IDENTIFIER, f"{told}{'; leave it out if others cannot know it' if many else ''}"
    if not combined:
        return NOTHING, f"alone it distinguishes few rows, and {MOST_COLUMNS} columns go before it in the sets"
    return NOTHING, "it adds less than 1 % of the rows to those at risk, in any set counted"


def _notes(left_out: int, counted: int, possible: int, complete: bool, time_limit: float | None) -> Iterator[str]:
    if left_out:
        yield (
            f"{MOST_COLUMNS} of {MOST_COLUMNS + left_out} columns were combined: first those named like "
            "quasi-identifiers, then those with the most values"
        )
    if not complete:
        yield (
            f"stopped after {time_limit:g} seconds: {counted:,} of {possible:,} sets were counted, and the "
            "suggestions rest on those and on the names"
        )


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


_MANY_NUMBERS = 100  # from here on whole numbers may well be a measure
