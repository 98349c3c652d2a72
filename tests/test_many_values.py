"""Columns with many values: labels are computed once per range, tables loaded as arrays, with the same content."""

import json
import random
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from hashlib import sha256
from typing import Any

import pytest

from kanon_sql.engines.duckdb import DuckDB, columns_of
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import HierarchyError
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.generalization import hierarchy, recipes
from kanon_sql.generalization.values import ordered

RANDOM = random.Random(17)
NUMBERS: dict[str, Sequence[Any]] = {
    "integers": [*range(-60, 60), 10**15, -(10**15), 10**15 - 1, 1 - 10**15, 10**30],
    "floats": [-0.0, 9.999999999999998, -10.000000000000002, 1e23, 1e-9, *(RANDOM.uniform(-99, 99) for _ in range(80))],
    "decimals": [Decimal("-0.5"), Decimal("1E+20"), *(Decimal(RANDOM.randint(-9999, 9999)) / 100 for _ in range(80))],
    "texts": ["10", "10.0", "-3", "1e2", "0.25"],
}
RANGES: list[dict[str, Any]] = [
    {"widths": [10, 50]},
    {"widths": [7, 21], "origin": 3},
    {"widths": [10, 100], "bottom": -7, "top": 95, "origin": -5},
    {"widths": ["0.5", 2, 10], "bottom": "-2.5"},
    {"widths": ["10.0"], "top": "17.5"},
]


def _plain(number: Decimal) -> str:
    return format(number.normalize() + 0, "f")


def _range(text: str, width: Any, origin: Any = 0, bottom: Any = "-Infinity", top: Any = "Infinity") -> str:
    """What a range is, by its definition: the multiples of the width, from the origin, on both sides of a number."""
    number, step, start, low, high = (Decimal(str(item)) for item in (text, width, origin, bottom, top))
    if number >= high:
        return f">= {_plain(high)}"
    if number < low:
        return f"< {_plain(low)}"
    first = ((number - start) / step).to_integral_value(ROUND_FLOOR) * step + start
    return f"[{_plain(max(first, low))}, {_plain(min(first + step, high))})"


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("recipe", RANGES)
def test_ranges_match_their_definition(kind: str, recipe: dict[str, Any]) -> None:
    labels = recipes.ranges(NUMBERS[kind], column="x", **recipe)
    assert labels.values == ordered(NUMBERS[kind])
    ends = {name: end for name, end in recipe.items() if name != "widths"}
    with localcontext(Context(prec=200)):
        for level, width in enumerate(recipe["widths"], 1):
            assert labels.labels(level) == tuple(_range(str(value), width, **ends) for value in labels.values)


@pytest.mark.parametrize("wrong", [Decimal("NaN"), float("inf"), 10**401, "many"])
def test_a_non_finite_number_is_refused_among_whole_numbers(wrong: Any) -> None:
    with pytest.raises(HierarchyError, match="not a finite number"):
        recipes.ranges([3, wrong], [10], "x")


def test_a_label_is_computed_once_per_range(monkeypatch: pytest.MonkeyPatch) -> None:
    created: list[str] = []
    label = recipes._range
    monkeypatch.setattr(recipes, "_range", lambda *numbers: created.append(label(*numbers)) or created[-1])
    levels = recipes.ranges(range(-5000, 5000), [100, 1000], "x", top=4000).levels
    assert len(created) < 2 * sum(len(set(level)) for level in levels), "10,000 values have about 110 ranges"


@pytest.mark.parametrize("side", ["left", "right"])
def test_redacted_texts_are_hidden_from_the_value_itself(side: Any) -> None:
    texts = ["", "*", "a*", "ab", "**", "é🏥x", *(str(RANDOM.randint(0, 10**6)) for _ in range(50))]
    labels = recipes.redact(texts, side, "x", step=2)
    for level in range(1, labels.height):
        for text, label in zip(labels.values, labels.labels(level), strict=True):
            hidden = min(2 * level, len(text))
            shown = text[: len(text) - hidden] if side == "right" else text[hidden:]
            assert label == (shown + "*" * hidden if side == "right" else "*" * hidden + shown)


def test_codes_and_leaves_are_those_of_a_count_by_hand() -> None:
    nan, rows = float("nan"), [3.5, float("nan"), -0.0, 1.0, None]
    built = hierarchy.cover(recipes.suppress(rows, "x"), [*rows, nan, 0.0], "x", unmapped="top")
    assert built.codes(0) == (0, 1, 2, 3, 4), "NaN is one value, and 0 and -0 are"
    labels = recipes.ranges(range(1000), [7, 70], "x")
    for level in range(labels.height + 1):
        every = labels.labels(level)
        first = list(dict.fromkeys(every))
        assert labels.codes(level) == tuple(map(first.index, every))
        assert labels.leaves(level) == tuple(map(every.count, first))
        assert labels.distinct(range(500))[level] == len({every[row] for row in range(500)})
    assert labels.distinct(range(999, -5, -1)) == tuple(len(set(labels.labels(level))) for level in range(4))


def test_a_digest_is_still_that_of_the_rows_as_json() -> None:
    rows = [["é", 'a"b', "*"], ["b\n", "a\\", "*"], ["", "", "*"]]
    labels = hierarchy.from_rows(rows, "x.csv")
    written = [["str", "é", 'a"b', "*"], ["str", "b\n", "a\\", "*"], ["NoneType", "None", None, "*"]]
    assert labels.sha256() == sha256("\n".join(sorted(map(json.dumps, written))).encode()).hexdigest()


def test_a_long_table_has_what_a_short_one_has() -> None:
    texts = ["", " a", "é🏥", "a\0b", "null", None, "'", *map(str, range(3000))]
    numbers = [*range(-128, 127), *[7] * (len(texts) - 255)]
    columns: list[Sequence[Any]] = [range(len(texts)), texts, numbers, texts[::-1]]
    types = {"row": "INTEGER", "text": "VARCHAR", "few": "TINYINT", "back": "VARCHAR"}
    assert columns_of(types, columns), "as arrays"
    with Scratch(DuckDB()) as tables:
        loaded = tables.load("long", types, columns)
        described = {column.name: column.type for column in tables.engine.table(loaded).columns}
        assert described == types
        assert sorted(tables.rows("frequency_sets/copy", source=loaded, columns=list(types))) == list(
            zip(*columns, strict=True)
        )


@pytest.mark.parametrize("type_name", ["INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR", "DATE", "DECIMAL(9, 2)"])
@pytest.mark.parametrize("unknown", ["none", "all", "most", "first"])
def test_arrays_fill_a_column_of_any_type_as_lists_do(type_name: str, unknown: str) -> None:
    known: dict[str, list[Any]] = {
        "INTEGER": [7, -(2**31), 0],
        "BIGINT": [7, -(2**63), 0],
        "DOUBLE": [0.1, float("inf"), -0.0],
        "BOOLEAN": [True, False, True],
        "VARCHAR": ["a", "", "NULL"],
        "DATE": ["2020-05-17", "infinity", "0044-03-15 (BC)"],
        "DECIMAL(9, 2)": ["1.25", "-3", "0.00"],
    }
    values = {"none": [], "all": [None], "most": [None] * 50, "first": [None]}[unknown]
    column = {"all": values * 3000}.get(unknown, [*values * 2000, *(known[type_name] + values) * 1000])
    arrays = columns_of({"x": type_name}, [column])
    assert arrays, "as arrays"
    engine = DuckDB()
    with Scratch(engine) as tables:
        loaded = tables.load("x", {"x": type_name}, [column])
        engine.run(f"CREATE TABLE listed (x {type_name})")
        engine.connection.execute(f"INSERT INTO listed SELECT CAST(UNNEST(?) AS {type_name})", [column])
        both = (
            f"SELECT COUNT(*) FROM {loaded.name} AS a JOIN listed AS b USING (rowid) WHERE a.x IS NOT DISTINCT FROM b.x"
        )
        assert engine.rows(both) == [(len(column),)]


@pytest.mark.parametrize(
    ("type_name", "odd"),
    [("INTEGER", "1"), ("BIGINT", 2.5), ("VARCHAR", 3), ("BOOLEAN", True), ("BIGINT", True), ("DOUBLE", 1)],
)
def test_values_that_an_array_cannot_represent_are_loaded_as_a_list(type_name: str, odd: Any) -> None:
    column = [*([{"VARCHAR": "a", "DOUBLE": 1.5}.get(type_name, 1)]) * 3000, odd]
    assert columns_of({"x": type_name}, [column]) is None
    assert columns_of({"x": "DOUBLE"}, [[1.5, float("nan")] * 3000]) is None, "DuckDB would read NULL"


def test_many_values_of_a_file_and_a_recipe_are_released() -> None:
    engine = DuckDB()
    engine.run("CREATE TABLE people AS SELECT i, 'v' || i AS code FROM range(20000) AS r(i)")
    file = "".join(f"v{item};g{item // 100};*\n" for item in range(20000))
    builds = {
        "i": lambda values: recipes.ranges(values, [100, 1000], "i"),
        "code": lambda _: hierarchy.parse(file, "code.csv"),
    }
    with Scratch(engine) as scratch:
        counted = build_frequency_set(engine, engine.find("people"), builds, scratch, unmapped="error")  # type: ignore[arg-type]
        assert counted.rows == counted.tuples == 20000
        assert [attribute.distinct for attribute in counted.attributes] == [(20000, 200, 20, 1), (20000, 200, 1)]
        mapped = counted.attributes[0].coded.mapping
        wrong = f"SELECT COUNT(*) FROM {mapped.name} WHERE code_1 <> value // 100 OR loss_1 <> 99 OR code_0 <> value"
        assert engine.rows(wrong) == [(0,)]
        low = "value // 1000 * 1000"
        wrong = f"SELECT COUNT(*) FROM {mapped.name} WHERE label_2 <> format('[{{}}, {{}})', {low}, {low} + 1000)"
        assert engine.rows(wrong) == [(0,)]
