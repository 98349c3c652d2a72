"""Roles: columns must be named to be released unchanged, and findings in them are reported."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import anonymize, cloak
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError
from kanon_sql.risk.roles import Suspect, suspects
from kanon_sql.verbs.anatomize import anatomize
from support.data import DATA, needs

ROWS = 400
RANDOM = random.Random(3)
BORN = [date(1990, 1, 1) - timedelta(days=RANDOM.randrange(300)) * 60 for _ in range(ROWS)]
AGES = [(date(2026, 1, 1) - born).days // 365 for born in BORN]
SCHEDULED = [RANDOM.randrange(60, 240) * 5 for _ in range(ROWS)]
SUBJECTS = ["sea", "hill", "road", "night", "light", "stone", "river", "cloud"]


NEARLY = "differs in nearly every row"


def note(row: int) -> str:
    return " ".join(RANDOM.choices(SUBJECTS, k=6)) if row % 3 else "she has seen nobody about it"


# What is reported, in whatever other columns: name, type, one value per row, and the reason beside the age.
TELLING: dict[str, tuple[str, str, Callable[[int], Any], str]] = {
    "a name": ("name", "VARCHAR", lambda row: f"N{row % 90}", "is an identifier by its name"),
    "a patient's number": ("patient_id", "INTEGER", lambda row: row // 2, "is an identifier by its name"),
    "mail": ("contact", "VARCHAR", lambda row: f"u{row % 20}@example.org", "contains e-mail addresses in 400 rows"),
    "telephones": (
        "contact",
        "VARCHAR",
        lambda row: f"+41 31 555 {row % 90 + 10} 20",
        "contains telephone numbers in 400 rows",
    ),
    "accounts": ("paid", "VARCHAR", lambda row: f"NL91ABNA{row % 50 + 417164300}9", "contains IBANs in 400 rows"),
    "addresses": ("host", "VARCHAR", lambda row: f"10.0.{row % 5}.{row % 7}", "contains network addresses in 400 rows"),
    "uuids": (
        "visit",
        "UUID",
        lambda row: f"123e4567-e89b-12d3-a456-4266141740{row % 10}0",
        "contains UUIDs in 400 rows",
    ),
    "security numbers": (
        "code",
        "VARCHAR",
        lambda row: f"123-45-{1000 + row % 99}",
        "contains national identity numbers in 400 rows",
    ),
    "text": ("key", "VARCHAR", lambda row: f"k{row}", f"{NEARLY} (400 values in 400 rows)"),
    "numbers": ("key", "BIGINT", lambda row: 7 * row, f"{NEARLY} (400 values in 400 rows)"),
    "moments": (
        "admitted",
        "TIMESTAMP",
        lambda row: datetime(2025, 1, 1) + row * timedelta(minutes=7),
        f"{NEARLY} (400 values in 400 rows)",
    ),
    "measurements": (
        "weight",
        "DOUBLE PRECISION",
        lambda row: 50 + math.sqrt(row),
        f"{NEARLY} (400 values in 400 rows)",
    ),
    "amounts": ("paid", "DECIMAL(9, 2)", lambda row: Decimal(row) / 100, f"{NEARLY} (400 values in 400 rows)"),
    "half of it NULL": (
        "key",
        "VARCHAR",
        lambda row: f"k{row}" if row % 2 else None,
        f"{NEARLY} (200 values in 200 rows)",
    ),
    "notes": ("remark", "VARCHAR", note, "is free text in 400 rows"),
    "few letters": (
        "remark",
        "VARCHAR",
        lambda row: f"Mail: u{row}@example.org, Tel. 078 977 26 {row:02}" if row in (60, 61) else "no allergies known",
        "contains e-mail addresses in 2 rows, and contains telephone numbers in 2 rows",
    ),
    "letters in every row": (
        "remark",
        "VARCHAR",
        lambda row: f"Please call Frau Meier {row} about all this",
        f"contains names after a title in 400 rows, is free text in 400 rows, and {NEARLY} (400 values in 400 rows)",
    ),
    "births": ("birth_date", "DATE", lambda row: BORN[row], "nearly determines 'age'"),
    "a copy": ("years", "VARCHAR", lambda row: f"{AGES[row]} years", "nearly determines 'age'"),
    "a shifted copy": ("born", "INTEGER", lambda row: 2026 - AGES[row] - row % 2, "nearly determines 'age'"),
}
# What does not.
HARMLESS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "city": ("VARCHAR", lambda row: ("Bern", "Thun", "Graz")[row % 3]),
    "day": ("DATE", lambda row: date(2025, 1, 1) + timedelta(days=row % 200)),
    "amount": ("DECIMAL(9, 2)", lambda row: Decimal(row % 250) / 4),
    "phone": ("VARCHAR", lambda row: ("yes", "no")[row % 2]),
    "sentence": ("VARCHAR", lambda row: f"the patient left with ward number {row % 9} at noon"),
    "hour": ("VARCHAR", lambda row: f"{row % 24:02}:30:00"),
    "flag": ("BOOLEAN", lambda row: row % 7 == 0),
    "constant": ("VARCHAR", lambda _: "x@example.org"),
    "nothing": ("VARCHAR", lambda _: None),
}


def seen(
    engine: Engine, make_table: Any, extra: Mapping[str, tuple[str, Callable[[int], Any]]], rows: int = ROWS
) -> Any:
    columns = {"age": ("INTEGER", lambda row: AGES[row]), **HARMLESS, **extra}
    types = {name: type_name for name, (type_name, _) in columns.items()}
    table = make_table(engine, "people", types, [[value(row) for _, value in columns.values()] for row in range(rows)])
    quasi = [column for column in table.columns if column.name == "age"]
    return suspects(engine, table, [column for column in table.columns if column.name != "age"], quasi)


@pytest.mark.parametrize("case", TELLING)
def test_only_identifying_columns_are_found(case: str, engine: Engine, make_table: Any) -> None:
    name, type_name, value, reason = TELLING[case]
    assert seen(engine, make_table, {name: (type_name, value)}) == [Suspect(name, reason)]


def test_a_tiny_table_is_judged_only_by_names_and_formats(engine: Engine, make_table: Any) -> None:
    extra = {name: (type_name, value) for name, type_name, value, _ in TELLING.values() if name != "contact"}
    extra["mail"] = ("VARCHAR", lambda row: f"u{row}@example.org")
    suspected = seen(engine, make_table, extra, rows=19)
    assert {suspect.column for suspect in suspected} == {
        "name",
        "patient_id",
        "mail",
        "paid",
        "host",
        "visit",
        "code",
        "remark",
    } - {
        "paid"  # the amounts are there under that name
    }


def test_differences_by_the_minute_reveal_a_departure(engine: Engine, make_table: Any) -> None:
    late = [minute + int(RANDOM.expovariate(1 / 12)) for minute in SCHEDULED]
    rows = [[minute, other] for minute, other in zip(SCHEDULED, late, strict=True)]
    table = make_table(engine, "flights", {"sched_dep_time": "INTEGER", "dep_time": "INTEGER"}, rows)
    kept, quasi = table.columns
    assert suspects(engine, table, [kept], [quasi]) == [Suspect("sched_dep_time", "nearly determines 'dep_time'")]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=60, max_size=90))
def test_a_guess_is_goodman_and_kruskals(rows: Sequence[tuple[int, int]]) -> None:
    engine = DuckDB()
    engine.connection.execute("CREATE TABLE t (kept VARCHAR, quasi VARCHAR)")
    engine.connection.executemany("INSERT INTO t VALUES (?, ?)", [list(map(str, row)) for row in rows])
    table = engine.find("t")
    assert table
    suspected = suspects(engine, table, [table.columns[0]], [table.columns[1]])
    values = [kept for kept, _ in rows]
    twice = [(kept, quasi) for kept, quasi in rows if values.count(kept) > 1]
    right = sum(max(twice.count((kept, quasi)) for quasi in range(4)) for kept in {kept for kept, _ in twice})
    most = max(sum(q == quasi for _, q in twice) for quasi in range(4))
    wrong = len(twice) - most
    assert bool(suspected) == (len(twice) >= 20 and wrong >= 10 and right - most >= 0.9 * wrong)
    engine.close()


def test_few_statements_are_enough_and_nothing_is_left(engine: Engine, make_table: Any, monkeypatch: Any) -> None:
    requests: list[str] = []
    rows = type(engine).rows
    monkeypatch.setattr(type(engine), "rows", lambda self, sql: requests.append(sql) or rows(self, sql))
    seen(engine, make_table, {})
    assert len(requests) <= 8
    left = rows(engine, "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'kanon%'")
    assert left == []


# What a release does


def people(**extra: Sequence[Any]) -> pandas.DataFrame:
    columns = {"zip": ["31", "32"] * 20, "disease": ["flu", "flu", "cold", "cold"] * 10, "ward": list(range(5)) * 8}
    return pandas.DataFrame({**columns, **extra})


SPEC = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "sensitive": ["disease"], "privacy": {"k": 2}}
NAMES = [f"N{row}" for row in range(40)]
STRATEGIES = ({}, {"strategy": "refine"}, {"show": "mode"})


@pytest.mark.parametrize("options", STRATEGIES, ids=str)
@pytest.mark.parametrize(
    ("keep", "released", "dropped"),
    [
        (None, ["zip", "disease"], ["ward", "name"]),
        (["ward"], ["zip", "disease", "ward"], ["name"]),
        ([], ["zip", "disease"], ["ward", "name"]),
        (["name", "ward"], ["zip", "disease", "ward", "name"], []),
        ("*", ["zip", "disease", "ward", "name"], []),
    ],
)
def test_keep_determines_the_released_columns(
    keep: Any, released: list[str], dropped: list[str], options: dict[str, str]
) -> None:
    release = anonymize(people(name=NAMES), SPEC, keep=keep, **options)
    assert list(release.to_df().columns) == released
    assert release.manifest["roles"]["dropped"] == dropped
    assert release.manifest["roles"]["kept"] == [name for name in released if name not in ("zip", "disease")]
    reasons = f"is an identifier by its name, and {NEARLY} (40 values in 40 rows)"
    message = f"the column 'name' is released unchanged, and {reasons}"
    assert (message in release.manifest["warnings"]) == ("name" in released)


@pytest.mark.parametrize(
    ("column", "rows_each", "options", "warned"),
    [
        ("patient_id", 2, {"identifiers": ["patient_id"]}, True),
        ("Kunde", 2, {}, True),  # dropped, since it has no role
        ("patient_id", 2, {"identifiers": ["patient_id"], "unit": "patient_id"}, False),
        ("patient_id", 1, {"identifiers": ["patient_id"]}, False),
        ("visit_id", 2, {"identifiers": ["visit_id"]}, False),
    ],
)
def test_people_with_several_rows_are_named_where_rows_are_counted(
    column: str, rows_each: int, options: dict[str, Any], warned: bool, engine: Engine, make_table: Any
) -> None:
    make_table(engine, "visits", {column: "INTEGER", "age": "INTEGER"}, [(n // rows_each, n % 4) for n in range(40)])
    spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, **options}
    release = anonymize("visits", spec, connection=engine.connection, k=5, into="anon")  # type: ignore[attr-defined]
    found = [text for text in release.manifest["warnings"] if text.startswith("rows are counted, but values of")]
    assert bool(found) == warned
    assert not warned or f"set `unit` to {column}: otherwise a class of k rows" in found[0]


def test_a_perturbed_column_is_not_undecided() -> None:
    named = anonymize(people(name=NAMES, pay=range(40)), SPEC, keep=["ward"], perturb={"pay": {"swap": {"within": 1}}})
    assert (list(named.to_df().columns), named.manifest["roles"]["dropped"]) == (
        ["zip", "disease", "ward", "pay"],
        ["name"],
    )


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (["nobody"], "there is no kept column 'nobody'; there are zip, disease, ward"),
        (["Ward"], "there is no kept column 'Ward'; did you mean 'ward'"),
        (["zip"], "'zip' is in both `quasi_identifiers` and `keep`; keep it in one of them"),
        (["disease"], "'disease' is in both `sensitive` and `keep`; keep it in one of them"),
        (["ward", "ward"], "keep: 'ward' is listed twice"),
        ("ward", "keep: give a list of column names, as text, or '\\*' for every column"),
    ],
)
def test_a_kept_column_must_exist_without_another_role(keep: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        anonymize(people(), SPEC, keep=keep)


def test_an_anatomy_drops_columns_without_a_role_too(tmp_path: Path) -> None:
    for call, more in ((anonymize, {"form": "anatomy"}), (anatomize, {"l": 2})):
        spec = {key: value for key, value in SPEC.items() if call is anonymize or key != "privacy"}
        built = call(people(name=NAMES), spec, output=tmp_path / f"{call.__name__}_undecided.parquet", **more)
        assert built.manifest["roles"]["dropped"] == ["ward", "name"]
        built = call(people(name=NAMES), spec, keep=["ward"], output=tmp_path / f"{call.__name__}.parquet", **more)
        assert built.manifest["roles"]["dropped"] == ["name"]
        with duckdb.connect() as here:
            rows = here.read_parquet(str(tmp_path / f"{call.__name__}.parquet"))
            assert rows.columns == ["group_id", "zip", "ward"]


@pytest.mark.slow
def test_a_cloak_drops_columns_without_a_role_too() -> None:
    rows = range(600)
    places = pandas.DataFrame(
        {
            "car": [row % 20 for row in rows],
            "lat": [46.9 + row * math.cos(row) / 9000 for row in rows],
            "lon": [7.4 + row * math.sin(row) / 9000 for row in rows],
            "ts": [datetime(2025, 3, 1) + timedelta(seconds=71 * row) for row in rows],
            "speed": [row % 90 for row in rows],
            "minute": [datetime(2025, 3, 1) + timedelta(minutes=71 * row // 60) for row in rows],
        }
    )
    spec = {"location": ["lat", "lon"], "time": "ts", "unit": "car"}
    assert cloak(places, spec).manifest["roles"]["dropped"] == ["speed", "minute"]
    release = cloak(places, spec, keep=["speed"])
    assert (release.manifest["roles"]["kept"], release.manifest["roles"]["dropped"]) == (["speed"], ["minute"])
    assert "minute" not in release.to_df().columns
    with pytest.raises(SpecError, match="there is no kept column 'car2'"):
        cloak(places, spec, keep=["car2"])


# A release that is made again and again


@pytest.mark.parametrize("options", [{}, {"strategy": "refine"}], ids=str)
def test_a_view_does_not_grow_when_its_source_does(options: dict[str, Any], engine: Engine, make_table: Any) -> None:
    rows = [[zip_code, disease] for zip_code, disease in people()[["zip", "disease"]].values.tolist()]
    make_table(engine, "people", {"zip": "VARCHAR", "disease": "VARCHAR"}, rows)
    release = anonymize("people", SPEC, connection=engine.connection, into="shown", form="view", **options)
    engine.connection.execute("ALTER TABLE people ADD COLUMN street VARCHAR DEFAULT 'Main'")
    table = engine.find("shown")
    assert table
    assert [column.name for column in table.columns] == ["zip", "disease"]
    assert len(engine.rows("SELECT * FROM shown")) == release.manifest["released_rows"] > 0
    assert {len(row) for row in engine.rows("SELECT * FROM shown")} == {2}


def test_a_statement_over_files_names_its_columns(tmp_path: Path, capsys: Any) -> None:
    from kanon_sql.cli.app import app

    people().to_parquet(tmp_path / "people.parquet")
    options = ["--quasi-identifiers", "zip", "--keep", "disease,ward", "--strategy", "auto", "--k", "2", "--sql"]
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "zip.csv").write_text("31;*\n32;*\n")
    app(
        ["anonymize", str(tmp_path / "people.parquet"), "--hierarchies", str(tmp_path / "h"), *options],
        standalone_mode=False,
    )
    statement = capsys.readouterr().out
    people(street=NAMES).to_parquet(tmp_path / "people.parquet")
    assert duckdb.sql(statement.rstrip().rstrip(";")).columns == ["zip", "disease", "ward"]


def test_a_new_column_of_the_source_is_dropped() -> None:
    new = people(block=[7, 8, 9, 9] * 10)
    for keep, kept in ((None, []), (["ward"], ["ward"]), ("*", ["ward", "block"])):
        roles = anonymize(new, SPEC, keep=keep).manifest["roles"]
        assert (roles["kept"], roles["dropped"]) == (kept, [name for name in ("ward", "block") if name not in kept])


@pytest.mark.slow
def test_contents_are_counted_in_all_rows(engine: Engine, make_table: Any) -> None:
    notes = ["no allergies known"] * 110_000 + ["mail: ann@example.org", "mail: bob@example.org"]
    table = make_table(engine, "people", {"note": "VARCHAR", "age": "INTEGER"}, [[note, 30] for note in notes])
    assert suspects(engine, table, table.columns[:1], []) == [Suspect("note", "contains e-mail addresses in 2 rows")]


def test_a_column_without_a_role_is_reported_with_the_way_to_keep_it(tmp_path: Path, capsys: Any) -> None:
    from kanon_sql.cli.app import app

    people(note=[f"Tel. 078 977 26 {row}" for row in range(10, 50)]).to_parquet(tmp_path / "people.parquet")
    (tmp_path / "zip.csv").write_text("31;*\n32;*\n")
    spec = ["--quasi-identifiers", "zip", "--hierarchies", tmp_path, "--sensitive", "disease", "--k", "2"]
    arguments = ["anonymize", tmp_path / "people.parquet", *spec, "--output"]
    app([str(word) for word in [*arguments, tmp_path / "undecided.parquet"]], standalone_mode=False)
    assert "\nDropped, no role: ward, note; keep them with --keep.\n" in capsys.readouterr().out
    app([str(word) for word in [*arguments, tmp_path / "all.parquet", "--keep", "*"]], standalone_mode=False)
    shown = capsys.readouterr()
    assert "Released unchanged: disease (sensitive), ward, note.\n" in shown.out
    found = "the column 'note' is released unchanged, and contains telephone numbers in 40 rows, and differs in nearly"
    assert found in " ".join(shown.err.split())
    release = anonymize(people(), SPEC)
    assert "dropped   no role: ward; keep them with `keep`" in str(release)


# Real tables


@needs("adult/adult.csv", "creditcard/creditcard.csv", "cup98/cup98.csv", "c2k/c2k.csv")
@pytest.mark.parametrize(
    ("path", "quasi", "expected"),
    [
        *(("adult/adult.csv", quasi, {}) for quasi in (["age", "sex"], ["education", "race"], ["occupation"])),
        ("creditcard/creditcard.csv", ["SEX", "EDUCATION", "MARRIAGE", "AGE"], {}),
        ("creditcard/creditcard.csv", ["LIMIT_BAL", "BILL_AMT1", "PAY_AMT6"], {}),
        ("cup98/cup98.csv", ["ZIP", "AGE", "GENDER", "INCOME"], {}),
        ("cup98/cup98.csv", ["STATE", "AGE"], {"ZIP": "nearly determines 'STATE'"}),
        ("c2k/c2k.csv", ["i1_hops", "i2_hops"], {"nr": f"{NEARLY} (3,942 values in 3,942 rows)"}),
    ],
)
@pytest.mark.sampled
def test_ordinary_tables_stop_for_a_reason_only(path: str, quasi: list[str], expected: dict[str, str]) -> None:
    engine = DuckDB()
    table = engine.read_file(f"{DATA}/{path}")
    kept = [column for column in table.columns if column.name not in quasi]
    suspected = suspects(engine, table, kept, [column for column in table.columns if column.name in quasi])
    if path.startswith("c2k"):  # readings that differ in nearly every row, or say by NULL how many legs there are
        assert {s.column: s.reason for s in suspected}.items() >= expected.items()
    else:
        assert {s.column: s.reason for s in suspected} == expected


@needs("adult/uci/adult.data")
def test_the_number_of_an_education_reveals_the_education() -> None:
    names = "age workclass fnlwgt education education_num marital job relation race sex gain loss hours country class"
    engine = DuckDB()
    engine.connection.execute(
        "CREATE TABLE adult AS SELECT * FROM read_csv(?, header = false, names = ?)",
        [f"{DATA}/adult/uci/adult.data", names.split()],
    )
    table = engine.find("adult")
    assert table
    quasi = [column for column in table.columns if column.name in ("age", "education")]
    kept = [column for column in table.columns if column not in quasi]
    assert suspects(engine, table, kept, quasi) == [Suspect("education_num", "nearly determines 'education'")]
