"""Errors of hierarchies: one sentence each, with the place, the problem and the next step."""

import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.hierarchy import convert, cover, from_rows, parse
from kanon_sql.generalization.recipes import dates, ranges, redact, suppress, taxonomy

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
        "age.csv, line 3: 2 fields found, 3 expected; write a label for every value on every level",
    ),
    "ragged text after blank lines": (
        lambda: parse("a;*\n\nb;*;*\n", "age.csv"),
        "age.csv, line 3: 3 fields found, 2 expected; write a label for every value on every level",
    ),
    "a row without fields": (
        lambda: from_rows([[]], "age.csv"),
        "age.csv, line 1: 0 fields found, 1 expected; write a label for every value on every level",
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
        "age.csv: level 2 splits 'low' of level 1 into 'few' and 'many'; write one label there",
    ),
    "open quote": (
        lambda: parse('a;*\n"b;*\n', "age.csv"),
        "age.csv, line 2: unexpected end of data; correct the quotes there",
    ),
    "other column": (
        lambda: convert(from_rows([["m"], ["f"], [""]], "sex.csv"), "integer", "sex.csv"),
        "sex.csv: none of its values ('m', …) is of the column's type, integer; name the hierarchy of this column",
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
        "column 'age': level 1 splits '*' of level 0 into 'x' and '*'; write one label there",
    ),
    "no number": (
        lambda: ranges([1, "old"], [10], "age"),
        "column 'age': a value is not a finite number; replace it by a number or NULL, or use a hierarchy file",
    ),
    "infinity": (
        lambda: ranges([math.inf], [10], "age", top=90),
        "column 'age': a value is not a finite number; replace it by a number or NULL, or use a hierarchy file",
    ),
    "nan": (
        lambda: ranges([1, Decimal("nan")], [10], "age"),
        "column 'age': a value is not a finite number; replace it by a number or NULL, or use a hierarchy file",
    ),
    "a bomb": (
        lambda: ranges(["5E99999999"], [10], "code"),
        "column 'code': a value is not a finite number; replace it by a number or NULL, or use a hierarchy file",
    ),
    "many digits": (
        lambda: ranges(["7" * 401], [10], "code"),
        "column 'code': a value is not a finite number; replace it by a number or NULL, or use a hierarchy file",
    ),
    "a boolean": (
        lambda: ranges([True], [10], "flag"),
        "column 'flag': a value is not a finite number; replace it by a number or NULL, or use a hierarchy file",
    ),
    "no width": (
        lambda: ranges([1], [], "age"),
        "column 'age': ranges need widths above 0, not none; correct them",
    ),
    "width of zero": (
        lambda: ranges([1], [10, 0], "age"),
        "column 'age': ranges need widths above 0, not 10, 0; correct them",
    ),
    "widths that do not nest": (
        lambda: ranges([1], ["0.2", 0.5], "age"),
        "column 'age': the width 0.5 is not a multiple of 0.2, the previous one; make it one, so that ranges nest",
    ),
    "bottom above top": (
        lambda: ranges([1], [10], "age", bottom=90, top=90),
        "column 'age': bottom 90 is not below top 90; swap them, or drop one",
    ),
    "step": (
        lambda: redact(["a"], "right", "zip", step=0),
        "column 'zip': a step of 0 hides nothing; hide 1 or more characters",
    ),
    "week": (
        lambda: dates([], ["week", "month"], "born"),
        "column 'born': month is not coarser than week; weeks do not nest in months",
    ),
    "unknown unit": (
        lambda: dates([], ["fortnight"], "born"),
        "column 'born': the units are fortnight; choose among hour, day, week, month, quarter, year, decade, "
        "century, and bands such as `5 years`",
    ),
    "no unit": (
        lambda: dates([], [], "born"),
        "column 'born': the units are none; choose among hour, day, week, month, quarter, year, decade, century, "
        "and bands such as `5 years`",
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
        "jobs.csv (column 'job'): the parents form a cycle, b -> c -> d -> b; drop one of these pairs",
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
