"""Names and values that are SQL to a careless program."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from kanon_sql.engines.duckdb import DuckDB
from support.command_line import ask, done, kanon, texts
from support.engines import ByHand

NASTY = [
    "select",
    "two words",
    "semi;colon",
    "comma, too",
    'do"uble',
    "it's",
    "naïve 年齢",
    "x; DROP TABLE people; --",
    '"; DROP TABLE people; --',
    "'); DROP TABLE people; --",
    "{0} %s $1 ? :a",
    "back\\slash",
]
WORST = "\"it's; DROP TABLE people; -- 年 {0} %s $1 \\ "
NASTY_ROWS = [(*(f"{name}{i % 2}" for name in NASTY), WORST if i % 3 else None) for i in range(12)]
HIDDEN = sorted((*(f"{name}*" for name in NASTY), str(kept)) for *_, kept in NASTY_ROWS)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def write_rows(name: str, lines: list[tuple[Any, ...]], separator: str) -> None:
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(lines)


@pytest.mark.parametrize("place", ["duckdb", "postgres"])
@pytest.mark.slow
def test_any_name_is_only_a_name(request: pytest.FixtureRequest, ward: Path, make_table: Any, place: str) -> None:
    postgres = place == "postgres"
    database = str(request.getfixturevalue("postgres_dsn")) if postgres else str(ward / "new.duckdb")
    engine = ByHand.open(database) if postgres else DuckDB.open(database, create=True)
    make_table(engine, WORST, dict.fromkeys([*NASTY, "kept"], "VARCHAR"), NASTY_ROWS)
    make_table(engine, "people", {"canary": "VARCHAR"}, [("alive",)])
    engine.close()
    for name in NASTY:
        write_rows(f"h/{name}.csv", [(f"{name}{i}", f"{name}*", "*") for i in "01*"], ";")
    levels = {name: {"min_level": 1, "max_level": 1} for name in NASTY}
    (ward / "names.yml").write_text(json.dumps({"quasi_identifiers": levels, "hierarchies": "h", "keep": ["kept"]}))
    options = [WORST, "--database", database, "--spec", "names.yml"]
    for form in ("table", "view"):
        done("anonymize", *options, "--into", f"{WORST}{form}", "--as", form)
        assert texts(ask(database, f"SELECT * FROM {quoted(WORST + form)}")) == HIDDEN
    done("anonymize", *options, "--output", f"{WORST}.csv")
    done("verify", f"{WORST}.csv", "--spec", "names.yml", "--k", 12)
    done("anonymize", f"{WORST}.csv", *options[3:], "--output", f"{WORST}.parquet")
    assert texts(ask("", f"FROM '{WORST.replace(chr(39), 2 * chr(39))}.parquet'")) == HIDDEN
    done("explain", *options)
    listed = ",".join(map(quoted, NASTY))
    assert kanon("verify", *options[:3], "--quasi-identifiers", listed, "--k", 7).code == 1
    assert kanon("verify", *options[:3], "--quasi-identifiers", listed, "--k", 6).code == 0
    assert ask(database, "SELECT * FROM people") == [("alive",)]


@pytest.mark.usefixtures("ward")
@pytest.mark.slow
def test_a_hierarchy_is_built_for_any_name() -> None:
    write_rows("names.csv", [(*NASTY, "kept"), *NASTY_ROWS], ",")
    for name in NASTY:
        done("hierarchy", "build", "names.csv", "--column", name, "--suppress", "--output", f"h/{name}.csv")
    listed = ["--quasi-identifiers", ",".join(map(quoted, NASTY)), "--hierarchies", "h"]
    done("anonymize", "names.csv", *listed, "--keep", "kept", "--k", 6, "--output", "out.parquet")
    assert texts(ask("", "FROM 'out.parquet'")) == texts(NASTY_ROWS)
