"""Given and expected rows of `sql/profile`."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_PROFILE = (
    "distinct_values",
    "null_rows",
    "unique_rows",
    "unique_values",
    "smallest_class",
    "largest_class",
    "small_rows",
    "squares",
)
_NUMBERS = {"numbers": ({"size": "DOUBLE PRECISION"}, [(1.0,), (2.5,), (-0.25,), (None,), (-3.0,)])}

CASES = [
    Case(
        "profile/numbered_values",
        {"column": ["word"], "source": Relation("words")},
        ["value", "n", "code_0"],
        [("a", 2, 1)],
        {"words": ({"word": "VARCHAR"}, [("a",), ("a",)])},
    ),
    Case(
        "profile/ordered_values",
        {"values": Relation("counted")},
        ["value", "n", "code_0"],
        [(7, 1, 1), (40, 4, 2)],
        relation("counted", "value n code_0", (40, 4, 1), (7, 1, 2)),
    ),
    Case(
        "profile/column",
        {"values": Relation("counted"), "small": 3},
        _PROFILE,
        [(3, 2, 1, 1, 1, 4, 3, 21)],
        relation("counted", "value n", (40, 4), (7, 1), (None, 2)),
    ),
    Case(
        "profile/column",
        {"values": Relation("counted"), "small": 1},
        _PROFILE,
        [(3, 1, 2, 1, 1, 5, 0, 27)],
        {"counted": ({"value": "VARCHAR", "n": "INTEGER"}, [("x", 5), ("", 1), (None, 1)])},
    ),
    Case("profile/fractions", {"column": ["size"], "source": Relation("numbers")}, ["fractions"], [(2,)], _NUMBERS),
]
