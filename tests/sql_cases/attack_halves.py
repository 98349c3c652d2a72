"""Given and expected rows of the attack on the two halves of an anatomy."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_ROWS = relation("rows", "class key place", *[(1, 5, 1), (1, 5, 2), (2, 5, 3), (2, 6, 1), (3, 8, 1)])
_VALUES = relation(
    "values",
    "key value first last",
    (5, "=a", 1, 2),
    (5, "=b", 3, 4),
    (6, "=a", 2, 2),
    (7, "=a", 1, 1),
    value="VARCHAR",
)
_SHARES = relation(
    "shares", "class value share", (1, "=a", 0.5), (1, "=b", 0.5), (2, "=b", 1.0), value="VARCHAR", share="FLOAT8"
)

CASES = [
    Case(
        "attack_linkability/values_of_tuples",
        {"source": Relation("source"), "columns": ["c0"], "value": ["c1"]},
        ["class", "value", "n"],
        [(1, "=a", 2), (1, "", 1), (2, "=a", 1)],
        relation("source", "c0 c1", (7, "a"), (7, "a"), (7, None), (8, "a"), c1="VARCHAR"),
    ),
    Case(
        "attack_linkability/shares_of_classes",
        {"fits": Relation("fits"), "values": Relation("values")},
        ["class", "value", "share"],
        [(1, "=a", 0.25), (1, "", 0.75), (2, "=a", 1.0)],
        {
            **relation("fits", "target class", (7, 1), (8, 1), (7, 2)),
            **relation("values", "class value n", (7, "=a", 1), (8, "", 3), (9, "=c", 1), value="VARCHAR"),
        },
    ),
    Case(
        "attack_linkability/half_rows",
        {"release": Relation("release"), "labels": ["c1"], "shared": ["c0"], "order": ["c2", "row_id"]},
        ["class", "key", "place"],
        [(1, ["=4"], 2), (2, ["=4"], 1), (1, ["=9"], 1), (2, [""], 1)],
        relation("release", "row_id c0 c1 c2", (1, 4, 10, 8), (2, 4, 20, 7), (3, 9, 10, 1), (4, None, 20, 1)),
    ),
    Case(
        "attack_linkability/half_values",
        {"half": Relation("half"), "shared": ["c0"], "value": ["c1"], "count": ["c2"], "order": ["row_id"]},
        ["key", "value", "first", "last"],
        [(["=4"], "=x", 1, 2), (["=4"], "", 3, 3), (["=9"], "=x", 1, 1)],
        relation("half", "row_id c0 c1 c2", (1, 4, "x", 2), (2, 4, None, 1), (3, 9, "x", 1), c1="VARCHAR"),
    ),
    Case(  # of group 5 two rows of class 1 have a, one of class 2 has b; of 6 nothing is at the first place
        "attack_linkability/matched_halves",
        {"rows": Relation("rows"), "values": Relation("values"), "shares": Relation("shares")},
        ["rows", "right", "expected"],
        [(3, 0.5 + 0.5 + 1.0, 0.5 + 0.5 + 0.5 + 0)],
        {**_ROWS, **_VALUES, **_SHARES},
    ),
]
