"""Given and expected rows of `sql/utility`."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_COPIED = relation(
    "copied", "c0 c1", *[("1", None), ("1", None), ("2", "x"), (None, "x"), ("1", "x")], c0="VARCHAR", c1="VARCHAR"
)
_TABLE = {"table": Relation("copied")}
_CODED = relation("coded", "a0 a1 nothing n", (0, 0, 0, 2), (0, 1, 0, 3), (1, 1, 0, 4), (0, 1, 0, 5))
_SUBSET = {"coded": Relation("coded"), "subset": 7, "first": ["a1"]}
_PREDICATES = relation("predicates", "query place attribute part", (0, 1, 3, 0), (0, 1, 3, 1), (0, 3, -1, 0))
_CHANCES = relation(
    "chances",
    "attribute code part chance",
    *[
        (3, 0, 0, 1.0),
        (3, 1, 1, 1.0),
        (3, 2, 2, 1.0),
        (3, 3, 0, 0.25),
        (3, 3, 1, 0.25),
        (3, 3, 2, 0.5),
        (-1, 0, 0, 1.0),
    ],
    chance="DOUBLE PRECISION",
)
_ASKED = relation("asked", "query subset", (0, 7), (1, 7), (2, 8))
_COMBINED = relation("combined", "subset first second third n", (7, 0, 1, 0, 10), (7, 2, 1, 0, 4), (8, 0, 1, 0, 100))
_WEIGHTS = relation(
    "weights",
    "query place code weight",
    *[(0, 1, 0, 0.5), (0, 1, 2, 1.0), (0, 2, 1, 0.5), (0, 3, 0, 1.0)],
    *[(1, 1, 0, 1.0), (1, 2, 5, 1.0), (1, 3, 0, 1.0)],
    *[(2, 1, 0, 1.0), (2, 2, 1, 0.25), (2, 3, 0, 1.0)],
    weight="DOUBLE PRECISION",
)

CASES = [
    Case("utility/cells", {**_TABLE, "cell": ["c0"]}, ["cell", "n"], [("1", 3), ("2", 1), (None, 1)], _COPIED),
    Case(
        "utility/texts",
        {**_TABLE, "cells": {"a0": "c0"}},
        ["a0"],
        [("1",), ("1",), ("2",), (None,), ("1",)],
        {"copied": ({"c0": "INTEGER"}, ((1,), (1,), (2,), (None,), (1,)))},
    ),
    Case(
        "utility/counted_codes",
        {"coded": Relation("cells"), "codes": ["a0", "a1"]},
        ["a0", "a1", "nothing", "n"],
        [(0, 1, 0, 2), (1, 1, 0, 1), (2, 0, 0, 1)],
        relation("cells", "a0 a1", (0, 1), (1, 1), (0, 1), (2, 0)),
    ),
    Case(
        "utility/codes_of_columns",
        {"coded": Relation("coded"), "codes": ["a1"]},
        ["a1", "nothing", "n"],
        [(0, 0, 2), (1, 0, 12)],
        _CODED,
    ),
    Case(
        "utility/combined",
        {**_SUBSET, "second": ["a0"], "third": ["nothing"]},
        ["subset", "first", "second", "third", "n"],
        [(7, 0, 0, 0, 2), (7, 1, 0, 0, 8), (7, 1, 1, 0, 4)],
        _CODED,
    ),
    Case(
        "utility/pairs",
        {"combined": Relation("combined"), "pairs": 8},
        ["subset", "first", "second", "n"],
        [(7, 0, 1, 10), (7, 2, 1, 4)],
        _COMBINED,
    ),
    Case(
        "utility/weights",
        {"predicates": Relation("predicates"), "chances": Relation("chances")},
        ["query", "place", "code", "weight"],
        [(0, 1, 0, 1.0), (0, 1, 1, 1.0), (0, 1, 3, 0.5), (0, 3, 0, 1.0)],
        {**_PREDICATES, **_CHANCES},
    ),
    Case(
        "utility/answers",
        {name: Relation(name) for name in ("asked", "combined", "weights")},
        ["query", "answer"],
        [(0, 4.5), (2, 25.0)],
        {**_ASKED, **_COMBINED, **_WEIGHTS},
    ),
]
