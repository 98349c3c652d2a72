"""Perturbed releases: their rows, refused options, and the text of the release and its manifest."""

import json
import math
import random
from collections import Counter
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import anonymize, queries, spec
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import KanonError, SpecError, VerificationError
from kanon_sql.release import perturb
from support.database import create_table
from support.perturbing import QI, SECRET, Row, derived, draws, noise_of, perturbed, standard, table, with_zips

# What a row is


def test_neither_the_order_of_the_rows_nor_the_threads_matter(engine: Engine, secret: str) -> None:
    rows = [(f"z{i % 7}", i % 5) for i in range(200)]  # many equal rows
    results = []
    for turn in range(3):
        table(engine, random.Random(turn).sample(rows, len(rows)))
        if isinstance(engine, DuckDB):
            engine.run(f"SET threads = {turn + 1}")
        results.append(Counter(perturbed(engine, {"noise": {"scale": 30}}, secret)))
    assert results[0] == results[1] == results[2]
    assert len(results[0]) > 100, "equal rows get noise of their own"


def test_cells_do_not_run_into_each_other(engine: Engine, secret: str) -> None:
    """Rows that would be one text if cells were only joined are told apart, and NULL is not '~n'."""
    rows = [
        ("a|", 0, "b"),
        ("a", 0, "|b"),
        (None, 0, "b"),
        ("~n", 0, "b"),
        ("", 0, "b"),
        ("~", 0, "nb"),
        ("~p", 0, ""),
        ("|", 0, ""),
    ]
    table(engine, rows, ("VARCHAR", "BIGINT", "VARCHAR"))
    noisy = perturbed(engine, {"noise": {"scale": 1e9}}, secret)
    assert len({x for _, x, _ in noisy}) == len(rows)
    expected = {
        (z, o): round(1e9 * standard("normal", *uv))
        for (z, _, o), uv in zip(rows, draws(rows, noise_of(1e9)), strict=True)
    }
    assert {(z, o): x for z, x, o in noisy} == {row: pytest.approx(x, abs=1) for row, x in expected.items()}


def test_columns_draw_apart(embedded: DuckDB, secret: str) -> None:
    table(embedded, [(f"z{i}", 0, 0) for i in range(2_000)], ("VARCHAR", "BIGINT", "BIGINT"))
    noise = {"noise": {"scale": 1_000}}
    rows = perturbed(embedded, noise, secret, perturb={"x": noise, "other": noise})
    products = [x * other / 1e6 for _, x, other in rows]
    assert abs(sum(products) / 2_000) < 4 / math.sqrt(2_000), "uncorrelated"


def test_one_secret_at_two_scales_reveals_nothing(embedded: DuckDB, secret: str) -> None:
    """Of x + 100 z and x + 50 z anyone could compute x."""
    rows = with_zips(range(2_000))
    table(embedded, rows, ("VARCHAR", "BIGINT"))
    wide, narrow = (dict(perturbed(embedded, {"noise": {"scale": scale}}, secret)) for scale in (10_000, 5_000))
    products = [(wide[z] - x) * (narrow[z] - x) / 5e7 for z, x in rows]
    assert abs(sum(products) / 2_000) < 4 / math.sqrt(2_000), "uncorrelated"


# Refusals


ERRORS = [
    ({"zip": {"noise": {"scale": 1}}}, "'zip' in `perturb` is a quasi-identifier; only the other columns"),
    ({"ZIP": {"noise": {"scale": 1}}}, "'ZIP' in `perturb` is a quasi-identifier"),
    ({"name": {"noise": {"scale": 1}}}, "'name' in `perturb` is an identifier, which is dropped"),
    ({"nowhere": {"noise": {"scale": 1}}}, "there is no column 'nowhere' to perturb; there are name, zip, pay"),
    ({"city": {"noise": {"scale": 1}}}, "'city' is a .*, and noise takes integer, decimal, float, date, timestamp"),
    ({"day": {"pram": {"matrix": "matrix.csv"}}}, "'day' is a .*, and a PRAM matrix takes integer, text, boolean"),
    ({"day": {"noise": {"scale": 1, "top": 3}}}, "'day' is a .*; bottom and top are for numbers"),
    ({"pay": {"noise": {"scale": 1, "bottom": 0.2, "top": 0.8}}}, "no .* is between bottom and top; widen the range"),
    ({"pay": {"swap": {"within": 0.05}}}, "0.05 of 10 values is less than one rank; give 0.1 or more"),
    ({"city": {"pram": {"matrix": "matrix.csv"}}}, "matrix.csv cannot be read .*check the path"),
]


@pytest.mark.parametrize(("options", "message"), ERRORS)
def test_impossible_perturbations_are_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    people(engine, 10)
    with pytest.raises(SpecError, match=message):
        released(engine, options)
    assert engine.find("released") is None


MATRICES = [
    (",a,b\na,0.5,0.4\nb,0,1\n", "row 2: the probabilities add up to 0.9; they must add up to 1"),
    (",a,b\na,1.5,-0.5\nb,0,1\n", "row 2: a probability is below 0 or above 1"),
    (",a,b\na,nan,1\nb,0,1\n", "row 2: a probability is below 0 or above 1"),
    (",a,b\na,x,1\nb,0,1\n", "row 2: a probability is not a number"),
    (",a,b\na,1\nb,0,1\n", "row 2: 1 probabilities for the 2 values of the first line"),
    (",a,b\na,1,0\na,0,1\n", "row 3: its value already has a row"),
    (",a,b\na,1,0\n", "does not name the same values in its first line and below it"),
    (",a,a\na,1,0\n", "does not name the same values in its first line and below it"),
    ("", "is not CSV with a first line of values"),
    (",Bern\nBern,1\n", "perturb.city.pram.matrix has no line for 1 of the 2 values of the column"),
    (b"\xff\xfe", "is not UTF-8 text"),
]


@pytest.mark.parametrize(("content", "message"), MATRICES)
def test_an_invalid_matrix_is_refused(embedded: DuckDB, tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "matrix.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    people(embedded, 10)
    with pytest.raises(SpecError, match=message) as caught:
        released(embedded, {"city": {"pram": {"matrix": str(path)}}})
    assert "Bern" not in str(caught.value)


def test_a_matrix_of_other_types_is_refused(embedded: DuckDB, tmp_path: Path) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(",0,1,one\n0,1,0,0\n1,0,1,0\none,0,0,1\n")
    table(embedded, [("z", 0), ("z", 1)])
    options = {**QI, "perturb": {"x": {"pram": {"matrix": str(path)}}}}
    with pytest.raises(SpecError, match="matrix names values that are not of type INTEGER; remove them"):
        anonymize("people", options, connection=embedded.connection)
    path.write_text(",0,1\n0,0,1\n1,1,0\n")
    frame = anonymize("people", options, connection=embedded.connection).to_df()
    assert sorted(frame["x"]) == [0, 1]


@pytest.mark.parametrize(
    ("content", "message"), [(None, "cannot be read"), ("too short\n", "has 9 characters; use 16")]
)
def test_an_invalid_secret_is_refused(embedded: DuckDB, tmp_path: Path, content: str | None, message: str) -> None:
    people(embedded, 10)
    path = tmp_path / "secret.txt"
    if content:
        path.write_text(content)
    with pytest.raises(SpecError, match=message):
        released(embedded, {"pay": {"noise": {"scale": 1}}}, secret=str(path))


# The release


TYPES = {"name": "VARCHAR", "zip": "VARCHAR", "pay": "INTEGER", "city": "VARCHAR", "day": "DATE"}


def people(engine: Engine, rows: int) -> list[Row]:
    data = [
        (f"SECRETNAME{i}", f"{i % 3}", 1_000 * i, ["Bern", "Thun"][i % 2], date(2020, 1, 1) + timedelta(days=i))
        for i in range(rows)
    ]
    create_table(engine, "people", TYPES, data)
    return data


ALL = {"pay": {"noise": {"scale": 90}}, "city": {"pram": {"keep": 0.5}}, "day": {"swap": {"within": 0.2}}}


def released(engine: Engine, operators: dict[str, Any], **options: Any) -> Any:
    options = {"into": "released", "overwrite": True, **options}
    settled = {**QI, "identifiers": ["name"], "perturb": operators, "keep": "*"}
    return anonymize("people", settled, connection=engine.connection, **options)


@pytest.mark.parametrize("target", ["table", "csv", "none"])
def test_a_release_is_perturbed_where_it_should_be(engine: Engine, tmp_path: Path, secret: str, target: str) -> None:
    rows = people(engine, 60)
    before = engine.rows("SELECT table_name FROM information_schema.tables ORDER BY 1")
    where = {
        "table": {},
        "csv": {"into": None, "output": tmp_path / "r.csv"},
        "none": {"into": None, "overwrite": None},
    }
    release = released(engine, ALL, secret=secret, **where[target])
    frame = release.to_df()
    assert list(frame.columns) == ["zip", "pay", "city", "day"]
    assert Counter(map(str, frame["zip"])) == Counter(row[1] for row in rows), "the classes are those of the source"
    assert sorted(str(day)[:10] for day in frame["day"]) == [str(row[4]) for row in rows]
    pays = [row[2] for row in rows]
    assert sorted(frame["pay"]) != pays
    assert all(abs(noisy - pay) < 500 for noisy, pay in zip(sorted(frame["pay"]), pays, strict=True))
    after = engine.rows("SELECT table_name FROM information_schema.tables ORDER BY 1")
    new = {"table": [("released",)], "csv": [], "none": [("kanon_release_1",)]}[target]
    assert sorted(after) == sorted([*before, *new]), "no raw table is left"


def test_the_manifest_names_the_operators_and_no_secret(engine: Engine, tmp_path: Path, secret: str) -> None:
    rows = people(engine, 60)
    matrix = tmp_path / "matrix.csv"
    matrix.write_text(",Bern,Thun\nBern,0.9,0.1\nThun,0.2,0.8\n")
    options = {**ALL, "city": {"pram": {"matrix": str(matrix)}}}
    release = released(engine, options, secret=secret, seed=41)
    assert release.manifest["perturbation"] == {
        "columns": {
            "pay": {"noise": {"scale": 90.0, "distribution": "normal"}},
            "city": {"pram": {"matrix": {"values": 2, "sha256": sha256(matrix.read_bytes()).hexdigest()}}},
            "day": {"swap": {"within": 0.2}},
        },
        "reproducible": True,
    }
    printed = json.dumps(release.manifest)
    for reported in (SECRET, derived("key", "pay", noise_of(90)), "Bern", "SECRETNAME", str(rows[7][2])):
        assert reported not in printed
    warned = [text for text in release.manifest["warnings"] if "perturbed" in text]
    assert warned == [
        "perturbed: 'pay', 'city', 'day'; the privacy of the classes does not depend on it, and single values in these "
        "columns are not those of the source"
    ]
    assert "perturbation" not in released(engine, {}).manifest


@pytest.mark.slow
def test_the_same_secret_gives_the_same_release(engine: Engine, secret: str) -> None:
    people(engine, 60)
    shown = [
        engine.rows(queries.select_all(engine.find("released").relation, engine.dialect))
        for options in ({"secret": secret}, {"secret": secret, "seed": 3}, {}, {})
        if released(engine, ALL, **options)
    ]
    assert shown[0] == shown[1]
    assert shown[0] != shown[2] != shown[3] != shown[0]
    assert any("cannot be repeated" in text for text in released(engine, ALL).manifest["warnings"])


def test_no_statement_contains_the_secret(engine: Engine, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may log its statements."""
    people(engine, 60)
    sent = []
    run, rows = engine.run, engine.rows
    monkeypatch.setattr(engine, "run", lambda sql: (sent.append(sql), run(sql))[1])
    monkeypatch.setattr(engine, "rows", lambda sql: (sent.append(sql), rows(sql))[1])
    table, settings = (
        engine.find("people"),
        spec.parse({"source": "people", **QI, "perturb": ALL, "secret": secret}),
    )
    with engine.transaction(), perturb.perturbed_source(engine, table, settings):
        pass
    assert sum("MD5" in sql for sql in sent) >= 3
    for column, parameters in {**ALL, "pay": noise_of(90)}.items():
        assert not any(derived("key", column, parameters) in sql or SECRET in sql for sql in sent)


def test_a_view_and_a_statement_are_refused(engine: Engine) -> None:
    people(engine, 60)
    with pytest.raises(SpecError, match="a view would be perturbed again whenever it is read"):
        released(engine, ALL, form="view")


def test_a_lost_row_stops_the_release(embedded: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    people(embedded, 60)
    monkeypatch.setattr(perturb.Matrix, "intervals", lambda _: [("Bern", "Bern", 0.0, 1.0)])
    monkeypatch.setattr(perturb, "matrix", lambda _: perturb.Matrix({"Bern": {}, "Thun": {}}, ""))
    with pytest.raises(VerificationError, match="perturbing 'city' turned 60 rows into 30; nothing was released"):
        released(embedded, {"city": {"pram": {"matrix": "matrix.csv"}}})
    assert embedded.find("released") is None
    assert issubclass(VerificationError, KanonError)


ODD = ['x"; DROP TABLE people; --', "value", "row_id", "content", "draws", "r", "p0", "key", "u"]


def test_internal_and_unusual_names_are_ordinary_columns(engine: Engine, secret: str) -> None:
    rows = [tuple(i + j for j in range(len(ODD))) for i in range(40)]
    create_table(engine, "people", dict.fromkeys(ODD, "INTEGER"), rows)
    operators = {name: {"swap": {"within": 0.3}} for name in ODD[1:]}
    settled = {"quasi_identifiers": {ODD[0]: {"hierarchy": "suppress"}}, "privacy": {"k": 1}, "perturb": operators}
    frame = anonymize("people", settled, connection=engine.connection, secret=secret).to_df()
    assert list(frame.columns) == ODD
    for j, name in enumerate(ODD):
        assert sorted(frame[name]) == [i + j for i in range(40)]
        moved = [abs(int(x) - int(q) - j) for x, q in zip(frame[name], frame[ODD[0]], strict=True)]
        assert max(moved) <= 12
        assert j == 0 or max(moved) > 0
