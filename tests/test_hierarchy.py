"""Hierarchies against literal examples and brute force: parsed, converted and covered; without an engine."""

import hashlib
import json
import math
import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.hierarchy import STAR, Hierarchy, convert, cover, from_rows, nested_levels, parse
from kanon_sql.generalization.recipes import dates, ranges, suppress
from kanon_sql.generalization.values import Value, read, read_all
from support.data import DATA, needs
from support.hierarchies import check, columns

AGE = "17;10-19;<50;*\n18;10-19;<50;*\n39;30-39;<50;*\n52;50-59;>=50;*\n"


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


def test_the_fingerprint_depends_on_labels_and_types_but_not_on_the_order() -> None:
    text = "1;a\n2;b\n"
    one = parse(text, "one")
    assert one.sha256() == parse("2;b\n1;a\n", "other").sha256()
    assert one.sha256() != parse("1;a\n2;c\n", "one").sha256()
    assert one.sha256() != convert(one, "integer", "one").sha256()
    assert re.fullmatch("[0-9a-f]{64}", one.sha256())


@given(
    rows=st.dictionaries(st.text(min_size=1), st.tuples(st.sampled_from('abé"\\'), st.just("*")), min_size=1),
    null=st.booleans(),
)
def test_the_fingerprint_is_that_of_the_rows_as_json(rows: dict[str, tuple[str, str]], null: bool) -> None:
    """Releases of earlier versions name it."""
    texts = [[value, *labels] for value, labels in rows.items()] + ([["", "", "*"]] if null else [])
    hierarchy = from_rows(texts, "odd.csv")
    lines = [
        [type(value).__name__, str(value), *labels]
        for value, *labels in zip(hierarchy.values, *hierarchy.levels, strict=True)
    ]
    written = "\n".join(sorted(map(json.dumps, lines)))
    assert hierarchy.sha256() == hashlib.sha256(written.encode()).hexdigest()


@given(
    labels=st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=5),
    starred=st.lists(st.sampled_from([-1, -2]), unique=True),
)
def test_codes_and_leaves_are_those_of_the_labels(labels: list[str], starred: list[int]) -> None:
    hierarchy = cover(
        from_rows([[str(n), label] for n, label in enumerate(labels)], "n.csv"), starred, "n", unmapped="top"
    )
    for level in range(hierarchy.height + 1):
        of_row = hierarchy.labels(level)
        distinct = list(dict.fromkeys(of_row))
        leaves = [of_row[: len(labels)].count(label) for label in distinct]
        if starred:
            leaves[distinct.index(of_row[-1])] = max(2, len(labels))  # a lone leaf, and what is in no hierarchy
        assert hierarchy.codes(level) == tuple(map(distinct.index, of_row))
        assert (hierarchy.distinct_labels(level), hierarchy.leaves(level)) == (tuple(distinct), tuple(leaves))


@given(st.lists(st.from_regex(r"\A(-?[0-9]{1,3}|[0-9]-|-|1e2|1_0| 7|٣|x)\Z"), min_size=1, max_size=4))
def test_texts_are_read_together_as_separately(texts: list[str]) -> None:
    def tried(read_them: Callable[[], list[Value]]) -> list[Value] | None:
        try:
            return read_them()
        except ValueError:
            return None

    assert tried(lambda: read_all(texts, "integer")) == tried(lambda: [read(text, "integer") for text in texts])


def test_rows_are_those_of_a_hierarchy_file() -> None:
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


def test_parse_skips_a_header_only_on_request() -> None:
    text = "age;group\n17;young\n"
    assert parse(text, "f", header=True).values == ("17",)
    assert parse(text, "f").values == ("age", "17")


@needs("adult/hierarchies/<column>.csv")
def test_the_hierarchies_of_arx() -> None:
    folder = DATA / "adult" / "hierarchies"
    hierarchies = {path.stem: parse(path.read_text(), path.name) for path in folder.glob("*.csv")}
    heights = {"sex": 1, "race": 1, "age": 4, "marital-status": 2, "education": 3, "native-country": 2}
    assert len(hierarchies) == 9
    assert {name: hierarchies[name].height for name in heights} == heights
    assert hierarchies["education"].leaf_count == 16
    assert all(set(hierarchy.levels[-1]) == {STAR} for hierarchy in hierarchies.values())


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


def test_cover_generalizes_unmapped_values_to_the_top_on_request() -> None:
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


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=3, max_size=3), min_size=1, max_size=6))
def test_from_rows_refuses_exactly_the_invalid_hierarchies(rows: list[list[str]]) -> None:
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
def test_covered_hierarchies_still_nest(leaves: list[str], data: list[Value]) -> None:
    rows = [[leaf, "low" if leaf < "c" else "*", "*"] for leaf in leaves]
    hierarchy = check(cover(from_rows(rows, "f"), data, "c", unmapped="top"))
    assert set(data) <= {*hierarchy.values, *hierarchy.starred}
    assert not {*hierarchy.values} & {*hierarchy.starred}
    assert list(hierarchy.starred) == sorted(set(data) - {*leaves, None})


CELLS = st.sampled_from(["", "*", "1", "2", "01", "a"])
TABLES = st.integers(1, 4).flatmap(lambda wide: st.lists(st.lists(CELLS, min_size=wide, max_size=wide), min_size=1))


def by_hand(rows: list[list[str]]) -> Hierarchy | None:
    """The hierarchy level by level, one row after the other; None where there is none, or a NULL's labels are."""
    paths: dict[str, list[str]] = {}
    if any("" in row or paths.setdefault(row[0], row) != row for row in rows):
        return None
    try:
        return nested_levels(list(paths), list(zip(*(path[1:] for path in paths.values()), strict=True)), "by hand")
    except HierarchyError:
        return None


@given(rows=TABLES)
def test_coding_while_reading_matches_the_labels(rows: list[list[str]]) -> None:
    if (expected := by_hand(rows)) is None:
        return
    hierarchy = parse("".join(";".join(row) + "\n" for row in rows), "x.csv", separator=";")
    assert hierarchy == expected == Hierarchy(hierarchy.values, hierarchy.levels)
    for level in range(expected.height + 1):
        assert hierarchy.codes(level) == expected.codes(level)
        assert hierarchy.distinct_labels(level) == expected.distinct_labels(level)
        assert hierarchy.leaves(level) == expected.leaves(level)
    numbers = [int(value) if value.isdigit() else None for value in hierarchy.values]
    if len(set(numbers)) == len(numbers) and None not in numbers:
        fresh, renamed = Hierarchy(tuple(numbers), hierarchy.levels), convert(hierarchy, "integer", "x.csv")
        assert (renamed, renamed.sha256(), renamed.distinct_labels(0)) == (fresh, fresh.sha256(), tuple(numbers))
        assert [renamed.leaves(level) for level in range(2)] == [fresh.leaves(level) for level in range(2)]
