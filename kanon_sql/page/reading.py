"""How a file is read, as the fields of a form: texts for missing values, decimal mark, format of dates and so on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kanon_sql.engines.headers import csv_head, first_row, parted, separators
from kanon_sql.errors import KanonError
from kanon_sql.report.words import date_letters
from kanon_sql.spec import READING

DECIMALS = {"": "Detected", ".": "Point: 1.5", ",": "Comma: 1,5"}
DELIMITERS = {",": "Comma", ";": "Semicolon", "tab": "Tab", "|": "Vertical bar"}
DATES = ("dd.mm.yyyy", "yyyy-mm-dd", "dd/mm/yyyy", "mm/dd/yyyy", "dd.mm.yyyy hh:mm")
# In this order: the first mm of hh:mm are minutes.
_WORDS = (
    (r"(?<=hh)([:.h ]?)mm", r"\1%M"),
    (r"yyyy", "%Y"),
    (r"yy", "%y"),
    (r"(?<!%)mm", "%m"),
    (r"dd", "%d"),
    (r"hh", "%H"),
    (r"(?<=%M)([:.])ss", r"\1%S"),
)


def date_format(text: str) -> str:
    """A format of dates, from letters for day, month and year.

    >>> date_format("dd.mm.yyyy"), date_format("yyyy-mm-dd hh:mm:ss"), date_format("%d.%m.%y"), date_format("DD/MM/YY")
    ('%d.%m.%Y', '%Y-%m-%d %H:%M:%S', '%d.%m.%y', '%d/%m/%y')
    """
    if "%" in text:
        return text
    text = text.lower()
    for word, code in _WORDS:
        text = re.sub(word, code, text)
    return text


def delimiters(path: Path | None, texts: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The choices for the delimiter; that of an open CSV file, if it is detected, is named.

    `names`: of the columns, into which the file's delimiter parts its first line.
    """
    detected = _detected(path, int(texts["skip_lines"] or 0), names) if path and not texts["delimiter"] else None
    first = f"Detected: {DELIMITERS[detected].lower()}" if detected else "Detected"
    own = texts["delimiter"]
    return {"": first, **DELIMITERS, **({own: own} if own and own not in DELIMITERS else {})}


def _detected(path: Path, skipped: int, names: Sequence[str]) -> str | None:
    try:
        _, head = parted(csv_head(path), skipped)
    except (KanonError, OSError):  # not a text file, or in an encoding with zero bytes, or deleted
        return None
    rows = {mark: [name.strip() for name in first_row(head, mark) or ()] for mark in separators(head)}
    fitting = (mark for mark, row in rows.items() if row == list(names))
    found = next(fitting, None)
    return "tab" if found == "\t" else found


def texts_of(keys: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the fields, for the keys of a spec."""
    null = keys.get("null") or ()
    columns = keys.get("columns") or {}
    as_text = [name for name, form in columns.items() if form in ("text", {"type": "text"})]
    return {
        "encoding": str(keys.get("encoding") or ""),
        "decimal": str(keys.get("decimal") or ""),
        "date_format": date_letters(str(keys.get("date_format") or "")),
        "null": "\n".join([null] if isinstance(null, str) else null),
        "sheet": str(keys.get("sheet") or ""),
        "skip_lines": str(keys.get("skip_lines") or ""),
        "delimiter": str(keys.get("delimiter") or "").replace("\t", "tab"),
        "columns": "\n".join(as_text),
    }


def keys_of(texts: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a spec for the texts of the fields; `before`: the keys whose columns have other types than text.

    >>> keys_of({"null": "k.A.\\nunbekannt", "decimal": ",", "date_format": "dd.mm.yy", "columns": "PLZ"}, {})
    {'decimal': ',', 'date_format': '%d.%m.%y', 'null': ['k.A.', 'unbekannt'], 'columns': {'PLZ': 'text'}}
    """
    stripped = {name: texts.get(name, "").strip() for name in READING}
    listed = {
        name: [line.strip() for line in stripped[name].splitlines() if line.strip()] for name in ("null", "columns")
    }
    other_types = {
        name: form for name, form in (before.get("columns") or {}).items() if form not in ("text", {"type": "text"})
    }
    keys = {
        "encoding": stripped["encoding"],
        "decimal": stripped["decimal"],
        "date_format": date_format(stripped["date_format"]),
        "null": listed["null"],
        "sheet": stripped["sheet"],
        "skip_lines": int(stripped["skip_lines"]) if stripped["skip_lines"].isdecimal() else 0,
        "delimiter": stripped["delimiter"],
        "columns": {**other_types, **dict.fromkeys(listed["columns"], "text")},
    }
    return {name: value for name, value in keys.items() if value}
