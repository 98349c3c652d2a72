"""What a column's name says of the column, in English."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

IDENTIFIER, QUASI_IDENTIFIER = "identifier", "quasi-identifier"
SENSITIVE, MEASURE, NOTHING = "sensitive", "measure", ""


def name_hint(name: str) -> str:
    """What a column's name says in English: identifier, quasi-identifier, sensitive, measure, or nothing.

    >>> [name_hint(name) for name in ("SSN", "birthDate", "zip_5", "ICD code", "total charges", "stage")]
    ['identifier', 'quasi-identifier', 'quasi-identifier', 'sensitive', 'measure', '']
    """
    said = said_by(name)
    if name_words(name) in (["name"], ["address"], ["street"]):
        return IDENTIFIER
    return next((role for role, hints in _HINTS.items() if said & hints), NOTHING)


def tells_people_apart(name: str) -> bool:
    """Whether a column's name says that equal values are one person: a key of people, or the word for them alone.

    >>> [tells_people_apart(name) for name in ("patient_id", "Customer", "ssn", "surname", "visit_id", "user type")]
    [True, True, True, False, False, False]
    """
    return bool(said_by(name) & _KEYS) or (len(name_words(name)) == 1 and bool(said_by(name) & _PERSONS))


def name_words(name: str) -> list[str]:
    """The words of a column's name, in small letters.

    >>> name_words("birthDate_2")
    ['birth', 'date']
    """
    return [word.lower() for word in _WORD.findall(unicodedata.normalize("NFKD", name))]


def said_by(name: str) -> set[str]:
    """All words of a name, and pairs of neighbours as one word; each without a plural's s too."""
    words = name_words(name)
    said = {*words, *(first + second for first, second in pairwise(words))}
    return said | {word.removesuffix("s") for word in said}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PERSONS = _words("patient person people customer client user employee member staff student subject citizen")
_KEYS = _words("ssn socialsecurity mrn passport email mail username login").union(
    person + key for person in _PERSONS for key in ("id", "no", "nr", "number", "key")
)
_HINTS = {
    IDENTIFIER: _words(
        "phone telephone mobile fax iban surname forename "
        "firstname lastname middlename fullname givenname familyname maidenname "
        "streetaddress homeaddress ipaddress creditcard accountnumber licensenumber licenseplate"
    ).union(_KEYS, (person + "name" for person in _PERSONS)),
    QUASI_IDENTIFIER: _words(
        "age birth birthday birthdate birthyear dob born sex gender race ethnicity ethnic zip zipcode postcode "
        "postal plz country nationality citizenship native city town county state region province municipality "
        "district latitude lat longitude lon lng marital education occupation profession job religion language"
    ),
    SENSITIVE: _words(
        "diagnosis diagnose diagnoses disease illness condition symptom icd medication drug treatment therapy "
        "prescription hiv disability salary income wage earning sexual orientation political conviction"
    ),
    MEASURE: _words("amount charge cost price fee balance payment revenue score weight"),
}
