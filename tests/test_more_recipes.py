"""Edges, ages, prefixes, networks, calendar units and built-in taxonomies, against literal examples."""

import csv
import ipaddress
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.codes import built_in, contains, networks, prefix
from kanon_sql.generalization.recipes import ages, dates, edges
from kanon_sql.spec import parse
from support.command_line import done, kanon
from support.hierarchies import check, columns

COUNTRIES = Path(__file__).resolve().parent.parent / "hierarchies" / "known" / "countries.csv"


def test_custom_edges_define_half_open_ranges() -> None:
    hierarchy = check(edges([-3, 0, 0.5, 10, 99, 100], [[0, 1, 10, 100], [10]], "gain"))
    assert columns(hierarchy) == {
        -3: ["< 0", "< 10", "*"],
        0: ["[0, 1)", "< 10", "*"],
        0.5: ["[0, 1)", "< 10", "*"],
        10: ["[10, 100)", ">= 10", "*"],
        99: ["[10, 100)", ">= 10", "*"],
        100: [">= 100", ">= 10", "*"],
    }


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        ([], "one is empty"),
        ([[1], []], "one is empty"),
        ([[5, 1]], "the edges 5, 1 do not increase"),
        ([[1, 5], [3]], "the edges 3 are not among those of the level below"),
    ],
)
def test_edges_that_do_not_nest_are_refused(levels: list[list[int]], problem: str) -> None:
    with pytest.raises(HierarchyError, match=problem):
        edges([1], levels, "gain")


def test_an_age_is_counted_to_the_day() -> None:
    born = [date(1990, 2, 28), date(1990, 3, 1), date(1988, 2, 29), date(1930, 1, 1), date(2025, 1, 1)]
    hierarchy = check(ages(born, date(2024, 2, 29), [1, 10], "born", top=90))
    assert columns(hierarchy) == {
        born[0]: ["34", "[30, 40)", "*"],
        born[1]: ["33", "[30, 40)", "*"],
        born[2]: ["36", "[30, 40)", "*"],
        born[3]: [">= 90", ">= 90", "*"],
        born[4]: ["< 0", "< 0", "*"],
    }
    with pytest.raises(HierarchyError, match="15 is not a multiple of 10"):
        ages(born, date(2024, 1, 1), [10, 15], "born")


def test_bands_of_years_and_hours_and_weeks() -> None:
    moment = datetime(2020, 12, 31, 23, 59)
    assert columns(dates([moment], ["hour", "day", "week"], "at"))[moment] == [
        "2020-12-31 23:00", "2020-12-31", "2020-W53", "*",
    ]  # fmt: skip
    assert columns(dates([moment], ["year", "5 years", "20 years"], "at"))[moment] == [
        "2020", "2020-2024", "2020-2039", "*",
    ]  # fmt: skip
    weeks = {dates([date(2021, 1, 4) + timedelta(days=day)], ["week"], "at").labels(1) for day in range(7)}
    assert weeks == {("2021-W01",)}


@pytest.mark.parametrize(
    ("units", "problem"),
    [
        (["week", "month"], "month is not coarser than week; weeks do not nest in months"),
        (["5 years", "8 years"], "8 years is not a multiple of 5 years"),
        (["1 years"], "the units are 1 years"),
        (["decade", "5 years"], "5 years is not coarser than decade"),
    ],
)
def test_units_that_do_not_nest_are_refused(units: list[str], problem: str) -> None:
    with pytest.raises(HierarchyError, match=problem):
        dates([date(2020, 1, 1)], units, "at")


def test_prefixes_pad_what_lost_its_zeros() -> None:
    assert columns(check(prefix([2138, 10115], [3, 1], "zip", pad=5))) == {
        2138: ["021*", "0*", "*"],
        10115: ["101*", "1*", "*"],
    }
    assert columns(prefix(["E11", "E11.9"], [3], "icd")) == {"E11": ["E11*", "*"], "E11.9": ["E11*", "*"]}
    with pytest.raises(HierarchyError, match="the lengths of prefixes are 1, 3"):
        prefix(["a"], [1, 3], "zip")


def test_networks_are_those_of_the_addresses() -> None:
    hosts = ["10.1.2.3", "10.1.9.9", "2001:db8:1:2::5"]
    hierarchy = check(networks(hosts, [24, 8], "host"))
    for host, levels in columns(hierarchy).items():
        lengths = (48, 16) if ":" in str(host) else (24, 8)
        assert levels[:-1] == [str(ipaddress.ip_network(f"{host}/{bits}", strict=False)) for bits in lengths]
    with pytest.raises(HierarchyError, match="a value is not an IP address"):
        networks(["10.1.2"], [24], "host")


def test_every_country_has_two_codes_a_region_and_a_continent() -> None:
    with COUNTRIES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    named = [row for row in rows if row["alpha2"] not in ("", "XK", "AN")]
    assert len(named) == len({row["alpha2"] for row in named}) == len({row["alpha3"] for row in named}) == 249
    continents = {row["subregion"]: row["continent"] for row in rows}
    assert len(continents) == 23, "the regions of UN M49, and Antarctica, which has none"
    assert all(continents[row["subregion"]] == row["continent"] for row in rows)
    names = [name for row in rows for name in (row["name"], *row["other names"].split("|")) if name]
    assert all(contains("countries", name) for name in names)


def test_countries_are_recognized_by_code_and_name_in_any_case() -> None:
    hierarchy = check(
        built_in(["CH", "che", "Côte d'Ivoire", "COTE DIVOIRE", "Trinidad & Tobago", "Mars"], "countries", "from")
    )
    assert columns(hierarchy) == {
        "CH": ["Western Europe", "Europe", "*"],
        "che": ["Western Europe", "Europe", "*"],
        "Côte d'Ivoire": ["Western Africa", "Africa", "*"],
        "COTE DIVOIRE": ["Western Africa", "Africa", "*"],
        "Trinidad & Tobago": ["Caribbean", "Americas", "*"],
        "Mars": ["other", "other", "*"],
    }


def test_diagnoses_have_category_block_and_chapter() -> None:
    labels = columns(check(built_in(["E11.9", "e11", "E11.90", "Z99", "flu"], "icd10", "icd")))
    chapter = "IV Endocrine, nutritional and metabolic diseases"
    assert labels["E11.9"] == labels["e11"] == labels["E11.90"] == ["E11", "E10-E14 Diabetes mellitus", chapter, "*"]
    assert labels["flu"] == ["other", "other", "other", "*"]


def test_every_new_recipe_is_built_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("zip,born,ip,from\n2138,1990-05-17,10.1.2.3,Peru\n10115,1931-01-01,10.1.9.9,JP\n")
    for arguments, expected in [
        ("zip --prefix 3,1 --pad 5", "2138;021*;0*;*"),
        ("zip --edges 100,5000;5000", "2138;[100, 5000);< 5000;*"),
        ("born --age 2026-05-16 --bands 1,10 --top 90", "1990-05-17;35;[30, 40);*"),
        ("born --dates year,5\\ years", "1990-05-17;1990;1990-1994;*"),
        ("ip --networks 24,16", "10.1.2.3;10.1.2.0/24;10.1.0.0/16;*"),
        ("from --known countries", "Peru;South America;Americas;*"),
    ]:
        column, *options = (word.replace("\0", " ") for word in arguments.replace("\\ ", "\0").split())
        done("hierarchy", "build", "x.csv", "--column", column, *options, "--output", "h.csv", "--overwrite")
        assert expected in Path("h.csv").read_text().splitlines()
    run = kanon("hierarchy", "build", "x.csv", "--column", "zip", "--prefix", "a", "--output", "h.csv", "--overwrite")
    assert run.code == 2
    assert "not a list of whole numbers" in run.err


def test_a_spec_can_use_the_new_recipes() -> None:
    recipes = {
        "born": {"age": date(2026, 1, 1), "bands": [1, 5], "top": 90},
        "zip": {"prefix": [4, 2], "pad": 5},
        "gain": {"edges": [[1, 10], [10]]},
        "ip": {"networks": [24]},
        "from": {"known": "countries"},
    }
    quasi_identifiers = {name: {"hierarchy": recipe} for name, recipe in recipes.items()}
    spec = parse({"source": "x", "quasi_identifiers": quasi_identifiers})
    for name, recipe in recipes.items():
        parsed = spec.quasi_identifiers[name].hierarchy
        assert parsed is not None
        assert (
            parse({"source": "x", "quasi_identifiers": {name: {"hierarchy": parsed}}}).quasi_identifiers[name].hierarchy
            == parsed
        )
        assert type(parsed).__name__.removesuffix("Recipe").lower() == next(iter(recipe))
