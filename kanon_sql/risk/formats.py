"""Formats of identifiers: what a text alone says of what it is, by its shape and, where there is one, a check digit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

Matches = Callable[[str], bool]


@dataclass(frozen=True)
class Format:
    """A way to write an identifier of a kind.

    `sure`: one value is enough to be told; others are when most values of a column are written so. `inside`: whether a
    longer text holds one, None where that would say too little.
    """

    name: str
    kind: str
    matches: Matches
    sure: bool = False
    inside: Matches | None = None


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B).

    >>> luhn("79927398713"), luhn("79927398710")
    (True, False)
    """
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


def is_iban(text: str) -> bool:
    """Whether a text is an account number with the check digits of ISO 13616.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    plain = text.replace(" ", "")
    if not _IBAN.fullmatch(plain):
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def is_vin(text: str) -> bool:
    """Whether a text is a vehicle's number with the check digit of 49 CFR 565.15(c).

    >>> is_vin("1M8GDM9AXKP042788"), is_vin("1M8GDM9A1KP042788")
    (True, False)
    """
    if not _VIN.fullmatch(text):
        return False
    rest = sum(weight * _VIN_VALUES[sign] for weight, sign in zip(_VIN_WEIGHTS, text, strict=True)) % 11
    return text[8] == ("X" if rest == 10 else str(rest))


def is_card(text: str) -> bool:
    """Whether a text is a payment card's number: 13 to 19 digits, a network's first digit, and Luhn's check digit."""
    digits = re.sub(r"[ -]", "", text)
    return bool(_CARD.fullmatch(text)) and luhn(digits)


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
    """Whether a text is a date that says more than its year.

    >>> [is_day(text) for text in ("1970-01-31", "31.1.1970", "1/31/70", "1970-01", "1970", "1970-13-31")]
    [True, True, True, True, False, False]
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    numbers = [int(part) for part in match.groupdict().values() if part]
    return all(number >= 1 for number in numbers) and any(number <= 12 for number in numbers)


def is_year(text: str) -> bool:
    """Whether a label says no more of a date than a year, or a range of them.

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
    """A number without the zeros of a fraction that it does not have.

    >>> whole_number("2138.00"), whole_number("45.5")
    ('2138', '45.5')
    """
    return re.sub(r"\.0+$", "", text)


def zip_digits(text: str) -> int | None:
    """How many digits of a ZIP code a label shows: at its beginning, before what hides the others; None of no code.

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


_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_CARD = re.compile(r"[2-6]\d{3}([ -]?\d{4}){2}[ -]?\d{1,4}([ -]?\d{1,3})?|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}")
_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}")
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
_VIN_VALUES |= {str(digit): digit for digit in range(10)}
_ZIP = re.compile(r"(\d{0,5})(?:-(\d{4}))?[*xX]*")
_DATE = re.compile(
    r"(?P<y>\d{4})[-/.](?P<m>0?[1-9]|1[0-2])([-/.](?P<d>0?[1-9]|[12]\d|3[01]))?([ T]\d{1,2}:\d{2}.*)?"
    r"|(?P<a>0?[1-9]|[12]\d|3[01])[-/.](?P<b>0?[1-9]|[12]\d|3[01])[-/.]\d{2}(\d{2})?([ T]\d{1,2}:\d{2}.*)?"
)
_MAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
_URL = r"(https?://|ftp://|www\.)[^\s/]+\.[^\s]+"
_SSN = r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"
_PHONE_MARKED = r"\+\d[\d ().-]{6,18}\d|\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b"
_PHONE = rf"{_PHONE_MARKED}|0\d{{1,4}}[ /-]\d{{5,9}}|0[1-9]\d{{8,9}}"
_NATIONAL = (
    r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]|\d{6}(\d{2})?[-+A]\d{3}[0-9A-Z]|\d{3}\.\d{3}\.\d{3}-\d{2}"
    r"|756\.\d{4}\.\d{4}\.\d{2}|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]|\d{8}-?[A-Z]|\d{17}[\dXx]"
)
_MEDICARE = (
    r"[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}"
)
_UUID = r"\{?[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\}?"

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
    Format("national identity numbers", "social security numbers", _full(_NATIONAL)),
    Format("dates", "dates", is_day),
    Format("telephone numbers", "telephone numbers", _full(_PHONE), False, _within(_PHONE_MARKED)),
)
