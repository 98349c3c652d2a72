"""Hierarchies against literal examples and brute force; nothing here needs an engine."""

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.hierarchy import STAR, Hierarchy, convert, cover, from_rows, parse
from kanon_sql.generalization.recipes import dates, ranges, redact, suppress, taxonomy
from kanon_sql.generalization.values import Value
from support.data import DATA, needs

AGE = "17;10-19;<50;*\n18;10-19;<50;*\n39;30-39;<50;*\n52;50-59;>=50;*\n"
TREE = [("poodle", "dog"), ("dog", "animal"), ("cat", "animal"), ("oak", "plant"), ("animal", "life")]


def same(left: Value, right: Value) -> bool:
    return left is right or left == right or (left != left and right != right)


def check(hierarchy: Hierarchy) -> Hierarchy:
    """The promises of every hierarchy, pair by pair."""
    count, rows = len(hierarchy.values), len(hierarchy.values) + len(hierarchy.starred)
    assert hierarchy.height == len(hierarchy.levels) >= 1
    assert hierarchy.leaf_count == count
    assert len(set(hierarchy.codes(hierarchy.height))) <= 1
    for level in range(hierarchy.height + 1):
        labels, codes = hierarchy.labels(level), hierarchy.codes(level)
        assert len(labels) == len(codes) == rows
        assert list(dict.fromkeys(codes)) == list(range(len(hierarchy.distinct_labels(level))))
        assert all(same(hierarchy.distinct_labels(level)[c], x) for c, x in zip(codes, labels, strict=True))
        pairs = [(i, j) for i in range(rows) for j in range(i)]
        assert all((codes[i] == codes[j]) == same(labels[i], labels[j]) for i, j in pairs)
        assert hierarchy.leaves(level) == tuple(leaves_under(hierarchy, codes))
        if level < hierarchy.height:
            above = hierarchy.codes(level + 1)
            assert all(above[i] == above[j] for i, j in pairs if codes[i] == codes[j])
        if not hierarchy.starred:
            assert sum(hierarchy.leaves(level)) == count
    return hierarchy


def leaves_under(hierarchy: Hierarchy, codes: tuple[int, ...]) -> list[int]:
    starred = set(codes[hierarchy.leaf_count :])
    under = [codes[: hierarchy.leaf_count].count(code) for code in range(len(set(codes)))]
    return [hierarchy.leaf_count if code in starred else leaves for code, leaves in enumerate(under)]


def columns(hierarchy: Hierarchy) -> dict[Value, tuple[Value, ...]]:
    return {value: labels for value, *labels in zip(hierarchy.values, *hierarchy.levels, strict=True)}


# --- the value itself


def test_levels_codes_and_leaves_of_a_known_hierarchy() -> None:
    age = check(parse(AGE, "age.csv"))
    assert age.values == ("17", "18", "39", "52")
    assert age.levels == (
        ("10-19", "10-19", "30-39", "50-59"),
        ("<50", "<50", "<50", ">=50"),
        ("*", "*", "*", "*"),
    )
    assert (age.height, age.leaf_count) == (3, 4)
    assert [age.codes(level) for level in range(4)] == [
        (0, 1, 2, 3),
        (0, 0, 1, 2),
        (0, 0, 0, 1),
        (0, 0, 0, 0),
    ]
    assert age.distinct_labels(0) == ("17", "18", "39", "52")
    assert age.distinct_labels(2) == ("<50", ">=50")
    assert [age.leaves(level) for level in range(4)] == [(1, 1, 1, 1), (2, 1, 1), (3, 1), (4,)]


def test_the_fingerprint_knows_labels_and_types_but_not_the_order() -> None:
    text = "1;a\n2;b\n"
    one = parse(text, "one")
    assert one.sha256() == parse("2;b\n1;a\n", "other").sha256()
    assert one.sha256() != parse("1;a\n2;c\n", "one").sha256()
    assert one.sha256() != convert(one, "integer", "one").sha256()
    assert re.fullmatch("[0-9a-f]{64}", one.sha256())


def test_rows_are_what_a_file_holds() -> None:
    typed = cover(dates([date(2020, 5, 17)], ["year"], "born"), [None], "born")
    assert list(typed.rows()) == [("2020-05-17", "2020", "*"), ("", "", "*")]
    assert list(ranges([1.5], [10], "x").rows()) == [("1.5", "[0, 10)", "*")]


# --- from_rows and parse


@pytest.mark.parametrize(
    ("rows", "levels"),
    [
        ([["a", "x", "*"], ["b", "y", "*"]], (("x", "y"), ("*", "*"))),
        ([["a", "x"], ["b", "y"]], (("x", "y"), ("*", "*"))),
        ([["a", "any"], ["b", "any"]], (("any", "any"),)),
        ([["a"], ["b"]], (("*", "*"),)),
        ([["a", "x"], ["b", "y"], ["a", "x"]], (("x", "y"), ("*", "*"))),
        ([["a", "x", "*"], ["", "", "*"]], (("x", None), ("*", "*"))),
        ([["a", "*"], ["", ""]], (("*", None), ("*", "*"))),
    ],
)
def test_from_rows(rows: list[list[str]], levels: tuple[tuple[str | None, ...], ...]) -> None:
    hierarchy = check(from_rows(rows, "f.csv"))
    assert hierarchy.levels == levels
    assert hierarchy.values == tuple(dict.fromkeys(value or None for value, *_ in rows))


@pytest.mark.parametrize(
    "text",
    [
        "a;x;*\nb;y;*\n",
        "\ufeffa;x;*\r\nb;y;*\r\n\r\n\r\n",
        "a\tx\t*\nb\ty\t*",
        "a|x|*\nb|y|*\n",
        "a,x,*\nb,y,*\n",
        "\na;x;*\n\nb;y;*",
        '"a";"x";*\n"b";"y";*',
        "a;x;*\rb;y;*\r",
    ],
)
def test_parse_reads_every_usual_form(text: str) -> None:
    assert columns(check(parse(text, "f.csv"))) == {"a": ["x", "*"], "b": ["y", "*"]}


def test_parse_prefers_the_semicolon_and_leaves_quoted_marks_alone() -> None:
    assert columns(parse("5;[0, 10)\n", "f")) == {"5": ["[0, 10)"]}
    assert columns(parse('"5;6",low\n"7;8",high\n', "f")) == {"5;6": ["low", "*"], "7;8": ["high", "*"]}
    assert columns(parse('a;"say ""x"""\n', "f")) == {"a": ['say "x"']}
    assert columns(parse("a,b;x\n", "f", separator=",")) == {"a": ["b;x"]}


def test_parse_skips_a_header_only_when_told() -> None:
    text = "age;group\n17;young\n"
    assert parse(text, "f", header=True).values == ("17",)
    assert parse(text, "f").values == ("age", "17")


@needs("adult/hierarchies/<column>.csv")
def test_the_hierarchies_of_arx() -> None:
    folder = DATA / "adult" / "hierarchies"
    found = {path.stem: parse(path.read_text(), path.name) for path in folder.glob("*.csv")}
    heights = {"sex": 1, "race": 1, "age": 4, "marital-status": 2, "education": 3, "native-country": 2}
    assert len(found) == 9
    assert {name: found[name].height for name in heights} == heights
    assert found["education"].leaf_count == 16
    assert all(set(hierarchy.levels[-1]) == {STAR} for hierarchy in found.values())


# --- convert


@pytest.mark.parametrize(
    ("kind", "texts", "values"),
    [
        ("integer", ["39", "40.0", "-1", "1e3", "41.5", "x", "nan", "inf", "1e999999"], (39, 40, -1, 1000)),
        ("integer", ["123456789012345678901234567890123"], (123456789012345678901234567890123,)),
        ("decimal", ["1.50", "x"], (Decimal("1.5"),)),
        ("float", ["0.1", "2", "x"], (0.1, 2.0)),
        (
            "date",
            ["2020-05-17", "2020-05-18 00:00:00", "2020-05-19 10:00", "x"],
            (date(2020, 5, 17), date(2020, 5, 18)),
        ),
        (
            "timestamp",
            ["2020-05-17 10:30:00", "2020-05-17"],
            (datetime(2020, 5, 17, 10, 30), datetime(2020, 5, 17)),
        ),
        ("time", ["10:30", "x"], (time(10, 30),)),
        ("boolean", ["true", "F", "1"], (True, False)),
        ("boolean", ["t", "False"], (True, False)),
        ("text", ["39"], ("39",)),
        ("other", ["39"], ("39",)),
    ],
)
def test_convert(kind: str, texts: list[str], values: tuple[Value, ...]) -> None:
    hierarchy = check(convert(from_rows([[text, "low", "*"] for text in texts], "f"), kind, "f"))
    assert hierarchy.values == values
    assert [type(value) for value in hierarchy.values] == [type(value) for value in values]
    assert hierarchy.levels == (("low",) * len(values), ("*",) * len(values))


def test_convert_merges_texts_of_one_value_and_keeps_null() -> None:
    hierarchy = from_rows([["1", "low"], ["01", "low"], ["", ""], ["2", "high"]], "f")
    assert columns(convert(hierarchy, "integer", "f")) == {
        1: ["low", "*"],
        None: [None, "*"],
        2: ["high", "*"],
    }
    assert convert(from_rows([["nan", "low"], ["NaN", "low"]], "f"), "float", "f").leaf_count == 1


def test_convert_leaves_values_of_a_type_alone() -> None:
    built = ranges([1, 2], [10], "age")
    assert convert(built, "integer", "age") is built
    empty = suppress([], "age")
    assert convert(empty, "integer", "age") is empty
    null = from_rows([["", ""]], "f")
    assert convert(null, "integer", "f") is null


# --- cover


def test_cover_adds_null_as_a_leaf_that_names_itself() -> None:
    age = check(cover(parse(AGE, "age.csv"), ["17", None, "52"], "age"))
    assert age.values == ("17", "18", "39", "52", None)
    assert [level[-1] for level in age.levels] == [None, None, "*"]
    assert age.leaves(2) == (3, 1, 1)
    assert age.starred == ()


def test_cover_keeps_the_labels_that_a_file_gives_null() -> None:
    given = from_rows([["", "unknown"], ["a", "known"]], "f")
    assert cover(given, [None, "a"], "c") == given


def test_cover_sends_strays_to_the_top_when_told() -> None:
    age = check(cover(parse(AGE, "age.csv"), ["99", "17", "98", None], "age", unmapped="top"))
    assert age.starred == ("98", "99")
    assert age.labels(0) == ("17", "18", "39", "52", None, "*", "*")
    assert age.labels(1) == ("10-19", "10-19", "30-39", "50-59", None, "*", "*")
    assert age.codes(0) == (0, 1, 2, 3, 4, 5, 5)
    assert age.codes(1) == (0, 0, 1, 2, 3, 4, 4)
    assert age.codes(3) == (0,) * 7
    assert age.distinct_labels(1) == ("10-19", "30-39", "50-59", None, "*")
    assert age.leaves(1) == (2, 1, 1, 1, 5)
    assert age.leaves(3) == (5,)
    assert cover(age, ["98", "17"], "age") == age


def test_starred_values_share_the_code_of_a_label_that_is_the_top_already() -> None:
    hierarchy = check(cover(from_rows([["a", "x", "all"], ["?", "all", "all"]], "f"), ["z"], "c", unmapped="top"))
    assert hierarchy.labels(1) == ("x", "all", "all")
    assert hierarchy.codes(1) == (0, 1, 1)
    assert hierarchy.leaves(1) == (1, 2)
    star = check(cover(from_rows([["*"], ["a"]], "f"), ["z"], "c", unmapped="top"))
    assert star.codes(0) == (0, 1, 0)


def test_cover_finds_equal_numbers_and_nan() -> None:
    hierarchy = convert(from_rows([["1", "low"], ["nan", "none"]], "f"), "float", "f")
    assert cover(hierarchy, [1, Decimal("1.0"), float("nan"), Decimal("nan")], "c") == hierarchy
    starred = check(cover(suppress([1.0], "c"), [math.nan, float("nan")], "c", unmapped="top"))
    assert len(starred.starred) == 1


def test_nan_has_one_place_in_the_order() -> None:
    orders = [[math.nan, 2.0, 1.0], [2.0, math.nan, 1.0], [1.0, 2.0, math.nan]]
    assert {str(suppress(values, "c").values) for values in orders} == {"(1.0, 2.0, nan)"}


def test_an_empty_hierarchy_can_cover_null() -> None:
    hierarchy = check(cover(ranges([None], [10], "age"), [None], "age"))
    assert (hierarchy.values, hierarchy.levels) == ((None,), ((None,), ("*",)))


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
def test_ranges_hold_their_value(
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
def test_redact_shows_what_it_must(values: list[str], side: str, step: int) -> None:
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
    found = columns(check(taxonomy([*TREE, ("plant", "life")], ["animal", "life"], "being", "tree.csv")))
    assert found["animal"] == ["animal", "animal", "life"]
    assert found["life"] == ["life", "life", "life"]
    assert found["poodle"] == ["dog", "animal", "life"]
    assert taxonomy([("11", "1"), ("12", "1")], [1], "code", "f").values == ("1", "11", "12")


@pytest.mark.parametrize("mark", ["", "*", "a"])
def test_taxonomy_knows_a_root_by_three_marks(mark: str) -> None:
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


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=3, max_size=3), min_size=1, max_size=6))
def test_from_rows_refuses_exactly_what_is_no_hierarchy(rows: list[list[str]]) -> None:
    links = [{(row[:level][-1], row[level], level) for row in rows} for level in (1, 2)]
    functions = all(len(step) == len({(below, level) for below, _, level in step}) for step in links)
    meant = {row[0]: row for row in rows}
    if functions and all(meant[row[0]] == row for row in rows):
        check(from_rows(rows, "f"))
    else:
        with pytest.raises(HierarchyError):
            from_rows(rows, "f")


@given(
    st.lists(st.sampled_from("abcdxyz"), min_size=1, max_size=6),
    st.lists(st.none() | st.sampled_from("abcdefg*"), max_size=6),
)
def test_what_is_covered_still_nests(leaves: list[str], data: list[Value]) -> None:
    rows = [[leaf, "low" if leaf < "c" else "*", "*"] for leaf in leaves]
    hierarchy = check(cover(from_rows(rows, "f"), data, "c", unmapped="top"))
    assert set(data) <= {*hierarchy.values, *hierarchy.starred}
    assert not {*hierarchy.values} & {*hierarchy.starred}
    assert list(hierarchy.starred) == sorted(set(data) - {*leaves, None})


# --- errors: each is one sentence that names the place, the thing and the next step

ROWS = [["39", "30-39", "*"], ["40", "40-49", "*"]]
ERRORS: dict[str, tuple[Callable[[], object], str]] = {
    "no rows": (
        lambda: from_rows([], "age.csv"),
        "age.csv: there are no rows; write one `value;level1;…` per value",
    ),
    "no rows in a text": (
        lambda: parse("\ufeff\r\n", "age.csv"),
        "age.csv: there are no rows; write one `value;level1;…` per value",
    ),
    "only a header": (
        lambda: parse("age;level\n", "age.csv", header=True),
        "age.csv: there are no rows; write one `value;level1;…` per value",
    ),
    "ragged": (
        lambda: from_rows([*ROWS, ["41", "*"]], "age.csv"),
        "age.csv, line 3: 2 fields found, 3 expected; give every value a label on every level",
    ),
    "ragged text after blank lines": (
        lambda: parse("a;*\n\nb;*;*\n", "age.csv"),
        "age.csv, line 3: 3 fields found, 2 expected; give every value a label on every level",
    ),
    "a row without fields": (
        lambda: from_rows([[]], "age.csv"),
        "age.csv, line 1: 0 fields found, 1 expected; give every value a label on every level",
    ),
    "empty label": (
        lambda: from_rows([["39", "", "*"]], "age.csv"),
        "age.csv, line 1: level 1 of '39' is empty; write a label or `*`",
    ),
    "value twice": (
        lambda: from_rows([*ROWS, ["39", "x", "*"]], "age.csv"),
        "age.csv: '39' has the labels '30-39;*' (line 1) and 'x;*' (line 3); keep one of the two",
    ),
    "null twice": (
        lambda: from_rows([["", "", "*"], ["", "x", "*"]], "age.csv"),
        "age.csv: NULL has the labels ';*' (line 1) and 'x;*' (line 2); keep one of the two",
    ),
    "split": (
        lambda: from_rows([["1", "low", "few"], ["2", "low", "many"]], "age.csv"),
        "age.csv: level 2 splits 'low' of level 1 into 'few' and 'many'; give it one label there",
    ),
    "open quote": (
        lambda: parse('a;*\n"b;*\n', "age.csv"),
        "age.csv, line 2: unexpected end of data; mend the quotes there",
    ),
    "other column": (
        lambda: convert(from_rows([["m"], ["f"], [""]], "sex.csv"), "integer", "sex.csv"),
        "sex.csv: none of its values ('m', …) is of the column's type, integer; "
        "give the hierarchy file made for this column",
    ),
    "two texts of one value": (
        lambda: convert(from_rows([["1", "low"], ["01", "high"]], "age.csv"), "integer", "age.csv"),
        "age.csv: 1 has the labels 'low;*' (written '1') and 'high;*' (written '01'); keep one of the two",
    ),
    "strays": (
        lambda: cover(suppress([1], "age"), [9, 8, 7, 6, 5, 4, 1, None], "age"),
        "column 'age': the hierarchy lacks 6 of its values; add them there, "
        "or generalize them to `*` with `unmapped='top'`",
    ),
    "five strays": (
        lambda: cover(suppress([], "age"), ["x" * 38, "b", "c", "d", "e"], "age"),
        "column 'age': the hierarchy lacks 5 of its values; add them there, "
        "or generalize them to `*` with `unmapped='top'`",
    ),
    "a long stray and a date": (
        lambda: cover(suppress([1], "age"), ["x" * 99, date(2020, 5, 17)], "age"),
        "column 'age': the hierarchy lacks 2 of its values; add them there, "
        "or generalize them to `*` with `unmapped='top'`",
    ),
    "a star that is a leaf and not at the top": (
        lambda: cover(from_rows([["*", "x"], ["a", "y"]], "f"), ["z"], "age", unmapped="top"),
        "column 'age': level 1 splits '*' of level 0 into 'x' and '*'; give it one label there",
    ),
    "no number": (
        lambda: ranges([1, "old"], [10], "age"),
        "column 'age': a value is not a finite number; make it one (or NULL), or use a hierarchy file",
    ),
    "infinity": (
        lambda: ranges([math.inf], [10], "age", top=90),
        "column 'age': a value is not a finite number; make it one (or NULL), or use a hierarchy file",
    ),
    "nan": (
        lambda: ranges([1, Decimal("nan")], [10], "age"),
        "column 'age': a value is not a finite number; make it one (or NULL), or use a hierarchy file",
    ),
    "a bomb": (
        lambda: ranges(["5E99999999"], [10], "code"),
        "column 'code': a value is not a finite number; make it one (or NULL), or use a hierarchy file",
    ),
    "many digits": (
        lambda: ranges(["7" * 401], [10], "code"),
        "column 'code': a value is not a finite number; make it one (or NULL), or use a hierarchy file",
    ),
    "a boolean": (
        lambda: ranges([True], [10], "flag"),
        "column 'flag': a value is not a finite number; make it one (or NULL), or use a hierarchy file",
    ),
    "no width": (
        lambda: ranges([1], [], "age"),
        "column 'age': ranges need widths above 0, and these are given: none; mend them",
    ),
    "width of zero": (
        lambda: ranges([1], [10, 0], "age"),
        "column 'age': ranges need widths above 0, and these are given: 10, 0; mend them",
    ),
    "widths that do not nest": (
        lambda: ranges([1], ["0.2", 0.5], "age"),
        "column 'age': the width 0.5 is not a multiple of 0.2, the one before; make it one, so that ranges nest",
    ),
    "bottom above top": (
        lambda: ranges([1], [10], "age", bottom=90, top=90),
        "column 'age': bottom 90 is not below top 90; swap them, or drop one",
    ),
    "step": (
        lambda: redact(["a"], "right", "zip", step=0),
        "column 'zip': a step of 0 hides nothing; give 1 or more characters",
    ),
    "week": (
        lambda: dates([], ["day", "week"], "born"),
        "column 'born': the units given are day, week (weeks do not nest in months); "
        "choose among day, month, quarter, year, decade, century",
    ),
    "unknown unit": (
        lambda: dates([], ["hour"], "born"),
        "column 'born': the units given are hour; choose among day, month, quarter, year, decade, century",
    ),
    "no unit": (
        lambda: dates([], [], "born"),
        "column 'born': the units given are none; choose among day, month, quarter, year, decade, century",
    ),
    "units out of order": (
        lambda: dates([], ["year", "month"], "born"),
        "column 'born': month is not coarser than year; go from fine to coarse",
    ),
    "unit twice": (
        lambda: dates([], ["year", "year"], "born"),
        "column 'born': year is not coarser than year; go from fine to coarse",
    ),
    "no date": (
        lambda: dates(["2020"], ["year"], "born"),
        "column 'born': a value is not a date; write it as YYYY-MM-DD, or use a hierarchy file",
    ),
    "a number for a date": (
        lambda: dates([2020], ["year"], "born"),
        "column 'born': a value is not a date; write it as YYYY-MM-DD, or use a hierarchy file",
    ),
    "cycle": (
        lambda: taxonomy([("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")], [], "job", "jobs.csv"),
        "jobs.csv (column 'job'): the parents run in a circle, b -> c -> d -> b; drop one of these pairs",
    ),
    "two parents": (
        lambda: taxonomy([("a", "b"), ("a", "c")], [], "job", "jobs.csv"),
        "jobs.csv (column 'job'): 'a' has two parents, 'b' and 'c'; keep one",
    ),
    "root and child": (
        lambda: taxonomy([("a", "*"), ("a", "c")], [], "job", "jobs.csv"),
        "jobs.csv (column 'job'): 'a' has two parents, '*' and 'c'; keep one",
    ),
    "no pairs": (
        lambda: taxonomy([("*", "")], [], "job", "jobs.csv"),
        "jobs.csv (column 'job'): there are no pairs; write one `child;parent` per node",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    call, text = ERRORS[case]
    with pytest.raises(HierarchyError) as caught:
        call()
    assert str(caught.value) == text
    assert "; " in text
    assert "\n" not in text
    assert caught.value.values == VALUES.get(case, ())


# What an error is about in the data, which its text leaves out.
VALUES = {
    "strays": ("4", "5", "6", "7", "8"),
    "five strays": ("'b'", "'c'", "'d'", "'e'", f"'{'x' * 38}'"),
    "a long stray and a date": (f"'{'x' * 38}…", "2020-05-17"),
    "no number": ("'old'",),
    "infinity": ("inf",),
    "nan": ("NaN",),
    "a bomb": ("'5E99999999'",),
    "many digits": (f"'{'7' * 38}…",),
    "a boolean": ("True",),
    "no date": ("'2020'",),
    "a number for a date": ("2020",),
}
