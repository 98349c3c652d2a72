"""The suggestions of `init` for any names and languages: roles, the column of people, labels, and the rest."""

import csv
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.risk.exact import exact
from support.command_line import kanon
from support.data import DATA, needs
from support.database import create_table

FIRST = ["Anna", "Urs", "Ivan", "Lea", "Noah", "Maria", "Ruth", "Beat", "Peter", "Laura", "Monika", "Jelena"]
LAST = ["Meier", "Keller", "Weber", "Frei", "Graf", "Schmid", "Huber", "Fischer", "Brunner", "Gerber", "Wyss", "Roth"]
TOWNS = [("8001", "Zürich", "ZH"), ("3011", "Bern", "BE"), ("4051", "Basel", "BS"), ("6900", "Lugano", "TI")]
HEADINGS = {
    "de": "Fall-Nr;Patienten-Nr;Name;Vorname;Geburtsdatum;Geschlecht;AHV-Nr;Telefon;PLZ;Wohnort;Kanton;Zivilstand;"
    "Hauptdiagnose;Kosten CHF;Arzt;Bemerkung",
    "fr": "N° de cas;N° de patient;Nom;Prénom;Date de naissance;Sexe;N° AVS;Téléphone;NPA;Domicile;Canton;État civil;"
    "Diagnostic principal;Coûts CHF;Médecin;Remarque",
    "it": "N. caso;N. paziente;Cognome;Nome;Data di nascita;Sesso;N. AVS;Telefono;CAP;Luogo di residenza;Cantone;"
    "Stato civile;Diagnosi principale;Costi CHF;Medico;Osservazioni",
    "es": "N.º de caso;N.º de paciente;Apellidos;Nombre;Fecha de nacimiento;Sexo;Número AVS;Teléfono;Código postal;"
    "Lugar de residencia;Cantón;Estado civil;Diagnóstico principal;Coste CHF;Médico;Observaciones",
    "en": "Case no;Patient no;Surname;First name;Date of birth;Sex;AHV no;Phone;Postal code;Town;Canton;"
    "Marital status;Main diagnosis;Costs CHF;Physician;Remark",
    "neutral": ";".join(f"c{number}" for number in range(1, 17)),
}
DROPPED = (0, 1, 2, 3, 6, 7, 14, 15)  # numbers and names of people, telephone numbers, texts


def ahv(number: int) -> str:
    digits = f"756{number:09}"
    check = -sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(digits)) % 10
    return f"756.{digits[3:7]}.{digits[7:11]}.{digits[11]}{check}"


def discharges(people: int = 260) -> list[list[str]]:
    """Rows of a hospital: several of some people, whose birth dates hold one typing error."""
    draw = random.Random(8)
    rows = []
    for person in range(people):
        born = date(1935, 1, 1) + timedelta(days=draw.randrange(28_000))
        phone = (
            f"07{draw.randrange(6, 10)} {draw.randrange(100, 999)} {draw.randrange(10, 99)} {draw.randrange(10, 99)}"
        )
        who = [f"P{draw.randrange(10**6):06}", draw.choice(LAST), draw.choice(FIRST), f"{born:%d.%m.%Y}"]
        who += [draw.choice("MW"), ahv(draw.randrange(10**9)), phone, *draw.choice(TOWNS)]
        who += [draw.choice(["ledig", "verheiratet", "geschieden"])]
        for _ in range(draw.choice([1, 1, 2, 3])):
            note = draw.choice(["", "", f"Rückruf {phone} erbeten", "keine Allergien bekannt", f"Tochter {who[2]} da"])
            case = [draw.choice(["I10", "E11", "J18", "F32"]), f"{draw.uniform(900, 9000):.2f}",
                    f"Dr. med. {draw.choice(LAST)}", note]  # fmt: skip
            rows.append([str(700_000 + 3 * len(rows)), *who, *case])
        if person == 9:
            rows[-1][4] = "31.02.1960"
    return rows


def write(path: Path, heading: str, rows: Iterable[Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([heading.split(";"), *rows])
    return path


def roles(suggestions: kanon_sql.Suggestions) -> dict[str, str]:
    return {column.name: column.role for column in suggestions.columns}


@pytest.mark.parametrize("language", HEADINGS)
def test_columns_are_recognized_in_every_language_and_by_content(language: str, tmp_path: Path) -> None:
    names = HEADINGS[language].split(";")
    suggestions = kanon_sql.suggest(write(tmp_path / "discharges.csv", HEADINGS[language], discharges()))
    assert suggestions.unit == names[1]
    assert [name for name, role in roles(suggestions).items() if role in ("identifier", "dropped")] == [
        names[place] for place in DROPPED
    ]
    exact_ones = {} if language == "neutral" else {names[12]: "sensitive"}
    others = dict.fromkeys((names[place] for place in range(16) if place not in DROPPED), "quasi-identifier")
    assert {name: role for name, role in roles(suggestions).items() if name in others} == others | exact_ones


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "neutral"])
def test_a_release_is_created_without_an_edit(language: str, tmp_path: Path) -> None:
    rows = discharges()
    source = write(tmp_path / "discharges.csv", HEADINGS[language], rows)
    path = kanon_sql.suggest(source).write(tmp_path / "release.yml")
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert spec["unit"] == HEADINGS[language].split(";")[1]
    release = kanon_sql.anonymize(None, path, time_limit=0.5)
    assert release.manifest["verified"]
    released = (tmp_path / "discharges_anon.csv").read_text(encoding="utf-8")
    assert not re.search(r"756\.\d|07\d \d|\bP\d{6}|Dr\. med", released)
    assert not {*FIRST, *LAST} & {*re.findall(r"\w+", released)}
    unchanged = [HEADINGS[language].split(";").index(name) for name in (*spec.get("sensitive", ()), *spec["keep"])]
    people_of = defaultdict(set)
    for row in rows:
        people_of[tuple(row[place] for place in unchanged)].add(row[1])
    alone = {person for people in people_of.values() if len(people) == 1 for person in people}
    assert not unchanged or len(alone) < 0.01 * len({row[1] for row in rows})


@needs("discharges/discharges_de.csv")
@pytest.mark.slow
@pytest.mark.nightly
def test_discharges(tmp_path: Path) -> None:
    path = kanon_sql.suggest(DATA / "discharges" / "discharges_de.csv").write(tmp_path / "release.yml")
    release = kanon_sql.anonymize(None, path, time_limit=1.0)
    manifest = release.manifest
    assert not [warning for warning in manifest["warnings"] if "unchanged" in warning]
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["unit"] == "Patienten-Nr"
    (released,) = tmp_path.glob("discharges_de_anon.*")
    text = released.read_text(encoding="utf-8")
    assert not re.search(r"756\.\d|80756|@|\b07\d \d|\bP\d{6}|Dr\. med|Tel\.", text)
    with (DATA / "discharges" / "discharges_de.csv").open(encoding="cp1252", newline="") as file:
        names = {name for row in csv.DictReader(file, delimiter=";") for name in (row["Name"], row["Vorname"])}
    assert not {name for name in names if len(name) > 3} & {*re.findall(r"\w+", text)}


def test_every_column_gets_a_decision_and_few_are_unique_by_unchanged_columns() -> None:
    """A sheet of many columns, of which twelve and more alone tell everybody apart."""
    draw = random.Random(3)
    sheet = pandas.DataFrame(
        {"religion": [draw.choice("abcdef") for _ in range(300)], "salary": [draw.randrange(9**6) for _ in range(300)]}
        | {"wage group": [draw.choice("xy") for _ in range(300)]}
        | {f"v{number}": [draw.randrange(9) for _ in range(300)] for number in range(26)}
    )
    suggestions = kanon_sql.suggest(sheet)
    of = roles(suggestions)
    assert (of["religion"], of["salary"], of["wage group"]) == ("quasi-identifier", "quasi-identifier", "sensitive")
    assert Counter(of.values()) == {"quasi-identifier": 16, "sensitive": 1, "dropped": 12}, "none is kept"
    assert not [note for note in suggestions.notes if "unchanged" in note]
    kept = kanon_sql.suggest(sheet, keep=["v1", "v2", "v3", "v4"])
    assert "of the rows have values that no other has together in" in kept.notes[0]
    assert "Note: " + kept.notes[0].split(",")[0] in kept.text().replace("\n# ", " ")


def test_a_release_warns_of_rows_unique_by_unchanged_columns() -> None:
    sheet = pandas.DataFrame({"age": [30, 40] * 50, "pay": [*range(3), *[9] * 97], "id": [i // 2 for i in range(100)]})
    options = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "k": 2}
    warnings = kanon_sql.anonymize(sheet, sensitive=["pay"], identifiers=["id"], **options).manifest["warnings"]
    (message,) = [warning for warning in warnings if "unchanged" in warning]
    assert message.startswith(
        "3.0 % of the rows have values that no other has in 'pay', which a release shows unchanged"
    )
    warnings = kanon_sql.anonymize(sheet, sensitive=["pay"], unit="id", **options).manifest["warnings"]
    (message,) = [warning for warning in warnings if "unchanged" in warning]
    assert message.startswith("4.0 % of the people have")
    rare = sheet.assign(pay=[7, *[9] * 99])
    assert not [w for w in kanon_sql.anonymize(rare, sensitive=["pay"], keep=[], **options).manifest["warnings"]
                if "unchanged" in w]  # fmt: skip


def test_people_unique_by_some_columns_are_counted_as_by_hand(engine: Engine) -> None:
    draw = random.Random(5)
    for number in range(4):
        rows = [(draw.randrange(6), draw.choice(["x", "y", None]), draw.randrange(14)) for _ in range(24)]
        table = create_table(engine, f"exact {number}", {"a": "INTEGER", "person": "VARCHAR", "u": "INTEGER"}, rows)
        people = defaultdict(list)
        for a, b, unit in rows:
            people[a, b].append(unit)
        alone = [units for units in people.values() if len({*units}) == 1]
        with Scratch(engine, "test") as tables:
            by_rows = exact(tables, table.relation, ["a", "person"], None)
            by_people = exact(tables, table.relation, ["a", "person"], "u")
        assert (by_rows.singled_out, by_rows.counted) == (sum(len(units) == 1 for units in alone), 24)
        assert by_people.singled_out == len({units[0] for units in alone})
        assert by_people.counted == len({unit for *_, unit in rows})


def test_a_label_names_no_value_that_few_people_have(tmp_path: Path) -> None:
    draw = random.Random(2)
    towns = ["Bern", "Wien", "Graz", "Thun", "Linz"]
    rows = [(f"u{i // 2}", draw.choice(towns), draw.choice(["1", "2", "12", "17", *map(str, range(20, 40))]))
            for i in range(400)]  # fmt: skip
    rows += [("u900", "VIPTOWN", "secret note")] + [("u901", "TWINTOWN", "?")] * 9
    people = pandas.DataFrame(rows, columns=["user_id", "town", "hours"])
    suggestions = kanon_sql.suggest(people, quasi_identifiers=["town", "hours"], identifiers=["user_id"])
    assert suggestions.unit == "user_id"
    for column in suggestions.of_role("quasi-identifier"):
        labels = {label for level in column.levels for label in level.values()}
        assert labels
        assert not [label for label in labels if re.search(r"VIPTOWN|TWINTOWN|secret|\?", label)], column.name
        assert all(level[value] == "other" for level in column.levels[:1] for value in level
                   if value in ("VIPTOWN", "TWINTOWN", "secret note", "?"))  # fmt: skip
    path = suggestions.write(tmp_path / "release.yml")
    release = kanon_sql.anonymize(people, path)
    assert "VIPTOWN" not in release.to_df().to_csv()


def test_numbers_are_judged_by_how_many_are_unique_whatever_their_type() -> None:
    draw = random.Random(1)
    cents = [draw.randrange(4000) for _ in range(2000)]
    table = pandas.DataFrame(
        {
            "segment": [draw.choice("abc") for _ in cents],
            "total": [value / 100 for value in cents],
            "gross": [draw.randrange(9**9) / 100 for _ in cents],
            "count": cents,
        }
    )
    assert roles(kanon_sql.suggest(table)) == dict.fromkeys(table, "quasi-identifier")


def test_people_are_found_by_constant_columns_and_orders_are_not() -> None:
    draw = random.Random(7)
    rows: list[list[Any]] = []
    for customer in range(120):
        traits = [f"K{draw.randrange(10**6)}", draw.choice(FIRST), draw.choice(["f", "m"])]
        for _ in range(draw.randrange(1, 4)):
            order = [f"B{draw.randrange(10**7)}", date(2024, 1, 1) + timedelta(days=draw.randrange(300))]
            rows += [[*traits, *order, draw.randrange(9)] for _ in range(draw.randrange(1, 4))]
        assert customer < 120
    suggestions = kanon_sql.suggest(pandas.DataFrame(rows, columns=["a", "b", "c", "d", "e", "f"]))
    assert suggestions.unit == "a"
    assert roles(suggestions)["d"] == "quasi-identifier"
    alone = pandas.DataFrame(rows, columns=["a", "b", "c", "d", "e", "f"]).drop(columns=["b", "c"])
    assert kanon_sql.suggest(alone).unit is None, "nothing in it is a trait of people"


def test_an_existing_spec_is_refused_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("release.yml").write_text("mine")
    run = kanon("init", "nothing.csv")
    assert run.code == 2
    assert "exists already" in run.err
    assert "name one that ends in .yml" in kanon("init", "nothing.csv", "--output", "a.json").err
