"""Identifiers of the eighteen kinds that HIPAA lists: by a column's name, by the format of its values, by its content.

45 CFR 164.514(b)(2)(i), (A) to (R). The results contain columns, kinds and rows, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from kanon_sql.engine import Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER, folded, name_phrases, name_words, words
from kanon_sql.queries import Relation
from kanon_sql.risk.formats import FORMATS, is_year, leading_number, whole_number, zip_digits
from kanon_sql.risk.roles import FREE_TEXT_CHARACTERS, FREE_TEXT_DIFFERENT, FREE_TEXT_WORDS
from kanon_sql.risk.single_columns import MANY_ROWS, ColumnCounts, count_column

KINDS: Mapping[str, str] = {
    "names": "A",
    "geographic areas": "B",
    "dates": "C",
    "telephone numbers": "D",
    "fax numbers": "E",
    "e-mail addresses": "F",
    "social security numbers": "G",
    "medical record numbers": "H",
    "health plan numbers": "I",
    "account numbers": "J",
    "certificate or license numbers": "K",
    "vehicle identifiers": "L",
    "device identifiers": "M",
    "URLs": "N",
    "IP addresses": "O",
    "biometric identifiers": "P",
    "photographs": "Q",
    "other unique numbers": "R",
}
OLD = 90  # years, from which on Safe Harbor requires one group
_MOST_VALUES = 5_000  # distinct values of a column that are examined
_READ_ROWS = 100_000  # from which these values are chosen, if hardly any rows have equal ones
_HARDLY_EQUAL = 0.5  # distinct values per row, above which the values of a column are not kept
_FEWEST = 20  # rows below which distinct values mean nothing
_MOSTLY = 0.5  # minimum share of the rows with a value, for a format that can also occur by chance
_LEAST_VALUES = 3  # of such a format, or under a name; fewer values are codes of something else
ValueCount = tuple[str, int]  # and its rows
_DIFFERS = "differs in nearly every row"
_SHORT, _LONG = 5, 8  # characters of a text that can contain something; digits of a number with a check digit
_FEWEST_NAMES, _MOSTLY_NAMES = 10, 0.6  # distinct names of people; of the distinct values
_ZIP_PART, _ZIP_WHOLE = 3, 5  # digits of a ZIP code that Safe Harbor allows, and all digits
_ALONE = {
    "name": "names",
    "address": "geographic areas",
    "street": "geographic areas",
    "mail": "e-mail addresses",
    "ip": "IP addresses",
    "account": "account numbers",
    "device": "device identifiers",
    "serial": "device identifiers",
}
_MOST_WORDS = 5
_PARTICLES = words("van von der den de di da do dos del della du la le el al bin ibn ben y e zu zur ten ter")
_TITLED = re.compile(
    r"(Dr|Prof|PD|Mr|Mrs|Ms|Herr|Frau|Mme|Mlle|Sig|Sigra|Sr|Sra|Dott|Dhr|Mevr|Pan|Pani|Ing|Drs)\.?"
    r"(\s+[A-Za-z]{1,5}\.)*(\s+[A-ZÀ-ÖØ-ÞŁŚŻŹĆČŠŽ][\w'-]*)+"
)


@dataclass(frozen=True)
class Identifier:
    """A column that identifies people, or contains texts that do.

    `kind`: one of `KINDS`; `letter`: HIPAA's. `how`: by `name`, `format`, or `content`; `said`: the evidence, as the
    end of "the column …". `rows`: with such a value; an estimate if `sampled`.
    """

    column: str
    kind: str
    how: str
    said: str
    rows: int
    share: float
    sampled: bool = False

    @property
    def letter(self) -> str:
        """The letter of the kind in HIPAA's list."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class Ages:
    """A column of ages: the rows and the different values of 90 years and more."""

    column: str
    rows: int
    values: int
    sampled: bool = False


@dataclass(frozen=True)
class Zips:
    """A column of ZIP codes: the most digits that a value shows, and the rows of areas with few people."""

    column: str
    digits: int
    rare_rows: int
    sampled: bool = False


@dataclass(frozen=True)
class Contents:
    """The identifiers, ages and ZIP codes found in a table."""

    identifiers: tuple[Identifier, ...] = ()
    ages: tuple[Ages, ...] = ()
    zips: tuple[Zips, ...] = ()


def examine_columns(
    tables: Scratch, table: Table, source: Relation, rows: int, stage: Callable[[str], None]
) -> tuple[list[ColumnCounts], Contents]:
    """Count all columns of a table with rows, and examine some values of each; `source`: the table, or a copy of it.

    `stage` is told the number of every column. The values of a column are kept in a table, unless hardly any rows have
    equal ones.
    """
    counted: list[ColumnCounts] = []
    identifiers: list[Identifier] = []
    ages: list[Ages] = []
    zips: list[Zips] = []
    for order, column in enumerate(table.columns):
        stage(f"Counting column {order + 1} of {len(table.columns)}")
        counts = count_column(tables, column, order, source, rows)
        examined = _ExaminedColumn(counts, _sampled(tables, counts, source))
        identifiers += examined.identifiers()
        ages += examined.ages()
        zips += examined.zips()
        if counts.values and counts.counts.distinct > _HARDLY_EQUAL * rows:
            tables.drop(counts.values)
            counts = replace(counts, values=None)
        counted.append(counts)
    return counted, Contents(tuple(identifiers), tuple(ages), tuple(zips))


def _sampled(tables: Scratch, counts: ColumnCounts, source: Relation) -> list[ValueCount]:
    """Some distinct values of a column that can contain identifiers, ages or ZIP codes, with their rows.

    They are those with the lowest digests; if hardly any rows of a large table have equal values, in some of its rows.
    """
    is_age = bool(name_phrases(counts.name) & _AGES)
    whole = counts.column.kind in ("decimal", "float") and (not counts.fractions or is_age)
    if counts.counted is None or not (counts.column.kind in ("text", "integer") or whole):
        return []
    read = whole_number if whole else str.strip
    values = counts.values
    is_large = tables.engine.is_embedded and counts.rows >= MANY_ROWS
    if values is None or (is_large and counts.counts.distinct > _HARDLY_EQUAL * counts.rows):
        one_of = max(1, counts.rows // _READ_ROWS)
        holes: dict[str, Any] = {"columns": {"value": "value_0"}, "values": {"value_0": counts.name}, "source": source}
        rows = tables.create("some_rows", "profile/sample", one_of=one_of, **holes)
        values = tables.create("some_values", "profile/numbered_values", column=["value"], source=rows)
    sampled = tables.rows("risk/values", values=values, most=_MOST_VALUES)
    return [(read(value), int(n)) for value, n in sampled]


class _ExaminedColumn:
    """One column, and some of its values."""

    def __init__(self, counts: ColumnCounts, values: Sequence[ValueCount]) -> None:
        self._counts, self._values = counts, values
        self._seen = sum(n for _, n in values)
        self._filled = counts.rows - counts.counted.null_rows if counts.counted else counts.rows
        self._phrases = name_phrases(counts.name)

    @property
    def _sampled(self) -> bool:
        return self._seen < self._filled

    def identifiers(self) -> Iterator[Identifier]:
        """The identifiers in the column: by format or name, otherwise by content; and inside its texts."""
        found = [*self._by_format(), *self._by_type(), *self._people()]
        kinds = {identifier.kind for identifier in found}
        found += [identifier for identifier in self._by_name() if identifier.kind not in kinds]
        yield from found or self._by_content()

    def ages(self) -> Iterator[Ages]:
        if not self._phrases & _AGES or not self._values:
            return
        old = [n for text, n in self._values if (leading_number(text) or 0) >= OLD]
        yield Ages(self._counts.name, self._rows(sum(old)), len(old), self._sampled)

    def zips(self) -> Iterator[Zips]:
        if not self._is_zip:
            return
        rare = sum(n for text, n, shown in self._digits if shown >= _ZIP_PART and text[:_ZIP_PART] in RARE_ZIPS)
        most = max(shown for *_, shown in self._digits)
        yield Zips(self._counts.name, most, self._rows(rare), self._sampled)

    @property
    def _digits(self) -> list[tuple[str, int, int]]:
        """Values, their rows, and the shown digits of a ZIP code; numbers have lost leading zeros."""
        longest = max((len(text) for text, _ in self._values), default=0)
        width = _ZIP_WHOLE if self._counts.column.kind != "text" and longest > _ZIP_PART else 0
        return [(text.zfill(width), n, zip_digits(text.zfill(width)) or 0) for text, n in self._values]

    @property
    def _is_zip(self) -> bool:
        """Whether its name and most of its values suggest ZIP codes."""
        codes = sum(n for text, n in self._values if zip_digits(text) is not None)
        return bool(self._phrases & _ZIPS) and codes > _MOSTLY * self._seen

    def _by_format(self) -> Iterator[Identifier]:
        able = self._counts.column.kind == "text" or any(len(text) >= _LONG for text, _ in self._values)
        for form in FORMATS if able else ():
            matched = [n for text, n in self._values if form.matches(text)]
            mostly = len(matched) >= _LEAST_VALUES and sum(matched) > _MOSTLY * self._seen
            if mostly or (form.sure and matched):
                yield self._identifier(form.kind, "format", f"contains {form.name}", sum(matched))
            elif form.inside:
                within = sum(n for text, n in self._values if len(text) > _SHORT and form.inside(text))
                if within:
                    yield self._identifier(form.kind, "content", f"contains {form.name} inside its texts", within)

    def _people(self) -> Iterator[Identifier]:
        """Names of people: most of its values, if there are enough different ones, or with titles."""
        if self._counts.column.kind != "text" or self._counts.hint == QUASI_IDENTIFIER:
            return
        for matches, fewest in ((_is_name, _FEWEST_NAMES), (_is_titled, _LEAST_VALUES)):
            matched = [(text, n) for text, n in self._values if matches(text)]
            if len(matched) >= max(fewest, _MOSTLY_NAMES * len(self._values)):
                yield self._identifier("names", "format", "contains names of people", sum(n for _, n in matched))
                return

    def _by_type(self) -> Iterator[Identifier]:
        counts = self._counts
        if counts.column.kind in ("date", "timestamp") and self._filled and counts.counts.distinct > 1:
            yield self._identifier("dates", "format", "contains dates", self._filled)
        elif counts.column.type.upper() == "UUID":
            yield self._identifier("other unique numbers", "format", "contains UUIDs", self._filled)

    def _by_name(self) -> Iterator[Identifier]:
        """The kind that its name suggests, if it has enough different values."""
        kind = named_kind(self._counts.name)
        if kind is None and self._counts.counted and self._counts.hint == IDENTIFIER:
            kind = "other unique numbers"
        if kind is None or not self._able(kind) or self._is_coarse(kind):
            return
        yield self._identifier(kind, "name", "has the name of such a column", self._filled)

    def _is_coarse(self, kind: str) -> bool:
        """Whether its values are generalized enough for Safe Harbor."""
        if kind == "dates" and self._values:
            return all(is_year(text) for text, _ in self._values)
        return self._is_zip and max(digits for _, _, digits in self._digits) <= _ZIP_PART

    def _able(self, kind: str) -> bool:
        counts = self._counts
        if counts.counted is None:
            return kind in ("photographs", "biometric identifiers", "other unique numbers")
        distinct = counts.counts.distinct
        if kind == "geographic areas":  # also coordinates
            return counts.column.kind in ("text", "integer", "decimal", "float") and distinct >= _LEAST_VALUES
        able = counts.column.kind == "text" or (counts.column.kind in ("integer", "decimal") and not counts.fractions)
        return able and distinct >= max(_LEAST_VALUES, min(100, counts.rows / 50))

    def _by_content(self) -> Iterator[Identifier]:
        counts = self._counts
        if counts.rows < _FEWEST:
            return
        kind = "other unique numbers"
        texts = [text for text, _ in self._values] if counts.column.kind == "text" else []
        characters = sum(map(len, texts))
        all_words = sum(len(text.split()) for text in texts)
        different = counts.counts.distinct >= FREE_TEXT_DIFFERENT * self._filled
        long = characters >= FREE_TEXT_CHARACTERS * len(texts) and all_words >= FREE_TEXT_WORDS * len(texts)
        if texts and different and long:
            yield self._identifier(kind, "content", "is free text, which may name anybody", self._filled)
        elif counts.role == IDENTIFIER:
            yield self._identifier(kind, "content", _DIFFERS, counts.counts.unique_values, exact=True)

    def _rows(self, seen: int) -> int:
        """The rows of the table, extrapolated from the examined values."""
        return round(seen * self._filled / self._seen) if self._sampled and self._seen else seen

    def _identifier(self, kind: str, how: str, evidence: str, rows: int, exact: bool = False) -> Identifier:
        counted = exact or rows == self._filled
        total = rows if counted else self._rows(rows)
        sampled = self._sampled and not counted
        return Identifier(self._counts.name, kind, how, evidence, total, total / self._counts.rows, sampled)


def evidence_of(found: Sequence[Identifier]) -> str:
    """Why a column is an identifier by its values, as the end of "the column …"; otherwise empty."""
    for identifier in found:
        if identifier.how != "name" and identifier.kind != "dates" and identifier.said != _DIFFERS:
            return identifier.said
    return ""


def named_kind(name: str) -> str | None:
    """The kind of identifier that a column's name suggests.

    >>> [named_kind(name) for name in ("SSN", "E-Mail", "home_address", "admission date", "age", "name", "hostname")]
    ['social security numbers', 'e-mail addresses', 'geographic areas', 'dates', None, 'names', None]
    """
    if alone := _ALONE.get(" ".join(name_words(name))):
        return alone
    phrases = name_phrases(name)
    return next((kind for kind, hints in _NAMED.items() if phrases & hints), None)


_AGES = words("age patientage ageyear")
_ZIPS = words("zip zipcode postalcode postal postcode")
_NAMED: Mapping[str, frozenset[str]] = {
    "fax numbers": words("fax faxnumber faxno"),
    "e-mail addresses": words("email emailaddress mailaddress"),
    "URLs": words("url website homepage webpage weblink"),
    "IP addresses": words("ipaddress ipaddr ipv"),
    "names": words(
        "surname forename firstname lastname middlename fullname givenname familyname maidenname nickname "
        "patientname personname customername clientname username membername employeename studentname"
    ),
    "social security numbers": words("ssn socialsecurity nationalid nationalinsurance nino insee ahv"),
    "medical record numbers": words("mrn medicalrecord recordnumber chartnumber patientid patientno patientnumber"),
    "health plan numbers": words(
        "healthplan beneficiary beneficiaryid memberid insuranceid insurancenumber policynumber hicn mbi"
    ),
    "account numbers": words("accountnumber accountno accountid iban creditcard cardnumber bankaccount"),
    "certificate or license numbers": words(
        "licensenumber licencenumber licenseno driverslicense driverlicense passport passportnumber certificatenumber"
    ),
    "vehicle identifiers": words("vin licenseplate numberplate plate platenumber vehicleid registrationplate"),
    "device identifiers": words("deviceid serialnumber serialno imei udi macaddress"),
    "biometric identifiers": words("fingerprint voiceprint retina biometric irisscan faceprint"),
    "photographs": words("photo photograph portrait mugshot facephoto faceimage"),
    "telephone numbers": words("phone telephone mobile cellphone phonenumber tel"),
    "dates": words(
        "dob birthdate birthday dateofbirth deathdate admissiondate dischargedate admitdate visitdate servicedate "
        "ofbirth ofdeath ofadmission ofdischarge"
    ),
    "geographic areas": words(
        "streetaddress homeaddress postaladdress zip zipcode postcode postal postalcode plz city town village county "
        "municipality district precinct parish latitude lat longitude lon lng geocode tract"
    ),
    "other unique numbers": words(
        "userid customerid clientid personid employeeid employeenumber studentid staffid subjectid citizenid login "
        "uuid guid"
    ),
}
# The three-digit prefixes of areas with 20,000 people or fewer, by the Census of 2000; see docs/risk.md.
RARE_ZIPS = words("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893")


# Names of people, by a list of first names and surnames, or by a title in front


def _is_name(text: str) -> bool:
    """Whether every word of a text is a first name, a surname, or a particle or an initial between them.

    >>> [_is_name(text) for text in ["Käthi", "Meier-Müller, Urs", "Anna M. van Dijk", "Zürich", "nurse", "Dr. Oz"]]
    [True, True, True, False, False, False]
    """
    parts = [word for word in re.split(r"[\s,.'-]+", text) if word]
    if not 1 <= len(parts) <= _MOST_WORDS or not parts[0][0].isalpha():
        return False
    plain = [word for word in parts if len(word) > 1 and word.lower() not in _PARTICLES]
    return bool(plain) and all(word[0].isupper() and folded(word).lower() in _names() for word in plain)


def _is_titled(text: str) -> bool:
    """Whether a text is a title and a name.

    >>> [_is_titled(text) for text in ("Dr. med. Oz", "Mme Duval", "Prof. X", "Dr.", "Drs", "Mr and Mrs")]
    [True, True, True, False, False, False]
    """
    return _TITLED.fullmatch(text) is not None


@cache
def _names() -> frozenset[str]:
    lines = Path(__file__).with_name("names.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
