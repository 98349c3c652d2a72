"""The profile: which columns tell people apart, alone and in small sets. Counts only, never a raw value.

Every column is counted once on the table. Those that may be quasi-identifiers then become one frequency set
of integer codes, and all sets of columns are counted on that: in DuckDB beside us where the engine is a
server, which so hands over codes and counts alone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.opening import embedded_for
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.hints import IDENTIFIER, MEASURE, NOTHING, QUASI_IDENTIFIER, SENSITIVE, name_hint
from kanon_sql.queries import Coded, Relation
from kanon_sql.verbs.roles import UNIQUE_SHARE, Suspect, named_identifier, suspects

SMALL_CLASS = 5  # a row in a class smaller than this is at risk
NOTICEABLE = 0.01  # of all rows: the rise in rows at risk that makes a quasi-identifier
MOST_COLUMNS = 12  # that are combined

OnProgress = Callable[[str, int, int], None]
Names = frozenset[str]  # of the columns in a set

_SLOW_VIEW = 1.0  # seconds that reading a view for every column may take before it is copied instead
_BATCH_SECONDS, _BATCH_SETS = 0.25, 32


@dataclass(frozen=True)
class ColumnProfile:
    """A column's counts (None where its type cannot be grouped), what it is suggested to be, and why.

    `distinct` counts NULL as a value. `unique_rows` hold a value that occurs once; `unique_share` is their
    share of all rows. `suggestion` is `identifier`, `quasi-identifier`, or empty.
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


@dataclass(frozen=True)
class SetProfile:
    """A set of columns: its distinct combinations, the rows unique on it, and those in classes below 5."""

    columns: tuple[str, ...]
    combinations: int
    unique_rows: int
    unique_share: float
    small_rows: int
    small_share: float


@dataclass(frozen=True)
class Profile:
    """What `profile` found; `to_dict` makes it JSON.

    `combined`: the columns that the sets are made of. `sets`: the most identifying first. `together`: all
    counted `quasi_identifiers` as one set. `sensitive`: by name alone. `kept`: all other columns; of these `suspects`
    stop a release that is not told to keep them. `complete`: the time limit cut nothing off;
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
    complete: bool
    notes: tuple[str, ...]
    seconds: float = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The profile in lists, mappings, numbers and text."""
        plain: dict[str, Any] = _plain(self)
        return plain


def profile(
    engine: Engine,
    table: Table,
    largest_set: int = 3,
    time_limit: float | None = 30.0,
    on_progress: OnProgress | None = None,
) -> Profile:
    """Count how far each column, and each set of 2 to `largest_set` columns, tells the rows of a table apart.

    What a column is suggested to be is the first of these that applies:

    1. Nothing: its type cannot be grouped (but a UUID is an identifier), or it has one value.
    2. Identifier: text or whole numbers of which 90 % of the non-NULL rows are unique, unless the name says
       otherwise (zip, diagnosis, charge); or many values under a name like ssn, e-mail, patient_id. Never a date,
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
    >>> found = profile(engine, engine.find("t"))
    >>> [(column.name, column.distinct, column.suggestion) for column in found.columns]
    [('id', 12, 'identifier'), ('ward', 3, 'quasi-identifier'), ('site', 1, '')]
    >>> found.together.columns, found.together.small_rows
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
        rows, source = _source(tables, table)
        found = _count_columns(engine, table, source, rows, progress)
        combined, left_out = _choose(found)
        coded = [*combined, *(one for one in left_out if one.telling)]
        _code(tables, source, coded, rows, coded_tables)
        sets = _Sets(coded_tables, found, coded, rows, deadline)
        complete = _count_sets(sets, combined, largest_set, progress)
        listed = sets.listed([one.name for one in combined], largest_set)
        columns = _suggest(found, combined, sets.gains())
        together = sets.total([one.name for one in coded if columns[one.order].suggestion])
        kept = [one.column for one in found if not columns[one.order].suggestion and one.role != SENSITIVE]
        quasi = [one.column for one in found if columns[one.order].suggestion == QUASI_IDENTIFIER]
        whole = source == table.relation  # a copy lacks what cannot be grouped
        able = [column for column in kept if whole or column.kind != "other"]
        suspected = suspects(engine, replace(table, relation=source), able, quasi)
    possible = _possible(len(combined), largest_set)
    return Profile(
        rows=rows,
        columns=columns,
        combined=tuple(one.name for one in found if one in combined),
        sets=listed,
        possible_sets=possible,
        identifiers=tuple(c.name for c in columns if c.suggestion == IDENTIFIER),
        quasi_identifiers=tuple(c.name for c in columns if c.suggestion == QUASI_IDENTIFIER),
        sensitive=tuple(one.name for one in found if one.role == SENSITIVE),
        kept=tuple(column.name for column in kept),
        suspects=tuple(suspected),
        together=together,
        complete=complete,
        notes=tuple(_notes(len(left_out), len(listed), possible, complete, time_limit)),
        seconds=round(time.monotonic() - started, 4),
    )


def _source(tables: Scratch, table: Table) -> tuple[int, Relation]:
    """The rows, and the relation to count: a copy of a view that is slow to read."""
    started = time.monotonic()
    rows = tables.count(table.relation)
    if rows == 0:
        raise SourceError(f"{table.relation.name} has no rows; there is nothing to profile")
    countable = [column.name for column in table.columns if column.kind != "other"]
    seconds = (time.monotonic() - started) * len(countable)
    if table.form != "view" or seconds < _SLOW_VIEW:
        return rows, table.relation
    return rows, tables.make("copy", "core/copy", columns=countable, source=table.relation)


@dataclass(frozen=True)
class _Counts:
    """What `sql/profile/column.sql` gives."""

    distinct: int
    null_rows: int
    unique_rows: int
    unique_values: int
    smallest_class: int
    largest_class: int
    small_rows: int


def column_sql(engine: Engine, source: Relation, column: str) -> str:
    """The query that counts one column."""
    return queries.text("profile/column", engine.dialect, column=[column], source=source, small=SMALL_CLASS)


def _count_columns(engine: Engine, table: Table, source: Relation, rows: int, progress: OnProgress) -> list[_Found]:
    found: list[_Found] = []
    for order, column in enumerate(table.columns):
        progress("columns", order, len(table.columns))
        if column.kind == "other":
            found.append(_Found(column, order, rows))
            continue
        (counted,) = engine.rows(column_sql(engine, source, column.name))
        fractions = _has_fractions(engine, source, column)
        found.append(_Found(column, order, rows, _Counts(*map(int, counted)), fractions))
    progress("columns", len(found), len(found))
    return found


def _has_fractions(engine: Engine, source: Relation, column: Column) -> bool:
    if column.kind not in ("float", "decimal"):
        return False
    query = queries.text("profile/fractions", engine.dialect, column=[column.name], source=source)
    return bool(engine.rows(query)[0][0])


@dataclass(frozen=True)
class _Found:
    """A column, its counts (unless its type cannot be grouped), and what it is as far as it alone can tell."""

    column: Column
    order: int
    rows: int
    counted: _Counts | None = None
    fractions: bool = False

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def counts(self) -> _Counts:
        assert self.counted
        return self.counted

    @property
    def telling(self) -> bool:
        """Whether it is a quasi-identifier without being combined with others."""
        return self.role is None and (self.hint == QUASI_IDENTIFIER or _noticeable(self.alone.rows, self.rows))

    @property
    def alone(self) -> _Gain:
        return _Gain((), 0, self.counts.small_rows)

    @cached_property
    def hint(self) -> str:
        """What the name says, where that makes sense for the column's kind and its number of values."""
        said, kind = name_hint(self.name), self.column.kind
        if said == IDENTIFIER:
            sure = named_identifier(self.column, self.counts.distinct, self.rows, self.fractions)
            return said if sure else NOTHING
        if said == SENSITIVE:
            return NOTHING if kind in ("date", "timestamp", "time") else said
        if said == MEASURE:
            return said if kind in ("integer", "decimal", "float") else NOTHING
        return said

    @property
    def role(self) -> str | None:
        """What the rules 1 to 3 make of it; None goes on to rule 4."""
        return self.verdict[0]

    @cached_property
    def verdict(self) -> tuple[str | None, str]:
        """The role and the reason."""
        if self.counted is None:
            return self._uncounted
        if self.counts.distinct == 1:
            return NOTHING, "NULL in every row" if self.counts.null_rows else "one value in every row"
        if self.hint == IDENTIFIER:
            return IDENTIFIER, f"an identifier by its name; {self._unique}"
        if self.hint == NOTHING and self._may_be_key and self.nearly_unique:
            also = "" if self.column.kind == "text" else "; if it is a measure, consider ranges instead"
            return IDENTIFIER, f"nearly every row differs: {self._unique}{also}"
        if self.hint == SENSITIVE:
            also = f"; nearly every row differs, it may identify as well: {self._unique}"
            return SENSITIVE, f"sensitive by its name{also if self.nearly_unique else ''}"
        if self.hint == MEASURE:
            return MEASURE, "a measure by its name: consider ranges if others may know it"
        if self.hint == NOTHING and self.fractions:
            return MEASURE, "a measure, since it holds fractions: consider ranges if others may know it"
        return None, ""

    @property
    def _uncounted(self) -> tuple[str, str]:
        if self.column.type.upper() == "UUID":
            return IDENTIFIER, "its type is made for identifiers; its values were not counted"
        return NOTHING, "its type cannot be grouped, so it was not counted: decide by what it holds"

    @property
    def _may_be_key(self) -> bool:
        return self.column.kind in ("text", "integer", "decimal", "float") and not self.fractions

    @property
    def nearly_unique(self) -> bool:
        """Whether 90 % of the rows that are not NULL, two at least, hold a value of their own."""
        held = self.rows - self.counts.null_rows
        return self.counts.unique_values >= max(2, UNIQUE_SHARE * held)

    @property
    def _unique(self) -> str:
        held = self.rows - self.counts.null_rows
        of_rows = "of the rows that are not NULL" if self.counts.null_rows else "of the rows"
        return f"{_percent(self.counts.unique_values, held)} {of_rows} hold a value of their own"


def _choose(found: Sequence[_Found]) -> tuple[list[_Found], list[_Found]]:
    """The columns to combine, the most telling first, and those that would be too many."""
    able = [one for one in found if one.role is None or _combinable(one)]
    able.sort(key=lambda one: (one.hint != QUASI_IDENTIFIER, -one.counts.distinct, one.order))
    return able[:MOST_COLUMNS], able[MOST_COLUMNS:]


def _combinable(one: _Found) -> bool:
    return one.role == SENSITIVE and not one.nearly_unique and not one.fractions


def _code(tables: Scratch, source: Relation, columns: Sequence[_Found], rows: int, there: Scratch) -> None:
    """Make the frequency set where the sets will be counted."""
    if not columns:
        return
    stems = _stems(columns)
    tuples = tables.make("tuples", "core/tuples", columns={s: name for name, s in stems.items()}, source=source)
    attributes = [_numbered(tables, one, stems[one.name]) for one in columns]
    there.receive("coded", tables.engine, queries.frequency_set(tuples, attributes, tables.engine.dialect))
    ((coded,),) = there.rows("core/total_rows", counted=there["coded"])
    if coded != rows:
        raise SourceError(
            f"the source has {rows:,} rows and its frequency set {coded:,}; it changed while it was read, run again"
        )


def _stems(columns: Sequence[_Found]) -> dict[str, str]:
    return queries.plain_names([one.name for one in columns])


def _numbered(tables: Scratch, one: _Found, stem: str) -> Coded:
    mapping = tables.make(f"map_{stem}", "profile/codes", column=[stem], tuples=tables["tuples"])
    return Coded(stem, mapping, 0, (), {"code_0": 0} if one.counts.null_rows else None)


@dataclass(frozen=True)
class _Figures:
    """What `sql/profile/set.sql` gives."""

    combinations: int
    unique_rows: int
    small_rows: int


@dataclass(frozen=True)
class _Gain:
    """The rows in small classes, or the unique ones, before and after a column joined others."""

    joined: tuple[str, ...]
    before: int
    after: int
    of: str = f"rows in classes smaller than {SMALL_CLASS}"

    @property
    def rows(self) -> int:
        return self.after - self.before

    def told(self, rows: int) -> str:
        """The gain in words."""
        before, after = _percent(self.before, rows), _percent(self.after, rows)
        if not self.joined:
            return f"alone it puts {after} of the rows in classes smaller than {SMALL_CLASS}"
        return f"joining {_and(self.joined)}, it raises the {self.of} from {before} to {after}"


class _Sets:
    """The sets of columns counted so far, and how to count more."""

    def __init__(
        self,
        tables: Scratch,
        found: Sequence[_Found],
        coded: Sequence[_Found],
        rows: int,
        deadline: float | None,
    ) -> None:
        self._tables, self._rows, self._deadline, self._batch = tables, rows, deadline, 1
        self._order = {one.name: one.order for one in found}
        self._codes = {name: f"{stem}_0" for name, stem in _stems(coded).items()}
        self._query = queries.per_node("profile/set", tables.engine.dialect, small=SMALL_CLASS)
        self._candidates = Names(one.name for one in coded if one.role is None)
        self._known = {Names(): _Figures(1, int(rows == 1), rows if rows < SMALL_CLASS else 0)}
        for one in coded:
            counts = one.counts
            self._known[Names([one.name])] = _Figures(counts.distinct, counts.unique_rows, counts.small_rows)

    def ask(self, sets: Iterable[Iterable[str]], told: Callable[[int], None] = lambda _done: None) -> bool:
        """Count the sets that are not known, until time is up; say whether all were counted."""
        unknown = [names for names in map(Names, sets) if names not in self._known]
        done = 0
        while done < len(unknown):
            started = time.monotonic()
            if self._deadline is not None and started >= self._deadline:
                return False
            self._count(unknown[done : done + self._batch])
            done = min(done + self._batch, len(unknown))
            told(done)
            if time.monotonic() - started < _BATCH_SECONDS:
                self._batch = min(2 * self._batch, _BATCH_SETS)
        return True

    def _count(self, sets: Sequence[Names]) -> None:
        coded, codes = self._tables["coded"], self._codes
        texts = [self._query(i, coded, sorted(codes[name] for name in names)) for i, names in enumerate(sets)]
        for i, *figures in self._tables.rows_as(queries.union_all(texts)):
            self._known[sets[i]] = _Figures(*map(int, figures))

    def telling(self, names: Sequence[str]) -> tuple[int, int, int]:
        """How telling a known set is, to compare with another's."""
        found = self._known[Names(names)]
        return found.small_rows, found.unique_rows, found.combinations

    def total(self, names: Sequence[str]) -> SetProfile:
        """One set, whatever the time."""
        if Names(names) not in self._known:
            self._count([Names(names)])
        return self._described(Names(names))

    def listed(self, names: Sequence[str], largest: int) -> tuple[SetProfile, ...]:
        """The counted sets of 2 to `largest` of these columns, the most identifying first."""
        sets = [self._described(s) for s in self._known if 2 <= len(s) <= largest and s <= Names(names)]
        return tuple(sorted(sets, key=self._rank))

    def _rank(self, s: SetProfile) -> tuple[int, int, int, list[int]]:
        return -s.unique_rows, len(s.columns), -s.combinations, [self._order[c] for c in s.columns]

    def _described(self, names: Names) -> SetProfile:
        found = self._known[names]
        return SetProfile(
            columns=self._sorted(names),
            combinations=found.combinations,
            unique_rows=found.unique_rows,
            unique_share=found.unique_rows / self._rows,
            small_rows=found.small_rows,
            small_share=found.small_rows / self._rows,
        )

    def gains(self) -> dict[str, _Gain]:
        """The most that each candidate adds to the rows at risk, by the smallest sets that do to tell."""
        best: dict[str, _Gain] = {}
        for names in sorted((s for s in self._known if s <= self._candidates), key=len):
            for name in names:
                for gain in self._gained(names, self._sorted(names - {name})):
                    best[name] = self._better(best.get(name, gain), gain)
        return best

    def _gained(self, names: Names, joined: tuple[str, ...]) -> Iterator[_Gain]:
        """What the last column of a set added to the others; before the first, no row was at risk."""
        before = self._known.get(Names(joined)) if joined else _Figures(1, 0, 0)
        if before:
            yield _Gain(joined, before.small_rows, self._known[names].small_rows)
            yield _Gain(joined, before.unique_rows, self._known[names].unique_rows, "unique rows")

    def _better(self, one: _Gain, other: _Gain) -> _Gain:
        settled = len(one.joined) < len(other.joined) and _noticeable(one.rows, self._rows)
        return one if settled or one.rows >= other.rows else other

    def all_gain(self) -> bool:
        """Whether every candidate is known to add a noticeable number of rows at risk."""
        return all(_noticeable(gain.rows, self._rows) for gain in self.gains().values())

    def _sorted(self, names: Names) -> tuple[str, ...]:
        return tuple(sorted(names, key=self._order.__getitem__))


def _count_sets(sets: _Sets, combined: Sequence[_Found], largest: int, progress: OnProgress) -> bool:
    """Count the small sets, the most telling columns first, and then the chain; say whether time sufficed."""
    names = [one.name for one in combined]
    total = _possible(len(names), largest)
    small = (s for size in range(2, largest + 1) for s in combinations(names, size))
    progress("sets", 0, total)
    return sets.ask(small, lambda done: progress("sets", done, total)) and _count_chain(
        sets, [one.name for one in combined if one.role is None]
    )


def _count_chain(sets: _Sets, names: Sequence[str]) -> bool:
    """Where the small sets do not settle all, count growing ones, each with the column that then tells most."""
    chain: list[str] = []
    while not sets.all_gain() and (rest := [name for name in names if name not in chain]):
        if not sets.ask([*chain, name] for name in rest):
            return False
        chain.append(max(rest, key=lambda name: sets.telling([*chain, name])))
    return True


def _possible(columns: int, largest: int) -> int:
    return sum(comb(columns, size) for size in range(2, largest + 1))


def _noticeable(gained: int, rows: int) -> bool:
    return gained >= max(1, NOTICEABLE * rows)


def _suggest(
    found: Sequence[_Found], combined: Sequence[_Found], gains: Mapping[str, _Gain]
) -> tuple[ColumnProfile, ...]:
    return tuple(_described(one, gains.get(one.name), one in combined) for one in found)


def _described(one: _Found, gain: _Gain | None, combined: bool) -> ColumnProfile:
    role, reason = one.verdict
    if role is None:
        role, reason = _quasi_identifier(one, gain or one.alone, combined)
    counts = asdict(one.counted) if one.counted else {}
    return ColumnProfile(
        name=one.name,
        type=_ENUM_VALUES.sub("ENUM", one.column.type),
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


def _quasi_identifier(one: _Found, gain: _Gain, combined: bool) -> tuple[str, str]:
    """Rule 4, and the reason."""
    gained = _noticeable(gain.rows, one.rows)
    told = gain.told(one.rows)
    if one.hint == QUASI_IDENTIFIER:
        return QUASI_IDENTIFIER, f"a quasi-identifier by its name{f'; {told}' if gained else ''}"
    if gained:
        many = one.column.kind not in ("text", "boolean") and one.counts.distinct > _MANY_NUMBERS
        return QUASI_IDENTIFIER, f"{told}{'; leave it out if others cannot know it' if many else ''}"
    if not combined:
        return NOTHING, f"alone it tells little, and {MOST_COLUMNS} columns go before it in the sets"
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


def _percent(part: int, whole: int) -> str:
    """A share in words that never rounds to all or nothing."""
    share = 100 * part / whole
    if 0 < share < 0.05:
        return "under 0.1 %"
    return "over 99.9 %" if 99.95 <= share < 100 else f"{share:.1f} %"


def _and(names: Sequence[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} and {last}" if others else last


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


_MANY_NUMBERS = 100  # from here on whole numbers may well be a measure
_ENUM_VALUES = re.compile(r"ENUM\s*\((?:'[^']*'[\s,]*)*\)", re.IGNORECASE)  # DuckDB shows them in the type
