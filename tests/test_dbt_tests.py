"""The generic tests of the dbt package agree with `kanon_sql.verify` on random tables, and show no values."""

import random
from typing import Any

import pytest

import kanon_sql
from kanon_sql import hints
from kanon_sql.engine import Engine
from kanon_sql.privacy import PrivacyModel, k_anonymity, l_diversity, t_closeness
from kanon_sql.spec import may_suppress
from support.database import MakeTable
from support.dbt_macros import CompilerError, Package

COLUMNS = {"age": "INTEGER", 'odd "zip"': "VARCHAR(9)", "ill": "INTEGER", "person": "INTEGER"}
QUASI = ["age", 'odd "zip"']
ASKED: list[tuple[str, dict[str, Any], PrivacyModel]] = [
    ("k_anonymity", {"k": 3}, k_anonymity(3)),
    ("l_diversity", {"sensitive": "ill", "l": 2}, l_diversity("ill", 2)),
    ("l_diversity", {"sensitive": "ill", "l": 2.5, "kind": "entropy"}, l_diversity("ill", 2.5, "entropy")),
    ("l_diversity", {"sensitive": "ill", "l": 2, "kind": "entropy"}, l_diversity("ill", 2, "entropy")),
    ("t_closeness", {"sensitive": "ill", "t": 0.3}, t_closeness("ill", 0.3)),
    ("t_closeness", {"sensitive": "ill", "t": 0.15, "distance": "ordered"}, t_closeness("ill", 0.15, "ordered")),
]


def rows(seed: int) -> list[tuple[Any, ...]]:
    """Forty rows in a dozen classes, with NULLs of every column but the person, who may have several rows.

    Every third seed each person has one illness, and the next one a person may have two, but not in one class.
    """
    draw, created = random.Random(seed), []
    for _ in range(40):
        age, place, person = draw.choice([20, 30, None]), draw.choice(["x", "y", "", None]), draw.randrange(25)
        known = {0: draw, 1: random.Random(person), 2: random.Random(f"{person} {age} {place}")}[seed % 3]
        created.append((age, place, known.choice([1, 2, 3, None]), person))
    return created


@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.sampled
def test_a_dbt_test_finds_the_same_classes_as_verify(engine: Engine, make_table: MakeTable, unit: str | None) -> None:
    package, found = Package(engine), 0
    for seed in range(3):
        make_table(engine, f"people{seed}", COLUMNS, rows(seed))
        for test, arguments, model in ASKED:
            offenders = package.offenders(
                test, f"people{seed}", quasi_identifiers=QUASI, **arguments, **({"unit": unit} if unit else {})
            )
            checked = verified(engine, f"people{seed}", model, unit)
            assert (len(offenders), sum(offender[0] for offender in offenders)) == checked, (test, arguments, seed)
            found += len(offenders)
    assert found > 10, "tables that meet everything would tell nothing"


def verified(engine: Engine, name: str, model: PrivacyModel, unit: str | None = None, **against: Any) -> Any:
    """The unsafe classes and their rows."""
    check = kanon_sql.verify(
        name, connection=engine.connection, quasi_identifiers=QUASI, privacy=[model], unit=unit, **against
    )
    assert check.summary is not None
    return check.summary.unsafe_classes, check.summary.unsafe_rows


def test_a_release_that_is_empty_or_has_too_few_or_too_many_rows_fails(engine: Engine, make_table: MakeTable) -> None:
    package = Package(engine)
    for every, left in ((7, 0), (7, 3), (7, 6), (7, 7), (7, 8), (100, 71), (100, 72), (0, 0)):
        name = f"of{every}_{left}"
        make_table(engine, name, {"a": "INTEGER"}, [(1,)] * every)
        make_table(engine, f"less{name}", {"a": "INTEGER"}, [(1,)] * left)
        for limit in (0, 0.29, 1 / 7, 4 / 7, 1.0, "1 row", "28 rows"):
            fails = left == 0 or left > every or every - left > may_suppress(limit, every)
            found = package.offenders("suppression", f"less{name}", against=name, suppression_limit=limit)
            assert [row[:2] for row in found] == [(every, left)] * fails, (every, left, limit)


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_classes_are_compared_with_the_table_that_is_named(
    engine: Engine, make_table: MakeTable, distance: str
) -> None:
    make_table(engine, "whole", COLUMNS, [*rows(1), *rows(2), *[(20, "x", 3, 1)] * 20])
    make_table(engine, "part", COLUMNS, [*rows(1), (20, "y", 99, 1), (20, "y", 99, 2)])  # 99: nowhere in the whole
    found = set()
    for t in (0.1, 0.3, 0.6):
        given = {"quasi_identifiers": QUASI, "sensitive": "ill", "t": t, "distance": distance, "against": "whole"}
        offenders = Package(engine).offenders("t_closeness", "part", **given)
        expected = verified(engine, "part", t_closeness("ill", t, distance), against="whole")  # type: ignore[arg-type]
        assert (len(offenders), sum(offender[0] for offender in offenders)) == expected
        found.add(len(offenders))
    assert len(found) > 1, "a limit that changes nothing tells nothing"


def test_a_where_is_a_subquery_and_case_does_not_matter(engine: Engine, make_table: MakeTable) -> None:
    make_table(engine, "people", {"age": "INTEGER"}, [(1,), (1,), (2,)])
    package = Package(engine)
    assert package.offenders("k_anonymity", "people", quasi_identifiers=["AGE"], k=2) == [(1, 1, 2)]
    narrowed = "(select * from people where age = 1) dbt_subquery"
    assert package.offenders("k_anonymity", narrowed, quasi_identifiers="age", k=2) == []


def test_identifiers_are_found_by_name_and_content_and_no_value_is_shown(engine: Engine, make_table: MakeTable) -> None:
    types = dict.fromkeys(["patient_id", "contact", "note", "ward", "kept", "secret"], "VARCHAR(40)")
    drawn = [(f"P{i}", f"u{i % 9}@example.org", f"n{i}", "abc"[i % 3], f"k{i}", "s") for i in range(40)]
    make_table(engine, "people", types, drawn)
    offenders = Package(engine).offenders("no_identifiers", "people", identifiers=["SECRET"], keep=["kept"])
    assert sorted((name, reason) for name, reason, *_ in offenders) == [
        ("contact", "contains e-mail addresses"),
        ("note", "differs in nearly every row"),
        ("patient_id", "is an identifier by its name"),
        ("secret", "is an identifier"),
    ]
    assert not {value for row in drawn for value in row} & {cell for row in offenders for cell in row}
    roles = {"quasi_identifiers": ["note"], "sensitive": "contact", "keep": ["patient_id", "kept"]}
    assert Package(engine).offenders("no_identifiers", "people", **roles) == []


def test_no_test_shows_a_value(embedded: Engine, make_table: MakeTable) -> None:
    make_table(embedded, "people", COLUMNS, [(7777, "zz", 8888, 9999), (7778, "zy", 8889, 9998)])
    for test, arguments, _ in ASKED:
        shown = Package(embedded).offenders(test, "people", quasi_identifiers=QUASI, **arguments)
        assert shown
        assert all(isinstance(cell, (int, float, type(None))) or cell < 100 for row in shown for cell in row)
        assert not {7777, 7778, 8888, 8889, 9999, 9998} & {cell for row in shown for cell in row}


def test_names_are_read_as_the_profile_reads_them(embedded: Engine) -> None:
    package = Package(embedded)
    names = "SSN birthDate zip_5 name names last-name patientId PATIENT_IDS e_mail emails street address2 stage total"
    for name in names.split():
        assert package.is_named_identifier(name) == (hints.name_hint(name) == hints.IDENTIFIER), name
    assert set(package.identifier_words()) == hints._HINTS[hints.IDENTIFIER]


@pytest.mark.parametrize(
    ("test", "arguments", "message"),
    [
        ("k_anonymity", {"quasi_identifiers": ["agee"], "k": 2}, "there is no column 'agee'; there are age, odd"),
        ("k_anonymity", {"quasi_identifiers": [], "k": 2}, "quasi_identifiers is empty; give"),
        ("k_anonymity", {"quasi_identifiers": QUASI, "k": 0}, "k is 0; give a whole number of at least 1"),
        ("k_anonymity", {"quasi_identifiers": QUASI, "k": "5 or 1"}, "k is 5 or 1; give a whole"),
        ("l_diversity", {"quasi_identifiers": QUASI, "sensitive": "ill", "l": 2, "kind": "x"}, "give one of distinct"),
        ("t_closeness", {"quasi_identifiers": QUASI, "sensitive": "ill", "t": 2}, "t is 2; give a number of at least"),
        ("k_anonymity", {"quasi_identifiers": QUASI}, "k is missing; give a whole"),
        ("k_anonymity", {"k": 2}, "quasi_identifiers is empty; give"),
        ("k_anonymity", {"quasi_identifiers": QUASI, "k": 2, "column_name": "age"}, "under the model, not under a col"),
        ("l_diversity", {"quasi_identifiers": QUASI, "l": 2}, "sensitive is missing; give one name"),
        ("no_identifiers", {"kept": ["age"]}, "has no argument kept; its arguments are identifiers, quasi_identifiers"),
        ("suppression", {"against": "people", "suppression_limit": "20%"}, "give a fraction such as 0.02, or a number"),
    ],
)
def test_impossible_requests_are_refused(
    embedded: Engine, make_table: MakeTable, test: str, arguments: dict[str, Any], message: str
) -> None:
    make_table(embedded, "people", COLUMNS, [])
    package = Package(embedded)
    with pytest.raises(CompilerError, match=message):
        package.sql(test, "people", **arguments)
    assert not Package(embedded, execute=False).sql(test, "people", **arguments).strip(), "dbt parses it all the same"
