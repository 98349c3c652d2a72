"""Given and expected rows of `sql/profile`."""

from kanon_sql.queries import Relation, Same
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
_STAYS = {"patient": "INTEGER", "ward": "INTEGER", "sex": "VARCHAR"}
_NUMBERS = {"numbers": ({"size": "DOUBLE PRECISION"}, [(1.0,), (2.5,), (-0.25,), (None,), (-3.0,)])}

CASES = [
    Case(
        "profile/sample",
        {"columns": {"_row": "value_0"}, "values": {"value_0": "_row"}, "source": Relation("rows"), "one_of": 1},
        ["_row"],
        [("a",), ("a",), (None,)],
        {"rows": ({"_row": "VARCHAR"}, [("a",), ("a",), (None,)])},
    ),
    Case(  # (number * 48271) ** 2 % 2147483647 * 3 < 2147483647 for 1, 5, 6, 7, 11 and 12
        "profile/sample",
        {"columns": {"word": "value_0"}, "values": {"value_0": "word"}, "source": Relation("words"), "one_of": 3},
        ["word"],
        [("a",)] * 6,
        {"words": ({"word": "VARCHAR"}, [("a",)] * 12)},
    ),
    Case(
        "profile/small_classes",
        {"columns": ["word", "size"], "rows": Relation("words"), "small": 3},
        ["unique_rows", "small_rows"],
        [(1, 3)],
        {"words": ({"word": "VARCHAR", "size": "INTEGER"}, [("a", 1), ("a", 1), (None, 2), *[("b", None)] * 3])},
    ),
    Case(
        "profile/people_at_risk",
        {
            "names": ["ward", "sex"],
            "person": ["patient"],
            "chosen": Relation("chosen"),
            "source": Relation("stays"),
            "equal": Same(["ward", "sex"], "s", "rare"),
            "same": Same(["ward", "sex"], "c", "classes"),
            "small": 3,
        },
        ["people", "unique_people", "small_people"],
        [(3, 1, 2)],  # patient 1 alone was in ward 9, 2 shares both wards with one person, and 3 with two
        {
            "stays": (
                _STAYS,
                [(1, 9, "f"), (1, 9, "f"), (2, 8, None), (4, 8, None), (3, 7, "m"), (5, 7, "m"), (6, 7, "m")],
            ),
            "chosen": (_STAYS, [(1, 9, "f"), (1, 9, "f"), (2, 8, None), (3, 7, "m")]),
        },
    ),
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
    Case(
        "profile/first_values",
        {"column": ["word"], "source": Relation("words"), "most": 3},
        ["different"],
        [(1,)],
        {"words": ({"word": "VARCHAR"}, [("a",)] * 5)},
    ),
    Case(
        "profile/repeated_values",
        {"column": ["word"], "source": Relation("words"), "most": 100},
        ["repeated"],
        [(2,)],
        {"words": ({"word": "VARCHAR"}, [("a",), ("b",), ("a",), ("c",), (None,), (None,), ("b",), ("a",)])},
    ),
    Case(
        "profile/filled",
        {"column": ["size"], "source": Relation("numbers")},
        ["value"],
        [(1.0,), (2.5,), (-0.25,), (-3.0,)],
        _NUMBERS,
    ),
    Case("profile/fractions", {"column": ["size"], "source": Relation("numbers")}, ["fractions"], [(2,)], _NUMBERS),
]
