"""Large releases, with counted tuples and labels as ENUMs, equal small ones."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.release import large

ROWS = """
SELECT (hash(i) % 8)::INTEGER AS age, CASE WHEN i % 11 = 0 THEN NULL ELSE 'z' || hash(i + 1) % 3 END AS zip,
  ['f', 'm'][1 + (hash(i + 2) % 2)::INTEGER] AS sex, (hash(i + 3) % 3)::INTEGER AS rank,
  DATE '2020-01-01' + (i % 3)::INTEGER AS day,
  CASE WHEN i % 5 = 0 THEN NULL ELSE 'ill ' || hash(i + 4) % 4 END AS ill, hash(i + 5) % 2 = 0 AS smokes,
  ((hash(i + 6) % 3)::INTEGER - 1) * 0.0::DOUBLE AS seen
FROM range(4000) AS t(i) ORDER BY hash(i + 7)
"""
COLUMNS = ("rank", "day", "ill", "smokes", "seen")
SPEC = {
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [2, 4]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "sex": {"hierarchy": "suppress"},
    },
    "suppression_limit": 0.5,
    "privacy": {"k": 45},
}
NODE: Any = {"node": {"age": 1, "zip": 0, "sex": 1}}
VALUES: Any = {"node": {"age": 0, "zip": 0, "sex": 0}}
KINDS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "nothing kept": ((), NODE),
    "values": ((), VALUES),
    "few values": (("ill", "smokes", "day"), NODE),
    "masked": (("ill",), {**VALUES, "mask": True}),
    "masked, nothing kept": ((), {**VALUES, "mask": True}),
    "every column at its top": (("ill",), {"node": {"age": 3, "zip": 2, "sex": 1}}),
    "every column at its top, nothing kept": ((), {"node": {"age": 3, "zip": 2, "sex": 1}}),
    "shuffled": (("ill", "rank"), {**NODE, "shuffle": True, "seed": 3}),
    "equal values that look different": (("seen",), NODE),
    "mondrian": (("ill", "rank"), {"strategy": "mondrian"}),
    "mondrian, nothing kept": ((), {"strategy": "mondrian"}),
    "sensitive": (("ill",), {**NODE, "sensitive": ["ill"], "privacy": {"k": 45, "l_diversity": {"ill": 2}}}),
}
CSV = [(kind, "csv") for kind in ("masked", "shuffled")]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "people.parquet"
    duckdb.sql(ROWS).write_parquet(str(path))
    return path


def released(
    people: Path, kept: tuple[str, ...], settings: dict[str, Any], target: Path
) -> tuple[list[Any], list[Any]]:
    roles = {"identifiers": [column for column in COLUMNS if column not in kept], "keep": list(kept)}
    roles["keep"] = [column for column in kept if column not in settings.get("sensitive", [])]
    spec = {**SPEC, **roles, **{name: settings[name] for name in settings if name in ("privacy", "sensitive")}}
    options: Any = {name: settings[name] for name in settings if name not in spec}
    release = kanon_sql.anonymize(people, spec, output=target, overwrite=True, **options)
    read = duckdb.sql(f"FROM '{target}'")
    assert release.manifest["verified"]
    return read.types, read.fetchall()


@pytest.mark.parametrize(
    ("form", "kind"), [*(("parquet", kind) for kind in KINDS), ("csv", "masked"), ("csv", "shuffled")]
)
@pytest.mark.sampled
def test_a_large_release_equals_a_small_one(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, form: str
) -> None:
    """The same rows in the same order, of the same types; -0.0 is not 0.0."""
    kept, options = KINDS[kind]
    small = released(people, kept, options, tmp_path / f"small.{form}")
    monkeypatch.setattr(large, "LARGE", 0)
    release = released(people, kept, options, tmp_path / f"large.{form}")
    assert str(release) == str(small)
    assert len(release[1]) > 500
    if form == "csv":
        assert (tmp_path / "large.csv").read_bytes() == (tmp_path / "small.csv").read_bytes()


@pytest.mark.parametrize("place", [None, "released"])
def test_a_large_release_in_a_table_has_texts_and_leaves_nothing_else(
    people: Path, monkeypatch: pytest.MonkeyPatch, place: str | None
) -> None:
    monkeypatch.setattr(large, "LARGE", 0)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{people}'")
        spec = {**SPEC, "keep": ["ill"], "identifiers": [c for c in COLUMNS if c != "ill"]}
        release = kanon_sql.anonymize("people", spec, connection=connection, into=place, **NODE)
        shown = release.to_df()
        if place:
            assert [str(kind) for kind in connection.sql("FROM released").types] == ["VARCHAR"] * 4
        assert list(map(repr, shown.to_numpy().tolist())) == sorted(map(repr, shown.to_numpy().tolist()), key=_sorted)
        assert connection.sql("SELECT type_name FROM duckdb_types() WHERE type_name LIKE 'kanon%'").fetchall() == []


def _sorted(row: str) -> list[str]:
    return [cell.replace("None", "~").replace("nan", "~") for cell in row.strip("[]").split(", '")]


def test_the_source_is_not_read_again_if_every_released_column_was_counted(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "LARGE", 0)
    spec = {**SPEC, "identifiers": list(COLUMNS)}
    release = kanon_sql.anonymize(people, spec, output=tmp_path / "release.parquet", **NODE)
    assert "kanon_source" not in release.manifest["sql"]["release"]
    assert release.manifest["released_rows"] == len(duckdb.sql(f"FROM '{tmp_path}/release.parquet'"))


def test_a_file_of_a_large_release_is_the_same_to_the_byte(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the order of its source, and however many threads there are."""
    monkeypatch.setattr(large, "LARGE", 0)
    written = set()
    for seed, threads in ((1, 4), (2, 4)):
        path = tmp_path / "people.parquet"
        duckdb.sql(f"FROM '{people}', range(40) ORDER BY hash(age, range, {seed})").write_parquet(str(path))
        spec = {**SPEC, "keep": ["ill"], "identifiers": [c for c in (*COLUMNS, "range") if c != "ill"]}
        kanon_sql.anonymize(path, spec, output=tmp_path / "release.parquet", overwrite=True, threads=threads, **NODE)
        written.add((tmp_path / "release.parquet").read_bytes())
    assert len(written) == 1


def test_few_tuples_with_very_many_rows_are_repeated_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE", 0)
    for rows in (1023, 1024, 1025, 5000):
        people = duckdb.sql(f"SELECT 'a' AS sex FROM range({rows}) UNION ALL SELECT 'b' FROM range(3)").df()
        spec = {"quasi_identifiers": {"sex": {"hierarchy": "suppress"}}}
        shown = kanon_sql.anonymize(people, spec, k=2, node={"sex": 0}).to_df()["sex"].tolist()
        assert shown == ["a"] * rows + ["b"] * 3


def test_a_large_release_of_people_equals_a_small_one(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows and those with the owners of rows are both prepared before either is written."""
    spec = {
        **SPEC,
        "source": "people",
        "database": str(tmp_path / "warehouse.duckdb"),
        "target": {"table": "released"},
        "unit": "person",
        "keep": ["ill", "income"],
        **NODE,
    }
    (tmp_path / "nightly.yml").write_text(json.dumps(spec))
    found = []
    for least in (large.LARGE, 0):
        monkeypatch.setattr(large, "LARGE", least)
        with duckdb.connect(spec["database"]) as connection:
            # The unit comes first, so that the other columns have other places in the query of the people.
            kept = "age, zip, sex, ill, hash(rank, day, ill, age) % 4000 AS income"
            rows = f"SELECT row_number() OVER () // 2 AS person, {kept} FROM '{people}'"
            connection.execute(f"CREATE OR REPLACE TABLE people AS {rows}")
            connection.execute("DROP TABLE IF EXISTS released")
        (ran,) = kanon_sql.run(tmp_path / "nightly.yml", differencing_limit="unlimited").releases
        assert ran.status == "released"
        with duckdb.connect(spec["database"]) as connection:
            found.append([connection.sql(f"FROM {name}").fetchall() for name in ("released", "released__people")])
    (small, small_people), (by_blocks, made_people) = found
    assert by_blocks == small
    assert len(made_people) == len(small_people) == len(by_blocks) > 500
