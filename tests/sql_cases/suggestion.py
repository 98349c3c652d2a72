"""Given and expected rows of `sql/suggestion`."""

from kanon_sql.queries import Relation
from sql_cases.case import PEOPLE, Case

CASES = [
    Case(
        "profile/people",
        {"column": ['a "zip"; n'], "unit": ["Age"], "source": Relation("odd people")},
        ["value", "n"],
        [("x", 2), (None, 1), ("", 1)],
        PEOPLE,
    ),
    Case(
        "profile/value_pairs",
        {"column": ["job"], "other": ['a "zip"'], "tuples": Relation("odd tuples")},
        ["value", "other", "n"],
        [("a", "1", 5), (None, "1", 4), ("b", None, 8)],
        {
            "odd tuples": (
                {"job": "VARCHAR", 'a "zip"': "VARCHAR", "age": "INTEGER", "n": "BIGINT"},
                [("a", "1", 30, 2), ("a", "1", 31, 3), (None, "1", 30, 4), ("b", None, 30, 8)],
            )
        },
    ),
]
