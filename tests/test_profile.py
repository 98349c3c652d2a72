"""The profile against plain counting in Python: columns, sets of columns, and suggested roles."""

import csv
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.hints import name_hint
from kanon_sql.verbs.profile import Profile
from kanon_sql.verbs.profile import profiled as profile
from support.data import DATA, needs
from support.database import create_table
from support.examples import examples
from support.profiling import Row, patients, suggested

EXAMPLES = examples(60)


# None of them says anything to `name_hint`.
ODD_NAMES = ("n", "value", 'a "b"; DROP', "größe", "select", "m0", "t", "%s $1 :x ?", " ", "node", "it's", "数")
_numbers = count()


def figures(rows: Sequence[Row], places: Sequence[int]) -> tuple[int, int, int]:
    """Combinations, unique rows and rows in classes below 5 of a set of columns, by counting."""
    classes = Counter(tuple(row[place] for place in places) for row in rows)
    sizes = classes.values()
    return len(classes), sum(n == 1 for n in sizes), sum(n for n in sizes if n < 5)


# Columns and suggestions


def test_the_expectations_of_a_privacy_officer(engine: Engine) -> None:
    profiled = patients(engine)
    assert {column.name: column.suggestion for column in profiled.columns} == {
        "name": "identifier",
        "ssn": "identifier",
        "birth date": "quasi-identifier",
        "zip": "quasi-identifier",
        "sex": "quasi-identifier",
        "ward": "",
        "hospital": "",
        "diagnosis": "",
        "charge": "",
        "dose": "",
    }
    assert profiled.identifiers == ("name", "ssn")
    assert profiled.quasi_identifiers == ("birth date", "zip", "sex")
    assert profiled.sensitive == ("diagnosis",)
    assert profiled.combined == ("birth date", "zip", "sex", "diagnosis")
    assert (profiled.rows, profiled.complete, profiled.notes, profiled.possible_sets) == (8, True, (), 10)


def test_the_reasons_name_their_evidence(engine: Engine) -> None:
    reasons = {column.name: column.reason for column in patients(engine).columns}
    assert reasons == {
        "name": "an identifier by its name; 100.0 % of the rows have a unique value",
        "ssn": "an identifier by its name; 100.0 % of the rows that are not NULL have a unique value",
        "birth date": "a quasi-identifier by its name; alone it puts 100.0 % of the rows in classes smaller than 5",
        "zip": "a quasi-identifier by its name; alone it puts 100.0 % of the rows in classes smaller than 5",
        "sex": "a quasi-identifier by its name; alone it puts 100.0 % of the rows in classes smaller than 5",
        "ward": "one value in every row",
        "hospital": "one value in every row",
        "diagnosis": "sensitive by its name",
        "charge": "a measure by its name: consider ranges if others may know it",
        "dose": "a measure, since it contains fractions: consider ranges if others may know it",
    }


def test_the_counts_of_the_columns(engine: Engine) -> None:
    counts = {c.name: (c.distinct, c.null_rows, c.unique_rows, c.unique_share) for c in patients(engine).columns}
    assert counts == {
        "name": (8, 0, 8, 1.0),
        "ssn": (8, 1, 8, 1.0),  # NULL is a value, and here it occurs once
        "birth date": (5, 0, 2, 0.25),
        "zip": (3, 2, 0, 0.0),
        "sex": (2, 0, 0, 0.0),
        "ward": (1, 0, 0, 0.0),
        "hospital": (1, 0, 0, 0.0),
        "diagnosis": (3, 0, 1, 0.125),
        "charge": (8, 0, 8, 1.0),
        "dose": (5, 2, 3, 0.375),
    }


def test_the_counts_of_the_sets_the_most_identifying_first(engine: Engine) -> None:
    profiled = patients(engine)
    assert [(s.columns, s.combinations, s.unique_rows) for s in profiled.sets] == [
        (("birth date", "sex"), 7, 6),
        (("birth date", "zip", "sex"), 7, 6),
        (("birth date", "sex", "diagnosis"), 7, 6),
        (("zip", "sex", "diagnosis"), 7, 6),
        (("birth date", "zip"), 6, 4),
        (("zip", "diagnosis"), 6, 4),
        (("birth date", "zip", "diagnosis"), 6, 4),
        (("sex", "diagnosis"), 5, 3),
        (("birth date", "diagnosis"), 5, 2),
        (("zip", "sex"), 4, 1),
    ]
    assert all((s.unique_share, s.small_rows, s.small_share) == (s.unique_rows / 8, 8, 1.0) for s in profiled.sets)
    assert profiled.together == profiled.sets[1]


def people(engine: Engine, rows: int, **columns: Any) -> Profile:
    """A profile of a table of integers, made from functions of the row's number."""
    records = [tuple(of(i) for of in columns.values()) for i in range(rows)]
    return profile(engine, create_table(engine, "people", dict.fromkeys(columns, "BIGINT"), records))


def test_nine_distinct_values_in_ten_mark_an_identifier(engine: Engine) -> None:
    profiled = people(
        engine, 100, just=lambda i: min(i, 90), less=lambda i: min(i, 89), sparse=lambda i: i if i < 9 else None
    )
    assert suggested(profiled) == {"just": "identifier", "less": "quasi-identifier", "sparse": "identifier"}
    assert profiled.columns[0].unique_rows == 90
    reason = "nearly every row differs: 90.0 % of the rows have a unique value"
    assert profiled.columns[0].reason == f"{reason}; if it is a measure, consider ranges instead"


def test_one_row_that_is_not_null_is_not_an_identifier(engine: Engine) -> None:
    assert suggested(people(engine, 20, flag=lambda i: 1 if i == 7 else None)) == {"flag": "quasi-identifier"}


def test_a_name_saves_a_unique_column_from_being_an_identifier(engine: Engine) -> None:
    profiled = people(engine, 50, zip=lambda i: i, income=lambda i: i, weight=lambda i: i, other=lambda i: i)
    assert suggested(profiled) == {"zip": "quasi-identifier", "income": "", "weight": "", "other": "identifier"}
    assert profiled.columns[1].reason.startswith("sensitive by its name; nearly every row differs")
    assert (profiled.combined, profiled.sets) == (("zip",), ())


def test_a_name_marks_an_identifier_only_with_many_values(engine: Engine) -> None:
    profiled = people(engine, 1000, patient_id=lambda i: i // 20, customer_id=lambda i: i % 7, ward=lambda i: i % 7)
    assert suggested(profiled) == {"patient_id": "identifier", "customer_id": "", "ward": ""}


def test_a_column_that_identifies_only_in_combination_is_a_quasi_identifier(engine: Engine) -> None:
    profiled = people(
        engine, 1000, a=lambda i: i % 2, b=lambda i: i // 2 % 5, c=lambda i: i // 10 % 10, d=lambda i: i // 100
    )
    assert set(suggested(profiled).values()) == {"quasi-identifier"}
    assert (
        profiled.columns[0].reason == "together with 'b', 'c' and 'd', 100.0 % of the rows are unique; 0.0 % without it"
    )
    assert profiled.columns[1].reason == (
        "together with 'c' and 'd', 100.0 % of the rows are in classes smaller than 5; 0.0 % without it"
    )
    assert {s.small_rows for s in profiled.sets if s.columns != ("b", "c", "d")} == {0}
    assert (profiled.together.unique_rows, profiled.together.small_share) == (1000, 1.0)


def test_the_key_of_people_with_several_rows_is_an_identifier_and_in_no_set(engine: Engine) -> None:
    visits = [(f"P{n % 150}", 1930 + n % 150 % 60, n % 150 % 2, n % 37) for n in range(300)]
    types = {"patient": "VARCHAR", "birth_year": "INTEGER", "sex": "INTEGER", "ward": "INTEGER"}
    create_table(engine, "visits", types, visits)
    table = engine.find("visits")
    assert table
    seen = profile(engine, table)
    assert seen.unit
    assert (seen.unit.column, seen.identifiers) == ("patient", ("patient",))
    assert seen.columns[0].reason.startswith("it tells people apart: 150 of them in 300 rows")
    assert seen.sets
    assert "patient" not in {name for found in seen.sets for name in found.columns}
    assert not any("'patient'" in column.reason for column in seen.columns)


def test_a_column_that_adds_nothing_is_not_a_quasi_identifier(engine: Engine) -> None:
    profiled = people(engine, 1000, a=lambda i: i // 4, b=lambda i: i // 500, c=lambda i: i // 500)
    assert suggested(profiled) == {"a": "quasi-identifier", "b": "", "c": ""}
    assert profiled.columns[1].reason == "it adds less than 1 % of the rows to the rows at risk, in any set counted"


def test_one_percent_of_the_values_is_enough(engine: Engine) -> None:
    profiled = people(engine, 400, four=lambda i: int(i < 4), three=lambda i: int(i < 3))
    assert suggested(profiled) == {"four": "quasi-identifier", "three": ""}
    assert profiled.columns[0].reason == "alone it puts 1.0 % of the rows in classes smaller than 5"


def test_whole_numbers_in_a_float_column_are_not_a_measurement(engine: Engine) -> None:
    types = {
        "visits": "DOUBLE PRECISION",
        "key": "DECIMAL(18, 3)",
        "dose": "DOUBLE PRECISION",
        "lat": "DOUBLE PRECISION",
    }
    rows = [(i % 3, i, i / 2, i / 2) for i in range(30)] + [(None, None, float("nan"), float("inf"))]
    profiled = profile(engine, create_table(engine, "t", types, rows))
    assert list(suggested(profiled).values()) == ["quasi-identifier", "identifier", "", "quasi-identifier"]


def test_dates_are_never_identifiers(engine: Engine) -> None:
    types = {"seen": "DATE", "diagnosis_at": "TIMESTAMP", "charge_time": "TIME"}
    rows = [(f"2020-01-{i:02}", f"2020-01-{i:02} 10:00", f"{i:02}:00") for i in range(1, 21)]
    profiled = profile(engine, create_table(engine, "t", types, rows))
    assert set(suggested(profiled).values()) == {"quasi-identifier"}
    assert (profiled.together.columns, profiled.together.unique_rows) == (tuple(types), 20)


@pytest.mark.parametrize(
    ("message", "names"),
    [
        (
            "identifier",
            "name SSN Name patientName first_name LAST-NAME e_mail Address streetAddress customerID phones",
        ),
        (
            "quasi-identifier",
            "Age ZIP zip5 zipCode PostCode post_code dateOfBirth DATE_OF_BIRTH dob towns native-country",
        ),
        ("quasi-identifier", "marital.status Race gender lat Longitude age_at_diagnosis city"),
        ("sensitive", "diagnosis DIAGNOSES icd10 salary-class annualIncome hiv sexual_orientation"),
        ("measure", "charge total_charges Amount price2 weight"),
        ("", "id product_name country stage percentage wager discharge hospital n value 数 %s"),
    ],
)
def test_the_meaning_of_names(message: str, names: str) -> None:
    expected = {"country": "quasi-identifier"}
    assert {name: name_hint(name) for name in names.split()} == {n: expected.get(n, message) for n in names.split()}


# Against counting in Python

CELLS = {
    "INTEGER": st.none() | st.integers(0, 4) | st.integers(0, 40),
    "VARCHAR": st.none()
    | st.sampled_from(["", " ", "NULL", "a", "A", "'", '"', "é", "*"])
    | st.text("xyz", max_size=2),
    "DATE": st.none() | st.dates().map(lambda day: f"{day.year:04}-{1 + day.month % 3:02}-01"),
    "BOOLEAN": st.none() | st.booleans(),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, str], list[Row]]:
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    names = draw(st.permutations(ODD_NAMES))[: len(kinds)]
    rows = draw(st.lists(st.tuples(*(CELLS[kind] for kind in kinds)), min_size=1, max_size=25))
    return dict(zip(names, kinds, strict=True)), rows


@EXAMPLES
@given(table=tables(), largest_set=st.integers(1, 4))
def test_all_figures_are_those_of_plain_counting(
    engine: Engine, table: tuple[dict[str, str], list[Row]], largest_set: int
) -> None:
    types, rows = table
    profiled = profile(engine, create_table(engine, f"odd {next(_numbers)}", types, rows), largest_set, None)
    names = list(types)
    assert (profiled.rows, profiled.complete, [c.name for c in profiled.columns]) == (len(rows), True, names)
    for place, column in enumerate(profiled.columns):
        sizes = Counter(row[place] for row in rows)
        unique = sum(n == 1 for n in sizes.values())
        assert (column.distinct, column.unique_rows) == (len(sizes), unique)
        assert (column.null_rows, column.unique_share) == (sizes.get(None, 0), unique / len(rows))
        assert (column.smallest_class, column.largest_class) == (min(sizes.values()), max(sizes.values()))
    for s in [*profiled.sets, profiled.together]:
        places = [names.index(name) for name in s.columns]
        combined, unique, small = figures(rows, places)
        assert (s.combinations, s.unique_rows, s.small_rows) == (combined, unique, small)
        assert (s.unique_share, s.small_share) == (unique / len(rows), small / len(rows))
    wanted = {s for size in range(2, largest_set + 1) for s in combinations(profiled.combined, size)}
    assert {s.columns for s in profiled.sets} == wanted
    assert [s.unique_rows for s in profiled.sets] == sorted((s.unique_rows for s in profiled.sets), reverse=True)
    assert profiled.together.columns == profiled.quasi_identifiers


def people_figures(rows: Sequence[Row], places: Sequence[int]) -> tuple[int, int]:
    """The people, by the first column, with a row that only rows of theirs, or of fewer than 5 people, equal."""
    people: dict[tuple[Any, ...], set[Any]] = {}
    for row in rows:
        people.setdefault(tuple(row[place] for place in places), set()).add(row[0])
    unique = set().union(*(members for members in people.values() if len(members) == 1))
    small = set().union(*(members for members in people.values() if len(members) < 5))
    return len(unique), len(small)


@EXAMPLES
@given(draw=st.randoms(use_true_random=False), gaps=st.booleans(), largest_set=st.integers(1, 3))
def test_people_with_several_rows_are_counted(
    engine: Engine, draw: random.Random, gaps: bool, largest_set: int
) -> None:
    types = {"patient_id": "INTEGER", "_row": "INTEGER", "zip": "VARCHAR", "ward": "INTEGER", "visit": "INTEGER"}
    rows: list[Row] = []
    for person in range(draw.randint(12, 40)):
        patient = None if gaps and person % 9 == 0 else person
        home = draw.choice([None, "a", "b", "c"])
        same = draw.randint(0, 3)
        rows += [(patient, same, home, draw.randint(0, 2), visit // 2) for visit in range(draw.randint(2, 5))]
    profiled = profile(engine, create_table(engine, f"people {next(_numbers)}", types, rows), largest_set, None)
    assert profiled.unit
    people = len({row[0] for row in rows})
    assert (profiled.unit.column, profiled.unit.people, profiled.whole.number) == ("patient_id", people, people)
    names = list(types)
    for column in profiled.columns:
        expected = people_figures(rows, [names.index(column.name)])[0] if column.name in profiled.combined else None
        assert column.unique_people == expected
    assert "patient_id" not in profiled.combined
    for s in [*profiled.sets, profiled.together]:
        places = [names.index(name) for name in s.columns]
        assert (s.combinations, s.unique_rows, s.small_rows) == figures(rows, places)
        assert (s.unique_people, s.small_people) == people_figures(rows, places)
    assert [s.unique for s in profiled.sets] == sorted((s.unique for s in profiled.sets), reverse=True)


def test_equal_rows_of_a_person_do_not_hide_them(engine: Engine) -> None:
    types = {"patient_id": "INTEGER", "zip": "INTEGER", "birth_year": "INTEGER"}
    rows = [(person, person % 6, person // 6) for person in range(36) for _ in range(6)]
    profiled = profile(engine, create_table(engine, "repeated people", types, rows))
    assert (profiled.together.columns, profiled.together.unique_rows) == (("zip", "birth_year"), 0)
    assert (profiled.together.unique_people, profiled.together.small_people) == (36, 36)
    (reason,) = [column.reason for column in profiled.columns if column.name == "zip"]
    assert reason == (
        "a quasi-identifier by its name; together with 'birth_year', 100.0 % of the people are in classes smaller than "
        "5; 0.0 % without it"
    )


@EXAMPLES
@given(table=tables())
def test_suggestions_are_those_of_plain_counting(engine: Engine, table: tuple[dict[str, str], list[Row]]) -> None:
    types, rows = table
    profiled = profile(engine, create_table(engine, f"odd {next(_numbers)}", types, rows), 2, None)
    names = list(types)
    candidates = []
    for place, (name, kind) in enumerate(types.items()):
        held = Counter(row[place] for row in rows if row[place] is not None)
        unique = sum(n == 1 for n in held.values())
        is_key = kind in ("INTEGER", "VARCHAR") and unique >= max(2, 0.9 * held.total())
        constant = len({row[place] for row in rows}) == 1
        assert (name in profiled.identifiers) == (is_key and not constant)
        if not is_key and not constant:
            candidates.append(name)
    assert set(profiled.combined) == set(candidates)
    for name in candidates:
        others = [names.index(other) for other in candidates if other != name]
        gains = [
            [_gain(rows, names.index(name), joined) for joined in combinations(others, size)]
            for size in range(len(others) + 1)
        ]
        if max(max(gains[:2], key=max, default=[0])) >= 1:  # pairs were counted: it must be suggested
            assert name in profiled.quasi_identifiers
        if name in profiled.quasi_identifiers:  # then some set of the others bears it out
            assert max(map(max, gains)) >= 1


def _gain(rows: list[Row], place: int, joined: tuple[int, ...]) -> int:
    _, unique, small = figures(rows, [*joined, place])
    _, unique_before, small_before = figures(rows, joined) if joined else (1, 0, 0)
    return max(unique - unique_before, small - small_before)


# Adult


@needs("adult/adult.csv")
@pytest.mark.slow
def test_adult(embedded: DuckDB) -> None:
    adult = DATA / "adult" / "adult.csv"
    profiled = profile(embedded, embedded.read_file(str(adult)))
    lines = list(csv.reader(adult.read_text(encoding="utf-8").splitlines(), delimiter=";"))
    names, rows = lines[0], [tuple(line) for line in lines[1:]]
    assert (profiled.rows, len(profiled.columns), profiled.complete) == (30_162, 9, True)
    assert suggested(profiled) == dict.fromkeys(names, "quasi-identifier") | {"salary-class": ""}
    assert profiled.sensitive == ("salary-class",)
    distinct: Mapping[str, int | None] = {c.name: c.distinct for c in profiled.columns}
    assert distinct == {
        "sex": 2,
        "age": 72,
        "race": 5,
        "marital-status": 7,
        "education": 16,
        "native-country": 41,
        "workclass": 7,
        "occupation": 14,
        "salary-class": 2,
    }
    assert len(profiled.sets) == profiled.possible_sets == 36 + 84
    assert profiled.sets[0].columns == ("age", "education", "occupation")
    for s in [*profiled.sets[::10], profiled.together]:
        assert (s.combinations, s.unique_rows, s.small_rows) == figures(rows, [names.index(c) for c in s.columns])
    assert (profiled.together.unique_rows, profiled.together.small_rows) == (14_021, 21_977)
