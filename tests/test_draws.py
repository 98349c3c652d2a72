"""Noise, rank swapping and PRAM against plain Python: every draw follows from the row and the secret."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError
from kanon_sql.release import perturb
from support.examples import examples
from support.perturbing import SECRET, Row, derived, draws, noise_of, perturbed, row_ids, standard, table, with_zips

FEW = examples(15)

# A zip of one's own makes a row known again.
numbers = st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1, max_size=40)
texts = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c|d", "~", ""])), min_size=1, max_size=40)


# Noise


@pytest.mark.parametrize("distribution", ["normal", "laplace", "uniform"])
@FEW
@given(values=numbers)
def test_noise_depends_on_the_row_and_the_secret(
    engine: Engine, tmp_path_factory: Any, values: list[int | None], distribution: str
) -> None:
    secret = secret_file(tmp_path_factory)
    rows = with_zips(values)
    noise = {"noise": {"scale": 10, "distribution": distribution}}
    table(engine, rows, ("VARCHAR", "DOUBLE PRECISION"))
    # A double is read as text: 1.0 in the one engine, 1 in the other.
    inputs = [(z, x if x is None or engine.name == "postgresql" else float(x)) for z, x in rows]
    expected = {
        z: None if x is None else x + 10 * standard(distribution, *uv)
        for (z, x), uv in zip(rows, draws(inputs, noise_of(10, distribution)), strict=True)
    }
    by_zip = dict(perturbed(engine, noise, secret))
    assert by_zip.keys() == expected.keys()
    assert all(by_zip[z] == (None if x is None else pytest.approx(x, abs=1e-9)) for z, x in expected.items())


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
    by_zip = dict(perturbed(engine, {"noise": {"scale": 50}}, secret))
    assert all(bottom <= float(x) <= top for x in by_zip.values())
    for (z, x), uv in zip(rows, draws(rows, noise_of(50)), strict=True):
        noise = 50 * standard("normal", *uv)
        if type_name == "BIGINT":
            assert by_zip[z] == x + round(noise), "whole, and exact beyond the 53 bits of a double"
        else:
            whole = round(noise) if type_name == "SMALLINT" else noise
            assert float(by_zip[z]) == pytest.approx(min(max(float(x) + whole, bottom), top), abs=0.0051)
    assert {type(x) for x in by_zip.values()} == {type(values[0])}


@pytest.mark.parametrize("type_name", ["INTEGER", "DOUBLE PRECISION"])
def test_noise_stops_at_the_bounds(engine: Engine, secret: str, type_name: str) -> None:
    table(engine, [(f"z{i}", 5) for i in range(60)] + [("none", None)], ("VARCHAR", type_name))
    by_zip = dict(perturbed(engine, {"noise": {"scale": 20, "bottom": 0.5, "top": 8.5}}, secret))
    assert by_zip.pop("none") is None
    edges = (1, 8) if type_name == "INTEGER" else (0.5, 8.5)
    assert (min(by_zip.values()), max(by_zip.values())) == edges
    assert len(set(by_zip.values())) > 2


@pytest.mark.parametrize(
    ("type_name", "value", "unit"),
    [("DATE", date(2020, 2, 28), timedelta(days=1)), ("TIMESTAMP", datetime(2020, 2, 28, 12), timedelta(seconds=1))],
)
def test_time_is_moved_by_days(engine: Engine, secret: str, type_name: str, value: date, unit: timedelta) -> None:
    rows = [(f"z{i}", value + timedelta(days=i)) for i in range(30)] + [("none", None)]
    table(engine, rows, ("VARCHAR", type_name))
    by_zip = dict(perturbed(engine, {"noise": {"scale": 3, "distribution": "uniform"}}, secret))
    assert by_zip.pop("none") is None
    for (z, x), (u, _) in zip(rows, draws(rows, noise_of(3, "uniform")), strict=False):
        if z in by_zip:
            moved = timedelta(days=3 * (2 * u - 1))
            assert abs(by_zip[z] - x - moved) <= unit / 2
    assert any(by_zip[z] < x for z, x in rows[:-1])
    assert any(by_zip[z] > x for z, x in rows[:-1])


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
    options = {"swap": {"within": within}}
    secret = secret_file(tmp_path_factory)
    if present and not reach:
        with pytest.raises(SpecError, match="less than one rank"):
            perturbed(engine, options, secret)
        return
    by_zip = dict(perturbed(engine, options, secret))
    assert Counter(by_zip.values()) == Counter(values), "every value is used exactly once"
    assert all((by_zip[z] is None) == (x is None) for z, x in rows)
    for z, x in rows:
        if x is not None:  # equal values share ranks: the nearest pair of them counts
            here, there = ([i for i, y in enumerate(present) if y == value] for value in (x, by_zip[z]))
            assert min(abs(a - b) for a in here for b in there) <= reach
    assert by_zip == {z: x for (z, _), x in zip(rows, swapped(rows, within), strict=True)}


def swapped(rows: Sequence[Row], within: float) -> list[Any]:
    """Blocks of ranks; the lower half of each, in random order, with the upper half in random order."""
    values, uvs, ids = [x for _, x in rows], draws(rows, {"swap": {"within": within}}), row_ids(rows)
    ranked = sorted((i for i, x in enumerate(values) if x is not None), key=lambda i: (values[i], uvs[i][0], ids[i]))
    half = max(1, (math.floor(within * len(ranked)) + 1) // 2)
    shift = int(derived("shift", "x", {"swap": {"within": within}}), 16) % (2 * half)
    blocks: dict[int, list[int]] = {}
    for place, i in enumerate(ranked):
        blocks.setdefault((place + shift) // (2 * half), []).append(i)
    result = list(values)
    for block in blocks.values():
        size = len(block) // 2
        lower, upper = (sorted(part, key=lambda i: (uvs[i][1], ids[i])) for part in (block[:size], block[-size:]))
        for a, b in zip(lower, upper, strict=True) if size else ():
            result[a], result[b] = values[b], values[a]
    return result


def test_a_swap_leaves_two_values_in_place_at_most_and_goes_half_the_way(embedded: DuckDB, secret: str) -> None:
    rows = [(f"z{i}", i) for i in range(1001)]
    table(embedded, rows)
    by_zip = dict(perturbed(embedded, {"swap": {"within": 0.05}}, secret))
    distances = [abs(by_zip[z] - x) for z, x in rows]
    assert max(distances) <= 50
    assert sum(distance == 0 for distance in distances) <= 2
    assert all(by_zip[f"z{by_zip[z]}"] == x for z, x in rows), "partners exchange their values"
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
@pytest.mark.parametrize("options", [{"swap": {"within": 1}}, {"pram": {"keep": 0.0}}])
def test_sortable_types_can_be_swapped_or_drawn(
    engine: Engine, secret: str, type_name: str, values: list[Any], options: dict[str, Any]
) -> None:
    rows = [(f"z{i}", value) for i, value in enumerate(values * 4)]
    table(engine, rows, ("VARCHAR", type_name))
    by_zip = dict(perturbed(engine, options, secret))
    assert set(by_zip.values()) <= set(values)
    assert all((by_zip[z] is None) == (x is None) for z, x in rows)
    assert any(by_zip[z] != x for z, x in rows)
    if "swap" in options:
        assert Counter(by_zip.values()) == Counter(x for _, x in rows)


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
    by_zip = dict(perturbed(engine, {"pram": {"matrix": str(path)}}, secret_file(tmp_path_factory)))
    options = {"pram": {"matrix": {"values": 5, "sha256": sha256(path.read_bytes()).hexdigest()}}}
    for (z, x), (u, _) in zip(rows, draws(rows, options), strict=True):
        if x is None:
            assert by_zip[z] is None
            continue
        passed = 0.0
        for target, chance in chances[x].items():
            passed += chance
            if u < passed - 1e-12:
                assert by_zip[z] == target
                break


@FEW
@given(values=texts, keep=st.sampled_from([0.0, 0.5, 0.9]))
def test_values_that_are_not_kept_are_drawn_from_the_column(
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


def chi_square(counts: Counter[Any], expected: dict[Any, float]) -> float:
    assert set(counts) <= set(expected)
    return sum((counts[value] - count) ** 2 / count for value, count in expected.items())


def test_the_transitions_are_as_frequent_as_stated(embedded: DuckDB, tmp_path: Path, secret: str) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text("from,a,b,c\na,0.7,0.2,0.1\nb,0.3,0.3,0.4\nc,0.05,0.05,0.9\n")
    rows = [(f"z{i}", "aaabbc"[i % 6]) for i in range(12_000)]
    table(embedded, rows, ("VARCHAR", "VARCHAR"))
    by_zip = dict(perturbed(embedded, {"pram": {"matrix": str(path)}}, secret))
    for value, chances in perturb.matrix(str(path)).rows.items():
        became = Counter(by_zip[z] for z, x in rows if x == value)
        expected = {target: chance * became.total() for target, chance in chances.items()}
        assert chi_square(became, expected) < 13.8, "two degrees of freedom, one in a thousand"


def test_redrawing_keeps_the_frequencies(embedded: DuckDB, secret: str) -> None:
    rows = [(f"z{i}", "aaabbc"[i % 6]) for i in range(12_000)]
    table(embedded, rows, ("VARCHAR", "VARCHAR"))
    by_zip = dict(perturbed(embedded, {"pram": {"keep": 0.6}}, secret))
    shares = {"a": 3 / 6, "b": 2 / 6, "c": 1 / 6}
    assert chi_square(Counter(by_zip.values()), {x: 12_000 * share for x, share in shares.items()}) < 13.8
    for value, share in shares.items():
        became = Counter(by_zip[z] for z, x in rows if x == value)
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
