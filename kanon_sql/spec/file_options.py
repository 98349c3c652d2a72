"""Options for reading the files of a source; the rest is detected."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_TYPES = {
    "text": ("text", "varchar", "string", "str"),
    "integer": ("integer", "int", "bigint"),
    "float": ("float", "double", "real", "number"),
    "decimal": ("decimal", "numeric"),
    "date": ("date",),
    "timestamp": ("timestamp", "datetime"),
    "time": ("time",),
    "boolean": ("boolean", "bool"),
}
TYPES = tuple(_TYPES)
_TAKES = {
    **dict.fromkeys(("integer", "float", "decimal"), ("decimal",)),
    **dict.fromkeys(("date", "timestamp", "time", "age"), ("date_format",)),
    **dict.fromkeys(("text", "boolean"), ()),
}
_ENDINGS = {"CSV": ("csv", "tsv", "txt", "data"), "Parquet": ("parquet", "pq"), "Excel": ("xlsx", "xlsm")}
_AGE = re.compile(r"\s*age\s+at\s+(\S.*?)\s*", re.IGNORECASE | re.DOTALL)
_WIDTH = re.compile(r"(decimal|numeric)\s*\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")


@dataclass(frozen=True)
class ColumnReading:
    """How one column is read: its type, decimal mark, format of dates, and the texts that mean NULL."""

    type: str | None = None
    decimal: str | None = None
    date_format: str | None = None
    null: tuple[str, ...] = ()

    @property
    def age_at(self) -> str | None:
        """The column of dates at which a column of dates of birth is an age; None if it is not an age."""
        return age_at(self.type)


@dataclass(frozen=True)
class Reading:
    """How the files of a source are read: `every` column, and individual columns, which override it.

    `skip_lines`: above the names of the columns. `delimiter`: between the fields of a CSV file.
    """

    encoding: str | None = None
    sheet: str | None = None
    every: ColumnReading = ColumnReading()
    columns: Mapping[str, ColumnReading] = field(default_factory=dict)
    skip_lines: int = 0
    delimiter: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that are set."""
        values = {
            "encoding": self.encoding,
            "sheet": self.sheet,
            "skip_lines": self.skip_lines,
            "delimiter": self.delimiter,
            "decimal": self.every.decimal,
            "date_format": self.every.date_format,
            "null": self.every.null,
            "columns": self.columns,
        }
        return tuple(name for name, value in values.items() if value)

    def of(self, column: str) -> ColumnReading:
        """The options of a column; a column with a type or format ignores options of `every` that do not fit it.

        >>> reading = Reading(every=ColumnReading(decimal=","), columns={"zip": ColumnReading("text")})
        >>> reading.of("zip").decimal, reading.of("pay").decimal
        (None, ',')
        """
        own = self.columns.get(column, ColumnReading())
        takes = _TAKES.get(_word(own.type), ("decimal", "date_format"))
        decimal = self.every.decimal if "decimal" in takes and not own.date_format else None
        date_format = self.every.date_format if "date_format" in takes and not own.decimal else None
        return replace(
            own,
            decimal=own.decimal or decimal,
            date_format=own.date_format or date_format,
            null=(*own.null, *(text for text in self.every.null if text not in own.null)),
        )


def kind_of_file(name: str) -> str | None:
    """The kind of a file by its ending; None for another ending.

    >>> kind_of_file("people.XLSX"), kind_of_file("people.tsv"), kind_of_file("hr.people")
    ('Excel', 'CSV', None)
    """
    ending = name.rpartition(".")[2].lower()
    return next((kind for kind, endings in _ENDINGS.items() if ending in endings), None)


def takes(type_name: str | None, option: str) -> bool:
    """Whether values of a type, None for any, can have a decimal mark or a format of dates.

    >>> takes("decimal(9,2)", "decimal"), takes("text", "decimal"), takes(None, "date_format")
    (True, False, True)
    """
    return type_name is None or option in _TAKES[_word(type_name)]


def _word(type_name: str | None) -> str:
    return "age" if age_at(type_name) else (type_name or "").partition("(")[0]


def age_at(type_name: str | None) -> str | None:
    """The column of dates in the type of an age; None for another type.

    >>> age_at("age at date of admission"), age_at("integer")
    ('date of admission', None)
    """
    found = _AGE.fullmatch(type_name or "")
    return found[1] if found else None


def column_type(value: object) -> object:
    """Our word for a type, of several common ones; ValueError for any other.

    >>> column_type("VARCHAR"), column_type("DECIMAL(12, 2)"), column_type("Age at Eintritt")
    ('text', 'decimal(12,2)', 'age at Eintritt')
    """
    if column := age_at(str(value)):
        return f"age at {column}"
    word = str(value).strip().lower()
    width = _WIDTH.fullmatch(word)
    if width and int(width[3]) <= int(width[2]) <= 38:
        return f"decimal({int(width[2])},{int(width[3])})"
    found = next((name for name, words in _TYPES.items() if word in words), None)
    if found is None:
        raise ValueError(f"{value!r} is not a type; choose one of {', '.join(TYPES)}, decimal(12,2), or age at COLUMN")
    return found


def valid_delimiter(value: str) -> str:
    """The delimiter between the fields of a CSV file; ValueError for a text that cannot be one.

    >>> valid_delimiter(";"), valid_delimiter("tab")
    (';', '\\t')
    """
    delimiter = "\t" if value.lower() in ("tab", "\\t") else value
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in "\"'\\\r\n\0":
        raise ValueError(f"{value!r} does not separate fields; give one character such as ; or | or the word tab")
    return delimiter


def valid_encoding(value: str) -> str:
    """The name of a text encoding, unchanged; ValueError if Python has no such encoding."""
    try:
        codec = codecs.lookup(value)
    except LookupError:
        codec = None
    if codec is None or not getattr(codec, "_is_text_encoding", True):
        raise ValueError(f"there is no encoding {value!r}; choose one such as utf-8, cp1252, latin-1 or utf-16")
    return value


def format_of_dates(value: str) -> str:
    """A format of dates, or ValueError."""
    if not re.search("%[a-zA-Z]", value):
        raise ValueError(f"{value!r} is not a format of dates; write it as in '%d.%m.%Y' or '%d.%m.%Y %H:%M'")
    return value
