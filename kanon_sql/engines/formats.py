"""How the columns of a file are to be read: as somebody says, or as all of their values tell.

A format counts as recognized if every value of the whole file can be read so, and in no other way. A column of which
that is not known stays text, and what is said of it never quotes a value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from kanon_sql import queries
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.queries import Conversion, Relation
from kanon_sql.spec import ColumnReading, Reading

if TYPE_CHECKING:
    from kanon_sql.engine import Engine

_NEARLY_ALL, _MOST_OF_MANY = 0.9, 0.5
_LOOKED_AT = 200  # values of a column of text, to see what may be tried on all of them
_EXACT_DIGITS = 15  # that a double keeps
_MOST_DIGITS = 38  # of a decimal number
_SQL = {"text": "VARCHAR", "time": "TIME", "boolean": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMP"}
_DATE = re.compile(
    r"(?:(?P<first>\d{4})|\d{1,2})(?P<mark>[./-])\d{1,2}(?P=mark)(?P<last>\d{4}|\d{1,2})"
    r"(?:(?P<between>[ T])\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<half> ?[AaPp][Mm])?)?"
)
_SEPARATORS: dict[str | None, str] = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Loaded:
    """What is known of files whose rows are in a relation.

    `types`: the types that DuckDB sees in columns that were loaded as text. `first_line`: where the first row of a
    single file is, None of several. `is_text`: whether a file knows no types, as CSV does, so that plain numbers and
    dates of columns of text are to be found too.
    """

    name: str
    types: Mapping[str, str] = field(default_factory=dict)
    first_line: int | None = None
    is_text: bool = True


@dataclass(frozen=True)
class Found:
    """How columns are read, those that are not in it as they are; what was recognized of that; why others stay text."""

    ways: Mapping[str, Conversion]
    recognized: Sequence[str] = ()
    options: Sequence[str] = ()
    stay: Sequence[str] = ()


@dataclass(frozen=True)
class _Tried:
    """How many values of a column can be read in a way, of those that are there; and the first row that cannot."""

    way: Conversion
    filled: int
    fitting: int
    first_row: int | None
    alike: bool

    @property
    def all(self) -> bool:
        return self.filled == self.fitting > 0

    @property
    def nearly(self) -> bool:
        """Whether it looks as if the others were mistakes, or a word for a value that is missing."""
        return self.fitting >= (_MOST_OF_MANY if self.alike else _NEARLY_ALL) * self.filled > 0


@dataclass(frozen=True)
class _Stays:
    """Why a column stays text, which others may do for the same reason."""

    why: str
    what_to_do: str


class _Columns:
    """The columns of a relation of files, which can be tried."""

    def __init__(self, engine: Engine, relation: Relation, loaded: Loaded, types: Mapping[str, str]) -> None:
        self.engine, self.relation, self.loaded, self.types = engine, relation, loaded, types

    def tried(self, column: str, way: Conversion) -> _Tried:
        """How many values of a column can be read in a way."""
        holes = {"missing": way.missing, "fits": way.fits}
        ((filled, fitting, first, alike),) = self._rows("readable", column, **holes)
        return _Tried(way, filled, fitting, first, bool(alike))

    def sample(self, column: str, null: Sequence[str]) -> list[str]:
        """A few values of a column of text."""
        return [value for (value,) in self._rows("some_values", column, values=_LOOKED_AT) if value not in null]

    def digits(self, column: str, way: Conversion) -> tuple[int, int]:
        """The most digits of numbers before and behind their decimal mark."""
        behind = f"{re.escape(str(way.decimal))}([0-9]+)\\s*$"
        ((whole, fraction),) = self._rows("digits", column, behind=behind, missing=way.missing)
        return whole, fraction

    def place(self, row: int | None) -> str:
        """Where a row is, in words."""
        if row is None or self.loaded.first_line is None:
            return f"row {row:,}"
        texts = [name for name, type_name in self.types.items() if type_name == "VARCHAR"]
        breaks = sum(self._rows("line_breaks", name, row=row)[0][0] for name in texts)
        return f"line {self.loaded.first_line + row - 1 + breaks:,}"

    def is_text(self, column: str) -> bool:
        return self.types[column] == "VARCHAR"

    def _rows(self, query: str, column: str, **holes: queries.Hole) -> list[tuple[Any, ...]]:
        text = queries.text(f"files/{query}", self.engine.dialect, column=[column], source=self.relation, **holes)
        return self.engine.rows(text)


def found(engine: Engine, relation: Relation, loaded: Loaded, types: Mapping[str, str], reading: Reading) -> Found:
    """How the columns of a relation are read; SpecError or SourceError where that is not possible as it is said."""
    _check_names(loaded.name, types, reading)
    columns = _Columns(engine, relation, loaded, types)
    ways: dict[str, Conversion] = {}
    stay: dict[_Stays, list[str]] = {}
    recognized: dict[str, list[str]] = {}
    for name in types:
        way = _way(columns, name, reading)
        if isinstance(way, _Stays):
            stay.setdefault(way, []).append(name)
        elif way is not None:
            ways[name] = way
            said = reading.of(name)
            for what in _unsaid(way, said):
                recognized.setdefault(what, []).append(name)
    for name in _doubtful(columns, ways, reading):
        del ways[name]
        stay.setdefault(_GROUPS_OR_DECIMALS, []).append(name)
    told = [f"{what} in {', '.join(names)}" for what, names in recognized.items()]
    options = dict.fromkeys("date_format" if what.startswith("dates") else "decimal" for what in recognized)
    return Found(ways, told, tuple(options), [_said(why, names) for why, names in stay.items()])


def _said(stays: _Stays, names: Sequence[str]) -> str:
    subject = f"column {names[0]} stays" if len(names) == 1 else f"columns {', '.join(names)} stay"
    return f"{subject} text: {stays.why}; {stays.what_to_do}"


def _check_names(name: str, types: Mapping[str, str], reading: Reading) -> None:
    for column in reading.columns:
        if column not in types:
            near = get_close_matches(column, types, n=1, cutoff=0.5)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(types)}"
            raise SpecError(f"`columns` names {column!r}, which {name} does not have; {meant}")


def _unsaid(way: Conversion, said: ColumnReading) -> Iterator[str]:
    """What was recognized of a way to read a column, as nobody said it."""
    if way.decimal and not way.pattern and not said.decimal:
        yield "decimal commas" if way.decimal == "," else "marks between thousands"
    if way.date_format and not said.date_format and not way.date_format.startswith("%Y-%m-%d"):
        yield f"dates as {way.date_format}"


def _way(columns: _Columns, name: str, reading: Reading) -> Conversion | _Stays | None:
    """How a column is read; None if it is as it is."""
    said, own = reading.of(name), reading.columns.get(name)
    if own and (own.type or own.decimal or own.date_format):
        return _as_said(columns, name, own, said)
    if not columns.is_text(name):
        return Conversion(columns.types[name], null=said.null) if said.null else None
    return _recognized(columns, name, said) or (Conversion("VARCHAR", null=said.null) if said.null else None)


def _as_said(columns: _Columns, name: str, own: ColumnReading, said: ColumnReading) -> Conversion:
    """What is said of a column, which all its values must allow; `said`: of it, or of all."""
    kind = (own.type or ("number" if own.decimal else "date")).partition("(")[0]
    if kind == "text":
        return Conversion("VARCHAR", null=said.null)
    if not columns.is_text(name):
        return _cast(columns, name, own, kind)
    if kind in ("date", "timestamp"):
        tried = _best_date(columns, name, said, _SQL[kind] if said.type else None)
    elif kind in _SQL:
        tried = columns.tried(name, Conversion(_SQL[kind], null=said.null))
    else:
        tried = _best_number(columns, name, said)
    if isinstance(tried, _Stays):
        raise SourceError(
            f"column {name} of {columns.loaded.name} cannot be read as {said.type}: {tried.why}; {tried.what_to_do}"
        )
    if tried.filled and not tried.all:
        raise SourceError(
            f"column {name} of {columns.loaded.name} cannot be read so: {columns.place(tried.first_row)} holds no "
            f"{_described(tried.way, said)}; correct it, name with `null` what means that there is no value, or read "
            "the column as text"
        )
    return _sized(columns, name, tried, said)


def _cast(columns: _Columns, name: str, said: ColumnReading, kind: str) -> Conversion:
    """A column of a file that knows its types, in another type: back from there each value is what it was."""
    if said.decimal or said.date_format:
        option, has = "decimal" if said.decimal else "date_format", columns.types[name]
        raise SpecError(
            f"columns.{name}: {option} is for text, and {columns.loaded.name} has {has} there; leave it out"
        )
    types = {**_SQL, "integer": "BIGINT", "float": "DOUBLE", "decimal": f"DECIMAL({_MOST_DIGITS}, 9)"}
    target = said.type.upper() if said.type and "(" in said.type else types[kind]
    tried = columns.tried(name, Conversion(target, null=said.null, of=columns.types[name]))
    if tried.filled and not tried.all:
        raise SourceError(
            f"column {name} of {columns.loaded.name} would lose something as {said.type}, first in "
            f"{columns.place(tried.first_row)}; give another type, or leave it out"
        )
    return Conversion(target, null=said.null)


def _described(way: Conversion, said: ColumnReading) -> str:
    if way.decimal:
        return "number with a decimal comma" if way.decimal == "," else "number"
    return f"date as {way.date_format}" if way.date_format else str(said.type or way.type.lower())


def _recognized(columns: _Columns, name: str, said: ColumnReading) -> Conversion | _Stays | None:
    """How all values of a column of text can be read, as far as it is not said otherwise."""
    sniffed = columns.loaded.types.get(name, "VARCHAR")
    numbered = sniffed == "DOUBLE" and said.decimal == ","
    if sniffed != "VARCHAR" and not numbered:
        return Conversion(sniffed, null=said.null)
    few = columns.sample(name, said.null)
    numbers = sum(any(re.fullmatch(queries.number_pattern(mark), value) for mark in ",.") for value in few)
    if 2 * numbers >= len(few) > 0:
        tried = _best_number(columns, name, said)
    elif 2 * sum(_is_like_a_date(value, said) for value in few) >= len(few) > 0:
        tried = _best_date(columns, name, said)
    else:
        return None
    if isinstance(tried, _Stays):
        return tried
    if not tried.all:
        return _near_miss(columns, name, tried, said) if tried.nearly or numbered else None
    # Where a file knows numbers from text, digits that are text are meant to be.
    if not columns.loaded.is_text and tried.way.decimal and columns.tried(name, _plain(said)).all:
        return None
    return _sized(columns, name, tried, said)


def _near_miss(columns: _Columns, name: str, tried: _Tried, said: ColumnReading) -> _Stays | None:
    """Why a column stays text that looks like another; not of codes, such as 02138 among 12345."""
    if tried.way.decimal:
        code = Conversion("DOUBLE", ".", null=said.null, pattern=queries.LEADING_ZERO)
        known = not columns.loaded.is_text and tried.way.decimal == "."
        if known or columns.tried(name, code).fitting:
            return None
    where, what = columns.place(tried.first_row), _described(tried.way, said)
    return _Stays(
        f"{where} holds no {what}, as {tried.fitting:,} of its {tried.filled:,} values are",
        "correct it, or name with `null` what means that there is no value",
    )


def _plain(said: ColumnReading) -> Conversion:
    return Conversion("DOUBLE", ".", null=said.null, pattern=queries.PLAIN_NUMBER)


def _best_number(columns: _Columns, name: str, said: ColumnReading) -> _Tried | _Stays:
    """The decimal mark of a column's numbers: that which is said, or the only one that all of them can have."""
    plain = columns.tried(name, _plain(said)) if said.decimal != "," else None
    if plain and plain.all:
        return plain
    marks = [said.decimal] if said.decimal else [".", ","]
    tried = [columns.tried(name, Conversion("DOUBLE", mark, null=said.null)) for mark in marks]
    both = len(tried) > 1 and all(attempt.all for attempt in tried)
    return _GROUPS_OR_DECIMALS if both else max(tried, key=lambda attempt: attempt.fitting)


_GROUPS_OR_DECIMALS = _Stays(
    "a mark before three digits may be decimal, or stand between thousands", "say with `decimal` which mark is decimal"
)
_TWO_DIGITS = _Stays("its years have two digits", "say with `date_format` how to read them, such as %d.%m.%y")


def _doubtful(columns: _Columns, ways: Mapping[str, Conversion], reading: Reading) -> list[str]:
    """Numbers with a point before three digits, beside columns that have decimal commas: these may be thousands."""
    if not any(way.decimal == "," for way in ways.values()):
        return []
    doubles = [name for name, way in ways.items() if way.type == "DOUBLE" and way.decimal != ","]
    texts = [name for name in doubles if columns.is_text(name)]
    unsaid = [name for name in texts if reading.of(name) == ColumnReading(null=ways[name].null)]
    return [name for name in unsaid if columns.tried(name, Conversion("DOUBLE", ",", null=ways[name].null)).all]


def _sized(columns: _Columns, name: str, tried: _Tried, said: ColumnReading) -> Conversion:
    """A way to read a column with the type that keeps every digit of its numbers."""
    way = tried.way
    if not way.decimal:
        return way
    whole, fraction = columns.digits(name, way)
    type_name = _number_type(said.type, whole, fraction)
    if type_name is None:
        raise SourceError(
            f"column {name} of {columns.loaded.name} has numbers of up to {whole} digits before the decimal mark and "
            f"{fraction} behind it, too many for {said.type or 'a number'}; read it as another type, or as text"
        )
    return replace(way, type=type_name)


def _number_type(asked: str | None, whole: int, fraction: int) -> str | None:
    """The type of numbers of so many digits; None if what is asked for does not hold them."""
    digits, width = whole + fraction, re.search(r"\((\d+),(\d+)\)", asked or "")
    if width:
        return str(asked).upper() if whole <= int(width[1]) - int(width[2]) and fraction <= int(width[2]) else None
    if asked == "float":
        return "DOUBLE"
    if digits > _MOST_DIGITS or (asked == "integer" and fraction):
        return None
    if asked == "decimal" or (fraction and digits > _EXACT_DIGITS):
        return f"DECIMAL({max(digits, 1)}, {fraction})"
    if fraction:
        return "DOUBLE"
    return "BIGINT" if digits <= 18 else "HUGEINT"


def _is_like_a_date(value: str, said: ColumnReading) -> bool:
    return bool(said.date_format or _DATE.fullmatch(value))


def _best_date(columns: _Columns, name: str, said: ColumnReading, type_name: str | None = None) -> _Tried | _Stays:
    """The format of a column's dates: that which is said, or the only one that all of them can have."""
    formats = [said.date_format] if said.date_format else _formats(columns.sample(name, said.null))
    if not formats:  # of no form that we know; the type is what is asked for
        return columns.tried(name, Conversion(type_name or "TIMESTAMP", null=said.null))
    kind = type_name or ("TIMESTAMP" if re.search("%[HI]", formats[0]) else "DATE")
    tried = [columns.tried(name, Conversion(kind, date_format=format_, null=said.null)) for format_ in formats]
    best = max(tried, key=lambda attempt: attempt.fitting)
    if best.nearly and "%y" in formats[0] and not said.date_format:
        return _TWO_DIGITS
    if len(tried) > 1 and all(attempt.all for attempt in tried):
        return _Stays(
            "its dates may begin with the day or with the month",
            f"say which with `date_format`, {' or '.join(formats)}",
        )
    return best


def _formats(few: Iterable[str]) -> list[str]:
    """The formats that most of a few dates may have."""
    shapes = [_shape(match) for match in map(_DATE.fullmatch, few) if match]
    return list(Counter(shapes).most_common(1)[0][0]) if shapes else []


def _shape(match: re.Match[str]) -> tuple[str, ...]:
    mark, year = match["mark"], "%Y" if match["first"] or len(match["last"]) == 4 else "%y"
    parts = [(year, "%m", "%d")] if match["first"] else [("%d", "%m", year), ("%m", "%d", year)]
    time = ""
    if match["between"]:
        half = {"": "", " ": " %p"}.get((match["half"] or "")[:1], "%p")
        hours, seconds = "%I" if half else "%H", ":%S" if match["seconds"] else ""
        time = f"{match['between']}{hours}:%M{seconds}{half}"
    return tuple(mark.join(part) + time for part in parts)


def sentence(name: str, encoding: str | None, separator: str | None, found: Found) -> list[str]:
    """One line that says how files were read, where something was recognized, and one for every reason to stay text."""
    options = [*(["encoding"] if encoding else []), *found.options]
    if not options:
        return list(found.stay)
    between = [f"fields separated by {_SEPARATORS[separator]}"] if separator in _SEPARATORS else []
    parts = [*between, *found.recognized]
    said = ", ".join([*([f"as {encoding}"] if encoding else []), *([f"with {_listed(parts)}"] if parts else [])])
    change = f"{_listed([f'`{option}`' for option in options])} change{'s' if len(options) == 1 else ''} that"
    return [f"{name} was read {said}; {change}", *found.stay]


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
