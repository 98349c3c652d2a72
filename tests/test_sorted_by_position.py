"""Releases sorted by the positions of labels that are written afterwards: the order of their rows reveals nothing."""

from pathlib import Path

import duckdb
import pytest

import kanon_sql

SPEC = {
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [10, 20]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "sex": {"hierarchy": "suppress"},
    },
    "keep": ["ill", "seen"],
    "suppression_limit": 0.5,
}
ROWS = """
SELECT
  (hash(i) % 80)::INTEGER AS age, CASE WHEN i % 11 = 0 THEN NULL
    ELSE LPAD((hash(i + 1) % 90)::VARCHAR, 3, '1') END AS zip,
  ['f', 'm'][1 + (hash(i + 2) % 2)::INTEGER] AS sex, 'ill ' || hash(i + 3) % 50 AS ill, (hash(i + 4) % 1000) / 8 AS seen
FROM range(200000) AS t(i)
ORDER BY hash(i + $seed)
"""


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.sampled
def test_the_rows_of_a_large_release_are_sorted_whatever_the_order_of_the_source(tmp_path: Path, form: str) -> None:
    """Several threads, little memory, more rows than one of them takes at a time: the file is the same to the byte."""
    written = set()
    for seed in (10, 20):
        path = tmp_path / f"people{seed}.parquet"
        duckdb.sql(ROWS.replace("$seed", str(seed))).write_parquet(str(path))
        target = tmp_path / f"release{seed}.{form}"
        node = {"age": 1, "zip": 1, "sex": 0}
        kanon_sql.anonymize(path, SPEC, k=5, node=node, output=target, threads=4, memory_limit="256MB")
        written.add(target.read_bytes())
    assert len(written) == 1
    rows = duckdb.sql(f"FROM '{target}'").fetchall()
    places = [tuple((cell is None, cell) for cell in row) for row in rows]
    assert len(rows) > 195_000
    assert places == sorted(places, key=lambda row: [(none, "" if none else cell) for none, cell in row])


def test_masked_rows_and_labels_of_null_are_shown_as_before() -> None:
    values = "(1, 'a', 'x'), (2, 'a', 'y'), (NULL, 'b', 'x'), (NULL, 'b', 'z'), (7, 'c', 'x'), (8, 'd', 'x')"
    people = duckdb.sql(f"SELECT * FROM (VALUES {values}) AS t(age, zip, ill)").df()
    spec = {
        "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10]}}, "zip": {"hierarchy": "suppress"}},
        "keep": ["ill"],
        "suppression_limit": 0.4,
        "mask": True,
    }
    shown = kanon_sql.anonymize(people, spec, k=2, node={"age": 1, "zip": 0}).to_df()
    rows = [tuple(None if cell != cell else cell for cell in row) for row in shown.astype(object).to_numpy().tolist()]
    assert sorted(rows, key=str) == sorted(
        [
            ("[0, 5)", "a", "x"),
            ("[0, 5)", "a", "y"),
            (None, "b", "x"),
            (None, "b", "z"),
            ("*", "*", "x"),
            ("*", "*", "x"),
        ],
        key=str,
    )


@pytest.mark.parametrize("labels", [98, 99, 100, 129, 29_999, 33_000])
def test_every_label_has_a_place_whatever_the_type_of_places(labels: int) -> None:
    """And NULL one beside them, at the ends of the smaller types too."""
    query = f"SELECT NULLIF(i, {labels}) AS code, 'x' AS ill FROM range({labels + 1}) AS t(i), range(2)"
    spec = {"quasi_identifiers": {"code": {"hierarchy": "suppress"}}, "keep": ["ill"]}
    shown = kanon_sql.anonymize(duckdb.sql(query).df(), spec, k=2, node={"code": 0}).to_df()["code"]
    assert shown.isna().sum() == 2
    assert shown.dropna().astype(int).tolist() == [code for code in range(labels) for _ in range(2)]


def test_labels_that_are_equal_by_collation_stay_separate() -> None:
    """Of a database whose texts are compared without case; elsewhere 'A' would be shown as 'a'."""
    with duckdb.connect() as connection:
        connection.execute("PRAGMA default_collation = NOCASE")
        connection.execute("CREATE TABLE visits AS SELECT i % 6 AS code, i % 3 AS ill FROM range(60) AS t(i)")
        groups = {"a": ["0", "1"], "A": ["2"], "b": ["3", "4"], "c": ["5"]}
        spec = {"quasi_identifiers": {"code": {"hierarchy": {"groups": groups}}}, "keep": ["ill"]}
        release = kanon_sql.anonymize("visits", spec, k=2, node={"code": 1}, connection=connection)
        assert release.to_df()["code"].value_counts().to_dict() == {"a": 20, "b": 20, "A": 10, "c": 10}
