"""Identifiers by name, format and content: planted ones are found, and lookalikes are left alone."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.risk.check_digits import is_national_number, luhn
from kanon_sql.risk.formats import FORMATS
from kanon_sql.risk.identifiers import KINDS, Contents, Zips, examine_columns, named_kind
from kanon_sql.risk.norms import Norm, norms
from support.data import DATA, needs
from support.database import create_table

ROWS = 40


def look(engine: Engine, columns: dict[str, tuple[str, Sequence[Any]]]) -> Contents:
    types = {name: kind for name, (kind, _) in columns.items()}
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    table = create_table(engine, "t", types, rows)
    with Scratch(engine, "test") as tables:
        return examine_columns(tables, table, table.relation, len(rows), lambda _: None)[1]


def identified(seen: Contents) -> dict[str, tuple[str, str, int]]:
    return {identifier.column: (identifier.letter, identifier.how, identifier.rows) for identifier in seen.identifiers}


def texts(*some: str) -> tuple[str, list[str]]:
    return "VARCHAR", [some[place % len(some)] for place in range(ROWS)]


def numbered(form: str) -> tuple[str, list[str]]:
    return "VARCHAR", [form.format(place) for place in range(ROWS)]


def with_check_digit(stem: str) -> str:
    return next(stem + digit for digit in "0123456789" if luhn((stem + digit).replace(" ", "")))


PLANTED = {
    "c1": (numbered("p{}@example.org"), "F"),
    "c2": (numbered("https://example.org/{}"), "N"),
    "c3": (numbered("10.0.0.{}"), "O"),
    "c4": (numbered("2001:db8::{}"), "O"),
    "c5": (numbered("078-05-11{:02}"), "G"),
    "c6": (texts("GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"), "J"),
    "c7": (("VARCHAR", [with_check_digit(f"4111 1111 1111 {place:03}") for place in range(ROWS)]), "J"),
    "c8": (numbered("00:1b:44:11:3a:{:02}"), "M"),
    "c9": (("VARCHAR", [with_check_digit(f"35209900176{place:03}") for place in range(ROWS)]), "M"),
    "d1": (texts("1M8GDM9AXKP042788", "1HGCM82633A004352", "11111111111111111"), "L"),
    "d2": (numbered("1EG4-TE5-MK{:02}"), "I"),
    "d3": (numbered("+41 31 555 10 {:02}"), "D"),
    "d4": (numbered("2025-03-{:02}"), "C"),
    "d5": (("DATE", [f"2025-0{1 + place % 9}-01" for place in range(ROWS)]), "C"),
    "d6": (numbered("123e4567-e89b-12d3-a456-4266141740{:02}"), "R"),
    "d7": (("INTEGER", range(ROWS)), "R"),
    "d8": (numbered("the patient came back after {} days and was sent home"), "R"),
    "d9": (numbered("K{}"), "R"),
    "surname": (numbered("Miller {}"), "A"),
    "home_address": (numbered("{} Main Street"), "B"),
    "city": (texts("Bern", "Thun", "Graz"), "B"),
    "latitude": (("DOUBLE PRECISION", [46 + place / 7 for place in range(ROWS)]), "B"),
    "fax": (numbered("555 01 {:02}"), "E"),
    "MRN": (("INTEGER", [place // 2 for place in range(ROWS)]), "H"),
    "member id": (numbered("M{}"), "I"),
    "accountNumber": (("INTEGER", [place // 2 for place in range(ROWS)]), "J"),
    "passport": (numbered("X{}"), "K"),
    "license plate": (numbered("BE {}"), "L"),
    "serial_number": (numbered("S{}"), "M"),
    "fingerprint": (numbered("{:x}"), "P"),
    "photo": (numbered("{}.jpg"), "Q"),
    "date of birth": (("INTEGER", [19700101 + place for place in range(ROWS // 2)] * 2), "C"),
    "customer key": (("INTEGER", [place // 2 for place in range(ROWS)]), "R"),
}


def test_planted_findings_are_found(engine: Engine) -> None:
    planted = {name: column for name, (column, _) in PLANTED.items() if not name.startswith("d4")}
    planted["d4"] = "VARCHAR", [f"2025-03-{1 + place % 28:02}" for place in range(ROWS)]
    seen = identified(look(engine, planted))
    assert {name: letter for name, (letter, _, _) in seen.items()} == {
        name: letter for name, (_, letter) in PLANTED.items()
    }
    assert {rows for _, _, rows in seen.values()} == {ROWS}
    assert {letter for letter, _, _ in seen.values()} == set(KINDS.values())


PERSONS = {  # examples with valid check digits, none of a person
    "CH": "756.9217.0769.85", "FR": "2 55 08 14 168 025 38", "DE": "86095742719", "ES": "12345678Z", "NIE": "X1234567L",
    "IT": "MRTMTT91D08F205J", "NL": "111222333", "BE": "93.05.18-223.61", "PL": "44051401359", "PT": "123456789",
    "BR": "111.444.777-35", "GB": "943 476 5919", "AT": "1237 010180", "SE": "811218-9876",
}  # fmt: skip


@pytest.mark.parametrize("country", PERSONS)
def test_a_person_number_is_recognized_by_its_check_digit(country: str) -> None:
    number = PERSONS[country]
    assert is_national_number(number)
    if country in ("ES", "NIE", "IT"):
        wrong = [number[:-1] + letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter != number[-1]]
    else:
        wrong = [number[:-1] + digit for digit in "0123456789" if digit != number[-1]]
    assert sum(map(is_national_number, wrong)) <= 3, "another country's rule takes one now and then"


def test_names_of_people_and_titles_are_found_and_towns_are_not(engine: Engine) -> None:
    people = ["Käthi", "Urs", "René", "Maria", "Peter", "Ruth", "Noah", "Lea", "Ivan", "Laura", "Jelena", "Monika"]
    towns = ["Bern", "Thun", "Chur", "Uster", "Luzern", "Lugano", "Glarus", "Basel", "Zug", "Sion", "Davos", "Biel"]
    both = [f"{last}, {first}" for first, last in zip(people, ["Meier", "Keller", "Weber"] * 4, strict=True)]
    columns = {
        "a": texts(*people),
        "b": texts(*towns),
        "c": texts(*both),
        "d": texts("Dr. Oz", "Dr. med. Who", "Mme X"),
    }
    seen = identified(look(engine, columns))
    assert {name: letter for name, (letter, _, _) in seen.items()} == {"a": "A", "c": "A", "d": "A"}


def test_matches_inside_texts_are_counted_by_rows(engine: Engine) -> None:
    texts = ["no reply", *["mail ann@example.org, or call +41 31 555 10 10 at noon"] * 3, *[None] * 6]
    seen = look(engine, {"note": ("VARCHAR", texts)}).identifiers
    assert {(item.kind, item.how, item.rows, item.share) for item in seen} == {
        ("e-mail addresses", "content", 3, 0.3),
        ("telephone numbers", "content", 3, 0.3),
    }


def test_one_sure_value_is_enough_and_one_doubtful_is_not(engine: Engine) -> None:
    columns = {
        "contact": ("VARCHAR", ["ann@example.org", *["by post"] * 39]),
        "code": ("VARCHAR", [with_check_digit("411111111111111"), *(f"411111111111{place:04}" for place in range(39))]),
    }
    seen = identified(look(engine, columns))
    assert seen["contact"] == ("F", "format", 1)
    assert seen.get("code", ("R", "", 0))[0] == "R"


def test_columns_that_only_look_like_identifiers_are_left_alone(engine: Engine) -> None:
    draw = Random(1)
    columns = {
        "phone": texts("yes", "no"),
        "zip": texts("021**", "022**", "023**"),
        "native-country": texts("Austria", "Chile", "Ghana"),
        "state": texts("MA", "NY", "CA"),
        "version": texts("1.2", "10.4", "2.0.1"),
        "score": ("DOUBLE PRECISION", [draw.random() for _ in range(ROWS)]),
        "age": ("INTEGER", [draw.randint(20, 60) for _ in range(ROWS)]),
        "born": ("INTEGER", [draw.randint(1950, 1960) for _ in range(ROWS)]),
        "time": texts("12:30:45", "08:15:00", "23:59:59"),
        "package": texts("small", "large", "huge"),
        "hospital": texts("St Mary", "St John", "Central"),
        "date": texts("*", "2024", "2025"),
        "birthdate": texts("1960-1969", "1970-1979", "*", "1980"),
    }
    assert identified(look(engine, columns)) == {}


def test_few_rows_are_not_judged_by_content(engine: Engine) -> None:
    assert identified(look(engine, {"code": ("VARCHAR", ["a", "b", "c"])})) == {}


@pytest.mark.parametrize(
    ("name", "letters"), [("adult/adult.csv", ""), ("cup98/cup98.csv", "B"), ("creditcard/creditcard.csv", "")]
)
@needs("adult/adult.csv", "cup98/cup98.csv", "creditcard/creditcard.csv")
def test_real_tables_raise_no_false_alarm(name: str, letters: str) -> None:
    engine = DuckDB()
    table = engine.read_file(str(DATA / name))
    with Scratch(engine, "test") as tables:
        rows = tables.count(table.relation)
        _, seen = examine_columns(tables, table, table.relation, rows, lambda _: None)
    # Donors have ZIP codes of five digits, which are areas smaller than a state.
    assert "".join(identifier.letter for identifier in seen.identifiers) == letters


def test_many_values_are_sampled_and_the_rows_estimated() -> None:
    mails = [f"p{place}@example.org" for place in range(4_000)]
    people = pandas.DataFrame({"contact": [*mails, *(f"by post {place}" for place in range(4_000))], "x": "y"})
    (seen,) = kanon_sql.risk(people, quasi_identifiers=["x"]).source.contents.identifiers
    assert (seen.kind, seen.sampled) == ("e-mail addresses", True)
    assert seen.rows == pytest.approx(4_000, rel=0.05)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_no_format_takes_ordinary_words(form: Any) -> None:
    words = ["", "*", "a", "Never-married", "<=50K", "0", "12", "1.5", "2025", "10-19", "[20, 30[", "flu", "it's", "数"]
    assert not [word for word in words if form.matches(word) or (form.inside and form.inside(word))]


@pytest.mark.parametrize("name", ["age", "sex", "occupation", "salary-class", "ZIPF", "telling", "update", "ipsum", ""])
def test_ordinary_names_have_no_kind(name: str) -> None:
    assert named_kind(name) is None


# Norms


def judged(engine: Engine, columns: dict[str, tuple[str, Sequence[Any]]]) -> dict[str, Norm]:
    seen = norms(11, "rows", look(engine, columns), names=("hipaa",))
    return {f"{item.name} {item.rule}": item for item in seen}


def test_safe_harbor_is_judged_by_the_contents_of_columns(engine: Engine) -> None:
    columns = {
        "zip": texts("02138", "90210", "10001"),
        "age": ("INTEGER", [60 + place for place in range(ROWS)]),
        "admitted": ("DATE", [f"2025-0{1 + place % 9}-01" for place in range(ROWS)]),
        "email": numbered("p{}@example.org"),
    }
    seen = judged(engine, columns)
    found = {rule.removeprefix("HIPAA Safe Harbor "): (item.found, item.met) for rule, item in seen.items()}
    assert found["B: areas"] == ("5 digits in zip", False)
    assert found["C: dates"] == ("in admitted", False)
    assert found["C: ages"] == ("10 values in age, 10 rows", False)
    assert found["A, D to R: other identifiers"] == ("in email", False)


def test_safe_harbor_is_met_by_short_codes_years_and_one_group_of_old_people(engine: Engine) -> None:
    columns = {
        "zip": texts("021**", "902**", "100**"),
        "age": texts("20-89", "90+", "*"),
        "year": ("INTEGER", [2020 + place % 4 for place in range(ROWS)]),
    }
    seen = judged(engine, columns)
    assert seen["HIPAA Safe Harbor B: areas"].met is True
    assert (seen["HIPAA Safe Harbor C: ages"].found, seen["HIPAA Safe Harbor C: ages"].met) == (
        "1 value in age, 13 rows",
        True,
    )
    # What is not seen may be there all the same.
    assert seen["HIPAA Safe Harbor C: dates"].met is seen["HIPAA Safe Harbor A, D to R: other identifiers"].met is None


@pytest.mark.parametrize("kind", ["DOUBLE PRECISION", "DECIMAL(9, 2)", "VARCHAR", "SMALLINT"])
def test_ages_and_codes_are_read_in_every_type(engine: Engine, kind: str) -> None:
    ages = (kind, [88 + place % 5 for place in range(ROWS)])
    seen = judged(engine, {"age": ages, "zip": (kind, [2138 + place for place in range(ROWS)])})
    assert seen["HIPAA Safe Harbor C: ages"].found == "3 values in age, 24 rows"
    digits = 4 if kind == "VARCHAR" else 5
    assert seen["HIPAA Safe Harbor B: areas"].found == f"{digits} digits in zip"


def test_a_part_of_a_zip_code_where_few_people_live_is_not_shown(engine: Engine) -> None:
    seen = judged(engine, {"zip": texts("036**", "021**", "000", "902")})["HIPAA Safe Harbor B: areas"]
    assert (seen.found, seen.met) == ("3 digits in zip; 10 rows of areas with fewer people in zip", False)


def test_a_number_has_lost_the_zeros_of_its_zip_code(engine: Engine) -> None:
    codes = "INTEGER", [[3601, 2138, 90210, 3602][place % 4] for place in range(ROWS)]
    seen = judged(engine, {"zip": codes})["HIPAA Safe Harbor B: areas"]
    assert (seen.found, seen.met) == ("5 digits in zip; 20 rows of areas with fewer people in zip", False)


@pytest.mark.parametrize(("smallest", "met", "cell"), [(10, False, False), (11, False, True), (12, True, True)])
def test_figures_are_compared_with_norms_without_rounding(smallest: int, met: bool, cell: bool) -> None:
    """1 / 11 is .0909, which is above .09."""
    seen = norms(smallest, "people", Contents(), names=("ema", "health_canada", "cms"))
    named = {item.name: item.met for item in seen}
    assert named == {"EMA Policy 0070": met, "Health Canada PRCI": met, "CMS cell size": cell}
    assert all(f"{smallest} people" in item.found for item in seen)


@pytest.mark.parametrize(("smallest", "met"), [(5, {False}), (40, {None})])
def test_a_norm_is_undecided_if_the_people_of_large_classes_are_unknown(smallest: int, met: set[bool | None]) -> None:
    seen = norms(smallest, "rows", Contents(), unknown=True, names=("ema", "cms", "ipc", "statistics"))
    assert len(seen) == 6
    assert {item.met for item in seen} == met


def test_norms_of_the_united_states_are_shown_for_zip_codes_or_if_they_are_named() -> None:
    zips = Contents(zips=(Zips("zip", 5, 0),))
    plain = {norm.name for norm in norms(20, "rows", Contents())}
    assert plain == {"EMA Policy 0070", "Health Canada PRCI"}
    assert {norm.name for norm in norms(20, "rows", zips)} == {*plain, "CMS cell size", "HIPAA Safe Harbor"}
    assert {norm.name for norm in norms(20, "rows", Contents(), names=("hipaa",))} == {"HIPAA Safe Harbor"}
    assert not norms(20, "rows", zips, names=("gdpr",))
