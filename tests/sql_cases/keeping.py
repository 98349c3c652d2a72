"""Given and expected rows of `sql/keeping`."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_MARKED = relation("marked", "a_0 n region", (0, 3, 1), (1, 2, None), (2, 1, 2), (3, 1, None))
_SHOWN = "class n label_0"

CASES = [
    Case(
        "keeping/placed",
        {"placed": Relation("placed"), "boxes": Relation("boxes"), "keys": ["a_0"]},
        ["a_0", "n", "class"],
        [(0, 3, 1), (1, 2, None), (2, 1, 1)],  # two boxes of one region
        {
            **relation("placed", "a_0 n place", (0, 3, 0), (1, 2, None), (2, 1, 1)),
            **relation("boxes", "place class", (0, 1), (1, 1)),
        },
    ),
    Case(
        "keeping/marked",
        {"placed": Relation("placed"), "unsafe": Relation("unsafe"), "keys": ["a_0"]},
        ["a_0", "n", "region"],
        [(0, 3, 1), (1, 2, None), (2, 1, None)],
        {
            **relation("placed", "a_0 n class", (0, 3, 1), (1, 2, None), (2, 1, 2)),
            **relation("unsafe", "class", (2,)),
        },
    ),
    Case(
        "keeping/held",
        {"marked": Relation("marked"), "keys": ["a_0"]},
        ["a_0", "n", "class"],
        [(0, 3, 1), (2, 1, 2)],
        _MARKED,
    ),
    Case(
        "keeping/in_regions",
        {"placed": Relation("placed"), "keys": ["a_0"]},
        ["a_0", "n", "class"],
        [(0, 3, 1), (2, 1, 2)],
        relation("placed", "a_0 n class", (0, 3, 1), (1, 2, None), (2, 1, 2)),
    ),
    Case(
        "keeping/pool",
        {"marked": Relation("marked"), "keys": ["a_0"]},
        ["a_0", "n", "class"],
        [(1, 2, 1), (3, 1, 2)],
        _MARKED,
    ),
    Case(
        "keeping/both",
        {"held": Relation("held"), "others": Relation("others"), "keys": ["a_0"], "most": 7},
        ["a_0", "n", "class"],
        [(0, 3, 7), (1, 2, 8), (3, 1, 9)],  # of the others the first is 0, and one tuple is in no class
        {
            **relation("held", "a_0 n class", (0, 3, 7)),
            **relation("others", "a_0 n class", (1, 2, 0), (2, 1, None), (3, 1, 4)),
        },
    ),
    Case(
        "keeping/kept",
        {"assigned": Relation("assigned")},
        ["class", "region", "size"],
        [(1, 4, 5)],  # 2 is of two regions, 3 partly of none, 4 wholly
        relation(
            "assigned",
            "class n region",
            *[(1, 2, 4), (1, 3, 4), (2, 1, 4), (2, 1, 5), (3, 1, 6), (3, 1, None), (4, 1, None)],
        ),
    ),
    Case(
        "keeping/classes",
        {"classes": Relation("classes"), "kept": Relation("kept"), "columns": ["class", "n", "label_0"]},
        ["class", "n", "label_0"],
        [(1, 3, "old"), (2, 4, "new")],
        {
            **relation("classes", _SHOWN, (1, 3, "new"), (2, 4, "new"), label_0="VARCHAR"),
            **relation("kept", _SHOWN, (1, 3, "old"), label_0="VARCHAR"),
        },
    ),
]
