"""Given and expected rows of `sql/quality`."""

from hashlib import md5

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_HIERARCHY = relation("map", "value code_0 code_1", ("a", 0, 0), ("b", 1, 0), ("c", 2, 1), value="VARCHAR")


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
        [(0, 1, 2, 5), (1, None, None, 1), (2, 0, 1, 4)],
        {
            **relation("cells", "value label n", (0, "x", 3), (0, "y", 2), (1, "z", 1), (2, None, 4), label="VARCHAR"),
            **relation("labels", "label level leaves", ("x", 1, 2), ("y", 1, 2), (None, 0, 1), label="VARCHAR"),
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
