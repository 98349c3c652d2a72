"""Formats of identifiers: how to recognize a text by its form and, if it has one, its check digit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

from kanon_sql.risk.check_digits import is_card, is_health_card, is_iban, is_national_number, is_vin, luhn

Matches = Callable[[str], bool]
_ZIP = re.compile(r"(\d{0,5})(?:-(\d{4}))?[*xX]*")
_DATE = re.compile(
    r"(?P<y>\d{4})[-/.](?P<m>0?[1-9]|1[0-2])([-/.](?P<d>0?[1-9]|[12]\d|3[01]))?([ T]\d{1,2}:\d{2}.*)?"
    r"|(?P<a>0?[1-9]|[12]\d|3[01])[-/.](?P<b>0?[1-9]|[12]\d|3[01])[-/.]\d{2}(\d{2})?([ T]\d{1,2}:\d{2}.*)?"
)
_MAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
_URL = r"(https?://|ftp://|www\.)[^\s/]+\.[^\s]+"
_SSN = r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"
_PHONE_MARKED = (
    r"\+\d[\d ().-]{6,18}\d|\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b"
    r"|\b0\d{1,3}[ /-]\d{2,3}( \d{2,4}){1,3}\b|\b0\d{2,4}[ /-]\d{6,8}\b"
)
_PHONE = rf"{_PHONE_MARKED}|0\d{{1,4}}[ /-]\d{{5,9}}|0[1-9]\d{{8,9}}"
_NATIONAL = (
    r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]|\d{6}(\d{2})?[-+A]\d{3}[0-9A-Z]|\d{3}\.\d{3}\.\d{3}-\d{2}"
    r"|756\.\d{4}\.\d{4}\.\d{2}|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]|\d{8}-?[A-Z]|\d{17}[\dXx]"
)
_MEDICARE = (
    r"[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}"
)
_UUID = r"\{?[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\}?"


@dataclass(frozen=True)
class Format:
    """A format of an identifier of a kind.

    `sure`: one value is sufficient evidence; otherwise most values of a column must have the format. `inside`: whether
    a longer text contains one, None if that would be weak evidence.
    """

    name: str
    kind: str
    matches: Matches
    sure: bool = False
    inside: Matches | None = None


def is_network_address(text: str) -> bool:
    """Whether a text is an IPv4 or IPv6 address, with or without the length of its network."""
    if not 2 < len(text) < 50 or not (text.count(".") == 3 or text.count(":") > 1):
        return False
    try:
        ip_address(text.partition("/")[0])
    except ValueError:
        return False
    return True


def is_day(text: str) -> bool:
    """Whether a text is a date that is more precise than a year.

    >>> [is_day(text) for text in ("1970-01-31", "31.1.1970", "1/31/70", "1970-01", "1970", "1970-13-31")]
    [True, True, True, True, False, False]
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    numbers = [int(part) for part in match.groupdict().values() if part]
    return all(number >= 1 for number in numbers) and any(number <= 12 for number in numbers)


def is_year(text: str) -> bool:
    """Whether a label is at most as precise as a year, or a range of years.

    >>> [is_year(text) for text in ("1970", "[1970, 1980[", "*", "19700131", "3 May 1970")]
    [True, True, True, False, False]
    """
    return re.fullmatch(r"\D*((1[89]|20)\d\d(\D+|$)){0,2}", text) is not None


def leading_number(text: str) -> float | None:
    """The first number of a label, such as the lower bound of a range.

    >>> leading_number("[90, 95["), leading_number("90+"), leading_number("*")
    (90.0, 90.0, None)
    """
    match = re.search(r"\d+(\.\d+)?", text)
    return float(match[0]) if match else None


def whole_number(text: str) -> str:
    """A number without a zero fraction.

    >>> whole_number("2138.00"), whole_number("45.5")
    ('2138', '45.5')
    """
    return re.sub(r"\.0+$", "", text)


def zip_digits(text: str) -> int | None:
    """The number of digits of a ZIP code that a label shows, before hidden ones; None for other labels.

    >>> [zip_digits(text) for text in ("02138", "02138-1234", "021**", "021", "*", "Bern")]
    [5, 9, 3, 3, 0, None]
    """
    match = _ZIP.fullmatch(text)
    return len(match[1] + (match[2] or "")) if match else None


def _full(pattern: str, flags: int = 0) -> Matches:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.fullmatch(text) is not None


def _within(pattern: str, flags: int = 0) -> Matches:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.search(text) is not None


_NATIONAL_FORM = _full(_NATIONAL)
FORMATS = (
    Format("e-mail addresses", "e-mail addresses", _full(_MAIL), True, _within(_MAIL)),
    Format("web addresses", "URLs", _full(_URL, re.IGNORECASE), True, _within(_URL, re.IGNORECASE)),
    Format("network addresses", "IP addresses", is_network_address, True),
    Format("social security numbers", "social security numbers", _full(_SSN), True, _within(rf"\b{_SSN}\b")),
    Format("IBANs", "account numbers", is_iban, True),
    Format("MAC addresses", "device identifiers", _full(r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"), True),
    Format("UUIDs", "other unique numbers", _full(_UUID), True),
    Format("payment card numbers", "account numbers", is_card),
    Format("IMEIs", "device identifiers", lambda text: bool(re.fullmatch(r"\d{15}", text)) and luhn(text)),
    Format("vehicle identification numbers", "vehicle identifiers", is_vin),
    Format("Medicare numbers", "health plan numbers", _full(_MEDICARE)),
    Format("health card numbers", "health plan numbers", is_health_card),
    Format(
        "national identity numbers",
        "social security numbers",
        lambda text: _NATIONAL_FORM(text) or is_national_number(text),
    ),
    Format("dates", "dates", is_day),
    Format("telephone numbers", "telephone numbers", _full(_PHONE), False, _within(_PHONE_MARKED)),
)
