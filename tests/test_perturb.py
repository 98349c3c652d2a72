"""Perturbation against plain Python: the same draws, the same values, and nothing else of the release changed."""

import hmac
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import md5, sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import anonymize, queries, spec
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import KanonError, SpecError, VerificationError
from kanon_sql.release import perturb
from support.database import create_table
from support.examples import examples

FEW = examples(15)
SECRET = "correct horse battery staple"
QI = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "privacy": {"k": 2}}
Row = tuple[Any, ...]


@pytest.fixture
def secret(tmp_path: Path) -> str:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET + "\n")
    return str(path)


# The oracle: what a row is, what is drawn for it, and what becomes of its values


def row_ids(rows: Sequence[Row]) -> list[str]:
    """A row's content, each cell after a bar and NULL apart from all text; equal rows are numbered."""
    seen: Counter[Row] = Counter()
    found = []
    for row in rows:
        seen[row] += 1
        cells = ("~n" if cell is None else str(cell).replace("~", "~~").replace("|", "~p") for cell in row)
        content = hexdigest("".join(f"|{cell}" for cell in cells))
        found.append(hexdigest(f"{content}|{seen[row]}"))
    return found


def hexdigest(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def derived(what: str, column: str, asked: dict[str, Any]) -> str:
    """Of the secret, for one column perturbed in one way: a draw for one scale is none for another."""
    purpose = json.dumps(["perturb", column, asked], sort_keys=True)
    return hmac.new(SECRET.encode(), f"{what}|{purpose}".encode(), sha256).hexdigest()


def noise_of(scale: float, distribution: str = "normal", **bounds: float) -> dict[str, Any]:
    return {"noise": {"scale": float(scale), "distribution": distribution, **bounds}}


def draws(rows: Sequence[Row], asked: dict[str, Any], column: str = "x") -> list[tuple[float, float]]:
    digests = (hexdigest(derived("key", column, asked) + row_id) for row_id in row_ids(rows))
    return [((int(d[:8], 16) + 0.5) / 2**32, (int(d[8:16], 16) + 0.5) / 2**32) for d in digests]


def standard(distribution: str, u: float, v: float) -> float:
    if distribution == "normal":
        return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
    if distribution == "uniform":
        return 2 * u - 1
    return math.copysign(-math.log(1 - 2 * abs(u - 0.5)), u - 0.5)


def table(engine: Engine, rows: Sequence[Row], types: Sequence[str] = ("VARCHAR", "INTEGER")) -> str:
    """A table of zip, x and whatever else, anew."""
    found = engine.find("people")
    if found:
        engine.run(queries.drop(found.relation, engine.dialect))
    names = ("zip", "x", "other")[: len(types)]
    create_table(engine, "people", dict(zip(names, types, strict=True)), rows)
    return "people"


def perturbed(engine: Engine, asked: dict[str, Any], secret: str, **more: Any) -> list[Row]:
    """All rows of `people` with the column x perturbed, in no order."""
    settled = spec.parse({"source": "people", **QI, "perturb": {"x": asked}, "secret": secret, **more})
    found = engine.find("people")
    assert found is not None
    with engine.transaction():
        perturb.check(engine, found, settled)
        with perturb.perturbed_source(engine, found, settled) as made:
            rows = engine.rows(queries.select_all(made.relation, engine.dialect))
    assert [column.kind for column in made.columns] == [column.kind for column in found.columns]
    return rows


# A zip of one's own makes a row known again.
numbers = st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1, max_size=40)
texts = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c|d", "~", ""])), min_size=1, max_size=40)


def with_zips(values: Sequence[Any]) -> list[Row]:
    return [(f"z{number}", value) for number, value in enumerate(values)]


# Noise


@pytest.mark.parametrize("distribution", ["normal", "laplace", "uniform"])
@FEW
@given(values=numbers)
def test_noise_is_that_of_the_row_and_the_secret(
    engine: Engine, tmp_path_factory: Any, values: list[int | None], distribution: str
) -> None:
    secret = secret_file(tmp_path_factory)
    rows = with_zips(values)
    noise = {"noise": {"scale": 10, "distribution": distribution}}
    table(engine, rows, ("VARCHAR", "DOUBLE PRECISION"))
    # A double is read as text: 1.0 in the one engine, 1 in the other.
    told = [(z, x if x is None or engine.name == "postgresql" else float(x)) for z, x in rows]
    expected = {
        z: None if x is None else x + 10 * standard(distribution, *uv)
        for (z, x), uv in zip(rows, draws(told, noise_of(10, distribution)), strict=True)
    }
    found = dict(perturbed(engine, noise, secret))
    assert found.keys() == expected.keys()
    assert all(found[z] == (None if x is None else pytest.approx(x, abs=1e-9)) for z, x in expected.items())


def secret_file(factory: Any) -> str:
    path = factory.mktemp("secret") / "secret.txt"
    path.write_text(SECRET)
    return str(path)


@pytest.mark.parametrize(
    ("type_name", "values", "bottom", "top"),
    [
        ("SMALLINT", [32_760, -32_760, 0], -32_768, 32_767),
        ("BIGINT", [2**62, -(2**62), 5], -(2**63), 2**63 - 1),
        ("DECIMAL(4,2)", [Decimal("99.50"), Decimal("-99.50"), Decimal("0.25")], -99.99, 99.99),
    ],
)
def test_a_noisy_number_stays_in_its_type(
    engine: Engine, secret: str, type_name: str, values: list[Any], bottom: int, top: int
) -> None:
    rows = [(f"z{i}", values[i % 3]) for i in range(60)]
    table(engine, rows, ("VARCHAR", type_name))
    found = dict(perturbed(engine, {"noise": {"scale": 50}}, secret))
    assert all(bottom <= float(x) <= top for x in found.values())
    for (z, x), uv in zip(rows, draws(rows, noise_of(50)), strict=True):
        noise = 50 * standard("normal", *uv)
        if type_name == "BIGINT":
            assert found[z] == x + round(noise), "whole, and exact beyond the 53 bits of a double"
        else:
            whole = round(noise) if type_name == "SMALLINT" else noise
            assert float(found[z]) == pytest.approx(min(max(float(x) + whole, bottom), top), abs=0.0051)
    assert {type(x) for x in found.values()} == {type(values[0])}


@pytest.mark.parametrize("type_name", ["INTEGER", "DOUBLE PRECISION"])
def test_noise_stops_at_the_bounds(engine: Engine, secret: str, type_name: str) -> None:
    table(engine, [(f"z{i}", 5) for i in range(60)] + [("none", None)], ("VARCHAR", type_name))
    found = dict(perturbed(engine, {"noise": {"scale": 20, "bottom": 0.5, "top": 8.5}}, secret))
    assert found.pop("none") is None
    edges = (1, 8) if type_name == "INTEGER" else (0.5, 8.5)
    assert (min(found.values()), max(found.values())) == edges
    assert len(set(found.values())) > 2


@pytest.mark.parametrize(
    ("type_name", "value", "unit"),
    [("DATE", date(2020, 2, 28), timedelta(days=1)), ("TIMESTAMP", datetime(2020, 2, 28, 12), timedelta(seconds=1))],
)
def test_time_is_moved_by_days(engine: Engine, secret: str, type_name: str, value: date, unit: timedelta) -> None:
    rows = [(f"z{i}", value + timedelta(days=i)) for i in range(30)] + [("none", None)]
    table(engine, rows, ("VARCHAR", type_name))
    found = dict(perturbed(engine, {"noise": {"scale": 3, "distribution": "uniform"}}, secret))
    assert found.pop("none") is None
    for (z, x), (u, _) in zip(rows, draws(rows, noise_of(3, "uniform")), strict=False):
        if z in found:
            moved = timedelta(days=3 * (2 * u - 1))
            assert abs(found[z] - x - moved) <= unit / 2
    assert any(found[z] < x for z, x in rows[:-1])
    assert any(found[z] > x for z, x in rows[:-1])


def moments(values: Sequence[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


@pytest.mark.parametrize(
    ("distribution", "deviation"), [("normal", 1), ("laplace", math.sqrt(2)), ("uniform", 1 / math.sqrt(3))]
)
def test_the_scale_is_the_stated_one(embedded: DuckDB, secret: str, distribution: str, deviation: float) -> None:
    table(embedded, [(f"z{i}", 0.0) for i in range(20_000)], ("VARCHAR", "DOUBLE"))
    noise = [x for _, x in perturbed(embedded, {"noise": {"scale": 7, "distribution": distribution}}, secret)]
    mean, spread = moments(noise)
    assert abs(mean) < 4 * 7 * deviation / math.sqrt(20_000)  # four standard errors
    assert spread == pytest.approx(7 * deviation, rel=0.04)
    assert len(set(noise)) > 19_000
    if distribution == "uniform":
        assert -7 < min(noise) < -6.99
        assert 6.99 < max(noise) < 7
    if distribution == "laplace":  # half of a laplace is within ln 2 of its middle
        assert sum(abs(x) < 7 * math.log(2) for x in noise) / 20_000 == pytest.approx(0.5, abs=0.015)
    if distribution == "normal":
        assert sum(abs(x) < 7 for x in noise) / 20_000 == pytest.approx(0.6827, abs=0.014)


# Rank swapping


@FEW
@given(values=numbers, within=st.sampled_from([0.1, 0.3, 0.5, 1.0]))
def test_values_are_swapped_with_near_ranks(
    engine: Engine, tmp_path_factory: Any, values: list[int | None], within: float
) -> None:
    present = sorted(x for x in values if x is not None)
    reach = math.floor(within * len(present))
    rows = with_zips(values)
    table(engine, rows)
    asked = {"swap": {"within": within}}
    secret = secret_file(tmp_path_factory)
    if present and not reach:
        with pytest.raises(SpecError, match="less than one rank"):
            perturbed(engine, asked, secret)
        return
    found = dict(perturbed(engine, asked, secret))
    assert Counter(found.values()) == Counter(values), "every value is used exactly once"
    assert all((found[z] is None) == (x is None) for z, x in rows)
    for z, x in rows:
        if x is not None:  # equal values share ranks: the nearest pair of them counts
            here, there = ([i for i, y in enumerate(present) if y == value] for value in (x, found[z]))
            assert min(abs(a - b) for a in here for b in there) <= reach
    assert found == {z: x for (z, _), x in zip(rows, swapped(rows, within), strict=True)}


def swapped(rows: Sequence[Row], within: float) -> list[Any]:
    """Blocks of ranks; the lower half of each, in random order, with the upper half in random order."""
    values, uvs, ids = [x for _, x in rows], draws(rows, {"swap": {"within": within}}), row_ids(rows)
    ranked = sorted((i for i, x in enumerate(values) if x is not None), key=lambda i: (values[i], uvs[i][0], ids[i]))
    half = max(1, (math.floor(within * len(ranked)) + 1) // 2)
    shift = int(derived("shift", "x", {"swap": {"within": within}}), 16) % (2 * half)
    blocks: dict[int, list[int]] = {}
    for place, i in enumerate(ranked):
        blocks.setdefault((place + shift) // (2 * half), []).append(i)
    found = list(values)
    for block in blocks.values():
        size = len(block) // 2
        lower, upper = (sorted(part, key=lambda i: (uvs[i][1], ids[i])) for part in (block[:size], block[-size:]))
        for a, b in zip(lower, upper, strict=True) if size else ():
            found[a], found[b] = values[b], values[a]
    return found


def test_a_swap_leaves_two_values_in_place_at_most_and_goes_half_the_way(embedded: DuckDB, secret: str) -> None:
    rows = [(f"z{i}", i) for i in range(1001)]
    table(embedded, rows)
    found = dict(perturbed(embedded, {"swap": {"within": 0.05}}, secret))
    distances = [abs(found[z] - x) for z, x in rows]
    assert max(distances) <= 50
    assert sum(distance == 0 for distance in distances) <= 2
    assert all(found[f"z{found[z]}"] == x for z, x in rows), "partners exchange their values"
    assert sum(distances) / 1001 == pytest.approx(25, rel=0.05), "as far on average as Moore's, of 1 to 50 ranks"


@pytest.mark.parametrize(
    ("type_name", "values"),
    [
        ("VARCHAR", ["b", "a", None, "d", "c|", "~"]),
        ("DATE", [date(2020, 1, day) for day in range(1, 7)]),
        ("BOOLEAN", [True, False, None, True, False, True]),
        ("DECIMAL(10,2)", [Decimal(i) / 4 for i in range(6)]),
    ],
)
@pytest.mark.parametrize("asked", [{"swap": {"within": 1}}, {"pram": {"keep": 0.0}}])
def test_what_can_be_sorted_can_be_swapped_or_drawn(
    engine: Engine, secret: str, type_name: str, values: list[Any], asked: dict[str, Any]
) -> None:
    rows = [(f"z{i}", value) for i, value in enumerate(values * 4)]
    table(engine, rows, ("VARCHAR", type_name))
    found = dict(perturbed(engine, asked, secret))
    assert set(found.values()) <= set(values)
    assert all((found[z] is None) == (x is None) for z, x in rows)
    assert any(found[z] != x for z, x in rows)
    if "swap" in asked:
        assert Counter(found.values()) == Counter(x for _, x in rows)


# PRAM


MATRIX = """from,a,b,c|d,~,
a,0.7,0.1,0.1,0.1,0
b,0.25,0.25,0.25,0.25,0
c|d,0,0,1,0,0
~,0.1,0.2,0.3,0.4,0
,0,0,0,0.5,0.5
"""


@FEW
@given(values=texts)
def test_a_transition_is_that_of_the_row_and_the_secret(
    engine: Engine, tmp_path_factory: Any, values: list[str | None]
) -> None:
    path = tmp_path_factory.mktemp("matrix") / "matrix.csv"
    path.write_text(MATRIX)
    chances = perturb.matrix(str(path)).rows
    rows = with_zips(values)
    table(engine, rows, ("VARCHAR", "VARCHAR"))
    found = dict(perturbed(engine, {"pram": {"matrix": str(path)}}, secret_file(tmp_path_factory)))
    asked = {"pram": {"matrix": {"values": 5, "sha256": sha256(path.read_bytes()).hexdigest()}}}
    for (z, x), (u, _) in zip(rows, draws(rows, asked), strict=True):
        if x is None:
            assert found[z] is None
            continue
        passed = 0.0
        for target, chance in chances[x].items():
            passed += chance
            if u < passed - 1e-12:
                assert found[z] == target
                break


@FEW
@given(values=texts, keep=st.sampled_from([0.0, 0.5, 0.9]))
def test_what_is_not_kept_is_drawn_from_the_column(
    engine: Engine, tmp_path_factory: Any, values: list[str | None], keep: float
) -> None:
    rows = with_zips(values)
    table(engine, rows, ("VARCHAR", 'VARCHAR COLLATE "C"' if engine.name == "postgresql" else "VARCHAR"))
    column = sorted(value for value in values if value is not None)
    expected = {
        z: None if x is None else x if u < keep else column[math.floor(v * len(column))]
        for (z, x), (u, v) in zip(rows, draws(rows, {"pram": {"keep": keep}}), strict=True)
    }
    assert dict(perturbed(engine, {"pram": {"keep": keep}}, secret_file(tmp_path_factory))) == expected


def chi_square(found: Counter[Any], expected: dict[Any, float]) -> float:
    assert set(found) <= set(expected)
    return sum((found[value] - count) ** 2 / count for value, count in expected.items())


def test_the_transitions_are_as_frequent_as_stated(embedded: DuckDB, tmp_path: Path, secret: str) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text("from,a,b,c\na,0.7,0.2,0.1\nb,0.3,0.3,0.4\nc,0.05,0.05,0.9\n")
    rows = [(f"z{i}", "aaabbc"[i % 6]) for i in range(12_000)]
    table(embedded, rows, ("VARCHAR", "VARCHAR"))
    found = dict(perturbed(embedded, {"pram": {"matrix": str(path)}}, secret))
    for value, chances in perturb.matrix(str(path)).rows.items():
        became = Counter(found[z] for z, x in rows if x == value)
        expected = {target: chance * became.total() for target, chance in chances.items()}
        assert chi_square(became, expected) < 13.8, "two degrees of freedom, one in a thousand"


def test_drawing_anew_keeps_the_frequencies(embedded: DuckDB, secret: str) -> None:
    rows = [(f"z{i}", "aaabbc"[i % 6]) for i in range(12_000)]
    table(embedded, rows, ("VARCHAR", "VARCHAR"))
    found = dict(perturbed(embedded, {"pram": {"keep": 0.6}}, secret))
    shares = {"a": 3 / 6, "b": 2 / 6, "c": 1 / 6}
    assert chi_square(Counter(found.values()), {x: 12_000 * share for x, share in shares.items()}) < 13.8
    for value, share in shares.items():
        became = Counter(found[z] for z, x in rows if x == value)
        expected = {x: became.total() * (0.4 * other + 0.6 * (x == value)) for x, other in shares.items()}
        assert chi_square(became, expected) < 13.8, f"a value stays with 0.6 + 0.4 * {share:.2f}"


def test_the_parts_of_a_matrix_leave_no_gap(tmp_path: Path) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(
        "," + ",".join("abcdefg") + "\n" + "".join(f"{x}{',0.142857142857' * 6},0.142857142858\n" for x in "abcdefg")
    )
    for value in "abcdefg":
        parts = [part for part in perturb.matrix(str(path)).intervals() if part[0] == value]
        assert (parts[0][2], parts[-1][3]) == (0.0, 1.0)
        assert all(a[3] == b[2] for a, b in pairwise(parts))


# What a row is


def test_neither_the_order_of_the_rows_nor_the_threads_matter(engine: Engine, secret: str) -> None:
    rows = [(f"z{i % 7}", i % 5) for i in range(200)]  # many equal rows
    found = []
    for turn in range(3):
        table(engine, random.Random(turn).sample(rows, len(rows)))
        if isinstance(engine, DuckDB):
            engine.run(f"SET threads = {turn + 1}")
        found.append(Counter(perturbed(engine, {"noise": {"scale": 30}}, secret)))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 100, "equal rows get noise of their own"


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
    found = perturbed(engine, {"noise": {"scale": 1e9}}, secret)
    assert len({x for _, x, _ in found}) == len(rows)
    expected = {
        (z, o): round(1e9 * standard("normal", *uv))
        for (z, _, o), uv in zip(rows, draws(rows, noise_of(1e9)), strict=True)
    }
    assert {(z, o): x for z, x, o in found} == {row: pytest.approx(x, abs=1) for row, x in expected.items()}


def test_columns_draw_apart(embedded: DuckDB, secret: str) -> None:
    table(embedded, [(f"z{i}", 0, 0) for i in range(2_000)], ("VARCHAR", "BIGINT", "BIGINT"))
    noise = {"noise": {"scale": 1_000}}
    rows = perturbed(embedded, noise, secret, perturb={"x": noise, "other": noise})
    products = [x * other / 1e6 for _, x, other in rows]
    assert abs(sum(products) / 2_000) < 4 / math.sqrt(2_000), "uncorrelated"


def test_one_secret_at_two_scales_gives_nothing_away(embedded: DuckDB, secret: str) -> None:
    """Of x + 100 z and x + 50 z anyone could compute x."""
    rows = with_zips(range(2_000))
    table(embedded, rows, ("VARCHAR", "BIGINT"))
    wide, narrow = (dict(perturbed(embedded, {"noise": {"scale": scale}}, secret)) for scale in (10_000, 5_000))
    products = [(wide[z] - x) * (narrow[z] - x) / 5e7 for z, x in rows]
    assert abs(sum(products) / 2_000) < 4 / math.sqrt(2_000), "uncorrelated"


# What is refused


ERRORS = [
    ({"zip": {"noise": {"scale": 1}}}, "'zip' in `perturb` is a quasi-identifier; only the other columns"),
    ({"ZIP": {"noise": {"scale": 1}}}, "'ZIP' in `perturb` is a quasi-identifier"),
    ({"name": {"noise": {"scale": 1}}}, "'name' in `perturb` is an identifier, which is dropped"),
    ({"nowhere": {"noise": {"scale": 1}}}, "there is no column 'nowhere' to perturb; there are name, zip, pay"),
    ({"city": {"noise": {"scale": 1}}}, "'city' is a .*, and noise takes integer, decimal, float, date, timestamp"),
    ({"day": {"pram": {"matrix": "matrix.csv"}}}, "'day' is a .*, and a PRAM matrix takes integer, text, boolean"),
    ({"day": {"noise": {"scale": 1, "top": 3}}}, "'day' is a .*; bottom and top are for numbers"),
    ({"pay": {"noise": {"scale": 1, "bottom": 0.2, "top": 0.8}}}, "no .* is between bottom and top; widen them"),
    ({"pay": {"swap": {"within": 0.05}}}, "0.05 of 10 values is less than one rank; give 0.1 or more"),
    ({"city": {"pram": {"matrix": "matrix.csv"}}}, "matrix.csv cannot be read .*check the path"),
]


@pytest.mark.parametrize(("asked", "message"), ERRORS)
def test_what_cannot_be_perturbed_is_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    people(engine, 10)
    with pytest.raises(SpecError, match=message):
        released(engine, asked)
    assert engine.find("released") is None


MATRICES = [
    (",a,b\na,0.5,0.4\nb,0,1\n", "row 2: the chances add up to 0.9; they must add up to 1"),
    (",a,b\na,1.5,-0.5\nb,0,1\n", "row 2: a chance is below 0 or above 1"),
    (",a,b\na,nan,1\nb,0,1\n", "row 2: a chance is below 0 or above 1"),
    (",a,b\na,x,1\nb,0,1\n", "row 2: a chance is not a number"),
    (",a,b\na,1\nb,0,1\n", "row 2: 1 chances for the 2 values of the first line"),
    (",a,b\na,1,0\na,0,1\n", "row 3: its value is there twice"),
    (",a,b\na,1,0\n", "names other values in its first line than below it"),
    (",a,a\na,1,0\n", "names other values in its first line than below it"),
    ("", "is not CSV with a first line of values"),
    (",Bern\nBern,1\n", "perturb.city.pram.matrix has no line for 1 of the 2 values of the column"),
    (b"\xff\xfe", "is not UTF-8 text"),
]


@pytest.mark.parametrize(("content", "message"), MATRICES)
def test_a_matrix_that_is_none_is_refused(embedded: DuckDB, tmp_path: Path, content: str | bytes, message: str) -> None:
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
    asked = {**QI, "perturb": {"x": {"pram": {"matrix": str(path)}}}}
    with pytest.raises(SpecError, match="matrix names values that are no INTEGER; take them out"):
        anonymize("people", asked, connection=embedded.connection)
    path.write_text(",0,1\n0,0,1\n1,1,0\n")
    found = anonymize("people", asked, connection=embedded.connection).to_df()
    assert sorted(found["x"]) == [0, 1]


@pytest.mark.parametrize(
    ("content", "message"), [(None, "cannot be read"), ("too short\n", "has 9 characters; give 16")]
)
def test_a_secret_that_is_none_is_refused(embedded: DuckDB, tmp_path: Path, content: str | None, message: str) -> None:
    people(embedded, 10)
    path = tmp_path / "secret.txt"
    if content:
        path.write_text(content)
    with pytest.raises(SpecError, match=message):
        released(embedded, {"pay": {"noise": {"scale": 1}}}, secret=str(path))


# The release


TYPES = {"name": "VARCHAR", "zip": "VARCHAR", "pay": "INTEGER", "city": "VARCHAR", "day": "DATE"}


def people(engine: Engine, rows: int) -> list[Row]:
    found = [
        (f"SECRETNAME{i}", f"{i % 3}", 1_000 * i, ["Bern", "Thun"][i % 2], date(2020, 1, 1) + timedelta(days=i))
        for i in range(rows)
    ]
    create_table(engine, "people", TYPES, found)
    return found


ALL = {"pay": {"noise": {"scale": 90}}, "city": {"pram": {"keep": 0.5}}, "day": {"swap": {"within": 0.2}}}


def released(engine: Engine, asked: dict[str, Any], **options: Any) -> Any:
    options = {"into": "released", "overwrite": True, **options}
    settled = {**QI, "identifiers": ["name"], "perturb": asked, "keep": "*"}
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
    found = released(engine, ALL, secret=secret, **where[target])
    frame = found.to_df()
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
    asked = {**ALL, "city": {"pram": {"matrix": str(matrix)}}}
    found = released(engine, asked, secret=secret, seed=41)
    assert found.manifest["perturbation"] == {
        "columns": {
            "pay": {"noise": {"scale": 90.0, "distribution": "normal"}},
            "city": {"pram": {"matrix": {"values": 2, "sha256": sha256(matrix.read_bytes()).hexdigest()}}},
            "day": {"swap": {"within": 0.2}},
        },
        "reproducible": True,
    }
    said = json.dumps(found.manifest)
    for told in (SECRET, derived("key", "pay", noise_of(90)), "Bern", "SECRETNAME", str(rows[7][2])):
        assert told not in said
    warned = [text for text in found.manifest["warnings"] if "perturbed" in text]
    assert warned == [
        "'pay', 'city', 'day' perturbed: what is promised of the classes does not lean on it, and single values "
        "there are not those of the source"
    ]
    assert "perturbation" not in released(engine, {}).manifest


@pytest.mark.slow
def test_the_same_secret_makes_the_same_release(engine: Engine, secret: str) -> None:
    people(engine, 60)
    shown = [
        engine.rows(queries.select_all(engine.find("released").relation, engine.dialect))
        for options in ({"secret": secret}, {"secret": secret, "seed": 3}, {}, {})
        if released(engine, ALL, **options)
    ]
    assert shown[0] == shown[1]
    assert shown[0] != shown[2] != shown[3] != shown[0]
    assert any("cannot be made again" in text for text in released(engine, ALL).manifest["warnings"])


def test_no_statement_holds_the_secret(engine: Engine, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may log its statements."""
    people(engine, 60)
    sent = []
    run, rows = engine.run, engine.rows
    monkeypatch.setattr(engine, "run", lambda sql: (sent.append(sql), run(sql))[1])
    monkeypatch.setattr(engine, "rows", lambda sql: (sent.append(sql), rows(sql))[1])
    found, asked = (
        engine.find("people"),
        spec.parse({"source": "people", **QI, "perturb": ALL, "secret": secret}),
    )
    with engine.transaction(), perturb.perturbed_source(engine, found, asked):
        pass
    assert sum("MD5" in sql for sql in sent) >= 3
    for column, parameters in {**ALL, "pay": noise_of(90)}.items():
        assert not any(derived("key", column, parameters) in sql or SECRET in sql for sql in sent)


def test_a_view_and_a_statement_are_refused(engine: Engine) -> None:
    people(engine, 60)
    with pytest.raises(SpecError, match="a view would be perturbed anew whenever it is read"):
        released(engine, ALL, form="view")


def test_a_lost_row_stops_the_release(embedded: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    people(embedded, 60)
    monkeypatch.setattr(perturb.Matrix, "intervals", lambda _: [("Bern", "Bern", 0.0, 1.0)])
    monkeypatch.setattr(perturb, "matrix", lambda _: perturb.Matrix({"Bern": {}, "Thun": {}}, ""))
    with pytest.raises(VerificationError, match="perturbing 'city' made 30 rows of 60; nothing was released"):
        released(embedded, {"city": {"pram": {"matrix": "matrix.csv"}}})
    assert embedded.find("released") is None
    assert issubclass(VerificationError, KanonError)


ODD = ['x"; DROP TABLE people; --', "value", "row_id", "content", "draws", "r", "p0", "key", "u"]


def test_names_of_our_own_and_odd_ones_are_columns_like_any_other(engine: Engine, secret: str) -> None:
    rows = [tuple(i + j for j in range(len(ODD))) for i in range(40)]
    create_table(engine, "people", dict.fromkeys(ODD, "INTEGER"), rows)
    asked = {name: {"swap": {"within": 0.3}} for name in ODD[1:]}
    settled = {"quasi_identifiers": {ODD[0]: {"hierarchy": "suppress"}}, "privacy": {"k": 1}, "perturb": asked}
    found = anonymize("people", settled, connection=engine.connection, secret=secret).to_df()
    assert list(found.columns) == ODD
    for j, name in enumerate(ODD):
        assert sorted(found[name]) == [i + j for i in range(40)]
        moved = [abs(int(x) - int(q) - j) for x, q in zip(found[name], found[ODD[0]], strict=True)]
        assert max(moved) <= 12
        assert j == 0 or max(moved) > 0
