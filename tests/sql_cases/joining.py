"""Given and expected rows of `sql/joining`."""

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation, Steps
from sql_cases.case import AT_LEAST_2, UNKNOWN_OF_3, Case, relation

# Class 1 has three rows of one value, class 2 three of two values, class 3 one row.
_MEMBERS = relation(
    "members", "class n zip_0 a_0 a_1", (1, 3, 7, 0, 0), (2, 2, 7, 1, 0), (2, 1, 8, 2, 1), (3, 1, 8, 2, 1)
)
_HALF = Predicate("2 * MAX(c) <= rows", {}, {"rows": "SUM(n)"}, counted="zip_0")
_EXAMPLES = relation("examples", "class a_0 a_1", (1, 0, 0), (2, 1, 0), (3, 2, 1), (4, 2, 1))
_ASSIGNED = {"assignment": Relation("assignment")}
_RANKED = {"ranked": Relation("ranked")}
_RANKS = relation("ranked", "class unsafe place", (3, 1, 1), (1, 0, 2), (2, 0, 3))
_ASSIGNMENT = relation("assignment", "a_0 n class", (0, 3, 1), (1, 2, 2), (2, 1, 3), (3, 1, None))

CASES = [
    Case("joining/unsafe", {"members": Relation("members"), "safe": AT_LEAST_2}, ["class"], [(3,)], _MEMBERS),
    Case("joining/unsafe", {"members": Relation("members"), "safe": UNKNOWN_OF_3}, ["class"], [(1,), (2,)], _MEMBERS),
    Case("joining/unsafe", {"members": Relation("members"), "safe": _HALF}, ["class"], [(1,), (2,), (3,)], _MEMBERS),
    Case(
        "joining/examples",
        {"members": Relation("members"), "levels": ["a_0", "a_1"]},
        ["class", "a_0", "a_1"],
        [(1, 0, 0), (2, 1, 0), (3, 2, 1)],
        _MEMBERS,
    ),
    Case(
        "joining/nearest",
        {
            "unsafe": Relation("unsafe"),
            "examples": Relation("examples"),
            "between": Steps({"a_0": 1, "a_1": 1}, "a", "b"),
            "most": 2,
        },
        ["pair", "class", "target", "place"],
        [(1, 1, 2, 0), (2, 1, 3, 1), (3, 3, 4, 0), (4, 3, 1, 1)],  # 1 and 2 differ in one level, 3 and 4 in none
        {**_EXAMPLES, **relation("unsafe", "class", (1,), (3,))},
    ),
    Case(
        "joining/pair_members",
        {"pairs": Relation("pairs"), "members": Relation("members"), "columns": ["n", "zip_0"]},
        ["class", "n", "zip_0"],
        [(5, 3, 7), (5, 1, 8)],
        {**_MEMBERS, **relation("pairs", "pair class target", (5, 1, 3))},
    ),
    Case(
        "joining/chosen",
        {"pairs": Relation("pairs"), "unsafe": Relation("unsafe")},
        ["class", "target"],
        [(1, 8), (2, 9)],  # with 7 the first class is not safe, and the second with none
        {
            **relation("pairs", "pair class target place", (1, 1, 7, 0), (2, 1, 8, 1), (3, 2, 9, 0), (4, 2, 8, 1)),
            **relation("unsafe", "class", (1,), (3,), (4,)),
        },
    ),
    Case(
        "joining/joined",
        {**_ASSIGNED, "joined": Relation("joined"), "columns": ["a_0", "n"]},
        ["a_0", "n", "class"],
        [(0, 3, 2), (1, 2, 2), (2, 1, None)],
        {
            **relation("assignment", "a_0 n class", (0, 3, 1), (1, 2, 2), (2, 1, None)),
            **relation("joined", "class into", (1, 2)),
        },
    ),
    Case(
        "joining/largest_parts",
        {**_ASSIGNED, "keys": ["a_0"]},
        ["a_0", "n", "class"],
        [(0, 5, 2), (1, 2, 3)],
        relation("assignment", "a_0 n class", (0, 2, 1), (0, 3, 2), (1, 2, 3)),
    ),
    Case(
        "joining/ranked",
        {"members": Relation("members"), "safe": AT_LEAST_2},
        ["class", "unsafe", "place"],
        [(3, 1, 1), (1, 0, 2), (2, 0, 3)],  # of two classes of three rows the first
        _MEMBERS,
    ),
    Case(
        "joining/ranked",
        {"members": Relation("members"), "safe": UNKNOWN_OF_3},
        ["class", "unsafe", "place"],
        [(1, 1, 1), (2, 1, 2), (3, 0, 3)],
        _MEMBERS,
    ),
    Case("joining/ranks", _RANKED, ["unsafe", "classes"], [(1, 3)], _RANKS),
    Case(
        "joining/ranks", _RANKED, ["unsafe", "classes"], [(0, 1)], relation("ranked", "class unsafe place", (1, 0, 1))
    ),
    Case(
        "joining/first",
        {"members": Relation("members"), **_RANKED, "columns": ["n", "zip_0"], "most": 2},
        ["n", "zip_0"],
        [(1, 8), (3, 7)],
        {**_MEMBERS, **_RANKS},
    ),
    Case(
        "joining/one",
        {**_ASSIGNED, **_RANKED, "columns": ["a_0", "n"], "most": 2},
        ["a_0", "n", "class"],
        [(0, 3, 0), (2, 1, 0)],
        {**_ASSIGNMENT, **_RANKS},
    ),
    Case(
        "joining/replaced",
        {**_ASSIGNED, **_RANKED, "added": Relation("added"), "columns": ["a_0", "n"], "most": 2},
        ["a_0", "n", "class"],
        [(0, 3, 5), (1, 2, 2), (2, 1, 4)],
        {**_ASSIGNMENT, **_RANKS, **relation("added", "a_0 n class", (0, 3, 1), (2, 1, 0))},
    ),
]
