"""Single columns: how far they distinguish the rows of a table, and the roles that this and their names suggest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.hints import IDENTIFIER, MEASURE, NOTHING, QUASI_IDENTIFIER, SENSITIVE, name_hint
from kanon_sql.queries import Relation
from kanon_sql.risk.roles import UNIQUE_SHARE, named_identifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL_CLASS = 5  # rows in smaller classes are at risk
UNIQUE = "unique"  # what a gain's rows are
MANY_ROWS = 1_000_000  # from which on columns with hardly any equal values are treated separately
_FIRST_ROWS = 10_000  # that show whether values differ in nearly all rows
_SLOW_VIEW = 1.0  # seconds for reading a view once per column, above which it is copied instead
NOTICEABLE = 0.01  # of all rows: the increase in rows at risk that makes a quasi-identifier


@dataclass(frozen=True)
class ProfileRow:
    """The result of `sql/profile.sql`."""

    distinct: int
    null_rows: int
    unique_rows: int
    unique_values: int
    smallest_class: int
    largest_class: int
    small_rows: int
    squares: int


def to_count(tables: Scratch, table: Table) -> tuple[int, Relation]:
    """The rows of a table, and the relation to count them on: a copy of a view that is slow to read."""
    started = time.monotonic()
    rows = tables.count(table.relation)
    countable = [column.name for column in table.columns if column.kind != "other"]
    seconds = (time.monotonic() - started) * len(countable)
    if rows == 0 or table.form != "view" or seconds < _SLOW_VIEW:
        return rows, table.relation
    return rows, tables.create("copy", "frequency_sets/copy", columns=countable, source=table.relation)


def count_column(tables: Scratch, column: Column, order: int, source: Relation, rows: int) -> ColumnCounts:
    """The counts of one column of a table, and a table of its values."""
    if column.kind == "other":
        return ColumnCounts(column, order, rows)
    counted = _counted_in_arrays(tables, column, source, rows)
    if counted:
        return ColumnCounts(column, order, rows, counted)
    values = tables.create(f"values_{order}", "profile/numbered_values", column=[column.name], source=source)
    (found,) = tables.rows("profile/column", values=values, small=SMALL_CLASS)
    fractions = _has_fractions(tables.engine, source, column)
    return ColumnCounts(column, order, rows, ProfileRow(*map(int, found)), fractions, values=values)


def _counted_in_arrays(tables: Scratch, column: Column, source: Relation, rows: int) -> ProfileRow | None:
    """The counts of a large column of integers that differ in nearly all of its first rows; None for other columns.

    Sorting an array takes a third of the time of a GROUP BY with nearly as many groups as rows.
    """
    if not tables.engine.is_embedded or column.kind != "integer" or rows < MANY_ROWS:
        return None
    holes: dict[str, Any] = {"column": [column.name], "source": source}
    ((different,),) = tables.rows("profile/first_values", most=_FIRST_ROWS, **holes)
    if different < UNIQUE_SHARE * _FIRST_ROWS:
        return None
    values = tables.engine.arrays(tables.view("filled", tables.text("profile/filled", **holes)))["value"]
    if values.dtype.kind not in "iu":  # too long for an array of integers
        return None
    return array_counts(values, rows - len(values))


def array_counts(values: NDArray[Any], null_rows: int) -> ProfileRow:
    """The counts of a column by its values that are not NULL, which are sorted in place.

    >>> import numpy
    >>> counts = array_counts(numpy.array([7, 7, 8]), null_rows=1)
    >>> counts.distinct, counts.unique_rows, counts.unique_values, counts.largest_class, counts.squares
    (3, 2, 1, 2, 6)
    """
    import numpy as np

    values.sort()
    differs = np.concatenate([[True], values[1:] != values[:-1], [True]]) if len(values) else np.array([True])
    unique = int((differs[1:] & differs[:-1]).sum())
    classes = np.diff(np.flatnonzero(differs)) if unique < len(values) else np.ones(len(values), np.int8)
    smaller = classes[classes < SMALL_CLASS]
    sizes = [null_rows] if null_rows else []
    if len(classes):
        sizes += [int(classes.min()), int(classes.max())]
    return ProfileRow(
        distinct=len(classes) + bool(null_rows),
        null_rows=null_rows,
        unique_rows=unique + (null_rows == 1),
        unique_values=unique,
        smallest_class=min(sizes),
        largest_class=max(sizes),
        small_rows=int(smaller.sum(dtype=np.int64)) + (null_rows if null_rows < SMALL_CLASS else 0),
        squares=int(np.square(classes, dtype=np.int64).sum()) + null_rows**2,
    )


def _has_fractions(engine: Engine, source: Relation, column: Column) -> bool:
    if column.kind not in ("float", "decimal"):
        return False
    query = queries.text("profile/fractions", engine.dialect, column=[column.name], source=source)
    return bool(engine.rows(query)[0][0])


@dataclass(frozen=True)
class ColumnCounts:
    """A column, its counts (unless its type cannot be grouped), and the role that follows from it alone.

    `values`: a table of its values with their rows, see `profile/numbered_values`, if it still exists.
    """

    column: Column
    order: int
    rows: int
    counted: ProfileRow | None = None
    fractions: bool = False
    content: str = ""  # why its values make it an identifier, as the end of "the column …"
    values: Relation | None = None

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def counts(self) -> ProfileRow:
        assert self.counted
        return self.counted

    @property
    def identifying(self) -> bool:
        """Whether it is a quasi-identifier without being combined with others."""
        return self.role is None and (self.hint == QUASI_IDENTIFIER or noticeable(self.alone.gained, self.rows))

    @property
    def alone(self) -> Gain:
        return Gain((), 0, self.counts.small_rows)

    @cached_property
    def hint(self) -> str:
        """The role that the name suggests, if it fits the column's kind and number of values."""
        role, kind = name_hint(self.name), self.column.kind
        if role == IDENTIFIER:
            fits = named_identifier(self.column, self.counts.distinct, self.rows, self.fractions)
        elif role == SENSITIVE:
            fits = kind not in ("date", "timestamp", "time")
        else:
            fits = role != MEASURE or kind in ("integer", "decimal", "float")
        return role if fits else NOTHING

    @property
    def role(self) -> str | None:
        """The role by rules 1 to 3; None means that rule 4 decides."""
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
        if self.content:
            return IDENTIFIER, f"it {self.content}"
        if self.hint == NOTHING and self._may_be_key and self.nearly_unique:
            also = "" if self.column.kind == "text" else "; if it is a measure, consider ranges instead"
            return IDENTIFIER, f"nearly every row differs: {self._unique}{also}"
        if self.hint == SENSITIVE:
            also = f"; nearly every row differs, it may identify as well: {self._unique}"
            return SENSITIVE, f"sensitive by its name{also if self.nearly_unique else ''}"
        if self.hint == MEASURE:
            return MEASURE, "a measure by its name: consider ranges if others may know it"
        if self.hint == NOTHING and self.fractions:
            return MEASURE, "a measure, since it contains fractions: consider ranges if others may know it"
        return None, ""

    @property
    def _uncounted(self) -> tuple[str, str]:
        if self.column.type.upper() == "UUID":
            return IDENTIFIER, "its type is for identifiers; its values were not counted"
        return NOTHING, "its type cannot be grouped, so it was not counted: decide by its contents"

    @property
    def _may_be_key(self) -> bool:
        return self.column.kind in ("text", "integer", "decimal", "float") and not self.fractions

    @property
    def nearly_unique(self) -> bool:
        """Whether at least 90 % of the rows that are not NULL, and at least two, have a unique value."""
        filled = self.rows - self.counts.null_rows
        return self.counts.unique_values >= max(2, UNIQUE_SHARE * filled)

    @property
    def _unique(self) -> str:
        filled = self.rows - self.counts.null_rows
        of_rows = "of the rows that are not NULL" if self.counts.null_rows else "of the rows"
        return f"{percent(self.counts.unique_values, filled)} {of_rows} have a unique value"


@dataclass(frozen=True)
class Whole:
    """What figures are shares of: all rows of a table, or its people, if some have several rows."""

    number: int
    whom: str = "rows"

    def share(self, part: int) -> str:
        """A share in words, such as "2.5 % of the people"."""
        return f"{percent(part, self.number)} of the {self.whom}"


@dataclass(frozen=True)
class Gain:
    """The rows or people in small classes, or the unique ones, before and after a column joined others.

    `estimated`: extrapolated from some of the rows.
    """

    joined: tuple[str, ...]
    before: int
    after: int
    of: str = f"in classes smaller than {SMALL_CLASS}"
    estimated: bool = False

    @property
    def gained(self) -> int:
        return self.after - self.before

    def in_words(self, whole: Whole) -> str:
        """The gain in words."""
        before, after = percent(self.before, whole.number), whole.share(self.after)
        if self.estimated and after[0].isdigit():
            after = f"about {after}"
        if not self.joined:
            return f"alone it puts {after} in classes smaller than {SMALL_CLASS}"
        return f"together with {listed(self.joined)}, {after} are {self.of}; {before} without it"


def noticeable(gained: int, whole: int) -> bool:
    return gained >= max(1, NOTICEABLE * whole)


def percent(part: int, whole: int) -> str:
    """A share in words that never rounds to all or nothing."""
    share = 100 * part / whole
    if 0 < share < 0.05:
        return "under 0.1 %"
    return "over 99.9 %" if 99.95 <= share < 100 else f"{share:.1f} %"


def listed(names: Sequence[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} and {last}" if others else last
