"""Hierarchies from recipes (ranges, redact, dates, taxonomy, suppress) against literal examples and brute force."""

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.recipes import dates, ranges, redact, suppress, taxonomy
from kanon_sql.generalization.values import Value
from support.hierarchies import check, columns

TREE = [("poodle", "dog"), ("dog", "animal"), ("cat", "animal"), ("oak", "plant"), ("animal", "life")]


# --- ranges


def test_ranges_with_top_and_bottom_coding_clip_what_they_cut() -> None:
    hierarchy = check(ranges([3, 18, 24, 61, 74, 75, 200], [10, 20], "age", bottom=5, top=75))
    assert columns(hierarchy) == {
        3: ["< 5", "< 5", "*"],
        18: ["[10, 20)", "[5, 20)", "*"],
        24: ["[20, 30)", "[20, 40)", "*"],
        61: ["[60, 70)", "[60, 75)", "*"],
        74: ["[70, 75)", "[60, 75)", "*"],
        75: [">= 75", ">= 75", "*"],
        200: [">= 75", ">= 75", "*"],
    }


@pytest.mark.parametrize(
    ("value", "width", "origin", "label"),
    [
        (0.3, "0.1", 0, "[0.3, 0.4)"),
        (0.1 + 0.2, "0.1", 0, "[0.3, 0.4)"),
        (0.7, 0.1, 0, "[0.7, 0.8)"),
        (-0.5, 1, 0, "[-1, 0)"),
        (-1, 1, 0, "[-1, 0)"),
        (Decimal("-0.0"), 10, 0, "[0, 10)"),
        (1e22, 10**22, 0, "[10000000000000000000000, 20000000000000000000000)"),
        (5e-324, 1, 0, "[0, 1)"),
        (1.7e308, "1e308", 0, f"[1{'0' * 308}, 2{'0' * 308})"),
        ("12", 10, 0, "[10, 20)"),
        ("12.50", 2.5, 0, "[12.5, 15)"),
        (2021, 10, 1, "[2021, 2031)"),
        (2020, 10, 1, "[2011, 2021)"),
        ("1e399", "1e-398", 0, f"[1{'0' * 399}, 1{'0' * 399}.{'0' * 397}1)"),
        (10**30 + 1, 10, 0, f"[1{'0' * 30}, 1{'0' * 28}10)"),
    ],
)
def test_ranges_are_exact(value: Value, width: Value, origin: int, label: str) -> None:
    assert ranges([value], [width], "x", origin=origin).levels == ((label,), ("*",))


NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.integers(-200, 200),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-1000, 1000, places=3),
    st.decimals(-50, 50, places=1).map(str),
)


@given(
    st.lists(NUMBERS, max_size=12),
    st.sampled_from(["0.1", 0.25, 1, 5, Decimal("2.5"), "10"]),
    st.lists(st.integers(1, 5), max_size=3),
    st.none() | st.integers(-20, 0),
    st.none() | st.integers(1, 60),
    st.sampled_from([0, 3, "-0.7"]),
)
def test_ranges_contain_their_value(
    values: list[Value], width: Value, factors: list[int], bottom: int | None, top: int | None, origin: Value
) -> None:
    widths = [Fraction(str(width))]
    for factor in factors:
        widths.append(widths[-1] * factor)
    texts = [str(Decimal(w.numerator) / Decimal(w.denominator)) for w in widths]
    hierarchy = check(ranges(values, texts, "x", bottom=bottom, top=top, origin=origin))
    for value, *labels, star in zip(hierarchy.values, *hierarchy.levels, strict=True):
        assert star == STAR
        for width_, label in zip(widths, labels, strict=True):
            check_range(Fraction(str(value)), label, width_, bottom, top, Fraction(str(origin)))


def check_range(
    value: Fraction, label: str, width: Fraction, bottom: int | None, top: int | None, origin: Fraction
) -> None:
    assert "E" not in label
    assert not re.search(r"\.\d*0[,)]|-0[,)]", label)
    if top is not None and value >= top:
        assert label == f">= {top}"
    elif bottom is not None and value < bottom:
        assert label == f"< {bottom}"
    else:
        low, high = map(Fraction, label[1:-1].split(", "))
        assert label[0] + label[-1] == "[)"
        assert low <= value < high
        assert (low - origin) % width == 0 or low == bottom
        assert (high - origin) % width == 0 or high == top
        assert high - low <= width
        assert high - low == width or low == bottom or high == top


# --- redact


def test_redact_hides_from_either_side() -> None:
    zips = check(redact(["NL805", "NL806"], "right", "zip"))
    assert columns(zips)["NL805"] == ["NL80*", "NL8**", "NL***", "N****", "*"]
    assert columns(redact(["NL805", "NL806"], "left", "zip", step=2))["NL805"] == ["**805", "****5", "*"]


def test_redact_of_different_lengths_ends_in_one_star() -> None:
    assert columns(check(redact(["abc", "d", ""], "right", "code"))) == {
        "abc": ["ab*", "a**", "***", "*"],
        "d": ["*", "*", "*", "*"],
        "": ["", "", "", "*"],
    }


def test_redact_works_on_the_text_of_any_value() -> None:
    assert columns(redact([805], "right", "zip")) == {805: ["80*", "8**", "*"]}
    assert columns(redact([date(2020, 5, 17)], "right", "born", step=3)) == {
        date(2020, 5, 17): ["2020-05***", "2020******", "2*********", "*"]
    }


@given(st.lists(st.text("ab*", max_size=5), max_size=8), st.sampled_from(["left", "right"]), st.integers(1, 3))
def test_redact_shows_the_required_characters(values: list[str], side: str, step: int) -> None:
    hierarchy = check(redact(values, side, "c", step=step))  # type: ignore[arg-type]
    assert hierarchy.height <= max([0, *map(len, values)]) // step + 2
    for value, *labels, star in zip(hierarchy.values, *hierarchy.levels, strict=True):
        assert star == STAR
        for level, label in enumerate(labels, start=1):
            shown = max(0, len(value) - level * step)
            kept = value[:shown] if side == "right" else value[len(value) - shown :]
            hidden = "*" * (len(value) - shown)
            assert label == (kept + hidden if side == "right" else hidden + kept)


# --- dates


def test_dates_of_every_unit() -> None:
    units = ["day", "month", "quarter", "year", "decade", "century"]
    levels = ["2020-05-17", "2020-05", "2020-Q2", "2020", "2020s", "2000-2099", "*"]
    values = [date(2020, 5, 17), datetime(2020, 5, 17, 10, 30), "2020-05-17", "2020-05-17T10:30:00"]
    for value in values:
        assert columns(dates([value], units, "born")) == {value: levels}
    assert columns(dates([date(987, 1, 1)], units, "born"))[date(987, 1, 1)][2:] == [
        "0987-Q1",
        "0987",
        "0980s",
        "0900-0999",
        "*",
    ]


@given(st.lists(st.dates() | st.datetimes().map(datetime.isoformat), max_size=8))
def test_dates_nest(values: list[Value]) -> None:
    hierarchy = check(dates(values, ["day", "month", "quarter", "year", "decade", "century"], "born"))
    for value, day, month, quarter, year, decade, century, _ in zip(hierarchy.values, *hierarchy.levels, strict=True):
        text = str(value)[:10]
        assert (day, month, year) == (text, text[:7], text[:4])
        assert quarter == f"{year}-Q{'111222333444'[int(text[5:7]) - 1]}"
        assert decade == year[:3] + "0s"
        assert century == f"{year[:2]}00-{year[:2]}99"


# --- taxonomy and suppress


def test_taxonomy_is_aligned_from_the_root() -> None:
    assert columns(check(taxonomy([*TREE, ("plant", "life")], [], "being", "tree.csv"))) == {
        "poodle": ["dog", "animal", "life"],
        "cat": ["cat", "animal", "life"],
        "oak": ["oak", "plant", "life"],
    }


def test_taxonomy_of_several_roots_gets_a_star() -> None:
    assert columns(check(taxonomy(TREE, ["unknown", None], "being", "tree.csv"))) == {
        "poodle": ["dog", "animal", "life", "*"],
        "cat": ["cat", "animal", "life", "*"],
        "oak": ["oak", "oak", "plant", "*"],
    }


def test_taxonomy_keeps_data_on_inner_nodes() -> None:
    labels = columns(check(taxonomy([*TREE, ("plant", "life")], ["animal", "life"], "being", "tree.csv")))
    assert labels["animal"] == ["animal", "animal", "life"]
    assert labels["life"] == ["life", "life", "life"]
    assert labels["poodle"] == ["dog", "animal", "life"]
    assert taxonomy([("11", "1"), ("12", "1")], [1], "code", "f").values == ("1", "11", "12")


@pytest.mark.parametrize("mark", ["", "*", "a"])
def test_taxonomy_recognizes_a_root_by_three_marks(mark: str) -> None:
    assert columns(taxonomy([("x", "a"), ("a", mark), ("*", "")], [], "c", "f")) == {"x": ["a"]}
    assert columns(taxonomy([("a", mark), ("a", mark)], [], "c", "f")) == {"a": ["*"]}


def test_taxonomy_takes_an_empty_child_for_null() -> None:
    assert columns(check(taxonomy([("", "x"), ("a", "y"), ("b", "x")], [], "c", "f"))) == {
        None: ["x", "*"],
        "a": ["y", "*"],
        "b": ["x", "*"],
    }
    deep = columns(check(taxonomy([("", ""), ("a", "y"), ("b", "a")], [], "c", "f")))
    assert deep == {None: [None, None, "*"], "b": ["a", "y", "*"]}


@given(st.lists(st.integers(0, 30), min_size=1, max_size=14), st.sets(st.integers(0, 14)))
def test_taxonomy_labels_are_ancestors(above: list[int], data: set[int]) -> None:
    parent = {str(node): str(up % node) for node, up in enumerate(above, start=1)}
    hierarchy = check(taxonomy(parent.items(), map(str, data), "c", "f"))
    leaves = {node for node in [*parent, "0"] if node not in parent.values() or int(node) in data}
    assert set(hierarchy.values) == leaves
    for value, *labels in zip(hierarchy.values, *hierarchy.levels, strict=True):
        path = [value]
        while path[-1] in parent:
            path.append(parent[path[-1]])
        padding = hierarchy.height + 1 - len(path)
        assert labels == ([value] * padding + path)[1:]


def test_suppress() -> None:
    assert columns(check(suppress(["m", None, "f", "m"], "sex"))) == {"f": ["*"], "m": ["*"]}
    assert check(suppress([], "sex")).height == 1


BUILDERS: list[Callable[[list[Value]], Hierarchy]] = [
    lambda values: suppress(values, "c"),
    lambda values: redact(values, "right", "c"),
    lambda values: ranges(values, [1, 5], "c"),
    lambda values: dates([date.fromordinal(v + 1) for v in values if v is not None], ["day", "year"], "c"),
]


@pytest.mark.parametrize("build", BUILDERS)
@given(values=st.lists(st.none() | st.integers(0, 40), max_size=8), seed=st.randoms())
def test_builders_ignore_null_repeats_and_order(build: Callable, values: list[Value], seed) -> None:  # type: ignore
    shuffled = [*values, *values]
    seed.shuffle(shuffled)
    hierarchy = check(build(values))
    assert build(shuffled) == hierarchy
    assert hierarchy.leaf_count == len({v for v in values if v is not None})
    assert hierarchy.height >= 1
    assert set(hierarchy.levels[-1]) <= {STAR}
