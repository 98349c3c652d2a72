"""Given and expected rows of `sql/quality`."""

from hashlib import md5
from math import log
from typing import Any

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_HIERARCHY = relation("map", "value code_0 code_1", ("a", 0, 0), ("b", 1, 0), ("c", 2, 1), value="VARCHAR")
_CELLS = relation("cells", "n class share", (2, 7, 0.0), (1, 8, log(0.25)), (2, 8, log(0.25)), share="FLOAT8")
_NO_CELLS = relation("cells", "n class share", share="FLOAT8")
_ERRORS = {
    **relation("assignment", "class a_0 n", (7, 4, 1), (7, 5, 2), (8, 3, 4), (8, 5, 1), (None, 5, 1)),
    **relation("positions", "position code_0 number", (0, 3, None), (1, 4, 2.0), (2, 5, 8.0), number="FLOAT8"),
    **relation(
        "classes", "class label_1 first_1 last_1 leaves_1", (7, "6", 1, 2, 2), (8, "3", 0, 2, 3), label_1="VARCHAR"
    ),
}

# 2 and 8 under one label with what is no number, 4 and 9 under labels of their own.
_LEAF_NUMBERS = relation(
    "numbers", "code_0 label number", (0, 0, 2.0), (1, 0, 8.0), (2, 0, None), (3, 1, 4.0), (4, 2, 9.0), number="FLOAT8"
)


def _errors(statistic: bool) -> dict[str, Any]:
    cells = {name: f"{name}_1" for name in ("label", "first", "last", "leaves")}
    relations = {name: Relation(name) for name in ("assignment", "positions", "classes")}
    return {**relations, "value": ["a_0"], "cells": cells, "statistic": statistic, "leaves": 3, "mean": 4.0}


def _checksum(*lines: str) -> str:
    """The MD5 of the lines' MD5s, in the order of these."""
    return _md5(";".join(sorted(map(_md5, lines))))


def _md5(text: str) -> str:
    return md5(text.encode()).hexdigest()


CASES = [
    Case(
        "quality/cells",
        {
            "value": ["a_0"],
            "label": ["label_1"],
            "assignment": Relation("assigned"),
            "classes": Relation("classes"),
        },
        ["value", "label", "n"],
        [(0, "x", 3), (1, "x", 1), (1, "*", 5), (2, None, 4)],
        {
            **relation("assigned", "a_0 n class", (0, 1, 7), (0, 2, 7), (1, 1, 7), (1, 5, None), (2, 4, 8)),
            **relation("classes", "class label_1", (7, "x"), (8, None), label_1="VARCHAR"),
        },
    ),
    Case(
        "quality/cell_levels",
        {
            "value": ["a_0"],
            "level": ["level_1"],
            "height": 2,
            **{name: Relation(name) for name in ("frequency_set", "assignment", "classes")},
        },
        ["value", "level", "n"],
        [(0, 1, 3), (1, 0, 1), (1, 2, 5), (2, 2, 4)],  # a NULL class, and a tuple without a row, are suppressed
        {
            **relation("frequency_set", "a_0 n", (0, 3), (1, 6), (2, 4)),
            **relation("assignment", "a_0 n class", (0, 1, 7), (0, 2, 7), (1, 1, 8), (1, 5, None)),
            **relation("classes", "class level_1", (7, 1), (8, 0)),
        },
    ),
    Case(
        "quality/cells_together",
        {
            "attributes": 2,
            "codes": ["a_0", "b_0"],
            "levels": ["level_0", "level_3"],
            **{name: Relation(name) for name in ("assignment", "classes")},
        },
        ["attribute", "value", "level", "n"],
        [(0, 0, 1, 3), (0, 1, 0, 1), (1, 4, 2, 1), (1, 5, 2, 2), (1, 5, 1, 1)],  # a NULL class is not released
        {
            **relation("assignment", "a_0 b_0 n class", (0, 4, 1, 7), (0, 5, 2, 7), (1, 5, 1, 8), (1, 5, 5, None)),
            **relation("classes", "class level_0 level_3", (7, 1, 2), (8, 0, 1)),
        },
    ),
    Case(
        "quality/ranges_together",
        {
            "attributes": 2,
            "codes": ["a_0", "b_0"],
            "leaves": ["leaves_0", "leaves_3"],
            "first": ["first_0", "first_3"],
            "last": ["last_0", "last_3"],
            **{name: Relation(name) for name in ("assignment", "classes")},
        },
        ["attribute", "value", "covered", "first", "last", "n"],
        [(0, 0, 1, 0, 0, 3), (0, 1, 1, 1, 1, 1), (1, 4, 2, 0, 1, 1), (1, 5, 2, 0, 1, 2), (1, 5, 1, 2, 2, 1)],
        {
            **relation("assignment", "a_0 b_0 n class", (0, 4, 1, 7), (0, 5, 2, 7), (1, 5, 1, 8), (1, 5, 5, None)),
            **relation(
                "classes",
                "class leaves_0 first_0 last_0 leaves_3 first_3 last_3",
                (7, 1, 0, 0, 2, 0, 1),
                (8, 1, 1, 1, 1, 2, 2),
            ),
        },
    ),
    Case(
        "quality/values_together",
        {"attributes": 2, "codes": ["a_0", "b_0"], "frequency_set": Relation("frequency_set")},
        ["attribute", "value", "n"],
        [(0, 0, 3), (0, 1, 6), (1, 4, 7), (1, 5, 2)],
        relation("frequency_set", "a_0 b_0 n", (0, 4, 3), (1, 5, 2), (1, 4, 4)),
    ),
    Case(
        "quality/number_spread",
        {"frequency_set": Relation("frequency_set"), "value": ["a_0"], "numbers": Relation("numbers")},
        ["mean", "squares"],
        [(4, 2 * 4 + 1 * 16)],  # 2, 2 and 8; what is no number is left out
        {
            **relation("frequency_set", "a_0 n", (0, 2), (1, 1), (2, 9)),
            **relation("numbers", "code_0 number", (0, 2.0), (1, 8.0), (2, None), number="FLOAT8"),
        },
    ),
    Case(
        "quality/leaf_numbers",
        {"mapping": Relation("mapping"), "label": ["code_1"]},
        ["code_0", "label", "number"],
        [(0, 0, 7.5), (1, 0, 8), (2, 1, None)],
        relation("mapping", "value code_0 code_1", (7.5, 0, 0), (8.0, 1, 0), (None, 2, 1), value="FLOAT8"),
    ),
    Case(  # 2 and 8 show the middle of the two, 5; 4 and 9 show themselves
        "quality/level_errors",
        {"numbers": Relation("numbers"), "leaves": 5, "starred": -1, "mean": 6.0},
        ["weighed_code", "weight"],
        [(0, 3**2 - 4**2), (1, 3**2 - 2**2), (3, -(2**2)), (4, -(3**2))],
        _LEAF_NUMBERS,
    ),
    Case(
        "quality/level_errors",  # a label of all leaves shows the mean
        {"numbers": Relation("numbers"), "leaves": 3, "starred": -1, "mean": 6.0},
        ["weighed_code", "weight"],
        [(0, 0), (1, 0), (3, -(2**2)), (4, -(3**2))],
        _LEAF_NUMBERS,
    ),
    Case(
        "quality/level_errors",  # as one of values without a leaf does
        {"numbers": Relation("numbers"), "leaves": 5, "starred": 0, "mean": 6.0},
        ["weighed_code", "weight"],
        [(0, 0), (1, 0), (3, -(2**2)), (4, -(3**2))],
        _LEAF_NUMBERS,
    ),
    Case(
        "quality/errors",
        _errors(statistic=False),
        ["difference"],
        # class 7 shows the middle of 2 and 8, 5; class 8 stands for all leaves, and shows the mean, 4
        [((2 - 5) ** 2 - (2 - 4) ** 2 + 2 * ((8 - 5) ** 2 - (8 - 4) ** 2),)],
        _ERRORS,
    ),
    Case(
        "quality/errors",
        _errors(statistic=True),
        ["difference"],
        [((2 - 6) ** 2 - (2 - 4) ** 2 + 2 * ((8 - 6) ** 2 - (8 - 4) ** 2) + (8 - 3) ** 2 - (8 - 4) ** 2,)],
        _ERRORS,
    ),
    Case(
        "quality/own_tuple_bits",
        {"frequency_set": Relation("frequency_set")},
        ["bits"],
        [(2 * log(2) + 4 * log(4),)],
        relation("frequency_set", "a_0 n", (0, 2), (1, 4), (2, 1), (3, 0)),
    ),
    Case(
        "quality/tuple_bits",
        {"frequency_set": Relation("frequency_set"), "keys": ["a_0", "b_0"]},
        ["bits"],
        [(3 * log(3) + 2 * log(2),)],
        relation("frequency_set", "a_0 b_0 n", (0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 1, 0), (1, 2, 1)),
    ),
    Case(
        "quality/ambiguity",
        {"cells": Relation("cells"), "share": ["share"]},
        ["released_rows", "shares"],
        [(5, 2 * 1.0 + 3 * 0.25)],
        _CELLS,
    ),
    Case(
        "quality/ambiguity",
        {"cells": Relation("cells"), "share": ["share"]},
        ["released_rows", "shares"],
        [(0, 0)],
        _NO_CELLS,
    ),
    Case(
        "quality/apart_density",
        {"cells": Relation("cells"), "rows": 10, "suppressed": 5},
        ["logarithms"],
        [(2 * log((2 + 5) / 10) + 3 * log((3 * 4 + 5) / 10),)],
        _CELLS,
    ),
    Case(
        "quality/covered_density",
        {"covered": Relation("covered"), "rows": 10, "suppressed": 2},
        ["logarithms"],
        [(3 * log((4 + 1 + 2) / 10) + 5 * log(2 / 10),)],  # the second tuple is suppressed
        relation("covered", "tuple n mass", (1, 3, 4.0), (1, 3, 1.0), (2, 5, None), mass="FLOAT8"),
    ),
    Case(
        "quality/covered_density",
        {"covered": Relation("covered"), "rows": 10, "suppressed": 0},
        ["logarithms"],
        [(None,)],
        relation("covered", "tuple n mass", (1, 3, 4.0), (2, 5, None), mass="FLOAT8"),
    ),
    Case(
        "quality/generalized",
        {"classes": Relation("classes"), "leaves": ["leaves_0", "leaves_1"]},
        ["leaves_0", "leaves_1"],
        [(4, 0)],
        relation("classes", "n leaves_0 leaves_1", (3, 1, 1), (4, 2, 1)),
    ),
    Case(
        "quality/checksum",
        {"cells": Relation("cells"), "keys": ["a_0", "b_0"], "leaves": ["leaves_0", "leaves_1"]},
        ["checksum"],
        [(_checksum("0,0 0,0 3 2,1", "0,0 1,0 1 2,1", "0,1 0,1 2 1,1"),)],  # class, tuple, rows, leaves
        relation(
            *("cells", "a_0 b_0 n class leaves_0 leaves_1"),
            *((1, 0, 1, 7, 2, 1), (0, 0, 1, 7, 2, 1), (0, 0, 2, 7, 2, 1), (0, 1, 2, 8, 1, 1)),
        ),
    ),
    Case(
        "quality/checksum",
        {"cells": Relation("cells"), "keys": ["a_0", "b_0"], "leaves": ["leaves_0", "leaves_1"]},
        ["checksum"],
        [(None,)],
        relation("cells", "a_0 b_0 n class leaves_0 leaves_1"),
    ),
    Case(
        "quality/levels",
        {"cells": Relation("cells"), "labels": Relation("labels")},
        ["value", "level", "leaves", "n"],
        [(0, 1, 2, 5), (1, None, None, 1), (2, 0, 1, 4), (3, 2, 3, 2)],
        {
            **relation(
                *("cells", "value label n", (0, "x", 3), (0, "y", 2), (1, "z", 1), (2, None, 4), (3, "", 2)),
                label="VARCHAR",
            ),
            **relation(
                *("labels", "label level leaves", ("x", 1, 2), ("y", 1, 2), (None, 0, 1), ("", 2, 3)), label="VARCHAR"
            ),
        },
    ),
    Case(
        "quality/sums",
        {"levels": Relation("levels")},
        ["level", "n", "leaves"],
        [(0, 4, 4), (1, 3, 6)],
        relation("levels", "value level leaves n", (0, 1, 2, 2), (1, 1, 2, 1), (1, 0, 1, 4)),
    ),
    Case(
        "quality/entropy",
        {
            "levels": Relation("levels"),
            "mapping": Relation("map"),
            "fine": ["code_0"],
            "coarse": ["code_1"],
            "level": 1,
        },
        ["bits"],
        [(2.0,)],  # a and b, once each, become one label; of c nothing is lost, and below level 1 nothing is counted
        {**_HIERARCHY, **relation("levels", "value level n", (0, 1, 1), (1, 1, 1), (2, 2, 5), (0, 0, 9))},
    ),
]
