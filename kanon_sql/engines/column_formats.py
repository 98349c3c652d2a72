"""How the columns of a file are read: as the options say, or as all values of a column allow.

A format is recognized if every value of the whole file can be read in it, and in no other format. Any other column
stays text. Messages about it never quote a value.
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
_SAMPLED = 200  # values of a text column that decide which formats are tried on all values
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
    """Files whose rows are in a relation.

    `types`: the types that DuckDB sniffs in columns that were loaded as text. `first_line`: line of the first row in a
    single file; None for several. `is_text`: whether the format has no types, as CSV, so that plain numbers and dates
    in text columns are also to be recognized.
    """

    name: str
    types: Mapping[str, str] = field(default_factory=dict)
    first_line: int | None = None
    is_text: bool = True


@dataclass(frozen=True)
class Found:
    """Conversions by column (the other columns stay unchanged), what was recognized, and why columns stay text.

    `ages`: the column of dates at which another column, of dates of birth, is an age.
    """

    ways: Mapping[str, Conversion]
    ages: Mapping[str, str] = field(default_factory=dict)
    recognized: Sequence[str] = ()
    options: Sequence[str] = ()
    stay: Sequence[str] = ()


@dataclass(frozen=True)
class _ConversionTrial:
    """How many of a column's non-missing values a conversion can read, and the first row that it cannot."""

    way: Conversion
    filled: int
    fitting: int
    first_row: int | None
    uniform: bool

    @property
    def all(self) -> bool:
        return self.filled == self.fitting > 0

    @property
    def nearly(self) -> bool:
        """Whether the other values look like mistakes, or like a word for a missing value."""
        return self.fitting >= (_MOST_OF_MANY if self.uniform else _NEARLY_ALL) * self.filled > 0


@dataclass(frozen=True)
class _Stays:
    """Why a column stays text; equal reasons are reported once for all their columns."""

    why: str
    what_to_do: str


_GROUPS_OR_DECIMALS = _Stays(
    "a mark before three digits may be decimal, or separate thousands", "name the decimal mark with `decimal`"
)
_TWO_DIGITS = _Stays("its years have two digits", "set their format with `date_format`, such as %d.%m.%y")


class _Columns:
    """The columns of a relation of files, on which conversions can be tried."""

    def __init__(self, engine: Engine, relation: Relation, loaded: Loaded, types: Mapping[str, str]) -> None:
        self.engine, self.relation, self.loaded, self.types = engine, relation, loaded, types

    def tried(self, column: str, way: Conversion) -> _ConversionTrial:
        """How many values of a column a conversion can read."""
        holes = {"missing": way.missing, "fits": way.fits}
        ((filled, fitting, first, uniform),) = self._rows("readable", column, **holes)
        return _ConversionTrial(way, filled, fitting, first, bool(uniform))

    def sample(self, column: str, null: Sequence[str]) -> list[str]:
        """A few values of a text column."""
        return [value for (value,) in self._rows("some_values", column, values=_SAMPLED) if value not in null]

    def digits(self, column: str, way: Conversion) -> tuple[int, int]:
        """The maximum number of digits before and after the decimal mark."""
        after_mark = f"{re.escape(str(way.decimal))}([0-9]+)\\s*$"
        ((whole, fraction),) = self._rows("digits", column, behind=after_mark, missing=way.missing)
        return whole, fraction

    def place(self, row: int | None) -> str:
        """The location of a row, in words."""
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


def find_formats(
    engine: Engine, relation: Relation, loaded: Loaded, types: Mapping[str, str], reading: Reading
) -> Found:
    """How the columns of a relation are read; SpecError or SourceError if an option cannot be followed."""
    for name in reading.columns:
        if name not in types:
            near = get_close_matches(name, types, n=1, cutoff=0.5)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(types)}"
            raise SpecError(f"`columns` names {name!r}, which {loaded.name} does not have; {meant}")
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
            for what in _recognized_formats(way, reading.of(name)):
                recognized.setdefault(what, []).append(name)
    for name in _doubtful(columns, ways, reading):
        del ways[name]
        stay.setdefault(_GROUPS_OR_DECIMALS, []).append(name)
    texts = [f"{what} in {', '.join(names)}" for what, names in recognized.items()]
    options = dict.fromkeys("date_format" if what.startswith("dates") else "decimal" for what in recognized)
    ages = _ages(loaded.name, types, ways, reading)
    reasons = []
    for stays, names in stay.items():
        subject = f"column {names[0]} stays" if len(names) == 1 else f"columns {', '.join(names)} stay"
        reasons.append(f"{subject} text: {stays.why}; {stays.what_to_do}")
    return Found(ways, ages, texts, tuple(options), reasons)


def _ages(name: str, types: Mapping[str, str], ways: Mapping[str, Conversion], reading: Reading) -> dict[str, str]:
    """The column of dates by column of ages; SourceError if one of the two has no dates."""
    ages = {column: own.age_at for column, own in reading.columns.items() if own.age_at}
    for column, at in ages.items():
        if at not in types or at == column:
            raise SpecError(f"the age of {column!r} is that at {at!r}, which is not another column of {name}; name one")
        if at in ages:
            raise SpecError(f"the age of {column!r} is that at {at!r}, which is an age; name a column of dates")
        for dates in (column, at):
            kind = ways[dates].type if dates in ways else types[dates]
            if not kind.startswith(("DATE", "TIMESTAMP")):
                raise SourceError(
                    f"the age of {column!r} is that at {at!r}, but {dates!r} of {name} has no dates; set their format "
                    "with `date_format`, or list words for missing values in `null`"
                )
    return ages


def _recognized_formats(way: Conversion, options: ColumnReading) -> Iterator[str]:
    """The formats in a conversion that no option named."""
    if way.decimal and not way.pattern and not options.decimal:
        yield "decimal commas" if way.decimal == "," else "marks between thousands"
    if way.date_format and not options.date_format and not way.date_format.startswith("%Y-%m-%d"):
        yield f"dates as {way.date_format}"


def _way(columns: _Columns, name: str, reading: Reading) -> Conversion | _Stays | None:
    """How a column is read; None if it stays unchanged."""
    options, own = reading.of(name), reading.columns.get(name)
    if own and own.age_at:  # of dates of birth
        own, options = replace(own, type=None), replace(options, type=None)
    if own and (own.type or own.decimal or own.date_format):
        return _configured(columns, name, own, options)
    if not columns.is_text(name):
        return Conversion(columns.types[name], null=options.null) if options.null else None
    return _recognized(columns, name, options) or (Conversion("VARCHAR", null=options.null) if options.null else None)


def _configured(columns: _Columns, name: str, own: ColumnReading, options: ColumnReading) -> Conversion:
    """The conversion that a column's `own` options require; SourceError if a value does not allow it."""
    kind = (own.type or ("number" if own.decimal else "date")).partition("(")[0]
    if kind == "text":
        return Conversion("VARCHAR", null=options.null)
    if not columns.is_text(name):
        return _cast(columns, name, own, kind)
    if kind in ("date", "timestamp"):
        tried = _best_date(columns, name, options, _SQL[kind] if options.type else None)
    elif kind in _SQL:
        tried = columns.tried(name, Conversion(_SQL[kind], null=options.null))
    else:
        tried = _best_number(columns, name, options)
    if isinstance(tried, _Stays):
        raise SourceError(
            f"column {name} of {columns.loaded.name} cannot be read as {options.type}: {tried.why}; {tried.what_to_do}"
        )
    if tried.filled and not tried.all:
        raise SourceError(
            f"column {name} of {columns.loaded.name} cannot be read so: {columns.place(tried.first_row)} has no "
            f"{_described(tried.way, options)}; correct it, list words for missing values in `null`, or read the "
            "column as text"
        )
    return _sized(columns, name, tried, options)


def _cast(columns: _Columns, name: str, options: ColumnReading, kind: str) -> Conversion:
    """Cast a typed column to another type, if casting back returns every value unchanged."""
    if options.decimal or options.date_format:
        option, actual = "decimal" if options.decimal else "date_format", columns.types[name]
        raise SpecError(
            f"columns.{name}: {option} is for text, and {columns.loaded.name} has {actual} there; leave it out"
        )
    types = {**_SQL, "integer": "BIGINT", "float": "DOUBLE", "decimal": f"DECIMAL({_MOST_DIGITS}, 9)"}
    target = options.type.upper() if options.type and "(" in options.type else types[kind]
    tried = columns.tried(name, Conversion(target, null=options.null, of=columns.types[name]))
    if tried.filled and not tried.all:
        raise SourceError(
            f"column {name} of {columns.loaded.name} would lose something as {options.type}, first in "
            f"{columns.place(tried.first_row)}; choose another type, or leave it out"
        )
    return Conversion(target, null=options.null)


def _described(way: Conversion, options: ColumnReading) -> str:
    if way.decimal:
        return "number with a decimal comma" if way.decimal == "," else "number"
    return f"date as {way.date_format}" if way.date_format else str(options.type or way.type.lower())


def _recognized(columns: _Columns, name: str, options: ColumnReading) -> Conversion | _Stays | None:
    """How all values of a text column can be read, where the options leave it open."""
    sniffed = columns.loaded.types.get(name, "VARCHAR")
    numbered = sniffed == "DOUBLE" and options.decimal == ","
    if sniffed != "VARCHAR" and not numbered:
        return Conversion(sniffed, null=options.null)
    few = columns.sample(name, options.null)
    numbers = sum(any(re.fullmatch(queries.number_pattern(mark), value) for mark in ",.") for value in few)
    if 2 * numbers >= len(few) > 0:
        tried = _best_number(columns, name, options)
    elif 2 * sum(bool(options.date_format or _DATE.fullmatch(value)) for value in few) >= len(few) > 0:
        tried = _best_date(columns, name, options)
    else:
        return None
    if isinstance(tried, _Stays):
        return tried
    if not tried.all:
        return _near_miss(columns, name, tried, options) if tried.nearly or numbered else None
    # A file with types stores numbers as numbers, so its digits in a text column are text on purpose.
    if not columns.loaded.is_text and tried.way.decimal and columns.tried(name, _plain(options)).all:
        return None
    return _sized(columns, name, tried, options)


def _near_miss(columns: _Columns, name: str, tried: _ConversionTrial, options: ColumnReading) -> _Stays | None:
    """Why a column that nearly fits a format stays text; None for codes, such as 02138 among 12345."""
    if tried.way.decimal:
        code = Conversion("DOUBLE", ".", null=options.null, pattern=queries.LEADING_ZERO)
        typed = not columns.loaded.is_text and tried.way.decimal == "."
        if typed or columns.tried(name, code).fitting:
            return None
    where, what = columns.place(tried.first_row), _described(tried.way, options)
    return _Stays(
        f"{where} has no {what}, as {tried.fitting:,} of its {tried.filled:,} values are",
        "correct it, or list words for missing values in `null`",
    )


def _plain(options: ColumnReading) -> Conversion:
    return Conversion("DOUBLE", ".", null=options.null, pattern=queries.PLAIN_NUMBER)


def _best_number(columns: _Columns, name: str, options: ColumnReading) -> _ConversionTrial | _Stays:
    """The decimal mark of a column's numbers: from the options, or the only one that all values allow."""
    plain = columns.tried(name, _plain(options)) if options.decimal != "," else None
    if plain and plain.all:
        return plain
    marks = [options.decimal] if options.decimal else [".", ","]
    tried = [columns.tried(name, Conversion("DOUBLE", mark, null=options.null)) for mark in marks]
    both = len(tried) > 1 and all(attempt.all for attempt in tried)
    return _GROUPS_OR_DECIMALS if both else max(tried, key=lambda attempt: attempt.fitting)


def _doubtful(columns: _Columns, ways: Mapping[str, Conversion], reading: Reading) -> list[str]:
    """Columns with a point before three digits, in a file where others have decimal commas: maybe thousands."""
    if not any(way.decimal == "," for way in ways.values()):
        return []
    doubles = [name for name, way in ways.items() if way.type == "DOUBLE" and way.decimal != ","]
    texts = [name for name in doubles if columns.is_text(name)]
    free = [name for name in texts if reading.of(name) == ColumnReading(null=ways[name].null)]
    return [name for name in free if columns.tried(name, Conversion("DOUBLE", ",", null=ways[name].null)).all]


def _sized(columns: _Columns, name: str, tried: _ConversionTrial, options: ColumnReading) -> Conversion:
    """The conversion with a number type that keeps every digit."""
    way = tried.way
    if not way.decimal:
        return way
    whole, fraction = columns.digits(name, way)
    type_name = _number_type(options.type, whole, fraction)
    if type_name is None:
        raise SourceError(
            f"column {name} of {columns.loaded.name} has numbers of up to {whole} digits before the decimal mark and "
            f"{fraction} behind it, too many for {options.type or 'a number'}; read it as another type, or as text"
        )
    return replace(way, type=type_name)


def _number_type(requested: str | None, whole: int, fraction: int) -> str | None:
    """The type for numbers with this number of digits; None if the requested type has too few."""
    digits, width = whole + fraction, re.search(r"\((\d+),(\d+)\)", requested or "")
    if width:
        return str(requested).upper() if whole <= int(width[1]) - int(width[2]) and fraction <= int(width[2]) else None
    if requested == "float":
        return "DOUBLE"
    if digits > _MOST_DIGITS or (requested == "integer" and fraction):
        return None
    if requested == "decimal" or (fraction and digits > _EXACT_DIGITS):
        return f"DECIMAL({max(digits, 1)}, {fraction})"
    if fraction:
        return "DOUBLE"
    return "BIGINT" if digits <= 18 else "HUGEINT"


def _best_date(
    columns: _Columns, name: str, options: ColumnReading, type_name: str | None = None
) -> _ConversionTrial | _Stays:
    """The format of a column's dates: from the options, or the only one that all values allow."""
    formats = [options.date_format] if options.date_format else _formats(columns.sample(name, options.null))
    if not formats:  # not a date format that we recognize, so the values are cast to the type
        return columns.tried(name, Conversion(type_name or "TIMESTAMP", null=options.null))
    kind = type_name or ("TIMESTAMP" if re.search("%[HI]", formats[0]) else "DATE")
    tried = [columns.tried(name, Conversion(kind, date_format=format_, null=options.null)) for format_ in formats]
    best = max(tried, key=lambda attempt: attempt.fitting)
    if best.nearly and "%y" in formats[0] and not options.date_format:
        return _TWO_DIGITS
    if len(tried) > 1 and all(attempt.all for attempt in tried):
        return _Stays(
            "its dates may start with the day or the month",
            f"name the format with `date_format`: {' or '.join(formats)}",
        )
    return best


def _formats(few: Iterable[str]) -> list[str]:
    """The formats that fit most of a few dates."""
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
    """One line about how files were read, if anything was recognized, and one line per reason to stay text."""
    options = [*(["encoding"] if encoding else []), *found.options]
    if not options:
        return list(found.stay)
    between = [f"fields separated by {_SEPARATORS[separator]}"] if separator in _SEPARATORS else []
    parts = [*between, *found.recognized]
    read = ", ".join([*([f"as {encoding}"] if encoding else []), *([f"with {_listed(parts)}"] if parts else [])])
    change = f"{_listed([f'`{option}`' for option in options])} change{'s' if len(options) == 1 else ''} that"
    return [f"{name} was read {read}; {change}", *found.stay]


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
