"""Given and expected rows of `sql/quality`."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_HIERARCHY = relation("map", "value code_0 code_1", ("a", 0, 0), ("b", 1, 0), ("c", 2, 1), value="VARCHAR")

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
