"""Names of keys: which table or key a column refers to, by its name."""

from __future__ import annotations

import re

from kanon_sql.hints import folded, identifies_people, name_words, words

SAME, SIMILAR, OTHER = 3, 2, 0
_KEY = words(
    "id ids nr no num number nummer numero numer key pk fk sk code kennung codigo codice uid uuid guid ref oid"
)
_SUFFIX = re.compile(r"(?<=\w{3})(id|ids|nr|no|num|number|nummer|key|code|uid|uuid|guid)$")
_ENDINGS = ("", "s", "es", "e", "n", "en", "is", "ies", "y")
_LEAST_COMMON = 3  # letters


def subject(name: str) -> list[str]:
    """The words of the name of a key without those for keys: what it is a key of.

    >>> subject("visit_occurrence_id"), subject("PatientenNr"), subject("patientid"), subject("id")
    (['visit', 'occurrence'], ['patienten'], ['patient'], [])
    """
    found = [word for word in name_words(name) if word not in _KEY]
    if found and found == name_words(name):
        found[-1] = _SUFFIX.sub("", found[-1])
    return found


def looks_like_key(name: str) -> bool:
    """Whether a column is called like a key: by a word for keys, or by a word for people.

    >>> [looks_like_key(name) for name in ("visit_id", "caseid", "patient", "ward", "note")]
    [True, True, True, False, False]
    """
    return subject(name) != name_words(name) or identifies_people(name)


def likeness(column: str, table: str, key: str) -> int:
    """How far the name of a column says that it refers to a table by its key: SAME, SIMILAR or OTHER.

    >>> likeness("patient_id", "patients", "id"), likeness("ward_no", "stations", "ward_no")
    (3, 3)
    >>> likeness("referring_patient_id", "patients", "id"), likeness("customer", "people", "person_id")
    (2, 2)
    >>> likeness("id", "patients", "id"), likeness("visit_id", "patients", "id")
    (0, 0)
    """
    about = subject(column)
    if not about:
        return OTHER
    of_table, of_key = name_words(table), subject(key)
    if folded(column).lower() == folded(key).lower() or _alike(about, of_table) or _alike(about, of_key):
        return SAME
    longer = any(_ends(about, other) or _ends(other, about) for other in (of_table, of_key) if other)
    if longer or (identifies_people(column) and is_of_people(table, key)):
        return SIMILAR
    return OTHER


def is_of_people(table: str, key: str) -> bool:
    """Whether a table is called like one of people, or its key is.

    >>> is_of_people("patients", "id"), is_of_people("t1", "customer_id"), is_of_people("patient_visits", "visit_id")
    (True, True, False)
    """
    return any(identifies_people(word) for word in name_words(table)[-1:]) or identifies_people(key)


def _alike(first: list[str], second: list[str]) -> bool:
    """Whether both are the same words, apart from the ending of a plural."""
    one, other = "".join(first), "".join(second)
    shorter = min(len(one), len(other))
    common = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    plural = common >= _LEAST_COMMON and one[common:] in _ENDINGS and other[common:] in _ENDINGS
    return bool(one and other) and (one == other or plural)


def _ends(longer: list[str], shorter: list[str]) -> bool:
    """Whether one name ends in another."""
    size = len(shorter)
    return size < len(longer) and _alike(longer[-size:], shorter)
