"""Numbers of people and things with check digits, recognized by the rules of their issuers.

Random digits sometimes satisfy a rule (1 in 10 or 1 in 97), so a column is recognized only if most of its values do.
Spaces, dots, dashes and slashes between digits are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_BETWEEN = re.compile(r"(?<=\w)[ ./-](?=\w)")
_MONTH, _DAY = r"(0[1-9]|1[0-2])", r"(0[1-9]|[12]\d|3[01])"
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_CARD = re.compile(r"[2-6]\d{3}([ -]?\d{4}){2}[ -]?\d{1,4}([ -]?\d{1,3})?|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}")
_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}")
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B).

    >>> luhn("79927398713"), luhn("79927398710")
    (True, False)
    """
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0


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
    remainder = sum(weight * _VIN_VALUES[sign] for weight, sign in zip(_VIN_WEIGHTS, text, strict=True)) % 11
    return text[8] == ("X" if remainder == 10 else str(remainder))


def is_card(text: str) -> bool:
    """Whether a text is a payment card's number: 13 to 19 digits, a network's first digit, and Luhn's check digit."""
    return bool(_CARD.fullmatch(text)) and luhn(re.sub(r"[ -]", "", text))


def is_health_card(text: str) -> bool:
    """Whether a text is the number of a health insurance card: 80 for health, 20 digits (EN 1867).

    >>> is_health_card("80756981862763905016"), is_health_card("90756981862763905016")
    (True, False)
    """
    return re.fullmatch(r"80\d{18}", text) is not None


def is_national_number(text: str) -> bool:
    """Whether a text is a person's number of one of the countries below, check digit included.

    >>> [is_national_number(text) for text in ("756.9217.0769.85", "1 85 05 78 006 084 91", "12345678Z", "12345678A")]
    [True, True, True, False]
    """
    plain = _BETWEEN.sub("", text.upper())
    return any(pattern.fullmatch(plain) and valid(plain) for pattern, valid in _NATIONAL)


def _swiss(text: str) -> bool:
    """AHV, AVS: 756, with the check digit of an EAN-13."""
    return _weighted(text, (1, 3) * 6 + (1,)) % 10 == 0


def _french(text: str) -> bool:
    """NIR: 13 digits, and 97 minus their remainder modulo 97; Corsica's 2A and 2B count as 19 and 18."""
    number = text[:13].replace("2A", "19").replace("2B", "18")
    return number.isdigit() and 97 - int(number) % 97 == int(text[13:])


def _german(text: str) -> bool:
    """Steuerliche Identifikationsnummer: ISO 7064, MOD 11,10; one of the first ten digits occurs two or three times."""
    if len(set(text[:10])) not in (8, 9):
        return False
    product = 10
    for digit in text[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(text[-1])


def _spanish(text: str) -> bool:
    """DNI and NIE: the letter of the remainder modulo 23; X, Y and Z count as 0, 1 and 2."""
    number = int(text[:-1].translate(str.maketrans("XYZ", "012")))
    return text[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


def _italian(text: str) -> bool:
    """Codice fiscale: the letter of the sum of the characters' values, which differ at odd places."""
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    values = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in text[:15]]
    total = sum(value if place % 2 else odd[value] for place, value in enumerate(values))
    return text[15] == chr(ord("A") + total % 26)


def _dutch(text: str) -> bool:
    """BSN: the eleven-test."""
    return int(text) > 0 and _weighted(text, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _belgian(text: str) -> bool:
    """Rijksregisternummer: 97 minus the remainder modulo 97; for births since 2000, with a 2 before the number."""
    number, check = text[:9], int(text[9:])
    return check in (97 - int(number) % 97, 97 - int("2" + number) % 97)


def _polish(text: str) -> bool:
    """PESEL: weights 1, 3, 7, 9."""
    return _weighted(text, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def _portuguese(text: str) -> bool:
    """NIF: the remainder modulo 11, with the weights 9 to 2."""
    return _check_digit_modulo_11(text[:8], (9, 8, 7, 6, 5, 4, 3, 2)) == int(text[8])


def _brazilian(text: str) -> bool:
    """CPF: two check digits, both by the remainder modulo 11."""
    first = _check_digit_modulo_11(text[:9], range(10, 1, -1)) == int(text[9])
    return first and len(set(text)) > 1 and _check_digit_modulo_11(text[:10], range(11, 1, -1)) == int(text[10])


def _british(text: str) -> bool:
    """NHS number: the sum with the weights 10 to 1 is a multiple of 11."""
    return int(text) > 0 and _weighted(text, range(10, 0, -1)) % 11 == 0


def _austrian(text: str) -> bool:
    """Sozialversicherungsnummer: the fourth digit is the check digit; the last six are a birth date."""
    remainder = _weighted(text, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11
    return remainder == int(text[3]) and 1 <= int(text[4:6]) <= 31 and 1 <= int(text[6:8]) <= 15


def _swedish(text: str) -> bool:
    """Personnummer: Luhn's check digit of the last ten digits, six of which are a birth date."""
    last = text[-10:]
    return 1 <= int(last[2:4]) <= 12 and 1 <= int(last[4:6]) % 60 <= 31 and luhn(last)


def _weighted(text: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(text, weights, strict=True))


def _check_digit_modulo_11(text: str, weights: Sequence[int]) -> int:
    digit = 11 - _weighted(text, weights) % 11
    return 0 if digit >= 10 else digit


_NATIONAL = tuple(
    (re.compile(pattern), valid)
    for pattern, valid in (
        (r"756\d{10}", _swiss),
        (r"[1-478]\d{4}(\d{2}|2[AB])\d{8}", _french),
        (r"[1-9]\d{10}", _german),
        (r"[XYZ]?\d{7,8}[A-Z]", _spanish),
        (r"[A-Z]{6}\d{2}[ABCDEHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", _italian),
        (r"\d{9}", _dutch),
        (rf"\d{{2}}{_MONTH}{_DAY}\d{{5}}", _belgian),
        (r"\d{2}([02468][1-9]|[13579][0-2])" + _DAY + r"\d{5}", _polish),
        (r"[1-3]\d{8}", _portuguese),
        (r"\d{11}", _brazilian),
        (r"\d{10}", _british),
        (r"[1-9]\d{9}", _austrian),
        (r"(19|20)?\d{10}", _swedish),
    )
)
_VIN_VALUES |= {str(digit): digit for digit in range(10)}
