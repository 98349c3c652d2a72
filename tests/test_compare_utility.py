"""Measures of whole rows in a comparison: those of the manifest of the same release, without reading the source."""

import pandas
import pytest

from kanon_sql import anonymize, compare
from kanon_sql.engines.duckdb import DuckDB
from support.command_line import done

PEOPLE = pandas.DataFrame({"zip": [f"{i % 5}{i % 3}{i % 2}" for i in range(120)], "sex": ["f", "m", "m"] * 40})
SPEC = {
    "quasi_identifiers": {
        "zip": {"hierarchy": {"redact": "right"}, "weight": 0.5},
        "sex": {"hierarchy": "suppress", "weight": 1},
    },
    "suppression_limit": 0.1,
}


def test_ambiguity_and_divergence_are_those_of_the_release() -> None:
    compared = compare(PEOPLE, SPEC, strategies=["exhaustive", "mondrian"], k=3)
    for search in compared.searches:
        lost = dict(anonymize(PEOPLE, SPEC, strategy=search.strategy, k=search.k).manifest["information_loss"])
        assert search.information_loss is not None
        assert search.information_loss["ambiguity"] == pytest.approx(lost["ambiguity"])
        expected = None if search.strategy == "mondrian" else pytest.approx(lost["divergence"])
        assert search.information_loss["divergence"] == expected


def test_no_strategy_reads_the_source_again(monkeypatch: pytest.MonkeyPatch, embedded: DuckDB) -> None:
    embedded.connection.register("people", PEOPLE)
    requests: list[str] = []
    rows, run = DuckDB.rows, DuckDB.run
    monkeypatch.setattr(DuckDB, "rows", lambda self, sql: requests.append(sql) or rows(self, sql))
    monkeypatch.setattr(DuckDB, "run", lambda self, sql: requests.append(sql) or run(self, sql))

    def reads(strategies: list[str]) -> int:
        requests.clear()
        compare("people", SPEC, strategies=strategies, k=3, connection=embedded.connection)
        return sum('"people"' in sql and not sql.startswith(("DESCRIBE", "EXPLAIN")) for sql in requests)

    assert 0 < reads(["datafly", "ola", "kaca"]) == reads(["datafly", "kaca"])


def test_the_command_line_shows_them_within_80_columns(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "zip.csv").write_text("".join(f"{z};{z[0]}**;*\n" for z in sorted(set(PEOPLE["zip"]))))
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    arguments = [
        "--quasi-identifiers",
        "zip,sex",
        "--hierarchies",
        tmp_path,
        "--strategies",
        "auto,mondrian",
        "--k",
        "3,9",
    ]
    output = done("compare", tmp_path / "people.csv", *arguments)
    table = next(part for part in output.split("\n\n") if "ambiguity" in part).strip().splitlines()
    assert table[0].split() == ["strategy", "k", "granularity", "ncp", "ambiguity", "divergence"]
    assert [len(line.split()) for line in table[1:]] == [6, 5, 6, 5]
