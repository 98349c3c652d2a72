"""Given and expected rows of `sql/profile`."""

from kanon_sql.queries import Relation
from sql_cases.case import PEOPLE, Case

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
        "profile/codes",
        {"column": ["word"], "tuples": Relation("words")},
        ["value", "code_0"],
        [("a", 1)],
        {"words": ({"word": "VARCHAR"}, [("a",), (None,), ("a",)])},
    ),
    Case(
        "profile/column",
        {"column": ["Age"], "source": Relation("odd people"), "small": 3},
        _PROFILE,
        [(3, 2, 1, 1, 1, 4, 3, 21)],
        PEOPLE,
    ),
    Case(
        "profile/column",
        {"column": ['a "zip"; n'], "source": Relation("odd people"), "small": 1},
        _PROFILE,
        [(3, 1, 2, 1, 1, 5, 0, 27)],
        PEOPLE,
    ),
    Case("profile/fractions", {"column": ["size"], "source": Relation("numbers")}, ["fractions"], [(2,)], _NUMBERS),
]
