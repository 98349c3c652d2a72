"""The profile against plain counting in Python, on every engine."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, count
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.hints import name_hint
from kanon_sql.risk import sets
from kanon_sql.verbs import profile as module
from kanon_sql.verbs.profile import Profile
from kanon_sql.verbs.profile import profiled as profile
from support.data import DATA, needs
from support.database import MakeTable, create_table
from support.examples import examples

Row = tuple[Any, ...]
EXAMPLES = examples(60)
# None of them says anything to `name_hint`.
ODD_NAMES = ("n", "value", 'a "b"; DROP', "Straße", "select", "m0", "t", "%s $1 :x ?", " ", "node", "it's", "数")
_numbers = count()

PATIENTS = {
    "name": "VARCHAR",
    "ssn": "VARCHAR",
    "birth date": "DATE",
    "zip": "VARCHAR",
    "sex": "VARCHAR",
    "ward": "INTEGER",
    "hospital": "VARCHAR",
    "diagnosis": "VARCHAR",
    "charge": "DECIMAL(10, 2)",
    "dose": "DOUBLE PRECISION",
}
_PATIENT_ROWS: list[Row] = [
    ("Ann", "078-05-1120", "1970-01-01", "02138", "f", 1, "St Mary", "flu", 100, 0.5),
    ("Ben", "078-05-1121", "1970-01-01", "02138", "m", 1, "St Mary", "flu", 210, 1.5),
    ("Cem", "078-05-1122", "1971-02-02", "02138", "m", 1, "St Mary", "gout", 330, 2.5),
    ("Dot", "078-05-1123", "1971-02-02", "02139", "f", 1, "St Mary", "gout", 401, 3.5),
    ("Eve", "078-05-1124", "1972-03-03", "02139", "f", 1, "St Mary", "flu", 520, 0.5),
    ("Fay", "078-05-1125", "1973-03-03", "02139", "f", 1, "St Mary", "mumps", 611, 0.5),
    ("Gus", "078-05-1126", "1974-03-03", None, "m", 1, "St Mary", "flu", 700, None),
    ("Hal", None, "1974-03-03", None, "m", 1, "St Mary", "flu", 801, None),
]


def patients(engine: Engine) -> Profile:
    return profile(engine, create_table(engine, "patients", PATIENTS, _PATIENT_ROWS))


def figures(rows: Sequence[Row], places: Sequence[int]) -> tuple[int, int, int]:
    """Combinations, unique rows and rows in classes below 5 of a set of columns, by counting."""
    classes = Counter(tuple(row[place] for place in places) for row in rows)
    sizes = classes.values()
    return len(classes), sum(n == 1 for n in sizes), sum(n for n in sizes if n < 5)


def tables_of(engine: Engine) -> set[str]:
    schemas = "information_schema', 'pg_catalog"
    found = engine.rows(f"SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN ('{schemas}')")
    return {name for (name,) in found}


# Columns and suggestions


def test_what_a_privacy_officer_expects(engine: Engine) -> None:
    found = patients(engine)
    assert {column.name: column.suggestion for column in found.columns} == {
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
    assert found.identifiers == ("name", "ssn")
    assert found.quasi_identifiers == ("birth date", "zip", "sex")
    assert found.sensitive == ("diagnosis",)
    assert found.combined == ("birth date", "zip", "sex", "diagnosis")
    assert (found.rows, found.complete, found.notes, found.possible_sets) == (8, True, (), 10)


def test_the_reasons_say_what_they_rest_on(engine: Engine) -> None:
    reasons = {column.name: column.reason for column in patients(engine).columns}
    assert reasons == {
        "name": "an identifier by its name; 100.0 % of the rows hold a value of their own",
        "ssn": "an identifier by its name; 100.0 % of the rows that are not NULL hold a value of their own",
        "birth date": "a quasi-identifier by its name; alone it puts 100.0 % of the rows in classes smaller than 5",
        "zip": "a quasi-identifier by its name; alone it puts 100.0 % of the rows in classes smaller than 5",
        "sex": "a quasi-identifier by its name; alone it puts 100.0 % of the rows in classes smaller than 5",
        "ward": "one value in every row",
        "hospital": "one value in every row",
        "diagnosis": "sensitive by its name",
        "charge": "a measure by its name: consider ranges if others may know it",
        "dose": "a measure, since it holds fractions: consider ranges if others may know it",
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
    found = patients(engine)
    assert [(s.columns, s.combinations, s.unique_rows) for s in found.sets] == [
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
    assert all((s.unique_share, s.small_rows, s.small_share) == (s.unique_rows / 8, 8, 1.0) for s in found.sets)
    assert found.together == found.sets[1]


def people(engine: Engine, rows: int, **columns: Any) -> Profile:
    """A profile of a table of integers, made from functions of the row's number."""
    made = [tuple(of(i) for of in columns.values()) for i in range(rows)]
    return profile(engine, create_table(engine, "people", dict.fromkeys(columns, "BIGINT"), made))


def suggested(found: Profile) -> dict[str, str]:
    return {column.name: column.suggestion for column in found.columns}


def test_nine_in_ten_make_an_identifier(engine: Engine) -> None:
    found = people(
        engine, 100, just=lambda i: min(i, 90), less=lambda i: min(i, 89), sparse=lambda i: i if i < 9 else None
    )
    assert suggested(found) == {"just": "identifier", "less": "quasi-identifier", "sparse": "identifier"}
    assert found.columns[0].unique_rows == 90
    reason = "nearly every row differs: 90.0 % of the rows hold a value of their own"
    assert found.columns[0].reason == f"{reason}; if it is a measure, consider ranges instead"


def test_one_row_that_is_not_null_is_no_identifier(engine: Engine) -> None:
    assert suggested(people(engine, 20, flag=lambda i: 1 if i == 7 else None)) == {"flag": "quasi-identifier"}


def test_a_name_saves_a_unique_column_from_being_an_identifier(engine: Engine) -> None:
    found = people(engine, 50, zip=lambda i: i, income=lambda i: i, weight=lambda i: i, other=lambda i: i)
    assert suggested(found) == {"zip": "quasi-identifier", "income": "", "weight": "", "other": "identifier"}
    assert found.columns[1].reason.startswith("sensitive by its name; nearly every row differs")
    assert (found.combined, found.sets) == (("zip",), ())


def test_a_name_makes_an_identifier_of_many_values_only(engine: Engine) -> None:
    found = people(engine, 1000, patient_id=lambda i: i // 20, customer_id=lambda i: i % 7, ward=lambda i: i % 7)
    assert suggested(found) == {"patient_id": "identifier", "customer_id": "", "ward": ""}


def test_a_column_that_tells_only_beside_others_is_a_quasi_identifier(engine: Engine) -> None:
    found = people(
        engine, 1000, a=lambda i: i % 2, b=lambda i: i // 2 % 5, c=lambda i: i // 10 % 10, d=lambda i: i // 100
    )
    assert set(suggested(found).values()) == {"quasi-identifier"}
    assert found.columns[0].reason == "joining 'b', 'c' and 'd', it raises the unique rows from 0.0 % to 100.0 %"
    assert found.columns[1].reason == (
        "joining 'c' and 'd', it raises the rows in classes smaller than 5 from 0.0 % to 100.0 %"
    )
    assert {s.small_rows for s in found.sets if s.columns != ("b", "c", "d")} == {0}
    assert (found.together.unique_rows, found.together.small_share) == (1000, 1.0)


def test_a_column_that_adds_nothing_is_none(engine: Engine) -> None:
    found = people(engine, 1000, a=lambda i: i // 4, b=lambda i: i // 500, c=lambda i: i // 500)
    assert suggested(found) == {"a": "quasi-identifier", "b": "", "c": ""}
    assert found.columns[1].reason == "it adds less than 1 % of the rows to those at risk, in any set counted"


def test_one_percent_is_enough(engine: Engine) -> None:
    found = people(engine, 400, four=lambda i: int(i < 4), three=lambda i: int(i < 3))
    assert suggested(found) == {"four": "quasi-identifier", "three": ""}
    assert found.columns[0].reason == "alone it puts 1.0 % of the rows in classes smaller than 5"


def test_whole_numbers_in_a_float_column_are_no_measure(engine: Engine) -> None:
    types = {
        "visits": "DOUBLE PRECISION",
        "key": "DECIMAL(18, 3)",
        "dose": "DOUBLE PRECISION",
        "lat": "DOUBLE PRECISION",
    }
    rows = [(i % 3, i, i / 2, i / 2) for i in range(30)] + [(None, None, float("nan"), float("inf"))]
    found = profile(engine, create_table(engine, "t", types, rows))
    assert list(suggested(found).values()) == ["quasi-identifier", "identifier", "", "quasi-identifier"]


def test_dates_are_never_identifiers(engine: Engine) -> None:
    types = {"seen": "DATE", "diagnosis_at": "TIMESTAMP", "charge_time": "TIME"}
    rows = [(f"2020-01-{i:02}", f"2020-01-{i:02} 10:00", f"{i:02}:00") for i in range(1, 21)]
    found = profile(engine, create_table(engine, "t", types, rows))
    assert set(suggested(found).values()) == {"quasi-identifier"}
    assert (found.together.columns, found.together.unique_rows) == (tuple(types), 20)


@pytest.mark.parametrize(
    ("said", "names"),
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
def test_what_a_name_says(said: str, names: str) -> None:
    expected = {"country": "quasi-identifier"}
    assert {name: name_hint(name) for name in names.split()} == {n: expected.get(n, said) for n in names.split()}


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
    found = profile(engine, create_table(engine, f"odd {next(_numbers)}", types, rows), largest_set, None)
    names = list(types)
    assert (found.rows, found.complete, [c.name for c in found.columns]) == (len(rows), True, names)
    for place, column in enumerate(found.columns):
        sizes = Counter(row[place] for row in rows)
        unique = sum(n == 1 for n in sizes.values())
        assert (column.distinct, column.unique_rows) == (len(sizes), unique)
        assert (column.null_rows, column.unique_share) == (sizes.get(None, 0), unique / len(rows))
        assert (column.smallest_class, column.largest_class) == (min(sizes.values()), max(sizes.values()))
    for s in [*found.sets, found.together]:
        places = [names.index(name) for name in s.columns]
        combined, unique, small = figures(rows, places)
        assert (s.combinations, s.unique_rows, s.small_rows) == (combined, unique, small)
        assert (s.unique_share, s.small_share) == (unique / len(rows), small / len(rows))
    wanted = {s for size in range(2, largest_set + 1) for s in combinations(found.combined, size)}
    assert {s.columns for s in found.sets} == wanted
    assert [s.unique_rows for s in found.sets] == sorted((s.unique_rows for s in found.sets), reverse=True)
    assert found.together.columns == found.quasi_identifiers


@EXAMPLES
@given(table=tables())
def test_suggestions_are_those_of_plain_counting(engine: Engine, table: tuple[dict[str, str], list[Row]]) -> None:
    types, rows = table
    found = profile(engine, create_table(engine, f"odd {next(_numbers)}", types, rows), 2, None)
    names = list(types)
    candidates = []
    for place, (name, kind) in enumerate(types.items()):
        held = Counter(row[place] for row in rows if row[place] is not None)
        unique = sum(n == 1 for n in held.values())
        is_key = kind in ("INTEGER", "VARCHAR") and unique >= max(2, 0.9 * held.total())
        constant = len({row[place] for row in rows}) == 1
        assert (name in found.identifiers) == (is_key and not constant)
        if not is_key and not constant:
            candidates.append(name)
    assert set(found.combined) == set(candidates)
    for name in candidates:
        others = [names.index(other) for other in candidates if other != name]
        gains = [
            [_gain(rows, names.index(name), joined) for joined in combinations(others, size)]
            for size in range(len(others) + 1)
        ]
        if max(max(gains[:2], key=max, default=[0])) >= 1:  # pairs were counted: it must be suggested
            assert name in found.quasi_identifiers
        if name in found.quasi_identifiers:  # then some set of the others bears it out
            assert max(map(max, gains)) >= 1


def _gain(rows: list[Row], place: int, joined: tuple[int, ...]) -> int:
    _, unique, small = figures(rows, [*joined, place])
    _, unique_before, small_before = figures(rows, joined) if joined else (1, 0, 0)
    return max(unique - unique_before, small - small_before)


# What must never be in it, and what must not be left behind


def test_no_raw_value_is_in_the_profile(engine: Engine) -> None:
    types = {"name": "VARCHAR", "town": "VARCHAR", "code": "INTEGER", "cost": "DOUBLE PRECISION", "born": "DATE"}
    rows = [(f"MARKER{i}", f"MARKER{i % 2}", 987654 + i % 3, 876543.25 + i, "1812-06-24") for i in range(12)]
    found = profile(engine, create_table(engine, "t", types, rows))
    text = json.dumps(found.to_dict())
    for value in ("MARKER", "98765", "87654", "1812", "06-24"):
        assert value not in text
    assert found.identifiers == ("name",)


def test_the_values_of_an_enum_are_raw_values(engine: Engine) -> None:
    values = "'MARKER', 'MAR''KER', 'MARKER), (', 'x'"
    engine.run(f"CREATE TYPE mood AS ENUM ({values})")
    engine.run(f"CREATE TABLE t (feels mood, also {'point' if engine.name == 'postgresql' else 'STRUCT(a mood)'})")
    engine.run("INSERT INTO t (feels) VALUES ('x'), ('MAR''KER'), ('MAR''KER')")
    found = profile(engine, _found(engine, "t"))
    assert "MAR" not in json.dumps(found.to_dict())
    expected = ["ENUM", "STRUCT(a ENUM)"] if engine.name == "duckdb" else ["mood", "point"]
    assert [c.type for c in found.columns] == expected
    assert [c.distinct for c in found.columns] == [2, None]


def test_the_profile_is_plain_json(engine: Engine) -> None:
    found = patients(engine)
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["columns"][0]["name"] == "name"
    assert plain["sets"][0]["columns"] == ["birth date", "sex"]
    assert plain["together"]["unique_rows"] == 6
    assert plain["seconds"] > 0


def test_nothing_is_left_behind(engine: Engine) -> None:
    patients(engine)
    assert tables_of(engine) == {"patients"}


def test_nothing_is_left_behind_when_it_is_interrupted(engine: Engine) -> None:
    table = create_table(engine, "patients", PATIENTS, _PATIENT_ROWS)

    def interrupt(what: str, done: int, _total: int) -> None:
        if what == "sets" and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        profile(engine, table, on_progress=interrupt)
    assert tables_of(engine) == {"patients"}
    assert profile(engine, table).complete


def test_a_table_with_one_of_our_names_is_left_alone(engine: Engine) -> None:
    names = ["kanon_profile_tuples", "kanon_profile_sets_coded", "kanon_profile_copy", "kanon_profile_map_sex"]
    for name in names:
        table = create_table(engine, name, {"sex": "VARCHAR", "ward": "INTEGER"}, [("f", 1), ("m", 2)] * 3)
        assert profile(engine, table).together.small_rows == 6
    assert tables_of(engine) == set(names)
    assert all(engine.rows(f'SELECT COUNT(*) FROM "{name}"') == [(6,)] for name in names)


# Odd tables


def _found(engine: Engine, name: str) -> Table:
    table = engine.find(name)
    assert table
    return table


def test_a_type_that_cannot_be_grouped_is_listed_and_not_counted(engine: Engine) -> None:
    odd = "json" if engine.name == "postgresql" else "STRUCT(a INTEGER)"
    more = "point" if engine.name == "postgresql" else "INTEGER[]"
    engine.run(f"CREATE TABLE t (document {odd}, sex VARCHAR, place {more}, patient UUID)")
    engine.run("INSERT INTO t (sex, patient) VALUES ('f', '12345678-1234-1234-1234-123456789abc'), ('m', NULL)")
    found = profile(engine, _found(engine, "t"))
    assert [(c.kind, c.distinct, c.null_rows, c.unique_share) for c in found.columns if c.name != "sex"] == [
        ("other", None, None, None)
    ] * 3
    assert list(suggested(found).values()) == ["", "quasi-identifier", "", "identifier"]
    assert found.columns[0].reason == "its type cannot be grouped, so it was not counted: decide by what it holds"
    assert found.together.columns == ("sex",)


def test_a_table_of_uncounted_columns(engine: Engine) -> None:
    engine.run(f"CREATE TABLE t (a {'json' if engine.name == 'postgresql' else 'INTEGER[]'})")
    engine.run("INSERT INTO t VALUES (NULL), (NULL)")
    found = profile(engine, _found(engine, "t"))
    assert (found.rows, found.sets, found.together.columns, found.together.combinations) == (2, (), (), 1)
    assert (found.complete, found.together.unique_rows, found.together.small_rows) == (True, 0, 2)


def test_one_row(engine: Engine) -> None:
    found = profile(engine, create_table(engine, "t", {"sex": "VARCHAR", "a": "INTEGER"}, [("f", None)]))
    assert [c.reason for c in found.columns] == ["one value in every row", "NULL in every row"]
    assert (found.together.unique_rows, found.together.unique_share) == (1, 1.0)


def test_an_empty_table_is_an_error(engine: Engine, make_table: MakeTable) -> None:
    with pytest.raises(SourceError, match="patients has no rows"):
        profile(engine, make_table(engine, "patients", PATIENTS, []))
    assert tables_of(engine) == {"patients"}


def test_sets_of_no_column_are_an_error(engine: Engine, make_table: MakeTable) -> None:
    with pytest.raises(SpecError, match="largest_set is 0"):
        profile(engine, make_table(engine, "t", {"a": "INTEGER"}, [(1,)]), 0)


def test_a_slow_view_is_read_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    table = create_table(engine, "patients", PATIENTS, _PATIENT_ROWS)
    engine.run("CREATE VIEW seen AS SELECT * FROM patients")
    view = _found(engine, "seen")
    expected = profile(engine, table)
    assert profile(engine, view).columns == expected.columns
    monkeypatch.setattr(module, "_SLOW_VIEW", 0.0)
    asked: list[str] = []
    monkeypatch.setattr(engine, "rows", _noting(asked, engine.rows))
    assert profile(engine, view) == expected
    assert sum("seen" in sql for sql in asked) == 1
    assert tables_of(engine) == {"patients", "seen"}


def _noting(asked: list[str], rows: Any) -> Any:
    def noted(sql: str) -> Any:
        asked.append(sql)
        return rows(sql)

    return noted


def test_the_raw_values_stay_in_the_server(postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    load = DuckDB.load
    monkeypatch.setattr(DuckDB, "load", lambda self, *a: sent.append(a) or load(self, *a))  # type: ignore[func-returns-value]
    patients(postgres)
    ((_, types, _),) = sent
    assert types == {
        "birth_date_0": "INTEGER",
        "zip_0": "INTEGER",
        "sex_0": "INTEGER",
        "diagnosis_0": "INTEGER",
        "n": "BIGINT",
    }


def test_values_are_equal_where_the_server_says_so(postgres: PostgreSQL) -> None:
    postgres.run("CREATE TABLE t (a numeric, b char(5), c integer)")
    postgres.run("INSERT INTO t SELECT 1.0, 'x', i % 4 FROM generate_series(1, 8) i")
    postgres.run("INSERT INTO t SELECT 1.00, 'x  ', i % 4 FROM generate_series(1, 8) i")
    postgres.run("INSERT INTO t VALUES (2, 'y', 7)")
    found = profile(postgres, _found(postgres, "t"))
    assert [c.distinct for c in found.columns] == [2, 2, 5]
    sets = {s.columns: (s.combinations, s.unique_rows, s.small_rows) for s in found.sets}
    assert sets == {("a", "b"): (2, 1, 1), ("a", "c"): (5, 1, 17), ("b", "c"): (5, 1, 17), ("a", "b", "c"): (5, 1, 17)}


# Many columns, little time


def wide(engine: Engine, columns: int) -> Table:
    """Columns of 2, 3, 4, … values, the last one a year of birth, in 60 rows."""
    types = {f"c{i}": "INTEGER" for i in range(columns - 1)} | {"birth_year": "INTEGER"}
    rows = [(*(row % (i + 2) for i in range(columns - 1)), 1970 + row % 2) for row in range(60)]
    return create_table(engine, "wide", types, rows)


def test_of_many_columns_the_most_telling_are_combined(engine: Engine) -> None:
    found = profile(engine, wide(engine, 16), 2)
    assert found.combined == (*(f"c{i}" for i in range(4, 15)), "birth_year")
    assert (found.possible_sets, len(found.sets), found.complete) == (66, 66, True)
    assert found.notes == (
        "12 of 16 columns were combined: first those named like quasi-identifiers, then those with the most values",
    )
    assert [c.suggestion for c in found.columns[:4]] == [""] * 4
    assert found.columns[0].reason == "alone it tells little, and 12 columns go before it in the sets"


def test_a_column_beyond_the_twelfth_may_tell_by_itself(engine: Engine) -> None:
    types = {f"birth_{i}" if i < 13 else "ward": "INTEGER" for i in range(14)}
    rows = [(*(row % 2 for _ in range(13)), row // 4) for row in range(60)]
    found = profile(engine, create_table(engine, "t", types, rows), 1)
    assert found.combined == tuple(types)[:12]
    assert found.quasi_identifiers == found.together.columns == tuple(types)
    assert found.together.combinations == 30


def test_no_time_at_all(engine: Engine) -> None:
    found = profile(engine, wide(engine, 6), time_limit=0)
    assert (found.complete, found.sets, found.possible_sets) == (False, (), 35)
    assert found.notes == (
        "stopped after 0 seconds: 0 of 35 sets were counted, and the suggestions rest on those and on the names",
    )
    assert found.columns == profile(engine, _found(engine, "wide"), 1, 0).columns
    assert [c.distinct for c in found.columns] == [2, 3, 4, 5, 6, 2]
    assert found.together.columns == ("birth_year",)
    assert found.together.combinations == 2


def test_time_that_runs_out(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = profile(engine, wide(engine, 6))
    ticks: Iterator[int] = count()
    for timed in (module, sets):
        monkeypatch.setattr(timed, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    cut = profile(engine, _found(engine, "wide"), time_limit=20)
    assert not cut.complete
    assert 3 <= len(cut.sets) < len(whole.sets) == 35
    assert set(cut.sets) <= set(whole.sets)
    assert cut.notes[0].startswith(f"stopped after 20 seconds: {len(cut.sets)} of 35 sets were counted")
    assert max(len(s.columns) for s in cut.sets) == 2
    assert sum("birth_year" in s.columns for s in cut.sets) == 5  # its pairs came first


def test_progress_is_told(engine: Engine) -> None:
    told: list[tuple[str, int, int]] = []
    profile(engine, wide(engine, 6), on_progress=lambda *now: told.append(now))
    assert told[:2] == [("columns", 0, 6), ("columns", 1, 6)]
    assert ("columns", 6, 6) in told
    assert told[7] == ("sets", 0, 35)
    assert told[-1] == ("sets", 35, 35)
    assert [now for now in told if now[0] == "sets"] == sorted(now for now in told if now[0] == "sets")


def test_no_limit_is_no_limit(engine: Engine) -> None:
    assert profile(engine, wide(engine, 6), time_limit=None).complete


# Adult


@needs("adult/adult.csv")
@pytest.mark.slow
def test_adult(embedded: DuckDB) -> None:
    adult = DATA / "adult" / "adult.csv"
    found = profile(embedded, embedded.read_file(str(adult)))
    lines = list(csv.reader(adult.read_text(encoding="utf-8").splitlines(), delimiter=";"))
    names, rows = lines[0], [tuple(line) for line in lines[1:]]
    assert (found.rows, len(found.columns), found.complete) == (30_162, 9, True)
    assert suggested(found) == dict.fromkeys(names, "quasi-identifier") | {"salary-class": ""}
    assert found.sensitive == ("salary-class",)
    distinct: Mapping[str, int | None] = {c.name: c.distinct for c in found.columns}
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
    assert len(found.sets) == found.possible_sets == 36 + 84
    assert found.sets[0].columns == ("age", "education", "occupation")
    for s in [*found.sets[::10], found.together]:
        assert (s.combinations, s.unique_rows, s.small_rows) == figures(rows, [names.index(c) for c in s.columns])
    assert (found.together.unique_rows, found.together.small_rows) == (14_021, 21_977)
